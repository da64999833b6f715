//! Time per call: `cargo bench -p benches --bench time`.
//!
//! Instructions are a better measure of a call's cost, because they don't depend on other load on the machine.

use std::time::{Duration, Instant};

use cases::Group;
use criterion::{Criterion, criterion_group, criterion_main};

#[expect(
    dead_code,
    reason = "only benches/instructions.rs uses the sizes and bounds"
)]
mod cases;

fn calls(criterion: &mut Criterion) {
    let cases = cases::all();
    for group in Group::ALL {
        let mut benchmarks = criterion.benchmark_group(group.title());
        for case in cases.iter().filter(|case| case.group == group) {
            benchmarks.bench_function(case.way.title(), |bencher| {
                bencher.iter_custom(|calls| {
                    let start = Instant::now();
                    (case.run)(calls);
                    start.elapsed()
                });
            });
        }
        benchmarks.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(200));
    targets = calls
}
criterion_main!(benches);
