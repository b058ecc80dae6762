//! The checks that many calls share, with the statuses of the tables (dxg.md 4.5, kfd.md 5.10).

use crate::process::{self, Error};

/// Fails where a pointer that must be given is NULL.
pub fn given<T>(name: &'static str, pointer: *const T) -> Result<(), Error> {
    if pointer.is_null() { Err(Error::Null(name)) } else { Ok(()) }
}

/// Fails where the pointer that is a handle is NULL.
pub fn object<T>(name: &'static str, pointer: *const T) -> Result<(), Error> {
    if pointer.is_null() { Err(Error::Handle(name)) } else { Ok(()) }
}

/// Fails where the number that is a handle is 0.
pub fn nonzero(name: &'static str, handle: u64) -> Result<(), Error> {
    if handle == 0 { Err(Error::Handle(name)) } else { Ok(()) }
}

/// Fails unless `good`.
pub fn argument(good: bool, otherwise: &'static str) -> Result<(), Error> {
    if good { Ok(()) } else { Err(Error::Argument(otherwise.to_owned())) }
}

/// Fails where an array that has elements is NULL.
pub fn array<T>(name: &'static str, pointer: *const T, count: u64) -> Result<(), Error> {
    if count == 0 { Ok(()) } else { given(name, pointer) }
}

/// Fails unless the device is open and the snapshot has the node.
pub fn node(id: u32) -> Result<(), Error> {
    process::with_snapshot(|snapshot| {
        snapshot.node(id)?;
        Ok(())
    })
}

/// Fails unless the device is open and the node is a GPU; ERROR for a node that is none.
pub fn gpu(id: u32) -> Result<(), Error> {
    process::device(id).map(|_| ())
}

/// What a call comes to whose checks pass and that cannot do its work: NOT_SUPPORTED.
pub fn not_supported<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::NotSupported(why))
}

/// What a call comes to that no platform implements: NOT_IMPLEMENTED.
pub fn not_implemented<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::NotImplemented(why))
}
