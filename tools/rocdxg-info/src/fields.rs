//! Every field of the C structures, by its name in the header, with its value taken apart.
//!
//! The structures are destructured without a rest pattern: a field that the header gains does not compile here until
//! it is listed.
#![allow(non_snake_case)]

use rocdxg::abi::*;

use crate::{facts, names};

/// Value of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// Words.
    Text(String),
    /// A word and its bit-fields, lowest bits first.
    Word {
        /// The whole word.
        value: u64,
        /// The bit-fields.
        bits: Vec<Bit>,
    },
    /// A value of an enumeration, and its name if the header has one.
    Enumerator {
        /// The number.
        value: u32,
        /// The name.
        name: Option<&'static str>,
    },
    /// Indexes of the elements of an array that are not 0.
    Indexes(Vec<usize>),
}

/// A bit-field of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bit {
    /// Name in the header.
    pub name: &'static str,
    /// Number of bits.
    pub width: u32,
    /// Value.
    pub value: u64,
}

/// Name in the header, and value.
pub type Field = (&'static str, Value);

macro_rules! numbers {
    ($($type:ty)*) => { $(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::Number(value.into())
            }
        }
    )* };
}
numbers!(u8 u16 u32 u64);

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Signed(value.into())
    }
}

impl From<[u16; 64]> for Value {
    fn from(units: [u16; 64]) -> Self {
        Self::Text(facts::wide_text(&units))
    }
}

impl From<[u8; 64]> for Value {
    fn from(bytes: [u8; 64]) -> Self {
        Self::Text(facts::text(&bytes))
    }
}

impl From<[u32; 256]> for Value {
    fn from(map: [u32; 256]) -> Self {
        Self::Indexes(map.iter().enumerate().filter(|(_, value)| **value != 0).map(|(index, _)| index).collect())
    }
}

impl From<HSA_HEAPTYPE> for Value {
    fn from(kind: HSA_HEAPTYPE) -> Self {
        Self::Enumerator { value: kind.0, name: names::heap(kind) }
    }
}

impl From<HSA_IOLINKTYPE> for Value {
    fn from(kind: HSA_IOLINKTYPE) -> Self {
        Self::Enumerator { value: kind.0, name: names::link(kind) }
    }
}

macro_rules! words {
    ($($type:ident { $($field:ident),* $(,)? })*) => {
        $(
            impl From<$type> for Value {
                fn from(word: $type) -> Self {
                    Self::Word {
                        value: word.0.into(),
                        bits: vec![$(Bit {
                            name: stringify!($field),
                            width: $type::$field.width,
                            value: word.get($type::$field).into(),
                        }),*],
                    }
                }
            }
        )*

        /// Width and bit-fields of each word.
        #[cfg(test)]
        fn layouts() -> Vec<(&'static str, u32, Vec<Bits>)> {
            vec![$((stringify!($type), 8 * size_of::<$type>() as u32, vec![$($type::$field),*])),*]
        }
    };
}

words! {
    HSA_CAPABILITY {
        HotPluggable, HSAMMUPresent, SharedWithGraphics, QueueSizePowerOfTwo, QueueSize32bit, QueueIdleEvent, VALimit,
        WatchPointsSupported, WatchPointsTotalBits, DoorbellType, AQLQueueDoubleMap, DebugTrapSupported,
        WaveLaunchTrapOverrideSupported, WaveLaunchModeSupported, PreciseMemoryOperationsSupported,
        DEPRECATED_SRAM_EDCSupport, Mem_EDCSupport, RASEventNotify, ASICRevision, SRAM_EDCSupport, SVMAPISupported,
        CoherentHostAccess, DebugSupportedFirmware, PreciseALUOperationsSupported, PerQueueResetSupported,
    }
    HSA_CAPABILITY2 { PerSDMAQueueResetSupported, AqlEmulationPm4_, StallOnRetryFault, Reserved }
    HSA_ENGINE_ID { uCode, Major, Minor, Stepping }
    HSA_ENGINE_VERSION { uCodeSDMA, uCodeRes, Reserved }
    HSA_DEBUG_PROPERTIES {
        WatchAddrMaskLoBit, WatchAddrMaskHiBit, DispatchInfoAlwaysValid, AddressWatchpointShareKind, Reserved,
    }
    HSA_MEMORYPROPERTY { HotPluggable, NonVolatile, Reserved }
    HsaCacheType { Data, Instruction, CPU, HSACU, Reserved }
    HSA_LINKPROPERTY { Override, NonCoherent, NoAtomics32bit, NoAtomics64bit, NoPeerToPeerDMA, Reserved }
}

macro_rules! fields {
    ($(#[$doc:meta])* $function:ident: $type:ident { $($field:ident),* $(,)? }) => {
        $(#[$doc])*
        pub fn $function(of: &$type) -> Vec<Field> {
            let $type { $($field),* } = *of;
            vec![$((stringify!($field), Value::from($field))),*]
        }
    };
}

fields! {
    /// Fields of the kernel interface version.
    interface: HsaVersionInfo { KernelInterfaceMajorVersion, KernelInterfaceMinorVersion }
}

fields! {
    /// Fields of the machine-wide numbers.
    system: HsaSystemProperties { NumNodes, PlatformOem, PlatformId, PlatformRev }
}

fields! {
    /// Fields of a node.
    node: HsaNodeProperties {
        NumCPUCores, NumFComputeCores, NumNeuralCores, NumMemoryBanks, NumCaches, NumIOLinks, CComputeIdLo,
        FComputeIdLo, Capability, Capability2, MaxWavesPerSIMD, LDSSizeInKB, GDSSizeInKB, WaveFrontSize,
        NumShaderBanks, NumArrays, NumCUPerArray, NumSIMDPerCU, MaxSlotsScratchCU, EngineId, OverrideEngineId,
        VendorId, DeviceId, LocationId, LocalMemSize, MaxEngineClockMhzFCompute, MaxEngineClockMhzCCompute,
        DrmRenderMinor, MarketingName, AMDName, uCodeEngineVersions, DebugProperties, HiveID, NumSdmaEngines,
        NumSdmaXgmiEngines, NumSdmaQueuesPerEngine, NumCpQueues, NumGws, Integrated, Domain, UniqueID,
        VGPRSizePerCU, SGPRSizePerCU, NumXcc, KFDGpuID, FamilyID, CwsrSize, CtlStackSize, LuidLowPart,
        LuidHighPart, WallClockKHz, FabricHandleSupported,
    }
}

fields! {
    /// Fields of a memory bank.
    bank: HsaMemoryProperties { HeapType, SizeInBytes, Flags, Width, MemoryClockMax, VirtualBaseAddress }
}

fields! {
    /// Fields of a cache.
    cache: HsaCacheProperties {
        ProcessorIdLow, CacheLevel, CacheSize, CacheLineSize, CacheLinesPerTag, CacheAssociativity, CacheLatency,
        CacheType, SiblingMap, PersistingCacheSizeMax,
    }
}

fields! {
    /// Fields of a link.
    link: HsaIoLinkProperties {
        IoLinkType, VersionMajor, VersionMinor, NodeFrom, NodeTo, Weight, MinimumLatency, MaximumLatency,
        MinimumBandwidth, MaximumBandwidth, RecTransferSize, RecSdmaEngIdMask, Flags,
    }
}

/// The bit-fields of a word that are not 0: of single bits the name, of wider fields the value too.
pub fn set_bits(value: &Value) -> String {
    let Value::Word { bits, .. } = value else { return String::new() };
    let set = bits.iter().filter(|bit| bit.value != 0);
    let shown = set.map(|bit| match bit.width {
        1 => bit.name.to_owned(),
        _ => format!("{}={}", bit.name, bit.value),
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_fields_cover_each_word_once() {
        for (name, width, fields) in layouts() {
            let sum: u32 = fields.iter().map(|bits| bits.width).sum();
            let all = fields.iter().fold(0, |all, bits| all | bits.mask());
            assert_eq!((sum, all), (width, u64::MAX >> (64 - width)), "{name}");
        }
    }

    #[test]
    fn a_word_names_what_is_set() {
        let word = HSA_CAPABILITY(0).with(HSA_CAPABILITY::DoorbellType, 2).with(HSA_CAPABILITY::SVMAPISupported, 1);
        assert_eq!(set_bits(&word.into()), "DoorbellType=2 SVMAPISupported");
        assert_eq!(set_bits(&HSA_CAPABILITY(0).into()), "");
    }

    #[test]
    fn arrays_become_words_and_indexes() {
        let mut map = [0; 256];
        (map[3], map[255]) = (1, 7);
        assert_eq!(Value::from(map), Value::Indexes(vec![3, 255]));
        let mut name = [0; 64];
        name[..2].copy_from_slice(b"ab");
        assert_eq!(Value::from(name), Value::Text("ab".into()));
    }
}
