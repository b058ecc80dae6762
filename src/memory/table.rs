//! What is alive: found by any address inside it in O(log n), without a kernel call under the lock.
//!
//! Of the locks, that of the table comes first, then that of one allocation.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use super::Error;
use super::index::Index;
use crate::abi::HsaMemFlags;
use crate::platform::Device;
use crate::platform::memory::Buffer;

/// How long a call waits for another on the same memory.
const PATIENCE: Duration = Duration::from_secs(60);

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An allocation.
    Allocated,
    /// Addresses without memory.
    Addresses,
    /// Memory of the user.
    User,
    /// Memory that was taken in.
    Shared,
}

type Devices = Vec<Arc<dyn Device>>;

/// What an allocation is, which never changes.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub kind: Kind,
    /// Node that it was wanted from.
    pub node: u32,
    pub flags: HsaMemFlags,
    pub bytes: u64,
    /// First byte for the CPU, by which user memory is known; 0 where it sees none.
    pub cpu_start: u64,
}

/// One allocation or registration.
pub(super) struct Allocation {
    facts: Facts,
    /// First byte for GPUs.
    start: u64,
    /// Node of the GPU whose memory it is.
    owner: Option<u32>,
    buffer: Arc<dyn Buffer>,
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Default)]
struct State {
    /// A call that changes it is under way.
    busy: bool,
    /// Threads that wait until that is over.
    waiting: u32,
    /// It is freed.
    gone: bool,
    registered: Option<Devices>,
    registrations: u32,
    mapped: Devices,
    maps: u32,
    /// Parts of it at which memory without a place is mapped; they do not overlap.
    guests: Vec<Guest>,
}

/// Memory without a place, where it is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guest {
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// The name of the memory, which nothing else has while it is mapped.
    pub(super) name: u64,
}

impl Guest {
    fn overlaps(&self, other: &Self) -> bool {
        let before = |a: &Self, b: &Self| a.address.saturating_add(a.bytes) <= b.address;
        !before(self, other) && !before(other, self)
    }
}

impl Allocation {
    pub(super) fn new(
        kind: Kind,
        (node, owner): (u32, Option<u32>),
        bytes: u64,
        flags: HsaMemFlags,
        buffer: Arc<dyn Buffer>,
    ) -> Self {
        let state = Mutex::new(State { registrations: 1, ..State::default() });
        let facts = Facts { kind, node, flags, bytes, cpu_start: buffer.cpu_address() };
        Self { facts, start: buffer.address(), owner, buffer, state, settled: Condvar::new() }
    }

    pub(super) fn kind(&self) -> Kind {
        self.facts.kind
    }

    pub(super) fn owner(&self) -> Option<u32> {
        self.owner
    }

    pub(super) fn bytes(&self) -> u64 {
        self.facts.bytes
    }

    pub(super) fn buffer(&self) -> &dyn Buffer {
        &*self.buffer
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to change it, held by one thread at a time; no lock is held meanwhile.
    pub(super) fn turn(&self) -> Result<Turn<'_>, Error> {
        let mut state = self.state();
        if state.busy {
            state.waiting += 1;
            let waited = self.settled.wait_timeout_while(state, PATIENCE, |state| state.busy);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        if state.busy {
            return Err(Error::Busy { address: self.start, seconds: PATIENCE.as_secs() });
        }
        if state.gone {
            return Err(Error::NotRegistered(self.start));
        }
        state.busy = true;
        Ok(Turn(self))
    }
}

/// See [`Allocation::turn`].
pub(super) struct Turn<'a>(&'a Allocation);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.busy = false;
        if state.waiting != 0 {
            // All of them: one that finds it gone would wake nobody after itself.
            self.0.settled.notify_all();
        }
    }
}

fn same(a: &[Arc<dyn Device>], b: &[Arc<dyn Device>]) -> bool {
    a.len() == b.len() && a.iter().all(|one| b.iter().any(|other| one.id() == other.id()))
}

impl Turn<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state()
    }

    /// Whoever waits for a turn finds nothing any more.
    pub(super) fn gone(&self) {
        self.state().gone = true;
    }

    pub(super) fn registered(&self) -> Option<Devices> {
        self.state().registered.clone()
    }

    /// Registers for `devices` what is registered for none; the same list once more is fine.
    pub(super) fn register_for(&self, table: &Table, devices: Devices) -> Result<(), Error> {
        let mut state = self.state();
        match &state.registered {
            Some(known) if !same(known, &devices) => Err(Error::AlreadyRegistered(self.0.start)),
            _ => {
                state.registered = Some(devices);
                drop(state);
                table.forget_told(self.0);
                Ok(())
            }
        }
    }

    /// Counts one more registration of the same memory, unless it is for other devices.
    pub(super) fn register_again(&self, table: &Table, devices: Option<Devices>) -> Result<(), Error> {
        if let Some(devices) = devices {
            self.register_for(table, devices)?;
        }
        let mut state = self.state();
        state.registrations = state.registrations.checked_add(1).ok_or(Error::Argument("too many registrations"))?;
        Ok(())
    }

    /// Counts one registration less; true when it was the last one.
    pub(super) fn deregister(&self) -> bool {
        let mut state = self.state();
        state.registrations -= 1;
        state.registrations == 0
    }

    /// Takes back the last deregistration.
    pub(super) fn keep(&self) {
        self.state().registrations += 1;
    }

    /// Ends the registration of an allocation for single devices.
    pub(super) fn forget_nodes(&self, table: &Table) -> Result<(), Error> {
        let had = self.state().registered.take();
        table.forget_told(self.0);
        had.map(|_| ()).ok_or(Error::NotRegistered(self.0.start))
    }

    pub(super) fn mapped(&self) -> Devices {
        self.state().mapped.clone()
    }

    pub(super) fn add_mapped(&self, table: &Table, devices: Devices) {
        self.state().mapped.extend(devices);
        table.forget_told(self.0);
    }

    pub(super) fn remove_mapped(&self, table: &Table, devices: &[Arc<dyn Device>]) {
        self.state().mapped.retain(|known| devices.iter().all(|device| device.id() != known.id()));
        table.forget_told(self.0);
    }

    /// Other memory is mapped at some of its addresses.
    pub(super) fn has_guests(&self) -> bool {
        !self.state().guests.is_empty()
    }

    /// What is mapped at some of a guest's addresses.
    pub(super) fn guest_at(&self, guest: &Guest) -> Option<Guest> {
        self.state().guests.iter().find(|known| known.overlaps(guest)).copied()
    }

    /// One more guest, where none is.
    pub(super) fn add_guest(&self, guest: Guest) {
        self.state().guests.push(guest);
    }

    pub(super) fn remove_guest(&self, guest: &Guest) {
        self.state().guests.retain(|known| known != guest);
    }

    pub(super) fn count_map(&self) {
        let mut state = self.state();
        state.maps = state.maps.saturating_add(1);
    }

    pub(super) fn count_unmap(&self) {
        let mut state = self.state();
        state.maps = state.maps.saturating_sub(1);
    }

    /// It was mapped more often than unmapped, even after one more unmap.
    pub(super) fn is_mapped_again(&self) -> bool {
        self.state().maps > 1
    }
}

/// Nodes of allocations. Callers read them whenever they like, so they live as long as the process.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lists {
    /// Nodes that it is registered for.
    pub registered: Vec<u32>,
    /// Nodes that may use it.
    pub mapped: Vec<u32>,
}

/// An allocation in the table, with all that is told of it: one cache line, and nothing else is looked at.
#[repr(align(64))]
pub(super) struct Entry {
    facts: Facts,
    /// What was told of its state since that changed, to whoever saw the scene of the number beside it.
    told: Option<&'static Lists>,
    scene: u64,
    user_data: usize,
    allocation: Arc<Allocation>,
}

const _: () = assert!(size_of::<Entry>() == 64);

/// What is told of an allocation.
pub(super) struct Answer {
    pub facts: Facts,
    /// First byte for GPUs.
    pub start: u64,
    pub lists: &'static Lists,
    /// The word of its user.
    pub user_data: usize,
}

impl Entry {
    fn new(allocation: &Arc<Allocation>) -> Self {
        Self { facts: allocation.facts, told: None, scene: 0, user_data: 0, allocation: Arc::clone(allocation) }
    }

    fn answer(&self, start: u64, lists: &'static Lists) -> Answer {
        Answer { facts: self.facts, start, lists, user_data: self.user_data }
    }
}

#[derive(Default)]
struct Entries {
    /// By first GPU address; they never overlap.
    by_start: Index<Entry>,
    /// User memory by its own first byte and size; it may overlap.
    by_user: BTreeMap<(u64, u64), Arc<Allocation>>,
    /// Bytes of the largest user memory that there ever was.
    largest_user: u64,
}

impl Entries {
    fn enter(&mut self, entry: Entry) {
        let Facts { kind, bytes, cpu_start, .. } = entry.facts;
        if kind == Kind::User {
            self.largest_user = self.largest_user.max(bytes);
            // What came there while this one was not entered stays; this one is known by its other address.
            let place = self.by_user.entry((cpu_start, bytes));
            place.or_insert_with(|| Arc::clone(&entry.allocation));
        }
        self.by_start.insert(entry.allocation.start, entry);
    }

    /// What `address` lies in, as GPUs or as its user sees it, and its first byte for GPUs.
    fn around(&self, address: u64) -> Option<(u64, &Entry)> {
        let inside = |(start, entry): &(u64, &Entry)| address - start < entry.facts.bytes;
        if let Some(found) = self.by_start.at_or_before(address).filter(inside) {
            return Some(found);
        }
        let first = (address.saturating_sub(self.largest_user), 0);
        let mut before = self.by_user.range(first..=(address, u64::MAX)).rev();
        let (_, found) = before.find(|((start, bytes), _)| address - start < *bytes)?;
        Some((found.start, self.by_start.get(found.start)?))
    }

    fn entry_of(&mut self, allocation: &Allocation) -> Option<&mut Entry> {
        self.by_start.get_mut(allocation.start).filter(|entry| std::ptr::eq(&*entry.allocation, allocation))
    }
}

/// Everything that is alive.
#[derive(Default)]
pub(super) struct Table(RwLock<Entries>);

impl Table {
    fn entries(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries_mut(&self) -> RwLockWriteGuard<'_, Entries> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, allocation: Allocation) -> Arc<Allocation> {
        let allocation = Arc::new(allocation);
        self.put_back(Entry::new(&allocation));
        allocation
    }

    /// Enters user memory; false when the same bytes are entered already.
    pub(super) fn insert_user(&self, allocation: &Arc<Allocation>) -> bool {
        let mut entries = self.entries_mut();
        let Facts { bytes, cpu_start, .. } = allocation.facts;
        let fresh = !entries.by_user.contains_key(&(cpu_start, bytes));
        if fresh {
            entries.enter(Entry::new(allocation));
        }
        fresh
    }

    /// Enters what was removed.
    pub(super) fn put_back(&self, entry: Entry) {
        self.entries_mut().enter(entry);
    }

    pub(super) fn remove(&self, allocation: &Allocation) -> Option<Entry> {
        let mut entries = self.entries_mut();
        let key = (allocation.facts.cpu_start, allocation.facts.bytes);
        if entries.by_user.get(&key).is_some_and(|known| std::ptr::eq(&**known, allocation)) {
            entries.by_user.remove(&key);
        }
        entries.by_start.remove(allocation.start)
    }

    /// What begins at `address`, as GPUs see it.
    pub(super) fn at(&self, address: u64) -> Option<Arc<Allocation>> {
        self.entries().by_start.get(address).map(|entry| Arc::clone(&entry.allocation))
    }

    /// User memory of at least `bytes` that begins at `address`, the largest.
    pub(super) fn user_at(&self, address: u64, bytes: u64) -> Option<Arc<Allocation>> {
        let entries = self.entries();
        entries.by_user.range((address, bytes)..=(address, u64::MAX)).next_back().map(|(_, found)| Arc::clone(found))
    }

    /// What begins at `address`: user memory as its user sees it, the largest, before anything as GPUs see it.
    pub(super) fn known_by(&self, address: u64) -> Option<Arc<Allocation>> {
        self.user_at(address, 0).or_else(|| self.at(address))
    }

    /// What `address` lies in, as GPUs or as its user sees it.
    pub(super) fn around(&self, address: u64) -> Option<Arc<Allocation>> {
        self.entries().around(address).map(|(_, entry)| Arc::clone(&entry.allocation))
    }

    /// What is told of the allocation that `address` lies in, to whoever sees the scene of that number. `make` makes
    /// lists of the devices that it is registered for and of those that may use it, where they have changed.
    pub(super) fn tell(
        &self,
        address: u64,
        scene: u64,
        make: impl FnOnce(&[Arc<dyn Device>], &[Arc<dyn Device>]) -> &'static Lists,
    ) -> Option<Answer> {
        let entries = self.entries();
        let (start, entry) = entries.around(address)?;
        if let Some(lists) = entry.told.filter(|_| entry.scene == scene) {
            return Some(entry.answer(start, lists));
        }
        drop(entries);
        let mut entries = self.entries_mut();
        let (start, _) = entries.around(address)?;
        let entry = entries.by_start.get_mut(start)?;
        let state = entry.allocation.state();
        let lists = make(state.registered.as_deref().unwrap_or_default(), &state.mapped);
        drop(state);
        (entry.told, entry.scene) = (Some(lists), scene);
        Some(entry.answer(start, lists))
    }

    /// What was told of the state of an allocation is no longer true.
    fn forget_told(&self, allocation: &Allocation) {
        if let Some(entry) = self.entries_mut().entry_of(allocation) {
            entry.told = None;
        }
    }

    /// Keeps a word of the user with an allocation; false when it is no longer alive.
    pub(super) fn set_user_data(&self, allocation: &Allocation, data: usize) -> bool {
        self.entries_mut().entry_of(allocation).map(|entry| entry.user_data = data).is_some()
    }

    /// The scratch area that `address` lies in.
    pub(super) fn scratch_around(&self, address: u64) -> Option<Arc<Allocation>> {
        self.around(address).filter(|found| found.buffer.is_scratch())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::nowhere::Nowhere;

    fn add(table: &Table, kind: Kind, gpu: u64, cpu: u64, bytes: u64) {
        let buffer = Arc::new(Nowhere { gpu, cpu, ..Nowhere::default() });
        table.insert(Allocation::new(kind, (0, None), bytes, HsaMemFlags(0), buffer));
    }

    #[test]
    fn every_address_inside_finds_its_allocation() {
        let table = Table::default();
        add(&table, Kind::Allocated, 0x1000, 0x1000, 0x1000);
        add(&table, Kind::Allocated, 0x2000, 0x2000, 0x3000);
        add(&table, Kind::User, 0x9123, 0x70123, 0x2000);
        let start = |address| table.around(address).map(|found| found.start);
        assert_eq!((start(0xfff), start(0x1000), start(0x1fff)), (None, Some(0x1000), Some(0x1000)));
        assert_eq!((start(0x4fff), start(0x5000)), (Some(0x2000), None));
        assert_eq!(
            (start(0x9122), start(0x9123), start(0xb122), start(0xb123)),
            (None, Some(0x9123), Some(0x9123), None)
        );
        assert_eq!(
            (start(0x70122), start(0x70123), start(0x72122), start(0x72123)),
            (None, Some(0x9123), Some(0x9123), None)
        );
    }

    #[test]
    fn overlapping_user_memory_is_told_apart() {
        let table = Table::default();
        add(&table, Kind::User, 0x10000, 0x1000, 0x8000);
        add(&table, Kind::User, 0x20000, 0x1000, 0x1000);
        add(&table, Kind::User, 0x30000, 0x4000, 0x1000);
        let at = |address, bytes| table.user_at(address, bytes).map(|found| found.start);
        assert_eq!((at(0x1000, 0x1000), at(0x1000, 0x8001), at(0x4000, 1)), (Some(0x10000), None, Some(0x30000)));
        assert_eq!(at(0x2000, 0), None, "only the first byte");
        // Inside the large one, behind a smaller one that ends before.
        assert_eq!(table.around(0x7fff).unwrap().start, 0x10000);
        table.remove(&table.user_at(0x1000, 0x8000).unwrap());
        assert_eq!(at(0x1000, 0), Some(0x20000));
        assert!(table.around(0x7fff).is_none() && table.around(0x10000).is_none());
    }

    #[test]
    fn of_two_threads_that_free_one_finds_nothing() {
        let table = Table::default();
        add(&table, Kind::Allocated, 0x1000, 0x1000, 0x1000);
        let free = || {
            let Some(found) = table.at(0x1000) else { return false };
            let Ok(turn) = found.turn() else { return false };
            std::thread::sleep(Duration::from_millis(2));
            turn.gone();
            table.remove(&found);
            true
        };
        let freed = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(free)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).filter(|done| *done).count()
        });
        assert_eq!(freed, 1);
    }
}
