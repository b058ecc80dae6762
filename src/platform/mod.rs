//! The seam between the thunk and a kernel driver: one trait and the words that cross it.
//!
//! `dxg` (WSL) and `kfd` (bare metal) implement it and never name each other; `choice` opens the one that the
//! machine has. This room may touch devices,
//! sysfs and foreign libraries; it keeps no global state, prints nothing and reads no environment variable:
//! what it is told arrives in [`Options`], what went wrong leaves in its errors and in [`Skipped`].
//! May call: `abi`, `asic`.

pub mod caller;
mod choice;
pub mod dxg;
pub mod file;
pub mod host;
pub mod kfd;
pub(crate) mod name;
pub(crate) mod notes;
pub mod os;

use std::any::Any;
use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::Arc;

use crate::abi::{
    HSA_ENGINE_ID, HsaCacheProperties, HsaIoLinkProperties, HsaMemoryProperties, HsaNodeProperties,
    HsaSystemProperties, HsaVersionInfo,
};

pub use choice::{Choice, Kept, Opened, Request, open};
pub use host::Host;

use self::file::Trace;

/// A graphics version: major, minor, stepping, as in gfx90a = 9.0.10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct GfxVersion {
    /// Major number, at most 63.
    pub major: u8,
    /// Minor number.
    pub minor: u8,
    /// Stepping.
    pub stepping: u8,
}

impl GfxVersion {
    /// `engine` with this version; its firmware version stays.
    pub fn in_engine_id(self, engine: HSA_ENGINE_ID) -> HSA_ENGINE_ID {
        engine
            .with(HSA_ENGINE_ID::Major, self.major.into())
            .with(HSA_ENGINE_ID::Minor, self.minor.into())
            .with(HSA_ENGINE_ID::Stepping, self.stepping.into())
    }
}

/// What a platform is told: what the environment asks of it, read in one place, `process::settings`, and what earlier
/// snapshots of the process know.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Admit adapters whose model is not known for certain (`LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS`).
    pub admit_unlisted: bool,
    /// `HSA_OVERRIDE_GFX_VERSION`, when it is set and well-formed.
    pub gfx_override: Option<GfxVersion>,
    /// `HSA_OVERRIDE_GFX_VERSION_n` by node id n (KFD); wins over [`Options::gfx_override`].
    pub gfx_override_per_node: BTreeMap<u32, GfxVersion>,
    /// `HSA_USE_SVM` is not exactly "0".
    pub use_svm: bool,
    /// What need not be read again (KFD).
    pub recall: kfd::sysfs::Recall,
}

/// One node, complete: what the getters of the C API hand out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// The node itself; its counts equal the lengths of the lists below.
    pub properties: HsaNodeProperties,
    /// Memory banks.
    pub banks: Vec<HsaMemoryProperties>,
    /// Caches. They are most of what a node is, and the same in every snapshot of a generation of the kernel's tree.
    pub caches: Arc<Vec<HsaCacheProperties>>,
    /// Links that start here.
    pub links: Vec<HsaIoLinkProperties>,
}

/// Something that was found and is not a node, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Which adapter, node or file, by the names its owner knows it by.
    pub what: String,
    /// The call that failed with its status, or the rule that excluded it.
    pub reason: String,
    /// It is a device of ours that should have been a node (false: foreign vendor, not worth a warning).
    pub expected: bool,
}

/// An open device; it closes when the last handle on it goes, or when it is told to.
pub trait Device: Send + Sync {
    /// Closes it now, step by step to the end, and returns the first error. A second call does nothing.
    fn close(&self) -> Result<(), Error>;

    /// The platform's own type, for the platform's own rooms.
    fn as_any(&self) -> &(dyn Any + Send + Sync);
}

/// What a platform found.
#[derive(Default)]
pub struct Discovery {
    /// Machine-wide numbers; `NumNodes` is filled by `topology`.
    pub system: HsaSystemProperties,
    /// Nodes that the kernel itself describes (KFD), in node order.
    pub nodes: Vec<Node>,
    /// The kernel that describes `nodes` lists no link beyond the direct ones: `topology` derives the others.
    pub lacks_indirect_links: bool,
    /// GPUs that only the driver describes (DXG), in enumeration order; `topology` derives their nodes.
    pub gpus: Vec<GpuInfo>,
    /// One open device per GPU, in node order of the GPUs.
    pub devices: Vec<Arc<dyn Device>>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Remarks that are worth a line: assumptions made, values replaced.
    pub remarks: Vec<String>,
}

/// What is known of one GPU on WSL, from a provider, the public queries and the ASIC table (dxg.md section 6).
///
/// 0 or empty means unknown unless a field says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GpuInfo {
    /// Adapter LUID, low part.
    pub luid_low: u32,
    /// Adapter LUID, high part (the bits of the signed number).
    pub luid_high: u32,
    /// PCI device id.
    pub device_id: u16,
    /// PCI revision.
    pub revision: u8,
    /// `bus << 8 | device << 3 | function`.
    pub pci_location: u32,
    /// PCI domain.
    pub pci_domain: u32,
    /// WDDM version of its driver: 3100 is 3.1.
    pub wddm_version: u32,
    /// Name to show to people.
    pub product_name: String,
    /// Graphics version.
    pub gfx: GfxVersion,
    /// Discrete, not part of a CPU.
    pub is_dgpu: bool,
    /// `Capability.ASICRevision`, 4 bits.
    pub asic_revision: u32,
    /// Marketing family number of the driver.
    pub family: u32,
    /// Stable identity of the device.
    pub unique_id: u64,
    /// Compute units that work.
    pub compute_units: u32,
    /// SIMDs per compute unit.
    pub simd_per_cu: u32,
    /// Waves that one compute unit holds.
    pub waves_per_cu: u32,
    /// Lanes of a wave.
    pub wavefront_size: u32,
    /// Shader engines of the device.
    pub shader_engines: u32,
    /// Shader arrays of one engine.
    pub arrays_per_engine: u32,
    /// LDS of one compute unit, in bytes.
    pub lds_bytes: u32,
    /// Scratch slots of one compute unit.
    pub scratch_slots_per_cu: u32,
    /// Address watch points.
    pub watch_points: u32,
    /// Accelerated compute dies.
    pub num_xcc: u32,
    /// SDMA engines.
    pub sdma_engines: u32,
    /// Queues of the command processor.
    pub cp_queues: u32,
    /// Firmware of the compute micro engine.
    pub mec_firmware: u32,
    /// Firmware of SDMA.
    pub sdma_firmware: u32,
    /// L1 cache, in bytes.
    pub l1_bytes: u64,
    /// L2 cache, in bytes.
    pub l2_bytes: u64,
    /// L3 cache, in bytes.
    pub l3_bytes: u64,
    /// Local memory, in bytes, visible and invisible parts together.
    pub local_bytes: u64,
    /// System memory that the GPU may use as its own, in bytes (counted for APUs).
    pub non_local_bytes: u64,
    /// Memory bus, in bits.
    pub memory_bus_bits: u32,
    /// Largest memory clock, in MHz.
    pub memory_clock_mhz: u32,
    /// Largest engine clock, in MHz.
    pub engine_clock_mhz: u32,
    /// GPU counter, in Hz.
    pub counter_hz: u64,
    /// PCIe atomics reach the host.
    pub platform_atomics: bool,
    /// GPU address of the LDS aperture.
    pub lds_aperture: u64,
    /// GPU address of the scratch aperture.
    pub scratch_aperture: u64,
    /// Size of the scratch aperture, in bytes.
    pub scratch_aperture_bytes: u64,
    /// The driver runs AQL queues itself.
    pub native_aql: bool,
}

/// A kernel driver behind the seam.
pub trait Platform: Send + Sync {
    /// Short name for messages and tools: "dxg" or "kfd".
    fn name(&self) -> &'static str;

    /// Version of the kernel interface, for `hsaKmtGetVersion`.
    fn kernel_interface(&self) -> HsaVersionInfo;

    /// Finds and opens the devices. All or nothing: on an error nothing stays open.
    fn discover(&self, host: &Host, options: &Options) -> Result<Discovery, Error>;

    /// Whether every one of `devices` can be debugged; `Ok(false)` when one cannot.
    fn debug_support(&self, devices: &[Arc<dyn Device>]) -> Result<bool, Error>;

    /// Number of the device file that this platform keeps open, if it keeps one.
    fn probe_fd(&self) -> Option<RawFd>;

    /// Every device file that is open as long as this platform is, and no longer: what a fork child inherits and must
    /// close, beside what is in [`Kept`].
    fn files(&self) -> Vec<Trace>;
}

/// Why a platform call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// WSL side.
    #[error(transparent)]
    Dxg(#[from] dxg::Error),
    /// Bare-metal side.
    #[error(transparent)]
    Kfd(#[from] kfd::Error),
    /// A file of the machine could not be read.
    #[error(transparent)]
    Host(#[from] host::Error),
    /// No platform can be opened: why not, of each that was tried.
    #[error("{}", joined(.0))]
    NoPlatform(Vec<Error>),
}

fn joined(errors: &[Error]) -> String {
    errors.iter().map(Error::to_string).collect::<Vec<_>>().join("; ")
}
