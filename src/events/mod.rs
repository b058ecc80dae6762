//! Events that callers create and wait for (kfd.md 4.6, dxg.md 4.2).
//!
//! A caller holds the address of a structure that lives here for as long as the event does, and for as long as a
//! thread waits for it. An address that is none of an event is told from one by a table, never followed.
//! May call: `platform`, `abi`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::{
    HSA_EVENTID_HW_EXCEPTION_CAUSE, HSA_EVENTID_MEMORY_FATAL_PROCESS, HSA_EVENTTYPE, HSA_EVENTTYPE_DEBUG_EVENT,
    HSA_EVENTTYPE_SIGNAL, HsaAccessAttributeFailure, HsaEvent, HsaEventData, HsaEventDescriptor, HsaHwException,
    HsaMemoryAccessFault, Plain, Writer,
};
use crate::platform::events::{Awaited, Happened, Woken};
use crate::platform::{self, Platform};

/// Why a call on events fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The platform failed.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// The driver has no events, or this version does not know them yet.
    #[error("not supported: events on this driver are not built yet")]
    Unsupported,
    /// The address is none of an event.
    #[error("{0:#x} is no event")]
    Unknown(usize),
    /// Only the driver signals events of that kind.
    #[error("events of kind {0} are signalled by the driver alone")]
    DriversOwn(u32),
    /// The time is over.
    #[error("the time of the wait is over")]
    TimedOut,
    /// An event was destroyed while a thread waited for it.
    #[error("an event was destroyed while it was waited for")]
    Destroyed,
    /// A fault came from a GPU that is no node.
    #[error("the driver tells of a GPU {0} that is no node")]
    NoNode(u64),
}

/// Words of the structure that callers see.
const WORDS: usize = size_of::<HsaEvent>() / 4;

/// The structure, as words that a waiting thread may write while the caller reads.
#[repr(align(8))]
struct Place([AtomicU32; WORDS]);

struct Record {
    place: Place,
    id: u32,
    kind: HSA_EVENTTYPE,
}

impl Record {
    fn new(event: &HsaEvent, kind: HSA_EVENTTYPE) -> Self {
        let record = Self { place: Place(Default::default()), id: event.EventId, kind };
        record.write(event, 0);
        record
    }

    /// Writes the words of `event` from word `first` on.
    fn write(&self, event: &HsaEvent, first: usize) {
        let mut bytes = [0; size_of::<HsaEvent>()];
        event.write(&mut Writer::new(&mut bytes));
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
        for (place, word) in self.place.0.iter().zip(words).skip(first) {
            place.store(word, Ordering::Relaxed);
        }
    }

    fn read(&self) -> HsaEventData {
        let word = |index: usize| self.place.0[index].load(Ordering::Relaxed);
        let wide = |index: usize| u64::from(word(index)) | u64::from(word(index + 1)) << 32;
        HsaEventData {
            EventType: HSA_EVENTTYPE(word(1)),
            EventData: std::array::from_fn(|index| word(2 + index)),
            HWData1: wide(7),
            HWData2: wide(9),
            HWData3: word(11),
        }
    }

    /// Writes what happened; the rest of the structure stays.
    fn tell(&self, change: impl FnOnce(&mut HsaEventData)) {
        let mut data = self.read();
        change(&mut data);
        self.write(&HsaEvent { EventId: self.id, EventData: data }, 1);
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(&self.place).addr()
    }
}

/// The events of a process.
#[derive(Default)]
pub struct Table(Mutex<BTreeMap<usize, Arc<Record>>>);

fn events_of(platform: &dyn Platform) -> Result<&dyn platform::events::Events, Error> {
    platform.events().ok_or(Error::Unsupported)
}

impl Table {
    fn records(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<Record>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, address: usize) -> Result<Arc<Record>, Error> {
        self.records().get(&address).cloned().ok_or(Error::Unknown(address))
    }

    /// Creates an event; the result is the address of the caller's structure.
    pub fn create(
        &self,
        platform: &dyn Platform,
        descriptor: &HsaEventDescriptor,
        manual_reset: bool,
        signalled: bool,
    ) -> Result<*const HsaEvent, Error> {
        let (events, kind) = (events_of(platform)?, descriptor.EventType);
        let made = events.create(kind, !manual_reset)?;
        let mut data = HsaEventData {
            EventType: kind,
            HWData1: made.id.into(),
            HWData2: made.slot,
            HWData3: made.trigger,
            ..HsaEventData::ZERO
        };
        data.set_sync_var(descriptor.SyncVar);
        if signalled
            && is_callers(kind)
            && let Err(error) = events.set(made.id, true)
        {
            // The caller gets no event, so nobody else would destroy it.
            let _ = events.destroy(made.id);
            return Err(error.into());
        }
        let record = Arc::new(Record::new(&HsaEvent { EventId: made.id, EventData: data }, kind));
        let place = std::ptr::from_ref(&record.place).cast();
        self.records().insert(record.address(), record);
        Ok(place)
    }

    /// Destroys an event; threads that wait for it wake.
    pub fn destroy(&self, platform: &dyn Platform, event: usize) -> Result<(), Error> {
        let events = events_of(platform)?;
        // Out of the table first: of two threads that destroy it, one finds nothing.
        let record = self.records().remove(&event).ok_or(Error::Unknown(event))?;
        if let Err(error) = events.destroy(record.id) {
            self.records().insert(event, record);
            return Err(error.into());
        }
        Ok(())
    }

    /// Signals an event of the caller's own kinds, or takes its signal back.
    pub fn set(&self, platform: &dyn Platform, event: usize, signalled: bool) -> Result<(), Error> {
        let (events, record) = (events_of(platform)?, self.record(event)?);
        if !is_callers(record.kind) {
            return Err(Error::DriversOwn(record.kind.0));
        }
        Ok(events.set(record.id, signalled)?)
    }

    /// Fails unless the address is one of an event.
    pub fn is_known(&self, platform: &dyn Platform, event: usize) -> Result<(), Error> {
        events_of(platform)?;
        self.record(event).map(|_| ())
    }

    /// Waits for one of `events`, or for `all`. `ages`, where given, are signals that the caller has seen, one for each
    /// event; they are brought up to date whatever the result.
    pub fn wait(
        &self,
        platform: &dyn Platform,
        node_of: impl Fn(u64) -> Option<u32>,
        events: &[usize],
        all: bool,
        milliseconds: u32,
        ages: Option<&mut [u64]>,
    ) -> Result<(), Error> {
        let waiter = events_of(platform)?;
        // They live until this wait is over, whoever destroys them.
        let records: Vec<_> = events.iter().map(|event| self.record(*event)).collect::<Result<_, _>>()?;
        let age = |index: usize| ages.as_ref().and_then(|ages| ages.get(index)).copied().unwrap_or(0);
        let awaited = |(index, record): (usize, &Arc<Record>)| Awaited {
            id: record.id,
            kind: record.kind,
            age: age(index),
            happened: Happened::Signal,
        };
        let mut list: Vec<_> = records.iter().enumerate().map(awaited).collect();
        let woken = waiter.wait(&mut list, all, ages.is_some(), milliseconds)?;
        if let Some(ages) = ages {
            for (age, awaited) in ages.iter_mut().zip(&list) {
                *age = awaited.age;
            }
        }
        match woken {
            Woken::TimedOut => return Err(Error::TimedOut),
            Woken::Destroyed => return Err(Error::Destroyed),
            Woken::Complete => {}
        }
        for (record, awaited) in records.iter().zip(&list) {
            tell(record, &awaited.happened, &node_of)?;
        }
        Ok(())
    }
}

/// Kinds that the caller itself signals.
fn is_callers(kind: HSA_EVENTTYPE) -> bool {
    kind == HSA_EVENTTYPE_SIGNAL || kind == HSA_EVENTTYPE_DEBUG_EVENT
}

/// Writes what happened into the caller's structure.
fn tell(record: &Record, happened: &Happened, node_of: impl Fn(u64) -> Option<u32>) -> Result<(), Error> {
    let node = |device| node_of(device).ok_or(Error::NoNode(device));
    match happened {
        Happened::Signal => {}
        Happened::Memory(fault) => {
            use HsaAccessAttributeFailure as Failure;
            let failure = Failure(0)
                .with(Failure::NotPresent, fault.not_present.into())
                .with(Failure::ReadOnly, fault.read_only.into())
                .with(Failure::NoExecute, fault.no_execute.into())
                .with(Failure::Imprecise, fault.imprecise.into())
                .with(Failure::ErrorType, fault.kind & 7)
                .with(Failure::ECC, matches!(fault.kind, 1 | 2).into());
            let fault = HsaMemoryAccessFault {
                NodeId: node(fault.device)?,
                VirtualAddress: fault.address,
                Failure: failure,
                Flags: HSA_EVENTID_MEMORY_FATAL_PROCESS,
            };
            record.tell(|data| data.set_memory_access_fault(fault));
        }
        Happened::Hardware(exception) => {
            let exception = HsaHwException {
                NodeId: node(exception.device)?,
                ResetType: exception.reset_type,
                MemoryLost: exception.memory_lost.into(),
                ResetCause: HSA_EVENTID_HW_EXCEPTION_CAUSE(exception.reset_cause),
            };
            record.tell(|data| data.set_hw_exception(exception));
        }
    }
    Ok(())
}
