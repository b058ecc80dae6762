//! Paging queues: operations that are done later, in order, and the fence that tells (dxgkrnl.md 3.6, rules 47 to 49
//! and 84).
//!
//! No thread completes them. An operation is ready some time after it was queued; it is done when, after that, the
//! process makes its next call, or waits. [`crate::control::Paging`] chooses the times.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::Status;
use crate::allocation::new_identity;
use crate::control::Paging;
use crate::d3dkmt::{D3DDDI_DESTROYPAGINGQUEUE, D3DKMT_CREATEPAGINGQUEUE, execution_state, ntstatus};
use crate::device::Object;
use crate::fence::FencePage;
use crate::handles::plain;
use crate::inject::Failure;
use crate::process::State;
use crate::space::Due;

/// A paging queue.
#[derive(Debug)]
pub(crate) struct PagingQueue {
    /// Handle of its device.
    pub(crate) device: u32,
    /// What no other queue has, whatever its handle.
    pub(crate) identity: u64,
    fence: u32,
    page: FencePage,
    issued: u64,
    /// Value and time of each operation that is not done, in order.
    pending: VecDeque<(u64, Instant)>,
}

impl PagingQueue {
    /// What its fence has reached.
    pub(crate) const fn reached(&self) -> u64 {
        self.page.value()
    }

    /// Does the operations up to `value`, in order.
    fn finish(&mut self, value: u64) {
        while self.pending.front().is_some_and(|(front, _)| *front <= value) {
            if let Some((done, _)) = self.pending.pop_front() {
                self.page.advance(done);
            }
        }
    }
}

/// When operations are done, and the source of what varies.
#[derive(Debug)]
pub(crate) struct Clock {
    /// As the test chose it.
    pub(crate) mode: Paging,
    random: u64,
    operations: u64,
    /// Queues with operations that are not done.
    busy: Vec<u32>,
}

impl Clock {
    /// The times of a mode, from the start.
    pub(crate) const fn new(mode: Paging) -> Self {
        Self { mode, random: mode.seed, operations: 0, busy: Vec::new() }
    }

    /// Other times from now on; what is queued stays queued.
    pub(crate) fn choose(&mut self, mode: Paging) {
        (self.mode, self.random, self.operations) = (mode, mode.seed, 0);
    }

    /// A number below `bound`; the same sequence for the same seed.
    fn random(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % bound.max(1)
    }

    /// Whether the next operation is done at once.
    fn at_once(&mut self) -> bool {
        self.operations += 1;
        let every = u64::from(self.mode.immediate_every);
        match (every, self.mode.seed) {
            (0, _) => false,
            (_, 0) => self.operations.is_multiple_of(every),
            _ => self.random(every) == 0,
        }
    }

    fn delay(&mut self) -> Duration {
        let most = u64::from(self.mode.delay_us);
        Duration::from_micros(if self.mode.seed == 0 { most } else { self.random(most + 1) })
    }
}

impl State {
    /// Queues one operation: what its caller must wait for, 0 when it is done already.
    pub(crate) fn issue(&mut self, queue: u32) -> Due {
        let queue = plain(queue);
        let Ok(Object::PagingQueue(found)) = self.main.get_mut(queue) else { return Due::NOW };
        if found.pending.is_empty() && self.clock.at_once() {
            return Due::NOW;
        }
        found.issued += 1;
        let ready = Instant::now() + self.clock.delay();
        let ready = found.pending.back().map_or(ready, |(_, last)| ready.max(*last));
        found.pending.push_back((found.issued, ready));
        let (identity, value) = (found.identity, found.issued);
        if !self.clock.busy.contains(&queue) {
            self.clock.busy.push(queue);
        }
        Due { queue, identity, value }
    }

    /// Whether an operation is done; one of a queue that is gone is.
    pub(crate) fn done(&self, due: Due) -> bool {
        match self.main.get(due.queue) {
            Ok(Object::PagingQueue(queue)) if queue.identity == due.identity => queue.reached() >= due.value,
            _ => true,
        }
    }

    /// Does what is ready, and raises the events that waited for it.
    pub(crate) fn progress(&mut self) {
        if !self.clock.mode.manual && !self.clock.busy.is_empty() {
            let now = Instant::now();
            for handle in core::mem::take(&mut self.clock.busy) {
                let Ok(Object::PagingQueue(queue)) = self.main.get_mut(handle) else { continue };
                let ready = queue.pending.iter().take_while(|(_, ready)| *ready <= now).last().map(|(value, _)| *value);
                queue.finish(ready.unwrap_or(0));
                if !queue.pending.is_empty() {
                    self.clock.busy.push(handle);
                }
            }
        }
        self.raise_events();
    }

    /// Does the operations of a queue up to `value` now; how many were left to do.
    pub(crate) fn finish(&mut self, queue: u32, value: u64) -> Option<usize> {
        let Ok(Object::PagingQueue(found)) = self.main.get_mut(queue) else { return None };
        let before = found.pending.len();
        found.finish(value);
        let done = before - found.pending.len();
        self.raise_events();
        Some(done)
    }

    /// On device loss the fences of the device become all-ones, so that waits end (rules 115 and 116).
    pub(crate) fn lose_device(&mut self, device: u32, execution: u32) {
        let device = plain(device);
        if let Ok(Object::Device(found)) = self.main.get_mut(device) {
            found.execution = execution;
        }
        if execution != execution_state::ACTIVE {
            for object in self.main.values_mut() {
                match object {
                    Object::PagingQueue(queue) if queue.device == device => {
                        queue.pending.clear();
                        queue.page.advance(u64::MAX);
                    }
                    Object::MonitoredFence(fence) if fence.device == device => fence.lose(),
                    _ => {}
                }
            }
        }
        self.raise_events();
    }

    /// Whether the host has given up the device.
    pub(crate) fn lost(&self, device: u32) -> bool {
        matches!(self.main.get(device), Ok(Object::Device(d)) if d.execution != execution_state::ACTIVE)
    }

    /// The device of a paging queue; a bad handle is IP (rules 72, 79 and 87).
    pub(crate) fn device_of_queue(&mut self, handle: u32) -> Result<u32, Status> {
        match self.main.get(handle) {
            Ok(Object::PagingQueue(queue)) => Ok(queue.device),
            _ => Err(self.bad_handle(handle, "paging queue")),
        }
    }

    /// Paging queues alive.
    pub(crate) fn live_paging_queues(&self) -> u64 {
        self.main.iter().filter(|(_, o)| matches!(o, Object::PagingQueue(_))).count() as u64
    }

    /// Takes a paging queue and its fence away.
    pub(crate) fn remove_paging_queue(&mut self, handle: u32) {
        if let Ok(Object::PagingQueue(queue)) = self.main.remove(handle) {
            let _ = self.main.remove(queue.fence);
            if !queue.page.intact() {
                self.violate(format!("the client wrote to the fence page of paging queue {handle:#x}"));
            }
            self.graveyard.bury(queue.page.surrender());
            self.raise_events();
        }
    }
}

/// The reply carries no status: a refusal is BUFFER_TOO_SMALL (rule 48).
pub(crate) fn create_paging_queue(
    state: &mut State,
    args: *mut D3DKMT_CREATEPAGINGQUEUE,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let mut asked = state.read(args)?;
    let adapter = state.adapter_of_device(asked.hDevice)?;
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::BUFFER_TOO_SMALL));
    }
    let altered = state.altered(asked.hDevice);
    let priority = asked.Priority as i32;
    if altered || state.lost(asked.hDevice) || !(-1..=1).contains(&priority) || asked.PhysicalAdapterIndex != 0 {
        return Err(ntstatus::BUFFER_TOO_SMALL);
    }
    let Some(page) = FencePage::new() else { return Err(ntstatus::NO_MEMORY) };
    let address = page.address();
    let device = plain(asked.hDevice);
    let queue = PagingQueue { device, identity: new_identity(), fence: 0, page, issued: 0, pending: VecDeque::new() };
    // The fence names its queue and the queue its fence.
    let fence = state.main.insert(Object::PagingFence(0));
    let handle = state.main.insert(Object::PagingQueue(PagingQueue { fence, ..queue }));
    if let Ok(object) = state.main.get_mut(fence) {
        *object = Object::PagingFence(handle);
    }
    (asked.hSyncObject, asked.hPagingQueue, asked.FenceValueCPUVirtualAddress) = (fence, handle, address);
    let written = state.write(args, &asked);
    if written.is_err() {
        state.remove_paging_queue(handle);
    }
    written
}

/// The queue goes whatever the host says; its status is returned (dxgkrnl.md 2.2). Operations that are not done go
/// with it (rule 49).
pub(crate) fn destroy_paging_queue(
    state: &mut State,
    args: *const D3DDDI_DESTROYPAGINGQUEUE,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let device = state.device_of_queue(asked.hPagingQueue)?;
    let adapter = state.adapter_of_device(device)?;
    state.altered(asked.hPagingQueue);
    state.remove_paging_queue(asked.hPagingQueue);
    state.require_active(adapter)?;
    failure.map_or(Ok(()), |failure| Err(failure.or(ntstatus::INVALID_PARAMETER)))
}
