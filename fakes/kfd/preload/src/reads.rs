//! Reading files of sysfs that the device cgroup denies: EPERM, while the open works (kfd-kernel.md rule 119).

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;

use libc::{FILE, off_t, size_t, ssize_t};

use crate::front::is_denied;
use crate::hooks::real;
use crate::next::set_errno;

/// `read`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, bytes: size_t) -> ssize_t {
    if is_denied(fd) {
        set_errno(libc::EPERM);
        return -1;
    }
    // SAFETY: the client's own arguments.
    unsafe { real::read(fd, buffer, bytes) }
}

/// Declares `pread` under its names.
macro_rules! preads {
    ($($name:ident),*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(fd: c_int, buffer: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t {
            if is_denied(fd) {
                set_errno(libc::EPERM);
                return -1;
            }
            // SAFETY: the client's own arguments.
            unsafe { real::pread(fd, buffer, bytes, offset) }
        }
    )*};
}

preads!(pread, pread64);

type Reader = unsafe extern "C" fn(*mut c_void, *mut c_char, size_t) -> ssize_t;

/// `cookie_io_functions_t`; what is left out does nothing and succeeds.
#[repr(C)]
struct Functions {
    read: Option<Reader>,
    write: usize,
    seek: usize,
    close: usize,
}

unsafe extern "C" {
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut FILE;
}

unsafe extern "C" fn refuse(_: *mut c_void, _: *mut c_char, _: size_t) -> ssize_t {
    set_errno(libc::EPERM);
    -1
}

/// A stream over a file that was opened: one whose reads fail, if the file does not read. Streams do not read through
/// our `read`.
pub(crate) fn stream(file: *mut FILE) -> *mut FILE {
    // SAFETY: a stream that was just opened, or null, which has no descriptor.
    if file.is_null() || !is_denied(unsafe { libc::fileno(file) }) {
        return file;
    }
    // SAFETY: the stream is ours to close: the client has not seen it.
    unsafe { libc::fclose(file) };
    let functions = Functions { read: Some(refuse), write: 0, seek: 0, close: 0 };
    // SAFETY: a mode, and functions that need no cookie.
    unsafe { fopencookie(null_mut(), c"r".as_ptr(), functions) }
}
