//! The addresses that the program and its GPUs share, and how memory gets its own among them (kfd.md 3.2, 3.4).

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::super::MemoryOptions;
use super::super::os::page_size;
use super::super::span::{Region, Span, no_memory};
use super::ioctl::kfd_process_device_apertures;

/// The last byte of the addresses that a program can have on x86-64 with four levels of page tables.
const LAST_USER_BYTE: u64 = (1 << 47) - 1;
/// The last byte of the largest address space of a GPU that shares the program's addresses.
const LAST_CANONICAL_BYTE: u64 = (1 << 56) - 1;
/// The last byte of what is set aside at most.
const LAST_RESERVED_BYTE: u64 = (1 << 40) - 1;
/// The smallest part that is worth setting aside.
pub(super) const LEAST_RESERVED: u64 = 4 << 30;
/// The range begins and ends at huge pages.
pub(super) const HUGE_PAGE: u64 = 2 << 20;
/// Granule of the two parts of what is set aside.
const GRANULE: u64 = 64 << 10;

/// The two parts of what is set aside: GPUs up to gfx8 tell coherent memory by its address.
#[derive(Debug)]
struct Reserved {
    coherent: Arc<Region>,
    default: Arc<Region>,
}

/// The addresses that the program and all GPUs share.
#[derive(Debug)]
pub struct Space {
    range: RangeInclusive<u64>,
    reserved: Option<Reserved>,
    /// Bytes beside an allocation that nothing else gets.
    guard: u64,
    /// The most that a large allocation is aligned to unasked.
    most_alignment: u64,
}

/// What all of `gpus` can address that share the program's addresses.
fn common(gpus: &[kfd_process_device_apertures]) -> Option<RangeInclusive<u64>> {
    let mut canonical = gpus.iter().filter(|gpu| gpu.gpuvm_limit <= LAST_CANONICAL_BYTE).peekable();
    canonical.peek()?;
    let range = canonical
        .fold((0, u64::MAX), |(base, limit), gpu| (u64::max(base, gpu.gpuvm_base), u64::min(limit, gpu.gpuvm_limit)));
    let end = (range.1 + 1) / HUGE_PAGE * HUGE_PAGE;
    let base = range.0.checked_next_multiple_of(HUGE_PAGE).filter(|base| *base < end)?;
    Some(base..=end - 1)
}

impl Space {
    /// The space that `gpus` share with the program; `Ok(None)` when each of them has one of its own (gfx7 APUs).
    ///
    /// Errors: a part must be set aside (40-bit GPUs, or `HSA_RESERVE_SVM`) and there is no room for it.
    pub fn new(gpus: &[kfd_process_device_apertures], options: &MemoryOptions) -> io::Result<Option<Self>> {
        let Some(range) = common(gpus) else { return Ok(None) };
        let page = page_size() as u64;
        let guard = u64::from(options.guard_pages).saturating_mul(page).min(LEAST_RESERVED);
        let most_alignment = page << options.most_alignment.min(30);
        if *range.end() >= LAST_USER_BYTE && !options.reserve {
            return Ok(Some(Self { range, reserved: None, guard, most_alignment }));
        }
        let whole = *range.start()..=LAST_RESERVED_BYTE.min(*range.end());
        let (base, bytes) = place(&whole)?;
        let quarter = bytes / 4 / GRANULE * GRANULE;
        let coherent = Arc::new(Region::at(base, quarter)?);
        let default = Arc::new(Region::at(base + quarter, bytes - quarter)?);
        let range = base..=base + (bytes - 1);
        Ok(Some(Self { range, reserved: Some(Reserved { coherent, default }), guard, most_alignment }))
    }

    /// Whether all of `gpus` can use it, and it is not narrower than it must be.
    pub fn suits(&self, gpus: &[kfd_process_device_apertures]) -> bool {
        let Some(common) = common(gpus) else { return false };
        match self.reserved {
            Some(_) => common.contains(self.range.start()) && common.contains(self.range.end()),
            None => common == self.range,
        }
    }

    /// First and last byte.
    pub fn range(&self) -> &RangeInclusive<u64> {
        &self.range
    }

    /// The part that GPUs treat as coherent: first address and bytes. All of it where addresses do not matter.
    pub fn coherent(&self) -> (u64, u64) {
        match &self.reserved {
            Some(reserved) => (reserved.coherent.base(), reserved.coherent.whole()),
            None => (*self.range.start(), self.range.end() - self.range.start() + 1),
        }
    }

    /// Addresses for an allocation, at `address` or at a multiple of `alignment` (0: of what suits its size).
    pub fn span(&self, bytes: u64, alignment: u64, address: Option<u64>, coherent: bool) -> io::Result<Span> {
        let region = self.reserved.as_ref().map(|r| if coherent { &r.coherent } else { &r.default });
        if let Some(address) = address {
            let last = address.checked_add(bytes.max(1) - 1).ok_or_else(no_memory)?;
            if !self.range.contains(&address) || !self.range.contains(&last) {
                return Err(no_memory());
            }
            return match region {
                Some(region) => region.span_at(address, bytes).ok_or_else(no_memory),
                None => Span::at(address, bytes),
            };
        }
        let mut suits = page_size() as u64;
        while suits < self.most_alignment && bytes / 2 >= suits {
            suits *= 2;
        }
        let alignment = alignment.max(suits);
        match region {
            Some(region) => region.span(bytes, alignment, self.guard).ok_or_else(no_memory),
            None => Span::anywhere(bytes, alignment, self.guard, &self.range),
        }
    }
}

/// Finds a place of at least 4 GiB in `whole` that nobody uses, the larger the better: first address and bytes.
fn place(whole: &RangeInclusive<u64>) -> io::Result<(u64, u64)> {
    let mut bytes = whole.end() - whole.start() + 1;
    while bytes >= LEAST_RESERVED {
        let (mut base, mut step) = (*whole.start(), HUGE_PAGE);
        while base.checked_add(bytes - 1).is_some_and(|last| last <= *whole.end()) {
            // Released again at once: the regions take it in two parts.
            if Span::at(base, bytes).is_ok() {
                return Ok((base, bytes));
            }
            base += step;
            step = (step + step / 8).next_multiple_of(HUGE_PAGE);
        }
        bytes = (bytes / 2).next_multiple_of(HUGE_PAGE);
    }
    Err(no_memory())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(base: u64, limit: u64) -> kfd_process_device_apertures {
        kfd_process_device_apertures { gpuvm_base: base, gpuvm_limit: limit, ..Default::default() }
    }

    #[test]
    fn the_shared_range_is_what_all_gpus_have() {
        let of = |gpus: &[kfd_process_device_apertures]| common(gpus).map(|r| (*r.start(), *r.end()));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[vm(0x10000, LAST_USER_BYTE)]), Some((2 << 20, LAST_USER_BYTE)));
        assert_eq!(of(&[vm(0x1000000, LAST_USER_BYTE)]), Some((0x1000000, LAST_USER_BYTE)));
        let two = [vm(0x4000, LAST_CANONICAL_BYTE), vm(0x300000, LAST_USER_BYTE + 12345)];
        assert_eq!(of(&two), Some((0x400000, LAST_USER_BYTE)));
        assert_eq!(of(&[vm(1 << 61, u64::MAX)]), None, "an address space of its own");
        assert_eq!(of(&[vm(u64::MAX, LAST_USER_BYTE)]), None, "no range");
        assert_eq!(of(&[vm(0x10000, 0x10000)]), None, "no range");
    }

    #[test]
    fn all_of_the_program_s_addresses_are_served_by_the_system() {
        let space = Space::new(&[vm(0x10000, LAST_USER_BYTE)], &MemoryOptions::default()).unwrap().unwrap();
        assert_eq!(space.coherent(), (2 << 20, (1 << 47) - (2 << 20)));
        let span = space.span(5 << 20, 0, None, false).unwrap();
        assert!(span.base().is_multiple_of(2 << 20), "at most 2 MiB unasked");
        let wide = space.span(4096, 1 << 30, None, true).unwrap();
        assert!(wide.base().is_multiple_of(1 << 30));
        assert!(space.span(4096, 0, Some(span.base()), false).is_err(), "taken");
        assert!(space.span(4096, 0, Some(1 << 47), false).is_err(), "beyond");
        let at = span.base();
        drop(span);
        assert_eq!(space.span(8192, 0, Some(at), false).unwrap().base(), at);
    }

    #[test]
    fn a_part_is_set_aside_for_gpus_that_see_less() {
        let space = Space::new(&[vm(0x10000, (1 << 40) - 1)], &MemoryOptions::default()).unwrap().unwrap();
        let (base, coherent) = space.coherent();
        assert_eq!(base, *space.range().start());
        let bytes = space.range().end() - base + 1;
        assert!(*space.range().end() <= LAST_RESERVED_BYTE && bytes >= LEAST_RESERVED);
        assert_eq!(coherent, bytes / 4 / GRANULE * GRANULE);
        let spans = [false, true].map(|coherent| space.span(1 << 20, 0, None, coherent).unwrap());
        assert!(spans[0].base() >= base + coherent && spans[1].base() < base + coherent);
        let exact = base + (64 << 20);
        assert_eq!(space.span(1 << 20, 0, Some(exact), true).unwrap().base(), exact);
        assert!(space.span(1 << 20, 0, Some(exact), false).is_err(), "the other part");
    }
}
