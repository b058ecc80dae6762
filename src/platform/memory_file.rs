//! Memory with a file behind it, so that another process can have the same pages.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// What the system calls such a file: the name that the original gives it, whose users may be on the other side
/// (dxg.md 3.1).
const NAME: &std::ffi::CStr = c"rocr4wsl_gtt";
const LINK: &str = "/memfd:rocr4wsl_gtt (deleted)";

/// Such a file.
#[derive(Debug)]
pub struct MemoryFile(File);

impl MemoryFile {
    /// A new one of `bytes`, whose size nobody can change.
    pub fn new(bytes: u64) -> io::Result<Self> {
        // SAFETY: the name is a C string; the result is checked before it is owned.
        let fd = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made and nobody else owns it.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(bytes)?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: an open descriptor and a number.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(file))
    }

    /// The file again, when `file` is one; `None` when it is something else. Errors: it is not open, or there are too many
    /// files.
    pub fn of(file: BorrowedFd<'_>) -> io::Result<Option<Self>> {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        match link {
            Ok(link) if link.as_os_str() == LINK => Ok(Some(Self(File::from(file.try_clone_to_owned()?)))),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::from_raw_os_error(libc::EBADF)),
            Err(error) => Err(error),
        }
    }

    /// Its size, in bytes.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// One more descriptor of it.
    pub fn duplicate(&self) -> io::Result<OwnedFd> {
        self.0.as_fd().try_clone_to_owned()
    }
}

impl AsFd for MemoryFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn such_files_are_known_and_others_are_not() {
        let file = MemoryFile::new(8192).unwrap();
        let again = MemoryFile::of(file.as_fd()).unwrap().unwrap();
        assert_eq!(again.bytes().unwrap(), 8192);
        assert!(file.0.set_len(4096).is_err(), "nobody changes its size");
        let other = File::open("/proc/self/exe").unwrap();
        assert!(MemoryFile::of(other.as_fd()).unwrap().is_none());
        let twin = file.duplicate().unwrap();
        assert_ne!(twin.as_raw_fd(), file.0.as_raw_fd());
    }
}
