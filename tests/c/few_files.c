/* Report B007: when descriptors run out an open has a status, and success returns with them. */
#include "check.h"

#include <fcntl.h>
#include <sys/resource.h>

int main(void)
{
    enum { MOST = 32 };
    struct rlimit limit;
    int hog[MOST], used = 0;
    /* Nothing of libdxcore is asked for here: it opens its file once, and only unloading makes it try again. */
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = MOST;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int round = 0; round < 50; round++) {
        while (used < MOST && (hog[used] = open("/dev/null", O_RDONLY)) >= 0)
            used++;
        CHECK(used > 0);
        CHECK_EQ(hsaKmtOpenKFD(), CLOSED);
        CHECK_EQ(acquire(), CLOSED);
        CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
        /* With one descriptor for the device file there is none for libdxcore's own. */
        close(hog[--used]);
        HSAKMT_STATUS opened = hsaKmtOpenKFD();
        if (opened == OK) {
            CHECK(acquire() != OK);
            CHECK_EQ(hsaKmtCloseKFD(), OK);
        }
        while (used > 0)
            close(hog[--used]);
        round_trip();
    }
    return 0;
}
