use std::time::Duration;

use retry_runtime::Transition;

use crate::breaker::circuit::Breaker;
use crate::breaker::rule::LONGEST_RUN;

/// The breaker's numbers, as it is made.
impl Breaker {
    /// Opens once this part of the attempts within the window has failed: from above 0 to 1. Default 0.9.
    ///
    /// Beware of low ratios: retries get calls through to a server that fails every second attempt, a breaker at 0.5
    /// fails nearly all of them.
    ///
    /// # Panics
    ///
    /// If `ratio` is not above 0, or above 1.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        self.made.ratio = checked_ratio(ratio);
        self
    }

    /// The ratio counts only from that many attempts within the window. At least 1, default 100. In a
    /// [`count_window`](Self::count_window), its length is the default and the most.
    ///
    /// A sudden outage opens the breaker sooner: once a quarter of that many attempts have failed, but at least 25,
    /// over a fifteenth of the window. A success outweighs as many failures, or more if the [`ratio`](Self::ratio) asks
    /// for it.
    ///
    /// Until an attempt has succeeded, the breaker stays closed while more attempts are under way than have failed,
    /// because failures may be faster than successes. Attempts that time out open it all the same.
    ///
    /// # Panics
    ///
    /// If `calls` is 0.
    pub const fn minimum_calls(mut self, calls: u32) -> Self {
        assert!(calls > 0, "`minimum_calls` is at least 1");
        self.made.minimum_calls = calls;
        self
    }

    /// Opens also once that many attempts in a row have failed, whatever the window holds. 0, the default, is no limit.
    pub const fn consecutive_failures(mut self, failures: u32) -> Self {
        self.made.consecutive = failures;
        self
    }

    /// For how long an attempt counts in the ratio, to a tenth. Default 30 s, so a sudden outage opens the breaker
    /// after 2 s. A few successes may drop out of it too early: at most an eighth of `minimum_calls` at a time.
    ///
    /// # Panics
    ///
    /// If `window` is zero.
    pub const fn window(mut self, window: Duration) -> Self {
        assert!(!window.is_zero(), "`window` is longer than nothing");
        self.made.window = window;
        self.made.count_window = 0;
        self
    }

    /// The ratio is that of the last so many attempts, however long ago they ended: at least 1, in place of a
    /// [`window`](Self::window) of time. From then on it opens by the count alone: the attempt that fills the window
    /// may open it by a success, no sudden outage opens it sooner, and attempts under way don't keep it closed.
    ///
    /// For functions that are called too seldom for a window of time, and for numbers known from elsewhere:
    /// resilience4j and `MicroProfile` Fault Tolerance count so. It keeps two bytes for each attempt.
    ///
    /// ```
    /// use retry_protections::Breaker;
    /// use retry_runtime::{BreakerState, retry};
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
        self.made.count_window = calls;
        self
    }

    /// An attempt that takes this long is slow, to a millisecond. The breaker also opens once this part of the attempts
    /// in the window was slow: from above 0 to 1. Off by default. A slow trial call counts as a failure.
    ///
    /// For a server that answers everything too late. Unlike the key `timeout`, it cuts no attempt short.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_protections::Breaker;
    ///
    /// static STORE: Breaker = Breaker::new().slow(Duration::from_secs(2), 0.8);
    /// ```
    ///
    /// Each attempt then takes a lock and reads the clock twice.
    ///
    /// # Panics
    ///
    /// If the time is zero, or the ratio is not above 0, or above 1.
    pub const fn slow(mut self, after: Duration, ratio: f64) -> Self {
        assert!(!after.is_zero(), "what is slow takes some time");
        self.made.slow_after = millis(after);
        self.made.slow_ratio = checked_ratio(ratio);
        self
    }

    /// How long it stays open before it lets a trial call through. At least 1 ms, default 5 s. If the failure that
    /// opens it has a hint of the server's, that counts instead: at least a second or this time, whichever is shorter,
    /// and up to 2 minutes or this time, whichever is longer.
    pub const fn open_for(mut self, open_for: Duration) -> Self {
        self.made.open_for = at_least_a_milli(open_for);
        self
    }

    /// How many trial calls it lets through when half open, at a time and in all. At least 1, the default. They all
    /// must succeed to close it, unless [`trial_successes`](Self::trial_successes) says otherwise.
    ///
    /// A trial call that is dropped gives its place to another. So that a trial call that never ends can't keep it half
    /// open, one more is let through whenever none has begun for as long as `open_for`.
    ///
    /// # Panics
    ///
    /// If `calls` is 0, or less than the successes that were asked for.
    pub const fn trial_calls(mut self, calls: u32) -> Self {
        assert!(calls > 0, "`trial_calls` is at least 1");
        assert!(
            calls >= self.made.trial_successes,
            "`trial_successes` is at most `trial_calls`"
        );
        self.made.trial_calls = calls;
        self
    }

    /// How many of the [`trial_calls`](Self::trial_calls) must succeed to close it. As soon as so many have failed that
    /// no more can, it opens again. At least 1, and by default all. Set it after their number.
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
            calls <= self.made.trial_calls,
            "`trial_successes` is at most `trial_calls`, which is set before"
        );
        self.made.trial_successes = calls;
        self
    }

    /// A function to call with each change of state, on the thread that makes the change: that of an operator, or of an
    /// attempt, even of one that was dropped and is not in the log. It may ask the breaker, and must not block. The log
    /// and the key `observe` have the changes that attempts make, with their calls' names.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use retry_protections::Breaker;
    /// use retry_runtime::Transition;
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
        self.made.listener = Some(listener);
        self
    }

    /// An attempt that is dropped once it has run for so long counts as one that timed out, to a millisecond and at
    /// most 24 days. Zero, the default, is never: what is dropped says nothing about the server.
    ///
    /// For callers that wait with a time limit of their own, so that the call never learns that its server hangs.
    /// Choose more than answers take. Where the function itself can have a limit, its key `timeout` is better: it also
    /// retries, and the log says when the breaker opens. Nothing is left to say that of a call that was dropped.
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
        self.made.hung_after = millis(after);
        self
    }

    /// The longest that a call waits while the breaker is open, if the breaker is the call's `limiter`: for workers
    /// and consumers of queues, which have nothing better to do. No limit by default, but that of the call's deadline.
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
    /// Calls that name the same breaker by the key `breaker` are rejected as usual. A call that would have to wait
    /// longer is rejected at once. When the breaker closes, two of the calls that wait begin at once, and within each
    /// second as many as began before. Otherwise they would come as one wave.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.made.max_wait = Some(max_wait);
        self
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most what fits")]
const fn millis(time: Duration) -> u32 {
    let millis = time.as_nanos().div_ceil(1_000_000);
    let most = LONGEST_RUN as u128;
    (if millis < most { millis } else { most }) as u32
}

/// The ratio in millionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and a million"
)]
pub(super) const fn millionths(ratio: f64) -> Option<u64> {
    if ratio > 0.0 && ratio <= 1.0 {
        let millionths = (ratio * 1e6 + 0.5) as u64;
        Some(if millionths == 0 { 1 } else { millionths })
    } else {
        None
    }
}

const fn checked_ratio(ratio: f64) -> u64 {
    match millionths(ratio) {
        Some(millionths) => millionths,
        None => panic!("a ratio is above 0 and at most 1"),
    }
}

pub(super) const fn at_least_a_milli(open_for: Duration) -> Duration {
    const LEAST: Duration = Duration::from_millis(1);
    if open_for.as_nanos() < LEAST.as_nanos() {
        LEAST
    } else {
        open_for
    }
}
