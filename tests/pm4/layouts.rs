//! Every field of every PM4 packet in its place: dwords written out by hand.

use crate::{compute, encoded};
use rocdxg::pm4::packet::*;
use rocdxg::pm4::*;

const ALL: [Gfx; 4] = Gfx::ALL;

fn same(gfxs: &[Gfx], packet: &impl Encode<Engine = Pm4>, words: &[u32]) {
    for gfx in gfxs {
        assert_eq!(compute(*gfx, packet)[1..], words[1..], "{gfx} {}", packet.name());
        assert_eq!(compute(*gfx, packet)[0], words[0], "{gfx} {}", packet.name());
    }
}

#[test]
fn dispatches() {
    let direct = DispatchDirect { dim_x: 1, dim_y: 2, dim_z: 3, ..DispatchDirect::default() };
    same(&ALL, &direct, &[0xc003_1502, 1, 2, 3, 0]);
    same(&ALL, &DispatchDirect { compute_shader_en: true, ..direct }, &[0xc003_1502, 1, 2, 3, 1]);
    same(&ALL, &DispatchDirect { force_start_at_000: true, ..direct }, &[0xc003_1502, 1, 2, 3, 4]);
    same(&ALL, &DispatchDirect { use_thread_dimensions: true, ..direct }, &[0xc003_1502, 1, 2, 3, 0x20]);
    same(&ALL[1..], &DispatchDirect { cs_w32_en: true, ..direct }, &[0xc003_1502, 1, 2, 3, 0x8000]);
    let indirect = DispatchIndirect { addr: 0xffff_0000_1234, ..DispatchIndirect::default() };
    same(&ALL, &indirect, &[0xc002_1602, 0x1234, 0xffff, 0]);
    same(&ALL, &DispatchIndirect { compute_shader_en: true, ..indirect }, &[0xc002_1602, 0x1234, 0xffff, 1]);
    same(&ALL, &DispatchIndirect { force_start_at_000: true, ..indirect }, &[0xc002_1602, 0x1234, 0xffff, 4]);
    same(&ALL, &DispatchIndirect { use_thread_dimensions: true, ..indirect }, &[0xc002_1602, 0x1234, 0xffff, 0x20]);
    same(&ALL[1..], &DispatchIndirect { cs_w32_en: true, ..indirect }, &[0xc002_1602, 0x1234, 0xffff, 0x8000]);
}

#[test]
fn atomics() {
    let atomic = AtomicMem {
        atomic: AtomicOp::CMPSWAP_64.no_return(),
        command: AtomicCommand::LOOP_UNTIL_COMPARE_SATISFIED,
        cache_policy: CachePolicy::NOA,
        addr: 0x1_0000_0008,
        src_data: 0x2_0000_0003,
        cmp_data: 0x4_0000_0005,
        loop_interval: 0x1fff,
    };
    same(&ALL, &atomic, &[0xc007_1e02, 0x0400_0168, 8, 1, 3, 2, 5, 4, 0x1fff]);
    let codes = [
        (AtomicOp::SWAP_32, 7),
        (AtomicOp::CMPSWAP_32, 8),
        (AtomicOp::ADD_32, 0xf),
        (AtomicOp::SWAP_64, 0x27),
        (AtomicOp::CMPSWAP_64, 0x28),
        (AtomicOp::ADD_64, 0x2f),
    ];
    for (op, code) in codes {
        assert_eq!(op.0, code);
        assert_eq!(op.no_return().0, code + 0x40);
        assert_eq!(op.is_64(), code > 0x20);
        assert_eq!(op.no_return().is_64(), op.is_64());
    }
}

#[test]
fn conditions() {
    let conditional = CondExec { addr: 0x1_0000_0004, cache_policy: CachePolicy::BYPASS, exec_count: 0x3fff };
    same(&ALL, &conditional, &[0xc003_2202, 4, 1, 0x0600_0000, 0x3fff]);
    let predicated = PredExec { exec_count: 0x1234, virtual_xcc_id_select: 0x81 };
    same(&ALL[..1], &predicated, &[0xc000_2302, 0x8100_1234]);
    for gfx in [Gfx::Gfx10, Gfx::Gfx11, Gfx::Gfx12] {
        assert_eq!(encoded(gfx, Pm4::PLAIN, &predicated), Err(Error::NoSuchPacket { packet: "PRED_EXEC" }));
    }
}

#[test]
fn data() {
    let write = WriteData {
        dst_sel: WriteDest::TC_L2,
        addr_incr: AddrIncr::ONE_ADDRESS,
        wr_confirm: false,
        cache_policy: CachePolicy::STREAM,
        dst: 0x2_0000_0004,
        values: &[9, 8, 7],
    };
    same(&ALL, &write, &[0xc005_3702, 0x0201_0200, 4, 2, 9, 8, 7]);
    let copy = CopyData {
        src_sel: CopySource::PERFCOUNTER,
        dst_sel: CopyDest::MEMORY,
        src_cache_policy: CachePolicy::STREAM,
        count_sel: CountSel::BITS_32,
        wr_confirm: false,
        dst_cache_policy: CachePolicy::BYPASS,
        pq_exe_status: true,
        src: 0xd840,
        dst: 0x1_0000_0004,
    };
    same(&ALL, &copy, &[0xc004_4002, 0x2600_2504, 0xd840, 0, 4, 1]);
    let sources = [(CopySource::REGISTER, 0), (CopySource::MEMORY, 1), (CopySource::TC_L2, 2)];
    assert!(sources.iter().all(|(source, code)| source.0 == *code));
    let more = [(CopySource::IMMEDIATE, 5), (CopySource::GPU_CLOCK, 9), (CopySource::SYSTEM_CLOCK, 10)];
    assert!(more.iter().all(|(source, code)| source.0 == *code));
    let dma = DmaData {
        src_cache_policy: CachePolicy::STREAM,
        dst_sel: DmaDest::TC_L2,
        dst_cache_policy: CachePolicy::NOA,
        src_sel: DmaSource::DATA,
        src: 0x1_0000_0002,
        dst: 0x3_0000_0004,
        byte_count: 0x3ff_ffff,
        ..DmaData::default()
    };
    same(&ALL, &dma, &[0xc005_5002, 0x4430_2000, 2, 1, 4, 3, 0x3ff_ffff]);
    let dma = DmaData { cp_sync: true, byte_count: 1, ..DmaData::default() };
    let flags = [
        (DmaData { sas: true, ..dma }, 0x0400_0001),
        (DmaData { das: true, ..dma }, 0x0800_0001),
        (DmaData { saic: true, ..dma }, 0x1000_0001),
        (DmaData { daic: true, ..dma }, 0x2000_0001),
        (DmaData { raw_wait: true, ..dma }, 0x4000_0001),
        (DmaData { dis_wc: true, ..dma }, 0x8000_0001),
    ];
    for (dma, last) in flags {
        same(&ALL, &dma, &[0xc005_5002, 0x8000_0000, 0, 0, 0, 0, last]);
    }
}

#[test]
fn waits() {
    let wait = WaitRegMem {
        function: Function::GREATER_EQUAL,
        mem_space: MemSpace::MEMORY,
        operation: WaitOperation::WAIT_MEM_PREEMPTABLE,
        engine: 1,
        cache_policy: CachePolicy::LRU,
        poll_addr: 0x1_0000_0004,
        reference: 5,
        mask: 6,
        poll_interval: 0xffff,
    };
    same(&ALL, &wait, &[0xc005_3c02, 0x1d5, 4, 1, 5, 6, 0xffff]);
    let wait = WaitRegMem { cache_policy: CachePolicy::BYPASS, ..wait };
    same(&ALL[1..], &wait, &[0xc005_3c02, 0x0600_01d5, 4, 1, 5, 6, 0xffff]);
    assert_eq!(encoded(Gfx::Gfx9, Pm4::PLAIN, &wait), Err(Error::NoSuchField { field: "cache_policy" }));
    let wait = WaitRegMem64 {
        function: Function::EQUAL,
        mem_space: MemSpace::MEMORY,
        operation: WaitOperation::WR_WAIT_WR_REG,
        cache_policy: CachePolicy::LRU,
        poll_addr: 0x1_0000_0008,
        reference: 0x2_0000_0003,
        mask: 0x4_0000_0005,
        poll_interval: 4,
    };
    same(&ALL, &wait, &[0xc007_9302, 0x53, 8, 1, 3, 2, 5, 4, 4]);
    let functions = [
        (Function::ALWAYS, 0),
        (Function::LESS, 1),
        (Function::LESS_EQUAL, 2),
        (Function::NOT_EQUAL, 4),
        (Function::GREATER, 6),
    ];
    assert!(functions.iter().all(|(function, code)| function.0 == *code));
}

#[test]
fn buffers_and_events() {
    let buffer = IndirectBuffer {
        ib_base: 0xffff_0000_0004,
        ib_size: 0xf_ffff,
        chain: true,
        vmid: 9,
        privileged: true,
        ..IndirectBuffer::default()
    };
    same(&ALL, &buffer, &[0xc002_3f02, 4, 0xffff, 0x891f_ffff]);
    let polling =
        IndirectBuffer { offload_polling: true, cache_policy: CachePolicy::BYPASS, ..IndirectBuffer::default() };
    same(&ALL, &polling, &[0xc002_3f02, 0, 0, 0x3020_0000]);
    same(&ALL, &PfpSyncMe { dummy_data: 3 }, &[0xc000_4202, 3]);
    for (event, code) in [(EventType::PERFCOUNTER_START, 0x17), (EventType::PERFCOUNTER_STOP, 0x18)] {
        same(&ALL, &EventWrite { event_type: event, event_index: EventIndex::OTHER }, &[0xc000_4602, code]);
    }
    let sample = EventWrite { event_type: EventType::PERFCOUNTER_SAMPLE, event_index: EventIndex(15) };
    same(&ALL, &sample, &[0xc000_4602, 0xf1b]);
}

#[test]
fn releases() {
    let release = ReleaseMem {
        event_type: EventType::CACHE_FLUSH_AND_INV_TS_EVENT,
        event_index: EventIndex::END_OF_PIPE,
        cache_policy: CachePolicy::BYPASS,
        dst_sel: ReleaseDest::TC_L2,
        int_sel: IntSel::INTERRUPT_AFTER_WRITE,
        data_sel: DataSel::GPU_CLOCK,
        addr: 0x1_0000_0008,
        data: 0x2_0000_0003,
        int_ctxid: 4,
        ..ReleaseMem::default()
    };
    same(&ALL, &release, &[0xc006_4902, 0x0600_0514, 0x6201_0000, 8, 1, 3, 2, 4]);
    let nine = ReleaseMem { eop_actions: EopActions(0x3ff), ..release };
    same(&ALL[..1], &nine, &[0xc006_4902, 0x063f_f514, 0x6201_0000, 8, 1, 3, 2, 4]);
    let ten = ReleaseMem { gcr_cntl: ReleaseGcrCntl(0xfff), ..release };
    same(&ALL[1..], &ten, &[0xc006_4902, 0x06ff_f514, 0x6201_0000, 8, 1, 3, 2, 4]);
    let eleven = ReleaseMem { gcr_cntl: ReleaseGcrCntl(0x1fff), glk_inv: true, ..release };
    same(&ALL[2..], &eleven, &[0xc006_4902, 0x47ff_f514, 0x6201_0000, 8, 1, 3, 2, 4]);
    let unfit = Error::Value { field: "gcr_cntl", value: 0x1fff };
    let without_glk = ReleaseMem { glk_inv: false, ..eleven };
    assert_eq!(encoded(Gfx::Gfx10, Pm4::PLAIN, &without_glk), Err(unfit));
    for (gfx, packet, field) in [(Gfx::Gfx9, ten, "gcr_cntl"), (Gfx::Gfx10, nine, "eop_actions")] {
        assert_eq!(encoded(gfx, Pm4::PLAIN, &packet), Err(Error::NoSuchField { field }));
    }
    assert_eq!(EopActions::TC_WB_ACTION_EN.mask() << 12, 1 << 15);
    assert_eq!(EopActions::TC_MD_ACTION_EN.mask() << 12, 1 << 21);
    assert_eq!(ReleaseGcrCntl::GL2_WB.mask() << 12, 1 << 21);
    assert_eq!(ReleaseGcrCntl::SEQ.mask() << 12, 3 << 22);
}

#[test]
fn acquires() {
    let nine = AcquireMem {
        coher_cntl: CoherCntl(0x7fff_ffff),
        coher_size: 0x12_3456_789a,
        coher_base: 0xab_cdef_0123_4567,
        poll_interval: 0xffff,
        gcr_cntl: GcrCntl(0),
    };
    let words = [0xc005_5802, 0x7fff_ffff, 0x3456_789a, 0x12, 0x0123_4567, 0xab_cdef, 0xffff];
    same(&ALL[..1], &nine, &words);
    let ten = AcquireMem { coher_cntl: CoherCntl(0), gcr_cntl: GcrCntl(0x7_ffff), ..nine };
    same(&ALL[1..], &ten, &[0xc006_5802, 0, 0x3456_789a, 0x12, 0x0123_4567, 0xab_cdef, 0xffff, 0x7_ffff]);
    assert_eq!(CoherCntl::THUNK.0, 1 << 27 | 1 << 28 | 1 << 29);
    let bits = [
        (GcrCntl::GLI_INV, 3),
        (GcrCntl::GL1_RANGE, 3 << 2),
        (GcrCntl::GLM_WB, 1 << 4),
        (GcrCntl::GLM_INV, 1 << 5),
        (GcrCntl::GLK_WB, 1 << 6),
        (GcrCntl::GLK_INV, 1 << 7),
        (GcrCntl::GLV_INV, 1 << 8),
        (GcrCntl::GL1_INV, 1 << 9),
        (GcrCntl::GL2_US, 1 << 10),
        (GcrCntl::GL2_RANGE, 3 << 11),
        (GcrCntl::GL2_DISCARD, 1 << 13),
        (GcrCntl::GL2_INV, 1 << 14),
        (GcrCntl::GL2_WB, 1 << 15),
        (GcrCntl::SEQ, 3 << 16),
    ];
    for (field, mask) in bits {
        assert_eq!(field.mask(), mask, "{}", field.name);
    }
    assert_eq!(CoherCntl::TCL1_ACTION_ENA.mask(), 1 << 22);
    assert_eq!(CoherCntl::TC_WB_ACTION_ENA.mask(), 1 << 18);
    assert_eq!(CoherCntl::TC_ACTION_ENA.mask(), 1 << 23);
}

#[test]
fn registers_and_indices() {
    let register = registers::Register;
    same(&ALL, &SetShReg { register: register(0x2c05), values: &[1] }, &[0xc001_7602, 5, 1]);
    same(&ALL, &SetUconfigReg { register: register(0xc006), values: &[1, 2] }, &[0xc002_7902, 6, 1, 2]);
    let indexed = SetShRegIndex { register: register(0x2c05), index: 3, values: &[1] };
    same(&ALL, &indexed, &[0xc001_9b02, 0x3000_0005, 1]);
    let indexed = SetUconfigRegIndex { register: register(0xc006), index: 15, values: &[1] };
    same(&ALL, &indexed, &[0xc001_7a02, 0xf000_0006, 1]);
    for address in [0x2bff, 0x2c00 + 0x1_0000] {
        let packet = SetShReg { register: register(address), values: &[1] };
        let unfit = Error::Value { field: "register", value: address.into() };
        assert_eq!(encoded(Gfx::Gfx11, Pm4::PLAIN, &packet), Err(unfit));
    }
}

#[test]
fn misaligned_addresses_are_refused() {
    let unfit = |packet: Result<Vec<u32>, Error>, name, at| {
        assert_eq!(packet, Err(Error::Value { field: name, value: at }));
    };
    let put = |packet: Packet<'_>| encoded(Gfx::Gfx11, Pm4::COMPUTE, &packet);
    unfit(put(Packet::AtomicMem(AtomicMem::add_64(0x1004, 1, CachePolicy::LRU))), "addr", 0x1004);
    unfit(put(Packet::CopyData(CopyData::timestamp(0x1004))), "dst", 0x1004);
    let copy = CopyData { src_sel: CopySource::MEMORY, src: 2, ..CopyData::default() };
    unfit(put(Packet::CopyData(copy)), "src", 2);
    let write = WriteData { dst_sel: WriteDest::MEMORY, dst: 6, values: &[1], ..WriteData::default() };
    unfit(put(Packet::WriteData(write)), "dst", 6);
    let wait = WaitRegMem { mem_space: MemSpace::MEMORY, poll_addr: 6, ..WaitRegMem::default() };
    unfit(put(Packet::WaitRegMem(wait)), "poll_addr", 6);
    let wait = WaitRegMem64 { mem_space: MemSpace::MEMORY, poll_addr: 4, ..WaitRegMem64::default() };
    unfit(put(Packet::WaitRegMem64(wait)), "poll_addr", 4);
    let release = ReleaseMem { data_sel: DataSel::BITS_64, addr: 4, ..ReleaseMem::default() };
    unfit(put(Packet::ReleaseMem(release)), "addr", 4);
    unfit(put(Packet::IndirectBuffer(IndirectBuffer { ib_base: 2, ..IndirectBuffer::default() })), "ib_base", 2);
    let far = IndirectBuffer { ib_base: 1 << 48, ..IndirectBuffer::default() };
    unfit(put(Packet::IndirectBuffer(far)), "ib_base", 1 << 48);
    let ok = AtomicMem { atomic: AtomicOp::ADD_32, addr: 0x1004, ..AtomicMem::default() };
    assert!(put(Packet::AtomicMem(ok)).is_ok());
    let register = WriteData { dst_sel: WriteDest::REGISTER, dst: 0xc201, values: &[1], ..WriteData::default() };
    assert!(put(Packet::WriteData(register)).is_ok(), "registers are not bytes");
}
