//! Names of the header's enumeration values.

use rocdxg::abi::*;

macro_rules! names {
    ($(#[$doc:meta])* $function:ident: $type:ident { $($value:ident,)* }) => {
        $(#[$doc])*
        pub fn $function(value: $type) -> Option<&'static str> {
            match value {
                $($value => Some(stringify!($value)),)*
                _ => None,
            }
        }
    };
}

names! {
    /// Name of a status.
    status: HSAKMT_STATUS {
        HSAKMT_STATUS_SUCCESS,
        HSAKMT_STATUS_ERROR,
        HSAKMT_STATUS_DRIVER_MISMATCH,
        HSAKMT_STATUS_INVALID_PARAMETER,
        HSAKMT_STATUS_INVALID_HANDLE,
        HSAKMT_STATUS_INVALID_NODE_UNIT,
        HSAKMT_STATUS_NO_MEMORY,
        HSAKMT_STATUS_BUFFER_TOO_SMALL,
        HSAKMT_STATUS_NOT_IMPLEMENTED,
        HSAKMT_STATUS_NOT_SUPPORTED,
        HSAKMT_STATUS_UNAVAILABLE,
        HSAKMT_STATUS_OUT_OF_RESOURCES,
        HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED,
        HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR,
        HSAKMT_STATUS_KERNEL_ALREADY_OPENED,
        HSAKMT_STATUS_HSAMMU_UNAVAILABLE,
        HSAKMT_STATUS_WAIT_FAILURE,
        HSAKMT_STATUS_WAIT_TIMEOUT,
        HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED,
        HSAKMT_STATUS_MEMORY_NOT_REGISTERED,
        HSAKMT_STATUS_MEMORY_ALIGNMENT,
    }
}

names! {
    /// Name of a kind of memory bank.
    heap: HSA_HEAPTYPE {
        HSA_HEAPTYPE_SYSTEM,
        HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC,
        HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
        HSA_HEAPTYPE_GPU_GDS,
        HSA_HEAPTYPE_GPU_LDS,
        HSA_HEAPTYPE_GPU_SCRATCH,
        HSA_HEAPTYPE_DEVICE_SVM,
        HSA_HEAPTYPE_MMIO_REMAP,
    }
}

names! {
    /// Name of a kind of link.
    link: HSA_IOLINKTYPE {
        HSA_IOLINKTYPE_UNDEFINED,
        HSA_IOLINKTYPE_HYPERTRANSPORT,
        HSA_IOLINKTYPE_PCIEXPRESS,
        HSA_IOLINKTYPE_AMBA,
        HSA_IOLINKTYPE_MIPI,
        HSA_IOLINK_TYPE_QPI_1_1,
        HSA_IOLINK_TYPE_RESERVED1,
        HSA_IOLINK_TYPE_RESERVED2,
        HSA_IOLINK_TYPE_RAPID_IO,
        HSA_IOLINK_TYPE_INFINIBAND,
        HSA_IOLINK_TYPE_RESERVED3,
        HSA_IOLINK_TYPE_XGMI,
        HSA_IOLINK_TYPE_XGOP,
        HSA_IOLINK_TYPE_GZ,
        HSA_IOLINK_TYPE_ETHERNET_RDMA,
        HSA_IOLINK_TYPE_RDMA_OTHER,
        HSA_IOLINK_TYPE_OTHER,
    }
}

/// What is left of a header's name without the prefix of its enumeration, for tables.
pub fn short(name: &str) -> &str {
    ["HSA_HEAPTYPE_", "HSA_IOLINKTYPE_", "HSA_IOLINK_TYPE_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_have_names_and_others_none() {
        assert_eq!(heap(HSA_HEAPTYPE(5)), Some("HSA_HEAPTYPE_GPU_SCRATCH"));
        assert_eq!(link(HSA_IOLINKTYPE(11)).map(short), Some("XGMI"));
        assert_eq!(link(HSA_IOLINKTYPE(2)).map(short), Some("PCIEXPRESS"));
        assert_eq!(link(HSA_IOLINKTYPE(1000)), None);
        assert_eq!(status(HSAKMT_STATUS(8)), None);
    }
}
