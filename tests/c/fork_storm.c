/* Forks while four other threads are inside every call: no child hangs, and each has a fresh start.
 * Arguments: number of forks, number of threads. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { MOST_THREADS = 4, PATIENCE_S = 20 };

static atomic_int stop;

static void *busy(void *unused)
{
    (void)unused;
    while (!stop) {
        HsaNodeProperties node;
        HSAKMT_STATUS opened = hsaKmtOpenKFD();
        CHECK(opened == HSAKMT_STATUS_SUCCESS || opened == HSAKMT_STATUS_KERNEL_ALREADY_OPENED);
        CHECK_EQ(acquire(), OK);
        CHECK_EQ(hsaKmtGetNodeProperties(0, &node), OK);
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
        CHECK_EQ(hsaKmtCloseKFD(), OK);
    }
    return NULL;
}

/* Gives back whatever was inherited at the moment of the fork, then uses the device as a first user. */
static void child(int opens)
{
    alarm(PATIENCE_S);
    HsaNodeProperties node;
    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), CLOSED);
    if (opens)
        round_trip();
    while (hsaKmtReleaseSystemProperties() == HSAKMT_STATUS_SUCCESS)
        ;
    while (hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS)
        ;
    CHECK_EQ(hsaKmtReleaseSystemProperties(), CLOSED);
    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
    if (opens)
        round_trip();
    _exit(0);
}

int main(int argc, char **argv)
{
    int forks = argc > 1 ? atoi(argv[1]) : 2000;
    int busy_threads = argc > 2 ? atoi(argv[2]) : MOST_THREADS;
    CHECK(busy_threads <= MOST_THREADS);
    pthread_t threads[MOST_THREADS];
    /* The handlers are there before the first fork. */
    round_trip();
    for (int i = 0; i < busy_threads; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, busy, NULL), 0);
    for (int i = 0; i < forks; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            child(i % 2);
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        if (WIFSIGNALED(status))
            fprintf(stderr, "child %d of %d: signal %d\n", i, forks, WTERMSIG(status));
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    stop = 1;
    for (int i = 0; i < busy_threads; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(violations(), 0);
    return 0;
}
