//! Events that hsaKmtOpenSMI reports as lines of text (kfd.md 4.6).

use super::plain::c_enum;
use super::{HSAuint32, HSAuint64};

/// Longest line of an event, bytes, the final zero included.
pub const HSA_SMI_EVENT_MSG_SIZE: usize = 96;

c_enum! {
    /// Kinds of events; the bit of kind n in the mask of wanted kinds is n - 1.
    #[cfg_attr(c_header, tag = "_HSA_SMI_EVENT")]
    HSA_EVENT_TYPE: u32 {
        /// Not an event.
        HSA_SMI_EVENT_NONE = 0;
        /// A memory fault.
        HSA_SMI_EVENT_VMFAULT = 1;
        /// Clocks are lowered because of heat.
        HSA_SMI_EVENT_THERMAL_THROTTLE = 2;
        /// A reset begins.
        HSA_SMI_EVENT_GPU_PRE_RESET = 3;
        /// A reset has ended.
        HSA_SMI_EVENT_GPU_POST_RESET = 4;
        /// Pages begin to move.
        HSA_SMI_EVENT_MIGRATE_START = 5;
        /// Pages have moved.
        HSA_SMI_EVENT_MIGRATE_END = 6;
        /// A page fault begins.
        HSA_SMI_EVENT_PAGE_FAULT_START = 7;
        /// A page fault has been served.
        HSA_SMI_EVENT_PAGE_FAULT_END = 8;
        /// Queues are stopped.
        HSA_SMI_EVENT_QUEUE_EVICTION = 9;
        /// Queues run again.
        HSA_SMI_EVENT_QUEUE_RESTORE = 10;
        /// A range is unmapped from a GPU.
        HSA_SMI_EVENT_UNMAP_FROM_GPU = 11;
        /// One more than the last kind.
        HSA_SMI_EVENT_INDEX_MAX = 12;
        /// In the mask: events of all processes, for administrators.
        HSA_SMI_EVENT_ALL_PROCESS = 64;
    }
}

/// The bit of kind `i` in the mask of wanted kinds; `i` is 1 to 64.
#[cfg_attr(c_header, c = "(1ULL << ((i) - 1))")]
pub const fn HSA_SMI_EVENT_MASK_FROM_INDEX(i: HSAuint32) -> HSAuint64 {
    1 << (i - 1)
}

c_enum! {
    /// Why pages move.
    HSA_MIGRATE_TRIGGERS: u32 {
        /// They were asked for in advance.
        HSA_MIGRATE_TRIGGER_PREFETCH = 0;
        /// A GPU touched them.
        HSA_MIGRATE_TRIGGER_PAGEFAULT_GPU = 1;
        /// A CPU touched them.
        HSA_MIGRATE_TRIGGER_PAGEFAULT_CPU = 2;
        /// Device memory is needed elsewhere.
        HSA_MIGRATE_TRIGGER_TTM_EVICTION = 3;
    }
}

c_enum! {
    /// Why queues are stopped.
    HSA_QUEUE_EVICTION_TRIGGERS: u32 {
        /// Shared virtual memory changes.
        HSA_QUEUE_EVICTION_TRIGGER_SVM = 0;
        /// Memory of the process changes.
        HSA_QUEUE_EVICTION_TRIGGER_USERPTR = 1;
        /// Device memory is needed elsewhere.
        HSA_QUEUE_EVICTION_TRIGGER_TTM = 2;
        /// The machine sleeps.
        HSA_QUEUE_EVICTION_TRIGGER_SUSPEND = 3;
        /// A checkpoint of the process is written.
        HSA_QUEUE_EVICTION_CRIU_CHECKPOINT = 4;
        /// A checkpoint of the process is read back.
        HSA_QUEUE_EVICTION_CRIU_RESTORE = 5;
    }
}

c_enum! {
    /// Why a range is unmapped from a GPU.
    HSA_SVM_UNMAP_TRIGGERS: u32 {
        /// The host changes its page tables.
        HSA_SVM_UNMAP_TRIGGER_MMU_NOTIFY = 0;
        /// The host changes its page tables because pages move.
        HSA_SVM_UNMAP_TRIGGER_MMU_NOTIFY_MIGRATE = 1;
        /// The process unmaps the range.
        HSA_SVM_UNMAP_TRIGGER_UNMAP_FROM_CPU = 2;
    }
}
