//! The open provider: decodes the private blob for the client (include/rocdxg/kmd_provider.h).
//!
//! It belongs to the client's side of the stack: all it knows of an adapter comes through the client's own
//! `D3DKMTQueryAdapterInfo`.

use core::ffi::c_char;
use core::ptr;

use rocdxg_fake_gpu::private::{self, Private};

use crate::Status;
use crate::d3dkmt::{D3DKMT_QUERYADAPTERINFO, kmtqaitype, ntstatus};
use crate::vtable::{ROCDXG_KMD_VERSION, rocdxg_kmd_adapter, rocdxg_kmd_adapter_info, rocdxg_kmd_provider};

/// A vtable that any thread may read.
struct Shared(rocdxg_kmd_provider);

// SAFETY: the table is never written, and its pointers lead to constants and functions.
unsafe impl Sync for Shared {}

static PROVIDER: Shared = Shared(rocdxg_kmd_provider {
    struct_size: size_of::<rocdxg_kmd_provider>() as u32,
    version: ROCDXG_KMD_VERSION,
    name: c"rocdxg-fake".as_ptr(),
    query_adapter_supported: Some(query_adapter_supported),
    get_adapter_info: Some(get_adapter_info),
});

/// Entry point of the provider: its table, null for a version that it does not speak.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_kmd_get_provider(version: u32) -> *const rocdxg_kmd_provider {
    if version == ROCDXG_KMD_VERSION { &raw const PROVIDER.0 } else { ptr::null() }
}

/// The list of models that the vendor's library carries: here, those of the machine with a private part.
extern "C" fn query_adapter_supported(vendor_id: u32, device_id: u32, revision_id: u32) -> i32 {
    let machine = crate::process::machine_of_process().unwrap_or_default();
    let model =
        machine.adapters.iter().find(|a| (a.vendor, a.device, a.revision) == (vendor_id, device_id, revision_id));
    i32::from(model.and_then(|a| a.private.as_ref()).is_some_and(|p| p.unsupported == 0))
}

/// Asks the driver and decodes its answer.
///
/// # Safety
/// The pointers are null or point to structures of which `struct_size` bytes may be read and, for `info`, written.
unsafe extern "C" fn get_adapter_info(
    adapter: *const rocdxg_kmd_adapter,
    info: *mut rocdxg_kmd_adapter_info,
) -> Status {
    if adapter.is_null() || info.is_null() {
        return ntstatus::INVALID_PARAMETER;
    }
    // SAFETY: the caller vouches for both, and `struct_size` is the first field of each.
    let (known, room) =
        unsafe { ((&raw const (*adapter).struct_size).read(), (&raw const (*info).struct_size).read()) };
    if (known as usize) < size_of::<rocdxg_kmd_adapter>() || (room as usize) < size_of::<u32>() {
        return ntstatus::INVALID_PARAMETER;
    }
    // SAFETY: the caller filled all of it, as just checked.
    let adapter = unsafe { *adapter };
    let decoded = match ask(&adapter) {
        Ok(decoded) => decoded,
        Err(status) => return status,
    };
    let size = (room as usize).min(size_of::<rocdxg_kmd_adapter_info>());
    let filled = rocdxg_kmd_adapter_info { struct_size: size as u32, ..translate(&decoded) };
    // SAFETY: the caller has room for `room` bytes, and `size` is neither more than that nor than `filled`.
    unsafe { ptr::copy_nonoverlapping((&raw const filled).cast::<u8>(), info.cast::<u8>(), size) };
    ntstatus::SUCCESS
}

fn ask(adapter: &rocdxg_kmd_adapter) -> Result<Private, Status> {
    let query = adapter.query_adapter_info.ok_or(ntstatus::INVALID_PARAMETER)?;
    let mut blob = private::request();
    let mut args = D3DKMT_QUERYADAPTERINFO {
        hAdapter: adapter.adapter,
        Type: kmtqaitype::UMDRIVERPRIVATE,
        pPrivateDriverData: blob.as_mut_ptr().cast(),
        PrivateDriverDataSize: blob.len() as u32,
    };
    // SAFETY: the client's own call, with an argument and a buffer that outlive it.
    let status = unsafe { query((&raw mut args).cast()) };
    if status != ntstatus::SUCCESS {
        return Err(status);
    }
    let decoded = Private::decode(&blob).map_err(|_| ntstatus::INVALID_PARAMETER)?;
    if decoded.status.0 == ntstatus::SUCCESS { Ok(decoded) } else { Err(decoded.status.0) }
}

fn translate(known: &Private) -> rocdxg_kmd_adapter_info {
    let mut product_name = [0 as c_char; 64];
    for (to, from) in product_name.iter_mut().zip(known.product_name.bytes()) {
        *to = from as c_char;
    }
    rocdxg_kmd_adapter_info {
        struct_size: 0,
        flags: known.flags,
        flags_known: known.flags_known,
        device_id: known.device_id,
        revision: known.revision,
        pci_location: known.pci_location,
        pci_domain: known.pci_domain,
        gfx_major: known.gfx_major,
        gfx_minor: known.gfx_minor,
        gfx_stepping: known.gfx_stepping,
        asic_revision: known.asic_revision,
        family: known.family,
        compute_units: known.compute_units,
        simd_per_cu: known.simd_per_cu,
        waves_per_cu: known.waves_per_cu,
        wavefront_size: known.wavefront_size,
        shader_engines: known.shader_engines,
        arrays_per_engine: known.arrays_per_engine,
        lds_bytes: known.lds_bytes,
        scratch_slots_per_cu: known.scratch_slots_per_cu,
        watch_points: known.watch_points,
        num_xcc: known.num_xcc,
        sdma_engines: known.sdma_engines,
        cp_queues: known.cp_queues,
        num_gws: known.num_gws,
        mec_firmware: known.mec_firmware,
        sdma_firmware: known.sdma_firmware,
        memory_bus_bits: known.memory_bus_bits,
        memory_clock_mhz: known.memory_clock_mhz,
        engine_clock_mhz: known.engine_clock_mhz,
        gb_addr_config: known.gb_addr_config,
        reserved0: 0,
        unique_id: known.unique_id,
        l1_bytes: known.l1_bytes,
        l2_bytes: known.l2_bytes,
        l3_bytes: known.l3_bytes,
        local_bytes: known.local_bytes,
        non_local_bytes: known.non_local_bytes,
        counter_hz: known.counter_hz,
        lds_aperture: known.lds_aperture,
        scratch_aperture: known.scratch_aperture,
        user_queue_bytes: known.user_queue_bytes,
        page_alignment: known.page_alignment,
        big_page_alignment: known.big_page_alignment,
        product_name,
    }
}

const _: () = {
    use crate::vtable as v;
    assert!(v::ROCDXG_KMD_FLAG_DISCRETE == private::FLAG_DISCRETE);
    assert!(v::ROCDXG_KMD_FLAG_PLATFORM_ATOMICS == private::FLAG_PLATFORM_ATOMICS);
    assert!(v::ROCDXG_KMD_FLAG_NATIVE_AQL == private::FLAG_NATIVE_AQL);
    assert!(v::ROCDXG_KMD_FLAG_STATE_SHADOWING == private::FLAG_STATE_SHADOWING);
};
