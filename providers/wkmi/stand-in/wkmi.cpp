// SPDX-License-Identifier: MIT
//
// The stand-in's implementation, for the test alone: numbers of no real GPU, and blobs that can be read back
// (format.h). May call D3DKMTQueryAdapterInfo, which whoever links it provides, as we assume of the real library.

#include "wkmi.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "format.h"

namespace {

// D3DKMT_QUERYADAPTERINFO and the answer to KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, which are public.
struct Query {
    std::uint32_t adapter, type;
    void *data;
    std::uint32_t size;
};
struct DeviceIds {
    std::uint32_t physical_adapter, vendor, device, sub_vendor, sub_system, revision, bus_type;
};
constexpr std::uint32_t kPhysicalAdapterDeviceIds = 31;

constexpr wkmi::Status kRevisionMismatch = static_cast<wkmi::Status>(0xC0000059u);
constexpr wkmi::Status kNoVideoMemory = static_cast<wkmi::Status>(0xC01E0100u);

std::uint32_t sum(const stand_in_part &part) {
    std::uint32_t words[offsetof(stand_in_part, padding) / 4], total = 1;
    std::memcpy(words, &part, sizeof words);
    for (std::uint32_t word : words)
        total = total * 31 + word;
    return total;
}

// Aligned access on purpose: the real library is compiled code that may rely on it.
stand_in_part read(const void *blob) { return *static_cast<const stand_in_part *>(blob); }

} // namespace

extern "C" std::int32_t D3DKMTQueryAdapterInfo(void *query);

namespace wkmi {

bool QueryAdapterSupported(std::uint32_t device_id) {
    if (device_id == STAND_IN_SUPPORTED_THROWS)
        throw std::runtime_error("no list");
    // What must not be asked from here gets no answer, whatever other threads do.
    DeviceIds ids{};
    Query query{device_id, kPhysicalAdapterDeviceIds, &ids, sizeof ids};
    if (D3DKMTQueryAdapterInfo(&query) == 0)
        return false;
    return device_id >= STAND_IN_SUPPORTED_FROM && device_id <= STAND_IN_SUPPORTED_TO;
}

Status ParseAdapterInfo(std::uint32_t adapter, DeviceInfo *info) {
    DeviceIds ids{};
    Query query{adapter, kPhysicalAdapterDeviceIds, &ids, sizeof ids};
    if (Status status = D3DKMTQueryAdapterInfo(&query))
        return status;
    if (ids.device == STAND_IN_PARSE_BAD_ALLOC)
        throw std::bad_alloc();
    info->raw = std::malloc(1000);
    if (ids.device == STAND_IN_PARSE_NUMBER)
        throw 7;
    if (ids.device == STAND_IN_PARSE_REVISION)
        return kRevisionMismatch;
    std::strcpy(info->product_name, "WKMI stand-in");
    info->device_id = ids.device;
    info->revision = ids.revision;
    info->pci_bus_addr = 0x0508;
    info->domain = 2;
    info->family = 145;
    info->major = 11;
    info->minor = 3;
    info->stepping = 7;
    info->asic_revision = 9;
    info->is_dgpu = true;
    info->platform_atomic_support = true;
    info->state_shadowing = true;
    info->hws_mask = HwsGfx | HwsNativeAql; // Native AQL without scheduled compute.
    info->compute_unit_count = 44;
    info->simd_per_cu = 4;
    info->wave_per_cu = 48;
    info->wavefront_size = 64;
    info->num_shader_engine = 3;
    info->shader_array_per_shader_engine = 1;
    info->lds_size = 131072;
    info->max_scratch_slots_per_cu = 24;
    info->watch_points_num = 8;
    info->num_xcc = 5;
    info->num_sdma_engine = 6;
    info->num_cp_queues = 10;
    info->num_gws = 11;
    info->mec_fw_version = 321;
    info->sdma_fw_version = 123;
    info->memory_bus_width = 448;
    info->max_memory_clock_mhz = 1111;
    info->max_engine_clock_mhz = 2222;
    info->gb_addr_config = 0x777;
    info->uuid = 0x1122334455667788;
    info->l1_cache_size = 16384;
    info->l2_cache_size = 1048576;
    info->l3_cache_size = 2097152;
    info->local_visible_size = 0x10000000;
    info->local_invisible_size = 0x230000000;
    info->non_local_size = 0x123456000;
    info->gpu_counter_frequency = 99000000;
    info->shared_aperture_base = 0x3000000000000;
    info->private_aperture_base = 0x4000000000000;
    info->user_queue_size = 0x8000;
    info->big_page_enabled = true;
    info->big_page_alignment = 0x10000;
    info->hw_big_page_min = 0x20000;
    info->hw_big_page = 0x200000;
    return 0;
}

void GetAllocPrivDataSize(std::uint32_t parts, std::uint32_t *driver_size, std::uint32_t *part_size) {
    if (parts == STAND_IN_SIZE_THROWS)
        throw std::length_error("parts");
    *driver_size = sizeof(stand_in_driver);
    *part_size = sizeof(stand_in_part);
}

Status FillinAllocPrivDrvData(const DeviceInfo &device, const AllocationInfo &whole, std::uint32_t parts,
                              void *driver) {
    const auto domain = static_cast<std::uint32_t>(whole.domain);
    *static_cast<stand_in_driver *>(driver) = {STAND_IN_DRIVER, parts, device.device_id, domain, whole.size};
    if (whole.gpu_va == STAND_IN_DRIVER_THROWS)
        throw std::runtime_error("driver");
    return whole.gpu_va == STAND_IN_DRIVER_REFUSED ? kNoVideoMemory : 0;
}

Status SetAllocationInfo(const DeviceInfo &device, const AllocationInfo &part, void *blob) {
    auto *to = static_cast<stand_in_part *>(blob);
    to->magic = STAND_IN_PART;
    to->device_id = device.device_id;
    to->domain = static_cast<std::uint32_t>(part.domain);
    to->mem_flags = part.mem_flags;
    to->engine_flags = part.engine_flags;
    to->swizzle_known = 0;
    to->size = part.size;
    to->gpu_va = part.gpu_va;
    to->swizzle_mode = 0;
    to->tile_swizzle = 0;
    to->sum = sum(*to);
    if (part.gpu_va == STAND_IN_PART_THROWS)
        throw std::runtime_error("part");
    return part.gpu_va == STAND_IN_PART_REFUSED ? kNoVideoMemory : 0;
}

std::uint64_t GetMemoryAllocationSize(const void *blob) {
    stand_in_part part = read(blob);
    if (part.magic != STAND_IN_PART || part.sum != sum(part))
        return 0;
    if (part.size == STAND_IN_READ_THROWS)
        throw std::runtime_error("read");
    return part.size;
}

bool GetSurfaceSwizzleInfo(const void *blob, std::uint32_t *mode, std::uint32_t *tile_swizzle) {
    stand_in_part part = read(blob);
    if (part.size == STAND_IN_SWIZZLE_THROWS)
        throw 8;
    *mode = part.swizzle_mode;
    *tile_swizzle = part.tile_swizzle;
    return part.swizzle_known == 1;
}

} // namespace wkmi
