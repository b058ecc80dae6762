//! The snapshot and its getters (dxg.md 2.1 and 2.5).

use super::{Out, caller_exports, exports};
use crate::abi::*;
use crate::process::{self, Error};

/// Banks that a caller may ask for beyond those of the node. They are zeroed: the original promises up to four more
/// than it fills. A larger count is no array that somebody allocated.
const SURPLUS_BANKS: usize = 16;

/// Fails when more entries are asked for than there are.
fn at_most(asked: HSAuint32, available: usize, what: &str) -> Result<usize, Error> {
    match usize::try_from(asked) {
        Ok(count) if count <= available => Ok(count),
        _ => Err(Error::Argument(format!("{asked} {what} asked for, the node has {available}"))),
    }
}

exports! {
    /// Takes one reference on the topology snapshot, building it if there is none, and writes the machine-wide numbers.
    ///
    /// On WSL only `NumNodes` is set. Each SUCCESS owes one `hsaKmtReleaseSystemProperties`.
    fn hsaKmtAcquireSystemProperties(SystemProperties: *mut HsaSystemProperties) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("SystemProperties", SystemProperties) }?;
        out.write(process::acquire()?);
        Ok(())
    }

    /// Gives back one reference on the snapshot; the last one drops it. INVALID_PARAMETER when none is left.
    fn hsaKmtReleaseSystemProperties() {
        process::release()
    }

    /// Writes the first `NumBanks` memory banks of a node; banks beyond those it has are zeroed.
    fn hsaKmtGetNodeMemoryProperties(
        NodeId: HSAuint32,
        NumBanks: HSAuint32,
        MemoryProperties: *mut HsaMemoryProperties,
    ) {
        // SAFETY: the pointer is the caller's, for `NumBanks` structures.
        let out = unsafe { Out::new("MemoryProperties", MemoryProperties) }?;
        process::with_snapshot(|snapshot| {
            let banks = &snapshot.node(NodeId)?.banks;
            let count = at_most(NumBanks, banks.len() + SURPLUS_BANKS, "memory banks")?;
            let padding = std::iter::repeat(HsaMemoryProperties::ZERO);
            for (index, bank) in banks.iter().copied().chain(padding).take(count).enumerate() {
                // SAFETY: `index` is below `count`, which is the caller's own; banks have had one form only.
                unsafe { out.write_at(index, bank) };
            }
            Ok(())
        })
    }

    /// Writes the frequency of a node's clock counter, in Hz.
    fn hsaKmtGetNodeWallclockFrequency(NodeId: HSAuint32, Frequency: *mut u64) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("Frequency", Frequency) }?;
        process::with_snapshot(|snapshot| {
            let khz = snapshot.node(NodeId)?.properties.WallClockKHz;
            out.write(khz.saturating_mul(1000));
            Ok(())
        })
    }
}

caller_exports! {
    /// Writes the properties of a node. INVALID_NODE_UNIT without a snapshot or for a number that is no node.
    fn hsaKmtGetNodeProperties(caller: Caller, NodeId: HSAuint32, NodeProperties: *mut HsaNodeProperties) {
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("NodeProperties", NodeProperties) }?;
        process::with_snapshot(|snapshot| {
            let properties = &snapshot.node(NodeId)?.properties;
            let generation = caller.generation();
            // SAFETY: the caller has one structure of its own form.
            unsafe { out.write_as(0, properties, generation.node_prefix(), |node| generation.node(node)) };
            Ok(())
        })
    }

    /// Writes the first `NumCaches` caches of a node; INVALID_PARAMETER when it has fewer. `ProcessorId` is not used.
    fn hsaKmtGetNodeCacheProperties(
        caller: Caller,
        NodeId: HSAuint32,
        ProcessorId: HSAuint32,
        NumCaches: HSAuint32,
        CacheProperties: *mut HsaCacheProperties,
    ) {
        let _ = ProcessorId;
        // SAFETY: the pointer is the caller's, for `NumCaches` structures.
        let out = unsafe { Out::new("CacheProperties", CacheProperties) }?;
        process::with_snapshot(|snapshot| {
            let caches = &snapshot.node(NodeId)?.caches;
            let count = at_most(NumCaches, caches.len(), "caches")?;
            let generation = caller.generation();
            for (index, cache) in caches[..count].iter().enumerate() {
                // SAFETY: `index` is below `count`, which is the caller's own.
                unsafe { out.write_as(index, cache, generation.cache_prefix(), |cache| generation.cache(cache)) };
            }
            Ok(())
        })
    }

    /// Writes the first `NumIoLinks` links that start at a node; INVALID_PARAMETER when it has fewer.
    fn hsaKmtGetNodeIoLinkProperties(
        caller: Caller,
        NodeId: HSAuint32,
        NumIoLinks: HSAuint32,
        IoLinkProperties: *mut HsaIoLinkProperties,
    ) {
        // SAFETY: the pointer is the caller's, for `NumIoLinks` structures.
        let out = unsafe { Out::new("IoLinkProperties", IoLinkProperties) }?;
        process::with_snapshot(|snapshot| {
            let links = &snapshot.node(NodeId)?.links;
            let count = at_most(NumIoLinks, links.len(), "links")?;
            let generation = caller.generation();
            for (index, link) in links[..count].iter().enumerate() {
                // SAFETY: `index` is below `count`, which is the caller's own.
                unsafe { out.write_as(index, link, generation.link_prefix(), |link| generation.link(link)) };
            }
            Ok(())
        })
    }
}
