//! What the topology calls cost on the software machine: warm calls, and a cold round trip on 1 and 8 adapters.
//!
//! Goals: a warm call below 200 ns, a cold snapshot below 25 D3DKMT calls per adapter. Both are printed.

#[path = "../tests/common/embedded.rs"]
mod embedded;

use std::hint::black_box;

use criterion::Criterion;
use dxcore::control;
use embedded::*;
use rocdxg::abi::*;

fn cold_round_trip() {
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    black_box(acquire().expect("the machine has a topology"));
    assert_eq!(release(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
}

fn warm(c: &mut Criterion) {
    let _machine = Machine::named("gfx1100");
    assert_eq!(open(), HSAKMT_STATUS_SUCCESS);
    acquire().expect("the machine has a topology");
    let mut group = c.benchmark_group("warm");
    group.bench_function("acquire+release", |b| {
        b.iter(|| {
            black_box(acquire()).expect("a snapshot is there");
            black_box(release());
        });
    });
    group.bench_function("hsaKmtGetNodeProperties", |b| b.iter(|| black_box(node(1))));
    group.finish();
    assert_eq!(release(), HSAKMT_STATUS_SUCCESS);
    assert_eq!(close(), HSAKMT_STATUS_SUCCESS);
}

fn cold(c: &mut Criterion) {
    let mut group = c.benchmark_group("cold open to close");
    for (name, adapters) in [("gfx1100", 1), ("eight-gfx1100", 8)] {
        let _machine = Machine::named(name);
        cold_round_trip();
        assert_clean();
        let calls = control::calls("Any").expect("any is a kind");
        let each = calls as f64 / f64::from(adapters);
        println!("cold open to close/{name}: {calls} D3DKMT calls, {each:.1} per adapter");
        group.bench_function(name, |b| b.iter(cold_round_trip));
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    warm(&mut criterion);
    cold(&mut criterion);
    criterion.final_summary();
}
