/* A program that ends with memory alive: at once (report B061). */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static char mine[100000];

static void take(void)
{
    HsaMemFlags local = { .Value = 0 }, host = { .Value = 0 };
    local.ui32.NonPaged = local.ui32.CoarseGrain = host.ui32.HostAccess = 1;
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(acquire(), OK);
    for (HSAuint32 node = 0; node < 3; node++)
        for (int i = 0; i < 4; i++) {
            void *at = NULL;
            HSAuint64 seen;
            CHECK_EQ(hsaKmtAllocMemory(node, i % 2 ? 200 << 20 : 8192, node ? local : host, &at), OK);
            CHECK_EQ(hsaKmtMapMemoryToGPU(at, 8192, &seen), OK);
        }
    HSAuint64 seen;
    CHECK_EQ(hsaKmtRegisterMemory(mine, sizeof mine), OK);
    CHECK_EQ(hsaKmtMapMemoryToGPU(mine, sizeof mine, &seen), OK);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* By exit, by return, and by a signal. */
int main(void)
{
    for (int how = 0; how < 3; how++) {
        int ends[2];
        CHECK(pipe(ends) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            take();
            double begin = now();
            CHECK(write(ends[1], &begin, sizeof begin) == sizeof begin);
            if (how == 0)
                exit(0);
            if (how == 1)
                return 0;
            raise(9);
        }
        double begin;
        int status;
        CHECK(read(ends[0], &begin, sizeof begin) == sizeof begin);
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(how == 2 || status == 0);
        CHECK(now() - begin < 1);
        close(ends[0]);
        close(ends[1]);
    }
    return 0;
}
