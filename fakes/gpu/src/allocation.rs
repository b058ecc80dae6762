//! The private data of an allocation: what only the vendor's driver reads when memory is created.
//!
//! The format is open and the software driver's own; real blobs look different. All numbers are little-endian. One
//! blob describes the whole allocation, one more each of its entries.
//!
//! ```text
//! offset  0  magic      "RXGA"
//!         4  version    1
//!         8  size       of the whole blob, in bytes
//!        12  checksum   FNV-1a, 32 bits, over the blob with this field as 0
//!        16  fields     in the order of `Blob`
//! ```

use crate::private::checksum;

/// First word of a blob: the bytes `RXGA`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"RXGA");
/// Version of the format.
pub const VERSION: u32 = 1;
/// Bytes before the fields.
pub const HEADER: usize = 16;
/// Size of a blob, in bytes.
pub const SIZE: usize = HEADER + Blob::FIELDS;

/// `kind`: describes the whole allocation.
pub const KIND_WHOLE: u32 = 1;
/// `kind`: describes one entry.
pub const KIND_ENTRY: u32 = 2;

/// `domain`: system memory of the thunk.
pub const DOMAIN_SYSTEM: u32 = 0;
/// `domain`: local memory.
pub const DOMAIN_LOCAL: u32 = 1;
/// `domain`: system memory of the program.
pub const DOMAIN_USER: u32 = 2;
/// `domain`: memory of a user queue.
pub const DOMAIN_QUEUE: u32 = 3;

/// All bits of `memory_flags`.
pub const MEMORY_FLAGS: u32 = 0b111;
/// All bits of `engine_flags`.
pub const ENGINE_FLAGS: u32 = 0b1111;
/// `surface_flags`: the swizzle is known.
pub const SWIZZLE_KNOWN: u32 = 1 << 0;

/// Unit of memory, in bytes.
pub const PAGE: u64 = 4096;

/// Why a blob was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not the size of a blob.
    #[error("{0} bytes, the blob has {SIZE}")]
    Length(usize),
    /// A field that is wrong: its name and what it holds.
    #[error("{0} is {1:#x}")]
    Field(&'static str, u64),
}

macro_rules! fields {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty),* $(,)?) => {
        /// What a blob says.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Blob {
            $($(#[doc = $doc])* pub $name: $type,)*
        }

        impl Blob {
            const FIELDS: usize = 0 $(+ size_of::<$type>())*;

            fn write_fields(&self, out: &mut Vec<u8>) {
                $(out.extend_from_slice(&self.$name.to_le_bytes());)*
            }

            fn read_fields(mut bytes: &[u8]) -> Option<Self> {
                Some(Self {
                    $($name: <$type>::from_le_bytes(take(&mut bytes)?),)*
                })
            }
        }
    };
}

fields! {
    /// [`KIND_WHOLE`] or [`KIND_ENTRY`].
    kind: u32,
    /// Where the memory is: one of `DOMAIN_`.
    domain: u32,
    /// Properties of the memory.
    memory_flags: u32,
    /// Engine that a queue's memory is for.
    engine_flags: u32,
    /// Size of what the blob describes, in bytes.
    bytes: u64,
    /// First byte of the entry within the allocation.
    offset: u64,
    /// GPU address of the first byte of the allocation, 0 for none.
    address: u64,
    /// Number of the entry.
    index: u32,
    /// Entries of the allocation.
    count: u32,
    /// The driver's answer: size that it granted, in bytes; 0 in a request.
    granted: u64,
    /// The driver's answer: a number that no other allocation has; 0 in a request.
    identity: u64,
    /// Swizzle mode of a surface.
    swizzle_mode: u32,
    /// Tile swizzle of a surface.
    tile_swizzle: u32,
    /// What is known of the surface.
    surface_flags: u32,
    /// Always 0.
    reserved: u32,
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (value, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*value)
}

fn word(blob: &[u8], offset: usize) -> u32 {
    blob.get(offset..offset + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

impl Blob {
    /// The blob as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut blob: Vec<u8> = [MAGIC, VERSION, SIZE as u32, 0].into_iter().flat_map(u32::to_le_bytes).collect();
        self.write_fields(&mut blob);
        let sum = checksum(&blob);
        blob[12..16].copy_from_slice(&sum.to_le_bytes());
        blob
    }

    /// Reads a blob, whoever wrote it.
    pub fn decode(blob: &[u8]) -> Result<Self, Refusal> {
        if blob.len() != SIZE {
            return Err(Refusal::Length(blob.len()));
        }
        let expected =
            [("magic", 0, MAGIC), ("version", 4, VERSION), ("size", 8, SIZE as u32), ("checksum", 12, checksum(blob))];
        if let Some((name, offset, _)) = expected.into_iter().find(|(_, offset, value)| word(blob, *offset) != *value) {
            return Err(Refusal::Field(name, word(blob, offset).into()));
        }
        Self::read_fields(&blob[HEADER..]).ok_or(Refusal::Length(blob.len()))
    }

    /// The driver's look at the request for a whole allocation or for entry `index` of `count`, field by field.
    pub fn check_request(&self, kind: u32, index: u32, count: u32) -> Result<(), Refusal> {
        let end = self.offset.checked_add(self.bytes);
        let wrong = [
            ("kind", self.kind.into(), self.kind != kind),
            ("domain", self.domain.into(), self.domain > DOMAIN_QUEUE),
            ("memory_flags", self.memory_flags.into(), self.memory_flags & !MEMORY_FLAGS != 0),
            ("engine_flags", self.engine_flags.into(), self.engine_flags & !ENGINE_FLAGS != 0),
            ("bytes", self.bytes, self.bytes == 0 || end.is_none_or(|e| e > 1 << 48)),
            ("offset", self.offset, !self.offset.is_multiple_of(PAGE) || (kind == KIND_WHOLE && self.offset != 0)),
            ("address", self.address, !self.address.is_multiple_of(PAGE)),
            ("index", self.index.into(), self.index != index),
            ("count", self.count.into(), self.count != count),
            ("granted", self.granted, self.granted != 0),
            ("identity", self.identity, self.identity != 0),
            ("surface_flags", self.surface_flags.into(), self.surface_flags & !SWIZZLE_KNOWN != 0),
            ("reserved", self.reserved.into(), self.reserved != 0),
        ];
        match wrong.into_iter().find(|(_, _, wrong)| *wrong) {
            Some((name, value, _)) => Err(Refusal::Field(name, value)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Blob {
        Blob {
            kind: KIND_ENTRY,
            domain: DOMAIN_LOCAL,
            bytes: 5000,
            offset: 8192,
            index: 2,
            count: 3,
            ..Blob::default()
        }
    }

    #[test]
    fn a_blob_survives_the_round_trip_and_damage_is_found() {
        assert_eq!(Blob::decode(&entry().encode()), Ok(entry()));
        assert_eq!(Blob::decode(&entry().encode()[1..]), Err(Refusal::Length(SIZE - 1)));
        for offset in 0..SIZE {
            let mut damaged = entry().encode();
            damaged[offset] ^= 0x10;
            let Err(Refusal::Field(name, _)) = Blob::decode(&damaged) else { panic!("{offset}") };
            assert_eq!(name, ["magic", "version", "size", "checksum"][(offset / 4).min(3)], "{offset}");
        }
    }

    #[test]
    fn each_field_of_a_request_is_checked() {
        assert_eq!(entry().check_request(KIND_ENTRY, 2, 3), Ok(()));
        type Spoil = fn(&mut Blob);
        let all: [(&str, Spoil); 14] = [
            ("kind", |b| b.kind = KIND_WHOLE),
            ("domain", |b| b.domain = 4),
            ("memory_flags", |b| b.memory_flags = 8),
            ("engine_flags", |b| b.engine_flags = 16),
            ("bytes", |b| b.bytes = 0),
            ("bytes", |b| b.bytes = u64::MAX),
            ("offset", |b| b.offset = 8),
            ("address", |b| b.address = 0x1800),
            ("index", |b| b.index = 1),
            ("count", |b| b.count = 2),
            ("granted", |b| b.granted = 1),
            ("identity", |b| b.identity = 1),
            ("surface_flags", |b| b.surface_flags = 2),
            ("reserved", |b| b.reserved = 1),
        ];
        for (name, spoil) in all {
            let mut blob = entry();
            spoil(&mut blob);
            let Err(Refusal::Field(found, _)) = blob.check_request(KIND_ENTRY, 2, 3) else { panic!("{name}") };
            assert_eq!(found, name);
        }
    }
}
