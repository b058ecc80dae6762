//! Memory of this process that GPUs can use: what is allocated and registered, who may use it, what a pointer is.
//!
//! `table` holds what is alive and answers for any address without a kernel call, out of an `index`; `flags` decides
//! what an allocation is from what its caller said; `fragments` cuts small ones from large ones. The pages themselves
//! are the platform's. May call: `platform`, `topology`, `abi`.

mod flags;
mod fragments;
mod index;
#[cfg(test)]
mod nowhere;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::flags::Route;
use self::fragments::{BLOCK_BYTES, Fragments};
use self::table::{Allocation, Guest, Kind, Lists, Table, Turn};
use crate::abi::{
    HSA_LINKPROPERTY, HSA_POINTER_ALLOCATED, HSA_POINTER_REGISTERED_SHARED, HSA_POINTER_REGISTERED_USER,
    HSA_POINTER_RESERVED_ADDR, HSA_POINTER_TYPE, HsaMemFlags,
};
use crate::platform::memory::{Buffer, Foreign, Imported, Place, Surface, UserMemory, Wanted};
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
    /// Other memory is mapped at some of the addresses.
    #[error("other memory is mapped at some of the addresses from {0:#x} on")]
    HasGuests(u64),
    /// The addresses are not reserved for what is to be mapped there.
    #[error("{bytes} bytes at {address:#x} are no reserved addresses")]
    NotReserved {
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The handle names nothing.
    #[error("{0:#x} names no memory")]
    NoHandle(u64),
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

/// What is open at the moment of a call.
pub struct Stage {
    /// The open platform.
    pub platform: Arc<dyn Platform>,
    /// The machine, while there is a snapshot of it.
    pub scene: Option<Scene>,
}

/// What the machine is at the moment of a call.
pub struct Scene {
    /// No other scene of the process has it; never 0.
    pub number: u64,
    /// The open platform.
    pub platform: Arc<dyn Platform>,
    /// The nodes.
    pub snapshot: Snapshot,
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
        platform::node_of(&self.devices, device)
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

/// Memory that was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Where GPUs see it.
    pub address: u64,
    /// Bytes that its maker asked for.
    pub bytes: u64,
    /// Node that uses it.
    pub node: u32,
    /// How a surface in it is laid out, where its maker tells.
    pub surface: Option<Surface>,
}

/// The memory of a process.
#[derive(Default)]
pub struct Memory {
    table: Table,
    /// All lists of nodes that were ever told. Callers read them whenever they like, so none is ever taken back; there
    /// are no more than combinations of nodes that somebody used.
    lists: Mutex<BTreeSet<&'static Lists>>,
    fragments: Fragments,
    handles: Mutex<Handles>,
}

/// Handles that callers have. They are numbers that are never given twice, and no addresses.
#[derive(Default)]
struct Handles {
    last: u64,
    known: BTreeMap<u64, Handle>,
}

/// What a handle names.
#[derive(Clone)]
struct Handle {
    allocation: Arc<Allocation>,
    /// It was taken in by this handle, and goes with it.
    own: bool,
}

/// Handles begin there, so that a number of another origin is not taken for one.
const FIRST_HANDLE: u64 = 0x7264_7867_0000_0000;

fn memory_of(platform: &dyn Platform) -> Result<&dyn platform::memory::Memory, Error> {
    Ok(platform.memory()?)
}

impl Memory {
    /// Allocates; the result is the address, for CPU and GPUs.
    pub fn allocate(&self, scene: &Scene, request: &Request) -> Result<u64, Error> {
        let memory = memory_of(&*scene.platform)?;
        scene.snapshot.node(request.node)?;
        let flags = request.flags;
        flags::check(flags, request.bytes, request.alignment)?;
        flags::check_place(flags, request.alignment, request.address)?;
        let is_gpu = scene.devices.contains_key(&request.node);
        let route = flags::route(flags, is_gpu);
        let place = match route {
            Route::Scratch | Route::Device => Place::Device(scene.gpu(request.node)?),
            Route::Host => {
                let anchor = match request.anchor {
                    Some(node) => Some(scene.gpu(node)?),
                    None if is_gpu => scene.devices.get(&request.node),
                    None => scene.devices.values().next(),
                };
                let numa_node = scene.snapshot.numa_nodes.get(&request.node).copied();
                Place::Host { numa_node, through: anchor }
            }
        };
        if route == Route::Scratch && request.alignment != 0 {
            return Err(Error::NotImplemented("scratch memory with an alignment"));
        }
        let Request { bytes, alignment, address, .. } = *request;
        let wanted = Wanted { place, bytes, alignment, address, flags };
        let piece = match &wanted.place {
            Place::Device(device) if memory.cuts_pieces() && flags::may_be_cut(flags) && alignment <= BLOCK_BYTES => {
                self.piece(memory, device, &wanted)?
            }
            _ => None,
        };
        let buffer = match piece {
            Some(piece) => piece,
            None => self.whole(memory, &wanted)?,
        };
        let bare = flags.get(HsaMemFlags::OnlyAddress) != 0;
        let kind = if bare { Kind::Addresses } else { Kind::Allocated };
        let owner = match &wanted.place {
            Place::Device(_) => Some(request.node),
            // Once they are mapped they have memory of one GPU, which the others do not reach.
            Place::Host { through: Some(anchor), .. } if bare => scene.node_of(anchor.id()),
            Place::Host { .. } => None,
        };
        let start = buffer.address();
        self.table.insert(Allocation::new(kind, (request.node, owner), bytes, flags, buffer));
        Ok(start)
    }

    /// A piece of a block of the device, when the size is one for pieces.
    fn piece(
        &self,
        memory: &dyn platform::memory::Memory,
        device: &Arc<dyn Device>,
        wanted: &Wanted<'_>,
    ) -> Result<Option<Arc<dyn Buffer>>, Error> {
        let Some(bytes) = fragments::rounded(wanted.bytes) else { return Ok(None) };
        let make = || {
            let place = Place::Device(device);
            memory.allocate(&Wanted { place, bytes: BLOCK_BYTES, alignment: 0, address: None, flags: wanted.flags })
        };
        let key = (device.id(), wanted.flags.0);
        match self.fragments.allocate(key, bytes, wanted.alignment, make) {
            Ok(piece) => Ok(piece.map(|piece| Arc::new(piece) as Arc<dyn Buffer>)),
            // There may be room for what is wanted where there is none for a block.
            Err(error) if error.is_exhaustion() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// An allocation of its own.
    fn whole(&self, memory: &dyn platform::memory::Memory, wanted: &Wanted<'_>) -> Result<Arc<dyn Buffer>, Error> {
        self.without_spare_blocks(|| memory.allocate(wanted))
    }

    /// Work that takes memory; when that is short, once more after the blocks that nobody uses are given back.
    fn without_spare_blocks<T>(&self, work: impl Fn() -> Result<T, platform::Error>) -> Result<T, Error> {
        match work() {
            Err(error) if error.is_exhaustion() && self.fragments.trim() => Ok(work()?),
            outcome => Ok(outcome?),
        }
    }

    /// A first open: nothing more is cut from the blocks that an earlier one left.
    pub fn begin(&self) {
        self.fragments.reset();
    }

    /// Gives back the blocks that nobody uses.
    pub fn trim(&self) {
        self.fragments.trim();
    }

    /// Frees an allocation. After an error it is as it was.
    pub fn free(&self, platform: &dyn Platform, address: u64) -> Result<(), Error> {
        memory_of(platform)?;
        let found = self.table.at(address).or_else(|| self.table.scratch_around(address));
        let allocation = found.filter(|found| found.kind() != Kind::User).ok_or(Error::NotRegistered(address))?;
        let turn = allocation.turn()?;
        if turn.has_guests() {
            return Err(Error::HasGuests(address));
        }
        self.end(&allocation, &turn)
    }

    /// Frees what `turn` is the right to. Nobody finds it from the first step on: its addresses may be somebody else's as
    /// soon as they are free.
    fn end(&self, allocation: &Arc<Allocation>, turn: &Turn<'_>) -> Result<(), Error> {
        let entry = self.table.remove(allocation);
        if let Err(error) = allocation.buffer().free() {
            if let Some(entry) = entry {
                self.table.put_back(entry);
            }
            return Err(error.into());
        }
        turn.gone();
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
        loop {
            if let Some(known) = self.table.user_at(address, bytes) {
                match known.turn() {
                    // Its last registration ended meanwhile, and nobody finds it any more.
                    Err(Error::NotRegistered(_)) => continue,
                    turn => return turn?.register_again(&self.table, wanted),
                }
            }
            if let Some(known) = self.table.at(address) {
                let Some(wanted) = wanted else { return Err(Error::IsAllocation(address)) };
                return known.turn()?.register_for(&self.table, wanted);
            }
            let through = scene.devices.values().next().ok_or(Error::Unsupported("registration without a GPU"))?;
            let buffer = memory.register(&UserMemory {
                address,
                bytes,
                coherent: flags.get(HsaMemFlags::CoarseGrain) == 0,
                extended_coherent: flags.get(HsaMemFlags::ExtendedCoherent) != 0,
                through,
            })?;
            let allocation = Arc::new(Allocation::new(Kind::User, (0, None), bytes, flags, buffer));
            if let Some(wanted) = &wanted {
                allocation.turn()?.register_for(&self.table, wanted.clone())?;
            }
            // Of two threads that registered the same, one enters it and the other finds it.
            if self.table.insert_user(&allocation) {
                return Ok(());
            }
        }
    }

    /// Ends a registration; the last one frees what it made.
    pub fn deregister(&self, platform: &dyn Platform, address: u64) -> Result<(), Error> {
        let memory = memory_of(platform)?;
        let Some(known) = self.table.known_by(address) else {
            return if memory.needs_registration() { Err(Error::NotRegistered(address)) } else { Ok(()) };
        };
        let turn = known.turn()?;
        if !matches!(known.kind(), Kind::User | Kind::Shared) {
            return turn.forget_nodes(&self.table);
        }
        let ended = if turn.deregister() { self.end(&known, &turn) } else { Ok(()) };
        ended.inspect_err(|_| turn.keep())
    }

    /// Lets GPUs use memory: those at `nodes`, or those that it is registered for, or all that can. The result is
    /// where they see `address`.
    pub fn map(&self, scene: &Scene, (address, bytes): (u64, u64), nodes: Option<&[u32]>) -> Result<u64, Error> {
        let memory = memory_of(&*scene.platform)?;
        if let Some(scratch) = self.table.scratch_around(address) {
            let _turn = scratch.turn()?;
            scratch.buffer().back(address, bytes, true)?;
            return Ok(address);
        }
        let Some(known) = self.table.known_by(address) else {
            return if memory.needs_registration() { Err(Error::Unknown(address)) } else { Ok(address) };
        };
        if !known.buffer().is_mappable() {
            return Err(Error::NotMappable(address));
        }
        let wanted = nodes.map(|nodes| scene.gpus(nodes)).transpose()?;
        let turn = known.turn()?;
        if turn.has_guests() {
            return Err(Error::HasGuests(address));
        }
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
            self.without_spare_blocks(|| known.buffer().map(&fresh))?;
            turn.add_mapped(&self.table, fresh);
        }
        if !surplus.is_empty() {
            known.buffer().unmap(&surplus)?;
            turn.remove_mapped(&self.table, &surplus);
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
        let Some(known) = self.table.known_by(address) else {
            return if memory.needs_registration() { Err(Error::Unknown(address)) } else { Ok(()) };
        };
        let turn = known.turn()?;
        let mapped = turn.mapped();
        if known.kind() == Kind::User && turn.is_mapped_again() || mapped.is_empty() {
            turn.count_unmap();
            return Ok(());
        }
        known.buffer().unmap(&mapped)?;
        turn.remove_mapped(&self.table, &mapped);
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
        // No scene has the number 0.
        let number = scene.map_or(0, |scene| scene.number);
        let answer = self.table.tell(address, number, |registered, mapped| {
            let nodes = |devices| scene.map(|scene| scene.nodes_of(devices)).unwrap_or_default();
            self.lists(Lists { registered: nodes(registered), mapped: nodes(mapped) })
        });
        let answer = answer.ok_or(Error::Unknown(address))?;
        Ok(PointerInfo {
            kind: match answer.facts.kind {
                Kind::User => HSA_POINTER_REGISTERED_USER,
                Kind::Allocated => HSA_POINTER_ALLOCATED,
                Kind::Addresses => HSA_POINTER_RESERVED_ADDR,
                Kind::Shared => HSA_POINTER_REGISTERED_SHARED,
            },
            node: answer.facts.node,
            flags: answer.facts.flags,
            cpu_address: answer.facts.cpu_start,
            gpu_address: answer.start,
            bytes: answer.facts.bytes,
            registered: &answer.lists.registered,
            mapped: &answer.lists.mapped,
            user_data: answer.user_data,
        })
    }

    /// Makes a file of the memory that `address` lies in, for another process; with it, where in the file's memory the
    /// address lies. The caller closes the file.
    pub fn export(&self, platform: &dyn Platform, (address, bytes): (u64, u64)) -> Result<(OwnedFd, u64), Error> {
        memory_of(platform)?;
        let known = self.table.around(address).ok_or(Error::Unknown(address))?;
        let _turn = known.turn()?;
        let offset = address.saturating_sub(known.buffer().address());
        let end = offset.checked_add(bytes).filter(|end| *end <= known.bytes());
        end.ok_or(Error::Argument("the range goes beyond its allocation"))?;
        let (file, begin) = known.buffer().export()?;
        Ok((file, begin + offset))
    }

    /// Takes in memory that somebody made a file of, for the first of `nodes`, or for any GPU. The file stays the
    /// caller's.
    pub fn import(&self, scene: &Scene, file: BorrowedFd<'_>, nodes: &[u32], size_hint: u64) -> Result<Taken, Error> {
        let memory = memory_of(&*scene.platform)?;
        let mut gpus = scene.gpus(nodes)?;
        if gpus.is_empty() {
            gpus.extend(scene.devices.values().next().cloned());
        }
        let first = gpus.first().ok_or(Error::Unsupported("memory of others without a GPU"))?;
        let node = scene.node_of(first.id()).unwrap_or(0);
        let Imported { buffer, bytes, flags, surface } =
            memory.import(&Foreign { file, device: first, size_hint, place: true })?;
        buffer.map(&gpus)?;
        let address = buffer.address();
        self.table.insert(Allocation::new(Kind::Shared, (node, Some(node)), bytes, flags, buffer));
        Ok(Taken { address, bytes, node, surface })
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn named(&self, handle: u64) -> Result<Handle, Error> {
        self.handles().known.get(&handle).cloned().ok_or(Error::NoHandle(handle))
    }

    fn name(&self, handle: Handle) -> u64 {
        let mut handles = self.handles();
        handles.last += 1;
        let number = FIRST_HANDLE + handles.last;
        handles.known.insert(number, handle);
        number
    }

    /// Takes in memory that somebody made a file of, without a place: its handle, and bytes.
    pub fn import_handle(&self, scene: &Scene, file: BorrowedFd<'_>, node: Option<u32>) -> Result<(u64, u64), Error> {
        let memory = memory_of(&*scene.platform)?;
        let device = match node {
            Some(node) => scene.gpu(node)?,
            None => scene.devices.values().next().ok_or(Error::Unsupported("memory of others without a GPU"))?,
        };
        let node = scene.node_of(device.id()).unwrap_or(0);
        let imported = memory.import(&Foreign { file, device, size_hint: 0, place: false })?;
        let Imported { buffer, bytes, flags, .. } = imported;
        let allocation = Allocation::new(Kind::Shared, (node, Some(node)), bytes, flags, buffer);
        let allocation = self.table.insert(allocation);
        Ok((self.name(Handle { allocation, own: true }), bytes))
    }

    /// A handle of the allocation that begins at `address`.
    pub fn handle_of(&self, platform: &dyn Platform, address: u64) -> Result<u64, Error> {
        memory_of(platform)?;
        let allocation = self.table.at(address).ok_or(Error::NoHandle(address))?;
        Ok(self.name(Handle { allocation, own: false }))
    }

    /// Ends a handle, and what was taken in by it.
    pub fn free_handle(&self, platform: &dyn Platform, handle: u64) -> Result<(), Error> {
        memory_of(platform)?;
        let named = self.named(handle)?;
        if named.own {
            match named.allocation.turn() {
                Ok(turn) => self.end(&named.allocation, &turn)?,
                // It was freed by its address.
                Err(Error::NotRegistered(_)) => {}
                Err(error) => return Err(error),
            }
        }
        // Of two that end it at once, one finds nothing here.
        self.handles().known.remove(&handle).map(|_| ()).ok_or(Error::NoHandle(handle))
    }

    /// Makes a file of what a handle names.
    pub fn export_handle(&self, platform: &dyn Platform, handle: u64) -> Result<OwnedFd, Error> {
        memory_of(platform)?;
        let named = self.named(handle)?;
        let _turn = named.allocation.turn()?;
        Ok(named.allocation.buffer().export()?.0)
    }

    /// Where the CPU sees what a handle names; 0 where it does not.
    pub fn cpu_address(&self, platform: &dyn Platform, handle: u64) -> Result<u64, Error> {
        memory_of(platform)?;
        let named = self.named(handle)?;
        let _turn = named.allocation.turn()?;
        Ok(named.allocation.buffer().cpu_address())
    }

    /// Maps a part of what a handle names at `address`, inside addresses that are reserved, or takes that back.
    pub fn map_handle(
        &self,
        platform: &dyn Platform,
        handle: u64,
        (offset, bytes): (u64, u64),
        address: u64,
        maps: bool,
    ) -> Result<(), Error> {
        memory_of(platform)?;
        let named = self.named(handle)?;
        let reserved = self.table.around(address).filter(|found| {
            let end = (address - found.buffer().address()).checked_add(bytes);
            found.kind() == Kind::Addresses && end.is_some_and(|end| end <= found.bytes())
        });
        let reserved = reserved.ok_or(Error::NotReserved { address, bytes })?;
        // So whoever holds two turns holds that of the addresses first.
        if named.allocation.kind() == Kind::Addresses {
            return Err(Error::NotMappable(named.allocation.buffer().address()));
        }
        let turn = reserved.turn()?;
        if maps && !turn.mapped().is_empty() {
            return Err(Error::NotReserved { address, bytes });
        }
        let _turn = named.allocation.turn()?;
        let buffer = named.allocation.buffer();
        let guest = Guest { address, offset, bytes, name: buffer.address() };
        if !maps {
            buffer.unmap_at(address, offset, bytes)?;
            turn.remove_guest(&guest);
            return Ok(());
        }
        match turn.guest_at(&guest) {
            Some(known) if known == guest => Ok(()),
            Some(_) => Err(Error::NotReserved { address, bytes }),
            None => {
                self.without_spare_blocks(|| buffer.map_at(address, offset, bytes))?;
                turn.add_guest(guest);
                Ok(())
            }
        }
    }

    /// Keeps a word of the caller with the allocation or registered memory that begins at `address`, or else that has it
    /// inside.
    pub fn set_user_data(&self, platform: &dyn Platform, address: u64, data: usize) -> Result<(), Error> {
        memory_of(platform)?;
        let known = self.table.at(address).or_else(|| self.table.user_at(address, 0));
        let known = known.or_else(|| self.table.around(address)).ok_or(Error::Unknown(address))?;
        self.table.set_user_data(&known, data).then_some(()).ok_or(Error::Unknown(address))
    }

    /// The one copy of such lists that callers get.
    fn lists(&self, lists: Lists) -> &'static Lists {
        let mut known = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&lists) {
            return known;
        }
        let kept: &'static Lists = Box::leak(Box::new(lists));
        known.insert(kept);
        kept
    }
}
