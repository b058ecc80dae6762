//! Every captured KFD tree gives the table that was checked by hand, and the one that a second reader finds.

#[path = "common/dump.rs"]
mod dump;
#[path = "common/kfd_tree.rs"]
mod kfd_tree;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use kfd_tree::{CAPTURED, Tree};
use rocdxg::abi::{HSA_CAPABILITY, HSA_ENGINE_ID, HSA_ENGINE_VERSION, HSA_IOLINK_TYPE_XGMI};
use rocdxg::topology::{Snapshot, read_tree};

fn read(tree: &Tree) -> Snapshot {
    read_tree(tree.path()).expect("a captured tree is readable")
}

/// The snapshot of a captured tree; each is unpacked once.
fn snapshot(name: &str) -> &'static Snapshot {
    static ALL: LazyLock<BTreeMap<&str, Snapshot>> =
        LazyLock::new(|| CAPTURED.iter().map(|name| (*name, read(&Tree::captured(name)))).collect());
    &ALL[name]
}

/// `ROCDXG_BLESS=1` rewrites the files; what changed is then to be checked against the trees.
#[test]
fn captured_trees_match_their_golden_files() {
    for name in CAPTURED {
        let text = dump::dump(snapshot(name));
        serde_json::from_str::<serde_json::Value>(&text).expect("the dump is JSON");
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/kfd/{name}.json"));
        if std::env::var_os("ROCDXG_BLESS").is_some() {
            fs::write(&golden, &text).expect("written");
        }
        let wanted = fs::read_to_string(&golden).unwrap_or_default();
        for (line, (found, wanted)) in text.lines().zip(wanted.lines()).enumerate() {
            assert_eq!(found, wanted, "{name}.json, line {}", line + 1);
        }
        assert_eq!(text.lines().count(), wanted.lines().count(), "{name}");
    }
}

/// The number behind a key, found without the library: 0 where it is not there.
fn grep(file: &Path, key: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(key));
    line.map_or(0, |line| line.split_whitespace().nth(1).expect("a value").parse().expect("a number"))
}

/// Sub-folders 0, 1, 2 ... of `folder`, as far as they go.
fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    (0..).map(|n| folder.join(n.to_string()).join("properties")).take_while(|file| file.exists()).collect()
}

/// Node folders in order, without later nodes of a gpu_id that was there before.
fn node_folders(tree: &Path) -> Vec<(u64, std::path::PathBuf)> {
    let mut ids = Vec::new();
    let all = (0..200u64).map(|n| (n, tree.join(format!("nodes/{n}")))).filter(|(_, folder)| folder.exists());
    all.filter(|(_, folder)| {
        let id = fs::read_to_string(folder.join("gpu_id")).map_or(0, |text| text.trim().parse::<u64>().expect("id"));
        let twin = id != 0 && ids.contains(&id);
        ids.push(id);
        !twin
    })
    .collect()
}

#[test]
fn every_field_of_every_node_is_what_the_tree_says() {
    let mut nodes_compared = 0;
    for name in CAPTURED {
        let tree = Tree::captured(name);
        let found = read(&tree);
        let folders = node_folders(tree.path());
        assert_eq!(found.nodes.len(), folders.len(), "{name}");
        assert_eq!(found.system.NumNodes as usize, folders.len(), "{name}");
        let system = tree.path().join("system_properties");
        let expected = ["platform_oem", "platform_id", "platform_rev"].map(|key| grep(&system, key) as u32);
        assert_eq!([found.system.PlatformOem, found.system.PlatformId, found.system.PlatformRev], expected, "{name}");
        for (node, (number, folder)) in found.nodes.iter().zip(&folders) {
            let p = node.properties;
            let key = |key: &str| grep(&folder.join("properties"), key);
            let fields: &[(&str, u64)] = &[
                ("cpu_cores_count", p.NumCPUCores.into()),
                ("simd_count", p.NumFComputeCores.into()),
                ("cpu_core_id_base", p.CComputeIdLo.into()),
                ("simd_id_base", p.FComputeIdLo.into()),
                ("capability", p.Capability.0.into()),
                ("max_waves_per_simd", p.MaxWavesPerSIMD.into()),
                ("lds_size_in_kb", p.LDSSizeInKB.into()),
                ("gds_size_in_kb", p.GDSSizeInKB.into()),
                ("wave_front_size", p.WaveFrontSize.into()),
                ("simd_arrays_per_engine", p.NumArrays.into()),
                ("cu_per_simd_array", p.NumCUPerArray.into()),
                ("simd_per_cu", p.NumSIMDPerCU.into()),
                ("max_slots_scratch_cu", p.MaxSlotsScratchCU.into()),
                ("vendor_id", p.VendorId.into()),
                ("device_id", p.DeviceId.into()),
                ("location_id", p.LocationId.into()),
                ("domain", p.Domain.into()),
                ("max_engine_clk_fcompute", p.MaxEngineClockMhzFCompute.into()),
                ("max_engine_clk_ccompute", p.MaxEngineClockMhzCCompute.into()),
                ("local_mem_size", p.LocalMemSize),
                ("drm_render_minor", p.DrmRenderMinor as u64),
                ("hive_id", p.HiveID),
                ("unique_id", p.UniqueID),
                ("debug_prop", p.DebugProperties.0),
                ("num_sdma_engines", p.NumSdmaEngines.into()),
                ("num_sdma_xgmi_engines", p.NumSdmaXgmiEngines.into()),
                ("num_sdma_queues_per_engine", p.NumSdmaQueuesPerEngine.into()),
                ("num_cp_queues", p.NumCpQueues.into()),
                ("num_gws", p.NumGws.into()),
            ];
            for (wanted, value) in fields {
                assert_eq!(*value, key(wanted), "{name} node {number} {wanted}");
            }
            let gpu_id = fs::read_to_string(folder.join("gpu_id")).unwrap_or_default();
            assert_eq!(u64::from(p.KFDGpuID), gpu_id.trim().parse().unwrap_or(0), "{name} node {number}");
            assert_eq!(u64::from(p.EngineId.get(HSA_ENGINE_ID::uCode)), key("fw_version") % 1024);
            assert_eq!(
                u64::from(p.uCodeEngineVersions.get(HSA_ENGINE_VERSION::uCodeSDMA)),
                key("sdma_fw_version") % 1024
            );
            if key("simd_count") != 0 {
                let engines = key("array_count") / key("simd_arrays_per_engine");
                assert_eq!(u64::from(p.NumShaderBanks), engines, "{name} node {number}");
                assert_eq!(u64::from(p.NumXcc), key("num_xcc").max(1), "{name} node {number}");
                assert_eq!(p.SGPRSizePerCU, 16384);
            } else {
                assert_eq!((p.NumShaderBanks, p.NumXcc, p.SGPRSizePerCU, p.EngineId.0), (0, 0, 0, 0));
            }
            check_lists(name, *number, folder, node, &folders);
            nodes_compared += 1;
        }
    }
    assert_eq!(nodes_compared, 2 + 10 + 34 + 65 + 8 + 2 + 1);
}

fn check_lists(
    name: &str,
    number: u64,
    folder: &Path,
    node: &rocdxg::platform::Node,
    folders: &[(u64, std::path::PathBuf)],
) {
    let counts = (node.properties.NumMemoryBanks, node.properties.NumCaches, node.properties.NumIOLinks);
    assert_eq!(counts, (node.banks.len() as u32, node.caches.len() as u32, node.links.len() as u32));

    let banks = entries(&folder.join("mem_banks"));
    assert_eq!(node.banks.len(), banks.len(), "{name} node {number}");
    for (bank, file) in node.banks.iter().zip(&banks) {
        let keys = ["heap_type", "size_in_bytes", "flags", "width", "mem_clk_max"].map(|key| grep(file, key));
        let found = [
            bank.HeapType.0.into(),
            bank.SizeInBytes,
            bank.Flags.0.into(),
            bank.Width.into(),
            bank.MemoryClockMax.into(),
        ];
        assert_eq!(found, keys, "{name} node {number}");
    }

    let caches = entries(&folder.join("caches"));
    assert_eq!(node.caches.len(), caches.len(), "{name} node {number}");
    for (cache, file) in node.caches.iter().zip(&caches) {
        let keys = ["processor_id_low", "level", "size", "cache_line_size", "association", "latency", "type"];
        let found = [
            cache.ProcessorIdLow,
            cache.CacheLevel,
            cache.CacheSize,
            cache.CacheLineSize,
            cache.CacheAssociativity,
            cache.CacheLatency,
            cache.CacheType.0,
        ];
        assert_eq!(found.map(u64::from), keys.map(|key| grep(file, key)), "{name} node {number}");
        let text = fs::read_to_string(file).expect("read");
        let map = text.lines().find_map(|line| line.strip_prefix("sibling_map ")).expect("a map");
        let map: Vec<u32> = map.trim_end_matches(',').split(',').map(|n| n.trim().parse().expect("0 or 1")).collect();
        assert_eq!({ cache.SiblingMap }[..map.len()], map, "{name} node {number}");
        assert!({ cache.SiblingMap }[map.len()..].iter().all(|s| *s == 0));
    }

    let io_links = entries(&folder.join("io_links"));
    let links: Vec<_> = io_links.into_iter().chain(entries(&folder.join("p2p_links"))).collect();
    let user = |sysfs: u64| folders.iter().position(|(number, _)| *number == sysfs).map(|user| user as u64);
    let links: Vec<_> = links.iter().filter(|file| user(grep(file, "node_to")).is_some()).collect();
    assert_eq!(node.links.len(), links.len(), "{name} node {number}");
    for (link, file) in node.links.iter().zip(links) {
        let keys = [
            "type",
            "weight",
            "min_latency",
            "max_latency",
            "min_bandwidth",
            "max_bandwidth",
            "recommended_transfer_size",
            "recommended_sdma_engine_id_mask",
            "flags",
        ];
        let found = [
            link.IoLinkType.0,
            link.Weight,
            link.MinimumLatency,
            link.MaximumLatency,
            link.MinimumBandwidth,
            link.MaximumBandwidth,
            link.RecTransferSize,
            link.RecSdmaEngIdMask,
            link.Flags.0,
        ];
        assert_eq!(found.map(u64::from), keys.map(|key| grep(file, key)), "{name} node {number}");
        let ends = [grep(file, "node_from"), grep(file, "node_to")].map(|sysfs| user(sysfs).expect("a node"));
        assert_eq!([link.NodeFrom, link.NodeTo].map(u64::from), ends, "{name} node {number}");
    }
}

/// (gfx, AMDName, marketing name, CUs, VGPR bytes) of a node.
fn gpu(snapshot: &Snapshot, node: usize) -> (String, String, String, u32, u32) {
    let p = snapshot.nodes[node].properties;
    let gfx = [HSA_ENGINE_ID::Major, HSA_ENGINE_ID::Minor, HSA_ENGINE_ID::Stepping].map(|part| p.EngineId.get(part));
    let units = { p.MarketingName };
    (
        format!("{}.{}.{}", gfx[0], gfx[1], gfx[2]),
        String::from_utf8_lossy(&p.AMDName).trim_end_matches('\0').to_owned(),
        String::from_utf16_lossy(&units).trim_end_matches('\0').to_owned(),
        p.NumFComputeCores.checked_div(p.NumSIMDPerCU).unwrap_or(0),
        p.VGPRSizePerCU,
    )
}

#[test]
fn names_versions_and_sizes_of_the_captured_gpus() {
    let expect = |name: &str, node: usize, gfx: &str, amd: &str, marketing: &str, cus: u32, vgpr: u32| {
        let found = gpu(snapshot(name), node);
        assert_eq!(found, (gfx.into(), amd.into(), marketing.into(), cus, vgpr), "{name} node {node}");
    };
    expect("vega10-1gpu-captured", 1, "9.0.0", "Vega10", "", 64, 0x40000);
    expect("mi210-8gpu-xgmi", 9, "9.0.10", "Aldebaran", "AMD Instinct MI210", 104, 0x80000);
    expect("mi308-partitioned", 33, "9.4.2", "GFX090402", "AMD Instinct MI308X", 20, 0x80000);
    expect("mi300-cpx", 64, "9.4.2", "GFX090402", "AMD Instinct MI300X", 38, 0x80000);
    expect("mi300a-4apu-partial", 4, "9.4.2", "GFX090402", "AMD Instinct MI300A", 228, 0x80000);
    expect("rx7900xtx-partial", 1, "11.0.0", "GFX0b0000", "", 96, 0x60000);
    expect("mi100-partial", 0, "9.0.8", "Arcturus", "AMD Instinct MI100", 120, 0x80000);
}

#[test]
fn the_mi210_machine_has_two_groups_of_four_behind_two_sockets() {
    let snapshot = snapshot("mi210-8gpu-xgmi");
    let is_gpu = |node: &usize| snapshot.nodes[*node].properties.NumFComputeCores != 0;
    assert_eq!((0..10).filter(|node| !is_gpu(node)).collect::<Vec<_>>(), [0, 1]);
    assert_eq!((0..10).filter(is_gpu).count(), 8);
    let mut xgmi: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for link in snapshot.nodes[2..].iter().flat_map(|node| &node.links) {
        if link.IoLinkType == HSA_IOLINK_TYPE_XGMI {
            assert_eq!((link.Weight, link.MinimumBandwidth), (15, 50000));
            xgmi.entry(link.NodeFrom).or_default().push(link.NodeTo);
        }
    }
    for group in [[2, 3, 4, 5], [6, 7, 8, 9]] {
        for from in group {
            let others: Vec<u32> = group.into_iter().filter(|to| *to != from).collect();
            assert_eq!(xgmi[&from], others);
        }
    }
}

#[test]
fn the_vega10_machine_has_one_gpu_and_says_why_the_copy_is_none() {
    let snapshot = snapshot("vega10-1gpu-captured");
    assert_eq!(snapshot.nodes.len(), 2);
    assert_eq!(snapshot.skipped.len(), 1);
    assert_eq!(snapshot.skipped[0].what, "nodes/2 (gpu_id 13261)");
    assert_eq!({ snapshot.nodes[1].banks[0].SizeInBytes }, 17163091968);
    assert_eq!(snapshot.nodes[1].properties.Capability.get(HSA_CAPABILITY::ASICRevision), 0);
}

#[test]
fn partitions_are_told_apart_by_function_and_apus_by_domain() {
    for name in ["mi308-partitioned", "mi300-cpx", "mi300a-4apu-partial"] {
        let snapshot = snapshot(name);
        let gpus = snapshot.nodes.iter().filter(|node| node.properties.NumFComputeCores != 0);
        let places = gpus.map(|node| (node.properties.Domain, node.properties.LocationId)).collect::<Vec<_>>();
        let mut distinct = places.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), places.len(), "{name}");
    }
}
