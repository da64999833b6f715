use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use retry_runtime::macro_support::{Remembers, changed};
use retry_runtime::{LimiterNumbers, WithCost};

use crate::keyed::Rest;
use crate::limiter::aimd::Aimd;
use crate::limiter::queue::Queue;
use crate::out_of_range::OutOfRange;

/// Bounds how many attempts run at a time: the key `limiter`.
///
/// | made by | the limit | a name for it |
/// |---|---|---|
/// | [`fixed`](Self::fixed) | known, such as that of a pool of connections | bulkhead, semaphore |
/// | [`aimd`](Self::aimd) | found by trying, by how well the server copes | adaptive limit |
///
/// A server that slows down as it gets more to do needs fewer attempts at a time, not fewer per second. `aimd`
/// finds the limit by trying: one more for each round of successes, and up to a tenth less when an attempt fails.
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
/// An overloaded server causes three kinds of failure, and all lower the limit: `Throttled`, `Timeout`, and
/// `Transient`, such as 503, 529 and refused connections. Not every transient failure comes from overload, so the limit
/// also falls with a server that fails at random: to about ten attempts at a time if a tenth of them fail. Set
/// [`least`](Self::least) if you need more.
///
/// A failure lowers the limit by half the share of attempts that fail, as
/// [DCTCP](https://www.rfc-editor.org/rfc/rfc8257) does, but by no more than a tenth. A round of failures lowers it
/// once: failures of attempts that began before it was last lowered don't count. Successes raise it only while at least
/// half of it is in use.
///
/// An attempt that makes calls with the same limiter takes up more of the limit for each of them. Once the limit is too
/// low, it deadlocks with itself. Give each layer its own limiter.
///
/// Additive increase and multiplicative decrease come from [TCP](https://www.rfc-editor.org/rfc/rfc5681), the numbers
/// from Netflix's [`AIMDLimit`](https://github.com/Netflix/concurrency-limits), which raises it faster.
///
/// | setter | default |
/// |---|---|
/// | [`start`](Self::start) | 20 |
/// | [`least`](Self::least) | 1 |
/// | [`most`](Self::most) | 200 |
/// | [`max_wait`](Self::max_wait) | none |
/// | [`queue`](Self::queue) | no limit |
///
/// Make one for each server that can be overloaded separately: each host, each database. [`Keyed`](crate::Keyed) keeps
/// them apart.
#[derive(Debug)]
pub struct ConcurrencyLimiter(pub(super) Queue<Aimd>);

impl ConcurrencyLimiter {
    /// A limit that starts at 20.
    pub const fn aimd() -> Self {
        Self(Queue::new(Aimd::new()))
    }

    /// A limit that never changes: a bulkhead. What waits begins in the order in which it came, and a retry waits
    /// behind what came during its pause.
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
        assert!(limit > 0, "at least one runs at a time");
        Self(Queue::new(Aimd::fixed(limit)))
    }

    /// The limit at first. From `least` to `most`, default 20.
    pub const fn start(mut self, limit: u32) -> Self {
        self.0.replace(self.0.new.start(limit));
        self
    }

    /// The lowest limit. At least 1, the default.
    pub const fn least(mut self, limit: u32) -> Self {
        self.0.replace(self.0.new.least(limit));
        self
    }

    /// The highest limit. At least 1, default 200.
    pub const fn most(mut self, limit: u32) -> Self {
        self.0.replace(self.0.new.most(limit));
        self
    }

    /// The longest that an attempt waits for its turn. By default it waits as long as it takes.
    ///
    /// With zero, an attempt begins at once or is rejected ("try acquire").
    ///
    /// If calls have no deadline, set this: while a server is slow, calls would wait in a queue that only grows.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.0.max_wait = Some(max_wait);
        self
    }

    /// How many attempts may wait for their turn. One more is rejected at once, with
    /// [`RejectedBy::Full`](retry_runtime::RejectedBy::Full). With 0, none waits. By default there is no limit.
    pub const fn queue(mut self, attempts: u32) -> Self {
        self.0.most_waiting = attempts as usize;
        self
    }

    /// This limiter for attempts with that cost: each counts as that many. One that costs more than the limit runs
    /// alone.
    pub const fn cost(&self, cost: u32) -> WithCost<&Self> {
        WithCost::new(self, cost)
    }

    /// Keeps the limit within these bounds from now on: for an operator, to slow calls down at once. The same number
    /// twice fixes the limit. What runs goes on; what waits begins as soon as there is room. The log has an `INFO`.
    /// Fails and changes nothing if the bounds are empty or include 0.
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
        self.change_limits(|_, _| limits)
    }

    /// Changes the bounds that configuration names, from now on, as [`set_limits`](Self::set_limits) does. Fails and
    /// changes nothing if the lower bound would be above the upper one.
    pub fn set(&self, numbers: LimiterNumbers) -> Result<(), OutOfRange> {
        self.change_limits(|least, most| {
            numbers.least().unwrap_or(least)..=numbers.most().unwrap_or(most)
        })
    }

    /// Puts others in the place of those in force, under one lock: what others set meanwhile is not lost.
    fn change_limits(
        &self,
        change: impl FnOnce(u32, u32) -> RangeInclusive<u32>,
    ) -> Result<(), OutOfRange> {
        let limits = self.0.with(|gate| {
            let before = gate.bounds();
            let limits = change(before.0, before.1);
            let (least, most) = (*limits.start(), *limits.end());
            if least == 0 || most < least {
                return Err(OutOfRange);
            }
            *gate = gate.between(least, most);
            Ok((before != (least, most)).then_some(limits))
        })?;
        // A file that is read again has mostly the numbers of before.
        if let Some(limits) = limits {
            changed("limits of attempts at a time", &format_args!("{limits:?}"));
        }
        Ok(())
    }

    /// How many attempts may run at a time now.
    pub fn limit(&self) -> u32 {
        self.0.look(|gate, _| gate.limit())
    }

    /// How many run: the sum of their costs.
    pub fn running(&self) -> u64 {
        self.0.look(|gate, _| gate.running())
    }

    /// How many wait for their turn.
    pub fn waiting(&self) -> usize {
        self.0.waiting()
    }

    /// For how long nothing begins because the server said so. `None` if nothing is paused.
    pub fn paused_for(&self) -> Option<Duration> {
        self.0.paused_for()
    }
}

impl Remembers for ConcurrencyLimiter {}

/// While nothing runs or waits, no operator's bounds are in force, and the limit is the first one or unused.
impl Rest for ConcurrencyLimiter {
    fn is_at_rest(&self, is_unused: bool) -> bool {
        let new = &self.0.new;
        self.0.is_at_rest(|gate, _| {
            let is_idle = gate.running() == 0 && gate.bounds() == new.bounds();
            is_idle && (is_unused || gate.limit() == new.limit())
        })
    }
}

/// Shows how many run, how many may, and how many wait: `18 of 20 running, 3 waiting`.
impl fmt::Display for ConcurrencyLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (running, limit, waiting) = self
            .0
            .look(|gate, waiting| (gate.running(), gate.limit(), waiting));
        write!(f, "{running} of {limit} running, {waiting} waiting")
    }
}
