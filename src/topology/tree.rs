//! Nodes that the kernel describes itself (KFD), of the running machine or of a captured tree.

use std::collections::BTreeMap;
use std::path::Path;

use super::Snapshot;
use super::cpu::Cpus;
use super::links;
use crate::platform::host::Host;
use crate::platform::kfd::{self, sysfs};
use crate::platform::{self, Discovery, Options};

/// Where a machine root has its topology folder.
const TREES: [&str; 2] = ["sys/devices/virtual/kfd/kfd/topology", "sys/class/kfd/kfd/topology"];

/// Reads a captured topology without any device.
///
/// `root` is a copy of a machine's files (with a KFD topology folder below `sys`), or a bare topology folder (with
/// a folder `nodes`). CPU names and caches come from a machine root that has `proc/cpuinfo`, never from the running
/// machine. What a complete tree would have and this one has not is named in [`Snapshot::remarks`]. The environment
/// has no say.
///
/// ```
/// # fn main() -> Result<(), rocdxg::platform::Error> {
/// let snapshot = rocdxg::topology::read_tree("tests/data/kfd/rx7900xtx-partial".as_ref())?;
/// let gpu = snapshot.node(1).expect("its second node");
/// assert_eq!((snapshot.gpu_count(), gpu.properties.EngineId.get(rocdxg::abi::HSA_ENGINE_ID::Major)), (1, 11));
/// for remark in &snapshot.remarks {
///     println!("{remark}");
/// }
/// # Ok(())
/// # }
/// ```
///
/// Errors: [`kfd::Error::NoTree`] when there is no topology, [`kfd::Error::File`] when it cannot be read.
pub fn read_tree(root: &Path) -> Result<Snapshot, platform::Error> {
    let candidates = TREES.iter().map(|tree| root.join(tree)).chain([root.to_owned()]);
    let candidates: Vec<_> = candidates.map(|tree| tree.join("nodes")).collect();
    let Some(found) = candidates.iter().position(|nodes| nodes.is_dir()) else {
        return Err(kfd::Error::NoTree { tried: candidates }.into());
    };
    let tree = candidates[found].parent().unwrap_or(root);
    let options = Options { use_svm: true, ..Options::default() };
    let mut discovery = sysfs::read(tree, &options, &sysfs::Everything, sysfs::Tolerance::Capture)?;
    let mut cpus = None;
    if found < TREES.len() {
        if root.join("proc/cpuinfo").is_file() {
            let (known, remarks) = Cpus::read(&Host::rooted(root), None);
            discovery.remarks.extend(remarks);
            cpus = Some(known);
        } else {
            discovery.remarks.push("proc/cpuinfo is absent in this capture: CPUs have no names".to_owned());
        }
    }
    Ok(from_kernel(discovery, cpus.as_ref()))
}

/// Completes nodes that the kernel describes: names and caches of CPUs, and indirect links (kfd.md 2.3, steps 4, 5).
pub(crate) fn from_kernel(discovery: Discovery, cpus: Option<&Cpus>) -> Snapshot {
    let Discovery { mut system, mut nodes, lacks_indirect_links, skipped, remarks, .. } = discovery;
    let mut numa_nodes = BTreeMap::new();
    if let Some(cpus) = cpus {
        // The kernel makes one node of each NUMA node that has CPUs, in their order.
        let with_cores = nodes.iter_mut().zip(0..).filter(|(node, _)| node.properties.NumCPUCores != 0);
        for (position, (node, id)) in with_cores.enumerate() {
            if let Some(numa_node) = cpus.numa_node(node.properties.CComputeIdLo, position) {
                cpus.describe(node, numa_node);
                numa_nodes.insert(id, numa_node);
            }
        }
    }
    if lacks_indirect_links {
        links::add_indirect(&mut nodes);
    }
    system.NumNodes = nodes.len() as u32;
    Snapshot { system, nodes, numa_nodes, drivers: BTreeMap::new(), skipped, remarks }
}
