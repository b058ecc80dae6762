//! The C programs under `tests/c`, compiled against `include/` and linked to the shared object, on an emulated WSL
//! machine: a root with a `dev/dxg`, and the software libdxcore on the library path.
//!
//! `ROCDXG_TEST_WRAPPER` is put before each program (valgrind), `ROCDXG_TEST_CFLAGS` into each compilation
//! (sanitizers); with either, programs that repeat themselves do so less often.

#[path = "common/wsl.rs"]
mod wsl;

use wsl::Machine;

fn is_wrapped() -> bool {
    std::env::var_os("ROCDXG_TEST_WRAPPER").is_some()
}

fn is_sanitized() -> bool {
    std::env::var("ROCDXG_TEST_CFLAGS").is_ok_and(|flags| flags.contains("-fsanitize="))
}

#[test]
fn lifecycle_of_one_user() {
    for machine in ["gfx1100", "two-gfx1100", "dgpu-apu", "apu", "foreign-first", "no-amd", "harvested", "none"] {
        Machine::named(machine).run_c("lifecycle", &[]);
    }
}

#[test]
fn two_users_in_every_order() {
    Machine::named("gfx1100").run_c("orders", &[if is_wrapped() { "3" } else { "8" }]);
}

#[test]
fn threads_honour_their_own_references() {
    Machine::named("two-gfx1100").run_c("threads", &[if is_wrapped() { "5" } else { "300" }]);
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
    // The allocator of AddressSanitizer keeps its locks over a fork: under it, no other thread may be allocating.
    let arguments = match (is_wrapped(), is_sanitized()) {
        (_, true) => ["200", "0"],
        (true, false) => ["10", "4"],
        (false, false) => ["2000", "4"],
    };
    machine.run_c("fork_storm", &arguments);
}

#[test]
fn bad_input_gets_a_status() {
    Machine::named("gfx1100").run_c("bad_input", &[]);
}

#[test]
fn both_libraries_in_one_process_have_two_states() {
    let machine = Machine::named("gfx1100");
    let (rocdxg, hsakmt) = ("librocdxg.so.1", "libhsakmt.so.1");
    for order in [[rocdxg, hsakmt], [hsakmt, rocdxg]] {
        for scope in ["local", "global"] {
            machine.run_c("two_libraries", &[order[0], order[1], scope]);
        }
    }
}

#[test]
fn descriptors_that_run_out_cost_an_open_and_nothing_more() {
    let machine = Machine::named("gfx1100");
    let output = machine.command(machine.compile("few_files")).env("ROCDXG_FAKE_NEED_NODE", "1").output();
    let output = output.expect("the program starts");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !log.contains("contract violations"), "{log}");
}
