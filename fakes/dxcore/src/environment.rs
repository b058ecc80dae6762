//! What the environment chooses: variables, and the device file.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Replaces a choice by that of an environment variable, if it is set.
pub(crate) fn choose<T>(name: &str, parse: impl Fn(&str) -> Option<T>, choice: &mut T) -> Result<(), String> {
    if let Some(text) = variable(name) {
        *choice = parse(&text).ok_or(format!("{name}={text}: not understood"))?;
    }
    Ok(())
}

/// An environment variable that is set, not empty and text.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// Opens `/dev/dxg` below `ROCDXG_ROOT` when it is there: the descriptor, or -1.
pub(crate) fn open_node() -> Result<i32, String> {
    let root =
        std::env::var_os("ROCDXG_ROOT").filter(|r| !r.is_empty()).map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let path = root.join("dev/dxg");
    let bytes = CString::new(path.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: a path that ends with a zero byte.
    let node = unsafe { libc::open(bytes.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    if node >= 0 {
        return Ok(node);
    }
    let error = std::io::Error::last_os_error();
    let absent = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR));
    if absent && variable("ROCDXG_FAKE_NEED_NODE").as_deref() != Some("1") {
        return Ok(-1);
    }
    Err(format!("{}: {error}", path.display()))
}
