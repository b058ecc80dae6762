//! GPU addresses: reserving, mapping and freeing (dxgkrnl.md 2.3, 3.4, rules 72 to 86).

use core::mem::offset_of;

use crate::Status;
use crate::d3dkmt::{
    D3DDDI_MAPGPUVIRTUALADDRESS, D3DDDI_RESERVEGPUVIRTUALADDRESS, D3DKMT_FREEGPUVIRTUALADDRESS, ntstatus, protection,
    reservation_type,
};
use crate::device::Object;
use crate::handles::plain;
use crate::inject::Failure;
use crate::process::State;
use crate::residency::pending_until;
use crate::space::{END, PAGE, RESERVE_UNIT, Refusal, Space, Target};

impl State {
    fn space(&mut self, adapter: usize) -> Result<&mut Space, Status> {
        self.adapters.get_mut(adapter).map(|a| &mut a.space).ok_or(ntstatus::INVALID_PARAMETER)
    }

    /// Records what is the client's fault.
    fn blame(&mut self, refusal: Refusal, start: u64, size: u64) {
        if let Refusal::Wrong(what) = refusal {
            self.violate(format!("{start:#x} with {size:#x} bytes {what}"));
        }
    }
}

/// The host's status is lost: each of its refusals is BUFFER_TOO_SMALL, and the address is not written (rules 72 to
/// 75).
pub(crate) fn reserve(
    state: &mut State,
    args: *mut D3DDDI_RESERVEGPUVIRTUALADDRESS,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    // An adapter first, then a paging queue, whatever the number means elsewhere (rule 13).
    let adapter = match state.opens.get(asked.hAdapter) {
        Ok(_) => state.adapter_of(asked.hAdapter)?,
        Err(_) => {
            let device = state.device_of_queue(asked.hAdapter)?;
            state.adapter_of_device(device)?
        }
    };
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return Err(failure.of_guest().unwrap_or(ntstatus::BUFFER_TOO_SMALL));
    }
    let (base, size) = (asked.BaseAddress, asked.Size);
    let (mut min, mut max) = (asked.MinimumAddress, asked.MaximumAddress);
    if state.memory_rules.tolerates_unaligned_bounds && base == 0 {
        (min, max) = (min.min(END).next_multiple_of(RESERVE_UNIT), max / RESERVE_UNIT * RESERVE_UNIT);
    }
    let aligned = [base, min, max, size].into_iter().all(|n| n.is_multiple_of(RESERVE_UNIT));
    if !aligned || size == 0 || asked.ReservationType > reservation_type::NO_COMMIT {
        state.violate(format!("base {base:#x}, bounds {min:#x} and {max:#x}, {size:#x} bytes"));
        return Err(ntstatus::BUFFER_TOO_SMALL);
    }
    let zero = asked.ReservationType == reservation_type::ZERO;
    match state.space(adapter)?.reserve(base, (min, max), size, zero) {
        Ok(start) => {
            let written = state.write_field(args, offset_of!(D3DDDI_RESERVEGPUVIRTUALADDRESS, VirtualAddress), &start);
            if written.is_err() {
                // Reserved a moment ago, so it can be released.
                let _ = state.space(adapter)?.release(start, size, true);
            }
            written
        }
        Err(refusal) => {
            state.blame(refusal, base, size);
            Err(ntstatus::BUFFER_TOO_SMALL)
        }
    }
}

/// Only an adapter handle will do (rules 76 and 77).
pub(crate) fn free(
    state: &mut State,
    args: *const D3DKMT_FREEGPUVIRTUALADDRESS,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let adapter = state.adapter_of(asked.hAdapter)?;
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    let whole = state.memory_rules.frees_whole_ranges_only;
    let released = state.space(adapter)?.release(asked.BaseAddress, asked.Size, whole);
    released.map_err(|refusal| {
        state.blame(refusal, asked.BaseAddress, asked.Size);
        ntstatus::INVALID_PARAMETER
    })
}

/// The protection bits that go together with and without memory (rules 82 and 83).
fn sound(bits: u64, memory: bool) -> bool {
    let (none, zero) = (bits & protection::NO_ACCESS != 0, bits & protection::ZERO != 0);
    let rights = protection::WRITE | protection::EXECUTE;
    let known = rights | protection::NO_ACCESS | protection::ZERO;
    let bare = bits & rights == 0 && none != zero;
    bits & !known == 0 && if memory { !none && !zero } else { bare }
}

/// Maps memory, zeros or nothing. On errors nothing is written (rules 79 to 86).
pub(crate) fn map(
    state: &mut State,
    args: *mut D3DDDI_MAPGPUVIRTUALADDRESS,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let device = state.device_of_queue(asked.hPagingQueue)?;
    let adapter = state.adapter_of_device(device)?;
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    if state.lost(device) {
        return Err(ntstatus::DEVICE_REMOVED);
    }
    let memory = asked.hAllocation != 0;
    let mut wrong = None;
    if !sound(asked.Protection, memory) {
        wrong = Some(format!("protection {:#x} for allocation {:#x}", asked.Protection, asked.hAllocation));
    }
    let (mut identity, mut imported) = (0, false);
    if memory && wrong.is_none() {
        let found = state.allocation(asked.hAllocation)?;
        (identity, imported) = (found.identity, found.imported);
        let end = asked.OffsetInPages.checked_add(asked.SizeInPages);
        if found.device != device {
            wrong = Some(format!("allocation {:#x} is of another device", asked.hAllocation));
        } else if end.is_none_or(|end| end > found.bytes / PAGE) {
            wrong = Some(format!("pages beyond the end of allocation {:#x}", asked.hAllocation));
        }
    }
    // The bounds are for a place that the host chooses.
    let bounds = match asked.BaseAddress {
        0 => [0, asked.MinimumAddress, asked.MaximumAddress],
        base => [base, 0, 0],
    };
    if asked.SizeInPages == 0 || asked.SizeInPages > END / PAGE || bounds.iter().any(|b| !b.is_multiple_of(PAGE)) {
        wrong = Some(format!("{:#x} pages at base and bounds {bounds:x?}", asked.SizeInPages));
    }
    let altered = state.altered(asked.hPagingQueue) || (memory && state.altered(asked.hAllocation));
    if let Some(what) = wrong {
        state.violate(what);
        return Err(ntstatus::INVALID_PARAMETER);
    }
    if altered {
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let (size, bounds) = (asked.SizeInPages * PAGE, (bounds[1], bounds[2]));
    let place = state.space(adapter)?.place(asked.BaseAddress, bounds, size, memory).map_err(|refusal| {
        state.blame(refusal, asked.BaseAddress, size);
        ntstatus::INVALID_PARAMETER
    })?;
    let (start, end) = (place.0, place.0 + size);
    if imported {
        report_replacement(state, adapter, (start, end), identity)?;
    }
    let due = state.issue(asked.hPagingQueue);
    let target = if memory {
        let write = asked.Protection & protection::WRITE != 0;
        let bias = (asked.OffsetInPages * PAGE).wrapping_sub(start);
        Some(Target::Allocation { handle: plain(asked.hAllocation), bias, write, due })
    } else {
        (asked.Protection & protection::ZERO != 0).then_some(Target::Zero { due })
    };
    state.space(adapter)?.map(place, size, target);
    if let Ok(Object::Allocation(found)) = state.main.get_mut(asked.hAllocation)
        && memory
        && !found.mapped.contains(&(start, end))
    {
        found.mapped.push((start, end));
    }
    state.write_field(args, offset_of!(D3DDDI_MAPGPUVIRTUALADDRESS, PagingFenceValue), &due.value)?;
    state.write_field(args, offset_of!(D3DDDI_MAPGPUVIRTUALADDRESS, VirtualAddress), &start)?;
    pending_until(due)
}

/// An import that replaces other memory does so silently, and is hardly ever meant (rule 86).
fn report_replacement(state: &mut State, adapter: usize, range: (u64, u64), identity: u64) -> Result<(), Status> {
    let targets: Vec<_> = state.space(adapter)?.targets(range.0, range.1).collect();
    for (start, _, target) in targets {
        if let Target::Allocation { handle, .. } = target
            && matches!(state.main.get(handle), Ok(Object::Allocation(a)) if a.identity != identity)
        {
            state.violate(format!("the import replaces allocation {handle:#x} at {start:#x}"));
        }
    }
    Ok(())
}
