//! What people ask of a node, from the fields of the C structures. Shared by all renderers.

use rocdxg::abi::*;
use rocdxg::platform::Node;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Processor cores only.
    Cpu,
    /// SIMDs only.
    Gpu,
    /// Both in one node, as old kernels describe APUs.
    Both,
    /// Neither: a kernel hides what it does not know.
    Neither,
}

impl Kind {
    /// Short word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
            Self::Both => "CPU+GPU",
            Self::Neither => "empty",
        }
    }

    /// The node has SIMDs.
    pub fn has_gpu(self) -> bool {
        matches!(self, Self::Gpu | Self::Both)
    }

    /// The node has processor cores.
    pub fn has_cpu(self) -> bool {
        matches!(self, Self::Cpu | Self::Both)
    }
}

/// What `node` is.
pub fn kind(node: &Node) -> Kind {
    match (node.properties.NumCPUCores, node.properties.NumFComputeCores) {
        (0, 0) => Kind::Neither,
        (_, 0) => Kind::Cpu,
        (0, _) => Kind::Gpu,
        _ => Kind::Both,
    }
}

/// The name that its owner would know it by: marketing name, else the code name, else empty.
pub fn name(node: &Node) -> String {
    let marketing = wide_text(&{ node.properties.MarketingName });
    if marketing.is_empty() { text(&{ node.properties.AMDName }) } else { marketing }
}

/// Compute units that work.
pub fn compute_units(properties: &HsaNodeProperties) -> u32 {
    properties.NumFComputeCores.checked_div(properties.NumSIMDPerCU).unwrap_or(0)
}

/// Shader engines times shader arrays of each; `None` on nodes that have none.
pub fn shader_arrays(properties: &HsaNodeProperties) -> Option<String> {
    let (engines, arrays) = (properties.NumShaderBanks, properties.NumArrays);
    (engines != 0 || arrays != 0).then(|| format!("{engines}x{arrays}"))
}

/// The graphics version as compilers spell it, minor and stepping in hexadecimal: gfx90a, gfx1100. `None` for 0.0.0.
pub fn gfx(id: HSA_ENGINE_ID) -> Option<String> {
    let [major, minor, stepping] =
        [HSA_ENGINE_ID::Major, HSA_ENGINE_ID::Minor, HSA_ENGINE_ID::Stepping].map(|field| id.get(field));
    (major != 0).then(|| format!("gfx{major}{minor:x}{stepping:x}"))
}

/// Device memory of a GPU, system memory of a CPU, in bytes; 0 when it is not told.
pub fn memory_bytes(node: &Node) -> u64 {
    let sum = |kinds: &[HSA_HEAPTYPE]| {
        let banks = node.banks.iter().filter(|bank| kinds.contains(&{ bank.HeapType }));
        banks.fold(0u64, |sum, bank| sum.saturating_add(bank.SizeInBytes))
    };
    let device = sum(&[HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE]);
    match (device, kind(node)) {
        (0, Kind::Gpu) => node.properties.LocalMemSize,
        (0, _) => sum(&[HSA_HEAPTYPE_SYSTEM]),
        _ => device,
    }
}

/// Size of a cache in bytes: the C API counts those of processors in bytes and those of GPUs in KiB.
pub fn cache_bytes(kind: Kind, cache: &HsaCacheProperties) -> u64 {
    let size = u64::from(cache.CacheSize);
    if kind.has_gpu() { size << 10 } else { size }
}

/// Level and size in bytes of the largest cache for data at each level, rising.
pub fn cache_levels(node: &Node) -> Vec<(u32, u64)> {
    let mut levels = std::collections::BTreeMap::new();
    for cache in node.caches.iter() {
        let bytes = cache_bytes(kind(node), cache);
        if bytes != 0 && cache.CacheType.get(HsaCacheType::Data) != 0 {
            let largest = levels.entry(cache.CacheLevel).or_insert(0);
            *largest = bytes.max(*largest);
        }
    }
    levels.into_iter().collect()
}

/// PCI address dddd:bb:dd.f of a GPU; `None` on CPUs and where the kernel told none.
pub fn pci_address(node: &Node) -> Option<String> {
    let (domain, location) = (node.properties.Domain, node.properties.LocationId);
    if !kind(node).has_gpu() || (domain == 0 && location == 0) {
        return None;
    }
    let (bus, device, function) = ((location >> 8) & 0xff, (location >> 3) & 0x1f, location & 7);
    Some(format!("{domain:04x}:{bus:02x}:{device:02x}.{function}"))
}

/// Adapter LUID as high:low; `None` outside of WSL, where it is 0.
pub fn luid(properties: &HsaNodeProperties) -> Option<String> {
    let (high, low) = (properties.LuidHighPart, properties.LuidLowPart);
    (high != 0 || low != 0).then(|| format!("{high:08x}:{low:08x}"))
}

/// A size for people: the largest unit that leaves at least 1, with one decimal where that is not 0.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    // 1024 less half a tenth: what would round to 1024.0 takes the next unit.
    let fits = |unit: usize| (bytes as f64) < 1023.95 * 1024f64.powi(unit as i32);
    let unit = (0..UNITS.len() - 1).find(|&unit| fits(unit)).unwrap_or(UNITS.len() - 1);
    let number = format!("{:.1}", bytes as f64 / 1024f64.powi(unit as i32));
    format!("{} {}", number.trim_end_matches(".0"), UNITS[unit])
}

/// UTF-16 text up to its zero; what is no text is replaced.
pub fn wide_text(units: &[u16]) -> String {
    let end = units.iter().position(|&unit| unit == 0).unwrap_or(units.len());
    clean(&String::from_utf16_lossy(&units[..end]))
}

/// UTF-8 text up to its zero; what is no text is replaced.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    clean(&String::from_utf8_lossy(&bytes[..end]))
}

/// Foreign text made fit to print: control characters and those that change the direction of text become '?'.
pub fn clean(foreign: &str) -> String {
    let unfit = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    foreign.trim().chars().map(|c| if unfit(c) { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(major: u32, minor: u32, stepping: u32) -> HSA_ENGINE_ID {
        HSA_ENGINE_ID(0x3ff)
            .with(HSA_ENGINE_ID::Major, major)
            .with(HSA_ENGINE_ID::Minor, minor)
            .with(HSA_ENGINE_ID::Stepping, stepping)
    }

    fn gpu() -> Node {
        let properties = HsaNodeProperties {
            NumFComputeCores: 416,
            NumSIMDPerCU: 4,
            NumShaderBanks: 8,
            NumArrays: 1,
            LocationId: 0x6312,
            ..HsaNodeProperties::ZERO
        };
        Node { properties, ..Node::default() }
    }

    fn cache(level: u32, size: u32, kind: HsaCacheType) -> HsaCacheProperties {
        HsaCacheProperties { CacheLevel: level, CacheSize: size, CacheType: kind, ..HsaCacheProperties::ZERO }
    }

    #[test]
    fn graphics_versions_are_spelled_as_compilers_do() {
        assert_eq!(gfx(version(9, 0, 10)).as_deref(), Some("gfx90a"));
        assert_eq!(gfx(version(11, 0, 0)).as_deref(), Some("gfx1100"));
        assert_eq!(gfx(version(10, 3, 1)).as_deref(), Some("gfx1031"));
        assert_eq!(gfx(version(0, 0, 0)), None);
    }

    #[test]
    fn sizes_have_units_and_at_most_one_decimal() {
        for (bytes, words) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (96 << 20, "96 MiB"),
            (24 << 30, "24 GiB"),
            ((1 << 30) - 1, "1 GiB"),
            ((1 << 20) - (100 << 10), "924 KiB"),
            (5 << 40, "5 TiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(size(bytes), words);
        }
    }

    #[test]
    fn addresses_are_taken_apart() {
        let mut node = gpu();
        assert_eq!(pci_address(&node).as_deref(), Some("0000:63:02.2"));
        node.properties.Domain = 0x1_0002;
        assert_eq!(pci_address(&node).as_deref(), Some("10002:63:02.2"));
        (node.properties.Domain, node.properties.LocationId) = (0, 0);
        assert_eq!(pci_address(&node), None);
        assert_eq!(luid(&node.properties), None);
        (node.properties.LuidHighPart, node.properties.LuidLowPart) = (0xffff_ffff, 0x8001);
        assert_eq!(luid(&node.properties).as_deref(), Some("ffffffff:00008001"));
    }

    #[test]
    fn units_divide_by_what_may_be_zero() {
        let mut node = gpu();
        assert_eq!(compute_units(&node.properties), 104);
        assert_eq!(shader_arrays(&node.properties).as_deref(), Some("8x1"));
        node.properties.NumSIMDPerCU = 0;
        assert_eq!(compute_units(&node.properties), 0);
    }

    #[test]
    fn caches_of_processors_are_bytes_and_of_gpus_kib() {
        let data = HsaCacheType(0).with(HsaCacheType::Data, 1);
        let code = HsaCacheType(0).with(HsaCacheType::Instruction, 1);
        let mut node = gpu();
        node.caches = vec![cache(1, 16, data), cache(1, 64, code), cache(2, 8192, data), cache(1, 32, data)].into();
        assert_eq!(cache_levels(&node), [(1, 32 << 10), (2, 8 << 20)]);
        (node.properties.NumFComputeCores, node.properties.NumCPUCores) = (0, 8);
        assert_eq!(cache_levels(&node), [(1, 32), (2, 8192)]);
    }

    #[test]
    fn memory_is_that_of_the_banks_then_of_the_node() {
        let bank =
            |heap, bytes| HsaMemoryProperties { HeapType: heap, SizeInBytes: bytes, ..HsaMemoryProperties::ZERO };
        let mut node = gpu();
        node.properties.LocalMemSize = 7;
        assert_eq!(memory_bytes(&node), 7);
        node.banks = vec![
            bank(HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, 10),
            bank(HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE, 20),
            bank(HSA_HEAPTYPE_GPU_LDS, 5),
            bank(HSA_HEAPTYPE_SYSTEM, 0),
        ];
        assert_eq!(memory_bytes(&node), 30);
        node.banks[0].SizeInBytes = u64::MAX;
        assert_eq!(memory_bytes(&node), u64::MAX);
    }

    #[test]
    fn foreign_text_cannot_steer_a_terminal() {
        assert_eq!(wide_text(&[0x41, 0x1b, 0x5b, 0xd800, 0x42, 0, 0x43]), "A?[\u{fffd}B");
        assert_eq!(text(b"GFX\x07\xff\0rest"), "GFX?\u{fffd}");
        assert_eq!(clean(" a\u{202e}b\n "), "a?b");
        assert_eq!(wide_text(&[0x58; 64]), "X".repeat(64));
    }
}
