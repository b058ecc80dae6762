//! Devices and paging queues: rules 38 to 42 and 47 to 49.

use std::ffi::c_void;

use dxcore::control;
use dxcore::d3dkmt::*;

use crate::kit::*;

#[test]
fn a_device_and_its_paging_queue_come_and_go() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let queue = queue(device);
    assert_eq!(
        control::ledger(),
        control::Ledger { adapter_opens: 1, devices: 1, paging_queues: 1, ..control::Ledger::default() }
    );
    assert_eq!(destroy_queue(queue.hPagingQueue), OK);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
    assert_eq!(control::ledger().total(), 0);
    violations_are(&[]);
}

#[test]
fn rule_38_create_device_failure_is_ok_without_a_handle() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    assert!(control::fail("CreateDevice", 1, None));
    let mut args = D3DKMT_CREATEDEVICE { hAdapter: adapter.into(), hDevice: 0x77, ..zero() };
    assert_eq!((create_device_args(&mut args), args.hDevice), (OK, 0x77));
    assert!(control::fail("CreateDevice", 1, Some(TIMEOUT)));
    assert_eq!((create_device_args(&mut args), args.hDevice), (OK, 0x77), "a full ring does not show either");
    assert!(control::fail("CreateDevice", 1, Some(NM)));
    assert_eq!((create_device_args(&mut args), args.hDevice), (NM, 0x77), "what the guest lacks does");
    args.Flags = 0x10;
    assert_eq!((create_device_args(&mut args), args.hDevice), (OK, 0x77), "the host refuses unknown flags");
    violations_are(&["flags 0x10"]);
    assert_eq!(control::ledger().devices, 0);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_39_create_device_on_a_closed_adapter_is_ip() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    assert_eq!(close(adapter), OK);
    assert_eq!(create_device(adapter), (IP, 0));
    violations_are(&["is gone"]);
}

#[test]
fn create_device_reads_the_low_half_of_its_adapter_field() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut args = D3DKMT_CREATEDEVICE { hAdapter: u64::from(adapter) | 0xdead_beef << 32, ..zero() };
    assert_eq!(create_device_args(&mut args), OK);
    assert_eq!(destroy_device(args.hDevice), OK);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_40_destroy_device_takes_its_children_along() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let (gone, kept) = (device(adapter), device(adapter));
    let (lost, other) = (queue(gone), queue(kept));
    assert_eq!(destroy_device(gone), OK);
    assert_eq!(destroy_queue(lost.hPagingQueue), IP);
    assert_eq!(destroy_device(gone), IP);
    violations_are(&["1 paging queues were alive", "is gone", "is gone"]);
    assert_eq!(control::ledger().paging_queues, 1);
    assert_eq!(destroy_queue(other.hPagingQueue), OK);
    assert_eq!(destroy_device(kept), OK);
    assert_eq!(close(adapter), OK);
}

fn read(page: *mut c_void) -> u64 {
    // SAFETY: a fence page, or in a child that expects to die by it, one that is gone.
    unsafe { page.cast::<u64>().read_volatile() }
}

#[test]
fn rule_41_a_late_read_of_a_fence_page_crashes() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let (first, second) = (queue(device), queue(device));
    let (by_queue, by_device) = (first.FenceValueCPUVirtualAddress, second.FenceValueCPUVirtualAddress);
    assert_eq!((read(by_queue), read(by_device)), (0, 0));
    assert_eq!(in_child(|| read(by_queue) as i32), 0, "a child sees the page as long as the parent has it");
    assert_eq!(destroy_queue(first.hPagingQueue), OK);
    assert_eq!(in_child(|| read(by_queue) as i32), 1000 + libc::SIGSEGV);
    assert_eq!(read(by_device), 0);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(in_child(|| read(by_device) as i32), 1000 + libc::SIGSEGV);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_42_execution_state_stays_active_until_an_error_was_announced() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let (lost, fine) = (device(adapter), device(adapter));
    let state_of = |device| {
        let mut args = D3DKMT_GETDEVICESTATE { hDevice: device, StateType: device_state_type::EXECUTION, ..zero() };
        assert_eq!(device_state(&mut args), OK);
        args.ExecutionState
    };
    assert!(control::set_device_state(lost, execution_state::HUNG, false));
    assert_eq!(state_of(lost), execution_state::ACTIVE);
    assert!(control::set_device_state(fine, execution_state::ACTIVE, true));
    assert_eq!(state_of(lost), execution_state::HUNG, "any announcement makes the guest ask");
    assert_eq!(state_of(fine), execution_state::ACTIVE);
    let mut args = D3DKMT_CREATEPAGINGQUEUE { hDevice: lost, ..zero() };
    assert_eq!(create_queue_args(&mut args), BTS);
    let mut args = D3DKMT_GETDEVICESTATE { hDevice: fine, StateType: device_state_type::RESET, ..zero() };
    args.ExecutionState = 9;
    assert_eq!((device_state(&mut args), args.ExecutionState), (OK, 0));
    for unknown in [0, 2, 4, 6, 7, u32::MAX] {
        args.StateType = unknown;
        assert_eq!(device_state(&mut args), IP, "{unknown}");
    }
    assert_eq!(destroy_device(lost), OK);
    assert_eq!(destroy_device(fine), OK);
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn rule_47_each_fence_has_a_page_of_its_own_and_writes_to_it_are_found() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let (first, second) = (queue(device), queue(device));
    let (a, b) = (first.FenceValueCPUVirtualAddress, second.FenceValueCPUVirtualAddress);
    assert_eq!((a as usize % 4096, b as usize % 4096), (0, 0));
    assert_ne!(a, b);
    // SAFETY: the page is writable, as on the real device; the fake shall notice.
    unsafe { a.cast::<u64>().add(511).write_volatile(1) };
    assert_eq!(destroy_queue(first.hPagingQueue), OK);
    assert_eq!(destroy_queue(second.hPagingQueue), OK);
    violations_are(&["wrote to the fence page"]);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_48_create_paging_queue_refusal_is_bts_and_outputs_stay() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let marked = D3DKMT_CREATEPAGINGQUEUE { hDevice: device, hPagingQueue: 1, hSyncObject: 2, ..zero() };
    for (priority, physical, status) in [(-1_i32, 0, OK), (1, 0, OK), (2, 0, BTS), (-2, 0, BTS), (0, 1, BTS)] {
        let mut args = marked;
        (args.Priority, args.PhysicalAdapterIndex) = (priority as u32, physical);
        assert_eq!(create_queue_args(&mut args), status, "{priority} {physical}");
        if status == OK {
            assert_eq!(destroy_queue(args.hPagingQueue), OK);
        } else {
            assert_eq!((args.hPagingQueue, args.hSyncObject), (1, 2));
            assert!(args.FenceValueCPUVirtualAddress.is_null());
        }
    }
    assert!(control::fail("CreatePagingQueue", 1, None));
    let mut args = marked;
    assert_eq!((create_queue_args(&mut args), args.hPagingQueue, args.hSyncObject), (BTS, 1, 2));
    assert_eq!(control::ledger().paging_queues, 0);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn rule_49_destroy_paging_queue_is_ok_once() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let queue = queue(device);
    assert_eq!(destroy_queue(queue.hPagingQueue), OK);
    assert_eq!(destroy_queue(queue.hPagingQueue), IP);
    violations_are(&["is gone"]);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
}
