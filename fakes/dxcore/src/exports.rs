//! The C entry points of libdxcore, and the same by name.

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::NonNull;

use crate::calls::Call;
use crate::d3dkmt::{
    D3DDDI_DESTROYPAGINGQUEUE, D3DKMT_CLOSEADAPTER, D3DKMT_CREATEDEVICE, D3DKMT_CREATEPAGINGQUEUE,
    D3DKMT_DESTROYDEVICE, D3DKMT_ENUMADAPTERS2, D3DKMT_ENUMADAPTERS3, D3DKMT_ESCAPE, D3DKMT_GETDEVICESTATE,
    D3DKMT_OPENADAPTERFROMLUID, D3DKMT_QUERYADAPTERINFO, D3DKMT_QUERYCLOCKCALIBRATION, D3DKMT_QUERYSTATISTICS,
    D3DKMT_QUERYVIDEOMEMORYINFO,
};
use crate::process::call;
use crate::provider::rocdxg_kmd_get_provider;
use crate::{Status, adapters, device, escape, query, statistics};

/// Defines the entry points: name, kind of call, argument, offset of its query type, function behind it.
macro_rules! entry_points {
    ($($symbol:ident, $call:ident, $argument:ident $(: $variant:ident)?, $run:path;)*) => {
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
                call(Call::$call, variant, |state, failure| $run(state, args, failure))
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
    D3DKMTCreatePagingQueue, CreatePagingQueue, D3DKMT_CREATEPAGINGQUEUE, device::create_paging_queue;
    D3DKMTDestroyPagingQueue, DestroyPagingQueue, D3DDDI_DESTROYPAGINGQUEUE, device::destroy_paging_queue;
}
