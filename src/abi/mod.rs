//! The C contract as types: layouts, flags, enumerations, status.
//!
//! No logic but the conversion to what older callers use ([`generation`]), no I/O, no unsafe code. Names are spelled
//! as in the C headers, because the headers under `include/hsakmt` are generated from this room by `tools/headers`, in
//! the order of the modules below. What C says in another way than Rust stands beside the item as
//! `#[cfg_attr(c_header, ...)]`, which only that tool reads. Everything that `hsakmttypes.h` declares is packed to 4
//! bytes. Numbers come from `tests/data/abi.json`, which the tests compare.
//! May call: nothing.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
#![forbid(unsafe_code)]

mod bits;
mod plain;

pub mod generation;

mod basic;
mod blocks;
mod counters;
mod debug;
mod events;
mod memory;
mod node;
mod pc_sampling;
mod queues;
mod sharing;
mod smi;
mod smi_events;
mod status;
mod svm;
mod topology;
mod version;

pub use bits::Bits;
pub use plain::{Plain, Writer};

// In the order of the headers: `smi` and `version` have their own, all others are `hsakmttypes.h`.
#[rustfmt::skip]
pub use {
    basic::*,
    status::*,
    topology::*,
    node::*,
    memory::*,
    queues::*,
    events::*,
    debug::*,
    blocks::*,
    counters::*,
    svm::*,
    smi_events::*,
    pc_sampling::*,
    sharing::*,
    smi::*,
    version::*,
};
