//! One node of the topology and its capability words (kfd.md 2.4, dxg.md 2.4).

use super::bits::{Bits, bit_fields};
use super::plain::plain;
use super::{HSA_PUBLIC_NAME_SIZE, HSAint32, HSAuint8, HSAuint16, HSAuint32, HSAuint64};

bit_fields! {
    /// Firmware and graphics version of the compute engine.
    HSA_ENGINE_ID: HSAuint32 {
        /// Firmware version of the compute micro engine.
        uCode: 0, 10;
        /// Major number of the graphics version: 9 in gfx90a. 0 on a node without GPU.
        Major: 10, 6;
        /// Minor number of the graphics version: 0 in gfx90a.
        Minor: 16, 8;
        /// Stepping of the graphics version: 10 in gfx90a.
        Stepping: 24, 8;
    }
}

bit_fields! {
    /// Firmware versions of the other engines.
    #[cfg_attr(c_header, c = "union { HSAuint32 Value; struct { $bits }; }")]
    HSA_ENGINE_VERSION: HSAuint32 {
        /// Firmware version of the SDMA engines.
        uCodeSDMA: 0, 10;
        /// Not assigned, 0.
        uCodeRes: 10, 10;
        /// Not assigned, 0.
        Reserved: 20, 12;
    }
}

bit_fields! {
    /// Capabilities of a node. On KFD the word of the kernel, on DXG only `ASICRevision`, `WatchPointsTotalBits` and
    /// `DoorbellType` are set.
    HSA_CAPABILITY: HSAuint32 {
        /// The node can be removed at run time.
        HotPluggable: 0, 1;
        /// The node translates addresses with the page tables of the process (IOMMU, old APUs).
        HSAMMUPresent: 1, 1;
        /// The compute engine also serves graphics.
        SharedWithGraphics: 2, 1;
        /// Ring sizes must be powers of two.
        QueueSizePowerOfTwo: 3, 1;
        /// Ring sizes are limited to 32 bits.
        QueueSize32bit: 4, 1;
        /// The node can signal that a queue ran dry.
        QueueIdleEvent: 5, 1;
        /// The node reaches only part of the address space of a process.
        VALimit: 6, 1;
        /// Address watch points exist.
        WatchPointsSupported: 7, 1;
        /// Base-2 logarithm of the number of watch points.
        WatchPointsTotalBits: 8, 4;
        /// Doorbells: 0 = 4 bytes before gfx8, 1 = 4 bytes, 2 = 8 bytes.
        DoorbellType: 12, 2;
        /// The ring of an AQL queue is mapped twice in a row.
        AQLQueueDoubleMap: 14, 1;
        /// The kernel offers the debug trap interface.
        DebugTrapSupported: 15, 1;
        /// The traps of newly launched waves can be overridden.
        WaveLaunchTrapOverrideSupported: 16, 1;
        /// The launch mode of waves can be chosen.
        WaveLaunchModeSupported: 17, 1;
        /// Memory operations can be reported at the exact instruction.
        PreciseMemoryOperationsSupported: 18, 1;
        /// Former place of `SRAM_EDCSupport`; not used.
        DEPRECATED_SRAM_EDCSupport: 19, 1;
        /// Device memory has error correction.
        Mem_EDCSupport: 20, 1;
        /// Uncorrectable errors are reported as events.
        RASEventNotify: 21, 1;
        /// Revision of the chip.
        ASICRevision: 22, 4;
        /// On-chip memories have error correction.
        SRAM_EDCSupport: 26, 1;
        /// The shared-virtual-memory calls work. Cleared when `HSA_USE_SVM` is 0.
        SVMAPISupported: 27, 1;
        /// The host can access device memory coherently.
        CoherentHostAccess: 28, 1;
        /// The firmware is recent enough for the debugger.
        DebugSupportedFirmware: 29, 1;
        /// Arithmetic exceptions can be reported at the exact instruction.
        PreciseALUOperationsSupported: 30, 1;
        /// One hanging compute queue can be reset without the others.
        PerQueueResetSupported: 31, 1;
    }
}

bit_fields! {
    /// More capabilities of a node. Absent from layouts before 2025-08.
    HSA_CAPABILITY2: HSAuint32 {
        /// One hanging SDMA queue can be reset without the others.
        PerSDMAQueueResetSupported: 0, 1;
        /// AQL packets are translated to PM4 by the thunk (DXG without native AQL scheduling).
        AqlEmulationPm4_: 1, 1;
        /// A retry fault stalls the wave; context save areas must not be shared virtual memory (kfd.md 4.3).
        StallOnRetryFault: 2, 1;
        /// Not assigned, 0.
        Reserved: 3, 29;
    }
}

bit_fields! {
    /// What the debugger may do on a node. 0 on DXG.
    #[cfg_attr(c_header, c = "union { HSAuint64 Value; struct { $bits }; }")]
    HSA_DEBUG_PROPERTIES: HSAuint64 {
        /// Lowest bit of a watch-point mask that can be set.
        WatchAddrMaskLoBit: 0, 4;
        /// Highest bit of a watch-point mask that can be set.
        WatchAddrMaskHiBit: 4, 6;
        /// Dispatch information is in the trap temporaries at any time.
        DispatchInfoAlwaysValid: 10, 1;
        /// Watch points are shared between processes instead of private to each.
        AddressWatchpointShareKind: 11, 1;
        /// Not assigned, 0.
        Reserved: 12, 52;
    }
}

/// One node: CPU, GPU or both. The newest layout, 396 bytes; older callers have 356 to 392 (abi/history.md).
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaNodeProperties {
    /// Number of logical CPUs; 0 on a node without CPU.
    pub NumCPUCores: HSAuint32,
    /// Number of SIMD units of the GPU, all compute units together; 0 on a node without GPU.
    pub NumFComputeCores: HSAuint32,
    /// Number of neural processing cores; 0 where there are none. Absent before 6.3.
    pub NumNeuralCores: HSAuint32,
    /// How many banks hsaKmtGetNodeMemoryProperties can fill.
    pub NumMemoryBanks: HSAuint32,
    /// How many entries hsaKmtGetNodeCacheProperties can fill.
    pub NumCaches: HSAuint32,
    /// How many links start at this node, indirect ones included.
    pub NumIOLinks: HSAuint32,
    /// APIC id of the first logical CPU.
    pub CComputeIdLo: HSAuint32,
    /// Number of the first SIMD unit.
    pub FComputeIdLo: HSAuint32,
    /// Capabilities.
    pub Capability: HSA_CAPABILITY,
    /// More capabilities. Absent before 2025-08.
    pub Capability2: HSA_CAPABILITY2,
    /// Most waves that one SIMD unit holds.
    pub MaxWavesPerSIMD: HSAuint32,
    /// Local data share of one compute unit, KiB.
    pub LDSSizeInKB: HSAuint32,
    /// Global data share, KiB; 0 on DXG.
    pub GDSSizeInKB: HSAuint32,
    /// Work items of one wave.
    pub WaveFrontSize: HSAuint32,
    /// Number of shader engines.
    pub NumShaderBanks: HSAuint32,
    /// Shader arrays of one shader engine.
    pub NumArrays: HSAuint32,
    /// Compute units of one shader array.
    pub NumCUPerArray: HSAuint32,
    /// SIMD units of one compute unit.
    pub NumSIMDPerCU: HSAuint32,
    /// Most waves with scratch memory that one compute unit holds.
    pub MaxSlotsScratchCU: HSAuint32,
    /// Graphics version and compute firmware.
    pub EngineId: HSA_ENGINE_ID,
    /// Graphics version that replaces the one of `EngineId` where its major number is not 0. Absent before 6.3.
    pub OverrideEngineId: HSA_ENGINE_ID,
    /// PCI vendor id; 0x1002 on a GPU.
    pub VendorId: HSAuint16,
    /// PCI device id.
    pub DeviceId: HSAuint16,
    /// PCI location: bus << 8 | device << 3 | function.
    pub LocationId: HSAuint32,
    /// Device memory, bytes. 0: the memory banks tell it.
    pub LocalMemSize: HSAuint64,
    /// Highest engine clock of the GPU, MHz.
    pub MaxEngineClockMhzFCompute: HSAuint32,
    /// Highest clock of the CPU, MHz.
    pub MaxEngineClockMhzCCompute: HSAuint32,
    /// N of `/dev/dri/renderD<N>`; negative when there is none. On DXG the node id.
    pub DrmRenderMinor: HSAint32,
    /// Product name, UTF-16, at most 63 characters and a zero.
    pub MarketingName: [HSAuint16; HSA_PUBLIC_NAME_SIZE],
    /// Internal name, ASCII, at most 63 characters and a zero.
    pub AMDName: [HSAuint8; HSA_PUBLIC_NAME_SIZE],
    /// Firmware versions of the other engines.
    pub uCodeEngineVersions: HSA_ENGINE_VERSION,
    /// What the debugger may do.
    pub DebugProperties: HSA_DEBUG_PROPERTIES,
    /// Same number on all GPUs of one XGMI hive; 0 outside of a hive.
    pub HiveID: HSAuint64,
    /// SDMA engines for PCIe traffic.
    pub NumSdmaEngines: HSAuint32,
    /// SDMA engines for XGMI traffic.
    pub NumSdmaXgmiEngines: HSAuint32,
    /// User queues of one SDMA engine.
    pub NumSdmaQueuesPerEngine: HSAuint8,
    /// Hardware slots for compute queues.
    pub NumCpQueues: HSAuint8,
    /// Global wave synchronisation slots.
    pub NumGws: HSAuint8,
    /// 1 on an APU, 0 on a discrete GPU. Always 0 before 6.2.
    pub Integrated: HSAuint8,
    /// PCI domain.
    pub Domain: HSAuint32,
    /// Serial number of the chip; 0 where it has none.
    pub UniqueID: HSAuint64,
    /// Vector registers of one compute unit, bytes.
    pub VGPRSizePerCU: HSAuint32,
    /// Scalar registers of one compute unit, bytes.
    pub SGPRSizePerCU: HSAuint32,
    /// Number of accelerator dies; at least 1 on a GPU. Reads as 0 before 6.2.
    pub NumXcc: HSAuint32,
    /// Id by which the kernel knows the GPU; not 0 and unique on GPUs, 0 on CPUs. Reads as 0 before 6.2.
    pub KFDGpuID: HSAuint32,
    /// Chip family as numbered by the graphics driver. Reads as 0 before 6.2.
    pub FamilyID: HSAuint32,
    /// Context save area of one accelerator die, bytes. Absent before 7.2.
    pub CwsrSize: HSAuint32,
    /// Control stack of one accelerator die, bytes. Absent before 7.2.
    pub CtlStackSize: HSAuint32,
    /// Low half of the adapter LUID; 0 outside of DXG.
    pub LuidLowPart: HSAuint32,
    /// High half of the adapter LUID; 0 outside of DXG.
    pub LuidHighPart: HSAuint32,
    /// Frequency of the GPU clock counter, kHz; 0 when unknown.
    pub WallClockKHz: HSAuint64,
    /// 1 when memory can be shared by fabric handles.
    pub FabricHandleSupported: HSAuint32,
}

plain!(HsaNodeProperties {
    NumCPUCores,
    NumFComputeCores,
    NumNeuralCores,
    NumMemoryBanks,
    NumCaches,
    NumIOLinks,
    CComputeIdLo,
    FComputeIdLo,
    Capability,
    Capability2,
    MaxWavesPerSIMD,
    LDSSizeInKB,
    GDSSizeInKB,
    WaveFrontSize,
    NumShaderBanks,
    NumArrays,
    NumCUPerArray,
    NumSIMDPerCU,
    MaxSlotsScratchCU,
    EngineId,
    OverrideEngineId,
    VendorId,
    DeviceId,
    LocationId,
    LocalMemSize,
    MaxEngineClockMhzFCompute,
    MaxEngineClockMhzCCompute,
    DrmRenderMinor,
    MarketingName,
    AMDName,
    uCodeEngineVersions,
    DebugProperties,
    HiveID,
    NumSdmaEngines,
    NumSdmaXgmiEngines,
    NumSdmaQueuesPerEngine,
    NumCpQueues,
    NumGws,
    Integrated,
    Domain,
    UniqueID,
    VGPRSizePerCU,
    SGPRSizePerCU,
    NumXcc,
    KFDGpuID,
    FamilyID,
    CwsrSize,
    CtlStackSize,
    LuidLowPart,
    LuidHighPart,
    WallClockKHz,
    FabricHandleSupported,
});
