//! What is known of each GPU model: `data/asics.json`, compiled in by `build.rs`.
//!
//! Numbers and names only; unknown is `None`. Pure lookup, no I/O. May call: nothing.

/// One model, or one PCI id where `revision` is `None` (data/asics.json, "entries").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asic {
    /// PCI device id.
    pub device_id: u16,
    /// PCI revision; `None` is the fallback of its device id.
    pub revision: Option<u8>,
    /// Names under which the model is sold, the usual one first.
    pub names: &'static [&'static str],
    /// Graphics version: major, minor, stepping.
    pub gfx: (u8, u8, u8),
    /// Discrete.
    pub is_dgpu: bool,
    /// Compute units of this model.
    pub compute_units: Option<u32>,
    /// Shader engines of the die.
    pub shader_engines: Option<u32>,
    /// Shader arrays of one engine.
    pub arrays_per_engine: Option<u32>,
    /// L1 vector cache, KiB.
    pub l1_kib: Option<u32>,
    /// L2 cache, KiB.
    pub l2_kib: Option<u32>,
    /// L3 cache, MiB.
    pub l3_mib: Option<u32>,
    /// Memory bus, bits.
    pub memory_bus_bits: Option<u32>,
    /// SDMA engines.
    pub sdma_engines: Option<u32>,
    /// Accelerated compute dies.
    pub num_xcc: Option<u32>,
}

/// Constants of a graphics version (data/asics.json, "families").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Graphics version: major, minor, stepping.
    pub gfx: (u8, u8, u8),
    /// SIMDs of one compute unit.
    pub simd_per_cu: u32,
    /// Waves of one SIMD.
    pub waves_per_simd: Option<u32>,
    /// Lanes of a wave.
    pub wavefront_size: Option<u32>,
    /// LDS of one compute unit, KiB.
    pub lds_kib: u32,
    /// Scratch slots of one compute unit.
    pub scratch_slots_per_cu: Option<u32>,
    /// Address watch points.
    pub watch_points: Option<u32>,
    /// Queues of the command processor.
    pub cp_queues: Option<u32>,
    /// Vector registers of one compute unit, bytes.
    pub vgpr_bytes_per_cu: u32,
}

include!(concat!(env!("OUT_DIR"), "/asics.rs"));

/// Every entry of one device id, in file order.
pub fn entries(device_id: u16) -> impl Iterator<Item = &'static Asic> {
    let first = ASICS.partition_point(|a| a.device_id < device_id);
    ASICS[first..].iter().take_while(move |a| a.device_id == device_id)
}

/// The constants of a graphics version.
pub fn family(gfx: (u8, u8, u8)) -> Option<&'static Family> {
    FAMILIES.iter().find(|f| f.gfx == gfx)
}

/// The part of a graphics version with the most compute units, where any count is known.
pub fn largest_of(gfx: (u8, u8, u8)) -> Option<&'static Asic> {
    ASICS.iter().filter(|a| a.gfx == gfx && a.compute_units.is_some()).max_by_key(|a| a.compute_units)
}

/// How an adapter was told apart from others of its device id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// By device id and revision.
    Revision(&'static Asic),
    /// By the name that the driver gives.
    Name(&'static Asic),
    /// The id stands for one model only.
    OnlyModel(&'static Asic),
    /// The id is listed, the model is not certain, or its compute units are not known.
    Ambiguous {
        /// The listed part of this id with the most compute units, if any count is known.
        largest: Option<&'static Asic>,
    },
    /// The id is not listed.
    Unlisted,
}

/// Finds the model of an adapter: by id and revision, then by name.
///
/// Only an entry whose compute-unit count is known is a match: everything that a runtime schedules by derives
/// from it.
pub fn find(device_id: u16, revision: u8, adapter_name: &str) -> Match {
    let known = |a: &&'static Asic| a.compute_units.is_some();
    let mut of_id = entries(device_id).peekable();
    if of_id.peek().is_none() {
        return Match::Unlisted;
    }
    if let Some(exact) = entries(device_id).filter(known).find(|a| a.revision == Some(revision)) {
        return Match::Revision(exact);
    }
    let wanted = plain_name(adapter_name);
    if !wanted.is_empty() {
        let named = |a: &&'static Asic| a.names.iter().any(|n| plain_name(n) == wanted);
        if let Some(entry) = entries(device_id).filter(known).find(named) {
            return Match::Name(entry);
        }
    }
    if entries(device_id).all(|a| a.revision.is_none())
        && let Some(only) = entries(device_id).find(known)
    {
        return Match::OnlyModel(only);
    }
    Match::Ambiguous { largest: entries(device_id).filter(known).max_by_key(|a| a.compute_units) }
}

/// A marketing name without vendor, marks, case and repeated blanks: "AMD Radeon(TM) 780M" is "radeon 780m".
fn plain_name(name: &str) -> String {
    let text = name.to_lowercase().replace("(tm)", " ").replace("(r)", " ");
    let words = text.split_whitespace().filter(|w| !matches!(*w, "amd" | "ati" | "graphics"));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revision_tells_models_apart() {
        let Match::Revision(xtx) = find(0x744c, 0xc8, "whatever") else { panic!() };
        assert_eq!((xtx.compute_units, xtx.shader_engines, xtx.arrays_per_engine), (Some(96), Some(6), Some(2)));
        let Match::Revision(xt) = find(0x744c, 0xcc, "") else { panic!() };
        assert_eq!(xt.compute_units, Some(84));
    }

    #[test]
    fn name_decides_where_the_revision_is_new() {
        let Match::Name(gre) = find(0x744c, 0x01, "AMD Radeon(TM) RX 7900  GRE") else { panic!() };
        assert_eq!(gre.compute_units, Some(80));
    }

    #[test]
    fn neither_revision_nor_name_is_ambiguous_and_knows_the_largest_part() {
        let Match::Ambiguous { largest: Some(largest) } = find(0x744c, 0x01, "Something else") else { panic!() };
        assert_eq!(largest.compute_units, Some(96));
    }

    #[test]
    fn an_exact_revision_without_a_unit_count_is_ambiguous() {
        assert!(matches!(find(0x66a1, 0x02, "AMD Instinct MI60 / MI50"), Match::Ambiguous { .. }));
    }

    #[test]
    fn unknown_id_is_unlisted() {
        assert_eq!(find(0x0001, 0, "AMD Radeon RX 7900 XTX"), Match::Unlisted);
    }

    #[test]
    fn every_entry_has_its_family_and_the_table_is_sorted() {
        assert!(ASICS.len() > 500);
        assert!(ASICS.is_sorted_by_key(|a| a.device_id));
        for asic in ASICS {
            assert!(family(asic.gfx).is_some(), "{asic:?}");
        }
    }
}
