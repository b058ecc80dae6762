//! Sizes of the context save area, as the driver computes them (kfd-kernel.md 2.6, "Node numbers").

use crate::gpu::Gpu;

/// What one queue needs; all sizes in bytes, 0 for a chip that cannot save.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SaveArea {
    /// Control stack: `ctl_stack_size` of the node.
    pub control_stack: u32,
    /// Control stack and waves of one die: `cwsr_size` of the node.
    pub save: u32,
    /// Debugger area of one die.
    pub debug: u32,
    /// The whole buffer, all dies.
    pub total: u32,
}

impl SaveArea {
    /// The numbers of a GPU, with CPU pages of 4 KiB.
    pub fn of(gpu: &Gpu) -> Self {
        let chip = &gpu.chip;
        let version = (chip.gfx_major, chip.gfx_minor, chip.gfx_stepping);
        if version < (8, 0, 1) || chip.compute_units == 0 {
            return Self::default();
        }
        let dies = chip.num_xcc.max(1);
        let units = chip.compute_units / dies;
        let newest = matches!(version, (12, 5, 0 | 1));
        let waves = match version {
            old if old < (10, 1, 0) => (40 * units).min(chip.shader_engines * 512),
            _ if newest => 64 * units,
            _ => 32 * units,
        };
        let vector = match version {
            (9, 0, 8 | 10) | (9, 4, 2) | (9, 5, 0) => 0x8_0000,
            _ if newest => 0x8_0000,
            (11, 0, 0 | 1) | (11, 5, 1) | (12, 0, 0 | 1) => 0x6_0000,
            _ => 0x4_0000,
        };
        let (scalar, registers) = if newest { (0x8000, 0x8000) } else { (0x4000, 0x1000) };
        let lds = if newest || version == (9, 5, 0) { chip.lds_bytes } else { 0x1_0000 };
        let groups = (units * (vector + scalar + lds + registers)).next_multiple_of(4096);
        let per_wave = if version >= (10, 1, 0) { 12 } else { 8 };
        let stack = (40 + waves * per_wave + 8).next_multiple_of(4096);
        let control_stack = if version.0 == 10 { stack.min(0x7000) } else { stack };
        let save = (control_stack + groups).next_multiple_of(4096);
        let debug = (waves * 32).next_multiple_of(64);
        let total = ((save + debug) * dies).next_multiple_of(4096);
        Self { control_stack, save, debug, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocdxg_fake_gpu::Private;

    #[test]
    fn the_chips_of_the_table_have_its_numbers() {
        // Version, units, engines of a die, dies, LDS in KiB; control stack, save area, debugger area, total.
        let table = [
            ((9, 0, 6), 60, 4, 1, 64, [0x5000, 0x13f_1000, 0x1_0000, 0x140_1000]),
            ((9, 0, 8), 120, 8, 1, 64, [0x9000, 0x45e_1000, 0x2_0000, 0x460_1000]),
            ((9, 0, 10), 104, 8, 1, 64, [0x9000, 0x3c9_1000, 0x2_0000, 0x3cb_1000]),
            ((9, 4, 2), 304, 4, 8, 64, [0x3000, 0x162_1000, 0xbe00, 0xb16_7000]),
            ((9, 5, 0), 256, 4, 8, 160, [0x3000, 0x15a_3000, 0xa000, 0xad6_8000]),
            ((10, 3, 0), 72, 4, 1, 64, [0x7000, 0x17e_f000, 0x1_2000, 0x180_1000]),
            ((11, 0, 0), 96, 6, 1, 64, [0xa000, 0x2be_a000, 0x1_8000, 0x2c0_2000]),
            ((12, 0, 1), 64, 4, 1, 64, [0x7000, 0x1d4_7000, 0x1_0000, 0x1d5_7000]),
        ];
        for ((gfx_major, gfx_minor, gfx_stepping), compute_units, shader_engines, num_xcc, lds, sizes) in table {
            let chip = Private {
                gfx_major,
                gfx_minor,
                gfx_stepping,
                compute_units,
                shader_engines,
                num_xcc,
                lds_bytes: lds << 10,
                ..Private::default()
            };
            let SaveArea { control_stack, save, debug, total } = SaveArea::of(&Gpu { chip, ..Gpu::default() });
            assert_eq!([control_stack, save, debug, total], sizes, "gfx{gfx_major}{gfx_minor}{gfx_stepping:x}");
        }
        let chip = Private { gfx_major: 7, compute_units: 8, ..Private::default() };
        assert_eq!(SaveArea::of(&Gpu { chip, ..Gpu::default() }), SaveArea::default());
    }
}
