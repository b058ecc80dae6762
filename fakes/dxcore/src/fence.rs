//! Fence pages: memory that the host writes and the client reads.

use std::collections::VecDeque;

/// Size of a fence page, in bytes; the value is at offset 0 (dxgkrnl.md 3.2, rule 47).
pub(crate) const PAGE: usize = 4096;

/// How many retired pages stay unreadable before their addresses may come back.
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

    /// Whether the page still holds what the host wrote: clients must not write to it (dxgkrnl.md rule 47).
    pub(crate) fn intact(&self) -> bool {
        (0..PAGE / 8).all(|i| {
            // SAFETY: the page is mapped readable as long as `self` exists; a client that writes meanwhile is what
            // is looked for, hence volatile.
            let word = unsafe { (self.address as *const u64).add(i).read_volatile() };
            word == if i == 0 { self.value } else { 0 }
        })
    }
}

/// Addresses of pages that are gone: a late read crashes (dxgkrnl.md rule 41).
#[derive(Debug)]
pub(crate) struct Graveyard {
    pages: VecDeque<usize>,
}

impl Graveyard {
    /// Empty.
    pub(crate) const fn new() -> Self {
        Self { pages: VecDeque::new() }
    }

    /// Takes the page away from the client; its address stays taken for a while.
    pub(crate) fn bury(&mut self, page: FencePage) {
        // SAFETY: replaces our own page by one without access; nobody else maps at this address.
        let left = unsafe {
            libc::mmap(
                page.address(),
                PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if left == libc::MAP_FAILED {
            // SAFETY: still our page; without it a late read crashes as well, until the address is reused.
            unsafe { libc::munmap(page.address(), PAGE) };
            return;
        }
        self.pages.push_back(page.address);
        if self.pages.len() > QUARANTINE {
            self.release_oldest();
        }
    }

    fn release_oldest(&mut self) {
        if let Some(address) = self.pages.pop_front() {
            // SAFETY: an inaccessible page of ours that no object names.
            unsafe { libc::munmap(address as *mut core::ffi::c_void, PAGE) };
        }
    }

    /// Gives all addresses back.
    pub(crate) fn clear(&mut self) {
        while !self.pages.is_empty() {
            self.release_oldest();
        }
    }
}
