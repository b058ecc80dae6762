//! CPU mappings of allocations (dxgkrnl.md 3.3, rules 117 to 121).

use core::mem::offset_of;

use crate::Status;
use crate::backing::{Backing, Region};
use crate::d3dkmt::{D3DKMT_LOCK2, D3DKMT_UNLOCK2, ntstatus};
use crate::device::Object;
use crate::inject::Failure;
use crate::process::State;

/// Room for CPU mappings of device memory: one window per VM (its size is assumed).
const WINDOW: u64 = 1 << 30;

/// A CPU mapping.
#[derive(Debug)]
pub(crate) struct Lock {
    /// What the client sees.
    pub(crate) shown: Region,
    /// How many locks share it.
    pub(crate) count: u32,
}

impl State {
    /// What of the window is taken.
    fn locked_bytes(&self) -> u64 {
        let bytes = |o: &Object| match o {
            Object::Allocation(a) => a.lock.as_ref().map_or(0, |lock| lock.shown.len() as u64),
            _ => 0,
        };
        self.main.iter().map(|(_, o)| bytes(o)).sum()
    }
}

/// Maps the whole allocation, once however often it is locked; system memory is where it always was.
pub(crate) fn lock2(state: &mut State, args: *mut D3DKMT_LOCK2, failure: Option<Failure>) -> Result<(), Status> {
    let asked = state.read(args)?;
    if asked.Flags != 0 {
        state.violate(format!("flags {:#x}", asked.Flags));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let found = state.allocation(asked.hAllocation)?;
    let (bytes, adapter, segment, imported) = (found.bytes, found.adapter, found.segment, found.imported);
    let known = match (&found.backing, &mut found.lock) {
        // From birth; the host is not told, and nothing is counted (rule 118).
        (Backing::Pinned { address, .. }, _) => Some(*address as *mut _),
        (_, Some(lock)) => {
            lock.count += 1;
            Some(lock.shown.pointer())
        }
        _ => None,
    };
    if let Some(address) = known {
        return state.write_field(args, offset_of!(D3DKMT_LOCK2, pData), &address);
    }
    let owner = state.adapter_of_device(asked.hDevice)?;
    state.require_active(owner)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    if state.lost(asked.hDevice) {
        return Err(ntstatus::DEVICE_REMOVED);
    }
    let altered = state.altered(asked.hAllocation) | state.altered(asked.hDevice);
    if altered || !state.cpu_reaches(adapter, segment) {
        return Err(ntstatus::INVALID_PARAMETER);
    }
    // The size is a 32-bit number (rule 119).
    let size = bytes & u64::from(u32::MAX);
    if size == 0 || state.locked_bytes() + size > WINDOW || (imported && state.older_kernel()) {
        return Err(ntstatus::NO_MEMORY);
    }
    let found = state.allocation(asked.hAllocation)?;
    let Backing::Device(region) = &found.backing else { return Err(ntstatus::NO_MEMORY) };
    let shown = region.expose(size as usize).ok_or(ntstatus::NO_MEMORY)?;
    let address = shown.pointer();
    found.lock = Some(Lock { shown, count: 1 });
    state.write_field(args, offset_of!(D3DKMT_LOCK2, pData), &address)
}

/// Ends one lock; the last one takes the mapping away.
pub(crate) fn unlock2(state: &mut State, args: *const D3DKMT_UNLOCK2, failure: Option<Failure>) -> Result<(), Status> {
    let asked = state.read(args)?;
    let found = state.allocation(asked.hAllocation)?;
    let pinned = matches!(found.backing, Backing::Pinned { .. });
    match &mut found.lock {
        Some(lock) if lock.count > 1 => {
            lock.count -= 1;
            return Ok(());
        }
        Some(_) => {}
        // The host never locked it, and says so (rule 118; its status is assumed).
        None if pinned => return Err(ntstatus::INVALID_PARAMETER),
        None => {
            state.violate(format!("allocation {:#x} is not locked", asked.hAllocation));
            return Err(ntstatus::INVALID_PARAMETER);
        }
    }
    if let Some(lock) = found.lock.take() {
        state.graveyard.bury(lock.shown.surrender());
    }
    let adapter = state.adapter_of_device(asked.hDevice)?;
    state.require_active(adapter)?;
    failure.map_or(Ok(()), |failure| Err(failure.or(ntstatus::INVALID_PARAMETER)))
}
