//! The packets of PM4, as the compute micro engine takes them (queues-pm4.md sections 2.2 and 2.3).
//!
//! Registers are absolute dword addresses everywhere; where a packet holds an offset, the encoder subtracts the base.
//! Addresses of memory are bytes. Where a field is not in the reference, the public header that has it is named.

use super::Gfx;
use super::bits::*;
use super::layout::{Encode, Engine, Error, Places, Pm4, Show, Value, at};
use super::registers::Register;
use super::table::{Found, packets};
use super::values::*;
use core::fmt;

/// First register of SET_SH_REG, in dwords.
pub const SH_BASE: u32 = 0x2c00;
/// First register of SET_UCONFIG_REG, in dwords.
pub const UCONFIG_BASE: u32 = 0xc000;

packets! {
    /// A packet of PM4.
    enum Packet for Pm4;

    /// Nothing; its payload is skipped. Without payload it takes the special form of one dword (2.2).
    0x10 NOP Nop<'a> [1, 1, 1, 1] {
    }
    data /// Dwords that are skipped; at most 0x3fff.
    payload: &'a [u32];

    /// Start work (2.3). Its size is in work-items when `use_thread_dimensions` is set, else in workgroups.
    0x15 DISPATCH_DIRECT DispatchDirect [5, 5, 5, 5] {
        /// Size in x.
        dim_x: u32 = at(1, 0, 32);
        /// Size in y.
        dim_y: u32 = at(2, 0, 32);
        /// Size in z.
        dim_z: u32 = at(3, 0, 32);
        /// `COMPUTE_SHADER_EN`.
        compute_shader_en: bool = at(4, 0, 1);
        /// `FORCE_START_AT_000`: ignore the START registers.
        force_start_at_000: bool = at(4, 2, 1);
        /// `USE_THREAD_DIMENSIONS`: sizes are work-items.
        use_thread_dimensions: bool = at(4, 5, 1);
        /// `CS_W32_EN`: waves of 32 lanes.
        cs_w32_en: bool = at(4, 15, 1).since(Gfx::Gfx10);
    }

    /// Start work whose size is three dwords in memory (PAL's MEC form; the graphics engine's has three dwords).
    0x16 DISPATCH_INDIRECT DispatchIndirect [4, 4, 4, 4] {
        /// Address of x, y and z; a multiple of 4.
        addr: u64 = at(1, 2, 62).low(2);
        /// As in DISPATCH_DIRECT.
        compute_shader_en: bool = at(3, 0, 1);
        /// As in DISPATCH_DIRECT.
        force_start_at_000: bool = at(3, 2, 1);
        /// As in DISPATCH_DIRECT.
        use_thread_dimensions: bool = at(3, 5, 1);
        /// As in DISPATCH_DIRECT.
        cs_w32_en: bool = at(3, 15, 1).since(Gfx::Gfx10);
    }

    /// Atomic operation on memory (2.3).
    0x1e ATOMIC_MEM AtomicMem [9, 9, 9, 9] {
        /// Operation.
        atomic: AtomicOp = at(1, 0, 7);
        /// Once or in a loop.
        command: AtomicCommand = at(1, 8, 4);
        /// Cache policy.
        cache_policy: CachePolicy = at(1, 25, 2);
        /// Address; a multiple of what the operation works on.
        addr: u64 = at(2, 0, 64);
        /// Operand.
        src_data: u64 = at(4, 0, 64);
        /// What it is compared with.
        cmp_data: u64 = at(6, 0, 64);
        /// Interval between two tries of a loop, in the hardware's unit.
        loop_interval: u16 = at(8, 0, 13);
    }
    check check_atomic;

    /// Skip dwords when a dword in memory is 0 (`soc15d.h`, layout of PAL's MEC header).
    0x22 COND_EXEC CondExec [5, 5, 5, 5] {
        /// Address of the dword; a multiple of 4.
        addr: u64 = at(1, 2, 62).low(2);
        /// Cache policy.
        cache_policy: CachePolicy = at(3, 25, 2);
        /// Number of dwords.
        exec_count: u16 = at(4, 0, 14);
    }

    /// Run dwords on some compute dies only (2.2: several XCC; `soc15d.h`).
    0x23 PRED_EXEC PredExec [2, 0, 0, 0] {
        /// Number of dwords.
        exec_count: u16 = at(1, 0, 14);
        /// One bit for each die that runs them.
        virtual_xcc_id_select: u8 = at(1, 24, 8);
    }

    /// Write dwords to memory or registers (2.3).
    0x37 WRITE_DATA WriteData<'a> [4, 4, 4, 4] {
        /// Where to.
        dst_sel: WriteDest = at(1, 8, 4);
        /// What the address does.
        addr_incr: AddrIncr = at(1, 16, 1);
        /// Wait until it is written.
        wr_confirm: bool = at(1, 20, 1);
        /// Cache policy.
        cache_policy: CachePolicy = at(1, 25, 2);
        /// Address in bytes, a multiple of 4; or register.
        dst: u64 = at(2, 0, 64);
    }
    data /// What is written.
    values: &'a [u32];
    check check_write;

    /// Wait for a value of 32 bits (2.3).
    0x3c WAIT_REG_MEM WaitRegMem [7, 7, 7, 7] {
        /// Comparison that ends the wait: masked value, then reference.
        function: Function = at(1, 0, 3);
        /// What is read.
        mem_space: MemSpace = at(1, 4, 2);
        /// What is done.
        operation: WaitOperation = at(1, 6, 2);
        /// Engine of a graphics ring: 0 ME, 1 PFP.
        engine: u8 = at(1, 8, 1);
        /// Cache policy (PAL's MEC header).
        cache_policy: CachePolicy = at(1, 25, 2).since(Gfx::Gfx10);
        /// Address in bytes, a multiple of 4; or register, and a second one in the high half for `WR_WAIT_WR_REG`.
        poll_addr: u64 = at(2, 0, 64);
        /// Reference.
        reference: u32 = at(4, 0, 32);
        /// Bits that count.
        mask: u32 = at(5, 0, 32);
        /// Interval between two reads, in the hardware's unit.
        poll_interval: u16 = at(6, 0, 16);
    }
    check check_wait;

    /// Run another buffer (2.3; `offload_polling` is of `soc15d.h`).
    0x3f INDIRECT_BUFFER IndirectBuffer [4, 4, 4, 4] {
        /// Address; a multiple of 4 below 1 << 48.
        ib_base: u64 = at(1, 2, 46).low(2);
        /// Size in dwords.
        ib_size: u32 = at(3, 0, 20);
        /// Do not return.
        chain: bool = at(3, 20, 1);
        /// Let the scheduler poll.
        offload_polling: bool = at(3, 21, 1);
        /// Set in every valid packet.
        valid: bool = at(3, 23, 1);
        /// Address space, for privileged rings.
        vmid: u8 = at(3, 24, 4);
        /// Cache policy.
        cache_policy: CachePolicy = at(3, 28, 2);
        /// `priv`.
        privileged: bool = at(3, 31, 1);
    }

    /// Copy 32 or 64 bits (2.3).
    0x40 COPY_DATA CopyData [6, 6, 6, 6] {
        /// Where from.
        src_sel: CopySource = at(1, 0, 4);
        /// Where to.
        dst_sel: CopyDest = at(1, 8, 4);
        /// Cache policy of the source.
        src_cache_policy: CachePolicy = at(1, 13, 2);
        /// Amount.
        count_sel: CountSel = at(1, 16, 1);
        /// Wait until it is written.
        wr_confirm: bool = at(1, 20, 1);
        /// Cache policy of the destination.
        dst_cache_policy: CachePolicy = at(1, 25, 2);
        /// `pq_exe`.
        pq_exe_status: bool = at(1, 29, 1);
        /// Register, value, or address in bytes: a multiple of what is copied.
        src: u64 = at(2, 0, 64);
        /// Register, or address in bytes: a multiple of what is copied.
        dst: u64 = at(4, 0, 64);
    }
    check check_copy;

    /// Let the prefetcher wait for the micro engine: graphics rings only (`soc15d.h`, layout of PAL's PFP header).
    0x42 PFP_SYNC_ME PfpSyncMe [2, 2, 2, 2] {
        /// Ignored.
        dummy_data: u32 = at(1, 0, 32);
    }

    /// Send an event to the pipeline (2.3). The longer form of events that write to memory is not here.
    0x46 EVENT_WRITE EventWrite [2, 2, 2, 2] {
        /// Event.
        event_type: EventType = at(1, 0, 6);
        /// Its group.
        event_index: EventIndex = at(1, 8, 4);
    }

    /// When work is done: cache actions, then a write, then an interrupt (2.3; gfx9 of `soc15d.h`, `glk_inv` of PAL's
    /// MEC header). A form without the last dword is read too.
    0x49 RELEASE_MEM ReleaseMem [8, 8, 8, 8] or 7 {
        /// Event that is waited for.
        event_type: EventType = at(1, 0, 6);
        /// Its group.
        event_index: EventIndex = at(1, 8, 4);
        /// Cache actions of gfx9.
        eop_actions: EopActions = at(1, 12, 10).until(Gfx::Gfx9);
        /// Cache actions from gfx10 on.
        gcr_cntl: ReleaseGcrCntl = at(1, 12, 12).since(Gfx::Gfx10).then(Gfx::Gfx11, at(1, 12, 13));
        /// Cache policy of the write.
        cache_policy: CachePolicy = at(1, 25, 2);
        /// Invalidate the scalar cache.
        glk_inv: bool = at(1, 30, 1).since(Gfx::Gfx11);
        /// Where to.
        dst_sel: ReleaseDest = at(2, 16, 2);
        /// Interrupt.
        int_sel: IntSel = at(2, 24, 3);
        /// What is written.
        data_sel: DataSel = at(2, 29, 3);
        /// Address; a multiple of what is written.
        addr: u64 = at(3, 0, 64);
        /// Data.
        data: u64 = at(5, 0, 64);
        /// Context of the interrupt.
        int_ctxid: u32 = at(7, 0, 32);
    }
    check check_release;

    /// Move memory (2.2; layout of `nvd.h` and PAL's MEC header).
    0x50 DMA_DATA DmaData [7, 7, 7, 7] {
        /// Cache policy of the source.
        src_cache_policy: CachePolicy = at(1, 13, 2);
        /// Where to.
        dst_sel: DmaDest = at(1, 20, 2);
        /// Cache policy of the destination.
        dst_cache_policy: CachePolicy = at(1, 25, 2);
        /// Where from.
        src_sel: DmaSource = at(1, 29, 2);
        /// Graphics rings: wait until it is done.
        cp_sync: bool = at(1, 31, 1);
        /// Address, or a dword in the low half.
        src: u64 = at(2, 0, 64);
        /// Address.
        dst: u64 = at(4, 0, 64);
        /// Amount in bytes.
        byte_count: u32 = at(6, 0, 26);
        /// The source is a register.
        sas: bool = at(6, 26, 1);
        /// The destination is a register.
        das: bool = at(6, 27, 1);
        /// The source does not advance.
        saic: bool = at(6, 28, 1);
        /// The destination does not advance.
        daic: bool = at(6, 29, 1);
        /// Wait for the previous DMA before reading.
        raw_wait: bool = at(6, 30, 1);
        /// `dis_wc`: write confirmation is off.
        dis_wc: bool = at(6, 31, 1);
    }

    /// Make memory that others wrote visible: invalidate, and from gfx10 on write back, a range of the caches (2.3).
    0x58 ACQUIRE_MEM AcquireMem [7, 8, 8, 8] {
        /// Caches of gfx9.
        coher_cntl: CoherCntl = at(1, 0, 31).until(Gfx::Gfx9);
        /// Size of the range in units of 256 bytes.
        coher_size: u64 = at(2, 0, 40);
        /// Start of the range in units of 256 bytes.
        coher_base: u64 = at(4, 0, 56);
        /// Interval between two looks whether it is done, in the hardware's unit.
        poll_interval: u16 = at(6, 0, 16);
        /// Caches from gfx10 on.
        gcr_cntl: GcrCntl = at(7, 0, 19).since(Gfx::Gfx10);
    }

    /// Write consecutive registers of the shader range (2.3, 2.4).
    0x76 SET_SH_REG SetShReg<'a> [2, 2, 2, 2] {
        /// First register.
        register: Register = at(1, 0, 16).less(SH_BASE);
    }
    data /// Values.
    values: &'a [u32];

    /// Write consecutive registers of the user configuration range (2.3, 4.4).
    0x79 SET_UCONFIG_REG SetUconfigReg<'a> [2, 2, 2, 2] {
        /// First register.
        register: Register = at(1, 0, 16).less(UCONFIG_BASE);
    }
    data /// Values.
    values: &'a [u32];

    /// SET_UCONFIG_REG with an index (2.3).
    0x7a SET_UCONFIG_REG_INDEX SetUconfigRegIndex<'a> [2, 2, 2, 2] {
        /// First register.
        register: Register = at(1, 0, 16).less(UCONFIG_BASE);
        /// Index.
        index: u8 = at(1, 28, 4);
    }
    data /// Values.
    values: &'a [u32];

    /// Wait for a value of 64 bits (2.2, 2.3).
    0x93 WAIT_REG_MEM64 WaitRegMem64 [9, 9, 9, 9] {
        /// Comparison that ends the wait: masked value, then reference.
        function: Function = at(1, 0, 3);
        /// What is read.
        mem_space: MemSpace = at(1, 4, 2);
        /// What is done.
        operation: WaitOperation = at(1, 6, 2);
        /// Cache policy (ROCr's definitions and PAL's MEC header).
        cache_policy: CachePolicy = at(1, 25, 2).since(Gfx::Gfx10);
        /// Address in bytes, a multiple of 8; or register.
        poll_addr: u64 = at(2, 0, 64);
        /// Reference.
        reference: u64 = at(4, 0, 64);
        /// Bits that count.
        mask: u64 = at(6, 0, 64);
        /// Interval between two reads, in the hardware's unit.
        poll_interval: u16 = at(8, 0, 16);
    }
    check check_wait64;

    /// SET_SH_REG with an index (2.2).
    0x9b SET_SH_REG_INDEX SetShRegIndex<'a> [2, 2, 2, 2] {
        /// First register.
        register: Register = at(1, 0, 16).less(SH_BASE);
        /// Index.
        index: u8 = at(1, 28, 4);
    }
    data /// Values.
    values: &'a [u32];
}

/// An address of memory that must be a multiple of `size` bytes.
fn aligned(field: &'static str, value: u64, size: u64) -> Result<(), Error> {
    if value.is_multiple_of(size) { Ok(()) } else { Err(Error::Value { field, value }) }
}

fn check_atomic(packet: &AtomicMem, _: Gfx) -> Result<(), Error> {
    aligned("addr", packet.addr, if packet.atomic.is_64() { 8 } else { 4 })
}

fn check_write(packet: &WriteData<'_>, _: Gfx) -> Result<(), Error> {
    aligned("dst", packet.dst, if packet.dst_sel == WriteDest::REGISTER { 1 } else { 4 })
}

fn check_wait(packet: &WaitRegMem, _: Gfx) -> Result<(), Error> {
    aligned("poll_addr", packet.poll_addr, if packet.mem_space == MemSpace::MEMORY { 4 } else { 1 })
}

fn check_wait64(packet: &WaitRegMem64, _: Gfx) -> Result<(), Error> {
    aligned("poll_addr", packet.poll_addr, if packet.mem_space == MemSpace::MEMORY { 8 } else { 1 })
}

fn check_copy(packet: &CopyData, _: Gfx) -> Result<(), Error> {
    let size = if packet.count_sel == CountSel::BITS_64 { 8 } else { 4 };
    if matches!(packet.src_sel, CopySource::MEMORY | CopySource::TC_L2) {
        aligned("src", packet.src, size)?;
    }
    if matches!(packet.dst_sel, CopyDest::MEMORY | CopyDest::TC_L2) {
        aligned("dst", packet.dst, size)?;
    }
    Ok(())
}

fn check_release(packet: &ReleaseMem, _: Gfx) -> Result<(), Error> {
    match packet.data_sel {
        DataSel::NONE => Ok(()),
        DataSel::BITS_32 => aligned("addr", packet.addr, 4),
        _ => aligned("addr", packet.addr, 8),
    }
}

impl EventWrite {
    /// Wait until all compute work before it is done: 0x407 (2.3).
    pub const CS_PARTIAL_FLUSH: Self =
        Self { event_type: EventType::CS_PARTIAL_FLUSH, event_index: EventIndex::PARTIAL_FLUSH };
}

impl DispatchDirect {
    /// The dispatch of the original (2.3): sizes in work-items, initiator 0x25, or 0x8025 for waves of 32.
    pub const fn work_items(dim_x: u32, dim_y: u32, dim_z: u32, wave32: bool) -> Self {
        Self {
            dim_x,
            dim_y,
            dim_z,
            compute_shader_en: true,
            force_start_at_000: true,
            use_thread_dimensions: true,
            cs_w32_en: wave32,
        }
    }
}

impl AcquireMem {
    /// The acquire of the original (2.3): all memory, its caches of the generation, poll interval 4.
    pub const fn everything(gfx: Gfx) -> Self {
        let (coher_cntl, gcr_cntl) = match gfx {
            Gfx::Gfx9 => (CoherCntl::THUNK, GcrCntl(0)),
            _ => (CoherCntl(0), GcrCntl::THUNK),
        };
        Self { coher_cntl, coher_size: 0xff_ffff_ffff, coher_base: 0, poll_interval: 4, gcr_cntl }
    }
}

impl CopyData {
    /// The clock of the GPU, 64 bits, to memory through L2, confirmed: 0x02110209 (2.3). `address` is a multiple of 8.
    pub const fn timestamp(address: u64) -> Self {
        Self {
            src_sel: CopySource::GPU_CLOCK,
            dst_sel: CopyDest::TC_L2,
            src_cache_policy: CachePolicy::LRU,
            count_sel: CountSel::BITS_64,
            wr_confirm: true,
            dst_cache_policy: CachePolicy::STREAM,
            pq_exe_status: false,
            src: 0,
            dst: address,
        }
    }
}

impl AtomicMem {
    /// Add to 64 bits of memory, with return (2.3): 0x0600002f with `BYPASS`, 0x0200002f with `STREAM`. `address` is a
    /// multiple of 8; `addend` wraps, so that -1 subtracts.
    pub const fn add_64(address: u64, addend: i64, cache_policy: CachePolicy) -> Self {
        Self {
            atomic: AtomicOp::ADD_64,
            command: AtomicCommand::SINGLE_PASS,
            cache_policy,
            addr: address,
            src_data: addend as u64,
            cmp_data: 0,
            loop_interval: 0,
        }
    }
}
