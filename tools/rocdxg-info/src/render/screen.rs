//! The default page: one screen.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use comfy_table::Cell;
use rocdxg::platform::Node;

use super::{NO_BREAK, Style, counted, or_dash, origin, push_table};
use crate::facts::{self, Kind};
use crate::model::Machine;

/// The page.
pub fn page(machine: &Machine, style: Style) -> String {
    let mut page = origin(machine, style);
    let emulated = if machine.source.is_emulated() { " (EMULATED)" } else { "" };
    let interface = machine.interface.map_or(String::new(), |version| {
        let (major, minor) = (version.KernelInterfaceMajorVersion, version.KernelInterfaceMinorVersion);
        format!(", kernel interface {major}.{minor}")
    });
    // Adapters of one host share a driver model more often than not: each version is named once.
    let versions: BTreeSet<_> = machine.drivers.values().map(String::as_str).collect();
    let drivers = versions.into_iter().fold(String::new(), |all, version| all + ", driver " + version);
    let gpus = machine.nodes.iter().filter(|node| facts::kind(node).has_gpu()).count();
    let cpus = machine.nodes.iter().filter(|node| facts::kind(node).has_cpu()).count();
    // Writing to a String cannot fail.
    let _ = writeln!(
        page,
        "Platform {}{emulated}{interface}{drivers}, library rocdxg {}: {}, {}\n",
        machine.source.platform(),
        env!("CARGO_PKG_VERSION"),
        counted(cpus, "CPU node"),
        counted(gpus, "GPU node"),
    );
    let head = ["Node", "Name", "gfx", "Units", "SExSA", "LDS", "Caches", "Memory", "PCI / LUID"];
    let mut table = style.table(&head, &["Name", "Caches"]);
    let digits = machine.nodes.len().saturating_sub(1).to_string().len();
    for (id, node) in machine.nodes.iter().enumerate() {
        table.add_row(row(id, node, digits, style));
    }
    push_table(&mut page, &table);
    if gpus == 0 {
        let _ = writeln!(page, "\n{}", style.loud("No GPU node."));
    }
    if !machine.skipped.is_empty() {
        page.push_str("\nSkipped\n");
        for skipped in &machine.skipped {
            let _ = writeln!(page, "  {}: {}", skipped.what, skipped.reason);
        }
    }
    if !machine.remarks.is_empty() {
        page.push_str("\nRemarks\n");
        for remark in &machine.remarks {
            let _ = writeln!(page, "  {remark}");
        }
    }
    page
}

/// The line of node `id`, whose number is `digits` wide.
fn row(id: usize, node: &Node, digits: usize, style: Style) -> Vec<Cell> {
    let properties = &node.properties;
    let kind = facts::kind(node);
    let units = match kind {
        Kind::Cpu => counted(properties.NumCPUCores as usize, "core"),
        Kind::Gpu => counted(facts::compute_units(properties) as usize, "CU"),
        Kind::Both => format!("{}+{}", { properties.NumCPUCores }, facts::compute_units(properties)),
        Kind::Neither => "-".to_owned(),
    };
    let gfx = facts::gfx(properties.EngineId).map(|real| match facts::gfx(properties.OverrideEngineId) {
        Some(other) => format!("{real}\nas {other}"),
        None => real,
    });
    let lds = Some(properties.LDSSizeInKB).filter(|&kib| kib != 0).map(|kib| facts::size(u64::from(kib) << 10));
    let caches =
        facts::cache_levels(node).into_iter().map(|(_, bytes)| facts::size(bytes).replace(' ', &NO_BREAK.to_string()));
    let memory = Some(facts::memory_bytes(node)).filter(|&bytes| bytes != 0).map(facts::size);
    let place = [facts::pci_address(node), facts::luid(properties)].into_iter().flatten();
    let name = or_dash(Some(facts::name(node)));
    vec![
        Cell::new(format!("{id:digits$} {}", kind.word())),
        style.name_cell(&name, kind),
        Cell::new(or_dash(gfx)),
        Cell::new(units),
        Cell::new(or_dash(facts::shader_arrays(properties))),
        Cell::new(or_dash(lds)),
        Cell::new(or_dash(Some(caches.collect::<Vec<_>>().join(&format!("{NO_BREAK}/ "))))),
        Cell::new(or_dash(memory)),
        Cell::new(or_dash(Some(place.collect::<Vec<_>>().join("\n")))),
    ]
}
