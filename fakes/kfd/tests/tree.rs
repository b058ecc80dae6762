//! The generated topology, against trees that were checked by hand and against captured ones.

use std::collections::BTreeMap;
use std::path::Path;

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_kfd::{Gpu, Mode, SaveArea, Tree};

/// Every file of a tree: path below it, and text.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

fn generated(machine: &Machine, mode: Mode) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    Tree::generate_as(machine, mode, &folder.path().join("topology")).unwrap();
    files(&folder.path().join("topology"))
}

/// The value of a key in a file of a tree.
fn value(tree: &BTreeMap<String, String>, file: &str, key: &str) -> Option<u64> {
    let text = tree.get(file).unwrap_or_else(|| panic!("no {file}"));
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
    Some(line.parse().unwrap())
}

fn count(tree: &BTreeMap<String, String>, part: &str) -> u64 {
    tree.keys().filter(|name| name.starts_with(part)).count() as u64
}

/// All files as one text, but of the caches only the first and the last of each kind.
fn text(tree: &BTreeMap<String, String>) -> String {
    let kind = |text: &str| text.lines().skip(1).take(7).map(str::to_owned).collect::<Vec<_>>();
    let number = |name: &str| name.split('/').nth(3).and_then(|n| n.parse::<u32>().ok());
    let caches = |node: &str| {
        let mut caches: Vec<_> = tree.iter().filter(|(name, _)| name.starts_with(&format!("{node}/caches"))).collect();
        caches.sort_by_key(|(name, _)| number(name));
        caches
    };
    let mut shown = String::new();
    for (name, text) in tree.iter().filter(|(name, _)| !name.contains("/caches/")) {
        shown += &format!("== {name}\n{text}");
        if let Some(node) = name.strip_suffix("/gpu_id") {
            let caches = caches(node);
            for (i, (name, text)) in caches.iter().enumerate() {
                let same = |other: usize| caches.get(other).is_some_and(|(_, t)| kind(t) == kind(text));
                if i == 0 || !same(i - 1) || !same(i + 1) {
                    shown += &format!("== {name}\n{text}");
                }
            }
        }
    }
    shown
}

#[test]
fn the_tree_of_each_kernel_is_the_golden_one() {
    for (name, mode, label) in [
        ("gfx1100", Mode::V6_1, "6.1"),
        ("gfx1100", Mode::V6_12, "6.12"),
        ("gfx1100", Mode::V7_2, "7.2"),
        ("dgpu-apu", Mode::V7_2, "7.2"),
    ] {
        let found = text(&generated(&Machine::load(name).unwrap(), mode));
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}-{label}.txt"));
        if std::env::var_os("ROCDXG_BLESS").is_some() {
            std::fs::write(&golden, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap();
        for (i, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "{name}-{label}.txt:{}", i + 1);
        }
        assert_eq!(found.len(), expected.len(), "{name}-{label}.txt");
    }
}

/// The captured card has the same chip; what differs is its BIOS, its slot and its kernel's age.
#[test]
fn rule_118_keys_order_and_numbers_are_those_of_a_captured_radeon() {
    let captured = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/kfd/rx7900xtx-partial");
    let captured = files(&captured);
    let own = generated(&Machine::load("gfx1100").unwrap(), Mode::V7_2);
    let younger = ["cwsr_size", "ctl_stack_size", "capability2"];
    let of_the_card =
        ["io_links_count", "max_engine_clk_fcompute", "fw_version", "sdma_fw_version", "unique_id", "capability"];
    for node in 0..2 {
        let name = format!("nodes/{node}/properties");
        let keys = |tree: &BTreeMap<String, String>| {
            let lines = tree[&name].lines().map(|l| l.split(' ').next().unwrap().to_owned());
            lines.filter(|key| !younger.contains(&key.as_str())).collect::<Vec<_>>()
        };
        assert_eq!(keys(&own), keys(&captured));
        for key in keys(&captured).iter().filter(|key| !of_the_card.contains(&key.as_str())) {
            assert_eq!(value(&own, &name, key), value(&captured, &name, key), "node {node}: {key}");
        }
    }
    let capability = |tree| value(tree, "nodes/1/properties", "capability").unwrap();
    assert_eq!(capability(&own), capability(&captured) | 1 << 22, "the revision of our chip is 1");
}

#[test]
fn rule_118_cpu_nodes_have_no_gpu_keys_and_save_area_sizes_depend_on_the_kernel() {
    let machine = Machine::load("gfx1100").unwrap();
    for (mode, sizes) in [(Mode::V6_1, false), (Mode::V6_12, true), (Mode::V7_2, true)] {
        let tree = generated(&machine, mode);
        for key in ["capability", "fw_version", "unique_id", "max_engine_clk_fcompute", "num_xcc", "debug_prop"] {
            assert_eq!(value(&tree, "nodes/0/properties", key), None, "{key}");
        }
        let area = SaveArea::of(&Gpu::of_machine(&machine)[0]);
        for (key, size) in [("cwsr_size", area.save), ("ctl_stack_size", area.control_stack)] {
            assert_eq!(value(&tree, "nodes/1/properties", key), sizes.then_some(size.into()));
            assert_eq!(value(&tree, "nodes/0/properties", key), sizes.then_some(0));
        }
        assert_eq!(value(&tree, "nodes/1/properties", "capability2").is_some(), mode == Mode::V7_2);
    }
}

#[test]
fn rule_121_the_counts_announce_what_is_there_on_every_machine() {
    for (name, _) in rocdxg_fake_gpu::machine::BUILT_IN {
        let machine = Machine::load(name).unwrap();
        let gpus = Gpu::of_machine(&machine);
        let tree = generated(&machine, Mode::V7_2);
        let nodes = machine.host.nodes + gpus.len() as u32;
        assert_eq!(count(&tree, "nodes/"), tree.len() as u64 - 2);
        assert!(!tree.contains_key(&format!("nodes/{nodes}/gpu_id")));
        for node in 0..nodes {
            let properties = format!("nodes/{node}/properties");
            for part in ["mem_banks", "caches", "io_links", "p2p_links"] {
                let announced = value(&tree, &properties, &format!("{part}_count")).unwrap();
                assert_eq!(announced, count(&tree, &format!("nodes/{node}/{part}/")), "{name}: node {node}: {part}");
            }
            let arrays = value(&tree, &properties, "array_count").unwrap();
            if let Some(gpu) = node.checked_sub(machine.host.nodes).map(|i| &gpus[i as usize]) {
                let dies = u64::from(gpu.chip.num_xcc);
                assert_eq!(arrays, u64::from(gpu.chip.shader_engines * gpu.chip.arrays_per_engine) * dies);
            }
        }
    }
}

#[test]
fn links_need_a_bar_that_shows_all_memory() {
    let text = rocdxg_fake_gpu::machine::BUILT_IN.iter().find(|(n, _)| *n == "two-gfx1100").unwrap().1;
    let small = generated(&Machine::parse("small", text).unwrap(), Mode::V7_2);
    assert_eq!(count(&small, "nodes/0/io_links/") + count(&small, "nodes/1/p2p_links/"), 0);
    assert_eq!(value(&small, "nodes/1/mem_banks/0/properties", "heap_type"), Some(2));
    assert_eq!(value(&small, "nodes/1/io_links/0/properties", "node_to"), Some(0));

    let large = text.replace("[adapter.private]", "[adapter.kfd]\nlarge_bar = true\n\n[adapter.private]");
    let large = format!("host = {{ nodes = 2, cores = 8 }}\n{large}");
    let large = generated(&Machine::parse("large", &large).unwrap(), Mode::V7_2);
    let link = |node: u32, part: &str, link: u32| {
        let file = format!("nodes/{node}/{part}/{link}/properties");
        ["type", "node_from", "node_to", "weight", "flags"].map(|key| value(&large, &file, key).unwrap())
    };
    assert_eq!(link(0, "io_links", 0), [5, 0, 1, 21, 0]);
    assert_eq!(link(0, "io_links", 1), [2, 0, 2, 20, 1]);
    assert_eq!(link(1, "io_links", 1), [2, 1, 3, 20, 1]);
    assert_eq!(link(3, "io_links", 0), [2, 3, 1, 20, 1]);
    assert_eq!(link(2, "p2p_links", 0), [2, 2, 3, 61, 1]);
    assert_eq!(value(&large, "nodes/1/properties", "cpu_core_id_base"), Some(8));
    assert_eq!(value(&large, "nodes/2/mem_banks/0/properties", "heap_type"), Some(1));
    assert_eq!(value(&large, "nodes/3/properties", "simd_id_base"), Some(0x8000_1000 + 96));
}

#[test]
fn a_tree_read_back_has_the_gpus_of_the_machine() {
    let machine = Machine::load("dgpu-apu").unwrap();
    let folder = tempfile::tempdir().unwrap();
    Tree::generate(&machine, &folder.path().join("t")).unwrap();
    let read = Gpu::of_tree(&folder.path().join("t")).unwrap();
    let own = Gpu::of_machine(&machine);
    assert_eq!(read.len(), own.len());
    for (read, own) in read.iter().zip(&own) {
        let identity = |g: &Gpu| (g.gpu_id, g.render_minor, g.device_id, g.location_id, g.vram_bytes, g.large_bar);
        assert_eq!(identity(read), identity(own));
        assert_eq!(read.gfx_target_version(), own.gfx_target_version());
        assert_eq!(SaveArea::of(read), SaveArea::of(own));
    }
}

#[test]
fn a_root_has_the_device_links_that_libdrm_reads_and_refuses_to_be_written_twice() {
    let machine = Machine::load("two-gfx1100").unwrap();
    let root = tempfile::tempdir().unwrap();
    let topology = Tree::generate_root(&machine, Mode::V7_2, root.path()).unwrap();
    assert!(topology.join("nodes/2/gpu_id").is_file());
    assert!(root.path().join("sys/dev/char/226:128/device/drm/card0").is_dir());
    assert!(root.path().join("sys/dev/char/226:129/device/drm/card1").is_dir());
    assert_eq!(std::fs::read_to_string(root.path().join("sys/module/amdgpu/initstate")).unwrap(), "live\n");
    let again = Tree::generate_root(&machine, Mode::V7_2, root.path()).unwrap_err();
    assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn rule_119_the_files_of_a_hidden_gpu_and_the_links_made_for_it_are_denied() {
    let text = rocdxg_fake_gpu::machine::BUILT_IN.iter().find(|(n, _)| *n == "two-gfx1100").unwrap().1;
    let large = text.replace("[adapter.private]", "[adapter.kfd]\nlarge_bar = true\n\n[adapter.private]");
    let hidden = large.replacen("large_bar = true", "large_bar = true\nhidden = true", 1);
    let folder = tempfile::tempdir().unwrap();
    for (name, text, denied) in [("all", &large, false), ("hidden", &hidden, true)] {
        let machine = Machine::parse(name, text).unwrap();
        let topology = folder.path().join(name);
        Tree::generate(&machine, &topology).unwrap();
        let found = Tree::denied(&machine, &topology).unwrap();
        let found: Vec<_> = found.iter().map(|p| p.strip_prefix(&topology).unwrap().to_str().unwrap()).collect();
        if !denied {
            assert_eq!(found, [""; 0]);
            continue;
        }
        // Three files of the node, a bank, 206 caches, a link each to the CPU and to the other GPU, and one from the CPU.
        assert_eq!(found.len(), 3 + 1 + 206 + 2 + 1);
        assert_eq!(
            found.iter().filter(|path| !path.starts_with("nodes/1/")).collect::<Vec<_>>(),
            [&"nodes/0/io_links/0/properties"]
        );
        for path in found {
            assert!(topology.join(path).is_file(), "{path}");
        }
    }
}
