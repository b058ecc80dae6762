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

fn info(adapter: u32, room: usize) -> (Status, rocdxg_kmd_adapter_info) {
    let query = dxcore::lookup("D3DKMTQueryAdapterInfo").unwrap();
    // SAFETY: the entry point has this form.
    let query: unsafe extern "C" fn(*mut c_void) -> i32 = unsafe { std::mem::transmute(query) };
    let adapter = rocdxg_kmd_adapter {
        struct_size: size_of::<rocdxg_kmd_adapter>() as u32,
        adapter,
        luid_low: 0,
        luid_high: 0,
        query_adapter_info: Some(query),
    };
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
