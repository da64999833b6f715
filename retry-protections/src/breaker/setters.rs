use std::time::Duration;

use retry_runtime::seam::Transition;

use crate::breaker::circuit::Breaker;
use crate::breaker::settings::{LONGEST_RUN, is_ratio};

/// Settings of a new breaker.
impl Breaker {
    /// The ratio of failed attempts within the window at which the breaker opens: above 0 and at most 1. Default 0.9.
    ///
    /// Avoid low ratios. If a server fails every other attempt, most calls succeed after retries, but a breaker at 0.5
    /// rejects nearly all of them.
    ///
    /// # Panics
    ///
    /// If `ratio` is not above 0 and at most 1.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        assert!(is_ratio(ratio), "a ratio is above 0 and at most 1");
        self.initial.ratio = ratio;
        self
    }

    /// The smallest number of attempts within the window for which the ratio counts. At least 1, default 100. With a
    /// [`count_window`](Self::count_window), both the default and the maximum are its length.
    ///
    /// A sudden outage opens the breaker sooner: once failures reach a quarter of that number, but at least 25, over at
    /// least a fifteenth of the window. Each success cancels out the same number of failures, or more if the
    /// [`ratio`](Self::ratio) requires it.
    ///
    /// Until an attempt has succeeded, the breaker stays closed while more attempts are in flight than have failed,
    /// because failures may be faster than successes. Timeouts open it regardless.
    ///
    /// # Panics
    ///
    /// If `calls` is 0.
    pub const fn minimum_calls(mut self, calls: u32) -> Self {
        assert!(calls > 0, "`minimum_calls` is at least 1");
        self.initial.minimum_calls = calls;
        self
    }

    /// The number of consecutive failures that opens the breaker, regardless of the ratio. Default 0: off.
    pub const fn consecutive_failures(mut self, failures: u32) -> Self {
        self.initial.consecutive = failures;
        self
    }

    /// The time for which an attempt counts in the ratio, accurate to a tenth of that time. Default 30 s: a sudden
    /// outage then opens the breaker after 2 s.
    ///
    /// # Panics
    ///
    /// If `window` is zero.
    pub const fn window(mut self, window: Duration) -> Self {
        assert!(!window.is_zero(), "`window` is above zero");
        self.initial.window = window;
        self.initial.count_window = 0;
        self
    }

    /// Computes the ratio over the last `calls` attempts, however long ago they ended, instead of a
    /// [`window`](Self::window) of time. At least 1. The breaker then opens by the count alone: the attempt that fills
    /// the window may open it even if it succeeds, a sudden outage doesn't open it sooner, and attempts in flight don't
    /// keep it closed.
    ///
    /// For functions that are called too rarely for a window of time, and for settings migrated from resilience4j or
    /// `MicroProfile` Fault Tolerance, which count in the same way. Uses 32 bytes of memory for each attempt.
    ///
    /// ```
    /// use retry_protections::Breaker;
    /// use retry_runtime::seam::BreakerState;
    /// use retry_runtime::retry;
    ///
    /// static STORE: Breaker = Breaker::new().count_window(4).ratio(0.5);
    ///
    /// #[retry(max = 0, breaker = &STORE)]
    /// fn load(is_up: bool) -> std::io::Result<()> {
    ///     is_up.then_some(()).ok_or(std::io::ErrorKind::ConnectionRefused.into())
    /// }
    ///
    /// for is_up in [true, false, true, true] {
    ///     assert_eq!(load(is_up).is_ok(), is_up);
    /// }
    /// assert_eq!(STORE.state(), BreakerState::Closed);
    /// assert!(load(false).is_err());
    /// // Two of the last four failed.
    /// assert_eq!(STORE.state(), BreakerState::Open);
    /// ```
    ///
    /// # Panics
    ///
    /// If `calls` is 0.
    pub const fn count_window(mut self, calls: u32) -> Self {
        assert!(calls > 0, "`count_window` is at least 1");
        self.initial.count_window = calls;
        self
    }

    /// Opens the breaker if too many attempts are slow. An attempt counts as slow if it takes at least `after`,
    /// accurate to a millisecond. `ratio` is the ratio of slow attempts within the window at which the breaker opens:
    /// above 0 and at most 1. Off by default. A slow trial call counts as a failure.
    ///
    /// For a server that responds, but too late. Unlike the key `timeout`, `slow` doesn't end any attempt.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_protections::Breaker;
    ///
    /// static STORE: Breaker = Breaker::new().slow(Duration::from_secs(2), 0.8);
    /// ```
    ///
    /// # Panics
    ///
    /// If the time is zero, or the ratio is not above 0 and at most 1.
    pub const fn slow(mut self, after: Duration, ratio: f64) -> Self {
        assert!(!after.is_zero(), "`slow` needs a time above zero");
        self.initial.slow_after = millis(after);
        assert!(is_ratio(ratio), "a ratio is above 0 and at most 1");
        self.initial.slow_ratio = ratio;
        self
    }

    /// Counts throttled attempts as failures. Off by default, because a server that throttles is up: a limiter or a
    /// budget slows the calls down.
    ///
    /// For one of several servers, so that calls go to another server while this one throttles. If the server sends a
    /// hint with the failure that opens the breaker, the hint determines how long the breaker stays open: see
    /// [`open_for`](Self::open_for).
    ///
    /// ```
    /// use retry_protections::Breaker;
    ///
    /// static MODEL_API: Breaker = Breaker::new().consecutive_failures(3).count_throttled();
    /// ```
    pub const fn count_throttled(mut self) -> Self {
        self.initial.counts_throttled = true;
        self
    }

    /// The time for which the breaker stays open before it admits a trial call. At least 1 ms, default 5 s. If the
    /// failure that opens it has a hint from the server, the hint is used instead. The hint counts as at least a second
    /// or `open_for`, whichever is shorter, and as at most 2 minutes or `open_for`, whichever is longer.
    pub const fn open_for(mut self, open_for: Duration) -> Self {
        self.initial.open_for = min_one_milli(open_for);
        self
    }

    /// The longest time for which the breaker stays open after failed trial calls. Each time that trial calls open the
    /// breaker again, [`open_for`](Self::open_for) doubles, up to this time. Once the breaker has closed, the time
    /// starts again from `open_for`. By default, or if `max_open_for` is shorter than `open_for`, the time doesn't
    /// grow. A server's hint still takes precedence.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_protections::Breaker;
    ///
    /// // Open for 5 s, 10 s, 20 s, 40 s, 60 s, 60 s, …
    /// static STORE: Breaker = Breaker::new().max_open_for(Duration::from_secs(60));
    /// ```
    pub const fn max_open_for(mut self, max_open_for: Duration) -> Self {
        self.initial.max_open_for = max_open_for;
        self
    }

    /// The number of trial calls that the breaker admits while half open, both at a time and in total. At least 1,
    /// default 1. All of them must succeed to close it, unless [`trial_successes`](Self::trial_successes) is lower.
    ///
    /// A trial call that is dropped is replaced by another. A trial call that never ends can't keep the breaker half
    /// open: whenever no trial call has started for `open_for`, one more is admitted.
    ///
    /// # Panics
    ///
    /// If `calls` is 0, or less than `trial_successes`.
    pub const fn trial_calls(mut self, calls: u32) -> Self {
        assert!(calls > 0, "`trial_calls` is at least 1");
        assert!(
            calls >= self.initial.trial_successes,
            "`trial_successes` is at most `trial_calls`"
        );
        self.initial.trial_calls = calls;
        self
    }

    /// The number of [`trial_calls`](Self::trial_calls) that must succeed to close the breaker. It opens again as soon
    /// as that number can no longer be reached. At least 1, default all. Set it after `trial_calls`.
    ///
    /// ```
    /// use retry_protections::Breaker;
    ///
    /// // Two of three, for a server of which one replica in three may still be down.
    /// static STORE: Breaker = Breaker::new().trial_calls(3).trial_successes(2);
    /// ```
    ///
    /// # Panics
    ///
    /// If `calls` is 0, or more than `trial_calls`.
    pub const fn trial_successes(mut self, calls: u32) -> Self {
        assert!(calls > 0, "`trial_successes` is at least 1");
        assert!(
            calls <= self.initial.trial_calls,
            "`trial_successes` is at most `trial_calls`, which is set before"
        );
        self.initial.trial_successes = calls;
        self
    }

    /// A function that is called with each change of state, on the thread that causes the change: an operator's or an
    /// attempt's. This includes changes caused by dropped attempts, which are not logged. The function may query the
    /// breaker, and must not block. The log and the key `observe` also report changes that attempts cause, with the
    /// call's name.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use retry_protections::Breaker;
    /// use retry_runtime::seam::Transition;
    ///
    /// static OPENINGS: AtomicU32 = AtomicU32::new(0);
    /// static STORE: Breaker = Breaker::new().listener(|transition| {
    ///     if let Transition::Opened { .. } = transition {
    ///         OPENINGS.fetch_add(1, Relaxed);
    ///     }
    /// });
    ///
    /// STORE.force_open();
    /// assert_eq!(OPENINGS.load(Relaxed), 1);
    /// ```
    pub const fn listener(mut self, listener: fn(Transition)) -> Self {
        self.initial.listener = Some(listener);
        self
    }

    /// A dropped attempt that ran for at least this time counts as a timeout. Accurate to a millisecond, at most 24
    /// days. Default 0: never, because a dropped attempt gives no information about the server.
    ///
    /// For callers with their own time limit, which drop the call before it can detect that its server hangs. Choose a
    /// time that is longer than responses take. If the function itself can have a time limit, prefer its key `timeout`,
    /// which also retries and logs that the breaker opens. A dropped call can't log anything.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_protections::Breaker;
    /// use retry_runtime::retry;
    /// use tokio::time::timeout;
    ///
    /// static STORE: Breaker = Breaker::new().hung_after(Duration::from_secs(2));
    ///
    /// #[retry(breaker = &STORE)]
    /// async fn load(key: &str) -> std::io::Result<String> {
    ///     Ok(format!("the value of {key}"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let loaded = timeout(Duration::from_secs(3), load("a")).await;
    /// assert!(loaded.is_ok());
    /// # }
    /// ```
    pub const fn hung_after(mut self, after: Duration) -> Self {
        self.initial.hung_after = millis(after);
        self
    }

    /// The longest time that a call waits while the breaker is open, if the breaker is the call's `limiter`: for
    /// workers and queue consumers, which have nothing else to do. Default: no limit except the call's deadline.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_protections::Breaker;
    /// use retry_runtime::retry;
    ///
    /// static STORE: Breaker = Breaker::new().max_wait(Duration::from_secs(600));
    ///
    /// #[retry(max = "unlimited", deadline = "1h", limiter = &STORE)]
    /// async fn consume(message: &str) -> std::io::Result<usize> {
    ///     Ok(message.len())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_eq!(consume("hello").await.unwrap(), 5);
    /// # }
    /// ```
    ///
    /// Calls that name the same breaker with the key `breaker` are rejected as usual. A call that would have to wait
    /// longer than `max_wait` is rejected at once. When the breaker closes, two of the waiting calls start at once, and
    /// the number that have started doubles every second. Otherwise all of them would start at the same time.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.initial.max_wait = Some(max_wait);
        self
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most what fits")]
const fn millis(time: Duration) -> u32 {
    let millis = time.as_nanos().div_ceil(1_000_000);
    let most = LONGEST_RUN as u128;
    (if millis < most { millis } else { most }) as u32
}

pub(super) const fn min_one_milli(open_for: Duration) -> Duration {
    if open_for.as_millis() == 0 {
        Duration::from_millis(1)
    } else {
        open_for
    }
}
