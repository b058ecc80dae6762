//! Which platform a process uses: the one that the machine has, or the one that the user names.

use std::path::Path;
use std::sync::Arc;

use super::dxg::dxcore::Lookup;
use super::file::Trace;
use super::kfd::binding::Binding;
use super::{Error, Host, Platform, dxg, kfd};

/// What the user asks for (`ROCDXG_PLATFORM`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// `/dev/kfd` where it can be used, else `/dev/dxg`.
    #[default]
    Automatic,
    /// `/dev/kfd` only.
    Kfd,
    /// `/dev/dxg` only.
    Dxg,
}

/// What must outlive the last close, because the kernel ties it to the process and not to an open: handed to the next
/// open of the process, and to no other process.
#[derive(Debug, Default)]
pub struct Kept {
    kfd: Option<Arc<Binding>>,
}

impl Kept {
    /// Every file that is open here.
    pub fn files(&self) -> Vec<Trace> {
        self.kfd.iter().flat_map(|binding| binding.traces()).collect()
    }
}

/// What is asked of [`open`].
pub struct Request<'a> {
    /// The machine.
    pub host: &'a Host,
    /// Which platforms to try.
    pub choice: Choice,
    /// The program's own libdxcore: it wins over everything else.
    pub embedded: Option<Lookup>,
    /// Shared object that knows AMD's private data, instead of the one beside the library (DXG).
    pub provider: Option<&'a Path>,
}

/// What [`open`] gives.
pub struct Opened {
    /// The platform.
    pub platform: Arc<dyn Platform>,
    /// A device that is there and cannot be used, although another can.
    pub remarks: Vec<String>,
}

/// Opens the platform of this machine. [`Error::NoPlatform`] says of each one that was tried why it cannot be used.
pub fn open(request: &Request<'_>, kept: &mut Kept) -> Result<Opened, Error> {
    let order = match request.choice {
        _ if request.embedded.is_some() => &[Choice::Dxg][..],
        Choice::Automatic => &[Choice::Kfd, Choice::Dxg],
        Choice::Kfd => &[Choice::Kfd],
        Choice::Dxg => &[Choice::Dxg],
    };
    let mut failed = Vec::new();
    for choice in order {
        match open_one(*choice, request, kept) {
            Ok(platform) => {
                let remarks = failed.iter().filter(|error| !is_absent(error)).map(|e| format!("not used: {e}"));
                return Ok(Opened { platform, remarks: remarks.collect() });
            }
            Err(error) => failed.push(error),
        }
    }
    Err(Error::NoPlatform(failed))
}

fn open_one(choice: Choice, request: &Request<'_>, kept: &mut Kept) -> Result<Arc<dyn Platform>, Error> {
    if choice == Choice::Dxg {
        return Ok(Arc::new(dxg::Dxg::open(request.host, request.embedded, request.provider)?));
    }
    let opened = kfd::Kfd::open(request.host, kept.kfd.as_ref())?;
    kept.kfd = Some(Arc::clone(opened.binding()));
    Ok(Arc::new(opened))
}

/// The machine does not have the device at all.
fn is_absent(error: &Error) -> bool {
    match error {
        Error::Dxg(dxg::Error::Device { source, .. }) | Error::Kfd(kfd::Error::Device { source, .. }) => {
            source.kind() == std::io::ErrorKind::NotFound
        }
        _ => false,
    }
}
