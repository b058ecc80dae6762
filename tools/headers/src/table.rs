//! The table of types and fields that `tests/abi_layout` compares with the facts: Rust cannot list them itself.

use std::fmt::Write as _;

use crate::model::{Kind, Model};

/// Joins words with commas in lines of at most 120 characters.
fn wrap(words: impl Iterator<Item = String>) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for word in words {
        if line.len() + word.len() > 108 {
            out += &format!("\n        {}", line.trim_end());
            line.clear();
        }
        line += &format!("{word}, ");
    }
    out + &format!("\n        {}\n    ", line.trim_end())
}

/// The table as macro calls, one list for each kind of declaration.
pub fn table(model: &Model) -> String {
    let (mut structs, mut bits, mut enums) = (String::new(), String::new(), String::new());
    let (mut aliases, mut opaques) = (Vec::new(), Vec::new());
    let (mut constants, mut objects, mut macros) = (Vec::new(), Vec::new(), Vec::new());
    for item in model.sections.iter().flat_map(|section| &section.items) {
        let name = &item.name;
        match &item.kind {
            Kind::Struct(fields) => {
                let fields = wrap(fields.iter().map(|field| field.name.to_string()));
                let _ = writeln!(structs, "    {name} {{{fields}}}");
            }
            Kind::Bits(_, ranges) => {
                let ranges = wrap(ranges.iter().map(|range| range.name.to_string()));
                let _ = writeln!(bits, "    {name} {{{ranges}}}");
            }
            Kind::Enum(values) => {
                let values = wrap(values.iter().map(|value| value.name.to_string()));
                let _ = writeln!(enums, "    {name} {{{values}}}");
            }
            Kind::Alias(_) => aliases.push(name.to_string()),
            Kind::Object(..) => objects.push(name.to_string()),
            Kind::Const(_) => constants.push(name.to_string()),
            Kind::Macro(_) => macros.push(name.to_string()),
            Kind::Opaque if item.hints.c.is_none() => opaques.push(name.to_string()),
            Kind::Opaque => {}
        }
    }
    let mut out = String::from("// Written by tools/headers from src/abi; do not edit.\n");
    for (list, body) in [("structs", structs), ("words", bits), ("enums", enums)] {
        let _ = write!(out, "\n{list}! {{\n{body}}}\n");
    }
    for (list, names) in
        [("aliases", aliases), ("opaques", opaques), ("constants", constants), ("objects", objects), ("macros", macros)]
    {
        let _ = write!(out, "\n{list}! {{{}}}\n", wrap(names.into_iter()).trim_end_matches("    "));
    }
    out
}
