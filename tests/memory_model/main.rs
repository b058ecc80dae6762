//! Random sequences of all memory calls, from one to four threads, against a simple model of what each thread has.
//!
//! Every sequence runs in a process of its own, forked from this one, on the software libdxcore that is linked in: a
//! sequence that crashes or hangs is a failure like any other, and the next one starts with nothing. The model predicts
//! status and results of each call, what a pointer is, what GPUs see; no two things of any threads overlap; at the end all
//! is freed and nothing is alive. `plan` is what a sequence is, `model` what is expected, `calls` the calls.
//!
//! `PROPTEST_CASES` is how many sequences (2000), `ROCDXG_MODEL_SEED` the one to repeat.

#[path = "../common/raw.rs"]
mod calls;
#[path = "../common/embedded.rs"]
mod embedded;
mod model;
mod plan;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use dxcore::control::{self, memory};
use dxcore::d3dkmt::ntstatus;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use rocdxg::abi::HSAKMT_STATUS_SUCCESS;

use model::{Model, TOLERATED, World};
use plan::Plan;

/// How long a sequence may take. The library gives up waiting after a minute.
const PATIENCE: Duration = Duration::from_secs(90);
/// Room for what a sequence reports.
const REPORT: usize = 64 << 10;
const GPU_BYTES: u64 = 24 << 30;

/// Calls of the kernel that fail in some sequences, once.
const FAILING: [&str; 11] = [
    "CreateAllocation2",
    "MapGpuVirtualAddress",
    "MakeResident",
    "Evict",
    "DestroyAllocation2",
    "WaitForSynchronizationObjectFromCpu",
    "ShareObjects",
    "QueryResourceInfoFromNtHandle",
    "OpenResourceFromNtHandle",
    "ReserveGpuVirtualAddress",
    "QueryStatistics",
];
/// A refusal as the stack shows it, no memory, a full ring, a lost device.
const STATUSES: [Option<i32>; 4] =
    [None, Some(ntstatus::NO_MEMORY), Some(ntstatus::TIMEOUT), Some(ntstatus::DEVICE_REMOVED)];

/// What the library said when it panicked, which its callers see as an ERROR.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn panics() -> std::sync::MutexGuard<'static, Vec<String>> {
    PANICS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn ensure(good: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if good { Ok(()) } else { Err(otherwise()) }
}

type Counts = BTreeMap<(&'static str, u32), u64>;

/// One sequence, in a process that has done nothing before.
fn sequence(plan: &Plan) -> Result<Counts, String> {
    let conditions = &plan.conditions;
    let (machine, gpus) = if conditions.two_gpus { ("two-gfx1100", 2) } else { ("gfx1100", 1) };
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    let provider = test.parent().ok_or("no folder")?.join("libdxcore.so");
    let mut prepared = embedded::Machine::named(machine);
    prepared.set("ROCDXG_KMD_PROVIDER", provider.to_str().ok_or("a path that is no text")?);
    prepared.set("HSAKMT_DEBUG_LEVEL", "-1");
    prepared.set("WSL_ENABLE_THUNK_SUB_ALLOCATOR", if conditions.sub_allocator { "1" } else { "0" });
    let (reuse, collide) = conditions.handles;
    control::set_handles(control::Handles { reuse, collide })?;
    let files = open_files();
    ensure(embedded::open() == HSAKMT_STATUS_SUCCESS, || "open".to_owned())?;
    let nodes = embedded::acquire().map_err(|status| format!("acquire: {status:?}"))?;
    ensure(nodes == gpus + 1, || format!("{nodes} nodes"))?;
    let before = control::ledger();
    let free = (1..=gpus).map(|node| calls::available(node).1).collect::<Vec<_>>();
    ensure(free.iter().all(|bytes| *bytes == GPU_BYTES), || format!("free at the start: {free:x?}"))?;
    let (delay_us, immediate_every, seed) = conditions.paging;
    memory::set_paging(memory::Paging { delay_us, immediate_every, seed, manual: false });
    if let Some((local, host)) = conditions.budget {
        for adapter in 0..gpus as usize {
            memory::set_budget(adapter, 0, Some(u64::from(local) << 20));
            memory::set_budget(adapter, 1, Some(u64::from(host) << 20));
        }
    }
    if let Some((call, which, status)) = conditions.failure {
        let call = FAILING[usize::from(call) % FAILING.len()];
        ensure(control::fail(call, which.into(), STATUSES[usize::from(status) % 4]), || call.to_owned())?;
    }
    let world = World {
        conditions: conditions.clone(),
        gpus,
        alone: plan.threads.len() == 1,
        free,
        places: Mutex::default(),
        failed: AtomicU32::new(0),
        tolerated: AtomicU64::new(0),
    };
    let counts = threads(&world, plan)?;
    let after = control::ledger();
    let (blocks, quiet) = (conditions.sub_allocator, conditions.failure.is_none());
    // The addresses stay with the snapshot, and blocks that are empty.
    let expected = control::Ledger { ranges: after.ranges, ..before };
    ensure(blocks || after == expected, || format!("alive when all was freed: {after}"))?;
    ensure(after.pins == 0 && after.waits == 0, || format!("alive when all was freed: {after}"))?;
    for adapter in 0..gpus as usize {
        memory::set_budget(adapter, 0, None);
    }
    let status = embedded::release();
    ensure(status == HSAKMT_STATUS_SUCCESS, || format!("release: {status:?}"))?;
    let status = embedded::close();
    ensure(status == HSAKMT_STATUS_SUCCESS || !quiet, || format!("close: {status:?}"))?;
    let left = control::ledger();
    ensure(left.total() == 0, || format!("alive at the end: {left}"))?;
    let now = open_files();
    ensure(now == files, || format!("{now} files are open instead of {files}"))?;
    let violations = control::violations();
    let bad: Vec<_> = violations.iter().filter(|text| !TOLERATED.iter().any(|known| text.contains(known))).collect();
    ensure(bad.is_empty(), || format!("violations: {bad:?}"))?;
    let tolerated = world.tolerated.load(Ordering::SeqCst);
    let right = violations.len() as u64 == tolerated || !quiet && (violations.len() as u64) < tolerated;
    ensure(right, || format!("{tolerated} violations expected: {violations:?}"))?;
    ensure(panics().is_empty(), || format!("the library panicked: {:?}", *panics()))?;
    Ok(counts)
}

/// All threads of a sequence, which begin and end at once.
fn threads(world: &World, plan: &Plan) -> Result<Counts, String> {
    let gate = Barrier::new(plan.threads.len());
    let run = |index: usize| {
        let mut model = Model::new(world, index);
        gate.wait();
        // Whatever happens it comes to the second gate, where the others wait.
        let done = panic::catch_unwind(AssertUnwindSafe(|| {
            let mut each = plan.threads[index].iter().enumerate();
            each.try_for_each(|(place, op)| {
                model.run(op).map_err(|text| format!("thread {index}, {place}: {op:?}: {text}"))
            })
        }));
        let done = done.unwrap_or_else(|_| Err(format!("thread {index} panicked: {:?}", *panics())));
        gate.wait();
        done?;
        model.finish().map_err(|text| format!("thread {index} at the end: {text}"))?;
        Ok(model.counts)
    };
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..plan.threads.len()).map(|index| scope.spawn(move || run(index))).collect();
        let mut all = Counts::new();
        let mut result = Ok(());
        for thread in threads {
            match thread.join() {
                Ok(Ok(counts)) => counts.into_iter().for_each(|(key, count)| *all.entry(key).or_default() += count),
                Ok(Err(text)) => result = result.and(Err(text)),
                Err(_) => result = result.and(Err("a thread panicked".to_owned())),
            }
        }
        result.map(|()| all)
    })
}

/// A page that a child shares with its parent, for what it reports.
struct Report(*mut u8);

impl Report {
    fn new() -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh mapping.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), REPORT, access, flags, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        Self(page.cast())
    }

    fn write(&self, text: &str) {
        let bytes = &text.as_bytes()[..text.len().min(REPORT - 1)];
        // SAFETY: the mapping has that many bytes, and one more that stays 0 or becomes it.
        unsafe {
            self.0.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.0.add(bytes.len()).write(0);
        }
    }

    fn read(&self) -> String {
        // SAFETY: the mapping is ours, and whoever wrote there is gone.
        let bytes = unsafe { std::slice::from_raw_parts(self.0, REPORT) };
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(REPORT);
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }
}

/// Runs a sequence in a child: what it counted, or why it failed.
fn in_child(plan: &Plan, report: &Report) -> Result<String, String> {
    report.write("");
    // SAFETY: the child runs on a copy of this thread alone; the C library keeps its own locks in order.
    let child = unsafe { libc::fork() };
    if child == 0 {
        panic::set_hook(Box::new(|info| panics().push(info.to_string())));
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| sequence(plan)));
        let (text, code) = match outcome {
            Ok(Ok(counts)) => {
                let mut text = String::new();
                for ((call, status), count) in counts {
                    let _ = writeln!(text, "{call} {status} {count}");
                }
                (text, 0)
            }
            Ok(Err(text)) => (text, 1),
            Err(_) => (format!("{:?}", *panics()), 1),
        };
        report.write(&text);
        // SAFETY: ends the child; nothing of the parent's is run or flushed.
        unsafe { libc::_exit(code) };
    }
    assert!(child > 0, "fork: {}", std::io::Error::last_os_error());
    let (begin, mut status) = (Instant::now(), 0);
    loop {
        // SAFETY: our own child, and a place for its status.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 if begin.elapsed() > PATIENCE => {
                // SAFETY: our own child, which has not been waited for.
                unsafe { libc::kill(child, libc::SIGKILL) };
                return Err("it does not end".to_owned());
            }
            0 => std::thread::sleep(Duration::from_micros(if begin.elapsed().as_millis() < 200 { 300 } else { 5000 })),
            _ => break,
        }
    }
    match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
        (true, 0) => Ok(report.read()),
        (true, _) => Err(report.read()),
        _ => Err(format!("killed by signal {}; {}", libc::WTERMSIG(status), report.read())),
    }
}

/// The sequence of a seed: what it counted, or the smallest that fails like it.
fn of_seed(seed: u64, report: &Report) -> Result<String, String> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config =
        Config { failure_persistence: None, max_shrink_iters: 3000, max_shrink_time: 40_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let tree = plan::plan().new_tree(&mut runner).map_err(|reason| reason.to_string())?;
    let counted = std::cell::RefCell::new(String::new());
    let outcome = runner.run_one(tree, |plan| {
        let text = in_child(&plan, report).map_err(TestCaseError::fail)?;
        *counted.borrow_mut() = text;
        Ok(())
    });
    match outcome {
        Ok(_) => Ok(counted.take()),
        Err(TestError::Fail(reason, plan)) => {
            let mut text = format!("{reason}\n{:?}", plan.conditions);
            for (thread, ops) in plan.threads.iter().enumerate() {
                ops.iter().for_each(|op| text.push_str(&format!("\n  {thread}: {op:?}")));
            }
            Err(text)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Calls that every larger run has seen succeed, and refused as well.
const SEEN: [&str; 17] = [
    "allocate",
    "free",
    "map",
    "unmap",
    "register",
    "deregister",
    "info",
    "set_word",
    "available",
    "export",
    "import",
    "get_handle",
    "handle_import",
    "handle_export",
    "va_map",
    "va_unmap",
    "free_handle",
];
/// What every larger run has done with contents.
const DONE: [&str; 5] = ["CPU reads", "CPU writes", "GPU reads", "GPU writes", "pieces imported"];

#[test]
fn random_sequences_do_what_the_model_says_and_leave_nothing() {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        let parsed = text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
        Some(parsed.unwrap_or_else(|| panic!("{name}={text} is no number")))
    };
    let chosen = number("ROCDXG_MODEL_SEED");
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
    let first = chosen.unwrap_or(clock << 16);
    let cases = if chosen.is_some() { 1 } else { number("PROPTEST_CASES").unwrap_or(2000) };
    println!("{cases} sequences from seed {first:#x} on");
    let report = Report::new();
    let (begin, mut counts) = (Instant::now(), BTreeMap::<(String, bool), u64>::new());
    for case in 0..cases {
        let seed = first.wrapping_add(case);
        let text = of_seed(seed, &report)
            .unwrap_or_else(|text| panic!("sequence {case}, to be repeated by ROCDXG_MODEL_SEED={seed:#x}: {text}"));
        for line in text.lines() {
            let mut words = line.rsplitn(3, ' ');
            let (count, status, call) = (words.next(), words.next(), words.next());
            let count: u64 = count.and_then(|count| count.parse().ok()).unwrap_or(0);
            *counts.entry((call.unwrap_or("").to_owned(), status == Some("0"))).or_default() += count;
        }
    }
    println!("{cases} sequences in {:.1} s: {counts:?}", begin.elapsed().as_secs_f64());
    if cases >= 500 {
        let seen = |what: &str, success| counts.get(&(what.to_owned(), success)).is_some_and(|count| *count > 0);
        for what in SEEN.iter().chain(&DONE) {
            assert!(seen(what, true), "{what}: never succeeded");
        }
        for call in SEEN {
            assert!(seen(call, false), "{call} was never refused");
        }
    }
}
