//! What a topology on bare metal costs beside Debian's stock thunk 5.2.3: Open, Acquire, GetNodeProperties of every node,
//! Release and Close, with 1, 8, 34 and 65 nodes of the software KFD, both thunks in turn.
//!
//! The first cycle of a process and the later ones are told apart: what the kernel binds to a process, and what of its
//! tree cannot have changed, costs the first one only. Goals: a third of the stock's time and a quarter of its system
//! calls. Arguments (behind `--`): `--require-stock` fails when there is no stock thunk, `--stock FILE` names one instead
//! of the Debian package, which is unpacked below `target` and not installed.

#[path = "../../tests/common/kfd_tree.rs"]
mod kfd_tree;
#[allow(dead_code)] // For the libraries that cargo built.
#[path = "../../tests/common/wsl.rs"]
mod wsl;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use kfd_tree::Tree;

/// Processes of each thunk, in turn.
const ROUNDS: usize = 7;
/// Cycles of each process that is timed.
const CYCLES: usize = 21;
/// Of the stock's time.
const TIME_GOAL: f64 = 1.0 / 3.0;
/// Of the stock's system calls.
const CALL_GOAL: f64 = 0.25;

type Outcome<T> = Result<T, String>;

/// What serves the topology.
struct Machine {
    name: &'static str,
    /// Variables of the software KFD.
    variables: Vec<(&'static str, PathBuf)>,
    /// Lives as long as its path is used.
    _tree: Option<Tree>,
}

impl Machine {
    fn generated(name: &'static str) -> Self {
        Self { name, variables: vec![("ROCDXG_FAKE_MACHINE", name.into())], _tree: None }
    }

    fn captured(name: &'static str) -> Self {
        let tree = Tree::completed(name);
        Self { name, variables: vec![("ROCDXG_FAKE_KFD_TREE", tree.path().to_owned())], _tree: Some(tree) }
    }
}

/// A thunk, and where what it needs lies.
struct Thunk {
    file: PathBuf,
    libraries: Option<PathBuf>,
}

/// One figure for the first cycle of a process and one for each later one.
#[derive(Clone, Copy)]
struct Cost {
    first: f64,
    later: f64,
}

struct Bench {
    program: PathBuf,
    scratch: PathBuf,
    has_strace: bool,
}

impl Bench {
    fn command(&self, wrapper: &[&str], thunk: &Thunk, machine: &Machine, cycles: usize) -> Command {
        let preload = wsl::built("libfake_kfd.so");
        let mut words = wrapper.iter();
        let mut command = Command::new(words.next().map_or(self.program.as_os_str(), |first| first.as_ref()));
        command.env_clear().envs(machine.variables.iter().map(|(name, value)| (name, value)));
        if wrapper.is_empty() {
            command.env("LD_PRELOAD", preload);
        } else {
            // Before the program, not before its wrapper.
            command.args(words).arg("-E").arg(format!("LD_PRELOAD={}", preload.display())).arg(&self.program);
        }
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        if let Some(libraries) = &thunk.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command.arg(&thunk.file).arg(cycles.to_string());
        command
    }

    /// Nodes, and the nanoseconds of each cycle.
    fn run(&self, thunk: &Thunk, machine: &Machine, cycles: usize) -> Outcome<(u64, Vec<u64>)> {
        let text = output(&mut self.command(&[], thunk, machine, cycles))?;
        let numbers: Result<Vec<u64>, _> = text.lines().map(str::parse).collect();
        let numbers = numbers.map_err(|error| format!("{text}: {error}"))?;
        let (nodes, times) = numbers.split_first().ok_or("the program said nothing")?;
        Ok((*nodes, times.to_vec()))
    }

    /// System calls of a process that does so many cycles.
    fn calls(&self, thunk: &Thunk, machine: &Machine, cycles: usize) -> Outcome<f64> {
        let counts = self.scratch.join("strace");
        let wrapper = ["strace", "-f", "-c", "-o", counts.to_str().ok_or("target is not UTF-8")?];
        output(&mut self.command(&wrapper, thunk, machine, cycles))?;
        let text = fs::read_to_string(&counts).map_err(|error| error.to_string())?;
        let total = text.lines().find(|line| line.ends_with(" total"));
        let calls = total.and_then(|line| line.split_whitespace().nth(3)?.parse().ok());
        calls.ok_or(format!("strace counted nothing: {text}"))
    }

    /// System calls of the first cycle and of a later one.
    fn count(&self, thunk: &Thunk, machine: &Machine) -> Outcome<Cost> {
        // The least of a few: how often the allocator asks for memory depends on where its heap lies.
        let least = |cycles, runs| {
            let counts: Outcome<Vec<f64>> = (0..runs).map(|_| self.calls(thunk, machine, cycles)).collect();
            counts.map(|counts| counts.into_iter().fold(f64::INFINITY, f64::min))
        };
        let (none, one, eleven) = (least(0, 3)?, least(1, 3)?, least(11, 1)?);
        Ok(Cost { first: one - none, later: (eleven - one) / 10.0 })
    }
}

fn output(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("{command:?}: {}: {}", output.status, log.lines().last().unwrap_or_default()))
    }
}

fn median(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0) as f64 / 1000.0
}

/// Debian's package and what it needs, unpacked.
fn stock(scratch: &Path) -> Outcome<Thunk> {
    let root = scratch.join("root");
    fs::create_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    let needed = ["libhsakmt1", "libdrm-amdgpu1", "libdrm2", "libnuma1"];
    let is_there = |package: &str| archive(scratch, package).is_some();
    if !needed.iter().all(|package| is_there(package)) {
        let download = || output(Command::new("apt-get").args(["download", "-q"]).args(needed).current_dir(scratch));
        download().or_else(|_| output(Command::new("apt-get").args(["update", "-q"])).and_then(|_| download()))?;
    }
    for package in needed {
        let archive = archive(scratch, package).ok_or(format!("apt-get has left no {package}"))?;
        output(Command::new("dpkg-deb").arg("-x").arg(&archive).arg(&root))?;
        let version = output(Command::new("dpkg-deb").arg("-f").arg(&archive).arg("Version"))?;
        if package == "libhsakmt1" && !version.starts_with("5.2.3") {
            return Err(format!("this Debian has {package} {}, and the goals are about 5.2.3", version.trim()));
        }
    }
    let folders = fs::read_dir(root.join("usr/lib")).map_err(|error| error.to_string())?;
    let libraries = folders.flatten().map(|folder| folder.path()).find(|folder| folder.join("libhsakmt.so.1").exists());
    let libraries = libraries.ok_or("no libhsakmt.so.1 in the package")?;
    Ok(Thunk { file: libraries.join("libhsakmt.so.1"), libraries: Some(libraries) })
}

/// The package file that apt-get has left.
fn archive(folder: &Path, package: &str) -> Option<PathBuf> {
    let start = format!("{package}_");
    let is_it = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|n| n.starts_with(&start) && n.ends_with(".deb"))
    };
    fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).find(is_it)
}

/// One row of the table.
fn row(machine: &str, nodes: u64, cycle: &str, times: [Option<f64>; 2], calls: [Option<f64>; 2]) {
    let figure = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
    let ratio = |[ours, stock]: [Option<f64>; 2], goal: f64| match (ours, stock) {
        (Some(ours), Some(stock)) => {
            (format!("{:.3}", ours / stock), if ours <= stock * goal { "met" } else { "MISSED" })
        }
        _ => ("-".to_owned(), "-"),
    };
    let (time_ratio, time_goal) = ratio(times, TIME_GOAL);
    let (call_ratio, call_goal) = ratio(calls, CALL_GOAL);
    println!(
        "{machine:<18} {nodes:>5} {cycle:<6} {:>9} {:>9} {time_ratio:>6} {time_goal:<6} {:>7} {:>7} {call_ratio:>6} \
         {call_goal}",
        figure(times[0]),
        figure(times[1]),
        figure(calls[0]),
        figure(calls[1]),
    );
}

fn measure(bench: &Bench, machine: &Machine, ours: &Thunk, stock: Option<&Thunk>) -> Outcome<()> {
    let mut stock = stock;
    let (mut first, mut later) = ([vec![], vec![]], [vec![], vec![]]);
    let mut nodes = 0;
    for _ in 0..ROUNDS {
        for (which, thunk) in [(1, stock), (0, Some(ours))] {
            let Some(thunk) = thunk else { continue };
            match bench.run(thunk, machine, CYCLES) {
                Ok((count, times)) => {
                    nodes = count;
                    let (one, more) = times.split_first().ok_or("no times")?;
                    first[which].push(*one);
                    later[which].extend_from_slice(more);
                }
                Err(error) if which == 1 => {
                    println!("{}: the stock thunk fails: {error}", machine.name);
                    stock = None;
                }
                Err(error) => return Err(error),
            }
        }
    }
    let count = |thunk: Option<&Thunk>| match thunk {
        Some(thunk) if bench.has_strace => bench.count(thunk, machine).map(Some),
        _ => Ok(None),
    };
    let calls = [count(Some(ours))?, count(stock)?];
    let times = |of: [Vec<u64>; 2]| of.map(|times| (!times.is_empty()).then(|| median(times)));
    row(machine.name, nodes, "first", times(first), calls.map(|cost| Some(cost?.first)));
    row(machine.name, nodes, "later", times(later), calls.map(|cost| Some(cost?.later)));
    Ok(())
}

fn run() -> Outcome<()> {
    let (mut require_stock, mut named) = (false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--require-stock" => require_stock = true,
            "--stock" => named = Some(PathBuf::from(arguments.next().ok_or("--stock needs a file")?)),
            "--bench" => {}
            other => return Err(format!("{other} is no argument of this bench")),
        }
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kfd_topology");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let program = scratch.join("cycles");
    let source = here.join("benches/kfd_topology/cycles.c");
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"];
    output(Command::new("cc").args(flags).arg(&program).arg(source).args(["-rdynamic", "-ldl"]))?;

    let stock = match named {
        Some(file) => Ok(Thunk { file, libraries: None }),
        None => stock(&scratch),
    };
    if let Err(error) = &stock {
        println!("NO STOCK THUNK, ONLY OURS IS MEASURED: {error}");
        if require_stock {
            return Err("--require-stock, and there is none".to_owned());
        }
    }
    let strace = output(Command::new(here.join(".ci/need")).args(["strace", "strace"]));
    if let Err(error) = &strace {
        println!("NO STRACE, SYSTEM CALLS ARE NOT COUNTED: {error}");
    }
    let bench = Bench { program, scratch, has_strace: strace.is_ok() };
    let ours = Thunk { file: wsl::built("libhsakmt.so"), libraries: None };

    println!(
        "Medians of {ROUNDS} processes (first cycle) and of {} cycles (later); goals: time 1/3, calls 1/4.",
        ROUNDS * (CYCLES - 1)
    );
    println!(
        "{:<18} {:>5} {:<6} {:>9} {:>9} {:>6} {:<6} {:>7} {:>7} {:>6} goal",
        "machine", "nodes", "cycle", "ours us", "stock us", "ratio", "goal", "calls", "stock", "ratio"
    );
    let generated = ["gfx1100", "eight-gfx1100"].map(Machine::generated);
    let captured = ["mi308-partitioned", "mi300-cpx"].map(Machine::captured);
    for machine in generated.iter().chain(&captured) {
        measure(&bench, machine, &ours, stock.as_ref().ok())?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
