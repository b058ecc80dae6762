//! Every packet of every generation, with any values of its fields: what is read is written back, bit by bit.

use crate::encoded;
use proptest::prelude::*;
use rocdxg::pm4::{Encode, Engine, Error, Gfx, Pm4, Show, What, opcode, packet, sdma};
use std::fmt::Debug;

/// `words`, which are one packet, and what was read from them.
fn round_trip<E: Engine, P>(gfx: Gfx, engine: E, words: &[u32], packet: &P, reread: impl Fn(&[u32]) -> Option<bool>)
where
    P: Encode<Engine = E> + Show + Debug,
{
    match encoded(gfx, engine, packet) {
        Ok(written) => {
            let explained = words.iter().enumerate().map(|(i, word)| word & packet.explained(gfx, i));
            assert_eq!(written, explained.collect::<Vec<_>>(), "{gfx} {packet:?}");
            assert_eq!(reread(&written), Some(true), "{gfx} {packet:?}");
        }
        Err(Error::Value { field: "addr" | "src" | "dst" | "poll_addr", value }) => assert_ne!(value % 8, 0),
        Err(error) => panic!("{gfx} {packet:?}: {error}"),
    }
}

fn pm4(gfx: Gfx, code: u32, body: &[u32], data: usize, align: bool) -> Option<&'static str> {
    let head = 3 << 30 | code << 8;
    let fixed = packet::Packet::declared(gfx, &[head])?;
    for data in [data, 0] {
        let mut words = body[..fixed + data].to_vec();
        let bits = body[0] & 3;
        let engine = Pm4 { shader_type: bits & 2 != 0, predicate: bits & 1 != 0 };
        words[0] = opcode::header(engine, code, words.len()).expect("short");
        if align {
            words.iter_mut().skip(1).for_each(|word| *word &= !7);
        }
        let mut pieces = rocdxg::pm4::decode(gfx, &words);
        let piece = pieces.next().expect("a piece");
        assert_eq!((piece.words, piece.header(), pieces.next()), (&words[..], engine, None));
        match piece.what {
            What::Packet(packet) => {
                round_trip(gfx, engine, &words, &packet, |written| {
                    match rocdxg::pm4::decode(gfx, written).next()?.what {
                        What::Packet(again) => Some(again == packet),
                        _ => None,
                    }
                });
                return Some(packet.name());
            }
            What::WrongLength { expected, .. } if data != 0 => assert_eq!(expected, fixed),
            what => panic!("{gfx} {code:#x}: {what:?}"),
        }
    }
    panic!("{gfx} {code:#x} has no length");
}

fn sdma(gfx: Gfx, code: u32, body: &[u32], data: usize, align: bool) -> Option<&'static str> {
    let mut words = body.to_vec();
    words[0] = words[0] & 0xffff_0000 | code;
    if align {
        words.iter_mut().skip(1).for_each(|word| *word &= !7);
    }
    match code & 0xffff {
        0 => words[0] = (data as u32) << 16,
        2 => words[3] = words[3] & 0xfff0_0000 | data as u32,
        _ => {}
    }
    words.truncate(sdma::Packet::declared(gfx, &words)?);
    let mut pieces = sdma::decode(gfx, &words);
    let piece = pieces.next().expect("a piece");
    assert_eq!((piece.words, pieces.next()), (&words[..], None));
    let What::Packet(packet) = piece.what else { panic!("{gfx} {code:#x}: {:?}", piece.what) };
    round_trip(gfx, sdma::Sdma, &words, &packet, |written| match sdma::decode(gfx, written).next()?.what {
        What::Packet(again) => Some(again == packet),
        _ => None,
    });
    Some(packet.name())
}

const SDMA_CODES: [u32; 12] = [0, 1, 0x401, 2, 5, 6, 8, 10, 11, 0x20d, 0x111, 0x8000_0105];

fn names(gfx: Gfx, body: &[u32], data: usize, align: bool) -> (Vec<&'static str>, Vec<&'static str>) {
    let pm4 = (0..0x100).filter_map(|code| pm4(gfx, code, body, data, align)).collect();
    let sdma = SDMA_CODES.iter().filter_map(|code| sdma(gfx, *code, body, data, align)).collect();
    (pm4, sdma)
}

proptest! {
    #[test]
    fn every_packet_of_every_generation(
        body in prop::collection::vec(any::<u32>(), 40..48),
        data in 1usize..20,
        align in any::<bool>(),
    ) {
        for gfx in Gfx::ALL {
            names(gfx, &body, data, align);
        }
    }
}

/// The packets of each generation; that the round trips above are made of all of them.
#[test]
fn the_packets_are_these() {
    let every = [
        "NOP",
        "DISPATCH_DIRECT",
        "DISPATCH_INDIRECT",
        "ATOMIC_MEM",
        "COND_EXEC",
        "PRED_EXEC",
        "WRITE_DATA",
        "WAIT_REG_MEM",
        "INDIRECT_BUFFER",
        "COPY_DATA",
        "PFP_SYNC_ME",
        "EVENT_WRITE",
        "RELEASE_MEM",
        "DMA_DATA",
        "ACQUIRE_MEM",
        "SET_SH_REG",
        "SET_UCONFIG_REG",
        "SET_UCONFIG_REG_INDEX",
        "WAIT_REG_MEM64",
        "SET_SH_REG_INDEX",
    ];
    let sdma = [
        "NOP",
        "COPY_LINEAR",
        "COPY_LINEAR_RECT",
        "WRITE_LINEAR",
        "FENCE",
        "TRAP",
        "POLL_REGMEM",
        "ATOMIC",
        "CONST_FILL",
        "TIMESTAMP_GET_GLOBAL",
        "GCR",
        "FENCE_CONDITIONAL_INTERRUPT",
    ];
    for gfx in Gfx::ALL {
        let (pm4_names, sdma_names) = names(gfx, &[0; 48], 1, false);
        let mut expected = every.to_vec();
        expected.retain(|name| gfx == Gfx::Gfx9 || *name != "PRED_EXEC");
        assert_eq!(pm4_names, expected, "{gfx}");
        let mut expected = sdma.to_vec();
        expected.retain(|name| match *name {
            "GCR" => gfx >= Gfx::Gfx10,
            "FENCE_CONDITIONAL_INTERRUPT" => gfx == Gfx::Gfx12,
            _ => true,
        });
        assert_eq!(sdma_names, expected, "{gfx}");
    }
    for name in every {
        assert!(opcode::NAMES.iter().any(|(_, known)| *known == name), "{name} has no opcode");
    }
    assert!(opcode::NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0), "names are not in order");
}
