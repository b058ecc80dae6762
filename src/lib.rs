//! rocdxg: the userspace GPU thunk of the ROCm stack.
//!
//! One code base stands in for `librocdxg.so.1` (WSL, `/dev/dxg`) and `libhsakmt.so.1` (bare metal, `/dev/kfd`).
//! The map, with the arrows that calls may follow:
//!
//! ```text
//! ffi -> process -> {memory, events} -> topology -> platform -> {dxg, kfd}        everyone -> abi, asic
//! ```
//!
//! * [`ffi`]: the exported C functions.
//! * [`process`]: sessions, references, forks, the environment, the log.
//! * [`abi`]: the C contract as types.
//! * [`asic`]: what is known of each GPU model.
//! * [`platform`]: the seam to a kernel driver, and the drivers behind it.
//! * [`memory`]: what is allocated and registered, what a pointer is.
//! * [`events`]: event objects and waits.
//! * [`pm4`]: command packets, encoded and decoded.
//! * [`topology`]: the snapshot of nodes, banks, caches and links.

pub mod abi;
pub mod asic;
pub mod events;
pub mod ffi;
pub mod memory;
pub mod platform;
pub mod pm4;
pub mod process;
pub mod topology;
