//! One for each key. Those at rest are forgotten.

use std::sync::Arc;

use retry_protections::{Breaker, ConcurrencyLimiter, Keyed, Quota, RateLimiter};
use retry_runtime::seam::{AdmissionControl, AttemptOutcome};
use tokio::runtime::Builder;
use tokio::time::advance;

use crate::limiters::{THROTTLED, TIMEOUT, begins, refused, secs, turn};

type Rates = Keyed<char, RateLimiter>;

#[tokio::test(start_paused = true)]
async fn keys_don_t_share_a_limit() {
    let models: Keyed<char, RateLimiter<Quota>> = Keyed::new(10, || RateLimiter::fixed(1, secs(1)));
    assert_eq!(begins(&models.of(&'a'), &[1, 1]).await, [0, 1000]);
    assert_eq!(begins(&models.of(&'b'), &[1, 1]).await, [0, 1000]);
    assert_eq!(models.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_quota_is_removed_once_its_debt_is_paid() {
    let models: Keyed<char, RateLimiter<Quota>> = Keyed::new(1, || RateLimiter::quota(60, 60_000));
    let ticket = turn(&models.of(&'a'), 5000).await;
    models.of(&'a').leave(ticket, AttemptOutcome::Success);
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
async fn a_rate_is_forgotten_ten_minutes_after_its_last_use() {
    let models = Rates::new(1, RateLimiter::adaptive);
    let ticket = turn(&models.of(&'a'), 1).await;
    models.of(&'a').leave(ticket, THROTTLED);
    assert_eq!(models.of(&'a').rate(), 1.0);
    advance(secs(9 * 60)).await;
    models.of(&'b');
    assert_eq!(models.of(&'a').rate(), 1.0);
    let ticket = turn(&models.of(&'a'), 1).await;
    models.of(&'a').leave(ticket, AttemptOutcome::Success);
    advance(secs(10 * 60)).await;
    models.of(&'b');
    assert_eq!(models.of(&'a').rate(), f64::INFINITY);
}

#[tokio::test(start_paused = true)]
async fn a_limiter_without_rejections_is_removed_at_once_but_not_while_paused() {
    let models: Keyed<char, ConcurrencyLimiter> = Keyed::new(1, ConcurrencyLimiter::aimd);
    let ticket = turn(&models.of(&'a'), 1).await;
    // It runs.
    models.of(&'b');
    assert_eq!(models.of(&'a').running(), 1);
    models.of(&'a').leave(ticket, AttemptOutcome::Success);
    advance(secs(1)).await;
    models.of(&'c');
    assert_eq!(models.of(&'c').running(), 0);
    let ticket = turn(&models.of(&'c'), 1).await;
    models.of(&'c').leave(ticket, refused(secs(30)));
    models.of(&'a');
    assert!(models.of(&'c').paused_for().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_was_lowered_is_forgotten_ten_minutes_after_its_last_use() {
    let hosts: Keyed<char, ConcurrencyLimiter> = Keyed::new(1, ConcurrencyLimiter::aimd);
    let ticket = turn(&hosts.of(&'a'), 1).await;
    hosts.of(&'a').leave(ticket, TIMEOUT);
    advance(secs(9 * 60)).await;
    hosts.of(&'b');
    assert_eq!(hosts.of(&'a').limit(), 18);
    advance(secs(10 * 60)).await;
    hosts.of(&'b');
    assert_eq!(hosts.of(&'a').limit(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_was_raised_is_forgotten_ten_minutes_after_its_last_use() {
    let grown = || ConcurrencyLimiter::aimd().start(2);
    let hosts: Keyed<char, ConcurrencyLimiter> = Keyed::new(1, grown);
    for _ in 0..4 {
        let ticket = turn(&hosts.of(&'a'), 2).await;
        hosts.of(&'a').leave(ticket, AttemptOutcome::Success);
    }
    let limit = hosts.of(&'a').limit();
    assert!(limit > 2);
    advance(secs(9 * 60)).await;
    hosts.of(&'b');
    assert_eq!(hosts.of(&'a').limit(), limit);
    advance(secs(10 * 60)).await;
    hosts.of(&'b');
    assert_eq!(hosts.of(&'a').limit(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_limit_in_use_is_kept_even_without_changes() {
    let hosts: Keyed<char, ConcurrencyLimiter> =
        Keyed::new(1, || ConcurrencyLimiter::aimd().start(2).most(3));
    for _ in 0..60 {
        let ticket = turn(&hosts.of(&'a'), 3).await;
        hosts.of(&'a').leave(ticket, AttemptOutcome::Success);
        advance(secs(60)).await;
        // No attempt is running now.
        hosts.of(&'b');
    }
    assert_eq!(hosts.of(&'a').limit(), 3);
}

/// Checks if a value that was not used for ten minutes is kept after an operator's changes.
macro_rules! is_kept {
    ($make:expr, |$changed:ident| $($change:expr),+) => {{
        let keyed = Keyed::new(1, || $make);
        let $changed = keyed.of(&'a');
        $($change;)+
        let weak = Arc::downgrade(&$changed);
        // From when another key finds no room.
        keyed.of(&'b');
        drop($changed);
        advance(secs(10 * 60)).await;
        keyed.of(&'b');
        weak.upgrade().is_some()
    }};
}

#[tokio::test(start_paused = true)]
async fn an_operator_s_numbers_are_kept_until_they_are_taken_back() {
    let kept = [
        is_kept!(ConcurrencyLimiter::aimd(), |of| of
            .set_limits(1..=50)
            .unwrap()),
        is_kept!(RateLimiter::adaptive(), |of| of.set_most(0.5).unwrap()),
        is_kept!(RateLimiter::fixed(9, secs(1)), |of| of
            .set_amount(8)
            .unwrap()),
        is_kept!(RateLimiter::quota(9, 9), |of| of.set_requests(8).unwrap()),
        is_kept!(Breaker::new(), |of| of.set_ratio(0.5).unwrap()),
        is_kept!(Breaker::new(), |of| of.set_open_for(secs(9))),
    ];
    assert_eq!(kept, [true; 6]);
    let back = [
        is_kept!(
            ConcurrencyLimiter::aimd(),
            |of| of.set_limits(1..=50).unwrap(),
            of.set_limits(1..=200).unwrap()
        ),
        is_kept!(
            RateLimiter::adaptive(),
            |of| of.set_most(0.5).unwrap(),
            of.set_most(f64::INFINITY).unwrap()
        ),
        is_kept!(
            RateLimiter::fixed(9, secs(1)),
            |of| of.set_amount(8).unwrap(),
            of.set_amount(9).unwrap()
        ),
        is_kept!(
            Breaker::new(),
            |of| of.set_ratio(0.5).unwrap(),
            of.set_ratio(0.9).unwrap()
        ),
    ];
    assert_eq!(back, [false; 4]);
}

/// The clock is read only once a key finds no room, so the ten minutes start there.
#[tokio::test(start_paused = true)]
async fn the_age_of_a_key_counts_only_once_there_is_no_room() {
    let models = Rates::new(2, RateLimiter::adaptive);
    for model in ['a', 'b'] {
        let ticket = turn(&models.of(&model), 1).await;
        models.of(&model).leave(ticket, THROTTLED);
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
    let on_its_own_clock = || {
        let mut runtime = Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap()
    };
    for (ahead, is_forgotten) in [(secs(30), false), (secs(3600), true)] {
        let models = Rates::new(1, RateLimiter::adaptive);
        let (early, late) = (on_its_own_clock(), on_its_own_clock());
        late.block_on(async {
            advance(ahead).await;
            let ticket = turn(&models.of(&'a'), 1).await;
            models.of(&'a').leave(ticket, THROTTLED);
            models.of(&'b');
        });
        early.block_on(async {
            models.of(&'b');
            assert_eq!(models.of(&'a').rate().is_infinite(), is_forgotten);
        });
    }
}
