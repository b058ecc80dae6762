//! Software amdkfd and amdgpu: what `/dev/kfd`, the render nodes and the topology in sysfs answer, over the software
//! machine of `rocdxg-fake-gpu`.
//!
//! [`Kernel`] is the driver for any number of processes; a front-end brings it opens, ioctls and exits, each with a
//! [`Caller`] through which the driver reaches the memory and the descriptors of the process. Every argument is
//! checked as the kernel checks it (kfd-kernel.md), what a client does against the contract is recorded, every
//! kernel object is counted. [`Tree`] writes the topology. Touches no device and no process but through the caller.
//!
//! The map: `kernel` (state, opens, dispatch) -> `calls`, `memory` and `events` (`/dev/kfd`), `drm` (render node), `mmap` -> `abi`, `inject`, `gpu`;
//! `tree` -> `caches`, `save_area` -> `gpu`. `setup` is what the front-ends have in common.

mod abi;
mod caches;
mod calls;
mod drm;
mod errno;
mod events;
mod gpu;
mod inject;
mod kernel;
mod memory;
mod mmap;
mod mode;
mod save_area;
pub mod setup;
pub mod tree;
mod userptr;

pub use drm::{DRM_MAJOR, KFD_MAJOR};
pub use errno::{Answer, Errno};
pub use events::{Fill, Wait};
pub use gpu::Gpu;
pub use kernel::{Caller, Config, Descriptor, FileId, Kernel, Ledger, Reply};
pub use mmap::{FILE_BYTES, PAGE, Pages, Stretch};
pub use mode::Mode;
pub use save_area::SaveArea;
pub use tree::Tree;
pub use userptr::pinnable;
