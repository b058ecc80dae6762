//! Rules 58 to 63: mmap.

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_kfd::{Mode, Pages};

use super::kit::*;

fn offset(kind: u64, gpu_id: u32) -> u64 {
    kind << 62 | u64::from(gpu_id) << 46
}

#[test]
fn rule_58_doorbells_are_mapped_whole_by_a_known_gpu_without_any_queue() {
    let mut kernel = kernel("two-gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    let second = kernel.config().gpus[1].gpu_id;
    let mut map = |length, gpu_id, low: u64| kernel.mmap(&client, kfd, (length, offset(3, gpu_id) | low), false);
    assert_eq!(map(8192, second, 0), Ok(Pages::Doorbells(1)));
    assert_eq!(map(4097, second, 0x1808), Ok(Pages::Doorbells(1)), "in whole pages, the low bits do not matter");
    assert_eq!(map(4096, second, 0), Err(E::EINVAL));
    assert_eq!(map(12288, second, 0), Err(E::EINVAL));
    assert_eq!(map(4096, 0, 0), Err(E::ENODEV), "the GPU is looked at first");
    let mut old = kernel_of(&machine_with("gfx1100", "gfx_major = 11", "gfx_major = 8"), Mode::default());
    let (client, kfd, id) = opened(&mut old);
    assert_eq!(old.mmap(&client, kfd, (4096, offset(3, id)), false), Ok(Pages::Doorbells(0)));
}

#[test]
fn rule_59_registers_are_one_page_of_a_named_gpu() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, id) = opened(&mut kernel);
    assert_eq!(kernel.mmap(&client, kfd, (4096, offset(0, id)), false), Ok(Pages::Registers(0)));
    assert_eq!(kernel.mmap(&client, kfd, (8192, offset(0, id)), false), Err(E::EINVAL));
    assert_eq!(kernel.mmap(&client, kfd, (4096, 0), false), Err(E::ENODEV));
    assert_eq!(kernel.mmap(&client, kfd, (8192, offset(0, id ^ 1)), false), Err(E::ENODEV));
}

#[test]
fn rules_60_and_61_there_is_no_event_page_yet_and_nothing_of_type_1() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, id) = opened(&mut kernel);
    assert_eq!(kernel.mmap(&client, kfd, (32768, offset(2, 0)), false), Err(E::EINVAL));
    assert_eq!(kernel.mmap(&client, kfd, (8192, offset(1, id)), false), Err(E::EINVAL));
}

#[test]
fn rule_62_a_foreign_process_is_ebadf_and_before_7_2_einval_without_a_state_of_its_own() {
    for (mode, errno) in [(Mode::V6_1, E::EINVAL), (Mode::V6_12, E::EINVAL), (Mode::V7_2, E::EBADF)] {
        let mut kernel = kernel_of(&Machine::load("gfx1100").unwrap(), mode);
        let (_, kfd, id) = opened(&mut kernel);
        let child = Client::new(200);
        assert_eq!(kernel.mmap(&child, kfd, (8192, offset(3, id)), false), Err(errno));
        let own = kernel.open_kfd(200).unwrap();
        assert_eq!(kernel.mmap(&child, kfd, (8192, offset(3, id)), false).is_ok(), mode < Mode::V7_2);
        assert_eq!(kernel.mmap(&child, own, (8192, offset(3, id)), false), Ok(Pages::Doorbells(0)));
    }
}

#[test]
fn rule_63_a_render_file_without_buffers_maps_nothing() {
    let mut kernel = kernel("gfx1100");
    let file = kernel.open_render(128).unwrap();
    let client = Client::new(1);
    for offset in [0, 1 << 32] {
        assert_eq!(kernel.mmap(&client, file, (4096, offset), false), Err(E::EINVAL));
    }
    kernel.close(file);
    assert_eq!(kernel.mmap(&client, file, (4096, 0), false), Err(E::EBADF));
}
