//! Answers the calls of the program: which open file of a device each is for, the driver's answer, sleeping waits, ends.
//!
//! Every node is one regular file, and opens are not seen: an open file description is met at its first ioctl, or when
//! a program that has it ends. From then on the supervisor has a descriptor of it too, with which the kernel compares
//! (kcmp) those that calls name. Touches the processes of the program through `target`, and the files of the devices.

use std::collections::HashMap;
use std::fs::File;
use std::io::Result;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rocdxg_fake_kfd::{Answer, Caller, Descriptor, Errno, FileId, Kernel, Ledger, Reply, Stretch, Wait};

use crate::denied::Denied;
use crate::filter::{Call, Listener};
use crate::mounts::render_node;
use crate::stats::{self, Question};
use crate::sys::{self, Poll};
use crate::target::{self, Inode, Process, Target};

/// Numbers of what is polled.
const CALLS: u64 = 0;
const SIGNALS: u64 = 1;
const READS: u64 = 2;
/// Processes have theirs, which are not 0, from there on.
const PROCESSES: u64 = 1 << 32;
/// How often threads that sleep are looked at for signals. A handler waits as long at most.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of freed memory that may wait for clients to unmap them before they are looked at.
const WAITING: u64 = 64 << 20;
/// ACQUIRE_VM: the number in its request, and how its argument starts: with a descriptor.
const ACQUIRE_VM: u8 = 0x15;
/// Ancestors of a process that are asked whether they opened a file.
const GENERATIONS: usize = 64;
/// Signals that go on to the program.
const FORWARDED: [i32; 6] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// The signals that the supervisor takes from a descriptor: it blocks them.
pub fn signals() -> libc::sigset_t {
    sys::signal_set(&[&FORWARDED[..], &[libc::SIGCHLD]].concat())
}

/// A device node.
#[derive(Debug)]
struct Node {
    /// Index of the GPU whose render node it is, and its minor number; none for `/dev/kfd`.
    gpu: Option<(usize, u32)>,
    file: File,
}

/// The nodes, and which files they are.
#[derive(Debug)]
pub struct Nodes {
    nodes: Vec<Node>,
    inodes: Vec<Inode>,
}

impl Nodes {
    /// Opens the nodes below a root; those of hidden GPUs are not there.
    pub fn open(kernel: &Kernel, root: &Path) -> Result<Self> {
        let shown = kernel.config().gpus.iter().enumerate().filter(|(_, gpu)| !gpu.hidden);
        let renders = shown.map(|(i, gpu)| (Some((i, gpu.render_minor)), render_node(gpu.render_minor)));
        let (mut nodes, mut inodes) = (Vec::new(), Vec::new());
        for (gpu, name) in renders.chain([(None, "kfd".to_owned())]) {
            let file = File::options().read(true).write(true).open(root.join("dev").join(name))?;
            let data = file.metadata()?;
            inodes.push((data.dev(), data.ino()));
            nodes.push(Node { gpu, file });
        }
        Ok(Self { nodes, inodes })
    }

    /// The node with that part of a file.
    fn of(&self, stretch: &Stretch) -> Option<(&Node, Inode)> {
        let same = |node: &Node| node.gpu.map(|(gpu, _)| gpu) == stretch.gpu;
        self.nodes.iter().zip(&self.inodes).find(|(node, _)| same(node)).map(|(node, inode)| (node, *inode))
    }
}

/// An open file description of a node.
#[derive(Debug)]
struct Open {
    file: FileId,
    node: usize,
    own: OwnedFd,
}

/// A wait that sleeps, and its call.
#[derive(Debug)]
struct Parked {
    call: Call,
    tgid: i32,
    wait: Wait,
}

/// What a descriptor of the program is.
enum Found {
    /// Not of a device, or nothing.
    Foreign,
    File(FileId),
    /// The driver refused the open, which the program saw succeed.
    Refused(Errno),
}

/// The driver and the program.
#[derive(Debug)]
pub struct Supervisor {
    kernel: Kernel,
    nodes: Nodes,
    listener: Listener,
    signals: OwnedFd,
    denied: Option<Denied>,
    poll: Poll,
    /// The process that was started.
    program: i32,
    opens: Vec<Open>,
    processes: HashMap<i32, Process>,
    /// Thread groups of threads of these.
    threads: HashMap<i32, i32>,
    parked: Vec<Parked>,
    /// When sleeping threads were last looked at for signals.
    looked: Instant,
    freed: Vec<Stretch>,
    /// Bytes of freed memory at which the next look at mappings is due.
    due: u64,
    left: Ledger,
}

impl Supervisor {
    /// Takes over a program that was started.
    pub fn new(kernel: Kernel, nodes: Nodes, denied: Option<Denied>, listener: Listener, program: i32) -> Result<Self> {
        let (poll, signals) = (Poll::new()?, sys::signalfd(&signals())?);
        poll.add(&listener, CALLS)?;
        poll.add(&signals, SIGNALS)?;
        if let Some(denied) = &denied {
            poll.add(denied, READS)?;
        }
        Ok(Self {
            kernel,
            nodes,
            listener,
            signals,
            denied,
            poll,
            program,
            opens: Vec::new(),
            processes: HashMap::new(),
            threads: HashMap::new(),
            parked: Vec::new(),
            looked: Instant::now(),
            freed: Vec::new(),
            due: WAITING,
            left: Ledger::default(),
        })
    }

    /// The driver.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What processes had when they ended, summed up.
    pub fn left(&self) -> &Ledger {
        &self.left
    }

    /// Answers until the program ends, and ends what it leaves behind: the program's wait status.
    pub fn run(&mut self) -> Result<i32> {
        let mut ended = None;
        while ended.is_none() {
            let events = self.poll.wait(self.timeout())?;
            // Ends come first: numbers of processes come again.
            for (number, _) in events.iter().filter(|(number, _)| *number >= PROCESSES) {
                self.end((number - PROCESSES) as i32);
            }
            for (number, hung) in events {
                match number {
                    CALLS if hung => self.poll.remove(&self.listener),
                    CALLS => self.serve(),
                    READS => {
                        if let Some(denied) = &self.denied {
                            denied.refuse();
                        }
                    }
                    SIGNALS => ended = ended.or(self.take_signals()),
                    _ => {}
                }
            }
            self.look_after_waits();
        }
        self.end_all();
        Ok(ended.unwrap_or_default())
    }

    fn timeout(&self) -> i32 {
        if self.parked.is_empty() {
            return -1;
        }
        let now = Instant::now();
        let next =
            self.parked.iter().filter_map(|parked| parked.wait.deadline).map(|d| d.saturating_duration_since(now));
        let wait = next.fold(LOOK, Duration::min);
        // Rounded up, so that the deadline has passed.
        wait.as_micros().div_ceil(1000) as i32
    }

    /// Passes signals on; the program's status when it is over.
    fn take_signals(&mut self) -> Option<i32> {
        let mut ended = None;
        while let Some((signal, sent)) = sys::next_signal(&self.signals) {
            // What a terminal sends the program has too.
            if signal != libc::SIGCHLD && sent {
                sys::kill(self.program, signal);
            }
        }
        while let Some((pid, status)) = sys::reap() {
            if pid == self.program {
                ended = Some(status);
            }
        }
        ended
    }

    /// The devices go with the program, and so does everybody who is left.
    fn end_all(&mut self) {
        for _ in 0..GENERATIONS {
            let left = target::descendants();
            if left.is_empty() {
                break;
            }
            for pid in left {
                sys::kill(pid, libc::SIGKILL);
            }
            // Orphans come to this process, which is told of each end.
            let _ = self.poll.wait(10);
            self.take_signals();
        }
        let known: Vec<_> = self.processes.keys().copied().collect();
        for tgid in known {
            self.end(tgid);
        }
    }

    /// One call.
    fn serve(&mut self) {
        let Some(call) = self.listener.receive() else { return };
        let Some(tgid) = self.group_of(call.tid) else { return self.listener.let_pass(call.id) };
        if self.processes.get(&tgid).is_some_and(|process| process.is_over(call.tid)) {
            self.end(tgid);
        }
        if i64::from(call.number) == libc::SYS_ioctl {
            match self.ioctl(&call, tgid) {
                None => self.listener.let_pass(call.id),
                Some(Reply::Done(answer)) => self.answer(&call, answer),
                Some(Reply::Asleep(wait)) => self.parked.push(Parked { call, tgid, wait }),
            }
            self.wake();
        } else if let Some(question) = stats::question(&call) {
            match self.stat(&call, tgid, &question) {
                None => self.listener.let_pass(call.id),
                Some(answer) => self.answer(&call, answer),
            }
        } else {
            // What the program has open is the last to be known of it.
            self.look_at(tgid, call.tid);
            self.listener.let_pass(call.id);
        }
    }

    fn answer(&self, call: &Call, answer: Answer) {
        self.listener.answer(call.id, answer.map_or_else(|errno| -errno.0, |()| 0));
    }

    fn group_of(&mut self, tid: i32) -> Option<i32> {
        let known = self.threads.get(&tid).copied().filter(|tgid| sys::is_thread_of(*tgid, tid));
        if known.is_some() {
            return known;
        }
        let tgid = target::group_of(tid)?;
        if self.processes.contains_key(&tgid) {
            self.threads.insert(tid, tgid);
        }
        Some(tgid)
    }

    /// An ioctl: the driver's reply, or `None` for one that is not on a device.
    fn ioctl(&mut self, call: &Call, tgid: i32) -> Option<Reply> {
        let [fd, request, argument, ..] = call.arguments;
        let (fd, request) = (fd as RawFd, request as u32);
        let file = match self.find(tgid, call.tid, fd) {
            Found::Foreign => return None,
            Found::Refused(errno) => return Some(Reply::Done(Err(errno))),
            Found::File(file) => file,
        };
        let named = (request as u8 == ACQUIRE_VM).then(|| self.named(tgid, call.tid, argument)).flatten();
        let Self { kernel, listener, nodes, .. } = self;
        let caller = Target { tgid, tid: call.tid, id: call.id, listener, nodes: &nodes.inodes, named };
        let reply = kernel.ioctl(&caller, file, request, argument);
        self.write_files();
        Some(reply)
    }

    /// What a descriptor is; `None` for one that is not of a device.
    fn stat(&self, call: &Call, tgid: i32, question: &Question) -> Option<Answer> {
        let inode = target::inode(call.tid, question.fd)?;
        let node = self.nodes.inodes.iter().position(|node| *node == inode)?;
        let (listener, nodes) = (&self.listener, &self.nodes.inodes);
        let caller = Target { tgid, tid: call.tid, id: call.id, listener, nodes, named: None };
        let mut first = [0];
        if question.path.is_some_and(|path| path != 0 && !(caller.read(path, &mut first) && first == [0])) {
            return None;
        }
        let node = &self.nodes.nodes[node];
        let bytes = stats::answer(&node.file.metadata().ok()?, node.gpu.map(|(_, minor)| minor), question.extended);
        Some(if caller.write(question.to, &bytes) { Ok(()) } else { Err(Errno::EFAULT) })
    }

    /// The descriptor in front of an argument.
    fn named(&mut self, tgid: i32, tid: i32, argument: u64) -> Option<(RawFd, Descriptor)> {
        let mut bytes = [0; 4];
        if !sys::read_memory(tid, argument, &mut bytes) {
            return None;
        }
        let fd = RawFd::from_le_bytes(bytes);
        match self.find(tgid, tid, fd) {
            Found::File(file) => Some((fd, Descriptor::Device(file))),
            Found::Foreign | Found::Refused(_) => None,
        }
    }

    /// What the driver did to the memory behind mappings.
    fn write_files(&mut self) {
        for fill in self.kernel.take_fills() {
            let Some(stretch) = self.kernel.stretch(fill.pages) else { continue };
            let Some((node, _)) = self.nodes.of(&stretch) else { continue };
            // Without memory for them the client finds zeros.
            let _ = node.file.write_all_at(&vec![0xff; fill.bytes as usize], stretch.offset + fill.offset);
        }
        self.freed.extend(self.kernel.take_freed());
        if self.freed.iter().map(|stretch| stretch.bytes).fold(0, u64::saturating_add) > self.due {
            self.give_back();
        }
    }

    /// Gives freed memory back that no known process maps.
    fn give_back(&mut self) {
        let mapped: Vec<_> = self.processes.keys().flat_map(|tgid| target::mapped(*tgid, &self.nodes.inodes)).collect();
        let nodes = &self.nodes;
        self.freed.retain(|stretch| {
            let Some((node, inode)) = nodes.of(stretch) else { return false };
            let end = stretch.offset + stretch.bytes;
            let shows = |(of, offset, bytes): &(Inode, u64, u64)| {
                *of == inode && *offset < end && stretch.offset < offset.saturating_add(*bytes)
            };
            let held = mapped.iter().any(shows);
            if !held {
                sys::punch(&node.file, stretch.offset, stretch.bytes);
            }
            held
        });
        let kept = self.freed.iter().map(|stretch| stretch.bytes).fold(0, u64::saturating_add);
        self.due = kept.saturating_mul(2).max(WAITING);
    }

    /// What a descriptor is; an open file description that is new is made known to the driver.
    fn find(&mut self, tgid: i32, tid: i32, fd: RawFd) -> Found {
        let known = self.processes.get(&tgid).and_then(|process| process.files.get(&fd));
        if let Some(open) = known.and_then(|file| self.opens.iter().find(|open| open.file == *file))
            && sys::same_file(&open.own, tid, fd)
        {
            return Found::File(open.file);
        }
        let inode = target::inode(tid, fd);
        let Some(node) = self.nodes.inodes.iter().position(|node| inode == Some(*node)) else {
            return Found::Foreign;
        };
        let same = |open: &&Open| open.node == node && sys::same_file(&open.own, tid, fd);
        match self.opens.iter().find(same).map(|open| open.file) {
            Some(file) => self.note(tgid, tid, fd, file),
            None => self.open(tgid, tid, fd, node),
        }
    }

    /// A description that nobody has made known yet.
    fn open(&mut self, tgid: i32, tid: i32, fd: RawFd, node: usize) -> Found {
        let Ok(own) = sys::descriptor_of(tid, fd) else { return Found::Refused(Errno::EIO) };
        // Who has it from a parent did not open it. This process is no such parent.
        let parents = std::iter::successors(target::parent_of(tgid), |pid| target::parent_of(*pid)).take(GENERATIONS);
        let has = |pid: &i32| *pid != target::own_pid() && sys::same_file(&own, *pid, fd);
        let opener = parents.take_while(has).last().unwrap_or(tgid);
        let opened = match self.nodes.nodes[node].gpu {
            None => self.kernel.open_kfd(opener),
            Some((_, minor)) => self.kernel.open_render(minor),
        };
        let file = match opened {
            Ok(file) => file,
            Err(errno) => return Found::Refused(errno),
        };
        self.opens.push(Open { file, node, own });
        if opener != tgid {
            self.note(opener, opener, fd, file);
        }
        self.note(tgid, tid, fd, file)
    }

    /// Keeps in mind what a descriptor is.
    fn note(&mut self, tgid: i32, tid: i32, fd: RawFd, file: FileId) -> Found {
        if !self.processes.contains_key(&tgid) {
            // A process that is gone already has nothing to be kept in mind.
            let Ok(process) = Process::new(tgid, tid) else { return Found::File(file) };
            if self.poll.add(&process.pidfd, PROCESSES + u64::from(tgid.cast_unsigned())).is_err() {
                return Found::File(file);
            }
            self.processes.insert(tgid, process);
        }
        let process = self.processes.get_mut(&tgid);
        let before = process.and_then(|process| process.files.insert(fd, file));
        if before.is_some_and(|before| before != file) {
            self.close_unheld();
        }
        Found::File(file)
    }

    /// Learns all descriptors of a process.
    fn look_at(&mut self, tgid: i32, tid: i32) {
        let all = target::descriptors(tid);
        if let Some(process) = self.processes.get_mut(&tgid) {
            process.files.retain(|fd, _| all.contains(fd));
        }
        for fd in all {
            if matches!(self.find(tgid, tid, fd), Found::Foreign)
                && let Some(process) = self.processes.get_mut(&tgid)
            {
                process.files.remove(&fd);
            }
        }
        self.close_unheld();
    }

    /// Closes the files that no process has any more.
    fn close_unheld(&mut self) {
        if self.unheld().is_empty() {
            return;
        }
        // Children that never used them may have them.
        for pid in target::descendants() {
            if self.processes.contains_key(&pid) {
                continue;
            }
            for fd in target::descriptors(pid) {
                let same = |open: &&Open| sys::same_file(&open.own, pid, fd);
                if let Some(file) = self.opens.iter().find(same).map(|open| open.file) {
                    self.note(pid, pid, fd, file);
                }
            }
        }
        let unheld = self.unheld();
        self.opens.retain(|open| !unheld.contains(&open.file));
        unheld.into_iter().for_each(|file| self.kernel.close(file));
    }

    fn unheld(&self) -> Vec<FileId> {
        let held = |file: FileId| self.processes.values().any(|process| process.files.values().any(|f| *f == file));
        self.opens.iter().map(|open| open.file).filter(|file| !held(*file)).collect()
    }

    /// A process ended, or became another program.
    fn end(&mut self, tgid: i32) {
        if self.processes.remove(&tgid).is_none() {
            return;
        }
        let before = self.kernel.ledger();
        self.kernel.exit(tgid);
        self.parked.retain(|parked| parked.tgid != tgid);
        self.threads.retain(|_, group| *group != tgid);
        self.close_unheld();
        add(&mut self.left, &before, &self.kernel.ledger());
        self.write_files();
    }

    /// Ends the waits that are over, after something happened.
    fn wake(&mut self) {
        let Self { kernel, listener, nodes, parked, .. } = self;
        parked.retain(|Parked { call, tgid, wait }| {
            let caller =
                Target { tgid: *tgid, tid: call.tid, id: call.id, listener, nodes: &nodes.inodes, named: None };
            match kernel.resume(&caller, wait) {
                Some(answer) => {
                    listener.answer(call.id, answer.map_or_else(|errno| -errno.0, |()| 0));
                    false
                }
                None => true,
            }
        });
    }

    /// Ends the waits whose time is up, whose thread is gone, and whose thread has a signal to handle.
    fn look_after_waits(&mut self) {
        let now = Instant::now();
        if self.parked.iter().any(|parked| parked.wait.deadline.is_some_and(|deadline| deadline <= now)) {
            self.wake();
        }
        if self.parked.is_empty() || now - self.looked < LOOK {
            return;
        }
        self.looked = now;
        let Self { kernel, listener, nodes, parked, .. } = self;
        parked.retain(|Parked { call, tgid, wait }| {
            let caller =
                Target { tgid: *tgid, tid: call.tid, id: call.id, listener, nodes: &nodes.inodes, named: None };
            let stays = listener.is_waiting(call.id) && !target::has_signal(call.tid);
            if !stays {
                kernel.interrupt(&caller, wait);
                listener.answer(call.id, -libc::EINTR);
            }
            stays
        });
    }
}

/// Adds what is less after than before.
fn add(sum: &mut Ledger, before: &Ledger, after: &Ledger) {
    let counts = |ledger: &mut Ledger, f: &dyn Fn(&mut u64, u64, u64)| {
        f(&mut ledger.kfd_opens, before.kfd_opens, after.kfd_opens);
        f(&mut ledger.render_opens, before.render_opens, after.render_opens);
        f(&mut ledger.processes, before.processes, after.processes);
        f(&mut ledger.bound_vms, before.bound_vms, after.bound_vms);
        f(&mut ledger.buffers, before.buffers, after.buffers);
        f(&mut ledger.mappings, before.mappings, after.mappings);
        f(&mut ledger.events, before.events, after.events);
    };
    counts(sum, &|sum, before, after| *sum += before.saturating_sub(after));
}
