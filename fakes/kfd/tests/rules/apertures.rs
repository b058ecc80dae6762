//! Rules 21 to 24: GET_PROCESS_APERTURES and its successor.

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_kfd::{FileId, Kernel, Mode};

use super::kit::*;

/// Six 64-bit limits, the id, and padding.
type Entry = [u64; 7];

/// Answer, count and the array of a call that offers `offered` entries.
fn apertures(kernel: &mut Kernel, kfd: FileId, offered: u32) -> (Result<(), E>, u32, [Entry; 10]) {
    let mut entries = [[u64::MAX; 7]; 10];
    let [low, high] = halves(entries.as_mut_ptr());
    let mut words = [low, high, offered, 0];
    let answer = Client::new(100).call(kernel, kfd, GET_PROCESS_APERTURES_NEW, &mut words);
    (answer, words[2], entries)
}

#[test]
fn rule_21_no_room_asks_for_the_count_only() {
    let mut kernel = kernel("eight-gfx1100");
    let kfd = kernel.open_kfd(100).unwrap();
    assert_eq!(apertures(&mut kernel, kfd, 0), (Ok(()), 8, [[u64::MAX; 7]; 10]));
}

#[test]
fn rule_22_more_room_than_topology_nodes_is_einval() {
    for mode in [Mode::V6_1, Mode::V6_12, Mode::V7_2] {
        let mut kernel = kernel_of(&Machine::load("two-gfx1100").unwrap(), mode);
        let kfd = kernel.open_kfd(100).unwrap();
        assert_eq!(apertures(&mut kernel, kfd, 3).0, Ok(()), "a CPU node and two GPUs");
        assert_eq!(apertures(&mut kernel, kfd, 4), (Err(E::EINVAL), 4, [[u64::MAX; 7]; 10]));
    }
}

#[test]
fn rule_23_the_smaller_of_room_and_gpus_is_filled() {
    let mut kernel = kernel("two-gfx1100");
    let kfd = kernel.open_kfd(100).unwrap();
    let ids = kernel.config().gpus.iter().map(|g| u64::from(g.gpu_id)).collect::<Vec<_>>();
    for (offered, filled) in [(1, 1), (2, 2), (3, 2)] {
        let (answer, count, entries) = apertures(&mut kernel, kfd, offered);
        assert_eq!((answer, count), (Ok(()), filled));
        for (i, entry) in entries.iter().enumerate() {
            assert_eq!(entry[6], if i < filled as usize { ids[i] } else { u64::MAX });
        }
    }
}

#[test]
fn rule_23_a_hidden_gpu_is_not_listed_but_its_node_counts() {
    let hidden = machine_with("two-gfx1100", "[adapter.private]", "[adapter.kfd]\nhidden = true\n\n[adapter.private]");
    let mut kernel = kernel_of(&hidden, Mode::default());
    let kfd = kernel.open_kfd(100).unwrap();
    let (answer, count, entries) = apertures(&mut kernel, kfd, 3);
    assert_eq!((answer, count), (Ok(()), 1));
    assert_eq!(entries[0][6], u64::from(kernel.config().gpus[1].gpu_id));
}

#[test]
fn rule_24_the_windows_are_the_same_on_all_gpus_and_there_before_binding() {
    for (mode, base) in [(Mode::V6_1, 0x4000), (Mode::V6_12, 0x1_0000), (Mode::V7_2, 0x1_0000)] {
        let mut kernel = kernel_of(&Machine::load("two-gfx1100").unwrap(), mode);
        let kfd = kernel.open_kfd(100).unwrap();
        let (_, _, entries) = apertures(&mut kernel, kfd, 2);
        let windows =
            [0x1_0000_0000_0000, 0x1_0000_ffff_ffff, 0x2_0000_0000_0000, 0x2_0000_ffff_ffff, base, 0x7fff_ffff_ffff];
        assert_eq!(entries[0][..6], windows, "{mode:?}");
        assert_eq!(entries[1][..6], windows, "{mode:?}");
    }
}

#[test]
fn rule_24_a_chip_before_gfx9_has_its_windows_elsewhere() {
    let old = machine_with("gfx1100", "gfx_major = 11", "gfx_major = 8");
    let mut kernel = kernel_of(&old, Mode::default());
    let kfd = kernel.open_kfd(100).unwrap();
    let (_, _, entries) = apertures(&mut kernel, kfd, 1);
    assert_eq!(entries[0][0], 1 << 61);
    assert_eq!(entries[0][4..6], [0x1_0000, (1 << 40) - 1]);
}

#[test]
fn the_old_call_lists_seven_gpus_at_most() {
    let mut kernel = kernel("eight-gfx1100");
    let kfd = kernel.open_kfd(100).unwrap();
    let mut words = [u32::MAX; 100];
    assert_eq!(Client::new(100).call(&mut kernel, kfd, GET_PROCESS_APERTURES, &mut words), Ok(()));
    assert_eq!(words[98], 7);
    for (i, entry) in words[..98].chunks(14).enumerate() {
        assert_eq!(entry[12], kernel.config().gpus[i].gpu_id);
        assert_eq!(entry[8], 0x1_0000);
    }
}
