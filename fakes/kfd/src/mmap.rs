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

/// Length of a node's file where nodes are regular files, in bytes: a mapping behind it faults when touched.
pub const FILE_BYTES: u64 = 1 << 61;
/// First window of `/dev/kfd` with file offsets, and how many a process has: a quarter each for doorbells and registers, by
/// GPU, of which there are at most 64, and then the events.
const WINDOWS: u64 = 0x40;
const PROCESS_WINDOWS: u64 = 0x100;
/// A window, in bits: clients find the place of a doorbell within its page in the low half of an offset.
const WINDOW: u32 = 32;
/// As many processes have windows of their own; no machine runs more.
const MOST_PROCESSES: u64 = 1 << 20;

/// A part of a node's file, where nodes are regular files (see [`crate::Config::file_offsets`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Index of the GPU whose render node it is of; none for `/dev/kfd`.
    pub gpu: Option<usize>,
    /// First byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

impl Kernel {
    /// The offset at which a process maps pages.
    pub(crate) fn kfd_offset(&mut self, tgid: i32, pages: Pages) -> u64 {
        let id = |gpu: usize| self.config.gpus.get(gpu).map_or(0, |gpu| u64::from(gpu.gpu_id)) << 46;
        if !self.config.file_offsets {
            return match pages {
                Pages::Doorbells(gpu) => 3 << 62 | id(gpu),
                Pages::Registers(gpu) => id(gpu),
                Pages::Events(_) => 2 << 62,
                Pages::Buffer(serial) => self.buffer_by_serial(serial).map_or(0, |(_, buffer)| buffer.offset),
            };
        }
        let process = *self.windows.entry(tgid).or_insert_with(|| {
            self.next_window += 1;
            (self.next_window - 1) % MOST_PROCESSES
        });
        let kind = match pages {
            Pages::Doorbells(gpu) => gpu as u64,
            Pages::Registers(gpu) => PROCESS_WINDOWS / 4 + gpu as u64,
            Pages::Events(_) => PROCESS_WINDOWS / 2,
            Pages::Buffer(serial) => return self.buffer_by_serial(serial).map_or(0, |(_, buffer)| buffer.offset),
        };
        (WINDOWS + process * PROCESS_WINDOWS + kind) << WINDOW
    }

    /// Where pages are in the file of their node, with file offsets; `None` for those without memory of their own.
    pub fn stretch(&mut self, pages: Pages) -> Option<Stretch> {
        match pages {
            Pages::Buffer(serial) => self.buffer_by_serial(serial).and_then(|(gpu, buffer)| buffer.stretch(gpu)),
            Pages::Events(tgid) => Some(Stretch { gpu: None, offset: self.kfd_offset(tgid, pages), bytes: EVENT_PAGE }),
            Pages::Doorbells(_) | Pages::Registers(_) => None,
        }
    }

    /// The parts of files that show nothing any more, since the last call; none without file offsets. Memory lives on
    /// while a mapping of it exists (rule 44): the front-end gives it back after that.
    pub fn take_freed(&mut self) -> Vec<Stretch> {
        core::mem::take(&mut self.freed)
    }

    /// Everything that a process has in files is freed.
    pub(crate) fn free_all(&mut self, tgid: i32) {
        if !self.config.file_offsets {
            return;
        }
        let buffers = self.processes.get(&tgid).into_iter().flat_map(|process| &process.buffers);
        let all = buffers.flat_map(|(gpu, buffers)| buffers.values().filter_map(|buffer| buffer.stretch(*gpu)));
        self.freed.extend(all);
        if let Some(process) = self.windows.remove(&tgid) {
            let offset = (WINDOWS + process * PROCESS_WINDOWS) << WINDOW;
            self.freed.push(Stretch { gpu: None, offset, bytes: PROCESS_WINDOWS << WINDOW });
        }
    }

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
