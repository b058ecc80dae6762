//! The library on the software KFD: opening, the topology, memory and events.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;
#[path = "common/wsl.rs"]
mod wsl;

use kfd_tree::Tree;
use wsl::Machine;

/// Runs a C program with the library linked and the software KFD preloaded.
fn run(program: &str, machine: &str, gpus: &str, kernel: &str) {
    run_on(program, machine, &[gpus], kernel, None);
}

/// The same on a captured topology, if there is one.
fn run_on(program: &str, machine: &str, arguments: &[&str], kernel: &str, tree: Option<&Tree>) {
    let folder = Machine::named(machine);
    let preload = wsl::built("libfake_kfd.so");
    let mut command = folder.command(folder.compile(program));
    command.args(arguments).env_remove("ROCDXG_ROOT").env("LD_PRELOAD", preload).env("ROCDXG_FAKE_KERNEL", kernel);
    if let Some(tree) = tree {
        command.env("ROCDXG_FAKE_KFD_TREE", tree.path());
    }
    let output = command.output().expect("the program starts");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?} on {machine}, kernel {kernel}: {}\n{log}", output.status);
}

#[test]
fn gpus_are_bound_once_and_survive_every_failure() {
    for (machine, gpus) in [("gfx1100", "1"), ("two-gfx1100", "2"), ("eight-gfx1100", "8")] {
        run("kfd_device", machine, gpus, "6.12");
    }
}

#[test]
fn every_kernel_will_do() {
    for kernel in ["6.1", "6.12", "7.2"] {
        run("kfd_device", "dgpu-apu", "2", kernel);
    }
}

#[test]
fn memory_and_events_do_what_they_say_and_lose_nothing() {
    for (machine, gpus) in [("gfx1100", "1"), ("two-gfx1100", "2"), ("eight-gfx1100", "8")] {
        run("kfd_memory", machine, gpus, "7.2");
    }
}

#[test]
fn memory_and_events_are_the_same_on_every_kernel() {
    for kernel in ["6.1", "6.12"] {
        run("kfd_memory", "two-gfx1100", "2", kernel);
    }
}

/// Its addresses have 40 bits: a part of the program's is set aside.
#[test]
fn a_gpu_that_sees_less_than_the_program_has_memory_all_the_same() {
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/machines/gfx803.toml");
    run("kfd_memory", machine, "1", "7.2");
}

#[test]
fn every_partition_is_bound_once() {
    for (tree, gpus) in [("mi308-partitioned", "32"), ("mi300-cpx", "63")] {
        run_on("kfd_device", "gfx1100", &[gpus], "7.2", Some(&Tree::completed(tree)));
    }
}

/// Host memory that is freed goes back to the system, each time.
#[test]
fn b067_freed_host_memory_goes_back() {
    run_on("kfd_memory", "gfx1100", &["1", "B067"], "7.2", None);
}

/// Memory comes from the GPU that was asked for or not at all.
#[test]
fn b072_a_full_gpu_is_not_replaced_by_another() {
    run_on("kfd_memory", "two-gfx1100", &["2", "B072"], "7.2", None);
}

/// Memory that the kernel does not let go of stays what it was, and is freed when it does.
#[test]
fn b074_memory_that_is_not_let_go_of_stays() {
    run_on("kfd_memory", "two-gfx1100", &["2", "B074"], "7.2", None);
}
