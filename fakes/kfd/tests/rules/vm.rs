//! Rules 16 to 20: ACQUIRE_VM.

use rocdxg_fake_kfd::Descriptor;

use super::kit::*;

#[test]
fn rule_16_a_bad_fd_an_unknown_gpu_and_another_file_are_einval() {
    let mut kernel = kernel("gfx1100");
    let (mut client, kfd, id) = opened(&mut kernel);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 9, id), refused(E::EINVAL));
    assert_eq!(client.acquire_vm(&mut kernel, kfd, -1, id), refused(E::EINVAL));
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, id ^ 1), refused(E::EINVAL));
    client.fds.insert(6, Descriptor::Foreign);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 6, id), refused(E::EINVAL));
    client.install(7, kfd);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 7, id), refused(E::EINVAL), "/dev/kfd is no render node");
    assert_eq!(kernel.ledger().bound_vms, 0);
}

#[test]
fn rule_17_the_same_file_again_is_fine_and_any_other_is_ebusy() {
    let mut kernel = kernel("gfx1100");
    let (mut client, kfd, id) = bound(&mut kernel);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, id), Ok(()));
    client.fds.insert(15, client.fds[&5]);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 15, id), Ok(()), "a duplicate is the same file");
    let other = kernel.open_render(128).unwrap();
    client.install(6, other);
    client.fds.insert(7, Descriptor::Foreign);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 6, id), refused(E::EBUSY));
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 7, id), refused(E::EBUSY), "before the kind of file is looked at");
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 8, id), refused(E::EINVAL), "but after the descriptor");
    assert_eq!(kernel.ledger().bound_vms, 1);
}

#[test]
fn rule_18_a_file_that_holds_a_vm_serves_no_other_gpu_and_no_other_process() {
    let mut kernel = kernel("two-gfx1100");
    let (parent, kfd, _) = bound(&mut kernel);
    let second = kernel.config().gpus[1].gpu_id;
    assert_eq!(parent.acquire_vm(&mut kernel, kfd, 5, second), refused(E::EINVAL));
    let child = Client { tgid: 200, fds: parent.fds.clone() };
    let own = kernel.open_kfd(200).unwrap();
    let first = kernel.config().gpus[0].gpu_id;
    assert_eq!(child.acquire_vm(&mut kernel, own, 5, first), refused(E::EINVAL));
    violations_are(&kernel, &[]);
}

#[test]
fn rule_19_a_file_of_another_gpu_is_einval_and_recorded() {
    let mut kernel = kernel("two-gfx1100");
    let (mut client, kfd, first) = opened(&mut kernel);
    let second = kernel.config().gpus[1].gpu_id;
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, second), refused(E::EINVAL));
    violations_are(&kernel, &["ACQUIRE_VM: a file of GPU"]);
    let render = kernel.open_render(129).unwrap();
    client.install(6, render);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 6, second), Ok(()));
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, first), Ok(()));
}

#[test]
fn rule_20_the_vm_outlives_the_render_descriptor() {
    let mut kernel = kernel("gfx1100");
    let (mut client, kfd, id) = bound(&mut kernel);
    let Some(Descriptor::Device(render)) = client.fds.remove(&5) else { panic!() };
    kernel.close(render);
    let policy = &mut [0, 0, 0, 0, id, 0, 0, 0];
    assert_eq!(client.call(&mut kernel, kfd, SET_MEMORY_POLICY, policy), Ok(()));
    let again = kernel.open_render(128).unwrap();
    client.install(5, again);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, id), refused(E::EBUSY), "a new open is another file");
}
