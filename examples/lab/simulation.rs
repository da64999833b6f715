//! Hours in seconds: tokio's paused clock, and chance that repeats.

use std::cell::RefCell;
use std::f64::consts::TAU;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use retry_runtime::testing;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

/// Runs it on a paused clock: time passes only while everything sleeps. The same seed gives the same run, but for the
/// tenths in which a breaker counts, whose edges are not the run's.
pub(crate) fn run<T>(seed: u64, scenario: impl Future<Output = T>) -> T {
    let _seeded = testing::seed(seed);
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime starts");
    LocalSet::new().block_on(&runtime, scenario)
}

/// What a simulated world does by chance. The jitter of retries has a generator of its own.
pub(crate) struct Chance(RefCell<SmallRng>);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(RefCell::new(SmallRng::seed_from_u64(seed)))
    }

    /// From 0 up to, but not including, 1.
    fn fraction(&self) -> f64 {
        self.0.borrow_mut().random()
    }

    pub(crate) fn happens(&self, probability: f64) -> bool {
        self.fraction() < probability
    }

    /// The distance from zero of what is distributed normally, by the method of Box and Muller.
    pub(crate) fn normal(&self, mean: Duration, deviation: Duration) -> Duration {
        let radius = (-2.0 * (1.0 - self.fraction()).ln()).sqrt();
        let offset = radius * (TAU * self.fraction()).cos();
        let seconds = mean.as_secs_f64() + offset * deviation.as_secs_f64();
        Duration::from_secs_f64(seconds.abs())
    }

    /// The time to the next of events that happen independently, that many in a second.
    pub(crate) fn gap(&self, per_second: f64) -> Duration {
        Duration::from_secs_f64(-(1.0 - self.fraction()).ln() / per_second)
    }
}
