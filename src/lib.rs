//! rocdxg: the userspace GPU thunk of the ROCm stack.
//!
//! One code base stands in for `librocdxg.so.1` (WSL, `/dev/dxg`) and `libhsakmt.so.1` (bare metal, `/dev/kfd`).
//! The map, with the arrows that calls may follow:
//!
//! ```text
//! ffi -> process -> topology -> platform -> {dxg, kfd}        everyone -> abi, asic
//! ```
//!
//! * [`abi`]: the C contract as types.
//! * [`asic`]: what is known of each GPU model.
//! * [`platform`]: the seam to a kernel driver, and the drivers behind it.
//! * [`topology`]: the snapshot of nodes, banks, caches and links.

pub mod abi;
pub mod asic;
pub mod platform;
pub mod topology;
