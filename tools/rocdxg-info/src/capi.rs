//! The C API, called in the order and with the buffers of a C program. Every unsafe block of the tool is here.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::sync::Arc;

use rocdxg::abi::*;
use rocdxg::ffi;
use rocdxg::platform::{Node, Skipped};
use rocdxg::process;

use crate::names;

/// What one round of open, acquire, read, release and close yields.
pub struct Reading {
    /// Short name of the platform that was opened.
    pub platform: &'static str,
    /// Version of the kernel interface.
    pub interface: HsaVersionInfo,
    /// Machine-wide numbers.
    pub system: HsaSystemProperties,
    /// Every node, by node id.
    pub nodes: Vec<Node>,
    /// Driver of each GPU node, by node id.
    pub drivers: BTreeMap<u32, String>,
    /// What the snapshot left out.
    pub skipped: Vec<Skipped>,
    /// What the snapshot assumed, and what went wrong while references were given back.
    pub remarks: Vec<String>,
}

/// A call that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Name of the call.
    pub call: &'static str,
    /// What it returned.
    pub status: HSAKMT_STATUS,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, status } = self;
        match names::status(*status) {
            Some(name) => write!(f, "{call} returned {name} ({})", status.0),
            None => write!(f, "{call} returned status {}", status.0),
        }
    }
}

impl std::error::Error for Refused {}

fn accept(call: &'static str, status: HSAKMT_STATUS) -> Result<(), Refused> {
    match status {
        // 22 is a reference like any other (dxg.md 1.2).
        HSAKMT_STATUS_SUCCESS | HSAKMT_STATUS_KERNEL_ALREADY_OPENED => Ok(()),
        status => Err(Refused { call, status }),
    }
}

/// Reads everything that the C API tells. Whatever happens, each reference taken is given back.
pub fn read() -> Result<Reading, Refused> {
    let mut sizes = HsaStructureSizes {
        StructureSizes: size_of::<HsaStructureSizes>() as u16,
        SizeOfHsaNodeProperties: size_of::<HsaNodeProperties>() as u16,
        SizeOfHsaExternalHandleDesc: size_of::<HsaHandleImportDesc>() as u16,
        Reserved: [size_of::<HsaCacheProperties>() as u16, 0, 0, 0, 0],
    };
    // SAFETY: the pointer is to a live structure.
    accept("DxgAbiCheck", unsafe { ffi::DxgAbiCheck(&mut sizes) })?;
    // SAFETY: the call has no arguments.
    accept("hsaKmtOpenKFD", unsafe { ffi::hsaKmtOpenKFD() })?;
    let reading = read_opened();
    // SAFETY: the call has no arguments.
    let closed = accept("hsaKmtCloseKFD", unsafe { ffi::hsaKmtCloseKFD() });
    noting(reading, closed)
}

fn read_opened() -> Result<Reading, Refused> {
    let mut interface = HsaVersionInfo::ZERO;
    // SAFETY: the pointer is to a live, writable structure.
    accept("hsaKmtGetVersion", unsafe { ffi::hsaKmtGetVersion(&mut interface) })?;
    let mut system = HsaSystemProperties::ZERO;
    // SAFETY: the pointer is to a live, writable structure.
    accept("hsaKmtAcquireSystemProperties", unsafe { ffi::hsaKmtAcquireSystemProperties(&mut system) })?;
    let reading = read_nodes(interface, system);
    // SAFETY: the call has no arguments.
    let released = accept("hsaKmtReleaseSystemProperties", unsafe { ffi::hsaKmtReleaseSystemProperties() });
    noting(reading, released)
}

/// A failure to give a reference back costs a remark, not the reading.
fn noting(reading: Result<Reading, Refused>, given_back: Result<(), Refused>) -> Result<Reading, Refused> {
    let mut reading = reading?;
    reading.remarks.extend(given_back.err().map(|refused| refused.to_string()));
    Ok(reading)
}

fn read_nodes(interface: HsaVersionInfo, system: HsaSystemProperties) -> Result<Reading, Refused> {
    let nodes = (0..system.NumNodes).map(node).collect::<Result<_, _>>()?;
    // The C API has no call for these.
    let beside = process::with_snapshot(|s| Ok((s.drivers.clone(), s.skipped.clone(), s.remarks.clone())));
    let (drivers, skipped, remarks) = beside.unwrap_or_default();
    let platform = process::platform_name().unwrap_or("unknown");
    Ok(Reading { platform, interface, system, nodes, drivers, skipped, remarks })
}

fn node(id: u32) -> Result<Node, Refused> {
    let mut properties = HsaNodeProperties::ZERO;
    // SAFETY: the pointer is to a live, writable structure of the newest layout.
    accept("hsaKmtGetNodeProperties", unsafe { ffi::hsaKmtGetNodeProperties(id, &mut properties) })?;
    // A count of 0 needs no call, and an empty list has no address to pass.
    let (mut banks, mut caches, mut links) = (Vec::new(), Vec::new(), Vec::new());
    let count = properties.NumMemoryBanks;
    if count != 0 {
        banks.resize(count as usize, HsaMemoryProperties::ZERO);
        // SAFETY: the list has `count` writable elements.
        let status = unsafe { ffi::hsaKmtGetNodeMemoryProperties(id, count, banks.as_mut_ptr()) };
        accept("hsaKmtGetNodeMemoryProperties", status)?;
    }
    let count = properties.NumCaches;
    if count != 0 {
        caches.resize(count as usize, HsaCacheProperties::ZERO);
        // SAFETY: the list has `count` writable elements.
        let status =
            unsafe { ffi::hsaKmtGetNodeCacheProperties(id, properties.CComputeIdLo, count, caches.as_mut_ptr()) };
        accept("hsaKmtGetNodeCacheProperties", status)?;
    }
    let count = properties.NumIOLinks;
    if count != 0 {
        links.resize(count as usize, HsaIoLinkProperties::ZERO);
        // SAFETY: the list has `count` writable elements.
        let status = unsafe { ffi::hsaKmtGetNodeIoLinkProperties(id, count, links.as_mut_ptr()) };
        accept("hsaKmtGetNodeIoLinkProperties", status)?;
    }
    Ok(Node { properties, banks, caches: Arc::new(caches), links })
}

/// Sets an environment variable for the library to read at its next open.
///
/// The tool runs on one thread: it calls this before its first open and between two, and starts none itself.
pub fn set_variable(name: &str, value: impl AsRef<OsStr>) {
    // SAFETY: no other thread exists that could read the environment meanwhile, see above.
    unsafe { std::env::set_var(name, value) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_reference_is_success_and_failures_have_names() {
        assert_eq!(accept("x", HSAKMT_STATUS_KERNEL_ALREADY_OPENED), Ok(()));
        let refused = accept("hsaKmtOpenKFD", HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED).unwrap_err();
        assert_eq!(refused.to_string(), "hsaKmtOpenKFD returned HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED (20)");
        let odd = Refused { call: "x", status: HSAKMT_STATUS(999) };
        assert_eq!(odd.to_string(), "x returned status 999");
    }
}
