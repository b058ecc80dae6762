//! A shared object that can read AMD's private data, through the vtable of `include/rocdxg/kmd_provider.h`.

use std::ffi::CStr;
use std::mem::{size_of, transmute};
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::vtable::*;
use crate::platform::dxg::d3dkmt::{D3DKMT_DEVICE_IDS, D3DKMT_QUERYADAPTERINFO};
use crate::platform::dxg::device::Adapter;
use crate::platform::dxg::status::CallError;
use crate::platform::{GpuInfo, os};

/// File that is looked for beside this library.
pub const FILE: &str = "librocdxg_kmd.so.1";

/// A loaded provider.
pub struct Provider {
    supported: unsafe extern "C" fn(u32, u32, u32) -> i32,
    adapter_info: unsafe extern "C" fn(*const rocdxg_kmd_adapter, *mut rocdxg_kmd_adapter_info) -> i32,
    /// Name that it gives itself.
    pub name: String,
    // After the functions, which point into it.
    _library: Library,
}

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
        let table = match unsafe { table.as_ref() } {
            None => return Err(fail(format!("it does not speak version {ROCDXG_KMD_VERSION}"))),
            Some(table) if (table.struct_size as usize) < size_of::<rocdxg_kmd_provider>() => {
                return Err(fail(format!("its table has {} bytes", table.struct_size)));
            }
            Some(table) => *table,
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
        Ok(Self { supported, adapter_info, name, _library: library })
    }

    /// Whether the provider knows this model.
    pub fn supports(&self, ids: &D3DKMT_DEVICE_IDS) -> bool {
        // SAFETY: the call takes numbers and touches no memory of ours.
        unsafe { (self.supported)(ids.VendorID, ids.DeviceID, ids.RevisionID) == 1 }
    }

    /// What the driver says of an adapter.
    pub fn adapter_info(&self, adapter: &Adapter) -> Result<rocdxg_kmd_adapter_info, CallError> {
        let query = adapter.dxcore().query_adapter_info_address();
        let adapter = rocdxg_kmd_adapter {
            struct_size: size_of::<rocdxg_kmd_adapter>() as u32,
            adapter: adapter.handle(),
            luid_low: adapter.luid.LowPart,
            luid_high: adapter.luid.HighPart,
            // SAFETY: the two types differ in the pointee of one pointer argument only.
            query_adapter_info: Some(unsafe {
                transmute::<
                    unsafe extern "C" fn(*mut D3DKMT_QUERYADAPTERINFO) -> i32,
                    unsafe extern "C" fn(*mut std::ffi::c_void) -> i32,
                >(query)
            }),
        };
        // SAFETY: the structure is integers and characters, for which zero bytes are values.
        let mut info: rocdxg_kmd_adapter_info = unsafe { std::mem::zeroed() };
        info.struct_size = size_of::<rocdxg_kmd_adapter_info>() as u32;
        // SAFETY: both structures live through the call and say their size.
        let status = unsafe { (self.adapter_info)(&adapter, &mut info) };
        CallError::check("get_adapter_info of the kernel-data provider", status)?;
        Ok(info)
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
