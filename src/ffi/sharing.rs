//! Memory that crosses process and driver boundaries, and devices as libdrm knows them (dxg.md 3.5, kfd.md 3.9). Not
//! built: each call makes its checks and no more.
#![allow(unused_variables)]

use std::ffi::{c_int, c_void};

use super::checks::{argument, array, given, node, not_implemented, not_supported, object};
use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

const NOT_BUILT: &str = "shared memory is not built yet";
const NO_IPC: &str = "handles of shared memory; dma-buf files take their place";

/// The calls on memory that was taken in.
fn on_object(handle: HsaMemoryObjectHandle) -> Result<(), Error> {
    process::require_open()?;
    object("the memory", handle)?;
    not_supported(NOT_BUILT)
}

fn on_range(
    handle: HsaMemoryObjectHandle,
    offset: HSAuint64,
    size: HSAuint64,
    address: HSAuint64,
) -> Result<(), Error> {
    process::require_open()?;
    object("the memory", handle)?;
    argument(size != 0, "size is 0")?;
    let fits = |start: HSAuint64| start.checked_add(size).is_some();
    argument(fits(offset) && fits(address), "the range does not end")?;
    not_supported(NOT_BUILT)
}

fn register_graphics(
    info: *const HsaGraphicsResourceInfo,
    count: HSAuint64,
    nodes: *const HSAuint32,
) -> Result<(), Error> {
    process::require_open()?;
    given("GraphicsResourceInfo", info)?;
    array("NodeArray", nodes, count)?;
    not_supported(NOT_BUILT)
}

fn register_shared(
    handle: *const HsaSharedMemoryHandle,
    address: *mut *mut c_void,
    size: *const HSAuint64,
) -> Result<(), Error> {
    process::require_open()?;
    given("SharedMemoryHandle", handle)?;
    given("SizeInBytes", size)?;
    // SAFETY: the pointer is the caller's, for one pointer.
    let out = unsafe { Out::new("MemoryAddress", address) }?;
    out.write(std::ptr::null_mut());
    not_implemented(NO_IPC)
}

exports! {
    /// Takes in a dma-buf and writes what it is.
    fn hsaKmtRegisterGraphicsHandleToNodes(
        GraphicsResourceHandle: HSAuint64,
        GraphicsResourceInfo: *mut HsaGraphicsResourceInfo,
        NumberOfNodes: HSAuint64,
        NodeArray: *mut HSAuint32,
    ) {
        register_graphics(GraphicsResourceInfo, NumberOfNodes, NodeArray)
    }

    /// [`hsaKmtRegisterGraphicsHandleToNodes`] with flags.
    fn hsaKmtRegisterGraphicsHandleToNodesExt(
        GraphicsResourceHandle: HSAuint64,
        GraphicsResourceInfo: *mut HsaGraphicsResourceInfo,
        NumberOfNodes: HSAuint64,
        NodeArray: *mut HSAuint32,
        RegisterFlags: HSA_REGISTER_MEM_FLAGS,
    ) {
        register_graphics(GraphicsResourceInfo, NumberOfNodes, NodeArray)
    }

    /// Makes a handle by which another process may use memory. No platform does: see [`hsaKmtExportDMABufHandle`].
    fn hsaKmtShareMemory(
        MemoryAddress: *mut c_void,
        SizeInBytes: HSAuint64,
        SharedMemoryHandle: *mut HsaSharedMemoryHandle,
    ) {
        process::require_open()?;
        given("SharedMemoryHandle", SharedMemoryHandle)?;
        not_implemented(NO_IPC)
    }

    /// Takes in memory of another process; `*MemoryAddress` is NULL. No platform does.
    fn hsaKmtRegisterSharedHandle(
        SharedMemoryHandle: *const HsaSharedMemoryHandle,
        MemoryAddress: *mut *mut c_void,
        SizeInBytes: *mut HSAuint64,
    ) {
        register_shared(SharedMemoryHandle, MemoryAddress, SizeInBytes)
    }

    /// [`hsaKmtRegisterSharedHandle`] for some GPUs.
    fn hsaKmtRegisterSharedHandleToNodes(
        SharedMemoryHandle: *const HsaSharedMemoryHandle,
        MemoryAddress: *mut *mut c_void,
        SizeInBytes: *mut HSAuint64,
        NumberOfNodes: HSAuint64,
        NodeArray: *mut HSAuint32,
    ) {
        process::require_open()?;
        array("NodeArray", NodeArray, NumberOfNodes)?;
        register_shared(SharedMemoryHandle, MemoryAddress, SizeInBytes)
    }

    /// Makes a dma-buf file of the memory at an address, and writes where in it the address lies. The caller closes the
    /// file; `*DMABufFd` is -1 after a failure.
    fn hsaKmtExportDMABufHandle(
        MemoryAddress: *mut c_void,
        MemorySizeInBytes: HSAuint64,
        DMABufFd: *mut c_int,
        Offset: *mut HSAuint64,
    ) {
        process::require_open()?;
        given("MemoryAddress", MemoryAddress)?;
        given("Offset", Offset)?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("DMABufFd", DMABufFd) }?;
        out.write(-1);
        not_supported(NOT_BUILT)
    }

    /// Writes the handle of the memory at `MemoryAddress`, which is mapped at `va`.
    fn hsaKmtGetMemoryHandle(
        va: *mut c_void,
        MemoryAddress: *mut c_void,
        SizeInBytes: HSAuint64,
        SharedMemoryHandle: *mut u64,
    ) {
        process::require_open()?;
        given("SharedMemoryHandle", SharedMemoryHandle)?;
        object("va", va)?;
        object("MemoryAddress", MemoryAddress)?;
        not_supported(NOT_BUILT)
    }

    /// Takes in foreign memory without an address. INVALID_HANDLE when the descriptor or the result is NULL.
    fn hsaKmtHandleImport(
        ImportDesc: *const HsaHandleImportDesc,
        ImportResult: *mut HsaHandleImportResult,
        Flags: *mut HsaHandleImportFlags,
    ) {
        process::require_open()?;
        object("ImportDesc", ImportDesc)?;
        object("ImportResult", ImportResult)?;
        not_supported(NOT_BUILT)
    }

    /// Makes a handle for others of memory. INVALID_HANDLE when the descriptor or the result is NULL.
    fn hsaKmtHandleExport(
        ExportDesc: *const HsaHandleExportDesc,
        ExportResult: *mut HsaMemoryExportResult,
        Flags: *mut HsaHandleExportFlags,
    ) {
        process::require_open()?;
        object("ExportDesc", ExportDesc)?;
        object("ExportResult", ExportResult)?;
        not_supported(NOT_BUILT)
    }

    /// Maps a part of memory that was taken in at `addr`.
    fn hsaKmtMemoryVaMap(
        Handle: HsaMemoryObjectHandle,
        offset: HSAuint64,
        size: HSAuint64,
        addr: HSAuint64,
        flags: HsaMemoryMapFlags,
        NodeId: HSAuint32,
    ) {
        on_range(Handle, offset, size, addr)
    }

    /// Unmaps what [`hsaKmtMemoryVaMap`] mapped.
    fn hsaKmtMemoryVaUnmap(
        Handle: HsaMemoryObjectHandle,
        offset: HSAuint64,
        size: HSAuint64,
        addr: HSAuint64,
        NodeId: HSAuint32,
    ) {
        on_range(Handle, offset, size, addr)
    }

    /// Gives back memory that was taken in.
    fn hsaKmtMemHandleFree(Handle: HsaMemoryObjectHandle) {
        on_object(Handle)
    }

    /// Gives back memory that was taken in, but not the metadata that was attached to it.
    fn hsaKmtMemHandleFreePreserveMetadata(Handle: HsaMemoryObjectHandle) {
        on_object(Handle)
    }

    /// Writes the address at which the CPU can use memory that was taken in; `*out_cpu_ptr` is NULL when it cannot.
    fn hsaKmtMemoryCpuMap(Handle: HsaMemoryObjectHandle, out_cpu_ptr: *mut *mut c_void) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one pointer.
        let out = unsafe { Out::new("out_cpu_ptr", out_cpu_ptr) }?;
        out.write(std::ptr::null_mut());
        on_object(Handle)
    }

    /// Writes the address of memory that was taken in. The third argument of older callers is another one, of 4 bytes.
    fn hsaKmtMemoryGetCpuAddr(
        DeviceHandle: HsaAMDGPUDeviceHandle,
        MemoryHandle: HsaMemoryObjectHandle,
        cpu_addr: *mut HSAuint64,
    ) {
        process::require_open()?;
        given("cpu_addr", cpu_addr)?;
        on_object(MemoryHandle)
    }

    /// Writes the device of a GPU node as libdrm knows it; `*DeviceHandle` is NULL after a failure.
    fn hsaKmtGetAMDGPUDeviceHandle(NodeId: HSAuint32, DeviceHandle: *mut HsaAMDGPUDeviceHandle) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one pointer.
        let out = unsafe { Out::new("DeviceHandle", DeviceHandle) }?;
        out.write(std::ptr::null_mut());
        node(NodeId)?;
        out.write(std::ptr::with_exposed_provenance_mut(process::drm_handle(NodeId)?));
        Ok(())
    }

    /// Writes the device file behind a device of libdrm; `*fd` is -1 after a failure. Works without an open device
    /// where it works at all.
    fn hsaKmtGetAmdGPUDeviceFd(DeviceHandle: HsaAMDGPUDeviceHandle, fd: *mut c_int) {
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("fd", fd) }?;
        out.write(-1);
        not_supported("device files of libdrm")
    }
}
