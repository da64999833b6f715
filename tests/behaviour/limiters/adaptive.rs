//! A rate that adapts to the server's responses.

use AttemptOutcome::{NotBegun, Success};
use futures::future::join_all;
use retry_runtime::seam::Change;
use support::prelude::*;

use crate::limiters::{THROTTLED, begins, ended, millis, refused, secs, succeed, turn};

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9 * right
}

#[track_caller]
fn assert_rate(limiter: &RateLimiter, rate: f64) {
    assert!(close(limiter.rate(), rate), "{limiter} is not {rate}");
}

/// Starts a number of attempts now.
fn begun(limiter: &RateLimiter, attempts: u32) -> Vec<Permit> {
    (0..attempts).map(|_| limiter.enter(1)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_rate_is_what_got_through() {
    for (what, through, span, hint, rate) in [
        ("at once", 60, 0, 0, 60.0),
        ("the hint is part of the time", 60, 0, 59, 1.0),
        ("a long one up to a minute", 61, 0, 36_000, 1.0),
        ("in some time", 60, 30, 0, 2.0),
        ("before and after it", 60, 30, 30, 1.0),
    ] {
        let limiter = RateLimiter::adaptive();
        let running = begun(&limiter, through);
        let refused_ones = begun(&limiter, 100);
        succeed(&limiter).await;
        advance(secs(span)).await;
        for ticket in running.into_iter().skip(1) {
            limiter.leave(ticket, Success);
        }
        // A few rejections prove nothing yet, and attempts that are rejected after the first one started before that
        // was known.
        for ticket in refused_ones {
            limiter.leave(ticket, refused(secs(hint)));
        }
        assert!(close(limiter.rate(), 0.9 * rate), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn old_traffic_counts_as_an_average_minute() {
    let limiter = RateLimiter::adaptive();
    for _ in 0..7200 {
        succeed(&limiter).await;
        advance(millis(500)).await;
    }
    ended(&limiter, 1, THROTTLED).await;
    assert!((1.79..=1.81).contains(&limiter.rate()), "{limiter}");
}

#[tokio::test(start_paused = true)]
async fn one_of_many_rejections_lowers_the_rate_by_a_tenth_or_to_the_successes() {
    let limiter = RateLimiter::adaptive().start(10.0);
    let refuse = async || {
        succeed(&limiter).await;
        let before = limiter.rate();
        (before, ended(&limiter, 1, THROTTLED).await)
    };
    // Until it is known that they are many.
    for _ in 0..20 {
        refuse().await;
    }
    for _ in 0..3 {
        let (before, change) = refuse().await;
        assert_eq!(change, [None, Some(Change::Rate(limiter.rate()))]);
        assert!(limiter.rate() <= 0.9 * before, "{before}: {limiter}");
    }
}

/// A server that rejects a share of the requests at any rate.
#[tokio::test(start_paused = true)]
async fn few_rejections_keep_the_rate_of_successes() {
    for (refuses_every, least) in [(100, 9.0), (20, 8.5), (10, 7.0)] {
        let limiter = RateLimiter::adaptive().start(10.0);
        for _ in 0..2000 / refuses_every {
            for _ in 1..refuses_every {
                succeed(&limiter).await;
            }
            ended(&limiter, 1, THROTTLED).await;
            assert!(limiter.rate() >= least, "{refuses_every}: {limiter}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_start_at_the_rate() {
    static LIMITER: RateLimiter = RateLimiter::adaptive().start(4.0).most(4.0);
    let limiter = &LIMITER;
    // One that never starts is not paid for.
    ended(limiter, 5, NotBegun).await;
    assert_eq!(begins(limiter, &[1; 5]).await, [0, 250, 500, 750, 1000]);
    assert_eq!(begins(limiter, &[1, 8, 1]).await, [250, 500, 2500]);
    advance(secs(60)).await;
    assert_eq!(limiter.available(), 1.0);
    assert_eq!(begins(limiter, &[1, 1]).await, [0, 250]);
}

#[tokio::test(start_paused = true)]
async fn only_attempts_that_waited_raise_the_rate() {
    let limiter = RateLimiter::adaptive().start(4.0);
    for _ in 0..10 {
        succeed(&limiter).await;
        advance(secs(1)).await;
    }
    assert_rate(&limiter, 4.0);
    begins(&limiter, &[1; 3]).await;
    // Before a first refusal: fast, by as much again in a second.
    assert_rate(&limiter, 6.0);
    advance(secs(1)).await;
    succeed(&limiter).await;
    assert_rate(&limiter, 6.0);
    // Attempts that started before the rate was lowered must not raise it.
    let running = [turn(&limiter, 1).await, turn(&limiter, 1).await];
    for ticket in running {
        limiter.leave(ticket, refused(secs(0)));
    }
    let lowered = limiter.rate();
    advance(secs(10)).await;
    succeed(&limiter).await;
    assert_rate(&limiter, lowered);
}

#[tokio::test(start_paused = true)]
async fn a_rate_faster_than_timers_rises_by_each_success() {
    let limiter = RateLimiter::adaptive().start(100_000.0);
    begins(&limiter, &vec![1; 1000]).await;
    assert_rate(&limiter, 100_999.0);
}

#[tokio::test(start_paused = true)]
async fn the_rate_rises_slowly_above_the_last_good_rate_and_fast_below() {
    let limiter = RateLimiter::adaptive();
    let running = begun(&limiter, 120);
    for (number, ticket) in running.into_iter().enumerate() {
        let refused = refused(secs(49));
        limiter.leave(ticket, if number < 100 { Success } else { refused });
    }
    assert_rate(&limiter, 0.9 * 2.0);
    begins(&limiter, &[1; 3]).await;
    let slowly = 1.8 * 1.002 * 1.002;
    assert_rate(&limiter, slowly);
    // No request succeeds for a long time.
    let mut lowered = Vec::new();
    for _ in 0..60 {
        ended(&limiter, 1, THROTTLED).await;
        lowered.push(limiter.rate());
    }
    assert!(lowered.is_sorted_by(|earlier, later| later <= earlier));
    assert!(limiter.rate() < 0.1, "{limiter}");
    // Then it does again.
    begins(&limiter, &[1, 1, 1]).await;
    assert!((1.0..1.8).contains(&limiter.rate()), "{limiter}");
}

#[tokio::test(start_paused = true)]
async fn the_rate_restarts_if_nothing_succeeds() {
    let limiter = RateLimiter::adaptive();
    let running = begun(&limiter, 20);
    for ticket in running {
        limiter.leave(ticket, refused(secs(60)));
    }
    assert_rate(&limiter, 1.0);
    let start = Instant::now();
    begins(&limiter, &[1; 100]).await;
    // 1, 2, 3, …
    assert_rate(&limiter, 100.0);
    let took = start.elapsed();
    assert!((secs(65)..secs(67)).contains(&took), "{took:?}");
}

/// A server whose minute was used up by others before.
#[tokio::test(start_paused = true)]
async fn successes_after_a_pause_count_from_its_end() {
    let limiter = RateLimiter::adaptive();
    ended(&limiter, 0, refused(secs(60))).await;
    assert_rate(&limiter, 1.0);
    begins(&limiter, &[1; 4]).await;
    ended(&limiter, 1, THROTTLED).await;
    assert!((1.2..1.4).contains(&limiter.rate()), "{limiter}");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_starts_at_least_once_a_minute() {
    let limiter = RateLimiter::adaptive();
    let mut longest = secs(0);
    for _ in 0..100 {
        let start = Instant::now();
        let ticket = turn(&limiter, 1_000_000).await;
        longest = longest.max(start.elapsed());
        limiter.leave(ticket, THROTTLED);
    }
    assert_eq!(longest, secs(60));
}

/// Calls that are faster than the server's limit find its rate. After that, the server rejects one in `refuses_every`
/// requests at random. Returns the successes per second in the following hour.
async fn successes_per_second(limit: f64, refuses_every: u32) -> f64 {
    let limiter = RateLimiter::adaptive();
    let (mut tokens, mut filled) = (1.0, Instant::now());
    let (mut attempts, mut through) = (0, 0_u32);
    let start = Instant::now();
    while start.elapsed() < secs(2 * 3600) {
        let ticket = turn(&limiter, 1).await;
        tokens = f64::min(tokens + filled.elapsed().as_secs_f64() * limit, 10.0);
        filled = Instant::now();
        attempts += 1;
        // Scattered, and the same in each run.
        let at_random = attempts * 0x9E37 % 0xFFF1 % refuses_every == 0;
        if tokens < 1.0 || start.elapsed() > secs(3600) && at_random {
            limiter.leave(ticket, THROTTLED);
        } else {
            tokens -= 1.0;
            through += u32::from(start.elapsed() > secs(3600));
            limiter.leave(ticket, Success);
        }
        sleep(millis(1)).await;
    }
    f64::from(through) / 3600.0
}

#[tokio::test(start_paused = true)]
async fn rejections_independent_of_the_rate_lower_it_little() {
    for (refuses_every, least) in [(u32::MAX, 9.9), (20, 8.5), (10, 7.0), (8, 6.2)] {
        let through = successes_per_second(10.0, refuses_every).await;
        assert!(through > least, "every {refuses_every}th: {through}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_rate_stays_within_its_bounds() {
    for (limiter, rate) in rows! {
        RateLimiter::adaptive().most(3.0), 3.0;
        RateLimiter::adaptive().start(0.0).least(0.5), 0.5;
        RateLimiter::adaptive().start(9.0).most(4.0), 4.0;
        RateLimiter::adaptive().most(1.0).least(2.0), 2.0;
        RateLimiter::adaptive().start(f64::NAN).most(7.0), 7.0;
        RateLimiter::adaptive().most(f64::NAN).start(7.0).least(f64::NAN), f64::MIN_POSITIVE;
    } {
        assert_eq!(limiter.rate(), rate);
    }
    let limiter = RateLimiter::adaptive().start(2.0).least(1.5).most(2.5);
    begins(&limiter, &[1; 10]).await;
    assert_rate(&limiter, 2.5);
    for _ in 0..30 {
        ended(&limiter, 1, THROTTLED).await;
    }
    assert_rate(&limiter, 1.5);
}

#[tokio::test(start_paused = true)]
async fn a_pause_and_a_rate_change_are_both_reported() {
    let limiter = RateLimiter::adaptive();
    assert_eq!(limiter.to_string(), "not limited, 0 waiting");
    assert_eq!(limiter.available(), f64::INFINITY);
    let tickets = begun(&limiter, 3);
    let mut changes = tickets.into_iter().map(|ticket| {
        let changes = limiter.leave(ticket, refused(secs(7)));
        changes.into_iter().flatten().collect::<Vec<_>>()
    });
    let pause = Change::Paused { pause: secs(7) };
    assert_eq!(changes.next().unwrap(), [pause, Change::Rate(1.0)]);
    // The others started at the previous rate.
    assert_eq!(changes.next().unwrap(), []);
    assert_eq!(changes.next().unwrap(), []);
    let changes = ended(&limiter, 1, Success).await;
    assert_eq!(changes, [Some(Change::Resumed), None]);
}

#[tokio::test(start_paused = true)]
async fn a_free_attempt_is_not_refunded() {
    let limiter = RateLimiter::adaptive();
    let before = begun(&limiter, 10);
    ended(&limiter, 1, THROTTLED).await;
    assert_eq!(limiter.available(), 0.0);
    for ticket in before {
        limiter.leave(ticket, NotBegun);
    }
    assert_eq!(limiter.available(), 0.0);
}

/// A server takes 50 per second, and as many at once. The low rate so far is not its limit: it could handle these 300
/// calls in 5 s.
#[tokio::test(start_paused = true)]
async fn after_light_traffic_many_calls_get_through() {
    scripted! {
        #[retry(max = "unlimited", limiter = limiter)]
        async fn ask(limiter: &RateLimiter, tokens: &Cell<f64>, filled: &Cell<Instant>) = {
            let brought = filled.replace(Instant::now()).elapsed().as_secs_f64() * 50.0;
            tokens.set((tokens.get() + brought).min(50.0));
            if tokens.get() < 1.0 {
                sleep(millis(5)).await;
                return Err(Failure(Verdict::THROTTLED));
            }
            tokens.set(tokens.get() - 1.0);
            sleep(millis(50)).await;
            Ok(())
        };
    }

    let _seeded = testing::seed(1);
    let (tokens, filled) = (Cell::new(50.0), Cell::new(Instant::now()));
    let limiter = RateLimiter::adaptive();
    let ask = || ask(&limiter, &tokens, &filled);
    for _ in 0..60 {
        ask().await.unwrap();
        sleep(secs(1)).await;
    }
    let start = Instant::now();
    join_all((0..300).map(|_| ask())).await;
    assert!(start.elapsed() < secs(15), "{:?}", start.elapsed());
}
