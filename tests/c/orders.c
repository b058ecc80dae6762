/* Two users of one process, one linked to the thunk and one that loads it, in every order of open, acquire, release
 * and close: every sequence of up to LENGTH_BOTH calls with each call made by either user, and every sequence of up to
 * 8 calls with the user chosen by the sequence. Both reach one library with one state, which is checked first, so who
 * calls cannot matter beyond that. Each status is compared with a model of two counters. */
#include "check.h"

enum { LENGTH = 8, LENGTH_BOTH = 5 };

typedef HSAKMT_STATUS (*plain_call)(void);
typedef HSAKMT_STATUS (*acquire_call)(HsaSystemProperties *);

struct user {
    plain_call open, close, release;
    acquire_call acquire;
};

static unsigned opens, references;

static void step(const struct user *user, unsigned call)
{
    HsaSystemProperties system;
    switch (call) {
    case 0:
        CHECK_EQ(user->open(), opens ? AGAIN : OK);
        opens++;
        break;
    case 1:
        CHECK_EQ(user->acquire(&system), opens ? OK : CLOSED);
        if (opens)
            references++;
        break;
    case 2:
        CHECK_EQ(user->release(), !opens ? CLOSED : references ? OK : BAD);
        if (opens && references)
            references--;
        break;
    default:
        CHECK_EQ(user->close(), opens ? OK : CLOSED);
        if (opens && --opens == 0)
            references = 0;
    }
}

/* Ends every sequence: all is given back, and nothing is left. */
static void give_back(void)
{
    while (opens)
        step(&(struct user){ .close = hsaKmtCloseKFD }, 3);
    CHECK_EQ(live_objects(), 0);
}

int main(int argc, char **argv)
{
    /* Under valgrind every call costs a hundred times as much. */
    unsigned length = argc > 1 ? (unsigned)atoi(argv[1]) : LENGTH;
    struct user users[2] = { { hsaKmtOpenKFD, hsaKmtCloseKFD, hsaKmtReleaseSystemProperties, hsaKmtAcquireSystemProperties } };
    void *library = dlopen("librocdxg.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    *(void **)&users[1].open = dlsym(library, "hsaKmtOpenKFD");
    *(void **)&users[1].close = dlsym(library, "hsaKmtCloseKFD");
    *(void **)&users[1].release = dlsym(library, "hsaKmtReleaseSystemProperties");
    *(void **)&users[1].acquire = dlsym(library, "hsaKmtAcquireSystemProperties");
    CHECK(users[1].open == users[0].open && users[1].close == users[0].close);
    CHECK(users[1].release == users[0].release && users[1].acquire == users[0].acquire);

    unsigned long sequences = 0;
    for (unsigned n = 1; n <= length && n <= LENGTH_BOTH; n++)
        for (unsigned long all = 0; all < 1ul << (3 * n); all++, sequences++) {
            for (unsigned i = 0; i < n; i++)
                step(&users[all >> (3 * i) & 1], all >> (3 * i + 1) & 3);
            give_back();
        }
    for (unsigned n = LENGTH_BOTH + 1; n <= length; n++)
        for (unsigned long all = 0; all < 1ul << (2 * n); all++, sequences++) {
            for (unsigned i = 0; i < n; i++)
                step(&users[(all ^ all >> i) & 1], all >> (2 * i) & 3);
            give_back();
        }
    CHECK_EQ(dlclose(library), 0);
    round_trip();
    CHECK_EQ(violations(), 0);
    printf("%lu sequences\n", sequences);
    return 0;
}
