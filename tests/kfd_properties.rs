//! What holds for every tree: order and unknown keys do not matter, and no content makes the reader panic.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;

use kfd_tree::Tree;
use proptest::prelude::*;
use proptest::test_runner::Config;
use rocdxg::platform::kfd::sysfs::{self, Everything, Tolerance};
use rocdxg::platform::{Discovery, Options};
use rocdxg::topology::read_tree;

const FILES: [&str; 8] = [
    "system_properties",
    "nodes/0/properties",
    "nodes/0/mem_banks/0/properties",
    "nodes/0/io_links/0/properties",
    "nodes/1/properties",
    "nodes/1/mem_banks/0/properties",
    "nodes/1/caches/0/properties",
    "nodes/1/io_links/0/properties",
];

fn read(tree: &Tree, tolerance: Tolerance) -> Option<Discovery> {
    let options = Options { use_svm: true, ..Options::default() };
    sysfs::read(tree.path(), &options, &Everything, tolerance).ok()
}

/// Lines of a key that no kernel has and any value.
fn unknown_line() -> impl Strategy<Value = String> {
    ("zz_[a-z_]{1,12}", "[ -~]{0,20}").prop_map(|(key, value)| format!("{key} {value}"))
}

/// Known keys, numbers around the limits of their fields, and rubbish.
fn soup_line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("simd_count"),
        Just("cpu_cores_count"),
        Just("gfx_target_version"),
        Just("caches_count"),
        Just("io_links_count"),
        Just("p2p_links_count"),
        Just("mem_banks_count"),
        Just("device_id"),
        Just("array_count"),
        Just("simd_arrays_per_engine"),
        Just("node_from"),
        Just("node_to"),
        Just("weight"),
        Just("type"),
        Just("size_in_bytes"),
        Just("sibling_map"),
        Just("drm_render_minor"),
        Just("num_xcc"),
    ];
    let value = prop_oneof![
        (0u64..4).prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<u32>().prop_map(|n| n.to_string()),
        Just("4294967295".to_owned()),
        Just("-1".to_owned()),
        Just("0x7f".to_owned()),
        Just(String::new()),
        Just("110000".to_owned()),
        Just("29772".to_owned()),
        Just("1,".repeat(300)),
    ];
    (key, value).prop_map(|(key, value)| format!("{key} {value}"))
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, ..Config::default() })]

    #[test]
    fn order_and_unknown_keys_do_not_matter(
        seed in any::<u64>(),
        unknown in prop::collection::vec(unknown_line(), 0..6),
        crlf in any::<bool>(),
    ) {
        let tree = Tree::machine(1);
        let wanted = read(&tree, Tolerance::Live).expect("whole");
        let mut random = seed | 1;
        for file in FILES {
            let text = tree.read(file);
            let mut lines: Vec<String> = text.lines().map(str::to_owned).chain(unknown.iter().cloned()).collect();
            for last in (1..lines.len()).rev() {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                lines.swap(last, (random >> 33) as usize % (last + 1));
            }
            let end = if crlf { "\r\n" } else { "\n" };
            tree.write(file, lines.join(end) + end);
        }
        let found = read(&tree, Tolerance::Live).expect("whole");
        prop_assert_eq!(&found.nodes, &wanted.nodes);
        prop_assert_eq!(found.system, wanted.system);
        prop_assert_eq!(found.remarks, wanted.remarks);
        prop_assert_eq!(found.skipped, wanted.skipped);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        file in prop::sample::select([&FILES[..], &["generation_id", "nodes/0/gpu_id", "nodes/1/gpu_id"]].concat()),
    ) {
        let tree = Tree::machine(1);
        tree.write(file, bytes);
        check(&tree)?;
    }

    #[test]
    fn no_numbers_make_the_reader_panic(
        texts in prop::collection::vec(prop::collection::vec(soup_line(), 0..12), FILES.len()),
        keep in any::<u8>(),
    ) {
        let tree = Tree::machine(1);
        for (index, (file, lines)) in FILES.iter().zip(texts).enumerate() {
            let old = if keep >> index & 1 == 1 { tree.read(file) } else { String::new() };
            tree.write(file, old + &lines.join("\n") + "\n");
        }
        check(&tree)?;
    }
}

/// What must hold however bad the tree is.
fn check(tree: &Tree) -> Result<(), TestCaseError> {
    let snapshot = read_tree(tree.path()).expect("a capture is always readable");
    prop_assert_eq!(snapshot.nodes.len() + snapshot.skipped.len(), 2);
    for node in &snapshot.nodes {
        let p = node.properties;
        prop_assert_eq!(p.NumMemoryBanks as usize, node.banks.len());
        prop_assert_eq!(p.NumCaches as usize, node.caches.len());
        prop_assert_eq!(p.NumIOLinks as usize, node.links.len());
        for link in &node.links {
            prop_assert!((link.NodeTo as usize) < snapshot.nodes.len());
        }
    }
    read(tree, Tolerance::Live);
    Ok(())
}
