//! The argument checks of the tables, and what a failure writes.

use crate::caller::{Client, Library};
use crate::facts;
use crate::page::{rows, sensible, spelled};

/// Sensible arguments but for those named.
type But = &'static [(&'static str, u64)];

const NULL: u64 = 0;
const NO_NODE: u64 = 99;
const CPU: u64 = 0;

/// Function, arguments that are not sensible, status with an open device.
const REFUSED: &[(&str, But, &str)] = &[
    ("DxgAbiCheck", &[("StructureSizes", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtCreateEvent", &[("EventDesc", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtCreateEvent", &[("Event", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtDestroyEvent", &[("Event", NULL)], "SUCCESS"),
    ("hsaKmtSetEvent", &[("Event", NULL)], "INVALID_HANDLE"),
    ("hsaKmtResetEvent", &[("Event", NULL)], "INVALID_HANDLE"),
    ("hsaKmtQueryEventState", &[("Event", NULL)], "INVALID_HANDLE"),
    ("hsaKmtWaitOnEvent", &[("Event", NULL)], "INVALID_HANDLE"),
    ("hsaKmtWaitOnEvent_Ext", &[("Event", NULL)], "INVALID_HANDLE"),
    ("hsaKmtWaitOnMultipleEvents", &[("Events", NULL)], "INVALID_HANDLE"),
    ("hsaKmtWaitOnMultipleEvents_Ext", &[("Events", NULL)], "INVALID_HANDLE"),
    ("hsaKmtCreateQueue", &[("QueueResource", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtCreateQueue", &[("Priority", 4), ("NodeId", NO_NODE)], "INVALID_PARAMETER"),
    ("hsaKmtCreateQueue", &[("NodeId", NO_NODE), ("Type", 3)], "INVALID_NODE_UNIT"),
    ("hsaKmtCreateQueueExt", &[("Type", 3)], "INVALID_PARAMETER"),
    ("hsaKmtCreateQueueV2", &[("Priority", -4_i64 as u64)], "INVALID_PARAMETER"),
    ("hsaKmtCreateQueueV2", &[("Priority", -3_i64 as u64)], "NOT_SUPPORTED"),
    ("hsaKmtUpdateQueue", &[("QueueId", 0)], "INVALID_PARAMETER"),
    ("hsaKmtUpdateQueue", &[("Priority", 1 << 32)], "INVALID_PARAMETER"),
    ("hsaKmtDestroyQueue", &[("QueueId", 0)], "INVALID_PARAMETER"),
    ("hsaKmtSetQueueCUMask", &[("QueueCUMask", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtSetQueueCUMask", &[("CUMaskCount", 0)], "INVALID_PARAMETER"),
    ("hsaKmtSetQueueCUMask", &[("CUMaskCount", 33)], "INVALID_PARAMETER"),
    ("hsaKmtGetQueueInfo", &[("QueueInfo", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtQueueRingDoorbell", &[("QueueId", 0)], "INVALID_PARAMETER"),
    ("hsaKmtSetTrapHandler", &[("NodeId", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtImportExternalSemaphore", &[("OutHandle", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtImportExternalSemaphore", &[("NodeId", NO_NODE), ("Type", 2)], "NOT_SUPPORTED"),
    ("hsaKmtImportExternalSemaphore", &[("NodeId", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtDestroyExternalSemaphore", &[("Handle", 1)], "INVALID_HANDLE"),
    ("hsaKmtDestroyExternalSemaphore", &[("Handle", (1 << 32) | NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtQueueSignalExternalSemaphore", &[("QueueId", 0)], "INVALID_HANDLE"),
    ("hsaKmtQueueWaitExternalSemaphore", &[("Handle", 1)], "INVALID_HANDLE"),
    ("hsaKmtSetMemoryPolicy", &[("Node", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtAllocMemory", &[("MemoryAddress", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtAllocMemory", &[("PreferredNode", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtAllocMemory", &[("SizeInBytes", 0)], "INVALID_PARAMETER"),
    // FixedAddress, at NULL.
    ("hsaKmtAllocMemory", &[("MemFlags", 1 << 15)], "INVALID_PARAMETER"),
    ("hsaKmtAllocMemoryAlign", &[("Alignment", 3)], "INVALID_PARAMETER"),
    // ExtendedCoherent with CoarseGrain, then with Uncached.
    ("hsaKmtAllocMemoryAlign", &[("Alignment", 0), ("MemFlags", 1 << 20 | 1 << 13)], "INVALID_PARAMETER"),
    ("hsaKmtAllocMemoryAlign", &[("Alignment", 0), ("MemFlags", 1 << 20 | 1 << 17)], "INVALID_PARAMETER"),
    ("hsaKmtAllocMemoryHostGtt", &[("GttAnchorNode", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtAllocMemoryHostGtt", &[("GttAnchorNode", CPU)], "ERROR"),
    ("hsaKmtFreeMemory", &[("MemoryAddress", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtAvailableMemory", &[("AvailableBytes", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtAvailableMemory", &[("Node", CPU)], "ERROR"),
    ("hsaKmtAvailableMemory", &[("Node", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtRegisterMemoryToNodes", &[("NodeArray", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtRegisterMemoryWithFlags", &[("MemFlags", 1 << 20 | 1 << 13)], "INVALID_PARAMETER"),
    ("hsaKmtDeregisterMemory", &[("MemoryAddress", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtMapMemoryToGPU", &[("MemoryAddress", NULL)], "ERROR"),
    ("hsaKmtMapMemoryToGPU", &[("AlternateVAGPU", NULL)], "ERROR"),
    ("hsaKmtMapMemoryToGPUNodes", &[("AlternateVAGPU", NULL)], "ERROR"),
    ("hsaKmtMapMemoryToGPUNodes", &[("NodeArray", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtUnmapMemoryToGPU", &[("MemoryAddress", NULL)], "SUCCESS"),
    ("hsaKmtQueryPointerInfo", &[("PointerInfo", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtAisReadWriteFile", &[("AisFlags", 3)], "INVALID_PARAMETER"),
    ("hsaKmtShareMemory", &[("SharedMemoryHandle", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtRegisterSharedHandle", &[("SizeInBytes", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtRegisterGraphicsHandleToNodes", &[("GraphicsResourceInfo", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtExportDMABufHandle", &[("Offset", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtGetMemoryHandle", &[("MemoryAddress", NULL)], "INVALID_HANDLE"),
    ("hsaKmtHandleImport", &[("ImportDesc", NULL)], "INVALID_HANDLE"),
    ("hsaKmtHandleImport", &[("Flags", NULL)], "NOT_SUPPORTED"),
    ("hsaKmtHandleExport", &[("ExportResult", NULL)], "INVALID_HANDLE"),
    ("hsaKmtMemoryVaMap", &[("Handle", NULL)], "INVALID_HANDLE"),
    ("hsaKmtMemoryVaMap", &[("size", u64::MAX)], "INVALID_PARAMETER"),
    ("hsaKmtMemoryVaUnmap", &[("offset", u64::MAX)], "INVALID_PARAMETER"),
    ("hsaKmtMemHandleFree", &[("Handle", NULL)], "INVALID_HANDLE"),
    ("hsaKmtMemHandleFreePreserveMetadata", &[("Handle", NULL)], "INVALID_HANDLE"),
    ("hsaKmtGetAMDGPUDeviceHandle", &[("NodeId", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtGetAmdGPUDeviceFd", &[("fd", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtGetClockCounters", &[("NodeId", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtGetTileConfig", &[("config", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtPmcRegisterTrace", &[("NumberOfCounters", 0)], "INVALID_PARAMETER"),
    ("hsaKmtPmcStartTrace", &[("TraceId", 0)], "INVALID_PARAMETER"),
    ("hsaKmtSPMAcquire", &[("PreferredNode", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtSPMSetDestBuffer", &[("DestMemoryAddress", NULL)], "NOT_SUPPORTED"),
    ("hsaKmtPcSamplingStart", &[("traceId", 0)], "INVALID_HANDLE"),
    ("hsaKmtPcSamplingCreate", &[("node_id", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtSVMSetAttr", &[("size", 4095)], "INVALID_PARAMETER"),
    ("hsaKmtSVMGetAttr", &[("attrs", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtGetXNACKMode", &[("enable", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtDbgRegister", &[("NodeId", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtDbgAddressWatch", &[("NumWatchPoints", 0)], "INVALID_PARAMETER"),
    ("hsaKmtDbgAddressWatch", &[("WatchMask", NULL), ("WatchEvent", NULL)], "NOT_SUPPORTED"),
    ("hsaKmtDebugTrapIoctl", &[("args", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtDebugTrapIoctl", &[("Queues", NULL), ("DebugReturn", NULL)], "NOT_SUPPORTED"),
    ("hsaKmtOpenSMI", &[("NodeId", NO_NODE)], "INVALID_NODE_UNIT"),
    ("hsaKmtModelEnabled", &[("enable", NULL)], "INVALID_PARAMETER"),
    ("rocdxg_smi_get_device_count", &[("count", NULL)], "INVALID_PARAMETER"),
    ("rocdxg_smi_get_device_info", &[("node_id", CPU)], "INVALID_NODE_UNIT"),
    ("rocdxg_smi_get_device_info", &[("info", NULL)], "INVALID_PARAMETER"),
    ("rocdxg_smi_get_vram_usage", &[("node_id", NO_NODE)], "INVALID_NODE_UNIT"),
    ("rocdxg_smi_enum_processes", &[("num_processes", NULL)], "INVALID_PARAMETER"),
    ("rocdxg_smi_enum_processes", &[("processes", NULL)], "NOT_SUPPORTED"),
    ("amdgpu_device_initialize", &[("device_handle", NULL)], "-EINVAL"),
    ("amdgpu_bo_import", &[("type", 0)], "-1"),
    ("amdgpu_bo_import", &[("output", NULL)], "-EINVAL"),
    ("amdgpu_bo_query_info", &[("info", NULL)], "-EINVAL"),
    ("amdgpu_device_get_fd", &[("device_handle", NULL)], "a file"),
    ("drmCommandWriteRead", &[("data", NULL)], "-EINVAL"),
];

/// Where NULL is found before the gate.
const BEFORE_THE_GATE: &[(&str, But, &str)] = &[
    ("hsaKmtWaitOnEvent", &[("Event", NULL)], "INVALID_HANDLE"),
    ("hsaKmtWaitOnMultipleEvents", &[("Events", NULL)], "KERNEL_IO_CHANNEL_NOT_OPENED"),
    ("hsaKmtGetNodeProperties", &[("NodeProperties", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtGetNodeWallclockFrequency", &[("Frequency", NULL)], "KERNEL_IO_CHANNEL_NOT_OPENED"),
    ("hsaKmtCreateQueue", &[("QueueResource", NULL)], "KERNEL_IO_CHANNEL_NOT_OPENED"),
    ("hsaKmtAllocMemory", &[("MemoryAddress", NULL)], "KERNEL_IO_CHANNEL_NOT_OPENED"),
    ("hsaKmtPcSamplingQueryCapabilities", &[("sz_needed", NULL)], "INVALID_PARAMETER"),
    ("hsaKmtPcSamplingStop", &[("traceId", 0)], "INVALID_HANDLE"),
    ("rocdxg_smi_get_power_info", &[("info", NULL)], "INVALID_PARAMETER"),
];

/// Outputs that hold a defined nothing after the refusal of a sensible call, by function: the bytes, all alike.
const NOTHING: &[(&str, &str, u8)] = &[
    ("amdgpu_bo_cpu_map", "cpu", 0),
    ("amdgpu_device_initialize", "device_handle", 0),
    ("hsaKmtAllocMemory", "MemoryAddress", 0),
    ("hsaKmtAllocMemoryAlign", "MemoryAddress", 0),
    ("hsaKmtAllocMemoryHostGtt", "MemoryAddress", 0),
    ("hsaKmtCreateEvent", "Event", 0),
    ("hsaKmtDbgEnable", "runtime_info", 0),
    ("hsaKmtDbgGetDeviceData", "data", 0),
    ("hsaKmtDbgGetQueueData", "data", 0),
    ("hsaKmtExportDMABufHandle", "DMABufFd", 0xff),
    ("hsaKmtGetAMDGPUDeviceHandle", "DeviceHandle", 0),
    ("hsaKmtGetAmdGPUDeviceFd", "fd", 0xff),
    ("hsaKmtImportExternalSemaphore", "OutHandle", 0),
    ("hsaKmtMemoryCpuMap", "out_cpu_ptr", 0),
    ("hsaKmtOpenSMI", "fd", 0xff),
    ("hsaKmtPcSamplingCreate", "traceId", 0),
    ("hsaKmtPmcGetCounterProperties", "CounterProperties", 0),
    ("hsaKmtRegisterSharedHandle", "MemoryAddress", 0),
    ("hsaKmtRegisterSharedHandleToNodes", "MemoryAddress", 0),
    ("rocdxg_smi_get_clock_info", "info", 0),
    ("rocdxg_smi_get_gpu_metrics_info", "info", 0),
    ("rocdxg_smi_get_pcie_info", "info", 0),
    ("rocdxg_smi_get_power_info", "info", 0),
];

/// Runs `body` in a child for the function of that name.
fn with(library: &Library, name: &str, body: impl FnOnce(&mut Client<'_>) -> Result<(), String>) -> Result<(), String> {
    let functions = facts::exports();
    let function = functions.iter().find(|function| function.name == name);
    library.in_child(function.unwrap_or_else(|| panic!("{name} is not exported")), body)
}

fn check(cases: &[(&str, But, &str)], open: bool) {
    let library = Library::load();
    let mut wrong = Vec::new();
    for (name, but, expected) in cases {
        let checked = with(&library, name, |client| {
            client.stage(&format!("{but:?}").chars().take(60).collect::<String>());
            if open {
                client.library.open();
            }
            let mut words = sensible(client);
            for (parameter, value) in *but {
                words[client.index(parameter)] = *value;
            }
            let returned = spelled(client.function, client.call(words)?);
            if returned == *expected { Ok(()) } else { Err(format!("{returned} instead of {expected}")) }
        });
        wrong.extend(checked.err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bad_arguments_get_the_status_of_the_tables() {
    check(REFUSED, true);
}

#[test]
fn some_arguments_are_looked_at_before_the_device() {
    check(BEFORE_THE_GATE, false);
}

/// A byte that is neither what a caller passes nor what a refusal writes.
const OLD: u8 = 0x5a;

/// Structures that are read before anything is refused.
fn is_read(c_type: &str) -> bool {
    c_type.contains("Desc") || c_type.contains("_device_info_t") || c_type.contains("StructureSizes")
}

#[test]
fn a_refusal_writes_a_defined_nothing_or_nothing() {
    let library = Library::load();
    let mut wrong = Vec::new();
    let mut refused = 0;
    for function in facts::exports() {
        let row = rows().into_iter().find(|row| row.function == function.name).expect("every export has a row");
        if row.state == "works" {
            continue;
        }
        refused += 1;
        let checked = library.in_child(&function, |client| {
            client.library.open();
            let words = sensible(client);
            let outputs = function.parameters.iter().zip(&mut client.objects);
            for object in outputs.filter(|(known, _)| !is_read(&known.c_type)).filter_map(|(_, object)| object.as_mut())
            {
                object.bytes().fill(OLD);
            }
            let returned = spelled(&function, client.call(words)?);
            if returned != row.returns[1] {
                return Err(format!("{returned} instead of {}", row.returns[1]));
            }
            let outputs = function.parameters.iter().zip(&mut client.objects);
            for (known, object) in outputs.filter(|(known, _)| !is_read(&known.c_type)) {
                let Some(object) = object else { continue };
                let nothing = NOTHING.iter().find(|(name, output, _)| *name == function.name && *output == known.name);
                let expected = nothing.map_or(OLD, |(_, _, byte)| *byte);
                if object.bytes().iter().any(|byte| *byte != expected) {
                    return Err(format!("*{} is not all {expected:#x}", known.name));
                }
            }
            Ok(())
        });
        wrong.extend(checked.err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_device_info_of_another_size_stays_as_it_is() {
    const SIZE: u32 = 3632;
    let library = Library::load();
    for size in [0, SIZE - 8, SIZE + 8, u32::MAX, SIZE] {
        let mut before = vec![OLD; SIZE as usize];
        before[..4].copy_from_slice(&size.to_ne_bytes());
        let mut zeros = vec![0; SIZE as usize];
        zeros[..4].copy_from_slice(&size.to_ne_bytes());
        let expected = if size == SIZE { ("NOT_SUPPORTED", &zeros) } else { ("BUFFER_TOO_SMALL", &before) };
        let checked = with(&library, "rocdxg_smi_get_device_info", |client| {
            client.library.open();
            let words = sensible(client);
            client.object("info").bytes().copy_from_slice(&before);
            let returned = spelled(client.function, client.call(words)?);
            if (returned.as_str(), &client.object("info").bytes().to_vec()) == expected {
                Ok(())
            } else {
                Err(format!("{returned}, or other bytes"))
            }
        });
        assert_eq!(checked, Ok(()), "{size}");
    }
}

#[test]
fn the_gpus_of_the_snapshot_are_counted() {
    let library = Library::load();
    let counted = with(&library, "rocdxg_smi_get_device_count", |client| {
        let mut counts = Vec::new();
        client.library.open();
        for stage in ["hsaKmtReleaseSystemProperties", "hsaKmtCloseKFD"] {
            let words = client.zeros();
            client.object("count").bytes().fill(OLD);
            let returned = spelled(client.function, client.call(words)?);
            counts.push((returned, client.object("count").bytes().to_vec()));
            client.library.call(stage);
        }
        let expected = [1_u32, 0].map(|count| ("SUCCESS".to_owned(), count.to_ne_bytes().to_vec()));
        if counts == expected { Ok(()) } else { Err(format!("{counts:?}")) }
    });
    assert_eq!(counted, Ok(()));
}
