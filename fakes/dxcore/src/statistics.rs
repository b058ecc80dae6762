//! Statistics, memory budgets and clocks (dxgkrnl.md 2.1, rules 28 to 31 and 34).

use core::mem::offset_of;

use rocdxg_fake_gpu::machine::{Adapter, SegmentKind};

use crate::Status;
use crate::d3dkmt::{
    D3DKMT_QUERYCLOCKCALIBRATION, D3DKMT_QUERYSTATISTICS, D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION as Segment,
    D3DKMT_QUERYVIDEOMEMORYINFO, DXGK_GPUCLOCKDATA, ntstatus, query_statistics,
};
use crate::inject::Failure;
use crate::process::State;

/// Clock of the host's performance counter, in Hz (assumed).
const HOST_COUNTER_HZ: u64 = 10_000_000;
/// `SegmentProperties`: made of system memory.
const SYSTEM_MEMORY: u32 = 1;

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
    let result = result_of(&state.machine().adapters[adapter], &asked).ok_or(ntstatus::INVALID_PARAMETER)?;
    asked.QueryResult = result;
    asked.hProcess = 0;
    state.write(args, &asked)
}

/// What the host answers; `None` for an index or a type that it does not know (rule 29).
fn result_of(adapter: &Adapter, asked: &D3DKMT_QUERYSTATISTICS) -> Option<[u32; 194]> {
    let mut words = [0_u32; 194];
    match asked.Type {
        query_statistics::ADAPTER => {
            words[query_statistics::NB_SEGMENTS] = adapter.segments.len() as u32;
            words[query_statistics::NODE_COUNT] = adapter.nodes.len() as u32;
        }
        query_statistics::SEGMENT => {
            let segment = adapter.segments.get(asked.Index as usize)?;
            let system = matches!(segment.kind, SegmentKind::System | SegmentKind::Aperture);
            let (aperture, properties) =
                (segment.kind == SegmentKind::Aperture, if system { SYSTEM_MEMORY } else { 0 });
            words[segment_word(offset_of!(Segment, CommitLimit))] = segment.bytes as u32;
            words[segment_word(offset_of!(Segment, CommitLimit)) + 1] = (segment.bytes >> 32) as u32;
            words[segment_word(offset_of!(Segment, Aperture))] = u32::from(aperture);
            words[segment_word(offset_of!(Segment, SegmentProperties))] = properties;
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
    let memory = state.machine().adapters[adapter].memory;
    let total = match (asked.MemorySegmentGroup, asked.PhysicalAdapterIndex) {
        _ if failure.is_some() => 0,
        (0, 0) => memory.dedicated_video,
        (1, 0) => memory.dedicated_system + memory.shared_system,
        _ => 0,
    };
    // Windows keeps part of the memory for itself and offers half of the rest for reservation (assumed).
    let budget = total / 16 * 15;
    let outputs = [
        (offset_of!(D3DKMT_QUERYVIDEOMEMORYINFO, Budget), budget),
        (offset_of!(D3DKMT_QUERYVIDEOMEMORYINFO, CurrentUsage), 0),
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
