// A client of the kernel, run under LD_PRELOAD or by fake-kfd; the scenario is its argument. Ends with 0 when everything
// was as told. Under LD_PRELOAD the fake sees opens and mappings too, its nodes look like devices, and it has a door for
// questions; fake-kfd tells in its report.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "rocdxg_fake_kfd.h"

#define GET_VERSION 0x80084b01u
#define GET_APERTURES 0xc0104b14u
#define ACQUIRE_VM 0x40084b15u
#define TOPOLOGY "/sys/devices/virtual/kfd/kfd/topology"

static int is_preloaded(void) { return getenv("LD_PRELOAD") != NULL; }

// A function of the door.
static void *door(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    CHECK(function != NULL);
    return function;
}

struct aperture {
    uint64_t limits[6];
    uint32_t gpu_id, pad;
};

static int open_kfd(void) { return open("/dev/kfd", O_RDWR | O_CLOEXEC); }
static int open_render(void) { return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC); }

static int acquire(int kfd, int render, uint32_t gpu_id)
{
    uint32_t args[2] = {(uint32_t)render, gpu_id};
    return ioctl(kfd, ACQUIRE_VM, args);
}

static uint32_t first_gpu(int kfd)
{
    struct aperture entries[2] = {0};
    struct { uint64_t entries; uint32_t count, pad; } args = {(uintptr_t)entries, 0, 0};
    CHECK(ioctl(kfd, GET_APERTURES, &args) == 0);
    CHECK(args.count == 1);
    args.count = 2;
    CHECK(ioctl(kfd, GET_APERTURES, &args) == 0);
    CHECK(args.count == 1 && entries[0].gpu_id != 0 && entries[1].gpu_id == 0);
    CHECK(entries[0].limits[5] == 0x7fffffffffff);
    return entries[0].gpu_id;
}

static uint64_t number(const char *path)
{
    uint64_t value = 0;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    CHECK(fscanf(file, "%lu", &value) == 1);
    fclose(file);
    return value;
}

static void ledger_is(uint64_t kfd, uint64_t render, uint64_t processes, uint64_t vms)
{
    if (!is_preloaded())
        return;
    int (*ledger)(uint64_t[7]) = door("rocdxg_fake_kfd_ledger");
    uint64_t counts[7];
    CHECK(ledger(counts) == 0);
    CHECK(counts[0] == kfd && counts[1] == render && counts[2] == processes && counts[3] == vms);
}

static void buffers_are(uint64_t buffers, uint64_t mappings)
{
    if (!is_preloaded())
        return;
    int (*ledger)(uint64_t[7]) = door("rocdxg_fake_kfd_ledger");
    uint64_t counts[7];
    CHECK(ledger(counts) == 0 && counts[4] == buffers && counts[5] == mappings);
}

static void violations_are(uint64_t expected)
{
    if (!is_preloaded())
        return;
    uint64_t (*count)(void) = door("rocdxg_fake_kfd_violations");
    CHECK(count() == expected);
}

static void vm(void)
{
    int kfd = open_kfd();
    CHECK(kfd >= 0);
    uint32_t version[2] = {0};
    CHECK(ioctl(kfd, GET_VERSION, version) == 0 && version[0] == 1 && version[1] == 23);
    uint32_t gpu_id = first_gpu(kfd);
    CHECK(gpu_id == number(TOPOLOGY "/nodes/1/gpu_id"));
    int render = open_render(), other = open_render(), copy = fcntl(render, F_DUPFD_CLOEXEC, 100);
    CHECK(render >= 0 && other >= 0 && copy >= 100);
    ledger_is(1, 2, 1, 0);
    CHECK(acquire(kfd, render, gpu_id) == 0);
    CHECK(acquire(kfd, render, gpu_id) == 0);
    CHECK(acquire(kfd, copy, gpu_id) == 0);
    FAILS(acquire(kfd, other, gpu_id), EBUSY);
    FAILS(acquire(kfd, 999, gpu_id), EINVAL);
    ledger_is(1, 2, 1, 1);
    close(other);
    close(render);
    ledger_is(1, 1, 1, 1);
    close(copy);
    ledger_is(1, 1, 1, 1); // The VM keeps its file.
    close(kfd);
    ledger_is(0, 1, 1, 1);
    FAILS(ioctl(kfd, GET_VERSION, version), EBADF);
    kfd = open_kfd();
    CHECK(kfd >= 0);
    FAILS(acquire(kfd, open_render(), gpu_id), EBUSY);
    violations_are(0);
    FAILS(ioctl(kfd, 0xc0284b82u, version), ENOTTY);
    violations_are(1);
    if (!is_preloaded())
        return;
    char text[64];
    int (*violation)(uint64_t, char *, size_t) = door("rocdxg_fake_kfd_violation");
    CHECK(violation(0, text, sizeof text) > 0 && strstr(text, "0xc0284b82") != NULL);
    CHECK(violation(1, text, sizeof text) == -1);
}

// By their descriptors nodes are devices; fake-kfd needs several GPUs for that.
static void devices(void)
{
    struct stat stat_of, by_path;
    int render = open_render(), kfd = open_kfd();
    CHECK(render >= 0 && fstat(render, &stat_of) == 0);
    CHECK(S_ISCHR(stat_of.st_mode) && major(stat_of.st_rdev) == 226 && minor(stat_of.st_rdev) == 128);
    CHECK(fstatat(render, "", &by_path, AT_EMPTY_PATH) == 0 && by_path.st_rdev == stat_of.st_rdev);
    struct statx extended;
    CHECK(statx(render, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &extended) == 0);
    CHECK(S_ISCHR(extended.stx_mode) && extended.stx_rdev_major == 226 && extended.stx_rdev_minor == 128);
    CHECK(fstat(kfd, &stat_of) == 0 && S_ISCHR(stat_of.st_mode) && major(stat_of.st_rdev) != 226);
    CHECK(stat("/dev/kfd", &by_path) == 0 && by_path.st_ino == stat_of.st_ino);
    CHECK(S_ISCHR(by_path.st_mode) || !is_preloaded());
    CHECK(fstatat(render, "/proc", &stat_of, AT_EMPTY_PATH) == 0 && S_ISDIR(stat_of.st_mode));
    CHECK(fstat(open("/proc", O_PATH), &stat_of) == 0 && S_ISDIR(stat_of.st_mode));
}

static void nodes(void)
{
    struct stat by_path, by_fd;
    CHECK(stat("/dev/dri/renderD128", &by_path) == 0);
    int render = open_render();
    CHECK(render >= 0 && fstat(render, &by_fd) == 0);
    CHECK(by_path.st_ino == by_fd.st_ino);
    CHECK(fstatat(render, "", &by_path, AT_EMPTY_PATH) == 0 && by_path.st_rdev == by_fd.st_rdev);
    CHECK(access("/dev/kfd", R_OK | W_OK) == 0);
    FAILS(access("/dev/dri/renderD140", F_OK), ENOENT);
    FAILS(stat("/dev/dri/renderD140", &by_path), ENOENT);
    FAILS(open("/dev/dri/renderD140", O_RDWR), ENOENT);
    FAILS(open("/dev/kfd", O_RDWR | O_DIRECTORY), ENOTDIR);
    CHECK(fcntl(render, F_GETFD) == FD_CLOEXEC);
    int inherited = openat(AT_FDCWD, "/dev/kfd", O_RDWR);
    CHECK(inherited >= 0 && fcntl(inherited, F_GETFD) == 0);

    unsigned entries = 0;
    DIR *folder = opendir(TOPOLOGY "/nodes");
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        entries += entry->d_name[0] != '.';
    CHECK(entries == 2);
    int at = openat(dirfd(folder), "1/properties", O_RDONLY);
    CHECK(at >= 0);
    CHECK(stat("/sys/class/kfd/kfd/topology/nodes/1/properties", &by_path) == 0 && S_ISREG(by_path.st_mode));
    CHECK(access("/sys/dev/char/226:128/device/drm/card0", F_OK) == 0);
    FAILS(access(TOPOLOGY "/nodes/2", F_OK), ENOENT);
    FILE *state = fopen("/sys/module/amdgpu/initstate", "r");
    char word[8] = "";
    CHECK(state != NULL && fgets(word, sizeof word, state) != NULL && strcmp(word, "live\n") == 0);

    int pipes[2], waiting = -1;
    CHECK(pipe(pipes) == 0 && write(pipes[1], "abc", 3) == 3);
    CHECK(ioctl(pipes[0], FIONREAD, &waiting) == 0 && waiting == 3);
    FAILS(ioctl(pipes[0], GET_VERSION, word), ENOTTY);
    violations_are(0);
}

static void forks(void)
{
    int kfd = open_kfd(), render = open_render();
    uint32_t gpu_id = first_gpu(kfd), version[2];
    CHECK(acquire(kfd, render, gpu_id) == 0);
    off_t doorbells = (off_t)(3ull << 62 | (uint64_t)gpu_id << 46);
    volatile char *bells = MAP_FAILED;
    if (is_preloaded()) {
        bells = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, doorbells);
        CHECK(bells != MAP_FAILED);
    }
    pid_t child = fork();
    if (child == 0) {
        FAILS(ioctl(kfd, GET_VERSION, version), EBADF);
        FAILS(ioctl(kfd, ACQUIRE_VM, NULL), EBADF);
        if (is_preloaded()) {
            CHECK(mmap(NULL, 8192, PROT_READ, MAP_SHARED, kfd, doorbells) == MAP_FAILED && errno == EBADF);
            CHECK(mincore((void *)bells, 8192, (unsigned char *)version) == -1 && errno == ENOMEM);
        }
        int own = open_kfd();
        CHECK(own >= 0 && ioctl(own, GET_VERSION, version) == 0);
        FAILS(acquire(own, render, gpu_id), EINVAL);
        CHECK(acquire(own, open_render(), gpu_id) == 0);
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ledger_is(1, 1, 1, 1);
    CHECK(access(TOPOLOGY "/generation_id", F_OK) == 0); // The child's end removes nothing of ours.
    violations_are(0);
}

static void maps(void)
{
    int kfd = open_kfd();
    uint64_t gpu_id = first_gpu(kfd);
    off_t doorbells = (off_t)(3ull << 62 | gpu_id << 46);
    char *first = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, doorbells);
    char *second = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, kfd, doorbells);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, (off_t)(gpu_id << 46));
    CHECK(first != MAP_FAILED && second != MAP_FAILED && page != MAP_FAILED);
    first[8191] = 7;
    CHECK(second[8191] == 7 && page[0] == 0);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, kfd, doorbells) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, kfd, 0) == MAP_FAILED && errno == ENODEV);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, open_render(), 1l << 32) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

static void execs(const char *program)
{
    int kfd = open("/dev/kfd", O_RDWR), closed = open_kfd();
    CHECK(kfd >= 0 && closed >= 0);
    char numbers[2][16];
    snprintf(numbers[0], 16, "%d", kfd);
    snprintf(numbers[1], 16, "%d", closed);
    execl(program, program, "executed", numbers[0], numbers[1], NULL);
    CHECK(!"exec");
}

static void executed(int kfd, int closed)
{
    uint32_t version[2];
    FAILS(fcntl(closed, F_GETFD), EBADF);
    FAILS(ioctl(kfd, GET_VERSION, version), EBADF);
    CHECK(open_kfd() >= 0);
    FAILS(ioctl(kfd, GET_VERSION, version), EBADF);
}

static void fails(void)
{
    if (is_preloaded()) {
        FAILS(open_kfd(), ENOMEM);
        FAILS(open_render(), EACCES);
        FAILS(open_render(), EACCES);
    }
    int kfd = open_kfd();
    CHECK(kfd >= 0);
    uint32_t version[2];
    CHECK(ioctl(kfd, GET_VERSION, version) == 0);
    FAILS(ioctl(kfd, GET_VERSION, version), EINVAL);
    CHECK(ioctl(kfd, GET_VERSION, version) == 0 && version[1] == 17);
    if (!is_preloaded())
        return;
    uint64_t (*calls)(const char *) = door("rocdxg_fake_kfd_calls");
    int (*fail)(const char *, uint64_t, int) = door("rocdxg_fake_kfd_fail");
    CHECK(calls("GET_VERSION") == 3 && calls("OPEN_RENDER") == 2 && calls("NOTHING") == 0);
    CHECK(fail("GET_VERSION", 1, EIO) == 0 && fail("NOTHING", 1, EIO) == -1);
    FAILS(ioctl(kfd, GET_VERSION, version), EIO);
}

static void broken(void)
{
    FAILS(open_kfd(), ENODEV);
    FAILS(open_render(), ENODEV);
    FAILS(access(TOPOLOGY, F_OK), ENODEV);
}

struct allocation {
    uint64_t va, size, handle, offset;
    uint32_t gpu_id, flags;
};

static void buffers(void)
{
    int kfd = open_kfd(), render = open_render(), other = open_render();
    uint32_t gpu_id = first_gpu(kfd);
    struct allocation gtt = {0x100000, 8192, 0, 0, gpu_id, 0xd6000002};
    FAILS(ioctl(kfd, 0xc0284b16u, &gtt), ENODEV);
    CHECK(acquire(kfd, render, gpu_id) == 0);
    CHECK(ioctl(kfd, 0xc0284b16u, &gtt) == 0);
    char *first = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, render, (off_t)gtt.offset);
    char *second = mmap(NULL, 4096, PROT_READ, MAP_SHARED, render, (off_t)gtt.offset);
    CHECK(first != MAP_FAILED && second != MAP_FAILED && first[0] == 0);
    CHECK(mmap(NULL, 8192, PROT_NONE, MAP_SHARED, render, (off_t)gtt.offset) != MAP_FAILED);
    if (is_preloaded()) {
        CHECK(mmap(NULL, 8192, PROT_READ, MAP_SHARED, other, (off_t)gtt.offset) == MAP_FAILED && errno == EACCES);
        CHECK(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, render, (off_t)gtt.offset) == MAP_FAILED && errno == EINVAL);
    }
    first[0] = 42;
    CHECK(second[0] == 42);
    struct { uint64_t handle, ids; uint32_t count, done; } map = {gtt.handle, (uintptr_t)&gpu_id, 1, 0};
    CHECK(ioctl(kfd, 0xc0184b18u, &map) == 0 && map.done == 1);
    buffers_are(1, 1);
    FAILS(ioctl(kfd, 0x40084b17u, &gtt.handle), EBUSY);
    map.done = 0;
    CHECK(ioctl(kfd, 0xc0184b19u, &map) == 0);
    CHECK(ioctl(kfd, 0x40084b17u, &gtt.handle) == 0);
    CHECK(second[0] == 42); // The mapping keeps the bytes.
    if (is_preloaded())
        CHECK(mmap(NULL, 8192, PROT_READ, MAP_SHARED, render, (off_t)gtt.offset) == MAP_FAILED && errno == EINVAL);
    buffers_are(0, 0);

    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct allocation user = {(uintptr_t)memory, 4096, 0, (uintptr_t)memory, gpu_id, 0xd6000004};
    CHECK(ioctl(kfd, 0xc0284b16u, &user) == 0 && user.handle == gtt.handle);
    struct allocation device = {0x200000, 4096, 0, (uintptr_t)second, gpu_id, 0xd6000004};
    FAILS(ioctl(kfd, 0xc0284b16u, &device), EFAULT); // Memory of a device is nobody's to pin.

    // Local memory behind a small BAR: mapped, and a touch is the end.
    struct allocation vram = {0x300000, 4096, 0, 0, gpu_id, 0xd0000001};
    CHECK(ioctl(kfd, 0xc0284b16u, &vram) == 0);
    volatile char *far = mmap(NULL, 4096, PROT_READ, MAP_SHARED, render, (off_t)vram.offset);
    CHECK(far != MAP_FAILED);
    pid_t child = fork();
    if (child == 0)
        _exit(far[0]);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    violations_are(0);
}

struct waiting {
    int kfd;
    uint32_t id, result;
};

static int wait_for(int kfd, uint32_t id, uint32_t timeout, uint32_t *result)
{
    struct { uint64_t age, unused[4]; uint32_t id, pad; } event = {.id = id};
    struct { uint64_t list; uint32_t count, all, timeout, result; } args = {(uintptr_t)&event, 1, 0, timeout, 9};
    int answer = ioctl(kfd, 0xc0184b0cu, &args);
    *result = args.result;
    return answer;
}

static void *waiter(void *argument)
{
    struct waiting *waiting = argument;
    CHECK(wait_for(waiting->kfd, waiting->id, 0xffffffff, &waiting->result) == 0);
    return NULL;
}

static void events(void)
{
    int kfd = open_kfd(), render = open_render();
    uint32_t gpu_id = first_gpu(kfd), result;
    CHECK(acquire(kfd, render, gpu_id) == 0);
    struct allocation page = {0x100000, 32768, 0, 0, gpu_id, 0xd6000002};
    CHECK(ioctl(kfd, 0xc0284b16u, &page) == 0);
    uint64_t *slots = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_SHARED, render, (off_t)page.offset);
    CHECK(slots != MAP_FAILED && slots[0] == 0);
    struct { uint64_t page; uint32_t trigger, type, reset, node, id, slot; } event = {page.handle, 0, 0, 1, 0, 0, 0};
    CHECK(ioctl(kfd, 0xc0204b08u, &event) == 0 && event.id == 1 && event.slot == 1);
    CHECK(slots[0] == UINT64_MAX && slots[4095] == UINT64_MAX);
    slots[2] = 5;
    event.page = 0;
    CHECK(ioctl(kfd, 0xc0204b08u, &event) == 0 && event.id == 2 && slots[2] == UINT64_MAX);
    FAILS(ioctl(kfd, 0x40084b17u, &page.handle), EPERM);

    CHECK(wait_for(kfd, 2, 30, &result) == 0 && result == 1);
    struct waiting waiting = {kfd, 2, 9};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, waiter, &waiting) == 0);
    usleep(20000); // It sleeps, and lets others in.
    CHECK(wait_for(kfd, 1, 0, &result) == 0 && result == 1);
    uint32_t set[2] = {2, 0};
    CHECK(ioctl(kfd, 0x40084b0au, set) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && waiting.result == 0);

    pid_t child = fork();
    if (child == 0) {
        int own = open_kfd();
        event.page = 0;
        CHECK(own >= 0 && ioctl(own, 0xc0204b08u, &event) == 0 && event.id == 1);
        CHECK(!is_preloaded() || event.page == 1ull << 63);
        uint64_t *fresh = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_SHARED, own, (off_t)event.page);
        CHECK(fresh != MAP_FAILED && fresh[1] == UINT64_MAX);
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    violations_are(0);
}

// Node 1 is denied, node 2 is not.
static void denied(void)
{
    char text[64];
    int file = open(TOPOLOGY "/nodes/1/gpu_id", O_RDONLY);
    CHECK(file >= 0);
    FAILS(read(file, text, sizeof text), EPERM);
    FAILS(pread(file, text, sizeof text, 0), EPERM);
    close(file);
    int folder = open(TOPOLOGY "/nodes/1", O_RDONLY | O_DIRECTORY);
    file = openat(folder, "caches/3/properties", O_RDONLY);
    CHECK(file >= 0);
    FAILS(read(file, text, sizeof text), EPERM);
    FILE *stream = fopen(TOPOLOGY "/nodes/1/properties", "r");
    CHECK(stream != NULL);
    errno = 0;
    CHECK(fgets(text, sizeof text, stream) == NULL && ferror(stream) && errno == EPERM);
    fclose(stream);
    CHECK(number(TOPOLOGY "/nodes/0/gpu_id") == 0);
    file = open(TOPOLOGY "/nodes/2/gpu_id", O_RDONLY);
    CHECK(read(file, text, sizeof text) > 0);
    int kfd = open_kfd();
    CHECK(kfd >= 0 && first_gpu(kfd) == number(TOPOLOGY "/nodes/2/gpu_id"));
    FAILS(open_render(), is_preloaded() ? EPERM : ENOENT);
    CHECK(open("/dev/dri/renderD129", O_RDWR) >= 0);
}

// What libdrm asks before it hands out a device.
static void drm(void)
{
    int render = open_render();
    struct { int major, minor, patch, pad; uint64_t lengths_and_texts[6]; } version = {0};
    CHECK(ioctl(render, 0xc0406400ul, &version) == 0 && version.major == 3 && version.lengths_and_texts[0] == 6);
    char name[8] = "";
    version.lengths_and_texts[1] = (uintptr_t)name;
    version.lengths_and_texts[2] = version.lengths_and_texts[4] = 0;
    CHECK(ioctl(render, 0xc0406400ul, &version) == 0 && strcmp(name, "amdgpu") == 0);
    uint32_t device[92] = {0}, working = 0;
    uint32_t args[8] = {(uint32_t)(uintptr_t)&working, (uint32_t)((uintptr_t)&working >> 32), 4, 0};
    CHECK(ioctl(render, 0x40206445ul, args) == 0 && working == 1);
    uint32_t info[8] = {(uint32_t)(uintptr_t)device, (uint32_t)((uintptr_t)device >> 32), sizeof device, 0x16};
    CHECK(ioctl(render, 0x40206445ul, info) == 0 && device[0] == 0x744c);
    uint32_t client[10] = {0};
    if (is_preloaded())
        FAILS(ioctl(render, 0xc0286405ul, client), EACCES);
    else
        CHECK(ioctl(render, 0xc0286405ul, client) == 0 && client[1] == 1 && client[2] == (uint32_t)getpid());
    violations_are(0);
}

int main(int argc, char **argv)
{
    const char *scenario = argc > 1 ? argv[1] : "";
    if (!strcmp(scenario, "vm")) vm();
    else if (!strcmp(scenario, "nodes")) nodes();
    else if (!strcmp(scenario, "devices")) devices();
    else if (!strcmp(scenario, "fork")) forks();
    else if (!strcmp(scenario, "maps")) maps();
    else if (!strcmp(scenario, "exec")) execs(argv[0]);
    else if (!strcmp(scenario, "executed") && argc == 4) executed(atoi(argv[2]), atoi(argv[3]));
    else if (!strcmp(scenario, "fails")) fails();
    else if (!strcmp(scenario, "broken")) broken();
    else if (!strcmp(scenario, "buffers")) buffers();
    else if (!strcmp(scenario, "events")) events();
    else if (!strcmp(scenario, "denied")) denied();
    else if (!strcmp(scenario, "drm")) drm();
    else return 2;
    return 0;
}
