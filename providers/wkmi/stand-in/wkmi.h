/* SPDX-License-Identifier: MIT
 *
 * A stand-in for the header of AMD's closed WKMI library, so that the provider can be compiled and tested without it.
 *
 * Written by us, from notes on what the library does; nothing here is AMD's text. Names, namespaces, signatures and
 * layouts of the real header may differ in detail, and more of it exists than is declared here: this is what
 * wkmi_provider.cpp uses. Never build a provider for real machines against this file.
 */
#ifndef ROCDXG_STAND_IN_WKMI_H
#define ROCDXG_STAND_IN_WKMI_H

#include <cstdint>

namespace wkmi {

/* An NTSTATUS; 0 is success. */
using Status = std::int32_t;

/* Where memory is. */
enum class Domain : std::uint32_t { System = 0, Local = 1, UserMemory = 2, UserQueue = 3 };

/* Bits of AllocationInfo::mem_flags. */
enum MemFlag : std::uint32_t { MemFineGrain = 1, MemKernarg = 2, MemQueueObject = 4 };

/* Bits of AllocationInfo::engine_flags. */
enum EngineFlag : std::uint32_t { EngineCompute0 = 1, EngineSdma = 2, EngineSdma1 = 4, EngineCompute1 = 8 };

/* Bits of DeviceInfo::hws_mask: what the hardware scheduler runs. */
enum HwsBit : std::uint32_t { HwsGfx = 1, HwsCompute = 2, HwsDma = 4, HwsDma1 = 8, HwsNativeAql = 16 };

/* What the driver says of an adapter. Sizes are in bytes. */
struct DeviceInfo {
    void *raw; /* The driver's answer. ParseAdapterInfo mallocs it, also when it fails; the owner of this frees it. */
    char product_name[64];
    std::uint32_t device_id;
    std::uint32_t revision;
    std::uint32_t pci_bus_addr; /* bus << 8 | device << 3 | function */
    std::uint32_t domain;
    std::uint32_t family;
    std::uint32_t major, minor, stepping;
    std::uint32_t asic_revision;
    bool is_dgpu;
    bool platform_atomic_support;
    bool state_shadowing;
    std::uint32_t hws_mask;
    std::uint32_t compute_unit_count;
    std::uint32_t simd_per_cu;
    std::uint32_t wave_per_cu;
    std::uint32_t wavefront_size;
    std::uint32_t num_shader_engine;
    std::uint32_t shader_array_per_shader_engine;
    std::uint32_t lds_size;
    std::uint32_t max_scratch_slots_per_cu;
    std::uint32_t watch_points_num;
    std::uint32_t num_xcc;
    std::uint32_t num_sdma_engine;
    std::uint32_t num_cp_queues;
    std::uint32_t num_gws;
    std::uint32_t mec_fw_version;
    std::uint32_t sdma_fw_version;
    std::uint32_t memory_bus_width; /* bits */
    std::uint32_t max_memory_clock_mhz;
    std::uint32_t max_engine_clock_mhz;
    std::uint32_t gb_addr_config;
    std::uint64_t uuid;
    std::uint64_t l1_cache_size, l2_cache_size, l3_cache_size;
    std::uint64_t local_visible_size, local_invisible_size, non_local_size;
    std::uint64_t gpu_counter_frequency; /* Hz */
    std::uint64_t shared_aperture_base;  /* LDS */
    std::uint64_t private_aperture_base; /* scratch */
    std::uint64_t user_queue_size;
    bool big_page_enabled;
    std::uint64_t big_page_alignment; /* Of every local allocation, when big pages are enabled. */
    std::uint64_t hw_big_page_min;    /* Of those that are larger than this; 0 for none. */
    std::uint64_t hw_big_page;        /* Of those that are larger than this. */
};

/* An allocation, or one of its parts. */
struct AllocationInfo {
    std::uint64_t size;
    std::uint64_t gpu_va; /* 0 for none. */
    Domain domain;
    std::uint32_t mem_flags;
    std::uint32_t engine_flags;
};

/* Whether the library knows the PCI device id of one of AMD's. */
bool QueryAdapterSupported(std::uint32_t device_id);

/* Asks the driver, by D3DKMTQueryAdapterInfo of whoever links the library, and fills info, which starts as zero. */
Status ParseAdapterInfo(std::uint32_t adapter, DeviceInfo *info);

/* Sizes of the blobs of an allocation of so many parts: of the whole one, and of each part. */
void GetAllocPrivDataSize(std::uint32_t parts, std::uint32_t *driver_size, std::uint32_t *part_size);

/* Writes the blob of a whole allocation. */
Status FillinAllocPrivDrvData(const DeviceInfo &device, const AllocationInfo &whole, std::uint32_t parts, void *driver);

/* Writes the blob of a part. */
Status SetAllocationInfo(const DeviceInfo &device, const AllocationInfo &part, void *blob);

/* Size of the memory that the blob of a part describes, 0 when it is none. The blob has the size of one, or more. */
std::uint64_t GetMemoryAllocationSize(const void *blob);

/* Swizzle of the surface that the blob of a part describes, if it says any. */
bool GetSurfaceSwizzleInfo(const void *blob, std::uint32_t *mode, std::uint32_t *tile_swizzle);

} // namespace wkmi

#endif
