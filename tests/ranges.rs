//! Free address ranges against a plain list of what is taken.

use proptest::prelude::*;
use rocdxg::platform::ranges::Ranges;

proptest! {
    /// What is taken never overlaps, lies in the range and is aligned; when all is given back the range is whole.
    #[test]
    fn takes_are_disjoint_and_gives_restore(
        steps in prop::collection::vec((0..3_u8, 0..64_u64, 1..64_u64, 0..5_u32), 1..200)
    ) {
        const PAGE: u64 = 0x1000;
        let mut ranges = Ranges::new(16 * PAGE, 64 * PAGE);
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for (kind, place, pages, log) in steps {
            let bytes = pages * PAGE;
            let got = match kind {
                0 => ranges.take(bytes, PAGE << log),
                1 => {
                    let address = (place + 8) * PAGE;
                    let free = address >= 16 * PAGE && address + bytes <= 80 * PAGE
                        && taken.iter().all(|(a, b)| address + bytes <= *a || a + b <= address);
                    let got = ranges.take_at(address, bytes);
                    prop_assert_eq!(got, free);
                    got.then_some(address)
                }
                _ => {
                    if !taken.is_empty() {
                        let (a, b) = taken.swap_remove(place as usize % taken.len());
                        ranges.give(a, b);
                    }
                    None
                }
            };
            if let Some(address) = got {
                prop_assert!(address >= 16 * PAGE && address + bytes <= 80 * PAGE);
                prop_assert!(kind != 0 || address % (PAGE << log) == 0);
                prop_assert!(taken.iter().all(|(a, b)| address + bytes <= *a || a + b <= address));
                taken.push((address, bytes));
            }
            let free = 64 * PAGE - taken.iter().map(|(_, b)| b).sum::<u64>();
            prop_assert_eq!(ranges.free().0, free);
        }
        for (a, b) in taken {
            ranges.give(a, b);
        }
        prop_assert_eq!(ranges.free(), (64 * PAGE, 64 * PAGE));
    }
}
