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

/** Sizes of structures in the build of the caller, for DxgAbiCheck (dxg.md 1.8). A size of 0 is not compared. */
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
    /** A retry fault stalls the wave; context save areas must not be shared virtual memory (kfd.md 4.3). */
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

/** One node: CPU, GPU or both. The newest layout, 396 bytes; older callers have 356 to 392 (abi/history.md). */
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
