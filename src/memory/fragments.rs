//! The sub-allocator: small pieces of a GPU's memory are cut from large blocks, so that most of them cost no kernel call
//! (dxg.md 3.2).
//!
//! Blocks belong to one GPU and one set of flags; a piece keeps its block alive. Blocks that are empty are kept for the
//! next piece as long as they are few, and go back when memory is short.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::platform::memory::Buffer;
use crate::platform::ranges::Ranges;
use crate::platform::{self, Device};

/// Bytes of a block.
pub(super) const BLOCK_BYTES: u64 = 128 << 20;
/// From here on pieces are whole large pages.
const LARGE: u64 = 2 << 20;
/// Smaller pieces are whole pages.
const PAGE: u64 = 4 << 10;

/// Whose blocks: the id of the device, and the flags that all pieces of a block have.
pub(super) type Key = (u64, u32);

/// One block.
struct Block {
    buffer: Arc<dyn Buffer>,
    free: Mutex<Ranges>,
    /// Bytes of the largest part of `free`, for whoever looks for room.
    largest: AtomicU64,
}

impl Block {
    fn free(&self) -> MutexGuard<'_, Ranges> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, pool: &Arc<Pool>, bytes: u64, alignment: u64) -> Option<Piece> {
        if self.largest.load(Ordering::Relaxed) < bytes {
            return None;
        }
        let mut free = self.free();
        let (before, _) = free.free();
        let address = free.take(bytes, alignment)?;
        self.largest.store(free.free().1, Ordering::Relaxed);
        pool.used.fetch_add(bytes, Ordering::Relaxed);
        if before == BLOCK_BYTES {
            pool.empty.fetch_sub(1, Ordering::Relaxed);
        }
        drop(free);
        let freed = AtomicBool::new(false);
        Some(Piece { block: Arc::clone(self), pool: Arc::clone(pool), address, bytes, freed })
    }

    fn give(&self, pool: &Pool, address: u64, bytes: u64) {
        let mut free = self.free();
        free.give(address, bytes);
        let (left, largest) = free.free();
        self.largest.store(largest, Ordering::Relaxed);
        pool.used.fetch_sub(bytes, Ordering::Relaxed);
        if left == BLOCK_BYTES {
            pool.empty.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn is_empty(&self) -> bool {
        self.free().free().0 == BLOCK_BYTES
    }
}

/// The blocks of one key.
#[derive(Default)]
struct Pool {
    blocks: Mutex<Vec<Arc<Block>>>,
    /// Blocks without a piece, and bytes of all pieces; blocks that are about to enter count as well.
    empty: AtomicUsize,
    used: AtomicU64,
}

impl Pool {
    fn blocks(&self) -> MutexGuard<'_, Vec<Arc<Block>>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out the empty blocks, all or those beyond what is kept: more than one block, and more than twice as many
    /// bytes free as in use. The caller drops them without a lock.
    fn surplus(&self, all: bool) -> Vec<Arc<Block>> {
        if self.empty.load(Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        let mut blocks = self.blocks();
        let used = self.used.load(Ordering::Relaxed);
        let free = (blocks.len() as u64 * BLOCK_BYTES).saturating_sub(used);
        let mut spare = if all { u64::MAX } else { free.saturating_sub(2 * used) };
        if spare < BLOCK_BYTES {
            return Vec::new();
        }
        let (mut left, mut out) = (blocks.len(), Vec::new());
        blocks.retain(|block| {
            let goes = (all || left > 1) && spare >= BLOCK_BYTES && block.is_empty();
            if goes {
                self.empty.fetch_sub(1, Ordering::Relaxed);
                spare -= BLOCK_BYTES;
                left -= 1;
                out.push(Arc::clone(block));
            }
            !goes
        });
        out
    }
}

/// All blocks of the process.
#[derive(Default)]
pub(super) struct Fragments(Mutex<BTreeMap<Key, Arc<Pool>>>);

/// What a request of that many bytes takes; `None` when it is too large for a block.
pub(super) fn rounded(bytes: u64) -> Option<u64> {
    let unit = if bytes > LARGE { LARGE } else { PAGE };
    bytes.checked_next_multiple_of(unit).filter(|bytes| *bytes < BLOCK_BYTES)
}

impl Fragments {
    fn pools(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Pool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece of `bytes` ([`rounded`]) at a multiple of `alignment`; `make` makes a block when none has room.
    pub(super) fn allocate(
        &self,
        key: Key,
        bytes: u64,
        alignment: u64,
        make: impl FnOnce() -> Result<Arc<dyn Buffer>, platform::Error>,
    ) -> Result<Option<Piece>, platform::Error> {
        let alignment = alignment.max(if bytes >= LARGE { LARGE } else { PAGE });
        let pool = Arc::clone(self.pools().entry(key).or_default());
        let found = pool.blocks().iter().find_map(|block| block.take(&pool, bytes, alignment));
        if found.is_some() {
            return Ok(found);
        }
        // Blocks begin at large pages; one that might not have the alignment would be made for nothing.
        if alignment > LARGE && bytes + alignment > BLOCK_BYTES {
            return Ok(None);
        }
        // No lock is held while the kernel is asked.
        let buffer = make()?;
        let free = Mutex::new(Ranges::new(buffer.address(), BLOCK_BYTES));
        let block = Arc::new(Block { buffer, free, largest: AtomicU64::new(BLOCK_BYTES) });
        pool.empty.fetch_add(1, Ordering::Relaxed);
        let piece = block.take(&pool, bytes, alignment);
        pool.blocks().push(block);
        Ok(piece)
    }

    /// Gives the empty blocks back; whether there were any.
    pub(super) fn trim(&self) -> bool {
        let pools: Vec<_> = self.pools().values().cloned().collect();
        let empty: Vec<_> = pools.iter().flat_map(|pool| pool.surplus(true)).collect();
        !empty.is_empty()
    }

    /// Begins anew: pieces that are alive keep their blocks, and nothing more is cut from those.
    pub(super) fn reset(&self) {
        let old = std::mem::take(&mut *self.pools());
        drop(old);
    }
}

/// A piece of a block.
pub(super) struct Piece {
    block: Arc<Block>,
    pool: Arc<Pool>,
    address: u64,
    bytes: u64,
    freed: AtomicBool,
}

impl Buffer for Piece {
    fn address(&self) -> u64 {
        self.address
    }

    fn cpu_address(&self) -> u64 {
        match self.block.buffer.cpu_address() {
            0 => 0,
            cpu => cpu + (self.address - self.block.buffer.address()),
        }
    }

    fn is_mappable(&self) -> bool {
        true
    }

    /// The whole block is mapped for its own GPU for as long as it lives.
    fn map(&self, devices: &[Arc<dyn Device>]) -> Result<(), platform::Error> {
        self.block.buffer.map(devices)
    }

    fn unmap(&self, _: &[Arc<dyn Device>]) -> Result<(), platform::Error> {
        Ok(())
    }

    /// The file is that of the whole block.
    fn export(&self) -> Result<(OwnedFd, u64), platform::Error> {
        let (file, begin) = self.block.buffer.export()?;
        Ok((file, begin + (self.address - self.block.buffer.address())))
    }

    fn free(&self) -> Result<(), platform::Error> {
        if self.freed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.block.give(&self.pool, self.address, self.bytes);
        // Blocks are destroyed here, where no lock is held.
        drop(self.pool.surplus(false));
        Ok(())
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // It cannot fail.
        let _ = self.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::nowhere::Nowhere;

    #[test]
    fn pieces_are_cut_from_blocks_of_their_own_kind_and_blocks_go_back() {
        let fragments = Fragments::default();
        let token = Arc::new(());
        let alive = || Arc::strong_count(&token) - 1;
        let mut next = 0_u64;
        let mut get = |key: Key, bytes: u64, alignment: u64| {
            let make = || {
                next += 1;
                Ok(Arc::new(Nowhere { gpu: next << 32, _token: Arc::clone(&token), cpu: 0 }) as Arc<dyn Buffer>)
            };
            fragments.allocate(key, rounded(bytes).unwrap(), alignment, make).unwrap().unwrap()
        };
        let (a, b) = (get((1, 0), 4096, 0), get((1, 0), 5000, 64 << 10));
        assert_eq!(b.address() >> 32, a.address() >> 32, "one block");
        assert!(b.address().is_multiple_of(64 << 10));
        assert_ne!(get((2, 0), 4096, 0).address() >> 32, a.address() >> 32, "another GPU");
        assert_ne!(get((1, 8), 4096, 0).address() >> 32, a.address() >> 32, "other flags");
        assert_eq!(get((1, 0), 3 << 20, 0).address() % LARGE, 0);
        assert_eq!(alive(), 3, "empty ones are kept for the next piece");
        // Two blocks of one kind: when all is free, one stays.
        let large = [get((1, 0), 100 << 20, 0), get((1, 0), 100 << 20, 0), get((1, 0), 100 << 20, 0)];
        assert_eq!(alive(), 5);
        drop(large);
        assert_eq!(alive(), 3);
        assert!(fragments.trim() && !fragments.trim());
        assert_eq!(alive(), 1, "the one with live pieces");
        fragments.reset();
        assert_eq!(alive(), 1);
        a.free().unwrap();
        a.free().unwrap();
        drop(a);
        assert_eq!(alive(), 1, "the other piece keeps it");
        drop(b);
        assert_eq!(alive(), 0);
    }

    #[test]
    fn no_block_is_made_that_may_lack_the_alignment() {
        let fragments = Fragments::default();
        let made = AtomicU64::new(0);
        let get = |bytes: u64, alignment: u64| {
            let make = || {
                made.fetch_add(1, Ordering::SeqCst);
                Ok(Arc::new(Nowhere { gpu: LARGE, ..Nowhere::default() }) as Arc<dyn Buffer>)
            };
            fragments.allocate((9, 0), rounded(bytes).unwrap(), alignment, make).unwrap().is_some()
        };
        assert!(!get(LARGE, BLOCK_BYTES) && !get(100 << 20, 64 << 20));
        assert_eq!(made.load(Ordering::SeqCst), 0);
        assert!(get(LARGE, 64 << 20) && get(100 << 20, LARGE));
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn sizes_are_pages_and_what_is_too_large_is_not_cut() {
        assert_eq!((rounded(1), rounded(4097), rounded(LARGE)), (Some(4096), Some(8192), Some(LARGE)));
        assert_eq!(rounded(LARGE + 1), Some(2 * LARGE));
        assert_eq!((rounded(BLOCK_BYTES - 1), rounded(BLOCK_BYTES), rounded(u64::MAX)), (None, None, None));
    }
}
