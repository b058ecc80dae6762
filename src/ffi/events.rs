//! Events, also those of system management (dxg.md 4.2, kfd.md 4.6).
#![allow(unused_variables)]

use std::ffi::c_int;

use super::checks::{given, node, not_supported, object};
use super::{Out, exports, read_array};
use crate::abi::*;
use crate::process::{self, Error};
use crate::{events, platform};

/// The calls on one event.
fn one(
    event: *const HsaEvent,
    call: impl FnOnce(&events::Table, &dyn platform::Platform, usize) -> Result<(), events::Error>,
) -> Result<(), Error> {
    process::require_open()?;
    object("Event", event)?;
    let platform = process::platform()?;
    process::with_events(|events| Ok(call(events, &*platform, event.addr())?))
}

fn wait(events: &[usize], all: bool, milliseconds: HSAuint32, ages: Option<&mut [u64]>) -> Result<(), Error> {
    let platform = process::platform()?;
    // Whoever made the fault is found among the nodes as they are after the wait.
    let node_of = |id| process::devices().ok().and_then(|devices| platform::node_of(&devices, id));
    process::with_events(|table| Ok(table.wait(&*platform, node_of, events, all, milliseconds, ages)?))
}

/// A wait for one event looks at the event before it looks whether the device is open (kfd.md 5.10).
fn wait_one(event: *const HsaEvent, milliseconds: HSAuint32, age: *mut u64) -> Result<(), Error> {
    object("Event", event)?;
    process::require_open()?;
    // SAFETY: the pointer is the caller's, for one number.
    unsafe { wait_with_ages(&[event.addr()], true, milliseconds, age) }
}

/// # Safety
/// `ages` is NULL or has a number for each event.
unsafe fn wait_with_ages(events: &[usize], all: bool, milliseconds: HSAuint32, ages: *mut u64) -> Result<(), Error> {
    if ages.is_null() {
        return wait(events, all, milliseconds, None);
    }
    // SAFETY: the caller promises that the numbers exist.
    let mut known = unsafe { read_array("event_age", ages, events.len() as u64) }?;
    let waited = wait(events, all, milliseconds, Some(&mut known));
    // SAFETY: as above.
    let out = unsafe { Out::new("event_age", ages) }?;
    for (index, age) in known.into_iter().enumerate() {
        // SAFETY: there is a number for each event.
        unsafe { out.write_at(index, age) };
    }
    waited
}

/// # Safety
/// `events` is NULL or has `count` pointers, `ages` is NULL or has as many numbers.
unsafe fn wait_many(
    events: *const *mut HsaEvent,
    count: HSAuint32,
    all: bool,
    milliseconds: HSAuint32,
    ages: *mut u64,
) -> Result<(), Error> {
    process::require_open()?;
    object("Events", events)?;
    // SAFETY: the caller promises that the pointers exist.
    let events = unsafe { read_array("Events", events, count.into()) }?;
    let events: Vec<usize> = events.into_iter().map(|event| event.addr()).collect();
    // SAFETY: the caller promises that there is a number for each event.
    unsafe { wait_with_ages(&events, all, milliseconds, ages) }
}

exports! {
    /// Creates an event; `*Event` is NULL after a failure. INVALID_PARAMETER for a kind that does not exist.
    fn hsaKmtCreateEvent(
        EventDesc: *mut HsaEventDescriptor,
        ManualReset: bool,
        IsSignaled: bool,
        Event: *mut *mut HsaEvent,
    ) {
        process::require_open()?;
        given("EventDesc", EventDesc)?;
        // SAFETY: the pointer is the caller's, for one pointer.
        let out = unsafe { Out::new("Event", Event) }?;
        out.write(std::ptr::null_mut());
        // SAFETY: the pointer is the caller's, to one structure, and not NULL.
        let descriptor = unsafe { EventDesc.read_unaligned() };
        let kind = descriptor.EventType;
        if kind.0 >= HSA_EVENTTYPE_MAXID.0 {
            return Err(Error::Argument(format!("{} is no kind of event", kind.0)));
        }
        let platform = process::platform()?;
        let event =
            process::with_events(|events| Ok(events.create(&*platform, &descriptor, ManualReset, IsSignaled)?))?;
        out.write(event.cast_mut());
        Ok(())
    }

    /// Destroys an event. SUCCESS for NULL: there is nothing to destroy.
    fn hsaKmtDestroyEvent(Event: *mut HsaEvent) {
        process::require_open()?;
        if Event.is_null() { Ok(()) } else { one(Event, |events, platform, event| events.destroy(platform, event)) }
    }

    /// Signals an event. INVALID_HANDLE for NULL.
    fn hsaKmtSetEvent(Event: *mut HsaEvent) {
        one(Event, |events, platform, event| events.set(platform, event, true))
    }

    /// Takes back the signal of an event. INVALID_HANDLE for NULL.
    fn hsaKmtResetEvent(Event: *mut HsaEvent) {
        one(Event, |events, platform, event| events.set(platform, event, false))
    }

    /// Tells whether an event is one; no driver tells its state without consuming it (kfd.md 4.6). INVALID_HANDLE for
    /// NULL and for what is no event.
    fn hsaKmtQueryEventState(Event: *mut HsaEvent) {
        one(Event, |events, platform, event| events.is_known(platform, event))
    }

    /// Waits until an event is signalled, at most `Milliseconds` (0xffffffff: without limit). INVALID_HANDLE for NULL.
    fn hsaKmtWaitOnEvent(Event: *mut HsaEvent, Milliseconds: HSAuint32) {
        wait_one(Event, Milliseconds, std::ptr::null_mut())
    }

    /// [`hsaKmtWaitOnEvent`] that returns at once when the event was signalled more than `*event_age` times; the
    /// number of signals is written back.
    fn hsaKmtWaitOnEvent_Ext(Event: *mut HsaEvent, Milliseconds: HSAuint32, event_age: *mut u64) {
        wait_one(Event, Milliseconds, event_age)
    }

    /// Waits until one of `NumEvents` events is signalled, or with `WaitOnAll` each of them. INVALID_HANDLE when the
    /// array is NULL.
    fn hsaKmtWaitOnMultipleEvents(
        Events: *mut *mut HsaEvent,
        NumEvents: HSAuint32,
        WaitOnAll: bool,
        Milliseconds: HSAuint32,
    ) {
        // SAFETY: the array is the caller's, of `NumEvents` pointers.
        unsafe { wait_many(Events, NumEvents, WaitOnAll, Milliseconds, std::ptr::null_mut()) }
    }

    /// [`hsaKmtWaitOnMultipleEvents`] with the number of signals that the caller has seen of each event.
    fn hsaKmtWaitOnMultipleEvents_Ext(
        Events: *mut *mut HsaEvent,
        NumEvents: HSAuint32,
        WaitOnAll: bool,
        Milliseconds: HSAuint32,
        event_age: *mut u64,
    ) {
        // SAFETY: the arrays are the caller's, of `NumEvents` elements each.
        unsafe { wait_many(Events, NumEvents, WaitOnAll, Milliseconds, event_age) }
    }

    /// Opens a file from which the system management events of a node are read; `*fd` is -1 after a failure.
    fn hsaKmtOpenSMI(NodeId: HSAuint32, fd: *mut c_int) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("fd", fd) }?;
        out.write(-1);
        node(NodeId)?;
        not_supported("system management events")
    }
}
