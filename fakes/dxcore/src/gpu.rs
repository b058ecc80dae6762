//! The GPU's view of memory: page tables, residency and what a bad access is (dxgkrnl.md 3.4, 3.5, 6.2).

use core::fmt;

use crate::backing::Backing;
use crate::device::Object;
use crate::process::State;
use crate::space::Target;

/// Why the GPU cannot access an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is mapped there, or not for access.
    Unmapped,
    /// Mapped for reading only.
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
            Self::ReadOnly => "it is mapped for reading",
            Self::NotResident => "the allocation is not resident",
            Self::Pending => "the paging fence has not got there",
            Self::Gone => "the client unmapped its memory",
        })
    }
}

/// A part of an access that lies in one allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Handle of the allocation, 0 for the zeros of an address that reads as zero.
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
            let due = match target {
                Target::Allocation { due, .. } | Target::Zero { due } => due,
            };
            if !self.done(due) {
                return Err(Fault::Pending);
            }
            let extent = match target {
                Target::Zero { .. } => Extent { allocation: 0, identity: 0, offset: 0, bytes: length },
                Target::Allocation { write: false, .. } if write => return Err(Fault::ReadOnly),
                Target::Allocation { handle, bias, .. } => {
                    let Ok(Object::Allocation(found)) = self.main.get(handle) else { return Err(Fault::Unmapped) };
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

    fn backing(&self, extent: &Extent) -> Option<&Backing> {
        match self.main.get(extent.allocation) {
            Ok(Object::Allocation(found)) => Some(&found.backing),
            _ => None,
        }
    }

    /// The GPU reads.
    pub(crate) fn gpu_read(&mut self, adapter: usize, va: u64, to: &mut [u8]) -> Result<(), Fault> {
        self.progress();
        let access = self.translate(adapter, va, to.len() as u64, false).and_then(|extents| {
            let mut rest = to;
            for extent in &extents {
                let (part, left) = rest.split_at_mut(extent.bytes as usize);
                match self.backing(extent) {
                    Some(backing) if !backing.read(extent.offset, part) => return Err(Fault::Gone),
                    Some(_) => {}
                    None => part.fill(0),
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
                if self.backing(extent).is_some_and(|backing| !backing.write(extent.offset, part)) {
                    return Err(Fault::Gone);
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
