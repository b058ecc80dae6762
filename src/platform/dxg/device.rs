//! An open adapter and the device on it; each closes what it opened, once.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::d3dkmt::{D3DKMT_ADAPTERINFO, D3DKMT_HANDLE, LUID};
use super::dxcore::{Dxcore, PagingQueue};
use super::kmd::provider::{self, Provider};
use super::kmd::vtable::rocdxg_kmd_adapter;
use super::status::CallError;
use crate::platform::os::Event;
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

/// What memory on a device needs to know of its GPU.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts {
    /// Local memory, in bytes; on an APU with what it may use of the host's.
    pub local_bytes: u64,
    /// Discrete, not part of a CPU.
    pub is_dgpu: bool,
    /// WDDM version of its driver: 3100 is 3.1.
    pub wddm_version: u32,
}

/// An adapter with a device and a paging queue on it.
pub struct DxgDevice {
    luid: LUID,
    dxcore: Arc<Dxcore>,
    held: Mutex<Option<Held>>,
    /// The largest value that its paging fence is to reach.
    expected: AtomicU64,
    provider: Option<Arc<Provider>>,
    described: rocdxg_kmd_adapter,
    facts: Facts,
}

/// The handles of an open device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handles {
    pub(super) adapter: D3DKMT_HANDLE,
    pub(super) device: D3DKMT_HANDLE,
    pub(super) queue: PagingQueue,
}

/// How long paging is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a wait looks whether the device is still there.
const GLANCE: Duration = Duration::from_millis(100);

impl DxgDevice {
    /// Creates the device and its paging queue; on an error all that was made is undone, the adapter closed.
    pub fn open(adapter: Adapter, provider: Option<Arc<Provider>>, facts: Facts) -> Result<Self, CallError> {
        let (dxcore, luid, described) = (Arc::clone(adapter.dxcore()), adapter.luid, provider::described(&adapter));
        let mut held = Held { paging_queue: None, device: None, adapter };
        let device = dxcore.create_device(held.adapter.handle())?;
        held.device = Some(device);
        held.paging_queue = Some(dxcore.create_paging_queue(device)?);
        let held = Mutex::new(Some(held));
        Ok(Self { luid, dxcore, held, expected: AtomicU64::new(0), provider, described, facts })
    }

    /// The library that it lives in.
    pub(super) fn dxcore(&self) -> &Arc<Dxcore> {
        &self.dxcore
    }

    /// What memory needs to know of it.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Its identity.
    pub(super) fn luid(&self) -> LUID {
        self.luid
    }

    /// Who describes its allocations to the driver.
    pub(super) fn provider(&self) -> Result<(&Provider, &rocdxg_kmd_adapter), super::Error> {
        match &self.provider {
            Some(provider) if provider.has_memory() => Ok((provider, &self.described)),
            _ => Err(super::Error::NoProvider),
        }
    }

    /// Its handles. They stay valid for as long as the caller keeps the device: it is closed when nobody else does.
    pub(super) fn handles(&self) -> Result<Handles, super::Error> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let open = held.as_ref().and_then(|held| {
            Some(Handles { adapter: held.adapter.handle(), device: held.device?, queue: held.paging_queue? })
        });
        open.ok_or(super::Error::Closed)
    }

    /// Notes that paging goes on until the fence has that value.
    pub(super) fn expect(&self, fence: u64) {
        self.expected.fetch_max(fence, Ordering::AcqRel);
    }

    /// Fails when the device is lost: the fence says so at once, the kernel when the host has told it.
    pub(super) fn require_alive(&self) -> Result<(), super::Error> {
        let handles = self.handles()?;
        // SAFETY: the queue lives for as long as the device is open, which it is while its user keeps it.
        if unsafe { handles.queue.reached() } == u64::MAX {
            return Err(super::Error::Lost);
        }
        self.dxcore.require_running(handles.device)
    }

    /// Waits until all paging that was asked for so far is done; fails when the device is lost meanwhile, or when
    /// nothing happens for a minute.
    pub(super) fn settle(&self) -> Result<(), super::Error> {
        let (handles, wanted) = (self.handles()?, self.expected.load(Ordering::Acquire));
        // SAFETY: the queue lives for as long as the device is open, which it is while its user keeps it.
        let reached = || unsafe { handles.queue.reached() };
        // A fence of a lost device reads as all ones (rule 115).
        let is_done = |value: u64| value >= wanted && value != u64::MAX;
        if wanted == 0 || is_done(reached()) {
            return Ok(());
        }
        let event = Event::new().map_err(super::Error::Event)?;
        self.dxcore.notify_at(handles.device, handles.queue.sync_object, wanted, event.number())?;
        let begin = Instant::now();
        loop {
            event.wait(GLANCE);
            if is_done(reached()) {
                return Ok(());
            }
            self.require_alive()?;
            if begin.elapsed() >= PATIENCE {
                return Err(super::Error::Stuck { seconds: PATIENCE.as_secs() });
            }
        }
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

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn id(&self) -> u64 {
        u64::from(self.luid.HighPart.cast_unsigned()) << 32 | u64::from(self.luid.LowPart)
    }

    fn total_memory(&self) -> Result<u64, Error> {
        Ok(self.facts().local_bytes)
    }

    fn available_memory(&self) -> Result<u64, Error> {
        Ok(super::usage::available(self)?)
    }
}
