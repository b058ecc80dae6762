/* Bare metal on the software KFD, which is preloaded: open, bind once, read, fork, fail. Argument: number of GPUs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "check_only.h"
#include "hsakmt/hsakmt.h"

static uint64_t (*calls)(const char *);
static uint64_t (*violations)(void);
static int (*fail)(const char *, uint64_t, int);

static unsigned gpus;

/* Acquires, checks every GPU node, releases. */
static void read_topology(void)
{
    HsaSystemProperties system;
    CHECK(hsaKmtAcquireSystemProperties(&system) == HSAKMT_STATUS_SUCCESS);
    unsigned found = 0;
    for (HSAuint32 id = 0; id < system.NumNodes; id++) {
        HsaNodeProperties node;
        HsaMemoryProperties banks[8];
        CHECK(hsaKmtGetNodeProperties(id, &node) == HSAKMT_STATUS_SUCCESS);
        CHECK((node.KFDGpuID != 0) == (node.NumFComputeCores != 0));
        if (!node.KFDGpuID)
            continue;
        found++;
        CHECK(node.DrmRenderMinor >= 128 && node.EngineId.ui32.Major >= 9);
        CHECK(node.NumMemoryBanks >= 3 && node.NumMemoryBanks <= 8);
        CHECK(hsaKmtGetNodeMemoryProperties(id, node.NumMemoryBanks, banks) == HSAKMT_STATUS_SUCCESS);
        unsigned apertures = 0;
        for (unsigned i = 0; i < node.NumMemoryBanks; i++)
            apertures += banks[i].HeapType == HSA_HEAPTYPE_GPU_LDS || banks[i].HeapType == HSA_HEAPTYPE_GPU_SCRATCH;
        CHECK(apertures == 2);
    }
    CHECK(found == gpus);
    CHECK(hsaKmtReleaseSystemProperties() == HSAKMT_STATUS_SUCCESS);
}

static void round_trip(void)
{
    HsaVersionInfo version;
    CHECK(hsaKmtOpenKFD() == HSAKMT_STATUS_SUCCESS);
    CHECK(hsaKmtGetVersion(&version) == HSAKMT_STATUS_SUCCESS && version.KernelInterfaceMajorVersion == 1);
    read_topology();
    read_topology();
    CHECK(hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS);
    CHECK(hsaKmtCloseKFD() == HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    gpus = (unsigned)atoi(argv[1]);
    *(void **)&calls = dlsym(RTLD_DEFAULT, "rocdxg_fake_kfd_calls");
    *(void **)&violations = dlsym(RTLD_DEFAULT, "rocdxg_fake_kfd_violations");
    *(void **)&fail = dlsym(RTLD_DEFAULT, "rocdxg_fake_kfd_fail");
    CHECK(calls && violations && fail);
    HsaStructureSizes sizes = { .StructureSizes = sizeof sizes, .SizeOfHsaNodeProperties = sizeof(HsaNodeProperties) };
    CHECK(DxgAbiCheck(&sizes) == HSAKMT_STATUS_SUCCESS);

    /* Each call fails once: a status, and afterwards all is well. The first two are made until they succeed, and then
     * no more. */
    const char *names[] = { "OPEN", "GET_VERSION", "GET_PROCESS_APERTURES_NEW" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        HsaSystemProperties system;
        CHECK(fail(names[i], 1, ENOMEM) == 0);
        uint64_t made = calls(names[i]);
        HSAKMT_STATUS opened = hsaKmtOpenKFD();
        HSAKMT_STATUS acquired = hsaKmtAcquireSystemProperties(&system);
        CHECK(opened != HSAKMT_STATUS_SUCCESS || acquired == HSAKMT_STATUS_NO_MEMORY);
        CHECK(calls(names[i]) == made + 1);
        CHECK(hsaKmtCloseKFD() == (opened ? HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED : HSAKMT_STATUS_SUCCESS));
        if (i != 0)
            round_trip();
    }

    /* Report B003: the kernel binds a GPU to a process once, whatever is released and closed. */
    for (int i = 0; i < 3; i++)
        round_trip();
    CHECK(calls("ACQUIRE_VM") == gpus);
    CHECK(violations() == 0);

    /* A child binds its own, and the parent does not notice. */
    CHECK(hsaKmtOpenKFD() == HSAKMT_STATUS_SUCCESS);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            HsaNodeProperties node;
            CHECK(hsaKmtGetNodeProperties(0, &node) == HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
            CHECK(hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS);
            round_trip();
            CHECK(violations() == 0);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    read_topology();
    CHECK(hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS);
    CHECK(calls("ACQUIRE_VM") == gpus);
    CHECK(violations() == 0);
    return 0;
}
