//! Paging fences and CPU waits: rules 49 and 111 to 115.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dxcore::control::{self, Paging, memory};
use dxcore::d3dkmt::*;

use crate::kit::*;
use crate::rig::*;

const MANUAL: Paging = Paging { manual: true, ..Paging::DEFAULT };

/// Starts `count` operations and returns the last one's value.
fn operations(rig: &Rig, allocation: u32, count: u64) -> u64 {
    let values: Vec<_> = (0..count).map(|_| make_resident(rig.queue.hPagingQueue, &[allocation], 0).1).collect();
    assert!(values.windows(2).all(|pair| pair[1] == pair[0] + 1));
    *values.last().unwrap()
}

fn fence(rig: &Rig) -> u64 {
    // SAFETY: the fence page of a live queue.
    unsafe { rig.queue.FenceValueCPUVirtualAddress.cast::<u64>().read_volatile() }
}

/// A wait for fences, with an event or without.
fn wait_all(device: u32, objects: &[(u32, u64)], event: u64, flags: u32) -> Status {
    let (handles, values): (Vec<u32>, Vec<u64>) = objects.iter().copied().unzip();
    wait_args(&mut D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU {
        hDevice: device,
        ObjectCount: handles.len() as u32,
        ObjectHandleArray: handles.as_ptr(),
        FenceValueArray: values.as_ptr(),
        hAsyncEvent: event,
        Flags: flags,
    })
}

fn eventfd() -> i32 {
    // SAFETY: opens a descriptor.
    let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
    assert!(fd > 0);
    fd
}

/// What an eventfd holds, which this takes out.
fn count(fd: i32) -> u64 {
    let mut value = 0_u64;
    // SAFETY: eight bytes of ours.
    let read = unsafe { libc::read(fd, (&raw mut value).cast(), 8) };
    if read == 8 { value } else { 0 }
}

fn shut(fd: i32) {
    // SAFETY: a descriptor of ours.
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

/// A device whose memory can be made resident, and its end.
fn with_memory(run: impl FnOnce(&Rig, u32)) {
    let rig = Rig::new();
    let allocation = vram(rig.device, PAGE);
    run(&rig, allocation);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
}

#[test]
fn operations_are_done_in_order_and_at_the_next_call() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        assert_eq!(operations(rig, allocation, 1), 1);
        assert_eq!(fence(rig), 0, "not yet");
        assert_eq!(wait_for(rig.device, rig.queue.hSyncObject, 1), OK);
        assert_eq!(fence(rig), 1);
        memory::set_paging(MANUAL);
        assert_eq!(operations(rig, allocation, 5), 6);
        assert_eq!((memory::finish(rig.queue.hPagingQueue, 3), fence(rig)), (Some(2), 3));
        assert_eq!((memory::finish(rig.queue.hPagingQueue, 99), fence(rig)), (Some(3), 6));
    });
    violations_are(&[]);
}

#[test]
fn a_delay_passes_before_an_operation_is_done() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        memory::set_paging(Paging { delay_us: 50_000, ..Paging::DEFAULT });
        let start = Instant::now();
        let value = operations(rig, allocation, 3);
        assert!(fence(rig) < value);
        assert_eq!(wait_for(rig.device, rig.queue.hSyncObject, value), OK);
        let took = start.elapsed();
        assert!((Duration::from_millis(50)..Duration::from_secs(5)).contains(&took), "{took:?}");
        assert_eq!(fence(rig), value);
    });
}

#[test]
fn queues_are_independent() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        memory::set_paging(MANUAL);
        let second = queue(rig.device);
        assert_eq!(make_resident(second.hPagingQueue, &[allocation], 0), (PENDING, 1));
        assert_eq!(operations(rig, allocation, 2), 2);
        assert_eq!(memory::finish(rig.queue.hPagingQueue, 2), Some(2));
        // SAFETY: the fence page of a live queue.
        assert_eq!(unsafe { second.FenceValueCPUVirtualAddress.cast::<u64>().read_volatile() }, 0);
        assert_eq!(destroy_queue(second.hPagingQueue), OK, "rule 49: with an operation pending");
    });
    violations_are(&[]);
}

#[test]
fn rule_111_no_objects_or_unknown_ones_are_ip() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let other = Rig::on(rig.adapter);
    let fence = rig.queue.hSyncObject;
    assert_eq!(wait_all(rig.device, &[], 0, 0), IP);
    assert_eq!(wait_all(rig.device, &[(fence, 0), (0, 0)], 0, 0), IP);
    assert_eq!(wait_all(rig.device, &[(rig.queue.hPagingQueue, 0)], 0, 0), IP);
    assert_eq!(wait_all(rig.device, &[(other.queue.hSyncObject, 0)], 0, 0), IP);
    assert_eq!(wait_all(fence, &[(fence, 0)], 0, 0), IP);
    assert_eq!(wait_all(rig.device, &[(fence, 0)], 0, 2), IP);
    assert_eq!(wait_all(rig.device, &vec![(fence, 0); 11_000], 0, 0), BTS);
    violations_are(&[
        "no objects",
        "is zero",
        "is a paging queue",
        "another device",
        "is a paging fence",
        "flags 0x2",
        "11000 objects",
    ]);
    for (status, seen) in [(None, IP), (Some(TIMEOUT), TIMEOUT), (Some(DR), DR)] {
        assert!(control::fail("WaitForSynchronizationObjectFromCpu", 1, status));
        assert_eq!(wait_all(rig.device, &[(fence, 0)], 0, 0), seen);
    }
    assert_eq!(wait_all(rig.device, &[(fence, 0)], 0, 0), OK);
    assert_eq!(destroy_queue(other.queue.hPagingQueue), OK);
    assert_eq!(destroy_device(other.device), OK);
    rig.done();
}

#[test]
fn rule_112_a_wait_blocks_until_the_fence_gets_there_and_lets_others_in() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        memory::set_paging(MANUAL);
        let value = operations(rig, allocation, 2);
        let over = AtomicBool::new(false);
        let (device, object) = (rig.device, rig.queue.hSyncObject);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(wait_for(device, object, value), OK);
                over.store(true, Ordering::Release);
            });
            assert_eq!(memory::finish(rig.queue.hPagingQueue, value - 1), Some(1));
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(device_state(&mut D3DKMT_GETDEVICESTATE { hDevice: rig.device, StateType: 1, ..zero() }), OK);
            assert!(!over.load(Ordering::Acquire));
            assert_eq!(memory::finish(rig.queue.hPagingQueue, value), Some(1));
        });
        assert!(over.load(Ordering::Acquire));
    });
    violations_are(&[]);
}

extern "C" fn nothing(_: i32) {}

#[test]
fn rule_112_a_signal_without_restart_ends_the_wait_with_uns_and_one_with_restart_does_not() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        memory::set_paging(MANUAL);
        let value = operations(rig, allocation, 1);
        for (flags, expected) in [(0, UNS), (libc::SA_RESTART, OK)] {
            // SAFETY: an action of zeros but for handler and flags; the signal is used here only.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                (action.sa_sigaction, action.sa_flags) = (nothing as *const () as usize, flags);
                assert_eq!(libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut()), 0);
            }
            let (waiter, status) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
            let (device, object) = (rig.device, rig.queue.hSyncObject);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    // SAFETY: the id of this thread, which lives until `status` is set.
                    waiter.store(unsafe { libc::pthread_self() }, Ordering::Release);
                    let result = wait_for(device, object, value);
                    status.store(u64::from(result as u32), Ordering::Release);
                });
                let deadline = Instant::now() + Duration::from_secs(5);
                let mut signals = 0;
                while status.load(Ordering::Acquire) == u64::MAX && Instant::now() < deadline {
                    std::thread::sleep(Duration::from_millis(2));
                    let thread = waiter.load(Ordering::Acquire);
                    if thread != 0 && signals < 200 {
                        // SAFETY: a thread of this scope, which is not joined yet.
                        unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
                        signals += 1;
                    }
                    if signals == 50 && expected == OK {
                        assert_eq!(memory::finish(rig.queue.hPagingQueue, value), Some(1));
                    }
                    if signals == 50 {
                        signals = 200;
                    }
                }
            });
            assert_eq!(status.into_inner() as u32 as i32, expected);
        }
    });
}

#[test]
fn rule_112_unloading_ends_a_wait() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (device, object) = (rig.device, rig.queue.hSyncObject);
    let status = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_for(device, object, 1));
        std::thread::sleep(Duration::from_millis(20));
        control::unload();
        waiter.join().unwrap()
    });
    assert_eq!(status, UNS);
}

#[test]
fn rule_113_an_event_is_raised_exactly_once_even_when_its_descriptor_is_closed() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        memory::set_paging(MANUAL);
        let value = operations(rig, allocation, 2);
        let event = eventfd();
        // SAFETY: a second descriptor of ours.
        let kept = unsafe { libc::dup(event) };
        assert_eq!(wait_all(rig.device, &[(rig.queue.hSyncObject, value)], event as u64, 0), OK);
        assert_eq!(control::ledger().waits, 1);
        shut(event);
        assert_eq!(memory::finish(rig.queue.hPagingQueue, value - 1), Some(1));
        assert_eq!(count(kept), 0);
        assert_eq!(memory::finish(rig.queue.hPagingQueue, value), Some(1));
        assert_eq!((count(kept), control::ledger().waits), (1, 0));
        operations(rig, allocation, 1);
        assert_eq!(memory::finish(rig.queue.hPagingQueue, u64::MAX), Some(1));
        assert_eq!(count(kept), 0);
        assert_eq!(wait_all(rig.device, &[(rig.queue.hSyncObject, 1)], kept as u64, 0), OK);
        assert_eq!(count(kept), 1, "at once when it is so already");
        memory::set_paging(Paging { delay_us: 10_000_000, ..Paging::DEFAULT });
        let value = operations(rig, allocation, 1);
        assert_eq!(wait_all(rig.device, &[(rig.queue.hSyncObject, value)], kept as u64, 0), OK);
        assert_eq!(count(kept), 1, "time passes in the call");
        for bad in [1 << 40, 9999, rig.queue.hSyncObject.into()] {
            assert_eq!(wait_all(rig.device, &[(rig.queue.hSyncObject, 1)], bad, 0), IP);
        }
        // SAFETY: opens a descriptor that is no eventfd.
        let file = unsafe { libc::memfd_create(c"[eventfd]".as_ptr(), 0) };
        assert_eq!(wait_all(rig.device, &[(rig.queue.hSyncObject, 1)], file as u64, 0), IP);
        violations_are(&["no eventfd"; 4]);
        shut(file);
        shut(kept);
    });
}

#[test]
fn rule_114_all_or_any_with_unsigned_values() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        memory::set_paging(MANUAL);
        let second = queue(rig.device);
        operations(rig, allocation, 1);
        assert_eq!(memory::finish(rig.queue.hPagingQueue, 1), Some(1));
        let (first, second_fence) = (rig.queue.hSyncObject, second.hSyncObject);
        let any = wait_from_cpu_flags::WAIT_ANY;
        assert_eq!(wait_all(rig.device, &[(first, 1), (second_fence, 5)], 0, any), OK);
        assert_eq!(wait_all(rig.device, &[(first, 0), (first, 1), (second_fence, 0)], 0, 0), OK);
        let event = eventfd();
        assert_eq!(wait_all(rig.device, &[(first, 1), (second_fence, 1)], event as u64, 0), OK);
        assert_eq!(wait_all(rig.device, &[(first, u64::MAX)], event as u64, 0), OK);
        assert_eq!(count(event), 0, "one is not all, and a value above the half is large");
        assert_eq!(make_resident(second.hPagingQueue, &[allocation], 0), (PENDING, 1));
        assert_eq!(memory::finish(second.hPagingQueue, 1), Some(1));
        assert_eq!(count(event), 1);
        assert_eq!(destroy_queue(second.hPagingQueue), OK);
        assert_eq!(control::ledger().waits, 1);
        assert!(control::set_device_state(rig.device, execution_state::RESET, true));
        assert_eq!(count(event), 1, "rule 115: all-ones at last");
        shut(event);
    });
    violations_are(&[]);
}

#[test]
fn rule_115_device_loss_sets_fences_to_all_ones_and_ends_waits_well() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        let other = Rig::on(rig.adapter);
        memory::set_paging(MANUAL);
        let value = operations(rig, allocation, 3);
        let (device, object) = (rig.device, rig.queue.hSyncObject);
        let status = std::thread::scope(|scope| {
            let waiter = scope.spawn(|| wait_for(device, object, value));
            std::thread::sleep(Duration::from_millis(20));
            assert!(control::set_device_state(rig.device, execution_state::HUNG, true));
            waiter.join().unwrap()
        });
        assert_eq!((status, fence(rig)), (OK, u64::MAX));
        assert_eq!(fence(&other), 0, "another device is not concerned");
        let mut state = D3DKMT_GETDEVICESTATE { hDevice: rig.device, StateType: 1, ..zero() };
        assert_eq!((device_state(&mut state), state.ExecutionState), (OK, execution_state::HUNG));
        assert_eq!(wait_for(rig.device, rig.queue.hSyncObject, u64::MAX), OK);
        assert_eq!(destroy_queue(other.queue.hPagingQueue), OK);
        assert_eq!(destroy_device(other.device), OK);
    });
    violations_are(&[]);
}

#[test]
fn rule_105_destroying_the_queue_ends_its_waits() {
    let _bench = machine("gfx1100");
    with_memory(|rig, allocation| {
        memory::set_paging(MANUAL);
        let second = queue(rig.device);
        assert_eq!(make_resident(second.hPagingQueue, &[allocation], 0), (PENDING, 1));
        let event = eventfd();
        assert_eq!(wait_all(rig.device, &[(second.hSyncObject, 1)], event as u64, 0), OK);
        let (device, object) = (rig.device, second.hSyncObject);
        let status = std::thread::scope(|scope| {
            let waiter = scope.spawn(|| wait_for(device, object, 1));
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(destroy_queue(second.hPagingQueue), OK);
            waiter.join().unwrap()
        });
        assert_eq!(status, OK);
        assert_eq!(wait_for(rig.device, rig.queue.hSyncObject, 0), OK);
        assert_eq!(count(event), 1);
        shut(event);
    });
}

#[test]
fn threads_make_and_destroy_memory_at_the_same_time() {
    let _bench = machine("gfx1100");
    memory::set_paging(Paging { delay_us: 300, immediate_every: 5, seed: 11, manual: false });
    let opened = adapter();
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            scope.spawn(move || {
                let device = device(opened);
                let queue = queue(device);
                let (paging, fence) = (queue.hPagingQueue, queue.hSyncObject);
                for round in 0..40_u64 {
                    let bytes = (1 + (thread + round) % 5) * PAGE;
                    let list = [vram(device, bytes), vram(device, PAGE)];
                    let mut last = 0;
                    let addresses = list.map(|allocation| {
                        let bytes = if allocation == list[0] { bytes } else { PAGE };
                        let (status, va, value) = map(mapping(paging, 0, allocation, bytes));
                        assert!(status == OK || status == PENDING);
                        last = last.max(value);
                        va
                    });
                    last = last.max(make_resident(paging, &list, 0).1);
                    assert_eq!(wait_for(device, fence, last), OK);
                    let marks = addresses.map(|va| (va, va ^ round));
                    for (va, mark) in marks {
                        gpu_write(va, &mark.to_le_bytes()).unwrap();
                    }
                    for (va, mark) in marks {
                        assert_eq!(gpu_read(va, 8), Ok(mark.to_le_bytes().to_vec()));
                    }
                    assert_eq!(evict(device, &list), OK);
                    assert_eq!(destroy(device, &list), OK);
                }
                assert_eq!(destroy_queue(paging), OK);
                assert_eq!(destroy_device(device), OK);
            });
        }
    });
    assert_eq!(close(opened), OK);
    assert_eq!(control::ledger(), control::Ledger::default());
    assert_eq!(memory::faults(), 0);
    violations_are(&[]);
}

#[test]
fn rule_10_waits_and_mappings_of_a_queue_are_not_those_of_the_next_one_with_its_handle() {
    let _bench = machine("gfx1100");
    control::set_handles(control::Handles { reuse: true, collide: false }).unwrap();
    with_memory(|rig, allocation| {
        memory::set_paging(MANUAL);
        let first = queue(rig.device);
        let (_, va, value) = map(mapping(first.hPagingQueue, 0, allocation, PAGE));
        let event = eventfd();
        assert_eq!(wait_all(rig.device, &[(first.hSyncObject, value)], event as u64, 0), OK);
        let (device, object) = (rig.device, first.hSyncObject);
        let status = std::thread::scope(|scope| {
            let waiter = scope.spawn(|| wait_for(device, object, value));
            std::thread::sleep(Duration::from_millis(10));
            assert_eq!(destroy_queue(first.hPagingQueue), OK);
            let second = queue(device);
            let handles = [second.hPagingQueue, second.hSyncObject];
            assert!(handles.contains(&first.hPagingQueue) && handles.contains(&object));
            let deadline = Instant::now() + Duration::from_secs(5);
            while !waiter.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
            let ended = waiter.is_finished();
            // Ends it in any case.
            assert_eq!(destroy_queue(second.hPagingQueue), OK);
            (ended, waiter.join().unwrap())
        });
        assert_eq!((status, count(event)), ((true, OK), 1));
        let second = queue(rig.device);
        assert_eq!(make_resident(second.hPagingQueue, &[allocation], 0), (PENDING, 1));
        assert_eq!(memory::translate(0, va, 1, false), Err(memory::Fault::Pending), "the residency is");
        assert_eq!(memory::finish(second.hPagingQueue, 1), Some(1));
        assert!(memory::translate(0, va, 1, false).is_ok());
        let third = queue(rig.device);
        let (_, other, value) = map(mapping(third.hPagingQueue, 0, allocation, PAGE));
        assert_eq!(value, 1);
        assert_eq!(memory::translate(0, other, 1, false), Err(memory::Fault::Pending));
        assert_eq!(destroy_queue(third.hPagingQueue), OK);
        let fourth = queue(rig.device);
        assert!(memory::translate(0, other, 1, false).is_ok(), "the fourth queue has nothing to do with it");
        for queue in [second, fourth] {
            assert_eq!(destroy_queue(queue.hPagingQueue), OK);
        }
        shut(event);
    });
    violations_are(&[]);
}
