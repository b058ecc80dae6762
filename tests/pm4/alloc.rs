//! Writing and reading a dispatch allocates nothing.

use rocdxg::pm4::packet::*;
use rocdxg::pm4::{CachePolicy, Encoder, Error, Gfx, Pm4, What, decode, registers};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // During the end of a thread there is no counter any more, and no test either.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The stream of 2.5 for a dispatch with profiling and a completion signal.
fn dispatch(encoder: &mut Encoder<'_, Pm4>) -> Result<(), Error> {
    let signal = 0x7f00_0000_1000;
    let gfx = encoder.gfx();
    let mut set = |run: registers::Run, values: &[u32]| encoder.put(&SetShReg { register: run.first, values });
    set(registers::COMPUTE_NUM_THREAD_X, &[64, 1, 1])?;
    set(registers::COMPUTE_PGM_LO, &[0x1234, 0])?;
    set(registers::COMPUTE_PGM_RSRC1, &[1, 2])?;
    set(registers::COMPUTE_RESOURCE_LIMITS, &[0x3ff, u32::MAX, u32::MAX, 0, u32::MAX, u32::MAX])?;
    set(registers::COMPUTE_USER_DATA, &[0; 16])?;
    encoder.put(&CopyData::timestamp(signal + 0x20))?;
    encoder.put(&EventWrite::CS_PARTIAL_FLUSH)?;
    encoder.put(&AcquireMem::everything(gfx))?;
    encoder.put(&DispatchDirect::work_items(4096, 1, 1, false))?;
    encoder.put(&EventWrite::CS_PARTIAL_FLUSH)?;
    encoder.put(&CopyData::timestamp(signal + 0x28))?;
    encoder.put(&AcquireMem::everything(gfx))?;
    encoder.put(&AtomicMem::add_64(signal + 8, -1, CachePolicy::BYPASS))?;
    encoder.put(&AtomicMem::add_64(0x7f00_0000_2080, 1, CachePolicy::STREAM))
}

#[test]
fn a_dispatch_allocates_nothing() {
    let mut words = [0; 128];
    for gfx in Gfx::ALL {
        let before = ALLOCATIONS.get();
        let mut encoder = Encoder::new(gfx, Pm4::COMPUTE, &mut words);
        let done = dispatch(&mut encoder);
        let used = encoder.used();
        let (mut packets, mut others) = (0, 0);
        for piece in decode(gfx, encoder.written()) {
            match piece.what {
                What::Packet(_) if piece.unexplained().is_none() => packets += 1,
                _ => others += 1,
            }
        }
        let mut short = Encoder::new(gfx, Pm4::COMPUTE, &mut words[..50]);
        let refused = dispatch(&mut short);
        let after = ALLOCATIONS.get();
        assert_eq!(after, before, "{gfx}");
        assert_eq!((done, packets, others), (Ok(()), 14, 0), "{gfx}");
        // The base of a frame (2.7) without its 128 spare bytes and what gfx11 adds; padded there.
        assert_eq!(used, if gfx == Gfx::Gfx9 { 92 } else { 94 }, "{gfx}");
        assert!(matches!(refused, Err(Error::Room { .. })), "{gfx}");
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(black_box(vec![1]));
    assert_eq!(ALLOCATIONS.get(), before + 1);
}
