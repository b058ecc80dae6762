/* Preloaded: tells the program that it runs with more rights than its user, as the kernel tells set-uid programs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type)
{
    unsigned long (*next)(unsigned long);
    if (type == AT_SECURE)
        return 1;
    *(void **)&next = dlsym(RTLD_NEXT, "getauxval");
    return next ? next(type) : 0;
}
