//! The library on the software KFD: opening, the topology, memory and events.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;
#[path = "common/wsl.rs"]
mod wsl;

use kfd_tree::Tree;
use wsl::Machine;

/// Runs a C program with the library linked and the software KFD preloaded.
fn run(program: &str, machine: &str, gpus: &str, kernel: &str) {
    run_on(program, machine, gpus, kernel, None);
}

/// The same on a captured topology, if there is one.
fn run_on(program: &str, machine: &str, gpus: &str, kernel: &str, tree: Option<&Tree>) {
    let folder = Machine::named(machine);
    let preload = wsl::built("libfake_kfd.so");
    let mut command = folder.command(folder.compile(program));
    command.arg(gpus).env_remove("ROCDXG_ROOT").env("LD_PRELOAD", preload).env("ROCDXG_FAKE_KERNEL", kernel);
    if let Some(tree) = tree {
        command.env("ROCDXG_FAKE_KFD_TREE", tree.path());
    }
    let output = command.output().expect("the program starts");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} on {machine}, kernel {kernel}: {}\n{log}", output.status);
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
        run_on("kfd_device", "gfx1100", gpus, "7.2", Some(&Tree::completed(tree)));
    }
}
