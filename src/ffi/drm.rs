//! The calls of libdrm that the runtime takes from the thunk on WSL (dxg.md 4.5). They return 0 or a negative errno. Not
//! built: each call makes its checks and no more, also where the original reports a success that it did not have.
#![allow(non_camel_case_types, unused_variables)]

use std::ffi::{c_int, c_uint, c_ulong, c_void};

use super::checks::{given, not_supported};
use super::{Out, exports};
use crate::process;

/// A device of libdrm.
pub type amdgpu_device_handle = *mut c_void;
/// A buffer object of libdrm.
pub type amdgpu_bo_handle = *mut c_void;
/// Kind of a handle on a buffer object, `enum amdgpu_bo_handle_type` of libdrm.
pub type amdgpu_bo_handle_type = c_uint;

/// The only kind that is taken in: file descriptor of a dma-buf.
const DMA_BUF: amdgpu_bo_handle_type = 2;
/// What the original returns for every other kind.
const REFUSED: c_int = -1;

const NOT_BUILT: &str = "the calls of libdrm are not built yet";

exports! {
    /// Makes a device of a render node; `*device_handle` is NULL after a failure.
    fn amdgpu_device_initialize(
        fd: c_int,
        major_version: *mut u32,
        minor_version: *mut u32,
        device_handle: *mut amdgpu_device_handle,
    ) -> c_int {
        given("major_version", major_version)?;
        given("minor_version", minor_version)?;
        // SAFETY: the pointer is the caller's, for one pointer.
        let out = unsafe { Out::new("device_handle", device_handle) }?;
        out.write(std::ptr::null_mut());
        not_supported(NOT_BUILT)
    }

    /// Gives back a device.
    fn amdgpu_device_deinitialize(device_handle: amdgpu_device_handle) -> c_int {
        given("device_handle", device_handle)?;
        not_supported(NOT_BUILT)
    }

    /// The device file that this process has open, -1 without one. The argument is not used.
    fn amdgpu_device_get_fd(device_handle: amdgpu_device_handle) -> c_int {
        Ok(process::device_file().unwrap_or(-1))
    }

    /// Writes what is known of the chip, a `struct amdgpu_gpu_info` of libdrm.
    fn amdgpu_query_gpu_info(dev: amdgpu_device_handle, info: *mut c_void) -> c_int {
        given("dev", dev)?;
        given("info", info)?;
        not_supported(NOT_BUILT)
    }

    /// Writes the address at which the CPU can use a buffer object; `*cpu` is NULL after a failure.
    fn amdgpu_bo_cpu_map(bo: amdgpu_bo_handle, cpu: *mut *mut c_void) -> c_int {
        given("bo", bo)?;
        // SAFETY: the pointer is the caller's, for one pointer.
        let out = unsafe { Out::new("cpu", cpu) }?;
        out.write(std::ptr::null_mut());
        not_supported(NOT_BUILT)
    }

    /// Gives back a buffer object.
    fn amdgpu_bo_free(buf_handle: amdgpu_bo_handle) -> c_int {
        given("buf_handle", buf_handle)?;
        not_supported(NOT_BUILT)
    }

    /// Makes a handle for others of a buffer object.
    fn amdgpu_bo_export(bo: amdgpu_bo_handle, r#type: amdgpu_bo_handle_type, shared_handle: *mut u32) -> c_int {
        given("bo", bo)?;
        given("shared_handle", shared_handle)?;
        not_supported(NOT_BUILT)
    }

    /// Takes in a dma-buf and fills a `struct amdgpu_bo_import_result` of libdrm. -1 for handles of every other kind.
    fn amdgpu_bo_import(
        dev: amdgpu_device_handle,
        r#type: amdgpu_bo_handle_type,
        shared_handle: u32,
        output: *mut c_void,
    ) -> c_int {
        given("dev", dev)?;
        given("output", output)?;
        if r#type == DMA_BUF { not_supported(NOT_BUILT) } else { Ok(REFUSED) }
    }

    /// Maps or unmaps a part of a buffer object at an address of the GPU.
    fn amdgpu_bo_va_op(bo: amdgpu_bo_handle, offset: u64, size: u64, addr: u64, flags: u64, op: u32) -> c_int {
        given("bo", bo)?;
        not_supported(NOT_BUILT)
    }

    /// Writes what is known of a buffer object, a `struct amdgpu_bo_info` of libdrm.
    fn amdgpu_bo_query_info(bo: amdgpu_bo_handle, info: *mut c_void) -> c_int {
        given("bo", bo)?;
        given("info", info)?;
        not_supported(NOT_BUILT)
    }

    /// Attaches metadata to a buffer object, from a `struct amdgpu_bo_metadata` of libdrm.
    fn amdgpu_bo_set_metadata(bo: amdgpu_bo_handle, info: *mut c_void) -> c_int {
        given("bo", bo)?;
        given("info", info)?;
        not_supported(NOT_BUILT)
    }

    /// Sends a command to a graphics driver.
    fn drmCommandWriteRead(fd: c_int, drmCommandIndex: c_ulong, data: *mut c_void, size: c_ulong) -> c_int {
        given("data", data)?;
        not_supported(NOT_BUILT)
    }
}
