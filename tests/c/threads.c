/* Four threads open, acquire, read, release and close without end: each always sees its own references honoured. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4 };

static unsigned rounds = 300;

static void *user(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < rounds; i++) {
        HsaSystemProperties system;
        HsaNodeProperties node;
        HSAKMT_STATUS opened = hsaKmtOpenKFD();
        CHECK(opened == HSAKMT_STATUS_SUCCESS || opened == HSAKMT_STATUS_KERNEL_ALREADY_OPENED);
        CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
        for (HSAuint32 id = 0; id < system.NumNodes; id++) {
            HsaMemoryProperties banks[8];
            CHECK_EQ(hsaKmtGetNodeProperties(id, &node), OK);
            CHECK_EQ(node.NumCPUCores != 0, id == 0);
            CHECK(node.NumMemoryBanks <= 8);
            CHECK_EQ(hsaKmtGetNodeMemoryProperties(id, node.NumMemoryBanks, banks), OK);
        }
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
        CHECK_EQ(hsaKmtCloseKFD(), OK);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, user, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(violations(), 0);
    return 0;
}
