//! The ioctls of `/dev/kfd` as safe calls: one function, one request, one error that names it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

use super::ioctl::*;

/// An ioctl that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed: {}", io::Error::from_raw_os_error(*errno))]
pub struct CallError {
    /// The request.
    pub call: &'static str,
    /// What the kernel said.
    pub errno: i32,
}

/// How long a call is repeated that is interrupted (EINTR) or told to come again (EAGAIN; kfd-kernel.md 2.1).
const PATIENCE: Duration = Duration::from_secs(10);

/// Repeats `attempt` until it succeeds, fails for good, or `patience` is over. `attempt` returns the errno.
fn repeat(patience: Duration, mut attempt: impl FnMut() -> Result<(), i32>) -> Result<(), i32> {
    let mut begin = None;
    let mut pause = Duration::from_micros(10);
    loop {
        let errno = match attempt() {
            Err(errno @ (libc::EINTR | libc::EAGAIN)) => errno,
            outcome => return outcome,
        };
        if begin.get_or_insert_with(Instant::now).elapsed() >= patience {
            return Err(errno);
        }
        if errno == libc::EAGAIN {
            // The kernel waits for something itself: come back a little later each time.
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Performs one request.
///
/// # Safety
/// `T` must be the argument structure of `request`, and every pointer in it must be valid for what the request does.
unsafe fn perform<T>(call: &'static str, kfd: BorrowedFd<'_>, request: u32, args: &mut T) -> Result<(), CallError> {
    let attempt = || {
        // SAFETY: `args` is a live, writable block of the size that the request encodes; the caller vouches for the
        // pointers in it. It goes through the libc symbol, which software kernels replace.
        if unsafe { libc::ioctl(kfd.as_raw_fd(), request.into(), std::ptr::from_mut(args)) } == -1 {
            return Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO));
        }
        Ok(())
    };
    repeat(PATIENCE, attempt).map_err(|errno| CallError { call, errno })
}

/// Major and minor version of the interface.
pub fn get_version(kfd: BorrowedFd<'_>) -> Result<(u32, u32), CallError> {
    let mut args = kfd_ioctl_get_version_args::default();
    // SAFETY: the structure is that of the request and holds no pointer.
    unsafe { perform("AMDKFD_IOC_GET_VERSION", kfd, request::GET_VERSION, &mut args) }?;
    Ok((args.major_version, args.minor_version))
}

/// Address ranges of every GPU that this process may use, in the order of the topology.
pub fn get_process_apertures(kfd: BorrowedFd<'_>) -> Result<Vec<kfd_process_device_apertures>, CallError> {
    const CALL: &str = "AMDKFD_IOC_GET_PROCESS_APERTURES_NEW";
    /// Many times what a kernel can have.
    const MOST: u32 = 1024;
    let mut args = kfd_ioctl_get_process_apertures_new_args::default();
    // SAFETY: the structure is that of the request; with room for no entry its pointer is not used.
    unsafe { perform(CALL, kfd, request::GET_PROCESS_APERTURES_NEW, &mut args) }?;
    // More room than there are nodes is refused by newer kernels, so the count is asked for first. It is that of the
    // GPUs which this process had when it first opened the device, and does not change.
    let room = args.num_of_nodes.min(MOST);
    let mut list = vec![kfd_process_device_apertures::default(); room as usize];
    if room == 0 {
        return Ok(list);
    }
    args = kfd_ioctl_get_process_apertures_new_args {
        kfd_process_device_apertures_ptr: list.as_mut_ptr().addr() as u64,
        num_of_nodes: room,
        pad: 0,
    };
    // The kernel writes through the number.
    list.as_mut_ptr().expose_provenance();
    // SAFETY: the structure is that of the request, and the list has room for as many entries as it says.
    unsafe { perform(CALL, kfd, request::GET_PROCESS_APERTURES_NEW, &mut args) }?;
    list.truncate(args.num_of_nodes as usize);
    Ok(list)
}

/// Makes the GPU VM of the open render node `drm` that of the GPU in this process, for the life of the process.
pub fn acquire_vm(kfd: BorrowedFd<'_>, drm: BorrowedFd<'_>, gpu_id: u32) -> Result<(), CallError> {
    // An open descriptor is not negative.
    let mut args = kfd_ioctl_acquire_vm_args { drm_fd: drm.as_raw_fd().cast_unsigned(), gpu_id };
    // SAFETY: the structure is that of the request and holds no pointer.
    unsafe { perform("AMDKFD_IOC_ACQUIRE_VM", kfd, request::ACQUIRE_VM, &mut args) }
}

/// Sets how the caches of a GPU treat memory; the GPU's VM must have been acquired.
pub fn set_memory_policy(kfd: BorrowedFd<'_>, mut policy: kfd_ioctl_set_memory_policy_args) -> Result<(), CallError> {
    // SAFETY: the structure is that of the request; its addresses are of the GPU's space and not followed.
    unsafe { perform("AMDKFD_IOC_SET_MEMORY_POLICY", kfd, request::SET_MEMORY_POLICY, &mut policy) }
}

/// Reads the clocks of a GPU and of the host; 0 for no GPU.
pub fn get_clock_counters(kfd: BorrowedFd<'_>, gpu_id: u32) -> Result<kfd_ioctl_get_clock_counters_args, CallError> {
    let mut args = kfd_ioctl_get_clock_counters_args { gpu_id, ..Default::default() };
    // SAFETY: the structure is that of the request and holds no pointer.
    unsafe { perform("AMDKFD_IOC_GET_CLOCK_COUNTERS", kfd, request::GET_CLOCK_COUNTERS, &mut args) }?;
    Ok(args)
}

/// How a GPU lays out surfaces: the modes are written into the two arrays, as many as fit. The pointers of the answer
/// mean nothing.
pub fn get_tile_config(
    kfd: BorrowedFd<'_>,
    gpu_id: u32,
    tiles: &mut [u32],
    macro_tiles: &mut [u32],
) -> Result<kfd_ioctl_get_tile_config_args, CallError> {
    let room = |array: &[u32]| u32::try_from(array.len()).unwrap_or(u32::MAX);
    let mut args = kfd_ioctl_get_tile_config_args {
        gpu_id,
        num_tile_configs: room(tiles),
        num_macro_tile_configs: room(macro_tiles),
        tile_config_ptr: tiles.as_mut_ptr().expose_provenance() as u64,
        macro_tile_config_ptr: macro_tiles.as_mut_ptr().expose_provenance() as u64,
        ..Default::default()
    };
    // SAFETY: the structure is that of the request; the arrays have the room that it says and outlive the call.
    unsafe { perform("AMDKFD_IOC_GET_TILE_CONFIG", kfd, request::GET_TILE_CONFIG, &mut args) }?;
    Ok(args)
}

/// Sets the second-level trap handler of a GPU and its buffer, by GPU addresses.
pub fn set_trap_handler(kfd: BorrowedFd<'_>, gpu_id: u32, handler: u64, buffer: u64) -> Result<(), CallError> {
    let mut args =
        kfd_ioctl_set_trap_handler_args { tba_addr: handler, tma_addr: buffer, gpu_id, ..Default::default() };
    // SAFETY: the structure is that of the request; its addresses are of the GPU's space and not followed.
    unsafe { perform("AMDKFD_IOC_SET_TRAP_HANDLER", kfd, request::SET_TRAP_HANDLER, &mut args) }
}

/// Tells the GPU where scratch memory is, an address in units of 64 KiB.
pub fn set_scratch_backing_va(kfd: BorrowedFd<'_>, gpu_id: u32, units: u64) -> Result<(), CallError> {
    let mut args = kfd_ioctl_set_scratch_backing_va_args { va_addr: units, gpu_id, ..Default::default() };
    // SAFETY: the structure is that of the request; its address is of the GPU's space and not followed.
    unsafe { perform("AMDKFD_IOC_SET_SCRATCH_BACKING_VA", kfd, request::SET_SCRATCH_BACKING_VA, &mut args) }
}

/// Sets whether GPUs of this process retry accesses that fault, or with -1 only asks; returns what holds now.
pub fn set_xnack_mode(kfd: BorrowedFd<'_>, enable: i32) -> Result<i32, CallError> {
    let mut args = kfd_ioctl_set_xnack_mode_args { xnack_enabled: enable };
    // SAFETY: the structure is that of the request and holds no pointer.
    unsafe { perform("AMDKFD_IOC_SET_XNACK_MODE", kfd, request::SET_XNACK_MODE, &mut args) }?;
    Ok(args.xnack_enabled)
}

/// Bytes of local memory of a GPU that are free.
pub fn available_memory(kfd: BorrowedFd<'_>, gpu_id: u32) -> Result<u64, CallError> {
    let mut args = kfd_ioctl_get_available_memory_args { gpu_id, ..Default::default() };
    // SAFETY: the structure is that of the request and holds no pointer.
    unsafe { perform("AMDKFD_IOC_AVAILABLE_MEMORY", kfd, request::AVAILABLE_MEMORY, &mut args) }?;
    Ok(args.available)
}

/// Registers the runtime of this process with debuggers, or ends that; returns the capabilities.
pub fn runtime_enable(kfd: BorrowedFd<'_>, r_debug: u64, mode_mask: u32) -> Result<u32, CallError> {
    let mut args = kfd_ioctl_runtime_enable_args { r_debug, mode_mask, capabilities_mask: 0 };
    // SAFETY: the structure is that of the request; the kernel keeps the address for debuggers and does not follow it.
    unsafe { perform("AMDKFD_IOC_RUNTIME_ENABLE", kfd, request::RUNTIME_ENABLE, &mut args) }?;
    Ok(args.capabilities_mask)
}

/// Allocates memory on a GPU: its handle, and the offset by which `mmap` finds it. `user` is the address of the pages
/// for a buffer of user memory, 0 otherwise.
pub fn alloc_memory(
    kfd: BorrowedFd<'_>,
    gpu_id: u32,
    (va, bytes): (u64, u64),
    flags: u32,
    user: u64,
) -> Result<(u64, u64), CallError> {
    let mut args = kfd_ioctl_alloc_memory_of_gpu_args {
        va_addr: va,
        size: bytes,
        mmap_offset: user,
        gpu_id,
        flags,
        ..Default::default()
    };
    // SAFETY: the structure is that of the request; the kernel checks that the process has the pages of user memory
    // and gives the GPU no more access to them than the process itself has.
    unsafe { perform("AMDKFD_IOC_ALLOC_MEMORY_OF_GPU", kfd, request::ALLOC_MEMORY_OF_GPU, &mut args) }?;
    Ok((args.handle, args.mmap_offset))
}

/// Frees what [`alloc_memory`] gave. After a failure it is still there.
pub fn free_memory(kfd: BorrowedFd<'_>, handle: u64) -> Result<(), CallError> {
    let mut args = kfd_ioctl_free_memory_of_gpu_args { handle };
    // SAFETY: the structure is that of the request and holds no pointer.
    unsafe { perform("AMDKFD_IOC_FREE_MEMORY_OF_GPU", kfd, request::FREE_MEMORY_OF_GPU, &mut args) }
}

/// Puts a buffer into the address spaces of GPUs. The first number of the result is how many of them have it now.
pub fn map_memory(kfd: BorrowedFd<'_>, handle: u64, gpu_ids: &[u32]) -> (usize, Result<(), CallError>) {
    on_gpus("AMDKFD_IOC_MAP_MEMORY_TO_GPU", kfd, request::MAP_MEMORY_TO_GPU, handle, gpu_ids)
}

/// Takes a buffer out of the address spaces of GPUs. The first number of the result is how many of them lost it.
pub fn unmap_memory(kfd: BorrowedFd<'_>, handle: u64, gpu_ids: &[u32]) -> (usize, Result<(), CallError>) {
    on_gpus("AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU", kfd, request::UNMAP_MEMORY_FROM_GPU, handle, gpu_ids)
}

fn on_gpus(
    call: &'static str,
    kfd: BorrowedFd<'_>,
    request: u32,
    handle: u64,
    gpu_ids: &[u32],
) -> (usize, Result<(), CallError>) {
    let Ok(n_devices) = u32::try_from(gpu_ids.len()) else {
        return (0, Err(CallError { call, errno: libc::EINVAL }));
    };
    let device_ids_array_ptr = gpu_ids.as_ptr().expose_provenance() as u64;
    let mut args = kfd_ioctl_map_memory_to_gpu_args { handle, device_ids_array_ptr, n_devices, n_success: 0 };
    // SAFETY: the structure is that of the request; the list has as many ids as it says, is only read, and outlives
    // the call. A repeated call goes on behind the entries that are done.
    let result = unsafe { perform(call, kfd, request, &mut args) };
    let done = (args.n_success as usize).min(gpu_ids.len());
    (if result.is_ok() { gpu_ids.len() } else { done }, result)
}

/// Creates an event. `page` is the handle of the buffer that the slots are to live in, 0 when the kernel has one.
pub fn create_event(
    kfd: BorrowedFd<'_>,
    page: u64,
    event_type: u32,
    auto_reset: bool,
) -> Result<kfd_ioctl_create_event_args, CallError> {
    let mut args = kfd_ioctl_create_event_args {
        event_page_offset: page,
        event_type,
        auto_reset: auto_reset.into(),
        ..Default::default()
    };
    // SAFETY: the structure is that of the request and holds no pointer.
    unsafe { perform("AMDKFD_IOC_CREATE_EVENT", kfd, request::CREATE_EVENT, &mut args) }?;
    Ok(args)
}

/// Destroys an event; threads that wait for it wake.
pub fn destroy_event(kfd: BorrowedFd<'_>, event_id: u32) -> Result<(), CallError> {
    let mut args = kfd_ioctl_destroy_event_args { event_id, pad: 0 };
    // SAFETY: the structure is that of the request and holds no pointer.
    unsafe { perform("AMDKFD_IOC_DESTROY_EVENT", kfd, request::DESTROY_EVENT, &mut args) }
}

/// Signals an event, or takes its signal back.
pub fn set_event(kfd: BorrowedFd<'_>, event_id: u32, signalled: bool) -> Result<(), CallError> {
    let mut args = kfd_ioctl_set_event_args { event_id, pad: 0 };
    let (call, request) = match signalled {
        true => ("AMDKFD_IOC_SET_EVENT", request::SET_EVENT),
        false => ("AMDKFD_IOC_RESET_EVENT", request::RESET_EVENT),
    };
    // SAFETY: the structure is that of both requests and holds no pointer.
    unsafe { perform(call, kfd, request, &mut args) }
}

/// Waits for one of `events`, or for all; returns the result of the wait. `timeout` is in ms, [`u32::MAX`] for ever.
///
/// Signals do not end it: the kernel lowers the time that is left whenever one interrupts.
pub fn wait_events(
    kfd: BorrowedFd<'_>,
    events: &mut [kfd_event_data],
    all: bool,
    timeout: u32,
) -> Result<u32, CallError> {
    const CALL: &str = "AMDKFD_IOC_WAIT_EVENTS";
    let mut args = kfd_ioctl_wait_events_args {
        events_ptr: events.as_mut_ptr().expose_provenance() as u64,
        num_events: u32::try_from(events.len()).map_err(|_| CallError { call: CALL, errno: libc::ENOMEM })?,
        wait_for_all: all.into(),
        timeout,
        wait_result: 0,
    };
    loop {
        // SAFETY: the structure is that of the request; the list has as many entries as it says and outlives the call.
        match unsafe { perform(CALL, kfd, request::WAIT_EVENTS, &mut args) } {
            Err(CallError { errno: libc::EINTR, .. }) => {}
            result => return result.map(|()| args.wait_result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    #[test]
    fn interruptions_are_repeated_and_other_errors_are_not() {
        for errno in [libc::EINTR, libc::EAGAIN] {
            let mut left = 20;
            let outcome = repeat(PATIENCE, || {
                left -= 1;
                if left > 0 { Err(errno) } else { Ok(()) }
            });
            assert_eq!((outcome, left), (Ok(()), 0));
        }
        let mut calls = 0;
        let refuse = || {
            calls += 1;
            Err(libc::EINVAL)
        };
        assert_eq!(repeat(PATIENCE, refuse), Err(libc::EINVAL));
        assert_eq!(calls, 1);
    }

    #[test]
    fn repeating_has_an_end() {
        for errno in [libc::EINTR, libc::EAGAIN] {
            let mut calls = 0;
            let again = || {
                calls += 1;
                Err(errno)
            };
            assert_eq!(repeat(Duration::from_millis(5), again), Err(errno));
            assert!(calls > 1);
        }
    }

    #[test]
    fn an_error_names_the_call_and_the_reason() {
        let file = File::open("/proc/self/exe").unwrap();
        let error = get_version(file.as_fd()).unwrap_err();
        assert_eq!(error.errno, libc::ENOTTY);
        let text = error.to_string();
        assert!(text.starts_with("AMDKFD_IOC_GET_VERSION failed: Inappropriate ioctl"), "{text}");
    }
}
