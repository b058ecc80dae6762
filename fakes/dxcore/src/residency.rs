//! What memory there is and who uses it: commitment, residency, budgets (dxgkrnl.md 3.5, rules 56 and 87 to 93).

use std::collections::{BTreeMap, BTreeSet};

use rocdxg_fake_gpu::machine::{Adapter, SegmentKind};

use crate::Status;
use crate::d3dkmt::{
    D3DDDI_MAKERESIDENT, D3DKMT_EVICT, D3DKMT_MAKERESIDENT_ALLOC_MAX, evict_flags, execution_state,
    make_resident_flags, ntstatus, segment_group,
};
use crate::device::Object;
use crate::handles::plain;
use crate::inject::Failure;
use crate::process::State;
use crate::space::Due;

/// What of a segment is in use.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// Bytes of live allocations.
    pub(crate) committed: u64,
    /// Bytes of those that are resident.
    pub(crate) resident: u64,
    /// How many are alive.
    pub(crate) allocations: u32,
    /// How many are resident.
    pub(crate) residents: u32,
    /// Bytes that ceased to be resident, ever.
    pub(crate) evicted: u64,
}

/// One piece of memory, however many allocations name it: an import is no second piece.
#[derive(Debug)]
struct Commit {
    adapter: usize,
    segment: usize,
    bytes: u64,
    instances: u32,
    resident: u32,
}

/// Every piece of memory by identity.
#[derive(Debug)]
pub(crate) struct Commits(BTreeMap<u64, Commit>);

impl Commits {
    /// None.
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }
}

/// Local memory, as opposed to system memory.
const fn is_local(kind: SegmentKind) -> bool {
    matches!(kind, SegmentKind::LocalVisible | SegmentKind::LocalInvisible)
}

/// The group of a segment.
pub(crate) fn group_of(adapter: &Adapter, segment: usize) -> u32 {
    match adapter.segments.get(segment) {
        Some(segment) if is_local(segment.kind) => segment_group::LOCAL,
        _ => segment_group::NON_LOCAL,
    }
}

/// Size of a group, in bytes.
pub(crate) fn group_size(adapter: &Adapter, group: u32) -> u64 {
    match group {
        segment_group::LOCAL => adapter.memory.dedicated_video,
        segment_group::NON_LOCAL => adapter.memory.dedicated_system + adapter.memory.shared_system,
        _ => 0,
    }
}

impl State {
    /// What of a segment is in use.
    pub(crate) fn usage(&self, adapter: usize, segment: usize) -> Usage {
        self.adapters.get(adapter).and_then(|a| a.usage.get(segment)).copied().unwrap_or_default()
    }

    /// What of a group is in use: bytes committed and bytes resident.
    pub(crate) fn group_usage(&self, adapter: usize, group: u32) -> (u64, u64) {
        let machine = self.machine();
        let Some(host) = machine.adapters.get(adapter) else { return (0, 0) };
        let segments = (0..host.segments.len()).filter(|s| group_of(host, *s) == group);
        segments.map(|s| self.usage(adapter, s)).fold((0, 0), |(c, r), u| (c + u.committed, r + u.resident))
    }

    /// What the process may have resident in a group: part of the memory is Windows's own (assumed).
    pub(crate) fn budget(&self, adapter: usize, group: u32) -> u64 {
        let chosen = self.adapters.get(adapter).and_then(|a| *a.budgets.get(group as usize)?);
        let machine = self.machine();
        chosen.unwrap_or_else(|| machine.adapters.get(adapter).map_or(0, |host| group_size(host, group) / 16 * 15))
    }

    /// The segment with room for so many bytes of device memory or of system memory. Memory that the CPU reaches is
    /// taken last, unless it is asked for.
    pub(crate) fn segment_for(&self, adapter: usize, local: bool, visible: bool, bytes: u64) -> Option<usize> {
        let machine = self.machine();
        let host = machine.adapters.get(adapter)?;
        let order = match (local, visible) {
            (true, true) => [SegmentKind::LocalVisible, SegmentKind::LocalInvisible],
            (true, false) => [SegmentKind::LocalInvisible, SegmentKind::LocalVisible],
            (false, _) => [SegmentKind::Aperture, SegmentKind::System],
        };
        let fits = |kind: SegmentKind| {
            let mut segments = host.segments.iter().enumerate();
            let room = |i| self.usage(adapter, i).committed.checked_add(bytes);
            segments.find(|(i, s)| s.kind == kind && room(*i).is_some_and(|sum| sum <= s.bytes)).map(|(i, _)| i)
        };
        order.into_iter().find_map(fits)
    }

    /// The CPU can reach the segment.
    pub(crate) fn cpu_reaches(&self, adapter: usize, segment: usize) -> bool {
        let machine = self.machine();
        let kind = machine.adapters.get(adapter).and_then(|host| host.segments.get(segment)).map(|s| s.kind);
        kind.is_some_and(|kind| kind != SegmentKind::LocalInvisible)
    }

    /// One more allocation names a piece of memory.
    pub(crate) fn commit(&mut self, identity: u64, adapter: usize, segment: usize, bytes: u64) {
        let new = Commit { adapter, segment, bytes, instances: 0, resident: 0 };
        let commit = self.commits.0.entry(identity).or_insert(new);
        commit.instances += 1;
        if commit.instances == 1
            && let Some(usage) = self.adapters.get_mut(adapter).and_then(|a| a.usage.get_mut(segment))
        {
            usage.committed += bytes;
            usage.allocations += 1;
        }
    }

    /// One allocation less names a piece of memory.
    pub(crate) fn uncommit(&mut self, identity: u64) {
        let Some(commit) = self.commits.0.get_mut(&identity) else { return };
        commit.instances -= 1;
        if commit.instances > 0 {
            return;
        }
        let (adapter, segment, bytes) = (commit.adapter, commit.segment, commit.bytes);
        self.commits.0.remove(&identity);
        if let Some(usage) = self.adapters.get_mut(adapter).and_then(|a| a.usage.get_mut(segment)) {
            usage.committed -= bytes;
            usage.allocations -= 1;
        }
    }

    /// A piece of memory becomes resident, or ceases to be, for one allocation that names it.
    pub(crate) fn count_resident(&mut self, identity: u64, more: bool) {
        let Some(commit) = self.commits.0.get_mut(&identity) else { return };
        let before = commit.resident;
        commit.resident = if more { before + 1 } else { before.saturating_sub(1) };
        let Some(usage) = self.adapters.get_mut(commit.adapter).and_then(|a| a.usage.get_mut(commit.segment)) else {
            return;
        };
        match (before, commit.resident) {
            (0, 1..) => (usage.resident, usage.residents) = (usage.resident + commit.bytes, usage.residents + 1),
            (1.., 0) => {
                (usage.resident, usage.residents) = (usage.resident - commit.bytes, usage.residents - 1);
                usage.evicted += commit.bytes;
            }
            _ => {}
        }
    }

    /// Bytes of a group that would become resident, by group.
    fn growth(&self, list: &[u32]) -> [u64; 2] {
        let machine = self.machine();
        let (mut growth, mut seen) = ([0; 2], BTreeSet::new());
        for handle in list {
            let Ok(Object::Allocation(a)) = self.main.get(*handle) else { continue };
            let resident = self.commits.0.get(&a.identity).is_some_and(|c| c.resident > 0);
            if !resident && seen.insert(a.identity) {
                let group = machine.adapters.get(a.adapter).map_or(0, |host| group_of(host, a.segment));
                growth[group as usize & 1] += a.bytes;
            }
        }
        growth
    }
}

/// Success, or PENDING with what to wait for (rule 84).
pub(crate) fn pending_until(due: Due) -> Result<(), Status> {
    if due.value == 0 { Ok(()) } else { Err(ntstatus::PENDING) }
}

/// All become resident or none does; nothing is written unless it succeeds (rules 87 to 91).
pub(crate) fn make_resident(
    state: &mut State,
    args: *mut D3DDDI_MAKERESIDENT,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    if asked.NumAllocations == 0 || asked.NumAllocations > D3DKMT_MAKERESIDENT_ALLOC_MAX {
        state.violate(format!("{} allocations", asked.NumAllocations));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let device = state.device_of_queue(asked.hPagingQueue)?;
    let adapter = state.adapter_of_device(device)?;
    state.require_active(adapter)?;
    let list = state.read_array(asked.AllocationList, asked.NumAllocations as usize)?;
    if !asked.PriorityList.is_null() {
        state.read_array(asked.PriorityList, asked.NumAllocations as usize)?;
    }
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    if state.lost(device) {
        return Err(ntstatus::DEVICE_REMOVED);
    }
    let (last, must) = (make_resident_flags::CANT_TRIM_FURTHER, make_resident_flags::MUST_SUCCEED);
    if asked.Flags & !(last | must) != 0 || asked.Flags & (last | must) == must {
        state.violate(format!("flags {:#x}", asked.Flags));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let mut altered = state.altered(asked.hPagingQueue);
    for handle in &list {
        let owner = state.allocation(*handle)?.device;
        if owner != device {
            state.violate(format!("allocation {handle:#x} is of another device"));
            return Err(ntstatus::INVALID_PARAMETER);
        }
        altered |= state.altered(*handle);
    }
    if altered {
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let growth = state.growth(&list);
    let over = |group: u32| {
        let (_, resident) = state.group_usage(adapter, group);
        let growth = growth[group as usize];
        growth > 0 && resident + growth > state.budget(adapter, group)
    };
    if over(segment_group::LOCAL) || over(segment_group::NON_LOCAL) {
        let fatal = asked.Flags & must != 0 || (asked.Flags & last != 0 && state.memory_rules.final_trim_is_fatal);
        if fatal {
            state.lose_device(device, execution_state::ERROR_OUTOFMEMORY);
            state.errors_announced += 1;
        }
        return Err(ntstatus::NO_MEMORY);
    }
    let due = state.issue(asked.hPagingQueue);
    for handle in &list {
        if let Ok(Object::Allocation(a)) = state.main.get_mut(*handle) {
            a.resident += 1;
            let (first, identity) = (a.resident == 1, a.identity);
            if first {
                a.resident_from = due;
                state.count_resident(identity, true);
            }
        }
    }
    let fields = D3DDDI_MAKERESIDENT { PagingFenceValue: due.value, NumBytesToTrim: 0, ..asked };
    state.write_field(args, core::mem::offset_of!(D3DDDI_MAKERESIDENT, PagingFenceValue), &fields.PagingFenceValue)?;
    state.write_field(args, core::mem::offset_of!(D3DDDI_MAKERESIDENT, NumBytesToTrim), &fields.NumBytesToTrim)?;
    pending_until(due)
}

/// The host's status is lost: success for any live device; what is wrong is recorded (rule 92).
pub(crate) fn evict(state: &mut State, args: *mut D3DKMT_EVICT, failure: Option<Failure>) -> Result<(), Status> {
    let asked = state.read(args)?;
    if asked.NumAllocations == 0 || asked.NumAllocations > D3DKMT_MAKERESIDENT_ALLOC_MAX {
        state.violate(format!("{} allocations", asked.NumAllocations));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let adapter = state.adapter_of_device(asked.hDevice)?;
    state.require_active(adapter)?;
    let list = state.read_array(asked.AllocationList, asked.NumAllocations as usize)?;
    match failure.map(Failure::of_guest) {
        Some(Some(status)) => return Err(status),
        // A refusal of the host does not show, and nothing happens.
        Some(None) => {
            return state.write_field(args, core::mem::offset_of!(D3DKMT_EVICT, NumBytesToTrim), &0_u64);
        }
        None => {}
    }
    if asked.Flags & !(evict_flags::EVICT_ONLY_IF_NECESSARY | evict_flags::NOT_WRITTEN_TO) != 0 {
        state.violate(format!("flags {:#x}", asked.Flags));
    }
    for handle in &list {
        // A bad one is recorded and left out.
        let Ok(found) = state.allocation(*handle) else { continue };
        let (device, identity, resident) = (found.device, found.identity, found.resident);
        if device != plain(asked.hDevice) {
            state.violate(format!("allocation {handle:#x} is of another device"));
        } else if resident == 0 {
            state.violate(format!("allocation {handle:#x} is not resident"));
        } else if let Ok(Object::Allocation(a)) = state.main.get_mut(*handle) {
            a.resident -= 1;
            if resident == 1 {
                state.count_resident(identity, false);
            }
        }
    }
    state.write_field(args, core::mem::offset_of!(D3DKMT_EVICT, NumBytesToTrim), &0_u64)
}
