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
    HsaGraphicsResourceInfo {
        MemoryAddress, SizeInBytes, Metadata, MetadataSizeInBytes, NodeId, SizeHintInBytes,
    }
    HsaWddmSurfaceMetadata {
        version, swizzle_mode, tile_swizzle, compression_mode, max_comp_blk, max_uncomp_blk,
    }
    HsaPointerInfo {
        Type, Node, MemFlags, CPUAddress, GPUAddress, SizeInBytes, NRegisteredNodes, NMappedNodes, RegisteredNodes,
        MappedNodes, UserData,
    }
    HsaMemoryRange {
        MemoryAddress, SizeInBytes,
    }
    HsaUserContextSaveAreaHeader {
        ControlStackOffset, ControlStackSize, WaveStateOffset, WaveStateSize, DebugOffset, DebugSize, ErrorReason,
        ErrorEventId, Reserved1,
    }
    HsaQueueInfo {
        QueueDetailError, QueueTypeExtended, NumCUAssigned, CUMaskInfo, UserContextSaveArea, SaveAreaSizeInBytes,
        ControlStackTop, ControlStackUsedInBytes, SaveAreaHeader, Reserved2, SaveAreaAllocSize,
    }
    HsaQueueResource {
        QueueId, QueueDoorBell, QueueWptrValue, QueueRptrValue, ErrorReason, SdmaProgressFenceVA,
        SdmaHwQueueEpilogueBytes,
    }
    HsaQueueReport {
        VMID, QueueAddress, QueueSize,
    }
    HsaSyncVar {
        SyncVar, SyncVarSize,
    }
    HsaNodeChange {
        Flags,
    }
    HsaDeviceStateChange {
        NodeId, Device, Flags,
    }
    HsaMemoryAccessFault {
        NodeId, VirtualAddress, Failure, Flags,
    }
    HsaHwException {
        NodeId, ResetType, MemoryLost, ResetCause,
    }
    HsaEventData {
        EventType, EventData, HWData1, HWData2, HWData3,
    }
    HsaEventDescriptor {
        EventType, NodeId, SyncVar,
    }
    HsaEvent {
        EventId, EventData,
    }
    HsaDbgWaveMsgAMDGen2 {
        Value, Reserved2,
    }
    HsaDbgWaveMessageAMD {
        WaveMsgInfoGen2,
    }
    HsaDbgWaveMessage {
        MemoryVA, DbgWaveMsg,
    }
    HSA_UUID {
        Data1, Data2, Data3, Data4,
    }
    HsaClockCounters {
        GPUClockCounter, CPUClockCounter, SystemClockCounter, SystemClockFrequencyHz,
    }
    HsaCounter {
        Type, CounterId, CounterSizeInBits, CounterMask, Flags, BlockIndex,
    }
    HsaCounterBlockProperties {
        BlockId, NumCounters, NumConcurrent, Counters,
    }
    HsaCounterProperties {
        NumBlocks, NumConcurrent, Blocks,
    }
    HsaPmcTraceRoot {
        TraceBufferMinSizeBytes, NumberOfPasses, TraceId,
    }
    HsaGpuTileConfig {
        TileConfig, MacroTileConfig, NumTileConfigs, NumMacroTileConfigs, GbAddrConfig, NumBanks, NumRanks, Reserved,
    }
    HSA_SVM_ATTRIBUTE {
        r#type, value,
    }
    HsaPcSamplingInfo {
        value, value_min, value_max, flags, method, units,
    }
    HsaFabricHandle {
        handle,
    }
    HsaHandleImportDesc {
        device_handle, r#type, fabric, mem, metadata,
    }
    HsaHandleImportResult {
        buf_handle, dmabuf_fd, alloc_size, metadata,
    }
    HsaHandleExportDesc {
        device_handle, r#type, buf_handle, size,
    }
    HsaMemoryExportResult {
        fabric,
    }
    HSA_EXTERNAL_SEMAPHORE_HANDLE {
        handle,
    }
    rocdxg_smi_bdf_info_t {
        domain_number, bus_number, device_number, function_number,
    }
    rocdxg_smi_asic_info_t {
        device_id, vendor_id, subvendor_id, subsystem_id, rev_id, asic_serial, market_name, num_of_compute_units,
        num_xcc, target_graphics_version,
    }
    rocdxg_smi_board_info_t {
        product_name, manufacturer_name,
    }
    rocdxg_smi_vram_info_t {
        vram_type, vram_bit_width, vram_size_mb,
    }
    rocdxg_smi_vram_usage_t {
        vram_used_mb, vram_total_mb,
    }
    rocdxg_smi_power_info_t {
        current_socket_power, gfx_voltage, soc_voltage, mem_voltage, power_limit,
    }
    rocdxg_smi_clock_info_t {
        clk, min_clk, max_clk, clk_locked, clk_deep_sleep,
    }
    rocdxg_smi_pcie_info_t {
        max_pcie_width, max_pcie_speed, pcie_interface_version, slot_type, pcie_width, pcie_speed, pcie_bandwidth,
        pcie_replay_count, pcie_l0_to_recovery_count, pcie_replay_roll_over_count, pcie_nak_sent_count,
        pcie_nak_received_count,
    }
    rocdxg_smi_driver_info_t {
        driver_version, driver_date, driver_name,
    }
    rocdxg_smi_vbios_info_t {
        name, build_date, part_number, version, boot_firmware,
    }
    rocdxg_smi_gpu_metrics_info_t {
        temperature_edge, temperature_hotspot, temperature_mem, average_gfx_activity, average_umc_activity,
        current_socket_power, current_gfxclk, current_socclk, current_fan_speed, current_fan_speed_percent,
        voltage_soc, voltage_gfx, voltage_mem,
    }
    rocdxg_smi_process_info_t {
        process_id, vram_usage_bytes, sdma_usage, cu_occupancy, engine_usage, evicted_time,
    }
    rocdxg_smi_cache_entry_t {
        cache_size_kb, cache_level, cache_properties, max_num_cu_shared, num_cache_instance,
    }
    rocdxg_smi_cache_info_t {
        num_cache_types, cache,
    }
    rocdxg_smi_fw_entry_t {
        fw_id, fw_version,
    }
    rocdxg_smi_fw_info_t {
        entries, num_fw_info,
    }
    rocdxg_smi_device_info_t {
        struct_size, bdf, asic, board, vram, driver, vbios, cache, fw,
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
    HsaMemFlags {
        NonPaged, CachePolicy, ReadOnly, PageSize, HostAccess, NoSubstitute, GDSMemory, Scratch, AtomicAccessFull,
        AtomicAccessPartial, ExecuteAccess, CoarseGrain, AQLQueueMemory, FixedAddress, NoNUMABind, Uncached,
        NoAddress, OnlyAddress, ExtendedCoherent, GTTAccess, Contiguous, ExecuteBlit, QueueObject, Reserved,
    }
    HSA_REGISTER_MEM_FLAGS {
        requiresVAddr, kmtHandle,
    }
    HsaAccessAttributeFailure {
        NotPresent, ReadOnly, NoExecute, GpuAccess, ECC, Imprecise, ErrorType, Reserved,
    }
    HsaCounterFlags {
        Global, Resettable, ReadOnly, Stream, Reserved,
    }
    HsaHandleImportFlags {
        IPCHandle, SysMem, UpdateMetadata, Reserved,
    }
    HsaHandleExportFlags {
        Reserved,
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
    HSA_CACHING_TYPE {
        HSA_CACHING_CACHED, HSA_CACHING_NONCACHED, HSA_CACHING_WRITECOMBINED, HSA_CACHING_RESERVED,
        HSA_CACHING_NUM_CACHING, HSA_CACHING_SIZE,
    }
    HSA_PAGE_SIZE {
        HSA_PAGE_SIZE_4KB, HSA_PAGE_SIZE_64KB, HSA_PAGE_SIZE_2MB, HSA_PAGE_SIZE_1GB,
    }
    HSA_POINTER_TYPE {
        HSA_POINTER_UNKNOWN, HSA_POINTER_ALLOCATED, HSA_POINTER_REGISTERED_USER, HSA_POINTER_REGISTERED_GRAPHICS,
        HSA_POINTER_REGISTERED_SHARED, HSA_POINTER_RESERVED_ADDR,
    }
    HsaAisFlags {
        HSA_AIS_READ, HSA_AIS_WRITE,
    }
    HsaMemoryMapFlags {
        HSA_MEMORY_ACCESS_NONE, HSA_MEMORY_ACCESS_RO, HSA_MEMORY_ACCESS_WO, HSA_MEMORY_ACCESS_RW,
    }
    HSA_QUEUE_PRIORITY {
        HSA_QUEUE_PRIORITY_MINIMUM, HSA_QUEUE_PRIORITY_LOW, HSA_QUEUE_PRIORITY_BELOW_NORMAL,
        HSA_QUEUE_PRIORITY_NORMAL, HSA_QUEUE_PRIORITY_ABOVE_NORMAL, HSA_QUEUE_PRIORITY_HIGH,
        HSA_QUEUE_PRIORITY_MAXIMUM, HSA_QUEUE_PRIORITY_NUM_PRIORITY, HSA_QUEUE_PRIORITY_SIZE,
    }
    HSA_QUEUE_TYPE {
        HSA_QUEUE_COMPUTE, HSA_QUEUE_SDMA, HSA_QUEUE_MULTIMEDIA_DECODE, HSA_QUEUE_MULTIMEDIA_ENCODE,
        HSA_QUEUE_SDMA_XGMI, HSA_QUEUE_SDMA_BY_ENG_ID, HSA_QUEUE_COMPUTE_OS, HSA_QUEUE_SDMA_OS,
        HSA_QUEUE_MULTIMEDIA_DECODE_OS, HSA_QUEUE_MULTIMEDIA_ENCODE_OS, HSA_QUEUE_COMPUTE_AQL, HSA_QUEUE_DMA_AQL,
        HSA_QUEUE_DMA_AQL_XGMI, HSA_QUEUE_TYPE_SIZE,
    }
    HSA_DEVICE {
        HSA_DEVICE_CPU, HSA_DEVICE_GPU, MAX_HSA_DEVICE,
    }
    HSA_EVENTTYPE {
        HSA_EVENTTYPE_SIGNAL, HSA_EVENTTYPE_NODECHANGE, HSA_EVENTTYPE_DEVICESTATECHANGE, HSA_EVENTTYPE_HW_EXCEPTION,
        HSA_EVENTTYPE_SYSTEM_EVENT, HSA_EVENTTYPE_DEBUG_EVENT, HSA_EVENTTYPE_PROFILE_EVENT,
        HSA_EVENTTYPE_QUEUE_EVENT, HSA_EVENTTYPE_MEMORY, HSA_EVENTTYPE_MAXID, HSA_EVENTTYPE_TYPE_SIZE,
    }
    HSA_DEBUG_EVENT_TYPE {
        HSA_DEBUG_EVENT_TYPE_NONE, HSA_DEBUG_EVENT_TYPE_TRAP, HSA_DEBUG_EVENT_TYPE_VMFAULT,
        HSA_DEBUG_EVENT_TYPE_TRAP_VMFAULT,
    }
    HSA_EVENTTYPE_NODECHANGE_FLAGS {
        HSA_EVENTTYPE_NODECHANGE_ADD, HSA_EVENTTYPE_NODECHANGE_REMOVE, HSA_EVENTTYPE_NODECHANGE_SIZE,
    }
    HSA_EVENTTYPE_DEVICESTATECHANGE_FLAGS {
        HSA_EVENTTYPE_DEVICESTATUSCHANGE_START, HSA_EVENTTYPE_DEVICESTATUSCHANGE_STOP,
        HSA_EVENTTYPE_DEVICESTATUSCHANGE_SIZE,
    }
    HSA_EVENTID_MEMORYFLAGS {
        HSA_EVENTID_MEMORY_RECOVERABLE, HSA_EVENTID_MEMORY_FATAL_PROCESS, HSA_EVENTID_MEMORY_FATAL_VM,
    }
    HSA_EVENTID_HW_EXCEPTION_CAUSE {
        HSA_EVENTID_HW_EXCEPTION_GPU_HANG, HSA_EVENTID_HW_EXCEPTION_ECC,
    }
    HsaEventTimeOut {
        HSA_EVENTTIMEOUT_IMMEDIATE, HSA_EVENTTIMEOUT_INFINITE,
    }
    HSA_DBG_WAVEOP {
        HSA_DBG_WAVEOP_HALT, HSA_DBG_WAVEOP_RESUME, HSA_DBG_WAVEOP_KILL, HSA_DBG_WAVEOP_DEBUG, HSA_DBG_WAVEOP_TRAP,
        HSA_DBG_NUM_WAVEOP, HSA_DBG_MAX_WAVEOP,
    }
    HSA_DBG_WAVEMODE {
        HSA_DBG_WAVEMODE_SINGLE, HSA_DBG_WAVEMODE_BROADCAST_PROCESS, HSA_DBG_WAVEMODE_BROADCAST_PROCESS_CU,
        HSA_DBG_NUM_WAVEMODE, HSA_DBG_MAX_WAVEMODE,
    }
    HSA_DBG_WAVEMSG_TYPE {
        HSA_DBG_WAVEMSG_AUTO, HSA_DBG_WAVEMSG_USER, HSA_DBG_WAVEMSG_ERROR, HSA_DBG_NUM_WAVEMSG, HSA_DBG_MAX_WAVEMSG,
    }
    HSA_DBG_WATCH_MODE {
        HSA_DBG_WATCH_READ, HSA_DBG_WATCH_NONREAD, HSA_DBG_WATCH_ATOMIC, HSA_DBG_WATCH_ALL, HSA_DBG_WATCH_NUM,
    }
    HSA_DBG_TRAP_OVERRIDE {
        HSA_DBG_TRAP_OVERRIDE_OR, HSA_DBG_TRAP_OVERRIDE_REPLACE, HSA_DBG_TRAP_OVERRIDE_NUM,
    }
    HSA_DBG_TRAP_MASK {
        HSA_DBG_TRAP_MASK_FP_INVALID, HSA_DBG_TRAP_MASK_FP_INPUT_DENOMAL, HSA_DBG_TRAP_MASK_FP_DIVIDE_BY_ZERO,
        HSA_DBG_TRAP_MASK_FP_OVERFLOW, HSA_DBG_TRAP_MASK_FP_UNDERFLOW, HSA_DBG_TRAP_MASK_FP_INEXACT,
        HSA_DBG_TRAP_MASK_INT_DIVIDE_BY_ZERO, HSA_DBG_TRAP_MASK_DBG_ADDRESS_WATCH,
        HSA_DBG_TRAP_MASK_DBG_MEMORY_VIOLATION,
    }
    HSA_DBG_TRAP_EXCEPTION_CODE {
        HSA_DBG_EC_NONE, HSA_DBG_EC_QUEUE_WAVE_ABORT, HSA_DBG_EC_QUEUE_WAVE_TRAP, HSA_DBG_EC_QUEUE_WAVE_MATH_ERROR,
        HSA_DBG_EC_QUEUE_WAVE_ILLEGAL_INSTRUCTION, HSA_DBG_EC_QUEUE_WAVE_MEMORY_VIOLATION,
        HSA_DBG_EC_QUEUE_WAVE_APERTURE_VIOLATION, HSA_DBG_EC_QUEUE_PACKET_DISPATCH_DIM_INVALID,
        HSA_DBG_EC_QUEUE_PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID, HSA_DBG_EC_QUEUE_PACKET_DISPATCH_CODE_INVALID,
        HSA_DBG_EC_QUEUE_PACKET_RESERVED, HSA_DBG_EC_QUEUE_PACKET_UNSUPPORTED,
        HSA_DBG_EC_QUEUE_PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID, HSA_DBG_EC_QUEUE_PACKET_DISPATCH_REGISTER_INVALID,
        HSA_DBG_EC_QUEUE_PACKET_VENDOR_UNSUPPORTED, HSA_DBG_EC_QUEUE_PREEMPTION_ERROR, HSA_DBG_EC_QUEUE_NEW,
        HSA_DBG_EC_DEVICE_QUEUE_DELETE, HSA_DBG_EC_DEVICE_MEMORY_VIOLATION, HSA_DBG_EC_DEVICE_RAS_ERROR,
        HSA_DBG_EC_DEVICE_FATAL_HALT, HSA_DBG_EC_DEVICE_NEW, HSA_DBG_EC_PROCESS_RUNTIME,
        HSA_DBG_EC_PROCESS_DEVICE_REMOVE, HSA_DBG_EC_MAX,
    }
    HSA_DBG_WAVE_LAUNCH_MODE {
        HSA_DBG_WAVE_LAUNCH_MODE_NORMAL, HSA_DBG_WAVE_LAUNCH_MODE_HALT, HSA_DBG_WAVE_LAUNCH_MODE_KILL,
        HSA_DBG_WAVE_LAUNCH_MODE_SINGLE_STEP, HSA_DBG_WAVE_LAUNCH_MODE_DISABLE, HSA_DBG_WAVE_LAUNCH_MODE_NUM,
    }
    HSA_DBG_NODE_CONTROL {
        HSA_DBG_NODE_CONTROL_FLAG_MAX,
    }
    HSA_PROFILE_TYPE {
        HSA_PROFILE_TYPE_PRIVILEGED_IMMEDIATE, HSA_PROFILE_TYPE_PRIVILEGED_STREAMING,
        HSA_PROFILE_TYPE_NONPRIV_IMMEDIATE, HSA_PROFILE_TYPE_NONPRIV_STREAMING, HSA_PROFILE_TYPE_NUM,
        HSA_PROFILE_TYPE_SIZE,
    }
    HSA_SVM_FLAGS {
        HSA_SVM_FLAG_HOST_ACCESS, HSA_SVM_FLAG_COHERENT, HSA_SVM_FLAG_HIVE_LOCAL, HSA_SVM_FLAG_GPU_RO,
        HSA_SVM_FLAG_GPU_EXEC, HSA_SVM_FLAG_GPU_READ_MOSTLY, HSA_SVM_FLAG_GPU_ALWAYS_MAPPED,
        HSA_SVM_FLAG_EXT_COHERENT,
    }
    HSA_SVM_ATTR_TYPE {
        HSA_SVM_ATTR_PREFERRED_LOC, HSA_SVM_ATTR_PREFETCH_LOC, HSA_SVM_ATTR_ACCESS, HSA_SVM_ATTR_ACCESS_IN_PLACE,
        HSA_SVM_ATTR_NO_ACCESS, HSA_SVM_ATTR_SET_FLAGS, HSA_SVM_ATTR_CLR_FLAGS, HSA_SVM_ATTR_GRANULARITY,
    }
    HSA_EVENT_TYPE {
        HSA_SMI_EVENT_NONE, HSA_SMI_EVENT_VMFAULT, HSA_SMI_EVENT_THERMAL_THROTTLE, HSA_SMI_EVENT_GPU_PRE_RESET,
        HSA_SMI_EVENT_GPU_POST_RESET, HSA_SMI_EVENT_MIGRATE_START, HSA_SMI_EVENT_MIGRATE_END,
        HSA_SMI_EVENT_PAGE_FAULT_START, HSA_SMI_EVENT_PAGE_FAULT_END, HSA_SMI_EVENT_QUEUE_EVICTION,
        HSA_SMI_EVENT_QUEUE_RESTORE, HSA_SMI_EVENT_UNMAP_FROM_GPU, HSA_SMI_EVENT_INDEX_MAX,
        HSA_SMI_EVENT_ALL_PROCESS,
    }
    HSA_MIGRATE_TRIGGERS {
        HSA_MIGRATE_TRIGGER_PREFETCH, HSA_MIGRATE_TRIGGER_PAGEFAULT_GPU, HSA_MIGRATE_TRIGGER_PAGEFAULT_CPU,
        HSA_MIGRATE_TRIGGER_TTM_EVICTION,
    }
    HSA_QUEUE_EVICTION_TRIGGERS {
        HSA_QUEUE_EVICTION_TRIGGER_SVM, HSA_QUEUE_EVICTION_TRIGGER_USERPTR, HSA_QUEUE_EVICTION_TRIGGER_TTM,
        HSA_QUEUE_EVICTION_TRIGGER_SUSPEND, HSA_QUEUE_EVICTION_CRIU_CHECKPOINT, HSA_QUEUE_EVICTION_CRIU_RESTORE,
    }
    HSA_SVM_UNMAP_TRIGGERS {
        HSA_SVM_UNMAP_TRIGGER_MMU_NOTIFY, HSA_SVM_UNMAP_TRIGGER_MMU_NOTIFY_MIGRATE,
        HSA_SVM_UNMAP_TRIGGER_UNMAP_FROM_CPU,
    }
    HSA_PC_SAMPLING_METHOD_KIND {
        HSA_PC_SAMPLING_METHOD_KIND_HOSTTRAP_V1, HSA_PC_SAMPLING_METHOD_KIND_STOCHASTIC_V1,
    }
    HSA_PC_SAMPLING_UNIT_INTERVAL {
        HSA_PC_SAMPLING_UNIT_INTERVAL_MICROSECONDS, HSA_PC_SAMPLING_UNIT_INTERVAL_CYCLES,
        HSA_PC_SAMPLING_UNIT_INTERVAL_INSTRUCTIONS,
    }
    HsaExternalHandleType {
        HSA_EXTERNAL_HANDLE_GEM_FLINK_NAME, HSA_EXTERNAL_HANDLE_KMS, HSA_EXTERNAL_HANDLE_DMA_BUF,
        HSA_EXTERNAL_HANDLE_FABRIC,
    }
    HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE {
        HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32, HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT,
        HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
    }
}

aliases! {
        HSAuint8, HSAint8, HSAuint16, HSAint16, HSAuint32, HSAint32, HSAuint64, HSAint64, HSA_HANDLE, HSA_QUEUEID,
        HSA_EVENTID, HSATraceId, HsaPcSamplingTraceId, HsaSharedMemoryHandle, HsaAMDGPUDeviceHandle,
        HsaMemoryObjectHandle,
}

opaques! {
        HsaKFDContext,
}

constants! {
        HSAKMT_VERSION_MAJOR, HSAKMT_VERSION_MINOR, INVALID_PID, INVALID_QUEUEID, INVALID_NODEID,
        HSA_PROCESSORID_ALL, HSA_CPU_SIBLINGS, HSA_PUBLIC_NAME_SIZE, HSA_RUNTIME_ENABLE_CAPS_SUPPORTS_CORE_DUMP_MASK,
        HSA_SMI_EVENT_MSG_SIZE, ROCDXG_SMI_MAX_CACHE_TYPES, ROCDXG_SMI_MAX_STRING_LENGTH, ROCDXG_SMI_MAX_FW_ENTRIES,
        ROCDXG_LIB_VERSION_MAJOR, ROCDXG_LIB_VERSION_MINOR, ROCDXG_LIB_VERSION_PATCH,
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
        HSA_EC_MASK, HSA_SMI_EVENT_MASK_FROM_INDEX,
}
