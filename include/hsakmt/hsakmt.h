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

/**
 * Announces the structure sizes that the calling module was built with. From then on its calls get structures of
 * these forms; a size of 0 leaves what would hold without.
 * Works before any open. INVALID_PARAMETER when the structure itself has another size, DRIVER_MISMATCH when no
 * release has a size that it announces.
 */
HSAKMTAPI HSAKMT_STATUS DxgAbiCheck(HsaStructureSizes *StructureSizes);

/**
 * Tells whether every GPU can be debugged: SUCCESS, or NOT_SUPPORTED. Takes no snapshot reference; without a
 * snapshot there is no GPU to ask.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtCheckRuntimeDebugSupport(void);

/** Registers the runtime with the debugger interface of the driver. */
HSAKMTAPI HSAKMT_STATUS hsaKmtRuntimeEnable(void *rDebug, bool setupTtmp);

/**
 * Takes back what hsaKmtRuntimeEnable did. Since that cannot have succeeded here there is nothing to take back,
 * and it is SUCCESS also in a fork child that has not opened the device.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtRuntimeDisable(void);

/** Writes the mask of runtime capabilities, which is 0 on WSL. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *caps_mask);

/**
 * Opens the GPU for this process, or takes one more reference on it.
 * Returns SUCCESS for the first reference and KERNEL_ALREADY_OPENED (22) for every further one; each of both owes
 * one hsaKmtCloseKFD. KERNEL_IO_CHANNEL_NOT_OPENED when the device file cannot be opened, ERROR when libdxcore
 * cannot be used.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtOpenKFD(void);

/**
 * Gives back one reference of hsaKmtOpenKFD; the last one closes everything, step by step to the end, and
 * returns the first error. KERNEL_IO_CHANNEL_NOT_OPENED when none is left.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtCloseKFD(void);

/** Tells the version of the kernel interface. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *VersionInfo);

/**
 * Takes one reference on the topology snapshot, building it if there is none, and writes the machine-wide numbers.
 * On WSL only NumNodes is set. Each SUCCESS owes one hsaKmtReleaseSystemProperties.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *SystemProperties);

/** Gives back one reference on the snapshot; the last one drops it. INVALID_PARAMETER when none is left. */
HSAKMTAPI HSAKMT_STATUS hsaKmtReleaseSystemProperties(void);

/** Writes the first NumBanks memory banks of a node; banks beyond those it has are zeroed. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 NodeId,
                                            HSAuint32 NumBanks,
                                            HsaMemoryProperties *MemoryProperties);

/** Writes the frequency of a node's clock counter, in Hz. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetNodeWallclockFrequency(HSAuint32 NodeId, uint64_t *Frequency);

/** Writes the properties of a node. INVALID_NODE_UNIT without a snapshot or for a number that is no node. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 NodeId, HsaNodeProperties *NodeProperties);

/** Writes the first NumCaches caches of a node; INVALID_PARAMETER when it has fewer. ProcessorId is not used. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 NodeId,
                                           HSAuint32 ProcessorId,
                                           HSAuint32 NumCaches,
                                           HsaCacheProperties *CacheProperties);

/** Writes the first NumIoLinks links that start at a node; INVALID_PARAMETER when it has fewer. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 NodeId,
                                            HSAuint32 NumIoLinks,
                                            HsaIoLinkProperties *IoLinkProperties);

#ifdef __cplusplus
}
#endif

#endif /* ROCDXG_HSAKMT_H */
