#define _GNU_SOURCE

/* Loaded late into a running program, closed, loaded again: the library stays where it is, and so does its state
 * (reports B005 and B016). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_only.h"

static void *load(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    return library;
}

int main(void)
{
    void *first_open = NULL;
    for (int i = 0; i < 3; i++) {
        /* Profilers ask for the bare name, runtimes for the versioned one: one file, one state. */
        void *library = load("librocdxg.so.1"), *bare = load("librocdxg.so");
        CHECK(library == bare);
        int (*open_device)(void), (*close_device)(void);
        *(void **)&open_device = dlsym(library, "hsaKmtOpenKFD");
        *(void **)&close_device = dlsym(library, "hsaKmtCloseKFD");
        CHECK(open_device && close_device);
        /* Bound by its version too. */
        CHECK(dlvsym(library, "hsaKmtOpenKFD", "HSAKMT_1") == *(void **)&open_device);
        CHECK(!first_open || first_open == *(void **)&open_device);
        first_open = *(void **)&open_device;
        CHECK(open_device() == 0);
        CHECK(open_device() == 22);
        CHECK(close_device() == 0);
        CHECK(close_device() == 0);
        CHECK(dlclose(bare) == 0);
        CHECK(dlclose(library) == 0);
        /* The fork handlers have outlived that. */
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(0);
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    return 0;
}
