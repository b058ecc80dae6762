/* What the C programs on WSL share: the thunk as its newest users see it, and the ledger of the software libdxcore. */
#ifndef CHECK_H
#define CHECK_H

#include <dlfcn.h>

#include "thunk.h"

/* A symbol of the software libdxcore. The handle is kept for ever, so that the ledger outlives the thunk's own. */
static inline void *fake_symbol(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libdxcore.so", RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    void *symbol = dlsym(library, name);
    CHECK(symbol);
    return symbol;
}

/* Kernel objects of this process that are still alive. */
static inline uint64_t live_objects(void)
{
    uint64_t (*count)(void);
    *(void **)&count = fake_symbol("rocdxg_fake_live_objects");
    return count();
}

/* Broken rules of the kernel that the software libdxcore has seen. */
static inline uint64_t violations(void)
{
    uint64_t (*count)(void);
    *(void **)&count = fake_symbol("rocdxg_fake_violations");
    return count();
}

/* D3DKMT calls of any kind so far. */
static inline uint64_t kernel_calls(void)
{
    uint64_t (*count)(const char *);
    *(void **)&count = fake_symbol("rocdxg_fake_calls");
    return count(NULL);
}

/* Announces the structures of the headers that this program is built with, as every user of newer ones does. */
__attribute__((constructor)) static inline void announce(void)
{
    HsaStructureSizes sizes = {
        .StructureSizes = sizeof sizes,
        .SizeOfHsaNodeProperties = sizeof(HsaNodeProperties),
        .SizeOfHsaExternalHandleDesc = sizeof(HsaHandleImportDesc),
        .Reserved = { sizeof(HsaCacheProperties) },
    };
    CHECK_EQ(DxgAbiCheck(&sizes), OK);
}

static inline HSAKMT_STATUS acquire(void)
{
    HsaSystemProperties properties;
    return hsaKmtAcquireSystemProperties(&properties);
}

/* Opens and acquires as a first user, checks that a node is there, gives everything back. */
static inline void round_trip(void)
{
    HsaSystemProperties system;
    HsaNodeProperties node;
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
    CHECK(system.NumNodes >= 1);
    CHECK_EQ(hsaKmtGetNodeProperties(system.NumNodes - 1, &node), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
}

#endif
