#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* dump LIBRARY: every byte that a thunk says about the topology, to a caller of the 5.2 and 6.2 releases, and the
 * status of every call, as JSON. Buffers hold 0xa5 before a call, so bytes that it does not write show; the page behind
 * each buffer cannot be accessed, so a write beyond it is a crash. */

enum { SYSTEM = 16, NODE = 356, BANK = 32, CACHE = 1056, LINK = 48, FILL = 0xa5 };

typedef int (*plain_fn)(void);
typedef int (*system_fn)(void *);
typedef int (*node_fn)(uint32_t, void *);
typedef int (*list_fn)(uint32_t, uint32_t, void *);
typedef int (*cache_fn)(uint32_t, uint32_t, uint32_t, void *);

static list_fn banks, links;
static cache_fn caches;

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "dump: %s\n", dlerror());
        exit(2);
    }
    return function;
}

/* The last byte of the buffer is the last of a page. Never freed: addresses must not come again. */
static unsigned char *buffer(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    unsigned char *base = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + room, page, PROT_NONE)) {
        perror("dump");
        exit(2);
    }
    memset(base, FILL, room);
    return base + room - bytes;
}

static uint32_t word(const unsigned char *record, size_t offset)
{
    uint32_t value;
    memcpy(&value, record + offset, sizeof value);
    return value;
}

static void hex(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%02x", bytes[i]);
}

/* One list of a node: `extra` records more than the node announces are asked for, or fewer. */
static void list(const char *name, uint32_t node, uint32_t count, int extra, uint32_t processor, size_t size)
{
    uint32_t asked = count + (uint32_t)extra;
    unsigned char *records = buffer(asked ? asked * size : 1);
    int status;
    if (size == BANK)
        status = banks(node, asked, records);
    else if (size == CACHE)
        status = caches(node, processor, asked, records);
    else
        status = links(node, asked, records);
    printf(", \"%s%s\": {\"status\": %d, \"records\": [", name, extra < 0 ? "-fewer" : extra ? "-more" : "", status);
    /* After a refusal one record shows whether anything was written. */
    uint32_t shown = status && asked ? 1 : asked;
    for (uint32_t i = 0; i < shown; i++) {
        printf("%s\"", i ? ", " : "");
        hex(records + i * size, size);
        printf("\"");
    }
    printf("]}");
}

static void node(node_fn properties, uint32_t id)
{
    unsigned char *record = buffer(NODE);
    int status = properties(id, record);
    printf("%s{\"status\": %d, \"properties\": \"", id ? ",\n" : "", status);
    hex(record, NODE);
    printf("\"");
    if (!status) {
        uint32_t counts[3] = {word(record, 8), word(record, 12), word(record, 16)};
        uint32_t processor = word(record, word(record, 0) ? 20 : 24);
        const char *names[3] = {"memory", "cache", "link"};
        const size_t sizes[3] = {BANK, CACHE, LINK};
        for (int i = 0; i < 3; i++) {
            list(names[i], id, counts[i], 0, processor, sizes[i]);
            list(names[i], id, counts[i], 1, processor, sizes[i]);
            if (counts[i])
                list(names[i], id, counts[i], -1, processor, sizes[i]);
        }
    }
    printf("}");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "dump: %s\n", argc == 2 ? dlerror() : "usage: dump LIBRARY");
        return 2;
    }
    plain_fn open = (plain_fn)find(library, "hsaKmtOpenKFD"), close = (plain_fn)find(library, "hsaKmtCloseKFD");
    plain_fn release = (plain_fn)find(library, "hsaKmtReleaseSystemProperties");
    system_fn acquire = (system_fn)find(library, "hsaKmtAcquireSystemProperties");
    node_fn properties = (node_fn)find(library, "hsaKmtGetNodeProperties");
    banks = (list_fn)find(library, "hsaKmtGetNodeMemoryProperties");
    caches = (cache_fn)find(library, "hsaKmtGetNodeCacheProperties");
    links = (list_fn)find(library, "hsaKmtGetNodeIoLinkProperties");

    unsigned char *system = buffer(SYSTEM), *spare = buffer(CACHE);
    int unopened[2] = {acquire(system), properties(0, spare)};
    int opened = open(), again = opened ? opened : open();
    int unacquired = properties(0, spare);
    int null = acquire(NULL);
    memset(system, FILL, SYSTEM);
    int acquired = acquire(system);
    printf("{\"system\": {\"status\": %d, \"properties\": \"", acquired);
    hex(system, SYSTEM);
    printf("\"}, \"nodes\": [\n");
    uint32_t count = acquired ? 0 : word(system, 0);
    for (uint32_t id = 0; id < count; id++)
        node(properties, id);
    printf("], \"calls\": {");
    if (!acquired) {
        printf("\"GetNodeProperties of a node too many\": %d, ", properties(count, spare));
        printf("\"GetNodeMemoryProperties of a node too many\": %d, ", banks(count, 1, spare));
        printf("\"GetNodeCacheProperties of a node too many\": %d, ", caches(count, 0, 1, spare));
        printf("\"GetNodeIoLinkProperties of a node too many\": %d, ", links(count, 1, spare));
        printf("\"GetNodeProperties into NULL\": %d, ", properties(0, NULL));
        printf("\"GetNodeMemoryProperties into NULL\": %d, ", banks(0, 1, NULL));
        printf("\"GetNodeCacheProperties into NULL\": %d, ", caches(0, 0, 1, NULL));
        printf("\"GetNodeIoLinkProperties into NULL\": %d, ", links(0, 1, NULL));
        printf("\"ReleaseSystemProperties\": %d, ", release());
        printf("\"GetNodeProperties after the release\": %d, ", properties(0, spare));
    }
    printf("\"AcquireSystemProperties before the open\": %d, ", unopened[0]);
    printf("\"GetNodeProperties before the open\": %d, ", unopened[1]);
    printf("\"OpenKFD\": %d, \"OpenKFD again\": %d, ", opened, again);
    printf("\"GetNodeProperties before the acquire\": %d, ", unacquired);
    printf("\"AcquireSystemProperties into NULL\": %d, ", null);
    printf("\"CloseKFD\": %d, ", close());
    printf("\"CloseKFD again\": %d, ", close());
    printf("\"CloseKFD once too often\": %d}}\n", close());
    return 0;
}
