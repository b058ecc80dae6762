//! `src/pm4`: literal dwords of the reference, round trips, hostile streams, and that nothing allocates.

mod alloc;
mod fields;
mod golden;
mod hostile;
mod layouts;
mod round_trip;
mod sdma;
mod show;

use rocdxg::pm4::{Encode, Encoder, Engine, Error, Gfx, Pm4};

/// The dwords of one packet.
fn encoded<E: Engine>(gfx: Gfx, engine: E, packet: &impl Encode<Engine = E>) -> Result<Vec<u32>, Error> {
    let mut words = vec![0xdead_beef; packet.dwords(gfx).max(1)];
    let mut encoder = Encoder::new(gfx, engine, &mut words);
    encoder.put(packet)?;
    assert_eq!(encoder.left(), 0, "the packet has the length that it says");
    Ok(words)
}

/// The dwords of one packet with the header of the thunk, on a generation that has it.
fn compute(gfx: Gfx, packet: &impl Encode<Engine = Pm4>) -> Vec<u32> {
    encoded(gfx, Pm4::COMPUTE, packet).expect("a valid packet")
}
