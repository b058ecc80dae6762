//! Which paths the fake serves.

use core::ffi::{CStr, c_char};

/// Where the topology is, by both of its names.
const TOPOLOGY: [&[u8]; 2] = [b"/sys/devices/virtual/kfd/kfd/topology", b"/sys/class/kfd/kfd/topology"];
/// Other parts of sysfs that are served: with one of these in front.
const SYSFS: [&[u8]; 2] = [b"/sys/dev/char/226:", b"/sys/module/amdgpu"];
/// Render nodes, before their number.
const RENDER: &[u8] = b"/dev/dri/renderD";

/// What a path means to the fake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path<'a> {
    /// `/dev/kfd`.
    Kfd,
    /// A render node, by its minor number.
    Render(u32),
    /// Part of the topology, from behind its root on.
    Topology(&'a [u8]),
    /// Another part of sysfs, the whole path.
    Sysfs(&'a [u8]),
}

/// The meaning of a path; `None` for one that is not the fake's.
pub(crate) fn of(path: &[u8]) -> Option<Path<'_>> {
    if path == b"/dev/kfd" {
        return Some(Path::Kfd);
    }
    if let Some(number) = path.strip_prefix(RENDER) {
        let number = core::str::from_utf8(number).ok()?.parse().ok()?;
        return Some(Path::Render(number));
    }
    if !path.starts_with(b"/sys/") {
        return None;
    }
    let topology = TOPOLOGY.iter().find_map(|root| path.strip_prefix(*root));
    if let Some(rest) = topology.filter(|rest| rest.is_empty() || rest[0] == b'/') {
        return Some(Path::Topology(rest));
    }
    SYSFS.iter().any(|start| path.starts_with(start)).then_some(Path::Sysfs(path))
}

/// The bytes of a C string; `None` for a null pointer.
///
/// # Safety
/// `path` is null or a C string that outlives the result.
pub(crate) unsafe fn bytes<'a>(path: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: not null, and the caller vouches for the rest.
    (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) }.to_bytes())
}
