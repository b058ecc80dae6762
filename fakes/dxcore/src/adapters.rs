//! Adapters: enumeration, opening and closing (dxgkrnl.md 2.1, rules 15 to 23).

use core::mem::offset_of;

use rocdxg_fake_gpu::Adapter;

use crate::Status;
use crate::d3dkmt::{
    D3DKMT_ADAPTERINFO, D3DKMT_CLOSEADAPTER, D3DKMT_ENUMADAPTERS2, D3DKMT_ENUMADAPTERS3, D3DKMT_OPENADAPTERFROMLUID,
    LUID, ntstatus,
};
use crate::handles::instance_of;
use crate::inject::Failure;
use crate::process::State;
use crate::residency::Usage;
use crate::space::Space;

/// Most adapters that `D3DKMTEnumAdapters2` takes.
const ENUM2_MAX: u32 = 64;
/// Most adapters that `D3DKMTEnumAdapters3` takes.
const ENUM3_MAX: u32 = 65535;
/// Filter bit: list compute-only adapters as well.
const INCLUDE_COMPUTE_ONLY: u64 = 1;

/// What the guest knows of one adapter.
#[derive(Debug)]
pub(crate) struct AdapterState {
    /// Its PCI device is there; absent ones are unknown.
    pub(crate) present: bool,
    /// Its channel is open; a stopped adapter is known and not listed (dxgkrnl.md 6.3).
    pub(crate) active: bool,
    /// Handles of this process.
    pub(crate) opens: u32,
    /// Handles that the kernel lost in an enumeration with too small an array (rule 17): nobody can close them.
    pub(crate) lost: u32,
    /// The GPU's address space of this process.
    pub(crate) space: Space,
    /// What of each segment is in use.
    pub(crate) usage: Vec<Usage>,
    /// What may be resident, by segment group, where a test chose it.
    pub(crate) budgets: [Option<u64>; 2],
}

impl AdapterState {
    pub(crate) fn new(adapter: &Adapter) -> Self {
        Self {
            present: adapter.appears_after.is_none(),
            active: true,
            opens: 0,
            lost: 0,
            space: Space::new(),
            usage: vec![Usage::default(); adapter.segments.len()],
            budgets: [None; 2],
        }
    }

    const fn usable(&self) -> bool {
        self.present && self.active
    }
}

impl State {
    /// The adapter of a handle, whatever its condition; a bad handle is IP (rule 11).
    pub(crate) fn adapter_of(&mut self, handle: u32) -> Result<usize, Status> {
        match self.opens.get(handle) {
            Ok(adapter) => {
                if instance_of(handle) != 0 {
                    self.violate(format!("adapter handle {handle:#x} has altered low bits"));
                }
                Ok(adapter)
            }
            Err(miss) => {
                self.violate(format!("adapter handle {handle:#x} {}", miss.text()));
                Err(ntstatus::INVALID_PARAMETER)
            }
        }
    }

    /// A stopped adapter refuses calls (rule 131).
    pub(crate) fn require_active(&self, adapter: usize) -> Result<(), Status> {
        let usable = self.adapters.get(adapter).is_some_and(AdapterState::usable);
        if usable { Ok(()) } else { Err(ntstatus::DEVICE_REMOVED) }
    }

    /// The active adapter of that LUID.
    pub(crate) fn adapter_by_luid(&self, luid: LUID) -> Option<usize> {
        let machine = self.machine();
        let found = machine.adapters.iter().position(|a| a.luid == (luid.LowPart, luid.HighPart))?;
        self.adapters.get(found).filter(|a| a.usable()).map(|_| found)
    }

    fn open_adapter(&mut self, adapter: usize) -> D3DKMT_ADAPTERINFO {
        let machine = self.machine();
        let (low, high) = machine.adapters[adapter].luid;
        self.adapters[adapter].opens += 1;
        D3DKMT_ADAPTERINFO {
            hAdapter: self.opens.insert(adapter),
            AdapterLuid: LUID { LowPart: low, HighPart: high },
            NumOfSources: 0,
            bPrecisePresentRegionsPreferred: 0,
        }
    }

    /// Frees one handle; the last one of an adapter takes its devices along (rule 23).
    fn close_handle(&mut self, handle: u32) -> Result<(), Status> {
        let adapter = self.adapter_of(handle)?;
        // `adapter_of` found the handle, so it is there to be removed.
        let _ = self.opens.remove(handle);
        let state = &mut self.adapters[adapter];
        state.opens -= 1;
        if state.opens == 0 {
            let devices = self.destroy_devices_of(adapter);
            if devices > 0 {
                self.violate(format!("the last handle of the adapter went while {devices} devices were alive"));
            }
            let space = core::mem::replace(&mut self.adapters[adapter].space, Space::new());
            if space.live_ranges() > 0 {
                self.violate(format!("the last handle went while {} GPU ranges were owned", space.live_ranges()));
            }
        }
        Ok(())
    }

    fn known(&self) -> u32 {
        self.adapters.iter().filter(|a| a.present).count() as u32
    }

    fn listed(&self, compute_only: bool) -> Vec<usize> {
        let machine = self.machine();
        let adapters = machine.adapters.iter().zip(&self.adapters).enumerate();
        let wanted = adapters.filter(|(_, (a, s))| s.usable() && (compute_only || !a.compute_only));
        wanted.map(|(i, _)| i).collect()
    }

    /// Opens adapters and writes their records, then their count where that is asked for.
    fn hand_out(
        &mut self,
        adapters: &[usize],
        count: *mut u32,
        records: *mut D3DKMT_ADAPTERINFO,
    ) -> Result<(), Status> {
        let opened: Vec<_> = adapters.iter().map(|a| self.open_adapter(*a)).collect();
        let written =
            self.write(count, &(opened.len() as u32)).and_then(|()| self.write_slice(records.cast(), &opened));
        if written.is_err() {
            for record in &opened {
                // Opened above; undoing it cannot fail.
                let _ = self.close_handle(record.hAdapter);
            }
        }
        written
    }

    /// The adapter set changes between enumeration calls on request (rule 20).
    fn enumerated(&mut self) {
        self.enumerations += 1;
        let machine = self.machine();
        for (adapter, state) in machine.adapters.iter().zip(&mut self.adapters) {
            if adapter.appears_after == Some(self.enumerations) {
                state.present = true;
            }
            if adapter.leaves_after == Some(self.enumerations) {
                state.present = false;
            }
        }
    }
}

pub(crate) fn enum_adapters2(
    state: &mut State,
    args: *mut D3DKMT_ENUMADAPTERS2,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let count = args.cast::<u8>().wrapping_add(offset_of!(D3DKMT_ENUMADAPTERS2, NumAdapters)).cast::<u32>();
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::NO_MEMORY));
    }
    let known = state.known();
    let result = if asked.pAdapters.is_null() {
        state.write(count, &known)
    } else if asked.NumAdapters > ENUM2_MAX {
        state.violate(format!("{} adapters asked for", asked.NumAdapters));
        Err(ntstatus::INVALID_PARAMETER)
    } else if asked.NumAdapters < known {
        Err(ntstatus::BUFFER_TOO_SMALL)
    } else {
        let listed = state.listed(false);
        state.hand_out(&listed, count, asked.pAdapters)
    };
    state.enumerated();
    result
}

pub(crate) fn enum_adapters3(
    state: &mut State,
    args: *mut D3DKMT_ENUMADAPTERS3,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let count = args.cast::<u8>().wrapping_add(offset_of!(D3DKMT_ENUMADAPTERS3, NumAdapters)).cast::<u32>();
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::NO_MEMORY));
    }
    let known = state.known();
    let listed = state.listed(asked.Filter & INCLUDE_COMPUTE_ONLY != 0);
    let result = if asked.pAdapters.is_null() || asked.NumAdapters == 0 {
        state.write(count, &known)
    } else if asked.NumAdapters > ENUM3_MAX {
        state.violate(format!("{} adapters asked for", asked.NumAdapters));
        Err(ntstatus::INVALID_PARAMETER)
    } else if listed.len() > asked.NumAdapters as usize {
        for adapter in listed {
            state.open_adapter(adapter);
            state.adapters[adapter].lost += 1;
        }
        state.write(count, &known)
    } else {
        state.hand_out(&listed, count, asked.pAdapters)
    };
    state.enumerated();
    result
}

pub(crate) fn open_adapter_from_luid(
    state: &mut State,
    args: *mut D3DKMT_OPENADAPTERFROMLUID,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    let Some(adapter) = state.adapter_by_luid(asked.AdapterLuid) else {
        if asked.hAdapter == 0 {
            return Err(ntstatus::INVALID_PARAMETER);
        }
        state.violate("the handle field was not zero, so an unknown LUID passes for success");
        return Ok(());
    };
    let record = state.open_adapter(adapter);
    let handle = args.cast::<u8>().wrapping_add(offset_of!(D3DKMT_OPENADAPTERFROMLUID, hAdapter)).cast::<u32>();
    let written = state.write(handle, &record.hAdapter);
    if written.is_err() {
        // Opened above; undoing it cannot fail.
        let _ = state.close_handle(record.hAdapter);
    }
    written
}

/// A failure on request comes after the handle is freed, as everywhere in the guest (dxgkrnl.md 1.3).
pub(crate) fn close_adapter(
    state: &mut State,
    args: *const D3DKMT_CLOSEADAPTER,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    if asked.hAdapter == 0 {
        return Ok(());
    }
    state.close_handle(asked.hAdapter)?;
    match failure {
        Some(failure) => Err(failure.or(ntstatus::INVALID_PARAMETER)),
        None => Ok(()),
    }
}
