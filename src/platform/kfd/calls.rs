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
