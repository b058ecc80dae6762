//! Events (kfd.md 4.6, dxg.md 4.2).

use super::bits::{Bits, bit_fields};
use super::plain::{c_enum, plain};
use super::{HSAuint32, HSAuint64};

/// Names an event from its creation to its destruction.
pub type HSA_EVENTID = HSAuint32;

c_enum! {
    /// Kind of a device.
    HSA_DEVICE: u32 {
        /// CPU.
        HSA_DEVICE_CPU = 0;
        /// GPU.
        HSA_DEVICE_GPU = 1;
        /// Number of kinds.
        MAX_HSA_DEVICE = 2;
    }
}

c_enum! {
    /// Kind of an event.
    HSA_EVENTTYPE: u32 {
        /// Signalled by a GPU or by the process.
        HSA_EVENTTYPE_SIGNAL = 0;
        /// A node came or went.
        HSA_EVENTTYPE_NODECHANGE = 1;
        /// A device was started or stopped.
        HSA_EVENTTYPE_DEVICESTATECHANGE = 2;
        /// A GPU hung or was reset.
        HSA_EVENTTYPE_HW_EXCEPTION = 3;
        /// Something about the system.
        HSA_EVENTTYPE_SYSTEM_EVENT = 4;
        /// For the debugger.
        HSA_EVENTTYPE_DEBUG_EVENT = 5;
        /// For the profiler.
        HSA_EVENTTYPE_PROFILE_EVENT = 6;
        /// A queue is in error or ran dry.
        HSA_EVENTTYPE_QUEUE_EVENT = 7;
        /// A GPU accessed memory that it may not.
        HSA_EVENTTYPE_MEMORY = 8;
        /// Number of kinds.
        HSA_EVENTTYPE_MAXID = 9;
        /// Keeps the enumeration at 32 bits.
        HSA_EVENTTYPE_TYPE_SIZE = 0xffffffff;
    }
}

c_enum! {
    /// What a debug event is about.
    HSA_DEBUG_EVENT_TYPE: u32 {
        /// Nothing.
        HSA_DEBUG_EVENT_TYPE_NONE = 0;
        /// A trap.
        HSA_DEBUG_EVENT_TYPE_TRAP = 1;
        /// A memory fault.
        HSA_DEBUG_EVENT_TYPE_VMFAULT = 2;
        /// A trap and a memory fault.
        HSA_DEBUG_EVENT_TYPE_TRAP_VMFAULT = 3;
    }
}

c_enum! {
    /// What happened to a node.
    HSA_EVENTTYPE_NODECHANGE_FLAGS: u32 {
        /// It came.
        HSA_EVENTTYPE_NODECHANGE_ADD = 0;
        /// It went.
        HSA_EVENTTYPE_NODECHANGE_REMOVE = 1;
        /// Keeps the enumeration at 32 bits.
        HSA_EVENTTYPE_NODECHANGE_SIZE = 0xffffffff;
    }
}

c_enum! {
    /// What happened to a device.
    HSA_EVENTTYPE_DEVICESTATECHANGE_FLAGS: u32 {
        /// It was started.
        HSA_EVENTTYPE_DEVICESTATUSCHANGE_START = 0;
        /// It was stopped.
        HSA_EVENTTYPE_DEVICESTATUSCHANGE_STOP = 1;
        /// Keeps the enumeration at 32 bits.
        HSA_EVENTTYPE_DEVICESTATUSCHANGE_SIZE = 0xffffffff;
    }
}

c_enum! {
    /// How bad a memory fault is.
    HSA_EVENTID_MEMORYFLAGS: u32 {
        /// The access can be repeated.
        HSA_EVENTID_MEMORY_RECOVERABLE = 0;
        /// The process cannot go on.
        HSA_EVENTID_MEMORY_FATAL_PROCESS = 1;
        /// The address space on the GPU cannot go on.
        HSA_EVENTID_MEMORY_FATAL_VM = 2;
    }
}

c_enum! {
    /// Why a GPU was reset.
    HSA_EVENTID_HW_EXCEPTION_CAUSE: u32 {
        /// It hung.
        HSA_EVENTID_HW_EXCEPTION_GPU_HANG = 0;
        /// It found a memory error that it could not correct.
        HSA_EVENTID_HW_EXCEPTION_ECC = 1;
    }
}

c_enum! {
    /// Time limits of a wait that are not milliseconds.
    #[cfg_attr(c_header, tag = "_HsaEventTimeout")]
    HsaEventTimeOut: u32 {
        /// Do not wait.
        HSA_EVENTTIMEOUT_IMMEDIATE = 0;
        /// Wait for ever.
        HSA_EVENTTIMEOUT_INFINITE = 0xffffffff;
    }
}

/// A variable of the caller that goes with an event.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaSyncVar {
    /// A pointer or a number of the caller, stored and handed back.
    #[cfg_attr(c_header, c = "union { void *UserData; HSAuint64 UserDataPtrValue; } SyncVar")]
    pub SyncVar: HSAuint64,
    /// Size of what the pointer points to, bytes.
    pub SyncVarSize: HSAuint64,
}
plain!(HsaSyncVar { SyncVar, SyncVarSize });

/// Data of a HSA_EVENTTYPE_NODECHANGE event.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaNodeChange {
    /// What happened.
    pub Flags: HSA_EVENTTYPE_NODECHANGE_FLAGS,
}
plain!(HsaNodeChange { Flags });

/// Data of a HSA_EVENTTYPE_DEVICESTATECHANGE event.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaDeviceStateChange {
    /// Node of the device.
    pub NodeId: HSAuint32,
    /// Kind of the device.
    pub Device: HSA_DEVICE,
    /// What happened.
    pub Flags: HSA_EVENTTYPE_DEVICESTATECHANGE_FLAGS,
}
plain!(HsaDeviceStateChange { NodeId, Device, Flags });

bit_fields! {
    /// What was wrong with a memory access.
    #[cfg_attr(c_header, c = "struct _HsaAccessAttributeFailure { $bits }")]
    HsaAccessAttributeFailure: HSAuint32 {
        /// The page does not exist.
        NotPresent: 0, 1;
        /// A write to a page that may only be read.
        ReadOnly: 1, 1;
        /// An instruction was fetched from a page that may not be executed.
        NoExecute: 2, 1;
        /// The GPU may not access the page.
        GpuAccess: 3, 1;
        /// The memory has an error that could not be corrected.
        ECC: 4, 1;
        /// The address is not exact.
        Imprecise: 5, 1;
        /// Kind of the memory error: 0 none, 1 poison consumed, others are not assigned.
        ErrorType: 6, 3;
        /// Not assigned, 0.
        Reserved: 9, 23;
    }
}

/// Data of a HSA_EVENTTYPE_MEMORY event.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaMemoryAccessFault {
    /// Node whose GPU made the access.
    pub NodeId: HSAuint32,
    /// The address.
    pub VirtualAddress: HSAuint64,
    /// What was wrong.
    pub Failure: HsaAccessAttributeFailure,
    /// How bad it is.
    pub Flags: HSA_EVENTID_MEMORYFLAGS,
}
plain!(HsaMemoryAccessFault { NodeId, VirtualAddress, Failure, Flags });

/// Data of a HSA_EVENTTYPE_HW_EXCEPTION event.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaHwException {
    /// Node whose GPU it is.
    pub NodeId: HSAuint32,
    /// Kind of the reset, as the kernel numbers it.
    pub ResetType: HSAuint32,
    /// 1 when the contents of device memory are lost.
    pub MemoryLost: HSAuint32,
    /// Why it was reset.
    pub ResetCause: HSA_EVENTID_HW_EXCEPTION_CAUSE,
}
plain!(HsaHwException { NodeId, ResetType, MemoryLost, ResetCause });

/// What an event carries.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaEventData {
    /// Kind of the event; says which member of the union is meant.
    pub EventType: HSA_EVENTTYPE,
    /// The member that belongs to the kind.
    #[cfg_attr(
        c_header,
        c = "union { HsaSyncVar SyncVar; HsaNodeChange NodeChangeState; HsaDeviceStateChange DeviceState; \
             HsaMemoryAccessFault MemoryAccessFault; HsaHwException HwException; } EventData"
    )]
    pub EventData: [HSAuint32; 5],
    /// For the owner of the event: on KFD its id.
    pub HWData1: HSAuint64,
    /// Address that a GPU writes to signal the event; 0 for none.
    pub HWData2: HSAuint64,
    /// What a GPU writes there; on DXG the node id of the descriptor.
    pub HWData3: HSAuint32,
}
plain!(HsaEventData { EventType, EventData, HWData1, HWData2, HWData3 });

const fn split(value: HSAuint64) -> [HSAuint32; 2] {
    [value as HSAuint32, (value >> 32) as HSAuint32]
}

const fn join(low: HSAuint32, high: HSAuint32) -> HSAuint64 {
    low as HSAuint64 | (high as HSAuint64) << 32
}

/// The members of the union, which overlap: setting one replaces all.
impl HsaEventData {
    /// The variable of the caller (HSA_EVENTTYPE_SIGNAL and others that carry no data of their own).
    pub const fn sync_var(&self) -> HsaSyncVar {
        let [a, b, c, d, _] = self.EventData;
        HsaSyncVar { SyncVar: join(a, b), SyncVarSize: join(c, d) }
    }

    /// Stores the variable of the caller.
    pub const fn set_sync_var(&mut self, value: HsaSyncVar) {
        let ([a, b], [c, d]) = (split(value.SyncVar), split(value.SyncVarSize));
        self.EventData = [a, b, c, d, 0];
    }

    /// What happened to a node.
    pub const fn node_change(&self) -> HsaNodeChange {
        HsaNodeChange { Flags: HSA_EVENTTYPE_NODECHANGE_FLAGS(self.EventData[0]) }
    }

    /// Stores what happened to a node.
    pub const fn set_node_change(&mut self, value: HsaNodeChange) {
        self.EventData = [value.Flags.0, 0, 0, 0, 0];
    }

    /// What happened to a device.
    pub const fn device_state(&self) -> HsaDeviceStateChange {
        let [node, device, flags, ..] = self.EventData;
        let Flags = HSA_EVENTTYPE_DEVICESTATECHANGE_FLAGS(flags);
        HsaDeviceStateChange { NodeId: node, Device: HSA_DEVICE(device), Flags }
    }

    /// Stores what happened to a device.
    pub const fn set_device_state(&mut self, value: HsaDeviceStateChange) {
        self.EventData = [value.NodeId, value.Device.0, value.Flags.0, 0, 0];
    }

    /// The memory fault.
    pub const fn memory_access_fault(&self) -> HsaMemoryAccessFault {
        let [node, low, high, failure, flags] = self.EventData;
        HsaMemoryAccessFault {
            NodeId: node,
            VirtualAddress: join(low, high),
            Failure: HsaAccessAttributeFailure(failure),
            Flags: HSA_EVENTID_MEMORYFLAGS(flags),
        }
    }

    /// Stores a memory fault.
    pub const fn set_memory_access_fault(&mut self, value: HsaMemoryAccessFault) {
        let [low, high] = split(value.VirtualAddress);
        self.EventData = [value.NodeId, low, high, value.Failure.0, value.Flags.0];
    }

    /// The hang or reset.
    pub const fn hw_exception(&self) -> HsaHwException {
        let [node, reset, lost, cause, _] = self.EventData;
        let ResetCause = HSA_EVENTID_HW_EXCEPTION_CAUSE(cause);
        HsaHwException { NodeId: node, ResetType: reset, MemoryLost: lost, ResetCause }
    }

    /// Stores a hang or reset.
    pub const fn set_hw_exception(&mut self, value: HsaHwException) {
        self.EventData = [value.NodeId, value.ResetType, value.MemoryLost, value.ResetCause.0, 0];
    }
}

/// What an event is made from.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaEventDescriptor {
    /// Kind of the event.
    pub EventType: HSA_EVENTTYPE,
    /// Node that it is about.
    pub NodeId: HSAuint32,
    /// Variable of the caller.
    pub SyncVar: HsaSyncVar,
}
plain!(HsaEventDescriptor { EventType, NodeId, SyncVar });

/// An event. The library allocates it; the caller reads it.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaEvent {
    /// Its name.
    pub EventId: HSA_EVENTID,
    /// What it carries.
    pub EventData: HsaEventData,
}
plain!(HsaEvent { EventId, EventData });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{Plain, Writer};

    /// What the union holds when `value` is stored at its start.
    fn words(value: impl Plain) -> [HSAuint32; 5] {
        let mut bytes = [0; 20];
        value.write(&mut Writer::new(&mut bytes));
        let mut words =
            bytes.chunks_exact(4).map(|word| HSAuint32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        std::array::from_fn(|_| words.next().unwrap())
    }

    #[test]
    fn members_of_the_union_lie_at_its_start() {
        let mut data = HsaEventData::ZERO;
        let sync = HsaSyncVar { SyncVar: 0x1111_2222_3333_4444, SyncVarSize: 0x5555_6666_7777_8888 };
        data.set_sync_var(sync);
        assert_eq!((data.EventData, data.sync_var()), (words(sync), sync));
        let node = HsaNodeChange { Flags: HSA_EVENTTYPE_NODECHANGE_REMOVE };
        data.set_node_change(node);
        assert_eq!((data.EventData, data.node_change()), (words(node), node));
        let Flags = HSA_EVENTTYPE_DEVICESTATUSCHANGE_STOP;
        let device = HsaDeviceStateChange { NodeId: 3, Device: HSA_DEVICE_GPU, Flags };
        data.set_device_state(device);
        assert_eq!((data.EventData, data.device_state()), (words(device), device));
        let fault = HsaMemoryAccessFault {
            NodeId: 1,
            VirtualAddress: 0x7fff_0123_4567_8000,
            Failure: HsaAccessAttributeFailure(0).with(HsaAccessAttributeFailure::ReadOnly, 1),
            Flags: HSA_EVENTID_MEMORY_FATAL_VM,
        };
        data.set_memory_access_fault(fault);
        assert_eq!((data.EventData, data.memory_access_fault()), (words(fault), fault));
        let ResetCause = HSA_EVENTID_HW_EXCEPTION_ECC;
        let reset = HsaHwException { NodeId: 2, ResetType: 5, MemoryLost: 1, ResetCause };
        data.set_hw_exception(reset);
        assert_eq!((data.EventData, data.hw_exception()), (words(reset), reset));
    }
}
