//! The keys of topology files and the fields that they fill (kfd.md 2.4 and 2.5).

use super::super::{GfxVersion, notes::Notes};
use super::values::{Entry, Values};
use crate::abi::{
    HSA_CAPABILITY, HSA_CAPABILITY2, HSA_DEBUG_PROPERTIES, HSA_ENGINE_ID, HSA_ENGINE_VERSION, HSA_HEAPTYPE,
    HSA_IOLINKTYPE, HSA_LINKPROPERTY, HSA_MEMORYPROPERTY, HsaCacheProperties, HsaCacheType, HsaIoLinkProperties,
    HsaMemoryProperties, HsaNodeProperties, HsaSystemProperties,
};

/// What `nodes/N/properties` says.
pub(super) struct NodeRecord {
    /// Fields that a key fills; counts of lists are left at 0.
    pub(super) properties: HsaNodeProperties,
    /// Shader arrays of all engines.
    pub(super) array_count: u32,
    /// Graphics version, where the kernel names one that fits `HSA_ENGINE_ID`.
    pub(super) gfx: Option<GfxVersion>,
    /// `simd_count`, which decides what the node is.
    pub(super) simd_count: Entry,
    /// `cpu_cores_count`.
    pub(super) cpu_cores_count: Entry,
    /// `mem_banks_count`.
    pub(super) banks: u32,
    /// `caches_count`.
    pub(super) caches: u32,
    /// `io_links_count`.
    pub(super) io_links: u32,
    /// `p2p_links_count`; its presence means that the kernel lists indirect links itself.
    pub(super) p2p_links: Option<u32>,
}

/// Reads `nodes/N/properties`.
pub(super) fn node(file: &str, text: &[u8], notes: &mut Notes) -> NodeRecord {
    let mut v = Values::new(file, text, notes);
    let simd_count = v.entry("simd_count", u32::MAX.into());
    let cpu_cores_count = v.entry("cpu_cores_count", u32::MAX.into());
    let p2p_links = match v.entry("p2p_links_count", u32::MAX.into()) {
        Entry::Absent => None,
        entry => Some(entry.or_zero() as u32),
    };
    let target = v.u32("gfx_target_version");
    let gfx = version(target);
    if target != 0 && gfx.is_none() {
        v.remark("gfx_target_version", &format!("{target} is not a graphics version"));
    }
    let properties = HsaNodeProperties {
        NumCPUCores: cpu_cores_count.or_zero() as u32,
        NumFComputeCores: simd_count.or_zero() as u32,
        CComputeIdLo: v.u32("cpu_core_id_base"),
        FComputeIdLo: v.u32("simd_id_base"),
        Capability: HSA_CAPABILITY(v.u32("capability")),
        Capability2: HSA_CAPABILITY2(v.u32("capability2")),
        MaxWavesPerSIMD: v.u32("max_waves_per_simd"),
        LDSSizeInKB: v.u32("lds_size_in_kb"),
        GDSSizeInKB: v.u32("gds_size_in_kb"),
        WaveFrontSize: v.u32("wave_front_size"),
        NumArrays: v.u32("simd_arrays_per_engine"),
        NumCUPerArray: v.u32("cu_per_simd_array"),
        NumSIMDPerCU: v.u32("simd_per_cu"),
        MaxSlotsScratchCU: v.u32("max_slots_scratch_cu"),
        // The bit-fields are ten bits wide and firmware versions of new GPUs are not: the low bits are the contract.
        EngineId: HSA_ENGINE_ID(0).with(HSA_ENGINE_ID::uCode, v.u32("fw_version")),
        uCodeEngineVersions: HSA_ENGINE_VERSION(0).with(HSA_ENGINE_VERSION::uCodeSDMA, v.u32("sdma_fw_version")),
        VendorId: v.u16("vendor_id"),
        DeviceId: v.u16("device_id"),
        LocationId: v.u32("location_id"),
        Domain: v.u32("domain"),
        MaxEngineClockMhzFCompute: v.u32("max_engine_clk_fcompute"),
        MaxEngineClockMhzCCompute: v.u32("max_engine_clk_ccompute"),
        LocalMemSize: v.u64("local_mem_size"),
        DrmRenderMinor: v.entry("drm_render_minor", i32::MAX as u64).or_zero() as i32,
        HiveID: v.u64("hive_id"),
        UniqueID: v.u64("unique_id"),
        DebugProperties: HSA_DEBUG_PROPERTIES(v.u64("debug_prop")),
        NumSdmaEngines: v.u32("num_sdma_engines"),
        NumSdmaXgmiEngines: v.u32("num_sdma_xgmi_engines"),
        NumSdmaQueuesPerEngine: v.u8("num_sdma_queues_per_engine"),
        NumCpQueues: v.u8("num_cp_queues"),
        NumGws: v.u8("num_gws"),
        NumXcc: v.u32("num_xcc"),
        FamilyID: v.u32("family_id"),
        CwsrSize: v.u32("cwsr_size"),
        CtlStackSize: v.u32("ctl_stack_size"),
        ..HsaNodeProperties::ZERO
    };
    NodeRecord {
        properties,
        array_count: v.u32("array_count"),
        gfx,
        simd_count,
        cpu_cores_count,
        banks: v.u32("mem_banks_count"),
        caches: v.u32("caches_count"),
        io_links: v.u32("io_links_count"),
        p2p_links,
    }
}

/// `gfx_target_version`: major * 10000 + minor * 100 + stepping in decimal; 0 is none.
fn version(target: u32) -> Option<GfxVersion> {
    let major = u8::try_from(target / 10000).ok().filter(|major| (1..64).contains(major))?;
    Some(GfxVersion { major, minor: (target / 100 % 100) as u8, stepping: (target % 100) as u8 })
}

/// Reads `nodes/N/mem_banks/M/properties`.
pub(super) fn bank(file: &str, text: &[u8], notes: &mut Notes) -> HsaMemoryProperties {
    let mut v = Values::new(file, text, notes);
    v.need(&["heap_type", "size_in_bytes", "mem_clk_max"]);
    HsaMemoryProperties {
        HeapType: HSA_HEAPTYPE(v.u32("heap_type")),
        SizeInBytes: v.u64("size_in_bytes"),
        Flags: HSA_MEMORYPROPERTY(v.u32("flags")),
        Width: v.u32("width"),
        MemoryClockMax: v.u32("mem_clk_max"),
        ..HsaMemoryProperties::ZERO
    }
}

/// Reads `nodes/N/caches/M/properties`; the size is in KiB, as the kernel gives it.
pub(super) fn cache(file: &str, text: &[u8], notes: &mut Notes) -> HsaCacheProperties {
    let mut v = Values::new(file, text, notes);
    v.need(&["level", "size", "sibling_map"]);
    let mut siblings = [0; 256];
    v.fill("sibling_map", &mut siblings);
    HsaCacheProperties {
        ProcessorIdLow: v.u32("processor_id_low"),
        CacheLevel: v.u32("level"),
        CacheSize: v.u32("size"),
        CacheLineSize: v.u32("cache_line_size"),
        CacheLinesPerTag: v.u32("cache_lines_per_tag"),
        CacheAssociativity: v.u32("association"),
        CacheLatency: v.u32("latency"),
        CacheType: HsaCacheType(v.u32("type")),
        SiblingMap: siblings,
        ..HsaCacheProperties::ZERO
    }
}

/// Reads `nodes/N/io_links/M/properties` or `nodes/N/p2p_links/M/properties`; ends are numbered as in the tree.
///
/// `None` when an end is not named by a number.
pub(super) fn link(file: &str, text: &[u8], notes: &mut Notes) -> Option<HsaIoLinkProperties> {
    let mut v = Values::new(file, text, notes);
    let (from, to) = (v.entry("node_from", u32::MAX.into()), v.entry("node_to", u32::MAX.into()));
    let (Entry::Number(from), Entry::Number(to)) = (from, to) else {
        v.remark("node_from or node_to", "is missing: the link is dropped");
        return None;
    };
    v.need(&["type", "flags"]);
    Some(HsaIoLinkProperties {
        IoLinkType: HSA_IOLINKTYPE(v.u32("type")),
        VersionMajor: v.u32("version_major"),
        VersionMinor: v.u32("version_minor"),
        NodeFrom: from as u32,
        NodeTo: to as u32,
        Weight: v.u32("weight"),
        MinimumLatency: v.u32("min_latency"),
        MaximumLatency: v.u32("max_latency"),
        MinimumBandwidth: v.u32("min_bandwidth"),
        MaximumBandwidth: v.u32("max_bandwidth"),
        RecTransferSize: v.u32("recommended_transfer_size"),
        RecSdmaEngIdMask: v.u32("recommended_sdma_engine_id_mask"),
        Flags: HSA_LINKPROPERTY(v.u32("flags")),
    })
}

/// Reads `system_properties`. The kernel's numbers are wider than the fields; the low 32 bits are the contract.
pub(super) fn system(file: &str, text: &[u8], notes: &mut Notes) -> HsaSystemProperties {
    let mut v = Values::new(file, text, notes);
    HsaSystemProperties {
        PlatformOem: v.u64("platform_oem") as u32,
        PlatformId: v.u64("platform_id") as u32,
        PlatformRev: v.u64("platform_rev") as u32,
        ..HsaSystemProperties::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_decimal_and_fit_the_engine_id() {
        assert_eq!(version(90010), Some(GfxVersion { major: 9, minor: 0, stepping: 10 }));
        assert_eq!(version(110501), Some(GfxVersion { major: 11, minor: 5, stepping: 1 }));
        assert_eq!(version(639999), Some(GfxVersion { major: 63, minor: 99, stepping: 99 }));
        for none in [0, 1, 9999, 640000, u32::MAX] {
            assert_eq!(version(none), None, "{none}");
        }
    }
}
