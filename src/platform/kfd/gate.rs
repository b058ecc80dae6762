//! Which GPUs of the topology this process may use: those whose render node opens and whose VM it can have.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;

use super::super::{Host, MemoryOptions};
use super::binding::{Binding, RenderNode};
use super::calls;
use super::ioctl::kfd_process_device_apertures;
use super::sysfs::{Candidate, Sight, Visibility};
use super::{Error, host, is_shortage};

/// A GPU that was let through.
#[derive(Debug, Clone)]
pub(super) struct Admitted {
    pub(super) render: Arc<RenderNode>,
    pub(super) apertures: kfd_process_device_apertures,
}

/// The gate of one snapshot.
pub(super) struct Gate<'a> {
    host: &'a Host,
    binding: &'a Binding,
    no_cache: bool,
    apertures: Vec<kfd_process_device_apertures>,
    /// By `gpu_id`.
    admitted: RefCell<BTreeMap<u32, Admitted>>,
}

impl<'a> Gate<'a> {
    /// Asks the kernel which GPUs the process has, and finds the addresses that they share with it.
    pub(super) fn new(host: &'a Host, binding: &'a Binding, options: &MemoryOptions) -> Result<Self, Error> {
        let apertures = calls::get_process_apertures(binding.kfd().as_fd())?;
        binding.share(&apertures, options)?;
        Ok(Self { host, binding, no_cache: options.disable_cache, apertures, admitted: RefCell::default() })
    }

    /// The GPUs that were let through, by `gpu_id`.
    pub(super) fn admitted(self) -> BTreeMap<u32, Admitted> {
        self.admitted.into_inner()
    }
}

/// A render node that does not open (kfd.md 2.2). ENOENT and EPERM are how a container is kept from a GPU, so nobody
/// misses it; file permissions are a mistake of the machine.
fn unopened(error: host::Error) -> Result<Sight, Error> {
    let errno = error.source.raw_os_error().unwrap_or(libc::EIO);
    if is_shortage(errno) {
        return Err(error.into());
    }
    let expected = !matches!(errno, libc::ENOENT | libc::EPERM);
    Ok(Sight::Hidden { reason: error.to_string(), expected })
}

impl Visibility for Gate<'_> {
    fn look(&self, gpu: &Candidate) -> Result<Sight, Error> {
        let path = self.host.path(&format!("/dev/dri/renderD{}", gpu.render_minor));
        let hidden = |reason: String| Ok(Sight::Hidden { reason, expected: true });
        if gpu.gpu_id == 0 {
            return hidden("it has compute units and no gpu_id".to_owned());
        }
        let render = match self.binding.render(&path, gpu.render_minor) {
            Ok(render) => render,
            Err(source) => return unopened(host::Error { path, source }),
        };
        let Some(apertures) = self.apertures.iter().find(|entry| entry.gpu_id == gpu.gpu_id) else {
            return hidden("the kernel has given this process no address ranges on it".to_owned());
        };
        match self.binding.bind(&render, gpu.gpu_id, self.no_cache) {
            Ok(()) => {}
            Err(error) if is_shortage(error.errno) => return Err(error.into()),
            Err(error) => return hidden(format!("{} as its VM: {error}", path.display())),
        }
        self.admitted.borrow_mut().insert(gpu.gpu_id, Admitted { render, apertures: *apertures });
        Ok(Sight::Visible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_render_node_that_does_not_open_means() {
        let of = |errno| {
            let path = "/dev/dri/renderD128".into();
            unopened(host::Error { path, source: std::io::Error::from_raw_os_error(errno) })
        };
        for errno in [libc::ENOENT, libc::EPERM] {
            assert!(matches!(of(errno), Ok(Sight::Hidden { expected: false, .. })), "{errno}");
        }
        for errno in [libc::EACCES, libc::ENODEV, libc::EIO] {
            let Ok(Sight::Hidden { reason, expected: true }) = of(errno) else { panic!("{errno}") };
            assert!(reason.starts_with("/dev/dri/renderD128: "), "{reason}");
        }
        for errno in [libc::EMFILE, libc::ENFILE, libc::ENOMEM] {
            assert!(of(errno).is_err(), "the process is short of something: {errno}");
        }
    }
}
