//! The door to memory: when paging is done, how strict the host is, and the GPU's view.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use rocdxg_fake_gpu::user::copy;

use super::text;
pub use crate::gpu::{Extent, Fault};
use crate::process::{State, control};
use crate::record;

/// When a paging operation is done. The fence never runs ahead of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    /// How long an operation takes, in microseconds: exactly, or at most with a seed.
    pub delay_us: u32,
    /// Every so many-th operation is done at once and answers SUCCESS with 0; with a seed, one in so many at random;
    /// with 0, none. (dxgkrnl.md rule 84)
    pub immediate_every: u32,
    /// Makes times and choices vary, the same way each time; 0 makes them not vary.
    pub seed: u64,
    /// Nothing is done until [`finish`] says so.
    pub manual: bool,
}

impl Paging {
    /// Each operation is PENDING, and done at the next call.
    pub const DEFAULT: Self = Self { delay_us: 0, immediate_every: 0, seed: 0, manual: false };

    /// Reads `delay=US`, `immediate=N`, `seed=N` and `manual`, comma-separated.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut paging = Self::DEFAULT;
        for word in text.split(',').map(str::trim) {
            match word.split_once('=') {
                Some(("delay", number)) => paging.delay_us = number.parse().ok()?,
                Some(("immediate", number)) => paging.immediate_every = number.parse().ok()?,
                Some(("seed", number)) => paging.seed = number.parse().ok()?,
                None if word == "manual" => paging.manual = true,
                _ => return None,
            }
        }
        Some(paging)
    }
}

/// Where the documentation and the shipping thunk disagree, or nobody knows (dxgkrnl.md section 8): what the host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRules {
    /// Reserving rounds bounds that are not multiples of 64 KiB inwards instead of refusing them (rule 73).
    pub tolerates_unaligned_bounds: bool,
    /// Freeing a part of a range is refused (rule 77).
    pub frees_whole_ranges_only: bool,
    /// MakeResident that fails with CantTrimFurther puts the device into an error (rule 89).
    pub final_trim_is_fatal: bool,
}

impl MemoryRules {
    /// As documented, and where that is open the milder way.
    pub const DEFAULT: Self =
        Self { tolerates_unaligned_bounds: false, frees_whole_ranges_only: false, final_trim_is_fatal: false };

    /// Reads `unaligned-bounds`, `whole-ranges` and `fatal-trim`, comma-separated.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rules = Self::DEFAULT;
        for word in text.split(',') {
            match word.trim() {
                "unaligned-bounds" => rules.tolerates_unaligned_bounds = true,
                "whole-ranges" => rules.frees_whole_ranges_only = true,
                "fatal-trim" => rules.final_trim_is_fatal = true,
                _ => return None,
            }
        }
        Some(rules)
    }
}

/// Chooses when paging operations are done from now on.
pub fn set_paging(mode: Paging) {
    control(|state| state.clock.choose(mode));
}

/// Chooses how strict the host is from now on.
pub fn set_rules(rules: MemoryRules) {
    control(|state| state.memory_rules = rules);
}

/// Does the operations of a paging queue up to `value` now: how many there were to do, `None` when the handle is no
/// paging queue's.
pub fn finish(queue: u32, value: u64) -> Option<usize> {
    control(|state| state.finish(queue, value)).flatten()
}

/// The GPU raises a monitored fence; `false` when the handle is none that may be signalled.
pub fn signal(fence: u32, value: u64) -> bool {
    control(|state| state.signal(fence, value)).unwrap_or(false)
}

/// What may be resident in a segment group (0 local, 1 non-local) of an adapter; `None` is the host's own choice.
/// `false` when there is no such group.
pub fn set_budget(adapter: usize, group: u32, bytes: Option<u64>) -> bool {
    let set = |state: &mut State| {
        let budget = state.adapters.get_mut(adapter).and_then(|a| a.budgets.get_mut(group as usize));
        budget.map(|budget| *budget = bytes).is_some()
    };
    control(set).unwrap_or(false)
}

/// The GPU of an adapter reads; a fault is counted.
pub fn gpu_read(adapter: usize, va: u64, to: &mut [u8]) -> Result<(), Fault> {
    control(|state| state.gpu_read(adapter, va, to)).unwrap_or(Err(Fault::Unmapped))
}

/// The GPU of an adapter writes; a fault is counted.
pub fn gpu_write(adapter: usize, va: u64, from: &[u8]) -> Result<(), Fault> {
    control(|state| state.gpu_write(adapter, va, from)).unwrap_or(Err(Fault::Unmapped))
}

/// Where an access of the GPU would go; nothing is counted.
pub fn translate(adapter: usize, va: u64, bytes: u64, write: bool) -> Result<Vec<Extent>, Fault> {
    let walk = |state: &mut State| {
        state.progress();
        state.translate(adapter, va, bytes, write)
    };
    control(walk).unwrap_or(Err(Fault::Unmapped))
}

/// How often the GPU could not access memory.
pub fn faults() -> u64 {
    control(|state| state.faults.0).unwrap_or(0)
}

/// The last of them, in words.
pub fn last_fault() -> Option<String> {
    control(|state| state.faults.1.as_ref().map(|text| text.to_string_lossy().into_owned())).flatten()
}

/// A number that the memory of an allocation, or a shared resource, has in all processes; 0 for any other handle.
pub fn identity(handle: u32) -> u64 {
    control(|state| state.identity_of(handle)).unwrap_or(0)
}

/// How many resources of all processes name the object of a shared descriptor; `None` when it names none.
pub fn shared_holders(descriptor: i32) -> Option<u64> {
    record::holders(&record::duplicate(descriptor, record::OWN)?)
}

/// [`set_paging`].
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_set_paging(delay_us: u32, immediate_every: u32, seed: u64, manual: c_int) {
    set_paging(Paging { delay_us, immediate_every, seed, manual: manual != 0 });
}

/// [`finish`]: how many, or -1 when the handle is no paging queue's.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_finish_paging(queue: u32, value: u64) -> i64 {
    finish(queue, value).map_or(-1, |done| done as i64)
}

/// [`signal`]: 0, or -1 when the handle is no fence that may be signalled.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_signal(fence: u32, value: u64) -> c_int {
    if signal(fence, value) { 0 } else { -1 }
}

/// [`set_budget`]; `UINT64_MAX` is the host's own choice. 0, or -1 when there is no such group.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_set_budget(adapter: u32, group: u32, bytes: u64) -> c_int {
    if set_budget(adapter as usize, group, (bytes != u64::MAX).then_some(bytes)) { 0 } else { -1 }
}

/// Most bytes that a C program may move at once.
const MOST: u64 = 1 << 30;

/// [`gpu_read`]: 0, or -1 for a fault, which leaves `to` as it was.
///
/// # Safety
/// `to` has room for `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_gpu_read(adapter: u32, va: u64, to: *mut c_void, bytes: u64) -> c_int {
    let mut read = vec![0; bytes.min(MOST) as usize];
    let done = bytes <= MOST && gpu_read(adapter as usize, va, &mut read).is_ok();
    // SAFETY: the caller vouches for the room, and `read` has the bytes.
    if done && unsafe { copy(to, read.as_ptr().cast(), read.len()) } { 0 } else { -1 }
}

/// [`gpu_write`]: 0, or -1 for a fault.
///
/// # Safety
/// `from` has `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_gpu_write(adapter: u32, va: u64, from: *const c_void, bytes: u64) -> c_int {
    let mut written = vec![0; bytes.min(MOST) as usize];
    // SAFETY: the caller vouches for the bytes, and `written` has room for them.
    let have = bytes <= MOST && unsafe { copy(written.as_mut_ptr().cast(), from, written.len()) };
    if have && gpu_write(adapter as usize, va, &written).is_ok() { 0 } else { -1 }
}

/// [`faults`].
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_gpu_faults() -> u64 {
    faults()
}

/// [`last_fault`], null when there was none; valid until the next fault, reset or unload.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_gpu_fault() -> *const c_char {
    control(|state| state.faults.1.as_ref().map_or(ptr::null(), |text| text.as_ptr())).unwrap_or(ptr::null())
}

/// [`identity`].
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_identity(handle: u32) -> u64 {
    identity(handle)
}

/// [`shared_holders`], -1 for none.
#[unsafe(no_mangle)]
pub extern "C" fn rocdxg_fake_shared_holders(descriptor: c_int) -> i64 {
    shared_holders(descriptor).map_or(-1, |holders| holders as i64)
}

/// How many objects of a kind are alive, by the name of its field in [`super::Ledger`]; -1 for a name that is none.
///
/// # Safety
/// `kind` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocdxg_fake_live(kind: *const c_char) -> i64 {
    // SAFETY: the caller vouches for it.
    let count = unsafe { text(kind) }.and_then(|kind| super::ledger().of(kind));
    count.map_or(-1, |count| count as i64)
}
