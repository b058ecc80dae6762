//! Version of librocdxg.so.1 that consumers know it by (required_exports.md: the loader of ROCr takes the major number).

/// Major number: that of the file name.
pub const ROCDXG_LIB_VERSION_MAJOR: u32 = 1;
/// Minor number.
pub const ROCDXG_LIB_VERSION_MINOR: u32 = 1;
/// Patch number.
pub const ROCDXG_LIB_VERSION_PATCH: u32 = 0;
