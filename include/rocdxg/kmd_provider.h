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
