//! The few things that the thunk asks of the operating system itself.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::time::Duration;

/// Tells whether this process is still the one that set it.
///
/// The word lies in a page that the kernel wipes in every child (`MADV_WIPEONFORK`, Linux 4.14), so a fork by any
/// road - `fork`, a raw `clone`, a new pid namespace in which the pid repeats - reads as 0 there, and the check costs
/// one load. Where the page cannot be had the word holds the pid, and the check costs `getpid`.
#[derive(Debug)]
pub struct ForkMark {
    page: AtomicPtr<AtomicI32>,
    fallback: AtomicI32,
}

const FORKED: i32 = 0;

/// What [`ForkMark::claim`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Claim {
    /// The mark belongs to this process.
    Current,
    /// This thread must take over what was inherited, and then call [`ForkMark::settle`].
    TakeOver,
}

impl ForkMark {
    /// A mark that belongs to no process yet: the first `claim` takes over.
    pub const fn new() -> Self {
        Self { page: AtomicPtr::new(ptr::null_mut()), fallback: AtomicI32::new(FORKED) }
    }

    /// The word, and whether the kernel wipes it in children.
    fn word(&self) -> (&AtomicI32, bool) {
        let page = self.page.load(Ordering::Acquire);
        // SAFETY: a non-null `page` points to a mapping made by `map_wiped`, which is never unmapped once stored.
        match unsafe { page.as_ref() } {
            Some(word) => (word, true),
            None => (&self.fallback, false),
        }
    }

    /// Whether the mark belongs to this process.
    pub fn is_current(&self) -> bool {
        let (word, wiped) = self.word();
        let value = word.load(Ordering::Acquire);
        if wiped { value > 0 } else { value == pid() }
    }

    /// Takes the mark for this process if it belongs to another. Of several threads one gets `TakeOver`, the others
    /// return when that one has settled.
    pub fn claim(&self) -> Claim {
        if self.page.load(Ordering::Acquire).is_null() && self.fallback.load(Ordering::Acquire) == FORKED {
            self.map();
        }
        let me = pid();
        loop {
            let (word, wiped) = self.word();
            let seen = word.load(Ordering::Acquire);
            // A negative pid marks a take-over under way. An inherited one (of a parent that was forked in the middle
            // of it) cannot be mistaken for ours: the page would be wiped, and without it the pid differs.
            let (current, under_way) = if wiped { (seen > 0, seen < 0) } else { (seen == me, seen == -me) };
            if current {
                return Claim::Current;
            }
            if under_way {
                std::thread::yield_now();
            } else if word.compare_exchange(seen, -me, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return Claim::TakeOver;
            }
        }
    }

    /// Ends a take-over.
    pub fn settle(&self) {
        self.word().0.store(pid(), Ordering::Release);
    }

    fn map(&self) {
        let Some(fresh) = map_wiped() else { return };
        if self.page.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: `fresh` is our own mapping of one page, and nobody else has seen it.
            unsafe { libc::munmap(fresh.cast(), page_size()) };
        }
    }
}

impl Default for ForkMark {
    fn default() -> Self {
        Self::new()
    }
}

/// One zeroed page that reads as zero again in every forked child.
fn map_wiped() -> Option<*mut AtomicI32> {
    let size = page_size();
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches no existing memory.
    let page = unsafe {
        libc::mmap(
            ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: `page` is the mapping of `size` bytes made above.
    if unsafe { libc::madvise(page, size, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: as above; nobody has seen the mapping.
        unsafe { libc::munmap(page, size) };
        return None;
    }
    Some(page.cast())
}

/// A counter that the kernel raises and a thread waits for. Its number is never 0, which some calls take for none.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// A new one, at 0, closed on exec.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed; the result is checked before it is owned.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made and nobody else owns it.
        let first = unsafe { OwnedFd::from_raw_fd(fd) };
        if fd > 0 {
            return Ok(Self(first));
        }
        // SAFETY: `first` is open; the result is checked before it is owned.
        let other = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
        if other < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(other) }))
    }

    /// Its number.
    pub fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Waits until it is raised, at most `limit`; signals may end it early.
    pub fn wait(&self, limit: Duration) {
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let milliseconds = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: one element, which outlives the call.
        unsafe { libc::poll(&raw mut poll, 1, milliseconds) };
    }
}

/// Process id as this process sees it.
pub fn pid() -> i32 {
    // SAFETY: getpid has no preconditions.
    unsafe { libc::getpid() }
}

/// Kernel id of the calling thread.
pub fn tid() -> i32 {
    // SAFETY: gettid has no preconditions.
    unsafe { libc::gettid() }
}

/// Size of a page of this machine, in bytes.
pub fn page_size() -> usize {
    // SAFETY: sysconf has no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Memory of this machine, in bytes; 0 when it does not say.
pub fn memory_bytes() -> u64 {
    // SAFETY: sysconf has no preconditions.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    u64::try_from(pages).unwrap_or(0).saturating_mul(page_size() as u64)
}

/// Whether the program runs with more rights than its user (set-uid and the like): then environment variables that
/// name files must not be followed.
pub fn is_privileged() -> bool {
    // SAFETY: getauxval has no preconditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Writes `line` to standard error with one call, so that lines of several threads do not mix; errors are ignored.
pub fn write_stderr(line: &[u8]) {
    // SAFETY: the pointer and length describe `line`, which outlives the call.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Registers fork handlers for the life of the process. False when the system has no memory for them.
pub fn at_fork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> bool {
    // The libc crate declares the handlers as unsafe functions; safe ones coerce.
    let (prepare, parent, child): (unsafe extern "C" fn(), unsafe extern "C" fn(), unsafe extern "C" fn()) =
        (prepare, parent, child);
    // SAFETY: the handlers are functions of this library, which is linked with -z nodelete and so never unmapped.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) == 0 }
}

/// Directory of the file that this library was loaded from: the shared object, or the program that contains it.
pub fn own_directory() -> Option<PathBuf> {
    // SAFETY: zero bytes are values of this structure of pointers.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    let here: *const libc::c_void = (own_directory as fn() -> Option<PathBuf> as *const ()).cast();
    // SAFETY: `here` is an address and `found` a place for the answer.
    if unsafe { libc::dladdr(here, &mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader keeps the name for as long as the object is loaded, which is for ever.
    let file = unsafe { CStr::from_ptr(found.dli_fname) };
    Path::new(OsStr::from_bytes(file.to_bytes())).parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_claim_takes_over_and_later_ones_are_current() {
        let mark = ForkMark::new();
        assert!(!mark.is_current());
        assert_eq!(mark.claim(), Claim::TakeOver);
        mark.settle();
        assert!(mark.is_current());
        assert_eq!(mark.claim(), Claim::Current);
    }

    fn in_child(check: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child only runs `check`, which takes no lock, and leaves with _exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = if check() { 0 } else { 1 };
            // SAFETY: _exit ends the child at once.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: `status` is a valid place for the result.
        unsafe { libc::waitpid(child, &mut status, 0) };
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }

    #[test]
    fn child_sees_a_foreign_mark_with_and_without_the_page() {
        let wiped = ForkMark::new();
        let plain = ForkMark::new();
        plain.fallback.store(pid(), Ordering::Release);
        wiped.claim();
        wiped.settle();
        assert!(plain.is_current());
        assert!(in_child(|| !wiped.is_current() && wiped.claim() == Claim::TakeOver));
        assert!(in_child(|| !plain.is_current() && plain.claim() == Claim::TakeOver));
        assert!(wiped.is_current() && plain.is_current());
    }

    #[test]
    fn a_take_over_under_way_in_the_parent_does_not_block_the_child() {
        let mark = ForkMark::new();
        assert_eq!(mark.claim(), Claim::TakeOver);
        assert!(in_child(|| mark.claim() == Claim::TakeOver));
        mark.settle();
    }
}
