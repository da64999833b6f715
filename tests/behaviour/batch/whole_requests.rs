//! Requests that fail as a whole: protections record one failure for each, regardless of the number of items.

use support::prelude::*;

use super::{Answers, EXACT, NONE, Server, all_ok, errors, secs};

#[tokio::test(start_paused = true)]
async fn a_failed_request_does_not_end_other_items() {
    let (budget, breaker) = (Budget::standard(), Breaker::new());
    let server = Server::failing([TRANSIENT]);
    let batches = EXACT.budget(&budget).breaker(&breaker).batches(100);
    assert_eq!(errors(&server.run(batches, 1000).await), NONE);
    assert_eq!(server.items().len(), 11);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_breaker_counts_each_once() {
    let breaker = Breaker::new().consecutive_failures(3);
    let server = Server::failing([TRANSIENT; 9]);
    let batches = Policy::none().breaker(&breaker).batches(5);
    let results = server.run(batches, 30).await;
    assert_eq!(server.items().len(), 3);
    for result in results {
        assert_eq!(result.unwrap_err().reason(), Reason::Rejected);
    }
}

/// One result for all items is one trial, and the other items' permits are released.
#[tokio::test(start_paused = true)]
async fn a_request_is_one_trial() {
    let breaker = Breaker::new().consecutive_failures(1).trial_calls(3);
    let succeeded = async |whole: Option<Failure>| {
        let server = Server::failing(whole.into_iter().collect::<Vec<_>>());
        let results = server.run(Policy::none().max(0).breaker(&breaker), 3).await;
        results.iter().filter(|result| result.is_ok()).count()
    };
    assert_eq!(succeeded(Some(TRANSIENT)).await, 0);
    assert_eq!(breaker.state(), BreakerState::Open);
    advance(secs(5)).await;
    // A response, even though it is an error.
    assert_eq!(succeeded(Some(STOP)).await, 0);
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
    assert_eq!(succeeded(None).await, 2);
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
    assert_eq!(succeeded(None).await, 1);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

/// A failure of all items is not outweighed by as many successes as another request has items.
#[tokio::test(start_paused = true)]
async fn a_whole_success_or_failure_counts_once() {
    let breaker = Breaker::new().ratio(0.5).minimum_calls(10);
    let batches = Policy::none().max(0).breaker(&breaker).batches(100);
    let requests = Cell::new(0);
    let results = retry_each(batches, 0..2000, async |items: Vec<u32>| {
        requests.set(requests.get() + 1);
        match items[0] {
            ..500 => all_ok(items),
            _ => Err(TRANSIENT),
        }
    })
    .await;
    assert_eq!(requests.get(), 10);
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
/// request and at the end, and the errors.
async fn paid(budget: &Budget, items: u32, answers: &[Answers]) -> (Vec<f64>, Vec<String>) {
    let seen = RefCell::new(Vec::new());
    let batches = EXACT.name("paid").budget(budget).batches(3);
    let results = retry_each(batches, 0..items, async |pending: Vec<u32>| {
        let answer = answers.get(seen.borrow().len()).cloned();
        seen.borrow_mut().push(budget.available());
        answer.unwrap_or_else(|| all_ok(pending))
    })
    .await;
    let mut seen = seen.into_inner();
    seen.push(budget.available());
    (seen, errors(&results))
}

fn spent(budget: Budget, retries: u32) -> Budget {
    (0..retries).for_each(|_| assert!(budget.withdraw(Kind::Transient)));
    budget
}

#[tokio::test(start_paused = true)]
async fn a_request_pays_once() {
    let apart = || Ok(vec![Err(TRANSIENT), Err(TIMEOUT), Err(TRANSIENT)]);
    let refused = || Ok(vec![Err(STOP); 3]);
    for (name, budget, items, answers, tokens, failed) in rows! {
        // The success gives back the last payment.
        "for one retry", spent(Budget::standard(), 10), 3, vec![Err(TRANSIENT), Err(THROTTLED)],
            vec![360.0, 346.0, 341.0, 346.0], None;
        // The two payments of the last request are refunded.
        "items that failed separately pay separately", Budget::standard(), 3,
            vec![apart(), Err(TRANSIENT)], vec![500.0, 458.0, 430.0, 458.0], None;
        // The payment is refunded with the first result, and each other result adds 1.
        "a single payment is refunded once", spent(Budget::standard(), 10), 3,
            vec![Err(TRANSIENT), refused()], vec![360.0, 346.0, 362.0],
            Some("0 1 2: 2 attempts (not retryable): stop");
        // Requests with many items to a server that is down must not be retried forever. Each of the two gives one,
        // which pays for a retry.
        "a request is one call to the budget", spent(Budget::ratio(1.0), 100), 6,
            vec![Err(TRANSIENT); 4], vec![0.0; 5],
            Some("0 1 2 3 4 5: 2 attempts (budget): transient");
    } {
        let failed = failed.map(str::to_owned).into_iter().collect();
        let expected = (tokens, failed);
        assert_eq!(paid(&budget, items, &answers).await, expected, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn items_end_together_if_the_budget_is_empty() {
    // Enough for one retry.
    let budget = Budget::standard().capacity(14);
    let recording = testing::record();
    let (seen, errors) = paid(&budget, 6, &[Err(TRANSIENT), Err(TRANSIENT)]).await;
    assert_eq!(seen, [14.0, 14.0, 0.0, 14.0]);
    assert_eq!(errors, ["3 4 5: 1 attempt (budget): transient"]);
    let expected = [
        "retrying paid attempt=1 max=3 delay=1s error=3 of 6 items: transient reason=transient",
        "gave up paid attempt=1 max=3 error=3 of 6 items: transient reason=budget",
    ];
    assert_eq!(recording.lines(), expected);
}
