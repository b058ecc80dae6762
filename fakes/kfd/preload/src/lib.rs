//! `libfake_kfd.so`: put before a program by `LD_PRELOAD`, it serves `/dev/kfd`, the render nodes and the topology in
//! sysfs from the software driver of `rocdxg-fake-kfd`. Everything else goes to the next definition.
//!
//! Device nodes are memory files, so that dup, fork, exec and close-on-exec are the system's own; which file a
//! descriptor names is told by its inode. Only calls made through libc's symbols are seen. A fork child has a copy of
//! the driver: what it does stays its own.
//!
//! Chosen by the environment, when the first device or sysfs path is touched:
//!
//! | variable | meaning |
//! |---|---|
//! | `ROCDXG_FAKE_MACHINE` | name of a built-in machine or path of a machine file; `gfx1100` when unset |
//! | `ROCDXG_FAKE_KFD_TREE` | directory of a captured topology (the one with `nodes`), served instead; its GPUs are the machine's |
//! | `ROCDXG_FAKE_KERNEL` | `6.1`, `6.12` or `7.2`, the default |
//! | `ROCDXG_FAKE_KFD_FAIL` | `NAME:k[:errno]`, comma-separated: the k-th call of that name fails, 0 is every one |
//! | `ROCDXG_FAKE_REPORT=1` | one line on standard error at exit when the driver recorded violations or VMs were bound |
//!
//! Nonsense in them is one line on standard error, and every device and path is ENODEV.
//!
//! The map: `hooks` (the symbols) -> `front` (the driver of this process, descriptors) -> `paths`, `next`. `control` is the
//! door for tests, declared in `include/rocdxg_fake_kfd.h`.

mod control;
mod front;
mod hooks;
mod next;
mod paths;
mod reads;
mod stats;
