// SPDX-License-Identifier: MIT
//
// The private-data provider of include/rocdxg/kmd_provider.h, around AMD's closed WKMI library.
//
// Lives here: the vtable, what is remembered of adapters, and the translation of codes and fields. May call WKMI, in
// namespace `glue` alone, and of the thunk nothing but the adapter's query_adapter_info, while WKMI parses that
// adapter. No exception leaves an entry: each one is turned into an NTSTATUS.

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "rocdxg/kmd_provider.h"
#include "wkmi.h"

namespace {

using Status = std::int32_t;

constexpr Status kSuccess = 0;
constexpr Status kUnsuccessful = static_cast<Status>(0xC0000001u);
constexpr Status kInvalidHandle = static_cast<Status>(0xC0000008u);
constexpr Status kInvalidParameter = static_cast<Status>(0xC000000Du);
constexpr Status kNoMemory = static_cast<Status>(0xC0000017u);

constexpr std::uint32_t kVendorAmd = 0x1002;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kAddressEnd = std::uint64_t{1} << 48;

// How a call ends that does not succeed.
struct Failure {
    Status status;
};

void require(bool holds) {
    if (!holds)
        throw Failure{kInvalidParameter};
}

void check(Status status) {
    if (status != kSuccess)
        throw Failure{status};
}

// Runs the body of an entry.
template <typename Body> Status barrier(Body body) noexcept {
    try {
        body();
        return kSuccess;
    } catch (const Failure &failure) {
        return failure.status;
    } catch (const std::bad_alloc &) {
        return kNoMemory;
    } catch (...) {
        return kUnsuccessful;
    }
}

using Query = std::int32_t (*)(void *args);

// The D3DKMTQueryAdapterInfo of the adapter that this thread is parsing; null otherwise, so that no other call of WKMI
// reaches the driver.
thread_local Query current_query = nullptr;

struct QueryScope {
    explicit QueryScope(Query query) { current_query = query; }
    ~QueryScope() { current_query = nullptr; }
    QueryScope(const QueryScope &) = delete;
    QueryScope &operator=(const QueryScope &) = delete;
};

} // namespace

// WKMI leaves this name to whoever links it. Under a C++ name of its own, since the real header may declare it too.
extern "C" std::int32_t query_for_wkmi(void *args) noexcept __asm__("D3DKMTQueryAdapterInfo");
extern "C" std::int32_t query_for_wkmi(void *args) noexcept {
    return current_query ? current_query(args) : kInvalidHandle;
}

namespace {

// Every use of WKMI. Where the real header differs from the stand-in, this namespace is what has to follow.
namespace glue {

// What WKMI knows of an adapter, with the answer of the driver that it keeps.
struct Device {
    wkmi::DeviceInfo info{};
    Device() = default;
    ~Device() { std::free(info.raw); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
};

using DevicePointer = std::shared_ptr<const Device>;

DevicePointer parse(const rocdxg_kmd_adapter &adapter) {
    require(adapter.query_adapter_info != nullptr);
    auto device = std::make_shared<Device>();
    QueryScope scope(adapter.query_adapter_info);
    check(wkmi::ParseAdapterInfo(adapter.adapter, &device->info));
    return device;
}

bool supported(std::uint32_t vendor_id, std::uint32_t device_id) {
    return vendor_id == kVendorAmd && wkmi::QueryAdapterSupported(device_id);
}

// Copies a name as far as it fits, and cuts no character of UTF-8 in two.
template <std::size_t Room, std::size_t Length> void copy_name(char (&to)[Room], const char (&from)[Length]) {
    std::size_t length = strnlen(from, Length);
    if (length > Room) {
        length = Room;
        while (length > 0 && (static_cast<unsigned char>(from[length]) & 0xC0) == 0x80)
            --length;
    }
    std::memcpy(to, from, length);
}

rocdxg_kmd_adapter_info translate(const wkmi::DeviceInfo &from) {
    rocdxg_kmd_adapter_info to{};
    const auto flag = [&to](std::uint32_t bit, bool holds) {
        to.flags_known |= bit;
        to.flags |= holds ? bit : 0;
    };
    constexpr std::uint32_t native_aql = wkmi::HwsNativeAql | wkmi::HwsCompute;
    flag(ROCDXG_KMD_FLAG_DISCRETE, from.is_dgpu);
    flag(ROCDXG_KMD_FLAG_PLATFORM_ATOMICS, from.platform_atomic_support);
    flag(ROCDXG_KMD_FLAG_NATIVE_AQL, (from.hws_mask & native_aql) == native_aql);
    flag(ROCDXG_KMD_FLAG_STATE_SHADOWING, from.state_shadowing);
    to.device_id = from.device_id;
    to.revision = from.revision;
    to.pci_location = from.pci_bus_addr;
    to.pci_domain = from.domain;
    to.gfx_major = from.major;
    to.gfx_minor = from.minor;
    to.gfx_stepping = from.stepping;
    to.asic_revision = from.asic_revision;
    to.family = from.family;
    to.compute_units = from.compute_unit_count;
    to.simd_per_cu = from.simd_per_cu;
    to.waves_per_cu = from.wave_per_cu;
    to.wavefront_size = from.wavefront_size;
    to.shader_engines = from.num_shader_engine;
    to.arrays_per_engine = from.shader_array_per_shader_engine;
    to.lds_bytes = from.lds_size;
    to.scratch_slots_per_cu = from.max_scratch_slots_per_cu;
    to.watch_points = from.watch_points_num;
    to.num_xcc = from.num_xcc;
    to.sdma_engines = from.num_sdma_engine;
    to.cp_queues = from.num_cp_queues;
    to.num_gws = from.num_gws;
    to.mec_firmware = from.mec_fw_version;
    to.sdma_firmware = from.sdma_fw_version;
    to.memory_bus_bits = from.memory_bus_width;
    to.memory_clock_mhz = from.max_memory_clock_mhz;
    to.engine_clock_mhz = from.max_engine_clock_mhz;
    to.gb_addr_config = from.gb_addr_config;
    to.unique_id = from.uuid;
    to.l1_bytes = from.l1_cache_size;
    to.l2_bytes = from.l2_cache_size;
    to.l3_bytes = from.l3_cache_size;
    to.local_bytes = from.local_visible_size + from.local_invisible_size;
    to.non_local_bytes = from.non_local_size;
    to.counter_hz = from.gpu_counter_frequency;
    to.lds_aperture = from.shared_aperture_base;
    to.scratch_aperture = from.private_aperture_base;
    to.user_queue_bytes = from.user_queue_size;
    // WKMI has three steps and the vtable two: what is below the last one gets the alignment of the middle one.
    to.page_alignment = to.big_page_alignment = kPage;
    if (from.big_page_enabled) {
        to.page_alignment = std::max({kPage, from.big_page_alignment, from.hw_big_page_min});
        to.big_page_alignment = std::max(to.page_alignment, from.hw_big_page);
    }
    copy_name(to.product_name, from.product_name);
    return to;
}

wkmi::Domain domain(std::uint32_t code) {
    switch (code) {
    case ROCDXG_KMD_DOMAIN_SYSTEM: return wkmi::Domain::System;
    case ROCDXG_KMD_DOMAIN_LOCAL: return wkmi::Domain::Local;
    case ROCDXG_KMD_DOMAIN_USER: return wkmi::Domain::UserMemory;
    case ROCDXG_KMD_DOMAIN_QUEUE: return wkmi::Domain::UserQueue;
    default: throw Failure{kInvalidParameter};
    }
}

struct Pair {
    std::uint32_t ours, theirs;
};

constexpr Pair kMemoryFlags[] = {
    {ROCDXG_KMD_MEMORY_FINE_GRAIN, wkmi::MemFineGrain},
    {ROCDXG_KMD_MEMORY_KERNARG, wkmi::MemKernarg},
    {ROCDXG_KMD_MEMORY_QUEUE_OBJECT, wkmi::MemQueueObject},
};

constexpr Pair kEngineFlags[] = {
    {ROCDXG_KMD_ENGINE_COMPUTE0, wkmi::EngineCompute0},
    {ROCDXG_KMD_ENGINE_SDMA0, wkmi::EngineSdma},
    {ROCDXG_KMD_ENGINE_SDMA1, wkmi::EngineSdma1},
    {ROCDXG_KMD_ENGINE_COMPUTE1, wkmi::EngineCompute1},
};

// A bit that has no counterpart is refused: the memory would not be what was asked for.
template <std::size_t Count> std::uint32_t flags(const Pair (&pairs)[Count], std::uint32_t ours) {
    std::uint32_t theirs = 0;
    for (const Pair &pair : pairs) {
        if (ours & pair.ours)
            theirs |= pair.theirs;
        ours &= ~pair.ours;
    }
    require(ours == 0);
    return theirs;
}

wkmi::AllocationInfo whole(const rocdxg_kmd_allocation &asked) {
    wkmi::AllocationInfo info{};
    info.size = asked.bytes;
    info.gpu_va = asked.address;
    info.domain = domain(asked.domain);
    info.mem_flags = flags(kMemoryFlags, asked.memory_flags);
    info.engine_flags = flags(kEngineFlags, asked.engine_flags);
    return info;
}

struct Sizes {
    std::uint32_t driver = 0, entry = 0;
};

// Depends on nothing but the number of entries, so that it is the same when the blobs are filled.
Sizes sizes(std::uint32_t count) {
    Sizes sizes;
    wkmi::GetAllocPrivDataSize(count, &sizes.driver, &sizes.entry);
    return sizes;
}

void fill_driver(const Device &device, const rocdxg_kmd_allocation &asked, void *blob) {
    check(wkmi::FillinAllocPrivDrvData(device.info, whole(asked), asked.count, blob));
}

void fill_entry(const Device &device, const rocdxg_kmd_allocation &asked, std::uint64_t offset, std::uint64_t bytes,
                void *blob) {
    wkmi::AllocationInfo part = whole(asked);
    part.size = bytes;
    part.gpu_va = asked.address == 0 ? 0 : asked.address + offset;
    check(wkmi::SetAllocationInfo(device.info, part, blob));
}

// The blob has at least the size of one, and the alignment that malloc gives.
rocdxg_kmd_surface read(const void *blob) {
    rocdxg_kmd_surface surface{};
    surface.bytes = wkmi::GetMemoryAllocationSize(blob);
    require(surface.bytes != 0);
    std::uint32_t mode = 0, tile_swizzle = 0;
    if (wkmi::GetSurfaceSwizzleInfo(blob, &mode, &tile_swizzle)) {
        surface.flags = ROCDXG_KMD_SURFACE_SWIZZLE_KNOWN;
        surface.swizzle_mode = mode;
        surface.tile_swizzle = tile_swizzle;
    }
    return surface;
}

} // namespace glue

// The adapters that were parsed last, by LUID: allocation calls need what the driver said of the adapter.
class Adapters {
public:
    constexpr Adapters() = default;

    // Asks the driver anew.
    glue::DevicePointer parse(const rocdxg_kmd_adapter &adapter) {
        std::lock_guard<std::mutex> one(parsing_);
        return parse_locked(adapter);
    }

    // What is known of an adapter. Asks the driver if that is nothing.
    glue::DevicePointer get(const rocdxg_kmd_adapter &adapter) {
        if (auto device = find(adapter))
            return device;
        std::lock_guard<std::mutex> one(parsing_);
        if (auto device = find(adapter))
            return device;
        return parse_locked(adapter);
    }

    // Forgets all. Never waits: at the end of a process the holder of the lock may not run any more.
    void clear() noexcept {
        std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
        if (lock)
            for (Slot &slot : slots_)
                slot.device.reset();
    }

    // Around a fork: the child finds both locks free, and the slots whole.
    void lock() noexcept {
        parsing_.lock();
        mutex_.lock();
    }
    void unlock() noexcept {
        mutex_.unlock();
        parsing_.unlock();
    }

private:
    struct Slot {
        std::uint32_t luid_low = 0;
        std::int32_t luid_high = 0;
        std::uint64_t used = 0;
        glue::DevicePointer device;
    };

    // WKMI is not known to parse for two threads at once, so it never does. Allocation calls are not held up.
    glue::DevicePointer parse_locked(const rocdxg_kmd_adapter &adapter) {
        glue::DevicePointer device = glue::parse(adapter);
        store(adapter, device);
        return device;
    }

    Slot *find_locked(const rocdxg_kmd_adapter &adapter) {
        for (Slot &slot : slots_)
            if (slot.device && slot.luid_low == adapter.luid_low && slot.luid_high == adapter.luid_high)
                return &slot;
        return nullptr;
    }

    glue::DevicePointer find(const rocdxg_kmd_adapter &adapter) {
        std::lock_guard<std::mutex> lock(mutex_);
        Slot *slot = find_locked(adapter);
        if (!slot)
            return nullptr;
        slot->used = ++clock_;
        return slot->device;
    }

    // In place of the same adapter, else of the one that was not used for longest.
    void store(const rocdxg_kmd_adapter &adapter, glue::DevicePointer device) {
        std::lock_guard<std::mutex> lock(mutex_);
        Slot *slot = find_locked(adapter);
        if (!slot)
            slot = std::min_element(slots_.begin(), slots_.end(),
                                    [](const Slot &a, const Slot &b) { return a.used < b.used; });
        slot->luid_low = adapter.luid_low;
        slot->luid_high = adapter.luid_high;
        slot->used = ++clock_;
        slot->device = std::move(device);
    }

    std::mutex parsing_; // Before mutex_.
    std::mutex mutex_;
    std::uint64_t clock_ = 0;
    std::array<Slot, 32> slots_{};
};

// Initialised at compile time and never destroyed: threads may still call while the process ends.
union Immortal {
    Adapters adapters;
    constexpr Immortal() : adapters() {}
    ~Immortal() {}
};
Immortal immortal;
Adapters &adapters = immortal.adapters;

__attribute__((constructor)) void loaded() {
    pthread_atfork([] { adapters.lock(); }, [] { adapters.unlock(); }, [] { adapters.unlock(); });
}

__attribute__((destructor)) void unloaded() { adapters.clear(); }

// Bytes that a structure of the caller must have: up to and with the last field that is read.
#define UP_TO(type, field) (offsetof(type, field) + sizeof(type::field))

template <typename T> T input(const T *from, std::size_t needed) {
    require(from != nullptr && from->struct_size >= needed);
    T copy{};
    std::memcpy(&copy, from, std::min<std::size_t>(from->struct_size, sizeof copy));
    return copy;
}

rocdxg_kmd_adapter input(const rocdxg_kmd_adapter *from) {
    return input(from, UP_TO(rocdxg_kmd_adapter, query_adapter_info));
}

// What the driver may be asked for.
rocdxg_kmd_allocation input(const rocdxg_kmd_allocation *from) {
    const auto asked = input(from, UP_TO(rocdxg_kmd_allocation, reserved0));
    require(asked.reserved0 == 0 && asked.count != 0);
    require(asked.bytes != 0 && asked.bytes % kPage == 0 && asked.bytes <= kAddressEnd);
    require(asked.address % kPage == 0 && asked.address <= kAddressEnd - asked.bytes);
    glue::whole(asked);
    return asked;
}

// Writes a structure as far as the caller has room.
template <typename T> void output(T *to, T filled) {
    require(to != nullptr && to->struct_size >= sizeof to->struct_size);
    filled.struct_size = static_cast<std::uint32_t>(std::min<std::size_t>(to->struct_size, sizeof filled));
    std::memcpy(to, &filled, filled.struct_size);
}

void copy(void *to, const std::vector<unsigned char> &from) {
    if (!from.empty())
        std::memcpy(to, from.data(), from.size());
}

} // namespace

extern "C" {

static std::int32_t query_adapter_supported(std::uint32_t vendor_id, std::uint32_t device_id, std::uint32_t) noexcept {
    bool known = false;
    barrier([&] { known = glue::supported(vendor_id, device_id); });
    return known ? 1 : 0;
}

static std::int32_t get_adapter_info(const rocdxg_kmd_adapter *adapter, rocdxg_kmd_adapter_info *info) noexcept {
    return barrier([&] { output(info, glue::translate(adapters.parse(input(adapter))->info)); });
}

static std::int32_t get_allocation_sizes(const rocdxg_kmd_adapter *adapter, const rocdxg_kmd_allocation *allocation,
                                         rocdxg_kmd_allocation_sizes *sizes) noexcept {
    return barrier([&] {
        input(adapter);
        const glue::Sizes known = glue::sizes(input(allocation).count);
        rocdxg_kmd_allocation_sizes filled{};
        filled.driver_bytes = known.driver;
        filled.entry_bytes = known.entry;
        output(sizes, filled);
    });
}

static std::int32_t fill_allocation(const rocdxg_kmd_adapter *adapter, const rocdxg_kmd_allocation *allocation,
                                    std::uint32_t index, std::uint64_t offset, std::uint64_t bytes, void *driver,
                                    void *entry) noexcept {
    return barrier([&] {
        const rocdxg_kmd_adapter where = input(adapter);
        const rocdxg_kmd_allocation asked = input(allocation);
        require(index < asked.count && offset % kPage == 0);
        require(bytes != 0 && offset <= asked.bytes && bytes <= asked.bytes - offset);
        const glue::Sizes sizes = glue::sizes(asked.count);
        require(entry != nullptr && (index != 0 || sizes.driver == 0 || driver != nullptr));
        const glue::DevicePointer device = adapters.get(where);
        // In buffers of our own: aligned, zero where WKMI writes nothing, and the caller's are left alone on failure.
        std::vector<unsigned char> driver_blob(index == 0 ? sizes.driver : 0), entry_blob(sizes.entry);
        glue::fill_entry(*device, asked, offset, bytes, entry_blob.data());
        if (!driver_blob.empty())
            glue::fill_driver(*device, asked, driver_blob.data());
        copy(driver, driver_blob);
        copy(entry, entry_blob);
    });
}

static std::int32_t parse_allocation(const rocdxg_kmd_adapter *adapter, const void *entry, std::uint32_t entry_bytes,
                                     rocdxg_kmd_surface *surface) noexcept {
    return barrier([&] {
        input(adapter);
        // WKMI gets no length, so a blob that is shorter than its own is never shown to it.
        require(entry != nullptr && entry_bytes != 0 && entry_bytes >= glue::sizes(1).entry);
        const auto *first = static_cast<const unsigned char *>(entry);
        const std::vector<unsigned char> blob(first, first + entry_bytes);
        output(surface, glue::read(blob.data()));
    });
}

const rocdxg_kmd_provider *rocdxg_kmd_get_provider(std::uint32_t version) {
    static constexpr rocdxg_kmd_provider table{
        sizeof(rocdxg_kmd_provider), ROCDXG_KMD_VERSION,   "WKMI",          query_adapter_supported,
        get_adapter_info,            get_allocation_sizes, fill_allocation, parse_allocation,
    };
    return version == ROCDXG_KMD_VERSION ? &table : nullptr;
}

} // extern "C"
