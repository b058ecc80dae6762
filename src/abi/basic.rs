//! Integers, handles and limits that the whole contract shares.

use core::ffi::c_void;

/// 8 bits, unsigned.
pub type HSAuint8 = u8;
/// 8 bits, signed.
pub type HSAint8 = i8;
/// 16 bits, unsigned.
pub type HSAuint16 = u16;
/// 16 bits, signed.
pub type HSAint16 = i16;
/// 32 bits, unsigned.
pub type HSAuint32 = u32;
/// 32 bits, signed.
pub type HSAint32 = i32;
/// 64 bits, unsigned.
pub type HSAuint64 = u64;
/// 64 bits, signed.
pub type HSAint64 = i64;

/// A handle whose meaning is known to its maker only.
pub type HSA_HANDLE = *mut c_void;
/// Names a queue from its creation to its destruction.
pub type HSA_QUEUEID = HSAuint64;

/// Major number of the contract.
pub const HSAKMT_VERSION_MAJOR: HSAuint32 = 0;
/// Minor number of the contract.
pub const HSAKMT_VERSION_MINOR: HSAuint32 = 99;

/// A process id that no process has.
pub const INVALID_PID: HSAuint32 = 0xffffffff;
/// A queue id that no queue has.
pub const INVALID_QUEUEID: HSA_QUEUEID = 0xffffffffffffffff;
/// A node id that no node has.
pub const INVALID_NODEID: HSAuint32 = 0xffffffff;
/// In place of a processor id: all processors of the node.
pub const HSA_PROCESSORID_ALL: HSAuint32 = 0xffffffff;
/// Most processors that a sibling map can name.
pub const HSA_CPU_SIBLINGS: usize = 256;
/// Characters of a name in HsaNodeProperties, the final zero included.
pub const HSA_PUBLIC_NAME_SIZE: usize = 64;
