//! The standard's metrics that have a counterpart here: the counts of `Stats`, and the states of breakers and limiters.

use std::sync::atomic::Ordering::SeqCst;

use futures::future::{join, join_all};
use retry_observers::Stats;
use retry_runtime::testing::Script;
use support::prelude::*;

use super::Error;
use crate::conformance::{millis, secs};

const DURATION: Policy = Policy::none().max(1000).deadline(secs(1));

#[retry(policy = policy, observe = stats)]
async fn service(
    policy: &Policy,
    server: &Script<(), Failure>,
    takes: Duration,
    stats: &Stats,
) -> Result<(), Failure> {
    sleep(takes).await;
    server.next()
}

/// Each row has the numbers of calls that returned a value, of calls that gave up for this reason, and of retries.
#[tokio::test(start_paused = true)]
async fn retries() {
    let five = Policy::none().max(5);
    let fails = |times, last: Result<(), Failure>| {
        testing::sequence(vec![Err(TRANSIENT); times].into_iter().chain([last]))
    };
    for (name, policy, server, takes, succeeded, reason, retries) in rows! {
        "RetryMetricTest.testRetryMetricSuccessfulImmediately", five, fails(0, Ok(())), 0, 1, Reason::Exhausted, 0;
        "RetryMetricTest.testRetryMetricSuccessfulAfterRetry", five, fails(3, Ok(())), 0, 1, Reason::Exhausted, 3;
        "RetryMetricTest.testRetryMetricNonRetryableImmediately", five, fails(0, Err(STOP)), 0, 0,
            Reason::NotRetryable, 0;
        "RetryMetricTest.testRetryMetricNonRetryableAfterRetries", five, fails(3, Err(STOP)), 0, 0,
            Reason::NotRetryable, 3;
        "RetryMetricTest.testRetryMetricMaxRetries", five, fails(20, Ok(())), 0, 0, Reason::Exhausted, 5;
        "RetryMetricTest.testRetryMetricMaxRetriesHitButNoRetry", Policy::none().max(0),
            fails(20, Ok(())), 0, 0, Reason::Exhausted, 0;
        "RetryMetricTest.testRetryMetricMaxDuration", DURATION, fails(20, Ok(())), 100, 0, Reason::Deadline, 10;
        "RetryMetricTest.testRetryMetricMaxDurationNoRetries", DURATION, fails(20, Ok(())), 1500, 0,
            Reason::Deadline, 0;
    } {
        let stats = Stats::new();
        let ended = service(&policy, &server, millis(takes), &stats).await;
        let totals = stats.totals();
        assert_eq!(ended.is_ok(), succeeded == 1, "{name}");
        assert_eq!((totals.calls(), totals.succeeded), (1, succeeded), "{name}");
        assert_eq!(totals.gave_up_for(reason), 1 - succeeded, "{name}");
        assert_eq!(totals.retries, retries, "{name}: {totals}");
    }
}

#[tokio::test(start_paused = true)]
async fn limiters() {
    #[retry(max = 0, limiter = limiter, observe = stats)]
    async fn call(limiter: &ConcurrencyLimiter, stats: &Stats) -> Result<(), Error> {
        sleep(secs(1)).await;
        Ok(())
    }

    for (name, queue, rejected) in [
        ("BulkheadMetricTest.bulkheadMetricTest", 0, 0),
        ("BulkheadMetricTest.bulkheadMetricRejectionTest", 0, 1),
        ("BulkheadMetricTest.bulkheadMetricAsyncTest", 2, 1),
    ] {
        let (limiter, stats) = (ConcurrencyLimiter::fixed(2).queue(queue), Stats::new());
        let accepted = join_all((0..2 + queue).map(|_| call(&limiter, &stats)));
        let meanwhile = async {
            for _ in 0..rejected {
                let full = Err(Error::Rejected(RejectedBy::Full));
                assert_eq!(call(&limiter, &stats).await, full, "{name}");
            }
            assert_eq!(limiter.running(), 2, "{name}");
            assert_eq!(limiter.waiting(), queue as usize, "{name}");
        };
        join(accepted, meanwhile).await;
        assert_eq!((limiter.running(), limiter.waiting()), (0, 0), "{name}");
        let totals = stats.totals();
        assert_eq!(totals.succeeded, 2 + u64::from(queue), "{name}");
        assert_eq!(totals.gave_up_for(Reason::Rejected), rejected, "{name}");
    }
}

/// The number of admitted and rejected calls, and of openings. The standard's last two calls fail in a way that counts
/// as a success, which is `Verdict::STOP` here.
#[tokio::test(start_paused = true)]
async fn breakers() {
    #[retry(max = 0, breaker = breaker, observe = |event| {
        stats.observe(event);
        if let EventData::BreakerOpened { .. } = event.data {
            opened.fetch_add(1, SeqCst);
        }
    })]
    async fn call(
        breaker: &Breaker,
        stats: &Stats,
        opened: &AtomicU32,
        answer: &Result<(), Failure>,
    ) -> Result<(), Failure> {
        answer.clone()
    }

    let name = "CircuitBreakerMetricTest.testCircuitBreakerMetric";
    let breaker = Breaker::new()
        .count_window(2)
        .ratio(1.0)
        .trial_calls(2)
        .open_for(secs(1));
    let (stats, opened) = (Stats::new(), AtomicU32::new(0));
    for (step, (answer, counts)) in [
        (Err(TRANSIENT), (0, 1, 0, 0)),
        (Err(TRANSIENT), (0, 2, 0, 1)),
        (Ok(()), (0, 2, 1, 1)),
        (Ok(()), (1, 2, 1, 1)),
        (Ok(()), (2, 2, 1, 1)),
        (Err(STOP), (2, 3, 1, 1)),
        (Err(STOP), (2, 4, 1, 1)),
    ]
    .into_iter()
    .enumerate()
    {
        if step == 3 {
            advance(millis(1500)).await;
        }
        let _ = call(&breaker, &stats, &opened, &answer).await;
        let totals = stats.totals();
        let prevented = totals.gave_up_for(Reason::Rejected);
        let failed = totals.gave_up() - prevented;
        let seen = (totals.succeeded, failed, prevented, opened.load(SeqCst));
        assert_eq!(seen, counts, "{name}, step {step}");
    }
}
