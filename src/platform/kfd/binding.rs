//! What a process has from the kernel's KFD driver and cannot have twice: the open `/dev/kfd`, the render nodes, and
//! the GPU VMs that belong to them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::super::file::{DeviceFile, Trace};
use super::super::{Host, MemoryOptions};
use super::calls::{self, CallError};
use super::drm::{self, Graphics, Libdrm, LibdrmError};
use super::events::EventPage;
use super::ioctl::*;
use super::mmio::MmioPage;
use super::space::{self, Space};
use super::{DEVICE, Error};

/// An open render node, and the GPU whose VM it carries.
#[derive(Debug)]
pub struct RenderNode {
    file: DeviceFile,
    /// `gpu_id` of the GPU that ACQUIRE_VM bound to this file, 0 for none.
    pub(super) bound: AtomicU32,
    /// `gpu_id` of the GPU whose memory policy has been set, 0 for none.
    settled: AtomicU32,
    graphics: OnceLock<Result<Graphics, CallError>>,
    mmio: OnceLock<Option<MmioPage>>,
    drm: OnceLock<Result<usize, LibdrmError>>,
}

impl RenderNode {
    /// What the graphics driver says of the GPU, asked once.
    pub(super) fn graphics(&self) -> Result<Graphics, CallError> {
        *settled(&self.graphics, || drm::graphics(self.file.as_fd()))
    }

    /// A device of libdrm on this file, as an address: made once, and never unmade, as callers keep it.
    pub(super) fn drm_device(&self) -> Result<usize, LibdrmError> {
        settled(&self.drm, || Libdrm::load()?.device(self.file.as_fd())).clone()
    }

    /// The page of remapped registers of its GPU, made once; `None` where the GPU has none.
    pub(super) fn mmio(&self, binding: &Arc<Binding>) -> Option<&MmioPage> {
        let gpu_id = self.bound.load(Ordering::Acquire);
        settled(&self.mmio, || MmioPage::new(binding, gpu_id).ok()).as_ref()
    }
}

/// What the cell holds, found out first if it is empty. No lock is held meanwhile: of two threads that find it out at
/// once, one keeps its answer.
fn settled<T>(cell: &OnceLock<T>, find: impl FnOnce() -> T) -> &T {
    match cell.get() {
        Some(known) => known,
        None => {
            let found = find();
            cell.get_or_init(|| found)
        }
    }
}

impl AsFd for RenderNode {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// What the kernel keeps for a process until it ends, whatever is closed meanwhile.
#[derive(Debug, Default)]
struct Lasting {
    /// By minor number.
    renders: Mutex<BTreeMap<u32, Arc<RenderNode>>>,
    space: Mutex<Option<Arc<Space>>>,
    /// A GPU has memory of its own.
    discrete: AtomicBool,
    /// GPUs, by id, that have a scratch area.
    scratch: Mutex<BTreeSet<u32>>,
    event_page: EventPage,
}

/// The files of one process. It lives as long as the process uses KFD or may do so again: the kernel keeps the VM of
/// each GPU bound to the first render file until the process ends (kfd-kernel.md section 6), so a later open needs
/// the very same files.
#[derive(Debug)]
pub struct Binding {
    path: PathBuf,
    kfd: DeviceFile,
    version: (u32, u32),
    lasting: Arc<Lasting>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Binding {
    /// Opens the device, or takes over what an earlier open of this process left in `kept`.
    pub fn open(host: &Host, kept: Option<&Arc<Self>>) -> Result<Arc<Self>, Error> {
        let path = host.path(DEVICE);
        let kept = kept.filter(|kept| kept.path == path);
        if let Some(kept) = kept.filter(|kept| kept.kfd.is_intact()) {
            return Ok(Arc::clone(kept));
        }
        let device = |source| Error::Device { path: path.clone(), source };
        let kfd = DeviceFile::open(&path).map_err(device)?;
        let version = calls::get_version(kfd.as_fd())?;
        if version.0 != KFD_IOCTL_MAJOR_VERSION {
            return Err(Error::Version { path, major: version.0, minor: version.1 });
        }
        // Somebody closed the descriptor of `kept`; its render nodes still carry the VMs.
        let lasting = kept.map(|kept| Arc::clone(&kept.lasting)).unwrap_or_default();
        Ok(Arc::new(Self { path, kfd, version, lasting }))
    }

    fn renders(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<RenderNode>>> {
        lock(&self.lasting.renders)
    }

    /// The open `/dev/kfd`.
    pub fn kfd(&self) -> &DeviceFile {
        &self.kfd
    }

    /// Version of the kernel's interface: major, minor.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Every file that is open here.
    pub fn traces(&self) -> Vec<Trace> {
        let renders = self.renders();
        std::iter::once(self.kfd.trace()).chain(renders.values().map(|node| node.file.trace())).collect()
    }

    /// The render node at `path`, whose minor number is `minor`: opened once in the life of the process.
    pub fn render(&self, path: &Path, minor: u32) -> io::Result<Arc<RenderNode>> {
        let known = self.renders().get(&minor).cloned();
        if let Some(known) = known.filter(|node| node.file.is_intact()) {
            return Ok(known);
        }
        let file = DeviceFile::open(path)?;
        let node = Arc::new(RenderNode {
            file,
            bound: AtomicU32::new(0),
            settled: AtomicU32::new(0),
            graphics: OnceLock::new(),
            mmio: OnceLock::new(),
            drm: OnceLock::new(),
        });
        self.renders().insert(minor, Arc::clone(&node));
        Ok(node)
    }

    /// Binds the VM of `node` to the GPU and sets the GPU's memory policy, each once in the life of the process: the
    /// kernel refuses a second ACQUIRE_VM from another file (kfd-kernel.md 2.4, B003).
    pub fn bind(&self, node: &RenderNode, gpu_id: u32, no_cache: bool) -> Result<(), CallError> {
        if node.bound.load(Ordering::Acquire) != gpu_id {
            calls::acquire_vm(self.kfd.as_fd(), node.file.as_fd(), gpu_id)?;
            node.bound.store(gpu_id, Ordering::Release);
        }
        if node.settled.load(Ordering::Acquire) != gpu_id {
            let (base, size) = self.space().map_or((0, 0), |space| space.coherent());
            let default_policy =
                if no_cache { KFD_IOC_CACHE_POLICY_COHERENT } else { KFD_IOC_CACHE_POLICY_NONCOHERENT };
            let policy = kfd_ioctl_set_memory_policy_args {
                gpu_id,
                default_policy,
                alternate_policy: KFD_IOC_CACHE_POLICY_COHERENT,
                alternate_aperture_base: base,
                alternate_aperture_size: size,
                ..kfd_ioctl_set_memory_policy_args::default()
            };
            calls::set_memory_policy(self.kfd.as_fd(), policy)?;
            node.settled.store(gpu_id, Ordering::Release);
        }
        Ok(())
    }

    /// The render nodes that carry the VM of a GPU.
    pub(super) fn bound_renders(&self) -> Vec<Arc<RenderNode>> {
        let bound = |render: &&Arc<RenderNode>| render.bound.load(Ordering::Acquire) != 0;
        self.renders().values().filter(bound).cloned().collect()
    }

    /// The addresses that the program shares with its GPUs; `None` before the first snapshot, and where GPUs have
    /// address spaces of their own.
    pub(super) fn space(&self) -> Option<Arc<Space>> {
        lock(&self.lasting.space).clone()
    }

    /// Finds out which addresses `gpus` share with the program. What has been set aside once is kept.
    pub(super) fn share(&self, gpus: &[kfd_process_device_apertures], options: &MemoryOptions) -> Result<(), Error> {
        if self.space().is_some_and(|space| space.suits(gpus)) {
            return Ok(());
        }
        let made =
            Space::new(gpus, options).map_err(|source| Error::NoAddress { bytes: space::LEAST_RESERVED, source });
        *lock(&self.lasting.space) = made?.map(Arc::new);
        Ok(())
    }

    /// Whether a GPU has memory of its own.
    pub(super) fn has_discrete_gpu(&self) -> bool {
        self.lasting.discrete.load(Ordering::Acquire)
    }

    /// Notes that one has.
    pub(super) fn note_discrete_gpu(&self, discrete: bool) {
        self.lasting.discrete.store(discrete, Ordering::Release);
    }

    /// Reserves the one scratch area of a GPU; false when it has one.
    pub(super) fn begin_scratch(&self, gpu_id: u32) -> bool {
        lock(&self.lasting.scratch).insert(gpu_id)
    }

    /// Lets the GPU have another one.
    pub(super) fn end_scratch(&self, gpu_id: u32) {
        lock(&self.lasting.scratch).remove(&gpu_id);
    }

    /// The page of event slots.
    pub(super) fn event_page(&self) -> &EventPage {
        &self.lasting.event_page
    }
}
