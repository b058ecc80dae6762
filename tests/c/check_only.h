/* A check that names its place, for programs that do not link to the thunk. */
#ifndef CHECK_ONLY_H
#define CHECK_ONLY_H

#include <stdio.h>
#include <unistd.h>

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: pid %d: %s\n", __FILE__, __LINE__, (int)getpid(), #condition); \
            _exit(1);                                                                        \
        }                                                                                    \
    } while (0)

#endif
