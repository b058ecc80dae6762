//! `/dev/kfd` as a platform: choosing it, opening it, and what the kernel binds to a process. The machine is a root with
//! plain files for the device nodes and a small topology; `tests/c/kfd_ioctls.c` answers the ioctls.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;
#[path = "common/wsl.rs"]
mod wsl;

use std::fs;
use std::path::{Path, PathBuf};

use kfd_tree::Tree;
use wsl::Machine;

/// A machine with GPUs 101, 102, ... behind `/dev/kfd`, and a WSL device unless it is taken away.
struct Bare {
    machine: Machine,
    gpus: u32,
    program: PathBuf,
    shim: PathBuf,
    deny: PathBuf,
}

/// What a program said: on its output, in the log, and to the kernel as (request, gpu, errno) with the process last.
struct Said {
    out: Vec<String>,
    log: Vec<String>,
    calls: Vec<(u32, u32, i32, u32)>,
}

const SET_MEMORY_POLICY: u32 = 0x04;
const ACQUIRE_VM: u32 = 0x15;
const ALLOC_MEMORY: u32 = 0x16;

impl Bare {
    /// Both devices are there.
    fn beside_wsl(gpus: u32) -> Self {
        let machine = Machine::named("gfx1100");
        let root = machine.root();
        fs::create_dir_all(root.join("dev/dri")).expect("the folder is ours");
        fs::write(root.join("dev/kfd"), "").expect("the folder is ours");
        for gpu in 0..gpus {
            fs::write(root.join(format!("dev/dri/renderD{}", 128 + gpu)), "").expect("the folder is ours");
        }
        let tree = root.join("sys/devices/virtual/kfd/kfd");
        fs::create_dir_all(&tree).expect("the folder is ours");
        let made = Tree::machine(gpus);
        let copied = std::process::Command::new("cp").arg("-r").arg(made.path()).arg(tree.join("topology")).status();
        assert!(copied.expect("cp is there").success());
        let (shim, deny) = (root.join("kfd_ioctls.so"), root.join("deny.so"));
        for (name, to) in [("kfd_ioctls", &shim), ("deny", &deny)] {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name).with_extension("c");
            let mut cc = std::process::Command::new("cc");
            let status =
                cc.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]).arg(to).arg(source).arg("-ldl");
            assert!(status.status().expect("a C compiler named cc").success());
        }
        let program = machine.compile("kfd_cycles");
        Self { machine, gpus, program, shim, deny }
    }

    /// Only `/dev/kfd` is there.
    fn metal(gpus: u32) -> Self {
        let bare = Self::beside_wsl(gpus);
        fs::remove_file(bare.machine.root().join("dev/dxg")).expect("it is there");
        bare
    }

    fn run(&self, turn: &str, variables: &[(&str, &str)]) -> Said {
        self.run_with(turn, variables, &[&self.shim])
    }

    fn run_with(&self, turn: &str, variables: &[(&str, &str)], preload: &[&Path]) -> Said {
        let calls = self.machine.root().join("calls");
        let _ = fs::remove_file(&calls);
        let preload: Vec<_> = preload.iter().map(|path| path.to_str().expect("paths here are text")).collect();
        let mut command = self.machine.command(&self.program);
        command.arg(turn).env("HSAKMT_DEBUG_LEVEL", "4");
        command.env("LD_PRELOAD", preload.join(":")).env("SHIM_GPUS", self.gpus.to_string()).env("SHIM_LOG", &calls);
        for (name, value) in variables {
            command.env(name, value);
        }
        let output = command.output().expect("the program starts");
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
        let (out, log) = (lines(&output.stdout), lines(&output.stderr));
        assert!(output.status.success(), "{out:?} {log:?}");
        let calls = fs::read_to_string(calls).unwrap_or_default();
        let call = |line: &str| {
            let numbers: Vec<u32> = line.split(' ').map(|n| n.parse().expect("a number")).collect();
            (numbers[1], numbers[2], numbers[3] as i32, numbers[0])
        };
        // The CPU of this root is not described, and a program may ask for the node behind the last.
        let usual = ["proc/cpuinfo", "no CPU caches", "there is no node"];
        let log = log.into_iter().filter(|line| !usual.iter().any(|text| line.contains(text))).collect();
        // This kernel has no page of remapped registers, which every GPU is asked for.
        let calls = calls.lines().map(call).filter(|call| call.0 != ALLOC_MEMORY).collect();
        Said { out, log, calls }
    }
}

impl Said {
    /// GPUs for which a request was made, in order.
    fn gpus_of(&self, request: u32) -> Vec<u32> {
        self.calls.iter().filter(|call| call.0 == request).map(|call| call.1).collect()
    }

    fn lines_with(&self, text: &str) -> usize {
        self.log.iter().filter(|line| line.contains(text)).count()
    }
}

const CPU: &str = "node 0 gpu 0 links";

#[test]
fn nodes_have_the_banks_that_only_the_kernel_knows() {
    let said = Bare::metal(2).run("show", &[("SHIM_VERSION", "1.23")]);
    let banks = "1 0 5ff000000 | 4 1000000000000 10000 | 5 2000000000000 100000000 | 6 200000 7fffffe00000";
    assert_eq!(said.out[..2], ["open 0", "interface 1.23"]);
    assert!(said.out[2].starts_with(&format!("{CPU} 2 | 0 0 ")), "{:?}", said.out);
    // Two direct links would be one to the CPU and an indirect one to the other GPU; this kernel lists them itself.
    assert_eq!(
        said.out[3..],
        [format!("node 1 gpu 101 links 1 | {banks}"), format!("node 2 gpu 102 links 1 | {banks}")]
    );
    assert_eq!(said.log, Vec::<String>::new());
    assert_eq!((said.gpus_of(ACQUIRE_VM), said.gpus_of(SET_MEMORY_POLICY)), (vec![101, 102], vec![101, 102]));
    assert!(said.calls.iter().all(|call| call.2 == 0), "{:?}", said.calls);
}

#[test]
fn what_the_kernel_binds_to_a_process_is_asked_for_once() {
    let said = Bare::metal(2).run("again", &[]);
    let turn = "open 0 acquire 0 nodes 3 release 0 close 0";
    assert_eq!(said.out, [turn, turn, "kept 3"], "/dev/kfd and two render nodes are kept");
    assert_eq!((said.gpus_of(ACQUIRE_VM), said.gpus_of(SET_MEMORY_POLICY)), (vec![101, 102], vec![101, 102]));
    assert!(said.calls.iter().all(|call| call.2 == 0), "{:?}", said.calls);
}

#[test]
fn a_fork_child_has_its_own_files_and_bindings() {
    let said = Bare::metal(2).run("forked", &[]);
    let again = "open 22 acquire 0 nodes 3 release 0 close 0";
    assert_eq!(said.out, [again, again, "open 0 acquire 0 nodes 3 release 0 close 0"]);
    let mut by_process = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for call in said.calls.iter().filter(|call| call.0 == ACQUIRE_VM) {
        by_process.entry(call.3).or_default().push(call.1);
    }
    assert_eq!(by_process.into_values().collect::<Vec<_>>(), [[101, 102], [101, 102], [101, 102]]);
    assert!(said.calls.iter().all(|call| call.2 == 0), "{:?}", said.calls);
}

#[test]
fn a_fork_child_closes_no_file_of_its_own() {
    let said = Bare::metal(2).run("strangers", &[]);
    assert_eq!(said.out, ["open 0 acquire 0 nodes 3 release 0 close 0"]);
}

#[test]
fn a_process_without_descriptors_gets_a_status_and_a_second_chance() {
    let said = Bare::metal(2).run("hog", &[("SHIM_LOG", "")]);
    let (refused, complete) = ("acquire 1 nodes 0", "acquire 0 nodes 3");
    let count = |text: &str| said.out.iter().filter(|line| *line == text).count();
    assert_eq!((said.out.len(), said.out[0].as_str()), (9, "open 20"));
    assert_eq!(said.out[8], "open 0 acquire 0 nodes 3 release 0 close 0");
    assert_eq!(count(refused) + count(complete), 7, "all GPUs or none: {:?}", said.out);
    assert!(count(refused) >= 2 && count(complete) >= 2, "{:?}", said.out);
    assert_eq!(said.lines_with("dev/kfd: Too many open files"), 1, "{:?}", said.log);
    assert_eq!(said.lines_with("Too many open files"), 1 + count(refused), "{:?}", said.log);
}

#[test]
fn descriptors_that_somebody_closed_are_not_used() {
    let said = Bare::metal(1).run("swept", &[]);
    // The kernel keeps the VM bound to the render file that is gone, so the second time there is no GPU.
    let turn = |nodes| format!("open 0 acquire 0 nodes {nodes} release 0 close 0");
    assert_eq!(said.out, [turn(2), turn(1)]);
    assert_eq!(said.calls.last().map(|call| (call.0, call.2)), Some((ACQUIRE_VM, libc::EBUSY)));
    assert_eq!(said.lines_with("AMDKFD_IOC_ACQUIRE_VM failed: Device or resource busy"), 1, "{:?}", said.log);
}

#[test]
fn every_reason_for_which_the_device_does_not_open_is_told_in_one_line() {
    let bare = Bare::metal(1);
    for errno in
        [libc::ENOENT, libc::EACCES, libc::EPERM, libc::ENOMEM, libc::EFAULT, libc::EINVAL, libc::EMFILE, libc::ENODEV]
    {
        let number = errno.to_string();
        let deny = [("DENY_NAME", "kfd"), ("DENY_ERRNO", number.as_str()), ("HSAKMT_DEBUG_LEVEL", "3")];
        let said = bare.run_with("show", &deny, &[&bare.shim, &bare.deny]);
        assert_eq!(said.out, ["open 20"], "errno {errno}");
        assert_eq!(said.log.len(), 1, "{:?}", said.log);
        let reason = std::io::Error::from_raw_os_error(errno).to_string();
        let line = &said.log[0];
        assert!(line.contains(&format!("dev/kfd: {reason}")), "{line}");
        assert!(line.contains("dev/dxg: No such file"), "the other one was tried too: {line}");
        assert_eq!(said.calls, []);
    }
}

#[test]
fn another_interface_is_a_driver_mismatch_and_a_failing_version_an_error() {
    let bare = Bare::metal(1);
    let said = bare.run("show", &[("SHIM_VERSION", "2.3")]);
    assert_eq!(said.out, ["open 2"]);
    assert_eq!(said.log.len(), 1, "{:?}", said.log);
    assert!(said.log[0].contains("interface 2.3"), "{:?}", said.log);
    let said = bare.run("show", &[("SHIM_FAIL", "1 0 5")]);
    assert_eq!(said.out, ["open 1"]);
    assert_eq!(said.lines_with("AMDKFD_IOC_GET_VERSION failed: Input/output error"), 1, "{:?}", said.log);
}

#[test]
fn a_machine_without_a_gpu_has_its_cpu() {
    let said = Bare::metal(0).run("show", &[]);
    assert_eq!(said.out.len(), 3, "{:?}", said.out);
    assert!(said.out[2].starts_with(CPU));
    assert_eq!((said.gpus_of(ACQUIRE_VM), said.log), (vec![], vec![]));
}

#[test]
fn a_render_node_that_does_not_open_costs_its_gpu_only() {
    let bare = Bare::metal(2);
    for (errno, lines) in [(libc::EACCES, 1), (libc::EPERM, 0), (libc::ENOENT, 0), (libc::ENODEV, 1)] {
        let number = errno.to_string();
        let deny = [("DENY_NAME", "renderD128"), ("DENY_ERRNO", number.as_str())];
        let said = bare.run_with("show", &deny, &[&bare.shim, &bare.deny]);
        assert_eq!(said.out.len(), 4, "{:?}", said.out);
        assert!(said.out[2].starts_with("node 0 gpu 0 links 1"), "the link to it is gone: {:?}", said.out);
        assert!(said.out[3].starts_with("node 1 gpu 102 links 1"), "{:?}", said.out);
        assert_eq!(said.lines_with("is skipped"), lines, "errno {errno}: {:?}", said.log);
        assert_eq!(said.lines_with("dev/dri/renderD128: "), lines, "{:?}", said.log);
        assert_eq!(said.gpus_of(ACQUIRE_VM), [102]);
    }
}

#[test]
fn a_gpu_that_the_kernel_refuses_is_skipped_and_named() {
    let bare = Bare::metal(2);
    let whom = "nodes/2 (gpu_id 102) is skipped";
    for (fail, call) in [("21 102 16", "AMDKFD_IOC_ACQUIRE_VM"), ("4 102 22", "AMDKFD_IOC_SET_MEMORY_POLICY")] {
        let said = bare.run("show", &[("SHIM_FAIL", fail)]);
        assert_eq!(said.out.len(), 4, "{:?}", said.out);
        assert!(said.log.len() == 1 && said.log[0].contains(whom) && said.log[0].contains(call), "{:?}", said.log);
    }
    let said = bare.run("show", &[("SHIM_GPUS", "1")]);
    assert!(said.log.len() == 1 && said.log[0].contains(whom), "the cgroup hides it: {:?}", said.log);

    let said = bare.run("turn", &[("SHIM_FAIL", "21 102 12")]);
    assert_eq!(said.out, ["open 0 acquire 6 nodes 0 release 0 close 0"], "no memory is not the GPU's fault");
    let said = bare.run("turn", &[("SHIM_FAIL", "20 0 14")]);
    assert_eq!(said.out, ["open 0 acquire 1 nodes 0 release 0 close 0"]);
}

#[test]
fn the_device_that_can_be_used_is_chosen_or_the_one_that_is_named() {
    const ON_WSL: &str = "node 1 gpu 2";
    const ON_METAL: &str = "node 1 gpu 101";
    let both = Bare::beside_wsl(1);
    let node = |said: &Said| said.out[3].split(" links").next().unwrap_or("").to_owned();

    let said = both.run("show", &[]);
    assert_eq!((node(&said).as_str(), said.log.len()), (ON_METAL, 0), "{:?}", said.log);
    for (value, expected) in [("dxg", ON_WSL), ("kfd", ON_METAL)] {
        let said = both.run("show", &[("ROCDXG_PLATFORM", value)]);
        assert_eq!((node(&said).as_str(), said.log.len()), (expected, 0), "{:?}", said.log);
    }
    let said = both.run("show", &[("ROCDXG_PLATFORM", "cuda")]);
    assert_eq!(node(&said), ON_METAL);
    assert_eq!(said.lines_with("ROCDXG_PLATFORM=\"cuda\" is neither kfd nor dxg"), 1, "{:?}", said.log);

    // There, and of no use: the other one serves, and the reason is told.
    let said = both.run("show", &[("SHIM_FAIL", "1 0 25")]);
    assert_eq!(node(&said), ON_WSL);
    assert!(said.log.len() == 1 && said.log[0].contains("AMDKFD_IOC_GET_VERSION"), "{:?}", said.log);

    let said = both.run("show", &[("SHIM_FAIL", "1 0 25"), ("ROCDXG_PLATFORM", "kfd")]);
    assert_eq!((said.out.len(), said.out[0].as_str()), (1, "open 1"));
    let said = Bare::metal(1).run("show", &[("ROCDXG_PLATFORM", "dxg")]);
    assert_eq!(said.out, ["open 20"]);
    assert_eq!((said.lines_with("dev/dxg"), said.lines_with("dev/kfd")), (1, 0), "{:?}", said.log);
}
