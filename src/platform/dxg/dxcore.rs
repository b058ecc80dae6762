//! Microsoft's libdxcore: found, loaded, and its entry points as safe calls.
//!
//! Every call here is one D3DKMT call with one status. Only STATUS_SUCCESS is success. Outputs are read only then.

use std::ffi::{CString, c_void};
use std::fmt::Write as _;
use std::mem::{MaybeUninit, size_of};
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Calls that a newer libdxcore has.
#[derive(Debug, Clone, thiserror::Error)]
#[error("libdxcore has no {0}")]
pub struct CallsMissing(String);

type Call<T> = unsafe extern "C" fn(*mut T) -> i32;

macro_rules! entry_points {
    ($(#[$doc:meta])* $table:ident: $($field:ident: $name:literal, $arg:ty;)*) => {
        $(#[$doc])*
        pub(super) struct $table {
            $(pub(super) $field: Call<$arg>,)*
        }

        impl $table {
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
    /// The entry points without which there is no GPU.
    EntryPoints:
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

entry_points! {
    /// The entry points without which there is no memory.
    MemoryEntryPoints:
    create_allocation: "D3DKMTCreateAllocation2", D3DKMT_CREATEALLOCATION;
    destroy_allocation: "D3DKMTDestroyAllocation2", D3DKMT_DESTROYALLOCATION2;
    evict: "D3DKMTEvict", D3DKMT_EVICT;
    free_gpu_va: "D3DKMTFreeGpuVirtualAddress", D3DKMT_FREEGPUVIRTUALADDRESS;
    get_device_state: "D3DKMTGetDeviceState", D3DKMT_GETDEVICESTATE;
    make_resident: "D3DKMTMakeResident", D3DDDI_MAKERESIDENT;
    map_gpu_va: "D3DKMTMapGpuVirtualAddress", D3DDDI_MAPGPUVIRTUALADDRESS;
    open_resource: "D3DKMTOpenResourceFromNtHandle", D3DKMT_OPENRESOURCEFROMNTHANDLE;
    query_resource_info: "D3DKMTQueryResourceInfoFromNtHandle", D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE;
    reserve_gpu_va: "D3DKMTReserveGpuVirtualAddress", D3DDDI_RESERVEGPUVIRTUALADDRESS;
    share_objects: "D3DKMTShareObjects", D3DKMT_SHAREOBJECTS;
    wait_from_cpu: "D3DKMTWaitForSynchronizationObjectFromCpu", D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU;
}

/// A loaded libdxcore. Dropping it unloads the library, which closes its `/dev/dxg` and with it every kernel object.
pub struct Dxcore {
    entries: EntryPoints,
    /// Or the names of those that are missing.
    memory: Result<MemoryEntryPoints, String>,
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
        let (entries, memory) = unsafe { (EntryPoints::resolve(find), MemoryEntryPoints::resolve(find)) };
        match entries {
            Ok(entries) => Ok(Self { entries, memory, _library: Some(library) }),
            Err(missing) => Err(LoadError::MissingSymbols { library: name.to_owned(), missing }),
        }
    }

    /// Uses entry points that the program itself carries.
    pub fn embedded(lookup: Lookup) -> Result<Self, LoadError> {
        // SAFETY: `Lookup` requires functions of the right signature.
        let (entries, memory) = unsafe { (EntryPoints::resolve(lookup), MemoryEntryPoints::resolve(lookup)) };
        entries
            .map(|entries| Self { entries, memory, _library: None })
            .map_err(|missing| LoadError::MissingSymbols { library: "the embedded libdxcore".to_owned(), missing })
    }

    /// The calls on memory; an error names those that this libdxcore does not have.
    pub(super) fn memory(&self) -> Result<&MemoryEntryPoints, CallsMissing> {
        self.memory.as_ref().map_err(|names| CallsMissing(names.clone()))
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
        let words = self.statistics("D3DKMTQueryStatistics(ADAPTER)", luid, query_statistics::ADAPTER, 0)?;
        Ok(words[query_statistics::NODE_COUNT])
    }

    /// One question of `D3DKMTQueryStatistics` about an adapter.
    fn statistics(&self, call: &'static str, luid: LUID, kind: u32, index: u32) -> Result<[u32; 194], CallError> {
        let mut args =
            D3DKMT_QUERYSTATISTICS { Type: kind, AdapterLuid: luid, hProcess: 0, QueryResult: [0; 194], Index: index };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check(call, unsafe { (self.entries.query_statistics)(&mut args) })?;
        Ok(args.QueryResult)
    }

    /// Number of memory segments of an adapter.
    pub fn segment_count(&self, luid: LUID) -> Result<u32, CallError> {
        let words = self.statistics("D3DKMTQueryStatistics(ADAPTER)", luid, query_statistics::ADAPTER, 0)?;
        Ok(words[query_statistics::NB_SEGMENTS])
    }

    /// One memory segment of an adapter.
    pub fn segment(&self, luid: LUID, index: u32) -> Result<D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION, CallError> {
        let words = self.statistics("D3DKMTQueryStatistics(SEGMENT)", luid, query_statistics::SEGMENT, index)?;
        // SAFETY: the answer begins with the structure, which is integers, for which any bytes are values, and shorter.
        Ok(unsafe { words.as_ptr().cast::<D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION>().read_unaligned() })
    }

    /// Bytes in use of a group of segments, by all processes.
    pub fn group_usage(&self, luid: LUID, group: u32) -> Result<u64, CallError> {
        const CALL: &str = "D3DKMTQueryStatistics(SEGMENT_GROUP_USAGE)";
        let words = self.statistics(CALL, luid, query_statistics::SEGMENT_GROUP_USAGE, group << 16)?;
        let at = query_statistics::GROUP_ALLOCATED_BYTES;
        Ok(u64::from(words[at]) | u64::from(words[at + 1]) << 32)
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
        let fence = args.FenceValueCPUVirtualAddress.expose_provenance();
        Ok(PagingQueue { handle: args.hPagingQueue, sync_object: args.hSyncObject, fence })
    }

    /// Destroys a paging queue; its fence page is unmapped at once.
    pub fn destroy_paging_queue(&self, queue: &PagingQueue) -> Result<(), CallError> {
        let mut args = D3DDDI_DESTROYPAGINGQUEUE { hPagingQueue: queue.handle };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check("D3DKMTDestroyPagingQueue", unsafe { (self.entries.destroy_paging_queue)(&mut args) })
    }
}

/// A paging queue of a device.
#[derive(Debug, Clone, Copy)]
pub struct PagingQueue {
    pub(super) handle: D3DKMT_HANDLE,
    /// Its fence, for waits.
    pub(super) sync_object: D3DKMT_HANDLE,
    /// Where the program sees the fence's value, for as long as the queue lives.
    fence: usize,
}

impl PagingQueue {
    /// The value that the fence has reached.
    ///
    /// # Safety
    /// The queue must not have been destroyed.
    pub(super) unsafe fn reached(&self) -> u64 {
        let fence: *const AtomicU64 = std::ptr::with_exposed_provenance(self.fence);
        // SAFETY: the kernel maps a page for the value, which begins it, for as long as the queue lives; the mapping is
        // never written here.
        unsafe { &*fence }.load(Ordering::Acquire)
    }
}
