//! Software libdxcore: the D3DKMT calls of WSL over the software machine of `rocdxg-fake-gpu`.
//!
//! As `libdxcore.so` it takes the place of Microsoft's library; as a crate, [`lookup`] hands its entry points to a
//! library that would otherwise load them. It stands for three layers at once, the guest driver, the host behind it
//! and libdxcore, and produces what comes out of the third (dxgkrnl.md): every argument is checked as they check
//! it, what a client does against the contract is recorded, every kernel object is counted.
//!
//! Chosen by the environment, at the first call:
//!
//! | variable | meaning |
//! |---|---|
//! | `ROCDXG_FAKE_MACHINE` | name of a built-in machine or path of a machine file; `gfx1100` when unset |
//! | `ROCDXG_FAKE_FAIL` | `Name:k[:status]`, comma-separated: see [`control::fail`] |
//! | `ROCDXG_FAKE_REPORT=1` | one line on standard error at exit or unload when something was left or recorded |
//! | `ROCDXG_FAKE_DELAY_US` | sleep that long inside each call |
//! | `ROCDXG_FAKE_HANDLES` | `reuse`, `collide` or both, comma-separated: see [`control::Handles`] |
//! | `ROCDXG_FAKE_PAGING` | `delay=US`, `immediate=N`, `seed=N`, `manual`, comma-separated: see [`control::Paging`] |
//! | `ROCDXG_FAKE_MEMORY` | `unaligned-bounds`, `whole-ranges`, `fatal-trim`, comma-separated: see [`control::MemoryRules`] |
//! | `ROCDXG_FAKE_NEED_NODE=1` | fail to start without a device file |
//! | `ROCDXG_ROOT` | prefix of `/dev/dxg`, which is opened when it exists |
//!
//! It must not depend on the `rocdxg` crate, whose C symbols it would export again; the two files that both need
//! are included by path.
//!
//! The map: `exports` (C entry points) -> `adapters`, `query`, `statistics`, `device`, `escape`, `paging`, `allocation`,
//! `residency`, `addresses`, `lock`, `monitored`, `wait`, `share` (one room per kind of call), `gpu` (the GPU's view of memory) ->
//! `process` (what belongs to one process, and fork) -> `environment`, `handles`, `ledger`, `inject`, `user`, `fence`, `backing`,
//! `space`, `record`. [`control`] is the door for tests, `provider` decodes the private blob for the client.

mod adapters;
mod addresses;
mod allocation;
mod backing;
mod calls;
pub mod control;
#[path = "../../../src/platform/dxg/d3dkmt.rs"]
pub mod d3dkmt;
mod device;
mod environment;
mod escape;
mod exports;
mod fence;
mod gpu;
mod handles;
mod inject;
mod ledger;
mod lock;
mod monitored;
mod paging;
mod process;
mod provider;
mod query;
mod record;
mod residency;
mod share;
mod space;
mod statistics;
mod user;
#[path = "../../../src/platform/dxg/kmd/vtable.rs"]
pub mod vtable;
mod wait;

pub use exports::lookup;

/// An NTSTATUS as a caller of libdxcore sees it.
pub type Status = i32;
