//! What an allocation is, from what its caller said (kfd.md 3.3, dxg.md 3.2).

use super::Error;
use crate::abi::{HSA_PAGE_SIZE_2MB, HSA_PAGE_SIZE_4KB, HSA_PAGE_SIZE_64KB, HsaMemFlags};

/// Where an allocation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The scratch area of a GPU.
    Scratch,
    /// Memory of the host, reached by GPUs.
    Host,
    /// Memory of a GPU.
    Device,
}

/// Bytes of the pages that the flags name.
fn page_bytes(flags: HsaMemFlags) -> u64 {
    match flags.get(HsaMemFlags::PageSize) {
        size if size == HSA_PAGE_SIZE_4KB.0 => 4 << 10,
        size if size == HSA_PAGE_SIZE_64KB.0 => 64 << 10,
        size if size == HSA_PAGE_SIZE_2MB.0 => 2 << 20,
        _ => 1 << 30,
    }
}

/// Checks a wanted address: it is a multiple of a page and of the wanted alignment.
pub(super) fn check_place(flags: HsaMemFlags, alignment: u64, address: Option<u64>) -> Result<(), Error> {
    let unit = alignment.max(page_bytes(flags));
    match address {
        Some(address) if !address.is_multiple_of(unit) => {
            Err(Error::Argument("*MemoryAddress is no multiple of a page, or of Alignment"))
        }
        _ => Ok(()),
    }
}

/// Checks size, alignment and the flags against one another.
pub(super) fn check(flags: HsaMemFlags, bytes: u64, alignment: u64) -> Result<(), Error> {
    let page = page_bytes(flags);
    let set = |field| flags.get(field) != 0;
    if alignment != 0 && (!alignment.is_power_of_two() || alignment < page) {
        return Err(Error::Argument("the alignment is no power of two, or less than a page"));
    }
    if bytes == 0 || !bytes.is_multiple_of(page) {
        return Err(Error::Argument("the size is no multiple of the page size"));
    }
    if set(HsaMemFlags::ExtendedCoherent) && (set(HsaMemFlags::CoarseGrain) || set(HsaMemFlags::Uncached)) {
        return Err(Error::Argument("ExtendedCoherent excludes CoarseGrain and Uncached"));
    }
    if set(HsaMemFlags::NoAddress) && (set(HsaMemFlags::OnlyAddress) || set(HsaMemFlags::FixedAddress)) {
        return Err(Error::Argument("NoAddress excludes OnlyAddress and FixedAddress"));
    }
    Ok(())
}

/// Where it comes from.
pub(super) fn route(flags: HsaMemFlags, is_gpu: bool) -> Route {
    let set = |field| flags.get(field) != 0;
    if set(HsaMemFlags::Scratch) {
        Route::Scratch
    } else if !is_gpu || !set(HsaMemFlags::NonPaged) || set(HsaMemFlags::GTTAccess) || set(HsaMemFlags::OnlyAddress) {
        Route::Host
    } else {
        Route::Device
    }
}

/// Whether an allocation may be a piece of a larger one: nothing about it is of its own.
pub(super) fn may_be_cut(flags: HsaMemFlags) -> bool {
    let own = [
        HsaMemFlags::Scratch,
        HsaMemFlags::FixedAddress,
        HsaMemFlags::OnlyAddress,
        HsaMemFlags::NoAddress,
        HsaMemFlags::Contiguous,
        HsaMemFlags::AQLQueueMemory,
        HsaMemFlags::QueueObject,
    ];
    own.iter().all(|field| flags.get(*field) == 0) && page_bytes(flags) == 4 << 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::HSA_PAGE_SIZE_1GB;

    #[test]
    fn sizes_and_alignments_are_those_of_the_pages() {
        let plain = HsaMemFlags(0);
        assert!(check(plain, 4096, 0).is_ok() && check(plain, 8192, 4096).is_ok());
        for (bytes, alignment) in [(0, 0), (1, 0), (4097, 0), (4096, 3), (4096, 2048)] {
            assert!(check(plain, bytes, alignment).is_err(), "{bytes} {alignment}");
        }
        let pages = [(HSA_PAGE_SIZE_64KB, 64 << 10), (HSA_PAGE_SIZE_2MB, 2 << 20), (HSA_PAGE_SIZE_1GB, 1 << 30)];
        for (size, bytes) in pages {
            let flags = plain.with(HsaMemFlags::PageSize, size.0);
            assert!(check(flags, bytes, bytes).is_ok() && check(flags, bytes / 2, 0).is_err());
            assert!(check(flags, bytes, bytes / 2).is_err());
        }
    }

    #[test]
    fn a_wanted_address_is_a_page() {
        let (plain, large) = (HsaMemFlags(0), HsaMemFlags(0).with(HsaMemFlags::PageSize, HSA_PAGE_SIZE_64KB.0));
        assert!(check_place(plain, 0, None).is_ok() && check_place(plain, 0, Some(0x7000)).is_ok());
        assert!(check_place(plain, 0, Some(0x7800)).is_err() && check_place(large, 0, Some(0x7000)).is_err());
        assert!(check_place(plain, 0x2000, Some(0x7000)).is_err() && check_place(plain, 0x2000, Some(0x8000)).is_ok());
    }

    #[test]
    fn what_excludes_each_other_is_refused() {
        let extended = HsaMemFlags(0).with(HsaMemFlags::ExtendedCoherent, 1);
        assert!(check(extended, 4096, 0).is_ok());
        for field in [HsaMemFlags::CoarseGrain, HsaMemFlags::Uncached] {
            assert!(matches!(check(extended.with(field, 1), 4096, 0), Err(Error::Argument(_))));
        }
        let both = HsaMemFlags(0).with(HsaMemFlags::OnlyAddress, 1).with(HsaMemFlags::NoAddress, 1);
        assert!(matches!(check(both, 4096, 0), Err(Error::Argument(_))));
    }

    #[test]
    fn only_unpaged_memory_of_a_gpu_is_its_own() {
        let unpaged = HsaMemFlags(0).with(HsaMemFlags::NonPaged, 1);
        assert_eq!((route(unpaged, true), route(unpaged, false)), (Route::Device, Route::Host));
        assert_eq!(route(HsaMemFlags(0), true), Route::Host);
        assert_eq!(route(unpaged.with(HsaMemFlags::GTTAccess, 1), true), Route::Host);
        assert_eq!(route(unpaged.with(HsaMemFlags::OnlyAddress, 1), true), Route::Host);
        assert_eq!(route(HsaMemFlags(0).with(HsaMemFlags::Scratch, 1), true), Route::Scratch);
    }
}
