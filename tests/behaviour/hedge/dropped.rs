//! Drops a call's future at every point where it waits.

use retry_protections::Latency;
use support::dropped::{Alive, dropped_after};
use support::prelude::*;
use support::turns::Turns;

/// The values that are alive, and those that were created.
#[derive(Debug, Default)]
struct World {
    alive: Cell<i32>,
    begun: Cell<u32>,
    most: Cell<i32>,
}

/// An hour is a timeout, which never passes; what else is slept takes two polls.
async fn pause(duration: Duration) {
    if duration == Duration::from_hours(1) {
        pending::<()>().await;
    }
    yield_now().await;
    yield_now().await;
}

#[retry(
    hedge = latency.quantile(0.5),
    max = 4,
    backoff = "fixed",
    timeout = "1h",
    timer = pause,
    attempt = attempt,
    budget = purse,
    breaker = breaker,
)]
async fn call(
    world: &World,
    purse: &Turns,
    breaker: &Breaker,
    latency: &Latency,
) -> Result<u32, Failure> {
    let _alive = Alive::new(&world.alive);
    world.begun.set(world.begun.get() + 1);
    world.most.set(world.most.get().max(world.alive.get()));
    let number = attempt.number();
    assert_eq!(number, world.begun.get());
    for _ in 0..7 {
        yield_now().await;
        assert_eq!(attempt.number(), number);
    }
    if number == 5 {
        Ok(number)
    } else {
        Err(TRANSIENT)
    }
}

#[test]
fn a_call_dropped_at_any_await_releases_everything() {
    for polls in 0.. {
        let (world, breaker, latency) = (World::default(), Breaker::new(), Latency::new());
        for _ in 0..100 {
            latency.record(Duration::from_secs(1));
        }
        let purse = Turns::new(99);
        let outcome = dropped_after(polls, call(&world, &purse, &breaker, &latency));
        assert_eq!(world.alive.get(), 0, "after {polls} polls");
        // The first attempt is free. The payment for one that never started was refunded.
        let retries = world.begun.get().saturating_sub(1);
        assert_eq!(99 - purse.left(), retries, "after {polls} polls");
        if let Some(outcome) = outcome {
            assert_eq!((outcome, world.begun.get()), (Ok(5), 5));
            assert!(world.most.get() > 2);
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn places_of_trials_come_back() {
    #[retry(hedge = "1s", timer = pause, breaker = breaker)]
    async fn call(breaker: &Breaker) -> Result<u32, Failure> {
        pending().await
    }

    let breaker = Breaker::new().consecutive_failures(1).open_for(millis(1));
    breaker.fail();
    sleep(millis(1)).await;
    for _ in 0..9 {
        assert!(dropped_after(9, call(&breaker)).is_none());
    }
}
