//! Requests of `/dev/kfd`, their argument structures and their flags, as the kernel has them on x86-64.
//!
//! Pure layout: this file uses nothing but `core`, so that a software kernel can include it too. Layouts are compared
//! with `tests/data/kfd_ioctl.json` by a test. Names are those of the kernel's header. What a call checks is in
//! kfd-kernel.md section 2.
#![allow(non_camel_case_types)]

/// Request codes, in the order of their numbers (kfd.md 5.11).
pub mod request {
    /// `AMDKFD_IOC_GET_VERSION`.
    pub const GET_VERSION: u32 = 0x8008_4b01;
    /// `AMDKFD_IOC_SET_MEMORY_POLICY`.
    pub const SET_MEMORY_POLICY: u32 = 0x4020_4b04;
    /// `AMDKFD_IOC_GET_PROCESS_APERTURES_NEW`.
    pub const GET_PROCESS_APERTURES_NEW: u32 = 0xc010_4b14;
    /// `AMDKFD_IOC_ACQUIRE_VM`.
    pub const ACQUIRE_VM: u32 = 0x4008_4b15;
}

/// Major version of the interface that these layouts belong to.
pub const KFD_IOCTL_MAJOR_VERSION: u32 = 1;
/// Cache policy: the GPU's caches are coherent with the CPU.
pub const KFD_IOC_CACHE_POLICY_COHERENT: u32 = 0;
/// Cache policy: they are not.
pub const KFD_IOC_CACHE_POLICY_NONCOHERENT: u32 = 1;

/// Argument of `GET_VERSION`; both are outputs.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_get_version_args {
    /// `major_version` at offset 0.
    pub major_version: u32,
    /// `minor_version` at offset 4.
    pub minor_version: u32,
}

/// Argument of `SET_MEMORY_POLICY`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_set_memory_policy_args {
    /// `alternate_aperture_base` at offset 0.
    pub alternate_aperture_base: u64,
    /// `alternate_aperture_size` at offset 8, in bytes; 0 for no alternate aperture.
    pub alternate_aperture_size: u64,
    /// `gpu_id` at offset 16.
    pub gpu_id: u32,
    /// `default_policy` at offset 20.
    pub default_policy: u32,
    /// `alternate_policy` at offset 24.
    pub alternate_policy: u32,
    /// `misc_process_flag` at offset 28 (interface 1.18; ignored before).
    pub misc_process_flag: u32,
}

/// Address ranges of one GPU in this process; each `limit` is the last byte.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct kfd_process_device_apertures {
    /// `lds_base` at offset 0.
    pub lds_base: u64,
    /// `lds_limit` at offset 8.
    pub lds_limit: u64,
    /// `scratch_base` at offset 16.
    pub scratch_base: u64,
    /// `scratch_limit` at offset 24.
    pub scratch_limit: u64,
    /// `gpuvm_base` at offset 32.
    pub gpuvm_base: u64,
    /// `gpuvm_limit` at offset 40.
    pub gpuvm_limit: u64,
    /// `gpu_id` at offset 48.
    pub gpu_id: u32,
    /// `pad` at offset 52.
    pub pad: u32,
}

/// Argument of `GET_PROCESS_APERTURES_NEW`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_get_process_apertures_new_args {
    /// `kfd_process_device_apertures_ptr` at offset 0: room for `num_of_nodes` entries.
    pub kfd_process_device_apertures_ptr: u64,
    /// `num_of_nodes` at offset 8: 0 asks for the count only; the count of GPUs on return.
    pub num_of_nodes: u32,
    /// `pad` at offset 12.
    pub pad: u32,
}

/// Argument of `ACQUIRE_VM`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_acquire_vm_args {
    /// `drm_fd` at offset 0: an open render node.
    pub drm_fd: u32,
    /// `gpu_id` at offset 4.
    pub gpu_id: u32,
}
