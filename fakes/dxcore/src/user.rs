//! The caller's memory, touched as a kernel touches it: a bad pointer is a status, not a crash.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use crate::Status;
use crate::d3dkmt::ntstatus;
use crate::process::State;

/// Copies `len` bytes; `false` when part of either range is not accessible.
///
/// The kernel does the copy, so that a wild pointer of the client ends in a status (dxgkrnl.md rule 132).
///
/// # Safety
/// Whatever of the two ranges is accessible may be read, and written, by the caller of this function.
unsafe fn copy(to: *mut c_void, from: *const c_void, len: usize) -> bool {
    if len == 0 {
        return true;
    }
    let local = libc::iovec { iov_base: to, iov_len: len };
    let remote = libc::iovec { iov_base: from.cast_mut(), iov_len: len };
    // SAFETY: both vectors describe ranges that the kernel checks; the caller vouches for what is accessible.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    if copied >= 0 {
        return copied.unsigned_abs() == len;
    }
    // SAFETY: errno of this thread.
    let errno = unsafe { *libc::__errno_location() };
    if !matches!(errno, libc::ENOSYS | libc::EPERM) || to.is_null() || from.is_null() {
        return false;
    }
    // SAFETY: a sandbox forbids the checked copy; the ranges are as good as the client's pointers.
    unsafe { core::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len) };
    true
}

/// A 32-bit field of the caller's, when it can be read.
pub(crate) fn peek(from: *const u32) -> Option<u32> {
    let mut word = 0_u32;
    // SAFETY: `word` is ours, and reading a field of the client's argument is what the call is for.
    unsafe { copy((&raw mut word).cast(), from.cast(), size_of::<u32>()) }.then_some(word)
}

impl State {
    /// Reads a structure of the caller's. `T` holds integers and raw pointers only.
    pub(crate) fn read<T: Copy>(&mut self, from: *const T) -> Result<T, Status> {
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: `value` is ours; reading the client's argument is what the call is for.
        if unsafe { copy(value.as_mut_ptr().cast(), from.cast(), size_of::<T>()) } {
            // SAFETY: every byte was copied, and any bytes make integers and raw pointers.
            return Ok(unsafe { value.assume_init() });
        }
        Err(self.fault("read", from.cast(), size_of::<T>()))
    }

    /// Writes a structure to the caller.
    pub(crate) fn write<T: Copy>(&mut self, to: *mut T, value: &T) -> Result<(), Status> {
        // SAFETY: `value` is readable; writing the client's argument is what the call is for.
        if unsafe { copy(to.cast(), (&raw const *value).cast(), size_of::<T>()) } {
            return Ok(());
        }
        Err(self.fault("write", to.cast(), size_of::<T>()))
    }

    /// Reads a buffer of the caller's.
    pub(crate) fn read_bytes(&mut self, from: *const c_void, len: usize) -> Result<Vec<u8>, Status> {
        let mut bytes = vec![0_u8; len];
        // SAFETY: `bytes` has that length; reading the client's buffer is what the call is for.
        if unsafe { copy(bytes.as_mut_ptr().cast(), from, len) } {
            return Ok(bytes);
        }
        Err(self.fault("read", from, len))
    }

    /// Writes a slice to the caller.
    pub(crate) fn write_slice<T: Copy>(&mut self, to: *mut c_void, values: &[T]) -> Result<(), Status> {
        // SAFETY: `values` is readable; writing the client's buffer is what the call is for.
        if unsafe { copy(to, values.as_ptr().cast(), size_of_val(values)) } {
            return Ok(());
        }
        Err(self.fault("write", to, size_of_val(values)))
    }

    fn fault(&mut self, how: &str, address: *const c_void, len: usize) -> Status {
        self.violate(format!("cannot {how} {len} bytes at {address:p}"));
        if self.older_kernel() { ntstatus::INVALID_PARAMETER } else { ntstatus::UNSUCCESSFUL }
    }
}
