//! Where the bytes of an allocation are: memory of this library for device memory, the client's own for system memory.

use core::ffi::c_void;
use core::ptr;

use rocdxg_fake_gpu::user::copy;

/// A shared mapping of this library's own, which goes with the value.
#[derive(Debug)]
pub(crate) struct Region {
    address: usize,
    bytes: usize,
}

impl Region {
    /// Zeros, as device memory that nobody wrote; takes no memory until it is written. A fork child does not have it.
    pub(crate) fn zeros(bytes: u64) -> Option<Self> {
        Self::map(bytes, libc::MAP_ANONYMOUS, -1, 0)
    }

    /// A part of a file that all who map it share.
    pub(crate) fn of_file(file: i32, offset: u64, bytes: u64) -> Option<Self> {
        Self::map(bytes, 0, file, offset)
    }

    fn map(bytes: u64, flags: i32, file: i32, offset: u64) -> Option<Self> {
        let bytes = usize::try_from(bytes).ok().filter(|b| *b > 0)?;
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, flags | libc::MAP_SHARED | libc::MAP_NORESERVE);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let page = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, file, offset as libc::off_t) };
        if page == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: our own new mapping; a child that had it too would keep its memory alive.
        unsafe { libc::madvise(page, bytes, libc::MADV_DONTFORK) };
        Some(Self { address: page as usize, bytes })
    }

    /// The same pages once more, from `offset`: `None` when they are not one shared mapping, or there is no room.
    ///
    /// # Safety
    /// `address` must be that of a mapping, of which all `bytes` are shared.
    unsafe fn again(address: usize, bytes: usize) -> Option<Self> {
        // SAFETY: with an old size of 0, `mremap` leaves the old mapping alone and maps its pages once more, at an
        // address of the kernel's choice; it refuses what is not shared.
        let page = unsafe { libc::mremap(address as *mut c_void, 0, bytes, libc::MREMAP_MAYMOVE) };
        (page != libc::MAP_FAILED).then_some(Self { address: page as usize, bytes })
    }

    /// The first `bytes` once more, for the client, whose children have them too (dxgkrnl.md 1.2).
    pub(crate) fn expose(&self, bytes: usize) -> Option<Self> {
        // SAFETY: `self` is a shared mapping of at least that size.
        let shown = unsafe { Self::again(self.address, bytes.min(self.bytes)) }?;
        // SAFETY: our own new mapping.
        unsafe { libc::madvise(shown.pointer(), shown.bytes, libc::MADV_DOFORK) };
        Some(shown)
    }

    /// Where it is.
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.address as *mut c_void
    }

    /// How large it is.
    pub(crate) const fn len(&self) -> usize {
        self.bytes
    }

    /// Replaces the pages by those of a file, in place, after copying what was written.
    pub(crate) fn move_to(&self, file: i32, offset: u64) -> bool {
        const STEP: usize = 1 << 20;
        let mut present = vec![0_u8; STEP / 4096];
        for start in (0..self.bytes).step_by(STEP) {
            let length = STEP.min(self.bytes - start);
            let from = (self.address + start) as *mut c_void;
            // SAFETY: inside our mapping; the vector has a byte for each page.
            if unsafe { libc::mincore(from, length, present.as_mut_ptr()) } != 0 {
                return false;
            }
            for page in (0..length.div_ceil(4096)).filter(|page| present[*page] & 1 != 0) {
                let from = (self.address + start + page * 4096) as *const c_void;
                let to = offset + (start + page * 4096) as u64;
                // SAFETY: reads one page of our mapping.
                if unsafe { libc::pwrite(file, from, 4096, to as libc::off_t) } != 4096 {
                    return false;
                }
            }
        }
        self.replace(file, offset, self.bytes)
    }

    /// Puts pages of a file where this mapping is.
    pub(crate) fn replace(&self, file: i32, offset: u64, bytes: usize) -> bool {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        // SAFETY: replaces our own mapping, or the part of it that is asked for.
        let page =
            unsafe { libc::mmap(self.pointer(), bytes.min(self.bytes), access, flags, file, offset as libc::off_t) };
        page != libc::MAP_FAILED
    }

    /// Makes the pages inaccessible and leaves the address taken, for whoever buries it.
    pub(crate) fn surrender(self) -> (usize, usize) {
        let whole = (self.address, self.bytes);
        core::mem::forget(self);
        whole
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nothing names after this.
        unsafe { libc::munmap(self.pointer(), self.bytes) };
    }
}

/// The bytes of an allocation.
#[derive(Debug)]
pub(crate) enum Backing {
    /// Device memory.
    Device(Region),
    /// The client's memory (dxgkrnl.md 3.1).
    Pinned {
        /// Where the client has it.
        address: usize,
        /// The same pages once more, where they are shared ones: what a pin keeps (rule 60). Private pages cannot be
        /// had twice, so those are looked up where the client has them.
        pages: Option<Region>,
        /// Pinned without write intent.
        read_only: bool,
    },
}

impl Backing {
    /// Takes the client's pages; `None` when one of them cannot be had (rule 57). `areas` are those of the process;
    /// an `older` kernel takes the pages of files too.
    pub(crate) fn pin(areas: &[Area], address: usize, bytes: u64, read_only: bool, older: bool) -> Option<Self> {
        let bytes = usize::try_from(bytes).ok()?;
        let end = address.checked_add(bytes)?;
        let (mut at, mut pieces, mut shared) = (address, 0, true);
        let first = areas.partition_point(|area| area.end <= address);
        for area in areas[first..].iter().take_while(|area| area.start < end) {
            if area.start > at || !area.readable || (!area.writable && !read_only) || !area.pinnable(read_only || older)
            {
                return None;
            }
            at = area.end;
            pieces += 1;
            shared &= area.shared;
        }
        if at < end {
            return None;
        }
        let one = pieces == 1 && shared;
        // SAFETY: one shared mapping covers the range, as the kernel just said; should another thread unmap it
        // meanwhile, the call fails.
        let pages = if one { unsafe { Region::again(address, bytes) } } else { None };
        if let Some(pages) = &pages {
            // SAFETY: our own new mapping; a child that had it too would keep its memory alive.
            unsafe { libc::madvise(pages.pointer(), pages.bytes, libc::MADV_DONTFORK) };
        }
        Some(Self::Pinned { address, pages, read_only })
    }

    /// The GPU may write.
    pub(crate) const fn writable(&self) -> bool {
        !matches!(self, Self::Pinned { read_only: true, .. })
    }

    /// Where the bytes can be reached.
    fn reach(&self) -> usize {
        match self {
            Self::Device(region) => region.address,
            Self::Pinned { address, pages, .. } => pages.as_ref().map_or(*address, |pages| pages.address),
        }
    }

    /// Copies bytes out; `false` when they are gone.
    pub(crate) fn read(&self, offset: u64, to: &mut [u8]) -> bool {
        let from = self.reach() + offset as usize;
        // SAFETY: `to` is ours; the source is our mapping or the client's memory, which the kernel checks.
        unsafe { copy(to.as_mut_ptr().cast(), from as *const c_void, to.len()) }
    }

    /// Copies bytes in; `false` when they are gone. The caller has asked whether the GPU may write.
    pub(crate) fn write(&self, offset: u64, from: &[u8]) -> bool {
        let to = self.reach() + offset as usize;
        // SAFETY: `from` is ours; the target is our mapping or memory that the client gave to the GPU.
        unsafe { copy(to as *mut c_void, from.as_ptr().cast(), from.len()) }
    }
}

/// One area of the process's memory.
#[derive(Debug)]
pub(crate) struct Area {
    start: usize,
    end: usize,
    readable: bool,
    writable: bool,
    shared: bool,
    /// The file behind it, empty for none.
    path: String,
}

impl Area {
    /// No long-term pin is had on devices, nor, unless `files` are fine, on shared pages of a file that must be written
    /// back (dxgkrnl.md 3.1); those of tmpfs and hugetlbfs need not be.
    fn pinnable(&self, files: bool) -> bool {
        let memory = ["/memfd:", "/SYSV", "/dev/zero", "/dev/shm/"].iter().any(|start| self.path.starts_with(start));
        match self.path.strip_prefix('/') {
            Some(rest) if self.shared && !memory => {
                !rest.starts_with("dev/") && (files || self.path.ends_with(" (deleted)") || kept_in_memory(&self.path))
            }
            _ => true,
        }
    }
}

/// Whether the file system of a path has no disk to write to.
fn kept_in_memory(path: &str) -> bool {
    let Ok(path) = std::ffi::CString::new(path) else { return false };
    let mut about = core::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: a path that ends with a zero byte, and room for the answer.
    if unsafe { libc::statfs(path.as_ptr(), about.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the call succeeded and filled it.
    let kind = unsafe { about.assume_init() }.f_type;
    kind == libc::TMPFS_MAGIC || kind == libc::HUGETLBFS_MAGIC
}

/// All areas, in order; none when the kernel does not tell.
pub(crate) fn areas() -> Vec<Area> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let parse = |line: &str| {
        let mut words = line.split(' ');
        let (start, end) = words.next()?.split_once('-')?;
        let bits = words.next()?.as_bytes();
        Some(Area {
            start: usize::from_str_radix(start, 16).ok()?,
            end: usize::from_str_radix(end, 16).ok()?,
            readable: bits.first() == Some(&b'r'),
            writable: bits.get(1) == Some(&b'w'),
            shared: bits.get(3) == Some(&b's'),
            path: line.find('/').map_or_else(String::new, |at| line[at..].to_owned()),
        })
    };
    text.lines().filter_map(parse).collect()
}
