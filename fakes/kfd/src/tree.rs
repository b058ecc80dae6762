//! The topology in sysfs, written as files: keys and their order are the kernel's (kfd-kernel.md 7).

use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_gpu::private::FLAG_PLATFORM_ATOMICS;

use crate::caches;
use crate::gpu::{Gpu, VENDOR, numbered, properties};
use crate::mode::Mode;
use crate::save_area::SaveArea;

/// Where the topology lives below the root of a machine.
pub const TOPOLOGY: &str = "sys/devices/virtual/kfd/kfd/topology";
/// `simd_id_base` of the first GPU, as on every captured machine.
const FIRST_SIMD: u32 = 0x8000_1000;
/// PCIe, as the type of a link.
const PCIE: u32 = 2;
/// Between CPU sockets of one machine.
const QPI: u32 = 5;

/// Capability bits (kfd.md 2.4): address watch.
const WATCH_POINTS: u32 = 1 << 7;
/// Doorbells of 8 bytes.
const DOORBELL_TYPE_2: u32 = 2 << 12;
/// Doorbells of 4 bytes.
const DOORBELL_TYPE_1: u32 = 1 << 12;
/// Debug trap, launch override, launch mode, precise memory operations, and firmware for all of these.
const DEBUGGER: u32 = 0xf << 15 | 1 << 29;
/// SVM API.
const SVM: u32 = 1 << 27;

/// Writer of topology trees.
#[derive(Debug, Clone, Copy)]
pub struct Tree;

impl Tree {
    /// Writes the topology of a machine as the newest kernel shows it; `directory` becomes the one with `nodes`.
    pub fn generate(machine: &Machine, directory: &Path) -> io::Result<()> {
        Self::generate_as(machine, Mode::default(), directory)
    }

    /// Writes the topology of a machine as a kernel shows it; `directory` becomes the one with `nodes`.
    pub fn generate_as(machine: &Machine, mode: Mode, directory: &Path) -> io::Result<()> {
        let gpus = Gpu::of_machine(machine);
        let cpus = machine.host.nodes;
        std::fs::create_dir_all(directory.join("nodes"))?;
        // One for the CPU nodes, one for each GPU, and with 7.2 one more for each (kfd-kernel.md 7).
        let rebuilds = if mode >= Mode::V7_2 { 2 } else { 1 };
        write(&directory.join("generation_id"), &format!("{}\n", 1 + rebuilds * gpus.len()))?;
        let word = |text: &[u8; 8]| u64::from_le_bytes(*text);
        let (oem, id) = (word(b"ROCDXG\0\0"), word(b"SOFTWARE"));
        write(
            &directory.join("system_properties"),
            &format!("platform_oem {oem}\nplatform_id {id}\nplatform_rev 1\n"),
        )?;
        let nodes = Nodes { machine, mode, gpus: &gpus, cpus };
        for number in 0..cpus + gpus.len() as u32 {
            nodes.write(number, &directory.join("nodes").join(number.to_string()))?;
        }
        Ok(())
    }

    /// Writes what clients read of sysfs below `root`: the topology, the device links of the render nodes and the
    /// state of the module. Returns the directory of the topology.
    pub fn generate_root(machine: &Machine, mode: Mode, root: &Path) -> io::Result<PathBuf> {
        let topology = root.join(TOPOLOGY);
        Self::generate_as(machine, mode, &topology)?;
        Self::generate_devices(&Gpu::of_machine(machine), root)?;
        Ok(topology)
    }

    /// The files of a generated topology that open and do not read, EPERM, because the device cgroup denies a GPU
    /// (kfd-kernel.md rule 119). A link belongs to the GPU that it was made for: those of a CPU node to the other end.
    pub fn denied(machine: &Machine, topology: &Path) -> io::Result<Vec<PathBuf>> {
        let cpus = machine.host.nodes;
        let gpus = Gpu::of_machine(machine);
        let hidden: Vec<u32> = (cpus..).zip(&gpus).filter(|(_, gpu)| gpu.hidden).map(|(node, _)| node).collect();
        let node = |number: u32| topology.join("nodes").join(number.to_string());
        let records = |folder: PathBuf| -> io::Result<Vec<PathBuf>> {
            Ok(numbered(&folder)?.iter().map(|n| folder.join(n.to_string()).join("properties")).collect())
        };
        let mut denied = Vec::new();
        for own in hidden.iter().map(|number| node(*number)) {
            denied.extend(["gpu_id", "name", "properties"].map(|name| own.join(name)));
            for part in ["mem_banks", "caches", "io_links", "p2p_links"] {
                denied.extend(records(own.join(part))?);
            }
        }
        for number in 0..cpus {
            for link in records(node(number).join("io_links"))? {
                let target = properties(&link).get("node_to").copied();
                if hidden.iter().any(|number| target == Some(u64::from(*number))) {
                    denied.push(link);
                }
            }
        }
        Ok(denied)
    }

    /// The part of [`Tree::generate_root`] that is not the topology.
    pub fn generate_devices(gpus: &[Gpu], root: &Path) -> io::Result<()> {
        let module = root.join("sys/module/amdgpu");
        std::fs::create_dir_all(&module)?;
        write(&module.join("initstate"), "live\n")?;
        for (i, gpu) in gpus.iter().enumerate() {
            let device = root.join(format!("sys/dev/char/226:{}/device", gpu.render_minor));
            for node in [format!("card{i}"), format!("renderD{}", gpu.render_minor)] {
                std::fs::create_dir_all(device.join("drm").join(node))?;
            }
            write(&device.join("vendor"), &format!("{VENDOR:#06x}\n"))?;
            write(&device.join("device"), &format!("{:#06x}\n", gpu.device_id))?;
            write(&device.join("revision"), &format!("{:#04x}\n", gpu.revision))?;
        }
        Ok(())
    }
}

/// Writes a file that can only be read, as those of sysfs.
fn write(path: &Path, text: &str) -> io::Result<()> {
    use io::Write;
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o444).open(path)?.write_all(text.as_bytes())
}

/// `key number` lines.
fn lines(pairs: &[(&str, u64)]) -> String {
    pairs.iter().map(|(key, number)| format!("{key} {number}\n")).collect()
}

struct Link {
    kind: u32,
    to: u32,
    weight: u32,
    /// In MB/s, least and most.
    bandwidth: (u64, u64),
    flags: u32,
}

struct Nodes<'a> {
    machine: &'a Machine,
    mode: Mode,
    gpus: &'a [Gpu],
    cpus: u32,
}

impl Nodes<'_> {
    fn write(&self, number: u32, directory: &Path) -> io::Result<()> {
        for part in ["mem_banks", "caches", "io_links", "p2p_links", "perf"] {
            std::fs::create_dir_all(directory.join(part))?;
        }
        let gpu = number.checked_sub(self.cpus).and_then(|i| self.gpus.get(i as usize));
        let records = |part: &str, texts: &[String]| -> io::Result<()> {
            for (i, text) in texts.iter().enumerate() {
                let record = directory.join(part).join(i.to_string());
                std::fs::create_dir(&record)?;
                write(&record.join("properties"), text)?;
            }
            Ok(())
        };
        let text = |links: Vec<Link>| links.iter().map(|link| self.link(number, link)).collect::<Vec<_>>();
        let (io_links, p2p_links) = (text(self.io_links(number)), text(self.p2p_links(number)));
        let caches = gpu.map_or_else(Vec::new, |gpu| caches::records(gpu, self.simd_base(number)));
        let counts = [1, caches.len(), io_links.len(), p2p_links.len()].map(|count| count as u64);
        write(&directory.join("gpu_id"), &format!("{}\n", gpu.map_or(0, |g| g.gpu_id)))?;
        write(&directory.join("name"), &format!("{}\n", gpu.map_or("", chip_name)))?;
        write(&directory.join("properties"), &self.properties(number, gpu, counts))?;
        records("mem_banks", &[self.bank(gpu)])?;
        records("caches", &caches)?;
        records("io_links", &io_links)?;
        records("p2p_links", &p2p_links)
    }

    /// The CPU node that a GPU hangs on.
    fn cpu_of(&self, gpu: usize) -> u32 {
        (gpu as u64 * u64::from(self.cpus) / self.gpus.len().max(1) as u64) as u32
    }

    fn simd_base(&self, number: u32) -> u32 {
        let before = number.saturating_sub(self.cpus) as usize;
        let slots = self.gpus[..before].iter().map(|gpu| {
            let (arrays, width) = caches::shape(gpu);
            arrays * width
        });
        FIRST_SIMD + slots.sum::<u32>()
    }

    fn properties(&self, number: u32, gpu: Option<&Gpu>, [banks, caches, io_links, p2p_links]: [u64; 4]) -> String {
        let host = &self.machine.host;
        let cores = if gpu.is_none() { host.cores } else { 0 };
        let core_base = if gpu.is_none() { number * host.cores } else { 0 };
        let absent = Gpu::default();
        let node = gpu.unwrap_or(&absent);
        let chip = &node.chip;
        let (arrays, width) = gpu.map_or((0, 0), caches::shape);
        let wide = u64::from;
        let mut text = lines(&[
            ("cpu_cores_count", wide(cores)),
            ("simd_count", wide(chip.compute_units * chip.simd_per_cu)),
            ("mem_banks_count", banks),
            ("caches_count", caches),
            ("io_links_count", io_links),
            ("p2p_links_count", p2p_links),
            ("cpu_core_id_base", wide(core_base)),
            ("simd_id_base", gpu.map_or(0, |_| wide(self.simd_base(number)))),
            ("max_waves_per_simd", wide(chip.waves_per_cu.checked_div(chip.simd_per_cu).unwrap_or(0))),
            ("lds_size_in_kb", wide(chip.lds_bytes >> 10)),
            ("gds_size_in_kb", 0),
            ("num_gws", wide(chip.num_gws)),
            ("wave_front_size", wide(chip.wavefront_size)),
            ("array_count", wide(arrays * chip.num_xcc.max(1))),
            ("simd_arrays_per_engine", wide(chip.arrays_per_engine)),
            ("cu_per_simd_array", wide(width)),
            ("simd_per_cu", wide(chip.simd_per_cu)),
            ("max_slots_scratch_cu", wide(chip.scratch_slots_per_cu)),
            ("gfx_target_version", wide(node.gfx_target_version())),
            ("vendor_id", gpu.map_or(0, |_| wide(VENDOR))),
            ("device_id", wide(node.device_id)),
            ("location_id", wide(node.location_id)),
            ("domain", wide(node.domain)),
            ("drm_render_minor", wide(node.render_minor)),
            ("hive_id", 0),
            ("num_sdma_engines", wide(chip.sdma_engines)),
            ("num_sdma_xgmi_engines", 0),
            ("num_sdma_queues_per_engine", gpu.map_or(0, sdma_queues)),
            ("num_cp_queues", wide(chip.cp_queues)),
        ]);
        // 6.12 has them since a stable release, 6.1 never.
        if self.mode >= Mode::V6_12 {
            let area = SaveArea::of(node);
            text += &lines(&[("cwsr_size", wide(area.save)), ("ctl_stack_size", wide(area.control_stack))]);
        }
        if let Some(gpu) = gpu {
            text += &self.gpu_properties(gpu);
        }
        text + &lines(&[("max_engine_clk_ccompute", wide(host.clock_mhz))])
    }

    /// `debug_prop` and `num_xcc` are younger than 6.1: assumed to have come with the debugger interface.
    fn gpu_properties(&self, gpu: &Gpu) -> String {
        let chip = &gpu.chip;
        let wide = u64::from;
        let mut pairs = vec![
            ("max_engine_clk_fcompute", wide(chip.engine_clock_mhz)),
            ("local_mem_size", 0),
            ("fw_version", wide(chip.mec_firmware)),
            ("capability", wide(self.capability(gpu))),
        ];
        if self.mode >= Mode::V7_2 {
            pairs.push(("capability2", 0));
        }
        if self.mode.has_debugger() {
            // As captured: gfx11, gfx94x, gfx90a, gfx908.
            let debug = match gpu.gfx() {
                (10.., _) => 1495,
                (9, 4..) => 1511,
                _ if chip.gfx_stepping == 10 => 470,
                _ => 1494,
            };
            pairs.push(("debug_prop", debug));
        }
        pairs.push(("sdma_fw_version", wide(chip.sdma_firmware)));
        pairs.push(("unique_id", chip.unique_id));
        if self.mode.has_debugger() {
            pairs.push(("num_xcc", wide(chip.num_xcc.max(1))));
        }
        lines(&pairs)
    }

    fn capability(&self, gpu: &Gpu) -> u32 {
        let chip = &gpu.chip;
        let watch = chip.watch_points.checked_ilog2().map_or(0, |log| WATCH_POINTS | log << 8);
        let modern = if chip.gfx_major >= 9 { DOORBELL_TYPE_2 | SVM } else { DOORBELL_TYPE_1 };
        let debugger = if self.mode.has_debugger() && chip.gfx_major >= 9 { DEBUGGER } else { 0 };
        watch | modern | debugger | (chip.asic_revision & 0xf) << 22
    }

    /// A node has one bank: all of the local memory of a GPU, public if the CPU reaches all of it.
    fn bank(&self, gpu: Option<&Gpu>) -> String {
        let host = &self.machine.host;
        let (heap, bytes, width, clock) = match gpu {
            None => (0, host.bytes, 64, host.memory_clock_mhz),
            Some(gpu) => {
                let heap = if gpu.large_bar { 1 } else { 2 };
                (heap, gpu.vram_bytes, gpu.chip.memory_bus_bits, gpu.chip.memory_clock_mhz)
            }
        };
        lines(&[
            ("heap_type", heap),
            ("size_in_bytes", bytes),
            ("flags", 0),
            ("width", width.into()),
            ("mem_clk_max", clock.into()),
        ])
    }

    fn link(&self, from: u32, link: &Link) -> String {
        let mut pairs = vec![
            ("type", link.kind.into()),
            ("version_major", 0),
            ("version_minor", 0),
            ("node_from", from.into()),
            ("node_to", link.to.into()),
            ("weight", link.weight.into()),
            ("min_latency", 0),
            ("max_latency", 0),
            ("min_bandwidth", link.bandwidth.0),
            ("max_bandwidth", link.bandwidth.1),
            ("recommended_transfer_size", 0),
        ];
        if self.mode >= Mode::V6_12 {
            pairs.push(("recommended_sdma_engine_id_mask", 0));
        }
        pairs.push(("flags", link.flags.into()));
        lines(&pairs)
    }

    fn pcie(&self, gpu: &Gpu, to: u32) -> Link {
        let chip = &gpu.chip;
        let known = chip.flags_known & FLAG_PLATFORM_ATOMICS != 0;
        let without_atomics = known && chip.flags & FLAG_PLATFORM_ATOMICS == 0;
        let bandwidth = (gpu.pcie_megabytes.min(312), gpu.pcie_megabytes);
        Link { kind: PCIE, to, weight: 20, bandwidth, flags: 1 | if without_atomics { 4 | 8 } else { 0 } }
    }

    fn io_links(&self, number: u32) -> Vec<Link> {
        if let Some(i) = number.checked_sub(self.cpus) {
            return self.gpus.get(i as usize).map(|gpu| self.pcie(gpu, self.cpu_of(i as usize))).into_iter().collect();
        }
        let sockets = (0..self.cpus).filter(|to| *to != number);
        let sockets = sockets.map(|to| Link { kind: QPI, to, weight: 21, bandwidth: (0, 0), flags: 0 });
        let gpus = self.gpus.iter().enumerate().filter(|(i, gpu)| gpu.large_bar && self.cpu_of(*i) == number);
        sockets.chain(gpus.map(|(i, gpu)| self.pcie(gpu, self.cpus + i as u32))).collect()
    }

    /// GPU to GPU over PCIe, when the target shows all of its memory. The weight is that of the way.
    fn p2p_links(&self, number: u32) -> Vec<Link> {
        let Some(own) = number.checked_sub(self.cpus).map(|i| i as usize) else { return Vec::new() };
        let peers = self.gpus.iter().enumerate().filter(|(i, gpu)| *i != own && gpu.large_bar);
        let link = |(i, _)| {
            let weight = if self.cpu_of(i) == self.cpu_of(own) { 40 } else { 40 + 21 };
            Link { kind: PCIE, to: self.cpus + i as u32, weight, bandwidth: (0, 0), flags: 1 }
        };
        peers.map(link).collect()
    }
}

/// Queues of one SDMA engine that users get (kfd-kernel.md 7).
fn sdma_queues(gpu: &Gpu) -> u64 {
    match gpu.chip.gfx_major {
        11.. => 6,
        ..=9 if gpu.apu => 2,
        _ => 8,
    }
}

/// Name of the chip; newer ones have none of their own.
fn chip_name(gpu: &Gpu) -> &'static str {
    match gpu.gfx_target_version() {
        90_000 => "vega10",
        90_006 => "vega20",
        90_008 => "arcturus",
        90_010 => "aldebaran",
        _ => "ip discovery",
    }
}
