//! Fields of the registers that dispatches and counters set (queues-pm4.md sections 2.4, 4.4 and 4.5).
//!
//! Where a field moved or grew, each generation has its own constant and all show the same name.

use super::Gfx;
use super::bits::Field;

/// Declares a module of fields for each register.
macro_rules! fields {
    ($($(#[$doc:meta])* $register:ident { $($(#[$fdoc:meta])* $field:ident = $value:expr;)* })*) => {$(
        $(#[$doc])*
        pub mod $register {
            use super::{Field, Gfx};

            $($(#[$fdoc])* pub const $field: Field = $value;)*
            /// All fields, on any generation.
            pub const ALL: &[Field] = &[$($field),*];
            const _: Option<Gfx> = None;
        }
    )*};
}

fields! {
    /// `COMPUTE_DISPATCH_INITIATOR`, which DISPATCH packets carry (2.3).
    compute_dispatch_initiator {
        /// Start.
        COMPUTE_SHADER_EN = Field::new("COMPUTE_SHADER_EN", 0, 1);
        /// Ignore the START registers.
        FORCE_START_AT_000 = Field::new("FORCE_START_AT_000", 2, 1);
        /// Sizes are work-items.
        USE_THREAD_DIMENSIONS = Field::new("USE_THREAD_DIMENSIONS", 5, 1);
        /// Waves of 32 lanes.
        CS_W32_EN = Field::new("CS_W32_EN", 15, 1).since(Gfx::Gfx10);
    }

    /// `COMPUTE_PGM_RSRC1`.
    compute_pgm_rsrc1 {
        /// Vector registers, in granules less one.
        VGPRS = Field::new("VGPRS", 0, 6);
        /// Scalar registers, in granules less one.
        SGPRS = Field::new("SGPRS", 6, 4);
        /// Priority of waves.
        PRIORITY = Field::new("PRIORITY", 10, 2);
        /// Rounding and denormals.
        FLOAT_MODE = Field::new("FLOAT_MODE", 12, 8);
        /// Privileged; the original sets it on gfx11.
        PRIV = Field::new("PRIV", 20, 1);
        /// NaN clamps to 0.
        DX10_CLAMP = Field::new("DX10_CLAMP", 21, 1).until(Gfx::Gfx11);
        /// Round robin between workgroups.
        WG_RR_EN = Field::new("WG_RR_EN", 21, 1).since(Gfx::Gfx12);
        /// Start in the trap handler's debug mode.
        DEBUG_MODE = Field::new("DEBUG_MODE", 22, 1);
        /// IEEE treatment of NaN.
        IEEE_MODE = Field::new("IEEE_MODE", 23, 1).until(Gfx::Gfx11);
        /// No performance optimisation.
        DISABLE_PERF = Field::new("DISABLE_PERF", 23, 1).since(Gfx::Gfx12);
        /// One workgroup a unit.
        BULKY = Field::new("BULKY", 24, 1);
        /// Overflow of 16-bit floats clamps.
        FP16_OVFL = Field::new("FP16_OVFL", 26, 1);
        /// Workgroups use both units of a pair.
        WGP_MODE = Field::new("WGP_MODE", 29, 1).since(Gfx::Gfx10);
        /// Memory operations return in order.
        MEM_ORDERED = Field::new("MEM_ORDERED", 30, 1).since(Gfx::Gfx10);
        /// Waves make progress in age order.
        FWD_PROGRESS = Field::new("FWD_PROGRESS", 31, 1).since(Gfx::Gfx10);
    }

    /// `COMPUTE_PGM_RSRC2`.
    compute_pgm_rsrc2 {
        /// The kernel uses scratch.
        SCRATCH_EN = Field::new("SCRATCH_EN", 0, 1);
        /// Number of user registers.
        USER_SGPR = Field::new("USER_SGPR", 1, 5);
        /// Traps are on.
        TRAP_PRESENT = Field::new("TRAP_PRESENT", 6, 1);
        /// Workgroup id x in a register.
        TGID_X_EN = Field::new("TGID_X_EN", 7, 1);
        /// Workgroup id y in a register.
        TGID_Y_EN = Field::new("TGID_Y_EN", 8, 1);
        /// Workgroup id z in a register.
        TGID_Z_EN = Field::new("TGID_Z_EN", 9, 1);
        /// Workgroup size in a register.
        TG_SIZE_EN = Field::new("TG_SIZE_EN", 10, 1);
        /// Components of the work-item id, less one.
        TIDIG_COMP_CNT = Field::new("TIDIG_COMP_CNT", 11, 2);
        /// Group memory, in blocks of 512 bytes.
        LDS_SIZE = Field::new("LDS_SIZE", 15, 9);
    }

    /// `COMPUTE_PGM_RSRC3`.
    compute_pgm_rsrc3 {
        /// Instructions that are prefetched.
        INST_PREF_SIZE = Field::new("INST_PREF_SIZE", 4, 6).since(Gfx::Gfx11).until(Gfx::Gfx11);
        /// Instructions that are prefetched.
        INST_PREF_SIZE_GFX12 = Field::new("INST_PREF_SIZE", 4, 8).since(Gfx::Gfx12);
        /// `glg_en`.
        GLG_EN = Field::new("GLG_EN", 13, 1).since(Gfx::Gfx12);
        /// The kernel uses image instructions; the original always sets it.
        IMAGE_OP = Field::new("IMAGE_OP", 31, 1).since(Gfx::Gfx11);
    }

    /// `COMPUTE_RESOURCE_LIMITS`.
    compute_resource_limits {
        /// Waves of a shader array; 0x3ff for no limit.
        WAVES_PER_SH = Field::new("WAVES_PER_SH", 0, 10);
        /// Workgroups of a unit.
        TG_PER_CU = Field::new("TG_PER_CU", 12, 4);
    }

    /// `COMPUTE_TMPRING_SIZE` (2.4; units are those of 2.8).
    compute_tmpring_size {
        /// Waves that scratch is for; for one shader engine from gfx11 on.
        WAVES = Field::new("WAVES", 0, 12);
        /// Scratch of a wave in units of 1024 bytes.
        WAVESIZE = Field::new("WAVESIZE", 12, 13).until(Gfx::Gfx10);
        /// Scratch of a wave in units of 256 bytes.
        WAVESIZE_GFX11 = Field::new("WAVESIZE", 12, 15).since(Gfx::Gfx11).until(Gfx::Gfx11);
        /// Scratch of a wave in units of 256 bytes.
        WAVESIZE_GFX12 = Field::new("WAVESIZE", 12, 18).since(Gfx::Gfx12);
    }

    /// `COMPUTE_STATIC_THREAD_MGMT_SE*`.
    compute_static_thread_mgmt {
        /// Units of shader array 0.
        SA0_CU_EN = Field::new("SA0_CU_EN", 0, 16);
        /// Units of shader array 1.
        SA1_CU_EN = Field::new("SA1_CU_EN", 16, 16);
    }

    /// `GRBM_GFX_INDEX` (4.5): which instances the next register accesses mean.
    grbm_gfx_index {
        /// Instance.
        INSTANCE_INDEX = Field::new("INSTANCE_INDEX", 0, 8).until(Gfx::Gfx11);
        /// Instance; gfx11.5 has this width too.
        INSTANCE_INDEX_GFX12 = Field::new("INSTANCE_INDEX", 0, 7).since(Gfx::Gfx12);
        /// Shader array.
        SA_INDEX = Field::new("SA_INDEX", 8, 8).until(Gfx::Gfx11);
        /// Shader array.
        SA_INDEX_GFX12 = Field::new("SA_INDEX", 8, 2).since(Gfx::Gfx12);
        /// Shader engine.
        SE_INDEX = Field::new("SE_INDEX", 16, 8).until(Gfx::Gfx11);
        /// Shader engine.
        SE_INDEX_GFX12 = Field::new("SE_INDEX", 16, 4).since(Gfx::Gfx12);
        /// Every shader array.
        SA_BROADCAST_WRITES = Field::new("SA_BROADCAST_WRITES", 29, 1);
        /// Every instance.
        INSTANCE_BROADCAST_WRITES = Field::new("INSTANCE_BROADCAST_WRITES", 30, 1);
        /// Every shader engine.
        SE_BROADCAST_WRITES = Field::new("SE_BROADCAST_WRITES", 31, 1);
    }

    /// `CP_PERFMON_CNTL` (4.5).
    cp_perfmon_cntl {
        /// 0 disabled and reset, 1 counting, 2 stopped.
        PERFMON_STATE = Field::new("PERFMON_STATE", 0, 4);
        /// The same for streaming.
        SPM_PERFMON_STATE = Field::new("SPM_PERFMON_STATE", 4, 4);
        /// When it counts.
        PERFMON_ENABLE_MODE = Field::new("PERFMON_ENABLE_MODE", 8, 2);
        /// Latch the counters for reading.
        PERFMON_SAMPLE_ENABLE = Field::new("PERFMON_SAMPLE_ENABLE", 10, 1);
    }

    /// `GRBM_PERFCOUNTER*_SELECT` (4.5).
    grbm_perfcounter_select {
        /// Event.
        PERF_SEL = Field::new("PERF_SEL", 0, 6);
    }

    /// `SQ_PERFCOUNTER*_SELECT` (4.5).
    sq_perfcounter_select {
        /// Event.
        PERF_SEL = Field::new("PERF_SEL", 0, 9);
        /// Banks that count; all of them.
        SQC_BANK_MASK = Field::new("SQC_BANK_MASK", 12, 4).since(Gfx::Gfx10).until(Gfx::Gfx10);
        /// Streaming mode.
        SPM_MODE = Field::new("SPM_MODE", 20, 4).since(Gfx::Gfx11);
        /// Counting mode.
        PERF_MODE = Field::new("PERF_MODE", 28, 4).since(Gfx::Gfx11);
    }

    /// `SQ_PERFCOUNTER_CTRL` (4.5): kinds of shader that count.
    sq_perfcounter_ctrl {
        /// Pixel shaders.
        PS_EN = Field::new("PS_EN", 0, 1).since(Gfx::Gfx10);
        /// Vertex shaders.
        VS_EN = Field::new("VS_EN", 1, 1).since(Gfx::Gfx10).until(Gfx::Gfx10);
        /// Geometry shaders.
        GS_EN = Field::new("GS_EN", 2, 1).since(Gfx::Gfx10);
        /// Export shaders.
        ES_EN = Field::new("ES_EN", 3, 1).since(Gfx::Gfx10).until(Gfx::Gfx10);
        /// Hull shaders.
        HS_EN = Field::new("HS_EN", 4, 1).since(Gfx::Gfx10);
        /// Local shaders.
        LS_EN = Field::new("LS_EN", 5, 1).since(Gfx::Gfx10).until(Gfx::Gfx10);
        /// Compute shaders.
        CS_EN = Field::new("CS_EN", 6, 1).since(Gfx::Gfx10);
        /// Pipes that do not count, one bit each.
        DISABLE_PIPES = Field::new("DISABLE_PIPES", 14, 6).since(Gfx::Gfx10);
    }

    /// `SQ_PERFCOUNTER_CTRL2` (4.5).
    sq_perfcounter_ctrl2 {
        /// Count always.
        FORCE_EN = Field::new("FORCE_EN", 0, 1).since(Gfx::Gfx11);
        /// Address spaces that count, one bit each.
        VMID_EN = Field::new("VMID_EN", 1, 16).since(Gfx::Gfx11);
    }

    /// `GL2C_PERFCOUNTER*_SELECT` (4.5).
    gl2c_perfcounter_select {
        /// Event.
        PERF_SEL = Field::new("PERF_SEL", 0, 10);
        /// Second event.
        PERF_SEL1 = Field::new("PERF_SEL1", 10, 10);
        /// Counter mode.
        CNTR_MODE = Field::new("CNTR_MODE", 20, 4);
        /// Counting mode.
        PERF_MODE = Field::new("PERF_MODE", 28, 4);
    }

    /// `TCP_PERFCOUNTER*_SELECT` (4.5).
    tcp_perfcounter_select {
        /// Event.
        PERF_SEL = Field::new("PERF_SEL", 0, 10);
    }
}
