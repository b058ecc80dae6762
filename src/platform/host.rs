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
}

/// Reads at most `limit` bytes of the file at `path`.
pub fn read_at(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    use std::io::Read;
    let fail = |source| Error { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(fail)?.take(limit).read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes)
}
