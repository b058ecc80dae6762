//! How much memory of an adapter is in use: one answer for the topology, free memory and telemetry (dxg.md 3.5).

use super::Error;
use super::d3dkmt::{D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION as Segment, LUID, segment_group};
use super::device::{DxgDevice, Facts};
use super::dxcore::Dxcore;
use super::status::CallError;

/// WDDM version from which the use of a group of segments can be asked for: 3.1.
const WDDM_OF_GROUPS: u32 = 3100;
/// Many times the segments that an adapter has.
const MOST_SEGMENTS: u32 = 64;
/// `SegmentProperties`: of system memory.
const SYSTEM_MEMORY: u64 = 1;

/// Bytes of a device's memory that nobody uses: its total less what is in use, never below 0.
pub fn available(device: &DxgDevice) -> Result<u64, Error> {
    device.settle()?;
    let facts = device.facts();
    let used = used(device.dxcore(), device.luid(), facts)?;
    Ok(facts.local_bytes.saturating_sub(used))
}

/// Bytes in use by all processes: of local memory, and on an APU of what it uses of the host's as well.
fn used(dxcore: &Dxcore, luid: LUID, facts: &Facts) -> Result<u64, CallError> {
    if facts.wddm_version >= WDDM_OF_GROUPS {
        let local = dxcore.group_usage(luid, segment_group::LOCAL)?;
        let other = if facts.is_dgpu { 0 } else { dxcore.group_usage(luid, segment_group::NON_LOCAL)? };
        return Ok(local.saturating_add(other));
    }
    let count = dxcore.segment_count(luid)?.min(MOST_SEGMENTS);
    let segments = (0..count).map(|index| dxcore.segment(luid, index)).collect::<Result<Vec<_>, _>>()?;
    let resident = |counted: &dyn Fn(&Segment) -> bool| {
        let counted = segments.iter().filter(|segment| counted(segment));
        counted.fold(0_u64, |sum, segment| sum.saturating_add(segment.BytesResident))
    };
    if !segments.iter().all(is_untyped) {
        let is_counted = |segment: &Segment| is_local(segment) || !facts.is_dgpu && is_system_aperture(segment);
        return Ok(resident(&is_counted));
    }
    // Some hosts tell no types (B055). The segments of a GPU's own memory are then known by their size: one as large as
    // all of it, or else the first ones until it is reached.
    if segments.iter().any(|segment| segment.CommitLimit == facts.local_bytes) {
        return Ok(resident(&|segment| segment.CommitLimit == facts.local_bytes));
    }
    let (mut used, mut size) = (0_u64, 0_u64);
    for segment in &segments {
        if size >= facts.local_bytes {
            break;
        }
        size = size.saturating_add(segment.CommitLimit);
        used = used.saturating_add(segment.BytesResident);
    }
    Ok(used)
}

fn is_untyped(segment: &Segment) -> bool {
    segment.Aperture == 0 && segment.SegmentProperties == 0
}

fn is_local(segment: &Segment) -> bool {
    segment.Aperture == 0 && segment.SegmentProperties & SYSTEM_MEMORY == 0
}

/// Segments that are both an aperture and system memory are what an APU uses of the host's (B058).
fn is_system_aperture(segment: &Segment) -> bool {
    segment.Aperture != 0 && segment.SegmentProperties & SYSTEM_MEMORY != 0
}
