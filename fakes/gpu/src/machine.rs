//! Machine files: the adapters of a software machine, as the host describes them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::private::Private;

/// Longest string of a fixed field, in code units: `WCHAR[260]` of the registry information (d3dkmt.json).
pub const LONG_TEXT: usize = 260;
/// Longest friendly name of a node, in code units: `WCHAR[32]` of the node metadata (d3dkmt.json).
pub const SHORT_TEXT: usize = 32;

/// A machine: its adapters in enumeration order.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// One line for people.
    #[serde(default)]
    pub description: String,
    /// Which guest kernel stands between the client and the host.
    #[serde(default)]
    pub kernel: Kernel,
    /// The CPU side, as the bare-metal driver lists it.
    #[serde(default)]
    pub host: Host,
    /// The adapters, in enumeration order.
    #[serde(default, rename = "adapter")]
    pub adapters: Vec<Adapter>,
}

/// Differences between guest kernels (dxgkrnl.md, "Older").
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// 5.15-era driver: an unreadable pointer is INVALID_PARAMETER instead of UNSUCCESSFUL (rule 132).
    #[serde(default)]
    pub older: bool,
}

/// The CPU nodes of a bare-metal machine, all alike.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// CPU nodes.
    pub nodes: u32,
    /// Logical processors of one node.
    pub cores: u32,
    /// Memory of one node, in bytes.
    pub bytes: u64,
    /// Largest clock, in MHz.
    pub clock_mhz: u32,
    /// Memory clock, in MHz.
    pub memory_clock_mhz: u32,
}

impl Default for Host {
    fn default() -> Self {
        Self { nodes: 1, cores: 16, bytes: 64 << 30, clock_mhz: 5083, memory_clock_mhz: 2400 }
    }
}

/// What only the bare-metal driver tells of an adapter; what is left out follows from the rest of the adapter.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Kfd {
    /// `gpu_id`: 16 bits, not 0, unique in the machine.
    pub gpu_id: Option<u32>,
    /// Minor number of the render node, 128 and up.
    pub render_minor: Option<u32>,
    /// The CPU reaches all of the local memory.
    pub large_bar: Option<bool>,
    /// The device cgroup of the processes denies this GPU.
    pub hidden: bool,
}

/// One adapter of the machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// PCI vendor id.
    pub vendor: u32,
    /// PCI device id.
    pub device: u32,
    /// PCI subsystem vendor id.
    #[serde(default)]
    pub subvendor: u32,
    /// PCI subsystem id.
    #[serde(default)]
    pub subsystem: u32,
    /// PCI revision.
    #[serde(default)]
    pub revision: u32,
    /// Name as the Windows driver shows it.
    pub name: Text,
    /// Version text of the video BIOS.
    #[serde(default)]
    pub bios: Text,
    /// Locally unique id: low and high part.
    pub luid: (u32, i32),
    /// PCI bus, device, function on the host.
    pub pci: (u32, u32, u32),
    /// Identity that survives a reboot, in the form `{8-4-4-4-12}`.
    pub guid: Text,
    /// Driver model: 3100 is WDDM 3.1.
    pub wddm: u32,
    /// Only listed for callers that ask for compute-only adapters (dxgkrnl.md rule 19).
    #[serde(default)]
    pub compute_only: bool,
    /// Part in a hybrid system, when Windows sees one.
    #[serde(default)]
    pub hybrid: Option<Hybrid>,
    /// GPU counter, in Hz.
    pub counter_hz: u64,
    /// Sizes as the host sums them up.
    pub memory: MemorySizes,
    /// Memory clock now and at most, in Hz.
    #[serde(default)]
    pub memory_hz: (u64, u64),
    /// Memory bandwidth at most, in bytes per second.
    #[serde(default)]
    pub memory_bandwidth: u64,
    /// PCIe bandwidth at most, in bytes per second.
    #[serde(default)]
    pub pcie_bandwidth: u64,
    /// Temperature now, where the driver warns and where it stops, in tenths of a degree Celsius.
    #[serde(default)]
    pub temperature: (u32, u32, u32),
    /// Fan speed now and at most, in revolutions per minute.
    #[serde(default)]
    pub fan_rpm: (u32, u32),
    /// Memory segments, in the order of their ids.
    #[serde(default, rename = "segment")]
    pub segments: Vec<Segment>,
    /// The host does not tell what its segments are made of (Windows 10).
    #[serde(default)]
    pub untyped_segments: bool,
    /// Engines, in the order of their ordinals.
    #[serde(default, rename = "node")]
    pub nodes: Vec<Node>,
    /// Values of the adapter's registry key.
    #[serde(default)]
    pub registry: BTreeMap<String, RegistryValue>,
    /// What only the vendor's private blob tells; without it the driver knows no such query.
    #[serde(default)]
    pub private: Option<Private>,
    /// What only the bare-metal driver tells.
    #[serde(default)]
    pub kfd: Kfd,
    /// Hot-plug: absent until this many enumeration calls were made (dxgkrnl.md rule 20).
    #[serde(default)]
    pub appears_after: Option<u64>,
    /// Hot-plug: gone once this many enumeration calls were made (dxgkrnl.md rule 20).
    #[serde(default)]
    pub leaves_after: Option<u64>,
}

/// `HybridDiscrete` or `HybridIntegrated` of the adapter type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hybrid {
    /// The discrete part.
    Discrete,
    /// The integrated part.
    Integrated,
}

/// Answer of the segment-size query, in bytes.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySizes {
    /// Dedicated video memory.
    pub dedicated_video: u64,
    /// System memory set aside for the adapter.
    #[serde(default)]
    pub dedicated_system: u64,
    /// System memory that the adapter may share.
    pub shared_system: u64,
}

/// One memory segment.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// What it is made of.
    pub kind: SegmentKind,
    /// Commit limit, in bytes.
    pub bytes: u64,
}

/// What a segment is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentKind {
    /// Local memory that the CPU reaches.
    LocalVisible,
    /// Local memory that the CPU does not reach.
    LocalInvisible,
    /// System memory used as local memory.
    System,
    /// System memory behind an aperture.
    Aperture,
}

/// One engine of an adapter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// `DXGK_ENGINE_TYPE`.
    pub engine: Engine,
    /// Friendly name; compute engines are told apart by it.
    #[serde(default)]
    pub name: Text,
    /// Clock at most, in Hz.
    #[serde(default)]
    pub max_hz: u64,
    /// `ContextSchedulingSupported`: hardware queues.
    #[serde(default)]
    pub context_scheduling: bool,
}

/// `DXGK_ENGINE_TYPE`: what a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// None of the others.
    Other = 0,
    /// 3D.
    #[serde(rename = "3d")]
    ThreeD = 1,
    /// Video decode.
    VideoDecode = 2,
    /// Video encode.
    VideoEncode = 3,
    /// Video processing.
    VideoProcessing = 4,
    /// Scene assembly.
    SceneAssembly = 5,
    /// Copy: SDMA.
    Copy = 6,
    /// Overlay.
    Overlay = 7,
    /// Crypto.
    Crypto = 8,
}

/// A string of the host: words, or the 4-byte code units that the client shall see.
///
/// Code units need not be characters and get no terminator of their own: `[0xd800]` is a lone surrogate, a list
/// as long as the field is a string without an end.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// Words.
    Words(String),
    /// 4-byte code units, as the client sees them.
    Units(Vec<u32>),
}

impl Default for Text {
    fn default() -> Self {
        Self::Words(String::new())
    }
}

impl Text {
    /// The code units that the client sees: UTF-16 units of the words, 4 bytes wide (dxgkrnl.md rule 25).
    pub fn units(&self) -> Vec<u32> {
        match self {
            Self::Words(words) => words.encode_utf16().map(u32::from).collect(),
            Self::Units(units) => units.clone(),
        }
    }
}

/// A value of the adapter's registry key.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum RegistryValue {
    /// `REG_DWORD`.
    Dword(u32),
    /// `REG_SZ`.
    Text(Text),
}

/// Why a machine could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be read.
    #[error("{path}: {source}")]
    File {
        /// Name or path as given.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The text is not a machine.
    #[error("{path}: line {line}: {reason}")]
    Syntax {
        /// Name or path as given.
        path: String,
        /// Where in the text, from 1.
        line: usize,
        /// What the parser said.
        reason: String,
    },
    /// The machine cannot exist.
    #[error("{path}: {reason}")]
    Impossible {
        /// Name or path as given.
        path: String,
        /// What is wrong.
        reason: String,
    },
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// The machines that need no file: name and TOML text.
        pub const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../machines/", $name, ".toml")))),*];
    };
}

built_in!(
    "gfx1030",
    "gfx1100",
    "two-gfx1100",
    "eight-gfx1100",
    "dgpu-apu",
    "apu",
    "harvested",
    "foreign-first",
    "no-amd",
    "none",
    "unlisted",
    "unknown-id",
    "compute-only",
    "hotplug",
    "private-refused",
);

/// The machine of a process that names none.
pub const DEFAULT: &str = "gfx1100";

impl Machine {
    /// The built-in machine of that name, else the machine file at that path.
    pub fn load(name_or_path: &str) -> Result<Self, Error> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(name, _)| *name == name_or_path) {
            return Self::parse(name_or_path, text);
        }
        let text = std::fs::read_to_string(name_or_path)
            .map_err(|source| Error::File { path: name_or_path.to_owned(), source })?;
        Self::parse(name_or_path, &text)
    }

    /// Reads a machine from its text; `path` only names it in errors.
    pub fn parse(path: &str, text: &str) -> Result<Self, Error> {
        let machine: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|b| *b == b'\n').count();
            Error::Syntax { path: path.to_owned(), line, reason: error.message().replace('\n', " ") }
        })?;
        machine.check().map_err(|reason| Error::Impossible { path: path.to_owned(), reason })?;
        Ok(machine)
    }

    fn check(&self) -> Result<(), String> {
        for (i, adapter) in self.adapters.iter().enumerate() {
            if self.adapters[..i].iter().any(|other| other.luid == adapter.luid) {
                return Err(format!("adapter {i} has the LUID of another adapter"));
            }
            if adapter.kfd.gpu_id.is_some_and(|id| id == 0 || id > 0xffff) {
                return Err(format!("adapter {i} has a gpu_id that is 0 or has more than 16 bits"));
            }
            if adapter.kfd.render_minor.is_some_and(|minor| minor < 128) {
                return Err(format!("adapter {i} has a render node below 128"));
            }
            let twice = |name: &dyn Fn(&Adapter) -> Option<u32>| {
                name(adapter).is_some() && self.adapters[..i].iter().any(|other| name(other) == name(adapter))
            };
            if twice(&|a| a.kfd.gpu_id) || twice(&|a| a.kfd.render_minor) {
                return Err(format!("adapter {i} has the gpu_id or the render node of another adapter"));
            }
            let long = [&adapter.name, &adapter.bios].into_iter().map(|t| (t, LONG_TEXT));
            let short = adapter.nodes.iter().map(|n| (&n.name, SHORT_TEXT));
            for (text, limit) in long.chain(short).chain([(&adapter.guid, 40)]) {
                if text.units().len() > limit {
                    return Err(format!("adapter {i} has a text of more than {limit} code units"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in(name: &str) -> Machine {
        Machine::load(name).unwrap()
    }

    #[test]
    fn every_built_in_machine_parses_and_every_file_is_built_in() {
        for (name, text) in BUILT_IN {
            let machine = Machine::parse(name, text).unwrap();
            assert!(!machine.description.is_empty(), "{name}");
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, BUILT_IN.len());
    }

    #[test]
    fn listed_machines_are_in_the_asic_table_and_the_others_are_not() {
        let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/asics.json");
        let table: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(table).unwrap()).unwrap();
        let entry = |id: u32, revision: Option<u32>| {
            let hex = |n: u32, width| format!("{n:#0width$x}", width = width);
            table["entries"].as_array().unwrap().iter().find(|e| {
                e["device_id"] == hex(id, 6).as_str() && revision.is_none_or(|r| e["revision"] == hex(r, 4).as_str())
            })
        };
        for (name, _) in BUILT_IN {
            for adapter in built_in(name).adapters.iter().filter(|a| a.vendor == 0x1002) {
                let exact = entry(adapter.device, Some(adapter.revision));
                match *name {
                    "unlisted" => assert!(exact.is_none() && entry(adapter.device, None).is_some()),
                    "unknown-id" => assert!(entry(adapter.device, None).is_none()),
                    _ => {
                        let exact = exact.unwrap_or_else(|| panic!("{name}"));
                        assert!(exact["cu_count"].is_u64(), "{name}");
                        if let Some(private) = &adapter.private {
                            assert_eq!(exact["cu_count"], private.compute_units, "{name}");
                            assert_eq!(exact["shader_engines"], private.shader_engines, "{name}");
                            assert_eq!(exact["gfx"][2], private.gfx_stepping, "{name}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn local_segments_add_up_to_the_dedicated_memory() {
        for (name, _) in BUILT_IN {
            for adapter in built_in(name).adapters {
                let local = |s: &&Segment| matches!(s.kind, SegmentKind::LocalVisible | SegmentKind::LocalInvisible);
                let sum: u64 = adapter.segments.iter().filter(local).map(|s| s.bytes).sum();
                assert_eq!(sum, adapter.memory.dedicated_video, "{name}");
            }
        }
    }

    #[test]
    fn twins_differ_in_luid_and_address_only() {
        for (name, count) in [("two-gfx1100", 2), ("eight-gfx1100", 8)] {
            let machine = built_in(name);
            assert_eq!(machine.adapters.len(), count);
            for (i, a) in machine.adapters.iter().enumerate() {
                for b in &machine.adapters[..i] {
                    assert_eq!((a.device, a.revision, a.name.units()), (b.device, b.revision, b.name.units()));
                    assert_ne!(a.luid, b.luid);
                    assert_ne!(a.pci, b.pci);
                    assert_ne!(a.guid.units(), b.guid.units());
                }
            }
        }
    }

    #[test]
    fn code_units_reach_the_client_as_written() {
        let text = include_str!("../../machines/gfx1100.toml");
        let odd = text.replace("\nname = \"AMD Radeon RX 7900 XTX\"", "\nname = [0xd800, 0x110000]");
        let machine = Machine::parse("odd", &odd).unwrap();
        assert_eq!(machine.adapters[0].name.units(), [0xd800, 0x11_0000]);
        assert_eq!(Text::Words("\u{1f600}".into()).units(), [0xd83d, 0xde00]);
    }

    #[test]
    fn nonsense_is_an_error_that_names_the_file() {
        let one = include_str!("../../machines/gfx1100.toml");
        let twice = one.to_owned() + &one[one.find("[[adapter]]").unwrap()..];
        let kfd = |first: &str, second: &str| {
            let with =
                |keys: &str| one.replace("[adapter.private]", &format!("[adapter.kfd]\n{keys}\n[adapter.private]"));
            let other = with(second).replace("0x8001", "0x8002");
            with(first) + &other[other.find("[[adapter]]").unwrap()..]
        };
        assert!(Machine::parse("good", &kfd("gpu_id = 1", "gpu_id = 2")).is_ok());
        for (text, word) in [
            (kfd("gpu_id = 0", "").as_str(), "gpu_id that is 0"),
            (kfd("", "gpu_id = 0x1_0000").as_str(), "16 bits"),
            (kfd("render_minor = 127", "").as_str(), "below 128"),
            (kfd("gpu_id = 1", "gpu_id = 1").as_str(), "of another"),
            (kfd("render_minor = 130", "render_minor = 130").as_str(), "of another"),
            ("adapter = 3", "odd.toml"),
            ("speed = 3", "speed"),
            ("[[adapter]]\nvendor = -1", "line 2"),
            (twice.as_str(), "LUID"),
        ] {
            let message = Machine::parse("odd.toml", text).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        assert!(Machine::load("/nowhere/machine.toml").unwrap_err().to_string().contains("/nowhere/machine.toml"));
    }
}
