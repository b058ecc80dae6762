//! The shared object `libfake_kfd.so` in front of a C program.

#[path = "common/clients.rs"]
mod clients;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The shared object, which cargo builds together with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libfake_kfd.so");
    assert!(library.exists(), "{}", library.display());
    library
}

fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// smoke.c, compiled.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kfd-smoke");
        clients::compile(program, own("tests/smoke.c"), own("preload/include"), &[])
    })
}

/// Runs a scenario of smoke.c with only the variables that are given; it must end well, and leave no files.
fn run(scenario: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let temporary = tempfile::tempdir().unwrap();
    let mut command = Command::new(program());
    command.arg(scenario).env("LD_PRELOAD", library()).env("TMPDIR", temporary.path());
    clients::without_variables(&mut command);
    let Output { status, stdout, stderr } = command.envs(variables.iter().copied()).output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{scenario}: {status}, {}{stderr}", String::from_utf8_lossy(&stdout));
    let left = std::fs::read_dir(temporary.path()).unwrap().count();
    // What stands before an exec has no end of its own.
    assert_eq!(left, usize::from(scenario == "exec"), "generated files are removed at exit");
    stderr.lines().map(str::to_owned).collect()
}

const REPORT: (&str, &str) = ("ROCDXG_FAKE_REPORT", "1");

#[test]
fn rules_7_17_and_20_hold_for_a_c_program_and_the_ledger_agrees() {
    assert_eq!(run("vm", &[]), [""; 0]);
    let lines = run("vm", &[REPORT]);
    assert_eq!(lines.len(), 1);
    let words = "with 1 opens of /dev/kfd, 2 of render nodes, 1 bound VMs; 1 contract violations, the first: request";
    assert!(lines[0].contains(words), "{lines:?}");
}

#[test]
fn nodes_look_like_devices_and_sysfs_like_sysfs_and_the_rest_is_untouched() {
    assert_eq!(run("devices", &[REPORT]), [""; 0]);
    assert_eq!(run("nodes", &[REPORT]), [""; 0]);
}

#[test]
fn rules_3_10_62_and_64_hold_over_a_fork() {
    let lines = run("fork", &[REPORT]);
    assert_eq!(lines.len(), 2, "a report of each process: {lines:?}");
}

#[test]
fn rule_3_a_descriptor_that_came_through_exec_is_ebadf() {
    run("exec", &[]);
}

#[test]
fn rules_58_to_63_hold_for_mappings_and_all_of_one_page_share_bytes() {
    assert_eq!(run("maps", &[]), [""; 0]);
}

#[test]
fn rules_43_63_and_65_hold_for_buffers_and_their_mappings_share_bytes() {
    assert_eq!(run("buffers", &[]), [""; 0]);
}

#[test]
fn rules_90_98_and_100_hold_for_slots_in_memory_and_threads_that_sleep() {
    assert_eq!(run("events", &[]), [""; 0]);
}

#[test]
fn rule_119_files_of_a_hidden_gpu_open_and_do_not_read() {
    let machine = clients::hidden_gpu();
    assert_eq!(run("denied", &[("ROCDXG_FAKE_MACHINE", machine.path().to_str().unwrap()), REPORT]), [""; 0]);
}

#[test]
fn rules_122_to_125_hold_for_what_libdrm_asks() {
    assert_eq!(run("drm", &[]), [""; 0]);
}

#[test]
fn the_environment_chooses_kernel_and_failures() {
    let fails = ("ROCDXG_FAKE_KFD_FAIL", "OPEN:1:ENOMEM,GET_VERSION:2,OPEN_RENDER:0:EACCES");
    assert_eq!(run("fails", &[fails, ("ROCDXG_FAKE_KERNEL", "6.12")]), [""; 0]);
}

#[test]
fn a_captured_tree_is_served_and_its_gpus_are_the_machines() {
    let folder = tempfile::tempdir().unwrap();
    let tree = clients::captured_tree(folder.path());
    let variables = [("ROCDXG_FAKE_KFD_TREE", tree.to_str().unwrap()), ("ROCDXG_FAKE_MACHINE", "eight-gfx1100")];
    assert_eq!(run("nodes", &variables), [""; 0]);
    assert_eq!(run("vm", &variables), [""; 0], "one GPU, and the id that the tree has");
    assert!(tree.join("generation_id").exists(), "and it stays");
}

#[test]
fn nonsense_in_the_environment_is_one_line_and_no_device() {
    for (name, value, word) in [
        ("ROCDXG_FAKE_MACHINE", "no-such-machine", "no-such-machine"),
        ("ROCDXG_FAKE_KERNEL", "5.4", "kernel 5.4"),
        ("ROCDXG_FAKE_KFD_FAIL", "GET_VERSION:1,GET:2", "GET:2"),
        ("ROCDXG_FAKE_KFD_TREE", "/no/such/tree", "/no/such/tree"),
    ] {
        let lines = run("broken", &[(name, value), REPORT]);
        assert!(lines.len() == 1 && lines[0].contains(word), "{lines:?}");
    }
}

#[test]
fn the_header_declares_the_door() {
    let output = Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(library()).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let header = std::fs::read_to_string(own("preload/include/rocdxg_fake_kfd.h")).unwrap();
    let names: Vec<_> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let door: Vec<_> = names.iter().filter(|name| name.starts_with("rocdxg_")).collect();
    assert_eq!(door.len(), 5);
    for name in door {
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
    for name in ["open", "open64", "openat", "fopen", "opendir", "ioctl", "mmap", "mmap64", "fstat", "statx", "access"]
    {
        assert!(names.contains(&name), "{name}");
    }
}
