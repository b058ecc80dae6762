//! The C contract as types: layouts, flags, enumerations, status.
//!
//! No logic and no I/O. Names are spelled as in the C headers, because the headers under `include/hsakmt`
//! are generated from this room. Everything that `hsakmttypes.h` declares is packed to 4 bytes.
//! May call: nothing.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

mod bits;
mod status;
mod topology;

pub use bits::Bits;
pub use status::*;
pub use topology::*;

/// `HSAuint8` of the headers.
pub type HSAuint8 = u8;
/// `HSAuint16` of the headers.
pub type HSAuint16 = u16;
/// `HSAuint32` of the headers.
pub type HSAuint32 = u32;
/// `HSAint32` of the headers.
pub type HSAint32 = i32;
/// `HSAuint64` of the headers.
pub type HSAuint64 = u64;
