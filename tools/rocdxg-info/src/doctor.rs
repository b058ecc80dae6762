//! Why no device could be opened, as far as files tell it, and what would help.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::Path;

use rocdxg::platform::Host;
use rocdxg::platform::{dxg, kfd};
use rocdxg::process;

use crate::capi::Refused;
use crate::facts;
use crate::model::NoDevice;

/// What decides about the advice.
struct Findings {
    /// `/dev/dxg`: `None` when it can be opened.
    dxg: Option<ErrorKind>,
    /// `/dev/kfd`, likewise.
    kfd: Option<ErrorKind>,
    /// The kernel is that of WSL.
    wsl: bool,
    /// This is a container.
    container: bool,
}

/// Looks around after `refused`. `files` says why the topology files of the machine do not help either.
pub fn diagnose(host: &Host, refused: Refused, files: Option<&dyn std::error::Error>) -> NoDevice {
    let open = |device: &str| OpenOptions::new().read(true).write(true).open(host.path(device)).map(drop);
    let (dxg, kfd) = (open(dxg::DEVICE), open(kfd::DEVICE));
    let release = host.read("/proc/sys/kernel/osrelease", 256).unwrap_or_default();
    let mut checks = vec![check(&host.path(kfd::DEVICE), &kfd)];
    if !matches!(&dxg, Err(error) if error.kind() == ErrorKind::NotFound) {
        checks.insert(0, check(&host.path(dxg::DEVICE), &dxg));
    }
    checks.extend(files.map(|error| facts::clean(&error.to_string())));
    let findings = Findings {
        dxg: dxg.err().map(|error| error.kind()),
        kfd: kfd.err().map(|error| error.kind()),
        wsl: String::from_utf8_lossy(&release).to_ascii_lowercase().contains("microsoft"),
        container: ["/.dockerenv", "/run/.containerenv"].iter().any(|file| host.path(file).exists()),
    };
    let reason = process::last_failure().map(|reason| facts::clean(&reason));
    NoDevice { refused, reason, checks, next: advice(&findings) }
}

fn check(path: &Path, outcome: &io::Result<()>) -> String {
    let path = facts::clean(&path.display().to_string());
    match outcome {
        Ok(()) => format!("{path}: can be opened"),
        Err(error) => format!("{path}: {error}"),
    }
}

fn advice(findings: &Findings) -> Option<&'static str> {
    use ErrorKind::{InvalidInput, NotFound, PermissionDenied};
    let Findings { dxg, kfd, wsl, container } = *findings;
    Some(match (dxg, kfd) {
        (None, _) if container => "start the container with -v /usr/lib/wsl:/usr/lib/wsl, where libdxcore.so is",
        (None, _) => "libdxcore.so comes with WSL in /usr/lib/wsl/lib; update WSL, or put it on LD_LIBRARY_PATH",
        (Some(PermissionDenied), _) if container => "start the container with --device /dev/dxg",
        (Some(PermissionDenied), _) => "give this user permission to read and write /dev/dxg",
        (Some(NotFound), None) => {
            "the device opens, and its driver is not one that this library speaks to: update one of them"
        }
        // What the driver says to a process whose device cgroup has none of its GPUs.
        (Some(NotFound), Some(InvalidInput)) if container => {
            "start the container with --device /dev/kfd --device /dev/dri"
        }
        (Some(NotFound), Some(PermissionDenied)) if container => {
            "start the container with --device /dev/kfd --device /dev/dri"
        }
        (Some(NotFound), Some(PermissionDenied)) => {
            "add this user to the groups that own /dev/kfd and /dev/dri/renderD*"
        }
        (Some(NotFound), Some(NotFound)) if wsl && container => {
            "start the container with --device /dev/dxg -v /usr/lib/wsl:/usr/lib/wsl"
        }
        (Some(NotFound), Some(NotFound)) if wsl => {
            "this WSL has no GPU: it takes WSL 2 and a Windows driver that serves it"
        }
        (Some(NotFound), Some(NotFound)) if container => "start the container with --device /dev/kfd --device /dev/dri",
        (Some(NotFound), Some(NotFound)) => "with an AMD GPU in this machine: load the kernel module amdgpu",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advise(dxg: Option<ErrorKind>, kfd: Option<ErrorKind>, wsl: bool, container: bool) -> &'static str {
        advice(&Findings { dxg, kfd, wsl, container }).unwrap_or("")
    }

    #[test]
    fn advice_names_what_is_missing() {
        use ErrorKind::{NotFound, PermissionDenied};
        let (absent, denied) = (Some(NotFound), Some(PermissionDenied));
        assert!(advise(None, absent, true, true).contains("-v /usr/lib/wsl"));
        assert!(advise(None, absent, true, false).contains("libdxcore.so"));
        assert!(advise(denied, absent, true, false).contains("/dev/dxg"));
        assert!(advise(absent, denied, false, false).contains("groups"));
        assert!(advise(absent, None, false, false).contains("driver"));
        assert!(advise(absent, Some(ErrorKind::InvalidInput), false, true).contains("--device /dev/dri"));
        assert!(advise(absent, absent, true, true).contains("--device /dev/dxg"));
        assert!(advise(absent, absent, true, false).contains("Windows driver"));
        assert!(advise(absent, absent, false, true).contains("--device /dev/kfd"));
        assert!(advise(absent, absent, false, false).contains("amdgpu"));
        assert_eq!(advise(Some(ErrorKind::OutOfMemory), absent, false, false), "");
    }
}
