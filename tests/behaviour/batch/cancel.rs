//! Dropping the future drops the running calls and starts no others. Cancelling ends the whole batch.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::join;
use retry_runtime::seam::TimerFn;
use retry_runtime::{Policy, Reason, testing};
use retry_work::{IntoBatches, retry_each, retry_each_blocking};
use support::failure::{Failure, STOP, TRANSIENT};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Answers, EXACT, Results, outcomes, secs};

struct Guard<'a>(&'a Cell<u32>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_drops_running_calls() {
    let (begun, dropped) = (Cell::new(0), Cell::new(0));
    let batches = Policy::new().batches(1).concurrency(2);
    let results = retry_each(batches, 0..10, async |pending: Vec<u32>| {
        begun.set(begun.get() + 1);
        let _guard = Guard(&dropped);
        sleep(secs(10)).await;
        Ok::<_, Failure>(pending.into_iter().map(Ok).collect())
    });
    assert!(timeout(secs(15), results).await.is_err());
    assert_eq!((begun.get(), dropped.get()), (4, 4));
    sleep(secs(100)).await;
    assert_eq!(begun.get(), 4);
}

#[tokio::test(start_paused = true)]
async fn ends_in_a_pause() {
    let begun = Cell::new(0);
    let results = retry_each(&EXACT, 0..10, async |_: Vec<u32>| {
        begun.set(begun.get() + 1);
        Err::<Vec<Result<u32, _>>, _>(TRANSIENT)
    });
    assert!(timeout(Duration::from_millis(1500), results).await.is_err());
    assert_eq!(begun.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn cancelled_in_a_pause_it_returns_what_is_done() {
    let recording = testing::record();
    let (start, token) = (Instant::now(), CancellationToken::new());
    let policy = EXACT.base(secs(30)).cancel(token.cancelled());
    let run = retry_each(policy, 0..4, async |pending: Vec<u32>| -> Answers {
        Ok(pending
            .into_iter()
            .map(|item| match item {
                0 => Err(TRANSIENT),
                1 => Err(STOP),
                item => Ok(item),
            })
            .collect())
    });
    let (results, ()): (Results, ()) = join!(run, async {
        sleep(secs(5)).await;
        token.cancel();
    });
    assert_eq!(start.elapsed(), secs(5));
    let error = |text: &str| Err(format!("gave up after 1 attempt ({text}"));
    let expected = [
        error("cancelled): transient"),
        error("not retryable): stop"),
        Ok(2),
        Ok(3),
    ];
    assert_eq!(outcomes(&results), expected);
    let last = recording.lines().pop().unwrap();
    assert!(last.ends_with("reason=cancelled"), "{last}");
}

#[tokio::test(start_paused = true)]
async fn cancelled_in_a_round_it_lets_calls_end_and_starts_no_other() {
    let token = CancellationToken::new();
    let batches = EXACT.cancel(token.cancelled()).batches(1);
    let results: Results = retry_each(batches, 0..5, async |pending: Vec<u32>| -> Answers {
        sleep(secs(1)).await;
        match pending[0] {
            0 => return Err(TRANSIENT),
            2 => token.cancel(),
            _ => {}
        }
        Ok(pending.into_iter().map(Ok).collect())
    })
    .await;
    let reason = |index: usize| {
        results[index]
            .as_ref()
            .map_err(|error| (error.reason(), error.attempts()))
    };
    assert_eq!(reason(0), Err((Reason::Cancelled, 1)));
    assert_eq!([reason(1), reason(2)], [Ok(&1), Ok(&2)]);
    assert_eq!([reason(3), reason(4)], [Err((Reason::Cancelled, 0)); 2]);
}

#[test]
fn blocking_batches_are_cancelled_too() {
    let _skipped = testing::skip_sleeps();
    let flag = AtomicBool::new(false);
    let batches = EXACT.cancel(&flag).batches(1);
    let results: Results = retry_each_blocking(batches, 0..4, |pending| {
        flag.store(pending == [1], Ordering::SeqCst);
        Ok(pending.into_iter().map(Ok).collect())
    });
    assert_eq!(results[..2], [Ok(0), Ok(1)]);
    for result in &results[2..] {
        assert_eq!(result.as_ref().unwrap_err().reason(), Reason::Cancelled);
    }
}

#[test]
fn a_batch_that_never_sleeps_gives_way_once_for_each_round() {
    let policy = Policy::none().max(2);
    let policy = policy.timer(TimerFn::new(|_| std::future::ready(())));
    let batches = policy.batches(9);
    let mut run = std::pin::pin!(retry_each(batches, [0], async |_: Vec<u32>| -> Answers {
        Err(TRANSIENT)
    }));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..2 {
        assert!(Future::poll(run.as_mut(), &mut context).is_pending());
    }
    assert!(Future::poll(run.as_mut(), &mut context).is_ready());
}
