//! Rules 25, 26, 42 and others: the small calls.

use rocdxg_fake_kfd::Mode;

use super::kit::*;

#[test]
fn rule_25_a_policy_that_is_none_is_einval_before_the_gpu_is_looked_at() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, id) = opened(&mut kernel);
    let mut policy = |default, alternate| {
        client.call(&mut kernel, kfd, SET_MEMORY_POLICY, &mut [0, 0, 0, 0, id, default, alternate, u32::MAX])
    };
    assert_eq!(policy(2, 0), refused(E::EINVAL));
    assert_eq!(policy(0, 2), refused(E::EINVAL));
    assert_eq!(policy(1, 1), refused(E::ESRCH), "a policy, and the GPU is not bound");
}

#[test]
fn rule_25_the_alternate_aperture_is_checked_on_old_chips_only() {
    // Base and size, each low and high, and whether an old chip takes it.
    let apertures = [
        ([0, 0, 0, 0], true),
        ([0x1_0000, 0, 0x1_0000, 0], true),
        ([0x8000, 0, 0x1_0000, 0], false),
        ([0x1_0000, 0, 0x8000, 0], false),
        ([0, 0x8000_0000, 0x1_0000, 0], false),
        ([0x1_0000, 0, 0, u32::MAX], false),
    ];
    let old = machine_with("gfx1100", "gfx_major = 11", "gfx_major = 8");
    let mut old = kernel_of(&old, Mode::default());
    let mut new = kernel("gfx1100");
    for kernel in [&mut old, &mut new] {
        let (client, kfd, id) = bound(kernel);
        let is_old = kernel.config().gpus[0].chip.gfx_major < 9;
        for (words, fits) in apertures {
            let mut words = [&words[..], &[id, 0, 0, 0]].concat();
            let answer = client.call(kernel, kfd, SET_MEMORY_POLICY, &mut words);
            assert_eq!(answer, if fits || !is_old { Ok(()) } else { Err(E::EINVAL) }, "{words:x?}");
        }
    }
}

#[test]
fn rule_26_the_clocks_rise_and_count_nanoseconds() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, id) = opened(&mut kernel);
    let mut clocks = || {
        let mut words = [0, 0, 0, 0, 0, 0, 0, 0, id, 0];
        assert_eq!(client.call(&mut kernel, kfd, GET_CLOCK_COUNTERS, &mut words), Ok(()));
        let wide = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
        [wide(0), wide(2), wide(4), wide(6)]
    };
    let first = clocks();
    std::thread::sleep(std::time::Duration::from_millis(2));
    let second = clocks();
    assert_eq!((first[3], second[3]), (1_000_000_000, 1_000_000_000));
    let [gpu, cpu, system] = [0, 1, 2].map(|i| second[i] - first[i]);
    assert!(cpu >= 2_000_000 && system >= 2_000_000, "{cpu} {system}");
    assert!((cpu / 10).abs_diff(gpu) <= 1, "100 MHz: {gpu} in {cpu} ns");
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    let seconds: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
    assert!((seconds - second[2] as f64 / 1e9).abs() < 60.0, "the system counter is boot time");
}

#[test]
fn rule_42_available_memory_is_vram_less_page_tables_in_whole_2_mib() {
    for (name, total) in [("gfx1100", 1_u64), ("eight-gfx1100", 8)] {
        let mut kernel = kernel(name);
        let (client, kfd, id) = opened(&mut kernel);
        let vram = kernel.config().gpus[0].vram_bytes;
        let mut words = [0, 0, id, 0];
        assert_eq!(client.call(&mut kernel, kfd, AVAILABLE_MEMORY, &mut words), Ok(()), "no binding is needed");
        let available = u64::from(words[0]) | u64::from(words[1]) << 32;
        let left = vram - (total * vram / 16384).max(8 << 20);
        assert_eq!(available, left - left % (2 << 20));
    }
}

#[test]
fn tile_modes_are_clamped_and_a_bad_pointer_zeroes_its_count() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, id) = opened(&mut kernel);
    let (mut tiles, mut macros) = ([1_u32; 40], [1_u32; 40]);
    let ([a, b], [c, d]) = (halves(tiles.as_mut_ptr()), halves(macros.as_mut_ptr()));
    let mut words = [a, b, c, d, 40, 8, id, 9, 9, 9];
    assert_eq!(client.call(&mut kernel, kfd, GET_TILE_CONFIG, &mut words), Ok(()));
    assert_eq!(words[4..], [32, 8, id, 0x545, 0, 0]);
    assert_eq!(tiles.iter().sum::<u32>() + macros.iter().sum::<u32>(), 8 + 32, "the first 32 and 8 are zero");
    let mut words = [a, b, 8, 0, 40, 8, id, 0, 0, 0];
    assert_eq!(client.call(&mut kernel, kfd, GET_TILE_CONFIG, &mut words), refused(E::EFAULT));
    assert_eq!(words[4..6], [32, 0]);
}

#[test]
fn rule_109_the_xnack_query_never_fails_and_switching_on_needs_a_chip_that_can() {
    let mut able = kernel_of(
        &machine_with(
            "gfx1100",
            "gfx_major = 11\ngfx_minor = 0\ngfx_stepping = 0",
            "gfx_major = 9\ngfx_minor = 4\ngfx_stepping = 2",
        ),
        Mode::default(),
    );
    for (kernel, can) in [(&mut kernel("gfx1100"), false), (&mut able, true)] {
        let (client, kfd, _) = opened(kernel);
        let mut xnack = |value: i32| {
            let mut words = [value as u32];
            client.call(kernel, kfd, SET_XNACK_MODE, &mut words).map(|()| words[0])
        };
        assert_eq!(xnack(-1), Ok(0));
        assert_eq!(xnack(0), Ok(0));
        assert_eq!(xnack(1), if can { Ok(1) } else { Err(E::EPERM) });
        assert_eq!(xnack(-1), Ok(can.into()));
    }
}

#[test]
fn rule_115_the_runtime_is_enabled_once_and_its_mask_stays() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    let mut enable = |mode| {
        let mut words = [0, 0, mode, 0x55];
        let answer = client.call(&mut kernel, kfd, RUNTIME_ENABLE, &mut words);
        assert_eq!(words[3], 0x55);
        answer
    };
    assert_eq!(enable(0), Ok(()), "off again is fine");
    assert_eq!(enable(1), Ok(()));
    assert_eq!(enable(1), refused(E::EBUSY));
    assert_eq!(enable(0), Ok(()));
    assert_eq!(enable(3), Ok(()));
}
