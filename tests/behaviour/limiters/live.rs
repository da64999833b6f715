//! Settings that an operator changes while calls wait.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use futures::future::join_all;
use retry_runtime::configuration::{BreakerSettings, LimiterSettings};
use support::prelude::*;

use crate::limiters::{millis, secs, turn};

/// Returns the start times, in milliseconds, of four attempts of a second that enter now, if `change` is made at once.
async fn begins<L: AdmissionControl>(limiter: &L, change: impl FnOnce()) -> Vec<u128> {
    let start = Instant::now();
    let attempts = (0..4).map(|_| async {
        let ticket = turn(limiter, 1).await;
        let began = start.elapsed();
        sleep(secs(1)).await;
        limiter.leave(ticket, AttemptOutcome::Success);
        began.as_millis()
    });
    let change = async {
        sleep(millis(1)).await;
        change();
    };
    futures::future::join(join_all(attempts), change).await.0
}

#[tokio::test(start_paused = true)]
async fn limits_rates_and_quotas_change_while_calls_wait() {
    let places = ConcurrencyLimiter::fixed(1);
    let more = || places.set_limits(3..=3).unwrap();
    assert_eq!(begins(&places, more).await, [0, 1, 1, 1000]);
    assert_eq!(places.limit(), 3);

    let fewer = || places.set_limits(1..=1).unwrap();
    assert_eq!(begins(&places, fewer).await, [0, 0, 0, 1000]);

    let fixed = RateLimiter::fixed(1, secs(1));
    let faster = || fixed.set_amount(60).unwrap();
    assert_eq!(begins(&fixed, faster).await, [0, 18, 35, 51]);

    let quota = RateLimiter::quota(60, 60_000).burst(2);
    let slower = || quota.set_requests(6).unwrap();
    assert_eq!(begins(&quota, slower).await[..2], [0, 0]);

    let found = RateLimiter::adaptive().start(1.0);
    let slower = || found.set_most(0.1).unwrap();
    assert_eq!(begins(&found, slower).await[..2], [0, 1000]);
    assert_eq!(found.rate().to_string(), "0.1");
}

#[tokio::test(start_paused = true)]
async fn running_attempts_return_their_own_charge() {
    for amount in [6000, 60_000, 600_000] {
        let fixed = RateLimiter::fixed(60_000, secs(60)).burst(32_000);
        let mut tickets = Vec::new();
        for _ in 0..4 {
            tickets.push(turn(&fixed, 8000).await);
        }
        fixed.set_amount(amount).unwrap();
        assert_eq!(fixed.available(), 0.0, "{amount}");
        for _ in &tickets {
            fixed.settle(8000, 1000);
        }
        assert_eq!(fixed.available(), 28_000.0, "{amount}");

        let requests = amount / 1000;
        let quota = RateLimiter::quota(60, 60_000).burst(2);
        let begun = [turn(&quota, 0).await, turn(&quota, 0).await];
        quota.set_requests(requests).unwrap();
        assert_eq!(quota.available(), 0.0, "{requests}");
        for ticket in begun {
            quota.leave(ticket, AttemptOutcome::NotBegun);
        }
        assert!(quota.available() > 0.0, "{requests}");
    }

    let found = RateLimiter::adaptive().start(100.0);
    let early = turn(&found, 1).await;
    sleep(millis(10)).await;
    found.set_most(0.1).unwrap();
    let _late = turn(&found, 1).await;
    found.leave(early, AttemptOutcome::NotBegun);
    assert_eq!(found.available(), 0.0);
}

#[test]
fn out_of_range_values_change_nothing() {
    let places = ConcurrencyLimiter::aimd();
    #[expect(clippy::reversed_empty_ranges, reason = "the nonsense")]
    let nonsense = [0..=5, 9..=8];
    for limits in nonsense {
        assert!(places.set_limits(limits).is_err());
    }
    assert_eq!(places.limit(), 20);
    let fixed = RateLimiter::fixed(7, Duration::from_secs(1));
    assert!(fixed.set_amount(0).is_err());
    assert!(fixed.set_requests(1).is_err());
    assert!(RateLimiter::quota(1, 1).set_requests(0).is_err());
    assert_eq!(fixed.rate().to_string(), "7");
    for rate in [0.0, -1.0, f64::NAN] {
        assert!(RateLimiter::adaptive().set_most(rate).is_err());
    }
}

/// A mistake in a file changes nothing.
#[test]
fn a_file_changes_numbers_by_name() {
    #[derive(serde::Deserialize)]
    struct Config {
        breakers: BTreeMap<String, BreakerSettings>,
        limiters: BTreeMap<String, LimiterSettings>,
    }

    #[retry(max = 0, breaker = breaker, limiter = limiter)]
    fn call(breaker: &Breaker, limiter: &ConcurrencyLimiter, is_up: bool) -> io::Result<()> {
        let refused = io::ErrorKind::ConnectionRefused;
        is_up.then_some(()).ok_or(refused.into())
    }

    let (breaker, limiter) = (Breaker::new().count_window(4), ConcurrencyLimiter::aimd());
    let load = |breaker_keys: &str, limiter_keys: &str| -> Result<(), Box<dyn Error>> {
        let file = format!("breakers.a = {{ {breaker_keys} }}\nlimiters.a = {{ {limiter_keys} }}");
        let config: Config = toml::from_str(&file)?;
        breaker.set(config.breakers["a"]);
        Ok(limiter.set(config.limiters["a"])?)
    };
    load(r#"ratio = 0.5, open_for = "10s""#, "least = 2, most = 5").unwrap();
    for (breaker_keys, limiter_keys, message) in rows! {
        "ratio = 1.5", "most = 9",
            "`breaker.ratio = 1.5` is out of range: it takes a number above 0, and at most 1";
        "ratoi = 1", "most = 9", "unknown key `ratoi` in `breaker(…)`: did you mean `ratio`?";
        "ratio = 1, open_for = 10", "most = 9", "`breaker.open_for = 10` has no unit";
        r#"ratio = 1, open_for = "0s""#, "most = 9",
            "`breaker.open_for = 0s` is out of range: it takes a duration above zero";
        "ratio = 1", "least = 0",
            "`limiter.least = 0` is out of range: it takes a whole number from 1 up";
        "ratio = 1", "least = 9, most = 2", "`least = 9` is above `most = 2`";
    } {
        let error = load(breaker_keys, limiter_keys).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let twice = "most=1, most=2".parse::<LimiterSettings>().unwrap_err();
    assert_eq!(twice.to_string(), "`limiter.most` is given twice: keep one");

    assert_eq!(limiter.limit(), 5);
    for is_up in [true, true, false] {
        assert_eq!(call(&breaker, &limiter, is_up).is_ok(), is_up);
        assert_eq!(breaker.state(), BreakerState::Closed);
    }
    assert!(call(&breaker, &limiter, false).is_err());
    assert_eq!(breaker.state(), BreakerState::Open);
    // A setting that isn't named is kept: the minimum is 2.
    assert!(limiter.set("most=1".parse().unwrap()).is_err());
    limiter.set("most=3".parse().unwrap()).unwrap();
    assert_eq!(limiter.limit(), 3);
}

/// Setting one bound keeps the other, even if another thread sets that one at the same time.
#[test]
fn bounds_set_concurrently_all_count() {
    let limiter = ConcurrencyLimiter::aimd();
    let set = |text: &str| limiter.set(text.parse().unwrap()).is_ok();
    let is_done = AtomicBool::new(false);
    let kept = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Relaxed) {
                set("least=2");
            }
        });
        let kept = (0..2000).filter(|_| set("most=20") && set("most=5") && !set("least=9"));
        let kept = kept.count();
        is_done.store(true, Relaxed);
        kept
    });
    assert_eq!(kept, 2000);
}
