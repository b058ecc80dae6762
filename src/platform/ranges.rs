//! Free parts of an address range: best fit, wanted addresses honoured or refused, in O(log n) unless it is nearly full.

use std::collections::{BTreeMap, BTreeSet};

/// The free parts of a range of addresses. Neighbours are always merged.
#[derive(Debug, Default)]
pub struct Ranges {
    /// First address: bytes.
    by_start: BTreeMap<u64, u64>,
    /// The same as (bytes, first address).
    by_size: BTreeSet<(u64, u64)>,
    /// Bytes of all of them.
    free: u64,
}

impl Ranges {
    /// All of `bytes` from `base` on.
    pub fn new(base: u64, bytes: u64) -> Self {
        let mut ranges = Self::default();
        ranges.insert(base, bytes);
        ranges
    }

    fn insert(&mut self, start: u64, bytes: u64) {
        if bytes != 0 {
            self.by_start.insert(start, bytes);
            self.by_size.insert((bytes, start));
            self.free += bytes;
        }
    }

    fn remove(&mut self, start: u64) -> u64 {
        let bytes = self.by_start.remove(&start).unwrap_or(0);
        self.by_size.remove(&(bytes, start));
        self.free -= bytes;
        bytes
    }

    /// Takes `bytes` at `address` out of the part that begins at `start`, which contains them.
    fn carve(&mut self, start: u64, address: u64, bytes: u64) {
        let part = self.remove(start);
        self.insert(start, address - start);
        let (end, part_end) = (address + bytes, start + part);
        self.insert(end, part_end - end);
    }

    /// Takes `bytes` at a multiple of `alignment` (a power of two) from the smallest part that has them.
    pub fn take(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        if bytes == 0 {
            return None;
        }
        let fit = |&(size, start): &(u64, u64)| {
            let address = start.checked_next_multiple_of(alignment)?;
            let end = address.checked_add(bytes)?;
            (end <= start + size).then_some((start, address))
        };
        // A part that is larger by the alignment always fits, so the search for a closer fit may be bounded where there
        // is one.
        const CLOSE: usize = 16;
        let close = self.by_size.range((bytes, 0)..).take(CLOSE).find_map(fit);
        let sure = || self.by_size.range((bytes.checked_add(alignment)?, 0)..).find_map(fit);
        let rest = || self.by_size.range((bytes, 0)..).skip(CLOSE).find_map(fit);
        let (start, address) = close.or_else(sure).or_else(rest)?;
        self.carve(start, address, bytes);
        Some(address)
    }

    /// Takes exactly `bytes` at `address`; false when they are not all free.
    pub fn take_at(&mut self, address: u64, bytes: u64) -> bool {
        let Some(end) = address.checked_add(bytes).filter(|_| bytes != 0) else { return false };
        let Some((&start, &size)) = self.by_start.range(..=address).next_back() else { return false };
        if end > start + size {
            return false;
        }
        self.carve(start, address, bytes);
        true
    }

    /// Gives back what was taken.
    pub fn give(&mut self, address: u64, bytes: u64) {
        let (mut start, mut size) = (address, bytes);
        if let Some((&before, &length)) = self.by_start.range(..address).next_back()
            && before + length == address
        {
            size += self.remove(before);
            start = before;
        }
        let after = address + bytes;
        if self.by_start.contains_key(&after) {
            size += self.remove(after);
        }
        self.insert(start, size);
    }

    /// Bytes that are free in all, and of the largest part.
    pub fn free(&self) -> (u64, u64) {
        (self.free, self.by_size.last().map_or(0, |(bytes, _)| *bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_part_that_fits_is_taken() {
        let mut ranges = Ranges::new(0x1000, 0x10000);
        assert!(ranges.take_at(0x3000, 0x1000) && ranges.take_at(0x8000, 0x1000));
        // Left: 0x1000+0x2000, 0x4000+0x4000, 0x9000+0x8000.
        assert_eq!(ranges.take(0x3000, 0x1000), Some(0x4000));
        assert_eq!(ranges.take(0x1000, 0x1000), Some(0x7000));
        assert_eq!(ranges.take(0x1000, 0x8000), Some(0x10000));
        assert!(!ranges.take_at(0x2000, 0x2000), "a part of it is taken");
        assert!(!ranges.take_at(0, 0x1000) && !ranges.take_at(u64::MAX, 2));
        assert_eq!(ranges.take(0x100000, 1), None);
    }
}
