//! Memory on WSL: one test for each defect that ours must not have, by the number of its item in dxg.md 7 or of its report.
//!
//! Items 41 and 50 are about queues. Items 13, 14, 18 and 20 are in `faults.rs`, `cpu.rs` and `wsl_topology.rs`.

#[path = "common/calls.rs"]
mod calls;
#[path = "common/embedded.rs"]
mod embedded;
#[path = "common/liar.rs"]
mod liar;
#[path = "common/wsl.rs"]
mod wsl;

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use calls::*;
use dxcore::control;
use dxcore::control::memory::{Paging, set_budget, set_paging};
use dxcore::d3dkmt::{execution_state, ntstatus};
use embedded::{Machine, acquire, assert_clean, close, open, release};
use rocdxg::abi::*;
use rocdxg::ffi::*;

/// A path below `tests/data/machines`.
fn data(name: &str) -> String {
    format!("{}/tests/data/machines/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

/// A machine with a provider, not open yet.
fn machine(name: &str) -> Machine {
    liar::embed();
    let mut machine = Machine::named(name);
    liar::honest();
    set_paging(Paging::DEFAULT);
    machine.set("ROCDXG_KMD_PROVIDER", wsl::built("libdxcore.so").to_str().expect("paths here are text"));
    machine
}

fn begin() {
    assert_eq!(open(), OK);
    acquire().expect("nothing fails");
}

/// The same, open, with a snapshot.
fn start(name: &str) -> Machine {
    let machine = machine(name);
    begin();
    machine
}

/// As `start`, where every allocation is one of the kernel's.
fn start_whole(name: &str) -> Machine {
    let mut machine = machine(name);
    machine.set("WSL_ENABLE_THUNK_SUB_ALLOCATOR", "0");
    begin();
    machine
}

/// Ends it: nothing is alive.
fn end() {
    assert_eq!(release(), OK);
    assert_eq!(close(), OK);
    assert_clean();
}

/// Fails the next call of a kind.
fn fail(kind: &str, status: i32) {
    assert!(control::fail(kind, 1, Some(status)), "{kind}");
}

/// Calls of a kind so far.
fn count(kind: &str) -> u64 {
    control::calls(kind).expect("the name is a kind")
}

/// Memory of the program, zeros.
struct Pages(u64, u64);

impl Pages {
    fn new(bytes: u64) -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes as usize, access, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        Self(at.expose_provenance() as u64, bytes)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody uses any more.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(self.0 as usize), self.1 as usize) };
    }
}

/// A number in memory of the program or of the host.
fn peek(at: u64) -> u64 {
    // SAFETY: every caller knows that there is readable memory.
    unsafe { std::ptr::with_exposed_provenance::<u64>(at as usize).read_volatile() }
}

fn poke(at: u64, number: u64) {
    // SAFETY: as above, and it is writable.
    unsafe { std::ptr::with_exposed_provenance_mut::<u64>(at as usize).write_volatile(number) }
}

/// All of a range is set aside, and nobody can use it.
fn is_set_aside(at: u64, bytes: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the list is there");
    let mut next = at;
    for line in maps.lines() {
        let (range, rest) = line.split_once(' ').expect("a range and more");
        let (begin, end) = range.split_once('-').expect("two addresses");
        let number = |text| u64::from_str_radix(text, 16).expect("an address");
        if number(begin) <= next && next < number(end) && rest.starts_with("---p") {
            next = number(end);
        }
    }
    next >= at + bytes
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("the list is there").count()
}

/// Handles of the main table: more than these tests have.
fn some_handles() -> impl Iterator<Item = u32> {
    (0..2048).flat_map(|index| (0..4).map(move |unique| index << 6 | unique << 30))
}

/// Does `work` in another thread while no paging ends, and `meanwhile` here once it waits for that.
fn while_paging<T: Send>(work: impl FnOnce() -> T + Send, meanwhile: impl FnOnce()) -> T {
    set_paging(Paging { manual: true, ..Paging::DEFAULT });
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let thread = scope.spawn(work);
        while control::ledger().waits == 0 && !thread.is_finished() && begin.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let waits = control::ledger().waits > 0;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(meanwhile));
        while !thread.is_finished() {
            for handle in some_handles() {
                control::memory::finish(handle, u64::MAX);
            }
        }
        set_paging(Paging::DEFAULT);
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
        assert!(waits, "it did not wait for paging");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs a part of a C program of `tests/c` on the shared objects.
fn run_c(program: &str, machine: &str, arguments: &[&str], variables: &[(&str, &str)]) {
    // Other tests count the files of this process.
    liar::embed();
    let _alone = Machine::named("none");
    let folder = wsl::Machine::named(machine);
    let mut command = folder.command(folder.compile(program));
    command.args(arguments).env("ROCDXG_KMD_PROVIDER", wsl::built("libdxcore.so")).envs(variables.iter().copied());
    let output = command.output().expect("the program starts");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?} on {machine}: {}\n{log}", output.status);
}

// ---- Topology: items 13 to 20.

/// Banks of a node that does not exist, and before there is a snapshot, are refused.
#[test]
fn item_15_banks_of_a_node_that_is_not_there_are_refused() {
    let _machine = machine("gfx1100");
    let banks = |node, count, banks: &mut [HsaMemoryProperties]| {
        // SAFETY: the caller has at least as many places.
        unsafe { hsaKmtGetNodeMemoryProperties(node, count, banks.as_mut_ptr()) }
    };
    let mut places = [HsaMemoryProperties::ZERO; 16];
    assert_eq!(open(), OK);
    assert_ne!(banks(1, 1, &mut places), OK);
    acquire().expect("nothing fails");
    for node in [2, 99, u32::MAX] {
        assert_eq!(banks(node, 1, &mut places), NO_NODE);
    }
    assert_eq!(places, [HsaMemoryProperties::ZERO; 16]);
    assert_eq!(banks(1, 16, &mut places), OK, "more places than banks");
    end();
}

/// A node has as many banks as it says, each of some size.
#[test]
fn item_16_no_bank_is_empty() {
    for name in ["gfx1100", "apu", "dgpu-apu"] {
        let _machine = start(name);
        for id in 0..2 {
            let count = { embedded::node(id).NumMemoryBanks };
            let mut banks = vec![HsaMemoryProperties::ZERO; count as usize + 2];
            // SAFETY: two more places than the node has banks.
            assert_eq!(unsafe { hsaKmtGetNodeMemoryProperties(id, count, banks.as_mut_ptr()) }, OK);
            for (index, bank) in banks.iter().enumerate() {
                assert_eq!({ bank.SizeInBytes } != 0, index < count as usize, "{name}: node {id}, bank {index}");
            }
        }
        end();
    }
}

/// GPUs have ids that differ.
#[test]
fn item_17_gpus_have_ids_of_their_own() {
    let _machine = start("eight-gfx1100");
    let ids: std::collections::BTreeSet<_> = (1..9).map(|id| embedded::node(id).KFDGpuID).collect();
    assert_eq!(ids.len(), 8);
    assert!(!ids.contains(&0));
    end();
}

/// The first GPU comes after the CPU node, and memory of a node is on the GPU of that node.
#[test]
fn item_19_a_node_is_the_gpu_that_the_topology_says() {
    let _machine = start("two-gfx1100");
    for (node, adapter) in [(1, 0), (2, 1)] {
        let at = alloc(node, 200 * MIB, local());
        assert!(mark(adapter, at, 5) && marked(1 - adapter, at).is_none());
        assert_eq!(free(at), OK);
    }
    end();
}

// ---- Addresses: items 21 to 27.

/// Addresses that one GPU refuses are given back on the others and on the CPU, and the next try starts afresh.
#[test]
fn item_21_a_refused_reservation_leaves_nothing_reserved() {
    let _machine = machine("two-gfx1100");
    for k in 1..=4 {
        begin();
        let before = held();
        assert!(control::fail("ReserveGpuVirtualAddress", k, None));
        let at = alloc(1, 200 * MIB, local());
        assert_eq!(held()[6] - before[6], 2, "one range on each adapter");
        assert!(mark(0, at, 1));
        let other = alloc(0, MIB, host());
        assert_eq!(held()[6] - before[6], 4);
        assert_eq!((free(at), free(other)), (OK, OK));
        end();
        control::reset().expect("nothing is alive");
    }
    begin();
    let before = held();
    assert!(control::fail("ReserveGpuVirtualAddress", 0, None), "from now on every one");
    assert!(allocate(1, PAGE, 0, local()).is_err());
    assert!(allocate(0, PAGE, 0, host()).is_err());
    assert_eq!(held(), before);
    end();
}

/// A wanted address is taken wherever it is free, is recorded, and can be had again once it is given back.
#[test]
fn item_22_a_wanted_address_is_taken_and_recorded() {
    let _machine = start("gfx1100");
    let base = alloc(1, 64 * MIB, addresses());
    assert_eq!(free(base), OK);
    let at = |offset: u64, bytes: u64| alloc_at(1, bytes, 0, addresses(), base + offset);
    assert_eq!(at(0, 64 * MIB), OK, "at the start of the first free part");
    assert_eq!(free(base), OK);
    assert_eq!(at(5 * MIB, 3 * MIB), OK, "inside of it");
    for (offset, bytes) in [(4 * MIB, 2 * MIB), (7 * MIB, MIB), (5 * MIB, 3 * MIB), (6 * MIB, PAGE), (0, 64 * MIB)] {
        assert_eq!(at(offset, bytes), NO_MEMORY, "{offset:#x} {bytes:#x}");
    }
    assert_eq!(at(8 * MIB, MIB), OK);
    assert_eq!(at(4 * MIB, MIB), OK);
    let elsewhere = alloc(1, 48 * MIB, addresses());
    assert!(elsewhere >= base + 9 * MIB || elsewhere + 48 * MIB <= base + 4 * MIB);
    for address in [base + 5 * MIB, elsewhere, base + 8 * MIB, base + 4 * MIB] {
        assert_eq!(free(address), OK);
    }
    assert_eq!(at(0, 64 * MIB), OK, "the parts are one again");
    assert_eq!(free(base), OK);
    for address in [base - PAGE, base - GIB, PAGE, 1 << 46, 1 << 60, u64::MAX - PAGE + 1] {
        assert_eq!(alloc_at(1, PAGE, 0, addresses(), address), NO_MEMORY, "{address:#x}");
    }
    end();
}

/// A wanted address that cannot be had is an error, never another address.
#[test]
fn item_23_another_address_is_no_success() {
    let _machine = start_whole("gfx1100");
    let taken = alloc(1, 4 * MIB, local());
    assert!(mark(0, taken, 9));
    assert_eq!(alloc_at(1, 2 * MIB, 0, local(), taken), NO_MEMORY);
    assert_eq!(alloc_at(1, 2 * MIB, 0, local(), taken + MIB), NO_MEMORY);
    assert_eq!(marked(0, taken), Some(9));
    let before = held();
    for (address, alignment) in [(1, 0), (PAGE / 2, 0), (PAGE, 2 * MIB), (MIB, 2 * MIB)] {
        for flags in [local(), addresses()] {
            let at = taken + 64 * MIB + address;
            assert_eq!(alloc_at(1, 64 << 10, alignment, flags, at), BAD, "{address:#x} {alignment:#x}");
        }
    }
    assert_eq!(held(), before);
    assert_eq!(alloc_at(1, 2 * MIB, 2 * MIB, local(), taken + 64 * MIB), OK);
    assert_eq!((free(taken + 64 * MIB), free(taken)), (OK, OK));
    end();
}

/// The address is a multiple of the wanted alignment, however large that or the size is; what is no power of two is refused.
#[test]
fn item_24_a_larger_alignment_is_kept() {
    for whole in [false, true] {
        let _machine = if whole { start_whole("gfx1100") } else { start("gfx1100") };
        for flags in [local(), addresses(), host(), signals()] {
            let node = u32::from(flags.get(HsaMemFlags::HostAccess) == 0);
            for bytes in [PAGE, 64 << 10, 2 * MIB, 3 * MIB, 130 * MIB] {
                for alignment in [PAGE, 64 << 10, 2 * MIB, 8 * MIB, 128 * MIB, GIB] {
                    let at = allocate(node, bytes, alignment, flags).expect("there is room");
                    assert!(at.is_multiple_of(alignment), "{flags:?}: {bytes:#x} at {at:#x}, not {alignment:#x}");
                    assert_eq!(free(at), OK);
                }
            }
            for alignment in [1, 2048, 3 << 12, (1 << 20) + 1, u64::MAX] {
                assert_eq!(allocate(node, PAGE, alignment, flags), Err(BAD), "{alignment:#x}");
            }
            assert_eq!(allocate(node, PAGE, 1 << 63, flags), Err(NO_MEMORY));
        }
        end();
    }
}

/// No bytes are an error of the caller, and more than there can be is no memory; nothing is taken for either.
#[test]
fn item_25_sizes_of_nothing_and_of_too_much_are_refused() {
    let _machine = start_whole("gfx1100");
    for (node, flags) in [(0, host()), (0, signals()), (1, local()), (1, addresses()), (1, loose())] {
        let at = alloc(node, PAGE, flags);
        let before = held();
        for alignment in [0, PAGE, GIB] {
            assert_eq!(allocate(node, 0, alignment, flags), Err(BAD));
            for bytes in [1 << 47, 1 << 48, 1 << 63, u64::MAX - PAGE + 1] {
                assert_eq!(allocate(node, bytes, alignment, flags), Err(NO_MEMORY), "{flags:?}: {bytes:#x}");
            }
            for bytes in [1, PAGE + 1, u64::MAX] {
                assert_eq!(allocate(node, bytes, alignment, flags), Err(BAD), "{flags:?}: {bytes:#x}");
            }
        }
        assert_eq!(held(), before);
        assert_eq!(free(at), OK);
    }
    end();
}

/// Addresses are found as long as any free part has them, wherever it is.
#[test]
fn item_26_every_free_part_is_tried() {
    let _machine = start("gfx1100");
    let window = allocate(1, 256 * MIB, 4 * MIB, addresses()).expect("there is room");
    assert_eq!(free(window), OK);
    let mut taken = Vec::new();
    let mut fill = |offset: u64, bytes: u64| {
        assert_eq!(alloc_at(1, bytes, 0, addresses(), window + offset), OK);
        taken.push(window + offset);
    };
    // Parts of the right size in wrong places, one in the right place, and nothing else.
    const WRONG: u64 = 40;
    for index in 0..WRONG {
        fill(index * 4 * MIB, 64 << 10);
        fill(index * 4 * MIB + (64 << 10) + MIB, 3 * MIB - (64 << 10));
    }
    let right = (WRONG + 1) * 4 * MIB;
    fill(WRONG * 4 * MIB, 4 * MIB);
    fill(right + MIB, 256 * MIB - right - MIB);
    for log in (21..48).rev() {
        while let Ok(at) = allocate(1, 1 << log, 0, addresses()) {
            taken.push(at);
        }
    }
    assert_eq!(allocate(1, MIB, MIB, addresses()), Ok(window + right));
    assert_eq!(allocate(1, MIB, MIB, addresses()), Err(NO_MEMORY));
    for at in taken.into_iter().chain([window + right]) {
        assert_eq!(free(at), OK);
    }
    end();
}

/// Memory of others is taken in by a process that has none of its own yet, or is refused where there are no addresses.
#[test]
fn item_27_taking_in_needs_no_allocation_before() {
    let _machine = start_whole("gfx1100");
    let (pages, own) = (alloc(0, 64 << 10, signals()), alloc(1, 64 << 10, local()));
    poke(pages, 11);
    assert!(mark(0, own, 12));
    let files = [export(pages, PAGE).expect("a file").0, export(own, PAGE).expect("a file").0];
    assert_eq!((free(pages), free(own)), (OK, OK));
    end();
    assert!(import(&files[0], &[1]).is_err(), "nothing is open");
    for (file, number) in files.iter().zip([11, 12]) {
        assert_eq!(open(), OK);
        assert!(import(file, &[1]).is_err(), "there is no snapshot");
        acquire().expect("nothing fails");
        let (at, bytes, node) = import(file, &[1]).expect("the first thing of all");
        assert_eq!((marked(0, at), bytes, node), (Some(number), 64 << 10, 1));
        assert!(at.is_multiple_of(64 << 10));
        assert_eq!(deregister(at), OK);
        end();
        control::reset().expect("nothing is alive");
        begin();
        assert!(control::fail("ReserveGpuVirtualAddress", 0, None));
        let before = held();
        assert!(import(file, &[1]).is_err(), "there are no addresses");
        assert_eq!(held(), before);
        end();
        control::reset().expect("nothing is alive");
    }
}

// ---- Allocation objects: items 28 to 40.

fn free_surely(at: u64) {
    assert!((0..50).any(|_| free(at) == OK), "{at:#x} cannot be freed");
}

/// What a failed call gives back, it gives back once: memory that another thread gets meanwhile is left alone.
#[test]
fn item_28_a_failed_allocation_gives_back_once() {
    let _machine = machine_that_reuses("gfx1100", true);
    let before = held();
    let stop = AtomicBool::new(false);
    let user = &|seed: u64| {
        let mut round = seed << 32;
        while !stop.load(Ordering::Acquire) {
            round += 1;
            let (node, flags) = if round.is_multiple_of(3) { (0, host()) } else { (1, local()) };
            let Ok(at) = allocate(node, 64 << 10, 0, flags) else { continue };
            assert!(mark(0, at, round), "{at:#x} is not mapped");
            assert_eq!(marked(0, at), Some(round), "{at:#x} is somebody else's");
            free_surely(at);
        }
    };
    std::thread::scope(|scope| {
        let users = [1, 2].map(|seed| scope.spawn(move || user(seed)));
        for round in 0..300 {
            let kinds = ["CreateAllocation2", "MapGpuVirtualAddress", "MakeResident"];
            let statuses = [None, Some(ntstatus::NO_MEMORY), Some(ntstatus::TIMEOUT)];
            assert!(control::fail(kinds[round % 3], 1, statuses[round / 3 % 3]));
            if let Ok(at) = allocate(1, 128 << 10, 0, local()) {
                free_surely(at);
            }
        }
        stop.store(true, Ordering::Release);
        for user in users {
            user.join().expect("no other thread's memory was touched");
        }
    });
    assert_eq!(held()[..6], before[..6]);
    control::set_handles(control::Handles::default()).expect_err("something is alive");
    end();
    control::set_handles(control::Handles::default()).expect("nothing is alive");
}

/// A machine whose handles are used again at once, open.
fn machine_that_reuses(name: &str, whole: bool) -> Machine {
    let mut machine = machine(name);
    control::set_handles(control::Handles { reuse: true, collide: true }).expect("nothing is alive");
    if whole {
        machine.set("WSL_ENABLE_THUNK_SUB_ALLOCATOR", "0");
    }
    begin();
    machine
}

/// A handle is destroyed once, whatever the kernel says of it, though another allocation gets its number.
#[test]
fn item_29_a_handle_is_destroyed_once() {
    let _machine = machine_that_reuses("gfx1100", true);
    for (node, flags, large, small) in [(1, local(), 5 * GIB, 3 * GIB), (0, host(), 128 << 10, 64 << 10)] {
        let at = alloc(node, large, flags);
        fail("DestroyAllocation2", ntstatus::UNSUCCESSFUL);
        let destroyed = count("DestroyAllocation2");
        let _ = free(at);
        assert_eq!(free(at), NOT_REGISTERED);
        assert_eq!(count("DestroyAllocation2"), destroyed + 1);
        let next = alloc(node, small, flags);
        assert!(mark(0, next + small - 8, 3) && mark(0, next, 4));
        if at != next {
            assert_eq!(free(at), NOT_REGISTERED);
        }
        assert_eq!((marked(0, next), marked(0, next + small - 8)), (Some(4), Some(3)));
        assert_eq!(free(next), OK);
    }
    end();
    control::set_handles(control::Handles::default()).expect("nothing is alive");
}

/// Addresses are free for others when nothing is mapped there any more, not before.
#[test]
fn item_30_addresses_are_given_back_last() {
    let _machine = start("gfx1100");
    for (node, flags) in [(1, local()), (0, host())] {
        let at = alloc(node, 200 * MIB, flags);
        let freed = while_paging(
            || free(at),
            || {
                assert_ne!(held()[0], 0, "it is destroyed before its mapping is gone");
                assert_eq!(alloc_at(1, PAGE, 0, addresses(), at), NO_MEMORY);
                assert_eq!(free(at), NOT_REGISTERED, "it is being freed");
            },
        );
        assert_eq!(freed, OK);
    }
    let at = alloc(1, 200 * MIB, local());
    assert_eq!(free(at), OK);
    assert_eq!(alloc_at(1, PAGE, 0, addresses(), at), OK);
    assert_eq!(free(at), OK);
    end();
}

/// An unmap that goes on for a while is a success, and takes away all that was mapped.
#[test]
fn item_31_an_unmap_that_takes_time_is_a_success() {
    let _machine = start("gfx1100");
    let (memory, range) = (alloc(1, 8 * MIB, loose()), alloc(1, 32 * MIB, addresses()));
    let handle = handle_of(range, memory).expect("a handle");
    for immediate_every in [0, 1, 2] {
        set_paging(Paging { immediate_every, delay_us: 500, ..Paging::DEFAULT });
        let before = held();
        assert_eq!(place(handle, MIB, 4 * MIB, range + 2 * MIB), OK);
        assert!(mark(0, range + 2 * MIB, 8));
        assert_eq!(displace(handle, MIB, 4 * MIB, range + 2 * MIB), OK);
        assert_eq!(marked(0, range + 2 * MIB), None);
        assert_eq!(held()[5], before[5]);
        let user = Pages::new(PAGE);
        assert_eq!(register(user.0, PAGE), OK);
        let seen = map(user.0, PAGE).expect("it is registered");
        assert!(mark(0, seen, 1));
        assert_eq!((unmap(user.0), deregister(user.0)), (OK, OK));
        assert_eq!(held()[5], before[5]);
    }
    assert_eq!((free_handle(handle), free(memory), free(range)), (OK, OK, OK));
    end();
}

/// A part that is mapped lies inside its memory, and may cross from one kernel allocation to the next at any offset.
#[test]
fn item_32_parts_of_memory_are_mapped_inside_it() {
    run_c("dxg_handles", "gfx1100", &["places"], &[]);
}

/// When a place is refused, what was mapped of it is unmapped.
#[test]
fn item_32_a_place_that_fails_leaves_nothing_mapped() {
    run_c("dxg_handles", "gfx1100", &["failures"], &[]);
}

/// Addresses that get no memory when they are mapped say so, and can be mapped later.
#[test]
fn item_33_addresses_that_get_no_memory_say_so() {
    let _machine = start("gfx1100");
    let range = alloc(1, 4 * MIB, addresses());
    let before = held();
    for kind in ["CreateAllocation2", "MapGpuVirtualAddress", "MakeResident"] {
        for status in [ntstatus::NO_MEMORY, ntstatus::DEVICE_REMOVED] {
            fail(kind, status);
            let expected = if status == ntstatus::NO_MEMORY { NO_MEMORY } else { LOST };
            assert_eq!(map(range, 4 * MIB), Err(expected), "{kind}");
            assert_eq!(what(range), Ok((HSA_POINTER_RESERVED_ADDR, range, 4 * MIB)));
            assert_eq!(held(), before, "{kind}");
            assert_eq!(marked(0, range), None);
        }
    }
    assert_eq!(map(range, 4 * MIB), Ok(range));
    assert!(mark(0, range + 4 * MIB - 8, 1));
    assert_eq!((unmap(range), free(range)), (OK, OK));
    end();
}

/// A file that the library takes for memory by its name, of `bytes`.
fn memory_file(name: &std::ffi::CStr, bytes: u64) -> File {
    // SAFETY: a C string; the result is checked before it is owned.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    assert!(fd >= 0);
    // SAFETY: just made, and nobody else's.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(bytes).expect("it takes no memory");
    file
}

/// An import that fails gives back its addresses and its file, and unmaps nothing else.
#[test]
fn item_34_a_failed_import_gives_back_what_it_took_and_nothing_else() {
    let _machine = start_whole("gfx1100");
    let text = || {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the list is there");
        maps.lines().filter(|line| line.contains("r-xp")).count()
    };
    let (pages, own) = (alloc(0, 64 << 10, signals()), alloc(1, 64 << 10, local()));
    drop(export(own, PAGE).expect("a file"));
    for (at, number) in [(pages, 7), (own, 8)] {
        assert!(mark(0, at, number));
        let (file, _) = export(at, PAGE).expect("a file");
        let (before, files, code) = (held(), open_files(), text());
        let kinds = [
            "CreateAllocation2",
            "MapGpuVirtualAddress",
            "MakeResident",
            "QueryResourceInfoFromNtHandle",
            "OpenResourceFromNtHandle",
        ];
        let mut failed = 0;
        for kind in kinds {
            let done = count(kind);
            fail(kind, ntstatus::NO_MEMORY);
            match import(&file, &[1]) {
                Ok((taken, ..)) => assert_eq!(deregister(taken), OK),
                Err(status) => {
                    failed += 1;
                    assert_eq!(status, NO_MEMORY, "{kind}");
                }
            }
            assert_eq!((held(), open_files(), text()), (before, files, code), "{kind}");
            // Those that were not called still have their failure before them: it is used up elsewhere.
            if count(kind) == done && !kind.ends_with("NtHandle") {
                assert!(allocate(0, 64 << 10, 0, host()).is_err(), "{kind}");
            } else if count(kind) == done {
                assert!(import(&export(own, PAGE).expect("a file").0, &[1]).is_err(), "{kind}");
            }
        }
        assert!(failed >= 3, "{failed}");
        assert_eq!(marked(0, at), Some(number));
    }
    let before = (held(), open_files());
    for (bytes, status) in [(0, BAD), (100, BAD), (4097, BAD), (1 << 45, NO_MEMORY)] {
        let file = memory_file(c"rocr4wsl_gtt", bytes);
        assert_eq!(import(&file, &[1]), Err(status), "{bytes}");
        drop(file);
        assert_eq!((held(), open_files()), before, "{bytes}");
    }
    assert_eq!((free(pages), free(own)), (OK, OK));
    end();
}

/// Addresses of shared host memory stay set aside after it is freed, so that nothing of others lands there.
#[test]
fn item_34b_freed_shared_memory_leaves_no_hole() {
    let _machine = start("gfx1100");
    let at = alloc(0, 4 * MIB, signals());
    let (file, _) = export(at, PAGE).expect("a file");
    let (taken, ..) = import(&file, &[1]).expect("memory");
    assert!(!is_set_aside(at, 4 * MIB) && !is_set_aside(taken, 4 * MIB));
    assert_eq!((free(at), deregister(taken)), (OK, OK));
    assert!(is_set_aside(at, 4 * MIB) && is_set_aside(taken, 4 * MIB));
    fail("MakeResident", ntstatus::NO_MEMORY);
    assert_eq!(allocate(0, 4 * MIB, 0, signals()), Err(NO_MEMORY));
    assert!(is_set_aside(at, 4 * MIB));
    end();
}

/// A file that is exported is the caller's alone: the library neither keeps it nor closes it.
#[test]
fn item_35_an_exported_file_is_the_callers_alone() {
    let _machine = start_whole("gfx1100");
    for (node, bytes, flags) in [(1, 64 << 10, local()), (1, 200 * MIB, local()), (0, 64 << 10, signals())] {
        let at = alloc(node, bytes, flags);
        let files = open_files();
        let (first, second) = (export(at, PAGE).expect("a file").0, export(at, PAGE).expect("a file").0);
        assert_ne!(first.as_raw_fd(), second.as_raw_fd());
        let number = first.as_raw_fd();
        drop(first);
        let own = File::open("/dev/null").expect("there is one");
        assert_eq!(own.as_raw_fd(), number, "the number is used again");
        assert_eq!(free(at), OK);
        let link = std::fs::read_link(format!("/proc/self/fd/{number}")).expect("it is open");
        assert_eq!(link.as_os_str(), "/dev/null");
        let (taken, ..) = import(&second, &[1]).expect("it lives in its file");
        assert_eq!(deregister(taken), OK);
        drop((own, second));
        assert!(open_files() <= files);
    }
    end();
}

/// What an exporter says of its memory is bounded and checked before it is used.
#[test]
fn item_36_an_exporter_is_not_believed() {
    let _machine = start_whole("gfx1100");
    let at = alloc(1, 64 << 10, local());
    assert!(mark(0, at, 71));
    let (file, _) = export(at, PAGE).expect("a file");
    let before = held();
    let sizes: [fn(&mut liar::Query); 8] = [
        |sizes| sizes.NumAllocations = 0,
        |sizes| sizes.NumAllocations = u32::MAX,
        |sizes| sizes.NumAllocations = 2,
        |sizes| sizes.PrivateRuntimeDataSize = u32::MAX,
        |sizes| sizes.TotalPrivateDriverDataSize = u32::MAX,
        |sizes| sizes.TotalPrivateDriverDataSize = 0,
        |sizes| sizes.ResourcePrivateDriverDataSize = u32::MAX,
        |sizes| sizes.PrivateRuntimeDataSize = 0,
    ];
    for (case, change) in sizes.into_iter().enumerate() {
        liar::change_sizes(change);
        if let Ok((taken, bytes, _)) = import(&file, &[1]) {
            // Who tells less is not wrong.
            assert_eq!((marked(0, taken), bytes), (Some(71), 64 << 10), "sizes {case}");
            assert_eq!(deregister(taken), OK);
        }
        assert_eq!(held(), before, "sizes {case}");
    }
    liar::honest();
    // Every byte of the record.
    for byte in 0..64 {
        liar::change_contents(move |opened| {
            assert_eq!(opened.PrivateRuntimeDataSize, 64);
            // SAFETY: the caller's buffer has as many bytes as it says.
            unsafe { *opened.pPrivateRuntimeData.cast::<u8>().add(byte) ^= 0x80 };
        });
        match import(&file, &[1]) {
            Ok((taken, bytes, _)) => {
                assert!(byte < 4, "byte {byte}: only what is no record of ours is left aside");
                assert_eq!((marked(0, taken), bytes), (Some(71), 64 << 10), "the driver knows its size");
                assert_eq!(deregister(taken), OK);
            }
            Err(status) => assert_eq!(status, ERROR, "byte {byte}"),
        }
        assert_eq!(held(), before, "byte {byte}");
    }
    // Data that lie elsewhere, or are larger than their buffer.
    let contents: [fn(&mut dxcore::d3dkmt::D3DDDI_OPENALLOCATIONINFO2); 4] = [
        |info| info.pPrivateDriverData = std::ptr::null(),
        |info| info.pPrivateDriverData = std::ptr::without_provenance(16),
        |info| info.PrivateDriverDataSize = u32::MAX,
        |info| info.pPrivateDriverData = info.pPrivateDriverData.wrapping_byte_add(1 << 40),
    ];
    for (case, change) in contents.into_iter().enumerate() {
        liar::change_contents(move |opened| {
            // SAFETY: the list has at least one element.
            change(unsafe { &mut *opened.pOpenAllocationInfo2 });
        });
        if let Ok((taken, bytes, _)) = import(&file, &[1]) {
            assert_eq!((marked(0, taken), bytes), (Some(71), 64 << 10), "contents {case}");
            assert_eq!(deregister(taken), OK);
        }
        assert_eq!(held(), before, "contents {case}");
    }
    liar::honest();
    let (taken, ..) = import(&file, &[1]).expect("nobody lies");
    assert_eq!((deregister(taken), free(at)), (OK, OK));
    // No `end`: the kernel has seen buffers that are too small, and recorded them.
    assert_eq!((release(), close(), control::ledger().total()), (OK, OK, 0));
}

/// Any descriptor is one, 0 included; a file is memory by what it is, not by a part of its name; nodes are checked first.
#[test]
fn item_37_a_file_is_taken_for_what_it_is() {
    let _machine = start("gfx1100");
    let at = alloc(0, 64 << 10, signals());
    poke(at, 21);
    let (file, _) = export(at, PAGE).expect("a file");
    for node in [2, 77, u32::MAX] {
        assert_eq!(import(&file, &[node]), Err(NO_NODE));
    }
    assert_eq!(import(&file, &[0]), Err(BAD), "a CPU takes nothing in");
    let mut tiles = HsaGpuTileConfig::ZERO;
    // SAFETY: a place for one structure.
    assert_ne!(unsafe { hsaKmtGetTileConfig(0, &mut tiles) }, OK);

    // SAFETY: descriptors of ours; 0 is put back below, and nobody reads from it here.
    let kept = unsafe { OwnedFd::from_raw_fd(libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3)) };
    // SAFETY: as above.
    assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), 0) }, 0);
    let (by_address, by_handle) = (import_number(0, &[1]), import_handle(0));
    // SAFETY: as above.
    assert_eq!(unsafe { libc::dup2(kept.as_raw_fd(), 0) }, 0);
    let (taken, ..) = by_address.expect("0 is a file like any other");
    assert_eq!(peek(taken), 21);
    assert_eq!(deregister(taken), OK);
    assert_eq!(free_handle(by_handle.expect("0 is a file like any other").0), OK);

    let before = held();
    for name in [c"rocr4wsl_gtt2", c"x rocr4wsl_gtt", c"/memfd:rocr4wsl_gtt"] {
        assert!(import(&memory_file(name, 64 << 10), &[1]).is_err(), "{name:?}");
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = File::create_new(folder.path().join("memfd:rocr4wsl_gtt (deleted)")).expect("the folder is ours");
    file.set_len(64 << 10).expect("the file is ours");
    assert!(import(&file, &[1]).is_err());
    for number in [9999, u64::from(u32::MAX), 1 << 40, u64::MAX] {
        assert_eq!(import_number(number, &[1]), Err(BAD), "{number:#x}");
    }
    assert_eq!(held(), before);
    assert_eq!(free(at), OK);
    // Four files that are no memory: only the kernel knows.
    let odd: Vec<_> = control::violations().into_iter().filter(|v| !v.contains("names no shared resource")).collect();
    assert_eq!(odd, Vec::<String>::new());
    assert_eq!((release(), close(), control::ledger().total()), (OK, OK, 0));
}

/// Memory lives as long as one of its owners, however many there are, the first or another.
#[test]
fn item_38_owners_are_counted_without_a_limit() {
    let _machine = start_whole("gfx1100");
    for (node, flags) in [(1, local()), (0, signals())] {
        let before = held();
        let at = alloc(node, 64 << 10, flags);
        assert!(mark(0, at, 33));
        let (file, _) = export(at, PAGE).expect("a file");
        let take = || import(&file, &[1]).expect("memory").0;
        let mut owners: Vec<_> = (0..20).map(|_| take()).collect();
        for (left, owner) in owners.drain(..19).enumerate() {
            assert_eq!(deregister(owner), OK, "{left}");
            assert_eq!(marked(0, at), Some(33));
        }
        assert_eq!(free(at), OK);
        drop(file);
        assert_eq!(marked(0, owners[0]), Some(33), "the first owner is gone, not the last");
        assert_eq!(deregister(owners[0]), OK);
        assert_eq!(held()[..6], before[..6]);
    }
    let user = Pages::new(PAGE);
    for _ in 0..300 {
        assert_eq!(register(user.0, PAGE), OK);
    }
    for _ in 0..300 {
        assert!(map(user.0, PAGE).is_ok());
        assert_eq!(deregister(user.0), OK);
    }
    assert_eq!(deregister(user.0), NOT_REGISTERED);
    end();
}

/// Callers can tell apart: no memory, a mistake of theirs, a device that is lost, a refusal.
#[test]
fn item_39_failures_are_told_apart() {
    let _machine = start_whole("gfx1100");
    let get = |node, bytes| allocate(node, bytes, 0, local());
    assert_eq!((get(1, 0), get(1, 1), get(9, PAGE)), (Err(BAD), Err(BAD), Err(NO_NODE)));
    assert_eq!(get(1, 25 * GIB), Err(NO_MEMORY), "more than the GPU has");
    assert_eq!(get(1, 1 << 46), Err(NO_MEMORY), "more than there are addresses");
    assert!(set_budget(0, 0, Some(GIB)));
    assert_eq!(get(1, 2 * GIB), Err(NO_MEMORY), "more than may be resident");
    assert!(set_budget(0, 0, None));
    for kind in ["CreateAllocation2", "MapGpuVirtualAddress", "MakeResident"] {
        let cases = [
            (ntstatus::NO_MEMORY, NO_MEMORY),
            (ntstatus::DEVICE_REMOVED, LOST),
            (ntstatus::TIMEOUT, LOST),
            (ntstatus::INVALID_PARAMETER, ERROR),
            // Of a creation the host's reason is lost, and what is left of it says that there is no memory.
            (ntstatus::ACCESS_DENIED, if kind == "CreateAllocation2" { NO_MEMORY } else { ERROR }),
        ];
        for (status, expected) in cases {
            fail(kind, status);
            assert_eq!(get(1, 64 << 10), Err(expected), "{kind} {status:#x}");
        }
    }
    end();
}

/// A wait for paging ends when the device is lost.
#[test]
fn item_39_a_lost_device_ends_the_wait_for_its_paging() {
    let _machine = start_whole("gfx1100");
    let at = alloc(1, 64 << 10, local());
    let over = AtomicBool::new(false);
    let outcome = while_paging(
        || {
            let outcome = allocate(1, 64 << 10, 0, local());
            over.store(true, Ordering::Release);
            outcome
        },
        || {
            let devices = some_handles().filter(|h| control::set_device_state(*h, execution_state::HUNG, false));
            assert_eq!(devices.count(), 1);
            let begin = Instant::now();
            while !over.load(Ordering::Acquire) && begin.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(over.load(Ordering::Acquire), "it still waits");
        },
    );
    assert_eq!(outcome, Err(LOST));
    assert_eq!(allocate(1, 64 << 10, 0, local()), Err(LOST));
    assert_eq!(what(at), Ok((HSA_POINTER_ALLOCATED, at, 64 << 10)), "what there was is still known");
    assert_eq!(free(at), OK, "a lost device holds nothing back");
    end();
}

/// Only memory that can be exported is created as a resource that can be shared.
#[test]
fn item_40_what_is_never_shared_is_no_resource() {
    let _machine = start_whole("gfx1100");
    let user = Pages::new(PAGE);
    let range = alloc(1, MIB, addresses());
    let (paged, pages) = (alloc(0, MIB, host()), alloc(0, MIB, signals()));
    assert_eq!(register(user.0, PAGE), OK);
    assert_eq!(held()[1..3], [0, 0]);
    assert_eq!(export(paged, PAGE).map(|_| ()), Err(BAD), "it was not made to be shared");
    assert_eq!(export(user.0, PAGE).map(|_| ()), Err(BAD));
    assert_eq!(export(range, PAGE).map(|_| ()), Err(BAD));
    assert!(export(pages, PAGE).is_ok());
    assert_eq!(held()[1..3], [0, 0]);
    let own = alloc(1, MIB, local());
    assert!(export(own, PAGE).is_ok());
    for at in [range, paged, pages, own] {
        assert_eq!(free(at), OK);
    }
    assert_eq!(deregister(user.0), OK);
    end();
}

// ---- Tables: items 42 to 49.

fn set_user_data(at: u64) -> HSAKMT_STATUS {
    // SAFETY: the library keeps the word and does not use it.
    unsafe {
        hsaKmtSetMemoryUserData(std::ptr::with_exposed_provenance(at as usize), std::ptr::without_provenance_mut(5))
    }
}

/// While the kernel maps, frees or registers one allocation, questions about any are answered.
#[test]
fn item_42_no_lock_is_held_while_the_kernel_works() {
    let _machine = start("two-gfx1100");
    let user = Pages::new(PAGE);
    let (slow, other, own) = (alloc(0, MIB, host()), alloc(0, MIB, host()), alloc(1, 200 * MIB, local()));
    assert_eq!(map(other, MIB), Ok(other));
    let answers = |known: &[u64]| {
        let begin = Instant::now();
        for at in known {
            assert_eq!(what(*at).map(|what| what.1), Ok(*at));
            assert_eq!(set_user_data(*at), OK);
        }
        assert_eq!(map(other, MIB), Ok(other), "it is mapped already");
        let range = alloc(1, MIB, addresses());
        assert_eq!(free(range), OK);
        assert_eq!((free(12345 * PAGE), deregister(12345 * PAGE)), (NOT_REGISTERED, NOT_REGISTERED));
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    };
    assert_eq!(while_paging(|| map(slow, MIB), || answers(&[slow, other, own])), Ok(slow));
    assert!(while_paging(|| allocate(1, 300 * MIB, 0, local()).map(free), || answers(&[slow, other, own])).is_ok());
    assert_eq!(while_paging(|| register(user.0, PAGE), || answers(&[slow, other, own])), OK);
    assert_eq!(while_paging(|| deregister(user.0), || answers(&[slow, other, own])), OK);
    assert_eq!(while_paging(|| free(slow), || answers(&[other, own])), OK);
    assert_eq!(while_paging(|| free(own), || answers(&[other])), OK);
    assert_eq!(free(other), OK);
    end();
}

/// Threads that register the same memory share one registration, and the last that ends it frees it.
#[test]
fn item_43_threads_that_register_the_same_memory_share_it() {
    const THREADS: usize = 4;
    let _machine = start("gfx1100");
    let user = Pages::new(PAGE);
    let warm = alloc(0, PAGE, host());
    let before = held();
    for _ in 0..50 {
        let (both, done) = (Barrier::new(THREADS), Barrier::new(THREADS));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    both.wait();
                    let registered = register(user.0, PAGE);
                    done.wait();
                    let pins = held()[3] - before[3];
                    let ended = {
                        done.wait();
                        deregister(user.0)
                    };
                    assert_eq!((registered, pins, ended), (OK, 1, OK));
                });
            }
        });
        assert_eq!(held(), before);
        assert_eq!(what(user.0), Err(ERROR));
    }
    // One that ends the last registration beside one that begins the next.
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..100 {
                    assert_eq!(register(user.0, PAGE), OK, "{round}");
                    assert!(map(user.0, PAGE).is_ok(), "{round}");
                    assert_eq!(deregister(user.0), OK, "{round}");
                }
            });
        }
    });
    assert_eq!(held(), before);
    assert_eq!(free(warm), OK);
    end();
}

/// Registrations of different sizes at one address, and those that overlap, are each of their own.
#[test]
fn item_43_a_larger_registration_does_not_replace_a_smaller_one() {
    let _machine = start("gfx1100");
    let user = Pages::new(64 << 10);
    let before = (held()[0], held()[3]);
    for sizes in [[PAGE, 8 * PAGE], [8 * PAGE, PAGE]] {
        for bytes in sizes {
            assert_eq!(register(user.0, bytes), OK);
        }
        assert_eq!(register(user.0 + 4 * PAGE, 8 * PAGE), OK);
        assert_eq!(what(user.0 + 7 * PAGE).map(|what| what.2), Ok(8 * PAGE));
        assert_eq!(what(user.0 + 11 * PAGE).map(|what| what.2), Ok(8 * PAGE));
        assert_eq!((deregister(user.0), deregister(user.0)), (OK, OK));
        assert_eq!(deregister(user.0), NOT_REGISTERED);
        assert_eq!(what(user.0 + PAGE), Err(ERROR));
        assert_eq!(deregister(user.0 + 4 * PAGE), OK);
        assert_eq!((held()[0], held()[3]), before);
    }
    for (at, bytes) in [(u64::MAX - 100, PAGE), (u64::MAX - PAGE + 1, PAGE), (user.0, u64::MAX), (user.0 + 1, u64::MAX)]
    {
        assert_eq!(register(at, bytes), BAD, "{at:#x} {bytes:#x}");
    }
    end();
}

/// Memory of the user has two addresses for one thing: either ends it, and then neither is known.
#[test]
fn item_44_user_memory_ends_by_either_address() {
    let _machine = start("gfx1100");
    let user = Pages::new(3 * PAGE);
    let mine = user.0 + 0x123;
    let before = (held()[0], held()[5]);
    for by_gpu in [false, true] {
        assert_eq!(register(mine, 5000), OK);
        let seen = map(mine, 5000).expect("it is registered");
        let either = |gpu: bool| if gpu { seen } else { mine };
        for at in [mine, seen] {
            assert_eq!(free(at), NOT_REGISTERED, "it is no allocation");
            assert_eq!(what(at), Ok((HSA_POINTER_REGISTERED_USER, seen, 5000)));
        }
        assert_eq!(unmap(either(by_gpu)), OK);
        assert_eq!(what(either(!by_gpu)), Ok((HSA_POINTER_REGISTERED_USER, seen, 5000)));
        assert_eq!(map(either(!by_gpu), 5000), Ok(seen));
        assert_eq!(unmap(either(!by_gpu)), OK);
        assert_eq!(deregister(either(by_gpu)), OK);
        for at in [mine, seen, mine + 4999, seen + 4999] {
            assert_eq!(what(at), Err(ERROR));
        }
        assert_eq!((deregister(mine), deregister(seen)), (NOT_REGISTERED, NOT_REGISTERED));
        assert_eq!((held()[0], held()[5]), before);
    }
    end();
}

/// Each GPU of the list gets the memory, not only the first; without a list every GPU does.
#[test]
fn item_45_every_gpu_of_the_list_gets_the_memory() {
    let _machine = start("two-gfx1100");
    let user = Pages::new(PAGE);
    assert_eq!(register(user.0, PAGE), OK);
    let at = alloc(0, MIB, host());
    for (memory, number) in [(at, 1_u64), (user.0, 2)] {
        poke(memory, number);
        let seen = map_on(memory, PAGE, &[1, 2]).expect("both can");
        assert_eq!((marked(0, seen), marked(1, seen)), (Some(number), Some(number)));
        assert_eq!(unmap(memory), OK);
        let seen = map_on(memory, PAGE, &[2]).expect("it can");
        assert_eq!(marked(1, seen), Some(number));
        assert_eq!({ info(memory).expect("it is known").NMappedNodes }, 1);
        let seen = map(memory, PAGE).expect("all can");
        assert_eq!((marked(0, seen), marked(1, seen)), (Some(number), Some(number)));
        // An empty list is no list to look into.
        let _ = map_on(memory, PAGE, &[]);
        assert_eq!(unmap(memory), OK);
        assert_eq!(map_on(memory, PAGE, &[1, 9]), Err(NO_NODE));
    }
    let own = alloc(1, 200 * MIB, local());
    assert!(map_on(own, PAGE, &[1, 2]).is_err(), "GPUs do not reach each other here");
    assert_eq!(map_on(own, PAGE, &[1]), Ok(own));
    assert_eq!((free(own), free(at), deregister(user.0)), (OK, OK, OK));
    end();
}

/// A map that succeeds writes the address for GPUs, whatever kind of memory it is.
#[test]
fn item_46_a_map_writes_the_address_of_every_kind() {
    let _machine = start("gfx1100");
    let user = Pages::new(PAGE);
    assert_eq!(register(user.0, PAGE), OK);
    let (own, whole) = (alloc(1, 64 << 10, local()), alloc(1, 200 * MIB, local()));
    let (paged, pages, range) = (alloc(0, MIB, host()), alloc(0, MIB, signals()), alloc(1, MIB, addresses()));
    let taken = [own, whole, pages].map(|at| import(&export(at, PAGE).expect("a file").0, &[1]).expect("memory").0);
    for at in [own, whole, paged, pages, range, taken[0], taken[1], taken[2]] {
        assert_eq!(map(at, PAGE), Ok(at));
        assert_eq!(map(at, PAGE), Ok(at), "once more");
        assert!(mark(0, at, 3));
        assert_eq!(unmap(at), OK);
    }
    assert!(map(user.0, PAGE).is_ok_and(|seen| seen != user.0 && mark(0, seen, 4)));
    taken.into_iter().for_each(|at| assert_eq!(deregister(at), OK));
    [own, whole, paged, pages, range].into_iter().for_each(|at| assert_eq!(free(at), OK));
    assert_eq!(deregister(user.0), OK);
    end();
}

/// What is exported lies in one allocation from its first byte to its last; without a file there is no success.
#[test]
fn item_47_an_export_ends_in_its_allocation() {
    let _machine = start("gfx1100");
    for (node, bytes, flags) in [(1, 2 * PAGE, local()), (1, 200 * MIB, local()), (0, 64 << 10, signals())] {
        let (at, next) = (alloc(node, bytes, flags), alloc(node, bytes, flags));
        let start = export(at, bytes).expect("all of it").1;
        assert_eq!(export(at + PAGE, bytes - PAGE).map(|(_, offset)| offset), Ok(start + PAGE));
        assert_eq!(export(at + bytes - 1, 1).map(|(_, offset)| offset), Ok(start + bytes - 1));
        for (from, length) in [(at, bytes + 1), (at + PAGE, bytes), (at + 1, u64::MAX), (at + bytes - 1, 2)] {
            assert_eq!(export(from, length).map(|_| ()), Err(BAD));
        }
        assert_eq!(free(next), OK);
        assert_eq!(export(next, 1).map(|_| ()), Err(ERROR), "nothing is there");
        // No more files: the limit holds for new ones.
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a place for one structure.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) }, 0);
        let tight = libc::rlimit { rlim_cur: 3, ..limit };
        // SAFETY: as above.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &tight) }, 0);
        let refused = export(at, bytes).map(|_| ());
        // SAFETY: as above.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
        assert!(refused.is_err());
        assert!(export(at, bytes).is_ok());
        assert_eq!(free(at), OK);
    }
    end();
}

/// A pointer is what it is or unknown, also while it goes, and a piece is as large as it was asked for.
#[test]
fn item_48_a_pointer_is_told_while_it_goes() {
    let _machine = start("gfx1100");
    let at = alloc(1, 3 * PAGE, local());
    assert_eq!(what(at + 3 * PAGE - 1), Ok((HSA_POINTER_ALLOCATED, at, 3 * PAGE)));
    assert_eq!(what(at + 3 * PAGE), Err(ERROR), "not the block that it is cut from");
    assert_eq!(free(at), OK);
    let (place, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                let at = alloc(1, 3 * PAGE, local());
                place.store(at, Ordering::Release);
                assert_eq!(free(at), OK);
            }
        });
        let (mut known, begin) = (0, Instant::now());
        while known < 20 && begin.elapsed() < Duration::from_secs(5) {
            let at = place.load(Ordering::Acquire);
            if at != 0
                && let Ok(told) = what(at)
            {
                assert_eq!(told, (HSA_POINTER_ALLOCATED, at, 3 * PAGE));
                known += 1;
            }
        }
        stop.store(true, Ordering::Release);
        assert_ne!(known, 0);
    });
    end();
}

/// Handles are checked: stale ones, made-up ones and pointers are refused everywhere.
#[test]
fn item_49_stale_and_made_up_handles_are_refused() {
    let _machine = start("gfx1100");
    let (memory, range) = (alloc(1, MIB, loose()), alloc(1, MIB, addresses()));
    let stale = handle_of(range, memory).expect("a handle");
    assert_eq!(free_handle(stale), OK);
    let live = handle_of(range, memory).expect("a handle");
    let before = held();
    for handle in [0, 1, stale, live + 1, memory, range, std::ptr::from_ref(&live).addr() as u64, u64::MAX] {
        let object = std::ptr::with_exposed_provenance_mut(handle as usize);
        assert_eq!(place(handle, 0, PAGE, range), NO_HANDLE, "{handle:#x}");
        assert_eq!(displace(handle, 0, PAGE, range), NO_HANDLE);
        assert_eq!(free_handle(handle), NO_HANDLE);
        let (mut cpu, mut number) = (std::ptr::null_mut(), 0);
        // SAFETY: places for one pointer and one number; the handle is a number to the library.
        unsafe {
            assert_eq!(hsaKmtMemHandleFreePreserveMetadata(object), NO_HANDLE);
            assert_eq!(hsaKmtMemoryCpuMap(object, &mut cpu), NO_HANDLE);
            assert_eq!(hsaKmtMemoryGetCpuAddr(std::ptr::null_mut(), object, &mut number), NO_HANDLE);
        }
        let desc = HsaHandleExportDesc {
            r#type: HSA_EXTERNAL_HANDLE_DMA_BUF,
            buf_handle: object,
            ..HsaHandleExportDesc::ZERO
        };
        let (mut result, mut flags) = (HsaMemoryExportResult::ZERO, HsaHandleExportFlags::ZERO);
        // SAFETY: one structure each.
        assert_eq!(unsafe { hsaKmtHandleExport(&desc, &mut result, &mut flags) }, NO_HANDLE);
    }
    // SAFETY: NULL where a structure is wanted; no list.
    let status = unsafe { hsaKmtRegisterGraphicsHandleToNodes(0, std::ptr::null_mut(), 0, std::ptr::null_mut()) };
    assert_eq!(status, BAD);
    let (mut result, mut flags) = (HsaHandleImportResult::ZERO, HsaHandleImportFlags::ZERO);
    // SAFETY: NULL where a structure is wanted.
    unsafe {
        assert_eq!(hsaKmtHandleImport(std::ptr::null(), &mut result, &mut flags), NO_HANDLE);
        assert_eq!(hsaKmtHandleExport(std::ptr::null(), std::ptr::null_mut(), std::ptr::null_mut()), NO_HANDLE);
    }
    assert_eq!(held(), before);
    assert_eq!((free_handle(live), free(memory), free(range)), (OK, OK, OK));
    end();
}

/// A handle that is given back frees what was taken in by it.
#[test]
fn item_49_a_handle_frees_what_was_taken_in_by_it() {
    let _machine = start_whole("gfx1100");
    for (node, flags) in [(1, local()), (0, signals())] {
        let at = alloc(node, 64 << 10, flags);
        let (file, _) = export(at, PAGE).expect("a file");
        let (before, files) = (held(), open_files());
        for _ in 0..200 {
            let (handle, bytes) = import_handle(file.as_raw_fd().into()).expect("memory");
            assert_eq!(bytes, 64 << 10);
            assert_eq!(free_handle(handle), OK);
            assert_eq!(free_handle(handle), NO_HANDLE);
        }
        assert_eq!((held(), open_files()), (before, files));
        assert_eq!(free(at), OK);
    }
    end();
}

// ---- The sub-allocator and the limits of the host: items 51 and 52.

/// Threads that cut pieces at once get pieces that do not overlap.
#[test]
fn item_51_pieces_are_cut_by_many_threads_at_once() {
    let _machine = start("two-gfx1100");
    let cutter = |seed: u64| {
        let (mut state, mut mine) = (seed, Vec::<(usize, u64, u64, u64)>::new());
        for round in 0..400 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state >> 33;
            if mine.len() > 6 {
                let (adapter, at, bytes, number) = mine.swap_remove(random as usize % mine.len());
                assert_eq!((marked(adapter, at), marked(adapter, at + bytes - 8)), (Some(number), Some(number)));
                assert_eq!(free(at), OK);
            }
            let (adapter, bytes, number) = ((random & 1) as usize, (random % 700 + 1) * PAGE, seed << 32 | round);
            let at = alloc(adapter as u32 + 1, bytes, local());
            assert!(mark(adapter, at, number) && mark(adapter, at + bytes - 8, number));
            mine.push((adapter, at, bytes, number));
        }
        mine.into_iter().for_each(|(_, at, ..)| assert_eq!(free(at), OK));
    };
    std::thread::scope(|scope| (1..5).for_each(|seed| drop(scope.spawn(move || cutter(seed)))));
    assert!(control::ledger().allocations <= 2, "one empty block is kept for each GPU");
    end();
}

/// A piece is memory of the GPU that was asked for, with the flags and the alignment that were asked for.
#[test]
fn item_51_a_piece_is_what_was_asked_for() {
    let _machine = start("two-gfx1100");
    let fine = HsaMemFlags(0).with(HsaMemFlags::NonPaged, 1);
    for (node, adapter) in [(1, 0), (2, 1)] {
        let piece = alloc(node, PAGE, local());
        let same = alloc(node, PAGE, local());
        assert!(mark(adapter, piece, 6));
        assert_eq!(marked(1 - adapter, piece), None, "it is on the other GPU");
        let other = alloc(node, PAGE, fine);
        let segment = |at| {
            let file = export(at, PAGE).expect("a file");
            control::memory::shared_holders(file.0.as_raw_fd())
        };
        assert!(segment(other).is_some());
        assert!(piece.abs_diff(same) < 128 * MIB && piece.abs_diff(other) >= 128 * MIB, "other flags, other block");
        assert_eq!({ info(other).expect("it is known").MemFlags }, fine);
        let aligned = allocate(node, PAGE, 32 * MIB, local()).expect("there is room");
        assert!(aligned.is_multiple_of(32 * MIB) && aligned.abs_diff(piece) < 128 * MIB);
        [piece, same, other, aligned].into_iter().for_each(|at| assert_eq!(free(at), OK));
    }
    end();
}

/// Where there is no room for a block there may be room for what is wanted; where there is not, there is no piece.
#[test]
fn item_51_a_block_that_cannot_be_had_is_no_piece() {
    let _machine = start("gfx1100");
    fail("CreateAllocation2", ntstatus::NO_MEMORY);
    let at = alloc(1, PAGE, local());
    assert!(mark(0, at, 1), "an allocation of its own");
    assert_eq!(free(at), OK);
    let before = held()[..6].to_vec();
    for kind in ["CreateAllocation2", "MapGpuVirtualAddress", "MakeResident"] {
        fail(kind, ntstatus::DEVICE_REMOVED);
        assert_eq!(allocate(1, PAGE, 0, local()), Err(LOST), "{kind}");
        assert_eq!(held()[..6], before);
    }
    assert!(control::fail("CreateAllocation2", 1, Some(ntstatus::NO_MEMORY)));
    assert!(control::fail("CreateAllocation2", 2, Some(ntstatus::NO_MEMORY)));
    assert_eq!(allocate(1, PAGE, 0, local()), Err(NO_MEMORY));
    let at = alloc(1, PAGE, local());
    assert!(mark(0, at, 2));
    assert_eq!(free(at), OK);
    end();
}

/// Blocks that nobody uses are given back before anything is refused for want of memory.
#[test]
fn item_51_blocks_go_back_under_pressure() {
    let _machine = start("gfx1100");
    assert!(set_budget(0, 0, Some(GIB)));
    let user = alloc(0, PAGE, host());
    let cache = || {
        let piece = alloc(1, PAGE, local());
        assert_eq!(free(piece), OK);
        assert_eq!(control::ledger().residents, 2, "an empty block is kept");
    };
    cache();
    let all = alloc(1, GIB, local());
    assert_eq!((free(all), control::ledger().residents), (OK, 1));
    cache();
    let range = alloc(1, GIB, addresses());
    assert_eq!(map(range, GIB), Ok(range));
    assert_eq!(free(range), OK);
    cache();
    let (memory, range) = (alloc(1, GIB, loose()), alloc(1, GIB, addresses()));
    let handle = handle_of(range, memory).expect("a handle");
    assert_eq!(place(handle, 0, GIB, range), OK);
    assert_eq!(displace(handle, 0, GIB, range), OK);
    assert_eq!((free_handle(handle), free(memory), free(range)), (OK, OK, OK));
    cache();
    let fine = alloc(1, PAGE, HsaMemFlags(0).with(HsaMemFlags::NonPaged, 1));
    assert_eq!(allocate(1, GIB, 0, local()), Err(NO_MEMORY), "somebody uses a block");
    assert_eq!(what(fine).map(|what| what.2), Ok(PAGE));
    assert_eq!((free(fine), free(user)), (OK, OK));
    end();
}

/// Only the first open begins with new blocks; a piece that is alive keeps its own.
#[test]
fn item_51_only_the_first_open_begins_with_new_blocks() {
    let _machine = start("gfx1100");
    let first = alloc(1, PAGE, local());
    assert_eq!(open(), HSAKMT_STATUS_KERNEL_ALREADY_OPENED);
    let second = alloc(1, PAGE, local());
    assert!(first.abs_diff(second) < 128 * MIB && control::ledger().allocations == 1);
    assert!(mark(0, first, 1) && mark(0, second, 2));
    assert_eq!(close(), OK);
    assert_eq!(marked(0, first), Some(1));
    assert_eq!((release(), close()), (OK, OK));
    begin();
    let third = alloc(1, PAGE, local());
    assert_eq!(control::ledger().allocations, 2, "nothing is cut from a block of before");
    assert!(mark(0, third, 3));
    assert_eq!((marked(0, first), marked(0, second)), (Some(1), Some(2)));
    [first, second, third].into_iter().for_each(|at| assert_eq!(free(at), OK));
    end();
}

/// Host memory is refused by those who give it, not for what the system says of its free pages; without a snapshot it is
/// an order of calls that is wrong, not a lack of memory.
#[test]
fn item_52_free_pages_of_the_host_are_not_guessed() {
    let _machine = machine("gfx1100");
    assert_eq!(open(), OK);
    let early = allocate(0, PAGE, 0, host());
    assert!(early.is_err() && early != Err(NO_MEMORY), "{early:?}");
    acquire().expect("nothing fails");
    let mut text = std::fs::read_to_string("/proc/meminfo").expect("the list is there");
    text.retain(|c| c.is_ascii_digit() || c == '\n');
    let total = text.lines().next().and_then(|line| line.parse::<u64>().ok()).expect("a number") << 10;
    // As much as there is, cached or not: pages that nobody touches cost nothing.
    let bytes = (total / PAGE * PAGE).min(8 * GIB);
    let at = alloc(0, bytes, host());
    poke(at + bytes - 8, 1);
    assert_eq!(free(at), OK);
    end();
}

// ---- Reports.

/// Free memory is a number of bytes or an error, on hosts without segment groups too.
#[test]
fn b055_free_memory_is_bytes_or_an_error() {
    for name in ["gfx1100".to_owned(), data("old-gfx1100")] {
        let _machine = start(&name);
        let total = available(1).expect("nothing fails");
        assert_eq!(total, 25_769_803_776, "{name}");
        let before = count("QueryStatistics");
        assert_eq!(available(1), Ok(total));
        for k in 1..=count("QueryStatistics") - before {
            assert!(control::fail("QueryStatistics", k, None));
            assert!(available(1).is_err(), "{name}: the {k}th question");
        }
        assert_eq!(available(1), Ok(total));
        assert!(available(0).is_err() && available(9).is_err());
        end();
    }
}

/// A host that does not say what its segments are made of: only the GPU's own count, one as large as its memory or two
/// that make it up.
#[test]
fn b055_segments_without_types_are_told_apart_by_size() {
    let split = std::fs::read_to_string(data("old-gfx1100")).expect("it is in this repository");
    let untyped = split.replacen("wddm = 2700", "wddm = 2700\nuntyped_segments = true", 1);
    let (visible, rest) = ("bytes = 268_435_456", "bytes = 25_501_368_320");
    let one = untyped.replacen(visible, "bytes = 1_073_741_824", 1).replacen(rest, "bytes = 25_769_803_776", 1);
    for (name, text) in [("two", &untyped), ("one", &one)] {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("machine.toml");
        std::fs::write(&path, text).expect("there is room");
        let _machine = start_whole(path.to_str().expect("paths here are text"));
        let total = available(1).expect("nothing fails");
        assert_eq!(total, 25_769_803_776, "{name}");
        let (own, other) = (alloc(1, 300 * MIB, local()), alloc(0, 64 * MIB, host()));
        assert_eq!(available(1), Ok(total - 300 * MIB), "{name}");
        assert_eq!((free(own), free(other)), (OK, OK));
        assert_eq!(available(1), Ok(total), "{name}");
        end();
    }
}

/// Free memory is the total less what is resident of all local memory, and never below 0.
#[test]
fn b057_free_memory_is_the_total_less_what_is_resident() {
    for name in ["gfx1100".to_owned(), data("old-gfx1100")] {
        let _machine = start_whole(&name);
        let total = available(1).expect("nothing fails");
        // One in memory that the CPU reaches, one in memory that it does not, and one of the host.
        let visible = alloc(1, 200 * MIB, HsaMemFlags(0).with(HsaMemFlags::NonPaged, 1));
        assert_eq!(available(1), Ok(total - 200 * MIB), "{name}");
        let (invisible, other) = (alloc(1, 300 * MIB, local()), alloc(0, 64 * MIB, host()));
        assert_eq!(available(1), Ok(total - 500 * MIB), "{name}");
        assert_eq!(free(visible), OK);
        assert_eq!(available(1), Ok(total - 300 * MIB), "{name}");
        assert_eq!((free(invisible), free(other)), (OK, OK));
        assert_eq!(available(1), Ok(total));
        end();
    }
    let _machine = start(&data("overfull"));
    assert!(set_budget(0, 0, Some(8 * GIB)));
    assert_eq!(available(1), Ok(GIB));
    let at = alloc(1, 2 * GIB, local());
    assert_eq!(available(1), Ok(0));
    assert_eq!(free(at), OK);
    assert_eq!(available(1), Ok(GIB));
    end();
}

/// On an APU what it uses of the host's memory counts, segments that are aperture and system memory at once included.
#[test]
fn b058_an_apu_has_free_memory() {
    let _machine = start(&data("old-apu"));
    assert!(set_budget(0, 1, Some(16 * GIB)));
    assert_eq!(available(1), Ok(16 * GIB));
    let used = [GIB, 2 * GIB, 3 * GIB].map(|bytes| alloc(0, bytes, host()));
    assert_eq!(available(1), Ok(10 * GIB));
    used.into_iter().for_each(|at| assert_eq!(free(at), OK));
    end();
    drop(_machine);
    // The same segments, and less in all.
    let text = std::fs::read_to_string(data("old-apu")).expect("the file is there");
    let small = text.replace("16_642_998_272", "3_758_096_384");
    assert_ne!(small, text);
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("small.toml");
    std::fs::write(&file, small).expect("the folder is ours");
    let _machine = start(file.to_str().expect("paths here are text"));
    assert!(set_budget(0, 1, Some(16 * GIB)));
    assert_eq!(available(1), Ok(4 * GIB));
    let used = [GIB, 2 * GIB, 3 * GIB].map(|bytes| alloc(0, bytes, host()));
    assert_eq!(available(1), Ok(0));
    used.into_iter().for_each(|at| assert_eq!(free(at), OK));
    end();
    drop(_machine);
    // And on a host that knows groups.
    let _machine = start("apu");
    let total = available(1).expect("nothing fails");
    let (own, other) = (alloc(1, 200 * MIB, local()), alloc(0, 100 * MIB, host()));
    assert_eq!(available(1), Ok(total - 300 * MIB));
    assert_eq!((free(own), free(other)), (OK, OK));
    end();
}

/// What is freed is evicted first, and destroyed when the paging that this takes is done.
#[test]
fn b061_memory_is_evicted_and_unmapped_before_it_is_destroyed() {
    let _machine = start_whole("gfx1100");
    for (node, flags) in [(1, local()), (0, host())] {
        let at = alloc(node, MIB, flags);
        assert!(map(at, MIB).is_ok());
        let (evicted, destroyed) = (count("Evict"), count("DestroyAllocation2"));
        let freed = while_paging(
            || free(at),
            || {
                assert_eq!((count("Evict"), count("DestroyAllocation2")), (evicted + 1, destroyed));
                assert_eq!((control::ledger().residents, control::ledger().mappings), (0, 0));
            },
        );
        assert_eq!((freed, count("DestroyAllocation2")), (OK, destroyed + 1));
    }
    end();
}

/// A program that ends with memory alive ends at once.
#[test]
fn b061_a_program_that_frees_nothing_ends_at_once() {
    for paging in ["delay=0", "delay=20000"] {
        run_c("dxg_exit", "two-gfx1100", &[], &[("ROCDXG_FAKE_PAGING", paging), ("ROCDXG_FAKE_REPORT", "0")]);
    }
}

/// A pointer into registered memory is known from its first byte to its last, at any alignment, by either address.
#[test]
fn b063_a_pointer_query_knows_unaligned_memory() {
    let _machine = start("gfx1100");
    let user = Pages::new(4 * PAGE);
    let mine = user.0 + 0x234;
    assert_eq!(register(mine, 5000), OK);
    let seen = map(mine, 5000).expect("it is registered");
    assert_eq!(seen % PAGE, 0x234);
    for at in [mine, mine + 2500, mine + 4999, seen, seen + 4999] {
        let known = info(at).expect("it is known");
        assert_eq!(
            ({ known.Type }, { known.GPUAddress }, { known.SizeInBytes }),
            (HSA_POINTER_REGISTERED_USER, seen, 5000)
        );
        assert_eq!({ known.CPUAddress }.addr() as u64, mine);
    }
    for at in [mine - 1, mine + 5000, seen - 1, seen + 5000, user.0, user.0 + 2 * PAGE] {
        assert_eq!(what(at), Err(ERROR), "{at:#x}");
    }
    assert_eq!(deregister(mine), OK);
    end();
}

/// GPUs see registered memory elsewhere: each address leads to the other, and the CPU never uses that of the GPUs.
#[test]
fn b064_addresses_of_gpus_and_of_the_cpu_are_kept_apart() {
    let _machine = start("two-gfx1100");
    let user = Pages::new(4 * PAGE);
    let mine = user.0 + 100;
    assert_eq!(register(mine, 2 * PAGE), OK);
    let seen = map(mine, 2 * PAGE).expect("it is registered");
    assert_ne!(seen, mine);
    assert!(is_set_aside(seen / PAGE * PAGE, 3 * PAGE), "nothing can be read there");
    assert_eq!({ info(mine).expect("it is known").GPUAddress }, seen);
    assert_eq!({ info(seen).expect("it is known").CPUAddress }.addr() as u64, mine);
    for adapter in [0, 1] {
        assert!(mark(adapter, seen + 5000, 70 + adapter as u64));
        assert_eq!(peek_unaligned(mine + 5000), 70 + adapter as u64);
        assert_eq!(marked(adapter, mine), None, "they do not see it there");
    }
    assert_eq!(deregister(seen), OK);
    end();
}

fn peek_unaligned(at: u64) -> u64 {
    // SAFETY: the caller knows that there is readable memory.
    unsafe { std::ptr::with_exposed_provenance::<u64>(at as usize).read_unaligned() }
}

/// More than there is, nothing, and more than anybody has are refused, each in its way; nothing stays reserved.
#[test]
fn b066_limits_are_kept() {
    let _machine = start("gfx1100");
    let (own, other) = (alloc(1, PAGE, local()), alloc(0, PAGE, host()));
    let before = held();
    for (node, flags, total) in [(1, local(), 25_769_803_776), (0, host(), 17_179_869_184)] {
        assert_eq!(allocate(node, total + PAGE, 0, flags), Err(NO_MEMORY));
        assert_eq!(allocate(node, 0, 0, flags), Err(BAD));
        assert_eq!(allocate(node, 1 << 48, 0, flags), Err(NO_MEMORY));
        assert_eq!(held()[..6], before[..6]);
    }
    assert_eq!((free(own), free(other)), (OK, OK));
    end();
}

/// What was freed can be allocated at once, though all memory was in use and paging takes its time.
#[test]
fn b071_what_was_freed_can_be_had_at_once() {
    let _machine = start("gfx1100");
    assert!(set_budget(0, 0, Some(GIB)));
    set_paging(Paging { delay_us: 20_000, seed: 7, ..Paging::DEFAULT });
    for round in 0..5 {
        let at = alloc(1, GIB, local());
        assert!(mark(0, at + GIB - 8, round));
        assert_eq!(free(at), OK);
        let pieces: Vec<_> = (0..16).map(|_| alloc(1, 64 * MIB, local())).collect();
        assert_eq!(allocate(1, GIB, 0, local()), Err(NO_MEMORY));
        pieces.into_iter().for_each(|at| assert_eq!(free(at), OK));
    }
    end();
}

/// Memory that the kernel does not let go of stays what it was, and is freed when it does.
#[test]
fn b074_memory_that_is_not_let_go_of_stays() {
    let _machine = start_whole("gfx1100");
    for (node, flags) in [(1, local()), (0, host())] {
        for kind in ["Evict", "MapGpuVirtualAddress"] {
            let before = held();
            let at = alloc(node, 3 * MIB, flags);
            assert!(mark(0, at, 51));
            for _ in 0..2 {
                fail(kind, ntstatus::UNSUCCESSFUL);
                assert_eq!(free(at), LOST, "{kind}");
                assert_eq!(what(at + MIB), Ok((HSA_POINTER_ALLOCATED, at, 3 * MIB)));
                assert_eq!(marked(0, at), Some(51), "{kind}: it is of use");
                assert_eq!(map(at, 3 * MIB), Ok(at));
            }
            assert_eq!(free(at), OK);
            assert_eq!(held()[..6], before[..6]);
            assert_eq!(free(at), NOT_REGISTERED);
        }
    }
    end();
}

/// A pointer to memory that is not ours is an error with everything zero, and others are left as they are.
#[test]
fn b075_a_pointer_of_others_is_unknown() {
    let _machine = start("gfx1100");
    let at = alloc(0, PAGE, host());
    let (stack, heap) = (0_u64, Box::new(0_u64));
    let places = [std::ptr::from_ref(&stack).addr(), std::ptr::from_ref(&*heap).addr(), 0, 1, usize::MAX];
    for place in places {
        assert_eq!(what(place as u64), Err(ERROR), "{place:#x}");
    }
    assert_eq!(what(at), Ok((HSA_POINTER_ALLOCATED, at, PAGE)));
    assert_eq!(free(at), OK);
    end();
}

/// An import is what was exported, though its exporter frees, closes and allocates anew meanwhile.
#[test]
fn b076_an_import_is_what_was_exported() {
    for cut in ["1", "0"] {
        run_c("dxg_ipc", "gfx1100", &["200"], &[("WSL_ENABLE_THUNK_SUB_ALLOCATOR", cut)]);
    }
}

/// Threads that export, import and free at once: an import is what was exported, or an error.
#[test]
fn b076_threads_that_share_memory_get_what_was_shared() {
    let _machine = machine_that_reuses("gfx1100", true);
    let (stop, sum) = (AtomicBool::new(false), AtomicU64::new(0));
    let (send, receive) = std::sync::mpsc::sync_channel::<(u64, OwnedFd)>(4);
    let (before, files) = (held(), open_files());
    std::thread::scope(|scope| {
        let (stop, sum) = (&stop, &sum);
        scope.spawn(move || {
            for number in 1..150 {
                let at = alloc(1, 64 << 10, local());
                assert!(mark(0, at, number));
                let file = export(at, PAGE).expect("a file").0;
                assert_eq!(free(at), OK);
                send.send((number, file)).expect("somebody takes it");
            }
        });
        scope.spawn(move || {
            while !stop.load(Ordering::Acquire) {
                let at = alloc(1, 64 << 10, local());
                assert!(mark(0, at, u64::MAX));
                assert_eq!(free(at), OK);
            }
        });
        for (number, file) in receive {
            let (at, ..) = import(&file, &[1]).expect("it lives in its file");
            assert_eq!(marked(0, at), Some(number));
            sum.fetch_add(1, Ordering::Relaxed);
            assert_eq!(deregister(at), OK);
        }
        stop.store(true, Ordering::Release);
    });
    assert_eq!(sum.load(Ordering::Relaxed), 149);
    assert_eq!((&held()[..6], open_files()), (&before[..6], files));
    end();
    control::set_handles(control::Handles::default()).expect("nothing is alive");
}

/// What names shared memory never comes to name other memory.
#[test]
fn b078_an_old_share_names_no_newer_memory() {
    let _machine = machine_that_reuses("gfx1100", true);
    let old = alloc(1, 64 << 10, local());
    assert!(mark(0, old, 1));
    let (file, _) = export(old, PAGE).expect("a file");
    assert_eq!(free(old), OK);
    let new = alloc(1, 64 << 10, local());
    assert!(mark(0, new, 2));
    let (taken, ..) = import(&file, &[1]).expect("the file keeps it");
    assert_eq!((marked(0, taken), marked(0, new)), (Some(1), Some(2)));
    assert_eq!((deregister(taken), free(new)), (OK, OK));
    let (handle, mut at, bytes) = (HsaSharedMemoryHandle::ZERO, std::ptr::dangling_mut(), 0);
    let mut bytes_out: u64 = bytes;
    // SAFETY: one structure and places for a pointer and a number.
    let status = unsafe { hsaKmtRegisterSharedHandle(&handle, &mut at, &mut bytes_out) };
    assert!(status != OK && at.is_null());
    end();
    control::set_handles(control::Handles::default()).expect("nothing is alive");
}
