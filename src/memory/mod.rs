//! Memory of this process that GPUs can use: what is allocated and registered, who may use it, what a pointer is.
//!
//! `table` holds what is alive and answers for any address without a kernel call; `flags` decides what an allocation
//! is from what its caller said. The pages themselves are the platform's. May call: `platform`, `topology`, `abi`.

mod flags;
mod table;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use self::flags::Route;
use self::table::{Allocation, Kind, Table};
use crate::abi::{
    HSA_LINKPROPERTY, HSA_POINTER_ALLOCATED, HSA_POINTER_REGISTERED_USER, HSA_POINTER_RESERVED_ADDR, HSA_POINTER_TYPE,
    HsaMemFlags,
};
use crate::platform::memory::{Place, UserMemory, Wanted};
use crate::platform::{self, Device, Devices, Platform};
use crate::topology::{NoNode, Snapshot};

/// Why a call on memory fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The platform failed.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// There is no such node.
    #[error(transparent)]
    NoNode(#[from] NoNode),
    /// The node is not a GPU.
    #[error("node {0} is not a GPU")]
    NotGpu(u32),
    /// An argument is out of range.
    #[error("{0}")]
    Argument(&'static str),
    /// The driver has no memory to give, or this version cannot give it yet.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// No platform can do it.
    #[error("not implemented: {0}")]
    NotImplemented(&'static str),
    /// Nothing is allocated or registered at the address.
    #[error("nothing of ours is at {0:#x}")]
    Unknown(u64),
    /// What is at the address is not what the call is for.
    #[error("{0:#x} is not registered memory")]
    NotRegistered(u64),
    /// The memory is registered for other nodes.
    #[error("{0:#x} is registered for other nodes")]
    AlreadyRegistered(u64),
    /// The address is of an allocation, which needs no registration.
    #[error("{0:#x} is an allocation and no memory of the user")]
    IsAllocation(u64),
    /// What is at the address cannot be mapped for GPUs.
    #[error("what is at {0:#x} has no memory to map")]
    NotMappable(u64),
    /// A GPU that the memory is not registered for.
    #[error("{address:#x} is not registered for node {node}")]
    ForeignNode {
        /// The memory.
        address: u64,
        /// The node.
        node: u32,
    },
    /// A call of another thread on the same memory does not return.
    #[error("another call on {address:#x} has not returned for {seconds} s")]
    Busy {
        /// The memory.
        address: u64,
        /// How long this one waited.
        seconds: u64,
    },
}

/// What the machine is at the moment of a call.
#[derive(Clone)]
pub struct Scene {
    /// The open platform.
    pub platform: Arc<dyn Platform>,
    /// The nodes.
    pub snapshot: Arc<Snapshot>,
    /// The open GPUs by node.
    pub devices: Arc<Devices>,
}

impl Scene {
    fn gpu(&self, node: u32) -> Result<&Arc<dyn Device>, Error> {
        self.snapshot.node(node)?;
        self.devices.get(&node).ok_or(Error::NotGpu(node))
    }

    /// The GPUs of a list of nodes, each once.
    fn gpus(&self, nodes: &[u32]) -> Result<Vec<Arc<dyn Device>>, Error> {
        let nodes: BTreeSet<u32> = nodes.iter().copied().collect();
        nodes.into_iter().map(|node| self.gpu(node).cloned()).collect()
    }

    fn node_of(&self, device: u64) -> Option<u32> {
        self.devices.iter().find(|(_, known)| known.id() == device).map(|(node, _)| *node)
    }

    fn nodes_of(&self, devices: &[Arc<dyn Device>]) -> Vec<u32> {
        let mut nodes: Vec<u32> = devices.iter().filter_map(|device| self.node_of(device.id())).collect();
        nodes.sort_unstable();
        nodes
    }

    /// The GPUs that can reach memory of the GPU at `owner`: itself, and those with a link to it that lets them.
    fn peers(&self, owner: u32) -> Vec<Arc<dyn Device>> {
        let reaches = |node: u32| {
            let links = self.snapshot.node(node).map(|node| &node.links[..]).unwrap_or_default();
            let barred = |flags: HSA_LINKPROPERTY| flags.get(HSA_LINKPROPERTY::NoPeerToPeerDMA) != 0;
            links.iter().any(|link| link.NodeTo == owner && !barred(link.Flags))
        };
        let can = self.devices.iter().filter(|(node, _)| **node == owner || reaches(**node));
        can.map(|(_, device)| Arc::clone(device)).collect()
    }
}

/// An allocation that is asked for; the pointer arguments are checked.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Node whose memory is preferred.
    pub node: u32,
    /// GPU node through which host memory is reached; `None` for any.
    pub anchor: Option<u32>,
    /// Bytes.
    pub bytes: u64,
    /// 0, or a power of two.
    pub alignment: u64,
    /// `FixedAddress`: this address or none.
    pub address: Option<u64>,
    /// Everything else.
    pub flags: HsaMemFlags,
}

/// What is known of a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointerInfo {
    /// What kind of memory.
    pub kind: HSA_POINTER_TYPE,
    /// Node that it was wanted from.
    pub node: u32,
    /// Flags that it was allocated or registered with.
    pub flags: HsaMemFlags,
    /// First byte for the CPU; 0 where it sees none.
    pub cpu_address: u64,
    /// First byte for GPUs.
    pub gpu_address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Nodes that it is registered for. Lives as long as the process.
    pub registered: &'static [u32],
    /// Nodes that may use it. Lives as long as the process.
    pub mapped: &'static [u32],
    /// What the caller keeps with it.
    pub user_data: usize,
}

/// The memory of a process.
#[derive(Default)]
pub struct Memory {
    table: Table,
    /// Every list of nodes that was ever told. Callers read them whenever they like, so none is ever taken back; there
    /// are no more than combinations of nodes that somebody used.
    lists: Mutex<BTreeSet<&'static [u32]>>,
}

const NO_MEMORY: &str = "memory on this driver is not built yet";

fn memory_of(platform: &dyn Platform) -> Result<&dyn platform::memory::Memory, Error> {
    platform.memory().ok_or(Error::Unsupported(NO_MEMORY))
}

impl Memory {
    /// Allocates; the result is the address, for CPU and GPUs.
    pub fn allocate(&self, scene: &Scene, request: &Request) -> Result<u64, Error> {
        let memory = memory_of(&*scene.platform)?;
        scene.snapshot.node(request.node)?;
        let flags = request.flags;
        flags::check(flags, request.bytes, request.alignment)?;
        let is_gpu = scene.devices.contains_key(&request.node);
        let route = flags::route(flags, is_gpu);
        let place = match route {
            Route::Scratch | Route::Device => Place::Device(&**scene.gpu(request.node)?),
            Route::Host => {
                let anchor = match request.anchor {
                    Some(node) => Some(scene.gpu(node)?),
                    None if is_gpu => scene.devices.get(&request.node),
                    None => scene.devices.values().next(),
                };
                let numa_node = scene.snapshot.numa_nodes.get(&request.node).copied();
                Place::Host { numa_node, through: anchor.map(|device| &**device) }
            }
        };
        if route == Route::Scratch && request.alignment != 0 {
            return Err(Error::NotImplemented("scratch memory with an alignment"));
        }
        let Request { bytes, alignment, address, .. } = *request;
        let buffer = memory.allocate(&Wanted { place, bytes, alignment, address, flags })?;
        let owner = (route != Route::Host).then_some(request.node);
        let kind = if buffer.is_mappable() { Kind::Allocated } else { Kind::Addresses };
        let start = buffer.address();
        self.table.insert(Allocation::new(kind, (request.node, owner), bytes, flags, buffer));
        Ok(start)
    }

    /// Frees an allocation. After an error it is as it was.
    pub fn free(&self, platform: &dyn Platform, address: u64) -> Result<(), Error> {
        memory_of(platform)?;
        let found = self.table.at(address).or_else(|| self.table.scratch_around(address));
        let allocation = found.filter(|found| found.kind() != Kind::User).ok_or(Error::NotRegistered(address))?;
        let turn = allocation.turn()?;
        allocation.buffer().free()?;
        turn.gone();
        self.table.remove(&allocation);
        Ok(())
    }

    /// Registers memory of the user for all GPUs, or for those at `nodes`.
    pub fn register(
        &self,
        scene: &Scene,
        (address, bytes): (u64, u64),
        flags: HsaMemFlags,
        nodes: Option<&[u32]>,
    ) -> Result<(), Error> {
        let memory = memory_of(&*scene.platform)?;
        let wanted = nodes.map(|nodes| scene.gpus(nodes)).transpose()?;
        if bytes == 0 {
            return Err(Error::Argument("the size is 0"));
        }
        if !memory.needs_registration() {
            return match nodes {
                None => Ok(()),
                Some(_) => Err(Error::Unsupported("registration for single nodes where GPUs have no memory")),
            };
        }
        if let Some(known) = self.table.user_at(address, bytes) {
            let turn = known.turn()?;
            return turn.register_again(wanted);
        }
        if let Some(known) = self.table.at(address) {
            let Some(wanted) = wanted else { return Err(Error::IsAllocation(address)) };
            return known.turn()?.register_for(wanted);
        }
        let through = scene.devices.values().next().ok_or(Error::Unsupported("registration without a GPU"))?;
        let buffer = memory.register(&UserMemory {
            address,
            bytes,
            coherent: flags.get(HsaMemFlags::CoarseGrain) == 0,
            extended_coherent: flags.get(HsaMemFlags::ExtendedCoherent) != 0,
            through: &**through,
        })?;
        let allocation = Allocation::new(Kind::User, (0, None), bytes, flags, buffer);
        if let Some(wanted) = wanted {
            allocation.turn()?.register_for(wanted)?;
        }
        self.table.insert(allocation);
        Ok(())
    }

    /// Ends a registration; the last one frees what it made.
    pub fn deregister(&self, platform: &dyn Platform, address: u64) -> Result<(), Error> {
        let memory = memory_of(platform)?;
        let Some(known) = self.table.user_at(address, 0).or_else(|| self.table.at(address)) else {
            return if memory.needs_registration() { Err(Error::NotRegistered(address)) } else { Ok(()) };
        };
        let turn = known.turn()?;
        if known.kind() != Kind::User {
            return turn.forget_nodes();
        }
        if turn.deregister() {
            if let Err(error) = known.buffer().free() {
                turn.keep();
                return Err(error.into());
            }
            turn.gone();
            self.table.remove(&known);
        }
        Ok(())
    }

    /// Lets GPUs use memory: those at `nodes`, or those that it is registered for, or all that can. The result is
    /// where they see `address`.
    pub fn map(&self, scene: &Scene, (address, bytes): (u64, u64), nodes: Option<&[u32]>) -> Result<u64, Error> {
        memory_of(&*scene.platform)?;
        if let Some(scratch) = self.table.scratch_around(address) {
            let _turn = scratch.turn()?;
            scratch.buffer().back(address, bytes, true)?;
            return Ok(address);
        }
        let Some(known) = self.table.user_at(address, 0).or_else(|| self.table.at(address)) else {
            let memory = memory_of(&*scene.platform)?;
            return if memory.needs_registration() { Err(Error::Unknown(address)) } else { Ok(address) };
        };
        if !known.buffer().is_mappable() {
            return Err(Error::NotMappable(address));
        }
        let wanted = nodes.map(|nodes| scene.gpus(nodes)).transpose()?;
        let turn = known.turn()?;
        let registered = turn.registered();
        if let Some(wanted) = &wanted {
            let allowed = |device: &Arc<dyn Device>| {
                registered.as_ref().is_none_or(|list| list.iter().any(|known| known.id() == device.id()))
            };
            if let Some(foreign) = wanted.iter().find(|device| !allowed(device)) {
                let node = scene.node_of(foreign.id()).unwrap_or(u32::MAX);
                return Err(Error::ForeignNode { address, node });
            }
        }
        let exact = wanted.is_some();
        let wanted = wanted.or(registered).unwrap_or_else(|| match known.owner() {
            Some(owner) => scene.peers(owner),
            None => scene.devices.values().cloned().collect(),
        });
        let is_in = |list: &[Arc<dyn Device>], device: &Arc<dyn Device>| list.iter().any(|d| d.id() == device.id());
        let mapped = turn.mapped();
        let surplus: Vec<_> = mapped.iter().filter(|device| exact && !is_in(&wanted, device)).cloned().collect();
        let fresh: Vec<_> = wanted.iter().filter(|device| !is_in(&mapped, device)).cloned().collect();
        if !fresh.is_empty() {
            known.buffer().map(&fresh)?;
            turn.add_mapped(fresh);
        }
        if !surplus.is_empty() {
            known.buffer().unmap(&surplus)?;
            turn.remove_mapped(&surplus);
        }
        turn.count_map();
        Ok(known.buffer().address())
    }

    /// Takes memory away from GPUs: user memory when it was mapped for the last time.
    pub fn unmap(&self, platform: &dyn Platform, address: u64) -> Result<(), Error> {
        let memory = memory_of(platform)?;
        if let Some(scratch) = self.table.scratch_around(address) {
            let _turn = scratch.turn()?;
            return Ok(scratch.buffer().back(address, 0, false)?);
        }
        let Some(known) = self.table.user_at(address, 0).or_else(|| self.table.at(address)) else {
            return if memory.needs_registration() { Err(Error::Unknown(address)) } else { Ok(()) };
        };
        let turn = known.turn()?;
        let mapped = turn.mapped();
        if known.kind() == Kind::User && turn.is_mapped_again() || mapped.is_empty() {
            turn.count_unmap();
            return Ok(());
        }
        known.buffer().unmap(&mapped)?;
        turn.remove_mapped(&mapped);
        turn.count_unmap();
        Ok(())
    }

    /// What is known of an address anywhere inside an allocation or registered memory.
    ///
    /// Nodes are told as far as there is a `scene`.
    pub fn pointer_info(
        &self,
        platform: &dyn Platform,
        scene: Option<&Scene>,
        address: u64,
    ) -> Result<PointerInfo, Error> {
        memory_of(platform)?;
        let known = self.table.around(address).ok_or(Error::Unknown(address))?;
        let (registered, mapped, user_data) = known.told();
        let nodes = |devices: &[Arc<dyn Device>]| scene.map(|scene| scene.nodes_of(devices)).unwrap_or_default();
        Ok(PointerInfo {
            kind: match known.kind() {
                Kind::User => HSA_POINTER_REGISTERED_USER,
                Kind::Allocated => HSA_POINTER_ALLOCATED,
                Kind::Addresses => HSA_POINTER_RESERVED_ADDR,
            },
            node: known.node(),
            flags: known.flags(),
            cpu_address: known.buffer().cpu_address(),
            gpu_address: known.buffer().address(),
            bytes: known.bytes(),
            registered: self.list(nodes(&registered)),
            mapped: self.list(nodes(&mapped)),
            user_data,
        })
    }

    /// Keeps a word of the caller with the allocation or registered memory that begins at `address`, or else that has it
    /// inside.
    pub fn set_user_data(&self, platform: &dyn Platform, address: u64, data: usize) -> Result<(), Error> {
        memory_of(platform)?;
        let known = self.table.at(address).or_else(|| self.table.user_at(address, 0));
        known.or_else(|| self.table.around(address)).ok_or(Error::Unknown(address))?.set_user_data(data);
        Ok(())
    }

    /// The one copy of a list that callers get.
    fn list(&self, nodes: Vec<u32>) -> &'static [u32] {
        if nodes.is_empty() {
            return &[];
        }
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lists.get(&nodes[..]) {
            return known;
        }
        let list: &'static [u32] = nodes.leak();
        lists.insert(list);
        list
    }
}
