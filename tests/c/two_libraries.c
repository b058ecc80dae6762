/* librocdxg.so.1 and libhsakmt.so.1 in one process, in the order of the arguments: two libraries with two states, each
 * of which calls itself. Linked to the first of them when built with it; loads both. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_only.h"

struct library {
    const char *name;
    void *handle;
    int (*open)(void), (*close)(void), (*release)(void);
    int (*acquire)(unsigned[4]);
};

static void *own(const struct library *library, const char *name)
{
    void *symbol = dlsym(library->handle, name);
    Dl_info info;
    CHECK(symbol && dladdr(symbol, &info));
    /* It lies in the file of that library, and in no other. */
    CHECK(strstr(info.dli_fname, library->name));
    return symbol;
}

int main(int argc, char **argv)
{
    struct library libraries[2];
    CHECK(argc == 4);
    /* Local or global scope: what the first defines must not take the place of what the second does. */
    int scope = strcmp(argv[3], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    for (int i = 0; i < 2; i++) {
        struct library *l = &libraries[i];
        l->name = argv[i + 1];
        l->handle = dlopen(l->name, RTLD_NOW | scope);
        if (!l->handle)
            fprintf(stderr, "%s\n", dlerror());
        CHECK(l->handle);
        *(void **)&l->open = own(l, "hsaKmtOpenKFD");
        *(void **)&l->close = own(l, "hsaKmtCloseKFD");
        *(void **)&l->acquire = own(l, "hsaKmtAcquireSystemProperties");
        *(void **)&l->release = own(l, "hsaKmtReleaseSystemProperties");
    }
    struct library *a = &libraries[0], *b = &libraries[1];
    unsigned properties[4];
    CHECK(a->open() == 0);
    CHECK(a->open() == 22);
    CHECK(b->close() == 20);
    CHECK(b->open() == 0);
    CHECK(a->acquire(properties) == 0 && properties[0] == 2);
    CHECK(b->release() == 3);
    CHECK(b->acquire(properties) == 0 && properties[0] == 2);
    CHECK(a->release() == 0 && a->release() == 3);
    CHECK(a->close() == 0 && a->close() == 0 && a->close() == 20);
    CHECK(b->release() == 0);
    CHECK(b->close() == 0 && b->close() == 20);
    /* A call by name in the global scope reaches the library that came first. */
    if (scope == RTLD_GLOBAL)
        CHECK(dlsym(RTLD_DEFAULT, "hsaKmtOpenKFD") == *(void **)&a->open);
    return 0;
}
