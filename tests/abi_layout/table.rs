// Written by tools/headers from src/abi; do not edit.

structs! {
    HsaVersionInfo {
        KernelInterfaceMajorVersion, KernelInterfaceMinorVersion,
    }
    HsaSystemProperties {
        NumNodes, PlatformOem, PlatformId, PlatformRev,
    }
    HsaMemoryProperties {
        HeapType, SizeInBytes, Flags, Width, MemoryClockMax, VirtualBaseAddress,
    }
    HsaCacheProperties {
        ProcessorIdLow, CacheLevel, CacheSize, CacheLineSize, CacheLinesPerTag, CacheAssociativity, CacheLatency,
        CacheType, SiblingMap, PersistingCacheSizeMax,
    }
    HsaCComputeProperties {
        SiblingMap,
    }
    HsaIoLinkProperties {
        IoLinkType, VersionMajor, VersionMinor, NodeFrom, NodeTo, Weight, MinimumLatency, MaximumLatency,
        MinimumBandwidth, MaximumBandwidth, RecTransferSize, RecSdmaEngIdMask, Flags,
    }
    HsaStructureSizes {
        StructureSizes, SizeOfHsaNodeProperties, SizeOfHsaExternalHandleDesc, Reserved,
    }
    HsaNodeProperties {
        NumCPUCores, NumFComputeCores, NumNeuralCores, NumMemoryBanks, NumCaches, NumIOLinks, CComputeIdLo,
        FComputeIdLo, Capability, Capability2, MaxWavesPerSIMD, LDSSizeInKB, GDSSizeInKB, WaveFrontSize,
        NumShaderBanks, NumArrays, NumCUPerArray, NumSIMDPerCU, MaxSlotsScratchCU, EngineId, OverrideEngineId,
        VendorId, DeviceId, LocationId, LocalMemSize, MaxEngineClockMhzFCompute, MaxEngineClockMhzCCompute,
        DrmRenderMinor, MarketingName, AMDName, uCodeEngineVersions, DebugProperties, HiveID, NumSdmaEngines,
        NumSdmaXgmiEngines, NumSdmaQueuesPerEngine, NumCpQueues, NumGws, Integrated, Domain, UniqueID, VGPRSizePerCU,
        SGPRSizePerCU, NumXcc, KFDGpuID, FamilyID, CwsrSize, CtlStackSize, LuidLowPart, LuidHighPart, WallClockKHz,
        FabricHandleSupported,
    }
    HSA_UUID {
        Data1, Data2, Data3, Data4,
    }
}

words! {
    HSA_MEMORYPROPERTY {
        HotPluggable, NonVolatile, Reserved,
    }
    HsaCacheType {
        Data, Instruction, CPU, HSACU, Reserved,
    }
    HSA_LINKPROPERTY {
        Override, NonCoherent, NoAtomics32bit, NoAtomics64bit, NoPeerToPeerDMA, Reserved,
    }
    HSA_ENGINE_ID {
        uCode, Major, Minor, Stepping,
    }
    HSA_ENGINE_VERSION {
        uCodeSDMA, uCodeRes, Reserved,
    }
    HSA_CAPABILITY {
        HotPluggable, HSAMMUPresent, SharedWithGraphics, QueueSizePowerOfTwo, QueueSize32bit, QueueIdleEvent,
        VALimit, WatchPointsSupported, WatchPointsTotalBits, DoorbellType, AQLQueueDoubleMap, DebugTrapSupported,
        WaveLaunchTrapOverrideSupported, WaveLaunchModeSupported, PreciseMemoryOperationsSupported,
        DEPRECATED_SRAM_EDCSupport, Mem_EDCSupport, RASEventNotify, ASICRevision, SRAM_EDCSupport, SVMAPISupported,
        CoherentHostAccess, DebugSupportedFirmware, PreciseALUOperationsSupported, PerQueueResetSupported,
    }
    HSA_CAPABILITY2 {
        PerSDMAQueueResetSupported, AqlEmulationPm4_, StallOnRetryFault, Reserved,
    }
    HSA_DEBUG_PROPERTIES {
        WatchAddrMaskLoBit, WatchAddrMaskHiBit, DispatchInfoAlwaysValid, AddressWatchpointShareKind, Reserved,
    }
}

enums! {
    HSAKMT_STATUS {
        HSAKMT_STATUS_SUCCESS, HSAKMT_STATUS_ERROR, HSAKMT_STATUS_DRIVER_MISMATCH, HSAKMT_STATUS_INVALID_PARAMETER,
        HSAKMT_STATUS_INVALID_HANDLE, HSAKMT_STATUS_INVALID_NODE_UNIT, HSAKMT_STATUS_NO_MEMORY,
        HSAKMT_STATUS_BUFFER_TOO_SMALL, HSAKMT_STATUS_NOT_IMPLEMENTED, HSAKMT_STATUS_NOT_SUPPORTED,
        HSAKMT_STATUS_UNAVAILABLE, HSAKMT_STATUS_OUT_OF_RESOURCES, HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED,
        HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR, HSAKMT_STATUS_KERNEL_ALREADY_OPENED,
        HSAKMT_STATUS_HSAMMU_UNAVAILABLE, HSAKMT_STATUS_WAIT_FAILURE, HSAKMT_STATUS_WAIT_TIMEOUT,
        HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED, HSAKMT_STATUS_MEMORY_NOT_REGISTERED, HSAKMT_STATUS_MEMORY_ALIGNMENT,
    }
    HSA_HEAPTYPE {
        HSA_HEAPTYPE_SYSTEM, HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
        HSA_HEAPTYPE_GPU_GDS, HSA_HEAPTYPE_GPU_LDS, HSA_HEAPTYPE_GPU_SCRATCH, HSA_HEAPTYPE_DEVICE_SVM,
        HSA_HEAPTYPE_MMIO_REMAP, HSA_HEAPTYPE_NUMHEAPTYPES, HSA_HEAPTYPE_SIZE,
    }
    HSA_IOLINKTYPE {
        HSA_IOLINKTYPE_UNDEFINED, HSA_IOLINKTYPE_HYPERTRANSPORT, HSA_IOLINKTYPE_PCIEXPRESS, HSA_IOLINKTYPE_AMBA,
        HSA_IOLINKTYPE_MIPI, HSA_IOLINK_TYPE_QPI_1_1, HSA_IOLINK_TYPE_RESERVED1, HSA_IOLINK_TYPE_RESERVED2,
        HSA_IOLINK_TYPE_RAPID_IO, HSA_IOLINK_TYPE_INFINIBAND, HSA_IOLINK_TYPE_RESERVED3, HSA_IOLINK_TYPE_XGMI,
        HSA_IOLINK_TYPE_XGOP, HSA_IOLINK_TYPE_GZ, HSA_IOLINK_TYPE_ETHERNET_RDMA, HSA_IOLINK_TYPE_RDMA_OTHER,
        HSA_IOLINK_TYPE_OTHER, HSA_IOLINKTYPE_NUMIOLINKTYPES, HSA_IOLINKTYPE_SIZE,
    }
}

aliases! {
        HSAuint8, HSAint8, HSAuint16, HSAint16, HSAuint32, HSAint32, HSAuint64, HSAint64, HSA_HANDLE, HSA_QUEUEID,
}

opaques! {
        
}

constants! {
        HSAKMT_VERSION_MAJOR, HSAKMT_VERSION_MINOR, INVALID_PID, INVALID_QUEUEID, INVALID_NODEID,
        HSA_PROCESSORID_ALL, HSA_CPU_SIBLINGS, HSA_PUBLIC_NAME_SIZE,
}

objects! {
        HSA_PROFILEBLOCK_AMD_CB, HSA_PROFILEBLOCK_AMD_CPF, HSA_PROFILEBLOCK_AMD_CPG, HSA_PROFILEBLOCK_AMD_DB,
        HSA_PROFILEBLOCK_AMD_GDS, HSA_PROFILEBLOCK_AMD_GRBM, HSA_PROFILEBLOCK_AMD_GRBMSE, HSA_PROFILEBLOCK_AMD_IA,
        HSA_PROFILEBLOCK_AMD_MC, HSA_PROFILEBLOCK_AMD_PASC, HSA_PROFILEBLOCK_AMD_PASU, HSA_PROFILEBLOCK_AMD_SPI,
        HSA_PROFILEBLOCK_AMD_SRBM, HSA_PROFILEBLOCK_AMD_SQ, HSA_PROFILEBLOCK_AMD_SX, HSA_PROFILEBLOCK_AMD_TA,
        HSA_PROFILEBLOCK_AMD_TCA, HSA_PROFILEBLOCK_AMD_TCC, HSA_PROFILEBLOCK_AMD_TCP, HSA_PROFILEBLOCK_AMD_TCS,
        HSA_PROFILEBLOCK_AMD_TD, HSA_PROFILEBLOCK_AMD_VGT, HSA_PROFILEBLOCK_AMD_WD,
}

macros! {
        
}
