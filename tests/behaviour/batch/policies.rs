//! The types that are accepted as a policy, the sizes of calls, and the number of concurrent calls. No call waits for
//! another unnecessarily.

use retry_runtime::chain::{MayCancel, OnError};
use retry_work::Batches;
use support::prelude::*;

use super::{Most, NONE, Server, all_ok, errors, secs};

/// The sizes of the calls for 5 items. The first item fails once.
async fn sizes(
    policy: impl IntoBatches<Timer: Timer, On: OnError<Failure>, Cancel: MayCancel>,
) -> Vec<usize> {
    let server = Server::new([(0..1, vec![TRANSIENT])]);
    assert_eq!(errors(&server.run(policy, 5).await), NONE);
    server.items().iter().map(Vec::len).collect()
}

#[tokio::test(start_paused = true)]
async fn any_policy_does() {
    let policy = Policy::new();
    assert_rows! {
        sizes(policy).await => [5, 1];
        sizes(&policy).await => [5, 1];
        sizes(policy.on(|_: &Failure| true)).await => [5, 1];
        sizes(policy.batches(3)).await => [3, 2, 1];
        sizes(policy.on(|_: &Failure| true).batches(4)).await => [4, 1, 1];
        sizes(policy.batches(0)).await => [1; 6];
        sizes(policy.batches(usize::MAX)).await => [5, 1];
    }
}

/// The most calls at the same time, and the seconds, of 6 batches that take 1 to 6 seconds.
async fn concurrency(batches: Batches) -> (usize, u64) {
    let (most, start) = (Most::default(), Instant::now());
    let results = retry_each(batches, 1..=6, async |pending: Vec<u64>| {
        let _running = most.one_more();
        sleep(secs(pending[0])).await;
        all_ok(pending)
    });
    assert_eq!(results.await, [1, 2, 3, 4, 5, 6].map(Ok));
    (most.get(), start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn concurrency_is_bounded_and_used() {
    let batches = || Policy::new().batches(1);
    assert_rows! {
        concurrency(batches()).await => (1, 21);
        concurrency(batches().concurrency(0)).await => (1, 21);
        // 1 3 5 in parallel with 2 4 6.
        concurrency(batches().concurrency(2)).await => (2, 12);
        concurrency(batches().concurrency(100)).await => (6, 6);
        concurrency(Policy::new().batches(0).concurrency(3)).await => (3, 9);
    }
}
