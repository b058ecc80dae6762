//! An open adapter and the device on it; each closes what it opened, once.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use super::d3dkmt::{D3DKMT_ADAPTERINFO, D3DKMT_HANDLE, LUID};
use super::dxcore::{Dxcore, PagingQueue};
use super::status::CallError;
use crate::platform::{Device, Error};

/// One handle of an enumeration.
pub struct Adapter {
    dxcore: Arc<Dxcore>,
    /// Identity of the adapter.
    pub luid: LUID,
    handle: Option<D3DKMT_HANDLE>,
}

impl Adapter {
    /// Owns the handle that `info` carries.
    pub fn new(dxcore: Arc<Dxcore>, info: &D3DKMT_ADAPTERINFO) -> Self {
        Self { dxcore, luid: info.AdapterLuid, handle: Some(info.hAdapter) }
    }

    /// The handle; 0, which the kernel refuses everywhere but in CloseAdapter, once closed.
    pub fn handle(&self) -> D3DKMT_HANDLE {
        self.handle.unwrap_or(0)
    }

    /// The library that opened it.
    pub fn dxcore(&self) -> &Arc<Dxcore> {
        &self.dxcore
    }

    /// Closes the handle; a second call does nothing.
    pub fn close(&mut self) -> Result<(), CallError> {
        match self.handle.take() {
            Some(handle) => self.dxcore.close_adapter(handle),
            None => Ok(()),
        }
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        // Nobody is left to tell: whoever cares has called `close`.
        let _ = self.close();
    }
}

/// What a device holds; fields are closed in this order.
struct Held {
    paging_queue: Option<PagingQueue>,
    device: Option<D3DKMT_HANDLE>,
    adapter: Adapter,
}

impl Held {
    /// Closes everything, goes on after an error, and returns the first one.
    fn close(&mut self) -> Result<(), CallError> {
        let dxcore = Arc::clone(self.adapter.dxcore());
        let queue = self.paging_queue.take().map_or(Ok(()), |queue| dxcore.destroy_paging_queue(&queue));
        let device = self.device.take().map_or(Ok(()), |device| dxcore.destroy_device(device));
        let adapter = self.adapter.close();
        queue.and(device).and(adapter)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // As in `Adapter`.
        let _ = self.close();
    }
}

/// An adapter with a device and a paging queue on it.
pub struct DxgDevice {
    luid: LUID,
    held: Mutex<Option<Held>>,
}

impl DxgDevice {
    /// Creates the device and its paging queue; on an error all that was made is undone, the adapter closed.
    pub fn open(adapter: Adapter) -> Result<Self, CallError> {
        let (dxcore, luid) = (Arc::clone(adapter.dxcore()), adapter.luid);
        let mut held = Held { paging_queue: None, device: None, adapter };
        let device = dxcore.create_device(held.adapter.handle())?;
        held.device = Some(device);
        held.paging_queue = Some(dxcore.create_paging_queue(device)?);
        Ok(Self { luid, held: Mutex::new(Some(held)) })
    }
}

impl Device for DxgDevice {
    fn close(&self) -> Result<(), Error> {
        // Taken out under the lock, closed after it: no lock is held across a kernel call.
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        match held {
            Some(mut held) => held.close().map_err(|error| Error::Dxg(super::Error::Call(error))),
            None => Ok(()),
        }
    }

    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn id(&self) -> u64 {
        u64::from(self.luid.HighPart.cast_unsigned()) << 32 | u64::from(self.luid.LowPart)
    }
}
