//! Time per subtask of plans that are built, run and dropped: `cargo bench -p benches --bench plan`. If the cost is
//! linear, the time is the same for 1,000 and 10,000 subtasks.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use futures::executor::block_on;
use retry_work::Plan;

type Numbers = Plan<'static, u32, String>;
type Shape = fn(u32) -> Numbers;

/// Each subtask depends on the previous one.
fn chain(subtasks: u32) -> Numbers {
    let mut plan = Plan::new();
    plan.add("0", [], async |[]| Ok(0));
    let mut before = String::from("0");
    for subtask in 1..subtasks {
        let name = subtask.to_string();
        plan.add(name.as_str(), [before.as_str()], async |[input]| {
            Ok(*input + 1)
        });
        before = name;
    }
    plan
}

/// All subtasks except the first and the last depend on the first, and the last depends on all of them.
fn fan(subtasks: u32) -> Numbers {
    let mut plan = Plan::new();
    plan.add("hub", [], async |[]| Ok(0));
    let names: Vec<String> = (2..subtasks).map(|subtask| subtask.to_string()).collect();
    for name in &names {
        plan.add(name.as_str(), ["hub"], async |[hub]| Ok(*hub + 1));
    }
    plan.add("rim", names, async |outputs| {
        Ok(outputs.iter().map(|output| **output).sum())
    });
    plan
}

fn plans(criterion: &mut Criterion) {
    for (title, shape) in [("chain", chain as Shape), ("fan", fan)] {
        let mut group = criterion.benchmark_group(format!("{title}, time per subtask"));
        for subtasks in [1_000, 10_000] {
            group.bench_function(BenchmarkId::from_parameter(subtasks), |bencher| {
                bencher.iter_custom(|runs| {
                    let start = Instant::now();
                    for _ in 0..runs {
                        let mut plan = shape(black_box(subtasks));
                        let summary = block_on(plan.run()).expect("no cycle");
                        assert_eq!(summary.executions, u64::from(subtasks));
                    }
                    start.elapsed() / subtasks
                });
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(2));
    targets = plans
}
criterion_main!(benches);
