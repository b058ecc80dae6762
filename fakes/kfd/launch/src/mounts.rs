//! What the program sees of a machine's files: `/dev` and parts of `/sys`, mounted in a namespace of its own.
//!
//! Touches the mounts of the calling process, which must be in that namespace, and the files of the fake that they show.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rocdxg_fake_kfd::FILE_BYTES;
use rocdxg_fake_kfd::setup::Setup;
use rocdxg_fake_kfd::tree::TOPOLOGY;

use crate::sys;

/// Nodes of the real `/dev` that are there as well, and its file systems.
const NODES: [&str; 12] =
    ["null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "shm", "mqueue", "hugepages"];

/// Links of `/dev`.
const LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Directories of sysfs with entries of the fake, and how the names start that are no longer the host's.
const GRAFTS: [(&str, &str); 4] =
    [("sys/devices/virtual", "kfd"), ("sys/class", "kfd"), ("sys/module", "amdgpu"), ("sys/dev/char", "226:")];

/// A part that could not be mounted.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct MountError {
    what: String,
    source: Error,
}

/// Names what failed.
fn of(what: &Path) -> impl FnOnce(Error) -> MountError {
    move |source| MountError { what: what.display().to_string(), source }
}

/// Mounts everything below `base`, the program's future root; `foreign` tells that it is not this process's own.
pub fn mount_all(setup: &Setup, base: &Path, foreign: bool) -> core::result::Result<(), MountError> {
    let unshared = sys::private_mounts();
    unshared.map_err(|source| MountError { what: "private mount namespace (only root has them)".into(), source })?;
    let (dev, host) = (base.join("dev"), path_of(Path::new("/dev")).map_err(of(Path::new("/dev")))?);
    if foreign {
        let (proc, own) = (base.join("proc"), base.join("sys"));
        sys::mount(Path::new("proc"), &proc, c"proc", 0, c"").map_err(of(&proc))?;
        bind(Path::new("/sys"), &own).map_err(of(&own))?;
    }
    // Two of them: the first is covered by the second and only holds what is bound from it.
    tmpfs(&dev).map_err(of(&dev))?;
    let stage = path_of(&dev).map_err(of(&dev))?;
    write_stage(setup, &dev).map_err(of(&dev))?;
    for (part, prefix) in GRAFTS {
        let target = base.join(part);
        let grafted = graft(&target, &at(&stage, part), prefix);
        // Clients live without the others.
        if part == GRAFTS[0].0 {
            grafted.map_err(of(&target))?;
        }
    }
    tmpfs(&dev).map_err(of(&dev))?;
    write_devices(setup, &dev, &host).map_err(of(&dev))
}

/// A directory by a descriptor: what it is, whatever is mounted on it later.
fn path_of(directory: &Path) -> Result<File> {
    fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(directory)
}

/// A path below such a directory.
fn at(directory: &File, name: impl AsRef<Path>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name)
}

fn tmpfs(target: &Path) -> Result<()> {
    // The files are sparse: a limit below what clients may touch is what they notice.
    sys::mount(Path::new("rocdxg-fake-kfd"), target, c"tmpfs", 0, c"size=100%,mode=755")
}

fn bind(source: &Path, target: &Path) -> Result<()> {
    sys::mount(source, target, c"", libc::MS_BIND | libc::MS_REC, c"")
}

/// Makes the files of sysfs that are the fake's.
fn write_stage(setup: &Setup, stage: &Path) -> Result<()> {
    let own = stage.join(TOPOLOGY);
    let topology = setup.write(stage)?;
    if topology != own {
        fs::create_dir_all(&own)?;
        bind(&topology, &own)?;
    }
    fs::create_dir_all(stage.join("sys/class/kfd"))?;
    symlink("../../devices/virtual/kfd/kfd", stage.join("sys/class/kfd/kfd"))
}

/// Shows an entry of a directory in another one.
fn show(source: &Path, target: &Path) -> Result<()> {
    let kind = fs::symlink_metadata(source)?.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(source)?, target);
    }
    if kind.is_dir() {
        fs::create_dir(target)?;
    } else {
        File::create(target)?;
    }
    bind(source, target)
}

/// Adds the fake's entries to a directory of sysfs, in place of those that start like them.
fn graft(directory: &Path, own: &Path, prefix: &str) -> Result<()> {
    let old = path_of(directory)?;
    let names = |directory: &Path| -> Result<Vec<_>> {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    };
    let (hosts, ours) = (names(directory)?, names(own)?);
    tmpfs(directory)?;
    for name in hosts.iter().filter(|name| !name.to_string_lossy().starts_with(prefix)) {
        // What the host does not let be seen twice is not seen.
        let _ = show(&at(&old, name), &directory.join(name));
    }
    ours.iter().try_for_each(|name| show(&own.join(name), &directory.join(name)))
}

/// Fills `/dev`.
fn write_devices(setup: &Setup, dev: &Path, host: &File) -> Result<()> {
    for name in NODES {
        match show(&at(host, name), &dev.join(name)) {
            // Not every system has all.
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    for (name, target) in LINKS {
        symlink(target, dev.join(name))?;
    }
    fs::create_dir(dev.join("dri"))?;
    // What the device cgroup hides does not open; a file can only be absent.
    let shown = setup.kernel.config().gpus.iter().filter(|gpu| !gpu.hidden);
    let nodes = shown.map(|gpu| render_node(gpu.render_minor)).chain(["kfd".to_owned()]);
    for node in nodes {
        let file = File::create(dev.join(node))?;
        file.set_len(FILE_BYTES)?;
        file.set_permissions(fs::Permissions::from_mode(0o666))?;
    }
    Ok(())
}

/// Path of a render node below `/dev`.
pub fn render_node(minor: u32) -> String {
    format!("dri/renderD{minor}")
}
