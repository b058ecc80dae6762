//! What front-ends are told by the environment, the driver and the files that this makes, and the line at the end.

use std::path::{Path, PathBuf};

use rocdxg_fake_gpu::{Machine, machine};

use crate::kernel::{Config, Kernel, Ledger};
use crate::mode::Mode;
use crate::tree::Tree;

/// What is asked for; nothing is a default machine.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Name of a built-in machine or path of a machine file.
    pub machine: Option<String>,
    /// Directory of a captured topology (the one with `nodes`), served instead; its GPUs are the machine's.
    pub tree: Option<PathBuf>,
    /// `6.1`, `6.12` or `7.2`.
    pub kernel: Option<String>,
    /// `NAME:k[:errno]`, comma-separated.
    pub fail: Option<String>,
    /// A line at the end.
    pub report: bool,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

impl Choice {
    /// ROCDXG_FAKE_MACHINE, ROCDXG_FAKE_KFD_TREE, ROCDXG_FAKE_KERNEL, ROCDXG_FAKE_KFD_FAIL and ROCDXG_FAKE_REPORT.
    pub fn from_environment() -> Self {
        Self {
            machine: variable("ROCDXG_FAKE_MACHINE"),
            tree: variable("ROCDXG_FAKE_KFD_TREE").map(PathBuf::from),
            kernel: variable("ROCDXG_FAKE_KERNEL"),
            fail: variable("ROCDXG_FAKE_KFD_FAIL"),
            report: variable("ROCDXG_FAKE_REPORT").as_deref() == Some("1"),
        }
    }
}

/// A choice that is none.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Not a kernel that is emulated.
    #[error("kernel {0}: not 6.1, 6.12 or 7.2")]
    Kernel(String),
    /// The captured tree is not one.
    #[error("tree {path}: {source}")]
    Tree {
        /// Its directory.
        path: PathBuf,
        /// Why it does not read.
        source: std::io::Error,
    },
    /// The machine file.
    #[error(transparent)]
    Machine(#[from] machine::Error),
    /// Part of the list of failures.
    #[error("failure {0}: not understood")]
    Failure(String),
}

/// A driver as it was asked for, and where its files come from.
#[derive(Debug)]
pub struct Setup {
    /// The driver.
    pub kernel: Kernel,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Machine(Box<Machine>),
    Captured(PathBuf),
}

impl Setup {
    /// Reads the machine or the tree; `adapt` is the front-end's word on how the driver is put together.
    pub fn new(choice: &Choice, adapt: impl FnOnce(&mut Config)) -> Result<Self, SetupError> {
        let mode = match &choice.kernel {
            None => Mode::default(),
            Some(text) => Mode::parse(text).ok_or_else(|| SetupError::Kernel(text.clone()))?,
        };
        let (mut config, source) = match &choice.tree {
            Some(tree) => {
                let config = Config::of_tree(tree, mode);
                let config = config.map_err(|source| SetupError::Tree { path: tree.clone(), source })?;
                (config, Source::Captured(tree.clone()))
            }
            None => {
                let machine = Machine::load(choice.machine.as_deref().unwrap_or(machine::DEFAULT))?;
                (Config::of_machine(&machine, mode), Source::Machine(Box::new(machine)))
            }
        };
        adapt(&mut config);
        let mut kernel = Kernel::new(config);
        if let Some(text) = &choice.fail {
            kernel.fail_text(text).map_err(SetupError::Failure)?;
        }
        Ok(Self { kernel, source })
    }

    /// Writes what clients read of sysfs below `root`: the directory of the topology, the one with `nodes`. A captured one
    /// stays where it is.
    pub fn write(&self, root: &Path) -> std::io::Result<PathBuf> {
        let config = self.kernel.config();
        match &self.source {
            Source::Machine(machine) => Tree::generate_root(machine, config.mode, root),
            Source::Captured(tree) => Tree::generate_devices(&config.gpus, root).map(|()| tree.clone()),
        }
    }

    /// The files of a topology that was written which open and do not read, EPERM (see [`Tree::denied`]).
    pub fn denied(&self, topology: &Path) -> std::io::Result<Vec<PathBuf>> {
        match &self.source {
            Source::Machine(machine) => Tree::denied(machine, topology),
            Source::Captured(_) => Ok(Vec::new()),
        }
    }
}

/// The words of a report after who it is about; `None` when there is nothing to tell: no violation, nothing left.
///
/// `left` is what was alive when it ended.
pub fn report(kernel: &Kernel, left: &Ledger) -> Option<String> {
    let (violations, first) = (kernel.violation_count(), kernel.violations().first());
    (violations > 0 || left.bound_vms > 0).then(|| {
        let first = first.map(|text| format!(", the first: {text}")).unwrap_or_default();
        format!(
            "ended with {} opens of /dev/kfd, {} of render nodes, {} bound VMs; \
             {violations} contract violations{first}",
            left.kfd_opens, left.render_opens, left.bound_vms,
        )
    })
}
