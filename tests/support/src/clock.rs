//! A clock that only advances with sleeps.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use retry_runtime::seam::{Moment, Timer};

/// A clock that moves only when somebody sleeps: by the time asked for, and as much longer as it oversleeps.
#[derive(Debug, Default)]
pub struct Simulated {
    nanos: AtomicU64,
    oversleeps: Duration,
    sleeps: AtomicU32,
}

impl Simulated {
    /// Some time after its origin.
    const START: Duration = Duration::from_millis(5);

    /// Creates a clock whose sleeps have the requested length.
    pub const fn new() -> Self {
        Self::oversleeping(Duration::ZERO)
    }

    /// One that sleeps so much longer.
    pub const fn oversleeping(oversleeps: Duration) -> Self {
        Self {
            nanos: AtomicU64::new(0),
            oversleeps,
            sleeps: AtomicU32::new(0),
        }
    }

    /// Has that much time pass.
    pub fn advance(&self, span: Duration) {
        let nanos = u64::try_from(span.as_nanos()).unwrap();
        self.nanos.fetch_add(nanos, SeqCst);
    }

    /// Returns the time since it was created.
    pub fn passed(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(SeqCst))
    }

    /// Returns the number of sleeps.
    pub fn sleeps(&self) -> u32 {
        self.sleeps.load(SeqCst)
    }
}

impl Timer for Simulated {
    async fn sleep(&self, duration: Duration) {
        self.sleeps.fetch_add(1, SeqCst);
        self.advance(duration + self.oversleeps);
    }

    fn now(&self) -> Moment {
        Moment::from_origin(Self::START + self.passed())
    }
}
