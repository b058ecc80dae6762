//! A shared object that can read AMD's private data, through the vtable of `include/rocdxg/kmd_provider.h`.

use std::ffi::{CStr, c_void};
use std::mem::{size_of, transmute};
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::vtable::*;
use crate::platform::dxg::d3dkmt::{D3DKMT_DEVICE_IDS, D3DKMT_QUERYADAPTERINFO, ntstatus};
use crate::platform::dxg::device::Adapter;
use crate::platform::dxg::status::{CallError, NtStatus};
use crate::platform::memory::Surface;
use crate::platform::{GpuInfo, os};

/// File that is looked for beside this library.
pub const FILE: &str = "librocdxg_kmd.so.1";

/// Bytes of the table of the first release.
const FIRST_TABLE: usize = std::mem::offset_of!(rocdxg_kmd_provider, get_allocation_sizes);

/// A loaded provider.
pub struct Provider {
    supported: unsafe extern "C" fn(u32, u32, u32) -> i32,
    adapter_info: unsafe extern "C" fn(*const rocdxg_kmd_adapter, *mut rocdxg_kmd_adapter_info) -> i32,
    memory: Option<MemoryFunctions>,
    /// Name that it gives itself.
    pub name: String,
    // After the functions, which point into it.
    _library: Library,
}

/// What a provider of allocations has; those of the first release have none of it.
#[derive(Clone, Copy)]
struct MemoryFunctions {
    sizes: unsafe extern "C" fn(
        *const rocdxg_kmd_adapter,
        *const rocdxg_kmd_allocation,
        *mut rocdxg_kmd_allocation_sizes,
    ) -> i32,
    fill: unsafe extern "C" fn(
        *const rocdxg_kmd_adapter,
        *const rocdxg_kmd_allocation,
        u32,
        u64,
        u64,
        *mut c_void,
        *mut c_void,
    ) -> i32,
    parse: Option<unsafe extern "C" fn(*const rocdxg_kmd_adapter, *const c_void, u32, *mut rocdxg_kmd_surface) -> i32>,
}

/// What a provider reads in the private data of another process.
#[derive(Debug, Clone, Copy)]
pub struct Parsed {
    /// Bytes of the entry's memory.
    pub bytes: u64,
    /// The surface in it.
    pub surface: Option<Surface>,
}

/// An allocation that is to be described to the driver.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// One of `ROCDXG_KMD_DOMAIN_`.
    pub domain: u32,
    /// `ROCDXG_KMD_MEMORY_` bits.
    pub memory_flags: u32,
    /// Bytes of all entries together.
    pub bytes: u64,
    /// GPU address of the first byte.
    pub address: u64,
}

/// The private data of an allocation.
#[derive(Debug, Default)]
pub struct Blobs {
    /// Of the whole.
    pub driver: Vec<u8>,
    /// Of each entry.
    pub entries: Vec<Vec<u8>>,
}

/// A blob that is larger is a mistake of the provider: the kernel takes less (dxgkrnl.md 2.3).
const MOST_BLOB_BYTES: u32 = 65536;

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("kernel-data provider {} cannot be used: {reason}", path.display())]
pub struct LoadError {
    path: PathBuf,
    reason: String,
}

impl Provider {
    /// Loads the provider that `chosen` names, or the one beside this library if there is one.
    pub fn find(chosen: Option<&Path>) -> Result<Option<Self>, LoadError> {
        if let Some(path) = chosen {
            return Self::load(path).map(Some);
        }
        match os::own_directory().map(|directory| directory.join(FILE)) {
            Some(path) if path.exists() => Self::load(&path).map(Some),
            _ => Ok(None),
        }
    }

    fn load(path: &Path) -> Result<Self, LoadError> {
        let fail = |reason: String| LoadError { path: path.to_owned(), reason };
        // SAFETY: whoever named the file, or put it beside this library, vouches for its initialisers.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| fail(e.to_string()))?;
        // SAFETY: the header gives a symbol of this name this type.
        let entry = unsafe { library.get::<rocdxg_kmd_get_provider_fn>(ROCDXG_KMD_ENTRY.to_bytes_with_nul()) };
        let entry = entry.map_err(|e| fail(e.to_string()))?;
        // SAFETY: as above; a provider answers any version number.
        let table = unsafe { entry(ROCDXG_KMD_VERSION) };
        // SAFETY: the header lets the entry return NULL or a table that lives as long as the library, and a table has
        // at least the fields of version 1 when `struct_size`, which is always there, says so.
        // The fields beyond it are looked at only where `struct_size` says that they are there.
        let table = match unsafe { table.as_ref() } {
            None => return Err(fail(format!("it does not speak version {ROCDXG_KMD_VERSION}"))),
            Some(table) if (table.struct_size as usize) < FIRST_TABLE => {
                return Err(fail(format!("its table has {} bytes", table.struct_size)));
            }
            Some(table) => table,
        };
        let memory = if (table.struct_size as usize) < size_of::<rocdxg_kmd_provider>() {
            None
        } else {
            let functions = |(sizes, fill)| MemoryFunctions { sizes, fill, parse: table.parse_allocation };
            table.get_allocation_sizes.zip(table.fill_allocation).map(functions)
        };
        let (Some(supported), Some(adapter_info)) = (table.query_adapter_supported, table.get_adapter_info) else {
            return Err(fail("its table has holes".to_owned()));
        };
        let name = if table.name.is_null() {
            String::new()
        } else {
            // SAFETY: the header promises a string that ends, for as long as the library is loaded.
            unsafe { CStr::from_ptr(table.name) }.to_string_lossy().into_owned()
        };
        Ok(Self { supported, adapter_info, memory, name, _library: library })
    }

    /// Whether the provider knows this model.
    pub fn supports(&self, ids: &D3DKMT_DEVICE_IDS) -> bool {
        // SAFETY: the call takes numbers and touches no memory of ours.
        unsafe { (self.supported)(ids.VendorID, ids.DeviceID, ids.RevisionID) == 1 }
    }

    /// What the driver says of an adapter.
    pub fn adapter_info(&self, adapter: &Adapter) -> Result<rocdxg_kmd_adapter_info, CallError> {
        let adapter = described(adapter);
        // SAFETY: the structure is integers and characters, for which zero bytes are values.
        let mut info: rocdxg_kmd_adapter_info = unsafe { std::mem::zeroed() };
        info.struct_size = size_of::<rocdxg_kmd_adapter_info>() as u32;
        // SAFETY: both structures live through the call and say their size.
        let status = unsafe { (self.adapter_info)(&adapter, &mut info) };
        CallError::check("get_adapter_info of the kernel-data provider", status)?;
        Ok(info)
    }

    /// Whether it can describe allocations.
    pub fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// The private data of an allocation whose entries have `parts` bytes, one behind the other.
    ///
    /// NOT_SUPPORTED from a provider that cannot describe any.
    pub fn blobs(&self, adapter: &rocdxg_kmd_adapter, what: &Described, parts: &[u64]) -> Result<Blobs, CallError> {
        const SIZES: &str = "get_allocation_sizes of the kernel-data provider";
        const FILL: &str = "fill_allocation of the kernel-data provider";
        let refused = |call, status| CallError { call, status: NtStatus(status) };
        let functions = self.memory.ok_or(refused(SIZES, ntstatus::NOT_SUPPORTED))?;
        let allocation = rocdxg_kmd_allocation {
            struct_size: size_of::<rocdxg_kmd_allocation>() as u32,
            domain: what.domain,
            memory_flags: what.memory_flags,
            engine_flags: 0,
            bytes: what.bytes,
            address: what.address,
            count: parts.len() as u32,
            reserved0: 0,
        };
        let struct_size = size_of::<rocdxg_kmd_allocation_sizes>() as u32;
        let mut sizes = rocdxg_kmd_allocation_sizes { struct_size, driver_bytes: 0, entry_bytes: 0, reserved0: 0 };
        // SAFETY: the structures live through the call and say their size.
        CallError::check(SIZES, unsafe { (functions.sizes)(adapter, &allocation, &mut sizes) })?;
        if sizes.driver_bytes > MOST_BLOB_BYTES || sizes.entry_bytes > MOST_BLOB_BYTES {
            return Err(refused(SIZES, ntstatus::BUFFER_TOO_SMALL));
        }
        let mut driver = vec![0; sizes.driver_bytes as usize];
        let (mut entries, mut offset) = (Vec::with_capacity(parts.len()), 0);
        for (index, &bytes) in (0_u32..).zip(parts) {
            let mut entry = vec![0; sizes.entry_bytes as usize];
            let whole = if index == 0 { driver.as_mut_ptr().cast() } else { std::ptr::null_mut() };
            // SAFETY: the structures live through the call, and both blobs have the size that the provider asked for.
            let status = unsafe {
                (functions.fill)(adapter, &allocation, index, offset, bytes, whole, entry.as_mut_ptr().cast())
            };
            CallError::check(FILL, status)?;
            entries.push(entry);
            offset += bytes;
        }
        Ok(Blobs { driver, entries })
    }

    /// What the private data of an entry says that another process created; `None` where the provider cannot read it.
    pub fn parse(&self, adapter: &rocdxg_kmd_adapter, entry: &[u8]) -> Option<Parsed> {
        let parse = self.memory?.parse?;
        let struct_size = size_of::<rocdxg_kmd_surface>() as u32;
        let mut found = rocdxg_kmd_surface { struct_size, flags: 0, bytes: 0, swizzle_mode: 0, tile_swizzle: 0 };
        let bytes = u32::try_from(entry.len()).ok()?;
        // SAFETY: the blob has the length that is beside it, and the structures live through the call and say their size.
        let status = unsafe { parse(adapter, entry.as_ptr().cast(), bytes, &mut found) };
        let known = found.flags & ROCDXG_KMD_SURFACE_SWIZZLE_KNOWN != 0;
        let (swizzle_mode, tile_swizzle) = (found.swizzle_mode, found.tile_swizzle);
        let surface = known.then_some(Surface { swizzle_mode, tile_swizzle });
        (status == ntstatus::SUCCESS).then_some(Parsed { bytes: found.bytes, surface })
    }
}

/// An adapter as providers are told of it.
pub fn described(adapter: &Adapter) -> rocdxg_kmd_adapter {
    let query = adapter.dxcore().query_adapter_info_address();
    rocdxg_kmd_adapter {
        struct_size: size_of::<rocdxg_kmd_adapter>() as u32,
        adapter: adapter.handle(),
        luid_low: adapter.luid.LowPart,
        luid_high: adapter.luid.HighPart,
        // SAFETY: the two types differ in the pointee of one pointer argument only.
        query_adapter_info: Some(unsafe {
            transmute::<
                unsafe extern "C" fn(*mut D3DKMT_QUERYADAPTERINFO) -> i32,
                unsafe extern "C" fn(*mut c_void) -> i32,
            >(query)
        }),
    }
}

/// Replaces in `info` everything that the provider knows.
pub fn overlay(from: &rocdxg_kmd_adapter_info, info: &mut GpuInfo) {
    macro_rules! take {
        ($($field:ident),* $(,)?) => {
            $(if from.$field != 0 { info.$field = from.$field; })*
        };
    }
    take!(
        pci_location,
        pci_domain,
        asic_revision,
        family,
        unique_id,
        compute_units,
        simd_per_cu,
        waves_per_cu,
        wavefront_size,
        shader_engines,
        arrays_per_engine,
        lds_bytes,
        scratch_slots_per_cu,
        watch_points,
        num_xcc,
        sdma_engines,
        cp_queues,
        mec_firmware,
        sdma_firmware,
        memory_bus_bits,
        memory_clock_mhz,
        engine_clock_mhz,
        l1_bytes,
        l2_bytes,
        l3_bytes,
        local_bytes,
        non_local_bytes,
        counter_hz,
        lds_aperture,
        scratch_aperture,
    );
    if from.gfx_major != 0 {
        info.gfx.major = from.gfx_major.min(63) as u8;
        info.gfx.minor = from.gfx_minor as u8;
        info.gfx.stepping = from.gfx_stepping as u8;
    }
    let flag = |bit: u32, known: &mut bool| {
        if from.flags_known & bit != 0 {
            *known = from.flags & bit != 0;
        }
    };
    flag(ROCDXG_KMD_FLAG_DISCRETE, &mut info.is_dgpu);
    flag(ROCDXG_KMD_FLAG_PLATFORM_ATOMICS, &mut info.platform_atomics);
    flag(ROCDXG_KMD_FLAG_NATIVE_AQL, &mut info.native_aql);
    let name: Vec<u8> = from.product_name.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
    if !name.is_empty() {
        info.product_name = String::from_utf8_lossy(&name).into_owned();
    }
}
