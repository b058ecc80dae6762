//! The set of exports, seen from four sides.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::facts;

/// Exports beyond the version script of the original (134 names at 2af3cac5), and who asks for them.
const BEYOND_THE_ORIGINAL: [&str; 4] = [
    "DxgAbiCheck",                         // ROCr, optionally
    "hsaKmtAllocMemoryHostGtt",            // ROCr on a branch
    "hsaKmtGetKernelDebugTrapVersionInfo", // libhsakmt 5.2.3 had it, and hsakmt.h declares it
    "hsaKmtSetPersistingCacheSize",        // ROCr on a branch
];

/// What `libhsakmt.so.1` leaves to others: libdrm has the calls of its own name, the rest is of WSL.
const NOT_OF_HSAKMT: [&str; 3] = ["amdgpu_", "drmCommandWriteRead", "rocdxg_smi_"];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref()).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(here(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    files.sort();
    files
}

/// Functions that the headers declare.
fn declared() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for header in files("include/hsakmt") {
        let text = read(&header);
        let code: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        for declaration in code.join(" ").split("HSAKMTAPI ").skip(1) {
            let head = declaration.split('(').next().expect("split gives at least one");
            found.insert(head.split_whitespace().last().expect("a declaration has a name").to_owned());
        }
    }
    found
}

/// Name and parameters of each function inside `exports!` in the sources.
fn defined() -> Vec<(String, Vec<(String, String)>)> {
    let mut found = Vec::new();
    for source in files("src/ffi") {
        let text = read(&source);
        // What is asked who calls has a first parameter that is no part of the contract.
        let text = text.replace("\ncaller_exports! {\n", "\nexports! {\n");
        for block in text.split("\nexports! {\n").skip(1) {
            let block = block.split("\n}\n").next().expect("split gives at least one");
            for function in block.split("\n    fn ").skip(1).chain(block.strip_prefix("    fn ")) {
                let (name, rest) = function.split_once('(').expect("a function has parameters");
                let list = rest.split(')').next().expect("split gives at least one");
                let parameters = list.split(',').map(str::trim);
                let parameters =
                    parameters.filter(|parameter| !parameter.is_empty() && !parameter.ends_with(": Caller"));
                let parameters = parameters.map(|parameter| {
                    let (name, kind) = parameter.split_once(": ").expect("a parameter has a type");
                    (name.trim_start_matches("r#").to_owned(), kind.to_owned())
                });
                found.push((name.to_owned(), parameters.collect()));
            }
        }
    }
    found
}

/// A C type of the facts as the sources spell it.
fn rust(c_type: &str) -> String {
    if let Some(target) = facts::pointee(c_type) {
        let access = if c_type.starts_with("const ") { "const" } else { "mut" };
        return format!("*{access} {}", rust(target));
    }
    match c_type {
        "void" => "c_void",
        "int" => "c_int",
        "unsigned int" => "c_uint",
        "unsigned long" => "c_ulong",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "int64_t" => "i64",
        other if other.starts_with("struct amdgpu_") => "c_void",
        other => other.trim_start_matches("struct ").trim_start_matches("enum "),
    }
    .to_owned()
}

/// Functions in the dynamic table of the built library, with their versions.
fn exported() -> BTreeSet<String> {
    let library = std::env::current_exe().expect("the path of this test").with_file_name("librocdxg.so");
    let output =
        Command::new("readelf").args(["-W", "--dyn-syms"]).arg(&library).output().expect("readelf of binutils");
    assert!(output.status.success(), "{}", library.display());
    let table = String::from_utf8(output.stdout).expect("names are text");
    let symbols = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    symbols
        .filter(|fields| fields.len() >= 8 && fields[3] == "FUNC" && fields[4] == "GLOBAL" && fields[6] != "UND")
        .map(|fields| fields[7].to_owned())
        .collect()
}

fn names(script: &str) -> BTreeSet<String> {
    let listed = facts::listed(&read(here(script)));
    assert!(listed.is_sorted(), "{script} is not sorted");
    let names: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(names.len(), listed.len(), "{script} repeats a name");
    names
}

fn is_drm(name: &str) -> bool {
    name.starts_with("amdgpu_") || name.starts_with("drm")
}

#[test]
fn headers_sources_script_and_library_name_the_same_functions() {
    let listed = names("librocdxg.ver");
    let defined: BTreeSet<_> = defined().into_iter().map(|(name, _)| name).collect();
    assert_eq!(defined, listed, "the sources and the script");
    let versioned: BTreeSet<_> = listed.iter().map(|name| format!("{name}@@HSAKMT_1")).collect();
    assert_eq!(exported(), versioned, "the library and the script");
    let ours: BTreeSet<_> = listed.into_iter().filter(|name| !is_drm(name)).collect();
    assert_eq!(declared(), ours, "the headers and the script");
}

#[test]
fn signatures_are_those_of_the_facts() {
    let facts = facts::exports();
    for (name, parameters) in defined() {
        let fact =
            facts.iter().find(|function| function.name == name).unwrap_or_else(|| panic!("no fact about {name}"));
        let wanted: Vec<_> = fact.parameters.iter().map(|p| (p.name.clone(), rust(&p.c_type))).collect();
        assert_eq!(parameters, wanted, "{name}");
    }
}

#[test]
fn the_scripts_are_those_of_the_originals_and_what_clients_ask_for_beyond() {
    let abi = facts::abi();
    let script = |name: &str| -> BTreeSet<String> {
        serde_json::from_value(abi["version_scripts"][name].clone()).expect("a version script")
    };
    let beyond = BEYOND_THE_ORIGINAL.map(str::to_owned);
    let all = names("librocdxg.ver");
    assert_eq!(all, script("librocdxg_newest_intree").into_iter().chain(beyond).collect());

    let of_hsakmt = names("hsakmt/libhsakmt.ver");
    let own = |name: &&String| !NOT_OF_HSAKMT.iter().any(|start| name.starts_with(start));
    assert_eq!(of_hsakmt, all.iter().filter(own).cloned().collect());
    for release in ["libhsakmt_5.2.3", "libhsakmt_6.2.4", "libhsakmt_6.4.3", "libhsakmt_aug2025", "libhsakmt_newest"] {
        assert_eq!(script(release).difference(&of_hsakmt).next(), None, "{release}");
    }
    for release in ["librocdxg_external_7df3f055", "librocdxg_168b15a6"] {
        assert_eq!(script(release).difference(&all).next(), None, "{release}");
    }
}

#[test]
fn every_client_finds_every_name_it_wants() {
    let (all, of_hsakmt) = (names("librocdxg.ver"), names("hsakmt/libhsakmt.ver"));
    let required = facts::required();
    assert_eq!(required.len(), 10);
    for (client, wanted) in required {
        assert!(!wanted.is_empty());
        // Debian's runtimes up to 6.1.2 are linked with the library of bare metal; all others load the one of WSL.
        let there = if client.starts_with("debian_bookworm") || client.starts_with("debian_trixie") {
            &of_hsakmt
        } else {
            &all
        };
        let missing: Vec<_> = wanted.iter().filter(|name| !there.contains(*name)).collect();
        assert_eq!(missing, Vec::<&String>::new(), "{client}");
    }
}
