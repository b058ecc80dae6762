//! A GPU that this process has bound.

use std::any::Any;
use std::os::fd::AsFd;
use std::sync::Arc;

use super::binding::{Binding, RenderNode};
use super::calls;
use super::ioctl::kfd_process_device_apertures;
use crate::abi::{HSA_CAPABILITY, HsaClockCounters};
use crate::platform::{Device, Error, TileConfig};

/// A GPU of the snapshot: its VM is bound to this process and its address ranges are known.
pub struct KfdDevice {
    /// The files that it lives on.
    pub binding: Arc<Binding>,
    /// The render node that carries its VM.
    pub render: Arc<RenderNode>,
    /// Its address ranges, and its `gpu_id`.
    pub apertures: kfd_process_device_apertures,
    /// What the kernel says that it can do.
    pub capability: HSA_CAPABILITY,
}

/// The clocks of a GPU, 0 for none, and of the host (kfd.md 5.1).
pub(super) fn clock_counters(binding: &Binding, gpu_id: u32) -> Result<HsaClockCounters, super::Error> {
    let counters = calls::get_clock_counters(binding.kfd().as_fd(), gpu_id)?;
    Ok(HsaClockCounters {
        GPUClockCounter: counters.gpu_clock_counter,
        CPUClockCounter: counters.cpu_clock_counter,
        SystemClockCounter: counters.system_clock_counter,
        SystemClockFrequencyHz: counters.system_clock_freq,
    })
}

/// First minor version of the interface that tells the free memory (kfd.md 3.8).
const MINOR_OF_AVAILABLE_MEMORY: u32 = 9;

impl Device for KfdDevice {
    /// Nothing to do: the VM stays bound until the process ends, whoever closes what.
    fn close(&self) -> Result<(), Error> {
        Ok(())
    }

    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn id(&self) -> u64 {
        self.apertures.gpu_id.into()
    }

    fn clock_counters(&self) -> Result<HsaClockCounters, Error> {
        Ok(clock_counters(&self.binding, self.apertures.gpu_id)?)
    }

    fn tile_config(&self, tiles: &mut [u32], macro_tiles: &mut [u32]) -> Result<TileConfig, Error> {
        let kfd = self.binding.kfd().as_fd();
        let found = calls::get_tile_config(kfd, self.apertures.gpu_id, tiles, macro_tiles);
        let found = found.map_err(super::Error::Call)?;
        Ok(TileConfig {
            tiles: found.num_tile_configs,
            macro_tiles: found.num_macro_tile_configs,
            gb_addr_config: found.gb_addr_config,
            banks: found.num_banks,
            ranks: found.num_ranks,
        })
    }

    fn set_trap_handler(&self, handler: u64, buffer: u64) -> Result<(), Error> {
        let kfd = self.binding.kfd().as_fd();
        Ok(calls::set_trap_handler(kfd, self.apertures.gpu_id, handler, buffer).map_err(super::Error::Call)?)
    }

    fn available_memory(&self) -> Result<u64, Error> {
        if self.binding.version().1 < MINOR_OF_AVAILABLE_MEMORY {
            return Err(Error::Unsupported("the free memory on this kernel"));
        }
        Ok(calls::available_memory(self.binding.kfd().as_fd(), self.apertures.gpu_id).map_err(super::Error::Call)?)
    }

    fn drm_handle(&self) -> Result<usize, Error> {
        Ok(self.render.drm_device().map_err(super::Error::Libdrm)?)
    }
}
