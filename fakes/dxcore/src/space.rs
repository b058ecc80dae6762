//! The GPU's address space of one process on one adapter: who owns a range, and what is mapped there (dxgkrnl.md 3.4).
//!
//! Pure: ranges and numbers, no memory.

use std::collections::{BTreeMap, BTreeSet};

/// Unit of mapping, in bytes.
pub(crate) const PAGE: u64 = 4096;
/// Unit of reservation, in bytes (rule 73).
pub(crate) const RESERVE_UNIT: u64 = 64 << 10;
/// Where GPU addresses end (assumed: 48 bits).
pub(crate) const END: u64 = 1 << 48;

/// Owner of what the kernel maps for itself.
const KERNEL: u64 = 0;
/// Where it looks for room, away from where clients begin.
const KERNEL_START: u64 = END - (1 << 40);

/// Disjoint ranges with a value each.
#[derive(Debug)]
pub(crate) struct Ranges<T> {
    map: BTreeMap<u64, (u64, T)>,
}

impl<T: Copy> Ranges<T> {
    const fn new() -> Self {
        Self { map: BTreeMap::new() }
    }

    /// The ranges that overlap `start..end`, in order, whole.
    pub(crate) fn over(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, T)> {
        let before = self.map.range(..start).next_back().filter(|(_, (e, _))| *e > start).map(|(s, _)| *s);
        self.map.range(before.unwrap_or(start)..end.max(start)).map(|(s, (e, value))| (*s, *e, *value))
    }

    /// Every range, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u64, T)> {
        self.map.iter().map(|(s, (e, value))| (*s, *e, *value))
    }

    /// Takes `start..end` out of all ranges.
    fn cut(&mut self, start: u64, end: u64) {
        let hit: Vec<_> = self.over(start, end).collect();
        for (s, e, value) in hit {
            self.map.remove(&s);
            if s < start {
                self.map.insert(s, (start, value));
            }
            if e > end {
                self.map.insert(end, (e, value));
            }
        }
    }

    /// Puts a value over `start..end`.
    fn put(&mut self, start: u64, end: u64, value: T) {
        self.cut(start, end);
        self.map.insert(start, (end, value));
    }

    /// Whether nothing overlaps `start..end`.
    fn free(&self, start: u64, end: u64) -> bool {
        self.over(start, end).next().is_none()
    }

    /// Whether all of `start..end` is inside ranges.
    fn full(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        for (s, e, _) in self.over(start, end) {
            if s > at {
                return false;
            }
            at = e;
        }
        at >= end
    }

    /// The lowest free place of `size` bytes inside `min..max`, aligned.
    fn gap(&self, min: u64, max: u64, size: u64, align: u64) -> Option<u64> {
        let mut at = min.checked_next_multiple_of(align)?;
        for (s, e, _) in self.over(at, max) {
            if s >= at.checked_add(size)? {
                break;
            }
            at = e.checked_next_multiple_of(align)?;
        }
        at.checked_add(size).is_some_and(|end| end <= max).then_some(at)
    }
}

/// How a range came into the process's possession.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    /// One number per call that took addresses; 0 is the kernel itself.
    id: u64,
    /// By `ReserveGpuVirtualAddress`, as opposed to `MapGpuVirtualAddress`.
    reserved: bool,
}

/// Until when an operation is not done: the paging queue and the value of its fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// Handle of the paging queue.
    pub(crate) queue: u32,
    /// Which of the queues that had this handle.
    pub(crate) identity: u64,
    /// What its fence must reach; 0 is done.
    pub(crate) value: u64,
}

impl Due {
    /// Done already.
    pub(crate) const NOW: Self = Self { queue: 0, identity: 0, value: 0 };
}

/// What the GPU finds at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Memory.
    Allocation {
        /// Handle of the allocation.
        handle: u32,
        /// Byte of the allocation at GPU address 0, modulo 2^64.
        bias: u64,
        /// The GPU may write.
        write: bool,
        /// When the mapping holds.
        due: Due,
    },
    /// The page of the monitored fence of that handle.
    Fence(u32),
    /// Zeros; writes are dropped.
    Zero {
        /// When the mapping holds.
        due: Due,
    },
}

/// Why addresses were not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Taken, or no room: nobody's fault.
    Taken,
    /// Against the contract, in words.
    Wrong(&'static str),
}

/// The address space.
#[derive(Debug)]
pub(crate) struct Space {
    owned: Ranges<Owner>,
    mapped: Ranges<Target>,
    ids: u64,
}

impl Space {
    /// Nothing is owned.
    pub(crate) const fn new() -> Self {
        Self { owned: Ranges::new(), mapped: Ranges::new(), ids: 0 }
    }

    /// Takes a range: at `base`, or where `min..max` has room when that is 0; `max` 0 is no bound.
    fn take(
        &mut self,
        base: u64,
        (min, max): (u64, u64),
        size: u64,
        align: u64,
        reserved: bool,
    ) -> Result<u64, Refusal> {
        let max = if max == 0 { END } else { max.min(END) };
        let start = match base {
            0 => self.owned.gap(min.max(align), max, size, align).ok_or(Refusal::Taken)?,
            _ if base.checked_add(size).is_none_or(|end| end > END) => return Err(Refusal::Wrong("is beyond the end")),
            _ if !self.owned.free(base, base + size) => return Err(Refusal::Taken),
            _ => base,
        };
        self.ids += 1;
        self.owned.put(start, start + size, Owner { id: self.ids, reserved });
        Ok(start)
    }

    /// Reserves a range; `zero` makes it read as zeros.
    pub(crate) fn reserve(&mut self, base: u64, bounds: (u64, u64), size: u64, zero: bool) -> Result<u64, Refusal> {
        let start = self.take(base, bounds, size, RESERVE_UNIT, true)?;
        if zero {
            self.mapped.put(start, start + size, Target::Zero { due: Due::NOW });
        }
        Ok(start)
    }

    /// Where `map` would map: the start, and whether the range must still be taken (rules 81 and 82).
    pub(crate) fn place(&self, base: u64, bounds: (u64, u64), size: u64, memory: bool) -> Result<(u64, bool), Refusal> {
        let end = base.checked_add(size).filter(|end| *end <= END).ok_or(Refusal::Wrong("is beyond the end"))?;
        if !memory && (base == 0 || !self.owned.full(base, end)) {
            return Err(Refusal::Wrong("is not reserved"));
        }
        if !memory && self.owned.over(base, end).any(|(_, _, owner)| !owner.reserved) {
            return Err(Refusal::Wrong("was obtained by a mapping, not reserved"));
        }
        if base == 0 {
            let max = if bounds.1 == 0 { END } else { bounds.1.min(END) };
            let start = self.owned.gap(bounds.0.max(RESERVE_UNIT), max, size, PAGE).ok_or(Refusal::Taken)?;
            return Ok((start, true));
        }
        if self.owned.over(base, end).any(|(_, _, owner)| owner.id == KERNEL) {
            return Err(Refusal::Wrong("is the kernel's"));
        }
        match (self.owned.free(base, end), self.owned.full(base, end)) {
            (true, _) => Ok((base, true)),
            (_, true) => Ok((base, false)),
            _ => Err(Refusal::Wrong("is partly free and partly owned")),
        }
    }

    /// Maps at a place that [`Space::place`] found; `None` is no access.
    pub(crate) fn map(&mut self, (start, take): (u64, bool), size: u64, target: Option<Target>) {
        if take {
            self.ids += 1;
            self.owned.put(start, start + size, Owner { id: self.ids, reserved: false });
        }
        match target {
            Some(target) => self.mapped.put(start, start + size, target),
            None => self.mapped.cut(start, start + size),
        }
    }

    /// Gives a range back; `whole` allows nothing less than what one call took (rules 76 and 77).
    pub(crate) fn release(&mut self, base: u64, size: u64, whole: bool) -> Result<(), Refusal> {
        let aligned = base.is_multiple_of(PAGE) && size.is_multiple_of(PAGE) && size > 0;
        let end = base.checked_add(size).filter(|_| aligned).ok_or(Refusal::Wrong("is not in pages"))?;
        if !self.owned.full(base, end) {
            return Err(Refusal::Wrong("is not owned"));
        }
        let ids: BTreeSet<u64> = self.owned.over(base, end).map(|(_, _, owner)| owner.id).collect();
        if ids.contains(&KERNEL) {
            return Err(Refusal::Wrong("is the kernel's"));
        }
        if ids.len() > 1 {
            return Err(Refusal::Wrong("belongs to more than one call"));
        }
        let outside = |(s, e, owner): (u64, u64, Owner)| ids.contains(&owner.id) && (s < base || e > end);
        if whole && self.owned.all().any(outside) {
            return Err(Refusal::Wrong("is a part of a range"));
        }
        self.owned.cut(base, end);
        self.mapped.cut(base, end);
        Ok(())
    }

    /// Ends every mapping of an allocation, which all lie in these places: reserved ranges stay reserved, others go
    /// (dxgkrnl.md 3.4).
    pub(crate) fn forget(&mut self, allocation: u32, places: &[(u64, u64)]) {
        let own = |target: &Target| matches!(target, Target::Allocation { handle, .. } if *handle == allocation);
        for (from, to) in places {
            let gone: Vec<_> = self.mapped.over(*from, *to).filter(|(_, _, target)| own(target)).collect();
            for (start, end, _) in gone {
                self.mapped.cut(start, end);
                let taken: Vec<_> = self.owned.over(start, end).filter(|(_, _, owner)| !owner.reserved).collect();
                for (s, e, _) in taken {
                    self.owned.cut(s.max(start), e.min(end));
                }
            }
        }
    }

    /// The kernel maps a fence where it likes.
    pub(crate) fn install(&mut self, fence: u32, size: u64) -> Option<u64> {
        let start = self.owned.gap(KERNEL_START, END, size, PAGE)?;
        self.owned.put(start, start + size, Owner { id: KERNEL, reserved: false });
        self.mapped.put(start, start + size, Target::Fence(fence));
        Some(start)
    }

    /// The kernel takes a mapping of its own back; 0 is none.
    pub(crate) fn withdraw(&mut self, start: u64) {
        let end = self.owned.over(start, start + 1).find(|(_, _, owner)| owner.id == KERNEL).map(|(_, end, _)| end);
        if let Some(end) = end {
            self.owned.cut(start, end);
            self.mapped.cut(start, end);
        }
    }

    /// What is mapped in `start..end`.
    pub(crate) fn targets(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, Target)> {
        self.mapped.over(start, end)
    }

    /// Ranges that are owned, counted by the calls that took them.
    pub(crate) fn live_ranges(&self) -> u64 {
        let ids = self.owned.all().map(|(_, _, owner)| owner.id).filter(|id| *id != KERNEL);
        ids.collect::<BTreeSet<_>>().len() as u64
    }

    /// Mappings of memory.
    pub(crate) fn live_mappings(&self) -> u64 {
        self.mapped.all().filter(|(_, _, target)| matches!(target, Target::Allocation { .. })).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_a_page_by_page_model() {
        const PAGES: usize = 64;
        let mut model = [None; PAGES];
        let mut ranges = Ranges::new();
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for step in 0..20_000 {
            let start = random(PAGES as u64);
            let end = start + 1 + random(PAGES as u64 - start);
            if random(2) == 0 {
                ranges.cut(start, end);
                model[start as usize..end as usize].fill(None);
            } else {
                ranges.put(start, end, step);
                model[start as usize..end as usize].fill(Some(step));
            }
            let (from, to) = (random(PAGES as u64 - 8), PAGES as u64 - random(8));
            let window = || &model[from as usize..to as usize];
            assert_eq!(ranges.free(from, to), window().iter().all(Option::is_none), "{step}");
            assert_eq!(ranges.full(from, to), window().iter().all(Option::is_some), "{step}");
            let mut seen = [None; PAGES];
            for (s, e, value) in ranges.all() {
                assert!(s < e && seen[s as usize..e as usize].iter().all(Option::is_none), "{step}");
                seen[s as usize..e as usize].fill(Some(value));
            }
            assert_eq!(seen, model, "{step}");
            let size = 1 + random(6);
            let room = (from..to)
                .filter(|at| at.is_multiple_of(2) && at + size <= to)
                .find(|at| model[*at as usize..(at + size) as usize].iter().all(Option::is_none));
            assert_eq!(ranges.gap(from, to, size, 2), room, "{step}");
        }
    }
}
