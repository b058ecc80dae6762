//! The packets of SDMA engines: those that ROCr emits, and WRITE (queues-pm4.md section 3).
//!
//! The first dword is `op | sub_op << 8` and fields of the packet. Nothing in it says how long an unknown packet is, so
//! that nothing behind one can be read.

use super::Gfx;
use super::decode::{Decoded, Decoder, What, announced, show, show_words};
use super::layout::{Encode, Engine, Error, Places, Show, Value, at};
use super::table::{Found, packets};
use super::values::{AtomicOp, Function};
use core::fmt;

/// The engine that reads SDMA packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sdma;

impl Engine for Sdma {
    fn header(self, code: u32, _dwords: usize) -> Result<u32, Error> {
        Ok(code)
    }

    fn is(code: u32, header: u32) -> bool {
        header & Self::header_mask(code) == code
    }

    fn header_mask(code: u32) -> u32 {
        code | 0xffff
    }
}

/// Most bytes of one copy or fill that ROCr makes for engines whose counts have 22 bits.
pub const MAX_COPY_22: u32 = 0x3f_ffe0;

packets! {
    /// A packet of SDMA.
    enum Packet for Sdma;

    /// Nothing; its payload is skipped. A dword of 0 is one.
    0x0000 NOP Nop<'a> [1, 1, 1, 1] {
    }
    data /// Dwords that are skipped; at most 0x3fff.
    payload: &'a [u32], counted at(0, 16, 14);

    /// Copy bytes.
    0x0001 COPY_LINEAR CopyLinear [7, 7, 7, 7] {
        /// Number of bytes, at least 1. 30 bits are written; engines before SDMA 5.2, and so every gfx9 before gfx9.4
        /// and gfx10.1, take 22, which the caller keeps to ([`MAX_COPY_22`]).
        count: u32 = at(1, 0, 30).less(1);
        /// Parameters of the access: swapping and cache policies, which the reference does not tell apart.
        parameter: u32 = at(2, 0, 32);
        /// Address of the source.
        src: u64 = at(3, 0, 64);
        /// Address of the destination.
        dst: u64 = at(5, 0, 64);
    }

    /// Copy a box of elements.
    0x0401 COPY_LINEAR_RECT CopyLinearRect [13, 13, 13, 13] {
        /// Logarithm of the element's size in bytes.
        element: u8 = at(0, 29, 3);
        /// Address of the source.
        src: u64 = at(1, 0, 64);
        /// First element in x.
        src_x: u16 = at(3, 0, 14).then(Gfx::Gfx12, at(3, 0, 16));
        /// First element in y.
        src_y: u16 = at(3, 16, 14).then(Gfx::Gfx12, at(3, 16, 16));
        /// First element in z.
        src_z: u16 = at(4, 0, 11).then(Gfx::Gfx12, at(4, 0, 14));
        /// Elements of a row, at least 1.
        src_pitch: u32 = at(4, 13, 19).then(Gfx::Gfx12, at(4, 16, 16)).less(1);
        /// Elements of a slice, at least 1.
        src_slice_pitch: u64 = at(5, 0, 28).then(Gfx::Gfx12, at(5, 0, 32)).less(1);
        /// Address of the destination.
        dst: u64 = at(6, 0, 64);
        /// First element in x.
        dst_x: u16 = at(8, 0, 14).then(Gfx::Gfx12, at(8, 0, 16));
        /// First element in y.
        dst_y: u16 = at(8, 16, 14).then(Gfx::Gfx12, at(8, 16, 16));
        /// First element in z.
        dst_z: u16 = at(9, 0, 11).then(Gfx::Gfx12, at(9, 0, 14));
        /// Elements of a row, at least 1.
        dst_pitch: u32 = at(9, 13, 19).then(Gfx::Gfx12, at(9, 16, 16)).less(1);
        /// Elements of a slice, at least 1.
        dst_slice_pitch: u64 = at(10, 0, 28).then(Gfx::Gfx12, at(10, 0, 32)).less(1);
        /// Elements that are copied in x, at least 1.
        rect_x: u32 = at(11, 0, 14).then(Gfx::Gfx12, at(11, 0, 16)).less(1);
        /// Elements that are copied in y, at least 1.
        rect_y: u32 = at(11, 16, 14).then(Gfx::Gfx12, at(11, 16, 16)).less(1);
        /// Slices that are copied, at least 1.
        rect_z: u32 = at(12, 0, 11).then(Gfx::Gfx12, at(12, 0, 14)).less(1);
        /// Cache policy of the destination.
        dst_cache_policy: u8 = at(12, 20, 3).since(Gfx::Gfx12);
        /// Cache policy of the source.
        src_cache_policy: u8 = at(12, 28, 3).since(Gfx::Gfx12);
    }

    /// Write dwords. The count has 20 bits (Linux' SDMA packet headers).
    0x0002 WRITE_LINEAR WriteLinear<'a> [4, 4, 4, 4] {
        /// Address; a multiple of 4.
        dst: u64 = at(1, 2, 62).low(2);
    }
    data /// What is written; at least one dword.
    values: &'a [u32], counted at(3, 0, 20).less(1);

    /// Write one dword when what is before it is done.
    0x0005 FENCE Fence [4, 4, 4, 4] {
        /// Memory type of the access; two bits on gfx12 (ROCr's header).
        mtype: u8 = at(0, 16, 3).since(Gfx::Gfx10).then(Gfx::Gfx12, at(0, 16, 2));
        /// Address; a multiple of 4.
        addr: u64 = at(1, 2, 62).low(2);
        /// What is written.
        data: u32 = at(3, 0, 32);
    }

    /// Raise an interrupt.
    0x0006 TRAP Trap [2, 2, 2, 2] {
        /// Context of the interrupt: the id of an event.
        int_ctx: u32 = at(1, 0, 28);
    }

    /// Wait for a value, or flush the host path when `hdp_flush` is set.
    0x0008 POLL_REGMEM PollRegmem [6, 6, 6, 6] {
        /// Flush the host data path.
        hdp_flush: bool = at(0, 26, 1);
        /// Comparison that ends the wait: masked value, then reference.
        func: Function = at(0, 28, 3);
        /// Memory is read, and not a register.
        mem_poll: bool = at(0, 31, 1);
        /// Address in bytes.
        addr: u64 = at(1, 0, 64);
        /// Reference.
        value: u32 = at(3, 0, 32);
        /// Bits that count.
        mask: u32 = at(4, 0, 32);
        /// Interval between two reads, in the hardware's unit.
        interval: u16 = at(5, 0, 16);
        /// Number of reads; 0xfff for ever.
        retry_count: u16 = at(5, 16, 12);
    }

    /// Atomic operation on memory.
    0x000a ATOMIC Atomic [8, 8, 8, 8] {
        /// `l`: again until the comparison is satisfied (ROCr's header).
        is_loop: bool = at(0, 16, 1);
        /// Operation.
        operation: AtomicOp = at(0, 25, 7);
        /// Address; a multiple of what the operation works on.
        addr: u64 = at(1, 0, 64);
        /// Operand.
        src_data: u64 = at(3, 0, 64);
        /// What it is compared with.
        cmp_data: u64 = at(5, 0, 64);
        /// Interval between two tries of a loop, in the hardware's unit.
        loop_interval: u16 = at(7, 0, 13);
    }
    check check_atomic;

    /// Fill memory with one value.
    0x000b CONST_FILL ConstFill [5, 5, 5, 5] {
        /// Size of the value: 0 a byte, 2 a dword.
        fill_size: u8 = at(0, 30, 2);
        /// Address.
        dst: u64 = at(1, 0, 64);
        /// Value.
        data: u32 = at(3, 0, 32);
        /// Number of bytes less the size of one value: bytes - 4 for dwords.
        count: u32 = at(4, 0, 22);
    }

    /// Write the clock, 64 bits.
    0x020d TIMESTAMP_GET_GLOBAL TimestampGetGlobal [3, 3, 3, 3] {
        /// Address; a multiple of 8.
        addr: u64 = at(1, 3, 61).low(3);
    }

    /// Act on caches over a range of addresses (layout of ROCr's header). Never sent on WSL.
    0x0111 GCR Gcr [0, 5, 5, 5] {
        /// Start; a multiple of 128 below 1 << 48.
        base_va: u64 = at(1, 7, 41).low(7);
        /// Bits 0 to 15 of [`super::GcrCntl`].
        gcr_control: u16 = at(2, 16, 16);
        /// The range is physical.
        range_is_pa: bool = at(3, 0, 1);
        /// Order of the actions, as `SEQ` of [`super::GcrCntl`].
        seq: u8 = at(3, 1, 2);
        /// End; a multiple of 128 below 1 << 48.
        limit_va: u64 = at(3, 7, 41).low(7);
        /// Address space.
        vmid: u8 = at(4, 24, 4);
    }

    /// End of a stream on a native queue: a fence, and an interrupt when the reference says so (branch, section 3). Bit
    /// 31 of its header is part of its code.
    0x8000_0105 FENCE_CONDITIONAL_INTERRUPT FenceConditionalInterrupt [0, 0, 0, 8] {
        /// Address of the fence.
        addr: u64 = at(1, 0, 64);
        /// What is written to it.
        id: u64 = at(3, 0, 64);
        /// Address of the reference.
        reference_addr: u64 = at(5, 0, 64);
        /// Context of the interrupt.
        int_ctx: u32 = at(7, 0, 32);
    }
}

fn check_atomic(packet: &Atomic, _: Gfx) -> Result<(), Error> {
    let size = if packet.operation.is_64() { 8 } else { 4 };
    if packet.addr.is_multiple_of(size) { Ok(()) } else { Err(Error::Value { field: "addr", value: packet.addr }) }
}

/// The pieces of a stream of SDMA packets, from its start.
pub fn decode(gfx: Gfx, words: &[u32]) -> Decoder<'_, Packet<'_>> {
    Decoder { gfx, words, offset: 0, first }
}

/// The first piece of what is left of a stream; an unknown one is all of it.
fn first(gfx: Gfx, rest: &[u32]) -> Option<(usize, What<Packet<'_>>)> {
    let code = *rest.first()? & 0xffff;
    Some(match Packet::declared(gfx, rest) {
        None => (rest.len(), What::Unknown { code }),
        Some(needed) => announced(rest, code, needed, |words| Packet::find(gfx, words)),
    })
}

impl fmt::Display for Decoded<'_, Packet<'_>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data = |packet: &Packet<'_>, f: &mut fmt::Formatter<'_>| match packet {
            Packet::Nop(packet) => show_words(packet.payload, f),
            Packet::WriteLinear(packet) => show_words(packet.values, f),
            _ => Ok(()),
        };
        show(self, |_| None, data, f)
    }
}
