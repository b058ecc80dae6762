//! Calls without ceremony, and one machine at a time.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dxcore::control;
use dxcore::d3dkmt::*;

pub use dxcore::Status;
pub use dxcore::d3dkmt::ntstatus::{
    BUFFER_TOO_SMALL as BTS, DEVICE_REMOVED as DR, INVALID_PARAMETER as IP, NO_MEMORY as NM,
    OBJECT_NAME_INVALID as NAME_INVALID, PENDING, SUCCESS as OK, TIMEOUT, UNSUCCESSFUL as UNS,
};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The process's libdxcore, for one test.
pub struct Bench(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

/// A fresh machine, whatever an earlier test left.
pub fn machine(name: &str) -> Bench {
    let bench = Bench(ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    start(name);
    bench
}

/// A fresh machine of TOML text.
pub fn machine_of(text: &str) -> Bench {
    let bench = Bench(ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    let path = std::env::temp_dir().join(format!("rocdxg-fake-{}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    start(path.to_str().unwrap());
    std::fs::remove_file(path).unwrap();
    bench
}

fn start(name: &str) {
    control::unload();
    control::set_delay(0);
    control::memory::set_paging(control::Paging::DEFAULT);
    control::memory::set_rules(control::MemoryRules::DEFAULT);
    control::set_handles(control::Handles::default()).unwrap();
    control::set_machine(name).unwrap();
}

/// The default machine's text with replacements.
pub fn variant(changes: &[(&str, &str)]) -> String {
    let text = include_str!("../../../machines/gfx1100.toml").to_owned();
    changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

/// A structure of integers and pointers, all zero.
pub fn zero<T: Copy>() -> T {
    // SAFETY: all structures of `d3dkmt` hold integers and raw pointers.
    unsafe { std::mem::zeroed() }
}

/// Sees to it that the violations of this test are exactly those with these words, in order.
pub fn violations_are(words: &[&str]) {
    let found = control::violations();
    assert_eq!(found.len(), words.len(), "{found:?}");
    for (text, word) in found.iter().zip(words) {
        assert!(text.contains(word), "{text}");
    }
}

macro_rules! calls {
    ($($name:ident = $symbol:ident($argument:ty);)*) => {
        $(pub fn $name(args: &mut $argument) -> Status {
            // SAFETY: the argument is valid, and what its fields point to is checked by the callee.
            unsafe { dxcore_call(stringify!($symbol), std::ptr::from_mut(args).cast()) }
        })*
    };
}

/// Calls an entry point with any pointer.
///
/// # Safety
/// `args` must point to that call's argument, or to memory that cannot be accessed.
pub unsafe fn dxcore_call(symbol: &str, args: *mut c_void) -> Status {
    let address = dxcore::lookup(symbol).unwrap_or_else(|| panic!("{symbol}"));
    // SAFETY: every entry point has this form.
    let call: unsafe extern "C" fn(*mut c_void) -> Status = unsafe { std::mem::transmute(address) };
    // SAFETY: passed on.
    unsafe { call(args) }
}

calls! {
    enum2 = D3DKMTEnumAdapters2(D3DKMT_ENUMADAPTERS2);
    enum3 = D3DKMTEnumAdapters3(D3DKMT_ENUMADAPTERS3);
    open_luid = D3DKMTOpenAdapterFromLuid(D3DKMT_OPENADAPTERFROMLUID);
    close_args = D3DKMTCloseAdapter(D3DKMT_CLOSEADAPTER);
    query_args = D3DKMTQueryAdapterInfo(D3DKMT_QUERYADAPTERINFO);
    query_statistics = D3DKMTQueryStatistics(D3DKMT_QUERYSTATISTICS);
    video_memory = D3DKMTQueryVideoMemoryInfo(D3DKMT_QUERYVIDEOMEMORYINFO);
    clock = D3DKMTQueryClockCalibration(D3DKMT_QUERYCLOCKCALIBRATION);
    escape_args = D3DKMTEscape(D3DKMT_ESCAPE);
    create_device_args = D3DKMTCreateDevice(D3DKMT_CREATEDEVICE);
    destroy_device_args = D3DKMTDestroyDevice(D3DKMT_DESTROYDEVICE);
    device_state = D3DKMTGetDeviceState(D3DKMT_GETDEVICESTATE);
    create_queue_args = D3DKMTCreatePagingQueue(D3DKMT_CREATEPAGINGQUEUE);
    destroy_queue_args = D3DKMTDestroyPagingQueue(D3DDDI_DESTROYPAGINGQUEUE);
    create_args = D3DKMTCreateAllocation2(D3DKMT_CREATEALLOCATION);
    destroy_args = D3DKMTDestroyAllocation2(D3DKMT_DESTROYALLOCATION2);
    resident_args = D3DKMTMakeResident(D3DDDI_MAKERESIDENT);
    evict_args = D3DKMTEvict(D3DKMT_EVICT);
    reserve_args = D3DKMTReserveGpuVirtualAddress(D3DDDI_RESERVEGPUVIRTUALADDRESS);
    map_args = D3DKMTMapGpuVirtualAddress(D3DDDI_MAPGPUVIRTUALADDRESS);
    free_args = D3DKMTFreeGpuVirtualAddress(D3DKMT_FREEGPUVIRTUALADDRESS);
    lock_args = D3DKMTLock2(D3DKMT_LOCK2);
    unlock_args = D3DKMTUnlock2(D3DKMT_UNLOCK2);
    create_fence_args = D3DKMTCreateSynchronizationObject2(D3DKMT_CREATESYNCHRONIZATIONOBJECT2);
    destroy_fence_args = D3DKMTDestroySynchronizationObject(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT);
    wait_args = D3DKMTWaitForSynchronizationObjectFromCpu(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU);
    share_args = D3DKMTShareObjects(D3DKMT_SHAREOBJECTS);
    resource_info_args = D3DKMTQueryResourceInfoFromNtHandle(D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE);
    open_resource_args = D3DKMTOpenResourceFromNtHandle(D3DKMT_OPENRESOURCEFROMNTHANDLE);
}

/// Every adapter that EnumAdapters3 lists.
pub fn adapters(filter: u64) -> Vec<D3DKMT_ADAPTERINFO> {
    let mut records = vec![zero::<D3DKMT_ADAPTERINFO>(); 16];
    let mut args = D3DKMT_ENUMADAPTERS3 { Filter: filter, NumAdapters: 16, pAdapters: records.as_mut_ptr() };
    assert_eq!(enum3(&mut args), OK);
    records.truncate(args.NumAdapters as usize);
    records
}

/// The first adapter's handle.
pub fn adapter() -> u32 {
    let all = adapters(1);
    for other in &all[1..] {
        assert_eq!(close(other.hAdapter), OK);
    }
    all[0].hAdapter
}

pub fn close(handle: u32) -> Status {
    close_args(&mut D3DKMT_CLOSEADAPTER { hAdapter: handle })
}

pub fn create_device(adapter: u32) -> (Status, u32) {
    let mut args = D3DKMT_CREATEDEVICE { hAdapter: adapter.into(), ..zero() };
    (create_device_args(&mut args), args.hDevice)
}

pub fn device(adapter: u32) -> u32 {
    let (status, device) = create_device(adapter);
    assert_eq!(status, OK);
    assert_ne!(device, 0);
    device
}

pub fn destroy_device(device: u32) -> Status {
    destroy_device_args(&mut D3DKMT_DESTROYDEVICE { hDevice: device })
}

pub fn queue(device: u32) -> D3DKMT_CREATEPAGINGQUEUE {
    let mut args = D3DKMT_CREATEPAGINGQUEUE { hDevice: device, ..zero() };
    assert_eq!(create_queue_args(&mut args), OK);
    args
}

pub fn destroy_queue(queue: u32) -> Status {
    destroy_queue_args(&mut D3DDDI_DESTROYPAGINGQUEUE { hPagingQueue: queue })
}

/// Asks about an adapter, with a `T` as the buffer.
pub fn query<T: Copy>(adapter: u32, kind: u32, data: &mut T) -> Status {
    query_args(&mut D3DKMT_QUERYADAPTERINFO {
        hAdapter: adapter,
        Type: kind,
        pPrivateDriverData: std::ptr::from_mut(data).cast(),
        PrivateDriverDataSize: size_of::<T>() as u32,
    })
}

/// Runs `child` in a fork child and returns its exit status; the child never returns into the test.
pub fn in_child(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs `child` and ends by `_exit`.
    match unsafe { libc::fork() } {
        0 => {
            let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(99);
            // SAFETY: ends the child without running the harness's own end.
            unsafe { libc::_exit(status) }
        }
        pid => wait(pid),
    }
}

/// Waits for a child: its exit status, or 1000 and the signal that ended it.
pub fn wait(pid: i32) -> i32 {
    assert!(pid > 0);
    let mut status = 0;
    // SAFETY: a child of this process.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 1000 + libc::WTERMSIG(status) }
}
