//! Memory without ceremony: a device with a paging queue, and allocations on it.

use std::ffi::c_void;

use dxcore::control;
use dxcore::d3dkmt::*;
use rocdxg_fake_gpu::allocation::{Blob, DOMAIN_LOCAL, DOMAIN_SYSTEM, DOMAIN_USER, KIND_ENTRY, KIND_WHOLE};

use crate::kit::*;

pub const MIB: u64 = 1 << 20;
pub const PAGE: u64 = 4096;

/// An adapter, a device and its paging queue.
pub struct Rig {
    pub adapter: u32,
    pub device: u32,
    pub queue: D3DKMT_CREATEPAGINGQUEUE,
}

impl Rig {
    pub fn new() -> Self {
        Self::on(adapter())
    }

    /// On an adapter that is open.
    pub fn on(adapter: u32) -> Self {
        let device = device(adapter);
        Self { adapter, device, queue: queue(device) }
    }

    /// Puts everything away: nothing must be left.
    pub fn done(self) {
        assert_eq!(destroy_queue(self.queue.hPagingQueue), OK);
        assert_eq!(destroy_device(self.device), OK);
        assert_eq!(close(self.adapter), OK);
        assert_eq!(control::ledger(), control::Ledger::default());
    }
}

/// A creation that a test may spoil before it is sent.
pub struct Creation {
    pub args: D3DKMT_CREATEALLOCATION,
    pub entries: Vec<D3DDDI_ALLOCATIONINFO2>,
    pub driver: Vec<u8>,
    pub runtime: Vec<u8>,
    pub blobs: Vec<Vec<u8>>,
}

impl Creation {
    /// Entries of these sizes in a domain; `memory` is where the system memory of the first one starts.
    pub fn new(device: u32, domain: u32, memory: *mut c_void, sizes: &[u64]) -> Self {
        let count = sizes.len() as u32;
        let base = Blob { domain, count, ..Blob::default() };
        let mut entries = Vec::new();
        let (mut blobs, mut offset) = (Vec::new(), 0);
        for (i, size) in sizes.iter().enumerate() {
            let blob = Blob { kind: KIND_ENTRY, index: i as u32, bytes: *size, offset, ..base };
            blobs.push(blob.encode());
            let memory = if memory.is_null() { memory } else { memory.wrapping_byte_add(offset as usize) };
            entries.push(D3DDDI_ALLOCATIONINFO2 { pSystemMem: memory, ..zero() });
            offset += size;
        }
        let driver = Blob { kind: KIND_WHOLE, bytes: offset, ..base }.encode();
        let args = D3DKMT_CREATEALLOCATION { hDevice: device, NumAllocations: count, ..zero() };
        Self { args, entries, driver, runtime: Vec::new(), blobs }
    }

    pub fn local(device: u32, sizes: &[u64]) -> Self {
        Self::new(device, DOMAIN_LOCAL, std::ptr::null_mut(), sizes)
    }

    /// Flags that make a resource which can be shared.
    pub fn shared(device: u32, sizes: &[u64]) -> Self {
        let mut creation = Self::local(device, sizes);
        creation.args.Flags = create_allocation_flags::CREATE_RESOURCE
            | create_allocation_flags::CREATE_SHARED
            | create_allocation_flags::NT_SECURITY_SHARING;
        creation.runtime = b"runtime data".to_vec();
        creation
    }

    pub fn send(&mut self) -> Status {
        for (entry, blob) in self.entries.iter_mut().zip(&mut self.blobs) {
            entry.pPrivateDriverData = blob.as_mut_ptr().cast();
            entry.PrivateDriverDataSize = blob.len() as u32;
        }
        self.args.pAllocationInfo2 = self.entries.as_mut_ptr();
        self.args.pPrivateDriverData = self.driver.as_ptr().cast();
        self.args.PrivateDriverDataSize = self.driver.len() as u32;
        self.args.pPrivateRuntimeData = self.runtime.as_ptr().cast();
        self.args.PrivateRuntimeDataSize = self.runtime.len() as u32;
        create_args(&mut self.args)
    }

    pub fn handles(&self) -> Vec<u32> {
        self.entries.iter().map(|e| e.hAllocation).collect()
    }
}

/// Device memory that stands alone.
pub fn vram(device: u32, bytes: u64) -> u32 {
    let mut creation = Creation::local(device, &[bytes]);
    assert_eq!(creation.send(), OK);
    creation.entries[0].hAllocation
}

/// Device memory that the CPU can reach.
pub fn visible(device: u32, bytes: u64) -> u32 {
    let mut creation = Creation::local(device, &[bytes]);
    let fine = |bytes: &[u8]| Blob { memory_flags: 1, ..Blob::decode(bytes).unwrap() }.encode();
    creation.driver = fine(&creation.driver);
    creation.blobs[0] = fine(&creation.blobs[0]);
    assert_eq!(creation.send(), OK);
    creation.entries[0].hAllocation
}

/// System memory of the program.
pub fn user(device: u32, memory: &Pages) -> u32 {
    let mut creation = Creation::new(device, DOMAIN_USER, memory.pointer(), &[memory.len() as u64]);
    assert_eq!(creation.send(), OK);
    creation.entries[0].hAllocation
}

/// System memory of the thunk, not sent yet.
pub fn system(device: u32, memory: &Pages, sizes: &[u64]) -> Creation {
    Creation::new(device, DOMAIN_SYSTEM, memory.pointer(), sizes)
}

pub fn destroy(device: u32, list: &[u32]) -> Status {
    destroy_args(&mut D3DKMT_DESTROYALLOCATION2 {
        hDevice: device,
        phAllocationList: list.as_ptr(),
        AllocationCount: list.len() as u32,
        ..zero()
    })
}

pub fn destroy_resource(device: u32, resource: u32) -> Status {
    destroy_args(&mut D3DKMT_DESTROYALLOCATION2 { hDevice: device, hResource: resource, ..zero() })
}

/// Status and fence value.
pub fn make_resident(queue: u32, list: &[u32], flags: u32) -> (Status, u64) {
    let mut args = D3DDDI_MAKERESIDENT {
        hPagingQueue: queue,
        NumAllocations: list.len() as u32,
        AllocationList: list.as_ptr(),
        Flags: flags,
        PagingFenceValue: 77,
        NumBytesToTrim: 88,
        ..zero()
    };
    let status = resident_args(&mut args);
    let written = (args.PagingFenceValue, args.NumBytesToTrim) != (77, 88);
    assert_eq!(written, status == OK || status == PENDING, "outputs are written on success only");
    assert_eq!(args.NumAllocations as usize, list.len());
    (status, args.PagingFenceValue)
}

pub fn evict(device: u32, list: &[u32]) -> Status {
    let (count, list) = (list.len() as u32, list.as_ptr());
    evict_args(&mut D3DKMT_EVICT { hDevice: device, NumAllocations: count, AllocationList: list, ..zero() })
}

/// Status and address of a reservation at `base`, or anywhere with 0.
pub fn reserve(adapter: u32, base: u64, size: u64) -> (Status, u64) {
    let mut args = D3DDDI_RESERVEGPUVIRTUALADDRESS {
        hAdapter: adapter,
        BaseAddress: base,
        Size: size,
        VirtualAddress: 55,
        PagingFenceValue: 66,
        ..zero()
    };
    let status = reserve_args(&mut args);
    assert_eq!(args.VirtualAddress == 55, status != OK);
    assert_eq!(args.PagingFenceValue, 66, "never written");
    (status, args.VirtualAddress)
}

pub fn free(adapter: u32, base: u64, size: u64) -> Status {
    free_args(&mut D3DKMT_FREEGPUVIRTUALADDRESS { hAdapter: adapter, BaseAddress: base, Size: size })
}

/// A mapping of a whole allocation.
pub fn mapping(queue: u32, base: u64, allocation: u32, bytes: u64) -> D3DDDI_MAPGPUVIRTUALADDRESS {
    D3DDDI_MAPGPUVIRTUALADDRESS {
        hPagingQueue: queue,
        BaseAddress: base,
        hAllocation: allocation,
        SizeInPages: bytes / PAGE,
        Protection: protection::WRITE,
        VirtualAddress: 55,
        PagingFenceValue: 66,
        ..zero()
    }
}

/// Sends a mapping: status, address and fence value.
pub fn map(mut args: D3DDDI_MAPGPUVIRTUALADDRESS) -> (Status, u64, u64) {
    let status = map_args(&mut args);
    let written = (args.VirtualAddress, args.PagingFenceValue) != (55, 66);
    assert_eq!(written, status == OK || status == PENDING, "outputs are written on success only");
    (status, args.VirtualAddress, args.PagingFenceValue)
}

/// Waits for one fence on the CPU.
pub fn wait_for(device: u32, fence: u32, value: u64) -> Status {
    wait_args(&mut D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU {
        hDevice: device,
        ObjectCount: 1,
        ObjectHandleArray: &raw const fence,
        FenceValueArray: &raw const value,
        hAsyncEvent: 0,
        Flags: 0,
    })
}

/// Maps and makes resident: the address.
pub fn settle(rig: &Rig, allocation: u32, bytes: u64) -> u64 {
    let queue = rig.queue.hPagingQueue;
    let (status, va, _) = map(mapping(queue, 0, allocation, bytes));
    assert_eq!(status, PENDING);
    let (status, value) = make_resident(queue, &[allocation], 0);
    assert_eq!(status, PENDING);
    assert_eq!(wait_for(rig.device, rig.queue.hSyncObject, value), OK);
    va
}

pub fn lock(device: u32, allocation: u32) -> (Status, *mut u8) {
    let mut args = D3DKMT_LOCK2 { hDevice: device, hAllocation: allocation, ..zero() };
    (lock_args(&mut args), args.pData.cast())
}

pub fn unlock(device: u32, allocation: u32) -> Status {
    unlock_args(&mut D3DKMT_UNLOCK2 { hDevice: device, hAllocation: allocation })
}

pub fn gpu_read(va: u64, bytes: usize) -> Result<Vec<u8>, control::memory::Fault> {
    let mut read = vec![0xee; bytes];
    control::memory::gpu_read(0, va, &mut read).map(|()| read)
}

pub fn gpu_write(va: u64, bytes: &[u8]) -> Result<(), control::memory::Fault> {
    control::memory::gpu_write(0, va, bytes)
}

/// Pages of the program's own.
pub struct Pages(*mut c_void, usize);

impl Pages {
    pub fn new(bytes: u64, shared: bool) -> Self {
        let kind = if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
        Self::map(std::ptr::null_mut(), bytes as usize, kind | libc::MAP_ANONYMOUS, -1)
    }

    /// The start of a file.
    pub fn of_file(file: i32, bytes: u64, private: bool) -> Self {
        let kind = if private { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        Self::map(std::ptr::null_mut(), bytes as usize, kind, file)
    }

    fn map(at: *mut c_void, bytes: usize, flags: i32, file: i32) -> Self {
        // SAFETY: a new mapping, or one in place of our own.
        let page = unsafe { libc::mmap(at, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, file, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        Self(page, bytes)
    }

    pub fn pointer(&self) -> *mut c_void {
        self.0
    }

    pub const fn len(&self) -> usize {
        self.1
    }

    /// Other pages at the same place.
    pub fn remap(&self) {
        std::mem::forget(Self::map(self.0, self.1, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED, -1));
    }

    pub fn protect(&self, from: usize, bytes: usize, access: i32) {
        // SAFETY: pages of our own.
        assert_eq!(unsafe { libc::mprotect(self.0.wrapping_byte_add(from), bytes, access) }, 0);
    }

    pub fn unmap(&self, from: usize, bytes: usize) {
        // SAFETY: pages of our own, which nobody uses after this.
        assert_eq!(unsafe { libc::munmap(self.0.wrapping_byte_add(from), bytes) }, 0);
    }

    /// Sets every byte.
    pub fn fill(&self, byte: u8) {
        // SAFETY: mapped writable.
        unsafe { self.0.cast::<u8>().write_bytes(byte, self.1) };
    }

    /// The first bytes.
    pub fn start(&self, count: usize) -> Vec<u8> {
        // SAFETY: mapped readable, and nobody writes meanwhile.
        unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), count) }.to_vec()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: our own pages, or holes; no other mapping came there, as each test ends before the next one starts.
        unsafe { libc::munmap(self.0, self.1) };
    }
}
