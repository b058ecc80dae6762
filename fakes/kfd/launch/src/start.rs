//! Starts the program: a child that mounts, installs the filter, hands over its descriptor and becomes the program.
//!
//! Touches this process's children; the caller has no threads, so the child may do what it likes until it is another
//! program.

use std::ffi::{CString, OsString};
use std::io::{Error, ErrorKind};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rocdxg_fake_kfd::setup::Setup;

use crate::filter::{self, Listener};
use crate::{mounts, sys};

/// Exit statuses of the child when the program cannot be run, as shells have them.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Messages of the child: the mounts are there; the number of the descriptor; a reason.
const MOUNTED: u8 = b'm';
const LISTENER: u8 = b'l';
const FAILED: u8 = b'f';
/// The answer to the first two.
const GO_ON: &[u8] = b"g";

/// The program does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The child said why.
    #[error("{0}")]
    Child(String),
    /// The child said nothing that can be understood.
    #[error("the child ended early")]
    Silence,
    /// A system call of this process.
    #[error("{0}: {1}")]
    System(&'static str, Error),
    /// A word with a zero byte.
    #[error("the command has a zero byte")]
    Command,
}

/// Names the call that failed.
fn of(what: &'static str) -> impl FnOnce(Error) -> StartError {
    move |error| StartError::System(what, error)
}

/// What is to be run.
#[derive(Debug)]
pub struct Program {
    /// Name and arguments.
    pub command: Vec<OsString>,
    /// Its root directory, when that is not this process's.
    pub root: Option<PathBuf>,
    /// Its questions what a descriptor is are answered too.
    pub stats: bool,
}

/// A program that waits to be let go by the first answer of the supervisor.
#[derive(Debug)]
pub struct Started {
    /// Its process.
    pub pid: i32,
    /// Where its calls arrive.
    pub listener: Listener,
}

/// Starts a program with the signal mask `signals`; `see` is called when its mounts are there, with a path that stands
/// for its root.
pub fn start(
    setup: &Setup,
    program: &Program,
    signals: &libc::sigset_t,
    see: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<Started, StartError> {
    let words = program.command.iter().map(|word| CString::new(word.as_bytes()));
    let words = words.collect::<Result<Vec<_>, _>>().map_err(|_| StartError::Command)?;
    let (ours, theirs) = sys::socket_pair().map_err(of("socketpair"))?;
    let parent = std::process::id();
    // SAFETY: this process has one thread, so the child has all of it.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => return Err(of("fork")(Error::last_os_error())),
        0 => {
            drop(ours);
            let status = child(setup, program, &words, signals, &theirs, parent);
            // SAFETY: ends the child without what the parent left to be done at exit.
            unsafe { libc::_exit(status) }
        }
        _ => drop(theirs),
    }
    let next = |kind: u8| {
        let message = sys::receive(&ours).map_err(of("recv"))?;
        match message.split_first() {
            Some((&tag, rest)) if tag == kind => Ok(rest.to_vec()),
            Some((&FAILED, rest)) => Err(StartError::Child(String::from_utf8_lossy(rest).into_owned())),
            _ => Err(StartError::Silence),
        }
    };
    next(MOUNTED)?;
    let base = program.root.as_deref().unwrap_or(Path::new("/"));
    let base = base.strip_prefix("/").unwrap_or(base);
    see(&Path::new("/proc").join(pid.to_string()).join("root").join(base)).map_err(of("files of the devices"))?;
    sys::send(&ours, GO_ON).map_err(of("send"))?;
    let number = next(LISTENER)?.try_into().map(RawFd::from_le_bytes).map_err(|_| StartError::Silence)?;
    let pidfd = sys::pidfd_open(pid, 0).map_err(of("pidfd_open"))?;
    let listener = sys::pidfd_getfd(&pidfd, number).map_err(of("pidfd_getfd"))?;
    sys::send(&ours, GO_ON).map_err(of("send"))?;
    Ok(Started { pid, listener: listener.into() })
}

/// The child, until it is the program: the exit status when it does not become that.
fn child(
    setup: &Setup,
    program: &Program,
    words: &[CString],
    signals: &libc::sigset_t,
    parent: &OwnedFd,
    parent_pid: u32,
) -> i32 {
    // SAFETY: numbers only. The program does not outlive its devices.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: no arguments.
    if unsafe { libc::getppid() }.cast_unsigned() != parent_pid {
        return NOT_EXECUTABLE;
    }
    if let Err(reason) = prepare(setup, program, signals, parent) {
        // Without the parent nobody wants to know.
        let _ = sys::send(parent, &[&[FAILED], reason.as_bytes()].concat());
        return NOT_EXECUTABLE;
    }
    let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(core::ptr::null());
    // SAFETY: C strings, and a null pointer behind the last.
    unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
    let error = Error::last_os_error();
    eprintln!("fake-kfd: {}: {error}", program.command[0].display());
    if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
}

fn prepare(setup: &Setup, program: &Program, signals: &libc::sigset_t, parent: &OwnedFd) -> Result<(), String> {
    let base = program.root.as_deref().unwrap_or(Path::new("/"));
    mounts::mount_all(setup, base, program.root.is_some()).map_err(|e| e.to_string())?;
    let ask = |message: &[u8]| -> Result<(), String> {
        sys::send(parent, message).map_err(|e| e.to_string())?;
        match sys::receive(parent) {
            Ok(answer) if answer == GO_ON => Ok(()),
            _ => Err("the launcher is gone".into()),
        }
    };
    ask(&[MOUNTED])?;
    if let Some(root) = &program.root {
        sys::chroot(root).map_err(|e| format!("{}: {e}", root.display()))?;
    }
    sys::mask(libc::SIG_SETMASK, signals);
    // SAFETY: the default action; Rust programs start with another one.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let listener = filter::install(program.stats).map_err(|e| format!("seccomp filter with user notification: {e}"))?;
    ask(&[&[LISTENER], &listener.to_le_bytes()[..]].concat())?;
    // SAFETY: the descriptor that `install` made, and nobody uses here any more.
    drop(unsafe { OwnedFd::from_raw_fd(listener) });
    Ok(())
}
