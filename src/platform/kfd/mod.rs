//! Bare metal: `/dev/kfd`, sysfs and DRM render nodes.
//!
//! Here lives what the kernel's KFD driver says and does. `ioctl` is layout, `calls` the ioctls, `binding` what a process
//! has open for its whole life, `gate` decides which GPUs it may use, `banks` and `device` what such a GPU adds to its
//! node. `sysfs` reads a topology tree, of the running machine or of a capture, and touches nothing but the files
//! below the folder that it is given; `values` is the text format of those files, `records` their keys, `models` and
//! `derive` what follows from a device id or a graphics version.
//! Nothing here is printed: remarks and skipped nodes leave in [`Discovery`].
//! May call: `abi`, `asic`, and the rest of `platform` except `dxg`.

mod banks;
pub mod binding;
pub mod calls;
mod derive;
pub mod device;
mod gate;
pub mod ioctl;
mod models;
mod records;
pub mod sysfs;
mod values;

use std::io;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::Arc;

use self::binding::Binding;
use self::calls::CallError;
use self::device::KfdDevice;
use self::gate::Gate;
use self::sysfs::Tolerance;
use super::file::Trace;
use super::{Device, Discovery, Host, Options, Platform, host};
use crate::abi::{HSA_CAPABILITY, HsaVersionInfo};

/// The device file of the driver.
pub const DEVICE: &str = "/dev/kfd";

/// Where the driver describes the machine.
pub const TOPOLOGY: &str = "/sys/devices/virtual/kfd/kfd/topology";

/// Why a call on the bare-metal side failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device file cannot be opened.
    #[error("{}: {source}", path.display())]
    Device {
        /// The path as opened.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The kernel's interface is not the one that this library speaks.
    #[error("{}: interface {major}.{minor} of the kernel, this library speaks 1.x", path.display())]
    Version {
        /// The device file.
        path: PathBuf,
        /// Major version of the kernel's interface.
        major: u32,
        /// Minor version of it.
        minor: u32,
    },
    /// An ioctl failed.
    #[error("/dev/kfd: {0}")]
    Call(#[from] CallError),
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
            Self::Device { source, .. } => source.raw_os_error(),
            Self::Call(error) => Some(error.errno),
            Self::File(error) => error.source.raw_os_error(),
            _ => None,
        }
    }
}

/// An open bare-metal platform.
pub struct Kfd {
    binding: Arc<Binding>,
}

impl Kfd {
    /// Opens `/dev/kfd` and asks for its version, or reuses what an earlier open of this process has `kept`.
    pub fn open(host: &Host, kept: Option<&Arc<Binding>>) -> Result<Self, Error> {
        Ok(Self { binding: Binding::open(host, kept)? })
    }

    /// What the next open of this process needs again.
    pub fn binding(&self) -> &Arc<Binding> {
        &self.binding
    }
}

/// First minor version of the interface that has the debugger (kfd.md 5.5).
const MINOR_OF_DEBUGGER: u32 = 13;

impl Platform for Kfd {
    fn name(&self) -> &'static str {
        "kfd"
    }

    fn kernel_interface(&self) -> HsaVersionInfo {
        let (major, minor) = self.binding.version();
        HsaVersionInfo { KernelInterfaceMajorVersion: major, KernelInterfaceMinorVersion: minor }
    }

    /// Reads the kernel's tree. Marketing names, family and whether a GPU is integrated are what the tree and the
    /// ASIC table say: libdrm, which knows better, is not asked yet.
    fn discover(&self, host: &Host, options: &Options) -> Result<Discovery, super::Error> {
        let gate = Gate::new(host, &self.binding)?;
        let mut discovery = sysfs::read(&host.path(TOPOLOGY), options, &gate, Tolerance::Live)?;
        let admitted = gate.admitted();
        let is_discrete = |properties: &crate::abi::HsaNodeProperties| {
            properties.NumFComputeCores != 0 && properties.NumCPUCores == 0
        };
        let discrete = discovery.nodes.iter().any(|node| is_discrete(&node.properties));
        let of = |gpu_id: u32| admitted.get(&gpu_id).filter(|_| gpu_id != 0);
        let ids = discovery.nodes.iter().map(|node| node.properties.KFDGpuID);
        let svm = banks::shared(ids.filter_map(|gpu_id| Some(of(gpu_id)?.apertures)));
        for node in &mut discovery.nodes {
            let Some(gpu) = of(node.properties.KFDGpuID) else { continue };
            banks::append(node, &gpu.apertures, svm, discrete);
            discovery.devices.push(Arc::new(KfdDevice {
                binding: Arc::clone(&self.binding),
                render: Arc::clone(&gpu.render),
                apertures: gpu.apertures,
                capability: node.properties.Capability,
            }));
        }
        Ok(discovery)
    }

    fn debug_support(&self, devices: &[Arc<dyn Device>]) -> Result<bool, super::Error> {
        let capable = |device: &Arc<dyn Device>| {
            let device = device.as_any().downcast_ref::<KfdDevice>();
            device.is_some_and(|device| device.capability.get(HSA_CAPABILITY::DebugSupportedFirmware) != 0)
        };
        Ok(self.binding.version().1 >= MINOR_OF_DEBUGGER && devices.iter().all(capable))
    }

    fn probe_fd(&self) -> Option<RawFd> {
        Some(self.binding.kfd().trace().fd)
    }

    /// None: all of them outlive the platform.
    fn files(&self) -> Vec<Trace> {
        Vec::new()
    }
}

/// What the process or the machine lacks, not the GPU that is being looked at: to go on without that GPU would be wrong.
fn is_shortage(errno: i32) -> bool {
    matches!(errno, libc::EMFILE | libc::ENFILE | libc::ENOMEM)
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}
