//! The exports: the right set of them, what each returns today, and that no call of any can crash.
//!
//! * `set`: declared in the headers = defined in Rust = exported by the built library, and enough for every client.
//! * `page`: `docs/status.md` says what each function returns, and it is true.
//! * `checks`: bad arguments get the status of the tables, and a failure writes nothing that could be taken for a result.
//! * `sweep`: every function with every pointer NULL, and with random numbers.
//!
//! Calls go to the built library through `dlsym`, in a child process for each function.

mod caller;
mod checks;
mod facts;
mod guarded;
mod page;
mod set;
mod sweep;
#[path = "../common/wsl.rs"]
#[allow(dead_code)] // Only the machine is needed here, not the programs that run on it.
mod wsl;
