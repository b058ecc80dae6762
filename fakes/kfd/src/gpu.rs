//! The GPUs as the driver knows them: from a machine, or from a captured topology tree.

use std::collections::BTreeMap;
use std::path::Path;

use rocdxg_fake_gpu::machine::{Adapter, Kfd, SegmentKind};
use rocdxg_fake_gpu::{Machine, Private, private};

/// PCI vendor id of AMD.
pub const VENDOR: u32 = 0x1002;
/// Minor number of the first render node (kfd-kernel.md 8).
pub const FIRST_RENDER_MINOR: u32 = 128;

/// One GPU node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gpu {
    /// 16-bit hash, not 0, unique in the machine (kfd-kernel.md 7).
    pub gpu_id: u32,
    /// Minor number of its render node.
    pub render_minor: u32,
    /// The device cgroup of the processes denies it.
    pub hidden: bool,
    /// PCI device id.
    pub device_id: u32,
    /// PCI revision.
    pub revision: u32,
    /// `bus << 8 | device << 3 | function`.
    pub location_id: u32,
    /// PCI domain.
    pub domain: u32,
    /// Local memory, in bytes.
    pub vram_bytes: u64,
    /// The CPU reaches all of the local memory.
    pub large_bar: bool,
    /// Part of a CPU.
    pub apu: bool,
    /// GPU counter, in Hz.
    pub counter_hz: u64,
    /// PCIe bandwidth at most, in MB/s; 0 is unknown.
    pub pcie_megabytes: u64,
    /// What else the chip is.
    pub chip: Private,
}

impl Gpu {
    /// Graphics version as one number: `major * 10000 + minor * 100 + stepping` (kfd-kernel.md 1).
    pub const fn gfx_target_version(&self) -> u32 {
        self.chip.gfx_major * 10_000 + self.chip.gfx_minor * 100 + self.chip.gfx_stepping
    }

    /// `(major, minor)` of the graphics version.
    pub const fn gfx(&self) -> (u32, u32) {
        (self.chip.gfx_major, self.chip.gfx_minor)
    }

    /// The GPUs that the driver takes: AMD's, of a chip that it knows. An adapter without a private table is one of
    /// a chip that it does not know.
    pub fn of_machine(machine: &Machine) -> Vec<Self> {
        let mut gpus: Vec<Self> = Vec::new();
        let named =
            |of: fn(&Kfd) -> Option<u32>| machine.adapters.iter().filter_map(|a| of(&a.kfd)).collect::<Vec<_>>();
        let (ids, minors) = (named(|k| k.gpu_id), named(|k| k.render_minor));
        for adapter in machine.adapters.iter().filter(|a| a.vendor == VENDOR) {
            let Some(chip) = &adapter.private else { continue };
            let mut gpu = Self::of_adapter(adapter, chip);
            let free = |number: &u32, taken: &[u32], of: fn(&Self) -> u32| {
                *number != 0 && !taken.contains(number) && !gpus.iter().any(|g| of(g) == *number)
            };
            if adapter.kfd.gpu_id.is_none() {
                let mut candidates = (0..=0xffff).map(|i| (gpu.gpu_id + i) & 0xffff);
                gpu.gpu_id = candidates.find(|id| free(id, &ids, |g| g.gpu_id)).unwrap_or(0);
            }
            let next = || (FIRST_RENDER_MINOR..).find(|minor| free(minor, &minors, |g| g.render_minor));
            gpu.render_minor = adapter.kfd.render_minor.or_else(next).unwrap_or(0);
            gpus.push(gpu);
        }
        gpus
    }

    fn of_adapter(adapter: &Adapter, chip: &Private) -> Self {
        let bytes = |kind| adapter.segments.iter().filter(|s| s.kind == kind).map(|s| s.bytes).sum::<u64>();
        let (visible, invisible) = (bytes(SegmentKind::LocalVisible), bytes(SegmentKind::LocalInvisible));
        let (bus, device, function) = adapter.pci;
        let location_id = bus << 8 | device << 3 | function;
        let mut chip = chip.clone();
        if chip.product_name.is_empty() {
            chip.product_name =
                String::from_utf16_lossy(&adapter.name.units().into_iter().map(|u| u as u16).collect::<Vec<_>>());
        }
        Self {
            gpu_id: adapter.kfd.gpu_id.unwrap_or_else(|| hash(chip.unique_id, location_id, adapter.device)),
            render_minor: 0,
            hidden: adapter.kfd.hidden,
            device_id: adapter.device,
            revision: adapter.revision,
            location_id,
            domain: chip.pci_domain,
            vram_bytes: visible + invisible,
            large_bar: adapter.kfd.large_bar.unwrap_or(invisible == 0),
            apu: chip.flags & private::FLAG_DISCRETE == 0,
            counter_hz: adapter.counter_hz,
            pcie_megabytes: adapter.pcie_bandwidth / 1_000_000,
            chip,
        }
    }

    /// The GPUs of a captured tree (root of the topology), in the order of the nodes; what the tree does not tell of
    /// a chip is 0. Nodes without a readable `gpu_id` are no GPUs.
    pub fn of_tree(topology: &Path) -> std::io::Result<Vec<Self>> {
        let mut numbers = numbered(&topology.join("nodes"))?;
        numbers.sort_unstable();
        let mut gpus = Vec::new();
        for node in numbers.iter().map(|n| topology.join("nodes").join(n.to_string())) {
            let id = std::fs::read_to_string(node.join("gpu_id")).ok();
            let Some(gpu_id) = id.and_then(|text| text.trim().parse().ok()).filter(|id| *id != 0) else { continue };
            gpus.push(Self::of_node(gpu_id, &node));
        }
        Ok(gpus)
    }

    fn of_node(gpu_id: u32, node: &Path) -> Self {
        let keys = properties(&node.join("properties"));
        let wide = |name: &str| keys.get(name).copied().unwrap_or(0);
        let key = |name: &str| wide(name) as u32;
        let banks: Vec<_> = numbered(&node.join("mem_banks"))
            .unwrap_or_default()
            .iter()
            .map(|bank| properties(&node.join("mem_banks").join(bank.to_string()).join("properties")))
            .collect();
        let bank = |name: &str| banks.iter().filter_map(|b| b.get(name)).sum::<u64>();
        let (version, simd_per_cu) = (key("gfx_target_version"), key("simd_per_cu").max(1));
        let arrays_per_engine = key("simd_arrays_per_engine").max(1);
        let xcc = key("num_xcc").max(1);
        Self {
            gpu_id,
            render_minor: key("drm_render_minor"),
            hidden: false,
            device_id: key("device_id"),
            revision: 0,
            location_id: key("location_id"),
            domain: key("domain"),
            vram_bytes: bank("size_in_bytes").max(wide("local_mem_size")),
            large_bar: banks.iter().any(|b| b.get("heap_type") == Some(&1)),
            apu: key("cpu_cores_count") != 0,
            counter_hz: 100_000_000,
            pcie_megabytes: 0,
            chip: Private {
                gfx_major: version / 10_000,
                gfx_minor: version / 100 % 100,
                gfx_stepping: version % 100,
                family: family(version),
                compute_units: key("simd_count") / simd_per_cu,
                simd_per_cu,
                waves_per_cu: key("max_waves_per_simd") * simd_per_cu,
                wavefront_size: key("wave_front_size"),
                shader_engines: key("array_count") / arrays_per_engine / xcc,
                arrays_per_engine,
                lds_bytes: key("lds_size_in_kb") << 10,
                scratch_slots_per_cu: key("max_slots_scratch_cu"),
                num_xcc: xcc,
                sdma_engines: key("num_sdma_engines"),
                cp_queues: key("num_cp_queues"),
                num_gws: key("num_gws"),
                mec_firmware: key("fw_version"),
                sdma_firmware: key("sdma_fw_version"),
                engine_clock_mhz: key("max_engine_clk_fcompute"),
                memory_bus_bits: bank("width") as u32,
                memory_clock_mhz: bank("mem_clk_max") as u32,
                unique_id: wide("unique_id"),
                ..Private::default()
            },
        }
    }
}

/// The driver's number of the family that a graphics version belongs to, as libdrm wants it of every device; a tree
/// does not tell. 0 without a version.
const fn family(version: u32) -> u32 {
    match version {
        90_002 | 90_009 | 90_012 => 142,
        90_000..=90_999 => 141,
        100_303 => 144,
        100_305 => 146,
        100_306 => 149,
        100_307 => 151,
        100_000..=100_999 => 143,
        110_003 => 148,
        110_500..=110_599 => 150,
        110_000..=110_999 => 145,
        120_000..=120_999 => 152,
        _ => 0,
    }
}

/// System memory of a captured tree: the banks of its CPU nodes, in bytes.
pub(crate) fn system_bytes(topology: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for node in numbered(&topology.join("nodes"))?.iter().map(|n| topology.join("nodes").join(n.to_string())) {
        for bank in numbered(&node.join("mem_banks")).unwrap_or_default() {
            let bank = properties(&node.join("mem_banks").join(bank.to_string()).join("properties"));
            if bank.get("heap_type") == Some(&0) {
                bytes += bank.get("size_in_bytes").copied().unwrap_or(0);
            }
        }
    }
    Ok(bytes)
}

/// A 16-bit number from what tells a GPU apart.
fn hash(unique_id: u64, location: u32, device: u32) -> u32 {
    let word = unique_id ^ u64::from(location) << 32 ^ u64::from(device);
    let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 48) as u32
}

/// The numbers among the names of a directory.
pub(crate) fn numbered(directory: &Path) -> std::io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        numbers.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    Ok(numbers)
}

/// The `key number` lines of a file; none when it cannot be read.
pub(crate) fn properties(path: &Path) -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let pair = |line: &str| {
        let (key, number) = line.split_once(' ')?;
        Some((key.to_owned(), number.trim().parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_render_nodes_that_a_machine_leaves_open_avoid_those_that_it_names() {
        let eight = Machine::load("eight-gfx1100").unwrap();
        let mut machine = eight.clone();
        machine.adapters[7].kfd = Kfd { gpu_id: Some(Gpu::of_machine(&eight)[0].gpu_id), ..Kfd::default() };
        machine.adapters[6].kfd.render_minor = Some(129);
        let gpus = Gpu::of_machine(&machine);
        let minors: Vec<_> = gpus.iter().map(|g| g.render_minor).collect();
        assert_eq!(minors, [128, 130, 131, 132, 133, 134, 129, 135]);
        for (i, gpu) in gpus.iter().enumerate() {
            assert!((1..=0xffff).contains(&gpu.gpu_id));
            assert!(gpus[..i].iter().all(|other| other.gpu_id != gpu.gpu_id));
        }
    }
}
