//! Sharing without ceremony: descriptors of resources, and what opens them.

use dxcore::d3dkmt::*;

use crate::kit::*;
use crate::rig::*;

/// Status and descriptor.
pub fn share(resource: u32) -> (Status, i32) {
    let (mut descriptor, resource) = (u64::MAX, resource);
    let mut args = D3DKMT_SHAREOBJECTS {
        ObjectCount: 1,
        ObjectHandleArray: &raw const resource,
        pSharedNtHandle: &raw mut descriptor,
        ..zero()
    };
    let status = share_args(&mut args);
    assert_eq!(descriptor == u64::MAX, status != OK);
    (status, descriptor as i32)
}

/// Memory that was shared: resource, its allocations and a descriptor.
pub fn exported(device: u32, sizes: &[u64]) -> (u32, Vec<u32>, i32) {
    let mut creation = Creation::shared(device, sizes);
    assert_eq!(creation.send(), OK);
    let (status, descriptor) = share(creation.args.hResource);
    assert_eq!(status, OK);
    (creation.args.hResource, creation.handles(), descriptor)
}

pub fn shut(descriptor: i32) {
    // SAFETY: a descriptor of ours.
    assert_eq!(unsafe { libc::close(descriptor) }, 0);
}

/// What opening takes.
pub struct Opening {
    pub args: D3DKMT_OPENRESOURCEFROMNTHANDLE,
    pub infos: Vec<D3DDDI_OPENALLOCATIONINFO2>,
    pub runtime: Vec<u8>,
    pub driver: Vec<u8>,
    pub total: Vec<u8>,
}

impl Opening {
    /// With the sizes that the kernel tells.
    pub fn of(device: u32, descriptor: i32) -> Result<Self, Status> {
        let mut info = D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE { hDevice: device, hNtHandle: descriptor as u64, ..zero() };
        let status = resource_info_args(&mut info);
        if status != OK {
            return Err(status);
        }
        Ok(Self {
            args: D3DKMT_OPENRESOURCEFROMNTHANDLE {
                hDevice: device,
                hNtHandle: descriptor as u64,
                NumAllocations: info.NumAllocations,
                PrivateRuntimeDataSize: info.PrivateRuntimeDataSize,
                ResourcePrivateDriverDataSize: info.ResourcePrivateDriverDataSize,
                TotalPrivateDriverDataBufferSize: info.TotalPrivateDriverDataSize,
                ..zero()
            },
            infos: vec![zero(); info.NumAllocations as usize],
            runtime: vec![0xee; info.PrivateRuntimeDataSize as usize],
            driver: vec![0xee; info.ResourcePrivateDriverDataSize as usize],
            total: vec![0xee; info.TotalPrivateDriverDataSize as usize],
        })
    }

    pub fn send(&mut self) -> Status {
        self.args.pOpenAllocationInfo2 = self.infos.as_mut_ptr();
        self.args.pPrivateRuntimeData = self.runtime.as_mut_ptr().cast();
        self.args.pResourcePrivateDriverData = self.driver.as_mut_ptr().cast();
        self.args.pTotalPrivateDriverDataBuffer = self.total.as_mut_ptr().cast();
        open_resource_args(&mut self.args)
    }
}

/// Opens a shared resource: its handle and those of its allocations.
pub fn import(device: u32, descriptor: i32) -> Result<(u32, Vec<u32>), Status> {
    let mut opening = Opening::of(device, descriptor)?;
    match opening.send() {
        OK => Ok((opening.args.hResource, opening.infos.iter().map(|i| i.hAllocation).collect())),
        status => Err(status),
    }
}
