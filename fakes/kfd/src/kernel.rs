//! The driver's state, opens, and the way of an ioctl through the dispatch (kfd-kernel.md 2.1).

use std::collections::BTreeMap;
use std::path::Path;

use rocdxg_fake_gpu::Machine;

use crate::abi::{self, Block, Request};
use crate::errno::{Answer, Errno};
use crate::events::{Events, Fill, Wait};
use crate::gpu::{self, Gpu};
use crate::inject::{self, Plan};
use crate::memory::Buffer;
use crate::mmap::Stretch;
use crate::mode::Mode;

/// At most that many violations are kept in words.
const TEXTS: usize = 1000;

/// Opener of a file whose opener is gone; no thread group has this number.
const NOBODY: i32 = 0;

/// An open file description of a device node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u64);

/// What a descriptor number of the caller names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descriptor {
    /// Nothing.
    Closed,
    /// A file that is none of the fake's.
    Foreign,
    /// A device node of the fake's.
    Device(FileId),
}

/// The process that makes a call, as the front-end sees it.
pub trait Caller {
    /// Thread group.
    fn tgid(&self) -> i32;
    /// Reads the caller's memory; `false` when not all of it is accessible.
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool;
    /// Writes the caller's memory; `false` when not all of it is accessible.
    fn write(&self, address: u64, bytes: &[u8]) -> bool;
    /// Whether the driver can take these pages for a buffer (see [`crate::pinnable`]): EFAULT or EPERM when not.
    fn pin(&self, address: u64, bytes: u64) -> Answer;
    /// What a descriptor number names.
    fn descriptor(&self, fd: i32) -> Descriptor;
}

/// How a kernel is put together.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Whose rules are obeyed.
    pub mode: Mode,
    /// The GPUs, in topology order.
    pub gpus: Vec<Gpu>,
    /// Topology nodes, CPU and GPU together.
    pub topology_nodes: u32,
    /// System memory, in bytes.
    pub system_bytes: u64,
    /// The front-end's render nodes are regular files, so that libdrm asks GET_CLIENT, which a render node refuses
    /// (kfd-kernel.md rule 124).
    pub allow_get_client: bool,
    /// The front-end's nodes are regular files, whose mappings the system makes without asking the driver: offsets are
    /// such that a file has them, and each is given out once (see [`Kernel::stretch`]).
    pub file_offsets: bool,
}

impl Config {
    /// The driver of a machine.
    pub fn of_machine(machine: &Machine, mode: Mode) -> Self {
        let gpus = Gpu::of_machine(machine);
        let topology_nodes = machine.host.nodes + gpus.len() as u32;
        let system_bytes = u64::from(machine.host.nodes) * machine.host.bytes;
        Self { mode, gpus, topology_nodes, system_bytes, allow_get_client: false, file_offsets: false }
    }

    /// The driver of a captured tree; `topology` is the directory with `nodes`.
    pub fn of_tree(topology: &Path, mode: Mode) -> std::io::Result<Self> {
        let gpus = Gpu::of_tree(topology)?;
        let topology_nodes = gpu::numbered(&topology.join("nodes"))?.len() as u32;
        let system_bytes = gpu::system_bytes(topology)?;
        Ok(Self { mode, gpus, topology_nodes, system_bytes, allow_get_client: false, file_offsets: false })
    }
}

/// Kernel objects that are alive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Open files of `/dev/kfd`.
    pub kfd_opens: u64,
    /// Open files of render nodes, those included that only a bound VM keeps.
    pub render_opens: u64,
    /// Processes with KFD state; they live until the process ends (kfd-kernel.md 2.2).
    pub processes: u64,
    /// GPU address spaces bound by ACQUIRE_VM; they live as long.
    pub bound_vms: u64,
    /// Buffers of all GPUs.
    pub buffers: u64,
    /// Buffers in address spaces of GPUs, each counted for each GPU.
    pub mappings: u64,
    /// Events.
    pub events: u64,
}

#[derive(Debug)]
pub(crate) enum File {
    Kfd {
        /// Thread group that opened it.
        opener: i32,
    },
    Render {
        /// Index of the GPU.
        gpu: usize,
        /// Process whose compute VM it holds.
        vm: Option<i32>,
        /// Some descriptor is left.
        open: bool,
    },
}

/// KFD state of one process.
#[derive(Debug, Default)]
pub(crate) struct Process {
    /// Bound GPUs with the render file that holds the VM.
    pub(crate) bound: BTreeMap<usize, FileId>,
    /// Buffers by GPU and number.
    pub(crate) buffers: BTreeMap<usize, BTreeMap<u32, Buffer>>,
    /// Its events.
    pub(crate) events: Events,
    /// Retry faults are on.
    pub(crate) xnack: bool,
    /// RUNTIME_ENABLE is on.
    pub(crate) runtime: bool,
}

/// The driver.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) config: Config,
    pub(crate) files: BTreeMap<FileId, File>,
    pub(crate) processes: BTreeMap<i32, Process>,
    next_file: u64,
    /// Serial number of the next buffer.
    pub(crate) next_buffer: u64,
    /// Next free offset of each render node.
    pub(crate) offsets: BTreeMap<usize, u64>,
    /// What is to be written into mappings.
    pub(crate) fills: Vec<Fill>,
    /// Which part of `/dev/kfd` belongs to a process, with file offsets.
    pub(crate) windows: BTreeMap<i32, u64>,
    /// Number of the next such part.
    pub(crate) next_window: u64,
    /// Parts of files that show nothing any more.
    pub(crate) freed: Vec<Stretch>,
    /// Requests that are none of this driver's, and how often each was made.
    unknown: BTreeMap<u32, u64>,
    /// The wait that the current ioctl became.
    pub(crate) parked: Option<Wait>,
    plan: Plan,
    violations: Vec<String>,
    violation_count: u64,
}

/// One ioctl on its way: who, and the argument block.
pub(crate) struct Call<'a> {
    pub(crate) caller: &'a dyn Caller,
    pub(crate) name: &'static str,
    pub(crate) request: u32,
    pub(crate) args: Block,
    /// Where the caller's argument is.
    pub(crate) argument: u64,
}

/// How far an ioctl came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// It is over.
    Done(Answer),
    /// It sleeps: see [`Kernel::resume`].
    Asleep(Wait),
}

impl Kernel {
    /// A driver without any process.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            files: BTreeMap::new(),
            processes: BTreeMap::new(),
            next_file: 1,
            next_buffer: 1,
            offsets: BTreeMap::new(),
            fills: Vec::new(),
            windows: BTreeMap::new(),
            next_window: 0,
            freed: Vec::new(),
            unknown: BTreeMap::new(),
            parked: None,
            plan: Plan::default(),
            violations: Vec::new(),
            violation_count: 0,
        }
    }

    /// How it was put together.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Records what a client did against the contract.
    pub(crate) fn violate(&mut self, what: String) {
        self.violation_count += 1;
        if self.violations.len() < TEXTS {
            self.violations.push(what);
        }
    }

    /// Records a request that this driver does not have.
    pub(crate) fn unknown_request(&mut self, request: u32, what: String) {
        *self.unknown.entry(request).or_default() += 1;
        self.violate(what);
    }

    /// Requests that this driver does not have, and how often each was made.
    pub fn unknown(&self) -> &BTreeMap<u32, u64> {
        &self.unknown
    }

    /// What clients did against the contract, in order; the first thousand in words.
    pub fn violations(&self) -> &[String] {
        &self.violations
    }

    /// How many violations there were.
    pub fn violation_count(&self) -> u64 {
        self.violation_count
    }

    /// How often a call was made: an ioctl by its name without prefix, `OPEN`, `OPEN_RENDER`. `None` for a name that is
    /// no call.
    pub fn calls(&self, name: &str) -> Option<u64> {
        inject::call(name).map(|name| self.plan.count(name))
    }

    /// The calls that were made, by name, and how often.
    pub fn call_counts(&self) -> &BTreeMap<&'static str, u64> {
        self.plan.counts()
    }

    /// Makes the `k`-th call of a name (see [`Kernel::calls`]) from now fail without any effect, with 0 every one;
    /// `false` for a name that is no call.
    pub fn fail(&mut self, name: &str, k: u64, errno: Errno) -> bool {
        inject::call(name).map(|name| self.plan.add(name, k, errno)).is_some()
    }

    /// [`Kernel::fail`] by text: `NAME:k[:errno]`, comma-separated, the errno as name or number, EINVAL when left out.
    /// The error is the part that cannot be read.
    pub fn fail_text(&mut self, text: &str) -> Result<(), String> {
        self.plan.add_text(text)
    }

    /// What is alive.
    pub fn ledger(&self) -> Ledger {
        let count = |f: fn(&File) -> bool| self.files.values().filter(|file| f(file)).count() as u64;
        let buffers = || self.processes.values().flat_map(|p| p.buffers.values()).flat_map(BTreeMap::values);
        Ledger {
            buffers: buffers().count() as u64,
            events: self.processes.values().map(|p| p.events.count()).sum(),
            mappings: buffers().map(|b| b.mapped.len() as u64).sum(),
            kfd_opens: count(|f| matches!(f, File::Kfd { .. })),
            render_opens: count(|f| matches!(f, File::Render { .. })),
            processes: self.processes.len() as u64,
            bound_vms: self.processes.values().map(|p| p.bound.len() as u64).sum(),
        }
    }

    fn add(&mut self, file: File) -> FileId {
        let id = FileId(self.next_file);
        self.next_file += 1;
        self.files.insert(id, file);
        id
    }

    /// `open("/dev/kfd")`.
    ///
    /// Errors: EINVAL when the device cgroup leaves no GPU (7.2 only); what [`Kernel::fail`] asked for.
    pub fn open_kfd(&mut self, tgid: i32) -> Answer<FileId> {
        self.plan.next(inject::OPEN_KFD)?;
        if self.config.mode >= Mode::V7_2 && self.config.gpus.iter().all(|g| g.hidden) {
            return Err(Errno::EINVAL);
        }
        self.processes.entry(tgid).or_default();
        Ok(self.add(File::Kfd { opener: tgid }))
    }

    /// `open("/dev/dri/renderD<minor>")`.
    ///
    /// Errors: ENOENT without such a node, EPERM when the device cgroup denies it; what [`Kernel::fail`] asked for.
    pub fn open_render(&mut self, minor: u32) -> Answer<FileId> {
        let found = self.config.gpus.iter().position(|g| g.render_minor == minor);
        let gpu = found.ok_or(Errno::ENOENT)?;
        self.plan.next(inject::OPEN_RENDER)?;
        if self.config.gpus[gpu].hidden {
            return Err(Errno::EPERM);
        }
        Ok(self.add(File::Render { gpu, vm: None, open: true }))
    }

    /// The last descriptor of a file is gone. A bound VM keeps its render file (kfd-kernel.md 6).
    pub fn close(&mut self, file: FileId) {
        match self.files.get_mut(&file) {
            Some(File::Render { vm: Some(_), open, .. }) => *open = false,
            _ => {
                self.files.remove(&file);
            }
        }
    }

    /// A process ended or became another program: its state goes, and the files that only its VMs kept. Its descriptors
    /// are closed by the front-end; those that somebody still has belong to nobody.
    pub fn exit(&mut self, tgid: i32) {
        self.free_all(tgid);
        self.processes.remove(&tgid);
        self.files.retain(|_, file| match file {
            File::Render { vm, open, .. } if *vm == Some(tgid) => {
                *vm = None;
                *open
            }
            File::Kfd { opener } if *opener == tgid => {
                *opener = NOBODY;
                true
            }
            _ => true,
        });
    }

    /// The GPU of an id that the caller may use (kfd-kernel.md rule 11).
    pub(crate) fn gpu(&self, gpu_id: u32) -> Option<usize> {
        self.config.gpus.iter().position(|g| g.gpu_id == gpu_id && gpu_id != 0 && !g.hidden)
    }

    /// An ioctl on a file: its end, or that it sleeps.
    ///
    /// `request` is the second argument of `ioctl(2)`, `argument` the third.
    pub fn ioctl(&mut self, caller: &dyn Caller, file: FileId, request: u32, argument: u64) -> Reply {
        let answer = match self.files.get(&file) {
            None => Err(Errno::EBADF),
            Some(&File::Kfd { opener }) => self.kfd_ioctl(caller, opener, request, argument),
            Some(&File::Render { gpu, .. }) => self.drm_ioctl(caller, gpu, request, argument),
        };
        self.parked.take().map_or(Reply::Done(answer), Reply::Asleep)
    }

    fn kfd_ioctl(&mut self, caller: &dyn Caller, opener: i32, request: u32, argument: u64) -> Answer {
        let number = abi::number(request);
        let listed = abi::KFD.iter().find(|r| abi::number(r.code) == number);
        let Some(entry) = listed.filter(|_| number <= self.config.mode.last_number()) else {
            self.unknown_request(request, format!("request {request:#010x} is none of this kernel's"));
            return Err(Errno::ENOTTY);
        };
        if abi::without_size(request) != abi::without_size(entry.code) {
            self.violate(format!("{}: request {request:#010x}, not {:#010x}", entry.name, entry.code));
        }
        if opener != caller.tgid() {
            return Err(Errno::EBADF);
        }
        if entry.name == "CRIU_OP" {
            return Err(Errno::EACCES);
        }
        self.run(caller, entry, (request, entry.code), argument, Self::kfd_call)
    }

    /// Copies the argument in, runs the call, copies the argument out, also after a failure (kfd-kernel.md 2.1).
    ///
    /// The caller's request gives the size, `directions` which ways.
    pub(crate) fn run(
        &mut self,
        caller: &dyn Caller,
        entry: &'static Request,
        (request, directions): (u32, u32),
        argument: u64,
        handle: impl FnOnce(&mut Self, &mut Call<'_>) -> Answer,
    ) -> Answer {
        let bytes = abi::size(request);
        let mut block = vec![0; bytes.max(abi::size(entry.code))];
        if abi::reads(directions) && !caller.read(argument, &mut block[..bytes]) {
            self.violate(format!("{}: cannot read {bytes} bytes at {argument:#x}", entry.name));
            return Err(Errno::EFAULT);
        }
        let mut call = Call { caller, name: entry.name, request, args: Block(block), argument };
        let answer = match self.plan.next(entry.name) {
            Ok(()) => handle(self, &mut call),
            refused => refused,
        };
        if self.parked.is_some() {
            return answer;
        }
        if abi::writes(directions) && !caller.write(argument, &call.args.0[..bytes]) {
            self.violate(format!("{}: cannot write {bytes} bytes at {argument:#x}", entry.name));
            return Err(Errno::EFAULT);
        }
        answer
    }
}
