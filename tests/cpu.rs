//! CPU facts from machines described by a directory, however odd.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;

use std::fs;
use std::path::Path;

use kfd_tree::Tree;
use rocdxg::abi::{HSA_HEAPTYPE_SYSTEM, HsaCacheProperties, HsaCacheType, HsaNodeProperties};
use rocdxg::platform::host::{self, Host};
use rocdxg::platform::kfd::Error;
use rocdxg::platform::{self, Node};
use rocdxg::topology::cpu::Cpus;
use rocdxg::topology::read_tree;
use tempfile::TempDir;

struct Root(TempDir);

impl Root {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, file: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().expect("below the root")).expect("created");
        fs::write(path, content).expect("written");
        self
    }

    fn cache(&self, folder: &str, index: u32, level: u32, kind: &str, size: &str, shared: &str) {
        let folder = format!("{folder}/cache/index{index}");
        for (file, value) in [
            ("level", level.to_string().as_str()),
            ("type", kind),
            ("size", size),
            ("shared_cpu_list", shared),
            ("coherency_line_size", "64"),
            ("ways_of_associativity", "8"),
            ("physical_line_partition", "1"),
        ] {
            self.write(&format!("{folder}/{file}"), format!("{value}\n"));
        }
    }

    fn read(&self) -> (Cpus, Vec<String>) {
        Cpus::read(&Host::rooted(self.path()), None)
    }
}

/// `processor`, `apicid`, `model name` records.
fn cpuinfo(records: &[(u32, u32)]) -> String {
    let record = |(cpu, apicid): &(u32, u32)| {
        format!(
            "processor\t: {cpu}\nvendor_id\t: AuthenticAMD\nmodel name\t: Test CPU {cpu}\ncpu MHz\t\t: 3400.5{cpu}\n\
             apicid\t\t: {apicid}\ninitial apicid\t: 77\n\n"
        )
    };
    records.iter().map(record).collect()
}

fn names(p: &HsaNodeProperties) -> (String, String) {
    let units = { p.MarketingName };
    assert_eq!((units[63], p.AMDName[63]), (0, 0), "the names end");
    let marketing = String::from_utf16_lossy(&units).trim_end_matches('\0').to_owned();
    (marketing, String::from_utf8_lossy(&p.AMDName).trim_end_matches('\0').to_owned())
}

/// (level, bytes, processor, type, siblings) of each cache.
fn caches(node: &Node) -> Vec<(u32, u32, u32, u32, Vec<usize>)> {
    assert_eq!(node.properties.NumCaches as usize, node.caches.len());
    let siblings = |cache: &HsaCacheProperties| {
        let map = { cache.SiblingMap };
        (0..256).filter(|cpu| map[*cpu] == 1).collect()
    };
    let row = |c: &HsaCacheProperties| (c.CacheLevel, c.CacheSize, c.ProcessorIdLow, c.CacheType.0, siblings(c));
    node.caches.iter().map(row).collect()
}

const DATA: u32 = 1 << HsaCacheType::Data.shift | CPU;
const INSTRUCTION: u32 = 1 << HsaCacheType::Instruction.shift | CPU;
const CPU: u32 = 1 << HsaCacheType::CPU.shift;

fn two_cpus(root: &Root, folder: &str) {
    for cpu in 0..2 {
        let own = cpu.to_string();
        let folder = format!("{folder}/cpu{cpu}");
        root.cache(&folder, 0, 1, "Data", "48K", &own);
        root.cache(&folder, 1, 1, "Instruction", "32K", &own);
        root.cache(&folder, 2, 2, "Unified", "2M", &own);
        root.cache(&folder, 3, 3, "Unified", "260M", "0-1");
    }
}

#[test]
fn the_node_of_a_wsl_machine() {
    let root = Root::new();
    root.write("proc/cpuinfo", cpuinfo(&[(0, 4), (1, 6)]));
    two_cpus(&root, "sys/devices/system/node/node0");
    let (cpus, remarks) = root.read();
    assert_eq!(remarks, [""; 0]);
    let node = cpus.node(34_359_738_368);
    let p = node.properties;
    assert_eq!((p.NumCPUCores, p.CComputeIdLo, p.MaxEngineClockMhzCCompute), (2, 4, 3400));
    assert_eq!(names(&p), ("Test CPU 0".into(), "Test CPU 0".into()));
    let [bank] = node.banks.as_slice() else { panic!("{:?}", node.banks) };
    assert_eq!((bank.HeapType, bank.SizeInBytes), (HSA_HEAPTYPE_SYSTEM, 34_359_738_368));
    assert_eq!((bank.Width, bank.MemoryClockMax, bank.Flags.0), (64, 2133, 0));
    assert_eq!(
        caches(&node),
        [
            (1, 48 << 10, 4, DATA, vec![4]),
            (1, 32 << 10, 4, INSTRUCTION, vec![4]),
            (2, 2 << 20, 4, DATA | INSTRUCTION, vec![4]),
            (3, 260 << 20, 4, DATA | INSTRUCTION, vec![4, 6]),
            (1, 48 << 10, 6, DATA, vec![6]),
            (1, 32 << 10, 6, INSTRUCTION, vec![6]),
            (2, 2 << 20, 6, DATA | INSTRUCTION, vec![6]),
        ]
    );
    let first = node.caches[0];
    assert_eq!((first.CacheLineSize, first.CacheAssociativity, first.CacheLinesPerTag), (64, 8, 1));
    // Nothing but what is named above.
    let rest = HsaNodeProperties {
        NumCPUCores: 0,
        CComputeIdLo: 0,
        MaxEngineClockMhzCCompute: 0,
        NumMemoryBanks: 0,
        NumCaches: 0,
        MarketingName: [0; 64],
        AMDName: [0; 64],
        ..p
    };
    assert_eq!((rest, p.NumMemoryBanks, node.links.len()), (HsaNodeProperties::ZERO, 1, 0));
}

#[test]
fn the_clock_is_that_of_cpufreq_where_there_is_one() {
    let root = Root::new();
    root.write("proc/cpuinfo", cpuinfo(&[(0, 0)]));
    root.write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "5083397\n");
    assert_eq!(root.read().0.max_mhz(), 5083);
}

#[test]
fn a_root_with_nothing_but_a_device() {
    let root = Root::new();
    root.write("dev/dxg", "");
    let (cpus, remarks) = root.read();
    assert_eq!(cpus.count(), host::online_processors());
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    assert!(remarks[0].contains("proc/cpuinfo: No such file") && remarks[1].starts_with("no CPU caches: "));
    let node = cpus.node(1 << 30);
    assert_eq!((node.properties.NumCPUCores, node.banks.len(), node.caches.len()), (cpus.count(), 1, 0));
    assert_eq!(names(&node.properties), (String::new(), String::new()));
}

#[test]
fn a_kernel_without_numa_has_its_caches() {
    let root = Root::new();
    root.write("proc/cpuinfo", cpuinfo(&[(0, 0), (1, 1)]));
    two_cpus(&root, "sys/devices/system/cpu");
    let (cpus, remarks) = root.read();
    assert_eq!((remarks.len(), caches(&cpus.node(0)).len()), (0, 7));
    assert_eq!(cpus.numa_node(1, 0), Some(0));
}

#[test]
fn odd_cpuinfo_files() {
    // (text, logical CPUs or 0 for those online, apicid of the first, marketing name, number of remarks)
    let long = format!("processor : 0\napicid : 3\nmodel name : {}\n", "x".repeat(100_000));
    let invalid = b"processor : 0\napicid : 3\nmodel name : a\xff\xc3\xa9\xf0\x9f\x98\x80z\n".to_vec();
    let wide = format!("processor : 0\napicid : 3\nmodel name : {}\u{1f600}\n", "x".repeat(62));
    let cases: [(Vec<u8>, u32, u32, String, usize); 13] = [
        (b"".to_vec(), 0, 0, String::new(), 1),
        (b"\0\0\0\xff:\n::::\n".to_vec(), 0, 0, String::new(), 1),
        (b"processor : 0\r\napicid : 3\r\nmodel name : A B \r\n".to_vec(), 1, 3, "A B".into(), 0),
        (b"processor : 4000000000\napicid : 3\nmodel name : A".to_vec(), 1, 3, "A".into(), 0),
        (b"processor : 99999999999\napicid : 3\nmodel name : A\n".to_vec(), 0, 0, String::new(), 2),
        (b"processor : x\nprocessor : 5\nmodel name : A\n".to_vec(), 1, 5, "A".into(), 2),
        (b"processor : 0\napicid : -1\n".to_vec(), 1, 0, String::new(), 2),
        (b"processor : 0\napicid : 1\nprocessor : 0\napicid : 2\n".to_vec(), 1, 1, String::new(), 1),
        (b"model name : A\napicid : 9\nprocessor : 0\napicid : 1\n".to_vec(), 1, 1, String::new(), 0),
        (b"processor : 0\ncpu MHz : nan\ncpu MHz : 1e300\napicid : 1\n".to_vec(), 1, 1, String::new(), 0),
        (long.into_bytes(), 1, 3, "x".repeat(63), 0),
        (invalid, 1, 3, "a\u{fffd}\u{e9}\u{1f600}z".into(), 0),
        (wide.into_bytes(), 1, 3, "x".repeat(62), 0),
    ];
    for (text, count, apicid, marketing, remarks) in cases {
        let root = Root::new();
        // A folder without CPUs: nothing to remark on.
        root.write("sys/devices/system/cpu/online", "0\n").write("proc/cpuinfo", &text);
        let (cpus, found) = root.read();
        let shown = String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
        assert_eq!(found.len(), remarks, "{shown}: {found:?}");
        assert_eq!(cpus.count(), if count == 0 { host::online_processors() } else { count }, "{shown}");
        let p = cpus.node(0).properties;
        assert_eq!((p.CComputeIdLo, names(&p).0), (apicid, marketing), "{shown}");
        assert!(p.AMDName.is_ascii());
    }
}

#[test]
fn a_huge_cpuinfo_is_cut_between_lines() {
    let root = Root::new();
    let mut text = "processor : 1\napicid : 12\nmodel name : A\n".to_owned() + &"flags : x\n".repeat(1_677_721);
    text.truncate((16 << 20) - 8);
    text += "\nprocessor : 2\n";
    text += &"x".repeat(1 << 20);
    root.write("proc/cpuinfo", text);
    root.write("sys/devices/system/cpu/online", "1\n");
    let (cpus, remarks) = root.read();
    assert_eq!((cpus.count(), remarks.len()), (1, 1), "{remarks:?}");
    assert!(remarks[0].contains("the rest is not read"));
}

#[test]
fn odd_cache_folders() {
    let root = Root::new();
    root.write("proc/cpuinfo", cpuinfo(&[(0, 0), (1, 300), (3, 255)]));
    let cpu = "sys/devices/system/node/node0/cpu0";
    root.cache(cpu, 0, 1, "Data", "4G", "0,1,3"); // does not fit; one APIC id has no place in the map
    root.cache(cpu, 1, 1, "Weird", "12345", "0-2"); // CPU 2 is offline
    root.cache(cpu, 2, 2, "Unified", "12X", "3-1"); // neither a size nor a list
    root.cache(cpu, 3, 3, "Unified", "1K", "0-4294967295");
    root.cache(cpu, 4, 4, "Unified", "1K", "1-3"); // not shared with the CPU that it is at
    root.write(&format!("{cpu}/cache/index5/level"), "x\n");
    root.cache(cpu, 6, 1, "Data", "1K", "0"); // behind one that has no level
    root.write("sys/devices/system/node/node0/cpu1/cache/index0/level", "1\n");
    root.write("sys/devices/system/node/node0/cpu1/cache/index0/shared_cpu_map", "80000000,00000002\n");
    root.write("sys/devices/system/node/node0/cpux/cache", "");
    root.write("sys/devices/system/node/node0/cpu3", "not a folder");
    let (cpus, remarks) = root.read();
    let own = vec![0];
    assert_eq!(
        caches(&cpus.node(0)),
        [
            (1, 0, 0, DATA, vec![0, 255]),
            (1, 12345, 0, CPU, own.clone()),
            (2, 0, 0, DATA | INSTRUCTION, own.clone()),
            (3, 1024, 0, DATA | INSTRUCTION, own),
        ]
    );
    // CPU 1 shares index 0 with CPU 0 and is not looked at.
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    assert!(remarks[0].contains("index0/size is not a size: taken as 0 (and 1 more like it)"), "{remarks:?}");
    assert!(remarks[1].contains("does not say who shares it"), "{remarks:?}");
}

#[test]
fn a_map_does_where_there_is_no_list() {
    let root = Root::new();
    root.write("proc/cpuinfo", cpuinfo(&[(0, 10), (33, 20), (63, 30)]));
    let folder = "sys/devices/system/node/node0/cpu0/cache/index0";
    for (file, text) in [("level", "2"), ("type", "Unified"), ("size", "1M"), ("shared_cpu_map", "80000002,00000001")] {
        root.write(&format!("{folder}/{file}"), text);
    }
    let (cpus, remarks) = root.read();
    assert_eq!(caches(&cpus.node(0)), [(2, 1 << 20, 10, DATA | INSTRUCTION, vec![10, 20, 30])]);
    assert_eq!(remarks, [""; 0]);
}

#[test]
fn caches_are_read_again_when_the_processors_are_others() {
    let root = Root::new();
    root.write("proc/cpuinfo", cpuinfo(&[(0, 4), (1, 6)]));
    two_cpus(&root, "sys/devices/system/node/node0");
    root.write("sys/devices/system/node/node0/cpu1/cache/index0/size", "odd\n");
    let first = root.read();
    let again = |earlier: &Cpus| Cpus::read(&Host::rooted(root.path()), Some(earlier.clone()));
    // Nothing that can be seen of the caches is read while the processors are the same.
    root.write("sys/devices/system/node/node0/cpu0/cache/index0/size", "1K\n");
    assert_eq!(again(&first.0), first);
    assert_eq!(first.1.len(), 1, "{:?}", first.1);
    // Their clock is no part of what they are.
    root.write("proc/cpuinfo", cpuinfo(&[(0, 4), (1, 6)]).replace("3400", "1200"));
    assert_eq!((again(&first.0).0.max_mhz(), first.0.max_mhz()), (1200, 3400));
    assert_eq!(caches(&again(&first.0).0.node(0)), caches(&first.0.node(0)));
    // One goes, one comes, one is another; or nobody knows.
    for records in [&[(0, 4)][..], &[(0, 4), (1, 6), (2, 8)], &[(0, 4), (1, 7)], &[]] {
        root.write("proc/cpuinfo", cpuinfo(records));
        let (cpus, remarks) = again(&first.0);
        assert_eq!((cpus, remarks), root.read());
        assert_eq!(caches(&again(&first.0).0.node(0))[0].1, 1 << 10);
    }
}

#[test]
fn the_running_machine() {
    let (cpus, _) = Cpus::read(&Host::live(), None);
    assert!(cpus.count() >= 1);
    assert!(host::system_memory_bytes() > 64 << 20);
    assert_eq!(cpus.node(5).properties.NumCPUCores, cpus.count());
}

/// A machine of two sockets whose NUMA nodes are 1 and 4, named by the kernel in the other order, with a memory-only
/// NUMA node before them and a GPU between the CPU nodes that cannot be used.
#[test]
fn cpu_nodes_of_the_kernel_get_the_names_and_caches_of_their_socket() {
    let root = Root::new();
    root.write("proc/cpuinfo", cpuinfo(&[(0, 0), (1, 2), (2, 64), (3, 66)]));
    for (numa, cpu, kib) in [(1, 0, "1K"), (1, 1, "2K"), (4, 2, "3K"), (4, 3, "4K")] {
        let folder = format!("sys/devices/system/node/node{numa}/cpu{cpu}");
        root.cache(&folder, 0, 1, "Data", kib, &cpu.to_string());
    }
    root.write("sys/devices/system/node/node0/meminfo", "");
    let cpus = root.read().0;
    assert_eq!([(66, 0), (2, 1), (999, 0), (999, 1)].map(|(id, at)| cpus.numa_node(id, at)), [4, 1, 1, 4].map(Some));
    assert_eq!(cpus.numa_node(999, 2), None);
    let tree = Tree::machine(1);
    tree.set(1, "simd_count", "x");
    tree.cpu(2);
    tree.set(0, "cpu_core_id_base", "64");
    let target = root.path().join("sys/devices/virtual/kfd/kfd/topology");
    fs::create_dir_all(target.parent().expect("below the root")).expect("created");
    let copied = std::process::Command::new("cp").arg("-r").arg(tree.path()).arg(&target).status();
    assert!(copied.expect("cp is there").success());

    let snapshot = read_tree(root.path()).expect("a machine root");
    assert_eq!((snapshot.nodes.len(), snapshot.skipped.len()), (2, 1));
    let sizes = |node: &Node| caches(node).iter().map(|cache| cache.1).collect::<Vec<_>>();
    assert_eq!(names(&snapshot.nodes[0].properties), ("Test CPU 2".into(), "Test CPU 2".into()));
    assert_eq!(names(&snapshot.nodes[1].properties), ("Test CPU 0".into(), "Test CPU 0".into()));
    assert_eq!((sizes(&snapshot.nodes[0]), sizes(&snapshot.nodes[1])), (vec![3072, 4096], vec![1024, 2048]));

    fs::remove_file(root.path().join("proc/cpuinfo")).expect("removed");
    let snapshot = read_tree(root.path()).expect("a machine root");
    assert_eq!(names(&snapshot.nodes[0].properties), (String::new(), String::new()));
    assert!(snapshot.remarks.iter().any(|remark| remark.starts_with("proc/cpuinfo is absent")));
}

#[test]
fn where_there_is_no_topology_the_places_are_named() {
    let root = Root::new();
    let error = read_tree(root.path()).expect_err("an error");
    let text = error.to_string();
    for place in ["sys/devices/virtual/kfd/kfd/topology/nodes", "sys/class/kfd/kfd/topology/nodes"] {
        assert!(text.contains(place), "{text}");
    }
    assert!(matches!(error, platform::Error::Kfd(Error::NoTree { tried }) if tried.len() == 3));
    root.write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 3\n");
    assert_eq!({ read_tree(root.path()).expect("there").nodes[0].properties.NumCPUCores }, 3);
}
