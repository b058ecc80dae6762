//! Named bits: the cache controls of packets, and what fields of registers are made of.

use super::Gfx;
use super::layout::Value;
use core::fmt;

/// A named range of bits in a dword, on the generations that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Name, as in the headers.
    pub name: &'static str,
    /// Lowest bit.
    pub shift: u32,
    /// Number of bits, at least 1.
    pub width: u32,
    /// First generation that has it.
    pub since: Gfx,
    /// Last generation that has it.
    pub until: Gfx,
}

impl Field {
    /// A field of every generation.
    pub const fn new(name: &'static str, shift: u32, width: u32) -> Self {
        assert!(width > 0 && shift + width <= 32);
        Self { name, shift, width, since: Gfx::Gfx9, until: Gfx::Gfx12 }
    }

    /// The same from this generation on.
    #[must_use]
    pub const fn since(mut self, gfx: Gfx) -> Self {
        self.since = gfx;
        self
    }

    /// The same up to and with this generation.
    #[must_use]
    pub const fn until(mut self, gfx: Gfx) -> Self {
        self.until = gfx;
        self
    }

    /// Whether a generation has it.
    pub const fn exists_on(&self, gfx: Gfx) -> bool {
        self.since as u32 <= gfx as u32 && gfx as u32 <= self.until as u32
    }

    /// Mask of the field in its dword.
    pub const fn mask(&self) -> u32 {
        (u32::MAX >> (32 - self.width)) << self.shift
    }

    /// The field of a dword.
    pub const fn get(&self, word: u32) -> u32 {
        (word & self.mask()) >> self.shift
    }

    /// `word` with the field replaced; `None` when `value` does not fit.
    #[must_use]
    pub const fn set(&self, word: u32, value: u32) -> Option<u32> {
        if value > u32::MAX >> (32 - self.width) {
            return None;
        }
        Some((word & !self.mask()) | (value << self.shift))
    }

    /// Writes ` {NAME=n ...}`: the fields of `word` that are not 0, and what none of them explains.
    pub(super) fn show_all(fields: &[Self], gfx: Gfx, word: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = word;
        let mut separator = "{";
        for field in fields.iter().filter(|field| field.exists_on(gfx)) {
            rest &= !field.mask();
            if field.get(word) != 0 {
                write!(f, "{separator}{}={:#x}", field.name, field.get(word))?;
                separator = " ";
            }
        }
        if rest != 0 && !fields.is_empty() {
            write!(f, "{separator}?={rest:#x}")?;
            separator = " ";
        }
        if separator == " " { f.write_str("}") } else { Ok(()) }
    }
}

/// Words of named bits.
macro_rules! bits {
    ($(
        $(#[$doc:meta])*
        $name:ident: $word:ty { $($(#[$fdoc:meta])* $field:ident: $shift:literal, $width:literal;)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name(pub $word);

        impl $name {
            $($(#[$fdoc])* pub const $field: Field = Field::new(stringify!($field), $shift, $width);)*
            /// All fields.
            pub const FIELDS: &'static [Field] = &[$(Self::$field),*];
        }

        impl Value for $name {
            fn raw(self) -> u64 {
                self.0.into()
            }

            fn from_raw(raw: u64) -> Self {
                Self(raw as $word)
            }

            fn show(self, gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)?;
                Field::show_all(Self::FIELDS, gfx, self.0.into(), f)
            }
        }
    )*};
}

bits! {
    /// `GCR_CNTL` of ACQUIRE_MEM from gfx10 on (2.3): what is done with which cache. gfx12 has no GL1 and no GLM any
    /// more; what it makes of their bits is not known, and the original sends the same value.
    GcrCntl: u32 {
        /// Invalidate instruction caches: 0 no, 1 all.
        GLI_INV: 0, 2;
        /// Range of the GL1 action.
        GL1_RANGE: 2, 2;
        /// Write the metadata cache back.
        GLM_WB: 4, 1;
        /// Invalidate the metadata cache.
        GLM_INV: 5, 1;
        /// Write the scalar cache back.
        GLK_WB: 6, 1;
        /// Invalidate the scalar cache.
        GLK_INV: 7, 1;
        /// Invalidate the vector cache.
        GLV_INV: 8, 1;
        /// Invalidate GL1.
        GL1_INV: 9, 1;
        /// GL2: uncached and streamed lines only.
        GL2_US: 10, 1;
        /// Range of the GL2 action.
        GL2_RANGE: 11, 2;
        /// Discard GL2.
        GL2_DISCARD: 13, 1;
        /// Invalidate GL2.
        GL2_INV: 14, 1;
        /// Write GL2 back.
        GL2_WB: 15, 1;
        /// Order of the actions: 1 forward.
        SEQ: 16, 2;
    }

    /// `GCR_CNTL` of RELEASE_MEM from gfx10 on, bit 0 being bit 12 of the dword (`nvd.h`).
    ReleaseGcrCntl: u16 {
        /// Write the metadata cache back.
        GLM_WB: 0, 1;
        /// Invalidate the metadata cache.
        GLM_INV: 1, 1;
        /// Invalidate the vector cache.
        GLV_INV: 2, 1;
        /// Invalidate GL1.
        GL1_INV: 3, 1;
        /// GL2: uncached and streamed lines only.
        GL2_US: 4, 1;
        /// Range of the GL2 action.
        GL2_RANGE: 5, 2;
        /// Discard GL2.
        GL2_DISCARD: 7, 1;
        /// Invalidate GL2.
        GL2_INV: 8, 1;
        /// Write GL2 back.
        GL2_WB: 9, 1;
        /// Order of the actions: 1 forward.
        SEQ: 10, 2;
    }

    /// `COHER_CNTL` of ACQUIRE_MEM on gfx9 (`soc15d.h`; the thunk's three bits are of 2.3).
    CoherCntl: u32 {
        /// Vector L1, volatile lines.
        TCL1_VOL_ACTION_ENA: 15, 1;
        /// Write L2 back.
        TC_WB_ACTION_ENA: 18, 1;
        /// Invalidate vector L1.
        TCL1_ACTION_ENA: 22, 1;
        /// Invalidate L2.
        TC_ACTION_ENA: 23, 1;
        /// Invalidate the scalar cache.
        SH_KCACHE_ACTION_ENA: 27, 1;
        /// Scalar cache, volatile lines.
        SH_KCACHE_VOL_ACTION_ENA: 28, 1;
        /// Invalidate the instruction cache.
        SH_ICACHE_ACTION_ENA: 29, 1;
        /// Write the scalar cache back.
        SH_KCACHE_WB_ACTION_ENA: 30, 1;
    }

    /// Cache actions of RELEASE_MEM on gfx9, bit 0 being bit 12 of the dword (`soc15d.h`).
    EopActions: u16 {
        /// Vector L1, volatile lines.
        TCL1_VOL_ACTION_EN: 0, 1;
        /// L2, volatile lines.
        TC_VOL_ACTION_EN: 1, 1;
        /// Write L2 back.
        TC_WB_ACTION_EN: 3, 1;
        /// Invalidate vector L1.
        TCL1_ACTION_EN: 4, 1;
        /// Invalidate L2.
        TC_ACTION_EN: 5, 1;
        /// L2, non-coherent lines.
        TC_NC_ACTION_EN: 7, 1;
        /// L2, metadata.
        TC_MD_ACTION_EN: 9, 1;
    }
}

impl GcrCntl {
    /// What the original puts before each dispatch and behind each signalled one (2.3).
    pub const THUNK: Self = Self(0x1c3f1);
    /// What aqlprofile writes results back with: GL2, forward (2.3).
    pub const GL2_WRITE_BACK: Self = Self(0x18000);
}

impl CoherCntl {
    /// What the original puts before each dispatch on gfx9 (2.3): scalar and instruction caches, not the vector L1 and
    /// not L2.
    pub const THUNK: Self = Self(7 << 27);
}
