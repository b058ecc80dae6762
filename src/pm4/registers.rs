//! Registers that packets of compute and counter streams name: absolute dword addresses, names, fields, by generation.
//!
//! Compute registers are those of queues-pm4.md section 2.4, counters of 4.5; what these leave open (the second and
//! later counters of a block, gfx9, whose registers of that name are at the same addresses) is of PAL's
//! `gfx9_plus_merged_offset.h` and `gfx12_merged_offset.h`, and of Linux' `gc_9_2_1_offset.h` as the perf-dkms tables
//! have it.

use super::Gfx;
use super::bits::Field;
use super::layout::Value;
use super::register_fields as fields;
use core::fmt;

/// A register, by absolute dword address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Register(pub u32);

impl Register {
    /// The register that is `n` dwords behind this one.
    #[must_use]
    pub const fn plus(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }

    /// What is known of it on a generation.
    pub fn named(self, gfx: Gfx) -> Option<Named> {
        ALL.iter().find_map(|run| {
            let distance = self.0.checked_sub(run.first.0)?;
            let index = distance / run.step;
            let is = run.exists_on(gfx) && distance % run.step == 0 && index < run.count;
            is.then_some(Named { run, index })
        })
    }

    /// Writes `NAME=value {FIELD=n ...}`.
    pub(super) fn show_value(self, gfx: Gfx, value: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(gfx, f)?;
        write!(f, "={value:#x}")?;
        match self.named(gfx) {
            Some(named) => Field::show_all(named.run.fields, gfx, value, f),
            None => Ok(()),
        }
    }
}

impl Value for Register {
    fn raw(self) -> u64 {
        self.0.into()
    }

    fn from_raw(raw: u64) -> Self {
        Self(raw as u32)
    }

    fn show(self, gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.named(gfx) {
            Some(named) => write!(f, "{named}"),
            None => write!(f, "{:#06x}", self.0),
        }
    }
}

/// A register of a [`Run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The run.
    pub run: &'static Run,
    /// Index in it.
    pub index: u32,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.run.before)?;
        if self.run.count > 1 {
            write!(f, "{}", self.run.base + self.index)?;
        }
        f.write_str(self.run.after)
    }
}

/// Registers of one kind, the same distance apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Name up to the index; the whole name of a single register.
    pub before: &'static str,
    /// Name behind the index.
    pub after: &'static str,
    /// Index of the first.
    pub base: u32,
    /// The first.
    pub first: Register,
    /// Number of them, at least 1.
    pub count: u32,
    /// Distance in dwords, at least 1.
    pub step: u32,
    /// First generation that has them.
    pub since: Gfx,
    /// Last generation that has them.
    pub until: Gfx,
    /// Fields of each.
    pub fields: &'static [Field],
}

impl Run {
    const fn one(name: &'static str, address: u32) -> Self {
        Self::many(name, "", address, 1, 1)
    }

    const fn many(before: &'static str, after: &'static str, address: u32, count: u32, step: u32) -> Self {
        assert!(count > 0 && step > 0);
        let first = Register(address);
        Self { before, after, base: 0, first, count, step, since: Gfx::Gfx9, until: Gfx::Gfx12, fields: &[] }
    }

    const fn base(mut self, base: u32) -> Self {
        self.base = base;
        self
    }

    const fn since(mut self, gfx: Gfx) -> Self {
        self.since = gfx;
        self
    }

    const fn until(mut self, gfx: Gfx) -> Self {
        self.until = gfx;
        self
    }

    const fn of(mut self, fields: &'static [Field]) -> Self {
        self.fields = fields;
        self
    }

    /// The register with this index in the run.
    pub const fn at(&self, index: u32) -> Option<Register> {
        if index < self.count { Some(Register(self.first.0 + index * self.step)) } else { None }
    }

    /// Whether a generation has them.
    pub const fn exists_on(&self, gfx: Gfx) -> bool {
        self.since as u32 <= gfx as u32 && gfx as u32 <= self.until as u32
    }
}

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident = $run:expr;)*) => {
        $($(#[$doc])* pub const $name: Run = $run;)*

        /// Every run; no address is in two runs of one generation.
        pub const ALL: &[Run] = &[$($name),*];
    };
}

registers! {
    /// What DISPATCH packets write.
    COMPUTE_DISPATCH_INITIATOR = Run::one("COMPUTE_DISPATCH_INITIATOR", 0x2e00)
        .of(fields::compute_dispatch_initiator::ALL);
    /// Size in x, which DISPATCH packets write (PAL).
    COMPUTE_DIM_X = Run::one("COMPUTE_DIM_X", 0x2e01);
    /// Size in y, which DISPATCH packets write (PAL).
    COMPUTE_DIM_Y = Run::one("COMPUTE_DIM_Y", 0x2e02);
    /// Size in z, which DISPATCH packets write (PAL).
    COMPUTE_DIM_Z = Run::one("COMPUTE_DIM_Z", 0x2e03);
    /// First workgroup in x.
    COMPUTE_START_X = Run::one("COMPUTE_START_X", 0x2e04);
    /// First workgroup in y.
    COMPUTE_START_Y = Run::one("COMPUTE_START_Y", 0x2e05);
    /// First workgroup in z.
    COMPUTE_START_Z = Run::one("COMPUTE_START_Z", 0x2e06);
    /// Work-items of a workgroup in x.
    COMPUTE_NUM_THREAD_X = Run::one("COMPUTE_NUM_THREAD_X", 0x2e07);
    /// Work-items of a workgroup in y.
    COMPUTE_NUM_THREAD_Y = Run::one("COMPUTE_NUM_THREAD_Y", 0x2e08);
    /// Work-items of a workgroup in z.
    COMPUTE_NUM_THREAD_Z = Run::one("COMPUTE_NUM_THREAD_Z", 0x2e09);
    /// Counters count this queue's work.
    COMPUTE_PERFCOUNT_ENABLE = Run::one("COMPUTE_PERFCOUNT_ENABLE", 0x2e0b);
    /// Entry of the kernel in units of 256 bytes, low half.
    COMPUTE_PGM_LO = Run::one("COMPUTE_PGM_LO", 0x2e0c);
    /// High half.
    COMPUTE_PGM_HI = Run::one("COMPUTE_PGM_HI", 0x2e0d);
    /// Address of the AQL packet, low half.
    COMPUTE_DISPATCH_PKT_ADDR_LO = Run::one("COMPUTE_DISPATCH_PKT_ADDR_LO", 0x2e0e);
    /// High half.
    COMPUTE_DISPATCH_PKT_ADDR_HI = Run::one("COMPUTE_DISPATCH_PKT_ADDR_HI", 0x2e0f);
    /// Scratch in units of 256 bytes, low half; used from gfx11 on.
    COMPUTE_DISPATCH_SCRATCH_BASE_LO = Run::one("COMPUTE_DISPATCH_SCRATCH_BASE_LO", 0x2e10);
    /// High half.
    COMPUTE_DISPATCH_SCRATCH_BASE_HI = Run::one("COMPUTE_DISPATCH_SCRATCH_BASE_HI", 0x2e11);
    /// Resources of the kernel.
    COMPUTE_PGM_RSRC1 = Run::one("COMPUTE_PGM_RSRC1", 0x2e12).of(fields::compute_pgm_rsrc1::ALL);
    /// Resources of the kernel.
    COMPUTE_PGM_RSRC2 = Run::one("COMPUTE_PGM_RSRC2", 0x2e13).of(fields::compute_pgm_rsrc2::ALL);
    /// Limits of the dispatch.
    COMPUTE_RESOURCE_LIMITS = Run::one("COMPUTE_RESOURCE_LIMITS", 0x2e15).of(fields::compute_resource_limits::ALL);
    /// Units that may be used, shader engines 0 and 1.
    COMPUTE_STATIC_THREAD_MGMT_SE0 = Run::many("COMPUTE_STATIC_THREAD_MGMT_SE", "", 0x2e16, 2, 1)
        .of(fields::compute_static_thread_mgmt::ALL);
    /// Size of scratch.
    COMPUTE_TMPRING_SIZE = Run::one("COMPUTE_TMPRING_SIZE", 0x2e18).of(fields::compute_tmpring_size::ALL);
    /// Shader engines 2 and 3.
    COMPUTE_STATIC_THREAD_MGMT_SE2 = Run::many("COMPUTE_STATIC_THREAD_MGMT_SE", "", 0x2e19, 2, 1)
        .base(2)
        .of(fields::compute_static_thread_mgmt::ALL);
    /// Where a preempted dispatch continues in x.
    COMPUTE_RESTART_X = Run::one("COMPUTE_RESTART_X", 0x2e1b);
    /// Where a preempted dispatch continues in y.
    COMPUTE_RESTART_Y = Run::one("COMPUTE_RESTART_Y", 0x2e1c);
    /// Where a preempted dispatch continues in z.
    COMPUTE_RESTART_Z = Run::one("COMPUTE_RESTART_Z", 0x2e1d);
    /// Resources of the kernel.
    COMPUTE_PGM_RSRC3 = Run::one("COMPUTE_PGM_RSRC3", 0x2e28).since(Gfx::Gfx10).of(fields::compute_pgm_rsrc3::ALL);
    /// Shader engines 4 to 7.
    COMPUTE_STATIC_THREAD_MGMT_SE4 = Run::many("COMPUTE_STATIC_THREAD_MGMT_SE", "", 0x2e2b, 4, 1)
        .base(4)
        .since(Gfx::Gfx11)
        .of(fields::compute_static_thread_mgmt::ALL);
    /// First scalar registers of each wave.
    COMPUTE_USER_DATA = Run::many("COMPUTE_USER_DATA_", "", 0x2e40, 16, 1);
    /// Which instances the next accesses mean.
    GRBM_GFX_INDEX = Run::one("GRBM_GFX_INDEX", 0xc200).of(fields::grbm_gfx_index::ALL);
    /// Compute command processor, second counter.
    CPC_PERFCOUNTER1_LO = Run::many("CPC_PERFCOUNTER1", "_LO", 0xd004, 1, 1);
    /// High half.
    CPC_PERFCOUNTER1_HI = Run::many("CPC_PERFCOUNTER1", "_HI", 0xd005, 1, 1);
    /// Compute command processor, first counter.
    CPC_PERFCOUNTER0_LO = Run::many("CPC_PERFCOUNTER0", "_LO", 0xd006, 1, 1);
    /// High half.
    CPC_PERFCOUNTER0_HI = Run::many("CPC_PERFCOUNTER0", "_HI", 0xd007, 1, 1);
    /// Graphics register bus manager.
    GRBM_PERFCOUNTER_LO = Run::many("GRBM_PERFCOUNTER", "_LO", 0xd040, 2, 3);
    /// High half.
    GRBM_PERFCOUNTER_HI = Run::many("GRBM_PERFCOUNTER", "_HI", 0xd041, 2, 3);
    /// The same, one a shader engine.
    GRBM_SE_PERFCOUNTER_LO = Run::many("GRBM_SE", "_PERFCOUNTER_LO", 0xd045, 4, 2).until(Gfx::Gfx10);
    /// The same on gfx11.
    GRBM_SE_PERFCOUNTER_LO_GFX11 = Run::many("GRBM_SE", "_PERFCOUNTER_LO", 0xd045, 7, 2)
        .since(Gfx::Gfx11)
        .until(Gfx::Gfx11);
    /// High half.
    GRBM_SE_PERFCOUNTER_HI = Run::many("GRBM_SE", "_PERFCOUNTER_HI", 0xd046, 4, 2).until(Gfx::Gfx10);
    /// The same on gfx11.
    GRBM_SE_PERFCOUNTER_HI_GFX11 = Run::many("GRBM_SE", "_PERFCOUNTER_HI", 0xd046, 7, 2)
        .since(Gfx::Gfx11)
        .until(Gfx::Gfx11);
    /// Shader processor input; the high half is first.
    SPI_PERFCOUNTER_HI = Run::many("SPI_PERFCOUNTER", "_HI", 0xd180, 6, 2);
    /// Low half.
    SPI_PERFCOUNTER_LO = Run::many("SPI_PERFCOUNTER", "_LO", 0xd181, 6, 2);
    /// Sequencer.
    SQ_PERFCOUNTER_LO = Run::many("SQ_PERFCOUNTER", "_LO", 0xd1c0, 16, 2).until(Gfx::Gfx10);
    /// High half.
    SQ_PERFCOUNTER_HI = Run::many("SQ_PERFCOUNTER", "_HI", 0xd1c1, 16, 2).until(Gfx::Gfx10);
    /// Sequencer from gfx11 on: no high halves.
    SQ_PERFCOUNTER_LO_GFX11 = Run::many("SQ_PERFCOUNTER", "_LO", 0xd1c0, 8, 2).since(Gfx::Gfx11);
    /// Sequencer of the shader engine.
    SQG_PERFCOUNTER_LO = Run::many("SQG_PERFCOUNTER", "_LO", 0xd1e4, 8, 2).since(Gfx::Gfx11);
    /// High half.
    SQG_PERFCOUNTER_HI = Run::many("SQG_PERFCOUNTER", "_HI", 0xd1e5, 8, 2).since(Gfx::Gfx11);
    /// Shader export.
    SX_PERFCOUNTER_LO = Run::many("SX_PERFCOUNTER", "_LO", 0xd240, 4, 2);
    /// High half.
    SX_PERFCOUNTER_HI = Run::many("SX_PERFCOUNTER", "_HI", 0xd241, 4, 2);
    /// Texture addresser.
    TA_PERFCOUNTER_LO = Run::many("TA_PERFCOUNTER", "_LO", 0xd2c0, 2, 2);
    /// High half.
    TA_PERFCOUNTER_HI = Run::many("TA_PERFCOUNTER", "_HI", 0xd2c1, 2, 2);
    /// Vector L1.
    TCP_PERFCOUNTER_LO = Run::many("TCP_PERFCOUNTER", "_LO", 0xd340, 4, 2);
    /// High half.
    TCP_PERFCOUNTER_HI = Run::many("TCP_PERFCOUNTER", "_HI", 0xd341, 4, 2);
    /// L2 of gfx9.
    TCC_PERFCOUNTER_LO = Run::many("TCC_PERFCOUNTER", "_LO", 0xd380, 4, 2).until(Gfx::Gfx9);
    /// High half.
    TCC_PERFCOUNTER_HI = Run::many("TCC_PERFCOUNTER", "_HI", 0xd381, 4, 2).until(Gfx::Gfx9);
    /// L2.
    GL2C_PERFCOUNTER_LO = Run::many("GL2C_PERFCOUNTER", "_LO", 0xd380, 4, 2).since(Gfx::Gfx10);
    /// High half.
    GL2C_PERFCOUNTER_HI = Run::many("GL2C_PERFCOUNTER", "_HI", 0xd381, 4, 2).since(Gfx::Gfx10);
    /// GL1.
    GL1C_PERFCOUNTER_LO = Run::many("GL1C_PERFCOUNTER", "_LO", 0xd3a0, 4, 2).since(Gfx::Gfx10);
    /// High half.
    GL1C_PERFCOUNTER_HI = Run::many("GL1C_PERFCOUNTER", "_HI", 0xd3a1, 4, 2).since(Gfx::Gfx10);
    /// Selects of the compute command processor.
    CPC_PERFCOUNTER1_SELECT = Run::one("CPC_PERFCOUNTER1_SELECT", 0xd803);
    /// State of all counters.
    CP_PERFMON_CNTL = Run::one("CP_PERFMON_CNTL", 0xd808).until(Gfx::Gfx11).of(fields::cp_perfmon_cntl::ALL);
    /// The same on gfx12.
    CP_PERFMON_CNTL_1 = Run::one("CP_PERFMON_CNTL_1", 0xd808).since(Gfx::Gfx12).of(fields::cp_perfmon_cntl::ALL);
    /// Selects of the compute command processor.
    CPC_PERFCOUNTER0_SELECT = Run::one("CPC_PERFCOUNTER0_SELECT", 0xd809);
    /// Selects.
    GRBM_PERFCOUNTER_SELECT = Run::many("GRBM_PERFCOUNTER", "_SELECT", 0xd840, 2, 1)
        .of(fields::grbm_perfcounter_select::ALL);
    /// Selects.
    GRBM_SE_PERFCOUNTER_SELECT = Run::many("GRBM_SE", "_PERFCOUNTER_SELECT", 0xd842, 4, 1)
        .until(Gfx::Gfx10)
        .of(fields::grbm_perfcounter_select::ALL);
    /// Selects on gfx11.
    GRBM_SE_PERFCOUNTER_SELECT_GFX11 = Run::many("GRBM_SE", "_PERFCOUNTER_SELECT", 0xd842, 7, 1)
        .since(Gfx::Gfx11)
        .until(Gfx::Gfx11)
        .of(fields::grbm_perfcounter_select::ALL);
    /// Selects of counters 0 to 3.
    SPI_PERFCOUNTER_SELECT = Run::many("SPI_PERFCOUNTER", "_SELECT", 0xd980, 4, 1).until(Gfx::Gfx11);
    /// Selects of counters 4 and 5.
    SPI_PERFCOUNTER4_SELECT = Run::many("SPI_PERFCOUNTER", "_SELECT", 0xd988, 2, 1).base(4).until(Gfx::Gfx11);
    /// Selects on gfx12.
    SPI_PERFCOUNTER_SELECT_GFX12 = Run::many("SPI_PERFCOUNTER", "_SELECT", 0xd980, 6, 1).since(Gfx::Gfx12);
    /// Selects; from gfx11 on counter n is selected by the one with index 2n.
    SQ_PERFCOUNTER_SELECT = Run::many("SQ_PERFCOUNTER", "_SELECT", 0xd9c0, 16, 1)
        .of(fields::sq_perfcounter_select::ALL);
    /// Selects.
    SQG_PERFCOUNTER_SELECT = Run::many("SQG_PERFCOUNTER", "_SELECT", 0xd9d0, 8, 1).since(Gfx::Gfx11);
    /// What counts.
    SQG_PERFCOUNTER_CTRL = Run::one("SQG_PERFCOUNTER_CTRL", 0xd9d8).since(Gfx::Gfx11);
    /// What counts.
    SQ_PERFCOUNTER_CTRL = Run::one("SQ_PERFCOUNTER_CTRL", 0xd9e0).of(fields::sq_perfcounter_ctrl::ALL);
    /// What counts.
    SQ_PERFCOUNTER_CTRL2 = Run::one("SQ_PERFCOUNTER_CTRL2", 0xd9e2).of(fields::sq_perfcounter_ctrl2::ALL);
    /// Selects.
    SX_PERFCOUNTER_SELECT = Run::many("SX_PERFCOUNTER", "_SELECT", 0xda40, 4, 1);
    /// Selects.
    TA_PERFCOUNTER_SELECT = Run::many("TA_PERFCOUNTER", "_SELECT", 0xdac0, 2, 2);
    /// Second select of counter 0.
    TA_PERFCOUNTER0_SELECT1 = Run::one("TA_PERFCOUNTER0_SELECT1", 0xdac1);
    /// Selects of counters 0 to 2.
    TCP_PERFCOUNTER_SELECT = Run::many("TCP_PERFCOUNTER", "_SELECT", 0xdb40, 3, 2)
        .of(fields::tcp_perfcounter_select::ALL);
    /// Select of counter 3.
    TCP_PERFCOUNTER3_SELECT = Run::one("TCP_PERFCOUNTER3_SELECT", 0xdb45).of(fields::tcp_perfcounter_select::ALL);
    /// Selects of counters 0 to 2.
    TCC_PERFCOUNTER_SELECT = Run::many("TCC_PERFCOUNTER", "_SELECT", 0xdb80, 3, 2).until(Gfx::Gfx9);
    /// Select of counter 3.
    TCC_PERFCOUNTER3_SELECT = Run::one("TCC_PERFCOUNTER3_SELECT", 0xdb85).until(Gfx::Gfx9);
    /// Selects of counters 0 to 2; the same on gfx12.
    GL2C_PERFCOUNTER_SELECT = Run::many("GL2C_PERFCOUNTER", "_SELECT", 0xdb80, 3, 2)
        .since(Gfx::Gfx10)
        .of(fields::gl2c_perfcounter_select::ALL);
    /// Second selects of counters 0 and 1.
    GL2C_PERFCOUNTER_SELECT1 = Run::many("GL2C_PERFCOUNTER", "_SELECT1", 0xdb81, 2, 2).since(Gfx::Gfx10);
    /// Select of counter 3.
    GL2C_PERFCOUNTER3_SELECT = Run::one("GL2C_PERFCOUNTER3_SELECT", 0xdb85)
        .since(Gfx::Gfx10)
        .until(Gfx::Gfx11)
        .of(fields::gl2c_perfcounter_select::ALL);
    /// Select of counter 3 on gfx12.
    GL2C_PERFCOUNTER3_SELECT_GFX12 = Run::one("GL2C_PERFCOUNTER3_SELECT", 0xdb86)
        .since(Gfx::Gfx12)
        .of(fields::gl2c_perfcounter_select::ALL);
    /// Select of counter 0.
    GL1C_PERFCOUNTER0_SELECT = Run::one("GL1C_PERFCOUNTER0_SELECT", 0xdba0).since(Gfx::Gfx10);
    /// Clock of the counters: toggled on gfx9 (4.4).
    RLC_PERFMON_CLK_CNTL = Run::one("RLC_PERFMON_CLK_CNTL", 0xdcbf).until(Gfx::Gfx9);
    /// Run list controller.
    RLC_PERFMON_CNTL = Run::one("RLC_PERFMON_CNTL", 0xdcc0);
    /// Fabric of gfx10 and gfx11.
    GUS_PERFCOUNTER_RSLT_CNTL = Run::one("GUS_PERFCOUNTER_RSLT_CNTL", 0xde05).since(Gfx::Gfx10).until(Gfx::Gfx11);
}
