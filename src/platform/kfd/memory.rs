//! Buffers of the driver and their place in the program's addresses (kfd.md 3.3 to 3.7).

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::memory::{Buffer, Memory, Place, UserMemory, Wanted};
use super::super::os::page_size;
use super::super::span::{Access, Span, no_memory};
use super::super::{Device, Error as PlatformError};
use super::binding::{Binding, RenderNode};
use super::calls::{self, CallError};
use super::device::KfdDevice;
use super::ioctl::*;
use super::space::HUGE_PAGE;
use super::{Error, Kfd};
use crate::abi::HsaMemFlags;

/// The kernel takes user memory in pieces of at most this (kfd.md 3.5).
const MOST_USER_BYTES: u64 = (1 << 39) - (2 << 20);
/// Scratch memory begins at and consists of multiples of this.
pub(super) const SCRATCH_GRANULE: u64 = 64 << 10;

/// The device as this platform's own.
pub(super) fn own(device: &dyn Device) -> Result<&KfdDevice, Error> {
    device.as_any().downcast_ref().ok_or(Error::ForeignDevice)
}

fn gpu_ids(devices: &[Arc<dyn Device>]) -> Result<Vec<u32>, Error> {
    devices.iter().map(|device| Ok(own(&**device)?.apertures.gpu_id)).collect()
}

/// Buffer objects of the kernel that stand for one range of addresses. Dropping frees them.
#[derive(Debug)]
pub(super) struct Object {
    binding: Arc<Binding>,
    /// Those that are not freed.
    handles: Mutex<Vec<u64>>,
}

impl Object {
    fn none(binding: &Arc<Binding>) -> Self {
        Self { binding: Arc::clone(binding), handles: Mutex::default() }
    }

    /// One buffer object, and its offset for `mmap`.
    pub(super) fn new(
        binding: &Arc<Binding>,
        gpu_id: u32,
        range: (u64, u64),
        flags: u32,
    ) -> Result<(Self, u64), CallError> {
        let object = Self::none(binding);
        let (handle, offset) = calls::alloc_memory(binding.kfd().as_fd(), gpu_id, range, flags, 0)?;
        object.handles().push(handle);
        Ok((object, offset))
    }

    /// As many as the kernel needs for the user memory at `user`, seen at `va`.
    fn of_user(
        binding: &Arc<Binding>,
        gpu_id: u32,
        (va, bytes): (u64, u64),
        flags: u32,
        user: u64,
    ) -> Result<Self, CallError> {
        let object = Self::none(binding);
        let mut done = 0;
        while done < bytes {
            let part = (bytes - done).min(MOST_USER_BYTES);
            let kfd = binding.kfd().as_fd();
            let (handle, _) = calls::alloc_memory(kfd, gpu_id, (va + done, part), flags, user + done)?;
            object.handles().push(handle);
            done += part;
        }
        Ok(object)
    }

    fn handles(&self) -> MutexGuard<'_, Vec<u64>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first of them.
    pub(super) fn handle(&self) -> Option<u64> {
        self.handles().first().copied()
    }

    /// Maps all of it for all of `gpus`, which do not have it, or none of it.
    pub(super) fn map(&self, gpus: &[u32]) -> Result<(), CallError> {
        let (kfd, handles) = (self.binding.kfd().as_fd(), self.handles().clone());
        for (index, &handle) in handles.iter().enumerate() {
            let (done, result) = calls::map_memory(kfd, handle, gpus);
            if let Err(error) = result {
                let begun = (handle, &gpus[..done]);
                let whole = handles[..index].iter().map(|&handle| (handle, gpus));
                for (handle, gpus) in whole.chain([begun]).filter(|(_, gpus)| !gpus.is_empty()) {
                    // Whatever this says, the first error is the one to tell.
                    let _ = calls::unmap_memory(kfd, handle, gpus);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn unmap(&self, gpus: &[u32]) -> Result<(), CallError> {
        let (kfd, handles) = (self.binding.kfd().as_fd(), self.handles().clone());
        handles.iter().try_for_each(|&handle| calls::unmap_memory(kfd, handle, gpus).1)
    }

    fn free(&self) -> Result<(), CallError> {
        // Taken out: of two threads that free, one has something to do.
        let mut handles = std::mem::take(&mut *self.handles());
        while let Some(&handle) = handles.last() {
            if let Err(error) = calls::free_memory(self.binding.kfd().as_fd(), handle) {
                *self.handles() = handles;
                return Err(error);
            }
            handles.pop();
        }
        Ok(())
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // Nobody is left to tell: whoever cares has called `free`. What the kernel keeps goes with the process.
        let _ = self.free();
    }
}

/// A buffer in its place. The object goes before the addresses: the kernel would stop all queues otherwise.
#[derive(Debug)]
pub(super) struct KfdBuffer {
    pub(super) object: Object,
    pub(super) span: Span,
    /// Distance of the first byte from the first page, for user memory.
    offset: u64,
    /// First byte for the CPU.
    cpu: u64,
}

impl Buffer for KfdBuffer {
    fn address(&self) -> u64 {
        self.span.base() + self.offset
    }

    fn cpu_address(&self) -> u64 {
        self.cpu
    }

    fn is_mappable(&self) -> bool {
        true
    }

    fn map(&self, devices: &[Arc<dyn Device>]) -> Result<(), PlatformError> {
        Ok(self.object.map(&gpu_ids(devices)?).map_err(Error::Call)?)
    }

    fn unmap(&self, devices: &[Arc<dyn Device>]) -> Result<(), PlatformError> {
        Ok(self.object.unmap(&gpu_ids(devices)?).map_err(Error::Call)?)
    }

    fn free(&self) -> Result<(), PlatformError> {
        Ok(self.object.free().map_err(Error::Call)?)
    }
}

/// Pages or addresses of the process that the driver has no object for: host memory where all GPUs are part of a CPU,
/// and ranges without memory.
struct Plain {
    span: Span,
    mappable: bool,
}

impl Buffer for Plain {
    fn address(&self) -> u64 {
        self.span.base()
    }

    fn cpu_address(&self) -> u64 {
        if self.mappable { self.span.base() } else { 0 }
    }

    fn is_mappable(&self) -> bool {
        self.mappable
    }

    fn map(&self, _: &[Arc<dyn Device>]) -> Result<(), PlatformError> {
        Ok(())
    }

    fn unmap(&self, _: &[Arc<dyn Device>]) -> Result<(), PlatformError> {
        Ok(())
    }

    fn free(&self) -> Result<(), PlatformError> {
        Ok(())
    }
}

/// A part of a scratch area that memory backs.
struct Backed {
    address: u64,
    /// The GPU has it; false between the two steps of taking it away.
    mapped: bool,
    object: Object,
}

/// The scratch area of one GPU.
struct ScratchArea {
    binding: Arc<Binding>,
    gpu_id: u32,
    backed: Mutex<Vec<Backed>>,
    span: Span,
}

impl ScratchArea {
    fn backed(&self) -> MutexGuard<'_, Vec<Backed>> {
        self.backed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_back(&self, mut part: Backed) -> Result<(), Error> {
        let unmapped = if part.mapped { part.object.unmap(&[self.gpu_id]) } else { Ok(()) };
        part.mapped &= unmapped.is_err();
        if let Err(error) = unmapped.and_then(|()| part.object.free()) {
            self.backed().push(part);
            return Err(error.into());
        }
        Ok(())
    }
}

impl Buffer for ScratchArea {
    fn address(&self) -> u64 {
        self.span.base()
    }

    fn cpu_address(&self) -> u64 {
        0
    }

    fn is_mappable(&self) -> bool {
        true
    }

    fn map(&self, _: &[Arc<dyn Device>]) -> Result<(), PlatformError> {
        Err(PlatformError::Unsupported("mapping a whole scratch area"))
    }

    fn unmap(&self, _: &[Arc<dyn Device>]) -> Result<(), PlatformError> {
        Err(PlatformError::Unsupported("unmapping a whole scratch area"))
    }

    fn free(&self) -> Result<(), PlatformError> {
        loop {
            let Some(part) = self.backed().pop() else { break };
            self.take_back(part)?;
        }
        self.binding.end_scratch(self.gpu_id);
        Ok(())
    }

    fn back(&self, address: u64, bytes: u64, backed: bool) -> Result<(), PlatformError> {
        if !backed {
            let mut parts = self.backed();
            let Some(index) = parts.iter().position(|part| part.address == address) else { return Ok(()) };
            let part = parts.swap_remove(index);
            drop(parts);
            return Ok(self.take_back(part)?);
        }
        let page = page_size() as u64;
        let last = address.checked_add(bytes).filter(|end| *end <= self.span.base() + self.span.bytes());
        let inside = address >= self.span.base() && last.is_some();
        if !inside || bytes == 0 || !(address | bytes).is_multiple_of(page) {
            return Err(Error::Range { what: "the part is not inside its scratch area", address, bytes }.into());
        }
        let flags =
            KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
        let made = Object::new(&self.binding, self.gpu_id, (address, bytes), flags);
        let (object, _) = made.map_err(Error::Call)?;
        object.map(&[self.gpu_id]).map_err(Error::Call)?;
        self.backed().push(Backed { address, mapped: true, object });
        Ok(())
    }

    fn is_scratch(&self) -> bool {
        true
    }
}

impl Drop for ScratchArea {
    fn drop(&mut self) {
        for part in std::mem::take(self.backed.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            // As in `Object`: a mapped one cannot be freed.
            let _ = part.object.unmap(&[self.gpu_id]);
        }
        self.binding.end_scratch(self.gpu_id);
    }
}

/// What a buffer object is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vram,
    Gtt,
    User,
}

/// The kernel's flags for an allocation (kfd.md 3.3). `uncached`: GPUs cache nothing.
fn kernel_flags(flags: HsaMemFlags, kind: Kind, uncached: bool) -> u32 {
    let set = |field| flags.get(field) != 0;
    let aql = set(HsaMemFlags::AQLQueueMemory);
    let mut bits = KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE;
    let mut add = |condition, flag| bits |= if condition { flag } else { 0 };
    add(kind == Kind::Vram, KFD_IOC_ALLOC_MEM_FLAGS_VRAM);
    add(kind == Kind::Gtt, KFD_IOC_ALLOC_MEM_FLAGS_GTT);
    add(kind == Kind::User, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR);
    add(aql, KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM);
    add(!set(HsaMemFlags::ReadOnly), KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE);
    add(set(HsaMemFlags::ExecuteAccess), KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE);
    add(kind == Kind::Vram && set(HsaMemFlags::HostAccess), KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC);
    add(!set(HsaMemFlags::CoarseGrain) || uncached, KFD_IOC_ALLOC_MEM_FLAGS_COHERENT);
    add(aql || set(HsaMemFlags::Uncached) || uncached, KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED);
    add(kind != Kind::User && set(HsaMemFlags::ExtendedCoherent), KFD_IOC_ALLOC_MEM_FLAGS_EXT_COHERENT);
    add(kind == Kind::Vram && set(HsaMemFlags::Contiguous), KFD_IOC_ALLOC_MEM_FLAGS_CONTIGUOUS);
    bits
}

impl Kfd {
    fn flags_of(&self, flags: HsaMemFlags, kind: Kind) -> u32 {
        kernel_flags(flags, kind, self.options().disable_cache)
    }

    /// Addresses for an allocation. Queues of AQL packets take twice their memory: it is seen twice.
    fn span(&self, wanted: &Wanted<'_>, coherent: bool) -> Result<Span, Error> {
        let space = self.binding().space().ok_or(Error::NoSharedSpace)?;
        let double = wanted.flags.get(HsaMemFlags::AQLQueueMemory) != 0;
        let bytes = if double { wanted.bytes.checked_mul(2) } else { Some(wanted.bytes) };
        let no_room = |source| Error::NoAddress { bytes: wanted.bytes, source };
        let bytes = bytes.ok_or_else(|| no_room(no_memory()))?;
        space.span(bytes, wanted.alignment, wanted.address, coherent).map_err(no_room)
    }

    /// Memory that the kernel owns, in place.
    fn kernel_memory(&self, device: &KfdDevice, wanted: &Wanted<'_>, kind: Kind) -> Result<KfdBuffer, Error> {
        let flags = self.flags_of(wanted.flags, kind);
        let coherent = kind == Kind::Gtt && flags & KFD_IOC_ALLOC_MEM_FLAGS_COHERENT != 0;
        let span = self.span(wanted, coherent)?;
        let host_access = wanted.flags.get(HsaMemFlags::HostAccess) != 0;
        kernel_buffer(self.binding(), (&device.render, device.apertures.gpu_id), span, wanted.bytes, flags, host_access)
    }

    /// Pages of the process that GPUs reach through `device`.
    fn user_pages(&self, device: &KfdDevice, wanted: &Wanted<'_>, numa: Option<u32>) -> Result<KfdBuffer, Error> {
        let flags = self.flags_of(wanted.flags, Kind::User);
        let span = self.span(wanted, flags & KFD_IOC_ALLOC_MEM_FLAGS_COHERENT != 0)?;
        // The kernel takes the pages for writing, whatever the GPU may do with them.
        fill(&span, wanted, Access::READ_WRITE, true, numa)?;
        let base = span.base();
        let object = Object::of_user(self.binding(), device.apertures.gpu_id, (base, span.bytes()), flags, base)?;
        Ok(KfdBuffer { object, span, offset: 0, cpu: base })
    }

    fn scratch(&self, device: &KfdDevice, wanted: &Wanted<'_>) -> Result<ScratchArea, Error> {
        let gpu_id = device.apertures.gpu_id;
        let space = self.binding().space().ok_or(Error::NoSharedSpace)?;
        let no_room = |source| Error::NoAddress { bytes: wanted.bytes, source };
        let bytes = wanted.bytes.checked_next_multiple_of(SCRATCH_GRANULE);
        let bytes = bytes.ok_or_else(|| no_room(no_memory()))?;
        let span = space.span(bytes, SCRATCH_GRANULE, wanted.address, false).map_err(no_room)?;
        if !self.binding().begin_scratch(gpu_id) {
            return Err(Error::ScratchTaken);
        }
        // From here on a failure ends it.
        let binding = Arc::clone(self.binding());
        let area = ScratchArea { binding, gpu_id, backed: Mutex::default(), span };
        let units = area.span.base() / SCRATCH_GRANULE;
        calls::set_scratch_backing_va(self.binding().kfd().as_fd(), gpu_id, units)?;
        Ok(area)
    }
}

/// A buffer that the kernel owns at `span`, of which the CPU sees the first `bytes` where `host_access` says so.
pub(super) fn kernel_buffer(
    binding: &Arc<Binding>,
    (render, gpu_id): (&RenderNode, u32),
    span: Span,
    bytes: u64,
    flags: u32,
    host_access: bool,
) -> Result<KfdBuffer, Error> {
    let (object, offset) = Object::new(binding, gpu_id, (span.base(), span.bytes()), flags)?;
    let access = if host_access { Access::READ_WRITE } else { Access::NONE };
    let mapped = span.fill_from(bytes, render.as_fd(), offset, access);
    mapped.map_err(|source| Error::Map { what: "a buffer", bytes, source })?;
    span.advise(libc::MADV_DONTFORK);
    let cpu = span.base();
    Ok(KfdBuffer { object, span, offset: 0, cpu })
}

/// Fills a span with pages of the process, as far as there is memory for it (kfd.md 3.5).
///
/// Fork children inherit them: it is ordinary memory to the program (B012). Pages that a GPU uses are `shared` with
/// them, or the first write after a fork would move them away from under the GPU.
fn fill(span: &Span, wanted: &Wanted<'_>, access: Access, shared: bool, numa: Option<u32>) -> Result<(), Error> {
    let map = |source| Error::Map { what: "host memory", bytes: wanted.bytes, source };
    span.fill(wanted.bytes, access, shared).map_err(map)?;
    if wanted.bytes >= HUGE_PAGE {
        span.advise(libc::MADV_HUGEPAGE);
    }
    let set = |field| wanted.flags.get(field) != 0;
    let strict = set(HsaMemFlags::NoSubstitute);
    match numa.filter(|_| !set(HsaMemFlags::NoNUMABind)).map_or(Ok(()), |node| span.bind(node, strict)) {
        // Containers forbid it, kernels may lack it; it matters only to those who insist.
        Err(error) if strict && !matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => Err(map(error)),
        _ => Ok(()),
    }
}

impl Memory for Kfd {
    fn allocate(&self, wanted: &Wanted<'_>) -> Result<Arc<dyn Buffer>, PlatformError> {
        let set = |field| wanted.flags.get(field) != 0;
        if set(HsaMemFlags::NoAddress) {
            return Err(PlatformError::Unsupported("memory without an address on bare metal"));
        }
        let options = self.options();
        // Paged memory consists of pages of the process, which the kernel takes as they are.
        let paged = !set(HsaMemFlags::NonPaged) && !set(HsaMemFlags::GTTAccess) && options.user_pages;
        let of_host = |device: &KfdDevice, numa| -> Result<KfdBuffer, Error> {
            if paged { self.user_pages(device, wanted, numa) } else { self.kernel_memory(device, wanted, Kind::Gtt) }
        };
        let buffer: Arc<dyn Buffer> = match &wanted.place {
            Place::Device(device) if set(HsaMemFlags::Scratch) => Arc::new(self.scratch(own(&***device)?, wanted)?),
            _ if set(HsaMemFlags::OnlyAddress) => Arc::new(Plain { span: self.span(wanted, false)?, mappable: false }),
            Place::Device(device) if options.zero_frame_buffer => Arc::new(of_host(own(&***device)?, None)?),
            Place::Device(device) => Arc::new(self.kernel_memory(own(&***device)?, wanted, Kind::Vram)?),
            Place::Host { numa_node, through: Some(device) } if self.needs_registration() => {
                Arc::new(of_host(own(&***device)?, *numa_node)?)
            }
            Place::Host { numa_node, .. } => {
                let span = match wanted.address {
                    Some(address) => Span::at(address, wanted.bytes),
                    None => Span::anywhere(wanted.bytes, wanted.alignment, 0, &(0..=u64::MAX)),
                };
                let span = span.map_err(|source| Error::NoAddress { bytes: wanted.bytes, source })?;
                let access = if set(HsaMemFlags::ReadOnly) { Access::READ } else { Access::READ_WRITE };
                let access = if set(HsaMemFlags::ExecuteAccess) { access.and_execute() } else { access };
                fill(&span, wanted, access, false, *numa_node)?;
                Arc::new(Plain { span, mappable: true })
            }
        };
        Ok(buffer)
    }

    fn register(&self, user: &UserMemory<'_>) -> Result<Arc<dyn Buffer>, PlatformError> {
        let device = own(&**user.through)?;
        let none = Error::Range { what: "the range is empty or wraps", address: user.address, bytes: user.bytes };
        let (first, bytes) = user.pages(page_size() as u64).ok_or(none)?;
        let offset = user.address - first;
        let coherent = user.coherent || self.options().disable_cache;
        let mut flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR
            | KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE
            | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE
            | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE;
        flags |= if coherent { KFD_IOC_ALLOC_MEM_FLAGS_COHERENT } else { 0 };
        flags |= if user.extended_coherent { KFD_IOC_ALLOC_MEM_FLAGS_EXT_COHERENT } else { 0 };
        let space = self.binding().space().ok_or(Error::NoSharedSpace)?;
        let span = space.span(bytes, 0, None, coherent).map_err(|source| Error::NoAddress { bytes, source })?;
        let gpu_id = device.apertures.gpu_id;
        let object =
            Object::of_user(self.binding(), gpu_id, (span.base(), bytes), flags, first).map_err(Error::Call)?;
        Ok(Arc::new(KfdBuffer { object, span, offset, cpu: user.address }))
    }

    fn needs_registration(&self) -> bool {
        self.binding().has_discrete_gpu()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that ROCr's allocations become (real-clients.md section 4).
    #[test]
    fn flags_are_those_that_the_kernel_is_known_to_get() {
        let plain = HsaMemFlags(0).with(HsaMemFlags::HostAccess, 1);
        let with = |fields: &[_]| fields.iter().fold(plain, |flags, field| flags.with(*field, 1));
        let (execute, coarse) = (HsaMemFlags::ExecuteAccess, HsaMemFlags::CoarseGrain);
        let cases = [
            (plain, Kind::User, 0x9400_0004),
            (with(&[execute]), Kind::User, 0xd400_0004),
            (with(&[execute, coarse]), Kind::Vram, 0xf000_0001),
            (with(&[execute, HsaMemFlags::Uncached]), Kind::Gtt, 0xd600_0002),
            (with(&[coarse]).with(HsaMemFlags::HostAccess, 0), Kind::Vram, 0x9000_0001),
            (with(&[HsaMemFlags::ReadOnly, coarse]), Kind::Gtt, 0x1000_0002),
            (with(&[HsaMemFlags::AQLQueueMemory]), Kind::User, 0x9e00_0004),
            (with(&[HsaMemFlags::ExtendedCoherent]), Kind::User, 0x9400_0004),
            (with(&[HsaMemFlags::ExtendedCoherent]), Kind::Gtt, 0x9500_0002),
            (with(&[HsaMemFlags::Contiguous, coarse]), Kind::Vram, 0xb080_0001),
        ];
        for (flags, kind, word) in cases {
            assert_eq!(kernel_flags(flags, kind, false), word, "{flags:?} {kind:?}");
        }
        assert_eq!(kernel_flags(with(&[coarse]), Kind::Vram, true), 0xb600_0001, "HSA_DISABLE_CACHE");
    }
}
