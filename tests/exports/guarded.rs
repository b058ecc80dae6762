//! Memory of a caller that ends where the next access faults.

use std::ptr;

const PAGE: usize = 4096;
/// Room for an array: a caller cannot have more elements than it has memory.
const ARRAY: usize = 1 << 20;
/// What lies before the object, and must stay.
const PATTERN: u8 = 0xa5;

/// One object of the caller: a page that cannot be accessed, a pattern, the object, another such page.
pub struct Guarded {
    base: *mut u8,
    room: usize,
    bytes: usize,
}

impl Guarded {
    /// An object of `bytes` bytes, or an array of objects.
    pub fn new(bytes: usize, array: bool) -> Self {
        let bytes = if array { ARRAY } else { bytes };
        let room = bytes.next_multiple_of(PAGE);
        let all = room + 2 * PAGE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh anonymous mapping.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), all, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(start, libc::MAP_FAILED);
        let base = start.cast::<u8>().wrapping_add(PAGE);
        // SAFETY: the range is inside the mapping made above.
        assert_eq!(unsafe { libc::mprotect(base.cast(), room, access) }, 0);
        let mut new = Self { base, room, bytes };
        new.slack().fill(PATTERN);
        new
    }

    fn slack(&mut self) -> &mut [u8] {
        // SAFETY: the bytes before the object, in a mapping that this value owns.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.room - self.bytes) }
    }

    /// The object.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the last bytes of the mapping that this value owns.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(self.room - self.bytes), self.bytes) }
    }

    /// The object, zeroed; of an array only what is likely to be read.
    pub fn zeroed(&mut self) -> &mut [u8] {
        let object = self.bytes();
        let likely = object.len().min(PAGE);
        object[..likely].fill(0);
        object
    }

    /// The address that the caller passes.
    pub fn address(&self) -> u64 {
        (self.base.addr() + self.room - self.bytes) as u64
    }

    /// Nothing was written before the object. What lies behind it would have faulted.
    pub fn is_intact(&mut self) -> bool {
        let slack = self.slack();
        slack == &[PATTERN; PAGE][..slack.len()]
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, which nothing else refers to.
        unsafe { libc::munmap(self.base.wrapping_sub(PAGE).cast(), self.room + 2 * PAGE) };
    }
}
