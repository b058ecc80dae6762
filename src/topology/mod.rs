//! The snapshot: nodes, banks, caches and links, as the getters of the C API hand them out.
//!
//! A snapshot is complete before anybody sees it and never changes afterwards. This room turns what a platform
//! discovered into nodes; it reads CPU facts from `/proc` and `/sys` and nothing else.
//! May call: `platform`, `abi`, `asic`.

pub mod cpu;
mod links;
mod tree;

use crate::abi::HsaSystemProperties;
use crate::platform::{Node, Skipped};

pub use tree::read_tree;

/// The topology of the machine at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Machine-wide numbers; `NumNodes` equals the length of `nodes`.
    pub system: HsaSystemProperties,
    /// Every node; the index is the node id of the C API.
    pub nodes: Vec<Node>,
    /// What was found and is not a node, and why.
    pub skipped: Vec<Skipped>,
    /// Assumptions made and values replaced.
    pub remarks: Vec<String>,
}
