//! The C entry points of libdxcore, and the same by name.

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::NonNull;

use crate::calls::Call;
use crate::d3dkmt::*;
use crate::process::{State, call, call_that_waits};
use crate::provider::rocdxg_kmd_get_provider;
use crate::{
    Status, adapters, addresses, allocation, device, escape, inject::Failure, lock, monitored, paging, query,
    residency, share, statistics, wait,
};

/// Numbers that libdxcore has for global handles, which WSL's kernel does not (rule 6).
fn no_such_call(_: &mut State, _: *mut c_void, _: Option<Failure>) -> Result<(), Status> {
    Err(ntstatus::UNSUCCESSFUL)
}

/// What runs a call.
macro_rules! runs {
    () => {
        call
    };
    ($by:ident) => {
        $by
    };
}

/// Defines the entry points: name, kind of call, argument, offset of its query type, function behind it, what
/// runs it unless `call` does.
macro_rules! entry_points {
    ($($symbol:ident, $call:ident, $argument:ident $(: $variant:ident)?, $run:path $(, $by:ident)?;)*) => {
        $(
            #[doc = concat!("`", stringify!($symbol), "` of libdxcore: an NTSTATUS (dxgkrnl.md section 2).")]
            ///
            /// # Safety
            /// `args` may be any pointer; where it points to accessible memory, that memory and what its fields
            /// point to may be read and written.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $symbol(args: *mut $argument) -> Status {
                let fields = args.cast::<u8>().cast_const();
                let variant: Option<usize> = None$(.or(Some(offset_of!($argument, $variant))))?;
                let variant = variant.map(|offset| fields.wrapping_add(offset).cast());
                runs!($($by)?)(Call::$call, variant, |state, failure| $run(state, args, failure))
            }
        )*

        /// An entry point by name: each `D3DKMT` call, and `rocdxg_kmd_get_provider`.
        ///
        /// For a program that hands this library to its client without loading a shared object.
        pub fn lookup(name: &str) -> Option<NonNull<c_void>> {
            let address = match name {
                $(stringify!($symbol) => $symbol as *mut c_void,)*
                "rocdxg_kmd_get_provider" => rocdxg_kmd_get_provider as *mut c_void,
                _ => return None,
            };
            NonNull::new(address)
        }
    };
}

entry_points! {
    D3DKMTEnumAdapters2, EnumAdapters2, D3DKMT_ENUMADAPTERS2, adapters::enum_adapters2;
    D3DKMTEnumAdapters3, EnumAdapters3, D3DKMT_ENUMADAPTERS3, adapters::enum_adapters3;
    D3DKMTOpenAdapterFromLuid, OpenAdapterFromLuid, D3DKMT_OPENADAPTERFROMLUID, adapters::open_adapter_from_luid;
    D3DKMTCloseAdapter, CloseAdapter, D3DKMT_CLOSEADAPTER, adapters::close_adapter;
    D3DKMTQueryAdapterInfo, QueryAdapterInfo, D3DKMT_QUERYADAPTERINFO: Type, query::query_adapter_info;
    D3DKMTQueryStatistics, QueryStatistics, D3DKMT_QUERYSTATISTICS: Type, statistics::query_statistics;
    D3DKMTQueryVideoMemoryInfo, QueryVideoMemoryInfo, D3DKMT_QUERYVIDEOMEMORYINFO, statistics::query_video_memory_info;
    D3DKMTQueryClockCalibration, QueryClockCalibration, D3DKMT_QUERYCLOCKCALIBRATION, statistics::query_clock_calibration;
    D3DKMTEscape, Escape, D3DKMT_ESCAPE: Type, escape::escape;
    D3DKMTCreateDevice, CreateDevice, D3DKMT_CREATEDEVICE, device::create_device;
    D3DKMTDestroyDevice, DestroyDevice, D3DKMT_DESTROYDEVICE, device::destroy_device;
    D3DKMTGetDeviceState, GetDeviceState, D3DKMT_GETDEVICESTATE: StateType, device::get_device_state;
    D3DKMTCreatePagingQueue, CreatePagingQueue, D3DKMT_CREATEPAGINGQUEUE, paging::create_paging_queue;
    D3DKMTDestroyPagingQueue, DestroyPagingQueue, D3DDDI_DESTROYPAGINGQUEUE, paging::destroy_paging_queue;
    D3DKMTCreateAllocation2, CreateAllocation2, D3DKMT_CREATEALLOCATION, allocation::create_allocation2;
    D3DKMTDestroyAllocation2, DestroyAllocation2, D3DKMT_DESTROYALLOCATION2, allocation::destroy_allocation2;
    D3DKMTMakeResident, MakeResident, D3DDDI_MAKERESIDENT, residency::make_resident;
    D3DKMTEvict, Evict, D3DKMT_EVICT, residency::evict;
    D3DKMTReserveGpuVirtualAddress, ReserveGpuVirtualAddress, D3DDDI_RESERVEGPUVIRTUALADDRESS, addresses::reserve;
    D3DKMTMapGpuVirtualAddress, MapGpuVirtualAddress, D3DDDI_MAPGPUVIRTUALADDRESS, addresses::map;
    D3DKMTFreeGpuVirtualAddress, FreeGpuVirtualAddress, D3DKMT_FREEGPUVIRTUALADDRESS, addresses::free;
    D3DKMTLock2, Lock2, D3DKMT_LOCK2, lock::lock2;
    D3DKMTUnlock2, Unlock2, D3DKMT_UNLOCK2, lock::unlock2;
    D3DKMTCreateSynchronizationObject2, CreateSynchronizationObject2, D3DKMT_CREATESYNCHRONIZATIONOBJECT2, monitored::create;
    D3DKMTDestroySynchronizationObject, DestroySynchronizationObject, D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, monitored::destroy;
    D3DKMTWaitForSynchronizationObjectFromCpu, WaitForSynchronizationObjectFromCpu, D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, wait::wait_from_cpu, call_that_waits;
    D3DKMTShareObjects, ShareObjects, D3DKMT_SHAREOBJECTS, share::share_objects;
    D3DKMTQueryResourceInfoFromNtHandle, QueryResourceInfoFromNtHandle, D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE, share::query_resource_info;
    D3DKMTOpenResourceFromNtHandle, OpenResourceFromNtHandle, D3DKMT_OPENRESOURCEFROMNTHANDLE, share::open_resource;
    D3DKMTQueryResourceInfo, QueryResourceInfo, c_void, no_such_call;
    D3DKMTOpenResource, OpenResource, c_void, no_such_call;
}
