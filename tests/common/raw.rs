//! The memory calls as functions that return what they wrote. No checks here: whoever uses them has them.
#![allow(dead_code)] // Not every test of those that share this file needs all of it.

use std::ffi::c_void;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;

use rocdxg::abi::*;
use rocdxg::ffi::*;

/// What a call answered and wrote.
pub type Answer<T> = (HSAKMT_STATUS, T);

/// What cannot be at the address of any result.
pub const UNTOUCHED: u64 = 0x7070_7070_7070_7070;

fn pointer(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// Which of the three calls allocates.
#[derive(Debug, Clone, Copy)]
pub enum How {
    Plain,
    Align(u64),
    Gtt(u32),
}

/// Allocates; `place` is what the pointer holds before, the result what it holds afterwards.
pub fn allocate(node: u32, bytes: u64, flags: HsaMemFlags, how: How, place: u64) -> Answer<u64> {
    let mut at = pointer(place);
    // SAFETY: `at` is a place for one pointer.
    let status = unsafe {
        match how {
            How::Plain => hsaKmtAllocMemory(node, bytes, flags, &mut at),
            How::Align(alignment) => hsaKmtAllocMemoryAlign(node, bytes, alignment, flags, &mut at),
            How::Gtt(anchor) => hsaKmtAllocMemoryHostGtt(node, anchor, bytes, flags, &mut at),
        }
    };
    (status, at.expose_provenance() as u64)
}

pub fn free(address: u64) -> HSAKMT_STATUS {
    // SAFETY: the library looks the address up and reads nothing there.
    unsafe { hsaKmtFreeMemory(pointer(address), 0) }
}

/// Which of the three calls registers.
#[derive(Debug, Clone)]
pub enum Register {
    Plain,
    Flags(HsaMemFlags),
    Nodes(Vec<u32>),
}

pub fn register(address: u64, bytes: u64, how: &Register) -> HSAKMT_STATUS {
    // SAFETY: the array has the length that is beside it; the address is looked up, and pinned by a kernel that checks it.
    unsafe {
        match how {
            Register::Plain => hsaKmtRegisterMemory(pointer(address), bytes),
            Register::Flags(flags) => hsaKmtRegisterMemoryWithFlags(pointer(address), bytes, *flags),
            Register::Nodes(nodes) => {
                let mut nodes = nodes.clone();
                hsaKmtRegisterMemoryToNodes(pointer(address), bytes, nodes.len() as u64, nodes.as_mut_ptr())
            }
        }
    }
}

pub fn deregister(address: u64) -> HSAKMT_STATUS {
    // SAFETY: as in `free`.
    unsafe { hsaKmtDeregisterMemory(pointer(address)) }
}

pub fn map(address: u64, bytes: u64, nodes: Option<&[u32]>) -> Answer<u64> {
    let mut seen = UNTOUCHED;
    // SAFETY: a place for the result, and an array of the length that is beside it.
    let status = unsafe {
        match nodes {
            None => hsaKmtMapMemoryToGPU(pointer(address), bytes, &mut seen),
            Some(nodes) => {
                let (mut list, flags, count) = (nodes.to_vec(), HsaMemFlags(0), nodes.len() as u64);
                let list = if list.is_empty() { ptr::null_mut() } else { list.as_mut_ptr() };
                hsaKmtMapMemoryToGPUNodes(pointer(address), bytes, &mut seen, flags, count, list)
            }
        }
    };
    (status, seen)
}

pub fn unmap(address: u64) -> HSAKMT_STATUS {
    // SAFETY: as in `free`.
    unsafe { hsaKmtUnmapMemoryToGPU(pointer(address)) }
}

/// What is known of a pointer, in plain numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Info {
    pub kind: u32,
    pub node: u32,
    pub flags: u32,
    pub cpu: u64,
    pub gpu: u64,
    pub bytes: u64,
    pub registered: Vec<u32>,
    pub mapped: Vec<u32>,
    pub word: u64,
}

pub fn info(address: u64) -> Answer<Info> {
    let mut info = HsaPointerInfo { SizeInBytes: UNTOUCHED, ..HsaPointerInfo::ZERO };
    // SAFETY: a place for one structure; the address is looked up only.
    let status = unsafe { hsaKmtQueryPointerInfo(pointer(address), &mut info) };
    let list = |list: *const u32, count: u32| {
        if list.is_null() {
            return vec![u32::MAX; count as usize];
        }
        // SAFETY: the library vouches for the list, which lives as long as the process.
        unsafe { std::slice::from_raw_parts(list, count as usize) }.to_vec()
    };
    let told = Info {
        kind: { info.Type }.0,
        node: info.Node,
        flags: { info.MemFlags }.0,
        cpu: { info.CPUAddress }.expose_provenance() as u64,
        gpu: info.GPUAddress,
        bytes: info.SizeInBytes,
        registered: list(info.RegisteredNodes, info.NRegisteredNodes),
        mapped: list(info.MappedNodes, info.NMappedNodes),
        word: { info.UserData }.addr() as u64,
    };
    (status, told)
}

pub fn set_word(address: u64, word: u64) -> HSAKMT_STATUS {
    // SAFETY: both are numbers to the library.
    unsafe { hsaKmtSetMemoryUserData(pointer(address), ptr::without_provenance_mut(word as usize)) }
}

pub fn available(node: u32) -> Answer<u64> {
    let mut bytes = UNTOUCHED;
    // SAFETY: a place for one number.
    let status = unsafe { hsaKmtAvailableMemory(node, &mut bytes) };
    (status, bytes)
}

/// A descriptor that a call gave, owned from here on.
fn owned(status: HSAKMT_STATUS, file: i32) -> Option<OwnedFd> {
    // SAFETY: the library gives each descriptor to its caller.
    (status == HSAKMT_STATUS_SUCCESS && file >= 0).then(|| unsafe { OwnedFd::from_raw_fd(file) })
}

/// The file with its offset; the number tells what was written after a failure.
pub fn export(address: u64, bytes: u64) -> Answer<(Option<OwnedFd>, i32, u64)> {
    let (mut file, mut offset) = (77, UNTOUCHED);
    // SAFETY: places for two numbers; the address is looked up only.
    let status = unsafe { hsaKmtExportDMABufHandle(pointer(address), bytes, &mut file, &mut offset) };
    (status, (owned(status, file), file, offset))
}

/// Memory that was taken in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taken {
    pub address: u64,
    pub bytes: u64,
    pub node: u32,
}

pub fn import(file: u64, nodes: &[u32], extended: bool) -> Answer<Taken> {
    let (mut info, mut nodes) = (HsaGraphicsResourceInfo::ZERO, nodes.to_vec());
    let (count, list) = (nodes.len() as u64, nodes.as_mut_ptr());
    // SAFETY: a place for one structure, and an array of the length that is beside it.
    let status = unsafe {
        if extended {
            hsaKmtRegisterGraphicsHandleToNodesExt(file, &mut info, count, list, HSA_REGISTER_MEM_FLAGS(0))
        } else {
            hsaKmtRegisterGraphicsHandleToNodes(file, &mut info, count, list)
        }
    };
    let address = { info.MemoryAddress }.expose_provenance() as u64;
    (status, Taken { address, bytes: info.SizeInBytes, node: info.NodeId })
}

pub fn handle_of(va: u64, address: u64, bytes: u64) -> Answer<u64> {
    let mut handle = UNTOUCHED;
    // SAFETY: a place for one number; the addresses are looked up only.
    let status = unsafe { hsaKmtGetMemoryHandle(pointer(va), pointer(address), bytes, &mut handle) };
    (status, handle)
}

pub fn handle_import(file: i64) -> Answer<(u64, u64)> {
    let mut desc = HsaHandleImportDesc { r#type: HSA_EXTERNAL_HANDLE_DMA_BUF, ..HsaHandleImportDesc::ZERO };
    desc.set_dmabuf_fd(file);
    let (mut result, mut flags) = (HsaHandleImportResult::ZERO, HsaHandleImportFlags(0));
    // SAFETY: places for one of each.
    let status = unsafe { hsaKmtHandleImport(&desc, &mut result, &mut flags) };
    (status, ({ result.buf_handle }.addr() as u64, result.alloc_size))
}

pub fn handle_export(handle: u64) -> Answer<Option<OwnedFd>> {
    let desc = HsaHandleExportDesc {
        r#type: HSA_EXTERNAL_HANDLE_DMA_BUF,
        buf_handle: ptr::without_provenance_mut(handle as usize),
        ..HsaHandleExportDesc::ZERO
    };
    let (mut result, mut flags) = (HsaMemoryExportResult::ZERO, HsaHandleExportFlags(0));
    // SAFETY: places for one of each.
    let status = unsafe { hsaKmtHandleExport(&desc, &mut result, &mut flags) };
    (status, owned(status, result.dmabuf_fd()))
}

/// Maps a part of a handle's memory, or unmaps it.
pub fn place(maps: bool, handle: u64, offset: u64, bytes: u64, address: u64, node: u32) -> HSAKMT_STATUS {
    let handle = ptr::without_provenance_mut(handle as usize);
    // SAFETY: numbers to the library.
    unsafe {
        if maps {
            hsaKmtMemoryVaMap(handle, offset, bytes, address, HSA_MEMORY_ACCESS_RW, node)
        } else {
            hsaKmtMemoryVaUnmap(handle, offset, bytes, address, node)
        }
    }
}

pub fn free_handle(handle: u64, preserve: bool) -> HSAKMT_STATUS {
    let handle = ptr::without_provenance_mut(handle as usize);
    // SAFETY: a number to the library.
    unsafe { if preserve { hsaKmtMemHandleFreePreserveMetadata(handle) } else { hsaKmtMemHandleFree(handle) } }
}

pub fn cpu_address(handle: u64) -> Answer<u64> {
    let mut seen = pointer(UNTOUCHED);
    // SAFETY: a place for one pointer; the handle is a number to the library.
    let status = unsafe { hsaKmtMemoryCpuMap(ptr::without_provenance_mut(handle as usize), &mut seen) };
    (status, seen.expose_provenance() as u64)
}
