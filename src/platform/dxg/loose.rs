//! Memory of a GPU without a place of its own: parts of it are mapped where the caller wants them (dxg.md 3.5).

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Error;
use super::memory::{CHUNK, Physical, chunks};
use super::paging::PAGE;
use crate::platform::memory::Buffer;
use crate::platform::ranges::Ranges;
use crate::platform::{self, Device};

/// Names for such memory: addresses that no program and no GPU has (dxg.md 3.1).
#[derive(Debug)]
pub(super) struct Names(Mutex<Ranges>);

impl Names {
    pub(super) fn new() -> Self {
        const BASE: u64 = 1 << 47;
        Self(Mutex::new(Ranges::new(BASE, BASE)))
    }

    fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, bytes: u64) -> Option<u64> {
        self.ranges().take(bytes, PAGE)
    }
}

/// A part that is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mapped {
    address: u64,
    offset: u64,
    bytes: u64,
}

/// Such memory. Its user makes one call on it at a time.
pub(super) struct Loose {
    physical: Physical,
    mapped: Mutex<Vec<Mapped>>,
    names: Arc<Names>,
    name: u64,
}

impl Loose {
    /// Gives a name to memory that is created and not mapped.
    pub(super) fn new(physical: Physical, names: &Arc<Names>) -> Result<Self, Error> {
        let bytes = physical.bytes();
        let name = names.take(bytes).ok_or(Error::TooLarge { bytes })?;
        Ok(Self { physical, mapped: Mutex::default(), names: Arc::clone(names), name })
    }

    fn mapped(&self) -> MutexGuard<'_, Vec<Mapped>> {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kernel's maps of a part: where, allocation, its offset and bytes.
    fn parts(&self, address: u64, offset: u64, bytes: u64) -> Vec<(u64, u32, u64, u64)> {
        let allocations = self.physical.allocations();
        let chunk = |(index, (begin, size)): (usize, (u64, u64))| {
            let (first, end) = (offset.max(begin), (offset + bytes).min(begin + size));
            let allocation = *allocations.get(index)?;
            (first < end).then(|| (address + (first - offset), allocation, first - begin, end - first))
        };
        chunks(self.physical.bytes()).enumerate().skip((offset / CHUNK) as usize).filter_map(chunk).collect()
    }

    /// Takes maps back; all of them, whatever fails.
    fn unmap_parts(&self, parts: &[(u64, u32, u64, u64)]) -> Result<(), Error> {
        let device = self.physical.device();
        let handles = device.handles()?;
        let mut result = Ok(());
        for &(at, _, _, bytes) in parts {
            match device.dxcore().map_gpu_va(&handles.queue, (at, bytes), 0, 0) {
                Ok(fence) => device.expect(fence),
                Err(error) => result = result.and(Err(error)),
            }
        }
        result.and_then(|()| device.settle())
    }
}

impl Buffer for Loose {
    fn address(&self) -> u64 {
        self.name
    }

    fn cpu_address(&self) -> u64 {
        0
    }

    fn is_mappable(&self) -> bool {
        false
    }

    fn map(&self, _: &[Arc<dyn Device>]) -> Result<(), platform::Error> {
        Ok(())
    }

    fn unmap(&self, _: &[Arc<dyn Device>]) -> Result<(), platform::Error> {
        Ok(())
    }

    fn map_at(&self, address: u64, offset: u64, bytes: u64) -> Result<(), platform::Error> {
        let whole = bytes != 0 && (address | offset | bytes).is_multiple_of(PAGE);
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.physical.bytes());
        if !whole || !inside {
            return Err(Error::BadRange { address: offset, bytes }.into());
        }
        let device = self.physical.device();
        let handles = device.handles()?;
        let parts = self.parts(address, offset, bytes);
        for (done, &(at, allocation, begin, size)) in parts.iter().enumerate() {
            match device.dxcore().map_gpu_va(&handles.queue, (at, size), allocation, begin) {
                Ok(fence) => device.expect(fence),
                Err(error) => {
                    // The first error is the one to tell.
                    let _ = self.unmap_parts(&parts[..done]);
                    return Err(error.into());
                }
            }
        }
        if let Err(error) = self.physical.make_resident().and_then(|()| device.settle()) {
            let _ = self.unmap_parts(&parts);
            return Err(error.into());
        }
        self.mapped().push(Mapped { address, offset, bytes });
        Ok(())
    }

    fn unmap_at(&self, address: u64, offset: u64, bytes: u64) -> Result<(), platform::Error> {
        let known = Mapped { address, offset, bytes };
        if !self.mapped().contains(&known) {
            return Err(Error::BadRange { address, bytes }.into());
        }
        self.unmap_parts(&self.parts(address, offset, bytes))?;
        self.mapped().retain(|mapped| *mapped != known);
        Ok(())
    }

    fn export(&self) -> Result<(OwnedFd, u64), platform::Error> {
        Ok((self.physical.share()?, 0))
    }

    fn free(&self) -> Result<(), platform::Error> {
        if !self.mapped().is_empty() {
            return Err(Error::StillMapped.into());
        }
        Ok(self.physical.free()?)
    }
}

impl Drop for Loose {
    fn drop(&mut self) {
        for mapped in std::mem::take(&mut *self.mapped()) {
            // Nobody is left to tell.
            let _ = self.unmap_parts(&self.parts(mapped.address, mapped.offset, mapped.bytes));
        }
        self.names.ranges().give(self.name, self.physical.bytes());
    }
}
