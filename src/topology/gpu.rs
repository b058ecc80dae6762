//! The node of a GPU that only its driver describes: from [`GpuInfo`] by the tables of dxg.md 2.4.

use std::sync::Arc;

use crate::abi::*;
use crate::asic;
use crate::platform::{GfxVersion, GpuInfo, Node, name};

const VENDOR_AMD: u16 = 0x1002;

/// What a GPU cannot be a node without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it reports {what} = 0")]
pub struct Unusable {
    what: &'static str,
}

/// Derives the node with number `id` from what is known of its GPU.
///
/// `cpu_mhz` is the largest clock of the CPU, which GPU nodes repeat. `gfx_override` is reported beside the real
/// version and never instead of it.
pub fn node(info: &GpuInfo, id: u32, cpu_mhz: u32, gfx_override: Option<GfxVersion>) -> Result<Node, Unusable> {
    for (what, value) in [("SIMDs per CU", info.simd_per_cu), ("CUs", info.compute_units)] {
        if value == 0 {
            return Err(Unusable { what });
        }
    }
    let banks = banks(info);
    let caches = caches(info);
    let links = vec![link(info, id)];
    let arrays = info.shader_engines.saturating_mul(info.arrays_per_engine);
    let properties = HsaNodeProperties {
        NumFComputeCores: info.simd_per_cu.saturating_mul(info.compute_units),
        NumMemoryBanks: banks.len() as u32,
        NumCaches: caches.len() as u32,
        NumIOLinks: links.len() as u32,
        Capability: HSA_CAPABILITY(0)
            .with(HSA_CAPABILITY::ASICRevision, info.asic_revision)
            .with(HSA_CAPABILITY::WatchPointsTotalBits, info.watch_points.checked_ilog2().unwrap_or(0))
            .with(HSA_CAPABILITY::DoorbellType, 2),
        Capability2: HSA_CAPABILITY2(0).with(HSA_CAPABILITY2::AqlEmulationPm4_, u32::from(!info.native_aql)),
        MaxWavesPerSIMD: info.waves_per_cu / info.simd_per_cu,
        LDSSizeInKB: info.lds_bytes >> 10,
        WaveFrontSize: info.wavefront_size,
        NumShaderBanks: info.shader_engines,
        NumArrays: info.arrays_per_engine,
        NumCUPerArray: info.compute_units.checked_div(arrays).unwrap_or(0),
        NumSIMDPerCU: info.simd_per_cu,
        MaxSlotsScratchCU: if info.scratch_slots_per_cu == 0 { 32 } else { info.scratch_slots_per_cu },
        EngineId: info.gfx.in_engine_id(HSA_ENGINE_ID(0)).with(HSA_ENGINE_ID::uCode, info.mec_firmware),
        OverrideEngineId: gfx_override.unwrap_or_default().in_engine_id(HSA_ENGINE_ID(0)),
        VendorId: VENDOR_AMD,
        DeviceId: info.device_id,
        LocationId: info.pci_location,
        Domain: info.pci_domain,
        MaxEngineClockMhzFCompute: info.engine_clock_mhz,
        MaxEngineClockMhzCCompute: cpu_mhz,
        DrmRenderMinor: id as i32,
        MarketingName: name::wide(&info.product_name),
        AMDName: name::ascii(&name::numbered(info.gfx)),
        uCodeEngineVersions: HSA_ENGINE_VERSION(0).with(HSA_ENGINE_VERSION::uCodeSDMA, info.sdma_firmware),
        NumSdmaEngines: info.sdma_engines,
        NumSdmaQueuesPerEngine: 6,
        NumCpQueues: u8::try_from(info.cp_queues).unwrap_or(u8::MAX),
        Integrated: u8::from(!info.is_dgpu),
        UniqueID: info.unique_id,
        VGPRSizePerCU: vgpr_bytes(info.gfx),
        SGPRSizePerCU: 0x4000,
        NumXcc: info.num_xcc,
        // Unique and never 0, also for identical GPUs (PR #10738).
        KFDGpuID: id + 1,
        FamilyID: info.family,
        LuidLowPart: info.luid_low,
        LuidHighPart: info.luid_high,
        WallClockKHz: info.counter_hz / 1000,
        ..HsaNodeProperties::ZERO
    };
    Ok(Node { properties, banks, caches: Arc::new(caches), links })
}

/// Vector registers of one CU. The table knows the chip; for others the rule of the WSL thunk decides, which counts
/// too much on the small parts of gfx11.
fn vgpr_bytes(gfx: GfxVersion) -> u32 {
    let rule = if gfx.major >= 11 { 0x60000 } else { 0x40000 };
    asic::family((gfx.major, gfx.minor, gfx.stepping)).map_or(rule, |family| family.vgpr_bytes_per_cu)
}

fn banks(info: &GpuInfo) -> Vec<HsaMemoryProperties> {
    let shared = if info.is_dgpu { 0 } else { info.non_local_bytes };
    vec![
        HsaMemoryProperties {
            HeapType: HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
            SizeInBytes: info.local_bytes.saturating_add(shared),
            Width: info.memory_bus_bits,
            MemoryClockMax: info.memory_clock_mhz,
            ..HsaMemoryProperties::ZERO
        },
        HsaMemoryProperties {
            HeapType: HSA_HEAPTYPE_GPU_LDS,
            SizeInBytes: u64::from(info.lds_bytes),
            VirtualBaseAddress: info.lds_aperture,
            ..HsaMemoryProperties::ZERO
        },
        HsaMemoryProperties {
            HeapType: HSA_HEAPTYPE_GPU_SCRATCH,
            SizeInBytes: info.scratch_aperture_bytes,
            VirtualBaseAddress: info.scratch_aperture,
            ..HsaMemoryProperties::ZERO
        },
    ]
}

/// Levels 1 to 3; sizes in KiB, unlike those of CPU caches.
fn caches(info: &GpuInfo) -> Vec<HsaCacheProperties> {
    let kind = HsaCacheType(0).with(HsaCacheType::Data, 1).with(HsaCacheType::HSACU, 1);
    [info.l1_bytes, info.l2_bytes, info.l3_bytes]
        .iter()
        .zip(1..)
        .map(|(bytes, level)| HsaCacheProperties {
            CacheLevel: level,
            CacheSize: u32::try_from(bytes >> 10).unwrap_or(u32::MAX),
            CacheType: kind,
            ..HsaCacheProperties::ZERO
        })
        .collect()
}

/// The one link: to the CPU, node 0.
fn link(info: &GpuInfo, id: u32) -> HsaIoLinkProperties {
    let flags = HSA_LINKPROPERTY(0).with(HSA_LINKPROPERTY::Override, 1);
    let base = HsaIoLinkProperties { NodeFrom: id, NodeTo: 0, ..HsaIoLinkProperties::ZERO };
    if info.is_dgpu {
        let no_atomics = u32::from(!info.platform_atomics);
        HsaIoLinkProperties {
            IoLinkType: HSA_IOLINKTYPE_PCIEXPRESS,
            Weight: 20,
            Flags: flags
                .with(HSA_LINKPROPERTY::NonCoherent, 1)
                .with(HSA_LINKPROPERTY::NoAtomics32bit, no_atomics)
                .with(HSA_LINKPROPERTY::NoAtomics64bit, no_atomics),
            ..base
        }
    } else {
        HsaIoLinkProperties { IoLinkType: HSA_IOLINK_TYPE_XGMI, Weight: 10, Flags: flags, ..base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn navi31() -> GpuInfo {
        GpuInfo {
            luid_low: 7,
            luid_high: 1,
            device_id: 0x744c,
            pci_location: 0x300,
            product_name: "AMD Radeon RX 7900 XTX".into(),
            gfx: GfxVersion { major: 11, minor: 0, stepping: 0 },
            is_dgpu: true,
            compute_units: 128,
            simd_per_cu: 2,
            waves_per_cu: 32,
            wavefront_size: 32,
            shader_engines: 4,
            arrays_per_engine: 2,
            lds_bytes: 65536,
            watch_points: 4,
            local_bytes: 24 << 30,
            non_local_bytes: 8 << 30,
            l1_bytes: 32 << 10,
            l2_bytes: 6 << 20,
            l3_bytes: 96 << 20,
            counter_hz: 100_000_000,
            ..GpuInfo::default()
        }
    }

    #[test]
    fn counts_follow_the_tables() {
        let node = node(&navi31(), 3, 4200, None).unwrap();
        let p = node.properties;
        assert_eq!({ p.NumFComputeCores }, 256);
        assert_eq!({ p.NumCUPerArray }, 16, "PR #10738: CUs over engines times arrays");
        assert_eq!({ p.KFDGpuID }, 4);
        assert_eq!(p.Capability.get(HSA_CAPABILITY::WatchPointsTotalBits), 2);
        assert_eq!(p.Capability.get(HSA_CAPABILITY::DoorbellType), 2);
        assert_eq!(p.Capability2.get(HSA_CAPABILITY2::AqlEmulationPm4_), 1);
        assert_eq!(&p.AMDName[..10], b"GFX0b0000\0");
        assert_eq!({ p.MaxSlotsScratchCU }, 32);
        assert_eq!({ p.WallClockKHz }, 100_000);
        assert_eq!(
            ({ p.NumMemoryBanks }, { p.NumCaches }, { p.NumIOLinks }),
            (node.banks.len() as u32, node.caches.len() as u32, node.links.len() as u32)
        );
        assert_eq!({ node.banks[0].SizeInBytes }, 24 << 30, "shared memory counts for APUs only");
        assert_eq!(node.caches.iter().map(|c| c.CacheSize).collect::<Vec<_>>(), [32, 6144, 98304]);
        assert_eq!({ node.links[0].Weight }, 20);
        assert_eq!(node.links[0].Flags.get(HSA_LINKPROPERTY::NoAtomics64bit), 1);
    }

    #[test]
    fn an_apu_counts_shared_memory_and_links_coherently() {
        let node = node(&GpuInfo { is_dgpu: false, ..navi31() }, 1, 0, None).unwrap();
        assert_eq!({ node.banks[0].SizeInBytes }, 32 << 30);
        assert_eq!(node.properties.Integrated, 1);
        assert_eq!({ node.links[0].IoLinkType }, HSA_IOLINK_TYPE_XGMI);
        assert_eq!(node.links[0].Flags.get(HSA_LINKPROPERTY::NonCoherent), 0);
    }

    #[test]
    fn an_override_stands_beside_the_real_version() {
        let other = GfxVersion { major: 10, minor: 3, stepping: 0 };
        let p = node(&navi31(), 1, 0, Some(other)).unwrap().properties;
        assert_eq!(p.EngineId.get(HSA_ENGINE_ID::Major), 11);
        assert_eq!(p.OverrideEngineId.get(HSA_ENGINE_ID::Major), 10);
        assert_eq!(p.OverrideEngineId.get(HSA_ENGINE_ID::Minor), 3);
        assert_eq!({ p.VGPRSizePerCU }, 0x60000);
    }

    #[test]
    fn zero_divisors_are_not_divided_by() {
        assert!(node(&GpuInfo { simd_per_cu: 0, ..navi31() }, 1, 0, None).is_err());
        let p = node(&GpuInfo { shader_engines: 0, ..navi31() }, 1, 0, None).unwrap().properties;
        assert_eq!({ p.NumCUPerArray }, 0);
        let p = node(&GpuInfo { watch_points: 0, ..navi31() }, 1, 0, None).unwrap().properties;
        assert_eq!(p.Capability.get(HSA_CAPABILITY::WatchPointsTotalBits), 0);
    }
}
