//! Events and waits (kfd-kernel.md section 4).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::abi;
use crate::errno::{Answer, Errno};
use crate::kernel::{Call, Caller, Kernel};
use crate::memory::{Buffer, flag, halves};
use crate::mmap::Pages;
use crate::mode::Mode;

/// Signalled by a shader or by SET_EVENT.
const SIGNAL: u32 = 0;
/// For debuggers; has a slot too.
const DEBUG: u32 = 5;
/// Ids of events without a slot.
const OTHER_IDS: core::ops::RangeInclusive<u32> = 0x4000_0000..=0x7fff_ffff;
/// Slots of a page that the kernel made and nobody has mapped yet.
const KERNEL_SLOTS: u32 = 256;
/// Bytes of a full event page: 4096 slots.
pub(crate) const EVENT_PAGE: u64 = 32768;
/// Events of one wait at most (rule 96).
const MOST: u32 = 4096;
/// Bytes of a record in the list of a wait (`kfd_event_data`).
const RECORD: u64 = 48;
/// Timeout without end.
const FOREVER: u32 = u32::MAX;

const COMPLETE: u32 = 0;
const TIMEOUT: u32 = 1;
const FAIL: u32 = 2;

/// An event.
#[derive(Debug)]
struct Event {
    kind: u32,
    auto_reset: bool,
    set: bool,
    /// Number of times it was set, from 1.
    age: u64,
}

/// One entry of a wait.
#[derive(Debug, Clone, Copy)]
struct Entry {
    id: u32,
    /// Age that the caller knows; 0 does not care.
    age: u64,
    activated: bool,
    destroyed: bool,
    /// The wait unset an auto-reset event.
    consumed: bool,
}

#[derive(Debug)]
struct Waiter {
    entries: Vec<Entry>,
    all: bool,
}

impl Waiter {
    fn complete(&self) -> bool {
        if self.all { self.entries.iter().all(|e| e.activated) } else { self.entries.iter().any(|e| e.activated) }
    }
}

/// The events of a process.
#[derive(Debug, Default)]
pub(crate) struct Events {
    page: Option<Page>,
    events: BTreeMap<u32, Event>,
    waiters: BTreeMap<u64, Waiter>,
    next_waiter: u64,
}

/// Where the slots are.
#[derive(Debug, Clone, Copy)]
struct Page {
    /// A buffer of the process, or the kernel's own page.
    buffer: Option<(usize, u32)>,
    pages: Pages,
    slots: u32,
}

impl Events {
    /// A buffer that can never be freed (rule 43).
    pub(crate) fn is_page(&self, gpu: usize, id: u32) -> bool {
        self.page.is_some_and(|page| page.buffer == Some((gpu, id)))
    }

    /// How many events there are.
    pub(crate) fn count(&self) -> u64 {
        self.events.len() as u64
    }

    /// `mmap` of the slots: all of them from now on.
    pub(crate) fn mmap(&mut self, length: u64) -> Answer<Pages> {
        if length > EVENT_PAGE {
            return Err(Errno::EINVAL);
        }
        let page = self.page.as_mut().ok_or(Errno::EINVAL)?;
        page.slots = (length / 8) as u32;
        Ok(page.pages)
    }

    fn signal(&mut self, id: u32) {
        let Some(event) = self.events.get_mut(&id) else { return };
        event.age = event.age.checked_add(1).unwrap_or(2);
        let mut awaited = false;
        let waiting = self.waiters.values_mut().flat_map(|w| &mut w.entries);
        for entry in waiting.filter(|entry| entry.id == id) {
            awaited = true;
            entry.activated = true;
        }
        event.set = !(event.auto_reset && awaited);
    }
}

/// Bytes of a mapping that the driver sets to all ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// Which pages.
    pub pages: Pages,
    /// First byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// A wait that sleeps. The front-end asks [`Kernel::resume`] after every call of any process, and at the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    number: u64,
    tgid: i32,
    argument: u64,
    list: u64,
    /// When it ends by itself.
    pub deadline: Option<Instant>,
}

impl Kernel {
    /// What the driver wrote into mappings since the last call; the front-end carries it out before it goes on.
    pub fn take_fills(&mut self) -> Vec<Fill> {
        core::mem::take(&mut self.fills)
    }

    pub(crate) fn create_event(&mut self, call: &mut Call<'_>) -> Answer {
        use abi::create_event as at;
        let handle = call.args.u64(at::event_page_offset);
        let kind = call.args.u32(at::event_type);
        if handle != 0 {
            self.set_event_page(call, handle)?;
        }
        call.args.put_u64(at::event_page_offset, 0);
        let slotted = kind == SIGNAL || kind == DEBUG;
        let tgid = call.caller.tgid();
        let page_offset = self.kfd_offset(tgid, Pages::Events(tgid));
        // Where mappings are not seen there may be one.
        let slots = if self.config.file_offsets { (EVENT_PAGE / 8) as u32 } else { KERNEL_SLOTS };
        let events = &mut self.process(call).events;
        let id = if slotted {
            let own = Page { buffer: None, pages: Pages::Events(tgid), slots };
            let fresh = events.page.is_none();
            let slots = events.page.get_or_insert(own).slots;
            let id = (1..slots).find(|id| !events.events.contains_key(id));
            self.fills.extend(fresh.then_some(Fill { pages: own.pages, offset: 0, bytes: EVENT_PAGE }));
            id
        } else {
            OTHER_IDS.into_iter().find(|id| !events.events.contains_key(id))
        };
        let id = id.ok_or(Errno::ENOSPC)?;
        let event = Event { kind, auto_reset: call.args.u32(at::auto_reset) != 0, set: false, age: 1 };
        let events = &mut self.process(call).events;
        events.events.insert(id, event);
        let pages = events.page.map(|page| page.pages);
        call.args.put_u32(at::event_id, id);
        call.args.put_u32(at::event_trigger_data, id);
        if slotted {
            call.args.put_u32(at::event_slot_index, id);
            call.args.put_u64(at::event_page_offset, page_offset);
            self.fills.extend(pages.map(|pages| Fill { pages, offset: 8 * u64::from(id), bytes: 8 }));
        }
        Ok(())
    }

    /// The first event brings the buffer that the slots are in.
    fn set_event_page(&mut self, call: &Call<'_>, handle: u64) -> Answer {
        if self.process(call).events.page.is_some() {
            return Err(Errno::EINVAL);
        }
        let (gpu_id, id) = halves(handle);
        let gpu = self.gpu(gpu_id).ok_or(Errno::EINVAL)?;
        if !self.is_bound(call, gpu) {
            return Err(Errno::ENODEV);
        }
        let process = self.process(call);
        let found = process.buffers.get(&gpu).and_then(|buffers| buffers.get(&id));
        let fits = |b: &&Buffer| b.flags & flag::USERPTR == 0 && b.bytes >= EVENT_PAGE;
        let buffer = found.filter(fits).ok_or(Errno::EINVAL)?;
        let pages = Pages::Buffer(buffer.serial);
        process.events.page = Some(Page { buffer: Some((gpu, id)), pages, slots: (EVENT_PAGE / 8) as u32 });
        self.fills.push(Fill { pages, offset: 0, bytes: EVENT_PAGE });
        Ok(())
    }

    /// SET_EVENT and, with `set` unset, RESET_EVENT.
    pub(crate) fn set_event(&mut self, call: &Call<'_>, set: bool) -> Answer {
        let id = call.args.u32(abi::set_event::event_id);
        let events = &mut self.process(call).events;
        let event = events.events.get_mut(&id).filter(|event| event.kind == SIGNAL).ok_or(Errno::EINVAL)?;
        if set {
            events.signal(id);
        } else {
            event.set = false;
        }
        Ok(())
    }

    pub(crate) fn destroy_event(&mut self, call: &Call<'_>) -> Answer {
        let id = call.args.u32(abi::set_event::event_id);
        let events = &mut self.process(call).events;
        events.events.remove(&id).ok_or(Errno::EINVAL)?;
        let waiting = events.waiters.values_mut().flat_map(|w| &mut w.entries);
        waiting.filter(|entry| entry.id == id).for_each(|entry| entry.destroyed = true);
        Ok(())
    }

    /// WAIT_EVENTS until it would sleep; a sleeping one is left in `parked`.
    pub(crate) fn wait_events(&mut self, call: &mut Call<'_>) -> Answer {
        use abi::wait_events as at;
        call.args.put_u32(at::wait_result, FAIL);
        let (list, count) = (call.args.u64(at::events_ptr), call.args.u32(at::num_events));
        if count > MOST && self.config.mode >= Mode::V7_2 {
            return Err(Errno::ENOMEM);
        }
        let mut entries = Vec::new();
        for i in 0..u64::from(count) {
            let mut record = [0; RECORD as usize];
            if !call.caller.read(list.wrapping_add(i * RECORD), &mut record) {
                return Err(Errno::EFAULT);
            }
            let record = abi::Block(record.to_vec());
            let id = record.u32(abi::event_data::event_id);
            let event = self.process(call).events.events.get_mut(&id).ok_or(Errno::EINVAL)?;
            let age = if event.kind == SIGNAL { record.u64(abi::signal_data::last_event_age) } else { 0 };
            let activated = event.set || (age != 0 && age != event.age);
            let consumed = event.set && event.auto_reset;
            event.set &= !event.auto_reset;
            entries.push(Entry { id, age, activated, destroyed: false, consumed });
        }
        let waiter = Waiter { entries, all: call.args.u32(at::wait_for_all) != 0 };
        if count == 0 || waiter.complete() {
            let answer = self.report(call.caller, list, &waiter);
            call.args.put_u32(at::wait_result, if answer.is_ok() { COMPLETE } else { FAIL });
            return answer;
        }
        let timeout = call.args.u32(at::timeout);
        if timeout == 0 {
            call.args.put_u32(at::wait_result, TIMEOUT);
            return Ok(());
        }
        let deadline = (timeout != FOREVER).then(|| Instant::now() + Duration::from_millis(timeout.into()));
        let events = &mut self.process(call).events;
        let number = events.next_waiter;
        events.next_waiter += 1;
        events.waiters.insert(number, waiter);
        self.parked = Some(Wait { number, tgid: call.caller.tgid(), argument: call.argument, list, deadline });
        Ok(())
    }

    /// Writes the new ages of activated signals.
    fn report(&self, caller: &dyn Caller, list: u64, waiter: &Waiter) -> Answer {
        let Some(process) = self.processes.get(&caller.tgid()) else { return Ok(()) };
        for (i, entry) in (0_u64..).zip(&waiter.entries).filter(|(_, entry)| entry.activated && entry.age != 0) {
            let age = process.events.events.get(&entry.id).map_or(entry.age, |event| event.age);
            let place = list.wrapping_add(i * RECORD + abi::signal_data::last_event_age as u64);
            if !caller.write(place, &age.to_le_bytes()) {
                return Err(Errno::EFAULT);
            }
        }
        Ok(())
    }

    /// A signal for the thread of a wait that sleeps: the wait ends and what it consumed is given back. The front-end
    /// ends the call so that it is made again or becomes EINTR (rule 103).
    pub fn interrupt(&mut self, caller: &dyn Caller, wait: &Wait) {
        let Some(process) = self.processes.get_mut(&wait.tgid) else { return };
        let Some(waiter) = process.events.waiters.remove(&wait.number) else { return };
        for entry in waiter.entries.iter().filter(|entry| entry.consumed) {
            if let Some(event) = process.events.events.get_mut(&entry.id) {
                event.set = true;
            }
        }
        let write =
            |offset: usize, value: u32| caller.write(wait.argument.wrapping_add(offset as u64), &value.to_le_bytes());
        if let Some(deadline) = wait.deadline {
            let left = deadline.saturating_duration_since(Instant::now()).as_millis();
            write(abi::wait_events::timeout, u32::try_from(left).unwrap_or(FOREVER - 1));
        }
        write(abi::wait_events::wait_result, FAIL);
    }

    /// Looks after a wait that sleeps: what it ends in, or `None` while it goes on.
    pub fn resume(&mut self, caller: &dyn Caller, wait: &Wait) -> Option<Answer> {
        let process = self.processes.get_mut(&wait.tgid);
        let Some(waiter) = process.and_then(|p| p.events.waiters.remove(&wait.number)) else {
            return Some(Err(Errno::EINVAL));
        };
        let late = wait.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let (answer, result) = if waiter.entries.iter().any(|entry| entry.destroyed) {
            (Err(Errno::EIO), FAIL)
        } else if waiter.complete() {
            let answer = self.report(caller, wait.list, &waiter);
            (answer, if answer.is_ok() { COMPLETE } else { FAIL })
        } else if late {
            (Ok(()), TIMEOUT)
        } else {
            if let Some(process) = self.processes.get_mut(&wait.tgid) {
                process.events.waiters.insert(wait.number, waiter);
            }
            return None;
        };
        let place = wait.argument.wrapping_add(abi::wait_events::wait_result as u64);
        if caller.write(place, &result.to_le_bytes()) { Some(answer) } else { Some(Err(Errno::EFAULT)) }
    }
}
