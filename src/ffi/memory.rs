//! Memory: allocation, registration, mapping, what is known of a pointer (dxg.md 3.2 to 3.5, kfd.md 3). Not built: each
//! call makes its checks and no more.
#![allow(unused_variables)]

use std::ffi::c_void;

use super::checks::{argument, array, given, gpu, node, not_implemented, not_supported};
use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

const NOT_BUILT: &str = "memory is not built yet";

/// What every way to allocate checks. Only an address that the caller asks for stays in `*address`.
fn allocate(
    node_id: HSAuint32,
    size: HSAuint64,
    alignment: HSAuint64,
    flags: HsaMemFlags,
    address: *mut *mut c_void,
) -> Result<(), Error> {
    process::require_open()?;
    // SAFETY: the pointer is the caller's, for one pointer.
    let out = unsafe { Out::new("MemoryAddress", address) }?;
    let set = |bit| flags.get(bit) != 0;
    if !set(HsaMemFlags::FixedAddress) {
        out.write(std::ptr::null_mut());
    } else {
        // SAFETY: as above; the pointer is not NULL.
        given("*MemoryAddress", unsafe { address.read_unaligned() })?;
    }
    node(node_id)?;
    argument(alignment == 0 || alignment.is_power_of_two(), "Alignment is no power of two")?;
    argument(size != 0, "SizeInBytes is 0")?;
    let coherence = [HsaMemFlags::CoarseGrain, HsaMemFlags::Uncached].into_iter().any(set);
    argument(!(set(HsaMemFlags::ExtendedCoherent) && coherence), "ExtendedCoherent excludes CoarseGrain and Uncached")?;
    not_supported(NOT_BUILT)
}

/// What every way to register and to deregister checks.
fn on_range(address: *const c_void) -> Result<(), Error> {
    process::require_open()?;
    given("MemoryAddress", address)?;
    not_supported(NOT_BUILT)
}

fn map(address: *const c_void, alternate: *const HSAuint64) -> Result<(), Error> {
    process::require_open()?;
    if address.is_null() {
        return Err(Error::Unmappable("MemoryAddress"));
    }
    if alternate.is_null() {
        return Err(Error::Unmappable("AlternateVAGPU"));
    }
    not_supported(NOT_BUILT)
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
        allocate(PreferredNode, SizeInBytes, 0, MemFlags, MemoryAddress)
    }

    /// [`hsaKmtAllocMemory`] at an address that is a multiple of `Alignment`, a power of two.
    fn hsaKmtAllocMemoryAlign(
        PreferredNode: HSAuint32,
        SizeInBytes: HSAuint64,
        Alignment: HSAuint64,
        MemFlags: HsaMemFlags,
        MemoryAddress: *mut *mut c_void,
    ) {
        allocate(PreferredNode, SizeInBytes, Alignment, MemFlags, MemoryAddress)
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
        allocate(PreferredNode, SizeInBytes, 0, MemFlags, MemoryAddress)
    }

    /// Frees memory that was allocated. `SizeInBytes` is not used.
    fn hsaKmtFreeMemory(MemoryAddress: *mut c_void, SizeInBytes: HSAuint64) {
        on_range(MemoryAddress)
    }

    /// Writes how much memory of a GPU node is free, in bytes.
    fn hsaKmtAvailableMemory(Node: HSAuint32, AvailableBytes: *mut HSAuint64) {
        process::require_open()?;
        given("AvailableBytes", AvailableBytes)?;
        gpu(Node)?;
        not_supported(NOT_BUILT)
    }

    /// Lets all GPUs use memory of the process.
    fn hsaKmtRegisterMemory(MemoryAddress: *mut c_void, MemorySizeInBytes: HSAuint64) {
        on_range(MemoryAddress)
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
        on_range(MemoryAddress)
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
        not_supported(NOT_BUILT)
    }

    /// Ends what a registration began.
    fn hsaKmtDeregisterMemory(MemoryAddress: *mut c_void) {
        on_range(MemoryAddress)
    }

    /// Maps memory for all GPUs that may use it and writes its address there.
    fn hsaKmtMapMemoryToGPU(
        MemoryAddress: *mut c_void,
        MemorySizeInBytes: HSAuint64,
        AlternateVAGPU: *mut HSAuint64,
    ) {
        map(MemoryAddress, AlternateVAGPU)
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
        map(MemoryAddress, AlternateVAGPU)
    }

    /// Takes memory away from the GPUs. SUCCESS for NULL: there is nothing to take.
    fn hsaKmtUnmapMemoryToGPU(MemoryAddress: *mut c_void) {
        process::require_open()?;
        if MemoryAddress.is_null() { Ok(()) } else { not_supported(NOT_BUILT) }
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
        given("PointerInfo", PointerInfo)?;
        not_supported(NOT_BUILT)
    }

    /// Stores a pointer of the caller with an allocation, for [`hsaKmtQueryPointerInfo`].
    fn hsaKmtSetMemoryUserData(Pointer: *const c_void, UserData: *mut c_void) {
        process::require_open()?;
        given("Pointer", Pointer)?;
        not_supported(NOT_BUILT)
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
