//! Rules 7 to 12: opens, exits, forks, and GPUs that a process does not have.

use rocdxg_fake_kfd::{Ledger, Mode};

use super::kit::*;

#[test]
fn rule_7_a_second_open_shares_the_state_and_a_close_destroys_nothing() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, gpu_id) = bound(&mut kernel);
    let second = kernel.open_kfd(100).unwrap();
    assert_eq!(
        kernel.ledger(),
        Ledger { kfd_opens: 2, render_opens: 1, processes: 1, bound_vms: 1, ..Ledger::default() }
    );
    kernel.close(kfd);
    kernel.close(second);
    assert_eq!(
        kernel.ledger(),
        Ledger { kfd_opens: 0, render_opens: 1, processes: 1, bound_vms: 1, ..Ledger::default() }
    );
    assert_eq!(client.call(&mut kernel, second, GET_VERSION, &mut [0; 2]), refused(E::EBADF), "it is closed");
    let third = kernel.open_kfd(100).unwrap();
    assert_eq!(client.acquire_vm(&mut kernel, third, 5, gpu_id), Ok(()), "still bound to the same file");
    let policy = &mut [0, 0, 0, 0, gpu_id, 0, 0, 0];
    assert_eq!(client.call(&mut kernel, third, SET_MEMORY_POLICY, policy), Ok(()));
}

#[test]
fn rule_8_the_newest_kernel_refuses_an_open_without_a_visible_gpu() {
    let hidden = machine_with("gfx1100", "[adapter.private]", "[adapter.kfd]\nhidden = true\n\n[adapter.private]");
    for (mode, answer) in [(Mode::V7_2, Some(E::EINVAL)), (Mode::V6_12, None), (Mode::V6_1, None)] {
        assert_eq!(kernel_of(&hidden, mode).open_kfd(1).err(), answer, "{mode:?}");
    }
    let mut none = kernel("none");
    assert_eq!(none.open_kfd(1).err(), Some(E::EINVAL));
    assert_eq!(none.ledger(), Ledger::default());
}

#[test]
fn rule_9_the_end_of_a_process_frees_what_it_had() {
    let mut kernel = kernel("gfx1100");
    let (_, kfd, gpu_id) = bound(&mut kernel);
    kernel.close(kfd);
    kernel.exit(100);
    assert_eq!(kernel.ledger(), Ledger { render_opens: 1, ..Ledger::default() });
    // The render file, inherited by another process, can hold that one's VM now.
    let mut heir = Client::new(300);
    let kfd = kernel.open_kfd(300).unwrap();
    let render = kernel.open_render(128).unwrap();
    heir.install(5, render);
    assert_eq!(heir.acquire_vm(&mut kernel, kfd, 5, gpu_id), Ok(()));
}

#[test]
fn rule_9_a_render_file_that_only_the_vm_kept_goes_with_the_process() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = bound(&mut kernel);
    let rocdxg_fake_kfd::Descriptor::Device(render) = client.fds[&5] else { panic!() };
    kernel.close(render);
    assert_eq!(kernel.ledger().render_opens, 1);
    kernel.close(kfd);
    kernel.exit(100);
    assert_eq!(kernel.ledger(), Ledger::default());
}

#[test]
fn rule_10_a_fork_child_starts_empty_on_an_open_of_its_own() {
    let mut kernel = kernel("gfx1100");
    let (parent, inherited, gpu_id) = bound(&mut kernel);
    let mut child = Client { tgid: 200, fds: parent.fds.clone() };
    assert_eq!(child.call(&mut kernel, inherited, GET_VERSION, &mut [0; 2]), refused(E::EBADF));
    let own = kernel.open_kfd(200).unwrap();
    let policy = [0, 0, 0, 0, gpu_id, 0, 0, 0];
    assert_eq!(child.call(&mut kernel, own, SET_MEMORY_POLICY, &mut policy.clone()), refused(E::ESRCH));
    assert_eq!(child.acquire_vm(&mut kernel, own, 5, gpu_id), refused(E::EINVAL), "the file holds the parent's VM");
    let render = kernel.open_render(128).unwrap();
    child.install(6, render);
    assert_eq!(child.acquire_vm(&mut kernel, own, 6, gpu_id), Ok(()));
    assert_eq!(kernel.ledger().bound_vms, 2);
}

#[test]
fn rule_11_gpu_id_0_an_unknown_and_a_hidden_one_are_einval_but_for_the_clocks() {
    let hidden = machine_with(
        "two-gfx1100",
        "[adapter.private]",
        "[adapter.kfd]\nhidden = true\ngpu_id = 7\n\n[adapter.private]",
    );
    let mut kernel = kernel_of(&hidden, Mode::default());
    let client = Client::new(100);
    let kfd = kernel.open_kfd(100).unwrap();
    for id in [0, 7, 0x1_0001] {
        let mut small = |request, words: &mut [u32]| client.call(&mut kernel, kfd, request, words);
        assert_eq!(small(SET_MEMORY_POLICY, &mut [0, 0, 0, 0, id, 0, 0, 0]), refused(E::EINVAL));
        assert_eq!(small(SET_TRAP_HANDLER, &mut [0, 0, 0, 0, id, 0]), refused(E::EINVAL));
        assert_eq!(small(SET_SCRATCH_BACKING_VA, &mut [0, 0, id, 0]), refused(E::EINVAL));
        assert_eq!(small(GET_TILE_CONFIG, &mut [0, 0, 0, 0, 0, 0, id, 0, 0, 0]), refused(E::EINVAL));
        assert_eq!(small(AVAILABLE_MEMORY, &mut [0, 0, id, 0]), refused(E::EINVAL));
        let mut clocks = [9, 9, 0, 0, 0, 0, 0, 0, id, 0];
        assert_eq!(small(GET_CLOCK_COUNTERS, &mut clocks), Ok(()));
        assert_eq!(clocks[..2], [0, 0]);
    }
}

#[test]
fn rule_12_an_unbound_gpu_is_esrch_or_enodev() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, id) = opened(&mut kernel);
    let calls: [(u32, &[u32], _); 3] = [
        (SET_MEMORY_POLICY, &[0, 0, 0, 0, id, 0, 0, 0], E::ESRCH),
        (SET_TRAP_HANDLER, &[0, 0, 0, 0, id, 0], E::ESRCH),
        (SET_SCRATCH_BACKING_VA, &[0, 0, id, 0], E::ENODEV),
    ];
    for (request, words, errno) in calls {
        assert_eq!(client.call(&mut kernel, kfd, request, &mut words.to_vec()), refused(errno));
    }
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, id), Ok(()));
    for (request, words, _) in calls {
        assert_eq!(client.call(&mut kernel, kfd, request, &mut words.to_vec()), Ok(()));
    }
}

#[test]
fn rule_3_a_file_whose_opener_is_gone_is_ebadf_for_everybody_also_for_the_same_number() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    kernel.exit(100);
    assert_eq!(client.call(&mut kernel, kfd, GET_VERSION, &mut [0; 2]), Err(E::EBADF));
    let own = kernel.open_kfd(100).unwrap();
    assert_eq!(client.call(&mut kernel, own, GET_VERSION, &mut [0; 2]), Ok(()));
}
