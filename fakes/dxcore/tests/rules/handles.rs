//! Handle numbers: rules 9 to 14.

use dxcore::control::{self, Handles};
use dxcore::d3dkmt::*;

use crate::kit::*;

#[test]
fn rule_9_adapter_handles_are_numbered_as_the_guest_numbers_them() {
    let _bench = machine("two-gfx1100");
    let handles: Vec<u32> = adapters(1).iter().chain(&adapters(1)).map(|r| r.hAdapter).collect();
    assert_eq!(handles, [0x4000_0000, 0x4000_0040, 0x4000_0080, 0x4000_00c0]);
    for handle in &handles {
        assert_eq!(close(*handle), OK);
    }
    let luid = LUID { LowPart: 0x8001, HighPart: 0 };
    let lives: Vec<u32> = std::iter::repeat_with(|| {
        let mut args = D3DKMT_OPENADAPTERFROMLUID { AdapterLuid: luid, hAdapter: 0 };
        assert_eq!(open_luid(&mut args), OK);
        assert_eq!(close(args.hAdapter), OK);
        args.hAdapter
    })
    .take(3000)
    .collect();
    assert_eq!(lives[0], 0x4000_0100, "a freed index goes to the tail");
    let second = lives.iter().position(|h| *h == 0x8000_0000).unwrap();
    assert_eq!(second, 1020, "it is back when the 1024 others had their turn");
    assert_eq!(lives[second + 1024], 0x8000_0000, "a third life has the number of the second");
}

#[test]
fn rule_10_main_table_numbers_do_not_come_back_unless_asked_to() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut seen = Vec::new();
    for _ in 0..100 {
        let device = device(adapter);
        assert_ne!(device, 0);
        assert!(!seen.contains(&device));
        seen.push(device);
        assert_eq!(destroy_device(device), OK);
    }
    assert_eq!(close(adapter), OK);

    control::set_handles(Handles { reuse: true, collide: false }).unwrap();
    let adapter = self::adapter();
    let stale = device(adapter);
    assert_eq!(destroy_device(stale), OK);
    let live = device(adapter);
    assert_eq!(live, stale);
    assert_eq!(destroy_device(stale), OK, "stale use meets the live object");
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_11_zero_stale_wrong_type_and_unknown_handles_are_ip() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let queue = queue(device);
    let mut version = 0_u32;
    for bad in [0, device, queue.hPagingQueue, 0x4000_0040, 0xdead_beef] {
        assert_eq!(query(bad, kmtqaitype::DRIVERVERSION, &mut version), IP, "{bad:#x}");
        assert_eq!(create_device(bad), (IP, 0), "{bad:#x}");
    }
    for bad in [0, adapter, queue.hPagingQueue, queue.hSyncObject, 0xdead_beef] {
        assert_eq!(destroy_device(bad), IP, "{bad:#x}");
    }
    for bad in [0, adapter, device, 0xdead_beef] {
        assert_eq!(destroy_queue(bad), IP, "{bad:#x}");
    }
    assert_eq!(control::violations().len(), 10 + 5 + 4);
    assert_eq!(destroy_queue(queue.hPagingQueue), OK);
    assert_eq!(destroy_queue(queue.hPagingQueue), IP);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(destroy_device(device), IP);
    assert_eq!(close(adapter), OK);
    assert_eq!(query(adapter, kmtqaitype::DRIVERVERSION, &mut version), IP);
    let texts = control::violations();
    for word in ["is zero", "is a paging queue", "is a paging fence", "was never issued", "is gone"] {
        assert!(texts.iter().any(|t| t.contains(word)), "{word}");
    }
}

#[test]
fn rule_12_altered_low_bits_pass_the_guest_and_are_flagged() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut version = 0_u32;
    assert_eq!(query(adapter | 1, kmtqaitype::DRIVERVERSION, &mut version), OK);
    let device = device(adapter);
    let mut state = D3DKMT_GETDEVICESTATE { hDevice: device | 0x20, StateType: 1, ..zero() };
    assert_eq!((device_state(&mut state), state.ExecutionState), (OK, 1), "answered from the guest's cache");
    state.StateType = 3;
    assert_eq!(device_state(&mut state), IP, "the host compares all bits");
    let mut args = D3DKMT_CREATEPAGINGQUEUE { hDevice: device | 2, ..zero() };
    assert_eq!((create_queue_args(&mut args), args.hPagingQueue), (BTS, 0), "so it does here, and its status is lost");
    assert_eq!(destroy_device(device | 4), OK);
    assert_eq!(close(adapter | 0x3f), OK);
    violations_are(&["low bits"; 6]);
    assert_eq!(control::ledger().total(), 0);
}

#[test]
fn rule_13_numbers_collide_on_request_and_each_field_has_its_table() {
    let _bench = machine("gfx1100");
    control::set_handles(Handles { reuse: false, collide: true }).unwrap();
    let adapter = adapter();
    let device = device(adapter);
    assert_eq!(adapter, device);
    let mut version = 0_u32;
    assert_eq!(query(adapter, kmtqaitype::DRIVERVERSION, &mut version), OK);
    let queue = queue(device);
    assert_eq!(destroy_queue(queue.hPagingQueue), OK);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(destroy_device(device), IP);
    assert_eq!(close(adapter), OK);
    violations_are(&["is gone"]);
}

#[test]
fn rule_14_a_paging_fence_is_a_handle_without_an_object() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let queue = queue(device);
    assert_ne!(queue.hSyncObject, queue.hPagingQueue);
    assert_eq!(destroy_queue(queue.hSyncObject), IP);
    assert_eq!(destroy_device(queue.hSyncObject), IP);
    violations_are(&["is a paging fence"; 2]);
    assert_eq!(control::ledger().total(), 3, "the fence is counted with its queue");
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
}
