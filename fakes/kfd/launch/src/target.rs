//! Processes of the program, seen from outside: which there are, what their descriptors are, their memory.
//!
//! Touches `/proc` and the memory of the thread that makes a call, while it waits for the answer.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Result;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use rocdxg_fake_kfd::{Answer, Caller, Descriptor, Errno, FileId, pinnable};

use crate::filter::Listener;
use crate::sys;

/// Device and inode number of a file.
pub type Inode = (u64, u64);

/// The file behind a descriptor of a thread.
pub fn inode(tid: i32, fd: RawFd) -> Option<Inode> {
    fs::metadata(format!("/proc/{tid}/fd/{fd}")).ok().map(|data| (data.dev(), data.ino()))
}

/// The descriptors of a thread.
pub fn descriptors(tid: i32) -> Vec<RawFd> {
    numbers(&format!("/proc/{tid}/fd"))
}

fn numbers(directory: &str) -> Vec<i32> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// A number in the status of a thread, in the radix that the kernel writes it in.
fn status(text: &str, key: &str, radix: u32) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    u64::from_str_radix(line.trim(), radix).ok()
}

/// Thread group of a thread.
pub fn group_of(tid: i32) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status(&text, "Tgid", 10)?.try_into().ok()
}

/// Whether a signal waits for a thread that does not block it.
pub fn has_signal(tid: i32) -> bool {
    let Ok(text) = fs::read_to_string(format!("/proc/{tid}/status")) else { return false };
    let set = |key| status(&text, key, 16).unwrap_or(0);
    (set("SigPnd") | set("ShdPnd")) & !set("SigBlk") != 0
}

/// The parent of a process.
pub fn parent_of(pid: i32) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, which may hold anything, ends with the last parenthesis; the state comes before the parent.
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Children of a process, from all of its threads; `None` where the kernel does not tell.
fn children(pid: i32) -> Option<Vec<i32>> {
    let tasks = format!("/proc/{pid}/task");
    let of = |tid: i32| fs::read_to_string(format!("{tasks}/{tid}/children"));
    let lists: Option<Vec<_>> = numbers(&tasks).into_iter().map(|tid| of(tid).ok()).collect();
    Some(lists?.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(|pid| pid.parse().ok()).collect())
}

/// All processes that come from this one.
pub fn descendants() -> Vec<i32> {
    let mut all = children(own_pid()).unwrap_or_default();
    let mut next = 0;
    while let Some(pid) = all.get(next).copied() {
        next += 1;
        // One that ends meanwhile leaves its children to this process.
        all.extend(children(pid).unwrap_or_default());
    }
    all
}

/// This process.
pub fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// What this module needs of a kernel that not every one has: the reason when it is missing.
pub fn check() -> core::result::Result<(), &'static str> {
    let file = File::open("/proc/self/stat").map_err(|_| "/proc is not mounted")?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    if !sys::same_file(&OwnedFd::from(file), own_pid(), fd) {
        return Err("this kernel does not compare open files (kcmp, CONFIG_KCMP)");
    }
    children(own_pid()).map(drop).ok_or("this kernel does not list children (CONFIG_PROC_CHILDREN)")
}

/// The address space of a process: what tells one program of it from the next.
#[derive(Debug)]
enum Space {
    /// Its memory, also after another program took its place.
    Own(File),
    /// That of its parent, until it is another program (vfork).
    Shared(i32),
}

/// A process that has or had a device open.
#[derive(Debug)]
pub struct Process {
    /// Readable once it has ended.
    pub pidfd: OwnedFd,
    space: Space,
    /// Its descriptors, as far as they are known.
    pub files: HashMap<RawFd, FileId>,
}

impl Process {
    /// A process of which a thread is known.
    pub fn new(tgid: i32, tid: i32) -> Result<Self> {
        let pidfd = sys::pidfd_open(tgid, 0)?;
        let space = match parent_of(tgid) {
            Some(parent) if sys::same_space(parent, tid) => Space::Shared(parent),
            _ => Space::Own(File::open(format!("/proc/{tid}/mem"))?),
        };
        Ok(Self { pidfd, space, files: HashMap::new() })
    }

    /// Whether it has ended, or is another program now: nothing is left in its address space. A thread of it asks.
    pub fn is_over(&self, tid: i32) -> bool {
        sys::is_readable(&self.pidfd)
            || match &self.space {
                // A space that is left reads as the end of the file; address 0 of one that is used is an error.
                Space::Own(memory) => matches!(memory.read_at(&mut [0], 0), Ok(0)),
                Space::Shared(parent) => !sys::same_space(*parent, tid),
            }
    }
}

/// The part of `/proc/<tid>/maps` that shows files of the devices: mappings by file, offset and length.
pub fn mapped(tid: i32, files: &[Inode]) -> Vec<(Inode, u64, u64)> {
    let Ok(maps) = fs::read_to_string(format!("/proc/{tid}/maps")) else { return Vec::new() };
    let marks: Vec<_> = files.iter().map(|inode| (*inode, mark(*inode))).collect();
    let parse = |line: &str| {
        let (inode, _) = marks.iter().find(|(_, mark)| line.contains(mark.as_str()))?;
        let mut words = line.split_ascii_whitespace();
        let (first, last) = words.next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let offset = number(words.nth(1)?)?;
        Some((*inode, offset, number(last)?.checked_sub(number(first)?)?))
    };
    maps.lines().filter_map(parse).collect()
}

/// How a line of `maps` tells a file.
fn mark((device, number): Inode) -> String {
    format!(" {:02x}:{:02x} {number} ", libc::major(device), libc::minor(device))
}

/// A thread that waits for the answer to a call.
#[derive(Debug)]
pub struct Target<'a> {
    /// Its thread group.
    pub tgid: i32,
    /// The thread.
    pub tid: i32,
    /// Its call.
    pub id: u64,
    /// Who knows whether it still waits.
    pub listener: &'a Listener,
    /// The files of the devices.
    pub nodes: &'a [Inode],
    /// A descriptor that the call names, and what it is.
    pub named: Option<(RawFd, Descriptor)>,
}

impl Caller for Target<'_> {
    fn tgid(&self) -> i32 {
        self.tgid
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        // What was read is the caller's only if it still waited after that.
        bytes.is_empty() || (sys::read_memory(self.tid, address, bytes) && self.listener.is_waiting(self.id))
    }

    fn write(&self, address: u64, bytes: &[u8]) -> bool {
        bytes.is_empty() || (self.listener.is_waiting(self.id) && sys::write_memory(self.tid, address, bytes))
    }

    fn pin(&self, address: u64, bytes: u64) -> Answer {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.tid)).map_err(|_| Errno::ENOMEM)?;
        let marks: Vec<_> = self.nodes.iter().map(|inode| mark(*inode)).collect();
        pinnable(&maps, address, bytes, &marks.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn descriptor(&self, fd: i32) -> Descriptor {
        match self.named {
            Some((named, found)) if named == fd => found,
            _ if inode(self.tid, fd).is_some() => Descriptor::Foreign,
            _ => Descriptor::Closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_and_its_children() {
        assert_eq!(check(), Ok(()));
        let own = own_pid();
        assert_eq!(group_of(own), Some(own));
        assert!(parent_of(own).is_some_and(|pid| pid > 0));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        // The kernel may leave a child out while others come and go, as in the tests beside this one.
        let listed = |_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            descendants().contains(&child.id().cast_signed())
        };
        assert!((0..1000).any(listed));
        assert_eq!(parent_of(child.id().cast_signed()), Some(own));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants().contains(&child.id().cast_signed()));
        assert_eq!(group_of(-1), None);
    }

    #[test]
    fn an_address_space_is_over_when_another_program_takes_its_place() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "read line; exec sleep 100"])
            .stdin(std::process::Stdio::piped())
            .stdout(writer)
            .spawn()
            .unwrap();
        let pid = shell.id().cast_signed();
        let process = Process::new(pid, pid).unwrap();
        assert!(!process.is_over(pid));
        drop(shell.stdin.take());
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while !process.is_over(pid) {
            assert!(std::time::Instant::now() < until, "sleep runs");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(!Process::new(pid, pid).unwrap().is_over(pid));
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert!(process.is_over(pid));
        std::io::Read::read_to_end(&mut reader, &mut Vec::new()).unwrap();
    }

    #[test]
    fn mappings_of_a_file_are_found_by_its_number() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(16384).unwrap();
        let data = file.metadata().unwrap();
        let own = (data.dev(), data.ino());
        let pid = own_pid();
        assert_eq!(mapped(pid, &[own]), []);
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        // SAFETY: a fresh mapping, which stays.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), 8192, libc::PROT_READ, libc::MAP_SHARED, fd, 4096) };
        assert_ne!(at, libc::MAP_FAILED);
        assert_eq!(mapped(pid, &[(own.0, own.1 + 1), own]), [(own, 4096, 8192)]);
    }
}
