//! NTSTATUS values and the error of a D3DKMT call.

use std::fmt;

use super::d3dkmt::ntstatus;

/// Result code of a D3DKMT call as libdxcore returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NtStatus(pub i32);

impl NtStatus {
    /// Name of the code in the public headers, where it has one that can arrive here.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            ntstatus::SUCCESS => "STATUS_SUCCESS",
            ntstatus::TIMEOUT => "STATUS_TIMEOUT",
            ntstatus::PENDING => "STATUS_PENDING",
            ntstatus::UNSUCCESSFUL => "STATUS_UNSUCCESSFUL",
            ntstatus::INVALID_HANDLE => "STATUS_INVALID_HANDLE",
            ntstatus::INVALID_PARAMETER => "STATUS_INVALID_PARAMETER",
            ntstatus::NO_MEMORY => "STATUS_NO_MEMORY",
            ntstatus::ILLEGAL_INSTRUCTION => "STATUS_ILLEGAL_INSTRUCTION",
            ntstatus::ACCESS_DENIED => "STATUS_ACCESS_DENIED",
            ntstatus::BUFFER_TOO_SMALL => "STATUS_BUFFER_TOO_SMALL",
            ntstatus::OBJECT_TYPE_MISMATCH => "STATUS_OBJECT_TYPE_MISMATCH",
            ntstatus::OBJECT_NAME_INVALID => "STATUS_OBJECT_NAME_INVALID",
            ntstatus::OBJECT_NAME_NOT_FOUND => "STATUS_OBJECT_NAME_NOT_FOUND",
            ntstatus::OBJECT_NAME_COLLISION => "STATUS_OBJECT_NAME_COLLISION",
            ntstatus::REVISION_MISMATCH => "STATUS_REVISION_MISMATCH",
            ntstatus::NOT_SUPPORTED => "STATUS_NOT_SUPPORTED",
            ntstatus::DEVICE_REMOVED => "STATUS_DEVICE_REMOVED",
            ntstatus::GRAPHICS_NO_VIDEO_MEMORY => "STATUS_GRAPHICS_NO_VIDEO_MEMORY",
            ntstatus::GRAPHICS_ALLOCATION_BUSY => "STATUS_GRAPHICS_ALLOCATION_BUSY",
            ntstatus::GRAPHICS_GPU_EXCEPTION_ON_DEVICE => "STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE",
            _ => return None,
        })
    }
}

impl fmt::Display for NtStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} (0x{:08X})", self.0),
            None => write!(f, "NTSTATUS 0x{:08X}", self.0),
        }
    }
}

/// A D3DKMT call that did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed: {status}")]
pub struct CallError {
    /// The call, with the query type where it has one.
    pub call: &'static str,
    /// What it returned, or what its answer amounts to (dxgkrnl.md 6.1).
    pub status: NtStatus,
}

impl CallError {
    /// `Ok` for STATUS_SUCCESS only: positive codes such as TIMEOUT are failures of the call (rules 58 and 100).
    pub fn check(call: &'static str, status: i32) -> Result<(), Self> {
        if status == ntstatus::SUCCESS { Ok(()) } else { Err(Self { call, status: NtStatus(status) }) }
    }
}
