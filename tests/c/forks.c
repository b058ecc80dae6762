/* A fork child owns nothing of its parent's (dxg.md 1.5, 1.6), however it was made. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* How a child is made: fork() of libc, or a raw clone that no fork handler sees. */
enum road { LIBC, RAW };

static pid_t make_child(enum road road)
{
    pid_t child = road == LIBC ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    CHECK(child >= 0);
    return child;
}

static void wait_for(pid_t child)
{
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
}

/* Descriptors of /dev/dxg: the thunk's own, and that of libdxcore. */
static int device_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char link[300], target[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(link, target, sizeof target);
        count += length > 4 && memcmp(target + length - 4, "/dxg", 4) == 0;
    }
    closedir(directory);
    return count;
}

/* A child that never opens gives back what it inherited, and then has nothing. */
static void child_that_never_opens(unsigned opens, unsigned references)
{
    HsaNodeProperties node;
    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), CLOSED);
    CHECK_EQ(acquire(), CLOSED);
    CHECK_EQ(hsaKmtRuntimeDisable(), OK);
    for (unsigned i = 0; i < references; i++)
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    for (unsigned i = 0; i < opens; i++)
        CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), CLOSED);
    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
}

/* A child that opens has a first open of its own; stale closes and releases eat the inherited references first. */
static void child_that_opens(unsigned opens, unsigned references, int files)
{
    HsaSystemProperties system;
    HsaNodeProperties node;
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), NO_NODE);
    CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
    CHECK_EQ(hsaKmtGetNodeProperties(system.NumNodes - 1, &node), OK);
    /* The parent's device file is gone, ours is there. */
    CHECK_EQ(device_files(), files);
    for (unsigned i = 0; i < references; i++)
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    for (unsigned i = 0; i < opens; i++)
        CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK_EQ(hsaKmtGetNodeProperties(system.NumNodes - 1, &node), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), BAD);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(violations(), 0);
}

int main(void)
{
    for (enum road road = LIBC; road <= RAW; road++)
        for (unsigned opens = 1; opens <= 2; opens++)
            for (unsigned references = 0; references <= 2; references++) {
                HsaNodeProperties node;
                for (unsigned i = 0; i < opens; i++)
                    CHECK_EQ(hsaKmtOpenKFD(), i ? AGAIN : OK);
                for (unsigned i = 0; i < references; i++)
                    CHECK_EQ(acquire(), OK);
                uint64_t live = live_objects();
                /* libdxcore opens its own device file at its first call at the latest. */
                CHECK_EQ(acquire(), OK);
                CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
                int files = device_files();
                CHECK(files >= 1);

                pid_t child = make_child(road);
                if (child == 0) {
                    child_that_never_opens(opens, references);
                    _exit(0);
                }
                wait_for(child);
                child = make_child(road);
                if (child == 0) {
                    child_that_opens(opens, references, files);
                    _exit(0);
                }
                wait_for(child);

                /* References add up over generations. */
                child = make_child(road);
                if (child == 0) {
                    CHECK_EQ(hsaKmtOpenKFD(), OK);
                    pid_t grandchild = make_child(road);
                    if (grandchild == 0) {
                        child_that_never_opens(opens + 1, references);
                        _exit(0);
                    }
                    wait_for(grandchild);
                    for (unsigned i = 0; i < references; i++)
                        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
                    CHECK_EQ(hsaKmtReleaseSystemProperties(), BAD);
                    for (unsigned i = 0; i < opens + 1; i++)
                        CHECK_EQ(hsaKmtCloseKFD(), OK);
                    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
                    _exit(0);
                }
                wait_for(child);

                /* The parent has not noticed. */
                CHECK_EQ(live_objects(), live);
                CHECK_EQ(violations(), 0);
                if (references) {
                    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), OK);
                }
                for (unsigned i = 0; i < references; i++)
                    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
                for (unsigned i = 0; i < opens; i++)
                    CHECK_EQ(hsaKmtCloseKFD(), OK);
                CHECK_EQ(live_objects(), 0);
            }
    round_trip();
    return 0;
}
