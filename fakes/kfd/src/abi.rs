//! ioctl numbers and argument layouts of `/dev/kfd` and the render node (kfd_ioctl.json, kfd.md 5.11).

/// Argument block of one ioctl: integers at fixed offsets, little-endian, bytes beyond the end are zero.
#[derive(Debug)]
pub(crate) struct Block(pub(crate) Vec<u8>);

impl Block {
    /// The 32-bit number at an offset.
    pub(crate) fn u32(&self, offset: usize) -> u32 {
        self.0.get(offset..offset + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    /// The 64-bit number at an offset.
    pub(crate) fn u64(&self, offset: usize) -> u64 {
        self.0.get(offset..offset + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
    }

    /// Stores bytes; what does not fit is dropped.
    pub(crate) fn put(&mut self, offset: usize, bytes: &[u8]) {
        if let Some(place) = self.0.get_mut(offset..offset + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// Stores a 32-bit number.
    pub(crate) fn put_u32(&mut self, offset: usize, value: u32) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Stores a 64-bit number.
    pub(crate) fn put_u64(&mut self, offset: usize, value: u64) {
        self.put(offset, &value.to_le_bytes());
    }
}

/// Number of a request: its low 8 bits.
pub(crate) const fn number(request: u32) -> u8 {
    request as u8
}

/// Bytes of the caller's argument.
pub(crate) const fn size(request: u32) -> usize {
    (request >> 16 & 0x3fff) as usize
}

/// Type byte of a request.
pub(crate) const fn kind(request: u32) -> u8 {
    (request >> 8) as u8
}

/// The kernel reads the argument (`_IOC_WRITE`).
pub(crate) const fn reads(request: u32) -> bool {
    request & 1 << 30 != 0
}

/// The kernel writes the argument (`_IOC_READ`).
pub(crate) const fn writes(request: u32) -> bool {
    request & 1 << 31 != 0
}

/// A request without its size.
pub(crate) const fn without_size(request: u32) -> u32 {
    request & !(0x3fff << 16)
}

/// One request of a driver's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// Name without the driver's prefix.
    pub(crate) name: &'static str,
    /// The whole code.
    pub(crate) code: u32,
}

macro_rules! requests {
    ($(#[$doc:meta])* $table:ident: $($name:ident = $code:literal;)*) => {
        $(#[$doc])*
        pub(crate) const $table: &[Request] =
            &[$(Request { name: stringify!($name), code: $code }),*];
    };
}

requests! {
    /// The table of `/dev/kfd`, in the order of the numbers, without `AMDKFD_IOC_`.
    KFD:
    GET_VERSION = 0x8008_4b01;
    CREATE_QUEUE = 0xc060_4b02;
    DESTROY_QUEUE = 0xc008_4b03;
    SET_MEMORY_POLICY = 0x4020_4b04;
    GET_CLOCK_COUNTERS = 0xc028_4b05;
    GET_PROCESS_APERTURES = 0x8190_4b06;
    UPDATE_QUEUE = 0x4018_4b07;
    CREATE_EVENT = 0xc020_4b08;
    DESTROY_EVENT = 0x4008_4b09;
    SET_EVENT = 0x4008_4b0a;
    RESET_EVENT = 0x4008_4b0b;
    WAIT_EVENTS = 0xc018_4b0c;
    DBG_REGISTER_DEPRECATED = 0x4008_4b0d;
    DBG_UNREGISTER_DEPRECATED = 0x4008_4b0e;
    DBG_ADDRESS_WATCH_DEPRECATED = 0x4010_4b0f;
    DBG_WAVE_CONTROL_DEPRECATED = 0x4010_4b10;
    SET_SCRATCH_BACKING_VA = 0xc010_4b11;
    GET_TILE_CONFIG = 0xc028_4b12;
    SET_TRAP_HANDLER = 0x4018_4b13;
    GET_PROCESS_APERTURES_NEW = 0xc010_4b14;
    ACQUIRE_VM = 0x4008_4b15;
    ALLOC_MEMORY_OF_GPU = 0xc028_4b16;
    FREE_MEMORY_OF_GPU = 0x4008_4b17;
    MAP_MEMORY_TO_GPU = 0xc018_4b18;
    UNMAP_MEMORY_FROM_GPU = 0xc018_4b19;
    SET_CU_MASK = 0x4010_4b1a;
    GET_QUEUE_WAVE_STATE = 0xc018_4b1b;
    GET_DMABUF_INFO = 0xc020_4b1c;
    IMPORT_DMABUF = 0xc018_4b1d;
    ALLOC_QUEUE_GWS = 0xc010_4b1e;
    SMI_EVENTS = 0xc008_4b1f;
    SVM = 0xc018_4b20;
    SET_XNACK_MODE = 0xc004_4b21;
    CRIU_OP = 0xc038_4b22;
    AVAILABLE_MEMORY = 0xc010_4b23;
    EXPORT_DMABUF = 0xc010_4b24;
    RUNTIME_ENABLE = 0xc010_4b25;
    DBG_TRAP = 0xc020_4b26;
    CREATE_PROCESS = 0x0000_4b27;
    PROFILER = 0xc010_4b28;
}

requests! {
    /// The requests of the render node that are answered, or refused by name, without `DRM_IOCTL_`.
    DRM:
    VERSION = 0xc040_6400;
    GET_UNIQUE = 0xc010_6401;
    GET_MAGIC = 0x8004_6402;
    GET_CLIENT = 0xc028_6405;
    GET_STATS = 0x80f8_6406;
    GET_CAP = 0xc010_640c;
    AUTH_MAGIC = 0x4004_6411;
    AMDGPU_INFO = 0x4020_6445;
}

macro_rules! fields {
    ($($name:ident of $structure:ident { $($field:ident = $offset:literal),* $(,)? })*) => {
        $(
            #[doc = concat!("Offsets in `", stringify!($structure), "`.")]
            #[allow(non_upper_case_globals)]
            pub(crate) mod $name {
                $(
                    #[doc = concat!("`", stringify!($field), "`.")]
                    pub(crate) const $field: usize = $offset;
                )*
            }
        )*

        #[cfg(test)]
        const FIELDS: &[(&str, &str, usize)] =
            &[$($((stringify!($structure), stringify!($field), $offset)),*),*];
    };
}

fields! {
    get_version of kfd_ioctl_get_version_args { major_version = 0, minor_version = 4 }
    set_memory_policy of kfd_ioctl_set_memory_policy_args {
        alternate_aperture_base = 0,
        alternate_aperture_size = 8,
        gpu_id = 16,
        default_policy = 20,
        alternate_policy = 24,
    }
    get_clock_counters of kfd_ioctl_get_clock_counters_args {
        gpu_clock_counter = 0,
        cpu_clock_counter = 8,
        system_clock_counter = 16,
        system_clock_freq = 24,
        gpu_id = 32,
    }
    apertures of kfd_process_device_apertures {
        lds_base = 0,
        lds_limit = 8,
        scratch_base = 16,
        scratch_limit = 24,
        gpuvm_base = 32,
        gpuvm_limit = 40,
        gpu_id = 48,
    }
    get_process_apertures of kfd_ioctl_get_process_apertures_args { process_apertures = 0, num_of_nodes = 392 }
    get_process_apertures_new of kfd_ioctl_get_process_apertures_new_args {
        kfd_process_device_apertures_ptr = 0,
        num_of_nodes = 8,
    }
    acquire_vm of kfd_ioctl_acquire_vm_args { drm_fd = 0, gpu_id = 4 }
    set_scratch_backing_va of kfd_ioctl_set_scratch_backing_va_args { gpu_id = 8 }
    set_trap_handler of kfd_ioctl_set_trap_handler_args { gpu_id = 16 }
    get_tile_config of kfd_ioctl_get_tile_config_args {
        tile_config_ptr = 0,
        macro_tile_config_ptr = 8,
        num_tile_configs = 16,
        num_macro_tile_configs = 20,
        gpu_id = 24,
        gb_addr_config = 28,
        num_banks = 32,
        num_ranks = 36,
    }
    available_memory of kfd_ioctl_get_available_memory_args { available = 0, gpu_id = 8 }
    set_xnack_mode of kfd_ioctl_set_xnack_mode_args { xnack_enabled = 0 }
    alloc_memory_of_gpu of kfd_ioctl_alloc_memory_of_gpu_args {
        va_addr = 0,
        size = 8,
        handle = 16,
        mmap_offset = 24,
        gpu_id = 32,
        flags = 36,
    }
    free_memory_of_gpu of kfd_ioctl_free_memory_of_gpu_args { handle = 0 }
    map_memory_to_gpu of kfd_ioctl_map_memory_to_gpu_args {
        handle = 0,
        device_ids_array_ptr = 8,
        n_devices = 16,
        n_success = 20,
    }
    create_event of kfd_ioctl_create_event_args {
        event_page_offset = 0,
        event_trigger_data = 8,
        event_type = 12,
        auto_reset = 16,
        event_id = 24,
        event_slot_index = 28,
    }
    set_event of kfd_ioctl_set_event_args { event_id = 0 }
    wait_events of kfd_ioctl_wait_events_args {
        events_ptr = 0,
        num_events = 8,
        wait_for_all = 12,
        timeout = 16,
        wait_result = 20,
    }
    signal_data of kfd_hsa_signal_event_data { last_event_age = 0 }
    event_data of kfd_event_data { event_id = 40 }
    runtime_enable of kfd_ioctl_runtime_enable_args { mode_mask = 8 }
}

/// One aperture entry, in bytes (`kfd_process_device_apertures`).
pub(crate) const APERTURE_BYTES: usize = 56;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_the_offsets_are_those_of_the_header() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/kfd_ioctl.json");
        let header: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let requests = header["requests"].as_object().unwrap();
        assert_eq!(requests.len(), KFD.len());
        for (i, request) in KFD.iter().enumerate() {
            let listed = &requests[&format!("AMDKFD_IOC_{}", request.name)];
            assert_eq!(listed["request"], format!("{:#010x}", request.code), "{}", request.name);
            assert_eq!(number(request.code) as usize, i + 1, "in the order of the numbers, without holes");
        }
        for (structure, field, offset) in FIELDS {
            let fields = header["structs"][structure]["fields"].as_array().unwrap();
            let listed = fields.iter().find(|f| f["name"] == *field).unwrap_or_else(|| panic!("{structure}.{field}"));
            assert_eq!(listed["offset"], *offset, "{structure}.{field}");
        }
        assert_eq!(header["structs"]["kfd_process_device_apertures"]["size"], APERTURE_BYTES);
    }
}
