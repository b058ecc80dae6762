//! mmap of the device nodes: what the kernel refuses, and which pages it would map (kfd-kernel.md section 3).

use crate::errno::{Answer, Errno};
use crate::kernel::{Caller, File, FileId, Kernel};
use crate::mode::Mode;

/// A page, in bytes.
pub const PAGE: u64 = 4096;

/// Pages that a mapping shows. All mappings of the same pages share their bytes, and none is inherited by a fork child
/// (rule 64).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pages {
    /// The doorbells of one process on the GPU of that index.
    Doorbells(usize),
    /// The remapped registers of the GPU of that index.
    Registers(usize),
}

impl Kernel {
    /// Bytes of the doorbells of one process on the GPU of that index (kfd-kernel.md 3.1).
    pub fn doorbell_bytes(&self, gpu: usize) -> u64 {
        self.config.gpus.get(gpu).map_or(0, |gpu| if gpu.chip.gfx_major >= 9 { 2 * PAGE } else { PAGE })
    }

    /// `mmap` of a file: the pages, when the kernel maps.
    ///
    /// `length` and `offset` are those of `mmap(2)`, in bytes.
    pub fn mmap(&mut self, caller: &dyn Caller, file: FileId, length: u64, offset: u64) -> Answer<Pages> {
        let opener = match self.files.get(&file) {
            None => return Err(Errno::EBADF),
            // No buffer exists, so no offset is the start of one.
            Some(File::Render { .. }) => return Err(Errno::EINVAL),
            Some(File::Kfd { opener }) => *opener,
        };
        if self.config.mode >= Mode::V7_2 {
            if opener != caller.tgid() {
                return Err(Errno::EBADF);
            }
        } else if !self.processes.contains_key(&caller.tgid()) {
            return Err(Errno::EINVAL);
        }
        let gpu_id = (offset >> 46 & 0xffff) as u32;
        let named = self.config.gpus.iter().position(|g| g.gpu_id == gpu_id);
        let length = length.next_multiple_of(PAGE);
        match offset >> 62 {
            0 => match named.filter(|gpu| !self.config.gpus[*gpu].hidden) {
                None => Err(Errno::ENODEV),
                Some(_) if length != PAGE => Err(Errno::EINVAL),
                Some(gpu) => Ok(Pages::Registers(gpu)),
            },
            3 => {
                let gpu = named.ok_or(Errno::ENODEV)?;
                if length != self.doorbell_bytes(gpu) || self.config.gpus[gpu].hidden {
                    return Err(Errno::EINVAL);
                }
                Ok(Pages::Doorbells(gpu))
            }
            // 2: there is no event page; 1: reserved, which only the driver itself maps.
            _ => Err(Errno::EINVAL),
        }
    }
}
