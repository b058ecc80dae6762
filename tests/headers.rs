//! The headers under `include/hsakmt`, as a C and a C++ compiler see them, against the facts in `tests/data/abi.json`.
//!
//! A program is generated that touches every member, bit-field, enumerator, macro and prototype and prints what it finds;
//! what it must print is computed from the facts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Name of the compiler, language and standard.
const DIALECTS: [(&str, &str, &str); 3] = [("cc", "c", "c99"), ("cc", "c", "c11"), ("c++", "c++", "c++17")];

fn facts() -> Value {
    serde_json::from_str(include_str!("data/abi.json")).unwrap()
}

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// Names of the headers, and their text without comments.
fn headers() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(include().join("hsakmt")).unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        let mut code = String::new();
        let mut rest = source.as_str();
        while let Some((before, comment)) = rest.split_once("/*") {
            code += before;
            rest = comment.split_once("*/").unwrap().1;
        }
        code += rest;
        found.push((path.file_name().unwrap().to_str().unwrap().to_owned(), code));
    }
    found.sort();
    found
}

fn identifiers(code: &str) -> BTreeSet<&str> {
    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

fn object<'a>(facts: &'a Value, section: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    facts[section].as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value))
}

fn members(value: &Value) -> &[Value] {
    value["fields"].as_array().map_or(&[], Vec::as_slice)
}

/// A program, and what it must print.
#[derive(Default)]
struct Program {
    body: String,
    expected: String,
}

impl Program {
    /// Prints `format` with `arguments`, and expects `line`.
    fn print(&mut self, format: &str, arguments: &str, line: &str) {
        let _ = writeln!(self.body, "  printf(\"{format}\\n\", {arguments});");
        let _ = writeln!(self.expected, "{line}");
    }

    fn size(&mut self, what: &str, size: &Value) {
        self.print(&format!("sizeof {what} %d"), &format!("(int)sizeof({what})"), &format!("sizeof {what} {size}"));
    }

    /// `tag` and `name` must be the same type.
    fn same_type(&mut self, tag: &str, name: &str) {
        let _ = writeln!(self.body, "  {{ {tag} *tagged = ({name} *)0; (void)tagged; }}");
    }

    fn member(&mut self, name: &str, path: &str, member: &Value) {
        let own = member["name"].as_str();
        let path = match own {
            Some(own) if path.is_empty() => own.to_owned(),
            Some(own) => format!("{path}.{own}"),
            None => path.to_owned(),
        };
        if member["bit_width"].is_number() {
            let (shift, width) = (member["bit_offset"].as_u64().unwrap(), member["bit_width"].as_u64().unwrap());
            let (offset, size) = (member["offset"].as_u64().unwrap(), member["size"].as_u64().unwrap());
            let _ = writeln!(
                self.body,
                "  {{ {name} it; uint64_t word = 0; memset(&it, 0, sizeof it); it.{path} = ones;\n    memcpy(&word, \
                 (const char *)&it + {offset}, {size});"
            );
            let mask = (u64::MAX >> (64 - width)) << shift;
            let what = format!("bits {name}.{path}");
            self.print(&format!("{what} %llx"), "(unsigned long long)word", &format!("{what} {mask:x}"));
            self.body += "  }\n";
            return;
        }
        if own.is_some() {
            let what = format!("{name}.{path}");
            let arguments = format!("(int)offsetof({name}, {path}), (int)sizeof((({name} *)0)->{path})");
            let line = format!("{what} {} {}", member["offset"], member["size"]);
            self.print(&format!("{what} %d %d"), &arguments, &line);
        }
        for inner in members(member) {
            self.member(name, &path, inner);
        }
    }

    fn types(&mut self, facts: &Value) {
        for (name, value) in object(facts, "structs") {
            self.size(name, &value["size"]);
            let line = format!("alignof {name} {}", value["align"]);
            self.print(&format!("alignof {name} %d"), &format!("(int)__alignof__({name})"), &line);
            if let Some(tag) = value["tag"].as_str() {
                self.same_type(&format!("{} {tag}", value["kind"].as_str().unwrap()), name);
            }
            for member in members(value) {
                self.member(name, "", member);
            }
        }
        for (name, value) in object(facts, "enums") {
            self.size(name, &value["size"]);
            self.same_type(&format!("enum {}", value["tag"].as_str().unwrap()), name);
            for (constant, number) in object(value, "constants") {
                self.print(
                    &format!("{constant} %lld"),
                    &format!("(long long){constant}"),
                    &format!("{constant} {number}"),
                );
            }
        }
        for (name, value) in object(facts, "typedefs") {
            let target = value.as_str().unwrap();
            if let Some(opaque) = target.strip_suffix(" (opaque)") {
                self.same_type(opaque, name);
            } else if let Some((base, count)) = target.split_once('[') {
                let _ = writeln!(self.body, "  {{ {base} (*array)[{count} = ({name} *)0; (void)array; }}");
            } else {
                self.same_type(target, name);
            }
        }
    }

    fn constants(&mut self, facts: &Value) {
        for (name, value) in object(facts, "defines") {
            self.print(&format!("{name} %llu"), &format!("(unsigned long long){name}"), &format!("{name} {value}"));
        }
        for (head, body) in object(facts, "function_like_macros") {
            let (name, argument) = head.trim_end_matches(')').split_once('(').unwrap();
            let body = body.as_str().unwrap();
            for value in ["1", "7 + 1", "64"] {
                let wanted = body.replace(&format!("({argument} "), &format!("(({value}) "));
                assert_ne!(wanted, body, "{head}");
                let arguments = format!("{name}({value}) == ({wanted}), (int)sizeof({name}({value}))");
                self.print(&format!("{name} %d %d"), &arguments, &format!("{name} 1 8"));
            }
        }
        for (name, value) in object(facts, "uuids") {
            let parts: Vec<String> = ["Data1", "Data2", "Data3"].iter().map(|part| format!("{name}.{part}")).collect();
            let bytes: Vec<String> = (0..8).map(|index| format!("{name}.Data4[{index}]")).collect();
            let arguments = [parts, bytes].concat().join(", ");
            let numbers: Vec<String> = value.as_array().unwrap().iter().map(ToString::to_string).collect();
            let line = format!("{name} {}", numbers.join(" "));
            self.print(&format!("{name} %u{}", " %u".repeat(10)), &arguments, &line);
        }
    }

    fn source(&self) -> String {
        let mut out = String::from("#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n");
        for (name, _) in headers() {
            let _ = writeln!(out, "#include \"hsakmt/{name}\"");
        }
        out += "static volatile uint64_t ones = ~(uint64_t)0;\nint main(void) {\n  (void)ones;\n";
        out += &self.body;
        out + "  return 0;\n}\n"
    }
}

/// Runs a command, which must succeed, and returns what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn compiler(compiler: &str, language: &str, standard: &str) -> Command {
    let mut command = Command::new(compiler);
    command.args(["-x", language, &format!("-std={standard}"), "-Wall", "-Wextra", "-Werror", "-O0"]);
    command.arg("-I").arg(include());
    command
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn every_type_and_constant_is_as_the_facts_say() {
    let facts = facts();
    let mut program = Program::default();
    program.types(&facts);
    program.constants(&facts);
    let source = scratch("types.c");
    std::fs::write(&source, program.source()).unwrap();
    for (cc, language, standard) in DIALECTS {
        let executable = scratch(&format!("types-{standard}"));
        run(compiler(cc, language, standard).arg(&source).arg("-o").arg(&executable));
        let printed = run(&mut Command::new(&executable));
        for (have, want) in printed.lines().zip(program.expected.lines()) {
            assert_eq!(have, want, "{standard}");
        }
        assert_eq!(printed.lines().count(), program.expected.lines().count());
    }
}

#[test]
fn each_header_compiles_alone_and_twice() {
    for (name, _) in headers() {
        let source = scratch(&format!("alone-{name}.c"));
        std::fs::write(&source, format!("#include \"hsakmt/{name}\"\n#include \"hsakmt/{name}\"\n")).unwrap();
        for (cc, language, standard) in DIALECTS {
            run(compiler(cc, language, standard).arg("-fsyntax-only").arg(&source));
        }
    }
}

#[test]
fn declared_functions_have_the_prototypes_of_the_facts() {
    let facts = facts();
    let mut source = String::new();
    let mut checks = String::new();
    for (name, code) in headers() {
        let _ = writeln!(source, "#include \"hsakmt/{name}\"");
        let code: String = code.lines().filter(|line| !line.starts_with('#')).collect();
        for declaration in code.split("HSAKMTAPI").skip(1) {
            let function = identifiers(declaration.split('(').next().unwrap());
            let function = function.into_iter().find(|word| facts["functions"][word].is_object());
            let function = function.unwrap_or_else(|| panic!("no fact about `{declaration}`"));
            let fact = &facts["functions"][function];
            let parameters: Vec<String> = fact["params"]
                .as_array()
                .unwrap_or_else(|| panic!("the parameters of {function} are not known"))
                .iter()
                .map(|parameter| parameter["type"].as_str().unwrap().replace("[]", "*"))
                .collect();
            let list = if parameters.is_empty() { "void".into() } else { parameters.join(", ") };
            let _ = writeln!(
                checks,
                "extern {} (*const check_{function})({list});\n{} (*const check_{function})({list}) = {function};",
                fact["return"].as_str().unwrap(),
                fact["return"].as_str().unwrap()
            );
        }
    }
    assert!(checks.contains("check_hsaKmtOpenKFD") && checks.contains("check_hsaKmtGetNodeCacheProperties"));
    let path = scratch("prototypes.c");
    std::fs::write(&path, source + &checks).unwrap();
    for (cc, language, standard) in DIALECTS {
        run(compiler(cc, language, standard).arg("-fsyntax-only").arg(&path));
    }
}
