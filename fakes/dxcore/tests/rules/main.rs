//! The contract of dxgkrnl.md section 7, rule by rule: each test is named after the rule that it shows.
//!
//! Rules that no test here names belong to calls that do not exist yet, or to what one process cannot show.

mod adapters;
mod devices;
mod escapes;
mod failures;
mod handles;
mod kit;
mod processes;
mod provider;
mod queries;
mod statistics;
