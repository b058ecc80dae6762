//! WSL: `/dev/dxg` through Microsoft's libdxcore.
//!
//! `d3dkmt` is layout, `status` the error of one call, `dxcore` the library and its calls, `device` what is opened,
//! `kmd` what is known of a GPU. Touches `/dev/dxg` and libdxcore; never names `platform::kfd`.
//! May call: `abi`, `asic`, the words of `platform`.

pub mod d3dkmt;
pub mod device;
pub mod dxcore;
pub mod kmd;
pub mod status;

use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::device::{Adapter, DxgDevice};
use self::dxcore::{Dxcore, LoadError, Lookup};
use self::kmd::provider::{self, Provider};
use self::kmd::public;
use self::status::CallError;
use super::file::{DeviceFile, Trace};
use super::{Device, Discovery, GpuInfo, Host, Options, Platform, Skipped};
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
}

/// An open WSL platform: who knows AMD's private data, the probe file, and libdxcore.
pub struct Dxg {
    // Dropped in this order.
    provider: Option<Provider>,
    probe: Option<DeviceFile>,
    dxcore: Arc<Dxcore>,
    /// What an open could do without.
    remarks: Vec<String>,
}

impl Dxg {
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
            Ok(provider) => (provider, Vec::new()),
            Err(error) => (None, vec![error.to_string()]),
        };
        Ok(Self { provider, probe, dxcore: Arc::new(dxcore), remarks })
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
        let device = DxgDevice::open(adapter).map_err(|error| skipped(&who, error, true))?;
        Ok((info, device))
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
        let listed = self.dxcore.enum_adapters().map_err(Error::Call)?;
        // Every handle has its owner before anything else can fail.
        let adapters: Vec<_> = listed.iter().map(|info| Adapter::new(Arc::clone(&self.dxcore), info)).collect();
        for adapter in adapters {
            match self.adapter(adapter, options, &mut discovery.remarks) {
                Ok((info, device)) => {
                    discovery.gpus.push(info);
                    discovery.devices.push(Arc::new(device));
                }
                Err(skipped) => discovery.skipped.push(skipped),
            }
        }
        Ok(discovery)
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
