/* Opens, reads, releases and closes in turns that the tests of /dev/kfd ask for, and tells what it sees.
 * The argument is the turn; each line of the output is compared by the test. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Descriptors of /dev/kfd and of render nodes. */
static int device_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char link[300], target[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(link, target, sizeof target - 1);
        target[length < 0 ? 0 : length] = 0;
        const char *name = strrchr(target, '/');
        count += name && (!strcmp(name, "/kfd") || !strncmp(name, "/renderD", 8));
    }
    closedir(directory);
    return count;
}

/* Every node, its banks, and that the counts are those of the lists. */
static void show(void)
{
    HsaVersionInfo version;
    HsaSystemProperties system = { 0 };
    CHECK_EQ(hsaKmtGetVersion(&version), OK);
    printf("interface %u.%u\n", version.KernelInterfaceMajorVersion, version.KernelInterfaceMinorVersion);
    CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
    for (HSAuint32 node = 0; node < system.NumNodes; node++) {
        HsaNodeProperties properties;
        HsaMemoryProperties banks[8];
        CHECK_EQ(hsaKmtGetNodeProperties(node, &properties), OK);
        CHECK(properties.NumMemoryBanks <= 8);
        CHECK_EQ(hsaKmtGetNodeMemoryProperties(node, properties.NumMemoryBanks, banks), OK);
        printf("node %u gpu %u links %u", node, properties.KFDGpuID, properties.NumIOLinks);
        for (HSAuint32 bank = 0; bank < properties.NumMemoryBanks; bank++)
            printf(" | %d %llx %llx", banks[bank].HeapType, (unsigned long long)banks[bank].VirtualBaseAddress,
                   (unsigned long long)banks[bank].SizeInBytes);
        printf("\n");
    }
    HsaNodeProperties beyond;
    CHECK_EQ(hsaKmtGetNodeProperties(system.NumNodes, &beyond), NO_NODE);
}

/* One line for one whole turn. */
static void turn(void)
{
    HsaSystemProperties system = { 0 };
    int opened = hsaKmtOpenKFD();
    int acquired = hsaKmtAcquireSystemProperties(&system);
    int released = hsaKmtReleaseSystemProperties();
    int closed = hsaKmtCloseKFD();
    printf("open %d acquire %d nodes %u release %d close %d\n", opened, acquired, system.NumNodes, released, closed);
}

/* B003, B005: what the kernel binds once is asked for once, however often it is used. */
static void again(void)
{
    turn();
    int kept = device_files();
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(acquire(), OK);
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    }
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    turn();
    CHECK_EQ(device_files(), kept);
    printf("kept %d\n", kept);
}

/* A child has its own files and its own bindings, whether the parent had the device open or only kept it. */
static void forked(void)
{
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(acquire(), OK);
    CHECK_EQ(device_files(), 3);
    for (int open = 1; open >= 0; open--) {
        fflush(stdout);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK_EQ(hsaKmtOpenKFD(), OK);
            CHECK_EQ(device_files(), 1);
            CHECK_EQ(acquire(), OK);
            CHECK_EQ(device_files(), 3);
            turn();
            fflush(stdout);
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
        if (open) {
            CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
            CHECK_EQ(hsaKmtCloseKFD(), OK);
        }
    }
    turn();
}

/* A child that has put its own files in the place of those that it inherited keeps them. */
static void strangers(void)
{
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(acquire(), OK);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int own = open("/dev/null", O_RDWR);
        for (int fd = 3; fd < own; fd++)
            CHECK_EQ(dup2(own, fd), fd);
        turn();
        for (int fd = 3; fd <= own; fd++)
            CHECK_EQ(write(fd, "x", 1), 1);
        fflush(stdout);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

/* B007: no descriptor is left, at the open and then ever later in a snapshot; a later try succeeds. */
static void hog(void)
{
    struct rlimit all, few;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &all), 0);
    int next = dup(0);
    CHECK_EQ(close(next), 0);
    few = all;
    few.rlim_cur = (rlim_t)next;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    printf("open %d\n", hsaKmtOpenKFD());
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &all), 0);
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    for (int more = 1; more < 8; more++) {
        HsaSystemProperties system = { 0 };
        few.rlim_cur = (rlim_t)(next + more);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        int acquired = hsaKmtAcquireSystemProperties(&system);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &all), 0);
        printf("acquire %d nodes %u\n", acquired, system.NumNodes);
        /* Whether there is a reference to give back or not (kfd.md 2.8). */
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    }
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    turn();
}

/* Somebody closes every descriptor between two opens. */
static void swept(void)
{
    turn();
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    turn();
}

int main(int argc, char **argv)
{
    CHECK_EQ(argc, 2);
    const char *what = argv[1];
    if (!strcmp(what, "show")) {
        int opened = hsaKmtOpenKFD();
        printf("open %d\n", opened);
        if (opened == OK) {
            show();
            CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
            CHECK_EQ(hsaKmtCloseKFD(), OK);
        }
    } else if (!strcmp(what, "turn")) {
        turn();
    } else if (!strcmp(what, "again")) {
        again();
    } else if (!strcmp(what, "forked")) {
        forked();
    } else if (!strcmp(what, "strangers")) {
        strangers();
    } else if (!strcmp(what, "hog")) {
        hog();
    } else if (!strcmp(what, "swept")) {
        swept();
    } else {
        return 2;
    }
    return 0;
}
