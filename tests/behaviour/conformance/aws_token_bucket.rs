//! The token bucket of AWS's SDKs beyond the standard's numbers: smithy-rs
//! `aws-smithy-runtime/src/client/retries/token_bucket.rs`.
//!
//! These have no counterpart here: a bucket without a limit, because we leave out the key; conversions of
//! floating-point numbers, because our bucket counts billionths; the costs of a first attempt in Kotlin's
//! `StandardRetryTokenBucketTest`, because here it is free. An infinite reward counts as the maximum reward here, and
//! as zero in smithy-rs.

use support::prelude::*;
use tokio::runtime::Handle;

use super::secs;

/// Returns the number of retries that it pays for.
fn drained(budget: Budget) -> (Budget, u32) {
    let mut retries = 0;
    while budget.withdraw(Kind::Transient) {
        retries += 1;
    }
    (budget, retries)
}

#[test]
fn parts_of_a_token_add_up_and_pay_as_often_as_they_hold_the_cost() {
    let budget = Budget::standard().capacity(10);
    let paid = [(); 3].map(|()| budget.withdraw(Kind::Throttled));
    assert_eq!(paid, [true, true, false]);
    let (budget, retries) = drained(Budget::ratio(0.4).capacity(10));
    assert_eq!(retries, 10);
    for whole in [0.0, 0.0, 1.0] {
        budget.called();
        assert_eq!(budget.available().floor(), whole);
    }
    let full = Budget::ratio(2.0).capacity(10);
    for _ in 0..20 {
        full.called();
    }
    assert_eq!(full.available(), 10.0);
    let (budget, _) = drained(Budget::ratio(2.0).capacity(10));
    for _ in 0..50 {
        budget.called();
    }
    assert_eq!(budget.available(), 10.0);
    // awslabs/aws-sdk-rust#1423: parts of a token that overflow.
    let (budget, retries) = drained(Budget::ratio(0.9).capacity(2));
    assert_eq!((retries, budget.available()), (2, 0.0));
    for _ in 0..3 {
        budget.called();
    }
    assert_eq!(budget.available(), 2.0);
}

#[tokio::test(start_paused = true)]
async fn time_gives_tokens_at_the_rate() {
    for (rate, seconds, tokens) in rows! {
        -5.0, 10.0, 0.0;
        0.0, 10.0, 0.0;
        1.5, 10.0, 15.0;
        1.0, 5.0, 5.0;
        10.0, 2.0, 20.0;
        0.001, 1100.0, 1.1;
        0.0001, 11_000.0, 1.1;
        0.001, 1200.0, 1.2;
        0.001, 500.0, 0.5;
        // From Kotlin's `StandardRetryTokenBucketTest`.
        10.0, 0.25, 2.5;
    } {
        let (budget, _) = drained(Budget::ratio(0.0).per_second(rate));
        advance(Duration::from_secs_f64(seconds)).await;
        assert_eq!(budget.available(), tokens, "{rate} for {seconds} s");
    }
    let (slow, _) = drained(Budget::ratio(0.0).per_second(0.0001));
    advance(secs(9_999)).await;
    assert!(!slow.withdraw(Kind::Transient));
    advance(secs(1)).await;
    assert!(slow.withdraw(Kind::Transient));
}

#[tokio::test(start_paused = true)]
async fn rewards_and_time_add_up_to_the_capacity() {
    let (budget, _) = drained(Budget::ratio(0.5).per_second(1.0));
    budget.called();
    budget.called();
    advance(secs(2)).await;
    assert_eq!(drained(budget).1, 3);
    let (budget, _) = drained(Budget::ratio(2.0).capacity(10).per_second(50.0));
    advance(secs(100)).await;
    assert_eq!(budget.available(), 10.0);
}

#[tokio::test(start_paused = true)]
async fn two_hundred_threads_refill_it_once() {
    let (budget, _) = drained(Budget::ratio(0.0).per_second(1.0));
    advance(secs(10)).await;
    let runtime = Handle::current();
    thread::scope(|threads| {
        for _ in 0..200 {
            threads.spawn(|| {
                // For the runtime's clock.
                let _entered = runtime.enter();
                assert!(budget.available() <= 10.0);
            });
        }
    });
    assert_eq!(budget.available(), 10.0);
}
