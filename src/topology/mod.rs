//! The snapshot: nodes, banks, caches and links, as the getters of the C API hand them out.
//!
//! A snapshot is complete before anybody sees it and never changes afterwards. This room turns what a platform
//! discovered into nodes; it reads CPU facts from `/proc` and `/sys` and nothing else.
//! May call: `platform`, `abi`, `asic`.

pub mod cpu;
mod gpu;
mod links;
mod tree;

use std::collections::BTreeMap;

use self::cpu::Cpus;
use crate::abi::HsaSystemProperties;
use crate::platform::{self, Devices, Host, Node, Options, Platform, Skipped};

pub use tree::read_tree;

/// The topology of the machine at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Machine-wide numbers; `NumNodes` equals the length of `nodes`.
    pub system: HsaSystemProperties,
    /// Every node; the index is the node id of the C API.
    pub nodes: Vec<Node>,
    /// NUMA node behind each CPU node, where the machine tells it, by node id.
    pub numa_nodes: BTreeMap<u32, u32>,
    /// Version of the driver behind each GPU, where the platform tells it apart from the kernel interface, by node id.
    pub drivers: BTreeMap<u32, String>,
    /// What was found and is not a node, and why.
    pub skipped: Vec<Skipped>,
    /// Assumptions made and values replaced.
    pub remarks: Vec<String>,
}

impl Snapshot {
    /// The node with number `id`.
    pub fn node(&self, id: u32) -> Result<&Node, NoNode> {
        self.nodes.get(id as usize).ok_or(NoNode { node: id, count: self.nodes.len() })
    }

    /// Number of nodes that are GPUs.
    pub fn gpu_count(&self) -> u32 {
        self.nodes.iter().filter(|node| node.properties.NumFComputeCores != 0).count() as u32
    }
}

/// The snapshot has no such node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no node {node}: the snapshot has {count}")]
pub struct NoNode {
    /// The number asked for.
    pub node: u32,
    /// Nodes that there are.
    pub count: usize,
}

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The platform could not list its devices.
    #[error(transparent)]
    Platform(#[from] platform::Error),
}

/// A new snapshot, and the open devices behind its GPU nodes, by node id.
pub struct Built {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// One device per GPU node.
    pub devices: Devices,
    /// The CPUs, for the next snapshot.
    pub cpus: Cpus,
}

/// Builds a snapshot of what `platform` finds now. On an error nothing stays open. `earlier` is what the snapshot before
/// this one found of the CPUs of the same `host`.
pub fn build(platform: &dyn Platform, host: &Host, options: &Options, earlier: Option<Cpus>) -> Result<Built, Error> {
    let mut found = platform.discover(host, options)?;
    let (gpus, opened) = (std::mem::take(&mut found.gpus), std::mem::take(&mut found.devices));
    let (cpus, remarks) = Cpus::read(host, earlier);
    found.remarks.extend(remarks);
    if found.nodes.is_empty() {
        // The driver describes GPUs only: one node stands for every CPU (dxg.md 2.3).
        found.nodes.push(cpus.node(cpu::system_memory_bytes()));
    }
    let mut snapshot = tree::from_kernel(found, Some(&cpus));
    let mut opened = opened.into_iter();
    let kernel_gpus = snapshot.nodes.iter().zip(0..).filter(|(node, _)| node.properties.KFDGpuID != 0);
    let mut devices: BTreeMap<u32, _> = kernel_gpus.map(|(_, id)| id).zip(&mut opened).collect();
    for (info, device) in gpus.iter().zip(opened) {
        let id = snapshot.nodes.len() as u32;
        match gpu::node(info, id, cpus.max_mhz(), options.gfx_override) {
            Ok(node) => {
                snapshot.nodes.push(node);
                if info.wddm_version != 0 {
                    let (major, minor) = (info.wddm_version / 1000, info.wddm_version % 1000 / 100);
                    snapshot.drivers.insert(id, format!("WDDM {major}.{minor}"));
                }
                devices.insert(id, device);
            }
            Err(unusable) => snapshot.skipped.push(Skipped {
                what: format!("{} [1002:{:04x}]", info.product_name, info.device_id),
                reason: unusable.to_string(),
                expected: true,
            }),
        }
    }
    snapshot.system.NumNodes = snapshot.nodes.len() as u32;
    Ok(Built { snapshot, devices, cpus })
}
