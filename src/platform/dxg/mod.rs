//! WSL: `/dev/dxg` through Microsoft's libdxcore.
//!
//! `d3dkmt` is layout, `status` the error of one call, `dxcore` the library and its calls, `paging` those on memory,
//! `device` what is opened, `kmd` what is known of a GPU. `pools` is the addresses that the program shares with its GPUs,
//! `memory` fills them, `loose` is memory without a place,
//! `record` travels with what is shared, `usage` counts what is in use. Touches `/dev/dxg` and libdxcore; never names `platform::kfd`.
//! May call: `abi`, `asic`, the words of `platform`.

pub mod d3dkmt;
pub mod device;
pub mod dxcore;
pub mod kmd;
mod loose;
mod memory;
pub mod paging;
mod pools;
mod record;
pub mod status;
mod usage;

use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::device::{Adapter, DxgDevice, Facts};
use self::dxcore::{CallsMissing, Dxcore, LoadError, Lookup};
use self::kmd::provider::{self, Provider};
use self::kmd::public;
use self::loose::Names;
use self::pools::Pools;
use self::record::BadRecord;
use self::status::CallError;
use super::file::{DeviceFile, Trace};
use super::memory::Memory;
use super::{Device, Discovery, GpuInfo, Host, MemoryOptions, Options, Platform, Skipped};
use crate::abi::HsaVersionInfo;

/// The device file that says whether this is WSL with a GPU.
pub const DEVICE: &str = "/dev/dxg";

/// Why a call on the WSL side failed.
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
    /// libdxcore cannot be used.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A D3DKMT call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The libdxcore here has no memory calls.
    #[error(transparent)]
    CallsMissing(#[from] CallsMissing),
    /// Nobody describes allocations to the driver.
    #[error(
        "no provider of AMD's private data describes allocations: {} was looked for beside this library, and \
         ROCDXG_KMD_PROVIDER can name another",
        provider::FILE
    )]
    NoProvider,
    /// The device was closed.
    #[error("the device is closed")]
    Closed,
    /// The host has given the device up.
    #[error("the device is lost")]
    Lost,
    /// Paging does not end.
    #[error("paging has not ended within {seconds} s")]
    Stuck {
        /// How long it was waited for.
        seconds: u64,
    },
    /// No eventfd.
    #[error("no event to wait with: {0}")]
    Event(#[source] io::Error),
    /// The program's address space has no room.
    #[error("no addresses for {bytes} bytes: {source}")]
    NoPlace {
        /// Bytes wanted.
        bytes: u64,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Addresses could not be reserved when the first were wanted.
    #[error("no addresses are shared with the GPUs: {0}")]
    NoPool(#[source] Arc<Self>),
    /// The shared addresses are used up, or the one that is wanted is.
    #[error("no shared addresses for {bytes} bytes: {free} are free, at most {largest} in one piece")]
    Full {
        /// Bytes wanted.
        bytes: u64,
        /// Bytes free in all.
        free: u64,
        /// Bytes of the largest free part.
        largest: u64,
    },
    /// More than one call can create.
    #[error("{bytes} bytes are more than one allocation can have")]
    TooLarge {
        /// Bytes wanted.
        bytes: u64,
    },
    /// There is no memory; what the kernel says of it is not always that.
    #[error("no memory for {bytes} bytes: {source}")]
    Exhausted {
        /// Bytes wanted.
        bytes: u64,
        /// What the call said.
        #[source]
        source: CallError,
    },
    /// A GPU cannot reach the memory of another one.
    #[error("GPUs do not reach each other's memory on WSL")]
    PeerAccess,
    /// There is no GPU whose driver could do it.
    #[error("there is no GPU")]
    NoGpu,
    /// A range of addresses that is none.
    #[error("{bytes} bytes at {address:#x} are no range")]
    BadRange {
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// A shared resource is larger than any that is made, or has nothing in it.
    #[error("the shared resource has {allocations} allocations, or more private data than any has")]
    BadShare {
        /// Allocations that it has.
        allocations: u32,
    },
    /// What travels with a shared resource cannot be believed.
    #[error("the shared memory cannot be used: {0}")]
    BadRecord(#[from] BadRecord),
    /// Nothing tells how large shared memory is.
    #[error("nothing tells how large the shared memory is")]
    UnknownSize,
    /// The file is no memory that can be shared.
    #[error("the file is no memory that is shared: {0}")]
    NotMemory(&'static str),
    /// A part of the memory is mapped somewhere.
    #[error("a part of the memory is still mapped")]
    StillMapped,
    /// The memory was not created to be shared.
    #[error("the memory is not one that can be shared")]
    NotShareable,
    /// A call on a file of shared memory failed.
    #[error("a file of shared memory: {0}")]
    File(#[source] io::Error),
    /// A device of another platform.
    #[error("the device is none of this platform's")]
    ForeignDevice,
}

/// An open WSL platform: who knows AMD's private data, the probe file, and libdxcore.
pub struct Dxg {
    // Dropped in this order.
    current: Mutex<Current>,
    names: Arc<Names>,
    provider: Option<Arc<Provider>>,
    probe: Option<DeviceFile>,
    dxcore: Arc<Dxcore>,
    /// What an open could do without.
    remarks: Vec<String>,
}

/// What belongs to the last discovery.
#[derive(Default)]
struct Current {
    options: MemoryOptions,
    pools: Option<Arc<Pools>>,
}

impl Dxg {
    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn options(&self) -> MemoryOptions {
        self.current().options
    }

    /// The addresses that the GPUs of the last discovery share with the program.
    fn pools(&self) -> Result<Arc<Pools>, Error> {
        self.current().pools.clone().ok_or(Error::NoGpu)
    }

    /// Opens the device file and loads libdxcore, or takes the embedded one and needs no device file.
    ///
    /// The file is never used for an ioctl, since libdxcore opens its own: it probes presence and permission, and
    /// callers can ask for its number (dxg.md 1.2).
    pub fn open(host: &Host, embedded: Option<Lookup>, provider: Option<&Path>) -> Result<Self, Error> {
        let (probe, dxcore) = match embedded {
            Some(lookup) => (None, Dxcore::embedded(lookup)?),
            None => {
                let path = host.path(DEVICE);
                let file = DeviceFile::open(&path).map_err(|source| Error::Device { path, source })?;
                (Some(file), Dxcore::load(host)?)
            }
        };
        // Without a provider the GPUs are still there, only less is known of them.
        let (provider, remarks) = match Provider::find(provider) {
            Ok(provider) => (provider.map(Arc::new), Vec::new()),
            Err(error) => (None, vec![error.to_string()]),
        };
        Ok(Self {
            current: Mutex::default(),
            names: Arc::new(Names::new()),
            provider,
            probe,
            dxcore: Arc::new(dxcore),
            remarks,
        })
    }

    /// One adapter of the enumeration: a device, or why it is none.
    fn adapter(
        &self,
        adapter: Adapter,
        options: &Options,
        remarks: &mut Vec<String>,
    ) -> Result<(GpuInfo, DxgDevice), Skipped> {
        let luid = format!("adapter {:08x}:{:08x}", adapter.luid.HighPart, adapter.luid.LowPart);
        let ids = public::device_ids(&adapter).map_err(|error| skipped(&luid, error, true))?;
        let who = format!("{luid} [{:04x}:{:04x} rev {:02x}]", ids.VendorID, ids.DeviceID, ids.RevisionID);
        if ids.VendorID != public::VENDOR_AMD {
            return Err(skipped(&who, "not an AMD device", false));
        }
        let private = match &self.provider {
            Some(provider) if provider.supports(&ids) => {
                Some(provider.adapter_info(&adapter).map_err(|error| skipped(&who, error, true))?)
            }
            _ => None,
        };
        let info = public::info(&adapter, &ids, &who, options, private.is_some(), remarks);
        let mut info = info.map_err(|error| skipped(&who, error, true))?;
        if let Some(private) = &private {
            provider::overlay(private, &mut info);
        }
        let facts = Facts {
            local_bytes: info.local_bytes.saturating_add(if info.is_dgpu { 0 } else { info.non_local_bytes }),
            is_dgpu: info.is_dgpu,
            wddm_version: info.wddm_version,
        };
        let device = DxgDevice::open(adapter, self.provider.clone(), facts);
        Ok((info, device.map_err(|error| skipped(&who, error, true))?))
    }
}

fn skipped(what: &str, reason: impl ToString, expected: bool) -> Skipped {
    Skipped { what: what.to_owned(), reason: reason.to_string(), expected }
}

impl Platform for Dxg {
    fn name(&self) -> &'static str {
        "dxg"
    }

    fn kernel_interface(&self) -> HsaVersionInfo {
        // The number that callers of the WSL thunk have always read; nothing is asked for it (dxg.md 1.8).
        HsaVersionInfo { KernelInterfaceMajorVersion: 1, KernelInterfaceMinorVersion: 17 }
    }

    fn discover(&self, _host: &Host, options: &Options) -> Result<Discovery, super::Error> {
        let mut discovery = Discovery { remarks: self.remarks.clone(), ..Discovery::default() };
        let mut devices = Vec::new();
        let listed = self.dxcore.enum_adapters().map_err(Error::Call)?;
        // Every handle has its owner before anything else can fail.
        let adapters: Vec<_> = listed.iter().map(|info| Adapter::new(Arc::clone(&self.dxcore), info)).collect();
        for adapter in adapters {
            match self.adapter(adapter, options, &mut discovery.remarks) {
                Ok((info, device)) => {
                    discovery.gpus.push(info);
                    let device = Arc::new(device);
                    devices.push(Arc::clone(&device));
                    discovery.devices.push(device);
                }
                Err(skipped) => discovery.skipped.push(skipped),
            }
        }
        let pools = (!devices.is_empty()).then(|| Arc::new(Pools::new(devices)));
        *self.current() = Current { options: options.memory, pools };
        Ok(discovery)
    }

    /// The pools go with their last allocation.
    fn forget_devices(&self) {
        let pools = self.current().pools.take();
        drop(pools);
    }

    fn memory(&self) -> Result<&dyn Memory, super::Error> {
        match &self.provider {
            Some(provider) if provider.has_memory() => Ok(self),
            _ => Err(Error::NoProvider.into()),
        }
    }

    fn debug_support(&self, _devices: &[Arc<dyn Device>]) -> Result<bool, super::Error> {
        // The version of the debugger interface travels in a private escape (dxg.md 4.3) that no source here can
        // encode yet.
        Ok(false)
    }

    fn probe_fd(&self) -> Option<RawFd> {
        self.probe.as_ref().map(|probe| probe.trace().fd)
    }

    fn files(&self) -> Vec<Trace> {
        self.probe.iter().map(DeviceFile::trace).collect()
    }
}
