//! The handshake on structure sizes (dxg.md 1.8).

use std::mem::size_of;

use super::exports;
use crate::abi::*;
use crate::process::Error;

/// Newest size of the descriptor of `hsaKmtHandleImport` (abi/history.md).
const IMPORT_DESCRIPTOR: usize = 40;

exports! {
    /// Compares the structure sizes that a caller was built with to ours. A size of 0 was not announced.
    ///
    /// Works before any open. INVALID_PARAMETER when the structure itself has another size, DRIVER_MISMATCH when one
    /// that it announces has.
    fn DxgAbiCheck(StructureSizes: *mut HsaStructureSizes) {
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
        for (structure, ours, theirs) in [
            ("HsaNodeProperties", size_of::<HsaNodeProperties>(), sizes.SizeOfHsaNodeProperties),
            ("HsaHandleImportDesc", IMPORT_DESCRIPTOR, sizes.SizeOfHsaExternalHandleDesc),
        ] {
            let theirs = usize::from(theirs);
            if theirs != 0 && theirs != ours {
                return Err(Error::Mismatch { structure, ours, theirs });
            }
        }
        Ok(())
    }
}
