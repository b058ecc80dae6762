//! What a sequence is: a machine and its conditions, and the calls of each thread.
//!
//! Calls name their objects by numbers that the model turns into what is there at that moment, so that a sequence stays
//! meaningful when a part of it is left out.

use proptest::prelude::*;

/// Where a call points.
#[derive(Debug, Clone, Copy)]
pub enum Where {
    /// The first byte of something that is alive, as GPUs see it.
    Start(u16),
    /// The same as its user sees it.
    User(u16),
    /// Somewhere inside.
    Inside(u16, u16),
    /// The first byte behind.
    Behind(u16),
    /// The last byte before.
    Before(u16),
    /// Where something was that is freed.
    Freed(u16),
    /// What never was the library's.
    Foreign(u8),
    /// NULL.
    Null,
}

/// What is allocated.
#[derive(Debug, Clone, Copy)]
pub enum What {
    /// Memory of a GPU, by node.
    Local(u8),
    /// The same as a scratch area.
    Scratch(u8),
    /// Host memory that is paged.
    Paged,
    /// Host memory that is not.
    Unpaged,
    /// Host memory wanted from a GPU's node.
    PagedOfGpu(u8),
    /// Host memory through the tables of a GPU.
    Gtt(u8),
    /// The same by its own call.
    Anchored(u8),
    /// Addresses without memory; 0 for the CPU's node.
    Addresses(u8),
    /// Memory without an address.
    NoAddress(u8),
}

/// How large.
#[derive(Debug, Clone, Copy)]
pub enum Size {
    /// So many pages.
    Pages(u8),
    /// So many MiB.
    Mebibytes(u8),
    /// More than one kernel allocation can have.
    TwoChunks,
    /// More than there is.
    Endless,
    /// No multiple of a page.
    Odd(u16),
    /// Nothing.
    Zero,
}

/// A wish for an address.
#[derive(Debug, Clone, Copy)]
pub enum Wish {
    None,
    /// A multiple of this power of two.
    Aligned(u8),
    /// No power of two, or less than a page.
    Misaligned,
    /// Exactly there.
    At(Where),
    /// There, but not at a page.
    AtOdd(Where),
}

/// A list of nodes.
pub type Nodes = Vec<u32>;

/// One call, or a few that belong together.
#[derive(Debug, Clone)]
pub enum Op {
    Allocate {
        what: What,
        size: Size,
        wish: Wish,
        coarse: bool,
        large_pages: bool,
    },
    BadNode,
    BadFlags(u8),
    Free(Where),
    Map {
        at: Where,
        nodes: Option<Nodes>,
    },
    Unmap(Where),
    /// A part of the thread's own pages.
    Register {
        page: u8,
        offset: u16,
        bytes: u32,
        nodes: Option<Nodes>,
        coarse: Option<bool>,
    },
    /// Whatever is there.
    RegisterAt {
        at: Where,
        bytes: u32,
        nodes: Option<Nodes>,
    },
    /// Exactly what is registered already.
    RegisterAgain {
        which: u16,
        less: u16,
        nodes: Option<Nodes>,
    },
    Deregister(Where),
    Info(Where),
    /// Something of another thread.
    Peek(u16),
    SetWord {
        at: Where,
        word: u32,
    },
    Available(u32),
    Export {
        at: Where,
        bytes: u32,
    },
    Import {
        which: u16,
        nodes: Nodes,
        extended: bool,
    },
    ImportOther(u8),
    CloseExport(u16),
    GetHandle {
        at: Where,
    },
    HandleImport(u16),
    HandleExport(u16),
    CpuMap(u16),
    VaMap {
        handle: u16,
        range: Where,
        offset: u8,
        pages: u8,
        odd: bool,
    },
    /// What is mapped already; or, beginning there, a page of something else.
    VaMapAgain {
        which: u16,
        other: bool,
    },
    VaUnmap {
        which: u16,
        shifted: bool,
    },
    FreeHandle {
        which: u16,
        preserve: bool,
    },
    BadHandle(u8),
    Write {
        which: u16,
        at: u32,
        by_cpu: bool,
    },
    Read {
        which: u16,
        at: u16,
    },
    Churn {
        rounds: u8,
        pages: u8,
    },
}

/// Conditions of one sequence.
#[derive(Debug, Clone)]
pub struct Conditions {
    pub two_gpus: bool,
    pub sub_allocator: bool,
    /// Of paging: delay in microseconds, one in so many at once, seed.
    pub paging: (u32, u32, u64),
    /// Handles repeat at once; handles of several tables collide.
    pub handles: (bool, bool),
    /// MiB that may be resident, of local memory and of the host's.
    pub budget: Option<(u16, u16)>,
    /// The call that fails: which kind, the how-many-th, with which status.
    pub failure: Option<(u8, u8, u8)>,
}

#[derive(Debug, Clone)]
pub struct Plan {
    pub conditions: Conditions,
    pub threads: Vec<Vec<Op>>,
}

fn place() -> impl Strategy<Value = Where> {
    prop_oneof![
        16 => any::<u16>().prop_map(Where::Start),
        4 => any::<u16>().prop_map(Where::User),
        4 => any::<(u16, u16)>().prop_map(|(which, at)| Where::Inside(which, at)),
        2 => any::<u16>().prop_map(Where::Behind),
        1 => any::<u16>().prop_map(Where::Before),
        2 => any::<u16>().prop_map(Where::Freed),
        1 => any::<u8>().prop_map(Where::Foreign),
        1 => Just(Where::Null),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        8 => any::<u8>().prop_map(What::Local),
        1 => any::<u8>().prop_map(What::Scratch),
        4 => Just(What::Paged),
        3 => Just(What::Unpaged),
        1 => any::<u8>().prop_map(What::PagedOfGpu),
        1 => any::<u8>().prop_map(What::Gtt),
        1 => any::<u8>().prop_map(What::Anchored),
        3 => any::<u8>().prop_map(What::Addresses),
        2 => any::<u8>().prop_map(What::NoAddress),
    ]
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        16 => (1..=40_u8).prop_map(Size::Pages),
        6 => (1..=160_u8).prop_map(Size::Mebibytes),
        1 => Just(Size::TwoChunks),
        1 => Just(Size::Endless),
        1 => (1..4096_u16).prop_map(Size::Odd),
        1 => Just(Size::Zero),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        12 => Just(Wish::None),
        3 => (12..=30_u8).prop_map(Wish::Aligned),
        1 => Just(Wish::Misaligned),
        3 => place().prop_map(Wish::At),
        2 => any::<u16>().prop_map(|which| Wish::At(Where::Freed(which))),
        1 => any::<u16>().prop_map(|which| Wish::AtOdd(Where::Freed(which))),
    ]
}

/// Mostly GPUs; sometimes the CPU's node, or one that is not there, or none, or one twice.
fn nodes() -> impl Strategy<Value = Nodes> {
    let node = prop_oneof![8 => Just(1_u32), 6 => Just(2_u32), 1 => Just(0_u32), 1 => Just(77_u32)];
    prop::collection::vec(node, 0..4)
}

fn maybe_nodes() -> impl Strategy<Value = Option<Nodes>> {
    prop::option::of(nodes())
}

/// What a sequence is mostly about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Theme {
    All,
    /// Memory that is mapped at addresses that were reserved.
    Placing,
    /// Files of memory.
    Sharing,
    /// The program's own memory.
    Registering,
}

fn op(theme: Theme) -> BoxedStrategy<Op> {
    let allocate = |what: BoxedStrategy<What>, size: BoxedStrategy<Size>, wish: BoxedStrategy<Wish>| {
        (what, size, wish, any::<bool>(), prop::bool::weighted(0.1))
            .prop_map(|(what, size, wish, coarse, large_pages)| Op::Allocate { what, size, wish, coarse, large_pages })
    };
    let anything = allocate(what().boxed(), size().boxed(), wish().boxed());
    let pages = (1..=40_u8).prop_map(Size::Pages).boxed();
    let to_place = prop_oneof![any::<u8>().prop_map(What::Addresses), any::<u8>().prop_map(What::NoAddress)].boxed();
    let to_place = allocate(to_place, pages, Just(Wish::None).boxed());
    // Small and all alike, so that they are pieces of few blocks.
    let to_share = (any::<u8>(), 1..40_u8).prop_map(|(node, pages)| Op::Allocate {
        what: What::Local(node),
        size: Size::Pages(pages),
        wish: Wish::None,
        coarse: true,
        large_pages: false,
    });
    let register =
        (0..66_u8, prop_oneof![Just(0_u16), 0..4096_u16], 1..40_000_u32, maybe_nodes(), any::<Option<bool>>())
            .prop_map(|(page, offset, bytes, nodes, coarse)| Op::Register { page, offset, bytes, nodes, coarse });
    let again = (any::<u16>(), prop_oneof![Just(0_u16), any::<u16>()], maybe_nodes())
        .prop_map(|(which, less, nodes)| Op::RegisterAgain { which, less, nodes });
    let register_at = (place(), prop_oneof![4 => 1..20_000_u32, 1 => Just(0_u32)], maybe_nodes())
        .prop_map(|(at, bytes, nodes)| Op::RegisterAt { at, bytes, nodes });
    let va_map = (any::<u16>(), place(), any::<u8>(), any::<u8>(), prop::bool::weighted(0.1))
        .prop_map(|(handle, range, offset, pages, odd)| Op::VaMap { handle, range, offset, pages, odd });
    let va_unmap =
        (any::<u16>(), prop::bool::weighted(0.2)).prop_map(|(which, shifted)| Op::VaUnmap { which, shifted });
    let import = (any::<u16>(), prop_oneof![nodes(), (1..=2_u32).prop_map(|node| vec![node])], any::<bool>())
        .prop_map(|(which, nodes, extended)| Op::Import { which, nodes, extended });
    let churn = (1..30_u8, 1..64_u8).prop_map(|(rounds, pages)| Op::Churn { rounds, pages });
    let if_theme = |wanted: Theme, weight: u32, otherwise: u32| if theme == wanted { weight } else { otherwise };
    let (placing, sharing, registering) = (Theme::Placing, Theme::Sharing, Theme::Registering);
    prop_oneof![
        16 => anything,
        if_theme(placing, 24, 1) => to_place,
        if_theme(sharing, 16, 2) => to_share,
        1 => Just(Op::BadNode),
        1 => any::<u8>().prop_map(Op::BadFlags),
        7 => place().prop_map(Op::Free),
        10 => (place(), maybe_nodes()).prop_map(|(at, nodes)| Op::Map { at, nodes }),
        7 => place().prop_map(Op::Unmap),
        if_theme(registering, 24, 6) => register,
        2 => register_at,
        if_theme(registering, 12, 3) => again,
        if_theme(registering, 16, 4) => place().prop_map(Op::Deregister),
        8 => place().prop_map(Op::Info),
        2 => any::<u16>().prop_map(Op::Peek),
        2 => (place(), any::<u32>()).prop_map(|(at, word)| Op::SetWord { at, word }),
        2 => prop_oneof![8 => Just(1_u32), 6 => Just(2_u32), 1 => Just(0_u32), 1 => Just(77_u32)].prop_map(Op::Available),
        if_theme(sharing, 20, 5) => (place(), prop_oneof![1..20_000_u32, any::<u32>()])
            .prop_map(|(at, bytes)| Op::Export { at, bytes }),
        if_theme(sharing, 16, 4) => import,
        1 => any::<u8>().prop_map(Op::ImportOther),
        1 => any::<u16>().prop_map(Op::CloseExport),
        if_theme(placing, 12, 4) => place().prop_map(|at| Op::GetHandle { at }),
        if_theme(sharing, 10, 3) => any::<u16>().prop_map(Op::HandleImport),
        if_theme(sharing, 6, 2) => any::<u16>().prop_map(Op::HandleExport),
        2 => any::<u16>().prop_map(Op::CpuMap),
        if_theme(placing, 40, 3) => va_map,
        if_theme(placing, 8, 1) => any::<(u16, bool)>().prop_map(|(which, other)| Op::VaMapAgain { which, other }),
        if_theme(placing, 10, 3) => va_unmap,
        4 => (any::<u16>(), any::<bool>()).prop_map(|(which, preserve)| Op::FreeHandle { which, preserve }),
        1 => any::<u8>().prop_map(Op::BadHandle),
        10 => (any::<u16>(), any::<u32>(), any::<bool>()).prop_map(|(which, at, by_cpu)| Op::Write { which, at, by_cpu }),
        8 => (any::<u16>(), any::<u16>()).prop_map(|(which, at)| Op::Read { which, at }),
        1 => churn,
    ]
    .boxed()
}

fn conditions() -> impl Strategy<Value = Conditions> {
    let paging = (prop_oneof![Just(0_u32), 0..200_u32], 0..4_u32, any::<u64>());
    let budget = prop::option::weighted(0.2, (0..700_u16, 0..64_u16));
    let failure = prop::option::weighted(0.3, (any::<u8>(), 1..40_u8, any::<u8>()));
    (any::<bool>(), any::<bool>(), paging, any::<(bool, bool)>(), budget, failure).prop_map(
        |(two_gpus, sub_allocator, paging, handles, budget, failure)| Conditions {
            two_gpus,
            sub_allocator,
            paging,
            handles,
            budget,
            failure,
        },
    )
}

/// Sequences of one thread, or of two to four that call at once.
pub fn plan() -> impl Strategy<Value = Plan> {
    let theme = prop_oneof![
        4 => Just(Theme::All),
        2 => Just(Theme::Placing),
        2 => Just(Theme::Sharing),
        1 => Just(Theme::Registering),
    ];
    let threads = theme.prop_flat_map(|theme| {
        let one = prop::collection::vec(prop::collection::vec(op(theme), 1..100), 1);
        let several = prop::collection::vec(prop::collection::vec(op(theme), 1..40), 2..=4);
        prop_oneof![3 => one, 2 => several]
    });
    (conditions(), threads).prop_map(|(conditions, threads)| Plan { conditions, threads })
}
