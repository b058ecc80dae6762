//! Command packets: encoding and decoding of PM4 and SDMA, register names per generation.
//!
//! Pure functions over slices of dwords: no allocation (but what a caller's formatter does), no I/O, no panic, no
//! unsafe code. [`Encoder`] writes the packets of [`packet`] or [`sdma`] into a caller's buffer, [`decode`] and
//! [`sdma::decode`] read any dwords at all, and [`registers`] has the names and fields of the registers that the
//! packets set. Every packet is one entry of a table (`table.rs` reads it), so that both directions and the text for
//! humans are the same facts. Numbers are those of queues-pm4.md sections 2 to 4; where it is silent, the public header
//! that has them is named: PAL's merged MEC packet headers, Linux' `soc15d.h` and `nvd.h`, and ROCr's
//! `sdma_registers.h`.
//! May call: nothing.
#![forbid(unsafe_code)]

mod bits;
mod decode;
mod layout;
mod table;
mod values;

pub mod opcode;
pub mod packet;
pub mod register_fields;
pub mod registers;
pub mod sdma;

pub use bits::*;
pub use decode::{Decoded, Decoder, What, decode};
pub use layout::{Encode, Encoder, Engine, Error, Place, Places, Pm4, Show};
pub use values::*;

/// Generation of a GPU's packets and registers: the major number of its gfx version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gfx {
    /// gfx9: ACQUIRE_MEM has seven dwords, TCC and TCP caches; SDMA 4.
    Gfx9 = 0,
    /// gfx10: ACQUIRE_MEM has GCR_CNTL, wave32; SDMA 5.
    Gfx10 = 1,
    /// gfx11: RELEASE_MEM has one more GCR bit, scratch base registers in use; SDMA 6.
    Gfx11 = 2,
    /// gfx12: cache policies are temporal hints, wider scratch and rectangles; SDMA 7.
    Gfx12 = 3,
}

impl Gfx {
    /// Every generation, oldest first.
    pub const ALL: [Self; 4] = [Self::Gfx9, Self::Gfx10, Self::Gfx11, Self::Gfx12];

    /// The generation of a gfx version, by its major number; `None` for what this room does not know.
    pub const fn of_major(major: u32) -> Option<Self> {
        match major {
            9 => Some(Self::Gfx9),
            10 => Some(Self::Gfx10),
            11 => Some(Self::Gfx11),
            12 => Some(Self::Gfx12),
            _ => None,
        }
    }

    /// Major number of the gfx version.
    pub const fn major(self) -> u32 {
        self as u32 + 9
    }
}

impl core::fmt::Display for Gfx {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "gfx{}", self.major())
    }
}
