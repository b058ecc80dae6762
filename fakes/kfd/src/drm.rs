//! The calls of the render node that libdrm makes (kfd-kernel.md section 8).

use crate::abi::{self, Block};
use crate::errno::{Answer, Errno};
use crate::gpu::Gpu;
use crate::kernel::{Call, Caller, Kernel};

/// Major number of render nodes.
pub const DRM_MAJOR: u32 = 226;
/// Major number of `/dev/kfd`; the system chooses one.
pub const KFD_MAJOR: u32 = 240;
/// Bytes of `drm_amdgpu_info_device` as the kernel knows it.
const DEVICE_BYTES: usize = 448;
/// `AMDGPU_INFO_ACCEL_WORKING`.
const ACCEL_WORKING: u32 = 0x00;
/// `AMDGPU_INFO_HW_IP_COUNT`.
const HW_IP_COUNT: u32 = 0x03;
/// `AMDGPU_INFO_READ_MMR_REG`.
const READ_MMR_REG: u32 = 0x15;
/// `AMDGPU_INFO_DEV_INFO`.
const DEV_INFO: u32 = 0x16;
/// `AMDGPU_INFO_MEMORY`.
const MEMORY: u32 = 0x19;
/// `GB_ADDR_CONFIG`, a dword offset.
const GB_ADDR_CONFIG: u32 = 0x263e;
/// Registers that one READ_MMR_REG reads at most.
const REGISTERS: u32 = 128;
/// Shader engine or array: all of them.
const BROADCAST: u32 = 0xff;
/// What the driver keeps at the top of an address space: 4 MiB and two pages.
const RESERVED_TOP: u64 = (4 << 20) + (8 << 10);
/// End of the lower half of the addresses.
const HOLE: u64 = 1 << 47;
/// Start of the upper half of the addresses.
const HIGH_HALF: u64 = 0xffff_8000_0000_0000;
/// Kinds of engine of HW_IP_COUNT: graphics, compute, DMA, then video and others.
const HW_IPS: u32 = 10;

impl Kernel {
    /// Dispatch of an ioctl on a render node of GPU `gpu`.
    pub(crate) fn drm_ioctl(&mut self, caller: &dyn Caller, gpu: usize, request: u32, argument: u64) -> Answer {
        if abi::kind(request) != b'd' {
            self.unknown_request(request, format!("render node: request {request:#010x} is no DRM request"));
            return Err(Errno::ENOTTY);
        }
        let Some(entry) = abi::DRM.iter().find(|r| abi::number(r.code) == abi::number(request)) else {
            let what = format!("render node: this fake does not have request {request:#010x}");
            self.unknown_request(request, what);
            return Err(Errno::EINVAL);
        };
        match entry.name {
            "GET_CLIENT" if self.config.allow_get_client => {}
            "GET_UNIQUE" | "GET_MAGIC" | "GET_CLIENT" | "GET_STATS" | "AUTH_MAGIC" => return Err(Errno::EACCES),
            _ => {}
        }
        // Directions: those that caller and kernel agree on.
        let directions = request & entry.code;
        self.run(caller, entry, (request, directions), argument, |kernel, call| kernel.drm_call(call, gpu))
    }

    fn drm_call(&mut self, call: &mut Call<'_>, gpu: usize) -> Answer {
        match call.name {
            "VERSION" => self.version(call),
            "GET_CLIENT" => get_client(call),
            "GET_CAP" => get_cap(&mut call.args),
            "AMDGPU_INFO" => self.info(call, gpu),
            _ => Err(Errno::EACCES),
        }
    }

    fn version(&self, call: &mut Call<'_>) -> Answer {
        call.args.put_u32(0, 3);
        call.args.put_u32(4, self.config.mode.drm_minor());
        call.args.put_u32(8, 0);
        for (length_at, text) in [(16, "amdgpu"), (32, "0"), (48, "AMD GPU")] {
            let room = usize::try_from(call.args.u64(length_at)).unwrap_or(usize::MAX).min(text.len());
            let place = call.args.u64(length_at + 8);
            call.args.put_u64(length_at, text.len() as u64);
            if room > 0 && place != 0 && !call.caller.write(place, &text.as_bytes()[..room]) {
                return Err(Errno::EFAULT);
            }
        }
        Ok(())
    }

    fn info(&mut self, call: &mut Call<'_>, gpu: usize) -> Answer {
        let (place, room, query) = (call.args.u64(0), call.args.u32(8) as usize, call.args.u32(12));
        if place == 0 || room == 0 {
            return Err(Errno::EINVAL);
        }
        let gpu = &self.config.gpus[gpu];
        let answer = match query {
            ACCEL_WORKING => 1_u32.to_le_bytes().to_vec(),
            HW_IP_COUNT => hw_ip_count(gpu, call.args.u32(16)).ok_or(Errno::EINVAL)?.to_le_bytes().to_vec(),
            READ_MMR_REG => registers(gpu, &call.args)?,
            DEV_INFO => device(gpu),
            MEMORY => memory(gpu),
            _ => {
                self.violate(format!("AMDGPU_INFO: this fake does not have query {query:#x}"));
                return Err(Errno::EINVAL);
            }
        };
        let written = call.caller.write(place, &answer[..answer.len().min(room)]);
        if written { Ok(()) } else { Err(Errno::EFAULT) }
    }
}

/// Answers as every kernel since 4.16: the caller alone, authenticated.
fn get_client(call: &mut Call<'_>) -> Answer {
    if call.args.u32(0) != 0 {
        return Err(Errno::EINVAL);
    }
    call.args.put_u32(4, 1);
    call.args.put_u64(8, call.caller.tgid() as u64);
    call.args.put_u64(16, 65534);
    call.args.put_u64(24, 0);
    call.args.put_u64(32, 0);
    Ok(())
}

/// PRIME (5) imports and exports, syncobj (0x13) and its timelines (0x14); the rest is 0.
fn get_cap(args: &mut Block) -> Answer {
    let value = match args.u64(0) {
        5 => 3,
        0x13 | 0x14 => 1,
        _ => 0,
    };
    args.put_u64(8, value);
    Ok(())
}

fn hw_ip_count(gpu: &Gpu, kind: u32) -> Option<u32> {
    match kind {
        0 | 1 => Some(1),
        2 => Some(gpu.chip.sdma_engines),
        ..HW_IPS => Some(0),
        _ => None,
    }
}

/// First register and count of what libdrm reads besides on chips before gfx9: backends, raster configuration, memory
/// arbiter, tile and macro tile modes. Nobody has measured them: they read as 0.
const OLD_REGISTERS: [(u32, u32); 6] = [(0x263d, 1), (0xa0d4, 1), (0xa0d5, 1), (0x9d8, 1), (0x2644, 32), (0x2664, 16)];

/// READ_MMR_REG: `GB_ADDR_CONFIG` is the register that every libdrm reads.
fn registers(gpu: &Gpu, args: &Block) -> Answer<Vec<u8>> {
    let (first, count, instance) = (args.u32(16), args.u32(20), args.u32(24));
    let (engine, array) = (instance & 0xff, instance >> 8 & 0xff);
    let within = |index: u32, count: u32| index == BROADCAST || index < count;
    if !within(engine, gpu.chip.shader_engines) || !within(array, gpu.chip.arrays_per_engine) || count > REGISTERS {
        return Err(Errno::EINVAL);
    }
    if (first, count) == (GB_ADDR_CONFIG, 1) {
        return Ok(gpu.chip.gb_addr_config.to_le_bytes().to_vec());
    }
    if gpu.chip.gfx_major < 9 && OLD_REGISTERS.contains(&(first, count)) {
        return Ok(vec![0; 4 * count as usize]);
    }
    Err(Errno::EFAULT)
}

/// `drm_amdgpu_info_device`; fields without a line are 0.
fn device(gpu: &Gpu) -> Vec<u8> {
    let chip = &gpu.chip;
    let arrays = (chip.shader_engines * chip.arrays_per_engine).max(1);
    let mut info = Block(vec![0; DEVICE_BYTES]);
    let narrow = [
        (0, gpu.device_id),
        (4, chip.asic_revision),
        (8, chip.asic_revision),
        (12, gpu.revision),
        (16, chip.family),
        (20, chip.shader_engines),
        (24, chip.arrays_per_engine),
        (28, (gpu.counter_hz / 1000) as u32),
        (48, chip.compute_units),
        (128, 8),
        (160, 4096),
        (164, 2 << 20),
        (168, 4096),
        (180, chip.memory_bus_bits),
        (240, chip.wavefront_size),
        (248, chip.compute_units.div_ceil(arrays)),
        (384, (chip.l1_bytes / 1024) as u32),
        (404, (chip.l2_bytes / 1024) as u32),
    ];
    for (offset, value) in narrow {
        info.put_u32(offset, value);
    }
    let wide = [
        (32, u64::from(chip.engine_clock_mhz) * 1000),
        (40, u64::from(chip.memory_clock_mhz) * 1000),
        (136, u64::from(gpu.apu)),
        (144, 0x1_0000),
        (152, HOLE.min((1 << 48) - RESERVED_TOP)),
        (336, HIGH_HALF),
        (344, HIGH_HALF + (HOLE - RESERVED_TOP)),
        (408, chip.l3_bytes),
    ];
    for (offset, value) in wide {
        info.put_u64(offset, value);
    }
    // The bitmaps have room for 4 engines of 4 arrays.
    for array in 0..arrays {
        let (engine, index) = (array / chip.arrays_per_engine.max(1), array % chip.arrays_per_engine.max(1));
        if engine < 4 && index < 4 {
            let units = chip.compute_units / arrays + u32::from(array < chip.compute_units % arrays);
            info.put_u32(56 + 4 * (4 * engine + index) as usize, 1_u32.checked_shl(units).map_or(u32::MAX, |b| b - 1));
        }
    }
    info.0
}

/// `drm_amdgpu_memory_info`: local memory, its visible part, system memory: total, usable, used, largest block.
fn memory(gpu: &Gpu) -> Vec<u8> {
    let visible = if gpu.large_bar { gpu.vram_bytes } else { gpu.vram_bytes.min(256 << 20) };
    let heaps = [gpu.vram_bytes, visible, gpu.chip.non_local_bytes];
    let words = heaps.into_iter().flat_map(|bytes| [bytes, bytes, 0, bytes / 4 * 3]);
    words.flat_map(u64::to_le_bytes).collect()
}
