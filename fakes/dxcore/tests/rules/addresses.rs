//! GPU addresses: rules 72 to 77 and 79 to 86.

use dxcore::control::{self, MemoryRules, memory};
use dxcore::d3dkmt::*;

use crate::kit::*;
use crate::rig::*;

const UNIT: u64 = 64 << 10;

#[test]
fn rule_72_and_13_reserve_takes_an_adapter_first_then_a_paging_queue() {
    let _bench = machine("two-gfx1100");
    control::set_handles(control::Handles { reuse: false, collide: true }).unwrap();
    let records = adapters(1);
    let rig = Rig::on(records[1].hAdapter);
    // The device has the number of the first adapter's handle, and the queue one that no adapter has.
    assert_eq!(rig.device, records[0].hAdapter);
    let (status, base) = reserve(rig.device, 0, UNIT);
    assert_eq!(status, OK);
    assert_eq!(free(records[0].hAdapter, base, UNIT), OK, "it was the adapter that it named");
    let (status, base) = reserve(rig.queue.hPagingQueue, 0, UNIT);
    assert_eq!(status, OK);
    assert_eq!(free(rig.adapter, base, UNIT), OK);
    for neither in [0, 0x1234] {
        assert_eq!(reserve(neither, 0, UNIT).0, IP, "{neither:#x}");
    }
    violations_are(&["is zero", "never issued"]);
    assert_eq!(close(records[0].hAdapter), OK);
    rig.done();
}

/// Status and address with bounds.
fn reserve_between(adapter: u32, min: u64, max: u64, size: u64) -> (Status, u64) {
    let mut args = D3DDDI_RESERVEGPUVIRTUALADDRESS {
        hAdapter: adapter,
        MinimumAddress: min,
        MaximumAddress: max,
        Size: size,
        ..zero()
    };
    (reserve_args(&mut args), args.VirtualAddress)
}

#[test]
fn rule_73_reservations_come_in_units_of_64_kib() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    for (base, size) in [(PAGE, UNIT), (0, PAGE), (0, 0), (0, UNIT + PAGE), (0, u64::MAX), ((1 << 48) - UNIT, 2 * UNIT)]
    {
        assert_eq!(reserve(adapter, base, size).0, BTS, "{base:#x} {size:#x}");
    }
    for (min, max) in [(UNIT + PAGE, 0), (0, 4 * UNIT + 1)] {
        assert_eq!(reserve_between(adapter, min, max, UNIT).0, BTS, "{min:#x} {max:#x}");
    }
    let mut odd = D3DDDI_RESERVEGPUVIRTUALADDRESS { hAdapter: adapter, Size: UNIT, ReservationType: 3, ..zero() };
    assert_eq!(reserve_args(&mut odd), BTS);
    assert_eq!(control::violations().len(), 9);
    memory::set_rules(MemoryRules { tolerates_unaligned_bounds: true, ..MemoryRules::DEFAULT });
    let min = (1 << 40) + PAGE;
    let (status, base) = reserve_between(adapter, min, min + 3 * UNIT + 1, 2 * UNIT);
    assert_eq!((status, base), (OK, (1 << 40) + UNIT), "rounded inwards, as the shipping thunk needs it");
    assert_eq!(free(adapter, base, 2 * UNIT), OK);
    assert_eq!(close(adapter), OK);
    assert_eq!(control::violations().len(), 9);
}

#[test]
fn rule_74_a_base_that_is_taken_is_bts() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let base = 1 << 40;
    assert_eq!(reserve(adapter, base, 4 * UNIT), (OK, base));
    for (start, units) in [(base, 1), (base + 3 * UNIT, 2), (base - UNIT, 2), (base - UNIT, 9)] {
        assert_eq!(reserve(adapter, start, units * UNIT).0, BTS, "{start:#x}");
    }
    assert_eq!(reserve(adapter, base + 4 * UNIT, UNIT), (OK, base + 4 * UNIT));
    assert_eq!(control::ledger().ranges, 2);
    assert_eq!(free(adapter, base, 4 * UNIT), OK);
    assert_eq!(free(adapter, base + 4 * UNIT, UNIT), OK);
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn rule_75_no_room_between_the_bounds_is_bts_and_nothing_outside_is_given() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let (min, max) = (1 << 40, (1 << 40) + 4 * UNIT);
    let (_, first) = reserve_between(adapter, min, max, UNIT);
    let (_, second) = reserve_between(adapter, min, max, 3 * UNIT);
    assert!((min..max).contains(&first) && second >= min && second + 3 * UNIT <= max && first != second);
    assert_eq!(reserve_between(adapter, min, max, UNIT).0, BTS);
    assert_eq!(free(adapter, first, UNIT), OK);
    assert_eq!(reserve_between(adapter, min, max, 2 * UNIT).0, BTS);
    assert_eq!(reserve_between(adapter, min, max, UNIT), (OK, first));
    let (status, anywhere) = reserve(adapter, 0, UNIT);
    assert!(status == OK && anywhere > 0);
    for (base, size) in [(first, UNIT), (second, 3 * UNIT), (anywhere, UNIT)] {
        assert_eq!(free(adapter, base, size), OK);
    }
    assert!(control::fail("ReserveGpuVirtualAddress", 1, Some(IP)));
    assert_eq!(reserve(adapter, 0, UNIT).0, IP);
    assert!(control::fail("ReserveGpuVirtualAddress", 1, None));
    assert_eq!(reserve(adapter, 0, UNIT).0, BTS);
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn address_spaces_of_adapters_are_their_own() {
    let _bench = machine("two-gfx1100");
    let records = adapters(1);
    for record in &records {
        assert_eq!(reserve(record.hAdapter, 1 << 40, UNIT), (OK, 1 << 40));
    }
    for record in &records {
        assert_eq!(free(record.hAdapter, 1 << 40, UNIT), OK);
        assert_eq!(close(record.hAdapter), OK);
    }
    violations_are(&[]);
}

#[test]
fn rule_76_free_wants_an_adapter_and_a_range_that_is_owned() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (_, base) = reserve(rig.adapter, 0, 2 * UNIT);
    assert_eq!(free(rig.queue.hPagingQueue, base, 2 * UNIT), IP);
    assert_eq!(free(rig.adapter, base + 8, UNIT), IP);
    assert_eq!(free(rig.adapter, base, 0), IP);
    assert_eq!(free(rig.adapter, base, 3 * UNIT), IP);
    assert_eq!(free(rig.adapter, base - UNIT, 2 * UNIT), IP);
    violations_are(&["never issued", "in pages", "in pages", "not owned", "not owned"]);
    assert_eq!(free(rig.adapter, base, 2 * UNIT), OK);
    assert_eq!(free(rig.adapter, base, 2 * UNIT), IP);
    rig.done();
}

#[test]
fn rule_77_a_part_may_be_freed_unless_the_host_is_strict() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let (_, base) = reserve(adapter, 0, 4 * UNIT);
    assert_eq!(free(adapter, base + UNIT, PAGE), OK);
    assert_eq!(control::ledger().ranges, 1);
    assert_eq!(free(adapter, base, UNIT), OK);
    assert_eq!(free(adapter, base + UNIT + PAGE, 3 * UNIT - PAGE), OK);
    assert_eq!(control::ledger().ranges, 0);
    memory::set_rules(MemoryRules { frees_whole_ranges_only: true, ..MemoryRules::DEFAULT });
    let (_, base) = reserve(adapter, 0, 2 * UNIT);
    assert_eq!(free(adapter, base, UNIT), IP);
    violations_are(&["part of a range"]);
    assert_eq!(free(adapter, base, 2 * UNIT), OK);
    let neighbours = [reserve(adapter, 1 << 40, UNIT).1, reserve(adapter, (1 << 40) + UNIT, UNIT).1];
    assert_eq!(free(adapter, neighbours[0], 2 * UNIT), IP, "two ranges at once");
    for base in neighbours {
        assert_eq!(free(adapter, base, UNIT), OK);
    }
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_23_the_last_handle_of_an_adapter_takes_its_addresses_along() {
    let _bench = machine("gfx1100");
    let first = adapter();
    assert_eq!(reserve(first, 0, UNIT).0, OK);
    assert_eq!(close(first), OK);
    violations_are(&["1 GPU ranges were owned"]);
    assert_eq!(control::ledger().total(), 0);
}

#[test]
fn rule_79_map_wants_a_live_queue_and_an_allocation_of_its_device() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let other = device(rig.adapter);
    let (own, foreign) = (vram(rig.device, PAGE), vram(other, PAGE));
    assert_eq!(map(mapping(rig.adapter, 0, own, PAGE)).0, IP);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, 0, foreign, PAGE)).0, IP);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, 0, rig.device, PAGE)).0, IP);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, 0, own | 1, PAGE)).0, IP, "the host compares all bits");
    violations_are(&["never issued", "another device", "is a device", "altered"]);
    assert_eq!(destroy(rig.device, &[own]), OK);
    assert_eq!(destroy(other, &[foreign]), OK);
    assert_eq!(destroy_device(other), OK);
    rig.done();
}

#[test]
fn rule_80_pages_must_be_there_and_aligned() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, 4 * PAGE);
    let good = mapping(rig.queue.hPagingQueue, 0, allocation, 4 * PAGE);
    let wrong = [
        D3DDDI_MAPGPUVIRTUALADDRESS { BaseAddress: UNIT + 8, ..good },
        D3DDDI_MAPGPUVIRTUALADDRESS { MinimumAddress: 8, ..good },
        D3DDDI_MAPGPUVIRTUALADDRESS { SizeInPages: 0, ..good },
        D3DDDI_MAPGPUVIRTUALADDRESS { SizeInPages: 5, ..good },
        D3DDDI_MAPGPUVIRTUALADDRESS { OffsetInPages: 1, ..good },
        D3DDDI_MAPGPUVIRTUALADDRESS { OffsetInPages: u64::MAX, ..good },
        D3DDDI_MAPGPUVIRTUALADDRESS { BaseAddress: (1 << 48) - PAGE, ..good },
    ];
    for args in &wrong {
        assert_eq!(map(*args).0, IP, "{args:x?}");
    }
    assert_eq!(control::violations().len(), wrong.len());
    let ignored = D3DDDI_MAPGPUVIRTUALADDRESS { BaseAddress: UNIT, MinimumAddress: 8, MaximumAddress: 9, ..good };
    assert_eq!(map(ignored).0, PENDING, "bounds say nothing with a base");
    let inside = D3DDDI_MAPGPUVIRTUALADDRESS { OffsetInPages: 3, SizeInPages: 1, ..good };
    assert_eq!(map(inside).0, PENDING);
    let bounded = D3DDDI_MAPGPUVIRTUALADDRESS { MinimumAddress: 1 << 40, MaximumAddress: (1 << 40) + 4 * PAGE, ..good };
    assert_eq!(map(bounded).1, 1 << 40);
    assert_eq!(map(bounded).0, IP, "no room");
    assert_eq!(control::violations().len(), wrong.len());
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
}

#[test]
fn rule_81_a_base_is_free_or_owned_and_nothing_between() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let queue = rig.queue.hPagingQueue;
    let (one, two) = (vram(rig.device, 2 * PAGE), vram(rig.device, 2 * PAGE));
    assert_eq!(reserve(rig.adapter, 1 << 40, UNIT).0, OK);
    let end = (1 << 40) + UNIT;
    assert_eq!(map(mapping(queue, end - PAGE, one, 2 * PAGE)).0, IP);
    violations_are(&["partly free"]);
    assert_eq!(map(mapping(queue, end - 2 * PAGE, one, 2 * PAGE)).0, PENDING, "reserved");
    assert_eq!(map(mapping(queue, end, one, 2 * PAGE)).0, PENDING, "free");
    assert_eq!(map(mapping(queue, end - PAGE, two, 2 * PAGE)).0, PENDING, "reserved, then mapped: both are owned");
    assert_eq!(make_resident(queue, &[one, two], 0).0, PENDING);
    let at = |va| memory::translate(0, va, 1, false).map(|e| (e[0].allocation, e[0].offset));
    assert_eq!(at(end - 2 * PAGE), Ok((one, 0)));
    assert_eq!(at(end - PAGE), Ok((two, 0)), "replaced");
    assert_eq!(at(end), Ok((two, PAGE)));
    assert_eq!(at(end + PAGE + 7), Ok((one, PAGE + 7)));
    let across = memory::translate(0, end - 2 * PAGE, 4 * PAGE, true).unwrap();
    assert_eq!(across.iter().map(|e| e.bytes / PAGE).collect::<Vec<_>>(), [1, 2, 1]);
    assert_eq!(destroy(rig.device, &[one]), OK);
    assert_eq!(at(end + PAGE), Err(memory::Fault::Unmapped));
    assert_eq!(at(end), Ok((two, PAGE)));
    assert_eq!(destroy(rig.device, &[two]), OK);
    assert_eq!(free(rig.adapter, 1 << 40, UNIT), OK);
    rig.done();
}

#[test]
fn rule_82_and_83_no_access_and_zero_are_for_reserved_ranges_and_go_with_nothing_else() {
    use protection::*;
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let queue = rig.queue.hPagingQueue;
    let allocation = vram(rig.device, UNIT);
    let (_, base) = reserve(rig.adapter, 0, UNIT);
    let (status, mapped, _) = map(mapping(queue, 0, allocation, UNIT));
    assert_eq!(status, PENDING);
    let set = |base: u64, handle: u32, bits: u64| {
        map(D3DDDI_MAPGPUVIRTUALADDRESS { Protection: bits, ..mapping(queue, base, handle, UNIT) }).0
    };
    for bits in [NO_ACCESS, ZERO] {
        assert_eq!(set(base, allocation, bits), IP, "with memory");
        assert_eq!(set(mapped, 0, bits), IP, "on what a mapping took");
        assert_eq!(set(0, 0, bits), IP, "anywhere");
        assert_eq!(set(1 << 44, 0, bits), IP, "on what is free");
        assert_eq!(set(base, 0, bits | WRITE), IP);
        assert_eq!(set(base, 0, bits | EXECUTE), IP);
    }
    for bits in [0, WRITE, NO_ACCESS | ZERO] {
        assert_eq!(set(base, 0, bits), IP, "no memory to map");
    }
    assert_eq!(set(base, allocation, 1 << 40), IP, "unknown bits");
    assert_eq!(control::violations().len(), 16);
    assert_eq!(set(base, allocation, EXECUTE), PENDING);
    assert_eq!(make_resident(queue, &[allocation], 0).0, PENDING);
    assert_eq!(gpu_read(base, 1), Ok(vec![0]));
    assert_eq!(gpu_write(base, &[1]), Err(memory::Fault::ReadOnly));
    assert_eq!(set(base, allocation, WRITE), PENDING);
    assert_eq!(gpu_write(base, &[1]), Ok(()));
    assert_eq!(set(base, 0, ZERO), PENDING);
    assert_eq!(gpu_write(base, &[9]), Ok(()), "writes are dropped");
    assert_eq!(gpu_read(base, 2), Ok(vec![0, 0]));
    assert_eq!(gpu_read(mapped, 1), Ok(vec![1]), "the memory is what it was");
    assert_eq!(set(base, 0, NO_ACCESS), PENDING);
    assert_eq!(gpu_read(base, 1), Err(memory::Fault::Unmapped));
    assert_eq!(memory::faults(), 2);
    assert!(memory::last_fault().unwrap().contains("nothing is mapped"));
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    assert_eq!(free(rig.adapter, base, UNIT), OK);
    rig.done();
}

#[test]
fn rule_84_mapping_is_pending_with_a_rising_value_and_sometimes_done_at_once() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, PAGE);
    memory::set_paging(control::Paging { immediate_every: 4, ..control::Paging::DEFAULT });
    let mut last = 0;
    for i in 1..=16 {
        let (status, _, value) = map(mapping(rig.queue.hPagingQueue, 0, allocation, PAGE));
        assert_eq!((status, value == 0), if i % 4 == 0 { (OK, true) } else { (PENDING, false) }, "{i}");
        if status == PENDING {
            assert_eq!(value, last + 1);
            last = value;
        }
    }
    let values = |seed| {
        memory::set_paging(control::Paging { immediate_every: 3, seed, ..control::Paging::DEFAULT });
        let zeros = (0..64).map(|_| map(mapping(rig.queue.hPagingQueue, 0, allocation, PAGE)).2 == 0);
        zeros.collect::<Vec<_>>()
    };
    let once = values(5);
    assert!(once.contains(&true) && once.contains(&false));
    assert_eq!(values(5), once, "a seed gives the same again");
    assert_ne!(values(6), once);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_85_a_failing_map_writes_nothing_and_changes_nothing() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, PAGE);
    for (status, seen) in [(None, IP), (Some(NM), NM), (Some(TIMEOUT), TIMEOUT)] {
        assert!(control::fail("MapGpuVirtualAddress", 1, status));
        assert_eq!(map(mapping(rig.queue.hPagingQueue, 0, allocation, PAGE)).0, seen);
    }
    assert_eq!(control::ledger().mappings, 0);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn the_gpu_faults_until_memory_is_mapped_resident_and_the_fence_says_so() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let queue = rig.queue.hPagingQueue;
    let allocation = vram(rig.device, 2 * PAGE);
    memory::set_paging(control::Paging { manual: true, ..control::Paging::DEFAULT });
    let (_, va, mapped) = map(mapping(queue, 0, allocation, 2 * PAGE));
    assert_eq!(gpu_write(va, b"x"), Err(memory::Fault::Pending));
    assert_eq!(memory::finish(queue, mapped), Some(1));
    assert_eq!(gpu_write(va, b"x"), Err(memory::Fault::NotResident));
    let (_, resident) = make_resident(queue, &[allocation], 0);
    assert_eq!((mapped, resident), (1, 2));
    assert_eq!(gpu_write(va, b"x"), Err(memory::Fault::Pending));
    assert_eq!(memory::finish(queue, resident), Some(1));
    assert_eq!(memory::finish(queue, resident), Some(0));
    assert_eq!(memory::finish(rig.device, 1), None);
    assert_eq!(gpu_write(va + PAGE - 1, b"xy"), Ok(()));
    assert_eq!(gpu_read(va + PAGE - 2, 4), Ok(vec![0, b'x', b'y', 0]));
    assert_eq!(gpu_read(va + PAGE, PAGE as usize + 1), Err(memory::Fault::Unmapped), "beyond the end");
    assert_eq!(gpu_read(u64::MAX, 2), Err(memory::Fault::Unmapped));
    assert_eq!(evict(rig.device, &[allocation]), OK);
    assert_eq!(gpu_read(va, 1), Err(memory::Fault::NotResident));
    assert_eq!(memory::faults(), 6);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
    violations_are(&[]);
}
