use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use retry_runtime::configuration::LimiterSettings;
use retry_runtime::macro_support::{Remembers, log_change};
use retry_runtime::seam::WithCost;

use crate::keyed::Evictable;
use crate::limiter::aimd::Aimd;
use crate::limiter::queue::Queue;
use crate::out_of_range::OutOfRange;

/// Limits the number of attempts that run at a time, for the key `limiter`.
///
/// | created by | limit | also known as |
/// |---|---|---|
/// | [`fixed`](Self::fixed) | known, such as the size of a connection pool | bulkhead, semaphore |
/// | [`aimd`](Self::aimd) | adapted to the server's failures | adaptive limit |
///
/// A server that slows down under load needs fewer attempts at a time, not fewer per second. `aimd` finds the limit: it
/// rises by one for each round of successes, and falls by up to a tenth when an attempt fails.
///
/// ```
/// use retry_protections::ConcurrencyLimiter;
/// use retry_runtime::retry;
///
/// static STORE: ConcurrencyLimiter = ConcurrencyLimiter::aimd();
///
/// #[retry(timeout = "3s", limiter = &STORE)]
/// async fn load(key: &str) -> std::io::Result<Vec<u8>> {
///     assert_eq!(STORE.to_string(), "1 of 20 running, 0 waiting");
///     Ok(key.as_bytes().to_vec())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// assert_eq!(load("a").await?, b"a");
/// assert_eq!(STORE.running(), 0);
/// # Ok(())
/// # }
/// ```
///
/// An overloaded server causes three kinds of failure, and each lowers the limit: `Throttled`, `Timeout`, and
/// `Transient`, such as 503, 529 and refused connections. Not every transient failure is caused by overload, so random
/// failures lower the limit, too: to about ten attempts at a time if a tenth of them fail. Set [`least`](Self::least)
/// if you need more.
///
/// A failure lowers the limit by half the share of attempts that fail, as
/// [DCTCP](https://www.rfc-editor.org/rfc/rfc8257) does, but by no more than a tenth. A round of failures lowers the
/// limit only once: an attempt that started before the limit was last lowered doesn't lower it again. Successes raise
/// the limit only while at least half of it is in use.
///
/// Don't make calls with the same limiter inside an attempt: each of these calls also counts, and once the limit is too
/// low, the attempt deadlocks. Give each layer its own limiter.
///
/// Additive increase and multiplicative decrease come from [TCP](https://www.rfc-editor.org/rfc/rfc5681). The numbers
/// come from Netflix's [`AIMDLimit`](https://github.com/Netflix/concurrency-limits), which raises the limit faster.
///
/// | setter | default |
/// |---|---|
/// | [`start`](Self::start) | 20 |
/// | [`least`](Self::least) | 1 |
/// | [`most`](Self::most) | 200 |
/// | [`max_wait`](Self::max_wait) | none |
/// | [`queue`](Self::queue) | no limit |
///
/// Create one for each server that can be overloaded separately, such as each host or database, or use
/// [`Keyed`](crate::Keyed).
#[derive(Debug)]
pub struct ConcurrencyLimiter(pub(super) Queue<Aimd>);

impl ConcurrencyLimiter {
    /// An adaptive limit that starts at 20.
    pub const fn aimd() -> Self {
        Self(Queue::new(Aimd::new()))
    }

    /// A limit that never changes: a bulkhead. Attempts start in order of arrival. A retry goes to the end of the queue
    /// after its pause.
    ///
    /// ```
    /// use retry_protections::ConcurrencyLimiter;
    /// use retry_runtime::retry;
    ///
    /// // Ten at a time, ten more that wait. All others are rejected at once.
    /// static REPORTS: ConcurrencyLimiter = ConcurrencyLimiter::fixed(10).queue(10);
    ///
    /// #[retry(limiter = &REPORTS)]
    /// fn report() -> std::io::Result<String> {
    ///     Ok(REPORTS.to_string())
    /// }
    ///
    /// assert_eq!(report().unwrap(), "1 of 10 running, 0 waiting");
    /// ```
    ///
    /// # Panics
    ///
    /// If `limit` is 0.
    #[doc(alias = "bulkhead")]
    #[doc(alias = "semaphore")]
    pub const fn fixed(limit: u32) -> Self {
        assert!(limit > 0, "a fixed limit is at least 1");
        Self(Queue::new(Aimd::new().within(0.0, limit, limit)))
    }

    /// The initial limit, between `least` and `most`. Default 20.
    pub const fn start(mut self, limit: u32) -> Self {
        let new = self.0.new;
        self.0
            .replace(new.within(limit as f64, new.least, new.most));
        self
    }

    /// The lowest limit. At least 1, default 1.
    pub const fn least(mut self, limit: u32) -> Self {
        let (new, least) = (self.0.new, max(limit, 1));
        self.0
            .replace(new.within(new.limit, least, max(new.most, least)));
        self
    }

    /// The highest limit. At least 1, default 200.
    pub const fn most(mut self, limit: u32) -> Self {
        let (new, most) = (self.0.new, max(limit, 1));
        let least = if new.least > most { most } else { new.least };
        self.0.replace(new.within(new.limit, least, most));
        self
    }

    /// The longest time that an attempt waits for its turn. Default: no limit.
    ///
    /// With zero, an attempt starts at once or is rejected ("try acquire").
    ///
    /// Set `max_wait` if calls have no deadline: while a server is slow, the queue would otherwise grow without limit.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.0.max_wait = Some(max_wait);
        self
    }

    /// The number of attempts that may wait for their turn. Further attempts are rejected at once, with
    /// [`RejectedBy::Full`](retry_runtime::RejectedBy::Full). With 0, no attempt waits. Default: no limit.
    pub const fn queue(mut self, attempts: u32) -> Self {
        self.0.most_waiting = attempts as usize;
        self
    }

    /// This limiter, for attempts with this cost: each counts as that number of attempts. An attempt that costs more
    /// than the limit runs alone.
    pub const fn cost(&self, cost: u32) -> WithCost<&Self> {
        WithCost::new(self, cost)
    }

    /// Keeps the limit within these bounds from now on: for an operator, to slow calls down at once. Equal bounds fix
    /// the limit. Running attempts continue; waiting ones start as soon as there is room. The change is logged at level
    /// `INFO`. Fails and changes nothing if the range is empty or includes 0.
    ///
    /// ```
    /// use retry_protections::ConcurrencyLimiter;
    ///
    /// static STORE: ConcurrencyLimiter = ConcurrencyLimiter::aimd();
    ///
    /// // From an admin endpoint:
    /// assert!(STORE.set_limits(1..=5).is_ok());
    /// assert_eq!(STORE.limit(), 5);
    /// assert!(STORE.set_limits(0..=5).is_err());
    /// ```
    pub fn set_limits(&self, limits: RangeInclusive<u32>) -> Result<(), OutOfRange> {
        self.set_bounds(Some(*limits.start()), Some(*limits.end()))
    }

    /// Applies these bounds from now on, as [`set_limits`](Self::set_limits) does. A bound that has no value stays the
    /// same. Fails and changes nothing if the lower bound would be above the upper one.
    pub fn set(&self, numbers: LimiterSettings) -> Result<(), OutOfRange> {
        self.set_bounds(numbers.least, numbers.most)
    }

    /// Replaces the bounds under one lock, so that no concurrent change is lost.
    fn set_bounds(&self, least: Option<u32>, most: Option<u32>) -> Result<(), OutOfRange> {
        let limits = self.0.with(|gate| {
            let before = gate.least..=gate.most;
            let (least, most) = (least.unwrap_or(gate.least), most.unwrap_or(gate.most));
            if least == 0 || most < least {
                return Err(OutOfRange);
            }
            *gate = gate.within(gate.limit, least, most);
            Ok(Some(least..=most).filter(|limits| *limits != before))
        })?;
        // Log changes only: a file that is read again mostly contains the same values.
        if let Some(limits) = limits {
            log_change("limits of attempts at a time", &format_args!("{limits:?}"));
        }
        Ok(())
    }

    /// The number of attempts that may run at a time now.
    pub fn limit(&self) -> u32 {
        self.0.lock().gate.limit()
    }

    /// The sum of the costs of the attempts that run.
    pub fn running(&self) -> u64 {
        self.0.lock().gate.running
    }

    /// The number of attempts that wait for their turn.
    pub fn waiting(&self) -> usize {
        self.0.lock().waiting()
    }

    /// The time until the end of a pause requested by the server. `None` if there is no pause.
    pub fn paused_for(&self) -> Option<Duration> {
        self.0.lock().paused_for()
    }
}

const fn max(left: u32, right: u32) -> u32 {
    if left < right { right } else { left }
}

impl Remembers for ConcurrencyLimiter {}

/// At rest if no attempt runs or waits, no operator has changed the bounds, and the limit is the initial one or unused.
impl Evictable for ConcurrencyLimiter {
    fn can_evict(&self, is_unused: bool) -> bool {
        let new = &self.0.new;
        self.0.can_evict(|gate, _| {
            let bounds = |gate: &Aimd| (gate.least, gate.most);
            let is_idle = gate.running == 0 && bounds(gate) == bounds(new);
            is_idle && (is_unused || gate.limit() == new.limit())
        })
    }
}

/// Formats the number of attempts that run, may run, and wait, such as `18 of 20 running, 3 waiting`.
impl fmt::Display for ConcurrencyLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        let (running, limit, waiting) = (state.gate.running, state.gate.limit(), state.waiting());
        drop(state);
        write!(f, "{running} of {limit} running, {waiting} waiting")
    }
}
