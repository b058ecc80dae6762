/* A program that was built against an installed thunk: consumer FOLDER NAME NODES.
 * Checks that the thunk is FOLDER/libNAME.so.1 and nothing else under another name, and that it finds NODES nodes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsakmt/hsakmt.h"

#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);  \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

int main(int argc, char **argv)
{
    char path[PATH_MAX], here[PATH_MAX], there[PATH_MAX];
    HsaSystemProperties system;
    HsaNodeProperties node;
    Dl_info thunk;

    CHECK(argc == 4);
    CHECK(dladdr((void *)hsaKmtOpenKFD, &thunk));
    snprintf(path, sizeof path, "%s/lib%s.so.1", argv[1], argv[2]);
    CHECK(realpath(thunk.dli_fname, here) && realpath(path, there));
    if (strcmp(here, there)) {
        fprintf(stderr, "the thunk is %s, not %s\n", here, there);
        return 1;
    }

    /* Where both names are installed they are one library; where only the SONAME is, only that loads. */
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(loaded && dlsym(loaded, "hsaKmtOpenKFD") == (void *)hsaKmtOpenKFD);
    snprintf(path, sizeof path, "%s/lib%s.so", argv[1], argv[2]);
    void *bare = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(bare == (realpath(path, there) ? loaded : NULL));

    CHECK(hsaKmtOpenKFD() == HSAKMT_STATUS_SUCCESS);
    CHECK(hsaKmtAcquireSystemProperties(&system) == HSAKMT_STATUS_SUCCESS);
    CHECK(system.NumNodes == (HSAuint32)atoi(argv[3]));
    memset(&node, 0, sizeof node);
    CHECK(hsaKmtGetNodeProperties(system.NumNodes - 1, &node) == HSAKMT_STATUS_SUCCESS);
    CHECK(hsaKmtReleaseSystemProperties() == HSAKMT_STATUS_SUCCESS);
    CHECK(hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS);
    return 0;
}
