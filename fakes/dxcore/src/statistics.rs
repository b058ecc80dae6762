//! Statistics, memory budgets and clocks (dxgkrnl.md 2.1, rules 28 to 31 and 34).

use core::mem::offset_of;

use rocdxg_fake_gpu::machine::SegmentKind;

use crate::Status;
use crate::d3dkmt::{
    D3DKMT_QUERYCLOCKCALIBRATION, D3DKMT_QUERYSTATISTICS, D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION as Segment,
    D3DKMT_QUERYVIDEOMEMORYINFO, DXGK_GPUCLOCKDATA, ntstatus, query_statistics, segment_group,
};
use crate::inject::Failure;
use crate::process::State;

/// Clock of the host's performance counter, in Hz (assumed).
const HOST_COUNTER_HZ: u64 = 10_000_000;
/// `SegmentProperties`: made of system memory.
const SYSTEM_MEMORY: u32 = 1;

/// The driver model that has statistics of segment groups.
const WDDM_3_1: u32 = 3100;

/// Word of the result at which a field of the segment information starts.
const fn segment_word(offset: usize) -> usize {
    offset / size_of::<u32>()
}

pub(crate) fn query_statistics(
    state: &mut State,
    args: *mut D3DKMT_QUERYSTATISTICS,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let mut asked = state.read(args)?;
    if asked.hProcess != 0 && asked.hProcess != state.recorded_id as u64 {
        return Err(ntstatus::INVALID_PARAMETER);
    }
    // Unknown or stopped: success, and nothing is written (rule 28).
    let Some(adapter) = state.adapter_by_luid(asked.AdapterLuid) else { return Ok(()) };
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    let result = result_of(state, adapter, &asked).ok_or(ntstatus::INVALID_PARAMETER)?;
    asked.QueryResult = result;
    asked.hProcess = 0;
    state.write(args, &asked)
}

/// What the host answers; `None` for an index or a type that it does not know (rule 29).
fn result_of(state: &State, index: usize, asked: &D3DKMT_QUERYSTATISTICS) -> Option<[u32; 194]> {
    let machine = state.machine();
    let adapter = machine.adapters.get(index)?;
    let mut words = [0_u32; 194];
    let mut put = |word: usize, value: u64| {
        words[word] = value as u32;
        words[word + 1] = (value >> 32) as u32;
    };
    match asked.Type {
        query_statistics::ADAPTER => {
            words[query_statistics::NB_SEGMENTS] = adapter.segments.len() as u32;
            words[query_statistics::NODE_COUNT] = adapter.nodes.len() as u32;
        }
        query_statistics::SEGMENT => {
            let segment = adapter.segments.get(asked.Index as usize)?;
            let usage = state.usage(index, asked.Index as usize);
            let system = matches!(segment.kind, SegmentKind::System | SegmentKind::Aperture);
            let typed = !adapter.untyped_segments;
            let (aperture, properties) =
                (typed && segment.kind == SegmentKind::Aperture, if typed && system { SYSTEM_MEMORY } else { 0 });
            put(segment_word(offset_of!(Segment, CommitLimit)), segment.bytes);
            put(segment_word(offset_of!(Segment, BytesCommitted)), usage.committed);
            put(segment_word(offset_of!(Segment, BytesResident)), usage.resident);
            put(segment_word(offset_of!(Segment, TotalBytesEvicted)), usage.evicted);
            words[segment_word(offset_of!(Segment, AllocsCommitted))] = usage.allocations;
            words[segment_word(offset_of!(Segment, AllocsResident))] = usage.residents;
            words[segment_word(offset_of!(Segment, Aperture))] = u32::from(aperture);
            words[segment_word(offset_of!(Segment, SegmentProperties))] = properties;
        }
        // There is one process, so its part is the whole.
        query_statistics::PROCESS_SEGMENT => {
            adapter.segments.get(asked.Index as usize)?;
            put(query_statistics::PROCESS_BYTES_COMMITTED, state.usage(index, asked.Index as usize).committed);
        }
        query_statistics::PROCESS_SEGMENT_GROUP if asked.Index <= segment_group::NON_LOCAL => {
            put(query_statistics::PROCESS_GROUP_BUDGET, state.budget(index, asked.Index));
            put(query_statistics::PROCESS_GROUP_USAGE, state.group_usage(index, asked.Index).1);
        }
        query_statistics::SEGMENT_GROUP_USAGE if adapter.wddm >= WDDM_3_1 => {
            let (physical, group) = (asked.Index & 0xffff, asked.Index >> 16);
            if physical != 0 || group > segment_group::NON_LOCAL {
                return None;
            }
            put(query_statistics::GROUP_ALLOCATED_BYTES, state.group_usage(index, group).1);
        }
        // An idle engine: all counters are zero.
        query_statistics::NODE => {
            adapter.nodes.get(asked.Index as usize)?;
        }
        _ => return None,
    }
    Some(words)
}

/// The host's status is lost: a bad group or physical adapter is success with zeros (rule 31).
pub(crate) fn query_video_memory_info(
    state: &mut State,
    args: *mut D3DKMT_QUERYVIDEOMEMORYINFO,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    if asked.hProcess != 0 {
        state.violate(format!("asks for process {:#x}", asked.hProcess));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let adapter = state.adapter_of(asked.hAdapter)?;
    state.require_active(adapter)?;
    if let Some(status) = failure.and_then(Failure::of_guest) {
        return Err(status);
    }
    let known = failure.is_none() && asked.PhysicalAdapterIndex == 0;
    let group = asked.MemorySegmentGroup;
    let (budget, used) =
        if known { (state.budget(adapter, group), state.group_usage(adapter, group).1) } else { (0, 0) };
    // Half of the budget is offered for reservation (assumed).
    let outputs = [
        (offset_of!(D3DKMT_QUERYVIDEOMEMORYINFO, Budget), budget),
        (offset_of!(D3DKMT_QUERYVIDEOMEMORYINFO, CurrentUsage), used),
        (offset_of!(D3DKMT_QUERYVIDEOMEMORYINFO, CurrentReservation), 0),
        (offset_of!(D3DKMT_QUERYVIDEOMEMORYINFO, AvailableForReservation), budget / 2),
    ];
    for (offset, value) in outputs {
        state.write(args.cast::<u8>().wrapping_add(offset).cast::<u64>(), &value)?;
    }
    Ok(())
}

/// The clock data are overwritten even when the call fails (rule 34).
pub(crate) fn query_clock_calibration(
    state: &mut State,
    args: *mut D3DKMT_QUERYCLOCKCALIBRATION,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let adapter = state.adapter_of(asked.hAdapter)?;
    state.require_active(adapter)?;
    if let Some(status) = failure.and_then(Failure::of_guest) {
        return Err(status);
    }
    let machine = state.machine();
    let host = &machine.adapters[adapter];
    let refused = asked.NodeOrdinal as usize >= host.nodes.len() || asked.PhysicalAdapterIndex != 0;
    let data = if refused || failure.is_some() {
        DXGK_GPUCLOCKDATA { GpuFrequency: 0, GpuClockCounter: 0, CpuClockCounter: 0, Flags: 0 }
    } else {
        DXGK_GPUCLOCKDATA {
            GpuFrequency: host.counter_hz,
            GpuClockCounter: ticks(host.counter_hz),
            CpuClockCounter: ticks(HOST_COUNTER_HZ),
            Flags: 0,
        }
    };
    let field = args.cast::<u8>().wrapping_add(offset_of!(D3DKMT_QUERYCLOCKCALIBRATION, ClockData));
    state.write(field.cast::<DXGK_GPUCLOCKDATA>(), &data)?;
    match failure {
        Some(failure) => Err(failure.or(ntstatus::INVALID_PARAMETER)),
        None if refused => Err(ntstatus::INVALID_PARAMETER),
        None => Ok(()),
    }
}

/// Time since boot in ticks of a clock of `hz`.
fn ticks(hz: u64) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes `now`; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) };
    (now.tv_sec as u64).wrapping_mul(hz).wrapping_add((now.tv_nsec as u128 * u128::from(hz) / 1_000_000_000) as u64)
}
