//! The caller's memory, touched as a kernel touches it: a bad pointer is a status, not a crash.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use rocdxg_fake_gpu::user::copy;

use crate::Status;
use crate::d3dkmt::ntstatus;
use crate::process::State;

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

    /// Reads an array of the caller's, of as many elements as the caller of this function has looked at.
    pub(crate) fn read_array<T: Copy>(&mut self, from: *const T, count: usize) -> Result<Vec<T>, Status> {
        let mut array = Vec::<T>::with_capacity(count);
        let bytes = count * size_of::<T>();
        // SAFETY: the vector has room for that; reading the client's array is what the call is for.
        if unsafe { copy(array.as_mut_ptr().cast(), from.cast(), bytes) } {
            // SAFETY: every byte was copied, and any bytes make integers and raw pointers.
            unsafe { array.set_len(count) };
            return Ok(array);
        }
        Err(self.fault("read", from.cast(), bytes))
    }

    /// Writes one field of a structure of the caller's, at that offset.
    pub(crate) fn write_field<T, F: Copy>(&mut self, to: *mut T, offset: usize, value: &F) -> Result<(), Status> {
        self.write(to.cast::<u8>().wrapping_add(offset).cast::<F>(), value)
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
