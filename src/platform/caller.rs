//! Which loaded module an export was called from, told by the call itself.
//!
//! The return address lies behind the call instruction. Where that instruction leads to the export, its module is the
//! caller. Where it leads to another function, that function has jumped on to the export (a tail call), and its module
//! is the caller. Where neither can be made out, nobody is.

use std::ffi::c_void;
use std::mem::{MaybeUninit, size_of};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The registers of an x86-64 caller as an export finds them, and where it returns to.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)] // The names are those of the registers.
pub struct Frame {
    pub rax: usize,
    pub rbx: usize,
    pub rcx: usize,
    pub rdx: usize,
    pub rsi: usize,
    pub rdi: usize,
    pub rbp: usize,
    pub r8: usize,
    pub r9: usize,
    pub r10: usize,
    pub r11: usize,
    pub r12: usize,
    pub r13: usize,
    pub r14: usize,
    pub r15: usize,
    pub return_address: usize,
}

/// A loaded shared object or program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module {
    /// Address of its first page.
    pub start: usize,
}

/// What tells a module from another that is loaded later at the same place: its ELF and program headers, which say how
/// large the file and each part of it are, and its notes, among which is the build id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    headers: Vec<u8>,
    /// Address and contents of each run of notes.
    notes: Vec<(usize, Vec<u8>)>,
}

impl Module {
    /// Its identity; `None` when it has no headers that can be read.
    pub fn identity(&self) -> Option<Identity> {
        let object = Object::at(self.start)?;
        let headers = object.bytes(self.start, object.headers_end()?)?.to_vec();
        let notes = object.headers().filter(|s| s.kind == libc::PT_NOTE);
        let mapped = |s: Segment| Some((s.start, object.bytes(s.start, s.end - s.start)?.to_vec()));
        Some(Identity { headers, notes: notes.filter_map(mapped).collect() })
    }

    /// Whether the module is still the one with that identity.
    pub fn is(&self, identity: &Identity) -> bool {
        let same = |start: usize, known: &[u8]| {
            // SAFETY: the headers lie in the first page of the object at `start`, which is loaded, as one of its
            // functions is calling; and where they are the same, so are the places of the notes.
            let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, known.len()) };
            bytes == known
        };
        same(self.start, &identity.headers) && identity.notes.iter().all(|(start, notes)| same(*start, notes))
    }
}

/// An export, by the addresses that lead to it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its first instruction.
    pub first: usize,
    /// Its symbol as a pointer: a program at fixed addresses that takes it makes it that of a stub of its own.
    pub symbol: usize,
}

impl Entry {
    fn is(&self, address: usize) -> bool {
        address == self.first || address == self.symbol
    }
}

/// The module that made the call behind `frame` to the export `entry`; `None` where it cannot be told.
pub fn module(frame: &Frame, entry: Entry) -> Option<Module> {
    let after = frame.return_address;
    let caller = Object::at(after)?;
    let code: [u8; 8] = caller.code_before(after)?;
    // A stub of the caller's own is on its way to the export. The same instruction in another module is a function of
    // that one which jumps.
    let reaches = |target| entry.is(target) || caller.through_stub(target).is_some_and(|next| entry.is(next));
    let own = Some(Module { start: caller.start });

    // Each way to read the bytes before the return address as a call; which of them is meant, they do not say.
    let relative = || {
        let displacement = i32::from_le_bytes([code[4], code[5], code[6], code[7]]);
        after.wrapping_add_signed(displacement as isize)
    };
    let mut targets = [None; 7];
    targets[0] = (code[3] == 0xe8).then(relative);
    targets[1] = if code[2..4] == [0xff, 0x15] { caller.slot(relative()) } else { None };
    let operands = INDIRECT_CALLS.map(|length| operand(frame, code.split_at(code.len() - length)));
    for (target, operand) in targets[2..].iter_mut().zip(&operands) {
        *target = if let Some(Operand::Register(value)) = operand { Some(*value) } else { None };
    }
    if targets.iter().flatten().any(|&target| reaches(target)) {
        return own;
    }
    // A word of memory is read as it is only where nothing else can be meant and the callee has kept the registers that
    // name it: then it is the word that the call has just read.
    let places = operands.iter().flatten().filter(|operand| matches!(operand, Operand::Memory { .. })).count();
    let code_at = |target: usize| Object::of_code(caller.through_stub(target).unwrap_or(target));
    let certain = places == 1 && targets.iter().flatten().all(|&target| code_at(target).is_none());
    for (target, operand) in targets[2..].iter_mut().zip(&operands) {
        if let Some(Operand::Memory { address, kept }) = operand {
            // SAFETY: see above.
            *target = if certain && *kept { Some(unsafe { read(*address) }) } else { peek(*address) };
        }
    }
    if targets.iter().flatten().any(|&target| reaches(target)) {
        return own;
    }
    // Only what leads to code can be right; two readings that disagree tell nothing.
    let mut jumped = targets.iter().flatten().filter_map(|&target| code_at(target)).map(|object| object.start);
    let start = jumped.next()?;
    jumped.all(|other| other == start).then_some(Module { start })
}

/// The word at `address`.
///
/// # Safety
/// There must be one.
unsafe fn read(address: usize) -> usize {
    // SAFETY: the caller's promise; words of the stack are aligned, others may not be.
    unsafe { (address as *const usize).read_unaligned() }
}

/// The addresses of a loaded object.
#[derive(Clone, Copy)]
struct Object {
    start: usize,
    end: usize,
}

/// A program header that has to do with memory.
struct Segment {
    kind: u32,
    flags: u32,
    start: usize,
    end: usize,
}

/// The loader maps this much of an object's beginning in one piece.
const PAGE: usize = 4096;

impl Object {
    /// The loaded object that has `address`, if it begins with an ELF header.
    fn at(address: usize) -> Option<Self> {
        let (start, end) = extent(address)?;
        let object = Self { start, end };
        (object.head::<6>(0)? == *b"\x7fELF\x02\x01").then_some(object)
    }

    /// The loaded object in which there is code at `address`.
    fn of_code(address: usize) -> Option<Self> {
        let object = Self::at(address)?;
        let is_code = |s: Segment| s.flags & libc::PF_X != 0 && (s.start..s.end).contains(&address);
        object.loaded().any(is_code).then_some(object)
    }

    /// Bytes of the first page.
    fn head<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        if self.end.checked_sub(self.start)? < PAGE || offset.checked_add(N)? > PAGE {
            return None;
        }
        // SAFETY: the first page of an object is mapped whole and readable, and stays for as long as the loader says
        // that the object is there; none is unloaded while one of its functions is called or returned to.
        Some(unsafe { ((self.start + offset) as *const [u8; N]).read_unaligned() })
    }

    /// Where the stub of this object's linkage table at `address` jumps to: `[endbr64] [bnd] jmp *slot(%rip)`.
    fn through_stub(&self, address: usize) -> Option<usize> {
        if !(self.start..self.end).contains(&address) {
            return None;
        }
        let code: [u8; 11] = self.read(address)?;
        let mut skip = if code.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]) { 4 } else { 0 };
        if code[skip] == 0xf2 {
            skip += 1;
        }
        let [0xff, 0x25, displacement @ ..] = code[skip..].first_chunk::<6>()? else { return None };
        self.slot(address.wrapping_add(skip + 6).wrapping_add_signed(i32::from_le_bytes(*displacement) as isize))
    }

    /// The address that a word of this object's data holds.
    fn slot(&self, at: usize) -> Option<usize> {
        self.read(at).map(usize::from_le_bytes)
    }

    /// Where the program headers end, counted from the start; `None` beyond the first page.
    fn headers_end(&self) -> Option<usize> {
        let (table, size, count) = (self.head(32)?, self.head(54)?, self.head(56)?);
        let length = usize::from(u16::from_le_bytes(size)).checked_mul(usize::from(u16::from_le_bytes(count)))?;
        usize::from_le_bytes(table).checked_add(length).filter(|&end| end <= PAGE)
    }

    /// The program headers, as far as they lie in the first page.
    fn headers(&self) -> impl Iterator<Item = Segment> {
        let object = *self;
        let word = move |at| object.head::<8>(at).map(usize::from_le_bytes);
        let half = move |at| object.head::<2>(at).map(|bytes| usize::from(u16::from_le_bytes(bytes)));
        let double = move |at| object.head::<4>(at).map(u32::from_le_bytes);
        let (table, size, count) = (word(32), half(54), half(56));
        // Addresses in the headers count from where the first loaded segment wants to be.
        let mut base = None;
        (0..count.unwrap_or(0)).map_while(move |index| {
            let at = table?.checked_add(index.checked_mul(size?)?)?;
            let (kind, address) = (double(at)?, word(at + 16)?);
            if kind == libc::PT_LOAD && base.is_none() {
                base = Some(object.start.wrapping_sub(address & !(PAGE - 1)));
            }
            let start = base.unwrap_or(0).wrapping_add(address);
            Some(Segment { kind, flags: double(at + 4)?, start, end: start.checked_add(word(at + 40)?)? })
        })
    }

    fn loaded(&self) -> impl Iterator<Item = Segment> {
        self.headers().filter(|s| s.kind == libc::PT_LOAD && s.flags & libc::PF_R != 0)
    }

    /// The bytes at `address`, if all of them are mapped.
    fn bytes<'a>(&self, address: usize, length: usize) -> Option<&'a [u8]> {
        let end = address.checked_add(length)?;
        if !self.loaded().any(|s| s.start <= address && end <= s.end) {
            return None;
        }
        // SAFETY: the bytes lie in one readable segment of an object that is loaded; see `head`. Nobody keeps them
        // beyond the call in which they are read.
        Some(unsafe { std::slice::from_raw_parts(address as *const u8, length) })
    }

    /// The bytes before `after`, where a call has just been executed.
    fn code_before<const N: usize>(&self, after: usize) -> Option<[u8; N]> {
        let first = after.checked_sub(N)?;
        if (after - 1) / PAGE != first / PAGE {
            return self.read(first);
        }
        // SAFETY: the last of the bytes was executed, and all of them are in its page.
        Some(unsafe { (first as *const [u8; N]).read_unaligned() })
    }

    fn read<const N: usize>(&self, address: usize) -> Option<[u8; N]> {
        self.bytes(address, N)?.try_into().ok()
    }
}

/// How long `call *operand` may be, without a prefix.
const INDIRECT_CALLS: [usize; 5] = [2, 3, 4, 6, 7];

/// Where an indirect call takes its target from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// A register has it.
    Register(usize),
    /// It is a word of memory.
    Memory {
        address: usize,
        /// The registers that name the word are among those that a function gives back as it found them, also when it
        /// ends in a jump.
        kept: bool,
    },
}

/// The operand of `call *operand`, where the second half of `code` is that instruction; a REX prefix may be the last
/// byte of the first half.
fn operand(frame: &Frame, code: (&[u8], &[u8])) -> Option<Operand> {
    let (before, [0xff, mode, rest @ ..]) = code else { return None };
    // Bits 3 to 5 are 2 for a near call.
    if mode >> 3 & 7 != 2 {
        return None;
    }
    let rex = before.last().copied().filter(|byte| byte & 0xf0 == 0x40).unwrap_or(0);
    let number = |low: u8, bit: u8| low | if rex & bit != 0 { 8 } else { 0 };
    let (kind, base) = (mode >> 6, mode & 7);
    if kind == 3 {
        return rest.is_empty().then(|| Operand::Register(frame.register(number(base, 1))));
    }
    let (base, index, rest) = if base == 4 {
        let (&scaled, rest) = rest.split_first()?;
        let index = number(scaled >> 3 & 7, 2);
        // Register 4 as an index stands for none.
        (scaled & 7, (index != 4).then_some((index, scaled >> 6)), rest)
    } else {
        (base, None, rest)
    };
    if base == 5 && kind == 0 {
        return None; // No base register: relative to the instruction, or absolute.
    }
    let displacement = match (kind, rest) {
        (0, []) => 0,
        (1, [byte]) => isize::from(*byte as i8),
        (2, [a, b, c, d]) => i32::from_le_bytes([*a, *b, *c, *d]) as isize,
        _ => return None,
    };
    let base = number(base, 1);
    let (offset, index_kept) =
        index.map_or((0, true), |(index, scale)| (frame.register(index) << scale, is_kept(index)));
    Some(Operand::Memory {
        address: frame.register(base).wrapping_add(offset).wrapping_add_signed(displacement),
        kept: is_kept(base) && index_kept,
    })
}

/// Whether functions give the register back as they found it (System V ABI: rbx, rsp, rbp, r12 to r15).
fn is_kept(number: u8) -> bool {
    matches!(number, 3 | 4 | 5 | 12..=15)
}

impl Frame {
    /// The register with that number in the instruction set.
    fn register(&self, number: u8) -> usize {
        match number {
            0 => self.rax,
            1 => self.rcx,
            2 => self.rdx,
            3 => self.rbx,
            // Before the call pushed the return address.
            4 => (&raw const self.return_address).addr() + size_of::<usize>(),
            5 => self.rbp,
            6 => self.rsi,
            7 => self.rdi,
            8 => self.r8,
            9 => self.r9,
            10 => self.r10,
            11 => self.r11,
            12 => self.r12,
            13 => self.r13,
            14 => self.r14,
            _ => self.r15,
        }
    }
}

/// The word at any address, if there is memory. A register may have changed since the call, so the address may be none.
fn peek(address: usize) -> Option<usize> {
    let mut word = 0_usize;
    let local = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size_of::<usize>() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: size_of::<usize>() };
    // SAFETY: the kernel writes to `word` only, and answers EFAULT where there is nothing to read.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    (read == size_of::<usize>() as isize).then_some(word)
}

/// Start and end of the loaded object that has `address`.
fn extent(address: usize) -> Option<(usize, usize)> {
    match find_object() {
        Some(find) => {
            let mut found = MaybeUninit::<FoundObject>::zeroed();
            // SAFETY: the C library's own function, with room for its answer; it takes no lock, and so cannot be
            // left locked by a fork.
            let status = unsafe { find(address as *mut c_void, found.as_mut_ptr()) };
            // SAFETY: the structure is plain numbers and pointers, for which zero is a value.
            let found = unsafe { found.assume_init() };
            (status == 0).then_some((found.map_start, found.map_end))
        }
        None => extent_by_list(address),
    }
}

/// What `_dl_find_object` of glibc 2.35 and later writes.
#[repr(C)]
struct FoundObject {
    flags: u64,
    map_start: usize,
    map_end: usize,
    rest: [usize; 12],
}

type FindObject = unsafe extern "C" fn(*mut c_void, *mut FoundObject) -> i32;

/// `_dl_find_object`, where the C library has it.
fn find_object() -> Option<FindObject> {
    /// Address of the function, 0 before it was looked for and 1 where there is none: the same for every thread, and in
    /// every child. No `OnceLock`: a fork in the middle of one would leave the child waiting.
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    let mut address = KNOWN.load(Ordering::Relaxed);
    if address == 0 {
        // SAFETY: the name is a C string.
        address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) }.addr().max(1);
        KNOWN.store(address, Ordering::Relaxed);
    }
    // SAFETY: the C library gives this name this type.
    (address != 1).then(|| unsafe { std::mem::transmute::<usize, FindObject>(address) })
}

/// [`extent`] for older C libraries: asks for every object, under the loader's lock.
fn extent_by_list(address: usize) -> Option<(usize, usize)> {
    struct Search {
        address: usize,
        found: Option<(usize, usize)>,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> i32 {
        // SAFETY: the loader passes a description that is valid for this call, and our own `data`.
        let (info, search) = unsafe { (&*info, &mut *data.cast::<Search>()) };
        // SAFETY: the description says how many headers there are.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let base = info.dlpi_addr as usize;
        let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let spans = loaded.map(|h| {
            let start = base.wrapping_add(h.p_vaddr as usize);
            (start & !4095, start.wrapping_add(h.p_memsz as usize))
        });
        let whole = spans.reduce(|(start, end), (s, e)| (start.min(s), end.max(e)));
        search.found = whole.filter(|(start, end)| (*start..*end).contains(&search.address));
        i32::from(search.found.is_some())
    }
    let mut search = Search { address, found: None };
    // SAFETY: `visit` has the type that the loader expects, and `search` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_program_and_of_the_c_library_are_in_different_modules() {
        let here = Object::of_code(peek as fn(usize) -> Option<usize> as usize).expect("this program is loaded");
        let there = Object::at(find_object().map_or(0, |f| f as usize)).expect("the C library is loaded");
        assert_ne!(here.start, there.start);
        let identity = |object: &Object| Module { start: object.start }.identity().expect("it has headers");
        let module = |object: &Object| Module { start: object.start };
        assert!(module(&here).is(&identity(&here)) && module(&there).is(&identity(&there)));
        assert!(!module(&here).is(&identity(&there)));
        assert!(Object::at(0x10).is_none());
    }

    #[test]
    fn both_ways_to_find_an_object_agree() {
        let here = peek as fn(usize) -> Option<usize> as usize;
        let (start, end) = extent(here).expect("this program is loaded");
        let (listed, until) = extent_by_list(here).expect("this program is listed");
        assert_eq!(start, listed);
        assert!((start..end).contains(&here) && until <= end + 4095);
        assert_eq!(extent_by_list(0x10), None);
    }

    #[test]
    fn nothing_is_read_where_nothing_is() {
        let word = 77_usize;
        assert_eq!(peek((&raw const word).addr()), Some(77));
        assert_eq!(peek(0x10), None);
        assert_eq!(peek(usize::MAX - 3), None);
    }

    #[test]
    fn operands_of_indirect_calls() {
        let frame = Frame { rax: 1000, rbx: 1, r12: 2000, r15: 5, ..Frame::default() };
        let word = |address, kept| Some(Operand::Memory { address, kept });
        let of = |before: &[u8], code: &[u8]| operand(&frame, (before, code));
        assert_eq!(of(&[], &[0xff, 0xd0]), Some(Operand::Register(1000)), "call *%rax");
        assert_eq!(of(&[0x41], &[0xff, 0xd7]), Some(Operand::Register(5)), "call *%r15");
        assert_eq!(of(&[], &[0xff, 0x10]), word(1000, false), "call *(%rax)");
        assert_eq!(of(&[], &[0xff, 0x53, 0x08]), word(9, true), "call *8(%rbx)");
        assert_eq!(of(&[], &[0xff, 0x90, 0xf0, 0xff, 0xff, 0xff]), word(984, false), "call *-16(%rax)");
        assert_eq!(of(&[0x41], &[0xff, 0x54, 0x24, 0x10]), word(2016, true), "call *16(%r12)");
        assert_eq!(of(&[], &[0xff, 0x14, 0xd8]), word(1008, false), "call *(%rax,%rbx,8)");
        let stack = (&raw const frame.return_address).addr() + 8;
        assert_eq!(of(&[], &[0xff, 0x54, 0x24, 0x18]), word(stack + 24, true), "call *24(%rsp)");
        assert_eq!(of(&[], &[0xff, 0x94, 0x24, 0x00, 0x01, 0, 0]), word(stack + 256, true), "call *256(%rsp)");
        assert_eq!(of(&[], &[0xff, 0x60, 0x08]), None, "a jump");
        assert_eq!(of(&[], &[0xff, 0x15]), None, "relative to the instruction");
        assert_eq!(of(&[], &[0xff, 0x14, 0x25]), None, "absolute");
    }
}
