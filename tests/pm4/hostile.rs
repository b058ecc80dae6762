//! Streams that are anything: the decoders neither panic nor leave anything over; buffers that are too small.

use crate::encoded;
use proptest::prelude::*;
use rocdxg::pm4::packet::*;
use rocdxg::pm4::{CachePolicy, Encode, Encoder, Error, Gfx, Pm4, Show, What, decode, opcode, registers, sdma};
use std::fmt::Display;

/// Dwords that are often headers, of any length.
fn word() -> impl Strategy<Value = u32> {
    let known = prop::sample::select(opcode::NAMES.iter().map(|(code, _)| *code).collect::<Vec<_>>());
    prop_oneof![
        1 => any::<u32>(),
        6 => (known, 0u32..12, 0u32..4).prop_map(|(code, count, bits)| 3 << 30 | count << 16 | code << 8 | bits),
        6 => (prop::sample::select(vec![0u32, 1, 0x401, 2, 5, 6, 8, 10, 11, 0x20d, 0x111]), 0u32..6)
            .prop_map(|(code, count)| count << 16 | code),
        2 => prop::sample::select(vec![0xffff_1000, 0x8000_0000, 0, u32::MAX, 0xffff_ffff - 0x3fff]),
    ]
}

/// Whether the pieces are the stream without gap; each is shown.
fn covers<'a, P: Display>(words: &[u32], pieces: impl Iterator<Item = (usize, &'a [u32], P)>) -> bool {
    let mut next = 0;
    for (offset, piece, shown) in pieces {
        assert_eq!(offset, next);
        assert!(!piece.is_empty());
        assert_eq!(piece, &words[offset..offset + piece.len()]);
        assert!(!shown.to_string().is_empty());
        next += piece.len();
    }
    next == words.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_dwords_are_read_to_the_end(words in prop::collection::vec(word(), 0..64)) {
        for gfx in Gfx::ALL {
            prop_assert!(covers(&words, decode(gfx, &words).map(|piece| (piece.offset, piece.words, piece))));
            prop_assert!(covers(&words, sdma::decode(gfx, &words).map(|piece| (piece.offset, piece.words, piece))));
        }
    }

    #[test]
    fn a_buffer_that_is_too_small_stays_as_it_is(room in 0usize..8, before in 0usize..3) {
        let packet = AtomicMem::add_64(0x1000, -1, CachePolicy::BYPASS);
        let mut words = vec![0; 2 * before + room];
        let mut encoder = Encoder::new(Gfx::Gfx11, Pm4::COMPUTE, &mut words);
        for _ in 0..before {
            encoder.put(&EventWrite::CS_PARTIAL_FLUSH).expect("room");
        }
        let left = room;
        prop_assert_eq!(encoder.put(&packet), Err(Error::Room { needed: 9, left }));
        prop_assert_eq!(encoder.used(), 2 * before);
        prop_assert_eq!(encoder.left(), room);
        prop_assert_eq!(encoder.written(), [0xc000_4602, 0x407].repeat(before));
    }
}

#[test]
fn a_sequence_can_be_taken_back() {
    let mut words = [0; 8];
    let mut encoder = Encoder::new(Gfx::Gfx11, Pm4::COMPUTE, &mut words);
    encoder.put(&EventWrite::CS_PARTIAL_FLUSH).expect("room");
    let mark = encoder.used();
    encoder.put(&DispatchDirect::work_items(1, 1, 1, false)).expect("room");
    assert_eq!(encoder.put(&EventWrite::CS_PARTIAL_FLUSH), Err(Error::Room { needed: 2, left: 1 }));
    encoder.rewind(mark);
    encoder.rewind(100);
    assert_eq!(encoder.written(), [0xc000_4602, 0x407]);
    // What was there before is not seen through the next packet.
    encoder.put(&Nop { payload: &[0; 4] }).expect("room");
    assert_eq!(encoder.written()[2..], [0xc003_1002, 0, 0, 0, 0]);
}

#[test]
fn lengths_that_no_header_can_say() {
    let values = vec![0; 0x4001];
    let register = registers::COMPUTE_USER_DATA.first;
    let put = |n: usize| encoded(Gfx::Gfx11, Pm4::COMPUTE, &SetShReg { register, values: &values[..n] });
    assert_eq!(put(0x3fff).map(|words| words[0] >> 16), Ok(0xffff));
    assert_eq!(put(0x4000), Err(Error::TooLong { dwords: 0x4002 }));
    let nop = |n: usize| encoded(Gfx::Gfx11, Pm4::COMPUTE, &Nop { payload: &values[..n] });
    // A count of 0x3fff makes a NOP one dword long.
    assert_eq!(nop(0x3fff).map(|words| words[0] >> 16), Ok(0xfffe));
    assert_eq!(nop(0x4000), Err(Error::TooLong { dwords: 0x4001 }));
}

#[test]
fn what_is_not_a_packet_is_told() {
    fn what(words: &[u32]) -> Vec<What<Packet<'_>>> {
        decode(Gfx::Gfx11, words).map(|piece| piece.what).collect()
    }
    assert_eq!(what(&[0x8000_0000, 0x4000_0000]), [What::Filler, What::NotAPacket { kind: 1 }]);
    assert_eq!(what(&[0]), [What::NotAPacket { kind: 0 }]);
    assert_eq!(what(&[0xc000_4602]), [What::Truncated { code: 0x46, needed: 2 }]);
    assert_eq!(what(&[0xffff_7602, 0, 0]), [What::Truncated { code: 0x76, needed: 0x4001 }]);
    assert_eq!(what(&[0xc001_4602, 7, 0]), [What::WrongLength { code: 0x46, expected: 2 }]);
    assert_eq!(what(&[0xc000_7602 + (1 << 8), 7]), [What::Unknown { code: 0x77 }]);
    assert_eq!(what(&[0xc000_2302, 7]), [What::Unknown { code: 0x23 }], "PRED_EXEC is of gfx9");
    assert!(matches!(what(&[0xffff_1000, 0xc000_4602, 0x407])[..], [What::Packet(Packet::Nop(_)), What::Packet(_)]));
    let seven = [0xc005_4902, 0x514, 0x4000_0000, 8, 0, 1, 0];
    assert!(matches!(what(&seven)[..], [What::Packet(Packet::ReleaseMem(ReleaseMem { data: 1, int_ctxid: 0, .. }))]));
    // gfx9's acquire is a wrong one later, and the reverse.
    let nine = [0xc005_5802, 0, 0, 0, 0, 0, 4];
    assert_eq!(what(&nine), [What::WrongLength { code: 0x58, expected: 8 }]);
    let sdma = |words: &[u32]| sdma::decode(Gfx::Gfx11, words).map(|piece| piece.words.len()).collect::<Vec<_>>();
    assert_eq!(sdma(&[0, 0, 6, 0, 0xff, 0, 0]), [1, 1, 2, 3]);
    assert_eq!(sdma(&[2, 0, 0]), [3], "no count to read");
    assert_eq!(sdma(&[2, 0, 0, 0x000f_ffff, 1]), [5]);
}

#[test]
fn reserved_bits_are_told() {
    let words = [0xc000_4602, 0x1000_0407];
    let piece = decode(Gfx::Gfx11, &words).next().expect("a piece");
    assert_eq!(piece.unexplained(), Some((1, 0x1000_0000)));
    let words = [0xc000_4606, 0x407];
    assert_eq!(decode(Gfx::Gfx11, &words).next().expect("a piece").unexplained(), Some((0, 4)));
    let dispatch = [0xc003_1502, 1, 1, 1, 0x8025];
    let unexplained = |gfx| decode(gfx, &dispatch).next().expect("a piece").unexplained();
    assert_eq!((unexplained(Gfx::Gfx9), unexplained(Gfx::Gfx10)), (Some((4, 0x8000)), None));
    let packet = EventWrite::CS_PARTIAL_FLUSH;
    assert_eq!((packet.explained(Gfx::Gfx9, 0), packet.explained(Gfx::Gfx9, 2)), (0xffff_ff03, 0));
    assert_eq!(packet.dwords(Gfx::Gfx9), 2);
}
