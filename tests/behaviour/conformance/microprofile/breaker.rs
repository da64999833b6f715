//! The standard's circuit breaker: a window with a number of calls (`requestVolumeThreshold`), and a number of trial
//! calls that must all succeed (`successThreshold`).

use std::sync::atomic::Ordering::SeqCst;

use retry_runtime::seam::BreakerState::Open;
use support::held_permit::FAILED;
use support::prelude::*;

use super::Error;
use crate::conformance::{follow, millis, secs};

const fn of(volume: u32, ratio: f64, successes: u32) -> Breaker {
    Breaker::new()
        .count_window(volume)
        .ratio(ratio)
        .trial_calls(successes)
        .open_for(secs(50))
}

#[tokio::test(start_paused = true)]
async fn sequences() {
    for (name, breaker, steps) in rows! {
        "CircuitBreakerTest.testCircuitClosedThenOpen", of(4, 0.75, 2), "fails*4 rejected*3";
        "CircuitBreakerTest.testCircuitReClose", of(4, 0.75, 2), "fails*4 50s succeeds*2 Closed succeeds";
        "CircuitBreakerTest.testCircuitDefaultSuccessThreshold", of(4, 0.75, 1),
            "fails*4 rejected 50s succeeds fails*4 rejected";
        "CircuitBreakerTest.testCircuitHighSuccessThreshold", of(4, 0.75, 3),
            "fails*4 rejected 50s succeeds*2 fails rejected";
        "CircuitBreakerTest.testClassLevelCircuitBase", of(4, 0.75, 2), "fails*4 rejected*3";
        "CircuitBreakerTest.testClassLevelCircuitOverride", of(2, 1.0, 2), "fails*2 rejected*5";
        "CircuitBreakerTest.testClassLevelCircuitOverrideNoDelay",
            of(4, 0.75, 2).open_for(secs(0)), "fails*4 1s succeeds*2 Closed succeeds";
        "CircuitBreakerTest.testRollingWindowCircuitOpen", of(4, 0.5, 1), "succeeds fails*2 Closed succeeds rejected";
        "CircuitBreakerTest.testRollingWindowCircuitOpen2", of(4, 0.5, 1),
            "succeeds fails succeeds*2 Closed fails rejected";
        "CircuitBreakerInitialSuccessTest.testCircuitInitialSuccessDefaultSuccessThreshold",
            of(4, 0.75, 1), "succeeds fails*3 rejected 50s succeeds*2 fails*3 rejected";
        "CircuitBreakerLateSuccessTest.testCircuitLateSuccessDefaultSuccessThreshold",
            of(4, 0.75, 1), "fails*3 succeeds rejected 50s succeeds fails*3 succeeds rejected";
    } {
        follow(name, &breaker, steps).await;
    }
}

/// A call that times out counts with any `on`, because there was no response. So the breaker opens in the last row, in
/// which the standard's `failOn` keeps it closed.
#[tokio::test(start_paused = true)]
async fn timeouts() {
    #[retry(max = 0, timeout = "500ms", on = |_| retries, breaker = breaker)]
    async fn slow(breaker: &Breaker, retries: bool) -> Result<(), Error> {
        sleep(secs(1)).await;
        Ok(())
    }

    for (name, retries) in [
        ("CircuitBreakerTimeoutTest.testTimeout", true),
        ("CircuitBreakerTimeoutTest.testTimeoutWithoutFailOn", false),
    ] {
        let breaker = of(2, 0.75, 1);
        for end in [
            Error::TimedOut,
            Error::TimedOut,
            Error::Rejected(RejectedBy::Breaker),
        ] {
            assert_eq!(slow(&breaker, retries).await, Err(end), "{name}");
        }
    }
}

/// If the breaker is open at a retry, the call ends with the previous failure, which is more useful than the standard's
/// `CircuitBreakerOpenException`.
#[tokio::test(start_paused = true)]
async fn retries_end_where_it_opens() {
    #[retry(max = max, backoff = "none", timeout = "100ms", breaker = breaker)]
    async fn call(
        breaker: &Breaker,
        max: u32,
        takes: Duration,
        count: &AtomicU32,
    ) -> Result<(), Error> {
        count.fetch_add(1, SeqCst);
        sleep(takes).await;
        Err(Error::Failed)
    }

    #[retry(max = max, backoff = "none", breaker = breaker)]
    fn blocking(breaker: &Breaker, max: u32, count: &AtomicU32) -> Result<(), Error> {
        count.fetch_add(1, SeqCst);
        Err(Error::Failed)
    }

    let (fast, hangs) = (secs(0), secs(5));
    for (name, max, takes, is_async, attempts) in rows! {
        "CircuitBreakerRetryTest.testCircuitOpenWithMoreRetries", 7, fast, false, 4;
        "CircuitBreakerRetryTest.testCircuitOpenWithFewRetries", 2, fast, false, 3;
        "CircuitBreakerRetryTest.testClassLevelCircuitOpenWithMoreRetries", 7, fast, false, 4;
        "CircuitBreakerRetryTest.testClassLevelCircuitOpenWithFewRetries", 2, fast, false, 3;
        "CircuitBreakerRetryTest.testCircuitOpenWithMultiTimeouts", 7, hangs, true, 4;
        "CircuitBreakerRetryTest.testCircuitOpenWithMoreRetriesAsync", 7, fast, true, 4;
        "CircuitBreakerRetryTest.testCircuitOpenWithFewRetriesAsync", 2, fast, true, 3;
        "CircuitBreakerRetryTest.testCircuitOpenWithMultiTimeoutsAsync", 7, hangs, true, 4;
    } {
        let (breaker, count) = (of(4, 0.75, 2), AtomicU32::new(0));
        let ended = if is_async {
            call(&breaker, max, takes, &count).await
        } else {
            blocking(&breaker, max, &count)
        };
        let end = Error::of_late(takes == hangs);
        assert_eq!(ended, Err(end), "{name}");
        assert_eq!(count.load(SeqCst), attempts, "{name}");
        assert_eq!(breaker.state() == Open, attempts == 4, "{name}");
    }
}

/// A call that retries rejections takes the time that it is open; one that doesn't ends at once.
#[tokio::test(start_paused = true)]
async fn calls_meet_an_open_one() {
    #[retry(rejected(max = 20, backoff = "fixed", base = "200ms", jitter = "none"), breaker = breaker)]
    async fn again(breaker: &Breaker) -> Result<(), Error> {
        Ok(())
    }
    #[retry(max = 20, backoff = "fixed", base = "200ms", breaker = breaker)]
    async fn ends(breaker: &Breaker) -> Result<(), Error> {
        Ok(())
    }

    let (ok, rejected) = (Ok(()), Err(Error::Rejected(RejectedBy::Breaker)));
    for (name, end, after) in rows! {
        "CircuitBreakerRetryTest.testRetriesSucceedWhenCircuitCloses", ok, 1000;
        "CircuitBreakerRetryTest.testRetriesSucceedWhenCircuitClosesAsync", ok, 1000;
        "CircuitBreakerRetryTest.testNoRetriesIfNotRetryOnAsync", rejected, 0;
        "CircuitBreakerRetryTest.testNoRetriesIfAbortOnAsync", rejected, 0;
    } {
        let breaker = of(4, 0.75, 1).open_for(secs(1));
        for _ in 0..4 {
            breaker.record(breaker.admit().expect("closed"), FAILED);
        }
        assert_eq!(breaker.state(), Open);
        let start = Instant::now();
        let ended = match end {
            Ok(()) => again(&breaker).await,
            Err(_) => ends(&breaker).await,
        };
        assert_eq!((ended, start.elapsed()), (end, millis(after)), "{name}");
    }
}

/// Refused when a `static` is compiled. A negative number has no type here.
#[test]
fn out_of_range_values_are_rejected() {
    type Row = (&'static str, fn() -> Breaker);
    let rows: [Row; 4] = rows! {
        "InvalidCircuitBreakerFailureRatioNegTest.test", || { Breaker::new().ratio(-1.0) };
        "InvalidCircuitBreakerFailureRatioPosTest.test", || { Breaker::new().ratio(1.1) };
        "InvalidCircuitBreakerFailureReqVol0Test.test", || { Breaker::new().count_window(0) };
        "InvalidCircuitBreakerFailureSuccess0Test.test", || { Breaker::new().trial_calls(0) };
    };
    for (name, make) in rows {
        assert!(catch_unwind(make).is_err(), "{name}");
    }
}
