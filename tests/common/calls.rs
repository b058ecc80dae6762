//! The calls on memory as short functions, and what the GPUs of the software libdxcore see.
#![allow(dead_code)] // Not every test of those that share this file needs all of it.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use dxcore::control;
use rocdxg::abi::*;
use rocdxg::ffi::*;

pub const OK: HSAKMT_STATUS = HSAKMT_STATUS_SUCCESS;
pub const ERROR: HSAKMT_STATUS = HSAKMT_STATUS_ERROR;
pub const BAD: HSAKMT_STATUS = HSAKMT_STATUS_INVALID_PARAMETER;
pub const NO_NODE: HSAKMT_STATUS = HSAKMT_STATUS_INVALID_NODE_UNIT;
pub const NO_MEMORY: HSAKMT_STATUS = HSAKMT_STATUS_NO_MEMORY;
pub const NO_HANDLE: HSAKMT_STATUS = HSAKMT_STATUS_INVALID_HANDLE;
pub const LOST: HSAKMT_STATUS = HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR;
pub const NOT_REGISTERED: HSAKMT_STATUS = HSAKMT_STATUS_MEMORY_NOT_REGISTERED;

pub const PAGE: u64 = 4 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

type Outcome<T> = Result<T, HSAKMT_STATUS>;

fn outcome<T>(status: HSAKMT_STATUS, value: T) -> Outcome<T> {
    if status == OK { Ok(value) } else { Err(status) }
}

fn pointer<T>(at: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(at as usize)
}

/// Memory of a GPU.
pub fn local() -> HsaMemFlags {
    HsaMemFlags(0).with(HsaMemFlags::NonPaged, 1).with(HsaMemFlags::CoarseGrain, 1)
}

/// Memory of the host.
pub fn host() -> HsaMemFlags {
    HsaMemFlags(0).with(HsaMemFlags::HostAccess, 1).with(HsaMemFlags::CoarseGrain, 1)
}

/// Memory of the host that other processes can have.
pub fn signals() -> HsaMemFlags {
    HsaMemFlags(0).with(HsaMemFlags::HostAccess, 1).with(HsaMemFlags::NonPaged, 1)
}

/// Addresses alone.
pub fn addresses() -> HsaMemFlags {
    local().with(HsaMemFlags::OnlyAddress, 1)
}

/// Memory of a GPU without a place.
pub fn loose() -> HsaMemFlags {
    local().with(HsaMemFlags::NoAddress, 1)
}

/// `hsaKmtAllocMemoryAlign`; the address after a failure has to be NULL.
pub fn allocate(node: u32, bytes: u64, alignment: u64, flags: HsaMemFlags) -> Outcome<u64> {
    let mut at = pointer::<core::ffi::c_void>(1);
    // SAFETY: `at` is a place for one pointer.
    let status = unsafe { hsaKmtAllocMemoryAlign(node, bytes, alignment, flags, &mut at) };
    assert!(status == OK || at.is_null(), "{status:?} with an address");
    outcome(status, at.expose_provenance() as u64)
}

/// The same, and nothing fails.
pub fn alloc(node: u32, bytes: u64, flags: HsaMemFlags) -> u64 {
    allocate(node, bytes, 0, flags).unwrap_or_else(|status| panic!("{bytes:#x} bytes: {status:?}"))
}

/// At one address or not at all.
pub fn alloc_at(node: u32, bytes: u64, alignment: u64, flags: HsaMemFlags, at: u64) -> HSAKMT_STATUS {
    let mut place = pointer::<core::ffi::c_void>(at);
    let flags = flags.with(HsaMemFlags::FixedAddress, 1);
    // SAFETY: as above.
    let status = unsafe { hsaKmtAllocMemoryAlign(node, bytes, alignment, flags, &mut place) };
    assert_eq!(place.expose_provenance() as u64, at, "{status:?}");
    status
}

/// `hsaKmtFreeMemory`.
pub fn free(at: u64) -> HSAKMT_STATUS {
    // SAFETY: the library knows what it gave.
    unsafe { hsaKmtFreeMemory(pointer(at), 0) }
}

/// `hsaKmtQueryPointerInfo`; after a failure it has to be all zeros.
pub fn info(at: u64) -> Outcome<HsaPointerInfo> {
    let mut info = HsaPointerInfo::ZERO;
    info.SizeInBytes = 77;
    // SAFETY: `info` is a place for one structure.
    let status = unsafe { hsaKmtQueryPointerInfo(pointer(at), &mut info) };
    assert!(status == OK || info == HsaPointerInfo::ZERO, "{status:?}: {info:?}");
    outcome(status, info)
}

/// What an address is: kind, first address for GPUs, bytes.
pub fn what(at: u64) -> Outcome<(HSA_POINTER_TYPE, u64, u64)> {
    info(at).map(|info| ({ info.Type }, { info.GPUAddress }, { info.SizeInBytes }))
}

/// `hsaKmtMapMemoryToGPU`.
pub fn map(at: u64, bytes: u64) -> Outcome<u64> {
    let mut seen = 0x7777;
    // SAFETY: `seen` is a place for one number.
    let status = unsafe { hsaKmtMapMemoryToGPU(pointer(at), bytes, &mut seen) };
    outcome(status, seen)
}

/// `hsaKmtMapMemoryToGPUNodes`.
pub fn map_on(at: u64, bytes: u64, nodes: &[u32]) -> Outcome<u64> {
    let (mut seen, mut nodes) = (0x7777, nodes.to_vec());
    let (count, list) = (nodes.len() as u64, if nodes.is_empty() { std::ptr::null_mut() } else { nodes.as_mut_ptr() });
    // SAFETY: `seen` is a place for one number, and the list has as many as it says.
    let status = unsafe { hsaKmtMapMemoryToGPUNodes(pointer(at), bytes, &mut seen, HsaMemFlags(0), count, list) };
    outcome(status, seen)
}

/// `hsaKmtUnmapMemoryToGPU`.
pub fn unmap(at: u64) -> HSAKMT_STATUS {
    // SAFETY: the library knows what it gave.
    unsafe { hsaKmtUnmapMemoryToGPU(pointer(at)) }
}

/// `hsaKmtRegisterMemory`.
pub fn register(at: u64, bytes: u64) -> HSAKMT_STATUS {
    // SAFETY: the kernel checks that the process has the pages.
    unsafe { hsaKmtRegisterMemory(pointer(at), bytes) }
}

/// `hsaKmtDeregisterMemory`.
pub fn deregister(at: u64) -> HSAKMT_STATUS {
    // SAFETY: the library knows what it gave.
    unsafe { hsaKmtDeregisterMemory(pointer(at)) }
}

/// `hsaKmtAvailableMemory`; after a failure the number is as it was.
pub fn available(node: u32) -> Outcome<u64> {
    let mut bytes = 0x0123_4567_89ab;
    // SAFETY: `bytes` is a place for one number.
    let status = unsafe { hsaKmtAvailableMemory(node, &mut bytes) };
    assert!(status == OK || bytes == 0x0123_4567_89ab, "{status:?}: {bytes:#x}");
    outcome(status, bytes)
}

/// `hsaKmtExportDMABufHandle`: the file and where in it the address lies.
pub fn export(at: u64, bytes: u64) -> Outcome<(OwnedFd, u64)> {
    let (mut file, mut offset) = (77, 77);
    // SAFETY: places for one number each.
    let status = unsafe { hsaKmtExportDMABufHandle(pointer(at), bytes, &mut file, &mut offset) };
    if status != OK {
        assert_eq!(file, -1, "{status:?}");
        return Err(status);
    }
    // SAFETY: the call made the file for its caller.
    Ok((unsafe { OwnedFd::from_raw_fd(file) }, offset))
}

/// `hsaKmtRegisterGraphicsHandleToNodes`: address, bytes and node.
pub fn import_number(file: u64, nodes: &[u32]) -> Outcome<(u64, u64, u32)> {
    let (mut taken, mut nodes) = (HsaGraphicsResourceInfo::ZERO, nodes.to_vec());
    // SAFETY: a place for one structure, and a list that has as many as it says.
    let status =
        unsafe { hsaKmtRegisterGraphicsHandleToNodes(file, &mut taken, nodes.len() as u64, nodes.as_mut_ptr()) };
    outcome(status, ({ taken.MemoryAddress }.expose_provenance() as u64, taken.SizeInBytes, taken.NodeId))
}

/// The same of a file.
pub fn import(file: &impl AsRawFd, nodes: &[u32]) -> Outcome<(u64, u64, u32)> {
    import_number(u64::from(file.as_raw_fd().cast_unsigned()), nodes)
}

/// `hsaKmtHandleImport`: handle and bytes.
pub fn import_handle(file: i64) -> Outcome<(u64, u64)> {
    let mut desc = HsaHandleImportDesc { r#type: HSA_EXTERNAL_HANDLE_DMA_BUF, ..HsaHandleImportDesc::ZERO };
    desc.set_dmabuf_fd(file);
    let (mut result, mut flags) = (HsaHandleImportResult::ZERO, HsaHandleImportFlags::ZERO);
    // SAFETY: one structure each.
    let status = unsafe { hsaKmtHandleImport(&desc, &mut result, &mut flags) };
    outcome(status, ({ result.buf_handle }.expose_provenance() as u64, result.alloc_size))
}

/// `hsaKmtGetMemoryHandle`.
pub fn handle_of(va: u64, memory: u64) -> Outcome<u64> {
    let mut handle = 0;
    // SAFETY: a place for one number.
    let status = unsafe { hsaKmtGetMemoryHandle(pointer(va), pointer(memory), 4096, &mut handle) };
    outcome(status, handle)
}

/// `hsaKmtMemoryVaMap`.
pub fn place(handle: u64, offset: u64, bytes: u64, at: u64) -> HSAKMT_STATUS {
    // SAFETY: the library knows what it gave.
    unsafe { hsaKmtMemoryVaMap(pointer(handle), offset, bytes, at, HSA_MEMORY_ACCESS_RW, 1) }
}

/// `hsaKmtMemoryVaUnmap`.
pub fn displace(handle: u64, offset: u64, bytes: u64, at: u64) -> HSAKMT_STATUS {
    // SAFETY: the library knows what it gave.
    unsafe { hsaKmtMemoryVaUnmap(pointer(handle), offset, bytes, at, 1) }
}

/// `hsaKmtMemHandleFree`.
pub fn free_handle(handle: u64) -> HSAKMT_STATUS {
    // SAFETY: the library knows what it gave.
    unsafe { hsaKmtMemHandleFree(pointer(handle)) }
}

/// The GPU writes a number; false for a fault.
pub fn mark(adapter: usize, at: u64, number: u64) -> bool {
    control::memory::gpu_write(adapter, at, &number.to_ne_bytes()).is_ok()
}

/// The number that the GPU reads; `None` for a fault.
pub fn marked(adapter: usize, at: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    control::memory::gpu_read(adapter, at, &mut bytes).ok()?;
    Some(u64::from_ne_bytes(bytes))
}

/// What of the kernel's objects memory has: what a call that fails leaves as it was.
pub fn held() -> [u64; 7] {
    let ledger = control::ledger();
    [ledger.allocations, ledger.resources, ledger.shared, ledger.pins, ledger.residents, ledger.mappings, ledger.ranges]
}
