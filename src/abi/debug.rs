//! Debugging (kfd.md 5.5). The calls of the first debugger interface exist for old callers only.

use core::ffi::c_void;

use super::plain::{c_enum, plain};
use super::{HSAuint32, HSAuint64};

/// Arguments of the debug trap ioctl, declared by `linux/kfd_ioctl.h`.
#[repr(C)]
#[cfg_attr(c_header, c = "struct kfd_ioctl_dbg_trap_args")]
#[derive(Debug)]
pub struct kfd_ioctl_dbg_trap_args {
    hidden: [u8; 0],
}

/// State of the runtime as the kernel keeps it, 16 bytes, declared by `linux/kfd_ioctl.h`.
#[repr(C)]
#[cfg_attr(c_header, c = "struct kfd_runtime_info")]
#[derive(Debug)]
pub struct kfd_runtime_info {
    hidden: [u8; 0],
}

/// One GPU for the debugger, 120 or 128 bytes, declared by `linux/kfd_ioctl.h`.
#[repr(C)]
#[cfg_attr(c_header, c = "struct kfd_dbg_device_info_entry")]
#[derive(Debug)]
pub struct kfd_dbg_device_info_entry {
    hidden: [u8; 0],
}

/// In the mask of hsaKmtGetRuntimeCapabilities: core dumps of GPU state can be made.
pub const HSA_RUNTIME_ENABLE_CAPS_SUPPORTS_CORE_DUMP_MASK: HSAuint32 = 0x80000000;

c_enum! {
    /// What is done with waves.
    HSA_DBG_WAVEOP: u32 {
        /// Stop.
        HSA_DBG_WAVEOP_HALT = 1;
        /// Go on.
        HSA_DBG_WAVEOP_RESUME = 2;
        /// End.
        HSA_DBG_WAVEOP_KILL = 3;
        /// Enter debug mode.
        HSA_DBG_WAVEOP_DEBUG = 4;
        /// Enter the trap handler.
        HSA_DBG_WAVEOP_TRAP = 5;
        /// Number of operations.
        HSA_DBG_NUM_WAVEOP = 5;
        /// Keeps the enumeration at 32 bits.
        HSA_DBG_MAX_WAVEOP = 0xffffffff;
    }
}

c_enum! {
    /// To which waves it is done.
    HSA_DBG_WAVEMODE: u32 {
        /// One wave.
        HSA_DBG_WAVEMODE_SINGLE = 0;
        /// All waves of the process.
        HSA_DBG_WAVEMODE_BROADCAST_PROCESS = 2;
        /// All waves of the process on one compute unit.
        HSA_DBG_WAVEMODE_BROADCAST_PROCESS_CU = 3;
        /// Number of modes.
        HSA_DBG_NUM_WAVEMODE = 3;
        /// Keeps the enumeration at 32 bits.
        HSA_DBG_MAX_WAVEMODE = 0xffffffff;
    }
}

c_enum! {
    /// Kind of a message from a wave.
    HSA_DBG_WAVEMSG_TYPE: u32 {
        /// Sent by the hardware.
        HSA_DBG_WAVEMSG_AUTO = 0;
        /// Sent by the program.
        HSA_DBG_WAVEMSG_USER = 1;
        /// An error.
        HSA_DBG_WAVEMSG_ERROR = 2;
        /// Number of kinds.
        HSA_DBG_NUM_WAVEMSG = 3;
        /// Keeps the enumeration at 32 bits.
        HSA_DBG_MAX_WAVEMSG = 0xffffffff;
    }
}

/// Message from a wave, as the hardware of the second generation writes it.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaDbgWaveMsgAMDGen2 {
    /// The message.
    pub Value: HSAuint32,
    /// Not assigned, 0.
    pub Reserved2: HSAuint32,
}
plain!(HsaDbgWaveMsgAMDGen2 { Value, Reserved2 });

/// Message from a wave, by generation of the hardware.
#[repr(C, packed(4))]
#[cfg_attr(c_header, keyword = "union")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaDbgWaveMessageAMD {
    /// Second generation.
    pub WaveMsgInfoGen2: HsaDbgWaveMsgAMDGen2,
}
plain!(HsaDbgWaveMessageAMD { WaveMsgInfoGen2 });

/// Message from a wave, and where it was written.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaDbgWaveMessage {
    /// Address of the message.
    pub MemoryVA: *mut c_void,
    /// The message.
    pub DbgWaveMsg: HsaDbgWaveMessageAMD,
}
plain!(HsaDbgWaveMessage { MemoryVA, DbgWaveMsg });

c_enum! {
    /// Which accesses a watch point reports.
    HSA_DBG_WATCH_MODE: u32 {
        /// Reads.
        HSA_DBG_WATCH_READ = 0;
        /// Writes and atomic operations.
        HSA_DBG_WATCH_NONREAD = 1;
        /// Atomic operations.
        HSA_DBG_WATCH_ATOMIC = 2;
        /// All.
        HSA_DBG_WATCH_ALL = 3;
        /// Number of modes.
        HSA_DBG_WATCH_NUM = 4;
    }
}

c_enum! {
    /// How a trap mask combines with that of the program.
    HSA_DBG_TRAP_OVERRIDE: u32 {
        /// Added to it.
        HSA_DBG_TRAP_OVERRIDE_OR = 0;
        /// Instead of it.
        HSA_DBG_TRAP_OVERRIDE_REPLACE = 1;
        /// Number of ways.
        HSA_DBG_TRAP_OVERRIDE_NUM = 2;
    }
}

c_enum! {
    /// Traps that can be enabled, as a mask.
    HSA_DBG_TRAP_MASK: u32 {
        /// Floating point: invalid operation.
        HSA_DBG_TRAP_MASK_FP_INVALID = 1;
        /// Floating point: denormal input.
        HSA_DBG_TRAP_MASK_FP_INPUT_DENOMAL = 2;
        /// Floating point: division by zero.
        HSA_DBG_TRAP_MASK_FP_DIVIDE_BY_ZERO = 4;
        /// Floating point: overflow.
        HSA_DBG_TRAP_MASK_FP_OVERFLOW = 8;
        /// Floating point: underflow.
        HSA_DBG_TRAP_MASK_FP_UNDERFLOW = 16;
        /// Floating point: inexact result.
        HSA_DBG_TRAP_MASK_FP_INEXACT = 32;
        /// Integer: division by zero.
        HSA_DBG_TRAP_MASK_INT_DIVIDE_BY_ZERO = 64;
        /// A watch point was hit.
        HSA_DBG_TRAP_MASK_DBG_ADDRESS_WATCH = 128;
        /// A memory fault.
        HSA_DBG_TRAP_MASK_DBG_MEMORY_VIOLATION = 256;
    }
}

c_enum! {
    /// Exceptions that queues, devices and processes report; the bit of exception n in a mask is n - 1.
    HSA_DBG_TRAP_EXCEPTION_CODE: u32 {
        /// None.
        HSA_DBG_EC_NONE = 0;
        /// Queue: a wave aborted.
        HSA_DBG_EC_QUEUE_WAVE_ABORT = 1;
        /// Queue: a wave trapped.
        HSA_DBG_EC_QUEUE_WAVE_TRAP = 2;
        /// Queue: arithmetic error in a wave.
        HSA_DBG_EC_QUEUE_WAVE_MATH_ERROR = 3;
        /// Queue: illegal instruction in a wave.
        HSA_DBG_EC_QUEUE_WAVE_ILLEGAL_INSTRUCTION = 4;
        /// Queue: memory fault of a wave.
        HSA_DBG_EC_QUEUE_WAVE_MEMORY_VIOLATION = 5;
        /// Queue: a wave left its aperture.
        HSA_DBG_EC_QUEUE_WAVE_APERTURE_VIOLATION = 6;
        /// Queue: number of dimensions of a dispatch is invalid.
        HSA_DBG_EC_QUEUE_PACKET_DISPATCH_DIM_INVALID = 16;
        /// Queue: group memory of a dispatch is too large.
        HSA_DBG_EC_QUEUE_PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID = 17;
        /// Queue: code of a dispatch is invalid.
        HSA_DBG_EC_QUEUE_PACKET_DISPATCH_CODE_INVALID = 18;
        /// Queue: packet of a kind that is not assigned.
        HSA_DBG_EC_QUEUE_PACKET_RESERVED = 19;
        /// Queue: packet of a kind that is not supported.
        HSA_DBG_EC_QUEUE_PACKET_UNSUPPORTED = 20;
        /// Queue: work-group size of a dispatch is invalid.
        HSA_DBG_EC_QUEUE_PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID = 21;
        /// Queue: dispatch needs too many registers.
        HSA_DBG_EC_QUEUE_PACKET_DISPATCH_REGISTER_INVALID = 22;
        /// Queue: vendor packet that is not supported.
        HSA_DBG_EC_QUEUE_PACKET_VENDOR_UNSUPPORTED = 23;
        /// Queue: waves could not be saved.
        HSA_DBG_EC_QUEUE_PREEMPTION_ERROR = 30;
        /// Queue: it is new.
        HSA_DBG_EC_QUEUE_NEW = 31;
        /// Device: a queue was deleted.
        HSA_DBG_EC_DEVICE_QUEUE_DELETE = 32;
        /// Device: memory fault.
        HSA_DBG_EC_DEVICE_MEMORY_VIOLATION = 33;
        /// Device: memory error that could not be corrected.
        HSA_DBG_EC_DEVICE_RAS_ERROR = 34;
        /// Device: it stopped for good.
        HSA_DBG_EC_DEVICE_FATAL_HALT = 35;
        /// Device: it is new.
        HSA_DBG_EC_DEVICE_NEW = 36;
        /// Process: the runtime was enabled or disabled.
        HSA_DBG_EC_PROCESS_RUNTIME = 48;
        /// Process: a device was removed.
        HSA_DBG_EC_PROCESS_DEVICE_REMOVE = 49;
        /// One more than the last.
        HSA_DBG_EC_MAX = 50;
    }
}

/// The bit of exception `ecode` in a mask; `ecode` is 1 to 64.
#[cfg_attr(c_header, c = "(1ULL << ((ecode) - 1))")]
pub const fn HSA_EC_MASK(ecode: HSAuint32) -> HSAuint64 {
    1 << (ecode - 1)
}

c_enum! {
    /// How new waves start.
    HSA_DBG_WAVE_LAUNCH_MODE: u32 {
        /// Running.
        HSA_DBG_WAVE_LAUNCH_MODE_NORMAL = 0;
        /// Halted.
        HSA_DBG_WAVE_LAUNCH_MODE_HALT = 1;
        /// They end at once.
        HSA_DBG_WAVE_LAUNCH_MODE_KILL = 2;
        /// Single step.
        HSA_DBG_WAVE_LAUNCH_MODE_SINGLE_STEP = 3;
        /// Not at all.
        HSA_DBG_WAVE_LAUNCH_MODE_DISABLE = 4;
        /// Number of modes.
        HSA_DBG_WAVE_LAUNCH_MODE_NUM = 5;
    }
}

c_enum! {
    /// What the debugger changes on a node, as a mask.
    #[cfg_attr(c_header, tag = "HSA_DBG_NODE_CONTROL")]
    HSA_DBG_NODE_CONTROL: u32 {
        /// One more than the largest mask: no flag is assigned.
        HSA_DBG_NODE_CONTROL_FLAG_MAX = 1;
    }
}
