//! Shared virtual memory: attributes of address ranges (kfd.md 3.10).

use super::HSAuint32;
use super::plain::{c_enum, plain};

c_enum! {
    /// Flags of an address range, for the attributes that set and clear them.
    HSA_SVM_FLAGS: u32 {
        /// The host may access it.
        HSA_SVM_FLAG_HOST_ACCESS = 0x01;
        /// Coherent between host and GPUs.
        HSA_SVM_FLAG_COHERENT = 0x02;
        /// Pages stay within the XGMI hive.
        HSA_SVM_FLAG_HIVE_LOCAL = 0x04;
        /// GPUs may only read.
        HSA_SVM_FLAG_GPU_RO = 0x08;
        /// GPUs may execute.
        HSA_SVM_FLAG_GPU_EXEC = 0x10;
        /// GPUs mostly read.
        HSA_SVM_FLAG_GPU_READ_MOSTLY = 0x20;
        /// Always mapped in the GPUs that have access.
        HSA_SVM_FLAG_GPU_ALWAYS_MAPPED = 0x40;
        /// Coherent between GPUs within a kernel.
        HSA_SVM_FLAG_EXT_COHERENT = 0x80;
    }
}

c_enum! {
    /// Attributes of an address range; what their value is.
    HSA_SVM_ATTR_TYPE: u32 {
        /// Node that pages should be on; INVALID_NODEID for none.
        HSA_SVM_ATTR_PREFERRED_LOC = 0;
        /// Node to which pages are moved now.
        HSA_SVM_ATTR_PREFETCH_LOC = 1;
        /// Node that may access the range.
        HSA_SVM_ATTR_ACCESS = 2;
        /// Node that may access the range without moving pages.
        HSA_SVM_ATTR_ACCESS_IN_PLACE = 3;
        /// Node that may not access the range.
        HSA_SVM_ATTR_NO_ACCESS = 4;
        /// HSA_SVM_FLAGS to set.
        HSA_SVM_ATTR_SET_FLAGS = 5;
        /// HSA_SVM_FLAGS to clear.
        HSA_SVM_ATTR_CLR_FLAGS = 6;
        /// Base-2 logarithm of the number of pages that move together.
        HSA_SVM_ATTR_GRANULARITY = 7;
    }
}

/// One attribute of an address range.
#[repr(C, packed(4))]
#[cfg_attr(c_header, tag = "_HSA_SVM_ATTRIBUTE")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HSA_SVM_ATTRIBUTE {
    /// One of HSA_SVM_ATTR_TYPE.
    pub r#type: HSAuint32,
    /// Its value.
    pub value: HSAuint32,
}
plain!(HSA_SVM_ATTRIBUTE { r#type, value });
