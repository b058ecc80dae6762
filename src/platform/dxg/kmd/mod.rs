//! What is known of a GPU behind an adapter: from public queries and the ASIC table, or from a provider.
//!
//! AMD's own numbers travel in blobs that only AMD's closed library can read. [`public`] does without them;
//! [`provider`] asks a shared object that can. May call: `dxcore`, `asic`, `abi`.

pub mod provider;
pub mod public;
pub mod vtable;

use std::fmt;

/// Why an adapter of ours is not a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The model is not certain, so its geometry is not.
    Ambiguous,
    /// The device id is not in the table.
    Unlisted,
    /// Admission was asked for, and nothing tells the graphics version.
    NoGraphicsVersion,
    /// Admission was asked for, and no part that could lend its numbers is listed.
    NoNumbers,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const OPT_IN: &str = "set LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS=1 to use it all the same";
        match self {
            Self::Ambiguous => {
                write!(
                    f,
                    "neither its revision nor its name tells which model it is, or its CU count is unknown; {OPT_IN}"
                )
            }
            Self::Unlisted => write!(
                f,
                "its device id is not in the table of supported GPUs; {OPT_IN}, with HSA_OVERRIDE_GFX_VERSION"
            ),
            Self::NoGraphicsVersion => f.write_str(
                "its device id is not in the table of supported GPUs and nothing tells its graphics version; \
                 set HSA_OVERRIDE_GFX_VERSION=major.minor.stepping",
            ),
            Self::NoNumbers => f.write_str("no listed GPU of its kind has a known CU count to go by"),
        }
    }
}
