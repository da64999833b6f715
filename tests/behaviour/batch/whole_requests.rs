//! Requests that fail as a whole: one failure each to what is shared, however many items they hold.

use std::cell::RefCell;
use std::time::Duration;

use retry_protections::Breaker;
use retry_runtime::seam::{BreakerState, RetryBudget};
use retry_runtime::{Budget, Kind, Policy, Reason, testing};
use retry_work::{IntoBatches, retry_each};
use support::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT};
use tokio::time::{advance, sleep};

use super::{Answers, EXACT, secs};

#[tokio::test(start_paused = true)]
async fn a_failed_request_does_not_end_other_items() {
    let (budget, breaker) = (Budget::standard(), Breaker::new());
    let requests = RefCell::new(0);
    let batches = EXACT.budget(&budget).breaker(&breaker).batches(100);
    let results = retry_each(batches, 0..1000, async |pending: Vec<i32>| {
        if requests.replace_with(|requests| *requests + 1) == 0 {
            return Err(TRANSIENT);
        }
        Ok(pending.into_iter().map(Ok).collect())
    });
    assert!(results.await.iter().all(Result::is_ok));
    assert_eq!(requests.into_inner(), 11);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_breaker_counts_each_once() {
    let breaker = Breaker::new().consecutive_failures(3);
    let requests = RefCell::new(0);
    let batches = Policy::none().breaker(&breaker).batches(5);
    let results = retry_each(batches, 0..30, async |_| {
        requests.replace_with(|requests| *requests + 1);
        Err::<Vec<Result<(), _>>, _>(TRANSIENT)
    })
    .await;
    assert_eq!(requests.into_inner(), 3);
    for result in results {
        assert_eq!(result.unwrap_err().reason(), Reason::Rejected);
    }
}

/// One result for all items is one trial, and the other items' permits are released.
#[tokio::test(start_paused = true)]
async fn a_request_is_one_trial() {
    let breaker = Breaker::new().consecutive_failures(1).trial_calls(3);
    let succeeded = async |answer: Result<(), Failure>| {
        let batches = Policy::none().max(0).breaker(&breaker);
        let results = retry_each(batches, 0..3, async |pending: Vec<i32>| {
            answer.clone()?;
            Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
        })
        .await;
        results.iter().filter(|result| result.is_ok()).count()
    };
    assert_eq!(succeeded(Err(TRANSIENT)).await, 0);
    assert_eq!(breaker.state(), BreakerState::Open);
    advance(Duration::from_secs(5)).await;
    // A response, even though it is an error.
    assert_eq!(succeeded(Err(STOP)).await, 0);
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
    assert_eq!(succeeded(Ok(())).await, 2);
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
    assert_eq!(succeeded(Ok(())).await, 1);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

/// A failure of all items is not outweighed by as many successes as another request has items.
#[tokio::test(start_paused = true)]
async fn a_whole_success_or_failure_counts_once() {
    let breaker = Breaker::new().ratio(0.5).minimum_calls(10);
    let requests = RefCell::new(0);
    let batches = Policy::none().max(0).breaker(&breaker).batches(100);
    let results = retry_each(batches, 0..2000, async |pending: Vec<i32>| {
        if requests.replace_with(|requests| *requests + 1) < 5 {
            return Ok(pending.into_iter().map(Ok).collect());
        }
        Err(TRANSIENT)
    })
    .await;
    assert_eq!(requests.into_inner(), 10);
    assert_eq!(breaker.state(), BreakerState::Open);
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 500);
}

/// The permits of the other items must not count as abandoned attempts.
#[tokio::test(start_paused = true)]
async fn a_late_response_is_not_a_hung_attempt() {
    let all = Ok(vec![Ok(0); 5]);
    let too_few = Ok(vec![Ok(0); 4]);
    for answers in [all, too_few, Err(STOP)] {
        let breaker = Breaker::new().hung_after(secs(1)).consecutive_failures(3);
        let results = retry_each(EXACT.breaker(&breaker), 0..5, async |_| {
            sleep(secs(2)).await;
            answers.clone()
        });
        assert_eq!(results.await.len(), 5);
        assert_eq!(breaker.state(), BreakerState::Closed, "{answers:?}");
    }
}

/// Sends `items` in batches of three; after the given results, each succeeds. Returns the budget's tokens before each
/// request and at the end, and the outcomes of the items.
async fn paid(
    budget: &Budget,
    items: u32,
    answers: Vec<Answers>,
) -> (Vec<f64>, Vec<Option<Reason>>) {
    let seen = RefCell::new(Vec::new());
    let batches = EXACT.name("paid").budget(budget).batches(3);
    let results = retry_each(batches, 0..items, async |pending: Vec<u32>| {
        let answer = answers.get(seen.borrow().len()).cloned();
        seen.borrow_mut().push(budget.available());
        answer.unwrap_or_else(|| Ok(pending.into_iter().map(Ok).collect()))
    })
    .await;
    let ends = results.iter().map(|result| match result {
        Ok(_) => None,
        Err(error) => Some(error.reason()),
    });
    let mut seen = seen.into_inner();
    seen.push(budget.available());
    (seen, ends.collect())
}

#[tokio::test(start_paused = true)]
async fn a_request_pays_for_one_retry() {
    let budget = Budget::standard();
    (0..10).for_each(|_| assert!(budget.withdraw(Kind::Transient)));
    let (seen, ends) = paid(&budget, 3, vec![Err(TRANSIENT), Err(THROTTLED)]).await;
    assert_eq!(ends, [None; 3]);
    // The success gives back the last payment.
    assert_eq!(seen, [360.0, 346.0, 341.0, 346.0]);
}

#[tokio::test(start_paused = true)]
async fn items_that_failed_separately_pay_separately() {
    let apart = Ok(vec![Err(TRANSIENT), Err(TIMEOUT), Err(TRANSIENT)]);
    let (seen, _) = paid(&Budget::standard(), 3, vec![apart, Err(TRANSIENT)]).await;
    // The two payments of the last request are refunded.
    assert_eq!(seen, [500.0, 458.0, 430.0, 458.0]);
}

#[tokio::test(start_paused = true)]
async fn a_single_payment_is_refunded_once() {
    let budget = Budget::standard();
    (0..10).for_each(|_| assert!(budget.withdraw(Kind::Transient)));
    let apart = Ok(vec![Err(STOP); 3]);
    let (seen, _) = paid(&budget, 3, vec![Err(TRANSIENT), apart]).await;
    // The payment is refunded with the first result, and each other result adds 1.
    assert_eq!(seen, [360.0, 346.0, 362.0]);
}

#[tokio::test(start_paused = true)]
async fn items_end_together_if_the_budget_is_empty() {
    // Enough for one retry.
    let budget = Budget::standard().capacity(14);
    let recording = testing::record();
    let (seen, ends) = paid(&budget, 6, vec![Err(TRANSIENT), Err(TRANSIENT)]).await;
    assert_eq!(seen, [14.0, 14.0, 0.0, 14.0]);
    assert_eq!(ends[..3], [None; 3]);
    assert_eq!(ends[3..], [Some(Reason::Budget); 3]);
    assert_eq!(
        recording.lines(),
        [
            "retrying paid attempt=1 max=3 delay=1s error=3 of 6 items: transient reason=transient",
            "gave up paid attempt=1 max=3 error=3 of 6 items: transient reason=budget",
        ]
    );
}

/// Requests with many items to a server that is down must not be retried forever.
#[tokio::test(start_paused = true)]
async fn a_request_is_one_call_to_the_budget() {
    let budget = Budget::ratio(1.0);
    (0..100).for_each(|_| assert!(budget.withdraw(Kind::Transient)));
    let (seen, _) = paid(&budget, 6, vec![Err(TRANSIENT); 4]).await;
    // Each of the two gives one, which pays for a retry.
    assert_eq!(seen, [0.0; 5]);
}
