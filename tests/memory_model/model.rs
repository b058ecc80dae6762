//! What one thread knows of its own memory, and what it therefore expects of each call.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dxcore::control::memory::{gpu_read, gpu_write};
use rocdxg::abi::*;

use super::calls::{self, How, Info, Register};
use super::plan::{Conditions, Nodes, Op, Size, What, Where, Wish};

pub const PAGE: u64 = 4096;
/// Bytes that the library cuts small allocations from.
const BLOCK: u64 = 128 << 20;
const CHUNK: u64 = 2 << 30;
/// What one thread may have of all local memory, so that no sequence runs out of it by chance.
const MOST_LOCAL: u64 = 3 << 30;

const OK: HSAKMT_STATUS = HSAKMT_STATUS_SUCCESS;
const BAD: HSAKMT_STATUS = HSAKMT_STATUS_INVALID_PARAMETER;
const ERROR: HSAKMT_STATUS = HSAKMT_STATUS_ERROR;
const NO_MEMORY: HSAKMT_STATUS = HSAKMT_STATUS_NO_MEMORY;
const NO_NODE: HSAKMT_STATUS = HSAKMT_STATUS_INVALID_NODE_UNIT;
const NO_HANDLE: HSAKMT_STATUS = HSAKMT_STATUS_INVALID_HANDLE;
const NOT_SUPPORTED: HSAKMT_STATUS = HSAKMT_STATUS_NOT_SUPPORTED;
const NOT_REGISTERED: HSAKMT_STATUS = HSAKMT_STATUS_MEMORY_NOT_REGISTERED;

/// What the call that was told to fail may show.
const FAILURES: [HSAKMT_STATUS; 3] = [ERROR, NO_MEMORY, HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR];

/// Violations that a caller can bring about through the library.
pub const TOLERATED: [&str; 2] = ["names no shared resource", "is of another adapter"];

/// What all threads share.
pub struct World {
    pub conditions: Conditions,
    pub gpus: u32,
    /// There is one thread.
    pub alone: bool,
    /// Free memory of each GPU at the start.
    pub free: Vec<u64>,
    /// Whole pages that are alive: first, last, thread.
    pub places: Mutex<BTreeMap<u64, (u64, usize)>>,
    /// Calls that failed for the failure that was asked for.
    pub failed: AtomicU32,
    /// Violations that were to come.
    pub tolerated: AtomicU64,
}

/// What a piece of memory holds, whoever names it.
struct Store {
    bytes: u64,
    words: BTreeMap<u64, u64>,
    /// Nobody else may have written there.
    known: bool,
    /// GPU whose memory it is.
    node: Option<u32>,
}

impl Store {
    fn new(bytes: u64, node: Option<u32>) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self { bytes, words: BTreeMap::new(), known: true, node }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Allocated,
    Addresses,
    User,
    Shared,
}

/// Something that is alive.
struct Thing {
    kind: Kind,
    node: u32,
    flags: u32,
    /// First byte for GPUs; 0 where nobody is told.
    gpu: u64,
    /// First byte for the CPU, 0 for none.
    cpu: u64,
    bytes: u64,
    owner: Option<u32>,
    /// Memory of a GPU.
    local: bool,
    /// No address of its own.
    loose: bool,
    /// Of such memory: a part of it was mapped once, so it takes room.
    resident: bool,
    /// It can be made a file of, if it has memory.
    shareable: bool,
    /// GPUs that have it in their tables, the first of which keeps it.
    parts: Vec<u32>,
    mapped: BTreeSet<u32>,
    registered: Option<BTreeSet<u32>>,
    registrations: u32,
    maps: u32,
    word: u64,
    store: Rc<RefCell<Store>>,
    /// Of its first byte in the store.
    delta: i64,
    /// It is cut from a block; nothing where that cannot be known.
    piece: Option<bool>,
    /// Where in its block.
    block_offset: Option<u64>,
    guests: Vec<Guest>,
    /// A call on it failed half-way: what GPUs see is open, until it is freed.
    shaky: bool,
    gone: bool,
}

#[derive(Clone)]
struct Guest {
    thing: Shared,
    at: u64,
    offset: u64,
    bytes: u64,
}

type Shared = Rc<RefCell<Thing>>;

struct Handle {
    number: u64,
    thing: Shared,
    own: bool,
}

/// A file that was made.
struct Export {
    file: OwnedFd,
    store: Rc<RefCell<Store>>,
    /// Of the file's first byte in the store.
    delta: i64,
    bytes: u64,
    flags: u32,
    /// GPU whose memory it is; host memory otherwise.
    node: Option<u32>,
    /// As in `Thing`.
    piece: Option<bool>,
}

struct Freed {
    start: u64,
    bytes: u64,
    local: bool,
}

/// A way to bytes of a store.
struct View {
    store: Rc<RefCell<Store>>,
    /// Adapter, or the CPU.
    adapter: Option<usize>,
    /// Address of the store's byte 0, which need not be there.
    zero: i128,
    low: u64,
    high: u64,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Done,
    /// As foreseen.
    Refused,
    /// Because of the failure that was asked for.
    Failed,
}

pub type Outcome = Result<(), String>;

/// Pages of the thread's own, behind which one cannot be accessed.
struct Arena {
    base: u64,
    bytes: u64,
}

impl Arena {
    const PAGES: u64 = 64;

    fn new() -> Self {
        let bytes = Self::PAGES * PAGE;
        // SAFETY: a fresh anonymous mapping, of which the last page is closed.
        let base = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let base = libc::mmap(std::ptr::null_mut(), (bytes + PAGE) as usize, access, flags, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            let last = base.cast::<u8>().wrapping_add(bytes as usize).cast();
            assert_eq!(libc::mprotect(last, PAGE as usize, libc::PROT_NONE), 0);
            base.expose_provenance() as u64
        };
        Self { base, bytes }
    }
}

/// The model of one thread.
pub struct Model<'a> {
    world: &'a World,
    thread: usize,
    things: Vec<Shared>,
    handles: Vec<Handle>,
    exports: Vec<Export>,
    freed: Vec<Freed>,
    arena: Arena,
    arena_store: Rc<RefCell<Store>>,
    counter: u64,
    /// What was called with what answer, and how often.
    pub counts: BTreeMap<(&'static str, u32), u64>,
}

fn pick<T>(list: &[T], which: u16) -> Option<&T> {
    list.get(usize::from(which) % list.len().max(1))
}

fn with(flags: HsaMemFlags, fields: &[Bits]) -> HsaMemFlags {
    fields.iter().fold(flags, |flags, field| flags.with(*field, 1))
}

impl<'a> Model<'a> {
    pub fn new(world: &'a World, thread: usize) -> Self {
        let arena = Arena::new();
        let arena_store = Store::new(arena.bytes, None);
        let lists = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (things, handles, exports, freed) = lists;
        let counter = (thread as u64 + 1) << 48;
        let counts = BTreeMap::new();
        Self { world, thread, things, handles, exports, freed, arena, arena_store, counter, counts }
    }

    fn gpu(&self, number: u8) -> u32 {
        1 + u32::from(number) % self.world.gpus
    }

    fn may_fail(&self) -> bool {
        self.world.conditions.failure.is_some()
    }

    /// Holds an answer against what was expected; where `grows`, a budget may stand in the way.
    fn judge(
        &mut self,
        call: &'static str,
        got: HSAKMT_STATUS,
        expected: &[HSAKMT_STATUS],
        grows: bool,
    ) -> Result<End, String> {
        *self.counts.entry((call, got.0)).or_default() += 1;
        let may_grow = grows && [OK, NOT_SUPPORTED].iter().any(|status| expected.contains(status));
        let short = may_grow && self.world.conditions.budget.is_some() && got == NO_MEMORY;
        if expected.contains(&got) || short {
            return Ok(if got == OK { End::Done } else { End::Refused });
        }
        if self.may_fail() && FAILURES.contains(&got) {
            return match self.world.failed.fetch_add(1, Ordering::SeqCst) {
                0 => Ok(End::Failed),
                _ => Err(format!("{call}: {got:?}, and one failure has been seen before")),
            };
        }
        Err(format!("{call}: {got:?} instead of {expected:?}"))
    }

    // What is at an address.

    fn find(&self, mut is: impl FnMut(&Thing) -> bool) -> Option<Shared> {
        self.things.iter().find(|thing| is(&thing.borrow())).cloned()
    }

    fn at(&self, address: u64) -> Option<Shared> {
        self.find(|thing| thing.gpu != 0 && thing.gpu == address)
    }

    /// The largest user memory of at least `bytes` that begins there.
    fn user_at(&self, address: u64, bytes: u64) -> Option<Shared> {
        let fits = |thing: &&Shared| {
            let thing = thing.borrow();
            thing.kind == Kind::User && thing.cpu == address && thing.bytes >= bytes
        };
        self.things.iter().filter(fits).max_by_key(|thing| thing.borrow().bytes).cloned()
    }

    fn known(&self, address: u64) -> Option<Shared> {
        self.user_at(address, 0).or_else(|| self.at(address))
    }

    fn around(&self, address: u64) -> Option<Shared> {
        let inside = |start: u64, bytes: u64| start != 0 && address >= start && address - start < bytes;
        if let Some(found) = self.find(|thing| inside(thing.gpu, thing.bytes)) {
            return Some(found);
        }
        let user = |thing: &&Shared| {
            let thing = thing.borrow();
            thing.kind == Kind::User && inside(thing.cpu, thing.bytes)
        };
        let by_start = |thing: &&Shared| (thing.borrow().cpu, thing.borrow().bytes);
        self.things.iter().filter(user).max_by_key(by_start).cloned()
    }

    fn resolve(&self, at: Where) -> u64 {
        static FOREIGN: u64 = 0;
        let named: Vec<_> = self.things.iter().filter(|thing| thing.borrow().gpu != 0).collect();
        let thing = |which| pick(&named, which).map(|thing| thing.borrow());
        let foreign = |number: u8| match number % 4 {
            0 => (&raw const FOREIGN).expose_provenance() as u64,
            1 => 0x1000,
            2 => u64::MAX - 4095,
            _ => 0xffff_8000_0000_0000,
        };
        let alone = self.world.alone;
        let found = match at {
            Where::Null => Some(0),
            Where::Foreign(number) => Some(foreign(number)),
            Where::Start(which) => thing(which).map(|thing| thing.gpu),
            Where::User(which) => {
                thing(which).map(|thing| if thing.kind == Kind::User { thing.cpu } else { thing.gpu })
            }
            Where::Inside(which, at) => thing(which).map(|thing| {
                let start = if thing.kind == Kind::User && at % 2 == 0 { thing.cpu } else { thing.gpu };
                start + u64::from(at) * 0x1_0001 % thing.bytes
            }),
            // Beside what is ours there may be what is another thread's, or what was taken in without an address.
            Where::Behind(which) | Where::Before(which) => thing(which).map(|thing| {
                let beside = u64::from(alone && !thing.loose);
                let behind = matches!(at, Where::Behind(_));
                if behind { thing.gpu + thing.bytes - 1 + beside } else { thing.gpu - beside }
            }),
            Where::Freed(which) if alone => pick(&self.freed, which).map(|freed| freed.start),
            Where::Freed(_) => None,
        };
        found.unwrap_or_else(|| foreign(0))
    }

    // Keeping book.

    fn pages(thing: &Thing) -> (u64, u64) {
        let first = thing.gpu / PAGE * PAGE;
        (first, (thing.gpu + thing.bytes).next_multiple_of(PAGE) - 1)
    }

    /// Enters what is alive now: it overlaps nothing of any thread.
    fn enter(&mut self, thing: Thing) -> Result<Shared, String> {
        if thing.gpu != 0 {
            let (first, last) = Self::pages(&thing);
            let mut places = self.world.places.lock().map_err(|_| "a thread panicked")?;
            if let Some((start, (end, owner))) = places.range(..=last).next_back()
                && *end >= first
            {
                let mine = self.thread;
                return Err(format!(
                    "{first:#x} to {last:#x} of thread {mine} overlaps {start:#x} to {end:#x} of {owner}"
                ));
            }
            places.insert(first, (last, self.thread));
        }
        let thing = Rc::new(RefCell::new(thing));
        self.things.push(Rc::clone(&thing));
        Ok(thing)
    }

    /// Ends what `call` ends: others may have its place from within the call on, so it is given up before, and taken back
    /// when the call did not end it.
    fn ending(&mut self, thing: &Shared, call: impl FnOnce() -> HSAKMT_STATUS) -> HSAKMT_STATUS {
        let (first, last) = Self::pages(&thing.borrow());
        let lock = || self.world.places.lock().unwrap_or_else(|poison| poison.into_inner());
        let entered = thing.borrow().gpu != 0;
        if entered {
            lock().remove(&first);
        }
        let status = call();
        if entered && status != OK {
            lock().insert(first, (last, self.thread));
        }
        status
    }

    fn gone(&mut self, thing: &Shared) {
        self.things.retain(|known| !Rc::ptr_eq(known, thing));
        let mut thing = thing.borrow_mut();
        thing.gone = true;
        if thing.kind != Kind::User && thing.piece != Some(false) {
            // The rest of its block may be somebody else's at once.
            thing.store.borrow_mut().known = false;
        }
        if thing.gpu != 0 && !thing.loose {
            let (first, last) = Self::pages(&thing);
            self.freed.push(Freed { start: first, bytes: last + 1 - first, local: thing.local });
        }
    }

    /// What a call on `thing` left half done: the mapped nodes are those that are told, and none beyond `most`.
    fn shaken(&mut self, thing: &Shared, most: &BTreeSet<u32>) -> Outcome {
        thing.borrow_mut().shaky = true;
        let at = thing.borrow().gpu;
        let (status, told) = calls::info(at);
        let mapped: BTreeSet<u32> = told.mapped.into_iter().collect();
        if status != OK || !mapped.is_subset(most) {
            return Err(format!("after a failure {at:#x} is {status:?} and mapped for {mapped:?}, at most {most:?}"));
        }
        thing.borrow_mut().mapped = mapped;
        Ok(())
    }

    /// The status of a list of nodes that must be GPUs.
    fn nodes(&self, nodes: &[u32]) -> Result<BTreeSet<u32>, HSAKMT_STATUS> {
        let set: BTreeSet<u32> = nodes.iter().copied().collect();
        match set.iter().find(|node| **node == 0 || **node > self.world.gpus) {
            Some(0) => Err(BAD),
            Some(_) => Err(NO_NODE),
            None => Ok(set),
        }
    }

    // The calls.

    pub fn run(&mut self, op: &Op) -> Outcome {
        match op {
            Op::Allocate { what, size, wish, coarse, large_pages } => {
                self.allocate(*what, *size, *wish, (*coarse, *large_pages)).map(|_| ())
            }
            Op::BadNode => {
                let flags = with(HsaMemFlags(0), &[HsaMemFlags::NonPaged]);
                let (got, at) = calls::allocate(77, PAGE, flags, How::Plain, calls::UNTOUCHED);
                self.judge("allocate", got, &[NO_NODE], false)?;
                let (other, _) = calls::allocate(0, PAGE, flags, How::Gtt(0), calls::UNTOUCHED);
                self.judge("allocate", other, &[ERROR], false)?;
                if at == 0 { Ok(()) } else { Err(format!("the address is {at:#x} after a refusal")) }
            }
            Op::BadFlags(number) => self.bad_flags(*number),
            Op::Free(at) => self.free(self.resolve(*at)),
            Op::Map { at, nodes } => self.map(self.resolve(*at), nodes.as_deref()),
            Op::Unmap(at) => self.unmap(self.resolve(*at)),
            Op::Register { page, offset, bytes, nodes, coarse } => {
                let start = self.arena.base + u64::from(*page) * PAGE + u64::from(*offset);
                self.register(start, u64::from(*bytes), nodes.clone(), *coarse)
            }
            Op::RegisterAt { at, bytes, nodes } => {
                let address = self.resolve(*at);
                // Inside host memory of the library's it would be one more pin of pages that are pinned: no rule says what
                // becomes of that when the one below is freed.
                let inside = self.at(address).is_none() && self.around(address).is_some_and(|t| t.borrow().cpu != 0);
                let own = self.user_at(address, 0).is_some();
                if inside && !own { Ok(()) } else { self.register(address, u64::from(*bytes), nodes.clone(), None) }
            }
            Op::RegisterAgain { which, less, nodes } => {
                let users: Vec<_> = self.things.iter().filter(|t| t.borrow().kind == Kind::User).cloned().collect();
                let Some(user) = pick(&users, *which) else { return Ok(()) };
                let (start, bytes) = (user.borrow().cpu, user.borrow().bytes);
                self.register(start, bytes - u64::from(*less) % bytes, nodes.clone(), None)
            }
            Op::Deregister(at) => self.deregister(self.resolve(*at)),
            Op::Info(at) => self.info(self.resolve(*at)),
            Op::Peek(which) => self.peek(*which),
            Op::SetWord { at, word } => self.set_word(self.resolve(*at), u64::from(*word)),
            Op::Available(node) => self.available(*node),
            Op::Export { at, bytes } => {
                let address = self.resolve(*at);
                let rest =
                    self.around(address).map(|t| t.borrow().bytes.saturating_sub(address.wrapping_sub(t.borrow().gpu)));
                // Mostly a range that there is.
                let bytes = match rest {
                    Some(rest) if bytes % 4 != 0 && rest != 0 && rest < 1 << 40 => 1 + u64::from(*bytes) % rest,
                    _ => u64::from(*bytes),
                };
                self.export(address, bytes)
            }
            Op::Import { which, nodes, extended } => self.import(*which, nodes, *extended),
            Op::ImportOther(number) => self.import_other(*number),
            Op::CloseExport(which) => {
                if !self.exports.is_empty() {
                    self.exports.swap_remove(usize::from(*which) % self.exports.len());
                }
                Ok(())
            }
            Op::GetHandle { at } => self.get_handle(self.resolve(*at)),
            Op::HandleImport(which) => self.handle_import(*which),
            Op::HandleExport(which) => self.handle_export(*which),
            Op::CpuMap(which) => self.cpu_map(*which),
            Op::VaMap { handle, range, offset, pages, odd } => self.va_map(*handle, *range, (*offset, *pages), *odd),
            Op::VaMapAgain { which, other } => self.va_map_again(*which, *other),
            Op::VaUnmap { which, shifted } => self.va_unmap(*which, *shifted),
            Op::FreeHandle { which, preserve } => {
                if self.handles.is_empty() {
                    return Ok(());
                }
                self.free_handle(usize::from(*which) % self.handles.len(), *preserve)
            }
            Op::BadHandle(number) => self.bad_handle(*number),
            Op::Write { which, at, by_cpu } => self.write(*which, *at, *by_cpu),
            Op::Read { which, at } => self.read(*which, *at),
            Op::Churn { rounds, pages } => {
                let mut made = Vec::new();
                for round in 0..*rounds {
                    let size = Size::Pages(1 + round.wrapping_mul(7) % pages);
                    made.extend(self.allocate(What::Local(round), size, Wish::None, (true, false))?);
                    if round % 3 == 2 {
                        let at: Shared = made.swap_remove(usize::from(round) % made.len().max(1));
                        let at = at.borrow().gpu;
                        self.free(at)?;
                    }
                    if made.is_empty() {
                        break;
                    }
                }
                made.into_iter().try_for_each(|thing| {
                    let at = thing.borrow().gpu;
                    self.free(at)
                })
            }
        }
    }

    fn bad_flags(&mut self, number: u8) -> Outcome {
        use HsaMemFlags as F;
        let fields = match number % 4 {
            0 => [F::ExtendedCoherent, F::CoarseGrain],
            1 => [F::ExtendedCoherent, F::Uncached],
            2 => [F::NoAddress, F::OnlyAddress],
            _ => [F::NoAddress, F::FixedAddress],
        };
        let node = self.gpu(number / 4);
        let flags = with(F(0), &fields).with(F::NonPaged, 1);
        let (got, _) = calls::allocate(node, PAGE, flags, How::Plain, calls::UNTOUCHED);
        self.judge("allocate", got, &[BAD], false)?;
        if number.is_multiple_of(4) {
            let got = calls::register(self.arena.base, PAGE, &Register::Flags(flags));
            self.judge("register", got, &[BAD], false)?;
        }
        Ok(())
    }

    fn local_bytes(&self) -> u64 {
        self.things.iter().filter(|t| t.borrow().local).map(|t| t.borrow().bytes).sum()
    }

    fn allocate(
        &mut self,
        what: What,
        size: Size,
        wish: Wish,
        (coarse, large_pages): (bool, bool),
    ) -> Result<Option<Shared>, String> {
        use HsaMemFlags as F;
        let (node, fields, anchor): (u32, &[Bits], u32) = match what {
            What::Local(n) => (self.gpu(n), &[F::NonPaged], self.gpu(n)),
            What::Scratch(n) => (self.gpu(n), &[F::NonPaged, F::Scratch], self.gpu(n)),
            What::Paged => (0, &[F::HostAccess], 1),
            What::Unpaged => (0, &[F::HostAccess, F::NonPaged], 1),
            What::PagedOfGpu(n) => (self.gpu(n), &[F::HostAccess], self.gpu(n)),
            What::Gtt(n) => (self.gpu(n), &[F::NonPaged, F::GTTAccess], self.gpu(n)),
            What::Anchored(n) => (0, &[F::HostAccess], self.gpu(n)),
            What::Addresses(n) => {
                let node = u32::from(n) % (self.world.gpus + 1);
                (node, &[F::NonPaged, F::OnlyAddress], node.max(1))
            }
            What::NoAddress(n) => (self.gpu(n), &[F::NonPaged, F::NoAddress], self.gpu(n)),
        };
        let local = matches!(what, What::Local(_) | What::Scratch(_) | What::Addresses(_) | What::NoAddress(_));
        let loose = matches!(what, What::NoAddress(_));
        let page = if large_pages { 64 << 10 } else { PAGE };
        let mut bytes = match size {
            Size::Pages(n) => u64::from(n) * page,
            Size::Mebibytes(n) => u64::from(if local { n } else { 1 + n % 4 }) << 20,
            Size::TwoChunks if local => CHUNK + (64 << 10),
            Size::TwoChunks => 5 << 20,
            Size::Endless => 1 << 46,
            Size::Odd(n) => PAGE + u64::from(n),
            Size::Zero => 0,
        };
        let endless = bytes >= 1 << 46;
        let share = MOST_LOCAL / if self.world.alone { 1 } else { 2 };
        if local && !endless && bytes > page && self.local_bytes() + bytes > share {
            bytes = page;
        }
        let mut flags = with(F(0), fields).with(F::CoarseGrain, u32::from(coarse));
        if large_pages {
            flags = flags.with(F::PageSize, HSA_PAGE_SIZE_64KB.0);
        }
        let (mut how, mut place, mut alignment) = (How::Plain, calls::UNTOUCHED, 0);
        let gtt = matches!(what, What::Anchored(_));
        match wish {
            Wish::None => {}
            Wish::Aligned(log) => alignment = 1 << if local { log } else { log.min(22) },
            Wish::Misaligned => alignment = if bytes % 2 == 0 { 3 * PAGE } else { 2048 },
            Wish::At(at) => place = self.resolve(at),
            Wish::AtOdd(at) => place = self.resolve(at).wrapping_add(0x800),
        }
        let fixed = matches!(wish, Wish::At(_) | Wish::AtOdd(_));
        if fixed {
            flags = flags.with(F::FixedAddress, 1);
        }
        if gtt {
            (how, alignment) = (How::Gtt(anchor), 0);
        } else if alignment != 0 {
            how = How::Align(alignment);
        }
        let end = place.wrapping_add(bytes.max(1)).wrapping_sub(1);
        let taken = fixed
            && self.things.iter().any(|thing| {
                let thing = thing.borrow();
                let (first, last) = Self::pages(&thing);
                thing.gpu != 0 && first <= end && place <= last
            });
        let odd = !place.is_multiple_of(page);
        let was_ours = |freed: &Freed| {
            let inside = freed.start <= place && place.saturating_add(bytes) <= freed.start + freed.bytes;
            freed.local == local && inside
        };
        let surely_free = self.world.alone
            && !self.world.conditions.sub_allocator
            && self.handles.is_empty()
            && self.freed.iter().any(was_ours);
        let refused = |status| vec![status];
        let bad_alignment = alignment != 0 && (!alignment.is_power_of_two() || alignment < page);
        let bad_size = bytes == 0 || !bytes.is_multiple_of(page);
        let expected = if fixed && (place == 0 || loose) || bad_alignment || bad_size {
            refused(BAD)
        } else if matches!(what, What::Scratch(_)) && alignment != 0 {
            refused(HSAKMT_STATUS_NOT_IMPLEMENTED)
        } else if fixed && odd {
            vec![BAD, NO_MEMORY]
        } else if endless || taken {
            refused(NO_MEMORY)
        } else if fixed && surely_free {
            vec![OK]
        } else if fixed {
            vec![OK, NO_MEMORY]
        } else {
            vec![OK]
        };
        let (got, at) = calls::allocate(node, bytes, flags, how, place);
        if self.judge("allocate", got, &expected, true)? != End::Done {
            let kept = if fixed { place } else { 0 };
            return if at == kept { Ok(None) } else { Err(format!("allocate: {got:?}, and the address is {at:#x}")) };
        }
        // What has no address is named, and a name need not be aligned.
        let aligned = at % PAGE == 0 && (loose || alignment == 0 || at % alignment == 0);
        if at == 0 || !aligned || fixed && at != place {
            return Err(format!("allocate: {at:#x} for alignment {alignment:#x} and place {place:#x}"));
        }
        let cpu = if local { 0 } else { at };
        for byte in [cpu, cpu + bytes - 1].into_iter().filter(|_| cpu != 0) {
            let byte: *const u8 = std::ptr::with_exposed_provenance(byte as usize);
            // SAFETY: the library has just given this memory.
            if unsafe { byte.read_volatile() } != 0 {
                return Err(format!("allocate: host memory at {at:#x} is not empty"));
            }
        }
        let bare = matches!(what, What::Addresses(_));
        let cut = self.world.conditions.sub_allocator
            && matches!(what, What::Local(_))
            && !fixed
            && !large_pages
            && bytes < BLOCK;
        let sure =
            self.world.conditions.budget.is_none() && !self.may_fail() && alignment <= 2 << 20 && bytes <= 100 << 20;
        let thing = self.enter(Thing {
            kind: if bare { Kind::Addresses } else { Kind::Allocated },
            node,
            flags: flags.0,
            gpu: at,
            cpu,
            bytes,
            owner: local.then_some(anchor),
            local,
            loose,
            resident: false,
            shareable: local || matches!(what, What::Unpaged),
            parts: if bare || loose { Vec::new() } else { vec![anchor] },
            mapped: BTreeSet::new(),
            registered: None,
            registrations: 1,
            maps: 0,
            word: 0,
            store: Store::new(bytes, local.then_some(anchor)),
            delta: 0,
            piece: if cut && !sure { None } else { Some(cut) },
            block_offset: None,
            guests: Vec::new(),
            shaky: false,
            gone: false,
        })?;
        let store = Rc::clone(&thing.borrow().store);
        self.touch(&store)?;
        Ok(Some(thing))
    }

    /// Parts of loose memory that are mapped somewhere.
    fn is_placed(&self, thing: &Shared) -> bool {
        self.things.iter().any(|range| range.borrow().guests.iter().any(|guest| Rc::ptr_eq(&guest.thing, thing)))
    }

    fn free(&mut self, address: u64) -> Outcome {
        let found = self.at(address).filter(|thing| thing.borrow().kind != Kind::User);
        let Some(thing) = found else {
            let expected = if address == 0 { BAD } else { NOT_REGISTERED };
            let got = calls::free(address);
            return self.judge("free", got, &[expected], false).map(|_| ());
        };
        let held = !thing.borrow().guests.is_empty() || self.is_placed(&thing);
        let got = self.ending(&thing, || calls::free(address));
        match self.judge("free", got, &[if held { ERROR } else { OK }], false)? {
            End::Done => self.gone(&thing),
            End::Refused => {}
            End::Failed => {
                let most = thing.borrow().mapped.clone();
                self.shaken(&thing, &most)?;
            }
        }
        self.once_freed(address)
    }

    /// What was ended is not known any more.
    fn once_freed(&mut self, address: u64) -> Outcome {
        if self.world.alone { self.info(address) } else { Ok(()) }
    }

    fn map(&mut self, address: u64, nodes: Option<&[u32]>) -> Outcome {
        let expect = |model: &Self| -> Result<(Shared, BTreeSet<u32>, bool), HSAKMT_STATUS> {
            let known = model.known(address).filter(|_| address != 0).ok_or(ERROR)?;
            let thing = known.borrow();
            if thing.loose {
                return Err(BAD);
            }
            let wanted = nodes.map(|nodes| model.nodes(nodes)).transpose()?;
            if !thing.guests.is_empty() {
                return Err(ERROR);
            }
            if let (Some(wanted), Some(registered)) = (&wanted, &thing.registered)
                && !wanted.is_subset(registered)
            {
                return Err(ERROR);
            }
            let exact = wanted.is_some();
            let all = || match thing.owner {
                Some(owner) => BTreeSet::from([owner]),
                None => (1..=model.world.gpus).collect(),
            };
            let wanted = wanted.or_else(|| thing.registered.clone()).unwrap_or_else(all);
            let mut parts = thing.parts.clone();
            for node in wanted.difference(&thing.mapped) {
                if !parts.contains(node) {
                    if thing.local && !parts.is_empty() {
                        return Err(NOT_SUPPORTED);
                    }
                    parts.push(*node);
                }
            }
            drop(thing);
            Ok((known, wanted, exact))
        };
        let expected = expect(self);
        let status = expected.as_ref().err().copied().unwrap_or(OK);
        let (got, seen) = calls::map(address, PAGE, nodes);
        let end = self.judge("map", got, &[status], true)?;
        let Ok((known, wanted, exact)) = expected else { return Ok(()) };
        let mut most = known.borrow().mapped.clone();
        most.extend(&wanted);
        match end {
            End::Refused => return Ok(()),
            End::Failed => return self.shaken(&known, &most),
            End::Done => {}
        }
        let mut thing = known.borrow_mut();
        let surplus: BTreeSet<u32> =
            if exact { thing.mapped.difference(&wanted).copied().collect() } else { BTreeSet::new() };
        if thing.kind == Kind::Addresses && thing.parts.is_empty() {
            let first = wanted.first().copied();
            thing.store = Store::new(thing.bytes, first);
        }
        for node in &wanted {
            if !thing.parts.contains(node) {
                thing.parts.push(*node);
            }
        }
        Self::take_away(&mut thing, &surplus);
        thing.mapped = most.difference(&surplus).copied().collect();
        thing.maps += 1;
        if seen != thing.gpu {
            return Err(format!("map: {seen:#x} instead of {:#x}", thing.gpu));
        }
        let store = Rc::clone(&thing.store);
        drop(thing);
        self.touch(&store)
    }

    /// GPUs lose it: all but the first, or addresses that got memory by being mapped, all.
    fn take_away(thing: &mut Thing, nodes: &BTreeSet<u32>) {
        let first = thing.parts.first().copied().filter(|_| thing.kind != Kind::Addresses);
        thing.parts.retain(|node| !nodes.contains(node) || Some(*node) == first);
    }

    fn unmap(&mut self, address: u64) -> Outcome {
        let known = self.known(address).filter(|_| address != 0);
        let expected = if known.is_some() || address == 0 { OK } else { ERROR };
        let got = calls::unmap(address);
        let end = self.judge("unmap", got, &[expected], false)?;
        let Some(known) = known else { return Ok(()) };
        if end == End::Failed {
            let most = known.borrow().mapped.clone();
            return self.shaken(&known, &most);
        }
        let mut thing = known.borrow_mut();
        if !(thing.kind == Kind::User && thing.maps > 1) {
            let mapped = std::mem::take(&mut thing.mapped);
            Self::take_away(&mut thing, &mapped);
        }
        thing.maps = thing.maps.saturating_sub(1);
        Ok(())
    }

    fn register(&mut self, start: u64, bytes: u64, nodes: Option<Nodes>, coarse: Option<bool>) -> Outcome {
        let how = match (&nodes, coarse) {
            (Some(nodes), _) => Register::Nodes(nodes.clone()),
            (None, None) => Register::Plain,
            (None, Some(coarse)) => Register::Flags(HsaMemFlags(0).with(HsaMemFlags::CoarseGrain, u32::from(coarse))),
        };
        let flags = match &how {
            Register::Flags(flags) => flags.0,
            _ => HsaMemFlags(0).with(HsaMemFlags::CoarseGrain, 1).0,
        };
        /// What becomes of it.
        enum To {
            Nothing,
            Again(Shared),
            Nodes(Shared),
            New,
        }
        let wanted = nodes.as_ref().map(|nodes| self.nodes(nodes)).transpose();
        let differs = |thing: &Shared, wanted: &BTreeSet<u32>| {
            thing.borrow().registered.as_ref().is_some_and(|known| known != wanted)
        };
        let arena = self.arena.base..self.arena.base + self.arena.bytes;
        let (expected, to) = match &wanted {
            _ if start == 0 => (BAD, To::Nothing),
            Err(status) => (*status, To::Nothing),
            Ok(_) if bytes == 0 => (BAD, To::Nothing),
            Ok(wanted) => match (self.user_at(start, bytes), self.at(start)) {
                (Some(known), _) => match wanted {
                    Some(wanted) if differs(&known, wanted) => (HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED, To::Nothing),
                    _ => (OK, To::Again(known)),
                },
                (None, Some(known)) => match wanted {
                    None => (NO_HANDLE, To::Nothing),
                    Some(wanted) if differs(&known, wanted) => (HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED, To::Nothing),
                    Some(_) => (OK, To::Nodes(known)),
                },
                _ if start.checked_add(bytes).is_none_or(|end| end > u64::MAX - PAGE) => (BAD, To::Nothing),
                _ if arena.contains(&start) && start + bytes <= arena.end => (OK, To::New),
                // Pages that are not the program's, or cannot be written.
                _ => (NO_MEMORY, To::Nothing),
            },
        };
        // The program's own data begin there, which may be registered; that is not what is looked at here.
        let closed = arena.end..arena.end + PAGE;
        let sure = arena.contains(&start) || closed.contains(&start) || start <= 0x1000 || self.around(start).is_some();
        if matches!(to, To::Nothing) && expected == NO_MEMORY && !sure {
            return Ok(());
        }
        let got = calls::register(start, bytes, &how);
        let end = self.judge("register", got, &[expected], true)?;
        if end != End::Done {
            return Ok(());
        }
        let wanted = wanted.ok().flatten();
        match to {
            To::Nothing => {}
            To::Again(known) => {
                known.borrow_mut().registrations += 1;
                let before = known.borrow().registered.clone();
                known.borrow_mut().registered = wanted.or(before);
            }
            To::Nodes(known) => known.borrow_mut().registered = wanted,
            To::New => {
                let (status, told) = calls::info(start);
                // A larger registration may lie around it; the one that begins last, the largest of those, is told.
                let gpu = if status == OK { told.gpu } else { 0 };
                if told.cpu != start || told.bytes != bytes || gpu % PAGE != start % PAGE {
                    return Err(format!("register: {start:#x} with {bytes} bytes is told as {told:x?}"));
                }
                self.enter(Thing {
                    kind: Kind::User,
                    node: 0,
                    flags,
                    gpu,
                    cpu: start,
                    bytes,
                    owner: None,
                    local: false,
                    loose: false,
                    resident: false,
                    shareable: false,
                    parts: vec![1],
                    mapped: BTreeSet::new(),
                    registered: wanted,
                    registrations: 1,
                    maps: 0,
                    word: 0,
                    store: Rc::clone(&self.arena_store),
                    delta: (start - self.arena.base) as i64,
                    piece: Some(false),
                    block_offset: None,
                    guests: Vec::new(),
                    shaky: false,
                    gone: false,
                })?;
            }
        }
        Ok(())
    }

    fn deregister(&mut self, address: u64) -> Outcome {
        let Some(known) = self.known(address).filter(|_| address != 0) else {
            let expected = if address == 0 { BAD } else { NOT_REGISTERED };
            let got = calls::deregister(address);
            return self.judge("deregister", got, &[expected], false).map(|_| ());
        };
        let kind = known.borrow().kind;
        if !matches!(kind, Kind::User | Kind::Shared) {
            let expected = if known.borrow().registered.is_some() { OK } else { NOT_REGISTERED };
            let got = calls::deregister(address);
            self.judge("deregister", got, &[expected], false)?;
            known.borrow_mut().registered = None;
            return Ok(());
        }
        let last = known.borrow().registrations == 1;
        let got = if last { self.ending(&known, || calls::deregister(address)) } else { calls::deregister(address) };
        match self.judge("deregister", got, &[OK], false)? {
            End::Done if last => self.gone(&known),
            End::Done => known.borrow_mut().registrations -= 1,
            End::Refused => {}
            End::Failed => {
                let most = known.borrow().mapped.clone();
                self.shaken(&known, &most)?;
            }
        }
        self.once_freed(address)
    }

    fn told(thing: &Thing) -> Info {
        let list = |set: &BTreeSet<u32>| set.iter().copied().collect();
        let kind = match thing.kind {
            Kind::Allocated => HSA_POINTER_ALLOCATED,
            Kind::Addresses => HSA_POINTER_RESERVED_ADDR,
            Kind::User => HSA_POINTER_REGISTERED_USER,
            Kind::Shared => HSA_POINTER_REGISTERED_SHARED,
        };
        Info {
            kind: kind.0,
            node: thing.node,
            flags: thing.flags,
            cpu: thing.cpu,
            gpu: thing.gpu,
            bytes: thing.bytes,
            registered: thing.registered.as_ref().map(list).unwrap_or_default(),
            mapped: list(&thing.mapped),
            word: thing.word,
        }
    }

    fn info(&mut self, address: u64) -> Outcome {
        let known = self.around(address);
        let expected = if known.is_some() { OK } else { ERROR };
        let (got, told) = calls::info(address);
        self.judge("info", got, &[expected], false)?;
        let wanted = known.map(|thing| Self::told(&thing.borrow())).unwrap_or_default();
        if told == wanted { Ok(()) } else { Err(format!("info of {address:#x}:\n{told:x?} instead of\n{wanted:x?}")) }
    }

    /// Another thread's memory comes and goes while this one asks; what is told of it is of one moment.
    fn peek(&mut self, which: u16) -> Outcome {
        let other = {
            let places = self.world.places.lock().map_err(|_| "a thread panicked")?;
            let others: Vec<_> = places.iter().filter(|(_, (_, owner))| *owner != self.thread).collect();
            pick(&others, which).map(|(first, (last, _))| (**first, *last))
        };
        let Some((first, last)) = other else { return Ok(()) };
        let address = first + (last - first) / 2;
        let (got, told) = calls::info(address);
        self.judge("info", got, &[OK, ERROR], false)?;
        let inside = address >= told.gpu && address - told.gpu < told.bytes;
        let nothing = told == Info::default();
        if (got == OK && inside) || (got == ERROR && nothing) {
            Ok(())
        } else {
            Err(format!("info of {address:#x}, of another thread: {got:?} {told:x?}"))
        }
    }

    fn set_word(&mut self, address: u64, word: u64) -> Outcome {
        let known = self.at(address).or_else(|| self.user_at(address, 0)).or_else(|| self.around(address));
        let known = known.filter(|_| address != 0);
        let expected = match (&known, address) {
            (_, 0) => BAD,
            (Some(_), _) => OK,
            (None, _) => ERROR,
        };
        let got = calls::set_word(address, word);
        self.judge("set_word", got, &[expected], false)?;
        if let Some(known) = known {
            known.borrow_mut().word = word;
        }
        Ok(())
    }

    /// Bytes of a GPU that this thread has for certain.
    fn held(&self, node: u32) -> u64 {
        let mut seen: Vec<*const RefCell<Store>> = Vec::new();
        let mut sum = 0;
        for thing in &self.things {
            let thing = thing.borrow();
            let (store, has) = (&thing.store, thing.resident || !thing.parts.is_empty());
            if has && store.borrow().node == Some(node) && !seen.contains(&Rc::as_ptr(store)) {
                seen.push(Rc::as_ptr(store));
                sum += store.borrow().bytes;
            }
        }
        sum
    }

    fn available(&mut self, node: u32) -> Outcome {
        let expected = match node {
            0 => ERROR,
            node if node > self.world.gpus => NO_NODE,
            _ => OK,
        };
        let (got, bytes) = calls::available(node);
        if self.judge("available", got, &[expected], false)? != End::Done {
            return Ok(());
        }
        let most = self.world.free[node as usize - 1] - self.held(node);
        let shaky = self.things.iter().any(|thing| thing.borrow().shaky);
        let exact = self.world.alone && !self.world.conditions.sub_allocator && !self.may_fail() && !shaky;
        if bytes > most || exact && bytes != most {
            return Err(format!("available: {bytes:#x} of node {node}, expected {most:#x}, exactly: {exact}"));
        }
        // Blocks that nobody uses are few: less than one and twice what is used, of each kind.
        if self.world.alone && !self.may_fail() && !shaky {
            let used = self.world.free[node as usize - 1] - bytes;
            let most = 3 * self.held(node) + 8 * BLOCK;
            if used > most {
                return Err(format!(
                    "available: {used:#x} bytes of node {node} are in use, at most {most:#x} should be"
                ));
            }
        }
        Ok(())
    }

    fn has_file(thing: &Thing) -> bool {
        thing.shareable && (thing.kind != Kind::Addresses || !thing.parts.is_empty())
    }

    /// Keeps a file of `thing`; `begin` is where in the file the thing begins.
    fn keep_export(&mut self, thing: &Thing, file: OwnedFd, begin: u64) {
        let node = if thing.local { thing.store.borrow().node } else { None };
        let bytes = if begin != 0 || thing.piece == Some(true) { BLOCK } else { thing.bytes };
        let flags = if thing.local { thing.flags } else { 0 };
        let store = Rc::clone(&thing.store);
        let delta = thing.delta - begin as i64;
        self.exports.push(Export { file, store, delta, bytes, flags, node, piece: thing.piece });
    }

    fn export(&mut self, address: u64, bytes: u64) -> Outcome {
        let known = self.around(address).filter(|_| address != 0);
        let offset = known.as_ref().map_or(0, |thing| address.saturating_sub(thing.borrow().gpu));
        let expected = match &known {
            None if address == 0 => BAD,
            None => ERROR,
            Some(thing) => {
                let thing = thing.borrow();
                let inside = offset.checked_add(bytes).is_some_and(|end| end <= thing.bytes);
                if inside && Self::has_file(&thing) { OK } else { BAD }
            }
        };
        let (got, (file, number, begin)) = calls::export(address, bytes);
        let end = self.judge("export", got, &[expected], false)?;
        if end != End::Done {
            let untouched = number == -1 || (address == 0 && number == 77);
            return if untouched { Ok(()) } else { Err(format!("export: {got:?} with file {number}")) };
        }
        let (Some(known), Some(file)) = (known, file) else { return Err(format!("export: file {number}")) };
        let mut thing = known.borrow_mut();
        let block_offset = begin.wrapping_sub(offset);
        let fits = match thing.piece {
            Some(false) => block_offset == 0,
            _ => block_offset % PAGE == 0 && block_offset < BLOCK,
        };
        let same = thing.block_offset.is_none_or(|known| known == block_offset);
        // SAFETY: an open descriptor.
        let closes = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFD) } & libc::FD_CLOEXEC != 0;
        if !fits || !same || !closes {
            return Err(format!("export: {begin:#x} for {offset:#x}, closed on exec: {closes}"));
        }
        thing.block_offset = Some(block_offset);
        self.keep_export(&thing, file, block_offset);
        Ok(())
    }

    /// What taking in a file of memory for `first` must give; a file of another GPU's memory is refused by the host.
    fn foresee_import(&self, node: Option<u32>, first: u32) -> HSAKMT_STATUS {
        if node.is_some_and(|node| node != first) {
            self.world.tolerated.fetch_add(1, Ordering::SeqCst);
            return ERROR;
        }
        OK
    }

    /// What was taken in from an export.
    fn taken(export: &Export, (gpu, cpu, bytes): (u64, u64, u64), node: u32, parts: Vec<u32>) -> Thing {
        let local = export.node.is_some();
        Thing {
            kind: Kind::Shared,
            node,
            flags: export.flags,
            gpu,
            cpu,
            bytes,
            owner: Some(node),
            local,
            loose: gpu == 0,
            resident: false,
            shareable: true,
            parts,
            mapped: BTreeSet::new(),
            registered: None,
            registrations: 1,
            maps: 0,
            word: 0,
            store: Rc::clone(&export.store),
            delta: export.delta,
            // Its end makes nobody a present of the rest of the block.
            piece: Some(false),
            block_offset: None,
            guests: Vec::new(),
            shaky: false,
            gone: false,
        }
    }

    /// Whether the size of what was taken in is that of the export.
    fn sized(export: &Export, bytes: u64) -> bool {
        bytes == export.bytes || export.piece.is_none() && bytes == BLOCK
    }

    fn import(&mut self, which: u16, nodes: &[u32], extended: bool) -> Outcome {
        let Some(export) = pick(&self.exports, which) else { return Ok(()) };
        let (number, node) = (export.file.as_raw_fd() as u64, export.node);
        let gpus = self.nodes(nodes).map(|gpus| if gpus.is_empty() { BTreeSet::from([1]) } else { gpus });
        let (expected, gpus) = match gpus {
            Err(status) => (status, BTreeSet::new()),
            Ok(gpus) => {
                let first = gpus.first().copied().unwrap_or(1);
                let status = self.foresee_import(node, first);
                (if status == OK && node.is_some() && gpus.len() > 1 { NOT_SUPPORTED } else { status }, gpus)
            }
        };
        let (got, taken) = calls::import(number, nodes, extended);
        if self.judge("import", got, &[expected], true)? != End::Done {
            return Ok(());
        }
        let export = pick(&self.exports, which).ok_or("no export")?;
        let first = gpus.first().copied().unwrap_or(1);
        if !Self::sized(export, taken.bytes) || taken.node != first || taken.address % PAGE != 0 || taken.address == 0 {
            return Err(format!("import: {taken:x?} of {:#x} bytes for {nodes:?}", export.bytes));
        }
        let within = export.delta < 0 && export.store.borrow().known;
        let cpu = if node.is_none() { taken.address } else { 0 };
        let place = (taken.address, cpu, taken.bytes);
        let thing = Self::taken(export, place, first, gpus.into_iter().collect());
        let store = Rc::clone(&self.enter(thing)?.borrow().store);
        if within {
            self.count("pieces imported");
        }
        self.touch(&store)
    }

    fn import_other(&mut self, number: u8) -> Outcome {
        let file = std::fs::File::open("/dev/null").map_err(|error| error.to_string())?;
        let open = file.as_raw_fd();
        match number % 5 {
            0 => {
                self.world.tolerated.fetch_add(1, Ordering::SeqCst);
                let (got, _) = calls::import(open as u64, &[1], false);
                self.judge("import", got, &[ERROR], false)?;
            }
            1 => {
                self.world.tolerated.fetch_add(1, Ordering::SeqCst);
                let (got, _) = calls::handle_import(i64::from(open));
                self.judge("handle_import", got, &[ERROR], false)?;
            }
            2 => {
                let (got, _) = calls::import(1 << 40, &[1], false);
                self.judge("import", got, &[BAD], false)?;
            }
            3 => {
                let (got, _) = calls::handle_import(-1);
                self.judge("handle_import", got, &[NO_HANDLE], false)?;
            }
            _ => {
                let (got, _) = calls::import(100_000, &[], true);
                self.judge("import", got, &[BAD], false)?;
            }
        }
        Ok(())
    }

    /// Counts what is no call.
    fn count(&mut self, what: &'static str) {
        *self.counts.entry((what, 0)).or_default() += 1;
    }

    fn get_handle(&mut self, address: u64) -> Outcome {
        let known = self.at(address).filter(|_| address != 0);
        let expected = if known.is_some() { OK } else { NO_HANDLE };
        let (got, number) = calls::handle_of(address, address, PAGE);
        if self.judge("get_handle", got, &[expected], false)? != End::Done {
            return Ok(());
        }
        let Some(thing) = known else { return Ok(()) };
        if self.handles.iter().any(|handle| handle.number == number) || number == 0 {
            return Err(format!("get_handle: {number:#x} once more"));
        }
        self.handles.push(Handle { number, thing, own: false });
        Ok(())
    }

    fn handle_import(&mut self, which: u16) -> Outcome {
        let Some(export) = pick(&self.exports, which) else { return Ok(()) };
        let (file, node) = (i64::from(export.file.as_raw_fd()), export.node);
        let expected = self.foresee_import(node, 1);
        let (got, (number, bytes)) = calls::handle_import(file);
        if self.judge("handle_import", got, &[expected], true)? != End::Done {
            return Ok(());
        }
        let export = pick(&self.exports, which).ok_or("no export")?;
        if !Self::sized(export, bytes) || self.handles.iter().any(|handle| handle.number == number) {
            return Err(format!("handle_import: {number:#x} of {bytes:#x} bytes instead of {:#x}", export.bytes));
        }
        let (got, seen) = calls::cpu_address(number);
        let fine = got == OK && (seen == 0) == node.is_some() && seen % PAGE == 0;
        if !fine {
            return Err(format!("cpu_map of new memory: {got:?}, {seen:#x}"));
        }
        let parts = if node.is_none() { vec![1] } else { Vec::new() };
        let thing = Self::taken(export, (seen, seen, bytes), 1, parts);
        let thing = self.enter(thing)?;
        self.handles.push(Handle { number, thing, own: true });
        Ok(())
    }

    fn handle_export(&mut self, which: u16) -> Outcome {
        let Some(handle) = pick(&self.handles, which) else { return Ok(()) };
        let (number, thing) = (handle.number, Rc::clone(&handle.thing));
        let thing = thing.borrow();
        let expected = if thing.gone {
            NOT_REGISTERED
        } else if Self::has_file(&thing) {
            OK
        } else {
            BAD
        };
        let (got, file) = calls::handle_export(number);
        if self.judge("handle_export", got, &[expected], false)? == End::Done {
            let file = file.ok_or("handle_export: no file")?;
            // The file is that of the block, and where in it the piece begins is known from another call only.
            let begin = if thing.piece == Some(false) { Some(0) } else { thing.block_offset };
            if let Some(begin) = begin {
                self.keep_export(&thing, file, begin);
            }
        }
        Ok(())
    }

    fn cpu_map(&mut self, which: u16) -> Outcome {
        let Some(handle) = pick(&self.handles, which) else { return Ok(()) };
        let (number, gone, cpu) = (handle.number, handle.thing.borrow().gone, handle.thing.borrow().cpu);
        let (got, seen) = calls::cpu_address(number);
        let (expected, wanted) = if gone { (NOT_REGISTERED, 0) } else { (OK, cpu) };
        self.judge("cpu_map", got, &[expected], false)?;
        if seen == wanted { Ok(()) } else { Err(format!("cpu_map: {seen:#x} instead of {wanted:#x}")) }
    }

    fn va_map(&mut self, which: u16, range: Where, (offset, pages): (u8, u8), odd: bool) -> Outcome {
        // Mostly memory without a place, at addresses that are reserved.
        let prefer = |loose: bool| -> Vec<usize> {
            let fits = |handle: &Handle| !loose || handle.thing.borrow().loose;
            (0..self.handles.len()).filter(|index| fits(&self.handles[*index])).collect()
        };
        let candidates =
            Some(prefer(!which.is_multiple_of(8))).filter(|list| !list.is_empty()).unwrap_or_else(|| prefer(false));
        let Some(index) = pick(&candidates, which) else { return Ok(()) };
        let (number, thing) = (self.handles[*index].number, Rc::clone(&self.handles[*index].thing));
        let ranges: Vec<_> = self.things.iter().filter(|t| t.borrow().kind == Kind::Addresses).cloned().collect();
        let whole = thing.borrow().bytes / PAGE;
        let mut skip = u64::from(offset) % whole.max(1);
        let (mut bytes, mut skew) = ((1 + u64::from(pages) % (whole - skip).max(1)) * PAGE, 0);
        let address = match (range, pick(&ranges, offset.into())) {
            (Where::Start(which) | Where::Inside(which, _) | Where::User(which), Some(_)) => {
                let range = pick(&ranges, which).ok_or("no range")?.borrow();
                let room = range.bytes / PAGE;
                let begin = u64::from(which >> 8) % room;
                if which % 8 != 0 {
                    bytes = bytes.min((room - begin) * PAGE);
                }
                range.gpu + begin * PAGE
            }
            _ => self.resolve(range),
        };
        if odd {
            match pages % 3 {
                0 => skew = 0x10,
                1 => bytes += 0x10,
                _ => skip = whole,
            }
        }
        let offset = skip * PAGE + skew;
        let expect = || -> Result<Option<Shared>, Vec<HSAKMT_STATUS>> {
            address.checked_add(bytes).ok_or(vec![BAD])?;
            let found = self.around(address).ok_or(vec![BAD])?;
            let range = found.borrow();
            if range.kind != Kind::Addresses || address - range.gpu + bytes > range.bytes || !range.mapped.is_empty() {
                return Err(vec![BAD]);
            }
            let named = if Rc::ptr_eq(&found, &thing) { None } else { Some(thing.borrow()) };
            let Some(named) = named.filter(|named| named.kind != Kind::Addresses) else {
                return Err(vec![BAD, NOT_SUPPORTED, NOT_REGISTERED]);
            };
            if named.gone {
                return Err(vec![NOT_REGISTERED]);
            }
            if !named.loose {
                return Err(vec![NOT_SUPPORTED, BAD]);
            }
            let aligned = (address | offset | bytes).is_multiple_of(PAGE);
            if !aligned || offset + bytes > named.bytes {
                return Err(vec![BAD]);
            }
            let over = |guest: &&Guest| guest.at < address + bytes && address < guest.at + guest.bytes;
            match range.guests.iter().find(over) {
                None => Ok(Some(Rc::clone(&found))),
                Some(guest) => {
                    let same = Rc::ptr_eq(&guest.thing, &thing)
                        && (guest.at, guest.offset, guest.bytes) == (address, offset, bytes);
                    if same { Ok(None) } else { Err(vec![BAD]) }
                }
            }
        };
        let foreseen = expect();
        let expected = foreseen.as_ref().err().cloned().unwrap_or(vec![OK]);
        let got = calls::place(true, number, offset, bytes, address, thing.borrow().node);
        let end = self.judge("va_map", got, &expected, true)?;
        if let Ok(Some(found)) = foreseen {
            match end {
                End::Done => {
                    thing.borrow_mut().resident = true;
                    let store = Rc::clone(&thing.borrow().store);
                    found.borrow_mut().guests.push(Guest { thing, at: address, offset, bytes });
                    self.touch(&store)?;
                }
                End::Refused => {}
                End::Failed => found.borrow_mut().shaky = true,
            }
        }
        Ok(())
    }

    /// A handle of `thing`, a new one if need be.
    fn handle_for(&mut self, thing: &Shared) -> Result<u64, String> {
        if let Some(handle) = self.handles.iter().find(|handle| Rc::ptr_eq(&handle.thing, thing)) {
            return Ok(handle.number);
        }
        self.get_handle(thing.borrow().gpu)?;
        Ok(self.handles.last().ok_or("no handle")?.number)
    }

    /// All that is mapped in reserved addresses.
    fn guests(&self) -> Vec<(Shared, Guest)> {
        let of = |range: &Shared| -> Vec<_> {
            let guests = range.borrow().guests.clone();
            guests.into_iter().map(|guest| (Rc::clone(range), guest)).collect()
        };
        self.things.iter().flat_map(of).collect()
    }

    fn va_map_again(&mut self, which: u16, other: bool) -> Outcome {
        let all = self.guests();
        let Some((range, guest)) = pick(&all, which) else { return Ok(()) };
        let handle = self.handle_for(&guest.thing)?;
        let bytes = if other && guest.bytes == PAGE {
            2 * PAGE
        } else if other {
            PAGE
        } else {
            guest.bytes
        };
        let got = calls::place(true, handle, guest.offset, bytes, guest.at, range.borrow().node);
        self.judge("va_map", got, &[if other { BAD } else { OK }], false).map(|_| ())
    }

    fn va_unmap(&mut self, which: u16, shifted: bool) -> Outcome {
        let all = self.guests();
        let Some((range, guest)) = pick(&all, which) else { return Ok(()) };
        let handle = self.handle_for(&guest.thing)?;
        let node = range.borrow().node;
        if shifted {
            let got = calls::place(false, handle, guest.offset, guest.bytes + PAGE, guest.at, node);
            self.judge("va_unmap", got, &[BAD], false)?;
        }
        let got = calls::place(false, handle, guest.offset, guest.bytes, guest.at, node);
        match self.judge("va_unmap", got, &[OK], false)? {
            End::Done => range.borrow_mut().guests.retain(|known| known.at != guest.at),
            _ => range.borrow_mut().shaky = true,
        }
        Ok(())
    }

    fn free_handle(&mut self, index: usize, preserve: bool) -> Outcome {
        let handle = &self.handles[index];
        let (number, thing, own) = (handle.number, Rc::clone(&handle.thing), handle.own);
        let ends = own && !thing.borrow().gone;
        let expected = if ends && self.is_placed(&thing) { ERROR } else { OK };
        let call = || calls::free_handle(number, preserve);
        let got = if ends { self.ending(&thing, call) } else { call() };
        match self.judge("free_handle", got, &[expected], false)? {
            End::Done => {
                self.handles.swap_remove(index);
                if ends {
                    self.gone(&thing);
                }
                let got = calls::free_handle(number, preserve);
                self.judge("free_handle", got, &[NO_HANDLE], false)?;
            }
            End::Refused => {}
            End::Failed => thing.borrow_mut().shaky = true,
        }
        Ok(())
    }

    fn bad_handle(&mut self, number: u8) -> Outcome {
        let handle = if number.is_multiple_of(2) { 0 } else { 0x1234_5678 };
        let got = match number / 2 % 5 {
            0 => calls::free_handle(handle, false),
            1 => calls::cpu_address(handle).0,
            2 => calls::handle_export(handle).0,
            3 => calls::place(true, handle, 0, PAGE, PAGE, 1),
            _ => calls::place(false, handle, 0, PAGE, PAGE, 1),
        };
        self.judge("bad_handle", got, &[NO_HANDLE], false)?;
        let Some(real) = self.handles.first().map(|handle| handle.number) else { return Ok(()) };
        for (bytes, at) in [(0, PAGE), (PAGE, u64::MAX - 5), (u64::MAX - 4095, PAGE)] {
            let got = calls::place(number.is_multiple_of(2), real, PAGE, bytes, at, 1);
            self.judge("bad_range", got, &[BAD], false)?;
        }
        Ok(())
    }

    // Contents.

    fn views(&self, also_shaky: bool) -> Vec<View> {
        let mut views = Vec::new();
        let mut add = |store: &Rc<RefCell<Store>>, adapter: Option<u32>, at: u64, delta: i64, bytes: u64| {
            if !store.borrow().known {
                return;
            }
            let low = delta.max(0) as u64;
            let high = (delta.saturating_add_unsigned(bytes)).clamp(0, store.borrow().bytes as i64) as u64;
            if low.next_multiple_of(8) + 8 <= high {
                let (store, adapter) = (Rc::clone(store), adapter.map(|node| node as usize - 1));
                views.push(View { store, adapter, zero: i128::from(at) - i128::from(delta), low, high });
            }
        };
        for thing in &self.things {
            let thing = thing.borrow();
            if thing.cpu != 0 {
                add(&thing.store, None, thing.cpu, thing.delta, thing.bytes);
            }
            if thing.shaky && !also_shaky {
                continue;
            }
            for node in &thing.parts {
                add(&thing.store, Some(*node), thing.gpu, thing.delta, thing.bytes);
            }
            for guest in &thing.guests {
                let named = guest.thing.borrow();
                let delta = named.delta + guest.offset as i64;
                add(&named.store, Some(named.node), guest.at, delta, guest.bytes);
            }
        }
        views
    }

    fn get(view: &View, offset: u64) -> Result<u64, String> {
        let at = (view.zero + i128::from(offset)) as u64;
        match view.adapter {
            None => {
                let place: *const u64 = std::ptr::with_exposed_provenance(at as usize);
                // SAFETY: memory that is alive, of the library or of the thread's own.
                Ok(unsafe { place.read_unaligned() })
            }
            Some(adapter) => {
                let mut word = [0; 8];
                gpu_read(adapter, at, &mut word).map_err(|fault| format!("GPU {adapter} reads {at:#x}: {fault}"))?;
                Ok(u64::from_le_bytes(word))
            }
        }
    }

    fn write(&mut self, which: u16, at: u32, by_cpu: bool) -> Outcome {
        let mut views = self.views(false);
        if by_cpu && views.iter().any(|view| view.adapter.is_none()) {
            views.retain(|view| view.adapter.is_none());
        }
        let Some(view) = pick(&views, which) else { return Ok(()) };
        let (low, high) = (view.low.next_multiple_of(8), view.high / 8 * 8);
        if low >= high {
            return Ok(());
        }
        // The first and the last word now and then.
        let offset = match at % 8 {
            0 => low,
            1 => high - 8,
            _ => low + u64::from(at).wrapping_mul(0x9e37_79b1) % ((high - low) / 8) * 8,
        };
        let view = View { store: Rc::clone(&view.store), ..*view };
        self.write_at(&view, offset)
    }

    /// Writes a word that was never written before.
    fn write_at(&mut self, view: &View, offset: u64) -> Outcome {
        self.counter += 1;
        let value = self.counter;
        let place = (view.zero + i128::from(offset)) as u64;
        match view.adapter {
            None => {
                let to: *mut u64 = std::ptr::with_exposed_provenance_mut(place as usize);
                // SAFETY: as in `get`.
                unsafe { to.write_unaligned(value) };
            }
            Some(adapter) => gpu_write(adapter, place, &value.to_le_bytes())
                .map_err(|fault| format!("GPU {adapter} writes {place:#x}: {fault}"))?,
        }
        view.store.borrow_mut().words.insert(offset, value);
        self.count(if view.adapter.is_some() { "GPU writes" } else { "CPU writes" });
        Ok(())
    }

    /// Whoever names these bytes sees what another one writes.
    fn touch(&mut self, store: &Rc<RefCell<Store>>) -> Outcome {
        let mut views = self.views(false);
        views.retain(|view| Rc::ptr_eq(&view.store, store));
        if let (Some(first), Some(last)) = (views.first(), views.last()) {
            self.write_at(first, first.low.next_multiple_of(8).min(first.high / 8 * 8 - 8))?;
            self.write_at(last, (last.high / 8 * 8 - 8).max(last.low.next_multiple_of(8)))?;
        }
        let newest = self.counter as usize;
        views.iter().try_for_each(|view| Self::compare(view, newest, 4))
    }

    /// The words that were written and lie in a view hold what was written, at most `most` of them from the `first` on.
    fn compare(view: &View, first: usize, most: usize) -> Outcome {
        let words: Vec<(u64, u64)> = {
            let store = view.store.borrow();
            let inside = store.words.range(view.low..view.high).filter(|(offset, _)| *offset + 8 <= view.high);
            inside.map(|(offset, value)| (*offset, *value)).collect()
        };
        let count = words.len().min(most);
        for (offset, value) in words.iter().cycle().skip(first % words.len().max(1)).take(count) {
            let got = Self::get(view, *offset)?;
            if got != *value {
                let (at, who) = (view.zero + i128::from(*offset), view.adapter);
                return Err(format!("{at:#x} holds {got:#x} instead of {value:#x}, seen by {who:?}"));
            }
        }
        Ok(())
    }

    fn read(&mut self, which: u16, at: u16) -> Outcome {
        let mut views = self.views(false);
        views.retain(|view| !view.store.borrow().words.is_empty());
        if let Some(view) = pick(&views, which) {
            Self::compare(view, at.into(), 3)?;
            self.count(if view.adapter.is_some() { "GPU reads" } else { "CPU reads" });
        }
        self.absent(which)
    }

    /// GPUs that must not see something do not.
    fn absent(&self, which: u16) -> Outcome {
        let Some(thing) = pick(&self.things, which) else { return Ok(()) };
        let thing = thing.borrow();
        if thing.gpu == 0 || thing.loose || thing.shaky || !thing.guests.is_empty() {
            return Ok(());
        }
        for node in (1..=self.world.gpus).filter(|node| !thing.parts.contains(node)) {
            let mut byte = [0];
            if gpu_read(node as usize - 1, thing.gpu, &mut byte).is_ok() {
                return Err(format!("GPU {} sees {:#x}, which it must not", node - 1, thing.gpu));
            }
        }
        Ok(())
    }

    // The end.

    /// Does something until it is done: at most one call fails for a failure that was asked for.
    fn insist(&mut self, mut call: impl FnMut(&mut Self) -> Result<bool, String>) -> Outcome {
        for _ in 0..3 {
            if call(self)? {
                return Ok(());
            }
        }
        Err("it cannot be ended".to_owned())
    }

    /// Everything is as expected, and then nothing is alive.
    pub fn finish(&mut self) -> Outcome {
        for view in self.views(false) {
            Self::compare(&view, 0, 100)?;
        }
        for index in 0..self.things.len() {
            self.absent(index as u16)?;
            let at = self.things[index].borrow().gpu;
            if at != 0 {
                self.info(at)?;
            }
        }
        self.insist(|model| {
            let guests: usize = model.things.iter().map(|thing| thing.borrow().guests.len()).sum();
            (0..guests).try_for_each(|_| model.va_unmap(0, false))?;
            Ok(model.things.iter().all(|thing| thing.borrow().guests.is_empty()))
        })?;
        self.insist(|model| {
            for index in (0..model.handles.len()).rev() {
                model.free_handle(index, false)?;
            }
            Ok(model.handles.is_empty())
        })?;
        self.insist(|model| {
            for thing in model.things.clone() {
                let (kind, gpu, registrations) =
                    (thing.borrow().kind, thing.borrow().gpu, thing.borrow().registrations);
                match kind {
                    Kind::User => (0..registrations).try_for_each(|_| model.deregister(gpu))?,
                    Kind::Shared if gpu % 3 == 0 => model.deregister(gpu)?,
                    _ => model.free(gpu)?,
                }
            }
            Ok(model.things.is_empty())
        })?;
        self.exports.clear();
        Ok(())
    }
}
