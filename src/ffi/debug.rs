//! Debugging: support of the runtime (dxg.md 4.3), and the calls of debuggers (kfd.md 5.5). Of the latter each makes its
//! checks and no more.
#![allow(unused_variables)]

use std::ffi::c_void;

use super::checks::{argument, given, node, not_supported};
use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

/// Fails unless the device is open and every GPU of the snapshot can be debugged.
fn require_debug_support() -> Result<(), Error> {
    if process::debug_support()? { Ok(()) } else { Err(Error::NotSupported("debugging on this driver")) }
}

const NO_DEBUGGER: &str = "the debugger interface of this driver";

/// The calls of the first debugger interface.
fn on_node(node_id: HSAuint32) -> Result<(), Error> {
    node(node_id)?;
    not_supported(NO_DEBUGGER)
}

/// The calls that allocate what they return.
fn dump(name: &'static str, data: *mut *mut c_void) -> Result<(), Error> {
    // SAFETY: the pointer is the caller's, for one pointer.
    let out = unsafe { Out::new(name, data) }?;
    out.write(std::ptr::null_mut());
    not_supported(NO_DEBUGGER)
}

exports! {
    /// Tells whether every GPU can be debugged: SUCCESS, or NOT_SUPPORTED. Takes no snapshot reference; without a
    /// snapshot there is no GPU to ask.
    fn hsaKmtCheckRuntimeDebugSupport() {
        require_debug_support()
    }

    /// Registers the runtime with the debugger interface of the driver.
    fn hsaKmtRuntimeEnable(rDebug: *mut c_void, setupTtmp: bool) {
        require_debug_support()?;
        process::enable_runtime(rDebug.expose_provenance() as u64, setupTtmp)
    }

    /// Takes back what `hsaKmtRuntimeEnable` did. Where that has not succeeded there is nothing to take back, and it is
    /// SUCCESS also in a fork child that has not opened the device.
    fn hsaKmtRuntimeDisable() {
        process::disable_runtime()
    }

    /// Writes the mask of runtime capabilities that `hsaKmtRuntimeEnable` got, 0 before it.
    fn hsaKmtGetRuntimeCapabilities(caps_mask: *mut HSAuint32) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("caps_mask", caps_mask) }?;
        out.write(process::runtime_capabilities());
        Ok(())
    }

    /// Registers the process with the first debugger interface.
    fn hsaKmtDbgRegister(NodeId: HSAuint32) {
        on_node(NodeId)
    }

    /// Takes back what [`hsaKmtDbgRegister`] did.
    fn hsaKmtDbgUnregister(NodeId: HSAuint32) {
        on_node(NodeId)
    }

    /// Acts on waves of a node.
    fn hsaKmtDbgWavefrontControl(
        NodeId: HSAuint32,
        Operand: HSA_DBG_WAVEOP,
        Mode: HSA_DBG_WAVEMODE,
        TrapId: HSAuint32,
        DbgWaveMsgRing: *mut HsaDbgWaveMessage,
    ) {
        process::require_open()?;
        given("DbgWaveMsgRing", DbgWaveMsgRing)?;
        on_node(NodeId)
    }

    /// Sets watch points on a node. The lists of masks and of events may be NULL.
    fn hsaKmtDbgAddressWatch(
        NodeId: HSAuint32,
        NumWatchPoints: HSAuint32,
        WatchMode: *mut HSA_DBG_WATCH_MODE,
        WatchAddress: *mut *mut c_void,
        WatchMask: *mut HSAuint64,
        WatchEvent: *mut *mut HsaEvent,
    ) {
        process::require_open()?;
        argument(NumWatchPoints != 0, "NumWatchPoints is 0")?;
        given("WatchMode", WatchMode)?;
        given("WatchAddress", WatchAddress)?;
        on_node(NodeId)
    }

    /// Makes this process one that can be dumped. The caller frees `*runtime_info`, which is NULL after a failure.
    fn hsaKmtDbgEnable(runtime_info: *mut *mut c_void, data_size: *mut HSAuint32) {
        process::require_open()?;
        given("data_size", data_size)?;
        dump("runtime_info", runtime_info)
    }

    /// Takes back what [`hsaKmtDbgEnable`] did.
    fn hsaKmtDbgDisable() {
        process::require_open()?;
        not_supported(NO_DEBUGGER)
    }

    /// Writes where a list of the GPUs is. The caller frees `*data`, which is NULL after a failure.
    fn hsaKmtDbgGetDeviceData(data: *mut *mut c_void, n_entries: *mut HSAuint32, entry_size: *mut HSAuint32) {
        process::require_open()?;
        given("n_entries", n_entries)?;
        given("entry_size", entry_size)?;
        dump("data", data)
    }

    /// Writes where a list of the queues is, which may be stopped for it. The caller frees `*data`, which is NULL after
    /// a failure.
    fn hsaKmtDbgGetQueueData(
        data: *mut *mut c_void,
        n_entries: *mut HSAuint32,
        entry_size: *mut HSAuint32,
        suspend_queues: bool,
    ) {
        process::require_open()?;
        given("n_entries", n_entries)?;
        given("entry_size", entry_size)?;
        dump("data", data)
    }

    /// Passes a request to the debugger interface of the kernel.
    fn hsaKmtDebugTrapIoctl(
        args: *mut kfd_ioctl_dbg_trap_args,
        Queues: *mut HSA_QUEUEID,
        DebugReturn: *mut HSAuint64,
    ) {
        process::require_open()?;
        given("args", args)?;
        not_supported(NO_DEBUGGER)
    }

    /// Writes the state of the runtime as the kernel keeps it.
    fn hsaKmtGetCoreRuntimeInfo(runtime_info: *mut kfd_runtime_info) {
        process::require_open()?;
        given("runtime_info", runtime_info)?;
        not_supported(NO_DEBUGGER)
    }

    /// Writes what a core dump says of the GPU that the kernel numbers `gpu_id`.
    fn hsaKmtGetCoreDeviceInfo(gpu_id: HSAuint32, device_info: *mut kfd_dbg_device_info_entry) {
        process::require_open()?;
        given("device_info", device_info)?;
        not_supported(NO_DEBUGGER)
    }

    /// Writes the version of the kernel's debugger interface. Gone from the contract since 6.2.
    fn hsaKmtGetKernelDebugTrapVersionInfo(Major: *mut HSAuint32, Minor: *mut HSAuint32) {
        process::require_open()?;
        given("Major", Major)?;
        given("Minor", Minor)?;
        not_supported(NO_DEBUGGER)
    }
}
