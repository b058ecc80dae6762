//! Telemetry (dxg.md 5). Only the devices and their memory are told; what is not built zeroes its output.
#![allow(unused_variables)]

use super::checks::{given, not_supported};
use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

const NOT_BUILT: &str = "telemetry is not built yet";
const MIB: u64 = 1 << 20;

/// Fails unless `id` is a GPU of the snapshot. The device that is not open and the node that is no GPU are one failure
/// here.
fn gpu(id: u32) -> Result<(), Error> {
    match process::device(id) {
        Ok(_) => Ok(()),
        Err(Error::NotOpened | Error::NoSnapshot | Error::NoNode(_) | Error::NotGpu(_)) => Err(Error::NoGpu(id)),
        Err(other) => Err(other),
    }
}

/// The calls that fill one structure: it is zero after every failure but those of the arguments.
fn zeroed<T: Copy>(id: u32, info: *mut T) -> Result<(), Error> {
    // SAFETY: the pointer is the caller's, for one structure.
    let out = unsafe { Out::new("the output", info) }?;
    gpu(id)?;
    out.clear();
    not_supported(NOT_BUILT)
}

exports! {
    /// Writes the number of GPUs of the snapshot, 0 without one.
    fn rocdxg_smi_get_device_count(count: *mut u32) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("count", count) }?;
        let gpus = process::with_snapshot(|snapshot| Ok(snapshot.gpu_count()));
        out.write(match gpus {
            Err(Error::NoSnapshot) => 0,
            gpus => gpus?,
        });
        Ok(())
    }

    /// Writes everything about a GPU that does not change. `struct_size` must be set; BUFFER_TOO_SMALL, and nothing
    /// written, when it is not the size of the structure here.
    fn rocdxg_smi_get_device_info(node_id: u32, info: *mut rocdxg_smi_device_info_t) {
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("info", info) }?;
        gpu(node_id)?;
        // SAFETY: as above, and not NULL; every known form of the structure starts with 4 bytes.
        let size = unsafe { Out::new("info", info.cast::<u32>()) }?;
        let needed = size_of::<rocdxg_smi_device_info_t>();
        // SAFETY: as above.
        let given = unsafe { info.cast::<u32>().read_unaligned() };
        if given as usize != needed {
            return Err(Error::TooSmall { what: "rocdxg_smi_device_info_t", needed, given: given as usize });
        }
        out.clear();
        size.write(given);
        not_supported(NOT_BUILT)
    }

    /// Writes how much device memory there is and how much is in use: the total that the topology counts with, and what
    /// hsaKmtAvailableMemory leaves of it. It is zero after every failure but those of the arguments.
    fn rocdxg_smi_get_vram_usage(node_id: u32, usage: *mut rocdxg_smi_vram_usage_t) {
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("usage", usage) }?;
        gpu(node_id)?;
        out.clear();
        let device = process::device(node_id)?;
        let total = device.total_memory()?;
        let used = total.saturating_sub(device.available_memory()?);
        out.write(rocdxg_smi_vram_usage_t { vram_used_mb: used / MIB, vram_total_mb: total / MIB });
        Ok(())
    }

    /// Writes power and voltages.
    fn rocdxg_smi_get_power_info(node_id: u32, info: *mut rocdxg_smi_power_info_t) {
        zeroed(node_id, info)
    }

    /// Writes a temperature in degrees Celsius: sensor 0 edge, 1 hottest place, 2 memory; metric 0, now. The output is
    /// not touched by a failure.
    fn rocdxg_smi_get_temperature(node_id: u32, sensor_type: u32, metric: u32, temperature: *mut i64) {
        given("temperature", temperature)?;
        gpu(node_id)?;
        not_supported(NOT_BUILT)
    }

    /// Writes a clock in MHz: type 0 graphics engine, 3 rest of the chip, 4 memory.
    fn rocdxg_smi_get_clock_info(node_id: u32, clk_type: u32, info: *mut rocdxg_smi_clock_info_t) {
        zeroed(node_id, info)
    }

    /// Writes what the link to the host can do and does.
    fn rocdxg_smi_get_pcie_info(node_id: u32, info: *mut rocdxg_smi_pcie_info_t) {
        zeroed(node_id, info)
    }

    /// Writes the sensors, read together.
    fn rocdxg_smi_get_gpu_metrics_info(node_id: u32, info: *mut rocdxg_smi_gpu_metrics_info_t) {
        zeroed(node_id, info)
    }

    /// Writes the processes that use a GPU, at most `*num_processes`, and how many there are.
    fn rocdxg_smi_enum_processes(node_id: u32, num_processes: *mut u32, processes: *mut rocdxg_smi_process_info_t) {
        given("num_processes", num_processes)?;
        gpu(node_id)?;
        not_supported(NOT_BUILT)
    }
}
