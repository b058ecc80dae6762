//! Every structure, request and constant of `platform/kfd/ioctl.rs` against the measured layouts
//! (tests/data/kfd_ioctl.json).

use rocdxg::platform::kfd::ioctl::*;
use serde_json::Value;

/// Name, size, and name, offset and size of each field.
type Layout = (&'static str, usize, Vec<(&'static str, usize, usize)>);

const fn pointee<T, F>(_: fn(*const T) -> *const F) -> usize {
    size_of::<F>()
}

macro_rules! structs {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        fn structs() -> Vec<Layout> {
            vec![$((stringify!($name), size_of::<$name>(), vec![$((
                stringify!($field),
                std::mem::offset_of!($name, $field),
                // SAFETY: only the type of the pointer counts; nothing calls this function.
                pointee(|p: *const $name| unsafe { &raw const (*p).$field }),
            )),*])),*]
        }
    };
}

structs! {
    kfd_ioctl_get_version_args { major_version, minor_version }
    kfd_ioctl_set_memory_policy_args {
        alternate_aperture_base, alternate_aperture_size, gpu_id, default_policy, alternate_policy, misc_process_flag,
    }
    kfd_process_device_apertures {
        lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit, gpu_id, pad,
    }
    kfd_ioctl_get_process_apertures_new_args { kfd_process_device_apertures_ptr, num_of_nodes, pad }
    kfd_ioctl_acquire_vm_args { drm_fd, gpu_id }
    kfd_ioctl_get_clock_counters_args { gpu_clock_counter, cpu_clock_counter, system_clock_counter, system_clock_freq, gpu_id, pad }
    kfd_ioctl_create_event_args { event_page_offset, event_trigger_data, event_type, auto_reset, node_id, event_id, event_slot_index }
    kfd_ioctl_destroy_event_args { event_id, pad }
    kfd_ioctl_set_event_args { event_id, pad }
    kfd_event_data { data, kfd_event_data_ext, event_id, pad }
    kfd_ioctl_wait_events_args { events_ptr, num_events, wait_for_all, timeout, wait_result }
    kfd_ioctl_set_scratch_backing_va_args { va_addr, gpu_id, pad }
    kfd_ioctl_get_tile_config_args { tile_config_ptr, macro_tile_config_ptr, num_tile_configs, num_macro_tile_configs, gpu_id, gb_addr_config, num_banks, num_ranks }
    kfd_ioctl_set_trap_handler_args { tba_addr, tma_addr, gpu_id, pad }
    kfd_ioctl_alloc_memory_of_gpu_args { va_addr, size, handle, mmap_offset, gpu_id, flags }
    kfd_ioctl_free_memory_of_gpu_args { handle }
    kfd_ioctl_map_memory_to_gpu_args { handle, device_ids_array_ptr, n_devices, n_success }
    kfd_ioctl_set_xnack_mode_args { xnack_enabled }
    kfd_ioctl_get_available_memory_args { available, gpu_id, pad }
    kfd_ioctl_runtime_enable_args { r_debug, mode_mask, capabilities_mask }
}

fn measured() -> Value {
    serde_json::from_str(include_str!("data/kfd_ioctl.json")).expect("well-formed")
}

fn source() -> &'static str {
    include_str!("../src/platform/kfd/ioctl.rs")
}

#[test]
fn every_structure_has_the_measured_layout() {
    let json = measured();
    for (name, size, fields) in structs() {
        let expected = &json["structs"][name];
        assert_eq!(expected["size"], size, "{name}");
        let listed = expected["fields"].as_array().expect("a list");
        let listed: Vec<_> = listed
            .iter()
            .map(|f| (f["name"].as_str().unwrap_or("data"), f["offset"].clone(), f["size"].clone()))
            .collect();
        let ours: Vec<_> = fields.into_iter().map(|(name, offset, size)| (name, offset.into(), size.into())).collect();
        assert_eq!(listed, ours, "{name}");
    }
    let declared = source().lines().filter(|line| line.starts_with("pub struct ")).count();
    assert_eq!(declared, structs().len(), "a structure is not compared");
}

#[test]
fn every_request_and_constant_has_the_measured_value() {
    let json = measured();
    let mut compared = 0;
    for line in source().lines() {
        let Some((name, value)) = line.trim().strip_prefix("pub const ").and_then(|rest| rest.split_once(": u32 = "))
        else {
            continue;
        };
        let digits = value.trim_end_matches(';').replace('_', "");
        let value = match (digits.strip_prefix("0x"), digits.strip_prefix("1 << ")) {
            (Some(hex), _) => u64::from_str_radix(hex, 16),
            (_, Some(bit)) => bit.parse::<u32>().map(|bit| 1 << bit),
            _ => digits.parse(),
        };
        let request = &json["requests"][format!("AMDKFD_IOC_{name}")]["request"];
        let expected = match request.as_str() {
            Some(hex) => u64::from_str_radix(hex.trim_start_matches("0x"), 16).ok(),
            None => json["constants"]["flags_KFD_IOC"][name].as_u64(),
        };
        assert_eq!(value.ok(), expected, "{name}");
        assert!(expected.is_some(), "{name} was not measured");
        compared += 1;
    }
    assert_eq!(compared, 44);
}
