//! Why a call of the API fails, before it becomes a status.

use super::log::Level;
use super::settings::BadOverride;
use crate::abi::generation::UnknownSize;
use crate::{events, memory, platform, topology};

/// Why a call of the API fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device is not open in this process.
    #[error("the device is not open in this process")]
    NotOpened,
    /// The device cannot be opened.
    #[error("cannot open the GPU: {0}")]
    Open(#[source] platform::Error),
    /// The topology could not be built.
    #[error("cannot build the topology: {0}")]
    Snapshot(#[from] topology::Error),
    /// The environment asks for an impossible graphics version.
    #[error(transparent)]
    Override(#[from] BadOverride),
    /// There is no snapshot: nobody has acquired one, or the last reference is gone.
    #[error("no snapshot: hsaKmtAcquireSystemProperties has not been called")]
    NoSnapshot,
    /// The snapshot has no such node.
    #[error(transparent)]
    NoNode(#[from] topology::NoNode),
    /// The node is not a GPU.
    #[error("node {0} is not a GPU")]
    NotGpu(u32),
    /// A reference is given back that nobody holds.
    #[error("no snapshot reference is left to release")]
    NoReference,
    /// Four billion references.
    #[error("no more references can be counted")]
    TooManyReferences,
    /// Another thread has been inside a lifecycle call for longer than the bound.
    #[error("another open, close, acquire or release has not returned for {0} s")]
    Busy(u64),
    /// Closing a device failed; everything else was closed all the same.
    #[error("closed, but not cleanly: {0}")]
    Close(#[source] platform::Error),
    /// The platform failed.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// A call on memory failed.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// A call on events failed.
    #[error(transparent)]
    Event(#[from] events::Error),
    /// A pointer that must not be NULL is.
    #[error("{0} is NULL")]
    Null(&'static str),
    /// An argument is out of range.
    #[error("{0}")]
    Argument(String),
    /// The caller was built against a structure that no release has.
    #[error("no release has {} of {} bytes", .0.structure, .0.size)]
    Mismatch(UnknownSize),
    /// A buffer of the caller cannot hold the answer.
    #[error("{what} has {needed} bytes here and {given} in the caller")]
    TooSmall {
        /// What the buffer is for.
        what: &'static str,
        /// Bytes that it must have.
        needed: usize,
        /// Bytes that the caller says it has.
        given: usize,
    },
    /// A handle names no object.
    #[error("{0} names no object")]
    Handle(&'static str),
    /// An address that is to be mapped is NULL, which the contract does not count among bad arguments.
    #[error("cannot map: {0} is NULL")]
    Unmappable(&'static str),
    /// The node is no GPU that can be asked for telemetry.
    #[error("node {0} is no GPU of an open device")]
    NoGpu(u32),
    /// The platform cannot do it, or this version cannot yet.
    #[error("not supported: {0}")]
    NotSupported(&'static str),
    /// No platform can do it.
    #[error("not implemented: {0}")]
    NotImplemented(&'static str),
}

impl Error {
    /// How loud the line is that reports it: what the machine refuses is an error, what a caller does a warning.
    pub fn level(&self) -> Level {
        match self {
            Self::Open(_)
            | Self::Snapshot(_)
            | Self::Override(_)
            | Self::Busy(_)
            | Self::Close(_)
            | Self::Platform(_)
            | Self::Mismatch(_) => Level::Error,
            Self::NotSupported(_) | Self::NotImplemented(_) => Level::Info,
            Self::Memory(memory::Error::Unsupported(_)) | Self::Event(events::Error::Unsupported) => Level::Info,
            // What a wait is for.
            Self::Event(events::Error::TimedOut) => Level::Debug,
            // Callers ask it of every pointer.
            Self::Memory(memory::Error::Unknown(_)) => Level::Debug,
            _ => Level::Warning,
        }
    }
}
