//! Rules 119 and 122 to 125: the render node.

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_kfd::{Config, FileId, Kernel, Mode};

use super::kit::*;

/// AMDGPU_INFO into `answer`, with two words for the query.
fn info(kernel: &mut Kernel, file: FileId, query: [u32; 4], answer: &mut [u32]) -> Result<(), E> {
    let [low, high] = halves(answer.as_mut_ptr());
    let [query, a, b, c] = query;
    let mut words = [low, high, size_of_val(answer) as u32, query, a, b, c, 0];
    Client::new(1).call(kernel, file, AMDGPU_INFO, &mut words)
}

#[test]
fn rule_119_a_hidden_gpu_has_a_render_node_that_does_not_open() {
    let hidden = machine_with("two-gfx1100", "[adapter.private]", "[adapter.kfd]\nhidden = true\n\n[adapter.private]");
    let mut kernel = kernel_of(&hidden, Mode::default());
    assert_eq!(kernel.open_render(128), Err(E::EPERM));
    assert!(kernel.open_render(129).is_ok());
    assert_eq!(kernel.open_render(130), Err(E::ENOENT));
}

#[test]
fn rule_122_info_wants_room_and_a_known_query_and_copies_what_fits() {
    let mut kernel = kernel("gfx1100");
    let file = kernel.open_render(128).unwrap();
    assert_eq!(info(&mut kernel, file, [0x16, 0, 0, 0], &mut []), refused(E::EINVAL));
    let mut null = [0, 0, 4, 0, 0, 0, 0, 0];
    assert_eq!(Client::new(1).call(&mut kernel, file, AMDGPU_INFO, &mut null), refused(E::EINVAL));
    let mut bad = [8, 0, 4, 0, 0, 0, 0, 0];
    assert_eq!(Client::new(1).call(&mut kernel, file, AMDGPU_INFO, &mut bad), refused(E::EFAULT));
    assert_eq!(info(&mut kernel, file, [0x7777, 0, 0, 0], &mut [0]), refused(E::EINVAL));
    violations_are(&kernel, &["query 0x7777"]);

    let mut working = [7, 7];
    assert_eq!(info(&mut kernel, file, [0, 0, 0, 0], &mut working), Ok(()));
    assert_eq!(working, [1, 7]);
    for words in [1, 92, 110, 112, 120] {
        let mut device = vec![u32::MAX; words];
        assert_eq!(info(&mut kernel, file, [0x16, 0, 0, 0], &mut device), Ok(()));
        assert_eq!(device[0], 0x744c);
        if words > 112 {
            assert_eq!(device[112..], [u32::MAX; 8]);
        }
    }
}

#[test]
fn the_device_information_is_the_machines() {
    let mut kernel = kernel("dgpu-apu");
    let mut device = |minor| {
        let file = kernel.open_render(minor).unwrap();
        let mut words = [0_u32; 112];
        assert_eq!(info(&mut kernel, file, [0x16, 0, 0, 0], &mut words), Ok(()));
        words
    };
    let dgpu = device(128);
    // Id, revisions, family, engines, arrays, counter in kHz, clocks in kHz.
    assert_eq!(dgpu[..12], [0x744c, 1, 1, 0xc8, 145, 6, 2, 100_000, 2_371_000, 0, 1_249_000, 0]);
    assert_eq!(dgpu[12], 96);
    assert_eq!(dgpu[14..16], [0xff, 0xff], "8 units in each array");
    assert_eq!(dgpu[34], 0);
    assert_eq!(dgpu[36..42], [0x1_0000, 0, 0, 0x8000, 4096, 2 << 20]);
    assert_eq!(dgpu[60], 32);
    assert_eq!(dgpu[84..86], [0, 0xffff_8000]);
    let apu = device(129);
    assert_eq!((apu[0], apu[34]), (0x15bf, 1), "fused");
    assert_eq!(apu[14..16], [0x3f, 0x3f]);
}

#[test]
fn rule_123_registers_are_counted_and_listed() {
    let mut kernel = kernel("gfx1100");
    let file = kernel.open_render(128).unwrap();
    let mut read = |register, count, instance| {
        let mut word = [0];
        info(&mut kernel, file, [0x15, register, count, instance], &mut word).map(|()| word[0])
    };
    assert_eq!(read(0x263e, 1, u32::MAX), Ok(0x545));
    assert_eq!(read(0x263e, 129, u32::MAX), Err(E::EINVAL));
    assert_eq!(read(0x263e, 1, 0xffff_ff06), Err(E::EINVAL), "engine 6 of 0 to 5");
    assert_eq!(read(0x263e, 1, 0xffff_0205), Err(E::EINVAL), "array 2 of 0 to 1");
    assert_eq!(read(0x263f, 1, u32::MAX), Err(E::EFAULT));
}

#[test]
fn engines_are_counted_by_kind() {
    let mut kernel = kernel("gfx1100");
    let file = kernel.open_render(128).unwrap();
    let mut count = |kind| {
        let mut word = [9];
        info(&mut kernel, file, [3, kind, 0, 0], &mut word).map(|()| word[0])
    };
    assert_eq!((count(0), count(1), count(2), count(3)), (Ok(1), Ok(1), Ok(2), Ok(0)));
    assert_eq!(count(10), Err(E::EINVAL));
}

#[test]
fn rule_124_a_render_node_knows_no_clients_unless_it_is_a_regular_file() {
    for request in [0xc010_6401, 0x8004_6402, 0xc028_6405, 0x80f8_6406, 0x4004_6411] {
        let mut kernel = kernel("gfx1100");
        let file = kernel.open_render(128).unwrap();
        assert_eq!(Client::new(1).call(&mut kernel, file, request, &mut [0; 62]), refused(E::EACCES));
    }
    let config = Config::of_machine(&Machine::load("gfx1100").unwrap(), Mode::default());
    let mut kernel = Kernel::new(Config { allow_get_client: true, ..config });
    let file = kernel.open_render(128).unwrap();
    let mut words = [0; 10];
    assert_eq!(Client::new(77).call(&mut kernel, file, 0xc028_6405, &mut words), Ok(()));
    assert_eq!(words, [0, 1, 77, 0, 65534, 0, 0, 0, 0, 0]);
    assert_eq!(Client::new(77).call(&mut kernel, file, 0xc028_6405, &mut [1; 10]), refused(E::EINVAL));
}

#[test]
fn rule_125_the_version_is_asked_twice_lengths_then_strings() {
    for (mode, minor) in [(Mode::V6_1, 49), (Mode::V6_12, 59), (Mode::V7_2, 64)] {
        let mut kernel = kernel_of(&Machine::load("gfx1100").unwrap(), mode);
        let file = kernel.open_render(128).unwrap();
        let mut words = [0_u32; 16];
        assert_eq!(Client::new(1).call(&mut kernel, file, VERSION, &mut words), Ok(()));
        assert_eq!(words[..3], [3, minor, 0]);
        assert_eq!((words[4], words[8], words[12]), (6, 1, 7));
        let mut texts = [[0xee_u8; 8]; 3];
        for (i, text) in texts.iter_mut().enumerate() {
            let [low, high] = halves(text.as_mut_ptr());
            words[6 + 4 * i] = low;
            words[7 + 4 * i] = high;
        }
        words[12] = 3;
        assert_eq!(Client::new(1).call(&mut kernel, file, VERSION, &mut words), Ok(()));
        assert_eq!(&texts[0], b"amdgpu\xee\xee");
        assert_eq!(&texts[1][..2], b"0\xee");
        assert_eq!(&texts[2][..4], b"AMD\xee", "as much as fits");
        assert_eq!(words[12], 7, "and the whole length");
    }
}

#[test]
fn a_request_of_another_driver_is_enotty_and_an_unknown_one_einval() {
    let mut kernel = kernel("gfx1100");
    let file = kernel.open_render(128).unwrap();
    assert_eq!(Client::new(1).call(&mut kernel, file, GET_VERSION, &mut [0; 2]), refused(E::ENOTTY));
    assert_eq!(Client::new(1).call(&mut kernel, file, 0x4020_647f, &mut [0; 8]), refused(E::EINVAL));
    violations_are(&kernel, &["no DRM request", "does not have"]);
}
