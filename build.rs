//! Compiles `data/asics.json` into a table, and gives the shared object its name and its symbol version.

use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    families: std::collections::BTreeMap<String, Family>,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Family {
    gfx: (u8, u8, u8),
    simd_per_cu: u32,
    waves_per_simd: Option<u32>,
    wavefront_size: Option<u32>,
    lds_kib: u32,
    max_slots_scratch_cu: Option<u32>,
    watch_points: Option<u32>,
    num_cp_queues: Option<u32>,
    vgpr_bytes_per_cu: u32,
}

#[derive(Deserialize)]
struct Entry {
    device_id: String,
    revision: Option<String>,
    marketing_name: Option<String>,
    #[serde(default)]
    other_names: Vec<String>,
    gfx: (u8, u8, u8),
    is_dgpu: bool,
    cu_count: Option<u32>,
    shader_engines: Option<u32>,
    shader_arrays_per_engine: Option<u32>,
    l1_kib: Option<u32>,
    l2_kib: Option<u32>,
    l3_mib: Option<u32>,
    memory_bus_bits: Option<u32>,
    num_sdma_engines: Option<u32>,
    num_xcc: Option<u32>,
}

fn hex(text: &str) -> u32 {
    let digits = text.strip_prefix("0x").expect("ids in data/asics.json start with 0x");
    u32::from_str_radix(digits, 16).expect("ids in data/asics.json are hexadecimal")
}

fn asic_table(json: &str) -> String {
    let mut file: File = serde_json::from_str(json).expect("data/asics.json has the layout that build.rs names");
    file.entries.sort_by_key(|e| hex(&e.device_id));
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to a String");
    line("/// Every model, sorted by device id.".into());
    line("pub static ASICS: &[Asic] = &[".into());
    for e in &file.entries {
        let names: Vec<&str> = e.marketing_name.iter().chain(&e.other_names).map(String::as_str).collect();
        line(format!(
            "Asic {{ device_id: {}, revision: {:?}, names: &{names:?}, gfx: {:?}, is_dgpu: {}, compute_units: {:?}, \
             shader_engines: {:?}, arrays_per_engine: {:?}, l1_kib: {:?}, l2_kib: {:?}, l3_mib: {:?}, \
             memory_bus_bits: {:?}, sdma_engines: {:?}, num_xcc: {:?} }},",
            hex(&e.device_id),
            e.revision.as_deref().map(|r| hex(r) as u8),
            e.gfx,
            e.is_dgpu,
            e.cu_count,
            e.shader_engines,
            e.shader_arrays_per_engine,
            e.l1_kib,
            e.l2_kib,
            e.l3_mib,
            e.memory_bus_bits,
            e.num_sdma_engines,
            e.num_xcc,
        ));
    }
    line("];".into());
    line("/// Every graphics version.".into());
    line("pub static FAMILIES: &[Family] = &[".into());
    for f in file.families.values() {
        line(format!(
            "Family {{ gfx: {:?}, simd_per_cu: {}, waves_per_simd: {:?}, wavefront_size: {:?}, lds_kib: {}, \
             scratch_slots_per_cu: {:?}, watch_points: {:?}, cp_queues: {:?}, vgpr_bytes_per_cu: {} }},",
            f.gfx,
            f.simd_per_cu,
            f.waves_per_simd,
            f.wavefront_size,
            f.lds_kib,
            f.max_slots_scratch_cu,
            f.watch_points,
            f.num_cp_queues,
            f.vgpr_bytes_per_cu,
        ));
    }
    line("];".into());
    out
}

/// One of the two libraries that are built from the sources.
struct Library {
    soname: &'static str,
    /// Version script, below the repository's root.
    script: &'static str,
}

fn main() {
    let package = std::env::var("CARGO_PKG_NAME").expect("cargo sets CARGO_PKG_NAME");
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let (root, library) = match package.as_str() {
        "hsakmt" => {
            println!("cargo:rustc-cfg=libhsakmt");
            let root = Path::new(&here).parent().expect("the package lies in a folder of the repository").to_owned();
            (root, Library { soname: "libhsakmt.so.1", script: "hsakmt/libhsakmt.ver" })
        }
        _ => (here.into(), Library { soname: "librocdxg.so.1", script: "librocdxg.ver" }),
    };
    let (table, script) = (root.join("data/asics.json"), root.join(library.script));
    for input in [&root.join("build.rs"), &table, &script] {
        println!("cargo:rerun-if-changed={}", input.display());
    }
    let json = std::fs::read_to_string(table).expect("data/asics.json is part of the repository");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("asics.rs"), asic_table(&json)).expect("OUT_DIR is writable");
    // Both the script and the `.symver` directive in each export are needed: either alone loses the version.
    // NODELETE, because callers close the library and its fork handlers must outlive that.
    for argument in
        [format!("--version-script={}", script.display()), format!("-soname,{}", library.soname), "-z,nodelete".into()]
    {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{argument}");
    }
}
