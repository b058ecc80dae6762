//! KFD topology trees for tests: captured ones unpacked, and small ones built file by file.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The trees under `tests/data/kfd`.
pub const CAPTURED: [&str; 7] = [
    "vega10-1gpu-captured",
    "mi210-8gpu-xgmi",
    "mi308-partitioned",
    "mi300-cpx",
    "mi300a-4apu-partial",
    "rx7900xtx-partial",
    "mi100-partial",
];

pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kfd")
}

/// A topology folder that goes away with this value.
pub struct Tree {
    folder: TempDir,
}

impl Tree {
    /// The captured tree of this name.
    pub fn captured(name: &str) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let archive = data().join(format!("{name}.tar.gz"));
        let mut command = if archive.exists() {
            let mut tar = Command::new("tar");
            tar.arg("-xzf").arg(archive).arg("-C").arg(folder.path());
            tar
        } else {
            let mut cp = Command::new("cp");
            cp.arg("-r").arg(data().join(name).join(".")).arg(folder.path());
            cp
        };
        assert!(command.status().expect("tar and cp are there").success(), "{command:?}");
        Self { folder }
    }

    /// The captured tree of this name with what a live one has and the capture lacks: ids, one bank per node, as many
    /// caches as are announced. Links are those that were captured.
    pub fn completed(name: &str) -> Self {
        let tree = Self::captured(name);
        for node in tree.nodes() {
            let is_gpu = tree.number(node, "simd_count") != 0;
            let has = |file: &str| tree.path().join(format!("nodes/{node}/{file}")).exists();
            if !has("gpu_id") {
                tree.write(&format!("nodes/{node}/gpu_id"), format!("{}\n", if is_gpu { 100 + node } else { 0 }));
            }
            if !has("mem_banks/0") {
                let text = format!(
                    "heap_type {}\nsize_in_bytes 25753026560\nflags 0\nwidth 384\nmem_clk_max 1249\n",
                    u32::from(is_gpu)
                );
                tree.write(&format!("nodes/{node}/mem_banks/0/properties"), text);
                tree.set(node, "mem_banks_count", "1");
            }
            for index in 0..tree.number(node, "caches_count") {
                if !has(&format!("caches/{index}")) {
                    tree.cache(node, index, 1, 16);
                }
            }
            for list in ["io_links", "p2p_links"] {
                let count = fs::read_dir(tree.path().join(format!("nodes/{node}/{list}"))).map_or(0, Iterator::count);
                tree.set(node, &format!("{list}_count"), &count.to_string());
            }
        }
        tree
    }

    /// The numbers of the nodes.
    pub fn nodes(&self) -> Vec<u32> {
        let entries = fs::read_dir(self.path().join("nodes")).expect("there");
        let number = |name: std::ffi::OsString| name.to_str().expect("ASCII").parse().expect("a number");
        entries.map(|entry| number(entry.expect("readable").file_name())).collect()
    }

    /// The number that a key of a node's properties has, 0 without it.
    pub fn number(&self, node: u32, key: &str) -> u32 {
        let text = self.read(&format!("nodes/{node}/properties"));
        let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().expect("a number"))
    }

    /// A complete tree without nodes.
    pub fn empty() -> Self {
        let tree = Self { folder: TempDir::new().expect("a temporary folder") };
        tree.write("generation_id", "2\n");
        tree.write("system_properties", "platform_oem 5\nplatform_id 6\nplatform_rev 7\n");
        fs::create_dir(tree.path().join("nodes")).expect("created");
        tree
    }

    /// One CPU node and GPUs as nodes 1.. with gpu_id 101.., each linked with the CPU both ways.
    pub fn machine(gpus: u32) -> Self {
        let tree = Self::empty();
        tree.cpu(0);
        for gpu in 1..=gpus {
            tree.gpu(gpu);
            tree.link(0, "io_links", gpu - 1, gpu, 2, 20);
            tree.link(gpu, "io_links", 0, 0, 2, 20);
        }
        tree.set(0, "io_links_count", &gpus.to_string());
        tree
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().expect("below the tree")).expect("created");
        fs::write(path, content).expect("written");
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).expect("read")
    }

    pub fn remove(&self, file: &str) {
        let path = self.path().join(file);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("removed");
    }

    /// A CPU node of 8 cores with one bank.
    pub fn cpu(&self, node: u32) {
        self.write(&format!("nodes/{node}/gpu_id"), "0\n");
        self.write(
            &format!("nodes/{node}/properties"),
            "cpu_cores_count 8\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\nio_links_count 0\n\
             p2p_links_count 0\ncpu_core_id_base 0\nmax_engine_clk_ccompute 3000\n",
        );
        self.write(
            &format!("nodes/{node}/mem_banks/0/properties"),
            "heap_type 0\nsize_in_bytes 68719476736\nflags 0\nwidth 64\nmem_clk_max 3200\n",
        );
    }

    /// A GPU node of 96 CUs (gfx1100) with a large bank, two caches and one io_link.
    pub fn gpu(&self, node: u32) {
        self.write(&format!("nodes/{node}/gpu_id"), format!("{}\n", 100 + node));
        self.write(
            &format!("nodes/{node}/properties"),
            format!(
                "cpu_cores_count 0\nsimd_count 192\nmem_banks_count 1\ncaches_count 2\nio_links_count 1\n\
                 p2p_links_count 0\nsimd_id_base 2147487744\nmax_waves_per_simd 16\nlds_size_in_kb 64\n\
                 wave_front_size 32\narray_count 12\nsimd_arrays_per_engine 2\ncu_per_simd_array 8\nsimd_per_cu 2\n\
                 max_slots_scratch_cu 32\ngfx_target_version 110000\nvendor_id 4098\ndevice_id 29772\n\
                 location_id {}\ndrm_render_minor {}\nfw_version 2150\ncapability 671588992\nnum_xcc 1\n",
                node << 8,
                127 + node,
            ),
        );
        self.write(
            &format!("nodes/{node}/mem_banks/0/properties"),
            "heap_type 1\nsize_in_bytes 25753026560\nflags 0\nwidth 384\nmem_clk_max 1249\n",
        );
        self.cache(node, 0, 1, 32);
        self.cache(node, 1, 2, 6144);
    }

    pub fn cache(&self, node: u32, index: u32, level: u32, kib: u32) {
        let text = format!("processor_id_low 2147487744\nlevel {level}\nsize {kib}\ntype 9\nsibling_map 1,0,1\n");
        self.write(&format!("nodes/{node}/caches/{index}/properties"), text);
    }

    pub fn link(&self, from: u32, list: &str, index: u32, to: u32, kind: u32, weight: u32) {
        let text = format!("type {kind}\nnode_from {from}\nnode_to {to}\nweight {weight}\nflags 1\n");
        self.write(&format!("nodes/{from}/{list}/{index}/properties"), text);
    }

    /// Replaces or adds a line of a node's properties.
    pub fn set(&self, node: u32, key: &str, value: &str) {
        let file = format!("nodes/{node}/properties");
        self.unset(node, key);
        self.write(&file, self.read(&file) + &format!("{key} {value}\n"));
    }

    /// Removes a line of a node's properties.
    pub fn unset(&self, node: u32, key: &str) {
        let file = format!("nodes/{node}/properties");
        let text = self.read(&file);
        let kept: Vec<&str> = text.lines().filter(|line| line.split(' ').next() != Some(key)).collect();
        self.write(&file, kept.join("\n") + "\n");
    }

    /// Inserts a node number between others: moves the folder.
    pub fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path().join(from), self.path().join(to)).expect("renamed");
    }
}
