//! The shared object `libdxcore.so`, as a C program meets it: what it exports, how it starts and how it ends.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The shared object, which cargo builds together with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libdxcore.so");
    assert!(library.exists(), "{}", library.display());
    library
}

fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A folder for one purpose, empty.
fn folder(purpose: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(purpose);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// smoke.c, compiled.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = folder("smoke").join("smoke");
        let status = Command::new("gcc")
            .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-I"])
            .arg(own("include"))
            .arg("-I")
            .arg(own("../../include"))
            .arg("-o")
            .arg(&program)
            .arg(own("tests/smoke.c"))
            .arg("-ldl")
            .status()
            .unwrap();
        assert!(status.success());
        program
    })
}

/// Runs a scenario of smoke.c, with only the variables that are given; it must end well.
fn run(scenario: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = Command::new(program());
    command.arg(library()).arg(scenario);
    for name in ["MACHINE", "FAIL", "REPORT", "DELAY_US", "HANDLES", "PAGING", "MEMORY", "NEED_NODE"] {
        command.env_remove(format!("ROCDXG_FAKE_{name}"));
    }
    let Output { status, stdout, stderr } =
        command.env_remove("ROCDXG_ROOT").envs(variables.iter().copied()).output().unwrap();
    assert!(status.success(), "{scenario}: {status}, {}", String::from_utf8_lossy(&stdout));
    String::from_utf8(stderr).unwrap().lines().map(str::to_owned).collect()
}

const REPORT: (&str, &str) = ("ROCDXG_FAKE_REPORT", "1");

#[test]
fn a_clean_program_is_silent() {
    assert_eq!(run("clean", &[REPORT]), [""; 0]);
    assert_eq!(
        run("clean", &[REPORT, ("ROCDXG_FAKE_DELAY_US", "100"), ("ROCDXG_FAKE_HANDLES", "reuse,collide")]),
        [""; 0]
    );
}

#[test]
fn a_c_program_gets_memory_through_the_provider() {
    assert_eq!(run("memory", &[REPORT]), [""; 0]);
    assert_eq!(run("memory", &[REPORT, ("ROCDXG_FAKE_PAGING", "delay=2000,seed=9")]), [""; 0]);
}

#[test]
fn rule_7_what_is_left_at_exit_is_one_line_on_request() {
    assert_eq!(run("leak", &[]), [""; 0]);
    let lines = run("leak", &[REPORT]);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("left 1 adapter opens, 1 devices, 0 paging queues; 0 contract violations"), "{lines:?}");
}

#[test]
fn violations_are_reported_at_exit_with_the_first_one_in_words() {
    let lines = run("violate", &[REPORT]);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("1 contract violations, the first: DestroyDevice: device handle 0x1234"), "{lines:?}");
}

/// A machine root with an empty device file.
fn root(purpose: &str) -> PathBuf {
    let root = folder(purpose);
    std::fs::create_dir(root.join("dev")).unwrap();
    std::fs::write(root.join("dev/dxg"), "").unwrap();
    root
}

#[test]
fn unloading_closes_the_device_file_and_reports_what_was_left() {
    let root = root("unload");
    let lines = run("unload", &[REPORT, ("ROCDXG_ROOT", root.to_str().unwrap())]);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines.iter().all(|l| l.contains("left 1 adapter opens, 1 devices")), "{lines:?}");
}

#[test]
fn rule_1_a_second_load_in_the_same_process_shares_handles() {
    assert_eq!(run("twice", &[REPORT]), [""; 0]);
}

#[test]
fn rule_3_a_child_has_a_device_file_and_a_report_of_its_own() {
    let root = root("fork");
    assert_eq!(run("fork", &[REPORT, ("ROCDXG_ROOT", root.to_str().unwrap())]), [""; 0]);
}

#[test]
fn rule_5_a_device_file_that_does_not_open_refuses_every_call() {
    let empty = folder("no-node");
    let empty = ("ROCDXG_ROOT", empty.to_str().unwrap());
    assert_eq!(run("clean", &[empty]), [""; 0], "an absent one does no harm");
    let lines = run("refused", &[empty, ("ROCDXG_FAKE_NEED_NODE", "1")]);
    assert!(lines.len() == 1 && lines[0].contains("/dev/dxg: No such file"), "{lines:?}");
    let root = folder("node-is-a-folder");
    std::fs::create_dir_all(root.join("dev/dxg")).unwrap();
    let lines = run("refused", &[("ROCDXG_ROOT", root.to_str().unwrap())]);
    assert!(lines.len() == 1 && lines[0].contains("/dev/dxg: Is a directory"), "{lines:?}");
}

#[test]
fn nonsense_in_the_environment_refuses_every_call_with_one_line() {
    let odd = folder("odd").join("odd.toml");
    std::fs::write(&odd, "[[adapter]]\nvendor = 'AMD'\n").unwrap();
    for (name, value, word) in [
        ("ROCDXG_FAKE_MACHINE", odd.to_str().unwrap(), "odd.toml: line 2: "),
        ("ROCDXG_FAKE_MACHINE", "no-such-machine", "no-such-machine"),
        ("ROCDXG_FAKE_FAIL", "CreateDevice:1,Create:2", "Create:2"),
        ("ROCDXG_FAKE_FAIL", "CreateDevice", "CreateDevice"),
        ("ROCDXG_FAKE_FAIL", "CreateDevice:1:x", "CreateDevice:1:x"),
        ("ROCDXG_FAKE_DELAY_US", "soon", "soon"),
        ("ROCDXG_FAKE_HANDLES", "recycle", "recycle"),
        ("ROCDXG_FAKE_PAGING", "delay=soon", "delay=soon"),
        ("ROCDXG_FAKE_MEMORY", "lenient", "lenient"),
    ] {
        let lines = run("refused", &[(name, value), REPORT]);
        assert!(lines.len() == 1 && lines[0].contains(word), "{lines:?}");
    }
}

#[test]
fn the_environment_chooses_machine_and_failures() {
    let path = own("../machines/apu.toml");
    assert_eq!(run("clean", &[("ROCDXG_FAKE_MACHINE", path.to_str().unwrap())]), [""; 0]);
    assert_eq!(run("clean", &[("ROCDXG_FAKE_MACHINE", "compute-only")]), [""; 0]);
    let fails = "CreateDevice:1, CloseAdapter:1:0xC01E0100";
    assert_eq!(run("fails", &[("ROCDXG_FAKE_FAIL", fails), REPORT]), [""; 0]);
}

#[test]
fn it_exports_its_own_calls_and_nothing_else() {
    let output = Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(library()).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let exports: Vec<&str> = text.lines().map(|l| l.split_whitespace().next().unwrap()).collect();
    let known = |name: &&&str| dxcore::lookup(name).is_some();
    assert_eq!(exports.iter().filter(known).count(), 32);
    let header = std::fs::read_to_string(own("include/rocdxg_fake.h")).unwrap();
    for name in exports.iter().filter(|n| dxcore::lookup(n).is_none()) {
        assert!(name.starts_with("rocdxg_fake_"), "{name}");
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
}
