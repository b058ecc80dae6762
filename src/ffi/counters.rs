//! Clocks, tile modes, counters, traces and samples (dxg.md 4.1, kfd.md 5.1 to 5.4). Built are clocks and tile modes, where
//! the driver tells them; each other call makes its checks and no more.
#![allow(unused_variables)]

use std::ffi::c_void;

use super::checks::{argument, given, node, nonzero, not_supported};
use super::{Out, exports};
use crate::abi::*;
use crate::process::{self, Error};

const NO_TRACES: &str = "counter traces of the thunk; profilers program the counters through queues";
const NO_STREAM: &str = "the stream of performance samples";
const NO_SAMPLES: &str = "samples of the program counter";

/// The calls on a trace (kfd.md 5.10).
fn on_trace(trace: HSATraceId) -> Result<(), Error> {
    process::require_open()?;
    argument(trace != 0, "TraceId is 0")
}

fn on_trace_of(node_id: HSAuint32, trace: HSATraceId) -> Result<(), Error> {
    on_trace(trace)?;
    node(node_id)?;
    not_supported(NO_TRACES)
}

/// The calls on a sampler: they look at its name before they look whether the device is open (kfd.md 5.10).
fn on_sampler(node_id: HSAuint32, sampler: HsaPcSamplingTraceId) -> Result<(), Error> {
    nonzero("traceId", sampler.into())?;
    node(node_id)?;
    not_supported(NO_SAMPLES)
}

fn on_stream(node_id: HSAuint32) -> Result<(), Error> {
    node(node_id)?;
    not_supported(NO_STREAM)
}

/// Tile modes that any chip has at most, many times over.
const MOST_MODES: HSAuint32 = 1024;

exports! {
    /// Writes the clocks of a node and of the host, read together.
    fn hsaKmtGetClockCounters(NodeId: HSAuint32, Counters: *mut HsaClockCounters) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("Counters", Counters) }?;
        node(NodeId)?;
        out.write(match process::devices()?.get(&NodeId) {
            Some(device) => device.clock_counters()?,
            None => process::platform()?.clock_counters()?,
        });
        Ok(())
    }

    /// Writes how a node lays out surfaces in memory.
    fn hsaKmtGetTileConfig(NodeId: HSAuint32, config: *mut HsaGpuTileConfig) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one structure.
        let out = unsafe { Out::new("config", config) }?;
        // SAFETY: as above.
        let mut given = unsafe { config.read_unaligned() };
        let device = process::device(NodeId).or_else(|error| node(NodeId).and(Err(error)))?;
        let room = |count: HSAuint32, array: *mut HSAuint32| if array.is_null() { 0 } else { count.min(MOST_MODES) };
        let mut tiles = vec![0; room(given.NumTileConfigs, given.TileConfig) as usize];
        let mut macro_tiles = vec![0; room(given.NumMacroTileConfigs, given.MacroTileConfig) as usize];
        let found = device.tile_config(&mut tiles, &mut macro_tiles)?;
        let arrays = [
            (given.TileConfig, &tiles, found.tiles, "TileConfig"),
            (given.MacroTileConfig, &macro_tiles, found.macro_tiles, "MacroTileConfig"),
        ];
        for (array, modes, count, name) in arrays {
            for (index, mode) in modes.iter().take(count as usize).enumerate() {
                // SAFETY: there is room for as many modes as the caller said, which `modes` has at most.
                unsafe { Out::new(name, array)?.write_at(index, *mode) };
            }
        }
        given.NumTileConfigs = found.tiles;
        given.NumMacroTileConfigs = found.macro_tiles;
        given.GbAddrConfig = found.gb_addr_config;
        given.NumBanks = found.banks;
        given.NumRanks = found.ranks;
        out.write(given);
        Ok(())
    }

    /// Writes where the list of a node's counters is; `*CounterProperties` is NULL after a failure.
    fn hsaKmtPmcGetCounterProperties(NodeId: HSAuint32, CounterProperties: *mut *mut HsaCounterProperties) {
        process::require_open()?;
        // SAFETY: the pointer is the caller's, for one pointer.
        let out = unsafe { Out::new("CounterProperties", CounterProperties) }?;
        out.write(std::ptr::null_mut());
        node(NodeId)?;
        not_supported(NO_TRACES)
    }

    /// Prepares a trace of some counters.
    fn hsaKmtPmcRegisterTrace(
        NodeId: HSAuint32,
        NumberOfCounters: HSAuint32,
        Counters: *mut HsaCounter,
        TraceRoot: *mut HsaPmcTraceRoot,
    ) {
        process::require_open()?;
        given("Counters", Counters)?;
        given("TraceRoot", TraceRoot)?;
        argument(NumberOfCounters != 0, "NumberOfCounters is 0")?;
        node(NodeId)?;
        not_supported(NO_TRACES)
    }

    /// Ends what [`hsaKmtPmcRegisterTrace`] began.
    fn hsaKmtPmcUnregisterTrace(NodeId: HSAuint32, TraceId: HSATraceId) {
        on_trace_of(NodeId, TraceId)
    }

    /// Takes the counters of a trace for this process.
    fn hsaKmtPmcAcquireTraceAccess(NodeId: HSAuint32, TraceId: HSATraceId) {
        on_trace_of(NodeId, TraceId)
    }

    /// Gives back the counters of a trace.
    fn hsaKmtPmcReleaseTraceAccess(NodeId: HSAuint32, TraceId: HSATraceId) {
        on_trace_of(NodeId, TraceId)
    }

    /// Starts to count into a buffer.
    fn hsaKmtPmcStartTrace(TraceId: HSATraceId, TraceBuffer: *mut c_void, TraceBufferSizeBytes: HSAuint64) {
        on_trace(TraceId)?;
        given("TraceBuffer", TraceBuffer)?;
        argument(TraceBufferSizeBytes != 0, "TraceBufferSizeBytes is 0")?;
        not_supported(NO_TRACES)
    }

    /// Writes the counts of a trace to its buffer.
    fn hsaKmtPmcQueryTrace(TraceId: HSATraceId) {
        on_trace(TraceId)?;
        not_supported(NO_TRACES)
    }

    /// Stops to count.
    fn hsaKmtPmcStopTrace(TraceId: HSATraceId) {
        on_trace(TraceId)?;
        not_supported(NO_TRACES)
    }

    /// Takes the stream of performance samples of a node.
    fn hsaKmtSPMAcquire(PreferredNode: HSAuint32) {
        on_stream(PreferredNode)
    }

    /// Gives back the stream of performance samples of a node.
    fn hsaKmtSPMRelease(PreferredNode: HSAuint32) {
        on_stream(PreferredNode)
    }

    /// Says where samples go next, and waits for those of the place before. NULL stops the stream.
    fn hsaKmtSPMSetDestBuffer(
        PreferredNode: HSAuint32,
        SizeInBytes: HSAuint32,
        timeout: *mut HSAuint32,
        SizeCopied: *mut HSAuint32,
        DestMemoryAddress: *mut c_void,
        isSPMDataLoss: *mut bool,
    ) {
        process::require_open()?;
        given("timeout", timeout)?;
        given("SizeCopied", SizeCopied)?;
        given("isSPMDataLoss", isSPMDataLoss)?;
        on_stream(PreferredNode)
    }

    /// Tells whether the program counter can be sampled: SUCCESS, or NOT_SUPPORTED.
    fn hsaKmtPcSamplingSupport() {
        process::require_open()?;
        not_supported(NO_SAMPLES)
    }

    /// Writes the ways in which a node can sample the program counter, as many as fit, and how many bytes all need.
    fn hsaKmtPcSamplingQueryCapabilities(
        NodeId: HSAuint32,
        sample_info: *mut c_void,
        sample_info_sz: HSAuint32,
        sz_needed: *mut HSAuint32,
    ) {
        given("sz_needed", sz_needed)?;
        node(NodeId)?;
        not_supported(NO_SAMPLES)
    }

    /// Makes a sampler of the program counter; `*traceId` is 0 after a failure.
    fn hsaKmtPcSamplingCreate(
        node_id: HSAuint32,
        sample_info: *mut HsaPcSamplingInfo,
        traceId: *mut HsaPcSamplingTraceId,
    ) {
        given("sample_info", sample_info)?;
        // SAFETY: the pointer is the caller's, for one number.
        let out = unsafe { Out::new("traceId", traceId) }?;
        node(node_id)?;
        out.write(0);
        not_supported(NO_SAMPLES)
    }

    /// Stops a sampler and destroys it.
    fn hsaKmtPcSamplingDestroy(NodeId: HSAuint32, traceId: HsaPcSamplingTraceId) {
        on_sampler(NodeId, traceId)
    }

    /// Starts a sampler.
    fn hsaKmtPcSamplingStart(NodeId: HSAuint32, traceId: HsaPcSamplingTraceId) {
        on_sampler(NodeId, traceId)
    }

    /// Stops a sampler.
    fn hsaKmtPcSamplingStop(NodeId: HSAuint32, traceId: HsaPcSamplingTraceId) {
        on_sampler(NodeId, traceId)
    }
}
