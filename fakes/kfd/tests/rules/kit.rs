//! Processes without ceremony: their memory is that of the test, their descriptors a table.

use std::collections::BTreeMap;

use rocdxg_fake_gpu::{Machine, user};
use rocdxg_fake_kfd::{Answer, Caller, Config, Descriptor, Errno, FileId, Kernel, Mode, Reply};

pub use rocdxg_fake_kfd::Errno as E;

pub const GET_VERSION: u32 = 0x8008_4b01;
pub const SET_MEMORY_POLICY: u32 = 0x4020_4b04;
pub const GET_CLOCK_COUNTERS: u32 = 0xc028_4b05;
pub const GET_PROCESS_APERTURES: u32 = 0x8190_4b06;
pub const SET_SCRATCH_BACKING_VA: u32 = 0xc010_4b11;
pub const GET_TILE_CONFIG: u32 = 0xc028_4b12;
pub const SET_TRAP_HANDLER: u32 = 0x4018_4b13;
pub const GET_PROCESS_APERTURES_NEW: u32 = 0xc010_4b14;
pub const ACQUIRE_VM: u32 = 0x4008_4b15;
pub const SET_XNACK_MODE: u32 = 0xc004_4b21;
pub const AVAILABLE_MEMORY: u32 = 0xc010_4b23;
pub const RUNTIME_ENABLE: u32 = 0xc010_4b25;
pub const VERSION: u32 = 0xc040_6400;
pub const AMDGPU_INFO: u32 = 0x4020_6445;

/// A machine's text with one GPU changed.
pub fn machine_with(name: &str, from: &str, to: &str) -> Machine {
    let (_, text) = rocdxg_fake_gpu::machine::BUILT_IN.iter().find(|(n, _)| *n == name).unwrap();
    assert!(text.contains(from), "{from}");
    Machine::parse(name, &text.replacen(from, to, 1)).unwrap()
}

pub fn kernel_of(machine: &Machine, mode: Mode) -> Kernel {
    Kernel::new(Config::of_machine(machine, mode))
}

pub fn kernel(name: &str) -> Kernel {
    kernel_of(&Machine::load(name).unwrap(), Mode::default())
}

/// A process.
#[derive(Default)]
pub struct Client {
    pub tgid: i32,
    pub fds: BTreeMap<i32, Descriptor>,
}

impl Caller for Client {
    fn tgid(&self) -> i32 {
        self.tgid
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        // SAFETY: the tests pass addresses of their own blocks, or such that cannot be accessed.
        unsafe { user::copy(bytes.as_mut_ptr().cast(), address as *const _, bytes.len()) }
    }

    fn write(&self, address: u64, bytes: &[u8]) -> bool {
        // SAFETY: as above.
        unsafe { user::copy(address as *mut _, bytes.as_ptr().cast(), bytes.len()) }
    }

    fn pin(&self, address: u64, bytes: u64) -> Answer {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        rocdxg_fake_kfd::pinnable(&maps, address, bytes, &[])
    }

    fn descriptor(&self, fd: i32) -> Descriptor {
        self.fds.get(&fd).copied().unwrap_or(Descriptor::Closed)
    }
}

impl Client {
    pub fn new(tgid: i32) -> Self {
        Self { tgid, ..Self::default() }
    }

    /// Gives a file a descriptor number.
    pub fn install(&mut self, fd: i32, file: FileId) -> i32 {
        self.fds.insert(fd, Descriptor::Device(file));
        fd
    }

    /// Makes a call with 32-bit words as its argument; the words are what the call left in them.
    pub fn call(&self, kernel: &mut Kernel, file: FileId, request: u32, words: &mut [u32]) -> Answer {
        assert!(size_of_val(words) >= (request >> 16 & 0x3fff) as usize);
        self.call_at(kernel, file, request, words.as_mut_ptr() as u64)
    }

    /// Makes a call that does not sleep, with an argument anywhere.
    pub fn call_at(&self, kernel: &mut Kernel, file: FileId, request: u32, argument: u64) -> Answer {
        match kernel.ioctl(self, file, request, argument) {
            Reply::Done(answer) => answer,
            Reply::Asleep(wait) => panic!("{wait:?}"),
        }
    }

    pub fn acquire_vm(&self, kernel: &mut Kernel, kfd: FileId, fd: i32, gpu_id: u32) -> Answer {
        self.call(kernel, kfd, ACQUIRE_VM, &mut [fd as u32, gpu_id])
    }
}

/// A process with `/dev/kfd` open and the render node of GPU 0 as descriptor 5.
pub fn opened(kernel: &mut Kernel) -> (Client, FileId, u32) {
    let mut client = Client::new(100);
    let kfd = kernel.open_kfd(100).unwrap();
    let render = kernel.open_render(128).unwrap();
    client.install(5, render);
    let gpu_id = kernel.config().gpus[0].gpu_id;
    (client, kfd, gpu_id)
}

/// The same with GPU 0 bound.
pub fn bound(kernel: &mut Kernel) -> (Client, FileId, u32) {
    let (client, kfd, gpu_id) = opened(kernel);
    assert_eq!(client.acquire_vm(kernel, kfd, 5, gpu_id), Ok(()));
    (client, kfd, gpu_id)
}

/// Halves of an address, for arguments.
pub fn halves<T>(pointer: *const T) -> [u32; 2] {
    let address = pointer as u64;
    [address as u32, (address >> 32) as u32]
}

pub fn violations_are(kernel: &Kernel, words: &[&str]) {
    let found = kernel.violations();
    assert_eq!(found.len(), words.len(), "{found:?}");
    for (text, word) in found.iter().zip(words) {
        assert!(text.contains(word), "{text}");
    }
}

pub const fn refused(errno: Errno) -> Answer {
    Err(errno)
}
