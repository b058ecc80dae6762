//! Shared memory between processes and under races: rule 128, and bugs B076 and B078.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use dxcore::control::{self, memory};

use crate::kit::*;
use crate::rig::*;
use crate::shares::*;

#[test]
fn rule_128_memory_lives_until_the_last_holder_is_gone() {
    let _bench = machine("gfx1100");
    // The exporter is a process that has ended before anybody opens what it sent.
    let mut ends = [0; 2];
    // SAFETY: an array of two.
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, ends.as_mut_ptr()) }, 0);
    let exporter = in_child(|| {
        let rig = Rig::new();
        let (_, own, descriptor) = exported(rig.device, &[2 * PAGE]);
        let va = settle(&rig, own[0], 2 * PAGE);
        gpu_write(va + PAGE, b"from a process that is gone").unwrap();
        send(ends[1], descriptor);
        control::unload();
        0
    });
    assert_eq!(exporter, 0);
    let descriptor = receive(ends[0]);
    assert_eq!(memory::shared_holders(descriptor), Some(0), "only the descriptor holds it");
    let rig = Rig::new();
    let (first, one) = import(rig.device, descriptor).unwrap();
    let (second, two) = import(rig.device, descriptor).unwrap();
    shut(descriptor);
    let va = settle(&rig, one[0], 2 * PAGE);
    assert_eq!(gpu_read(va + PAGE, 27), Ok(b"from a process that is gone".to_vec()));
    assert_eq!(destroy_resource(rig.device, first), OK);
    let va = settle(&rig, two[0], 2 * PAGE);
    assert_eq!(gpu_read(va + PAGE, 4), Ok(b"from".to_vec()), "the other instance is not touched");
    assert_eq!(destroy_resource(rig.device, second), OK);
    rig.done();
    ends.into_iter().for_each(shut);
    violations_are(&[]);
}

/// Room for one descriptor in a message.
#[repr(C, align(8))]
struct Ancillary([u8; 64]);

fn message(byte: &mut libc::iovec, room: &mut Ancillary) -> libc::msghdr {
    // SAFETY: zeros are a header without a name.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (byte, 1);
    header.msg_control = room.0.as_mut_ptr().cast();
    // SAFETY: plain arithmetic.
    header.msg_controllen = unsafe { libc::CMSG_SPACE(4) } as usize;
    header
}

/// Sends a descriptor to another process.
fn send(socket: i32, descriptor: i32) {
    let (mut payload, mut room) = (*b"x", Ancillary([0; 64]));
    let mut byte = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: 1 };
    let header = message(&mut byte, &mut room);
    // SAFETY: the header describes buffers of this function, with room for one descriptor.
    unsafe {
        let part = libc::CMSG_FIRSTHDR(&raw const header);
        ((*part).cmsg_level, (*part).cmsg_type) = (libc::SOL_SOCKET, libc::SCM_RIGHTS);
        (*part).cmsg_len = libc::CMSG_LEN(4) as usize;
        libc::CMSG_DATA(part).cast::<i32>().write_unaligned(descriptor);
        assert_eq!(libc::sendmsg(socket, &raw const header, 0), 1);
    }
}

fn receive(socket: i32) -> i32 {
    let (mut payload, mut room) = ([0_u8], Ancillary([0; 64]));
    let mut byte = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: 1 };
    let mut header = message(&mut byte, &mut room);
    // SAFETY: the header describes buffers of this function; a message with a descriptor is on its way.
    unsafe {
        assert_eq!(libc::recvmsg(socket, &raw mut header, libc::MSG_CMSG_CLOEXEC), 1);
        let part = libc::CMSG_FIRSTHDR(&raw const header);
        assert!(!part.is_null());
        libc::CMSG_DATA(part).cast::<i32>().read_unaligned()
    }
}

/// Name of the variable that makes the next test the importing half of itself.
const IMPORT: &str = "RULES_IMPORT";

#[test]
fn a_process_with_a_fake_of_its_own_opens_the_same_memory() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    if let Ok(order) = std::env::var(IMPORT) {
        let (descriptor, identity) = order.split_once(' ').unwrap();
        let descriptor: i32 = descriptor.parse().unwrap();
        let (resource, allocations) = import(rig.device, descriptor).unwrap();
        assert_eq!(memory::identity(allocations[0]).to_string(), identity);
        assert_eq!(memory::shared_holders(descriptor), Some(2));
        let va = settle(&rig, allocations[0], MIB);
        assert_eq!(gpu_read(va + MIB - 4, 4), Ok(b"ping".to_vec()));
        gpu_write(va, b"pong").unwrap();
        assert_eq!(destroy_resource(rig.device, resource), OK);
        return rig.done();
    }
    let (resource, own, descriptor) = exported(rig.device, &[MIB]);
    let va = settle(&rig, own[0], MIB);
    gpu_write(va + MIB - 4, b"ping").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "lifetimes::a_process_with_a_fake_of_its_own_opens_the_same_memory", "--nocapture"]);
    command.env(IMPORT, format!("{descriptor} {}", memory::identity(own[0])));
    // SAFETY: one system call between fork and exec; the child shall have the descriptor.
    unsafe {
        command.pre_exec(move || match libc::fcntl(descriptor, libc::F_SETFD, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    };
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(gpu_read(va, 4), Ok(b"pong".to_vec()));
    assert_eq!(memory::shared_holders(descriptor), Some(1));
    assert_eq!(destroy_resource(rig.device, resource), OK);
    shut(descriptor);
    rig.done();
    violations_are(&[]);
}

#[test]
fn a_descriptor_closed_by_whoever_does_not_own_it_is_never_another_object() {
    let _bench = machine("gfx1100");
    let child = in_child(|| {
        let rig = Rig::new();
        let (resource, _, _) = exported(rig.device, &[PAGE]);
        let (_, other, foreign) = exported(rig.device, &[PAGE]);
        // SAFETY: closes and replaces what the library holds, as careless programs do.
        unsafe {
            assert_eq!(libc::dup2(foreign, 200), 200);
            libc::syscall(libc::SYS_close_range, 3_u32, 199_u32, 0_u32);
            for _ in 0..64 {
                libc::dup(200);
            }
        }
        assert_eq!(share(resource).0, UNS, "not the other resource");
        violations_are(&["not its own"]);
        let (_, imported) = import(rig.device, 200).unwrap();
        assert_eq!(memory::identity(imported[0]), memory::identity(other[0]));
        0
    });
    assert_eq!(child, 0);
}

#[test]
fn bug_b076_an_import_is_the_exported_object_or_an_error_whatever_others_do() {
    let _bench = machine("gfx1100");
    control::set_handles(control::Handles { reuse: true, collide: false }).unwrap();
    let rig = Rig::new();
    let device = rig.device;
    let (resource, own, descriptor) = exported(device, &[PAGE]);
    let wanted = memory::identity(own[0]);
    let (stop, current) = (AtomicBool::new(false), AtomicI32::new(descriptor));
    let (mut good, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        // Exports and closes: the descriptor that the importer looks at comes and goes.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (status, next) = share(resource);
                assert_eq!(status, OK);
                let old = current.swap(next, Ordering::AcqRel);
                shut(old);
            }
        });
        // Frees and allocates, with handles that come back at once, and takes free descriptors.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let allocation = vram(device, PAGE);
                drop(std::fs::File::open("/proc/self/exe").unwrap());
                assert_eq!(destroy(device, &[allocation]), OK);
            }
        });
        let deadline = Instant::now() + Duration::from_millis(700);
        while Instant::now() < deadline {
            match import(device, current.load(Ordering::Acquire)) {
                Ok((opened, allocations)) => {
                    assert_eq!(memory::identity(allocations[0]), wanted);
                    assert_eq!(destroy_resource(device, opened), OK);
                    good += 1;
                }
                Err(status) => {
                    assert_eq!(status, IP);
                    refused += 1;
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(good > 20, "{good} imports, {refused} refused");
    assert_eq!(control::violations().iter().filter(|v| !v.contains("names no shared resource")).count(), 0);
    shut(current.into_inner());
    assert_eq!(destroy_resource(device, resource), OK);
    rig.done();
}

#[test]
fn bug_b078_and_rule_6_numbers_of_old_objects_open_nothing() {
    let _bench = machine("gfx1100");
    control::set_handles(control::Handles { reuse: true, collide: false }).unwrap();
    let rig = Rig::new();
    let (resource, own, descriptor) = exported(rig.device, &[PAGE]);
    let identity = memory::identity(own[0]);
    assert_eq!(destroy_resource(rig.device, resource), OK);
    let (again, newer, other) = exported(rig.device, &[PAGE]);
    assert!([resource, own[0]].contains(&again) && [resource, own[0]].contains(&newer[0]), "the handles came back");
    assert_ne!(memory::identity(newer[0]), identity);
    let (opened, imported) = import(rig.device, descriptor).unwrap();
    assert_eq!(memory::identity(imported[0]), identity, "the old descriptor opens the old memory");
    for symbol in ["D3DKMTOpenResource", "D3DKMTQueryResourceInfo"] {
        // SAFETY: the argument is not looked at.
        assert_eq!(unsafe { dxcore_call(symbol, std::ptr::null_mut()) }, UNS);
        assert_eq!(control::calls(symbol), Some(1));
    }
    for resource in [again, opened] {
        assert_eq!(destroy_resource(rig.device, resource), OK);
    }
    [descriptor, other].into_iter().for_each(shut);
    rig.done();
}
