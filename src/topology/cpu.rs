//! CPUs: `/proc/cpuinfo` and the cache folders of sysfs (dxg.md 2.3, kfd.md 2.3 to 2.5).
//!
//! Reading never fails: whatever is missing or odd is replaced and remarked on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::abi::{HSA_HEAPTYPE_SYSTEM, HsaCacheProperties, HsaCacheType, HsaMemoryProperties, HsaNodeProperties};
use crate::platform::Node;
use crate::platform::host::{self, Host};
use crate::platform::name;
use crate::platform::notes::Notes;

pub use crate::platform::host::system_memory_bytes;

const CPUINFO: &str = "/proc/cpuinfo";
const NUMA: &str = "/sys/devices/system/node";
const CPUS: &str = "/sys/devices/system/cpu";

/// Bytes of `/proc/cpuinfo` that are read.
const MOST_CPUINFO: u64 = 16 << 20;

/// Caches of one CPU that are looked for.
const MOST_INDICES: u32 = 16;

/// CPUs that a list of siblings may name.
const MOST_SIBLINGS: usize = 1 << 16;

/// What is known of the CPUs of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpus {
    /// Logical CPUs; at least 1.
    count: u32,
    /// What `/proc/cpuinfo` says, by processor number.
    records: BTreeMap<u32, Record>,
    max_mhz: u32,
    /// NUMA nodes by number.
    numa: BTreeMap<u32, Numa>,
    /// What is odd about them.
    numa_remarks: Vec<String>,
}

/// One processor of `/proc/cpuinfo`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Record {
    apicid: Option<u32>,
    model: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Numa {
    cpus: Vec<u32>,
    caches: Arc<Vec<HsaCacheProperties>>,
}

impl Cpus {
    /// Reads what `host` says about its CPUs, and remarks on what it does not say.
    ///
    /// NUMA nodes and caches are those of `earlier`, read of the same host, where `/proc/cpuinfo` still lists the same
    /// processors: it has those that are online, and as long as they are, neither their caches nor who shares them change.
    pub fn read(host: &Host, earlier: Option<Self>) -> (Self, Vec<String>) {
        let mut notes = Notes::default();
        let mut cpus = Self::default();
        let text = host.read(CPUINFO, MOST_CPUINFO + 1);
        if let Ok(text) = &text {
            cpus.parse(text, &mut notes);
        }
        cpus.count = u32::try_from(cpus.records.len()).unwrap_or(u32::MAX);
        if cpus.count == 0 {
            cpus.count = host::online_processors();
            let why = text.map_or_else(|error| error.to_string(), |_| format!("{CPUINFO} names no processor"));
            notes.say(format!("{why}; {} are online", cpus.count));
        } else if cpus.records.values().any(|record| record.apicid.is_none()) {
            notes.say(format!("{CPUINFO}: processors without apicid are known by their processor number"));
        }
        if let Some(khz) = number(host, &format!("{CPUS}/cpu0/cpufreq/cpuinfo_max_freq")) {
            cpus.max_mhz = khz / 1000;
        }
        match earlier.filter(|earlier| !cpus.records.is_empty() && earlier.records == cpus.records) {
            Some(earlier) => (cpus.numa, cpus.numa_remarks) = (earlier.numa, earlier.numa_remarks),
            None => {
                let mut notes = Notes::default();
                cpus.find_numa(host, &mut notes);
                cpus.numa_remarks = notes.into_lines();
            }
        }
        let mut remarks = notes.into_lines();
        remarks.extend_from_slice(&cpus.numa_remarks);
        (cpus, remarks)
    }

    /// Logical CPUs; at least 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Highest clock in MHz; 0 when the machine does not say.
    pub fn max_mhz(&self) -> u32 {
        self.max_mhz
    }

    /// The one CPU node of a WSL machine (dxg.md 2.3 and 2.4): every CPU, every cache, all memory.
    pub fn node(&self, system_memory_bytes: u64) -> Node {
        let first = self.numa.values().flat_map(|numa| &numa.cpus).min().copied();
        let first = self.records.keys().next().copied().or(first).unwrap_or(0);
        let caches: Vec<_> = self.numa.values().flat_map(|numa| numa.caches.iter()).copied().collect();
        let mut properties = HsaNodeProperties {
            NumCPUCores: self.count,
            NumMemoryBanks: 1,
            NumCaches: caches.len() as u32,
            CComputeIdLo: self.apicid(first),
            MaxEngineClockMhzCCompute: self.max_mhz,
            ..HsaNodeProperties::ZERO
        };
        if let Some(record) = self.records.get(&first) {
            set_names(&mut properties, &record.model);
        }
        let bank = HsaMemoryProperties {
            HeapType: HSA_HEAPTYPE_SYSTEM,
            SizeInBytes: system_memory_bytes,
            Width: 64,
            MemoryClockMax: 2133,
            ..HsaMemoryProperties::ZERO
        };
        Node { properties, banks: vec![bank], caches: Arc::new(caches), links: Vec::new() }
    }

    /// The NUMA node that has the CPU with this APIC id, else the one at `position` among those with CPUs.
    pub fn numa_node(&self, apicid: u32, position: usize) -> Option<u32> {
        let mut with_cpus = self.numa.iter().filter(|(_, numa)| !numa.cpus.is_empty());
        let has_it = |numa: &Numa| numa.cpus.iter().any(|cpu| self.apicid(*cpu) == apicid);
        let by_id = with_cpus.clone().find(|(_, numa)| has_it(numa));
        by_id.or_else(|| with_cpus.nth(position)).map(|(id, _)| *id)
    }

    /// Gives a node that the kernel describes what it does not say of CPUs: names, and caches where it lists none.
    ///
    /// Names come from the CPU whose APIC id the node starts with; without one they stay empty (kfd.md 2.4).
    pub fn describe(&self, node: &mut Node, numa_node: u32) {
        if node.properties.NumCPUCores == 0 {
            return;
        }
        let first = node.properties.CComputeIdLo;
        let mut records = self.records.keys().filter(|cpu| self.apicid(**cpu) == first);
        if let Some(record) = records.next().and_then(|cpu| self.records.get(cpu)) {
            set_names(&mut node.properties, &record.model);
        }
        if node.caches.is_empty() && node.properties.KFDGpuID == 0 {
            node.caches = self.numa.get(&numa_node).map(|numa| Arc::clone(&numa.caches)).unwrap_or_default();
            node.properties.NumCaches = node.caches.len() as u32;
        }
    }

    /// APIC id of a processor; its number where the machine does not say.
    fn apicid(&self, cpu: u32) -> u32 {
        self.records.get(&cpu).and_then(|record| record.apicid).unwrap_or(cpu)
    }

    fn parse(&mut self, text: &[u8], notes: &mut Notes) {
        let cut = text.len() as u64 > MOST_CPUINFO;
        let mut text = text;
        if cut {
            notes.say(format!("{CPUINFO} has more than {MOST_CPUINFO} bytes: the rest is not read"));
            text = text.rsplitn(2, |b| *b == b'\n').nth(1).unwrap_or_default();
        }
        let mut current = None;
        for line in text.split(|b| *b == b'\n') {
            let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
            let (key, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
            let value = String::from_utf8_lossy(value);
            let odd = |notes: &mut Notes, key: &str| {
                let shown: String = value.chars().take(24).flat_map(char::escape_default).collect();
                notes.once(key, format!("{CPUINFO}: {key} \"{shown}\" is not a number"));
            };
            match key {
                b"processor" => {
                    current = value.parse().ok();
                    match current {
                        Some(cpu) if self.records.contains_key(&cpu) => {
                            notes.once("twice", format!("{CPUINFO}: processor {cpu} is there twice"));
                            current = None;
                        }
                        Some(cpu) => {
                            self.records.insert(cpu, Record::default());
                        }
                        None => odd(notes, "processor"),
                    }
                }
                b"cpu MHz" => {
                    let mhz = value.parse::<f64>().unwrap_or(0.0);
                    self.max_mhz = self.max_mhz.max(mhz as u32);
                }
                b"apicid" | b"model name" => {
                    let Some(record) = current.and_then(|cpu| self.records.get_mut(&cpu)) else { continue };
                    if key == b"model name" {
                        record.model = value.into_owned();
                    } else {
                        record.apicid = value.parse().ok();
                        if record.apicid.is_none() {
                            odd(notes, "apicid");
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Finds the NUMA nodes, or takes all CPUs as one where the kernel knows none (B045).
    fn find_numa(&mut self, host: &Host, notes: &mut Notes) {
        let list = |folder: &str, prefix: &str| host::numbered(&host.path(folder), prefix).map(|found| found.numbers);
        let nodes = list(NUMA, "node").unwrap_or_default();
        for node in nodes {
            let folder = format!("{NUMA}/node{node}");
            let cpus = list(&folder, "cpu").unwrap_or_default();
            let caches = Arc::new(self.caches(host, &folder, &cpus, notes));
            self.numa.insert(node, Numa { cpus, caches });
        }
        if self.numa.values().all(|numa| numa.cpus.is_empty()) {
            match list(CPUS, "cpu") {
                Ok(cpus) => {
                    let caches = Arc::new(self.caches(host, CPUS, &cpus, notes));
                    self.numa.insert(0, Numa { cpus, caches });
                }
                Err(error) => notes.say(format!("no CPU caches: {error}")),
            }
        }
    }

    /// The caches of `cpus`, whose folders are in `folder`: each once, at the first CPU that shares it.
    fn caches(&self, host: &Host, folder: &str, cpus: &[u32], notes: &mut Notes) -> Vec<HsaCacheProperties> {
        let mut caches = Vec::new();
        // (cache index, CPU) pairs that a cache of another CPU stands for: those files need not be opened.
        let mut covered = BTreeSet::new();
        for &cpu in cpus {
            for index in 0..MOST_INDICES {
                if covered.contains(&(index, cpu)) {
                    continue;
                }
                let cache = format!("{folder}/cpu{cpu}/cache/index{index}");
                let Some(level) = number(host, &format!("{cache}/level")) else { break };
                let siblings = siblings(host, &cache).unwrap_or_else(|| {
                    let line = format!("{cache} does not say who shares it: taken as private");
                    notes.once("siblings", line);
                    vec![cpu]
                });
                if siblings.first() != Some(&cpu) {
                    continue;
                }
                covered.extend(siblings.iter().map(|sibling| (index, *sibling)));
                caches.push(self.cache(host, &cache, cpu, level, &siblings, notes));
            }
        }
        caches
    }

    fn cache(
        &self,
        host: &Host,
        folder: &str,
        cpu: u32,
        level: u32,
        siblings: &[u32],
        notes: &mut Notes,
    ) -> HsaCacheProperties {
        let mut kind = HsaCacheType(0).with(HsaCacheType::CPU, 1);
        let text = text(host, &format!("{folder}/type")).unwrap_or_default();
        if matches!(text.as_str(), "Data" | "Unified") {
            kind = kind.with(HsaCacheType::Data, 1);
        }
        if matches!(text.as_str(), "Instruction" | "Unified") {
            kind = kind.with(HsaCacheType::Instruction, 1);
        }
        let size = self::text(host, &format!("{folder}/size")).and_then(|text| bytes(&text));
        if size.is_none() {
            notes.once("size", format!("{folder}/size is not a size: taken as 0"));
        }
        let mut map = [0; 256];
        for sibling in siblings.iter().filter(|cpu| self.records.is_empty() || self.records.contains_key(cpu)) {
            if let Some(entry) = map.get_mut(self.apicid(*sibling) as usize) {
                *entry = 1;
            }
        }
        HsaCacheProperties {
            ProcessorIdLow: self.apicid(cpu),
            CacheLevel: level,
            CacheSize: size.unwrap_or(0),
            CacheLineSize: number(host, &format!("{folder}/coherency_line_size")).unwrap_or(0),
            CacheLinesPerTag: number(host, &format!("{folder}/physical_line_partition")).unwrap_or(0),
            CacheAssociativity: number(host, &format!("{folder}/ways_of_associativity")).unwrap_or(0),
            CacheType: kind,
            SiblingMap: map,
            ..HsaCacheProperties::ZERO
        }
    }
}

/// The text of a small sysfs file, without blanks around it.
fn text(host: &Host, path: &str) -> Option<String> {
    let bytes = host.read_attribute(path, 64 << 10).ok()?;
    Some(std::str::from_utf8(&bytes).ok()?.trim().to_owned())
}

fn number(host: &Host, path: &str) -> Option<u32> {
    text(host, path)?.parse().ok()
}

/// A size with an optional suffix K, M or G, in bytes.
fn bytes(text: &str) -> Option<u32> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u32>().ok()?.checked_mul(1 << shift)
}

/// The CPUs that share a cache, in rising order.
fn siblings(host: &Host, cache: &str) -> Option<Vec<u32>> {
    let list = text(host, &format!("{cache}/shared_cpu_list")).and_then(|list| parse_list(&list));
    list.or_else(|| parse_map(&text(host, &format!("{cache}/shared_cpu_map"))?))
}

/// CPU numbers and ranges between commas: "0-3,8".
fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = BTreeSet::new();
    for item in text.split(',') {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if last < first || (last - first) as usize >= MOST_SIBLINGS - cpus.len() {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus.into_iter().collect())
}

/// 32-bit groups in hexadecimal, the highest CPUs first: "00000001,000000ff".
fn parse_map(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for (group, word) in text.rsplit(',').enumerate().take(MOST_SIBLINGS / 32) {
        let word = u32::from_str_radix(word, 16).ok()?;
        cpus.extend((0..32).filter(|bit| word >> bit & 1 == 1).map(|bit| group as u32 * 32 + bit));
    }
    (!cpus.is_empty()).then_some(cpus)
}

/// Both names of a CPU node; `AMDName` is left to the GPU where there is one.
fn set_names(properties: &mut HsaNodeProperties, model: &str) {
    properties.MarketingName = name::wide(model);
    if properties.DeviceId == 0 {
        properties.AMDName = name::ascii(model);
    }
}
