//! The session: the open platform, its devices and the snapshot that all users of the process share.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwapOption, Guard};

use super::fork::LoaderGate;
use super::settings::{self, Settings};
use super::{Error, Level, Process};
use crate::abi::{HsaSystemProperties, HsaVersionInfo};
use crate::platform::dxg::{self, Dxg};
use crate::platform::{self, Device, Platform, os};
use crate::topology::{self, Snapshot};

/// What an open did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// The device was closed and is open now.
    First,
    /// The device was open; one more reference was taken.
    Again,
}

/// Everything that a process owns. Calls that change it take turns; getters read the snapshot beside them.
#[derive(Default)]
pub struct Session {
    slot: Mutex<Slot>,
    settled: Condvar,
    snapshot: ArcSwapOption<Snapshot>,
    loader: LoaderGate,
    failure: Mutex<Option<String>>,
}

/// Where the state is.
enum Slot {
    Idle(State),
    /// With the thread of this kernel id.
    Busy(i32),
}

impl Default for Slot {
    fn default() -> Self {
        Self::Idle(State::default())
    }
}

/// What the calls of a session change.
#[derive(Default)]
struct State {
    settings: Settings,
    platform: Option<Arc<dyn Platform>>,
    devices: BTreeMap<u32, Arc<dyn Device>>,
}

/// The right to change the session, held by one thread at a time; no lock is held meanwhile.
struct Turn<'a> {
    session: &'a Session,
    state: State,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.session.slot() = Slot::Idle(std::mem::take(&mut self.state));
        self.session.settled.notify_one();
    }
}

/// How long a call waits for another that does not come back.
const TURN_PATIENCE: Duration = Duration::from_secs(60);

impl Session {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> Result<Turn<'_>, Error> {
        let me = os::tid();
        let foreign = |slot: &mut Slot| matches!(slot, Slot::Busy(thread) if *thread != me);
        let waited = self.settled.wait_timeout_while(self.slot(), TURN_PATIENCE, foreign);
        let (mut slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, Slot::Busy(me)) {
            Slot::Idle(state) => Ok(Turn { session: self, state }),
            // Still another thread's, or our own: an initialiser of libdxcore that calls back into the thunk.
            busy @ Slot::Busy(_) => {
                *slot = busy;
                Err(Error::Busy(TURN_PATIENCE.as_secs()))
            }
        }
    }

    /// Why the last first open of this session failed.
    pub(super) fn failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gate between forks and the loading of libraries.
    pub(super) fn loader(&self) -> &LoaderGate {
        &self.loader
    }

    /// The live snapshot, if there is one; takes no lock.
    pub(super) fn snapshot(&self) -> Guard<Option<Arc<Snapshot>>> {
        self.snapshot.load()
    }

    pub(super) fn open(&self, process: &Process) -> Result<Opened, Error> {
        const NAME: &str = "hsaKmtOpenKFD";
        let mut turn = self.turn()?;
        let opens = process.opens.live();
        if opens != 0 {
            process.opens.set_live(opens.checked_add(1).ok_or(Error::TooManyReferences)?);
            return Ok(Opened::Again);
        }
        let settings = Settings::read();
        process.log.set_threshold(settings.log_threshold);
        for remark in &settings.remarks {
            process.log.line(Level::Warning, NAME, format_args!("{remark}"));
        }
        if let Some(fd) = process.inherited_file.take() {
            dxg::close_inherited(&settings.host, fd);
        }
        let embedded = process.embedded.get().copied();
        let platform = self.loader.load(|| Dxg::open(&settings.host, embedded, settings.kmd_provider.as_deref()));
        let platform = platform.map_err(|error| Error::Open(error.into())).inspect_err(|error| {
            *self.failure() = Some(error.to_string());
        })?;
        process.inherited_file.set(platform.probe_fd());
        turn.state.platform = Some(Arc::new(platform));
        turn.state.settings = settings;
        *self.failure() = None;
        process.register_handlers();
        process.opens.set_live(1);
        Ok(Opened::First)
    }

    pub(super) fn close(&self, process: &Process) -> Result<(), Error> {
        if process.opens.give_back() {
            return Ok(());
        }
        let mut turn = self.turn()?;
        match process.opens.live() {
            0 => return Err(Error::NotOpened),
            1 => {}
            opens => {
                process.opens.set_live(opens - 1);
                return Ok(());
            }
        }
        let left = process.snapshots.live();
        if left != 0 {
            let text = format_args!("the last close drops a snapshot with {left} references");
            process.log.line(Level::Warning, "hsaKmtCloseKFD", text);
        }
        let closed = self.drop_snapshot(process, &mut turn.state);
        // The device file and libdxcore; what still uses a device keeps the library loaded.
        let platform = turn.state.platform.take();
        self.loader.load(|| drop(platform));
        process.inherited_file.set(None);
        process.opens.set_live(0);
        closed.map_err(Error::Close)
    }

    pub(super) fn acquire(&self, process: &Process) -> Result<HsaSystemProperties, Error> {
        const NAME: &str = "hsaKmtAcquireSystemProperties";
        let mut turn = self.turn()?;
        let platform = turn.state.platform.clone().ok_or(Error::NotOpened)?;
        if let Some(snapshot) = self.snapshot.load_full() {
            let references = process.snapshots.live().checked_add(1).ok_or(Error::TooManyReferences)?;
            process.snapshots.set_live(references);
            return Ok(snapshot.system);
        }
        let mut remarks = Vec::new();
        let options = settings::snapshot_options(&mut remarks)?;
        let built = topology::build(&*platform, &turn.state.settings.host, &options)?;
        for remark in remarks.iter().chain(&built.snapshot.remarks) {
            process.log.line(Level::Warning, NAME, format_args!("{remark}"));
        }
        for skipped in &built.snapshot.skipped {
            let level = if skipped.expected { Level::Warning } else { Level::Info };
            process.log.line(level, NAME, format_args!("{} is skipped: {}", skipped.what, skipped.reason));
        }
        let system = built.snapshot.system;
        turn.state.devices = built.devices;
        self.snapshot.store(Some(Arc::new(built.snapshot)));
        process.snapshots.set_live(1);
        Ok(system)
    }

    pub(super) fn release(&self, process: &Process) -> Result<(), Error> {
        if process.snapshots.give_back() {
            return Ok(());
        }
        let mut turn = self.turn()?;
        process.require_open()?;
        match process.snapshots.live() {
            0 => return Err(Error::NoReference),
            1 => {}
            references => {
                process.snapshots.set_live(references - 1);
                return Ok(());
            }
        }
        if let Err(error) = self.drop_snapshot(process, &mut turn.state) {
            // The reference is given back all the same, which is what the status speaks of.
            process.log.line(
                Level::Error,
                "hsaKmtReleaseSystemProperties",
                format_args!("not closed cleanly: {error}"),
            );
        }
        Ok(())
    }

    /// Drops the snapshot and closes every device that nothing else uses; returns the first error after the last one.
    fn drop_snapshot(&self, process: &Process, state: &mut State) -> Result<(), platform::Error> {
        process.snapshots.set_live(0);
        self.snapshot.store(None);
        let mut result = Ok(());
        for device in std::mem::take(&mut state.devices).into_values() {
            // Only this list hands out references, so a count of one cannot rise here.
            if Arc::strong_count(&device) == 1 {
                result = result.and(device.close());
            }
        }
        result
    }

    pub(super) fn kernel_interface(&self, process: &Process) -> Result<HsaVersionInfo, Error> {
        process.require_open()?;
        let turn = self.turn()?;
        turn.state.platform.as_ref().map(|platform| platform.kernel_interface()).ok_or(Error::NotOpened)
    }

    pub(super) fn device(&self, process: &Process, node: u32) -> Result<Arc<dyn Device>, Error> {
        process.require_open()?;
        let turn = self.turn()?;
        if let Some(device) = turn.state.devices.get(&node) {
            return Ok(Arc::clone(device));
        }
        let snapshot = self.snapshot.load();
        snapshot.as_ref().ok_or(Error::NoSnapshot)?.node(node)?;
        Err(Error::NotGpu(node))
    }

    pub(super) fn debug_support(&self, process: &Process) -> Result<bool, Error> {
        process.require_open()?;
        let (platform, devices) = {
            let turn = self.turn()?;
            (
                turn.state.platform.clone().ok_or(Error::NotOpened)?,
                turn.state.devices.values().cloned().collect::<Vec<_>>(),
            )
        };
        Ok(!devices.is_empty() && platform.debug_support(&devices)?)
    }
}
