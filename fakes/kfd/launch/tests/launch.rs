//! `fake-kfd run` with C programs: the clients of the preloaded library, and static ones that use no function of libc.
//!
//! Needs root, mount namespaces and seccomp's user notifications: where they are missing, every test fails with the
//! launcher's words.

#[path = "../../tests/common/clients.rs"]
mod clients;

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A C program, compiled once for each name.
fn compile(name: &str, source: &str, flags: &[&str]) -> PathBuf {
    // Other packages have folders beside this one.
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-kfd-launch").join(name);
    clients::compile(program, own(source), own("../preload/include"), flags)
}

/// The client that also runs under the preloaded library: linked as usual, and static.
fn smoke() -> &'static [PathBuf; 2] {
    static PROGRAMS: OnceLock<[PathBuf; 2]> = OnceLock::new();
    let source = "../tests/smoke.c";
    PROGRAMS.get_or_init(|| [compile("smoke", source, &[]), compile("smoke-static", source, &["-static"])])
}

/// The static client with raw system calls.
fn raw() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compile("launched", "tests/launched.c", &["-static"]))
}

/// The launcher without any variable of the fake, for a minute at most.
fn launcher() -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "5", "60", env!("CARGO_BIN_EXE_fake-kfd")]);
    clients::without_variables(&mut command);
    command.env_remove("LD_PRELOAD").stdin(Stdio::null()).arg("run");
    command
}

/// Runs a program that must end well: the report, and standard error.
fn run(options: &[&str], program: &Path, arguments: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let mut command = launcher();
    command.args(options).arg("--report").arg(&report).arg("--").arg(program).args(arguments);
    let Output { status, stdout, stderr } = command.output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{arguments:?}: {status}, {}{stderr}", String::from_utf8_lossy(&stdout));
    (serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap(), stderr)
}

/// Runs a scenario of smoke.c, linked in both ways, without any violation: what the processes had at their ends, as open
/// files of `/dev/kfd` and of render nodes, processes, VMs, buffers, mappings, events.
fn smoke_leaves(options: &[&str], scenario: &str, left: [u64; 7]) {
    for program in smoke() {
        let (report, stderr) = run(options, program, &[scenario]);
        assert_eq!(stderr, "");
        assert_eq!(report["violations"], json!([]), "{scenario}");
        assert_eq!(left_in(&report), left, "{scenario}");
    }
}

fn left_in(report: &Value) -> [u64; 7] {
    ["kfd_opens", "render_opens", "processes", "bound_vms", "buffers", "mappings", "events"]
        .map(|name| report["left"][name].as_u64().unwrap())
}

/// Runs a shell script.
fn script(options: &[&str], text: &str) -> Output {
    launcher().args(options).args(["--", "sh", "-c", text]).output().unwrap()
}

#[test]
fn rules_7_17_and_20_hold_and_the_report_tells_what_was_asked_and_left() {
    for program in smoke() {
        let (report, _) = run(&[], program, &["vm"]);
        assert_eq!(left_in(&report), [1, 2, 1, 1, 0, 0, 0]);
        assert_eq!(report["unknown"], json!({"0xc0284b82": 1}));
        assert_eq!(report["violation_count"], 1);
        assert!(report["violations"][0].as_str().unwrap().contains("0xc0284b82"));
        assert_eq!(report["calls"]["OPEN"], 2);
        assert_eq!(report["calls"]["ACQUIRE_VM"], 6);
        assert_eq!(report["status"], 0);
    }
}

#[test]
fn nodes_and_sysfs_are_there_and_the_rest_is_untouched() {
    smoke_leaves(&[], "nodes", [1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn several_gpus_look_like_devices_by_their_descriptors() {
    smoke_leaves(&["--machine", "two-gfx1100"], "devices", [1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn rules_3_and_10_hold_over_a_fork() {
    smoke_leaves(&[], "fork", [2, 2, 2, 2, 0, 0, 0]);
}

#[test]
fn rule_3_a_descriptor_that_came_through_exec_is_ebadf() {
    smoke_leaves(&[], "exec", [3, 0, 2, 0, 0, 0, 0]);
}

#[test]
fn rules_34_43_and_65_hold_for_buffers_and_their_mappings_share_bytes() {
    smoke_leaves(&[], "buffers", [1, 2, 1, 1, 2, 0, 0]);
}

#[test]
fn rules_90_98_and_100_hold_for_slots_in_memory_and_threads_that_sleep() {
    smoke_leaves(&[], "events", [2, 1, 2, 1, 1, 0, 3]);
}

#[test]
fn rules_122_to_125_hold_for_what_libdrm_asks() {
    smoke_leaves(&[], "drm", [0, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn rule_119_files_of_a_hidden_gpu_open_and_do_not_read() {
    let machine = clients::hidden_gpu();
    smoke_leaves(&["--machine", machine.path().to_str().unwrap()], "denied", [1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn calls_fail_on_request_and_opens_cannot() {
    smoke_leaves(&["--fail", "GET_VERSION:2", "--kernel", "6.12"], "fails", [1, 0, 1, 0, 0, 0, 0]);
    for name in ["OPEN:1", "GET_VERSION:1, OPEN_RENDER:0:EACCES"] {
        let output = script(&["--fail", name], "echo it runs");
        assert_eq!(output.status.code(), Some(125));
        assert_eq!(output.stdout, b"");
        assert!(String::from_utf8_lossy(&output.stderr).contains("opens are not seen"));
    }
}

#[test]
fn a_captured_tree_is_served_and_its_gpus_are_the_machines() {
    let folder = tempfile::tempdir().unwrap();
    let tree = clients::captured_tree(folder.path());
    let options = ["--tree", tree.to_str().unwrap()];
    let output = script(&options, "cat /sys/devices/virtual/kfd/kfd/topology/nodes/1/gpu_id");
    assert_eq!(output.stdout, b"99\n");
    smoke_leaves(&options, "nodes", [1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn a_static_program_without_libc_has_memory_of_its_own_and_bad_calls_are_recorded() {
    let (report, _) = run(&[], raw(), &["raw"]);
    assert_eq!(left_in(&report), [1, 1, 1, 1, 3, 0, 0]);
    assert_eq!(report["unknown"], json!({"0x80084b7f": 1}));
    assert_eq!(report["violation_count"], 2);
}

#[test]
fn rules_98_and_100_time_outs_take_their_time_and_sleepers_hold_nobody_up() {
    run(&[], raw(), &["waits"]);
}

#[test]
fn rule_103_a_signal_ends_a_wait_and_the_death_of_a_sleeper_holds_nobody_up() {
    let (report, _) = run(&[], raw(), &["interrupted"]);
    assert_eq!(left_in(&report), [2, 2, 2, 2, 0, 0, 2]);
}

#[test]
fn a_file_is_its_openers_whoever_uses_it_first_and_numbers_come_again() {
    let (report, _) = run(&[], raw(), &["inherited"]);
    assert_eq!(report["calls"]["OPEN"], 3002);
    assert_eq!(left_in(&report)[..3], [2, 0, 2], "closed files are closed");
}

#[test]
fn rule_3_holds_for_programs_that_a_vfork_child_starts() {
    let (report, _) = run(&[], raw(), &["spawns"]);
    assert_eq!(left_in(&report)[..3], [3, 0, 3]);
}

#[test]
fn threads_open_and_close_at_once() {
    let (report, _) = run(&[], raw(), &["threads"]);
    assert_eq!(report["calls"]["GET_VERSION"], 4 * 50 * 10);
}

#[test]
fn freed_memory_goes_back_to_the_system() {
    run(&[], raw(), &["reclaim"]);
}

#[test]
fn nothing_is_mounted_outside_while_it_runs_and_after() {
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let (before, kfd) = (mounts(), Path::new("/dev/kfd").exists());
    let mut shell = launcher();
    shell.args(["sh", "-c", "test -e /dev/kfd && echo there && read line"]);
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(shell.stdout.take().unwrap()), &mut line).unwrap();
    assert_eq!(line, "there\n");
    assert_eq!((mounts(), Path::new("/dev/kfd").exists()), (before.clone(), kfd));
    assert!(!Path::new("/sys/devices/virtual/kfd/kfd/topology/nodes/1").exists() || kfd);
    drop(shell.stdin.take());
    shell.wait().unwrap();
    assert_eq!((mounts(), Path::new("/dev/kfd").exists()), (before, kfd));
}

#[test]
fn the_exit_status_is_the_programs() {
    let status = |text: &str| script(&[], text).status.code();
    assert_eq!(status("exit 0"), Some(0));
    assert_eq!(status("exit 42"), Some(42));
    assert_eq!(status("kill -TERM $$"), Some(128 + libc::SIGTERM));
    assert_eq!(status("kill -KILL $$"), Some(128 + libc::SIGKILL));
    assert_eq!(launcher().args(["--", "/no/such/program"]).output().unwrap().status.code(), Some(127));
    assert_eq!(launcher().args(["--", "/dev/null"]).output().unwrap().status.code(), Some(126));
    assert_eq!(launcher().output().unwrap().status.code(), Some(2), "no program");
}

#[test]
fn nonsense_is_one_line_and_no_program() {
    for (option, value, word) in [
        ("--machine", "no-such-machine", "no-such-machine"),
        ("--kernel", "5.4", "kernel 5.4"),
        ("--fail", "GET_VERSION:1,GET:2", "GET:2"),
        ("--tree", "/no/such/tree", "/no/such/tree"),
        ("--root", "/no/such/root", "/no/such/root"),
        ("--report", "/no/such/folder/report", "/no/such/folder"),
    ] {
        let output = script(&[option, value], "echo it runs");
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(125), &b""[..]), "{option}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.lines().count() == 1 && stderr.contains(word), "{stderr}");
    }
}

#[test]
fn options_come_before_the_environment_and_the_line_at_the_end_is_asked_for() {
    let mut command = launcher();
    command.env("ROCDXG_FAKE_MACHINE", "two-gfx1100").env("ROCDXG_FAKE_REPORT", "1");
    let output = command.args(["--", "sh", "-c", "ls /dev/dri"]).output().unwrap();
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"renderD128\nrenderD129\n"[..], &b""[..]));
    let mut command = launcher();
    command.env("ROCDXG_FAKE_MACHINE", "two-gfx1100").env("ROCDXG_FAKE_REPORT", "1");
    let output = command.args(["--machine", "gfx1100", "--"]).arg(&smoke()[0]).arg("vm").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let words =
        "fake-kfd: ended with 1 opens of /dev/kfd, 2 of render nodes, 1 bound VMs; 1 contract violations, the first";
    assert!(output.status.success() && stderr.starts_with(words) && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn a_script_starts_clients_that_see_one_driver_and_what_it_leaves_is_killed() {
    let start = Instant::now();
    let text = format!("{0} vm && {0} events && {1} raw; sleep 1000 & exit 3", smoke()[0].display(), raw().display());
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let mut command = launcher();
    command.arg("--report").arg(&report).args(["sh", "-c", &text]);
    assert_eq!(command.output().unwrap().status.code(), Some(3));
    assert!(start.elapsed() < Duration::from_secs(60));
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["status"], 3);
    assert_eq!(left_in(&report), [1 + 2 + 1, 2 + 1 + 1, 1 + 2 + 1, 3, 1 + 3, 0, 3]);
}

#[test]
fn signals_go_on_to_the_program() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-kfd"));
        command.args([
            "run",
            "sh",
            "-c",
            "trap 'exit 9' TERM INT; echo ready; for i in $(seq 200); do sleep 0.05; done",
        ]);
        // A shell cannot trap what was ignored before it, as in the background of another shell.
        // SAFETY: between fork and exec only the disposition of a signal is set, which is safe there.
        unsafe {
            command.pre_exec(move || {
                libc::signal(signal, libc::SIG_DFL);
                Ok(())
            })
        };
        let mut child = command.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut String::new()).unwrap();
        // SAFETY: a child of ours that has not been waited for.
        unsafe { libc::kill(child.id().cast_signed(), signal) };
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(9), None));
    }
}

#[test]
fn another_root_has_the_devices_and_keeps_no_mount() {
    let root = tempfile::tempdir().unwrap();
    for folder in ["proc", "sys", "dev", "bin"] {
        std::fs::create_dir(root.path().join(folder)).unwrap();
    }
    for (program, name) in [(raw(), "launched"), (&smoke()[1], "smoke")] {
        std::fs::copy(program, root.path().join("bin").join(name)).unwrap();
    }
    let options = ["--root", root.path().to_str().unwrap()];
    let (report, _) = run(&options, Path::new("/bin/launched"), &["raw"]);
    assert_eq!(left_in(&report), [1, 1, 1, 1, 3, 0, 0]);
    run(&options, Path::new("/bin/smoke"), &["nodes"]);
    run(&options, Path::new("/bin/smoke"), &["buffers"]);
    for folder in ["proc", "sys", "dev"] {
        assert_eq!(std::fs::read_dir(root.path().join(folder)).unwrap().count(), 0, "{folder}");
    }
}
