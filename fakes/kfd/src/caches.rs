//! The cache records of a GPU node, in the driver's order: vector, scalar (instructions, then data), arrays, L2, L3.

use std::fmt::Write;

use crate::gpu::Gpu;

/// `type` of data caches of a GPU: data, and of SIMDs.
const DATA: u32 = 1 | 8;
/// `type` of instruction caches of a GPU.
const INSTRUCTIONS: u32 = 2 | 8;
/// Bits of the sibling map that stand for one shader array.
const ARRAY_BITS: u32 = 32;

/// One shader array: its place in the chip, and how many of its units work.
#[derive(Clone, Copy)]
struct Array {
    index: u32,
    units: u32,
}

/// How many arrays a die has, and how many units the fullest of them.
pub(crate) fn shape(gpu: &Gpu) -> (u32, u32) {
    let arrays = (gpu.chip.shader_engines * gpu.chip.arrays_per_engine).max(1);
    (arrays, gpu.chip.compute_units.div_ceil(arrays * gpu.chip.num_xcc.max(1)))
}

/// The `properties` text of each cache; `base` is the node's `simd_id_base`.
pub(crate) fn records(gpu: &Gpu, base: u32) -> Vec<String> {
    let chip = &gpu.chip;
    let (count, width) = shape(gpu);
    let dies = chip.num_xcc.max(1);
    let units = chip.compute_units / dies;
    let arrays: Vec<Array> =
        (0..count).map(|index| Array { index, units: units / count + u32::from(index < units % count) }).collect();
    // Shared by that many units inside an array.
    let mut records = Vec::new();
    let mut within = |group: u32, kilobytes: u32, kind: u32| {
        for array in arrays.iter().cycle().take((count * dies) as usize) {
            for first in (0..array.units).step_by(group as usize) {
                let siblings = group.min(array.units - first);
                let id = base + array.index * width + first;
                records.push(record(id, 1, kilobytes, kind, &[siblings]));
            }
        }
    };
    let modern = chip.gfx_major >= 10;
    within(1, (chip.l1_bytes / 1024).max(16) as u32, DATA);
    within(2, if modern || gpu.gfx() == (9, 4) { 32 } else { 64 }, INSTRUCTIONS);
    within(2, 16, DATA);
    if let Some(kilobytes) = match chip.gfx_major {
        10 => Some(128),
        11 => Some(256),
        _ => None,
    } {
        within(width.max(1), kilobytes, DATA);
    }
    let all: Vec<u32> = arrays.iter().map(|a| a.units).collect();
    for (level, bytes) in [(2, chip.l2_bytes), (3, chip.l3_bytes)] {
        if bytes != 0 {
            records.push(record(base, level, (bytes / 1024) as u32, DATA, &all));
        }
    }
    records
}

/// `siblings` holds the working units of each array that the map covers.
fn record(processor_id_low: u32, level: u32, kilobytes: u32, kind: u32, siblings: &[u32]) -> String {
    let mut text = format!(
        "processor_id_low {processor_id_low}\nlevel {level}\nsize {kilobytes}\ncache_line_size 0\n\
         cache_lines_per_tag 0\nassociation 0\nlatency 0\ntype {kind}\nsibling_map "
    );
    for units in siblings {
        for bit in 0..ARRAY_BITS {
            // A String takes everything.
            let _ = write!(text, "{},", u32::from(bit < *units));
        }
    }
    text.pop();
    text.push('\n');
    text
}
