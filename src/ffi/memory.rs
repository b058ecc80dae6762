//! Memory: allocation, registration, mapping, what is known of a pointer (dxg.md 3.2 to 3.5, kfd.md 3).
#![allow(unused_variables)]

use std::ffi::c_void;

use super::checks::{argument, array, given, gpu, node, not_implemented, not_supported};
use super::{Out, exports, read_array};
use crate::abi::*;
use crate::memory::Request;
use crate::process::{self, Error};

/// What every way to allocate checks and does. Only an address that the caller asks for stays in `*address` after a
/// failure.
fn allocate(
    node_id: HSAuint32,
    anchor: Option<HSAuint32>,
    bytes: HSAuint64,
    alignment: HSAuint64,
    flags: HsaMemFlags,
    address: *mut *mut c_void,
) -> Result<(), Error> {
    process::require_open()?;
    // SAFETY: the pointer is the caller's, for one pointer.
    let out = unsafe { Out::new("MemoryAddress", address) }?;
    let set = |bit| flags.get(bit) != 0;
    let mut wanted = None;
    if !set(HsaMemFlags::FixedAddress) {
        out.write(std::ptr::null_mut());
    } else {
        // SAFETY: as above; the pointer is not NULL.
        let fixed = unsafe { address.read_unaligned() };
        given("*MemoryAddress", fixed)?;
        wanted = Some(fixed.addr() as u64);
    }
    node(node_id)?;
    argument(alignment == 0 || alignment.is_power_of_two(), "Alignment is no power of two")?;
    argument(bytes != 0, "SizeInBytes is 0")?;
    let coherence = [HsaMemFlags::CoarseGrain, HsaMemFlags::Uncached].into_iter().any(set);
    argument(!(set(HsaMemFlags::ExtendedCoherent) && coherence), "ExtendedCoherent excludes CoarseGrain and Uncached")?;
    let request = Request { node: node_id, anchor, bytes, alignment, address: wanted, flags };
    let start = process::with_scene(|memory, scene| Ok(memory.allocate(scene, &request)?))?;
    out.write(std::ptr::with_exposed_provenance_mut(start as usize));
    Ok(())
}

/// What every way to register checks and does.
fn register(
    address: *const c_void,
    bytes: HSAuint64,
    flags: HsaMemFlags,
    nodes: Option<&[HSAuint32]>,
) -> Result<(), Error> {
    process::require_open()?;
    given("MemoryAddress", address)?;
    let range = (address.expose_provenance() as u64, bytes);
    process::with_scene(|memory, scene| Ok(memory.register(scene, range, flags, nodes)?))
}

fn map(
    address: *const c_void,
    bytes: HSAuint64,
    alternate: *mut HSAuint64,
    nodes: Option<&[HSAuint32]>,
) -> Result<(), Error> {
    process::require_open()?;
    if address.is_null() {
        return Err(Error::Unmappable("MemoryAddress"));
    }
    // Bare metal has always let callers do without it.
    if alternate.is_null() && process::platform_name()? != "kfd" {
        return Err(Error::Unmappable("AlternateVAGPU"));
    }
    let range = (address.addr() as u64, bytes);
    let seen = process::with_scene(|memory, scene| Ok(memory.map(scene, range, nodes)?))?;
    if !alternate.is_null() {
        // SAFETY: the pointer is the caller's, for one number, and not NULL.
        unsafe { Out::new("AlternateVAGPU", alternate) }?.write(seen);
    }
    Ok(())
}

fn unmap(address: *const c_void) -> Result<(), Error> {
    process::with_memory(|memory, stage| Ok(memory.unmap(&*stage.platform, address.addr() as u64)?))
}

fn plain_coarse() -> HsaMemFlags {
    HsaMemFlags(0).with(HsaMemFlags::CoarseGrain, 1)
}

exports! {
    /// Sets how a node caches two ranges of memory. For one generation of APUs that no platform here has.
    fn hsaKmtSetMemoryPolicy(
        Node: HSAuint32,
        DefaultPolicy: HSAuint32,
        AlternatePolicy: HSAuint32,
        MemoryAddressAlternate: *mut c_void,
        MemorySizeInBytes: HSAuint64,
    ) {
        node(Node)?;
        not_implemented("memory policies")
    }

    /// Allocates memory on a node. `*MemoryAddress` is the wanted address when `FixedAddress` is set, and otherwise
    /// NULL after a failure.
    fn hsaKmtAllocMemory(
        PreferredNode: HSAuint32,
        SizeInBytes: HSAuint64,
        MemFlags: HsaMemFlags,
        MemoryAddress: *mut *mut c_void,
    ) {
        allocate(PreferredNode, None, SizeInBytes, 0, MemFlags, MemoryAddress)
    }

    /// [`hsaKmtAllocMemory`] at an address that is a multiple of `Alignment`, a power of two.
    fn hsaKmtAllocMemoryAlign(
        PreferredNode: HSAuint32,
        SizeInBytes: HSAuint64,
        Alignment: HSAuint64,
        MemFlags: HsaMemFlags,
        MemoryAddress: *mut *mut c_void,
    ) {
        allocate(PreferredNode, None, SizeInBytes, Alignment, MemFlags, MemoryAddress)
    }

    /// [`hsaKmtAllocMemory`] of host memory through the page tables of the GPU node `GttAnchorNode`.
    fn hsaKmtAllocMemoryHostGtt(
        PreferredNode: HSAuint32,
        GttAnchorNode: HSAuint32,
        SizeInBytes: HSAuint64,
        MemFlags: HsaMemFlags,
        MemoryAddress: *mut *mut c_void,
    ) {
        process::require_open()?;
        given("MemoryAddress", MemoryAddress)?;
        gpu(GttAnchorNode)?;
        allocate(PreferredNode, Some(GttAnchorNode), SizeInBytes, 0, MemFlags, MemoryAddress)
    }

    /// Frees memory that was allocated. `SizeInBytes` is not used.
    fn hsaKmtFreeMemory(MemoryAddress: *mut c_void, SizeInBytes: HSAuint64) {
        process::require_open()?;
        given("MemoryAddress", MemoryAddress)?;
        process::with_memory(|memory, stage| Ok(memory.free(&*stage.platform, MemoryAddress.addr() as u64)?))
    }

    /// Writes how much memory of a GPU node is free, in bytes.
    fn hsaKmtAvailableMemory(Node: HSAuint32, AvailableBytes: *mut HSAuint64) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("AvailableBytes", AvailableBytes) }?;
        out.write(process::device(Node)?.available_memory()?);
        Ok(())
    }

    /// Lets all GPUs use memory of the process.
    fn hsaKmtRegisterMemory(MemoryAddress: *mut c_void, MemorySizeInBytes: HSAuint64) {
        register(MemoryAddress, MemorySizeInBytes, plain_coarse(), None)
    }

    /// Lets some GPUs use memory of the process.
    fn hsaKmtRegisterMemoryToNodes(
        MemoryAddress: *mut c_void,
        MemorySizeInBytes: HSAuint64,
        NumberOfNodes: HSAuint64,
        NodeArray: *mut HSAuint32,
    ) {
        process::require_open()?;
        array("NodeArray", NodeArray, NumberOfNodes)?;
        // SAFETY: the array is the caller's, of `NumberOfNodes` numbers.
        let nodes = unsafe { read_array("NodeArray", NodeArray, NumberOfNodes) }?;
        register(MemoryAddress, MemorySizeInBytes, plain_coarse(), Some(&nodes))
    }

    /// Lets all GPUs use memory of the process, with the coherence that the flags say.
    fn hsaKmtRegisterMemoryWithFlags(
        MemoryAddress: *mut c_void,
        MemorySizeInBytes: HSAuint64,
        MemFlags: HsaMemFlags,
    ) {
        process::require_open()?;
        given("MemoryAddress", MemoryAddress)?;
        let set = |bit| MemFlags.get(bit) != 0;
        let both = set(HsaMemFlags::ExtendedCoherent) && set(HsaMemFlags::CoarseGrain);
        argument(!both, "ExtendedCoherent excludes CoarseGrain")?;
        register(MemoryAddress, MemorySizeInBytes, MemFlags, None)
    }

    /// Ends what a registration began.
    fn hsaKmtDeregisterMemory(MemoryAddress: *mut c_void) {
        process::require_open()?;
        given("MemoryAddress", MemoryAddress)?;
        process::with_memory(|memory, stage| {
            Ok(memory.deregister(&*stage.platform, MemoryAddress.addr() as u64)?)
        })
    }

    /// Maps memory for all GPUs that may use it and writes its address there.
    fn hsaKmtMapMemoryToGPU(
        MemoryAddress: *mut c_void,
        MemorySizeInBytes: HSAuint64,
        AlternateVAGPU: *mut HSAuint64,
    ) {
        map(MemoryAddress, MemorySizeInBytes, AlternateVAGPU, None)
    }

    /// Maps memory for the GPUs of `NodeArray` and writes its address there. Up to 7.2 the flags were of another type.
    fn hsaKmtMapMemoryToGPUNodes(
        MemoryAddress: *mut c_void,
        MemorySizeInBytes: HSAuint64,
        AlternateVAGPU: *mut HSAuint64,
        MemFlags: HsaMemFlags,
        NumberOfNodes: HSAuint64,
        NodeArray: *mut HSAuint32,
    ) {
        process::require_open()?;
        array("NodeArray", NodeArray, NumberOfNodes)?;
        // SAFETY: the array is the caller's, of `NumberOfNodes` numbers.
        let nodes = unsafe { read_array("NodeArray", NodeArray, NumberOfNodes) }?;
        map(MemoryAddress, MemorySizeInBytes, AlternateVAGPU, Some(&nodes))
    }

    /// Takes memory away from the GPUs. SUCCESS for NULL: there is nothing to take.
    fn hsaKmtUnmapMemoryToGPU(MemoryAddress: *mut c_void) {
        process::require_open()?;
        if MemoryAddress.is_null() { Ok(()) } else { unmap(MemoryAddress) }
    }

    /// Maps a resource of the first graphics drivers. No platform does.
    fn hsaKmtMapGraphicHandle(
        NodeId: HSAuint32,
        GraphicDeviceHandle: HSAuint64,
        GraphicResourceHandle: HSAuint64,
        GraphicResourceOffset: HSAuint64,
        GraphicResourceSize: HSAuint64,
        FlatMemoryAddress: *mut HSAuint64,
    ) {
        process::require_open()?;
        not_implemented("resources of graphics drivers by handle")
    }

    /// Unmaps what [`hsaKmtMapGraphicHandle`] mapped, which is nothing.
    fn hsaKmtUnmapGraphicHandle(NodeId: HSAuint32, FlatMemoryAddress: HSAuint64, SizeInBytes: HSAuint64) {
        process::require_open()?;
        not_supported("resources of graphics drivers by handle")
    }

    /// Writes what is known of an address inside an allocation.
    fn hsaKmtQueryPointerInfo(Pointer: *const c_void, PointerInfo: *mut HsaPointerInfo) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("PointerInfo", PointerInfo) }?;
        let address = Pointer.addr() as u64;
        let known = process::with_memory(|memory, stage| {
            Ok(memory.pointer_info(&*stage.platform, stage.scene.as_ref(), address))
        })?;
        if matches!(known, Err(crate::memory::Error::Unknown(_))) {
            out.write(HsaPointerInfo::ZERO);
        }
        let known = known?;
        let list = |nodes: &'static [HSAuint32]| if nodes.is_empty() { std::ptr::null() } else { nodes.as_ptr() };
        out.write(HsaPointerInfo {
            Type: known.kind,
            Node: known.node,
            MemFlags: known.flags,
            CPUAddress: std::ptr::with_exposed_provenance_mut(known.cpu_address as usize),
            GPUAddress: known.gpu_address,
            SizeInBytes: known.bytes,
            NRegisteredNodes: known.registered.len() as HSAuint32,
            NMappedNodes: known.mapped.len() as HSAuint32,
            RegisteredNodes: list(known.registered),
            MappedNodes: list(known.mapped),
            UserData: std::ptr::with_exposed_provenance_mut(known.user_data),
        });
        Ok(())
    }

    /// Stores a pointer of the caller with an allocation, for [`hsaKmtQueryPointerInfo`].
    fn hsaKmtSetMemoryUserData(Pointer: *const c_void, UserData: *mut c_void) {
        process::require_open()?;
        given("Pointer", Pointer)?;
        let (address, data) = (Pointer.addr() as u64, UserData.expose_provenance());
        process::with_memory(|memory, stage| Ok(memory.set_user_data(&*stage.platform, address, data)?))
    }

    /// Makes the first page of an allocation ordinary memory, for the address sanitizer.
    fn hsaKmtReplaceAsanHeaderPage(addr: *mut c_void) {
        process::require_open()?;
        not_supported("the address sanitizer of GPU code")
    }

    /// Takes back what [`hsaKmtReplaceAsanHeaderPage`] did.
    fn hsaKmtReturnAsanHeaderPage(addr: *mut c_void) {
        process::require_open()?;
        not_supported("the address sanitizer of GPU code")
    }

    /// Moves data between device memory and a file.
    fn hsaKmtAisReadWriteFile(
        MemoryAddress: *mut c_void,
        MemorySizeInBytes: HSAuint64,
        fd: HSAint32,
        file_offset: HSAint64,
        AisFlags: HsaAisFlags,
        SizeCopiedInBytes: *mut HSAuint64,
        status: *mut HSAint32,
    ) {
        process::require_open()?;
        given("MemoryAddress", MemoryAddress)?;
        given("SizeCopiedInBytes", SizeCopiedInBytes)?;
        given("status", status)?;
        argument([HSA_AIS_READ, HSA_AIS_WRITE].contains(&AisFlags), "AisFlags is neither READ nor WRITE")?;
        not_supported("file access of GPUs")
    }

    /// Reads memory of another process. No platform does.
    fn hsaKmtProcessVMRead(
        Pid: HSAuint32,
        LocalMemoryArray: *mut HsaMemoryRange,
        LocalMemoryArrayCount: HSAuint64,
        RemoteMemoryArray: *mut HsaMemoryRange,
        RemoteMemoryArrayCount: HSAuint64,
        SizeCopied: *mut HSAuint64,
    ) {
        process::require_open()?;
        not_implemented("memory of other processes")
    }

    /// Writes memory of another process. No platform does.
    fn hsaKmtProcessVMWrite(
        Pid: HSAuint32,
        LocalMemoryArray: *mut HsaMemoryRange,
        LocalMemoryArrayCount: HSAuint64,
        RemoteMemoryArray: *mut HsaMemoryRange,
        RemoteMemoryArrayCount: HSAuint64,
        SizeCopied: *mut HSAuint64,
    ) {
        process::require_open()?;
        not_implemented("memory of other processes")
    }

    /// Sets how long the kernel waits after a memory fault before it stops the process, in milliseconds. Works without
    /// an open device where it works at all.
    fn hsaKmtSetSigbusDelay(NodeId: HSAuint32, DelayMs: HSAuint32) {
        not_supported("a delay after memory faults")
    }

    /// Sets aside a part of the cache of a node, in bytes. Works without an open device where it works at all.
    fn hsaKmtSetPersistingCacheSize(NodeId: HSAuint32, SizeInBytes: HSAuint64) {
        not_supported("persisting parts of caches")
    }
}
