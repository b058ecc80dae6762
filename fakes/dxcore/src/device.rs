//! Devices, and what a handle can name (dxgkrnl.md 1.4, 1.5, 2.2, rules 38 to 42).

use core::mem::offset_of;

use crate::Status;
use crate::allocation::{Allocation, Resource};
use crate::d3dkmt::{
    D3DKMT_CREATEDEVICE, D3DKMT_DESTROYDEVICE, D3DKMT_GETDEVICESTATE, device_state_type, execution_state, ntstatus,
};
use crate::handles::{instance_of, plain};
use crate::inject::Failure;
use crate::monitored::MonitoredFence;
use crate::paging::PagingQueue;
use crate::process::State;

/// `D3DKMT_CREATEDEVICEFLAGS` that have a meaning.
const KNOWN_FLAGS: u32 = 0b111;

/// What a handle of the main table names.
#[derive(Debug)]
pub(crate) enum Object {
    /// A device.
    Device(Device),
    /// A paging queue.
    PagingQueue(PagingQueue),
    /// The fence of the paging queue of that handle: a handle without an object (rule 14).
    PagingFence(u32),
    /// A monitored fence.
    MonitoredFence(MonitoredFence),
    /// An allocation.
    Allocation(Allocation),
    /// A resource: allocations that go together.
    Resource(Resource),
}

impl Object {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Device(_) => "a device",
            Self::PagingQueue(_) => "a paging queue",
            Self::PagingFence(_) => "a paging fence",
            Self::MonitoredFence(_) => "a monitored fence",
            Self::Allocation(_) => "an allocation",
            Self::Resource(_) => "a resource",
        }
    }
}

/// A device.
#[derive(Debug)]
pub(crate) struct Device {
    /// Index of its adapter.
    adapter: usize,
    /// Its execution state on the host.
    pub(crate) execution: u32,
    /// The execution state that the guest answers with, and how many announced errors it has seen.
    cached: (u32, u64),
}

impl State {
    /// A bad handle of the main table is IP (rule 11).
    pub(crate) fn bad_handle(&mut self, handle: u32, wanted: &str) -> Status {
        let what = match self.main.get(handle) {
            Ok(object) => format!("is {}", object.kind()),
            Err(miss) => miss.text().to_owned(),
        };
        self.violate(format!("{wanted} handle {handle:#x} {what}"));
        ntstatus::INVALID_PARAMETER
    }

    /// Altered low bits pass the guest and fail on the host (rule 12): `true` when the host would refuse.
    pub(crate) fn altered(&mut self, handle: u32) -> bool {
        let altered = instance_of(handle) != 0;
        if altered {
            self.violate(format!("handle {handle:#x} has altered low bits"));
        }
        altered
    }

    /// Whether the handle names a device of this process.
    pub(crate) fn is_device(&self, handle: u32) -> bool {
        matches!(self.main.get(handle), Ok(Object::Device(_)))
    }

    /// The adapter of a device; a bad handle is IP (rule 11).
    pub(crate) fn adapter_of_device(&mut self, handle: u32) -> Result<usize, Status> {
        match self.main.get(handle) {
            Ok(Object::Device(device)) => Ok(device.adapter),
            _ => Err(self.bad_handle(handle, "device")),
        }
    }

    /// Devices alive.
    pub(crate) fn live_devices(&self) -> u64 {
        self.main.iter().filter(|(_, o)| matches!(o, Object::Device(_))).count() as u64
    }

    /// Destroys every device of an adapter; how many there were.
    pub(crate) fn destroy_devices_of(&mut self, adapter: usize) -> usize {
        let of_adapter = |o: &Object| matches!(o, Object::Device(d) if d.adapter == adapter);
        let devices: Vec<u32> = self.main.iter().filter(|(_, o)| of_adapter(o)).map(|(h, _)| h).collect();
        for device in &devices {
            self.destroy_device(*device);
        }
        devices.len()
    }

    /// Frees the device handle first, then its children in the order of dxgkrnl.md 1.5: what they were, in words.
    fn destroy_device(&mut self, device: u32) -> Vec<String> {
        // The caller found the handle.
        let _ = self.main.remove(device);
        let device = plain(device);
        let (mut fences, mut alone, mut resources, mut queues) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (handle, object) in self.main.iter() {
            match object {
                Object::MonitoredFence(f) if f.device == device => fences.push(handle),
                Object::Allocation(a) if a.device == device && a.resource == 0 => alone.push(handle),
                Object::Resource(r) if r.device == device => resources.push(handle),
                Object::PagingQueue(q) if q.device == device => queues.push(handle),
                _ => {}
            }
        }
        fences.iter().for_each(|handle| self.remove_fence(*handle));
        alone.iter().for_each(|handle| self.remove_allocation(*handle));
        resources.iter().for_each(|handle| self.remove_resource(*handle));
        queues.iter().for_each(|handle| self.remove_paging_queue(*handle));
        let kinds = [(fences, "fences"), (alone, "allocations"), (resources, "resources"), (queues, "paging queues")];
        kinds.into_iter().filter(|(h, _)| !h.is_empty()).map(|(h, name)| format!("{} {name}", h.len())).collect()
    }
}

/// Every failure of the host is success without a handle (rule 38); what the guest itself fails keeps its status.
pub(crate) fn create_device(
    state: &mut State,
    args: *mut D3DKMT_CREATEDEVICE,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    // The field is a union of the handle with a pointer: the guest reads its low half.
    let adapter = state.adapter_of(asked.hAdapter as u32)?;
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return failure.of_guest().map_or(Ok(()), Err);
    }
    if asked.Flags & !KNOWN_FLAGS != 0 {
        state.violate(format!("flags {:#x}", asked.Flags));
        return Ok(());
    }
    let cached = (execution_state::ACTIVE, state.errors_announced);
    let device = Device { adapter, execution: execution_state::ACTIVE, cached };
    let handle = state.main.insert(Object::Device(device));
    let field = args.cast::<u8>().wrapping_add(offset_of!(D3DKMT_CREATEDEVICE, hDevice)).cast::<u32>();
    let written = state.write(field, &handle);
    if written.is_err() {
        state.destroy_device(handle);
    }
    written
}

/// Success whenever the handle was valid: the host's answer is ignored (dxgkrnl.md 1.5). A failure on request
/// shows only with a status of the guest, and the device is gone all the same.
pub(crate) fn destroy_device(
    state: &mut State,
    args: *const D3DKMT_DESTROYDEVICE,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    state.adapter_of_device(asked.hDevice)?;
    state.altered(asked.hDevice);
    let children = state.destroy_device(asked.hDevice);
    if !children.is_empty() {
        state.violate(format!("device {:#x} went while {} were alive", asked.hDevice, children.join(", ")));
    }
    failure.and_then(Failure::of_guest).map_or(Ok(()), Err)
}

/// The execution state comes from a cache until an error was announced (rule 42); all else asks the host.
pub(crate) fn get_device_state(
    state: &mut State,
    args: *mut D3DKMT_GETDEVICESTATE,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let mut asked = state.read(args)?;
    let adapter = state.adapter_of_device(asked.hDevice)?;
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    let altered = state.altered(asked.hDevice);
    let announced = state.errors_announced;
    let Ok(Object::Device(device)) = state.main.get_mut(asked.hDevice) else {
        return Err(ntstatus::INVALID_PARAMETER);
    };
    match asked.StateType {
        device_state_type::EXECUTION if device.cached.1 == announced => asked.ExecutionState = device.cached.0,
        _ if altered => return Err(ntstatus::INVALID_PARAMETER),
        device_state_type::EXECUTION => {
            device.cached = (device.execution, announced);
            asked.ExecutionState = device.execution;
        }
        device_state_type::RESET | device_state_type::PAGE_FAULT => {
            asked.ExecutionState = 0;
            asked.Rest = [0; 11];
        }
        _ => return Err(ntstatus::INVALID_PARAMETER),
    }
    state.write(args, &asked)
}
