//! Bare metal: `/dev/kfd`, sysfs and DRM render nodes.
//!
//! Here lives what the kernel's KFD driver says. `sysfs` reads a topology tree, of the running machine or of a
//! capture, and touches nothing but the files below the folder that it is given; `values` is the text format of
//! those files, `records` their keys, `models` and `derive` what follows from a device id or a graphics version.
//! Nothing here is printed: remarks and skipped nodes leave in [`Discovery`](super::Discovery).
//! May call: `abi`, `asic`, and the rest of `platform` except `dxg`.

mod derive;
mod models;
mod records;
pub mod sysfs;
mod values;

use std::path::PathBuf;

use super::host;

/// Why a call on the bare-metal side failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file without which there is no topology could not be read.
    #[error(transparent)]
    File(#[from] host::Error),
    /// A file without which there is no topology says something else than it must.
    #[error("{}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The kernel rebuilt its tree during every try to read it (kfd.md 2.3; hot-plug storm).
    #[error("{}: the topology changed during each of {tries} tries to read it", path.display())]
    Unsettled {
        /// The topology folder.
        path: PathBuf,
        /// How often it was read.
        tries: u32,
    },
    /// No topology tree at any of the places where one may be.
    #[error("no KFD topology: none of {} is a folder", list(tried))]
    NoTree {
        /// The `nodes` folders that were looked for.
        tried: Vec<PathBuf>,
    },
}

impl Error {
    /// The errno of the system, when a system call failed.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::File(error) => error.source.raw_os_error(),
            _ => None,
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}
