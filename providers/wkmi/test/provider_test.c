/* SPDX-License-Identifier: MIT
 *
 * The provider around the stand-in, through its vtable alone: provider_test PROVIDER [fork].
 * The driver is the function `query` below. With "fork", also forks under busy threads; sanitizers do not survive that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../stand-in/format.h"
#include "rocdxg/kmd_provider.h"

#define CHECK_EQ(got, want)                                                                                     \
    do {                                                                                                        \
        unsigned long long got_ = (unsigned long long)(got), want_ = (unsigned long long)(want);                \
        if (got_ != want_) {                                                                                    \
            fprintf(stderr, "%s:%d: %s is %#llx, not %#llx\n", __FILE__, __LINE__, #got, got_, want_);          \
            _exit(1);                                                                                           \
        }                                                                                                       \
    } while (0)
#define CHECK(condition) CHECK_EQ(!!(condition), 1)

#define OK 0
#define UNSUCCESSFUL ((int32_t)0xC0000001u)
#define INVALID_PARAMETER ((int32_t)0xC000000Du)
#define NO_MEMORY ((int32_t)0xC0000017u)
#define OBJECT_NAME_NOT_FOUND ((int32_t)0xC0000034u)
#define REVISION_MISMATCH ((int32_t)0xC0000059u)
#define NO_VIDEO_MEMORY ((int32_t)0xC01E0100u)
#define PENDING 0x103

#define UP_TO(type, field) (offsetof(type, field) + sizeof((type){ 0 }.field))

static const rocdxg_kmd_provider *provider;

/* The driver: handles from STATUS on make the query end with what `refusal` says; others are device ids. */
#define STATUS 0x10000u
static _Atomic int32_t refusal;
static _Atomic int queries;

static int32_t query(void *args)
{
    struct { uint32_t adapter, type; void *data; uint32_t size; } *asked = args;
    struct { uint32_t physical, vendor, device, sub_vendor, sub_system, revision, bus; } *ids = asked->data;
    CHECK_EQ(asked->type, 31);
    CHECK_EQ(asked->size, sizeof *ids);
    atomic_fetch_add(&queries, 1);
    if (asked->adapter >= STATUS)
        return refusal;
    ids->vendor = 0x1002;
    ids->device = asked->adapter;
    ids->revision = 0xc8;
    return OK;
}

/* The adapter of a device id, which is its handle too; `luid` tells it from others. */
static rocdxg_kmd_adapter adapter_of(uint32_t device_id, uint32_t luid)
{
    return (rocdxg_kmd_adapter){ sizeof(rocdxg_kmd_adapter), device_id, luid, -1, query };
}

static rocdxg_kmd_allocation allocation(uint32_t domain, uint64_t bytes, uint64_t address, uint32_t count)
{
    return (rocdxg_kmd_allocation){ sizeof(rocdxg_kmd_allocation), domain, 0, 0, bytes, address, count, 0 };
}

static int untouched(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0xa5)
            return 0;
    return 1;
}

static void entry_point(const rocdxg_kmd_provider *(*get)(uint32_t))
{
    CHECK(get(0) == NULL && get(2) == NULL && get(UINT32_MAX) == NULL);
    provider = get(1);
    CHECK(provider != NULL && provider == get(1));
    CHECK_EQ(provider->struct_size, sizeof *provider);
    CHECK_EQ(provider->version, 1);
    CHECK(!strcmp(provider->name, "WKMI"));
    CHECK(provider->query_adapter_supported && provider->get_adapter_info && provider->get_allocation_sizes &&
          provider->fill_allocation && provider->parse_allocation);
}

static void supported(void)
{
    CHECK_EQ(provider->query_adapter_supported(0x1002, STAND_IN_DEVICE, 0), 1);
    CHECK_EQ(provider->query_adapter_supported(0x1002, 0x1234, 0), 0);
    CHECK_EQ(provider->query_adapter_supported(0x10de, STAND_IN_DEVICE, 0), 0);
    CHECK_EQ(provider->query_adapter_supported(0x1002, STAND_IN_SUPPORTED_THROWS, 0), 0);
    CHECK_EQ(queries, 0);
}

static void adapter_fields(void)
{
    rocdxg_kmd_adapter adapter = adapter_of(STAND_IN_DEVICE, 1);
    rocdxg_kmd_adapter_info info;
    memset(&info, 0xa5, sizeof info);
    info.struct_size = sizeof info;
    CHECK_EQ(provider->get_adapter_info(&adapter, &info), OK);
    rocdxg_kmd_adapter_info want = {
        .struct_size = sizeof info,
        .flags = ROCDXG_KMD_FLAG_DISCRETE | ROCDXG_KMD_FLAG_PLATFORM_ATOMICS | ROCDXG_KMD_FLAG_STATE_SHADOWING,
        .flags_known = 15, .device_id = STAND_IN_DEVICE, .revision = 0xc8, .pci_location = 0x508, .pci_domain = 2,
        .gfx_major = 11, .gfx_minor = 3, .gfx_stepping = 7, .asic_revision = 9, .family = 145, .compute_units = 44,
        .simd_per_cu = 4, .waves_per_cu = 48, .wavefront_size = 64, .shader_engines = 3, .arrays_per_engine = 1,
        .lds_bytes = 131072, .scratch_slots_per_cu = 24, .watch_points = 8, .num_xcc = 5, .sdma_engines = 6,
        .cp_queues = 10, .num_gws = 11, .mec_firmware = 321, .sdma_firmware = 123, .memory_bus_bits = 448,
        .memory_clock_mhz = 1111, .engine_clock_mhz = 2222, .gb_addr_config = 0x777, .unique_id = 0x1122334455667788,
        .l1_bytes = 16384, .l2_bytes = 1048576, .l3_bytes = 2097152, .local_bytes = 0x240000000,
        .non_local_bytes = 0x123456000, .counter_hz = 99000000, .lds_aperture = 0x3000000000000,
        .scratch_aperture = 0x4000000000000, .user_queue_bytes = 0x8000, .page_alignment = 0x20000,
        .big_page_alignment = 0x200000, .product_name = "WKMI stand-in",
    };
    for (size_t i = 0; i < sizeof info; i++)
        if (((char *)&info)[i] != ((char *)&want)[i]) {
            fprintf(stderr, "byte %zu of the adapter info differs\n", i);
            _exit(1);
        }
}

static void adapter_sizes(void)
{
    struct { rocdxg_kmd_adapter_info info; unsigned char more[64]; } room;
    rocdxg_kmd_adapter adapter = adapter_of(STAND_IN_DEVICE, 1);

    /* The caller knows less, or more. */
    size_t less = offsetof(rocdxg_kmd_adapter_info, compute_units);
    for (size_t size = 0; size <= sizeof room; size++) {
        memset(&room, 0xa5, sizeof room);
        room.info.struct_size = (uint32_t)size;
        int32_t status = provider->get_adapter_info(&adapter, &room.info);
        if (size < sizeof(uint32_t)) {
            CHECK_EQ(status, INVALID_PARAMETER);
            CHECK_EQ(room.info.struct_size, size);
            CHECK(untouched((char *)&room + 4, sizeof room - 4));
            continue;
        }
        size_t filled = size < sizeof room.info ? size : sizeof room.info;
        CHECK_EQ(status, OK);
        CHECK_EQ(room.info.struct_size, filled);
        CHECK(untouched((char *)&room + filled, sizeof room - filled));
        if (size >= less)
            CHECK_EQ(room.info.gfx_stepping, 7);
    }

    /* So does the writer of the adapter. */
    struct { rocdxg_kmd_adapter adapter; unsigned char more[8]; } longer = { .adapter = adapter, .more = { 1 } };
    longer.adapter.struct_size = sizeof longer;
    room.info.struct_size = sizeof room.info;
    CHECK_EQ(provider->get_adapter_info(&longer.adapter, &room.info), OK);
    int before = queries;
    adapter.struct_size = UP_TO(rocdxg_kmd_adapter, query_adapter_info) - 1;
    CHECK_EQ(provider->get_adapter_info(&adapter, &room.info), INVALID_PARAMETER);
    adapter = adapter_of(STAND_IN_DEVICE, 1);
    adapter.query_adapter_info = NULL;
    CHECK_EQ(provider->get_adapter_info(&adapter, &room.info), INVALID_PARAMETER);
    CHECK_EQ(provider->get_adapter_info(NULL, &room.info), INVALID_PARAMETER);
    CHECK_EQ(queries, before);
    adapter.query_adapter_info = query;
    CHECK_EQ(provider->get_adapter_info(&adapter, NULL), INVALID_PARAMETER);
}

static void adapter_failures(void)
{
    struct { uint32_t device; int32_t refusal, want; } cases[] = {
        { STATUS, OBJECT_NAME_NOT_FOUND, OBJECT_NAME_NOT_FOUND },
        { STATUS, REVISION_MISMATCH, REVISION_MISMATCH },
        { STATUS, (int32_t)0xC0001234u, (int32_t)0xC0001234u },
        { STATUS, PENDING, PENDING },
        { STAND_IN_PARSE_REVISION, OK, REVISION_MISMATCH },
        { STAND_IN_PARSE_BAD_ALLOC, OK, NO_MEMORY },
        { STAND_IN_PARSE_NUMBER, OK, UNSUCCESSFUL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rocdxg_kmd_adapter adapter = adapter_of(cases[i].device, 900 + (uint32_t)i);
        rocdxg_kmd_adapter_info info;
        memset(&info, 0xa5, sizeof info);
        info.struct_size = sizeof info;
        refusal = cases[i].refusal;
        CHECK_EQ(provider->get_adapter_info(&adapter, &info), cases[i].want);
        CHECK_EQ(info.struct_size, sizeof info);
        CHECK(untouched((char *)&info + 4, sizeof info - 4));
        /* A refusal is not remembered as an answer. */
        rocdxg_kmd_allocation asked = allocation(ROCDXG_KMD_DOMAIN_LOCAL, 4096, 0, 1);
        struct stand_in_driver driver;
        struct stand_in_part part;
        CHECK_EQ(provider->fill_allocation(&adapter, &asked, 0, 0, 4096, &driver, &part), cases[i].want);
    }
}

/* Fills all blobs of an allocation of `count` chunks and compares them. */
static void round_trip(const rocdxg_kmd_adapter *adapter, const rocdxg_kmd_allocation *asked, uint64_t chunk,
                       uint32_t device_id)
{
    rocdxg_kmd_allocation_sizes sizes;
    memset(&sizes, 0xa5, sizeof sizes);
    sizes.struct_size = sizeof sizes;
    CHECK_EQ(provider->get_allocation_sizes(adapter, asked, &sizes), OK);
    CHECK_EQ(sizes.struct_size, sizeof sizes);
    CHECK_EQ(sizes.driver_bytes, sizeof(struct stand_in_driver));
    CHECK_EQ(sizes.entry_bytes, sizeof(struct stand_in_part));
    CHECK_EQ(sizes.reserved0, 0);

    for (uint32_t index = 0; index < asked->count; index++) {
        /* The kernel's buffers have no alignment. */
        char driver_room[sizeof(struct stand_in_driver) + 2], part_room[sizeof(struct stand_in_part) + 2];
        memset(driver_room, 0xa5, sizeof driver_room);
        memset(part_room, 0xa5, sizeof part_room);
        uint64_t offset = index * chunk, bytes = index + 1 < asked->count ? chunk : asked->bytes - offset;
        void *driver_blob = index ? NULL : driver_room + 1;
        CHECK_EQ(provider->fill_allocation(adapter, asked, index, offset, bytes, driver_blob, part_room + 1), OK);

        struct stand_in_driver driver;
        struct stand_in_part part;
        memcpy(&driver, driver_room + 1, sizeof driver);
        memcpy(&part, part_room + 1, sizeof part);
        CHECK(untouched(part_room, 1) && untouched(part_room + 1 + sizeof part, 1));
        CHECK(untouched(driver_room, 1) && untouched(driver_room + 1 + sizeof driver, 1));
        if (index) {
            CHECK(untouched(driver_room, sizeof driver_room));
        } else {
            CHECK_EQ(driver.magic, STAND_IN_DRIVER);
            CHECK_EQ(driver.parts, asked->count);
            CHECK_EQ(driver.device_id, device_id);
            CHECK_EQ(driver.domain, asked->domain);
            CHECK_EQ(driver.size, asked->bytes);
        }
        CHECK_EQ(part.magic, STAND_IN_PART);
        CHECK_EQ(part.device_id, device_id);
        CHECK_EQ(part.domain, asked->domain);
        CHECK_EQ(part.mem_flags, asked->memory_flags);
        CHECK_EQ(part.engine_flags, asked->engine_flags);
        CHECK_EQ(part.size, bytes);
        CHECK_EQ(part.gpu_va, asked->address ? asked->address + offset : 0);
        /* All bytes are written, also those that WKMI leaves out. */
        CHECK(!part.padding[0] && !part.padding[1] && !part.padding[2]);

        rocdxg_kmd_surface surface;
        memset(&surface, 0xa5, sizeof surface);
        surface.struct_size = sizeof surface;
        CHECK_EQ(provider->parse_allocation(adapter, part_room + 1, sizeof part, &surface), OK);
        CHECK_EQ(surface.struct_size, sizeof surface);
        CHECK_EQ(surface.bytes, bytes);
        CHECK(!surface.flags && !surface.swizzle_mode && !surface.tile_swizzle);
    }
}

static void codes(void)
{
    rocdxg_kmd_adapter adapter = adapter_of(STAND_IN_DEVICE, 2);
    /* The numbers that WKMI has for each code happen to be ours; round_trip compares with them. */
    for (uint32_t domain = 0; domain < 4; domain++)
        for (uint32_t memory = 0; memory < 8; memory++)
            for (uint32_t engine = 0; engine < 16; engine++) {
                rocdxg_kmd_allocation asked = allocation(domain, 0x5000, 0x7f0000000000, 3);
                asked.memory_flags = memory;
                asked.engine_flags = engine;
                round_trip(&adapter, &asked, 0x2000, STAND_IN_DEVICE);
            }
    rocdxg_kmd_allocation nowhere = allocation(ROCDXG_KMD_DOMAIN_LOCAL, 0x3000, 0, 2);
    round_trip(&adapter, &nowhere, 0x2000, STAND_IN_DEVICE);
    rocdxg_kmd_allocation huge = allocation(ROCDXG_KMD_DOMAIN_LOCAL, UINT64_C(5) << 30, UINT64_C(1) << 40, 3);
    round_trip(&adapter, &huge, UINT64_C(2) << 30, STAND_IN_DEVICE);
    rocdxg_kmd_allocation last = allocation(ROCDXG_KMD_DOMAIN_LOCAL, 0x1000, (UINT64_C(1) << 48) - 0x1000, 1);
    round_trip(&adapter, &last, 0x1000, STAND_IN_DEVICE);
}

static void bad_requests(void)
{
    rocdxg_kmd_adapter adapter = adapter_of(STAND_IN_DEVICE, 2);
    rocdxg_kmd_allocation good = allocation(ROCDXG_KMD_DOMAIN_LOCAL, 0x4000, 0x10000, 2), bad[16];
    size_t count = 0;
#define BAD(field, value) (bad[count] = good, bad[count++].field = (value))
    BAD(struct_size, UP_TO(rocdxg_kmd_allocation, reserved0) - 1);
    BAD(domain, 4);
    BAD(domain, UINT32_MAX);
    BAD(memory_flags, 8);
    BAD(memory_flags, 1u << 31 | 1);
    BAD(engine_flags, 16);
    BAD(bytes, 0);
    BAD(bytes, 0x4001);
    BAD(bytes, UINT64_MAX - 0xfff);
    BAD(address, 0x10800);
    BAD(address, UINT64_C(1) << 48);
    BAD(address, UINT64_MAX - 0xfff);
    BAD(count, 0);
    BAD(reserved0, 1);
    struct stand_in_driver driver;
    struct stand_in_part part;
    rocdxg_kmd_allocation_sizes sizes;
    memset(&driver, 0xa5, sizeof driver);
    memset(&part, 0xa5, sizeof part);
    memset(&sizes, 0xa5, sizeof sizes);
    sizes.struct_size = sizeof sizes;
    for (size_t i = 0; i <= count; i++) {
        const rocdxg_kmd_allocation *asked = i < count ? &bad[i] : NULL;
        CHECK_EQ(provider->get_allocation_sizes(&adapter, asked, &sizes), INVALID_PARAMETER);
        CHECK_EQ(provider->fill_allocation(&adapter, asked, 0, 0, 0x2000, &driver, &part), INVALID_PARAMETER);
    }
    CHECK_EQ(provider->get_allocation_sizes(NULL, &good, &sizes), INVALID_PARAMETER);
    CHECK_EQ(provider->get_allocation_sizes(&adapter, &good, NULL), INVALID_PARAMETER);

    struct { uint32_t index; uint64_t offset, bytes; void *driver, *entry; } fills[] = {
        { 2, 0, 0x2000, &driver, &part },
        { 0, 0x800, 0x2000, &driver, &part },
        { 0, 0, 0, &driver, &part },
        { 1, 0x2000, 0x2001, &driver, &part },
        { 1, 0x5000, 0x1000, &driver, &part },
        { 1, UINT64_MAX - 0xfff, 0x1000, &driver, &part },
        { 1, 0x1000, UINT64_MAX - 0xfff, &driver, &part },
        { 0, 0, 0x2000, NULL, &part },
        { 0, 0, 0x2000, &driver, NULL },
    };
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        CHECK_EQ(provider->fill_allocation(&adapter, &good, fills[i].index, fills[i].offset, fills[i].bytes,
                                           fills[i].driver, fills[i].entry), INVALID_PARAMETER);
    CHECK_EQ(provider->fill_allocation(NULL, &good, 0, 0, 0x2000, &driver, &part), INVALID_PARAMETER);

    /* What WKMI says, and what it throws. */
    struct { uint64_t address; int32_t want; } cases[] = {
        { STAND_IN_DRIVER_THROWS, UNSUCCESSFUL }, { STAND_IN_DRIVER_REFUSED, NO_VIDEO_MEMORY },
        { STAND_IN_PART_THROWS, UNSUCCESSFUL }, { STAND_IN_PART_REFUSED, NO_VIDEO_MEMORY },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rocdxg_kmd_allocation asked = good;
        asked.address = cases[i].address;
        CHECK_EQ(provider->fill_allocation(&adapter, &asked, 0, 0, 0x2000, &driver, &part), cases[i].want);
    }
    rocdxg_kmd_allocation many = good;
    many.count = STAND_IN_SIZE_THROWS;
    CHECK_EQ(provider->get_allocation_sizes(&adapter, &many, &sizes), UNSUCCESSFUL);
    CHECK(untouched(&driver, sizeof driver) && untouched(&part, sizeof part));
    CHECK(untouched((char *)&sizes + 4, sizeof sizes - 4));

    /* Structures of another age. */
    struct { rocdxg_kmd_allocation asked; unsigned char more[8]; } newer = { .asked = good, .more = { 1 } };
    newer.asked.struct_size = sizeof newer;
    sizes.struct_size = UP_TO(rocdxg_kmd_allocation_sizes, driver_bytes);
    CHECK_EQ(provider->get_allocation_sizes(&adapter, &newer.asked, &sizes), OK);
    CHECK_EQ(sizes.struct_size, UP_TO(rocdxg_kmd_allocation_sizes, driver_bytes));
    CHECK_EQ(sizes.driver_bytes, sizeof driver);
    CHECK(untouched(&sizes.entry_bytes, 4));
    struct { rocdxg_kmd_allocation_sizes sizes; unsigned char more[8]; } room;
    memset(&room, 0xa5, sizeof room);
    room.sizes.struct_size = sizeof room;
    CHECK_EQ(provider->get_allocation_sizes(&adapter, &good, &room.sizes), OK);
    CHECK_EQ(room.sizes.struct_size, sizeof room.sizes);
    CHECK(untouched(room.more, sizeof room.more));
}

static void sign(struct stand_in_part *part)
{
    uint32_t words[offsetof(struct stand_in_part, padding) / 4], total = 1;
    memcpy(words, part, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        total = total * 31 + words[i];
    part->sum = total;
}

static int32_t parse(const void *blob, size_t size, rocdxg_kmd_surface *surface)
{
    rocdxg_kmd_adapter adapter = adapter_of(STAND_IN_DEVICE, 2);
    return provider->parse_allocation(&adapter, blob, (uint32_t)size, surface);
}

static void imports(void)
{
    struct { struct stand_in_part part; char more[4]; } blob = {
        .part = { STAND_IN_PART, 0x7550, 1, 2, 0, 1, 0x7000, 0x9000, 27, 5, { 1, 2, 3 }, 0 },
    };
    rocdxg_kmd_surface surface;
    memset(&surface, 0xa5, sizeof surface);
    surface.struct_size = sizeof surface;
    sign(&blob.part);

    CHECK_EQ(parse(NULL, sizeof blob.part, &surface), INVALID_PARAMETER);
    CHECK_EQ(parse(&blob, 0, &surface), INVALID_PARAMETER);
    /* In memory of its own size, so that AddressSanitizer sees reads beyond. */
    for (size_t size = 1; size < sizeof blob.part; size++) {
        void *shorter = memcpy(malloc(size), &blob, size);
        CHECK_EQ(parse(shorter, size, &surface), INVALID_PARAMETER);
        free(shorter);
    }
    blob.part.size ^= 0x1000;
    CHECK_EQ(parse(&blob, sizeof blob.part, &surface), INVALID_PARAMETER);
    blob.part.size = STAND_IN_READ_THROWS;
    sign(&blob.part);
    CHECK_EQ(parse(&blob, sizeof blob.part, &surface), UNSUCCESSFUL);
    blob.part.size = STAND_IN_SWIZZLE_THROWS;
    sign(&blob.part);
    CHECK_EQ(parse(&blob, sizeof blob.part, &surface), UNSUCCESSFUL);
    CHECK_EQ(surface.struct_size, sizeof surface);
    CHECK(untouched((char *)&surface + 4, sizeof surface - 4));

    blob.part.size = 0x7000;
    sign(&blob.part);
    CHECK_EQ(parse(&blob, sizeof blob.part, NULL), INVALID_PARAMETER);
    CHECK_EQ(provider->parse_allocation(NULL, &blob, sizeof blob.part, &surface), INVALID_PARAMETER);
    for (size_t size = sizeof blob.part; size <= sizeof blob; size++) {
        CHECK_EQ(parse(&blob, size, &surface), OK);
        CHECK_EQ(surface.struct_size, sizeof surface);
        CHECK_EQ(surface.flags, ROCDXG_KMD_SURFACE_SWIZZLE_KNOWN);
        CHECK_EQ(surface.bytes, 0x7000);
        CHECK_EQ(surface.swizzle_mode, 27);
        CHECK_EQ(surface.tile_swizzle, 5);
    }
    memset(&surface, 0xa5, sizeof surface);
    surface.struct_size = UP_TO(rocdxg_kmd_surface, bytes);
    CHECK_EQ(parse(&blob, sizeof blob.part, &surface), OK);
    CHECK_EQ(surface.struct_size, UP_TO(rocdxg_kmd_surface, bytes));
    CHECK(untouched(&surface.swizzle_mode, 8));
}

static int fill_of(uint32_t device_id, uint32_t luid)
{
    rocdxg_kmd_adapter adapter = adapter_of(device_id, luid);
    rocdxg_kmd_allocation asked = allocation(ROCDXG_KMD_DOMAIN_LOCAL, 4096, 0, 1);
    struct stand_in_driver driver;
    struct stand_in_part part;
    int before = queries;
    CHECK_EQ(provider->fill_allocation(&adapter, &asked, 0, 0, 4096, &driver, &part), OK);
    CHECK_EQ(part.device_id, driver.device_id);
    if (part.device_id != device_id) {
        fprintf(stderr, "adapter %u has device %#x, not %#x\n", luid, part.device_id, device_id);
        _exit(1);
    }
    return queries - before;
}

/* One thread alone: the driver is asked once per LUID, and of the LUIDs the last 32 that were used are known. */
static void cache(void)
{
    CHECK_EQ(fill_of(0x7400, 1000), 1);
    CHECK_EQ(fill_of(0x7400, 1000), 0);
    /* Both halves of a LUID count, and the handle does not: it may be another at each open. */
    rocdxg_kmd_adapter other = adapter_of(0x7401, 1000);
    other.luid_high = 0;
    rocdxg_kmd_adapter_info info = { .struct_size = sizeof info };
    int before = queries;
    CHECK_EQ(provider->get_adapter_info(&other, &info), OK);
    CHECK_EQ(info.device_id, 0x7401);
    CHECK_EQ(fill_of(0x7400, 1000), 0);
    /* An adapter that is asked for anew is asked anew, and replaces what was known. */
    rocdxg_kmd_adapter again = adapter_of(0x7402, 1000);
    CHECK_EQ(provider->get_adapter_info(&again, &info), OK);
    CHECK_EQ(queries, before + 2);
    CHECK_EQ(fill_of(0x7402, 1000), 0);

    for (uint32_t luid = 1; luid <= 32; luid++)
        CHECK_EQ(fill_of(0x7400 + luid, 2000 + luid), 1);
    for (uint32_t luid = 1; luid <= 32; luid++)
        CHECK_EQ(fill_of(0x7400 + luid, 2000 + luid), 0);
    CHECK_EQ(fill_of(0x7400, 2000), 1);
    CHECK_EQ(fill_of(0x7401, 2001), 1);
    CHECK_EQ(fill_of(0x7403, 2003), 0);
}

static _Atomic int stop;

static void *worker(void *argument)
{
    uint32_t seed = (uint32_t)(uintptr_t)argument;
    for (int i = 0; argument ? i < 400 : !stop; i++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t which = seed >> 20 & 63;
        rocdxg_kmd_adapter adapter = adapter_of(0x7400 + which, 3000 + which);
        if (seed >> 16 & 1) {
            rocdxg_kmd_adapter_info info = { .struct_size = sizeof info };
            CHECK_EQ(provider->get_adapter_info(&adapter, &info), OK);
            CHECK_EQ(info.device_id, 0x7400 + which);
        }
        CHECK_EQ(provider->query_adapter_supported(0x1002, 0x7400 + which, 0), 1);
        rocdxg_kmd_allocation asked = allocation(seed >> 8 & 3, 0x5000, 0x10000, 3);
        round_trip(&adapter, &asked, 0x2000, 0x7400 + which);
    }
    return NULL;
}

static void *first_of_all(void *adapter)
{
    rocdxg_kmd_allocation asked = allocation(ROCDXG_KMD_DOMAIN_LOCAL, 0x1000, 0, 1);
    round_trip(adapter, &asked, 0x1000, 0x7500);
    return NULL;
}

static void threads(void)
{
    pthread_t all[8];
    for (uintptr_t i = 0; i < 8; i++)
        CHECK_EQ(pthread_create(&all[i], NULL, worker, (void *)(i + 1)), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(all[i], NULL);
    /* Threads that meet at an adapter nobody knows ask once. */
    rocdxg_kmd_adapter fresh = adapter_of(0x7500, 4000);
    int before = queries;
    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_create(&all[i], NULL, first_of_all, &fresh), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(all[i], NULL);
    CHECK_EQ(queries, before + 1);
}

/* Children of a busy process find no lock taken, and end. */
static void forks(void)
{
    pthread_t all[8];
    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_create(&all[i], NULL, worker, NULL), 0);
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            alarm(20);
            fill_of(0x7401, 5000);
            fill_of(0x7402, 3002);
            exit(0);
        }
        int status;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    stop = 1;
    for (int i = 0; i < 8; i++)
        pthread_join(all[i], NULL);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    for (int load = 0; load < 2; load++) {
        queries = 0;
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        const rocdxg_kmd_provider *(*get)(uint32_t);
        *(void **)&get = dlsym(library, "rocdxg_kmd_get_provider");
        CHECK(get);
        entry_point(get);
        supported();
        adapter_fields();
        adapter_sizes();
        adapter_failures();
        codes();
        bad_requests();
        imports();
        cache();
        threads();
        if (argc > 2 && !load)
            forks();
        CHECK_EQ(dlclose(library), 0);
        /* Nothing holds it, and nothing of it is called any more. */
        CHECK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL);
        pid_t child = fork();
        if (!child)
            _exit(0);
        int status;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    return 0;
}
