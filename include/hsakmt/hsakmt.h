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

/** Writes the clocks of a node and of the host, read together. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 NodeId, HsaClockCounters *Counters);

/** Writes how a node lays out surfaces in memory. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 NodeId, HsaGpuTileConfig *config);

/** Writes where the list of a node's counters is; *CounterProperties is NULL after a failure. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPmcGetCounterProperties(HSAuint32 NodeId, HsaCounterProperties **CounterProperties);

/** Prepares a trace of some counters. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtPmcRegisterTrace(HSAuint32 NodeId,
                                     HSAuint32 NumberOfCounters,
                                     HsaCounter *Counters,
                                     HsaPmcTraceRoot *TraceRoot);

/** Ends what hsaKmtPmcRegisterTrace began. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPmcUnregisterTrace(HSAuint32 NodeId, HSATraceId TraceId);

/** Takes the counters of a trace for this process. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPmcAcquireTraceAccess(HSAuint32 NodeId, HSATraceId TraceId);

/** Gives back the counters of a trace. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPmcReleaseTraceAccess(HSAuint32 NodeId, HSATraceId TraceId);

/** Starts to count into a buffer. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPmcStartTrace(HSATraceId TraceId, void *TraceBuffer, HSAuint64 TraceBufferSizeBytes);

/** Writes the counts of a trace to its buffer. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPmcQueryTrace(HSATraceId TraceId);

/** Stops to count. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPmcStopTrace(HSATraceId TraceId);

/** Takes the stream of performance samples of a node. */
HSAKMTAPI HSAKMT_STATUS hsaKmtSPMAcquire(HSAuint32 PreferredNode);

/** Gives back the stream of performance samples of a node. */
HSAKMTAPI HSAKMT_STATUS hsaKmtSPMRelease(HSAuint32 PreferredNode);

/** Says where samples go next, and waits for those of the place before. NULL stops the stream. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtSPMSetDestBuffer(HSAuint32 PreferredNode,
                                     HSAuint32 SizeInBytes,
                                     HSAuint32 *timeout,
                                     HSAuint32 *SizeCopied,
                                     void *DestMemoryAddress,
                                     bool *isSPMDataLoss);

/** Tells whether the program counter can be sampled: SUCCESS, or NOT_SUPPORTED. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPcSamplingSupport(void);

/** Writes the ways in which a node can sample the program counter, as many as fit, and how many bytes all need. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtPcSamplingQueryCapabilities(HSAuint32 NodeId,
                                                void *sample_info,
                                                HSAuint32 sample_info_sz,
                                                HSAuint32 *sz_needed);

/** Makes a sampler of the program counter; *traceId is 0 after a failure. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtPcSamplingCreate(HSAuint32 node_id,
                                     HsaPcSamplingInfo *sample_info,
                                     HsaPcSamplingTraceId *traceId);

/** Stops a sampler and destroys it. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPcSamplingDestroy(HSAuint32 NodeId, HsaPcSamplingTraceId traceId);

/** Starts a sampler. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPcSamplingStart(HSAuint32 NodeId, HsaPcSamplingTraceId traceId);

/** Stops a sampler. */
HSAKMTAPI HSAKMT_STATUS hsaKmtPcSamplingStop(HSAuint32 NodeId, HsaPcSamplingTraceId traceId);

/**
 * Tells whether every GPU can be debugged: SUCCESS, or NOT_SUPPORTED. Takes no snapshot reference; without a
 * snapshot there is no GPU to ask.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtCheckRuntimeDebugSupport(void);

/** Registers the runtime with the debugger interface of the driver. */
HSAKMTAPI HSAKMT_STATUS hsaKmtRuntimeEnable(void *rDebug, bool setupTtmp);

/**
 * Takes back what hsaKmtRuntimeEnable did. Where that has not succeeded there is nothing to take back, and it is
 * SUCCESS also in a fork child that has not opened the device.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtRuntimeDisable(void);

/** Writes the mask of runtime capabilities that hsaKmtRuntimeEnable got, 0 before it. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *caps_mask);

/** Registers the process with the first debugger interface. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDbgRegister(HSAuint32 NodeId);

/** Takes back what hsaKmtDbgRegister did. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDbgUnregister(HSAuint32 NodeId);

/** Acts on waves of a node. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtDbgWavefrontControl(HSAuint32 NodeId,
                                        HSA_DBG_WAVEOP Operand,
                                        HSA_DBG_WAVEMODE Mode,
                                        HSAuint32 TrapId,
                                        HsaDbgWaveMessage *DbgWaveMsgRing);

/** Sets watch points on a node. The lists of masks and of events may be NULL. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtDbgAddressWatch(HSAuint32 NodeId,
                                    HSAuint32 NumWatchPoints,
                                    HSA_DBG_WATCH_MODE *WatchMode,
                                    void **WatchAddress,
                                    HSAuint64 *WatchMask,
                                    HsaEvent **WatchEvent);

/** Makes this process one that can be dumped. The caller frees *runtime_info, which is NULL after a failure. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDbgEnable(void **runtime_info, HSAuint32 *data_size);

/** Takes back what hsaKmtDbgEnable did. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDbgDisable(void);

/** Writes where a list of the GPUs is. The caller frees *data, which is NULL after a failure. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDbgGetDeviceData(void **data, HSAuint32 *n_entries, HSAuint32 *entry_size);

/**
 * Writes where a list of the queues is, which may be stopped for it. The caller frees *data, which is NULL after
 * a failure.
 */
HSAKMTAPI
HSAKMT_STATUS hsaKmtDbgGetQueueData(void **data,
                                    HSAuint32 *n_entries,
                                    HSAuint32 *entry_size,
                                    bool suspend_queues);

/** Passes a request to the debugger interface of the kernel. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtDebugTrapIoctl(struct kfd_ioctl_dbg_trap_args *args,
                                   HSA_QUEUEID *Queues,
                                   HSAuint64 *DebugReturn);

/** Writes the state of the runtime as the kernel keeps it. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetCoreRuntimeInfo(struct kfd_runtime_info *runtime_info);

/** Writes what a core dump says of the GPU that the kernel numbers gpu_id. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetCoreDeviceInfo(HSAuint32 gpu_id, struct kfd_dbg_device_info_entry *device_info);

/** Writes the version of the kernel's debugger interface. Gone from the contract since 6.2. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetKernelDebugTrapVersionInfo(HSAuint32 *Major, HSAuint32 *Minor);

/** Creates an event; *Event is NULL after a failure. INVALID_PARAMETER for a kind that does not exist. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *EventDesc,
                                bool ManualReset,
                                bool IsSignaled,
                                HsaEvent **Event);

/** Destroys an event. SUCCESS for NULL: there is nothing to destroy. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *Event);

/** Signals an event. INVALID_HANDLE for NULL. */
HSAKMTAPI HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *Event);

/** Takes back the signal of an event. INVALID_HANDLE for NULL. */
HSAKMTAPI HSAKMT_STATUS hsaKmtResetEvent(HsaEvent *Event);

/**
 * Tells whether an event is one; no driver tells its state without consuming it. INVALID_HANDLE for
 * NULL and for what is no event.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent *Event);

/** Waits until an event is signalled, at most Milliseconds (0xffffffff: without limit). INVALID_HANDLE for NULL. */
HSAKMTAPI HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *Event, HSAuint32 Milliseconds);

/**
 * hsaKmtWaitOnEvent that returns at once when the event was signalled more than *event_age times; the
 * number of signals is written back.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *Event, HSAuint32 Milliseconds, uint64_t *event_age);

/**
 * Waits until one of NumEvents events is signalled, or with WaitOnAll each of them. INVALID_HANDLE when the
 * array is NULL.
 */
HSAKMTAPI
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent **Events,
                                         HSAuint32 NumEvents,
                                         bool WaitOnAll,
                                         HSAuint32 Milliseconds);

/** hsaKmtWaitOnMultipleEvents with the number of signals that the caller has seen of each event. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent **Events,
                                             HSAuint32 NumEvents,
                                             bool WaitOnAll,
                                             HSAuint32 Milliseconds,
                                             uint64_t *event_age);

/** Opens a file from which the system management events of a node are read; *fd is -1 after a failure. */
HSAKMTAPI HSAKMT_STATUS hsaKmtOpenSMI(HSAuint32 NodeId, int *fd);

/** Sets how a node caches two ranges of memory. For one generation of APUs that no platform here has. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 Node,
                                    HSAuint32 DefaultPolicy,
                                    HSAuint32 AlternatePolicy,
                                    void *MemoryAddressAlternate,
                                    HSAuint64 MemorySizeInBytes);

/**
 * Allocates memory on a node. *MemoryAddress is the wanted address when FixedAddress is set, and otherwise
 * NULL after a failure.
 */
HSAKMTAPI
HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 PreferredNode,
                                HSAuint64 SizeInBytes,
                                HsaMemFlags MemFlags,
                                void **MemoryAddress);

/** hsaKmtAllocMemory at an address that is a multiple of Alignment, a power of two. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 PreferredNode,
                                     HSAuint64 SizeInBytes,
                                     HSAuint64 Alignment,
                                     HsaMemFlags MemFlags,
                                     void **MemoryAddress);

/** hsaKmtAllocMemory of host memory through the page tables of the GPU node GttAnchorNode. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtAllocMemoryHostGtt(HSAuint32 PreferredNode,
                                       HSAuint32 GttAnchorNode,
                                       HSAuint64 SizeInBytes,
                                       HsaMemFlags MemFlags,
                                       void **MemoryAddress);

/** Frees memory that was allocated. SizeInBytes is not used. */
HSAKMTAPI HSAKMT_STATUS hsaKmtFreeMemory(void *MemoryAddress, HSAuint64 SizeInBytes);

/** Writes how much memory of a GPU node is free, in bytes. */
HSAKMTAPI HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 Node, HSAuint64 *AvailableBytes);

/** Lets all GPUs use memory of the process. */
HSAKMTAPI HSAKMT_STATUS hsaKmtRegisterMemory(void *MemoryAddress, HSAuint64 MemorySizeInBytes);

/** Lets some GPUs use memory of the process. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void *MemoryAddress,
                                          HSAuint64 MemorySizeInBytes,
                                          HSAuint64 NumberOfNodes,
                                          HSAuint32 *NodeArray);

/** Lets all GPUs use memory of the process, with the coherence that the flags say. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *MemoryAddress,
                                            HSAuint64 MemorySizeInBytes,
                                            HsaMemFlags MemFlags);

/** Ends what a registration began. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDeregisterMemory(void *MemoryAddress);

/** Maps memory for all GPUs that may use it and writes its address there. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *MemoryAddress,
                                   HSAuint64 MemorySizeInBytes,
                                   HSAuint64 *AlternateVAGPU);

/** Maps memory for the GPUs of NodeArray and writes its address there. Up to 7.2 the flags were of another type. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *MemoryAddress,
                                        HSAuint64 MemorySizeInBytes,
                                        HSAuint64 *AlternateVAGPU,
                                        HsaMemFlags MemFlags,
                                        HSAuint64 NumberOfNodes,
                                        HSAuint32 *NodeArray);

/** Takes memory away from the GPUs. SUCCESS for NULL: there is nothing to take. */
HSAKMTAPI HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *MemoryAddress);

/** Maps a resource of the first graphics drivers. No platform does. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtMapGraphicHandle(HSAuint32 NodeId,
                                     HSAuint64 GraphicDeviceHandle,
                                     HSAuint64 GraphicResourceHandle,
                                     HSAuint64 GraphicResourceOffset,
                                     HSAuint64 GraphicResourceSize,
                                     HSAuint64 *FlatMemoryAddress);

/** Unmaps what hsaKmtMapGraphicHandle mapped, which is nothing. */
HSAKMTAPI HSAKMT_STATUS hsaKmtUnmapGraphicHandle(HSAuint32 NodeId, HSAuint64 FlatMemoryAddress, HSAuint64 SizeInBytes);

/** Writes what is known of an address inside an allocation. */
HSAKMTAPI HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *Pointer, HsaPointerInfo *PointerInfo);

/** Stores a pointer of the caller with an allocation, for hsaKmtQueryPointerInfo. */
HSAKMTAPI HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *Pointer, void *UserData);

/** Makes the first page of an allocation ordinary memory, for the address sanitizer. */
HSAKMTAPI HSAKMT_STATUS hsaKmtReplaceAsanHeaderPage(void *addr);

/** Takes back what hsaKmtReplaceAsanHeaderPage did. */
HSAKMTAPI HSAKMT_STATUS hsaKmtReturnAsanHeaderPage(void *addr);

/** Moves data between device memory and a file. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtAisReadWriteFile(void *MemoryAddress,
                                     HSAuint64 MemorySizeInBytes,
                                     HSAint32 fd,
                                     HSAint64 file_offset,
                                     HsaAisFlags AisFlags,
                                     HSAuint64 *SizeCopiedInBytes,
                                     HSAint32 *status);

/** Reads memory of another process. No platform does. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtProcessVMRead(HSAuint32 Pid,
                                  HsaMemoryRange *LocalMemoryArray,
                                  HSAuint64 LocalMemoryArrayCount,
                                  HsaMemoryRange *RemoteMemoryArray,
                                  HSAuint64 RemoteMemoryArrayCount,
                                  HSAuint64 *SizeCopied);

/** Writes memory of another process. No platform does. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtProcessVMWrite(HSAuint32 Pid,
                                   HsaMemoryRange *LocalMemoryArray,
                                   HSAuint64 LocalMemoryArrayCount,
                                   HsaMemoryRange *RemoteMemoryArray,
                                   HSAuint64 RemoteMemoryArrayCount,
                                   HSAuint64 *SizeCopied);

/**
 * Sets how long the kernel waits after a memory fault before it stops the process, in milliseconds. Works without
 * an open device where it works at all.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtSetSigbusDelay(HSAuint32 NodeId, HSAuint32 DelayMs);

/** Sets aside a part of the cache of a node, in bytes. Works without an open device where it works at all. */
HSAKMTAPI HSAKMT_STATUS hsaKmtSetPersistingCacheSize(HSAuint32 NodeId, HSAuint64 SizeInBytes);

/**
 * Opens the GPU for this process, or takes one more reference on it.
 * Returns SUCCESS for the first reference and KERNEL_ALREADY_OPENED (22) for every further one; each of both owes
 * one hsaKmtCloseKFD. KERNEL_IO_CHANNEL_NOT_OPENED when no device file can be opened, DRIVER_MISMATCH when the
 * interface behind /dev/kfd is another one, ERROR when it does not answer or libdxcore cannot be used.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtOpenKFD(void);

/**
 * Gives back one reference of hsaKmtOpenKFD; the last one closes everything, step by step to the end, and
 * returns the first error. KERNEL_IO_CHANNEL_NOT_OPENED when none is left.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtCloseKFD(void);

/** Tells the version of the kernel interface. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *VersionInfo);

/** Writes whether a software model of a GPU stands in for the driver, which is never so. Works before any open. */
HSAKMTAPI HSAKMT_STATUS hsaKmtModelEnabled(bool *enable);

/** Creates a queue on a node. SDMA engines that the caller names are for hsaKmtCreateQueueExt. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 NodeId,
                                HSA_QUEUE_TYPE Type,
                                HSAuint32 QueuePercentage,
                                HSA_QUEUE_PRIORITY Priority,
                                void *QueueAddress,
                                HSAuint64 QueueSizeInBytes,
                                HsaEvent *Event,
                                HsaQueueResource *QueueResource);

/** Creates a queue on a node, for SDMA on the engine that is named. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtCreateQueueExt(HSAuint32 NodeId,
                                   HSA_QUEUE_TYPE Type,
                                   HSAuint32 QueuePercentage,
                                   HSA_QUEUE_PRIORITY Priority,
                                   HSAuint32 SdmaEngineId,
                                   void *QueueAddress,
                                   HSAuint64 QueueSizeInBytes,
                                   HsaEvent *Event,
                                   HsaQueueResource *QueueResource);

/** Creates a queue on a node, with a ring of metadata beside it. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtCreateQueueV2(HSAuint32 NodeId,
                                  HSA_QUEUE_TYPE Type,
                                  HSAuint32 QueuePercentage,
                                  HSA_QUEUE_PRIORITY Priority,
                                  HSAuint32 SdmaEngineId,
                                  void *QueueAddress,
                                  HSAuint64 QueueSizeInBytes,
                                  HSAuint64 MetaDataPrefetchSizeInBytes,
                                  HsaEvent *Event,
                                  HsaQueueResource *QueueResource);

/** Changes a queue; 0 percent or a ring at NULL pauses it. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID QueueId,
                                HSAuint32 QueuePercentage,
                                HSA_QUEUE_PRIORITY Priority,
                                void *QueueAddress,
                                HSAuint64 QueueSize,
                                HsaEvent *Event);

/** Destroys a queue. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID QueueId);

/** Limits a queue to the compute units of a mask of CUMaskCount bits, which is a multiple of 32. */
HSAKMTAPI HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID QueueId, HSAuint32 CUMaskCount, HSAuint32 *QueueCUMask);

/** Writes the state of a queue that does not run. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetQueueInfo(HSA_QUEUEID QueueId, HsaQueueInfo *QueueInfo);

/** Writes the number by which the kernel knows a queue. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetKernelQueueId(HSA_QUEUEID QueueId, HSAuint32 *KernelInternalQueueId);

/** Tells a queue that its write index is value now, in place of a store to its doorbell. */
HSAKMTAPI HSAKMT_STATUS hsaKmtQueueRingDoorbell(HSA_QUEUEID QueueId, HSAuint64 value);

/** Gives nGWS global wave sync resources to a queue and writes the first of them, where that is wanted. */
HSAKMTAPI HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID QueueId, HSAuint32 nGWS, HSAuint32 *firstGWS);

/** Sets the code that runs at traps on a node, and its memory. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 NodeId,
                                   void *TrapHandlerBaseAddress,
                                   HSAuint64 TrapHandlerSizeInBytes,
                                   void *TrapBufferBaseAddress,
                                   HSAuint64 TrapBufferSizeInBytes);

/** Takes in a semaphore of another driver; *OutHandle is 0 after a failure. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtImportExternalSemaphore(HSAuint32 NodeId,
                                            void *NtHandle,
                                            HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE Type,
                                            HSA_EXTERNAL_SEMAPHORE_HANDLE *OutHandle);

/** Gives back a semaphore that was taken in. */
HSAKMTAPI HSAKMT_STATUS hsaKmtDestroyExternalSemaphore(HSA_EXTERNAL_SEMAPHORE_HANDLE Handle);

/** Signals a semaphore with Value when the queue has done what it was given so far. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtQueueSignalExternalSemaphore(HSA_QUEUEID QueueId,
                                                 HSA_EXTERNAL_SEMAPHORE_HANDLE Handle,
                                                 HSAuint64 Value);

/** Lets the queue wait until a semaphore has reached Value. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtQueueWaitExternalSemaphore(HSA_QUEUEID QueueId,
                                               HSA_EXTERNAL_SEMAPHORE_HANDLE Handle,
                                               HSAuint64 Value);

/**
 * hsaKmtRegisterGraphicsHandleToNodes with flags. How much of the newest field a caller has cannot be told here, so
 * it is not used.
 */
HSAKMTAPI
HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodesExt(HSAuint64 GraphicsResourceHandle,
                                                     HsaGraphicsResourceInfo *GraphicsResourceInfo,
                                                     HSAuint64 NumberOfNodes,
                                                     HSAuint32 *NodeArray,
                                                     HSA_REGISTER_MEM_FLAGS RegisterFlags);

/** Makes a handle by which another process may use memory. No platform does: see hsaKmtExportDMABufHandle. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtShareMemory(void *MemoryAddress,
                                HSAuint64 SizeInBytes,
                                HsaSharedMemoryHandle *SharedMemoryHandle);

/** Takes in memory of another process; *MemoryAddress is NULL. No platform does. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *SharedMemoryHandle,
                                         void **MemoryAddress,
                                         HSAuint64 *SizeInBytes);

/** hsaKmtRegisterSharedHandle for some GPUs. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *SharedMemoryHandle,
                                                void **MemoryAddress,
                                                HSAuint64 *SizeInBytes,
                                                HSAuint64 NumberOfNodes,
                                                HSAuint32 *NodeArray);

/**
 * Makes a dma-buf file of the memory at an address, and writes where in it the address lies. The caller closes the
 * file; *DMABufFd is -1 after a failure.
 */
HSAKMTAPI
HSAKMT_STATUS hsaKmtExportDMABufHandle(void *MemoryAddress,
                                       HSAuint64 MemorySizeInBytes,
                                       int *DMABufFd,
                                       HSAuint64 *Offset);

/** Writes the handle of the memory at MemoryAddress, which is mapped at va. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtGetMemoryHandle(void *va,
                                    void *MemoryAddress,
                                    HSAuint64 SizeInBytes,
                                    uint64_t *SharedMemoryHandle);

/** Maps a part of memory that was taken in at addr. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtMemoryVaMap(HsaMemoryObjectHandle Handle,
                                HSAuint64 offset,
                                HSAuint64 size,
                                HSAuint64 addr,
                                HsaMemoryMapFlags flags,
                                HSAuint32 NodeId);

/** Unmaps what hsaKmtMemoryVaMap mapped. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtMemoryVaUnmap(HsaMemoryObjectHandle Handle,
                                  HSAuint64 offset,
                                  HSAuint64 size,
                                  HSAuint64 addr,
                                  HSAuint32 NodeId);

/** Gives back memory that was taken in. */
HSAKMTAPI HSAKMT_STATUS hsaKmtMemHandleFree(HsaMemoryObjectHandle Handle);

/** Gives back memory that was taken in, but not the metadata that was attached to it. */
HSAKMTAPI HSAKMT_STATUS hsaKmtMemHandleFreePreserveMetadata(HsaMemoryObjectHandle Handle);

/** Writes the address at which the CPU can use memory that was taken in; *out_cpu_ptr is NULL when it cannot. */
HSAKMTAPI HSAKMT_STATUS hsaKmtMemoryCpuMap(HsaMemoryObjectHandle Handle, void **out_cpu_ptr);

/** Writes the address of memory that was taken in. The third argument of older callers is another one, of 4 bytes. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtMemoryGetCpuAddr(HsaAMDGPUDeviceHandle DeviceHandle,
                                     HsaMemoryObjectHandle MemoryHandle,
                                     HSAuint64 *cpu_addr);

/** Writes the device of a GPU node as libdrm knows it; *DeviceHandle is NULL after a failure. */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 NodeId, HsaAMDGPUDeviceHandle *DeviceHandle);

/**
 * Writes the device file behind a device of libdrm; *fd is -1 after a failure. Works without an open device
 * where it works at all.
 */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetAmdGPUDeviceFd(HsaAMDGPUDeviceHandle DeviceHandle, int *fd);

/** Takes in a dma-buf and writes what it is. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 GraphicsResourceHandle,
                                                  HsaGraphicsResourceInfo *GraphicsResourceInfo,
                                                  HSAuint64 NumberOfNodes,
                                                  HSAuint32 *NodeArray);

/**
 * Takes in foreign memory without an address. INVALID_HANDLE when the descriptor or the result is NULL. The file in
 * the descriptor stays the caller's.
 */
HSAKMTAPI
HSAKMT_STATUS hsaKmtHandleImport(const HsaHandleImportDesc *ImportDesc,
                                 HsaHandleImportResult *ImportResult,
                                 HsaHandleImportFlags *Flags);

/**
 * Makes a file of memory for others, which the caller closes. INVALID_HANDLE when the descriptor or the result is
 * NULL.
 */
HSAKMTAPI
HSAKMT_STATUS hsaKmtHandleExport(const HsaHandleExportDesc *ExportDesc,
                                 HsaMemoryExportResult *ExportResult,
                                 HsaHandleExportFlags *Flags);

/** Sets attributes of a range of whole pages. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtSVMSetAttr(void *start_addr,
                               HSAuint64 size,
                               unsigned int nattr,
                               HSA_SVM_ATTRIBUTE *attrs);

/** Writes the values of the attributes that are listed, of a range of whole pages. */
HSAKMTAPI
HSAKMT_STATUS hsaKmtSVMGetAttr(void *start_addr,
                               HSAuint64 size,
                               unsigned int nattr,
                               HSA_SVM_ATTRIBUTE *attrs);

/** Lets GPUs retry accesses that fault, or not. */
HSAKMTAPI HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable);

/** Writes whether GPUs retry accesses that fault. Callers take a failure as "no". */
HSAKMTAPI HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enable);

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
