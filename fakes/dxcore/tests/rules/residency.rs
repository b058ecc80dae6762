//! Residency, budgets and the figures that follow: rules 87 to 93.

use dxcore::control::{self, MemoryRules, memory};
use dxcore::d3dkmt::*;

use crate::kit::*;
use crate::rig::*;

use make_resident_flags::{CANT_TRIM_FURTHER, MUST_SUCCEED};

const LOCAL: u32 = segment_group::LOCAL;
const NON_LOCAL: u32 = segment_group::NON_LOCAL;
const LUID_OF_FIRST: LUID = LUID { LowPart: 0x8001, HighPart: 0 };

fn statistics(kind: u32, index: u32) -> Option<[u32; 194]> {
    let mut args = D3DKMT_QUERYSTATISTICS { Type: kind, AdapterLuid: LUID_OF_FIRST, Index: index, ..zero() };
    (query_statistics(&mut args) == OK).then_some(args.QueryResult)
}

fn segment(index: u32) -> D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION {
    let words = statistics(query_statistics::SEGMENT, index).unwrap();
    // SAFETY: the result is larger than the structure, which holds integers only.
    unsafe { words.as_ptr().cast::<D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION>().read_unaligned() }
}

fn long(words: [u32; 194], word: usize) -> u64 {
    u64::from(words[word]) | u64::from(words[word + 1]) << 32
}

fn budget_and_usage(adapter: u32, group: u32) -> (u64, u64) {
    let mut args = D3DKMT_QUERYVIDEOMEMORYINFO { hAdapter: adapter, MemorySegmentGroup: group, ..zero() };
    assert_eq!(video_memory(&mut args), OK);
    (args.Budget, args.CurrentUsage)
}

#[test]
fn rule_87_bad_counts_queues_and_allocations_are_ip_and_count_nothing() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let queue = rig.queue.hPagingQueue;
    let other = Rig::on(rig.adapter);
    let (own, foreign) = (vram(rig.device, PAGE), vram(other.device, PAGE));
    let gone = vram(rig.device, PAGE);
    assert_eq!(destroy(rig.device, &[gone]), OK);
    assert_eq!(make_resident(queue, &[], 0).0, IP);
    assert_eq!(make_resident(queue, &vec![own; 10_241], 0).0, IP);
    assert_eq!(make_resident(0, &[own], 0).0, IP);
    assert_eq!(make_resident(rig.device, &[own], 0).0, IP);
    assert_eq!(make_resident(queue, &[own, gone], 0).0, IP);
    assert_eq!(make_resident(queue, &[own, foreign], 0).0, IP);
    assert_eq!(make_resident(queue, &[own, own | 5], 0).0, IP);
    assert_eq!(make_resident(queue, &[own], 8).0, IP);
    violations_are(&[
        "0 allocations",
        "10241 allocations",
        "is zero",
        "is a device",
        "is gone",
        "another device",
        "altered",
        "flags 0x8",
    ]);
    assert_eq!(control::ledger().residents, 0);
    assert_eq!(make_resident(queue, &vec![own; 10_240], 0).0, PENDING, "as often as it is listed");
    assert_eq!(control::ledger().residents, 10_240);
    assert_eq!(destroy(rig.device, &[own]), OK);
    assert_eq!(destroy(other.device, &[foreign]), OK);
    assert_eq!(destroy_queue(other.queue.hPagingQueue), OK);
    assert_eq!(destroy_device(other.device), OK);
    rig.done();
}

#[test]
fn rule_88_over_budget_is_nm_and_changes_nothing() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let queue = rig.queue.hPagingQueue;
    let (small, large) = (vram(rig.device, MIB), vram(rig.device, 23 << 30));
    assert_eq!(make_resident(queue, &[small, large], 0).0, NM, "there is memory for it, and no budget");
    assert_eq!((control::ledger().residents, segment(1).BytesResident), (0, 0));
    assert_eq!(make_resident(queue, &[small], 0), (PENDING, 1), "the failure queued nothing");
    assert!(memory::set_budget(0, LOCAL, Some(23 << 30)));
    assert_eq!(make_resident(queue, &[large], 0).0, NM);
    assert_eq!(evict(rig.device, &[small]), OK);
    assert_eq!(make_resident(queue, &[large], 0).0, PENDING);
    assert_eq!(make_resident(queue, &[large], 0).0, PENDING, "what is resident costs nothing more");
    assert!(memory::set_budget(0, LOCAL, None));
    assert_eq!(make_resident(queue, &[small], 0).0, NM);
    assert!(!memory::set_budget(0, 2, Some(0)) && !memory::set_budget(1, LOCAL, Some(0)));
    assert_eq!(destroy(rig.device, &[small, large]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_88_system_memory_has_a_budget_of_its_own() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(4 * PAGE, false);
    let (system, local) = (user(rig.device, &pages), vram(rig.device, MIB));
    assert!(memory::set_budget(0, NON_LOCAL, Some(3 * PAGE)));
    assert_eq!(make_resident(rig.queue.hPagingQueue, &[system], 0).0, NM);
    assert_eq!(make_resident(rig.queue.hPagingQueue, &[local], 0).0, PENDING);
    assert_eq!(budget_and_usage(rig.adapter, NON_LOCAL), (3 * PAGE, 0));
    assert_eq!(destroy(rig.device, &[system, local]), OK);
    rig.done();
}

#[test]
fn rule_89_a_final_attempt_that_fails_may_cost_the_device() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let queue = rig.queue.hPagingQueue;
    let allocation = vram(rig.device, MIB);
    assert!(memory::set_budget(0, LOCAL, Some(0)));
    let state = || {
        let mut args = D3DKMT_GETDEVICESTATE { hDevice: rig.device, StateType: 1, ..zero() };
        assert_eq!(device_state(&mut args), OK);
        args.ExecutionState
    };
    assert_eq!(make_resident(queue, &[allocation], CANT_TRIM_FURTHER).0, NM);
    assert_eq!(state(), execution_state::ACTIVE, "as the shipping thunk has it");
    memory::set_rules(MemoryRules { final_trim_is_fatal: true, ..MemoryRules::DEFAULT });
    assert_eq!(make_resident(queue, &[allocation], 0).0, NM);
    assert_eq!(state(), execution_state::ACTIVE);
    assert_eq!(make_resident(queue, &[allocation], CANT_TRIM_FURTHER).0, NM);
    assert_eq!(state(), execution_state::ERROR_OUTOFMEMORY);
    assert_eq!(make_resident(queue, &[allocation], 0).0, DR, "the device is lost");
    assert_eq!(map(mapping(queue, 0, allocation, PAGE)).0, DR);
    assert_eq!(lock(rig.device, allocation).0, DR);
    assert_eq!(Creation::local(rig.device, &[PAGE]).send(), BTS, "where the status is lost, it does not show");
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_90_must_succeed_goes_with_cant_trim_further_and_costs_the_device() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, MIB);
    assert_eq!(make_resident(rig.queue.hPagingQueue, &[allocation], MUST_SUCCEED).0, IP);
    violations_are(&["flags 0x2"]);
    assert!(memory::set_budget(0, LOCAL, Some(0)));
    assert_eq!(make_resident(rig.queue.hPagingQueue, &[allocation], MUST_SUCCEED | CANT_TRIM_FURTHER).0, NM);
    assert_eq!(make_resident(rig.queue.hPagingQueue, &[allocation], 0).0, DR);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
}

#[test]
fn rule_91_the_injected_statuses_of_residency_show() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, MIB);
    for (status, seen) in [(None, IP), (Some(NM), NM), (Some(TIMEOUT), TIMEOUT), (Some(DR), DR)] {
        assert!(control::fail("MakeResident", 1, status));
        assert_eq!(make_resident(rig.queue.hPagingQueue, &[allocation], 0).0, seen);
    }
    assert_eq!(control::ledger().residents, 0);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
}

#[test]
fn rule_92_evict_is_ok_and_what_is_wrong_is_recorded() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let other = device(rig.adapter);
    let allocation = vram(rig.device, PAGE);
    assert_eq!(make_resident(rig.queue.hPagingQueue, &[allocation], 0).0, PENDING);
    assert_eq!(evict(rig.device, &[]), IP);
    assert_eq!(evict(rig.queue.hPagingQueue, &[allocation]), IP);
    assert_eq!(evict(other, &[allocation]), OK);
    assert_eq!(control::ledger().residents, 1);
    assert_eq!(evict(rig.device, &[0x77_0000, allocation, allocation]), OK);
    assert_eq!(control::ledger().residents, 0);
    violations_are(&["0 allocations", "is a paging queue", "another device", "never issued", "not resident"]);
    let mut args = D3DKMT_EVICT {
        hDevice: rig.device,
        NumAllocations: 1,
        AllocationList: &raw const allocation,
        NumBytesToTrim: 9,
        ..zero()
    };
    assert!(control::fail("Evict", 1, Some(IP)));
    assert_eq!(evict_args(&mut args), IP, "a status of the guest shows");
    assert_eq!(make_resident(rig.queue.hPagingQueue, &[allocation], 0).0, PENDING);
    assert!(control::fail("Evict", 1, None));
    assert_eq!((evict_args(&mut args), args.NumBytesToTrim), (OK, 0));
    assert_eq!(control::ledger().residents, 1, "a refusal of the host does not");
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    assert_eq!(destroy_device(other), OK);
    rig.done();
}

#[test]
fn rule_93_the_last_evict_counts_and_the_figures_follow() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let pages = Pages::new(4 * PAGE, false);
    let (local, near, system) = (vram(rig.device, 8 * MIB), visible(rig.device, 2 * MIB), user(rig.device, &pages));
    let figures = || {
        let segments = [0, 1, 2].map(segment);
        let committed = segments.map(|s| s.BytesCommitted);
        let in_process = [0, 1, 2].map(|i| {
            long(statistics(query_statistics::PROCESS_SEGMENT, i).unwrap(), query_statistics::PROCESS_BYTES_COMMITTED)
        });
        assert_eq!(committed, in_process);
        assert_eq!(committed, [2 * MIB, 8 * MIB, 4 * PAGE]);
        assert_eq!(segments.map(|s| s.AllocsCommitted), [1, 1, 1]);
        let resident = segments.map(|s| s.BytesResident);
        assert_eq!(segments.map(|s| s.AllocsResident), resident.map(|r| u32::from(r > 0)));
        for (group, sum) in [(LOCAL, resident[0] + resident[1]), (NON_LOCAL, resident[2])] {
            let (budget, usage) = budget_and_usage(rig.adapter, group);
            let process = statistics(query_statistics::PROCESS_SEGMENT_GROUP, group).unwrap();
            let whole = statistics(query_statistics::SEGMENT_GROUP_USAGE, group << 16).unwrap();
            assert_eq!(usage, sum);
            assert_eq!(long(process, query_statistics::PROCESS_GROUP_BUDGET), budget);
            assert_eq!(long(process, query_statistics::PROCESS_GROUP_USAGE), sum);
            assert_eq!(long(whole, query_statistics::GROUP_ALLOCATED_BYTES), sum);
        }
        resident
    };
    assert_eq!(figures(), [0; 3], "fresh memory is not resident");
    let list = [local, near, system];
    for _ in 0..3 {
        assert_eq!(make_resident(rig.queue.hPagingQueue, &list, 0).0, PENDING);
        assert_eq!(figures(), [2 * MIB, 8 * MIB, 4 * PAGE]);
    }
    for _ in 0..2 {
        assert_eq!(evict(rig.device, &list), OK);
        assert_eq!(figures(), [2 * MIB, 8 * MIB, 4 * PAGE]);
    }
    assert_eq!(evict(rig.device, &[local]), OK);
    assert_eq!(figures(), [2 * MIB, 0, 4 * PAGE]);
    assert_eq!(segment(1).TotalBytesEvicted, 8 * MIB);
    assert_eq!(statistics(query_statistics::SEGMENT_GROUP_USAGE, 2 << 16), None);
    assert_eq!(statistics(query_statistics::SEGMENT_GROUP_USAGE, 1), None, "another physical adapter");
    assert_eq!(statistics(query_statistics::PROCESS_SEGMENT, 3), None);
    assert_eq!(statistics(query_statistics::PROCESS_SEGMENT_GROUP, 2), None);
    assert_eq!(destroy(rig.device, &list), OK);
    assert_eq!([0, 1, 2].map(|i| (segment(i).BytesCommitted, segment(i).BytesResident)), [(0, 0); 3]);
    rig.done();
    violations_are(&[]);
    drop(_bench);
    let _bench = machine_of(&variant(&[("wddm = 3100", "wddm = 3000")]));
    assert_eq!(statistics(query_statistics::SEGMENT_GROUP_USAGE, 0), None, "before WDDM 3.1");
}
