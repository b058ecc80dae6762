//! Bit-fields of the C headers: unions of a whole word and named ranges of it.

/// A named range of bits in a word, lowest bit first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// Index of the lowest bit.
    pub shift: u32,
    /// Number of bits, at least 1.
    pub width: u32,
}

impl Bits {
    /// The range that starts at bit `shift` and is `width` bits wide.
    pub const fn new(shift: u32, width: u32) -> Self {
        Self { shift, width }
    }

    /// Mask of the range inside its word.
    pub const fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width)) << self.shift
    }
}

/// Declares the word behind a C union of `Value` and bit-fields, and one [`Bits`] constant per bit-field.
macro_rules! bit_fields {
    ($(#[$doc:meta])* $name:ident: $word:ty { $($(#[$fdoc:meta])* $field:ident: $shift:literal, $width:literal;)* }) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name(pub $word);

        impl $name {
            $($(#[$fdoc])* pub const $field: Bits = Bits::new($shift, $width);)*

            /// The value of one bit-field.
            pub const fn get(self, field: Bits) -> $word {
                ((self.0 as u64 & field.mask()) >> field.shift) as $word
            }

            /// This word with one bit-field replaced; bits of `value` that do not fit are dropped.
            #[must_use]
            pub const fn with(self, field: Bits, value: $word) -> Self {
                let mask = field.mask();
                Self(((self.0 as u64 & !mask) | (((value as u64) << field.shift) & mask)) as $word)
            }
        }

        impl $crate::abi::Plain for $name {
            const ZERO: Self = Self(0);

            fn write(self, out: &mut $crate::abi::Writer<'_>) {
                self.0.write(out);
            }
        }
    };
}
pub(crate) use bit_fields;
