//! What a process has from the kernel's KFD driver and cannot have twice: the open `/dev/kfd`, the render nodes, and
//! the GPU VMs that belong to them.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::Host;
use super::super::file::{DeviceFile, Trace};
use super::calls::{self, CallError};
use super::ioctl::*;
use super::{DEVICE, Error};

/// An open render node, and the GPU whose VM it carries.
#[derive(Debug)]
pub struct RenderNode {
    file: DeviceFile,
    /// `gpu_id` of the GPU that ACQUIRE_VM bound to this file, 0 for none.
    bound: AtomicU32,
    /// `gpu_id` of the GPU whose memory policy has been set, 0 for none.
    settled: AtomicU32,
}

/// The files of one process. It lives as long as the process uses KFD or may do so again: the kernel keeps the VM of
/// each GPU bound to the first render file until the process ends (kfd-kernel.md section 6), so a later open needs
/// the very same files.
#[derive(Debug)]
pub struct Binding {
    path: PathBuf,
    kfd: DeviceFile,
    version: (u32, u32),
    /// By minor number.
    renders: Mutex<BTreeMap<u32, Arc<RenderNode>>>,
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
        let renders = kept.map(|kept| kept.renders().clone()).unwrap_or_default();
        Ok(Arc::new(Self { path, kfd, version, renders: Mutex::new(renders) }))
    }

    fn renders(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<RenderNode>>> {
        self.renders.lock().unwrap_or_else(PoisonError::into_inner)
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
        let node = Arc::new(RenderNode { file, bound: AtomicU32::new(0), settled: AtomicU32::new(0) });
        self.renders().insert(minor, Arc::clone(&node));
        Ok(node)
    }

    /// Binds the VM of `node` to the GPU and sets the GPU's memory policy, each once in the life of the process: the
    /// kernel refuses a second ACQUIRE_VM from another file (kfd-kernel.md 2.4, B003).
    pub fn bind(&self, node: &RenderNode, gpu_id: u32) -> Result<(), CallError> {
        if node.bound.load(Ordering::Acquire) != gpu_id {
            calls::acquire_vm(self.kfd.as_fd(), node.file.as_fd(), gpu_id)?;
            node.bound.store(gpu_id, Ordering::Release);
        }
        if node.settled.load(Ordering::Acquire) != gpu_id {
            // Without an alternate aperture: no address range is set aside yet, and gfx9 and later ignore it.
            let policy = kfd_ioctl_set_memory_policy_args {
                gpu_id,
                default_policy: KFD_IOC_CACHE_POLICY_NONCOHERENT,
                alternate_policy: KFD_IOC_CACHE_POLICY_COHERENT,
                ..kfd_ioctl_set_memory_policy_args::default()
            };
            calls::set_memory_policy(self.kfd.as_fd(), policy)?;
            node.settled.store(gpu_id, Ordering::Release);
        }
        Ok(())
    }
}
