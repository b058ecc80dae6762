//! The contract of dxgkrnl.md section 7, rule by rule: each test is named after the rule that it shows.
//!
//! Rules that no test here names belong to calls that do not exist yet, or to what one process cannot show.

mod adapters;
mod addresses;
mod allocations;
mod destructions;
mod devices;
mod escapes;
mod failures;
mod fences;
mod handles;
mod kit;
mod lifetimes;
mod locks;
mod processes;
mod provider;
mod queries;
mod residency;
mod rig;
mod shares;
mod sharing;
mod statistics;
mod waits;
