//! Memory on WSL, with the software libdxcore and its provider: what is allocated, shared and failed.

#[path = "common/wsl.rs"]
mod wsl;

use wsl::Machine;

/// Runs a C program of `tests/c` with the provider of the software libdxcore.
fn run(program: &str, machine: &str, arguments: &[&str], variables: &[(&str, &str)]) {
    let folder = Machine::named(machine);
    let mut command = folder.command(folder.compile(program));
    command.args(arguments).env("ROCDXG_KMD_PROVIDER", wsl::built("libdxcore.so")).envs(variables.iter().copied());
    let output = command.output().expect("the program starts");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} on {machine} {variables:?}: {}\n{log}", output.status);
}

#[test]
fn memory_does_what_it_says_and_loses_nothing() {
    for (machine, gpus) in [("gfx1100", "1"), ("two-gfx1100", "2")] {
        run("dxg_memory", machine, &[gpus], &[]);
    }
}

#[test]
fn without_the_sub_allocator_it_is_the_same() {
    run("dxg_memory", "two-gfx1100", &["2"], &[("WSL_ENABLE_THUNK_SUB_ALLOCATOR", "0")]);
}

#[test]
fn memory_without_a_place_is_where_its_user_wants_it() {
    for machine in ["gfx1100", "two-gfx1100"] {
        run("dxg_handles", machine, &[], &[]);
    }
}
