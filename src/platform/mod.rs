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
pub mod events;
pub mod file;
pub mod host;
pub mod kfd;
pub mod memory;
pub mod memory_file;
pub(crate) mod name;
pub(crate) mod notes;
pub mod os;
pub mod ranges;
pub mod span;

use std::any::Any;
use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::Arc;

use crate::abi::{
    HSA_ENGINE_ID, HsaCacheProperties, HsaClockCounters, HsaIoLinkProperties, HsaMemoryProperties, HsaNodeProperties,
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
    /// How memory is given out (KFD).
    pub memory: MemoryOptions,
    /// What need not be read again (KFD).
    pub recall: kfd::sysfs::Recall,
}

/// How memory is given out on bare metal (kfd.md 1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryOptions {
    /// `HSA_DISABLE_CACHE`: GPUs cache nothing.
    pub disable_cache: bool,
    /// `HSA_USERPTR_FOR_PAGED_MEM` is not "0": paged host memory is made of pages of the process.
    pub user_pages: bool,
    /// `HSA_ZFB`: local memory is taken from the host.
    pub zero_frame_buffer: bool,
    /// `HSA_RESERVE_SVM`: a part of the address space is set aside, also where all of it is shared.
    pub reserve: bool,
    /// `HSA_SVM_GUARD_PAGES`: pages around an allocation that nothing else gets.
    pub guard_pages: u32,
    /// `WSL_ENABLE_THUNK_SUB_ALLOCATOR` is not "0": small allocations are cut from large ones (DXG).
    pub sub_allocator: bool,
    /// `HSA_MAX_VA_ALIGN`: large allocations are aligned to at most a page shifted by this.
    pub most_alignment: u32,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self {
            disable_cache: false,
            user_pages: true,
            zero_frame_buffer: false,
            reserve: false,
            guard_pages: 1,
            sub_allocator: true,
            most_alignment: 9,
        }
    }
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

    /// The same, kept.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;

    /// What the driver calls it: the same for the same GPU in every snapshot, and never 0.
    fn id(&self) -> u64;

    /// Its clocks and those of the host.
    fn clock_counters(&self) -> Result<HsaClockCounters, Error> {
        Err(Error::Unsupported("clock counters on this driver"))
    }

    /// How it lays out surfaces: modes are written into the arrays, as many as fit.
    fn tile_config(&self, tiles: &mut [u32], macro_tiles: &mut [u32]) -> Result<TileConfig, Error> {
        let _ = (tiles, macro_tiles);
        Err(Error::Unsupported("tile modes on this driver"))
    }

    /// Sets its trap handler and the handler's buffer, by GPU addresses.
    fn set_trap_handler(&self, handler: u64, buffer: u64) -> Result<(), Error> {
        let _ = (handler, buffer);
        Err(Error::Unsupported("trap handlers on this driver"))
    }

    /// Bytes of its memory, free or in use.
    fn total_memory(&self) -> Result<u64, Error> {
        Err(Error::Unsupported("the memory in use on this driver"))
    }

    /// Bytes of its memory that are free.
    fn available_memory(&self) -> Result<u64, Error> {
        Err(Error::Unsupported("the free memory on this driver"))
    }

    /// The device of libdrm behind it, as an address.
    fn drm_handle(&self) -> Result<usize, Error> {
        Err(Error::Unsupported("device handles of libdrm on this driver"))
    }
}

/// The open GPUs of a snapshot, by node.
pub type Devices = BTreeMap<u32, Arc<dyn Device>>;

/// The node of the device that the driver calls `id`.
pub fn node_of(devices: &Devices, id: u64) -> Option<u32> {
    devices.iter().find(|(_, device)| device.id() == id).map(|(node, _)| *node)
}

/// How a GPU lays out surfaces (`HsaGpuTileConfig`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TileConfig {
    /// Tile modes written.
    pub tiles: u32,
    /// Macro tile modes written.
    pub macro_tiles: u32,
    /// Address configuration register.
    pub gb_addr_config: u32,
    /// Memory banks.
    pub banks: u32,
    /// Memory ranks.
    pub ranks: u32,
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

    /// Whether its callers release a snapshot that they have not acquired, and take success for granted.
    fn allows_spare_releases(&self) -> bool {
        false
    }

    /// Lets go of the devices of the last discovery, which is about to be dropped.
    fn forget_devices(&self) {}

    /// Its memory, or why there is none to be had.
    fn memory(&self) -> Result<&dyn memory::Memory, Error> {
        Err(Error::Unsupported("memory on this driver"))
    }

    /// Its events; `None` when there are none to be had.
    fn events(&self) -> Option<&dyn events::Events> {
        None
    }

    /// The clocks of the host.
    fn clock_counters(&self) -> Result<HsaClockCounters, Error> {
        Err(Error::Unsupported("clock counters on this driver"))
    }

    /// Sets whether GPUs retry accesses that fault, or only asks; returns what holds now.
    fn retry_faults(&self, wanted: Option<bool>) -> Result<bool, Error> {
        let _ = wanted;
        Err(Error::Unsupported("retried page faults on this driver"))
    }

    /// Registers this process with debuggers; returns the capabilities. `ttmp`: trap registers are set up.
    fn enable_runtime(&self, r_debug: u64, ttmp: bool) -> Result<u32, Error> {
        let _ = (r_debug, ttmp);
        Err(Error::Unsupported("registering a runtime with the debugger of this driver"))
    }

    /// Ends what [`Platform::enable_runtime`] began.
    fn disable_runtime(&self) -> Result<(), Error> {
        Ok(())
    }
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
    /// The platform has no such thing.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// No platform can be opened: why not, of each that was tried.
    #[error("{}", joined(.0))]
    NoPlatform(Vec<Error>),
}

impl Error {
    /// Memory or addresses are used up: the same may succeed when something is freed.
    pub fn is_exhaustion(&self) -> bool {
        match self {
            Self::Dxg(error) => {
                matches!(error, dxg::Error::Exhausted { .. } | dxg::Error::Full { .. } | dxg::Error::NoPlace { .. })
            }
            Self::Kfd(error) => matches!(error, kfd::Error::NoAddress { .. }) || error.errno() == Some(libc::ENOMEM),
            _ => false,
        }
    }
}

fn joined(errors: &[Error]) -> String {
    errors.iter().map(Error::to_string).collect::<Vec<_>>().join("; ")
}
