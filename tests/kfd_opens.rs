//! Each file of a topology tree is opened once per try to read it: counted by inotify.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use kfd_tree::Tree;
use rocdxg::platform::Options;
use rocdxg::platform::kfd::sysfs::{self, Everything, Tolerance};

/// Counts openings of the files below a folder.
struct Watch {
    events: File,
    folders: BTreeMap<i32, PathBuf>,
}

impl Watch {
    fn new(root: &Path) -> Self {
        // SAFETY: takes flags only; the descriptor that it returns is ours alone.
        let events = unsafe { File::from_raw_fd(libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC)) };
        let mut watch = Self { events, folders: BTreeMap::new() };
        watch.add(root);
        watch
    }

    fn add(&mut self, folder: &Path) {
        let path = CString::new(folder.as_os_str().as_bytes()).expect("no NUL");
        // SAFETY: the path is a C string that outlives the call.
        let id = unsafe { libc::inotify_add_watch(self.events.as_raw_fd(), path.as_ptr(), libc::IN_OPEN) };
        assert!(id >= 0);
        self.folders.insert(id, folder.to_owned());
        for entry in fs::read_dir(folder).expect("readable") {
            let entry = entry.expect("readable").path();
            if entry.is_dir() {
                self.add(&entry);
            }
        }
    }

    /// Openings by file since the last call.
    fn opened(&mut self) -> BTreeMap<PathBuf, usize> {
        let mut counts = BTreeMap::new();
        let mut buffer = vec![0; 1 << 20];
        while let Ok(count) = self.events.read(&mut buffer) {
            let mut rest = &buffer[..count];
            while rest.len() >= 16 {
                let word = |at: usize| u32::from_ne_bytes(rest[at..at + 4].try_into().expect("four bytes"));
                let (id, mask, length) = (word(0) as i32, word(4), word(12) as usize);
                assert_eq!(mask & libc::IN_Q_OVERFLOW, 0);
                let name = CStr::from_bytes_until_nul(&rest[16..16 + length]).unwrap_or_default();
                if mask & libc::IN_ISDIR == 0 {
                    let path = self.folders[&id].join(name.to_str().expect("UTF-8"));
                    *counts.entry(path).or_default() += 1;
                }
                rest = &rest[16 + length..];
            }
        }
        counts
    }
}

#[test]
fn every_announced_file_is_opened_once() {
    let tree = Tree::machine(3);
    let mut watch = Watch::new(tree.path());
    watch.opened();
    for tolerance in [Tolerance::Live, Tolerance::Capture] {
        sysfs::read(tree.path(), &Options::default(), &Everything, tolerance).expect("whole");
        let opened = watch.opened();
        // Root files; gpu_id, properties and a bank per node; caches of the GPUs; links both ways.
        assert_eq!(opened.len(), 2 + 4 * 3 + 3 * 2 + 6, "{opened:#?}");
        assert!(opened.values().all(|count| *count == 1), "{opened:#?}");
    }
}
