//! mmap of the device nodes: what the kernel refuses, and which pages it would map (kfd-kernel.md section 3).

use crate::errno::{Answer, Errno};
use crate::events::EVENT_PAGE;
use crate::kernel::{Caller, File, FileId, Kernel};
use crate::memory::{Buffer, flag};
use crate::mode::Mode;

/// A page, in bytes.
pub const PAGE: u64 = 4096;

/// Pages that a mapping shows. All mappings of the same pages share their bytes; those of `/dev/kfd` are not inherited by
/// a fork child (rule 64).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pages {
    /// The doorbells of one process on the GPU of that index.
    Doorbells(usize),
    /// The remapped registers of the GPU of that index.
    Registers(usize),
    /// The event slots of a process, when the driver made them.
    Events(i32),
    /// A buffer, by its serial number. Inherited by a fork child.
    Buffer(u64),
}

impl Kernel {
    /// Bytes of the doorbells of one process on the GPU of that index (kfd-kernel.md 3.1).
    pub fn doorbell_bytes(&self, gpu: usize) -> u64 {
        self.config.gpus.get(gpu).map_or(0, |gpu| if gpu.chip.gfx_major >= 9 { 2 * PAGE } else { PAGE })
    }

    /// `mmap` of a file: the pages, when the kernel maps.
    ///
    /// `length` and `offset` are those of `mmap(2)`, in bytes; `private` tells a private mapping with any access right.
    pub fn mmap(
        &mut self,
        caller: &dyn Caller,
        file: FileId,
        (length, offset): (u64, u64),
        private: bool,
    ) -> Answer<Pages> {
        let opener = match self.files.get(&file) {
            None => return Err(Errno::EBADF),
            Some(&File::Render { gpu, .. }) => return self.mmap_buffer(file, gpu, (length, offset), private),
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
            2 => self.processes.entry(caller.tgid()).or_default().events.mmap(length),
            // 1: reserved, which only the driver itself maps.
            _ => Err(Errno::EINVAL),
        }
    }

    /// A buffer by its offset on the render node (kfd-kernel.md 3.2).
    fn mmap_buffer(&self, file: FileId, gpu: usize, (length, offset): (u64, u64), private: bool) -> Answer<Pages> {
        let of_gpu = self.processes.values().flat_map(|p| p.buffers.get(&gpu).map(|buffers| (p, buffers)));
        let mut all = of_gpu.flat_map(|(p, buffers)| buffers.values().map(move |buffer| (p, buffer)));
        let (process, buffer) = all
            .find(|(_, buffer)| buffer.offset == offset && buffer.flags & flag::MMIO_REMAP == 0)
            .ok_or(Errno::EINVAL)?;
        if length.next_multiple_of(PAGE) > buffer.bytes {
            return Err(Errno::EINVAL);
        }
        if process.bound.get(&gpu) != Some(&file) {
            return Err(Errno::EACCES);
        }
        if buffer.flags & flag::USERPTR != 0 {
            return Err(Errno::EPERM);
        }
        if private {
            return Err(Errno::EINVAL);
        }
        Ok(Pages::Buffer(buffer.serial))
    }

    fn buffer_by_serial(&self, serial: u64) -> Option<(usize, &Buffer)> {
        let of_process = self.processes.values().flat_map(|p| &p.buffers);
        of_process.flat_map(|(gpu, buffers)| buffers.values().map(|b| (*gpu, b))).find(|(_, b)| b.serial == serial)
    }

    /// Bytes of memory behind pages that the CPU reaches: none of local memory behind a small BAR, which a touch faults
    /// on. `None` when the buffer is gone.
    pub fn page_bytes(&self, pages: Pages) -> Option<u64> {
        match pages {
            Pages::Doorbells(gpu) => Some(self.doorbell_bytes(gpu)),
            Pages::Registers(_) => Some(PAGE),
            Pages::Events(_) => Some(EVENT_PAGE),
            Pages::Buffer(serial) => {
                let (gpu, buffer) = self.buffer_by_serial(serial)?;
                let beyond = buffer.flags & flag::VRAM != 0 && !self.config.gpus[gpu].large_bar;
                Some(if beyond { 0 } else { buffer.bytes })
            }
        }
    }
}
