//! The contract of kfd-kernel.md section 9, rule by rule: each test is named after the rule that it shows.
//!
//! Rules that no test here names belong to calls that do not exist yet, or to a front-end.

mod apertures;
mod dispatch;
mod events;
mod failures;
mod files;
mod kit;
mod maps;
mod memory;
mod processes;
mod render;
mod small;
mod vm;
