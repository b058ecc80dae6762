/* Preloaded: open() of a file whose last name is DENY_NAME (dxg without it) fails with the errno that DENY_ERRNO gives. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int denied(const char *path)
{
    const char *name = getenv("DENY_NAME"), *end = strrchr(path, '/');
    if (!end || strcmp(end + 1, name ? name : "dxg") != 0)
        return 0;
    errno = atoi(getenv("DENY_ERRNO"));
    return 1;
}

#define HOOK(name)                                                                           \
    int name(const char *path, int flags, ...)                                               \
    {                                                                                        \
        int (*next)(const char *, int, ...);                                                 \
        va_list list;                                                                        \
        va_start(list, flags);                                                               \
        mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;                            \
        va_end(list);                                                                        \
        if (denied(path))                                                                    \
            return -1;                                                                       \
        *(void **)&next = dlsym(RTLD_NEXT, #name);                                           \
        return next(path, flags, mode);                                                      \
    }

HOOK(open)
HOOK(open64)
