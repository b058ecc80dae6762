//! Failures on request, bad pointers, statuses of the host: rules 132 and 133.

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

use dxcore::control;
use dxcore::d3dkmt::*;

use crate::kit::*;

const ENTRY_POINTS: [&str; 14] = [
    "D3DKMTEnumAdapters2",
    "D3DKMTEnumAdapters3",
    "D3DKMTOpenAdapterFromLuid",
    "D3DKMTCloseAdapter",
    "D3DKMTQueryAdapterInfo",
    "D3DKMTQueryStatistics",
    "D3DKMTQueryVideoMemoryInfo",
    "D3DKMTQueryClockCalibration",
    "D3DKMTEscape",
    "D3DKMTCreateDevice",
    "D3DKMTDestroyDevice",
    "D3DKMTGetDeviceState",
    "D3DKMTCreatePagingQueue",
    "D3DKMTDestroyPagingQueue",
];

#[test]
fn rule_132_unreadable_arguments_are_unsuccessful_and_ip_on_older_kernels() {
    for (older, status) in [(false, UNS), (true, IP)] {
        let _bench = machine_of(&format!("kernel = {{ older = {older} }}\n{}", variant(&[])));
        for symbol in ENTRY_POINTS {
            for wild in [null_mut(), without_provenance_mut(8), without_provenance_mut::<c_void>(usize::MAX - 64)] {
                // SAFETY: none of these addresses can be accessed.
                assert_eq!(unsafe { dxcore_call(symbol, wild) }, status, "{symbol} {wild:p}");
            }
        }
        assert_eq!(control::violations().len(), 3 * ENTRY_POINTS.len());
        assert_eq!(control::ledger().total(), 0);
    }
}

/// A page that holds `value` at its end and cannot be written.
fn read_only<T: Copy>(value: T) -> *mut T {
    // SAFETY: a new page, written before it becomes read-only, and leaked with the test.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let page = libc::mmap(null_mut(), 8192, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        let place = page.cast::<u8>().add(4096 - size_of::<T>().next_multiple_of(8)).cast::<T>();
        place.write(value);
        assert_eq!(libc::mprotect(page, 8192, libc::PROT_READ), 0);
        place
    }
}

#[test]
fn rule_132_unwritable_outputs_are_unsuccessful_and_leave_nothing() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let before = control::ledger();
    let enum3 = D3DKMT_ENUMADAPTERS3 { Filter: 1, NumAdapters: 4, pAdapters: without_provenance_mut(4096) };
    let luid = D3DKMT_OPENADAPTERFROMLUID { AdapterLuid: LUID { LowPart: 0x8001, HighPart: 0 }, hAdapter: 0 };
    let create = D3DKMT_CREATEDEVICE { hAdapter: adapter.into(), ..zero() };
    let queue = D3DKMT_CREATEPAGINGQUEUE { hDevice: device, ..zero() };
    let query = D3DKMT_QUERYADAPTERINFO {
        hAdapter: adapter,
        Type: kmtqaitype::DRIVERVERSION,
        pPrivateDriverData: read_only(0_u32).cast(),
        PrivateDriverDataSize: 4,
    };
    let calls: [(&str, *mut c_void); 5] = [
        ("D3DKMTEnumAdapters3", Box::into_raw(Box::new(enum3)).cast()),
        ("D3DKMTOpenAdapterFromLuid", read_only(luid).cast()),
        ("D3DKMTCreateDevice", read_only(create).cast()),
        ("D3DKMTCreatePagingQueue", read_only(queue).cast()),
        ("D3DKMTQueryAdapterInfo", Box::into_raw(Box::new(query)).cast()),
    ];
    for (symbol, args) in calls {
        // SAFETY: each points to its call's argument.
        assert_eq!(unsafe { dxcore_call(symbol, args) }, UNS, "{symbol}");
        assert_eq!(control::ledger(), before, "{symbol}");
    }
    violations_are(&["cannot write"; 5]);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_133_host_failures_that_have_no_name_are_ip() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut version = 0_u32;
    for (host, seen) in [
        (0xC01E_0100_u32, IP),                  // GRAPHICS_NO_VIDEO_MEMORY
        (0xC01E_0200, IP),                      // GRAPHICS_GPU_EXCEPTION_ON_DEVICE
        (0xC000_0059, IP),                      // REVISION_MISMATCH
        (0xC000_0002, ntstatus::NOT_SUPPORTED), // NOT_IMPLEMENTED
        (0xC000_00BB, ntstatus::NOT_SUPPORTED),
        (0xC000_0034, NAME_INVALID), // OBJECT_NAME_NOT_FOUND
        (0xC000_0017, NM),
        (0xC000_02B6, DR),
        (0x0000_0102, TIMEOUT),
        (0xC000_0001, UNS),
    ] {
        assert!(control::fail("QueryAdapterInfo", 1, Some(host as Status)));
        assert_eq!(query(adapter, kmtqaitype::DRIVERVERSION, &mut version), seen, "{host:#x}");
        assert_eq!(version, 0, "the buffer stays");
    }
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

/// Makes the next call of a kind fail and returns what `call` makes of it.
fn failing(name: &str, status: Option<Status>, call: impl FnOnce() -> Status) -> Status {
    assert!(control::fail(name, 1, status));
    call()
}

#[test]
fn each_kind_fails_as_the_real_stack_shows_it() {
    let _bench = machine("gfx1100");
    assert_eq!(failing("EnumAdapters2", None, || enum2(&mut zero_enum2())), NM);
    assert_eq!(failing("EnumAdapters3", None, || enum3(&mut zero_enum3())), NM);
    let mut luid = D3DKMT_OPENADAPTERFROMLUID { AdapterLuid: LUID { LowPart: 0x8001, HighPart: 0 }, hAdapter: 0 };
    assert_eq!(failing("OpenAdapterFromLuid", None, || open_luid(&mut luid)), IP);
    let adapter = adapter();
    let device = device(adapter);
    let mut version = 0_u32;
    assert_eq!(failing("QueryAdapterInfo", None, || query(adapter, kmtqaitype::DRIVERVERSION, &mut version)), IP);
    let mut statistics = D3DKMT_QUERYSTATISTICS { AdapterLuid: luid.AdapterLuid, ..zero() };
    assert_eq!(failing("QueryStatistics", None, || query_statistics(&mut statistics)), IP);
    assert_eq!(statistics.QueryResult[0], 0);
    let mut memory = D3DKMT_QUERYVIDEOMEMORYINFO { hAdapter: adapter, Budget: 9, ..zero() };
    assert_eq!(failing("QueryVideoMemoryInfo", None, || video_memory(&mut memory)), OK);
    assert_eq!(memory.Budget, 0, "lost: success with whatever came back");
    let mut clocks = D3DKMT_QUERYCLOCKCALIBRATION { hAdapter: adapter, ..zero() };
    clocks.ClockData.GpuFrequency = 9;
    assert_eq!(failing("QueryClockCalibration", None, || clock(&mut clocks)), IP);
    assert_eq!({ clocks.ClockData.GpuFrequency }, 0);
    let mut escape = D3DKMT_ESCAPE { hAdapter: adapter, Flags: escape::DRIVER_KNOWN_ESCAPE, ..zero() };
    let mut data = [0_u8; 4];
    escape.pPrivateDriverData = data.as_mut_ptr().cast();
    escape.PrivateDriverDataSize = 4;
    assert_eq!(failing("Escape", None, || escape_args(&mut escape)), BTS);
    assert_eq!(failing("CreateDevice", None, || create_device(adapter).0), OK);
    let mut state = D3DKMT_GETDEVICESTATE { hDevice: device, StateType: 1, ..zero() };
    assert_eq!(failing("GetDeviceState", None, || device_state(&mut state)), IP);
    let mut create = D3DKMT_CREATEPAGINGQUEUE { hDevice: device, ..zero() };
    assert_eq!(failing("CreatePagingQueue", None, || create_queue_args(&mut create)), BTS);
    assert_eq!(control::ledger().total(), 2);

    let queue = queue(device).hPagingQueue;
    assert_eq!(failing("DestroyPagingQueue", None, || destroy_queue(queue)), IP);
    assert_eq!(failing("DestroyDevice", None, || destroy_device(device)), OK, "the host's answer is ignored");
    assert_eq!(failing("CloseAdapter", None, || close(adapter)), IP);
    assert_eq!(control::ledger().total(), 0, "a destroying call destroys before it fails");
    violations_are(&[]);
}

fn zero_enum2() -> D3DKMT_ENUMADAPTERS2 {
    D3DKMT_ENUMADAPTERS2 { NumAdapters: 0, pAdapters: null_mut() }
}

fn zero_enum3() -> D3DKMT_ENUMADAPTERS3 {
    D3DKMT_ENUMADAPTERS3 { Filter: 0, NumAdapters: 0, pAdapters: null_mut() }
}

#[test]
fn the_kth_call_fails_by_kind_by_query_type_and_by_position() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let ask = |kind| {
        let mut ids: D3DKMT_QUERY_DEVICE_IDS = zero();
        let mut version = 0_u32;
        if kind == 31 { query(adapter, 31, &mut ids) } else { query(adapter, kind, &mut version) }
    };
    assert!(control::fail("QueryAdapterInfo/31", 2, None));
    assert_eq!([13, 31, 13, 31, 31].map(ask), [OK, OK, OK, IP, OK]);
    assert!(control::fail("QueryAdapterInfo", 3, Some(NM)));
    assert_eq!([13, 31, 13, 13].map(ask), [OK, OK, NM, OK]);
    assert!(control::fail("D3DKMTQueryAdapterInfo", 0, Some(DR)));
    assert_eq!([13, 31].map(ask), [DR, DR], "0 fails every one");
    assert_eq!(control::calls("QueryAdapterInfo"), Some(11));
    assert_eq!(control::calls("QueryAdapterInfo/31"), Some(5));
    assert_eq!(control::calls("Any"), Some(12));
    assert_eq!(control::calls("Nothing"), None);
    for unknown in ["", "Nothing", "QueryAdapterInfo/x", "any"] {
        assert!(!control::fail(unknown, 1, None), "{unknown}");
    }
    assert_eq!(close(adapter), OK);

    control::reset().unwrap();
    let adapter = self::adapter();
    assert_eq!(control::calls("Any"), Some(1), "reset forgets");
    assert!(control::fail("Any", 2, Some(NM)));
    assert_eq!([13, 13].map(|kind| query(adapter, kind, &mut 0_u32)), [OK, NM]);
    assert_eq!(control::reset(), Err("1 kernel objects are alive".into()));
    assert_eq!(close(adapter), OK);
}

#[test]
fn a_bad_handle_is_told_before_the_host_fails() {
    let _bench = machine("gfx1100");
    assert!(control::fail("CreateDevice", 1, None));
    assert_eq!(create_device(0x4000_0000), (IP, 0));
    violations_are(&["was never issued"]);
}
