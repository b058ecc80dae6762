//! What the thunk says and does where the machine does not let it work: one status, one line, nothing left behind.

#[path = "common/wsl.rs"]
mod wsl;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use wsl::Machine;

/// Runs `open_once` and returns its lines and the log.
fn open_once(machine: &Machine, variables: &[(&str, &str)], arguments: &[&Path]) -> (Vec<String>, Vec<String>) {
    let mut command = machine.command(machine.compile("open_once"));
    command.env("HSAKMT_DEBUG_LEVEL", "3").args(arguments);
    for (name, value) in variables {
        command.env(name, value);
    }
    let output = command.output().expect("the program starts");
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let (out, log) = (lines(&output.stdout), lines(&output.stderr));
    assert!(output.status.success(), "{out:?} {log:?}");
    assert!(!log.iter().any(|line| line.contains("rocdxg-fake")), "{log:?}");
    (out, log)
}

const NOT_OPENED: &str = "open 20 acquire 20 nodes 0 release 20 close 20 files +0";
const NO_LIBRARY: &str = "open 1 acquire 20 nodes 0 release 20 close 20 files +0";
const FINE: &str = "open 0 acquire 0 nodes 2 release 0 close 0 files +0";

/// Compiles `tests/c/<name>.c` as a shared object.
fn shared_object(name: &str, to: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name).with_extension("c");
    let mut cc = std::process::Command::new("cc");
    let status = cc.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]).arg(to).arg(source).arg("-ldl");
    assert!(status.status().expect("a C compiler named cc").success());
}

#[test]
fn it_works_where_everything_is_there() {
    let machine = Machine::named("gfx1100");
    let (out, log) = open_once(&machine, &[], &[]);
    assert_eq!(out, [FINE; 2]);
    assert_eq!(log, Vec::<String>::new());
}

#[test]
fn a_device_file_that_cannot_be_opened_is_named_with_its_reason() {
    let machine = Machine::named("gfx1100");
    let shim = machine.root().join("deny.so");
    shared_object("deny", &shim);
    for errno in
        [libc::ENOENT, libc::EACCES, libc::EPERM, libc::ENOMEM, libc::EFAULT, libc::EINVAL, libc::EMFILE, libc::EBADF]
    {
        let denied = errno.to_string();
        let preload = shim.to_str().expect("paths here are text");
        let (out, log) = open_once(&machine, &[("LD_PRELOAD", preload), ("DENY_ERRNO", &denied)], &[]);
        assert_eq!(out, [NOT_OPENED; 2], "errno {errno}");
        assert_eq!(log.len(), 2, "one line for each try: {log:?}");
        let reason = std::io::Error::from_raw_os_error(errno).to_string();
        assert!(log.iter().all(|line| line.contains(&format!("dev/dxg: {reason}"))), "{log:?}");
        assert!(log.iter().all(|line| line.contains("dev/kfd: No such file")), "what else was tried: {log:?}");
    }
}

#[test]
fn a_privileged_program_does_not_follow_variables_that_name_files() {
    let machine = Machine::named("gfx1100");
    let shims = ["deny", "privileged"].map(|name| machine.root().join(name).with_extension("so"));
    for (shim, name) in shims.iter().zip(["deny", "privileged"]) {
        shared_object(name, shim);
    }
    let [deny, both] = [&shims[..1], &shims].map(|shims| {
        shims.iter().map(|shim| shim.to_str().expect("paths here are text")).collect::<Vec<_>>().join(":")
    });
    let root = machine.root();
    let log_of = |preload: &str| {
        let denied = libc::EACCES.to_string();
        let provider = root.join("provider.so");
        let variables = [
            ("LD_PRELOAD", preload),
            ("DENY_ERRNO", &denied),
            ("ROCDXG_PLATFORM", "dxg"),
            ("ROCDXG_KMD_PROVIDER", provider.to_str().expect("paths here are text")),
            ("HSAKMT_DEBUG_LEVEL", "4"),
        ];
        let (out, log) = open_once(&machine, &variables, &[]);
        assert_eq!(out, [NOT_OPENED; 2]);
        log.join("\n")
    };
    let (plain, privileged) = (log_of(&deny), log_of(&both));
    let root = root.to_str().expect("paths here are text");
    assert!(plain.contains(root) && !plain.contains("ignored"), "{plain}");
    assert!(!privileged.contains(root) && privileged.contains(" /dev/dxg: Permission denied"), "{privileged}");
    for name in ["ROCDXG_ROOT", "ROCDXG_KMD_PROVIDER"] {
        assert!(privileged.contains(&format!("{name} is ignored")), "{name}: {privileged}");
    }
}

#[test]
fn a_missing_device_file_can_appear_later() {
    let machine = Machine::named("gfx1100");
    let (there, aside) = (machine.root().join("dev/dxg"), machine.root().join("aside"));
    fs::rename(&there, &aside).expect("the folder is ours");
    let (out, log) = open_once(&machine, &[], &[&aside, &there]);
    assert_eq!(out, [NOT_OPENED, NOT_OPENED, FINE]);
    assert!(log[0].contains("[hsaKmtOpenKFD]") && log[0].contains("No such file"), "{log:?}");
}

#[test]
fn a_missing_library_is_named_with_both_places() {
    let machine = Machine::named("gfx1100");
    fs::remove_file(machine.libraries().join("libdxcore.so")).expect("it is there");
    let (out, log) = open_once(&machine, &[], &[]);
    assert_eq!(out, [NO_LIBRARY; 2]);
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log[0].contains("libdxcore.so") && log[0].contains("usr/lib/wsl/lib"), "{log:?}");
}

#[test]
fn a_library_without_entry_points_is_refused_and_can_be_replaced() {
    let machine = Machine::named("gfx1100");
    let (there, aside) = (machine.libraries().join("libdxcore.so"), machine.root().join("aside"));
    let built = fs::read_link(&there).expect("a link to what cargo built");
    fs::remove_file(&there).expect("it is there");
    symlink(built, &aside).expect("the folder is ours");
    shared_object("half_dxcore", &there);
    let (out, log) = open_once(&machine, &[], &[&aside, &there]);
    assert_eq!(out, [NO_LIBRARY, NO_LIBRARY, FINE]);
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log[0].contains("has no D3DKMTCloseAdapter") && log[0].contains("D3DKMTQueryAdapterInfo"), "{log:?}");
    assert!(!log[0].contains("D3DKMTEnumAdapters3"), "that one is there: {log:?}");
}

#[test]
fn the_library_path_wins_and_the_mount_of_wsl_serves() {
    let machine = Machine::named("gfx1100");
    let mount: PathBuf = machine.root().join("usr/lib/wsl/lib");
    fs::create_dir_all(&mount).expect("the folder is ours");
    let half = mount.join("libdxcore.so");
    shared_object("half_dxcore", &half);
    assert_eq!(open_once(&machine, &[], &[]).0, [FINE; 2], "the one on the library path is used");

    let good = machine.libraries().join("libdxcore.so");
    let built = fs::read_link(&good).expect("a link to what cargo built");
    fs::remove_file(&good).expect("it is there");
    fs::remove_file(&half).expect("it is there");
    symlink(built, &half).expect("the folder is ours");
    assert_eq!(open_once(&machine, &[], &[]).0, [FINE; 2], "the one that WSL mounts is used");
}

#[test]
fn what_cpuinfo_says_costs_no_gpu() {
    let machine = Machine::named("gfx1100");
    let proc = machine.root().join("proc");
    fs::create_dir_all(&proc).expect("the folder is ours");
    let huge = "processor\t: 0\napicid\t: 0\nmodel name\t: ".to_owned() + &"x".repeat(20 << 20);
    for odd in ["", "\n\n\n", "processor : 4294967295\napicid : 99999999999\n", "processor\t: x\nmodel name", &huge] {
        fs::write(proc.join("cpuinfo"), odd).expect("the folder is ours");
        let (out, log) = open_once(&machine, &[("HSAKMT_DEBUG_LEVEL", "4")], &[]);
        assert_eq!(out, [FINE; 2], "{:.40}", odd);
        assert!(!log.is_empty(), "{odd:.40}");
        assert!(log.iter().all(|line| line.len() <= 1024));
    }
}

#[test]
fn an_adapter_that_is_left_out_gets_one_line() {
    let machine = Machine::named("two-gfx1100");
    let fail = [("HSAKMT_DEBUG_LEVEL", "4"), ("ROCDXG_FAKE_FAIL", "QueryAdapterInfo/31:1")];
    let (out, log) = open_once(&machine, &fail, &[]);
    assert_eq!(out, [FINE; 2], "the other card is there");
    let lines: Vec<_> = log.iter().filter(|line| line.contains("is skipped")).collect();
    assert_eq!(lines.len(), 2, "one for each snapshot: {log:?}");
    for part in ["adapter 0", "D3DKMTQueryAdapterInfo(PHYSICALADAPTERDEVICEIDS)", "STATUS_INVALID_PARAMETER"] {
        assert!(lines[0].contains(part), "{part} in {lines:?}");
    }
}

#[test]
fn each_mistake_of_a_caller_gets_one_line() {
    let machine = Machine::named("gfx1100");
    let mut command = machine.command(machine.compile("bad_input"));
    let output = command.env("HSAKMT_DEBUG_LEVEL", "4").output().expect("the program starts");
    assert!(output.status.success());
    let log = String::from_utf8_lossy(&output.stderr);
    let of = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!(of("[hsaKmtGetNodeProperties] NodeProperties is NULL"), 4);
    assert_eq!(of("[DxgAbiCheck] StructureSizes is NULL"), 4);
    assert_eq!(of("[hsaKmtGetNodeCacheProperties] 4294967295 caches asked for"), 1);
    assert_eq!(of("[hsaKmtGetNodeMemoryProperties] 4294967295 memory banks asked for"), 1);
}

#[test]
fn a_library_that_is_closed_stays_and_answers_to_both_names() {
    let machine = Machine::named("gfx1100");
    let output = machine.command(machine.compile("reload")).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn b021_detection_variables_of_the_runtime_do_not_matter() {
    let machine = Machine::named("gfx1100");
    for value in ["", "0", "1"] {
        assert_eq!(open_once(&machine, &[("HSA_ENABLE_DXG_DETECTION", value)], &[]).0, [FINE; 2], "{value:?}");
    }
}
