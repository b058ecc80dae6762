/* SPDX-License-Identifier: MIT
 *
 * The private-data provider of rocdxg: how a shared object that knows the vendor's driver blobs serves the thunk.
 *
 * Allocation, context, queue and submit calls of WSL carry blobs that only the vendor's own library can write and
 * read. Whoever has that library builds a shared object around it that exports one function,
 * rocdxg_kmd_get_provider. The thunk looks for the object that the environment variable ROCDXG_KMD_PROVIDER names,
 * then beside itself; without one it serves what public queries answer.
 *
 * Rules:
 *  - Structures grow at the end only. struct_size is the number of bytes that the writer of a structure knows; a
 *    reader uses no field beyond it. A larger structure does not change the version; a changed meaning does.
 *  - All functions may be called from several threads at once, for different adapters and for the same one.
 *  - Nothing that the thunk passes may be kept after the call. Nothing that the provider returns is freed.
 *  - No exception may leave a function.
 */
#ifndef ROCDXG_KMD_PROVIDER_H
#define ROCDXG_KMD_PROVIDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the vtable that this header describes. */
#define ROCDXG_KMD_VERSION 1u

/* Bits of rocdxg_kmd_adapter_info.flags and flags_known. */
#define ROCDXG_KMD_FLAG_DISCRETE (1u << 0)         /* Not part of a CPU. */
#define ROCDXG_KMD_FLAG_PLATFORM_ATOMICS (1u << 1) /* PCIe atomics reach the host. */
#define ROCDXG_KMD_FLAG_NATIVE_AQL (1u << 2)       /* The driver runs AQL queues itself. */
#define ROCDXG_KMD_FLAG_STATE_SHADOWING (1u << 3)  /* The firmware shadows the state of a queue. */

/* rocdxg_kmd_allocation.domain: where the memory is. */
#define ROCDXG_KMD_DOMAIN_SYSTEM 0u /* System memory that the thunk hands to the kernel. */
#define ROCDXG_KMD_DOMAIN_LOCAL 1u  /* Local memory of the GPU. */
#define ROCDXG_KMD_DOMAIN_USER 2u   /* System memory that belongs to the program. */
#define ROCDXG_KMD_DOMAIN_QUEUE 3u  /* Memory of a user queue. */

/* Bits of rocdxg_kmd_allocation.memory_flags. */
#define ROCDXG_KMD_MEMORY_FINE_GRAIN (1u << 0)   /* Coherent while kernels run. */
#define ROCDXG_KMD_MEMORY_KERNARG (1u << 1)      /* Kernel arguments, not cached by the GPU. */
#define ROCDXG_KMD_MEMORY_QUEUE_OBJECT (1u << 2) /* Rings and states of queues. */

/* Bits of rocdxg_kmd_allocation.engine_flags: which engine the memory of a queue is for. */
#define ROCDXG_KMD_ENGINE_COMPUTE0 (1u << 0)
#define ROCDXG_KMD_ENGINE_SDMA0 (1u << 1)
#define ROCDXG_KMD_ENGINE_SDMA1 (1u << 2)
#define ROCDXG_KMD_ENGINE_COMPUTE1 (1u << 3)

/* Bits of rocdxg_kmd_surface.flags. */
#define ROCDXG_KMD_SURFACE_SWIZZLE_KNOWN (1u << 0) /* swizzle_mode and tile_swizzle are known. */

/* An open adapter, as the thunk hands it to the provider. */
typedef struct rocdxg_kmd_adapter {
    /* Bytes of this structure that the caller filled. */
    uint32_t struct_size;
    /* D3DKMT handle of the adapter; it stays the caller's. */
    uint32_t adapter;
    /* LUID, low part. */
    uint32_t luid_low;
    /* LUID, high part. */
    int32_t luid_high;
    /* The D3DKMTQueryAdapterInfo of this process; the argument points to a D3DKMT_QUERYADAPTERINFO. */
    int32_t (*query_adapter_info)(void *args);
} rocdxg_kmd_adapter;

/* What a provider knows of an adapter; 0 or empty is unknown. The thunk clears it and sets struct_size. */
typedef struct rocdxg_kmd_adapter_info {
    /* In: bytes that the caller has room for. Out: bytes that the provider filled. */
    uint32_t struct_size;
    /* The ROCDXG_KMD_FLAG_ bits that hold. */
    uint32_t flags;
    /* The ROCDXG_KMD_FLAG_ bits that are known. */
    uint32_t flags_known;
    /* PCI device id. */
    uint32_t device_id;
    /* PCI revision. */
    uint32_t revision;
    /* bus << 8 | device << 3 | function. */
    uint32_t pci_location;
    /* PCI domain. */
    uint32_t pci_domain;
    /* Graphics version, major. */
    uint32_t gfx_major;
    /* Graphics version, minor. */
    uint32_t gfx_minor;
    /* Graphics version, stepping. */
    uint32_t gfx_stepping;
    /* Capability.ASICRevision, 4 bits. */
    uint32_t asic_revision;
    /* Marketing family number of the driver. */
    uint32_t family;
    /* Compute units that work. */
    uint32_t compute_units;
    /* SIMDs per compute unit. */
    uint32_t simd_per_cu;
    /* Waves that one compute unit holds. */
    uint32_t waves_per_cu;
    /* Lanes of a wave. */
    uint32_t wavefront_size;
    /* Shader engines of the device. */
    uint32_t shader_engines;
    /* Shader arrays of one engine. */
    uint32_t arrays_per_engine;
    /* LDS of one compute unit, in bytes. */
    uint32_t lds_bytes;
    /* Scratch slots of one compute unit. */
    uint32_t scratch_slots_per_cu;
    /* Address watch points. */
    uint32_t watch_points;
    /* Accelerated compute dies. */
    uint32_t num_xcc;
    /* SDMA engines. */
    uint32_t sdma_engines;
    /* Queues of the command processor. */
    uint32_t cp_queues;
    /* Global wave sync resources. */
    uint32_t num_gws;
    /* Firmware of the compute micro engine. */
    uint32_t mec_firmware;
    /* Firmware of SDMA. */
    uint32_t sdma_firmware;
    /* Memory bus, in bits. */
    uint32_t memory_bus_bits;
    /* Largest memory clock, in MHz. */
    uint32_t memory_clock_mhz;
    /* Largest engine clock, in MHz. */
    uint32_t engine_clock_mhz;
    /* GB_ADDR_CONFIG. */
    uint32_t gb_addr_config;
    /* Always 0. */
    uint32_t reserved0;
    /* Stable identity of the device. */
    uint64_t unique_id;
    /* L1 cache, in bytes. */
    uint64_t l1_bytes;
    /* L2 cache, in bytes. */
    uint64_t l2_bytes;
    /* L3 cache, in bytes. */
    uint64_t l3_bytes;
    /* Local memory, in bytes, visible and invisible parts together. */
    uint64_t local_bytes;
    /* System memory that the GPU may use as its own, in bytes. */
    uint64_t non_local_bytes;
    /* GPU counter, in Hz. */
    uint64_t counter_hz;
    /* GPU address of the LDS aperture. */
    uint64_t lds_aperture;
    /* GPU address of the scratch aperture. */
    uint64_t scratch_aperture;
    /* Memory of one user queue, in bytes. */
    uint64_t user_queue_bytes;
    /* Alignment of allocations below the big-page size, in bytes. */
    uint64_t page_alignment;
    /* Alignment of allocations from the big-page size on, in bytes. */
    uint64_t big_page_alignment;
    /* Name to show to people: UTF-8, ends with a zero byte unless it fills the field. */
    char product_name[64];
} rocdxg_kmd_adapter_info;

/* An allocation that the thunk is about to create: one D3DKMTCreateAllocation2 with count entries, which lie one behind
 * the other. */
typedef struct rocdxg_kmd_allocation {
    /* Bytes of this structure that the caller filled. */
    uint32_t struct_size;
    /* One of ROCDXG_KMD_DOMAIN_. */
    uint32_t domain;
    /* The ROCDXG_KMD_MEMORY_ bits that hold. */
    uint32_t memory_flags;
    /* The ROCDXG_KMD_ENGINE_ bits of a queue's memory, otherwise 0. */
    uint32_t engine_flags;
    /* Size of all entries together, in bytes: a multiple of 4096, not 0. */
    uint64_t bytes;
    /* GPU address of the first byte, 0 for none. */
    uint64_t address;
    /* Entries, at least 1. */
    uint32_t count;
    /* Always 0. */
    uint32_t reserved0;
} rocdxg_kmd_allocation;

/* How large the blobs of an allocation are. The thunk clears it and sets struct_size. */
typedef struct rocdxg_kmd_allocation_sizes {
    /* In: bytes that the caller has room for. Out: bytes that the provider filled. */
    uint32_t struct_size;
    /* Size of the blob of the whole allocation, in bytes: D3DKMT_CREATEALLOCATION.pPrivateDriverData. May be 0. */
    uint32_t driver_bytes;
    /* Size of the blob of each entry, in bytes: D3DDDI_ALLOCATIONINFO2.pPrivateDriverData. */
    uint32_t entry_bytes;
    /* Always 0. */
    uint32_t reserved0;
} rocdxg_kmd_allocation_sizes;

/* What the blob of an entry tells of its memory. The thunk clears it and sets struct_size. */
typedef struct rocdxg_kmd_surface {
    /* In: bytes that the caller has room for. Out: bytes that the provider filled. */
    uint32_t struct_size;
    /* The ROCDXG_KMD_SURFACE_ bits that hold. */
    uint32_t flags;
    /* Size of the entry's memory, in bytes. */
    uint64_t bytes;
    /* Swizzle mode of the surface. */
    uint32_t swizzle_mode;
    /* Tile swizzle of the surface. */
    uint32_t tile_swizzle;
} rocdxg_kmd_surface;

/* The provider: filled once, valid as long as its shared object is loaded. */
typedef struct rocdxg_kmd_provider {
    /* Bytes of this structure that the provider filled. */
    uint32_t struct_size;
    /* The version that was asked for. */
    uint32_t version;
    /* Short name for messages: UTF-8, ends with a zero byte. */
    const char *name;
    /* Whether the provider knows this model: 1 yes, 0 no. Never calls into the driver. */
    int32_t (*query_adapter_supported)(uint32_t vendor_id, uint32_t device_id, uint32_t revision_id);
    /* Fills info and returns an NTSTATUS; info is untouched unless that is STATUS_SUCCESS (0).
     * STATUS_OBJECT_NAME_NOT_FOUND and STATUS_REVISION_MISMATCH say that this adapter cannot be served and the others
     * may; anything else is an error of the adapter. */
    int32_t (*get_adapter_info)(const struct rocdxg_kmd_adapter *adapter,
                                struct rocdxg_kmd_adapter_info *info);
    /* Memory. A provider whose struct_size ends before these three, or that leaves one NULL, serves none. */
    /* Tells how large the blobs of an allocation are and returns an NTSTATUS; sizes is untouched unless that is
     * STATUS_SUCCESS. STATUS_INVALID_PARAMETER says that the driver has no such memory. The sizes depend on domain,
     * memory_flags, engine_flags and count only, and never on address. */
    int32_t (*get_allocation_sizes)(const struct rocdxg_kmd_adapter *adapter,
                                    const struct rocdxg_kmd_allocation *allocation,
                                    struct rocdxg_kmd_allocation_sizes *sizes);
    /* Fills the blob of entry `index`, which covers `bytes` bytes from byte `offset` of the allocation, and returns an
     * NTSTATUS. entry has entry_bytes bytes of get_allocation_sizes for the same allocation. driver has driver_bytes;
     * it is filled when index is 0 and may be NULL otherwise, or when driver_bytes is 0. All bytes of both are
     * written. Called once per entry, in the order of the entries, right before the kernel is called. */
    int32_t (*fill_allocation)(const struct rocdxg_kmd_adapter *adapter,
                               const struct rocdxg_kmd_allocation *allocation, uint32_t index, uint64_t offset,
                               uint64_t bytes, void *driver, void *entry);
    /* Reads the blob of an entry, as the kernel gave it to an importer (D3DKMTOpenResourceFromNtHandle): any process
     * and any program of the vendor's may have created it. Returns an NTSTATUS; surface is untouched unless that is
     * STATUS_SUCCESS. STATUS_INVALID_PARAMETER says that the blob is none or damaged. */
    int32_t (*parse_allocation)(const struct rocdxg_kmd_adapter *adapter, const void *entry, uint32_t entry_bytes,
                                struct rocdxg_kmd_surface *surface);
} rocdxg_kmd_provider;

/* The entry point: the provider of that version, NULL when it does not speak it. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const rocdxg_kmd_provider *rocdxg_kmd_get_provider(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
