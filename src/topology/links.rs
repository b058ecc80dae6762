//! Links that the kernel does not list because they lead through CPUs (kfd.md 2.7).

use std::collections::HashMap;

use crate::abi::{
    HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, HSA_IOLINK_TYPE_QPI_1_1, HSA_IOLINK_TYPE_XGMI, HSA_IOLINKTYPE,
    HSA_IOLINKTYPE_PCIEXPRESS, HsaIoLinkProperties,
};
use crate::platform::Node;

/// Heaviest link that still counts as being on one CPU: a PCIe hop.
const NEAR: u32 = 20;

/// A direct link: weight and type.
type Hop = (u32, HSA_IOLINKTYPE);

/// Adds to each node the links that lead through CPUs, with type, ends and weight only.
///
/// A pair that is linked directly gets no second link; upstream bounds the list by the number of nodes instead.
pub(crate) fn add_indirect(nodes: &mut [Node]) {
    let map = Map::of(nodes);
    for i in 0..nodes.len() {
        for j in i + 1..nodes.len() {
            for (from, to) in [(i, j), (j, i)] {
                let Some((weight, kind)) = map.path(nodes, from, to) else { continue };
                nodes[from].links.push(HsaIoLinkProperties {
                    IoLinkType: kind,
                    NodeFrom: from as u32,
                    NodeTo: to as u32,
                    Weight: weight,
                    ..HsaIoLinkProperties::ZERO
                });
            }
        }
    }
    for node in nodes {
        node.properties.NumIOLinks = node.links.len() as u32;
    }
}

/// The direct links of a machine.
struct Map {
    hops: HashMap<(usize, usize), Hop>,
    /// For each GPU, the CPU that it hangs on.
    near_cpu: Vec<Option<usize>>,
}

impl Map {
    fn of(nodes: &[Node]) -> Self {
        let mut hops = HashMap::new();
        for (from, node) in nodes.iter().enumerate() {
            for link in &node.links {
                hops.entry((from, link.NodeTo as usize)).or_insert((link.Weight, link.IoLinkType));
            }
        }
        let is_cpu = |node: usize| nodes.get(node).is_some_and(|n| !is_gpu(n));
        let near_cpu = nodes.iter().map(|node| {
            let near = |link: &&HsaIoLinkProperties| {
                let kind = link.IoLinkType;
                (kind == HSA_IOLINKTYPE_PCIEXPRESS || kind == HSA_IOLINK_TYPE_XGMI) && link.Weight <= NEAR
            };
            let cpu = || node.links.iter().filter(near).map(|link| link.NodeTo as usize).find(|to| is_cpu(*to));
            is_gpu(node).then(cpu).flatten()
        });
        Self { near_cpu: near_cpu.collect(), hops }
    }

    fn hop(&self, from: usize, to: usize) -> Option<Hop> {
        self.hops.get(&(from, to)).copied()
    }

    /// Weight and type of the way through one or two CPUs.
    fn path(&self, nodes: &[Node], from: usize, to: usize) -> Option<Hop> {
        let (a, b) = (&nodes[from], &nodes[to]);
        let same_hive = a.properties.HiveID != 0 && a.properties.HiveID == b.properties.HiveID;
        let unreachable = is_gpu(b) && !b.banks.iter().any(|bank| bank.HeapType == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC);
        if !(is_gpu(a) || is_gpu(b)) || same_hive || unreachable || self.hop(from, to).is_some() {
            return None;
        }
        let (weights, kind) = match (self.near_cpu[from], self.near_cpu[to]) {
            (Some(cpu), Some(same)) if cpu == same => {
                let (last, kind) = self.hop(cpu, to)?;
                ([self.hop(from, cpu)?.0, last, 0], kind)
            }
            (Some(near), Some(far)) => {
                let (middle, kind) = self.hop(near, far)?;
                if kind == HSA_IOLINK_TYPE_QPI_1_1 && middle > NEAR {
                    return None;
                }
                ([self.hop(from, near)?.0, middle, self.hop(far, to)?.0], kind)
            }
            (Some(near), None) => {
                let (last, kind) = self.hop(near, to)?;
                ([self.hop(from, near)?.0, last, 0], kind)
            }
            (None, Some(far)) => {
                let (first, kind) = self.hop(from, far)?;
                ([first, self.hop(far, to)?.0, 0], kind)
            }
            (None, None) => return None,
        };
        let weight = weights.into_iter().fold(0u32, u32::saturating_add);
        (weight != 0).then_some((weight, kind))
    }
}

fn is_gpu(node: &Node) -> bool {
    node.properties.KFDGpuID != 0 || node.properties.NumFComputeCores != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE, HSA_HEAPTYPE_SYSTEM, HsaMemoryProperties};

    const PCIE: HSA_IOLINKTYPE = HSA_IOLINKTYPE_PCIEXPRESS;
    const QPI: HSA_IOLINKTYPE = HSA_IOLINK_TYPE_QPI_1_1;

    /// Nodes by kind ('c' CPU, 'g' GPU with a large BAR, 's' GPU with a small one) and direct links.
    fn machine(kinds: &str, links: &[(usize, usize, HSA_IOLINKTYPE, u32)]) -> Vec<Node> {
        let node = |(index, kind)| {
            let mut node = Node::default();
            let heap = match kind {
                'c' => HSA_HEAPTYPE_SYSTEM,
                'g' => HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC,
                _ => HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
            };
            node.properties.KFDGpuID = if kind == 'c' { 0 } else { 100 + index as u32 };
            node.banks = vec![HsaMemoryProperties { HeapType: heap, ..HsaMemoryProperties::ZERO }];
            node
        };
        let mut nodes: Vec<Node> = kinds.chars().enumerate().map(node).collect();
        for (from, to, kind, weight) in links {
            nodes[*from].links.push(HsaIoLinkProperties {
                IoLinkType: *kind,
                NodeFrom: *from as u32,
                NodeTo: *to as u32,
                Weight: *weight,
                ..HsaIoLinkProperties::ZERO
            });
        }
        nodes
    }

    /// What is added: (from, to, type, weight).
    fn added(mut nodes: Vec<Node>) -> Vec<(u32, u32, HSA_IOLINKTYPE, u32)> {
        let before: Vec<usize> = nodes.iter().map(|node| node.links.len()).collect();
        add_indirect(&mut nodes);
        let mut all = Vec::new();
        for (node, before) in nodes.iter().zip(before) {
            assert_eq!({ node.properties.NumIOLinks }, node.links.len() as u32);
            all.extend(node.links[before..].iter().map(|l| (l.NodeFrom, l.NodeTo, l.IoLinkType, l.Weight)));
        }
        all
    }

    fn both(a: usize, b: usize, kind: HSA_IOLINKTYPE, weight: u32) -> [(usize, usize, HSA_IOLINKTYPE, u32); 2] {
        [(a, b, kind, weight), (b, a, kind, weight)]
    }

    #[test]
    fn two_gpus_on_one_cpu() {
        let links = [both(0, 1, PCIE, 20), both(0, 2, PCIE, 20)].concat();
        assert_eq!(added(machine("cgg", &links)), [(1, 2, PCIE, 40), (2, 1, PCIE, 40)]);
    }

    #[test]
    fn a_small_bar_cannot_be_a_destination() {
        let links = [both(0, 1, PCIE, 20), both(0, 2, PCIE, 20)].concat();
        assert_eq!(added(machine("cgs", &links)), [(2, 1, PCIE, 40)]);
    }

    #[test]
    fn two_sockets() {
        let links = [both(0, 1, QPI, 20), both(0, 2, PCIE, 20), both(1, 3, PCIE, 20)].concat();
        let far = [
            (0, 3, QPI, 40), // CPU, CPU, GPU
            (1, 2, QPI, 40),
            (2, 1, QPI, 40), // GPU, CPU, CPU
            (2, 3, QPI, 60), // GPU, CPU, CPU, GPU
            (3, 0, QPI, 40),
            (3, 2, QPI, 60),
        ];
        assert_eq!(added(machine("ccgg", &links)), far);
    }

    #[test]
    fn a_heavy_qpi_hop_is_no_way_between_gpus() {
        let links = [both(0, 1, QPI, 21), both(0, 2, PCIE, 20), both(1, 3, PCIE, 20)].concat();
        let found = added(machine("ccgg", &links));
        assert_eq!(found, [(0, 3, QPI, 41), (1, 2, QPI, 41), (2, 1, QPI, 41), (3, 0, QPI, 41)]);
        let links = [both(0, 1, HSA_IOLINK_TYPE_XGMI, 32), both(0, 2, PCIE, 20), both(1, 3, PCIE, 20)].concat();
        assert!(added(machine("ccgg", &links)).contains(&(2, 3, HSA_IOLINK_TYPE_XGMI, 72)));
    }

    #[test]
    fn a_hop_that_is_missing_is_no_way() {
        // No CPU-to-GPU links, as without a large BAR.
        assert_eq!(added(machine("cgg", &[(1, 0, PCIE, 20), (2, 0, PCIE, 20)])), []);
        // The CPU is too far to be the one that the GPU hangs on.
        let links = [both(0, 1, PCIE, 21), both(0, 2, PCIE, 21)].concat();
        assert_eq!(added(machine("cgg", &links)), []);
    }

    #[test]
    fn one_hive_and_direct_links_need_no_detour() {
        let links = [both(0, 1, PCIE, 20), both(0, 2, PCIE, 20)].concat();
        let mut hive = machine("cgg", &links);
        hive[1].properties.HiveID = 7;
        hive[2].properties.HiveID = 7;
        assert_eq!(added(hive), []);
        let direct = [links, both(1, 2, HSA_IOLINK_TYPE_XGMI, 15).to_vec()].concat();
        assert_eq!(added(machine("cgg", &direct)), []);
    }

    #[test]
    fn weights_do_not_overflow_and_nothing_has_none() {
        let heavy = [(1, 0, PCIE, 20), (2, 0, PCIE, 20), (0, 1, PCIE, u32::MAX), (0, 2, PCIE, u32::MAX)];
        assert_eq!(added(machine("cgg", &heavy)), [(1, 2, PCIE, u32::MAX), (2, 1, PCIE, u32::MAX)]);
        let weightless = [both(0, 1, PCIE, 0), both(0, 2, PCIE, 0)].concat();
        assert_eq!(added(machine("cgg", &weightless)), []);
        add_indirect(&mut []);
    }
}
