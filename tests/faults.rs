//! Every kernel call that fails, at every place where it is made, on every machine.

#[path = "common/embedded.rs"]
mod embedded;

use dxcore::control;
use dxcore::d3dkmt::ntstatus;
use embedded::*;
use rocdxg::abi::*;
use rocdxg::process;

const MACHINES: [&str; 9] =
    ["gfx1100", "two-gfx1100", "dgpu-apu", "apu", "foreign-first", "no-amd", "harvested", "compute-only", "none"];

/// Without this call there is no list of adapters, and no snapshot.
const LIST: &str = "EnumAdapters3";
/// Without these an adapter is no node.
const NEEDED: [&str; 4] = ["QueryAdapterInfo/31", "QueryAdapterInfo/3", "CreateDevice", "CreatePagingQueue"];
/// Without these a node knows less.
const OPTIONAL: [&str; 9] = [
    "QueryAdapterInfo/6",
    "QueryAdapterInfo/8",
    "QueryAdapterInfo/13",
    "QueryAdapterInfo/25",
    "QueryAdapterInfo/60",
    "QueryAdapterInfo/61",
    "QueryAdapterInfo/62",
    "QueryStatistics",
    "QueryClockCalibration",
];
/// These give something back.
const CLOSING: [&str; 3] = ["DestroyPagingQueue", "DestroyDevice", "CloseAdapter"];

/// What a failure looks like to the thunk: the status of the call, or what the stack shows of a host that refuses.
const FAILURES: [Option<i32>; 5] = [
    None,
    Some(ntstatus::NO_MEMORY),
    Some(ntstatus::DEVICE_REMOVED),
    Some(ntstatus::UNSUCCESSFUL),
    Some(ntstatus::TIMEOUT),
];

/// What a caller sees of a failing call where nothing can go on.
fn visible(kind: &str, status: Option<i32>) -> HSAKMT_STATUS {
    match (status, kind) {
        // The kernel ignores the host's answer to this one; what the guest itself fails still shows.
        (None | Some(ntstatus::TIMEOUT), "DestroyDevice") => HSAKMT_STATUS_SUCCESS,
        // Listing asks no host: what it lacks is memory of its own.
        (None, LIST) | (Some(ntstatus::NO_MEMORY), _) => HSAKMT_STATUS_NO_MEMORY,
        (Some(ntstatus::UNSUCCESSFUL | ntstatus::TIMEOUT | ntstatus::DEVICE_REMOVED), _) => {
            HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR
        }
        (_, _) => HSAKMT_STATUS_ERROR,
    }
}

/// What a snapshot says beside its nodes.
#[derive(Debug)]
struct Seen {
    nodes: u32,
    skipped: Vec<String>,
    remarks: Vec<String>,
}

fn seen(nodes: u32) -> Seen {
    process::with_snapshot(|snapshot| {
        let skipped = snapshot.skipped.iter().map(|s| format!("{}: {}", s.what, s.reason)).collect();
        Ok(Seen { nodes, skipped, remarks: snapshot.remarks.clone() })
    })
    .expect("the snapshot is live")
}

/// Open, acquire, release, close without a failure; returns what was seen.
fn round_trip() -> Seen {
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    let seen = seen(acquire().expect("nothing fails"));
    assert_eq!(release(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_clean();
    seen
}

fn call_name(kind: &str) -> String {
    format!("D3DKMT{}", kind.split('/').next().expect("a name"))
}

/// The kinds of calls of one round trip with how often each is made; nothing that the thunk calls is missing.
fn kinds() -> Vec<(&'static str, u64)> {
    control::reset().expect("nothing is alive");
    round_trip();
    let all = [LIST].into_iter().chain(NEEDED).chain(OPTIONAL).chain(CLOSING);
    let kinds: Vec<_> = all.map(|kind| (kind, control::calls(kind).expect("the name is a kind"))).collect();
    assert_eq!(kinds.iter().map(|(_, count)| count).sum::<u64>(), control::calls("Any").expect("any is a kind"));
    kinds
}

#[test]
fn every_call_may_fail_everywhere() {
    for name in MACHINES {
        let _machine = Machine::named(name);
        let whole = round_trip();
        for (kind, count) in kinds() {
            for k in 1..=count {
                for status in FAILURES {
                    let place = format!("{name}: {kind} #{k} {status:x?}");
                    control::reset().expect("nothing is alive");
                    assert!(control::fail(kind, k, status));
                    assert_eq!(open(), HSAKMT_STATUS_SUCCESS, "{place}: opening calls no adapter");
                    check_acquire(&place, kind, &whole, visible(kind, status));
                    assert_eq!(close(), HSAKMT_STATUS_SUCCESS, "{place}");
                    assert_clean();
                    assert_eq!(round_trip().nodes, whole.nodes, "{place}: afterwards");
                }
            }
        }
    }
}

/// Acquires with one call failing, and releases.
fn check_acquire(place: &str, kind: &str, whole: &Seen, visible: HSAKMT_STATUS) {
    let acquired = acquire();
    if kind == LIST {
        assert_eq!(acquired, Err(visible), "{place}");
        assert_eq!(release(), HSAKMT_STATUS_INVALID_PARAMETER, "{place}: no reference was taken");
        return;
    }
    let seen = seen(acquired.unwrap_or_else(|status| panic!("{place}: {status:?}")));
    let call = call_name(kind);
    if NEEDED.contains(&kind) {
        // The adapter whose call failed is skipped with the call's name and status; the others stay.
        let naming: Vec<_> = seen.skipped.iter().filter(|s| s.contains(&call)).collect();
        assert_eq!(naming.len(), 1, "{place}: {seen:?}");
        assert!(naming[0].contains("STATUS_") && naming[0].starts_with("adapter "), "{place}: {naming:?}");
        let lost = seen.skipped.len() - whole.skipped.len();
        assert_eq!(seen.nodes as usize + lost, whole.nodes as usize, "{place}: {seen:?}");
    } else {
        assert_eq!(seen.nodes, whole.nodes, "{place}: {seen:?}");
        if OPTIONAL.contains(&kind) {
            assert_eq!(seen.remarks.iter().filter(|r| r.contains(&call)).count(), 1, "{place}: {seen:?}");
        }
    }
    assert_eq!(release(), HSAKMT_STATUS_SUCCESS, "{place}: the reference is given back whatever a driver says");
}

#[test]
fn the_last_close_goes_to_the_end_and_returns_the_first_error() {
    for name in MACHINES {
        let _machine = Machine::named(name);
        for kind in CLOSING {
            for status in FAILURES {
                control::reset().expect("nothing is alive");
                assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
                let nodes = acquire().expect("nothing fails yet");
                // Fails from here on, once.
                assert!(control::fail(kind, 1, status));
                let expected = if nodes > 1 { visible(kind, status) } else { HSAKMT_STATUS_SUCCESS };
                assert_eq!(close(), expected, "{name}: {kind} {status:x?}");
                assert_eq!(close(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
                assert_clean();
                control::reset().expect("nothing is alive");
                assert_eq!(round_trip().nodes, nodes);
            }
        }
    }
}

#[test]
fn an_adapter_that_appears_between_counting_and_listing_is_found() {
    let _machine = Machine::named("hotplug");
    let seen = round_trip();
    assert!(seen.nodes >= 2, "{seen:?}");
}

#[test]
fn handles_that_repeat_at_once_and_collide_are_never_mixed_up() {
    for handles in [
        control::Handles { reuse: true, collide: false },
        control::Handles { reuse: false, collide: true },
        control::Handles { reuse: true, collide: true },
    ] {
        let _machine = Machine::named("two-gfx1100");
        control::set_handles(handles).expect("nothing is alive");
        for _ in 0..3 {
            assert_eq!(round_trip().nodes, 3);
        }
        control::set_handles(control::Handles::default()).expect("nothing is alive");
    }
}
