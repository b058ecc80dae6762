//! Consumers of every release in one process: each is served the structures that it was built with.
//!
//! `consumer.c` is compiled against the layouts of a release, which come from `historical_structs` of
//! `tests/data/abi.json`, as a shared object or as the program. What it reads is compared field by field with what a
//! consumer of the newest release reads.

#[path = "../common/wsl.rs"]
mod wsl;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use wsl::Machine;

/// The structures that differ between releases, and the macro that lists the fields of each.
const STRUCTURES: [(&str, &str); 3] = [
    ("HsaNodeProperties", "NODE_FIELDS"),
    ("HsaCacheProperties", "CACHE_FIELDS"),
    ("HsaIoLinkProperties", "LINK_FIELDS"),
];

/// Names that a field had before, by the newest name.
const RENAMED: [(&str, &str); 1] = [("Reserved2", "Integrated")];

fn facts() -> Value {
    serde_json::from_str(include_str!("../data/abi.json")).expect("the facts are JSON")
}

/// The layouts of a release; what it has not is as in August 2025, and "newest" is the present.
fn layout(facts: &Value, release: &str, structure: &str) -> Value {
    let of = |release: &str| facts["historical_structs"][release].get(structure).cloned();
    match release {
        "newest" => facts["structs"][structure].clone(),
        // Reached 396 bytes before the caches grew.
        "396" if structure == "HsaCacheProperties" => of("aug2025").expect("it is listed"),
        "396" => facts["structs"][structure].clone(),
        _ => of(release).or_else(|| of("aug2025")).expect("it is listed"),
    }
}

/// A header with the structures of a release: each field is as many bytes as it was, where it was.
fn header(facts: &Value, release: &str) -> String {
    let mut text = String::from("#include <stddef.h>\n#pragma pack(push, 1)\n");
    for (structure, list) in STRUCTURES {
        let layout = layout(facts, release, structure);
        let (mut members, mut checks, mut fields, mut end) = (String::new(), String::new(), String::new(), 0);
        for field in layout["fields"].as_array().expect("fields") {
            let (name, offset, size) = (&field["name"], &field["offset"], &field["size"]);
            let name = name.as_str().unwrap_or("Unnamed");
            let (offset, size) = (offset.as_u64().expect("an offset"), size.as_u64().expect("a size"));
            assert_eq!(offset, end, "{release} {structure}.{name}: fields follow each other");
            end = offset + size;
            writeln!(members, "    unsigned char {name}[{size}];").unwrap();
            writeln!(checks, "_Static_assert(offsetof({structure}, {name}) == {offset}, \"{name}\");").unwrap();
            write!(fields, " X({name})").unwrap();
        }
        let size = &layout["size"];
        writeln!(text, "typedef struct {{\n{members}}} {structure};").unwrap();
        writeln!(text, "_Static_assert(sizeof({structure}) == {size}, \"size\");\n{checks}").unwrap();
        writeln!(text, "#define {list}(X){fields}").unwrap();
    }
    text + "#pragma pack(pop)\n"
}

/// One consumer of a release, compiled.
struct Built<'a> {
    machine: &'a Machine,
    folder: PathBuf,
    library: &'static str,
}

impl<'a> Built<'a> {
    fn new(machine: &'a Machine, release: &str, library: &'static str) -> Self {
        let folder = machine.root().join(format!("consumer-{release}"));
        std::fs::create_dir_all(&folder).expect("the folder is ours");
        std::fs::write(folder.join("generation.h"), header(&facts(), release)).expect("the folder is ours");
        Self { machine, folder, library }
    }

    fn compile(&self, name: &str, flags: &[&str]) -> PathBuf {
        let file = self.folder.join(name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generations/consumer.c");
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]).args(flags).arg("-I").arg(&self.folder);
        cc.arg(source).arg("-o").arg(&file).arg("-L").arg(self.machine.libraries());
        let output = cc.args([self.library, "-ldl", "-lpthread"]).output().expect("a C compiler named cc");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        file
    }

    /// As a shared object, called through stubs of its linkage table or, without them, through its slots.
    fn shared(&self, with_stubs: bool) -> String {
        let plt = if with_stubs { "-fplt" } else { "-fno-plt" };
        let name = format!("consumer{plt}.so");
        self.compile(&name, &["-shared", "-fPIC", plt]).to_str().expect("paths here are text").to_owned()
    }

    fn program(&self) -> PathBuf {
        self.compile("program", &["-DPROGRAM"])
    }

    /// As a program that lies at fixed addresses.
    fn fixed_program(&self) -> PathBuf {
        self.compile("fixed", &["-DPROGRAM", "-no-pie", "-fno-pie"])
    }
}

/// What one consumer printed: bytes by structure and field.
type Seen = BTreeMap<(String, String), String>;

/// Runs a program with consumers and environment; what each of them saw, in order.
fn run(machine: &Machine, program: &Path, consumers: &[String], variables: &[(&str, &str)]) -> Vec<Seen> {
    let mut command = machine.command(program);
    command.args(consumers).envs(variables.iter().copied());
    let output = command.output().expect("the program starts");
    let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{consumers:?} {variables:?}: {}\n{log}", output.status);
    let mut all = Vec::new();
    for line in out.lines() {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["consumer", _] => all.push(Seen::new()),
            [what, field, bytes] => {
                let seen = all.last_mut().expect("a consumer comes first");
                seen.insert((what.to_owned(), field.to_owned()), bytes.to_owned());
            }
            _ => panic!("{line}"),
        }
    }
    assert_eq!(all.len(), consumers.len());
    all
}

/// What a consumer of the newest structures sees: every field, as the thunk has it.
fn newest(machine: &Machine) -> Seen {
    let program = Built::new(machine, "newest", "-lrocdxg").program();
    run(machine, &program, &[".".to_owned()], &[("ROCDXG_ABI", "latest")]).remove(0)
}

/// Every field of `seen` has the value of the newest form; of a node only the first `filled` bytes are written.
fn check(release: &str, seen: &Seen, newest: &Seen, filled: usize) {
    let layout = layout(&facts(), release, "HsaNodeProperties");
    let offset = |name: &str| {
        let field = layout["fields"].as_array().expect("fields").iter().find(|field| field["name"] == name);
        field.expect("the field is listed")["offset"].as_u64().expect("an offset") as usize
    };
    let mut compared = 0;
    for ((what, field), bytes) in seen {
        if what == "node" && offset(field) >= filled {
            assert_eq!(*bytes, "a5".repeat(bytes.len() / 2), "{release}: {field} is left alone");
            continue;
        }
        let name = RENAMED.iter().find(|(old, _)| old == field).map_or(field.as_str(), |(_, new)| new);
        let value = if name == "Reserved" {
            // 5.2.3 had room where three fields came to be.
            let of = |field: &str| newest[&(what.clone(), field.to_owned())].clone();
            of("NumXcc") + &of("KFDGpuID") + &of("FamilyID")
        } else {
            newest.get(&(what.clone(), name.to_owned())).unwrap_or_else(|| panic!("{release}: {what} {name}")).clone()
        };
        assert_eq!(*bytes, value, "{release}: {what} {field}");
        compared += 1;
    }
    assert!(compared > 60, "{release}: {compared}");
}

/// Releases with the size of a node in each, and how much of it is filled for one that says nothing.
const FAMILY: [(&str, usize); 4] =
    [("aug2025", 368), ("7.2.x", 376), ("external_librocdxg_a273620f", 392), ("396", 396)];

#[test]
fn the_values_are_told_apart() {
    let machine = Machine::named("gfx1100");
    let seen = newest(&machine);
    for field in ["LuidLowPart", "WallClockKHz", "NumXcc", "KFDGpuID", "Capability2", "NumMemoryBanks", "UniqueID"] {
        let bytes = &seen[&("node".to_owned(), field.to_owned())];
        assert!(bytes.bytes().any(|digit| digit != b'0'), "{field} is not 0 on this machine");
    }
}

#[test]
fn a_silent_consumer_gets_what_every_known_one_has() {
    let machine = Machine::named("gfx1100");
    let newest = newest(&machine);
    for (release, _) in FAMILY {
        let built = Built::new(&machine, release, "-lrocdxg");
        for program in [built.program(), built.fixed_program()] {
            check(release, &run(&machine, &program, &[".".to_owned()], &[])[0], &newest, 368);
        }
    }
}

#[test]
fn a_consumer_that_announces_gets_its_own() {
    let machine = Machine::named("gfx1100");
    let newest = newest(&machine);
    let old = [("5.2.3", 356), ("6.2.4", 356), ("6.4.3", 364), ("newest", 396)];
    for (release, size) in FAMILY.into_iter().chain(old) {
        let built = Built::new(&machine, release, "-lrocdxg");
        for program in [built.program(), built.fixed_program()] {
            check(release, &run(&machine, &program, &["+.".to_owned()], &[])[0], &newest, size);
        }
    }
}

#[test]
fn the_environment_decides_for_the_whole_process() {
    let machine = Machine::named("gfx1100");
    let newest = newest(&machine);
    for (release, name, size) in [
        ("5.2.3", "5.2", 356),
        ("6.2.4", "6.2", 356),
        ("6.4.3", "6.4", 364),
        ("aug2025", "2025.08", 368),
        ("7.2.x", "7.2", 376),
        ("newest", "latest", 396),
    ] {
        let program = Built::new(&machine, release, "-lrocdxg").program();
        check(release, &run(&machine, &program, &[".".to_owned()], &[("ROCDXG_ABI", name)])[0], &newest, size);
    }
}

#[test]
fn every_caller_of_libhsakmt_is_taken_for_one_of_the_old_ones() {
    let machine = Machine::named("gfx1100");
    let newest = newest(&machine);
    for release in ["5.2.3", "6.2.4"] {
        let built = Built::new(&machine, release, "-lhsakmt");
        for program in [built.program(), built.fixed_program()] {
            check(release, &run(&machine, &program, &[".".to_owned()], &[])[0], &newest, 356);
        }
    }
    let program = Built::new(&machine, "newest", "-lhsakmt").program();
    check("newest", &run(&machine, &program, &["+.".to_owned()], &[])[0], &newest, 396);
}

/// All orders of `items`.
fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.len() <= 1 {
        return vec![items.to_vec()];
    }
    let mut all = Vec::new();
    for first in 0..items.len() {
        let mut rest = items.to_vec();
        let item = rest.remove(first);
        all.extend(permutations(&rest).into_iter().map(|mut order| {
            order.insert(0, item.clone());
            order
        }));
    }
    all
}

#[test]
fn consumers_of_different_age_share_a_process_in_every_order() {
    let machine = Machine::named("gfx1100");
    let newest = newest(&machine);
    let of = |release| Built::new(&machine, release, "-lrocdxg");
    let (middle, late) = (of("7.2.x"), of("396"));
    let silent = of("aug2025");
    for with_stubs in [true, false] {
        // One announces 376, one 396, one is silent, and the program calls directly.
        let consumers = [
            (format!("+{}", middle.shared(with_stubs)), "7.2.x", 376),
            (format!("+{}", late.shared(with_stubs)), "396", 396),
            (silent.shared(with_stubs), "aug2025", 368),
        ];
        for (program, own) in [(silent.program(), ".".to_owned()), (silent.fixed_program(), ".".to_owned())] {
            let mut all = consumers.to_vec();
            all.push((own, "aug2025", 368));
            for order in permutations(&all) {
                let arguments: Vec<_> = order.iter().map(|(argument, ..)| argument.clone()).collect();
                let seen = run(&machine, &program, &arguments, &[]);
                for ((_, release, size), seen) in order.iter().zip(&seen) {
                    check(release, seen, &newest, *size);
                }
            }
        }
    }
}

#[test]
fn a_program_that_announces_does_not_speak_for_silent_libraries() {
    let machine = Machine::named("gfx1100");
    let newest = newest(&machine);
    let silent = Built::new(&machine, "aug2025", "-lrocdxg").shared(true);
    let program = Built::new(&machine, "396", "-lrocdxg").program();
    for order in permutations(&["+.".to_owned(), silent]) {
        let seen = run(&machine, &program, &order, &[]);
        for (argument, seen) in order.iter().zip(&seen) {
            let (release, size) = if argument == "+." { ("396", 396) } else { ("aug2025", 368) };
            check(release, seen, &newest, size);
        }
    }
}
