//! Sampling of program counters (kfd.md 5.4).

use super::plain::{c_enum, plain};
use super::{HSAuint32, HSAuint64};

/// Names a sampling from its creation to its destruction.
pub type HsaPcSamplingTraceId = HSAuint32;

c_enum! {
    /// How samples are taken.
    HSA_PC_SAMPLING_METHOD_KIND: u32 {
        /// The host interrupts the waves.
        HSA_PC_SAMPLING_METHOD_KIND_HOSTTRAP_V1 = 1;
        /// The hardware picks waves.
        HSA_PC_SAMPLING_METHOD_KIND_STOCHASTIC_V1 = 2;
    }
}

c_enum! {
    /// Unit of the interval between samples.
    #[cfg_attr(c_header, tag = "_HSA_PC_SAMPLING_UNITS")]
    HSA_PC_SAMPLING_UNIT_INTERVAL: u32 {
        /// Microseconds.
        HSA_PC_SAMPLING_UNIT_INTERVAL_MICROSECONDS = 0;
        /// Clock cycles.
        HSA_PC_SAMPLING_UNIT_INTERVAL_CYCLES = 1;
        /// Instructions.
        HSA_PC_SAMPLING_UNIT_INTERVAL_INSTRUCTIONS = 2;
    }
}

/// A way of sampling: one that a node offers, or the one that is wanted.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaPcSamplingInfo {
    /// Interval between samples, in `units`; 0 when none is running.
    pub value: HSAuint64,
    /// Shortest interval.
    pub value_min: HSAuint64,
    /// Longest interval.
    pub value_max: HSAuint64,
    /// Bit 0: the interval must be a power of two.
    pub flags: HSAuint64,
    /// How samples are taken.
    pub method: HSA_PC_SAMPLING_METHOD_KIND,
    /// Unit of the intervals.
    pub units: HSA_PC_SAMPLING_UNIT_INTERVAL,
}
plain!(HsaPcSamplingInfo { value, value_min, value_max, flags, method, units });
