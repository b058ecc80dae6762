//! CPU mappings: rules 117 to 121.

use dxcore::control;
use dxcore::d3dkmt::*;

use crate::kit::*;
use crate::rig::*;

#[test]
fn the_cpu_and_the_gpu_see_the_same_bytes() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = visible(rig.device, 4 * PAGE);
    let va = settle(&rig, allocation, 4 * PAGE);
    gpu_write(va + PAGE, b"from the gpu").unwrap();
    let (status, shown) = lock(rig.device, allocation);
    assert_eq!(status, OK);
    // SAFETY: locked, and four pages large.
    let seen = unsafe { std::slice::from_raw_parts_mut(shown, 4 * PAGE as usize) };
    assert_eq!(&seen[PAGE as usize..][..12], b"from the gpu");
    seen[0] = 42;
    assert_eq!(gpu_read(va, 2), Ok(vec![42, 0]));
    assert_eq!(unlock(rig.device, allocation), OK);
    assert_eq!(gpu_read(va, 1), Ok(vec![42]), "unlocking changes nothing");
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_117_locks_are_counted_and_share_a_pointer() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = visible(rig.device, PAGE);
    assert_eq!(unlock(rig.device, allocation), IP);
    let (status, shown) = lock(rig.device, allocation);
    assert_eq!(status, OK);
    assert_eq!(lock(0x1234, allocation), (OK, shown), "the device of a second lock is not looked at");
    assert_eq!(control::ledger().locks, 2);
    assert_eq!(unlock(rig.device, allocation), OK);
    // SAFETY: still locked once.
    assert_eq!(unsafe { shown.read_volatile() }, 0);
    assert_eq!(unlock(rig.device, allocation), OK);
    assert_eq!(unlock(rig.device, allocation), IP);
    // SAFETY: in a child that expects to die by it.
    assert_eq!(in_child(|| unsafe { shown.read_volatile() }.into()), 1000 + libc::SIGSEGV);
    assert_eq!(lock(rig.device, rig.device).0, IP);
    assert_eq!(lock(0x1234, allocation).0, IP);
    let mut odd = D3DKMT_LOCK2 { hDevice: rig.device, hAllocation: allocation, Flags: 1, ..zero() };
    assert_eq!(lock_args(&mut odd), IP);
    violations_are(&["not locked", "not locked", "is a device", "never issued", "flags 0x1"]);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
}

#[test]
fn rule_118_system_memory_is_where_it_was_and_locks_of_it_do_not_count() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(PAGE, false);
    let allocation = user(rig.device, &pages);
    assert!(control::fail("Lock2", 1, None));
    assert_eq!(lock(0x1234, allocation), (OK, pages.pointer().cast()), "any device will do, and the host is not asked");
    assert_eq!(control::ledger().locks, 0);
    assert_eq!(unlock(rig.device, allocation), IP, "the host never locked it");
    assert_eq!(lock(rig.device, allocation).0, OK);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_119_sizes_are_counted_in_32_bits() {
    let _bench = machine("apu");
    let rig = Rig::new();
    let exact = visible(rig.device, 4 << 30);
    assert_eq!(lock(rig.device, exact).0, NM);
    let longer = visible(rig.device, (4 << 30) + PAGE);
    let (status, shown) = lock(rig.device, longer);
    assert_eq!(status, OK);
    // SAFETY: the page that is mapped.
    assert_eq!(unsafe { shown.read_volatile() }, 0);
    let (start, end) = (shown as usize, shown as usize + PAGE as usize);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let area = maps.lines().find(|line| line.starts_with(&format!("{start:x}-"))).unwrap();
    assert!(area.starts_with(&format!("{start:x}-{end:x} ")), "one page only is mapped: {area}");
    assert_eq!(destroy(rig.device, &[exact, longer]), OK);
    rig.done();
}

#[test]
fn rule_120_memory_that_the_cpu_cannot_reach_is_ip_and_a_full_window_nm() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let far = vram(rig.device, PAGE);
    assert_eq!(lock(rig.device, far).0, IP);
    assert_eq!(destroy(rig.device, &[far]), OK);
    rig.done();
    drop(_bench);
    let _bench = machine("apu");
    let rig = Rig::new();
    let (large, small) = (visible(rig.device, 1 << 30), visible(rig.device, PAGE));
    assert_eq!(lock(rig.device, large).0, OK);
    assert_eq!(lock(rig.device, small).0, NM);
    assert_eq!(unlock(rig.device, large), OK);
    assert_eq!(lock(rig.device, small).0, OK);
    for (status, seen) in [(None, IP), (Some(ntstatus::GRAPHICS_ALLOCATION_BUSY), ntstatus::GRAPHICS_ALLOCATION_BUSY)] {
        assert!(control::fail("Lock2", 1, status));
        assert_eq!(lock(rig.device, large).0, seen);
    }
    assert_eq!(control::ledger().locks, 1);
    assert!(control::fail("Unlock2", 1, None));
    assert_eq!(unlock(rig.device, small), IP);
    assert_eq!(control::ledger().locks, 0, "gone all the same");
    assert_eq!(destroy(rig.device, &[large, small]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_121_destroying_unmaps() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (by_list, by_device) = (visible(rig.device, PAGE), visible(rig.device, PAGE));
    let shown = [lock(rig.device, by_list).1, lock(rig.device, by_device).1];
    // SAFETY: locked.
    assert_eq!(in_child(|| unsafe { shown[0].read_volatile() }.into()), 0, "a child sees it as long as it is locked");
    assert_eq!(destroy(rig.device, &[by_list]), OK);
    assert_eq!(destroy_device(rig.device), OK);
    for shown in shown {
        // SAFETY: in a child that expects to die by it.
        assert_eq!(in_child(|| unsafe { shown.read_volatile() }.into()), 1000 + libc::SIGSEGV);
    }
    assert_eq!(close(rig.adapter), OK);
}
