/* A consumer of one release: compiled against NodeProperties, CacheProperties and IoLinkProperties of that release
 * (generation.h, made from the measured layouts), it calls the thunk in several ways and prints what it reads. Every
 * structure and array ends where an inaccessible page begins, so that one byte too many is a crash. Built as a shared
 * object, and as a program when PROGRAM is defined. */
#define _GNU_SOURCE
#include "generation.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int hsaKmtOpenKFD(void);
int hsaKmtAcquireSystemProperties(void *properties);
int hsaKmtGetNodeProperties(uint32_t node, HsaNodeProperties *properties);
int hsaKmtGetNodeCacheProperties(uint32_t node, uint32_t processor, uint32_t count, HsaCacheProperties *caches);
int hsaKmtGetNodeIoLinkProperties(uint32_t node, uint32_t count, HsaIoLinkProperties *links);
int DxgAbiCheck(void *sizes);

enum { PATTERN = 0xa5, PAGE = 4096 };

#define CHECK(condition)                                                                                    \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            fprintf(stderr, "consumer of %d bytes: line %d: %s\n", (int)sizeof(HsaNodeProperties), __LINE__, #condition); \
            _exit(1);                                                                                       \
        }                                                                                                   \
    } while (0)

/* Memory of that size with an inaccessible page right behind it; never given back. */
static void *guarded(size_t size)
{
    size_t whole = (size + PAGE - 1) / PAGE * PAGE;
    char *pages = mmap(NULL, whole + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK(mprotect(pages + whole, PAGE, PROT_NONE) == 0);
    memset(pages, PATTERN, whole);
    return pages + whole - size;
}

/* Announces what this consumer was built with. */
int announce(void)
{
    uint16_t sizes[8] = { 16, sizeof(HsaNodeProperties), 0, sizeof(HsaCacheProperties) };
    return DxgAbiCheck(sizes);
}

/* The ways to call, of which none may change who the caller is. */
typedef int (*node_call)(uint32_t, HsaNodeProperties *);

static node_call volatile pointer = hsaKmtGetNodeProperties;
static struct { void *other; node_call call; } *volatile table;

/* Ends in a jump to the thunk: the call comes from whoever called this. */
__attribute__((noinline)) int jump(uint32_t node, HsaNodeProperties *properties)
{
    return hsaKmtGetNodeProperties(node, properties);
}

__attribute__((noinline)) static int read_node(int way, uint32_t node, HsaNodeProperties *properties)
{
    int status;
    switch (way) {
    case 0: status = hsaKmtGetNodeProperties(node, properties); break;
    case 1: status = pointer(node, properties); break;
    case 2: status = table->call(node, properties); break;
    default: status = jump(node, properties); break;
    }
    __asm__ volatile("" : "+r"(status)); /* What follows keeps these from being jumps themselves. */
    return status;
}

enum { WAYS = 4 };

static void print(const char *what, const void *structure, size_t offset, size_t size, const char *field)
{
    printf("%s %s ", what, field);
    for (size_t i = 0; i < size; i++)
        printf("%02x", ((const unsigned char *)structure)[offset + i]);
    printf("\n");
}

static void print_node(const HsaNodeProperties *p)
{
#define FIELD(name) print("node", p, offsetof(HsaNodeProperties, name), sizeof(p->name), #name);
    NODE_FIELDS(FIELD)
#undef FIELD
}

static void *many(void *unused)
{
    const HsaNodeProperties *first = unused;
    HsaNodeProperties *mine = guarded(sizeof *mine);
    for (int i = 0; i < 2000; i++) {
        memset(mine, PATTERN, sizeof *mine);
        CHECK(read_node(i % WAYS, 1, mine) == 0);
        CHECK(memcmp(mine, first, sizeof *mine) == 0);
    }
    munmap((char *)mine + sizeof *mine - PAGE, 2 * PAGE);
    return NULL;
}

static HsaNodeProperties *seen;

/* Reads everything in every way, and prints it once. */
void survey(void)
{
    table = malloc(sizeof *table);
    CHECK(table);
    table->call = hsaKmtGetNodeProperties;
    seen = guarded(sizeof *seen);
    CHECK(read_node(0, 1, seen) == 0);
    for (int way = 1; way < WAYS; way++) {
        HsaNodeProperties *again = guarded(sizeof *again);
        CHECK(read_node(way, 1, again) == 0);
        CHECK(memcmp(again, seen, sizeof *seen) == 0);
    }
    print_node(seen);

    HsaCacheProperties *caches = guarded(3 * sizeof *caches);
    CHECK(hsaKmtGetNodeCacheProperties(1, 0, 3, caches) == 0);
    HsaIoLinkProperties *links = guarded(sizeof *links);
    CHECK(hsaKmtGetNodeIoLinkProperties(1, 1, links) == 0);
    for (int i = 0; i < 3; i++) {
        char what[16];
        snprintf(what, sizeof what, "cache%d", i);
#define FIELD(name) print(what, &caches[i], offsetof(HsaCacheProperties, name), sizeof(caches->name), #name);
        CACHE_FIELDS(FIELD)
#undef FIELD
    }
#define FIELD(name) print("link", links, offsetof(HsaIoLinkProperties, name), sizeof(links->name), #name);
    LINK_FIELDS(FIELD)
#undef FIELD
}

/* For other modules: reads the node through a jump from here, into memory of this module's own. */
int jumped_into_from_elsewhere(int (*through)(int (*)(uint32_t, void *), uint32_t, void *))
{
    HsaNodeProperties *mine = guarded(sizeof *mine);
    if (through((int (*)(uint32_t, void *))jump, 1, mine) != 0)
        return 1;
    return memcmp(mine, seen, sizeof *mine) != 0;
}

/* Calls `jump` of some module as a module of its own would: what it leads to is that module's call. */
__attribute__((noinline)) int call_for(int (*call)(uint32_t, void *), uint32_t node, void *properties)
{
    int status = call(node, properties);
    __asm__ volatile("" : "+r"(status));
    return status;
}

/* Reads the node over and over from two threads. */
void hammer(pthread_t threads[2])
{
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, many, seen) == 0);
}

#ifdef PROGRAM
/* Arguments: consumers to load, in that order, each after `+` if it announces itself; `.` is this program. */
int main(int argc, char **argv)
{
    struct consumer {
        int (*announce)(void);
        void (*survey)(void);
        int (*jumped)(int (*)(int (*)(uint32_t, void *), uint32_t, void *));
        void (*hammer)(pthread_t *);
        pthread_t threads[2];
    } consumers[8];
    uint32_t properties[4];
    int count = argc - 1;
    CHECK(count <= 8);
    CHECK(hsaKmtOpenKFD() == 0);
    CHECK(hsaKmtAcquireSystemProperties(properties) == 0);
    for (int i = 0; i < count; i++) {
        const char *path = argv[i + 1];
        int announces = *path == '+';
        path += announces;
        struct consumer *c = &consumers[i];
        if (strcmp(path, ".") == 0) {
            *c = (struct consumer){ announce, survey, jumped_into_from_elsewhere, hammer, { 0 } };
        } else {
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (!library)
                fprintf(stderr, "%s\n", dlerror());
            CHECK(library);
            *(void **)&c->announce = dlsym(library, "announce");
            *(void **)&c->survey = dlsym(library, "survey");
            *(void **)&c->jumped = dlsym(library, "jumped_into_from_elsewhere");
            *(void **)&c->hammer = dlsym(library, "hammer");
        }
        if (announces)
            CHECK(c->announce() == 0);
    }
    for (int i = 0; i < count; i++) {
        printf("consumer %s\n", argv[i + 1]);
        consumers[i].survey();
    }
    fflush(stdout);
    /* Each jumps to the thunk while this program called it: the structure is still that of who jumps. */
    for (int i = 0; i < count; i++)
        CHECK(consumers[i].jumped(call_for) == 0);
    for (int i = 0; i < count; i++)
        consumers[i].hammer(consumers[i].threads);
    for (int i = 0; i < count; i++)
        for (int t = 0; t < 2; t++)
            CHECK(pthread_join(consumers[i].threads[t], NULL) == 0);
    return 0;
}
#endif
