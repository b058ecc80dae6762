//! The numbers of a WSL topology, and which adapters become nodes.

#[path = "common/embedded.rs"]
mod embedded;

use std::sync::Arc;

use dxcore::control;
use embedded::*;
use rocdxg::abi::*;
use rocdxg::process;

/// The last node of `machine`, with the sizes of its banks and caches.
fn last_node() -> (HsaNodeProperties, rocdxg::platform::Node) {
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    let last = acquire().expect("the machine has a topology") - 1;
    let whole = process::with_snapshot(|s| Ok(s.node(last)?.clone())).expect("the node exists");
    let properties = node(last);
    assert_eq!(properties, whole.properties);
    (properties, whole)
}

fn end() {
    assert_eq!(release(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_clean();
}

/// Node count, skip reasons and remarks of a fresh snapshot; everything is given back.
fn survey() -> (u32, Vec<String>, Vec<String>) {
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    let nodes = acquire().expect("the machine has a topology");
    let (skipped, remarks) = process::with_snapshot(|s| {
        Ok((s.skipped.iter().map(|s| format!("{}: {}", s.what, s.reason)).collect(), s.remarks.clone()))
    })
    .expect("the snapshot is live");
    end();
    (nodes, skipped, remarks)
}

fn marketing_name(node: &HsaNodeProperties) -> String {
    let units = node.MarketingName;
    let length = units.iter().position(|&unit| unit == 0).expect("names are ended");
    String::from_utf16(&units[..length]).expect("names are text")
}

#[test]
fn a_navi31_card() {
    let _machine = Machine::named("gfx1100");
    let (p, whole) = last_node();
    assert_eq!(({ p.NumCPUCores }, { p.NumFComputeCores }), (0, 192), "96 CUs of two SIMDs");
    assert_eq!(({ p.NumShaderBanks }, { p.NumArrays }, { p.NumCUPerArray }), (6, 2, 8));
    assert_eq!(({ p.NumSIMDPerCU }, { p.MaxWavesPerSIMD }, { p.WaveFrontSize }), (2, 16, 32));
    assert_eq!(({ p.LDSSizeInKB }, { p.GDSSizeInKB }, { p.LocalMemSize }), (64, 0, 0));
    assert_eq!((p.VendorId, p.DeviceId, p.LocationId), (0x1002, 0x744c, 0x300));
    assert_eq!((p.EngineId.get(HSA_ENGINE_ID::Major), { p.OverrideEngineId }.0), (11, 0));
    assert_eq!(&p.AMDName[..10], b"GFX0b0000\0");
    assert_eq!(marketing_name(&p), "AMD Radeon RX 7900 XTX");
    assert_eq!(({ p.KFDGpuID }, { p.DrmRenderMinor }, p.Integrated), (2, 1, 0));
    assert_eq!(({ p.LuidLowPart }, { p.LuidHighPart }), (0x8001, 0));
    assert_eq!(({ p.MaxEngineClockMhzFCompute }, { p.WallClockKHz }), (2371, 100_000));
    assert_eq!(({ p.VGPRSizePerCU }, { p.SGPRSizePerCU }), (0x60000, 0x4000));
    assert_eq!(({ p.NumSdmaEngines }, p.NumSdmaQueuesPerEngine, p.NumCpQueues), (2, 6, 8));
    assert_ne!({ p.UniqueID }, 0);
    let banks: Vec<_> = whole.banks.iter().map(|b| ({ b.HeapType }, { b.SizeInBytes })).collect();
    assert_eq!(
        banks,
        [
            (HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE, 24 << 30),
            (HSA_HEAPTYPE_GPU_LDS, 64 << 10),
            (HSA_HEAPTYPE_GPU_SCRATCH, 4 << 30)
        ]
    );
    assert_eq!({ whole.banks[0].MemoryClockMax }, 1249);
    assert_eq!(whole.caches.iter().map(|c| { c.CacheSize }).collect::<Vec<_>>(), [32, 6144, 98304]);
    assert_eq!(({ whole.links[0].NodeFrom }, { whole.links[0].NodeTo }, { whole.links[0].Weight }), (1, 0, 20));
    end();
}

#[test]
fn the_cpu_node_counts_what_it_has() {
    let _machine = Machine::named("no-amd");
    let (p, whole) = last_node();
    assert_ne!({ p.NumCPUCores }, 0);
    assert_eq!(({ p.NumFComputeCores }, { p.KFDGpuID }, { p.NumIOLinks }, { p.NumMemoryBanks }), (0, 0, 0, 1));
    assert_eq!({ p.NumCaches } as usize, whole.caches.len());
    assert_eq!({ whole.banks[0].HeapType }, HSA_HEAPTYPE_SYSTEM);
    assert_ne!({ whole.banks[0].SizeInBytes }, 0);
    end();
}

#[test]
fn identical_cards_differ_in_what_identifies_them() {
    let _machine = Machine::named("two-gfx1100");
    let (second, _) = last_node();
    let first = node(1);
    assert_eq!(first.DeviceId, second.DeviceId);
    assert_ne!({ first.KFDGpuID }, { second.KFDGpuID });
    assert_ne!(({ first.LuidLowPart }, { first.LuidHighPart }), ({ second.LuidLowPart }, { second.LuidHighPart }));
    assert_ne!({ first.LocationId }, { second.LocationId });
    assert_ne!({ first.UniqueID }, { second.UniqueID });
    end();
}

#[test]
fn an_apu_counts_shared_memory_and_is_integrated() {
    let _machine = Machine::named("dgpu-apu");
    let (apu, whole) = last_node();
    assert_eq!(apu.Integrated, 1);
    assert_eq!({ whole.links[0].IoLinkType }, HSA_IOLINK_TYPE_XGMI);
    assert_eq!(node(1).Integrated, 0);
    end();
}

#[test]
fn a_harvested_part_is_told_by_its_revision() {
    let _machine = Machine::named("harvested");
    let (p, _) = last_node();
    assert_eq!({ p.NumFComputeCores }, 2 * 84);
    assert_eq!({ p.NumCUPerArray }, 84 / 12);
    end();
}

#[test]
fn a_foreign_adapter_is_passed_over() {
    let _machine = Machine::named("foreign-first");
    let (nodes, skipped, _) = survey();
    assert_eq!(nodes, 2);
    assert!(!skipped.is_empty() && skipped.iter().all(|s| s.contains("not an AMD device")), "{skipped:?}");
}

#[test]
fn compute_only_adapters_are_seen() {
    let _machine = Machine::named("compute-only");
    assert_eq!(survey().0, 2);
}

#[test]
fn an_uncertain_model_needs_the_opt_in() {
    let mut machine = Machine::named("unlisted");
    let (nodes, skipped, _) = survey();
    assert_eq!(nodes, 1);
    assert!(skipped[0].contains("LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS"), "{skipped:?}");
    assert!(skipped[0].contains("[1002:"), "its ids are shown: {skipped:?}");

    machine.set("LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS", "maybe");
    let (nodes, _, remarks) = survey();
    assert_eq!(nodes, 1, "a malformed value is off");
    assert_eq!(remarks.iter().filter(|r| r.contains("model not certain")).count(), 0);

    machine.set("LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS", "on");
    let (nodes, skipped, remarks) = survey();
    assert_eq!((nodes, skipped.len()), (2, 0));
    assert_eq!(remarks.iter().filter(|r| r.contains("model not certain")).count(), 1, "{remarks:?}");
}

#[test]
fn an_unknown_id_needs_a_graphics_version_too() {
    let mut machine = Machine::named("unknown-id");
    assert!(survey().1[0].contains("not in the table"));
    machine.set("LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS", "1");
    assert!(survey().1[0].contains("HSA_OVERRIDE_GFX_VERSION"));
    machine.set("HSA_OVERRIDE_GFX_VERSION", "11.0.0");
    let (p, _) = last_node();
    assert_eq!(p.EngineId.get(HSA_ENGINE_ID::Major), 11);
    assert_eq!(p.OverrideEngineId.get(HSA_ENGINE_ID::Major), 11);
    assert_ne!({ p.NumFComputeCores }, 0);
    end();
}

#[test]
fn an_override_is_well_formed_or_there_is_no_snapshot() {
    let mut machine = Machine::named("gfx1100");
    for bad in ["11.0", "64.0.0", "x", "11.0.0.0"] {
        machine.set("HSA_OVERRIDE_GFX_VERSION", bad);
        assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
        assert_eq!(acquire(), Err(HSAKMT_STATUS_ERROR), "{bad}");
        assert_eq!(release(), HSAKMT_STATUS_INVALID_PARAMETER);
        assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
        assert_clean();
    }
    machine.set("HSA_OVERRIDE_GFX_VERSION", "10.3.0");
    let (p, _) = last_node();
    assert_eq!(p.EngineId.get(HSA_ENGINE_ID::Major), 11, "the real version stays");
    assert_eq!(p.OverrideEngineId.get(HSA_ENGINE_ID::Minor), 3);
    assert_eq!(&p.AMDName[..10], b"GFX0b0000\0");
    end();
}

#[test]
fn odd_values_of_other_variables_do_not_matter() {
    let mut machine = Machine::named("gfx1100");
    machine.set("ROCR_VISIBLE_DEVICES", "99999999999");
    machine.set("HSAKMT_DEBUG_LEVEL", "99999999999999999999");
    assert_eq!(survey().0, 2);
}

#[test]
fn a_device_lives_as_long_as_somebody_uses_it() {
    let _machine = Machine::named("two-gfx1100");
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(acquire(), Ok(3));
    let device = process::device(2).expect("node 2 is a GPU");
    assert!(matches!(process::device(0), Err(process::Error::NotGpu(0))));
    assert!(matches!(process::device(3), Err(process::Error::NoNode(_))));
    let other = Arc::clone(&device);
    assert_eq!(release(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(control::ledger().devices, 1, "the other one is closed");
    drop(device);
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(control::ledger().total(), 3, "adapter, device, paging queue");
    drop(other);
    assert_clean();
    assert!(matches!(process::device(1), Err(process::Error::NotOpened)));
}

#[test]
fn a_second_open_keeps_the_session_that_the_first_one_made() {
    let _machine = Machine::named("gfx1100");
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(acquire(), Ok(2));
    let device = process::device(1).expect("node 1 is a GPU");
    assert_eq!(open(), HSAKMT_STATUS_KERNEL_ALREADY_OPENED);
    assert!(Arc::ptr_eq(&device, &process::device(1).expect("still there")));
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert!(Arc::ptr_eq(&device, &process::device(1).expect("still there")));
    drop(device);
    end();
}

#[test]
fn a_provider_knows_more_than_the_public_side() {
    let mut machine = Machine::named("gfx1100");
    let test = std::env::current_exe().expect("the path of this test");
    let provider = test.parent().expect("tests lie in a folder").join("libdxcore.so");
    machine.set("ROCDXG_KMD_PROVIDER", provider.to_str().expect("paths here are text"));
    let (p, _) = last_node();
    assert_eq!(p.Capability.get(HSA_CAPABILITY::ASICRevision), 1);
    assert_eq!({ p.FamilyID }, 145);
    assert_eq!(p.EngineId.get(HSA_ENGINE_ID::uCode), 544);
    assert_eq!(({ p.NumFComputeCores }, { p.NumCUPerArray }), (192, 8));
    end();
    machine.set("ROCDXG_KMD_PROVIDER", "/nonexistent/provider.so");
    let (nodes, _, remarks) = survey();
    assert_eq!(nodes, 2, "the public side still serves");
    assert_eq!(remarks.iter().filter(|r| r.contains("/nonexistent/provider.so")).count(), 1, "{remarks:?}");
}

#[test]
fn an_adapter_whose_private_data_is_refused_is_skipped() {
    let mut machine = Machine::named("private-refused");
    let test = std::env::current_exe().expect("the path of this test");
    let provider = test.parent().expect("tests lie in a folder").join("libdxcore.so");
    machine.set("ROCDXG_KMD_PROVIDER", provider.to_str().expect("paths here are text"));
    let (_, skipped, _) = survey();
    assert!(skipped.iter().any(|s| s.contains("provider") && s.contains("STATUS_")), "{skipped:?}");
}

#[test]
fn a_cold_snapshot_costs_fewer_than_25_kernel_calls_per_adapter() {
    for (name, adapters) in [("gfx1100", 1), ("two-gfx1100", 2), ("dgpu-apu", 2), ("eight-gfx1100", 8)] {
        let _machine = Machine::named(name);
        survey();
        let calls = control::calls("Any").expect("any is a kind");
        assert!(calls < 25 * adapters, "{name}: {calls}");
        survey();
        assert_eq!(control::calls("Any"), Some(2 * calls), "a second one costs the same");
    }
}

#[test]
fn threads_that_wait_for_one_snapshot_all_get_it() {
    const THREADS: usize = 8;
    let _machine = Machine::named("gfx1100");
    for _ in 0..5 {
        assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
        control::set_delay(2000);
        let begin = std::time::Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| assert_eq!(acquire(), Ok(2)));
            }
        });
        control::set_delay(0);
        assert!(begin.elapsed().as_secs() < 10, "a waiter was forgotten");
        for _ in 0..THREADS {
            assert_eq!(release(), HSAKMT_STATUS_SUCCESS);
        }
        assert_eq!(release(), HSAKMT_STATUS_INVALID_PARAMETER);
        assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
        assert_clean();
    }
}

#[test]
fn names_that_are_no_text_harm_nobody() {
    let usual = include_str!("../fakes/machines/gfx1100.toml");
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("odd.toml");
    let endless = format!("[{}]", ["0x41"; 260].join(", "));
    for name in ["[0xd800, 0x110000, 0x1b, 0x0a, 0x42]", "[0]", "[]", &endless] {
        let odd = usual.replacen("name = \"AMD Radeon RX 7900 XTX\"", &format!("name = {name}"), 1);
        assert_ne!(odd, usual);
        std::fs::write(&file, odd).expect("the folder is ours");
        let _machine = Machine::named(file.to_str().expect("paths here are text"));
        let (p, _) = last_node();
        assert_eq!({ p.NumFComputeCores }, 192, "the revision tells the model all the same");
        assert_eq!({ p.MarketingName }[63], 0, "the name is ended");
        assert!(!marketing_name(&p).is_empty(), "the table has a name where the driver has none");
        end();
    }
}
