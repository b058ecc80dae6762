//! `fake-kfd run [options] -- CMD ARGS...`: runs a program on a machine with the software KFD.
//!
//! The program sees `/dev/kfd`, `/dev/dri/renderD*` and the topology in `/sys`, in a mount namespace of its own; outside
//! nothing changes. Its ioctls on the devices are stopped by a seccomp filter and answered by this process, which has
//! the driver. Nothing is loaded into the program: it may be static, make raw system calls, fork, exec, be a script or
//! live in a chroot. All of its processes see one driver. Needs root.
//!
//! Options stand before the environment, which is that of `libfake_kfd.so`:
//!
//! | option | variable | meaning |
//! |---|---|---|
//! | `--machine` | `ROCDXG_FAKE_MACHINE` | name of a built-in machine or path of a machine file; `gfx1100` when unset |
//! | `--tree` | `ROCDXG_FAKE_KFD_TREE` | directory of a captured topology (the one with `nodes`), served instead |
//! | `--kernel` | `ROCDXG_FAKE_KERNEL` | `6.1`, `6.12` or `7.2`, the default |
//! | `--fail` | `ROCDXG_FAKE_KFD_FAIL` | `NAME:k[:errno]`, comma-separated: the k-th call of that name fails, 0 is every one |
//! | | `ROCDXG_FAKE_REPORT=1` | one line on standard error at the end when the driver recorded violations or VMs were bound |
//! | `--report` | | a JSON file with what was called, what was wrong, and what processes had when they ended |
//! | `--root` | | directory that the program sees as `/`; `/proc`, `/sys` and `/dev` are mounted in it |
//!
//! The exit status is the program's, 128 and its number when a signal ended it; 125 when the machine cannot be made,
//! 126 or 127 when the program cannot be run. SIGINT, SIGTERM and their like go on to the program. What it leaves
//! running is killed: its devices are gone.
//!
//! What regular files cannot do:
//!
//! * Opens are not seen. `OPEN` and `OPEN_RENDER` cannot fail on request; a driver that refuses the open of `/dev/kfd`
//!   (7.2 with all GPUs hidden) refuses the first ioctl instead, and the node of a hidden GPU is absent.
//!   A file belongs to the process that uses it first, or to the ancestor that has it under the same number; it counts
//!   as closed when its last known holder uses the number for another file, starts a program or ends.
//! * Mappings are not seen either: every one succeeds, lengths, wrong offsets and other open files included, sharing is
//!   as the client asks, and a fork child inherits those of `/dev/kfd`. A touch faults where nothing can be: behind a
//!   small BAR. Memory of freed buffers is given back when no process that used a device maps it.
//! * Offsets differ from the real ones: those of `/dev/kfd` are below 2^61, different for each process.
//! * The nodes are no character devices, so that libdrm asks GET_CLIENT, which is allowed. A machine with several GPUs,
//!   which libdrm would take for one, answers `fstat` as devices do, at the price of a round trip for each file; by
//!   their paths they are regular files there too. ioctls whose type is neither of the two are ENOTTY.
//! * A program cannot have seccomp notifications of its own. Other parts of `/sys` are those of the real machine.
//! * A signal ends a wait within 50 ms, with EINTR also where the system would go on by itself. Before Linux 5.19 a signal
//!   ends any call at once: a wait does not tell the time that is left, and the system may make another call twice.
//!
//! The map: `start` (the child: `mounts`, `filter`) and then `supervisor` (`target`, `stats`, `denied`) -> `sys`; `report`.

mod denied;
mod filter;
mod mounts;
mod report;
mod start;
mod stats;
mod supervisor;
mod sys;
mod target;

use std::ffi::OsString;
use std::fmt::Display;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use clap::{Parser, Subcommand};
use rocdxg_fake_kfd::setup::{self, Choice, Setup};
use rocdxg_fake_kfd::tree::TOPOLOGY;

use crate::denied::Denied;
use crate::start::Program;
use crate::supervisor::{Nodes, Supervisor};

/// Runs programs on a machine with the software KFD.
#[derive(Parser)]
#[command(name = "fake-kfd", version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program with /dev/kfd, the render nodes and the topology of an emulated machine
    Run(Run),
}

#[derive(clap::Args)]
#[command(after_help = "Without an option its ROCDXG_FAKE_* variable counts. Exit status: the program's, 128 and the \
                        number of the signal that ended it, 125 no machine, 126 and 127 no program. Needs root.")]
struct Run {
    /// Emulate a machine: a built-in name or the path of a machine file
    #[arg(long, value_name = "MACHINE", conflicts_with = "tree")]
    machine: Option<String>,
    /// Serve a captured topology: the directory with `nodes`
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Answer as kernel 6.1, 6.12 or 7.2
    #[arg(long, value_name = "VERSION")]
    kernel: Option<String>,
    /// Let calls fail, as text that `ROCDXG_FAKE_KFD_FAIL` has
    #[arg(long, value_name = "CALLS", help = "Let calls fail: NAME:k[:errno], comma-separated")]
    fail: Option<String>,
    /// Write what happened to a JSON file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Show the program DIR as its root directory
    #[arg(long, value_name = "DIR", alias = "chroot")]
    root: Option<PathBuf>,
    /// The program and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Exit status when the program was not started.
const NOT_STARTED: u8 = 125;

fn main() -> ExitCode {
    let Command::Run(run) = Args::parse().command;
    match run.run() {
        Ok(status) => ExitCode::from(status),
        Err(reason) => {
            eprintln!("fake-kfd: {reason}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// Names what failed.
fn of<E: Display>(what: impl Display) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}

impl Run {
    fn choice(&self) -> Choice {
        let environment = Choice::from_environment();
        Choice {
            // A machine that is asked for is not that of the environment's tree.
            tree: self.tree.clone().or(environment.tree.filter(|_| self.machine.is_none())),
            machine: self.machine.clone().or(environment.machine),
            kernel: self.kernel.clone().or(environment.kernel),
            fail: self.fail.clone().or(environment.fail),
            report: environment.report,
        }
    }

    /// The program's exit status, or why there is none.
    fn run(self) -> Result<u8, String> {
        target::check()?;
        let choice = self.choice();
        let names =
            choice.fail.iter().flat_map(|text| text.split(',')).filter_map(|item| item.trim().split(':').next());
        if let Some(name) = names.into_iter().find(|name| name.starts_with("OPEN")) {
            return Err(format!("failure {name}: opens are not seen here; LD_PRELOAD=libfake_kfd.so sees them"));
        }
        let setup = Setup::new(&choice, |config| {
            config.allow_get_client = true;
            config.file_offsets = true;
        });
        let mut setup = setup.map_err(|e| e.to_string())?;
        let absolute =
            |path: Option<PathBuf>| path.map(|path| path.canonicalize().map_err(of(path.display()))).transpose();
        // Made before the program runs: a report that cannot be written is known at once.
        let file =
            self.report.map(|path| std::fs::File::create(&path).map(|f| (f, path.clone())).map_err(of(path.display())));
        let file = file.transpose()?;
        // libdrm tells several GPUs apart by what it learns of descriptors, and one from none by less.
        let stats = setup.kernel.config().gpus.iter().filter(|gpu| !gpu.hidden).count() > 1;
        let program = Program { command: self.command, root: absolute(self.root)?, stats };
        sys::adopt_orphans().map_err(of("prctl"))?;
        let signals = sys::mask(libc::SIG_BLOCK, &supervisor::signals());
        let (mut nodes, mut denied) = (None, None);
        let started = start::start(&setup, &program, &signals, |root| {
            nodes = Some(Nodes::open(&setup.kernel, root)?);
            denied = watch(&setup, root)?;
            Ok(())
        });
        let started = started.map_err(|e| e.to_string())?;
        let nodes = nodes.ok_or("no devices")?;
        let kernel = core::mem::replace(&mut setup.kernel, rocdxg_fake_kfd::Kernel::new(Default::default()));
        sys::raise_descriptors();
        let supervisor = Supervisor::new(kernel, nodes, denied, started.listener, started.pid);
        let mut supervisor = supervisor.map_err(of("supervisor"))?;
        let status = exit_status(ExitStatus::from_raw(supervisor.run().map_err(of("supervisor"))?));
        let (kernel, left) = (supervisor.kernel(), supervisor.left());
        if let Some(words) = setup::report(kernel, left).filter(|_| choice.report) {
            eprintln!("fake-kfd: {words}");
        }
        if let Some((mut file, path)) = file {
            let text = report::json(kernel, left, status);
            std::io::Write::write_all(&mut file, text.as_bytes()).map_err(of(path.display()))?;
        }
        Ok(status)
    }
}

/// The watch on files that do not read, when there are any.
fn watch(setup: &Setup, root: &Path) -> std::io::Result<Option<Denied>> {
    let files = setup.denied(&root.join(TOPOLOGY))?;
    if files.is_empty() { Ok(None) } else { Denied::new(&files).map(Some) }
}

/// As shells tell it.
fn exit_status(status: ExitStatus) -> u8 {
    let number = status.code().or(status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(NOT_STARTED)
}
