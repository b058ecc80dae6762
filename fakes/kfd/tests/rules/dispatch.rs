//! Rules 1 to 6, 13 to 15: numbers, sizes, directions.

use rocdxg_fake_kfd::Mode;

use super::kit::*;

#[test]
fn rule_1_an_unknown_number_is_enotty_and_recorded() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    for request in [0x4b00_u32, 0xc028_4b82, 0x8008_4bff] {
        assert_eq!(client.call(&mut kernel, kfd, request, &mut [0; 16]), refused(E::ENOTTY));
    }
    violations_are(&kernel, &["0x00004b00", "0xc0284b82", "0x80084bff"]);
}

#[test]
fn rule_1_a_call_that_is_not_there_yet_is_enotty_and_recorded_by_name() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    assert_eq!(client.call(&mut kernel, kfd, 0xc060_4b02, &mut [0; 24]), refused(E::ENOTTY));
    violations_are(&kernel, &["CREATE_QUEUE: this fake does not have it yet"]);
}

#[test]
fn rule_2_the_number_decides_and_another_type_or_direction_is_recorded() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    let mut words = [0; 2];
    assert_eq!(client.call(&mut kernel, kfd, 0x8008_6401, &mut words), Ok(()));
    assert_eq!(words[0], 1);
    assert_eq!(client.call(&mut kernel, kfd, 0x4008_4b01, &mut [0; 2]), Ok(()));
    assert_eq!(client.call(&mut kernel, kfd, GET_VERSION, &mut [0; 2]), Ok(()));
    violations_are(&kernel, &["GET_VERSION: request 0x80086401", "GET_VERSION: request 0x40084b01"]);
}

#[test]
fn rule_3_a_foreign_process_is_ebadf_before_any_argument_is_looked_at() {
    let mut kernel = kernel("gfx1100");
    let (_, kfd, _) = opened(&mut kernel);
    let child = Client::new(200);
    for request in [GET_VERSION, ACQUIRE_VM, 0x4008_4b0d, 0xc038_4b22] {
        assert_eq!(child.call_at(&mut kernel, kfd, request, 0), refused(E::EBADF));
    }
    assert_eq!(child.call_at(&mut kernel, kfd, 0x8008_4bff, 0), refused(E::ENOTTY), "the number is looked up first");
}

#[test]
fn rule_4_a_shorter_argument_is_filled_with_zeros_and_a_longer_one_is_cut() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, gpu_id) = bound(&mut kernel);
    // SET_MEMORY_POLICY without the words for policies: both 0.
    assert_eq!(client.call(&mut kernel, kfd, 0x4014_4b04, &mut [0, 0, 0, 0, gpu_id]), Ok(()));
    // With four words behind.
    assert_eq!(client.call(&mut kernel, kfd, 0x4030_4b04, &mut [0, 0, 0, 0, gpu_id, 1, 0, 0, 9, 9, 9, 9]), Ok(()));
    violations_are(&kernel, &[]);
}

#[test]
fn rule_4_a_bad_pointer_is_efault() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    assert_eq!(client.call_at(&mut kernel, kfd, GET_VERSION, 8), refused(E::EFAULT));
    assert_eq!(client.call_at(&mut kernel, kfd, ACQUIRE_VM, 8), refused(E::EFAULT));
    violations_are(&kernel, &["GET_VERSION: cannot write", "ACQUIRE_VM: cannot read"]);
}

#[test]
fn rule_5_outputs_come_back_after_a_failure_too() {
    let mut kernel = kernel("two-gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    // The array cannot be written; the count was set before.
    let mut words = [8, 0, 3, 0];
    assert_eq!(client.call(&mut kernel, kfd, GET_PROCESS_APERTURES_NEW, &mut words), refused(E::EFAULT));
    assert_eq!(words, [8, 0, 2, 0]);
}

#[test]
fn rule_6_nothing_is_written_beyond_the_callers_size() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    let mut words = [7; 2];
    assert_eq!(client.call(&mut kernel, kfd, 0x8004_4b01, &mut words), Ok(()));
    assert_eq!(words, [1, 7]);
    let mut words = [7; 4];
    assert_eq!(client.call(&mut kernel, kfd, 0x8010_4b01, &mut words), Ok(()));
    assert_eq!(words, [1, 23, 0, 0], "the kernel's part, then its zeros");
}

#[test]
fn rule_13_the_old_debug_calls_are_eperm() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    for request in [0x4008_4b0d, 0x4008_4b0e, 0x4010_4b0f, 0x4010_4b10] {
        assert_eq!(client.call(&mut kernel, kfd, request, &mut [0; 4]), refused(E::EPERM));
    }
}

#[test]
fn rule_14_checkpoints_need_a_capability() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    assert_eq!(client.call(&mut kernel, kfd, 0xc038_4b22, &mut [0; 14]), refused(E::EACCES));
}

#[test]
fn rule_15_the_version_is_the_kernels_and_what_is_younger_is_enotty() {
    let machine = rocdxg_fake_gpu::Machine::load("gfx1100").unwrap();
    for (text, minor, runtime, dmabuf) in
        [("6.1", 11, Err(E::ENOTTY), "none of this"), ("6.12", 17, Ok(()), "yet"), ("7.2", 23, Ok(()), "yet")]
    {
        let mut kernel = kernel_of(&machine, Mode::parse(text).unwrap());
        let (client, kfd, _) = opened(&mut kernel);
        let mut words = [0; 2];
        assert_eq!(client.call(&mut kernel, kfd, GET_VERSION, &mut words), Ok(()));
        assert_eq!(words, [1, minor], "{text}");
        assert_eq!(client.call(&mut kernel, kfd, 0xc010_4b24, &mut [0; 4]), refused(E::ENOTTY));
        assert!(kernel.violations()[0].contains(dmabuf), "{text}: {:?}", kernel.violations());
        assert_eq!(client.call(&mut kernel, kfd, RUNTIME_ENABLE, &mut [0, 0, 1, 0]), runtime, "{text}");
    }
    assert_eq!(Mode::parse("5.4"), None);
}
