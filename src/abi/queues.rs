//! Queues (kfd.md 4, queues-pm4.md 1).

use core::ffi::c_void;

use super::plain::{c_enum, plain};
use super::{HSA_QUEUEID, HSAint64, HSAuint32, HSAuint64};

c_enum! {
    /// Priority of a queue among those of its process. 64 bits wide, also where it is passed by value: its constants do
    /// not fit into 32.
    HSA_QUEUE_PRIORITY: i64 {
        /// Lowest.
        HSA_QUEUE_PRIORITY_MINIMUM = -3;
        /// Low.
        HSA_QUEUE_PRIORITY_LOW = -2;
        /// A little below normal.
        HSA_QUEUE_PRIORITY_BELOW_NORMAL = -1;
        /// Normal.
        HSA_QUEUE_PRIORITY_NORMAL = 0;
        /// A little above normal.
        HSA_QUEUE_PRIORITY_ABOVE_NORMAL = 1;
        /// High.
        HSA_QUEUE_PRIORITY_HIGH = 2;
        /// Highest.
        HSA_QUEUE_PRIORITY_MAXIMUM = 3;
        /// One more than the highest.
        HSA_QUEUE_PRIORITY_NUM_PRIORITY = 4;
        /// Not a priority.
        HSA_QUEUE_PRIORITY_SIZE = 0xffffffff;
    }
}

c_enum! {
    /// Kind of a queue: engine and packet format.
    HSA_QUEUE_TYPE: u32 {
        /// Compute, PM4 packets.
        HSA_QUEUE_COMPUTE = 1;
        /// SDMA.
        HSA_QUEUE_SDMA = 2;
        /// Video decoder.
        HSA_QUEUE_MULTIMEDIA_DECODE = 3;
        /// Video encoder.
        HSA_QUEUE_MULTIMEDIA_ENCODE = 4;
        /// SDMA engine for XGMI.
        HSA_QUEUE_SDMA_XGMI = 5;
        /// SDMA engine that the caller names.
        HSA_QUEUE_SDMA_BY_ENG_ID = 6;
        /// Compute, for the system.
        HSA_QUEUE_COMPUTE_OS = 11;
        /// SDMA, for the system.
        HSA_QUEUE_SDMA_OS = 12;
        /// Video decoder, for the system.
        HSA_QUEUE_MULTIMEDIA_DECODE_OS = 13;
        /// Video encoder, for the system.
        HSA_QUEUE_MULTIMEDIA_ENCODE_OS = 14;
        /// Compute, AQL packets.
        HSA_QUEUE_COMPUTE_AQL = 21;
        /// DMA, AQL packets.
        HSA_QUEUE_DMA_AQL = 22;
        /// DMA over XGMI, AQL packets.
        HSA_QUEUE_DMA_AQL_XGMI = 23;
        /// Keeps the enumeration at 32 bits.
        HSA_QUEUE_TYPE_SIZE = 0xffffffff;
    }
}

/// Start of the context save area of a queue, one for each accelerator die (kfd.md 4.3).
#[repr(C, packed(4))]
#[cfg_attr(c_header, tag = "")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaUserContextSaveAreaHeader {
    /// Control stack: offset from this header, bytes. Written by the kernel.
    pub ControlStackOffset: HSAuint32,
    /// Control stack: size, bytes. Written by the kernel.
    pub ControlStackSize: HSAuint32,
    /// Wave state: offset from this header, bytes. Written by the kernel.
    pub WaveStateOffset: HSAuint32,
    /// Wave state: size, bytes. Written by the kernel.
    pub WaveStateSize: HSAuint32,
    /// Memory of the debugger: offset from this header, bytes.
    pub DebugOffset: HSAuint32,
    /// Memory of the debugger: size, bytes.
    pub DebugSize: HSAuint32,
    /// Where the reason of an error is stored; NULL for nowhere.
    #[cfg_attr(c_header, c = "volatile HSAint64 *ErrorReason")]
    pub ErrorReason: *mut HSAint64,
    /// Event that is signalled after an error; 0 for none.
    pub ErrorEventId: HSAuint32,
    /// Not assigned, 0.
    pub Reserved1: HSAuint32,
}
plain!(HsaUserContextSaveAreaHeader {
    ControlStackOffset,
    ControlStackSize,
    WaveStateOffset,
    WaveStateSize,
    DebugOffset,
    DebugSize,
    ErrorReason,
    ErrorEventId,
    Reserved1,
});

/// State of a queue. 76 bytes; callers from before the last field have 68. The memory pointed to is that of the queue.
#[repr(C, packed(4))]
#[cfg_attr(c_header, tag = "")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaQueueInfo {
    /// Error of the queue; 0 for none.
    pub QueueDetailError: HSAuint32,
    /// Kind of the queue, as the kernel numbers it.
    pub QueueTypeExtended: HSAuint32,
    /// Number of compute units that the queue may use.
    pub NumCUAssigned: HSAuint32,
    /// One bit for each compute unit that the queue may use.
    pub CUMaskInfo: *mut HSAuint32,
    /// Saved wave state.
    pub UserContextSaveArea: *mut HSAuint32,
    /// Size of the saved wave state, bytes.
    pub SaveAreaSizeInBytes: HSAuint64,
    /// Top of the control stack.
    pub ControlStackTop: *mut HSAuint32,
    /// Used part of the control stack, bytes.
    pub ControlStackUsedInBytes: HSAuint64,
    /// Start of the save area.
    pub SaveAreaHeader: *mut HsaUserContextSaveAreaHeader,
    /// Not assigned, 0.
    pub Reserved2: HSAuint64,
    /// Size of the whole save area, bytes.
    pub SaveAreaAllocSize: HSAuint64,
}
plain!(HsaQueueInfo {
    QueueDetailError,
    QueueTypeExtended,
    NumCUAssigned,
    CUMaskInfo,
    UserContextSaveArea,
    SaveAreaSizeInBytes,
    ControlStackTop,
    ControlStackUsedInBytes,
    SaveAreaHeader,
    Reserved2,
    SaveAreaAllocSize,
});

/// How a queue is used, filled by its creation. 52 bytes; callers from before the last two fields have 40.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaQueueResource {
    /// Out: name of the queue.
    pub QueueId: HSA_QUEUEID,
    /// Out: address of the doorbell, 4 or 8 bytes wide.
    #[cfg_attr(
        c_header,
        c = "union { HSAuint32 *Queue_DoorBell; HSAuint64 *Queue_DoorBell_aql; HSAuint64 QueueDoorBell; }"
    )]
    pub QueueDoorBell: HSAuint64,
    /// Address of the write index: in for AQL queues, out for others.
    #[cfg_attr(
        c_header,
        c = "union { HSAuint32 *Queue_write_ptr; HSAuint64 *Queue_write_ptr_aql; HSAuint64 QueueWptrValue; }"
    )]
    pub QueueWptrValue: HSAuint64,
    /// Address of the read index: in for AQL queues, out for others.
    #[cfg_attr(
        c_header,
        c = "union { HSAuint32 *Queue_read_ptr; HSAuint64 *Queue_read_ptr_aql; HSAuint64 QueueRptrValue; }"
    )]
    pub QueueRptrValue: HSAuint64,
    /// In: where the reason of an error is stored; NULL for nowhere.
    #[cfg_attr(c_header, c = "volatile HSAint64 *ErrorReason")]
    pub ErrorReason: *mut HSAint64,
    /// Out: address of the fence by which an SDMA queue on DXG tells its progress; 0 for none.
    pub SdmaProgressFenceVA: HSAuint64,
    /// Out: bytes to leave free after each submission of an SDMA queue on DXG.
    pub SdmaHwQueueEpilogueBytes: HSAuint32,
}
plain!(HsaQueueResource {
    QueueId,
    QueueDoorBell,
    QueueWptrValue,
    QueueRptrValue,
    ErrorReason,
    SdmaProgressFenceVA,
    SdmaHwQueueEpilogueBytes,
});

/// Where a queue lies.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaQueueReport {
    /// Address space of the process on the GPU.
    pub VMID: HSAuint32,
    /// First address of the ring.
    pub QueueAddress: *mut c_void,
    /// Size of the ring, bytes.
    pub QueueSize: HSAuint64,
}
plain!(HsaQueueReport { VMID, QueueAddress, QueueSize });
