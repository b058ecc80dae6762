//! Open, close, version, and what stands behind the driver.

use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Opened};

exports! {
    /// Opens the GPU for this process, or takes one more reference on it.
    ///
    /// Returns SUCCESS for the first reference and KERNEL_ALREADY_OPENED (22) for every further one; each of both owes
    /// one `hsaKmtCloseKFD`. KERNEL_IO_CHANNEL_NOT_OPENED when no device file can be opened, DRIVER_MISMATCH when the
    /// interface behind `/dev/kfd` is another one, ERROR when it does not answer or libdxcore cannot be used (dxg.md
    /// 1.2, kfd.md 1.2).
    fn hsaKmtOpenKFD() -> HSAKMT_STATUS {
        Ok(match process::open()? {
            Opened::First => HSAKMT_STATUS_SUCCESS,
            Opened::Again => HSAKMT_STATUS_KERNEL_ALREADY_OPENED,
        })
    }

    /// Gives back one reference of `hsaKmtOpenKFD`; the last one closes everything, step by step to the end, and
    /// returns the first error. KERNEL_IO_CHANNEL_NOT_OPENED when none is left (dxg.md 1.3).
    fn hsaKmtCloseKFD() {
        process::close()
    }

    /// Tells the version of the kernel interface (dxg.md 1.8, kfd.md 1.2).
    fn hsaKmtGetVersion(VersionInfo: *mut HsaVersionInfo) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("VersionInfo", VersionInfo) }?;
        out.write(process::kernel_interface()?);
        Ok(())
    }

    /// Writes whether a software model of a GPU stands in for the driver, which is never so. Works before any open.
    fn hsaKmtModelEnabled(enable: *mut bool) {
        // SAFETY: the pointer is the caller's, for one value.
        let out = unsafe { Out::new("enable", enable) }?;
        out.write(false);
        Ok(())
    }
}
