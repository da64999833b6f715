//! The standard's bulkhead: limits for concurrent calls, and for a queue, which only its asynchronous methods have.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use futures::future::{join, join_all};
use support::prelude::*;

use super::Error;
use crate::conformance::{millis, secs};

const FULL: Result<(), Error> = Err(Error::Rejected(RejectedBy::Full));

#[retry(max = 0, limiter = limiter)]
async fn work(limiter: &ConcurrencyLimiter) -> Result<(), Error> {
    sleep(secs(1)).await;
    Ok(())
}

/// All slots and the queue are taken, the next call is rejected at once, and another one starts after the others.
#[tokio::test(start_paused = true)]
async fn places_and_queue() {
    for (names, places, queue) in rows! {
        vec!["BulkheadSynchTest.testBulkheadClassSemaphore3", "BulkheadSynchTest.testBulkheadMethodSemaphore3",
            "BulkheadSynchConfigTest.testBulkheadClassSemaphore3"], 3, 0;
        vec!["BulkheadSynchTest.testBulkheadClassSemaphore10", "BulkheadSynchTest.testBulkheadMethodSemaphore10",
            "BulkheadSynchTest.testBulkheadClassSemaphoreDefault",
            "BulkheadSynchTest.testBulkheadMethodSemaphoreDefault"], 10, 0;
        vec!["BulkheadAsynchTest.testBulkheadClassAsynchronous10", "BulkheadAsynchTest.testBulkheadMethodAsynchronous10",
            "BulkheadAsynchTest.testBulkheadClassAsynchronousDefault",
            "BulkheadAsynchTest.testBulkheadMethodAsynchronousDefault"], 10, 10;
        vec!["BulkheadAsynchTest.testBulkheadClassAsynchronous3",
            "BulkheadAsynchTest.testBulkheadMethodAsynchronous3"], 3, 10;
        vec!["BulkheadAsynchTest.testBulkheadClassAsynchronousQueueing5",
            "BulkheadAsynchTest.testBulkheadMethodAsynchronousQueueing5"], 5, 5;
        vec!["BulkheadAsynchTest.testBulkheadCompletionStage"], 2, 2;
    } {
        let limiter = ConcurrencyLimiter::fixed(places).queue(queue);
        let rejected = async {
            assert_eq!(limiter.running(), u64::from(places), "{names:?}");
            assert_eq!(limiter.waiting(), queue as usize, "{names:?}");
            let start = Instant::now();
            assert_eq!(work(&limiter).await, FULL, "{names:?}");
            assert_eq!(start.elapsed(), secs(0), "{names:?}");
        };
        let all = (0..places + queue).map(|_| work(&limiter));
        let (ended, ()) = join(join_all(all), rejected).await;
        assert!(ended.iter().all(Result::is_ok), "{names:?}");
        assert_eq!(work(&limiter).await, Ok(()), "{names:?}");
    }
}

/// During the pause, another call takes the slot, so the retry is rejected: the call ends with the previous failure,
/// which is more useful than the standard's `BulkheadException`.
#[tokio::test(start_paused = true)]
async fn a_pause_does_not_occupy_a_slot() {
    #[retry(max = 1, backoff = "fixed", base = "1s", jitter = "none", limiter = limiter)]
    async fn fails(limiter: &ConcurrencyLimiter) -> Result<(), Error> {
        Err(Error::Failed)
    }

    for name in [
        "BulkheadSynchRetryTest.testRetryTestExceptionClass",
        "BulkheadSynchRetryTest.testRetryTestExceptionMethod",
    ] {
        let limiter = ConcurrencyLimiter::fixed(1).queue(0);
        let other = async {
            sleep(millis(100)).await;
            assert_eq!(limiter.running(), 0, "{name}");
            work(&limiter).await
        };
        let ended = join(fails(&limiter), other).await;
        assert_eq!(ended, (Err(Error::Failed), Ok(())), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejection_is_not_retried() {
    #[retry(max = max, backoff = "fixed", base = "1s", limiter = limiter)]
    async fn call(limiter: &ConcurrencyLimiter, max: u32) -> Result<(), Error> {
        sleep(millis(500)).await;
        Ok(())
    }

    for (name, max, queue) in rows! {
        "BulkheadSynchRetryTest.testNoRetriesWithoutRetryOn", 1, 0;
        "BulkheadSynchRetryTest.testNoRetriesWithAbortOn", 1, 0;
        "BulkheadSynchRetryTest.testNoRetriesWithMaxRetriesZero", 0, 0;
        "BulkheadAsynchRetryTest.testNoRetriesWithoutRetryOn", 1, 1;
        "BulkheadAsynchRetryTest.testNoRetriesWithAbortOn", 1, 1;
        "BulkheadAsynchRetryTest.testBulkheadExceptionThrownClassAsync", 1, 1;
        "BulkheadAsynchRetryTest.testBulkheadExceptionThrownMethodAsync", 1, 1;
    } {
        let limiter = ConcurrencyLimiter::fixed(1).queue(queue);
        let rejected = async {
            let start = Instant::now();
            assert_eq!(call(&limiter, max).await, FULL, "{name}");
            assert_eq!(start.elapsed(), secs(0), "{name}");
        };
        let all = join_all((0..=queue).map(|_| call(&limiter, max)));
        join(all, rejected).await;
    }
}

/// As many calls run at a time as there are slots; calls that retry too rarely end with the rejection.
#[tokio::test(start_paused = true)]
async fn a_rejection_is_retried_by_numbers_for_that() {
    #[retry(rejected(max = max, backoff = "fixed", base = "100ms", jitter = "none"), limiter = limiter)]
    async fn call(limiter: &ConcurrencyLimiter, max: u32) -> Result<(), Error> {
        sleep(millis(950)).await;
        Ok(())
    }

    for (name, max, succeeded) in rows! {
        "BulkheadAsynchRetryTest.testBulkheadExceptionRetriedMethodAsync", 20, 15;
        "BulkheadAsynchRetryTest.testBulkheadExceptionRetriedClassAsync", 10, 10;
    } {
        let limiter = ConcurrencyLimiter::fixed(5).queue(0);
        let start = Instant::now();
        let ended = join_all((0..15).map(|_| call(&limiter, max))).await;
        let ok = ended.iter().filter(|ended| ended.is_ok()).count();
        assert_eq!(ok, succeeded, "{name}");
        assert!(ended[ok..].iter().all(|ended| *ended == FULL), "{name}");
        let took = u32::try_from(succeeded / 5 - 1).unwrap() * secs(1) + millis(950);
        assert_eq!(start.elapsed(), took, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn retries_enter_at_the_back() {
    #[retry(max = 1, backoff = "none", attempt = attempt, limiter = limiter)]
    async fn call(
        limiter: &ConcurrencyLimiter,
        name: u32,
        order: &Mutex<Vec<u32>>,
    ) -> Result<(), Error> {
        order.lock().unwrap().push(name);
        sleep(secs(1)).await;
        if attempt.number() == 1 {
            Err(Error::Failed)
        } else {
            Ok(())
        }
    }

    for (name, calls, begun) in rows! {
        "BulkheadAsynchRetryTest.testRetriesReenterBulkhead", 2, vec![0, 1, 0, 1];
        "BulkheadAsynchRetryTest.testRetriesJoinBackOfQueue", 3, vec![0, 1, 2, 0, 1, 2];
    } {
        let (limiter, order) = (ConcurrencyLimiter::fixed(1).queue(5), Mutex::default());
        join_all((0..calls).map(|number| call(&limiter, number, &order))).await;
        assert_eq!(order.into_inner().unwrap(), begun, "{name}");
        // The limit is the same after any failure.
        assert_eq!(limiter.limit(), 1);
    }
}

/// A local rejection is not evidence about the server, so it never opens a breaker; in the standard, `failOn` may count
/// it.
#[tokio::test(start_paused = true)]
async fn a_breaker_does_not_count_rejections() {
    #[retry(max = 0, breaker = breaker, limiter = limiter)]
    async fn call(breaker: &Breaker, limiter: &ConcurrencyLimiter) -> Result<(), Error> {
        sleep(secs(1)).await;
        Ok(())
    }

    for (name, queue) in rows! {
        "CircuitBreakerBulkheadTest.testCircuitBreakerAroundBulkheadAsync", 1;
        "CircuitBreakerBulkheadTest.testCircuitBreakerAroundBulkheadSync", 0;
        "CircuitBreakerBulkheadTest.testCircuitBreaker", 1;
    } {
        let breaker = Breaker::new().count_window(3).ratio(1.0);
        let limiter = ConcurrencyLimiter::fixed(1).queue(queue);
        let full = join_all((0..=queue).map(|_| call(&breaker, &limiter)));
        let rejected = async {
            for _ in 0..5 {
                assert_eq!(call(&breaker, &limiter).await, FULL, "{name}");
            }
        };
        let (ended, ()) = join(full, rejected).await;
        assert!(ended.iter().all(Result::is_ok), "{name}");
        assert_eq!(breaker.state(), BreakerState::Closed, "{name}");
    }
}

/// Calls arrive twice as fast as five slots can handle: some are rejected, and at most five run at a time.
#[tokio::test(start_paused = true)]
async fn pressure() {
    #[retry(max = 0, limiter = limiter)]
    async fn call(limiter: &ConcurrencyLimiter, most: &AtomicU64) -> Result<(), Error> {
        most.fetch_max(limiter.running(), SeqCst);
        sleep(millis(50)).await;
        Ok(())
    }

    for (name, queue) in [
        ("BulkheadPressureTest.testBulkheadPressureSync", 0),
        ("BulkheadPressureTest.testBulkheadPressureAsync", 5),
    ] {
        let (limiter, most) = (ConcurrencyLimiter::fixed(5).queue(queue), AtomicU64::new(0));
        let ended = join_all((0..100).map(async |number| {
            sleep(millis(number * 5)).await;
            call(&limiter, &most).await
        }))
        .await;
        assert_eq!(most.into_inner(), 5, "{name}");
        let done = ended.iter().filter(|end| end.is_ok()).count();
        let full = ended.iter().filter(|end| **end == FULL).count();
        assert_eq!(done + full, 100, "{name}");
        assert!(done >= 5 + queue as usize && done < 100, "{name}: {done}");
    }
}

#[test]
fn out_of_range_values_are_rejected() {
    let fixed = catch_unwind(|| ConcurrencyLimiter::fixed(0));
    assert!(fixed.is_err(), "InvalidBulkheadValueTest.test");
}
