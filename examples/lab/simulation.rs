//! Simulates hours in seconds, with tokio's paused clock and a seeded random number generator.

use std::cell::RefCell;
use std::f64::consts::TAU;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use retry_runtime::testing;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

/// Runs a scenario on a paused clock: time passes only while everything sleeps. Runs with the same seed are identical,
/// except for the slices of a breaker's window, which don't start with the run.
pub(crate) fn run<T>(seed: u64, scenario: impl Future<Output = T>) -> T {
    let _seeded = testing::seed(seed);
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime starts");
    LocalSet::new().block_on(&runtime, scenario)
}

/// The random numbers of a simulated world. The jitter of retries has a separate generator.
pub(crate) struct Chance(RefCell<SmallRng>);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(RefCell::new(SmallRng::seed_from_u64(seed)))
    }

    /// Returns a number from 0 up to, but not including, 1.
    fn fraction(&self) -> f64 {
        self.0.borrow_mut().random()
    }

    pub(crate) fn happens(&self, probability: f64) -> bool {
        self.fraction() < probability
    }

    /// Returns the absolute value of a normally distributed duration, by the Box–Muller method.
    pub(crate) fn normal(&self, mean: Duration, deviation: Duration) -> Duration {
        let radius = (-2.0 * (1.0 - self.fraction()).ln()).sqrt();
        let offset = radius * (TAU * self.fraction()).cos();
        let seconds = mean.as_secs_f64() + offset * deviation.as_secs_f64();
        Duration::from_secs_f64(seconds.abs())
    }

    /// Returns the time to the next event, if `per_second` events a second happen independently.
    pub(crate) fn gap(&self, per_second: f64) -> Duration {
        Duration::from_secs_f64(-(1.0 - self.fraction()).ln() / per_second)
    }
}
