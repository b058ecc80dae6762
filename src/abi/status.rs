//! `HSAKMT_STATUS`: what every call of the C API returns.

use super::plain::c_enum;

c_enum! {
    /// Result of a call of the C API. Numbers are fixed for ever.
    HSAKMT_STATUS: u32 {
        /// The call did what it says.
        HSAKMT_STATUS_SUCCESS = 0;
        /// A failure with no better name.
        HSAKMT_STATUS_ERROR = 1;
        /// The kernel driver or the caller speaks another version of the interface.
        HSAKMT_STATUS_DRIVER_MISMATCH = 2;
        /// A pointer is NULL, a count or a flag is out of range.
        HSAKMT_STATUS_INVALID_PARAMETER = 3;
        /// A handle does not name a live object.
        HSAKMT_STATUS_INVALID_HANDLE = 4;
        /// No such node, or no snapshot.
        HSAKMT_STATUS_INVALID_NODE_UNIT = 5;
        /// System or video memory is exhausted.
        HSAKMT_STATUS_NO_MEMORY = 6;
        /// The buffer of the caller is too small.
        HSAKMT_STATUS_BUFFER_TOO_SMALL = 7;
        /// The call exists but does nothing on any platform.
        HSAKMT_STATUS_NOT_IMPLEMENTED = 10;
        /// The platform cannot do it.
        HSAKMT_STATUS_NOT_SUPPORTED = 11;
        /// Cannot be done now.
        HSAKMT_STATUS_UNAVAILABLE = 12;
        /// A kernel resource other than memory is exhausted.
        HSAKMT_STATUS_OUT_OF_RESOURCES = 13;
        /// The device is not open in this process.
        HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED = 20;
        /// The kernel driver is gone or does not answer.
        HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR = 21;
        /// The device was open already; one more reference was taken.
        HSAKMT_STATUS_KERNEL_ALREADY_OPENED = 22;
        /// The IOMMU that old APUs need is missing.
        HSAKMT_STATUS_HSAMMU_UNAVAILABLE = 23;
        /// A wait ended with an error.
        HSAKMT_STATUS_WAIT_FAILURE = 30;
        /// A wait ended at its time limit.
        HSAKMT_STATUS_WAIT_TIMEOUT = 31;
        /// The range is registered already.
        HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED = 35;
        /// The range is not registered.
        HSAKMT_STATUS_MEMORY_NOT_REGISTERED = 36;
        /// The address or size is not aligned as needed.
        HSAKMT_STATUS_MEMORY_ALIGNMENT = 37;
    }
}
