//! Layouts that older callers use, made from the newest (abi/history.md sections 1 to 4).
//!
//! Inside the library there is one form of each structure, the newest. A [`Generation`] says which form one caller
//! was built with; it turns the newest form into the bytes that this caller reads, and bytes that it passes in into
//! the newest form. Nothing here touches the caller's memory: whoever does copies no more than the image holds.

use core::mem::{offset_of, size_of};

use super::plain::{Plain, Writer};
use super::{
    HSA_ENGINE_ID, HsaCacheProperties, HsaExternalHandleType, HsaFabricHandle, HsaGraphicsResourceInfo,
    HsaHandleImportDesc, HsaHandleImportResult, HsaIoLinkProperties, HsaMemoryExportResult, HsaNodeProperties,
    HsaQueueInfo, HsaQueueResource, HsaStructureSizes, rocdxg_smi_device_info_t,
};

/// Layouts of HsaNodeProperties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeLayout {
    /// 356 bytes, up to 6.2: without NumNeuralCores, Capability2 and OverrideEngineId.
    L356,
    /// 364 bytes, 6.3 and 6.4: without Capability2.
    L364,
    /// 2025-08 and later: the newest, cut at 368, 376, 392 or 396 bytes.
    L368Plus(u16),
}

impl NodeLayout {
    /// The layout with this size, bytes.
    const fn of_size(size: u16) -> Option<Self> {
        match size {
            356 => Some(Self::L356),
            364 => Some(Self::L364),
            368 | 376 | 392 | 396 => Some(Self::L368Plus(size)),
            _ => None,
        }
    }
}

/// Layouts of the descriptor and the results of import and export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportLayout {
    /// Descriptor of 24 bytes, not packed, with a 32-bit file descriptor before the type.
    Natural24,
    /// Descriptor of 32 bytes, with a 64-bit file descriptor before the type.
    Packed32,
    /// Descriptor of 40 bytes: the newest.
    Newest40,
}

/// Layouts of rocdxg_smi_device_info_t. A caller does not announce which one it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceInfoLayout {
    /// 3624 bytes: without `struct_size`, and with padding where `asic.num_xcc` is.
    L3624,
    /// 3632 bytes: the newest.
    L3632,
}

/// Which form of each structure a caller was built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    node: NodeLayout,
    link: usize,
    cache: usize,
    queue_info: usize,
    queue_resource: usize,
    graphics: usize,
    import: ImportLayout,
}

/// A caller announced a size that no release has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownSize {
    /// Structure in question.
    pub structure: &'static str,
    /// Its size in the caller, bytes.
    pub size: u16,
}

/// The bytes of one structure as a caller reads it; at most `N`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> AsRef<[u8]> for Image<N> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl<const N: usize> Image<N> {
    fn of(value: impl Plain) -> Self {
        let mut bytes = [0; N];
        value.write(&mut Writer::new(&mut bytes));
        Self { bytes, len: N }
    }

    /// Without the 4 bytes at `offset`; what follows moves up.
    fn without_word(mut self, offset: usize) -> Self {
        self.bytes.copy_within(offset + 4..self.len, offset);
        self.len -= 4;
        self
    }

    /// Only the first `len` bytes.
    fn cut(mut self, len: usize) -> Self {
        self.len = self.len.min(len);
        self
    }
}

fn word<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset + N)?.try_into().ok()
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    word(bytes, offset).map(u32::from_ne_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    word(bytes, offset).map(u64::from_ne_bytes)
}

fn pointer_at<T>(bytes: &[u8], offset: usize) -> Option<*mut T> {
    word(bytes, offset).map(|address| usize::from_ne_bytes(address) as *mut T)
}

impl Generation {
    /// Releases 5.2 to 6.2: every known caller of libhsakmt.so.1.
    pub const V5_2: Self = Self { node: NodeLayout::L356, link: 48, ..Self::V2025_08 };
    /// Releases 6.3 and 6.4.
    pub const V6_4: Self = Self { node: NodeLayout::L364, ..Self::V2025_08 };
    /// August 2025: what every known caller of librocdxg.so.1 has at least.
    pub const V2025_08: Self = Self {
        node: NodeLayout::L368Plus(368),
        link: 52,
        cache: 1056,
        queue_info: 68,
        queue_resource: 40,
        graphics: 32,
        import: ImportLayout::Newest40,
    };
    /// Release 7.2.
    pub const V7_2: Self = Self { node: NodeLayout::L368Plus(376), ..Self::V2025_08 };
    /// The headers of this library.
    pub const LATEST: Self = Self {
        node: NodeLayout::L368Plus(size_of::<HsaNodeProperties>() as u16),
        link: size_of::<HsaIoLinkProperties>(),
        cache: size_of::<HsaCacheProperties>(),
        queue_info: size_of::<HsaQueueInfo>(),
        queue_resource: size_of::<HsaQueueResource>(),
        graphics: size_of::<HsaGraphicsResourceInfo>(),
        import: ImportLayout::Newest40,
    };

    /// The generation that `ROCDXG_ABI` names: 5.2, 6.2, 6.4, 2025.08, 7.2 or latest.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "5.2" | "6.2" => Some(Self::V5_2),
            "6.4" => Some(Self::V6_4),
            "2025.08" => Some(Self::V2025_08),
            "7.2" => Some(Self::V7_2),
            "latest" => Some(Self::LATEST),
            _ => None,
        }
    }

    /// The generation of a caller that announces `sizes`, where a size of 0 leaves what `self` says.
    ///
    /// The size of HsaNodeProperties tells the release, and with it the other structures. HsaCacheProperties grew
    /// later than HsaNodeProperties reached 396 bytes, so a caller with 396 is served the 1056 bytes that cannot harm
    /// it, unless the first reserved size says 1060.
    pub fn announced(self, sizes: &HsaStructureSizes) -> Result<Self, UnknownSize> {
        let (node, import, cache) =
            (sizes.SizeOfHsaNodeProperties, sizes.SizeOfHsaExternalHandleDesc, sizes.Reserved[0]);
        let unknown = |structure, size| UnknownSize { structure, size };
        let mut found = match NodeLayout::of_size(node) {
            Some(NodeLayout::L356) => Self::V5_2,
            Some(NodeLayout::L364) => Self::V6_4,
            Some(NodeLayout::L368Plus(396)) => Self { cache: 1056, ..Self::LATEST },
            // The external package had its own form of the import, which only it uses.
            Some(layout @ NodeLayout::L368Plus(392)) => {
                Self { node: layout, import: ImportLayout::Natural24, ..Self::V2025_08 }
            }
            Some(layout) => Self { node: layout, ..Self::V2025_08 },
            None if node == 0 => self,
            None => return Err(unknown("HsaNodeProperties", node)),
        };
        found.import = match import {
            0 => found.import,
            24 => ImportLayout::Natural24,
            32 => ImportLayout::Packed32,
            40 => ImportLayout::Newest40,
            _ => return Err(unknown("HsaHandleImportDesc", import)),
        };
        if usize::from(cache) == size_of::<HsaCacheProperties>() {
            found.cache = size_of::<HsaCacheProperties>();
        }
        Ok(found)
    }

    /// Bytes of a node as this caller has it, where they are the first of the newest form.
    pub const fn node_prefix(&self) -> Option<usize> {
        match self.node {
            NodeLayout::L368Plus(size) => Some(size as usize),
            NodeLayout::L356 | NodeLayout::L364 => None,
        }
    }

    /// Bytes of a link as this caller has it, where they are the first of the newest form.
    pub const fn link_prefix(&self) -> Option<usize> {
        if self.link == size_of::<HsaIoLinkProperties>() { Some(self.link) } else { None }
    }

    /// Bytes of a cache as this caller has it: always the first of the newest form.
    pub const fn cache_prefix(&self) -> Option<usize> {
        Some(self.cache)
    }

    /// A node. Callers without OverrideEngineId find an override of the version in EngineId, as in those releases.
    pub fn node(&self, node: &HsaNodeProperties) -> Image<396> {
        let image = Image::of(*node);
        // From the last word to the first, so that the offsets are those of the newest form.
        match self.node {
            NodeLayout::L356 => Image::of(overridden(*node))
                .without_word(offset_of!(HsaNodeProperties, OverrideEngineId))
                .without_word(offset_of!(HsaNodeProperties, Capability2))
                .without_word(offset_of!(HsaNodeProperties, NumNeuralCores))
                .cut(356),
            NodeLayout::L364 => image.without_word(offset_of!(HsaNodeProperties, Capability2)).cut(364),
            NodeLayout::L368Plus(size) => image.cut(usize::from(size)),
        }
    }

    /// One element of an array of links; its length is the distance to the next.
    pub fn link(&self, link: &HsaIoLinkProperties) -> Image<52> {
        let image = Image::of(*link);
        if self.link < size_of::<HsaIoLinkProperties>() {
            image.without_word(offset_of!(HsaIoLinkProperties, RecSdmaEngIdMask))
        } else {
            image
        }
    }

    /// One element of an array of caches; its length is the distance to the next.
    pub fn cache(&self, cache: &HsaCacheProperties) -> Image<1060> {
        Image::of(*cache).cut(self.cache)
    }

    /// The state of a queue.
    pub fn queue_info(&self, info: &HsaQueueInfo) -> Image<76> {
        Image::of(*info).cut(self.queue_info)
    }

    /// How to use a queue.
    pub fn queue_resource(&self, resource: &HsaQueueResource) -> Image<52> {
        Image::of(*resource).cut(self.queue_resource)
    }

    /// How much of its HsaGraphicsResourceInfo a caller has, bytes.
    pub const fn graphics_size(&self) -> usize {
        self.graphics
    }

    /// A graphics resource.
    pub fn graphics(&self, info: &HsaGraphicsResourceInfo) -> Image<40> {
        Image::of(*info).cut(self.graphics)
    }

    /// The size that a caller suggests for a graphics resource; 0 where its form has no place for it. `None` when
    /// `bytes` is shorter than [`graphics_size`](Self::graphics_size).
    pub fn graphics_size_hint(&self, bytes: &[u8]) -> Option<u64> {
        let offset = offset_of!(HsaGraphicsResourceInfo, SizeHintInBytes);
        let whole = bytes.get(..self.graphics)?;
        if self.graphics > offset { u64_at(whole, offset) } else { Some(0) }
    }

    /// How much of its import descriptor a caller has, bytes.
    pub const fn import_size(&self) -> usize {
        match self.import {
            ImportLayout::Natural24 => 24,
            ImportLayout::Packed32 => 32,
            ImportLayout::Newest40 => 40,
        }
    }

    /// The import descriptor in the first [`import_size`](Self::import_size) bytes of a caller's; `None` when there are
    /// fewer.
    pub fn import(&self, bytes: &[u8]) -> Option<HsaHandleImportDesc> {
        let bytes = bytes.get(..self.import_size())?;
        let mut desc = HsaHandleImportDesc { device_handle: pointer_at(bytes, 0)?, ..HsaHandleImportDesc::ZERO };
        match self.import {
            ImportLayout::Natural24 => {
                desc.set_dmabuf_fd(i64::from(u32_at(bytes, 8)? as i32));
                desc.r#type = HsaExternalHandleType(u32_at(bytes, 12)?);
                desc.metadata = u32_at(bytes, 16)?;
            }
            ImportLayout::Packed32 => {
                desc.set_dmabuf_fd(u64_at(bytes, 8)? as i64);
                desc.r#type = HsaExternalHandleType(u32_at(bytes, 16)?);
                desc.mem = pointer_at(bytes, 20)?;
                desc.metadata = u32_at(bytes, 28)?;
            }
            ImportLayout::Newest40 => {
                let handle = offset_of!(HsaHandleImportDesc, fabric);
                desc.r#type = HsaExternalHandleType(u32_at(bytes, offset_of!(HsaHandleImportDesc, r#type))?);
                desc.fabric = HsaFabricHandle { handle: [u64_at(bytes, handle)?, u64_at(bytes, handle + 8)?] };
                desc.mem = pointer_at(bytes, offset_of!(HsaHandleImportDesc, mem))?;
                desc.metadata = u32_at(bytes, offset_of!(HsaHandleImportDesc, metadata))?;
            }
        }
        Some(desc)
    }

    /// The result of an import. The older forms end after 20 bytes, with or without 4 bytes of padding behind.
    pub fn import_result(&self, result: &HsaHandleImportResult) -> Image<24> {
        let image = Image::of(*result);
        match self.import {
            ImportLayout::Newest40 => image,
            _ => image.without_word(offset_of!(HsaHandleImportResult, dmabuf_fd)),
        }
    }

    /// The result of an export. The older form has only the file descriptor.
    pub fn export_result(&self, result: &HsaMemoryExportResult) -> Image<16> {
        let image = Image::of(*result);
        match self.import {
            ImportLayout::Newest40 => image,
            _ => image.cut(4),
        }
    }
}

/// The node with the version that the user asks for in place of its own, if there is one; the firmware version stays.
fn overridden(mut node: HsaNodeProperties) -> HsaNodeProperties {
    let wanted = node.OverrideEngineId;
    if wanted.0 != 0 {
        node.EngineId = wanted.with(HSA_ENGINE_ID::uCode, node.EngineId.get(HSA_ENGINE_ID::uCode));
    }
    node
}

impl DeviceInfoLayout {
    /// What AMD SMI asks for at start.
    pub fn device_info(self, info: &rocdxg_smi_device_info_t) -> Image<3632> {
        let image = Image::of(*info);
        match self {
            // The word behind `bdf` is padding; without it and `struct_size` the rest is 8 bytes nearer.
            Self::L3624 => image
                .without_word(offset_of!(rocdxg_smi_device_info_t, asic) - 4)
                .without_word(offset_of!(rocdxg_smi_device_info_t, struct_size)),
            Self::L3632 => image,
        }
    }
}
