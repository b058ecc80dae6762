//! Fields of registers: 2.4, 4.4 and 4.5, by generation.

use rocdxg::pm4::register_fields::*;
use rocdxg::pm4::{Field, Gfx, registers};

/// The field with this name on a generation, as lowest and highest bit.
fn bits(fields: &[Field], gfx: Gfx, name: &str) -> Option<(u32, u32)> {
    let found = fields.iter().find(|field| field.name == name && field.exists_on(gfx))?;
    Some((found.shift, found.shift + found.width - 1))
}

#[test]
fn fields_are_where_the_reference_has_them() {
    let [nine, ten, eleven, twelve] = Gfx::ALL;
    for (fields, gfx, name, expected) in [
        (compute_pgm_rsrc1::ALL, eleven, "VGPRS", Some((0, 5))),
        (compute_pgm_rsrc1::ALL, eleven, "SGPRS", Some((6, 9))),
        (compute_pgm_rsrc1::ALL, eleven, "PRIORITY", Some((10, 11))),
        (compute_pgm_rsrc1::ALL, eleven, "FLOAT_MODE", Some((12, 19))),
        (compute_pgm_rsrc1::ALL, eleven, "PRIV", Some((20, 20))),
        (compute_pgm_rsrc1::ALL, eleven, "DX10_CLAMP", Some((21, 21))),
        (compute_pgm_rsrc1::ALL, twelve, "DX10_CLAMP", None),
        (compute_pgm_rsrc1::ALL, twelve, "WG_RR_EN", Some((21, 21))),
        (compute_pgm_rsrc1::ALL, twelve, "DISABLE_PERF", Some((23, 23))),
        (compute_pgm_rsrc1::ALL, eleven, "WGP_MODE", Some((29, 29))),
        (compute_pgm_rsrc1::ALL, eleven, "FWD_PROGRESS", Some((31, 31))),
        (compute_pgm_rsrc2::ALL, ten, "SCRATCH_EN", Some((0, 0))),
        (compute_pgm_rsrc2::ALL, ten, "USER_SGPR", Some((1, 5))),
        (compute_pgm_rsrc2::ALL, ten, "TIDIG_COMP_CNT", Some((11, 12))),
        (compute_pgm_rsrc2::ALL, ten, "LDS_SIZE", Some((15, 23))),
        (compute_pgm_rsrc3::ALL, ten, "INST_PREF_SIZE", None),
        (compute_pgm_rsrc3::ALL, eleven, "INST_PREF_SIZE", Some((4, 9))),
        (compute_pgm_rsrc3::ALL, twelve, "INST_PREF_SIZE", Some((4, 11))),
        (compute_pgm_rsrc3::ALL, twelve, "GLG_EN", Some((13, 13))),
        (compute_pgm_rsrc3::ALL, eleven, "IMAGE_OP", Some((31, 31))),
        (compute_resource_limits::ALL, nine, "WAVES_PER_SH", Some((0, 9))),
        (compute_resource_limits::ALL, nine, "TG_PER_CU", Some((12, 15))),
        (compute_tmpring_size::ALL, nine, "WAVES", Some((0, 11))),
        (compute_tmpring_size::ALL, nine, "WAVESIZE", Some((12, 24))),
        (compute_tmpring_size::ALL, ten, "WAVESIZE", Some((12, 24))),
        (compute_tmpring_size::ALL, eleven, "WAVESIZE", Some((12, 26))),
        (compute_tmpring_size::ALL, twelve, "WAVESIZE", Some((12, 29))),
        (grbm_gfx_index::ALL, eleven, "INSTANCE_INDEX", Some((0, 7))),
        (grbm_gfx_index::ALL, twelve, "INSTANCE_INDEX", Some((0, 6))),
        (grbm_gfx_index::ALL, eleven, "SA_INDEX", Some((8, 15))),
        (grbm_gfx_index::ALL, twelve, "SA_INDEX", Some((8, 9))),
        (grbm_gfx_index::ALL, eleven, "SE_INDEX", Some((16, 23))),
        (grbm_gfx_index::ALL, twelve, "SE_INDEX", Some((16, 19))),
        (cp_perfmon_cntl::ALL, ten, "PERFMON_ENABLE_MODE", Some((8, 9))),
        (sq_perfcounter_select::ALL, ten, "PERF_SEL", Some((0, 8))),
        (sq_perfcounter_select::ALL, eleven, "SPM_MODE", Some((20, 23))),
        (sq_perfcounter_select::ALL, eleven, "PERF_MODE", Some((28, 31))),
        (sq_perfcounter_ctrl::ALL, ten, "VS_EN", Some((1, 1))),
        (sq_perfcounter_ctrl::ALL, eleven, "VS_EN", None),
        (sq_perfcounter_ctrl::ALL, eleven, "CS_EN", Some((6, 6))),
        (gl2c_perfcounter_select::ALL, ten, "PERF_SEL1", Some((10, 19))),
        (gl2c_perfcounter_select::ALL, ten, "CNTR_MODE", Some((20, 23))),
        (tcp_perfcounter_select::ALL, ten, "PERF_SEL", Some((0, 9))),
        (grbm_perfcounter_select::ALL, ten, "PERF_SEL", Some((0, 5))),
    ] {
        assert_eq!(bits(fields, gfx, name), expected, "{gfx} {name}");
    }
}

/// 4.4: what counts all kinds of shader is 0x7f on gfx10 and 0x55 later.
#[test]
fn every_kind_of_shader() {
    for (gfx, all) in [(Gfx::Gfx10, 0x7f), (Gfx::Gfx11, 0x55), (Gfx::Gfx12, 0x55)] {
        let kinds = sq_perfcounter_ctrl::ALL.iter().filter(|field| field.exists_on(gfx) && field.width == 1);
        assert_eq!(kinds.fold(0, |word, field| word | field.mask()), all, "{gfx}");
    }
}

#[test]
fn fields_of_a_generation_do_not_overlap() {
    for gfx in Gfx::ALL {
        for run in registers::ALL.iter().filter(|run| run.exists_on(gfx)) {
            let mut taken = 0;
            for field in run.fields.iter().filter(|field| field.exists_on(gfx)) {
                assert_eq!(taken & field.mask(), 0, "{gfx} {} {}", run.before, field.name);
                taken |= field.mask();
                let largest = field.get(u32::MAX);
                assert_eq!(field.set(0, largest), Some(field.mask()));
                assert_eq!(field.set(u32::MAX, 0), Some(!field.mask()));
            }
        }
    }
}
