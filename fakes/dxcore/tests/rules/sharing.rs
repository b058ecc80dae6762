//! Sharing of resources: rules 122, 123, 125 to 127 and 129.

use std::os::fd::AsRawFd;

use dxcore::control::{self, memory};
use dxcore::d3dkmt::*;
use rocdxg_fake_gpu::allocation::Blob;

use crate::kit::*;
use crate::rig::*;
use crate::shares::*;

#[test]
fn rule_122_only_one_resource_that_was_created_to_be_shared() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let mut shared = Creation::shared(rig.device, &[PAGE]);
    let mut plain = Creation::local(rig.device, &[PAGE]);
    plain.args.Flags = create_allocation_flags::CREATE_RESOURCE;
    assert_eq!((shared.send(), plain.send()), (OK, OK));
    let handles = [shared.args.hResource; 2];
    let mut descriptor = 7_u64;
    for count in [0, 2, 33] {
        let mut args = D3DKMT_SHAREOBJECTS {
            ObjectCount: count,
            ObjectHandleArray: handles.as_ptr(),
            pSharedNtHandle: &raw mut descriptor,
            ..zero()
        };
        assert_eq!((share_args(&mut args), descriptor), (IP, 7));
    }
    for wrong in [plain.args.hResource, shared.entries[0].hAllocation, rig.device, rig.queue.hSyncObject, 0] {
        assert_eq!(share(wrong).0, IP);
    }
    violations_are(&[
        "0 objects",
        "2 objects",
        "33 objects",
        "not created to be shared",
        "is an allocation",
        "is a device",
        "is a paging fence",
        "is zero",
    ]);
    for (status, seen) in [(None, IP), (Some(NM), NM), (Some(ntstatus::ACCESS_DENIED), ntstatus::ACCESS_DENIED)] {
        assert!(control::fail("ShareObjects", 1, status));
        assert_eq!(share(shared.args.hResource).0, seen);
    }
    assert_eq!(control::ledger().shared, 0);
    assert_eq!(destroy_resource(rig.device, shared.args.hResource), OK);
    assert_eq!(destroy_resource(rig.device, plain.args.hResource), OK);
    rig.done();
}

#[test]
fn rule_122_pages_of_the_client_are_not_shared() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(PAGE, false);
    let mut creation = system(rig.device, &pages, &[PAGE]);
    creation.args.Flags = Creation::shared(rig.device, &[PAGE]).args.Flags;
    assert_eq!(creation.send(), OK);
    assert_eq!(share(creation.args.hResource).0, IP);
    assert_eq!(destroy_resource(rig.device, creation.args.hResource), OK);
    rig.done();
}

#[test]
fn rule_122_and_123_descriptors_are_ordinary_ones() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (resource, _, descriptor) = exported(rig.device, &[PAGE]);
    // SAFETY: asks about a descriptor of ours.
    assert_eq!(unsafe { libc::fcntl(descriptor, libc::F_GETFD) }, libc::FD_CLOEXEC);
    let link = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap();
    assert!(link.to_string_lossy().contains("dxgresource"), "{link:?}");
    let (status, second) = share(resource);
    assert_eq!(status, OK);
    assert_ne!(second, descriptor);
    let identities = [descriptor, second].map(|fd| {
        let (opened, _) = import(rig.device, fd).unwrap();
        let identity = memory::identity(opened);
        assert_eq!(destroy_resource(rig.device, opened), OK);
        identity
    });
    assert_eq!(identities, [memory::identity(resource); 2], "two descriptors of one object");
    let child = in_child(|| {
        let own = Rig::new();
        let mut creation = Creation::shared(own.device, &[PAGE]);
        assert_eq!(creation.send(), OK);
        shut(0);
        assert_eq!(share(creation.args.hResource), (OK, 0), "0 is a descriptor like any other");
        import(own.device, 0).unwrap();
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: concerns this child only.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const none) }, 0);
        assert_eq!(share(creation.args.hResource).0, UNS, "no descriptor to be had");
        assert_eq!(control::violations(), Vec::<String>::new());
        0
    });
    assert_eq!(child, 0);
    shut(descriptor);
    shut(second);
    assert_eq!(destroy_resource(rig.device, resource), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_125_descriptors_that_name_no_resource_are_ip_before_the_device_is_looked_at() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (resource, _, closed) = exported(rig.device, &[PAGE]);
    shut(closed);
    // SAFETY: opens descriptors.
    let (memfd, event) = unsafe { (libc::memfd_create(c"dxgresource".as_ptr(), 0), libc::eventfd(0, 0)) };
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    for wrong in [closed, memfd, event, file.as_raw_fd(), -1] {
        assert_eq!(Opening::of(0x1234, wrong).err(), Some(IP));
    }
    violations_are(&["names no shared resource"; 5]);
    let (status, descriptor) = share(resource);
    assert_eq!(status, OK);
    assert_eq!(Opening::of(0x1234, descriptor).err(), Some(IP));
    let mut opening = Opening::of(rig.device, descriptor).unwrap();
    opening.args.hDevice = 0x1234;
    assert_eq!(opening.send(), IP);
    opening.args.hNtHandle = event as u64;
    assert_eq!(opening.send(), IP);
    assert_eq!(control::violations().len(), 8);
    [memfd, event, descriptor].into_iter().for_each(shut);
    assert_eq!(destroy_resource(rig.device, resource), OK);
    rig.done();
}

#[test]
fn rule_126_counts_must_match_and_buffers_suffice() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (resource, _, descriptor) = exported(rig.device, &[PAGE, 2 * PAGE]);
    let spoilt: [fn(&mut D3DKMT_OPENRESOURCEFROMNTHANDLE); 5] = [
        |a| a.NumAllocations = 1,
        |a| a.NumAllocations = 3,
        |a| a.PrivateRuntimeDataSize -= 1,
        |a| a.ResourcePrivateDriverDataSize -= 1,
        |a| a.TotalPrivateDriverDataBufferSize -= 1,
    ];
    for spoil in spoilt {
        let mut opening = Opening::of(rig.device, descriptor).unwrap();
        spoil(&mut opening.args);
        assert_eq!((opening.send(), opening.args.hResource, opening.infos[0].hAllocation), (IP, 0, 0));
        assert!(opening.runtime.iter().chain(&opening.driver).chain(&opening.total).all(|b| *b == 0xee));
    }
    violations_are(&["do not fit"; 5]);
    let mut roomy = Opening::of(rig.device, descriptor).unwrap();
    for buffer in [&mut roomy.runtime, &mut roomy.driver, &mut roomy.total] {
        buffer.push(0xee);
    }
    roomy.args.PrivateRuntimeDataSize += 1;
    roomy.args.ResourcePrivateDriverDataSize += 1;
    roomy.args.TotalPrivateDriverDataBufferSize += 1;
    let sizes = (roomy.args.PrivateRuntimeDataSize, roomy.args.ResourcePrivateDriverDataSize);
    assert_eq!(roomy.send(), OK);
    assert_eq!((roomy.args.PrivateRuntimeDataSize, roomy.args.ResourcePrivateDriverDataSize), sizes, "not updated");
    assert_eq!(roomy.args.TotalPrivateDriverDataBufferSize as usize, roomy.total.len() - 1, "updated");
    assert_eq!(destroy_resource(rig.device, roomy.args.hResource), OK);
    assert_eq!(destroy_resource(rig.device, resource), OK);
    shut(descriptor);
    rig.done();
}

#[test]
fn rule_127_importers_get_what_the_creator_passed() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let mut creation = Creation::shared(rig.device, &[PAGE, 3 * PAGE]);
    let original = creation.blobs.clone();
    assert_eq!(creation.send(), OK);
    assert_ne!(creation.blobs, original, "the driver answers in place");
    let (_, descriptor) = share(creation.args.hResource);
    let mut opening = Opening::of(rig.device, descriptor).unwrap();
    assert_eq!(opening.send(), OK);
    assert_eq!(opening.runtime, b"runtime data");
    assert_eq!(opening.driver, creation.driver);
    assert_eq!(opening.total, original.concat());
    let mut at = opening.total.as_ptr();
    for (info, blob) in opening.infos.iter().zip(&original) {
        assert_eq!((info.pPrivateDriverData, info.PrivateDriverDataSize as usize), (at.cast(), blob.len()));
        at = at.wrapping_add(blob.len());
    }
    assert_eq!(Blob::decode(&opening.total[..original[0].len()]).unwrap().granted, 0);
    let own = creation.handles();
    for (info, own) in opening.infos.iter().zip(&own) {
        assert_ne!(info.hAllocation, *own, "handles of its own");
        assert_eq!(memory::identity(info.hAllocation), memory::identity(*own), "for the same memory");
    }
    let imported: Vec<u32> = opening.infos.iter().map(|i| i.hAllocation).collect();
    assert_eq!(destroy(rig.device, &imported), IP, "rule 66");
    assert_eq!(destroy_resource(rig.device, opening.args.hResource), OK);
    assert_eq!(destroy_resource(rig.device, creation.args.hResource), OK);
    shut(descriptor);
    rig.done();
}

#[test]
fn both_sides_see_the_same_bytes_and_memory_counts_once() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let mut creation = Creation::shared(rig.device, &[PAGE, 2 * PAGE]);
    let fine = |bytes: &[u8]| Blob { memory_flags: 1, ..Blob::decode(bytes).unwrap() }.encode();
    creation.driver = fine(&creation.driver);
    creation.blobs = creation.blobs.iter().map(|b| fine(b)).collect();
    assert_eq!(creation.send(), OK);
    let own = creation.handles();
    let va = settle(&rig, own[1], 2 * PAGE);
    gpu_write(va, b"before").unwrap();
    let (_, shown) = lock(rig.device, own[1]);
    let (_, descriptor) = share(creation.args.hResource);
    assert_eq!(gpu_read(va, 6), Ok(b"before".to_vec()), "sharing keeps what was written");
    // SAFETY: locked before and after.
    assert_eq!(unsafe { shown.read_volatile() }, b'b');
    let (opened, imported) = import(rig.device, descriptor).unwrap();
    assert_eq!(gpu_read(va, 6), Ok(b"before".to_vec()));
    let alias = settle(&rig, imported[1], 2 * PAGE);
    assert_ne!(alias, va);
    gpu_write(alias + PAGE, b"after").unwrap();
    assert_eq!(gpu_read(va + PAGE, 5), Ok(b"after".to_vec()));
    // SAFETY: locked, and two pages large.
    assert_eq!(unsafe { shown.add(PAGE as usize).read_volatile() }, b'a');
    let mut statistics =
        D3DKMT_QUERYSTATISTICS { Type: 3, AdapterLuid: LUID { LowPart: 0x8001, HighPart: 0 }, ..zero() };
    assert_eq!(query_statistics(&mut statistics), OK);
    assert_eq!((statistics.QueryResult[2], statistics.QueryResult[4]), (3 * PAGE as u32, 2 * PAGE as u32));
    assert_eq!(lock(rig.device, imported[0]).0, OK, "imports can be locked on a current kernel");
    assert_eq!(evict(rig.device, &[own[1]]), OK);
    assert_eq!(gpu_read(alias, 6), Ok(b"before".to_vec()), "each instance has its own residency");
    assert_eq!(gpu_read(va, 1), Err(memory::Fault::NotResident));
    assert_eq!(destroy_resource(rig.device, creation.args.hResource), OK);
    assert_eq!(gpu_read(alias, 6), Ok(b"before".to_vec()));
    assert_eq!(memory::shared_holders(descriptor), Some(1));
    assert_eq!(destroy_resource(rig.device, opened), OK);
    assert_eq!(memory::shared_holders(descriptor), Some(0));
    shut(descriptor);
    assert_eq!(memory::shared_holders(descriptor), None);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_86_an_import_that_replaces_other_memory_is_reported() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let alone = vram(rig.device, PAGE);
    let va = settle(&rig, alone, PAGE);
    let (resource, own, descriptor) = exported(rig.device, &[PAGE]);
    let (opened, imported) = import(rig.device, descriptor).unwrap();
    assert_eq!(map(mapping(rig.queue.hPagingQueue, va, own[0], PAGE)).0, PENDING);
    violations_are(&[]);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, va, imported[0], PAGE)).0, PENDING, "the same memory");
    violations_are(&[]);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, va, alone, PAGE)).0, PENDING);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, va, imported[0], PAGE)).0, PENDING);
    violations_are(&["replaces allocation"]);
    for resource in [resource, opened] {
        assert_eq!(destroy_resource(rig.device, resource), OK);
    }
    assert_eq!(destroy(rig.device, &[alone]), OK);
    shut(descriptor);
    rig.done();
}

#[test]
fn rule_129_a_shared_resource_takes_no_more_allocations() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (resource, _, descriptor) = exported(rig.device, &[PAGE]);
    let mut more = Creation::local(rig.device, &[PAGE]);
    more.args.hResource = resource;
    assert_eq!(more.send(), IP);
    let (opened, _) = import(rig.device, descriptor).unwrap();
    more.args.hResource = opened;
    assert_eq!(more.send(), IP);
    violations_are(&["sealed", "sealed"]);
    for resource in [resource, opened] {
        assert_eq!(destroy_resource(rig.device, resource), OK);
    }
    shut(descriptor);
    rig.done();
}

#[test]
fn another_adapter_does_not_open_the_resource() {
    let _bench = machine("two-gfx1100");
    let records = adapters(1);
    let (rig, other) = (Rig::on(records[0].hAdapter), Rig::on(records[1].hAdapter));
    let (resource, _, descriptor) = exported(rig.device, &[PAGE]);
    assert_eq!(import(other.device, descriptor).err(), Some(IP));
    violations_are(&["of another adapter"]);
    for (status, seen) in [(None, IP), (Some(NM), NM)] {
        assert!(control::fail("OpenResourceFromNtHandle", 1, status));
        assert_eq!(import(rig.device, descriptor).err(), Some(seen));
    }
    assert_eq!(memory::shared_holders(descriptor), Some(1));
    assert_eq!(destroy_resource(rig.device, resource), OK);
    shut(descriptor);
    assert_eq!(destroy_queue(other.queue.hPagingQueue), OK);
    assert_eq!(destroy_device(other.device), OK);
    assert_eq!(close(other.adapter), OK);
    rig.done();
}
