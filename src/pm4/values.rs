//! What the fields of packets can be: named numbers.

use super::Gfx;
use super::layout::Value;
use core::fmt;

/// Named numbers: every number that the field can hold is a value, some have names.
macro_rules! names {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($(#[$vdoc:meta])* $value:ident = $number:literal $(since $since:ident)?;)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name(pub u8);

        impl $name {
            $($(#[$vdoc])* pub const $value: Self = Self($number);)*

            /// The name that the number has on a generation.
            pub fn name(self, gfx: Gfx) -> Option<&'static str> {
                let mut name = None;
                $(if self.0 == $number $(&& gfx >= Gfx::$since)? { name = Some(stringify!($value)); })*
                let _ = gfx;
                name
            }
        }

        impl Value for $name {
            fn raw(self) -> u64 {
                self.0.into()
            }

            fn from_raw(raw: u64) -> Self {
                Self(raw as u8)
            }

            fn show(self, gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name(gfx) {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{:#x}", self.0),
                }
            }
        }
    )*};
}

names! {
    /// Event of EVENT_WRITE and RELEASE_MEM (2.3; the others are `VGT_EVENT_TYPE` of PAL's enum headers).
    EventType {
        /// Wait until all compute work before it is done; index 4.
        CS_PARTIAL_FLUSH = 0x07;
        /// Write back and invalidate caches, then write a timestamp or data; index 5. What RELEASE_MEM carries.
        CACHE_FLUSH_AND_INV_TS_EVENT = 0x14;
        /// Write back and invalidate caches.
        CACHE_FLUSH_AND_INV_EVENT = 0x16;
        /// Start windowed counters.
        PERFCOUNTER_START = 0x17;
        /// Stop windowed counters.
        PERFCOUNTER_STOP = 0x18;
        /// Sample windowed counters.
        PERFCOUNTER_SAMPLE = 0x1b;
        /// When all work before it is done.
        BOTTOM_OF_PIPE_TS = 0x28;
        /// When all compute work before it is done; index 6.
        CS_DONE = 0x2f;
        /// Start of a thread trace.
        THREAD_TRACE_START = 0x33;
        /// End of a thread trace.
        THREAD_TRACE_STOP = 0x34;
        /// Wait for a thread trace to be written.
        THREAD_TRACE_FINISH = 0x37;
    }

    /// Group of an event (`soc15d.h`).
    EventIndex {
        /// Any other event.
        OTHER = 0;
        /// Statistics of the pipeline.
        SAMPLE_PIPELINESTAT = 2;
        /// CS_PARTIAL_FLUSH and its kin.
        PARTIAL_FLUSH = 4;
        /// RELEASE_MEM: end of pipe.
        END_OF_PIPE = 5;
        /// RELEASE_MEM: shader done.
        SHADER_DONE = 6;
    }

    /// How L2 treats an access: two bits. From gfx12 on the same bits are a temporal hint, and none of the numbers has
    /// the meaning that it had (PAL's gfx12 MEC packet header).
    CachePolicy {
        /// Least recently used first.
        LRU = 0;
        /// Streamed: first to be replaced.
        STREAM = 1;
        /// Not allocated.
        NOA = 2;
        /// Past the cache.
        BYPASS = 3;
        /// gfx12: regular.
        RT = 0 since Gfx12;
        /// gfx12: non-temporal.
        NT = 1 since Gfx12;
        /// gfx12: high priority.
        HT = 2 since Gfx12;
        /// gfx12: last use.
        LU = 3 since Gfx12;
    }

    /// Source of COPY_DATA (2.3).
    CopySource {
        /// Register, by dword address.
        REGISTER = 0;
        /// Memory.
        MEMORY = 1;
        /// Memory through L2.
        TC_L2 = 2;
        /// Performance counter register in the privileged range, by dword address.
        PERFCOUNTER = 4;
        /// The source field itself.
        IMMEDIATE = 5;
        /// Clock of the GPU.
        GPU_CLOCK = 9;
        /// Clock of the system.
        SYSTEM_CLOCK = 10;
    }

    /// Destination of COPY_DATA (2.3).
    CopyDest {
        /// Register, by dword address.
        REGISTER = 0;
        /// Memory through L2.
        TC_L2 = 2;
        /// Performance counter register in the privileged range, by dword address.
        PERFCOUNTER = 4;
        /// Memory.
        MEMORY = 5;
    }

    /// Destination of WRITE_DATA (2.3; 2 is of `soc15d.h`).
    WriteDest {
        /// Register, by dword address.
        REGISTER = 0;
        /// Memory through L2.
        TC_L2 = 2;
        /// Memory.
        MEMORY = 5;
    }

    /// What WRITE_DATA does with the address after each dword (2.3).
    AddrIncr {
        /// The next dword goes to the next place.
        INCREMENT = 0;
        /// Every dword goes to the same place.
        ONE_ADDRESS = 1;
    }

    /// Amount that COPY_DATA copies (2.3).
    CountSel {
        /// 32 bits.
        BITS_32 = 0;
        /// 64 bits.
        BITS_64 = 1;
    }

    /// Operation of an atomic (2.3), in PM4 and SDMA; the `_RTN` half of the table, 0x40 is added where nothing is
    /// returned ([`AtomicOp::no_return`]).
    AtomicOp {
        /// Exchange 32 bits.
        SWAP_32 = 0x07;
        /// Compare and exchange 32 bits.
        CMPSWAP_32 = 0x08;
        /// Add 32 bits.
        ADD_32 = 0x0f;
        /// Exchange 64 bits.
        SWAP_64 = 0x27;
        /// Compare and exchange 64 bits.
        CMPSWAP_64 = 0x28;
        /// Add 64 bits.
        ADD_64 = 0x2f;
        /// Exchange 32 bits, nothing returned.
        SWAP_32_NO_RETURN = 0x47;
        /// Compare and exchange 32 bits, nothing returned.
        CMPSWAP_32_NO_RETURN = 0x48;
        /// Add 32 bits, nothing returned.
        ADD_32_NO_RETURN = 0x4f;
        /// Exchange 64 bits, nothing returned.
        SWAP_64_NO_RETURN = 0x67;
        /// Compare and exchange 64 bits, nothing returned.
        CMPSWAP_64_NO_RETURN = 0x68;
        /// Add 64 bits, nothing returned.
        ADD_64_NO_RETURN = 0x6f;
    }

    /// How ATOMIC_MEM is executed (2.3).
    AtomicCommand {
        /// Once.
        SINGLE_PASS = 0;
        /// Again until the comparison is satisfied.
        LOOP_UNTIL_COMPARE_SATISFIED = 1;
    }

    /// Comparison of what is there with the reference (2.3 and 3).
    Function {
        /// True.
        ALWAYS = 0;
        /// `<`.
        LESS = 1;
        /// `<=`.
        LESS_EQUAL = 2;
        /// `==`.
        EQUAL = 3;
        /// `!=`.
        NOT_EQUAL = 4;
        /// `>=`.
        GREATER_EQUAL = 5;
        /// `>`.
        GREATER = 6;
    }

    /// What WAIT_REG_MEM reads (2.3).
    MemSpace {
        /// Register, by dword address.
        REGISTER = 0;
        /// Memory.
        MEMORY = 1;
    }

    /// What WAIT_REG_MEM does (2.3; names of `soc15d.h`).
    WaitOperation {
        /// Wait.
        WAIT_REG_MEM = 0;
        /// Write the reference to the register at the low address, wait for the register at the high one.
        WR_WAIT_WR_REG = 1;
        /// Wait, and may be preempted meanwhile.
        WAIT_MEM_PREEMPTABLE = 3;
    }

    /// Where RELEASE_MEM writes (`soc15d.h`).
    ReleaseDest {
        /// Memory.
        MEMORY = 0;
        /// Memory through L2.
        TC_L2 = 1;
    }

    /// Interrupt of RELEASE_MEM (`soc15d.h`).
    IntSel {
        /// None.
        NONE = 0;
        /// Interrupt, no data.
        INTERRUPT_ONLY = 1;
        /// Interrupt after the write is confirmed.
        INTERRUPT_AFTER_WRITE = 2;
        /// The write is confirmed, no interrupt.
        DATA_AFTER_WRITE = 3;
    }

    /// Data of RELEASE_MEM (2.3).
    DataSel {
        /// None.
        NONE = 0;
        /// 32 bits.
        BITS_32 = 1;
        /// 64 bits.
        BITS_64 = 2;
        /// Clock of the GPU.
        GPU_CLOCK = 3;
    }

    /// Source of DMA_DATA (`nvd.h`).
    DmaSource {
        /// Memory, or a register when `sas` is set.
        ADDRESS = 0;
        /// The low half of the source field, for every dword.
        DATA = 2;
        /// Memory through L2.
        TC_L2 = 3;
    }

    /// Destination of DMA_DATA (`nvd.h`).
    DmaDest {
        /// Memory, or a register when `das` is set.
        ADDRESS = 0;
        /// Nowhere: the source is only fetched.
        NOWHERE = 2;
        /// Memory through L2.
        TC_L2 = 3;
    }
}

impl AtomicOp {
    /// The same operation, nothing returned (2.3: + 0x40).
    pub const fn no_return(self) -> Self {
        Self(self.0 | 0x40)
    }

    /// Whether it works on 64 bits: the second and fourth quarter of the table.
    pub const fn is_64(self) -> bool {
        self.0 & 0x20 != 0
    }
}
