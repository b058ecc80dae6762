//! Structures of memory: allocations, residency, GPU addresses, locks, waits and sharing.
//!
//! Pure layout, a part of `d3dkmt`.

use core::ffi::c_void;

use super::D3DKMT_HANDLE;

/// One allocation of `D3DKMTCreateAllocation2`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DDDI_ALLOCATIONINFO2 {
    /// `hAllocation` at offset 0: written on success, and left behind by some failures (dxgkrnl.md rule 59).
    pub hAllocation: D3DKMT_HANDLE,
    /// `pSystemMem` at offset 8: page-aligned memory to take, or null; all entries of a call alike.
    pub pSystemMem: *mut c_void,
    /// `pPrivateDriverData` at offset 16: in and out.
    pub pPrivateDriverData: *mut c_void,
    /// `PrivateDriverDataSize` at offset 24.
    pub PrivateDriverDataSize: u32,
    /// `VidPnSourceId` at offset 28.
    pub VidPnSourceId: u32,
    /// `Flags` at offset 32: see [`allocation_info_flags`].
    pub Flags: u32,
    /// `GpuVirtualAddress` at offset 40.
    pub GpuVirtualAddress: u64,
    /// `Unused` at offset 48: its low half is `Priority`.
    pub Unused: u64,
    /// `Reserved` at offset 56.
    pub Reserved: [u64; 5],
}

/// Argument of `D3DKMTCreateAllocation2`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_CREATEALLOCATION {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `hResource` at offset 4: an open resource to add to, or 0; written when one is created.
    pub hResource: D3DKMT_HANDLE,
    /// `hGlobalShare` at offset 8.
    pub hGlobalShare: D3DKMT_HANDLE,
    /// `pPrivateRuntimeData` at offset 16: kept for importers.
    pub pPrivateRuntimeData: *const c_void,
    /// `PrivateRuntimeDataSize` at offset 24.
    pub PrivateRuntimeDataSize: u32,
    /// `pPrivateDriverData` at offset 32: kept for importers.
    pub pPrivateDriverData: *const c_void,
    /// `PrivateDriverDataSize` at offset 40.
    pub PrivateDriverDataSize: u32,
    /// `NumAllocations` at offset 44: 1 to 1024.
    pub NumAllocations: u32,
    /// `pAllocationInfo2` at offset 48.
    pub pAllocationInfo2: *mut D3DDDI_ALLOCATIONINFO2,
    /// `Flags` at offset 56: see [`create_allocation_flags`].
    pub Flags: u32,
    /// `hPrivateRuntimeResourceHandle` at offset 64.
    pub hPrivateRuntimeResourceHandle: u64,
}

/// Argument of `D3DKMTDestroyAllocation2`: a list or a resource.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_DESTROYALLOCATION2 {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `hResource` at offset 4.
    pub hResource: D3DKMT_HANDLE,
    /// `phAllocationList` at offset 8.
    pub phAllocationList: *const D3DKMT_HANDLE,
    /// `AllocationCount` at offset 16.
    pub AllocationCount: u32,
    /// `Flags` at offset 20: see [`destroy_allocation_flags`].
    pub Flags: u32,
}

/// Argument of `D3DKMTMakeResident`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DDDI_MAKERESIDENT {
    /// `hPagingQueue` at offset 0.
    pub hPagingQueue: D3DKMT_HANDLE,
    /// `NumAllocations` at offset 4: 1 to 10240.
    pub NumAllocations: u32,
    /// `AllocationList` at offset 8.
    pub AllocationList: *const D3DKMT_HANDLE,
    /// `PriorityList` at offset 16.
    pub PriorityList: *const u32,
    /// `Flags` at offset 24: see [`make_resident_flags`].
    pub Flags: u32,
    /// `PagingFenceValue` at offset 32: what to wait for; 0 is done.
    pub PagingFenceValue: u64,
    /// `NumBytesToTrim` at offset 40.
    pub NumBytesToTrim: u64,
}

/// Argument of `D3DKMTEvict`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_EVICT {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `NumAllocations` at offset 4.
    pub NumAllocations: u32,
    /// `AllocationList` at offset 8.
    pub AllocationList: *const D3DKMT_HANDLE,
    /// `Flags` at offset 16: see [`evict_flags`].
    pub Flags: u32,
    /// `NumBytesToTrim` at offset 24.
    pub NumBytesToTrim: u64,
}

/// Argument of `D3DKMTReserveGpuVirtualAddress`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DDDI_RESERVEGPUVIRTUALADDRESS {
    /// `hAdapter` at offset 0: an adapter, or a paging queue of old.
    pub hAdapter: D3DKMT_HANDLE,
    /// `BaseAddress` at offset 8: this address, or 0 for any in the bounds.
    pub BaseAddress: u64,
    /// `MinimumAddress` at offset 16.
    pub MinimumAddress: u64,
    /// `MaximumAddress` at offset 24: 0 is none.
    pub MaximumAddress: u64,
    /// `Size` at offset 32.
    pub Size: u64,
    /// `ReservationType` at offset 40: see [`reservation_type`].
    pub ReservationType: u32,
    /// `DriverProtection` at offset 48.
    pub DriverProtection: u64,
    /// `VirtualAddress` at offset 56: the answer.
    pub VirtualAddress: u64,
    /// `PagingFenceValue` at offset 64: never written.
    pub PagingFenceValue: u64,
}

/// Argument of `D3DKMTMapGpuVirtualAddress`; sizes in pages of 4096 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DDDI_MAPGPUVIRTUALADDRESS {
    /// `hPagingQueue` at offset 0.
    pub hPagingQueue: D3DKMT_HANDLE,
    /// `BaseAddress` at offset 8.
    pub BaseAddress: u64,
    /// `MinimumAddress` at offset 16.
    pub MinimumAddress: u64,
    /// `MaximumAddress` at offset 24.
    pub MaximumAddress: u64,
    /// `hAllocation` at offset 32: 0 with `NoAccess` and `Zero`.
    pub hAllocation: D3DKMT_HANDLE,
    /// `OffsetInPages` at offset 40.
    pub OffsetInPages: u64,
    /// `SizeInPages` at offset 48.
    pub SizeInPages: u64,
    /// `Protection` at offset 56: see [`protection`].
    pub Protection: u64,
    /// `DriverProtection` at offset 64.
    pub DriverProtection: u64,
    /// `Reserved0` at offset 72.
    pub Reserved0: u32,
    /// `Reserved1` at offset 80.
    pub Reserved1: u64,
    /// `VirtualAddress` at offset 88: the answer.
    pub VirtualAddress: u64,
    /// `PagingFenceValue` at offset 96: what to wait for; 0 is done.
    pub PagingFenceValue: u64,
}

/// Argument of `D3DKMTFreeGpuVirtualAddress`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_FREEGPUVIRTUALADDRESS {
    /// `hAdapter` at offset 0.
    pub hAdapter: D3DKMT_HANDLE,
    /// `BaseAddress` at offset 8.
    pub BaseAddress: u64,
    /// `Size` at offset 16.
    pub Size: u64,
}

/// Argument of `D3DKMTLock2`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_LOCK2 {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `hAllocation` at offset 4.
    pub hAllocation: D3DKMT_HANDLE,
    /// `Flags` at offset 8: 0.
    pub Flags: u32,
    /// `pData` at offset 16: the answer.
    pub pData: *mut c_void,
}

/// Argument of `D3DKMTUnlock2`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_UNLOCK2 {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `hAllocation` at offset 4.
    pub hAllocation: D3DKMT_HANDLE,
}

/// What `D3DKMTCreateSynchronizationObject2` makes; its union as a monitored fence has it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DDDI_SYNCHRONIZATIONOBJECTINFO2 {
    /// `Type` at offset 0: see [`sync_object_type`].
    pub Type: u32,
    /// `Flags` at offset 4: see [`sync_object_flags`].
    pub Flags: u32,
    /// `InitialFenceValue` at offset 8.
    pub InitialFenceValue: u64,
    /// `FenceValueCPUVirtualAddress` at offset 16.
    pub FenceValueCPUVirtualAddress: *mut c_void,
    /// `FenceValueGPUVirtualAddress` at offset 24.
    pub FenceValueGPUVirtualAddress: u64,
    /// `EngineAffinity` at offset 32: a bit per physical adapter, 0 for all.
    pub EngineAffinity: u32,
    /// `Padding` at offset 36.
    pub Padding: u32,
    /// `Rest` at offset 40: rest of the union.
    pub Rest: [u64; 4],
    /// `SharedHandle` at offset 72.
    pub SharedHandle: D3DKMT_HANDLE,
}

/// Argument of `D3DKMTCreateSynchronizationObject2`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_CREATESYNCHRONIZATIONOBJECT2 {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `Info` at offset 8.
    pub Info: D3DDDI_SYNCHRONIZATIONOBJECTINFO2,
    /// `hSyncObject` at offset 88.
    pub hSyncObject: D3DKMT_HANDLE,
}

/// Argument of `D3DKMTDestroySynchronizationObject`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_DESTROYSYNCHRONIZATIONOBJECT {
    /// `hSyncObject` at offset 0.
    pub hSyncObject: D3DKMT_HANDLE,
}

/// Argument of `D3DKMTWaitForSynchronizationObjectFromCpu`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `ObjectCount` at offset 4.
    pub ObjectCount: u32,
    /// `ObjectHandleArray` at offset 8.
    pub ObjectHandleArray: *const D3DKMT_HANDLE,
    /// `FenceValueArray` at offset 16.
    pub FenceValueArray: *const u64,
    /// `hAsyncEvent` at offset 24: an eventfd to raise, or 0 to block.
    pub hAsyncEvent: u64,
    /// `Flags` at offset 32: see [`wait_from_cpu_flags`].
    pub Flags: u32,
}

/// Argument of `D3DKMTShareObjects`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_SHAREOBJECTS {
    /// `ObjectCount` at offset 0: 1.
    pub ObjectCount: u32,
    /// `ObjectHandleArray` at offset 8.
    pub ObjectHandleArray: *const D3DKMT_HANDLE,
    /// `pObjectAttributes` at offset 16.
    pub pObjectAttributes: *mut c_void,
    /// `DesiredAccess` at offset 24.
    pub DesiredAccess: u32,
    /// `pSharedNtHandle` at offset 32: a file descriptor.
    pub pSharedNtHandle: *mut u64,
}

/// Argument of `D3DKMTQueryResourceInfoFromNtHandle`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `hNtHandle` at offset 8: a file descriptor.
    pub hNtHandle: u64,
    /// `pPrivateRuntimeData` at offset 16.
    pub pPrivateRuntimeData: *mut c_void,
    /// `PrivateRuntimeDataSize` at offset 24.
    pub PrivateRuntimeDataSize: u32,
    /// `TotalPrivateDriverDataSize` at offset 28.
    pub TotalPrivateDriverDataSize: u32,
    /// `ResourcePrivateDriverDataSize` at offset 32.
    pub ResourcePrivateDriverDataSize: u32,
    /// `NumAllocations` at offset 36.
    pub NumAllocations: u32,
}

/// One allocation of `D3DKMTOpenResourceFromNtHandle`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DDDI_OPENALLOCATIONINFO2 {
    /// `hAllocation` at offset 0.
    pub hAllocation: D3DKMT_HANDLE,
    /// `pPrivateDriverData` at offset 8: into the total buffer of the caller.
    pub pPrivateDriverData: *const c_void,
    /// `PrivateDriverDataSize` at offset 16.
    pub PrivateDriverDataSize: u32,
    /// `GpuVirtualAddress` at offset 24.
    pub GpuVirtualAddress: u64,
    /// `Reserved` at offset 32.
    pub Reserved: [u64; 6],
}

/// Argument of `D3DKMTOpenResourceFromNtHandle`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_OPENRESOURCEFROMNTHANDLE {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `hNtHandle` at offset 8: a file descriptor.
    pub hNtHandle: u64,
    /// `NumAllocations` at offset 16: exactly as many as there are.
    pub NumAllocations: u32,
    /// `pOpenAllocationInfo2` at offset 24.
    pub pOpenAllocationInfo2: *mut D3DDDI_OPENALLOCATIONINFO2,
    /// `PrivateRuntimeDataSize` at offset 32.
    pub PrivateRuntimeDataSize: u32,
    /// `pPrivateRuntimeData` at offset 40.
    pub pPrivateRuntimeData: *mut c_void,
    /// `ResourcePrivateDriverDataSize` at offset 48.
    pub ResourcePrivateDriverDataSize: u32,
    /// `pResourcePrivateDriverData` at offset 56.
    pub pResourcePrivateDriverData: *mut c_void,
    /// `TotalPrivateDriverDataBufferSize` at offset 64: updated, unlike the other two sizes.
    pub TotalPrivateDriverDataBufferSize: u32,
    /// `pTotalPrivateDriverDataBuffer` at offset 72.
    pub pTotalPrivateDriverDataBuffer: *mut c_void,
    /// `hResource` at offset 80.
    pub hResource: D3DKMT_HANDLE,
    /// `hKeyedMutex` at offset 84.
    pub hKeyedMutex: D3DKMT_HANDLE,
    /// `pKeyedMutexPrivateRuntimeData` at offset 88.
    pub pKeyedMutexPrivateRuntimeData: *mut c_void,
    /// `KeyedMutexPrivateRuntimeDataSize` at offset 96.
    pub KeyedMutexPrivateRuntimeDataSize: u32,
    /// `hSyncObject` at offset 100.
    pub hSyncObject: D3DKMT_HANDLE,
}

/// Bits of `D3DDDI_ALLOCATIONINFO2.Flags`.
pub mod allocation_info_flags {
    /// `Primary`.
    pub const PRIMARY: u32 = 1 << 0;
    /// `Stereo`.
    pub const STEREO: u32 = 1 << 1;
    /// `OverridePriority`.
    pub const OVERRIDE_PRIORITY: u32 = 1 << 2;
}

/// Bits of `D3DKMT_CREATEALLOCATION.Flags`.
pub mod create_allocation_flags {
    /// `CreateResource`.
    pub const CREATE_RESOURCE: u32 = 1 << 0;
    /// `CreateShared`.
    pub const CREATE_SHARED: u32 = 1 << 1;
    /// `NonSecure`.
    pub const NON_SECURE: u32 = 1 << 2;
    /// `CreateProtected`.
    pub const CREATE_PROTECTED: u32 = 1 << 3;
    /// `RestrictSharedAccess`.
    pub const RESTRICT_SHARED_ACCESS: u32 = 1 << 4;
    /// `ExistingSysMem`.
    pub const EXISTING_SYS_MEM: u32 = 1 << 5;
    /// `NtSecuritySharing`.
    pub const NT_SECURITY_SHARING: u32 = 1 << 6;
    /// `ReadOnly`.
    pub const READ_ONLY: u32 = 1 << 7;
    /// `CreateWriteCombined`.
    pub const CREATE_WRITE_COMBINED: u32 = 1 << 8;
    /// `CreateCached`.
    pub const CREATE_CACHED: u32 = 1 << 9;
    /// `SwapChainBackBuffer`.
    pub const SWAP_CHAIN_BACK_BUFFER: u32 = 1 << 10;
    /// `CrossAdapter`.
    pub const CROSS_ADAPTER: u32 = 1 << 11;
    /// `OpenCrossAdapter`.
    pub const OPEN_CROSS_ADAPTER: u32 = 1 << 12;
    /// `PartialSharedCreation`.
    pub const PARTIAL_SHARED_CREATION: u32 = 1 << 13;
    /// `Zeroed`.
    pub const ZEROED: u32 = 1 << 14;
    /// `WriteWatch`.
    pub const WRITE_WATCH: u32 = 1 << 15;
    /// `StandardAllocation`.
    pub const STANDARD_ALLOCATION: u32 = 1 << 16;
    /// `ExistingSection`.
    pub const EXISTING_SECTION: u32 = 1 << 17;
    /// `AllowNotZeroed`.
    pub const ALLOW_NOT_ZEROED: u32 = 1 << 18;
    /// `PhysicallyContiguous`.
    pub const PHYSICALLY_CONTIGUOUS: u32 = 1 << 19;
    /// `NoKmdAccess`.
    pub const NO_KMD_ACCESS: u32 = 1 << 20;
    /// `SharedDisplayable`.
    pub const SHARED_DISPLAYABLE: u32 = 1 << 21;
}

/// Bits of `D3DKMT_DESTROYALLOCATION2.Flags`.
pub mod destroy_allocation_flags {
    /// `AssumeNotInUse`.
    pub const ASSUME_NOT_IN_USE: u32 = 1 << 0;
    /// `SynchronousDestroy`.
    pub const SYNCHRONOUS_DESTROY: u32 = 1 << 1;
    /// `SystemUseOnly`.
    pub const SYSTEM_USE_ONLY: u32 = 1 << 31;
}

/// Bits of `D3DDDI_MAKERESIDENT.Flags`.
pub mod make_resident_flags {
    /// `CantTrimFurther`.
    pub const CANT_TRIM_FURTHER: u32 = 1 << 0;
    /// `MustSucceed`.
    pub const MUST_SUCCEED: u32 = 1 << 1;
}

/// Bits of `D3DKMT_EVICT.Flags`.
pub mod evict_flags {
    /// `EvictOnlyIfNecessary`.
    pub const EVICT_ONLY_IF_NECESSARY: u32 = 1 << 0;
    /// `NotWrittenTo`.
    pub const NOT_WRITTEN_TO: u32 = 1 << 1;
}

/// Bits of `D3DDDI_MAPGPUVIRTUALADDRESS.Protection`.
pub mod protection {
    /// `Write`.
    pub const WRITE: u64 = 1 << 0;
    /// `Execute`.
    pub const EXECUTE: u64 = 1 << 1;
    /// `Zero`.
    pub const ZERO: u64 = 1 << 2;
    /// `NoAccess`.
    pub const NO_ACCESS: u64 = 1 << 3;
    /// `SystemUseOnly`.
    pub const SYSTEM_USE_ONLY: u64 = 1 << 4;
}

/// Bits of `D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU.Flags`.
pub mod wait_from_cpu_flags {
    /// `WaitAny`.
    pub const WAIT_ANY: u32 = 1 << 0;
}

/// Bits of `D3DDDI_SYNCHRONIZATIONOBJECTINFO2.Flags`.
pub mod sync_object_flags {
    /// `Shared`.
    pub const SHARED: u32 = 1 << 0;
    /// `NtSecuritySharing`.
    pub const NT_SECURITY_SHARING: u32 = 1 << 1;
    /// `CrossAdapter`.
    pub const CROSS_ADAPTER: u32 = 1 << 2;
    /// `TopOfPipeline`.
    pub const TOP_OF_PIPELINE: u32 = 1 << 3;
    /// `NoSignal`.
    pub const NO_SIGNAL: u32 = 1 << 4;
    /// `NoWait`.
    pub const NO_WAIT: u32 = 1 << 5;
    /// `NoSignalMaxValueOnTdr`.
    pub const NO_SIGNAL_MAX_VALUE_ON_TDR: u32 = 1 << 6;
    /// `NoGPUAccess`.
    pub const NO_GPUACCESS: u32 = 1 << 7;
    /// `SignalByKmd`.
    pub const SIGNAL_BY_KMD: u32 = 1 << 8;
}

/// `D3DDDI_SYNCHRONIZATIONOBJECT_TYPE`.
pub mod sync_object_type {
    /// `D3DDDI_CPU_NOTIFICATION`.
    pub const CPU_NOTIFICATION: u32 = 4;
    /// `D3DDDI_MONITORED_FENCE`.
    pub const MONITORED_FENCE: u32 = 5;
}

/// `D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE`: what the GPU finds at a reserved address.
pub mod reservation_type {
    /// `D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS`.
    pub const NO_ACCESS: u32 = 0;
    /// `D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO`.
    pub const ZERO: u32 = 1;
    /// `D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT`.
    pub const NO_COMMIT: u32 = 2;
}

/// `D3DKMT_MEMORY_SEGMENT_GROUP`.
pub mod segment_group {
    /// `D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL`.
    pub const LOCAL: u32 = 0;
    /// `D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL`.
    pub const NON_LOCAL: u32 = 1;
}

/// Most allocations of one `D3DKMTCreateAllocation2` or `D3DKMTDestroyAllocation2`.
pub const D3DKMT_CREATEALLOCATION_MAX: u32 = 1024;
/// Most allocations of one `D3DKMTMakeResident` or `D3DKMTEvict`.
pub const D3DKMT_MAKERESIDENT_ALLOC_MAX: u32 = 10240;
