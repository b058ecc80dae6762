// Checks of the C clients: the first that fails ends the program and names its place.
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("line %d: %s (errno %d)\n", __LINE__, #condition, errno);   \
            exit(1);                                                           \
        }                                                                      \
    } while (0)
#define FAILS(call, error)                                                     \
    do {                                                                       \
        errno = 0;                                                             \
        CHECK((call) == -1);                                                   \
        CHECK(errno == (error));                                               \
    } while (0)

#endif
