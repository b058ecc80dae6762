//! Bare metal: `/dev/kfd`, sysfs and DRM render nodes.
//!
//! Here lives what the kernel's KFD driver says and does. `ioctl` is layout, `calls` the ioctls, `binding` what a process
//! has open for its whole life, `gate` decides which GPUs it may use, `banks` and `device` what such a GPU adds to its
//! node, `drm` what the graphics driver says of it. `space` is the addresses that the process shares with its GPUs,
//! `memory` and `mmio` fill them, `events` wakes threads. `sysfs` reads a topology tree, of the running machine or of a
//! capture, and touches nothing but the files below the folder that it is given; `values` is the text format of those
//! files, `records` their keys, `models` and `derive` what follows from a device id or a graphics version.
//! Nothing here is printed: remarks and skipped nodes leave in [`Discovery`].
//! May call: `abi`, `asic`, and the rest of `platform` except `dxg`.

mod banks;
pub mod binding;
pub mod calls;
mod derive;
pub mod device;
mod drm;
mod events;
mod gate;
pub mod ioctl;
mod memory;
mod mmio;
mod models;
mod records;
mod space;
pub mod sysfs;
mod values;

use std::io;
use std::os::fd::{AsFd, RawFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use self::banks::Shared;
use self::binding::Binding;
use self::calls::CallError;
use self::device::KfdDevice;
use self::drm::{LibdrmError, ProductNames};
use self::gate::Gate;
use self::mmio::MmioPage;
use self::sysfs::Tolerance;
use super::events::Events;
use super::file::Trace;
use super::memory::Memory;
use super::{Device, Discovery, Host, MemoryOptions, Node, Options, Platform, host};
use crate::abi::{HSA_CAPABILITY, HsaClockCounters, HsaVersionInfo};

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
    /// The program's address space has no room.
    #[error("no addresses for {bytes} bytes that the GPUs can see: {source}")]
    NoAddress {
        /// Bytes wanted.
        bytes: u64,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The process and its GPUs share no addresses (gfx7 APUs), or no snapshot has been taken.
    #[error("no GPU shares the addresses of this process")]
    NoSharedSpace,
    /// Memory cannot be mapped for the program.
    #[error("cannot map {what} of {bytes} bytes: {source}")]
    Map {
        /// What it was to be.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A range of addresses that cannot be what it is said to be.
    #[error("{what}: {bytes} bytes at {address:#x}")]
    Range {
        /// What is wrong.
        what: &'static str,
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// A GPU has one scratch area at a time.
    #[error("the GPU has a scratch area already")]
    ScratchTaken,
    /// A device of another platform.
    #[error("the device is none of this platform's")]
    ForeignDevice,
    /// A call of another thread does not return.
    #[error("another call that makes an {what} has not returned for {seconds} s")]
    Busy {
        /// What it makes.
        what: &'static str,
        /// How long this one waited.
        seconds: u64,
    },
    /// There is no device of libdrm.
    #[error(transparent)]
    Libdrm(#[from] LibdrmError),
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
            Self::Device { source, .. } | Self::NoAddress { source, .. } | Self::Map { source, .. } => {
                source.raw_os_error()
            }
            Self::Call(error) => Some(error.errno),
            Self::File(error) => error.source.raw_os_error(),
            _ => None,
        }
    }
}

/// An open bare-metal platform.
pub struct Kfd {
    binding: Arc<Binding>,
    options: Mutex<MemoryOptions>,
}

impl Kfd {
    /// Opens `/dev/kfd` and asks for its version, or reuses what an earlier open of this process has `kept`.
    pub fn open(host: &Host, kept: Option<&Arc<Binding>>) -> Result<Self, Error> {
        Ok(Self { binding: Binding::open(host, kept)?, options: Mutex::default() })
    }

    /// What the next open of this process needs again.
    pub fn binding(&self) -> &Arc<Binding> {
        &self.binding
    }

    /// How memory is given out, as of the last snapshot.
    fn options(&self) -> MemoryOptions {
        *self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// First minor version of the interface that has the debugger (kfd.md 5.5).
const MINOR_OF_DEBUGGER: u32 = 13;
/// First minor version of the interface that has shared virtual memory (kfd.md 3.10).
const MINOR_OF_SVM: u32 = 5;
/// Modes of RUNTIME_ENABLE.
const RUNTIME_ENABLE: u32 = 1;
const RUNTIME_SAVES_TTMP: u32 = 2;

impl Platform for Kfd {
    fn name(&self) -> &'static str {
        "kfd"
    }

    fn kernel_interface(&self) -> HsaVersionInfo {
        let (major, minor) = self.binding.version();
        HsaVersionInfo { KernelInterfaceMajorVersion: major, KernelInterfaceMinorVersion: minor }
    }

    fn discover(&self, host: &Host, options: &Options) -> Result<Discovery, super::Error> {
        *self.options.lock().unwrap_or_else(PoisonError::into_inner) = options.memory;
        let gate = Gate::new(host, &self.binding, &options.memory)?;
        let mut discovery = sysfs::read(&host.path(TOPOLOGY), options, &gate, Tolerance::Live)?;
        let admitted = gate.admitted();
        let is_discrete = |node: &Node| node.properties.NumFComputeCores != 0 && node.properties.NumCPUCores == 0;
        let discrete = discovery.nodes.iter().any(is_discrete);
        self.binding.note_discrete_gpu(discrete);
        let svm = self.binding.space().map(|space| (*space.range().start(), *space.range().end()));
        let names = ProductNames::read(host);
        for node in &mut discovery.nodes {
            let gpu_id = node.properties.KFDGpuID;
            let Some(gpu) = admitted.get(&gpu_id).filter(|_| gpu_id != 0) else { continue };
            match gpu.render.graphics() {
                Ok(graphics) => derive::graphics(&mut node.properties, graphics, &names),
                Err(error) => discovery.remarks.push(format!("gpu_id {gpu_id}: {error}: its name is a guess")),
            }
            let mmio = gpu.render.mmio(&self.binding).filter(|_| svm.is_some()).map(MmioPage::place);
            banks::append(node, &gpu.apertures, Shared { svm, mmio, discrete });
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

    /// ROCr does before its first acquire, and the original has never refused it (kfd.md 2.8).
    fn allows_spare_releases(&self) -> bool {
        true
    }

    fn memory(&self) -> Result<&dyn Memory, super::Error> {
        Ok(self)
    }

    fn events(&self) -> Option<&dyn Events> {
        Some(self)
    }

    fn clock_counters(&self) -> Result<HsaClockCounters, super::Error> {
        Ok(device::clock_counters(&self.binding, 0)?)
    }

    fn retry_faults(&self, wanted: Option<bool>) -> Result<bool, super::Error> {
        self.require(MINOR_OF_SVM, "retried page faults on this kernel")?;
        match calls::set_xnack_mode(self.binding.kfd().as_fd(), wanted.map_or(-1, i32::from)) {
            Ok(holds) => Ok(holds != 0),
            Err(error) if error.errno == libc::EPERM => Err(super::Error::Unsupported("retried page faults here")),
            Err(error) => Err(Error::Call(error).into()),
        }
    }

    fn enable_runtime(&self, r_debug: u64, ttmp: bool) -> Result<u32, super::Error> {
        self.require(MINOR_OF_DEBUGGER, "registering a runtime with the debugger of this kernel")?;
        let mode = RUNTIME_ENABLE | if ttmp { RUNTIME_SAVES_TTMP } else { 0 };
        Ok(calls::runtime_enable(self.binding.kfd().as_fd(), r_debug, mode).map_err(Error::Call)?)
    }

    fn disable_runtime(&self) -> Result<(), super::Error> {
        self.require(MINOR_OF_DEBUGGER, "registering a runtime with the debugger of this kernel")?;
        calls::runtime_enable(self.binding.kfd().as_fd(), 0, 0).map_err(Error::Call)?;
        Ok(())
    }
}

impl Kfd {
    /// Fails unless the kernel's interface has at least that minor version.
    fn require(&self, minor: u32, what: &'static str) -> Result<(), super::Error> {
        if self.binding.version().1 >= minor { Ok(()) } else { Err(super::Error::Unsupported(what)) }
    }
}

/// What the process or the machine lacks, not the GPU that is being looked at: to go on without that GPU would be wrong.
fn is_shortage(errno: i32) -> bool {
    matches!(errno, libc::EMFILE | libc::ENFILE | libc::ENOMEM)
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}
