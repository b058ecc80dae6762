//! The symbols that stand before libc's. Each looks whether the path or the descriptor is the fake's, and calls the next
//! definition otherwise.
//!
//! The variadic ones take their optional argument as a plain one, which the calling conventions of x86-64 and AArch64
//! allow.

use core::ffi::{c_char, c_int, c_ulong, c_void};
use std::ffi::CString;

use libc::{DIR, FILE, mode_t, off_t, size_t};
use rocdxg_fake_kfd::{Answer, Errno, Reply};

use crate::front::{self, Node, front};
use crate::next::set_errno;
use crate::paths::{self, Path};
use crate::reads;

/// The next definitions.
pub(crate) mod real {
    use core::ffi::{c_char, c_int, c_ulong, c_void};
    use core::ptr::null_mut;

    use libc::{DIR, FILE, MAP_FAILED, mode_t, off_t, size_t, ssize_t};

    use crate::next::{next, set_errno};

    next! {
        /// `open`.
        fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int = -1;
        /// `openat`.
        fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int = -1;
        /// `fopen`.
        fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE = null_mut();
        /// `opendir`.
        fn opendir(path: *const c_char) -> *mut DIR = null_mut();
        /// `access`.
        fn access(path: *const c_char, mode: c_int) -> c_int = -1;
        /// `faccessat`.
        fn faccessat(folder: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int = -1;
        /// `readlink`.
        fn readlink(path: *const c_char, buffer: *mut c_char, bytes: size_t) -> ssize_t = -1;
        /// `read`.
        fn read(fd: c_int, buffer: *mut c_void, bytes: size_t) -> ssize_t = -1;
        /// `pread`.
        fn pread(fd: c_int, buffer: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t = -1;
        /// `ioctl`.
        fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int = -1;
        /// `mmap`.
        fn mmap(at: *mut c_void, length: size_t, access: c_int, flags: c_int, fd: c_int, offset: off_t)
            -> *mut c_void = MAP_FAILED;
        /// `stat`.
        fn stat(path: *const c_char, to: *mut libc::stat) -> c_int = -1;
        /// `lstat`.
        fn lstat(path: *const c_char, to: *mut libc::stat) -> c_int = -1;
        /// `fstat`.
        fn fstat(fd: c_int, to: *mut libc::stat) -> c_int = -1;
        /// `fstatat`.
        fn fstatat(folder: c_int, path: *const c_char, to: *mut libc::stat, flags: c_int) -> c_int = -1;
        /// `statx`.
        fn statx(folder: c_int, path: *const c_char, flags: c_int, mask: u32, to: *mut libc::statx) -> c_int = -1;
    }
}

/// What a path of the client's becomes.
pub(crate) enum Target {
    /// It is not the fake's.
    Other,
    /// A device node.
    Node(Node),
    /// A file elsewhere.
    File(CString),
    /// The fake is not set up.
    Broken,
}

/// Looks at a path; `relative` ones are never the fake's, their folder was.
///
/// # Safety
/// `path` is null or a C string.
pub(crate) unsafe fn target(path: *const c_char) -> Target {
    // SAFETY: the caller vouches for the path, which outlives this call.
    let Some(path) = unsafe { paths::bytes(path) }.and_then(paths::of) else { return Target::Other };
    let Some(front) = front() else { return Target::Broken };
    match path {
        Path::Kfd => Target::Node(Node::Kfd),
        Path::Render(minor) => Target::Node(Node::Render(minor)),
        sysfs => front.redirect(sysfs).map_or(Target::Broken, Target::File),
    }
}

/// -1 and errno.
pub(crate) fn refuse(errno: Errno) -> c_int {
    set_errno(errno.0);
    -1
}

fn answer(answer: Answer) -> c_int {
    answer.map_or_else(refuse, |()| 0)
}

/// The driver of a device node that was found: it is set up.
fn open_node(node: Node, flags: c_int) -> c_int {
    let opened = front().ok_or(Errno::ENODEV).and_then(|mut front| front.open(node, flags));
    opened.unwrap_or_else(refuse)
}

/// Declares `open` under its names.
macro_rules! opens {
    ($($name:ident),*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            let large = if stringify!($name).contains("64") { libc::O_LARGEFILE } else { 0 };
            // SAFETY: the client vouches for its arguments.
            match unsafe { target(path) } {
                // SAFETY: the client's own arguments.
                Target::Other => unsafe { real::open(path, flags | large, mode) },
                Target::Node(node) => open_node(node, flags),
                // SAFETY: another C string in place of the client's.
                Target::File(path) => unsafe { real::open(path.as_ptr(), flags | large, mode) },
                Target::Broken => refuse(Errno::ENODEV),
            }
        }
    )*};
}

opens!(open, open64, __open_2, __open64_2);

/// Declares `openat` under its names.
macro_rules! opens_at {
    ($($name:ident),*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            let large = if stringify!($name).contains("64") { libc::O_LARGEFILE } else { 0 };
            // SAFETY: the client vouches for its arguments.
            match unsafe { target(path) } {
                // SAFETY: the client's own arguments.
                Target::Other => unsafe { real::openat(folder, path, flags | large, mode) },
                Target::Node(node) => open_node(node, flags),
                // SAFETY: another C string in place of the client's.
                Target::File(path) => unsafe { real::openat(folder, path.as_ptr(), flags | large, mode) },
                Target::Broken => refuse(Errno::ENODEV),
            }
        }
    )*};
}

opens_at!(openat, openat64, __openat_2, __openat64_2);

/// `fopen`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the client vouches for its arguments.
    match unsafe { target(path) } {
        // SAFETY: the client's own arguments.
        Target::Other => unsafe { real::fopen(path, mode) },
        // SAFETY: another C string in place of the client's.
        Target::File(path) => reads::stream(unsafe { real::fopen(path.as_ptr(), mode) }),
        Target::Node(node) => {
            let fd = open_node(node, libc::O_RDWR);
            // SAFETY: a descriptor of ours, or -1, which is refused; the client vouches for the mode.
            if fd < 0 { core::ptr::null_mut() } else { unsafe { libc::fdopen(fd, mode) } }
        }
        Target::Broken => {
            set_errno(libc::ENODEV);
            core::ptr::null_mut()
        }
    }
}

/// `fopen64`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the same function where file offsets have 64 bits.
    unsafe { fopen(path, mode) }
}

/// `opendir`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    // SAFETY: the client vouches for its arguments.
    let errno = match unsafe { target(path) } {
        // SAFETY: the client's own argument.
        Target::Other => return unsafe { real::opendir(path) },
        // SAFETY: another C string in place of the client's.
        Target::File(path) => return unsafe { real::opendir(path.as_ptr()) },
        Target::Node(_) => libc::ENOTDIR,
        Target::Broken => libc::ENODEV,
    };
    set_errno(errno);
    core::ptr::null_mut()
}

/// The answer of `access` for a device node.
fn access_node(node: Node, mode: c_int) -> c_int {
    match front() {
        Some(front) if !front.has(node) => refuse(Errno::ENOENT),
        Some(_) if mode & libc::X_OK != 0 => refuse(Errno::EACCES),
        Some(_) => 0,
        None => refuse(Errno::ENODEV),
    }
}

/// `access`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the client vouches for its arguments.
    match unsafe { target(path) } {
        // SAFETY: the client's own arguments.
        Target::Other => unsafe { real::access(path, mode) },
        // SAFETY: another C string in place of the client's.
        Target::File(path) => unsafe { real::access(path.as_ptr(), mode) },
        Target::Node(node) => access_node(node, mode),
        Target::Broken => refuse(Errno::ENODEV),
    }
}

/// `faccessat`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn faccessat(folder: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
    // SAFETY: the client vouches for its arguments.
    match unsafe { target(path) } {
        // SAFETY: the client's own arguments.
        Target::Other => unsafe { real::faccessat(folder, path, mode, flags) },
        // SAFETY: another C string in place of the client's.
        Target::File(path) => unsafe { real::faccessat(folder, path.as_ptr(), mode, flags) },
        Target::Node(node) => access_node(node, mode),
        Target::Broken => refuse(Errno::ENODEV),
    }
}

/// `readlink`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readlink(path: *const c_char, buffer: *mut c_char, bytes: size_t) -> libc::ssize_t {
    // SAFETY: the client vouches for its arguments.
    match unsafe { target(path) } {
        // SAFETY: the client's own arguments.
        Target::Other => unsafe { real::readlink(path, buffer, bytes) },
        // SAFETY: another C string in place of the client's.
        Target::File(path) => unsafe { real::readlink(path.as_ptr(), buffer, bytes) },
        Target::Node(_) => refuse(Errno::EINVAL) as libc::ssize_t,
        Target::Broken => refuse(Errno::ENODEV) as libc::ssize_t,
    }
}

/// `ioctl`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    if let Some(mut front) = front::existing()
        && let Some((file, _)) = front.file(fd)
    {
        let reply = front.ioctl(file, request as u32, argument as u64);
        front::changed();
        return match reply {
            Reply::Done(done) => answer(done),
            Reply::Asleep(wait) => loop {
                if let Some(done) = front.resume(&wait) {
                    break answer(done);
                }
                front = front::sleep(front, wait.deadline);
            },
        };
    }
    if matches!((request >> 8) as u8, b'K' | b'd') && front::is_orphan(fd) {
        return refuse(Errno::EBADF);
    }
    // SAFETY: the client's own arguments.
    unsafe { real::ioctl(fd, request, argument) }
}

/// `mmap`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    at: *mut c_void,
    length: size_t,
    access: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let ours = fd >= 0 && flags & libc::MAP_ANONYMOUS == 0;
    if ours
        && let Some(mut front) = front::existing()
        && let Some((file, _)) = front.file(fd)
    {
        let private = flags & libc::MAP_TYPE == libc::MAP_PRIVATE && access != libc::PROT_NONE;
        let (pages, inherited) = match front.mmap(file, (length as u64, offset as u64), private) {
            Ok(found) => found,
            Err(errno) => {
                set_errno(errno.0);
                return libc::MAP_FAILED;
            }
        };
        // Sharing is not the client's choice.
        let flags = flags & !libc::MAP_PRIVATE | libc::MAP_SHARED;
        // SAFETY: pages of ours at a place of the client's choice.
        let mapped = unsafe { real::mmap(at, length, access, flags, pages, 0) };
        if mapped != libc::MAP_FAILED {
            let advices = [libc::MADV_DONTDUMP, libc::MADV_DONTFORK];
            for advice in &advices[..if inherited { 1 } else { 2 }] {
                // SAFETY: the mapping that was just made.
                unsafe { libc::madvise(mapped, length, *advice) };
            }
        }
        return mapped;
    }
    // SAFETY: the client's own arguments.
    unsafe { real::mmap(at, length, access, flags, fd, offset) }
}

/// `mmap64`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    at: *mut c_void,
    length: size_t,
    access: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the same function where file offsets have 64 bits.
    unsafe { mmap(at, length, access, flags, fd, offset) }
}
