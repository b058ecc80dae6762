//! Failures on request.

use super::kit::*;

#[test]
fn the_kth_call_of_a_kind_fails_without_effect() {
    let mut kernel = kernel("gfx1100");
    kernel.fail_text("ACQUIRE_VM:2:ENOMEM, AMDKFD_IOC_GET_VERSION:1").unwrap();
    let (mut client, kfd, id) = opened(&mut kernel);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 9, id), refused(E::EINVAL));
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, id), refused(E::ENOMEM));
    assert_eq!(kernel.ledger().bound_vms, 0);
    assert_eq!(client.acquire_vm(&mut kernel, kfd, 5, id), Ok(()));
    let mut words = [5, 5];
    assert_eq!(client.call(&mut kernel, kfd, GET_VERSION, &mut words), refused(E::EINVAL));
    assert_eq!(client.call(&mut kernel, kfd, GET_VERSION, &mut words), Ok(()));
    client.fds.clear();
    assert_eq!(kernel.calls("ACQUIRE_VM"), Some(3));
    assert_eq!(kernel.calls("DRM_IOCTL_VERSION"), Some(0));
}

#[test]
fn opens_fail_by_name_and_0_is_every_time() {
    let mut kernel = kernel("gfx1100");
    assert!(kernel.fail("OPEN", 0, E::EMFILE));
    assert!(kernel.fail("OPEN_RENDER", 1, E::EACCES));
    assert!(!kernel.fail("OPENING", 1, E::EACCES));
    for _ in 0..3 {
        assert_eq!(kernel.open_kfd(1), Err(E::EMFILE));
    }
    assert_eq!(kernel.open_render(128), Err(E::EACCES));
    assert!(kernel.open_render(128).is_ok());
    assert_eq!(kernel.ledger().processes, 0);
}

#[test]
fn text_that_is_no_order_is_named() {
    let mut kernel = kernel("gfx1100");
    for (text, part) in [
        ("GET_VERSION:1,GET:2", "GET:2"),
        ("GET_VERSION", "GET_VERSION"),
        ("GET_VERSION:1:EWHAT", "GET_VERSION:1:EWHAT"),
        ("GET_VERSION:1:0", "GET_VERSION:1:0"),
        ("GET_VERSION:1:5:5", "GET_VERSION:1:5:5"),
    ] {
        assert_eq!(kernel.fail_text(text), Err(part.to_owned()));
    }
    assert_eq!(kernel.fail_text("GET_VERSION:1:524"), Ok(()));
    assert_eq!(kernel.calls("GET"), None);
}

#[test]
fn requests_of_no_table_are_counted_by_number_and_calls_by_name() {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, _) = opened(&mut kernel);
    for _ in 0..2 {
        assert_eq!(client.call(&mut kernel, kfd, 0x8008_4b99, &mut [0; 2]), Err(E::ENOTTY));
    }
    assert_eq!(client.call(&mut kernel, kfd, GET_VERSION, &mut [0; 2]), Ok(()));
    assert_eq!(kernel.unknown().iter().collect::<Vec<_>>(), [(&0x8008_4b99, &2)]);
    let counts: Vec<_> = kernel.call_counts().iter().map(|(name, count)| (*name, *count)).collect();
    assert_eq!(counts, [("GET_VERSION", 1), ("OPEN", 1), ("OPEN_RENDER", 1)]);
}
