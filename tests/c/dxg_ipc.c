/* Two processes that share memory of a GPU: an import is what was exported, or an error. Argument: rounds.
 * Reports B076 and B078: the exporter frees, closes and allocates anew while the other side imports. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

static int (*gpu_read)(uint32_t, uint64_t, void *, uint64_t);
static int (*gpu_write)(uint32_t, uint64_t, const void *, uint64_t);

struct offer {
    uint64_t offset, bytes, mark;
};

static void find_doors(void)
{
    *(void **)&gpu_read = fake_symbol("rocdxg_fake_gpu_read");
    *(void **)&gpu_write = fake_symbol("rocdxg_fake_gpu_write");
}

static void send_offer(int socket, const struct offer *offer, int fd)
{
    struct iovec bytes = { (void *)offer, sizeof *offer };
    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = { 0 };
    struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control,
                              .msg_controllen = sizeof control };
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    CHECK(sendmsg(socket, &message, 0) == sizeof *offer);
}

static int take_offer(int socket, struct offer *offer)
{
    struct iovec bytes = { offer, sizeof *offer };
    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = { 0 };
    struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control,
                              .msg_controllen = sizeof control };
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got == 0)
        return -1;
    int fd;
    CHECK(got == sizeof *offer && control.head.cmsg_type == SCM_RIGHTS);
    memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    return fd;
}

static HsaMemFlags local(void)
{
    HsaMemFlags flags = { .Value = 0 };
    flags.ui32.NonPaged = flags.ui32.CoarseGrain = 1;
    return flags;
}

static void *alloc(uint64_t bytes)
{
    void *at = NULL;
    CHECK_EQ(hsaKmtAllocMemory(1, bytes, local(), &at), OK);
    return at;
}

static atomic_int stop;

/* Memory that comes and goes beside, so that addresses and handles are used again. */
static void *churn(void *unused)
{
    (void)unused;
    uint64_t mark = 0xdeaddeaddeaddead;
    while (!stop) {
        char *at = alloc(150 << 20);
        CHECK_EQ(gpu_write(0, (uintptr_t)at + 4096, &mark, sizeof mark), 0);
        CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
    }
    return NULL;
}

static void open_device(void)
{
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(acquire(), OK);
    find_doors();
}

static void close_device(void)
{
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK_EQ(violations(), 0);
}

static void exporter(int socket, int rounds)
{
    open_device();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, churn, NULL) == 0);
    for (int round = 0; round < rounds; round++) {
        struct offer offer = { .bytes = (round % 3 ? 64 << 10 : 200 << 20), .mark = 0x1000000000000000 + round };
        char *at = alloc(offer.bytes);
        CHECK_EQ(gpu_write(0, (uintptr_t)at + 4096, &offer.mark, sizeof offer.mark), 0);
        int fd = -1;
        HSAuint64 offset = 0;
        CHECK_EQ(hsaKmtExportDMABufHandle(at + 4096, 8192, &fd, &offset), OK);
        offer.offset = offset;
        send_offer(socket, &offer, fd);
        CHECK_EQ(close(fd), 0);
        /* A whole allocation lives on in the file. A piece goes back to its block, which another may get: so it is freed
         * when the other side is done. */
        char done;
        if (offer.bytes > (128 << 20))
            CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
        CHECK(read(socket, &done, 1) == 1);
        if (offer.bytes <= (128 << 20))
            CHECK_EQ(hsaKmtFreeMemory(at, 0), OK);
    }
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    close_device();
}

static void importer(int socket)
{
    open_device();
    struct offer offer;
    for (int fd; (fd = take_offer(socket, &offer)) >= 0;) {
        HsaGraphicsResourceInfo taken;
        memset(&taken, 0, sizeof taken);
        HSAuint32 node = 1;
        if (offer.mark % 5 == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
        CHECK_EQ(hsaKmtRegisterGraphicsHandleToNodes((HSAuint64)fd, &taken, 1, &node), OK);
        CHECK_EQ(close(fd), 0);
        uint64_t mark = 0;
        CHECK_EQ(gpu_read(0, (uintptr_t)taken.MemoryAddress + offer.offset, &mark, sizeof mark), 0);
        CHECK_EQ(mark, offer.mark);
        /* And back: what is written here is there. */
        CHECK(taken.SizeInBytes >= offer.bytes);
        CHECK_EQ(hsaKmtDeregisterMemory(taken.MemoryAddress), OK);
        CHECK_EQ(hsaKmtFreeMemory(taken.MemoryAddress, 0), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
        CHECK(write(socket, "x", 1) == 1);
    }
    close_device();
}

int main(int argc, char **argv)
{
    int ends[2];
    CHECK(argc == 2 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(ends[0]);
        importer(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    exporter(ends[0], atoi(argv[1]));
    close(ends[0]);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
