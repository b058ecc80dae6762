//! Queues and what is attached to them (queues-pm4.md 1.1, kfd.md 4). Built are trap handlers, where the driver has them;
//! each other call makes its checks and no more.
#![allow(unused_variables)]

use std::ffi::c_void;

use super::checks::{argument, given, node, nonzero, not_supported};
use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

const NOT_BUILT: &str = "queues are not built yet";
const NO_SEMAPHORES: &str = "external semaphores are not built yet";

/// The only kind of semaphore that WSL can open.
const OPENABLE: HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE = HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32;

fn check_priority(priority: HSA_QUEUE_PRIORITY) -> Result<(), Error> {
    let range = HSA_QUEUE_PRIORITY_MINIMUM.0..=HSA_QUEUE_PRIORITY_MAXIMUM.0;
    argument(range.contains(&priority.0), "the priority is not in -3..3")
}

fn check_queue(id: HSA_QUEUEID) -> Result<(), Error> {
    process::require_open()?;
    argument(id != 0, "QueueId is 0")
}

/// What every way to create a queue checks, in the order of kfd.md 4.1.
fn create(
    node_id: HSAuint32,
    kind: HSA_QUEUE_TYPE,
    priority: HSA_QUEUE_PRIORITY,
    resource: *const HsaQueueResource,
) -> Result<(), Error> {
    process::require_open()?;
    given("QueueResource", resource)?;
    check_priority(priority)?;
    node(node_id)?;
    let kinds =
        [HSA_QUEUE_COMPUTE, HSA_QUEUE_SDMA, HSA_QUEUE_SDMA_XGMI, HSA_QUEUE_SDMA_BY_ENG_ID, HSA_QUEUE_COMPUTE_AQL];
    argument(kinds.contains(&kind), "no queue of this type can be made")?;
    not_supported(NOT_BUILT)
}

/// What the name of a semaphore says: its node is in the lower half, the object in the upper one (dxg.md 4.4).
fn check_semaphore(handle: HSA_EXTERNAL_SEMAPHORE_HANDLE) -> Result<(), Error> {
    nonzero("the semaphore", handle.handle >> 32)?;
    node(handle.handle as u32)
}

fn on_semaphore(queue: HSA_QUEUEID, handle: HSA_EXTERNAL_SEMAPHORE_HANDLE) -> Result<(), Error> {
    process::require_open()?;
    nonzero("QueueId", queue)?;
    check_semaphore(handle)?;
    not_supported(NO_SEMAPHORES)
}

exports! {
    /// Creates a queue on a node. SDMA engines that the caller names are for [`hsaKmtCreateQueueExt`].
    fn hsaKmtCreateQueue(
        NodeId: HSAuint32,
        Type: HSA_QUEUE_TYPE,
        QueuePercentage: HSAuint32,
        Priority: HSA_QUEUE_PRIORITY,
        QueueAddress: *mut c_void,
        QueueSizeInBytes: HSAuint64,
        Event: *mut HsaEvent,
        QueueResource: *mut HsaQueueResource,
    ) {
        create(NodeId, Type, Priority, QueueResource)
    }

    /// Creates a queue on a node, for SDMA on the engine that is named.
    fn hsaKmtCreateQueueExt(
        NodeId: HSAuint32,
        Type: HSA_QUEUE_TYPE,
        QueuePercentage: HSAuint32,
        Priority: HSA_QUEUE_PRIORITY,
        SdmaEngineId: HSAuint32,
        QueueAddress: *mut c_void,
        QueueSizeInBytes: HSAuint64,
        Event: *mut HsaEvent,
        QueueResource: *mut HsaQueueResource,
    ) {
        create(NodeId, Type, Priority, QueueResource)
    }

    /// Creates a queue on a node, with a ring of metadata beside it.
    fn hsaKmtCreateQueueV2(
        NodeId: HSAuint32,
        Type: HSA_QUEUE_TYPE,
        QueuePercentage: HSAuint32,
        Priority: HSA_QUEUE_PRIORITY,
        SdmaEngineId: HSAuint32,
        QueueAddress: *mut c_void,
        QueueSizeInBytes: HSAuint64,
        MetaDataPrefetchSizeInBytes: HSAuint64,
        Event: *mut HsaEvent,
        QueueResource: *mut HsaQueueResource,
    ) {
        create(NodeId, Type, Priority, QueueResource)
    }

    /// Changes a queue; 0 percent or a ring at NULL pauses it.
    fn hsaKmtUpdateQueue(
        QueueId: HSA_QUEUEID,
        QueuePercentage: HSAuint32,
        Priority: HSA_QUEUE_PRIORITY,
        QueueAddress: *mut c_void,
        QueueSize: HSAuint64,
        Event: *mut HsaEvent,
    ) {
        check_queue(QueueId)?;
        check_priority(Priority)?;
        not_supported(NOT_BUILT)
    }

    /// Destroys a queue.
    fn hsaKmtDestroyQueue(QueueId: HSA_QUEUEID) {
        check_queue(QueueId)?;
        not_supported(NOT_BUILT)
    }

    /// Limits a queue to the compute units of a mask of `CUMaskCount` bits, which is a multiple of 32.
    fn hsaKmtSetQueueCUMask(QueueId: HSA_QUEUEID, CUMaskCount: HSAuint32, QueueCUMask: *mut HSAuint32) {
        check_queue(QueueId)?;
        given("QueueCUMask", QueueCUMask)?;
        argument(CUMaskCount != 0 && CUMaskCount.is_multiple_of(32), "CUMaskCount is no multiple of 32")?;
        not_supported(NOT_BUILT)
    }

    /// Writes the state of a queue that does not run.
    fn hsaKmtGetQueueInfo(QueueId: HSA_QUEUEID, QueueInfo: *mut HsaQueueInfo) {
        check_queue(QueueId)?;
        given("QueueInfo", QueueInfo)?;
        not_supported(NOT_BUILT)
    }

    /// Writes the number by which the kernel knows a queue.
    fn hsaKmtGetKernelQueueId(QueueId: HSA_QUEUEID, KernelInternalQueueId: *mut HSAuint32) {
        check_queue(QueueId)?;
        given("KernelInternalQueueId", KernelInternalQueueId)?;
        not_supported(NOT_BUILT)
    }

    /// Tells a queue that its write index is `value` now, in place of a store to its doorbell.
    fn hsaKmtQueueRingDoorbell(QueueId: HSA_QUEUEID, value: HSAuint64) {
        check_queue(QueueId)?;
        not_supported(NOT_BUILT)
    }

    /// Gives `nGWS` global wave sync resources to a queue and writes the first of them, where that is wanted.
    fn hsaKmtAllocQueueGWS(QueueId: HSA_QUEUEID, nGWS: HSAuint32, firstGWS: *mut HSAuint32) {
        check_queue(QueueId)?;
        not_supported(NOT_BUILT)
    }

    /// Sets the code that runs at traps on a node, and its memory.
    fn hsaKmtSetTrapHandler(
        NodeId: HSAuint32,
        TrapHandlerBaseAddress: *mut c_void,
        TrapHandlerSizeInBytes: HSAuint64,
        TrapBufferBaseAddress: *mut c_void,
        TrapBufferSizeInBytes: HSAuint64,
    ) {
        let device = process::device(NodeId).or_else(|error| node(NodeId).and(Err(error)))?;
        device.set_trap_handler(TrapHandlerBaseAddress.addr() as u64, TrapBufferBaseAddress.addr() as u64)?;
        Ok(())
    }

    /// Takes in a semaphore of another driver; `*OutHandle` is 0 after a failure.
    fn hsaKmtImportExternalSemaphore(
        NodeId: HSAuint32,
        NtHandle: *mut c_void,
        Type: HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE,
        OutHandle: *mut HSA_EXTERNAL_SEMAPHORE_HANDLE,
    ) {
        process::require_open()?;
        given("NtHandle", NtHandle)?;
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("OutHandle", OutHandle) }?;
        out.write(HSA_EXTERNAL_SEMAPHORE_HANDLE::ZERO);
        if Type != OPENABLE {
            return not_supported("semaphores of this kind");
        }
        node(NodeId)?;
        not_supported(NO_SEMAPHORES)
    }

    /// Gives back a semaphore that was taken in.
    fn hsaKmtDestroyExternalSemaphore(Handle: HSA_EXTERNAL_SEMAPHORE_HANDLE) {
        process::require_open()?;
        check_semaphore(Handle)?;
        not_supported(NO_SEMAPHORES)
    }

    /// Signals a semaphore with `Value` when the queue has done what it was given so far.
    fn hsaKmtQueueSignalExternalSemaphore(
        QueueId: HSA_QUEUEID,
        Handle: HSA_EXTERNAL_SEMAPHORE_HANDLE,
        Value: HSAuint64,
    ) {
        on_semaphore(QueueId, Handle)
    }

    /// Lets the queue wait until a semaphore has reached `Value`.
    fn hsaKmtQueueWaitExternalSemaphore(
        QueueId: HSA_QUEUEID,
        Handle: HSA_EXTERNAL_SEMAPHORE_HANDLE,
        Value: HSAuint64,
    ) {
        on_semaphore(QueueId, Handle)
    }
}
