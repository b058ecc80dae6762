//! Events of the driver, and the page that their slots live in (kfd.md 4.6).

use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::Error as PlatformError;
use super::super::events::{Awaited, Events, Happened, HardwareException, MemoryFault, NewEvent, Woken};
use super::super::os::page_size;
use super::super::span::{Access, Span};
use super::binding::Binding;
use super::calls::{self, CallError};
use super::ioctl::*;
use super::memory::{KfdBuffer, kernel_buffer};
use super::{Error, Kfd};
use crate::abi::{HSA_EVENTTYPE, HSA_EVENTTYPE_DEBUG_EVENT, HSA_EVENTTYPE_SIGNAL};

/// Bytes of the page: 4096 slots.
const PAGE_BYTES: u64 = 4096 * SLOT_BYTES;
/// Bytes of a slot.
const SLOT_BYTES: u64 = 8;
/// First minor version of the interface whose waits know how often an event was signalled.
const MINOR_OF_AGES: u32 = 14;
/// How long a call waits for another that makes the page.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the slots are. The kernel keeps it until the process ends, and so do we.
#[derive(Debug, Default)]
pub(super) struct EventPage {
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// A thread is inside a call that may make it.
    busy: bool,
    page: Option<Page>,
}

#[derive(Debug)]
struct Page {
    /// First byte, and bytes that may be used.
    place: (u64, u64),
    /// What it is made of.
    made_of: MadeOf,
}

#[derive(Debug)]
enum MadeOf {
    /// A buffer, which the kernel has been told of, or may have been by a call that failed, or not yet.
    Buffer { buffer: Box<KfdBuffer>, gpus: Vec<u32>, told: Told },
    /// Memory of the kernel.
    Kernel(#[allow(dead_code, reason = "it holds the addresses")] Span),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    No,
    Perhaps,
    Yes,
}

/// The right to make or to change the page.
struct Turn<'a>(&'a EventPage);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state().busy = false;
        self.0.settled.notify_one();
    }
}

impl EventPage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> Result<Turn<'_>, Error> {
        let state = self.state();
        let waited = self.settled.wait_timeout_while(state, PATIENCE, |state| state.busy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.busy {
            return Err(Error::Busy { what: "event", seconds: PATIENCE.as_secs() });
        }
        state.busy = true;
        Ok(Turn(self))
    }

    /// Takes the page out while the turn is held, to be changed without a lock.
    fn take(&self) -> Option<Page> {
        self.state().page.take()
    }

    fn put(&self, page: Option<Page>) {
        self.state().page = page;
    }
}

/// Puts the page back when the turn ends, however it ends.
struct Held<'a> {
    page: Option<Page>,
    turn: Turn<'a>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.turn.0.put(self.page.take());
    }
}

/// A buffer in the address space of every GPU of the process.
fn make_page(binding: &Arc<Binding>) -> Result<Page, Error> {
    let flags = KFD_IOC_ALLOC_MEM_FLAGS_GTT
        | KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE
        | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE
        | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE
        | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT
        | KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED;
    let space = binding.space().ok_or(Error::NoSharedSpace)?;
    let render = binding.bound_renders().into_iter().next().ok_or(Error::NoSharedSpace)?;
    let no_room = |source| Error::NoAddress { bytes: PAGE_BYTES, source };
    let span = space.span(PAGE_BYTES, 0, None, true).map_err(no_room)?;
    let gpu = (&*render, render.bound.load(Ordering::Acquire));
    let buffer = Box::new(kernel_buffer(binding, gpu, span, PAGE_BYTES, flags, true)?);
    let place = (buffer.span.base(), PAGE_BYTES);
    Ok(Page { place, made_of: MadeOf::Buffer { buffer, gpus: Vec::new(), told: Told::No } })
}

/// The kernel's own page, at the offset that the creation of an event gave.
fn map_page(binding: &Binding, offset: u64) -> Result<Page, Error> {
    let mut result = Err(Error::NoSharedSpace);
    for bytes in [PAGE_BYTES, page_size() as u64] {
        let span = Span::anywhere(bytes, 0, 0, &(0..=u64::MAX));
        let span = span.map_err(|source| Error::NoAddress { bytes, source })?;
        match span.fill_from(bytes, binding.kfd().as_fd(), offset, Access::READ_WRITE) {
            Ok(()) => {
                span.advise(libc::MADV_DONTFORK);
                // A page that the kernel made has a slot for every 16 bytes of one page.
                let usable = if bytes == PAGE_BYTES { bytes } else { 256 * SLOT_BYTES };
                return Ok(Page { place: (span.base(), usable), made_of: MadeOf::Kernel(span) });
            }
            Err(source) => result = Err(Error::Map { what: "the event page", bytes, source }),
        }
    }
    result
}

impl Kfd {
    fn create_event(&self, kind: HSA_EVENTTYPE, auto_reset: bool) -> Result<NewEvent, Error> {
        let binding = self.binding();
        let pages = binding.event_page();
        let mut held = Held { turn: pages.turn()?, page: pages.take() };
        if held.page.is_none() && binding.has_discrete_gpu() {
            held.page = Some(make_page(binding)?);
        }
        let create = |page| calls::create_event(binding.kfd().as_fd(), page, kind.0, auto_reset);
        let created = match held.page.as_mut().map(|page| &mut page.made_of) {
            Some(MadeOf::Buffer { buffer, gpus, told }) => {
                // GPUs that came since are given it too.
                let renders = binding.bound_renders();
                let bound = renders.iter().map(|render| render.bound.load(Ordering::Acquire));
                let fresh: Vec<u32> = bound.filter(|gpu| !gpus.contains(gpu)).collect();
                if !fresh.is_empty() {
                    buffer.object.map(&fresh)?;
                    gpus.extend(fresh);
                }
                let handle = buffer.object.handle().unwrap_or(0);
                let created = match told {
                    Told::Yes => create(0),
                    Told::No => create(handle),
                    // A call that failed may have told it all the same; then it is not to be told again.
                    Told::Perhaps => match create(handle) {
                        Err(CallError { errno: libc::EINVAL, .. }) => create(0),
                        created => created,
                    },
                };
                match (&created, &told) {
                    (Ok(_), _) => *told = Told::Yes,
                    (Err(_), Told::No) => *told = Told::Perhaps,
                    _ => {}
                }
                created?
            }
            _ => create(0)?,
        };
        let slotted = [HSA_EVENTTYPE_SIGNAL, HSA_EVENTTYPE_DEBUG_EVENT].contains(&kind);
        if held.page.is_none() && slotted && created.event_page_offset != 0 {
            match map_page(binding, created.event_page_offset) {
                Ok(page) => held.page = Some(page),
                Err(error) => {
                    // Without its slot it could not be signalled by a GPU.
                    let _ = calls::destroy_event(binding.kfd().as_fd(), created.event_id);
                    return Err(error);
                }
            }
        }
        let at = u64::from(created.event_slot_index) * SLOT_BYTES;
        let place = held.page.as_ref().map(|page| page.place).filter(|(_, bytes)| slotted && at < *bytes);
        let slot = place.map_or(0, |(base, _)| base + at);
        Ok(NewEvent { id: created.event_id, slot, trigger: created.event_trigger_data })
    }
}

/// What the entry of an event says that was waited for.
fn happened(event: &Awaited, entry: &kfd_event_data) -> Happened {
    let [a, b, c, d, low, high, gpu, kind] = entry.data;
    match event.kind.0 {
        KFD_IOC_EVENT_MEMORY if gpu != 0 => Happened::Memory(MemoryFault {
            device: gpu.into(),
            address: u64::from(low) | u64::from(high) << 32,
            not_present: a != 0,
            read_only: b != 0,
            no_execute: c != 0,
            imprecise: d != 0,
            kind,
        }),
        KFD_IOC_EVENT_HW_EXCEPTION if d != 0 => Happened::Hardware(HardwareException {
            device: d.into(),
            reset_type: a,
            reset_cause: b,
            memory_lost: c != 0,
        }),
        _ => Happened::Signal,
    }
}

impl Events for Kfd {
    fn create(&self, kind: HSA_EVENTTYPE, auto_reset: bool) -> Result<NewEvent, PlatformError> {
        Ok(self.create_event(kind, auto_reset)?)
    }

    fn destroy(&self, id: u32) -> Result<(), PlatformError> {
        Ok(calls::destroy_event(self.binding().kfd().as_fd(), id).map_err(Error::Call)?)
    }

    fn set(&self, id: u32, signalled: bool) -> Result<(), PlatformError> {
        Ok(calls::set_event(self.binding().kfd().as_fd(), id, signalled).map_err(Error::Call)?)
    }

    fn wait(&self, events: &mut [Awaited], all: bool, ages: bool, milliseconds: u32) -> Result<Woken, PlatformError> {
        let ages = ages && self.binding().version().1 >= MINOR_OF_AGES;
        let entry = |event: &Awaited| {
            let mut entry = kfd_event_data { event_id: event.id, ..Default::default() };
            if ages && event.kind == HSA_EVENTTYPE_SIGNAL {
                entry.data[0] = event.age as u32;
                entry.data[1] = (event.age >> 32) as u32;
            }
            entry
        };
        let mut entries: Vec<_> = events.iter().map(entry).collect();
        let result = match calls::wait_events(self.binding().kfd().as_fd(), &mut entries, all, milliseconds) {
            Ok(result) => result,
            // An event was destroyed meanwhile (kfd-kernel.md 4).
            Err(CallError { errno: libc::EIO, .. }) => KFD_IOC_WAIT_RESULT_FAIL,
            Err(error) => return Err(Error::Call(error).into()),
        };
        for (event, entry) in events.iter_mut().zip(&entries) {
            event.happened = happened(event, entry);
            if ages && event.kind == HSA_EVENTTYPE_SIGNAL {
                event.age = u64::from(entry.data[0]) | u64::from(entry.data[1]) << 32;
            }
        }
        Ok(match result {
            KFD_IOC_WAIT_RESULT_COMPLETE => Woken::Complete,
            KFD_IOC_WAIT_RESULT_TIMEOUT => Woken::TimedOut,
            _ => Woken::Destroyed,
        })
    }
}
