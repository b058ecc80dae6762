//! Monitored fences, as far as CPU waits go: rules 14, 102, 104 to 106, 109, 115 and 116.

use std::ffi::c_void;
use std::time::Duration;

use dxcore::control::{self, memory};
use dxcore::d3dkmt::*;

use crate::kit::*;
use crate::rig::*;

use sync_object_flags::*;

/// A creation that a test may spoil.
fn wanted(device: u32, flags: u32, value: u64) -> D3DKMT_CREATESYNCHRONIZATIONOBJECT2 {
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 {
        hDevice: device,
        Info: D3DDDI_SYNCHRONIZATIONOBJECTINFO2 {
            Type: sync_object_type::MONITORED_FENCE,
            Flags: flags,
            InitialFenceValue: value,
            ..zero()
        },
        ..zero()
    }
}

fn fence(device: u32, flags: u32, value: u64) -> D3DKMT_CREATESYNCHRONIZATIONOBJECT2 {
    let mut args = wanted(device, flags, value);
    assert_eq!(create_fence_args(&mut args), OK);
    assert_ne!(args.hSyncObject, 0);
    args
}

fn destroy_fence(handle: u32) -> Status {
    destroy_fence_args(&mut D3DKMT_DESTROYSYNCHRONIZATIONOBJECT { hSyncObject: handle })
}

fn value(page: *mut c_void) -> u64 {
    // SAFETY: a fence page, or in a child that expects to die by it, one that is gone.
    unsafe { page.cast::<u64>().read_volatile() }
}

#[test]
fn the_cpu_the_gpu_and_waits_see_one_value() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let fence = fence(rig.device, 0, 5);
    let (page, va) = (fence.Info.FenceValueCPUVirtualAddress, fence.Info.FenceValueGPUVirtualAddress);
    assert_eq!((value(page), page as usize % 4096, va % 4096), (5, 0, 0));
    assert_eq!(gpu_read(va, 8), Ok(5_u64.to_le_bytes().to_vec()));
    assert_eq!(gpu_read(va + 1, 16), Ok(vec![0; 16]));
    assert_eq!(wait_for(rig.device, fence.hSyncObject, 5), OK);
    let (device, object) = (rig.device, fence.hSyncObject);
    let status = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_for(device, object, 7));
        std::thread::sleep(Duration::from_millis(10));
        gpu_write(va, &6_u64.to_le_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(10));
        assert!(!waiter.is_finished());
        assert!(memory::signal(object, 7));
        waiter.join().unwrap()
    });
    assert_eq!((status, value(page)), (OK, 7));
    let ledger = control::ledger();
    assert_eq!((ledger.fences, ledger.ranges, ledger.mappings), (1, 0, 0));
    violations_are(&[]);
    gpu_write(va + 8, &[1]).unwrap();
    gpu_write(va, &[1]).unwrap();
    violations_are(&["1 bytes written to the page", "1 bytes written to the page"]);
    assert_eq!(value(page), 7);
    assert_eq!(free(rig.adapter, va, PAGE), IP);
    assert_eq!(reserve(rig.adapter, va / (64 << 10) * (64 << 10), 64 << 10).0, BTS);
    let allocation = vram(rig.device, PAGE);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, va, allocation, PAGE)).0, IP);
    assert_eq!(control::violations().iter().filter(|v| v.contains("is the kernel's")).count(), 2);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    assert_eq!(destroy_fence(object), OK);
    assert_eq!(gpu_read(va, 8), Err(memory::Fault::Unmapped));
    assert_eq!(in_child(|| value(page) as i32), 1000 + libc::SIGSEGV);
    rig.done();
}

#[test]
fn rule_14_fences_of_queues_are_no_objects() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    assert_eq!(destroy_fence(rig.queue.hSyncObject), IP);
    assert_eq!(destroy_fence(rig.device), IP);
    assert_eq!(destroy_fence(0), IP);
    violations_are(&["is a paging fence", "is a device", "is zero"]);
    assert!(!memory::signal(rig.queue.hSyncObject, 1));
    rig.done();
}

#[test]
fn rule_102_and_104_flags_and_types_are_checked() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let create = |device: u32, kind: u32, flags: u32, affinity: u32| {
        let mut args = wanted(device, flags, 0);
        (args.Info.Type, args.Info.EngineAffinity, args.hSyncObject) = (kind, affinity, 77);
        let status = create_fence_args(&mut args);
        assert_eq!(args.hSyncObject == 77, status != OK, "written on success only");
        status
    };
    let fence = sync_object_type::MONITORED_FENCE;
    assert_eq!(create(rig.device, fence, SHARED, 0), IP);
    assert_eq!(create(rig.device, fence, NO_SIGNAL | NO_WAIT, 0), BTS);
    assert_eq!(create(rig.device, fence, 1 << 20, 0), BTS);
    assert_eq!(create(rig.device, fence, 0, 2), BTS);
    for kind in [0, 7, u32::MAX] {
        assert_eq!(create(rig.device, kind, 0, 0), BTS);
    }
    assert_eq!(create(rig.adapter, fence, 0, 0), IP);
    assert_eq!(control::violations().len(), 8);
    for (status, seen) in [(None, BTS), (Some(NM), NM), (Some(ntstatus::ACCESS_DENIED), BTS)] {
        assert!(control::fail("CreateSynchronizationObject2", 1, status));
        assert_eq!(create(rig.device, fence, 0, 0), seen);
    }
    assert_eq!(control::ledger().fences, 0);
    assert_eq!(fence_without_gpu(rig.device), 0);
    rig.done();
}

/// GPU address of a fence that the GPU shall not have.
fn fence_without_gpu(device: u32) -> u64 {
    let fence = fence(device, NO_GPUACCESS, 0);
    assert_eq!(destroy_fence(fence.hSyncObject), OK);
    fence.Info.FenceValueGPUVirtualAddress
}

#[test]
fn rule_105_destroying_a_fence_ends_its_waits() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (device, object) = (rig.device, fence(rig.device, 0, 0).hSyncObject);
    let status = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_for(device, object, 1));
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(destroy_fence(object), OK);
        waiter.join().unwrap()
    });
    assert_eq!((status, destroy_fence(object)), (OK, IP));
    violations_are(&["is gone"]);
    rig.done();
}

#[test]
fn rule_106_a_device_takes_its_fences_along() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let other = device(rig.adapter);
    let (gone, kept) = (fence(rig.device, 0, 0), fence(other, 0, 3));
    assert_eq!(wait_for(other, gone.hSyncObject, 0), IP, "a fence of another device");
    assert_eq!(destroy_device(rig.device), OK);
    assert_eq!(destroy_fence(gone.hSyncObject), IP);
    assert_eq!(in_child(|| value(gone.Info.FenceValueCPUVirtualAddress) as i32), 1000 + libc::SIGSEGV);
    assert_eq!(wait_for(other, kept.hSyncObject, 3), OK);
    violations_are(&["of another device", "1 fences, 1 paging queues were alive", "is gone"]);
    assert_eq!(destroy_fence(kept.hSyncObject), OK);
    assert_eq!(destroy_device(other), OK);
    assert_eq!(close(rig.adapter), OK);
    assert_eq!(control::ledger(), control::Ledger::default());
}

#[test]
fn rule_109_no_signal_and_no_wait_hold() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (mute, private) = (fence(rig.device, NO_SIGNAL, 1), fence(rig.device, NO_WAIT, 1));
    assert!(!memory::signal(mute.hSyncObject, 2));
    assert_eq!(value(mute.Info.FenceValueCPUVirtualAddress), 1);
    assert_eq!(wait_for(rig.device, mute.hSyncObject, 1), OK);
    assert!(memory::signal(private.hSyncObject, 2));
    assert_eq!(wait_for(rig.device, private.hSyncObject, 1), ntstatus::ACCESS_DENIED);
    violations_are(&[]);
    gpu_write(mute.Info.FenceValueGPUVirtualAddress, &[2; 8]).unwrap();
    violations_are(&["may not be signalled"]);
    for fence in [mute, private] {
        assert_eq!(destroy_fence(fence.hSyncObject), OK);
    }
    rig.done();
}

#[test]
fn rule_115_and_116_device_loss_ends_waits_unless_the_fence_says_otherwise() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (usual, held) = (fence(rig.device, 0, 1), fence(rig.device, NO_SIGNAL_MAX_VALUE_ON_TDR, 1));
    let (device, stuck) = (rig.device, held.hSyncObject);
    let status = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_for(device, stuck, 2));
        assert!(control::set_device_state(device, execution_state::RESET, true));
        assert_eq!(value(usual.Info.FenceValueCPUVirtualAddress), u64::MAX);
        assert_eq!(wait_for(device, usual.hSyncObject, 99), OK);
        std::thread::sleep(Duration::from_millis(30));
        assert!(!waiter.is_finished(), "it never returns by itself");
        assert_eq!(value(held.Info.FenceValueCPUVirtualAddress), 1);
        assert_eq!(destroy_fence(stuck), OK);
        waiter.join().unwrap()
    });
    assert_eq!(status, OK);
    assert_eq!(create_fence_args(&mut wanted(device, 0, 0)), BTS, "the device is lost");
    assert_eq!(destroy_fence(usual.hSyncObject), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_47_writes_of_the_client_to_the_page_are_found() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let fence = fence(rig.device, 0, 1);
    // SAFETY: the page is writable, as on the real device; the fake shall notice.
    unsafe { fence.Info.FenceValueCPUVirtualAddress.cast::<u64>().write_volatile(9) };
    assert!(memory::signal(fence.hSyncObject, 3));
    assert_eq!(destroy_fence(fence.hSyncObject), OK);
    violations_are(&["wrote to the page of monitored fence"]);
    rig.done();
}
