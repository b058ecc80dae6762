//! Events across the seam.

use super::Error;
use crate::abi::HSA_EVENTTYPE;

/// An event that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewEvent {
    /// Its number.
    pub id: u32,
    /// Address of its slot, where the GPU signals it; 0 for none.
    pub slot: u64,
    /// What the GPU sends with its interrupt.
    pub trigger: u32,
}

/// What a memory exception was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryFault {
    /// The driver's id of the GPU ([`super::Device::id`]).
    pub device: u64,
    /// Address of the access.
    pub address: u64,
    /// No page is there.
    pub not_present: bool,
    /// It was a write to a page that may not be written.
    pub read_only: bool,
    /// Code was run from a page that has none.
    pub no_execute: bool,
    /// The address may be another one.
    pub imprecise: bool,
    /// 0 none, 1 SRAM ECC, 2 poison, 3 hang.
    pub kind: u32,
}

/// What happened to a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HardwareException {
    /// The driver's id of the GPU.
    pub device: u64,
    /// 0 the whole GPU, 1 one engine.
    pub reset_type: u32,
    /// 0 a hang, 1 an ECC error.
    pub reset_cause: u32,
    /// Contents of its memory are lost.
    pub memory_lost: bool,
}

/// What an event that woke a wait says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// Nothing beyond that it was signalled.
    Signal,
    /// A GPU accessed what it may not.
    Memory(MemoryFault),
    /// A GPU was reset.
    Hardware(HardwareException),
}

/// One event of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Awaited {
    /// Its number.
    pub id: u32,
    /// Its kind.
    pub kind: HSA_EVENTTYPE,
    /// In: signals that the caller has seen, 0 for any; out: signals so far.
    pub age: u64,
    /// Out: what it says.
    pub happened: Happened,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Its condition is met.
    Complete,
    /// Its time is over.
    TimedOut,
    /// One of its events was destroyed meanwhile.
    Destroyed,
}

/// Timeout of a wait that has none.
pub const FOREVER: u32 = u32::MAX;

/// The events of a platform.
pub trait Events {
    /// Makes an event. With `auto_reset` one wait consumes its signal.
    fn create(&self, kind: HSA_EVENTTYPE, auto_reset: bool) -> Result<NewEvent, Error>;

    /// Destroys an event; waits for it end with [`Woken::Destroyed`].
    fn destroy(&self, id: u32) -> Result<(), Error>;

    /// Signals an event, or takes its signal back.
    fn set(&self, id: u32, signalled: bool) -> Result<(), Error>;

    /// Waits for one of `events`, or for `all`, at most `milliseconds` ([`FOREVER`] without limit). With `ages` the
    /// numbers of signals count.
    fn wait(&self, events: &mut [Awaited], all: bool, ages: bool, milliseconds: u32) -> Result<Woken, Error>;
}
