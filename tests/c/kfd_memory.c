/* Memory and events on the software KFD, which is preloaded. Arguments: number of GPUs, and the report that alone is
 * looked at; without it everything else is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

enum { KFD_OPENS, RENDER_OPENS, PROCESSES, VMS, BUFFERS, MAPPINGS, EVENTS, COUNTS };

static uint64_t (*calls)(const char *);
static uint64_t (*violations)(void);
static int (*fail)(const char *, uint64_t, int);
static int (*ledger)(uint64_t[COUNTS]);
static unsigned gpus;
static const HSAuint32 GPU = 1;
/* The CPU reaches all memory of the GPU: only then may it ask for access to a part. */
static int large_bar;

static uint64_t live(int what)
{
    uint64_t counts[COUNTS];
    CHECK(ledger(counts) == 0);
    return counts[what];
}

/* What is alive apart from what lives as long as the process: one page of registers a GPU, and the event page. */
static uint64_t buffers(void)
{
    uint64_t mapped = live(MAPPINGS), all = live(BUFFERS);
    return all + (mapped << 32);
}

static HsaMemFlags flags(int unpaged, int host_access)
{
    HsaMemFlags flags = { .Value = 0 };
    flags.ui32.NonPaged = unpaged;
    flags.ui32.HostAccess = host_access;
    flags.ui32.PageSize = HSA_PAGE_SIZE_4KB;
    return flags;
}

/* Memory of a GPU, for the CPU too where that is possible. */
static HsaMemFlags local(void)
{
    return flags(1, large_bar);
}

/* One allocation through its whole life. */
static void life(HSAuint32 node, HsaMemFlags how, uint64_t bytes, int touch)
{
    uint64_t before = buffers();
    char *at = alloc(node, bytes, how);
    if (touch) {
        CHECK(at[0] == 0 && at[bytes - 1] == 0);
        memset(at, 0x5a, bytes);
        CHECK(at[bytes / 2] == 0x5a);
    }
    HsaPointerInfo known = info(at + bytes - 1);
    CHECK(known.Type == HSA_POINTER_ALLOCATED && known.Node == node && known.MemFlags.Value == how.Value);
    CHECK(known.GPUAddress == (uintptr_t)at && known.CPUAddress == at && known.SizeInBytes == bytes);
    CHECK(known.NMappedNodes == 0 && known.NRegisteredNodes == 0 && !known.UserData);
    CHECK_EQ(hsaKmtSetMemoryUserData(at, &known), OK);
    HSAuint64 seen = 0;
    CHECK_EQ(hsaKmtMapMemoryToGPU(at, bytes, &seen), OK);
    CHECK(seen == (uintptr_t)at);
    /* Once more is fine, and asks nobody. */
    uint64_t made = calls("MAP_MEMORY_TO_GPU");
    CHECK_EQ(hsaKmtMapMemoryToGPU(at, bytes, NULL), OK);
    CHECK(calls("MAP_MEMORY_TO_GPU") == made);
    known = info(at);
    /* Other GPUs reach local memory only where the whole of it is on the bus. */
    unsigned reached = node == GPU && how.ui32.NonPaged && !large_bar ? 1 : gpus;
    CHECK(known.NMappedNodes == reached && known.MappedNodes[0] == 1 && known.UserData == &known);
    const HSAuint32 *list = known.MappedNodes;
    /* Mapped memory is not freed, and stays what it was. */
    CHECK_EQ(hsaKmtFreeMemory(at, bytes), HSAKMT_STATUS_ERROR);
    CHECK(info(at).NMappedNodes == reached);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(at), OK);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(at), OK);
    CHECK(info(at).NMappedNodes == 0 && list[reached - 1] == reached);
    CHECK_EQ(hsaKmtFreeMemory(at, bytes), OK);
    CHECK(buffers() == before);
    HsaPointerInfo gone;
    CHECK_EQ(hsaKmtQueryPointerInfo(at, &gone), HSAKMT_STATUS_ERROR);
    CHECK(gone.Type == HSA_POINTER_UNKNOWN && gone.SizeInBytes == 0);
    CHECK_EQ(hsaKmtFreeMemory(at, bytes), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
    CHECK_EQ(hsaKmtMapMemoryToGPU(at, bytes, &seen), HSAKMT_STATUS_ERROR);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(at), HSAKMT_STATUS_ERROR);
}

static void every_kind(void)
{
    HsaMemFlags how = local();
    life(GPU, how, 4096, large_bar);
    life(GPU, how, 3 << 20, large_bar);
    how.ui32.CoarseGrain = 1;
    how.ui32.ExecuteAccess = 1;
    life(GPU, how, 64 << 10, large_bar);
    life(GPU, flags(1, 0), 2 << 20, 0);
    life(0, flags(0, 1), 5 << 20, 1);
    life(0, flags(1, 1), 12288, 1);
    how = flags(0, 1);
    how.ui32.AQLQueueMemory = 1;
    how.ui32.ExecuteAccess = 1;
    life(0, how, 64 << 10, 1);

    /* Large allocations begin at large pages; wishes are honoured. */
    char *large = alloc(GPU, 16 << 20, flags(1, 0));
    CHECK((uintptr_t)large % (2 << 20) == 0);
    CHECK_EQ(hsaKmtFreeMemory(large, 0), OK);
    void *aligned = NULL;
    CHECK_EQ(hsaKmtAllocMemoryAlign(0, 4096, 1 << 24, flags(1, 1), &aligned), OK);
    CHECK((uintptr_t)aligned % (1 << 24) == 0);
    /* An address that is taken is refused, and nothing there changes; once free it is honoured. */
    memset(aligned, 7, 4096);
    HsaMemFlags fixed = flags(1, 1);
    fixed.ui32.FixedAddress = 1;
    void *at = aligned;
    CHECK_EQ(hsaKmtAllocMemory(0, 4096, fixed, &at), HSAKMT_STATUS_NO_MEMORY);
    CHECK(*(char *)aligned == 7 && at == aligned);
    CHECK_EQ(hsaKmtFreeMemory(aligned, 4096), OK);
    CHECK_EQ(hsaKmtAllocMemory(0, 4096, fixed, &at), OK);
    CHECK(at == aligned && *(char *)at == 0);
    CHECK_EQ(hsaKmtFreeMemory(at, 4096), OK);

    /* Addresses alone. */
    HsaMemFlags bare = flags(1, 0);
    bare.ui32.OnlyAddress = 1;
    void *range = alloc(GPU, 1 << 30, bare);
    CHECK(info(range).Type == HSA_POINTER_RESERVED_ADDR);
    HSAuint64 seen;
    CHECK_EQ(hsaKmtMapMemoryToGPU(range, 4096, &seen), BAD);
    CHECK_EQ(hsaKmtFreeMemory(range, 0), OK);
}

static void bad_arguments(void)
{
    void *at = NULL;
    uint64_t before = buffers();
    CHECK_EQ(hsaKmtAllocMemory(GPU, 0, local(), &at), BAD);
    CHECK_EQ(hsaKmtAllocMemory(GPU, 4097, local(), &at), BAD);
    CHECK_EQ(hsaKmtAllocMemory(GPU, 4096, local(), NULL), BAD);
    CHECK_EQ(hsaKmtAllocMemory(99, 4096, local(), &at), HSAKMT_STATUS_INVALID_NODE_UNIT);
    CHECK_EQ(hsaKmtAllocMemory(GPU, 1ull << 50, local(), &at), HSAKMT_STATUS_NO_MEMORY);
    CHECK_EQ(hsaKmtAllocMemory(0, ~4095ull, flags(0, 1), &at), HSAKMT_STATUS_NO_MEMORY);
    CHECK_EQ(hsaKmtAllocMemory(GPU, 1ull << 40, local(), &at), HSAKMT_STATUS_NO_MEMORY);
    CHECK(!at);
    HsaMemFlags odd = local();
    odd.ui32.ExtendedCoherent = odd.ui32.CoarseGrain = 1;
    CHECK_EQ(hsaKmtAllocMemory(GPU, 4096, odd, &at), BAD);
    odd = local();
    odd.ui32.PageSize = HSA_PAGE_SIZE_2MB;
    CHECK_EQ(hsaKmtAllocMemory(GPU, 4096, odd, &at), BAD);
    odd = local();
    odd.ui32.FixedAddress = 1;
    at = NULL;
    CHECK_EQ(hsaKmtAllocMemory(GPU, 4096, odd, &at), BAD);
    at = (void *)(1ull << 60);
    CHECK_EQ(hsaKmtAllocMemory(GPU, 4096, odd, &at), HSAKMT_STATUS_NO_MEMORY);
    CHECK_EQ(hsaKmtFreeMemory(NULL, 0), BAD);
    CHECK_EQ(hsaKmtFreeMemory(&at, 0), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
    CHECK_EQ(hsaKmtDeregisterMemory(&at), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
    HSAuint32 nodes[] = { 1, 77 }, cpu = 0;
    char *good = alloc(GPU, 4096, local());
    CHECK_EQ(hsaKmtFreeMemory(good + 8, 0), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
    HSAuint64 seen;
    HsaMemFlags none = { .Value = 0 };
    CHECK_EQ(hsaKmtMapMemoryToGPUNodes(good, 4096, &seen, none, 2, nodes), HSAKMT_STATUS_INVALID_NODE_UNIT);
    CHECK_EQ(hsaKmtMapMemoryToGPUNodes(good, 4096, &seen, none, 1, &cpu), BAD);
    CHECK_EQ(hsaKmtMapMemoryToGPUNodes(good, 4096, &seen, none, 1ull << 40, nodes), BAD);
    CHECK(info(good).NMappedNodes == 0);
    CHECK_EQ(hsaKmtRegisterMemory(&seen, 0), BAD);
    CHECK_EQ(hsaKmtRegisterMemory((void *)16, ~0ull), BAD);
    CHECK_EQ(hsaKmtFreeMemory(good, 4096), OK);
    CHECK(buffers() == before);
}

static void some_nodes(void)
{
    HsaMemFlags none = { .Value = 0 };
    HSAuint32 first = 1, last = gpus, all[8], twice[] = { 1, 1 };
    for (unsigned i = 0; i < gpus; i++)
        all[i] = i + 1;
    HSAuint64 seen;
    char *at = alloc(0, 8192, flags(0, 1));
    CHECK_EQ(hsaKmtMapMemoryToGPUNodes(at, 8192, &seen, none, 2, twice), OK);
    CHECK(info(at).NMappedNodes == 1);
    CHECK_EQ(hsaKmtMapMemoryToGPUNodes(at, 8192, &seen, none, gpus, all), OK);
    CHECK(info(at).NMappedNodes == gpus);
    /* Those that are no longer wanted lose it. */
    CHECK_EQ(hsaKmtMapMemoryToGPUNodes(at, 8192, &seen, none, 1, &last), OK);
    CHECK(info(at).NMappedNodes == 1 && info(at).MappedNodes[0] == last);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(at), OK);
    /* Registered for one node: mapped for that one only. */
    CHECK_EQ(hsaKmtRegisterMemoryToNodes(at, 8192, 1, &first), OK);
    CHECK_EQ(hsaKmtRegisterMemoryToNodes(at, 8192, 1, &first), OK);
    if (gpus > 1) {
        CHECK_EQ(hsaKmtRegisterMemoryToNodes(at, 8192, 1, &last), HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED);
        CHECK_EQ(hsaKmtMapMemoryToGPUNodes(at, 8192, &seen, none, 1, &last), HSAKMT_STATUS_ERROR);
    }
    CHECK_EQ(hsaKmtMapMemoryToGPU(at, 8192, &seen), OK);
    CHECK(info(at).NMappedNodes == 1 && info(at).MappedNodes[0] == 1 && info(at).RegisteredNodes[0] == 1);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(at), OK);
    CHECK_EQ(hsaKmtDeregisterMemory(at), OK);
    CHECK_EQ(hsaKmtDeregisterMemory(at), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
    CHECK_EQ(hsaKmtRegisterMemory(at, 8192), HSAKMT_STATUS_INVALID_HANDLE);
    CHECK_EQ(hsaKmtFreeMemory(at, 8192), OK);
}

static void user_memory(void)
{
    uint64_t before = buffers();
    char *pages = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    char *mine = pages + 100;
    HSAuint64 seen = 0, again = 0;
    CHECK_EQ(hsaKmtRegisterMemory(mine, 5000), OK);
    CHECK_EQ(hsaKmtMapMemoryToGPU(mine, 5000, &seen), OK);
    CHECK(seen % 4096 == 100 && seen != (uintptr_t)mine);
    HsaPointerInfo known = info(mine + 4999);
    CHECK(known.Type == HSA_POINTER_REGISTERED_USER && known.CPUAddress == mine && known.SizeInBytes == 5000);
    CHECK(known.GPUAddress == seen && known.NMappedNodes == gpus);
    known = info((void *)(uintptr_t)(seen + 4999));
    CHECK(known.Type == HSA_POINTER_REGISTERED_USER && known.CPUAddress == mine);
    HsaPointerInfo nothing;
    CHECK_EQ(hsaKmtQueryPointerInfo(mine + 5000, &nothing), HSAKMT_STATUS_ERROR);
    /* Twice registered and mapped, twice given back. */
    CHECK_EQ(hsaKmtRegisterMemory(mine, 5000), OK);
    CHECK_EQ(hsaKmtMapMemoryToGPU(mine, 5000, &again), OK);
    CHECK(again == seen);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(mine), OK);
    CHECK(info(mine).NMappedNodes == gpus);
    CHECK_EQ(hsaKmtDeregisterMemory(mine), OK);
    /* The kernel does not let go of what is mapped. */
    CHECK_EQ(hsaKmtDeregisterMemory(mine), HSAKMT_STATUS_ERROR);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(mine), OK);
    CHECK(info(mine).NMappedNodes == 0);
    CHECK_EQ(hsaKmtFreeMemory(mine, 5000), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
    CHECK_EQ(hsaKmtDeregisterMemory(mine), OK);
    CHECK_EQ(hsaKmtDeregisterMemory(mine), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
    CHECK(buffers() == before);
    /* Larger the second time, and overlapping: each is what it says. */
    CHECK_EQ(hsaKmtRegisterMemory(pages, 4096), OK);
    CHECK_EQ(hsaKmtRegisterMemory(pages, 32768), OK);
    CHECK_EQ(hsaKmtRegisterMemory(pages + 16384, 32768), OK);
    CHECK(info(pages + 20000).SizeInBytes == 32768);
    CHECK_EQ(hsaKmtDeregisterMemory(pages), OK);
    CHECK(info(pages + 1).SizeInBytes == 4096 && info(pages + 20000).CPUAddress == pages + 16384);
    CHECK_EQ(hsaKmtDeregisterMemory(pages + 16384), OK);
    CHECK_EQ(hsaKmtDeregisterMemory(pages), OK);
    CHECK(buffers() == before);
    /* Pages that nobody may write, and none at all. */
    CHECK(mprotect(pages, 4096, PROT_READ) == 0);
    CHECK_EQ(hsaKmtRegisterMemory(pages, 4096), HSAKMT_STATUS_ERROR);
    CHECK(munmap(pages, 64 << 10) == 0);
    CHECK_EQ(hsaKmtRegisterMemory(pages, 4096), HSAKMT_STATUS_ERROR);
    CHECK(buffers() == before);
}

static void scratch(void)
{
    uint64_t before = buffers();
    HsaMemFlags how = flags(1, 0);
    how.ui32.Scratch = 1;
    char *area = alloc(GPU, 1 << 20, how);
    CHECK((uintptr_t)area % 65536 == 0);
    void *second = NULL;
    CHECK_EQ(hsaKmtAllocMemory(GPU, 1 << 20, how, &second), HSAKMT_STATUS_NO_MEMORY);
    CHECK_EQ(hsaKmtAllocMemoryAlign(GPU, 1 << 20, 1 << 20, how, &second), HSAKMT_STATUS_NOT_IMPLEMENTED);
    CHECK_EQ(hsaKmtAllocMemory(0, 1 << 20, how, &second), BAD);
    HSAuint64 seen = 0;
    CHECK_EQ(hsaKmtMapMemoryToGPU(area + 65536, 65536, &seen), OK);
    CHECK(seen == (uintptr_t)area + 65536 && buffers() != before);
    CHECK_EQ(hsaKmtMapMemoryToGPU(area + (1 << 20) - 4096, 8192, &seen), BAD);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(area + 65536), OK);
    CHECK(buffers() == before);
    CHECK_EQ(hsaKmtMapMemoryToGPU(area, 4096, &seen), OK);
    CHECK_EQ(hsaKmtFreeMemory(area, 0), OK);
    CHECK(buffers() == before);
    area = alloc(GPU, 1 << 20, how);
    CHECK_EQ(hsaKmtFreeMemory(area, 0), OK);
}

static HsaEvent *event(HSA_EVENTTYPE kind, int manual)
{
    HsaEventDescriptor what = { .EventType = kind, .NodeId = GPU };
    HsaEvent *made = NULL;
    CHECK_EQ(hsaKmtCreateEvent(&what, manual, 0, &made), OK);
    CHECK(made && made->EventData.EventType == kind && made->EventId == made->EventData.HWData1);
    return made;
}

static void *signal_later(void *event)
{
    nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
    CHECK_EQ(hsaKmtSetEvent(event), OK);
    return NULL;
}

static void *destroy_later(void *event)
{
    nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
    CHECK_EQ(hsaKmtDestroyEvent(event), OK);
    return NULL;
}

static void events(void)
{
    uint64_t before = live(EVENTS);
    HsaEvent *one = event(HSA_EVENTTYPE_SIGNAL, 0), *two = event(HSA_EVENTTYPE_SIGNAL, 1);
    HsaEvent *fault = event(HSA_EVENTTYPE_MEMORY, 1);
    /* Each has its slot, which the GPU writes and the driver has filled. */
    const uint64_t *slots[] = { (void *)(uintptr_t)one->EventData.HWData2, (void *)(uintptr_t)two->EventData.HWData2 };
    CHECK(slots[0] && slots[1] - slots[0] == (ptrdiff_t)two->EventId - (ptrdiff_t)one->EventId);
    CHECK(*slots[0] == ~0ull && *slots[1] == ~0ull && one->EventData.HWData3 == one->EventId);

    CHECK_EQ(hsaKmtWaitOnEvent(one, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
    CHECK_EQ(hsaKmtWaitOnEvent(one, 20), HSAKMT_STATUS_WAIT_TIMEOUT);
    CHECK_EQ(hsaKmtSetEvent(one), OK);
    CHECK_EQ(hsaKmtWaitOnEvent(one, 0), OK);
    CHECK_EQ(hsaKmtWaitOnEvent(one, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
    CHECK_EQ(hsaKmtSetEvent(two), OK);
    CHECK_EQ(hsaKmtWaitOnEvent(two, 0), OK);
    CHECK_EQ(hsaKmtWaitOnEvent(two, 0), OK);
    CHECK_EQ(hsaKmtResetEvent(two), OK);
    CHECK_EQ(hsaKmtWaitOnEvent(two, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
    CHECK_EQ(hsaKmtSetEvent(fault), HSAKMT_STATUS_ERROR);
    CHECK_EQ(hsaKmtQueryEventState(one), OK);

    /* One wakes a wait for any, and only both a wait for all. */
    HsaEvent *both[] = { one, two };
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, signal_later, two) == 0);
    CHECK_EQ(hsaKmtWaitOnMultipleEvents(both, 2, 0, HSA_EVENTTIMEOUT_INFINITE), OK);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQ(hsaKmtWaitOnMultipleEvents(both, 2, 1, 10), HSAKMT_STATUS_WAIT_TIMEOUT);
    CHECK(pthread_create(&thread, NULL, signal_later, one) == 0);
    CHECK_EQ(hsaKmtWaitOnMultipleEvents(both, 2, 1, 10000), OK);
    CHECK(pthread_join(thread, NULL) == 0);

    /* Signals that the caller has seen do not wake it; one that it has not does, at once. */
    HsaVersionInfo version;
    CHECK_EQ(hsaKmtGetVersion(&version), OK);
    CHECK_EQ(hsaKmtResetEvent(two), OK);
    if (version.KernelInterfaceMinorVersion >= 14) {
        HSAuint64 age = 1;
        CHECK_EQ(hsaKmtWaitOnEvent_Ext(two, 0, &age), OK);
        CHECK(age > 1);
        HSAuint64 seen = age;
        CHECK_EQ(hsaKmtWaitOnEvent_Ext(two, 0, &age), HSAKMT_STATUS_WAIT_TIMEOUT);
        CHECK(age == seen);
        CHECK_EQ(hsaKmtSetEvent(two), OK);
        CHECK_EQ(hsaKmtResetEvent(two), OK);
        HSAuint64 ages[] = { 0, age };
        CHECK_EQ(hsaKmtWaitOnMultipleEvents_Ext(both, 2, 0, 0, ages), OK);
        CHECK(ages[0] == 0 && ages[1] == seen + 1);
    }

    /* An event that goes while it is waited for. */
    HsaEvent *short_lived = event(HSA_EVENTTYPE_SIGNAL, 1);
    CHECK(pthread_create(&thread, NULL, destroy_later, short_lived) == 0);
    CHECK_EQ(hsaKmtWaitOnEvent(short_lived, 10000), HSAKMT_STATUS_ERROR);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQ(hsaKmtDestroyEvent(short_lived), HSAKMT_STATUS_INVALID_HANDLE);
    CHECK_EQ(hsaKmtSetEvent(short_lived), HSAKMT_STATUS_INVALID_HANDLE);
    HsaEvent *holes[] = { one, NULL, short_lived };
    CHECK_EQ(hsaKmtWaitOnMultipleEvents(holes, 2, 0, 0), HSAKMT_STATUS_INVALID_HANDLE);
    holes[1] = two;
    CHECK_EQ(hsaKmtWaitOnMultipleEvents(holes, 3, 0, 0), HSAKMT_STATUS_INVALID_HANDLE);
    CHECK_EQ(hsaKmtWaitOnMultipleEvents(both, 0, 0, 0), OK);
    HsaEvent forged = *one;
    CHECK_EQ(hsaKmtSetEvent(&forged), HSAKMT_STATUS_INVALID_HANDLE);

    HsaEventDescriptor set = { .EventType = HSA_EVENTTYPE_SIGNAL };
    HsaEvent *ready;
    CHECK_EQ(hsaKmtCreateEvent(&set, 1, 1, &ready), OK);
    CHECK_EQ(hsaKmtWaitOnEvent(ready, 0), OK);
    CHECK_EQ(hsaKmtDestroyEvent(ready), OK);
    set.EventType = HSA_EVENTTYPE_MAXID;
    CHECK_EQ(hsaKmtCreateEvent(&set, 1, 1, &ready), BAD);
    CHECK(!ready);
    CHECK_EQ(hsaKmtDestroyEvent(one), OK);
    CHECK_EQ(hsaKmtDestroyEvent(two), OK);
    CHECK_EQ(hsaKmtDestroyEvent(fault), OK);
    CHECK(live(EVENTS) == before);
}

static void small_calls(void)
{
    HsaClockCounters cpu, gpu, later;
    CHECK_EQ(hsaKmtGetClockCounters(0, &cpu), OK);
    CHECK_EQ(hsaKmtGetClockCounters(GPU, &gpu), OK);
    CHECK_EQ(hsaKmtGetClockCounters(GPU, &later), OK);
    CHECK(cpu.GPUClockCounter == 0 && gpu.GPUClockCounter != 0 && cpu.SystemClockFrequencyHz == 1000000000);
    CHECK(later.GPUClockCounter >= gpu.GPUClockCounter && later.SystemClockCounter > cpu.SystemClockCounter);
    CHECK_EQ(hsaKmtGetClockCounters(99, &cpu), HSAKMT_STATUS_INVALID_NODE_UNIT);

    HSAuint64 all, rest;
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &all), OK);
    void *at = alloc(GPU, 64 << 20, flags(1, 0));
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &rest), OK);
    CHECK(all - rest == 64 << 20);
    CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &rest), OK);
    CHECK(all == rest);
    CHECK_EQ(hsaKmtAvailableMemory(0, &rest), HSAKMT_STATUS_ERROR);

    HSAuint32 tiles[40], macros[20];
    HsaGpuTileConfig config = { .TileConfig = tiles, .MacroTileConfig = macros, .NumTileConfigs = 40,
                                .NumMacroTileConfigs = 20 };
    memset(tiles, 0xaa, sizeof tiles);
    CHECK_EQ(hsaKmtGetTileConfig(GPU, &config), OK);
    CHECK(config.NumTileConfigs == 32 && config.NumMacroTileConfigs == 16 && tiles[32] == 0xaaaaaaaa);
    config.NumTileConfigs = 3;
    tiles[3] = 0x55;
    CHECK_EQ(hsaKmtGetTileConfig(GPU, &config), OK);
    CHECK(config.NumTileConfigs == 3 && tiles[3] == 0x55);

    HSAint32 retry = 7;
    CHECK_EQ(hsaKmtGetXNACKMode(&retry), OK);
    CHECK(retry == 0);
    CHECK_EQ(hsaKmtSetXNACKMode(1), HSAKMT_STATUS_NOT_SUPPORTED);
    CHECK_EQ(hsaKmtSetXNACKMode(0), OK);
    CHECK_EQ(hsaKmtSetTrapHandler(GPU, tiles, 4096, macros, 4096), OK);
    CHECK_EQ(hsaKmtSetTrapHandler(0, tiles, 4096, macros, 4096), HSAKMT_STATUS_ERROR);

    HSAuint32 mask = 77;
    HSAKMT_STATUS can = hsaKmtCheckRuntimeDebugSupport();
    CHECK_EQ(hsaKmtRuntimeDisable(), OK);
    CHECK_EQ(hsaKmtRuntimeEnable(&mask, 1), can);
    if (can == OK) {
        CHECK_EQ(hsaKmtRuntimeEnable(&mask, 1), HSAKMT_STATUS_UNAVAILABLE);
        CHECK_EQ(hsaKmtRuntimeDisable(), OK);
        CHECK_EQ(hsaKmtRuntimeEnable(&mask, 0), OK);
    }
    CHECK_EQ(hsaKmtGetRuntimeCapabilities(&mask), OK);
    CHECK(mask == 0);
    CHECK_EQ(hsaKmtRuntimeDisable(), OK);

    /* A device of libdrm where the machine has it, and the same each time. */
    HsaAMDGPUDeviceHandle device = NULL, same = NULL;
    if (dlopen("libdrm_amdgpu.so.1", RTLD_NOW)) {
        CHECK_EQ(hsaKmtGetAMDGPUDeviceHandle(GPU, &device), OK);
        CHECK_EQ(hsaKmtGetAMDGPUDeviceHandle(GPU, &same), OK);
        CHECK(device && device == same);
    } else {
        CHECK_EQ(hsaKmtGetAMDGPUDeviceHandle(GPU, &device), HSAKMT_STATUS_INVALID_HANDLE);
    }
    CHECK_EQ(hsaKmtGetAMDGPUDeviceHandle(0, &device), HSAKMT_STATUS_ERROR);
    CHECK(!device);
}

/* Something of everything; the first failure ends it. Whatever happens nothing stays. */
static HSAKMT_STATUS everything(void)
{
    void *own = NULL, *paged = NULL;
    char mine[100];
    HsaEventDescriptor what = { .EventType = HSA_EVENTTYPE_SIGNAL };
    HsaEvent *event = NULL;
    HSAuint64 seen, registered = 0;
    HsaMemFlags how = flags(1, 0);
    how.ui32.Scratch = 1;
    void *area = NULL;
    HSAKMT_STATUS first = hsaKmtAllocMemory(GPU, 8192, local(), &own);
    if (!first)
        first = hsaKmtMapMemoryToGPU(own, 8192, &seen);
    if (!first)
        first = hsaKmtAllocMemory(0, 8192, flags(0, 1), &paged);
    if (!first)
        first = hsaKmtMapMemoryToGPU(paged, 8192, &seen);
    if (!first)
        first = hsaKmtRegisterMemory(mine, sizeof mine), registered = !first;
    if (!first)
        first = hsaKmtMapMemoryToGPU(mine, sizeof mine, &seen);
    if (!first)
        first = hsaKmtAllocMemory(GPU, 65536, how, &area);
    if (!first)
        first = hsaKmtMapMemoryToGPU(area, 4096, &seen);
    if (!first)
        first = hsaKmtCreateEvent(&what, 1, 1, &event);
    if (!first)
        first = hsaKmtWaitOnEvent(event, 1000);
    /* What is refused here too is done again: a failure leaves things as they were. */
    for (int tries = 0; tries < 2; tries++) {
        HSAKMT_STATUS last = OK;
        void *allocations[] = { own, paged, area };
        for (int i = 0; i < 3; i++) {
            HsaPointerInfo known;
            if (!allocations[i] || hsaKmtQueryPointerInfo(allocations[i], &known))
                continue;
            if (i < 2 && known.NMappedNodes && (last = hsaKmtUnmapMemoryToGPU(allocations[i])))
                first = first ? first : last;
            if ((last = hsaKmtFreeMemory(allocations[i], 0)))
                first = first ? first : last;
        }
        HsaPointerInfo known;
        if (registered && !hsaKmtQueryPointerInfo(mine, &known)) {
            if (known.NMappedNodes && (last = hsaKmtUnmapMemoryToGPU(mine)))
                first = first ? first : last;
            if ((last = hsaKmtDeregisterMemory(mine)))
                first = first ? first : last;
        }
        if (event && !(last = hsaKmtDestroyEvent(event)))
            event = NULL;
        first = first ? first : last;
    }
    return first;
}

/* Each call fails at each position: a status, and nothing is lost or left. */
static void failures(void)
{
    CHECK_EQ(everything(), OK);
    uint64_t before = buffers(), alive = live(EVENTS);
    const char *names[] = { "ALLOC_MEMORY_OF_GPU", "MAP_MEMORY_TO_GPU", "UNMAP_MEMORY_FROM_GPU", "FREE_MEMORY_OF_GPU",
                            "SET_SCRATCH_BACKING_VA", "CREATE_EVENT", "SET_EVENT", "WAIT_EVENTS", "DESTROY_EVENT" };
    unsigned failed = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (uint64_t k = 1;; k++) {
            uint64_t made = calls(names[i]);
            CHECK(fail(names[i], k, i % 2 ? EINVAL : ENOMEM) == 0);
            HSAKMT_STATUS status = everything();
            if (calls(names[i]) - made < k) {
                CHECK(status == OK && k > 1);
                /* The failure that was asked for and did not come is still to come. */
                while (calls(names[i]) - made < k)
                    everything();
                break;
            }
            failed++;
            CHECK(status == HSAKMT_STATUS_ERROR || status == HSAKMT_STATUS_NO_MEMORY);
            CHECK(buffers() == before && live(EVENTS) == alive);
            CHECK_EQ(everything(), OK);
        }
    CHECK(failed >= 15 && violations() == 0);
}

static void *churn(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;
    void *live[8] = { 0 };
    for (int i = 0; i < 400; i++) {
        unsigned slot = rand_r(&state) % 8;
        if (live[slot]) {
            CHECK_EQ(hsaKmtUnmapMemoryToGPU(live[slot]), OK);
            CHECK_EQ(hsaKmtFreeMemory(live[slot], 0), OK);
            live[slot] = NULL;
        } else {
            uint64_t bytes = (rand_r(&state) % 64 + 1) * 4096;
            int of_gpu = rand_r(&state) % 2;
            live[slot] = alloc(of_gpu ? GPU : 0, bytes, of_gpu ? local() : flags(0, 1));
            if (!of_gpu || large_bar)
                memset(live[slot], 1, bytes);
            CHECK_EQ(hsaKmtMapMemoryToGPU(live[slot], bytes, NULL), OK);
            CHECK(info((char *)live[slot] + bytes - 1).SizeInBytes == bytes);
        }
    }
    for (int i = 0; i < 8; i++)
        if (live[i]) {
            CHECK_EQ(hsaKmtUnmapMemoryToGPU(live[i]), OK);
            CHECK_EQ(hsaKmtFreeMemory(live[i], 0), OK);
        }
    return NULL;
}

static void threads(void)
{
    uint64_t before = buffers();
    pthread_t thread[4];
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, churn, (void *)(i + 1)) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    CHECK(buffers() == before);
}

/* A child knows nothing of its parent's, and both go on. */
static void forks(void)
{
    const uint64_t bytes = 5 << 20;
    char *ours = alloc(0, bytes, flags(0, 1));
    memset(ours, 0x5a, bytes);
    CHECK_EQ(hsaKmtMapMemoryToGPU(ours, bytes, NULL), OK);
    HsaEvent *mine = event(HSA_EVENTTYPE_SIGNAL, 1);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        HsaPointerInfo known;
        /* Report B012: paged memory is ordinary memory. */
        for (uint64_t i = 0; i < bytes; i += 4096)
            CHECK(ours[i] == 0x5a);
        CHECK_EQ(hsaKmtQueryPointerInfo(ours, &known), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
        CHECK_EQ(hsaKmtFreeMemory(ours, 0), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
        CHECK_EQ(hsaKmtSetEvent(mine), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
        CHECK_EQ(hsaKmtCloseKFD(), OK);
        HsaSystemProperties system;
        CHECK_EQ(hsaKmtOpenKFD(), OK);
        CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
        CHECK_EQ(hsaKmtQueryPointerInfo(ours, &known), HSAKMT_STATUS_ERROR);
        CHECK_EQ(hsaKmtFreeMemory(ours, 0), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
        CHECK_EQ(hsaKmtDestroyEvent(mine), HSAKMT_STATUS_INVALID_HANDLE);
        CHECK_EQ(everything(), OK);
        CHECK(violations() == 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(ours[bytes - 1] == 0x5a);
    memset(ours, 3, 4096);
    CHECK_EQ(hsaKmtSetEvent(mine), OK);
    CHECK_EQ(hsaKmtWaitOnEvent(mine, 0), OK);
    CHECK_EQ(hsaKmtDestroyEvent(mine), OK);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(ours), OK);
    CHECK_EQ(hsaKmtFreeMemory(ours, 0), OK);
}

/* Report B014: children of a process whose other threads are in the middle of anything. */
static void forks_beside_threads(void)
{
    pthread_t thread[2];
    for (uintptr_t i = 0; i < 2; i++)
        CHECK(pthread_create(&thread[i], NULL, churn, (void *)(i + 7)) == 0);
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20);
            CHECK_EQ(hsaKmtOpenKFD(), OK);
            CHECK_EQ(hsaKmtCloseKFD(), OK);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

/* KiB of pages of this process that are shared with nobody's file. */
static long shared_pages(void)
{
    char line[200];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status);
    while (kib < 0 && fgets(line, sizeof line, status))
        sscanf(line, "RssShmem: %ld", &kib);
    fclose(status);
    CHECK(kib >= 0);
    return kib;
}

/* Report B067: host memory goes back, each time. */
static void memory_goes_back(int rounds)
{
    long before = shared_pages();
    for (int i = 0; i < rounds; i++) {
        char *at = alloc(0, 64 << 20, flags(0, 1));
        memset(at, 1, 64 << 20);
        CHECK(shared_pages() - before >= 64 << 10);
        CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
        CHECK(shared_pages() - before < 1 << 10);
    }
}

/* Report B072: a GPU that is full is not replaced by another one, nor by host memory. */
static void a_full_gpu_is_full(void)
{
    uint64_t before = buffers();
    HSAuint64 rest, other, after;
    void *all[64], *more = NULL;
    unsigned count = 0;
    CHECK_EQ(hsaKmtAvailableMemory(2, &other), OK);
    for (uint64_t bytes = 8ull << 30; bytes >= 4096 && count < 64; bytes /= 2)
        while (count < 64 && hsaKmtAllocMemory(GPU, bytes, flags(1, 0), &all[count]) == OK)
            count++;
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &rest), OK);
    CHECK(count && count < 64 && rest < 2 << 20);
    for (int strict = 0; strict < 2; strict++) {
        HsaMemFlags how = flags(1, 0);
        how.ui32.NoSubstitute = strict;
        CHECK_EQ(hsaKmtAllocMemory(GPU, 64 << 20, how, &more), HSAKMT_STATUS_NO_MEMORY);
        CHECK(!more);
        CHECK_EQ(hsaKmtAvailableMemory(2, &after), OK);
        CHECK(after == other);
    }
    more = alloc(2, 64 << 20, flags(1, 0));
    CHECK_EQ(hsaKmtFreeMemory(more, 0), OK);
    while (count)
        CHECK_EQ(hsaKmtFreeMemory(all[--count], 0), OK);
    CHECK(buffers() == before);
}

/* Report B074: memory that the kernel does not let go of stays what it was, and goes when it does. */
static void busy_memory_stays(void)
{
    const char *names[] = { "UNMAP_MEMORY_FROM_GPU", "FREE_MEMORY_OF_GPU" };
    uint64_t before = buffers();
    for (int i = 0; i < 2; i++)
        for (int host = 0; host < 2; host++) {
            char *at = alloc(host ? 0 : GPU, 1 << 20, host ? flags(0, 1) : flags(1, 0));
            CHECK_EQ(hsaKmtMapMemoryToGPU(at, 1 << 20, NULL), OK);
            if (i)
                CHECK_EQ(hsaKmtUnmapMemoryToGPU(at), OK);
            for (int tries = 0; tries < 2; tries++) {
                CHECK(fail(names[i], 1, EBUSY) == 0);
                CHECK_EQ(i ? hsaKmtFreeMemory(at, 0) : hsaKmtUnmapMemoryToGPU(at), HSAKMT_STATUS_ERROR);
                HsaPointerInfo known = info(at + 4096);
                CHECK(known.Type == HSA_POINTER_ALLOCATED && known.SizeInBytes == 1 << 20);
                CHECK((known.NMappedNodes != 0) == !i);
                if (host)
                    memset(at, 3, 1 << 20);
            }
            CHECK_EQ(hsaKmtMapMemoryToGPU(at, 1 << 20, NULL), OK);
            CHECK_EQ(hsaKmtUnmapMemoryToGPU(at), OK);
            CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
            CHECK_EQ(hsaKmtFreeMemory(at, 0), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
        }
    CHECK(buffers() == before);
}

/* Whether the mapping at an address is of a file of the driver's, as the kernel lists it. */
static int is_of_the_driver(void *at)
{
    char line[400];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long first, last;
        if (sscanf(line, "%lx-%lx", &first, &last) == 2 && first <= (uintptr_t)at && (uintptr_t)at < last)
            found = strstr(line, "memfd:") != NULL;
    }
    fclose(maps);
    return found;
}

/* The variables that choose how memory is given out (kfd.md 1.6): they are read with each snapshot. */
static void variables(void)
{
    HsaSystemProperties system;
    HSAuint64 free_before, free_after;
    void *paged = alloc(0, 4096, flags(0, 1));
    CHECK(!is_of_the_driver(paged));
    CHECK_EQ(hsaKmtFreeMemory(paged, 0), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    setenv("HSA_USERPTR_FOR_PAGED_MEM", "0", 1);
    setenv("HSA_ZFB", "1", 1);
    setenv("HSA_MAX_VA_ALIGN", "3", 1);
    CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
    paged = alloc(0, 4096, flags(0, 1));
    CHECK(is_of_the_driver(paged));
    CHECK_EQ(hsaKmtFreeMemory(paged, 0), OK);
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &free_before), OK);
    void *own = alloc(GPU, 32 << 20, flags(1, 1));
    CHECK_EQ(hsaKmtAvailableMemory(GPU, &free_after), OK);
    CHECK(free_before == free_after);
    CHECK_EQ(hsaKmtFreeMemory(own, 0), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    unsetenv("HSA_USERPTR_FOR_PAGED_MEM");
    unsetenv("HSA_ZFB");
    unsetenv("HSA_MAX_VA_ALIGN");
    CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 || argc == 3);
    gpus = (unsigned)atoi(argv[1]);
    *(void **)&calls = dlsym(RTLD_DEFAULT, "rocdxg_fake_kfd_calls");
    *(void **)&violations = dlsym(RTLD_DEFAULT, "rocdxg_fake_kfd_violations");
    *(void **)&fail = dlsym(RTLD_DEFAULT, "rocdxg_fake_kfd_fail");
    *(void **)&ledger = dlsym(RTLD_DEFAULT, "rocdxg_fake_kfd_ledger");
    CHECK(calls && violations && fail && ledger);

    HsaSystemProperties system;
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    /* Nobody has acquired, and the original does not mind (kfd.md 2.8). */
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
    CHECK(system.NumNodes == gpus + 1);
    HsaMemoryProperties bank;
    CHECK_EQ(hsaKmtGetNodeMemoryProperties(GPU, 1, &bank), OK);
    large_bar = bank.HeapType == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC;
    if (!large_bar) {
        void *at = NULL;
        CHECK_EQ(hsaKmtAllocMemory(GPU, 4096, flags(1, 1), &at), HSAKMT_STATUS_ERROR);
    }

    if (argc == 3) {
        if (!strcmp(argv[2], "B067"))
            memory_goes_back(32);
        else if (!strcmp(argv[2], "B072"))
            a_full_gpu_is_full();
        else if (!strcmp(argv[2], "B074"))
            busy_memory_stays();
        else
            CHECK(0);
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
        CHECK_EQ(hsaKmtCloseKFD(), OK);
        CHECK(violations() == 0);
        return 0;
    }

    /* The creation that brings the event page may fail before and after the driver took the page. */
    HsaEventDescriptor what = { .EventType = HSA_EVENTTYPE_SIGNAL };
    HsaEvent *early;
    CHECK(fail("CREATE_EVENT", 1, EIO) == 0);
    CHECK_EQ(hsaKmtCreateEvent(&what, 1, 0, &early), HSAKMT_STATUS_ERROR);
    events();

    every_kind();
    bad_arguments();
    some_nodes();
    user_memory();
    scratch();
    small_calls();
    failures();
    threads();
    forks();
    forks_beside_threads();
    variables();

    /* What is alive outlives release, close, and a new open. */
    char *kept = alloc(0, 4096, flags(1, 1));
    memset(kept, 9, 4096);
    HsaEvent *last = event(HSA_EVENTTYPE_SIGNAL, 1);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK(info(kept).SizeInBytes == 4096);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK_EQ(hsaKmtFreeMemory(kept, 0), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
    CHECK(kept[5] == 9);
    CHECK_EQ(hsaKmtSetEvent(last), OK);
    CHECK_EQ(hsaKmtDestroyEvent(last), OK);
    CHECK_EQ(hsaKmtMapMemoryToGPU(kept, 4096, NULL), OK);
    CHECK_EQ(hsaKmtUnmapMemoryToGPU(kept), OK);
    CHECK_EQ(hsaKmtFreeMemory(kept, 0), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK(calls("ACQUIRE_VM") == gpus && violations() == 0);
    return 0;
}
