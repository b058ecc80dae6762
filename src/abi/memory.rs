//! Memory: allocation flags, registration, what is known of a pointer (kfd.md 3, dxg.md 3).

use core::ffi::c_void;

use super::bits::{Bits, bit_fields};
use super::plain::{c_enum, plain};
use super::{HSAuint32, HSAuint64};

c_enum! {
    /// How the CPU caches an allocation; the values of `HsaMemFlags::CachePolicy`.
    HSA_CACHING_TYPE: u32 {
        /// Cached.
        HSA_CACHING_CACHED = 0;
        /// Not cached.
        HSA_CACHING_NONCACHED = 1;
        /// Not cached, writes combined.
        HSA_CACHING_WRITECOMBINED = 2;
        /// Not assigned.
        HSA_CACHING_RESERVED = 3;
        /// Number of policies.
        HSA_CACHING_NUM_CACHING = 4;
        /// Keeps the enumeration at 32 bits.
        HSA_CACHING_SIZE = 0xffffffff;
    }
}

c_enum! {
    /// Page size of an allocation; the values of `HsaMemFlags::PageSize`.
    HSA_PAGE_SIZE: u32 {
        /// 4 KiB.
        HSA_PAGE_SIZE_4KB = 0;
        /// 64 KiB.
        HSA_PAGE_SIZE_64KB = 1;
        /// 2 MiB.
        HSA_PAGE_SIZE_2MB = 2;
        /// 1 GiB.
        HSA_PAGE_SIZE_1GB = 3;
    }
}

bit_fields! {
    /// What kind of memory is wanted. Passed by value.
    #[cfg_attr(c_header, c = "struct _HsaMemFlags { union { struct { $bits } ui32; HSAuint32 Value; }; }")]
    HsaMemFlags: HSAuint32 {
        /// The pages never move: device memory on a GPU node.
        NonPaged: 0, 1;
        /// One of HSA_CACHING_TYPE.
        CachePolicy: 1, 2;
        /// The GPU may not write.
        ReadOnly: 3, 1;
        /// One of HSA_PAGE_SIZE; size and address are multiples of it.
        PageSize: 4, 2;
        /// The CPU may access the memory.
        HostAccess: 6, 1;
        /// Fail instead of taking memory of another node.
        NoSubstitute: 7, 1;
        /// Global data share.
        GDSMemory: 8, 1;
        /// Backing of the scratch aperture of the node.
        Scratch: 9, 1;
        /// Atomic operations of all kinds are needed.
        AtomicAccessFull: 10, 1;
        /// Some atomic operations are needed.
        AtomicAccessPartial: 11, 1;
        /// The GPU may execute code in it.
        ExecuteAccess: 12, 1;
        /// Coherent at the boundaries of kernels only; not set: fine-grained.
        CoarseGrain: 13, 1;
        /// Ring of an AQL queue: mapped twice in a row where the hardware needs it.
        AQLQueueMemory: 14, 1;
        /// The memory must be at the address that the caller passes in.
        FixedAddress: 15, 1;
        /// Do not bind host pages to a NUMA node.
        NoNUMABind: 16, 1;
        /// The GPU does not cache it.
        Uncached: 17, 1;
        /// Memory without an address; excludes `OnlyAddress`.
        NoAddress: 18, 1;
        /// An address range without memory; excludes `NoAddress`.
        OnlyAddress: 19, 1;
        /// Coherent between GPUs within a kernel; excludes `CoarseGrain` and `Uncached`.
        ExtendedCoherent: 20, 1;
        /// Host memory through the page tables of the graphics driver, even for a GPU node.
        GTTAccess: 21, 1;
        /// Physically contiguous.
        Contiguous: 22, 1;
        /// Code that copies memory for the runtime.
        ExecuteBlit: 23, 1;
        /// Memory of the runtime's queue objects.
        QueueObject: 24, 1;
        /// Not assigned, 0.
        Reserved: 25, 7;
    }
}

bit_fields! {
    /// How foreign memory is taken in. Passed by value.
    HSA_REGISTER_MEM_FLAGS: HSAuint32 {
        /// The memory needs an address, even when no nodes are named.
        requiresVAddr: 0, 1;
        /// The handle is a global handle of the Windows kernel instead of a file descriptor.
        kmtHandle: 1, 1;
    }
}

/// A graphics resource that was taken in. 40 bytes; callers from before the last field have 32.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaGraphicsResourceInfo {
    /// Out: its address; NULL without one.
    pub MemoryAddress: *mut c_void,
    /// Out: its size, bytes.
    pub SizeInBytes: HSAuint64,
    /// Out: its metadata, owned by the library until the memory is deregistered; NULL without any. On DXG a
    /// HsaWddmSurfaceMetadata.
    pub Metadata: *const c_void,
    /// Out: size of the metadata, bytes.
    pub MetadataSizeInBytes: HSAuint32,
    /// Out: node that owns it. Not filled before 6.2.
    pub NodeId: HSAuint32,
    /// In: size to assume when the handle does not tell one, bytes; 0 without a guess.
    pub SizeHintInBytes: HSAuint64,
}
plain!(HsaGraphicsResourceInfo { MemoryAddress, SizeInBytes, Metadata, MetadataSizeInBytes, NodeId, SizeHintInBytes });

/// Metadata of a surface that comes from Windows.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaWddmSurfaceMetadata {
    /// Version of this structure, 1.
    pub version: HSAuint32,
    /// Swizzle mode, as numbered by the hardware.
    pub swizzle_mode: HSAuint32,
    /// Swizzle of the tiles (bank and pipe exclusive-or).
    pub tile_swizzle: HSAuint32,
    /// Compression mode; 0 for none.
    pub compression_mode: HSAuint32,
    /// Largest compressed block, as encoded by the hardware.
    pub max_comp_blk: HSAuint32,
    /// Largest uncompressed block, as encoded by the hardware.
    pub max_uncomp_blk: HSAuint32,
}
plain!(HsaWddmSurfaceMetadata { version, swizzle_mode, tile_swizzle, compression_mode, max_comp_blk, max_uncomp_blk });

c_enum! {
    /// What a pointer points to.
    HSA_POINTER_TYPE: u32 {
        /// Nothing that the library knows.
        HSA_POINTER_UNKNOWN = 0;
        /// Memory that was allocated here.
        HSA_POINTER_ALLOCATED = 1;
        /// Memory of the process that was registered.
        HSA_POINTER_REGISTERED_USER = 2;
        /// A graphics resource that was taken in.
        HSA_POINTER_REGISTERED_GRAPHICS = 3;
        /// Memory that another process shares.
        HSA_POINTER_REGISTERED_SHARED = 4;
        /// An address range without memory.
        HSA_POINTER_RESERVED_ADDR = 5;
    }
}

/// What is known of a pointer. The arrays belong to the library and live until the memory is freed or mapped anew.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaPointerInfo {
    /// What it points to.
    pub Type: HSA_POINTER_TYPE,
    /// Node that owns the memory.
    pub Node: HSAuint32,
    /// Flags with which it was allocated.
    pub MemFlags: HsaMemFlags,
    /// First address for the CPU; NULL when it has no access.
    pub CPUAddress: *mut c_void,
    /// First address for the GPUs.
    pub GPUAddress: HSAuint64,
    /// Size, bytes.
    pub SizeInBytes: HSAuint64,
    /// Length of `RegisteredNodes`.
    pub NRegisteredNodes: HSAuint32,
    /// Length of `MappedNodes`.
    pub NMappedNodes: HSAuint32,
    /// Nodes for which the memory is registered.
    pub RegisteredNodes: *const HSAuint32,
    /// Nodes in which the memory is mapped.
    pub MappedNodes: *const HSAuint32,
    /// What hsaKmtSetMemoryUserData stored.
    pub UserData: *mut c_void,
}
plain!(HsaPointerInfo {
    Type,
    Node,
    MemFlags,
    CPUAddress,
    GPUAddress,
    SizeInBytes,
    NRegisteredNodes,
    NMappedNodes,
    RegisteredNodes,
    MappedNodes,
    UserData,
});

/// A range of memory in some process.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaMemoryRange {
    /// First address.
    pub MemoryAddress: *mut c_void,
    /// Size, bytes.
    pub SizeInBytes: HSAuint64,
}
plain!(HsaMemoryRange { MemoryAddress, SizeInBytes });

c_enum! {
    /// Which way data moves between device memory and a file.
    HsaAisFlags: u32 {
        /// From the file into memory.
        HSA_AIS_READ = 1;
        /// From memory into the file.
        HSA_AIS_WRITE = 2;
    }
}

c_enum! {
    /// How a GPU may access memory that is mapped at an address.
    HsaMemoryMapFlags: u32 {
        /// Not at all.
        HSA_MEMORY_ACCESS_NONE = 0;
        /// Read.
        HSA_MEMORY_ACCESS_RO = 1;
        /// Write.
        HSA_MEMORY_ACCESS_WO = 2;
        /// Read and write.
        HSA_MEMORY_ACCESS_RW = 3;
    }
}
