/* The door of libfake_kfd.so for tests; find the functions with dlsym(RTLD_DEFAULT, ...). */
#ifndef ROCDXG_FAKE_KFD_H
#define ROCDXG_FAKE_KFD_H

#include <stddef.h>
#include <stdint.h>

/* What is alive: open files of /dev/kfd, of render nodes, processes with state, bound VMs, buffers, buffers in address
 * spaces, events. 0, or -1 without a driver. */
int rocdxg_fake_kfd_ledger(uint64_t counts[7]);
/* How many violations there were. */
uint64_t rocdxg_fake_kfd_violations(void);
/* Text of one violation, cut to the room: its whole length, or -1 when there is none of that number. */
int rocdxg_fake_kfd_violation(uint64_t number, char *to, size_t room);
/* How often a call was made: an ioctl's name without prefix, OPEN or OPEN_RENDER. */
uint64_t rocdxg_fake_kfd_calls(const char *name);
/* The k-th call of that name from now fails, with 0 every one: 0, or -1 for a name that is no call. */
int rocdxg_fake_kfd_fail(const char *name, uint64_t k, int error);

#endif
