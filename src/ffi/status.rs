//! The one place where an error becomes an `HSAKMT_STATUS`.

use std::ffi::c_int;

use crate::abi::*;
use crate::platform::{self, dxg, kfd};
use crate::process::Error;
use crate::{events, memory, topology};

/// What a call returns whose body panicked.
pub const PANIC: HSAKMT_STATUS = HSAKMT_STATUS_ERROR;

/// The status that callers see for `error` (dxg.md 1.2, 2.1, 2.5; kfd.md 6).
pub fn of(error: &Error) -> HSAKMT_STATUS {
    match error {
        Error::NotOpened => HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED,
        Error::Open(error) | Error::Close(error) | Error::Platform(error) => of_platform(error),
        Error::Snapshot(topology::Error::Platform(error)) => of_platform(error),
        Error::Override(_) | Error::NotGpu(_) | Error::Unmappable(_) => HSAKMT_STATUS_ERROR,
        Error::NoSnapshot | Error::NoNode(_) | Error::NoGpu(_) => HSAKMT_STATUS_INVALID_NODE_UNIT,
        Error::NoReference | Error::Null(_) | Error::Argument(_) => HSAKMT_STATUS_INVALID_PARAMETER,
        Error::TooManyReferences => HSAKMT_STATUS_OUT_OF_RESOURCES,
        Error::Busy(_) => HSAKMT_STATUS_UNAVAILABLE,
        Error::Mismatch(_) => HSAKMT_STATUS_DRIVER_MISMATCH,
        Error::TooSmall { .. } => HSAKMT_STATUS_BUFFER_TOO_SMALL,
        Error::Memory(error) => of_memory(error),
        Error::Event(error) => of_event(error),
        Error::Handle(_) => HSAKMT_STATUS_INVALID_HANDLE,
        Error::NotSupported(_) => HSAKMT_STATUS_NOT_SUPPORTED,
        Error::NotImplemented(_) => HSAKMT_STATUS_NOT_IMPLEMENTED,
    }
}

/// What the calls in the place of libdrm return instead of `status`: a negative errno.
pub fn errno(status: HSAKMT_STATUS) -> c_int {
    -match status {
        HSAKMT_STATUS_INVALID_PARAMETER | HSAKMT_STATUS_INVALID_HANDLE | HSAKMT_STATUS_INVALID_NODE_UNIT => {
            libc::EINVAL
        }
        HSAKMT_STATUS_NOT_SUPPORTED => libc::ENOTSUP,
        HSAKMT_STATUS_NOT_IMPLEMENTED => libc::ENOSYS,
        HSAKMT_STATUS_NO_MEMORY => libc::ENOMEM,
        HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED => libc::ENODEV,
        HSAKMT_STATUS_UNAVAILABLE => libc::EBUSY,
        _ => libc::EIO,
    }
}

fn of_memory(error: &memory::Error) -> HSAKMT_STATUS {
    match error {
        memory::Error::Platform(error) => of_platform(error),
        memory::Error::NoNode(_) => HSAKMT_STATUS_INVALID_NODE_UNIT,
        memory::Error::Argument(_) | memory::Error::NotMappable(_) | memory::Error::NotReserved { .. } => {
            HSAKMT_STATUS_INVALID_PARAMETER
        }
        memory::Error::NoHandle(_) => HSAKMT_STATUS_INVALID_HANDLE,
        memory::Error::Unsupported(_) => HSAKMT_STATUS_NOT_SUPPORTED,
        memory::Error::NotImplemented(_) => HSAKMT_STATUS_NOT_IMPLEMENTED,
        memory::Error::NotRegistered(_) => HSAKMT_STATUS_MEMORY_NOT_REGISTERED,
        memory::Error::AlreadyRegistered(_) => HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED,
        memory::Error::IsAllocation(_) => HSAKMT_STATUS_INVALID_HANDLE,
        memory::Error::Busy { .. } => HSAKMT_STATUS_UNAVAILABLE,
        memory::Error::NotGpu(_) => HSAKMT_STATUS_INVALID_PARAMETER,
        memory::Error::Unknown(_) | memory::Error::ForeignNode { .. } | memory::Error::HasGuests(_) => {
            HSAKMT_STATUS_ERROR
        }
    }
}

fn of_event(error: &events::Error) -> HSAKMT_STATUS {
    match error {
        events::Error::Platform(error) => of_platform(error),
        events::Error::Unsupported => HSAKMT_STATUS_NOT_SUPPORTED,
        events::Error::Unknown(_) => HSAKMT_STATUS_INVALID_HANDLE,
        events::Error::TimedOut => HSAKMT_STATUS_WAIT_TIMEOUT,
        events::Error::NoNode(_) => HSAKMT_STATUS_INVALID_NODE_UNIT,
        events::Error::DriversOwn(_) | events::Error::Destroyed => HSAKMT_STATUS_ERROR,
    }
}

fn of_platform(error: &platform::Error) -> HSAKMT_STATUS {
    match error {
        platform::Error::NoPlatform(tried) => {
            // A device that opened and is of no use says more than one that did not open.
            let mut statuses = tried.iter().map(of_platform);
            let not_opened = HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
            statuses.find(|&status| status != not_opened).unwrap_or(not_opened)
        }
        platform::Error::Dxg(dxg::Error::Device { .. }) | platform::Error::Kfd(kfd::Error::Device { .. }) => {
            HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED
        }
        platform::Error::Kfd(kfd::Error::Version { .. }) => HSAKMT_STATUS_DRIVER_MISMATCH,
        platform::Error::Kfd(kfd::Error::NoAddress { .. } | kfd::Error::ScratchTaken) => HSAKMT_STATUS_NO_MEMORY,
        platform::Error::Kfd(kfd::Error::Range { .. }) => HSAKMT_STATUS_INVALID_PARAMETER,
        platform::Error::Kfd(kfd::Error::Libdrm(_)) => HSAKMT_STATUS_INVALID_HANDLE,
        platform::Error::Kfd(kfd::Error::NoSharedSpace) | platform::Error::Unsupported(_) => {
            HSAKMT_STATUS_NOT_SUPPORTED
        }
        platform::Error::Kfd(kfd::Error::Call(error))
            if error.errno == libc::EBUSY && error.call == "AMDKFD_IOC_RUNTIME_ENABLE" =>
        {
            HSAKMT_STATUS_UNAVAILABLE
        }
        platform::Error::Kfd(kfd::Error::Busy { .. }) => HSAKMT_STATUS_UNAVAILABLE,
        platform::Error::Kfd(error) if error.errno() == Some(libc::ENOMEM) => HSAKMT_STATUS_NO_MEMORY,
        platform::Error::Dxg(error) => of_dxg(error),
        _ => HSAKMT_STATUS_ERROR,
    }
}

fn of_dxg(error: &dxg::Error) -> HSAKMT_STATUS {
    match error {
        dxg::Error::Call(error) => of_nt(error.status),
        dxg::Error::Exhausted { .. }
        | dxg::Error::Full { .. }
        | dxg::Error::NoPlace { .. }
        | dxg::Error::TooLarge { .. } => HSAKMT_STATUS_NO_MEMORY,
        dxg::Error::NoPool(error) => of_dxg(error),
        dxg::Error::NoProvider | dxg::Error::CallsMissing(_) | dxg::Error::PeerAccess | dxg::Error::NoGpu => {
            HSAKMT_STATUS_NOT_SUPPORTED
        }
        dxg::Error::BadRange { .. } | dxg::Error::NotMemory(_) | dxg::Error::NotShareable => {
            HSAKMT_STATUS_INVALID_PARAMETER
        }
        dxg::Error::Lost | dxg::Error::Stuck { .. } => HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR,
        dxg::Error::Event(_) => HSAKMT_STATUS_OUT_OF_RESOURCES,
        _ => HSAKMT_STATUS_ERROR,
    }
}

/// A D3DKMT call that the thunk makes on its own account: INVALID_PARAMETER then is the host's refusal (dxgkrnl.md
/// 6.1), not the caller's mistake.
fn of_nt(status: dxg::status::NtStatus) -> HSAKMT_STATUS {
    use dxg::d3dkmt::ntstatus;
    match status.0 {
        ntstatus::NO_MEMORY | ntstatus::GRAPHICS_NO_VIDEO_MEMORY => HSAKMT_STATUS_NO_MEMORY,
        ntstatus::NOT_SUPPORTED => HSAKMT_STATUS_NOT_SUPPORTED,
        // The device is gone, libdxcore could not open it, or the ring to the host is full.
        ntstatus::DEVICE_REMOVED | ntstatus::UNSUCCESSFUL | ntstatus::TIMEOUT => {
            HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR
        }
        _ => HSAKMT_STATUS_ERROR,
    }
}
