//! Trees that are odd, damaged, hostile or change while they are read: no crash, no silent wrong number. The captured
//! ones of 34 and 65 nodes are in `kfd_golden.rs` as files and in `kfd_device.rs` as live machines.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;

use std::cell::{Cell, RefCell};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use kfd_tree::Tree;
use rocdxg::abi::{HSA_CAPABILITY, HSA_ENGINE_ID, HSA_IOLINKTYPE_PCIEXPRESS};
use rocdxg::platform::kfd::Error;
use rocdxg::platform::kfd::sysfs::{self, Candidate, Everything, Sight, Tolerance, Visibility};
use rocdxg::platform::{Discovery, GfxVersion, Node, Options};
use rocdxg::topology::read_tree;

/// Spoils a tree.
type Damage = fn(&Tree);
/// Picks a number of a node.
type Field = fn(&Node) -> u64;

fn options() -> Options {
    Options { use_svm: true, ..Options::default() }
}

fn live(tree: &Tree) -> Result<Discovery, Error> {
    sysfs::read(tree.path(), &options(), &Everything, Tolerance::Live)
}

fn capture(tree: &Tree) -> Discovery {
    sysfs::read(tree.path(), &options(), &Everything, Tolerance::Capture).expect("captures are readable")
}

fn gpu_ids(discovery: &Discovery) -> Vec<u32> {
    discovery.nodes.iter().map(|node| node.properties.KFDGpuID).collect()
}

/// (from, to) of every link, after the counts were compared with the lists.
fn links(discovery: &Discovery) -> Vec<(u32, u32)> {
    for node in &discovery.nodes {
        let p = node.properties;
        assert_eq!(p.NumMemoryBanks as usize, node.banks.len());
        assert_eq!(p.NumCaches as usize, node.caches.len());
        assert_eq!(p.NumIOLinks as usize, node.links.len());
    }
    discovery.nodes.iter().flat_map(|node| &node.links).map(|link| (link.NodeFrom, link.NodeTo)).collect()
}

/// The one node that was skipped, by name and reason.
#[track_caller]
fn one_skipped(discovery: &Discovery) -> (&str, &str, bool) {
    let [skipped] = discovery.skipped.as_slice() else { panic!("{:?}", discovery.skipped) };
    (&skipped.what, &skipped.reason, skipped.expected)
}

#[track_caller]
fn one_remark(discovery: &Discovery) -> &str {
    let [remark] = discovery.remarks.as_slice() else { panic!("{:?}", discovery.remarks) };
    remark
}

struct See<F>(F);

impl<F: Fn(&Candidate) -> Result<Sight, Error>> Visibility for See<F> {
    fn look(&self, gpu: &Candidate) -> Result<Sight, Error> {
        self.0(gpu)
    }
}

#[test]
fn a_whole_tree_needs_no_remark_in_either_tolerance() {
    let tree = Tree::machine(2);
    for found in [live(&tree).expect("whole"), capture(&tree)] {
        assert_eq!(gpu_ids(&found), [0, 101, 102]);
        assert_eq!(links(&found), [(0, 1), (0, 2), (1, 0), (2, 0)]);
        assert_eq!((found.skipped.len(), found.remarks.len()), (0, 0), "{:?}", found.remarks);
        assert_eq!((found.system.PlatformOem, found.system.PlatformId, found.system.PlatformRev), (5, 6, 7));
        assert!(!found.lacks_indirect_links && found.devices.is_empty() && found.gpus.is_empty());
        let p = found.nodes[2].properties;
        assert_eq!((p.NumShaderBanks, p.NumXcc, p.DrmRenderMinor, p.VGPRSizePerCU), (6, 1, 129, 0x60000));
        assert_eq!({ found.nodes[2].caches[0].SiblingMap }[..4], [1, 0, 1, 0]);
    }
}

#[test]
fn newer_keys_have_their_fields() {
    let tree = Tree::machine(1);
    for (key, value) in [("cwsr_size", "7"), ("ctl_stack_size", "8"), ("capability2", "5"), ("family_id", "145")] {
        tree.set(1, key, value);
    }
    let p = live(&tree).expect("whole").nodes[1].properties;
    assert_eq!((p.CwsrSize, p.CtlStackSize, p.Capability2.0, p.FamilyID), (7, 8, 5, 145));
}

#[test]
fn gaps_in_node_numbers_and_missing_locations() {
    let tree = Tree::machine(2);
    tree.rename("nodes/2", "nodes/5");
    tree.link(5, "io_links", 0, 0, 2, 20);
    tree.link(0, "io_links", 1, 5, 2, 20);
    tree.unset(5, "location_id");
    for found in [live(&tree).expect("whole"), capture(&tree)] {
        assert_eq!(gpu_ids(&found), [0, 101, 102]);
        assert_eq!(links(&found), [(0, 1), (0, 2), (1, 0), (2, 0)]);
        assert_eq!({ found.nodes[2].properties.LocationId }, 0);
        assert_eq!(found.remarks, [""; 0]);
    }
}

#[test]
fn a_hidden_gpu_leaves_no_gap_and_no_link() {
    let tree = Tree::machine(3);
    let hide = See(|gpu: &Candidate| {
        assert_eq!((gpu.gpu_id, gpu.render_minor), (100 + gpu.sysfs_node, 127 + gpu.sysfs_node));
        Ok(match gpu.sysfs_node {
            2 => Sight::Hidden { reason: "no render node".into(), expected: true },
            _ => Sight::Visible,
        })
    });
    let found = sysfs::read(tree.path(), &options(), &hide, Tolerance::Live).expect("whole");
    assert_eq!(gpu_ids(&found), [0, 101, 103]);
    assert_eq!(links(&found), [(0, 1), (0, 2), (1, 0), (2, 0)]);
    assert_eq!(one_skipped(&found), ("nodes/2 (gpu_id 102)", "no render node", true));
    assert_eq!(found.remarks, [""; 0]);
}

#[test]
fn an_error_of_the_visibility_ends_the_read() {
    let tree = Tree::machine(2);
    let fail = See(|gpu: &Candidate| {
        Err(Error::Malformed { path: format!("renderD{}", gpu.render_minor).into(), what: "is no device".into() })
    });
    let error = sysfs::read(tree.path(), &options(), &fail, Tolerance::Live).err().expect("an error");
    assert_eq!(error.to_string(), "renderD128: is no device");
}

#[test]
fn no_gpu_at_all() {
    let found = live(&Tree::machine(0)).expect("whole");
    assert_eq!(gpu_ids(&found), [0]);
    assert_eq!(live(&Tree::empty()).expect("whole").nodes, [] as [Node; 0]);
}

#[test]
fn a_repeated_gpu_id_is_one_gpu() {
    let tree = Tree::machine(3);
    tree.write("nodes/2/gpu_id", "101\n");
    for found in [live(&tree).expect("whole"), capture(&tree)] {
        assert_eq!(gpu_ids(&found), [0, 101, 103]);
        assert_eq!(links(&found), [(0, 1), (0, 2), (1, 0), (2, 0)]);
        assert_eq!(one_skipped(&found), ("nodes/2 (gpu_id 101)", "nodes/1 has the same gpu_id", true));
    }
}

#[test]
fn a_missing_root_file_is_an_error_that_names_it() {
    for file in ["generation_id", "system_properties", "nodes", "nodes/0/gpu_id", "nodes/0/properties"] {
        let tree = Tree::machine(1);
        tree.remove(file);
        let Err(Error::File(error)) = live(&tree) else { panic!("{file}") };
        assert_eq!(error.path, tree.path().join(file));
        assert_eq!(error.source.kind(), ErrorKind::NotFound);
    }
}

#[test]
fn what_a_capture_lacks_is_named_once_per_kind() {
    let tree = Tree::machine(2);
    for file in ["generation_id", "system_properties", "nodes/1/gpu_id", "nodes/2/gpu_id", "nodes/1/mem_banks"] {
        tree.remove(file);
    }
    tree.remove("nodes/2/caches/1");
    tree.remove("nodes/1/caches/0/properties");
    let found = capture(&tree);
    assert_eq!(found.nodes.len(), 3);
    assert_eq!(
        found.remarks,
        [
            "system_properties is absent in this capture",
            "generation_id is absent in this capture",
            "nodes/1/gpu_id is absent in this capture (and 1 more like it)",
            "nodes/1/mem_banks is absent in this capture",
            "nodes/1/caches/0/properties is absent in this capture",
            "nodes/2/caches has 1 entries, 2 are announced",
        ]
    );
    let counts: Vec<_> = found.nodes.iter().map(|n| (n.properties.NumMemoryBanks, n.properties.NumCaches)).collect();
    assert_eq!(counts, [(1, 0), (0, 1), (1, 1)]);
    links(&found);
}

#[test]
fn a_gpu_id_that_is_no_number() {
    for text in ["", "\n", "abc\n", "-5\n", "0x10\n", "99999999999999999999999\n", "4294967296\n", "1 2\n"] {
        let tree = Tree::machine(1);
        tree.write("nodes/1/gpu_id", text);
        let Err(Error::Malformed { path, .. }) = live(&tree) else { panic!("{text:?}") };
        assert_eq!(path, tree.path().join("nodes/1/gpu_id"));
        let found = capture(&tree);
        assert_eq!(gpu_ids(&found), [0, 0]);
        assert!(one_remark(&found).starts_with("nodes/1/gpu_id: "), "{:?}", found.remarks);
    }
}

#[test]
fn a_fault_in_the_files_of_a_gpu_costs_that_gpu() {
    let faults: [(&str, Damage); 9] = [
        ("properties: No such file", |t| t.remove("nodes/1/properties")),
        ("neither cpu_cores_count nor simd_count|simd_count is missing", |t| t.write("nodes/1/properties", "")),
        ("simd_count is missing", |t| t.unset(1, "simd_count")),
        ("simd_count is not a number", |t| t.set(1, "simd_count", "0xc0")),
        ("drm_render_minor is missing", |t| t.unset(1, "drm_render_minor")),
        ("mem_banks/0/properties: No such file", |t| t.remove("nodes/1/mem_banks/0")),
        ("caches/1/properties: is empty", |t| t.write("nodes/1/caches/1/properties", "")),
        ("io_links/1/properties: No such file", |t| t.set(1, "io_links_count", "4000000000")),
        ("p2p_links/0/properties: Is a directory", |t| {
            t.set(1, "p2p_links_count", "1");
            t.write("nodes/1/p2p_links/0/properties/x", "");
        }),
    ];
    for (reason, damage) in faults {
        let tree = Tree::machine(2);
        damage(&tree);
        let found = live(&tree).expect("the other GPU works");
        assert_eq!(gpu_ids(&found), [0, 102], "{reason}");
        assert_eq!(links(&found), [(0, 1), (1, 0)], "{reason}");
        let (what, why, expected) = one_skipped(&found);
        assert_eq!(what, "nodes/1 (gpu_id 101)");
        assert!(reason.split('|').any(|reason| why.contains(reason)) && expected, "{reason}: {why}");
    }
}

#[test]
fn a_fault_in_the_files_of_a_cpu_is_an_error() {
    let faults: [Damage; 4] = [
        |t| t.write("nodes/0/properties", ""),
        |t| t.set(0, "simd_count", "-1"),
        |t| t.remove("nodes/0/mem_banks/0/properties"),
        |t| t.set(0, "io_links_count", "9"),
    ];
    for damage in faults {
        let tree = Tree::machine(1);
        damage(&tree);
        assert!(live(&tree).is_err());
        let found = capture(&tree);
        links(&found);
        assert!(!found.remarks.is_empty() || !found.skipped.is_empty());
    }
}

#[test]
fn numbers_that_are_none_count_as_zero_and_are_named() {
    let keys: [(&str, Field); 8] = [
        ("max_waves_per_simd", |n| n.properties.MaxWavesPerSIMD.into()),
        ("location_id", |n| n.properties.LocationId.into()),
        ("fw_version", |n| n.properties.EngineId.get(HSA_ENGINE_ID::uCode).into()),
        ("unique_id", |n| n.properties.UniqueID),
        ("num_cp_queues", |n| n.properties.NumCpQueues.into()),
        ("vendor_id", |n| n.properties.VendorId.into()),
        ("capability", |n| n.properties.Capability.0.into()),
        ("array_count", |n| n.properties.NumShaderBanks.into()),
    ];
    for (key, field) in keys {
        for value in ["-1", "+1", "0x10", "1e3", "", "18446744073709551616", "12 junk", "\u{661}"] {
            let tree = Tree::machine(1);
            tree.set(1, key, value);
            let found = live(&tree).expect("readable");
            assert_eq!(field(&found.nodes[1]), 0, "{key} {value}");
            let remark = one_remark(&found);
            assert!(remark.starts_with(&format!("nodes/1/properties: {key} is \"")), "{remark}");
        }
    }
    // Numbers that fit 64 bits and not their field.
    for (key, value) in [("num_cp_queues", "256"), ("device_id", "65536"), ("drm_render_minor", "2147483648")] {
        let tree = Tree::machine(1);
        tree.set(1, key, value);
        assert!(one_remark(&capture(&tree)).contains(key));
    }
}

#[test]
fn repeated_keys_are_named_where_they_disagree() {
    let tree = Tree::machine(1);
    tree.write("nodes/1/properties", tree.read("nodes/1/properties") + "location_id 7\nlocation_id 9\nnum_xcc 1\n");
    let found = live(&tree).expect("readable");
    assert_eq!({ found.nodes[1].properties.LocationId }, 9);
    assert!(one_remark(&found).contains("location_id is there several times"));
}

#[test]
fn huge_files_are_cut_between_lines() {
    let tree = Tree::machine(1);
    let text = tree.read("nodes/1/properties") + &"unknown_key 1\n".repeat(100_000) + "family_id 7\n";
    tree.write("nodes/1/properties", text);
    tree.write("nodes/1/caches/0/properties", "\n".repeat(10 << 20));
    for found in [live(&tree).expect("readable"), capture(&tree)] {
        assert_eq!({ found.nodes[1].properties.NumFComputeCores }, 192);
        assert_eq!({ found.nodes[1].properties.FamilyID }, 0);
        let [first, second, third] = found.remarks.as_slice() else { panic!("{:?}", found.remarks) };
        assert!([first, second].iter().all(|remark| remark.contains("the rest is not read")));
        assert!(third.ends_with("caches/0/properties: level is missing, taken as 0"), "{third}");
    }
}

#[test]
fn a_line_that_was_cut_off_is_not_a_number() {
    let tree = Tree::machine(1);
    tree.write("nodes/1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 25753");
    let found = live(&tree).expect("readable");
    assert_eq!({ found.nodes[1].banks[0].SizeInBytes }, 0);
    let [cut, missing] = found.remarks.as_slice() else { panic!("{:?}", found.remarks) };
    assert!(cut.contains("mem_banks/0/properties ends in the middle of a line"), "{cut}");
    assert!(missing.contains("size_in_bytes is missing"), "{missing}");
    // Captures may come from an editor that leaves out the last line end.
    assert_eq!({ capture(&tree).nodes[1].banks[0].SizeInBytes }, 25753);
}

#[test]
fn neither_fifos_nor_loops_of_links_stop_the_reader() {
    let tree = Tree::machine(1);
    let fifo = tree.path().join("nodes/1/caches/0/properties");
    fs::remove_file(&fifo).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there");
    assert!(made.success());
    tree.remove("nodes/1/mem_banks/0/properties");
    let link = tree.path().join("nodes/1/mem_banks/0/properties");
    std::os::unix::fs::symlink(&link, &link).expect("linked");
    assert_eq!(one_skipped(&live(&tree).expect("readable")).0, "nodes/1 (gpu_id 101)");
    let found = capture(&tree);
    assert_eq!((found.nodes[1].banks.len(), found.nodes[1].caches.len()), (0, 1));
    assert_eq!(found.remarks.len(), 2, "{:?}", found.remarks);
}

#[test]
fn links_that_lead_nowhere_are_dropped_and_named() {
    let cases: [(&str, Damage); 5] = [
        ("starts at node 7", |t| t.write("nodes/1/io_links/0/properties", "type 2\nnode_from 7\nnode_to 0\nflags 1\n")),
        ("leads to nodes/9", |t| t.link(1, "io_links", 0, 9, 2, 20)),
        ("leads to nodes/4294967295", |t| t.link(1, "io_links", 0, u32::MAX, 2, 20)),
        ("node_from or node_to is missing", |t| t.write("nodes/1/io_links/0/properties", "node_from 1\n")),
        ("node_to is \"-1\"", |t| t.write("nodes/1/io_links/0/properties", "node_from 1\nnode_to -1\n")),
    ];
    for (remark, damage) in cases {
        let tree = Tree::machine(1);
        damage(&tree);
        let found = live(&tree).expect("readable");
        assert_eq!(links(&found), [(0, 1)], "{remark}");
        assert!(found.remarks[0].contains(remark), "{:?}", found.remarks);
    }
}

#[test]
fn p2p_links_follow_io_links_and_both_to_one_target_stay() {
    let tree = Tree::machine(2);
    tree.set(1, "p2p_links_count", "2");
    tree.link(1, "p2p_links", 0, 2, 2, 40);
    tree.link(1, "p2p_links", 1, 0, 2, 41);
    let found = live(&tree).expect("whole");
    assert_eq!(links(&found), [(0, 1), (0, 2), (1, 0), (1, 2), (1, 0), (2, 0)]);
    assert_eq!({ found.nodes[1].links[2].Weight }, 41);
}

#[test]
fn a_count_below_the_entries_wins_on_a_live_tree() {
    let tree = Tree::machine(1);
    tree.set(1, "caches_count", "1");
    assert_eq!(live(&tree).expect("readable").nodes[1].caches.len(), 1);
    let found = capture(&tree);
    assert_eq!((found.nodes[1].caches.len(), one_remark(&found)), (2, "nodes/1/caches has 2 entries, 1 are announced"));
}

#[test]
fn many_gpus_many_caches_many_siblings() {
    let tree = Tree::machine(64);
    for index in 2..512 {
        tree.cache(64, index, 1, 16);
    }
    tree.set(64, "caches_count", "512");
    tree.write("nodes/64/caches/511/properties", format!("level 3\nsize 9\nsibling_map {}1\n", "1,".repeat(300)));
    for found in [live(&tree).expect("whole"), capture(&tree)] {
        assert_eq!(found.nodes.len(), 65);
        assert_eq!({ found.nodes[64].properties.NumCaches }, 512);
        assert_eq!(links(&found).len(), 128);
        let last = found.nodes[64].caches[511];
        assert_eq!((last.CacheLevel, { last.SiblingMap }), (3, [1; 256]));
        assert!(one_remark(&found).contains("sibling_map has more than 256 entries"));
    }
}

#[test]
fn odd_names_and_too_many_nodes() {
    let tree = Tree::machine(1);
    for name in ["01", "x", "4294967296", "-1", "1.5"] {
        tree.write(&format!("nodes/{name}/gpu_id"), "0\n");
    }
    let found = live(&tree).expect("readable");
    assert_eq!(gpu_ids(&found), [0, 101]);
    assert_eq!(one_remark(&found), "nodes has 5 entries that are not node numbers");

    let tree = Tree::empty();
    for node in 0..1030 {
        tree.write(&format!("nodes/{node}/properties"), "cpu_cores_count 1\n");
    }
    let found = capture(&tree);
    assert_eq!(found.nodes.len(), 1024);
    assert_eq!(one_skipped(&found), ("nodes/1024 and beyond", "there are 1030 nodes and 1024 are read", true));
}

#[test]
fn a_flood_of_bad_values_is_a_bounded_number_of_remarks() {
    let tree = Tree::machine(0);
    for node in 1..=200 {
        tree.write(&format!("nodes/{node}/properties"), "cpu_cores_count 1\nlocation_id 0x1\n");
    }
    let remarks = capture(&tree).remarks;
    assert_eq!(remarks.len(), 101);
    assert!(remarks[100].ends_with("further remarks are left out"), "{}", remarks[100]);
}

#[test]
fn a_node_with_memory_only_is_a_node() {
    let tree = Tree::machine(0);
    tree.cpu(1);
    tree.set(1, "cpu_cores_count", "0");
    let found = live(&tree).expect("whole");
    assert_eq!(found.nodes.iter().map(|n| n.properties.NumCPUCores).collect::<Vec<_>>(), [8, 0]);
}

#[test]
fn a_division_by_nothing_is_nothing() {
    let tree = Tree::machine(1);
    for key in ["simd_arrays_per_engine", "simd_per_cu", "num_xcc"] {
        tree.set(1, key, "0");
    }
    let p = live(&tree).expect("whole").nodes[1].properties;
    assert_eq!((p.NumShaderBanks, p.NumArrays, p.NumSIMDPerCU, p.NumXcc), (0, 0, 0, 1));
}

fn version(node: &Node, engine: HSA_ENGINE_ID) -> (u32, u32, u32) {
    assert!({ node.properties.NumFComputeCores } != 0);
    (engine.get(HSA_ENGINE_ID::Major), engine.get(HSA_ENGINE_ID::Minor), engine.get(HSA_ENGINE_ID::Stepping))
}

#[test]
fn versions_of_unknown_devices() {
    let tree = Tree::machine(1);
    tree.set(1, "device_id", "65535");
    let found = live(&tree).expect("readable");
    assert_eq!(version(&found.nodes[1], found.nodes[1].properties.EngineId), (11, 0, 0), "the kernel's word");

    for target in ["0", "640000", "-1"] {
        tree.set(1, "gfx_target_version", target);
        let found = live(&tree).expect("readable");
        assert_eq!(gpu_ids(&found), [0]);
        let (what, why, expected) = one_skipped(&found);
        assert!(what == "nodes/1 (gpu_id 101)" && why.contains("device 0xffff is not known") && expected, "{why}");
    }
    tree.unset(1, "gfx_target_version");
    let options = Options { gfx_override: Some(GfxVersion { major: 10, minor: 3, stepping: 0 }), ..options() };
    let found = sysfs::read(tree.path(), &options, &Everything, Tolerance::Live).expect("readable");
    let p = found.nodes[1].properties;
    assert_eq!(version(&found.nodes[1], p.EngineId), (10, 3, 0));
    assert_eq!(version(&found.nodes[1], p.OverrideEngineId), (10, 3, 0));
    assert_eq!(&{ p.AMDName }[..10], b"GFX0a0300\0");
    assert!(one_remark(&found).contains("taken from the override"));
}

#[test]
fn overrides_are_by_node_id_and_leave_the_real_version() {
    let tree = Tree::machine(3);
    let mut options = options();
    options.gfx_override = Some(GfxVersion { major: 10, minor: 3, stepping: 0 });
    options.gfx_override_per_node.insert(2, GfxVersion { major: 9, minor: 0, stepping: 10 });
    let hide_first = See(|gpu: &Candidate| {
        let hidden = Sight::Hidden { reason: "elsewhere".into(), expected: false };
        Ok(if gpu.sysfs_node == 1 { hidden } else { Sight::Visible })
    });
    let found = sysfs::read(tree.path(), &options, &hide_first, Tolerance::Live).expect("whole");
    assert_eq!(gpu_ids(&found), [0, 102, 103]);
    assert_eq!({ found.nodes[0].properties.OverrideEngineId }.0, 0);
    let versions =
        |node: &Node| (version(node, node.properties.OverrideEngineId), version(node, node.properties.EngineId));
    assert_eq!(versions(&found.nodes[1]), ((10, 3, 0), (11, 0, 0)));
    assert_eq!(versions(&found.nodes[2]), ((9, 0, 10), (11, 0, 0)));
}

#[test]
fn the_svm_capability_goes_with_the_setting() {
    let tree = Tree::machine(1);
    let svm = |use_svm| {
        let options = Options { use_svm, ..Options::default() };
        let found = sysfs::read(tree.path(), &options, &Everything, Tolerance::Live).expect("whole");
        let capability = found.nodes[1].properties.Capability;
        (capability.get(HSA_CAPABILITY::SVMAPISupported), capability.with(HSA_CAPABILITY::SVMAPISupported, 0))
    };
    assert_eq!((svm(true).0, svm(false).0), (1, 0));
    assert_eq!(svm(true).1, svm(false).1, "no other bit changes");
}

#[test]
fn a_tree_that_settles_is_read_again_and_one_that_does_not_is_an_error() {
    let tree = Tree::machine(2);
    let looks = Cell::new(0u32);
    let change_until = |end: u32| {
        let (tree, looks) = (&tree, &looks);
        looks.set(0);
        See(move |_: &Candidate| {
            looks.set(looks.get() + 1);
            if looks.get() <= end {
                tree.write("generation_id", format!("{}\n", 100 + looks.get()));
            }
            Ok(Sight::Visible)
        })
    };
    let found = sysfs::read(tree.path(), &options(), &change_until(4), Tolerance::Live).expect("settles");
    assert_eq!((gpu_ids(&found), looks.get()), (vec![0, 101, 102], 6), "two tries were thrown away");
    let Err(Error::Unsettled { tries: 8, .. }) =
        sysfs::read(tree.path(), &options(), &change_until(u32::MAX), Tolerance::Live)
    else {
        panic!("does not settle");
    };
    assert_eq!(looks.get(), 16);
}

#[test]
fn files_that_vanish_for_a_moment_are_read_again() {
    let tree = Tree::machine(2);
    let saved = RefCell::new(None);
    let vanish_once = See(|gpu: &Candidate| {
        let (file, mut saved) = ("nodes/1/caches/1/properties", saved.borrow_mut());
        if gpu.sysfs_node == 1 && saved.is_none() {
            *saved = Some(tree.read(file));
            tree.remove(file);
        } else if let (2, Some(text)) = (gpu.sysfs_node, &*saved) {
            tree.write(file, text);
        }
        Ok(Sight::Visible)
    });
    let found = sysfs::read(tree.path(), &options(), &vanish_once, Tolerance::Live).expect("whole");
    assert_eq!(gpu_ids(&found), [0, 101, 102]);
    assert_eq!((found.nodes[1].caches.len(), found.skipped.len()), (2, 0));
}

/// Reads a tree of which `file` has `text`, and only its first `length` bytes once the first GPU was looked at.
fn shrunk(tree: &Tree, file: &str, text: &str, length: usize) -> Discovery {
    tree.write(file, text);
    let shrink = See(|gpu: &Candidate| {
        if gpu.sysfs_node == 1 {
            tree.write(file, &text[..length]);
        }
        Ok(Sight::Visible)
    });
    sysfs::read(tree.path(), &options(), &shrink, Tolerance::Live).expect("the CPU and a GPU are there")
}

#[test]
fn files_that_shrink_while_they_are_read_give_no_silent_number() {
    let whole = live(&Tree::machine(2)).expect("whole");
    for file in ["mem_banks/0/properties", "caches/0/properties", "io_links/0/properties"] {
        let (tree, file) = (Tree::machine(2), format!("nodes/1/{file}"));
        let text = tree.read(&file);
        for length in 0..text.len() {
            let found = shrunk(&tree, &file, &text, length);
            assert!(found.remarks.len() + found.skipped.len() > 0, "{file} cut to {length} bytes");
            assert!(found.remarks.iter().all(|remark| remark.starts_with(&file)), "{:?}", found.remarks);
            if found.skipped.is_empty() {
                assert_eq!(found.nodes[2], whole.nodes[2], "the other GPU is whole");
            }
        }
    }
    // Which keys a node has depends on the kernel: a cut inside of a line is seen, and what a GPU needs is missed.
    let file = "nodes/2/properties";
    let tree = Tree::machine(2);
    let text = tree.read(file);
    for length in (0..text.len()).filter(|length| !text[..*length].ends_with('\n')) {
        let found = shrunk(&tree, file, &text, length);
        assert!(found.remarks.len() + found.skipped.len() > 0, "cut to {length} bytes");
        assert!(found.skipped.iter().all(|skipped| skipped.what == "nodes/2 (gpu_id 102)"), "{:?}", found.skipped);
    }
}

#[test]
fn unknown_keys_change_nothing_whatever_their_value() {
    let whole = live(&Tree::machine(1)).expect("whole");
    let tree = Tree::machine(1);
    for (key, value) in [("new_key", "1"), ("new_signed", "-1"), ("new_hex", "0x10"), ("new_text", "a b"), ("new", "")]
    {
        tree.set(1, key, value);
    }
    let found = live(&tree).expect("whole");
    assert_eq!((found.nodes, found.remarks, found.skipped), (whole.nodes, vec![], vec![]));
}

#[test]
fn each_skipped_node_has_one_line() {
    let tree = Tree::machine(4);
    tree.write("nodes/1/properties", "simd_count x\nlocation_id -1\nlocation_id 0x2\n");
    tree.write("nodes/2/gpu_id", "104\n");
    tree.remove("nodes/3/caches");
    for found in [live(&tree).expect("readable"), live(&tree).expect("readable")] {
        assert_eq!(gpu_ids(&found), [0, 104]);
        let named: Vec<_> = found.skipped.iter().map(|skipped| skipped.what.as_str()).collect();
        assert_eq!(named, ["nodes/1 (gpu_id 101)", "nodes/3 (gpu_id 103)", "nodes/4 (gpu_id 104)"]);
    }
}

#[test]
fn a_generation_that_is_no_number() {
    let tree = Tree::machine(1);
    for text in ["", "x\n", "-1\n"] {
        tree.write("generation_id", text);
        assert!(matches!(live(&tree), Err(Error::Malformed { .. })), "{text:?}");
        assert_eq!(gpu_ids(&capture(&tree)), [0, 101]);
    }
}

#[test]
fn files_that_may_not_be_read_cost_their_gpu() {
    let tree = Tree::machine(3);
    fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o755)).expect("mine");
    for file in ["nodes/1/gpu_id", "nodes/2/properties"] {
        fs::set_permissions(tree.path().join(file), fs::Permissions::from_mode(0o000)).expect("mine");
    }
    let found = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            // SAFETY: takes numbers only. It changes the file permissions of this thread, which ends below; for who
            // is not root already it does nothing.
            unsafe { libc::setfsuid(65534) };
            live(&tree)
        });
        reader.join().expect("no panic").expect("the third GPU works")
    });
    assert_eq!(gpu_ids(&found), [0, 103]);
    assert_eq!(links(&found), [(0, 1), (1, 0)]);
    let skipped: Vec<_> = found.skipped.iter().map(|s| (s.what.as_str(), s.expected)).collect();
    assert_eq!(skipped, [("nodes/1", true), ("nodes/2 (gpu_id 102)", true)]);
    assert!(found.skipped.iter().all(|s| s.reason.contains("Permission denied")), "{:?}", found.skipped);
}

#[test]
fn indirect_links_where_the_kernel_lists_none() {
    let tree = Tree::machine(2);
    for node in 0..3 {
        tree.unset(node, "p2p_links_count");
    }
    let snapshot = read_tree(tree.path()).expect("whole");
    let links: Vec<_> = snapshot.nodes.iter().flat_map(|node| &node.links).collect();
    let added: Vec<_> = links.iter().filter(|l| l.Weight == 40).map(|l| (l.NodeFrom, l.NodeTo)).collect();
    assert_eq!((links.len(), added), (6, vec![(1, 2), (2, 1)]));
    assert!(links.iter().all(|link| link.IoLinkType == HSA_IOLINKTYPE_PCIEXPRESS));
    assert!(snapshot.nodes.iter().all(|node| node.properties.NumIOLinks as usize == node.links.len()));
    tree.set(2, "p2p_links_count", "0");
    let direct = read_tree(tree.path()).expect("whole");
    assert_eq!(direct.nodes.iter().map(|node| node.links.len()).sum::<usize>(), 4);
}
