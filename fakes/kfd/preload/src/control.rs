//! The door for tests, as C functions; `include/rocdxg_fake_kfd.h` declares them.

use core::ffi::{CStr, c_char, c_int};

use rocdxg_fake_kfd::Errno;

use crate::front::front;

/// A C string, when it is one and text.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// What is alive in the driver that this process knows: open files of `/dev/kfd`, of render nodes, processes with state,
/// bound VMs, buffers, buffers in address spaces, events. 0, or -1 when the fake is not set up.
///
/// # Safety
/// `counts` has room for seven numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_kfd_ledger(counts: *mut u64) -> c_int {
    let Some(mut front) = front() else { return -1 };
    let ledger = front.ledger();
    let numbers = [
        ledger.kfd_opens,
        ledger.render_opens,
        ledger.processes,
        ledger.bound_vms,
        ledger.buffers,
        ledger.mappings,
        ledger.events,
    ];
    // SAFETY: the caller vouches for the room.
    unsafe { counts.cast::<[u64; 7]>().write_unaligned(numbers) };
    0
}

/// How many violations there were.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_kfd_violations() -> u64 {
    front().map_or(0, |front| front.kernel.violation_count())
}

/// Copies the text of one violation, cut to `room` bytes with its zero byte: its whole length, or -1 when there is none of
/// that number.
///
/// # Safety
/// `to` has `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_kfd_violation(number: u64, to: *mut c_char, room: usize) -> c_int {
    let Some(front) = front() else { return -1 };
    let found = usize::try_from(number).ok().and_then(|n| front.kernel.violations().get(n));
    let Some(text) = found else { return -1 };
    if let Some(most) = room.checked_sub(1) {
        let bytes = text.len().min(most);
        // SAFETY: at most `room` bytes with the last one.
        unsafe {
            to.copy_from_nonoverlapping(text.as_ptr().cast(), bytes);
            to.add(bytes).write(0);
        }
    }
    c_int::try_from(text.len()).unwrap_or(c_int::MAX)
}

/// How often a call was made, by the name of the ioctl without prefix, `OPEN` or `OPEN_RENDER`; 0 for another name.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_kfd_calls(name: *const c_char) -> u64 {
    // SAFETY: the caller vouches for `name`.
    let Some(name) = (unsafe { text(name) }) else { return 0 };
    front().and_then(|front| front.kernel.calls(name)).unwrap_or(0)
}

/// The `k`-th call of that name from now fails, with 0 every one: 0, or -1 for a name that is no call.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_kfd_fail(name: *const c_char, k: u64, errno: c_int) -> c_int {
    // SAFETY: the caller vouches for `name`.
    let Some(name) = (unsafe { text(name) }) else { return -1 };
    let done = front().is_some_and(|mut front| front.kernel.fail(name, k, Errno(errno)));
    if done { 0 } else { -1 }
}
