//! A GPU that this process has bound.

use std::any::Any;
use std::sync::Arc;

use super::binding::{Binding, RenderNode};
use super::ioctl::kfd_process_device_apertures;
use crate::abi::HSA_CAPABILITY;
use crate::platform::{Device, Error};

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

impl Device for KfdDevice {
    /// Nothing to do: the VM stays bound until the process ends, whoever closes what.
    fn close(&self) -> Result<(), Error> {
        Ok(())
    }

    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}
