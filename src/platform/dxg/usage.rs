//! How much memory of an adapter is in use: one answer for the topology, free memory and telemetry (dxg.md 3.5).

use super::Error;
use super::d3dkmt::{D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION, LUID, segment_group};
use super::device::DxgDevice;
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
    let used = used(device.dxcore(), device.luid(), facts.wddm_version, facts.is_dgpu)?;
    Ok(facts.local_bytes.saturating_sub(used))
}

/// Bytes in use by all processes: of local memory, and on an APU of what it uses of the host's as well.
fn used(dxcore: &Dxcore, luid: LUID, wddm: u32, is_dgpu: bool) -> Result<u64, CallError> {
    if wddm >= WDDM_OF_GROUPS {
        let local = dxcore.group_usage(luid, segment_group::LOCAL)?;
        let other = if is_dgpu { 0 } else { dxcore.group_usage(luid, segment_group::NON_LOCAL)? };
        return Ok(local.saturating_add(other));
    }
    let segments = dxcore.segment_count(luid)?.min(MOST_SEGMENTS);
    let mut used = 0_u64;
    for index in 0..segments {
        let segment = dxcore.segment(luid, index)?;
        if is_dgpu && is_local(&segment) || !is_dgpu && (is_local(&segment) || is_system_aperture(&segment)) {
            used = used.saturating_add(segment.BytesResident);
        }
    }
    Ok(used)
}

fn is_local(segment: &D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION) -> bool {
    segment.Aperture == 0 && segment.SegmentProperties & SYSTEM_MEMORY == 0
}

/// Segments that are both an aperture and system memory are what an APU uses of the host's (B058).
fn is_system_aperture(segment: &D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION) -> bool {
    segment.Aperture != 0 && segment.SegmentProperties & SYSTEM_MEMORY != 0
}
