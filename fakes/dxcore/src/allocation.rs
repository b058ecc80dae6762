//! Allocations and resources: creation and destruction (dxgkrnl.md 2.3, rules 50 to 71).

use core::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};

use rocdxg_fake_gpu::allocation::{Blob, DOMAIN_LOCAL, DOMAIN_QUEUE, KIND_ENTRY, KIND_WHOLE, Refusal};

use crate::Status;
use crate::backing::{Backing, Region, areas};
use crate::d3dkmt::{
    D3DDDI_ALLOCATIONINFO2, D3DKMT_CREATEALLOCATION, D3DKMT_CREATEALLOCATION_MAX, D3DKMT_DESTROYALLOCATION2,
    create_allocation_flags as create, ntstatus,
};
use crate::device::Object;
use crate::handles::plain;
use crate::inject::Failure;
use crate::lock::Lock;
use crate::process::State;
use crate::share::Shared;
use crate::space::{Due, PAGE};

/// Largest message to the host, in bytes (dxgkrnl.md, "Limits").
pub(crate) const PACKET: usize = 131_072;
/// What of it the call takes beside the private data: header and each entry (assumed).
const HEADER: usize = 64;
const ENTRY: usize = 16;

/// An allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    /// Handle of its device.
    pub(crate) device: u32,
    /// Index of its adapter.
    pub(crate) adapter: usize,
    /// Handle of its resource, 0 when it stands alone.
    pub(crate) resource: u32,
    /// What no other piece of memory has, in this process or another.
    pub(crate) identity: u64,
    /// Size, in bytes: pages.
    pub(crate) bytes: u64,
    /// Index of its memory segment.
    pub(crate) segment: usize,
    /// Its private data, as the creator passed them.
    pub(crate) blob: Vec<u8>,
    /// Its bytes.
    pub(crate) backing: Backing,
    /// How often it was made resident and not evicted.
    pub(crate) resident: u32,
    /// When it is resident.
    pub(crate) resident_from: Due,
    /// Its CPU mapping.
    pub(crate) lock: Option<Lock>,
    /// Opened from another owner's.
    pub(crate) imported: bool,
    /// Where it was mapped, once.
    pub(crate) mapped: Vec<(u64, u64)>,
}

/// A resource.
#[derive(Debug)]
pub(crate) struct Resource {
    /// Handle of its device.
    pub(crate) device: u32,
    /// Its allocations, in order.
    pub(crate) allocations: Vec<u32>,
    /// Created to be shared, or opened.
    pub(crate) shareable: bool,
    /// Runtime data of the creator.
    pub(crate) runtime: Vec<u8>,
    /// Driver data of the creator.
    pub(crate) driver: Vec<u8>,
    /// What others can open, once it was shared.
    pub(crate) shared: Option<Shared>,
}

/// A number for a piece of memory or a shared object that no other has.
pub(crate) fn new_identity() -> u64 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    // SAFETY: no arguments, cannot fail.
    let process = unsafe { libc::getpid() } as u64;
    process << 32 | u64::from(NEXT.fetch_add(1, Ordering::Relaxed))
}

impl State {
    /// The allocation of a handle; a bad one is IP (rule 11).
    pub(crate) fn allocation(&mut self, handle: u32) -> Result<&mut Allocation, Status> {
        if !matches!(self.main.get(handle), Ok(Object::Allocation(_))) {
            return Err(self.bad_handle(handle, "allocation"));
        }
        match self.main.get_mut(handle) {
            Ok(Object::Allocation(allocation)) => Ok(allocation),
            _ => Err(ntstatus::INVALID_PARAMETER),
        }
    }

    /// The resource of a handle; a bad one is IP (rule 11).
    pub(crate) fn resource(&mut self, handle: u32) -> Result<&mut Resource, Status> {
        if !matches!(self.main.get(handle), Ok(Object::Resource(_))) {
            return Err(self.bad_handle(handle, "resource"));
        }
        match self.main.get_mut(handle) {
            Ok(Object::Resource(resource)) => Ok(resource),
            _ => Err(ntstatus::INVALID_PARAMETER),
        }
    }

    /// Puts an allocation into the table and its memory into the books.
    pub(crate) fn insert_allocation(&mut self, allocation: Allocation) -> u32 {
        self.commit(allocation.identity, allocation.adapter, allocation.segment, allocation.bytes);
        self.main.insert(Object::Allocation(allocation))
    }

    /// Releases mappings, residency, pins and the CPU mapping of an allocation (rules 70 and 121).
    pub(crate) fn remove_allocation(&mut self, handle: u32) {
        let Ok(Object::Allocation(allocation)) = self.main.remove(handle) else { return };
        if let Some(adapter) = self.adapters.get_mut(allocation.adapter) {
            adapter.space.forget(plain(handle), &allocation.mapped);
        }
        if allocation.resident > 0 {
            self.count_resident(allocation.identity, false);
        }
        self.uncommit(allocation.identity);
        if let Some(lock) = allocation.lock {
            self.graveyard.bury(lock.shown.surrender());
        }
    }

    /// Destroys a resource with its allocations.
    pub(crate) fn remove_resource(&mut self, handle: u32) {
        if let Ok(Object::Resource(resource)) = self.main.remove(handle) {
            resource.allocations.iter().for_each(|allocation| self.remove_allocation(*allocation));
        }
    }

    fn refuse<T>(&mut self, what: impl AsRef<str>) -> Result<T, Status> {
        self.violate(what);
        Err(ntstatus::INVALID_PARAMETER)
    }
}

/// A creation that passed the guest.
struct Request {
    asked: D3DKMT_CREATEALLOCATION,
    entries: Vec<D3DDDI_ALLOCATIONINFO2>,
    adapter: usize,
    runtime: Vec<u8>,
    driver: Vec<u8>,
    blobs: Vec<Vec<u8>>,
}

/// The guest's checks, in its order (rules 50 to 54).
fn check(state: &mut State, asked: D3DKMT_CREATEALLOCATION) -> Result<Request, Status> {
    let count = asked.NumAllocations;
    if count == 0 || count > D3DKMT_CREATEALLOCATION_MAX {
        return state.refuse(format!("{count} allocations"));
    }
    let entries = state.read_array(asked.pAllocationInfo2.cast_const(), count as usize)?;
    if let Some(entry) = entries.iter().find(|e| e.PrivateDriverDataSize as usize >= PACKET) {
        return state.refuse(format!("private data of {} bytes", entry.PrivateDriverDataSize));
    }
    let has = |bit: u32| asked.Flags & bit != 0;
    // No standard allocation passes: the driver of this machine takes private data only.
    if has(create::EXISTING_SECTION | create::CREATE_PROTECTED | create::STANDARD_ALLOCATION) {
        return state.refuse(format!("flags {:#x}", asked.Flags));
    }
    if has(create::CREATE_SHARED) && !has(create::CREATE_RESOURCE) {
        return state.refuse("shared without a resource");
    }
    let adapter = state.adapter_of_device(asked.hDevice)?;
    if has(create::CREATE_SHARED) && !has(create::NT_SECURITY_SHARING) {
        return state.refuse("shared without NtSecuritySharing");
    }
    if !has(create::CREATE_RESOURCE) && asked.hResource != 0 {
        let resource = state.resource(asked.hResource)?;
        if resource.device != plain(asked.hDevice) || resource.shared.is_some() {
            return state.refuse(format!("resource {:#x} is of another device or sealed", asked.hResource));
        }
    }
    let unaligned = |e: &&D3DDDI_ALLOCATIONINFO2| !(e.pSystemMem as u64).is_multiple_of(PAGE);
    if let Some(entry) = entries.iter().find(unaligned) {
        return state.refuse(format!("system memory at {:p}", entry.pSystemMem));
    }
    if entries.iter().any(|e| e.pSystemMem.is_null() != entries[0].pSystemMem.is_null()) {
        return state.refuse("system memory for some of the allocations only");
    }
    state.require_active(adapter)?;
    let (runtime, driver) = (asked.PrivateRuntimeDataSize as usize, asked.PrivateDriverDataSize as usize);
    let sum: usize = entries.iter().map(|e| e.PrivateDriverDataSize as usize).sum();
    let parts = [runtime, driver, sum].into_iter().any(|part| part >= PACKET);
    if parts || runtime + driver + sum + HEADER + ENTRY * entries.len() > PACKET {
        state.violate(format!("private data of {} bytes together", runtime + driver + sum));
        return Err(ntstatus::BUFFER_TOO_SMALL);
    }
    let runtime = state.read_bytes(asked.pPrivateRuntimeData, runtime)?;
    let driver = state.read_bytes(asked.pPrivateDriverData, driver)?;
    let blobs = entries.iter().map(|e| state.read_bytes(e.pPrivateDriverData, e.PrivateDriverDataSize as usize));
    let blobs = blobs.collect::<Result<_, _>>()?;
    Ok(Request { asked, entries, adapter, runtime, driver, blobs })
}

/// The driver's look at the private data: the blob of each entry (rules 55 and 62).
fn parse(request: &Request) -> Result<Vec<Blob>, Refusal> {
    let count = request.entries.len() as u32;
    let whole = Blob::decode(&request.driver)?;
    whole.check_request(KIND_WHOLE, 0, count)?;
    let system = !request.entries[0].pSystemMem.is_null();
    let fits = match whole.domain {
        DOMAIN_QUEUE => true,
        DOMAIN_LOCAL => !system,
        _ => system,
    };
    if !fits {
        return Err(Refusal::Field("domain", whole.domain.into()));
    }
    let (mut blobs, mut end) = (Vec::new(), 0);
    for (index, bytes) in request.blobs.iter().enumerate() {
        let blob = Blob::decode(bytes)?;
        blob.check_request(KIND_ENTRY, index as u32, count)?;
        let same = [
            ("domain", blob.domain.into(), whole.domain.into()),
            ("memory_flags", blob.memory_flags.into(), whole.memory_flags.into()),
            ("engine_flags", blob.engine_flags.into(), whole.engine_flags.into()),
            ("address", blob.address, whole.address),
            ("offset", blob.offset, end),
        ];
        if let Some((name, value, _)) = same.into_iter().find(|(_, value, expected)| value != expected) {
            return Err(Refusal::Field(name, value));
        }
        end += blob.bytes;
        blobs.push(blob);
    }
    if end == whole.bytes { Ok(blobs) } else { Err(Refusal::Field("bytes", whole.bytes)) }
}

/// Statuses that the guest comes to after the host has created the memory: handles were written (rule 59).
fn comes_late(status: Status, system: bool) -> bool {
    matches!(status, ntstatus::NO_MEMORY | ntstatus::UNSUCCESSFUL) || (status == ntstatus::TIMEOUT && system)
}

/// The host's status is lost: each refusal of it is BUFFER_TOO_SMALL, and nothing is written then. What fails later
/// in the guest leaves handles behind that name nothing (rules 55 to 59).
pub(crate) fn create_allocation2(
    state: &mut State,
    args: *mut D3DKMT_CREATEALLOCATION,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let request = check(state, asked)?;
    let system = !request.entries[0].pSystemMem.is_null();
    let status = failure.map(|f| f.or(ntstatus::BUFFER_TOO_SMALL));
    let late = status.filter(|status| comes_late(*status, system));
    if let (Some(status), None) = (status, late) {
        let shows = failure.and_then(Failure::of_guest).is_some() || status == ntstatus::TIMEOUT;
        return Err(if shows { status } else { ntstatus::BUFFER_TOO_SMALL });
    }
    let altered = state.altered(asked.hDevice);
    if altered || state.lost(asked.hDevice) {
        return Err(ntstatus::BUFFER_TOO_SMALL);
    }
    let blobs = match parse(&request) {
        Ok(blobs) => blobs,
        Err(refusal) => {
            state.violate(format!("private data: {refusal}"));
            return Err(ntstatus::BUFFER_TOO_SMALL);
        }
    };
    let resource = match asked.Flags & create::CREATE_RESOURCE {
        0 => asked.hResource,
        _ => state.main.insert(Object::Resource(Resource {
            device: plain(asked.hDevice),
            allocations: Vec::new(),
            shareable: asked.Flags & create::CREATE_SHARED != 0,
            runtime: request.runtime.clone(),
            driver: request.driver.clone(),
            shared: None,
        })),
    };
    let mut made = Vec::new();
    let done = place(state, &request, &blobs, resource, &mut made)
        .and_then(|()| hand_out(state, args, &request, &blobs, resource, &made))
        .and_then(|()| late.map_or(Ok(()), Err));
    match (done, state.main.get_mut(resource)) {
        (Ok(()), Ok(Object::Resource(found))) => found.allocations.extend(made),
        (Ok(()), _) => {}
        (Err(_), _) => {
            made.iter().for_each(|handle| state.remove_allocation(*handle));
            if asked.Flags & create::CREATE_RESOURCE != 0 {
                state.remove_resource(resource);
            }
        }
    }
    done
}

/// The host's part: memory for each entry, BUFFER_TOO_SMALL when there is none (rule 56).
fn place(
    state: &mut State,
    request: &Request,
    blobs: &[Blob],
    resource: u32,
    made: &mut Vec<u32>,
) -> Result<(), Status> {
    for (i, blob) in blobs.iter().enumerate() {
        let bytes = blob.bytes.next_multiple_of(PAGE);
        let local = request.entries[0].pSystemMem.is_null();
        let segment = state.segment_for(request.adapter, local, blob.memory_flags != 0, bytes);
        let segment = segment.ok_or(ntstatus::BUFFER_TOO_SMALL)?;
        let backing = if local {
            Backing::Device(Region::zeros(bytes).ok_or(ntstatus::BUFFER_TOO_SMALL)?)
        } else {
            // Nothing is pinned before the handles are written: see `hand_out`.
            Backing::Pinned { address: request.entries[i].pSystemMem as usize, pages: None, read_only: true }
        };
        made.push(state.insert_allocation(Allocation {
            device: plain(request.asked.hDevice),
            adapter: request.adapter,
            resource: plain(resource),
            identity: new_identity(),
            bytes,
            segment,
            blob: request.blobs[i].clone(),
            backing,
            resident: 0,
            resident_from: Due::NOW,
            lock: None,
            imported: false,
            mapped: Vec::new(),
        }));
    }
    Ok(())
}

/// The guest's part after that: pins and outputs, in its order (rules 57 and 63).
fn hand_out(
    state: &mut State,
    args: *mut D3DKMT_CREATEALLOCATION,
    request: &Request,
    blobs: &[Blob],
    resource: u32,
    made: &[u32],
) -> Result<(), Status> {
    if resource != 0 {
        state.write_field(args, offset_of!(D3DKMT_CREATEALLOCATION, hResource), &resource)?;
    }
    let read_only = request.asked.Flags & create::READ_ONLY != 0;
    let older = state.older_kernel();
    let areas = if request.entries[0].pSystemMem.is_null() { Vec::new() } else { areas() };
    for (i, (handle, blob)) in made.iter().zip(blobs).enumerate() {
        let entry = &request.entries[i];
        let found = state.allocation(*handle)?;
        if let Backing::Pinned { address, .. } = found.backing {
            found.backing = Backing::pin(&areas, address, found.bytes, read_only, older).ok_or(ntstatus::NO_MEMORY)?;
        }
        let answer = Blob { granted: found.bytes, identity: found.identity, ..*blob };
        state.write_slice(entry.pPrivateDriverData, &answer.encode())?;
        let field = request.asked.pAllocationInfo2.wrapping_add(i);
        state.write_field(field, offset_of!(D3DDDI_ALLOCATIONINFO2, hAllocation), handle)?;
    }
    state.write_field(args, offset_of!(D3DKMT_CREATEALLOCATION, hGlobalShare), &0_u32)
}

/// All of the list goes or nothing does; a resource goes as a whole (rules 64 to 71). The host's status is returned
/// and the objects are gone whatever it is.
pub(crate) fn destroy_allocation2(
    state: &mut State,
    args: *const D3DKMT_DESTROYALLOCATION2,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let count = asked.AllocationCount;
    if (count == 0) == (asked.hResource == 0) || count > D3DKMT_CREATEALLOCATION_MAX {
        return state.refuse(format!("resource {:#x} and {count} allocations", asked.hResource));
    }
    let adapter = state.adapter_of_device(asked.hDevice)?;
    let device = plain(asked.hDevice);
    let mut altered = state.altered(asked.hDevice);
    if count == 0 {
        if state.resource(asked.hResource)?.device != device {
            return state.refuse(format!("resource {:#x} is of another device", asked.hResource));
        }
        altered |= state.altered(asked.hResource);
        state.remove_resource(asked.hResource);
    } else {
        let list = state.read_array(asked.phAllocationList, count as usize)?;
        let owner = state.allocation(list[0])?.resource;
        for (i, handle) in list.iter().enumerate() {
            let found = state.allocation(*handle)?;
            if found.device != device || found.resource != owner {
                return state.refuse(format!("allocation {handle:#x} has another owner"));
            }
            if list[..i].iter().any(|other| plain(*other) == plain(*handle)) {
                state.violate(format!("allocation {handle:#x} is listed twice: the kernel frees it twice"));
            }
            altered |= state.altered(*handle);
        }
        if owner != 0 && state.resource(owner)?.shareable {
            return state.refuse("allocations of a shared resource in a list");
        }
        for handle in &list {
            state.remove_allocation(*handle);
        }
        if let Ok(Object::Resource(found)) = state.main.get_mut(owner) {
            found.allocations.retain(|a| !list.iter().any(|gone| plain(*gone) == *a));
        }
    }
    state.require_active(adapter)?;
    match failure {
        Some(failure) => Err(failure.or(ntstatus::INVALID_PARAMETER)),
        None if altered => Err(ntstatus::INVALID_PARAMETER),
        None => Ok(()),
    }
}
