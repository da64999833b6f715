//! The types that are accepted as a policy, and the timer that is used.

use std::cell::RefCell;
use std::time::Duration;

use retry_runtime::Policy;
use retry_runtime::chain::{MayCancel, OnError};
use retry_runtime::seam::{Timer, TimerFn};
use retry_work::{IntoBatches, retry_each};
use support::failure::{Failure, TRANSIENT};

use super::{EXACT, Results, secs};

/// The sizes of the calls for 5 items. The first item fails once.
async fn sizes<P: IntoBatches<Timer: Timer, On: OnError<Failure>, Cancel: MayCancel>>(
    policy: P,
) -> Vec<usize> {
    let sizes = RefCell::new(Vec::new());
    let results: Results = retry_each(policy, 0..5, async |pending: Vec<u32>| {
        let first = sizes.borrow().is_empty();
        sizes.borrow_mut().push(pending.len());
        let answer = |item| {
            if first && item == 0 {
                Err(TRANSIENT)
            } else {
                Ok(item)
            }
        };
        Ok(pending.into_iter().map(answer).collect())
    })
    .await;
    assert!(results.iter().all(Result::is_ok));
    sizes.into_inner()
}

#[tokio::test(start_paused = true)]
async fn any_policy_does() {
    let policy = Policy::new();
    assert_eq!(sizes(policy).await, [5, 1]);
    assert_eq!(sizes(&policy).await, [5, 1]);
    assert_eq!(sizes(policy.on(|_: &Failure| true)).await, [5, 1]);
    assert_eq!(sizes(policy.batches(3)).await, [3, 2, 1]);
    assert_eq!(
        sizes(policy.on(|_: &Failure| true).batches(4)).await,
        [4, 1, 1]
    );
    assert_eq!(sizes(policy.batches(0)).await, [1; 6]);
    assert_eq!(sizes(policy.batches(usize::MAX)).await, [5, 1]);
}

#[tokio::test(start_paused = true)]
async fn any_timer_does() {
    let slept = RefCell::new(Vec::new());
    let timer = TimerFn::new(|pause: Duration| {
        slept.borrow_mut().push(pause);
        std::future::ready(())
    });
    assert_eq!(sizes(EXACT.timer(timer).batches(5)).await, [5, 1]);
    assert_eq!(slept.into_inner(), [secs(1)]);
}
