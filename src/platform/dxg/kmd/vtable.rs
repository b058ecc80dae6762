//! The C vtable of a private-data provider, as `include/rocdxg/kmd_provider.h` declares it.
//!
//! Pure layout: this file uses nothing but `core`, because the software provider under `fakes/` includes it too; a
//! test there compares it with the header. Structures grow at the end only, and `struct_size` tells how far one
//! goes; the header is the contract and says what each field means.
#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_void};

/// The version of the vtable that this file describes.
pub const ROCDXG_KMD_VERSION: u32 = 1;

/// Name of the one symbol that a provider exports, a [`rocdxg_kmd_get_provider_fn`].
pub const ROCDXG_KMD_ENTRY: &core::ffi::CStr = c"rocdxg_kmd_get_provider";

/// Discrete, not part of a CPU.
pub const ROCDXG_KMD_FLAG_DISCRETE: u32 = 1 << 0;
/// PCIe atomics reach the host.
pub const ROCDXG_KMD_FLAG_PLATFORM_ATOMICS: u32 = 1 << 1;
/// The driver runs AQL queues itself.
pub const ROCDXG_KMD_FLAG_NATIVE_AQL: u32 = 1 << 2;
/// The firmware shadows the state of a queue.
pub const ROCDXG_KMD_FLAG_STATE_SHADOWING: u32 = 1 << 3;

/// `domain`: system memory that the thunk hands to the kernel.
pub const ROCDXG_KMD_DOMAIN_SYSTEM: u32 = 0;
/// `domain`: local memory of the GPU.
pub const ROCDXG_KMD_DOMAIN_LOCAL: u32 = 1;
/// `domain`: system memory that belongs to the program.
pub const ROCDXG_KMD_DOMAIN_USER: u32 = 2;
/// `domain`: memory of a user queue.
pub const ROCDXG_KMD_DOMAIN_QUEUE: u32 = 3;

/// `memory_flags`: coherent while kernels run.
pub const ROCDXG_KMD_MEMORY_FINE_GRAIN: u32 = 1 << 0;
/// `memory_flags`: kernel arguments, not cached by the GPU.
pub const ROCDXG_KMD_MEMORY_KERNARG: u32 = 1 << 1;
/// `memory_flags`: rings and states of queues.
pub const ROCDXG_KMD_MEMORY_QUEUE_OBJECT: u32 = 1 << 2;

/// `engine_flags`: the first compute engine.
pub const ROCDXG_KMD_ENGINE_COMPUTE0: u32 = 1 << 0;
/// `engine_flags`: the first SDMA engine.
pub const ROCDXG_KMD_ENGINE_SDMA0: u32 = 1 << 1;
/// `engine_flags`: the second SDMA engine.
pub const ROCDXG_KMD_ENGINE_SDMA1: u32 = 1 << 2;
/// `engine_flags`: the second compute engine.
pub const ROCDXG_KMD_ENGINE_COMPUTE1: u32 = 1 << 3;

/// `rocdxg_kmd_surface.flags`: `swizzle_mode` and `tile_swizzle` are known.
pub const ROCDXG_KMD_SURFACE_SWIZZLE_KNOWN: u32 = 1 << 0;

/// An open adapter, as the thunk hands it to the provider.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct rocdxg_kmd_adapter {
    /// Bytes of this structure that the caller filled.
    pub struct_size: u32,
    /// D3DKMT handle of the adapter; it stays the caller's.
    pub adapter: u32,
    /// LUID, low part.
    pub luid_low: u32,
    /// LUID, high part.
    pub luid_high: i32,
    /// The `D3DKMTQueryAdapterInfo` of this process; the argument points to a `D3DKMT_QUERYADAPTERINFO`.
    pub query_adapter_info: Option<unsafe extern "C" fn(args: *mut c_void) -> i32>,
}

/// What a provider knows of an adapter; 0 or empty is unknown.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct rocdxg_kmd_adapter_info {
    /// In: bytes that the caller has room for. Out: bytes that the provider filled.
    pub struct_size: u32,
    /// The `ROCDXG_KMD_FLAG_` bits that hold.
    pub flags: u32,
    /// The `ROCDXG_KMD_FLAG_` bits that are known.
    pub flags_known: u32,
    /// PCI device id.
    pub device_id: u32,
    /// PCI revision.
    pub revision: u32,
    /// `bus << 8 | device << 3 | function`.
    pub pci_location: u32,
    /// PCI domain.
    pub pci_domain: u32,
    /// Graphics version, major.
    pub gfx_major: u32,
    /// Graphics version, minor.
    pub gfx_minor: u32,
    /// Graphics version, stepping.
    pub gfx_stepping: u32,
    /// `Capability.ASICRevision`, 4 bits.
    pub asic_revision: u32,
    /// Marketing family number of the driver.
    pub family: u32,
    /// Compute units that work.
    pub compute_units: u32,
    /// SIMDs per compute unit.
    pub simd_per_cu: u32,
    /// Waves that one compute unit holds.
    pub waves_per_cu: u32,
    /// Lanes of a wave.
    pub wavefront_size: u32,
    /// Shader engines of the device.
    pub shader_engines: u32,
    /// Shader arrays of one engine.
    pub arrays_per_engine: u32,
    /// LDS of one compute unit, in bytes.
    pub lds_bytes: u32,
    /// Scratch slots of one compute unit.
    pub scratch_slots_per_cu: u32,
    /// Address watch points.
    pub watch_points: u32,
    /// Accelerated compute dies.
    pub num_xcc: u32,
    /// SDMA engines.
    pub sdma_engines: u32,
    /// Queues of the command processor.
    pub cp_queues: u32,
    /// Global wave sync resources.
    pub num_gws: u32,
    /// Firmware of the compute micro engine.
    pub mec_firmware: u32,
    /// Firmware of SDMA.
    pub sdma_firmware: u32,
    /// Memory bus, in bits.
    pub memory_bus_bits: u32,
    /// Largest memory clock, in MHz.
    pub memory_clock_mhz: u32,
    /// Largest engine clock, in MHz.
    pub engine_clock_mhz: u32,
    /// `GB_ADDR_CONFIG`.
    pub gb_addr_config: u32,
    /// Always 0.
    pub reserved0: u32,
    /// Stable identity of the device.
    pub unique_id: u64,
    /// L1 cache, in bytes.
    pub l1_bytes: u64,
    /// L2 cache, in bytes.
    pub l2_bytes: u64,
    /// L3 cache, in bytes.
    pub l3_bytes: u64,
    /// Local memory, in bytes, visible and invisible parts together.
    pub local_bytes: u64,
    /// System memory that the GPU may use as its own, in bytes.
    pub non_local_bytes: u64,
    /// GPU counter, in Hz.
    pub counter_hz: u64,
    /// GPU address of the LDS aperture.
    pub lds_aperture: u64,
    /// GPU address of the scratch aperture.
    pub scratch_aperture: u64,
    /// Memory of one user queue, in bytes.
    pub user_queue_bytes: u64,
    /// Alignment of allocations below the big-page size, in bytes.
    pub page_alignment: u64,
    /// Alignment of allocations from the big-page size on, in bytes.
    pub big_page_alignment: u64,
    /// Name to show to people: UTF-8, ends with a zero byte unless it fills the field.
    pub product_name: [c_char; 64],
}

/// An allocation that the thunk is about to create, all its entries together.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct rocdxg_kmd_allocation {
    /// Bytes of this structure that the caller filled.
    pub struct_size: u32,
    /// One of `ROCDXG_KMD_DOMAIN_`.
    pub domain: u32,
    /// The `ROCDXG_KMD_MEMORY_` bits that hold.
    pub memory_flags: u32,
    /// The `ROCDXG_KMD_ENGINE_` bits of a queue's memory, otherwise 0.
    pub engine_flags: u32,
    /// Size of all entries together, in bytes: a multiple of 4096, not 0.
    pub bytes: u64,
    /// GPU address of the first byte, 0 for none.
    pub address: u64,
    /// Entries, at least 1.
    pub count: u32,
    /// Always 0.
    pub reserved0: u32,
}

/// How large the blobs of an allocation are.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct rocdxg_kmd_allocation_sizes {
    /// In: bytes that the caller has room for. Out: bytes that the provider filled.
    pub struct_size: u32,
    /// Size of the blob of the whole allocation, in bytes; may be 0.
    pub driver_bytes: u32,
    /// Size of the blob of each entry, in bytes.
    pub entry_bytes: u32,
    /// Always 0.
    pub reserved0: u32,
}

/// What the blob of an entry tells of its memory.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct rocdxg_kmd_surface {
    /// In: bytes that the caller has room for. Out: bytes that the provider filled.
    pub struct_size: u32,
    /// The `ROCDXG_KMD_SURFACE_` bits that hold.
    pub flags: u32,
    /// Size of the entry's memory, in bytes.
    pub bytes: u64,
    /// Swizzle mode of the surface.
    pub swizzle_mode: u32,
    /// Tile swizzle of the surface.
    pub tile_swizzle: u32,
}

/// The provider: filled once, valid as long as its shared object is loaded.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct rocdxg_kmd_provider {
    /// Bytes of this structure that the provider filled.
    pub struct_size: u32,
    /// The version that was asked for.
    pub version: u32,
    /// Short name for messages: UTF-8, ends with a zero byte.
    pub name: *const c_char,
    /// Whether the provider knows this model: 1 yes, 0 no. Never calls into the driver.
    pub query_adapter_supported: Option<unsafe extern "C" fn(vendor_id: u32, device_id: u32, revision_id: u32) -> i32>,
    /// Fills `info`; an NTSTATUS, and `info` is untouched unless it is `STATUS_SUCCESS`.
    pub get_adapter_info:
        Option<unsafe extern "C" fn(adapter: *const rocdxg_kmd_adapter, info: *mut rocdxg_kmd_adapter_info) -> i32>,
    /// Tells how large the blobs of an allocation are; an NTSTATUS, and `sizes` is untouched unless it is
    /// `STATUS_SUCCESS`.
    pub get_allocation_sizes: Option<
        unsafe extern "C" fn(
            adapter: *const rocdxg_kmd_adapter,
            allocation: *const rocdxg_kmd_allocation,
            sizes: *mut rocdxg_kmd_allocation_sizes,
        ) -> i32,
    >,
    /// Fills the blob of one entry, and with entry 0 that of the whole allocation; an NTSTATUS.
    pub fill_allocation: Option<
        unsafe extern "C" fn(
            adapter: *const rocdxg_kmd_adapter,
            allocation: *const rocdxg_kmd_allocation,
            index: u32,
            offset: u64,
            bytes: u64,
            driver: *mut c_void,
            entry: *mut c_void,
        ) -> i32,
    >,
    /// Reads the blob of an entry that another process created; an NTSTATUS, and `surface` is untouched unless it is
    /// `STATUS_SUCCESS`.
    pub parse_allocation: Option<
        unsafe extern "C" fn(
            adapter: *const rocdxg_kmd_adapter,
            entry: *const c_void,
            entry_bytes: u32,
            surface: *mut rocdxg_kmd_surface,
        ) -> i32,
    >,
}

/// The entry point: the provider of that version, null when it does not speak it.
pub type rocdxg_kmd_get_provider_fn = unsafe extern "C" fn(version: u32) -> *const rocdxg_kmd_provider;
