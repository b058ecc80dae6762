//! Error numbers as a caller of the kernel sees them.

/// An errno value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

macro_rules! numbers {
    ($($name:ident),* $(,)?) => {
        impl Errno {
            $(#[doc = concat!("`", stringify!($name), "`.")]
            pub const $name: Self = Self(libc::$name);)*

            /// The number of a name such as `EINVAL`, or of decimal digits.
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $(stringify!($name) => Some(Self::$name),)*
                    digits => digits.parse().ok().filter(|n| (1..4096).contains(n)).map(Self),
                }
            }
        }
    };
}

numbers!(
    EACCES, EAGAIN, EBADF, EBUSY, EEXIST, EFAULT, EINTR, EINVAL, EIO, EMFILE, ENFILE, ENODEV, ENOENT, ENOMEM, ENOSPC,
    ENOTTY, ENXIO, EOPNOTSUPP, EPERM, ESRCH, ETIME,
);

/// What a call of the kernel ends in.
pub type Answer<T = ()> = Result<T, Errno>;
