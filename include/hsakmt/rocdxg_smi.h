/* SPDX-License-Identifier: MIT
 *
 * Telemetry of the GPUs behind librocdxg.
 * Written by tools/headers from src/abi and src/ffi; do not edit.
 */
#ifndef ROCDXG_ROCDXG_SMI_H
#define ROCDXG_ROCDXG_SMI_H

#include "hsakmttypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Entries of rocdxg_smi_cache_info_t. */
#define ROCDXG_SMI_MAX_CACHE_TYPES 10
/** Bytes of a text, the final zero included. */
#define ROCDXG_SMI_MAX_STRING_LENGTH 256
/** Entries of rocdxg_smi_fw_info_t. */
#define ROCDXG_SMI_MAX_FW_ENTRIES 32

/** Where the GPU sits on PCI. */
typedef struct rocdxg_smi_bdf_info {
  /** Domain. */
  uint32_t domain_number;
  /** Bus. */
  uint32_t bus_number;
  /** Device. */
  uint32_t device_number;
  /** Function. */
  uint32_t function_number;
} rocdxg_smi_bdf_info_t;

/** The chip. */
typedef struct rocdxg_smi_asic_info {
  /** PCI device id. */
  uint64_t device_id;
  /** PCI vendor id. */
  uint32_t vendor_id;
  /** PCI subsystem vendor id. */
  uint32_t subvendor_id;
  /** PCI subsystem id. */
  uint32_t subsystem_id;
  /** Revision. */
  uint32_t rev_id;
  /** Serial number. */
  uint64_t asic_serial;
  /** Product name. */
  char market_name[ROCDXG_SMI_MAX_STRING_LENGTH];
  /** Number of compute units. */
  uint32_t num_of_compute_units;
  /** Number of accelerator dies. Padding before PR 10435. */
  uint32_t num_xcc;
  /** Graphics version: major << 16 | minor << 8 | stepping. */
  uint64_t target_graphics_version;
} rocdxg_smi_asic_info_t;

/** The board. */
typedef struct rocdxg_smi_board_info {
  /** Product name. */
  char product_name[ROCDXG_SMI_MAX_STRING_LENGTH];
  /** Its maker. */
  char manufacturer_name[ROCDXG_SMI_MAX_STRING_LENGTH];
} rocdxg_smi_board_info_t;

/** The device memory. */
typedef struct rocdxg_smi_vram_info {
  /** Its kind, as AMD SMI numbers it; 0 when unknown. */
  uint32_t vram_type;
  /** Width of its bus, bits. */
  uint32_t vram_bit_width;
  /** Its size, MiB. */
  uint64_t vram_size_mb;
} rocdxg_smi_vram_info_t;

/** The driver. */
typedef struct rocdxg_smi_driver_info {
  /** Version. */
  char driver_version[ROCDXG_SMI_MAX_STRING_LENGTH];
  /** Date. */
  char driver_date[ROCDXG_SMI_MAX_STRING_LENGTH];
  /** Name. */
  char driver_name[ROCDXG_SMI_MAX_STRING_LENGTH];
} rocdxg_smi_driver_info_t;

/** The firmware of the board. */
typedef struct rocdxg_smi_vbios_info {
  /** Name. */
  char name[ROCDXG_SMI_MAX_STRING_LENGTH];
  /** Date on which it was built. */
  char build_date[ROCDXG_SMI_MAX_STRING_LENGTH];
  /** Part number. */
  char part_number[ROCDXG_SMI_MAX_STRING_LENGTH];
  /** Version. */
  char version[ROCDXG_SMI_MAX_STRING_LENGTH];
  /** Boot firmware. */
  char boot_firmware[ROCDXG_SMI_MAX_STRING_LENGTH];
} rocdxg_smi_vbios_info_t;

/** One kind of cache. */
typedef struct rocdxg_smi_cache_entry {
  /** Size of one cache, KiB. */
  uint32_t cache_size_kb;
  /** Level. */
  uint32_t cache_level;
  /** Mask: 1 enabled, 2 data, 4 instructions, 8 of the CPU, 16 of the SIMD units. */
  uint32_t cache_properties;
  /** Most compute units that share one cache. */
  uint32_t max_num_cu_shared;
  /** Number of caches of this kind. */
  uint32_t num_cache_instance;
} rocdxg_smi_cache_entry_t;

/** The caches. */
typedef struct rocdxg_smi_cache_info {
  /** Number of kinds. */
  uint32_t num_cache_types;
  /** The kinds. */
  rocdxg_smi_cache_entry_t cache[ROCDXG_SMI_MAX_CACHE_TYPES];
} rocdxg_smi_cache_info_t;

/** One firmware of the chip. */
typedef struct rocdxg_smi_fw_entry {
  /** Which one, as AMD SMI numbers it. */
  uint32_t fw_id;
  /** Its version. */
  uint64_t fw_version;
} rocdxg_smi_fw_entry_t;

/** The firmware of the chip. */
typedef struct rocdxg_smi_fw_info {
  /** The firmware, num_fw_info of it. */
  rocdxg_smi_fw_entry_t entries[ROCDXG_SMI_MAX_FW_ENTRIES];
  /** How many entries are valid. */
  uint32_t num_fw_info;
} rocdxg_smi_fw_info_t;

/** Everything about a GPU that does not change. 3632 bytes; callers before PR 10435 have 3624, without the first field. */
typedef struct rocdxg_smi_device_info {
  /** In: size of this structure, bytes. */
  uint32_t struct_size;
  /** Where it sits. */
  rocdxg_smi_bdf_info_t bdf;
  /** The chip. */
  rocdxg_smi_asic_info_t asic;
  /** The board. */
  rocdxg_smi_board_info_t board;
  /** The device memory. */
  rocdxg_smi_vram_info_t vram;
  /** The driver. */
  rocdxg_smi_driver_info_t driver;
  /** The firmware of the board. */
  rocdxg_smi_vbios_info_t vbios;
  /** The caches. */
  rocdxg_smi_cache_info_t cache;
  /** The firmware of the chip. */
  rocdxg_smi_fw_info_t fw;
} rocdxg_smi_device_info_t;

/** How much device memory is in use. */
typedef struct rocdxg_smi_vram_usage {
  /** In use, MiB. */
  uint64_t vram_used_mb;
  /** In all, MiB. */
  uint64_t vram_total_mb;
} rocdxg_smi_vram_usage_t;

/** Power and voltages. */
typedef struct rocdxg_smi_power_info {
  /** Power now, W. */
  uint32_t current_socket_power;
  /** Voltage of the graphics engine, mV. */
  uint32_t gfx_voltage;
  /** Voltage of the rest of the chip, mV. */
  uint32_t soc_voltage;
  /** Voltage of the memory, mV. */
  uint32_t mem_voltage;
  /** Limit of the power, W. */
  uint32_t power_limit;
} rocdxg_smi_power_info_t;

/** One clock. */
typedef struct rocdxg_smi_clock_info {
  /** Now, MHz. */
  uint32_t clk;
  /** Lowest, MHz. */
  uint32_t min_clk;
  /** Highest, MHz. */
  uint32_t max_clk;
  /** 1 when it is held at one frequency. */
  uint8_t clk_locked;
  /** 1 when it sleeps. */
  uint8_t clk_deep_sleep;
} rocdxg_smi_clock_info_t;

/** The link to the host. */
typedef struct rocdxg_smi_pcie_info {
  /** Most lanes. */
  uint16_t max_pcie_width;
  /** Highest speed, MT/s. */
  uint32_t max_pcie_speed;
  /** Highest generation of PCI Express. */
  uint32_t pcie_interface_version;
  /** Kind of the slot, as AMD SMI numbers it. */
  uint32_t slot_type;
  /** Lanes now. */
  uint16_t pcie_width;
  /** Speed now, MT/s. */
  uint32_t pcie_speed;
  /** Traffic now, Mb/s. */
  uint32_t pcie_bandwidth;
  /** Packets sent again. */
  uint64_t pcie_replay_count;
  /** Recoveries from the state L0. */
  uint64_t pcie_l0_to_recovery_count;
  /** Overflows of the count of packets sent again. */
  uint64_t pcie_replay_roll_over_count;
  /** Packets refused. */
  uint64_t pcie_nak_sent_count;
  /** Packets that the other side refused. */
  uint64_t pcie_nak_received_count;
} rocdxg_smi_pcie_info_t;

/** Sensors, read together. */
typedef struct rocdxg_smi_gpu_metrics_info {
  /** Temperature at the edge, degrees Celsius. */
  uint32_t temperature_edge;
  /** Temperature at the hottest place, degrees Celsius. */
  uint32_t temperature_hotspot;
  /** Temperature of the memory, degrees Celsius. */
  uint32_t temperature_mem;
  /** Load of the graphics engine, percent. */
  uint32_t average_gfx_activity;
  /** Load of the memory controller, percent. */
  uint32_t average_umc_activity;
  /** Power, W. */
  uint32_t current_socket_power;
  /** Clock of the graphics engine, MHz. */
  uint32_t current_gfxclk;
  /** Clock of the rest of the chip, MHz. */
  uint32_t current_socclk;
  /** Speed of the fan, revolutions per minute. */
  uint32_t current_fan_speed;
  /** Speed of the fan, percent. */
  uint32_t current_fan_speed_percent;
  /** Voltage of the rest of the chip, mV. */
  uint32_t voltage_soc;
  /** Voltage of the graphics engine, mV. */
  uint32_t voltage_gfx;
  /** Voltage of the memory, mV. */
  uint32_t voltage_mem;
} rocdxg_smi_gpu_metrics_info_t;

/** A process that uses the GPU. */
typedef struct rocdxg_smi_process_info {
  /** Its id. */
  uint32_t process_id;
  /** Device memory in use, bytes. */
  uint64_t vram_usage_bytes;
  /** Time on SDMA engines, microseconds. */
  uint64_t sdma_usage;
  /** Compute units in use. */
  uint64_t cu_occupancy;
  /** Time on the graphics engine, nanoseconds. */
  uint64_t engine_usage;
  /** Time for which its queues were stopped, milliseconds. */
  uint64_t evicted_time;
} rocdxg_smi_process_info_t;

/** Writes the number of GPUs of the snapshot, 0 without one. */
HSAKMTAPI HSAKMT_STATUS rocdxg_smi_get_device_count(uint32_t *count);

/**
 * Writes everything about a GPU that does not change. struct_size must be set; BUFFER_TOO_SMALL, and nothing
 * written, when it is not the size of the structure here.
 */
HSAKMTAPI HSAKMT_STATUS rocdxg_smi_get_device_info(uint32_t node_id, rocdxg_smi_device_info_t *info);

/**
 * Writes how much device memory there is and how much is in use: the total that the topology counts with, and what
 * hsaKmtAvailableMemory leaves of it. It is zero after every failure but those of the arguments.
 */
HSAKMTAPI HSAKMT_STATUS rocdxg_smi_get_vram_usage(uint32_t node_id, rocdxg_smi_vram_usage_t *usage);

/** Writes power and voltages. */
HSAKMTAPI HSAKMT_STATUS rocdxg_smi_get_power_info(uint32_t node_id, rocdxg_smi_power_info_t *info);

/**
 * Writes a temperature in degrees Celsius: sensor 0 edge, 1 hottest place, 2 memory; metric 0, now. The output is
 * not touched by a failure.
 */
HSAKMTAPI
HSAKMT_STATUS rocdxg_smi_get_temperature(uint32_t node_id,
                                         uint32_t sensor_type,
                                         uint32_t metric,
                                         int64_t *temperature);

/** Writes a clock in MHz: type 0 graphics engine, 3 rest of the chip, 4 memory. */
HSAKMTAPI HSAKMT_STATUS rocdxg_smi_get_clock_info(uint32_t node_id, uint32_t clk_type, rocdxg_smi_clock_info_t *info);

/** Writes what the link to the host can do and does. */
HSAKMTAPI HSAKMT_STATUS rocdxg_smi_get_pcie_info(uint32_t node_id, rocdxg_smi_pcie_info_t *info);

/** Writes the sensors, read together. */
HSAKMTAPI HSAKMT_STATUS rocdxg_smi_get_gpu_metrics_info(uint32_t node_id, rocdxg_smi_gpu_metrics_info_t *info);

/** Writes the processes that use a GPU, at most *num_processes, and how many there are. */
HSAKMTAPI
HSAKMT_STATUS rocdxg_smi_enum_processes(uint32_t node_id,
                                        uint32_t *num_processes,
                                        rocdxg_smi_process_info_t *processes);

#ifdef __cplusplus
}
#endif

#endif /* ROCDXG_ROCDXG_SMI_H */
