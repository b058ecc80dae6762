//! What is alive: found by any address inside it in O(log n), without a kernel call under the lock.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Error;
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

/// One allocation or registration.
pub(super) struct Allocation {
    kind: Kind,
    /// Node that it was wanted from.
    node: u32,
    /// Node of the GPU whose memory it is.
    owner: Option<u32>,
    bytes: u64,
    flags: HsaMemFlags,
    buffer: Arc<dyn Buffer>,
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Default)]
struct State {
    /// A call that changes it is under way.
    busy: bool,
    /// It is freed.
    gone: bool,
    registered: Option<Devices>,
    registrations: u32,
    mapped: Devices,
    maps: u32,
    /// Parts of it at which memory without a place is mapped.
    guests: u32,
    user_data: usize,
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
        Self { kind, node, owner, bytes, flags, buffer, state, settled: Condvar::new() }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn node(&self) -> u32 {
        self.node
    }

    pub(super) fn owner(&self) -> Option<u32> {
        self.owner
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn flags(&self) -> HsaMemFlags {
        self.flags
    }

    pub(super) fn buffer(&self) -> &dyn Buffer {
        &*self.buffer
    }

    fn start(&self) -> u64 {
        self.buffer.address()
    }

    /// Where the user knows user memory by.
    fn user_start(&self) -> u64 {
        self.buffer.cpu_address()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to change it, held by one thread at a time; no lock is held meanwhile.
    pub(super) fn turn(&self) -> Result<Turn<'_>, Error> {
        let waited = self.settled.wait_timeout_while(self.state(), PATIENCE, |state| state.busy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.busy {
            return Err(Error::Busy { address: self.start(), seconds: PATIENCE.as_secs() });
        }
        if state.gone {
            return Err(Error::NotRegistered(self.start()));
        }
        state.busy = true;
        Ok(Turn(self))
    }

    /// Devices that it is registered for, those that may use it, and the word of its user.
    pub(super) fn told(&self) -> (Devices, Devices, usize) {
        let state = self.state();
        (state.registered.clone().unwrap_or_default(), state.mapped.clone(), state.user_data)
    }

    pub(super) fn set_user_data(&self, data: usize) {
        self.state().user_data = data;
    }
}

/// See [`Allocation::turn`].
pub(super) struct Turn<'a>(&'a Allocation);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state().busy = false;
        // All of them: one that finds it gone would wake nobody after itself.
        self.0.settled.notify_all();
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
    pub(super) fn register_for(&self, devices: Devices) -> Result<(), Error> {
        let mut state = self.state();
        match &state.registered {
            Some(known) if !same(known, &devices) => Err(Error::AlreadyRegistered(self.0.start())),
            _ => {
                state.registered = Some(devices);
                Ok(())
            }
        }
    }

    /// Counts one more registration of the same memory, unless it is for other devices.
    pub(super) fn register_again(&self, devices: Option<Devices>) -> Result<(), Error> {
        if let Some(devices) = devices {
            self.register_for(devices)?;
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
    pub(super) fn forget_nodes(&self) -> Result<(), Error> {
        self.state().registered.take().map(|_| ()).ok_or(Error::NotRegistered(self.0.start()))
    }

    pub(super) fn mapped(&self) -> Devices {
        self.state().mapped.clone()
    }

    pub(super) fn add_mapped(&self, devices: Devices) {
        self.state().mapped.extend(devices);
    }

    pub(super) fn remove_mapped(&self, devices: &[Arc<dyn Device>]) {
        self.state().mapped.retain(|known| devices.iter().all(|device| device.id() != known.id()));
    }

    /// Other memory is mapped at some of its addresses.
    pub(super) fn has_guests(&self) -> bool {
        self.state().guests != 0
    }

    /// Counts one more guest, or one less.
    pub(super) fn count_guest(&self, comes: bool) {
        let mut state = self.state();
        state.guests = if comes { state.guests.saturating_add(1) } else { state.guests.saturating_sub(1) };
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

#[derive(Default)]
struct Entries {
    /// By first GPU address; they never overlap.
    by_start: BTreeMap<u64, Arc<Allocation>>,
    /// User memory by its own first byte and size; it may overlap.
    by_user: BTreeMap<(u64, u64), Arc<Allocation>>,
    /// Bytes of the largest user memory that there ever was.
    largest_user: u64,
}

impl Entries {
    fn enter(&mut self, allocation: &Arc<Allocation>) {
        if allocation.kind == Kind::User {
            self.largest_user = self.largest_user.max(allocation.bytes);
            // What came there while this one was not entered stays; this one is known by its other address.
            let place = self.by_user.entry((allocation.user_start(), allocation.bytes));
            place.or_insert_with(|| Arc::clone(allocation));
        }
        self.by_start.insert(allocation.start(), Arc::clone(allocation));
    }
}

/// Everything that is alive.
#[derive(Default)]
pub(super) struct Table(Mutex<Entries>);

impl Table {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, allocation: Allocation) -> Arc<Allocation> {
        let allocation = Arc::new(allocation);
        self.put_back(&allocation);
        allocation
    }

    /// Enters user memory; false when the same bytes are entered already.
    pub(super) fn insert_user(&self, allocation: &Arc<Allocation>) -> bool {
        let mut entries = self.entries();
        let fresh = !entries.by_user.contains_key(&(allocation.user_start(), allocation.bytes));
        if fresh {
            entries.enter(allocation);
        }
        fresh
    }

    /// Enters what was removed.
    pub(super) fn put_back(&self, allocation: &Arc<Allocation>) {
        self.entries().enter(allocation);
    }

    pub(super) fn remove(&self, allocation: &Allocation) {
        let mut entries = self.entries();
        entries.by_start.remove(&allocation.start());
        let key = (allocation.user_start(), allocation.bytes);
        if entries.by_user.get(&key).is_some_and(|known| std::ptr::eq(&**known, allocation)) {
            entries.by_user.remove(&key);
        }
    }

    /// What begins at `address`, as GPUs see it.
    pub(super) fn at(&self, address: u64) -> Option<Arc<Allocation>> {
        self.entries().by_start.get(&address).cloned()
    }

    /// User memory of at least `bytes` that begins at `address`, the largest.
    pub(super) fn user_at(&self, address: u64, bytes: u64) -> Option<Arc<Allocation>> {
        let entries = self.entries();
        entries.by_user.range((address, bytes)..=(address, u64::MAX)).next_back().map(|(_, found)| Arc::clone(found))
    }

    /// What `address` lies in, as GPUs or as its user sees it.
    pub(super) fn around(&self, address: u64) -> Option<Arc<Allocation>> {
        let entries = self.entries();
        if let Some((start, found)) = entries.by_start.range(..=address).next_back()
            && address - start < found.bytes
        {
            return Some(Arc::clone(found));
        }
        let first = (address.saturating_sub(entries.largest_user), 0);
        let mut before = entries.by_user.range(first..=(address, u64::MAX)).rev();
        before.find(|((start, bytes), _)| address - start < *bytes).map(|(_, found)| Arc::clone(found))
    }

    /// The scratch area that `address` lies in.
    pub(super) fn scratch_around(&self, address: u64) -> Option<Arc<Allocation>> {
        self.around(address).filter(|found| found.buffer.is_scratch())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform;

    /// Memory that is nowhere.
    struct Nowhere(u64, u64);

    impl Buffer for Nowhere {
        fn address(&self) -> u64 {
            self.0
        }
        fn cpu_address(&self) -> u64 {
            self.1
        }
        fn is_mappable(&self) -> bool {
            true
        }
        fn map(&self, _: &[Arc<dyn Device>]) -> Result<(), platform::Error> {
            Ok(())
        }
        fn unmap(&self, _: &[Arc<dyn Device>]) -> Result<(), platform::Error> {
            Ok(())
        }
        fn free(&self) -> Result<(), platform::Error> {
            Ok(())
        }
    }

    fn add(table: &Table, kind: Kind, gpu: u64, cpu: u64, bytes: u64) {
        let buffer = Arc::new(Nowhere(gpu, cpu));
        table.insert(Allocation::new(kind, (0, None), bytes, HsaMemFlags(0), buffer));
    }

    #[test]
    fn every_address_inside_finds_its_allocation() {
        let table = Table::default();
        add(&table, Kind::Allocated, 0x1000, 0x1000, 0x1000);
        add(&table, Kind::Allocated, 0x2000, 0x2000, 0x3000);
        add(&table, Kind::User, 0x9123, 0x70123, 0x2000);
        let start = |address| table.around(address).map(|found| found.start());
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
        let at = |address, bytes| table.user_at(address, bytes).map(|found| found.start());
        assert_eq!((at(0x1000, 0x1000), at(0x1000, 0x8001), at(0x4000, 1)), (Some(0x10000), None, Some(0x30000)));
        assert_eq!(at(0x2000, 0), None, "only the first byte");
        // Inside the large one, behind a smaller one that ends before.
        assert_eq!(table.around(0x7fff).unwrap().start(), 0x10000);
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
