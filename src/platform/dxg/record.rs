//! What travels with a shared allocation, so that an importer knows it: a fixed record with length, version and checksum.
//!
//! The other side may be older, newer or malicious: nothing of a record is believed before [`Record::read`] has checked
//! it, and what it says of sizes is bounded.

use super::kmd::vtable::{ROCDXG_KMD_DOMAIN_LOCAL, ROCDXG_KMD_DOMAIN_SYSTEM};
use super::paging::PAGE;

/// Bytes of the record.
pub(super) const BYTES: usize = 64;
const MAGIC: u32 = u32::from_le_bytes(*b"rDXG");
const VERSION: u16 = 1;
/// More than any GPU can address.
const MOST_BYTES: u64 = 1 << 47;

/// The record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    /// Where the memory is: `ROCDXG_KMD_DOMAIN_LOCAL` or `_SYSTEM`.
    pub(super) domain: u32,
    /// `ROCDXG_KMD_MEMORY_` bits.
    pub(super) memory_flags: u32,
    /// Adapter that it was created on.
    pub(super) luid: (u32, i32),
    /// Bytes of the memory, whole pages.
    pub(super) bytes: u64,
    /// Bytes that were asked for, at most as many.
    pub(super) client_bytes: u64,
    /// `HsaMemFlags` that it was allocated with.
    pub(super) flags: u32,
}

/// Why a record is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRecord {
    /// Of another maker: what it means is unknown, which is no mistake.
    #[error("the record is of another maker")]
    Foreign,
    /// A later version of this library wrote it.
    #[error("the record has version {0}, and this library knows {VERSION}")]
    Version(u16),
    /// It contradicts itself.
    #[error("the record is damaged: {0}")]
    Damaged(&'static str),
}

/// Sum of the words before the last, each turned by its place, so that swapped words show.
fn checksum(bytes: &[u8; BYTES]) -> u32 {
    let words = bytes.as_chunks::<4>().0[..BYTES / 4 - 1].iter().map(|word| u32::from_le_bytes(*word));
    words.zip(1_u32..).fold(0x9e37_79b9, |sum: u32, (word, place)| {
        sum.rotate_left(5).wrapping_add(word.wrapping_mul(place | 1)) ^ place
    })
}

impl Record {
    /// Its bytes.
    pub(super) fn write(&self) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&MAGIC.to_le_bytes());
        put(&VERSION.to_le_bytes());
        put(&(BYTES as u16).to_le_bytes());
        put(&self.domain.to_le_bytes());
        put(&self.memory_flags.to_le_bytes());
        put(&self.luid.0.to_le_bytes());
        put(&self.luid.1.to_le_bytes());
        put(&self.bytes.to_le_bytes());
        put(&self.client_bytes.to_le_bytes());
        put(&self.flags.to_le_bytes());
        let sum = checksum(&out);
        out[BYTES - 4..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads what another process wrote.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, BadRecord> {
        let word = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes);
        let wide = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if bytes.len() < 8 || word(0) != MAGIC {
            return Err(BadRecord::Foreign);
        }
        let (version, length) = (word(4) as u16, word(4) >> 16);
        if version != VERSION {
            return Err(BadRecord::Version(version));
        }
        let whole: &[u8; BYTES] = match bytes.try_into() {
            Ok(whole) if length as usize == BYTES => whole,
            _ => return Err(BadRecord::Damaged("its length")),
        };
        if word(BYTES - 4) != checksum(whole) {
            return Err(BadRecord::Damaged("its checksum"));
        }
        let record = Self {
            domain: word(8),
            memory_flags: word(12),
            luid: (word(16), word(20).cast_signed()),
            bytes: wide(24),
            client_bytes: wide(32),
            flags: word(40),
        };
        if ![ROCDXG_KMD_DOMAIN_LOCAL, ROCDXG_KMD_DOMAIN_SYSTEM].contains(&record.domain) {
            return Err(BadRecord::Damaged("its domain"));
        }
        if record.bytes == 0 || record.bytes > MOST_BYTES || !record.bytes.is_multiple_of(PAGE) {
            return Err(BadRecord::Damaged("its size"));
        }
        if record.client_bytes == 0 || record.client_bytes > record.bytes {
            return Err(BadRecord::Damaged("the size that was asked for"));
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            domain: ROCDXG_KMD_DOMAIN_LOCAL,
            memory_flags: 3,
            luid: (0x8001, -1),
            bytes: 8192,
            client_bytes: 5000,
            flags: 0x41,
        }
    }

    /// The bytes with a change, and a checksum that is right again.
    fn forged(change: impl FnOnce(&mut [u8; BYTES])) -> [u8; BYTES] {
        let mut bytes = record().write();
        change(&mut bytes);
        let sum = checksum(&bytes);
        bytes[BYTES - 4..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Record::read(&record().write()), Ok(record()));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for bit in 0..BYTES * 8 {
            let mut bytes = record().write();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::read(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn cut_long_foreign_and_newer_ones_are_told_apart() {
        let bytes = record().write();
        for length in 0..BYTES {
            let expected = if length < 8 { BadRecord::Foreign } else { BadRecord::Damaged("its length") };
            assert_eq!(Record::read(&bytes[..length]), Err(expected), "{length}");
        }
        let mut long = bytes.to_vec();
        long.push(0);
        assert_eq!(Record::read(&long), Err(BadRecord::Damaged("its length")));
        assert_eq!(Record::read(&[0; BYTES]), Err(BadRecord::Foreign));
        assert_eq!(Record::read(&forged(|b| b[4] = 2)), Err(BadRecord::Version(2)));
        assert_eq!(Record::read(&forged(|b| b[6] = 60)), Err(BadRecord::Damaged("its length")));
    }

    #[test]
    fn forged_contents_are_bounded() {
        let set = |at: usize, value: u64| forged(|bytes| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()));
        for bytes in [0, 1, 4097, MOST_BYTES + PAGE, u64::MAX] {
            assert_eq!(Record::read(&set(24, bytes)), Err(BadRecord::Damaged("its size")), "{bytes}");
        }
        for bytes in [0, 8193, u64::MAX] {
            assert_eq!(Record::read(&set(32, bytes)), Err(BadRecord::Damaged("the size that was asked for")));
        }
        assert_eq!(Record::read(&forged(|b| b[8] = 2)), Err(BadRecord::Damaged("its domain")));
    }
}
