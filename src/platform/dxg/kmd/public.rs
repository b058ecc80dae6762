//! What Microsoft's public queries and the ASIC table can say of a GPU.
//!
//! Clocks and memory sizes come from the host alone, geometry from the table alone (data/asics/README.md).

use super::Refusal;
use crate::asic::{self, Asic, Match};
use crate::platform::dxg::d3dkmt::*;
use crate::platform::dxg::device::Adapter;
use crate::platform::dxg::dxcore::{DriverVersion, Query, zeroed};
use crate::platform::dxg::status::CallError;
use crate::platform::{GfxVersion, GpuInfo, Options};

/// PCI vendor id of AMD.
pub const VENDOR_AMD: u32 = 0x1002;

/// LDS and scratch apertures of gfx9 to gfx12.0, as the Linux driver places them (kfd-kernel.md 2.3). No public
/// query tells where the Windows driver does.
const LDS_APERTURE: u64 = 1 << 48;
const SCRATCH_APERTURE: u64 = 2 << 48;
const APERTURE_BYTES: u64 = 4 << 30;

/// PCI ids of an adapter.
pub fn device_ids(adapter: &Adapter) -> Result<D3DKMT_DEVICE_IDS, CallError> {
    let answer: D3DKMT_QUERY_DEVICE_IDS = ask(adapter)?;
    Ok(answer.DeviceIds)
}

fn ask<T: Query>(adapter: &Adapter) -> Result<T, CallError> {
    adapter.dxcore().query(adapter.handle(), zeroed::<T>())
}

/// Collects answers that a node can do without: a failing query leaves its field unknown and a remark.
struct Optional<'a> {
    adapter: &'a Adapter,
    remarks: &'a mut Vec<String>,
    who: &'a str,
}

impl Optional<'_> {
    fn keep<T>(&mut self, answer: Result<T, CallError>, without: &str) -> Option<T> {
        answer.map_err(|error| self.remarks.push(format!("{}: {error}; {without} is unknown", self.who))).ok()
    }

    fn ask<T: Query>(&mut self, without: &str) -> Option<T> {
        let answer = ask(self.adapter);
        self.keep(answer, without)
    }
}

/// Everything that the public side knows of an adapter with these ids.
///
/// Fails where a node would be useless or wrong: the memory sizes cannot be had, or [`model`] refuses. With
/// `geometry_known` a provider brings the geometry: then the table only adds to it, and only what is certain.
pub fn info(
    adapter: &Adapter,
    ids: &D3DKMT_DEVICE_IDS,
    who: &str,
    options: &Options,
    geometry_known: bool,
    remarks: &mut Vec<String>,
) -> Result<GpuInfo, InfoError> {
    let sizes: D3DKMT_SEGMENTSIZEINFO = ask(adapter)?;
    let mut optional = Optional { adapter, remarks, who };
    let name = optional.ask::<D3DKMT_ADAPTERREGISTRYINFO>("its name").map(|r| text(&r.AdapterString));
    let mut info = GpuInfo {
        luid_low: adapter.luid.LowPart,
        luid_high: adapter.luid.HighPart as u32,
        device_id: ids.DeviceID as u16,
        revision: ids.RevisionID as u8,
        product_name: name.unwrap_or_default(),
        local_bytes: sizes.DedicatedVideoMemorySize,
        non_local_bytes: sizes.SharedSystemMemorySize,
        ..GpuInfo::default()
    };
    match model(ids, &info.product_name, options) {
        Ok(Model { assumed: true, .. }) | Err(_) if geometry_known => {}
        Ok(Model { asic, assumed }) => {
            if assumed {
                optional.remarks.push(format!(
                    "{who}: model not certain; using the numbers of {} ({} CUs) because the environment asks for it",
                    asic.names.first().unwrap_or(&"a listed GPU"),
                    asic.compute_units.unwrap_or(0),
                ));
            }
            apply(asic, &mut info);
        }
        Err(refusal) => return Err(refusal.into()),
    }
    if let Some(DriverVersion(version)) = optional.ask("its driver's version") {
        info.wddm_version = version;
    }
    if let Some(at) = optional.ask::<D3DKMT_ADAPTERADDRESS>("its PCI address") {
        info.pci_location = (at.BusNumber & 0xff) << 8 | (at.DeviceNumber & 0x1f) << 3 | (at.FunctionNumber & 0x7);
    }
    if let Some(guid) = optional.ask::<D3DKMT_QUERY_ADAPTER_UNIQUE_GUID>("its unique id") {
        info.unique_id = guid_tail(&text(&guid.adapterUniqueGUID));
    }
    if let Some(perf) = optional.ask::<D3DKMT_ADAPTER_PERFDATA>("its memory clock") {
        info.memory_clock_mhz = mhz(perf.MaxMemoryFrequency);
    }
    if let Some(node) = engines(&mut optional, &mut info) {
        let input = D3DKMT_NODE_PERFDATA { NodeOrdinal: node, ..zeroed() };
        let perf = adapter.dxcore().query(adapter.handle(), input);
        if let Some(perf) = optional.keep(perf, "its engine clock") {
            info.engine_clock_mhz = mhz(perf.MaxFrequency);
        }
        let frequency = adapter.dxcore().counter_frequency(adapter.handle(), node);
        info.counter_hz = optional.keep(frequency, "its counter frequency").unwrap_or(0);
    }
    Ok(info)
}

/// Why [`info`] has no answer.
#[derive(Debug, thiserror::Error)]
pub enum InfoError {
    /// A query failed that a node cannot do without.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The adapter is not admitted.
    #[error("{0}")]
    Refused(Refusal),
}

impl From<Refusal> for InfoError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Finds the node ordinal that runs compute and counts the SDMA engines.
///
/// Compute nodes have no engine type of their own: the friendly name tells them. Where the table knows the SDMA
/// engines the search ends at the first compute node, for every node costs a call.
fn engines(optional: &mut Optional<'_>, info: &mut GpuInfo) -> Option<u32> {
    /// More nodes than any driver reports.
    const MOST: u32 = 64;
    let counted = optional.adapter.dxcore().node_count(optional.adapter.luid);
    let count = optional.keep(counted, "which engine computes")?;
    let (mut compute, mut graphics, mut copies) = (None, None, 0);
    for node in 0..count.min(MOST) {
        if compute.is_some() && info.sdma_engines != 0 {
            break;
        }
        let input = D3DKMT_NODEMETADATA { NodeOrdinalAndAdapterIndex: node, ..zeroed() };
        let answer = optional.adapter.dxcore().query(optional.adapter.handle(), input);
        let data = optional.keep(answer, "one of its engines")?;
        let (kind, name) = (data.EngineType, text(&{ data.FriendlyName }).to_lowercase());
        match kind {
            engine_type::COPY => copies += 1,
            engine_type::THREE_D => graphics = graphics.or(Some(node)),
            _ if name.contains("compute") => compute = compute.or(Some(node)),
            _ => {}
        }
    }
    if info.sdma_engines == 0 {
        info.sdma_engines = copies;
    }
    compute.or(graphics)
}

/// The table entry that an adapter goes by.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// The entry.
    pub asic: &'static Asic,
    /// It stands in for a model that is not certain.
    pub assumed: bool,
}

/// Chooses the table entry of an adapter, or says why there is none.
///
/// An adapter whose model is not certain is admitted by the opt-in or by a well-formed HSA_OVERRIDE_GFX_VERSION
/// (dxg.md 2.2) and then takes the numbers of the largest listed part: whoever sizes scratch memory by them reserves
/// enough.
pub fn model(ids: &D3DKMT_DEVICE_IDS, name: &str, options: &Options) -> Result<Model, Refusal> {
    let admit = options.admit_unlisted || options.gfx_override.is_some();
    let assumed = |asic| Ok(Model { asic, assumed: true });
    match asic::find(ids.DeviceID as u16, ids.RevisionID as u8, name) {
        Match::Revision(asic) | Match::Name(asic) | Match::OnlyModel(asic) => Ok(Model { asic, assumed: false }),
        Match::Ambiguous { .. } if !admit => Err(Refusal::Ambiguous),
        Match::Ambiguous { largest: Some(asic) } => assumed(asic),
        Match::Ambiguous { largest: None } => match asic::entries(ids.DeviceID as u16).next().map(|a| a.gfx) {
            Some(gfx) => asic::largest_of(gfx).map_or(Err(Refusal::NoNumbers), assumed),
            None => Err(Refusal::NoNumbers),
        },
        Match::Unlisted if !admit => Err(Refusal::Unlisted),
        Match::Unlisted => match options.gfx_override {
            Some(GfxVersion { major, minor, stepping }) => {
                asic::largest_of((major, minor, stepping)).map_or(Err(Refusal::NoNumbers), assumed)
            }
            None => Err(Refusal::NoGraphicsVersion),
        },
    }
}

/// Fills the geometry from the table.
fn apply(asic: &Asic, info: &mut GpuInfo) {
    let (major, minor, stepping) = asic.gfx;
    info.gfx = GfxVersion { major, minor, stepping };
    info.is_dgpu = asic.is_dgpu;
    info.compute_units = asic.compute_units.unwrap_or(0);
    info.shader_engines = asic.shader_engines.unwrap_or(0);
    info.arrays_per_engine = asic.arrays_per_engine.unwrap_or(0);
    info.num_xcc = asic.num_xcc.unwrap_or(1);
    info.sdma_engines = asic.sdma_engines.unwrap_or(0);
    info.memory_bus_bits = asic.memory_bus_bits.unwrap_or(0);
    info.l1_bytes = kib(asic.l1_kib);
    info.l2_bytes = kib(asic.l2_kib);
    info.l3_bytes = kib(asic.l3_mib) << 10;
    if info.product_name.is_empty() {
        info.product_name = asic.names.first().copied().unwrap_or_default().to_owned();
    }
    if let Some(family) = asic::family(asic.gfx) {
        info.simd_per_cu = family.simd_per_cu;
        info.waves_per_cu = family.simd_per_cu * family.waves_per_simd.unwrap_or(0);
        info.wavefront_size = family.wavefront_size.unwrap_or(0);
        info.lds_bytes = family.lds_kib << 10;
        info.scratch_slots_per_cu = family.scratch_slots_per_cu.unwrap_or(0);
        info.watch_points = family.watch_points.unwrap_or(0);
        info.cp_queues = family.cp_queues.unwrap_or(0);
    }
    if info.gfx.major >= 9 {
        info.lds_aperture = LDS_APERTURE;
        info.scratch_aperture = SCRATCH_APERTURE;
        info.scratch_aperture_bytes = APERTURE_BYTES;
    }
}

fn kib(size: Option<u32>) -> u64 {
    u64::from(size.unwrap_or(0)) << 10
}

fn mhz(hz: u64) -> u32 {
    u32::try_from(hz / 1_000_000).unwrap_or(0)
}

/// The text of a wide string: up to its end mark, whatever is no character replaced.
pub fn text(wide: &[WCHAR]) -> String {
    let characters = wide.iter().take_while(|&&unit| unit != 0);
    let text: String = characters.map(|&unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.trim().to_owned()
}

/// The last 64 bits of a GUID in text form; 0 when it is not one.
fn guid_tail(guid: &str) -> u64 {
    let digits: String = guid.chars().filter(char::is_ascii_hexdigit).collect();
    if digits.len() == 32 { u64::from_str_radix(&digits[16..], 16).unwrap_or(0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(device: u32, revision: u32) -> D3DKMT_DEVICE_IDS {
        D3DKMT_DEVICE_IDS {
            VendorID: VENDOR_AMD,
            DeviceID: device,
            SubVendorID: 0,
            SubSystemID: 0,
            RevisionID: revision,
            BusType: 0,
        }
    }

    fn opt_in() -> Options {
        Options { admit_unlisted: true, ..Options::default() }
    }

    #[test]
    fn a_certain_model_needs_no_opt_in() {
        let found = model(&ids(0x744c, 0xc8), "", &Options::default()).unwrap();
        assert!(!found.assumed);
        assert_eq!(found.asic.compute_units, Some(96));
    }

    #[test]
    fn an_uncertain_model_is_refused_and_admitted_as_the_largest_part() {
        assert_eq!(model(&ids(0x744c, 1), "?", &Options::default()), Err(Refusal::Ambiguous));
        let found = model(&ids(0x744c, 1), "?", &opt_in()).unwrap();
        assert!(found.assumed);
        assert_eq!(found.asic.compute_units, Some(96));
    }

    #[test]
    fn an_unlisted_id_needs_a_graphics_version() {
        assert_eq!(model(&ids(1, 0), "?", &Options::default()), Err(Refusal::Unlisted));
        assert_eq!(model(&ids(1, 0), "?", &opt_in()), Err(Refusal::NoGraphicsVersion));
        let gfx = GfxVersion { major: 11, minor: 0, stepping: 0 };
        let found = model(&ids(1, 0), "?", &Options { gfx_override: Some(gfx), ..Options::default() }).unwrap();
        assert_eq!((found.asic.gfx, found.assumed), ((11, 0, 0), true));
    }

    #[test]
    fn wide_text_survives_what_is_not_text() {
        assert_eq!(text(&[0x41, 0xd800, 0x11_0000, 0x42, 0, 0x43]), "A\u{fffd}\u{fffd}B");
        assert_eq!(text(&[0x20; 4]), "");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn guid_gives_its_last_64_bits() {
        assert_eq!(guid_tail("{01234567-89AB-CDEF-0123-456789ABCDEF}"), 0x0123_4567_89AB_CDEF);
        assert_eq!(guid_tail("{0123}"), 0);
    }
}
