//! What `tests/data` says of the exports.

use std::collections::BTreeMap;

use serde_json::Value;

/// Bytes behind a pointer whose type says nothing of them.
pub const UNKNOWN: usize = 4096;

/// What an argument is to a C caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pointer to this many bytes; 1 or more elements of an array when `array` says so.
    Pointer { bytes: usize, array: bool },
    /// A number, an enumeration, a word of flags, or a number in a structure: all go in one register.
    Number,
    /// 0 or 1.
    Bool,
}

/// One parameter.
#[derive(Debug, Clone)]
pub struct Parameter {
    pub name: String,
    pub c_type: String,
    pub kind: Kind,
}

/// One export.
#[derive(Debug, Clone)]
pub struct Function {
    pub name: String,
    pub returns: String,
    pub parameters: Vec<Parameter>,
}

impl Function {
    /// It returns an errno as libdrm does, and not a status.
    pub fn is_drm(&self) -> bool {
        self.returns == "int"
    }
}

/// The facts on types and functions.
pub fn abi() -> Value {
    serde_json::from_str(include_str!("../data/abi.json")).expect("the facts are JSON")
}

/// Names that each known client needs.
pub fn required() -> BTreeMap<String, Vec<String>> {
    serde_json::from_str(include_str!("../data/required_exports.json")).expect("the facts are JSON")
}

/// The names in a version script that are not patterns.
pub fn listed(script: &str) -> Vec<String> {
    let names = script.lines().filter_map(|line| line.trim().strip_suffix(';'));
    names.filter(|name| !name.contains(['*', '}'])).map(str::to_owned).collect()
}

/// What `librocdxg.so.1` exports: all that there is.
pub fn exports() -> Vec<Function> {
    let abi = abi();
    listed(include_str!("../../librocdxg.ver")).iter().map(|name| function(&abi, name)).collect()
}

fn function(abi: &Value, name: &str) -> Function {
    let fact = &abi["functions"][name];
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no fact about {name}")).to_owned();
    let parameters = fact["params"].as_array().unwrap_or_else(|| panic!("the parameters of {name} are not known"));
    let parameters = parameters.iter().map(|parameter| {
        let (c_type, name) = (text(&parameter["type"]), text(&parameter["name"]));
        let kind = kind(abi, &c_type, is_array(&name));
        Parameter { name, c_type, kind }
    });
    Function { name: name.to_owned(), returns: text(&fact["return"]), parameters: parameters.collect() }
}

/// Parameters that point to as many elements as another parameter says.
fn is_array(name: &str) -> bool {
    const ARRAYS: [&str; 16] = [
        "CacheProperties",
        "Counters",
        "DbgWaveMsgRing",
        "Events",
        "IoLinkProperties",
        "LocalMemoryArray",
        "MemoryProperties",
        "NodeArray",
        "QueueCUMask",
        "RemoteMemoryArray",
        "WatchAddress",
        "WatchEvent",
        "WatchMask",
        "WatchMode",
        "attrs",
        "event_age",
    ];
    ARRAYS.contains(&name) || name == "processes"
}

fn kind(abi: &Value, c_type: &str, array: bool) -> Kind {
    match pointee(c_type) {
        Some(target) => Kind::Pointer { bytes: size(abi, target), array },
        None if c_type == "bool" => Kind::Bool,
        None => match abi["typedefs"][c_type].as_str().and_then(pointee) {
            Some(_) => Kind::Pointer { bytes: UNKNOWN, array },
            None if ["amdgpu_device_handle", "amdgpu_bo_handle"].contains(&c_type) => {
                Kind::Pointer { bytes: UNKNOWN, array }
            }
            None => Kind::Number,
        },
    }
}

/// What a pointer type or an array type points to.
pub fn pointee(c_type: &str) -> Option<&str> {
    c_type
        .strip_suffix('*')
        .or_else(|| c_type.strip_suffix("[]"))
        .map(|target| target.trim().trim_start_matches("const "))
}

fn size(abi: &Value, c_type: &str) -> usize {
    if pointee(c_type).is_some() {
        return 8;
    }
    for section in ["structs", "enums"] {
        if let Some(size) = abi[section][c_type]["size"].as_u64() {
            return size as usize;
        }
    }
    if let Some(target) = abi["typedefs"][c_type].as_str() {
        return match target.trim_end_matches(']').split_once('[') {
            Some((element, count)) => size(abi, element) * count.parse::<usize>().expect("lengths are numbers"),
            None => size(abi, target),
        };
    }
    match c_type {
        "bool" => 1,
        "int" | "uint32_t" | "int32_t" => 4,
        "uint64_t" | "int64_t" | "amdgpu_device_handle" => 8,
        _ => UNKNOWN,
    }
}

#[test]
fn kinds_are_what_c_says() {
    let functions = exports();
    let kinds = |name: &str| {
        let function = functions.iter().find(|function| function.name == name).expect("it is exported");
        function.parameters.iter().map(|parameter| parameter.kind).collect::<Vec<_>>()
    };
    let one = |bytes| Kind::Pointer { bytes, array: false };
    assert_eq!(kinds("hsaKmtCreateEvent"), [one(24), Kind::Bool, Kind::Bool, one(8)]);
    assert_eq!(kinds("hsaKmtGetNodeProperties"), [Kind::Number, one(396)]);
    assert_eq!(kinds("hsaKmtShareMemory"), [one(UNKNOWN), Kind::Number, one(32)]);
    assert_eq!(kinds("hsaKmtMemHandleFree"), [one(UNKNOWN)]);
    assert_eq!(kinds("hsaKmtGetAMDGPUDeviceHandle"), [Kind::Number, one(8)]);
    assert_eq!(kinds("hsaKmtModelEnabled"), [one(1)]);
    assert_eq!(kinds("hsaKmtDestroyExternalSemaphore"), [Kind::Number]);
    let array = |bytes| Kind::Pointer { bytes, array: true };
    assert_eq!(kinds("hsaKmtWaitOnMultipleEvents"), [array(8), Kind::Number, Kind::Bool, Kind::Number]);
    assert_eq!(kinds("hsaKmtSVMGetAttr"), [one(UNKNOWN), Kind::Number, Kind::Number, array(8)]);
    let arrays = functions.iter().flat_map(|function| &function.parameters).filter(|p| is_array(&p.name));
    assert!(arrays.clone().all(|parameter| matches!(parameter.kind, Kind::Pointer { array: true, .. })));
    assert!(arrays.count() > 20);
}
