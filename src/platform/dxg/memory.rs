//! Allocations on WSL: created through the kernel, mapped and resident on a GPU, destroyed in the reverse order
//! (dxg.md 3.2, dxgkrnl.md 2.3).

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::d3dkmt::{D3DKMT_CREATEALLOCATION_MAX, D3DKMT_HANDLE, ntstatus};
use super::device::DxgDevice;
use super::kmd::provider::Described;
use super::kmd::vtable::{
    ROCDXG_KMD_DOMAIN_LOCAL, ROCDXG_KMD_DOMAIN_SYSTEM, ROCDXG_KMD_DOMAIN_USER, ROCDXG_KMD_MEMORY_FINE_GRAIN,
    ROCDXG_KMD_MEMORY_KERNARG, ROCDXG_KMD_MEMORY_QUEUE_OBJECT,
};
use super::loose::Loose;
use super::paging::{Created, Creation, Entry, PAGE};
use super::pools::Pool;
use super::record::{BadRecord, Record};
use super::{Dxg, Error};
use crate::abi::HsaMemFlags;
use crate::platform::memory::{Buffer, Foreign, Imported, Memory, Place, UserMemory, Wanted};
use crate::platform::memory_file::MemoryFile;
use crate::platform::span::{Access, Span};
use crate::platform::{self, Device};

/// Bytes of one kernel allocation at most.
pub(super) const CHUNK: u64 = 2 << 30;

/// The device as this platform's own, kept.
fn own(device: &Arc<dyn Device>) -> Result<Arc<DxgDevice>, Error> {
    Arc::clone(device).into_any().downcast().map_err(|_| Error::ForeignDevice)
}

/// What is created.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    domain: u32,
    memory_flags: u32,
    /// Where the pages of system memory are; 0 for local memory.
    pages: u64,
    /// Where the GPU sees it.
    address: u64,
    bytes: u64,
    /// Importers are told this; 0 bytes: it cannot be shared.
    client_bytes: u64,
    flags: HsaMemFlags,
}

/// Memory on one device: created, mapped, resident. Dropping takes it back.
#[derive(Debug)]
pub(super) struct Physical {
    device: Arc<DxgDevice>,
    kind: Kind,
    state: Mutex<State>,
}

/// How far it is; each step is taken back before the one before it.
#[derive(Debug, Default)]
struct State {
    created: Option<Created>,
    /// Chunks that are mapped, from the first on.
    mapped: usize,
    resident: bool,
}

impl std::fmt::Debug for DxgDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DxgDevice({:#x})", self.id())
    }
}

/// The parts of an allocation: offset and bytes.
pub(super) fn chunks(bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..bytes.div_ceil(CHUNK)).map(move |index| (index * CHUNK, CHUNK.min(bytes - index * CHUNK)))
}

impl Physical {
    /// Creates, maps and makes resident; waits until the paging is done.
    fn new(device: Arc<DxgDevice>, kind: Kind) -> Result<Self, Error> {
        Self::unplaced(device, kind)?.settled()
    }

    /// What a file of another process stands for, neither mapped nor resident. `created` is the caller's until then.
    fn opened(device: Arc<DxgDevice>, kind: Kind, created: Created) -> Self {
        let state = State { created: Some(created), ..State::default() };
        Self { device, kind, state: Mutex::new(state) }
    }

    /// Created, and neither mapped nor resident.
    fn unplaced(device: Arc<DxgDevice>, kind: Kind) -> Result<Self, Error> {
        let physical = Self { device, kind, state: Mutex::default() };
        physical.create()?;
        Ok(physical)
    }

    pub(super) fn device(&self) -> &DxgDevice {
        &self.device
    }

    pub(super) fn bytes(&self) -> u64 {
        self.kind.bytes
    }

    /// Makes a file of it.
    pub(super) fn share(&self) -> Result<OwnedFd, Error> {
        let resource = self.state().created.as_ref().map_or(0, |created| created.resource);
        if resource == 0 { Err(Error::NotShareable) } else { self.device.dxcore().share(resource) }
    }

    fn settled(self) -> Result<Self, Error> {
        self.place()?;
        self.device.settle()?;
        Ok(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn create(&self) -> Result<(), Error> {
        let Kind { domain, memory_flags, pages, address, bytes, client_bytes, flags } = self.kind;
        // Before there is a list of them: it may be larger than all memory.
        if bytes.div_ceil(CHUNK) > D3DKMT_CREATEALLOCATION_MAX.into() {
            return Err(Error::TooLarge { bytes });
        }
        let parts: Vec<_> = chunks(bytes).collect();
        let (provider, adapter) = self.device.provider()?;
        let what = Described { domain, memory_flags, bytes, address };
        let sizes: Vec<_> = parts.iter().map(|(_, bytes)| *bytes).collect();
        let mut blobs = provider.blobs(adapter, &what, &sizes)?;
        let system = |offset: u64| if pages == 0 { 0 } else { pages + offset };
        let entries = parts.iter().zip(&mut blobs.entries);
        let entries = entries.map(|((offset, _), blob)| Entry { system: system(*offset), blob }).collect();
        let luid = self.device.luid();
        let luid = (luid.LowPart, luid.HighPart);
        let record = Record { domain, memory_flags, luid, bytes, client_bytes, flags: flags.0 }.write();
        let shared = (client_bytes != 0).then_some(&record[..]);
        let mut creation = Creation { entries, driver: &blobs.driver, shared };
        let created = self.device.dxcore().create_allocation(self.device.handles()?.device, &mut creation);
        let created = created.map_err(|error| match error {
            // The kernel loses the host's reason; what is left of it is that there is no memory (rules 56, 57), unless
            // the device is lost.
            Error::Call(call) if [ntstatus::BUFFER_TOO_SMALL, ntstatus::NO_MEMORY].contains(&call.status.0) => {
                self.device.require_alive().err().unwrap_or(Error::Exhausted { bytes, source: call })
            }
            error => error,
        })?;
        self.state().created = Some(created);
        Ok(())
    }

    pub(super) fn allocations(&self) -> Vec<D3DKMT_HANDLE> {
        self.state().created.as_ref().map(|created| created.allocations.clone()).unwrap_or_default()
    }

    /// Maps what is not mapped, and makes it resident.
    fn place(&self) -> Result<(), Error> {
        let (handles, allocations) = (self.device.handles()?, self.allocations());
        let done = self.state().mapped;
        for ((offset, bytes), allocation) in chunks(self.kind.bytes).zip(&allocations).skip(done) {
            let at = (self.kind.address + offset, bytes);
            self.device.expect(self.device.dxcore().map_gpu_va(&handles.queue, at, *allocation, 0)?);
            self.state().mapped += 1;
        }
        self.make_resident()
    }

    /// Makes it resident if it is not.
    pub(super) fn make_resident(&self) -> Result<(), Error> {
        let (handles, allocations) = (self.device.handles()?, self.allocations());
        if !self.state().resident {
            let fence = self.device.dxcore().make_resident(&handles.queue, &allocations);
            self.device.expect(fence.map_err(|error| match error {
                Error::Call(call) if call.status.0 == ntstatus::NO_MEMORY => {
                    Error::Exhausted { bytes: self.kind.bytes, source: call }
                }
                error => error,
            })?);
            self.state().resident = true;
        }
        Ok(())
    }

    /// Takes it back: not resident, not mapped, destroyed. After an error it is as it was, as far as the kernel lets it.
    pub(super) fn free(&self) -> Result<(), Error> {
        if self.state().created.is_none() {
            return Ok(());
        }
        let handles = self.device.handles()?;
        if let Err(error) = self.let_go()
            // A lost device uses nothing any more, and takes nothing back: what is mapped goes with the memory.
            && self.device.require_alive().is_ok()
        {
            return Err(error);
        }
        let created = std::mem::take(&mut *self.state()).created.unwrap_or_default();
        // The kernel's objects go whatever it says of the host (dxgkrnl.md 2.3), so the memory is not ours any more.
        let _ = self.device.dxcore().destroy_allocation(handles.device, &created);
        Ok(())
    }

    /// Takes it away from the GPU, and waits until it has let go of it.
    fn let_go(&self) -> Result<(), Error> {
        let (handles, allocations) = (self.device.handles()?, self.allocations());
        let dxcore = self.device.dxcore();
        let was_resident = self.state().resident;
        let was_mapped = self.state().mapped;
        let restored = |error| {
            // If this fails too, the next free begins where this one ended. What has no place was mapped nowhere.
            let _ = match (was_mapped, was_resident) {
                (0, false) => Ok(()),
                (0, true) => self.make_resident(),
                _ => self.place(),
            };
            error
        };
        if was_resident {
            dxcore.evict(handles.device, &allocations)?;
            self.state().resident = false;
        }
        loop {
            let mapped = self.state().mapped;
            let Some((offset, bytes)) = mapped.checked_sub(1).and_then(|last| chunks(self.kind.bytes).nth(last)) else {
                break;
            };
            match dxcore.map_gpu_va(&handles.queue, (self.kind.address + offset, bytes), 0, 0) {
                Ok(fence) => self.device.expect(fence),
                Err(error) => return Err(restored(error)),
            }
            self.state().mapped = mapped - 1;
        }
        // The GPU has let go of it before its memory goes.
        self.device.settle().map_err(restored)
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        // Once more, for those that fail once. Nobody is left to tell: whoever cares has called `free`.
        let _ = self.free().or_else(|_| self.free());
    }
}

/// Memory of a GPU, system memory, or memory of the user, at one address for all GPUs.
struct DxgBuffer {
    /// One for each GPU that has it, the first of which has it for as long as it lives.
    parts: Mutex<Vec<Arc<Physical>>>,
    kind: Kind,
    /// Addresses that have memory while they are mapped, and only then.
    bare: bool,
    /// After the parts: the addresses are given back when nothing is mapped there any more.
    span: Span,
    /// Distance of the first byte from the first page.
    offset: u64,
    cpu: u64,
    /// The pages of system memory, where another process may have them too.
    pages: Option<MemoryFile>,
}

impl DxgBuffer {
    fn parts(&self) -> MutexGuard<'_, Vec<Arc<Physical>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn part_on(&self, device: &Arc<dyn Device>) -> Option<Arc<Physical>> {
        self.parts().iter().find(|part| part.device.id() == device.id()).cloned()
    }
}

impl Buffer for DxgBuffer {
    fn address(&self) -> u64 {
        self.span.base() + self.offset
    }

    fn cpu_address(&self) -> u64 {
        self.cpu
    }

    fn is_mappable(&self) -> bool {
        true
    }

    fn map(&self, devices: &[Arc<dyn Device>]) -> Result<(), platform::Error> {
        let missing: Vec<_> = devices.iter().filter(|device| self.part_on(device).is_none()).collect();
        let all = self.parts().len() + missing.len();
        if self.kind.domain == ROCDXG_KMD_DOMAIN_LOCAL && !missing.is_empty() && all > 1 {
            // No driver lets a GPU of a virtual machine into another one's memory.
            return Err(Error::PeerAccess.into());
        }
        let part = |device: &Arc<dyn Device>| Ok(Arc::new(Physical::new(own(device)?, self.kind)?));
        let fresh = missing.into_iter().map(part).collect::<Result<Vec<_>, Error>>()?;
        self.parts().extend(fresh);
        Ok(())
    }

    /// The first GPU keeps it: what is allocated is mapped for its GPU for as long as it lives. Bare addresses are free for
    /// other memory afterwards.
    fn unmap(&self, devices: &[Arc<dyn Device>]) -> Result<(), platform::Error> {
        for device in devices {
            let Some(part) = self.part_on(device) else { continue };
            if !self.bare && self.parts().first().is_some_and(|first| Arc::ptr_eq(first, &part)) {
                continue;
            }
            part.free()?;
            self.parts().retain(|known| !Arc::ptr_eq(known, &part));
        }
        Ok(())
    }

    fn export(&self) -> Result<(OwnedFd, u64), platform::Error> {
        if let Some(pages) = &self.pages {
            return Ok((pages.duplicate().map_err(Error::File)?, 0));
        }
        let first = self.parts().first().cloned().ok_or(Error::NotShareable)?;
        Ok((first.share()?, 0))
    }

    fn free(&self) -> Result<(), platform::Error> {
        loop {
            let Some(part) = self.parts().last().cloned() else { return Ok(()) };
            part.free()?;
            self.parts().retain(|known| !Arc::ptr_eq(known, &part));
        }
    }
}

fn memory_flags(flags: HsaMemFlags) -> u32 {
    let bits = [
        (flags.get(HsaMemFlags::CoarseGrain) == 0, ROCDXG_KMD_MEMORY_FINE_GRAIN),
        (flags.get(HsaMemFlags::Uncached) != 0, ROCDXG_KMD_MEMORY_KERNARG),
        (flags.get(HsaMemFlags::QueueObject) != 0, ROCDXG_KMD_MEMORY_QUEUE_OBJECT),
    ];
    bits.into_iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum()
}

/// Scratch areas larger than this are addresses first (dxg.md 3.2).
const LARGE_SCRATCH: u64 = 2 << 30;

impl Dxg {
    /// System memory of another process, or of this one.
    fn import_pages(&self, device: Arc<DxgDevice>, pages: MemoryFile) -> Result<Imported, Error> {
        let bytes = pages.bytes().map_err(Error::File)?;
        if bytes == 0 || !bytes.is_multiple_of(PAGE) {
            return Err(Error::NotMemory("its size is no multiple of a page"));
        }
        let span = self.pools()?.span(Pool::System, bytes, 0, None)?;
        let filled = span.fill_from(bytes, pages.as_fd(), 0, Access::READ_WRITE);
        filled.map_err(|source| Error::NoPlace { bytes, source })?;
        let base = span.base();
        let kind = Kind {
            domain: ROCDXG_KMD_DOMAIN_SYSTEM,
            memory_flags: ROCDXG_KMD_MEMORY_FINE_GRAIN,
            pages: base,
            address: base,
            bytes,
            client_bytes: 0,
            flags: HsaMemFlags(0),
        };
        let parts = Mutex::new(vec![Arc::new(Physical::new(device, kind)?)]);
        let buffer = Arc::new(DxgBuffer { parts, kind, bare: false, span, offset: 0, cpu: base, pages: Some(pages) });
        Ok(Imported { buffer, bytes, flags: HsaMemFlags(0), surface: None })
    }

    /// Memory of a GPU that another process made a file of.
    fn import_resource(&self, device: Arc<DxgDevice>, foreign: &Foreign<'_>) -> Result<Imported, Error> {
        let handles = device.handles()?;
        let dxcore = device.dxcore();
        let sizes = dxcore.query_shared(handles.device, foreign.file)?;
        let opened = dxcore.open_shared(handles.device, foreign.file, sizes)?;
        // From here on it is given back whatever happens.
        let guard = Guard { device: &device, created: Some(opened.created.clone()) };
        let record = match Record::read(&opened.runtime) {
            Ok(record) => Some(record),
            Err(BadRecord::Foreign) => None,
            Err(error) => return Err(error.into()),
        };
        let parsed: Vec<_> = match device.provider() {
            Ok((provider, adapter)) => opened.blobs.iter().map_while(|blob| provider.parse(adapter, blob)).collect(),
            Err(_) => Vec::new(),
        };
        let complete = parsed.len() == opened.blobs.len();
        let sum = parsed.iter().try_fold(0_u64, |sum, entry| sum.checked_add(entry.bytes)).filter(|_| complete);
        let bytes = match (&record, sum) {
            // Two sources that disagree are none.
            (Some(record), Some(sum)) if sum != record.bytes => return Err(Error::UnknownSize),
            (Some(record), _) => record.bytes,
            (None, Some(sum)) if sum != 0 => sum,
            (None, _) => foreign.size_hint,
        };
        let count = opened.created.allocations.len() as u64;
        let whole = bytes != 0 && bytes.is_multiple_of(PAGE) && bytes.div_ceil(CHUNK) == count;
        if !whole {
            return Err(Error::UnknownSize);
        }
        let mut kind = Kind {
            domain: ROCDXG_KMD_DOMAIN_LOCAL,
            memory_flags: record.map_or(0, |record| record.memory_flags),
            pages: 0,
            address: 0,
            bytes,
            // The owner shares it.
            client_bytes: 0,
            flags: HsaMemFlags(record.map_or(0, |record| record.flags)),
        };
        let surface = parsed.first().and_then(|entry| entry.surface);
        let client = record.map_or(bytes, |record| record.client_bytes);
        if !foreign.place {
            let physical = Physical::opened(Arc::clone(&device), kind, guard.keep());
            let buffer = Arc::new(Loose::new(physical, &self.names)?);
            return Ok(Imported { buffer, bytes: client, flags: kind.flags, surface });
        }
        let span = self.pools()?.span(Pool::Local, bytes, 0, None)?;
        kind.address = span.base();
        let physical = Physical::opened(Arc::clone(&device), kind, guard.keep()).settled()?;
        let parts = Mutex::new(vec![Arc::new(physical)]);
        let buffer = Arc::new(DxgBuffer { parts, kind, bare: false, span, offset: 0, cpu: 0, pages: None });
        Ok(Imported { buffer, bytes: client, flags: kind.flags, surface })
    }
}

/// Handles that are given back unless they are kept.
struct Guard<'a> {
    device: &'a DxgDevice,
    created: Option<Created>,
}

impl Guard<'_> {
    fn keep(mut self) -> Created {
        self.created.take().unwrap_or_default()
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let (Some(created), Ok(handles)) = (self.created.take(), self.device.handles()) {
            // The error that is on its way says more.
            let _ = self.device.dxcore().destroy_allocation(handles.device, &created);
        }
    }
}

impl Memory for Dxg {
    fn allocate(&self, wanted: &Wanted<'_>) -> Result<Arc<dyn Buffer>, platform::Error> {
        let set = |field| wanted.flags.get(field) != 0;
        let pools = self.pools()?;
        let (device, system) = match &wanted.place {
            Place::Device(device) => (device, set(HsaMemFlags::GTTAccess) || self.options().zero_frame_buffer),
            Place::Host { through: Some(device), .. } => (device, !set(HsaMemFlags::OnlyAddress)),
            Place::Host { through: None, .. } => return Err(Error::NoGpu.into()),
        };
        let device = own(device)?;
        // Without a provider there is no memory: said before anything is reserved.
        device.provider()?;
        let bytes = wanted.bytes.checked_next_multiple_of(PAGE).ok_or(Error::TooLarge { bytes: wanted.bytes })?;
        let mut kind = Kind {
            domain: ROCDXG_KMD_DOMAIN_LOCAL,
            memory_flags: memory_flags(wanted.flags),
            pages: 0,
            address: 0,
            bytes,
            client_bytes: wanted.bytes,
            flags: wanted.flags,
        };
        if set(HsaMemFlags::NoAddress) {
            return Ok(Arc::new(Loose::new(Physical::unplaced(device, kind)?, &self.names)?));
        }
        let pool = if system { Pool::System } else { Pool::Local };
        let span = pools.span(pool, bytes, wanted.alignment, wanted.address)?;
        let base = span.base();
        kind.address = base;
        let (mut cpu, mut pages) = (0, None);
        if system {
            kind.client_bytes = 0;
            // Memory for signals, which other processes wait for as well.
            if set(HsaMemFlags::NonPaged) && !set(HsaMemFlags::GTTAccess) {
                pages = Some(MemoryFile::new(bytes).map_err(Error::File)?);
            }
            let filled = match &pages {
                Some(pages) => span.fill_from(bytes, pages.as_fd(), 0, Access::READ_WRITE),
                None => span.fill(bytes, Access::READ_WRITE, true),
            };
            filled.map_err(|source| Error::NoPlace { bytes, source })?;
            kind.domain = ROCDXG_KMD_DOMAIN_SYSTEM;
            kind.pages = base;
            cpu = base;
        }
        let later = set(HsaMemFlags::OnlyAddress)
            || set(HsaMemFlags::Scratch) && set(HsaMemFlags::HostAccess) && bytes > LARGE_SCRATCH;
        let parts = if later { Vec::new() } else { vec![Arc::new(Physical::new(device, kind)?)] };
        let (parts, bare) = (Mutex::new(parts), set(HsaMemFlags::OnlyAddress));
        Ok(Arc::new(DxgBuffer { parts, kind, bare, span, offset: 0, cpu, pages }))
    }

    fn register(&self, user: &UserMemory<'_>) -> Result<Arc<dyn Buffer>, platform::Error> {
        let through = own(user.through)?;
        through.provider()?;
        let none = Error::BadRange { address: user.address, bytes: user.bytes };
        let (first, bytes) = user.pages(PAGE).ok_or(none)?;
        let offset = user.address - first;
        let span = self.pools()?.span(Pool::System, bytes, 0, None)?;
        let memory_flags = if user.coherent { ROCDXG_KMD_MEMORY_FINE_GRAIN } else { 0 };
        let kind = Kind {
            domain: ROCDXG_KMD_DOMAIN_USER,
            memory_flags,
            pages: first,
            address: span.base(),
            bytes,
            client_bytes: 0,
            flags: HsaMemFlags(0),
        };
        let parts = Mutex::new(vec![Arc::new(Physical::new(through, kind)?)]);
        Ok(Arc::new(DxgBuffer { parts, kind, bare: false, span, offset, cpu: user.address, pages: None }))
    }

    fn import(&self, foreign: &Foreign<'_>) -> Result<Imported, platform::Error> {
        let device = own(foreign.device)?;
        match MemoryFile::of(foreign.file).map_err(Error::File)? {
            Some(pages) => Ok(self.import_pages(device, pages)?),
            None => Ok(self.import_resource(device, foreign)?),
        }
    }

    fn needs_registration(&self) -> bool {
        true
    }

    fn cuts_pieces(&self) -> bool {
        self.options().sub_allocator
    }
}
