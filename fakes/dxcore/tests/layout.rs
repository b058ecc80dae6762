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
    // The rest of the union of kinds, behind the monitored fence.
    ("D3DDDI_SYNCHRONIZATIONOBJECTINFO2", "Rest", None),
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
    D3DDDI_ALLOCATIONINFO2 { hAllocation, pSystemMem, pPrivateDriverData, PrivateDriverDataSize, VidPnSourceId, Flags, GpuVirtualAddress, Unused, Reserved }
    D3DKMT_CREATEALLOCATION { hDevice, hResource, hGlobalShare, pPrivateRuntimeData, PrivateRuntimeDataSize, pPrivateDriverData, PrivateDriverDataSize, NumAllocations, pAllocationInfo2, Flags, hPrivateRuntimeResourceHandle }
    D3DKMT_DESTROYALLOCATION2 { hDevice, hResource, phAllocationList, AllocationCount, Flags }
    D3DDDI_MAKERESIDENT { hPagingQueue, NumAllocations, AllocationList, PriorityList, Flags, PagingFenceValue, NumBytesToTrim }
    D3DKMT_EVICT { hDevice, NumAllocations, AllocationList, Flags, NumBytesToTrim }
    D3DDDI_RESERVEGPUVIRTUALADDRESS { hAdapter, BaseAddress, MinimumAddress, MaximumAddress, Size, ReservationType, DriverProtection, VirtualAddress, PagingFenceValue }
    D3DDDI_MAPGPUVIRTUALADDRESS { hPagingQueue, BaseAddress, MinimumAddress, MaximumAddress, hAllocation, OffsetInPages, SizeInPages, Protection, DriverProtection, Reserved0, Reserved1, VirtualAddress, PagingFenceValue }
    D3DKMT_FREEGPUVIRTUALADDRESS { hAdapter, BaseAddress, Size }
    D3DKMT_LOCK2 { hDevice, hAllocation, Flags, pData }
    D3DKMT_UNLOCK2 { hDevice, hAllocation }
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 { Type, Flags, InitialFenceValue, FenceValueCPUVirtualAddress, FenceValueGPUVirtualAddress, EngineAffinity, Padding, Rest, SharedHandle }
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 { hDevice, Info, hSyncObject }
    D3DKMT_DESTROYSYNCHRONIZATIONOBJECT { hSyncObject }
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU { hDevice, ObjectCount, ObjectHandleArray, FenceValueArray, hAsyncEvent, Flags }
    D3DKMT_SHAREOBJECTS { ObjectCount, ObjectHandleArray, pObjectAttributes, DesiredAccess, pSharedNtHandle }
    D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE { hDevice, hNtHandle, pPrivateRuntimeData, PrivateRuntimeDataSize, TotalPrivateDriverDataSize, ResourcePrivateDriverDataSize, NumAllocations }
    D3DDDI_OPENALLOCATIONINFO2 { hAllocation, pPrivateDriverData, PrivateDriverDataSize, GpuVirtualAddress, Reserved }
    D3DKMT_OPENRESOURCEFROMNTHANDLE { hDevice, hNtHandle, NumAllocations, pOpenAllocationInfo2, PrivateRuntimeDataSize, pPrivateRuntimeData, ResourcePrivateDriverDataSize, pResourcePrivateDriverData, TotalPrivateDriverDataBufferSize, pTotalPrivateDriverDataBuffer, hResource, hKeyedMutex, pKeyedMutexPrivateRuntimeData, KeyedMutexPrivateRuntimeDataSize, hSyncObject }
}

structs! {
    provider_structs:
    rocdxg_kmd_adapter { struct_size, adapter, luid_low, luid_high, query_adapter_info }
    rocdxg_kmd_adapter_info { struct_size, flags, flags_known, device_id, revision, pci_location, pci_domain, gfx_major, gfx_minor, gfx_stepping, asic_revision, family, compute_units, simd_per_cu, waves_per_cu, wavefront_size, shader_engines, arrays_per_engine, lds_bytes, scratch_slots_per_cu, watch_points, num_xcc, sdma_engines, cp_queues, num_gws, mec_firmware, sdma_firmware, memory_bus_bits, memory_clock_mhz, engine_clock_mhz, gb_addr_config, reserved0, unique_id, l1_bytes, l2_bytes, l3_bytes, local_bytes, non_local_bytes, counter_hz, lds_aperture, scratch_aperture, user_queue_bytes, page_alignment, big_page_alignment, product_name }
    rocdxg_kmd_allocation { struct_size, domain, memory_flags, engine_flags, bytes, address, count, reserved0 }
    rocdxg_kmd_allocation_sizes { struct_size, driver_bytes, entry_bytes, reserved0 }
    rocdxg_kmd_surface { struct_size, flags, bytes, swizzle_mode, tile_swizzle }
    rocdxg_kmd_provider { struct_size, version, name, query_adapter_supported, get_adapter_info, get_allocation_sizes, fill_allocation, parse_allocation }
}

fn json() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/d3dkmt.json")).unwrap()
}

fn source() -> &'static str {
    concat!(
        include_str!("../../../src/platform/dxg/d3dkmt.rs"),
        include_str!("../../../src/platform/dxg/d3dkmt/memory.rs")
    )
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
        ("DOMAIN_SYSTEM", ROCDXG_KMD_DOMAIN_SYSTEM),
        ("DOMAIN_LOCAL", ROCDXG_KMD_DOMAIN_LOCAL),
        ("DOMAIN_USER", ROCDXG_KMD_DOMAIN_USER),
        ("DOMAIN_QUEUE", ROCDXG_KMD_DOMAIN_QUEUE),
        ("MEMORY_FINE_GRAIN", ROCDXG_KMD_MEMORY_FINE_GRAIN),
        ("MEMORY_KERNARG", ROCDXG_KMD_MEMORY_KERNARG),
        ("MEMORY_QUEUE_OBJECT", ROCDXG_KMD_MEMORY_QUEUE_OBJECT),
        ("ENGINE_COMPUTE0", ROCDXG_KMD_ENGINE_COMPUTE0),
        ("ENGINE_SDMA0", ROCDXG_KMD_ENGINE_SDMA0),
        ("ENGINE_SDMA1", ROCDXG_KMD_ENGINE_SDMA1),
        ("ENGINE_COMPUTE1", ROCDXG_KMD_ENGINE_COMPUTE1),
        ("SURFACE_SWIZZLE_KNOWN", ROCDXG_KMD_SURFACE_SWIZZLE_KNOWN),
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
        bit if bit.starts_with("1 << ") => 1 << bit[5..].parse::<u32>().unwrap(),
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
        ("reservation_type", "D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE", "D3DDDIGPUVIRTUALADDRESS_RESERVE_"),
        ("segment_group", "D3DKMT_MEMORY_SEGMENT_GROUP", "D3DKMT_MEMORY_SEGMENT_GROUP_"),
        ("sync_object_type", "D3DDDI_SYNCHRONIZATIONOBJECT_TYPE", "D3DDDI_"),
    ];
    for (module, name, prefix) in enums {
        let constants = constants(module);
        assert!(constants.len() > 1);
        for (constant, value) in constants {
            assert_eq!(json["enums"][name][format!("{prefix}{constant}")], value, "{constant}");
        }
    }
    let statistics = &json["enums"]["D3DKMT_QUERYSTATISTICS_TYPE"];
    assert_eq!(statistics["D3DKMT_QUERYSTATISTICS_ADAPTER"], query_statistics::ADAPTER);
    assert_eq!(statistics["D3DKMT_QUERYSTATISTICS_SEGMENT"], query_statistics::SEGMENT);
    assert_eq!(statistics["D3DKMT_QUERYSTATISTICS_PROCESS_SEGMENT"], query_statistics::PROCESS_SEGMENT);
    assert_eq!(statistics["D3DKMT_QUERYSTATISTICS_NODE"], query_statistics::NODE);
    assert_eq!(statistics["D3DKMT_QUERYSTATISTICS_PROCESS_SEGMENT_GROUP"], query_statistics::PROCESS_SEGMENT_GROUP);
    let result = &json["structs"]["D3DKMT_QUERYSTATISTICS"]["fields"];
    let result = result.as_array().unwrap().iter().find(|f| f["name"] == "QueryResult").unwrap();
    let word = |outer: &str, inner: &str| {
        let outer = result["fields"].as_array().unwrap().iter().find(|f| f["name"] == outer).unwrap();
        (member(&outer["fields"], inner).unwrap().0 - member(&result["fields"], "AdapterInformation").unwrap().0) / 4
    };
    assert_eq!(word("ProcessSegmentInformation", "BytesCommitted"), query_statistics::PROCESS_BYTES_COMMITTED);
    assert_eq!(word("ProcessSegmentGroupInformation", "Budget"), query_statistics::PROCESS_GROUP_BUDGET);
    assert_eq!(word("ProcessSegmentGroupInformation", "Usage"), query_statistics::PROCESS_GROUP_USAGE);
    assert_eq!(json["constants"]["D3DKMT_CREATEALLOCATION_MAX"], D3DKMT_CREATEALLOCATION_MAX);
    assert_eq!(json["constants"]["D3DKMT_MAKERESIDENT_ALLOC_MAX"], D3DKMT_MAKERESIDENT_ALLOC_MAX);
}

/// Bit-fields below a member: name in capitals with underscores, and bit.
fn bit_fields(field: &Value) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for inner in field["fields"].as_array().into_iter().flatten() {
        if let (Some(name), Some(bit)) = (inner["name"].as_str(), inner["bit_offset"].as_u64()) {
            let mut constant = String::new();
            for (i, c) in name.char_indices() {
                if i > 0 && c.is_uppercase() && name[..i].ends_with(char::is_lowercase) {
                    constant.push('_');
                }
                constant.push(c.to_ascii_uppercase());
            }
            found.push((constant, 1 << bit));
        }
        found.extend(bit_fields(inner));
    }
    found
}

#[test]
fn every_flag_of_memory_is_the_measured_bit() {
    for (module, structure, field) in [
        ("allocation_info_flags", "D3DDDI_ALLOCATIONINFO2", "Flags"),
        ("create_allocation_flags", "D3DKMT_CREATEALLOCATION", "Flags"),
        ("destroy_allocation_flags", "D3DKMT_DESTROYALLOCATION2", "Flags"),
        ("make_resident_flags", "D3DDDI_MAKERESIDENT", "Flags"),
        ("evict_flags", "D3DKMT_EVICT", "Flags"),
        ("protection", "D3DDDI_MAPGPUVIRTUALADDRESS", "Protection"),
        ("sync_object_flags", "D3DDDI_SYNCHRONIZATIONOBJECTINFO2", "Flags"),
        ("wait_from_cpu_flags", "D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU", "Flags"),
    ] {
        let measured = &json()["structs"][structure]["fields"];
        let flags = measured.as_array().unwrap().iter().find(|f| f["name"] == field).unwrap();
        let measured: Vec<_> = bit_fields(flags).into_iter().filter(|(n, _)| !n.starts_with("RESERVED")).collect();
        assert_eq!(constants(module), measured, "{module}");
    }
}
