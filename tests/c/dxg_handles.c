/* Memory without a place, by handles: imported, exported, mapped where its user wants it. Argument: the one part that is
 * run, without it all of them. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>

#define HANDLE HSAKMT_STATUS_INVALID_HANDLE

static int64_t (*live)(const char *);
static int (*refuse)(const char *, uint64_t);
static uint64_t (*calls)(const char *);
static int (*gpu_read)(uint32_t, uint64_t, void *, uint64_t);
static int (*gpu_write)(uint32_t, uint64_t, const void *, uint64_t);

static HsaMemFlags flags(int no_address, int only_address)
{
    HsaMemFlags flags = { .Value = 0 };
    flags.ui32.NonPaged = flags.ui32.CoarseGrain = 1;
    flags.ui32.NoAddress = no_address;
    flags.ui32.OnlyAddress = only_address;
    return flags;
}

static void *alloc(uint64_t bytes, HsaMemFlags flags)
{
    void *at = NULL;
    CHECK_EQ(hsaKmtAllocMemory(1, bytes, flags, &at), OK);
    return at;
}

static HsaMemoryObjectHandle handle_of(void *va, void *memory, uint64_t bytes)
{
    uint64_t handle = 0;
    CHECK_EQ(hsaKmtGetMemoryHandle(va, memory, bytes, &handle), OK);
    CHECK(handle);
    return (HsaMemoryObjectHandle)(uintptr_t)handle;
}

static HSAKMT_STATUS map(HsaMemoryObjectHandle handle, uint64_t offset, uint64_t bytes, char *at)
{
    return hsaKmtMemoryVaMap(handle, offset, bytes, (HSAuint64)(uintptr_t)at, HSA_MEMORY_ACCESS_RW, 1);
}

static HSAKMT_STATUS unmap(HsaMemoryObjectHandle handle, uint64_t offset, uint64_t bytes, char *at)
{
    return hsaKmtMemoryVaUnmap(handle, offset, bytes, (HSAuint64)(uintptr_t)at, 1);
}

static void mark(char *at, unsigned char value)
{
    unsigned char bytes[32];
    memset(bytes, value, sizeof bytes);
    CHECK_EQ(gpu_write(0, (uintptr_t)at, bytes, sizeof bytes), 0);
}

static int is_marked(char *at, unsigned char value)
{
    unsigned char bytes[32];
    return gpu_read(0, (uintptr_t)at, bytes, sizeof bytes) == 0 && bytes[0] == value && bytes[31] == value;
}

/* Larger than one kernel allocation, so that maps cross from one to the next (item 32). */
static const uint64_t LARGE = (2ull << 30) + (8 << 20), EDGE = 2ull << 30;

static void places(void)
{
    char *memory = alloc(LARGE, flags(1, 0)), *range = alloc(4ull << 30, flags(0, 1));
    HsaPointerInfo info;
    CHECK_EQ(hsaKmtQueryPointerInfo(memory, &info), OK);
    CHECK(info.Type == HSA_POINTER_ALLOCATED && info.SizeInBytes == LARGE && !info.CPUAddress);
    HSAuint64 seen;
    CHECK_EQ(hsaKmtMapMemoryToGPU(memory, LARGE, &seen), BAD);
    HsaMemoryObjectHandle handle = handle_of(range, memory, LARGE);

    CHECK_EQ(map(handle, 0, LARGE, range), OK);
    mark(range + EDGE - 16, 0x21);
    CHECK(is_marked(range + EDGE - 16, 0x21));
    /* The same once more is fine, and another place sees the same memory. */
    CHECK_EQ(map(handle, 0, LARGE, range), OK);
    char *other = alloc(64 << 20, flags(0, 1));
    CHECK_EQ(map(handle, EDGE - (1 << 20), 2 << 20, other), OK);
    CHECK(is_marked(other + (1 << 20) - 16, 0x21));
    mark(other + (1 << 20) + 4096, 0x22);
    CHECK(is_marked(range + EDGE + 4096, 0x22));
    /* Reserved addresses with something in them are not freed, and not filled otherwise. */
    CHECK_EQ(hsaKmtFreeMemory(other, 0), HSAKMT_STATUS_ERROR);
    CHECK_EQ(hsaKmtMapMemoryToGPU(other, 4096, &seen), HSAKMT_STATUS_ERROR);
    CHECK_EQ(hsaKmtFreeMemory(memory, 0), HSAKMT_STATUS_ERROR);
    CHECK_EQ(unmap(handle, EDGE - (1 << 20), 2 << 20, other), OK);
    CHECK_EQ(unmap(handle, EDGE - (1 << 20), 2 << 20, other), BAD);
    CHECK(!is_marked(other + (1 << 20) - 16, 0x21));
    CHECK_EQ(hsaKmtFreeMemory(other, 0), OK);

    /* Ranges that end elsewhere, and places that nobody reserved. */
    struct { uint64_t offset, bytes; char *at; } bad[] = {
        { LARGE, 4096, range }, { LARGE - 4096, 8192, range }, { 1, 4096, range }, { 0, 1, range }, { 0, 0, range },
        { ~0ull - 4095, 8192, range }, { 0, 4096, range + (4ull << 30) - 1 }, { 0, 8192, range + (4ull << 30) - 4096 },
        { 0, 4096, (char *)0x10000 }, { 0, 4096, memory }, { 0, 4096, NULL },
    };
    int64_t mapped = live("mappings");
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(map(handle, bad[i].offset, bad[i].bytes, bad[i].at), BAD);
    CHECK_EQ(live("mappings"), mapped);

    CHECK_EQ(unmap(handle, 0, LARGE, range), OK);
    CHECK_EQ(unmap(handle, 0, LARGE, range), BAD);
    CHECK_EQ(hsaKmtMemHandleFree(handle), OK);
    CHECK_EQ(hsaKmtMemHandleFree(handle), HANDLE);
    CHECK_EQ(map(handle, 0, 4096, range), HANDLE);
    CHECK_EQ(hsaKmtFreeMemory(memory, 0), OK);
    CHECK_EQ(hsaKmtFreeMemory(range, 0), OK);
}

static void crossing(void)
{
    HsaAMDGPUDeviceHandle device = NULL;
    char *memory = alloc(4 << 20, flags(1, 0)), *range = alloc(16 << 20, flags(0, 1));
    HsaMemoryObjectHandle handle = handle_of(range, memory, 4 << 20);
    CHECK_EQ(map(handle, 0, 4 << 20, range), OK);
    mark(range + 12288, 0x33);

    HsaHandleExportDesc out = { .device_handle = device, .type = HSA_EXTERNAL_HANDLE_DMA_BUF, .buf_handle = handle,
                                .size = 4 << 20 };
    HsaMemoryExportResult file;
    HsaHandleExportFlags none = { { 0 } };
    CHECK_EQ(hsaKmtHandleExport(&out, &file, &none), OK);
    CHECK(file.dmabuf_fd >= 0 && (fcntl(file.dmabuf_fd, F_GETFD) & FD_CLOEXEC));

    HsaHandleImportDesc in;
    memset(&in, 0, sizeof in);
    in.type = HSA_EXTERNAL_HANDLE_DMA_BUF;
    in.dmabuf_fd = file.dmabuf_fd;
    HsaHandleImportResult result;
    memset(&result, 0xff, sizeof result);
    HsaHandleImportFlags plain = { { 0 } };
    CHECK_EQ(hsaKmtHandleImport(&in, &result, &plain), OK);
    CHECK(result.buf_handle && result.buf_handle != handle && result.alloc_size == 4 << 20 && result.dmabuf_fd == -1);
    CHECK_EQ(close(file.dmabuf_fd), 0);
    CHECK_EQ(map(result.buf_handle, 8192, 1 << 20, range + (8 << 20)), OK);
    CHECK(is_marked(range + (8 << 20) + 4096, 0x33));
    void *cpu = &cpu;
    CHECK_EQ(hsaKmtMemoryCpuMap(result.buf_handle, &cpu), OK);
    CHECK(!cpu);
    /* What is mapped is not given back. */
    CHECK_EQ(hsaKmtMemHandleFree(result.buf_handle), HSAKMT_STATUS_ERROR);
    CHECK(is_marked(range + (8 << 20) + 4096, 0x33));
    CHECK_EQ(unmap(result.buf_handle, 8192, 1 << 20, range + (8 << 20)), OK);
    CHECK_EQ(hsaKmtMemHandleFree(result.buf_handle), OK);
    CHECK_EQ(hsaKmtMemHandleFree(result.buf_handle), HANDLE);

    /* Files and kinds that are none. */
    in.dmabuf_fd = -1;
    CHECK_EQ(hsaKmtHandleImport(&in, &result, &plain), HANDLE);
    in.dmabuf_fd = 12345;
    CHECK_EQ(hsaKmtHandleImport(&in, &result, &plain), BAD);
    in.type = HSA_EXTERNAL_HANDLE_DMA_BUF + 1;
    CHECK_EQ(hsaKmtHandleImport(&in, &result, &plain), HSAKMT_STATUS_NOT_SUPPORTED);
    out.buf_handle = (HsaMemoryObjectHandle)0x1234;
    CHECK_EQ(hsaKmtHandleExport(&out, &file, &none), HANDLE);
    uint64_t nothing;
    CHECK_EQ(hsaKmtGetMemoryHandle(range, (void *)0x5000, 4096, &nothing), HANDLE);

    CHECK_EQ(unmap(handle, 0, 4 << 20, range), OK);
    CHECK_EQ(hsaKmtMemHandleFree(handle), OK);
    CHECK_EQ(hsaKmtFreeMemory(memory, 0), OK);

    /* Host memory that others have too is seen by the CPU. */
    HsaMemFlags signals = { .Value = 0 };
    signals.ui32.NonPaged = signals.ui32.HostAccess = 1;
    char *host = NULL;
    CHECK_EQ(hsaKmtAllocMemory(0, 8192, signals, (void **)&host), OK);
    strcpy(host + 4096, "hello");
    int fd;
    HSAuint64 offset;
    CHECK_EQ(hsaKmtExportDMABufHandle(host, 8192, &fd, &offset), OK);
    in.type = HSA_EXTERNAL_HANDLE_DMA_BUF;
    in.dmabuf_fd = fd;
    CHECK_EQ(hsaKmtHandleImport(&in, &result, &plain), OK);
    CHECK_EQ(hsaKmtMemoryCpuMap(result.buf_handle, &cpu), OK);
    CHECK(cpu && cpu != host && !strcmp((char *)cpu + 4096, "hello"));
    HSAuint64 address = 0;
    CHECK_EQ(hsaKmtMemoryGetCpuAddr(device, result.buf_handle, &address), OK);
    CHECK(address == (HSAuint64)(uintptr_t)cpu);
    strcpy(cpu, "back");
    CHECK(!strcmp(host, "back"));
    CHECK_EQ(hsaKmtMemHandleFree(result.buf_handle), OK);
    CHECK_EQ(close(fd), 0);
    CHECK_EQ(hsaKmtFreeMemory(host, 0), OK);
    CHECK_EQ(hsaKmtFreeMemory(range, 0), OK);
}

/* Each kernel call of a place fails at each position: nothing of it stays. */
static void failures(void)
{
    char *memory = alloc(LARGE, flags(1, 0)), *range = alloc(4ull << 30, flags(0, 1));
    HsaMemoryObjectHandle handle = handle_of(range, memory, LARGE);
    int64_t mapped = live("mappings");
    const char *names[] = { "MapGpuVirtualAddress", "MakeResident" };
    unsigned failed = 0;
    for (unsigned i = 0; i < 2; i++)
        for (uint64_t k = 1; k <= 4; k++) {
            uint64_t made = calls(names[i]);
            CHECK_EQ(refuse(names[i], k), 0);
            HSAKMT_STATUS status = map(handle, 0, LARGE, range);
            if (!status)
                status = unmap(handle, 0, LARGE, range);
            failed += status != OK;
            while (calls(names[i]) - made < k) {
                (void)map(handle, 0, LARGE, range);
                (void)unmap(handle, 0, LARGE, range);
                if (i == 1)
                    break; /* It is resident from the first time on. */
            }
            /* What a failing unmap has left is taken back by the next one. */
            if (live("mappings") != mapped)
                CHECK_EQ(unmap(handle, 0, LARGE, range), OK);
            CHECK_EQ(live("mappings"), mapped);
            if (i == 1)
                break;
        }
    CHECK(failed >= 4);
    CHECK_EQ(map(handle, 0, LARGE, range), OK);
    CHECK_EQ(unmap(handle, 0, LARGE, range), OK);
    CHECK_EQ(hsaKmtMemHandleFree(handle), OK);
    CHECK_EQ(hsaKmtFreeMemory(memory, 0), OK);
    CHECK_EQ(hsaKmtFreeMemory(range, 0), OK);
}

int main(int argc, char **argv)
{
    const struct { const char *name; void (*run)(void); } parts[] = {
        { "places", places }, { "crossing", crossing }, { "failures", failures },
    };
    unsigned done = 0;
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(acquire(), OK);
    *(void **)&live = fake_symbol("rocdxg_fake_live");
    *(void **)&refuse = fake_symbol("rocdxg_fake_fail");
    *(void **)&calls = fake_symbol("rocdxg_fake_calls");
    *(void **)&gpu_read = fake_symbol("rocdxg_fake_gpu_read");
    *(void **)&gpu_write = fake_symbol("rocdxg_fake_gpu_write");
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 2 || !strcmp(argv[1], parts[i].name)) {
            parts[i].run();
            done++;
        }
    CHECK(done);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK_EQ(violations(), 0);
    return 0;
}
