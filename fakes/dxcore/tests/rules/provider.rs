//! The private blob and the provider that decodes it.

use std::ffi::{CStr, c_void};

use dxcore::control;
use dxcore::d3dkmt::*;
use dxcore::vtable::*;

use crate::kit::*;

fn provider() -> &'static rocdxg_kmd_provider {
    let entry = dxcore::lookup("rocdxg_kmd_get_provider").unwrap();
    // SAFETY: the entry point has this form.
    let entry: rocdxg_kmd_get_provider_fn = unsafe { std::mem::transmute(entry) };
    // SAFETY: any number may be passed; the table of the one version that is spoken lives for ever.
    unsafe {
        assert!(entry(0).is_null() && entry(2).is_null());
        &*entry(ROCDXG_KMD_VERSION)
    }
}

fn door(adapter: u32) -> rocdxg_kmd_adapter {
    let query = dxcore::lookup("D3DKMTQueryAdapterInfo").unwrap();
    // SAFETY: the entry point has this form.
    let query: unsafe extern "C" fn(*mut c_void) -> i32 = unsafe { std::mem::transmute(query) };
    rocdxg_kmd_adapter {
        struct_size: size_of::<rocdxg_kmd_adapter>() as u32,
        adapter,
        luid_low: 0,
        luid_high: 0,
        query_adapter_info: Some(query),
    }
}

fn info(adapter: u32, room: usize) -> (Status, rocdxg_kmd_adapter_info) {
    let adapter = door(adapter);
    // SAFETY: the structure holds integers only.
    let mut info: rocdxg_kmd_adapter_info = unsafe { std::mem::zeroed() };
    info.struct_size = room as u32;
    // SAFETY: both are valid and `room` is at most the size of `info`.
    let status = unsafe { provider().get_adapter_info.unwrap()(&raw const adapter, &raw mut info) };
    (status, info)
}

const WHOLE: usize = size_of::<rocdxg_kmd_adapter_info>();

#[test]
fn the_provider_tells_what_the_machine_file_says() {
    let _bench = machine("gfx1100");
    let table = provider();
    assert_eq!((table.struct_size as usize, table.version), (size_of::<rocdxg_kmd_provider>(), 1));
    // SAFETY: the name is a C string.
    assert_eq!(unsafe { CStr::from_ptr(table.name) }, c"rocdxg-fake");
    let adapter = adapter();
    let (status, info) = info(adapter, WHOLE);
    assert_eq!((status, info.struct_size as usize), (OK, WHOLE));
    assert_eq!((info.gfx_major, info.gfx_minor, info.gfx_stepping), (11, 0, 0));
    assert_eq!((info.compute_units, info.shader_engines, info.arrays_per_engine), (96, 6, 2));
    assert_eq!((info.flags, info.flags_known), (3, 15));
    assert_eq!((info.lds_aperture, info.big_page_alignment), (1 << 48, 2 << 20));
    assert_eq!((info.device_id, info.local_bytes), (0, 0), "what public queries tell is left to them");
    // SAFETY: the name ends with a zero byte, since it is shorter than the field.
    assert_eq!(unsafe { CStr::from_ptr(info.product_name.as_ptr()) }, c"AMD Radeon RX 7900 XTX");
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn nothing_is_written_beyond_what_the_caller_knows() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let room = std::mem::offset_of!(rocdxg_kmd_adapter_info, compute_units);
    let (status, short) = info(adapter, room);
    assert_eq!((status, short.struct_size as usize, short.gfx_major), (OK, room, 11));
    assert_eq!((short.compute_units, short.product_name[0]), (0, 0));
    assert_eq!(info(adapter, 3).0, IP);
    // SAFETY: null is checked.
    assert_eq!(unsafe { provider().get_adapter_info.unwrap()(std::ptr::null(), std::ptr::null_mut()) }, IP);
    assert_eq!(close(adapter), OK);
}

#[test]
fn only_models_with_a_private_part_are_supported() {
    let supported = provider().query_adapter_supported.unwrap();
    // SAFETY: any numbers may be passed.
    let ask = |v, d, r| unsafe { supported(v, d, r) };
    let _bench = machine("gfx1100");
    assert_eq!([ask(0x1002, 0x744c, 0xc8), ask(0x1002, 0x744c, 0xcc), ask(0x10de, 0x744c, 0xc8)], [1, 0, 0]);
    drop(_bench);
    let _bench = machine_of(&variant(&[("[adapter.private]", "[adapter.private]\nunsupported = 1")]));
    assert_eq!(ask(0x1002, 0x744c, 0xc8), 0);
    drop(_bench);
    let _bench = machine("unlisted");
    assert_eq!(ask(0x1002, 0x744c, 1), 0);
    let adapter = adapter();
    assert_eq!(info(adapter, WHOLE).0, IP, "this driver knows no private query");
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn statuses_of_the_decoder_come_on_request() {
    for (text, status) in [("0xC0000034", 0xC000_0034_u32), ("0xC0000059", 0xC000_0059), ("0xC00000BB", 0xC000_00BB)] {
        let private = format!("[adapter.private]\nstatus = \"{text}\"");
        let _bench = machine_of(&variant(&[("[adapter.private]", &private)]));
        let adapter = adapter();
        let (found, untouched) = info(adapter, WHOLE);
        assert_eq!((found, untouched.compute_units), (status as Status, 0));
        assert_eq!(close(adapter), OK);
    }
    let _bench = machine("private-refused");
    let records = adapters(1);
    let found: Vec<Status> = records.iter().map(|r| info(r.hAdapter, WHOLE).0).collect();
    assert_eq!(found, [ntstatus::REVISION_MISMATCH, OK]);
    for record in records {
        assert_eq!(close(record.hAdapter), OK);
    }
}

#[test]
fn the_driver_checks_a_private_request_field_by_field() {
    use rocdxg_fake_gpu::private;
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let send = |mut blob: Vec<u8>| {
        let before = blob.clone();
        let status = query_args(&mut D3DKMT_QUERYADAPTERINFO {
            hAdapter: adapter,
            Type: kmtqaitype::UMDRIVERPRIVATE,
            pPrivateDriverData: blob.as_mut_ptr().cast(),
            PrivateDriverDataSize: blob.len() as u32,
        });
        assert_eq!(blob == before, status != OK, "the buffer changes on success only");
        status
    };
    let changed = |offset: usize| {
        let mut blob = private::request();
        blob[offset] ^= 1;
        blob
    };
    assert_eq!(send(private::request()), OK);
    assert_eq!(send(private::request()[..private::SIZE - 4].to_vec()), BTS);
    assert_eq!(send(changed(4)), IP, "another version is no fault");
    violations_are(&[]);
    let wrong = [0, 8, 12, 16, 20, private::HEADER, private::SIZE - 1];
    for offset in wrong {
        assert_eq!(send(changed(offset)), IP, "{offset}");
    }
    assert_eq!(send([private::request(), vec![0]].concat()), IP);
    violations_are(&["private data"; 8]);
    assert!(control::fail("QueryAdapterInfo/0", 1, Some(NM)));
    assert_eq!(info(adapter, WHOLE).0, NM);
    assert_eq!(close(adapter), OK);
}

/// An allocation of two entries, as a thunk describes it.
fn two_entries() -> rocdxg_kmd_allocation {
    rocdxg_kmd_allocation {
        struct_size: size_of::<rocdxg_kmd_allocation>() as u32,
        domain: ROCDXG_KMD_DOMAIN_LOCAL,
        memory_flags: ROCDXG_KMD_MEMORY_FINE_GRAIN,
        engine_flags: 0,
        bytes: 3 << 12,
        address: 1 << 40,
        count: 2,
        reserved0: 0,
    }
}

fn sizes(asked: &rocdxg_kmd_allocation) -> (Status, rocdxg_kmd_allocation_sizes) {
    let size = size_of::<rocdxg_kmd_allocation_sizes>() as u32;
    let mut sizes = rocdxg_kmd_allocation_sizes { struct_size: size, driver_bytes: 7, entry_bytes: 7, reserved0: 7 };
    // SAFETY: all three say their size and outlive the call.
    let status = unsafe { provider().get_allocation_sizes.unwrap()(&door(1), asked, &mut sizes) };
    (status, sizes)
}

#[test]
fn the_provider_writes_blobs_that_name_every_property_and_reads_them_back() {
    use rocdxg_fake_gpu::allocation::{Blob, KIND_ENTRY, KIND_WHOLE, SIZE};
    let asked = two_entries();
    let (status, sizes) = sizes(&asked);
    assert_eq!((status, sizes.driver_bytes as usize, sizes.entry_bytes as usize), (OK, SIZE, SIZE));
    let fill = provider().fill_allocation.unwrap();
    let (mut whole, mut entries) = ([0_u8; SIZE + 1], [[0_u8; SIZE + 1]; 2]);
    // SAFETY: the structures say their size and the buffers have what the provider asked for.
    unsafe {
        assert_eq!(fill(&door(1), &asked, 0, 0, 8192, whole.as_mut_ptr().cast(), entries[0].as_mut_ptr().cast()), OK);
        let last = entries[1].as_mut_ptr().cast();
        assert_eq!(fill(&door(1), &asked, 1, 8192, 4096, std::ptr::null_mut(), last), OK);
        // Beyond the end, no such entry, nowhere to write, no blob of the whole.
        assert_eq!(fill(&door(1), &asked, 1, 8192, 4097, std::ptr::null_mut(), last), IP);
        assert_eq!(fill(&door(1), &asked, 2, 0, 4096, std::ptr::null_mut(), last), IP);
        assert_eq!(fill(&door(1), &asked, 1, 8192, 4096, std::ptr::null_mut(), std::ptr::null_mut()), IP);
        assert_eq!(fill(&door(1), &asked, 0, 0, 4096, std::ptr::null_mut(), last), IP);
    }
    assert_eq!((whole[SIZE], entries[0][SIZE], entries[1][SIZE]), (0, 0, 0), "no byte too many");
    let read = Blob::decode(&whole[..SIZE]).unwrap();
    assert_eq!((read.kind, read.bytes, read.address, read.count), (KIND_WHOLE, 3 << 12, 1 << 40, 2));
    let read = Blob::decode(&entries[1][..SIZE]).unwrap();
    assert_eq!((read.kind, read.index, read.offset, read.bytes), (KIND_ENTRY, 1, 8192, 4096));
    assert_eq!((read.domain, read.memory_flags, read.granted), (1, 1, 0));
    let parse = |blob: &[u8], room: usize| {
        let mut surface =
            rocdxg_kmd_surface { struct_size: room as u32, flags: 9, bytes: 9, swizzle_mode: 9, tile_swizzle: 9 };
        let (entry, length) = (blob.as_ptr().cast(), blob.len() as u32);
        // SAFETY: all pointers lead to what their sizes say.
        (unsafe { provider().parse_allocation.unwrap()(&door(1), entry, length, &mut surface) }, surface)
    };
    let (status, surface) = parse(&entries[1][..SIZE], size_of::<rocdxg_kmd_surface>());
    assert_eq!((status, surface.flags, surface.bytes, surface.swizzle_mode), (OK, 0, 4096, 0));
    let (status, surface) = parse(&entries[1][..SIZE], 16);
    assert_eq!((status, surface.bytes, surface.swizzle_mode), (OK, 4096, 9), "no field beyond the caller's");
    let surface = Blob { swizzle_mode: 27, tile_swizzle: 3, surface_flags: 1, ..read }.encode();
    let (status, surface) = parse(&surface, size_of::<rocdxg_kmd_surface>());
    assert_eq!((status, surface.flags, surface.swizzle_mode, surface.tile_swizzle), (OK, 1, 27, 3));
    for wrong in [&entries[1][..], &whole[..SIZE], &[]] {
        let (status, surface) = parse(wrong, size_of::<rocdxg_kmd_surface>());
        assert_eq!((status, surface.bytes), (IP, 9), "{} bytes", wrong.len());
    }
}

#[test]
fn the_provider_refuses_memory_that_the_driver_does_not_have() {
    let spoilt: [fn(&mut rocdxg_kmd_allocation); 8] = [
        |a| a.struct_size -= 1,
        |a| a.domain = 4,
        |a| a.memory_flags = 8,
        |a| a.engine_flags = 16,
        |a| a.bytes = 0,
        |a| a.address = 12,
        |a| a.count = 0,
        |a| a.reserved0 = 1,
    ];
    for (i, spoil) in spoilt.iter().enumerate() {
        let mut asked = two_entries();
        spoil(&mut asked);
        let (status, sizes) = sizes(&asked);
        assert_eq!((status, sizes.driver_bytes), (IP, 7), "{i}");
    }
}
