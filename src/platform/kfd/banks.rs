//! The memory banks of a GPU that are address ranges, which sysfs does not list (kfd.md 2.5).

use super::super::Node;
use super::ioctl::kfd_process_device_apertures;
use crate::abi::{
    HSA_ENGINE_ID, HSA_HEAPTYPE, HSA_HEAPTYPE_DEVICE_SVM, HSA_HEAPTYPE_GPU_LDS, HSA_HEAPTYPE_GPU_SCRATCH,
    HSA_HEAPTYPE_MMIO_REMAP, HsaMemoryProperties,
};

/// A range of addresses; `limit` is its last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    base: u64,
    limit: u64,
}

impl Range {
    fn size(self) -> u64 {
        (self.limit - self.base).saturating_add(1)
    }

    /// `None` when it is not a range.
    fn new(base: u64, limit: u64) -> Option<Self> {
        (base < limit).then_some(Self { base, limit })
    }
}

fn bank(heap: HSA_HEAPTYPE, base: u64, size: u64) -> HsaMemoryProperties {
    HsaMemoryProperties { HeapType: heap, SizeInBytes: size, VirtualBaseAddress: base, ..HsaMemoryProperties::ZERO }
}

/// What a GPU and its process share.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared {
    /// First and last byte of the addresses that mean the same to both.
    pub(super) svm: Option<(u64, u64)>,
    /// Address and bytes of the page of remapped registers.
    pub(super) mmio: Option<(u64, u64)>,
    /// The machine has a GPU that is not part of a CPU.
    pub(super) discrete: bool,
}

/// Appends the LDS, scratch, SVM and register banks of a GPU node, in this order.
pub(super) fn append(node: &mut Node, gpu: &kfd_process_device_apertures, shared: Shared) {
    if Range::new(gpu.lds_base, gpu.lds_limit).is_some() {
        let size = u64::from(node.properties.LDSSizeInKB) << 10;
        node.banks.push(bank(HSA_HEAPTYPE_GPU_LDS, gpu.lds_base, size));
    }
    if let Some(scratch) = Range::new(gpu.scratch_base, gpu.scratch_limit) {
        node.banks.push(bank(HSA_HEAPTYPE_GPU_SCRATCH, scratch.base, scratch.size()));
    }
    let major = node.properties.EngineId.get(HSA_ENGINE_ID::Major);
    let svm = shared.svm.and_then(|(base, limit)| Range::new(base, limit));
    if let Some(svm) = svm.filter(|_| shared.discrete || major >= 9) {
        node.banks.push(bank(HSA_HEAPTYPE_DEVICE_SVM, svm.base, svm.size()));
    }
    if let Some((base, bytes)) = shared.mmio {
        node.banks.push(bank(HSA_HEAPTYPE_MMIO_REMAP, base, bytes));
    }
    node.properties.NumMemoryBanks = node.banks.len() as u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banks_are_counted_and_what_is_no_range_is_left_out() {
        let mut node = Node::default();
        node.properties.LDSSizeInKB = 64;
        let gpu = kfd_process_device_apertures {
            lds_base: 1 << 48,
            lds_limit: (1 << 48) + 0xffff_ffff,
            scratch_base: 2 << 48,
            scratch_limit: (2 << 48) + 0xffff_ffff,
            ..Default::default()
        };
        let svm = Some((2 << 20, (1 << 47) - 1));
        let mmio = Some((0x7000_0000_0000, 4096));
        append(&mut node, &gpu, Shared { svm, mmio, discrete: true });
        let banks: Vec<_> = node.banks.iter().map(|b| (b.HeapType, b.VirtualBaseAddress, b.SizeInBytes)).collect();
        let expected = [
            (HSA_HEAPTYPE_GPU_LDS, 1 << 48, 64 << 10),
            (HSA_HEAPTYPE_GPU_SCRATCH, 2 << 48, 4 << 30),
            (HSA_HEAPTYPE_DEVICE_SVM, 2 << 20, (1 << 47) - (2 << 20)),
            (HSA_HEAPTYPE_MMIO_REMAP, 0x7000_0000_0000, 4096),
        ];
        assert_eq!(banks, expected);
        assert_eq!({ node.properties.NumMemoryBanks }, 4);

        let mut bare = Node::default();
        append(&mut bare, &kfd_process_device_apertures::default(), Shared { svm, ..Shared::default() });
        assert_eq!(bare.banks, [], "gfx 0 without a discrete GPU has no SVM bank");
    }
}
