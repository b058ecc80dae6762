//! One node with every field: properties, banks, caches and links.

use std::fmt::Write as _;

use rocdxg::abi::*;
use rocdxg::platform::Node;

use super::{Style, counted, origin, push_table, title};
use crate::fields::{self, Field, Value};
use crate::model::Machine;
use crate::{facts, names};

/// The page of node `id`, which exists.
pub fn page(machine: &Machine, id: u32, style: Style) -> String {
    let mut page = origin(machine, style);
    let Some(node) = machine.nodes.get(id as usize) else { return page };
    let kind = facts::kind(node);
    let name = style.name(&title(node), kind);
    // Writing to a String cannot fail.
    let _ = writeln!(page, "Node {id}: {} {name}\n", kind.word());
    properties(&mut page, node, style);
    banks(&mut page, node, style);
    caches(&mut page, node, style);
    links(&mut page, node, style);
    page
}

fn properties(page: &mut String, node: &Node, style: Style) {
    let mut table = style.table(&["HsaNodeProperties", "Value", "Meaning"], &["Value", "Meaning"]);
    for field in fields::node(&node.properties) {
        table.add_row([field.0.to_owned(), plain(&field.1), meaning(node, &field)]);
    }
    push_table(page, &table);
}

/// The value as the header's type shows it.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Word { value, .. } => format!("{value:#x}"),
        Value::Enumerator { value, name } => {
            name.map_or_else(|| value.to_string(), |name| names::short(name).to_owned())
        }
        Value::Indexes(indexes) => counted(indexes.len(), "element"),
    }
}

/// What the value says to people; empty where it speaks for itself.
fn meaning(node: &Node, (name, value): &Field) -> String {
    let properties = &node.properties;
    match (*name, value) {
        ("EngineId" | "OverrideEngineId", _) => {
            let id = if *name == "EngineId" { properties.EngineId } else { properties.OverrideEngineId };
            match facts::gfx(id) {
                Some(gfx) => format!("{gfx}: {}", fields::set_bits(value)),
                None => fields::set_bits(value),
            }
        }
        ("LocationId", _) => facts::pci_address(node).unwrap_or_default(),
        (_, Value::Word { .. }) => fields::set_bits(value),
        (_, Value::Number(0)) => String::new(),
        ("NumFComputeCores", Value::Number(_)) => {
            format!("{} with {} SIMDs each", counted(facts::compute_units(properties) as usize, "CU"), {
                properties.NumSIMDPerCU
            })
        }
        ("LDSSizeInKB" | "GDSSizeInKB", Value::Number(kib)) => facts::size(kib << 10),
        ("LocalMemSize" | "VGPRSizePerCU" | "SGPRSizePerCU" | "CwsrSize" | "CtlStackSize", Value::Number(bytes)) => {
            facts::size(*bytes)
        }
        (
            "VendorId" | "DeviceId" | "HiveID" | "UniqueID" | "KFDGpuID" | "LuidLowPart" | "LuidHighPart",
            Value::Number(id),
        ) => format!("{id:#x}"),
        ("MaxEngineClockMhzFCompute" | "MaxEngineClockMhzCCompute", Value::Number(mhz)) => format!("{mhz} MHz"),
        ("WallClockKHz", Value::Number(khz)) => format!("{} MHz", *khz as f64 / 1000.0),
        _ => String::new(),
    }
}

fn head(page: &mut String, count: usize, what: &str) -> bool {
    // Writing to a String cannot fail.
    let _ = writeln!(page, "\n{}", counted(count, what));
    count != 0
}

fn banks(page: &mut String, node: &Node, style: Style) {
    if !head(page, node.banks.len(), "memory bank") {
        return;
    }
    let titles = ["HeapType", "Size", "SizeInBytes", "Width", "MemoryClockMax", "VirtualBaseAddress", "Flags"];
    let mut table = style.table(&titles, &["Flags"]);
    for bank in &node.banks {
        table.add_row([
            plain(&bank.HeapType.into()),
            facts::size(bank.SizeInBytes),
            { bank.SizeInBytes }.to_string(),
            { bank.Width }.to_string(),
            { bank.MemoryClockMax }.to_string(),
            format!("{:#x}", { bank.VirtualBaseAddress }),
            fields::set_bits(&bank.Flags.into()),
        ]);
    }
    push_table(page, &table);
}

/// Caches that differ in nothing but whom they serve share a line.
fn caches(page: &mut String, node: &Node, style: Style) {
    if !head(page, node.caches.len(), "cache") {
        return;
    }
    let titles = [
        "Count",
        "CacheLevel",
        "Size",
        "CacheSize",
        "LineSize",
        "LinesPerTag",
        "Associativity",
        "Latency",
        "Shared by",
        "CacheType",
    ];
    let mut table = style.table(&titles, &["CacheType"]);
    let siblings = |cache: &HsaCacheProperties| { cache.SiblingMap }.iter().filter(|&&sibling| sibling != 0).count();
    let alike = |a: &HsaCacheProperties, b: &HsaCacheProperties| {
        let anonymous =
            |cache: &HsaCacheProperties| HsaCacheProperties { ProcessorIdLow: 0, SiblingMap: [0; 256], ..*cache };
        anonymous(a) == anonymous(b) && siblings(a) == siblings(b)
    };
    let mut groups: Vec<(&HsaCacheProperties, usize)> = Vec::new();
    for cache in node.caches.iter() {
        match groups.iter_mut().find(|(first, _)| alike(first, cache)) {
            Some((_, count)) => *count += 1,
            None => groups.push((cache, 1)),
        }
    }
    for (cache, count) in groups {
        table.add_row([
            count.to_string(),
            { cache.CacheLevel }.to_string(),
            facts::size(facts::cache_bytes(facts::kind(node), cache)),
            { cache.CacheSize }.to_string(),
            { cache.CacheLineSize }.to_string(),
            { cache.CacheLinesPerTag }.to_string(),
            { cache.CacheAssociativity }.to_string(),
            { cache.CacheLatency }.to_string(),
            siblings(cache).to_string(),
            fields::set_bits(&cache.CacheType.into()),
        ]);
    }
    push_table(page, &table);
}

fn links(page: &mut String, node: &Node, style: Style) {
    if !head(page, node.links.len(), "link") {
        return;
    }
    let titles = [
        "NodeTo",
        "IoLinkType",
        "Weight",
        "Version",
        "Latency",
        "Bandwidth",
        "RecTransferSize",
        "RecSdmaEngIdMask",
        "Flags",
    ];
    let mut table = style.table(&titles, &["Flags"]);
    for link in &node.links {
        table.add_row([
            { link.NodeTo }.to_string(),
            plain(&link.IoLinkType.into()),
            { link.Weight }.to_string(),
            format!("{}.{}", { link.VersionMajor }, { link.VersionMinor }),
            format!("{}-{}", { link.MinimumLatency }, { link.MaximumLatency }),
            format!("{}-{}", { link.MinimumBandwidth }, { link.MaximumBandwidth }),
            { link.RecTransferSize }.to_string(),
            format!("{:#x}", { link.RecSdmaEngIdMask }),
            fields::set_bits(&link.Flags.into()),
        ]);
    }
    push_table(page, &table);
}
