//! Statistics, budgets and clocks: rules 28 to 31 and 34.

use dxcore::d3dkmt::*;

use crate::kit::*;

const LUID_OF_FIRST: LUID = LUID { LowPart: 0x8001, HighPart: 0 };

fn statistics(kind: u32, index: u32) -> (Status, D3DKMT_QUERYSTATISTICS) {
    let mut args = D3DKMT_QUERYSTATISTICS { Type: kind, AdapterLuid: LUID_OF_FIRST, Index: index, ..zero() };
    (query_statistics(&mut args), args)
}

fn segment(index: u32) -> Option<D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION> {
    let (status, args) = statistics(query_statistics::SEGMENT, index);
    // SAFETY: the result is larger than the structure, which holds integers only.
    (status == OK).then(|| unsafe {
        args.QueryResult.as_ptr().cast::<D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION>().read_unaligned()
    })
}

#[test]
fn statistics_count_segments_and_nodes_and_describe_each() {
    let _bench = machine("gfx1100");
    let (status, adapter) = statistics(query_statistics::ADAPTER, 0);
    assert_eq!((status, &adapter.QueryResult[..3]), (OK, &[3, 8, 0][..]));
    assert_eq!(adapter.AdapterLuid.LowPart, LUID_OF_FIRST.LowPart);
    let kinds: Vec<_> = (0..3)
        .map(|i| segment(i).unwrap())
        .map(|s| (s.CommitLimit, s.Aperture, s.SegmentProperties, s.BytesResident))
        .collect();
    assert_eq!(kinds, [(256 << 20, 0, 0, 0), ((24 << 30) - (256 << 20), 0, 0, 0), (16 << 30, 1, 1, 0)]);
    drop(_bench);
    let _bench = machine("apu");
    let mut args =
        D3DKMT_QUERYSTATISTICS { Type: 3, AdapterLuid: LUID { LowPart: 0x9001, HighPart: 0 }, Index: 1, ..zero() };
    assert_eq!(query_statistics(&mut args), OK);
    assert_eq!((args.QueryResult[10], args.QueryResult[26]), (0, 1), "system memory that is no aperture");
}

#[test]
fn rule_28_unknown_luid_is_ok_and_output_is_left_as_it_was() {
    let _bench = machine("gfx1100");
    let mut args = D3DKMT_QUERYSTATISTICS { AdapterLuid: LUID { LowPart: 1, HighPart: 0 }, ..zero() };
    args.QueryResult = [0xa5a5_a5a5; 194];
    assert_eq!(query_statistics(&mut args), OK);
    assert_eq!(args.QueryResult, [0xa5a5_a5a5; 194]);
}

#[test]
fn rule_29_foreign_pid_and_bad_index_are_ip() {
    let _bench = machine("gfx1100");
    // SAFETY: no arguments, cannot fail.
    let own = unsafe { libc::gettid() } as u64;
    let mut args = D3DKMT_QUERYSTATISTICS { AdapterLuid: LUID_OF_FIRST, ..zero() };
    assert_eq!(query_statistics(&mut args), OK);
    args.hProcess = own;
    assert_eq!((query_statistics(&mut args), args.hProcess), (OK, 0), "the id of the thread that opened the device");
    args.hProcess = 1;
    assert_eq!(query_statistics(&mut args), IP);
    args.AdapterLuid.LowPart = 1;
    assert_eq!(query_statistics(&mut args), IP, "the process is looked at before the adapter");
    assert!(segment(2).is_some());
    assert!(segment(3).is_none());
    assert_eq!(statistics(query_statistics::NODE, 7).0, OK);
    for (kind, index) in [(query_statistics::NODE, 8), (query_statistics::SEGMENT, u32::MAX), (99, 0)] {
        let (status, args) = statistics(kind, index);
        assert_eq!((status, args.QueryResult), (IP, [0; 194]));
    }
}

#[test]
fn rule_30_video_memory_of_another_process_is_ip() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut args = D3DKMT_QUERYVIDEOMEMORYINFO { hAdapter: adapter, hProcess: 1, Budget: 5, ..zero() };
    assert_eq!((video_memory(&mut args), args.Budget), (IP, 5));
    violations_are(&["process 0x1"]);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_31_bad_group_or_physical_index_is_ok_with_zeros() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let budget = |group, physical| {
        let mut args = D3DKMT_QUERYVIDEOMEMORYINFO {
            hAdapter: adapter,
            MemorySegmentGroup: group,
            PhysicalAdapterIndex: physical,
            Budget: 7,
            CurrentUsage: 7,
            ..zero()
        };
        assert_eq!(video_memory(&mut args), OK);
        assert_eq!(args.CurrentUsage, 0);
        args.Budget
    };
    assert!((20 << 30..24 << 30).contains(&budget(0, 0)));
    assert!((10 << 30..16 << 30).contains(&budget(1, 0)));
    assert_eq!((budget(2, 0), budget(0, 1)), (0, 0));
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn rule_34_clock_data_are_overwritten_even_on_failure() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let read = |node| {
        let mut args = D3DKMT_QUERYCLOCKCALIBRATION { hAdapter: adapter, NodeOrdinal: node, ..zero() };
        args.ClockData.GpuFrequency = 77;
        let status = clock(&mut args);
        (status, args.ClockData)
    };
    let ((first, a), (second, b)) = (read(0), read(7));
    assert_eq!((first, second), (OK, OK));
    assert_eq!({ a.GpuFrequency }, 100_000_000);
    assert!({ b.GpuClockCounter } >= { a.GpuClockCounter } && { a.GpuClockCounter } > 0);
    assert!({ b.CpuClockCounter } >= { a.CpuClockCounter } && { a.CpuClockCounter } > 0);
    let (status, data) = read(8);
    assert_eq!((status, { data.GpuFrequency }), (IP, 0));
    assert_eq!(clock(&mut D3DKMT_QUERYCLOCKCALIBRATION { hAdapter: 0, ..zero() }), IP);
    violations_are(&["is zero"]);
    assert_eq!(close(adapter), OK);
}
