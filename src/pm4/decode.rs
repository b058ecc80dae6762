//! Reading PM4: any dwords are split into packets, fillers and what is neither, and none is left over.

use super::layout::{Pm4, Show};
use super::packet::Packet;
use super::registers::Register;
use super::table::Found;
use super::values::{CopyDest, CopySource, MemSpace, WaitOperation, WriteDest};
use super::{Gfx, opcode};
use core::fmt;

/// One piece of a stream: a packet, or what stands in the place of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded<'a, P> {
    /// Generation that it was read for.
    pub gfx: Gfx,
    /// Index of its first dword in the stream.
    pub offset: usize,
    /// Its dwords; at least one. The pieces of a stream follow each other without gap.
    pub words: &'a [u32],
    /// What it is.
    pub what: What<P>,
}

/// What a piece of a stream is. Codes are opcodes of PM4, and `op | sub_op << 8` of SDMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What<P> {
    /// A packet whose fields are known. The header's own bits are in the piece's first dword ([`Decoded::header`]).
    Packet(P),
    /// Type 2: one dword of filler.
    Filler,
    /// A packet whose fields are not known here, or that the generation does not have. In SDMA the rest of the stream:
    /// its headers do not say how long they are.
    Unknown {
        /// Its code.
        code: u32,
    },
    /// A packet that is known, with another length than it has. Its fields are not read.
    WrongLength {
        /// Its code.
        code: u32,
        /// Dwords that it should have, data not counted.
        expected: usize,
    },
    /// The header announces more than is there; the rest of the stream.
    Truncated {
        /// Its code.
        code: u32,
        /// Dwords that the header announces.
        needed: usize,
    },
    /// One dword that heads nothing: type 0 or 1.
    NotAPacket {
        /// The type.
        kind: u8,
    },
}

impl<P: Show> Decoded<'_, P> {
    /// Bits that are set although no field of the packet explains them, as index of the dword and mask; the first such.
    /// `None` for everything but packets.
    pub fn unexplained(&self) -> Option<(usize, u32)> {
        let What::Packet(packet) = &self.what else { return None };
        let rest = |(i, word): (usize, &u32)| (i, word & !packet.explained(self.gfx, i));
        self.words.iter().enumerate().map(rest).find(|(_, bits)| *bits != 0)
    }
}

impl<P> Decoded<'_, P> {
    /// What the header of a PM4 packet says beside opcode and count.
    pub fn header(&self) -> Pm4 {
        let header = self.words.first().copied().unwrap_or(0);
        Pm4 { shader_type: header & 2 != 0, predicate: header & 1 != 0 }
    }
}

/// The pieces of a stream of PM4, from its start.
pub fn decode(gfx: Gfx, words: &[u32]) -> Decoder<'_, Packet<'_>> {
    Decoder { gfx, words, offset: 0, first }
}

/// The first piece of what is left of a stream of PM4.
fn first(gfx: Gfx, rest: &[u32]) -> Option<(usize, What<Packet<'_>>)> {
    let header = *rest.first()?;
    let code = (header >> 8) & 0xff;
    Some(match header >> 30 {
        2 => (1, What::Filler),
        3 => announced(rest, code, opcode::announced(header), |words| Packet::find(gfx, words)),
        kind => (1, What::NotAPacket { kind: kind as u8 }),
    })
}

/// Iterator of [`decode`] and of [`sdma::decode`](super::sdma::decode).
#[derive(Debug, Clone)]
pub struct Decoder<'a, P> {
    pub(super) gfx: Gfx,
    pub(super) words: &'a [u32],
    pub(super) offset: usize,
    /// Dwords and meaning of the first piece of what is left.
    pub(super) first: First<'a, P>,
}

type First<'a, P> = fn(Gfx, &'a [u32]) -> Option<(usize, What<P>)>;

impl<'a, P> Iterator for Decoder<'a, P> {
    type Item = Decoded<'a, P>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.words.get(self.offset..)?;
        let (length, what) = (self.first)(self.gfx, rest)?;
        let piece = Decoded { gfx: self.gfx, offset: self.offset, words: rest.get(..length)?, what };
        self.offset += length;
        Some(piece)
    }
}

/// A packet that announces `needed` dwords; `find` gets as many.
pub(super) fn announced<'a, P>(
    rest: &'a [u32],
    code: u32,
    needed: usize,
    find: impl FnOnce(&'a [u32]) -> Found<P>,
) -> (usize, What<P>) {
    let Some(words) = rest.get(..needed) else { return (rest.len(), What::Truncated { code, needed }) };
    let what = match find(words) {
        Found::Packet(packet) => What::Packet(packet),
        Found::WrongLength(expected) => What::WrongLength { code, expected },
        Found::Unknown => What::Unknown { code },
    };
    (needed, what)
}

/// Dwords that are shown of data and of what is not known.
const SHOWN: usize = 8;

pub(super) fn show_words(words: &[u32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for word in words.iter().take(SHOWN) {
        write!(f, " {word:08x}")?;
    }
    if words.len() > SHOWN { write!(f, " ... {} more", words.len() - SHOWN) } else { Ok(()) }
}

/// Writes what a piece is; `name` is the name of a code, `more` what a packet's fields do not say.
pub(super) fn show<P: Show>(
    piece: &Decoded<'_, P>,
    name: impl Fn(u32) -> Option<&'static str>,
    more: impl Fn(&P, &mut fmt::Formatter<'_>) -> fmt::Result,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "{:05x}: ", piece.offset)?;
    let title = |code: u32, f: &mut fmt::Formatter<'_>| match name(code) {
        Some(name) => f.write_str(name),
        None => write!(f, "op {code:#x}"),
    };
    match &piece.what {
        What::Packet(packet) => {
            packet.show(piece.gfx, f)?;
            more(packet, f)?;
            match piece.unexplained() {
                Some((word, bits)) => write!(f, " !dw{word} has {bits:#x}"),
                None => Ok(()),
            }
        }
        What::Filler => f.write_str("filler"),
        What::Unknown { code } => {
            title(*code, f)?;
            write!(f, ": {} dwords of an unknown packet:", piece.words.len())?;
            show_words(piece.words, f)
        }
        What::WrongLength { code, expected } => {
            title(*code, f)?;
            write!(f, ": {} dwords, expected {expected}:", piece.words.len())?;
            show_words(piece.words, f)
        }
        What::Truncated { code, needed } => {
            title(*code, f)?;
            write!(f, ": cut off, {} of {needed} dwords:", piece.words.len())?;
            show_words(piece.words, f)
        }
        What::NotAPacket { kind } => {
            write!(f, "not a packet (type {kind}):")?;
            show_words(piece.words, f)
        }
    }
}

impl fmt::Display for Decoded<'_, Packet<'_>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self, opcode::name, |packet, f| more(packet, self.gfx, f), f)?;
        let header = self.header();
        if matches!(self.what, What::Packet(_)) && header.predicate {
            f.write_str(" predicate")?;
        }
        Ok(())
    }
}

/// Data of packets, and names of registers whose place is an address in other packets.
fn more(packet: &Packet<'_>, gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let register = |field: &str, address: u64, f: &mut fmt::Formatter<'_>| {
        let named = u32::try_from(address).ok().and_then(|address| Register(address).named(gfx));
        named.map_or(Ok(()), |named| write!(f, " ({field} is {named})"))
    };
    match packet {
        Packet::SetShReg(packet) => show_registers(packet.register, packet.values, gfx, f),
        Packet::SetShRegIndex(packet) => show_registers(packet.register, packet.values, gfx, f),
        Packet::SetUconfigReg(packet) => show_registers(packet.register, packet.values, gfx, f),
        Packet::SetUconfigRegIndex(packet) => show_registers(packet.register, packet.values, gfx, f),
        Packet::Nop(packet) => show_words(packet.payload, f),
        Packet::WriteData(packet) => {
            if packet.dst_sel == WriteDest::REGISTER {
                register("dst", packet.dst, f)?;
            }
            show_words(packet.values, f)
        }
        Packet::CopyData(packet) => {
            if matches!(packet.src_sel, CopySource::REGISTER | CopySource::PERFCOUNTER) {
                register("src", packet.src, f)?;
            }
            if matches!(packet.dst_sel, CopyDest::REGISTER | CopyDest::PERFCOUNTER) {
                register("dst", packet.dst, f)?;
            }
            Ok(())
        }
        Packet::WaitRegMem(packet)
            if packet.mem_space == MemSpace::REGISTER && packet.operation == WaitOperation::WAIT_REG_MEM =>
        {
            register("poll_addr", packet.poll_addr, f)
        }
        Packet::WaitRegMem64(packet)
            if packet.mem_space == MemSpace::REGISTER && packet.operation == WaitOperation::WAIT_REG_MEM =>
        {
            register("poll_addr", packet.poll_addr, f)
        }
        _ => Ok(()),
    }
}

fn show_registers(first: Register, values: &[u32], gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (register, value) in (0..).map(|n| first.plus(n)).zip(values).take(4 * SHOWN) {
        f.write_str(" ")?;
        register.show_value(gfx, *value, f)?;
    }
    let left = values.len().saturating_sub(4 * SHOWN);
    if left == 0 { Ok(()) } else { write!(f, " ... {left} more") }
}
