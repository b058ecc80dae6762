//! The page of remapped registers of a GPU, by which the program flushes what it wrote through the bus (kfd.md 3.2).

use std::os::fd::AsFd;
use std::sync::Arc;

use super::super::os::page_size;
use super::super::span::{Access, Span};
use super::Error;
use super::binding::Binding;
use super::ioctl::*;
use super::memory::Object;

/// The page in its place: seen by the program and by its GPU at the same address.
#[derive(Debug)]
pub(super) struct MmioPage {
    _object: Object,
    span: Span,
}

impl MmioPage {
    /// Makes it. It stays until the process ends.
    pub(super) fn new(binding: &Arc<Binding>, gpu_id: u32) -> Result<Self, Error> {
        let flags = KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP
            | KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE
            | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE
            | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT;
        let bytes = page_size() as u64;
        let space = binding.space().ok_or(Error::NoSharedSpace)?;
        let span = space.span(bytes, 0, None, true).map_err(|source| Error::NoAddress { bytes, source })?;
        let (object, offset) = Object::new(binding, gpu_id, (span.base(), bytes), flags)?;
        let mapped = span.fill_from(bytes, binding.kfd().as_fd(), offset, Access::READ_WRITE);
        mapped.map_err(|source| Error::Map { what: "the page of remapped registers", bytes, source })?;
        span.advise(libc::MADV_DONTFORK);
        object.map(&[gpu_id])?;
        Ok(Self { _object: object, span })
    }

    /// First address and bytes.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.span.base(), self.span.bytes())
    }
}
