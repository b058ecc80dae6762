/* Memory on WSL, with the provider of the software libdxcore. Argument: number of GPUs. */
#define _GNU_SOURCE
#include "check.h"
#include "hsakmt/rocdxg_smi.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define NO_MEMORY HSAKMT_STATUS_NO_MEMORY
#define ERROR HSAKMT_STATUS_ERROR
#define NOT_REGISTERED HSAKMT_STATUS_MEMORY_NOT_REGISTERED

static unsigned gpus;
static const HSAuint32 GPU = 1;

static int64_t (*live)(const char *);
static const char *(*violation)(uint64_t);
static uint64_t (*calls)(const char *);
static int (*fail)(const char *, uint64_t, int32_t);
static int (*refuse)(const char *, uint64_t);
static int (*gpu_read)(uint32_t, uint64_t, void *, uint64_t);
static int (*gpu_write)(uint32_t, uint64_t, const void *, uint64_t);

static HsaMemFlags flags(int unpaged, int host_access)
{
    HsaMemFlags flags = { .Value = 0 };
    flags.ui32.NonPaged = unpaged;
    flags.ui32.HostAccess = host_access;
    flags.ui32.CoarseGrain = 1;
    return flags;
}

/* Kernel objects of memory: what a call must leave as it was. */
static int64_t held(void)
{
    return live("allocations") + live("mappings") + live("residents") + live("pins") + live("resources");
}

/* The GPU sees what was written, and what it writes is seen. */
static void gpu_uses(uint32_t adapter, void *at, uint64_t bytes, int cpu_too)
{
    unsigned char there[64], wrote[64];
    uint64_t last = (uintptr_t)at + bytes - sizeof there;
    memset(wrote, 0xa5, sizeof wrote);
    CHECK_EQ(gpu_write(adapter, last, wrote, sizeof wrote), 0);
    CHECK_EQ(gpu_read(adapter, last, there, sizeof there), 0);
    CHECK(memcmp(there, wrote, sizeof there) == 0);
    if (cpu_too) {
        CHECK(memcmp((void *)(uintptr_t)last, wrote, sizeof wrote) == 0);
        memset(at, 0x3c, 64);
        CHECK_EQ(gpu_read(adapter, (uintptr_t)at, there, sizeof there), 0);
        CHECK(there[0] == 0x3c && there[63] == 0x3c);
    }
}

/* One allocation through its whole life. */
static void life(HSAuint32 node, HsaMemFlags how, uint64_t bytes, int host)
{
    /* Of the first piece a block stays behind for the next one. */
    CHECK_EQ(hsaKmtFreeMemory(alloc(node, 4096, how), 0), OK);
    int64_t before = held();
    char *at = alloc(node, bytes, how);
    if (host) {
        CHECK(at[0] == 0 && at[bytes - 1] == 0);
        memset(at, 0x5a, bytes);
    }
    gpu_uses(0, at, bytes, host);
    HsaPointerInfo known = info(at + bytes - 1);
    CHECK(known.Type == HSA_POINTER_ALLOCATED && known.Node == node && known.MemFlags.Value == how.Value);
    CHECK(known.GPUAddress == (uintptr_t)at && known.SizeInBytes == bytes);
    CHECK(known.CPUAddress == (host ? at : NULL));
    CHECK_EQ(hsaKmtSetMemoryUserData(at, &known), OK);
    HSAuint64 seen = 0;
    CHECK_EQ(hsaKmtMapMemoryToGPU(at, bytes, &seen), OK);
    CHECK(seen == (uintptr_t)at);
    known = info(at);
    CHECK(known.NMappedNodes == (host ? gpus : 1) && known.MappedNodes[0] == 1 && known.UserData == &known);
    for (unsigned adapter = 0; host && adapter < gpus; adapter++)
        gpu_uses(adapter, at, bytes, 1);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(at), OK);
    CHECK_EQ(hsaKmtFreeMemory(at, bytes), OK);
    HsaPointerInfo gone;
    CHECK_EQ(hsaKmtQueryPointerInfo(at, &gone), ERROR);
    CHECK(gone.Type == HSA_POINTER_UNKNOWN && gone.SizeInBytes == 0);
    CHECK_EQ(hsaKmtFreeMemory(at, bytes), NOT_REGISTERED);
    CHECK_EQ(held(), before);
}

static void every_kind(void)
{
    life(GPU, flags(1, 0), 4096, 0);
    life(GPU, flags(1, 0), 3 << 20, 0);
    life(GPU, flags(1, 0), 200 << 20, 0);
    life(0, flags(0, 1), 4096, 1);
    life(0, flags(0, 1), 5 << 20, 1);
    life(0, flags(1, 1), 64 << 10, 1);
    HsaMemFlags fine = flags(0, 1);
    fine.ui32.CoarseGrain = 0;
    life(0, fine, 8192, 1);

    /* Wishes are honoured or refused, never bent (items 23 to 27). */
    void *at = NULL;
    CHECK_EQ(hsaKmtAllocMemoryAlign(GPU, 2 << 20, 1 << 30, flags(1, 0), &at), OK);
    CHECK((uintptr_t)at % (1 << 30) == 0);
    HsaMemFlags fixed = flags(1, 0);
    fixed.ui32.FixedAddress = 1;
    void *wanted = at;
    CHECK_EQ(hsaKmtAllocMemory(GPU, 2 << 20, fixed, &wanted), NO_MEMORY);
    CHECK(wanted == at);
    CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
    /* In the middle of what is free. */
    wanted = (char *)at + (16 << 20);
    void *inside = wanted;
    CHECK_EQ(hsaKmtAllocMemory(GPU, 2 << 20, fixed, &inside), OK);
    CHECK(inside == wanted);
    CHECK_EQ(hsaKmtFreeMemory(inside, 0), OK);
    wanted = (void *)0x1000;
    CHECK_EQ(hsaKmtAllocMemory(GPU, 4096, fixed, &wanted), NO_MEMORY);

    /* Addresses alone, which get memory when they are mapped (item 33). */
    HsaMemFlags bare = flags(1, 0);
    bare.ui32.OnlyAddress = 1;
    int64_t before = held();
    void *range = alloc(GPU, 4 << 20, bare);
    CHECK(info(range).Type == HSA_POINTER_RESERVED_ADDR && held() == before);
    HSAuint64 seen;
    CHECK_EQ(hsaKmtMapMemoryToGPU(range, 4 << 20, &seen), OK);
    gpu_uses(0, range, 4 << 20, 0);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(range), OK);
    CHECK_EQ(hsaKmtFreeMemory(range, 0), OK);
    CHECK(held() == before);
}

static void bad_arguments(void)
{
    int64_t before = held();
    void *at = NULL;
    CHECK_EQ(hsaKmtAllocMemory(GPU, 0, flags(1, 0), &at), BAD);
    CHECK_EQ(hsaKmtAllocMemory(GPU, 4097, flags(1, 0), &at), BAD);
    CHECK_EQ(hsaKmtAllocMemory(99, 4096, flags(1, 0), &at), NO_NODE);
    CHECK_EQ(hsaKmtAllocMemoryAlign(GPU, 4096, 3, flags(1, 0), &at), BAD);
    /* Report B066. */
    CHECK_EQ(hsaKmtAllocMemory(GPU, 1ull << 48, flags(1, 0), &at), NO_MEMORY);
    CHECK_EQ(hsaKmtAllocMemory(0, ~4095ull, flags(0, 1), &at), NO_MEMORY);
    HSAuint64 all;
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &all), OK);
    CHECK_EQ(hsaKmtAllocMemory(GPU, (all + (1ull << 30)) & ~4095ull, flags(1, 0), &at), NO_MEMORY);
    CHECK(!at && held() == before);
    CHECK_EQ(hsaKmtFreeMemory(NULL, 0), BAD);
    CHECK_EQ(hsaKmtFreeMemory(&at, 0), NOT_REGISTERED);
    CHECK_EQ(hsaKmtDeregisterMemory(&at), NOT_REGISTERED);
    char *good = alloc(GPU, 4096, flags(1, 0));
    CHECK_EQ(hsaKmtFreeMemory(good + 8, 0), NOT_REGISTERED);
    HSAuint32 nodes[] = { 1, 77 }, cpu = 0;
    HSAuint64 seen;
    HsaMemFlags none = { .Value = 0 };
    CHECK_EQ(hsaKmtMapMemoryToGPUNodes(good, 4096, &seen, none, 2, nodes), NO_NODE);
    CHECK_EQ(hsaKmtMapMemoryToGPUNodes(good, 4096, &seen, none, 1, &cpu), BAD);
    CHECK_EQ(hsaKmtRegisterMemory(&seen, 0), BAD);
    CHECK_EQ(hsaKmtRegisterMemory((void *)16, ~0ull), BAD);
    CHECK_EQ(hsaKmtFreeMemory(good, 4096), OK);
    /* Report B075: any pointer may be asked for. */
    HsaPointerInfo stack;
    CHECK_EQ(hsaKmtQueryPointerInfo(&stack, &stack), ERROR);
    CHECK(stack.Type == HSA_POINTER_UNKNOWN && stack.SizeInBytes == 0 && !stack.UserData);
}

static void user_memory(void)
{
    int64_t before = held();
    char *pages = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    /* Report B063. */
    char *mine = pages + 0x234;
    memset(mine, 0x11, 5000);
    HSAuint64 seen = 0;
    CHECK_EQ(hsaKmtRegisterMemory(mine, 5000), OK);
    CHECK_EQ(hsaKmtMapMemoryToGPU(mine, 5000, &seen), OK);
    CHECK(seen % 4096 == 0x234);
    char *places[] = { mine, mine + 2500, mine + 4999, (char *)(uintptr_t)seen, (char *)(uintptr_t)seen + 4999 };
    for (unsigned i = 0; i < 5; i++) {
        HsaPointerInfo known = info(places[i]);
        CHECK(known.Type == HSA_POINTER_REGISTERED_USER && known.CPUAddress == mine && known.GPUAddress == seen);
        CHECK(known.SizeInBytes == 5000 && known.NMappedNodes == gpus);
    }
    HsaPointerInfo past;
    CHECK_EQ(hsaKmtQueryPointerInfo(mine + 5000, &past), ERROR);
    /* Report B064: every GPU sees it there. */
    for (unsigned adapter = 0; adapter < gpus; adapter++) {
        unsigned char there[16];
        CHECK_EQ(gpu_read(adapter, seen + 4984, there, sizeof there), 0);
        CHECK(there[0] == 0x11 && there[15] == 0x11);
    }
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(mine), OK);
    CHECK_EQ(hsaKmtDeregisterMemory(mine), OK);
    CHECK(held() == before);
    /* Overlapping, and larger the second time (item 43). */
    CHECK_EQ(hsaKmtRegisterMemory(pages, 4096), OK);
    CHECK_EQ(hsaKmtRegisterMemory(pages, 32768), OK);
    CHECK_EQ(hsaKmtRegisterMemory(pages + 16384, 32768), OK);
    CHECK_EQ(hsaKmtDeregisterMemory(pages), OK);
    CHECK_EQ(hsaKmtDeregisterMemory(pages), OK);
    CHECK_EQ(hsaKmtDeregisterMemory(pages), NOT_REGISTERED);
    CHECK_EQ(hsaKmtDeregisterMemory(pages + 16384), OK);
    CHECK(held() == before);
    CHECK(munmap(pages, 64 << 10) == 0);
    CHECK_EQ(hsaKmtRegisterMemory(pages, 4096), NO_MEMORY);
    CHECK(held() == before);
}

static void sharing(void)
{
    /* Of the first piece a block stays behind for the next one. */
    CHECK_EQ(hsaKmtFreeMemory(alloc(GPU, 4096, flags(1, 0)), 0), OK);
    int64_t before = held();
    HsaMemFlags signals = flags(1, 1);
    struct { HSAuint32 node; HsaMemFlags how; uint64_t bytes; } kinds[] = {
        { GPU, flags(1, 0), 200 << 20 }, { GPU, flags(1, 0), 64 << 10 }, { 0, signals, 64 << 10 },
    };
    for (unsigned i = 0; i < 3; i++) {
        char *at = alloc(kinds[i].node, kinds[i].bytes, kinds[i].how);
        unsigned char mark[16], there[16];
        memset(mark, 0x70 + i, sizeof mark);
        CHECK_EQ(gpu_write(0, (uintptr_t)at + 4096, mark, sizeof mark), 0);
        int fd = -1;
        HSAuint64 offset = 77;
        CHECK_EQ(hsaKmtExportDMABufHandle(at + 4096, 4096, &fd, &offset), OK);
        CHECK(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
        HsaGraphicsResourceInfo taken;
        memset(&taken, 0, sizeof taken);
        HSAuint32 node = GPU;
        CHECK_EQ(hsaKmtRegisterGraphicsHandleToNodes((HSAuint64)fd, &taken, 1, &node), OK);
        CHECK(taken.MemoryAddress && taken.NodeId == GPU && taken.SizeInBytes >= kinds[i].bytes);
        CHECK(taken.MemoryAddress != at);
        CHECK_EQ(close(fd), 0);
        CHECK_EQ(gpu_read(0, (uintptr_t)taken.MemoryAddress + offset, there, sizeof there), 0);
        CHECK(memcmp(there, mark, sizeof mark) == 0);
        CHECK(info(taken.MemoryAddress).Type == HSA_POINTER_REGISTERED_SHARED);
        /* It lives as long as somebody has it. */
        CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
        CHECK_EQ(gpu_read(0, (uintptr_t)taken.MemoryAddress + offset, there, sizeof there), 0);
        CHECK(memcmp(there, mark, sizeof mark) == 0);
        CHECK_EQ(hsaKmtDeregisterMemory(taken.MemoryAddress), OK);
        CHECK_EQ(hsaKmtDeregisterMemory(taken.MemoryAddress), NOT_REGISTERED);
    }
    /* What is no memory, and ranges that end elsewhere (item 47). */
    char *at = alloc(GPU, 8192, flags(1, 0));
    int fd = -1;
    HSAuint64 offset;
    CHECK_EQ(hsaKmtExportDMABufHandle(at, 8193, &fd, &offset), BAD);
    CHECK_EQ(hsaKmtExportDMABufHandle(at + 8192, 1, &fd, &offset), ERROR);
    CHECK_EQ(fd, -1);
    CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
    HsaGraphicsResourceInfo taken;
    memset(&taken, 0, sizeof taken);
    HSAuint32 node = GPU;
    int files[] = { open("/dev/null", O_RDWR), open("/proc/self/exe", O_RDONLY), memfd_create("other", 0) };
    for (unsigned i = 0; i < 3; i++) {
        CHECK(files[i] >= 0);
        CHECK(hsaKmtRegisterGraphicsHandleToNodes((HSAuint64)files[i], &taken, 1, &node) != OK);
        CHECK_EQ(close(files[i]), 0);
    }
    CHECK_EQ(hsaKmtRegisterGraphicsHandleToNodes(9999, &taken, 1, &node), BAD);
    CHECK_EQ(hsaKmtRegisterGraphicsHandleToNodes(1ull << 40, &taken, 1, &node), BAD);
    CHECK_EQ(held(), before);
}

static void available(void)
{
    HSAuint64 all, rest;
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &all), OK);
    void *at = alloc(GPU, 256 << 20, flags(1, 0));
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &rest), OK);
    CHECK_EQ(all - rest, 256 << 20);
    /* Telemetry counts with the same numbers (item 56). */
    rocdxg_smi_vram_usage_t usage;
    CHECK_EQ(rocdxg_smi_get_vram_usage(GPU, &usage), OK);
    CHECK_EQ(usage.vram_total_mb - usage.vram_used_mb, rest >> 20);
    CHECK(usage.vram_used_mb >= 256 && usage.vram_used_mb <= usage.vram_total_mb);
    CHECK_EQ(rocdxg_smi_get_vram_usage(0, &usage), NO_NODE);
    CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &rest), OK);
    CHECK_EQ(rest, all);
    CHECK_EQ(rocdxg_smi_get_vram_usage(GPU, &usage), OK);
    CHECK_EQ(usage.vram_total_mb - usage.vram_used_mb, rest >> 20);
}

/* Something of everything; the first failure ends it. Whatever happens nothing stays. */
static HSAKMT_STATUS everything(void)
{
    void *own = NULL, *large = NULL, *paged = NULL;
    static char mine[100];
    HSAuint64 seen;
    int registered = 0;
    HSAKMT_STATUS first = hsaKmtAllocMemory(GPU, 8192, flags(1, 0), &own);
    if (!first)
        first = hsaKmtAllocMemory(GPU, 3ull << 30, flags(1, 0), &large);
    if (!first)
        first = hsaKmtMapMemoryToGPU(large, 3ull << 30, &seen);
    if (!first)
        first = hsaKmtAllocMemory(0, 8192, flags(0, 1), &paged);
    if (!first)
        first = hsaKmtMapMemoryToGPU(paged, 8192, &seen);
    if (!first)
        first = hsaKmtRegisterMemory(mine, sizeof mine), registered = !first;
    if (!first)
        first = hsaKmtMapMemoryToGPU(mine, sizeof mine, &seen);
    for (int tries = 0; tries < 2; tries++) {
        HSAKMT_STATUS last = OK;
        void **allocations[] = { &own, &large, &paged };
        for (int i = 0; i < 3; i++) {
            if (!*allocations[i])
                continue;
            if ((last = hsaKmtUnmapMemoryToGPU(*allocations[i])))
                first = first ? first : last;
            if ((last = hsaKmtFreeMemory(*allocations[i], 0)))
                first = first ? first : last;
            else
                *allocations[i] = NULL;
        }
        if (registered) {
            if ((last = hsaKmtUnmapMemoryToGPU(mine)))
                first = first ? first : last;
            if ((last = hsaKmtDeregisterMemory(mine)))
                first = first ? first : last;
            else
                registered = 0;
        }
    }
    CHECK(!own && !large && !paged && !registered);
    return first;
}

/* Each call fails at each position: a status, and nothing is lost or left. */
static void failures(void)
{
    CHECK_EQ(everything(), OK);
    int64_t before = held(), ranges = live("ranges");
    const char *names[] = { "CreateAllocation2", "MapGpuVirtualAddress", "MakeResident", "Evict", "DestroyAllocation2",
                            "WaitForSynchronizationObjectFromCpu" };
    /* A refusal as the stack shows it, no memory, a full ring (report: it looks like success), a lost device. */
    const int32_t statuses[] = { 0, (int32_t)0xC0000017, 0x102, (int32_t)0xC00002B6 };
    unsigned failed = 0;
    uint64_t broken = violations();
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned s = 0; s < sizeof statuses / sizeof *statuses; s++)
            for (uint64_t k = 1;; k++) {
                uint64_t made = calls(names[i]);
                CHECK_EQ(statuses[s] ? fail(names[i], k, statuses[s]) : refuse(names[i], k), 0);
                HSAKMT_STATUS status = everything();
                uint64_t came = calls(names[i]) - made;
                if (came < k) {
                    CHECK_EQ(status, OK);
                    /* The failure that was asked for and did not come is still to come. */
                    while (calls(names[i]) - made < k)
                        everything();
                    if (violations() != broken)
                        fprintf(stderr, "%s %llu as %x: %s\n", names[i], (unsigned long long)k, statuses[s], violation(broken));
                    CHECK_EQ(violations(), broken);
                    break;
                }
                failed++;
                CHECK(status == OK || status == ERROR || status == NO_MEMORY ||
                      status == HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR);
                if (held() != before || live("ranges") != ranges)
                    fprintf(stderr, "after %s %llu as %x: status %d\n", names[i], (unsigned long long)k, statuses[s],
                            status);
                CHECK_EQ(held(), before);
                CHECK_EQ(live("ranges"), ranges);
                if (violations() != broken)
                    fprintf(stderr, "%s %llu as %x: %s\n", names[i], (unsigned long long)k, statuses[s], violation(broken));
                CHECK_EQ(violations(), broken);
                CHECK_EQ(everything(), OK);
            }
    CHECK(failed >= 40);
}

static void *churn(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;
    void *mine[8] = { 0 };
    for (int i = 0; i < 300; i++) {
        unsigned slot = rand_r(&state) % 8;
        if (mine[slot]) {
            CHECK_EQ(hsaKmtFreeMemory(mine[slot], 0), OK);
            mine[slot] = NULL;
        } else {
            uint64_t bytes = (rand_r(&state) % 64 + 1) * 4096;
            int of_gpu = rand_r(&state) % 4;
            mine[slot] = alloc(of_gpu ? GPU + rand_r(&state) % gpus : 0, bytes, of_gpu ? flags(1, 0) : flags(0, 1));
            CHECK(info((char *)mine[slot] + bytes - 1).SizeInBytes == bytes);
        }
    }
    for (int i = 0; i < 8; i++)
        if (mine[i])
            CHECK_EQ(hsaKmtFreeMemory(mine[i], 0), OK);
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, churn, (void *)(i + 1)) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

static void forks(void)
{
    char *ours = alloc(0, 5 << 20, flags(0, 1)), *local = alloc(GPU, 4096, flags(1, 0));
    memset(ours, 0x5a, 5 << 20);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        HsaPointerInfo known;
        CHECK(ours[0] == 0x5a && ours[(5 << 20) - 1] == 0x5a);
        CHECK_EQ(hsaKmtQueryPointerInfo(ours, &known), CLOSED);
        CHECK_EQ(hsaKmtFreeMemory(local, 0), CLOSED);
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
        CHECK_EQ(hsaKmtCloseKFD(), OK);
        CHECK_EQ(hsaKmtOpenKFD(), OK);
        CHECK_EQ(acquire(), OK);
        CHECK_EQ(hsaKmtFreeMemory(local, 0), NOT_REGISTERED);
        CHECK_EQ(everything(), OK);
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
        CHECK_EQ(hsaKmtCloseKFD(), OK);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    gpu_uses(0, ours, 5 << 20, 1);
    CHECK_EQ(hsaKmtFreeMemory(ours, 0), OK);
    CHECK_EQ(hsaKmtFreeMemory(local, 0), OK);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    gpus = (unsigned)atoi(argv[1]);
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(acquire(), OK);
    *(void **)&violation = fake_symbol("rocdxg_fake_violation");
    *(void **)&live = fake_symbol("rocdxg_fake_live");
    *(void **)&calls = fake_symbol("rocdxg_fake_calls");
    *(void **)&fail = fake_symbol("rocdxg_fake_fail_with");
    *(void **)&refuse = fake_symbol("rocdxg_fake_fail");
    *(void **)&gpu_read = fake_symbol("rocdxg_fake_gpu_read");
    *(void **)&gpu_write = fake_symbol("rocdxg_fake_gpu_write");

    every_kind();
    bad_arguments();
    user_memory();
    sharing();
    available();
    failures();
    threads();
    forks();

    /* What is alive outlives release, and an acquire beside it; the last free closes what it needs. */
    char *kept = alloc(0, 1 << 20, flags(0, 1));
    memset(kept, 9, 1 << 20);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(info(kept).SizeInBytes, 1 << 20);
    gpu_uses(0, kept, 1 << 20, 1);
    CHECK_EQ(acquire(), OK);
    void *other = alloc(0, 1 << 20, flags(0, 1));
    CHECK_EQ(hsaKmtFreeMemory(kept, 0), OK);
    CHECK_EQ(hsaKmtFreeMemory(other, 0), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    /* Three files that are no memory: only the kernel knows. */
    for (uint64_t i = 0; i < violations(); i++)
        CHECK(strstr(violation(i), "names no shared resource"));
    CHECK_EQ(violations(), 3);
    return 0;
}
