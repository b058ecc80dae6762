//! C clients of the software KFD and what they run on, for the tests of both of its front-ends.

use std::path::{Path, PathBuf};
use std::process::Command;

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_gpu::machine::BUILT_IN;
use rocdxg_fake_kfd::Tree;

/// Compiles a C program into `folder`.
pub fn compile(program: PathBuf, source: PathBuf, include: PathBuf, flags: &[&str]) -> PathBuf {
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", "-I"]).arg(include);
    let status = gcc.args(flags).arg("-o").arg(&program).arg(source).args(["-ldl", "-lpthread"]).status().unwrap();
    assert!(status.success());
    program
}

/// Takes every variable of the fake away from a command.
pub fn without_variables(command: &mut Command) {
    for name in ["MACHINE", "KFD_TREE", "KERNEL", "KFD_FAIL", "REPORT"] {
        command.env_remove(format!("ROCDXG_FAKE_{name}"));
    }
}

/// A machine whose first GPU this process may not see.
pub fn hidden_gpu() -> tempfile::NamedTempFile {
    let text = BUILT_IN.iter().find(|(name, _)| *name == "two-gfx1100").unwrap().1;
    let machine = tempfile::NamedTempFile::new().unwrap();
    let hidden = text.replacen("[adapter.private]", "[adapter.kfd]\nhidden = true\n[adapter.private]", 1);
    std::fs::write(machine.path(), hidden).unwrap();
    machine
}

/// Writes the tree of a machine whose GPU has the id 99 below `folder`.
pub fn captured_tree(folder: &Path) -> PathBuf {
    let tree = folder.join("topology");
    let machine = BUILT_IN[0].1.replace("[adapter.private]", "[adapter.kfd]\ngpu_id = 99\n[adapter.private]");
    Tree::generate(&Machine::parse("captured", &machine).unwrap(), &tree).unwrap();
    tree
}
