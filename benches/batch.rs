//! Time per item of a batch: `cargo bench -p benches --bench batch`.
//!
//! Every tenth item fails once, so a batch takes two rounds, without a pause between them. criterion prints the time of
//! a whole batch and the items per second. The table at the end contains the time per item, which must not grow with
//! the number of items.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use retry_runtime::Policy;
use retry_runtime::chain::PolicyCall;
use retry_runtime::seam::TimerFn;
use retry_work::{IntoBatches, retry_each, retry_each_blocking};

type Answers = Result<Vec<Result<u64, bool>>, bool>;
type Batch = fn(&[u64]) -> usize;

/// The second round contains only the items that failed in the first.
#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the signature of an operation"
)]
fn answer(items: Vec<&u64>) -> Answers {
    let retried = items.iter().all(|item| **item % 10 == 0);
    let answers = items.iter().map(|item| match **item {
        item if item % 10 == 0 && !retried => Err(true),
        item => Ok(item),
    });
    Ok(answers.collect())
}

fn policy() -> PolicyCall<'static, impl FnMut(&bool) -> bool + Send> {
    Policy::none().on(|retry: &bool| *retry)
}

fn all_ok(results: &[Result<u64, impl Sized>]) -> usize {
    results.iter().filter(|result| result.is_ok()).count()
}

fn one_by_one(items: &[u64]) -> usize {
    run(items, 1)
}

fn concurrent(items: &[u64]) -> usize {
    run(items, 8)
}

fn run(items: &[u64], concurrency: usize) -> usize {
    let no_pause = TimerFn::new(|_| std::future::ready(()));
    let batches = policy()
        .timer(no_pause)
        .batches(1000)
        .concurrency(concurrency);
    let results = retry_each(batches, items, async |pending| answer(pending));
    all_ok(&futures::executor::block_on(results))
}

fn blocking(items: &[u64]) -> usize {
    all_ok(&retry_each_blocking(policy().batches(1000), items, answer))
}

const WAYS: [(&str, Batch); 3] = [
    ("one call at a time", one_by_one),
    ("8 calls at a time", concurrent),
    ("blocking", blocking),
];

fn time_per_item(criterion: &mut Criterion) {
    let items: Vec<u64> = (0..1_000_000).collect();
    let mut table = String::from("time per item of 10,000, 100,000 and 1,000,000 items:\n");
    for (way, batch) in WAYS {
        let mut group = criterion.benchmark_group(format!("items, {way}"));
        table += way;
        for count in [10_000, 100_000, 1_000_000] {
            let items = &items[..count];
            let mut least = Duration::MAX;
            group.throughput(Throughput::Elements(count as u64));
            group.bench_with_input(
                BenchmarkId::from_parameter(count),
                items,
                |bencher, items| {
                    bencher.iter_custom(|times| {
                        let mut total = Duration::ZERO;
                        for _ in 0..times {
                            let start = Instant::now();
                            assert_eq!(batch(items), items.len());
                            let time = start.elapsed();
                            least = least.min(time);
                            total += time;
                        }
                        total
                    });
                },
            );
            let _ = write!(table, "  {} ns", least.as_nanos() / count as u128);
        }
        group.finish();
        table += "\n";
    }
    print!("{table}");
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = time_per_item
}
criterion_main!(benches);
