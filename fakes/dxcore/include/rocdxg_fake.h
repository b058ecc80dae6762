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

/* Kernel objects that are alive: adapter opens, devices, paging queues. */
uint64_t rocdxg_fake_live_objects(void);

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

#ifdef __cplusplus
}
#endif

#endif
