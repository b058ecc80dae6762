//! What a fork leaves of a session: numbers, and nothing else.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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

/// The device file that the parent had open, by number; the child closes its copy.
#[derive(Debug)]
pub struct InheritedFile {
    fd: AtomicI32,
}

impl InheritedFile {
    /// None.
    pub const fn new() -> Self {
        Self { fd: AtomicI32::new(-1) }
    }

    /// Notes the file that a child would inherit now.
    pub fn set(&self, fd: Option<i32>) {
        self.fd.store(fd.unwrap_or(-1), Ordering::Release);
    }

    /// Takes the number, once.
    pub fn take(&self) -> Option<i32> {
        Some(self.fd.swap(-1, Ordering::AcqRel)).filter(|&fd| fd >= 0)
    }
}

impl Default for InheritedFile {
    fn default() -> Self {
        Self::new()
    }
}
