//! What a shared resource is to those who open it: the head of the file that its descriptors name.
//!
//! The file is a memfd, so that any process that gets the descriptor reaches the same record and the same memory
//! without a kernel to ask, and so that both live until the last descriptor and the last mapping are gone. All numbers
//! are 8 bytes, little-endian.
//!
//! ```text
//! offset  0  magic      "RXSHARED"
//!         8  holders    resources that name the object now, in all processes
//!        16  checksum   FNV-1a, 64 bits, over the record from the next field on
//!        24  size       of the record, in bytes; the memory of the allocations follows, page-aligned
//!        32  identity, LUID, allocations, bytes of runtime data, bytes of driver data
//!        72  for each allocation: identity, bytes, segment, offset in the file, bytes of private data
//!            then runtime data, driver data, private data of each allocation
//! ```

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::backing::Region;
use crate::space::PAGE;

const MAGIC: u64 = u64::from_le_bytes(*b"RXSHARED");
/// Where the number of holders is.
const HOLDERS: usize = 8;
/// Bytes before what the checksum covers.
const CHECKED: usize = 24;
/// Bytes before the allocations.
const HEAD: usize = 72;
/// Largest record, in bytes: no more private data fit into a creation.
const LARGEST: usize = 1 << 20;
/// The size cannot change, nor can that.
const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// One allocation of a shared resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Identity of its memory.
    pub(crate) identity: u64,
    /// Size, in bytes.
    pub(crate) bytes: u64,
    /// Index of its memory segment.
    pub(crate) segment: u64,
    /// Where in the file its memory is.
    pub(crate) offset: u64,
    /// Private data, as the creator passed them.
    pub(crate) blob: Vec<u8>,
}

/// The record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Identity of the object.
    pub(crate) identity: u64,
    /// LUID of the adapter: low and high part.
    pub(crate) luid: u64,
    /// Runtime data of the creator.
    pub(crate) runtime: Vec<u8>,
    /// Driver data of the creator.
    pub(crate) driver: Vec<u8>,
    /// The allocations.
    pub(crate) entries: Vec<Entry>,
}

/// Lowest number of a descriptor that this library keeps: those below are standard input, output and error.
pub(crate) const OWN: i32 = 3;

/// Another descriptor of the same open file, from a number on; `None` when there is none to be had.
pub(crate) fn duplicate(fd: i32, least: i32) -> Option<OwnedFd> {
    // SAFETY: any number may be asked for; the answer is a new descriptor of ours.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, least) };
    // SAFETY: just opened, and nobody else's.
    (copy >= 0).then(|| unsafe { OwnedFd::from_raw_fd(copy) })
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn number(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..offset + 8)?.try_into().ok().map(u64::from_le_bytes)
}

impl Record {
    /// Bytes of private data of all allocations.
    pub(crate) fn blob_bytes(&self) -> usize {
        self.entries.iter().map(|e| e.blob.len()).sum()
    }

    fn len(&self) -> usize {
        HEAD + 40 * self.entries.len() + self.runtime.len() + self.driver.len() + self.blob_bytes()
    }

    /// Gives each allocation a place in the file; size of the whole file.
    pub(crate) fn lay_out(&mut self) -> u64 {
        let mut end = (self.len() as u64).next_multiple_of(PAGE);
        for entry in &mut self.entries {
            entry.offset = end;
            end += entry.bytes;
        }
        end
    }

    fn encode(&self) -> Vec<u8> {
        let lengths = [self.entries.len(), self.runtime.len(), self.driver.len()].map(|n| n as u64);
        let mut words = vec![self.len() as u64, self.identity, self.luid];
        words.extend(lengths);
        for e in &self.entries {
            words.extend([e.identity, e.bytes, e.segment, e.offset, e.blob.len() as u64]);
        }
        let mut tail: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        tail.extend(self.runtime.iter().chain(&self.driver).chain(self.entries.iter().flat_map(|e| &e.blob)));
        let head = [MAGIC, 0, checksum(&tail)];
        head.into_iter().flat_map(u64::to_le_bytes).chain(tail).collect()
    }

    /// Reads a record that lies in a file of `file` bytes.
    fn decode(bytes: &[u8], file: u64) -> Option<Self> {
        let word = |offset| number(bytes, offset);
        if word(0)? != MAGIC || word(16)? != checksum(bytes.get(CHECKED..)?) || word(24)? != bytes.len() as u64 {
            return None;
        }
        let count = usize::try_from(word(48)?).ok().filter(|n| *n <= LARGEST)?;
        let mut rest = bytes.get(HEAD + 40 * count..)?;
        let mut take = |length: u64| {
            let (part, left) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            rest = left;
            Some(part.to_vec())
        };
        let (runtime, driver) = (take(word(56)?)?, take(word(64)?)?);
        let mut entries = Vec::new();
        for at in (0..count).map(|i| HEAD + 40 * i) {
            let entry = Entry {
                identity: word(at)?,
                bytes: word(at + 8)?,
                segment: word(at + 16)?,
                offset: word(at + 24)?,
                blob: take(word(at + 32)?)?,
            };
            let inside = entry.offset.checked_add(entry.bytes).is_some_and(|end| end <= file);
            entries.push(entry);
            inside.then_some(())?;
        }
        Some(Self { identity: word(32)?, luid: word(40)?, runtime, driver, entries })
    }

    /// A new file with the record at its head.
    pub(crate) fn create(&self, size: u64) -> Option<OwnedFd> {
        // SAFETY: a name that ends with a zero byte; the answer is a new descriptor of ours.
        let fd = unsafe { libc::memfd_create(c"dxgresource".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if fd < 0 {
            return None;
        }
        // SAFETY: just opened, and nobody else's.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let file = duplicate(file.as_raw_fd(), OWN)?;
        let fd = file.as_raw_fd();
        let bytes = self.encode();
        // SAFETY: a file of ours, and bytes that outlive the calls.
        let done = unsafe {
            libc::ftruncate(fd, size as libc::off_t) == 0
                && libc::pwrite(fd, bytes.as_ptr().cast(), bytes.len(), 0) == bytes.len() as isize
                && libc::fcntl(fd, libc::F_ADD_SEALS, SEALS) == 0
        };
        done.then_some(file)
    }

    /// The record of a descriptor; `None` when it names no shared resource (rule 125).
    pub(crate) fn of_file(file: &OwnedFd) -> Option<Self> {
        let fd = file.as_raw_fd();
        // SAFETY: asks about a descriptor of ours.
        if unsafe { libc::fcntl(fd, libc::F_GET_SEALS) } != SEALS {
            return None;
        }
        let head = read(fd, HEAD)?;
        let length = usize::try_from(number(&head, 24)?).ok().filter(|n| (HEAD..=LARGEST).contains(n))?;
        if number(&head, 0)? != MAGIC {
            return None;
        }
        // SAFETY: asks for the size of a file of ours: the offset is not shared with any reader.
        let size = unsafe { libc::lseek(fd, 0, libc::SEEK_END) };
        Self::decode(&read(fd, length)?, u64::try_from(size).ok()?)
    }
}

fn read(fd: i32, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    // SAFETY: the buffer has that length.
    let read = unsafe { libc::pread(fd, bytes.as_mut_ptr().cast(), length, 0) };
    (read == length as isize).then_some(bytes)
}

/// A resource's hold on the object: counted in the file as long as the value lives.
#[derive(Debug)]
pub(crate) struct Hold(Region);

impl Hold {
    /// One holder more.
    pub(crate) fn new(file: &OwnedFd) -> Option<Self> {
        let hold = Self(Region::of_file(file.as_raw_fd(), 0, PAGE)?);
        hold.holders().fetch_add(1, Ordering::AcqRel);
        Some(hold)
    }

    fn holders(&self) -> &AtomicU64 {
        // SAFETY: a page of ours, mapped as long as `self` lives, whose size is sealed; the word is only used so.
        unsafe { AtomicU64::from_ptr(self.0.pointer().cast::<u64>().add(HOLDERS / 8)) }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.holders().fetch_sub(1, Ordering::AcqRel);
    }
}

/// How many resources name the object of a descriptor, in all processes; `None` when it names none.
pub(crate) fn holders(file: &OwnedFd) -> Option<u64> {
    Record::of_file(file)?;
    number(&read(file.as_raw_fd(), HEAD)?, HOLDERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let entry = |n: u64| Entry { identity: n, bytes: PAGE * n, segment: 1, offset: 0, blob: vec![n as u8; 5] };
        Record { identity: 7, luid: 9, runtime: vec![1, 2, 3], driver: vec![4; 20], entries: vec![entry(1), entry(2)] }
    }

    #[test]
    fn a_record_survives_the_round_trip_and_damage_is_found() {
        let mut record = record();
        let size = record.lay_out();
        assert_eq!((record.entries[0].offset, record.entries[1].offset, size), (PAGE, 2 * PAGE, 4 * PAGE));
        let file = record.create(size).unwrap();
        assert_eq!(Record::of_file(&file), Some(record.clone()));
        let bytes = record.encode();
        assert_eq!(Record::decode(&bytes, size - 1), None, "memory beyond the end of the file");
        for at in (0..bytes.len()).filter(|at| !(HOLDERS..HOLDERS + 8).contains(at)) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Record::decode(&damaged, size), None, "{at}");
        }
        // SAFETY: the size of a file of ours; it is sealed.
        assert_eq!(unsafe { libc::ftruncate(file.as_raw_fd(), 0) }, -1);
    }

    #[test]
    fn holders_are_counted_in_the_file() {
        let mut record = record();
        let size = record.lay_out();
        let file = record.create(size).unwrap();
        assert_eq!(holders(&file), Some(0));
        let (one, two) = (Hold::new(&file).unwrap(), Hold::new(&file).unwrap());
        assert_eq!(holders(&file), Some(2));
        drop(one);
        assert_eq!(holders(&file), Some(1));
        drop(two);
        assert_eq!(holders(&file), Some(0));
    }
}
