//! The command as people and scripts run it. The environment of each run is made here: no test looks at the GPU of
//! the machine that it runs on.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const TOOL: &str = env!("CARGO_BIN_EXE_rocdxg-info");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn tool<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(TOOL);
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if ["HSA", "ROC", "LIBROCDXG", "NO_COLOR"].iter().any(|prefix| name_text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command.args(args);
    command
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

/// Output of a run that succeeds and has nothing to complain about.
fn page(args: &[&str]) -> String {
    // What the library leaves open or does against the contract of libdxcore is one line on standard error.
    let output = run(tool(args).env("ROCDXG_FAKE_REPORT", "1"));
    assert!(output.status.success(), "{args:?}: {output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&page(&[args, &["--json"]].concat())).unwrap()
}

/// The one line that a failing run leaves.
fn failure(command: &mut Command, status: i32) -> String {
    let output = run(command);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{line}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

fn machines() -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(Path::new(REPOSITORY).join("fakes/machines"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 5);
    files
}

/// A captured KFD tree of the library's tests, unpacked.
fn captured(name: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let data = Path::new(REPOSITORY).join("tests/data/kfd");
    let archive = data.join(format!("{name}.tar.gz"));
    let mut copy = if archive.exists() {
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(archive).arg("-C").arg(folder.path());
        tar
    } else {
        let mut cp = Command::new("cp");
        cp.arg("-r").arg(data.join(name).join(".")).arg(folder.path());
        cp
    };
    assert!(copy.status().unwrap().success(), "{copy:?}");
    folder
}

fn captures() -> Vec<String> {
    let entries = fs::read_dir(Path::new(REPOSITORY).join("tests/data/kfd")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let trees: Vec<_> =
        names.filter(|name| name != "README.md").map(|name| name.trim_end_matches(".tar.gz").to_owned()).collect();
    assert!(trees.len() > 5);
    trees
}

/// Lines of tables: from a head, which a line of dashes follows, to the next empty line.
fn table_lines(page: &str) -> Vec<&str> {
    let lines: Vec<_> = page.lines().collect();
    let is_rule = |line: &str| line.len() > 10 && line.bytes().all(|byte| byte == b'-');
    let mut found = Vec::new();
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| is_rule(line)) {
        found.extend(lines[index - 1..].iter().take_while(|line| !line.is_empty()));
    }
    found
}

#[test]
fn the_emulated_machine_is_one_cpu_and_one_gpu() {
    let document = json(&["--emulate", "gfx1100"]);
    assert_eq!(document["emulated"], true);
    assert_eq!(document["source"]["kind"], "emulation");
    assert_eq!(document["no_device"], Value::Null);
    assert_eq!(document["system"]["NumNodes"], 2);
    let [cpu, gpu] = document["nodes"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!((&cpu["kind"], &gpu["kind"]), (&"CPU".into(), &"GPU".into()));
    let properties = &gpu["properties"];
    let number = |name: &str| properties[name].as_u64().unwrap();
    let units = gpu["compute_units"].as_u64().unwrap();
    assert_eq!(units, 96);
    assert_eq!(number("NumCUPerArray"), units / (number("NumShaderBanks") * number("NumArrays")));
    assert_eq!(number("NumFComputeCores"), units * number("NumSIMDPerCU"));
    assert_eq!(gpu["gfx"], "gfx1100");
    assert_eq!(gpu["pci_address"], "0000:03:00.0");
    assert_eq!(gpu["luid"], "00000000:00008001");
    assert_eq!(properties["MarketingName"], "AMD Radeon RX 7900 XTX");
    assert_eq!(properties["EngineId"]["Major"], 11);
    assert_eq!(properties["Capability"]["DoorbellType"], 2);
    assert_eq!(gpu["links"][0]["IoLinkType"]["Name"], "HSA_IOLINKTYPE_PCIEXPRESS");
    for (list, count) in [("banks", "NumMemoryBanks"), ("caches", "NumCaches"), ("links", "NumIOLinks")] {
        assert_eq!(gpu[list].as_array().unwrap().len() as u64, number(count));
    }
    assert_eq!(json(&["--emulate", "gfx1100", "--node", "1"])["nodes"], Value::from(vec![gpu.clone()]));
}

#[test]
fn every_machine_file_shows_in_every_mode_and_leaves_nothing_open() {
    for file in machines() {
        let path = file.to_str().unwrap();
        let document = json(&["--emulate", path]);
        assert_eq!(document["emulated"], true);
        let nodes = document["nodes"].as_array().unwrap();
        assert_eq!(document["system"]["NumNodes"], nodes.len());
        let screen = page(&["--emulate", path]);
        let tree = page(&["--emulate", path, "--tree"]);
        for text in [&screen, &tree] {
            assert!(text.starts_with("EMULATED: "), "{text}");
            assert!(!text.contains('\x1b'), "escape codes in a pipe");
        }
        for node in nodes {
            let id = node["id"].to_string();
            let name = node["name"].as_str().unwrap();
            assert!(tree.contains(&format!("{id} {}", node["kind"].as_str().unwrap())), "{tree}");
            assert!(tree.contains(name), "{tree}");
            let detail = page(&["--emulate", path, "--node", &id]);
            assert!(detail.contains(name) && detail.starts_with("EMULATED: "), "{detail}");
            for field in node["properties"].as_object().unwrap().keys() {
                assert!(detail.lines().any(|line| line.split(' ').next() == Some(field)), "{field}");
            }
            assert!(table_lines(&detail).iter().all(|line| line.chars().count() <= 120), "{detail}");
        }
        for skipped in document["skipped"].as_array().unwrap() {
            assert!(screen.contains(skipped["reason"].as_str().unwrap()), "{screen}");
        }
        assert!(table_lines(&screen).len() > nodes.len());
        assert!(table_lines(&screen).iter().all(|line| line.chars().count() <= 120), "{screen}");
    }
}

#[test]
fn json_keys_are_those_of_the_readme() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let mut documented: Vec<_> =
        readme.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(key, _)| key).collect();
    let document = json(&["--emulate", "gfx1100"]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut found = keys(&document);
    found.extend(keys(&document["nodes"][1]));
    documented.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, documented);
}

#[test]
fn captured_mi210_shows_its_nodes_and_xgmi_links() {
    let tree = captured("mi210-8gpu-xgmi");
    let root = ["--root", tree.path().to_str().unwrap()];
    let document = json(&root);
    assert_eq!(document["emulated"], false);
    let nodes = document["nodes"].as_array().unwrap();
    let count = |kind: &str| nodes.iter().filter(|node| node["kind"] == kind).count();
    assert_eq!((count("CPU"), count("GPU")), (2, 8));
    for node in nodes.iter().filter(|node| node["kind"] == "GPU") {
        let links = node["links"].as_array().unwrap();
        let xgmi = links.iter().filter(|link| link["IoLinkType"]["Name"] == "HSA_IOLINK_TYPE_XGMI").count();
        assert_eq!((xgmi, &node["gfx"], &node["compute_units"]), (3, &"gfx90a".into(), &104.into()));
    }
    let screen = page(&root);
    assert!(screen.contains("2 CPU nodes, 8 GPU nodes"), "{screen}");
    assert_eq!(screen.matches("AMD Instinct MI210").count(), 8);
    let drawn = page(&[root.as_slice(), &["--tree"]].concat());
    assert!(drawn.contains("-> 3-5  [XGMI weight 15 Override]"), "{drawn}");
    assert_eq!(drawn.matches("[XGMI weight 15").count(), 8);
}

#[test]
fn every_captured_tree_shows_in_every_mode() {
    for name in captures() {
        let tree = captured(&name);
        let root = ["--root", tree.path().to_str().unwrap()];
        let nodes = json(&root)["nodes"].as_array().unwrap().len();
        assert!(nodes > 0);
        let screen = page(&root);
        assert!(table_lines(&screen).iter().all(|line| line.chars().count() <= 120), "{screen}");
        let drawn = page(&[root.as_slice(), &["--tree"]].concat());
        let own_line =
            |id: usize| move |line: &str| line.trim_start_matches(['|', '-', '`', ' ']).starts_with(&format!("{id} "));
        for id in 0..nodes {
            assert_eq!(drawn.lines().filter(|line| own_line(id)(line)).count(), 1, "{name}: node {id}");
        }
        let last = (nodes - 1).to_string();
        assert!(page(&[root.as_slice(), &["--node", &last]].concat()).contains("HsaNodeProperties"));
    }
}

#[test]
fn no_device_is_explained_first_and_emulation_follows() {
    let root = TempDir::new().unwrap();
    let path = root.path().to_str().unwrap();
    let output = run(tool(["--tree"]).env("ROCDXG_ROOT", path));
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let first = text.lines().next().unwrap();
    assert!(first.contains("No GPU device") && first.contains("KERNEL_IO_CHANNEL_NOT_OPENED (20)"), "{first}");
    for tried in ["dev/dxg: No such file", "dev/kfd: No such file", "sys/class/kfd/kfd/topology"] {
        assert!(text.contains(&format!("{path}/{tried}")), "{text}");
    }
    let emulated = text.find("What follows is EMULATED: gfx1100").unwrap();
    assert!(emulated < text.find("0 CPU").unwrap(), "{text}");

    let output = run(tool(["--json"]).env("ROCDXG_ROOT", path));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["emulated"], true);
    assert_eq!(document["no_device"]["status"]["Value"], 20);
    assert!(document["no_device"]["reason"].as_str().unwrap().contains(path));

    let line = failure(tool(["--no-emulate"]).env("ROCDXG_ROOT", path), 3);
    assert!(line.contains(&format!("{path}/dev/dxg")) && line.contains("No such file"), "{line}");
}

#[test]
fn files_of_the_machine_are_shown_when_its_device_cannot_be_opened() {
    let root = TempDir::new().unwrap();
    let parent = root.path().join("sys/devices/virtual/kfd/kfd");
    fs::create_dir_all(&parent).unwrap();
    let tree = captured("vega10-1gpu-captured");
    assert!(Command::new("cp").arg("-r").arg(tree.path()).arg(parent.join("topology")).status().unwrap().success());
    let output = run(tool(["--json", "--no-emulate"]).env("ROCDXG_ROOT", root.path()));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["source"]["kind"], "files");
    assert_eq!(document["emulated"], false);
    assert_eq!(document["no_device"]["call"], "hsaKmtOpenKFD");
    assert_eq!(document["nodes"][1]["gfx"], "gfx900");
}

#[test]
fn a_root_with_a_device_file_is_opened_through_the_library() {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("dev")).unwrap();
    fs::write(root.path().join("dev/dxg"), "").unwrap();
    let args = ["--root", root.path().to_str().unwrap()];
    // Found before the machine's own, if it has one.
    let none = TempDir::new().unwrap();
    fs::write(none.path().join("libdxcore.so"), "no library").unwrap();
    let line = failure(tool(args).env("LD_LIBRARY_PATH", none.path()), 3);
    assert!(line.contains("libdxcore.so") && line.contains("HSAKMT_STATUS_ERROR (1)"), "{line}");

    // Cargo builds the shared object of a dependency beside its other files.
    let libraries = Path::new(TOOL).with_file_name("deps");
    let output = run(tool(args).arg("--json").env("LD_LIBRARY_PATH", libraries).env("ROCDXG_FAKE_MACHINE", "dgpu-apu"));
    assert!(output.status.success(), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["source"]["kind"], "device");
    assert_eq!(document["source"]["root"], args[1]);
    assert_eq!(document["emulated"], false);
    assert_eq!(document["nodes"].as_array().unwrap().len(), 3);
}

#[test]
fn what_cannot_be_shown_is_status_3_and_one_line() {
    let empty = TempDir::new().unwrap();
    let empty = empty.path().to_str().unwrap();
    let odd = TempDir::new().unwrap();
    let odd = odd.path().join("odd.toml");
    fs::write(&odd, "speed = 3\n").unwrap();
    let odd = odd.to_str().unwrap();
    for (args, words) in [
        (["--emulate", "no-such-machine"], "two-gfx1100"),
        (["--emulate", odd], "odd.toml"),
        (["--root", "/no/such/folder"], "/no/such/folder"),
        (["--root", empty], "topology"),
    ] {
        let line = failure(&mut tool(args), 3);
        assert!(line.contains(words), "{line}");
    }
    let line = failure(tool(["--emulate", "gfx1100"]).env("ROCDXG_FAKE_FAIL", "EnumAdapters3:0"), 3);
    assert!(line.contains("hsaKmtAcquireSystemProperties returned HSAKMT_STATUS_"), "{line}");
}

#[test]
fn wrong_calls_are_status_2() {
    for args in [
        vec!["--speed"],
        vec!["--node"],
        vec!["--node", "-1"],
        vec!["--node", "4294967296"],
        vec!["--tree", "--json"],
        vec!["--emulate", "gfx1100", "--root", "/"],
        vec!["--emulate", "gfx1100", "--no-emulate"],
    ] {
        let output = run(&mut tool(&args));
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
    for id in ["2", "4294967295"] {
        let line = failure(&mut tool(["--emulate", "gfx1100", "--node", id]), 2);
        assert!(line.contains(&format!("no node {id}")) && line.contains("2 nodes"), "{line}");
    }
}

#[test]
fn names_cannot_steer_a_terminal() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("odd.toml");
    let machine = fs::read_to_string(Path::new(REPOSITORY).join("fakes/machines/gfx1100.toml")).unwrap();
    let odd =
        machine.replace("\nname = \"AMD Radeon RX 7900 XTX\"", "\nname = [0x41, 0x1b, 0x5b, 0x32, 0x4a, 0xd800, 0x0a]");
    assert_ne!(odd, machine);
    fs::write(&file, odd).unwrap();
    let emulate = ["--emulate", file.to_str().unwrap()];
    for mode in [["--node", "1"].as_slice(), &["--tree"], &["--json"], &[]] {
        let text = page(&[&emulate, mode].concat());
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(text.contains("[2J"), "{text}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    // More than a pipe holds, so that the tool cannot finish before the pipe is closed.
    let tree = captured("mi210-8gpu-xgmi");
    let args = ["--json", "--root", tree.path().to_str().unwrap()];
    assert!(page(&args).len() > 1 << 16);
    let mut command = tool(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_full_disk_is_a_failure() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = run(tool(["--emulate", "gfx1100"]).stdout(full));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
}
