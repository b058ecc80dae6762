//! Every structure, constant and status of `d3dkmt.rs` against the measured layouts (tests/data/d3dkmt.json), and the
//! provider vtable against its C header.
//!
//! `d3dkmt.rs` flattens nested and anonymous members: a field is looked for by its name at any depth, the least deep
//! first. It departs from the measurement in few places, all listed below: members of unions under a name of
//! its own, `D3DKMT_QUERYSTATISTICS.QueryResult` as plain words, and one structure that was not measured.

use std::collections::{BTreeMap, VecDeque};
use std::process::Command;

use dxcore::d3dkmt::*;
use dxcore::vtable::*;
use serde_json::Value;

/// Fields whose name is not in the measurement, with the name of the member that they stand for.
const DEPARTURES: &[(&str, &str, Option<&str>)] = &[
    ("D3DKMT_QUERYSTATISTICS", "Index", Some("QuerySegment")),
    // The rest of the union of answers, behind its first word.
    ("D3DKMT_GETDEVICESTATE", "Rest", None),
];
/// Fields that are narrower or wider than the member of that name.
const OTHER_SIZE: &[(&str, &str)] = &[
    // A union with an 8-byte pointer.
    ("D3DKMT_CREATEDEVICE", "hAdapter"),
];
/// Structures that the measurement does not have.
const NOT_MEASURED: &[&str] = &["D3DKMT_QUERY_ADAPTER_UNIQUE_GUID"];

struct Field {
    name: &'static str,
    offset: usize,
    size: usize,
}

struct Struct {
    name: &'static str,
    size: usize,
    fields: Vec<Field>,
}

const fn pointee<T, F>(_: fn(*const T) -> *const F) -> usize {
    size_of::<F>()
}

macro_rules! structs {
    ($function:ident: $($name:ident { $($field:ident),* $(,)? })*) => {
        fn $function() -> Vec<Struct> {
            vec![$(Struct {
                name: stringify!($name),
                size: size_of::<$name>(),
                fields: vec![$(Field {
                    name: stringify!($field),
                    offset: std::mem::offset_of!($name, $field),
                    // SAFETY: only the type of the pointer counts; nothing calls this function.
                    size: pointee(|p: *const $name| unsafe { &raw const (*p).$field }),
                }),*],
            }),*]
        }
    };
}

structs! {
    structs:
    LUID { LowPart, HighPart }
    D3DKMT_ADAPTERINFO { hAdapter, AdapterLuid, NumOfSources, bPrecisePresentRegionsPreferred }
    D3DKMT_ENUMADAPTERS2 { NumAdapters, pAdapters }
    D3DKMT_ENUMADAPTERS3 { Filter, NumAdapters, pAdapters }
    D3DKMT_OPENADAPTERFROMLUID { AdapterLuid, hAdapter }
    D3DKMT_CLOSEADAPTER { hAdapter }
    D3DKMT_QUERYADAPTERINFO { hAdapter, Type, pPrivateDriverData, PrivateDriverDataSize }
    D3DKMT_DEVICE_IDS { VendorID, DeviceID, SubVendorID, SubSystemID, RevisionID, BusType }
    D3DKMT_QUERY_DEVICE_IDS { PhysicalAdapterIndex, DeviceIds }
    D3DKMT_PHYSICAL_ADAPTER_COUNT { Count }
    D3DKMT_ADAPTERADDRESS { BusNumber, DeviceNumber, FunctionNumber }
    D3DKMT_ADAPTERREGISTRYINFO { AdapterString, BiosString, DacType, ChipType }
    D3DKMT_DRIVER_DESCRIPTION { DriverDescription }
    D3DDDI_QUERYREGISTRY_INFO { QueryType, QueryFlags, ValueName, ValueType, PhysicalAdapterIndex, OutputValueSize, Status, OutputQword }
    D3DKMT_SEGMENTSIZEINFO { DedicatedVideoMemorySize, DedicatedSystemMemorySize, SharedSystemMemorySize }
    D3DKMT_ADAPTERTYPE { Value }
    D3DKMT_NODEMETADATA { NodeOrdinalAndAdapterIndex, EngineType, FriendlyName, Flags, GpuMmuSupported, IoMmuSupported }
    D3DKMT_NODE_PERFDATA { NodeOrdinal, PhysicalAdapterIndex, Frequency, MaxFrequency, MaxFrequencyOC, Voltage, VoltageMax, VoltageMaxOC, MaxTransitionLatency }
    D3DKMT_ADAPTER_PERFDATA { PhysicalAdapterIndex, MemoryFrequency, MaxMemoryFrequency, MaxMemoryFrequencyOC, MemoryBandwidth, PCIEBandwidth, FanRPM, Power, Temperature, PowerStateOverride }
    D3DKMT_ADAPTER_PERFDATACAPS { PhysicalAdapterIndex, MaxMemoryBandwidth, MaxPCIEBandwidth, MaxFanRPM, TemperatureMax, TemperatureWarning }
    D3DKMT_CREATEDEVICE { hAdapter, Flags, hDevice, pCommandBuffer, CommandBufferSize, pAllocationList, AllocationListSize, pPatchLocationList, PatchLocationListSize }
    D3DKMT_DESTROYDEVICE { hDevice }
    D3DKMT_GETDEVICESTATE { hDevice, StateType, ExecutionState, Rest }
    D3DKMT_CREATEPAGINGQUEUE { hDevice, Priority, hPagingQueue, hSyncObject, FenceValueCPUVirtualAddress, PhysicalAdapterIndex }
    D3DDDI_DESTROYPAGINGQUEUE { hPagingQueue }
    DXGK_GPUCLOCKDATA { GpuFrequency, GpuClockCounter, CpuClockCounter, Flags }
    D3DKMT_QUERYCLOCKCALIBRATION { hAdapter, NodeOrdinal, PhysicalAdapterIndex, ClockData }
    D3DKMT_ESCAPE { hAdapter, hDevice, Type, Flags, pPrivateDriverData, PrivateDriverDataSize, hContext }
    D3DKMT_QUERYSTATISTICS { Type, AdapterLuid, hProcess, QueryResult, Index }
    D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION { CommitLimit, BytesCommitted, BytesResident, TotalBytesEvicted, AllocsCommitted, AllocsResident, Aperture, TotalBytesEvictedByPriority, SystemMemoryEndAddress, PowerFlags, SegmentProperties, Reserved }
    D3DKMT_QUERYVIDEOMEMORYINFO { hProcess, hAdapter, MemorySegmentGroup, Budget, CurrentUsage, CurrentReservation, AvailableForReservation, PhysicalAdapterIndex }
    D3DKMT_QUERY_ADAPTER_UNIQUE_GUID { adapterUniqueGUID }
}

structs! {
    provider_structs:
    rocdxg_kmd_adapter { struct_size, adapter, luid_low, luid_high, query_adapter_info }
    rocdxg_kmd_adapter_info { struct_size, flags, flags_known, device_id, revision, pci_location, pci_domain, gfx_major, gfx_minor, gfx_stepping, asic_revision, family, compute_units, simd_per_cu, waves_per_cu, wavefront_size, shader_engines, arrays_per_engine, lds_bytes, scratch_slots_per_cu, watch_points, num_xcc, sdma_engines, cp_queues, num_gws, mec_firmware, sdma_firmware, memory_bus_bits, memory_clock_mhz, engine_clock_mhz, gb_addr_config, reserved0, unique_id, l1_bytes, l2_bytes, l3_bytes, local_bytes, non_local_bytes, counter_hz, lds_aperture, scratch_aperture, user_queue_bytes, page_alignment, big_page_alignment, product_name }
    rocdxg_kmd_provider { struct_size, version, name, query_adapter_supported, get_adapter_info }
}

fn json() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/d3dkmt.json")).unwrap()
}

fn source() -> &'static str {
    include_str!("../../../src/platform/dxg/d3dkmt.rs")
}

/// Offset and size of a member by name, the least deep first.
fn member(fields: &Value, name: &str) -> Option<(usize, usize)> {
    let mut queue: VecDeque<&Value> = fields.as_array()?.iter().collect();
    while let Some(field) = queue.pop_front() {
        if field["name"] == name {
            return Some((field["offset"].as_u64()? as usize, field["size"].as_u64()? as usize));
        }
        queue.extend(field["fields"].as_array().into_iter().flatten());
    }
    None
}

#[test]
fn every_structure_has_the_measured_layout() {
    let json = json();
    for s in structs() {
        if NOT_MEASURED.contains(&s.name) {
            assert!(json["structs"][s.name].is_null(), "{} was measured", s.name);
            continue;
        }
        let measured = &json["structs"][s.name];
        assert_eq!(measured["size"], s.size, "{}", s.name);
        for f in &s.fields {
            let departure = DEPARTURES.iter().find(|d| (d.0, d.1) == (s.name, f.name));
            let Some(name) = departure.map_or(Some(f.name), |d| d.2) else { continue };
            let found = member(&measured["fields"], name);
            let (offset, size) = found.unwrap_or_else(|| panic!("{}.{name} was not measured", s.name));
            assert_eq!(f.offset, offset, "{}.{}", s.name, f.name);
            if !OTHER_SIZE.contains(&(s.name, f.name)) {
                assert_eq!(f.size, size, "{}.{}", s.name, f.name);
            }
        }
        for m in measured["fields"].as_array().unwrap() {
            let (start, size) = (m["offset"].as_u64().unwrap() as usize, m["size"].as_u64().unwrap() as usize);
            let covered = |byte: usize| s.fields.iter().any(|f| (f.offset..f.offset + f.size).contains(&byte));
            assert!(covered(start) && covered(start + size - 1), "{}.{}", s.name, m["name"]);
        }
    }
}

/// Structures of a source file with their field names.
fn structures_of(source: &str) -> BTreeMap<String, Vec<String>> {
    let mut written: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut inside = None;
    for line in source.lines() {
        if let Some(rest) = line.strip_prefix("pub struct ") {
            inside = Some(rest.split_whitespace().next().unwrap().to_owned());
        } else if line == "}" {
            inside = None;
        } else if let (Some(name), Some(rest)) = (&inside, line.strip_prefix("    pub ")) {
            let field = rest.split(':').next().unwrap().to_owned();
            written.entry(name.clone()).or_default().push(field);
        }
    }
    written
}

fn names_of(structs: &[Struct]) -> BTreeMap<String, Vec<String>> {
    let fields = |s: &Struct| s.fields.iter().map(|f| f.name.to_owned()).collect();
    structs.iter().map(|s| (s.name.to_owned(), fields(s))).collect()
}

#[test]
fn every_structure_of_the_file_is_compared() {
    let written = structures_of(source());
    assert!(written.len() > 20);
    assert_eq!(written, names_of(&structs()));
}

#[test]
fn the_provider_header_has_the_layout_of_the_vtable_in_every_dialect() {
    let written = structures_of(include_str!("../../../src/platform/dxg/kmd/vtable.rs"));
    assert_eq!(written, names_of(&provider_structs()));
    let mut text = String::from("#include <stddef.h>\n#include \"rocdxg/kmd_provider.h\"\n");
    let mut check = |what: String| text += &format!("typedef char check_{}[({what}) ? 1 : -1];\n", text.len());
    for s in provider_structs() {
        check(format!("sizeof(struct {}) == {}", s.name, s.size));
        for f in &s.fields {
            check(format!("offsetof(struct {}, {}) == {}", s.name, f.name, f.offset));
            check(format!("sizeof(((struct {} *)0)->{}) == {}", s.name, f.name, f.size));
        }
    }
    for (name, value) in [
        ("VERSION", ROCDXG_KMD_VERSION),
        ("FLAG_DISCRETE", ROCDXG_KMD_FLAG_DISCRETE),
        ("FLAG_PLATFORM_ATOMICS", ROCDXG_KMD_FLAG_PLATFORM_ATOMICS),
        ("FLAG_NATIVE_AQL", ROCDXG_KMD_FLAG_NATIVE_AQL),
        ("FLAG_STATE_SHADOWING", ROCDXG_KMD_FLAG_STATE_SHADOWING),
    ] {
        check(format!("ROCDXG_KMD_{name} == {value}u"));
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for (compiler, standard, suffix) in [("gcc", "c99", "c"), ("gcc", "c11", "c"), ("g++", "c++17", "cpp")] {
        let file = format!("{}/kmd_provider_{standard}.{suffix}", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&file, &text).unwrap();
        let output = Command::new(compiler)
            .args([&format!("-std={standard}"), "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"])
            .args([&format!("{root}/include"), &file])
            .output()
            .unwrap();
        assert!(output.status.success(), "{standard}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Names and values of the constants of one module of the file.
fn constants(module: &str) -> Vec<(String, u32)> {
    let start = source().find(&format!("pub mod {module} {{")).unwrap();
    let body = &source()[start..start + source()[start..].find("\n}\n").unwrap()];
    let value = |text: &str| match text.strip_suffix("_u32 as i32").unwrap_or(text) {
        hex if hex.starts_with("0x") => u32::from_str_radix(&hex[2..], 16).unwrap(),
        decimal => decimal.parse().unwrap(),
    };
    let lines = body.lines().filter_map(|l| l.trim().strip_prefix("pub const "));
    let pairs = lines.map(|l| l.trim_end_matches(';').split_once(" = ").unwrap());
    pairs.map(|(name, text)| (name.split(':').next().unwrap().to_owned(), value(text))).collect()
}

#[test]
fn every_status_and_query_type_has_the_published_number() {
    let json = json();
    for (name, value) in constants("ntstatus") {
        assert_eq!(json["ntstatus"][format!("STATUS_{name}")], format!("{value:#010X}").replace('X', "x"), "{name}");
    }
    let enums = [
        ("kmtqaitype", "KMTQUERYADAPTERINFOTYPE", "KMTQAITYPE_"),
        ("device_state_type", "D3DKMT_DEVICESTATE_TYPE", "D3DKMT_DEVICESTATE_"),
        ("execution_state", "D3DKMT_DEVICEEXECUTION_STATE", "D3DKMT_DEVICEEXECUTION_"),
    ];
    for (module, name, prefix) in enums {
        let constants = constants(module);
        assert!(constants.len() > 2);
        for (constant, value) in constants {
            assert_eq!(json["enums"][name][format!("{prefix}{constant}")], value, "{constant}");
        }
    }
    let statistics = &json["enums"]["D3DKMT_QUERYSTATISTICS_TYPE"];
    assert_eq!(statistics["D3DKMT_QUERYSTATISTICS_ADAPTER"], query_statistics::ADAPTER);
    assert_eq!(statistics["D3DKMT_QUERYSTATISTICS_SEGMENT"], query_statistics::SEGMENT);
    assert_eq!(statistics["D3DKMT_QUERYSTATISTICS_NODE"], query_statistics::NODE);
}
