//! Budgets, breakers, limiters, observers and names in batches.

use support::dropped::{give_way, leaves_nothing_behind};
use support::prelude::*;

use super::{EXACT, Server, errors};

/// A server on which each item fails.
fn down() -> Server {
    Server::new([(0..99, vec![TRANSIENT; 9])])
}

#[tokio::test(start_paused = true)]
async fn each_item_pays_for_its_own_retry() {
    // Enough for three retries.
    let budget = Budget::grpc(6, 0.1);
    let (recording, events) = (testing::record(), testing::Recorder::new());
    let chain = EXACT
        .name("each")
        .budget(&budget)
        .observe(|event| events.observe(event));
    let results = down().run(chain.batches(9), 5).await;
    // Every failure takes one of its six tokens, and at half of them no retry is paid.
    let expected = ["0 1 2 3 4: 1 attempt (budget): transient"];
    assert_eq!(errors(&results), expected);
    let line = "gave up each attempt=1 max=3 error=5 of 5 items: transient reason=budget";
    assert_eq!(recording.lines(), [line]);
    let seen = [
        "starting each attempt=1",
        "progressed each attempt=1 done=0 failed=0 waiting=5",
        "progressed each attempt=1 done=0 failed=5 waiting=0",
        // Its items, and with them the batch.
        line,
        line,
    ];
    assert_eq!(events.lines(), seen);
}

#[tokio::test(start_paused = true)]
async fn a_budget_pays_for_as_many_as_it_can() {
    // A retry costs 14.
    let budget = Budget::standard();
    let results = down().run(EXACT.max(1).budget(&budget), 50).await;
    let ends = results.iter().map(|result| result.as_ref().unwrap_err());
    let ends: Vec<_> = ends
        .map(|error| (error.attempts(), error.reason()))
        .collect();
    let (paid, unpaid) = ends.split_at(500 / 14);
    assert!(paid.iter().all(|end| *end == (2, Reason::Exhausted)));
    assert!(unpaid.iter().all(|end| *end == (1, Reason::Budget)));
    assert_eq!(budget.available(), f64::from(500 % 14));
}

/// Those that were paid for are sent again, and then have no error to show.
#[tokio::test(start_paused = true)]
async fn items_without_budget_are_reported_with_their_own_error() {
    // A retry costs 14 of 500.
    let budget = Budget::standard();
    let last = RefCell::new(String::new());
    let batches = EXACT
        .name("paid")
        .on(|_: &String| true)
        .show(fmt::Display::fmt)
        .budget(&budget)
        .observe(|event: &Event<'_>| *last.borrow_mut() = event.to_string())
        .batches(50);
    let mut is_first = true;
    let results = retry_each(batches, 0..50, |pending: Vec<i32>| {
        let is_busy = std::mem::take(&mut is_first);
        let busy = |item| (!is_busy).then_some(item).ok_or(format!("{item} is busy"));
        ready(Ok(pending.into_iter().map(busy).collect()))
    })
    .await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 35);
    let expected = "gave up paid attempt=2 max=3 error=15 of 50 items: 35 is busy reason=budget";
    assert_eq!(last.into_inner(), expected);
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_ends_items_with_what_they_have() {
    let breaker = Breaker::new().consecutive_failures(2);
    let recording = testing::record();
    let batches = EXACT.name("items").breaker(&breaker).batches(2);
    let expected = [
        "0 1: 1 attempt (rejected): transient",
        "2: 0 attempts (rejected): not sent",
    ];
    assert_eq!(errors(&down().run(batches, 3).await), expected);
    assert_eq!(breaker.state(), BreakerState::Open);
    let lines = recording.lines();
    let opened = "breaker opened items attempt=1 ";
    assert!(lines[0].starts_with(opened), "{lines:?}");
    let end = "gave up items attempt=1 max=3 error=2 of 2 items: transient reason=rejected";
    assert!(lines.contains(&end.to_owned()), "{lines:?}");
}

#[test]
fn threads_share_budget_and_breaker() {
    let (budget, breaker) = (Budget::standard(), Breaker::new().consecutive_failures(2));
    let batches = Policy::none()
        .max(1)
        .name("threads")
        .budget(&budget)
        .breaker(&breaker)
        .batches(1)
        .concurrency(4);
    let results = retry_each_blocking(batches, 0..4, |_| Err::<Vec<Result<(), _>>, _>(STOP));
    assert!(results.iter().all(Result::is_err));
    assert_eq!(budget.available(), 500.0);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_releases_everything() {
    // Each item pays, or each request that failed as a whole.
    for (payers, fails_whole) in [(5, false), (3, true)] {
        leaves_nothing_behind(payers, async |shared| {
            let batches = Policy::none()
                .max(2)
                .timer(TimerFn::new(|_| give_way()))
                .budget(&shared.budget)
                .batches(2)
                .concurrency(2);
            let results = retry_each(batches, 0..5, async |pending: Vec<i32>| {
                if fails_whole {
                    return Err::<Vec<Result<(), _>>, _>(shared.attempts(1).await);
                }
                let failure = shared.attempts(pending.len()).await;
                Ok(pending.iter().map(|_| Err(failure.clone())).collect())
            });
            assert!(results.await.iter().all(Result::is_err));
        });
    }
}

/// A response is a success of the server, even if another item of the call failed.
#[tokio::test(start_paused = true)]
async fn a_budget_records_each_item_separately() {
    let once = Failure(Verdict::TIMEOUT.once());
    for [first, second] in [[STOP, once.clone()], [once, STOP]] {
        let budget = Budget::standard();
        assert!(budget.withdraw(Kind::Transient));
        let server = Server::new([(0..1, vec![first]), (1..2, vec![second])]);
        let results = server.run(EXACT.budget(&budget), 2).await;
        assert!(results.iter().all(Result::is_err));
        assert_eq!(budget.available(), 487.0);
    }
}
