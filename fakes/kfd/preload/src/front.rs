//! The driver of this process, and which descriptors are its files.

use core::cell::{Cell, UnsafeCell};
use core::ffi::{CStr, c_int, c_void};
use core::ops::{Deref, DerefMut};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::CString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use rocdxg_fake_gpu::user;
use rocdxg_fake_kfd::setup::{self, Choice, Setup};
use rocdxg_fake_kfd::{Answer, Caller, Descriptor, Errno, FileId, Kernel, Ledger, Pages, Reply, Wait, pinnable};

use crate::hooks::real;
use crate::paths::Path;

/// Name of the memory files, as `/proc/self/fd` shows it.
const NODE: &CStr = c"rocdxg-fake-device";

/// Name of the memory behind mappings.
const PAGES: &CStr = c"rocdxg-fake-pages";

/// Which node a file is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// `/dev/kfd`.
    Kfd,
    /// A render node, by its minor number.
    Render(u32),
}

/// Device and inode number of a memory file.
type Inode = (libc::dev_t, libc::ino_t);

/// The driver and its files.
pub(crate) struct Front {
    pub(crate) kernel: Kernel,
    files: HashMap<Inode, (FileId, Node)>,
    /// Files of sysfs that do not read.
    denied: HashSet<Inode>,
    /// Memory behind mappings of the device, by process.
    pages: BTreeMap<(i32, Pages), c_int>,
    /// Directory with `nodes`.
    topology: PathBuf,
    /// Stands for `/` for the rest of sysfs.
    root: PathBuf,
    /// The process that made the files below `root`.
    maker: i32,
    report: bool,
}

static FRONT: OnceLock<Option<Mutex<Front>>> = OnceLock::new();

thread_local! {
    /// This thread is inside the fake: what it calls of libc is not the client's.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, this thread is inside.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// The driver, locked.
pub(crate) struct Guard {
    lock: MutexGuard<'static, Front>,
    inside: Inside,
}

impl Deref for Guard {
    type Target = Front;

    fn deref(&self) -> &Front {
        &self.lock
    }
}

impl DerefMut for Guard {
    fn deref_mut(&mut self) -> &mut Front {
        &mut self.lock
    }
}

/// Some ioctl was made: waits look whether they are over.
static CHANGED: Condvar = Condvar::new();

/// Wakes all waits.
pub(crate) fn changed() {
    CHANGED.notify_all();
}

/// Lets go of the driver until a call was made, or until the deadline.
pub(crate) fn sleep(guard: Guard, deadline: Option<Instant>) -> Guard {
    let Guard { lock, inside } = guard;
    drop(inside);
    let lock = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
        Some(time) => CHANGED.wait_timeout(lock, time).unwrap_or_else(PoisonError::into_inner).0,
        None => CHANGED.wait(lock).unwrap_or_else(PoisonError::into_inner),
    };
    INSIDE.set(true);
    Guard { lock, inside: Inside }
}

/// Locks the driver that `find` gives; `None` inside of the fake itself.
fn enter(find: impl FnOnce() -> Option<&'static Mutex<Front>>) -> Option<Guard> {
    if INSIDE.replace(true) {
        return None;
    }
    let inside = Inside;
    find().map(|front| Guard { lock: front.lock().unwrap_or_else(PoisonError::into_inner), inside })
}

/// The driver, set up at the first call; `None` when the environment is nonsense.
pub(crate) fn front() -> Option<Guard> {
    enter(|| {
        let front = FRONT.get_or_init(|| match Front::new() {
            Ok(front) => {
                // SAFETY: the handlers are functions of this library, which is never unloaded.
                unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
                Some(Mutex::new(front))
            }
            Err(reason) => {
                eprintln!("libfake_kfd: {reason}");
                None
            }
        });
        front.as_ref()
    })
}

/// The driver, if it was set up.
pub(crate) fn existing() -> Option<Guard> {
    enter(|| FRONT.get().and_then(Option::as_ref))
}

/// Some file of sysfs does not read.
static DENIES: AtomicBool = AtomicBool::new(false);

/// Whether a descriptor is a file of sysfs that opens and does not read.
pub(crate) fn is_denied(fd: c_int) -> bool {
    DENIES.load(Ordering::Relaxed)
        && existing().is_some_and(|front| inode(fd).is_some_and(|inode| front.denied.contains(&inode)))
}

/// The lock as it is held over a fork, so that the child's copy is whole.
struct Held(UnsafeCell<Option<Guard>>);

// SAFETY: touched only between `before_fork` and `after_fork`, by the one thread that forks and holds the lock.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

extern "C" fn before_fork() {
    let guard = existing();
    // SAFETY: this thread holds the lock, so no other one is here.
    unsafe { *HELD.0.get() = guard };
}

extern "C" fn after_fork() {
    // SAFETY: this thread, or its copy in the child, holds the lock that is given back here.
    drop(unsafe { (*HELD.0.get()).take() });
}

fn own_pid() -> i32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::getpid() }
}

/// A fresh directory for generated files.
fn temporary() -> Result<PathBuf, String> {
    let template = std::env::temp_dir().join("rocdxg-fake-kfd-XXXXXX");
    let mut bytes = template.into_os_string().into_vec();
    bytes.push(0);
    // SAFETY: a string with a zero byte, which is changed in place.
    if unsafe { libc::mkdtemp(bytes.as_mut_ptr().cast()) }.is_null() {
        return Err(format!("temporary directory: {}", std::io::Error::last_os_error()));
    }
    bytes.pop();
    Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

impl Front {
    fn new() -> Result<Self, String> {
        let choice = Choice::from_environment();
        let setup = Setup::new(&choice, |_| {}).map_err(|e| e.to_string())?;
        let root = temporary()?;
        let topology = setup.write(&root).map_err(|e| format!("{}: {e}", root.display()))?;
        let mut denied = HashSet::new();
        for file in &setup.denied(&topology).map_err(|e| format!("{}: {e}", topology.display()))? {
            let data = std::fs::metadata(file).map_err(|e| format!("{}: {e}", file.display()))?;
            denied.insert((data.dev(), data.ino()));
        }
        DENIES.store(!denied.is_empty(), Ordering::Relaxed);
        Ok(Self {
            kernel: setup.kernel,
            files: HashMap::new(),
            denied,
            pages: BTreeMap::new(),
            topology,
            root,
            maker: own_pid(),
            report: choice.report,
        })
    }

    /// Where a path of sysfs is found; `None` for a device node.
    pub(crate) fn redirect(&self, path: Path<'_>) -> Option<CString> {
        let (base, rest) = match path {
            Path::Topology(rest) => (&self.topology, rest),
            Path::Sysfs(whole) => (&self.root, whole),
            Path::Kfd | Path::Render(_) => return None,
        };
        CString::new([base.as_os_str().as_bytes(), rest].concat()).ok()
    }

    /// Opens a device node: a descriptor.
    pub(crate) fn open(&mut self, node: Node, flags: c_int) -> Answer<c_int> {
        if flags & libc::O_DIRECTORY != 0 {
            return Err(Errno(libc::ENOTDIR));
        }
        let file = match node {
            Node::Kfd => self.kernel.open_kfd(own_pid())?,
            Node::Render(minor) => self.kernel.open_render(minor)?,
        };
        let cloexec = if flags & libc::O_CLOEXEC != 0 { libc::MFD_CLOEXEC } else { 0 };
        // SAFETY: a C string; makes a descriptor of its own.
        let fd = unsafe { libc::memfd_create(NODE.as_ptr(), cloexec) };
        let inode = (fd >= 0).then(|| inode(fd)).flatten();
        let Some(inode) = inode else {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EMFILE);
            self.kernel.close(file);
            return Err(Errno(errno));
        };
        // A number that comes again belonged to a file that is gone.
        if let Some((gone, _)) = self.files.insert(inode, (file, node)) {
            self.kernel.close(gone);
        }
        Ok(fd)
    }

    /// The device file behind a descriptor.
    pub(crate) fn file(&self, fd: c_int) -> Option<(FileId, Node)> {
        self.files.get(&inode(fd)?).copied()
    }

    /// Whether a node is there; it need not open.
    pub(crate) fn has(&self, node: Node) -> bool {
        match node {
            Node::Kfd => true,
            Node::Render(minor) => self.kernel.config().gpus.iter().any(|g| g.render_minor == minor),
        }
    }

    /// An ioctl on one of our files.
    pub(crate) fn ioctl(&mut self, file: FileId, request: u32, argument: u64) -> Reply {
        let Self { kernel, files, .. } = self;
        let reply = kernel.ioctl(&Own { files }, file, request, argument);
        // Mappings keep the memory of a buffer that is gone; its descriptor is ours to close.
        self.pages.retain(|(_, pages), fd| {
            let lives = self.kernel.page_bytes(*pages).is_some();
            if !lives {
                // SAFETY: made in `mmap`, and dropped from the table here.
                unsafe { libc::close(*fd) };
            }
            lives
        });
        for fill in self.kernel.take_fills() {
            // Without memory for the slots the client finds zeros: not signalled either.
            let Ok(fd) = self.backing(fill.pages) else { continue };
            let ones = vec![0xff_u8; fill.bytes as usize];
            // SAFETY: `ones` has that length, and the descriptor is ours.
            unsafe { libc::pwrite(fd, ones.as_ptr().cast(), ones.len(), fill.offset as libc::off_t) };
        }
        reply
    }

    /// The descriptor of the memory that a mapping of one of our files shows.
    ///
    /// The flag tells whether a fork child inherits it.
    pub(crate) fn mmap(&mut self, file: FileId, range: (u64, u64), private: bool) -> Answer<(c_int, bool)> {
        let Self { kernel, files, .. } = self;
        let pages = kernel.mmap(&Own { files }, file, range, private)?;
        let fd = self.backing(pages)?;
        Ok((fd, matches!(pages, Pages::Buffer(_))))
    }

    /// A look after a wait that sleeps.
    pub(crate) fn resume(&mut self, wait: &Wait) -> Option<Answer> {
        let Self { kernel, files, .. } = self;
        kernel.resume(&Own { files }, wait)
    }

    /// The descriptor of the memory behind pages, made when it is first asked for.
    fn backing(&mut self, pages: Pages) -> Answer<c_int> {
        if let Some(fd) = self.pages.get(&(own_pid(), pages)) {
            return Ok(*fd);
        }
        let bytes = self.kernel.page_bytes(pages).ok_or(Errno::EINVAL)?;
        // SAFETY: a C string; makes a descriptor of its own.
        let fd = unsafe { libc::memfd_create(PAGES.as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: our descriptor, or -1, which is refused.
        if unsafe { libc::ftruncate(fd, bytes as libc::off_t) } != 0 {
            return Err(Errno::ENOMEM);
        }
        self.pages.insert((own_pid(), pages), fd);
        Ok(fd)
    }

    /// Tells the driver of files whose last descriptor is gone.
    fn collect(&mut self) {
        let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
        let numbers = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<c_int>().ok());
        let open: Vec<Inode> = numbers.filter_map(inode).collect();
        let kernel = &mut self.kernel;
        self.files.retain(|inode, (file, _)| {
            let alive = open.contains(inode);
            if !alive {
                kernel.close(*file);
            }
            alive
        });
    }

    /// What is alive.
    pub(crate) fn ledger(&mut self) -> Ledger {
        self.collect();
        self.kernel.ledger()
    }

    /// The end of the process: the report, and the generated files go.
    pub(crate) fn finish(&mut self) {
        if self.report {
            let ledger = self.ledger();
            if let Some(words) = setup::report(&self.kernel, &ledger) {
                eprintln!("libfake_kfd: process {} {words}", own_pid());
            }
        }
        if self.maker == own_pid() {
            // What cannot be removed stays in the temporary directory.
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}

/// Identity of the file behind a descriptor.
fn inode(fd: c_int) -> Option<Inode> {
    // SAFETY: `stat` is plain data, filled by the call.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: `stat` is ours; a bad descriptor is an error.
    (unsafe { real::fstat(fd, &raw mut stat) } == 0).then_some((stat.st_dev, stat.st_ino))
}

/// Whether a descriptor is a device node of a driver that this process image never had: it came through exec.
pub(crate) fn is_orphan(fd: c_int) -> bool {
    let name = std::fs::read_link(format!("/proc/self/fd/{fd}"));
    name.is_ok_and(|name| name.as_os_str().as_bytes().starts_with(&[b"/memfd:", NODE.to_bytes()].concat()))
}

/// This process, as the driver sees it.
struct Own<'a> {
    files: &'a HashMap<Inode, (FileId, Node)>,
}

impl Caller for Own<'_> {
    fn tgid(&self) -> i32 {
        own_pid()
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        // SAFETY: `bytes` is ours; reading the client's argument is what the call is for.
        unsafe { user::copy(bytes.as_mut_ptr().cast(), address as *const c_void, bytes.len()) }
    }

    fn write(&self, address: u64, bytes: &[u8]) -> bool {
        // SAFETY: `bytes` is ours; writing the client's argument is what the call is for.
        unsafe { user::copy(address as *mut c_void, bytes.as_ptr().cast(), bytes.len()) }
    }

    fn pin(&self, address: u64, bytes: u64) -> Answer {
        let maps = std::fs::read_to_string("/proc/self/maps").map_err(|_| Errno::ENOMEM)?;
        pinnable(&maps, address, bytes, &["/memfd:rocdxg-fake-"])
    }

    fn descriptor(&self, fd: i32) -> Descriptor {
        match inode(fd) {
            None => Descriptor::Closed,
            Some(inode) => self.files.get(&inode).map_or(Descriptor::Foreign, |(file, _)| Descriptor::Device(*file)),
        }
    }
}

/// Runs at exit, after the handlers of the program.
extern "C" fn at_end() {
    // A thread that was stopped inside a call keeps the lock for ever; leaving must not wait for it.
    if let Some(Some(front)) = FRONT.get()
        && let Ok(lock) = front.try_lock()
    {
        INSIDE.set(true);
        Guard { lock, inside: Inside }.finish();
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;
