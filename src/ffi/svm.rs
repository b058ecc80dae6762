//! Shared virtual memory and retried page faults (kfd.md 3.10). No platform here offers attributes of ranges: those calls
//! make their checks and no more.
#![allow(unused_variables)]

use std::ffi::{c_uint, c_void};

use super::checks::{argument, array, given, not_supported};
use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

const NO_ATTRIBUTES: &str = "attributes of shared virtual memory";
/// Bytes of the smallest page.
const PAGE: HSAuint64 = 4096;

/// The range is one of whole pages, and not empty.
fn on_range(start: *const c_void, size: HSAuint64, count: c_uint, list: *const HSA_SVM_ATTRIBUTE) -> Result<(), Error> {
    process::require_open()?;
    given("start_addr", start)?;
    array("attrs", list, count.into())?;
    let whole = (start.addr() as HSAuint64 | size).is_multiple_of(PAGE);
    argument(size != 0 && whole, "the range is not one of whole pages")?;
    not_supported(NO_ATTRIBUTES)
}

exports! {
    /// Sets attributes of a range of whole pages.
    fn hsaKmtSVMSetAttr(start_addr: *mut c_void, size: HSAuint64, nattr: c_uint, attrs: *mut HSA_SVM_ATTRIBUTE) {
        on_range(start_addr, size, nattr, attrs)
    }

    /// Writes the values of the attributes that are listed, of a range of whole pages.
    fn hsaKmtSVMGetAttr(start_addr: *mut c_void, size: HSAuint64, nattr: c_uint, attrs: *mut HSA_SVM_ATTRIBUTE) {
        on_range(start_addr, size, nattr, attrs)
    }

    /// Lets GPUs retry accesses that fault, or not.
    fn hsaKmtSetXNACKMode(enable: HSAint32) {
        process::platform()?.retry_faults(Some(enable != 0))?;
        Ok(())
    }

    /// Writes whether GPUs retry accesses that fault. Callers take a failure as "no".
    fn hsaKmtGetXNACKMode(enable: *mut HSAint32) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("enable", enable) }?;
        out.write(process::platform()?.retry_faults(None)?.into());
        Ok(())
    }
}
