//! Memory across the seam: what a platform is asked for, and what it gives.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::{Device, Error};
use crate::abi::HsaMemFlags;

/// Whose memory it is.
pub enum Place<'a> {
    /// Of the host.
    Host {
        /// NUMA node to take it from, where it matters.
        numa_node: Option<u32>,
        /// The GPU whose driver makes it reachable for GPUs; `None` on a machine without.
        through: Option<&'a Arc<dyn Device>>,
    },
    /// Of a GPU.
    Device(&'a Arc<dyn Device>),
}

/// An allocation that is wanted; arguments are checked.
pub struct Wanted<'a> {
    /// Whose memory.
    pub place: Place<'a>,
    /// Bytes, a multiple of the page size.
    pub bytes: u64,
    /// The address is a multiple of this; 0 for no wish.
    pub alignment: u64,
    /// This address or none.
    pub address: Option<u64>,
    /// Everything else that the caller said.
    pub flags: HsaMemFlags,
}

/// User memory that is to be made reachable for GPUs.
pub struct UserMemory<'a> {
    /// First byte, at any address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// GPUs see what the CPU writes while a kernel runs.
    pub coherent: bool,
    /// And what other GPUs write.
    pub extended_coherent: bool,
    /// The GPU whose driver makes it reachable.
    pub through: &'a Arc<dyn Device>,
}

impl UserMemory<'_> {
    /// The whole pages that it lies in: first address, and bytes. `None` when it is empty or does not end.
    pub fn pages(&self, page: u64) -> Option<(u64, u64)> {
        let first = self.address / page * page;
        let bytes = self.bytes.checked_add(self.address - first)?.checked_next_multiple_of(page)?;
        (self.bytes != 0 && first.checked_add(bytes).is_some()).then_some((first, bytes))
    }
}

/// Memory that another process, or another part of this one, made a file of.
pub struct Foreign<'a> {
    /// The file; it stays the caller's.
    pub file: BorrowedFd<'a>,
    /// The GPU that is to use it.
    pub device: &'a Arc<dyn Device>,
    /// Bytes that it has, where nothing else tells; 0 for unknown.
    pub size_hint: u64,
    /// It gets an address of its own; otherwise [`Buffer::map_at`] places it. System memory always has one.
    pub place: bool,
}

/// How the surface in shared memory is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    /// Swizzle mode.
    pub swizzle_mode: u32,
    /// Tile swizzle.
    pub tile_swizzle: u32,
}

/// Memory that was taken in.
pub struct Imported {
    /// It, with an address of its own.
    pub buffer: Arc<dyn Buffer>,
    /// Bytes that its maker asked for.
    pub bytes: u64,
    /// Flags that its maker asked for; 0 where nothing tells.
    pub flags: HsaMemFlags,
    /// What its maker says of a surface in it.
    pub surface: Option<Surface>,
}

/// A piece of memory that a platform has given. Dropping it frees it as far as the kernel lets it.
pub trait Buffer: Send + Sync {
    /// Where GPUs see it: its first byte, and for everything but user memory where the CPU does too.
    fn address(&self) -> u64;

    /// Where the CPU sees it, NULL as 0 where it cannot.
    fn cpu_address(&self) -> u64;

    /// Whether it can be mapped for GPUs at all: an address range without memory cannot.
    fn is_mappable(&self) -> bool;

    /// Lets `devices` use it, those that may already included. All or none of the others on an error.
    fn map(&self, devices: &[Arc<dyn Device>]) -> Result<(), Error>;

    /// Takes it away from `devices`, which may use it.
    fn unmap(&self, devices: &[Arc<dyn Device>]) -> Result<(), Error>;

    /// Frees it. After an error everything is as before; after success it is gone.
    fn free(&self) -> Result<(), Error>;

    /// Scratch areas alone: backs the part of `bytes` at `address` with memory of the GPU, or takes that away.
    fn back(&self, address: u64, bytes: u64, backed: bool) -> Result<(), Error> {
        let _ = (address, bytes, backed);
        Err(Error::Unsupported("parts of this memory"))
    }

    /// Makes a file of it for another process, which the caller closes; with it, where in the file's memory this begins.
    fn export(&self) -> Result<(OwnedFd, u64), Error> {
        Err(Error::Unsupported("files of this memory"))
    }

    /// Memory without a place alone: maps `bytes` of it from `offset` on at `address`, which the caller has reserved and
    /// where nothing is mapped.
    fn map_at(&self, address: u64, offset: u64, bytes: u64) -> Result<(), Error> {
        let _ = (address, offset, bytes);
        Err(Error::Unsupported("other places for this memory"))
    }

    /// Takes back one [`Buffer::map_at`].
    fn unmap_at(&self, address: u64, offset: u64, bytes: u64) -> Result<(), Error> {
        let _ = (address, offset, bytes);
        Err(Error::Unsupported("other places for this memory"))
    }

    /// It is a scratch area, whose parts are backed one by one.
    fn is_scratch(&self) -> bool {
        false
    }
}

/// The memory of a platform.
pub trait Memory {
    /// Allocates.
    fn allocate(&self, wanted: &Wanted<'_>) -> Result<Arc<dyn Buffer>, Error>;

    /// Makes user memory reachable.
    fn register(&self, user: &UserMemory<'_>) -> Result<Arc<dyn Buffer>, Error>;

    /// Takes in memory that somebody made a file of.
    fn import(&self, foreign: &Foreign<'_>) -> Result<Imported, Error> {
        let _ = foreign;
        Err(Error::Unsupported("files of memory on this driver"))
    }

    /// There is a GPU with memory of its own: host memory must be registered before GPUs see it.
    fn needs_registration(&self) -> bool;

    /// An allocation costs so much that small ones are better cut from large ones.
    fn cuts_pieces(&self) -> bool {
        false
    }
}
