//! Creating memory: rules 50 to 60, 62 and 63, and 131 and 132 for memory.

use std::ffi::c_void;

use dxcore::control;
use dxcore::d3dkmt::*;
use rocdxg_fake_gpu::allocation::{Blob, DOMAIN_LOCAL, DOMAIN_SYSTEM, DOMAIN_USER, SIZE};

use crate::kit::*;
use crate::rig::*;

#[test]
fn memory_comes_and_goes() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(4 * PAGE, false);
    let (local, system) = (vram(rig.device, MIB), user(rig.device, &pages));
    let mut grouped = Creation::local(rig.device, &[PAGE, 2 * PAGE]);
    grouped.args.Flags = create_allocation_flags::CREATE_RESOURCE;
    assert_eq!(grouped.send(), OK);
    let ledger = control::ledger();
    assert_eq!((ledger.allocations, ledger.resources, ledger.pins, ledger.shared), (4, 1, 1, 0));
    assert_eq!(ledger.total(), 3 + 4 + 1 + 1);
    assert_eq!(ledger.of("pins"), Some(1));
    assert_eq!(destroy(rig.device, &[local, system]), OK);
    assert_eq!(destroy_resource(rig.device, grouped.args.hResource), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_50_count_zero_or_above_1024_is_ip() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    for count in [0, 1025, u32::MAX] {
        let mut creation = Creation::local(rig.device, &[PAGE]);
        creation.args.NumAllocations = count;
        assert_eq!((creation.send(), creation.entries[0].hAllocation), (IP, 0), "{count}");
    }
    violations_are(&["0 allocations", "1025 allocations", "allocations"]);
    let mut most = Creation::local(rig.device, &[PAGE; 1024]);
    assert_eq!(most.send(), OK);
    assert_eq!(destroy(rig.device, &most.handles()), OK);
    rig.done();
}

#[test]
fn rule_51_private_data_of_an_entry_at_the_limit_are_ip_and_sums_beyond_it_bts() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let mut creation = Creation::local(rig.device, &[PAGE, PAGE]);
    creation.blobs[1] = vec![0; 131_072];
    assert_eq!(creation.send(), IP);
    creation.blobs = vec![vec![0; 70_000]; 2];
    assert_eq!(creation.send(), BTS);
    creation.blobs = vec![vec![0; 65_000]; 2];
    creation.runtime = vec![0; 1200];
    assert_eq!(creation.send(), BTS);
    creation.runtime = vec![0; 131_072];
    assert_eq!(creation.send(), BTS);
    assert_eq!(creation.entries[0].hAllocation, 0);
    violations_are(&["131072 bytes", "140096 bytes together", "131296 bytes together", "bytes together"]);
    rig.done();
}

#[test]
fn rule_52_unaligned_or_mixed_system_memory_is_ip() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(4 * PAGE, false);
    let mut creation = system(rig.device, &pages, &[PAGE, PAGE]);
    creation.entries[1].pSystemMem = pages.pointer().wrapping_byte_add(8);
    assert_eq!(creation.send(), IP);
    for null in 0..2 {
        let mut creation = system(rig.device, &pages, &[PAGE, PAGE]);
        creation.entries[null].pSystemMem = std::ptr::null_mut();
        assert_eq!(creation.send(), IP);
    }
    violations_are(&["system memory at", "for some", "for some"]);
    rig.done();
}

#[test]
fn rule_53_flags_that_exclude_each_other_are_ip() {
    use create_allocation_flags::*;
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    for flags in [
        CREATE_SHARED | NT_SECURITY_SHARING,
        CREATE_RESOURCE | CREATE_SHARED,
        EXISTING_SECTION,
        CREATE_PROTECTED,
        STANDARD_ALLOCATION,
    ] {
        let mut creation = Creation::local(rig.device, &[PAGE]);
        creation.args.Flags = flags;
        assert_eq!((creation.send(), creation.entries[0].hAllocation), (IP, 0), "{flags:#x}");
    }
    violations_are(&["without a resource", "NtSecuritySharing", "flags", "flags", "flags"]);
    rig.done();
}

#[test]
fn rule_54_adding_to_a_sealed_foreign_or_stale_resource_is_ip() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let other = device(rig.adapter);
    let mut first = Creation::shared(rig.device, &[PAGE]);
    assert_eq!(first.send(), OK);
    let resource = first.args.hResource;
    let add = |device: u32, resource: u32| {
        let mut more = Creation::local(device, &[PAGE]);
        more.args.hResource = resource;
        more.send()
    };
    assert_eq!(add(rig.device, resource), OK);
    assert_eq!(add(other, resource), IP);
    assert_eq!(add(rig.device, first.entries[0].hAllocation), IP);
    assert_eq!(control::ledger().allocations, 2);
    assert_eq!(destroy_resource(rig.device, resource), OK);
    assert_eq!(control::ledger().allocations, 0, "the added one too");
    assert_eq!(add(rig.device, resource), IP);
    violations_are(&["of another device or sealed", "is an allocation", "is gone"]);
    assert_eq!(destroy_device(other), OK);
    rig.done();
}

#[test]
fn rule_55_private_data_are_checked_field_by_field_and_refused_as_bts() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(2 * PAGE, false);
    let edit = |bytes: &mut Vec<u8>, change: &dyn Fn(&mut Blob)| {
        let mut blob = Blob::decode(bytes).unwrap();
        change(&mut blob);
        *bytes = blob.encode();
    };
    type Spoil = Box<dyn Fn(&mut Creation)>;
    let entry = |change: fn(&mut Blob)| -> Spoil { Box::new(move |c| edit(&mut c.blobs[1], &change)) };
    let whole = |change: fn(&mut Blob)| -> Spoil { Box::new(move |c| edit(&mut c.driver, &change)) };
    let at = pages.pointer() as usize;
    let spoilt: Vec<(&str, Spoil)> = vec![
        ("0 bytes", Box::new(|c| c.driver.clear())),
        ("0 bytes", Box::new(|c| c.blobs[0].clear())),
        ("checksum", Box::new(|c| c.blobs[1][20] ^= 1)),
        ("magic", Box::new(|c| c.driver[0] ^= 1)),
        ("kind", Box::new(|c| c.driver = c.blobs[0].clone())),
        ("kind", Box::new(|c| c.blobs[0] = c.driver.clone())),
        ("domain", entry(|b| b.domain = DOMAIN_SYSTEM)),
        ("memory_flags", entry(|b| b.memory_flags = 2)),
        ("engine_flags", entry(|b| b.engine_flags = 1)),
        ("address", entry(|b| b.address = PAGE)),
        ("offset", entry(|b| b.offset = 0)),
        ("index", entry(|b| b.index = 0)),
        ("count", entry(|b| b.count = 1)),
        ("granted", entry(|b| b.granted = 1)),
        ("bytes", whole(|b| b.bytes = PAGE)),
        ("domain", Box::new(move |c| c.entries.iter_mut().for_each(|e| e.pSystemMem = at as *mut c_void))),
        (
            "domain",
            Box::new(|c| {
                for bytes in c.blobs.iter_mut().chain([&mut c.driver]) {
                    let blob = Blob { domain: DOMAIN_USER, ..Blob::decode(bytes).unwrap() };
                    *bytes = blob.encode();
                }
            }),
        ),
    ];
    for (name, spoil) in &spoilt {
        let mut creation = Creation::local(rig.device, &[PAGE, PAGE]);
        spoil(&mut creation);
        let before = creation.blobs.clone();
        assert_eq!((creation.send(), creation.handles()), (BTS, vec![0, 0]), "{name}");
        assert_eq!(creation.blobs, before);
    }
    violations_are(&spoilt.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    rig.done();
}

#[test]
fn rule_56_no_video_memory_is_bts_and_nothing_is_kept() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let most = vram(rig.device, 20 << 30);
    let mut second = Creation::local(rig.device, &[MIB, 20 << 30]);
    assert_eq!((second.send(), second.handles()), (BTS, vec![0, 0]));
    assert_eq!(control::ledger().allocations, 1, "the first entry is undone");
    let rest = vram(rig.device, 3 << 30);
    assert_eq!(destroy(rig.device, &[most]), OK);
    assert_eq!(second.send(), OK, "what was destroyed is free");
    assert_eq!(destroy(rig.device, &second.handles()), OK);
    assert_eq!(destroy(rig.device, &[rest]), OK);
    assert!(control::fail("CreateAllocation2", 1, Some(ntstatus::GRAPHICS_NO_VIDEO_MEMORY)));
    assert_eq!(second.send(), IP, "a status of the guest");
    assert!(control::fail("CreateAllocation2", 1, None));
    assert_eq!(second.send(), BTS);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_57_system_memory_that_cannot_be_pinned_is_nm_and_nothing_stays_pinned() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let part = PAGE as usize;
    let attempt = |spoil: &dyn Fn(&Pages), read_only: bool| {
        let pages = Pages::new(4 * PAGE, false);
        spoil(&pages);
        let mut creation = system(rig.device, &pages, &[PAGE, 3 * PAGE]);
        if read_only {
            creation.args.Flags = create_allocation_flags::READ_ONLY;
        }
        let status = creation.send();
        if status == OK {
            assert_eq!(destroy(rig.device, &creation.handles()), OK);
        }
        assert_eq!(control::ledger().pins, 0);
        status
    };
    assert_eq!(attempt(&|_| {}, false), OK);
    assert_eq!(attempt(&|p| p.unmap(2 * part, part), false), NM, "a hole");
    assert_eq!(attempt(&|p| p.unmap(3 * part, part), false), NM, "an end that is not there");
    assert_eq!(attempt(&|p| p.unmap(0, part), false), NM, "a start that is not there");
    assert_eq!(attempt(&|p| p.protect(2 * part, part, libc::PROT_NONE), false), NM);
    assert_eq!(attempt(&|p| p.protect(2 * part, part, libc::PROT_NONE), true), NM);
    assert_eq!(attempt(&|p| p.protect(2 * part, part, libc::PROT_READ), false), NM);
    assert_eq!(attempt(&|p| p.protect(2 * part, part, libc::PROT_READ), true), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_57_shared_pages_of_a_file_on_a_disk_are_not_pinned_for_writing() {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let attempt = |file: &std::fs::File, private: bool, read_only: bool| {
        file.set_len(PAGE).unwrap();
        let pages = Pages::of_file(file.as_raw_fd(), PAGE, private);
        let mut creation = system(rig.device, &pages, &[PAGE]);
        creation.args.Flags = if read_only { create_allocation_flags::READ_ONLY } else { 0 };
        let status = creation.send();
        if status == OK {
            assert_eq!(destroy(rig.device, &creation.handles()), OK);
        }
        status
    };
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages of a file");
    let disk = std::fs::File::options().create(true).truncate(true).read(true).write(true).open(&path).unwrap();
    let in_memory = disk.metadata().unwrap().dev() == std::fs::metadata("/dev/shm").unwrap().dev();
    assert!(!in_memory, "the build folder must be on a disk for this test");
    assert_eq!(attempt(&disk, false, false), NM);
    assert_eq!(attempt(&disk, false, true), OK, "nothing is to be written back");
    assert_eq!(attempt(&disk, true, false), OK, "private pages are no file's");
    let path = std::path::Path::new("/dev/shm").join(format!("rocdxg-fake-{}", std::process::id()));
    let file = std::fs::File::options().create(true).truncate(true).read(true).write(true).open(&path).unwrap();
    assert_eq!(attempt(&file, false, false), OK);
    std::fs::remove_file(&path).unwrap();
    rig.done();
    violations_are(&[]);
    drop(_bench);
    let _bench = machine_of(&variant(&[("[[adapter]]", "[kernel]\nolder = true\n\n[[adapter]]")]));
    let rig = Rig::new();
    let pages = Pages::of_file(disk.as_raw_fd(), PAGE, false);
    let allocation = user(rig.device, &pages);
    assert_eq!(destroy(rig.device, &[allocation]), OK, "an older kernel takes them");
    rig.done();
}

#[test]
fn rule_58_and_59_timeout_and_late_failures_leave_dead_handles_behind() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(2 * PAGE, false);
    for status in [TIMEOUT, NM, UNS] {
        let mut creation = system(rig.device, &pages, &[PAGE, PAGE]);
        creation.args.Flags = create_allocation_flags::CREATE_RESOURCE;
        assert!(control::fail("CreateAllocation2", 1, Some(status)));
        assert_eq!(creation.send(), status);
        let handles = creation.handles();
        assert!(creation.args.hResource != 0 && handles.iter().all(|h| *h != 0), "{status:#x}");
        assert_eq!(control::ledger().total(), 3);
        assert_eq!(destroy(rig.device, &handles), IP);
        assert_eq!(destroy_resource(rig.device, creation.args.hResource), IP);
    }
    violations_are(&["is gone"; 6]);
    let mut local = Creation::local(rig.device, &[PAGE]);
    assert!(control::fail("CreateAllocation2", 1, Some(TIMEOUT)));
    assert_eq!((local.send(), local.handles()), (TIMEOUT, vec![0]), "no pages to send");
    assert!(control::fail("CreateAllocation2", 1, Some(DR)));
    assert_eq!((local.send(), local.handles()), (DR, vec![0]));
    rig.done();
}

#[test]
fn rule_60_shared_pages_are_kept_by_identity_and_private_ones_as_far_as_they_are_there() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(2 * PAGE, true);
    pages.fill(7);
    let allocation = user(rig.device, &pages);
    let va = settle(&rig, allocation, 2 * PAGE);
    assert_eq!(gpu_read(va + PAGE, 4), Ok(vec![7; 4]));
    gpu_write(va, b"gpu").unwrap();
    assert_eq!(pages.start(3), b"gpu");
    pages.remap();
    pages.fill(9);
    assert_eq!(gpu_read(va, 4), Ok(b"gpu\x07".to_vec()), "the old pages");
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    let private = Pages::new(PAGE, false);
    private.fill(5);
    let allocation = user(rig.device, &private);
    let va = settle(&rig, allocation, PAGE);
    assert_eq!(gpu_read(va, 2), Ok(vec![5; 2]));
    private.unmap(0, PAGE as usize);
    assert_eq!(gpu_read(va, 2), Err(control::memory::Fault::Gone));
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_60_pages_pinned_for_reading_are_not_written() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(PAGE, false);
    let mut creation = system(rig.device, &pages, &[PAGE]);
    creation.args.Flags = create_allocation_flags::READ_ONLY;
    assert_eq!(creation.send(), OK);
    let va = settle(&rig, creation.entries[0].hAllocation, PAGE);
    assert_eq!(gpu_write(va, &[1]), Err(control::memory::Fault::ReadOnly));
    assert_eq!(pages.start(1), [0]);
    assert_eq!(destroy(rig.device, &creation.handles()), OK);
    rig.done();
}

#[test]
fn rule_62_the_size_is_what_the_driver_was_told_rounded_up_to_pages() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let mut creation = Creation::local(rig.device, &[PAGE + 1]);
    assert_eq!(creation.send(), OK);
    let answer = Blob::decode(&creation.blobs[0]).unwrap();
    assert_eq!((answer.bytes, answer.granted), (PAGE + 1, 2 * PAGE));
    assert_eq!(answer.identity, control::memory::identity(creation.entries[0].hAllocation));
    let pages = Pages::new(PAGE, false);
    let mut longer = Creation::new(rig.device, DOMAIN_USER, pages.pointer(), &[PAGE + 1]);
    let beyond = Pages::new(PAGE, false);
    beyond.protect(0, PAGE as usize, libc::PROT_NONE);
    if beyond.pointer() as usize != pages.pointer() as usize + PAGE as usize {
        // Nothing says what follows the pages, so say it.
        let two = Pages::new(2 * PAGE, false);
        two.protect(PAGE as usize, PAGE as usize, libc::PROT_NONE);
        longer.entries[0].pSystemMem = two.pointer();
        assert_eq!(longer.send(), NM);
    } else {
        assert_eq!(longer.send(), NM, "the pin follows the size of the driver");
    }
    assert_eq!(destroy(rig.device, &creation.handles()), OK);
    rig.done();
}

#[test]
fn rule_63_nothing_but_the_documented_fields_changes() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let mut creation = Creation::shared(rig.device, &[PAGE, PAGE]);
    creation.args.hGlobalShare = 99;
    creation.args.hPrivateRuntimeResourceHandle = 98;
    for entry in &mut creation.entries {
        (entry.VidPnSourceId, entry.GpuVirtualAddress, entry.Unused, entry.Reserved) = (u32::MAX, 97, 96, [95; 5]);
    }
    assert_eq!(creation.send(), OK);
    let (before, after) = (creation.args, creation.args);
    assert_eq!((after.hGlobalShare, after.hPrivateRuntimeResourceHandle, after.Flags), (0, 98, before.Flags));
    assert_ne!(after.hResource, 0);
    for entry in &creation.entries {
        let rest = (entry.VidPnSourceId, entry.GpuVirtualAddress, entry.Unused, entry.Reserved, entry.Flags);
        assert_eq!(rest, (u32::MAX, 97, 96, [95; 5], 0));
        assert_eq!((entry.PrivateDriverDataSize as usize, entry.pSystemMem.is_null()), (SIZE, true));
    }
    assert_eq!(destroy_resource(rig.device, after.hResource), OK);
    rig.done();
}

#[test]
fn a_child_owns_none_of_its_parents_memory() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = visible(rig.device, PAGE);
    let va = settle(&rig, allocation, PAGE);
    gpu_write(va, b"parent").unwrap();
    let (_, shown) = lock(rig.device, allocation);
    let status = in_child(|| {
        assert_eq!(destroy(rig.device, &[allocation]), UNS);
        let own = Rig::new();
        assert_eq!(destroy(own.device, &[allocation]), IP);
        assert_eq!(gpu_read(va, 1), Err(control::memory::Fault::Unmapped), "its own address space");
        // SAFETY: the parent's mapping, which its children share.
        assert_eq!(unsafe { shown.read_volatile() }, b'p');
        let mine = vram(own.device, PAGE);
        assert_eq!(control::ledger().allocations, 1);
        assert_eq!(destroy(own.device, &[mine]), OK);
        own.done();
        0
    });
    assert_eq!(status, 0);
    assert_eq!(gpu_read(va, 6), Ok(b"parent".to_vec()));
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_131_a_stopped_adapter_refuses_memory() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, PAGE);
    assert!(control::set_active(0, false));
    assert_eq!(Creation::local(rig.device, &[PAGE]).send(), DR);
    assert_eq!(make_resident(rig.queue.hPagingQueue, &[allocation], 0).0, DR);
    assert_eq!(evict(rig.device, &[allocation]), DR);
    assert_eq!(reserve(rig.adapter, 0, 64 << 10).0, DR);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, 0, allocation, PAGE)).0, DR);
    assert_eq!(free(rig.adapter, 64 << 10, 64 << 10), DR);
    assert_eq!(lock(rig.device, allocation).0, DR);
    assert_eq!(wait_for(rig.device, rig.queue.hSyncObject, 0), DR);
    assert_eq!(destroy(rig.device, &[allocation]), DR);
    assert_eq!(control::ledger().allocations, 0, "it is destroyed all the same");
    assert!(control::set_active(0, true));
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_132_pointers_that_lead_nowhere_are_uns() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let nowhere = 8 as *mut c_void;
    for symbol in [
        "D3DKMTCreateAllocation2",
        "D3DKMTDestroyAllocation2",
        "D3DKMTMakeResident",
        "D3DKMTEvict",
        "D3DKMTReserveGpuVirtualAddress",
        "D3DKMTMapGpuVirtualAddress",
        "D3DKMTFreeGpuVirtualAddress",
        "D3DKMTLock2",
        "D3DKMTUnlock2",
        "D3DKMTWaitForSynchronizationObjectFromCpu",
        "D3DKMTCreateSynchronizationObject2",
        "D3DKMTDestroySynchronizationObject",
        "D3DKMTShareObjects",
        "D3DKMTQueryResourceInfoFromNtHandle",
        "D3DKMTOpenResourceFromNtHandle",
    ] {
        // SAFETY: memory that cannot be accessed.
        assert_eq!(unsafe { dxcore_call(symbol, nowhere) }, UNS, "{symbol}");
    }
    let mut creation = Creation::new(rig.device, DOMAIN_LOCAL, std::ptr::null_mut(), &[PAGE]);
    assert_eq!(creation.send(), OK);
    assert_eq!(destroy(rig.device, &creation.handles()), OK);
    creation.args.pAllocationInfo2 = nowhere.cast();
    assert_eq!(create_args(&mut creation.args), UNS);
    // The entries cannot be written: the host had made the memory, and it is undone.
    let page = Pages::new(PAGE, false);
    // SAFETY: the page has room for an entry.
    unsafe { page.pointer().cast::<D3DDDI_ALLOCATIONINFO2>().write(creation.entries[0]) };
    page.protect(0, PAGE as usize, libc::PROT_READ);
    creation.blobs = Creation::local(rig.device, &[PAGE]).blobs;
    // SAFETY: as above, with the address of fresh private data.
    page.protect(0, PAGE as usize, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: writable again for the moment.
    unsafe {
        (*page.pointer().cast::<D3DDDI_ALLOCATIONINFO2>()).pPrivateDriverData = creation.blobs[0].as_mut_ptr().cast()
    };
    page.protect(0, PAGE as usize, libc::PROT_READ);
    creation.args.pAllocationInfo2 = page.pointer().cast();
    assert_eq!(create_args(&mut creation.args), UNS);
    assert_eq!(control::ledger().allocations, 0);
    rig.done();
}
