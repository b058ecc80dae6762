//! Device files: what is kept beside a descriptor so that its number is never trusted alone.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an open file is, whichever number it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity {
    /// Device of the inode.
    pub device: u64,
    /// Inode.
    pub inode: u64,
}

impl Identity {
    /// What the descriptor `fd` names now; `None` when it is not open.
    pub fn of(fd: RawFd) -> Option<Self> {
        let mut status = MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: `status` is a live, writable `struct stat`; a number that is no open file is refused with EBADF.
        if unsafe { libc::fstat(fd, status.as_mut_ptr()) } != 0 {
            return None;
        }
        // SAFETY: zeroes are a valid value, and the call filled it.
        let status = unsafe { status.assume_init() };
        Some(Self { device: status.st_dev, inode: status.st_ino })
    }
}

/// The number of an open file and what it named when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    /// Descriptor.
    pub fd: RawFd,
    /// What it named.
    pub identity: Identity,
}

impl Trace {
    /// Whether the number still names that file. Programs close every descriptor that they do not know, and what they
    /// open next gets the number.
    pub fn is_intact(&self) -> bool {
        Identity::of(self.fd) == Some(self.identity)
    }

    /// Closes the file if the number still names it: for a fork child, whose parent's owner was abandoned.
    pub fn close_inherited(self) {
        if self.is_intact() {
            // SAFETY: the descriptor was opened by this library before the fork, its owner was abandoned with the
            // parent's session, and it still names that file.
            drop(unsafe { OwnedFd::from_raw_fd(self.fd) });
        }
    }
}

/// A device file opened by this library. Dropping it closes the descriptor if it still names the file.
#[derive(Debug)]
pub struct DeviceFile {
    file: ManuallyDrop<File>,
    identity: Identity,
    /// The number was seen to name something else: from then on it is not ours, whatever it comes to name.
    lost: AtomicBool,
}

impl DeviceFile {
    /// Opens `path` for reading and writing, closed on exec.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let identity = Identity::of(file.as_raw_fd()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { file: ManuallyDrop::new(file), identity, lost: AtomicBool::new(false) })
    }

    /// Whether the descriptor is still ours. Once it is not, it never is again: the next file of the same device may
    /// well get the same number.
    pub fn is_intact(&self) -> bool {
        let intact = !self.lost.load(Ordering::Acquire) && self.trace().is_intact();
        self.lost.store(!intact, Ordering::Release);
        intact
    }

    /// Its number and what that must name.
    pub fn trace(&self) -> Trace {
        Trace { fd: self.file.as_raw_fd(), identity: self.identity }
    }
}

impl AsFd for DeviceFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for DeviceFile {
    fn drop(&mut self) {
        if self.is_intact() {
            // SAFETY: the only drop of the field, which nothing uses afterwards.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file without a name, and a path that opens it again.
    fn nameless() -> (File, std::path::PathBuf) {
        // SAFETY: the name is a C string; the descriptor that is returned is this test's own.
        let file = unsafe { File::from_raw_fd(libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC)) };
        let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
        (file, path)
    }

    /// Makes the number `fd` name `file`, as a program does that closes what it does not know and opens others.
    fn put(file: &File, fd: RawFd) {
        // SAFETY: both are open, and `fd` is of the test that calls this.
        assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), fd) }, fd);
    }

    #[test]
    fn a_number_that_names_another_file_is_left_alone() {
        let ((_ours, path), (other, _)) = (nameless(), nameless());
        let file = DeviceFile::open(&path).unwrap();
        let trace = file.trace();
        assert!(trace.is_intact());
        put(&other, trace.fd);
        assert!(!trace.is_intact());
        trace.close_inherited();
        drop(file);
        // SAFETY: the duplicate made above, which nothing owns and the two before have left open.
        let left = unsafe { OwnedFd::from_raw_fd(trace.fd) };
        assert_eq!(Identity::of(left.as_raw_fd()), Identity::of(other.as_raw_fd()));
    }

    #[test]
    fn a_lost_number_stays_lost() {
        let ((twin, path), (other, _)) = (nameless(), nameless());
        let file = DeviceFile::open(&path).unwrap();
        let fd = file.trace().fd;
        put(&other, fd);
        assert!(!file.is_intact());
        put(&twin, fd);
        assert!(file.trace().is_intact() && !file.is_intact());
        drop(file);
        // SAFETY: the duplicate made above, which nothing owns and the drop has left open.
        let left = unsafe { OwnedFd::from_raw_fd(fd) };
        assert_eq!(Identity::of(left.as_raw_fd()), Identity::of(twin.as_raw_fd()));
    }

    #[test]
    fn dropping_closes() {
        let (_file, path) = nameless();
        let trace = DeviceFile::open(&path).unwrap().trace();
        assert!(!trace.is_intact());
        let inherited = ManuallyDrop::new(DeviceFile::open(&path).unwrap()).trace();
        inherited.close_inherited();
        assert!(!inherited.is_intact());
    }
}
