//! The exported functions, one file per section of the header.
//!
//! Each one checks its pointers, converts, makes one call into `process`, and converts the result; nothing else
//! happens here. Every export is made by `exports!`, which gives it its symbol version, a panic barrier and the one
//! log line of a failure. May call: `process`, `abi`.

// `libhsakmt.so.1` has neither the calls of libdrm, which its users link beside it, nor WSL telemetry.
mod abi_check;
mod checks;
mod counters;
mod debug;
#[cfg(not(libhsakmt))]
mod drm;
mod events;
mod memory;
mod openclose;
mod queues;
mod sharing;
#[cfg(not(libhsakmt))]
mod smi;
mod status;
mod svm;
mod topology;

pub use abi_check::*;
pub use counters::*;
pub use debug::*;
#[cfg(not(libhsakmt))]
pub use drm::*;
pub use events::*;
pub use memory::*;
pub use openclose::*;
pub use queues::*;
pub use sharing::*;
#[cfg(not(libhsakmt))]
pub use smi::*;
pub use svm::*;
pub use topology::*;

use std::ffi::c_int;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi::HSAKMT_STATUS;
use crate::abi::generation::Generation;
use crate::platform::caller::{self, Entry, Frame, Module};
use crate::process::{self, Error, Level};

/// Declares exports: `fn name(Arg: Type, ...) { body }`, or with `-> Type` where the call returns something other
/// than success or a failure. The body gives a `Result` whose error is logged and becomes the status.
macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $return:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// Each pointer is NULL or valid for what its type and the count beside it say, as C requires.
            #[allow(non_snake_case, clippy::too_many_arguments)]
            #[unsafe(no_mangle)]
            #[inline(never)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> $crate::ffi::exports!(@return $($return)?) {
                // Inside the function, so that the directive is where the symbol is, and goes when it goes: link-time
                // optimisation of a program drops what the program does not call.
                // SAFETY: a directive for the assembler, which makes no instruction.
                unsafe {
                    core::arch::asm!(
                        concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@HSAKMT_1"),
                        options(nomem, nostack, preserves_flags)
                    )
                };
                $crate::ffi::barrier(stringify!($name), || $crate::ffi::exports!(@run $body $($return)?))
            }
        )*
    };
    (@return) => { $crate::abi::HSAKMT_STATUS };
    (@return $return:ty) => { $return };
    (@run $body:block) => {{
        let done: Result<(), $crate::process::Error> = $body;
        done.map(|()| $crate::abi::HSAKMT_STATUS_SUCCESS)
    }};
    (@run $body:block $return:ty) => {{
        let done: Result<$return, $crate::process::Error> = $body;
        done
    }};
}
pub(crate) use exports;

/// [`exports!`] for what must know who calls: the first parameter is `caller: Caller` and no part of the C prototype.
///
/// On x86-64 the export is a stub that saves the registers and passes its own address and theirs as the fifth and sixth
/// argument. Elsewhere nobody knows who calls.
macro_rules! caller_exports {
    ($($(#[$doc:meta])* fn $name:ident($caller:ident: Caller $(, $arg:ident: $type:ty)* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// Each pointer is NULL or valid for what its type and the count beside it say, as C requires.
            #[allow(non_snake_case)]
            #[unsafe(no_mangle)]
            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> $crate::abi::HSAKMT_STATUS {
                $crate::ffi::caller_exports!(@inner $name, $caller, [$($arg: $type),*], [$($type),*] $body);
                core::arch::naked_asm!(
                    concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@HSAKMT_1"),
                    "2:",
                    "push r15", "push r14", "push r13", "push r12", "push r11", "push r10", "push r9", "push r8",
                    "push rbp", "push rdi", "push rsi", "push rdx", "push rcx", "push rbx", "push rax",
                    // The address of this stub itself: its symbol may stand for a stub in the program.
                    "lea r8, [rip + 2b]",
                    "mov r9, rsp",
                    "call {inner}",
                    "add rsp, 120",
                    "ret",
                    inner = sym inner,
                )
            }

            #[cfg(not(target_arch = "x86_64"))]
            $crate::ffi::exports! {
                $(#[$doc])*
                fn $name($($arg: $type),*) {
                    let $caller = $crate::ffi::Caller(None);
                    $body
                }
            }
        )*
    };
    (@inner $name:ident, $caller:ident, [$($arg:ident: $type:ty),*], [$a:ty] $body:block) => {
        $crate::ffi::caller_exports!(@body $name, $caller, [$($arg: $type,)* _2: usize, _3: usize, _4: usize], $body);
    };
    (@inner $name:ident, $caller:ident, [$($arg:ident: $type:ty),*], [$a:ty, $b:ty] $body:block) => {
        $crate::ffi::caller_exports!(@body $name, $caller, [$($arg: $type,)* _3: usize, _4: usize], $body);
    };
    (@inner $name:ident, $caller:ident, [$($arg:ident: $type:ty),*], [$a:ty, $b:ty, $c:ty] $body:block) => {
        $crate::ffi::caller_exports!(@body $name, $caller, [$($arg: $type,)* _4: usize], $body);
    };
    (@inner $name:ident, $caller:ident, [$($arg:ident: $type:ty),*], [$a:ty, $b:ty, $c:ty, $d:ty] $body:block) => {
        $crate::ffi::caller_exports!(@body $name, $caller, [$($arg: $type),*], $body);
    };
    (@body $name:ident, $caller:ident, [$($arg:ident: $type:ty),*], $body:block) => {
        extern "C" fn inner(
            $($arg: $type,)*
            entry: usize,
            frame: &$crate::platform::caller::Frame,
        ) -> $crate::abi::HSAKMT_STATUS {
            let symbol = $name as *const () as usize;
            let entry = $crate::platform::caller::Entry { first: entry, symbol };
            let $caller = $crate::ffi::Caller(Some((frame, entry)));
            $crate::ffi::barrier(stringify!($name), || $crate::ffi::exports!(@run $body))
        }
    };
}
pub(crate) use caller_exports;

/// Who called an export: the registers at its entry, where they are known.
struct Caller<'a>(Option<(&'a Frame, Entry)>);

impl Caller<'_> {
    /// The calling module, where it can be told.
    fn module(&self) -> Option<Module> {
        let (frame, entry) = self.0?;
        caller::module(frame, entry)
    }

    /// The layouts that the caller was built with.
    fn generation(&self) -> Generation {
        process::generation(|| self.module())
    }
}

/// What an export returns, made from the status of a failure.
trait Returned {
    fn failed(status: HSAKMT_STATUS) -> Self;
}

/// The calls in the place of libdrm return an errno.
impl Returned for c_int {
    fn failed(status: HSAKMT_STATUS) -> Self {
        status::errno(status)
    }
}

impl Returned for HSAKMT_STATUS {
    fn failed(status: HSAKMT_STATUS) -> Self {
        status
    }
}

/// Runs the body of an export: no panic leaves it, and a failure leaves one line in the log.
fn barrier<R: Returned>(function: &'static str, body: impl FnOnce() -> Result<R, Error>) -> R {
    // Nothing that a panicking body leaves behind is looked at again without its own guard having restored it.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(returned)) => returned,
        Ok(Err(error)) => {
            process::log(error.level(), function, format_args!("{error}"));
            R::failed(status::of(&error))
        }
        Err(_) => {
            process::log(Level::Error, function, format_args!("internal error: the call panicked"));
            R::failed(status::PANIC)
        }
    }
}

/// A place in the caller's memory for one `T`, or for an array of them.
struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Fails where `pointer` is NULL.
    ///
    /// # Safety
    /// Otherwise it must be valid for what is written through the result.
    unsafe fn new(name: &'static str, pointer: *mut T) -> Result<Self, Error> {
        if pointer.is_null() { Err(Error::Null(name)) } else { Ok(Self(pointer)) }
    }

    fn write(&self, value: T) {
        // SAFETY: `new` requires room for one `T`; C callers of packed structures may not align it.
        unsafe { self.0.write_unaligned(value) };
    }

    /// Fills the place with zeros, padding included.
    #[cfg_attr(libhsakmt, allow(dead_code))] // Telemetry alone needs it.
    fn clear(&self) {
        // SAFETY: `new` requires room for one `T`, and bytes need no alignment.
        unsafe { self.0.cast::<u8>().write_bytes(0, size_of::<T>()) };
    }

    /// Writes element `index` of an array.
    ///
    /// # Safety
    /// The array must have more than `index` elements.
    unsafe fn write_at(&self, index: usize, value: T) {
        // SAFETY: the caller promises that the element exists.
        unsafe { self.0.add(index).write_unaligned(value) };
    }

    /// Writes element `index` of an array in the form that the caller has of it: the first `prefix` bytes of `value`,
    /// or the image of an older form. Elements are as far apart as they are long.
    ///
    /// # Safety
    /// The array must have more than `index` elements of that form.
    unsafe fn write_as<I: AsRef<[u8]>>(
        &self,
        index: usize,
        value: &T,
        prefix: Option<usize>,
        image: impl FnOnce(&T) -> I,
    ) {
        let copy = |bytes: &[u8]| {
            // SAFETY: the caller promises that the element exists.
            unsafe {
                self.0.cast::<u8>().add(index * bytes.len()).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
            };
        };
        match prefix {
            Some(size) => {
                let whole = std::ptr::from_ref(value).cast::<u8>();
                // SAFETY: `value` is that long; the structures that are written so have no padding, as their layout
                // tests show.
                copy(unsafe { std::slice::from_raw_parts(whole, size.min(size_of::<T>())) });
            }
            None => copy(image(value).as_ref()),
        }
    }
}

/// Elements of an array that a call takes at most: many times what any has a use for.
const MOST_ELEMENTS: u64 = 1 << 16;

/// A copy of an array of the caller's; no element of it is looked at twice. INVALID_PARAMETER where it is absurdly long.
///
/// # Safety
/// The array is NULL or has `count` elements.
unsafe fn read_array<T: Copy>(name: &'static str, array: *const T, count: u64) -> Result<Vec<T>, Error> {
    if count > MOST_ELEMENTS {
        return Err(Error::Argument(format!("{name} has {count} elements, and {MOST_ELEMENTS} are the most")));
    }
    checks::array(name, array, count)?;
    // SAFETY: the caller promises that the elements exist; C callers of packed structures may not align them.
    Ok((0..count as usize).map(|index| unsafe { array.add(index).read_unaligned() }).collect())
}

impl<T> fmt::Debug for Out<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.0)
    }
}
