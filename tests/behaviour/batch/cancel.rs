//! Dropping the future drops the running calls and starts no others. Cancelling ends the whole batch.

use support::dropped::OnDrop;
use support::prelude::*;

use super::{Answers, EXACT, Results, Server, all_ok, errors, secs};

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_drops_running_calls() {
    let (begun, dropped) = (Cell::new(0), Cell::new(0));
    let batches = Policy::new().batches(1).concurrency(2);
    let results = retry_each(batches, 0..10, async |pending: Vec<u32>| {
        begun.set(begun.get() + 1);
        let _guard = OnDrop(|| dropped.set(dropped.get() + 1));
        sleep(secs(10)).await;
        all_ok(pending)
    });
    assert!(timeout(secs(15), results).await.is_err());
    assert_eq!((begun.get(), dropped.get()), (4, 4));
    sleep(secs(100)).await;
    assert_eq!(begun.get(), 4);
}

#[tokio::test(start_paused = true)]
async fn cancelled_in_a_pause_it_returns_what_is_done() {
    let (recording, start) = (testing::record(), Instant::now());
    let policy = EXACT.base(secs(30)).cancel(sleep(secs(5)));
    let server = Server::new([(0..1, vec![TRANSIENT]), (1..2, vec![STOP])]);
    let results = server.run(policy, 4).await;
    assert_eq!(start.elapsed(), secs(5));
    let expected = [
        "0: 1 attempt (cancelled): transient",
        "1: 1 attempt (not retryable): stop",
    ];
    assert_eq!(errors(&results), expected);
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
        all_ok(pending)
    })
    .await;
    let expected = [
        "0: 1 attempt (cancelled): transient",
        "3 4: 0 attempts (cancelled): not sent",
    ];
    assert_eq!(errors(&results), expected);
}

#[test]
fn blocking_batches_are_cancelled_too() {
    let _skipped = testing::skip_sleeps();
    let flag = AtomicBool::new(false);
    let batches = EXACT.cancel(&flag).batches(1);
    let results: Results = retry_each_blocking(batches, 0..4, |pending| {
        flag.store(pending == [1], Ordering::SeqCst);
        all_ok(pending)
    });
    assert_eq!(errors(&results), ["2 3: 0 attempts (cancelled): not sent"]);
}

#[test]
fn a_batch_that_never_sleeps_gives_way_once_for_each_round() {
    let policy = Policy::none().max(2);
    let policy = policy.timer(TimerFn::new(|_| ready(())));
    let server = Server::new([(0..1, vec![TRANSIENT; 3])]);
    let mut run = pin!(server.run(policy.batches(9), 1));
    let mut context = Context::from_waker(Waker::noop());
    for is_pending in [true, true, false] {
        assert_eq!(run.as_mut().poll(&mut context).is_pending(), is_pending);
    }
}
