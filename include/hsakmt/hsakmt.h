/* SPDX-License-Identifier: MIT
 *
 * Functions of the thunk.
 * Written by tools/headers from src/abi and src/ffi; do not edit.
 */
#ifndef ROCDXG_HSAKMT_H
#define ROCDXG_HSAKMT_H

#include "hsakmttypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif /* ROCDXG_HSAKMT_H */
