//! What is true of this process: who has the device open, which snapshot they share, what a fork left behind.
//!
//! [`Process`] is the one static of the library. It holds plain numbers and the pointer to the [`Session`], to which
//! everything else belongs; in a fork child that pointer is dropped unread. This room reads the environment, writes
//! the log and registers fork handlers. It may call `topology`, `memory`, `events`, `platform`
//! and `abi`.
//!
//! Locks are those of the standard library: each is one futex word, so a fork cannot leave a process-wide table of
//! parked threads locked. None is held across a kernel call.

mod error;
mod fork;
mod generations;
mod log;
mod session;
mod settings;

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;

pub use error::Error;
pub use log::Level;
pub use session::{Opened, Session};

use self::fork::{InheritedFiles, References};
use self::generations::Generations;
use self::log::Log;
use crate::abi::generation::Generation;
use crate::abi::{HsaStructureSizes, HsaSystemProperties, HsaVersionInfo, HsaWddmSurfaceMetadata};
use crate::events;
use crate::memory::{Memory, Scene, Stage};
use crate::platform::caller::Module;
use crate::platform::dxg::dxcore::Lookup;
use crate::platform::os::{Claim, ForkMark};
use crate::platform::{Device, Devices, Platform, os};
use crate::topology::Snapshot;

/// The state of the process. See the page of this room.
pub struct Process {
    session: ArcSwapOption<Session>,
    mark: ForkMark,
    opens: References,
    snapshots: References,
    inherited_files: InheritedFiles,
    /// The parent's session, never read: kept so that leak checkers find it reachable.
    abandoned: AtomicPtr<Session>,
    /// The fork handlers are registered. No `OnceLock`: a fork in the middle of one would leave the child waiting.
    handlers: AtomicBool,
    embedded: OnceLock<Lookup>,
    generations: Generations,
    log: Log,
}

static PROCESS: Process = Process {
    session: ArcSwapOption::const_empty(),
    mark: ForkMark::new(),
    opens: References::new(),
    snapshots: References::new(),
    inherited_files: InheritedFiles::new(),
    abandoned: AtomicPtr::new(std::ptr::null_mut()),
    handlers: AtomicBool::new(false),
    embedded: OnceLock::new(),
    generations: Generations::new(),
    log: Log::new(),
};

impl Process {
    /// The state of this process, after whatever a fork left of its parent's has been set aside.
    fn current() -> &'static Self {
        if !PROCESS.mark.is_current() {
            PROCESS.take_over();
        }
        &PROCESS
    }

    /// Makes this process the owner: the parent's references become inherited ones, its session is leaked unread.
    fn take_over(&self) {
        if self.mark.claim() == Claim::TakeOver {
            self.opens.inherit();
            self.snapshots.inherit();
            if let Some(session) = self.session.swap(None) {
                self.abandoned.store(Arc::into_raw(session).cast_mut(), Ordering::Release);
            }
            self.mark.settle();
        }
    }

    fn session(&self) -> Arc<Session> {
        if let Some(session) = self.session.load_full() {
            return session;
        }
        self.log.set_threshold(settings::log_threshold());
        let parent = self.abandoned.load(Ordering::Acquire);
        let session = |known: &Option<Arc<Session>>| known.clone().unwrap_or_else(|| Arc::new(Session::after(parent)));
        self.session.rcu(|known| Some(session(known)));
        // It is only ever taken away in a child, by `take_over`.
        session(&self.session.load_full())
    }

    fn is_open(&self) -> bool {
        self.opens.live() != 0
    }

    fn require_open(&self) -> Result<(), Error> {
        if self.is_open() { Ok(()) } else { Err(Error::NotOpened) }
    }

    /// Registers the fork handlers, once. Without them a fork would still be noticed, by the mark.
    fn register_handlers(&self) {
        if !self.handlers.swap(true, Ordering::AcqRel) {
            let registered = os::at_fork(prepare_fork, parent_of_fork, child_of_fork);
            self.handlers.store(registered, Ordering::Release);
        }
    }
}

extern "C" fn prepare_fork() {
    if let Some(session) = PROCESS.session.load_full() {
        session.loader().close();
    }
}

extern "C" fn parent_of_fork() {
    if let Some(session) = PROCESS.session.load_full() {
        session.loader().open();
    }
}

extern "C" fn child_of_fork() {
    Process::current();
}

/// Writes one line to the log.
pub fn log(level: Level, function: &str, text: std::fmt::Arguments<'_>) {
    let process = Process::current();
    // The first session reads the threshold.
    process.session();
    process.log.line(level, function, text);
}

/// Makes the program's own libdxcore the one to use, instead of the machine's. Returns false if one was set before.
///
/// For tools that emulate a WSL machine inside their own process; takes effect at the next first open.
pub fn embed_dxcore(lookup: Lookup) -> bool {
    PROCESS.embedded.set(lookup).is_ok()
}

/// The layouts that the calling module was built with; `module` finds it out.
pub fn generation(module: impl FnOnce() -> Option<Module>) -> Generation {
    PROCESS.generations.of(module)
}

/// Serves the calls of `module` with the structure sizes that it announces, from now on.
pub fn announce(module: Option<Module>, sizes: &HsaStructureSizes) -> Result<(), Error> {
    PROCESS.generations.announce(module, sizes).map_err(Error::Mismatch)
}

/// Fails unless the device is open in this process (dxg.md 0, "open gate").
pub fn require_open() -> Result<(), Error> {
    Process::current().require_open()
}

/// Opens the device, or takes one more reference on it (dxg.md 1.2).
pub fn open() -> Result<Opened, Error> {
    let process = Process::current();
    let session = process.session();
    session.noted(session.open(process))
}

/// Why the most recent open or acquire failed that did, in words.
pub fn last_failure() -> Option<String> {
    Process::current().session().failure().clone()
}

/// Short name of the open platform: "dxg" or "kfd".
pub fn platform_name() -> Result<&'static str, Error> {
    Process::current().session().platform_name()
}

/// Gives back one open; the last one tears everything down (dxg.md 1.3).
pub fn close() -> Result<(), Error> {
    let process = Process::current();
    process.session().close(process)
}

/// Takes one reference on the snapshot, building it if there is none (dxg.md 2.1).
pub fn acquire() -> Result<HsaSystemProperties, Error> {
    let process = Process::current();
    let session = process.session();
    session.noted(session.acquire(process))
}

/// Gives back one reference on the snapshot (dxg.md 2.1).
pub fn release() -> Result<(), Error> {
    let process = Process::current();
    process.session().release(process)
}

/// Version of the kernel interface.
pub fn kernel_interface() -> Result<HsaVersionInfo, Error> {
    Process::current().session().kernel_interface()
}

/// Runs `read` on the live snapshot, without taking a lock.
pub fn with_snapshot<T>(read: impl FnOnce(&Snapshot) -> Result<T, Error>) -> Result<T, Error> {
    let process = Process::current();
    process.require_open()?;
    let session = process.session.load();
    let stage = session.as_ref().ok_or(Error::NotOpened)?.stage();
    let scene = stage.as_ref().and_then(|stage| stage.scene.as_ref());
    read(&scene.ok_or(Error::NoSnapshot)?.snapshot)
}

/// The open device of a GPU node: it stays open for as long as the caller keeps it.
pub fn device(node: u32) -> Result<Arc<dyn Device>, Error> {
    Process::current().session().device(node)
}

/// The open platform.
pub fn platform() -> Result<Arc<dyn Platform>, Error> {
    let process = Process::current();
    process.require_open()?;
    process.session().platform()
}

/// Runs `work` on the memory of this process, and on what is open. Takes no lock; what is open stays until `work` is
/// done.
pub fn with_memory<T>(work: impl FnOnce(&Memory, &Stage) -> Result<T, Error>) -> Result<T, Error> {
    let process = Process::current();
    process.require_open()?;
    let session = process.session.load();
    let session = session.as_ref().ok_or(Error::NotOpened)?;
    let stage = session.stage();
    work(&session.memory, stage.as_ref().ok_or(Error::NotOpened)?)
}

/// [`with_memory`] for what needs a snapshot as well.
pub fn with_scene<T>(work: impl FnOnce(&Memory, &Scene) -> Result<T, Error>) -> Result<T, Error> {
    with_memory(|memory, stage| work(memory, stage.scene.as_ref().ok_or(Error::NoSnapshot)?))
}

/// Runs `work` on the events of this process.
pub fn with_events<T>(work: impl FnOnce(&events::Table) -> Result<T, Error>) -> Result<T, Error> {
    let process = Process::current();
    process.require_open()?;
    work(&process.session().events)
}

/// The open devices by node; none without a snapshot.
pub fn devices() -> Result<Arc<Devices>, Error> {
    let process = Process::current();
    process.require_open()?;
    process.session().devices()
}

/// The one copy of what callers are told of a kind of surface; `None` when there are more kinds than anybody uses.
pub fn surface(wanted: HsaWddmSurfaceMetadata) -> Option<&'static HsaWddmSurfaceMetadata> {
    Process::current().session().surface(wanted)
}

/// The device of libdrm behind a GPU node, as an address.
pub fn drm_handle(node: u32) -> Result<usize, Error> {
    let session = Process::current().session();
    let device = session.device(node)?;
    // It may load the library.
    Ok(session.loader().load(|| device.drm_handle())?)
}

/// Number of the device file that is open in this process, if there is one.
pub fn device_file() -> Option<RawFd> {
    Process::current().session().device_file()
}

/// Whether every GPU can be debugged; takes no reference (dxg.md 4.3).
///
/// On bare metal runtimes ask before their first snapshot (kfd.md 5.5), so one is taken for the answer.
pub fn debug_support() -> Result<bool, Error> {
    let process = Process::current();
    let session = process.session();
    let has_snapshot = session.stage().as_ref().is_some_and(|stage| stage.scene.is_some());
    if has_snapshot || session.platform_name()? != "kfd" {
        return session.debug_support();
    }
    session.acquire(process)?;
    let answer = session.debug_support();
    session.release(process)?;
    answer
}

/// Registers the runtime of this process with debuggers.
pub fn enable_runtime(r_debug: u64, ttmp: bool) -> Result<(), Error> {
    let session = Process::current().session();
    let capabilities = session.platform()?.enable_runtime(r_debug, ttmp)?;
    *session.runtime() = Some(capabilities);
    Ok(())
}

/// Ends that, where it was done in this process.
pub fn disable_runtime() -> Result<(), Error> {
    let session = Process::current().session();
    let Some(capabilities) = session.runtime().take() else { return Ok(()) };
    let ended = session.platform().and_then(|platform| Ok(platform.disable_runtime()?));
    if ended.is_err() {
        *session.runtime() = Some(capabilities);
    }
    ended
}

/// What registering gave, 0 before it.
pub fn runtime_capabilities() -> u32 {
    Process::current().session().runtime().unwrap_or(0)
}
