// A client of the kernel that calls it without libc's functions, run by fake-kfd; the scenario is its argument. Ends with 0
// when everything was as told.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../tests/check.h"

#define GET_VERSION 0x80084b01ul
#define GTT 0xd6000002u

static int node(const char *path) { return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC); }
static int kfd_node(void) { return node("/dev/kfd"); }
static long call(int fd, unsigned long request, void *argument) { return syscall(SYS_ioctl, fd, request, argument); }

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static long get_version(int kfd)
{
    uint32_t version[2] = {0};
    long answer = call(kfd, GET_VERSION, version);
    CHECK(answer != 0 || (version[0] == 1 && version[1] == 23));
    return answer;
}

struct allocation {
    uint64_t va, size, handle, offset;
    uint32_t gpu_id, flags;
};

static int kfd, render;
static uint32_t gpu_id;

static void bind(void)
{
    kfd = kfd_node();
    render = node("/dev/dri/renderD128");
    CHECK(kfd >= 0 && render >= 0 && get_version(kfd) == 0);
    struct { uint64_t limits[6]; uint32_t gpu_id, pad; } apertures[2];
    struct { uint64_t entries; uint32_t count, pad; } args = {(uintptr_t)apertures, 2, 0};
    CHECK(call(kfd, 0xc0104b14, &args) == 0 && args.count == 1);
    gpu_id = apertures[0].gpu_id;
    uint32_t acquire[2] = {(uint32_t)render, gpu_id};
    CHECK(call(kfd, 0x40084b15, acquire) == 0);
}

static char *buffer(uint64_t size, uint64_t *handle)
{
    struct allocation args = {0x100000, size, 0, 0, gpu_id, GTT};
    CHECK(call(kfd, 0xc0284b16, &args) == 0);
    *handle = args.handle;
    char *memory = (char *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, render, args.offset);
    CHECK(memory != MAP_FAILED);
    return memory;
}

// Memory is zero, keeps what is written, and is another one each time.
static void raw(void)
{
    bind();
    uint64_t first, second;
    char *one = buffer(1 << 20, &first), *two = buffer(4096, &second);
    CHECK(one[0] == 0 && one[(1 << 20) - 1] == 0);
    memset(one, 0x5a, 1 << 20);
    CHECK(two[0] == 0 && one[(1 << 20) - 1] == 0x5a);
    CHECK(call(kfd, 0x40084b17, &first) == 0);
    CHECK(one[77] == 0x5a);
    CHECK(buffer(1 << 20, &first)[77] == 0);
    struct allocation registers = {0x200000, 4096, 0, 0, gpu_id, 0xd4000010};
    CHECK(call(kfd, 0xc0284b16, &registers) == 0);
    uint32_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, (off_t)registers.offset);
    CHECK(page != MAP_FAILED && *page == 0);
    *page = 1;
    FAILS(call(kfd, 0x80084b7f, page), ENOTTY);
    FAILS(call(kfd, GET_VERSION, (void *)8), EFAULT);
    FAILS(call(0, GET_VERSION, page), ENOTTY);
    FAILS(call(999, GET_VERSION, page), EBADF);
}

static uint32_t event(int auto_reset)
{
    uint32_t args[8] = {0, 0, 0, 0, (uint32_t)auto_reset, 0, 0, 0};
    CHECK(call(kfd, 0xc0204b08, args) == 0);
    return args[6];
}

static void set(uint32_t id)
{
    uint32_t args[2] = {id, 0};
    CHECK(call(kfd, 0x40084b0a, args) == 0);
}

struct waiting {
    struct { uint64_t age, unused[4]; uint32_t id, pad; } event;
    struct { uint64_t list; uint32_t count, all, timeout, result; } args;
};

static long wait_event(uint32_t id, uint32_t timeout, struct waiting *waiting)
{
    memset(waiting, 0, sizeof *waiting);
    waiting->event.id = id;
    waiting->args.list = (uintptr_t)&waiting->event;
    waiting->args.count = 1;
    waiting->args.timeout = timeout;
    waiting->args.result = 9;
    return call(kfd, 0xc0184b0c, &waiting->args);
}

static void *set_later(void *id)
{
    usleep(20000);
    set((uint32_t)(uintptr_t)id);
    return NULL;
}

static void *sleep_on(void *id)
{
    struct waiting waiting;
    CHECK(wait_event((uint32_t)(uintptr_t)id, 0xffffffff, &waiting) == 0 && waiting.args.result == 0);
    return NULL;
}

// A time-out takes its time and holds nobody up; several threads sleep at once; one set wakes all of an event.
static void waits(void)
{
    bind();
    struct waiting waiting;
    uint32_t never = event(1), often = event(0), once = event(1);
    uint64_t start = now();
    CHECK(wait_event(never, 150, &waiting) == 0 && waiting.args.result == 1);
    uint64_t took = now() - start;
    CHECK(took >= 150000000 && took < 2000000000);

    pthread_t sleepers[8], setter;
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&sleepers[i], NULL, sleep_on, (void *)(uintptr_t)often) == 0);
    usleep(30000);
    start = now();
    for (int i = 0; i < 100; i++)
        CHECK(get_version(kfd) == 0);
    CHECK(now() - start < 2000000000);
    set(often);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(sleepers[i], NULL) == 0);

    CHECK(pthread_create(&setter, NULL, set_later, (void *)(uintptr_t)once) == 0);
    CHECK(wait_event(once, 0xffffffff, &waiting) == 0 && waiting.args.result == 0);
    CHECK(pthread_join(setter, NULL) == 0);
    CHECK(wait_event(once, 0, &waiting) == 0 && waiting.args.result == 1);
}

static volatile sig_atomic_t rang;

static void ring(int signal)
{
    (void)signal;
    rang = 1;
}

// A signal ends a wait, which tells the time that is left; a killed sleeper holds nobody up.
static void interrupted(void)
{
    bind();
    uint32_t never = event(1);
    struct sigaction action = {.sa_handler = ring};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct waiting waiting;
    alarm(1);
    FAILS(wait_event(never, 60000, &waiting), EINTR);
    CHECK(rang && waiting.args.timeout < 60000 && waiting.args.timeout > 30000 && waiting.args.result == 2);

    pid_t child = fork();
    if (child == 0) {
        bind();
        wait_event(event(1), 0xffffffff, &waiting);
        _exit(1);
    }
    usleep(50000);
    CHECK(kill(child, SIGKILL) == 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(get_version(kfd) == 0);
}

// Who has a file from its parent did not open it, whoever uses it first; a number that is used again is another file.
static void inherited(void)
{
    int own = kfd_node(), again;
    CHECK(own >= 0);
    pid_t child = fork();
    if (child == 0) {
        FAILS(get_version(own), EBADF);
        _exit(get_version(kfd_node()) != 0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(get_version(own) == 0 && get_version(dup(own)) == 0);
    for (int i = 0; i < 3000; i++) {
        again = kfd_node();
        CHECK(again >= 0 && get_version(again) == 0);
        close(again);
    }
    FAILS(get_version(again), EBADF);
    again = open("/dev/null", O_RDWR);
    FAILS(get_version(again), ENOTTY);
}

static void *opens(void *unused)
{
    for (int i = 0; i < 50; i++) {
        int fd = kfd_node();
        CHECK(fd >= 0);
        for (int j = 0; j < 10; j++)
            CHECK(get_version(fd) == 0);
        close(fd);
    }
    return unused;
}

static void threads(void)
{
    pthread_t all[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&all[i], NULL, opens, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
}

// Freed memory goes back to the system.
static void reclaim(void)
{
    bind();
    for (int i = 0; i < 64; i++) {
        uint64_t handle;
        char *memory = buffer(8 << 20, &handle);
        memset(memory, 1, 8 << 20);
        CHECK(munmap(memory, 8 << 20) == 0 && call(kfd, 0x40084b17, &handle) == 0);
    }
    struct stat file;
    CHECK(stat("/dev/dri/renderD128", &file) == 0 && file.st_blocks * 512 < 128 << 20);
}

// A child that shares its parent's memory until it is another program: the next program after that is one more.
static void spawns(const char *program)
{
    int own = (int)syscall(SYS_openat, AT_FDCWD, "/dev/kfd", O_RDWR);
    CHECK(get_version(own) == 0);
    pid_t child = vfork();
    if (child == 0) {
        execl(program, program, "spawned", NULL);
        _exit(1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0 && get_version(own) == 0);
}

static void spawned(const char *program)
{
    int own = (int)syscall(SYS_openat, AT_FDCWD, "/dev/kfd", O_RDWR);
    CHECK(get_version(own) == 0);
    char number[16];
    snprintf(number, sizeof number, "%d", own);
    execl(program, program, "executed", number, NULL);
    CHECK(!"exec");
}

static void executed(int file)
{
    FAILS(get_version(file), EBADF);
    CHECK(get_version(kfd_node()) == 0);
}

static void loop(int count)
{
    int fd = kfd_node();
    CHECK(fd >= 0 && get_version(fd) == 0);
    uint32_t version[2];
    uint64_t start = now();
    for (int i = 0; i < count; i++)
        call(fd, GET_VERSION, version);
    printf("%.2f us\n", (double)(now() - start) / 1000 / count);
}

int main(int argc, char **argv)
{
    const char *scenario = argc > 1 ? argv[1] : "";
    if (!strcmp(scenario, "raw")) raw();
    else if (!strcmp(scenario, "waits")) waits();
    else if (!strcmp(scenario, "interrupted")) interrupted();
    else if (!strcmp(scenario, "inherited")) inherited();
    else if (!strcmp(scenario, "threads")) threads();
    else if (!strcmp(scenario, "reclaim")) reclaim();
    else if (!strcmp(scenario, "spawns")) spawns(argv[0]);
    else if (!strcmp(scenario, "spawned")) spawned(argv[0]);
    else if (!strcmp(scenario, "executed") && argc == 3) executed(atoi(argv[2]));
    else if (!strcmp(scenario, "loop") && argc == 3) loop(atoi(argv[2]));
    else return 2;
    return 0;
}
