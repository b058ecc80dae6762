/* SPDX-License-Identifier: MIT
 *
 * Control of the software libdxcore: what is alive, what was done wrong, what shall go wrong next.
 *
 * A C program finds these functions in the libdxcore.so that it loaded (dlsym). All of them concern the calling
 * process. The environment variables that do the same from load time are listed in fakes/dxcore/src/lib.rs.
 */
#ifndef ROCDXG_FAKE_H
#define ROCDXG_FAKE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernel objects that are alive, of all kinds but "lost_opens". */
uint64_t rocdxg_fake_live_objects(void);

/* Those of one kind, -1 for a name that is none: "adapter_opens", "devices", "paging_queues", "allocations", "resources",
 * "shared" (resources that were shared or opened), "pins" (allocations that hold pages of the client), "residents" (each
 * allocation as often as it was made resident), "locks", "ranges" (of GPU addresses), "mappings", "fences" (monitored ones),
 * "waits" (with an event), "lost_opens". */
int64_t rocdxg_fake_live(const char *kind);

/* How often the contract was violated. */
uint64_t rocdxg_fake_violations(void);

/* Text of one violation, from 0; NULL when there is none of that number. Valid until the next reset or unload. */
const char *rocdxg_fake_violation(uint64_t number);

/* Calls of one kind: "CreateDevice", "QueryAdapterInfo/31" for one query type, "Any" or NULL for all. */
uint64_t rocdxg_fake_calls(const char *name);

/* Makes the k-th call of a kind from now fail as the host's refusal shows, with 0 every one: 0, or -1 for a name that is
 * no kind. */
int rocdxg_fake_fail(const char *name, uint64_t k);

/* The same with an NTSTATUS, as far as the real stack can show it. 0x00000102 is a full ring. */
int rocdxg_fake_fail_with(const char *name, uint64_t k, int32_t status);

/* Forgets counts, failures and violations and starts with fresh tables: 0, or -1 when something is alive. */
int rocdxg_fake_reset(void);

/* The same, with the machine of that name or path: -1 also when it cannot be had. */
int rocdxg_fake_set_machine(const char *name);

/* Plugs an adapter (its position in the machine file) in or out: 0, or -1 when there is none. */
int rocdxg_fake_plug(uint32_t adapter, int present);

/* Stops or restarts an adapter: calls on it answer DEVICE_REMOVED. 0, or -1 when there is none. */
int rocdxg_fake_set_active(uint32_t adapter, int active);

/* Puts a device into a D3DKMT_DEVICEEXECUTION_STATE; the client learns of it only when it is announced. 0, or -1 when the
 * handle is no device's. */
int rocdxg_fake_set_device_state(uint32_t device, uint32_t execution, int announce);

/* When paging operations are done. delay_us is how long one takes, exactly or, with a seed, at most; it is done at the
 * next call or wait after that. Every immediate_every-th is done at once, 0 for none. With manual set, none is done
 * until rocdxg_fake_finish_paging. All 0 at the start. */
void rocdxg_fake_set_paging(uint32_t delay_us, uint32_t immediate_every, uint64_t seed, int manual);

/* Does the operations of a paging queue up to a fence value: how many there were to do, or -1 when the handle is none. */
int64_t rocdxg_fake_finish_paging(uint32_t queue, uint64_t value);

/* The GPU raises a monitored fence: 0, or -1 when the handle is none that may be signalled. */
int rocdxg_fake_signal(uint32_t fence, uint64_t value);

/* What may be resident in a segment group (0 local, 1 non-local) of an adapter (its position in the machine file), in
 * bytes; UINT64_MAX for what the host chooses itself. 0, or -1 when there is no such group. */
int rocdxg_fake_set_budget(uint32_t adapter, uint32_t group, uint64_t bytes);

/* The GPU of an adapter reads or writes through this process's page tables: 0, or -1 for a page fault, which is counted. At
 * most 1 GiB. */
int rocdxg_fake_gpu_read(uint32_t adapter, uint64_t va, void *to, uint64_t bytes);
int rocdxg_fake_gpu_write(uint32_t adapter, uint64_t va, const void *from, uint64_t bytes);

/* How often the GPU had a page fault. */
uint64_t rocdxg_fake_gpu_faults(void);

/* The last one in words, NULL when there was none. Valid until the next fault, reset or unload. */
const char *rocdxg_fake_gpu_fault(void);

/* A number that the memory of an allocation, or a resource that was shared or opened, has in all processes; 0 for any
 * other handle. */
uint64_t rocdxg_fake_identity(uint32_t handle);

/* How many resources of all processes name the object of a shared descriptor, -1 when it names none. Those of a process
 * that was killed stay counted. */
int64_t rocdxg_fake_shared_holders(int descriptor);

#ifdef __cplusplus
}
#endif

#endif
