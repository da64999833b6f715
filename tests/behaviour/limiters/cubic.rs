//! The rate of the AWS SDKs' adaptive mode. Their published numbers are tested beside the code.

use std::rc::Rc;

use retry_runtime::{End, Limiter, LimiterChange, RateLimiter};
use tokio::task::LocalSet;
use tokio::time::{Instant, advance, sleep};

use crate::limiters::{THROTTLED, TRANSIENT, begins, millis, secs, turn};

#[tokio::test(start_paused = true)]
async fn nothing_is_limited_until_something_is_refused() {
    let limiter = RateLimiter::cubic();
    assert_eq!(begins(&limiter, &[1; 1000]).await, [0; 1000]);
    let ticket = turn(&limiter, 1).await;
    assert_eq!(limiter.leave(ticket, TRANSIENT), None);
    assert_eq!(limiter.rate(), f64::INFINITY);
    let ticket = turn(&limiter, 1).await;
    let change = limiter.leave(ticket, THROTTLED);
    assert_eq!(change, Some(LimiterChange::Rate(0.5).into()));
    assert_eq!(begins(&limiter, &[1]).await, [2000]);
    advance(secs(3600)).await;
    assert!(limiter.available() <= limiter.rate().max(1.0), "{limiter}");
}

/// smithy-rs `client_rate_limiter.rs`: fifty tasks that were refused share the rate, and recover in twenty seconds.
#[tokio::test(start_paused = true)]
async fn fifty_recover_together() {
    let limiter = Rc::new(RateLimiter::cubic());
    let ticket = turn(&*limiter, 1).await;
    limiter.leave(ticket, THROTTLED);
    let acquired = Rc::new(std::cell::Cell::new(0));
    let start = Instant::now();
    let tasks = LocalSet::new();
    for _ in 0..50 {
        let (limiter, acquired) = (Rc::clone(&limiter), Rc::clone(&acquired));
        tasks.spawn_local(async move {
            while acquired.get() <= 100 {
                let ticket = turn(&*limiter, 1).await;
                acquired.set(acquired.get() + 1);
                sleep(millis(10)).await;
                limiter.leave(ticket, End::Success);
            }
        });
    }
    tasks.await;
    assert!(start.elapsed() < secs(20));
}

/// smithy-typescript `DefaultRateLimiter.spec.ts`: ten workers come near the rate of the server, 20 per second, in 15 s.
#[tokio::test(start_paused = true)]
async fn it_comes_near_the_rate_of_the_server() {
    let limiter = Rc::new(RateLimiter::cubic());
    let start = Instant::now();
    let answered = Rc::new(std::cell::RefCell::new(Vec::new()));
    let tasks = LocalSet::new();
    for _ in 0..10 {
        let (limiter, answered) = (Rc::clone(&limiter), Rc::clone(&answered));
        tasks.spawn_local(async move {
            while start.elapsed() < secs(15) {
                let ticket = turn(&*limiter, 1).await;
                let now = start.elapsed();
                let is_refused = {
                    let mut answered = answered.borrow_mut();
                    let last = answered.iter().filter(|at| **at + secs(1) > now).count();
                    if last < 20 {
                        answered.push(now);
                    }
                    last >= 20
                };
                sleep(millis(20)).await;
                limiter.leave(ticket, if is_refused { THROTTLED } else { End::Success });
            }
        });
    }
    tasks.await;
    let rate = limiter.rate();
    assert!((10.0..=30.0).contains(&rate), "{rate}");
}
