//! The definitions that ours stand before.

/// Declares functions that call the next definition of a symbol.
macro_rules! next {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty = $missing:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As the C function.
        pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
            static NEXT: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
            let mut address = NEXT.load(core::sync::atomic::Ordering::Relaxed);
            if address == 0 {
                let symbol = concat!(stringify!($name), "\0");
                // SAFETY: a string with a zero byte; the lookup has no side effects.
                address = unsafe { libc::dlsym(libc::RTLD_NEXT, symbol.as_ptr().cast()) } as usize;
                NEXT.store(address, core::sync::atomic::Ordering::Relaxed);
            }
            if address == 0 {
                set_errno(libc::ENOSYS);
                return $missing;
            }
            // SAFETY: the next definition of this symbol has the C function's type.
            let function: unsafe extern "C" fn($($type),*) -> $result = unsafe { core::mem::transmute(address) };
            // SAFETY: the caller vouches for the arguments.
            unsafe { function($($argument),*) }
        }
    )*};
}

pub(crate) use next;

/// Sets errno of this thread.
pub(crate) fn set_errno(errno: i32) {
    // SAFETY: the location is this thread's own.
    unsafe { *libc::__errno_location() = errno };
}
