//! A clock that only advances with sleeps.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use retry_runtime::seam::{BlockingTimer, Moment, Timer};

/// A clock that moves only when somebody sleeps: by the time asked for, and as much longer as it oversleeps.
#[derive(Debug, Default)]
pub struct Simulated {
    nanos: AtomicU64,
    oversleeps: Duration,
    slept: Mutex<Vec<Duration>>,
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
            slept: Mutex::new(Vec::new()),
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

    /// Returns the length of each sleep.
    pub fn slept(&self) -> Vec<Duration> {
        self.slept.lock().unwrap().clone()
    }

    fn to_sleep(&self, duration: Duration) {
        let slept = duration + self.oversleeps;
        self.slept.lock().unwrap().push(slept);
        self.advance(slept);
    }

    fn moment(&self) -> Moment {
        Moment::from_origin(Self::START + self.passed())
    }
}

impl Timer for Simulated {
    async fn sleep(&self, duration: Duration) {
        self.to_sleep(duration);
    }

    fn now(&self) -> Moment {
        self.moment()
    }
}

impl BlockingTimer for Simulated {
    fn sleep(&self, duration: Duration) {
        self.to_sleep(duration);
    }

    fn now(&self) -> Moment {
        self.moment()
    }
}
