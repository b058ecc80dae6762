/* SPDX-License-Identifier: MIT
 *
 * Types of the thunk: layouts, flags and status codes.
 * Written by tools/headers from src/abi and src/ffi; do not edit.
 */
#ifndef ROCDXG_HSAKMTTYPES_H
#define ROCDXG_HSAKMTTYPES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma pack(push, 4)

/** Calling convention; nothing on Linux. */
#ifndef HSAKMTAPI
#define HSAKMTAPI
#endif

/** Major number of the contract. */
#define HSAKMT_VERSION_MAJOR 0
/** Minor number of the contract. */
#define HSAKMT_VERSION_MINOR 99
/** A process id that no process has. */
#define INVALID_PID 0xffffffff
/** A queue id that no queue has. */
#define INVALID_QUEUEID 0xffffffffffffffff
/** A node id that no node has. */
#define INVALID_NODEID 0xffffffff
/** In place of a processor id: all processors of the node. */
#define HSA_PROCESSORID_ALL 0xffffffff
/** Most processors that a sibling map can name. */
#define HSA_CPU_SIBLINGS 256
/** Characters of a name in HsaNodeProperties, the final zero included. */
#define HSA_PUBLIC_NAME_SIZE 64
/** In the mask of hsaKmtGetRuntimeCapabilities: core dumps of GPU state can be made. */
#define HSA_RUNTIME_ENABLE_CAPS_SUPPORTS_CORE_DUMP_MASK 0x80000000
/** The bit of exception ecode in a mask; ecode is 1 to 64. */
#define HSA_EC_MASK(ecode) (1ULL << ((ecode) - 1))
/** Longest line of an event, bytes, the final zero included. */
#define HSA_SMI_EVENT_MSG_SIZE 96
/** The bit of kind i in the mask of wanted kinds; i is 1 to 64. */
#define HSA_SMI_EVENT_MASK_FROM_INDEX(i) (1ULL << ((i) - 1))

/** Context of a process on the kernel driver, for the calls that take one. */
typedef struct _HsaKFDContext HsaKFDContext;

/** One GPU for the debugger, 120 or 128 bytes, declared by linux/kfd_ioctl.h. */
struct kfd_dbg_device_info_entry;

/** Arguments of the debug trap ioctl, declared by linux/kfd_ioctl.h. */
struct kfd_ioctl_dbg_trap_args;

/** State of the runtime as the kernel keeps it, 16 bytes, declared by linux/kfd_ioctl.h. */
struct kfd_runtime_info;

/** 8 bits, unsigned. */
typedef uint8_t HSAuint8;

/** 8 bits, signed. */
typedef int8_t HSAint8;

/** 16 bits, unsigned. */
typedef uint16_t HSAuint16;

/** 16 bits, signed. */
typedef int16_t HSAint16;

/** 32 bits, unsigned. */
typedef uint32_t HSAuint32;

/** 32 bits, signed. */
typedef int32_t HSAint32;

/** 64 bits, unsigned. */
typedef uint64_t HSAuint64;

/** 64 bits, signed. */
typedef int64_t HSAint64;

/** A handle whose meaning is known to its maker only. */
typedef void *HSA_HANDLE;

/** Names a queue from its creation to its destruction. */
typedef HSAuint64 HSA_QUEUEID;

/** Result of a call of the C API. Numbers are fixed for ever. */
typedef enum _HSAKMT_STATUS {
  /** The call did what it says. */
  HSAKMT_STATUS_SUCCESS = 0,
  /** A failure with no better name. */
  HSAKMT_STATUS_ERROR = 1,
  /** The kernel driver or the caller speaks another version of the interface. */
  HSAKMT_STATUS_DRIVER_MISMATCH = 2,
  /** A pointer is NULL, a count or a flag is out of range. */
  HSAKMT_STATUS_INVALID_PARAMETER = 3,
  /** A handle does not name a live object. */
  HSAKMT_STATUS_INVALID_HANDLE = 4,
  /** No such node, or no snapshot. */
  HSAKMT_STATUS_INVALID_NODE_UNIT = 5,
  /** System or video memory is exhausted. */
  HSAKMT_STATUS_NO_MEMORY = 6,
  /** The buffer of the caller is too small. */
  HSAKMT_STATUS_BUFFER_TOO_SMALL = 7,
  /** The call exists but does nothing on any platform. */
  HSAKMT_STATUS_NOT_IMPLEMENTED = 10,
  /** The platform cannot do it. */
  HSAKMT_STATUS_NOT_SUPPORTED = 11,
  /** Cannot be done now. */
  HSAKMT_STATUS_UNAVAILABLE = 12,
  /** A kernel resource other than memory is exhausted. */
  HSAKMT_STATUS_OUT_OF_RESOURCES = 13,
  /** The device is not open in this process. */
  HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED = 20,
  /** The kernel driver is gone or does not answer. */
  HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR = 21,
  /** The device was open already; one more reference was taken. */
  HSAKMT_STATUS_KERNEL_ALREADY_OPENED = 22,
  /** The IOMMU that old APUs need is missing. */
  HSAKMT_STATUS_HSAMMU_UNAVAILABLE = 23,
  /** A wait ended with an error. */
  HSAKMT_STATUS_WAIT_FAILURE = 30,
  /** A wait ended at its time limit. */
  HSAKMT_STATUS_WAIT_TIMEOUT = 31,
  /** The range is registered already. */
  HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED = 35,
  /** The range is not registered. */
  HSAKMT_STATUS_MEMORY_NOT_REGISTERED = 36,
  /** The address or size is not aligned as needed. */
  HSAKMT_STATUS_MEMORY_ALIGNMENT = 37,
} HSAKMT_STATUS;

/** Version of the kernel interface. */
typedef struct _HsaVersionInfo {
  /** Major number; 1 on both platforms. */
  HSAuint32 KernelInterfaceMajorVersion;
  /** Minor number: that of the KFD driver, or 17 on DXG. */
  HSAuint32 KernelInterfaceMinorVersion;
} HsaVersionInfo;

/** What the whole machine reports. */
typedef struct _HsaSystemProperties {
  /** Number of nodes; node ids are 0 to NumNodes - 1. */
  HSAuint32 NumNodes;
  /** Identifies the maker of the machine; 0 on DXG. */
  HSAuint32 PlatformOem;
  /** Identifies the machine; 0 on DXG. */
  HSAuint32 PlatformId;
  /** Revision of the machine; 0 on DXG. */
  HSAuint32 PlatformRev;
} HsaSystemProperties;

/** Kind of a memory bank. */
typedef enum _HSA_HEAPTYPE {
  /** Memory of the host. */
  HSA_HEAPTYPE_SYSTEM = 0,
  /** Device memory that the CPU can reach (large BAR). */
  HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC = 1,
  /** Device memory that the CPU cannot reach. */
  HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE = 2,
  /** Global data share. */
  HSA_HEAPTYPE_GPU_GDS = 3,
  /** Local data share; its address range is the shared aperture. */
  HSA_HEAPTYPE_GPU_LDS = 4,
  /** Scratch; its address range is the private aperture. */
  HSA_HEAPTYPE_GPU_SCRATCH = 5,
  /** Address range in which the GPU sees host memory. */
  HSA_HEAPTYPE_DEVICE_SVM = 6,
  /** Page of remapped registers (HDP flush). */
  HSA_HEAPTYPE_MMIO_REMAP = 7,
  /** Number of kinds. */
  HSA_HEAPTYPE_NUMHEAPTYPES = 8,
  /** Keeps the enumeration at 32 bits. */
  HSA_HEAPTYPE_SIZE = 0xffffffff,
} HSA_HEAPTYPE;

/** Flags of a memory bank. */
typedef union {
  HSAuint32 MemoryProperty;
  struct {
    /** The bank can be removed at run time. */
    unsigned int HotPluggable : 1;
    /** The bank keeps its contents without power. */
    unsigned int NonVolatile : 1;
    /** Not assigned, 0. */
    unsigned int Reserved : 30;
  } ui32;
} HSA_MEMORYPROPERTY;

/** One memory bank of a node. */
typedef struct _HsaMemoryProperties {
  /** Kind of the bank. */
  HSA_HEAPTYPE HeapType;
  /** Size, bytes. */
  union {
    HSAuint64 SizeInBytes;
    struct {
      HSAuint32 SizeInBytesLow;
      HSAuint32 SizeInBytesHigh;
    } ui32;
  };
  /** Flags. */
  HSA_MEMORYPROPERTY Flags;
  /** Width of the memory bus, bits. */
  HSAuint32 Width;
  /** Highest memory clock, MHz. */
  HSAuint32 MemoryClockMax;
  /** First address of the aperture, for LDS, scratch, SVM and MMIO banks; else 0. */
  HSAuint64 VirtualBaseAddress;
} HsaMemoryProperties;

/** What a cache holds and whom it serves. */
typedef union {
  HSAuint32 Value;
  struct {
    /** Holds data. */
    unsigned int Data : 1;
    /** Holds instructions. */
    unsigned int Instruction : 1;
    /** Serves CPUs. */
    unsigned int CPU : 1;
    /** Serves compute units. */
    unsigned int HSACU : 1;
    /** Not assigned, 0. */
    unsigned int Reserved : 28;
  } ui32;
} HsaCacheType;

/** One cache of a node. 1060 bytes; callers from before the last field have 1056. */
typedef struct _HaCacheProperties {
  /** APIC id of the first CPU, or number of the first SIMD unit, that the cache serves. */
  HSAuint32 ProcessorIdLow;
  /** Level: 1, 2, 3. */
  HSAuint32 CacheLevel;
  /** Size: bytes for a CPU cache, KiB for a GPU cache. */
  HSAuint32 CacheSize;
  /** Line size, bytes. */
  HSAuint32 CacheLineSize;
  /** Lines that share one tag. */
  HSAuint32 CacheLinesPerTag;
  /** Ways of associativity. */
  HSAuint32 CacheAssociativity;
  /** Latency, nanoseconds; 0 when unknown. */
  HSAuint32 CacheLatency;
  /** What it holds and whom it serves. */
  HsaCacheType CacheType;
  /** Entry n is 1 when processor n (for CPUs: the one with APIC id n) uses the cache. */
  HSAuint32 SiblingMap[HSA_CPU_SIBLINGS];
  /** Most of the cache that can be set aside for persisting data, bytes; 0 when it cannot. */
  HSAuint32 PersistingCacheSizeMax;
} HsaCacheProperties;

/** Which CPUs belong to a compute unit. No call of the API hands it out. */
typedef struct _HsaCComputeProperties {
  /** Entry n is 1 when the CPU with APIC id n belongs to the unit. */
  HSAuint32 SiblingMap[HSA_CPU_SIBLINGS];
} HsaCComputeProperties;

/** Kind of a link between two nodes. */
typedef enum _HSA_IOLINKTYPE {
  /** Unknown. */
  HSA_IOLINKTYPE_UNDEFINED = 0,
  /** HyperTransport. */
  HSA_IOLINKTYPE_HYPERTRANSPORT = 1,
  /** PCI Express. */
  HSA_IOLINKTYPE_PCIEXPRESS = 2,
  /** AMBA. */
  HSA_IOLINKTYPE_AMBA = 3,
  /** MIPI. */
  HSA_IOLINKTYPE_MIPI = 4,
  /** QPI 1.1, between CPU sockets. */
  HSA_IOLINK_TYPE_QPI_1_1 = 5,
  /** Not assigned. */
  HSA_IOLINK_TYPE_RESERVED1 = 6,
  /** Not assigned. */
  HSA_IOLINK_TYPE_RESERVED2 = 7,
  /** RapidIO. */
  HSA_IOLINK_TYPE_RAPID_IO = 8,
  /** InfiniBand. */
  HSA_IOLINK_TYPE_INFINIBAND = 9,
  /** Not assigned. */
  HSA_IOLINK_TYPE_RESERVED3 = 10,
  /** XGMI, between GPUs, and between CPU and GPU of an APU. */
  HSA_IOLINK_TYPE_XGMI = 11,
  /** XGOP. */
  HSA_IOLINK_TYPE_XGOP = 12,
  /** GZ. */
  HSA_IOLINK_TYPE_GZ = 13,
  /** RDMA over Ethernet. */
  HSA_IOLINK_TYPE_ETHERNET_RDMA = 14,
  /** RDMA over something else. */
  HSA_IOLINK_TYPE_RDMA_OTHER = 15,
  /** Something else. */
  HSA_IOLINK_TYPE_OTHER = 16,
  /** Number of kinds. */
  HSA_IOLINKTYPE_NUMIOLINKTYPES = 17,
  /** Keeps the enumeration at 32 bits. */
  HSA_IOLINKTYPE_SIZE = 0xffffffff,
} HSA_IOLINKTYPE;

/** Flags of a link. */
typedef union {
  HSAuint32 LinkProperty;
  struct {
    /** The other flags are to be believed instead of what the kind of the link implies. */
    unsigned int Override : 1;
    /** Accesses over the link are not coherent. */
    unsigned int NonCoherent : 1;
    /** No 32-bit atomic operations over the link. */
    unsigned int NoAtomics32bit : 1;
    /** No 64-bit atomic operations over the link. */
    unsigned int NoAtomics64bit : 1;
    /** No DMA between peers over the link. */
    unsigned int NoPeerToPeerDMA : 1;
    /** Not assigned, 0. */
    unsigned int Reserved : 27;
  } ui32;
} HSA_LINKPROPERTY;

/** One link from a node to another. 52 bytes; callers before 6.3 have 48, without RecSdmaEngIdMask. */
typedef struct _HsaIoLinkProperties {
  /** Kind of the link. */
  HSA_IOLINKTYPE IoLinkType;
  /** Major version of the link's specification; 0 when unknown. */
  HSAuint32 VersionMajor;
  /** Minor version of the link's specification; 0 when unknown. */
  HSAuint32 VersionMinor;
  /** Node at which the link starts. */
  HSAuint32 NodeFrom;
  /** Node at which the link ends. */
  HSAuint32 NodeTo;
  /** Distance in the sense of NUMA; an indirect link carries the sum of its hops. */
  HSAuint32 Weight;
  /** Lowest latency, nanoseconds; 0 when unknown. */
  HSAuint32 MinimumLatency;
  /** Highest latency, nanoseconds; 0 when unknown. */
  HSAuint32 MaximumLatency;
  /** Lowest bandwidth, MB/s; 0 when unknown. */
  HSAuint32 MinimumBandwidth;
  /** Highest bandwidth, MB/s; 0 when unknown. */
  HSAuint32 MaximumBandwidth;
  /** Recommended size of one transfer, bytes; 0 when unknown. */
  HSAuint32 RecTransferSize;
  /** Bit n is set when SDMA engine n is recommended for copies to NodeTo. Absent before 6.3. */
  HSAuint32 RecSdmaEngIdMask;
  /** Flags. */
  HSA_LINKPROPERTY Flags;
} HsaIoLinkProperties;

/** Sizes of structures in the build of the caller, for DxgAbiCheck. A size of 0 is not compared. */
typedef struct _HsaStructureSizes {
  /** Size of this structure, 16 bytes. */
  HSAuint16 StructureSizes;
  /** Size of HsaNodeProperties, bytes. */
  HSAuint16 SizeOfHsaNodeProperties;
  /** Size of HsaHandleImportDesc, bytes. */
  HSAuint16 SizeOfHsaExternalHandleDesc;
  /** Not assigned, 0. */
  HSAuint16 Reserved[5];
} HsaStructureSizes;

/** Firmware and graphics version of the compute engine. */
typedef union {
  HSAuint32 Value;
  struct {
    /** Firmware version of the compute micro engine. */
    unsigned int uCode : 10;
    /** Major number of the graphics version: 9 in gfx90a. 0 on a node without GPU. */
    unsigned int Major : 6;
    /** Minor number of the graphics version: 0 in gfx90a. */
    unsigned int Minor : 8;
    /** Stepping of the graphics version: 10 in gfx90a. */
    unsigned int Stepping : 8;
  } ui32;
} HSA_ENGINE_ID;

/** Firmware versions of the other engines. */
typedef union {
  HSAuint32 Value;
  struct {
    /** Firmware version of the SDMA engines. */
    unsigned int uCodeSDMA : 10;
    /** Not assigned, 0. */
    unsigned int uCodeRes : 10;
    /** Not assigned, 0. */
    unsigned int Reserved : 12;
  };
} HSA_ENGINE_VERSION;

/**
 * Capabilities of a node. On KFD the word of the kernel, on DXG only ASICRevision, WatchPointsTotalBits and
 * DoorbellType are set.
 */
typedef union {
  HSAuint32 Value;
  struct {
    /** The node can be removed at run time. */
    unsigned int HotPluggable : 1;
    /** The node translates addresses with the page tables of the process (IOMMU, old APUs). */
    unsigned int HSAMMUPresent : 1;
    /** The compute engine also serves graphics. */
    unsigned int SharedWithGraphics : 1;
    /** Ring sizes must be powers of two. */
    unsigned int QueueSizePowerOfTwo : 1;
    /** Ring sizes are limited to 32 bits. */
    unsigned int QueueSize32bit : 1;
    /** The node can signal that a queue ran dry. */
    unsigned int QueueIdleEvent : 1;
    /** The node reaches only part of the address space of a process. */
    unsigned int VALimit : 1;
    /** Address watch points exist. */
    unsigned int WatchPointsSupported : 1;
    /** Base-2 logarithm of the number of watch points. */
    unsigned int WatchPointsTotalBits : 4;
    /** Doorbells: 0 = 4 bytes before gfx8, 1 = 4 bytes, 2 = 8 bytes. */
    unsigned int DoorbellType : 2;
    /** The ring of an AQL queue is mapped twice in a row. */
    unsigned int AQLQueueDoubleMap : 1;
    /** The kernel offers the debug trap interface. */
    unsigned int DebugTrapSupported : 1;
    /** The traps of newly launched waves can be overridden. */
    unsigned int WaveLaunchTrapOverrideSupported : 1;
    /** The launch mode of waves can be chosen. */
    unsigned int WaveLaunchModeSupported : 1;
    /** Memory operations can be reported at the exact instruction. */
    unsigned int PreciseMemoryOperationsSupported : 1;
    /** Former place of SRAM_EDCSupport; not used. */
    unsigned int DEPRECATED_SRAM_EDCSupport : 1;
    /** Device memory has error correction. */
    unsigned int Mem_EDCSupport : 1;
    /** Uncorrectable errors are reported as events. */
    unsigned int RASEventNotify : 1;
    /** Revision of the chip. */
    unsigned int ASICRevision : 4;
    /** On-chip memories have error correction. */
    unsigned int SRAM_EDCSupport : 1;
    /** The shared-virtual-memory calls work. Cleared when HSA_USE_SVM is 0. */
    unsigned int SVMAPISupported : 1;
    /** The host can access device memory coherently. */
    unsigned int CoherentHostAccess : 1;
    /** The firmware is recent enough for the debugger. */
    unsigned int DebugSupportedFirmware : 1;
    /** Arithmetic exceptions can be reported at the exact instruction. */
    unsigned int PreciseALUOperationsSupported : 1;
    /** One hanging compute queue can be reset without the others. */
    unsigned int PerQueueResetSupported : 1;
  } ui32;
} HSA_CAPABILITY;

/** More capabilities of a node. Absent from layouts before 2025-08. */
typedef union {
  HSAuint32 Value;
  struct {
    /** One hanging SDMA queue can be reset without the others. */
    unsigned int PerSDMAQueueResetSupported : 1;
    /** AQL packets are translated to PM4 by the thunk (DXG without native AQL scheduling). */
    unsigned int AqlEmulationPm4_ : 1;
    /** A retry fault stalls the wave; context save areas must not be shared virtual memory. */
    unsigned int StallOnRetryFault : 1;
    /** Not assigned, 0. */
    unsigned int Reserved : 29;
  } ui32;
} HSA_CAPABILITY2;

/** What the debugger may do on a node. 0 on DXG. */
typedef union {
  HSAuint64 Value;
  struct {
    /** Lowest bit of a watch-point mask that can be set. */
    HSAuint64 WatchAddrMaskLoBit : 4;
    /** Highest bit of a watch-point mask that can be set. */
    HSAuint64 WatchAddrMaskHiBit : 6;
    /** Dispatch information is in the trap temporaries at any time. */
    HSAuint64 DispatchInfoAlwaysValid : 1;
    /** Watch points are shared between processes instead of private to each. */
    HSAuint64 AddressWatchpointShareKind : 1;
    /** Not assigned, 0. */
    HSAuint64 Reserved : 52;
  };
} HSA_DEBUG_PROPERTIES;

/** One node: CPU, GPU or both. The newest layout, 396 bytes; older callers have 356 to 392. */
typedef struct _HsaNodeProperties {
  /** Number of logical CPUs; 0 on a node without CPU. */
  HSAuint32 NumCPUCores;
  /** Number of SIMD units of the GPU, all compute units together; 0 on a node without GPU. */
  HSAuint32 NumFComputeCores;
  /** Number of neural processing cores; 0 where there are none. Absent before 6.3. */
  HSAuint32 NumNeuralCores;
  /** How many banks hsaKmtGetNodeMemoryProperties can fill. */
  HSAuint32 NumMemoryBanks;
  /** How many entries hsaKmtGetNodeCacheProperties can fill. */
  HSAuint32 NumCaches;
  /** How many links start at this node, indirect ones included. */
  HSAuint32 NumIOLinks;
  /** APIC id of the first logical CPU. */
  HSAuint32 CComputeIdLo;
  /** Number of the first SIMD unit. */
  HSAuint32 FComputeIdLo;
  /** Capabilities. */
  HSA_CAPABILITY Capability;
  /** More capabilities. Absent before 2025-08. */
  HSA_CAPABILITY2 Capability2;
  /** Most waves that one SIMD unit holds. */
  HSAuint32 MaxWavesPerSIMD;
  /** Local data share of one compute unit, KiB. */
  HSAuint32 LDSSizeInKB;
  /** Global data share, KiB; 0 on DXG. */
  HSAuint32 GDSSizeInKB;
  /** Work items of one wave. */
  HSAuint32 WaveFrontSize;
  /** Number of shader engines. */
  HSAuint32 NumShaderBanks;
  /** Shader arrays of one shader engine. */
  HSAuint32 NumArrays;
  /** Compute units of one shader array. */
  HSAuint32 NumCUPerArray;
  /** SIMD units of one compute unit. */
  HSAuint32 NumSIMDPerCU;
  /** Most waves with scratch memory that one compute unit holds. */
  HSAuint32 MaxSlotsScratchCU;
  /** Graphics version and compute firmware. */
  HSA_ENGINE_ID EngineId;
  /** Graphics version that replaces the one of EngineId where its major number is not 0. Absent before 6.3. */
  HSA_ENGINE_ID OverrideEngineId;
  /** PCI vendor id; 0x1002 on a GPU. */
  HSAuint16 VendorId;
  /** PCI device id. */
  HSAuint16 DeviceId;
  /** PCI location: bus << 8 | device << 3 | function. */
  HSAuint32 LocationId;
  /** Device memory, bytes. 0: the memory banks tell it. */
  HSAuint64 LocalMemSize;
  /** Highest engine clock of the GPU, MHz. */
  HSAuint32 MaxEngineClockMhzFCompute;
  /** Highest clock of the CPU, MHz. */
  HSAuint32 MaxEngineClockMhzCCompute;
  /** N of /dev/dri/renderD<N>; negative when there is none. On DXG the node id. */
  HSAint32 DrmRenderMinor;
  /** Product name, UTF-16, at most 63 characters and a zero. */
  HSAuint16 MarketingName[HSA_PUBLIC_NAME_SIZE];
  /** Internal name, ASCII, at most 63 characters and a zero. */
  HSAuint8 AMDName[HSA_PUBLIC_NAME_SIZE];
  /** Firmware versions of the other engines. */
  HSA_ENGINE_VERSION uCodeEngineVersions;
  /** What the debugger may do. */
  HSA_DEBUG_PROPERTIES DebugProperties;
  /** Same number on all GPUs of one XGMI hive; 0 outside of a hive. */
  HSAuint64 HiveID;
  /** SDMA engines for PCIe traffic. */
  HSAuint32 NumSdmaEngines;
  /** SDMA engines for XGMI traffic. */
  HSAuint32 NumSdmaXgmiEngines;
  /** User queues of one SDMA engine. */
  HSAuint8 NumSdmaQueuesPerEngine;
  /** Hardware slots for compute queues. */
  HSAuint8 NumCpQueues;
  /** Global wave synchronisation slots. */
  HSAuint8 NumGws;
  /** 1 on an APU, 0 on a discrete GPU. Always 0 before 6.2. */
  HSAuint8 Integrated;
  /** PCI domain. */
  HSAuint32 Domain;
  /** Serial number of the chip; 0 where it has none. */
  HSAuint64 UniqueID;
  /** Vector registers of one compute unit, bytes. */
  HSAuint32 VGPRSizePerCU;
  /** Scalar registers of one compute unit, bytes. */
  HSAuint32 SGPRSizePerCU;
  /** Number of accelerator dies; at least 1 on a GPU. Reads as 0 before 6.2. */
  HSAuint32 NumXcc;
  /** Id by which the kernel knows the GPU; not 0 and unique on GPUs, 0 on CPUs. Reads as 0 before 6.2. */
  HSAuint32 KFDGpuID;
  /** Chip family as numbered by the graphics driver. Reads as 0 before 6.2. */
  HSAuint32 FamilyID;
  /** Context save area of one accelerator die, bytes. Absent before 7.2. */
  HSAuint32 CwsrSize;
  /** Control stack of one accelerator die, bytes. Absent before 7.2. */
  HSAuint32 CtlStackSize;
  /** Low half of the adapter LUID; 0 outside of DXG. */
  HSAuint32 LuidLowPart;
  /** High half of the adapter LUID; 0 outside of DXG. */
  HSAuint32 LuidHighPart;
  /** Frequency of the GPU clock counter, kHz; 0 when unknown. */
  HSAuint64 WallClockKHz;
  /** 1 when memory can be shared by fabric handles. */
  HSAuint32 FabricHandleSupported;
} HsaNodeProperties;

/** How the CPU caches an allocation; the values of HsaMemFlags::CachePolicy. */
typedef enum _HSA_CACHING_TYPE {
  /** Cached. */
  HSA_CACHING_CACHED = 0,
  /** Not cached. */
  HSA_CACHING_NONCACHED = 1,
  /** Not cached, writes combined. */
  HSA_CACHING_WRITECOMBINED = 2,
  /** Not assigned. */
  HSA_CACHING_RESERVED = 3,
  /** Number of policies. */
  HSA_CACHING_NUM_CACHING = 4,
  /** Keeps the enumeration at 32 bits. */
  HSA_CACHING_SIZE = 0xffffffff,
} HSA_CACHING_TYPE;

/** Page size of an allocation; the values of HsaMemFlags::PageSize. */
typedef enum _HSA_PAGE_SIZE {
  /** 4 KiB. */
  HSA_PAGE_SIZE_4KB = 0,
  /** 64 KiB. */
  HSA_PAGE_SIZE_64KB = 1,
  /** 2 MiB. */
  HSA_PAGE_SIZE_2MB = 2,
  /** 1 GiB. */
  HSA_PAGE_SIZE_1GB = 3,
} HSA_PAGE_SIZE;

/** What kind of memory is wanted. Passed by value. */
typedef struct _HsaMemFlags {
  union {
    struct {
      /** The pages never move: device memory on a GPU node. */
      unsigned int NonPaged : 1;
      /** One of HSA_CACHING_TYPE. */
      unsigned int CachePolicy : 2;
      /** The GPU may not write. */
      unsigned int ReadOnly : 1;
      /** One of HSA_PAGE_SIZE; size and address are multiples of it. */
      unsigned int PageSize : 2;
      /** The CPU may access the memory. */
      unsigned int HostAccess : 1;
      /** Fail instead of taking memory of another node. */
      unsigned int NoSubstitute : 1;
      /** Global data share. */
      unsigned int GDSMemory : 1;
      /** Backing of the scratch aperture of the node. */
      unsigned int Scratch : 1;
      /** Atomic operations of all kinds are needed. */
      unsigned int AtomicAccessFull : 1;
      /** Some atomic operations are needed. */
      unsigned int AtomicAccessPartial : 1;
      /** The GPU may execute code in it. */
      unsigned int ExecuteAccess : 1;
      /** Coherent at the boundaries of kernels only; not set: fine-grained. */
      unsigned int CoarseGrain : 1;
      /** Ring of an AQL queue: mapped twice in a row where the hardware needs it. */
      unsigned int AQLQueueMemory : 1;
      /** The memory must be at the address that the caller passes in. */
      unsigned int FixedAddress : 1;
      /** Do not bind host pages to a NUMA node. */
      unsigned int NoNUMABind : 1;
      /** The GPU does not cache it. */
      unsigned int Uncached : 1;
      /** Memory without an address; excludes OnlyAddress. */
      unsigned int NoAddress : 1;
      /** An address range without memory; excludes NoAddress. */
      unsigned int OnlyAddress : 1;
      /** Coherent between GPUs within a kernel; excludes CoarseGrain and Uncached. */
      unsigned int ExtendedCoherent : 1;
      /** Host memory through the page tables of the graphics driver, even for a GPU node. */
      unsigned int GTTAccess : 1;
      /** Physically contiguous. */
      unsigned int Contiguous : 1;
      /** Code that copies memory for the runtime. */
      unsigned int ExecuteBlit : 1;
      /** Memory of the runtime's queue objects. */
      unsigned int QueueObject : 1;
      /** Not assigned, 0. */
      unsigned int Reserved : 7;
    } ui32;
    HSAuint32 Value;
  };
} HsaMemFlags;

/** How foreign memory is taken in. Passed by value. */
typedef union {
  HSAuint32 Value;
  struct {
    /** The memory needs an address, even when no nodes are named. */
    unsigned int requiresVAddr : 1;
    /** The handle is a global handle of the Windows kernel instead of a file descriptor. */
    unsigned int kmtHandle : 1;
  } ui32;
} HSA_REGISTER_MEM_FLAGS;

/** A graphics resource that was taken in. 40 bytes; callers from before the last field have 32. */
typedef struct _HsaGraphicsResourceInfo {
  /** Out: its address; NULL without one. */
  void *MemoryAddress;
  /** Out: its size, bytes. */
  HSAuint64 SizeInBytes;
  /**
   * Out: its metadata, owned by the library until the memory is deregistered; NULL without any. On DXG a
   * HsaWddmSurfaceMetadata.
   */
  const void *Metadata;
  /** Out: size of the metadata, bytes. */
  HSAuint32 MetadataSizeInBytes;
  /** Out: node that owns it. Not filled before 6.2. */
  HSAuint32 NodeId;
  /** In: size to assume when the handle does not tell one, bytes; 0 without a guess. */
  HSAuint64 SizeHintInBytes;
} HsaGraphicsResourceInfo;

/** Metadata of a surface that comes from Windows. */
typedef struct _HsaWddmSurfaceMetadata {
  /** Version of this structure, 1. */
  HSAuint32 version;
  /** Swizzle mode, as numbered by the hardware. */
  HSAuint32 swizzle_mode;
  /** Swizzle of the tiles (bank and pipe exclusive-or). */
  HSAuint32 tile_swizzle;
  /** Compression mode; 0 for none. */
  HSAuint32 compression_mode;
  /** Largest compressed block, as encoded by the hardware. */
  HSAuint32 max_comp_blk;
  /** Largest uncompressed block, as encoded by the hardware. */
  HSAuint32 max_uncomp_blk;
} HsaWddmSurfaceMetadata;

/** What a pointer points to. */
typedef enum _HSA_POINTER_TYPE {
  /** Nothing that the library knows. */
  HSA_POINTER_UNKNOWN = 0,
  /** Memory that was allocated here. */
  HSA_POINTER_ALLOCATED = 1,
  /** Memory of the process that was registered. */
  HSA_POINTER_REGISTERED_USER = 2,
  /** A graphics resource that was taken in. */
  HSA_POINTER_REGISTERED_GRAPHICS = 3,
  /** Memory that another process shares. */
  HSA_POINTER_REGISTERED_SHARED = 4,
  /** An address range without memory. */
  HSA_POINTER_RESERVED_ADDR = 5,
} HSA_POINTER_TYPE;

/** What is known of a pointer. The arrays belong to the library and live until the memory is freed or mapped anew. */
typedef struct _HsaPointerInfo {
  /** What it points to. */
  HSA_POINTER_TYPE Type;
  /** Node that owns the memory. */
  HSAuint32 Node;
  /** Flags with which it was allocated. */
  HsaMemFlags MemFlags;
  /** First address for the CPU; NULL when it has no access. */
  void *CPUAddress;
  /** First address for the GPUs. */
  HSAuint64 GPUAddress;
  /** Size, bytes. */
  HSAuint64 SizeInBytes;
  /** Length of RegisteredNodes. */
  HSAuint32 NRegisteredNodes;
  /** Length of MappedNodes. */
  HSAuint32 NMappedNodes;
  /** Nodes for which the memory is registered. */
  const HSAuint32 *RegisteredNodes;
  /** Nodes in which the memory is mapped. */
  const HSAuint32 *MappedNodes;
  /** What hsaKmtSetMemoryUserData stored. */
  void *UserData;
} HsaPointerInfo;

/** A range of memory in some process. */
typedef struct _HsaMemoryRange {
  /** First address. */
  void *MemoryAddress;
  /** Size, bytes. */
  HSAuint64 SizeInBytes;
} HsaMemoryRange;

/** Which way data moves between device memory and a file. */
typedef enum _HsaAisFlags {
  /** From the file into memory. */
  HSA_AIS_READ = 1,
  /** From memory into the file. */
  HSA_AIS_WRITE = 2,
} HsaAisFlags;

/** How a GPU may access memory that is mapped at an address. */
typedef enum _HsaMemoryMapFlags {
  /** Not at all. */
  HSA_MEMORY_ACCESS_NONE = 0,
  /** Read. */
  HSA_MEMORY_ACCESS_RO = 1,
  /** Write. */
  HSA_MEMORY_ACCESS_WO = 2,
  /** Read and write. */
  HSA_MEMORY_ACCESS_RW = 3,
} HsaMemoryMapFlags;

/**
 * Priority of a queue among those of its process. 64 bits wide, also where it is passed by value: its constants do
 * not fit into 32.
 */
typedef enum _HSA_QUEUE_PRIORITY {
  /** Lowest. */
  HSA_QUEUE_PRIORITY_MINIMUM = -3,
  /** Low. */
  HSA_QUEUE_PRIORITY_LOW = -2,
  /** A little below normal. */
  HSA_QUEUE_PRIORITY_BELOW_NORMAL = -1,
  /** Normal. */
  HSA_QUEUE_PRIORITY_NORMAL = 0,
  /** A little above normal. */
  HSA_QUEUE_PRIORITY_ABOVE_NORMAL = 1,
  /** High. */
  HSA_QUEUE_PRIORITY_HIGH = 2,
  /** Highest. */
  HSA_QUEUE_PRIORITY_MAXIMUM = 3,
  /** One more than the highest. */
  HSA_QUEUE_PRIORITY_NUM_PRIORITY = 4,
  /** Not a priority. */
  HSA_QUEUE_PRIORITY_SIZE = 0xffffffff,
} HSA_QUEUE_PRIORITY;

/** Kind of a queue: engine and packet format. */
typedef enum _HSA_QUEUE_TYPE {
  /** Compute, PM4 packets. */
  HSA_QUEUE_COMPUTE = 1,
  /** SDMA. */
  HSA_QUEUE_SDMA = 2,
  /** Video decoder. */
  HSA_QUEUE_MULTIMEDIA_DECODE = 3,
  /** Video encoder. */
  HSA_QUEUE_MULTIMEDIA_ENCODE = 4,
  /** SDMA engine for XGMI. */
  HSA_QUEUE_SDMA_XGMI = 5,
  /** SDMA engine that the caller names. */
  HSA_QUEUE_SDMA_BY_ENG_ID = 6,
  /** Compute, for the system. */
  HSA_QUEUE_COMPUTE_OS = 11,
  /** SDMA, for the system. */
  HSA_QUEUE_SDMA_OS = 12,
  /** Video decoder, for the system. */
  HSA_QUEUE_MULTIMEDIA_DECODE_OS = 13,
  /** Video encoder, for the system. */
  HSA_QUEUE_MULTIMEDIA_ENCODE_OS = 14,
  /** Compute, AQL packets. */
  HSA_QUEUE_COMPUTE_AQL = 21,
  /** DMA, AQL packets. */
  HSA_QUEUE_DMA_AQL = 22,
  /** DMA over XGMI, AQL packets. */
  HSA_QUEUE_DMA_AQL_XGMI = 23,
  /** Keeps the enumeration at 32 bits. */
  HSA_QUEUE_TYPE_SIZE = 0xffffffff,
} HSA_QUEUE_TYPE;

/** Start of the context save area of a queue, one for each accelerator die. */
typedef struct {
  /** Control stack: offset from this header, bytes. Written by the kernel. */
  HSAuint32 ControlStackOffset;
  /** Control stack: size, bytes. Written by the kernel. */
  HSAuint32 ControlStackSize;
  /** Wave state: offset from this header, bytes. Written by the kernel. */
  HSAuint32 WaveStateOffset;
  /** Wave state: size, bytes. Written by the kernel. */
  HSAuint32 WaveStateSize;
  /** Memory of the debugger: offset from this header, bytes. */
  HSAuint32 DebugOffset;
  /** Memory of the debugger: size, bytes. */
  HSAuint32 DebugSize;
  /** Where the reason of an error is stored; NULL for nowhere. */
  volatile HSAint64 *ErrorReason;
  /** Event that is signalled after an error; 0 for none. */
  HSAuint32 ErrorEventId;
  /** Not assigned, 0. */
  HSAuint32 Reserved1;
} HsaUserContextSaveAreaHeader;

/** State of a queue. 76 bytes; callers from before the last field have 68. The memory pointed to is that of the queue. */
typedef struct {
  /** Error of the queue; 0 for none. */
  HSAuint32 QueueDetailError;
  /** Kind of the queue, as the kernel numbers it. */
  HSAuint32 QueueTypeExtended;
  /** Number of compute units that the queue may use. */
  HSAuint32 NumCUAssigned;
  /** One bit for each compute unit that the queue may use. */
  HSAuint32 *CUMaskInfo;
  /** Saved wave state. */
  HSAuint32 *UserContextSaveArea;
  /** Size of the saved wave state, bytes. */
  HSAuint64 SaveAreaSizeInBytes;
  /** Top of the control stack. */
  HSAuint32 *ControlStackTop;
  /** Used part of the control stack, bytes. */
  HSAuint64 ControlStackUsedInBytes;
  /** Start of the save area. */
  HsaUserContextSaveAreaHeader *SaveAreaHeader;
  /** Not assigned, 0. */
  HSAuint64 Reserved2;
  /** Size of the whole save area, bytes. */
  HSAuint64 SaveAreaAllocSize;
} HsaQueueInfo;

/** How a queue is used, filled by its creation. 52 bytes; callers from before the last two fields have 40. */
typedef struct _HsaQueueResource {
  /** Out: name of the queue. */
  HSA_QUEUEID QueueId;
  /** Out: address of the doorbell, 4 or 8 bytes wide. */
  union {
    HSAuint32 *Queue_DoorBell;
    HSAuint64 *Queue_DoorBell_aql;
    HSAuint64 QueueDoorBell;
  };
  /** Address of the write index: in for AQL queues, out for others. */
  union {
    HSAuint32 *Queue_write_ptr;
    HSAuint64 *Queue_write_ptr_aql;
    HSAuint64 QueueWptrValue;
  };
  /** Address of the read index: in for AQL queues, out for others. */
  union {
    HSAuint32 *Queue_read_ptr;
    HSAuint64 *Queue_read_ptr_aql;
    HSAuint64 QueueRptrValue;
  };
  /** In: where the reason of an error is stored; NULL for nowhere. */
  volatile HSAint64 *ErrorReason;
  /** Out: address of the fence by which an SDMA queue on DXG tells its progress; 0 for none. */
  HSAuint64 SdmaProgressFenceVA;
  /** Out: bytes to leave free after each submission of an SDMA queue on DXG. */
  HSAuint32 SdmaHwQueueEpilogueBytes;
} HsaQueueResource;

/** Where a queue lies. */
typedef struct _HsaQueueReport {
  /** Address space of the process on the GPU. */
  HSAuint32 VMID;
  /** First address of the ring. */
  void *QueueAddress;
  /** Size of the ring, bytes. */
  HSAuint64 QueueSize;
} HsaQueueReport;

/** Names an event from its creation to its destruction. */
typedef HSAuint32 HSA_EVENTID;

/** Kind of a device. */
typedef enum _HSA_DEVICE {
  /** CPU. */
  HSA_DEVICE_CPU = 0,
  /** GPU. */
  HSA_DEVICE_GPU = 1,
  /** Number of kinds. */
  MAX_HSA_DEVICE = 2,
} HSA_DEVICE;

/** Kind of an event. */
typedef enum _HSA_EVENTTYPE {
  /** Signalled by a GPU or by the process. */
  HSA_EVENTTYPE_SIGNAL = 0,
  /** A node came or went. */
  HSA_EVENTTYPE_NODECHANGE = 1,
  /** A device was started or stopped. */
  HSA_EVENTTYPE_DEVICESTATECHANGE = 2,
  /** A GPU hung or was reset. */
  HSA_EVENTTYPE_HW_EXCEPTION = 3,
  /** Something about the system. */
  HSA_EVENTTYPE_SYSTEM_EVENT = 4,
  /** For the debugger. */
  HSA_EVENTTYPE_DEBUG_EVENT = 5,
  /** For the profiler. */
  HSA_EVENTTYPE_PROFILE_EVENT = 6,
  /** A queue is in error or ran dry. */
  HSA_EVENTTYPE_QUEUE_EVENT = 7,
  /** A GPU accessed memory that it may not. */
  HSA_EVENTTYPE_MEMORY = 8,
  /** Number of kinds. */
  HSA_EVENTTYPE_MAXID = 9,
  /** Keeps the enumeration at 32 bits. */
  HSA_EVENTTYPE_TYPE_SIZE = 0xffffffff,
} HSA_EVENTTYPE;

/** What a debug event is about. */
typedef enum _HSA_DEBUG_EVENT_TYPE {
  /** Nothing. */
  HSA_DEBUG_EVENT_TYPE_NONE = 0,
  /** A trap. */
  HSA_DEBUG_EVENT_TYPE_TRAP = 1,
  /** A memory fault. */
  HSA_DEBUG_EVENT_TYPE_VMFAULT = 2,
  /** A trap and a memory fault. */
  HSA_DEBUG_EVENT_TYPE_TRAP_VMFAULT = 3,
} HSA_DEBUG_EVENT_TYPE;

/** What happened to a node. */
typedef enum _HSA_EVENTTYPE_NODECHANGE_FLAGS {
  /** It came. */
  HSA_EVENTTYPE_NODECHANGE_ADD = 0,
  /** It went. */
  HSA_EVENTTYPE_NODECHANGE_REMOVE = 1,
  /** Keeps the enumeration at 32 bits. */
  HSA_EVENTTYPE_NODECHANGE_SIZE = 0xffffffff,
} HSA_EVENTTYPE_NODECHANGE_FLAGS;

/** What happened to a device. */
typedef enum _HSA_EVENTTYPE_DEVICESTATECHANGE_FLAGS {
  /** It was started. */
  HSA_EVENTTYPE_DEVICESTATUSCHANGE_START = 0,
  /** It was stopped. */
  HSA_EVENTTYPE_DEVICESTATUSCHANGE_STOP = 1,
  /** Keeps the enumeration at 32 bits. */
  HSA_EVENTTYPE_DEVICESTATUSCHANGE_SIZE = 0xffffffff,
} HSA_EVENTTYPE_DEVICESTATECHANGE_FLAGS;

/** How bad a memory fault is. */
typedef enum _HSA_EVENTID_MEMORYFLAGS {
  /** The access can be repeated. */
  HSA_EVENTID_MEMORY_RECOVERABLE = 0,
  /** The process cannot go on. */
  HSA_EVENTID_MEMORY_FATAL_PROCESS = 1,
  /** The address space on the GPU cannot go on. */
  HSA_EVENTID_MEMORY_FATAL_VM = 2,
} HSA_EVENTID_MEMORYFLAGS;

/** Why a GPU was reset. */
typedef enum _HSA_EVENTID_HW_EXCEPTION_CAUSE {
  /** It hung. */
  HSA_EVENTID_HW_EXCEPTION_GPU_HANG = 0,
  /** It found a memory error that it could not correct. */
  HSA_EVENTID_HW_EXCEPTION_ECC = 1,
} HSA_EVENTID_HW_EXCEPTION_CAUSE;

/** Time limits of a wait that are not milliseconds. */
typedef enum _HsaEventTimeout {
  /** Do not wait. */
  HSA_EVENTTIMEOUT_IMMEDIATE = 0,
  /** Wait for ever. */
  HSA_EVENTTIMEOUT_INFINITE = 0xffffffff,
} HsaEventTimeOut;

/** A variable of the caller that goes with an event. */
typedef struct _HsaSyncVar {
  /** A pointer or a number of the caller, stored and handed back. */
  union {
    void *UserData;
    HSAuint64 UserDataPtrValue;
  } SyncVar;
  /** Size of what the pointer points to, bytes. */
  HSAuint64 SyncVarSize;
} HsaSyncVar;

/** Data of a HSA_EVENTTYPE_NODECHANGE event. */
typedef struct _HsaNodeChange {
  /** What happened. */
  HSA_EVENTTYPE_NODECHANGE_FLAGS Flags;
} HsaNodeChange;

/** Data of a HSA_EVENTTYPE_DEVICESTATECHANGE event. */
typedef struct _HsaDeviceStateChange {
  /** Node of the device. */
  HSAuint32 NodeId;
  /** Kind of the device. */
  HSA_DEVICE Device;
  /** What happened. */
  HSA_EVENTTYPE_DEVICESTATECHANGE_FLAGS Flags;
} HsaDeviceStateChange;

/** What was wrong with a memory access. */
typedef struct _HsaAccessAttributeFailure {
  /** The page does not exist. */
  unsigned int NotPresent : 1;
  /** A write to a page that may only be read. */
  unsigned int ReadOnly : 1;
  /** An instruction was fetched from a page that may not be executed. */
  unsigned int NoExecute : 1;
  /** The GPU may not access the page. */
  unsigned int GpuAccess : 1;
  /** The memory has an error that could not be corrected. */
  unsigned int ECC : 1;
  /** The address is not exact. */
  unsigned int Imprecise : 1;
  /** Kind of the memory error: 0 none, 1 poison consumed, others are not assigned. */
  unsigned int ErrorType : 3;
  /** Not assigned, 0. */
  unsigned int Reserved : 23;
} HsaAccessAttributeFailure;

/** Data of a HSA_EVENTTYPE_MEMORY event. */
typedef struct _HsaMemoryAccessFault {
  /** Node whose GPU made the access. */
  HSAuint32 NodeId;
  /** The address. */
  HSAuint64 VirtualAddress;
  /** What was wrong. */
  HsaAccessAttributeFailure Failure;
  /** How bad it is. */
  HSA_EVENTID_MEMORYFLAGS Flags;
} HsaMemoryAccessFault;

/** Data of a HSA_EVENTTYPE_HW_EXCEPTION event. */
typedef struct _HsaHwException {
  /** Node whose GPU it is. */
  HSAuint32 NodeId;
  /** Kind of the reset, as the kernel numbers it. */
  HSAuint32 ResetType;
  /** 1 when the contents of device memory are lost. */
  HSAuint32 MemoryLost;
  /** Why it was reset. */
  HSA_EVENTID_HW_EXCEPTION_CAUSE ResetCause;
} HsaHwException;

/** What an event carries. */
typedef struct _HsaEventData {
  /** Kind of the event; says which member of the union is meant. */
  HSA_EVENTTYPE EventType;
  /** The member that belongs to the kind. */
  union {
    HsaSyncVar SyncVar;
    HsaNodeChange NodeChangeState;
    HsaDeviceStateChange DeviceState;
    HsaMemoryAccessFault MemoryAccessFault;
    HsaHwException HwException;
  } EventData;
  /** For the owner of the event: on KFD its id. */
  HSAuint64 HWData1;
  /** Address that a GPU writes to signal the event; 0 for none. */
  HSAuint64 HWData2;
  /** What a GPU writes there; on DXG the node id of the descriptor. */
  HSAuint32 HWData3;
} HsaEventData;

/** What an event is made from. */
typedef struct _HsaEventDescriptor {
  /** Kind of the event. */
  HSA_EVENTTYPE EventType;
  /** Node that it is about. */
  HSAuint32 NodeId;
  /** Variable of the caller. */
  HsaSyncVar SyncVar;
} HsaEventDescriptor;

/** An event. The library allocates it; the caller reads it. */
typedef struct _HsaEvent {
  /** Its name. */
  HSA_EVENTID EventId;
  /** What it carries. */
  HsaEventData EventData;
} HsaEvent;

/** What is done with waves. */
typedef enum _HSA_DBG_WAVEOP {
  /** Stop. */
  HSA_DBG_WAVEOP_HALT = 1,
  /** Go on. */
  HSA_DBG_WAVEOP_RESUME = 2,
  /** End. */
  HSA_DBG_WAVEOP_KILL = 3,
  /** Enter debug mode. */
  HSA_DBG_WAVEOP_DEBUG = 4,
  /** Enter the trap handler. */
  HSA_DBG_WAVEOP_TRAP = 5,
  /** Number of operations. */
  HSA_DBG_NUM_WAVEOP = 5,
  /** Keeps the enumeration at 32 bits. */
  HSA_DBG_MAX_WAVEOP = 0xffffffff,
} HSA_DBG_WAVEOP;

/** To which waves it is done. */
typedef enum _HSA_DBG_WAVEMODE {
  /** One wave. */
  HSA_DBG_WAVEMODE_SINGLE = 0,
  /** All waves of the process. */
  HSA_DBG_WAVEMODE_BROADCAST_PROCESS = 2,
  /** All waves of the process on one compute unit. */
  HSA_DBG_WAVEMODE_BROADCAST_PROCESS_CU = 3,
  /** Number of modes. */
  HSA_DBG_NUM_WAVEMODE = 3,
  /** Keeps the enumeration at 32 bits. */
  HSA_DBG_MAX_WAVEMODE = 0xffffffff,
} HSA_DBG_WAVEMODE;

/** Kind of a message from a wave. */
typedef enum _HSA_DBG_WAVEMSG_TYPE {
  /** Sent by the hardware. */
  HSA_DBG_WAVEMSG_AUTO = 0,
  /** Sent by the program. */
  HSA_DBG_WAVEMSG_USER = 1,
  /** An error. */
  HSA_DBG_WAVEMSG_ERROR = 2,
  /** Number of kinds. */
  HSA_DBG_NUM_WAVEMSG = 3,
  /** Keeps the enumeration at 32 bits. */
  HSA_DBG_MAX_WAVEMSG = 0xffffffff,
} HSA_DBG_WAVEMSG_TYPE;

/** Message from a wave, as the hardware of the second generation writes it. */
typedef struct _HsaDbgWaveMsgAMDGen2 {
  /** The message. */
  HSAuint32 Value;
  /** Not assigned, 0. */
  HSAuint32 Reserved2;
} HsaDbgWaveMsgAMDGen2;

/** Message from a wave, by generation of the hardware. */
typedef union _HsaDbgWaveMessageAMD {
  /** Second generation. */
  HsaDbgWaveMsgAMDGen2 WaveMsgInfoGen2;
} HsaDbgWaveMessageAMD;

/** Message from a wave, and where it was written. */
typedef struct _HsaDbgWaveMessage {
  /** Address of the message. */
  void *MemoryVA;
  /** The message. */
  HsaDbgWaveMessageAMD DbgWaveMsg;
} HsaDbgWaveMessage;

/** Which accesses a watch point reports. */
typedef enum _HSA_DBG_WATCH_MODE {
  /** Reads. */
  HSA_DBG_WATCH_READ = 0,
  /** Writes and atomic operations. */
  HSA_DBG_WATCH_NONREAD = 1,
  /** Atomic operations. */
  HSA_DBG_WATCH_ATOMIC = 2,
  /** All. */
  HSA_DBG_WATCH_ALL = 3,
  /** Number of modes. */
  HSA_DBG_WATCH_NUM = 4,
} HSA_DBG_WATCH_MODE;

/** How a trap mask combines with that of the program. */
typedef enum _HSA_DBG_TRAP_OVERRIDE {
  /** Added to it. */
  HSA_DBG_TRAP_OVERRIDE_OR = 0,
  /** Instead of it. */
  HSA_DBG_TRAP_OVERRIDE_REPLACE = 1,
  /** Number of ways. */
  HSA_DBG_TRAP_OVERRIDE_NUM = 2,
} HSA_DBG_TRAP_OVERRIDE;

/** Traps that can be enabled, as a mask. */
typedef enum _HSA_DBG_TRAP_MASK {
  /** Floating point: invalid operation. */
  HSA_DBG_TRAP_MASK_FP_INVALID = 1,
  /** Floating point: denormal input. */
  HSA_DBG_TRAP_MASK_FP_INPUT_DENOMAL = 2,
  /** Floating point: division by zero. */
  HSA_DBG_TRAP_MASK_FP_DIVIDE_BY_ZERO = 4,
  /** Floating point: overflow. */
  HSA_DBG_TRAP_MASK_FP_OVERFLOW = 8,
  /** Floating point: underflow. */
  HSA_DBG_TRAP_MASK_FP_UNDERFLOW = 16,
  /** Floating point: inexact result. */
  HSA_DBG_TRAP_MASK_FP_INEXACT = 32,
  /** Integer: division by zero. */
  HSA_DBG_TRAP_MASK_INT_DIVIDE_BY_ZERO = 64,
  /** A watch point was hit. */
  HSA_DBG_TRAP_MASK_DBG_ADDRESS_WATCH = 128,
  /** A memory fault. */
  HSA_DBG_TRAP_MASK_DBG_MEMORY_VIOLATION = 256,
} HSA_DBG_TRAP_MASK;

/** Exceptions that queues, devices and processes report; the bit of exception n in a mask is n - 1. */
typedef enum _HSA_DBG_TRAP_EXCEPTION_CODE {
  /** None. */
  HSA_DBG_EC_NONE = 0,
  /** Queue: a wave aborted. */
  HSA_DBG_EC_QUEUE_WAVE_ABORT = 1,
  /** Queue: a wave trapped. */
  HSA_DBG_EC_QUEUE_WAVE_TRAP = 2,
  /** Queue: arithmetic error in a wave. */
  HSA_DBG_EC_QUEUE_WAVE_MATH_ERROR = 3,
  /** Queue: illegal instruction in a wave. */
  HSA_DBG_EC_QUEUE_WAVE_ILLEGAL_INSTRUCTION = 4,
  /** Queue: memory fault of a wave. */
  HSA_DBG_EC_QUEUE_WAVE_MEMORY_VIOLATION = 5,
  /** Queue: a wave left its aperture. */
  HSA_DBG_EC_QUEUE_WAVE_APERTURE_VIOLATION = 6,
  /** Queue: number of dimensions of a dispatch is invalid. */
  HSA_DBG_EC_QUEUE_PACKET_DISPATCH_DIM_INVALID = 16,
  /** Queue: group memory of a dispatch is too large. */
  HSA_DBG_EC_QUEUE_PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID = 17,
  /** Queue: code of a dispatch is invalid. */
  HSA_DBG_EC_QUEUE_PACKET_DISPATCH_CODE_INVALID = 18,
  /** Queue: packet of a kind that is not assigned. */
  HSA_DBG_EC_QUEUE_PACKET_RESERVED = 19,
  /** Queue: packet of a kind that is not supported. */
  HSA_DBG_EC_QUEUE_PACKET_UNSUPPORTED = 20,
  /** Queue: work-group size of a dispatch is invalid. */
  HSA_DBG_EC_QUEUE_PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID = 21,
  /** Queue: dispatch needs too many registers. */
  HSA_DBG_EC_QUEUE_PACKET_DISPATCH_REGISTER_INVALID = 22,
  /** Queue: vendor packet that is not supported. */
  HSA_DBG_EC_QUEUE_PACKET_VENDOR_UNSUPPORTED = 23,
  /** Queue: waves could not be saved. */
  HSA_DBG_EC_QUEUE_PREEMPTION_ERROR = 30,
  /** Queue: it is new. */
  HSA_DBG_EC_QUEUE_NEW = 31,
  /** Device: a queue was deleted. */
  HSA_DBG_EC_DEVICE_QUEUE_DELETE = 32,
  /** Device: memory fault. */
  HSA_DBG_EC_DEVICE_MEMORY_VIOLATION = 33,
  /** Device: memory error that could not be corrected. */
  HSA_DBG_EC_DEVICE_RAS_ERROR = 34,
  /** Device: it stopped for good. */
  HSA_DBG_EC_DEVICE_FATAL_HALT = 35,
  /** Device: it is new. */
  HSA_DBG_EC_DEVICE_NEW = 36,
  /** Process: the runtime was enabled or disabled. */
  HSA_DBG_EC_PROCESS_RUNTIME = 48,
  /** Process: a device was removed. */
  HSA_DBG_EC_PROCESS_DEVICE_REMOVE = 49,
  /** One more than the last. */
  HSA_DBG_EC_MAX = 50,
} HSA_DBG_TRAP_EXCEPTION_CODE;

/** How new waves start. */
typedef enum _HSA_DBG_WAVE_LAUNCH_MODE {
  /** Running. */
  HSA_DBG_WAVE_LAUNCH_MODE_NORMAL = 0,
  /** Halted. */
  HSA_DBG_WAVE_LAUNCH_MODE_HALT = 1,
  /** They end at once. */
  HSA_DBG_WAVE_LAUNCH_MODE_KILL = 2,
  /** Single step. */
  HSA_DBG_WAVE_LAUNCH_MODE_SINGLE_STEP = 3,
  /** Not at all. */
  HSA_DBG_WAVE_LAUNCH_MODE_DISABLE = 4,
  /** Number of modes. */
  HSA_DBG_WAVE_LAUNCH_MODE_NUM = 5,
} HSA_DBG_WAVE_LAUNCH_MODE;

/** What the debugger changes on a node, as a mask. */
typedef enum HSA_DBG_NODE_CONTROL {
  /** One more than the largest mask: no flag is assigned. */
  HSA_DBG_NODE_CONTROL_FLAG_MAX = 1,
} HSA_DBG_NODE_CONTROL;

/** A universally unique identifier. */
typedef struct _HSA_UUID {
  /** First 32 bits. */
  HSAuint32 Data1;
  /** Next 16 bits. */
  HSAuint16 Data2;
  /** Next 16 bits. */
  HSAuint16 Data3;
  /** The rest, byte by byte. */
  HSAuint8 Data4[8];
} HSA_UUID;

/** Names a trace from its registration to its end. */
typedef HSAuint64 HSATraceId;

/** Clocks of a node and of the host, read at about the same time. */
typedef struct _HsaClockCounters {
  /** Counter of the GPU; its frequency is HsaNodeProperties::WallClockKHz. */
  HSAuint64 GPUClockCounter;
  /** Counter of the CPU: nanoseconds on KFD, performance counter of the host on DXG. */
  HSAuint64 CPUClockCounter;
  /** Counter of the system. */
  HSAuint64 SystemClockCounter;
  /** Frequency of the counter of the system, Hz. */
  HSAuint64 SystemClockFrequencyHz;
} HsaClockCounters;

/** How a counter is read. */
typedef enum _HSA_PROFILE_TYPE {
  /** At once, with privileges. */
  HSA_PROFILE_TYPE_PRIVILEGED_IMMEDIATE = 0,
  /** As a stream, with privileges. */
  HSA_PROFILE_TYPE_PRIVILEGED_STREAMING = 1,
  /** At once. */
  HSA_PROFILE_TYPE_NONPRIV_IMMEDIATE = 2,
  /** As a stream. */
  HSA_PROFILE_TYPE_NONPRIV_STREAMING = 3,
  /** Number of ways. */
  HSA_PROFILE_TYPE_NUM = 4,
  /** Keeps the enumeration at 32 bits. */
  HSA_PROFILE_TYPE_SIZE = 0xffffffff,
} HSA_PROFILE_TYPE;

/** Properties of a counter. */
typedef struct _HsaCounterFlags {
  union {
    struct {
      /** Counts for all processes, not only for this one. */
      unsigned int Global : 1;
      /** Can be reset. */
      unsigned int Resettable : 1;
      /** Cannot be written. */
      unsigned int ReadOnly : 1;
      /** Can be read as a stream. */
      unsigned int Stream : 1;
      /** Not assigned, 0. */
      unsigned int Reserved : 28;
    } ui32;
    HSAuint32 Value;
  };
} HsaCounterFlags;

/** One counter of a block. */
typedef struct _HsaCounter {
  /** How it is read. */
  HSA_PROFILE_TYPE Type;
  /** What it counts, as numbered in its block. */
  HSAuint64 CounterId;
  /** Its width, bits. */
  HSAuint32 CounterSizeInBits;
  /** The bits of a value that count. */
  HSAuint64 CounterMask;
  /** Its properties. */
  HsaCounterFlags Flags;
  /** Its block, as numbered by HsaCounterProperties. */
  HSAuint32 BlockIndex;
} HsaCounter;

/** A block of counters. Longer than its size says: Counters has NumCounters entries, and the next block follows. */
typedef struct _HsaCounterBlockProperties {
  /** Name of the block. */
  HSA_UUID BlockId;
  /** Number of counters. */
  HSAuint32 NumCounters;
  /** How many can count at the same time. */
  HSAuint32 NumConcurrent;
  /** The counters. */
  HsaCounter Counters[1];
} HsaCounterBlockProperties;

/** All counters of a node. Longer than its size says: Blocks has NumBlocks entries of different lengths. */
typedef struct _HsaCounterProperties {
  /** Number of blocks. */
  HSAuint32 NumBlocks;
  /** How many blocks can be used at the same time. */
  HSAuint32 NumConcurrent;
  /** The first block. */
  HsaCounterBlockProperties Blocks[1];
} HsaCounterProperties;

/** What a trace needs. */
typedef struct _HsaPmcTraceRoot {
  /** Smallest buffer for its values, bytes. */
  HSAuint64 TraceBufferMinSizeBytes;
  /** How often the work must run to count everything. */
  HSAuint32 NumberOfPasses;
  /** Name of the trace. */
  HSATraceId TraceId;
} HsaPmcTraceRoot;

/** How the GPU lays out surfaces in memory. The caller owns the arrays and gives their lengths. */
typedef struct _HsaGpuTileConfig {
  /** Tile modes, as the hardware encodes them. */
  HSAuint32 *TileConfig;
  /** Macro tile modes, as the hardware encodes them. */
  HSAuint32 *MacroTileConfig;
  /** Length of TileConfig: in what fits, out what was written. */
  HSAuint32 NumTileConfigs;
  /** Length of MacroTileConfig: in what fits, out what was written. */
  HSAuint32 NumMacroTileConfigs;
  /** Address configuration register. */
  HSAuint32 GbAddrConfig;
  /** Number of memory banks. */
  HSAuint32 NumBanks;
  /** Number of memory ranks. */
  HSAuint32 NumRanks;
  /** Not assigned, 0. */
  HSAuint32 Reserved[7];
} HsaGpuTileConfig;

/** Flags of an address range, for the attributes that set and clear them. */
typedef enum _HSA_SVM_FLAGS {
  /** The host may access it. */
  HSA_SVM_FLAG_HOST_ACCESS = 0x01,
  /** Coherent between host and GPUs. */
  HSA_SVM_FLAG_COHERENT = 0x02,
  /** Pages stay within the XGMI hive. */
  HSA_SVM_FLAG_HIVE_LOCAL = 0x04,
  /** GPUs may only read. */
  HSA_SVM_FLAG_GPU_RO = 0x08,
  /** GPUs may execute. */
  HSA_SVM_FLAG_GPU_EXEC = 0x10,
  /** GPUs mostly read. */
  HSA_SVM_FLAG_GPU_READ_MOSTLY = 0x20,
  /** Always mapped in the GPUs that have access. */
  HSA_SVM_FLAG_GPU_ALWAYS_MAPPED = 0x40,
  /** Coherent between GPUs within a kernel. */
  HSA_SVM_FLAG_EXT_COHERENT = 0x80,
} HSA_SVM_FLAGS;

/** Attributes of an address range; what their value is. */
typedef enum _HSA_SVM_ATTR_TYPE {
  /** Node that pages should be on; INVALID_NODEID for none. */
  HSA_SVM_ATTR_PREFERRED_LOC = 0,
  /** Node to which pages are moved now. */
  HSA_SVM_ATTR_PREFETCH_LOC = 1,
  /** Node that may access the range. */
  HSA_SVM_ATTR_ACCESS = 2,
  /** Node that may access the range without moving pages. */
  HSA_SVM_ATTR_ACCESS_IN_PLACE = 3,
  /** Node that may not access the range. */
  HSA_SVM_ATTR_NO_ACCESS = 4,
  /** HSA_SVM_FLAGS to set. */
  HSA_SVM_ATTR_SET_FLAGS = 5,
  /** HSA_SVM_FLAGS to clear. */
  HSA_SVM_ATTR_CLR_FLAGS = 6,
  /** Base-2 logarithm of the number of pages that move together. */
  HSA_SVM_ATTR_GRANULARITY = 7,
} HSA_SVM_ATTR_TYPE;

/** One attribute of an address range. */
typedef struct _HSA_SVM_ATTRIBUTE {
  /** One of HSA_SVM_ATTR_TYPE. */
  HSAuint32 type;
  /** Its value. */
  HSAuint32 value;
} HSA_SVM_ATTRIBUTE;

/** Kinds of events; the bit of kind n in the mask of wanted kinds is n - 1. */
typedef enum _HSA_SMI_EVENT {
  /** Not an event. */
  HSA_SMI_EVENT_NONE = 0,
  /** A memory fault. */
  HSA_SMI_EVENT_VMFAULT = 1,
  /** Clocks are lowered because of heat. */
  HSA_SMI_EVENT_THERMAL_THROTTLE = 2,
  /** A reset begins. */
  HSA_SMI_EVENT_GPU_PRE_RESET = 3,
  /** A reset has ended. */
  HSA_SMI_EVENT_GPU_POST_RESET = 4,
  /** Pages begin to move. */
  HSA_SMI_EVENT_MIGRATE_START = 5,
  /** Pages have moved. */
  HSA_SMI_EVENT_MIGRATE_END = 6,
  /** A page fault begins. */
  HSA_SMI_EVENT_PAGE_FAULT_START = 7,
  /** A page fault has been served. */
  HSA_SMI_EVENT_PAGE_FAULT_END = 8,
  /** Queues are stopped. */
  HSA_SMI_EVENT_QUEUE_EVICTION = 9,
  /** Queues run again. */
  HSA_SMI_EVENT_QUEUE_RESTORE = 10,
  /** A range is unmapped from a GPU. */
  HSA_SMI_EVENT_UNMAP_FROM_GPU = 11,
  /** One more than the last kind. */
  HSA_SMI_EVENT_INDEX_MAX = 12,
  /** In the mask: events of all processes, for administrators. */
  HSA_SMI_EVENT_ALL_PROCESS = 64,
} HSA_EVENT_TYPE;

/** Why pages move. */
typedef enum _HSA_MIGRATE_TRIGGERS {
  /** They were asked for in advance. */
  HSA_MIGRATE_TRIGGER_PREFETCH = 0,
  /** A GPU touched them. */
  HSA_MIGRATE_TRIGGER_PAGEFAULT_GPU = 1,
  /** A CPU touched them. */
  HSA_MIGRATE_TRIGGER_PAGEFAULT_CPU = 2,
  /** Device memory is needed elsewhere. */
  HSA_MIGRATE_TRIGGER_TTM_EVICTION = 3,
} HSA_MIGRATE_TRIGGERS;

/** Why queues are stopped. */
typedef enum _HSA_QUEUE_EVICTION_TRIGGERS {
  /** Shared virtual memory changes. */
  HSA_QUEUE_EVICTION_TRIGGER_SVM = 0,
  /** Memory of the process changes. */
  HSA_QUEUE_EVICTION_TRIGGER_USERPTR = 1,
  /** Device memory is needed elsewhere. */
  HSA_QUEUE_EVICTION_TRIGGER_TTM = 2,
  /** The machine sleeps. */
  HSA_QUEUE_EVICTION_TRIGGER_SUSPEND = 3,
  /** A checkpoint of the process is written. */
  HSA_QUEUE_EVICTION_CRIU_CHECKPOINT = 4,
  /** A checkpoint of the process is read back. */
  HSA_QUEUE_EVICTION_CRIU_RESTORE = 5,
} HSA_QUEUE_EVICTION_TRIGGERS;

/** Why a range is unmapped from a GPU. */
typedef enum _HSA_SVM_UNMAP_TRIGGERS {
  /** The host changes its page tables. */
  HSA_SVM_UNMAP_TRIGGER_MMU_NOTIFY = 0,
  /** The host changes its page tables because pages move. */
  HSA_SVM_UNMAP_TRIGGER_MMU_NOTIFY_MIGRATE = 1,
  /** The process unmaps the range. */
  HSA_SVM_UNMAP_TRIGGER_UNMAP_FROM_CPU = 2,
} HSA_SVM_UNMAP_TRIGGERS;

/** Names a sampling from its creation to its destruction. */
typedef HSAuint32 HsaPcSamplingTraceId;

/** How samples are taken. */
typedef enum _HSA_PC_SAMPLING_METHOD_KIND {
  /** The host interrupts the waves. */
  HSA_PC_SAMPLING_METHOD_KIND_HOSTTRAP_V1 = 1,
  /** The hardware picks waves. */
  HSA_PC_SAMPLING_METHOD_KIND_STOCHASTIC_V1 = 2,
} HSA_PC_SAMPLING_METHOD_KIND;

/** Unit of the interval between samples. */
typedef enum _HSA_PC_SAMPLING_UNITS {
  /** Microseconds. */
  HSA_PC_SAMPLING_UNIT_INTERVAL_MICROSECONDS = 0,
  /** Clock cycles. */
  HSA_PC_SAMPLING_UNIT_INTERVAL_CYCLES = 1,
  /** Instructions. */
  HSA_PC_SAMPLING_UNIT_INTERVAL_INSTRUCTIONS = 2,
} HSA_PC_SAMPLING_UNIT_INTERVAL;

/** A way of sampling: one that a node offers, or the one that is wanted. */
typedef struct _HsaPcSamplingInfo {
  /** Interval between samples, in units; 0 when none is running. */
  HSAuint64 value;
  /** Shortest interval. */
  HSAuint64 value_min;
  /** Longest interval. */
  HSAuint64 value_max;
  /** Bit 0: the interval must be a power of two. */
  HSAuint64 flags;
  /** How samples are taken. */
  HSA_PC_SAMPLING_METHOD_KIND method;
  /** Unit of the intervals. */
  HSA_PC_SAMPLING_UNIT_INTERVAL units;
} HsaPcSamplingInfo;

/** Memory of this process as another process knows it. */
typedef HSAuint32 HsaSharedMemoryHandle[8];

/** Device of a GPU node as libdrm knows it. */
typedef void *HsaAMDGPUDeviceHandle;

/** Memory that was imported. */
typedef struct _HsaMemoryObjectHandle *HsaMemoryObjectHandle;

/** Kind of a handle on foreign memory. */
typedef enum _HsaExternalHandleType {
  /** Global name of a buffer object. */
  HSA_EXTERNAL_HANDLE_GEM_FLINK_NAME = 0,
  /** Number of a buffer object in this process. */
  HSA_EXTERNAL_HANDLE_KMS = 1,
  /** File descriptor of a dma-buf. */
  HSA_EXTERNAL_HANDLE_DMA_BUF = 2,
  /** Name that is valid across a fabric of machines. */
  HSA_EXTERNAL_HANDLE_FABRIC = 3,
} HsaExternalHandleType;

/** Name of memory across a fabric of machines. */
typedef struct _HsaFabricHandle {
  /** The name; both 0 for none. */
  HSAuint64 handle[2];
} HsaFabricHandle;

/** Foreign memory to import. 40 bytes; older callers have 24 or 32, with other offsets. */
typedef struct _HsaHandleImportDesc {
  /** Device that imports. */
  HsaAMDGPUDeviceHandle device_handle;
  /** Kind of the handle; says which member of the union is meant. */
  HsaExternalHandleType type;
  /** The handle. */
  union {
    HSAint64 dmabuf_fd;
    HsaMemoryObjectHandle buf_handle;
    HsaFabricHandle fabric;
  };
  /** Address at which the memory is wanted; NULL for any. */
  void *mem;
  /** Metadata to attach. */
  HSAuint32 metadata;
} HsaHandleImportDesc;

/** What an import gave. 24 bytes; older callers have another layout. */
typedef struct _HsaHandleImportResult {
  /** The memory. */
  HsaMemoryObjectHandle buf_handle;
  /** A file descriptor of it, owned by the caller; -1 for none. */
  int dmabuf_fd;
  /** Its size, bytes. */
  HSAuint64 alloc_size;
  /** Metadata that was attached. */
  HSAuint32 metadata;
} HsaHandleImportResult;

/** How memory is imported. */
typedef struct _HsaHandleImportFlags {
  struct {
    /** The handle comes from another process. */
    unsigned int IPCHandle : 1;
    /** It is host memory. */
    unsigned int SysMem : 1;
    /** Attach the metadata of the descriptor instead of comparing it. */
    unsigned int UpdateMetadata : 1;
    /** Not assigned, 0. */
    unsigned int Reserved : 29;
  } ui32;
} HsaHandleImportFlags;

/** Memory to export. */
typedef struct _HsaHandleExportDesc {
  /** Device that owns it. */
  HsaAMDGPUDeviceHandle device_handle;
  /** Kind of the wanted handle. */
  HsaExternalHandleType type;
  /** The memory. */
  HsaMemoryObjectHandle buf_handle;
  /** Its size, bytes. */
  HSAuint64 size;
} HsaHandleExportDesc;

/** What an export gave. 16 bytes; older callers have 4, for the file descriptor. */
typedef struct _HsaMemoryExportResult {
  /** The handle of the wanted kind. */
  union {
    HSAint32 dmabuf_fd;
    HsaFabricHandle fabric;
  };
} HsaMemoryExportResult;

/** How memory is exported. */
typedef struct _HsaHandleExportFlags {
  struct {
    /** Not assigned, 0. */
    unsigned int Reserved : 32;
  } ui32;
} HsaHandleExportFlags;

/** Kind of a handle on a foreign semaphore. */
typedef enum _HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE {
  /** NT handle. */
  HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32 = 0,
  /** Global handle of the Windows kernel. */
  HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT = 1,
  /** File descriptor. */
  HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD = 2,
} HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE;

/** A foreign semaphore that was imported. Passed by value. */
typedef struct _HSA_EXTERNAL_SEMAPHORE_HANDLE {
  /** Its name; 0 for none. */
  HSAuint64 handle;
} HSA_EXTERNAL_SEMAPHORE_HANDLE;

/** Colour buffer. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_CB = {0x9ba429c6, 0xaf2d, 0x4b38, {0xb3, 0x49, 0x15, 0x72, 0x71, 0xbe, 0xac, 0x6a}};
/** Command processor, fetcher. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_CPF = {0x2b0ad2b5, 0x1c43, 0x4f46, {0xa7, 0xbc, 0xe1, 0x19, 0x41, 0x1e, 0xa6, 0xc9}};
/** Command processor, graphics. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_CPG = {0x590ec94d, 0x20f0, 0x448f, {0x8d, 0xff, 0x31, 0x6c, 0x67, 0x9d, 0xe7, 0xff}};
/** Depth buffer. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_DB = {0x3d1a47fc, 0x0013, 0x4ed4, {0x83, 0x06, 0x82, 0x2c, 0xa0, 0xb7, 0xa6, 0xc2}};
/** Global data share. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_GDS = {0xf59276ec, 0x2526, 0x4bf8, {0x8e, 0xc0, 0x11, 0x8f, 0x77, 0x70, 0x0d, 0xc9}};
/** Graphics register bus manager. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_GRBM = {0x8f00933c, 0xc33d, 0x4801, {0x97, 0xb7, 0x70, 0x07, 0xf7, 0x85, 0x73, 0xad}};
/** Graphics register bus manager of a shader engine. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_GRBMSE = {0x34ebd8d7, 0x7c8b, 0x4d15, {0x88, 0xfa, 0x0e, 0x4e, 0x4a, 0xf5, 0x9a, 0xc1}};
/** Input assembler. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_IA = {0x34276944, 0x4264, 0x4fcd, {0x9d, 0x6e, 0xae, 0x26, 0x45, 0x82, 0xec, 0x51}};
/** Memory controller. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_MC = {0x13900b57, 0x4956, 0x4d98, {0x81, 0xd0, 0x68, 0x52, 0x19, 0x37, 0xf5, 0x9c}};
/** Primitive assembly, scan converter. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_PASC = {0xb0e7fb5d, 0x0efc, 0x4744, {0xb5, 0x16, 0x5d, 0x23, 0xdc, 0x1f, 0xd5, 0x6c}};
/** Primitive assembly, setup unit. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_PASU = {0x9a152b6a, 0x1fad, 0x45f2, {0xa5, 0xbf, 0xf1, 0x63, 0x82, 0x6b, 0xd0, 0xcd}};
/** Shader processor input. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_SPI = {0xeda81044, 0xd62c, 0x47eb, {0xaf, 0x89, 0x4f, 0x6f, 0xbf, 0x3b, 0x38, 0xe0}};
/** System register bus manager. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_SRBM = {0x9f8040e0, 0x6830, 0x4019, {0xac, 0xc8, 0x46, 0x3c, 0x9e, 0x44, 0x5b, 0x89}};
/** Sequencer of the shaders. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_SQ = {0xb5c396b6, 0xd310, 0x47e4, {0x86, 0xfc, 0x5c, 0xc3, 0x04, 0x3a, 0xf5, 0x08}};
/** Shader export. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_SX = {0xbdb8d737, 0x43cc, 0x4162, {0xbe, 0x52, 0x51, 0xcf, 0xb8, 0x47, 0xbe, 0xaf}};
/** Texture addresser. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_TA = {0xc01ee43d, 0xad92, 0x44b1, {0x8a, 0xb9, 0xbe, 0x5e, 0x69, 0x6c, 0xee, 0xa7}};
/** Texture cache arbiter. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_TCA = {0x333e393f, 0xe147, 0x4f49, {0xa6, 0xd1, 0x60, 0x91, 0x4c, 0x70, 0x86, 0xb0}};
/** Texture cache of a channel (L2). */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_TCC = {0x848ce855, 0xd805, 0x4566, {0xa8, 0xab, 0x73, 0xe8, 0x84, 0xcc, 0x6b, 0xff}};
/** Texture cache of a pipe (L1). */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_TCP = {0xe10a013b, 0x17d4, 0x4bf5, {0xb0, 0x89, 0x42, 0x95, 0x91, 0x05, 0x9b, 0x60}};
/** Texture cache of a shader engine. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_TCS = {0x4126245c, 0x4d96, 0x4d1a, {0x8a, 0xed, 0xa9, 0x39, 0xd4, 0xcc, 0x8e, 0xc9}};
/** Texture data. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_TD = {0x7d7c0fe4, 0xfe41, 0x4fea, {0x92, 0xc9, 0x45, 0x44, 0xd7, 0x70, 0x6d, 0xc6}};
/** Vertex grouper and tessellator. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_VGT = {0x0b6a8cb7, 0x7a01, 0x409f, {0xa2, 0x2c, 0x30, 0x14, 0x85, 0x4f, 0x13, 0x59}};
/** Work distributor. */
static const HSA_UUID HSA_PROFILEBLOCK_AMD_WD = {0x0e176789, 0x46ed, 0x4b02, {0x97, 0x2a, 0x91, 0x6d, 0x2f, 0xac, 0x24, 0x4a}};

#pragma pack(pop)

#ifdef __cplusplus
}
#endif

#endif /* ROCDXG_HSAKMTTYPES_H */
