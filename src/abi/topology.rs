//! The machine around the nodes: versions, memory banks, caches and links (kfd.md 2.5, dxg.md 2.4).

use super::bits::{Bits, bit_fields};
use super::plain::{c_enum, plain};
use super::{HSA_CPU_SIBLINGS, HSAuint16, HSAuint32, HSAuint64};

/// Version of the kernel interface.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaVersionInfo {
    /// Major number; 1 on both platforms.
    pub KernelInterfaceMajorVersion: HSAuint32,
    /// Minor number: that of the KFD driver, or 17 on DXG.
    pub KernelInterfaceMinorVersion: HSAuint32,
}
plain!(HsaVersionInfo { KernelInterfaceMajorVersion, KernelInterfaceMinorVersion });

/// What the whole machine reports.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaSystemProperties {
    /// Number of nodes; node ids are 0 to `NumNodes` - 1.
    pub NumNodes: HSAuint32,
    /// Identifies the maker of the machine; 0 on DXG.
    pub PlatformOem: HSAuint32,
    /// Identifies the machine; 0 on DXG.
    pub PlatformId: HSAuint32,
    /// Revision of the machine; 0 on DXG.
    pub PlatformRev: HSAuint32,
}
plain!(HsaSystemProperties { NumNodes, PlatformOem, PlatformId, PlatformRev });

c_enum! {
    /// Kind of a memory bank.
    HSA_HEAPTYPE: u32 {
        /// Memory of the host.
        HSA_HEAPTYPE_SYSTEM = 0;
        /// Device memory that the CPU can reach (large BAR).
        HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC = 1;
        /// Device memory that the CPU cannot reach.
        HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE = 2;
        /// Global data share.
        HSA_HEAPTYPE_GPU_GDS = 3;
        /// Local data share; its address range is the shared aperture.
        HSA_HEAPTYPE_GPU_LDS = 4;
        /// Scratch; its address range is the private aperture.
        HSA_HEAPTYPE_GPU_SCRATCH = 5;
        /// Address range in which the GPU sees host memory.
        HSA_HEAPTYPE_DEVICE_SVM = 6;
        /// Page of remapped registers (HDP flush).
        HSA_HEAPTYPE_MMIO_REMAP = 7;
        /// Number of kinds.
        HSA_HEAPTYPE_NUMHEAPTYPES = 8;
        /// Keeps the enumeration at 32 bits.
        HSA_HEAPTYPE_SIZE = 0xffffffff;
    }
}

bit_fields! {
    /// Flags of a memory bank.
    #[cfg_attr(c_header, c = "union { HSAuint32 MemoryProperty; struct { $bits } ui32; }")]
    HSA_MEMORYPROPERTY: HSAuint32 {
        /// The bank can be removed at run time.
        HotPluggable: 0, 1;
        /// The bank keeps its contents without power.
        NonVolatile: 1, 1;
        /// Not assigned, 0.
        Reserved: 2, 30;
    }
}

/// One memory bank of a node.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaMemoryProperties {
    /// Kind of the bank.
    pub HeapType: HSA_HEAPTYPE,
    /// Size, bytes.
    #[cfg_attr(
        c_header,
        c = "union { HSAuint64 SizeInBytes; struct { HSAuint32 SizeInBytesLow; HSAuint32 SizeInBytesHigh; } ui32; }"
    )]
    pub SizeInBytes: HSAuint64,
    /// Flags.
    pub Flags: HSA_MEMORYPROPERTY,
    /// Width of the memory bus, bits.
    pub Width: HSAuint32,
    /// Highest memory clock, MHz.
    pub MemoryClockMax: HSAuint32,
    /// First address of the aperture, for LDS, scratch, SVM and MMIO banks; else 0.
    pub VirtualBaseAddress: HSAuint64,
}
plain!(HsaMemoryProperties { HeapType, SizeInBytes, Flags, Width, MemoryClockMax, VirtualBaseAddress });

bit_fields! {
    /// What a cache holds and whom it serves.
    HsaCacheType: HSAuint32 {
        /// Holds data.
        Data: 0, 1;
        /// Holds instructions.
        Instruction: 1, 1;
        /// Serves CPUs.
        CPU: 2, 1;
        /// Serves compute units.
        HSACU: 3, 1;
        /// Not assigned, 0.
        Reserved: 4, 28;
    }
}

/// One cache of a node. 1060 bytes; callers from before the last field have 1056.
#[repr(C, packed(4))]
#[cfg_attr(c_header, tag = "_HaCacheProperties")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaCacheProperties {
    /// APIC id of the first CPU, or number of the first SIMD unit, that the cache serves.
    pub ProcessorIdLow: HSAuint32,
    /// Level: 1, 2, 3.
    pub CacheLevel: HSAuint32,
    /// Size: bytes for a CPU cache, KiB for a GPU cache.
    pub CacheSize: HSAuint32,
    /// Line size, bytes.
    pub CacheLineSize: HSAuint32,
    /// Lines that share one tag.
    pub CacheLinesPerTag: HSAuint32,
    /// Ways of associativity.
    pub CacheAssociativity: HSAuint32,
    /// Latency, nanoseconds; 0 when unknown.
    pub CacheLatency: HSAuint32,
    /// What it holds and whom it serves.
    pub CacheType: HsaCacheType,
    /// Entry n is 1 when processor n (for CPUs: the one with APIC id n) uses the cache.
    pub SiblingMap: [HSAuint32; HSA_CPU_SIBLINGS],
    /// Most of the cache that can be set aside for persisting data, bytes; 0 when it cannot.
    pub PersistingCacheSizeMax: HSAuint32,
}
plain!(HsaCacheProperties {
    ProcessorIdLow,
    CacheLevel,
    CacheSize,
    CacheLineSize,
    CacheLinesPerTag,
    CacheAssociativity,
    CacheLatency,
    CacheType,
    SiblingMap,
    PersistingCacheSizeMax,
});

/// Which CPUs belong to a compute unit. No call of the API hands it out.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaCComputeProperties {
    /// Entry n is 1 when the CPU with APIC id n belongs to the unit.
    pub SiblingMap: [HSAuint32; HSA_CPU_SIBLINGS],
}
plain!(HsaCComputeProperties { SiblingMap });

c_enum! {
    /// Kind of a link between two nodes.
    HSA_IOLINKTYPE: u32 {
        /// Unknown.
        HSA_IOLINKTYPE_UNDEFINED = 0;
        /// HyperTransport.
        HSA_IOLINKTYPE_HYPERTRANSPORT = 1;
        /// PCI Express.
        HSA_IOLINKTYPE_PCIEXPRESS = 2;
        /// AMBA.
        HSA_IOLINKTYPE_AMBA = 3;
        /// MIPI.
        HSA_IOLINKTYPE_MIPI = 4;
        /// QPI 1.1, between CPU sockets.
        HSA_IOLINK_TYPE_QPI_1_1 = 5;
        /// Not assigned.
        HSA_IOLINK_TYPE_RESERVED1 = 6;
        /// Not assigned.
        HSA_IOLINK_TYPE_RESERVED2 = 7;
        /// RapidIO.
        HSA_IOLINK_TYPE_RAPID_IO = 8;
        /// InfiniBand.
        HSA_IOLINK_TYPE_INFINIBAND = 9;
        /// Not assigned.
        HSA_IOLINK_TYPE_RESERVED3 = 10;
        /// XGMI, between GPUs, and between CPU and GPU of an APU.
        HSA_IOLINK_TYPE_XGMI = 11;
        /// XGOP.
        HSA_IOLINK_TYPE_XGOP = 12;
        /// GZ.
        HSA_IOLINK_TYPE_GZ = 13;
        /// RDMA over Ethernet.
        HSA_IOLINK_TYPE_ETHERNET_RDMA = 14;
        /// RDMA over something else.
        HSA_IOLINK_TYPE_RDMA_OTHER = 15;
        /// Something else.
        HSA_IOLINK_TYPE_OTHER = 16;
        /// Number of kinds.
        HSA_IOLINKTYPE_NUMIOLINKTYPES = 17;
        /// Keeps the enumeration at 32 bits.
        HSA_IOLINKTYPE_SIZE = 0xffffffff;
    }
}

bit_fields! {
    /// Flags of a link.
    #[cfg_attr(c_header, c = "union { HSAuint32 LinkProperty; struct { $bits } ui32; }")]
    HSA_LINKPROPERTY: HSAuint32 {
        /// The other flags are to be believed instead of what the kind of the link implies.
        Override: 0, 1;
        /// Accesses over the link are not coherent.
        NonCoherent: 1, 1;
        /// No 32-bit atomic operations over the link.
        NoAtomics32bit: 2, 1;
        /// No 64-bit atomic operations over the link.
        NoAtomics64bit: 3, 1;
        /// No DMA between peers over the link.
        NoPeerToPeerDMA: 4, 1;
        /// Not assigned, 0.
        Reserved: 5, 27;
    }
}

/// One link from a node to another. 52 bytes; callers before 6.3 have 48, without `RecSdmaEngIdMask`.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaIoLinkProperties {
    /// Kind of the link.
    pub IoLinkType: HSA_IOLINKTYPE,
    /// Major version of the link's specification; 0 when unknown.
    pub VersionMajor: HSAuint32,
    /// Minor version of the link's specification; 0 when unknown.
    pub VersionMinor: HSAuint32,
    /// Node at which the link starts.
    pub NodeFrom: HSAuint32,
    /// Node at which the link ends.
    pub NodeTo: HSAuint32,
    /// Distance in the sense of NUMA; an indirect link carries the sum of its hops.
    pub Weight: HSAuint32,
    /// Lowest latency, nanoseconds; 0 when unknown.
    pub MinimumLatency: HSAuint32,
    /// Highest latency, nanoseconds; 0 when unknown.
    pub MaximumLatency: HSAuint32,
    /// Lowest bandwidth, MB/s; 0 when unknown.
    pub MinimumBandwidth: HSAuint32,
    /// Highest bandwidth, MB/s; 0 when unknown.
    pub MaximumBandwidth: HSAuint32,
    /// Recommended size of one transfer, bytes; 0 when unknown.
    pub RecTransferSize: HSAuint32,
    /// Bit n is set when SDMA engine n is recommended for copies to `NodeTo`. Absent before 6.3.
    pub RecSdmaEngIdMask: HSAuint32,
    /// Flags.
    pub Flags: HSA_LINKPROPERTY,
}
plain!(HsaIoLinkProperties {
    IoLinkType,
    VersionMajor,
    VersionMinor,
    NodeFrom,
    NodeTo,
    Weight,
    MinimumLatency,
    MaximumLatency,
    MinimumBandwidth,
    MaximumBandwidth,
    RecTransferSize,
    RecSdmaEngIdMask,
    Flags,
});

/// Sizes of structures in the build of the caller, for `DxgAbiCheck` (dxg.md 1.8). A size of 0 is not compared.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaStructureSizes {
    /// Size of this structure, 16 bytes.
    pub StructureSizes: HSAuint16,
    /// Size of HsaNodeProperties, bytes.
    pub SizeOfHsaNodeProperties: HSAuint16,
    /// Size of HsaHandleImportDesc, bytes.
    pub SizeOfHsaExternalHandleDesc: HSAuint16,
    /// Not assigned, 0.
    pub Reserved: [HSAuint16; 5],
}
plain!(HsaStructureSizes { StructureSizes, SizeOfHsaNodeProperties, SizeOfHsaExternalHandleDesc, Reserved });
