//! Enumeration, opening and closing: rules 15 to 23 and 131.

use std::ptr::null_mut;

use dxcore::control;
use dxcore::d3dkmt::*;

use crate::kit::*;

const UNTOUCHED: u32 = 0x5a5a_5a5a;

fn marked(count: usize) -> Vec<D3DKMT_ADAPTERINFO> {
    vec![D3DKMT_ADAPTERINFO { hAdapter: UNTOUCHED, NumOfSources: UNTOUCHED, ..zero() }; count]
}

/// EnumAdapters3 with an array of that capacity: status, count afterwards, array.
fn enum3_into(filter: u64, capacity: u32) -> (Status, u32, Vec<D3DKMT_ADAPTERINFO>) {
    let mut records = marked(16);
    let mut args = D3DKMT_ENUMADAPTERS3 { Filter: filter, NumAdapters: capacity, pAdapters: records.as_mut_ptr() };
    let status = enum3(&mut args);
    (status, args.NumAdapters, records)
}

fn enum3_count() -> u32 {
    let mut args = D3DKMT_ENUMADAPTERS3 { Filter: 0, NumAdapters: 77, pAdapters: null_mut() };
    assert_eq!(enum3(&mut args), OK);
    args.NumAdapters
}

fn enum2_into(capacity: u32) -> (Status, u32, Vec<D3DKMT_ADAPTERINFO>) {
    let mut records = marked(16);
    let mut args = D3DKMT_ENUMADAPTERS2 { NumAdapters: capacity, pAdapters: records.as_mut_ptr() };
    let status = enum2(&mut args);
    (status, args.NumAdapters, records)
}

fn close_all(records: &[D3DKMT_ADAPTERINFO]) {
    for record in records {
        assert_eq!(close(record.hAdapter), OK);
    }
}

#[test]
fn rule_15_each_listed_adapter_costs_one_open_and_one_handle() {
    let _bench = machine("two-gfx1100");
    let (status, count, first) = enum3_into(0, 16);
    assert_eq!((status, count), (OK, 2));
    let (status, count, second) = enum2_into(16);
    assert_eq!((status, count), (OK, 2));
    let records = [&first[..2], &second[..2]].concat();
    for (i, record) in records.iter().enumerate() {
        assert_eq!(record.AdapterLuid.LowPart, if i % 2 == 0 { 0x8001 } else { 0x9001 });
        assert_eq!((record.NumOfSources, record.bPrecisePresentRegionsPreferred), (0, 0));
        assert!(records[..i].iter().all(|other| other.hAdapter != record.hAdapter));
    }
    assert_eq!(first[2].hAdapter, UNTOUCHED);
    assert_eq!(control::ledger().adapter_opens, 4);
    close_all(&records);
    assert_eq!(control::ledger().total(), 0);
    violations_are(&[]);
}

#[test]
fn rule_16_enum3_count_query_ignores_filter_and_counts_inactive_ones() {
    let _bench = machine("compute-only");
    assert_eq!(enum3_count(), 1);
    let (status, count, _) = enum3_into(0, 0);
    assert_eq!((status, count), (OK, 1), "a capacity of 0 is a count query");
    assert!(control::set_active(0, false));
    assert_eq!(enum3_count(), 1);
    assert_eq!(enum3_into(1, 4).1, 0);
    assert_eq!(control::ledger().adapter_opens, 0);
}

#[test]
fn rule_17_enum3_short_array_is_ok_and_untouched() {
    let _bench = machine("two-gfx1100");
    let (status, count, records) = enum3_into(0, 1);
    assert_eq!((status, count, records[0].hAdapter), (OK, 2, UNTOUCHED));
    assert_eq!(control::ledger(), control::Ledger { lost_opens: 2, ..control::Ledger::default() });
    violations_are(&[]);
}

#[test]
fn rule_18_enum2_too_small_is_bts_and_limits_are_ip() {
    let _bench = machine("two-gfx1100");
    let (status, count, records) = enum2_into(1);
    assert_eq!((status, count, records[0].hAdapter), (BTS, 1, UNTOUCHED));
    assert_eq!(enum2_into(65).0, IP);
    assert_eq!(enum3_into(0, 65536).0, IP);
    let mut args = D3DKMT_ENUMADAPTERS2 { NumAdapters: 4000, pAdapters: null_mut() };
    assert_eq!((enum2(&mut args), args.NumAdapters), (OK, 2), "without an array the count does not matter");
    violations_are(&["65 adapters", "65536 adapters"]);
    assert_eq!(control::ledger().total(), 0);
}

#[test]
fn rule_19_compute_only_adapters_need_the_filter_bit_and_never_show_in_enum2() {
    let _bench = machine("compute-only");
    assert_eq!(enum3_into(0, 4).1, 0);
    assert_eq!(enum2_into(4).1, 0);
    let (status, count, records) = enum3_into(1, 4);
    assert_eq!((status, count), (OK, 1));
    close_all(&records[..1]);
}

#[test]
fn rule_20_the_adapter_set_changes_between_the_two_calls_on_request() {
    let _bench = machine("hotplug");
    assert_eq!(enum3_count(), 1);
    let (status, count, records) = enum3_into(1, 1);
    assert_eq!((status, count, records[0].hAdapter), (OK, 2, UNTOUCHED));
    let (status, count, records) = enum3_into(1, 2);
    assert_eq!((status, count), (OK, 2));
    close_all(&records[..2]);
    assert!(control::plug(0, false));
    assert_eq!((enum3_count(), enum3_into(1, 4).1), (1, 1));
    assert!(!control::plug(2, true));
}

#[test]
fn rule_20_an_adapter_leaves_after_an_enumeration() {
    let text = variant(&[("counter_hz", "leaves_after = 2\ncounter_hz")]);
    let _bench = machine_of(&text);
    assert_eq!(enum3_count(), 1);
    let (_, count, records) = enum3_into(1, 1);
    assert_eq!(count, 1);
    assert_eq!(enum3_count(), 0);
    let mut version = 0_u32;
    assert_eq!(query(records[0].hAdapter, kmtqaitype::DRIVERVERSION, &mut version), DR);
    assert_eq!(close(records[0].hAdapter), OK);
}

#[test]
fn rule_21_unknown_luid_is_ip_with_a_zero_handle_and_ok_otherwise() {
    let _bench = machine("gfx1100");
    let unknown = LUID { LowPart: 0x8001, HighPart: 1 };
    let mut args = D3DKMT_OPENADAPTERFROMLUID { AdapterLuid: unknown, hAdapter: 0 };
    assert_eq!((open_luid(&mut args), args.hAdapter), (IP, 0));
    violations_are(&[]);
    args.hAdapter = 0x1234;
    assert_eq!((open_luid(&mut args), args.hAdapter), (OK, 0x1234));
    violations_are(&["was not zero"]);
    args.AdapterLuid.HighPart = 0;
    assert_eq!((open_luid(&mut args), args.hAdapter), (OK, 0x4000_0000));
    assert_eq!(close(args.hAdapter), OK);
}

#[test]
fn rule_22_close_of_zero_is_ok_and_double_close_is_ip() {
    let _bench = machine("gfx1100");
    assert_eq!(close(0), OK);
    let adapter = adapter();
    assert_eq!(close(adapter), OK);
    assert_eq!(close(adapter), IP);
    violations_are(&["is gone"]);
}

#[test]
fn rule_23_last_close_destroys_the_devices_of_that_adapter_only() {
    let _bench = machine("two-gfx1100");
    let (first, second) = (adapters(1), adapters(1));
    let (gone, kept) = (device(first[0].hAdapter), device(first[1].hAdapter));
    let queue = queue(gone);
    assert_eq!(close(first[0].hAdapter), OK);
    violations_are(&[]);
    assert_eq!(control::ledger().devices, 2);
    assert_eq!(close(second[0].hAdapter), OK);
    assert_eq!(control::ledger(), control::Ledger { adapter_opens: 2, devices: 1, ..control::Ledger::default() });
    assert_eq!(destroy_device(gone), IP);
    assert_eq!(destroy_queue(queue.hPagingQueue), IP);
    assert_eq!(destroy_device(kept), OK);
    violations_are(&["1 devices were alive", "is gone", "is gone"]);
}

#[test]
fn rule_131_a_stopped_adapter_answers_device_removed_and_is_not_listed() {
    let _bench = machine("two-gfx1100");
    let records = adapters(1);
    let stopped = records[0].hAdapter;
    let device = device(stopped);
    let queue = queue(device);
    assert!(control::set_active(0, false));
    let mut version = 0_u32;
    assert_eq!(query(stopped, kmtqaitype::DRIVERVERSION, &mut version), DR);
    assert_eq!(create_device(stopped), (DR, 0));
    assert_eq!(video_memory(&mut D3DKMT_QUERYVIDEOMEMORYINFO { hAdapter: stopped, ..zero() }), DR);
    assert_eq!(clock(&mut D3DKMT_QUERYCLOCKCALIBRATION { hAdapter: stopped, ..zero() }), DR);
    assert_eq!(escape_args(&mut D3DKMT_ESCAPE { hAdapter: stopped, ..zero() }), DR);
    assert_eq!(device_state(&mut D3DKMT_GETDEVICESTATE { hDevice: device, StateType: 1, ..zero() }), DR);
    assert_eq!(create_queue_args(&mut D3DKMT_CREATEPAGINGQUEUE { hDevice: device, ..zero() }), DR);
    let mut statistics = D3DKMT_QUERYSTATISTICS { AdapterLuid: records[0].AdapterLuid, ..zero() };
    statistics.QueryResult[0] = UNTOUCHED;
    assert_eq!((query_statistics(&mut statistics), statistics.QueryResult[0]), (OK, UNTOUCHED));
    let mut open = D3DKMT_OPENADAPTERFROMLUID { AdapterLuid: records[0].AdapterLuid, hAdapter: 0 };
    assert_eq!(open_luid(&mut open), IP);
    let (_, count, listed) = enum3_into(1, 16);
    assert_eq!((count, listed[0].AdapterLuid.LowPart), (1, 0x9001));
    assert_eq!(query(records[1].hAdapter, kmtqaitype::DRIVERVERSION, &mut version), OK);
    assert_eq!(destroy_queue(queue.hPagingQueue), DR, "the guest's object goes all the same");
    assert_eq!(control::ledger().paging_queues, 0);
    assert_eq!(destroy_device(device), OK);
    close_all(&records);
    close_all(&listed[..1]);
    assert_eq!(control::ledger().total(), 0);
    violations_are(&[]);
}
