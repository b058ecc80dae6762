//! The D3DKMT calls on memory as safe calls: allocations, GPU addresses, residency, waits.
//!
//! Every call here is one D3DKMT call. STATUS_PENDING is a success of those that page; other positive codes are failures
//! (dxgkrnl.md 9).

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::Error;
use super::d3dkmt::*;
use super::dxcore::{Dxcore, PagingQueue};
use super::status::{CallError, NtStatus};

/// Unit of GPU addresses, in bytes.
pub const PAGE: u64 = 4096;

/// One entry of an allocation that is created.
pub struct Entry<'a> {
    /// Page-aligned memory of the process to take, 0 for none.
    pub system: u64,
    /// Private data, in and out.
    pub blob: &'a mut [u8],
}

/// What is created.
pub struct Creation<'a> {
    /// The entries, at most [`D3DKMT_CREATEALLOCATION_MAX`].
    pub entries: Vec<Entry<'a>>,
    /// Private data of the whole.
    pub driver: &'a [u8],
    /// What importers are told, with a resource that can be shared; `None`: neither.
    pub shared: Option<&'a [u8]>,
}

/// What was created: the handles of the entries, and of the resource that has them, 0 for none.
#[derive(Debug, Clone, Default)]
pub struct Created {
    /// One for each entry.
    pub allocations: Vec<D3DKMT_HANDLE>,
    /// The resource.
    pub resource: D3DKMT_HANDLE,
}

/// What a shared resource consists of, bounded: another process made it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    runtime: u32,
    total: u32,
    resource: u32,
    count: u32,
}

/// A resource that was opened, and what its maker says of it.
#[derive(Debug, Default)]
pub struct Opened {
    /// Its handles.
    pub created: Created,
    /// What the maker's thunk attached.
    pub runtime: Vec<u8>,
    /// Private data of each allocation.
    pub blobs: Vec<Vec<u8>>,
}

/// More private data than any maker has a use for.
const MOST_SHARED_BYTES: u32 = 1 << 20;

/// Bytes that AMD's driver may put behind the private data of a resource that is opened (dxg.md 3.5).
const DRIVER_ROOM: u32 = 4096;

/// OK, and PENDING with the fence value that tells its end; 0 is done.
fn paged(call: &'static str, status: i32, fence: u64) -> Result<u64, CallError> {
    match status {
        ntstatus::SUCCESS | ntstatus::PENDING => Ok(fence),
        _ => Err(CallError { call, status: NtStatus(status) }),
    }
}

impl Dxcore {
    /// Reserves GPU addresses on an adapter: exactly these.
    pub fn reserve_gpu_va(&self, adapter: D3DKMT_HANDLE, base: u64, bytes: u64) -> Result<(), Error> {
        const CALL: &str = "D3DKMTReserveGpuVirtualAddress";
        let mut args = D3DDDI_RESERVEGPUVIRTUALADDRESS {
            hAdapter: adapter,
            BaseAddress: base,
            MinimumAddress: 0,
            MaximumAddress: 0,
            Size: bytes,
            ReservationType: reservation_type::NO_ACCESS,
            DriverProtection: 0,
            VirtualAddress: 0,
            PagingFenceValue: 0,
        };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check(CALL, unsafe { (self.memory()?.reserve_gpu_va)(&mut args) })?;
        if args.VirtualAddress == base {
            return Ok(());
        }
        // Another place is of no use, and not ours to keep.
        let _ = self.free_gpu_va(adapter, args.VirtualAddress, bytes);
        Err(CallError { call: CALL, status: NtStatus(ntstatus::UNSUCCESSFUL) }.into())
    }

    /// Gives GPU addresses back.
    pub fn free_gpu_va(&self, adapter: D3DKMT_HANDLE, base: u64, bytes: u64) -> Result<(), Error> {
        let mut args = D3DKMT_FREEGPUVIRTUALADDRESS { hAdapter: adapter, BaseAddress: base, Size: bytes };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check("D3DKMTFreeGpuVirtualAddress", unsafe { (self.memory()?.free_gpu_va)(&mut args) })?;
        Ok(())
    }

    /// Creates allocations on a device.
    pub fn create_allocation(&self, device: D3DKMT_HANDLE, creation: &mut Creation<'_>) -> Result<Created, Error> {
        use create_allocation_flags::{CREATE_RESOURCE, CREATE_SHARED, EXISTING_SYS_MEM, NT_SECURITY_SHARING};
        const CALL: &str = "D3DKMTCreateAllocation2";
        /// No output of a display.
        const NO_SOURCE: u32 = u32::MAX;
        let info = |entry: &mut Entry<'_>| D3DDDI_ALLOCATIONINFO2 {
            hAllocation: 0,
            pSystemMem: std::ptr::with_exposed_provenance_mut(entry.system as usize),
            pPrivateDriverData: entry.blob.as_mut_ptr().cast(),
            PrivateDriverDataSize: entry.blob.len() as u32,
            VidPnSourceId: NO_SOURCE,
            Flags: 0,
            GpuVirtualAddress: 0,
            Unused: 0,
            Reserved: [0; 5],
        };
        let system = creation.entries.iter().any(|entry| entry.system != 0);
        let mut infos: Vec<_> = creation.entries.iter_mut().map(info).collect();
        let runtime = creation.shared.unwrap_or_default();
        let sharing = CREATE_RESOURCE | CREATE_SHARED | NT_SECURITY_SHARING;
        let mut args = D3DKMT_CREATEALLOCATION {
            hDevice: device,
            hResource: 0,
            hGlobalShare: 0,
            pPrivateRuntimeData: runtime.as_ptr().cast(),
            PrivateRuntimeDataSize: runtime.len() as u32,
            pPrivateDriverData: creation.driver.as_ptr().cast(),
            PrivateDriverDataSize: creation.driver.len() as u32,
            NumAllocations: infos.len() as u32,
            pAllocationInfo2: infos.as_mut_ptr(),
            Flags: if system { EXISTING_SYS_MEM } else { 0 } | if creation.shared.is_some() { sharing } else { 0 },
            hPrivateRuntimeResourceHandle: 0,
        };
        // SAFETY: every array has the length that is beside it and outlives the call. The kernel checks that the process
        // has the pages of system memory, and gives a GPU no more access to them than the process has.
        let status = unsafe { (self.memory()?.create_allocation)(&mut args) };
        // Handles that a failure leaves behind name nothing (rule 59).
        CallError::check(CALL, status)?;
        let allocations: Vec<_> = infos.iter().map(|info| info.hAllocation).collect();
        let lacks_resource = creation.shared.is_some() && args.hResource == 0;
        if lacks_resource || allocations.contains(&0) {
            return Err(CallError { call: CALL, status: NtStatus(ntstatus::UNSUCCESSFUL) }.into());
        }
        Ok(Created { allocations, resource: args.hResource })
    }

    /// Destroys allocations: those of a resource by the resource (rule 66).
    pub fn destroy_allocation(&self, device: D3DKMT_HANDLE, created: &Created) -> Result<(), Error> {
        let (list, count) = match created.resource {
            0 => (created.allocations.as_ptr(), created.allocations.len() as u32),
            _ => (std::ptr::null(), 0),
        };
        let mut args = D3DKMT_DESTROYALLOCATION2 {
            hDevice: device,
            hResource: created.resource,
            phAllocationList: list,
            AllocationCount: count,
            // Work that is under way is waited for.
            Flags: 0,
        };
        // SAFETY: the list has as many handles as it says and outlives the call.
        CallError::check("D3DKMTDestroyAllocation2", unsafe { (self.memory()?.destroy_allocation)(&mut args) })?;
        Ok(())
    }

    /// Maps a part of an allocation at a reserved GPU address, or with handle 0 takes such a mapping away. The result is
    /// the paging-fence value that tells its end.
    pub fn map_gpu_va(
        &self,
        queue: &PagingQueue,
        (base, bytes): (u64, u64),
        allocation: D3DKMT_HANDLE,
        offset: u64,
    ) -> Result<u64, Error> {
        let mut args = D3DDDI_MAPGPUVIRTUALADDRESS {
            hPagingQueue: queue.handle,
            BaseAddress: base,
            MinimumAddress: 0,
            MaximumAddress: 0,
            hAllocation: allocation,
            OffsetInPages: offset / PAGE,
            SizeInPages: bytes / PAGE,
            Protection: if allocation == 0 { protection::NO_ACCESS } else { protection::WRITE },
            DriverProtection: 0,
            Reserved0: 0,
            Reserved1: 0,
            VirtualAddress: 0,
            PagingFenceValue: 0,
        };
        // SAFETY: `args` is a valid argument block for the time of the call.
        let status = unsafe { (self.memory()?.map_gpu_va)(&mut args) };
        Ok(paged("D3DKMTMapGpuVirtualAddress", status, args.PagingFenceValue)?)
    }

    /// Makes allocations resident; the result is the paging-fence value that tells its end.
    pub fn make_resident(&self, queue: &PagingQueue, allocations: &[D3DKMT_HANDLE]) -> Result<u64, Error> {
        let mut args = D3DDDI_MAKERESIDENT {
            hPagingQueue: queue.handle,
            NumAllocations: allocations.len() as u32,
            AllocationList: allocations.as_ptr(),
            PriorityList: std::ptr::null(),
            Flags: make_resident_flags::CANT_TRIM_FURTHER,
            PagingFenceValue: 0,
            NumBytesToTrim: 0,
        };
        // SAFETY: the list has as many handles as it says and outlives the call.
        let status = unsafe { (self.memory()?.make_resident)(&mut args) };
        Ok(paged("D3DKMTMakeResident", status, args.PagingFenceValue)?)
    }

    /// Takes back one [`Dxcore::make_resident`].
    pub fn evict(&self, device: D3DKMT_HANDLE, allocations: &[D3DKMT_HANDLE]) -> Result<(), Error> {
        let mut args = D3DKMT_EVICT {
            hDevice: device,
            NumAllocations: allocations.len() as u32,
            AllocationList: allocations.as_ptr(),
            Flags: 0,
            NumBytesToTrim: 0,
        };
        // SAFETY: the list has as many handles as it says and outlives the call.
        CallError::check("D3DKMTEvict", unsafe { (self.memory()?.evict)(&mut args) })?;
        Ok(())
    }

    /// Raises the eventfd `event` when a fence of the device has reached `value`.
    pub fn notify_at(&self, device: D3DKMT_HANDLE, fence: D3DKMT_HANDLE, value: u64, event: i32) -> Result<(), Error> {
        let mut args = D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU {
            hDevice: device,
            ObjectCount: 1,
            ObjectHandleArray: &fence,
            FenceValueArray: &value,
            hAsyncEvent: u64::from(event.cast_unsigned()),
            Flags: 0,
        };
        // SAFETY: both arrays have one element and outlive the call; with an event the call does not block.
        let status = unsafe { (self.memory()?.wait_from_cpu)(&mut args) };
        CallError::check("D3DKMTWaitForSynchronizationObjectFromCpu", status)?;
        Ok(())
    }

    /// Fails with DEVICE_REMOVED unless the device executes.
    pub fn require_running(&self, device: D3DKMT_HANDLE) -> Result<(), Error> {
        const CALL: &str = "D3DKMTGetDeviceState";
        let mut args = D3DKMT_GETDEVICESTATE {
            hDevice: device,
            StateType: device_state_type::EXECUTION,
            ExecutionState: 0,
            Rest: [0; 11],
        };
        // SAFETY: `args` is a valid argument block for the time of the call.
        CallError::check(CALL, unsafe { (self.memory()?.get_device_state)(&mut args) })?;
        match args.ExecutionState {
            execution_state::ACTIVE => Ok(()),
            _ => Err(CallError { call: CALL, status: NtStatus(ntstatus::DEVICE_REMOVED) }.into()),
        }
    }

    /// Makes a file of a resource that was created to be shared. It is the caller's.
    pub fn share(&self, resource: D3DKMT_HANDLE) -> Result<OwnedFd, Error> {
        const CALL: &str = "D3DKMTShareObjects";
        let mut file = u64::MAX;
        let mut args = D3DKMT_SHAREOBJECTS {
            ObjectCount: 1,
            ObjectHandleArray: &resource,
            pObjectAttributes: std::ptr::null_mut(),
            DesiredAccess: SHARED_ALL_ACCESS,
            pSharedNtHandle: &mut file,
        };
        // SAFETY: the list has one handle, and the result a place; both outlive the call.
        CallError::check(CALL, unsafe { (self.memory()?.share_objects)(&mut args) })?;
        // The answer is as wide as a pointer and holds a descriptor in its lower half.
        let number = (file as u32).cast_signed();
        if number < 0 || file >> 32 != 0 {
            return Err(CallError { call: CALL, status: NtStatus(ntstatus::UNSUCCESSFUL) }.into());
        }
        // SAFETY: the call made the descriptor for its caller.
        Ok(unsafe { OwnedFd::from_raw_fd(number) })
    }

    /// Asks what a file of a shared resource is; INVALID_PARAMETER for a file that is none.
    pub fn query_shared(&self, device: D3DKMT_HANDLE, file: BorrowedFd<'_>) -> Result<Sizes, Error> {
        let mut args = D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE {
            hDevice: device,
            hNtHandle: u64::from(file.as_raw_fd().cast_unsigned()),
            pPrivateRuntimeData: std::ptr::null_mut(),
            PrivateRuntimeDataSize: 0,
            TotalPrivateDriverDataSize: 0,
            ResourcePrivateDriverDataSize: 0,
            NumAllocations: 0,
        };
        // SAFETY: `args` is a valid argument block for the time of the call, and asks for no data.
        let status = unsafe { (self.memory()?.query_resource_info)(&mut args) };
        CallError::check("D3DKMTQueryResourceInfoFromNtHandle", status)?;
        let sizes = Sizes {
            runtime: args.PrivateRuntimeDataSize,
            total: args.TotalPrivateDriverDataSize,
            resource: args.ResourcePrivateDriverDataSize,
            count: args.NumAllocations,
        };
        let small = [sizes.runtime, sizes.total, sizes.resource].iter().all(|bytes| *bytes <= MOST_SHARED_BYTES);
        if !small || sizes.count == 0 || sizes.count > D3DKMT_CREATEALLOCATION_MAX {
            return Err(Error::BadShare { allocations: sizes.count });
        }
        Ok(sizes)
    }

    /// Opens a shared resource on a device.
    pub fn open_shared(&self, device: D3DKMT_HANDLE, file: BorrowedFd<'_>, sizes: Sizes) -> Result<Opened, Error> {
        const CALL: &str = "D3DKMTOpenResourceFromNtHandle";
        let mut runtime = vec![0_u8; sizes.runtime as usize];
        let mut resource = vec![0_u8; sizes.resource as usize];
        // Words, so that what the kernel puts there is aligned, and room behind for what the driver adds.
        let room = sizes.total + DRIVER_ROOM;
        let mut total = vec![0_u64; (room as usize).div_ceil(8)];
        let empty = D3DDDI_OPENALLOCATIONINFO2 {
            hAllocation: 0,
            pPrivateDriverData: std::ptr::null(),
            PrivateDriverDataSize: 0,
            GpuVirtualAddress: 0,
            Reserved: [0; 6],
        };
        let mut infos = vec![empty; sizes.count as usize];
        let mut args = D3DKMT_OPENRESOURCEFROMNTHANDLE {
            hDevice: device,
            hNtHandle: u64::from(file.as_raw_fd().cast_unsigned()),
            NumAllocations: sizes.count,
            pOpenAllocationInfo2: infos.as_mut_ptr(),
            PrivateRuntimeDataSize: sizes.runtime,
            pPrivateRuntimeData: runtime.as_mut_ptr().cast(),
            ResourcePrivateDriverDataSize: sizes.resource,
            pResourcePrivateDriverData: resource.as_mut_ptr().cast(),
            TotalPrivateDriverDataBufferSize: room,
            pTotalPrivateDriverDataBuffer: total.as_mut_ptr().cast(),
            hResource: 0,
            hKeyedMutex: 0,
            pKeyedMutexPrivateRuntimeData: std::ptr::null_mut(),
            KeyedMutexPrivateRuntimeDataSize: 0,
            hSyncObject: 0,
        };
        // SAFETY: every buffer has the size that is beside it and outlives the call.
        CallError::check(CALL, unsafe { (self.memory()?.open_resource)(&mut args) })?;
        let allocations: Vec<_> = infos.iter().map(|info| info.hAllocation).collect();
        // A failure of the clean-up may look like success (dxgkrnl.md 2.5).
        if args.hResource == 0 || allocations.contains(&0) {
            return Err(CallError { call: CALL, status: NtStatus(ntstatus::UNSUCCESSFUL) }.into());
        }
        let bytes: Vec<u8> = total.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let begin = total.as_ptr().addr();
        let blob = |info: &D3DDDI_OPENALLOCATIONINFO2| {
            let at = info.pPrivateDriverData.addr().checked_sub(begin)?;
            bytes.get(at..at.checked_add(info.PrivateDriverDataSize as usize)?).map(<[u8]>::to_vec)
        };
        let blobs = infos.iter().map(|info| blob(info).unwrap_or_default()).collect();
        Ok(Opened { created: Created { allocations, resource: args.hResource }, runtime, blobs })
    }
}

/// Every right on a shared object (`GENERIC_ALL`); the kernel looks at none.
const SHARED_ALL_ACCESS: u32 = 0x1000_0000;
