//! `src/abi` against the facts in `tests/data/abi.json`: nothing more, nothing less, nothing elsewhere.

use std::collections::BTreeMap;

use rocdxg::abi;
use serde_json::Value;

struct Field {
    name: &'static str,
    offset: usize,
    size: usize,
}

struct Struct {
    size: usize,
    align: usize,
    fields: Vec<Field>,
}

struct Word {
    size: usize,
    align: usize,
    ranges: Vec<(&'static str, abi::Bits)>,
}

struct Enum {
    size: usize,
    values: Vec<(&'static str, i128)>,
}

type Map<T> = BTreeMap<&'static str, T>;

const fn pointee<S, T>(_: fn(&S) -> *const T) -> usize {
    size_of::<T>()
}

macro_rules! structs {
    ($($name:ident { $($field:ident,)* })*) => {
        fn structs() -> Map<Struct> {
            [$((stringify!($name), Struct {
                size: size_of::<abi::$name>(),
                align: align_of::<abi::$name>(),
                fields: vec![$(Field {
                    name: stringify!($field).trim_start_matches("r#"),
                    offset: std::mem::offset_of!(abi::$name, $field),
                    size: pointee(|s: &abi::$name| &raw const s.$field),
                }),*],
            })),*].into()
        }
    };
}

macro_rules! words {
    ($($name:ident { $($range:ident,)* })*) => {
        fn words() -> Map<Word> {
            [$((stringify!($name), Word {
                size: size_of::<abi::$name>(),
                align: align_of::<abi::$name>(),
                ranges: vec![$((stringify!($range), abi::$name::$range)),*],
            })),*].into()
        }
    };
}

macro_rules! enums {
    ($($name:ident { $($value:ident,)* })*) => {
        fn enums() -> Map<Enum> {
            [$((stringify!($name), Enum {
                size: size_of::<abi::$name>(),
                values: vec![$((stringify!($value), i128::from(abi::$value.0))),*],
            })),*].into()
        }
    };
}

macro_rules! aliases {
    ($($name:ident,)*) => {
        fn aliases() -> Map<usize> {
            [$((stringify!($name), size_of::<abi::$name>())),*].into()
        }
    };
}

macro_rules! opaques {
    ($($name:ident,)*) => {
        fn opaques() -> Vec<&'static str> {
            vec![$(stringify!($name)),*]
        }
    };
}

macro_rules! constants {
    ($($name:ident,)*) => {
        fn constants() -> Map<i128> {
            [$((stringify!($name), abi::$name as i128)),*].into()
        }
    };
}

macro_rules! objects {
    ($($name:ident,)*) => {
        fn uuids() -> Map<abi::HSA_UUID> {
            [$((stringify!($name), abi::$name)),*].into()
        }
    };
}

macro_rules! macros {
    ($($name:ident,)*) => {
        fn macros() -> Map<fn(u32) -> u64> {
            [$((stringify!($name), abi::$name as fn(u32) -> u64)),*].into()
        }
    };
}

include!("table.rs");

fn facts() -> Value {
    serde_json::from_str(include_str!("../data/abi.json")).unwrap()
}

fn number(value: &Value, key: &str) -> usize {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value}")) as usize
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn members(value: &Value) -> &[Value] {
    value["fields"].as_array().map_or(&[], Vec::as_slice)
}

/// Every bit-field inside `value`, at any depth: name, lowest bit, width.
fn bit_fields(value: &Value) -> Vec<(&str, usize, usize)> {
    members(value)
        .iter()
        .flat_map(|member| {
            if member["bit_width"].is_number() {
                vec![(text(member, "name"), number(member, "bit_offset"), number(member, "bit_width"))]
            } else {
                bit_fields(member)
            }
        })
        .collect()
}

/// Names of one section of the facts, and names in Rust, must be the same set.
fn same_names<'a>(section: &str, facts: &Value, rust: impl Iterator<Item = &'a str>) {
    let mut wanted: Vec<&str> = facts[section].as_object().unwrap().keys().map(String::as_str).collect();
    let mut have: Vec<&str> = rust.collect();
    wanted.sort_unstable();
    have.sort_unstable();
    assert_eq!(have, wanted, "{section}");
}

#[test]
fn structs_have_the_fields_at_the_offsets() {
    let facts = facts();
    let words = words();
    let structs = structs();
    same_names("structs", &facts, structs.keys().chain(words.keys()).copied());
    for (name, have) in structs {
        let want = &facts["structs"][name];
        assert_eq!((have.size, have.align), (number(want, "size"), number(want, "align")), "{name}");
        assert_eq!(have.fields.len(), members(want).len(), "number of fields of {name}");
        for (field, member) in have.fields.iter().zip(members(want)) {
            let place = (number(member, "offset"), number(member, "size"));
            assert_eq!((field.offset, field.size), place, "{name}.{}", field.name);
            // Of an anonymous union Rust has one member, as large as the union.
            let named = if member["name"].is_null() { members(member) } else { std::slice::from_ref(member) };
            let found = named.iter().find(|m| text(m, "name") == field.name);
            let found = found.unwrap_or_else(|| panic!("{name} has no {}", field.name));
            assert_eq!((number(found, "offset"), number(found, "size")), place, "{name}.{}", field.name);
        }
    }
}

#[test]
fn bit_fields_have_their_places() {
    let facts = facts();
    for (name, have) in words() {
        let want = &facts["structs"][name];
        assert_eq!(have.size, number(want, "size"), "{name}");
        // A word alone may be aligned to more than 4: it is packed where it stands in a struct.
        assert!(have.align >= number(want, "align"), "{name}");
        let ranges: Vec<_> = have.ranges.iter().map(|(n, b)| (*n, b.shift as usize, b.width as usize)).collect();
        assert_eq!(ranges, bit_fields(want), "{name}");
    }
}

#[test]
fn enumerations_have_their_values() {
    let facts = facts();
    let enums = enums();
    same_names("enums", &facts, enums.keys().copied());
    for (name, have) in enums {
        let want = &facts["enums"][name];
        assert_eq!(have.size, number(want, "size"), "{name}");
        let wanted = want["constants"].as_object().unwrap();
        let wanted: BTreeMap<&str, i128> =
            wanted.iter().map(|(name, value)| (name.as_str(), i128::from(value.as_i64().unwrap()))).collect();
        assert_eq!(have.values.len(), wanted.len(), "{name}");
        assert_eq!(have.values.into_iter().collect::<BTreeMap<_, _>>(), wanted, "{name}");
    }
}

#[test]
fn typedefs_have_their_sizes() {
    let facts = facts();
    let (aliases, opaques) = (aliases(), opaques());
    same_names("typedefs", &facts, aliases.keys().chain(&opaques).copied());
    for (name, size) in &aliases {
        let target = text(&facts["typedefs"], name);
        let (base, count) = match target.split_once('[') {
            Some((base, count)) => (base, count.trim_end_matches(']').parse().unwrap()),
            None => (target, 1),
        };
        let one = match base {
            "uint8_t" | "int8_t" => 1,
            "uint16_t" | "int16_t" => 2,
            "uint32_t" | "int32_t" => 4,
            "uint64_t" | "int64_t" => 8,
            pointer if pointer.ends_with('*') => size_of::<usize>(),
            other => aliases[other],
        };
        assert_eq!(*size, one * count, "{name}");
    }
    for name in opaques {
        assert!(text(&facts["typedefs"], name).ends_with("(opaque)"), "{name}");
    }
}

#[test]
fn constants_have_their_values() {
    let facts = facts();
    let constants = constants();
    same_names("defines", &facts, constants.keys().copied());
    for (name, value) in constants {
        assert_eq!(value, i128::from(facts["defines"][name].as_u64().unwrap()), "{name}");
    }
}

#[test]
fn uuids_have_their_values() {
    let facts = facts();
    let uuids = uuids();
    same_names("uuids", &facts, uuids.keys().copied());
    for (name, uuid) in uuids {
        let mut have = vec![u64::from(uuid.Data1), u64::from(uuid.Data2), u64::from(uuid.Data3)];
        have.extend(uuid.Data4.map(u64::from));
        let want: Vec<u64> =
            facts["uuids"][name].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
        assert_eq!(have, want, "{name}");
    }
}

#[test]
fn macros_shift_by_one_less() {
    let facts = facts();
    let macros = macros();
    let wanted = facts["function_like_macros"].as_object().unwrap();
    assert_eq!(macros.len(), wanted.len());
    for (name, function) in macros {
        let (_, body) = wanted.iter().find(|(head, _)| head.split('(').next() == Some(name)).unwrap();
        assert!(body.as_str().unwrap().starts_with("1ULL << (") && body.as_str().unwrap().ends_with(" - 1)"));
        for index in 1..=64 {
            assert_eq!(function(index), 1 << (index - 1), "{name}({index})");
        }
    }
}
