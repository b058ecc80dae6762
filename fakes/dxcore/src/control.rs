//! The door for tests: what is alive, what was done wrong, what shall go wrong next.
//!
//! All of it concerns the calling process. The C forms are declared in `include/rocdxg_fake.h`.

use core::ffi::{CStr, c_char, c_int};
use core::ptr;

pub use crate::ledger::{Ledger, ledger};
pub use memory::{MemoryRules, Paging};

use crate::Status;
use crate::calls::Selector;
use crate::process::{self, control};

pub mod memory;

/// How the main table numbers its objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Handles {
    /// A freed number is issued again at once, so that stale use meets a live object (dxgkrnl.md rule 10).
    pub reuse: bool,
    /// Objects get the numbers that adapters have too (dxgkrnl.md rule 13).
    pub collide: bool,
}

impl Handles {
    /// Reads `reuse`, `collide` or both, comma-separated.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut handles = Self::default();
        for word in text.split(',') {
            match word.trim() {
                "reuse" => handles.reuse = true,
                "collide" => handles.collide = true,
                _ => return None,
            }
        }
        Some(handles)
    }
}

/// What the client did against the contract, in order; the first thousand in words.
pub fn violations() -> Vec<String> {
    let texts = |state: &mut process::State| {
        state.violations().1.iter().map(|t| t.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    control(texts).unwrap_or_default()
}

/// How often a kind was called: "CreateDevice", "QueryAdapterInfo/31" for one query type, "Any" for all. `None` for a
/// name that is no kind.
pub fn calls(name: &str) -> Option<u64> {
    let selector = Selector::parse(name)?;
    control(|state| state.counts.of(selector))
}

/// Makes the `k`-th call of a kind from now fail, with 0 every one; `false` for a name that is no kind.
///
/// The names are those of [`calls`]. Without a status the host refuses, and the caller sees what the real stack
/// shows of that: INVALID_PARAMETER where the host's status is mapped, BUFFER_TOO_SMALL or nothing but an unwritten
/// output where it is lost (dxgkrnl.md section 2). With one, the call ends in it, as far as the stack can show it
/// (dxgkrnl.md 6.1); where the host's status is lost, only statuses of the guest show. A destroying call destroys
/// before it fails.
pub fn fail(name: &str, k: u64, status: Option<Status>) -> bool {
    let Some(selector) = Selector::parse(name) else { return false };
    control(|state| state.plan.add(selector, k, status)).is_some()
}

/// Forgets counts, failures and violations and starts with fresh tables, when nothing is alive.
pub fn reset() -> Result<(), String> {
    process::restart(None)
}

/// Like [`reset`], with another machine: the name of a built-in one or a path.
pub fn set_machine(name_or_path: &str) -> Result<(), String> {
    process::restart(Some(name_or_path))
}

/// Like [`reset`], and numbers objects in that way from now on.
pub fn set_handles(handles: Handles) -> Result<(), String> {
    process::choose_handles(handles)
}

/// Sleeps inside each call, in microseconds.
pub fn set_delay(delay_us: u32) {
    process::set_delay(delay_us);
}

/// Plugs an adapter in or out; `false` when the machine has none of that number.
pub fn plug(adapter: usize, present: bool) -> bool {
    control(|state| state.adapters.get_mut(adapter).map(|a| a.present = present).is_some()).unwrap_or(false)
}

/// Stops or restarts an adapter: calls on it are DEVICE_REMOVED and it is no longer listed (dxgkrnl.md rule 131).
/// `false` when the machine has none of that number.
pub fn set_active(adapter: usize, active: bool) -> bool {
    control(|state| state.adapters.get_mut(adapter).map(|a| a.active = active).is_some()).unwrap_or(false)
}

/// Puts a device into an execution state on the host, which ends all waits for it unless that is ACTIVE. When
/// `announce` is set, the guest gets to know that some device has an error (dxgkrnl.md rules 42 and 115). `false` when
/// the handle is no device's.
pub fn set_device_state(device: u32, execution: u32, announce: bool) -> bool {
    control(|state| {
        let known = state.is_device(device);
        if known {
            state.lose_device(device, execution);
            state.errors_announced += u64::from(announce);
        }
        known
    })
    .unwrap_or(false)
}

/// Closes the device as unloading the shared object does; [`reset`] allows it to be opened again.
pub fn unload() {
    process::unload();
}

/// A C string, when it is one and text.
///
/// # Safety
/// `text` is null or points to bytes that end with a zero byte.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// [`Ledger::total`] of [`ledger`].
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_live_objects() -> u64 {
    ledger().total()
}

/// How many violations there were.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_violations() -> u64 {
    control(|state| state.violations().0).unwrap_or(0)
}

/// Text of one violation, null when there is none of that number; valid until the next reset or unload.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_violation(number: u64) -> *const c_char {
    let find = |state: &mut process::State| {
        usize::try_from(number).ok().and_then(|n| state.violations().1.get(n)).map_or(ptr::null(), |t| t.as_ptr())
    };
    control(find).unwrap_or(ptr::null())
}

/// [`calls`]; null is "Any", an unknown name 0.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_calls(name: *const c_char) -> u64 {
    // SAFETY: the caller vouches for `name`.
    let name = if name.is_null() { Some("Any") } else { unsafe { text(name) } };
    name.and_then(calls).unwrap_or(0)
}

/// [`fail`] without a status: 0, or -1 for a name that is no kind.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_fail(name: *const c_char, k: u64) -> c_int {
    // SAFETY: the caller vouches for `name`.
    let done = unsafe { text(name) }.is_some_and(|name| fail(name, k, None));
    if done { 0 } else { -1 }
}

/// [`fail`] with a status: 0, or -1 for a name that is no kind.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_fail_with(name: *const c_char, k: u64, status: Status) -> c_int {
    // SAFETY: the caller vouches for `name`.
    let done = unsafe { text(name) }.is_some_and(|name| fail(name, k, Some(status)));
    if done { 0 } else { -1 }
}

/// [`reset`]: 0, or -1 when something is alive.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_reset() -> c_int {
    if reset().is_ok() { 0 } else { -1 }
}

/// [`set_machine`]: 0, or -1 when something is alive or the machine cannot be had.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_set_machine(name: *const c_char) -> c_int {
    // SAFETY: the caller vouches for `name`.
    let done = unsafe { text(name) }.is_some_and(|name| set_machine(name).is_ok());
    if done { 0 } else { -1 }
}

/// [`plug`]: 0, or -1 when the machine has no such adapter.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_plug(adapter: u32, present: c_int) -> c_int {
    if plug(adapter as usize, present != 0) { 0 } else { -1 }
}

/// [`set_active`]: 0, or -1 when the machine has no such adapter.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_set_active(adapter: u32, active: c_int) -> c_int {
    if set_active(adapter as usize, active != 0) { 0 } else { -1 }
}

/// [`set_device_state`]: 0, or -1 when the handle is no device's.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_set_device_state(device: u32, execution: u32, announce: c_int) -> c_int {
    if set_device_state(device, execution, announce != 0) { 0 } else { -1 }
}
