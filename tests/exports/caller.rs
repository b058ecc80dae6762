//! Calls of the built library, each function in a process of its own.

use std::ffi::{CString, c_void};
use std::mem::transmute;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::facts::{Function, Kind};
use crate::guarded::Guarded;
use crate::wsl;

/// As many arguments as the longest list has.
pub const MOST: usize = 10;

/// Registers and stack words of one call.
pub type Words = [u64; MOST];

/// Every parameter of the contract goes in one integer register or one word of the stack, and a function does not look
/// at those beyond its own.
type Entry = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;

/// One test at a time: the library and the environment are those of the process, which forks.
static ONE: Mutex<()> = Mutex::new(());

/// The library on a machine of its own.
pub struct Library {
    handle: *mut c_void,
    machine: wsl::Machine,
    _one: MutexGuard<'static, ()>,
}

/// What a child leaves for its parent, in memory that both see.
struct Left {
    call: [u8; 64],
    words: Words,
    message: [u8; 4096],
}

/// Seconds after which a child hangs.
const PATIENCE: u32 = 120;

impl Library {
    /// Loads what cargo built.
    pub fn load() -> Self {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = wsl::Machine::named("gfx1100");
        let mount = machine.root().join("usr/lib/wsl");
        std::fs::create_dir_all(&mount).expect("the folder is ours");
        std::os::unix::fs::symlink(machine.libraries(), mount.join("lib")).expect("the folder is ours");
        for (name, value) in [
            ("ROCDXG_ROOT", machine.root().as_os_str()),
            ("ROCDXG_FAKE_MACHINE", "gfx1100".as_ref()),
            ("HSAKMT_DEBUG_LEVEL", "-1".as_ref()),
        ] {
            // SAFETY: every test here holds the lock, so no other thread uses the environment.
            unsafe { std::env::set_var(name, value) };
        }
        let path = machine.libraries().join("librocdxg.so.1").into_os_string().into_encoded_bytes();
        let path = CString::new(path).expect("paths contain no zero");
        // SAFETY: the library's initialisers do nothing.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{} does not load", machine.libraries().display());
        Self { handle, machine, _one: one }
    }

    /// The function of that name.
    pub fn find(&self, name: &str) -> Entry {
        let symbol = CString::new(name).expect("names contain no zero");
        // SAFETY: the handle is that of a loaded library.
        let address = unsafe { libc::dlsym(self.handle, symbol.as_ptr()) };
        assert!(!address.is_null(), "{name} is not exported");
        // SAFETY: see `Entry`; the addresses are those of functions of the contract.
        unsafe { transmute::<*mut c_void, Entry>(address) }
    }

    /// Calls a function without parameters, which must succeed.
    pub fn call(&self, name: &str) {
        assert_eq!(call(self.find(name), [0; MOST]), 0, "{name}");
    }

    /// Opens the device and takes a snapshot.
    pub fn open(&self) {
        let mut system = [0_u32; 4];
        let address = system.as_mut_ptr().addr() as u64;
        for (name, first) in [("hsaKmtOpenKFD", 0), ("hsaKmtAcquireSystemProperties", address)] {
            let mut words = [0; MOST];
            words[0] = first;
            let status = call(self.find(name), words);
            // 22: the function under test is the one that opens.
            assert!([0, 22].contains(&status), "{name}: {status} on {}", self.machine.root().display());
        }
    }

    /// Runs `body` in a child, which ends with it; what goes wrong there is an error that names the last call.
    pub fn in_child(
        &self,
        function: &Function,
        body: impl FnOnce(&mut Client<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let shared = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping.
        let left = unsafe { libc::mmap(ptr::null_mut(), size_of::<Left>(), access, shared, -1, 0) }.cast::<Left>();
        assert_ne!(left.cast(), libc::MAP_FAILED);
        // SAFETY: the child only runs `body` and leaves with _exit.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "fork: {}", std::io::Error::last_os_error());
        if child == 0 {
            // SAFETY: alarm has no preconditions.
            unsafe { libc::alarm(PATIENCE) };
            // SAFETY: the mapping is as large as the structure, whose bytes may have any value, and the parent only
            // looks when this process is gone.
            let left = unsafe { &mut *left };
            let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut Client::new(self, function, left))));
            let message = match outcome {
                Ok(Ok(())) => String::new(),
                Ok(Err(message)) => message,
                Err(_) => "the test itself failed".to_owned(),
            };
            let length = message.len().min(left.message.len());
            left.message[..length].copy_from_slice(&message.as_bytes()[..length]);
            // SAFETY: ends the child at once, with none of the parent's exit handlers.
            unsafe { libc::_exit(i32::from(!message.is_empty())) };
        }
        let mut status = 0;
        // SAFETY: `child` is a child of this process, and `status` a place for the answer.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        // SAFETY: as in the child, which is gone.
        let found = unsafe { left.read() };
        // SAFETY: the mapping made above.
        unsafe { libc::munmap(left.cast(), size_of::<Left>()) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
            return Ok(());
        }
        let end =
            if libc::WIFSIGNALED(status) { format!("signal {}", libc::WTERMSIG(status)) } else { text(&found.message) };
        Err(format!("{} {}: {end}; last call with {:x?}", function.name, text(&found.call), found.words))
    }
}

fn call(entry: Entry, w: Words) -> u32 {
    // SAFETY: `entry` is a function of the contract, and the words are what its parameters ask for, or what it must
    // refuse.
    unsafe { entry(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]) }
}

/// A caller of one function, with an object for each of its pointers.
pub struct Client<'a> {
    pub library: &'a Library,
    pub function: &'a Function,
    entry: Entry,
    pub objects: Vec<Option<Guarded>>,
    left: &'a mut Left,
}

impl<'a> Client<'a> {
    fn new(library: &'a Library, function: &'a Function, left: &'a mut Left) -> Self {
        let objects = function.parameters.iter().map(|parameter| match parameter.kind {
            Kind::Pointer { bytes, array } => Some(Guarded::new(bytes, array)),
            _ => None,
        });
        Self { library, function, entry: library.find(&function.name), objects: objects.collect(), left }
    }

    /// Which parameter has that name.
    pub fn index(&self, parameter: &str) -> usize {
        let found = self.function.parameters.iter().position(|known| known.name == parameter);
        found.unwrap_or_else(|| panic!("{} has no {parameter}", self.function.name))
    }

    /// What the pointer of that name points to.
    pub fn object(&mut self, parameter: &str) -> &mut Guarded {
        let index = self.index(parameter);
        self.objects[index].as_mut().unwrap_or_else(|| panic!("{parameter} is no pointer"))
    }

    /// Says what the calls that follow are for.
    pub fn stage(&mut self, name: &str) {
        self.left.call = [0; 64];
        self.left.call[..name.len()].copy_from_slice(name.as_bytes());
    }

    /// The arguments with every pointer valid, to zeroed objects, and every number 0.
    pub fn zeros(&mut self) -> Words {
        let mut words = [0; MOST];
        for (word, object) in words.iter_mut().zip(&mut self.objects) {
            if let Some(object) = object {
                object.zeroed();
                *word = object.address();
            }
        }
        words
    }

    /// One call; an error when what it returns is not in the contract, or when it wrote where it must not.
    pub fn call(&mut self, words: Words) -> Result<i32, String> {
        self.left.words = words;
        let returned = call(self.entry, words) as i32;
        if self.function.is_drm() {
            let file = self.function.name == "amdgpu_device_get_fd" && returned >= 0;
            if !(file || (-4095..=0).contains(&returned)) {
                return Err(format!("{returned} is neither 0 nor a negative errno"));
            }
        } else if !STATUSES.contains(&returned) {
            return Err(format!("{returned} is no status"));
        }
        for (parameter, object) in self.function.parameters.iter().zip(&mut self.objects) {
            if object.as_mut().is_some_and(|object| !object.is_intact()) {
                return Err(format!("it wrote before *{}", parameter.name));
            }
        }
        Ok(returned)
    }
}

/// Every status that a function may return.
const STATUSES: [i32; 21] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 35, 36, 37];

#[test]
fn the_statuses_are_those_of_the_facts() {
    let abi = crate::facts::abi();
    let constants = abi["enums"]["HSAKMT_STATUS"]["constants"].as_object().expect("an enumeration");
    let mut facts: Vec<_> = constants.values().filter_map(|value| value.as_i64()).collect();
    facts.sort_unstable();
    assert_eq!(facts, STATUSES.map(i64::from));
}
