//! How the nodes are linked: each GPU below the CPU that is nearest to it, and every link once.

use std::fmt::Write as _;

use rocdxg::abi::HsaIoLinkProperties;
use rocdxg::platform::Node;

use super::{Style, origin, title};
use crate::fields::{self, Value};
use crate::model::Machine;
use crate::{facts, names};

/// The page.
pub fn page(machine: &Machine, style: Style) -> String {
    let mut page = origin(machine, style);
    page.push('\n');
    let forest = Forest { nodes: &machine.nodes, parents: machine.nodes.iter().map(parent(&machine.nodes)).collect() };
    for id in (0..machine.nodes.len()).filter(|&id| forest.parents[id].is_none()) {
        forest.draw(&mut page, id, "", "", style);
    }
    page
}

/// Where a node hangs: the CPU node, and the link that leads there by its index.
type Parent = Option<(usize, usize)>;

/// The link of the least weight from a node without cores to one with cores.
fn parent(nodes: &[Node]) -> impl Fn(&Node) -> Parent + '_ {
    |node| {
        if facts::kind(node).has_cpu() {
            return None;
        }
        let to_cpu = node.links.iter().enumerate().filter_map(|(index, link)| {
            let cpu = link.NodeTo as usize;
            nodes.get(cpu).filter(|node| facts::kind(node).has_cpu()).map(|_| (cpu, index, link.Weight))
        });
        to_cpu.min_by_key(|(_, _, weight)| *weight).map(|(cpu, index, _)| (cpu, index))
    }
}

struct Forest<'a> {
    nodes: &'a [Node],
    parents: Vec<Parent>,
}

impl Forest<'_> {
    /// Draws node `id` and what hangs below it. `first` stands before its own line, `rest` before the others.
    fn draw(&self, page: &mut String, id: usize, first: &str, rest: &str, style: Style) {
        let node = &self.nodes[id];
        let kind = facts::kind(node);
        let gfx = facts::gfx(node.properties.EngineId).map(|gfx| format!(" {gfx}")).unwrap_or_default();
        let name = style.name(&title(node), kind);
        let up = self.parents[id].map(|(_, link)| format!("  [{}]", words(&node.links[link]))).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(page, "{first}{id} {}{gfx} {name}{up}", kind.word());
        let leaves = self.leaves(id);
        let below: Vec<_> = (0..self.nodes.len()).filter(|&child| self.is_below(child, id)).collect();
        let count = leaves.len() + below.len();
        for (index, (link, targets)) in leaves.iter().enumerate() {
            let branch = if index + 1 == count { "`--" } else { "|--" };
            let _ = writeln!(page, "{rest}{branch} -> {}  [{link}]", ranges(targets));
        }
        for (index, child) in below.into_iter().enumerate() {
            let (branch, space) = if leaves.len() + index + 1 == count { ("`--", "   ") } else { ("|--", "|  ") };
            self.draw(page, child, &format!("{rest}{branch} "), &format!("{rest}{space} "), style);
        }
    }

    fn is_below(&self, child: usize, id: usize) -> bool {
        self.parents[child].is_some_and(|(cpu, _)| cpu == id)
    }

    /// Links of a node that its place in the tree does not show, those that differ in their target only together.
    fn leaves(&self, id: usize) -> Vec<(String, Vec<u32>)> {
        let mut leaves: Vec<(String, Vec<u32>)> = Vec::new();
        for (index, link) in self.nodes[id].links.iter().enumerate() {
            let target = link.NodeTo;
            let words = words(link);
            // The way up, or its counterpart on the CPU.
            let up = self.parents[id].is_some_and(|(_, up)| up == index);
            let down = match self.parents.get(target as usize) {
                Some(Some((cpu, up))) => *cpu == id && self::words(&self.nodes[target as usize].links[*up]) == words,
                _ => false,
            };
            if up || down {
                continue;
            }
            match leaves.iter_mut().find(|(known, _)| *known == words) {
                Some((_, targets)) => targets.push(target),
                None => leaves.push((words, vec![target])),
            }
        }
        leaves
    }
}

/// Type, weight and flags of a link.
fn words(link: &HsaIoLinkProperties) -> String {
    let kind =
        names::link(link.IoLinkType).map_or_else(|| format!("type {}", link.IoLinkType.0), |n| names::short(n).into());
    let flags = fields::set_bits(&Value::from(link.Flags));
    let separator = if flags.is_empty() { "" } else { " " };
    format!("{kind} weight {}{separator}{flags}", { link.Weight })
}

/// "0,2-4" for 0, 2, 3, 4.
fn ranges(numbers: &[u32]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| b.checked_sub(*a) == Some(1));
    let words = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run.iter().map(u32::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use rocdxg::abi::*;

    use super::*;
    use crate::render::WIDEST;
    use crate::render::tests::{machine, node};

    fn link(to: u32, kind: HSA_IOLINKTYPE, weight: u32) -> HsaIoLinkProperties {
        HsaIoLinkProperties { NodeTo: to, IoLinkType: kind, Weight: weight, ..HsaIoLinkProperties::ZERO }
    }

    fn drawn(nodes: Vec<Node>) -> String {
        page(&machine(nodes), Style { colour: false, width: WIDEST }).split_once("\n\n").unwrap().1.to_owned()
    }

    #[test]
    fn gpus_hang_below_the_nearest_cpu_and_each_link_is_drawn_once() {
        let pcie = HSA_IOLINKTYPE_PCIEXPRESS;
        let page = drawn(vec![
            node(8, 0, vec![link(1, HSA_IOLINKTYPE_HYPERTRANSPORT, 12), link(2, pcie, 20), link(3, pcie, 21)]),
            node(8, 0, vec![link(0, HSA_IOLINKTYPE_HYPERTRANSPORT, 12), link(3, pcie, 20)]),
            node(0, 4, vec![link(0, pcie, 20), link(1, pcie, 32), link(3, HSA_IOLINK_TYPE_XGMI, 15)]),
            node(0, 4, vec![link(0, pcie, 32), link(1, pcie, 20), link(2, HSA_IOLINK_TYPE_XGMI, 15)]),
        ]);
        let expected = "\
0 CPU 8 cores
|-- -> 1  [HYPERTRANSPORT weight 12]
|-- -> 3  [PCIEXPRESS weight 21]
`-- 2 GPU 1 CU  [PCIEXPRESS weight 20]
    |-- -> 1  [PCIEXPRESS weight 32]
    `-- -> 3  [XGMI weight 15]
1 CPU 8 cores
|-- -> 0  [HYPERTRANSPORT weight 12]
`-- 3 GPU 1 CU  [PCIEXPRESS weight 20]
    |-- -> 0  [PCIEXPRESS weight 32]
    `-- -> 2  [XGMI weight 15]
";
        assert_eq!(page, expected);
    }

    #[test]
    fn links_into_nowhere_and_nodes_without_links_are_drawn() {
        let page = drawn(vec![node(0, 4, vec![link(u32::MAX, HSA_IOLINKTYPE(77), 1)]), node(0, 4, vec![])]);
        assert_eq!(page, "0 GPU 1 CU\n`-- -> 4294967295  [type 77 weight 1]\n1 GPU 1 CU\n");
    }

    #[test]
    fn runs_of_numbers_are_joined() {
        assert_eq!(ranges(&[4, 0, 2, 3, 9]), "0,2-4,9");
        assert_eq!(ranges(&[0, u32::MAX, 5, 5]), "0,5,5,4294967295");
    }
}
