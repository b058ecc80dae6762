//! What belongs to one process: the open device file, the handle tables, the ledger, the list of violations.
//!
//! The kernel keys everything by thread-group id (dxgkrnl.md 1.1). So does this room: each generation of fork has
//! a slot of its own, recognised by pid, and a child never touches the lock or the tables of its parent. That makes
//! `fork` and raw `clone` safe while other threads are inside a call: what they hold stays in the parent's slot.

use core::ptr;
use std::ffi::CString;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rocdxg_fake_gpu::{Machine, machine};

use crate::Status;
use crate::adapters::AdapterState;
use crate::calls::{Call, Counts};
use crate::control::{Handles, Ledger, MemoryRules, Paging};
use crate::d3dkmt::ntstatus;
use crate::device::Object;
use crate::environment::{choose, open_node, variable};
use crate::fence::Graveyard;
use crate::handles::{LocalTable, MainTable};
use crate::inject::{Failure, Plan};
use crate::paging::Clock;
use crate::residency::Commits;
use crate::wait::{EventWait, Ticker, Wait};

/// Forks of forks that are told apart; below that every call is refused.
const GENERATIONS: usize = 16;
/// Violations whose text is kept; all are counted.
const TEXTS: usize = 1000;

static SLOTS: [Process; GENERATIONS] = [const { Process::new() }; GENERATIONS];
/// The process that loaded this library; 0 until it is known.
static LOADER: AtomicI32 = AtomicI32::new(0);

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;
#[used]
#[unsafe(link_section = ".fini_array")]
static ON_UNLOAD: extern "C" fn() = on_unload;

extern "C" fn on_load() {
    LOADER.store(own_pid(), Ordering::Release);
}

extern "C" fn on_unload() {
    if let Some(process) = Process::existing() {
        process.close();
    }
}

fn own_pid() -> i32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::getpid() }
}

/// Writes one line to standard error without the lock of `std`, which a fork child may inherit taken.
fn complain(text: &str) {
    let line = format!("rocdxg-fake: {text}\n");
    // SAFETY: the bytes are alive; a failed or short write of a remark is of no consequence.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// One generation of processes.
pub(crate) struct Process {
    /// Who owns the slot; 0 is nobody.
    pid: AtomicI32,
    /// The open device file, -1 is none; a child reads it to close what it inherited.
    node: AtomicI32,
    /// The machine, for a child that inherits it: never freed while `state` has it.
    machine: AtomicPtr<Machine>,
    state: Mutex<State>,
}

impl Process {
    const fn new() -> Self {
        Self {
            pid: AtomicI32::new(0),
            node: AtomicI32::new(-1),
            machine: AtomicPtr::new(ptr::null_mut()),
            state: Mutex::new(State::new()),
        }
    }

    /// The slot of the calling process, taken at its first call.
    fn current() -> Option<(usize, &'static Self)> {
        let pid = own_pid();
        let take = |slot: &Self| slot.pid.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire).is_ok();
        SLOTS.iter().enumerate().find(|(_, slot)| slot.is_of(pid) || (slot.is_of(0) && take(slot)) || slot.is_of(pid))
    }

    fn is_of(&self, pid: i32) -> bool {
        self.pid.load(Ordering::Acquire) == pid
    }

    /// The slot of the calling process, if it has one.
    fn existing() -> Option<&'static Self> {
        let pid = own_pid();
        SLOTS.iter().find(|slot| slot.is_of(pid))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the use of the device: destroys what is left in the kernel's order and reports it (dxgkrnl.md rule 7).
    fn close(&self) {
        // A thread that was stopped inside a call keeps the lock for ever; leaving must not wait for it.
        let state = (0..100).find_map(|_| match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(std::sync::TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => {
                // SAFETY: sleeps a millisecond.
                unsafe { libc::usleep(1000) };
                None
            }
        });
        if let Some(mut state) = state {
            let left = state.ledger();
            state.tear_down();
            state.report(&left);
            self.close_node();
            self.machine.store(ptr::null_mut(), Ordering::Release);
            let (handles, source, armed) = (state.handles, state.source.take(), state.armed);
            *state = State { phase: Phase::Closed, handles, source, armed, ..State::new() };
        }
    }

    fn close_node(&self) {
        let node = self.node.swap(-1, Ordering::AcqRel);
        if node >= 0 {
            // SAFETY: a descriptor that this library opened, in this process or, before the fork, in its parent.
            unsafe { libc::close(node) };
        }
    }
}

/// How far a process has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No call yet.
    Unopened,
    /// The device is open.
    Open,
    /// It could not be opened: every call is UNSUCCESSFUL (dxgkrnl.md rule 5).
    Failed,
    /// Closed by unloading (dxgkrnl.md rule 8).
    Closed,
}

/// The state of one process.
#[derive(Debug)]
pub(crate) struct State {
    phase: Phase,
    /// Name or path that a test chose instead of the environment's.
    source: Option<String>,
    machine: Option<Arc<Machine>>,
    report: bool,
    delay_us: u32,
    handles: Handles,
    generation: u32,
    /// Whether `ROCDXG_FAKE_FAIL` was read.
    armed: bool,
    call: &'static str,
    /// Thread that opened the device: the id by which the kernel knows the process (dxgkrnl.md 2.1).
    pub(crate) recorded_id: i32,
    /// What the guest knows of each adapter, in the order of the machine.
    pub(crate) adapters: Vec<AdapterState>,
    /// Enumeration calls so far.
    pub(crate) enumerations: u64,
    /// Adapter handles.
    pub(crate) opens: LocalTable,
    /// All other handles.
    pub(crate) main: MainTable<Object>,
    /// Device errors that the host announced (dxgkrnl.md rule 42).
    pub(crate) errors_announced: u64,
    /// Mappings that are gone.
    pub(crate) graveyard: Graveyard,
    /// Memory in use, by identity.
    pub(crate) commits: Commits,
    /// When paging operations are done.
    pub(crate) clock: Clock,
    /// Waits that raise an event.
    pub(crate) event_waits: Vec<EventWait>,
    /// What about memory is not certain, as the test chose it.
    pub(crate) memory_rules: MemoryRules,
    /// How often the GPU could not access memory, and the last time in words.
    pub(crate) faults: (u64, Option<CString>),
    /// Failures on request.
    pub(crate) plan: Plan,
    /// Calls so far.
    pub(crate) counts: Counts,
    violations: u64,
    violation_texts: Vec<CString>,
}

impl State {
    const fn new() -> Self {
        Self {
            phase: Phase::Unopened,
            source: None,
            machine: None,
            report: false,
            delay_us: 0,
            handles: Handles { reuse: false, collide: false },
            generation: 0,
            armed: false,
            call: "",
            recorded_id: 0,
            adapters: Vec::new(),
            enumerations: 0,
            opens: LocalTable::new(0),
            main: MainTable::new(0, false, false),
            errors_announced: 0,
            graveyard: Graveyard::new(),
            commits: Commits::new(),
            clock: Clock::new(Paging::DEFAULT),
            event_waits: Vec::new(),
            memory_rules: MemoryRules::DEFAULT,
            faults: (0, None),
            plan: Plan::new(),
            counts: Counts::new(),
            violations: 0,
            violation_texts: Vec::new(),
        }
    }

    /// Records what the client did against the contract.
    pub(crate) fn violate(&mut self, what: impl AsRef<str>) {
        self.violations += 1;
        if self.violation_texts.len() < TEXTS {
            let text = format!("{}: {}", self.call, what.as_ref()).replace('\0', " ");
            self.violation_texts.extend(CString::new(text));
        }
    }

    /// How many violations there were, and the text of the first ones.
    pub(crate) fn violations(&self) -> (u64, &[CString]) {
        (self.violations, &self.violation_texts)
    }

    /// The machine; without one there are no adapters.
    pub(crate) fn machine(&self) -> Arc<Machine> {
        self.machine.clone().unwrap_or_default()
    }

    /// The guest kernel is a 5.15-era one.
    pub(crate) fn older_kernel(&self) -> bool {
        self.machine.as_ref().is_some_and(|m| m.kernel.older)
    }

    fn report(&self, left: &Ledger) {
        if !self.report || (left.total() == 0 && self.violations == 0) {
            return;
        }
        let first = self.violation_texts.first().map(|t| format!(", the first: {}", t.to_string_lossy()));
        complain(&format!(
            "process {} left {left}; {} contract violations{}",
            own_pid(),
            self.violations,
            first.unwrap_or_default(),
        ));
    }

    /// Destroys everything in the order of process exit (dxgkrnl.md 1.2).
    fn tear_down(&mut self) {
        for adapter in 0..self.adapters.len() {
            self.destroy_devices_of(adapter);
        }
        self.event_waits.clear();
        self.opens = LocalTable::new(self.generation);
        self.graveyard.clear();
    }

    /// Fresh tables over the same machine.
    fn fresh_tables(&mut self) {
        let Handles { reuse, collide } = self.handles;
        self.opens = LocalTable::new(self.generation);
        self.main = MainTable::new(self.generation, reuse, collide);
        self.adapters = self.machine().adapters.iter().map(AdapterState::new).collect();
        self.enumerations = 0;
        self.errors_announced = 0;
        self.commits = Commits::new();
        self.clock = Clock::new(self.clock.mode);
        self.event_waits.clear();
        self.faults = (0, None);
    }

    /// No failures to come, no counts, no violations.
    fn forget(&mut self) {
        self.plan = Plan::new();
        self.counts = Counts::new();
        self.violations = 0;
        self.violation_texts.clear();
    }

    fn load_machine(&mut self, process: &Process, ancestors: &[Process]) -> Result<(), String> {
        if self.machine.is_some() {
            return Ok(());
        }
        let inherited = ancestors.iter().rev().map(|a| a.machine.load(Ordering::Acquire)).find(|m| !m.is_null());
        let machine = match (&self.source, inherited) {
            // SAFETY: the ancestor's state had this machine when the process was forked; nothing in this process
            // runs the ancestor's code, so the copy stays as it was.
            (None, Some(inherited)) => unsafe { (*inherited).clone() },
            (source, _) => {
                let chosen = source.clone().or_else(|| variable("ROCDXG_FAKE_MACHINE"));
                Machine::load(chosen.as_deref().unwrap_or(machine::DEFAULT)).map_err(|e| e.to_string())?
            }
        };
        self.set_machine(process, machine);
        Ok(())
    }

    fn set_machine(&mut self, process: &Process, machine: Machine) {
        let machine = Arc::new(machine);
        process.machine.store(Arc::as_ptr(&machine).cast_mut(), Ordering::Release);
        self.machine = Some(machine);
    }

    /// Opens the device, as libdxcore does when it is loaded.
    fn open_device_file(&mut self, generation: usize, process: &Process) -> Result<(), String> {
        let ancestors = &SLOTS[..generation];
        self.generation = generation as u32;
        self.report = variable("ROCDXG_FAKE_REPORT").as_deref() == Some("1");
        if let Some(text) = variable("ROCDXG_FAKE_DELAY_US") {
            self.delay_us = text.parse().map_err(|_| format!("ROCDXG_FAKE_DELAY_US={text}: not a number"))?;
        }
        choose("ROCDXG_FAKE_HANDLES", Handles::parse, &mut self.handles)?;
        choose("ROCDXG_FAKE_PAGING", Paging::parse, &mut self.clock.mode)?;
        choose("ROCDXG_FAKE_MEMORY", MemoryRules::parse, &mut self.memory_rules)?;
        self.load_machine(process, ancestors)?;
        self.fresh_tables();
        if !core::mem::replace(&mut self.armed, true)
            && ancestors.is_empty()
            && let Some(text) = variable("ROCDXG_FAKE_FAIL")
        {
            self.plan.add_text(&text).map_err(|item| format!("ROCDXG_FAKE_FAIL: {item}: not understood"))?;
        }
        ancestors.iter().for_each(Process::close_node);
        // SAFETY: no arguments, cannot fail.
        self.recorded_id = unsafe { libc::gettid() };
        if process.node.load(Ordering::Acquire) < 0 {
            process.node.store(open_node()?, Ordering::Release);
        }
        Ok(())
    }

    /// Lets a call in, or refuses it with the status that libdxcore has for it (dxgkrnl.md rules 2, 5 and 8).
    fn admit(&mut self, call: Call, generation: usize, process: &Process) -> Result<(), Status> {
        self.call = call.name();
        if self.phase == Phase::Unopened {
            let loader = LOADER.load(Ordering::Acquire);
            let foreign = generation > 0 || (loader != 0 && loader != own_pid());
            if foreign && !call.reopens() {
                self.violate("the process is a fork child and has not enumerated adapters yet");
                return Err(ntstatus::UNSUCCESSFUL);
            }
            self.phase = match self.open_device_file(generation, process) {
                Ok(()) => Phase::Open,
                Err(reason) => {
                    complain(&reason);
                    Phase::Failed
                }
            };
        }
        if self.phase == Phase::Open { Ok(()) } else { Err(ntstatus::UNSUCCESSFUL) }
    }
}

/// Lets one D3DKMT call in: admission, delay, count, and the failure that is meant for it.
///
/// `variant` points to the argument's query type, for counting and choosing by it.
fn enter(
    call: Call,
    variant: Option<*const u32>,
) -> Result<(&'static Process, MutexGuard<'static, State>, Option<Failure>), Status> {
    let Some((generation, process)) = Process::current() else {
        complain("too many generations of fork");
        return Err(ntstatus::UNSUCCESSFUL);
    };
    let mut state = process.lock();
    state.admit(call, generation, process)?;
    if state.delay_us > 0 {
        let delay = state.delay_us;
        drop(state);
        // SAFETY: sleeps; the lock is free, so that other calls are inside at the same time.
        unsafe { libc::usleep(delay) };
        state = process.lock();
        state.call = call.name();
    }
    state.progress();
    let variant = variant.and_then(crate::user::peek);
    state.counts.add(call, variant);
    let failure = state.plan.next(call, variant);
    Ok((process, state, failure))
}

/// Runs one D3DKMT call. All that is not SUCCESS comes as an error, PENDING included.
pub(crate) fn call(
    call: Call,
    variant: Option<*const u32>,
    run: impl FnOnce(&mut State, Option<Failure>) -> Result<(), Status>,
) -> Status {
    let done = enter(call, variant).and_then(|(_, mut state, failure)| run(&mut state, failure));
    done.err().unwrap_or(ntstatus::SUCCESS)
}

/// Runs one D3DKMT call that may block: without the lock, until the wait is over, a signal ends it or the library goes.
pub(crate) fn call_that_waits(
    call: Call,
    variant: Option<*const u32>,
    run: impl FnOnce(&mut State, Option<Failure>) -> Result<Option<Wait>, Status>,
) -> Status {
    let wait = || -> Result<(), Status> {
        let (process, mut state, failure) = enter(call, variant)?;
        let Some(wait) = run(&mut state, failure)? else { return Ok(()) };
        let mut ticker = None;
        while !state.satisfied(&wait) {
            drop(state);
            if ticker.is_none() {
                ticker = Some(Ticker::new().ok_or(ntstatus::NO_MEMORY)?);
            }
            if !ticker.as_ref().is_some_and(Ticker::sleep) {
                return Err(ntstatus::UNSUCCESSFUL);
            }
            state = process.lock();
            if state.phase != Phase::Open {
                return Err(ntstatus::UNSUCCESSFUL);
            }
            state.call = call.name();
            state.progress();
        }
        Ok(())
    };
    wait().err().unwrap_or(ntstatus::SUCCESS)
}

/// Looks at or changes the state from outside a call, for [`crate::control`]; `None` below the last generation.
pub(crate) fn control<R>(run: impl FnOnce(&mut State) -> R) -> Option<R> {
    let (_, process) = Process::current()?;
    Some(run(&mut process.lock()))
}

/// The machine of this process, loaded if need be.
pub(crate) fn machine_of_process() -> Option<Arc<Machine>> {
    let (generation, process) = Process::current()?;
    let mut state = process.lock();
    state.load_machine(process, &SLOTS[..generation]).ok()?;
    state.machine.clone()
}

/// Starts over, with another machine when one is named. Only when nothing is live.
pub(crate) fn restart(machine: Option<&str>) -> Result<(), String> {
    let Some((_, process)) = Process::current() else { return Err("too many generations of fork".into()) };
    let mut state = process.lock();
    let live = state.ledger().total();
    if live > 0 {
        return Err(format!("{live} kernel objects are alive"));
    }
    if let Some(name) = machine {
        let loaded = Machine::load(name).map_err(|e| e.to_string())?;
        state.source = Some(name.to_owned());
        state.set_machine(process, loaded);
    }
    if state.phase != Phase::Open {
        state.phase = Phase::Unopened;
    }
    state.fresh_tables();
    state.forget();
    Ok(())
}

/// Chooses how handles are numbered from now on. Only when nothing is live.
pub(crate) fn choose_handles(handles: Handles) -> Result<(), String> {
    control(|state| state.handles = handles);
    restart(None)
}

/// Sleeps that long inside each call, in microseconds.
pub(crate) fn set_delay(delay_us: u32) {
    control(|state| state.delay_us = delay_us);
}

/// Closes the device as unloading the library does.
pub(crate) fn unload() {
    if let Some(process) = Process::existing() {
        process.close();
    }
}
