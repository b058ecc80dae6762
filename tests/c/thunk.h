/* What the C programs that call the thunk share: checks that name their place, and short names of states. */
#ifndef THUNK_H
#define THUNK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check_only.h"
#include "hsakmt/hsakmt.h"

#define CHECK_EQ(got, want)                                                                  \
    do {                                                                                     \
        long long got_ = (long long)(got), want_ = (long long)(want);                        \
        if (got_ != want_) {                                                                 \
            fprintf(stderr, "%s:%d: pid %d: %s is %lld, not %lld\n", __FILE__, __LINE__, (int)getpid(), #got, got_, want_); \
            _exit(1);                                                                        \
        }                                                                                    \
    } while (0)

#define OK HSAKMT_STATUS_SUCCESS
#define BAD HSAKMT_STATUS_INVALID_PARAMETER
#define NO_NODE HSAKMT_STATUS_INVALID_NODE_UNIT
#define CLOSED HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED
#define AGAIN HSAKMT_STATUS_KERNEL_ALREADY_OPENED

#endif
