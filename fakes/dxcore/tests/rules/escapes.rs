//! Escapes: rules 35 to 37.

use dxcore::d3dkmt::*;

use crate::kit::*;

fn send(adapter: u32, flags: u32, data: &mut [u8], change: impl FnOnce(&mut D3DKMT_ESCAPE)) -> Status {
    let mut args = D3DKMT_ESCAPE {
        hAdapter: adapter,
        Flags: flags,
        pPrivateDriverData: data.as_mut_ptr().cast(),
        PrivateDriverDataSize: data.len() as u32,
        ..zero()
    };
    change(&mut args);
    escape_args(&mut args)
}

#[test]
fn rule_35_a_refused_escape_is_bts_and_the_buffer_stays() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut data = [7_u8; 16];
    assert_eq!(send(adapter, 0, &mut data, |_| ()), BTS);
    assert_eq!(send(adapter, 0, &mut data, |a| a.Type = 3), BTS);
    assert_eq!(send(adapter, 0, &mut [], |_| ()), OK, "without data nothing is lost");
    assert_eq!(send(adapter, 0, &mut data, |a| a.PrivateDriverDataSize = 131_073), IP);
    assert_eq!(data, [7; 16]);
    assert_eq!(send(adapter, 0, &mut vec![0; 131_072], |_| ()), BTS);
    assert_eq!(send(adapter ^ 0x40, 0, &mut data, |_| ()), IP);
    violations_are(&["131073 bytes", "was never issued"]);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_36_stale_objects_are_bts_and_known_escapes_translate_nothing() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let mut data = [0_u8; 8];
    assert_eq!(send(adapter, 0, &mut data, |a| a.hDevice = device), BTS);
    violations_are(&[]);
    assert_eq!(send(adapter, 0, &mut data, |a| a.hDevice = device + 0x4000), BTS);
    assert_eq!(send(adapter, 0, &mut data, |a| a.hContext = device), BTS);
    violations_are(&["is not a device's", "is not a context's"]);
    for (kind, status) in [(0_u32, OK), (1, OK), (2, BTS), (9, BTS)] {
        data[..4].copy_from_slice(&kind.to_le_bytes());
        let before = data;
        assert_eq!(send(adapter, escape::DRIVER_KNOWN_ESCAPE, &mut data, |_| ()), status, "{kind}");
        assert_eq!(data, before);
    }
    assert_eq!(send(adapter, escape::DRIVER_KNOWN_ESCAPE, &mut data[..3], |_| ()), IP);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_37_hardware_access_excludes_the_other_two() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut data = [0_u8; 8];
    assert_eq!(send(adapter, escape::HARDWARE_ACCESS, &mut data, |_| ()), BTS);
    violations_are(&[]);
    for other in [escape::DEVICE_STATUS_QUERY, escape::CHANGE_FRAME_LATENCY] {
        assert_eq!(send(adapter, escape::HARDWARE_ACCESS | other, &mut data, |_| ()), BTS);
    }
    violations_are(&["exclude each other"; 2]);
    assert_eq!(close(adapter), OK);
}
