//! The seccomp filter: which system calls of the program stop and ask, and the descriptor through which they do.
//!
//! The filter denies nothing. It stops an `ioctl` whose type byte is that of the KFD or of DRM, and the three calls that
//! end a program: by them the supervisor learns what is open at that time. On request it also stops those that ask what
//! a descriptor is. Touches the calling process, once.

use core::ffi::{c_int, c_ulong};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use libc::{seccomp_notif, seccomp_notif_resp, sock_filter};

/// `AUDIT_ARCH_X86_64` or `AUDIT_ARCH_AARCH64`: the machine, 64 bits, little-endian.
#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 62 | 3 << 30;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 183 | 3 << 30;

/// Places in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// Low half of an argument.
const fn argument(number: u32) -> u32 {
    16 + 8 * number
}

/// `SECCOMP_IOCTL_NOTIF_RECV`: `_IOWR('!', 0, struct seccomp_notif)`, and so on.
const RECEIVE: c_ulong = 0xc050_2100;
const SEND: c_ulong = 0xc018_2101;
const ID_VALID: c_ulong = 0x4008_2102;
const SET_FLAGS: c_ulong = 0x4008_2104;
/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`.
const SYNC_WAKE_UP: u64 = 1;

const fn statement(code: u32, value: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

const fn jump(value: u32, equal: u8, otherwise: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, jt: equal, jf: otherwise, k: value }
}

/// Reads a word of the call.
const fn load(place: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place)
}

/// The program. Calls of other architectures (32-bit programs) pass.
fn program(stats: bool) -> Vec<sock_filter> {
    let ask = statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF);
    let allow = statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW);
    let and = |mask| statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask);
    let mut steps = vec![load(ARCHITECTURE), jump(ARCH, 1, 0), allow, load(NUMBER)];
    for number in [libc::SYS_exit_group, libc::SYS_execve, libc::SYS_execveat] {
        steps.extend([jump(number as u32, 0, 1), ask]);
    }
    if stats {
        let empty = libc::AT_EMPTY_PATH as u32;
        steps.extend([jump(libc::SYS_fstat as u32, 0, 1), ask]);
        for (number, flags) in [(libc::SYS_newfstatat, argument(3)), (libc::SYS_statx, argument(2))] {
            steps.extend([jump(number as u32, 0, 5), load(flags), and(empty), jump(empty, 0, 1), ask, allow]);
        }
    }
    steps.extend([jump(libc::SYS_ioctl as u32, 1, 0), allow, load(argument(1)), and(0xff00)]);
    for kind in [b'K', b'd'] {
        steps.extend([jump(u32::from(kind) << 8, 0, 1), ask]);
    }
    steps.push(allow);
    steps
}

/// Installs the filter on this process and all that come from it: the number of the descriptor that asks.
///
/// `stats` stops `fstat` and its like too. Where the kernel can, a call that the supervisor has begun with ends whatever signal comes, so that none is carried
/// out twice.
pub fn install(stats: bool) -> Result<RawFd> {
    let mut program = program(stats);
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    let mut answer = Err(Error::from(ErrorKind::Unsupported));
    for flags in [libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, 0] {
        let flags = flags | libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        // SAFETY: the filter is whole and lives over the call.
        let fd = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, (&raw const filter).cast::<u8>())
        };
        if fd >= 0 {
            return Ok(fd as RawFd);
        }
        answer = Err(Error::last_os_error());
    }
    answer
}

/// The supervisor's end.
#[derive(Debug)]
pub struct Listener(OwnedFd);

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl From<OwnedFd> for Listener {
    fn from(fd: OwnedFd) -> Self {
        let listener = Self(fd);
        // Faster on kernels that know it; nothing depends on it.
        // SAFETY: a number.
        unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
        listener
    }
}

/// A call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Names it to the kernel.
    pub id: u64,
    /// Thread that makes it.
    pub tid: i32,
    /// System call number.
    pub number: c_int,
    /// Arguments.
    pub arguments: [u64; 6],
}

impl Listener {
    /// The next call; `None` when it is gone again.
    pub fn receive(&self) -> Option<Call> {
        // SAFETY: plain data; the kernel wants zeros.
        let mut call: seccomp_notif = unsafe { core::mem::zeroed() };
        // SAFETY: room for one.
        let done = unsafe { libc::ioctl(self.as_raw_fd(), RECEIVE, &raw mut call) };
        let seccomp_notif { id, pid, data, .. } = call;
        (done == 0).then_some(Call { id, tid: pid.cast_signed(), number: data.nr, arguments: data.args })
    }

    /// Whether the thread of a call still waits; while it does, its number is nobody else's.
    pub fn is_waiting(&self, id: u64) -> bool {
        // SAFETY: a number of ours.
        unsafe { libc::ioctl(self.as_raw_fd(), ID_VALID, &raw const id) == 0 }
    }

    /// Ends a call with 0 or minus an errno value.
    pub fn answer(&self, id: u64, error: i32) {
        self.send(seccomp_notif_resp { id, val: 0, error, flags: 0 });
    }

    /// Lets the kernel carry out a call.
    pub fn let_pass(&self, id: u64) {
        self.send(seccomp_notif_resp { id, val: 0, error: 0, flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32 });
    }

    /// A thread that is gone needs no answer.
    fn send(&self, answer: seccomp_notif_resp) {
        // SAFETY: an answer of ours.
        unsafe { libc::ioctl(self.as_raw_fd(), SEND, &raw const answer) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Carries out the program on a call: whether it stops.
    fn asks(stats: bool, architecture: u32, number: libc::c_long, arguments: [u64; 6]) -> bool {
        let steps = program(stats);
        let (mut accumulator, mut at) = (0, 0);
        loop {
            let step = steps[at];
            at += 1;
            match u32::from(step.code) & 7 {
                libc::BPF_LD => {
                    accumulator = match step.k {
                        NUMBER => number as u32,
                        ARCHITECTURE => architecture,
                        place => arguments[(place as usize - 16) / 8] as u32,
                    }
                }
                libc::BPF_ALU => accumulator &= step.k,
                libc::BPF_JMP => at += usize::from(if accumulator == step.k { step.jt } else { step.jf }),
                _ => match step.k {
                    libc::SECCOMP_RET_USER_NOTIF => return true,
                    libc::SECCOMP_RET_ALLOW => return false,
                    odd => panic!("{odd:#x}"),
                },
            }
        }
    }

    #[test]
    fn only_ioctls_of_the_two_devices_and_ends_of_programs_stop() {
        for stats in [false, true] {
            let ioctl = |request| asks(stats, ARCH, libc::SYS_ioctl, [3, request, 0, 0, 0, 0]);
            assert!(ioctl(0x8008_4b01) && ioctl(0xffff_ffff_c040_6400));
            assert!(!ioctl(0x5401) && !ioctl(0x8008_4c01) && !ioctl(0x4b));
            for number in [libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit_group] {
                assert!(asks(stats, ARCH, number, [0; 6]));
            }
            for number in [libc::SYS_read, libc::SYS_openat, libc::SYS_exit, libc::SYS_clone, libc::SYS_mmap] {
                assert!(!asks(stats, ARCH, number, [0x1000, 0x8008_4b01, 0x1000, 0x1000, 0, 0]));
            }
            assert!(!asks(stats, ARCH ^ 1, libc::SYS_ioctl, [3, 0x8008_4b01, 0, 0, 0, 0]), "32-bit calls");
        }
    }

    #[test]
    fn questions_about_descriptors_stop_on_request() {
        for stats in [false, true] {
            let asks = |number, arguments| asks(stats, ARCH, number, arguments);
            assert_eq!(asks(libc::SYS_fstat, [3, 0, 0, 0, 0, 0]), stats);
            assert_eq!(asks(libc::SYS_newfstatat, [3, 0, 0, 0x1000, 0, 0]), stats);
            assert_eq!(asks(libc::SYS_statx, [3, 0, 0x1100, 0, 0, 0]), stats);
            assert!(!asks(libc::SYS_newfstatat, [3, 0, 0x1000, 0x100, 0, 0]));
            assert!(!asks(libc::SYS_statx, [3, 0, 0x100, 0x1000, 0, 0]));
        }
    }

    #[test]
    fn requests_have_the_sizes_of_their_structures() {
        assert_eq!(RECEIVE >> 16 & 0x3fff, size_of::<seccomp_notif>() as u64);
        assert_eq!(SEND >> 16 & 0x3fff, size_of::<seccomp_notif_resp>() as u64);
    }
}
