//! Plain values: what every type of the contract can do, zero and a byte image.

/// A value of the C contract: every bit pattern is valid, zero included, and it can be written out as bytes.
pub trait Plain: Copy {
    /// All bits zero.
    const ZERO: Self;

    /// Appends the bytes that a C program sees, with padding as zeros.
    fn write(self, out: &mut Writer<'_>);
}

/// Fills a buffer from the front; what no longer fits is dropped.
#[derive(Debug)]
pub struct Writer<'a> {
    buffer: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    /// Starts at the first byte of `buffer`.
    pub const fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, at: 0 }
    }

    /// Bytes appended so far, those that were dropped included.
    pub const fn written(&self) -> usize {
        self.at
    }

    /// Appends `bytes`.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let room = self.buffer.get_mut(self.at..).unwrap_or_default();
        let fits = room.len().min(bytes.len());
        room[..fits].copy_from_slice(&bytes[..fits]);
        self.at += bytes.len();
    }

    /// Appends zeros until `written` is `end`; does nothing when it is there or beyond.
    pub fn pad_to(&mut self, end: usize) {
        while self.at < end {
            self.bytes(&[0]);
        }
    }
}

macro_rules! plain_integers {
    ($($int:ty)*) => {
        $(impl Plain for $int {
            const ZERO: Self = 0;

            fn write(self, out: &mut Writer<'_>) {
                out.bytes(&self.to_ne_bytes());
            }
        })*
    };
}
plain_integers!(u8 i8 u16 i16 u32 i32 u64 i64);

impl<T> Plain for *const T {
    const ZERO: Self = core::ptr::null();

    fn write(self, out: &mut Writer<'_>) {
        out.bytes(&(self as usize).to_ne_bytes());
    }
}

impl<T> Plain for *mut T {
    const ZERO: Self = core::ptr::null_mut();

    fn write(self, out: &mut Writer<'_>) {
        self.cast_const().write(out);
    }
}

impl<T: Plain, const N: usize> Plain for [T; N] {
    const ZERO: Self = [T::ZERO; N];

    fn write(self, out: &mut Writer<'_>) {
        for element in self {
            element.write(out);
        }
    }
}

/// Makes a struct [`Plain`], with its zero as `ZERO` and as `Default`. Takes every field, in order.
macro_rules! plain {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $name {
            /// All fields zero.
            pub const ZERO: Self = Self { $($field: $crate::abi::Plain::ZERO),* };
        }

        impl Default for $name {
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl $crate::abi::Plain for $name {
            const ZERO: Self = Self::ZERO;

            fn write(self, out: &mut $crate::abi::Writer<'_>) {
                let start = out.written();
                $(
                    out.pad_to(start + core::mem::offset_of!(Self, $field));
                    $crate::abi::Plain::write(self.$field, out);
                )*
                out.pad_to(start + size_of::<Self>());
            }
        }
    };
}
pub(crate) use plain;

/// Declares a C enumeration as an integer newtype, so that any value a caller passes is defined.
macro_rules! c_enum {
    ($(#[$doc:meta])* $name:ident: $repr:ty { $($(#[$vdoc:meta])* $variant:ident = $value:expr;)* }) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(pub $repr);

        $($(#[$vdoc])* pub const $variant: $name = $name($value);)*

        impl $crate::abi::Plain for $name {
            const ZERO: Self = Self(0);

            fn write(self, out: &mut $crate::abi::Writer<'_>) {
                self.0.write(out);
            }
        }
    };
}
pub(crate) use c_enum;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[repr(C)]
    struct Padded {
        small: u8,
        large: u32,
        pointer: *const u8,
        tail: u16,
    }
    plain!(Padded { small, large, pointer, tail });

    #[test]
    fn bytes_are_those_of_memory_with_zero_padding() {
        let value = Padded { small: 1, large: 0x0302_0504, pointer: 0x1122 as *const u8, tail: 7 };
        let mut buffer = [0xff; 24];
        let mut out = Writer::new(&mut buffer);
        value.write(&mut out);
        assert_eq!(out.written(), size_of::<Padded>());
        let mut expected = [0; 24];
        expected[0] = 1;
        expected[4..8].copy_from_slice(&0x0302_0504_u32.to_ne_bytes());
        expected[8..16].copy_from_slice(&0x1122_usize.to_ne_bytes());
        expected[16..18].copy_from_slice(&7_u16.to_ne_bytes());
        assert_eq!(buffer, expected);
    }

    #[test]
    fn what_does_not_fit_is_dropped() {
        let mut buffer = [0; 3];
        let mut out = Writer::new(&mut buffer);
        u16::MAX.write(&mut out);
        u32::MAX.write(&mut out);
        u8::MAX.write(&mut out);
        assert_eq!(out.written(), 7);
        assert_eq!(buffer, [0xff; 3]);
    }
}
