//! Fence pages: memory that the host writes and the client reads; and the addresses of mappings that are gone.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// Size of a fence page, in bytes; the value is at offset 0 (dxgkrnl.md 3.2, rule 47).
pub(crate) const PAGE: usize = 4096;

/// How many retired mappings stay unreadable before their addresses may come back.
const QUARANTINE: usize = 4096;

/// One fence page, mapped shared as the real one is: a fork child sees it too (dxgkrnl.md 1.2).
#[derive(Debug)]
pub(crate) struct FencePage {
    address: usize,
    value: u64,
}

impl FencePage {
    /// A page that holds 0, or `None` when there is no room.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice.
        let page = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        (page != libc::MAP_FAILED).then_some(Self { address: page as usize, value: 0 })
    }

    /// Where the client reads.
    pub(crate) fn address(&self) -> *mut core::ffi::c_void {
        self.address as *mut core::ffi::c_void
    }

    /// What the host wrote last.
    pub(crate) const fn value(&self) -> u64 {
        self.value
    }

    /// The host raises the value; it never falls.
    pub(crate) fn advance(&mut self, value: u64) {
        self.set(value.max(self.value));
    }

    /// The host sets the value.
    pub(crate) fn set(&mut self, value: u64) {
        if value != self.value {
            // SAFETY: the page is mapped writable as long as `self` exists; clients read the word as a whole.
            let word = unsafe { AtomicU64::from_ptr(self.address as *mut u64) };
            // What a client wrote there stays, for `intact` to find.
            let _ = word.compare_exchange(self.value, value, Ordering::Release, Ordering::Relaxed);
            self.value = value;
        }
    }

    /// Whether the page still holds what the host wrote: clients must not write to it (dxgkrnl.md rule 47).
    pub(crate) fn intact(&self) -> bool {
        (0..PAGE / 8).all(|i| {
            // SAFETY: the page is mapped readable as long as `self` exists; a client that writes meanwhile is what
            // is looked for, hence volatile.
            let word = unsafe { (self.address as *const u64).add(i).read_volatile() };
            word == if i == 0 { self.value } else { 0 }
        })
    }

    /// The mapping, for the graveyard: address and size.
    pub(crate) const fn surrender(self) -> (usize, usize) {
        (self.address, PAGE)
    }
}

/// Addresses of mappings that are gone: a late access crashes (dxgkrnl.md rules 41 and 121).
#[derive(Debug)]
pub(crate) struct Graveyard {
    mappings: VecDeque<(usize, usize)>,
}

impl Graveyard {
    /// Empty.
    pub(crate) const fn new() -> Self {
        Self { mappings: VecDeque::new() }
    }

    /// Takes a mapping of this library's away from the client; its address stays taken for a while.
    pub(crate) fn bury(&mut self, (address, bytes): (usize, usize)) {
        // SAFETY: replaces our own mapping by one without access; nobody else maps at this address.
        let left = unsafe {
            libc::mmap(
                address as *mut core::ffi::c_void,
                bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if left == libc::MAP_FAILED {
            // SAFETY: still our mapping; without it a late access crashes as well, until the address is reused.
            unsafe { libc::munmap(address as *mut core::ffi::c_void, bytes) };
            return;
        }
        self.mappings.push_back((address, bytes));
        if self.mappings.len() > QUARANTINE {
            self.release_oldest();
        }
    }

    fn release_oldest(&mut self) {
        if let Some((address, bytes)) = self.mappings.pop_front() {
            // SAFETY: an inaccessible mapping of ours that no object names.
            unsafe { libc::munmap(address as *mut core::ffi::c_void, bytes) };
        }
    }

    /// Gives all addresses back.
    pub(crate) fn clear(&mut self) {
        while !self.mappings.is_empty() {
            self.release_oldest();
        }
    }
}
