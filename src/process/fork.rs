//! What a fork leaves of a session: numbers, and nothing else.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::platform::file::{Identity, Trace};
use crate::platform::os;

/// References held: taken in this process, and those that it inherited and owes back first (dxg.md 1.5).
#[derive(Debug)]
pub struct References {
    live: AtomicU32,
    inherited: AtomicU32,
}

impl References {
    /// None of either.
    pub const fn new() -> Self {
        Self { live: AtomicU32::new(0), inherited: AtomicU32::new(0) }
    }

    /// References taken in this process.
    pub fn live(&self) -> u32 {
        self.live.load(Ordering::Acquire)
    }

    /// Sets the references taken in this process; only the holder of the session's turn may.
    pub fn set_live(&self, count: u32) {
        self.live.store(count, Ordering::Release);
    }

    /// Turns the live references of the parent into inherited ones.
    pub fn inherit(&self) {
        self.inherited.fetch_add(self.live.swap(0, Ordering::AcqRel), Ordering::AcqRel);
    }

    /// Gives back one inherited reference, if there is any.
    pub fn give_back(&self) -> bool {
        let step = |count: u32| count.checked_sub(1);
        self.inherited.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).is_ok()
    }
}

impl Default for References {
    fn default() -> Self {
        Self::new()
    }
}

/// Keeps forks and the loading of libraries apart.
///
/// A thread that forks while another is inside `dlopen` or `dlclose` leaves a child in which the loader's own lock is
/// held for ever. Loading takes this gate, and so does the forking thread around the fork. A child never looks at
/// the gate of its parent: it hangs off the session, which the child abandons.
#[derive(Debug, Default)]
pub struct LoaderGate {
    holder: Mutex<Holder>,
    free: Condvar,
}

#[derive(Debug, Default)]
struct Holder {
    /// Kernel id of the thread, 0 for none.
    thread: i32,
    /// How often it took the gate: an initialiser that is being loaded may fork.
    times: u32,
}

/// How long a fork waits for a library that is being loaded before it goes ahead.
const FORK_PATIENCE: Duration = Duration::from_secs(5);

impl LoaderGate {
    fn holder(&self) -> MutexGuard<'_, Holder> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `load` while no fork is under way.
    pub fn load<T>(&self, load: impl FnOnce() -> T) -> T {
        struct Open<'a>(&'a LoaderGate);
        impl Drop for Open<'_> {
            fn drop(&mut self) {
                self.0.open();
            }
        }
        self.close();
        let _open = Open(self);
        load()
    }

    /// Takes the gate. After `FORK_PATIENCE` the caller goes on without it, since a wait without end would be worse
    /// than what the gate protects from.
    pub fn close(&self) {
        let me = os::tid();
        let foreign = |holder: &mut Holder| holder.thread != 0 && holder.thread != me;
        let waited = self.free.wait_timeout_while(self.holder(), FORK_PATIENCE, foreign);
        let (mut holder, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if !timeout.timed_out() {
            holder.thread = me;
            holder.times += 1;
        }
    }

    /// Gives the gate back once, if this thread holds it.
    pub fn open(&self) {
        let mut holder = self.holder();
        if holder.thread == os::tid() {
            holder.times -= 1;
            if holder.times == 0 {
                holder.thread = 0;
                self.free.notify_one();
            }
        }
    }
}

/// Files that are noted; a child leaves the rest of its parent's open. A process has one device file and at most 64
/// GPUs, each with a render node of its own (kfd-kernel.md section 6).
const MOST_FILES: usize = 80;

/// The device files that the parent had open, by number and by what they named; the child closes its copies.
///
/// Plain numbers of the process, as a child reads nothing of its parent's session.
#[derive(Debug)]
pub struct InheritedFiles {
    files: [Slot; MOST_FILES],
}

#[derive(Debug)]
struct Slot {
    /// -1 for none.
    fd: AtomicI32,
    device: AtomicU64,
    inode: AtomicU64,
}

impl InheritedFiles {
    /// None.
    pub const fn new() -> Self {
        Self {
            files: [const { Slot { fd: AtomicI32::new(-1), device: AtomicU64::new(0), inode: AtomicU64::new(0) } };
                MOST_FILES],
        }
    }

    /// Notes the files that a child would inherit now; only the holder of the session's turn may.
    pub fn set(&self, files: &[Trace]) {
        for (index, slot) in self.files.iter().enumerate() {
            // A fork in the middle of this finds no number, or one beside the identity that belongs to it.
            slot.fd.store(-1, Ordering::Release);
            if let Some(file) = files.get(index) {
                slot.device.store(file.identity.device, Ordering::Release);
                slot.inode.store(file.identity.inode, Ordering::Release);
                slot.fd.store(file.fd, Ordering::Release);
            }
        }
    }

    /// Takes the files, each once.
    pub fn take(&self) -> impl Iterator<Item = Trace> {
        self.files.iter().filter_map(|slot| {
            let fd = slot.fd.swap(-1, Ordering::AcqRel);
            let (device, inode) = (slot.device.load(Ordering::Acquire), slot.inode.load(Ordering::Acquire));
            (fd >= 0).then_some(Trace { fd, identity: Identity { device, inode } })
        })
    }
}

impl Default for InheritedFiles {
    fn default() -> Self {
        Self::new()
    }
}
