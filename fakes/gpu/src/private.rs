//! The private part of an adapter: what only the vendor's driver blob tells, and the blob itself.
//!
//! The format is open and the software driver's own; real blobs look different. All numbers are little-endian.
//!
//! ```text
//! offset  0  magic      "RXGF"
//!         4  version    1
//!         8  size       of the whole blob, in bytes
//!        12  checksum   FNV-1a, 32 bits, over the blob with this field as 0
//!        16  query      1: adapter information
//!        20  reserved   0
//!        24  fields     in the order of `Private`; all zero in a request
//! ```
//!
//! The driver reads a request from the buffer that it then fills: [`request`] makes it, [`check_request`] is the
//! driver's side, [`Private::decode`] reads the answer.

use serde::{Deserialize, Deserializer};

/// First word of a blob: the bytes `RXGF`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"RXGF");
/// Version of the format.
pub const VERSION: u32 = 1;
/// `query` of the adapter information.
pub const QUERY_ADAPTER: u32 = 1;
/// Bytes before the fields.
pub const HEADER: usize = 24;
/// Room for the product name, in bytes.
pub const NAME: usize = 64;
/// Size of a whole blob, in bytes.
pub const SIZE: usize = HEADER + Private::FIELDS + NAME;

/// `flags`: discrete, not part of a CPU.
pub const FLAG_DISCRETE: u32 = 1 << 0;
/// `flags`: PCIe atomics reach the host.
pub const FLAG_PLATFORM_ATOMICS: u32 = 1 << 1;
/// `flags`: the driver runs AQL queues itself.
pub const FLAG_NATIVE_AQL: u32 = 1 << 2;
/// `flags`: the firmware shadows the state of a queue.
pub const FLAG_STATE_SHADOWING: u32 = 1 << 3;

/// Why a blob was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The buffer cannot hold the blob.
    #[error("the buffer has {0} bytes, the blob has {SIZE}")]
    Short(usize),
    /// The buffer is larger than the blob.
    #[error("the buffer has {0} bytes, the blob has {SIZE}")]
    Long(usize),
    /// Not a blob.
    #[error("magic {0:#x}, not {MAGIC:#x}")]
    Magic(u32),
    /// Another version.
    #[error("version {0}, not {VERSION}")]
    Version(u32),
    /// The size in the header is not that of the buffer.
    #[error("size {0} in the header, not {SIZE}")]
    Size(u32),
    /// The checksum does not fit.
    #[error("checksum {0:#x}, not {1:#x}")]
    Checksum(u32, u32),
    /// Another query.
    #[error("query {0}, not {QUERY_ADAPTER}")]
    Query(u32),
    /// A field that must be zero is not.
    #[error("byte {0} is not zero")]
    Reserved(usize),
}

macro_rules! fields {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty),* $(,)?) => {
        /// What only the vendor's driver knows of an adapter; 0 is unknown.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Private {
            $($(#[doc = $doc])* pub $name: $type,)*
            /// Product name, at most 64 bytes of UTF-8.
            pub product_name: String,
        }

        impl Private {
            const FIELDS: usize = 0 $(+ size_of::<$type>())*;

            fn write_fields(&self, out: &mut Vec<u8>) {
                $(out.extend_from_slice(&self.$name.to_le_bytes());)*
            }

            fn read_fields(mut bytes: &[u8]) -> Option<Self> {
                Some(Self {
                    $($name: {
                        let (value, rest) = bytes.split_first_chunk::<{ size_of::<$type>() }>()?;
                        bytes = rest;
                        <$type>::from_le_bytes(*value)
                    },)*
                    product_name: {
                        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
                        String::from_utf8_lossy(&bytes[..end]).into_owned()
                    },
                })
            }
        }
    };
}

fields! {
    /// NTSTATUS with which the decoder of the blob shall end, as text in the machine file: `"0xC0000059"`.
    status: Status,
    /// The decoder does not admit these ids.
    unsupported: u32,
    /// The `FLAG_` bits that hold.
    flags: u32,
    /// The `FLAG_` bits that are known.
    flags_known: u32,
    /// PCI device id.
    device_id: u32,
    /// PCI revision.
    revision: u32,
    /// `bus << 8 | device << 3 | function`.
    pci_location: u32,
    /// PCI domain.
    pci_domain: u32,
    /// Graphics version, major.
    gfx_major: u32,
    /// Graphics version, minor.
    gfx_minor: u32,
    /// Graphics version, stepping.
    gfx_stepping: u32,
    /// `Capability.ASICRevision`.
    asic_revision: u32,
    /// Marketing family number of the driver.
    family: u32,
    /// Compute units that work.
    compute_units: u32,
    /// SIMDs per compute unit.
    simd_per_cu: u32,
    /// Waves that one compute unit holds.
    waves_per_cu: u32,
    /// Lanes of a wave.
    wavefront_size: u32,
    /// Shader engines of the device.
    shader_engines: u32,
    /// Shader arrays of one engine.
    arrays_per_engine: u32,
    /// LDS of one compute unit, in bytes.
    lds_bytes: u32,
    /// Scratch slots of one compute unit.
    scratch_slots_per_cu: u32,
    /// Address watch points.
    watch_points: u32,
    /// Accelerated compute dies.
    num_xcc: u32,
    /// SDMA engines.
    sdma_engines: u32,
    /// Queues of the command processor.
    cp_queues: u32,
    /// Global wave sync resources.
    num_gws: u32,
    /// Firmware of the compute micro engine.
    mec_firmware: u32,
    /// Firmware of SDMA.
    sdma_firmware: u32,
    /// Memory bus, in bits.
    memory_bus_bits: u32,
    /// Largest memory clock, in MHz.
    memory_clock_mhz: u32,
    /// Largest engine clock, in MHz.
    engine_clock_mhz: u32,
    /// `GB_ADDR_CONFIG`.
    gb_addr_config: u32,
    /// Stable identity of the device.
    unique_id: u64,
    /// L1 cache, in bytes.
    l1_bytes: u64,
    /// L2 cache, in bytes.
    l2_bytes: u64,
    /// L3 cache, in bytes.
    l3_bytes: u64,
    /// Local memory, in bytes, visible and invisible parts together.
    local_bytes: u64,
    /// System memory that the GPU may use as its own, in bytes.
    non_local_bytes: u64,
    /// GPU counter, in Hz.
    counter_hz: u64,
    /// GPU address of the LDS aperture.
    lds_aperture: u64,
    /// GPU address of the scratch aperture.
    scratch_aperture: u64,
    /// Memory of one user queue, in bytes.
    user_queue_bytes: u64,
    /// Alignment of allocations below the big-page size, in bytes.
    page_alignment: u64,
    /// Alignment of allocations from the big-page size on, in bytes.
    big_page_alignment: u64,
}

/// An NTSTATUS; in machine files a number or hexadecimal text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status(pub i32);

impl Status {
    const fn to_le_bytes(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    const fn from_le_bytes(bytes: [u8; 4]) -> Self {
        Self(i32::from_le_bytes(bytes))
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let number = number.ok_or_else(|| serde::de::Error::custom("a status has the form \"0xC0000059\""))?;
        Ok(Self(number as i32))
    }
}

fn word(blob: &[u8], offset: usize) -> u32 {
    blob.get(offset..offset + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// FNV-1a over a blob, with the four bytes from 12 as 0.
pub(crate) fn checksum(blob: &[u8]) -> u32 {
    let bytes = blob.iter().enumerate().map(|(i, b)| if (12..16).contains(&i) { 0 } else { *b });
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn header() -> Vec<u8> {
    let words = [MAGIC, VERSION, SIZE as u32, 0, QUERY_ADAPTER, 0];
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn seal(mut blob: Vec<u8>) -> Vec<u8> {
    blob.resize(SIZE, 0);
    let sum = checksum(&blob);
    blob[12..16].copy_from_slice(&sum.to_le_bytes());
    blob
}

/// What a client puts into the buffer before it asks.
pub fn request() -> Vec<u8> {
    seal(header())
}

fn check_header(blob: &[u8]) -> Result<(), Refusal> {
    let refusal = match blob.len() {
        short if short < SIZE => Refusal::Short(short),
        long if long > SIZE => Refusal::Long(long),
        _ if word(blob, 0) != MAGIC => Refusal::Magic(word(blob, 0)),
        _ if word(blob, 4) != VERSION => Refusal::Version(word(blob, 4)),
        _ if word(blob, 8) as usize != SIZE => Refusal::Size(word(blob, 8)),
        _ if word(blob, 12) != checksum(blob) => Refusal::Checksum(word(blob, 12), checksum(blob)),
        _ if word(blob, 16) != QUERY_ADAPTER => Refusal::Query(word(blob, 16)),
        _ if word(blob, 20) != 0 => Refusal::Reserved(20),
        _ => return Ok(()),
    };
    Err(refusal)
}

/// The driver's look at a request, field by field.
pub fn check_request(blob: &[u8]) -> Result<(), Refusal> {
    check_header(blob)?;
    match blob[HEADER..].iter().position(|b| *b != 0) {
        Some(i) => Err(Refusal::Reserved(HEADER + i)),
        None => Ok(()),
    }
}

impl Private {
    /// The driver's answer.
    pub fn encode(&self) -> Vec<u8> {
        let mut blob = header();
        self.write_fields(&mut blob);
        let mut end = self.product_name.len().min(NAME);
        while !self.product_name.is_char_boundary(end) {
            end -= 1;
        }
        blob.extend_from_slice(&self.product_name.as_bytes()[..end]);
        seal(blob)
    }

    /// Reads an answer.
    pub fn decode(blob: &[u8]) -> Result<Self, Refusal> {
        check_header(blob)?;
        Self::read_fields(&blob[HEADER..]).ok_or(Refusal::Short(blob.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_survives_the_round_trip() {
        let private = Private {
            status: Status(0xC000_0059_u32 as i32),
            compute_units: 96,
            gfx_major: 11,
            big_page_alignment: 2 << 20,
            product_name: "\u{e9}".repeat(40),
            ..Private::default()
        };
        let read = Private::decode(&private.encode()).unwrap();
        assert_eq!(read.product_name, "\u{e9}".repeat(32));
        assert_eq!(read, Private { product_name: read.product_name.clone(), ..private });
    }

    #[test]
    fn each_field_of_a_request_is_checked() {
        assert_eq!(check_request(&request()), Ok(()));
        assert_eq!(check_request(&request()[..SIZE - 1]), Err(Refusal::Short(SIZE - 1)));
        assert_eq!(check_request(&[request(), vec![0]].concat()), Err(Refusal::Long(SIZE + 1)));
        let changed = |offset: usize, reseal: bool| {
            let mut blob = request();
            blob[offset] ^= 0x40;
            check_request(&if reseal { seal(blob) } else { blob }).unwrap_err()
        };
        assert!(matches!(changed(0, true), Refusal::Magic(_)));
        assert!(matches!(changed(4, true), Refusal::Version(_)));
        assert!(matches!(changed(8, true), Refusal::Size(_)));
        assert!(matches!(changed(12, false), Refusal::Checksum(..)));
        assert!(matches!(changed(16, true), Refusal::Query(_)));
        assert_eq!(changed(20, true), Refusal::Reserved(20));
        assert_eq!(changed(SIZE - 1, true), Refusal::Reserved(SIZE - 1));
        assert!(matches!(changed(SIZE - 1, false), Refusal::Checksum(..)));
    }
}
