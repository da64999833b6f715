use core::time::Duration;

use retry_classify::Kind;

use crate::budget::retry_budget::{Paid, RetryBudget};
use crate::call::NextAttempt;
use crate::policy::schedule::limit;
use crate::policy::{Policy, Values, millis};
use crate::time::nanos;

/// A running call: the core of every loop in this crate, and of your own loops.
///
/// It has no clock and no timer. After a failure, it returns the time to wait or the reason to stop; after a success,
/// it only writes a report. Reports go to the log and to test recorders, as with the attribute. A call is plain data
/// (`Copy`, `'static`) and borrows nothing while an attempt runs.
///
/// ```
/// use std::time::Instant;
/// use retry_runtime::own_loop::{Call, Failure, Site};
/// use retry_runtime::{Policy, Verdict};
///
/// fn fetch(attempt: u32) -> Result<&'static str, String> {
///     if attempt < 3 { Err(String::from("503 overloaded")) } else { Ok("hello") }
/// }
///
/// const POLICY: Policy = Policy::none().max(5);
/// let site = Site::new(&POLICY, "model.fetch");
/// let started = Instant::now();
/// let mut call = Call::new();
/// let answer = loop {
///     match fetch(call.attempt()) {
///         Ok(answer) => {
///             call.succeeded(&site);
///             break Ok(answer);
///         }
///         Err(error) => {
///             let verdict = Verdict::from(error.starts_with("503"));
///             let failure =
///                 Failure::new(&site, verdict, &error).elapsed(started.elapsed());
///             match call.failed_with(failure) {
///                 Ok(pause) => std::thread::sleep(pause),
///                 Err(_reason) => break Err(error),
///             }
///         }
///     }
/// };
/// assert_eq!((answer, call.attempt()), (Ok("hello"), 3));
/// ```
///
/// With the feature `serde`, a call can be saved during its pause and continued in another process. Its counts, its
/// last delay and the time spent are saved. The time between saving and loading does not count against the policy's
/// deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// The retries that count against the policy's `max`.
    pub(super) retries: u32,
    /// The retries that count against a section's own `max`, by [`Kind`].
    pub(super) retries_by_kind: [u32; Kind::OF_FAILURES.len()],
    /// The retries that were corrections, and not attempts.
    pub(super) corrections: u32,
    /// The attempts not included in the number of the current attempt: those before the last progress, and those that
    /// started after the winning one.
    pub(super) other_attempts: u32,
    /// The policy's `max` as last read; 0 before that.
    pub(super) max: u32,
    /// The kind of failure before the last retry or correction, if a budget paid for it.
    pub(crate) last_retry_kind: Option<Kind>,
    /// The retries before the last progress, if delays keep growing after it.
    pub(super) backoff_offset: u32,
    /// The last delay in nanoseconds, which decorrelated jitter builds on.
    pub(super) last_delay: u64,
    /// The time spent in other processes, in nanoseconds.
    pub(super) spent_before_load: u64,
    /// The time spent in this process up to the last failure, in nanoseconds, as far as reported.
    pub(super) spent: u64,
    /// The sum of the pauses in milliseconds, if the policy limits it.
    pub(super) paused_ms: u32,
    /// True during the pause after a failure. If no elapsed time is reported, the pause counts as the time spent.
    pub(super) is_pausing: bool,
    /// True once an attempt has completed, so that the budget has recorded the call.
    pub(super) has_outcome: bool,
    /// True if every retry counts against every `max`, because no kind has its own count.
    pub(super) is_counted_as_one: bool,
}

impl Call {
    /// A call before its first attempt.
    pub const fn new() -> Self {
        Self {
            retries: 0,
            retries_by_kind: [0; Kind::OF_FAILURES.len()],
            corrections: 0,
            other_attempts: 0,
            max: 0,
            last_retry_kind: None,
            backoff_offset: 0,
            last_delay: 0,
            spent_before_load: 0,
            spent: 0,
            paused_ms: 0,
            is_pausing: false,
            has_outcome: false,
            is_counted_as_one: false,
        }
    }

    /// A call after `retries` retries of any kind, whose other fields are not used.
    #[doc(hidden)]
    pub const fn after(retries: u32) -> Self {
        let mut call = Self::new();
        call.retries = retries;
        call.has_outcome = retries != 0;
        call
    }

    /// A call whose retries all count against every `max`.
    pub(crate) const fn with_single_count(mut self) -> Self {
        self.is_counted_as_one = true;
        self
    }

    /// Sets the policy's `max` before the first failure.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_max(mut self, max: u32) -> Self {
        self.max = max;
        self
    }

    /// Credits a budget because the call succeeded, or made progress before it is [`restarted`](Self::restarted).
    /// [`failed_with`](Self::failed_with) records everything else on the budget.
    ///
    /// ```
    /// use retry_runtime::own_loop::{Call, Failure, Site};
    /// use retry_runtime::{Budget, Policy, Verdict};
    ///
    /// static BUDGET: Budget = Budget::standard();
    /// const POLICY: Policy = Policy::none();
    ///
    /// let site = Site::new(&POLICY, "model.fetch");
    /// let mut call = Call::new();
    /// let failure = Failure::new(&site, Verdict::TRANSIENT, &"overloaded");
    /// assert!(call.failed_with(failure.budget(&BUDGET)).is_ok());
    /// assert_eq!(BUDGET.available(), 486.0);
    /// call.succeeded(&site);
    /// call.credit(&BUDGET);
    /// assert_eq!(BUDGET.available(), 500.0);
    /// ```
    #[inline]
    pub fn credit<B: RetryBudget + ?Sized>(&self, budget: &B) {
        if !self.has_outcome {
            budget.called();
        }
        budget.succeeded(self.last_retry_kind);
    }

    /// The payment by `budget` for the retry that [`failed_with`](Self::failed_with) has just allowed. Dropping it
    /// before the retry starts refunds the budget.
    ///
    /// ```
    /// use retry_runtime::own_loop::{Call, Failure, Site};
    /// use retry_runtime::{Budget, Policy, Verdict};
    ///
    /// static BUDGET: Budget = Budget::standard();
    /// const POLICY: Policy = Policy::none();
    ///
    /// let site = Site::new(&POLICY, "model.fetch");
    /// let mut call = Call::new();
    /// let failure = Failure::new(&site, Verdict::TRANSIENT, &"overloaded");
    /// assert!(call.failed_with(failure.budget(&BUDGET)).is_ok());
    /// let paid = call.paid(&BUDGET);
    /// assert_eq!(BUDGET.available(), 486.0);
    /// // The call is dropped during its pause:
    /// drop(paid);
    /// assert_eq!(BUDGET.available(), 500.0);
    /// ```
    pub fn paid<B: RetryBudget>(&self, budget: B) -> Paid<B> {
        Paid::new(budget, self.last_retry_kind)
    }

    /// Returns the call after its attempt made progress, for example a stream that yielded an item before it failed:
    /// retries count from 0 again. The time spent is kept. If the call has a budget, [`credit`](Self::credit) the
    /// budget first.
    ///
    /// Delays start at `base` again if the attempt `lasted` longer than the pause before it. Otherwise they keep
    /// growing, so that a server that accepts connections and immediately drops them isn't called at the shortest delay
    /// forever.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::own_loop::{Call, Site};
    /// use retry_runtime::{Policy, Verdict};
    ///
    /// const POLICY: Policy = Policy::none().max(1);
    /// let site = Site::new(&POLICY, "feed");
    /// let mut call = Call::new();
    /// for _day in 0..7 {
    ///     call = call.restarted(Duration::from_secs(86_400));
    ///     assert!(call.failed(&site, Verdict::TRANSIENT, &"connection reset").is_ok());
    /// }
    /// ```
    #[must_use]
    pub const fn restarted(self, lasted: Duration) -> Self {
        let mut call = Self {
            other_attempts: self.attempts() - 1,
            max: self.max,
            spent_before_load: self.spent_before_load,
            // Includes the pause before this attempt, in case no elapsed time is reported.
            spent: if self.is_pausing {
                self.spent.saturating_add(self.last_delay)
            } else {
                self.spent
            },
            has_outcome: true,
            ..Self::new()
        };
        // AWS's MQTT 5 clients compare with a fixed time (`minConnectedTimeToResetReconnectDelayMs`). A comparison with
        // the pause suits every policy: delays keep growing only while attempts last no longer than the pauses before
        // them.
        if lasted.as_nanos() <= self.last_delay().as_nanos() {
            call.backoff_offset = self.backoff_offset.saturating_add(self.attempt() - 1);
            call.last_delay = self.last_delay;
        }
        call
    }

    /// The number of the current attempt, from 1, counted from the last [`restarted`](Self::restarted).
    #[inline]
    pub const fn attempt(&self) -> u32 {
        let [transient, throttled, timeout, invalid] = self.retries_by_kind;
        self.retries
            .saturating_add(transient)
            .saturating_add(throttled)
            .saturating_add(timeout)
            .saturating_add(invalid)
            .saturating_sub(self.corrections)
            .saturating_add(1)
    }

    /// The number of attempts made, including the current one.
    pub(super) const fn attempts(&self) -> u32 {
        self.attempt().saturating_add(self.other_attempts)
    }

    /// The number of values that were corrected instead of making another attempt.
    pub const fn corrections(&self) -> u32 {
        self.corrections
    }

    /// The pause before the current attempt, zero for the first.
    pub const fn last_delay(&self) -> Duration {
        Duration::from_nanos(self.last_delay)
    }

    /// The attempt after the last failure, as passed to hooks.
    pub const fn next_attempt(&self) -> NextAttempt {
        NextAttempt::new(self.attempt(), self.last_delay())
    }

    /// The time spent up to the last failure, as far as the loop reported it.
    pub const fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent_before_load.saturating_add(self.spent))
    }

    /// The kind of failure before the last retry or correction, if a budget paid for it.
    #[doc(hidden)]
    pub const fn retry_kind(&self) -> Option<Kind> {
        self.last_retry_kind
    }

    /// Returns true if the current attempt is a retry.
    #[inline]
    pub const fn is_retried(&self) -> bool {
        self.corrections != 0 || self.attempt() != 1
    }

    /// Returns true if no retry can follow, regardless of how the current attempt fails.
    #[doc(hidden)]
    pub fn is_last(&self, policy: &Policy, values: Values) -> bool {
        Kind::OF_FAILURES.into_iter().all(|kind| {
            let retry = self.retries(policy, kind, values).saturating_add(1);
            !policy.schedule(Some(kind), values).allows(retry)
        })
    }

    /// The policy's `max` as last read; 0 before that.
    #[doc(hidden)]
    pub const fn max_retries(&self) -> u32 {
        self.max
    }

    /// The retries counted so far for this kind of failure: its own count if it has one, or else the shared count.
    pub(super) fn retries(&self, policy: &Policy, kind: Kind, values: Values) -> u32 {
        let mut call = *self;
        *call.retries_mut(policy, kind, values)
    }

    pub(super) fn retries_mut(&mut self, policy: &Policy, kind: Kind, values: Values) -> &mut u32 {
        if !self.is_counted_as_one && policy.has_own_count(kind, values) {
            &mut self.retries_by_kind[kind as usize]
        } else {
            &mut self.retries
        }
    }

    /// Counts a retry after a failure of this kind.
    pub(super) fn add_retry(&mut self, policy: &Policy, kind: Kind, values: Values) {
        let count = self.retries_mut(policy, kind, values);
        *count = count.saturating_add(1);
    }

    /// The number of the last retry for this kind of failure, and the limit (`None`: unlimited): in the kind's own
    /// count, if it has one.
    pub(crate) fn retry_count(
        &self,
        policy: &Policy,
        kind: Kind,
        values: Values,
    ) -> (u32, Option<u32>) {
        let max = policy.schedule(Some(kind), values).max;
        (self.retries(policy, kind, values), limit(max))
    }

    /// Counts a pause, or the rest of one, against `total_delay`.
    #[doc(hidden)]
    pub fn spend_pause(&mut self, pause: Duration) {
        self.paused_ms = self.paused_ms.saturating_add(millis(pause));
    }

    /// Records the pause that follows.
    pub(super) fn set_pause(&mut self, delay: Duration) {
        self.spend_pause(delay);
        self.last_delay = nanos(delay);
        self.is_pausing = true;
    }

    pub(super) fn set_spent(&mut self, elapsed: Option<Duration>) {
        let measured = elapsed.map_or(0, nanos);
        let waited = match elapsed {
            None if self.is_pausing => self.spent.saturating_add(self.last_delay),
            _ => self.spent,
        };
        // The time spent does not decrease, even if the clock goes backwards.
        self.spent = measured.max(waited);
        self.is_pausing = false;
    }

    /// The call as saved, to be continued later with another clock.
    pub(super) fn into_saved(mut self) -> Self {
        self.spent_before_load = self.spent_before_load.saturating_add(self.spent);
        self.spent = 0;
        self
    }

    /// The call's state for reports about the attempt with this number.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn for_attempt(self, attempt: u32) -> Self {
        Self {
            retries: attempt.saturating_sub(1).saturating_add(self.corrections),
            retries_by_kind: [0; Kind::OF_FAILURES.len()],
            other_attempts: self.attempts().saturating_sub(attempt),
            ..self
        }
    }
}
