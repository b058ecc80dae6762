//! Memory that is nowhere, for tests.

use std::sync::Arc;

use crate::platform::memory::Buffer;
use crate::platform::{Device, Error};

/// Such memory.
#[derive(Default)]
pub(super) struct Nowhere {
    /// First byte for GPUs.
    pub gpu: u64,
    /// First byte for the CPU.
    pub cpu: u64,
    /// Held for as long as it lives.
    pub _token: Arc<()>,
}

impl Buffer for Nowhere {
    fn address(&self) -> u64 {
        self.gpu
    }
    fn cpu_address(&self) -> u64 {
        self.cpu
    }
    fn is_mappable(&self) -> bool {
        true
    }
    fn map(&self, _: &[Arc<dyn Device>]) -> Result<(), Error> {
        Ok(())
    }
    fn unmap(&self, _: &[Arc<dyn Device>]) -> Result<(), Error> {
        Ok(())
    }
    fn free(&self) -> Result<(), Error> {
        Ok(())
    }
}
