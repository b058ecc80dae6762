//! The machine as files: every absolute path that the library opens goes through [`Host`].

use std::io;
use std::path::{Path, PathBuf};

/// Where absolute paths start: `/`, or the directory that `ROCDXG_ROOT` names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    root: Option<PathBuf>,
}

/// A file of the machine that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct Error {
    /// The path as opened, with its prefix.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

impl Host {
    /// The running machine.
    pub const fn live() -> Self {
        Self { root: None }
    }

    /// A machine described by the directory `root`.
    pub fn rooted(root: impl Into<PathBuf>) -> Self {
        Self { root: Some(root.into()) }
    }

    /// The directory that stands for `/`, when it is not `/` itself.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// `absolute` below the root.
    pub fn path(&self, absolute: &str) -> PathBuf {
        match &self.root {
            Some(root) => root.join(absolute.trim_start_matches('/')),
            None => PathBuf::from(absolute),
        }
    }

    /// Reads at most `limit` bytes of a file; what lies beyond is dropped.
    pub fn read(&self, absolute: &str, limit: u64) -> Result<Vec<u8>, Error> {
        read_at(&self.path(absolute), limit)
    }

    /// Reads at most `limit` bytes of a file of sysfs; see [`read_attribute`].
    pub fn read_attribute(&self, absolute: &str, limit: u64) -> Result<Vec<u8>, Error> {
        read_attribute(&self.path(absolute), limit)
    }
}

/// Reads at most `limit` bytes of the file at `path`.
pub fn read_at(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    read_until(path, limit, |_| false)
}

/// Reads at most `limit` bytes of a sysfs file at `path`, with one read where possible.
///
/// The kernel renders such a file (at most a page) into the first read and every line has an end, so what ends a
/// line and did not fill the buffer is whole.
pub fn read_attribute(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    read_until(path, limit, |bytes| bytes.ends_with(b"\n"))
}

/// Reads until `whole` says so, `limit` is reached or the file ends. A FIFO reads as empty: nothing here blocks.
fn read_until(path: &Path, limit: u64, whole: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>, Error> {
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;
    let fail = |source| Error { path: path.to_owned(), source };
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(fail)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut bytes, mut filled) = (Vec::new(), 0usize);
    while filled < limit {
        if filled == bytes.len() {
            bytes.resize(limit.min(filled.saturating_mul(2)).max(limit.min(FIRST_READ)), 0);
        }
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                if filled < bytes.len() && whole(&bytes[..filled]) {
                    break;
                }
            }
            Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(fail(source)),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Room for the first read: more than a page of 4 KiB, so that a whole sysfs file does not fill it. It is zeroed for each
/// file, and a snapshot has thousands.
const FIRST_READ: usize = (4 << 10) + 64;

/// What a folder holds whose entries should be `prefix` and a number.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Numbered {
    /// The numbers, rising; at most [`MOST_ENTRIES`].
    pub numbers: Vec<u32>,
    /// How many names start with the prefix and go on with something else than a canonical decimal number.
    pub others: usize,
}

/// Entries of a folder that are looked at; what lies beyond is ignored.
pub const MOST_ENTRIES: usize = 1 << 16;

/// Lists the folder at `path`.
pub fn numbered(path: &Path, prefix: &str) -> Result<Numbered, Error> {
    let fail = |source| Error { path: path.to_owned(), source };
    let mut found = Numbered::default();
    for entry in std::fs::read_dir(path).map_err(fail)?.take(MOST_ENTRIES) {
        let name = entry.map_err(fail)?.file_name();
        let Some(rest) = name.to_str().map_or(Some(""), |n| n.strip_prefix(prefix)) else { continue };
        match rest.parse::<u32>() {
            Ok(number) if number.to_string() == rest => found.numbers.push(number),
            _ => found.others += 1,
        }
    }
    found.numbers.sort_unstable();
    Ok(found)
}

/// Logical processors that are online; at least 1.
pub fn online_processors() -> u32 {
    // SAFETY: sysconf takes no pointer and has no precondition.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(count).unwrap_or(1).max(1)
}

/// Physical memory of the running machine in bytes; 0 when the system does not say.
pub fn system_memory_bytes() -> u64 {
    let mut info = std::mem::MaybeUninit::<libc::sysinfo>::zeroed();
    // SAFETY: the pointer is to a live, writable `struct sysinfo`, for which all zeroes is a valid value.
    let info = unsafe {
        if libc::sysinfo(info.as_mut_ptr()) != 0 {
            return 0;
        }
        info.assume_init()
    };
    info.totalram.saturating_mul(u64::from(info.mem_unit))
}
