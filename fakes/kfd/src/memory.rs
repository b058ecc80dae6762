//! Buffers: ALLOC, FREE, MAP and UNMAP, with the checks of kfd-kernel.md 2.9 to 2.11 in the kernel's order.

use std::collections::{BTreeMap, BTreeSet};

use crate::abi;
use crate::errno::{Answer, Errno};
use crate::gpu::Gpu;
use crate::kernel::{Call, Kernel};
use crate::mmap::{FILE_BYTES, PAGE, Pages, Stretch};

/// Flags of ALLOC (kfd_ioctl.json): what a buffer is made of.
pub(crate) mod flag {
    pub(crate) const VRAM: u32 = 1 << 0;
    pub(crate) const GTT: u32 = 1 << 1;
    pub(crate) const USERPTR: u32 = 1 << 2;
    pub(crate) const DOORBELL: u32 = 1 << 3;
    pub(crate) const MMIO_REMAP: u32 = 1 << 4;
    pub(crate) const AQL_QUEUE_MEM: u32 = 1 << 27;
    pub(crate) const PUBLIC: u32 = 1 << 29;
}

/// All kinds of buffer.
const KINDS: u32 = flag::VRAM | flag::GTT | flag::USERPTR | flag::DOORBELL | flag::MMIO_REMAP;
/// Offsets of a render node start there (kfd-kernel.md 3.2).
const FIRST_OFFSET: u64 = 1 << 32;
/// Granule of the available memory, in bytes (kfd-kernel.md 5.4).
const AVAILABLE_GRANULE: u64 = 2 << 20;

/// A buffer of a process on one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Tells all buffers apart that ever were.
    pub(crate) serial: u64,
    pub(crate) va: u64,
    /// Bytes of memory, whole pages; half of the address range of an AQL queue.
    pub(crate) bytes: u64,
    pub(crate) flags: u32,
    /// Offset on the render node, or on `/dev/kfd` for MMIO_REMAP.
    pub(crate) offset: u64,
    /// GPUs in whose address space it is.
    pub(crate) mapped: BTreeSet<usize>,
}

impl Buffer {
    /// The addresses that it takes when mapped: first and one past the last; `None` when they wrap.
    fn range(&self) -> Option<(u64, u64)> {
        let bytes = if self.flags & flag::AQL_QUEUE_MEM != 0 { self.bytes.checked_mul(2)? } else { self.bytes };
        Some((self.va, self.va.checked_add(bytes)?))
    }

    /// Where its memory is in the render node's file; registers are not there, and user memory is the client's.
    pub(crate) fn stretch(&self, gpu: usize) -> Option<Stretch> {
        let there = self.flags & (flag::MMIO_REMAP | flag::USERPTR) == 0 && self.offset < FILE_BYTES;
        there.then_some(Stretch { gpu: Some(gpu), offset: self.offset, bytes: self.bytes })
    }

    /// Of the GPU's own memory or registers: others reach it over the bus only.
    const fn is_local(&self) -> bool {
        self.flags & (flag::VRAM | flag::DOORBELL | flag::MMIO_REMAP) != 0
    }
}

/// Bytes of a GPU's address space (kfd-kernel.md 2.3).
const fn vm_bytes(gpu: &Gpu) -> u64 {
    if gpu.chip.gfx_major >= 9 { 1 << 48 } else { 1 << 40 }
}

/// Halves of a handle: the GPU's id and the buffer's number.
pub(crate) const fn halves(handle: u64) -> (u32, u32) {
    ((handle >> 32) as u32, handle as u32)
}

impl Kernel {
    /// Every buffer on a GPU, of all processes.
    fn buffers_of(&self, gpu: usize) -> impl Iterator<Item = &Buffer> {
        self.processes.values().filter_map(move |p| p.buffers.get(&gpu)).flat_map(BTreeMap::values)
    }

    /// Bytes of local memory that buffers may take, used or not (kfd-kernel.md 5.4).
    fn usable_vram(&self, gpu: usize) -> u64 {
        let all: u64 = self.config.gpus.iter().map(|g| g.vram_bytes).sum();
        self.config.gpus[gpu].vram_bytes.saturating_sub((all / 16384).max(8 << 20))
    }

    /// Bytes that AVAILABLE_MEMORY tells (kfd-kernel.md rule 42).
    pub(crate) fn available(&self, gpu: usize) -> u64 {
        let vram = self.buffers_of(gpu).filter(|b| b.flags & flag::VRAM != 0);
        let used: u64 = vram.map(|b| b.bytes.next_multiple_of(AVAILABLE_GRANULE)).sum();
        let left = self.usable_vram(gpu).saturating_sub(used);
        left / AVAILABLE_GRANULE * AVAILABLE_GRANULE
    }

    /// Whether that many bytes more of a kind fit (kfd-kernel.md 5.4). GTT and user memory count against what the
    /// kernel leaves of the system memory, GTT against half of all as well.
    fn fits(&self, gpu: usize, kind: u32, bytes: u64) -> bool {
        let more = |used: u64, limit: u64| used.checked_add(bytes).is_some_and(|sum| sum <= limit);
        let charged = |gpu: usize, kinds: u32| -> u64 {
            self.buffers_of(gpu).filter(|b| b.flags & kinds != 0).map(|b| b.bytes).sum()
        };
        let everywhere = |kinds| (0..self.config.gpus.len()).map(|gpu| charged(gpu, kinds)).sum::<u64>();
        let ram = self.config.system_bytes - self.config.system_bytes / 64;
        let limit = if ram < 3 << 30 { ram / 2 } else { ram - (3 << 29) };
        match kind {
            flag::VRAM => more(charged(gpu, flag::VRAM), self.usable_vram(gpu)),
            flag::GTT => {
                more(everywhere(flag::GTT | flag::USERPTR), limit)
                    && more(everywhere(flag::GTT), self.config.system_bytes / 2)
            }
            flag::USERPTR => more(everywhere(flag::GTT | flag::USERPTR), limit),
            _ => true,
        }
    }

    /// ALLOC_MEMORY_OF_GPU.
    pub(crate) fn alloc(&mut self, call: &mut Call<'_>) -> Answer {
        use abi::alloc_memory_of_gpu as at;
        let (va, size) = (call.args.u64(at::va_addr), call.args.u64(at::size));
        let (gpu_id, flags) = (call.args.u32(at::gpu_id), call.args.u32(at::flags));
        let address = call.args.u64(at::mmap_offset);
        if size == 0 {
            return Err(Errno::EINVAL);
        }
        let gpu = self.gpu(gpu_id).ok_or(Errno::EINVAL)?;
        if flags & flag::PUBLIC != 0 && flags & flag::VRAM != 0 && !self.config.gpus[gpu].large_bar {
            return Err(Errno::EINVAL);
        }
        if !self.is_bound(call, gpu) {
            return Err(Errno::ENODEV);
        }
        let kind = flags & KINDS;
        let fixed = match () {
            () if kind & flag::DOORBELL != 0 => Some(self.doorbell_bytes(gpu)),
            () if kind & flag::MMIO_REMAP != 0 => Some(PAGE),
            () => None,
        };
        if fixed.is_some_and(|bytes| size != bytes) || kind == 0 {
            return Err(Errno::EINVAL);
        }
        if kind.count_ones() > 1 {
            self.violate(format!("ALLOC_MEMORY_OF_GPU: flags {flags:#x} name two kinds of memory"));
            return Err(Errno::EINVAL);
        }
        let userptr = kind == flag::USERPTR;
        if userptr && (address == 0 || !address.is_multiple_of(PAGE)) {
            return Err(Errno::EINVAL);
        }
        let size = if flags & flag::AQL_QUEUE_MEM != 0 { size / 2 } else { size };
        if size == 0 {
            return Err(Errno::EINVAL);
        }
        let bytes = size.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
        if !self.fits(gpu, kind, bytes) {
            return Err(Errno::ENOMEM);
        }
        if userptr {
            call.caller.pin(address, bytes)?;
        }
        let serial = self.next_buffer;
        self.next_buffer += 1;
        let offset = if kind == flag::MMIO_REMAP {
            self.kfd_offset(call.caller.tgid(), Pages::Registers(gpu))
        } else {
            let unreachable = kind == flag::VRAM && !self.config.gpus[gpu].large_bar;
            // Behind the end of a file a touch faults, as behind a small BAR.
            let base = if self.config.file_offsets && unreachable { FILE_BYTES } else { 0 };
            let next = self.offsets.entry(gpu).or_insert(FIRST_OFFSET);
            let offset = base + *next;
            *next += bytes;
            offset
        };
        let buffers = self.process(call).buffers.entry(gpu).or_default();
        // There are fewer buffers than numbers: each has a page.
        let id = (0..).find(|id| !buffers.contains_key(id)).unwrap_or(u32::MAX);
        buffers.insert(id, Buffer { serial, va, bytes, flags, offset, mapped: BTreeSet::new() });
        call.args.put_u64(at::handle, u64::from(gpu_id) << 32 | u64::from(id));
        call.args.put_u64(at::mmap_offset, offset);
        Ok(())
    }

    /// FREE_MEMORY_OF_GPU.
    pub(crate) fn free(&mut self, call: &mut Call<'_>) -> Answer {
        let (gpu_id, id) = halves(call.args.u64(abi::free_memory_of_gpu::handle));
        let gpu = self.gpu(gpu_id).ok_or(Errno::EINVAL)?;
        if self.process(call).events.is_page(gpu, id) {
            return Err(Errno::EPERM);
        }
        let buffers = self.process(call).buffers.entry(gpu).or_default();
        match buffers.get(&id) {
            None => Err(Errno::EINVAL),
            Some(buffer) if !buffer.mapped.is_empty() => Err(Errno::EBUSY),
            Some(buffer) => {
                let stretch = buffer.stretch(gpu);
                buffers.remove(&id);
                self.freed.extend(stretch.filter(|_| self.config.file_offsets));
                Ok(())
            }
        }
    }

    /// MAP_MEMORY_TO_GPU and, with `map` unset, UNMAP_MEMORY_FROM_GPU.
    pub(crate) fn map(&mut self, call: &mut Call<'_>, map: bool) -> Answer {
        use abi::map_memory_to_gpu as at;
        let (devices, done) = (call.args.u32(at::n_devices), call.args.u32(at::n_success));
        if devices == 0 || done > devices {
            return Err(Errno::EINVAL);
        }
        // The kernel's own allocation of such a list fails.
        let mut list = vec![0_u8; usize::try_from(devices).ok().filter(|n| *n < 1 << 20).ok_or(Errno::ENOMEM)? * 4];
        if !call.caller.read(call.args.u64(at::device_ids_array_ptr), &mut list) {
            return Err(Errno::EFAULT);
        }
        let (gpu_id, id) = halves(call.args.u64(at::handle));
        let owner = self.gpu(gpu_id).ok_or(Errno::EINVAL)?;
        if map && !self.is_bound(call, owner) {
            return Err(Errno::ENODEV);
        }
        if !self.process(call).buffers.get(&owner).is_some_and(|buffers| buffers.contains_key(&id)) {
            return Err(Errno::ENOMEM);
        }
        for (i, word) in list.as_chunks::<4>().0.iter().enumerate().skip(done as usize) {
            let peer = self.gpu(u32::from_le_bytes(*word)).ok_or(Errno::EINVAL)?;
            if !self.is_bound(call, peer) {
                return Err(if map { Errno::ENODEV } else { Errno::EINVAL });
            }
            if map {
                self.map_one(call, (owner, id), peer)?;
            } else if !self.buffer(call, owner, id)?.mapped.remove(&peer) {
                return Err(Errno::EINVAL);
            }
            call.args.put_u32(at::n_success, i as u32 + 1);
        }
        Ok(())
    }

    fn buffer(&mut self, call: &Call<'_>, owner: usize, id: u32) -> Answer<&mut Buffer> {
        self.process(call).buffers.get_mut(&owner).and_then(|b| b.get_mut(&id)).ok_or(Errno::ENOMEM)
    }

    fn map_one(&mut self, call: &Call<'_>, (owner, id): (usize, u32), peer: usize) -> Answer {
        let buffer = self.buffer(call, owner, id)?.clone();
        if buffer.mapped.contains(&peer) {
            return Ok(());
        }
        if buffer.is_local() && owner != peer && !self.config.gpus[owner].large_bar {
            return Err(Errno::EINVAL);
        }
        let limit = vm_bytes(&self.config.gpus[peer]);
        let (start, end) = buffer.range().ok_or(Errno::EINVAL)?;
        if start == 0 || !start.is_multiple_of(PAGE) || end > limit {
            return Err(Errno::EINVAL);
        }
        // The driver's own trap pages, just below the top 4 MiB, on chips whose trap handler is not low.
        let traps = (limit - (4 << 20) - 2 * PAGE, limit - (4 << 20));
        let modern = self.config.gpus[peer].chip.gfx_major >= 9;
        let buffers = self.process(call).buffers.values().flat_map(BTreeMap::values);
        let taken = buffers.filter(|b| b.mapped.contains(&peer)).filter_map(Buffer::range);
        let traps = modern.then_some(traps);
        if taken.chain(traps).any(|(first, last)| start < last && first < end) {
            return Err(Errno::EINVAL);
        }
        self.buffer(call, owner, id)?.mapped.insert(peer);
        Ok(())
    }
}
