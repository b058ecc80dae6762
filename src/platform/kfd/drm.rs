//! What the graphics driver says of a GPU, and the device of libdrm that callers pass on.
//!
//! Names, family and the like are asked of the render node directly; libdrm is loaded when somebody wants a device of
//! it, which ROCr does to share memory with graphics.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

use super::super::Host;
use super::calls::CallError;

/// Where the names of products are.
const IDS: &str = "/usr/share/libdrm/amdgpu.ids";
/// Many times what the list has.
const MOST_IDS_BYTES: u64 = 4 << 20;

/// `DRM_IOCTL_AMDGPU_INFO`: direction write, 32 bytes.
const AMDGPU_INFO: u32 = 0x4020_6445;
/// `AMDGPU_INFO_DEV_INFO`.
const DEV_INFO: u32 = 0x16;
/// `AMDGPU_IDS_FLAGS_FUSION`: the GPU is part of a CPU.
const FUSION: u64 = 1;

/// The argument of AMDGPU_INFO for a question without parameters.
#[repr(C)]
struct InfoArgs {
    return_pointer: u64,
    return_size: u32,
    query: u32,
    parameters: [u32; 4],
}

/// The answer to DEV_INFO up to the last field of use, as the first kernels have it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct DevInfo {
    device_id: u32,
    chip_rev: u32,
    external_rev: u32,
    pci_rev: u32,
    family: u32,
    shader_engines: u32,
    arrays_per_engine: u32,
    gpu_counter_freq: u32,
    max_engine_clock: u64,
    max_memory_clock: u64,
    cu_active_number: u32,
    cu_ao_mask: u32,
    cu_bitmap: [u32; 16],
    enabled_rb_pipes_mask: u32,
    num_rb_pipes: u32,
    num_hw_gfx_contexts: u32,
    pcie_gen: u32,
    ids_flags: u64,
}

/// What the graphics driver says of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Graphics {
    pub(super) device_id: u32,
    pub(super) revision: u32,
    pub(super) family: u32,
    pub(super) integrated: bool,
    /// GPU counter, in kHz.
    pub(super) counter_khz: u32,
}

/// Asks a render node.
pub(super) fn graphics(render: BorrowedFd<'_>) -> Result<Graphics, CallError> {
    let mut info = DevInfo::default();
    let mut args = InfoArgs {
        return_pointer: std::ptr::from_mut(&mut info).expose_provenance() as u64,
        return_size: size_of::<DevInfo>() as u32,
        query: DEV_INFO,
        parameters: [0; 4],
    };
    // SAFETY: the argument is that of the request; the kernel writes at most `return_size` bytes, which is what the
    // answer has. It goes through the libc symbol, which software devices replace.
    if unsafe { libc::ioctl(render.as_raw_fd(), AMDGPU_INFO.into(), &raw mut args) } == -1 {
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        return Err(CallError { call: "AMDGPU_INFO_DEV_INFO", errno });
    }
    Ok(Graphics {
        device_id: info.device_id,
        revision: info.pci_rev,
        family: info.family,
        integrated: info.ids_flags & FUSION != 0,
        counter_khz: info.gpu_counter_freq,
    })
}

/// The names of products, by device and revision.
#[derive(Debug, Default)]
pub(super) struct ProductNames(String);

impl ProductNames {
    /// Reads the list of libdrm. Without it nothing has a name.
    pub(super) fn read(host: &Host) -> Self {
        let text = host.read(IDS, MOST_IDS_BYTES).unwrap_or_default();
        Self(String::from_utf8_lossy(&text).into_owned())
    }

    /// The name of a product: lines are "device, revision, name" with hexadecimal numbers.
    pub(super) fn of(&self, device: u32, revision: u32) -> Option<&str> {
        self.0.lines().find_map(|line| {
            let mut fields = line.splitn(3, ',').map(str::trim);
            let mut number = || u32::from_str_radix(fields.next()?, 16).ok();
            (number()? == device && number()? == revision).then(|| fields.next()).flatten()
        })
    }
}

/// Why there is no device of libdrm.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LibdrmError {
    /// The library, or a function of it, is not there.
    #[error("libdrm: {0}")]
    Missing(String),
    /// It does not take the GPU.
    #[error("{call} failed: {}", io::Error::from_raw_os_error(*errno))]
    Refused {
        /// The function.
        call: &'static str,
        /// What it returned, as an errno.
        errno: i32,
    },
}

type Initialize = unsafe extern "C" fn(RawFd, *mut u32, *mut u32, *mut *mut c_void) -> i32;
type Initialize2 = unsafe extern "C" fn(RawFd, bool, *mut u32, *mut u32, *mut *mut c_void) -> i32;

/// libdrm's part for this driver. It stays loaded: callers hold devices of it.
#[derive(Debug)]
pub(super) struct Libdrm {
    initialize: Symbol<Initialize>,
    initialize2: Option<Symbol<Initialize2>>,
    _library: Library,
}

impl Libdrm {
    /// Loads the one that the process uses.
    pub(super) fn load() -> Result<Self, LibdrmError> {
        let missing = |error: libloading::Error| LibdrmError::Missing(error.to_string());
        let name = Path::new("libdrm_amdgpu.so.1");
        // SAFETY: the initialisers of this library do nothing but set up its own state.
        let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(missing)?;
        // SAFETY: the types are those of the functions in every version of this library.
        unsafe {
            Ok(Self {
                initialize: library.get(b"amdgpu_device_initialize\0").map_err(missing)?,
                initialize2: library.get(b"amdgpu_device_initialize2\0").ok(),
                _library: library,
            })
        }
    }

    /// A device on the open render node, as an address.
    ///
    /// One of its own where the library has the call, and so with the VM of this file. Older ones give every user of
    /// a GPU the device that the first one made.
    pub(super) fn device(&self, render: BorrowedFd<'_>) -> Result<usize, LibdrmError> {
        let (mut major, mut minor, mut device) = (0, 0, std::ptr::null_mut());
        let fd = render.as_raw_fd();
        let (call, result) = match &self.initialize2 {
            // SAFETY: three places for the results, and an open descriptor, which the library duplicates.
            Some(initialize) => ("amdgpu_device_initialize2", unsafe {
                initialize(fd, false, &raw mut major, &raw mut minor, &raw mut device)
            }),
            // SAFETY: as above.
            None => ("amdgpu_device_initialize", unsafe {
                (self.initialize)(fd, &raw mut major, &raw mut minor, &raw mut device)
            }),
        };
        match (result, device.expose_provenance()) {
            (0, 1..) => Ok(device.addr()),
            _ => Err(LibdrmError::Refused { call, errno: -result }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_found_by_device_and_revision() {
        let names = ProductNames(
            "# List of AMDGPU IDs\n1.0.0\n1309,\t00,\tAMD Radeon R7 Graphics\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n\
             744C,\tCC,\tName, with a comma\nnonsense\n744C\n"
                .to_owned(),
        );
        assert_eq!(names.of(0x744c, 0xc8), Some("AMD Radeon RX 7900 XTX"));
        assert_eq!(names.of(0x744c, 0xcc), Some("Name, with a comma"));
        assert_eq!(names.of(0x1309, 0), Some("AMD Radeon R7 Graphics"));
        assert_eq!((names.of(0x744c, 0), names.of(0x744d, 0xc8), names.of(1, 0)), (None, None, None));
        assert_eq!(ProductNames::default().of(0x744c, 0xc8), None);
    }

    #[test]
    fn the_answer_has_the_kernel_s_layout() {
        assert_eq!(std::mem::offset_of!(DevInfo, pci_rev), 12);
        assert_eq!(std::mem::offset_of!(DevInfo, gpu_counter_freq), 28);
        assert_eq!(std::mem::offset_of!(DevInfo, ids_flags), 136);
        assert_eq!((size_of::<DevInfo>(), size_of::<InfoArgs>()), (144, 32));
    }
}
