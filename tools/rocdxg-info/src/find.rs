//! Finds the machine to show: the running one, a captured one or an emulated one.

use std::path::Path;

use rocdxg::platform::{self, Host, dxg, kfd};
use rocdxg::{process, topology};

use crate::model::{Machine, NoDevice, Source};
use crate::{capi, doctor, facts};

/// The machine to emulate when nobody names one.
const DEFAULT_MACHINE: &str = "gfx1100";

/// The running machine, or what `ROCDXG_ROOT` puts in its place; emulates one when it has no device and
/// `may_emulate`. The error is one line.
pub fn running(may_emulate: bool) -> Result<Machine, String> {
    let host = match std::env::var_os("ROCDXG_ROOT").filter(|root| !root.is_empty()) {
        Some(root) => Host::rooted(root),
        None => Host::live(),
    };
    let refused = match capi::read() {
        Ok(reading) => {
            let source = Source::Device { platform: reading.platform, root: host.root().map(Path::to_owned) };
            return Ok(Machine::from_reading(source, reading));
        }
        Err(refused) => refused,
    };
    if refused.call != "hsaKmtOpenKFD" {
        // There is a device. Showing another one instead would mislead.
        return Err(with_reason(&refused));
    }
    match topology::read_tree(&host.path("/")) {
        Ok(snapshot) => {
            let no_device = doctor::diagnose(&host, refused, None);
            Ok(Machine::from_snapshot(Source::Files { no_device }, snapshot))
        }
        Err(error) => {
            let no_device = doctor::diagnose(&host, refused, Some(&error));
            if may_emulate { emulate(DEFAULT_MACHINE, Some(no_device)) } else { Err(no_device.line()) }
        }
    }
}

/// The machine whose files are below `root`: a copy of a machine's root, or a bare topology folder. A root that has
/// `dev/dxg` and no topology is opened through the C API. The error is one line.
pub fn captured(root: &Path) -> Result<Machine, String> {
    let shown = facts::clean(&root.display().to_string());
    std::fs::read_dir(root).map_err(|error| format!("{shown}: {error}"))?;
    match topology::read_tree(root) {
        Ok(snapshot) => Ok(Machine::from_snapshot(Source::Capture { root: root.to_owned() }, snapshot)),
        Err(platform::Error::Kfd(kfd::Error::NoTree { .. })) if Host::rooted(root).path(dxg::DEVICE).exists() => {
            let root = std::path::absolute(root).map_err(|error| format!("{shown}: {error}"))?;
            capi::set_variable("ROCDXG_ROOT", &root);
            let reading = capi::read().map_err(|refused| with_reason(&refused))?;
            Ok(Machine::from_reading(Source::Device { platform: reading.platform, root: Some(root) }, reading))
        }
        Err(error) => Err(facts::clean(&error.to_string())),
    }
}

/// The software machine of that name or in that file. The error is one line.
pub fn emulated(machine: &str) -> Result<Machine, String> {
    emulate(machine, None)
}

fn emulate(name: &str, no_device: Option<NoDevice>) -> Result<Machine, String> {
    let machine = rocdxg_fake_gpu::Machine::load(name).map_err(|error| {
        let line = facts::clean(&error.to_string());
        match error {
            rocdxg_fake_gpu::Error::File { .. } => format!("{line}; built-in machines: {}", built_in().join(", ")),
            _ => line,
        }
    })?;
    let description = facts::clean(&machine.description);
    dxcore::control::set_machine(name).map_err(|error| facts::clean(&error))?;
    if !process::embed_dxcore(dxcore::lookup) {
        return Err("this process emulates a machine already".to_owned());
    }
    let reading = capi::read().map_err(|refused| with_reason(&refused))?;
    let source = Source::Emulation { machine: facts::clean(name), description, no_device };
    Ok(Machine::from_reading(source, reading))
}

/// Names of the machines that need no file.
fn built_in() -> Vec<&'static str> {
    rocdxg_fake_gpu::machine::BUILT_IN.iter().map(|(name, _)| *name).collect()
}

fn with_reason(refused: &capi::Refused) -> String {
    match process::last_failure() {
        Some(reason) => format!("{refused}: {}", facts::clean(&reason)),
        None => format!("{refused}; HSAKMT_DEBUG_LEVEL=7 shows more"),
    }
}
