//! The calls of `/dev/kfd`, each with the checks of kfd-kernel.md section 2 in the kernel's order.

use crate::abi::{self, APERTURE_BYTES, Block};
use crate::errno::{Answer, Errno};
use crate::kernel::{Call, Descriptor, File, Kernel, Process};
use crate::mode::Mode;

/// GPUs that the old aperture call lists at most (kfd-kernel.md 2.3).
const OLD_APERTURES: usize = 7;
/// Tile and macro tile modes that a chip has: the lengths of the driver's tables, assumed.
const TILE_MODES: (u32, u32) = (32, 16);

impl Kernel {
    /// Runs one call of the table.
    pub(crate) fn kfd_call(&mut self, call: &mut Call<'_>) -> Answer {
        match call.name {
            "GET_VERSION" => self.get_version(&mut call.args),
            "SET_MEMORY_POLICY" => self.set_memory_policy(call),
            "GET_CLOCK_COUNTERS" => self.get_clock_counters(&mut call.args),
            "GET_PROCESS_APERTURES" => self.get_process_apertures(&mut call.args),
            "GET_PROCESS_APERTURES_NEW" => self.get_process_apertures_new(call),
            "ACQUIRE_VM" => self.acquire_vm(call),
            "SET_SCRATCH_BACKING_VA" => self.bound(call, abi::set_scratch_backing_va::gpu_id, Errno::ENODEV),
            "SET_TRAP_HANDLER" => self.bound(call, abi::set_trap_handler::gpu_id, Errno::ESRCH),
            "GET_TILE_CONFIG" => self.get_tile_config(call),
            "AVAILABLE_MEMORY" => self.available_memory(&mut call.args),
            "ALLOC_MEMORY_OF_GPU" => self.alloc(call),
            "FREE_MEMORY_OF_GPU" => self.free(call),
            "MAP_MEMORY_TO_GPU" => self.map(call, true),
            "UNMAP_MEMORY_FROM_GPU" => self.map(call, false),
            "CREATE_EVENT" => self.create_event(call),
            "DESTROY_EVENT" => self.destroy_event(call),
            "SET_EVENT" => self.set_event(call, true),
            "RESET_EVENT" => self.set_event(call, false),
            "WAIT_EVENTS" => self.wait_events(call),
            "SET_XNACK_MODE" => self.set_xnack_mode(call),
            "RUNTIME_ENABLE" => self.runtime_enable(call),
            "DBG_REGISTER_DEPRECATED"
            | "DBG_UNREGISTER_DEPRECATED"
            | "DBG_ADDRESS_WATCH_DEPRECATED"
            | "DBG_WAVE_CONTROL_DEPRECATED" => Err(Errno::EPERM),
            absent => {
                self.unknown_request(call.request, format!("{absent}: this fake does not have it yet"));
                Err(Errno::ENOTTY)
            }
        }
    }

    /// State of the calling process.
    pub(crate) fn process(&mut self, call: &Call<'_>) -> &mut Process {
        self.processes.entry(call.caller.tgid()).or_default()
    }

    /// ACQUIRE_VM succeeded for this GPU.
    pub(crate) fn is_bound(&mut self, call: &Call<'_>, gpu: usize) -> bool {
        self.process(call).bound.contains_key(&gpu)
    }

    fn known(&self, gpu_id: u32) -> Answer<usize> {
        self.gpu(gpu_id).ok_or(Errno::EINVAL)
    }

    /// A call that needs a bound GPU and nothing else: addresses are not checked (kfd-kernel.md 2.5).
    fn bound(&mut self, call: &Call<'_>, gpu_id_at: usize, unbound: Errno) -> Answer {
        let gpu = self.known(call.args.u32(gpu_id_at))?;
        if self.is_bound(call, gpu) { Ok(()) } else { Err(unbound) }
    }

    fn get_version(&self, args: &mut Block) -> Answer {
        let (major, minor) = self.config.mode.kfd_version();
        args.put_u32(abi::get_version::major_version, major);
        args.put_u32(abi::get_version::minor_version, minor);
        Ok(())
    }

    fn set_memory_policy(&mut self, call: &Call<'_>) -> Answer {
        use abi::set_memory_policy as at;
        let args = &call.args;
        if args.u32(at::default_policy) > 1 || args.u32(at::alternate_policy) > 1 {
            return Err(Errno::EINVAL);
        }
        self.bound(call, at::gpu_id, Errno::ESRCH)?;
        let gpu = self.known(args.u32(at::gpu_id))?;
        let (base, size) = (args.u64(at::alternate_aperture_base), args.u64(at::alternate_aperture_size));
        let old = self.config.gpus[gpu].chip.gfx_major < 9;
        if old && size != 0 {
            let limit = base.wrapping_add(size - 1);
            if base & 0xffff != 0 || limit & 0xffff != 0xffff || limit <= base || limit >> 63 != 0 {
                return Err(Errno::EINVAL);
            }
        }
        Ok(())
    }

    fn get_clock_counters(&self, args: &mut Block) -> Answer {
        use abi::get_clock_counters as at;
        let raw = nanoseconds(libc::CLOCK_MONOTONIC_RAW);
        let hz = self.gpu(args.u32(at::gpu_id)).map_or(0, |gpu| self.config.gpus[gpu].counter_hz);
        args.put_u64(at::gpu_clock_counter, (u128::from(raw) * u128::from(hz) / 1_000_000_000) as u64);
        args.put_u64(at::cpu_clock_counter, raw);
        args.put_u64(at::system_clock_counter, nanoseconds(libc::CLOCK_BOOTTIME));
        args.put_u64(at::system_clock_freq, 1_000_000_000);
        Ok(())
    }

    /// The entries of the GPUs that the cgroup allows, in topology order.
    fn apertures(&self) -> Vec<[u8; APERTURE_BYTES]> {
        use abi::apertures as at;
        let visible = self.config.gpus.iter().filter(|g| !g.hidden);
        let entry = |gpu: &crate::Gpu| {
            let window = (4 << 30) - 1;
            let gpuvm_base: u64 = if self.config.mode == Mode::V6_1 { 0x4000 } else { 0x1_0000 };
            let (lds, scratch, gpuvm, limit): (u64, u64, u64, u64) = if gpu.chip.gfx_major < 9 {
                (1 << 61, (1 << 61) + (4 << 30), 0x1_0000, (1 << 40) - 1)
            } else {
                (1 << 48, 2 << 48, gpuvm_base, (1 << 47) - 1)
            };
            let mut block = Block(vec![0; APERTURE_BYTES]);
            for (offset, number) in [
                (at::lds_base, lds),
                (at::lds_limit, lds + window),
                (at::scratch_base, scratch),
                (at::scratch_limit, scratch + window),
                (at::gpuvm_base, gpuvm),
                (at::gpuvm_limit, limit),
            ] {
                block.put_u64(offset, number);
            }
            block.put_u32(at::gpu_id, gpu.gpu_id);
            let mut bytes = [0; APERTURE_BYTES];
            bytes.copy_from_slice(&block.0);
            bytes
        };
        visible.map(entry).collect()
    }

    fn get_process_apertures(&self, args: &mut Block) -> Answer {
        let entries = self.apertures();
        let count = entries.len().min(OLD_APERTURES);
        args.put(abi::get_process_apertures::process_apertures, entries[..count].as_flattened());
        args.put_u32(abi::get_process_apertures::num_of_nodes, count as u32);
        Ok(())
    }

    fn get_process_apertures_new(&mut self, call: &mut Call<'_>) -> Answer {
        use abi::get_process_apertures_new as at;
        let entries = self.apertures();
        let asked = call.args.u32(at::num_of_nodes);
        if asked == 0 {
            call.args.put_u32(at::num_of_nodes, entries.len() as u32);
            return Ok(());
        }
        if asked > self.config.topology_nodes {
            return Err(Errno::EINVAL);
        }
        let count = entries.len().min(asked as usize);
        call.args.put_u32(at::num_of_nodes, count as u32);
        let written =
            call.caller.write(call.args.u64(at::kfd_process_device_apertures_ptr), entries[..count].as_flattened());
        if written { Ok(()) } else { Err(Errno::EFAULT) }
    }

    fn acquire_vm(&mut self, call: &mut Call<'_>) -> Answer {
        let (fd, gpu_id) = (call.args.u32(abi::acquire_vm::drm_fd) as i32, call.args.u32(abi::acquire_vm::gpu_id));
        let tgid = call.caller.tgid();
        let descriptor = call.caller.descriptor(fd);
        if descriptor == Descriptor::Closed {
            return Err(Errno::EINVAL);
        }
        let gpu = self.known(gpu_id)?;
        if let Some(holder) = self.process(call).bound.get(&gpu) {
            return if descriptor == Descriptor::Device(*holder) { Ok(()) } else { Err(Errno::EBUSY) };
        }
        let Descriptor::Device(id) = descriptor else { return Err(Errno::EINVAL) };
        match self.files.get_mut(&id) {
            Some(File::Render { gpu: own, vm: vm @ None, .. }) if *own == gpu => *vm = Some(tgid),
            Some(File::Render { gpu: own, vm: None, .. }) => {
                let of = self.config.gpus[*own].gpu_id;
                self.violate(format!("ACQUIRE_VM: a file of GPU {of:#x} for GPU {gpu_id:#x}"));
                return Err(Errno::EINVAL);
            }
            _ => return Err(Errno::EINVAL),
        }
        self.process(call).bound.insert(gpu, id);
        Ok(())
    }

    fn get_tile_config(&self, call: &mut Call<'_>) -> Answer {
        use abi::get_tile_config as at;
        let gpu = self.known(call.args.u32(at::gpu_id))?;
        call.args.put_u32(at::gb_addr_config, self.config.gpus[gpu].chip.gb_addr_config);
        call.args.put_u32(at::num_banks, 0);
        call.args.put_u32(at::num_ranks, 0);
        for (pointer_at, count_at, modes) in [
            (at::tile_config_ptr, at::num_tile_configs, TILE_MODES.0),
            (at::macro_tile_config_ptr, at::num_macro_tile_configs, TILE_MODES.1),
        ] {
            let count = call.args.u32(count_at).min(modes);
            call.args.put_u32(count_at, count);
            if !call.caller.write(call.args.u64(pointer_at), &vec![0; 4 * count as usize]) {
                call.args.put_u32(count_at, 0);
                return Err(Errno::EFAULT);
            }
        }
        Ok(())
    }

    fn available_memory(&self, args: &mut Block) -> Answer {
        let gpu = self.known(args.u32(abi::available_memory::gpu_id))?;
        args.put_u64(abi::available_memory::available, self.available(gpu));
        Ok(())
    }

    /// Retry faults, off at boot. On gfx90a, gfx942 and gfx950 a process may turn them on; no other chip can here
    /// (kfd-kernel.md 2.13).
    fn set_xnack_mode(&mut self, call: &mut Call<'_>) -> Answer {
        let able = |g: &crate::Gpu| matches!(g.gfx_target_version(), 90_010 | 90_402 | 90_500);
        let possible = self.config.gpus.iter().all(able);
        let asked = call.args.u32(abi::set_xnack_mode::xnack_enabled) as i32;
        let process = self.process(call);
        if asked < 0 {
            call.args.put_u32(abi::set_xnack_mode::xnack_enabled, process.xnack.into());
        } else if asked > 0 && !process.xnack && !possible {
            return Err(Errno::EPERM);
        } else {
            process.xnack = asked > 0;
        }
        Ok(())
    }

    fn runtime_enable(&mut self, call: &Call<'_>) -> Answer {
        let enable = call.args.u32(abi::runtime_enable::mode_mask) & 1 != 0;
        let process = self.process(call);
        if enable && process.runtime {
            return Err(Errno::EBUSY);
        }
        process.runtime = enable;
        Ok(())
    }
}

/// A clock, in ns.
fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours; both clocks exist since Linux 2.6.39.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
