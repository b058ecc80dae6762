//! Microsoft's libdxcore: found, loaded, and its entry points as safe calls.
//!
//! Every call here is one D3DKMT call with one status. Only STATUS_SUCCESS is success. Outputs are read only then.

use std::ffi::{CString, c_void};
use std::fmt::Write as _;
use std::mem::{MaybeUninit, size_of};
use std::path::PathBuf;
use std::ptr::NonNull;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::d3dkmt::*;
use super::status::{CallError, NtStatus};
use crate::platform::Host;

/// Finds an entry point by name: how a program that carries its own libdxcore hands it to the thunk.
///
/// The pointer must be a C function of that name with the signature of the public headers, valid for ever.
pub type Lookup = fn(&str) -> Option<NonNull<c_void>>;

/// Where WSL mounts the library (dxg.md 1.7 for the names that are needed).
const WSL_LIBRARY: &str = "/usr/lib/wsl/lib/libdxcore.so";
const PLAIN_NAME: &str = "libdxcore.so";

/// Why libdxcore cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Neither the plain name nor the place where WSL mounts it can be loaded.
    #[error("libdxcore.so cannot be loaded; tried {0}")]
    NotFound(String),
    /// It is there and is not complete.
    #[error("{library} has no {missing}")]
    MissingSymbols {
        /// The library that was loaded.
        library: String,
        /// Names, separated by commas.
        missing: String,
    },
}

type Call<T> = unsafe extern "C" fn(*mut T) -> i32;

macro_rules! entry_points {
    ($($field:ident: $name:literal, $arg:ty;)*) => {
        /// The entry points that the thunk calls; all of them are mandatory.
        struct EntryPoints {
            $($field: Call<$arg>,)*
        }

        impl EntryPoints {
            /// Every entry point, or the names of those that `find` does not know.
            ///
            /// # Safety
            /// What `find` returns must be functions with the signatures of the public headers.
            unsafe fn resolve(mut find: impl FnMut(&str) -> Option<NonNull<c_void>>) -> Result<Self, String> {
                let mut missing = String::new();
                $(
                    let $field = find($name);
                    if $field.is_none() {
                        let separator = if missing.is_empty() { "" } else { ", " };
                        let _ = write!(missing, "{separator}{}", $name);
                    }
                )*
                match ($($field,)*) {
                    ($(Some($field),)*) => Ok(Self {
                        $(
                            // SAFETY: the caller vouches for the signature; function and data pointers have one
                            // size and form on the platforms of this library.
                            $field: unsafe { std::mem::transmute::<NonNull<c_void>, Call<$arg>>($field) },
                        )*
                    }),
                    _ => Err(missing),
                }
            }
        }
    };
}

entry_points! {
    close_adapter: "D3DKMTCloseAdapter", D3DKMT_CLOSEADAPTER;
    create_device: "D3DKMTCreateDevice", D3DKMT_CREATEDEVICE;
    create_paging_queue: "D3DKMTCreatePagingQueue", D3DKMT_CREATEPAGINGQUEUE;
    destroy_device: "D3DKMTDestroyDevice", D3DKMT_DESTROYDEVICE;
    destroy_paging_queue: "D3DKMTDestroyPagingQueue", D3DDDI_DESTROYPAGINGQUEUE;
    enum_adapters3: "D3DKMTEnumAdapters3", D3DKMT_ENUMADAPTERS3;
    query_adapter_info: "D3DKMTQueryAdapterInfo", D3DKMT_QUERYADAPTERINFO;
    query_clock_calibration: "D3DKMTQueryClockCalibration", D3DKMT_QUERYCLOCKCALIBRATION;
    query_statistics: "D3DKMTQueryStatistics", D3DKMT_QUERYSTATISTICS;
}

/// A loaded libdxcore. Dropping it unloads the library, which closes its `/dev/dxg` and with it every kernel object.
pub struct Dxcore {
    entries: EntryPoints,
    // After the entry points, which point into it.
    _library: Option<Library>,
}

/// An answer of `D3DKMTQueryAdapterInfo` with its query type.
///
/// # Safety
/// Any bytes must form a valid value, and the layout must be the one that `KIND` has in the public headers.
pub unsafe trait Query: Copy {
    /// `KMTQAITYPE_*`.
    const KIND: u32;
    /// The call as messages name it.
    const CALL: &'static str;
}

/// Answer of `KMTQAITYPE_DRIVERVERSION`: 1000 times the WDDM version and its minor number in hundreds, 3100 is 3.1.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct DriverVersion(pub u32);

macro_rules! queries {
    ($($type:ty, $kind:ident;)*) => {
        $(
            // SAFETY: the structure consists of integers only, and tests compare its layout with the public one.
            unsafe impl Query for $type {
                const KIND: u32 = kmtqaitype::$kind;
                const CALL: &'static str = concat!("D3DKMTQueryAdapterInfo(", stringify!($kind), ")");
            }
        )*
    };
}

queries! {
    D3DKMT_ADAPTERADDRESS, ADAPTERADDRESS;
    D3DKMT_ADAPTERREGISTRYINFO, ADAPTERREGISTRYINFO;
    D3DKMT_ADAPTER_PERFDATA, ADAPTERPERFDATA;
    D3DKMT_NODEMETADATA, NODEMETADATA;
    D3DKMT_NODE_PERFDATA, NODEPERFDATA;
    D3DKMT_QUERY_ADAPTER_UNIQUE_GUID, QUERY_ADAPTER_UNIQUE_GUID;
    D3DKMT_QUERY_DEVICE_IDS, PHYSICALADAPTERDEVICEIDS;
    D3DKMT_SEGMENTSIZEINFO, GETSEGMENTSIZE;
    DriverVersion, DRIVERVERSION;
}

/// A value of zero bytes.
pub fn zeroed<T: Query>() -> T {
    // SAFETY: `Query` promises that any bytes form a valid value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

impl Dxcore {
    /// Loads libdxcore: by its plain name, so that the user's library path decides, then where WSL mounts it.
    pub fn load(host: &Host) -> Result<Self, LoadError> {
        let mut tried = String::new();
        for path in [PathBuf::from(PLAIN_NAME), host.path(WSL_LIBRARY)] {
            // SAFETY: libdxcore's initialisers only open the device; nothing of ours is shared with them.
            match unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) } {
                Ok(library) => return Self::from_library(library, &path.display().to_string()),
                Err(error) => {
                    let separator = if tried.is_empty() { "" } else { "; " };
                    let _ = write!(tried, "{separator}{error}");
                }
            }
        }
        Err(LoadError::NotFound(tried))
    }

    fn from_library(library: Library, name: &str) -> Result<Self, LoadError> {
        let find = |symbol: &str| {
            let symbol = CString::new(symbol).ok()?;
            // SAFETY: the address is only looked at here; `resolve` gives it its type.
            let address = unsafe { library.get::<*mut c_void>(symbol.as_bytes_with_nul()) }.ok()?;
            NonNull::new(address.into_raw())
        };
        // SAFETY: functions of these names in a library named libdxcore.so have the signatures of its public headers.
        let entries = unsafe { EntryPoints::resolve(find) };
        match entries {
            Ok(entries) => Ok(Self { entries, _library: Some(library) }),
            Err(missing) => Err(LoadError::MissingSymbols { library: name.to_owned(), missing }),
        }
    }

    /// Uses entry points that the program itself carries.
    pub fn embedded(lookup: Lookup) -> Result<Self, LoadError> {
        // SAFETY: `Lookup` requires functions of the right signature.
        unsafe { EntryPoints::resolve(lookup) }
            .map(|entries| Self { entries, _library: None })
            .map_err(|missing| LoadError::MissingSymbols { library: "the embedded libdxcore".to_owned(), missing })
    }

    /// Address of `D3DKMTQueryAdapterInfo`, for a provider.
    pub fn query_adapter_info_address(&self) -> unsafe extern "C" fn(*mut D3DKMT_QUERYADAPTERINFO) -> i32 {
        self.entries.query_adapter_info
    }

    /// Opens every adapter, compute-only ones included; each entry owns one handle that must be closed.
    ///
    /// The set may grow between counting and listing. An array too small is answered with success and a larger
    /// count (rule 17), so the count decides.
    pub fn enum_adapters(&self) -> Result<Vec<D3DKMT_ADAPTERINFO>, CallError> {
        const CALL: &str = "D3DKMTEnumAdapters3";
        const INCLUDE_COMPUTE_ONLY: u64 = 1;
        /// More adapters than any machine has; the kernel refuses more than 65535.
        const MOST: u32 = 1024;
        const TRIES: u32 = 4;
        let mut args =
            D3DKMT_ENUMADAPTERS3 { Filter: INCLUDE_COMPUTE_ONLY, NumAdapters: 0, pAdapters: std::ptr::null_mut() };
        // SAFETY: no array is passed, so the call only writes the count.
        CallError::check(CALL, unsafe { (self.entries.enum_adapters3)(&mut args) })?;
        for _ in 0..TRIES {
            if args.NumAdapters == 0 {
                return Ok(Vec::new());
            }
            let capacity = args.NumAdapters.min(MOST);
            let empty = D3DKMT_ADAPTERINFO {
                hAdapter: 0,
                AdapterLuid: LUID { LowPart: 0, HighPart: 0 },
                NumOfSources: 0,
                bPrecisePresentRegionsPreferred: 0,
            };
            let mut adapters = vec![empty; capacity as usize];
            args = D3DKMT_ENUMADAPTERS3 {
                Filter: INCLUDE_COMPUTE_ONLY,
                NumAdapters: capacity,
                pAdapters: adapters.as_mut_ptr(),
            };
            // SAFETY: the array has `capacity` entries and outlives the call.
            CallError::check(CALL, unsafe { (self.entries.enum_adapters3)(&mut args) })?;
            if args.NumAdapters <= capacity {
                adapters.truncate(args.NumAdapters as usize);
                return Ok(adapters);
            }
        }
        Err(CallError { call: CALL, status: NtStatus(ntstatus::BUFFER_TOO_SMALL) })
    }

    /// Gives back one handle of an enumeration. Closing the last one of an adapter destroys its devices.
    pub fn close_adapter(&self, adapter: D3DKMT_HANDLE) -> Result<(), CallError> {
        let mut args = D3DKMT_CLOSEADAPTER { hAdapter: adapter };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check("D3DKMTCloseAdapter", unsafe { (self.entries.close_adapter)(&mut args) })
    }

    /// Asks for `T`; `input` carries the fields that are inputs and is returned filled.
    pub fn query<T: Query>(&self, adapter: D3DKMT_HANDLE, input: T) -> Result<T, CallError> {
        let mut answer = input;
        let mut args = D3DKMT_QUERYADAPTERINFO {
            hAdapter: adapter,
            Type: T::KIND,
            pPrivateDriverData: (&raw mut answer).cast(),
            PrivateDriverDataSize: size_of::<T>() as u32,
        };
        // SAFETY: the buffer is `answer`, of the size announced, and any bytes written to it form a valid `T`.
        CallError::check(T::CALL, unsafe { (self.entries.query_adapter_info)(&mut args) })?;
        Ok(answer)
    }

    /// Number of nodes (engines) of an adapter; 0 when the LUID is unknown, which the kernel does not report.
    pub fn node_count(&self, luid: LUID) -> Result<u32, CallError> {
        let mut args = D3DKMT_QUERYSTATISTICS {
            Type: query_statistics::ADAPTER,
            AdapterLuid: luid,
            hProcess: 0,
            QueryResult: [0; 194],
            Index: 0,
        };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check("D3DKMTQueryStatistics(ADAPTER)", unsafe { (self.entries.query_statistics)(&mut args) })?;
        Ok(args.QueryResult[query_statistics::NODE_COUNT])
    }

    /// Frequency of the counter of one node, in Hz.
    pub fn counter_frequency(&self, adapter: D3DKMT_HANDLE, node: u32) -> Result<u64, CallError> {
        let mut args = D3DKMT_QUERYCLOCKCALIBRATION {
            hAdapter: adapter,
            NodeOrdinal: node,
            PhysicalAdapterIndex: 0,
            ClockData: DXGK_GPUCLOCKDATA { GpuFrequency: 0, GpuClockCounter: 0, CpuClockCounter: 0, Flags: 0 },
        };
        // SAFETY: `args` is a valid argument block for the time of the call.
        let status = unsafe { (self.entries.query_clock_calibration)(&mut args) };
        // A failing call overwrites the clock data too (rule 34), so the status decides.
        CallError::check("D3DKMTQueryClockCalibration", status)?;
        let clock = args.ClockData;
        Ok(clock.GpuFrequency)
    }

    /// Creates a device. A refusal arrives as success without a handle (rule 38).
    pub fn create_device(&self, adapter: D3DKMT_HANDLE) -> Result<D3DKMT_HANDLE, CallError> {
        const CALL: &str = "D3DKMTCreateDevice";
        let mut args = D3DKMT_CREATEDEVICE {
            hAdapter: u64::from(adapter),
            Flags: 0,
            hDevice: 0,
            pCommandBuffer: std::ptr::null_mut(),
            CommandBufferSize: 0,
            pAllocationList: std::ptr::null_mut(),
            AllocationListSize: 0,
            pPatchLocationList: std::ptr::null_mut(),
            PatchLocationListSize: 0,
        };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check(CALL, unsafe { (self.entries.create_device)(&mut args) })?;
        match args.hDevice {
            0 => Err(CallError { call: CALL, status: NtStatus(ntstatus::UNSUCCESSFUL) }),
            device => Ok(device),
        }
    }

    /// Destroys a device and everything below it.
    pub fn destroy_device(&self, device: D3DKMT_HANDLE) -> Result<(), CallError> {
        let mut args = D3DKMT_DESTROYDEVICE { hDevice: device };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check("D3DKMTDestroyDevice", unsafe { (self.entries.destroy_device)(&mut args) })
    }

    /// Creates a paging queue of normal priority.
    pub fn create_paging_queue(&self, device: D3DKMT_HANDLE) -> Result<PagingQueue, CallError> {
        const CALL: &str = "D3DKMTCreatePagingQueue";
        let mut args = D3DKMT_CREATEPAGINGQUEUE {
            hDevice: device,
            Priority: 0,
            hPagingQueue: 0,
            hSyncObject: 0,
            FenceValueCPUVirtualAddress: std::ptr::null_mut(),
            PhysicalAdapterIndex: 0,
        };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check(CALL, unsafe { (self.entries.create_paging_queue)(&mut args) })?;
        if args.hPagingQueue == 0 || args.FenceValueCPUVirtualAddress.is_null() {
            return Err(CallError { call: CALL, status: NtStatus(ntstatus::UNSUCCESSFUL) });
        }
        Ok(PagingQueue { handle: args.hPagingQueue })
    }

    /// Destroys a paging queue; its fence page is unmapped at once.
    pub fn destroy_paging_queue(&self, queue: &PagingQueue) -> Result<(), CallError> {
        let mut args = D3DDDI_DESTROYPAGINGQUEUE { hPagingQueue: queue.handle };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check("D3DKMTDestroyPagingQueue", unsafe { (self.entries.destroy_paging_queue)(&mut args) })
    }
}

/// A paging queue of a device.
#[derive(Debug)]
pub struct PagingQueue {
    handle: D3DKMT_HANDLE,
}
