/* What a caller can get wrong: a status each, no crash, and outputs left as they were. */
#include "check.h"

/* Outputs start with this and must still have it after a failure. */
enum { PATTERN = 0xa5 };

static int untouched(const void *memory, size_t size)
{
    const unsigned char *byte = memory;
    for (size_t i = 0; i < size; i++)
        if (byte[i] != PATTERN)
            return 0;
    return 1;
}

/* Runs a call that must fail with `want` and leave `out` alone. */
#define FAILS(out, call, want)                                                               \
    do {                                                                                     \
        memset(&(out), PATTERN, sizeof(out));                                                \
        CHECK_EQ(call, want);                                                                \
        CHECK(untouched(&(out), sizeof(out)));                                               \
    } while (0)

static HsaSystemProperties system_properties;
static HsaVersionInfo version;
static HsaNodeProperties node;
static HsaMemoryProperties banks[32];
static HsaCacheProperties caches[4];
static HsaIoLinkProperties links[4];
static uint64_t frequency;
static HSAuint32 mask;

/* With NULL pointers the pointer is told before the state, except where the table of dxg.md 2.5 says otherwise. */
static void nulls(HSAKMT_STATUS gated)
{
    CHECK_EQ(hsaKmtGetNodeProperties(0, NULL), BAD);
    CHECK_EQ(hsaKmtGetNodeMemoryProperties(0, 1, NULL), BAD);
    CHECK_EQ(hsaKmtGetNodeCacheProperties(0, 0, 1, NULL), BAD);
    CHECK_EQ(hsaKmtGetNodeIoLinkProperties(0, 1, NULL), BAD);
    CHECK_EQ(hsaKmtGetNodeMemoryProperties(0, 0, NULL), BAD);
    CHECK_EQ(hsaKmtAcquireSystemProperties(NULL), gated);
    CHECK_EQ(hsaKmtGetVersion(NULL), gated);
    CHECK_EQ(hsaKmtGetNodeWallclockFrequency(0, NULL), gated);
    CHECK_EQ(hsaKmtGetRuntimeCapabilities(NULL), gated);
    CHECK_EQ(DxgAbiCheck(NULL), BAD);
}

/* Every getter fails with `want` for every node number. */
static void no_nodes(HSAKMT_STATUS want)
{
    const HSAuint32 ids[] = { 0, 1, 2, 99, 0x7fffffff, 0xffffffff };
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++) {
        FAILS(node, hsaKmtGetNodeProperties(ids[i], &node), want);
        FAILS(banks, hsaKmtGetNodeMemoryProperties(ids[i], 1, banks), want);
        FAILS(caches, hsaKmtGetNodeCacheProperties(ids[i], 0, 1, caches), want);
        FAILS(links, hsaKmtGetNodeIoLinkProperties(ids[i], 1, links), want);
        FAILS(frequency, hsaKmtGetNodeWallclockFrequency(ids[i], &frequency), want);
    }
}

int main(void)
{
    const HSAuint32 many = 0xffffffff;

    nulls(CLOSED);
    no_nodes(CLOSED);
    FAILS(system_properties, hsaKmtAcquireSystemProperties(&system_properties), CLOSED);
    FAILS(version, hsaKmtGetVersion(&version), CLOSED);
    FAILS(mask, hsaKmtGetRuntimeCapabilities(&mask), CLOSED);

    CHECK_EQ(hsaKmtOpenKFD(), OK);
    nulls(BAD);
    no_nodes(NO_NODE);

    CHECK_EQ(hsaKmtAcquireSystemProperties(&system_properties), OK);
    nulls(BAD);
    HSAuint32 gpu = system_properties.NumNodes - 1;
    const HSAuint32 wild[] = { gpu + 1, 99, 0x7fffffff, 0xffffffff };
    for (unsigned i = 0; i < sizeof wild / sizeof *wild; i++) {
        FAILS(node, hsaKmtGetNodeProperties(wild[i], &node), NO_NODE);
        FAILS(banks, hsaKmtGetNodeMemoryProperties(wild[i], 1, banks), NO_NODE);
        FAILS(caches, hsaKmtGetNodeCacheProperties(wild[i], 0, 1, caches), NO_NODE);
        FAILS(links, hsaKmtGetNodeIoLinkProperties(wild[i], 1, links), NO_NODE);
        FAILS(frequency, hsaKmtGetNodeWallclockFrequency(wild[i], &frequency), NO_NODE);
    }

    /* Counts: fewer than there are is fine, none too; more is not. */
    CHECK_EQ(hsaKmtGetNodeProperties(gpu, &node), OK);
    memset(banks, PATTERN, sizeof banks);
    CHECK_EQ(hsaKmtGetNodeMemoryProperties(gpu, 0, banks), OK);
    CHECK(untouched(banks, sizeof banks));
    CHECK_EQ(hsaKmtGetNodeMemoryProperties(gpu, 1, banks), OK);
    CHECK(untouched(&banks[1], sizeof banks[1]));
    CHECK_EQ(hsaKmtGetNodeMemoryProperties(gpu, node.NumMemoryBanks + 1, banks), OK);
    HsaMemoryProperties zero;
    memset(&zero, 0, sizeof zero);
    CHECK(memcmp(&banks[node.NumMemoryBanks], &zero, sizeof zero) == 0);
    CHECK(untouched(&banks[node.NumMemoryBanks + 1], sizeof zero));
    FAILS(banks, hsaKmtGetNodeMemoryProperties(gpu, many, banks), BAD);
    FAILS(caches, hsaKmtGetNodeCacheProperties(gpu, 0, 0, caches), OK);
    FAILS(caches, hsaKmtGetNodeCacheProperties(gpu, 0, node.NumCaches + 1, caches), BAD);
    FAILS(caches, hsaKmtGetNodeCacheProperties(gpu, 0, many, caches), BAD);
    CHECK_EQ(hsaKmtGetNodeCacheProperties(gpu, many, node.NumCaches, caches), OK);
    FAILS(links, hsaKmtGetNodeIoLinkProperties(gpu, 0, links), OK);
    FAILS(links, hsaKmtGetNodeIoLinkProperties(gpu, node.NumIOLinks + 1, links), BAD);
    FAILS(links, hsaKmtGetNodeIoLinkProperties(gpu, many, links), BAD);
    FAILS(links, hsaKmtGetNodeIoLinkProperties(0, 1, links), BAD);

    /* Pointers need not be aligned. */
    char storage[sizeof(HsaNodeProperties) + 1];
    CHECK_EQ(hsaKmtGetNodeProperties(gpu, (HsaNodeProperties *)(storage + 1)), OK);
    CHECK(memcmp(storage + 1, &node, sizeof node) == 0);

    /* The size check. */
    HsaStructureSizes sizes = { .StructureSizes = sizeof sizes - 1 };
    CHECK_EQ(DxgAbiCheck(&sizes), BAD);
    sizes.StructureSizes = sizeof sizes;
    sizes.SizeOfHsaNodeProperties = 372;
    CHECK_EQ(DxgAbiCheck(&sizes), HSAKMT_STATUS_DRIVER_MISMATCH);
    sizes.SizeOfHsaNodeProperties = sizeof node;
    CHECK_EQ(DxgAbiCheck(&sizes), OK);
    sizes.SizeOfHsaExternalHandleDesc = 7;
    CHECK_EQ(DxgAbiCheck(&sizes), HSAKMT_STATUS_DRIVER_MISMATCH);

    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    no_nodes(NO_NODE);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    nulls(CLOSED);
    no_nodes(CLOSED);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(violations(), 0);
    return 0;
}
