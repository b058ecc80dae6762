//! The memory banks of a GPU that are address ranges, which sysfs does not list (kfd.md 2.5).

use super::super::Node;
use super::ioctl::kfd_process_device_apertures;
use crate::abi::{
    HSA_ENGINE_ID, HSA_HEAPTYPE, HSA_HEAPTYPE_DEVICE_SVM, HSA_HEAPTYPE_GPU_LDS, HSA_HEAPTYPE_GPU_SCRATCH,
    HsaMemoryProperties,
};

/// A range of addresses; `limit` is its last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
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

/// The last byte of the addresses that a program can have on x86-64 with four levels of page tables.
const LAST_USER_BYTE: u64 = (1 << 47) - 1;
/// The last byte of the largest address space of a GPU that shares the program's addresses.
const LAST_CANONICAL_BYTE: u64 = (1 << 56) - 1;
/// The range begins and ends at huge pages.
const HUGE_PAGE: u64 = 2 << 20;

/// The addresses that the program and all `gpus` share, where all of the program's are among them (kfd.md 3.2).
///
/// `None`: a GPU has an address space of its own (gfx7 APUs), or one so small (40 bits, up to gfx8) that a part of it
/// must be reserved before anybody can say where it is.
pub(super) fn shared(gpus: impl Iterator<Item = kfd_process_device_apertures>) -> Option<Range> {
    let mut found: Option<Range> = None;
    for gpu in gpus.filter(|gpu| gpu.gpuvm_limit <= LAST_CANONICAL_BYTE) {
        let range = found.get_or_insert(Range { base: gpu.gpuvm_base, limit: gpu.gpuvm_limit });
        range.base = range.base.max(gpu.gpuvm_base);
        range.limit = range.limit.min(gpu.gpuvm_limit);
    }
    let found = found?;
    if found.limit < LAST_USER_BYTE {
        return None;
    }
    let end = (found.limit + 1) / HUGE_PAGE * HUGE_PAGE;
    Range::new(found.base.checked_next_multiple_of(HUGE_PAGE)?, end - 1)
}

fn bank(heap: HSA_HEAPTYPE, base: u64, size: u64) -> HsaMemoryProperties {
    HsaMemoryProperties { HeapType: heap, SizeInBytes: size, VirtualBaseAddress: base, ..HsaMemoryProperties::ZERO }
}

/// Appends the LDS, scratch and SVM banks of a GPU node, in this order. `svm` is the shared range, `discrete` whether
/// the machine has a GPU that is not part of a CPU.
pub(super) fn append(node: &mut Node, gpu: &kfd_process_device_apertures, svm: Option<Range>, discrete: bool) {
    if Range::new(gpu.lds_base, gpu.lds_limit).is_some() {
        let size = u64::from(node.properties.LDSSizeInKB) << 10;
        node.banks.push(bank(HSA_HEAPTYPE_GPU_LDS, gpu.lds_base, size));
    }
    if let Some(scratch) = Range::new(gpu.scratch_base, gpu.scratch_limit) {
        node.banks.push(bank(HSA_HEAPTYPE_GPU_SCRATCH, scratch.base, scratch.size()));
    }
    let major = node.properties.EngineId.get(HSA_ENGINE_ID::Major);
    if let Some(svm) = svm.filter(|_| discrete || major >= 9) {
        node.banks.push(bank(HSA_HEAPTYPE_DEVICE_SVM, svm.base, svm.size()));
    }
    node.properties.NumMemoryBanks = node.banks.len() as u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(base: u64, limit: u64) -> kfd_process_device_apertures {
        kfd_process_device_apertures { gpuvm_base: base, gpuvm_limit: limit, ..Default::default() }
    }

    #[test]
    fn the_shared_range_is_what_all_gpus_have() {
        let of = |gpus: &[kfd_process_device_apertures]| shared(gpus.iter().copied()).map(|r| (r.base, r.limit));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[vm(0x10000, LAST_USER_BYTE)]), Some((2 << 20, LAST_USER_BYTE)));
        assert_eq!(of(&[vm(0x1000000, LAST_USER_BYTE)]), Some((0x1000000, LAST_USER_BYTE)));
        let two = [vm(0x4000, LAST_CANONICAL_BYTE), vm(0x300000, LAST_USER_BYTE + 12345)];
        assert_eq!(of(&two), Some((0x400000, LAST_USER_BYTE)));
        assert_eq!(of(&[vm(0x10000, LAST_USER_BYTE), vm(0x10000, (1 << 40) - 1)]), None, "40 bits: to be reserved");
        assert_eq!(of(&[vm(1 << 61, u64::MAX)]), None, "an address space of its own");
        assert_eq!(of(&[vm(u64::MAX, LAST_USER_BYTE)]), None, "no range");
    }

    #[test]
    fn banks_are_counted_and_what_is_no_range_is_left_out() {
        let mut node = Node::default();
        node.properties.LDSSizeInKB = 64;
        let gpu = kfd_process_device_apertures {
            lds_base: 1 << 48,
            lds_limit: (1 << 48) + 0xffff_ffff,
            scratch_base: 2 << 48,
            scratch_limit: (2 << 48) + 0xffff_ffff,
            ..vm(0x10000, LAST_USER_BYTE)
        };
        append(&mut node, &gpu, shared([gpu].into_iter()), true);
        let banks: Vec<_> = node.banks.iter().map(|b| (b.HeapType, b.VirtualBaseAddress, b.SizeInBytes)).collect();
        let svm = (HSA_HEAPTYPE_DEVICE_SVM, 2 << 20, (1 << 47) - (2 << 20));
        let lds = (HSA_HEAPTYPE_GPU_LDS, 1 << 48, 64 << 10);
        assert_eq!(banks, [lds, (HSA_HEAPTYPE_GPU_SCRATCH, 2 << 48, 4 << 30), svm]);
        assert_eq!({ node.properties.NumMemoryBanks }, 3);

        let mut bare = Node::default();
        append(&mut bare, &kfd_process_device_apertures::default(), shared([gpu].into_iter()), false);
        assert_eq!(bare.banks, [], "gfx 0 without a discrete GPU has no SVM bank");
    }
}
