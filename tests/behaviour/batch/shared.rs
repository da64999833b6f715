//! Budgets and breakers in batches: each item is a separate attempt, but a request that fails or succeeds as a whole is
//! one, regardless of the number of items.

use support::prelude::*;

use super::{Answers, EXACT, Server, all_ok, errors, secs};

#[tokio::test(start_paused = true)]
async fn each_item_pays_for_its_own_retry() {
    // Enough for three retries.
    let budget = Budget::grpc(6, 0.1);
    let (recording, events) = (testing::record(), testing::Recorder::new());
    let chain = EXACT
        .name("each")
        .budget(&budget)
        .observe(|event| events.observe(event));
    let server = Server::new([(0..5, vec![TRANSIENT])]);
    let results = server.run(chain.batches(9), 5).await;
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

/// Those that were paid for are sent again, and then have no error to show: the others are reported with their own.
#[tokio::test(start_paused = true)]
async fn a_budget_pays_for_as_many_items_as_it_can() {
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
        assert_eq!(budget.available(), if is_busy { 500.0 } else { 10.0 });
        let busy = |item| (!is_busy).then_some(item).ok_or(format!("{item} is busy"));
        ready(Ok(pending.into_iter().map(busy).collect()))
    })
    .await;
    let (paid, unpaid) = results.split_at(500 / 14);
    assert!(paid.iter().all(Result::is_ok));
    for result in unpaid {
        let error = result.as_ref().unwrap_err();
        assert_eq!((error.attempts(), error.reason()), (1, Reason::Budget));
    }
    let expected = "gave up paid attempt=2 max=3 error=15 of 50 items: 35 is busy reason=budget";
    assert_eq!(last.into_inner(), expected);
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
