//! What users of the original hit, each report by its number in the project's log of reports. Rows that a test of
//! another file is about are not repeated here.

#[path = "common/embedded.rs"]
mod embedded;

use std::time::{Duration, Instant};

use dxcore::control;
use embedded::*;
use rocdxg::abi::*;
use rocdxg::process;

#[test]
fn b001_the_first_close_of_two_users_leaves_the_topology() {
    let _machine = Machine::named("gfx1100");
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(open(), HSAKMT_STATUS_KERNEL_ALREADY_OPENED);
    assert_eq!(acquire(), Ok(2));
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_eq!({ node(1).DeviceId }, 0x744c);
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(close(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
    assert_clean();
}

#[test]
fn b037_adapters_that_answer_nothing_leave_the_cpu_and_a_reason_each() {
    let _machine = Machine::named("two-gfx1100");
    assert!(control::fail("QueryAdapterInfo", 0, None));
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(acquire(), Ok(1));
    assert_ne!({ node(0).NumCPUCores }, 0);
    let skipped = process::with_snapshot(|s| Ok(s.skipped.clone())).expect("the snapshot is live");
    assert_eq!(skipped.len(), 2);
    assert!(skipped.iter().all(|s| s.expected && s.reason.contains("STATUS_INVALID_PARAMETER")), "{skipped:?}");
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_clean();
}

#[test]
fn b039_each_adapter_has_its_own_name_and_can_be_matched() {
    let _machine = Machine::named("dgpu-apu");
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(acquire(), Ok(3));
    let (card, apu) = (node(1), node(2));
    let name = |node: &HsaNodeProperties| String::from_utf16_lossy(&{ node.MarketingName });
    assert!(name(&card).starts_with("AMD Radeon RX 7900 XTX\0"));
    assert!(name(&apu).starts_with("AMD Radeon 780M Graphics\0"));
    assert_ne!({ card.LuidLowPart }, { apu.LuidLowPart });
    assert_ne!({ card.LocationId }, { apu.LocationId });
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_clean();
}

#[test]
fn b052_units_are_compute_units_and_not_pairs_of_them() {
    let _machine = Machine::named("gfx1100");
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(acquire(), Ok(2));
    let gpu = node(1);
    assert_eq!({ gpu.NumFComputeCores } / { gpu.NumSIMDPerCU }, 96);
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_clean();
}

#[test]
fn b107_no_gpu_is_the_same_answer_every_time_and_quick() {
    for name in ["no-amd", "none"] {
        let _machine = Machine::named(name);
        let mut quickest = Duration::MAX;
        for _ in 0..5 {
            let begin = Instant::now();
            assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
            assert_eq!(acquire(), Ok(1));
            quickest = quickest.min(begin.elapsed());
            assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
            assert_clean();
        }
        // The best of five, since other tests may have the machine.
        assert!(quickest < Duration::from_millis(100), "{quickest:?}");
    }
}
