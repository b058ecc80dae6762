//! GPUs whose kernels may not name their graphics version, and the names that callers know them by (kfd.md 2.6).
//!
//! One line per chip: its graphics version, `AMDName`, and the PCI ids that stand for it. Newer chips are not here:
//! the kernel names their version and `AMDName` is derived from it.

use super::super::GfxVersion;

/// A chip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model {
    gfx: (u8, u8, u8),
    /// `HsaNodeProperties::AMDName`.
    pub(super) name: &'static str,
    ids: &'static [u16],
}

impl Model {
    /// Graphics version of the chip.
    pub(super) fn gfx(&self) -> GfxVersion {
        let (major, minor, stepping) = self.gfx;
        GfxVersion { major, minor, stepping }
    }
}

const fn model(gfx: (u8, u8, u8), name: &'static str, ids: &'static [u16]) -> Model {
    Model { gfx, name, ids }
}

#[rustfmt::skip]
static MODELS: &[Model] = &[
    model((7, 0, 0), "Spectre", &[
        0x1304, 0x1305, 0x1306, 0x1307, 0x1309, 0x130a, 0x130b, 0x130c, 0x130d, 0x130e, 0x130f, 0x1310, 0x1311, 0x1313,
        0x1315, 0x1318, 0x131b, 0x131c, 0x131d,
    ]),
    model((7, 0, 0), "Spooky", &[0x1312, 0x1316, 0x1317]),
    model((7, 0, 1), "Hawaii", &[
        0x67a0, 0x67a1, 0x67a2, 0x67a8, 0x67a9, 0x67aa, 0x67b0, 0x67b1, 0x67b8, 0x67b9, 0x67ba, 0x67be,
    ]),
    model((8, 0, 1), "Carrizo", &[0x9870, 0x9874, 0x9875, 0x9876, 0x9877]),
    model((8, 0, 2), "Tonga", &[0x6920, 0x6921, 0x6928, 0x6929, 0x692b, 0x692f, 0x6930, 0x6938, 0x6939]),
    model((8, 0, 3), "Fiji", &[0x7300, 0x730f]),
    model((8, 0, 3), "Polaris10", &[
        0x67c0, 0x67c1, 0x67c2, 0x67c4, 0x67c7, 0x67c8, 0x67c9, 0x67ca, 0x67cc, 0x67cf, 0x67d0, 0x67df, 0x6fdf,
    ]),
    model((8, 0, 3), "Polaris11", &[0x67e0, 0x67e1, 0x67e3, 0x67e7, 0x67e8, 0x67e9, 0x67eb, 0x67ef, 0x67ff]),
    model((8, 0, 3), "Polaris12", &[0x6980, 0x6981, 0x6985, 0x6986, 0x6987, 0x6995, 0x6997, 0x699f]),
    model((8, 0, 3), "VegaM", &[0x694c, 0x694e, 0x694f]),
    model((9, 0, 0), "Vega10", &[
        0x6860, 0x6861, 0x6862, 0x6863, 0x6864, 0x6867, 0x6868, 0x6869, 0x686a, 0x686b, 0x686c, 0x686d, 0x686e, 0x687f,
    ]),
    model((9, 0, 2), "Raven", &[0x15d8, 0x15dd]),
    model((9, 0, 4), "Vega12", &[0x69a0, 0x69a1, 0x69a2, 0x69a3, 0x69af]),
    model((9, 0, 6), "Vega20", &[0x66a0, 0x66a1, 0x66a2, 0x66a3, 0x66a4, 0x66a7, 0x66af]),
    model((9, 0, 8), "Arcturus", &[0x7388, 0x738c, 0x738e, 0x7390]),
    model((9, 0, 10), "Aldebaran", &[0x7408, 0x740c, 0x740f, 0x7410]),
    model((9, 0, 12), "Renoir", &[0x15e7, 0x1636, 0x1638, 0x164c]),
    model((10, 1, 0), "Navi10", &[0x7310, 0x7312, 0x7318, 0x731a, 0x731e, 0x731f]),
    model((10, 1, 1), "Navi12", &[0x7360, 0x7362]),
    model((10, 1, 2), "Navi14", &[0x7340, 0x7341, 0x7347]),
    model((10, 1, 3), "cyan_skillfish", &[0x13f9, 0x13fa, 0x13fb, 0x13fc, 0x13fe, 0x143f]),
    model((10, 3, 0), "SIENNA_CICHLID", &[
        0x73a0, 0x73a1, 0x73a2, 0x73a3, 0x73a5, 0x73a8, 0x73a9, 0x73ab, 0x73ac, 0x73ad, 0x73ae, 0x73bf,
    ]),
    model((10, 3, 1), "NAVY_FLOUNDER", &[
        0x73c0, 0x73c1, 0x73c3, 0x73da, 0x73db, 0x73dc, 0x73dd, 0x73de, 0x73df,
    ]),
    model((10, 3, 2), "DIMGREY_CAVEFISH", &[
        0x73e0, 0x73e1, 0x73e2, 0x73e8, 0x73e9, 0x73ea, 0x73eb, 0x73ec, 0x73ed, 0x73ef, 0x73ff,
    ]),
    model((10, 3, 3), "VanGogh", &[0x163f]),
    model((10, 3, 4), "BEIGE_GOBY", &[0x7420, 0x7421, 0x7422, 0x7423, 0x743f]),
    model((10, 3, 5), "YELLOW_CARP", &[0x164d, 0x1681]),
];

/// The chip that a PCI device id stands for.
pub(super) fn find(device_id: u16) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.ids.contains(&device_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asic;

    #[test]
    fn every_id_stands_for_one_chip() {
        let mut ids: Vec<u16> = MODELS.iter().flat_map(|model| model.ids).copied().collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), count), (count, 180));
    }

    #[test]
    fn versions_agree_with_the_asic_table() {
        let mut compared = 0;
        for model in MODELS {
            for entry in model.ids.iter().flat_map(|id| asic::entries(*id)) {
                assert_eq!(entry.gfx, model.gfx, "{model:?}");
                compared += 1;
            }
        }
        assert!(compared > 90, "{compared}");
    }
}
