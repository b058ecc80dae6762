//! CPU waits for fences (dxgkrnl.md 2.4, 4.3, rules 109 and 111 to 116).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::Status;
use crate::d3dkmt::{D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, ntstatus, wait_from_cpu_flags};
use crate::device::Object;
use crate::handles::plain;
use crate::inject::Failure;
use crate::process::State;
use crate::record::{OWN, duplicate};

/// Most objects that fit into one message to the host (dxgkrnl.md 2.4).
const MAX_OBJECTS: u32 = 10_900;

/// What is waited for.
#[derive(Debug)]
pub(crate) struct Wait {
    /// Fences by handle and identity, with the values that they must reach.
    objects: Vec<(u32, u64, u64)>,
    /// One of them is enough.
    any: bool,
}

/// A wait that raises an event at its end.
#[derive(Debug)]
pub(crate) struct EventWait {
    wait: Wait,
    event: OwnedFd,
}

impl State {
    /// Whether a wait is over. A fence that is gone holds nobody up (rule 105).
    pub(crate) fn satisfied(&self, wait: &Wait) -> bool {
        let reached = |(fence, identity, value): &(u32, u64, u64)| match self.main.get(*fence) {
            Ok(Object::PagingFence(queue)) => match self.main.get(*queue) {
                Ok(Object::PagingQueue(queue)) => queue.identity != *identity || queue.reached() >= *value,
                _ => true,
            },
            Ok(Object::MonitoredFence(fence)) => fence.identity != *identity || fence.page.value() >= *value,
            _ => true,
        };
        if wait.any { wait.objects.iter().any(reached) } else { wait.objects.iter().all(reached) }
    }

    /// Raises the event of every wait that is over, once.
    pub(crate) fn raise_events(&mut self) {
        if self.event_waits.is_empty() {
            return;
        }
        let (over, left) = core::mem::take(&mut self.event_waits).into_iter().partition(|w| self.satisfied(&w.wait));
        self.event_waits = left;
        let over: Vec<EventWait> = over;
        for wait in over {
            let one = 1_u64.to_ne_bytes();
            // SAFETY: writes eight bytes of ours to a descriptor of ours.
            let _ = unsafe { libc::write(wait.event.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        }
    }

    /// Waits whose event was not raised yet.
    pub(crate) fn waits(&self) -> u64 {
        self.event_waits.len() as u64
    }
}

/// A reference of the kernel's own to an eventfd: closing the descriptor does not end the wait (rule 113).
fn event_of(fd: u64) -> Option<OwnedFd> {
    let copy = duplicate(i32::try_from(fd).ok()?, OWN)?;
    let link = std::fs::read_link(format!("/proc/self/fd/{}", copy.as_raw_fd())).ok()?;
    (link.as_os_str() == "anon_inode:[eventfd]").then_some(copy)
}

/// The wait to sit out, or `None` when the call is over.
pub(crate) fn wait_from_cpu(
    state: &mut State,
    args: *const D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU,
    failure: Option<Failure>,
) -> Result<Option<Wait>, Status> {
    let asked = state.read(args)?;
    if asked.ObjectCount == 0 {
        state.violate("no objects");
        return Err(ntstatus::INVALID_PARAMETER);
    }
    if asked.ObjectCount > MAX_OBJECTS {
        state.violate(format!("{} objects", asked.ObjectCount));
        return Err(ntstatus::BUFFER_TOO_SMALL);
    }
    let adapter = state.adapter_of_device(asked.hDevice)?;
    state.require_active(adapter)?;
    let objects = state.read_array(asked.ObjectHandleArray, asked.ObjectCount as usize)?;
    let values = state.read_array(asked.FenceValueArray, asked.ObjectCount as usize)?;
    let event = match asked.hAsyncEvent {
        0 => None,
        fd => {
            let event = event_of(fd);
            if event.is_none() {
                state.violate(format!("descriptor {fd} is no eventfd"));
                return Err(ntstatus::INVALID_PARAMETER);
            }
            event
        }
    };
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    if asked.Flags & !wait_from_cpu_flags::WAIT_ANY != 0 {
        state.violate(format!("flags {:#x}", asked.Flags));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let mut wait = Wait { objects: Vec::new(), any: asked.Flags & wait_from_cpu_flags::WAIT_ANY != 0 };
    for (handle, value) in objects.into_iter().zip(values) {
        let (device, identity, queue) = match state.main.get(handle) {
            Ok(Object::MonitoredFence(fence)) if fence.no_wait() => return Err(ntstatus::ACCESS_DENIED),
            Ok(Object::MonitoredFence(fence)) => (fence.device, fence.identity, None),
            Ok(Object::PagingFence(queue)) => match state.main.get(*queue) {
                Ok(Object::PagingQueue(found)) => (found.device, found.identity, Some(*queue)),
                _ => return Err(state.bad_handle(handle, "fence")),
            },
            _ => return Err(state.bad_handle(handle, "fence")),
        };
        if state.altered(handle) || device != plain(asked.hDevice) {
            state.violate(format!("fence {handle:#x} is of another device"));
            return Err(ntstatus::INVALID_PARAMETER);
        }
        if let (Some(queue), Some(_), false) = (queue, &event, state.clock.mode.manual) {
            // No call of the process may follow that would notice: time passes here.
            state.finish(queue, value);
        }
        wait.objects.push((handle, identity, value));
    }
    let Some(event) = event else { return Ok(Some(wait)) };
    state.event_waits.push(EventWait { wait, event });
    state.raise_events();
    Ok(None)
}

/// Lets a blocked thread look again every now and then; a signal ends the wait as it ends a read.
#[derive(Debug)]
pub(crate) struct Ticker(OwnedFd);

impl Ticker {
    /// Time between two looks, in nanoseconds.
    const TICK: i64 = 500_000;

    /// Starts ticking; `None` without a descriptor to be had.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: opens a descriptor.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        if fd < 0 {
            return None;
        }
        // SAFETY: just opened, and nobody else's.
        let ticker = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        let tick = libc::timespec { tv_sec: 0, tv_nsec: Self::TICK };
        let times = libc::itimerspec { it_interval: tick, it_value: tick };
        // SAFETY: a timer of ours and times that outlive the call.
        let set = unsafe { libc::timerfd_settime(ticker.0.as_raw_fd(), 0, &raw const times, core::ptr::null_mut()) };
        (set == 0).then_some(ticker)
    }

    /// Sleeps to the next tick; `false` when a signal came whose handler does not restart calls (rule 112).
    pub(crate) fn sleep(&self) -> bool {
        let mut count = [0_u8; 8];
        // SAFETY: reads eight bytes into a buffer of eight.
        unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) == 8 }
    }
}
