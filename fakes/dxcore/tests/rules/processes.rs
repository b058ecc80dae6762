//! Processes, fork and the end of the library: rules 2, 3, 5, 7 and 8.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dxcore::control;
use dxcore::d3dkmt::*;

use crate::kit::*;

#[test]
fn rule_2_a_child_is_refused_until_it_enumerates() {
    let _bench = machine("two-gfx1100");
    let records = adapters(1);
    let parent = device(records[0].hAdapter);
    let status = in_child(|| {
        let mut version = 0_u32;
        assert_eq!(query(records[0].hAdapter, kmtqaitype::DRIVERVERSION, &mut version), UNS);
        assert_eq!(create_device(records[0].hAdapter), (UNS, 0));
        assert_eq!(destroy_device(parent), UNS);
        assert_eq!(close(records[0].hAdapter), UNS);
        violations_are(&["has not enumerated"; 4]);
        assert_eq!(control::ledger().total(), 0);
        let mut open = D3DKMT_OPENADAPTERFROMLUID { AdapterLuid: records[1].AdapterLuid, hAdapter: 0 };
        assert_eq!(open_luid(&mut open), OK);
        let own = device(open.hAdapter);
        assert_eq!(control::ledger().total(), 2);
        violations_are(&["has not enumerated"; 4]);
        assert_eq!(destroy_device(own), OK);
        assert_eq!(close(open.hAdapter), OK);
        0
    });
    assert_eq!(status, 0);
    assert_eq!(control::ledger().total(), 3, "the parent is unaffected");
    violations_are(&[]);
    assert_eq!(destroy_device(parent), OK);
    for record in records {
        assert_eq!(close(record.hAdapter), OK);
    }
}

#[test]
fn rule_2_all_three_enumeration_calls_reopen() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let luid = LUID { LowPart: 0x8001, HighPart: 0 };
    for call in 0..3 {
        let status = in_child(|| match call {
            0 => enum2(&mut D3DKMT_ENUMADAPTERS2 { NumAdapters: 0, pAdapters: std::ptr::null_mut() }),
            1 => enum3(&mut D3DKMT_ENUMADAPTERS3 { Filter: 0, NumAdapters: 0, pAdapters: std::ptr::null_mut() }),
            _ => open_luid(&mut D3DKMT_OPENADAPTERFROMLUID { AdapterLuid: luid, hAdapter: 0 }),
        });
        assert_eq!(status, 0, "{call}");
    }
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_3_parent_handles_are_ip_in_a_child_that_reopened() {
    let _bench = machine("two-gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let queue = queue(device);
    let status = in_child(|| {
        let own = adapters(1);
        assert_eq!(control::calls("Any"), Some(1));
        assert_ne!(own[0].hAdapter, adapter);
        assert_eq!(create_device(adapter), (IP, 0));
        assert_eq!(destroy_queue(queue.hPagingQueue), IP);
        assert_eq!(destroy_device(device), IP);
        assert_eq!(close(adapter), IP);
        violations_are(&["belongs to a parent process"; 4]);
        let deeper = in_child(|| {
            assert_eq!(close(own[0].hAdapter), UNS);
            let fourth = in_child(|| i32::from(adapters(1).len() != 2));
            assert_eq!(fourth, 0, "the machine passes through a process that has not opened it");
            let third = adapters(1);
            assert_eq!(close(own[0].hAdapter), IP);
            assert_eq!(close(third[0].hAdapter), OK);
            0
        });
        assert_eq!(close(own[0].hAdapter), OK);
        deeper
    });
    assert_eq!(status, 0);
    assert_eq!(destroy_queue(queue.hPagingQueue), OK);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

/// `fork` without the C library's handlers.
fn raw_fork() -> i32 {
    // SAFETY: a plain fork by system call; the child ends by `_exit`.
    (unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) }) as i32
}

#[test]
fn rule_3_a_raw_clone_is_told_by_its_pid() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let pid = raw_fork();
    if pid == 0 {
        let refused = close(adapter) == UNS;
        let mut count = D3DKMT_ENUMADAPTERS3 { Filter: 0, NumAdapters: 0, pAdapters: std::ptr::null_mut() };
        let reopened = enum3(&mut count) == OK && count.NumAdapters == 1;
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!(refused && reopened && close(adapter) == IP))) }
    }
    assert_eq!(wait(pid), 0);
    assert_eq!(close(adapter), OK);
}

#[test]
fn forks_while_threads_are_inside_calls_never_hang_the_child() {
    let _bench = machine("two-gfx1100");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for record in adapters(1) {
                        let device = device(record.hAdapter);
                        let queue = queue(device);
                        assert_eq!(destroy_queue(queue.hPagingQueue), OK);
                        assert_eq!(destroy_device(device), OK);
                        assert_eq!(close(record.hAdapter), OK);
                    }
                }
            });
        }
        let deadline = Instant::now() + Duration::from_secs(30);
        for round in 0..300 {
            // SAFETY: the child uses the fake only and ends by `_exit`.
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                let records = adapters(1);
                let status = records.iter().map(|r| close(r.hAdapter)).find(|s| *s != OK);
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(status.unwrap_or(0) | i32::from(records.len() != 2)) }
            }
            assert_eq!(wait(pid), 0, "{round}");
            assert!(Instant::now() < deadline);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(control::ledger().total(), 0);
    violations_are(&[]);
}

#[test]
fn rule_7_and_8_unloading_destroys_everything_and_refuses_calls() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let queue = queue(device);
    control::unload();
    assert_eq!(control::ledger().total(), 0);
    for status in [destroy_queue(queue.hPagingQueue), destroy_device(device), close(adapter), create_device(adapter).0]
    {
        assert_eq!(status, UNS);
    }
    assert_eq!(enum3(&mut D3DKMT_ENUMADAPTERS3 { Filter: 0, NumAdapters: 0, pAdapters: std::ptr::null_mut() }), UNS);
    control::reset().unwrap();
    assert_eq!(self::adapter(), 0x4000_0000);
    assert_eq!(close(adapter), OK);
}

#[test]
fn calls_overlap_while_they_are_delayed() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    control::set_delay(50_000);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(query(adapter, kmtqaitype::DRIVERVERSION, &mut 0_u32), OK));
        }
    });
    let took = start.elapsed();
    control::set_delay(0);
    assert!(took >= Duration::from_millis(50) && took < Duration::from_millis(350), "{took:?}");
    assert_eq!(close(adapter), OK);
}

#[test]
fn machines_change_only_when_nothing_is_alive() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    assert!(control::set_machine("apu").is_err());
    assert_eq!(close(adapter), OK);
    assert!(control::set_machine("/nowhere.toml").unwrap_err().contains("/nowhere.toml"));
    assert_eq!(adapters(1).len(), 1, "a failed change leaves the old machine");
    control::unload();
    control::set_machine("none").unwrap();
    assert_eq!(adapters(1).len(), 0);
}
