//! Events, also those of system management (dxg.md 4.2, kfd.md 4.6). Not built: each call makes its checks and no more.
#![allow(unused_variables)]

use std::ffi::c_int;

use super::checks::{given, node, not_supported, object};
use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

const NOT_BUILT: &str = "events are not built yet";

/// The calls on one event.
fn one(event: *const HsaEvent) -> Result<(), Error> {
    process::require_open()?;
    object("Event", event)?;
    not_supported(NOT_BUILT)
}

/// A wait for one event looks at the event before it looks whether the device is open (kfd.md 5.10).
fn wait_one(event: *const HsaEvent) -> Result<(), Error> {
    object("Event", event)?;
    one(event)
}

fn wait_many(events: *const *mut HsaEvent) -> Result<(), Error> {
    process::require_open()?;
    object("Events", events)?;
    not_supported(NOT_BUILT)
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
        let kind = unsafe { EventDesc.read_unaligned() }.EventType;
        if kind.0 >= HSA_EVENTTYPE_MAXID.0 {
            return Err(Error::Argument(format!("{} is no kind of event", kind.0)));
        }
        not_supported(NOT_BUILT)
    }

    /// Destroys an event. SUCCESS for NULL: there is nothing to destroy.
    fn hsaKmtDestroyEvent(Event: *mut HsaEvent) {
        process::require_open()?;
        if Event.is_null() { Ok(()) } else { not_supported(NOT_BUILT) }
    }

    /// Signals an event. INVALID_HANDLE for NULL.
    fn hsaKmtSetEvent(Event: *mut HsaEvent) {
        one(Event)
    }

    /// Takes back the signal of an event. INVALID_HANDLE for NULL.
    fn hsaKmtResetEvent(Event: *mut HsaEvent) {
        one(Event)
    }

    /// Tells whether an event is signalled. INVALID_HANDLE for NULL.
    fn hsaKmtQueryEventState(Event: *mut HsaEvent) {
        one(Event)
    }

    /// Waits until an event is signalled, at most `Milliseconds` (0xffffffff: without limit). INVALID_HANDLE for NULL.
    fn hsaKmtWaitOnEvent(Event: *mut HsaEvent, Milliseconds: HSAuint32) {
        wait_one(Event)
    }

    /// [`hsaKmtWaitOnEvent`] that returns at once when the event was signalled more than `*event_age` times; the
    /// number of signals is written back.
    fn hsaKmtWaitOnEvent_Ext(Event: *mut HsaEvent, Milliseconds: HSAuint32, event_age: *mut u64) {
        wait_one(Event)
    }

    /// Waits until one of `NumEvents` events is signalled, or with `WaitOnAll` each of them. INVALID_HANDLE when the
    /// array is NULL.
    fn hsaKmtWaitOnMultipleEvents(
        Events: *mut *mut HsaEvent,
        NumEvents: HSAuint32,
        WaitOnAll: bool,
        Milliseconds: HSAuint32,
    ) {
        wait_many(Events)
    }

    /// [`hsaKmtWaitOnMultipleEvents`] with the number of signals that the caller has seen of each event.
    fn hsaKmtWaitOnMultipleEvents_Ext(
        Events: *mut *mut HsaEvent,
        NumEvents: HSAuint32,
        WaitOnAll: bool,
        Milliseconds: HSAuint32,
        event_age: *mut u64,
    ) {
        wait_many(Events)
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
