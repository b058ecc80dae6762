//! The session: the open platform, its devices and the snapshot that all users of the process share.

use std::os::fd::RawFd;
use std::sync::atomic::AtomicPtr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwapOption, Guard};

use super::fork::LoaderGate;
use super::settings::{self, Settings};
use super::{Error, Level, Process};
use crate::abi::{HsaSystemProperties, HsaVersionInfo, HsaWddmSurfaceMetadata};
use crate::events;
use crate::memory::{Memory, Scene, Stage};
use crate::platform::file::Trace;
use crate::platform::kfd::sysfs::Recall;
use crate::platform::{self, Device, Devices, Kept, Options, Platform, Request};
use crate::topology;
use crate::topology::cpu::Cpus;

/// What an open did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// The device was closed and is open now.
    First,
    /// The device was open; one more reference was taken.
    Again,
}

/// Everything that a process owns. Calls that change it take turns; others read the stage beside them.
#[derive(Default)]
pub struct Session {
    slot: Mutex<Slot>,
    settled: Condvar,
    /// What is open, for whoever reads without a turn; only the holder of the turn replaces it.
    stage: ArcSwapOption<Stage>,
    loader: LoaderGate,
    failure: Mutex<Option<String>>,
    pub(super) memory: Memory,
    pub(super) events: events::Table,
    /// What callers were told of surfaces, which they read whenever they like.
    surfaces: Mutex<Vec<&'static HsaWddmSurfaceMetadata>>,
    /// Capabilities of the runtime, while it is registered with debuggers.
    runtime: Mutex<Option<u32>>,
    /// The session of the process that this one was forked from; see [`Process`].
    _parent: AtomicPtr<Session>,
}

/// Where the state is.
#[derive(Default)]
struct Slot {
    /// Here while no thread has its turn.
    state: State,
    /// The thread whose turn it is, 0 for none.
    holder: usize,
    /// Threads that wait for theirs.
    waiting: usize,
}

/// What the calls of a session change.
#[derive(Default)]
struct State {
    settings: Settings,
    platform: Option<Arc<dyn Platform>>,
    /// Snapshots that were ever built.
    built: u64,
    /// What the kernel ties to this process: it outlives the last close, and the next open uses it again. A fork child
    /// abandons it with the session and gets its own.
    kept: Kept,
    /// What the last snapshot read of the kernel's tree.
    recall: Recall,
    /// What the last snapshot read of the CPUs of `settings.host`.
    cpus: Option<Box<Cpus>>,
    /// This process has opened before, so the files that are noted for fork children are its own.
    owns_files: bool,
}

impl State {
    /// Notes the files that a fork child would inherit from now on.
    fn note_files(&self, process: &Process) {
        let mut files = self.kept.files();
        files.extend(self.platform.iter().flat_map(|platform| platform.files()));
        process.inherited_files.set(&files);
    }
}

/// The right to change the session, held by one thread at a time; no lock is held meanwhile.
struct Turn<'a> {
    session: &'a Session,
    state: State,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut slot = self.session.slot();
        slot.state = std::mem::take(&mut self.state);
        slot.holder = 0;
        if slot.waiting != 0 {
            // All of them: one that finds its answer without a turn would wake nobody after itself.
            self.session.settled.notify_all();
        }
    }
}

/// What [`Session::decide`] came to.
enum Decided<'a, T> {
    /// Done, without a turn.
    Done(T),
    /// More is to be done.
    Turn(Turn<'a>),
}

/// How long a call waits for another that does not come back.
const TURN_PATIENCE: Duration = Duration::from_secs(60);

/// A number that no other living thread has.
fn thread_number() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

impl Session {
    /// A session of this process, which leaves that of its parent where it is.
    pub(super) fn after(parent: *mut Self) -> Self {
        Self { _parent: AtomicPtr::new(parent), ..Self::default() }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `quick` look at the state when no thread has its turn. What can be answered without a kernel call is
    /// answered there, under the lock; where it has no answer the caller gets its turn.
    fn decide<T>(&self, quick: impl FnOnce(&State) -> Result<Option<T>, Error>) -> Result<Decided<'_, T>, Error> {
        let me = thread_number();
        let mut slot = self.slot();
        if slot.holder != 0 && slot.holder != me {
            slot.waiting += 1;
            let held = |slot: &mut Slot| slot.holder != 0;
            let waited = self.settled.wait_timeout_while(slot, TURN_PATIENCE, held);
            (slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
            slot.waiting -= 1;
        }
        if slot.holder != 0 {
            // Still another thread's, or our own: an initialiser of libdxcore that calls back into the thunk.
            return Err(Error::Busy(TURN_PATIENCE.as_secs()));
        }
        if let Some(answer) = quick(&slot.state)? {
            return Ok(Decided::Done(answer));
        }
        slot.holder = me;
        Ok(Decided::Turn(Turn { session: self, state: std::mem::take(&mut slot.state) }))
    }

    /// [`Session::decide`] for what is always answered at once.
    fn look<T>(&self, quick: impl FnOnce(&State) -> Result<T, Error>) -> Result<T, Error> {
        match self.decide(|state| quick(state).map(Some))? {
            Decided::Done(answer) => Ok(answer),
            Decided::Turn(_) => Err(Error::NotOpened),
        }
    }

    /// Keeps the reason of a failure for whoever asks later.
    pub(super) fn noted<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.inspect_err(|error| *self.failure() = Some(error.to_string()))
    }

    /// The most recent failure of an open or acquire.
    pub(super) fn failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one copy of what is told of a kind of surface.
    /// `None` when there are more kinds than anybody uses.
    pub(super) fn surface(&self, wanted: HsaWddmSurfaceMetadata) -> Option<&'static HsaWddmSurfaceMetadata> {
        const MOST: usize = 1024;
        let mut known = self.surfaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|known| ***known == wanted) {
            return Some(found);
        }
        if known.len() >= MOST {
            return None;
        }
        let kept: &'static _ = Box::leak(Box::new(wanted));
        known.push(kept);
        Some(kept)
    }

    /// Capabilities of the registered runtime.
    pub(super) fn runtime(&self) -> MutexGuard<'_, Option<u32>> {
        self.runtime.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gate between forks and the loading of libraries.
    pub(super) fn loader(&self) -> &LoaderGate {
        &self.loader
    }

    /// What is open, if anything is; takes no lock. What it names stays for as long as the guard does.
    pub(super) fn stage(&self) -> Guard<Option<Arc<Stage>>> {
        self.stage.load()
    }

    pub(super) fn open(&self, process: &Process) -> Result<Opened, Error> {
        const NAME: &str = "hsaKmtOpenKFD";
        let decided = self.decide(|_| match process.opens.live() {
            0 => Ok(None),
            opens => {
                process.opens.set_live(opens.checked_add(1).ok_or(Error::TooManyReferences)?);
                Ok(Some(Opened::Again))
            }
        })?;
        let mut turn = match decided {
            Decided::Done(opened) => return Ok(opened),
            Decided::Turn(turn) => turn,
        };
        let settings = Settings::read();
        process.log.set_threshold(settings.log_threshold);
        for remark in &settings.remarks {
            process.log.line(Level::Warning, NAME, format_args!("{remark}"));
        }
        if !turn.state.owns_files {
            // What is noted was the parent's until this process opens for the first time.
            process.inherited_files.take().for_each(Trace::close_inherited);
            turn.state.owns_files = true;
        }
        let request = Request {
            host: &settings.host,
            choice: settings.platform,
            embedded: process.embedded.get().copied(),
            provider: settings.kmd_provider.as_deref(),
        };
        let opened = self.loader.load(|| platform::open(&request, &mut turn.state.kept)).map_err(Error::Open)?;
        for remark in &opened.remarks {
            process.log.line(Level::Warning, NAME, format_args!("{remark}"));
        }
        self.memory.begin();
        self.stage.store(Some(Arc::new(Stage { platform: Arc::clone(&opened.platform), scene: None })));
        turn.state.platform = Some(opened.platform);
        turn.state.note_files(process);
        if turn.state.settings.host != settings.host {
            turn.state.cpus = None;
        }
        turn.state.settings = settings;
        process.register_handlers();
        process.opens.set_live(1);
        Ok(Opened::First)
    }

    pub(super) fn close(&self, process: &Process) -> Result<(), Error> {
        if process.opens.give_back() {
            return Ok(());
        }
        let decided = self.decide(|_| match process.opens.live() {
            0 => Err(Error::NotOpened),
            1 => Ok(None),
            opens => {
                process.opens.set_live(opens - 1);
                Ok(Some(()))
            }
        })?;
        let Decided::Turn(mut turn) = decided else { return Ok(()) };
        let left = process.snapshots.live();
        if left != 0 {
            let text = format_args!("the last close drops a snapshot with {left} references");
            process.log.line(Level::Warning, "hsaKmtCloseKFD", text);
        }
        let closed = self.drop_snapshot(process, &mut turn.state);
        // The device file and libdxcore; what still uses a device keeps the library loaded.
        let open = (turn.state.platform.take(), self.stage.swap(None));
        self.loader.load(|| drop(open));
        turn.state.note_files(process);
        process.opens.set_live(0);
        closed.map_err(Error::Close)
    }

    pub(super) fn acquire(&self, process: &Process) -> Result<HsaSystemProperties, Error> {
        const NAME: &str = "hsaKmtAcquireSystemProperties";
        let decided = self.decide(|state| {
            if state.platform.is_none() {
                return Err(Error::NotOpened);
            }
            let stage = self.stage();
            let Some(scene) = stage.as_ref().and_then(|stage| stage.scene.as_ref()) else { return Ok(None) };
            let references = process.snapshots.live().checked_add(1).ok_or(Error::TooManyReferences)?;
            process.snapshots.set_live(references);
            Ok(Some(scene.snapshot.system))
        })?;
        let mut turn = match decided {
            Decided::Done(system) => return Ok(system),
            Decided::Turn(turn) => turn,
        };
        let platform = turn.state.platform.clone().ok_or(Error::NotOpened)?;
        let mut remarks = Vec::new();
        let options = Options { recall: turn.state.recall.clone(), ..settings::snapshot_options(&mut remarks)? };
        let earlier = turn.state.cpus.take().map(|cpus| *cpus);
        let built = topology::build(&*platform, &turn.state.settings.host, &options, earlier);
        turn.state.note_files(process);
        let built = built?;
        for remark in remarks.iter().chain(&built.snapshot.remarks) {
            process.log.line(Level::Warning, NAME, format_args!("{remark}"));
        }
        for skipped in &built.snapshot.skipped {
            let level = if skipped.expected { Level::Warning } else { Level::Info };
            process.log.line(level, NAME, format_args!("{} is skipped: {}", skipped.what, skipped.reason));
        }
        let system = built.snapshot.system;
        turn.state.cpus = Some(Box::new(built.cpus));
        turn.state.built += 1;
        let (number, snapshot, devices) = (turn.state.built, built.snapshot, Arc::new(built.devices));
        let scene = Some(Scene { number, platform: Arc::clone(&platform), snapshot, devices });
        self.stage.store(Some(Arc::new(Stage { platform, scene })));
        process.snapshots.set_live(1);
        Ok(system)
    }

    pub(super) fn release(&self, process: &Process) -> Result<(), Error> {
        if process.snapshots.give_back() {
            return Ok(());
        }
        let decided = self.decide(|state| {
            process.require_open()?;
            let lenient = state.platform.as_ref().is_some_and(|platform| platform.allows_spare_releases());
            match process.snapshots.live() {
                0 if lenient => Ok(Some(())),
                0 => Err(Error::NoReference),
                1 => Ok(None),
                references => {
                    process.snapshots.set_live(references - 1);
                    Ok(Some(()))
                }
            }
        })?;
        let Decided::Turn(mut turn) = decided else { return Ok(()) };
        if let Err(error) = self.drop_snapshot(process, &mut turn.state) {
            // The reference is given back all the same, which is what the status speaks of.
            let text = format_args!("not closed cleanly: {error}");
            process.log.line(Level::Error, "hsaKmtReleaseSystemProperties", text);
        }
        Ok(())
    }

    /// Drops the snapshot and closes every device that nothing else uses; returns the first error after the last one.
    fn drop_snapshot(&self, process: &Process, state: &mut State) -> Result<(), platform::Error> {
        process.snapshots.set_live(0);
        let bare = |platform: &Arc<dyn Platform>| Arc::new(Stage { platform: Arc::clone(platform), scene: None });
        let old = self.stage.swap(state.platform.as_ref().map(bare));
        let mut result = Ok(());
        // Nothing that is only kept for later keeps a device open.
        self.memory.trim();
        if let Some(platform) = &state.platform {
            platform.forget_devices();
        }
        // A call that looks at the scene just now lets its devices go when it is done with it.
        let scene = old.and_then(Arc::into_inner).and_then(|stage| stage.scene);
        let devices = scene.and_then(|scene| Arc::into_inner(scene.devices)).unwrap_or_default();
        for device in devices.into_values() {
            // Only this list hands out references, so a count of one cannot rise here.
            if Arc::strong_count(&device) == 1 {
                result = result.and(device.close());
            }
        }
        result
    }

    pub(super) fn kernel_interface(&self) -> Result<HsaVersionInfo, Error> {
        self.look(|state| Ok(state.platform.as_ref().ok_or(Error::NotOpened)?.kernel_interface()))
    }

    pub(super) fn platform_name(&self) -> Result<&'static str, Error> {
        self.look(|state| Ok(state.platform.as_ref().ok_or(Error::NotOpened)?.name()))
    }

    pub(super) fn device_file(&self) -> Option<RawFd> {
        self.look(|state| Ok(state.platform.as_ref().and_then(|platform| platform.probe_fd()))).ok().flatten()
    }

    pub(super) fn device(&self, node: u32) -> Result<Arc<dyn Device>, Error> {
        self.look(|_| {
            let stage = self.stage();
            let scene = stage.as_ref().ok_or(Error::NotOpened)?.scene.as_ref().ok_or(Error::NoSnapshot)?;
            scene.snapshot.node(node)?;
            scene.devices.get(&node).cloned().ok_or(Error::NotGpu(node))
        })
    }

    /// The open platform.
    pub(super) fn platform(&self) -> Result<Arc<dyn Platform>, Error> {
        Ok(Arc::clone(&self.stage().as_ref().ok_or(Error::NotOpened)?.platform))
    }

    /// The open devices, none without a snapshot.
    pub(super) fn devices(&self) -> Result<Arc<Devices>, Error> {
        self.look(|_| {
            let stage = self.stage();
            let scene = stage.as_ref().and_then(|stage| stage.scene.as_ref());
            Ok(scene.map(|scene| Arc::clone(&scene.devices)).unwrap_or_default())
        })
    }

    pub(super) fn debug_support(&self) -> Result<bool, Error> {
        let (platform, devices) = (self.platform()?, self.devices()?);
        let devices: Vec<_> = devices.values().cloned().collect();
        Ok(!devices.is_empty() && platform.debug_support(&devices)?)
    }
}
