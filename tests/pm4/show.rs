//! The text for humans.

use rocdxg::pm4::{Gfx, decode, sdma};

fn shown(gfx: Gfx, words: &[u32]) -> Vec<String> {
    decode(gfx, words).map(|piece| piece.to_string()).collect()
}

#[test]
fn a_dispatch() {
    let words = [
        0xc000_4602,
        0x407,
        0xc006_5802,
        0,
        u32::MAX,
        0xff,
        0,
        0,
        4,
        0x18000,
        0xc003_7602,
        0x207,
        64,
        1,
        1,
        0xc001_7602,
        0x218,
        0x0000_2020,
        0xc003_1502,
        0x10000,
        1,
        1,
        0x8025,
        0xc007_1e02,
        0x0600_002f,
        0x1008,
        0x7f,
        u32::MAX,
        u32::MAX,
        0,
        0,
        0,
    ];
    let lines = shown(Gfx::Gfx11, &words);
    let expected = [
        "00000: EVENT_WRITE event_type=CS_PARTIAL_FLUSH event_index=PARTIAL_FLUSH",
        "00002: ACQUIRE_MEM coher_size=0xffffffffff coher_base=0 poll_interval=4 gcr_cntl=0x18000{GL2_WB=0x1 SEQ=0x1}",
        "0000a: SET_SH_REG register=COMPUTE_NUM_THREAD_X values[3] COMPUTE_NUM_THREAD_X=0x40 COMPUTE_NUM_THREAD_Y=0x1 \
         COMPUTE_NUM_THREAD_Z=0x1",
        "0000f: SET_SH_REG register=COMPUTE_TMPRING_SIZE values[1] COMPUTE_TMPRING_SIZE=0x2020{WAVES=0x20 WAVESIZE=0x2}",
        "00012: DISPATCH_DIRECT dim_x=0x10000 dim_y=1 dim_z=1 compute_shader_en=1 force_start_at_000=1 \
         use_thread_dimensions=1 cs_w32_en=1",
        "00017: ATOMIC_MEM atomic=ADD_64 command=SINGLE_PASS cache_policy=BYPASS addr=0x7f00001008 \
         src_data=0xffffffffffffffff cmp_data=0 loop_interval=0",
    ];
    assert_eq!(lines, expected);
    // The same bits are another thing on gfx12.
    assert!(shown(Gfx::Gfx12, &words)[5].contains("cache_policy=LU"));
}

#[test]
fn registers_of_other_packets() {
    let copy = [0xc004_4000, 0x0000_0500, 0xd1c2, 0, 0x1000, 0];
    assert!(shown(Gfx::Gfx11, &copy)[0].ends_with("src=0xd1c2 dst=4096 (src is SQ_PERFCOUNTER1_LO)"));
    let write = [0xc003_3700, 0, 0xc200, 0, 0xe000_0000];
    assert!(shown(Gfx::Gfx11, &write)[0].ends_with("(dst is GRBM_GFX_INDEX) e0000000"));
    let wait = [0xc005_3c00, 3, 0xd808, 0, 1, 1, 4];
    assert!(shown(Gfx::Gfx12, &wait)[0].ends_with("(poll_addr is CP_PERFMON_CNTL_1)"));
    let unknown = [0xc001_7902, 0x3fff, 1];
    assert_eq!(shown(Gfx::Gfx11, &unknown), ["00000: SET_UCONFIG_REG register=0xffff values[1] 0xffff=0x1"]);
}

#[test]
fn what_is_odd() {
    let lines =
        shown(Gfx::Gfx11, &[0x8000_0000, 0xc000_0102, 9, 0xc001_4602, 1, 2, 0xc000_4603, 0x8000_0407, 0, 0xc005_5802]);
    let expected = [
        "00000: filler",
        "00001: op 0x1: 2 dwords of an unknown packet: c0000102 00000009",
        "00003: EVENT_WRITE: 3 dwords, expected 2: c0014602 00000001 00000002",
        "00006: EVENT_WRITE event_type=CS_PARTIAL_FLUSH event_index=PARTIAL_FLUSH !dw1 has 0x80000000 predicate",
        "00008: not a packet (type 0): 00000000",
        "00009: ACQUIRE_MEM: cut off, 1 of 7 dwords: c0055802",
    ];
    assert_eq!(lines, expected);
    let nop = shown(Gfx::Gfx11, &[vec![0xc00a_1000], vec![1; 11]].concat());
    assert!(nop[0].ends_with(" ... 3 more"), "{nop:?}");
}

#[test]
fn sdma_streams() {
    let words = [
        0xb000_0008,
        0x1000,
        0,
        1,
        u32::MAX,
        0x0fff_0004,
        0x5e00_000a,
        0x1008,
        0,
        u32::MAX,
        u32::MAX,
        0,
        0,
        0,
        0xff,
        1,
    ];
    let lines: Vec<_> = sdma::decode(Gfx::Gfx11, &words).map(|piece| piece.to_string()).collect();
    let expected = [
        "00000: POLL_REGMEM hdp_flush=0 func=EQUAL mem_poll=1 addr=4096 value=1 mask=0xffffffff interval=4 retry_count=4095",
        "00006: ATOMIC is_loop=0 operation=ADD_64 addr=4104 src_data=0xffffffffffffffff cmp_data=0 loop_interval=0",
        "0000e: op 0xff: 2 dwords of an unknown packet: 000000ff 00000001",
    ];
    assert_eq!(lines, expected);
}
