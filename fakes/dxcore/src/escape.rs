//! Escapes: private requests to the driver (dxgkrnl.md 2.2, rules 35 to 37).

use core::ffi::c_void;

use crate::Status;
use crate::d3dkmt::{D3DKMT_ESCAPE, escape, ntstatus};
use crate::inject::Failure;
use crate::process::State;

/// Largest private data, in bytes.
const MAX_SIZE: u32 = 131_072;
/// Known escapes that translate handles: nothing to do on WSL.
const TRANSLATIONS: core::ops::RangeInclusive<u32> = 0..=1;

/// The driver of this machine knows no private escape of its own, so it refuses each one: the host's status is lost
/// and the caller sees BUFFER_TOO_SMALL, or success when no data had to come back (rule 35).
pub(crate) fn escape(state: &mut State, args: *const D3DKMT_ESCAPE, failure: Option<Failure>) -> Result<(), Status> {
    let asked = state.read(args)?;
    let adapter = state.adapter_of(asked.hAdapter)?;
    if asked.PrivateDriverDataSize > MAX_SIZE {
        state.violate(format!("private data of {} bytes", asked.PrivateDriverDataSize));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    state.require_active(adapter)?;
    let data: *const c_void = asked.pPrivateDriverData;
    let data = state.read_bytes(data, asked.PrivateDriverDataSize as usize)?;
    if let Some(status) = failure.and_then(Failure::of_guest) {
        return Err(status);
    }
    if failure.is_none() && asked.Type == escape::DRIVERPRIVATE && asked.Flags & escape::DRIVER_KNOWN_ESCAPE != 0 {
        let Some(kind) = data.first_chunk::<4>() else {
            state.violate(format!("known escape of {} bytes", data.len()));
            return Err(ntstatus::INVALID_PARAMETER);
        };
        if TRANSLATIONS.contains(&u32::from_le_bytes(*kind)) {
            return Ok(());
        }
    }
    let exclusive = escape::DEVICE_STATUS_QUERY | escape::CHANGE_FRAME_LATENCY;
    if asked.Flags & escape::HARDWARE_ACCESS != 0 && asked.Flags & exclusive != 0 {
        state.violate(format!("flags {:#x} exclude each other", asked.Flags));
    }
    if asked.hDevice != 0 && !state.is_device(asked.hDevice) {
        state.violate(format!("device handle {:#x} is not a device's", asked.hDevice));
    }
    if asked.hContext != 0 {
        state.violate(format!("context handle {:#x} is not a context's", asked.hContext));
    }
    if data.is_empty() {
        return Ok(());
    }
    Err(failure.map_or(ntstatus::BUFFER_TOO_SMALL, |f| f.or(ntstatus::BUFFER_TOO_SMALL)))
}
