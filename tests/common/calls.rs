//! The calls on memory as short functions, and what the GPUs of the software libdxcore see.
#![allow(dead_code)] // Not every test of those that share this file needs all of it.

#[path = "raw.rs"]
mod raw;

use std::os::fd::{AsRawFd, OwnedFd};

use dxcore::control;
use raw::{How, Register, UNTOUCHED};
use rocdxg::abi::*;
use rocdxg::ffi::*;

pub use raw::{deregister, free, unmap};

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
    let (status, at) = raw::allocate(node, bytes, flags, How::Align(alignment), 1);
    assert!(status == OK || at == 0, "{status:?} with an address");
    outcome(status, at)
}

/// The same, and nothing fails.
pub fn alloc(node: u32, bytes: u64, flags: HsaMemFlags) -> u64 {
    allocate(node, bytes, 0, flags).unwrap_or_else(|status| panic!("{bytes:#x} bytes: {status:?}"))
}

/// At one address or not at all.
pub fn alloc_at(node: u32, bytes: u64, alignment: u64, flags: HsaMemFlags, at: u64) -> HSAKMT_STATUS {
    let flags = flags.with(HsaMemFlags::FixedAddress, 1);
    let (status, place) = raw::allocate(node, bytes, flags, How::Align(alignment), at);
    assert_eq!(place, at, "{status:?}");
    status
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
    let (status, seen) = raw::map(at, bytes, None);
    outcome(status, seen)
}

/// `hsaKmtMapMemoryToGPUNodes`.
pub fn map_on(at: u64, bytes: u64, nodes: &[u32]) -> Outcome<u64> {
    let (status, seen) = raw::map(at, bytes, Some(nodes));
    outcome(status, seen)
}

/// `hsaKmtRegisterMemory`.
pub fn register(at: u64, bytes: u64) -> HSAKMT_STATUS {
    raw::register(at, bytes, &Register::Plain)
}

/// `hsaKmtAvailableMemory`; after a failure the number is as it was.
pub fn available(node: u32) -> Outcome<u64> {
    let (status, bytes) = raw::available(node);
    assert!(status == OK || bytes == UNTOUCHED, "{status:?}: {bytes:#x}");
    outcome(status, bytes)
}

/// `hsaKmtExportDMABufHandle`: the file and where in it the address lies.
pub fn export(at: u64, bytes: u64) -> Outcome<(OwnedFd, u64)> {
    let (status, (made, file, offset)) = raw::export(at, bytes);
    assert!(status == OK || file == -1, "{status:?}");
    outcome(status, made)?.map(|made| (made, offset)).ok_or(status)
}

/// `hsaKmtRegisterGraphicsHandleToNodes`: address, bytes and node.
pub fn import_number(file: u64, nodes: &[u32]) -> Outcome<(u64, u64, u32)> {
    let (status, taken) = raw::import(file, nodes, false);
    outcome(status, (taken.address, taken.bytes, taken.node))
}

/// The same of a file.
pub fn import(file: &impl AsRawFd, nodes: &[u32]) -> Outcome<(u64, u64, u32)> {
    import_number(u64::from(file.as_raw_fd().cast_unsigned()), nodes)
}

/// `hsaKmtHandleImport`: handle and bytes.
pub fn import_handle(file: i64) -> Outcome<(u64, u64)> {
    let (status, taken) = raw::handle_import(file);
    outcome(status, taken)
}

/// `hsaKmtGetMemoryHandle`.
pub fn handle_of(va: u64, memory: u64) -> Outcome<u64> {
    let (status, handle) = raw::handle_of(va, memory, 4096);
    outcome(status, handle)
}

/// `hsaKmtMemoryVaMap`.
pub fn place(handle: u64, offset: u64, bytes: u64, at: u64) -> HSAKMT_STATUS {
    raw::place(true, handle, offset, bytes, at, 1)
}

/// `hsaKmtMemoryVaUnmap`.
pub fn displace(handle: u64, offset: u64, bytes: u64, at: u64) -> HSAKMT_STATUS {
    raw::place(false, handle, offset, bytes, at, 1)
}

/// `hsaKmtMemHandleFree`.
pub fn free_handle(handle: u64) -> HSAKMT_STATUS {
    raw::free_handle(handle, false)
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
