//! Nodes that are regular files: offsets that a file has, and what of the file is given back.

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_kfd::{Config, FILE_BYTES, FileId, Kernel, Mode, Pages, Stretch};

use super::kit::*;

const ALLOC: u32 = 0xc028_4b16;
const FREE: u32 = 0x4008_4b17;
const CREATE_EVENT: u32 = 0xc020_4b08;

fn file_kernel(machine: &Machine) -> Kernel {
    let mut config = Config::of_machine(machine, Mode::default());
    config.file_offsets = true;
    Kernel::new(config)
}

/// Handle and offset of a buffer.
fn alloc(kernel: &mut Kernel, client: &Client, kfd: FileId, flags: u32, size: u32) -> (u64, u64) {
    let gpu_id = kernel.config().gpus[0].gpu_id;
    let mut words = [0, 0, size, 0, 0, 0, 0, 0, gpu_id, flags];
    assert_eq!(client.call(kernel, kfd, ALLOC, &mut words), Ok(()));
    let wide = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
    (wide(4), wide(6))
}

/// The offset of the event page that an event comes with.
fn event(kernel: &mut Kernel, client: &Client, kfd: FileId) -> u64 {
    let mut words = [0; 8];
    assert_eq!(client.call(kernel, kfd, CREATE_EVENT, &mut words), Ok(()));
    u64::from(words[0]) | u64::from(words[1]) << 32
}

#[test]
fn each_process_has_its_own_places_in_dev_kfd_and_clients_find_no_bits_below_their_own() {
    let mut kernel = file_kernel(&Machine::load("gfx1100").unwrap());
    let mut offsets = Vec::new();
    for tgid in [100, 200] {
        let mut client = Client::new(tgid);
        let kfd = kernel.open_kfd(tgid).unwrap();
        let render = kernel.open_render(128).unwrap();
        client.install(5, render);
        let id = kernel.config().gpus[0].gpu_id;
        assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, id), Ok(()));
        let registers = alloc(&mut kernel, &client, kfd, 0x10, 4096).1;
        assert_eq!(alloc(&mut kernel, &client, kfd, 0x10, 4096).1, registers, "one page of registers");
        let events = event(&mut kernel, &client, kfd);
        let stretch = kernel.stretch(Pages::Events(tgid));
        assert_eq!(stretch, Some(Stretch { gpu: None, offset: events, bytes: 32768 }));
        assert_eq!(kernel.take_fills()[0].pages, Pages::Events(tgid));
        offsets.extend([registers, events]);
    }
    for (i, offset) in offsets.iter().enumerate() {
        assert!(offset & 0xffff_ffff == 0 && *offset < FILE_BYTES && !offsets[..i].contains(offset), "{offsets:x?}");
    }
}

#[test]
fn memory_behind_a_small_bar_is_behind_the_end_of_the_file() {
    let mut kernel = file_kernel(&Machine::load("gfx1100").unwrap());
    let (client, kfd, _) = bound(&mut kernel);
    assert!(alloc(&mut kernel, &client, kfd, 1, 4096).1 >= FILE_BYTES);
    assert!(alloc(&mut kernel, &client, kfd, 2, 4096).1 < FILE_BYTES);
}

#[test]
fn what_is_freed_or_left_at_the_end_is_told_once_and_its_place_does_not_come_again() {
    let mut kernel = file_kernel(&machine_with(
        "gfx1100",
        "[adapter.private]",
        "[adapter.kfd]\nlarge_bar = true\n[adapter.private]",
    ));
    let (client, kfd, _) = bound(&mut kernel);
    let (first, at) = alloc(&mut kernel, &client, kfd, 1, 8192);
    assert_eq!(kernel.take_freed(), []);
    assert_eq!(client.call(&mut kernel, kfd, FREE, &mut [first as u32, (first >> 32) as u32]), Ok(()));
    assert_eq!(kernel.take_freed(), [Stretch { gpu: Some(0), offset: at, bytes: 8192 }]);
    assert_eq!(kernel.take_freed(), []);
    let (_, next) = alloc(&mut kernel, &client, kfd, 2, 4096);
    assert!(next >= at + 8192);
    let events = event(&mut kernel, &client, kfd);
    kernel.exit(100);
    let freed = kernel.take_freed();
    assert_eq!(freed[0], Stretch { gpu: Some(0), offset: next, bytes: 4096 });
    assert!(freed[1].gpu.is_none() && (freed[1].offset..freed[1].offset + freed[1].bytes).contains(&events));
    assert_eq!(freed.len(), 2);
    let other = kernel.open_kfd(300).unwrap();
    assert_ne!(event(&mut kernel, &Client::new(300), other), events);
}
