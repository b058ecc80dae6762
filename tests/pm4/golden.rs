//! Dwords that queues-pm4.md gives literally: 2.2, 2.3, 2.5, 4.1, 4.4, and the frame sizes of 2.7.

use crate::{compute, encoded};
use rocdxg::pm4::packet::*;
use rocdxg::pm4::register_fields::{cp_perfmon_cntl, grbm_gfx_index, sq_perfcounter_ctrl2};
use rocdxg::pm4::registers::{self, Register, Run};
use rocdxg::pm4::*;

const ADDRESS: u64 = 0x7f12_3456_7890;
const LO: u32 = 0x3456_7890;
const HI: u32 = 0x7f12;

fn set_sh(run: Run, values: &[u32]) -> Vec<u32> {
    compute(Gfx::Gfx11, &SetShReg { register: run.first, values })
}

#[test]
fn partial_flush() {
    for gfx in Gfx::ALL {
        assert_eq!(compute(gfx, &EventWrite::CS_PARTIAL_FLUSH), [0xc000_4602, 0x407]);
        assert_eq!(encoded(gfx, Pm4::PLAIN, &EventWrite::CS_PARTIAL_FLUSH), Ok(vec![0xc000_4600, 0x407]));
    }
}

#[test]
fn dispatch_of_work_items() {
    let dispatch = |gfx, wave32| encoded(gfx, Pm4::COMPUTE, &DispatchDirect::work_items(1024, 8, 3, wave32));
    for gfx in Gfx::ALL {
        assert_eq!(dispatch(gfx, false), Ok(vec![0xc003_1502, 1024, 8, 3, 0x25]));
    }
    assert_eq!(dispatch(Gfx::Gfx12, true), Ok(vec![0xc003_1502, 1024, 8, 3, 0x8025]));
    assert_eq!(dispatch(Gfx::Gfx9, true), Err(Error::NoSuchField { field: "cs_w32_en" }));
}

#[test]
fn timestamp() {
    let words = compute(Gfx::Gfx11, &CopyData::timestamp(ADDRESS));
    assert_eq!(words, [0xc004_4002, 0x0211_0209, 0, 0, LO, HI]);
}

#[test]
fn signal_and_read_index() {
    let signal = AtomicMem::add_64(ADDRESS, -1, CachePolicy::BYPASS);
    assert_eq!(compute(Gfx::Gfx10, &signal), [0xc007_1e02, 0x0600_002f, LO, HI, u32::MAX, u32::MAX, 0, 0, 0]);
    let read_index = AtomicMem::add_64(ADDRESS, 1, CachePolicy::STREAM);
    assert_eq!(compute(Gfx::Gfx10, &read_index), [0xc007_1e02, 0x0200_002f, LO, HI, 1, 0, 0, 0, 0]);
    let without_atomics = WriteData {
        dst_sel: WriteDest::MEMORY,
        wr_confirm: true,
        cache_policy: CachePolicy::BYPASS,
        dst: ADDRESS,
        values: &[7, 0],
        ..WriteData::default()
    };
    assert_eq!(compute(Gfx::Gfx10, &without_atomics), [0xc004_3702, 0x0610_0500, LO, HI, 7, 0]);
}

#[test]
fn acquire() {
    let nine = compute(Gfx::Gfx9, &AcquireMem::everything(Gfx::Gfx9));
    assert_eq!(nine, [0xc005_5802, 0x3800_0000, u32::MAX, 0xff, 0, 0, 4]);
    for gfx in [Gfx::Gfx10, Gfx::Gfx11, Gfx::Gfx12] {
        let words = compute(gfx, &AcquireMem::everything(gfx));
        assert_eq!(words, [0xc006_5802, 0, u32::MAX, 0xff, 0, 0, 4, 0x1c3f1]);
    }
    let results = AcquireMem {
        gcr_cntl: GcrCntl::GL2_WRITE_BACK,
        coher_base: ADDRESS >> 8,
        coher_size: 3,
        poll_interval: 0x10,
        ..AcquireMem::default()
    };
    let expected = vec![0xc006_5800, 0, 3, 0, 0x1234_5678, 0x7f, 0x10, 0x18000];
    assert_eq!(encoded(Gfx::Gfx11, Pm4::PLAIN, &results), Ok(expected));
    let caches = [GcrCntl::GL2_WB.set(0, 1), GcrCntl::SEQ.set(0, 1)];
    assert_eq!(caches, [Some(0x8000), Some(0x10000)]);
}

#[test]
fn registers_of_a_dispatch() {
    assert_eq!(set_sh(registers::COMPUTE_NUM_THREAD_X, &[64, 1, 1]), [0xc003_7602, 0x207, 64, 1, 1]);
    assert_eq!(set_sh(registers::COMPUTE_PGM_LO, &[1, 2])[..2], [0xc002_7602, 0x20c]);
    assert_eq!(set_sh(registers::COMPUTE_PGM_RSRC1, &[1, 2])[..2], [0xc002_7602, 0x212]);
    assert_eq!(set_sh(registers::COMPUTE_RESOURCE_LIMITS, &[0; 6])[..2], [0xc006_7602, 0x215]);
    assert_eq!(set_sh(registers::COMPUTE_USER_DATA, &[0; 16])[..2], [0xc010_7602, 0x240]);
    assert_eq!(set_sh(registers::COMPUTE_DISPATCH_SCRATCH_BASE_LO, &[0; 2])[..2], [0xc002_7602, 0x210]);
    assert_eq!(set_sh(registers::COMPUTE_PGM_RSRC3, &[1 << 31]), [0xc001_7602, 0x228, 1 << 31]);
    assert_eq!(set_sh(registers::COMPUTE_PERFCOUNT_ENABLE, &[1]), [0xc001_7602, 0x20b, 1]);
}

#[test]
fn registers_of_counters() {
    let words = |run: Run, value| {
        encoded(Gfx::Gfx11, Pm4::PLAIN, &SetUconfigReg { register: run.first, values: &[value] }).expect("valid")
    };
    assert_eq!(words(registers::GRBM_GFX_INDEX, 0xe000_0000), [0xc001_7900, 0x200, 0xe000_0000]);
    assert_eq!(words(registers::CP_PERFMON_CNTL, 0x401), [0xc001_7900, 0x1808, 0x401]);
    let everything = [
        grbm_gfx_index::SA_BROADCAST_WRITES,
        grbm_gfx_index::INSTANCE_BROADCAST_WRITES,
        grbm_gfx_index::SE_BROADCAST_WRITES,
    ];
    assert_eq!(everything.iter().try_fold(0, |word, field| field.set(word, 1)), Some(0xe000_0000));
    let sample = cp_perfmon_cntl::PERFMON_STATE.set(cp_perfmon_cntl::PERFMON_SAMPLE_ENABLE.mask(), 1);
    assert_eq!(sample, Some(0x401));
    let forced = sq_perfcounter_ctrl2::VMID_EN.set(sq_perfcounter_ctrl2::FORCE_EN.mask(), 0xffff);
    assert_eq!(forced, Some(0x1ffff));
    assert_eq!(sq_perfcounter_ctrl2::VMID_EN.set(0, 0x10000), None);
}

/// 4.5: of every block the address that the table gives, and those that differ between generations.
#[test]
fn addresses_of_counters() {
    let named = |gfx, address| Register(address).named(gfx).map(|named| named.to_string());
    let at = |gfx, address, name: &str| assert_eq!(named(gfx, address).as_deref(), Some(name), "{gfx} {address:#x}");
    for gfx in [Gfx::Gfx10, Gfx::Gfx11, Gfx::Gfx12] {
        at(gfx, 0xd840, "GRBM_PERFCOUNTER0_SELECT");
        at(gfx, 0xd841, "GRBM_PERFCOUNTER1_SELECT");
        at(gfx, 0xd040, "GRBM_PERFCOUNTER0_LO");
        at(gfx, 0xd043, "GRBM_PERFCOUNTER1_LO");
        at(gfx, 0xd9c2, "SQ_PERFCOUNTER2_SELECT");
        at(gfx, 0xd1c2, "SQ_PERFCOUNTER1_LO");
        at(gfx, 0xd9e0, "SQ_PERFCOUNTER_CTRL");
        at(gfx, 0xd9e2, "SQ_PERFCOUNTER_CTRL2");
        at(gfx, 0xdb84, "GL2C_PERFCOUNTER2_SELECT");
        at(gfx, 0xd386, "GL2C_PERFCOUNTER3_LO");
        at(gfx, 0xdac0, "TA_PERFCOUNTER0_SELECT");
        at(gfx, 0xdac2, "TA_PERFCOUNTER1_SELECT");
        at(gfx, 0xd2c2, "TA_PERFCOUNTER1_LO");
        at(gfx, 0xdb40, "TCP_PERFCOUNTER0_SELECT");
        at(gfx, 0xd340, "TCP_PERFCOUNTER0_LO");
        at(gfx, 0xdba0, "GL1C_PERFCOUNTER0_SELECT");
        at(gfx, 0xd3a0, "GL1C_PERFCOUNTER0_LO");
        at(gfx, 0xd980, "SPI_PERFCOUNTER0_SELECT");
        at(gfx, 0xd181, "SPI_PERFCOUNTER0_LO");
        at(gfx, 0xd180, "SPI_PERFCOUNTER0_HI");
        at(gfx, 0xda40, "SX_PERFCOUNTER0_SELECT");
        at(gfx, 0xd240, "SX_PERFCOUNTER0_LO");
        at(gfx, 0xd809, "CPC_PERFCOUNTER0_SELECT");
        at(gfx, 0xd006, "CPC_PERFCOUNTER0_LO");
        at(gfx, 0xd007, "CPC_PERFCOUNTER0_HI");
        at(gfx, 0xdcc0, "RLC_PERFMON_CNTL");
        at(gfx, 0xc200, "GRBM_GFX_INDEX");
        at(gfx, 0x2e0b, "COMPUTE_PERFCOUNT_ENABLE");
        at(gfx, 0x2e1a, "COMPUTE_STATIC_THREAD_MGMT_SE3");
        at(gfx, 0x2e4f, "COMPUTE_USER_DATA_15");
    }
    at(Gfx::Gfx11, 0xd808, "CP_PERFMON_CNTL");
    at(Gfx::Gfx12, 0xd808, "CP_PERFMON_CNTL_1");
    at(Gfx::Gfx11, 0xdb85, "GL2C_PERFCOUNTER3_SELECT");
    at(Gfx::Gfx12, 0xdb86, "GL2C_PERFCOUNTER3_SELECT");
    at(Gfx::Gfx10, 0xd848 - 3, "GRBM_SE3_PERFCOUNTER_SELECT");
    at(Gfx::Gfx11, 0xd848, "GRBM_SE6_PERFCOUNTER_SELECT");
    at(Gfx::Gfx11, 0xd051, "GRBM_SE6_PERFCOUNTER_LO");
    at(Gfx::Gfx11, 0xd9d7, "SQG_PERFCOUNTER7_SELECT");
    at(Gfx::Gfx11, 0xd1e4, "SQG_PERFCOUNTER0_LO");
    at(Gfx::Gfx11, 0xde05, "GUS_PERFCOUNTER_RSLT_CNTL");
    at(Gfx::Gfx10, 0xd1c1, "SQ_PERFCOUNTER0_HI");
    at(Gfx::Gfx9, 0xdb80, "TCC_PERFCOUNTER0_SELECT");
    at(Gfx::Gfx11, 0x2e2e, "COMPUTE_STATIC_THREAD_MGMT_SE7");
    for (gfx, address) in [
        (Gfx::Gfx11, 0xd1c1),
        (Gfx::Gfx12, 0xde05),
        (Gfx::Gfx12, 0xd842),
        (Gfx::Gfx10, 0xd9d0),
        (Gfx::Gfx9, 0x2e28),
        (Gfx::Gfx10, 0x2e2b),
        (Gfx::Gfx11, 0),
        (Gfx::Gfx11, u32::MAX),
    ] {
        assert_eq!(named(gfx, address), None, "{gfx} {address:#x}");
    }
}

#[test]
fn no_address_has_two_names() {
    for gfx in Gfx::ALL {
        let mut addresses: Vec<_> = registers::ALL.iter().filter(|run| run.exists_on(gfx)).collect::<Vec<_>>();
        addresses.sort_by_key(|run| run.first);
        let mut seen = std::collections::HashMap::new();
        for run in addresses {
            for n in 0..run.count {
                let register = run.at(n).expect("in the run");
                let name = register.named(gfx).expect("named").to_string();
                assert_eq!(seen.insert(register, name), None, "{gfx} {register:?}");
                assert_eq!(register.named(gfx).expect("named").run, run);
            }
            assert_eq!(run.at(run.count), None);
        }
        let names: std::collections::HashSet<_> = seen.values().collect();
        assert_eq!(names.len(), seen.len(), "{gfx}: a name twice");
        for register in seen.keys() {
            assert!(register.0 < 0x3000 || register.0 >= UCONFIG_BASE, "{register:?} is in no range of a SET packet");
        }
    }
}

#[test]
fn other_headers() {
    let buffer = IndirectBuffer {
        ib_base: ADDRESS,
        ib_size: 0x1234,
        valid: true,
        cache_policy: CachePolicy::STREAM,
        ..IndirectBuffer::default()
    };
    let words = encoded(Gfx::Gfx11, Pm4::PLAIN, &buffer);
    assert_eq!(words, Ok(vec![0xc002_3f00, LO, HI, 0x1080_1234]));
    assert_eq!(encoded(Gfx::Gfx11, Pm4::PLAIN, &Nop::default()), Ok(vec![0xffff_1000]));
    assert_eq!(encoded(Gfx::Gfx11, Pm4::PLAIN, &Nop { payload: &[1, 2] }), Ok(vec![0xc001_1000, 1, 2]));
    assert_eq!(opcode::FILLER, 0x8000_0000);
    let header = |packet: &[u32]| packet[0];
    assert_eq!(header(&compute(Gfx::Gfx11, &WaitRegMem::default())), 0xc005_3c02);
    assert_eq!(header(&compute(Gfx::Gfx11, &WaitRegMem64::default())), 0xc007_9302);
    assert_eq!(header(&compute(Gfx::Gfx11, &ReleaseMem::default())), 0xc006_4902);
    assert_eq!(header(&compute(Gfx::Gfx11, &DmaData::default())), 0xc005_5002);
    assert_eq!(header(&compute(Gfx::Gfx9, &PredExec::default())), 0xc000_2302);
    let predicated = Pm4 { shader_type: true, predicate: true };
    let words = encoded(Gfx::Gfx9, predicated, &EventWrite::CS_PARTIAL_FLUSH);
    assert_eq!(words, Ok(vec![0xc000_4603, 0x407]));
}

/// 2.7: the base size of a frame is made of the lengths of its packets.
#[test]
fn frames_have_the_size_of_the_original() {
    for (gfx, bytes) in [(Gfx::Gfx9, 496), (Gfx::Gfx10, 512), (Gfx::Gfx11, 544), (Gfx::Gfx12, 544)] {
        let set = |n: usize| 2 + n;
        let template = set(3) + set(2) + set(2) + set(6) + set(16) + DispatchDirect::default().dwords(gfx);
        assert_eq!(template * 4, 176);
        let mut words = 2 * AcquireMem::default().dwords(gfx)
            + 2 * CopyData::default().dwords(gfx)
            + 2 * EventWrite::default().dwords(gfx)
            + template
            + 2 * AtomicMem::default().dwords(gfx);
        if gfx >= Gfx::Gfx11 {
            words += set(2) + set(1);
        }
        assert_eq!((words * 4 + 128).next_multiple_of(16), bytes, "{gfx}");
    }
}
