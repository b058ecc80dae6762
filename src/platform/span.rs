//! Addresses of this process that the library owns: reserved without memory, then filled by whoever reserved them.

use std::any::Any;
use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use super::os::page_size;
use super::ranges::Ranges;

/// What the CPU may do with a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access(i32);

impl Access {
    /// Nothing.
    pub const NONE: Self = Self(libc::PROT_NONE);
    /// Read.
    pub const READ: Self = Self(libc::PROT_READ);
    /// Read and write.
    pub const READ_WRITE: Self = Self(libc::PROT_READ | libc::PROT_WRITE);

    /// And run code from it.
    pub fn and_execute(self) -> Self {
        Self(self.0 | libc::PROT_EXEC)
    }
}

const RESERVED: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// `mmap` at an address of the kernel's choice, or at one that holds nothing of anybody else's.
///
/// # Safety
/// With `MAP_FIXED` the addresses must be the caller's own.
unsafe fn mmap(
    address: u64,
    bytes: u64,
    access: Access,
    flags: i32,
    file: Option<(BorrowedFd<'_>, u64)>,
) -> io::Result<u64> {
    let length = usize::try_from(bytes).map_err(|_| no_memory())?;
    let wanted = ptr::without_provenance_mut(address as usize);
    let (fd, offset) = file.map_or((-1, 0), |(fd, offset)| (fd.as_raw_fd(), offset));
    // Offsets of device files use all 64 bits.
    // SAFETY: the caller vouches for the addresses; the descriptor, if any, is borrowed for the call.
    let mapped = unsafe { libc::mmap(wanted, length, access.0, flags, fd, offset.cast_signed()) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(mapped.expose_provenance() as u64) }
}

/// Gives addresses back to the system.
///
/// # Safety
/// They must be the caller's own, and nobody may use what is mapped there.
unsafe fn munmap(address: u64, bytes: u64) {
    if bytes != 0 {
        // SAFETY: the caller vouches for them. It fails only for lack of memory to split a mapping, and then leaks.
        unsafe { libc::munmap(ptr::without_provenance_mut(address as usize), bytes as usize) };
    }
}

/// A part of the address space that is set aside for all spans, where GPUs see fewer addresses than the program has. It
/// goes when its last span is gone.
pub struct Region {
    /// What else holds for these addresses; dropped first.
    attached: Option<Box<dyn Any + Send + Sync>>,
    place: Span,
    free: Mutex<Ranges>,
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({:#x}, {:#x} bytes)", self.base(), self.whole())
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        drop(self.attached.take());
    }
}

impl Region {
    /// Sets aside the part of `wanted` bytes at `base`; fails with EEXIST where a part of it is in use.
    pub fn at(base: u64, bytes: u64) -> io::Result<Self> {
        Ok(Self::of(Span::at(base, bytes)?, Box::new(())))
    }

    /// Makes a region of a span that holds nothing; `attached` is dropped before its addresses are given back.
    pub fn of(place: Span, attached: Box<dyn Any + Send + Sync>) -> Self {
        place.leave_to_parent();
        let free = Mutex::new(Ranges::new(place.base, place.whole));
        Self { attached: Some(attached), place, free }
    }

    /// First address.
    pub fn base(&self) -> u64 {
        self.place.base
    }

    /// Bytes, whole pages.
    pub fn whole(&self) -> u64 {
        self.place.whole
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Ranges> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are free in all, and of the largest part.
    pub fn left(&self) -> (u64, u64) {
        self.free().free()
    }

    /// A span in it, with `guard` bytes behind that nothing else gets.
    pub fn span(self: &Arc<Self>, bytes: u64, alignment: u64, guard: u64) -> Option<Span> {
        let whole = bytes.checked_next_multiple_of(page_size() as u64)?.checked_add(guard)?;
        let base = self.free().take(whole, alignment)?;
        Some(Span { base, bytes, whole, region: Some(Arc::clone(self)) })
    }

    /// A span at exactly `address`, if that is free.
    pub fn span_at(self: &Arc<Self>, address: u64, bytes: u64) -> Option<Span> {
        let whole = bytes.checked_next_multiple_of(page_size() as u64)?;
        let taken = self.free().take_at(address, whole);
        taken.then(|| Span { base: address, bytes, whole, region: Some(Arc::clone(self)) })
    }
}

/// Addresses that nobody else in the process gets. Dropping gives them back, with whatever is mapped there.
#[derive(Debug)]
pub struct Span {
    base: u64,
    bytes: u64,
    /// What is given back: whole pages, guards included.
    whole: u64,
    region: Option<Arc<Region>>,
}

/// What the system says when there is no room.
pub(crate) fn no_memory() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOMEM)
}

impl Span {
    /// Reserves `bytes` at a multiple of `alignment`, a power of two, with a hole of `guard` bytes at least on each
    /// side at this moment. ENOMEM when the system has no such place in `within`.
    pub fn anywhere(bytes: u64, alignment: u64, guard: u64, within: &RangeInclusive<u64>) -> io::Result<Self> {
        let page = page_size() as u64;
        let alignment = alignment.max(page);
        let whole = bytes.checked_next_multiple_of(page).filter(|_| bytes != 0).ok_or_else(no_memory)?;
        let extra = guard.checked_mul(2).and_then(|guards| guards.checked_add(alignment - page));
        let total = extra.and_then(|extra| whole.checked_add(extra)).ok_or_else(no_memory)?;
        // SAFETY: the kernel chooses the place.
        let start = unsafe { mmap(0, total, Access::NONE, RESERVED, None) }?;
        let base = (start + guard).next_multiple_of(alignment);
        // SAFETY: both are parts of the mapping that was just made, beside the span.
        unsafe {
            munmap(start, base - start);
            munmap(base + whole, start + total - (base + whole));
        }
        let span = Self { base, bytes, whole, region: None };
        if within.contains(&base) && within.contains(&(base + (whole - 1))) { Ok(span) } else { Err(no_memory()) }
    }

    /// Reserves exactly `bytes` at `address`, a multiple of the page size. EEXIST when something is there.
    pub fn at(address: u64, bytes: u64) -> io::Result<Self> {
        let whole = bytes.checked_next_multiple_of(page_size() as u64).filter(|_| bytes != 0).ok_or_else(no_memory)?;
        // SAFETY: NOREPLACE leaves alone what is there.
        let base = unsafe { mmap(address, whole, Access::NONE, RESERVED | libc::MAP_FIXED_NOREPLACE, None) }?;
        let span = Self { base, bytes, whole, region: None };
        // Kernels before 4.17 take the address as a wish.
        if base == address { Ok(span) } else { Err(io::Error::from_raw_os_error(libc::EEXIST)) }
    }

    /// First address.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes that were asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills the first `bytes` with fresh pages; `shared` ones stay the same pages in a fork child and in its parent.
    pub fn fill(&self, bytes: u64, access: Access, shared: bool) -> io::Result<()> {
        let sharing = if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
        let flags = sharing | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the addresses are this span's, and what it holds so far is given up.
        unsafe { mmap(self.base, bytes.min(self.whole), access, flags, None) }.map(|_| ())
    }

    /// Fills the first `bytes` with a part of a file, shared.
    pub fn fill_from(&self, bytes: u64, file: BorrowedFd<'_>, offset: u64, access: Access) -> io::Result<()> {
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: as above.
        unsafe { mmap(self.base, bytes.min(self.whole), access, flags, Some((file, offset))) }.map(|_| ())
    }

    /// Empties it again.
    pub fn clear(&self) -> io::Result<()> {
        // SAFETY: as above.
        unsafe { mmap(self.base, self.whole, Access::NONE, RESERVED | libc::MAP_FIXED, None) }.map(|_| ())
    }

    /// Keeps addresses that hold nothing out of fork children, which set aside a region of their own.
    fn leave_to_parent(&self) {
        self.advise(libc::MADV_DONTFORK);
    }

    /// `madvise` on all of it. That it is refused changes no result, so it is not an error.
    pub fn advise(&self, advice: i32) {
        // SAFETY: the addresses are this span's; the advices used here discard nothing.
        unsafe { libc::madvise(ptr::without_provenance_mut(self.base as usize), self.whole as usize, advice) };
    }

    /// Wants its pages on one NUMA node, or with `strict` nowhere else.
    pub fn bind(&self, numa_node: u32, strict: bool) -> io::Result<()> {
        const MPOL_PREFERRED: u64 = 1;
        const MPOL_BIND: u64 = 2;
        const MPOL_F_STATIC_NODES: u64 = 1 << 15;
        const WORDS: usize = 16;
        let mut mask = [0_u64; WORDS];
        let word = mask.get_mut(numa_node as usize / 64).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        *word = 1 << (numa_node % 64);
        let mode = if strict { MPOL_BIND } else { MPOL_PREFERRED } | MPOL_F_STATIC_NODES;
        // The kernel takes one bit less than it is told.
        let bits = (WORDS * 64 + 1) as u64;
        // SAFETY: libc has no function for this call. It sets a policy for this span's addresses, and reads the mask,
        // which outlives it.
        let failed =
            unsafe { libc::syscall(libc::SYS_mbind, self.base, self.whole, mode, mask.as_ptr(), bits, 0_u64) } != 0;
        if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(region) = self.region.take() else {
            // SAFETY: the addresses are this span's, and whoever knew them gave them up with it.
            unsafe { munmap(self.base, self.whole) };
            return;
        };
        // What cannot be emptied is not given to anybody again.
        if self.clear().is_ok() {
            self.leave_to_parent();
            region.free().give(self.base, self.whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYWHERE: RangeInclusive<u64> = 0..=u64::MAX;

    #[test]
    fn spans_are_aligned_and_given_back() {
        let span = Span::anywhere(3 << 20, 2 << 20, 4096, &EVERYWHERE).unwrap();
        let base = span.base();
        assert!(base.is_multiple_of(2 << 20));
        assert_eq!(Span::at(base, 4096).unwrap_err().raw_os_error(), Some(libc::EEXIST));
        span.fill(3 << 20, Access::READ_WRITE, false).unwrap();
        drop(span);
        let again = Span::at(base, 3 << 20).unwrap();
        assert_eq!((again.base(), again.bytes()), (base, 3 << 20));
    }

    #[test]
    fn a_span_that_cannot_be_is_refused() {
        for (bytes, alignment) in [(0, 4096), (u64::MAX, 4096), (1 << 60, 4096), (4096, 1 << 62)] {
            let error = Span::anywhere(bytes, alignment, 4096, &EVERYWHERE).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ENOMEM), "{bytes:#x} {alignment:#x}");
        }
        let error = Span::anywhere(4096, 4096, 0, &(0..=0xffff)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOMEM), "outside");
    }

    #[test]
    fn a_region_serves_spans_until_it_is_full() {
        let place = Span::anywhere(1 << 20, 1 << 20, 0, &EVERYWHERE).unwrap().base();
        let region = Arc::new(Region::at(place, 1 << 20).unwrap());
        assert!(Region::at(place, 4096).is_err(), "it is taken");
        let first = region.span(0x10000, 0x10000, 4096).unwrap();
        let second = region.span_at(place + 0x80000, 0x80000).unwrap();
        assert!(region.span(0x80000, 4096, 0).is_none());
        assert!(region.span_at(place + 0x1000, 4096).is_none());
        first.fill(0x10000, Access::READ_WRITE, true).unwrap();
        drop((first, second));
        assert_eq!(region.left(), (1 << 20, 1 << 20));
    }
}
