//! Types of the topology and lifecycle calls.

use super::bits::{Bits, bit_fields};
use super::status::c_enum;
use super::{HSAint32, HSAuint8, HSAuint16, HSAuint32, HSAuint64};

c_enum! {
    /// Kind of a memory bank.
    HSA_HEAPTYPE: u32 {
        /// Value 0 of the header.
        HSA_HEAPTYPE_SYSTEM = 0;
        /// Value 1 of the header.
        HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC = 1;
        /// Value 2 of the header.
        HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE = 2;
        /// Value 3 of the header.
        HSA_HEAPTYPE_GPU_GDS = 3;
        /// Value 4 of the header.
        HSA_HEAPTYPE_GPU_LDS = 4;
        /// Value 5 of the header.
        HSA_HEAPTYPE_GPU_SCRATCH = 5;
        /// Value 6 of the header.
        HSA_HEAPTYPE_DEVICE_SVM = 6;
        /// Value 7 of the header.
        HSA_HEAPTYPE_MMIO_REMAP = 7;
        /// Value 8 of the header.
        HSA_HEAPTYPE_NUMHEAPTYPES = 8;
        /// Value 4294967295 of the header.
        HSA_HEAPTYPE_SIZE = 0xffffffff;
    }
}

c_enum! {
    /// Kind of a link between two nodes.
    HSA_IOLINKTYPE: u32 {
        /// Value 0 of the header.
        HSA_IOLINKTYPE_UNDEFINED = 0;
        /// Value 1 of the header.
        HSA_IOLINKTYPE_HYPERTRANSPORT = 1;
        /// Value 2 of the header.
        HSA_IOLINKTYPE_PCIEXPRESS = 2;
        /// Value 3 of the header.
        HSA_IOLINKTYPE_AMBA = 3;
        /// Value 4 of the header.
        HSA_IOLINKTYPE_MIPI = 4;
        /// Value 5 of the header.
        HSA_IOLINK_TYPE_QPI_1_1 = 5;
        /// Value 6 of the header.
        HSA_IOLINK_TYPE_RESERVED1 = 6;
        /// Value 7 of the header.
        HSA_IOLINK_TYPE_RESERVED2 = 7;
        /// Value 8 of the header.
        HSA_IOLINK_TYPE_RAPID_IO = 8;
        /// Value 9 of the header.
        HSA_IOLINK_TYPE_INFINIBAND = 9;
        /// Value 10 of the header.
        HSA_IOLINK_TYPE_RESERVED3 = 10;
        /// Value 11 of the header.
        HSA_IOLINK_TYPE_XGMI = 11;
        /// Value 12 of the header.
        HSA_IOLINK_TYPE_XGOP = 12;
        /// Value 13 of the header.
        HSA_IOLINK_TYPE_GZ = 13;
        /// Value 14 of the header.
        HSA_IOLINK_TYPE_ETHERNET_RDMA = 14;
        /// Value 15 of the header.
        HSA_IOLINK_TYPE_RDMA_OTHER = 15;
        /// Value 16 of the header.
        HSA_IOLINK_TYPE_OTHER = 16;
        /// Value 17 of the header.
        HSA_IOLINKTYPE_NUMIOLINKTYPES = 17;
        /// Value 4294967295 of the header.
        HSA_IOLINKTYPE_SIZE = 0xffffffff;
    }
}

bit_fields! {
    /// Capabilities of a GPU node (kfd.md 2.4).
    HSA_CAPABILITY: HSAuint32 {
        /// Bits 0..1.
        HotPluggable: 0, 1;
        /// Bits 1..2.
        HSAMMUPresent: 1, 1;
        /// Bits 2..3.
        SharedWithGraphics: 2, 1;
        /// Bits 3..4.
        QueueSizePowerOfTwo: 3, 1;
        /// Bits 4..5.
        QueueSize32bit: 4, 1;
        /// Bits 5..6.
        QueueIdleEvent: 5, 1;
        /// Bits 6..7.
        VALimit: 6, 1;
        /// Bits 7..8.
        WatchPointsSupported: 7, 1;
        /// Bits 8..12.
        WatchPointsTotalBits: 8, 4;
        /// Bits 12..14.
        DoorbellType: 12, 2;
        /// Bits 14..15.
        AQLQueueDoubleMap: 14, 1;
        /// Bits 15..16.
        DebugTrapSupported: 15, 1;
        /// Bits 16..17.
        WaveLaunchTrapOverrideSupported: 16, 1;
        /// Bits 17..18.
        WaveLaunchModeSupported: 17, 1;
        /// Bits 18..19.
        PreciseMemoryOperationsSupported: 18, 1;
        /// Bits 19..20.
        DEPRECATED_SRAM_EDCSupport: 19, 1;
        /// Bits 20..21.
        Mem_EDCSupport: 20, 1;
        /// Bits 21..22.
        RASEventNotify: 21, 1;
        /// Bits 22..26.
        ASICRevision: 22, 4;
        /// Bits 26..27.
        SRAM_EDCSupport: 26, 1;
        /// Bits 27..28.
        SVMAPISupported: 27, 1;
        /// Bits 28..29.
        CoherentHostAccess: 28, 1;
        /// Bits 29..30.
        DebugSupportedFirmware: 29, 1;
        /// Bits 30..31.
        PreciseALUOperationsSupported: 30, 1;
        /// Bits 31..32.
        PerQueueResetSupported: 31, 1;
    }
}

bit_fields! {
    /// More capabilities of a GPU node.
    HSA_CAPABILITY2: HSAuint32 {
        /// Bits 0..1.
        PerSDMAQueueResetSupported: 0, 1;
        /// Bits 1..2.
        AqlEmulationPm4_: 1, 1;
        /// Bits 2..3.
        StallOnRetryFault: 2, 1;
        /// Reserved.
        Reserved: 3, 29;
    }
}

bit_fields! {
    /// Firmware and graphics version of the compute engine.
    HSA_ENGINE_ID: HSAuint32 {
        /// Bits 0..10.
        uCode: 0, 10;
        /// Bits 10..16.
        Major: 10, 6;
        /// Bits 16..24.
        Minor: 16, 8;
        /// Bits 24..32.
        Stepping: 24, 8;
    }
}

bit_fields! {
    /// Firmware versions of the other engines.
    HSA_ENGINE_VERSION: HSAuint32 {
        /// Bits 0..10.
        uCodeSDMA: 0, 10;
        /// Bits 10..20.
        uCodeRes: 10, 10;
        /// Reserved.
        Reserved: 20, 12;
    }
}

bit_fields! {
    /// Debugger properties of a GPU node.
    HSA_DEBUG_PROPERTIES: HSAuint64 {
        /// Bits 0..4.
        WatchAddrMaskLoBit: 0, 4;
        /// Bits 4..10.
        WatchAddrMaskHiBit: 4, 6;
        /// Bits 10..11.
        DispatchInfoAlwaysValid: 10, 1;
        /// Bits 11..12.
        AddressWatchpointShareKind: 11, 1;
        /// Reserved.
        Reserved: 12, 52;
    }
}

bit_fields! {
    /// Flags of a memory bank.
    HSA_MEMORYPROPERTY: HSAuint32 {
        /// Bits 0..1.
        HotPluggable: 0, 1;
        /// Bits 1..2.
        NonVolatile: 1, 1;
        /// Reserved.
        Reserved: 2, 30;
    }
}

bit_fields! {
    /// What a cache holds and whom it serves.
    HsaCacheType: HSAuint32 {
        /// Bits 0..1.
        Data: 0, 1;
        /// Bits 1..2.
        Instruction: 1, 1;
        /// Bits 2..3.
        CPU: 2, 1;
        /// Bits 3..4.
        HSACU: 3, 1;
        /// Reserved.
        Reserved: 4, 28;
    }
}

bit_fields! {
    /// Flags of a link.
    HSA_LINKPROPERTY: HSAuint32 {
        /// Bits 0..1.
        Override: 0, 1;
        /// Bits 1..2.
        NonCoherent: 1, 1;
        /// Bits 2..3.
        NoAtomics32bit: 2, 1;
        /// Bits 3..4.
        NoAtomics64bit: 3, 1;
        /// Bits 4..5.
        NoPeerToPeerDMA: 4, 1;
        /// Reserved.
        Reserved: 5, 27;
    }
}

/// Version of the kernel interface.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaVersionInfo {
    /// KernelInterfaceMajorVersion
    pub KernelInterfaceMajorVersion: HSAuint32,
    /// KernelInterfaceMinorVersion
    pub KernelInterfaceMinorVersion: HSAuint32,
}

impl HsaVersionInfo {
    /// All fields zero.
    pub const ZERO: Self = Self { KernelInterfaceMajorVersion: 0, KernelInterfaceMinorVersion: 0 };
}

impl Default for HsaVersionInfo {
    fn default() -> Self {
        Self::ZERO
    }
}

/// What the whole machine reports.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaSystemProperties {
    /// NumNodes
    pub NumNodes: HSAuint32,
    /// PlatformOem
    pub PlatformOem: HSAuint32,
    /// PlatformId
    pub PlatformId: HSAuint32,
    /// PlatformRev
    pub PlatformRev: HSAuint32,
}

impl HsaSystemProperties {
    /// All fields zero.
    pub const ZERO: Self = Self { NumNodes: 0, PlatformOem: 0, PlatformId: 0, PlatformRev: 0 };
}

impl Default for HsaSystemProperties {
    fn default() -> Self {
        Self::ZERO
    }
}

/// One node of the topology: CPU, GPU or both. The newest layout, 396 bytes (abi/history.md).
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaNodeProperties {
    /// NumCPUCores
    pub NumCPUCores: HSAuint32,
    /// NumFComputeCores
    pub NumFComputeCores: HSAuint32,
    /// NumNeuralCores
    pub NumNeuralCores: HSAuint32,
    /// NumMemoryBanks
    pub NumMemoryBanks: HSAuint32,
    /// NumCaches
    pub NumCaches: HSAuint32,
    /// NumIOLinks
    pub NumIOLinks: HSAuint32,
    /// CComputeIdLo
    pub CComputeIdLo: HSAuint32,
    /// FComputeIdLo
    pub FComputeIdLo: HSAuint32,
    /// Capability
    pub Capability: HSA_CAPABILITY,
    /// Capability2
    pub Capability2: HSA_CAPABILITY2,
    /// MaxWavesPerSIMD
    pub MaxWavesPerSIMD: HSAuint32,
    /// LDSSizeInKB
    pub LDSSizeInKB: HSAuint32,
    /// GDSSizeInKB
    pub GDSSizeInKB: HSAuint32,
    /// WaveFrontSize
    pub WaveFrontSize: HSAuint32,
    /// NumShaderBanks
    pub NumShaderBanks: HSAuint32,
    /// NumArrays
    pub NumArrays: HSAuint32,
    /// NumCUPerArray
    pub NumCUPerArray: HSAuint32,
    /// NumSIMDPerCU
    pub NumSIMDPerCU: HSAuint32,
    /// MaxSlotsScratchCU
    pub MaxSlotsScratchCU: HSAuint32,
    /// EngineId
    pub EngineId: HSA_ENGINE_ID,
    /// OverrideEngineId
    pub OverrideEngineId: HSA_ENGINE_ID,
    /// VendorId
    pub VendorId: HSAuint16,
    /// DeviceId
    pub DeviceId: HSAuint16,
    /// LocationId
    pub LocationId: HSAuint32,
    /// LocalMemSize
    pub LocalMemSize: HSAuint64,
    /// MaxEngineClockMhzFCompute
    pub MaxEngineClockMhzFCompute: HSAuint32,
    /// MaxEngineClockMhzCCompute
    pub MaxEngineClockMhzCCompute: HSAuint32,
    /// DrmRenderMinor
    pub DrmRenderMinor: HSAint32,
    /// MarketingName
    pub MarketingName: [HSAuint16; 64],
    /// AMDName
    pub AMDName: [HSAuint8; 64],
    /// uCodeEngineVersions
    pub uCodeEngineVersions: HSA_ENGINE_VERSION,
    /// DebugProperties
    pub DebugProperties: HSA_DEBUG_PROPERTIES,
    /// HiveID
    pub HiveID: HSAuint64,
    /// NumSdmaEngines
    pub NumSdmaEngines: HSAuint32,
    /// NumSdmaXgmiEngines
    pub NumSdmaXgmiEngines: HSAuint32,
    /// NumSdmaQueuesPerEngine
    pub NumSdmaQueuesPerEngine: HSAuint8,
    /// NumCpQueues
    pub NumCpQueues: HSAuint8,
    /// NumGws
    pub NumGws: HSAuint8,
    /// Integrated
    pub Integrated: HSAuint8,
    /// Domain
    pub Domain: HSAuint32,
    /// UniqueID
    pub UniqueID: HSAuint64,
    /// VGPRSizePerCU
    pub VGPRSizePerCU: HSAuint32,
    /// SGPRSizePerCU
    pub SGPRSizePerCU: HSAuint32,
    /// NumXcc
    pub NumXcc: HSAuint32,
    /// KFDGpuID
    pub KFDGpuID: HSAuint32,
    /// FamilyID
    pub FamilyID: HSAuint32,
    /// CwsrSize
    pub CwsrSize: HSAuint32,
    /// CtlStackSize
    pub CtlStackSize: HSAuint32,
    /// LuidLowPart
    pub LuidLowPart: HSAuint32,
    /// LuidHighPart
    pub LuidHighPart: HSAuint32,
    /// WallClockKHz
    pub WallClockKHz: HSAuint64,
    /// FabricHandleSupported
    pub FabricHandleSupported: HSAuint32,
}

impl HsaNodeProperties {
    /// All fields zero.
    pub const ZERO: Self = Self {
        NumCPUCores: 0,
        NumFComputeCores: 0,
        NumNeuralCores: 0,
        NumMemoryBanks: 0,
        NumCaches: 0,
        NumIOLinks: 0,
        CComputeIdLo: 0,
        FComputeIdLo: 0,
        Capability: HSA_CAPABILITY(0),
        Capability2: HSA_CAPABILITY2(0),
        MaxWavesPerSIMD: 0,
        LDSSizeInKB: 0,
        GDSSizeInKB: 0,
        WaveFrontSize: 0,
        NumShaderBanks: 0,
        NumArrays: 0,
        NumCUPerArray: 0,
        NumSIMDPerCU: 0,
        MaxSlotsScratchCU: 0,
        EngineId: HSA_ENGINE_ID(0),
        OverrideEngineId: HSA_ENGINE_ID(0),
        VendorId: 0,
        DeviceId: 0,
        LocationId: 0,
        LocalMemSize: 0,
        MaxEngineClockMhzFCompute: 0,
        MaxEngineClockMhzCCompute: 0,
        DrmRenderMinor: 0,
        MarketingName: [0; 64],
        AMDName: [0; 64],
        uCodeEngineVersions: HSA_ENGINE_VERSION(0),
        DebugProperties: HSA_DEBUG_PROPERTIES(0),
        HiveID: 0,
        NumSdmaEngines: 0,
        NumSdmaXgmiEngines: 0,
        NumSdmaQueuesPerEngine: 0,
        NumCpQueues: 0,
        NumGws: 0,
        Integrated: 0,
        Domain: 0,
        UniqueID: 0,
        VGPRSizePerCU: 0,
        SGPRSizePerCU: 0,
        NumXcc: 0,
        KFDGpuID: 0,
        FamilyID: 0,
        CwsrSize: 0,
        CtlStackSize: 0,
        LuidLowPart: 0,
        LuidHighPart: 0,
        WallClockKHz: 0,
        FabricHandleSupported: 0,
    };
}

impl Default for HsaNodeProperties {
    fn default() -> Self {
        Self::ZERO
    }
}

/// One memory bank of a node.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaMemoryProperties {
    /// HeapType
    pub HeapType: HSA_HEAPTYPE,
    /// SizeInBytes
    pub SizeInBytes: HSAuint64,
    /// Flags
    pub Flags: HSA_MEMORYPROPERTY,
    /// Width
    pub Width: HSAuint32,
    /// MemoryClockMax
    pub MemoryClockMax: HSAuint32,
    /// VirtualBaseAddress
    pub VirtualBaseAddress: HSAuint64,
}

impl HsaMemoryProperties {
    /// All fields zero.
    pub const ZERO: Self = Self {
        HeapType: HSA_HEAPTYPE(0),
        SizeInBytes: 0,
        Flags: HSA_MEMORYPROPERTY(0),
        Width: 0,
        MemoryClockMax: 0,
        VirtualBaseAddress: 0,
    };
}

impl Default for HsaMemoryProperties {
    fn default() -> Self {
        Self::ZERO
    }
}

/// One cache of a node.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaCacheProperties {
    /// ProcessorIdLow
    pub ProcessorIdLow: HSAuint32,
    /// CacheLevel
    pub CacheLevel: HSAuint32,
    /// CacheSize
    pub CacheSize: HSAuint32,
    /// CacheLineSize
    pub CacheLineSize: HSAuint32,
    /// CacheLinesPerTag
    pub CacheLinesPerTag: HSAuint32,
    /// CacheAssociativity
    pub CacheAssociativity: HSAuint32,
    /// CacheLatency
    pub CacheLatency: HSAuint32,
    /// CacheType
    pub CacheType: HsaCacheType,
    /// SiblingMap
    pub SiblingMap: [HSAuint32; 256],
    /// PersistingCacheSizeMax
    pub PersistingCacheSizeMax: HSAuint32,
}

impl HsaCacheProperties {
    /// All fields zero.
    pub const ZERO: Self = Self {
        ProcessorIdLow: 0,
        CacheLevel: 0,
        CacheSize: 0,
        CacheLineSize: 0,
        CacheLinesPerTag: 0,
        CacheAssociativity: 0,
        CacheLatency: 0,
        CacheType: HsaCacheType(0),
        SiblingMap: [0; 256],
        PersistingCacheSizeMax: 0,
    };
}

impl Default for HsaCacheProperties {
    fn default() -> Self {
        Self::ZERO
    }
}

/// One link from a node to another.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaIoLinkProperties {
    /// IoLinkType
    pub IoLinkType: HSA_IOLINKTYPE,
    /// VersionMajor
    pub VersionMajor: HSAuint32,
    /// VersionMinor
    pub VersionMinor: HSAuint32,
    /// NodeFrom
    pub NodeFrom: HSAuint32,
    /// NodeTo
    pub NodeTo: HSAuint32,
    /// Weight
    pub Weight: HSAuint32,
    /// MinimumLatency
    pub MinimumLatency: HSAuint32,
    /// MaximumLatency
    pub MaximumLatency: HSAuint32,
    /// MinimumBandwidth
    pub MinimumBandwidth: HSAuint32,
    /// MaximumBandwidth
    pub MaximumBandwidth: HSAuint32,
    /// RecTransferSize
    pub RecTransferSize: HSAuint32,
    /// RecSdmaEngIdMask
    pub RecSdmaEngIdMask: HSAuint32,
    /// Flags
    pub Flags: HSA_LINKPROPERTY,
}

impl HsaIoLinkProperties {
    /// All fields zero.
    pub const ZERO: Self = Self {
        IoLinkType: HSA_IOLINKTYPE(0),
        VersionMajor: 0,
        VersionMinor: 0,
        NodeFrom: 0,
        NodeTo: 0,
        Weight: 0,
        MinimumLatency: 0,
        MaximumLatency: 0,
        MinimumBandwidth: 0,
        MaximumBandwidth: 0,
        RecTransferSize: 0,
        RecSdmaEngIdMask: 0,
        Flags: HSA_LINKPROPERTY(0),
    };
}

impl Default for HsaIoLinkProperties {
    fn default() -> Self {
        Self::ZERO
    }
}

/// Sizes of structures that a caller announces with `DxgAbiCheck`.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaStructureSizes {
    /// StructureSizes
    pub StructureSizes: HSAuint16,
    /// SizeOfHsaNodeProperties
    pub SizeOfHsaNodeProperties: HSAuint16,
    /// SizeOfHsaExternalHandleDesc
    pub SizeOfHsaExternalHandleDesc: HSAuint16,
    /// Reserved
    pub Reserved: [HSAuint16; 5],
}

impl HsaStructureSizes {
    /// All fields zero.
    pub const ZERO: Self =
        Self { StructureSizes: 0, SizeOfHsaNodeProperties: 0, SizeOfHsaExternalHandleDesc: 0, Reserved: [0; 5] };
}

impl Default for HsaStructureSizes {
    fn default() -> Self {
        Self::ZERO
    }
}
