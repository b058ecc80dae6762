//! Which kernel answers.

/// A kernel whose rules are obeyed (kfd-kernel.md, head).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Mainline 6.1.192.
    V6_1,
    /// Mainline 6.12.117.
    V6_12,
    /// Mainline 7.2.13.
    #[default]
    V7_2,
}

impl Mode {
    /// Reads `6.1`, `6.12` or `7.2`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "6.1" => Some(Self::V6_1),
            "6.12" => Some(Self::V6_12),
            "7.2" => Some(Self::V7_2),
            _ => None,
        }
    }

    /// Version of the KFD interface, major and minor (kfd-kernel.md, head).
    pub const fn kfd_version(self) -> (u32, u32) {
        match self {
            Self::V6_1 => (1, 11),
            Self::V6_12 => (1, 17),
            Self::V7_2 => (1, 23),
        }
    }

    /// Minor version of the amdgpu DRM interface; the major one is 3. 64 is kfd-kernel.md's, the others are assumed.
    pub const fn drm_minor(self) -> u32 {
        match self {
            Self::V6_1 => 49,
            Self::V6_12 => 59,
            Self::V7_2 => 64,
        }
    }

    /// Last ioctl number of the table (kfd-kernel.md 2.1); that of 6.1 follows from its interface version, in which
    /// dmabuf export is still missing (kfd.md 8.2).
    pub const fn last_number(self) -> u8 {
        match self {
            Self::V6_1 => 0x23,
            Self::V6_12 => 0x26,
            Self::V7_2 => 0x28,
        }
    }

    /// The debugger interface is there, since interface 1.13 (kfd.md 8.2), with its sysfs keys and capability bits.
    pub const fn has_debugger(self) -> bool {
        self.kfd_version().1 >= 13
    }
}
