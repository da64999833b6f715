//! Known limits.

use std::collections::HashMap;

use futures::future::join_all;
use support::prelude::*;
use support::runtime;
use tokio::runtime::Runtime;

use crate::limiters::{begins, ended, refused, secs, turn};

/// A thousand tokens a second, one request a second.
const fn model() -> RateLimiter<Quota> {
    RateLimiter::quota(60, 60_000)
}

#[tokio::test(start_paused = true)]
async fn attempts_start_as_fast_as_the_limits_allow() {
    let five = || RateLimiter::fixed(5, secs(1));
    for (what, limiter, costs, begin) in rows! {
        "evenly", five(), &[1, 1, 1, 1][..], &[0, 200, 400, 600][..];
        "a burst", five().burst(3), &[1; 5], &[0, 0, 0, 200, 400];
        "free", five(), &[0, 1, 0, 1], &[0, 0, 0, 200];
        "a large cost is paid later", five(), &[1, 10, 1], &[0, 200, 2200];
        "what the burst covers is there", five().burst(5), &[4, 5, 1], &[0, 800, 1000];
        "what it does not cover is paid later", five().burst(5), &[1, 8, 1], &[0, 200, 1000];
        "requests", model(), &[1, 1, 1], &[0, 1000, 2000];
        "tokens", model(), &[3000, 500, 500, 500], &[0, 2500, 3500, 4500];
        "both, with a burst", model().burst(3), &[1000, 1500, 1000, 1], &[0, 0, 500, 1000];
        "no limit of nothing", RateLimiter::quota(0, 0), &[1, 1, 2, 1],
            &[0, 60_000, 120_000, 240_000];
        "next to no time", RateLimiter::fixed(1, secs(0)), &[1; 3], &[0, 1, 1];
        "faster than timers", RateLimiter::fixed(4000, secs(1)), &[1; 9],
            &[0, 1, 1, 1, 1, 2, 2, 2, 2];
    } {
        assert_eq!(begins(&limiter, costs).await, begin, "{what}");
    }
}

/// Only as much as timers are late.
#[tokio::test(start_paused = true)]
async fn a_very_late_start_gains_nothing() {
    let limiter = RateLimiter::fixed(5, secs(1));
    begins(&limiter, &[1]).await;
    let mut ticket = limiter.enter(1);
    limiter.poll(&mut ticket, Waker::noop());
    advance(secs(10)).await;
    let admission = limiter.poll(&mut ticket, Waker::noop());
    assert_eq!(admission, Admission::Admitted);
    limiter.leave(ticket, AttemptOutcome::Success);
    assert_eq!(begins(&limiter, &[1, 1, 1]).await, [198, 398, 598]);
}

#[tokio::test(start_paused = true)]
async fn late_refunds_count_up_to_a_minutes_worth_and_more_use_is_owed() {
    let limiter = model();
    sleep(secs(10)).await;
    limiter.settle(4000, 1000);
    assert_eq!(limiter.available(), 4000.0);
    limiter.settle(1_000_000, 0);
    assert_eq!(limiter.available(), 61_000.0);
    limiter.settle(100, 63_100);
    assert_eq!(limiter.available(), 0.0);
    assert_eq!(begins(&limiter, &[1000]).await, [3000]);
}

/// If estimates are four times the actual use, calls are slowed down to a quarter, unless the cost is settled.
#[tokio::test(start_paused = true)]
async fn settled_a_high_estimate_costs_no_time() {
    let calls = async |is_settled: bool| {
        let limiter = RateLimiter::quota(60, 90_000);
        let start = Instant::now();
        let work = async || {
            for _ in 0..20 {
                let ticket = turn(&limiter, 4388).await;
                sleep(secs(5)).await;
                if is_settled {
                    limiter.settle(4388, 1097);
                }
                limiter.leave(ticket, AttemptOutcome::Success);
            }
        };
        join_all((0..50).map(|_| work())).await;
        start.elapsed().as_secs()
    };

    // A thousand calls. In the first seconds, there is no response yet with the actual use.
    assert_eq!(calls(true).await, 1010);
    assert_eq!(calls(false).await, 2927);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_never_started_returns_settled_credit() {
    let limiter = RateLimiter::fixed(60_000, secs(60)).burst(1000);
    limiter.settle(3000, 0);
    assert_eq!(limiter.available(), 4000.0);
    for cost in [500, 3000, 3500, 10_000] {
        let ticket = turn(&limiter, cost).await;
        assert_eq!(limiter.available(), (4000.0 - f64::from(cost)).max(0.0));
        limiter.leave(ticket, AttemptOutcome::NotBegun);
        assert_eq!(limiter.available(), 4000.0);
    }
    // It doesn't increase the rate later, either.
    let ticket = turn(&limiter, 3500).await;
    advance(secs(60)).await;
    limiter.leave(ticket, AttemptOutcome::NotBegun);
    assert_eq!(limiter.available(), 4000.0);
}

#[tokio::test(start_paused = true)]
async fn learn_limits_the_quota_to_the_servers_remaining_number() {
    let names = [
        "x-ratelimit-remaining-tokens",
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-output-tokens-remaining",
    ];
    for name in names {
        for (value, available) in [
            ("1250", 1250.0),
            (" 0 ", 0.0),
            ("30000", 3000.0),
            ("99999999999", 3000.0),
            ("-1", 3000.0),
            ("1.5", 3000.0),
            ("soon", 3000.0),
            ("", 3000.0),
            ("99999999999999999999999", 3000.0),
        ] {
            let limiter = model().burst(3);
            limiter.learn(|header| (header == name).then_some(value));
            assert_eq!(limiter.available(), available, "{name}: {value}");
        }
    }
    for name in [
        "x-ratelimit-remaining-requests",
        "anthropic-ratelimit-requests-remaining",
        "x-ratelimit-remaining",
        "ratelimit-remaining",
    ] {
        let limiter = model().burst(3);
        limiter.learn(|header| (header == name).then_some("1"));
        let expected = [0, 1000, 2000];
        assert_eq!(begins(&limiter, &[1, 1, 1]).await, expected, "{name}");
        let limiter = RateLimiter::fixed(1, secs(1)).burst(3);
        limiter.learn(|header| (header == name).then_some("1"));
        assert_eq!(limiter.available(), 1.0, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_least_of_what_remains_counts_and_never_gives_anything() {
    let headers = HashMap::from([
        ("anthropic-ratelimit-input-tokens-remaining", "2000"),
        ("anthropic-ratelimit-output-tokens-remaining", "500"),
    ]);
    let limiter = model().burst(3);
    limiter.settle(0, 2700);
    limiter.learn(|name| headers.get(name).copied());
    assert_eq!(limiter.available(), 300.0);
    // The server's number also includes earlier refunds.
    limiter.settle(10_000, 0);
    limiter.learn(|name| headers.get(name).copied());
    assert_eq!(limiter.available(), 500.0);
}

/// In tests, threads may have separate clocks. Time that the clock that is ahead has credited isn't credited again by
/// the other.
#[test]
fn no_time_pays_twice_by_clocks_that_differ() {
    let (ahead, behind) = (runtime::paused(), runtime::paused());
    ahead.block_on(advance(secs(10)));
    let limiter = RateLimiter::fixed(1, secs(1));
    let second = |runtime: &Runtime| runtime.block_on(begins(&limiter, &[1]))[0] / 1000;
    let seconds = [&ahead, &behind, &ahead, &behind].map(second);
    // At 10, 11, 12 and 13 seconds on each clock.
    assert_eq!(seconds, [0, 11, 2, 2]);
    // A clock that was set back further doesn't credit that time.
    let later = runtime::paused();
    ahead.block_on(advance(secs(3600)));
    let seconds = [&ahead, &later, &later].map(second);
    assert_eq!(seconds, [0, 1, 1]);
}

/// Capacity that a burst accumulates during a server's pause doesn't start as one wave afterwards.
#[tokio::test(start_paused = true)]
async fn a_burst_restarts_slowly_after_a_pause() {
    let limiter = RateLimiter::fixed(600, secs(60)).burst(100);
    let start = Instant::now();
    ended(&limiter, 1, refused(secs(60))).await;
    let work = async || {
        let ticket = turn(&limiter, 1).await;
        let begun = start.elapsed().as_secs();
        sleep(secs(10)).await;
        limiter.leave(ticket, AttemptOutcome::Success);
        begun
    };
    let begun = join_all((0..100).map(|_| work())).await;
    let within = |second| begun.iter().filter(|at| **at == second).count();
    assert_eq!([60, 61, 62, 63].map(within), [1, 2, 4, 8]);
}
