//! Debugger support of the runtime (dxg.md 4.3).

use std::ffi::c_void;

use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

/// Fails unless the device is open and every GPU of the snapshot can be debugged.
fn require_debug_support() -> Result<(), Error> {
    if process::debug_support()? { Ok(()) } else { Err(Error::NotSupported("debugging on this driver")) }
}

exports! {
    /// Tells whether every GPU can be debugged: SUCCESS, or NOT_SUPPORTED. Takes no snapshot reference; without a
    /// snapshot there is no GPU to ask.
    fn hsaKmtCheckRuntimeDebugSupport() {
        require_debug_support()
    }

    /// Registers the runtime with the debugger interface of the driver.
    fn hsaKmtRuntimeEnable(rDebug: *mut c_void, setupTtmp: bool) {
        let _ = (rDebug, setupTtmp);
        require_debug_support()?;
        Err(Error::NotSupported("registering a runtime with the debugger of this driver"))
    }

    /// Takes back what `hsaKmtRuntimeEnable` did. Since that cannot have succeeded here there is nothing to take back,
    /// and it is SUCCESS also in a fork child that has not opened the device.
    fn hsaKmtRuntimeDisable() {
        Ok(())
    }

    /// Writes the mask of runtime capabilities, which is 0 on WSL.
    fn hsaKmtGetRuntimeCapabilities(caps_mask: *mut HSAuint32) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("caps_mask", caps_mask) }?;
        out.write(0);
        Ok(())
    }
}
