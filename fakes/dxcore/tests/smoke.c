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

int main(int argc, char **argv) {
    const char *scenario = argc > 2 ? argv[2] : "";
    load(argv[1]);
    if (!strcmp(scenario, "clean")) {
        round_trip();
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
