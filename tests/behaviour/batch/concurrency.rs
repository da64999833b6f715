//! The number of concurrent calls. No call waits for another unnecessarily.

use retry_work::Batches;
use support::prelude::*;

use super::{EXACT, Most, all_ok, secs};

/// The most calls at the same time, and the seconds, of 6 batches that take 1 to 6 seconds.
async fn run(batches: Batches) -> (usize, u64) {
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
async fn is_bounded_and_used() {
    let batches = || Policy::new().batches(1);
    assert_rows! {
        run(batches()).await => (1, 21);
        run(batches().concurrency(0)).await => (1, 21);
        // 1 3 5 in parallel with 2 4 6.
        run(batches().concurrency(2)).await => (2, 12);
        run(batches().concurrency(100)).await => (6, 6);
        run(Policy::new().batches(0).concurrency(3)).await => (3, 9);
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_in_order_whichever_call_ends_first() {
    let retried = Cell::new(false);
    let batches = EXACT.batches(1).concurrency(10);
    let results = retry_each(batches, 0..10, async |pending: Vec<u64>| {
        sleep(secs(10 - pending[0])).await;
        // The first item is the last to end.
        if retried.replace(retried.get() || pending[0] == 0) {
            return all_ok(pending);
        }
        Err(TRANSIENT)
    });
    assert_eq!(results.await, (0..10).map(Ok).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn the_next_round_is_in_order_whichever_call_ends_first() {
    let calls = RefCell::new(Vec::new());
    let batches = EXACT.max(1).batches(2).concurrency(3);
    let results: Vec<Result<u64, _>> = retry_each(batches, [3, 2, 1], async |pending: Vec<u64>| {
        sleep(secs(pending[0])).await;
        calls.borrow_mut().push(pending);
        Err(TRANSIENT)
    })
    .await;
    assert!(results.iter().all(Result::is_err));
    let expected = [vec![1], vec![3, 2], vec![1], vec![3, 2]];
    assert_eq!(calls.into_inner(), expected);
}
