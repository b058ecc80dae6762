//! Memory that crosses process and driver boundaries, by files and handles, and devices as libdrm knows them
//! (dxg.md 3.5, kfd.md 3.9).
#![allow(unused_variables)]

use std::ffi::{c_int, c_void};
use std::os::fd::{BorrowedFd, IntoRawFd};

use super::checks::{argument, array, given, node, not_implemented, not_supported, object};
use super::{Out, caller_exports, exports, read_array};
use crate::abi::generation::Generation;
use crate::abi::*;
use crate::memory::{self, Memory};
use crate::platform::Platform;
use crate::platform::file::Identity;
use crate::platform::memory::Surface;
use crate::process::{self, Error};

const NO_IPC: &str = "handles of shared memory; dma-buf files take their place";

/// The calls on memory that a handle names.
fn on_handle<T>(
    handle: HsaMemoryObjectHandle,
    call: impl FnOnce(&Memory, &dyn Platform, u64) -> Result<T, memory::Error>,
) -> Result<T, Error> {
    process::require_open()?;
    object("the memory", handle)?;
    process::with_memory(|memory, stage| Ok(call(memory, &*stage.platform, handle.addr() as u64)?))
}

fn place(
    handle: HsaMemoryObjectHandle,
    offset: HSAuint64,
    size: HSAuint64,
    address: HSAuint64,
    maps: bool,
) -> Result<(), Error> {
    process::require_open()?;
    object("the memory", handle)?;
    argument(size != 0, "size is 0")?;
    let fits = |start: HSAuint64| start.checked_add(size).is_some();
    argument(fits(offset) && fits(address), "the range does not end")?;
    on_handle(handle, |memory, platform, handle| memory.map_handle(platform, handle, (offset, size), address, maps))
}

/// The surface metadata that callers are pointed to. None is ever taken back: there are no more than kinds of surface.
fn metadata(surface: Surface) -> Option<&'static HsaWddmSurfaceMetadata> {
    process::surface(HsaWddmSurfaceMetadata {
        version: 1,
        swizzle_mode: surface.swizzle_mode,
        tile_swizzle: surface.tile_swizzle,
        ..HsaWddmSurfaceMetadata::ZERO
    })
}

/// What every caller has of HsaGraphicsResourceInfo, in bytes: it ends before the newest field.
const GRAPHICS_BYTES: usize = std::mem::offset_of!(HsaGraphicsResourceInfo, SizeHintInBytes);

/// `written`: how much of the structure the caller has, of which the last field is read as well.
///
/// # Safety
/// The pointers are NULL or valid for `written` bytes and for `count` numbers.
unsafe fn register_graphics(
    handle: HSAuint64,
    info: *mut HsaGraphicsResourceInfo,
    written: usize,
    count: HSAuint64,
    nodes: *const HSAuint32,
    flags: HSA_REGISTER_MEM_FLAGS,
) -> Result<(), Error> {
    process::require_open()?;
    // SAFETY: the caller vouches for the pointer.
    let out = unsafe { Out::new("GraphicsResourceInfo", info) }?;
    array("NodeArray", nodes, count)?;
    // SAFETY: the caller vouches for the array.
    let nodes = unsafe { read_array("NodeArray", nodes, count) }?;
    if flags.get(HSA_REGISTER_MEM_FLAGS::kmtHandle) != 0 {
        return not_supported("global handles of the kernel, which no driver opens on WSL");
    }
    let hint = if written > GRAPHICS_BYTES {
        // SAFETY: the caller vouches for so many bytes, of which the last field is one part.
        unsafe { (&raw const (*info).SizeHintInBytes).read_unaligned() }
    } else {
        0
    };
    let file = borrowed(handle)?;
    // SAFETY: `borrowed` has found it open; a caller that closes it meanwhile gets another file or EBADF.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    let taken = process::with_scene(|memory, scene| Ok(memory.import(scene, file, &nodes, hint)?))?;
    let surface = taken.surface.and_then(metadata);
    let told = HsaGraphicsResourceInfo {
        MemoryAddress: std::ptr::with_exposed_provenance_mut(taken.address as usize),
        SizeInBytes: taken.bytes,
        NodeId: taken.node,
        Metadata: surface.map_or(std::ptr::null(), |surface| std::ptr::from_ref(surface).cast()),
        MetadataSizeInBytes: if surface.is_some() { size_of::<HsaWddmSurfaceMetadata>() as u32 } else { 0 },
        SizeHintInBytes: hint,
    };
    // SAFETY: the caller vouches for so many bytes.
    unsafe { out.write_as(0, &told, Some(written), |_| [0_u8; 0]) };
    Ok(())
}

/// The descriptor that a handle is; INVALID_PARAMETER when it is none that is open.
fn borrowed(handle: HSAuint64) -> Result<c_int, Error> {
    let bad = || Error::Argument(format!("{handle:#x} is no open file"));
    let fd = c_int::try_from(handle).map_err(|_| bad())?;
    if Identity::of(fd).is_some() { Ok(fd) } else { Err(bad()) }
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
    /// [`hsaKmtRegisterGraphicsHandleToNodes`] with flags. How much of the newest field a caller has cannot be told here, so
    /// it is not used.
    fn hsaKmtRegisterGraphicsHandleToNodesExt(
        GraphicsResourceHandle: HSAuint64,
        GraphicsResourceInfo: *mut HsaGraphicsResourceInfo,
        NumberOfNodes: HSAuint64,
        NodeArray: *mut HSAuint32,
        RegisterFlags: HSA_REGISTER_MEM_FLAGS,
    ) {
        let (info, written) = (GraphicsResourceInfo, GRAPHICS_BYTES);
        // SAFETY: the pointers are the caller's, for one structure of the oldest form and `NumberOfNodes` numbers.
        unsafe { register_graphics(GraphicsResourceHandle, info, written, NumberOfNodes, NodeArray, RegisterFlags) }
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
        // SAFETY: both pointers are the caller's, for one number each.
        let (offset, out) = unsafe { (Out::new("Offset", Offset)?, Out::new("DMABufFd", DMABufFd)?) };
        out.write(-1);
        let range = (MemoryAddress.addr() as u64, MemorySizeInBytes);
        let (file, begin) = process::with_memory(|memory, stage| Ok(memory.export(&*stage.platform, range)?))?;
        offset.write(begin);
        out.write(file.into_raw_fd());
        Ok(())
    }

    /// Writes the handle of the memory at `MemoryAddress`, which is mapped at `va`.
    fn hsaKmtGetMemoryHandle(
        va: *mut c_void,
        MemoryAddress: *mut c_void,
        SizeInBytes: HSAuint64,
        SharedMemoryHandle: *mut u64,
    ) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("SharedMemoryHandle", SharedMemoryHandle) }?;
        object("va", va)?;
        object("MemoryAddress", MemoryAddress)?;
        let address = MemoryAddress.addr() as u64;
        out.write(process::with_memory(|memory, stage| Ok(memory.handle_of(&*stage.platform, address)?))?);
        Ok(())
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
        place(Handle, offset, size, addr, true)
    }

    /// Unmaps what [`hsaKmtMemoryVaMap`] mapped.
    fn hsaKmtMemoryVaUnmap(
        Handle: HsaMemoryObjectHandle,
        offset: HSAuint64,
        size: HSAuint64,
        addr: HSAuint64,
        NodeId: HSAuint32,
    ) {
        place(Handle, offset, size, addr, false)
    }

    /// Gives back memory that was taken in.
    fn hsaKmtMemHandleFree(Handle: HsaMemoryObjectHandle) {
        on_handle(Handle, |memory, platform, handle| memory.free_handle(platform, handle))
    }

    /// Gives back memory that was taken in, but not the metadata that was attached to it.
    fn hsaKmtMemHandleFreePreserveMetadata(Handle: HsaMemoryObjectHandle) {
        on_handle(Handle, |memory, platform, handle| memory.free_handle(platform, handle))
    }

    /// Writes the address at which the CPU can use memory that was taken in; `*out_cpu_ptr` is NULL when it cannot.
    fn hsaKmtMemoryCpuMap(Handle: HsaMemoryObjectHandle, out_cpu_ptr: *mut *mut c_void) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one pointer.
        let out = unsafe { Out::new("out_cpu_ptr", out_cpu_ptr) }?;
        out.write(std::ptr::null_mut());
        let seen = on_handle(Handle, |memory, platform, handle| memory.cpu_address(platform, handle))?;
        out.write(std::ptr::with_exposed_provenance_mut(seen as usize));
        Ok(())
    }

    /// Writes the address of memory that was taken in. The third argument of older callers is another one, of 4 bytes.
    fn hsaKmtMemoryGetCpuAddr(
        DeviceHandle: HsaAMDGPUDeviceHandle,
        MemoryHandle: HsaMemoryObjectHandle,
        cpu_addr: *mut HSAuint64,
    ) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("cpu_addr", cpu_addr) }?;
        out.write(on_handle(MemoryHandle, |memory, platform, handle| memory.cpu_address(platform, handle))?);
        Ok(())
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

/// An import descriptor in the caller's form.
///
/// # Safety
/// The pointer is valid for one descriptor of that form.
unsafe fn import_desc(generation: Generation, desc: *const HsaHandleImportDesc) -> Option<HsaHandleImportDesc> {
    let mut bytes = [0_u8; size_of::<HsaHandleImportDesc>()];
    let length = generation.import_size().min(bytes.len());
    // SAFETY: the caller vouches for so many bytes.
    unsafe { desc.cast::<u8>().copy_to_nonoverlapping(bytes.as_mut_ptr(), length) };
    generation.import(&bytes[..length])
}

caller_exports! {
    /// Takes in a dma-buf and writes what it is.
    fn hsaKmtRegisterGraphicsHandleToNodes(
        caller: Caller,
        GraphicsResourceHandle: HSAuint64,
        GraphicsResourceInfo: *mut HsaGraphicsResourceInfo,
        NumberOfNodes: HSAuint64,
        NodeArray: *mut HSAuint32,
    ) {
        let (info, flags) = (GraphicsResourceInfo, HSA_REGISTER_MEM_FLAGS(0));
        let written = caller.generation().graphics_size();
        // SAFETY: the pointers are the caller's, for one structure of its form and `NumberOfNodes` numbers.
        unsafe { register_graphics(GraphicsResourceHandle, info, written, NumberOfNodes, NodeArray, flags) }
    }

    /// Takes in foreign memory without an address. INVALID_HANDLE when the descriptor or the result is NULL. The file in
    /// the descriptor stays the caller's.
    fn hsaKmtHandleImport(
        caller: Caller,
        ImportDesc: *const HsaHandleImportDesc,
        ImportResult: *mut HsaHandleImportResult,
        Flags: *mut HsaHandleImportFlags,
    ) {
        let _ = Flags;
        process::require_open()?;
        object("ImportDesc", ImportDesc)?;
        object("ImportResult", ImportResult)?;
        let generation = caller.generation();
        // SAFETY: the pointer is the caller's, for one descriptor of its form, and not NULL.
        let desc = unsafe { import_desc(generation, ImportDesc) }.ok_or(Error::Handle("ImportDesc"))?;
        if desc.r#type != HSA_EXTERNAL_HANDLE_DMA_BUF {
            return not_supported("handles that are no files");
        }
        let file = borrowed(u64::try_from(desc.dmabuf_fd()).map_err(|_| Error::Handle("the file"))?)?;
        // SAFETY: `borrowed` has found it open; a caller that closes it meanwhile gets another file or EBADF.
        let file = unsafe { BorrowedFd::borrow_raw(file) };
        let (handle, bytes) = process::with_scene(|memory, scene| Ok(memory.import_handle(scene, file, None)?))?;
        let result = HsaHandleImportResult {
            buf_handle: std::ptr::without_provenance_mut(handle as usize),
            dmabuf_fd: -1,
            alloc_size: bytes,
            metadata: 0,
        };
        // SAFETY: the pointer is the caller's, for one result of its form, and not NULL.
        unsafe {
            let out = Out::new("ImportResult", ImportResult)?;
            out.write_as(0, &result, None, |result| generation.import_result(result));
        }
        Ok(())
    }

    /// Makes a file of memory for others, which the caller closes. INVALID_HANDLE when the descriptor or the result is
    /// NULL.
    fn hsaKmtHandleExport(
        caller: Caller,
        ExportDesc: *const HsaHandleExportDesc,
        ExportResult: *mut HsaMemoryExportResult,
        Flags: *mut HsaHandleExportFlags,
    ) {
        let _ = Flags;
        process::require_open()?;
        object("ExportDesc", ExportDesc)?;
        object("ExportResult", ExportResult)?;
        // SAFETY: the pointer is the caller's, for one descriptor, and not NULL.
        let desc = unsafe { ExportDesc.read_unaligned() };
        if desc.r#type != HSA_EXTERNAL_HANDLE_DMA_BUF {
            return not_supported("handles that are no files");
        }
        let generation = caller.generation();
        let export = |memory: &Memory, platform: &dyn Platform, handle| memory.export_handle(platform, handle);
        let file = on_handle(desc.buf_handle, export)?;
        let mut result = HsaMemoryExportResult::ZERO;
        result.set_dmabuf_fd(file.into_raw_fd());
        // SAFETY: the pointer is the caller's, for one result of its form, and not NULL.
        unsafe {
            let out = Out::new("ExportResult", ExportResult)?;
            out.write_as(0, &result, None, |result| generation.export_result(result));
        }
        Ok(())
    }
}
