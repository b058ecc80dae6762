//! What the renderers show: one machine, wherever it was read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rocdxg::abi::{HsaSystemProperties, HsaVersionInfo};
use rocdxg::platform::{Node, Skipped};
use rocdxg::topology::Snapshot;

use crate::capi::{Reading, Refused};
use crate::facts;

/// A machine, complete. Foreign text in it is clean, except for the names inside the nodes.
#[derive(Debug)]
pub struct Machine {
    /// Where it was read.
    pub source: Source,
    /// Version of the kernel interface; files tell none.
    pub interface: Option<HsaVersionInfo>,
    /// Machine-wide numbers.
    pub system: HsaSystemProperties,
    /// Every node, by node id.
    pub nodes: Vec<Node>,
    /// Driver of each GPU node, by node id, where it has a version beside the kernel interface.
    pub drivers: BTreeMap<u32, String>,
    /// What was found and is not a node.
    pub skipped: Vec<Skipped>,
    /// Assumptions made and values replaced.
    pub remarks: Vec<String>,
}

/// Where a machine was read.
#[derive(Debug)]
pub enum Source {
    /// From the kernel, through the C API.
    Device {
        /// "dxg" or "kfd".
        platform: &'static str,
        /// The directory that stands for `/`, when it is another.
        root: Option<PathBuf>,
    },
    /// From the topology files of the running machine, because no device could be opened.
    Files {
        /// Why not.
        no_device: NoDevice,
    },
    /// From the topology files of a captured machine.
    Capture {
        /// Its directory.
        root: PathBuf,
    },
    /// From a software machine inside this process, through the C API.
    Emulation {
        /// Name or path, as given.
        machine: String,
        /// One line about it.
        description: String,
        /// Why, when nobody asked for it.
        no_device: Option<NoDevice>,
    },
}

/// Why the machine's own GPU cannot be shown.
#[derive(Debug)]
pub struct NoDevice {
    /// The call that failed.
    pub refused: Refused,
    /// What the library says about it.
    pub reason: Option<String>,
    /// What was looked at besides, one line each.
    pub checks: Vec<String>,
    /// What would help.
    pub next: Option<&'static str>,
}

impl NoDevice {
    /// Everything in one line.
    pub fn line(&self) -> String {
        let reason = self.reason.iter().map(String::as_str);
        let next = self.next.iter().copied();
        let parts: Vec<_> = reason.chain(self.checks.iter().map(String::as_str)).chain(next).collect();
        format!("no GPU device: {}: {}", self.refused, parts.join("; "))
    }
}

impl Source {
    /// The machine is not real.
    pub fn is_emulated(&self) -> bool {
        matches!(self, Self::Emulation { .. })
    }

    /// Why there is no device, when one was looked for.
    pub fn no_device(&self) -> Option<&NoDevice> {
        match self {
            Self::Files { no_device } => Some(no_device),
            Self::Emulation { no_device, .. } => no_device.as_ref(),
            _ => None,
        }
    }

    /// "dxg" or "kfd".
    pub fn platform(&self) -> &'static str {
        match self {
            Self::Device { platform, .. } => platform,
            Self::Files { .. } | Self::Capture { .. } => "kfd",
            Self::Emulation { .. } => "dxg",
        }
    }
}

impl Machine {
    /// A machine as the C API describes it.
    pub fn from_reading(source: Source, reading: Reading) -> Self {
        let Reading { platform: _, interface, system, nodes, drivers, skipped, remarks } = reading;
        Self { source, interface: Some(interface), system, nodes, drivers, skipped, remarks }.cleaned()
    }

    /// A machine as its files describe it.
    pub fn from_snapshot(source: Source, snapshot: Snapshot) -> Self {
        let Snapshot { system, nodes, drivers, skipped, remarks, numa_nodes: _ } = snapshot;
        Self { source, interface: None, system, nodes, drivers, skipped, remarks }.cleaned()
    }

    fn cleaned(mut self) -> Self {
        for skipped in &mut self.skipped {
            skipped.what = facts::clean(&skipped.what);
            skipped.reason = facts::clean(&skipped.reason);
        }
        for remark in &mut self.remarks {
            *remark = facts::clean(remark);
        }
        self
    }
}
