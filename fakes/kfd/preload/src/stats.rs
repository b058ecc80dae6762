//! The stat family: device nodes look like character devices (kfd-kernel.md 8), paths of sysfs are found elsewhere.

use core::ffi::{c_char, c_int};

use rocdxg_fake_kfd::{DRM_MAJOR, Errno, KFD_MAJOR};

use crate::front::{self, Node, front};
use crate::hooks::{Target, real, refuse, target};

const fn device(node: Node) -> (u32, u32) {
    match node {
        Node::Kfd => (KFD_MAJOR, 0),
        Node::Render(minor) => (DRM_MAJOR, minor),
    }
}

const fn mode(node: Node) -> libc::mode_t {
    match node {
        Node::Kfd => libc::S_IFCHR | 0o666,
        Node::Render(_) => libc::S_IFCHR | 0o660,
    }
}

/// What `stat` says of a device node: one inode for all opens.
///
/// # Safety
/// `to` is null or can be written.
unsafe fn fill(node: Node, to: *mut libc::stat) -> c_int {
    if to.is_null() {
        return refuse(Errno::EFAULT);
    }
    let (major, minor) = device(node);
    // SAFETY: plain data, all zero is a value of it.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    stat.st_dev = 5;
    stat.st_ino = libc::ino_t::from(1000 + minor);
    stat.st_nlink = 1;
    stat.st_mode = mode(node);
    stat.st_rdev = libc::makedev(major, minor);
    stat.st_blksize = 4096;
    // SAFETY: the caller vouches for `to`, which is not null.
    unsafe { to.write(stat) };
    0
}

/// Stat of a node by its path.
///
/// # Safety
/// As [`fill`].
unsafe fn fill_existing(node: Node, to: *mut libc::stat) -> c_int {
    match front() {
        // SAFETY: passed on.
        Some(front) if front.has(node) => unsafe { fill(node, to) },
        _ => refuse(Errno::ENOENT),
    }
}

/// The node behind a descriptor.
fn node_of(fd: c_int) -> Option<Node> {
    front::existing()?.file(fd).map(|(_, node)| node)
}

/// Declares the functions of a path under their names.
macro_rules! of_path {
    ($($name:ident = $next:ident),*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: *const c_char, to: *mut libc::stat) -> c_int {
            // SAFETY: the client vouches for its arguments.
            match unsafe { target(path) } {
                // SAFETY: the client's own arguments.
                Target::Other => unsafe { real::$next(path, to) },
                // SAFETY: another C string in place of the client's.
                Target::File(path) => unsafe { real::$next(path.as_ptr(), to) },
                // SAFETY: the client's own buffer.
                Target::Node(node) => unsafe { fill_existing(node, to) },
                Target::Broken => refuse(Errno::ENODEV),
            }
        }
    )*};
}

of_path!(stat = stat, stat64 = stat, lstat = lstat, lstat64 = lstat);

/// Declares `fstat` under its names.
macro_rules! of_descriptor {
    ($($name:ident),*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(fd: c_int, to: *mut libc::stat) -> c_int {
            match node_of(fd) {
                // SAFETY: the client's own buffer.
                Some(node) => unsafe { fill(node, to) },
                // SAFETY: the client's own arguments.
                None => unsafe { real::fstat(fd, to) },
            }
        }
    )*};
}

of_descriptor!(fstat, fstat64);

/// Declares `fstatat` under its names.
macro_rules! of_place {
    ($($name:ident),*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            folder: c_int,
            path: *const c_char,
            to: *mut libc::stat,
            flags: c_int,
        ) -> c_int {
            // SAFETY: the client vouches for its arguments.
            match unsafe { target(path) } {
                // SAFETY: the client vouches for the path.
                Target::Other => match unsafe { empty(folder, path, flags) } {
                    // SAFETY: the client's own buffer.
                    Some(node) => unsafe { fill(node, to) },
                    // SAFETY: the client's own arguments.
                    None => unsafe { real::fstatat(folder, path, to, flags) },
                },
                // SAFETY: another C string in place of the client's.
                Target::File(path) => unsafe { real::fstatat(folder, path.as_ptr(), to, flags) },
                // SAFETY: the client's own buffer.
                Target::Node(node) => unsafe { fill_existing(node, to) },
                Target::Broken => refuse(Errno::ENODEV),
            }
        }
    )*};
}

of_place!(fstatat, fstatat64);

/// The node that `AT_EMPTY_PATH` and an empty path name.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn empty(folder: c_int, path: *const c_char, flags: c_int) -> Option<Node> {
    // SAFETY: a C string that is not null has a first byte.
    let empty = path.is_null() || unsafe { *path } == 0;
    (empty && flags & libc::AT_EMPTY_PATH != 0).then(|| node_of(folder)).flatten()
}

/// `statx`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statx(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mask: u32,
    to: *mut libc::statx,
) -> c_int {
    // SAFETY: the client vouches for its arguments.
    let node = match unsafe { target(path) } {
        // SAFETY: another C string in place of the client's.
        Target::File(path) => return unsafe { real::statx(folder, path.as_ptr(), flags, mask, to) },
        Target::Broken => return refuse(Errno::ENODEV),
        Target::Node(node) if front().is_some_and(|front| front.has(node)) => Some(node),
        Target::Node(_) => return refuse(Errno::ENOENT),
        // SAFETY: the client vouches for the path.
        Target::Other => unsafe { empty(folder, path, flags) },
    };
    let Some(node) = node else {
        // SAFETY: the client's own arguments.
        return unsafe { real::statx(folder, path, flags, mask, to) };
    };
    if to.is_null() {
        return refuse(Errno::EFAULT);
    }
    let (major, minor) = device(node);
    // SAFETY: plain data, all zero is a value of it.
    let mut stat: libc::statx = unsafe { core::mem::zeroed() };
    stat.stx_mask = libc::STATX_BASIC_STATS;
    stat.stx_blksize = 4096;
    stat.stx_nlink = 1;
    // The type and permission bits are the low 16.
    stat.stx_mode = mode(node) as u16;
    stat.stx_ino = u64::from(1000 + minor);
    stat.stx_dev_minor = 5;
    stat.stx_rdev_major = major;
    stat.stx_rdev_minor = minor;
    // SAFETY: the client's own buffer, not null.
    unsafe { to.write(stat) };
    0
}
