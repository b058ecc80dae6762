//! Handle tables: 32-bit numbers of instance (bits 0-5), index (6-29) and unique (30-31), dxgkrnl.md 1.3.

use std::collections::{BTreeMap, VecDeque};

/// Why a handle names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Miss {
    /// It is 0.
    Zero,
    /// Its object is gone.
    Stale,
    /// It was issued to an ancestor process.
    Ancestor,
    /// It was never issued.
    Unknown,
}

impl Miss {
    /// For the list of violations.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Zero => "is zero",
            Self::Stale => "names an object that is gone",
            Self::Ancestor => "belongs to a parent process",
            Self::Unknown => "was never issued",
        }
    }
}

const INDEX_MASK: u32 = 0x00ff_ffff;

const fn index_of(handle: u32) -> u32 {
    handle >> 6 & INDEX_MASK
}

const fn unique_of(handle: u32) -> u32 {
    handle >> 30
}

/// The bits that the guest does not compare (dxgkrnl.md rule 12).
pub(crate) const fn instance_of(handle: u32) -> u32 {
    handle & 0x3f
}

/// A handle as it was issued, without the bits that are not compared.
pub(crate) const fn plain(handle: u32) -> u32 {
    handle & !0x3f
}

const fn handle_of(index: u32, unique: u32) -> u32 {
    index << 6 | unique << 30
}

#[derive(Debug)]
struct LocalEntry {
    unique: u32,
    issued: bool,
    adapter: Option<usize>,
}

/// The local table: adapter opens, numbered by the guest.
///
/// The first handle is 0x40000000, then 0x40000040; a freed index goes to the tail of the free list and comes back
/// with unique 2, always 2 (dxgkrnl.md 1.3, rule 9).
#[derive(Debug)]
pub(crate) struct LocalTable {
    first: u32,
    entries: Vec<LocalEntry>,
    free: VecDeque<u32>,
}

impl LocalTable {
    const GROWTH: u32 = 1024;
    const LOW_WATER: usize = 128;

    /// An empty table whose lowest index is that of the process's generation.
    pub(crate) const fn new(generation: u32) -> Self {
        Self { first: generation * Self::GROWTH, entries: Vec::new(), free: VecDeque::new() }
    }

    /// Issues a handle for an open of an adapter.
    pub(crate) fn insert(&mut self, adapter: usize) -> u32 {
        if self.free.len() <= Self::LOW_WATER {
            let start = self.entries.len() as u32;
            for position in start..start + Self::GROWTH {
                self.entries.push(LocalEntry { unique: 1, issued: false, adapter: None });
                self.free.push_back(position);
            }
        }
        // The table was grown above, so there is a free position.
        let position = self.free.pop_front().unwrap_or_default();
        let entry = &mut self.entries[position as usize];
        entry.issued = true;
        entry.adapter = Some(adapter);
        handle_of(self.first + position, entry.unique)
    }

    fn position(&self, handle: u32) -> Result<usize, Miss> {
        let index = index_of(handle);
        if handle == 0 {
            return Err(Miss::Zero);
        }
        let Some(position) = index.checked_sub(self.first) else { return Err(Miss::Ancestor) };
        match self.entries.get(position as usize) {
            Some(entry) if entry.adapter.is_some() && entry.unique == unique_of(handle) => Ok(position as usize),
            Some(entry) if entry.issued => Err(Miss::Stale),
            _ => Err(Miss::Unknown),
        }
    }

    /// The adapter of an open.
    pub(crate) fn get(&self, handle: u32) -> Result<usize, Miss> {
        let position = self.position(handle)?;
        self.entries[position].adapter.ok_or(Miss::Stale)
    }

    /// Frees a handle and returns its adapter.
    pub(crate) fn remove(&mut self, handle: u32) -> Result<usize, Miss> {
        let position = self.position(handle)?;
        let entry = &mut self.entries[position];
        entry.unique = 2;
        self.free.push_back(position as u32);
        entry.adapter.take().ok_or(Miss::Stale)
    }

    /// How many handles are out.
    pub(crate) fn live(&self) -> u64 {
        self.entries.iter().filter(|e| e.adapter.is_some()).count() as u64
    }
}

/// The main table: everything but adapters, numbered by the host.
///
/// Its numbers never equal those of adapters unless asked to, and never come back unless asked to (dxgkrnl.md
/// rules 10 and 13).
#[derive(Debug)]
pub(crate) struct MainTable<T> {
    first: u32,
    next: u32,
    unique: u32,
    reuse: bool,
    free: Vec<u32>,
    entries: BTreeMap<u32, T>,
}

impl<T> MainTable<T> {
    /// Indices that one generation of processes has for itself.
    const SPAN: u32 = 0x4_0000;

    /// An empty table; `reuse` hands a freed number out again at once, `collide` starts with the numbers of adapters.
    pub(crate) const fn new(generation: u32, reuse: bool, collide: bool) -> Self {
        let (first, unique) =
            if collide { (generation * LocalTable::GROWTH, 1) } else { (generation * Self::SPAN + 1, 3) };
        Self { first, next: first, unique, reuse, free: Vec::new(), entries: BTreeMap::new() }
    }

    /// Issues a handle for an object.
    pub(crate) fn insert(&mut self, object: T) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.entries.insert(index, object);
        handle_of(index, self.unique)
    }

    fn index(&self, handle: u32) -> Result<u32, Miss> {
        let index = index_of(handle);
        match self.entries.contains_key(&index) {
            _ if handle == 0 => Err(Miss::Zero),
            true if unique_of(handle) == self.unique => Ok(index),
            _ if unique_of(handle) != self.unique || index >= self.next => Err(Miss::Unknown),
            _ if index < self.first => Err(Miss::Ancestor),
            _ => Err(Miss::Stale),
        }
    }

    /// The object of a handle.
    pub(crate) fn get(&self, handle: u32) -> Result<&T, Miss> {
        let index = self.index(handle)?;
        self.entries.get(&index).ok_or(Miss::Stale)
    }

    /// The object of a handle, to change it.
    pub(crate) fn get_mut(&mut self, handle: u32) -> Result<&mut T, Miss> {
        let index = self.index(handle)?;
        self.entries.get_mut(&index).ok_or(Miss::Stale)
    }

    /// Frees a handle and returns its object.
    pub(crate) fn remove(&mut self, handle: u32) -> Result<T, Miss> {
        let index = self.index(handle)?;
        if self.reuse {
            self.free.push(index);
        }
        self.entries.remove(&index).ok_or(Miss::Stale)
    }

    /// Every object, to change it.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.values_mut()
    }

    /// Every handle with its object, in the order of issue.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entries.iter().map(|(index, object)| (handle_of(*index, self.unique), object))
    }
}
