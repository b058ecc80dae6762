//! Telemetry for AMD SMI, `rocdxg_smi.h` (dxg.md 5). Not packed. A value that is not known is all ones.

use core::ffi::c_char;

use super::plain::plain;

/// Entries of rocdxg_smi_cache_info_t.
pub const ROCDXG_SMI_MAX_CACHE_TYPES: usize = 10;
/// Bytes of a text, the final zero included.
pub const ROCDXG_SMI_MAX_STRING_LENGTH: usize = 256;
/// Entries of rocdxg_smi_fw_info_t.
pub const ROCDXG_SMI_MAX_FW_ENTRIES: usize = 32;

/// Where the GPU sits on PCI.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_bdf_info_t {
    /// Domain.
    pub domain_number: u32,
    /// Bus.
    pub bus_number: u32,
    /// Device.
    pub device_number: u32,
    /// Function.
    pub function_number: u32,
}
plain!(rocdxg_smi_bdf_info_t { domain_number, bus_number, device_number, function_number });

/// The chip.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_asic_info_t {
    /// PCI device id.
    pub device_id: u64,
    /// PCI vendor id.
    pub vendor_id: u32,
    /// PCI subsystem vendor id.
    pub subvendor_id: u32,
    /// PCI subsystem id.
    pub subsystem_id: u32,
    /// Revision.
    pub rev_id: u32,
    /// Serial number.
    pub asic_serial: u64,
    /// Product name.
    pub market_name: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
    /// Number of compute units.
    pub num_of_compute_units: u32,
    /// Number of accelerator dies. Padding before PR 10435.
    pub num_xcc: u32,
    /// Graphics version: major << 16 | minor << 8 | stepping.
    pub target_graphics_version: u64,
}
plain!(rocdxg_smi_asic_info_t {
    device_id,
    vendor_id,
    subvendor_id,
    subsystem_id,
    rev_id,
    asic_serial,
    market_name,
    num_of_compute_units,
    num_xcc,
    target_graphics_version,
});

/// The board.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_board_info_t {
    /// Product name.
    pub product_name: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
    /// Its maker.
    pub manufacturer_name: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
}
plain!(rocdxg_smi_board_info_t { product_name, manufacturer_name });

/// The device memory.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_vram_info_t {
    /// Its kind, as AMD SMI numbers it; 0 when unknown.
    pub vram_type: u32,
    /// Width of its bus, bits.
    pub vram_bit_width: u32,
    /// Its size, MiB.
    pub vram_size_mb: u64,
}
plain!(rocdxg_smi_vram_info_t { vram_type, vram_bit_width, vram_size_mb });

/// How much device memory is in use.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_vram_usage_t {
    /// In use, MiB.
    pub vram_used_mb: u64,
    /// In all, MiB.
    pub vram_total_mb: u64,
}
plain!(rocdxg_smi_vram_usage_t { vram_used_mb, vram_total_mb });

/// Power and voltages.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_power_info_t {
    /// Power now, W.
    pub current_socket_power: u32,
    /// Voltage of the graphics engine, mV.
    pub gfx_voltage: u32,
    /// Voltage of the rest of the chip, mV.
    pub soc_voltage: u32,
    /// Voltage of the memory, mV.
    pub mem_voltage: u32,
    /// Limit of the power, W.
    pub power_limit: u32,
}
plain!(rocdxg_smi_power_info_t { current_socket_power, gfx_voltage, soc_voltage, mem_voltage, power_limit });

/// One clock.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_clock_info_t {
    /// Now, MHz.
    pub clk: u32,
    /// Lowest, MHz.
    pub min_clk: u32,
    /// Highest, MHz.
    pub max_clk: u32,
    /// 1 when it is held at one frequency.
    pub clk_locked: u8,
    /// 1 when it sleeps.
    pub clk_deep_sleep: u8,
}
plain!(rocdxg_smi_clock_info_t { clk, min_clk, max_clk, clk_locked, clk_deep_sleep });

/// The link to the host.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_pcie_info_t {
    /// Most lanes.
    pub max_pcie_width: u16,
    /// Highest speed, MT/s.
    pub max_pcie_speed: u32,
    /// Highest generation of PCI Express.
    pub pcie_interface_version: u32,
    /// Kind of the slot, as AMD SMI numbers it.
    pub slot_type: u32,
    /// Lanes now.
    pub pcie_width: u16,
    /// Speed now, MT/s.
    pub pcie_speed: u32,
    /// Traffic now, Mb/s.
    pub pcie_bandwidth: u32,
    /// Packets sent again.
    pub pcie_replay_count: u64,
    /// Recoveries from the state L0.
    pub pcie_l0_to_recovery_count: u64,
    /// Overflows of the count of packets sent again.
    pub pcie_replay_roll_over_count: u64,
    /// Packets refused.
    pub pcie_nak_sent_count: u64,
    /// Packets that the other side refused.
    pub pcie_nak_received_count: u64,
}
plain!(rocdxg_smi_pcie_info_t {
    max_pcie_width,
    max_pcie_speed,
    pcie_interface_version,
    slot_type,
    pcie_width,
    pcie_speed,
    pcie_bandwidth,
    pcie_replay_count,
    pcie_l0_to_recovery_count,
    pcie_replay_roll_over_count,
    pcie_nak_sent_count,
    pcie_nak_received_count,
});

/// The driver.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_driver_info_t {
    /// Version.
    pub driver_version: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
    /// Date.
    pub driver_date: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
    /// Name.
    pub driver_name: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
}
plain!(rocdxg_smi_driver_info_t { driver_version, driver_date, driver_name });

/// The firmware of the board.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_vbios_info_t {
    /// Name.
    pub name: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
    /// Date on which it was built.
    pub build_date: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
    /// Part number.
    pub part_number: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
    /// Version.
    pub version: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
    /// Boot firmware.
    pub boot_firmware: [c_char; ROCDXG_SMI_MAX_STRING_LENGTH],
}
plain!(rocdxg_smi_vbios_info_t { name, build_date, part_number, version, boot_firmware });

/// Sensors, read together.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_gpu_metrics_info_t {
    /// Temperature at the edge, degrees Celsius.
    pub temperature_edge: u32,
    /// Temperature at the hottest place, degrees Celsius.
    pub temperature_hotspot: u32,
    /// Temperature of the memory, degrees Celsius.
    pub temperature_mem: u32,
    /// Load of the graphics engine, percent.
    pub average_gfx_activity: u32,
    /// Load of the memory controller, percent.
    pub average_umc_activity: u32,
    /// Power, W.
    pub current_socket_power: u32,
    /// Clock of the graphics engine, MHz.
    pub current_gfxclk: u32,
    /// Clock of the rest of the chip, MHz.
    pub current_socclk: u32,
    /// Speed of the fan, revolutions per minute.
    pub current_fan_speed: u32,
    /// Speed of the fan, percent.
    pub current_fan_speed_percent: u32,
    /// Voltage of the rest of the chip, mV.
    pub voltage_soc: u32,
    /// Voltage of the graphics engine, mV.
    pub voltage_gfx: u32,
    /// Voltage of the memory, mV.
    pub voltage_mem: u32,
}
plain!(rocdxg_smi_gpu_metrics_info_t {
    temperature_edge,
    temperature_hotspot,
    temperature_mem,
    average_gfx_activity,
    average_umc_activity,
    current_socket_power,
    current_gfxclk,
    current_socclk,
    current_fan_speed,
    current_fan_speed_percent,
    voltage_soc,
    voltage_gfx,
    voltage_mem,
});

/// A process that uses the GPU.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_process_info_t {
    /// Its id.
    pub process_id: u32,
    /// Device memory in use, bytes.
    pub vram_usage_bytes: u64,
    /// Time on SDMA engines, microseconds.
    pub sdma_usage: u64,
    /// Compute units in use.
    pub cu_occupancy: u64,
    /// Time on the graphics engine, nanoseconds.
    pub engine_usage: u64,
    /// Time for which its queues were stopped, milliseconds.
    pub evicted_time: u64,
}
plain!(rocdxg_smi_process_info_t {
    process_id,
    vram_usage_bytes,
    sdma_usage,
    cu_occupancy,
    engine_usage,
    evicted_time,
});

/// One kind of cache.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_cache_entry_t {
    /// Size of one cache, KiB.
    pub cache_size_kb: u32,
    /// Level.
    pub cache_level: u32,
    /// Mask: 1 enabled, 2 data, 4 instructions, 8 of the CPU, 16 of the SIMD units.
    pub cache_properties: u32,
    /// Most compute units that share one cache.
    pub max_num_cu_shared: u32,
    /// Number of caches of this kind.
    pub num_cache_instance: u32,
}
plain!(rocdxg_smi_cache_entry_t {
    cache_size_kb,
    cache_level,
    cache_properties,
    max_num_cu_shared,
    num_cache_instance,
});

/// The caches.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_cache_info_t {
    /// Number of kinds.
    pub num_cache_types: u32,
    /// The kinds.
    pub cache: [rocdxg_smi_cache_entry_t; ROCDXG_SMI_MAX_CACHE_TYPES],
}
plain!(rocdxg_smi_cache_info_t { num_cache_types, cache });

/// One firmware of the chip.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_fw_entry_t {
    /// Which one, as AMD SMI numbers it.
    pub fw_id: u32,
    /// Its version.
    pub fw_version: u64,
}
plain!(rocdxg_smi_fw_entry_t { fw_id, fw_version });

/// The firmware of the chip.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_fw_info_t {
    /// The firmware, `num_fw_info` of it.
    pub entries: [rocdxg_smi_fw_entry_t; ROCDXG_SMI_MAX_FW_ENTRIES],
    /// How many entries are valid.
    pub num_fw_info: u32,
}
plain!(rocdxg_smi_fw_info_t { entries, num_fw_info });

/// Everything about a GPU that does not change. 3632 bytes; callers before PR 10435 have 3624, without the first field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct rocdxg_smi_device_info_t {
    /// In: size of this structure, bytes.
    pub struct_size: u32,
    /// Where it sits.
    pub bdf: rocdxg_smi_bdf_info_t,
    /// The chip.
    pub asic: rocdxg_smi_asic_info_t,
    /// The board.
    pub board: rocdxg_smi_board_info_t,
    /// The device memory.
    pub vram: rocdxg_smi_vram_info_t,
    /// The driver.
    pub driver: rocdxg_smi_driver_info_t,
    /// The firmware of the board.
    pub vbios: rocdxg_smi_vbios_info_t,
    /// The caches.
    pub cache: rocdxg_smi_cache_info_t,
    /// The firmware of the chip.
    pub fw: rocdxg_smi_fw_info_t,
}
plain!(rocdxg_smi_device_info_t { struct_size, bdf, asic, board, vram, driver, vbios, cache, fw });
