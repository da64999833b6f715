//! One limiter for each key. Idle limiters are dropped.

use retry_runtime::seam::AttemptOutcome::Success;
use support::prelude::*;
use support::runtime;

use crate::limiters::{THROTTLED, TIMEOUT, ended, refused, secs, turn};

type Rates = Keyed<char, RateLimiter>;

#[tokio::test(start_paused = true)]
async fn a_quota_is_removed_once_its_debt_is_paid() {
    let models: Keyed<char, RateLimiter<Quota>> = Keyed::new(1, || RateLimiter::quota(60, 60_000));
    ended(&models.of(&'a'), 5000, Success).await;
    advance(secs(4)).await;
    models.of(&'b');
    assert_eq!(models.of(&'a').available(), 0.0);
    advance(secs(1)).await;
    let new = models.of(&'b');
    assert_eq!((models.len(), new.available()), (1, 1000.0));
    // It doesn't share a value with others: that would only happen without room.
    assert!(!Arc::ptr_eq(&new, &models.of(&'c')));
}

#[tokio::test(start_paused = true)]
async fn a_limiter_without_rejections_is_removed_at_once_but_not_while_paused() {
    let models: Keyed<char, ConcurrencyLimiter> = Keyed::new(1, ConcurrencyLimiter::aimd);
    let ticket = turn(&models.of(&'a'), 1).await;
    // It runs.
    models.of(&'b');
    assert_eq!(models.of(&'a').running(), 1);
    models.of(&'a').leave(ticket, Success);
    advance(secs(1)).await;
    models.of(&'c');
    assert_eq!(models.of(&'c').running(), 0);
    ended(&models.of(&'c'), 1, refused(secs(30))).await;
    models.of(&'a');
    assert!(models.of(&'c').paused_for().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_changed_is_forgotten_ten_minutes_after_its_last_use() {
    let raised = || ConcurrencyLimiter::aimd().start(2);
    let rows: [(fn() -> _, _, _, _, _, _); 2] = rows! {
        ConcurrencyLimiter::aimd, 1, TIMEOUT, 1, 18, 20;
        raised, 2, Success, 4, 4, 2;
    };
    for (make, cost, outcome, attempts, changed, start) in rows {
        let hosts = Keyed::new(1, make);
        for _ in 0..attempts {
            ended(&hosts.of(&'a'), cost, outcome).await;
        }
        for (minutes, expected) in [(9, changed), (10, start)] {
            advance(secs(minutes * 60)).await;
            hosts.of(&'b');
            assert_eq!(hosts.of(&'a').limit(), expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_in_use_is_kept_even_without_changes() {
    let hosts: Keyed<char, ConcurrencyLimiter> =
        Keyed::new(1, || ConcurrencyLimiter::aimd().start(2).most(3));
    for _ in 0..60 {
        ended(&hosts.of(&'a'), 3, Success).await;
        advance(secs(60)).await;
        // No attempt is running now.
        hosts.of(&'b');
    }
    assert_eq!(hosts.of(&'a').limit(), 3);
}

/// Checks if a value that was not used for ten minutes is kept after an operator's changes.
macro_rules! is_kept {
    ($($make:expr, $is_kept:literal, |$changed:ident| $($change:expr),+;)*) => {$({
        let keyed = Keyed::new(1, || $make);
        let $changed = keyed.of(&'a');
        $($change;)+
        let weak = Arc::downgrade(&$changed);
        // From when another key finds no room.
        keyed.of(&'b');
        drop($changed);
        advance(secs(10 * 60)).await;
        keyed.of(&'b');
        assert_eq!(weak.upgrade().is_some(), $is_kept, stringify!($($change),+));
    })*};
}

#[tokio::test(start_paused = true)]
async fn an_operator_s_numbers_are_kept_until_they_are_taken_back() {
    is_kept! {
        ConcurrencyLimiter::aimd(), true, |of| of.set_limits(1..=50).unwrap();
        RateLimiter::adaptive(), true, |of| of.set_most(0.5).unwrap();
        RateLimiter::fixed(9, secs(1)), true, |of| of.set_amount(8).unwrap();
        RateLimiter::quota(9, 9), true, |of| of.set_requests(8).unwrap();
        Breaker::new(), true, |of| of.set_ratio(0.5).unwrap();
        Breaker::new(), true, |of| of.set_open_for(secs(9));
        ConcurrencyLimiter::aimd(), false,
            |of| of.set_limits(1..=50).unwrap(), of.set_limits(1..=200).unwrap();
        RateLimiter::adaptive(), false,
            |of| of.set_most(0.5).unwrap(), of.set_most(f64::INFINITY).unwrap();
        RateLimiter::fixed(9, secs(1)), false,
            |of| of.set_amount(8).unwrap(), of.set_amount(9).unwrap();
        Breaker::new(), false, |of| of.set_ratio(0.5).unwrap(), of.set_ratio(0.9).unwrap();
    }
}

/// The clock is read only once a key finds no room, so the ten minutes start there.
#[tokio::test(start_paused = true)]
async fn the_age_of_a_key_counts_only_once_there_is_no_room() {
    let models = Rates::new(2, RateLimiter::adaptive);
    for model in ['a', 'b'] {
        ended(&models.of(&model), 1, THROTTLED).await;
    }
    advance(secs(3600)).await;
    models.of(&'c');
    assert_eq!(models.of(&'a').rate(), 1.0);
    advance(secs(10 * 60)).await;
    models.of(&'a');
    models.of(&'c');
    assert_eq!(models.of(&'a').rate(), 1.0);
    assert_eq!(models.of(&'b').rate(), f64::INFINITY);
}

/// One that a test's clock used, which was far ahead.
#[test]
fn a_value_used_before_the_clock_was_set_back_is_removed() {
    for (ahead, is_forgotten) in [(secs(30), false), (secs(3600), true)] {
        let models = Rates::new(1, RateLimiter::adaptive);
        let (early, late) = (runtime::paused(), runtime::paused());
        late.block_on(async {
            advance(ahead).await;
            ended(&models.of(&'a'), 1, THROTTLED).await;
            models.of(&'b');
        });
        early.block_on(async {
            models.of(&'b');
            assert_eq!(models.of(&'a').rate().is_infinite(), is_forgotten);
        });
    }
}
