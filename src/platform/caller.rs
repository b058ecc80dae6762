//! Which loaded module an export was called from, told by the call itself.
//!
//! The return address lies behind the call instruction. Where that instruction leads to the export, its module is the
//! caller. Where it leads to another function, that function has jumped on to the export (a tail call), and its module
//! is the caller. Where neither can be made out, nobody is.

use std::ffi::c_void;
use std::mem::{MaybeUninit, size_of};
use std::sync::OnceLock;

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

/// The module that made the call behind `frame` to the export at `entry`; `None` where it cannot be told.
pub fn module(frame: &Frame, entry: usize) -> Option<Module> {
    let after = frame.return_address;
    let caller = Object::at(after)?;
    let code: [u8; 7] = caller.code_before(after)?;
    // The ways to read the bytes before the return address as a call; which of them is meant, they do not say.
    let relative = || {
        let displacement = i32::from_le_bytes([code[3], code[4], code[5], code[6]]);
        after.wrapping_add_signed(displacement as isize)
    };
    let direct = || (code[2] == 0xe8).then(relative);
    let through_slot = || if code[1..3] == [0xff, 0x15] { read_slot(relative()) } else { None };
    let through_register = || indirect(frame, &code[..5], &code[5..]);
    let through_memory: [&dyn Fn() -> Option<usize>; 3] =
        [&|| indirect(frame, &code[..4], &code[4..]), &|| indirect(frame, &code[..3], &code[3..]), &|| {
            indirect(frame, &code[..1], &code[1..])
        }];
    let readings: [&dyn Fn() -> Option<usize>; 3] = [&direct, &through_slot, &through_register];
    let mut jumped = None;
    for read in readings.iter().chain(&through_memory) {
        let Some(target) = read() else { continue };
        if target == entry || destination(target) == entry {
            return Some(Module { start: caller.start });
        }
        // Only what leads to code can be right; two such readings that disagree tell nothing.
        match (Object::of_code(destination(target)), &jumped) {
            (None, _) => {}
            (Some(object), None) => jumped = Some(object),
            (Some(object), Some(other)) if object.start == other.start => {}
            _ => return None,
        }
    }
    jumped.map(|object| Module { start: object.start })
}

/// The address that a word of some object's data holds.
fn read_slot(slot: usize) -> Option<usize> {
    Object::at(slot)?.read(slot).map(usize::from_le_bytes)
}

/// Where a jump to `target` ends once it has gone through the stubs of procedure linkage tables.
fn destination(mut target: usize) -> usize {
    /// A program's own stub may lead to another.
    const STUBS: usize = 3;
    for _ in 0..STUBS {
        match stub(target) {
            Some(next) => target = next,
            None => break,
        }
    }
    target
}

/// Where the stub at `address` jumps to: `[endbr64] [bnd] jmp *slot(%rip)`.
fn stub(address: usize) -> Option<usize> {
    let object = Object::of_code(address)?;
    let code: [u8; 11] = object.read(address)?;
    let mut skip = if code.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]) { 4 } else { 0 };
    if code[skip] == 0xf2 {
        skip += 1;
    }
    let [0xff, 0x25, displacement @ ..] = code[skip..].first_chunk::<6>()? else { return None };
    read_slot(address.wrapping_add(skip + 6).wrapping_add_signed(i32::from_le_bytes(*displacement) as isize))
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

/// The target of `call *operand` in `code`, which may have a REX prefix as the last of the bytes `before`.
fn indirect(frame: &Frame, before: &[u8], code: &[u8]) -> Option<usize> {
    let [0xff, mode, rest @ ..] = code else { return None };
    let rex = before.last().copied().filter(|byte| byte & 0xf0 == 0x40).unwrap_or(0);
    let register = |number: u8, extended: bool| frame.register(number | if extended { 8 } else { 0 });
    // Bits 3 to 5 are 2 for a near call.
    if mode >> 3 & 7 != 2 {
        return None;
    }
    let (kind, base) = (mode >> 6, mode & 7);
    if kind == 3 {
        return rest.is_empty().then(|| register(base, rex & 1 != 0));
    }
    let (address, rest) = if base == 4 {
        let (&scaled, rest) = rest.split_first()?;
        let (scale, index, base) = (scaled >> 6, scaled >> 3 & 7, scaled & 7);
        if base == 5 && kind == 0 {
            return None;
        }
        let indexed = index != 4 || rex & 2 != 0;
        let index = if indexed { register(index, rex & 2 != 0) << scale } else { 0 };
        (register(base, rex & 1 != 0).wrapping_add(index), rest)
    } else if base == 5 && kind == 0 {
        return None; // Relative to the instruction: the slot form.
    } else {
        (register(base, rex & 1 != 0), rest)
    };
    let displacement = match (kind, rest) {
        (0, []) => 0,
        (1, [byte]) => isize::from(*byte as i8),
        (2, [a, b, c, d]) => i32::from_le_bytes([*a, *b, *c, *d]) as isize,
        _ => return None,
    };
    peek(address.wrapping_add_signed(displacement))
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
    match *FIND_OBJECT.get_or_init(find_object) {
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

/// Address of a function of the C library: the same for every thread, and in every child.
static FIND_OBJECT: OnceLock<Option<FindObject>> = OnceLock::new();

fn find_object() -> Option<FindObject> {
    // SAFETY: the name is a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) };
    // SAFETY: the C library gives this name this type.
    (!address.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, FindObject>(address) })
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
        let here = Object::of_code(destination as fn(usize) -> usize as usize).expect("this program is loaded");
        let there = Object::at(destination(libc::getpid as unsafe extern "C" fn() -> i32 as usize)).expect("libc");
        assert_ne!(here.start, there.start);
        let identity = |object: &Object| Module { start: object.start }.identity().expect("it has headers");
        let module = |object: &Object| Module { start: object.start };
        assert!(module(&here).is(&identity(&here)) && module(&there).is(&identity(&there)));
        assert!(!module(&here).is(&identity(&there)));
        assert!(Object::at(0x10).is_none());
    }

    #[test]
    fn both_ways_to_find_an_object_agree() {
        let here = destination as fn(usize) -> usize as usize;
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
        let table = [11_usize, 22, 33];
        let frame =
            Frame { rax: table.as_ptr().addr(), rbx: 1, r12: table.as_ptr().addr(), r15: 5, ..Frame::default() };
        assert_eq!(indirect(&frame, &[], &[0xff, 0xd0]), Some(frame.rax), "call *%rax");
        assert_eq!(indirect(&frame, &[0x41], &[0xff, 0xd7]), Some(5), "call *%r15");
        assert_eq!(indirect(&frame, &[], &[0xff, 0x10]), Some(11), "call *(%rax)");
        assert_eq!(indirect(&frame, &[], &[0xff, 0x50, 0x08]), Some(22), "call *8(%rax)");
        assert_eq!(indirect(&frame, &[], &[0xff, 0x90, 0x10, 0, 0, 0]), Some(33), "call *16(%rax)");
        assert_eq!(indirect(&frame, &[0x41], &[0xff, 0x54, 0x24, 0x10]), Some(33), "call *16(%r12)");
        assert_eq!(indirect(&frame, &[], &[0xff, 0x14, 0xd8]), Some(22), "call *(%rax,%rbx,8)");
        assert_eq!(indirect(&frame, &[], &[0xff, 0x60, 0x08]), None, "a jump");
        assert_eq!(indirect(&frame, &[], &[0xff, 0x15]), None, "relative to the instruction");
    }
}
