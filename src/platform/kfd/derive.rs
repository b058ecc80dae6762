//! What follows from the keys of a GPU node: graphics version, names, register sizes (kfd.md 2.4 "Derived").

use super::super::{GfxVersion, name};
use super::drm::{Graphics, ProductNames};
use super::models;
use super::records::NodeRecord;
use crate::abi::{HSA_CAPABILITY, HsaNodeProperties};
use crate::asic;

/// Register file of the scalar unit, bytes per compute unit.
const SGPR_BYTES: u32 = 0x4000;

/// What libdrm calls a GPU that its list does not have.
const UNLISTED: &str = "AMD Radeon Graphics";

/// The graphics version of a GPU and the name that goes with it.
///
/// Up to major 10 the model that the device id stands for has the last word, as the kernel's number and name came
/// later than those chips. `None`: neither the kernel nor a table knows the device.
pub(super) fn identify(device_id: u16, named: Option<GfxVersion>) -> Option<(GfxVersion, String)> {
    if named.is_none_or(|gfx| gfx.major <= 10)
        && let Some(model) = models::find(device_id)
    {
        return Some((model.gfx(), model.name.to_owned()));
    }
    let listed = || {
        let (major, minor, stepping) = asic::entries(device_id).next()?.gfx;
        Some(GfxVersion { major, minor, stepping })
    };
    named.or_else(listed).map(|gfx| (gfx, name::numbered(gfx)))
}

/// Completes the properties of a node with SIMDs.
pub(super) fn gpu(record: &NodeRecord, gfx: GfxVersion, amd_name: &str) -> HsaNodeProperties {
    let mut node = record.properties;
    // Arrays that do not divide evenly, or none: as unknown as the division.
    node.NumShaderBanks = record.array_count.checked_div(node.NumArrays).unwrap_or(0);
    node.NumXcc = node.NumXcc.max(1);
    node.EngineId = gfx.in_engine_id(node.EngineId);
    node.SGPRSizePerCU = SGPR_BYTES;
    node.VGPRSizePerCU = vgpr_bytes(gfx);
    node.AMDName = name::ascii(amd_name);
    node.MarketingName = name::wide(marketing_name(node.DeviceId));
    node
}

/// Puts in what the graphics driver knows better than the tree: family, whether the GPU is part of a CPU, its clock,
/// and with its revision its name.
pub(super) fn graphics(node: &mut HsaNodeProperties, graphics: Graphics, names: &ProductNames) {
    node.FamilyID = graphics.family;
    node.Integrated = graphics.integrated.into();
    node.WallClockKHz = graphics.counter_khz.into();
    match names.of(graphics.device_id, graphics.revision) {
        Some(product) => node.MarketingName = name::wide(product),
        None if { node.MarketingName }[0] == 0 => node.MarketingName = name::wide(UNLISTED),
        None => {} // The table of models knows more than libdrm.
    }
}

/// `capability` without the SVM API.
pub(super) fn without_svm(capability: HSA_CAPABILITY) -> HSA_CAPABILITY {
    capability.with(HSA_CAPABILITY::SVMAPISupported, 0)
}

/// Register file of the vector units, bytes per compute unit.
fn vgpr_bytes(gfx: GfxVersion) -> u32 {
    match (gfx.major, gfx.minor, gfx.stepping) {
        (9, 4, 0..=2) | (9, 5, 0) | (9, 0, 8 | 10) => 0x80000,
        (11 | 12, 0, 0 | 1) => 0x60000,
        _ => 0x40000,
    }
}

/// The name under which a device is sold; empty where one id stands for several models, as the revision, which
/// would tell them apart, is not in the tree.
fn marketing_name(device_id: u16) -> &'static str {
    let mut names = asic::entries(device_id).filter(|e| e.revision.is_some()).map(|e| e.names);
    let Some(first) = names.next() else { return "" };
    if names.all(|other| other == first) { first.first().copied().unwrap_or("") } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn gfx(major: u8, minor: u8, stepping: u8) -> GfxVersion {
        GfxVersion { major, minor, stepping }
    }

    #[test]
    fn the_model_wins_up_to_major_ten_and_the_kernel_beyond() {
        let named = |id, version| identify(id, version).expect("known");
        assert_eq!(named(0x6860, None), (gfx(9, 0, 0), "Vega10".into()));
        assert_eq!(named(0x740f, Some(gfx(9, 0, 10))), (gfx(9, 0, 10), "Aldebaran".into()));
        assert_eq!(named(0x67b0, Some(gfx(7, 0, 0))), (gfx(7, 0, 1), "Hawaii".into()));
        assert_eq!(named(0x731f, Some(gfx(10, 1, 0))), (gfx(10, 1, 0), "Navi10".into()));
        assert_eq!(named(0x74a1, Some(gfx(9, 4, 2))), (gfx(9, 4, 2), "GFX090402".into()));
        assert_eq!(named(0x6860, Some(gfx(11, 0, 0))), (gfx(11, 0, 0), "GFX0b0000".into()));
        assert_eq!(named(0xffff, Some(gfx(12, 0, 1))), (gfx(12, 0, 1), "GFX0c0001".into()));
        assert_eq!(named(0x686f, None), (gfx(9, 0, 0), "GFX090000".into()), "in the ASIC table only");
        assert_eq!(identify(0xffff, None), None);
    }

    #[test]
    fn register_files_by_version() {
        for version in [gfx(9, 4, 0), gfx(9, 4, 1), gfx(9, 4, 2), gfx(9, 5, 0), gfx(9, 0, 10), gfx(9, 0, 8)] {
            assert_eq!(vgpr_bytes(version), 0x80000, "{version:?}");
        }
        for version in [gfx(11, 0, 0), gfx(11, 0, 1), gfx(12, 0, 0), gfx(12, 0, 1)] {
            assert_eq!(vgpr_bytes(version), 0x60000, "{version:?}");
        }
        for version in [gfx(9, 0, 0), gfx(9, 0, 6), gfx(9, 4, 3), gfx(10, 3, 0), gfx(11, 0, 2), gfx(11, 5, 1)] {
            assert_eq!(vgpr_bytes(version), 0x40000, "{version:?}");
        }
    }

    #[test]
    fn a_gpu_that_no_list_has_is_called_what_libdrm_calls_it() {
        let called = |device_id: u16| {
            let mut node =
                HsaNodeProperties { MarketingName: name::wide(marketing_name(device_id)), ..HsaNodeProperties::ZERO };
            graphics(
                &mut node,
                Graphics { device_id: device_id.into(), ..Graphics::default() },
                &ProductNames::default(),
            );
            node.MarketingName
        };
        assert_eq!(called(0x744c), name::wide("AMD Radeon Graphics"));
        assert_eq!(called(0x740f), name::wide("AMD Instinct MI210"), "the table has one model of that id");
    }

    #[test]
    fn a_marketing_name_needs_an_id_of_one_model() {
        assert_eq!(marketing_name(0x740f), "AMD Instinct MI210");
        assert_eq!(marketing_name(0x744c), "");
        assert_eq!(marketing_name(0xffff), "");
    }
}
