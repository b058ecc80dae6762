//! Pages of text: one file per page, and here what they share.

pub mod json;
pub mod node;
pub mod screen;
pub mod tree;

use std::fmt::Write as _;
use std::io::IsTerminal;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, Color, ColumnConstraint, ContentArrangement, Table, TableComponent};

use rocdxg::platform::Node;

use crate::facts::{self, Kind};
use crate::model::{Machine, Source};

/// Columns that a page takes at most.
const WIDEST: u16 = 120;
/// Columns below which tables become unreadable: narrower terminals wrap the lines.
const NARROWEST: u16 = 100;

/// How a page looks.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    colour: bool,
    width: u16,
}

impl Style {
    /// Colours and the width of the terminal when standard output is one; else neither, as when `NO_COLOR` is set.
    pub fn of_stdout() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stdout().is_terminal();
        let width = if terminal { Table::new().width() } else { None };
        Self { colour: terminal && !dumb && !set("NO_COLOR"), width: width.unwrap_or(WIDEST).clamp(NARROWEST, WIDEST) }
    }

    /// Words that nobody may overlook.
    fn loud(self, words: &str) -> String {
        if self.colour { format!("\x1b[1;33m{words}\x1b[0m") } else { words.to_owned() }
    }

    /// The name of a node.
    fn name(self, words: &str, kind: Kind) -> String {
        let code = if kind.has_gpu() { 32 } else { 36 };
        if self.colour { format!("\x1b[{code}m{words}\x1b[0m") } else { words.to_owned() }
    }

    /// The same in a table.
    fn name_cell(self, words: &str, kind: Kind) -> Cell {
        Cell::new(words).fg(if kind.has_gpu() { Color::DarkGreen } else { Color::DarkCyan })
    }

    /// A table with a line below the head. Columns that are not named in `flexible` take what their content takes.
    fn table(self, head: &[&str], flexible: &[&str]) -> Table {
        let mut table = Table::new();
        table
            .load_preset(NOTHING)
            .set_style(TableComponent::HeaderLines, '-')
            .set_style(TableComponent::MiddleHeaderIntersections, '-')
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(self.width)
            .set_header(head);
        if self.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        for (index, title) in head.iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                column.set_padding((0, 1));
                if !flexible.contains(title) {
                    column.set_constraint(ColumnConstraint::ContentWidth);
                }
            }
        }
        table
    }
}

/// A blank at which a table cell is not wrapped; an ordinary one on the page.
const NO_BREAK: char = '\u{a0}';

/// The lines of a table without blanks at their ends.
fn push_table(page: &mut String, table: &Table) {
    page.push_str(&table.trim_fmt().replace(NO_BREAK, " "));
    page.push('\n');
}

/// Where the machine was read, and first of all what must not be overlooked about that.
fn origin(machine: &Machine, style: Style) -> String {
    let mut page = String::new();
    // Writing to a String cannot fail.
    let mut line = |text: String| _ = writeln!(page, "{text}");
    if let Some(no_device) = machine.source.no_device() {
        line(format!("{}: {}", style.loud("No GPU device can be opened"), no_device.refused));
        for fact in no_device.reason.iter().chain(&no_device.checks) {
            line(format!("  {fact}"));
        }
        if let Some(next) = no_device.next {
            line(format!("  Next: {next}"));
        }
    }
    match &machine.source {
        Source::Device { root: None, .. } => line("This machine, through the C API of the library.".into()),
        Source::Device { root: Some(root), .. } => {
            line(format!("The machine below {}, through the C API of the library.", shown(root)));
        }
        Source::Files { .. } => line("This machine, as the files of its kernel describe it.".into()),
        Source::Capture { root } => line(format!("The machine that was captured in {}.", shown(root))),
        Source::Emulation { machine, description, no_device } => {
            let what = [machine.as_str(), description].into_iter().filter(|words| !words.is_empty());
            let follows = if no_device.is_some() { "What follows is " } else { "" };
            line(format!(
                "{follows}{}: {}. The GPUs are software; CPU facts are those of this machine.",
                style.loud("EMULATED"),
                what.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    page
}

fn shown(path: &std::path::Path) -> String {
    facts::clean(&path.display().to_string())
}

/// The name of a node, or how much of what it is where it has none.
fn title(node: &Node) -> String {
    let name = facts::name(node);
    match facts::kind(node) {
        _ if !name.is_empty() => name,
        Kind::Cpu => counted(node.properties.NumCPUCores as usize, "core"),
        Kind::Gpu => counted(facts::compute_units(&node.properties) as usize, "CU"),
        Kind::Both | Kind::Neither => "-".to_owned(),
    }
}

/// "1 GPU", "2 GPUs".
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A value, or a dash where there is none.
fn or_dash(value: Option<String>) -> String {
    value.filter(|value| !value.is_empty()).unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use rocdxg::abi::*;

    use super::*;

    /// A node with that many cores, SIMDs and links.
    pub fn node(cores: u32, simds: u32, links: Vec<HsaIoLinkProperties>) -> Node {
        let properties = HsaNodeProperties {
            NumCPUCores: cores,
            NumFComputeCores: simds,
            NumSIMDPerCU: 4,
            ..HsaNodeProperties::ZERO
        };
        Node { properties, links, ..Node::default() }
    }

    /// A captured machine of these nodes.
    pub fn machine(nodes: Vec<Node>) -> Machine {
        Machine {
            source: Source::Capture { root: "x".into() },
            interface: None,
            system: HsaSystemProperties::ZERO,
            nodes,
            drivers: std::collections::BTreeMap::new(),
            skipped: vec![],
            remarks: vec![],
        }
    }

    /// Text without colours.
    fn bare(text: &str) -> String {
        let mut parts = text.split("\x1b[");
        let first = parts.next().unwrap_or_default();
        parts.fold(first.to_owned(), |bare, part| bare + part.split_once('m').map_or(part, |(_, rest)| rest))
    }

    #[test]
    fn colours_change_nothing_else() {
        let mut machine = machine(vec![node(8, 0, vec![]), node(0, 40, vec![])]);
        for (character, unit) in "Radeon".encode_utf16().enumerate() {
            machine.nodes[1].properties.MarketingName[character] = unit;
        }
        machine.source = Source::Emulation { machine: "m".into(), description: String::new(), no_device: None };
        let style = |colour| Style { colour, width: WIDEST };
        for page in [screen::page, tree::page, |machine: &Machine, style| node::page(machine, 1, style)] {
            let (plain, coloured) = (page(&machine, style(false)), page(&machine, style(true)));
            assert!(coloured.matches('\x1b').count() >= 4, "{coloured:?}");
            assert_eq!(bare(&coloured), plain);
            assert!(!plain.contains('\x1b'));
        }
    }
}
