/* Preloaded: answers the five requests that opening /dev/kfd and reading the topology make, for GPUs 101, 102, ... whose
 * render nodes are files named renderD128, renderD129, ... Nothing else of a KFD is here: see fakes/kfd for that.
 *
 * SHIM_GPUS: how many; SHIM_VERSION: "1.17"; SHIM_FAIL: "CODE GPU ERRNO", a request (its number, in decimal) that fails,
 * for one GPU where the request names one. Each request is a line of the file SHIM_LOG: "pid number gpu result". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AMDGPU_INFO 0x40206445ul

enum { GET_VERSION = 0x01, SET_MEMORY_POLICY = 0x04, APERTURES = 0x14, ACQUIRE_VM = 0x15, FIRST_GPU = 101 };

/* The process that the bindings below belong to: a child has none. */
static pid_t owner;
static int bound[64];

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static int names_device(int fd, const char *device)
{
    char link[64], target[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0)
        return 0;
    target[length] = 0;
    const char *end = strrchr(target, '/');
    return end && strcmp(end + 1, device) == 0;
}

static int version(uint32_t *args)
{
    const char *text = getenv("SHIM_VERSION");
    return sscanf(text ? text : "1.17", "%u.%u", &args[0], &args[1]) == 2 ? 0 : EINVAL;
}

static int apertures(uint64_t *args)
{
    uint32_t room = (uint32_t)args[1], gpus = number("SHIM_GPUS", 0);
    uint64_t *entry = (uint64_t *)(uintptr_t)args[0];
    /* One CPU node. */
    if (room > gpus + 1)
        return EINVAL;
    for (uint32_t i = 0; i < room && i < gpus; i++, entry += 7) {
        entry[0] = 0x1000000000000, entry[1] = entry[0] + 0xffffffff;
        entry[2] = 0x2000000000000, entry[3] = entry[2] + 0xffffffff;
        entry[4] = 0x10000, entry[5] = 0x7fffffffffff;
        entry[6] = FIRST_GPU + i;
    }
    args[1] = gpus;
    return 0;
}

static int acquire_vm(const uint32_t *args)
{
    char device[32];
    uint32_t index = args[1] - FIRST_GPU;
    snprintf(device, sizeof device, "renderD%u", 128 + index);
    if (index >= (uint32_t)number("SHIM_GPUS", 0) || !names_device((int)args[0], device))
        return EINVAL;
    /* The real one lets the same open file pass; the thunk must not even ask. */
    if (bound[index])
        return EBUSY;
    bound[index] = 1;
    return 0;
}

static int memory_policy(const uint64_t *args)
{
    uint32_t index = (uint32_t)args[2] - FIRST_GPU, policy = args[2] >> 32, alternate = (uint32_t)args[3];
    if (policy > 1 || alternate > 1 || index >= (uint32_t)number("SHIM_GPUS", 0))
        return EINVAL;
    return bound[index] ? 0 : ESRCH;
}

static uint32_t gpu_of(unsigned code, const uint32_t *args)
{
    return code == ACQUIRE_VM ? args[1] : code == SET_MEMORY_POLICY ? args[4] : 0;
}

static int request(unsigned code, void *args)
{
    unsigned code_that_fails, gpu_that_fails;
    int error;
    const char *fail = getenv("SHIM_FAIL");
    if (fail && sscanf(fail, "%u %u %d", &code_that_fails, &gpu_that_fails, &error) == 3 && code == code_that_fails &&
        gpu_of(code, args) == gpu_that_fails)
        return error;
    switch (code) {
    case GET_VERSION: return version(args);
    case APERTURES: return apertures(args);
    case ACQUIRE_VM: return acquire_vm(args);
    case SET_MEMORY_POLICY: return memory_policy(args);
    default: return ENOTTY;
    }
}

int ioctl(int fd, unsigned long what, ...)
{
    va_list list;
    va_start(list, what);
    void *args = va_arg(list, void *);
    va_end(list);
    if (what == AMDGPU_INFO) {
        /* A device of family 145; where the answer goes and its size come first. */
        const uint64_t *info = args;
        memset((void *)(uintptr_t)info[0], 0, (uint32_t)info[1]);
        ((uint32_t *)(uintptr_t)info[0])[4] = 145;
        return 0;
    }
    if (((what >> 8) & 0xff) != 'K') {
        int (*next)(int, unsigned long, ...);
        *(void **)&next = dlsym(RTLD_NEXT, "ioctl");
        return next(fd, what, args);
    }
    if (owner != getpid()) {
        owner = getpid();
        memset(bound, 0, sizeof bound);
    }
    unsigned code = what & 0xff;
    int error = names_device(fd, "kfd") ? request(code, args) : EBADF;
    const char *log = getenv("SHIM_LOG");
    if (log && *log) {
        char line[100];
        int length = snprintf(line, sizeof line, "%d %u %u %d\n", (int)getpid(), code, gpu_of(code, args), error);
        int file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0 || write(file, line, (size_t)length) != length)
            abort();
        close(file);
    }
    errno = error;
    return error ? -1 : 0;
}
