//! `D3DKMTQueryAdapterInfo`: what the host says of an adapter (dxgkrnl.md 2.1, rules 24 to 27; dxg.md section 6).

use core::mem::offset_of;
use core::ptr;

use rocdxg_fake_gpu::machine::{Adapter, Hybrid, RegistryValue};
use rocdxg_fake_gpu::private;

use crate::Status;
use crate::d3dkmt::{
    D3DDDI_QUERYREGISTRY_INFO, D3DKMT_ADAPTER_PERFDATA, D3DKMT_ADAPTER_PERFDATACAPS, D3DKMT_ADAPTERADDRESS,
    D3DKMT_ADAPTERREGISTRYINFO, D3DKMT_ADAPTERTYPE, D3DKMT_DEVICE_IDS, D3DKMT_DRIVER_DESCRIPTION, D3DKMT_NODE_PERFDATA,
    D3DKMT_NODEMETADATA, D3DKMT_PHYSICAL_ADAPTER_COUNT, D3DKMT_QUERY_ADAPTER_UNIQUE_GUID, D3DKMT_QUERY_DEVICE_IDS,
    D3DKMT_QUERYADAPTERINFO, D3DKMT_SEGMENTSIZEINFO, kmtqaitype, ntstatus,
};
use crate::inject::Failure;
use crate::process::State;

/// Largest message to the host, in bytes.
const PACKET: u32 = 131_072;
/// What of it the header takes; the exact size is not known (assumed).
const PACKET_HEADER: u32 = 64;

/// PCI vendor of adapters that no hardware backs.
const MICROSOFT: u32 = 0x1414;

/// Bits of `D3DKMT_ADAPTERTYPE`.
mod adapter_type {
    pub(super) const RENDER_SUPPORTED: u32 = 1 << 0;
    pub(super) const SOFTWARE_DEVICE: u32 = 1 << 2;
    pub(super) const HYBRID_DISCRETE: u32 = 1 << 4;
    pub(super) const HYBRID_INTEGRATED: u32 = 1 << 5;
    pub(super) const PARAVIRTUALIZED: u32 = 1 << 7;
    pub(super) const COMPUTE_ONLY: u32 = 1 << 11;
}

/// `D3DDDI_QUERYREGISTRY_INFO` values.
mod registry {
    pub(super) const ADAPTER_KEY: u32 = 1;
    pub(super) const REG_SZ: u32 = 1;
    pub(super) const REG_DWORD: u32 = 4;
    pub(super) const SUCCESS: u32 = 0;
    pub(super) const BUFFER_OVERFLOW: u32 = 1;
}

/// PCI on which the adapter sits: `BusType` of the device ids.
const BUS_PCI: u32 = 5;

/// Why the host does not answer.
enum Refusal {
    /// With this status, which is no fault of the client's.
    Status(Status),
    /// The client's buffer or its contents are wrong.
    Client(String),
}

impl Refusal {
    /// What the host says to a parameter out of range.
    const RANGE: Self = Self::Status(ntstatus::INVALID_PARAMETER);
}

/// Exact size that libdxcore demands of the structures whose strings it widens, before it asks (rule 25).
fn string_size(kind: u32) -> Option<usize> {
    Some(match kind {
        // `D3DKMT_UMDFILENAMEINFO`: no driver of this machine has a user-mode part, so only its size is known.
        kmtqaitype::UMDRIVERNAME => 1044,
        kmtqaitype::ADAPTERREGISTRYINFO | kmtqaitype::ADAPTERREGISTRYINFO_RENDER => {
            size_of::<D3DKMT_ADAPTERREGISTRYINFO>()
        }
        kmtqaitype::DRIVER_DESCRIPTION | kmtqaitype::DRIVER_DESCRIPTION_RENDER => {
            size_of::<D3DKMT_DRIVER_DESCRIPTION>()
        }
        kmtqaitype::NODEMETADATA => size_of::<D3DKMT_NODEMETADATA>(),
        kmtqaitype::QUERY_ADAPTER_UNIQUE_GUID => size_of::<D3DKMT_QUERY_ADAPTER_UNIQUE_GUID>(),
        _ => return None,
    })
}

pub(crate) fn query_adapter_info(
    state: &mut State,
    args: *const D3DKMT_QUERYADAPTERINFO,
    failure: Option<Failure>,
) -> Result<(), Status> {
    let asked = state.read(args)?;
    let size = asked.PrivateDriverDataSize;
    let wrong_string = match asked.Type {
        kmtqaitype::QUERYREGISTRY => (size as usize) < size_of::<D3DDDI_QUERYREGISTRY_INFO>(),
        kind => string_size(kind).is_some_and(|exact| exact != size as usize),
    };
    if wrong_string || size == 0 || size > PACKET - PACKET_HEADER {
        state.violate(format!("query type {} with {size} bytes", asked.Type));
        return Err(ntstatus::INVALID_PARAMETER);
    }
    let adapter = state.adapter_of(asked.hAdapter)?;
    state.require_active(adapter)?;
    let mut buffer = state.read_bytes(asked.pPrivateDriverData, size as usize)?;
    if let Some(failure) = failure {
        return Err(failure.or(ntstatus::INVALID_PARAMETER));
    }
    match answer(&state.machine().adapters[adapter], asked.Type, &mut buffer) {
        Ok(()) => state.write_slice(asked.pPrivateDriverData, &buffer),
        Err(Refusal::Status(status)) => Err(status),
        Err(Refusal::Client(what)) => {
            state.violate(format!("query type {}: {what}", asked.Type));
            Err(ntstatus::INVALID_PARAMETER)
        }
    }
}

/// The host's part: fills the buffer, or refuses.
fn answer(adapter: &Adapter, kind: u32, buffer: &mut Vec<u8>) -> Result<(), Refusal> {
    match kind {
        kmtqaitype::UMDRIVERPRIVATE => driver_private(adapter, buffer),
        kmtqaitype::UMDRIVERNAME => Err(Refusal::Status(ntstatus::OBJECT_NAME_INVALID)),
        kmtqaitype::GETSEGMENTSIZE => edit(buffer, |sizes: &mut D3DKMT_SEGMENTSIZEINFO| {
            sizes.DedicatedVideoMemorySize = adapter.memory.dedicated_video;
            sizes.DedicatedSystemMemorySize = adapter.memory.dedicated_system;
            sizes.SharedSystemMemorySize = adapter.memory.shared_system;
            Ok(())
        }),
        kmtqaitype::ADAPTERADDRESS | kmtqaitype::ADAPTERADDRESS_RENDER => {
            edit(buffer, |address: &mut D3DKMT_ADAPTERADDRESS| {
                (address.BusNumber, address.DeviceNumber, address.FunctionNumber) = adapter.pci;
                Ok(())
            })
        }
        kmtqaitype::ADAPTERREGISTRYINFO | kmtqaitype::ADAPTERREGISTRYINFO_RENDER => {
            edit(buffer, |info: &mut D3DKMT_ADAPTERREGISTRYINFO| {
                fill(&mut info.AdapterString, &adapter.name.units());
                fill(&mut info.BiosString, &adapter.bios.units());
                fill(&mut info.DacType, &[]);
                fill(&mut info.ChipType, &adapter.name.units());
                Ok(())
            })
        }
        kmtqaitype::DRIVERVERSION | kmtqaitype::DRIVERVERSION_RENDER => edit(buffer, |version: &mut u32| {
            *version = adapter.wddm;
            Ok(())
        }),
        kmtqaitype::ADAPTERTYPE | kmtqaitype::ADAPTERTYPE_RENDER => edit(buffer, |bits: &mut D3DKMT_ADAPTERTYPE| {
            bits.Value = adapter_type_of(adapter);
            Ok(())
        }),
        kmtqaitype::NODEMETADATA => edit(buffer, |data: &mut D3DKMT_NODEMETADATA| {
            let which = data.NodeOrdinalAndAdapterIndex;
            let node = physical(which >> 16).and_then(|()| node(adapter, which & 0xffff))?;
            data.EngineType = node.engine as u32;
            let mut name = [0; 32];
            fill(&mut name, &node.name.units());
            data.FriendlyName = name;
            data.Flags = u32::from(node.context_scheduling);
            data.GpuMmuSupported = 1;
            data.IoMmuSupported = 0;
            Ok(())
        }),
        kmtqaitype::PHYSICALADAPTERCOUNT => edit(buffer, |count: &mut D3DKMT_PHYSICAL_ADAPTER_COUNT| {
            count.Count = 1;
            Ok(())
        }),
        kmtqaitype::PHYSICALADAPTERDEVICEIDS => edit(buffer, |ids: &mut D3DKMT_QUERY_DEVICE_IDS| {
            physical(ids.PhysicalAdapterIndex)?;
            ids.DeviceIds = D3DKMT_DEVICE_IDS {
                VendorID: adapter.vendor,
                DeviceID: adapter.device,
                SubVendorID: adapter.subvendor,
                SubSystemID: adapter.subsystem,
                RevisionID: adapter.revision,
                BusType: BUS_PCI,
            };
            Ok(())
        }),
        kmtqaitype::QUERYREGISTRY => query_registry(adapter, buffer),
        kmtqaitype::QUERY_ADAPTER_UNIQUE_GUID => edit(buffer, |guid: &mut D3DKMT_QUERY_ADAPTER_UNIQUE_GUID| {
            fill(&mut guid.adapterUniqueGUID, &adapter.guid.units());
            Ok(())
        }),
        kmtqaitype::NODEPERFDATA => edit(buffer, |data: &mut D3DKMT_NODE_PERFDATA| {
            let node = physical(data.PhysicalAdapterIndex).and_then(|()| node(adapter, data.NodeOrdinal))?;
            data.Frequency = 0;
            (data.MaxFrequency, data.MaxFrequencyOC) = (node.max_hz, node.max_hz);
            (data.Voltage, data.VoltageMax, data.VoltageMaxOC) = (0, 0, 0);
            data.MaxTransitionLatency = 0;
            Ok(())
        }),
        kmtqaitype::ADAPTERPERFDATA => edit(buffer, |data: &mut D3DKMT_ADAPTER_PERFDATA| {
            physical(data.PhysicalAdapterIndex)?;
            let (now, most) = adapter.memory_hz;
            (data.MemoryFrequency, data.MaxMemoryFrequency, data.MaxMemoryFrequencyOC) = (now, most, most);
            (data.MemoryBandwidth, data.PCIEBandwidth) = (0, 0);
            data.FanRPM = adapter.fan_rpm.0;
            data.Power = 0;
            data.Temperature = adapter.temperature.0;
            data.PowerStateOverride = 0;
            Ok(())
        }),
        kmtqaitype::ADAPTERPERFDATA_CAPS => edit(buffer, |caps: &mut D3DKMT_ADAPTER_PERFDATACAPS| {
            physical(caps.PhysicalAdapterIndex)?;
            caps.MaxMemoryBandwidth = adapter.memory_bandwidth;
            caps.MaxPCIEBandwidth = adapter.pcie_bandwidth;
            caps.MaxFanRPM = adapter.fan_rpm.1;
            (_, caps.TemperatureWarning, caps.TemperatureMax) = adapter.temperature;
            Ok(())
        }),
        kmtqaitype::DRIVER_DESCRIPTION | kmtqaitype::DRIVER_DESCRIPTION_RENDER => {
            edit(buffer, |text: &mut D3DKMT_DRIVER_DESCRIPTION| {
                fill(&mut text.DriverDescription, &adapter.name.units());
                Ok(())
            })
        }
        // A type that the host does not know (rule 26).
        _ => Err(Refusal::Status(ntstatus::INVALID_PARAMETER)),
    }
}

/// Reads the buffer as a `T` of plain integers, changes it, writes it back. The size must be exact (assumed).
fn edit<T: Copy>(buffer: &mut [u8], change: impl FnOnce(&mut T) -> Result<(), Refusal>) -> Result<(), Refusal> {
    if buffer.len() != size_of::<T>() {
        return Err(Refusal::Client(format!("{} bytes, not {}", buffer.len(), size_of::<T>())));
    }
    // SAFETY: the length was checked, alignment is not needed, and any bytes make a `T` of integers.
    let mut value = unsafe { ptr::read_unaligned(buffer.as_ptr().cast::<T>()) };
    change(&mut value)?;
    // SAFETY: as above.
    unsafe { ptr::write_unaligned(buffer.as_mut_ptr().cast::<T>(), value) };
    Ok(())
}

/// Fills a fixed field; what does not fit is cut, without a terminator (machine files promise that it fits).
fn fill(field: &mut [u32], units: &[u32]) {
    field.fill(0);
    for (slot, unit) in field.iter_mut().zip(units) {
        *slot = *unit;
    }
}

/// There is one physical adapter behind each adapter.
fn physical(index: u32) -> Result<(), Refusal> {
    if index == 0 { Ok(()) } else { Err(Refusal::RANGE) }
}

fn node(adapter: &Adapter, ordinal: u32) -> Result<&rocdxg_fake_gpu::machine::Node, Refusal> {
    adapter.nodes.get(ordinal as usize).ok_or(Refusal::RANGE)
}

/// The guest forces paravirtualised on and everything about displays off (rule 27).
fn adapter_type_of(adapter: &Adapter) -> u32 {
    let mut bits = adapter_type::RENDER_SUPPORTED | adapter_type::PARAVIRTUALIZED;
    if adapter.vendor == MICROSOFT {
        bits |= adapter_type::SOFTWARE_DEVICE;
    }
    match adapter.hybrid {
        Some(Hybrid::Discrete) => bits |= adapter_type::HYBRID_DISCRETE,
        Some(Hybrid::Integrated) => bits |= adapter_type::HYBRID_INTEGRATED,
        None => {}
    }
    if adapter.compute_only {
        bits |= adapter_type::COMPUTE_ONLY;
    }
    bits
}

/// The driver's own blob: it reads a request, field by field, from the buffer that it fills.
fn driver_private(adapter: &Adapter, buffer: &mut Vec<u8>) -> Result<(), Refusal> {
    let Some(known) = &adapter.private else { return Err(Refusal::Status(ntstatus::INVALID_PARAMETER)) };
    match private::check_request(buffer) {
        Ok(()) => {
            *buffer = known.encode();
            Ok(())
        }
        // A client may ask with less room, or for a version that this driver does not have.
        Err(private::Refusal::Short(_)) => Err(Refusal::Status(ntstatus::BUFFER_TOO_SMALL)),
        Err(private::Refusal::Version(_)) => Err(Refusal::Status(ntstatus::INVALID_PARAMETER)),
        Err(refusal) => Err(Refusal::Client(format!("private data: {refusal}"))),
    }
}

/// A value of the adapter's key; an absent one is OBJECT_NAME_INVALID (rule 26).
fn query_registry(adapter: &Adapter, buffer: &mut [u8]) -> Result<(), Refusal> {
    const TEXT: usize = offset_of!(D3DDDI_QUERYREGISTRY_INFO, OutputQword);
    let (head, tail) = buffer.split_at_mut(size_of::<D3DDDI_QUERYREGISTRY_INFO>());
    let mut text = Vec::new();
    edit(head, |info: &mut D3DDDI_QUERYREGISTRY_INFO| {
        physical(info.PhysicalAdapterIndex)?;
        if info.QueryType != registry::ADAPTER_KEY {
            return Err(Refusal::RANGE);
        }
        let name: String = info.ValueName.iter().take_while(|u| **u != 0).filter_map(|u| char::from_u32(*u)).collect();
        let value = adapter.registry.get(&name).ok_or(Refusal::Status(ntstatus::OBJECT_NAME_INVALID))?;
        info.Status = registry::SUCCESS;
        match value {
            RegistryValue::Dword(number) => {
                (info.ValueType, info.OutputValueSize) = (registry::REG_DWORD, 4);
                info.OutputQword = u64::from(*number);
            }
            RegistryValue::Text(words) => {
                text = words.units().into_iter().chain([0]).flat_map(u32::to_le_bytes).collect();
                (info.ValueType, info.OutputValueSize) = (registry::REG_SZ, text.len() as u32);
                if text.len() > size_of::<u64>() + tail.len() {
                    info.Status = registry::BUFFER_OVERFLOW;
                    text.clear();
                }
            }
        }
        Ok(())
    })?;
    for (to, from) in head[TEXT..].iter_mut().chain(tail).zip(&text) {
        *to = *from;
    }
    Ok(())
}
