//! `rocdxg-info`: shows what the thunk tells its users, or why it cannot.
//!
//! The map: `find` chooses a machine and reads it through `capi` (the C API) or from files, `doctor` says why there is
//! no device, both fill `model`; `render` writes it, with `facts`, `fields` and `names` for single values.

mod capi;
mod doctor;
mod facts;
mod fields;
mod find;
mod model;
mod names;
mod render;

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::render::Style;

/// Shows the CPU and GPU nodes that the ROCm thunk reports: of this machine, of a captured one, or of an emulated one.
#[derive(Parser)]
#[command(
    name = "rocdxg-info",
    version,
    after_help = "Where this machine has no GPU device, the reason is shown, and an emulated machine.\n\
                  Exit status: 0 shown, 1 cannot write, 2 usage, 3 no platform. NO_COLOR turns colours off."
)]
struct Args {
    /// Show every field of one node
    #[arg(long, value_name = "N")]
    node: Option<u32>,
    /// Write everything as JSON (with --node: of one node)
    #[arg(long)]
    json: bool,
    /// Show how the nodes are linked
    #[arg(long, conflicts_with_all = ["json", "node"])]
    tree: bool,
    /// Emulate a machine: a built-in name or the path of a machine file
    #[arg(long, value_name = "MACHINE", conflicts_with = "root")]
    emulate: Option<String>,
    /// Show the machine whose files are in DIR: a copy of its root, or of its KFD topology folder
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Fail with the reason when this machine has no GPU device, instead of emulating one
    #[arg(long, conflicts_with_all = ["emulate", "root"])]
    no_emulate: bool,
}

/// Exit status when the output cannot be written.
const CANNOT_WRITE: u8 = 1;
/// Exit status of a wrong call, as clap's.
const USAGE: u8 = 2;
/// Exit status when there is nothing to show.
const NO_PLATFORM: u8 = 3;

fn main() -> ExitCode {
    let args = Args::parse();
    if std::env::var_os("HSAKMT_DEBUG_LEVEL").is_none() {
        // The reason of a failure is shown by this tool; the library need not log it too.
        capi::set_variable("HSAKMT_DEBUG_LEVEL", "-1");
    }
    let found = match (&args.emulate, &args.root) {
        (Some(machine), _) => find::emulated(machine),
        (None, Some(root)) => find::captured(root),
        (None, None) => find::running(!args.no_emulate),
    };
    let machine = match found {
        Ok(machine) => machine,
        Err(reason) => return fail(NO_PLATFORM, reason),
    };
    let nodes = machine.nodes.len();
    if let Some(id) = args.node.filter(|&id| id as usize >= nodes) {
        let last = nodes.checked_sub(1).map_or(String::new(), |last| format!(", the last of which is {last}"));
        return fail(USAGE, format_args!("there is no node {id}: the topology has {nodes} nodes{last}"));
    }
    let style = Style::of_stdout();
    write(&match (args.json, args.tree, args.node) {
        (true, _, node) => render::json::document(&machine, node),
        (_, true, _) => render::tree::page(&machine, style),
        (_, _, Some(node)) => render::node::page(&machine, node, style),
        _ => render::screen::page(&machine, style),
    })
}

/// One line on standard error.
fn fail(status: u8, line: impl Display) -> ExitCode {
    // Nobody is left to tell when this fails.
    let _ = writeln!(std::io::stderr(), "rocdxg-info: {line}");
    ExitCode::from(status)
}

fn write(page: &str) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(page.as_bytes()).and_then(|()| stdout.flush()) {
        // Whoever closed the pipe has read enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            fail(CANNOT_WRITE, format_args!("standard output: {error}"))
        }
        _ => ExitCode::SUCCESS,
    }
}
