//! SDMA: dwords of section 3 written out by hand.

use crate::encoded;
use rocdxg::pm4::sdma::*;
use rocdxg::pm4::{AtomicOp, Encode, Error, Function, Gfx};

fn same(gfxs: &[Gfx], packet: &impl Encode<Engine = Sdma>, words: &[u32]) {
    for gfx in gfxs {
        assert_eq!(encoded(*gfx, Sdma, packet).as_deref(), Ok(words), "{gfx} {}", packet.name());
    }
}

#[test]
fn every_packet() {
    let all = &Gfx::ALL;
    same(all, &Nop::default(), &[0]);
    same(all, &Nop { payload: &[5, 6] }, &[2 << 16, 5, 6]);
    let copy = CopyLinear { count: MAX_COPY_22, parameter: 0, src: 0x1_0000_0002, dst: 0x3_0000_0004 };
    same(all, &copy, &[1, 0x3f_ffdf, 0, 2, 1, 4, 3]);
    same(all, &WriteLinear { dst: 0x1_0000_0004, values: &[7, 8, 9] }, &[2, 4, 1, 2, 7, 8, 9]);
    same(all, &Fence { mtype: 0, addr: 0x1_0000_0004, data: 9 }, &[5, 4, 1, 9]);
    same(&all[1..], &Fence { mtype: 3, addr: 4, data: 9 }, &[0x3_0005, 4, 0, 9]);
    same(&all[1..3], &Fence { mtype: 7, addr: 4, data: 9 }, &[0x7_0005, 4, 0, 9]);
    same(all, &Trap { int_ctx: 0xfff_ffff }, &[6, 0xfff_ffff]);
    let poll = PollRegmem {
        func: Function::EQUAL,
        mem_poll: true,
        addr: 0x1_0000_0004,
        value: 2,
        mask: 3,
        interval: 0x1234,
        retry_count: 0xfff,
        ..PollRegmem::default()
    };
    same(all, &poll, &[0xb000_0008, 4, 1, 2, 3, 0x0fff_1234]);
    let flush = PollRegmem { hdp_flush: true, ..PollRegmem::default() };
    same(all, &flush, &[0x0400_0008, 0, 0, 0, 0, 0]);
    let atomic = Atomic { operation: AtomicOp::ADD_64, addr: 0x1_0000_0008, src_data: u64::MAX, ..Atomic::default() };
    same(all, &atomic, &[0x5e00_000a, 8, 1, u32::MAX, u32::MAX, 0, 0, 0]);
    let atomic = Atomic { is_loop: true, cmp_data: 0x2_0000_0001, loop_interval: 0x1fff, ..Atomic::default() };
    same(all, &atomic, &[0x1_000a, 0, 0, 0, 0, 1, 2, 0x1fff]);
    let fill = ConstFill { fill_size: 2, dst: 0x1_0000_0004, data: 9, count: 0x3f_fffc };
    same(all, &fill, &[0x8000_000b, 4, 1, 9, 0x3f_fffc]);
    same(all, &TimestampGetGlobal { addr: 0x1_0000_0008 }, &[0x20d, 8, 1]);
    let gcr = Gcr {
        base_va: 0x1234_5678_9a80,
        gcr_control: 0xc3f1,
        range_is_pa: true,
        seq: 1,
        limit_va: 0xffff_ffff_ff80,
        vmid: 5,
    };
    same(&all[1..], &gcr, &[0x111, 0x5678_9a80, 0xc3f1_1234, 0xffff_ff83, 0x0500_ffff]);
    assert_eq!(encoded(Gfx::Gfx9, Sdma, &gcr), Err(Error::NoSuchPacket { packet: "GCR" }));
    let end =
        FenceConditionalInterrupt { addr: 0x1_0000_0002, id: 0x3_0000_0004, reference_addr: 0x5_0000_0006, int_ctx: 7 };
    same(&all[3..], &end, &[0x8000_0105, 2, 1, 4, 3, 6, 5, 7]);
}

#[test]
fn rectangles() {
    let rect = CopyLinearRect {
        element: 2,
        src: 0x1_0000_0002,
        src_x: 3,
        src_y: 4,
        src_z: 5,
        src_pitch: 6,
        src_slice_pitch: 7,
        dst: 0x8_0000_0009,
        dst_x: 10,
        dst_y: 11,
        dst_z: 12,
        dst_pitch: 13,
        dst_slice_pitch: 14,
        rect_x: 15,
        rect_y: 16,
        rect_z: 17,
        ..CopyLinearRect::default()
    };
    let head = [0x4000_0401, 2, 1, 4 << 16 | 3];
    let mut words = head.to_vec();
    words.extend([5 << 13 | 5, 6, 9, 8, 11 << 16 | 10, 12 << 13 | 12, 13, 15 << 16 | 14, 16]);
    same(&Gfx::ALL[..3], &rect, &words);
    let twelve = CopyLinearRect { dst_cache_policy: 5, src_cache_policy: 6, ..rect };
    let mut words = head.to_vec();
    words.extend([5 << 16 | 5, 6, 9, 8, 11 << 16 | 10, 12 << 16 | 12, 13, 15 << 16 | 14, 6 << 28 | 5 << 20 | 16]);
    same(&Gfx::ALL[3..], &twelve, &words);
    let field = "dst_cache_policy";
    assert_eq!(encoded(Gfx::Gfx11, Sdma, &twelve), Err(Error::NoSuchField { field }));
    for (rect, field, value) in [
        (CopyLinearRect { src_x: 0x4000, ..rect }, "src_x", 0x4000),
        (CopyLinearRect { rect_z: 0x801, ..rect }, "rect_z", 0x801),
        (CopyLinearRect { src_pitch: 0, ..rect }, "src_pitch", 0),
    ] {
        assert_eq!(encoded(Gfx::Gfx11, Sdma, &rect), Err(Error::Value { field, value }));
    }
}

#[test]
fn counts_have_bounds() {
    let unfit = |field, value| Err(Error::Value { field, value });
    assert_eq!(encoded(Gfx::Gfx11, Sdma, &CopyLinear::default()), unfit("count", 0));
    let long = CopyLinear { count: (1 << 30) + 1, ..CopyLinear::default() };
    assert_eq!(encoded(Gfx::Gfx11, Sdma, &long), unfit("count", (1 << 30) + 1));
    assert_eq!(encoded(Gfx::Gfx11, Sdma, &WriteLinear::default()), unfit("values", 0));
    assert_eq!(encoded(Gfx::Gfx11, Sdma, &WriteLinear { dst: 2, values: &[1] }), unfit("dst", 2));
    let payload = vec![0; 0x4000];
    assert_eq!(encoded(Gfx::Gfx11, Sdma, &Nop { payload: &payload }), unfit("payload", 0x4000));
    assert!(encoded(Gfx::Gfx11, Sdma, &Nop { payload: &payload[1..] }).is_ok());
    let misaligned = Atomic { operation: AtomicOp::ADD_64, addr: 4, ..Atomic::default() };
    assert_eq!(encoded(Gfx::Gfx11, Sdma, &misaligned), unfit("addr", 4));
}
