//! D3DKMT structures, query types and status codes, as WSL's libdxcore takes them on x86-64.
//!
//! Pure layout: this file and its part `memory` use nothing but `core`, because the software libdxcore under `fakes/` includes it too.
//! Layouts are compared with `tests/data/d3dkmt.json` by a test. Names are those of the public headers; `WCHAR` is
//! four bytes wide in the structures that libdxcore converts (dxg.md section 6).
#![allow(non_camel_case_types, non_snake_case)]

use core::ffi::c_void;

// The path holds for both crates, of which one includes this file by path.
#[path = "d3dkmt/memory.rs"]
mod memory;

pub use memory::*;

/// Handle of a kernel object; 0 is never valid (dxgkrnl.md 1.3).
pub type D3DKMT_HANDLE = u32;
/// `wchar_t` of Linux.
pub type WCHAR = u32;

/// Locally unique id of an adapter: stable while the VM runs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LUID {
    /// `LowPart` at offset 0.
    pub LowPart: u32,
    /// `HighPart` at offset 4.
    pub HighPart: i32,
}

/// One entry of an enumeration: each costs one open and one handle.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ADAPTERINFO {
    /// `hAdapter` at offset 0.
    pub hAdapter: D3DKMT_HANDLE,
    /// `AdapterLuid` at offset 4.
    pub AdapterLuid: LUID,
    /// `NumOfSources` at offset 12.
    pub NumOfSources: u32,
    /// `bPrecisePresentRegionsPreferred` at offset 16.
    pub bPrecisePresentRegionsPreferred: i32,
}

/// Argument of `D3DKMTEnumAdapters2`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ENUMADAPTERS2 {
    /// `NumAdapters` at offset 0.
    pub NumAdapters: u32,
    /// `pAdapters` at offset 8.
    pub pAdapters: *mut D3DKMT_ADAPTERINFO,
}

/// Argument of `D3DKMTEnumAdapters3`. Bit 0 of the filter includes compute-only adapters.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ENUMADAPTERS3 {
    /// `Filter` at offset 0.
    pub Filter: u64,
    /// `NumAdapters` at offset 8.
    pub NumAdapters: u32,
    /// `pAdapters` at offset 16.
    pub pAdapters: *mut D3DKMT_ADAPTERINFO,
}

/// Argument of `D3DKMTOpenAdapterFromLuid`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_OPENADAPTERFROMLUID {
    /// `AdapterLuid` at offset 0.
    pub AdapterLuid: LUID,
    /// `hAdapter` at offset 8: zero it first, see dxgkrnl.md rule 21.
    pub hAdapter: D3DKMT_HANDLE,
}

/// Argument of `D3DKMTCloseAdapter`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_CLOSEADAPTER {
    /// `hAdapter` at offset 0.
    pub hAdapter: D3DKMT_HANDLE,
}

/// Argument of `D3DKMTQueryAdapterInfo`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_QUERYADAPTERINFO {
    /// `hAdapter` at offset 0.
    pub hAdapter: D3DKMT_HANDLE,
    /// `Type` at offset 4.
    pub Type: u32,
    /// `pPrivateDriverData` at offset 8.
    pub pPrivateDriverData: *mut c_void,
    /// `PrivateDriverDataSize` at offset 16.
    pub PrivateDriverDataSize: u32,
}

/// PCI ids of a physical adapter.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_DEVICE_IDS {
    /// `VendorID` at offset 0.
    pub VendorID: u32,
    /// `DeviceID` at offset 4.
    pub DeviceID: u32,
    /// `SubVendorID` at offset 8.
    pub SubVendorID: u32,
    /// `SubSystemID` at offset 12.
    pub SubSystemID: u32,
    /// `RevisionID` at offset 16.
    pub RevisionID: u32,
    /// `BusType` at offset 20.
    pub BusType: u32,
}

/// Answer of `KMTQAITYPE_PHYSICALADAPTERDEVICEIDS`; the index is an input.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_QUERY_DEVICE_IDS {
    /// `PhysicalAdapterIndex` at offset 0.
    pub PhysicalAdapterIndex: u32,
    /// `DeviceIds` at offset 4.
    pub DeviceIds: D3DKMT_DEVICE_IDS,
}

/// Answer of `KMTQAITYPE_PHYSICALADAPTERCOUNT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_PHYSICAL_ADAPTER_COUNT {
    /// `Count` at offset 0.
    pub Count: u32,
}

/// Answer of `KMTQAITYPE_ADAPTERADDRESS`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ADAPTERADDRESS {
    /// `BusNumber` at offset 0.
    pub BusNumber: u32,
    /// `DeviceNumber` at offset 4.
    pub DeviceNumber: u32,
    /// `FunctionNumber` at offset 8.
    pub FunctionNumber: u32,
}

/// Answer of `KMTQAITYPE_ADAPTERREGISTRYINFO`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ADAPTERREGISTRYINFO {
    /// `AdapterString` at offset 0.
    pub AdapterString: [WCHAR; 260],
    /// `BiosString` at offset 1040.
    pub BiosString: [WCHAR; 260],
    /// `DacType` at offset 2080.
    pub DacType: [WCHAR; 260],
    /// `ChipType` at offset 3120.
    pub ChipType: [WCHAR; 260],
}

/// Answer of `KMTQAITYPE_DRIVER_DESCRIPTION`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_DRIVER_DESCRIPTION {
    /// `DriverDescription` at offset 0.
    pub DriverDescription: [WCHAR; 4096],
}

/// Argument and answer of `KMTQAITYPE_QUERYREGISTRY`; a string answer runs on from `OutputQword` to the end of the buffer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DDDI_QUERYREGISTRY_INFO {
    /// `QueryType` at offset 0.
    pub QueryType: u32,
    /// `QueryFlags` at offset 4.
    pub QueryFlags: u32,
    /// `ValueName` at offset 8.
    pub ValueName: [WCHAR; 260],
    /// `ValueType` at offset 1048.
    pub ValueType: u32,
    /// `PhysicalAdapterIndex` at offset 1052.
    pub PhysicalAdapterIndex: u32,
    /// `OutputValueSize` at offset 1056.
    pub OutputValueSize: u32,
    /// `Status` at offset 1060.
    pub Status: u32,
    /// `OutputQword` at offset 1064.
    pub OutputQword: u64,
}

/// Answer of `KMTQAITYPE_GETSEGMENTSIZE`, in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_SEGMENTSIZEINFO {
    /// `DedicatedVideoMemorySize` at offset 0.
    pub DedicatedVideoMemorySize: u64,
    /// `DedicatedSystemMemorySize` at offset 8.
    pub DedicatedSystemMemorySize: u64,
    /// `SharedSystemMemorySize` at offset 16.
    pub SharedSystemMemorySize: u64,
}

/// Answer of `KMTQAITYPE_ADAPTERTYPE`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ADAPTERTYPE {
    /// `Value` at offset 0.
    pub Value: u32,
}

/// Answer of `KMTQAITYPE_NODEMETADATA`; the ordinal (low 16 bits) and physical adapter (high 16 bits) are inputs.
#[repr(C, packed(1))]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_NODEMETADATA {
    /// `NodeOrdinalAndAdapterIndex` at offset 0.
    pub NodeOrdinalAndAdapterIndex: u32,
    /// `EngineType` at offset 4.
    pub EngineType: u32,
    /// `FriendlyName` at offset 8.
    pub FriendlyName: [WCHAR; 32],
    /// `Flags` at offset 136.
    pub Flags: u32,
    /// `GpuMmuSupported` at offset 140.
    pub GpuMmuSupported: u8,
    /// `IoMmuSupported` at offset 141.
    pub IoMmuSupported: u8,
}

/// Answer of `KMTQAITYPE_NODEPERFDATA`, in Hz and mV; the first two fields are inputs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_NODE_PERFDATA {
    /// `NodeOrdinal` at offset 0.
    pub NodeOrdinal: u32,
    /// `PhysicalAdapterIndex` at offset 4.
    pub PhysicalAdapterIndex: u32,
    /// `Frequency` at offset 8.
    pub Frequency: u64,
    /// `MaxFrequency` at offset 16.
    pub MaxFrequency: u64,
    /// `MaxFrequencyOC` at offset 24.
    pub MaxFrequencyOC: u64,
    /// `Voltage` at offset 32.
    pub Voltage: u32,
    /// `VoltageMax` at offset 36.
    pub VoltageMax: u32,
    /// `VoltageMaxOC` at offset 40.
    pub VoltageMaxOC: u32,
    /// `MaxTransitionLatency` at offset 48.
    pub MaxTransitionLatency: u64,
}

/// Answer of `KMTQAITYPE_ADAPTERPERFDATA`; the first field is an input.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ADAPTER_PERFDATA {
    /// `PhysicalAdapterIndex` at offset 0.
    pub PhysicalAdapterIndex: u32,
    /// `MemoryFrequency` at offset 8.
    pub MemoryFrequency: u64,
    /// `MaxMemoryFrequency` at offset 16.
    pub MaxMemoryFrequency: u64,
    /// `MaxMemoryFrequencyOC` at offset 24.
    pub MaxMemoryFrequencyOC: u64,
    /// `MemoryBandwidth` at offset 32.
    pub MemoryBandwidth: u64,
    /// `PCIEBandwidth` at offset 40.
    pub PCIEBandwidth: u64,
    /// `FanRPM` at offset 48.
    pub FanRPM: u32,
    /// `Power` at offset 52.
    pub Power: u32,
    /// `Temperature` at offset 56.
    pub Temperature: u32,
    /// `PowerStateOverride` at offset 60.
    pub PowerStateOverride: u8,
}

/// Answer of `KMTQAITYPE_ADAPTERPERFDATA_CAPS`, temperatures in tenths of a degree Celsius; the first field is an input.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ADAPTER_PERFDATACAPS {
    /// `PhysicalAdapterIndex` at offset 0.
    pub PhysicalAdapterIndex: u32,
    /// `MaxMemoryBandwidth` at offset 8.
    pub MaxMemoryBandwidth: u64,
    /// `MaxPCIEBandwidth` at offset 16.
    pub MaxPCIEBandwidth: u64,
    /// `MaxFanRPM` at offset 24.
    pub MaxFanRPM: u32,
    /// `TemperatureMax` at offset 28.
    pub TemperatureMax: u32,
    /// `TemperatureWarning` at offset 32.
    pub TemperatureWarning: u32,
}

/// Argument of `D3DKMTCreateDevice`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_CREATEDEVICE {
    /// `hAdapter` at offset 0.
    pub hAdapter: u64,
    /// `Flags` at offset 8.
    pub Flags: u32,
    /// `hDevice` at offset 12.
    pub hDevice: D3DKMT_HANDLE,
    /// `pCommandBuffer` at offset 16.
    pub pCommandBuffer: *mut c_void,
    /// `CommandBufferSize` at offset 24.
    pub CommandBufferSize: u32,
    /// `pAllocationList` at offset 32.
    pub pAllocationList: *mut c_void,
    /// `AllocationListSize` at offset 40.
    pub AllocationListSize: u32,
    /// `pPatchLocationList` at offset 48.
    pub pPatchLocationList: *mut c_void,
    /// `PatchLocationListSize` at offset 56.
    pub PatchLocationListSize: u32,
}

/// Argument of `D3DKMTDestroyDevice`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_DESTROYDEVICE {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
}

/// Argument of `D3DKMTGetDeviceState`.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_GETDEVICESTATE {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `StateType` at offset 4.
    pub StateType: u32,
    /// `ExecutionState` at offset 8: first word of the union of answers.
    pub ExecutionState: u32,
    /// `Rest` at offset 12: rest of the union.
    pub Rest: [u32; 11],
}

/// Argument of `D3DKMTCreatePagingQueue`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_CREATEPAGINGQUEUE {
    /// `hDevice` at offset 0.
    pub hDevice: D3DKMT_HANDLE,
    /// `Priority` at offset 4.
    pub Priority: u32,
    /// `hPagingQueue` at offset 8.
    pub hPagingQueue: D3DKMT_HANDLE,
    /// `hSyncObject` at offset 12.
    pub hSyncObject: D3DKMT_HANDLE,
    /// `FenceValueCPUVirtualAddress` at offset 16.
    pub FenceValueCPUVirtualAddress: *mut c_void,
    /// `PhysicalAdapterIndex` at offset 24.
    pub PhysicalAdapterIndex: u32,
}

/// Argument of `D3DKMTDestroyPagingQueue`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DDDI_DESTROYPAGINGQUEUE {
    /// `hPagingQueue` at offset 0.
    pub hPagingQueue: D3DKMT_HANDLE,
}

/// Clock pair of a GPU node; frequency in Hz.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy)]
pub struct DXGK_GPUCLOCKDATA {
    /// `GpuFrequency` at offset 0.
    pub GpuFrequency: u64,
    /// `GpuClockCounter` at offset 8.
    pub GpuClockCounter: u64,
    /// `CpuClockCounter` at offset 16.
    pub CpuClockCounter: u64,
    /// `Flags` at offset 24.
    pub Flags: u32,
}

/// Argument of `D3DKMTQueryClockCalibration`.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_QUERYCLOCKCALIBRATION {
    /// `hAdapter` at offset 0.
    pub hAdapter: D3DKMT_HANDLE,
    /// `NodeOrdinal` at offset 4.
    pub NodeOrdinal: u32,
    /// `PhysicalAdapterIndex` at offset 8.
    pub PhysicalAdapterIndex: u32,
    /// `ClockData` at offset 12.
    pub ClockData: DXGK_GPUCLOCKDATA,
}

/// Argument of `D3DKMTEscape`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_ESCAPE {
    /// `hAdapter` at offset 0.
    pub hAdapter: D3DKMT_HANDLE,
    /// `hDevice` at offset 4.
    pub hDevice: D3DKMT_HANDLE,
    /// `Type` at offset 8.
    pub Type: u32,
    /// `Flags` at offset 12.
    pub Flags: u32,
    /// `pPrivateDriverData` at offset 16.
    pub pPrivateDriverData: *mut c_void,
    /// `PrivateDriverDataSize` at offset 24.
    pub PrivateDriverDataSize: u32,
    /// `hContext` at offset 28.
    pub hContext: D3DKMT_HANDLE,
}

/// Argument of `D3DKMTQueryStatistics`; an unknown LUID gives success with nothing written.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_QUERYSTATISTICS {
    /// `Type` at offset 0.
    pub Type: u32,
    /// `AdapterLuid` at offset 4.
    pub AdapterLuid: LUID,
    /// `hProcess` at offset 16: a process id, 0 for the caller.
    pub hProcess: u64,
    /// `QueryResult` at offset 24, as 32-bit words: see `query_statistics`.
    pub QueryResult: [u32; 194],
    /// The union of inputs at offset 800: segment or node index.
    pub Index: u32,
}

/// `D3DKMT_QUERYSTATISTICS.QueryResult` for a segment; sizes in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION {
    /// `CommitLimit` at offset 0.
    pub CommitLimit: u64,
    /// `BytesCommitted` at offset 8.
    pub BytesCommitted: u64,
    /// `BytesResident` at offset 16.
    pub BytesResident: u64,
    /// `TotalBytesEvicted` at offset 24.
    pub TotalBytesEvicted: u64,
    /// `AllocsCommitted` at offset 32.
    pub AllocsCommitted: u32,
    /// `AllocsResident` at offset 36.
    pub AllocsResident: u32,
    /// `Aperture` at offset 40.
    pub Aperture: u32,
    /// `TotalBytesEvictedByPriority` at offset 48.
    pub TotalBytesEvictedByPriority: [u64; 5],
    /// `SystemMemoryEndAddress` at offset 88.
    pub SystemMemoryEndAddress: u64,
    /// `PowerFlags` at offset 96.
    pub PowerFlags: u64,
    /// `SegmentProperties` at offset 104: bit 0 says system memory.
    pub SegmentProperties: u64,
    /// `Reserved` at offset 112.
    pub Reserved: [u64; 5],
}

/// Argument of `D3DKMTQueryVideoMemoryInfo`; sizes in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_QUERYVIDEOMEMORYINFO {
    /// `hProcess` at offset 0: must be 0.
    pub hProcess: u64,
    /// `hAdapter` at offset 8.
    pub hAdapter: D3DKMT_HANDLE,
    /// `MemorySegmentGroup` at offset 12: 0 local, 1 non-local.
    pub MemorySegmentGroup: u32,
    /// `Budget` at offset 16.
    pub Budget: u64,
    /// `CurrentUsage` at offset 24.
    pub CurrentUsage: u64,
    /// `CurrentReservation` at offset 32.
    pub CurrentReservation: u64,
    /// `AvailableForReservation` at offset 40.
    pub AvailableForReservation: u64,
    /// `PhysicalAdapterIndex` at offset 48.
    pub PhysicalAdapterIndex: u32,
}

/// `D3DKMT_QUERYSTATISTICS_TYPE` values, and word indices into `QueryResult`.
pub mod query_statistics {
    /// `D3DKMT_QUERYSTATISTICS_ADAPTER`.
    pub const ADAPTER: u32 = 0;
    /// `D3DKMT_QUERYSTATISTICS_SEGMENT`.
    pub const SEGMENT: u32 = 3;
    /// `D3DKMT_QUERYSTATISTICS_PROCESS_SEGMENT`.
    pub const PROCESS_SEGMENT: u32 = 4;
    /// `D3DKMT_QUERYSTATISTICS_NODE`.
    pub const NODE: u32 = 5;
    /// `D3DKMT_QUERYSTATISTICS_PROCESS_SEGMENT_GROUP`.
    pub const PROCESS_SEGMENT_GROUP: u32 = 9;
    /// `D3DKMT_QUERYSTATISTICS_SEGMENT_GROUP_USAGE`, of WDDM 3.1; not in the measured headers. The low half of the
    /// index is the physical adapter, the high half the segment group.
    pub const SEGMENT_GROUP_USAGE: u32 = 17;
    /// Word of `AdapterInformation.NbSegments`.
    pub const NB_SEGMENTS: usize = 0;
    /// Word of `AdapterInformation.NodeCount`.
    pub const NODE_COUNT: usize = 1;
    /// Word of `ProcessSegmentInformation.BytesCommitted`.
    pub const PROCESS_BYTES_COMMITTED: usize = 0;
    /// Word of `ProcessSegmentGroupInformation.Budget`.
    pub const PROCESS_GROUP_BUDGET: usize = 0;
    /// Word of `ProcessSegmentGroupInformation.Usage`.
    pub const PROCESS_GROUP_USAGE: usize = 4;
    /// Word of `SegmentGroupUsageInformation.AllocatedBytes`.
    pub const GROUP_ALLOCATED_BYTES: usize = 0;
}

/// Answer of `KMTQAITYPE_QUERY_ADAPTER_UNIQUE_GUID`: text of the form `{8-4-4-4-12}`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3DKMT_QUERY_ADAPTER_UNIQUE_GUID {
    /// `adapterUniqueGUID` at offset 0.
    pub adapterUniqueGUID: [WCHAR; 40],
}

/// `DXGK_ENGINE_TYPE`: what a node of an adapter does.
pub mod engine_type {
    /// `DXGK_ENGINE_TYPE_OTHER`; compute nodes are told by their friendly name.
    pub const OTHER: u32 = 0;
    /// `DXGK_ENGINE_TYPE_3D`.
    pub const THREE_D: u32 = 1;
    /// `DXGK_ENGINE_TYPE_COPY`.
    pub const COPY: u32 = 6;
}

/// `D3DKMT_DEVICESTATE_TYPE`: what `D3DKMTGetDeviceState` is asked for.
pub mod device_state_type {
    /// `D3DKMT_DEVICESTATE_EXECUTION`.
    pub const EXECUTION: u32 = 1;
    /// `D3DKMT_DEVICESTATE_RESET`.
    pub const RESET: u32 = 3;
    /// `D3DKMT_DEVICESTATE_PAGE_FAULT`.
    pub const PAGE_FAULT: u32 = 5;
}

/// `D3DKMT_DEVICEEXECUTION_STATE`.
pub mod execution_state {
    /// `D3DKMT_DEVICEEXECUTION_ACTIVE`.
    pub const ACTIVE: u32 = 1;
    /// `D3DKMT_DEVICEEXECUTION_RESET`.
    pub const RESET: u32 = 2;
    /// `D3DKMT_DEVICEEXECUTION_HUNG`.
    pub const HUNG: u32 = 3;
    /// `D3DKMT_DEVICEEXECUTION_STOPPED`.
    pub const STOPPED: u32 = 4;
    /// `D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY`.
    pub const ERROR_OUTOFMEMORY: u32 = 5;
    /// `D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT`.
    pub const ERROR_DMAPAGEFAULT: u32 = 7;
}

/// Bits of `D3DKMT_ESCAPE.Flags`, and the escape type and known escapes that the guest looks at.
pub mod escape {
    /// `D3DKMT_ESCAPE_DRIVERPRIVATE`.
    pub const DRIVERPRIVATE: u32 = 0;
    /// `HardwareAccess`.
    pub const HARDWARE_ACCESS: u32 = 1 << 0;
    /// `DeviceStatusQuery`.
    pub const DEVICE_STATUS_QUERY: u32 = 1 << 1;
    /// `ChangeFrameLatency`.
    pub const CHANGE_FRAME_LATENCY: u32 = 1 << 2;
    /// `DriverKnownEscape`.
    pub const DRIVER_KNOWN_ESCAPE: u32 = 1 << 6;
}

/// `KMTQUERYADAPTERINFOTYPE`: what `D3DKMTQueryAdapterInfo` is asked for.
pub mod kmtqaitype {
    /// `KMTQAITYPE_UMDRIVERPRIVATE`.
    pub const UMDRIVERPRIVATE: u32 = 0;
    /// `KMTQAITYPE_UMDRIVERNAME`.
    pub const UMDRIVERNAME: u32 = 1;
    /// `KMTQAITYPE_GETSEGMENTSIZE`.
    pub const GETSEGMENTSIZE: u32 = 3;
    /// `KMTQAITYPE_ADAPTERADDRESS`.
    pub const ADAPTERADDRESS: u32 = 6;
    /// `KMTQAITYPE_ADAPTERREGISTRYINFO`.
    pub const ADAPTERREGISTRYINFO: u32 = 8;
    /// `KMTQAITYPE_DRIVERVERSION`.
    pub const DRIVERVERSION: u32 = 13;
    /// `KMTQAITYPE_ADAPTERTYPE`.
    pub const ADAPTERTYPE: u32 = 15;
    /// `KMTQAITYPE_NODEMETADATA`.
    pub const NODEMETADATA: u32 = 25;
    /// `KMTQAITYPE_PHYSICALADAPTERCOUNT`.
    pub const PHYSICALADAPTERCOUNT: u32 = 30;
    /// `KMTQAITYPE_PHYSICALADAPTERDEVICEIDS`.
    pub const PHYSICALADAPTERDEVICEIDS: u32 = 31;
    /// `KMTQAITYPE_QUERYREGISTRY`.
    pub const QUERYREGISTRY: u32 = 48;
    /// `KMTQAITYPE_ADAPTERADDRESS_RENDER`.
    pub const ADAPTERADDRESS_RENDER: u32 = 53;
    /// `KMTQAITYPE_ADAPTERREGISTRYINFO_RENDER`.
    pub const ADAPTERREGISTRYINFO_RENDER: u32 = 54;
    /// `KMTQAITYPE_DRIVERVERSION_RENDER`.
    pub const DRIVERVERSION_RENDER: u32 = 56;
    /// `KMTQAITYPE_ADAPTERTYPE_RENDER`.
    pub const ADAPTERTYPE_RENDER: u32 = 57;
    /// `KMTQAITYPE_QUERY_ADAPTER_UNIQUE_GUID`.
    pub const QUERY_ADAPTER_UNIQUE_GUID: u32 = 60;
    /// `KMTQAITYPE_NODEPERFDATA`.
    pub const NODEPERFDATA: u32 = 61;
    /// `KMTQAITYPE_ADAPTERPERFDATA`.
    pub const ADAPTERPERFDATA: u32 = 62;
    /// `KMTQAITYPE_ADAPTERPERFDATA_CAPS`.
    pub const ADAPTERPERFDATA_CAPS: u32 = 63;
    /// `KMTQAITYPE_DRIVER_DESCRIPTION`.
    pub const DRIVER_DESCRIPTION: u32 = 65;
    /// `KMTQAITYPE_DRIVER_DESCRIPTION_RENDER`.
    pub const DRIVER_DESCRIPTION_RENDER: u32 = 66;
}

/// NTSTATUS values that a caller of libdxcore can see (dxgkrnl.md 6.1).
pub mod ntstatus {
    /// `STATUS_SUCCESS`.
    pub const SUCCESS: i32 = 0x00000000_u32 as i32;
    /// `STATUS_TIMEOUT`.
    pub const TIMEOUT: i32 = 0x00000102_u32 as i32;
    /// `STATUS_PENDING`.
    pub const PENDING: i32 = 0x00000103_u32 as i32;
    /// `STATUS_UNSUCCESSFUL`.
    pub const UNSUCCESSFUL: i32 = 0xC0000001_u32 as i32;
    /// `STATUS_INVALID_HANDLE`.
    pub const INVALID_HANDLE: i32 = 0xC0000008_u32 as i32;
    /// `STATUS_INVALID_PARAMETER`.
    pub const INVALID_PARAMETER: i32 = 0xC000000D_u32 as i32;
    /// `STATUS_NO_MEMORY`.
    pub const NO_MEMORY: i32 = 0xC0000017_u32 as i32;
    /// `STATUS_ILLEGAL_INSTRUCTION`.
    pub const ILLEGAL_INSTRUCTION: i32 = 0xC000001D_u32 as i32;
    /// `STATUS_ACCESS_DENIED`.
    pub const ACCESS_DENIED: i32 = 0xC0000022_u32 as i32;
    /// `STATUS_BUFFER_TOO_SMALL`.
    pub const BUFFER_TOO_SMALL: i32 = 0xC0000023_u32 as i32;
    /// `STATUS_OBJECT_TYPE_MISMATCH`.
    pub const OBJECT_TYPE_MISMATCH: i32 = 0xC0000024_u32 as i32;
    /// `STATUS_OBJECT_NAME_INVALID`.
    pub const OBJECT_NAME_INVALID: i32 = 0xC0000033_u32 as i32;
    /// `STATUS_OBJECT_NAME_NOT_FOUND`.
    pub const OBJECT_NAME_NOT_FOUND: i32 = 0xC0000034_u32 as i32;
    /// `STATUS_OBJECT_NAME_COLLISION`.
    pub const OBJECT_NAME_COLLISION: i32 = 0xC0000035_u32 as i32;
    /// `STATUS_REVISION_MISMATCH`.
    pub const REVISION_MISMATCH: i32 = 0xC0000059_u32 as i32;
    /// `STATUS_NOT_SUPPORTED`.
    pub const NOT_SUPPORTED: i32 = 0xC00000BB_u32 as i32;
    /// `STATUS_DEVICE_REMOVED`.
    pub const DEVICE_REMOVED: i32 = 0xC00002B6_u32 as i32;
    /// `STATUS_GRAPHICS_NO_VIDEO_MEMORY`.
    pub const GRAPHICS_NO_VIDEO_MEMORY: i32 = 0xC01E0100_u32 as i32;
    /// `STATUS_GRAPHICS_ALLOCATION_BUSY`.
    pub const GRAPHICS_ALLOCATION_BUSY: i32 = 0xC01E0102_u32 as i32;
    /// `STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE`.
    pub const GRAPHICS_GPU_EXCEPTION_ON_DEVICE: i32 = 0xC01E0200_u32 as i32;
}
