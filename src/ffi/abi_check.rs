//! The handshake on structure sizes (dxg.md 1.8).

use std::mem::size_of;

use super::caller_exports;
use crate::abi::*;
use crate::process::{self, Error};

caller_exports! {
    /// Announces the structure sizes that the calling module was built with. From then on its calls get structures of
    /// these forms; a size of 0 leaves what would hold without.
    ///
    /// Works before any open. INVALID_PARAMETER when the structure itself has another size, DRIVER_MISMATCH when no
    /// release has a size that it announces (design.md, "ABI generations").
    fn DxgAbiCheck(caller: Caller, StructureSizes: *mut HsaStructureSizes) {
        if StructureSizes.is_null() {
            return Err(Error::Null("StructureSizes"));
        }
        // SAFETY: the pointer is the caller's; the first field says how much of it there is.
        let announced = usize::from(unsafe { StructureSizes.cast::<HSAuint16>().read_unaligned() });
        if announced != size_of::<HsaStructureSizes>() {
            return Err(Error::Argument(format!("HsaStructureSizes has {announced} bytes in the caller")));
        }
        // SAFETY: the caller's structure has the size of ours.
        let sizes = unsafe { StructureSizes.read_unaligned() };
        process::announce(caller.module(), &sizes)
    }
}
