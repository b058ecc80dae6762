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
    /// `AMDKFD_IOC_GET_CLOCK_COUNTERS`.
    pub const GET_CLOCK_COUNTERS: u32 = 0xc028_4b05;
    /// `AMDKFD_IOC_CREATE_EVENT`.
    pub const CREATE_EVENT: u32 = 0xc020_4b08;
    /// `AMDKFD_IOC_DESTROY_EVENT`.
    pub const DESTROY_EVENT: u32 = 0x4008_4b09;
    /// `AMDKFD_IOC_SET_EVENT`.
    pub const SET_EVENT: u32 = 0x4008_4b0a;
    /// `AMDKFD_IOC_RESET_EVENT`.
    pub const RESET_EVENT: u32 = 0x4008_4b0b;
    /// `AMDKFD_IOC_WAIT_EVENTS`.
    pub const WAIT_EVENTS: u32 = 0xc018_4b0c;
    /// `AMDKFD_IOC_SET_SCRATCH_BACKING_VA`.
    pub const SET_SCRATCH_BACKING_VA: u32 = 0xc010_4b11;
    /// `AMDKFD_IOC_GET_TILE_CONFIG`.
    pub const GET_TILE_CONFIG: u32 = 0xc028_4b12;
    /// `AMDKFD_IOC_SET_TRAP_HANDLER`.
    pub const SET_TRAP_HANDLER: u32 = 0x4018_4b13;
    /// `AMDKFD_IOC_GET_PROCESS_APERTURES_NEW`.
    pub const GET_PROCESS_APERTURES_NEW: u32 = 0xc010_4b14;
    /// `AMDKFD_IOC_ACQUIRE_VM`.
    pub const ACQUIRE_VM: u32 = 0x4008_4b15;
    /// `AMDKFD_IOC_ALLOC_MEMORY_OF_GPU`.
    pub const ALLOC_MEMORY_OF_GPU: u32 = 0xc028_4b16;
    /// `AMDKFD_IOC_FREE_MEMORY_OF_GPU`.
    pub const FREE_MEMORY_OF_GPU: u32 = 0x4008_4b17;
    /// `AMDKFD_IOC_MAP_MEMORY_TO_GPU`.
    pub const MAP_MEMORY_TO_GPU: u32 = 0xc018_4b18;
    /// `AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU`.
    pub const UNMAP_MEMORY_FROM_GPU: u32 = 0xc018_4b19;
    /// `AMDKFD_IOC_SET_XNACK_MODE`.
    pub const SET_XNACK_MODE: u32 = 0xc004_4b21;
    /// `AMDKFD_IOC_AVAILABLE_MEMORY`.
    pub const AVAILABLE_MEMORY: u32 = 0xc010_4b23;
    /// `AMDKFD_IOC_RUNTIME_ENABLE`.
    pub const RUNTIME_ENABLE: u32 = 0xc010_4b25;
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

/// Event type: signalled by a shader or by `SET_EVENT`.
pub const KFD_IOC_EVENT_SIGNAL: u32 = 0;
/// Event type: a GPU was reset.
pub const KFD_IOC_EVENT_HW_EXCEPTION: u32 = 3;
/// Event type: for debuggers.
pub const KFD_IOC_EVENT_DEBUG_EVENT: u32 = 5;
/// Event type: a GPU accessed memory that it may not access.
pub const KFD_IOC_EVENT_MEMORY: u32 = 8;
/// Result of a wait: its condition is met.
pub const KFD_IOC_WAIT_RESULT_COMPLETE: u32 = 0;
/// Result of a wait: its time is over.
pub const KFD_IOC_WAIT_RESULT_TIMEOUT: u32 = 1;
/// Result of a wait: an event was destroyed.
pub const KFD_IOC_WAIT_RESULT_FAIL: u32 = 2;
/// Kind or property of memory: local memory of the GPU.
pub const KFD_IOC_ALLOC_MEM_FLAGS_VRAM: u32 = 1 << 0;
/// Kind or property of memory: system memory of the kernel's choice.
pub const KFD_IOC_ALLOC_MEM_FLAGS_GTT: u32 = 1 << 1;
/// Kind or property of memory: pages of the process.
pub const KFD_IOC_ALLOC_MEM_FLAGS_USERPTR: u32 = 1 << 2;
/// Kind or property of memory: the doorbells of the process.
pub const KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL: u32 = 1 << 3;
/// Kind or property of memory: the remapped registers.
pub const KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP: u32 = 1 << 4;
/// Kind or property of memory: in one piece.
pub const KFD_IOC_ALLOC_MEM_FLAGS_CONTIGUOUS: u32 = 1 << 23;
/// Kind or property of memory: coherent among GPUs as well.
pub const KFD_IOC_ALLOC_MEM_FLAGS_EXT_COHERENT: u32 = 1 << 24;
/// Kind or property of memory: the GPU does not cache it.
pub const KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED: u32 = 1 << 25;
/// Kind or property of memory: coherent with the CPU.
pub const KFD_IOC_ALLOC_MEM_FLAGS_COHERENT: u32 = 1 << 26;
/// Kind or property of memory: mapped twice, one behind the other.
pub const KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM: u32 = 1 << 27;
/// Kind or property of memory: of this kind or not at all.
pub const KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE: u32 = 1 << 28;
/// Kind or property of memory: the CPU will access it.
pub const KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC: u32 = 1 << 29;
/// Kind or property of memory: the GPU may run code from it.
pub const KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE: u32 = 1 << 30;
/// Kind or property of memory: the GPU may write to it.
pub const KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE: u32 = 1 << 31;

/// Argument of `GET_CLOCK_COUNTERS`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_get_clock_counters_args {
    /// `gpu_clock_counter` at offset 0.
    pub gpu_clock_counter: u64,
    /// `cpu_clock_counter` at offset 8.
    pub cpu_clock_counter: u64,
    /// `system_clock_counter` at offset 16.
    pub system_clock_counter: u64,
    /// `system_clock_freq` at offset 24: Hz.
    pub system_clock_freq: u64,
    /// `gpu_id` at offset 32: 0 for no GPU.
    pub gpu_id: u32,
    /// `pad` at offset 36.
    pub pad: u32,
}

/// Argument of `CREATE_EVENT`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_create_event_args {
    /// `event_page_offset` at offset 0: in: handle of the buffer that the slots are to live in, 0 when there is one; out: where the kernel's own page is mapped.
    pub event_page_offset: u64,
    /// `event_trigger_data` at offset 8: out: what the GPU sends with its interrupt.
    pub event_trigger_data: u32,
    /// `event_type` at offset 12.
    pub event_type: u32,
    /// `auto_reset` at offset 16: not 0: one wait consumes the signal.
    pub auto_reset: u32,
    /// `node_id` at offset 20.
    pub node_id: u32,
    /// `event_id` at offset 24.
    pub event_id: u32,
    /// `event_slot_index` at offset 28.
    pub event_slot_index: u32,
}

/// Argument of `DESTROY_EVENT`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_destroy_event_args {
    /// `event_id` at offset 0.
    pub event_id: u32,
    /// `pad` at offset 4.
    pub pad: u32,
}

/// Argument of `SET_EVENT` and `RESET_EVENT`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_set_event_args {
    /// `event_id` at offset 0.
    pub event_id: u32,
    /// `pad` at offset 4.
    pub pad: u32,
}

/// An entry of the list of `WAIT_EVENTS`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_event_data {
    /// What happened, at offset 0: as the type of the event says.
    pub data: [u32; 8],
    /// `kfd_event_data_ext` at offset 32: not used.
    pub kfd_event_data_ext: u64,
    /// `event_id` at offset 40.
    pub event_id: u32,
    /// `pad` at offset 44.
    pub pad: u32,
}

/// Argument of `WAIT_EVENTS`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_wait_events_args {
    /// `events_ptr` at offset 0: `num_events` entries.
    pub events_ptr: u64,
    /// `num_events` at offset 8.
    pub num_events: u32,
    /// `wait_for_all` at offset 12.
    pub wait_for_all: u32,
    /// `timeout` at offset 16: ms, 0xffffffff for ever; lowered by the kernel when a signal interrupts.
    pub timeout: u32,
    /// `wait_result` at offset 20: out.
    pub wait_result: u32,
}

/// Argument of `SET_SCRATCH_BACKING_VA`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_set_scratch_backing_va_args {
    /// `va_addr` at offset 0: address in units of 64 KiB.
    pub va_addr: u64,
    /// `gpu_id` at offset 8.
    pub gpu_id: u32,
    /// `pad` at offset 12.
    pub pad: u32,
}

/// Argument of `GET_TILE_CONFIG`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_get_tile_config_args {
    /// `tile_config_ptr` at offset 0.
    pub tile_config_ptr: u64,
    /// `macro_tile_config_ptr` at offset 8.
    pub macro_tile_config_ptr: u64,
    /// `num_tile_configs` at offset 16: in: room, out: written.
    pub num_tile_configs: u32,
    /// `num_macro_tile_configs` at offset 20: in: room, out: written.
    pub num_macro_tile_configs: u32,
    /// `gpu_id` at offset 24.
    pub gpu_id: u32,
    /// `gb_addr_config` at offset 28.
    pub gb_addr_config: u32,
    /// `num_banks` at offset 32.
    pub num_banks: u32,
    /// `num_ranks` at offset 36.
    pub num_ranks: u32,
}

/// Argument of `SET_TRAP_HANDLER`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_set_trap_handler_args {
    /// `tba_addr` at offset 0.
    pub tba_addr: u64,
    /// `tma_addr` at offset 8.
    pub tma_addr: u64,
    /// `gpu_id` at offset 16.
    pub gpu_id: u32,
    /// `pad` at offset 20.
    pub pad: u32,
}

/// Argument of `ALLOC_MEMORY_OF_GPU`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_alloc_memory_of_gpu_args {
    /// `va_addr` at offset 0: GPU address, used by `MAP_MEMORY_TO_GPU`.
    pub va_addr: u64,
    /// `size` at offset 8: bytes.
    pub size: u64,
    /// `handle` at offset 16: out.
    pub handle: u64,
    /// `mmap_offset` at offset 24: in: address of user memory; out: offset for `mmap`.
    pub mmap_offset: u64,
    /// `gpu_id` at offset 32.
    pub gpu_id: u32,
    /// `flags` at offset 36.
    pub flags: u32,
}

/// Argument of `FREE_MEMORY_OF_GPU`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_free_memory_of_gpu_args {
    /// `handle` at offset 0.
    pub handle: u64,
}

/// Argument of `MAP_MEMORY_TO_GPU` and `UNMAP_MEMORY_FROM_GPU`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_map_memory_to_gpu_args {
    /// `handle` at offset 0.
    pub handle: u64,
    /// `device_ids_array_ptr` at offset 8: `n_devices` ids.
    pub device_ids_array_ptr: u64,
    /// `n_devices` at offset 16.
    pub n_devices: u32,
    /// `n_success` at offset 20: in: entries to pass over; out: entries done.
    pub n_success: u32,
}

/// Argument of `SET_XNACK_MODE`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_set_xnack_mode_args {
    /// `xnack_enabled` at offset 0: -1 asks; out: the mode.
    pub xnack_enabled: i32,
}

/// Argument of `AVAILABLE_MEMORY`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_get_available_memory_args {
    /// `available` at offset 0: out: bytes.
    pub available: u64,
    /// `gpu_id` at offset 8.
    pub gpu_id: u32,
    /// `pad` at offset 12.
    pub pad: u32,
}

/// Argument of `RUNTIME_ENABLE`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct kfd_ioctl_runtime_enable_args {
    /// `r_debug` at offset 0: address of the debugger's rendezvous structure.
    pub r_debug: u64,
    /// `mode_mask` at offset 8: bit 0 enable, bit 1 set up TTMP registers.
    pub mode_mask: u32,
    /// `capabilities_mask` at offset 12: out.
    pub capabilities_mask: u32,
}
