//! Sharing of resources by descriptors (dxgkrnl.md 2.5, 5, rules 122 to 129).
//!
//! The descriptor is a memfd with a record at its head (`record`), so that another process with a fake of its own opens
//! the same memory. On the real stack its link text is `anon_inode:dxgresource`; here it is that of a memfd of the name
//! `dxgresource`.

use core::mem::offset_of;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use crate::Status;
use crate::allocation::{Allocation, Resource, new_identity};
use crate::backing::{Backing, Region};
use crate::d3dkmt::{
    D3DDDI_OPENALLOCATIONINFO2, D3DKMT_OPENRESOURCEFROMNTHANDLE, D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE,
    D3DKMT_SHAREOBJECTS, ntstatus,
};
use crate::device::Object;
use crate::handles::plain;
use crate::inject::Failure;
use crate::process::State;
use crate::record::{Entry, Hold, OWN, Record, duplicate};
use crate::space::Due;

/// What others can open.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The file that its descriptors name.
    file: OwnedFd,
    identity: u64,
    _hold: Hold,
}

/// The record that a client's descriptor names, and the file. The descriptor is looked at once: whatever it names a
/// moment later, this is one object.
pub(crate) fn open_record(handle: u64) -> Option<(OwnedFd, Record)> {
    let file = duplicate(i32::try_from(handle).ok()?, OWN)?;
    let record = Record::of_file(&file)?;
    Some((file, record))
}

impl State {
    fn luid_of(&self, adapter: usize) -> u64 {
        let machine = self.machine();
        machine.adapters.get(adapter).map_or(0, |a| u64::from(a.luid.0) | (a.luid.1 as u64) << 32)
    }

    /// Moves the memory of a resource into a file that others can open.
    fn export(&mut self, handle: u32) -> Result<Shared, Status> {
        let resource = self.resource(handle)?;
        let (runtime, driver) = (resource.runtime.clone(), resource.driver.clone());
        let list = resource.allocations.clone();
        let (mut entries, mut adapter) = (Vec::new(), 0);
        for handle in &list {
            let found = self.allocation(*handle)?;
            adapter = found.adapter;
            let (identity, bytes, segment) = (found.identity, found.bytes, found.segment as u64);
            entries.push(Entry { identity, bytes, segment, offset: 0, blob: found.blob.clone() });
        }
        let mut record = Record { identity: new_identity(), luid: self.luid_of(adapter), runtime, driver, entries };
        let size = record.lay_out();
        let file = record.create(size).ok_or(ntstatus::UNSUCCESSFUL)?;
        for (handle, entry) in list.iter().zip(&record.entries) {
            let found = self.allocation(*handle)?;
            // The client's own pages cannot move into a file (assumed: the host does not share them).
            let Backing::Device(region) = &found.backing else { return Err(ntstatus::INVALID_PARAMETER) };
            let fd = file.as_raw_fd();
            let shown = found.lock.as_ref().map(|lock| &lock.shown);
            let moved = region.move_to(fd, entry.offset)
                && shown.is_none_or(|shown| shown.replace(fd, entry.offset, shown.len()));
            if !moved {
                return Err(ntstatus::NO_MEMORY);
            }
        }
        let hold = Hold::new(&file).ok_or(ntstatus::NO_MEMORY)?;
        Ok(Shared { file, identity: record.identity, _hold: hold })
    }

    /// Resources that others can open.
    pub(crate) fn live_shared(&self) -> u64 {
        let shared = |o: &Object| matches!(o, Object::Resource(Resource { shared: Some(_), .. }));
        self.main.iter().filter(|(_, o)| shared(o)).count() as u64
    }

    /// The identity of an allocation's memory, or of a shared resource; 0 for any other handle.
    pub(crate) fn identity_of(&self, handle: u32) -> u64 {
        match self.main.get(handle) {
            Ok(Object::Allocation(allocation)) => allocation.identity,
            Ok(Object::Resource(resource)) => resource.shared.as_ref().map_or(0, |shared| shared.identity),
            _ => 0,
        }
    }
}

/// One resource that was created to be shared (rule 122). Its descriptors all name one object.
pub(crate) fn share_objects(
    state: &mut State,
    args: *const D3DKMT_SHAREOBJECTS,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    if asked.ObjectCount != 1 {
        state.violate(format!("{} objects", asked.ObjectCount));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let handle = state.read(asked.ObjectHandleArray)?;
    let resource = state.resource(handle)?;
    let (shareable, device) = (resource.shareable, resource.device);
    if !shareable {
        state.violate(format!("resource {handle:#x} was not created to be shared"));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let adapter = state.adapter_of_device(device)?;
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    if state.altered(handle) {
        return Err(ntstatus::INVALID_PARAMETER);
    }
    if state.resource(handle)?.shared.is_none() {
        let shared = state.export(handle)?;
        state.resource(handle)?.shared = Some(shared);
    }
    let shared = state.resource(handle)?.shared.as_ref();
    let found = shared.and_then(|s| Some((s.identity, duplicate(s.file.as_raw_fd(), 0)?)));
    let Some((identity, copy)) = found else { return Err(ntstatus::UNSUCCESSFUL) };
    // Whoever closes descriptors that are not his may have put another file in its place.
    if Record::of_file(&copy).is_none_or(|record| record.identity != identity) {
        state.violate("the client closed a descriptor that is not its own");
        return Err(ntstatus::UNSUCCESSFUL);
    }
    let number = copy.as_raw_fd() as u64;
    state.write(asked.pSharedNtHandle, &number)?;
    // From here on it is the client's.
    let _ = copy.into_raw_fd();
    Ok(())
}

/// The object of a descriptor; the descriptor is tested before the device (rule 125).
fn object_of(
    state: &mut State,
    handle: u64,
    device: u32,
    failure: Option<Failure>,
) -> Result<(OwnedFd, Record, usize), Status> {
    let Some((file, record)) = open_record(handle) else {
        state.violate(format!("descriptor {} names no shared resource", handle as i64));
        return Err(ntstatus::INVALID_PARAMETER);
    };
    let adapter = state.adapter_of_device(device)?;
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    if state.altered(device) {
        return Err(ntstatus::INVALID_PARAMETER);
    }
    Ok((file, record, adapter))
}

/// The four sizes that opening wants.
pub(crate) fn query_resource_info(
    state: &mut State,
    args: *mut D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let mut asked = state.read(args)?;
    let (_, record, _) = object_of(state, asked.hNtHandle, asked.hDevice, failure)?;
    asked.PrivateRuntimeDataSize = record.runtime.len() as u32;
    asked.TotalPrivateDriverDataSize = record.blob_bytes() as u32;
    asked.ResourcePrivateDriverDataSize = record.driver.len() as u32;
    asked.NumAllocations = record.entries.len() as u32;
    state.write(args, &asked)
}

/// Opens a resource: new handles for the same memory, with the creator's own private data (rules 126 to 128).
pub(crate) fn open_resource(
    state: &mut State,
    args: *mut D3DKMT_OPENRESOURCEFROMNTHANDLE,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let (file, record, adapter) = object_of(state, asked.hNtHandle, asked.hDevice, failure)?;
    let room = [
        (asked.PrivateRuntimeDataSize, record.runtime.len()),
        (asked.ResourcePrivateDriverDataSize, record.driver.len()),
        (asked.TotalPrivateDriverDataBufferSize, record.blob_bytes()),
    ];
    if asked.NumAllocations as usize != record.entries.len() || room.iter().any(|(has, needs)| (*has as usize) < *needs)
    {
        state.violate(format!("{} allocations and sizes that do not fit", asked.NumAllocations));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    if record.luid != state.luid_of(adapter) {
        state.violate("the resource is of another adapter");
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let hold = Hold::new(&file).ok_or(ntstatus::NO_MEMORY)?;
    let copy = duplicate(file.as_raw_fd(), OWN).ok_or(ntstatus::NO_MEMORY)?;
    let resource = state.main.insert(Object::Resource(Resource {
        device: plain(asked.hDevice),
        allocations: Vec::new(),
        shareable: true,
        runtime: record.runtime.clone(),
        driver: record.driver.clone(),
        shared: Some(Shared { file, identity: record.identity, _hold: hold }),
    }));
    let done = import(state, (&asked, args), &copy, &record, (adapter, resource));
    if done.is_err() {
        state.remove_resource(resource);
    }
    done
}

/// Gives the allocations of an opened resource handles, and the caller all outputs in the kernel's order.
fn import(
    state: &mut State,
    (asked, args): (&D3DKMT_OPENRESOURCEFROMNTHANDLE, *mut D3DKMT_OPENRESOURCEFROMNTHANDLE),
    file: &OwnedFd,
    record: &Record,
    (adapter, resource): (usize, u32),
) -> Result<(), Status> {
    for entry in &record.entries {
        let region = Region::of_file(file.as_raw_fd(), entry.offset, entry.bytes).ok_or(ntstatus::NO_MEMORY)?;
        let handle = state.insert_allocation(Allocation {
            device: plain(asked.hDevice),
            adapter,
            resource,
            identity: entry.identity,
            bytes: entry.bytes,
            segment: entry.segment as usize,
            blob: entry.blob.clone(),
            backing: Backing::Device(region),
            resident: 0,
            resident_from: Due::NOW,
            lock: None,
            imported: true,
            mapped: Vec::new(),
        });
        state.resource(resource)?.allocations.push(handle);
    }
    state.write_slice(asked.pPrivateRuntimeData, &record.runtime)?;
    state.write_slice(asked.pResourcePrivateDriverData, &record.driver)?;
    let blobs: Vec<u8> = record.entries.iter().flat_map(|e| e.blob.iter().copied()).collect();
    state.write_slice(asked.pTotalPrivateDriverDataBuffer, &blobs)?;
    let handles = state.resource(resource)?.allocations.clone();
    let mut at = asked.pTotalPrivateDriverDataBuffer.cast::<u8>();
    for (i, (handle, entry)) in handles.iter().zip(&record.entries).enumerate() {
        let to = asked.pOpenAllocationInfo2.wrapping_add(i);
        let size = entry.blob.len() as u32;
        state.write_field(to, offset_of!(D3DDDI_OPENALLOCATIONINFO2, hAllocation), handle)?;
        state.write_field(to, offset_of!(D3DDDI_OPENALLOCATIONINFO2, PrivateDriverDataSize), &size)?;
        state.write_field(to, offset_of!(D3DDDI_OPENALLOCATIONINFO2, pPrivateDriverData), &at)?;
        at = at.wrapping_add(entry.blob.len());
    }
    let total = blobs.len() as u32;
    state.write_field(args, offset_of!(D3DKMT_OPENRESOURCEFROMNTHANDLE, hResource), &resource)?;
    state.write_field(args, offset_of!(D3DKMT_OPENRESOURCEFROMNTHANDLE, TotalPrivateDriverDataBufferSize), &total)
}
