/* Uses libdxcore.so as a C program does: argv[1] is its path, argv[2] a scenario. Exits with 0 when all was as it
 * should be, with the line number of the first surprise otherwise (modulo 256). What it leaves behind and what the
 * library writes to standard error is looked at by library.rs. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rocdxg/kmd_provider.h"
#include "rocdxg_fake.h"

struct adapter_info {
    uint32_t handle, luid_low;
    int32_t luid_high;
    uint32_t sources;
    int32_t precise;
};

struct enum3 {
    uint64_t filter;
    uint32_t count;
    struct adapter_info *adapters;
};

struct create_device {
    uint64_t adapter;
    uint32_t flags, device;
    void *unused[6];
};

struct create_queue {
    uint32_t device, priority, queue, fence;
    volatile uint64_t *value;
    uint32_t physical;
};

#define UNSUCCESSFUL ((int32_t)0xC0000001u)
#define INVALID_PARAMETER ((int32_t)0xC000000Du)

#define CHECK(what)                                                    \
    do {                                                               \
        if (!(what)) {                                                 \
            printf("line %d: %s\n", __LINE__, #what);                  \
            exit(__LINE__ % 256 ? __LINE__ % 256 : 255);               \
        }                                                              \
    } while (0)

static void *library;

static int32_t call(const char *name, void *args) {
    int32_t (*entry)(void *);
    *(void **)&entry = dlsym(library, name);
    CHECK(entry != NULL);
    return entry(args);
}

static uint64_t ask(const char *name) {
    uint64_t (*entry)(void);
    *(void **)&entry = dlsym(library, name);
    CHECK(entry != NULL);
    return entry();
}

static void load(const char *path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) printf("%s\n", dlerror());
    CHECK(library != NULL);
}

static uint32_t adapter(void) {
    struct adapter_info records[8];
    struct enum3 args = {1, 8, records};
    CHECK(call("D3DKMTEnumAdapters3", &args) == 0);
    CHECK(args.count == 1);
    return records[0].handle;
}

static uint32_t device(uint32_t from) {
    struct create_device args;
    memset(&args, 0, sizeof args);
    args.adapter = from;
    CHECK(call("D3DKMTCreateDevice", &args) == 0);
    return args.device;
}

static void round_trip(void) {
    uint32_t a = adapter(), d = device(a);
    struct create_queue queue;
    memset(&queue, 0, sizeof queue);
    queue.device = d;
    CHECK(d != 0);
    CHECK(call("D3DKMTCreatePagingQueue", &queue) == 0);
    CHECK(*queue.value == 0);
    CHECK(ask("rocdxg_fake_live_objects") == 3);
    CHECK(call("D3DKMTDestroyPagingQueue", &queue.queue) == 0);
    CHECK(call("D3DKMTDestroyDevice", &d) == 0);
    CHECK(call("D3DKMTCloseAdapter", &a) == 0);
    CHECK(ask("rocdxg_fake_live_objects") == 0);
    CHECK(ask("rocdxg_fake_violations") == 0);
}

/* Open descriptors on a device file. */
static int nodes(void) {
    int found = 0;
    for (int fd = 0; fd < 64; fd++) {
        char link[64], target[512];
        ssize_t length;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        length = readlink(link, target, sizeof target - 1);
        if (length < 8) continue;
        target[length] = 0;
        found += strcmp(target + length - 8, "/dev/dxg") == 0;
    }
    return found;
}

struct allocation_info {
    uint32_t allocation;
    void *system_memory, *blob;
    uint32_t blob_bytes, source, flags;
    uint64_t address, priority, reserved[5];
};

struct create_allocation {
    uint32_t device, resource, global_share;
    const void *runtime;
    uint32_t runtime_bytes;
    const void *driver;
    uint32_t driver_bytes, count;
    struct allocation_info *entries;
    uint32_t flags;
    void *runtime_handle;
};

struct make_resident {
    uint32_t queue, count;
    const uint32_t *list, *priorities;
    uint32_t flags;
    uint64_t fence, trim;
};

struct map_address {
    uint32_t queue;
    uint64_t base, minimum, maximum;
    uint32_t allocation;
    uint64_t offset, pages, protection, driver_protection;
    uint32_t reserved0;
    uint64_t reserved1, address, fence;
};

struct wait_from_cpu {
    uint32_t device, count;
    const uint32_t *objects;
    const uint64_t *values;
    uint64_t event;
    uint32_t flags;
};

struct destroy_allocation {
    uint32_t device, resource;
    const uint32_t *list;
    uint32_t count, flags;
};

/* Memory as a thunk gets it: the provider's private data, creation, mapping, residency, a wait, and the GPU's view. */
static void memory(void) {
    enum { BYTES = 65536, PENDING = 0x103 };
    const rocdxg_kmd_provider *(*provider_of)(uint32_t);
    const rocdxg_kmd_provider *provider;
    int (*gpu_write)(uint32_t, uint64_t, const void *, uint64_t);
    int (*gpu_read)(uint32_t, uint64_t, void *, uint64_t);
    int64_t (*live)(const char *);
    uint64_t (*identity)(uint32_t);
    uint32_t a = adapter(), d = device(a);
    rocdxg_kmd_adapter door = {sizeof door, a, 0, 0, NULL};
    rocdxg_kmd_allocation asked = {sizeof asked, ROCDXG_KMD_DOMAIN_LOCAL, 0, 0, BYTES, 0, 1, 0};
    rocdxg_kmd_allocation_sizes sizes = {sizeof sizes, 0, 0, 0};
    unsigned char driver[512], entry[512], seen[16] = {0};
    struct create_queue queue;
    struct allocation_info info;
    struct create_allocation create;
    struct map_address map;
    struct make_resident resident;
    struct wait_from_cpu wait;
    struct destroy_allocation destroy;

    *(void **)&provider_of = dlsym(library, "rocdxg_kmd_get_provider");
    *(void **)&gpu_write = dlsym(library, "rocdxg_fake_gpu_write");
    *(void **)&gpu_read = dlsym(library, "rocdxg_fake_gpu_read");
    *(void **)&live = dlsym(library, "rocdxg_fake_live");
    *(void **)&identity = dlsym(library, "rocdxg_fake_identity");
    provider = provider_of(ROCDXG_KMD_VERSION);
    CHECK(provider != NULL && provider->struct_size >= sizeof *provider);
    CHECK(provider->get_allocation_sizes(&door, &asked, &sizes) == 0);
    CHECK(sizes.driver_bytes <= sizeof driver && sizes.entry_bytes <= sizeof entry);
    CHECK(provider->fill_allocation(&door, &asked, 0, 0, BYTES, driver, entry) == 0);

    memset(&queue, 0, sizeof queue);
    queue.device = d;
    CHECK(call("D3DKMTCreatePagingQueue", &queue) == 0);
    memset(&info, 0, sizeof info);
    info.blob = entry;
    info.blob_bytes = sizes.entry_bytes;
    memset(&create, 0, sizeof create);
    create.device = d;
    create.driver = driver;
    create.driver_bytes = sizes.driver_bytes;
    create.count = 1;
    create.entries = &info;
    CHECK(call("D3DKMTCreateAllocation2", &create) == 0);
    CHECK(live("allocations") == 1 && live("mappings") == 0 && live("no such kind") == -1);
    CHECK(identity(info.allocation) != 0 && identity(d) == 0);

    memset(&map, 0, sizeof map);
    map.queue = queue.queue;
    map.allocation = info.allocation;
    map.pages = BYTES / 4096;
    map.protection = 1;
    CHECK(call("D3DKMTMapGpuVirtualAddress", &map) == PENDING);
    CHECK(gpu_write(0, map.address, "x", 1) == -1);
    CHECK(ask("rocdxg_fake_gpu_faults") == 1);
    memset(&resident, 0, sizeof resident);
    resident.queue = queue.queue;
    resident.count = 1;
    resident.list = &info.allocation;
    CHECK(call("D3DKMTMakeResident", &resident) == PENDING);
    memset(&wait, 0, sizeof wait);
    wait.device = d;
    wait.count = 1;
    wait.objects = &queue.fence;
    wait.values = &resident.fence;
    CHECK(call("D3DKMTWaitForSynchronizationObjectFromCpu", &wait) == 0);
    CHECK(*queue.value == resident.fence);
    CHECK(gpu_write(0, map.address + BYTES - 5, "hello", 5) == 0);
    CHECK(gpu_read(0, map.address + BYTES - 5, seen, 5) == 0 && memcmp(seen, "hello", 5) == 0);
    CHECK(gpu_read(0, map.address + BYTES - 4, seen, 5) == -1);
    CHECK(ask("rocdxg_fake_gpu_faults") == 2);

    memset(&destroy, 0, sizeof destroy);
    destroy.device = d;
    destroy.list = &info.allocation;
    destroy.count = 1;
    CHECK(call("D3DKMTDestroyAllocation2", &destroy) == 0);
    CHECK(call("D3DKMTDestroyPagingQueue", &queue.queue) == 0);
    CHECK(call("D3DKMTDestroyDevice", &d) == 0);
    CHECK(call("D3DKMTCloseAdapter", &a) == 0);
    CHECK(ask("rocdxg_fake_live_objects") == 0 && ask("rocdxg_fake_violations") == 0);
}

int main(int argc, char **argv) {
    const char *scenario = argc > 2 ? argv[2] : "";
    load(argv[1]);
    if (!strcmp(scenario, "clean")) {
        round_trip();
    } else if (!strcmp(scenario, "memory")) {
        memory();
    } else if (!strcmp(scenario, "leak")) {
        CHECK(device(adapter()) != 0);
    } else if (!strcmp(scenario, "unload")) {
        for (int i = 0; i < 3; i++) {
            round_trip();
            CHECK(nodes() == 1);
            CHECK(device(adapter()) != 0);
            CHECK(dlclose(library) == 0);
            CHECK(nodes() == 0);
            CHECK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL);
            load(argv[1]);
        }
        round_trip();
    } else if (!strcmp(scenario, "twice")) {
        void *first = library;
        uint32_t a = adapter();
        load(argv[1]);
        CHECK(library == first);
        CHECK(call("D3DKMTCloseAdapter", &a) == 0);
        CHECK(dlclose(library) == 0);
        CHECK(ask("rocdxg_fake_live_objects") == 0);
    } else if (!strcmp(scenario, "refused")) {
        struct enum3 args = {1, 0, NULL};
        uint32_t none = 0;
        for (int i = 0; i < 3; i++) {
            CHECK(call("D3DKMTEnumAdapters3", &args) == UNSUCCESSFUL);
            CHECK(call("D3DKMTCloseAdapter", &none) == UNSUCCESSFUL);
        }
        CHECK(ask("rocdxg_fake_violations") == 0);
    } else if (!strcmp(scenario, "fails")) {
        uint32_t a = adapter();
        CHECK(device(a) == 0);
        CHECK(call("D3DKMTCloseAdapter", &a) == INVALID_PARAMETER);
        CHECK(ask("rocdxg_fake_live_objects") == 0);
        round_trip();
    } else if (!strcmp(scenario, "fork")) {
        uint32_t a = adapter();
        int status;
        pid_t child = fork();
        if (child == 0) {
            uint32_t own = adapter();
            CHECK(nodes() == 1);
            CHECK(call("D3DKMTCloseAdapter", &own) == 0);
            return 0;
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK(nodes() == 1);
        CHECK(call("D3DKMTCloseAdapter", &a) == 0);
    } else if (!strcmp(scenario, "violate")) {
        const char *(*text)(uint64_t);
        uint64_t (*calls)(const char *);
        uint32_t wild = 0x1234;
        *(void **)&text = dlsym(library, "rocdxg_fake_violation");
        *(void **)&calls = dlsym(library, "rocdxg_fake_calls");
        CHECK(call("D3DKMTDestroyDevice", &wild) == INVALID_PARAMETER);
        CHECK(ask("rocdxg_fake_violations") == 1);
        CHECK(strstr(text(0), "DestroyDevice: device handle 0x1234") == text(0));
        CHECK(text(1) == NULL);
        CHECK(calls(NULL) == 1 && calls("DestroyDevice") == 1 && calls("CreateDevice") == 0);
    } else {
        CHECK(!"a scenario");
    }
    return 0;
}
