//! The open provider: decodes the private blob for the client (include/rocdxg/kmd_provider.h).
//!
//! It belongs to the client's side of the stack: all it knows of an adapter comes through the client's own
//! `D3DKMTQueryAdapterInfo`.

use core::ffi::{c_char, c_void};
use core::ptr;

use rocdxg_fake_gpu::allocation::{self, Blob, KIND_ENTRY, KIND_WHOLE};
use rocdxg_fake_gpu::private::{self, Private};

use crate::Status;
use crate::d3dkmt::{D3DKMT_QUERYADAPTERINFO, kmtqaitype, ntstatus};
use crate::vtable::{
    ROCDXG_KMD_VERSION, rocdxg_kmd_adapter, rocdxg_kmd_adapter_info, rocdxg_kmd_allocation,
    rocdxg_kmd_allocation_sizes, rocdxg_kmd_provider, rocdxg_kmd_surface,
};

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
    get_allocation_sizes: Some(get_allocation_sizes),
    fill_allocation: Some(fill_allocation),
    parse_allocation: Some(parse_allocation),
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
    // SAFETY: the caller vouches for it.
    let Some(adapter) = (unsafe { input(adapter) }) else { return ntstatus::INVALID_PARAMETER };
    let decoded = match ask(&adapter) {
        Ok(decoded) => decoded,
        Err(status) => return status,
    };
    // SAFETY: the caller vouches for it.
    unsafe { output(info, |size| rocdxg_kmd_adapter_info { struct_size: size, ..translate(&decoded) }) }
}

/// A structure that the caller filled, when it filled all that this provider needs.
///
/// # Safety
/// `from` is null or points to a structure that starts with its `struct_size`, of which so many bytes may be read.
unsafe fn input<T: Copy>(from: *const T) -> Option<T> {
    // SAFETY: not null, and the size is the first field.
    if from.is_null() || (unsafe { from.cast::<u32>().read() }) < size_of::<T>() as u32 {
        return None;
    }
    // SAFETY: all of it may be read, as just checked.
    Some(unsafe { from.read() })
}

/// Writes a structure as far as the caller has room; `fill` gets how far that is.
///
/// # Safety
/// `to` is null or points to a structure that starts with its `struct_size`, of which so many bytes may be written.
unsafe fn output<T>(to: *mut T, fill: impl FnOnce(u32) -> T) -> Status {
    // SAFETY: not null, and the size is the first field.
    let room = if to.is_null() { 0 } else { (unsafe { to.cast::<u32>().read() }) as usize };
    if room < size_of::<u32>() {
        return ntstatus::INVALID_PARAMETER;
    }
    let size = room.min(size_of::<T>());
    let filled = fill(size as u32);
    // SAFETY: the caller has room for `room` bytes, and `size` is neither more than that nor than `filled`.
    unsafe { ptr::copy_nonoverlapping((&raw const filled).cast::<u8>(), to.cast::<u8>(), size) };
    ntstatus::SUCCESS
}

/// The blob of a whole allocation, when the driver would take it.
fn whole(asked: &rocdxg_kmd_allocation) -> Option<Blob> {
    let blob = Blob {
        kind: KIND_WHOLE,
        domain: asked.domain,
        memory_flags: asked.memory_flags,
        engine_flags: asked.engine_flags,
        bytes: asked.bytes,
        address: asked.address,
        count: asked.count,
        ..Blob::default()
    };
    let fine = asked.reserved0 == 0 && asked.count > 0 && blob.check_request(KIND_WHOLE, 0, asked.count).is_ok();
    fine.then_some(blob)
}

/// Both blobs have the same size.
///
/// # Safety
/// The pointers are null or point to structures of which `struct_size` bytes may be read and, for `sizes`, written.
unsafe extern "C" fn get_allocation_sizes(
    adapter: *const rocdxg_kmd_adapter,
    allocation: *const rocdxg_kmd_allocation,
    sizes: *mut rocdxg_kmd_allocation_sizes,
) -> Status {
    // SAFETY: the caller vouches for both.
    let (Some(_), Some(asked)) = (unsafe { (input(adapter), input(allocation)) }) else {
        return ntstatus::INVALID_PARAMETER;
    };
    if whole(&asked).is_none() {
        return ntstatus::INVALID_PARAMETER;
    }
    let bytes = allocation::SIZE as u32;
    let filled = |struct_size| rocdxg_kmd_allocation_sizes {
        struct_size,
        driver_bytes: bytes,
        entry_bytes: bytes,
        reserved0: 0,
    };
    // SAFETY: the caller vouches for it.
    unsafe { output(sizes, filled) }
}

/// Fills the blobs of one entry.
///
/// # Safety
/// The first two pointers are null or point to structures of which `struct_size` bytes may be read; `driver`, with
/// index 0, and `entry` are null or have room for what [`get_allocation_sizes`] says.
unsafe extern "C" fn fill_allocation(
    adapter: *const rocdxg_kmd_adapter,
    allocation: *const rocdxg_kmd_allocation,
    index: u32,
    offset: u64,
    bytes: u64,
    driver: *mut c_void,
    entry: *mut c_void,
) -> Status {
    // SAFETY: the caller vouches for both.
    let (Some(_), Some(asked)) = (unsafe { (input(adapter), input(allocation)) }) else {
        return ntstatus::INVALID_PARAMETER;
    };
    let Some(whole) = whole(&asked) else { return ntstatus::INVALID_PARAMETER };
    let part = Blob { kind: KIND_ENTRY, bytes, offset, index, ..whole };
    let inside = index < asked.count && offset.checked_add(bytes).is_some_and(|end| end <= asked.bytes);
    let fine = inside && part.check_request(KIND_ENTRY, index, asked.count).is_ok();
    if !fine || entry.is_null() || (index == 0 && driver.is_null()) {
        return ntstatus::INVALID_PARAMETER;
    }
    if index == 0 {
        // SAFETY: the caller has room for a blob there, as it learnt from `get_allocation_sizes`.
        unsafe { ptr::copy_nonoverlapping(whole.encode().as_ptr(), driver.cast::<u8>(), allocation::SIZE) };
    }
    // SAFETY: as above.
    unsafe { ptr::copy_nonoverlapping(part.encode().as_ptr(), entry.cast::<u8>(), allocation::SIZE) };
    ntstatus::SUCCESS
}

/// Reads the blob of an entry.
///
/// # Safety
/// `adapter` and `surface` are null or point to structures of which `struct_size` bytes may be read or written;
/// `entry` is null or has `entry_bytes` bytes.
unsafe extern "C" fn parse_allocation(
    adapter: *const rocdxg_kmd_adapter,
    entry: *const c_void,
    entry_bytes: u32,
    surface: *mut rocdxg_kmd_surface,
) -> Status {
    // SAFETY: the caller vouches for it.
    if unsafe { input(adapter) }.is_none() || entry.is_null() {
        return ntstatus::INVALID_PARAMETER;
    }
    // SAFETY: not null, and the caller vouches for the length.
    let blob = unsafe { core::slice::from_raw_parts(entry.cast::<u8>(), entry_bytes as usize) };
    let Ok(read) = Blob::decode(blob) else { return ntstatus::INVALID_PARAMETER };
    if read.kind != KIND_ENTRY {
        return ntstatus::INVALID_PARAMETER;
    }
    let filled = |struct_size| rocdxg_kmd_surface {
        struct_size,
        flags: read.surface_flags,
        bytes: read.bytes,
        swizzle_mode: read.swizzle_mode,
        tile_swizzle: read.tile_swizzle,
    };
    // SAFETY: the caller vouches for it.
    unsafe { output(surface, filled) }
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
    assert!(v::ROCDXG_KMD_DOMAIN_SYSTEM == allocation::DOMAIN_SYSTEM);
    assert!(v::ROCDXG_KMD_DOMAIN_LOCAL == allocation::DOMAIN_LOCAL);
    assert!(v::ROCDXG_KMD_DOMAIN_USER == allocation::DOMAIN_USER);
    assert!(v::ROCDXG_KMD_DOMAIN_QUEUE == allocation::DOMAIN_QUEUE);
    assert!(v::ROCDXG_KMD_SURFACE_SWIZZLE_KNOWN == allocation::SWIZZLE_KNOWN);
};
