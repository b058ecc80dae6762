//! The GPU's view of memory: page tables, residency and what a bad access is (dxgkrnl.md 3.4, 3.5, 6.2).

use core::fmt;

use crate::device::Object;
use crate::process::State;
use crate::space::Target;

/// Why the GPU cannot access an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is mapped there, or not for access.
    Unmapped,
    /// Mapped, or pinned, for reading only.
    ReadOnly,
    /// The allocation is not resident.
    NotResident,
    /// The paging fence has not reached the value that came with the mapping or the residency.
    Pending,
    /// The client took its own pages away; a real pin keeps them, this machine cannot.
    Gone,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unmapped => "nothing is mapped there",
            Self::ReadOnly => "it is there for reading only",
            Self::NotResident => "the allocation is not resident",
            Self::Pending => "the paging fence has not got there",
            Self::Gone => "the client unmapped its memory",
        })
    }
}

/// A part of an access that lies in one allocation, or in the page of a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Handle of the allocation or fence, 0 for the zeros of an address that reads as zero.
    pub allocation: u32,
    /// Identity of its memory.
    pub identity: u64,
    /// First byte within the allocation.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl State {
    /// Walks the page tables for an access.
    pub(crate) fn translate(&self, adapter: usize, va: u64, bytes: u64, write: bool) -> Result<Vec<Extent>, Fault> {
        let end = va.checked_add(bytes).ok_or(Fault::Unmapped)?;
        let space = &self.adapters.get(adapter).ok_or(Fault::Unmapped)?.space;
        let (mut at, mut extents) = (va, Vec::new());
        for (start, stop, target) in space.targets(va, end) {
            if start > at {
                return Err(Fault::Unmapped);
            }
            let length = stop.min(end) - at;
            if let Target::Allocation { due, .. } | Target::Zero { due } = target
                && !self.done(due)
            {
                return Err(Fault::Pending);
            }
            let extent = match target {
                Target::Fence(handle) => Extent { allocation: handle, identity: 0, offset: at - start, bytes: length },
                Target::Zero { .. } => Extent { allocation: 0, identity: 0, offset: 0, bytes: length },
                Target::Allocation { write: false, .. } if write => return Err(Fault::ReadOnly),
                Target::Allocation { handle, bias, .. } => {
                    let Ok(Object::Allocation(found)) = self.main.get(handle) else { return Err(Fault::Unmapped) };
                    if write && !found.backing.writable() {
                        return Err(Fault::ReadOnly);
                    }
                    if found.resident == 0 {
                        return Err(Fault::NotResident);
                    }
                    if !self.done(found.resident_from) {
                        return Err(Fault::Pending);
                    }
                    let offset = at.wrapping_add(bias);
                    Extent { allocation: handle, identity: found.identity, offset, bytes: length }
                }
            };
            extents.push(extent);
            at += length;
        }
        if at == end { Ok(extents) } else { Err(Fault::Unmapped) }
    }

    /// The GPU writes a fence's value, all of it and nothing else.
    fn write_fence(&mut self, extent: &Extent, value: &[u8]) {
        match <[u8; 8]>::try_from(value) {
            Ok(value) if extent.offset == 0 => {
                if !self.signal(extent.allocation, u64::from_le_bytes(value)) {
                    self.violate(format!("fence {:#x} may not be signalled", extent.allocation));
                }
            }
            _ => self.violate(format!("{} bytes written to the page of fence {:#x}", value.len(), extent.allocation)),
        }
    }

    /// The GPU reads.
    pub(crate) fn gpu_read(&mut self, adapter: usize, va: u64, to: &mut [u8]) -> Result<(), Fault> {
        self.progress();
        let access = self.translate(adapter, va, to.len() as u64, false).and_then(|extents| {
            let mut rest = to;
            for extent in &extents {
                let (part, left) = rest.split_at_mut(extent.bytes as usize);
                part.fill(0);
                match self.main.get(extent.allocation) {
                    Ok(Object::Allocation(a)) if !a.backing.read(extent.offset, part) => return Err(Fault::Gone),
                    Ok(Object::MonitoredFence(fence)) => {
                        let value = fence.page.value().to_le_bytes();
                        let seen = value.iter().skip(extent.offset as usize);
                        part.iter_mut().zip(seen).for_each(|(to, from)| *to = *from);
                    }
                    _ => {}
                }
                rest = left;
            }
            Ok(())
        });
        self.count_fault(access, "read", va)
    }

    /// The GPU writes. Zeros swallow it.
    pub(crate) fn gpu_write(&mut self, adapter: usize, va: u64, from: &[u8]) -> Result<(), Fault> {
        self.progress();
        let access = self.translate(adapter, va, from.len() as u64, true).and_then(|extents| {
            let mut rest = from;
            for extent in &extents {
                let (part, left) = rest.split_at(extent.bytes as usize);
                match self.main.get(extent.allocation) {
                    Ok(Object::Allocation(a)) if !a.backing.write(extent.offset, part) => return Err(Fault::Gone),
                    Ok(Object::MonitoredFence(_)) => self.write_fence(extent, part),
                    _ => {}
                }
                rest = left;
            }
            Ok(())
        });
        self.count_fault(access, "write", va)
    }

    fn count_fault(&mut self, access: Result<(), Fault>, how: &str, va: u64) -> Result<(), Fault> {
        access.inspect_err(|fault| {
            self.faults.0 += 1;
            self.faults.1 = std::ffi::CString::new(format!("GPU {how} at {va:#x}: {fault}")).ok();
        })
    }
}
