//! The addresses that the program shares with all its GPUs: reserved on the CPU and on every adapter alike (dxg.md 3.1).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Error;
use super::device::DxgDevice;
use crate::platform::span::{Region, Span, no_memory};

const GIB: u64 = 1 << 30;
/// Places that are tried for one size.
const TRIES: usize = 16;
/// Multiples of the local memory that are tried for the local pool.
const FACTORS: [u64; 3] = [8, 4, 2];
/// The local pool begins at a multiple of it.
const LOCAL_ALIGNMENT: u64 = GIB;
/// The system pool begins at a multiple of it, and has at most a TiB.
const SYSTEM_ALIGNMENT: u64 = 4 * GIB;
const SYSTEM_UNIT: u64 = 8 * GIB;
const MOST_SYSTEM: u64 = 1 << 40;
/// Large allocations begin at large pages, others at this.
const LARGE: u64 = 2 << 20;
const SMALL: u64 = 64 << 10;

/// Reservations of one range on adapters, given back when the last span of the pool is gone.
struct OnAdapters {
    devices: Vec<Arc<DxgDevice>>,
    base: u64,
    bytes: u64,
}

impl OnAdapters {
    /// Reserves exactly that range on every device, or on none.
    fn reserve(devices: &[Arc<DxgDevice>], base: u64, bytes: u64) -> Result<Self, Error> {
        let mut done = Self { devices: Vec::new(), base, bytes };
        for device in devices {
            device.dxcore().reserve_gpu_va(device.handles()?.adapter, base, bytes)?;
            done.devices.push(Arc::clone(device));
        }
        Ok(done)
    }
}

impl Drop for OnAdapters {
    fn drop(&mut self) {
        for device in &self.devices {
            // Nobody is left to tell; what is not given back goes with the process.
            let _ = device.handles().and_then(|h| device.dxcore().free_gpu_va(h.adapter, self.base, self.bytes));
        }
    }
}

/// A pool, or why it could not be had, for whoever asks it for addresses; `None` before anybody did.
type Slot = Option<Result<Arc<Region>, Arc<Error>>>;

/// The two pools. Each is made when somebody wants something of it.
pub(super) struct Pools {
    devices: Vec<Arc<DxgDevice>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    local: Slot,
    system: Slot,
}

impl State {
    fn slot(&mut self, pool: Pool) -> &mut Slot {
        match pool {
            Pool::Local => &mut self.local,
            Pool::System => &mut self.system,
        }
    }
}

/// Which pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pool {
    /// Local memory, and addresses without memory.
    Local,
    /// System memory, and what GPUs see of the user's.
    System,
}

impl Pools {
    pub(super) fn new(devices: Vec<Arc<DxgDevice>>) -> Self {
        Self { devices, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sizes that are tried, the largest first.
    fn sizes(&self, pool: Pool) -> Vec<u64> {
        let whole = |bytes: u64, unit: u64| bytes.max(1).checked_next_multiple_of(unit).unwrap_or(unit);
        match pool {
            Pool::Local => {
                let local = |device: &Arc<DxgDevice>| whole(device.facts().local_bytes, GIB);
                let all = self.devices.iter().map(local).fold(0, u64::saturating_add);
                FACTORS.iter().filter_map(|factor| all.checked_mul(*factor)).collect()
            }
            Pool::System => vec![whole(crate::platform::os::memory_bytes(), SYSTEM_UNIT).min(MOST_SYSTEM)],
        }
    }

    fn make(&self, pool: Pool) -> Result<Arc<Region>, Error> {
        let alignment = if pool == Pool::Local { LOCAL_ALIGNMENT } else { SYSTEM_ALIGNMENT };
        let mut last = Error::NoPlace { bytes: 0, source: no_memory() };
        for bytes in self.sizes(pool) {
            // Places that a GPU does not have are kept until the end, so that others are tried.
            let mut refused = Vec::new();
            for _ in 0..TRIES {
                let place = match Span::anywhere(bytes, alignment, 0, &(0..=u64::MAX)) {
                    Ok(place) => place,
                    Err(source) => {
                        last = Error::NoPlace { bytes, source };
                        break;
                    }
                };
                match OnAdapters::reserve(&self.devices, place.base(), bytes) {
                    Ok(reserved) => return Ok(Arc::new(Region::of(place, Box::new(reserved)))),
                    Err(error) => last = error,
                }
                refused.push(place);
            }
        }
        Err(last)
    }

    fn region(&self, pool: Pool) -> Result<Arc<Region>, Error> {
        let known = self.state().slot(pool).clone();
        let found = match known {
            Some(found) => found,
            None => {
                // Made without a lock; of two that are made at once, one is dropped.
                let made = self.make(pool).map_err(Arc::new);
                self.state().slot(pool).get_or_insert(made).clone()
            }
        };
        found.map_err(Error::NoPool)
    }

    /// Addresses of a pool: at `address`, or at a multiple of `alignment` and of what the size asks for.
    pub(super) fn span(&self, pool: Pool, bytes: u64, alignment: u64, address: Option<u64>) -> Result<Span, Error> {
        let region = self.region(pool)?;
        let full = || {
            let (free, largest) = region.left();
            Error::Full { bytes, free, largest }
        };
        match address {
            Some(address) => region.span_at(address, bytes).ok_or_else(full),
            None => {
                let suits = if bytes >= LARGE { LARGE } else { SMALL };
                region.span(bytes, alignment.max(suits), 0).ok_or_else(full)
            }
        }
    }
}
