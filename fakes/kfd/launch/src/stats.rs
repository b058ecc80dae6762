//! What a descriptor of a device is told to be: a character device (kfd-kernel.md section 8).
//!
//! Touches nothing: it makes the bytes that the program gets.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rocdxg_fake_kfd::{DRM_MAJOR, KFD_MAJOR};

use crate::filter::Call;

/// A question what a descriptor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The descriptor.
    pub fd: i32,
    /// Address of a path, which has to be empty.
    pub path: Option<u64>,
    /// Where the answer goes.
    pub to: u64,
    /// It is a `struct statx`.
    pub extended: bool,
}

/// The question in a call; `None` for another call.
pub fn question(call: &Call) -> Option<Question> {
    let [fd, second, third, _, fifth, _] = call.arguments;
    let fd = fd as i32;
    match i64::from(call.number) {
        libc::SYS_fstat => Some(Question { fd, path: None, to: second, extended: false }),
        libc::SYS_newfstatat => Some(Question { fd, path: Some(second), to: third, extended: false }),
        libc::SYS_statx => Some(Question { fd, path: Some(second), to: fifth, extended: true }),
        _ => None,
    }
}

/// The answer for a file that stands for a device: a render node by its minor number, or `/dev/kfd`.
pub fn answer(file: &Metadata, minor: Option<u32>, extended: bool) -> Vec<u8> {
    let (major, minor, access) = match minor {
        Some(minor) => (DRM_MAJOR, minor, 0o660),
        None => (KFD_MAJOR, 0, 0o666),
    };
    let mode = libc::S_IFCHR | access;
    if extended {
        // SAFETY: plain data, all zero is a value of it.
        let mut stat: libc::statx = unsafe { core::mem::zeroed() };
        stat.stx_mask = libc::STATX_BASIC_STATS;
        stat.stx_blksize = 4096;
        stat.stx_nlink = 1;
        // The type and permission bits are the low 16.
        stat.stx_mode = mode as u16;
        stat.stx_ino = file.ino();
        (stat.stx_dev_major, stat.stx_dev_minor) = (libc::major(file.dev()), libc::minor(file.dev()));
        (stat.stx_rdev_major, stat.stx_rdev_minor) = (major, minor);
        // SAFETY: plain data that was made of zeros.
        unsafe { bytes_of(&stat) }
    } else {
        // SAFETY: plain data, all zero is a value of it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        stat.st_dev = file.dev();
        stat.st_ino = file.ino();
        stat.st_nlink = 1;
        stat.st_mode = mode;
        stat.st_rdev = libc::makedev(major, minor);
        stat.st_blksize = 4096;
        // SAFETY: plain data that was made of zeros.
        unsafe { bytes_of(&stat) }
    }
}

/// The bytes of a structure.
///
/// # Safety
/// It is plain data without uninitialised bytes.
unsafe fn bytes_of<T>(structure: &T) -> Vec<u8> {
    // SAFETY: the structure is there, and the caller vouches for its bytes.
    unsafe { core::slice::from_raw_parts((&raw const *structure).cast::<u8>(), size_of::<T>()) }.to_vec()
}
