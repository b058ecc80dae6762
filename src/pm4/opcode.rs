//! Headers of PM4 packets, and the names of opcodes (queues-pm4.md section 2.2; names of others are of `nvd.h`).

use super::layout::Pm4;

/// Type-2 packet: one dword of filler (2.2).
pub const FILLER: u32 = 0x8000_0000;
/// `NOP`.
pub const NOP: u32 = 0x10;
/// Count field of the NOP that is one dword (2.2).
pub const ONE_DWORD: u32 = 0x3fff;

/// Type-3 header of a packet of `dwords` dwords; `None` when its count field cannot say so many.
///
/// The count is the dwords less two. A NOP of one dword has the count 0x3fff, which then means nothing else.
pub const fn header(engine: Pm4, opcode: u32, dwords: usize) -> Option<u32> {
    let count = match dwords {
        0 => return None,
        1 if opcode == NOP => ONE_DWORD,
        1 => return None,
        _ if dwords - 2 > ONE_DWORD as usize || (opcode == NOP && dwords - 2 == ONE_DWORD as usize) => return None,
        _ => (dwords - 2) as u32,
    };
    Some(3 << 30 | count << 16 | (opcode & 0xff) << 8 | (engine.shader_type as u32) << 1 | engine.predicate as u32)
}

/// Dwords that a type-3 header announces.
pub const fn announced(header: u32) -> usize {
    let count = (header >> 16) & 0x3fff;
    if count == ONE_DWORD && (header >> 8) & 0xff == NOP { 1 } else { count as usize + 2 }
}

/// Name of an opcode of type 3, where there is one.
pub fn name(opcode: u32) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == opcode).map(|(_, name)| *name)
}

/// Opcodes and names, by number.
pub const NAMES: &[(u32, &str)] = &[
    (0x10, "NOP"),
    (0x11, "SET_BASE"),
    (0x12, "CLEAR_STATE"),
    (0x15, "DISPATCH_DIRECT"),
    (0x16, "DISPATCH_INDIRECT"),
    (0x1d, "ATOMIC_GDS"),
    (0x1e, "ATOMIC_MEM"),
    (0x1f, "OCCLUSION_QUERY"),
    (0x20, "SET_PREDICATION"),
    (0x21, "REG_RMW"),
    (0x22, "COND_EXEC"),
    (0x23, "PRED_EXEC"),
    (0x28, "CONTEXT_CONTROL"),
    (0x33, "INDIRECT_BUFFER_CNST"),
    (0x37, "WRITE_DATA"),
    (0x39, "MEM_SEMAPHORE"),
    (0x3c, "WAIT_REG_MEM"),
    (0x3f, "INDIRECT_BUFFER"),
    (0x40, "COPY_DATA"),
    (0x41, "CP_DMA"),
    (0x42, "PFP_SYNC_ME"),
    (0x43, "SURFACE_SYNC"),
    (0x44, "ME_INITIALIZE"),
    (0x45, "COND_WRITE"),
    (0x46, "EVENT_WRITE"),
    (0x47, "EVENT_WRITE_EOP"),
    (0x48, "EVENT_WRITE_EOS"),
    (0x49, "RELEASE_MEM"),
    (0x4a, "PREAMBLE_CNTL"),
    (0x50, "DMA_DATA"),
    (0x51, "CONTEXT_REG_RMW"),
    (0x58, "ACQUIRE_MEM"),
    (0x59, "REWIND"),
    (0x5a, "INTERRUPT"),
    (0x5c, "INDIRECT_BUFFER_PASID"),
    (0x5d, "PRIME_UTCL2"),
    (0x5e, "LOAD_UCONFIG_REG"),
    (0x5f, "LOAD_SH_REG"),
    (0x60, "LOAD_CONFIG_REG"),
    (0x61, "LOAD_CONTEXT_REG"),
    (0x62, "LOAD_COMPUTE_STATE"),
    (0x63, "LOAD_SH_REG_INDEX"),
    (0x68, "SET_CONFIG_REG"),
    (0x69, "SET_CONTEXT_REG"),
    (0x6a, "SET_CONTEXT_REG_INDEX"),
    (0x76, "SET_SH_REG"),
    (0x77, "SET_SH_REG_OFFSET"),
    (0x78, "SET_QUEUE_REG"),
    (0x79, "SET_UCONFIG_REG"),
    (0x7a, "SET_UCONFIG_REG_INDEX"),
    (0x7d, "SCRATCH_RAM_WRITE"),
    (0x7e, "SCRATCH_RAM_READ"),
    (0x8b, "SWITCH_BUFFER"),
    (0x90, "FRAME_CONTROL"),
    (0x93, "WAIT_REG_MEM64"),
    (0x94, "COND_PREEMPT"),
    (0x95, "HDP_FLUSH"),
    (0x96, "COPY_DATA_RB"),
    (0x98, "INVALIDATE_TLBS"),
    (0x99, "AQL_PACKET"),
    (0x9a, "DMA_DATA_FILL_MULTI"),
    (0x9b, "SET_SH_REG_INDEX"),
    (0xa0, "SET_RESOURCES"),
    (0xa1, "MAP_PROCESS"),
    (0xa2, "MAP_QUEUES"),
    (0xa3, "UNMAP_QUEUES"),
    (0xa4, "QUERY_STATUS"),
    (0xa5, "RUN_LIST"),
    (0xa6, "MAP_PROCESS_VM"),
];
