//! Limiters without waits. Their limits are far above the load, and their rates are a billion per second.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::MonotonicClock;
use retry_protections::{ConcurrencyLimiter, Quota, RateLimiter};
use retry_runtime::retry;
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::{Layer, service_fn};
use tower_resilience::adaptive::{AdaptiveLimiterLayer, Aimd};
use tower_resilience::bulkhead::BulkheadLayer;
use tower_resilience::ratelimiter::RateLimiterLayer;

use crate::{Calls, blocking, body, serve, service, waiting};

const MANY: u32 = 1_000_000_000;

static CONCURRENCY: ConcurrencyLimiter = ConcurrencyLimiter::aimd();
static ADAPTIVE: RateLimiter = RateLimiter::adaptive();
static FIXED: RateLimiter<Quota> = RateLimiter::fixed(MANY, Duration::from_secs(1)).burst(MANY);

macro_rules! limited {
    ($($blocking:ident, $waiting:ident: $limiter:ident,)*) => {$(
        #[retry(limiter = &$limiter)]
        fn $blocking(value: u64) -> Result<u64, std::io::Error> {
            body(value)
        }

        #[retry(limiter = &$limiter)]
        async fn $waiting(value: u64) -> Result<u64, std::io::Error> {
            body(value)
        }
    )*};
}
limited! {
    concurrency, waits_by_concurrency: CONCURRENCY,
    adaptive, waits_by_adaptive: ADAPTIVE,
    fixed, waits_by_fixed: FIXED,
}

pub(crate) fn ways() -> Vec<(&'static str, Calls)> {
    let many = NonZeroU32::new(MANY).unwrap();
    let quota = governor::Quota::per_second(many);
    let governor = governor::RateLimiter::direct_with_clock(quota, MonotonicClock);
    let tower = ConcurrencyLimitLayer::new(20).layer(service_fn(async |value: u64| body(value)));
    let bulkhead = BulkheadLayer::builder()
        .max_concurrent_calls(20)
        .build()
        .unwrap()
        .layer(service_fn(async |value: u64| body(value)));
    let aimd = AdaptiveLimiterLayer::new(Aimd::builder().initial_limit(20).build().unwrap());
    let aimd = aimd.layer(service_fn(async |value: u64| body(value)));
    let ratelimiter = RateLimiterLayer::builder()
        .limit_for_period(MANY as usize)
        .refresh_period(Duration::from_secs(1))
        .build()
        .unwrap()
        .layer(service_fn(async |value: u64| body(value)));
    vec![
        (
            "`#[retry(limiter)]`, attempts at a time",
            blocking(concurrency),
        ),
        ("`#[retry(limiter)]`, adaptive rate", blocking(adaptive)),
        ("`#[retry(limiter)]`, fixed rate", blocking(fixed)),
        (
            "governor 0.10",
            blocking(move |value| {
                governor.check().unwrap();
                body(value)
            }),
        ),
        (
            "async, `#[retry(limiter)]`, attempts at a time",
            waiting(waits_by_concurrency),
        ),
        (
            "async, `#[retry(limiter)]`, adaptive rate",
            waiting(waits_by_adaptive),
        ),
        (
            "async, `#[retry(limiter)]`, fixed rate",
            waiting(waits_by_fixed),
        ),
        ("async, tower 0.5, concurrency limit", service(tower)),
        (
            "async, tower 0.5, rate limit, one for each thread",
            Box::new(|number| {
                let make = || {
                    let layer = RateLimitLayer::new(MANY.into(), Duration::from_secs(1));
                    layer.layer(service_fn(async |value: u64| body(value)))
                };
                serve(make, number);
            }),
        ),
        ("async, tower-resilience 0.13, bulkhead", service(bulkhead)),
        ("async, tower-resilience 0.13, AIMD", service(aimd)),
        (
            "async, tower-resilience 0.13, rate limiter",
            service(ratelimiter),
        ),
    ]
}
