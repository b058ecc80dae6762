//! The JSON document. Its keys are a promise, kept in `README.md` beside this crate: [`SCHEMA`] changes when one of
//! them goes or changes its meaning.

use rocdxg::abi::HSAKMT_STATUS;
use rocdxg::platform::Node;
use serde_json::{Map, Value as Json, json};

use crate::fields::{self, Field, Value};
use crate::model::{Machine, NoDevice, Source};
use crate::{facts, names};

/// Number of the form of the document.
const SCHEMA: u32 = 1;

/// The document, with one line break at its end: of all nodes, or of `node` alone.
pub fn document(machine: &Machine, node: Option<u32>) -> String {
    let ids = (0u32..).zip(&machine.nodes).filter(|(id, _)| node.is_none_or(|node| node == *id));
    let skipped = |s: &rocdxg::platform::Skipped| json!({"what": s.what, "reason": s.reason, "expected": s.expected});
    let document = json!({
        "schema": SCHEMA,
        "emulated": machine.source.is_emulated(),
        "source": source(&machine.source),
        "no_device": machine.source.no_device().map(no_device),
        "library_version": env!("CARGO_PKG_VERSION"),
        "kernel_interface": machine.interface.map(|version| object(fields::interface(&version))),
        "system": object(fields::system(&machine.system)),
        "nodes": ids.map(|(id, node)| node_object(id, node, machine.drivers.get(&id))).collect::<Vec<_>>(),
        "skipped": machine.skipped.iter().map(skipped).collect::<Vec<_>>(),
        "remarks": machine.remarks,
    });
    format!("{document:#}\n")
}

fn source(source: &Source) -> Json {
    let path = |path: &std::path::Path| path.display().to_string();
    let (kind, root, machine) = match source {
        Source::Device { root, .. } => ("device", root.as_deref().map(path), None),
        Source::Files { .. } => ("files", None, None),
        Source::Capture { root } => ("capture", Some(path(root)), None),
        Source::Emulation { machine, .. } => ("emulation", None, Some(machine)),
    };
    json!({"kind": kind, "platform": source.platform(), "root": root, "machine": machine})
}

fn no_device(no_device: &NoDevice) -> Json {
    let HSAKMT_STATUS(status) = no_device.refused.status;
    json!({
        "call": no_device.refused.call,
        "status": {"Value": status, "Name": names::status(no_device.refused.status)},
        "reason": no_device.reason,
        "checks": no_device.checks,
        "next": no_device.next,
    })
}

fn node_object(id: u32, node: &Node, driver: Option<&String>) -> Json {
    let properties = &node.properties;
    let kind = facts::kind(node);
    let hexadecimal = |id: u64| (id != 0).then(|| format!("{id:#018x}"));
    let caches = node.caches.iter().map(|cache| {
        let mut fields = fields::cache(cache);
        fields.push(("size_bytes", facts::cache_bytes(kind, cache).into()));
        object(fields)
    });
    json!({
        "id": id,
        "kind": kind.word(),
        "name": facts::name(node),
        "gfx": facts::gfx(properties.EngineId),
        "gfx_override": facts::gfx(properties.OverrideEngineId),
        "compute_units": facts::compute_units(properties),
        "memory_bytes": facts::memory_bytes(node),
        "pci_address": facts::pci_address(node),
        "luid": facts::luid(properties),
        "unique_id": hexadecimal(properties.UniqueID),
        "hive_id": hexadecimal(properties.HiveID),
        "driver": driver,
        "properties": object(fields::node(properties)),
        "banks": node.banks.iter().map(|bank| object(fields::bank(bank))).collect::<Vec<_>>(),
        "caches": caches.collect::<Vec<_>>(),
        "links": node.links.iter().map(|link| object(fields::link(link))).collect::<Vec<_>>(),
    })
}

fn object(fields: Vec<Field>) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), json_value(value))).collect())
}

fn json_value(value: Value) -> Json {
    match value {
        Value::Number(number) => number.into(),
        Value::Signed(number) => number.into(),
        Value::Text(text) => text.into(),
        Value::Word { value, bits } => {
            let bits = bits.into_iter().map(|bit| (bit.name.to_owned(), bit.value.into()));
            Json::Object(std::iter::once(("Value".to_owned(), value.into())).chain(bits).collect::<Map<_, _>>())
        }
        Value::Enumerator { value, name } => json!({"Value": value, "Name": name}),
        Value::Indexes(indexes) => indexes.into(),
    }
}
