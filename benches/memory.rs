//! What memory costs on the software machine: allocations, pointer queries and maps, in time and in D3DKMT calls.
//!
//! Goals: allocating and freeing what is cut from a block below 1 us and without a D3DKMT call; a pointer query among
//! 100,000 live allocations below 150 ns. What is not cut from a block costs what the software libdxcore costs: there
//! the number of calls says something, and the time says nothing about a driver. Each figure is a median of rounds, with
//! the best round beside it. Arguments (behind `--`): parts to run alone, of `pairs`, `scattered`, `host`, `maps` and
//! `queries`; `--require-goals` fails when a goal is missed.

#[path = "../tests/common/embedded.rs"]
mod embedded;

use std::ffi::c_void;
use std::hint::black_box;
use std::process::ExitCode;
use std::ptr;
use std::time::Instant;

use dxcore::control;
use embedded::*;
use rocdxg::abi::*;
use rocdxg::ffi::*;

/// Rounds that a figure is the median of.
const ROUNDS: usize = 15;
/// Of a pair that is cut from a block.
const PAIR_GOAL_NS: f64 = 1000.0;
/// Of a query among the most allocations.
const QUERY_GOAL_NS: f64 = 150.0;
/// Live allocations at a time.
const LIVE: [usize; 3] = [10, 1_000, 100_000];
/// Queries of a round.
const QUERIES: usize = 100_000;
/// Largest allocation that is cut from a block.
const LARGEST_PIECE: u64 = 2 << 20;
const HOST: u32 = 0;
const GPU: u32 = 1;
const SIZES: [(&str, u64); 4] = [("4 KiB", 4 << 10), ("64 KiB", 64 << 10), ("2 MiB", 2 << 20), ("1 GiB", 1 << 30)];

fn local() -> HsaMemFlags {
    HsaMemFlags(0).with(HsaMemFlags::NonPaged, 1).with(HsaMemFlags::CoarseGrain, 1)
}

fn host() -> HsaMemFlags {
    HsaMemFlags(0).with(HsaMemFlags::HostAccess, 1).with(HsaMemFlags::CoarseGrain, 1)
}

fn allocate(node: u32, bytes: u64, flags: HsaMemFlags) -> *mut c_void {
    let mut address = ptr::null_mut();
    // SAFETY: `address` is a place for one pointer.
    assert_eq!(unsafe { hsaKmtAllocMemory(node, bytes, flags, &mut address) }, HSAKMT_STATUS_SUCCESS);
    address
}

fn free(address: *mut c_void, bytes: u64) {
    // SAFETY: the address is an allocation's, whose memory nobody uses.
    assert_eq!(unsafe { hsaKmtFreeMemory(address, bytes) }, HSAKMT_STATUS_SUCCESS);
}

fn map_and_unmap(address: *mut c_void, bytes: u64) {
    let mut seen = 0;
    // SAFETY: `seen` is a place for one number.
    assert_eq!(unsafe { hsaKmtMapMemoryToGPU(address, bytes, &mut seen) }, HSAKMT_STATUS_SUCCESS);
    // SAFETY: the address is an allocation's.
    assert_eq!(unsafe { hsaKmtUnmapMemoryToGPU(address) }, HSAKMT_STATUS_SUCCESS);
}

/// A pseudorandom sequence, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for index in (1..list.len()).rev() {
            list.swap(index, self.below(index + 1));
        }
    }
}

/// What one operation costs.
#[derive(Clone, Copy)]
struct Cost {
    nanoseconds: f64,
    /// Of the round that other programs disturbed least.
    best: f64,
    calls: f64,
}

fn calls() -> u64 {
    control::calls("Any").expect("any is a kind")
}

/// The median round of `times` operations each, after one that is not counted.
fn measured(times: usize, mut round: impl FnMut()) -> Cost {
    round();
    let before = calls();
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            round();
            begin.elapsed().as_nanos() as f64 / times as f64
        })
        .collect();
    let calls = (calls() - before) as f64 / (ROUNDS * times) as f64;
    rounds.sort_by(f64::total_cmp);
    Cost { nanoseconds: rounds[ROUNDS / 2], best: rounds[0], calls }
}

fn repeated(times: usize, mut operation: impl FnMut()) -> Cost {
    measured(times, || (0..times).for_each(|_| operation()))
}

/// The lines that are printed, and whether every goal is met.
struct Report {
    missed: usize,
}

impl Report {
    fn line(&mut self, what: &str, cost: Cost, goal: Option<(bool, &str)>) {
        let verdict = match goal {
            None => String::new(),
            Some((true, goal)) => format!("met: {goal}"),
            Some((false, goal)) => format!("MISSED: {goal}"),
        };
        self.missed += usize::from(goal.is_some_and(|(met, _)| !met));
        let Cost { nanoseconds, best, calls } = cost;
        println!("{what:<52} {nanoseconds:>10.1} ns (best {best:>10.1}) {calls:>6.2} calls   {verdict}");
    }

    fn pair(&mut self, what: &str, cost: Cost, is_cut: bool) {
        let met = cost.nanoseconds < PAIR_GOAL_NS && cost.calls == 0.0;
        self.line(what, cost, is_cut.then_some((met, "below 1 us, no call")));
    }
}

/// Opens the machine and runs `work`; everything is given back.
fn session(sub_allocator: bool, work: impl FnOnce()) {
    let mut machine = Machine::named("gfx1100");
    let program = std::env::current_exe().expect("the path of this program");
    let provider = program.parent().expect("programs lie in a folder").join("libdxcore.so");
    machine.set("ROCDXG_KMD_PROVIDER", provider.to_str().expect("paths here are text"));
    machine.set("WSL_ENABLE_THUNK_SUB_ALLOCATOR", if sub_allocator { "1" } else { "0" });
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    acquire().expect("the machine has a topology");
    work();
    assert_eq!(release(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
    assert_clean();
}

fn pairs(report: &mut Report, sub_allocator: bool) {
    let state = if sub_allocator { "on" } else { "off" };
    for (name, bytes) in SIZES {
        let is_cut = sub_allocator && bytes <= LARGEST_PIECE;
        let times = if is_cut { 10_000 } else { 200 };
        let cost = repeated(times, || free(black_box(allocate(GPU, bytes, local())), bytes));
        report.pair(&format!("local alloc+free, {name}, sub-allocator {state}"), cost, is_cut);
    }
}

/// Allocations in order, frees in another: blocks with holes.
fn scattered_pairs(report: &mut Report) {
    const BYTES: u64 = 4 << 10;
    for count in [1_000, 100_000] {
        let mut random = Random(count as u64);
        let mut all = Vec::with_capacity(count);
        let cost = measured(count, || {
            all.extend((0..count).map(|_| allocate(GPU, BYTES, local()).addr()));
            random.shuffle(&mut all);
            all.drain(..).for_each(|address| free(ptr::with_exposed_provenance_mut(address), BYTES));
        });
        report.line(&format!("local alloc+free, 4 KiB, {count} at a time, shuffled"), cost, None);
    }
}

fn host_pairs(report: &mut Report) {
    for (name, bytes) in [SIZES[0], SIZES[2]] {
        let cost = repeated(200, || free(black_box(allocate(HOST, bytes, host())), bytes));
        report.line(&format!("host alloc+free, {name}"), cost, None);
    }
}

fn queries(report: &mut Report) {
    const BYTES: u64 = 4 << 10;
    let mut all: Vec<usize> = Vec::new();
    let mut random = Random(7);
    let mut times = Vec::new();
    for count in LIVE {
        let more = count - all.len();
        all.extend((0..more).map(|_| allocate(GPU, BYTES, local()).addr()));
        for &address in &all[count - more..] {
            let mut seen = 0;
            let address = ptr::with_exposed_provenance_mut(address);
            // SAFETY: `seen` is a place for one number.
            assert_eq!(unsafe { hsaKmtMapMemoryToGPU(address, BYTES, &mut seen) }, HSAKMT_STATUS_SUCCESS);
        }
        let inside: Vec<usize> =
            (0..QUERIES).map(|_| all[random.below(count)] + random.below(BYTES as usize)).collect();
        let cost = measured(QUERIES, || {
            for &address in &inside {
                let mut info = HsaPointerInfo::ZERO;
                // SAFETY: `info` is a place for one structure.
                let status = unsafe { hsaKmtQueryPointerInfo(ptr::with_exposed_provenance(address), &mut info) };
                assert!(status == HSAKMT_STATUS_SUCCESS && info.NMappedNodes == 1, "{status:?}");
                black_box(&info);
            }
        });
        let is_most = count == LIVE[LIVE.len() - 1];
        let goal = is_most.then_some((cost.nanoseconds < QUERY_GOAL_NS, "below 150 ns"));
        report.line(&format!("pointer query among {count}"), cost, goal);
        times.push(cost.nanoseconds);
    }
    println!("growth factor of a query, {} / {}: {:.2}", LIVE[2], LIVE[0], times[2] / times[0]);
    all.into_iter().for_each(|address| free(ptr::with_exposed_provenance_mut(address), BYTES));
}

fn maps(report: &mut Report) {
    let allocations = [
        ("local piece, 4 KiB", GPU, 4 << 10, local()),
        ("local, 1 GiB", GPU, 1 << 30, local()),
        ("host, 4 KiB", HOST, 4 << 10, host()),
    ];
    for (name, node, bytes, flags) in allocations {
        let address = allocate(node, bytes, flags);
        let cost = repeated(1_000, || map_and_unmap(address, bytes));
        report.line(&format!("map+unmap, {name}"), cost, None);
        free(address, bytes);
    }
}

/// A part of the measurement that can be run alone.
type Part = (&'static str, fn(&mut Report));

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |part: &str| {
        let mut parts = arguments.iter().filter(|argument| !argument.starts_with("--")).peekable();
        parts.peek().is_none() || parts.any(|argument| argument == part)
    };
    let mut report = Report { missed: 0 };
    for sub_allocator in [true, false].into_iter().filter(|_| wanted("pairs")) {
        session(sub_allocator, || pairs(&mut report, sub_allocator));
    }
    let parts: [Part; 4] = [("scattered", scattered_pairs), ("host", host_pairs), ("maps", maps), ("queries", queries)];
    for (_, run) in parts.into_iter().filter(|(part, _)| wanted(part)) {
        session(true, || run(&mut report));
    }
    println!("goals missed: {}", report.missed);
    // Times are the machine's; only `--require-goals` makes a miss a failure.
    let strict = arguments.iter().any(|argument| argument == "--require-goals");
    if strict && report.missed != 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
