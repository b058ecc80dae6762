/* Calls on memory that have to succeed. */
#ifndef MEMORY_H
#define MEMORY_H

#include "thunk.h"

static inline void *alloc(HSAuint32 node, uint64_t bytes, HsaMemFlags flags)
{
    void *at = NULL;
    CHECK_EQ(hsaKmtAllocMemory(node, bytes, flags, &at), OK);
    CHECK(at && (uintptr_t)at % 4096 == 0);
    return at;
}

static inline HsaPointerInfo info(const void *at)
{
    HsaPointerInfo info;
    CHECK_EQ(hsaKmtQueryPointerInfo(at, &info), OK);
    return info;
}

#endif
