//! Monitored fences (dxgkrnl.md 2.4, 4.1, 4.2, rules 14, 102 and 104 to 106, 109, 115 and 116 as far as CPU waits go).
//!
//! Other kinds of synchronisation objects, and shared fences, are refused: nothing of this machine raises them yet.

use crate::Status;
use crate::allocation::new_identity;
use crate::d3dkmt::{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2, D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, ntstatus, sync_object_flags as flags,
    sync_object_type,
};
use crate::device::Object;
use crate::fence::FencePage;
use crate::handles::plain;
use crate::inject::Failure;
use crate::process::State;
use crate::space::PAGE;

/// What a fence of this machine may be.
const KNOWN: u32 = flags::NO_SIGNAL | flags::NO_WAIT | flags::NO_SIGNAL_MAX_VALUE_ON_TDR | flags::NO_GPUACCESS;

/// A monitored fence.
#[derive(Debug)]
pub(crate) struct MonitoredFence {
    /// Handle of its device.
    pub(crate) device: u32,
    /// What no other fence has, whatever its handle.
    pub(crate) identity: u64,
    /// Index of its adapter.
    adapter: usize,
    /// Its value, for CPU and GPU.
    pub(crate) page: FencePage,
    /// Where the GPU finds it, 0 for nowhere.
    va: u64,
    flags: u32,
}

impl MonitoredFence {
    /// Waiting for it is refused (rule 109).
    pub(crate) const fn no_wait(&self) -> bool {
        self.flags & flags::NO_WAIT != 0
    }

    /// The device is lost: waits end, unless the creator wanted otherwise (rules 115 and 116).
    pub(crate) fn lose(&mut self) {
        if self.flags & flags::NO_SIGNAL_MAX_VALUE_ON_TDR == 0 {
            self.page.set(u64::MAX);
        }
    }
}

impl State {
    /// The GPU or the scheduler raises a fence, and waiters look at it; `false` when there is none, or it may not be
    /// signalled (rule 109).
    pub(crate) fn signal(&mut self, fence: u32, value: u64) -> bool {
        let Ok(Object::MonitoredFence(found)) = self.main.get_mut(fence) else { return false };
        let allowed = found.flags & flags::NO_SIGNAL == 0;
        if allowed {
            found.page.set(value);
            self.raise_events();
        }
        allowed
    }

    /// Takes a fence and its page away.
    pub(crate) fn remove_fence(&mut self, handle: u32) {
        let Ok(Object::MonitoredFence(fence)) = self.main.remove(handle) else { return };
        if let Some(adapter) = self.adapters.get_mut(fence.adapter) {
            adapter.space.withdraw(fence.va);
        }
        if !fence.page.intact() {
            self.violate(format!("the client wrote to the page of monitored fence {handle:#x}"));
        }
        self.graveyard.bury(fence.page.surrender());
        self.raise_events();
    }
}

/// The host's status is lost: a refusal is BUFFER_TOO_SMALL; the whole structure is written on success.
pub(crate) fn create(
    state: &mut State,
    args: *mut D3DKMT_CREATESYNCHRONIZATIONOBJECT2,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let mut asked = state.read(args)?;
    let adapter = state.adapter_of_device(asked.hDevice)?;
    if asked.Info.Flags & flags::SHARED != 0 && asked.Info.Flags & flags::NT_SECURITY_SHARING == 0 {
        state.violate("shared without NtSecuritySharing");
        return Err(ntstatus::INVALID_PARAMETER);
    }
    state.require_active(adapter)?;
    if let Some(failure) = failure {
        return Err(failure.of_guest().unwrap_or(ntstatus::BUFFER_TOO_SMALL));
    }
    let both = flags::NO_SIGNAL | flags::NO_WAIT;
    let known = asked.Info.Type == sync_object_type::MONITORED_FENCE && asked.Info.Flags & !KNOWN == 0;
    if !known || asked.Info.Flags & both == both || asked.Info.EngineAffinity > 1 {
        state.violate(format!("object of type {} with flags {:#x}", asked.Info.Type, asked.Info.Flags));
        return Err(ntstatus::BUFFER_TOO_SMALL);
    }
    if state.altered(asked.hDevice) || state.lost(asked.hDevice) {
        return Err(ntstatus::BUFFER_TOO_SMALL);
    }
    let mut page = FencePage::new().ok_or(ntstatus::NO_MEMORY)?;
    page.set(asked.Info.InitialFenceValue);
    let (device, address) = (plain(asked.hDevice), page.address());
    let handle = state.main.insert(Object::MonitoredFence(MonitoredFence {
        device,
        identity: new_identity(),
        adapter,
        page,
        va: 0,
        flags: asked.Info.Flags,
    }));
    let va = match state.adapters.get_mut(adapter) {
        Some(adapter) if asked.Info.Flags & flags::NO_GPUACCESS == 0 => {
            adapter.space.install(handle, PAGE).unwrap_or(0)
        }
        _ => 0,
    };
    if let Ok(Object::MonitoredFence(fence)) = state.main.get_mut(handle) {
        fence.va = va;
    }
    asked.Info.FenceValueCPUVirtualAddress = address;
    (asked.Info.FenceValueGPUVirtualAddress, asked.Info.SharedHandle, asked.hSyncObject) = (va, 0, handle);
    let written = state.write(args, &asked);
    if written.is_err() {
        state.remove_fence(handle);
    }
    written
}

/// Fences of queues are no objects and cannot be destroyed (rule 14). The object goes whatever the host says.
pub(crate) fn destroy(
    state: &mut State,
    args: *const D3DKMT_DESTROYSYNCHRONIZATIONOBJECT,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    if !matches!(state.main.get(asked.hSyncObject), Ok(Object::MonitoredFence(_))) {
        return Err(state.bad_handle(asked.hSyncObject, "synchronisation object"));
    }
    state.altered(asked.hSyncObject);
    state.remove_fence(asked.hSyncObject);
    failure.map_or(Ok(()), |failure| Err(failure.or(ntstatus::INVALID_PARAMETER)))
}
