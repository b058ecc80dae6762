//! The C programs under `tests/c`, compiled against `include/` and linked to the shared object, on an emulated WSL
//! machine: a root with a `dev/dxg`, and the software libdxcore on the library path.
//!
//! `ROCDXG_TEST_WRAPPER` is put before each program (valgrind), `ROCDXG_TEST_CFLAGS` into each compilation
//! (sanitizers); with either, programs that repeat themselves do so less often.

#[path = "common/wsl.rs"]
mod wsl;

use wsl::Machine;

/// Programs slow down a hundredfold under a wrapper.
fn repetitions(plain: &'static str, wrapped: &'static str) -> [&'static str; 1] {
    [if std::env::var_os("ROCDXG_TEST_WRAPPER").is_some() { wrapped } else { plain }]
}

#[test]
fn lifecycle_of_one_user() {
    for machine in ["gfx1100", "two-gfx1100", "dgpu-apu", "apu", "foreign-first", "no-amd", "harvested", "none"] {
        Machine::named(machine).run_c("lifecycle", &[]);
    }
}

#[test]
fn two_users_in_every_order() {
    Machine::named("gfx1100").run_c("orders", &repetitions("8", "3"));
}

#[test]
fn threads_honour_their_own_references() {
    Machine::named("two-gfx1100").run_c("threads", &repetitions("300", "5"));
}

#[test]
fn fork_children_own_nothing_of_the_parent() {
    Machine::named("gfx1100").run_c("forks", &[]);
}

#[test]
fn two_thousand_forks_under_four_busy_threads() {
    let mut machine = Machine::named("gfx1100");
    // What the other threads of the parent held at the fork is lost to the child, whoever allocated it.
    machine.wrapper_options = &["--leak-check=no"];
    machine.run_c("fork_storm", &repetitions("2000", "10"));
}

#[test]
fn bad_input_gets_a_status() {
    Machine::named("gfx1100").run_c("bad_input", &[]);
}
