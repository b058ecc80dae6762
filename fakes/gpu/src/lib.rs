//! The software machine behind the fakes: which adapters it has and what each of them is.
//!
//! A machine is data, read from TOML (`fakes/machines/*.toml`, compiled in, or any file of the same form); the
//! drivers in front of it (`fakes/dxcore`) turn it into answers. [`private`] is the part of an adapter that only
//! the vendor's blobs carry, and the open format of those blobs; [`allocation`] the same of memory. [`user`] copies from
//! and to the client's memory. Touches the machine files and what the client points to.

pub mod allocation;
pub mod machine;
pub mod private;
pub mod user;

pub use machine::{Adapter, Error, Machine};
pub use private::Private;
