//! Where fields are in a packet, what a packet can do, and the cursor that writes packets.

use super::Gfx;
use core::fmt;

/// Where one field is in a packet, on one generation.
///
/// A field is the 64 bits that begin at dword `word` (little-endian, the next dword is the high half), of which it has
/// `width` from bit `shift`. The encoded number is `(value - bias) >> low`; the low bits are zero in every valid value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the dword in the packet; 0 is the header.
    pub word: u8,
    /// Lowest bit.
    pub shift: u8,
    /// Number of bits; 0 when the generation has no such field.
    pub width: u8,
    /// Number of low bits that are not encoded: an address in bytes that is a multiple of `1 << low`.
    pub low: u8,
    /// What is subtracted before encoding: 1 for counts that are stored less one, the base of a register range.
    pub bias: u32,
}

impl Place {
    const ABSENT: Self = Self { word: 0, shift: 0, width: 0, low: 0, bias: 0 };

    /// Mask of the field in dword `word` of the packet.
    pub const fn mask(self, word: usize) -> u32 {
        if self.width == 0 {
            return 0;
        }
        let mask = (u64::MAX >> (64 - self.width as u32)) << self.shift;
        match word.wrapping_sub(self.word as usize) {
            0 => mask as u32,
            1 => (mask >> 32) as u32,
            _ => 0,
        }
    }

    /// Writes `value` into zeroed bits; what does not fit, or does not exist on the generation unless it is 0, is an
    /// error.
    fn put(self, words: &mut [u32], value: u64, field: &'static str) -> Result<(), Error> {
        if self.width == 0 {
            return if value == 0 { Ok(()) } else { Err(Error::NoSuchField { field }) };
        }
        let unfit = Error::Value { field, value };
        let number = value.checked_sub(self.bias as u64).ok_or(unfit)?;
        let encoded = number >> self.low;
        if encoded << self.low != number || encoded > u64::MAX >> (64 - self.width as u32) {
            return Err(unfit);
        }
        let wide = encoded << self.shift;
        let word = self.word as usize;
        for (i, half) in [wide as u32, (wide >> 32) as u32].into_iter().enumerate() {
            if let Some(word) = words.get_mut(word + i) {
                *word |= half;
            }
        }
        Ok(())
    }

    /// Reads the field; dwords that are not there are zeros.
    pub(super) fn take(self, words: &[u32]) -> u64 {
        if self.width == 0 {
            return 0;
        }
        let word = |i: usize| u64::from(words.get(self.word as usize + i).copied().unwrap_or(0));
        let wide = word(0) | word(1) << 32;
        (((wide >> self.shift) & (u64::MAX >> (64 - self.width as u32))) << self.low) + u64::from(self.bias)
    }
}

/// Where one field is, on every generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places([Place; 4]);

/// The same place on every generation: `width` bits from bit `shift` of dword `word`.
pub(super) const fn at(word: u8, shift: u8, width: u8) -> Places {
    assert!(shift < 32 && width > 0 && shift as u32 + width as u32 <= 64);
    Places([Place { word, shift, width, low: 0, bias: 0 }; 4])
}

impl Places {
    /// The place on a generation.
    pub const fn on(self, gfx: Gfx) -> Place {
        self.0[gfx as usize]
    }

    /// Only from this generation on.
    pub(super) const fn since(self, gfx: Gfx) -> Self {
        Self([Place::ABSENT; 4]).then(gfx, self)
    }

    /// Another place from this generation on.
    pub(super) const fn then(mut self, gfx: Gfx, later: Self) -> Self {
        let mut i = gfx as usize;
        while i < 4 {
            self.0[i] = later.0[i];
            i += 1;
        }
        self
    }

    /// Only up to and with this generation.
    pub(super) const fn until(mut self, gfx: Gfx) -> Self {
        let mut i = gfx as usize + 1;
        while i < 4 {
            self.0[i] = Place::ABSENT;
            i += 1;
        }
        self
    }

    /// Values are multiples of `1 << low`.
    pub(super) const fn low(mut self, low: u8) -> Self {
        let mut i = 0;
        while i < 4 {
            self.0[i].low = low;
            i += 1;
        }
        self
    }

    /// Values are stored less `bias`.
    pub(super) const fn less(mut self, bias: u32) -> Self {
        let mut i = 0;
        while i < 4 {
            self.0[i].bias = bias;
            i += 1;
        }
        self
    }

    /// [`Place::put`] of a value on a generation.
    pub(super) fn put(self, gfx: Gfx, words: &mut [u32], value: u64, field: &'static str) -> Result<(), Error> {
        self.on(gfx).put(words, value, field)
    }
}

/// Why a packet was not written. The buffer's written part is as before; what is behind it may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The buffer is too small.
    #[error("the packet needs {needed} dwords and {left} are left")]
    Room {
        /// Dwords of the packet.
        needed: usize,
        /// Dwords that were left.
        left: usize,
    },
    /// A value that its field cannot hold: too large, or misaligned.
    #[error("{field} cannot be {value:#x}")]
    Value {
        /// Name of the field.
        field: &'static str,
        /// The value.
        value: u64,
    },
    /// A value other than 0 for a field that the generation does not have.
    #[error("this generation has no {field}")]
    NoSuchField {
        /// Name of the field.
        field: &'static str,
    },
    /// The generation does not have this packet.
    #[error("this generation has no {packet}")]
    NoSuchPacket {
        /// Name of the packet.
        packet: &'static str,
    },
    /// More data than the count field can say.
    #[error("a packet of {dwords} dwords is too long")]
    TooLong {
        /// Dwords that the packet would have.
        dwords: usize,
    },
}

/// A kind of engine: how it heads its packets.
pub trait Engine: Copy {
    /// First dword of a packet of `dwords` dwords with this code, fields of the packet in it not counted.
    fn header(self, code: u32, dwords: usize) -> Result<u32, Error>;

    /// Whether `header` heads a packet with this code.
    fn is(code: u32, header: u32) -> bool;

    /// Bits of the first dword that the engine's header explains.
    fn header_mask(code: u32) -> u32;
}

/// The engine that reads PM4: what its type-3 headers say beside opcode and count (queues-pm4.md section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pm4 {
    /// `shader_type`, bit 1: set for compute. The original thunk sets it; aqlprofile and ROCr do not.
    pub shader_type: bool,
    /// `predicate`, bit 0: the packet is skipped when predication says so.
    pub predicate: bool,
}

impl Pm4 {
    /// Headers of the thunk's own packets.
    pub const COMPUTE: Self = Self { shader_type: true, predicate: false };
    /// Headers of counter streams.
    pub const PLAIN: Self = Self { shader_type: false, predicate: false };
}

impl Engine for Pm4 {
    fn header(self, code: u32, dwords: usize) -> Result<u32, Error> {
        super::opcode::header(self, code, dwords).ok_or(Error::TooLong { dwords })
    }

    fn is(code: u32, header: u32) -> bool {
        (header >> 8) & 0xff == code
    }

    fn header_mask(_code: u32) -> u32 {
        0xffff_ff03
    }
}

/// A packet that can be written.
pub trait Encode {
    /// The engine that reads it.
    type Engine: Engine;

    /// Name, as in the headers.
    fn name(&self) -> &'static str;

    /// Opcode of PM4; header of SDMA without fields.
    fn code(&self) -> u32;

    /// Dwords on a generation, header and data included; 0 when the generation does not have the packet.
    fn dwords(&self, gfx: Gfx) -> usize;

    /// Writes the fields into zeroed dwords behind and beside the header. `words` has [`Self::dwords`] dwords.
    fn fill(&self, gfx: Gfx, words: &mut [u32]) -> Result<(), Error>;
}

/// Writes packets one behind the other into a caller's buffer.
#[derive(Debug)]
pub struct Encoder<'a, E> {
    gfx: Gfx,
    engine: E,
    words: &'a mut [u32],
    used: usize,
}

impl<'a, E: Engine> Encoder<'a, E> {
    /// A cursor at the start of `words`.
    pub fn new(gfx: Gfx, engine: E, words: &'a mut [u32]) -> Self {
        Self { gfx, engine, words, used: 0 }
    }

    /// Appends a packet, or leaves what is written as it is.
    pub fn put(&mut self, packet: &impl Encode<Engine = E>) -> Result<(), Error> {
        self.put_as(self.engine, packet)
    }

    /// [`Self::put`] with another header, for one packet.
    pub fn put_as(&mut self, engine: E, packet: &impl Encode<Engine = E>) -> Result<(), Error> {
        let needed = packet.dwords(self.gfx);
        let left = self.left();
        let room = Error::Room { needed, left };
        if needed == 0 {
            return Err(Error::NoSuchPacket { packet: packet.name() });
        }
        let header = engine.header(packet.code(), needed)?;
        let end = self.used.checked_add(needed).ok_or(room)?;
        let words = self.words.get_mut(self.used..end).ok_or(room)?;
        words.fill(0);
        packet.fill(self.gfx, words)?;
        if let Some(first) = words.first_mut() {
            *first |= header;
        }
        self.used = end;
        Ok(())
    }

    /// The generation that packets are written for.
    pub fn gfx(&self) -> Gfx {
        self.gfx
    }

    /// Number of dwords written.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Number of dwords that are left.
    pub fn left(&self) -> usize {
        self.words.len().saturating_sub(self.used)
    }

    /// What is written.
    pub fn written(&self) -> &[u32] {
        self.words.get(..self.used).unwrap_or(&[])
    }

    /// Forgets what was written behind the first `used` dwords: a whole sequence that did not fit.
    pub fn rewind(&mut self, used: usize) {
        self.used = self.used.min(used);
    }
}

/// The type of a field: a number, and its text for humans.
pub(super) trait Value: Copy {
    /// The number.
    fn raw(self) -> u64;
    /// The value of a number that came out of the field's place; bits that its type cannot hold are not there.
    fn from_raw(raw: u64) -> Self;
    /// Text of it on a generation.
    fn show(self, gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

macro_rules! numbers {
    ($($word:ty),*) => {$(
        impl Value for $word {
            fn raw(self) -> u64 {
                self.into()
            }

            fn from_raw(raw: u64) -> Self {
                raw as $word
            }

            fn show(self, _: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.raw() < 10_000 { write!(f, "{self}") } else { write!(f, "{self:#x}") }
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64);

impl Value for bool {
    fn raw(self) -> u64 {
        self.into()
    }

    fn from_raw(raw: u64) -> Self {
        raw != 0
    }

    fn show(self, _: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self { "1" } else { "0" })
    }
}

/// A packet that was read: its text, and which bits its fields explain.
pub trait Show {
    /// Writes the name and the fields that the generation has.
    fn show(&self, gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Bits of dword `word` that the header or a field explains; the rest is reserved, or not known here.
    fn explained(&self, gfx: Gfx, word: usize) -> u32;
}
