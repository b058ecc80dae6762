/* SPDX-License-Identifier: MIT
 *
 * Version of librocdxg.
 * Written by tools/headers from src/abi and src/ffi; do not edit.
 */
#ifndef ROCDXG_ROCDXG_VERSION_H
#define ROCDXG_ROCDXG_VERSION_H

/** Major number: that of the file name. */
#define ROCDXG_LIB_VERSION_MAJOR 1
/** Minor number. */
#define ROCDXG_LIB_VERSION_MINOR 1
/** Patch number. */
#define ROCDXG_LIB_VERSION_PATCH 0

#endif /* ROCDXG_ROCDXG_VERSION_H */
