//! Files of sysfs that open and do not read, EPERM, as those of a GPU that the device cgroup denies (kfd-kernel.md rule 119).
//!
//! The kernel asks before each read of a watched file (fanotify), and every one is refused. Touches the watched files.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use libc::{fanotify_event_metadata, fanotify_response};

use crate::sys;

/// The watch.
#[derive(Debug)]
pub struct Denied(OwnedFd);

impl AsRawFd for Denied {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Denied {
    /// Refuses reads of files from now on.
    pub fn new(files: &[PathBuf]) -> Result<Self> {
        let flags = libc::FAN_CLASS_CONTENT | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK;
        // SAFETY: numbers only.
        let fd = unsafe { libc::fanotify_init(flags, libc::O_RDONLY as u32) };
        if fd < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the call made the descriptor.
        let watch = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        files.iter().try_for_each(|file| watch.add(file))?;
        Ok(watch)
    }

    fn add(&self, file: &Path) -> Result<()> {
        let path = sys::c_path(file)?;
        let (how, what) = (libc::FAN_MARK_ADD, libc::FAN_ACCESS_PERM);
        // SAFETY: a C string.
        let done = unsafe { libc::fanotify_mark(self.as_raw_fd(), how, what, libc::AT_FDCWD, path.as_ptr()) };
        if done == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }

    /// Answers the reads that wait.
    pub fn refuse(&self) {
        loop {
            // SAFETY: plain data.
            let mut events: [fanotify_event_metadata; 16] = unsafe { core::mem::zeroed() };
            // SAFETY: room for that many bytes.
            let count = unsafe { libc::read(self.as_raw_fd(), events.as_mut_ptr().cast(), size_of_val(&events)) };
            let count = usize::try_from(count).unwrap_or(0) / size_of::<fanotify_event_metadata>();
            if count == 0 {
                return;
            }
            for event in events[..count].iter().filter(|event| event.fd >= 0) {
                // SAFETY: the event's own descriptor, which nobody else has.
                let file = unsafe { OwnedFd::from_raw_fd(event.fd) };
                let answer = fanotify_response { fd: file.as_raw_fd(), response: libc::FAN_DENY };
                // SAFETY: one answer.
                unsafe { libc::write(self.as_raw_fd(), (&raw const answer).cast(), size_of_val(&answer)) };
            }
        }
    }
}
