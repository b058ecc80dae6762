//! Clocks, performance counters and the memory layout of surfaces (kfd.md 5.1 and 5.2).

use super::bits::{Bits, bit_fields};
use super::plain::{c_enum, plain};
use super::{HSA_UUID, HSAuint32, HSAuint64};

/// Names a trace from its registration to its end.
pub type HSATraceId = HSAuint64;

/// Clocks of a node and of the host, read at about the same time.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaClockCounters {
    /// Counter of the GPU; its frequency is `HsaNodeProperties::WallClockKHz`.
    pub GPUClockCounter: HSAuint64,
    /// Counter of the CPU: nanoseconds on KFD, performance counter of the host on DXG.
    pub CPUClockCounter: HSAuint64,
    /// Counter of the system.
    pub SystemClockCounter: HSAuint64,
    /// Frequency of the counter of the system, Hz.
    pub SystemClockFrequencyHz: HSAuint64,
}
plain!(HsaClockCounters { GPUClockCounter, CPUClockCounter, SystemClockCounter, SystemClockFrequencyHz });

c_enum! {
    /// How a counter is read.
    HSA_PROFILE_TYPE: u32 {
        /// At once, with privileges.
        HSA_PROFILE_TYPE_PRIVILEGED_IMMEDIATE = 0;
        /// As a stream, with privileges.
        HSA_PROFILE_TYPE_PRIVILEGED_STREAMING = 1;
        /// At once.
        HSA_PROFILE_TYPE_NONPRIV_IMMEDIATE = 2;
        /// As a stream.
        HSA_PROFILE_TYPE_NONPRIV_STREAMING = 3;
        /// Number of ways.
        HSA_PROFILE_TYPE_NUM = 4;
        /// Keeps the enumeration at 32 bits.
        HSA_PROFILE_TYPE_SIZE = 0xffffffff;
    }
}

bit_fields! {
    /// Properties of a counter.
    #[cfg_attr(c_header, c = "struct _HsaCounterFlags { union { struct { $bits } ui32; HSAuint32 Value; }; }")]
    HsaCounterFlags: HSAuint32 {
        /// Counts for all processes, not only for this one.
        Global: 0, 1;
        /// Can be reset.
        Resettable: 1, 1;
        /// Cannot be written.
        ReadOnly: 2, 1;
        /// Can be read as a stream.
        Stream: 3, 1;
        /// Not assigned, 0.
        Reserved: 4, 28;
    }
}

/// One counter of a block.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaCounter {
    /// How it is read.
    pub Type: HSA_PROFILE_TYPE,
    /// What it counts, as numbered in its block.
    pub CounterId: HSAuint64,
    /// Its width, bits.
    pub CounterSizeInBits: HSAuint32,
    /// The bits of a value that count.
    pub CounterMask: HSAuint64,
    /// Its properties.
    pub Flags: HsaCounterFlags,
    /// Its block, as numbered by HsaCounterProperties.
    pub BlockIndex: HSAuint32,
}
plain!(HsaCounter { Type, CounterId, CounterSizeInBits, CounterMask, Flags, BlockIndex });

/// A block of counters. Longer than its size says: `Counters` has `NumCounters` entries, and the next block follows.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaCounterBlockProperties {
    /// Name of the block.
    pub BlockId: HSA_UUID,
    /// Number of counters.
    pub NumCounters: HSAuint32,
    /// How many can count at the same time.
    pub NumConcurrent: HSAuint32,
    /// The counters.
    pub Counters: [HsaCounter; 1],
}
plain!(HsaCounterBlockProperties { BlockId, NumCounters, NumConcurrent, Counters });

/// All counters of a node. Longer than its size says: `Blocks` has `NumBlocks` entries of different lengths.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaCounterProperties {
    /// Number of blocks.
    pub NumBlocks: HSAuint32,
    /// How many blocks can be used at the same time.
    pub NumConcurrent: HSAuint32,
    /// The first block.
    pub Blocks: [HsaCounterBlockProperties; 1],
}
plain!(HsaCounterProperties { NumBlocks, NumConcurrent, Blocks });

/// What a trace needs.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaPmcTraceRoot {
    /// Smallest buffer for its values, bytes.
    pub TraceBufferMinSizeBytes: HSAuint64,
    /// How often the work must run to count everything.
    pub NumberOfPasses: HSAuint32,
    /// Name of the trace.
    pub TraceId: HSATraceId,
}
plain!(HsaPmcTraceRoot { TraceBufferMinSizeBytes, NumberOfPasses, TraceId });

/// How the GPU lays out surfaces in memory. The caller owns the arrays and gives their lengths.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaGpuTileConfig {
    /// Tile modes, as the hardware encodes them.
    pub TileConfig: *mut HSAuint32,
    /// Macro tile modes, as the hardware encodes them.
    pub MacroTileConfig: *mut HSAuint32,
    /// Length of `TileConfig`: in what fits, out what was written.
    pub NumTileConfigs: HSAuint32,
    /// Length of `MacroTileConfig`: in what fits, out what was written.
    pub NumMacroTileConfigs: HSAuint32,
    /// Address configuration register.
    pub GbAddrConfig: HSAuint32,
    /// Number of memory banks.
    pub NumBanks: HSAuint32,
    /// Number of memory ranks.
    pub NumRanks: HSAuint32,
    /// Not assigned, 0.
    pub Reserved: [HSAuint32; 7],
}
plain!(HsaGpuTileConfig {
    TileConfig,
    MacroTileConfig,
    NumTileConfigs,
    NumMacroTileConfigs,
    GbAddrConfig,
    NumBanks,
    NumRanks,
    Reserved,
});
