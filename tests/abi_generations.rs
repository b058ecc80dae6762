//! What callers of each release read, against the layouts of that release in `tests/data/abi.json`.

use std::mem::{offset_of, size_of};

use rocdxg::abi::generation::{DeviceInfoLayout, Generation, UnknownSize};
use rocdxg::abi::*;
use serde_json::Value;

fn facts() -> Value {
    serde_json::from_str(include_str!("data/abi.json")).unwrap()
}

/// A value whose bytes differ from those nearby: byte n is n times 37, modulo 251.
fn patterned<T: Plain>() -> (T, Vec<u8>) {
    let bytes: Vec<u8> = (0..size_of::<T>()).map(|n| (n * 37 % 251) as u8).collect();
    // SAFETY: every bit pattern is a valid value of a plain type, and there are as many bytes as it has.
    (unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }, bytes)
}

struct Place {
    name: String,
    offset: usize,
    size: usize,
}

/// Fields of a structure; those of an anonymous union count as fields of their own.
fn places(structure: &Value) -> Vec<Place> {
    let fields = structure["fields"].as_array().unwrap().iter();
    let flat = fields.flat_map(|field| {
        if field["name"].is_null() { field["fields"].as_array().unwrap().iter().collect() } else { vec![field] }
    });
    flat.map(|field| Place {
        name: field["name"].as_str().unwrap().to_owned(),
        offset: field["offset"].as_u64().unwrap() as usize,
        size: field["size"].as_u64().unwrap() as usize,
    })
    .collect()
}

/// The newest name of what an older release calls `name`.
fn renamed<'a>(structure: &str, name: &'a str) -> &'a str {
    match (structure, name) {
        ("HsaNodeProperties", "Reserved2") => "Integrated",
        // 12 bytes that are now three numbers, the first of which is this.
        ("HsaNodeProperties", "Reserved") => "NumXcc",
        ("HsaGraphicsResourceInfo", "Reserved") => "NodeId",
        ("HsaMemoryExportResult", "fd") => "dmabuf_fd",
        _ => name,
    }
}

/// Compares an image with the layout of a release, field by field: each has the bytes of its newest form, and every byte
/// up to the last field belongs to one.
fn compare(structure: &str, newest: &Value, old: &Value, newest_bytes: &[u8], image: &[u8]) {
    let newest = places(newest);
    let mut covered = vec![false; image.len()];
    for place in places(old) {
        let name = renamed(structure, &place.name);
        let now = newest.iter().find(|now| now.name == name);
        let now = now.unwrap_or_else(|| panic!("{structure} has lost {}", place.name));
        assert_eq!(
            image[place.offset..][..place.size],
            newest_bytes[now.offset..][..place.size],
            "{structure}.{}",
            place.name
        );
        covered[place.offset..][..place.size].fill(true);
    }
    assert!(covered.iter().all(|byte| *byte), "{structure} writes bytes that no field has");
}

/// Structures that have the same layout in every release, or that this library does not hand out.
const SAME: [&str; 6] =
    ["HsaMemFlags", "HSA_CAPABILITY", "HSA_CAPABILITY2", "HSA_REGISTER_MEM_FLAGS", "HsaEventData", "HsaMemMapFlags"];

/// The bytes that a caller of `generation` reads, and those of the newest form.
fn image(generation: &Generation, structure: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    macro_rules! of {
        ($type:ty, $encode:ident) => {{
            let (value, bytes) = patterned::<$type>();
            Some((generation.$encode(&value).as_ref().to_vec(), bytes))
        }};
    }
    match structure {
        "HsaNodeProperties" => {
            // Without an override, which some layouts show in another field.
            let (mut value, mut bytes) = patterned::<HsaNodeProperties>();
            value.OverrideEngineId = HSA_ENGINE_ID(0);
            bytes[offset_of!(HsaNodeProperties, OverrideEngineId)..][..4].fill(0);
            Some((generation.node(&value).as_ref().to_vec(), bytes))
        }
        "HsaIoLinkProperties" => of!(HsaIoLinkProperties, link),
        "HsaCacheProperties" => of!(HsaCacheProperties, cache),
        "HsaQueueInfo" => of!(HsaQueueInfo, queue_info),
        "HsaQueueResource" => of!(HsaQueueResource, queue_resource),
        "HsaGraphicsResourceInfo" => of!(HsaGraphicsResourceInfo, graphics),
        "HsaHandleImportResult" => of!(HsaHandleImportResult, import_result),
        "HsaMemoryExportResult" => of!(HsaMemoryExportResult, export_result),
        _ => None,
    }
}

fn announced(node: u16, import: u16, cache: u16) -> Result<Generation, UnknownSize> {
    Generation::V2025_08.announced(&HsaStructureSizes {
        StructureSizes: 16,
        SizeOfHsaNodeProperties: node,
        SizeOfHsaExternalHandleDesc: import,
        Reserved: [cache, 0, 0, 0, 0],
    })
}

/// The generation of a release in the facts.
fn generation(release: &str) -> Generation {
    match release {
        "5.2.3" => Generation::named("5.2").unwrap(),
        "6.2.4" => Generation::named("6.2").unwrap(),
        "6.4.3" => Generation::named("6.4").unwrap(),
        "aug2025" => Generation::named("2025.08").unwrap(),
        "7.2.x" => Generation::named("7.2").unwrap(),
        "external_librocdxg_a273620f" => announced(392, 24, 0).unwrap(),
        "rocm-systems_1bda68ce" => announced(392, 32, 0).unwrap(),
        other => panic!("{other} is not known here"),
    }
}

#[test]
fn every_release_reads_its_own_layout() {
    let facts = facts();
    let mut compared = 0;
    for (release, structures) in facts["historical_structs"].as_object().unwrap() {
        let generation = generation(release);
        for (structure, old) in structures.as_object().unwrap() {
            let size = old["size"].as_u64().unwrap() as usize;
            if SAME.contains(&structure.as_str()) {
                let newest = &facts["structs"][structure]["size"];
                assert!(newest.is_null() || newest.as_u64() == Some(size as u64), "{release} {structure}");
                continue;
            }
            if structure == "HsaExternalHandleDesc" {
                assert_eq!(generation.import_size(), size, "{release}");
                continue;
            }
            let (image, newest) = image(&generation, structure).unwrap_or_else(|| panic!("{structure} has no image"));
            // The external package does not pack its result: 4 bytes of padding follow, which are left alone.
            let padding = usize::from((structure.as_str(), size) == ("HsaHandleImportResult", 24)) * 4;
            assert_eq!(image.len() + padding, size, "{release} {structure}");
            compare(structure, &facts["structs"][structure], old, &newest, &image);
            compared += 1;
        }
    }
    assert_eq!(compared, 29);
}

#[test]
fn the_latest_is_the_newest_form() {
    for structure in [
        "HsaNodeProperties",
        "HsaIoLinkProperties",
        "HsaCacheProperties",
        "HsaQueueInfo",
        "HsaQueueResource",
        "HsaGraphicsResourceInfo",
        "HsaHandleImportResult",
        "HsaMemoryExportResult",
    ] {
        let (image, newest) = image(&Generation::named("latest").unwrap(), structure).unwrap();
        assert_eq!(image, newest, "{structure}");
    }
    assert_eq!(Generation::named("6.3"), None);
}

#[test]
fn a_node_of_each_size_is_a_prefix_of_the_newest() {
    let (node, newest) = patterned::<HsaNodeProperties>();
    for size in [368, 376, 392, 396] {
        let image = announced(size, 0, 0).unwrap().node(&node);
        assert_eq!(image.as_ref(), &newest[..usize::from(size)]);
    }
}

#[test]
fn callers_without_a_field_for_the_override_find_it_in_the_engine_id() {
    let version = |major, code| HSA_ENGINE_ID(0).with(HSA_ENGINE_ID::Major, major).with(HSA_ENGINE_ID::uCode, code);
    let node =
        HsaNodeProperties { EngineId: version(11, 544), OverrideEngineId: version(10, 0), ..HsaNodeProperties::ZERO };
    // Release, offset of EngineId, what is there.
    for (release, offset, shown) in [
        ("5.2", 68, version(10, 544)),
        ("6.2", 68, version(10, 544)),
        ("6.4", 72, version(11, 544)),
        ("2025.08", 76, version(11, 544)),
        ("latest", 76, version(11, 544)),
    ] {
        let image = Generation::named(release).unwrap().node(&node);
        assert_eq!(image.as_ref()[offset..][..4], shown.0.to_le_bytes(), "{release}");
    }
}

#[test]
fn the_size_of_a_node_tells_the_other_structures() {
    let sizes = |generation: Generation| {
        let len = |structure| image(&generation, structure).unwrap().0.len();
        (
            (len("HsaIoLinkProperties"), len("HsaCacheProperties"), len("HsaQueueInfo"), len("HsaQueueResource")),
            (generation.graphics_size(), generation.import_size()),
        )
    };
    assert_eq!(sizes(announced(356, 0, 0).unwrap()), ((48, 1056, 68, 40), (32, 40)));
    assert_eq!(sizes(announced(364, 0, 0).unwrap()), ((52, 1056, 68, 40), (32, 40)));
    assert_eq!(sizes(announced(376, 0, 0).unwrap()), ((52, 1056, 68, 40), (32, 40)));
    assert_eq!(sizes(announced(392, 0, 0).unwrap()), ((52, 1056, 68, 40), (32, 24)));
    assert_eq!(sizes(announced(396, 40, 0).unwrap()), ((52, 1056, 76, 52), (40, 40)));
    assert_eq!(sizes(announced(396, 40, 1060).unwrap()), ((52, 1060, 76, 52), (40, 40)));
    assert_eq!(announced(0, 0, 0), Ok(Generation::V2025_08));
    assert_eq!(sizes(announced(0, 32, 0).unwrap()), ((52, 1056, 68, 40), (32, 32)));
}

#[test]
fn sizes_of_no_release_are_refused() {
    for size in (1..=u16::MAX).filter(|size| ![356, 364, 368, 376, 392, 396].contains(size)) {
        assert_eq!(announced(size, 0, 0), Err(UnknownSize { structure: "HsaNodeProperties", size }));
    }
    for size in (1..=u16::MAX).filter(|size| ![24, 32, 40].contains(size)) {
        assert_eq!(announced(396, size, 0), Err(UnknownSize { structure: "HsaHandleImportDesc", size }));
    }
}

/// Bytes of an import descriptor in the layout `old`, with a handle for each field that it has.
fn descriptor(old: &Value) -> Vec<u8> {
    let mut bytes = vec![0xee; old["size"].as_u64().unwrap() as usize];
    for place in places(old) {
        let value: u64 = match place.name.as_str() {
            "device_handle" => 0x1111_2222_3333_4444,
            "fd" | "dmabuf_fd" => -3_i64 as u64,
            "type" => 2,
            "mem" => 0x5555_6666_7777_8888,
            "metadata" => 0x9999_aaaa,
            "buf_handle" | "fabric" => continue,
            other => panic!("{other}"),
        };
        bytes[place.offset..][..place.size].copy_from_slice(&value.to_ne_bytes()[..place.size]);
    }
    bytes
}

#[test]
fn import_descriptors_of_every_form_are_understood() {
    let facts = facts();
    let forms = [
        (24, &facts["historical_structs"]["external_librocdxg_a273620f"]["HsaExternalHandleDesc"]),
        (32, &facts["historical_structs"]["rocm-systems_1bda68ce"]["HsaExternalHandleDesc"]),
        (40, &facts["structs"]["HsaHandleImportDesc"]),
    ];
    for (size, layout) in forms {
        let generation = announced(392, size, 0).unwrap();
        let bytes = descriptor(layout);
        assert_eq!(bytes.len(), usize::from(size));
        let desc = generation.import(&bytes).unwrap();
        assert_eq!(desc.device_handle.addr(), 0x1111_2222_3333_4444);
        assert_eq!((desc.r#type, desc.dmabuf_fd()), (HSA_EXTERNAL_HANDLE_DMA_BUF, -3));
        assert_eq!({ desc.metadata }, 0x9999_aaaa);
        let mem = if size == 24 { 0 } else { 0x5555_6666_7777_8888 };
        assert_eq!(desc.mem.addr(), mem);
        assert_eq!(generation.import(&bytes[..bytes.len() - 1]), None);
    }
    let (newest, bytes) = patterned::<HsaHandleImportDesc>();
    assert_eq!(Generation::LATEST.import(&bytes), Some(newest));
}

#[test]
fn the_size_hint_is_read_where_there_is_one() {
    let (info, bytes) = patterned::<HsaGraphicsResourceInfo>();
    let hint = info.SizeHintInBytes;
    assert_eq!(Generation::LATEST.graphics_size_hint(&bytes), Some(hint));
    assert_eq!(Generation::LATEST.graphics_size_hint(&bytes[..39]), None);
    assert_eq!(Generation::V7_2.graphics_size_hint(&bytes[..32]), Some(0));
    assert_eq!(Generation::V7_2.graphics_size_hint(&bytes[..31]), None);
}

#[test]
fn telemetry_has_two_forms() {
    let facts = facts();
    let (info, bytes) = patterned::<rocdxg_smi_device_info_t>();
    let old = &facts["struct_variants"]["rocdxg_smi_device_info_t@without_struct_size_and_num_xcc"];
    let newest = &facts["structs"]["rocdxg_smi_device_info_t"];
    let image = DeviceInfoLayout::L3624.device_info(&info);
    assert_eq!(image.as_ref().len(), old["size"].as_u64().unwrap() as usize);
    let (newest, mut fields) = (places(newest), 0);
    for place in places(old) {
        let now = newest.iter().find(|now| now.name == place.name).unwrap();
        let have = &image.as_ref()[place.offset..][..place.size];
        let want = &bytes[now.offset..][..place.size];
        let padded = have.iter().zip(want).filter(|(have, want)| have != want).count();
        // Padding inside a member is written as zeros: behind the entries and the count of the firmware.
        assert!(padded == 0 || place.name == "fw" && padded <= 4 * 33, "{}: {padded}", place.name);
        fields += 1;
    }
    assert_eq!(fields, 8);
    let whole = DeviceInfoLayout::L3632.device_info(&info);
    assert_eq!(whole.as_ref().len(), size_of::<rocdxg_smi_device_info_t>());
    let asic = offset_of!(rocdxg_smi_device_info_t, asic);
    assert_eq!(whole.as_ref()[asic..][..304], bytes[asic..][..304]);
}
