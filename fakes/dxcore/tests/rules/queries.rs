//! `QueryAdapterInfo`: rules 24 to 27, and what the answers hold.

use dxcore::d3dkmt::*;

use crate::kit::*;

fn words(units: &[u32]) -> String {
    units.iter().take_while(|u| **u != 0).map(|u| char::from_u32(*u).unwrap()).collect()
}

/// Asks with a buffer of that size, filled with a pattern: the status, and whether the buffer changed.
fn probe(adapter: u32, kind: u32, size: u32) -> (Status, bool) {
    let mut buffer = vec![0xa5_u8; size as usize];
    let status = query_args(&mut D3DKMT_QUERYADAPTERINFO {
        hAdapter: adapter,
        Type: kind,
        pPrivateDriverData: buffer.as_mut_ptr().cast(),
        PrivateDriverDataSize: size,
    });
    (status, buffer.iter().any(|b| *b != 0xa5))
}

#[test]
fn rule_24_size_limits_are_ip_and_failures_leave_the_buffer() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    for size in [0, 131_073, 131_072, 131_060] {
        assert_eq!(probe(adapter, kmtqaitype::DRIVERVERSION, size), (IP, false), "{size}");
    }
    for size in [1, 3, 5, 8] {
        assert_eq!(probe(adapter, kmtqaitype::DRIVERVERSION, size), (IP, false), "{size}");
    }
    assert_eq!(probe(adapter, kmtqaitype::DRIVERVERSION, 4), (OK, true));
    assert_eq!(
        probe(adapter, kmtqaitype::PHYSICALADAPTERDEVICEIDS, 28),
        (IP, false),
        "a physical adapter out of range"
    );
    assert_eq!(close(adapter), OK);
    violations_are(&["bytes"; 8]);
}

#[test]
fn rule_25_string_types_demand_their_size_before_the_handle_is_looked_at() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    for (kind, size) in [
        (kmtqaitype::UMDRIVERNAME, 1044),
        (kmtqaitype::ADAPTERREGISTRYINFO, 4160),
        (kmtqaitype::ADAPTERREGISTRYINFO_RENDER, 4160),
        (kmtqaitype::NODEMETADATA, 142),
        (kmtqaitype::DRIVER_DESCRIPTION, 16384),
        (kmtqaitype::QUERY_ADAPTER_UNIQUE_GUID, 160),
        (kmtqaitype::QUERYREGISTRY, 1072),
    ] {
        assert_eq!(probe(0, kind, size - 1), (IP, false), "{kind}");
        if kind != kmtqaitype::QUERYREGISTRY {
            assert_eq!(probe(0, kind, size + 1), (IP, false), "{kind}");
        }
    }
    let texts = dxcore::control::violations();
    assert_eq!(texts.len(), 13);
    assert!(texts.iter().all(|t| t.contains("query type")), "not the handle: {texts:?}");
    let mut info: D3DKMT_ADAPTERREGISTRYINFO = zero();
    assert_eq!(query(adapter, kmtqaitype::ADAPTERREGISTRYINFO, &mut info), OK);
    assert_eq!(info.AdapterString[..4], ['A' as u32, 'M' as u32, 'D' as u32, ' ' as u32]);
    assert_eq!(close(adapter), OK);
}

#[test]
fn rule_26_unknown_types_are_ip_and_absent_names_are_name_invalid() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    for kind in [4, 64, 77, 78, 4000, u32::MAX] {
        assert_eq!(probe(adapter, kind, 64), (IP, false), "{kind}");
    }
    assert_eq!(probe(adapter, kmtqaitype::UMDRIVERNAME, 1044), (NAME_INVALID, false));
    let mut absent = registry_query::<0>("NoSuchValue");
    assert_eq!(query(adapter, kmtqaitype::QUERYREGISTRY, &mut absent), NAME_INVALID);
    violations_are(&[]);
    assert_eq!(close(adapter), OK);
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Registry<const N: usize> {
    info: D3DDDI_QUERYREGISTRY_INFO,
    more: [u32; N],
}

fn registry_query<const N: usize>(name: &str) -> Registry<N> {
    let mut query = Registry { info: zero::<D3DDDI_QUERYREGISTRY_INFO>(), more: [0; N] };
    query.info.QueryType = 1;
    for (to, from) in query.info.ValueName.iter_mut().zip(name.encode_utf16()) {
        *to = from.into();
    }
    query
}

#[test]
fn registry_values_run_on_behind_the_structure() {
    let text = variant(&[("[adapter.registry]", "[adapter.registry]\nFeatureLevel = 7")]);
    let _bench = machine_of(&text);
    let adapter = adapter();
    let mut name = registry_query::<40>("DriverDesc");
    assert_eq!(query(adapter, kmtqaitype::QUERYREGISTRY, &mut name), OK);
    assert_eq!((name.info.Status, name.info.ValueType, name.info.OutputValueSize), (0, 1, 23 * 4));
    let first = [name.info.OutputQword as u32, (name.info.OutputQword >> 32) as u32];
    assert_eq!(words(&[&first[..], &name.more[..]].concat()), "AMD Radeon RX 7900 XTX");
    let mut short = registry_query::<4>("DriverDesc");
    assert_eq!(query(adapter, kmtqaitype::QUERYREGISTRY, &mut short), OK);
    assert_eq!((short.info.Status, short.info.OutputValueSize, short.info.OutputQword), (1, 23 * 4, 0));
    let mut number = registry_query::<0>("FeatureLevel");
    assert_eq!(query(adapter, kmtqaitype::QUERYREGISTRY, &mut number), OK);
    assert_eq!((number.info.ValueType, number.info.OutputValueSize, number.info.OutputQword), (4, 4, 7));
    number.info.QueryType = 0;
    assert_eq!(query(adapter, kmtqaitype::QUERYREGISTRY, &mut number), IP);
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn rule_27_adapter_type_is_paravirtualised_without_a_display() {
    for (name, types) in [
        ("gfx1100", vec![0x081]),
        ("dgpu-apu", vec![0x091, 0x0a1]),
        ("compute-only", vec![0x881]),
        ("foreign-first", vec![0x081, 0x085, 0x081]),
    ] {
        let _bench = machine(name);
        let found: Vec<u32> = adapters(1)
            .iter()
            .map(|record| {
                let mut value = 0_u32;
                assert_eq!(query(record.hAdapter, kmtqaitype::ADAPTERTYPE, &mut value), OK);
                let mut render = 0_u32;
                assert_eq!(query(record.hAdapter, kmtqaitype::ADAPTERTYPE_RENDER, &mut render), OK);
                assert_eq!(render, value);
                assert_eq!(close(record.hAdapter), OK);
                value
            })
            .collect();
        assert_eq!(found, types, "{name}");
    }
}

#[test]
fn the_default_machine_is_a_7900_xtx() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut ids: D3DKMT_QUERY_DEVICE_IDS = zero();
    assert_eq!(query(adapter, kmtqaitype::PHYSICALADAPTERDEVICEIDS, &mut ids), OK);
    let ids = ids.DeviceIds;
    assert_eq!((ids.VendorID, ids.DeviceID, ids.RevisionID), (0x1002, 0x744c, 0xc8));
    assert_eq!((ids.SubVendorID, ids.SubSystemID, ids.BusType), (0x1002, 0x0e3b, 5));
    let mut sizes: D3DKMT_SEGMENTSIZEINFO = zero();
    assert_eq!(query(adapter, kmtqaitype::GETSEGMENTSIZE, &mut sizes), OK);
    assert_eq!((sizes.DedicatedVideoMemorySize, sizes.SharedSystemMemorySize), (24 << 30, 16 << 30));
    let mut address: D3DKMT_ADAPTERADDRESS = zero();
    assert_eq!(query(adapter, kmtqaitype::ADAPTERADDRESS, &mut address), OK);
    assert_eq!((address.BusNumber, address.DeviceNumber, address.FunctionNumber), (3, 0, 0));
    let (mut version, mut count) = (0_u32, 0_u32);
    assert_eq!(query(adapter, kmtqaitype::DRIVERVERSION, &mut version), OK);
    assert_eq!(query(adapter, kmtqaitype::PHYSICALADAPTERCOUNT, &mut count), OK);
    assert_eq!((version, count), (3100, 1));
    let mut guid: D3DKMT_QUERY_ADAPTER_UNIQUE_GUID = zero();
    assert_eq!(query(adapter, kmtqaitype::QUERY_ADAPTER_UNIQUE_GUID, &mut guid), OK);
    assert_eq!(words(&guid.adapterUniqueGUID).len(), 38);
    let mut text: Box<D3DKMT_DRIVER_DESCRIPTION> = Box::new(zero());
    assert_eq!(query(adapter, kmtqaitype::DRIVER_DESCRIPTION, &mut *text), OK);
    assert_eq!(words(&text.DriverDescription), "AMD Radeon RX 7900 XTX");
    let mut clocks: D3DKMT_ADAPTER_PERFDATA = zero();
    assert_eq!(query(adapter, kmtqaitype::ADAPTERPERFDATA, &mut clocks), OK);
    assert_eq!((clocks.MaxMemoryFrequency, clocks.Temperature), (1_249_000_000, 430));
    let mut caps: D3DKMT_ADAPTER_PERFDATACAPS = zero();
    assert_eq!(query(adapter, kmtqaitype::ADAPTERPERFDATA_CAPS, &mut caps), OK);
    assert_eq!((caps.MaxFanRPM, caps.TemperatureWarning, caps.TemperatureMax), (3300, 1000, 1100));
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn nodes_have_names_and_clocks_by_ordinal() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let mut found = Vec::new();
    for ordinal in 0..8 {
        let mut data = D3DKMT_NODEMETADATA { NodeOrdinalAndAdapterIndex: ordinal, ..zero() };
        assert_eq!(query(adapter, kmtqaitype::NODEMETADATA, &mut data), OK);
        let mut clocks = D3DKMT_NODE_PERFDATA { NodeOrdinal: ordinal, ..zero() };
        assert_eq!(query(adapter, kmtqaitype::NODEPERFDATA, &mut clocks), OK);
        found.push((data.EngineType, words(&{ data.FriendlyName }), data.Flags, clocks.MaxFrequency / 1_000_000));
    }
    assert_eq!(found[0], (1, "3D".into(), 1, 2371));
    assert_eq!((found[1].0, found[2].0), (6, 6));
    assert_eq!((found[4].0, found[4].1.as_str()), (0, "Compute 0"));
    for wrong in [8, 1 << 16, u32::MAX] {
        let mut data = D3DKMT_NODEMETADATA { NodeOrdinalAndAdapterIndex: wrong, ..zero() };
        assert_eq!(query(adapter, kmtqaitype::NODEMETADATA, &mut data), IP, "{wrong:#x}");
    }
    assert_eq!(close(adapter), OK);
    violations_are(&[]);
}

#[test]
fn names_reach_the_client_as_the_machine_file_writes_them() {
    let endless = format!("\nname = [{}]", vec!["0x41"; 260].join(", "));
    for (value, units) in [
        ("\nname = [0xd800, 0x110000, 0xffffffff]", vec![0xd800, 0x11_0000, 0xffff_ffff, 0]),
        (endless.as_str(), vec![0x41; 260]),
        ("\nname = \"\"", vec![0]),
        ("\nname = \"\u{1f600}\"", vec![0xd83d, 0xde00, 0]),
    ] {
        let _bench = machine_of(&variant(&[("\nname = \"AMD Radeon RX 7900 XTX\"", value)]));
        let adapter = adapter();
        let mut info: D3DKMT_ADAPTERREGISTRYINFO = zero();
        info.AdapterString = [9; 260];
        assert_eq!(query(adapter, kmtqaitype::ADAPTERREGISTRYINFO, &mut info), OK);
        assert_eq!(info.AdapterString[..units.len()], units);
        assert_eq!(close(adapter), OK);
    }
}
