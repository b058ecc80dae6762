//! An emulated WSL machine for programs that run on their own: a root with a `dev/dxg`, and a library folder with the
//! thunk and the software libdxcore.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A machine of `fakes/machines`, in a folder of its own that goes with it.
pub struct Machine {
    /// Options for the wrapper beyond its own.
    pub wrapper_options: &'static [&'static str],
    name: String,
    folder: tempfile::TempDir,
}

impl Machine {
    /// The machine `name`, with `/dev/dxg` and both libraries in place.
    pub fn named(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let machine = Self { wrapper_options: &[], name: name.to_owned(), folder };
        for directory in [machine.root().join("dev"), machine.libraries()] {
            std::fs::create_dir_all(directory).expect("the folder is ours");
        }
        std::fs::write(machine.root().join("dev/dxg"), "").expect("the folder is ours");
        // One inode under both names, as an installation has it.
        for (file, name) in
            [("librocdxg.so", "librocdxg.so.1"), ("libhsakmt.so", "libhsakmt.so.1"), ("libdxcore.so", "libdxcore.so")]
        {
            symlink(built(file), machine.libraries().join(name)).expect("the folder is ours");
        }
        for name in ["librocdxg.so", "libhsakmt.so"] {
            symlink(format!("{name}.1"), machine.libraries().join(name)).expect("the folder is ours");
        }
        machine
    }

    /// What stands for `/`.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// The folder on the library path.
    pub fn libraries(&self) -> PathBuf {
        self.folder.path().join("lib")
    }

    /// Compiles `tests/c/<program>.c` against the headers and the shared object.
    pub fn compile(&self, program: &str) -> PathBuf {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let binary = self.folder.path().join(program);
        let flags = std::env::var("ROCDXG_TEST_CFLAGS").unwrap_or_default();
        let output = Command::new("cc")
            .args(["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"])
            .args(flags.split_whitespace())
            .arg("-I")
            .arg(here.join("include"))
            .arg(here.join("tests/c").join(program).with_extension("c"))
            .arg("-o")
            .arg(&binary)
            .arg("-L")
            .arg(self.libraries())
            // A program that loads the thunk itself has no need of it at its start.
            .args(["-Wl,--as-needed", "-lrocdxg", "-ldl", "-lpthread"])
            .output()
            .expect("a C compiler named cc");
        assert!(output.status.success(), "{program}.c:\n{}", String::from_utf8_lossy(&output.stderr));
        binary
    }

    /// A command on this machine, in a clean environment, behind `ROCDXG_TEST_WRAPPER` if there is one.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let wrapper = std::env::var("ROCDXG_TEST_WRAPPER").unwrap_or_default();
        let mut words = wrapper.split_whitespace();
        let mut command = match words.next() {
            Some(first) => {
                let mut command = Command::new(first);
                command.args(words).args(self.wrapper_options).arg(program);
                command
            }
            None => Command::new(program),
        };
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LD_LIBRARY_PATH", self.libraries())
            .env("ROCDXG_ROOT", self.root())
            .env("ROCDXG_FAKE_MACHINE", &self.name)
            .env("ROCDXG_FAKE_REPORT", "1");
        command
    }

    /// Compiles and runs a program that checks itself; the software libdxcore must have nothing to report either.
    #[allow(dead_code)] // Not every test that shares this file runs programs that check themselves.
    pub fn run_c(&self, program: &str, arguments: &[&str]) -> Output {
        let output = self.command(self.compile(program)).args(arguments).output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let name = &self.name;
        assert!(output.status.success(), "{program} on {name}: {}\n{stderr}", output.status);
        assert!(!stderr.contains("rocdxg-fake"), "{program} on {name}: {stderr}");
        output
    }
}

/// A shared object that cargo built for this test run: it lies beside the test itself.
pub fn built(file: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let path = test.parent().expect("tests lie in a folder").join(file);
    assert!(path.exists(), "{} has not been built", path.display());
    path
}
