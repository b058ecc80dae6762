//! Writes the C headers under `include/hsakmt` and the table of `tests/abi_layout` from the Rust source.
//!
//! `src/abi` says what the types are, `src/ffi` which functions exist; nothing is said twice. `cbindgen` prints structs,
//! typedefs and prototypes in an order that C accepts; what it cannot express (enumerations made by `c_enum!`, bit-fields
//! made by `bit_fields!`, anonymous unions, tags, packing, macros) is put into its output here. Without arguments the
//! files are written; with `--check` they are compared and the exit status is 1 when one differs.

mod emit;
mod model;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What stops the generator: an unreadable file, or source of a shape that it does not know.
type Error = Box<dyn std::error::Error>;

/// Path below the repository, and contents, of every file that is generated.
fn generate(root: &Path) -> Result<Vec<(&'static str, String)>, Error> {
    let model = model::read(root)?;
    Ok(vec![
        ("include/hsakmt/hsakmttypes.h", emit::types(&model)?),
        ("include/hsakmt/hsakmt.h", emit::functions(&model)?),
        ("include/hsakmt/rocdxg_smi.h", emit::smi(&model)?),
        ("include/hsakmt/rocdxg_version.h", emit::version(&model)),
        ("tests/abi_layout/table.rs", table::table(&model)),
    ])
}

/// One line about the first difference between a file as it is and as it should be.
fn difference(actual: &str, expected: &str) -> Option<String> {
    if actual == expected {
        return None;
    }
    let (mut old, mut new) = (actual.lines(), expected.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (have, want) = (old.next(), new.next());
        if have != want || have.is_none() {
            let show = |line: Option<&str>| line.map_or("end of file".into(), |text| format!("`{}`", text.trim()));
            return Some(format!("line {number}: is {}, should be {}", show(have), show(want)));
        }
    }
}

fn run(root: &Path, check: bool) -> Result<bool, Error> {
    let mut fresh = true;
    for (name, expected) in generate(root)? {
        let path = root.join(name);
        let actual = std::fs::read_to_string(&path).unwrap_or_default();
        match difference(&actual, &expected) {
            None => {}
            Some(hint) if check => {
                eprintln!("{name} is out of date, {hint}");
                fresh = false;
            }
            Some(_) => {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                std::fs::write(&path, expected)?;
                println!("wrote {name}");
            }
        }
    }
    if !fresh {
        eprintln!("run `cargo run -p rocdxg-headers` and commit the result");
    }
    Ok(fresh)
}

fn main() -> ExitCode {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => {
            eprintln!("usage: rocdxg-headers [--check]");
            return ExitCode::from(2);
        }
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    match run(&root, check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("rocdxg-headers: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_files_are_up_to_date() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert!(run(&root, true).unwrap());
    }

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\n").unwrap(), "line 2: is `b`, should be `c`");
        assert_eq!(difference("a\n", "a\nb\n").unwrap(), "line 2: is end of file, should be `b`");
        assert_eq!(difference("a", "a\n").unwrap(), "line 2: is end of file, should be end of file");
    }
}
