//! A sorted map from numbers whose lookups touch few cache lines, however many entries there are.
//!
//! Entries lie in chunks, the keys of a chunk side by side; a tree finds the chunk, in O(log n).

use std::collections::BTreeMap;
use std::ops::Bound;

/// Entries of a chunk at most.
const MOST: usize = 64;

/// The map.
pub(super) struct Index<V> {
    /// By a number that is no larger than any key of the chunk, and larger than all keys of the chunk before it. None is
    /// empty.
    chunks: BTreeMap<u64, Chunk<V>>,
    /// An empty chunk for the next one.
    spare: Option<Chunk<V>>,
}

/// Keys in order, and their values at the same places.
struct Chunk<V> {
    keys: Vec<u64>,
    values: Vec<V>,
}

impl<V> Default for Index<V> {
    fn default() -> Self {
        Self { chunks: BTreeMap::new(), spare: None }
    }
}

impl<V> Chunk<V> {
    fn new() -> Self {
        Self { keys: Vec::with_capacity(MOST), values: Vec::with_capacity(MOST) }
    }

    fn insert(&mut self, place: usize, key: u64, value: V) {
        self.keys.insert(place, key);
        self.values.insert(place, value);
    }

    /// The chunk of what lies at `place` and behind it.
    fn split(&mut self, place: usize) -> Self {
        let mut rest = Self::new();
        rest.keys.extend(self.keys.drain(place..));
        rest.values.extend(self.values.drain(place..));
        rest
    }
}

impl<V> Index<V> {
    /// The entry of the largest key up to `key`.
    pub(super) fn at_or_before(&self, key: u64) -> Option<(u64, &V)> {
        // The second chunk is looked at where the first one begins behind `key`; no more are.
        self.chunks.range(..=key).rev().find_map(|(_, chunk)| {
            // All of them are looked at: what does not wait for a comparison is fetched from memory at once.
            let place = chunk.keys.iter().map(|known| usize::from(*known <= key)).sum::<usize>().checked_sub(1)?;
            Some((*chunk.keys.get(place)?, chunk.values.get(place)?))
        })
    }

    /// The value of `key`.
    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.at_or_before(key).filter(|(found, _)| *found == key).map(|(_, value)| value)
    }

    /// The value of `key`, to be changed.
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let (_, chunk) = self.chunks.range_mut(..=key).next_back()?;
        chunk.values.get_mut(chunk.keys.binary_search(&key).ok()?)
    }

    /// Enters a value, in the place of the one that `key` had.
    pub(super) fn insert(&mut self, key: u64, value: V) {
        if self.chunks.range(..=key).next_back().is_none() {
            let (_, first) =
                self.chunks.pop_first().unwrap_or_else(|| (key, self.spare.take().unwrap_or_else(Chunk::new)));
            self.chunks.insert(key, first);
        }
        let Some((_, chunk)) = self.chunks.range_mut(..=key).next_back() else { return };
        let place = match chunk.keys.binary_search(&key) {
            Ok(place) => {
                chunk.values[place] = value;
                return;
            }
            Err(place) => place,
        };
        if chunk.keys.len() < MOST {
            return chunk.insert(place, key, value);
        }
        // Behind all others: keys that come in order leave full chunks.
        let middle = if place == MOST { MOST } else { MOST / 2 };
        let mut rest = chunk.split(middle);
        if place < middle {
            chunk.insert(place, key, value);
        } else {
            rest.insert(place - middle, key, value);
        }
        let begin = rest.keys.first().copied().unwrap_or(key);
        self.chunks.insert(begin, rest);
    }

    /// Takes an entry out.
    pub(super) fn remove(&mut self, key: u64) -> Option<V> {
        let (&begin, chunk) = self.chunks.range_mut(..=key).next_back()?;
        let place = chunk.keys.binary_search(&key).ok()?;
        chunk.keys.remove(place);
        let value = chunk.values.remove(place);
        let left = chunk.keys.len();
        if left < MOST / 4 {
            self.merge(begin, left);
        }
        Some(value)
    }

    /// Joins the chunk at `begin`, of which little is left, with a neighbour where that leaves room to spare.
    fn merge(&mut self, begin: u64, left: usize) {
        let roomy = |(begin, chunk): (&u64, &Chunk<V>)| (chunk.keys.len() + left <= MOST / 2).then_some(*begin);
        let before = self.chunks.range(..begin).next_back().and_then(roomy);
        let behind = || self.chunks.range((Bound::Excluded(begin), Bound::Unbounded)).next().and_then(roomy);
        let (into, from) = match (left, before) {
            (0, _) => (begin, begin),
            (_, Some(before)) => (before, begin),
            (_, None) => match behind() {
                Some(behind) => (begin, behind),
                None => return,
            },
        };
        let Some(mut small) = self.chunks.remove(&from) else { return };
        if let Some(chunk) = self.chunks.get_mut(&into) {
            chunk.keys.append(&mut small.keys);
            chunk.values.append(&mut small.values);
        } else if self.spare.is_none() {
            self.spare = Some(small);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks are what the page says, and hold what `model` does.
    fn check(index: &Index<u64>, model: &BTreeMap<u64, u64>) {
        let mut all = Vec::new();
        let mut bounds = index.chunks.keys().skip(1).copied().chain([u64::MAX]);
        for (begin, chunk) in &index.chunks {
            assert!(!chunk.keys.is_empty() && chunk.keys.len() <= MOST && chunk.keys.len() == chunk.values.len());
            let bound = bounds.next().unwrap();
            assert!(chunk.keys.iter().all(|key| key >= begin && *key < bound));
            all.extend(chunk.keys.iter().copied().zip(chunk.values.iter().copied()));
        }
        assert!(all.iter().copied().eq(model.iter().map(|(key, value)| (*key, *value))));
    }

    #[test]
    fn it_is_a_sorted_map() {
        let mut random = 1_u64;
        let mut below = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for keys in [20, 600, 5_000] {
            let (mut index, mut model) = (Index::default(), BTreeMap::new());
            for number in 0..50_000 {
                // Sometimes more is entered than removed, sometimes less.
                let (key, removes) = (below(keys), below(100) < 20 + number / 10_000 * 15);
                if removes {
                    assert_eq!(index.remove(key), model.remove(&key));
                } else {
                    index.insert(key, number);
                    model.insert(key, number);
                }
                assert_eq!(index.get(key), model.get(&key));
                assert_eq!(index.get_mut(key).copied(), model.get(&key).copied());
                let near = below(keys + 10);
                let before = model.range(..=near).next_back().map(|(key, value)| (*key, value));
                assert_eq!(index.at_or_before(near), before);
                if number % 1_000 == 0 {
                    check(&index, &model);
                }
            }
            for key in model.keys() {
                assert!(index.remove(*key).is_some());
            }
            assert!(index.chunks.is_empty());
        }
    }

    #[test]
    fn the_largest_keys_are_keys() {
        let mut index = Index::default();
        for key in [u64::MAX, 0, u64::MAX - 1] {
            index.insert(key, key);
        }
        assert_eq!(
            (index.remove(u64::MAX), index.at_or_before(u64::MAX)),
            (Some(u64::MAX), Some((u64::MAX - 1, &(u64::MAX - 1))))
        );
        assert_eq!(
            (index.remove(u64::MAX - 1), index.remove(0), index.at_or_before(9)),
            (Some(u64::MAX - 1), Some(0), None)
        );
    }

    #[test]
    fn keys_in_any_order_leave_full_chunks_and_removal_leaves_few() {
        for descending in [false, true] {
            let (mut index, mut model) = (Index::default(), BTreeMap::new());
            let key = |number: u64| if descending { 10_000 - number } else { number };
            for number in 0..10_000 {
                index.insert(key(number), number);
                model.insert(key(number), number);
            }
            check(&index, &model);
            assert!(index.chunks.len() <= 2 * 10_000 / MOST + 1, "{}", index.chunks.len());
            for number in (0..10_000).filter(|number| number % 100 != 0) {
                assert_eq!(index.remove(key(number)), model.remove(&key(number)));
            }
            check(&index, &model);
            assert!(index.chunks.len() <= 10, "{} for 100 entries", index.chunks.len());
        }
    }
}
