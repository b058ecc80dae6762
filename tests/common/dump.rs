//! A snapshot as JSON that a person can check: one line per node, bank, run of equal caches, run of equal links.
//!
//! Fields that are 0 are left out. Runs lose nothing but the sibling map and processor ids of caches, which are summed.

use std::fmt::Write as _;

use rocdxg::abi::{HsaCacheProperties, HsaIoLinkProperties, HsaNodeProperties};
use rocdxg::topology::Snapshot;
use serde_json::{Map, Value, json};

macro_rules! fields {
    ($of:expr, $($field:ident $(. $word:tt)?),* $(,)?) => {{
        let mut map = Map::new();
        $(
            let value = $of.$field$(.$word)?;
            if value != 0 {
                map.insert(stringify!($field).to_owned(), json!(value));
            }
        )*
        map
    }};
}

/// The snapshot as text.
pub fn dump(snapshot: &Snapshot) -> String {
    let system = snapshot.system;
    let mut out = String::from("{\n");
    let system = fields!(system, NumNodes, PlatformOem, PlatformId, PlatformRev);
    writeln!(out, "\"system\": {},", sorted(Value::Object(system))).unwrap();
    let nodes = snapshot.nodes.iter().enumerate().map(|(index, node)| {
        let banks = node.banks.iter().map(|bank| {
            json!(fields!(bank, HeapType.0, SizeInBytes, Flags.0, Width, MemoryClockMax, VirtualBaseAddress))
        });
        format!(
            "{{\"node\": {index}, \"properties\": {},\n  \"banks\": {},\n  \"caches\": {},\n  \"links\": {}}}",
            sorted(Value::Object(properties(&node.properties))),
            lines(banks.collect()),
            lines(caches(&node.caches)),
            lines(links(&node.links)),
        )
    });
    writeln!(out, "\"nodes\": [\n{}\n],", nodes.collect::<Vec<_>>().join(",\n")).unwrap();
    let skipped = snapshot.skipped.iter().map(|s| json!({"what": s.what, "reason": s.reason, "expected": s.expected}));
    writeln!(out, "\"skipped\": {},", lines(skipped.collect())).unwrap();
    writeln!(out, "\"remarks\": {}", lines(snapshot.remarks.iter().map(|r| json!(r)).collect())).unwrap();
    out + "}\n"
}

/// Keys in order, whatever other packages of the build ask of serde_json.
fn sorted(mut value: Value) -> Value {
    value.sort_all_objects();
    value
}

fn lines(values: Vec<Value>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| sorted(value).to_string()).collect();
    if values.is_empty() { "[]".to_owned() } else { format!("[\n    {}]", values.join(",\n    ")) }
}

fn properties(p: &HsaNodeProperties) -> Map<String, Value> {
    #[rustfmt::skip]
    let mut map = fields!(
        p, NumCPUCores, NumFComputeCores, NumNeuralCores, NumMemoryBanks, NumCaches, NumIOLinks, CComputeIdLo,
        FComputeIdLo, Capability.0, Capability2.0, MaxWavesPerSIMD, LDSSizeInKB, GDSSizeInKB, WaveFrontSize,
        NumShaderBanks, NumArrays, NumCUPerArray, NumSIMDPerCU, MaxSlotsScratchCU, EngineId.0, OverrideEngineId.0,
        VendorId, DeviceId, LocationId, LocalMemSize, MaxEngineClockMhzFCompute, MaxEngineClockMhzCCompute,
        DrmRenderMinor, uCodeEngineVersions.0, DebugProperties.0, HiveID, NumSdmaEngines, NumSdmaXgmiEngines,
        NumSdmaQueuesPerEngine, NumCpQueues, NumGws, Integrated, Domain, UniqueID, VGPRSizePerCU, SGPRSizePerCU,
        NumXcc, KFDGpuID, FamilyID, CwsrSize, CtlStackSize, LuidLowPart, LuidHighPart, WallClockKHz,
        FabricHandleSupported,
    );
    let units = { p.MarketingName };
    let marketing = String::from_utf16_lossy(&units).trim_end_matches('\0').to_owned();
    let amd = String::from_utf8_lossy(&p.AMDName).trim_end_matches('\0').to_owned();
    for (key, text) in [("MarketingName", marketing), ("AMDName", amd)] {
        if !text.is_empty() {
            map.insert(key.to_owned(), json!(text));
        }
    }
    map
}

fn caches(caches: &[HsaCacheProperties]) -> Vec<Value> {
    let mut runs: Vec<(Map<String, Value>, u64, u64, u64)> = Vec::new();
    for cache in caches {
        #[rustfmt::skip]
        let key = fields!(
            cache, CacheLevel, CacheSize, CacheLineSize, CacheLinesPerTag, CacheAssociativity, CacheLatency,
            CacheType.0, PersistingCacheSizeMax,
        );
        let siblings: u64 = { cache.SiblingMap }.iter().map(|s| u64::from(*s)).sum();
        match runs.last_mut() {
            Some((last, count, processors, sum)) if *last == key => {
                *count += 1;
                *processors += u64::from(cache.ProcessorIdLow);
                *sum += siblings;
            }
            _ => runs.push((key, 1, u64::from(cache.ProcessorIdLow), siblings)),
        }
    }
    let value = |(mut map, count, processors, siblings): (Map<String, Value>, u64, u64, u64)| {
        map.insert("Count".into(), json!(count));
        map.insert("SumOfProcessorIdLow".into(), json!(processors));
        map.insert("SumOfSiblings".into(), json!(siblings));
        Value::Object(map)
    };
    runs.into_iter().map(value).collect()
}

fn links(links: &[HsaIoLinkProperties]) -> Vec<Value> {
    let mut runs: Vec<(Map<String, Value>, Vec<u32>)> = Vec::new();
    for link in links {
        #[rustfmt::skip]
        let key = fields!(
            link, IoLinkType.0, VersionMajor, VersionMinor, NodeFrom, Weight, MinimumLatency, MaximumLatency,
            MinimumBandwidth, MaximumBandwidth, RecTransferSize, RecSdmaEngIdMask, Flags.0,
        );
        match runs.last_mut() {
            Some((last, targets)) if *last == key => targets.push(link.NodeTo),
            _ => runs.push((key, vec![link.NodeTo])),
        }
    }
    let value = |(mut map, targets): (Map<String, Value>, Vec<u32>)| {
        map.insert("NodeTo".into(), json!(targets));
        Value::Object(map)
    };
    runs.into_iter().map(value).collect()
}
