//! System calls without a safe form in `std`: each checks its result, and takes and gives owned descriptors.
//!
//! Touches what its arguments name.

use core::ffi::{c_int, c_long, c_uint};
use std::ffi::{CStr, CString};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path for the kernel.
pub fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::from(ErrorKind::InvalidInput))
}

fn check(result: c_long) -> Result<c_long> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// A descriptor that a call has just made.
fn own(result: c_long) -> Result<OwnedFd> {
    let fd = check(result)? as RawFd;
    // SAFETY: the call made the descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// `mount(2)`; the strings that a call does not have are empty.
pub fn mount(source: &Path, target: &Path, kind: &CStr, flags: libc::c_ulong, data: &CStr) -> Result<()> {
    let (source, target) = (c_path(source)?, c_path(target)?);
    let (kind, data) = (kind.as_ptr(), data.as_ptr().cast());
    // SAFETY: four C strings.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, data) }.into()).map(drop)
}

/// A mount namespace of this process alone: what is mounted in it is not seen outside.
pub fn private_mounts() -> Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())?;
    mount(Path::new("none"), Path::new("/"), c"", libc::MS_REC | libc::MS_PRIVATE, c"")
}

/// This process sees `root` as `/`.
pub fn chroot(root: &Path) -> Result<()> {
    let root = c_path(root)?;
    // SAFETY: a C string.
    check(unsafe { libc::chroot(root.as_ptr()) }.into())?;
    std::env::set_current_dir("/")
}

/// A descriptor for the life of a process.
pub fn pidfd_open(pid: i32, flags: c_uint) -> Result<OwnedFd> {
    // SAFETY: numbers only.
    own(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, flags) })
}

/// Another process's descriptor, as one of this process: the same open file description.
pub fn pidfd_getfd(pidfd: &OwnedFd, fd: RawFd) -> Result<OwnedFd> {
    // SAFETY: numbers only.
    own(unsafe { libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), fd, 0) })
}

/// Another thread's descriptor: that of the thread if the kernel can, that of its group otherwise.
pub fn descriptor_of(tid: i32, fd: RawFd) -> Result<OwnedFd> {
    let pidfd = pidfd_open(tid, libc::PIDFD_THREAD).or_else(|_| pidfd_open(tid, 0))?;
    pidfd_getfd(&pidfd, fd)
}

/// Whether a descriptor of this process and one of a thread are the same open file description.
pub fn same_file(own: &OwnedFd, tid: i32, fd: RawFd) -> bool {
    const KCMP_FILE: c_int = 0;
    let this = std::process::id();
    // SAFETY: numbers only.
    unsafe { libc::syscall(libc::SYS_kcmp, this, tid, KCMP_FILE, own.as_raw_fd(), fd) == 0 }
}

/// Whether two threads have one address space.
pub fn same_space(one: i32, other: i32) -> bool {
    const KCMP_VM: c_int = 1;
    // SAFETY: numbers only.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0 }
}

/// Whether something can be read from a descriptor now.
pub fn is_readable(fd: &OwnedFd) -> bool {
    let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry.
    unsafe { libc::poll(&raw mut entry, 1, 0) > 0 }
}

/// Whether a thread is one of a thread group.
pub fn is_thread_of(tgid: i32, tid: i32) -> bool {
    // SAFETY: numbers only; signal 0 is none.
    unsafe { libc::syscall(libc::SYS_tgkill, tgid, tid, 0) == 0 }
}

/// Sends a signal to a process; one that is gone needs none.
pub fn kill(pid: i32, signal: c_int) {
    // SAFETY: numbers only.
    unsafe { libc::kill(pid, signal) };
}

/// Reads another thread's memory: all of it, or nothing that counts.
pub fn read_memory(tid: i32, address: u64, bytes: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
    // SAFETY: the local vector is `bytes`; the kernel checks the other one.
    let count = unsafe { libc::process_vm_readv(tid, &raw const local, 1, &raw const remote, 1, 0) };
    count.cast_unsigned() == bytes.len()
}

/// Writes another thread's memory; `false` when not all of it can be written.
pub fn write_memory(tid: i32, address: u64, bytes: &[u8]) -> bool {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
    // SAFETY: the local vector is `bytes`, which is only read; the kernel checks the other one.
    let count = unsafe { libc::process_vm_writev(tid, &raw const local, 1, &raw const remote, 1, 0) };
    count.cast_unsigned() == bytes.len()
}

/// Gives back the memory of a part of a file, which reads as zeros from now on.
pub fn punch(file: &impl AsRawFd, offset: u64, bytes: u64) {
    let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: numbers only. A file system that cannot keeps the memory.
    unsafe { libc::fallocate(file.as_raw_fd(), how, offset.cast_signed(), bytes.cast_signed()) };
}

/// A pair of connected sockets that keep messages apart.
pub fn socket_pair() -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: room for two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()) }.into())?;
    Ok((own(fds[0].into())?, own(fds[1].into())?))
}

/// Sends a message; a peer that is gone does not end this process.
pub fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<()> {
    let (start, count) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the bytes are there.
    check(unsafe { libc::send(socket.as_raw_fd(), start, count, libc::MSG_NOSIGNAL) } as c_long).map(drop)
}

/// Receives a message; empty when the peer is gone.
pub fn receive(socket: &OwnedFd) -> Result<Vec<u8>> {
    let mut bytes = vec![0_u8; 4096];
    loop {
        // SAFETY: the room is there.
        let count = unsafe { libc::recv(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        match check(count as c_long) {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
            Ok(count) => {
                bytes.truncate(count as usize);
                return Ok(bytes);
            }
        }
    }
}

/// Signals as a set.
pub fn signal_set(signals: &[c_int]) -> libc::sigset_t {
    // SAFETY: plain data, made a set by the next call.
    let mut set: libc::sigset_t = unsafe { core::mem::zeroed() };
    // SAFETY: the set is ours.
    unsafe { libc::sigemptyset(&raw mut set) };
    for signal in signals {
        // SAFETY: the set is ours.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    set
}

/// Changes the mask of this thread: the old one.
pub fn mask(how: c_int, set: &libc::sigset_t) -> libc::sigset_t {
    let mut old = *set;
    // SAFETY: two sets of ours.
    unsafe { libc::sigprocmask(how, set, &raw mut old) };
    old
}

/// A descriptor that tells signals, which must be blocked.
pub fn signalfd(set: &libc::sigset_t) -> Result<OwnedFd> {
    // SAFETY: a set of ours.
    own(unsafe { libc::signalfd(-1, set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) }.into())
}

/// The next signal: its number and whether a process sent it to this one, not a terminal to the group.
pub fn next_signal(signals: &OwnedFd) -> Option<(c_int, bool)> {
    // SAFETY: plain data, all zero is a value of it.
    let mut info: libc::signalfd_siginfo = unsafe { core::mem::zeroed() };
    let bytes = size_of_val(&info);
    // SAFETY: room for one record.
    let count = unsafe { libc::read(signals.as_raw_fd(), (&raw mut info).cast(), bytes) };
    (count.cast_unsigned() == bytes).then_some((info.ssi_signo as c_int, info.ssi_code <= 0))
}

/// A child that ended: its number and its wait status.
pub fn reap() -> Option<(i32, c_int)> {
    let mut status = 0;
    // SAFETY: room for the status.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
    (pid > 0).then_some((pid, status))
}

/// Orphans among the descendants become children of this process.
pub fn adopt_orphans() -> Result<()> {
    // SAFETY: numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }.into()).map(drop)
}

/// Lets this process have as many descriptors as it may: it has some for each process and open file of the program.
pub fn raise_descriptors() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for the limit.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0 {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: a limit of ours. What is not granted is not had.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}

/// Descriptors to be told about, each with a number.
#[derive(Debug)]
pub struct Poll(OwnedFd);

impl Poll {
    /// An empty one.
    pub fn new() -> Result<Self> {
        // SAFETY: numbers only.
        own(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }.into()).map(Self)
    }

    /// Watches a descriptor until it is closed.
    pub fn add(&self, fd: &impl AsRawFd, number: u64) -> Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: number };
        // SAFETY: one event.
        let done = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &raw mut event) };
        check(done.into()).map(drop)
    }

    /// Watches a descriptor no more.
    pub fn remove(&self, fd: &impl AsRawFd) {
        // SAFETY: no event is needed.
        unsafe {
            libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_DEL, fd.as_raw_fd(), core::ptr::null_mut());
        }
    }

    /// Waits at most that many ms, -1 without end: the numbers, and whether the other end is gone.
    pub fn wait(&self, timeout: c_int) -> Result<Vec<(u64, bool)>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
        // SAFETY: room for that many events.
        let count = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), 16, timeout) };
        match check(count.into()) {
            Ok(count) => {
                let hung = |event: &libc::epoll_event| event.events & libc::EPOLLIN as u32 == 0;
                Ok(events[..count as usize].iter().map(|event| (event.u64, hung(event))).collect())
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }
}
