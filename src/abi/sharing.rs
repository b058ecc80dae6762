//! Memory and semaphores that cross process and driver boundaries (kfd.md 3.9, dxg.md 3.5 and 4.4).

use core::ffi::{c_int, c_void};

use super::bits::{Bits, bit_fields};
use super::plain::{c_enum, plain};
use super::{HSAint32, HSAint64, HSAuint32, HSAuint64};

/// Context of a process on the kernel driver, for the calls that take one.
#[repr(C)]
#[derive(Debug)]
pub struct HsaKFDContext {
    hidden: [u8; 0],
}

/// Memory of this process as another process knows it.
pub type HsaSharedMemoryHandle = [HSAuint32; 8];
/// Device of a GPU node as libdrm knows it.
pub type HsaAMDGPUDeviceHandle = *mut c_void;
/// Memory that was imported.
#[cfg_attr(c_header, c = "struct _HsaMemoryObjectHandle *HsaMemoryObjectHandle")]
pub type HsaMemoryObjectHandle = *mut c_void;

c_enum! {
    /// Kind of a handle on foreign memory.
    HsaExternalHandleType: u32 {
        /// Global name of a buffer object.
        HSA_EXTERNAL_HANDLE_GEM_FLINK_NAME = 0;
        /// Number of a buffer object in this process.
        HSA_EXTERNAL_HANDLE_KMS = 1;
        /// File descriptor of a dma-buf.
        HSA_EXTERNAL_HANDLE_DMA_BUF = 2;
        /// Name that is valid across a fabric of machines.
        HSA_EXTERNAL_HANDLE_FABRIC = 3;
    }
}

/// Name of memory across a fabric of machines.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaFabricHandle {
    /// The name; both 0 for none.
    pub handle: [HSAuint64; 2],
}
plain!(HsaFabricHandle { handle });

/// Foreign memory to import. 40 bytes; older callers have 24 or 32, with other offsets (abi/history.md).
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaHandleImportDesc {
    /// Device that imports.
    pub device_handle: HsaAMDGPUDeviceHandle,
    /// Kind of the handle; says which member of the union is meant.
    pub r#type: HsaExternalHandleType,
    /// The handle.
    #[cfg_attr(
        c_header,
        c = "union { HSAint64 dmabuf_fd; HsaMemoryObjectHandle buf_handle; HsaFabricHandle fabric; }"
    )]
    pub fabric: HsaFabricHandle,
    /// Address at which the memory is wanted; NULL for any.
    pub mem: *mut c_void,
    /// Metadata to attach.
    pub metadata: HSAuint32,
}
plain!(HsaHandleImportDesc { device_handle, r#type, fabric, mem, metadata });

/// The members of the union, which overlap.
impl HsaHandleImportDesc {
    /// The file descriptor (HSA_EXTERNAL_HANDLE_DMA_BUF); negative for none.
    pub const fn dmabuf_fd(&self) -> HSAint64 {
        self.fabric.handle[0] as HSAint64
    }

    /// Stores a file descriptor.
    pub const fn set_dmabuf_fd(&mut self, fd: HSAint64) {
        self.fabric.handle = [fd as HSAuint64, 0];
    }

    /// Memory that was imported before.
    pub fn buf_handle(&self) -> HsaMemoryObjectHandle {
        self.fabric.handle[0] as usize as HsaMemoryObjectHandle
    }
}

/// What an import gave. 24 bytes; older callers have another layout (abi/history.md).
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaHandleImportResult {
    /// The memory.
    pub buf_handle: HsaMemoryObjectHandle,
    /// A file descriptor of it, owned by the caller; -1 for none.
    pub dmabuf_fd: c_int,
    /// Its size, bytes.
    pub alloc_size: HSAuint64,
    /// Metadata that was attached.
    pub metadata: HSAuint32,
}
plain!(HsaHandleImportResult { buf_handle, dmabuf_fd, alloc_size, metadata });

bit_fields! {
    /// How memory is imported.
    #[cfg_attr(c_header, c = "struct _HsaHandleImportFlags { struct { $bits } ui32; }")]
    HsaHandleImportFlags: HSAuint32 {
        /// The handle comes from another process.
        IPCHandle: 0, 1;
        /// It is host memory.
        SysMem: 1, 1;
        /// Attach the metadata of the descriptor instead of comparing it.
        UpdateMetadata: 2, 1;
        /// Not assigned, 0.
        Reserved: 3, 29;
    }
}

/// Memory to export.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaHandleExportDesc {
    /// Device that owns it.
    pub device_handle: HsaAMDGPUDeviceHandle,
    /// Kind of the wanted handle.
    pub r#type: HsaExternalHandleType,
    /// The memory.
    pub buf_handle: HsaMemoryObjectHandle,
    /// Its size, bytes.
    pub size: HSAuint64,
}
plain!(HsaHandleExportDesc { device_handle, r#type, buf_handle, size });

/// What an export gave. 16 bytes; older callers have 4, for the file descriptor.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsaMemoryExportResult {
    /// The handle of the wanted kind.
    #[cfg_attr(c_header, c = "union { HSAint32 dmabuf_fd; HsaFabricHandle fabric; }")]
    pub fabric: HsaFabricHandle,
}
plain!(HsaMemoryExportResult { fabric });

/// The members of the union, which overlap.
impl HsaMemoryExportResult {
    /// The file descriptor, owned by the caller; negative for none.
    pub const fn dmabuf_fd(&self) -> HSAint32 {
        self.fabric.handle[0] as HSAint32
    }

    /// Stores a file descriptor.
    pub const fn set_dmabuf_fd(&mut self, fd: HSAint32) {
        self.fabric.handle = [fd as HSAuint32 as HSAuint64, 0];
    }
}

bit_fields! {
    /// How memory is exported.
    #[cfg_attr(c_header, c = "struct _HsaHandleExportFlags { struct { $bits } ui32; }")]
    HsaHandleExportFlags: HSAuint32 {
        /// Not assigned, 0.
        Reserved: 0, 32;
    }
}

c_enum! {
    /// Kind of a handle on a foreign semaphore.
    HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE: u32 {
        /// NT handle.
        HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32 = 0;
        /// Global handle of the Windows kernel.
        HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT = 1;
        /// File descriptor.
        HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD = 2;
    }
}

/// A foreign semaphore that was imported. Passed by value.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HSA_EXTERNAL_SEMAPHORE_HANDLE {
    /// Its name; 0 for none.
    pub handle: HSAuint64,
}
plain!(HSA_EXTERNAL_SEMAPHORE_HANDLE { handle });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{Plain, Writer};

    #[test]
    fn file_descriptors_lie_at_the_start_of_the_unions() {
        let mut desc = HsaHandleImportDesc { fabric: HsaFabricHandle { handle: [1, 2] }, ..HsaHandleImportDesc::ZERO };
        desc.set_dmabuf_fd(-2);
        assert_eq!((desc.dmabuf_fd(), desc.fabric.handle), (-2, [-2_i64 as u64, 0]));
        desc.fabric.handle = [0x1234, 0];
        assert_eq!(desc.buf_handle().addr(), 0x1234);
        let mut result = HsaMemoryExportResult { fabric: HsaFabricHandle { handle: [u64::MAX; 2] } };
        result.set_dmabuf_fd(-1);
        let mut bytes = [0xff; 16];
        result.write(&mut Writer::new(&mut bytes));
        assert_eq!(
            (HSAint32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), bytes[4..].to_vec()),
            (-1, vec![0; 12])
        );
        assert_eq!(result.dmabuf_fd(), -1);
    }
}
