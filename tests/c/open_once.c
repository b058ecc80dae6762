/* Opens, acquires, releases and closes once, and tells every status. With arguments FROM TO it then moves a file and
 * does so again: what failed first can succeed later, in the same process. */
#include "check.h"

#include <dirent.h>

static int open_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void once(void)
{
    HsaSystemProperties system = { 0 };
    int before = open_files();
    int opened = hsaKmtOpenKFD();
    int acquired = hsaKmtAcquireSystemProperties(&system);
    int released = hsaKmtReleaseSystemProperties();
    int closed = hsaKmtCloseKFD();
    printf("open %d acquire %d nodes %u release %d close %d files %+d\n", opened, acquired, system.NumNodes, released,
           closed, open_files() - before);
}

int main(int argc, char **argv)
{
    once();
    once();
    if (argc == 3) {
        CHECK_EQ(rename(argv[1], argv[2]), 0);
        once();
    }
    return 0;
}
