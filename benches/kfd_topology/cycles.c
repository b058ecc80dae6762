/* cycles LIBRARY COUNT: opens, acquires, reads every node, releases and closes COUNT times with the thunk LIBRARY, which
 * is loaded here. Prints how many nodes there were, then the nanoseconds of every cycle, a number a line. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The stock thunk gives up when the running machine lacks a NUMA node that the tree has. It is given node 0 in its place:
 * these two are what it opens there, and they come before the preloaded ones. */
static const char *present(const char *path, char *room, size_t size)
{
    static const char nodes[] = "/sys/devices/system/node/node";
    static enum { UNKNOWN, PRESENT, ABSENT } known[64];
    char *rest;
    if (strncmp(path, nodes, sizeof nodes - 1))
        return path;
    unsigned long number = strtoul(path + sizeof nodes - 1, &rest, 10);
    if (number >= sizeof known / sizeof *known)
        return path;
    if (known[number] == UNKNOWN) {
        snprintf(room, size, "%s%lu", nodes, number);
        known[number] = access(room, R_OK) == 0 ? PRESENT : ABSENT;
    }
    if (known[number] == PRESENT)
        return path;
    snprintf(room, size, "%s0%s", nodes, rest);
    return room;
}

FILE *fopen(const char *path, const char *mode)
{
    char room[512];
    FILE *(*next)(const char *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    return next(present(path, room, sizeof room), mode);
}

DIR *opendir(const char *path)
{
    char room[512];
    DIR *(*next)(const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "opendir");
    return next(present(path, room, sizeof room));
}

/* Only what every release has alike: a thunk writes the structures of its own release, so there is room for any. */
struct system_properties {
    uint32_t nodes;
    char rest[1020];
};

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void require(int status, const char *call)
{
    if (status != 0) {
        fprintf(stderr, "%s returned %d\n", call, status);
        exit(1);
    }
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*open_device)(void), (*acquire)(struct system_properties *), (*node)(uint32_t, void *), (*release)(void),
        (*close_device)(void);
    *(void **)&open_device = symbol(library, "hsaKmtOpenKFD");
    *(void **)&acquire = symbol(library, "hsaKmtAcquireSystemProperties");
    *(void **)&node = symbol(library, "hsaKmtGetNodeProperties");
    *(void **)&release = symbol(library, "hsaKmtReleaseSystemProperties");
    *(void **)&close_device = symbol(library, "hsaKmtCloseKFD");

    static uint64_t properties[512];
    size_t count = strtoul(argv[2], NULL, 10);
    uint64_t *times = calloc(count + 1, sizeof *times);
    if (!times)
        return 1;
    /* The software KFD makes its machine when it is first asked for something. */
    access("/dev/kfd", R_OK);
    uint32_t nodes = 0;
    for (size_t i = 0; i < count; i++) {
        struct system_properties system;
        uint64_t begin = now();
        require(open_device(), "hsaKmtOpenKFD");
        require(acquire(&system), "hsaKmtAcquireSystemProperties");
        nodes = system.nodes;
        for (uint32_t id = 0; id < nodes; id++)
            require(node(id, properties), "hsaKmtGetNodeProperties");
        require(release(), "hsaKmtReleaseSystemProperties");
        require(close_device(), "hsaKmtCloseKFD");
        times[i] = now() - begin;
    }
    printf("%u\n", nodes);
    for (size_t i = 0; i < count; i++)
        printf("%llu\n", (unsigned long long)times[i]);
    return 0;
}
