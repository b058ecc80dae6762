//! Each file of sysfs is opened at most once per snapshot: counted by inotify for a tree, and by a preloaded library for
//! whole programs on the software KFD.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;
#[path = "common/wsl.rs"]
mod wsl;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use kfd_tree::Tree;
use rocdxg::platform::kfd::sysfs::{self, Everything, Tolerance};
use rocdxg::platform::{Discovery, Options};
use wsl::Machine;

/// Counts openings of the files below a folder.
struct Watch {
    events: File,
    folders: BTreeMap<i32, PathBuf>,
}

impl Watch {
    fn new(root: &Path) -> Self {
        // SAFETY: takes flags only; the descriptor that it returns is ours alone.
        let events = unsafe { File::from_raw_fd(libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC)) };
        let mut watch = Self { events, folders: BTreeMap::new() };
        watch.add(root);
        watch
    }

    fn add(&mut self, folder: &Path) {
        let path = CString::new(folder.as_os_str().as_bytes()).expect("no NUL");
        // SAFETY: the path is a C string that outlives the call.
        let id = unsafe { libc::inotify_add_watch(self.events.as_raw_fd(), path.as_ptr(), libc::IN_OPEN) };
        assert!(id >= 0);
        self.folders.insert(id, folder.to_owned());
        for entry in fs::read_dir(folder).expect("readable") {
            let entry = entry.expect("readable").path();
            if entry.is_dir() {
                self.add(&entry);
            }
        }
    }

    /// Openings by file since the last call.
    fn opened(&mut self) -> BTreeMap<PathBuf, usize> {
        let mut counts = BTreeMap::new();
        let mut buffer = vec![0; 1 << 20];
        while let Ok(count) = self.events.read(&mut buffer) {
            let mut rest = &buffer[..count];
            while rest.len() >= 16 {
                let word = |at: usize| u32::from_ne_bytes(rest[at..at + 4].try_into().expect("four bytes"));
                let (id, mask, length) = (word(0) as i32, word(4), word(12) as usize);
                assert_eq!(mask & libc::IN_Q_OVERFLOW, 0);
                let name = CStr::from_bytes_until_nul(&rest[16..16 + length]).unwrap_or_default();
                if mask & libc::IN_ISDIR == 0 {
                    let path = self.folders[&id].join(name.to_str().expect("UTF-8"));
                    *counts.entry(path).or_default() += 1;
                }
                rest = &rest[16 + length..];
            }
        }
        counts
    }
}

#[test]
fn every_announced_file_is_opened_once() {
    let tree = Tree::machine(3);
    let mut watch = Watch::new(tree.path());
    watch.opened();
    for tolerance in [Tolerance::Live, Tolerance::Capture] {
        sysfs::read(tree.path(), &Options::default(), &Everything, tolerance).expect("whole");
        let opened = watch.opened();
        // Root files; gpu_id, properties and a bank per node; caches of the GPUs; links both ways.
        assert_eq!(opened.len(), 2 + 4 * 3 + 3 * 2 + 6, "{opened:#?}");
        assert!(opened.values().all(|count| *count == 1), "{opened:#?}");
    }
}

/// Reads a live tree: what was found, and how many files were opened, each once.
fn read(tree: &Tree, watch: &mut Watch, options: &Options) -> (Discovery, usize) {
    watch.opened();
    let found = sysfs::read(tree.path(), options, &Everything, Tolerance::Live).expect("whole");
    let opened = watch.opened();
    assert!(opened.values().all(|count| *count == 1), "{opened:#?}");
    (found, opened.len())
}

/// Files that are opened each time: two of the root, two of each node of `Tree::machine(3)`.
const ALWAYS: usize = 2 + 4 * 2;
/// All of them.
const ALL: usize = ALWAYS + 4 + 3 * 2 + 6;

#[test]
fn lists_are_read_again_when_the_generation_is_another() {
    let tree = Tree::machine(3);
    tree.write("nodes/2/caches/1/properties", format!("level 3\nsize 9\nsibling_map {}1\n", "1,".repeat(300)));
    let mut watch = Watch::new(tree.path());
    let options = Options::default();
    let (first, opened) = read(&tree, &mut watch, &options);
    assert_eq!((opened, first.remarks.len()), (ALL, 1), "{:?}", first.remarks);
    let mut expect = |what: &str, options: &Options, count: usize| {
        let (found, opened) = read(&tree, &mut watch, options);
        assert_eq!((found.nodes, found.remarks), (first.nodes.clone(), first.remarks.clone()), "{what}");
        assert_eq!(opened, count, "{what}");
    };
    expect("the same generation", &options, ALWAYS);
    expect("a copy of the options", &options.clone(), ALWAYS);
    expect("another process", &Options::default(), ALL);
    tree.write("generation_id", "3\n");
    expect("the next generation", &options, ALL);
    expect("the same generation as before", &options, ALWAYS);
    tree.write("aside", "3\n");
    tree.rename("aside", "generation_id");
    expect("the same number in another file: the driver was loaded anew", &options, ALL);
}

#[test]
fn a_node_that_announces_something_else_is_read_again() {
    let tree = Tree::machine(3);
    let mut watch = Watch::new(tree.path());
    let options = Options::default();
    read(&tree, &mut watch, &options);
    tree.set(2, "caches_count", "1");
    let (found, opened) = read(&tree, &mut watch, &options);
    assert_eq!((found.nodes[2].caches.len(), opened), (1, ALWAYS + 1 + 1 + 1));
    tree.write("nodes/3/gpu_id", "999\n");
    let (found, opened) = read(&tree, &mut watch, &options);
    assert_eq!(({ found.nodes[3].properties.KFDGpuID }, opened), (999, ALWAYS + 1 + 2 + 1));
}

#[test]
fn what_was_incomplete_is_read_again() {
    let tree = Tree::machine(3);
    let mut watch = Watch::new(tree.path());
    let options = Options::default();
    let (bank, whole) = ("nodes/1/mem_banks/0/properties", tree.read("nodes/1/mem_banks/0/properties"));
    tree.write(bank, "heap_type 1\nsize_in_bytes 25753");
    assert_eq!({ read(&tree, &mut watch, &options).0.nodes[1].banks[0].SizeInBytes }, 0);
    tree.write(bank, whole);
    let (found, opened) = read(&tree, &mut watch, &options);
    assert_eq!(({ found.nodes[1].banks[0].SizeInBytes }, opened), (25_753_026_560, ALWAYS + 1 + 2 + 1));
    assert_eq!(read(&tree, &mut watch, &options).1, ALWAYS);

    // So is a file that ends between two lines.
    tree.write("generation_id", "3\n");
    tree.write(bank, "heap_type 1\nsize_in_bytes 25753026560\n");
    assert_eq!(read(&tree, &mut watch, &options).0.remarks.len(), 1);
    assert_eq!(read(&tree, &mut watch, &options).1, ALWAYS + 1 + 2 + 1);

    // A GPU that could not be read is none; when its file is there again, so is the GPU.
    let tree = Tree::machine(2);
    let mut watch = Watch::new(tree.path());
    tree.rename("nodes/2/caches/1/properties", "nodes/2/caches/1/aside");
    assert_eq!(read_any(&tree, &options), 2);
    tree.rename("nodes/2/caches/1/aside", "nodes/2/caches/1/properties");
    assert_eq!(read(&tree, &mut watch, &options).0.nodes.len(), 3);
}

/// Number of nodes that a live tree gives, however many tries it takes.
fn read_any(tree: &Tree, options: &Options) -> usize {
    sysfs::read(tree.path(), options, &Everything, Tolerance::Live).expect("readable").nodes.len()
}

/// Openings by path below `/sys`, and of `/proc/cpuinfo`, of a program that does `turn` on the software KFD.
fn opened_by_program(folder: &Machine, turn: &str, variables: &[(&str, &Path)]) -> BTreeMap<String, usize> {
    let (count, log) = (folder.root().join("opens.so"), folder.root().join("opens"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/opens.c");
    let mut cc = std::process::Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&count).arg(source).arg("-ldl");
    assert!(cc.status().expect("a C compiler named cc").success());
    let _ = fs::remove_file(&log);
    let preload = format!("{}:{}", count.display(), wsl::built("libfake_kfd.so").display());
    let mut command = folder.command(folder.compile("kfd_cycles"));
    command.arg(turn).env_remove("ROCDXG_ROOT").env("LD_PRELOAD", preload).env("OPENS_LOG", &log);
    command.envs(variables.iter().copied());
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    let mut opened = BTreeMap::new();
    for path in fs::read_to_string(log).expect("written").lines() {
        if path.starts_with("/sys/") || path == "/proc/cpuinfo" {
            *opened.entry(path.to_owned()).or_default() += 1;
        }
    }
    opened
}

const TOPOLOGY: &str = "/sys/devices/virtual/kfd/kfd/topology";

#[test]
fn a_snapshot_of_a_whole_machine_opens_each_file_once() {
    let cpx = Tree::completed("mi300-cpx");
    let captured: &[(&str, &Path)] = &[("ROCDXG_FAKE_KFD_TREE", cpx.path())];
    for (machine, nodes, variables) in
        [("gfx1100", 2, &[][..]), ("two-gfx1100", 3, &[]), ("eight-gfx1100", 9, &[]), ("gfx1100", 65, captured)]
    {
        let folder = Machine::named(machine);
        let opened = opened_by_program(&folder, "turn", variables);
        assert!(opened.values().all(|count| *count == 1), "{machine}: {opened:#?}");
        let properties = |path: &&String| {
            path.starts_with(TOPOLOGY) && path.matches('/').count() == 9 && path.ends_with("/properties")
        };
        assert_eq!(opened.keys().filter(properties).count(), nodes, "{machine}: {opened:#?}");
        assert!(opened.contains_key("/proc/cpuinfo") && opened.len() > nodes * 4, "{machine}: {opened:#?}");
    }
}

#[test]
fn later_snapshots_of_a_program_open_what_can_have_changed() {
    let folder = Machine::named("two-gfx1100");
    // A turn, three snapshots on one open, a turn.
    let opened = opened_by_program(&folder, "again", &[]);
    let is_always = |path: &str| match path.strip_prefix(TOPOLOGY) {
        Some(file) => file.matches('/').count() < 4,
        None => path == "/proc/cpuinfo" || path.ends_with("cpuinfo_max_freq"),
    };
    assert!(opened.keys().any(|path| path.contains("/caches/")), "{opened:#?}");
    for (path, count) in opened {
        assert_eq!(count, if is_always(&path) { 5 } else { 1 }, "{path}");
    }
}
