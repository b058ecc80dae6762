//! Both libraries on the software KFD: bare metal as far as opening and the topology go.

#[path = "common/kfd_tree.rs"]
mod kfd_tree;
#[path = "common/wsl.rs"]
mod wsl;

use kfd_tree::Tree;
use wsl::Machine;

/// Runs `kfd_device` with the library linked and the software KFD preloaded.
fn run(machine: &str, gpus: &str, kernel: &str) {
    run_on(machine, gpus, kernel, None);
}

/// The same on a captured topology, if there is one.
fn run_on(machine: &str, gpus: &str, kernel: &str, tree: Option<&Tree>) {
    let folder = Machine::named(machine);
    let preload = wsl::built("libfake_kfd.so");
    let mut command = folder.command(folder.compile("kfd_device"));
    command.arg(gpus).env_remove("ROCDXG_ROOT").env("LD_PRELOAD", preload).env("ROCDXG_FAKE_KERNEL", kernel);
    if let Some(tree) = tree {
        command.env("ROCDXG_FAKE_KFD_TREE", tree.path());
    }
    let output = command.output().expect("the program starts");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{machine}, kernel {kernel}: {}\n{log}", output.status);
}

#[test]
fn gpus_are_bound_once_and_survive_every_failure() {
    for (machine, gpus) in [("gfx1100", "1"), ("two-gfx1100", "2"), ("eight-gfx1100", "8")] {
        run(machine, gpus, "6.12");
    }
}

#[test]
fn every_kernel_will_do() {
    for kernel in ["6.1", "6.12", "7.2"] {
        run("dgpu-apu", "2", kernel);
    }
}

#[test]
fn every_partition_is_bound_once() {
    for (tree, gpus) in [("mi308-partitioned", "32"), ("mi300-cpx", "63")] {
        run_on("gfx1100", gpus, "7.2", Some(&Tree::completed(tree)));
    }
}
