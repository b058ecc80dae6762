//! Reads a KFD topology tree: which nodes there are, what they have, how they are linked (kfd.md 2.1 to 2.5).
//!
//! Works on any folder that looks like `/sys/devices/virtual/kfd/kfd/topology` and opens no device: whether a GPU
//! may be used is asked of a [`Visibility`]. A fault in the files of a GPU costs that GPU and is named in
//! [`Discovery::skipped`]; a fault in what every process needs (root files, CPU nodes) is an error.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::super::file::Identity;
use super::super::notes::Notes;
use super::super::{Discovery, Node, Options, Skipped, host};
use super::records::{self, NodeRecord};
use super::values::{Entry, MOST_BYTES, decimal, shown};
use super::{Error, derive, is_shortage};
use crate::abi::{HsaCacheProperties, HsaIoLinkProperties, HsaMemoryProperties, HsaSystemProperties};

/// Reads of a tree that changes meanwhile (kfd.md 7, defect 12), with pauses of 1, 2, 4 ... ms between them.
const TRIES: u32 = 8;

/// Nodes of a tree that are read; the rest is skipped. Many times what a kernel can have.
const MOST_NODES: usize = 1024;

/// How complete a tree must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tolerance {
    /// The kernel's own tree: every file that is announced must be there.
    Live,
    /// A copy of one: what is absent is remarked on, and counts are those of what was found.
    Capture,
}

/// A GPU node whose use is in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Number of the node in the tree.
    pub sysfs_node: u32,
    /// The kernel's id of the GPU; 0 where a capture has none.
    pub gpu_id: u32,
    /// Minor number of its render node; at least 1 in [`Tolerance::Live`].
    pub render_minor: u32,
}

/// Whether a GPU node is a node for this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// It is.
    Visible,
    /// It is not.
    Hidden {
        /// Why, in a few words.
        reason: String,
        /// The process should have been able to use it.
        expected: bool,
    },
}

/// Decides which GPU nodes are visible, for instance by opening their render nodes (kfd.md 2.2).
///
/// It is asked once per GPU node in each try to read the tree, so answers that cost something are worth keeping.
pub trait Visibility {
    /// Looks at one GPU. An error ends the whole read.
    fn look(&self, gpu: &Candidate) -> Result<Sight, Error>;
}

/// Every node is visible: for captures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Everything;

impl Visibility for Everything {
    fn look(&self, _: &Candidate) -> Result<Sight, Error> {
        Ok(Sight::Visible)
    }
}

/// Banks, caches and links of the nodes of a live tree, kept for the next snapshot of the same process: a GPU has
/// hundreds of such files. Clones share what they know.
///
/// They are those of the tree as long as its `generation_id` is the same file with the same number, which the kernel
/// raises with every change of the tree. What it decides anew at each read, who may see which GPU, is not kept: `gpu_id`
/// and `properties` of every node are always read.
#[derive(Debug, Clone, Default)]
pub struct Recall(Arc<Mutex<Known>>);

impl Recall {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a [`Recall`] knows.
#[derive(Debug, Default)]
struct Known {
    stamp: Option<Stamp>,
    /// By number of the node in the tree: what its `gpu_id` and `properties` announced, and what was found.
    nodes: BTreeMap<u32, (Announced, Lists)>,
}

impl Known {
    /// Forgets what another tree or another generation of it had.
    fn renew(&mut self, stamp: Stamp) {
        if self.stamp != Some(stamp) {
            *self = Self { stamp: Some(stamp), ..Self::default() };
        }
    }
}

/// One generation of one tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    /// The file `generation_id`. A driver that is loaded anew counts from the start, in another file.
    file: Identity,
    generation: u64,
}

/// What a node says that its lists are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Announced {
    gpu_id: u32,
    banks: u32,
    caches: u32,
    io_links: u32,
    p2p_links: u32,
}

/// The lists of a node; links name nodes of the tree.
#[derive(Debug, Clone, Default)]
struct Lists {
    banks: Vec<HsaMemoryProperties>,
    caches: Arc<Vec<HsaCacheProperties>>,
    links: Vec<HsaIoLinkProperties>,
    /// What was said of them.
    remarks: Vec<String>,
}

/// Reads the tree whose folder `nodes` is in `tree`. No device is opened; [`Discovery::devices`] is empty.
///
/// Nodes are numbered densely in the order of the tree, without those that are hidden or skipped; links to these
/// are dropped. Each file is opened at most once per try, and not at all where [`Options::recall`] knows what is in it.
/// Errors: the files of the root or of a CPU node cannot be read or
/// make no sense, or the tree changes each time it is read.
pub fn read(
    tree: &Path,
    options: &Options,
    visibility: &dyn Visibility,
    tolerance: Tolerance,
) -> Result<Discovery, Error> {
    let read = |known: &mut Known| {
        let (notes, skipped, listed) = Default::default();
        Reader { tree, options, visibility, tolerance, known, notes, skipped, listed }.read()
    };
    if tolerance == Tolerance::Capture {
        return Ok(read(&mut Known::default())?.discovery);
    }
    // Taken out: no lock is held while files are read.
    let mut known = std::mem::take(&mut *options.recall.known());
    let discovery = settled(tree, read, &mut known);
    *options.recall.known() = known;
    discovery
}

/// Reads the tree again until nothing of it changed meanwhile.
fn settled(
    tree: &Path,
    read: impl Fn(&mut Known) -> Result<Reading, Error>,
    known: &mut Known,
) -> Result<Discovery, Error> {
    let generation = Generation::open(tree)?;
    for attempt in 0..TRIES {
        if attempt > 0 {
            thread::sleep(Duration::from_millis(1 << (attempt - 1)));
        }
        let before = generation.number()?;
        known.renew(Stamp { file: generation.identity, generation: before });
        let outcome = read(known);
        if generation.number()? != before {
            continue;
        }
        // The kernel takes the tree down before it counts the change: what is not there may be there in a moment.
        let vanished = match &outcome {
            Ok(reading) => reading.vanished,
            Err(error) => vanished(error),
        };
        if !vanished || attempt + 1 == TRIES {
            return Ok(outcome?.discovery);
        }
    }
    Err(Error::Unsettled { path: tree.to_owned(), tries: TRIES })
}

/// `generation_id`, opened once and read anew each time.
struct Generation {
    file: File,
    identity: Identity,
    path: PathBuf,
}

impl Generation {
    fn open(tree: &Path) -> Result<Self, Error> {
        let path = tree.join("generation_id");
        let opened = File::open(&path).and_then(|file| {
            let identity = Identity::of(file.as_raw_fd()).ok_or_else(std::io::Error::last_os_error)?;
            Ok((file, identity))
        });
        match opened {
            Ok((file, identity)) => Ok(Self { file, identity, path }),
            Err(source) => Err(host::Error { path, source }.into()),
        }
    }

    fn number(&self) -> Result<u64, Error> {
        let mut text = [0; 32];
        let count =
            self.file.read_at(&mut text, 0).map_err(|source| host::Error { path: self.path.clone(), source })?;
        number(&text[..count]).map_err(|what| Error::Malformed { path: self.path.clone(), what })
    }
}

/// The number that a file consists of.
fn number(text: &[u8]) -> Result<u64, String> {
    let text = text.trim_ascii();
    decimal(text).ok_or_else(|| format!("{} is not a decimal number", shown(text)))
}

/// The file was there, or may have been, a moment ago.
fn vanished(error: &Error) -> bool {
    matches!(error.errno(), Some(libc::ENOENT | libc::ENODEV))
}

/// What one try gave.
struct Reading {
    discovery: Discovery,
    /// A node was skipped because a file of it was not there.
    vanished: bool,
}

/// One try to read a tree.
struct Reader<'a> {
    tree: &'a Path,
    options: &'a Options,
    visibility: &'a dyn Visibility,
    tolerance: Tolerance,
    known: &'a mut Known,
    notes: Notes,
    skipped: Vec<Skipped>,
    /// Every node of the tree.
    listed: Vec<u32>,
}

/// A node as the tree has it: its links name nodes of the tree.
struct Draft {
    sysfs_node: u32,
    gpu_id: u32,
    record: NodeRecord,
    lists: Lists,
}

/// Why a node of the tree is not one of ours.
enum Fault {
    /// It is not for this process.
    Hidden { reason: String, expected: bool },
    /// Its files cannot be read or make no sense.
    File(Error),
    /// Nothing more can be read.
    Fatal(Error),
}

impl<E: Into<Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::File(error.into())
    }
}

impl Fault {
    /// What a `gpu_id` that cannot be read means: the device cgroup of this process does not have the GPU (EPERM,
    /// which is nobody's mistake), or file permissions keep it away (EACCES); anything else concerns the tree.
    fn of_gpu_id(error: host::Error) -> Self {
        match error.source.raw_os_error() {
            Some(libc::EPERM) => Self::Hidden { reason: error.to_string(), expected: false },
            Some(libc::EACCES) => Self::Hidden { reason: error.to_string(), expected: true },
            _ => Self::Fatal(error.into()),
        }
    }
}

impl Reader<'_> {
    fn read(mut self) -> Result<Reading, Error> {
        let mut system = HsaSystemProperties::ZERO;
        if let Some(text) = self.file("system_properties", "system_properties")? {
            let text = self.whole_lines("system_properties", &text);
            system = records::system("system_properties", text, &mut self.notes);
        }
        if self.tolerance == Tolerance::Capture {
            self.file("generation_id", "generation_id")?;
        }
        let (mut drafts, mut vanished_any) = (Vec::new(), false);
        for node in self.list_nodes()? {
            let (gpu_id, draft) = match self.gpu_id(node) {
                Ok(gpu_id) => (gpu_id, self.draft(node, gpu_id)),
                Err(fault) => (None, Err(fault)),
            };
            let is_gpu = gpu_id.unwrap_or(0) != 0;
            match draft {
                Ok(draft) => drafts.push(draft),
                Err(Fault::Hidden { reason, expected }) => self.skip(node, gpu_id, reason, expected),
                Err(Fault::File(error)) if error.errno().is_some_and(is_shortage) => return Err(error),
                Err(Fault::File(error)) if is_gpu || self.tolerance == Tolerance::Capture => {
                    vanished_any |= vanished(&error);
                    let denied = error.errno() == Some(libc::EPERM);
                    self.skip(node, gpu_id, error.to_string(), !denied);
                }
                Err(Fault::File(error) | Fault::Fatal(error)) => return Err(error),
            }
        }
        let lacks_indirect_links = !drafts.iter().any(|draft| draft.record.p2p_links.is_some());
        let nodes = self.number(drafts);
        let discovery = Discovery {
            system,
            nodes,
            lacks_indirect_links,
            skipped: self.skipped,
            remarks: self.notes.into_lines(),
            ..Discovery::default()
        };
        Ok(Reading { discovery, vanished: vanished_any })
    }

    fn skip(&mut self, node: u32, gpu_id: Option<u32>, reason: String, expected: bool) {
        let what = match gpu_id {
            None | Some(0) => format!("nodes/{node}"),
            Some(gpu_id) => format!("nodes/{node} (gpu_id {gpu_id})"),
        };
        self.skipped.push(Skipped { what, reason, expected });
    }

    /// The text of `file`; `None` where a capture does not have it. `kind` groups what is absent.
    fn file(&mut self, file: &str, kind: &str) -> Result<Option<Vec<u8>>, host::Error> {
        match host::read_attribute(&self.tree.join(file), MOST_BYTES as u64 + 1) {
            Ok(text) => Ok(Some(text)),
            Err(error) if self.tolerance == Tolerance::Live => Err(error),
            Err(error) => {
                if absent(&error) {
                    self.notes.once(kind, format!("{file} is absent in this capture"));
                } else {
                    self.notes.say(format!("{error}: left out"));
                }
                Ok(None)
            }
        }
    }

    /// `text` up to the last line end. The kernel ends every line, so what lies behind was cut off while it was read;
    /// captures may have been made by hand.
    fn whole_lines<'t>(&mut self, file: &str, text: &'t [u8]) -> &'t [u8] {
        let end = text.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
        if end == text.len() || self.tolerance == Tolerance::Capture {
            return text;
        }
        self.notes.incomplete(format!("{file} ends in the middle of a line, which is left out"));
        &text[..end]
    }

    /// The numbers under `nodes`. Gaps are allowed (B048).
    fn list_nodes(&mut self) -> Result<Vec<u32>, Error> {
        let found = host::numbered(&self.tree.join("nodes"), "")?;
        if found.others > 0 {
            self.notes.say(format!("nodes has {} entries that are not node numbers", found.others));
        }
        self.listed = found.numbers;
        if let Some(first) = self.listed.get(MOST_NODES) {
            let reason = format!("there are {} nodes and {MOST_NODES} are read", self.listed.len());
            self.skipped.push(Skipped { what: format!("nodes/{first} and beyond"), reason, expected: true });
        }
        Ok(self.listed.iter().copied().take(MOST_NODES).collect())
    }

    /// `gpu_id` of a node: 0 for a CPU, `None` where a capture does not say.
    fn gpu_id(&mut self, node: u32) -> Result<Option<u32>, Fault> {
        let file = format!("nodes/{node}/gpu_id");
        let Some(text) = self.file(&file, "gpu_id").map_err(Fault::of_gpu_id)? else { return Ok(None) };
        let id = number(&text).and_then(|id| u32::try_from(id).map_err(|_| format!("{id} is not a 32-bit number")));
        match (id, self.tolerance) {
            (Ok(id), _) => Ok(Some(id)),
            (Err(what), Tolerance::Live) => Err(Fault::Fatal(Error::Malformed { path: self.tree.join(file), what })),
            (Err(what), Tolerance::Capture) => {
                self.notes.say(format!("{file}: {what}, taken as absent"));
                Ok(None)
            }
        }
    }

    /// Reads everything about a node.
    fn draft(&mut self, node: u32, gpu_id: Option<u32>) -> Result<Draft, Fault> {
        let file = format!("nodes/{node}/properties");
        let path = self.tree.join(&file);
        let text = host::read_attribute(&path, MOST_BYTES as u64 + 1)?;
        let record = records::node(&file, self.whole_lines(&file, &text), &mut self.notes);
        let malformed = |what: &str| Fault::File(Error::Malformed { path: path.clone(), what: what.to_owned() });
        let gpu_id = gpu_id.unwrap_or(0);
        match (record.simd_count, record.cpu_cores_count) {
            (Entry::Malformed, _) => return Err(malformed("simd_count is not a number")),
            (Entry::Absent, _) if gpu_id != 0 => return Err(malformed("simd_count is missing")),
            (Entry::Absent, Entry::Absent) => {
                return Err(malformed("neither cpu_cores_count nor simd_count is there"));
            }
            _ => {}
        }
        if gpu_id != 0 || record.properties.NumFComputeCores != 0 {
            let render_minor = record.properties.DrmRenderMinor as u32;
            if self.tolerance == Tolerance::Live && gpu_id != 0 && render_minor == 0 {
                return Err(malformed("drm_render_minor is missing"));
            }
            let candidate = Candidate { sysfs_node: node, gpu_id, render_minor };
            match self.visibility.look(&candidate).map_err(Fault::Fatal)? {
                Sight::Visible => {}
                Sight::Hidden { reason, expected } => return Err(Fault::Hidden { reason, expected }),
            }
        }
        let announced = Announced {
            gpu_id,
            banks: record.banks,
            caches: record.caches,
            io_links: record.io_links,
            p2p_links: record.p2p_links.unwrap_or(0),
        };
        let lists = match self.known.nodes.get(&node) {
            Some((of, lists)) if *of == announced => {
                lists.remarks.iter().for_each(|line| self.notes.say(line.as_str()));
                lists.clone()
            }
            _ => self.lists(node, announced)?,
        };
        Ok(Draft { sysfs_node: node, gpu_id, record, lists })
    }

    /// Reads the lists of a node, and keeps them unless something is missing: links that this process may not see, the
    /// end of a file, or remarks beyond their limit.
    fn lists(&mut self, node: u32, announced: Announced) -> Result<Lists, Fault> {
        let begin = self.notes.mark();
        let mut lists = Lists::default();
        self.list(node, "mem_banks", announced.banks, |file, text, notes| {
            lists.banks.push(records::bank(file, text, notes));
        })?;
        // As much room as real GPUs need, whatever is announced.
        let mut caches = Vec::with_capacity(announced.caches.min(256) as usize);
        self.list(node, "caches", announced.caches, |file, text, notes| {
            caches.push(records::cache(file, text, notes));
        })?;
        caches.shrink_to_fit();
        lists.caches = Arc::new(caches);
        let mut link = |file: &str, text: &[u8], notes: &mut Notes| {
            let Some(link) = records::link(file, text, notes) else { return };
            if link.NodeFrom == node {
                lists.links.push(link);
            } else {
                notes.say(format!("{file} starts at node {}: the link is dropped", { link.NodeFrom }));
            }
        };
        self.list(node, "io_links", announced.io_links, &mut link)?;
        self.list(node, "p2p_links", announced.p2p_links, &mut link)?;
        let links = u64::from(announced.io_links) + u64::from(announced.p2p_links);
        if let Some(remarks) = self.notes.since(begin)
            && lists.links.len() as u64 == links
        {
            lists.remarks = remarks;
            self.known.nodes.insert(node, (announced, lists.clone()));
        }
        Ok(lists)
    }

    /// Reads the `count` entries of the folder `list` of a node.
    fn list(
        &mut self,
        node: u32,
        list: &str,
        count: u32,
        mut entry: impl FnMut(&str, &[u8], &mut Notes),
    ) -> Result<(), Fault> {
        let entries: Box<dyn Iterator<Item = u32>> = match self.tolerance {
            Tolerance::Live => Box::new(0..count),
            Tolerance::Capture => Box::new(self.found(node, list, count).into_iter()),
        };
        for index in entries {
            let file = format!("nodes/{node}/{list}/{index}/properties");
            let text = match self.file(&file, list) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                // The link belongs to a GPU that is hidden from this process (kfd.md 6).
                Err(e) if list.ends_with("links") && e.source.raw_os_error() == Some(libc::EPERM) => continue,
                Err(e) => return Err(e.into()),
            };
            let text = self.whole_lines(&file, &text);
            if !text.is_empty() {
                entry(&file, text, &mut self.notes);
            } else if self.tolerance == Tolerance::Capture {
                self.notes.say(format!("{file} is empty: left out"));
            } else {
                return Err(Error::Malformed { path: self.tree.join(file), what: "is empty".into() }.into());
            }
        }
        Ok(())
    }

    /// What a capture has of a list that should have `count` entries.
    fn found(&mut self, node: u32, list: &str, count: u32) -> Vec<u32> {
        let folder = format!("nodes/{node}/{list}");
        match host::numbered(&self.tree.join(&folder), "") {
            Ok(found) => {
                if found.numbers.len() as u64 != u64::from(count) {
                    let line = format!("{folder} has {} entries, {count} are announced", found.numbers.len());
                    self.notes.once(&format!("{list} count"), line);
                }
                found.numbers
            }
            Err(error) if absent(&error) => {
                if count > 0 {
                    self.notes.once(list, format!("{folder} is absent in this capture"));
                }
                Vec::new()
            }
            Err(error) => {
                self.notes.say(format!("{error}: left out"));
                Vec::new()
            }
        }
    }

    /// Drops what cannot be a node after all, numbers the rest and completes it.
    fn number(&mut self, drafts: Vec<Draft>) -> Vec<Node> {
        let mut kept: Vec<(Draft, Node)> = Vec::new();
        for draft in drafts {
            let twin = kept.iter().find(|(other, _)| draft.gpu_id != 0 && other.gpu_id == draft.gpu_id);
            let outcome = match twin {
                Some((other, _)) => Err(format!("nodes/{} has the same gpu_id", other.sysfs_node)),
                None => self.complete(&draft, kept.len() as u32),
            };
            match outcome {
                Ok(node) => kept.push((draft, node)),
                Err(reason) => self.skip(draft.sysfs_node, Some(draft.gpu_id), reason, true),
            }
        }
        let numbers: Vec<u32> = kept.iter().map(|(draft, _)| draft.sysfs_node).collect();
        let mut nodes = Vec::new();
        for (from, (draft, mut node)) in kept.into_iter().enumerate() {
            for mut link in draft.lists.links {
                let target = link.NodeTo;
                if let Ok(to) = numbers.binary_search(&target) {
                    (link.NodeFrom, link.NodeTo) = (from as u32, to as u32);
                    node.links.push(link);
                } else if self.listed.binary_search(&target).is_err() {
                    // One that is listed is hidden or skipped, and named as such.
                    let from = draft.sysfs_node;
                    self.notes.say(format!("a link of nodes/{from} leads to nodes/{target}, which is not there"));
                }
            }
            (node.banks, node.caches) = (draft.lists.banks, draft.lists.caches);
            node.properties.NumMemoryBanks = node.banks.len() as u32;
            node.properties.NumCaches = node.caches.len() as u32;
            node.properties.NumIOLinks = node.links.len() as u32;
            nodes.push(node);
        }
        nodes
    }

    /// The properties of a draft as node `number`; the error is why there can be none.
    fn complete(&mut self, draft: &Draft, number: u32) -> Result<Node, String> {
        let mut properties = draft.record.properties;
        if properties.NumFComputeCores != 0 {
            let device_id = properties.DeviceId;
            let per_node = self.options.gfx_override_per_node.get(&number).copied();
            let wanted = per_node.or(self.options.gfx_override);
            let (gfx, name) = match (derive::identify(device_id, draft.record.gfx), wanted) {
                (Some(known), _) => known,
                (None, Some(wanted)) => {
                    let node = draft.sysfs_node;
                    self.notes.say(format!("nodes/{node}: graphics version unknown, taken from the override"));
                    (wanted, super::super::name::numbered(wanted))
                }
                (None, None) => {
                    return Err(format!(
                        "device {device_id:#06x} is not known and the kernel names no gfx_target_version; \
                         HSA_OVERRIDE_GFX_VERSION can"
                    ));
                }
            };
            properties = derive::gpu(&draft.record, gfx, &name);
            if let Some(wanted) = wanted {
                properties.OverrideEngineId = wanted.in_engine_id(properties.OverrideEngineId);
            }
        }
        if !self.options.use_svm {
            properties.Capability = derive::without_svm(properties.Capability);
        }
        properties.KFDGpuID = draft.gpu_id;
        Ok(Node { properties, ..Node::default() })
    }
}

/// The file or its folder is not there.
fn absent(error: &host::Error) -> bool {
    matches!(error.source.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_id_that_is_denied_hides_its_node_and_anything_else_is_an_error() {
        let fault = |errno| {
            Fault::of_gpu_id(host::Error {
                path: PathBuf::from("nodes/1/gpu_id"),
                source: std::io::Error::from_raw_os_error(errno),
            })
        };
        assert!(matches!(fault(libc::EPERM), Fault::Hidden { expected: false, .. }), "device cgroup");
        assert!(matches!(fault(libc::EACCES), Fault::Hidden { expected: true, .. }), "file permissions");
        for errno in [libc::ENOENT, libc::EIO, libc::ENODEV, libc::EMFILE] {
            assert!(matches!(fault(errno), Fault::Fatal(_)), "{errno}");
        }
    }
}
