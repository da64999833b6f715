//! All retry decisions: after a failure, retry or give up; after the pause, start the attempt or not.

use core::time::Duration;
use core::{fmt, mem};

use retry_classify::macro_support::Basis;
use retry_classify::{Kind, Verdict};

use crate::budget::retry_budget::{Paid, RetryBudget};
use crate::call::failure::Deadline;
use crate::call::steps::{Next, Steps, grace};
use crate::call::{Call, Failure};
use crate::observe::warnings::warn_about_verdict;
use crate::observe::{Reason, reborrow};
use crate::policy::schedule::Schedule;
use crate::policy::{Hint, Policy, Values};
use crate::site::Site;
use crate::time::{Moment, random};

#[cfg(feature = "std")]
use crate::site::counts;
#[cfg(feature = "nested")]
use crate::site::nested;

/// The pause before the next attempt, or the reason that the call gives up.
pub(crate) type Decision = Result<Duration, Reason>;

impl Steps<'_, '_> {
    /// Reports a failed attempt to the breaker and the limiter, and decides what follows.
    #[inline(never)]
    pub(crate) fn failed(&mut self, failure: Failure<'_>) -> Decision {
        if let Some(past) = &mut self.state.past {
            past.winner = None;
        }
        self.record_failure(&failure);
        self.refund();
        self.state.can_stop = failure.inputs.is_kept;
        let mut failure = self.with_time(self.with_limiter(failure));
        let budget = self.shared.budget;
        let (ending, error) = (failure.inputs.ending, failure.error);
        let past = self.state.past();
        let decision = self
            .reporter
            .timed(self.now, &mut past.stopwatch, |mut observe| {
                let failure = failure.reborrow().with_budget(budget);
                past.call
                    .failed_with(failure.with_observer(reborrow(&mut observe)))
            });
        self.state.is_paid = decision.is_ok() && budget.is_some();
        match decision {
            Ok(_) => self.state.next = Next::Pause,
            Err(reason) => self.keep_cause(ending, reason, error),
        }
        decision
    }
}

impl Call {
    /// Reports a failed attempt. Returns the pause before the next one, or the reason that there is none.
    ///
    /// The log contains `error`. [`failed_with`](Self::failed_with) accepts more details.
    #[cold]
    pub fn failed(
        &mut self,
        site: &Site<'_>,
        verdict: Verdict,
        error: &dyn fmt::Display,
    ) -> Result<Duration, Reason> {
        self.failed_with(Failure::new(site, verdict, error))
    }

    /// Reports a failed attempt with more details: the time spent, a deadline, a budget, an observer.
    #[cold]
    #[inline(never)]
    pub fn failed_with(&mut self, mut failure: Failure<'_>) -> Result<Duration, Reason> {
        let policy = &failure.site.policy_in_force();
        self.set_spent(failure.inputs.elapsed);
        let attempt = self.attempt();
        let decision = self.decide(&mut failure, policy);
        // Refunds the budget if user code panics while the retry is being reported.
        let paid = match (decision, failure.verdict.kind()) {
            (Ok(_), Some(kind)) => failure
                .payer(kind)
                .map(|budget| Paid::new(budget, Some(kind))),
            _ => None,
        };
        #[cfg(feature = "nested")]
        if decision.is_ok() && failure.inputs.values != Values::Corrected {
            let (values, observe) = (failure.inputs.values, reborrow(&mut failure.observe));
            let site = Site::new(policy, failure.site.name());
            nested::warn(&site, attempt, values, observe);
        }
        if decision.is_ok() && failure.inputs.values == Values::Corrected {
            self.corrections = self.corrections.saturating_add(1);
        }
        self.report_decision(decision, attempt, failure, policy);
        paid.into_iter().for_each(Paid::spend);
        decision
    }

    /// Decides to retry or to give up, and counts the retry. Reports nothing except warnings about the verdict.
    pub(crate) fn decide(&mut self, failure: &mut Failure<'_>, policy: &Policy) -> Decision {
        let decision = self.decision(failure, policy);
        #[cfg(feature = "std")]
        counts::count(failure.site.name(), policy, decision.is_ok());
        decision
    }

    fn decision(&mut self, failure: &mut Failure<'_>, policy: &Policy) -> Decision {
        let values = failure.inputs.values;
        self.max = policy.retries_allowed();
        self.report_to_budget(failure, policy);
        if failure.inputs.cancelled && failure.verdict.kind().is_some() {
            return Err(Reason::Cancelled);
        }
        // A dropped attempt is ambiguous, so this applies even if `on` doesn't retry timeouts.
        let may_be_late = failure.verdict.kind().is_some() || failure.verdict.is_ambiguous();
        if failure.inputs.total_left == Some(Duration::ZERO) && may_be_late {
            return Err(Reason::Deadline);
        }
        if failure.verdict.warns() {
            warn_about_verdict(failure.site.name(), failure.verdict, failure.error);
        }
        let kind = retryable(failure.verdict, failure.inputs.idempotent)?;
        if failure.inputs.repeated {
            return Err(Reason::Repeated);
        }
        let schedule = policy.schedule(Some(kind), values);
        let retry = self.retries(policy, kind, values).saturating_add(1);
        if failure.inputs.last || !schedule.allows(retry) {
            return Err(Reason::Exhausted);
        }
        if failure.inputs.unrepeatable {
            return Err(Reason::Unrepeatable);
        }
        let delay = self.delay(failure, policy, (kind, &schedule), retry)?;
        let items = 0..failure.inputs.items;
        let seen = failure.verdict.kind_seen().unwrap_or(kind);
        failure.paid = match failure.payer(seen) {
            Some(budget) => items.filter(|_| budget.withdraw(seen)).count(),
            None => items.len(),
        };
        if failure.paid == 0 {
            return Err(Reason::Budget);
        }
        self.add_retry(policy, kind, values);
        self.set_pause(delay);
        self.last_retry_kind = failure.is_paid(seen).then_some(seen);
        Ok(delay)
    }

    /// Records a failed attempt on the budget. For a call's first attempt, also records the call.
    pub(crate) fn report_to_budget(&mut self, failure: &Failure<'_>, policy: &Policy) {
        let is_known = mem::replace(&mut self.has_outcome, true);
        let Some(budget) = failure.budget else {
            return;
        };
        if !is_known {
            (0..failure.inputs.items).for_each(|_| budget.called());
        }
        let verdict = failure.verdict;
        match verdict.kind().and(verdict.kind_seen()) {
            // If retries are turned off, there is nothing to pay for.
            Some(kind) if policy.is_enabled() => {
                if let Some(budget) = failure.payer(kind) {
                    (0..failure.inputs.items).for_each(|_| budget.failed(kind));
                }
            }
            None if verdict.basis() == Basis::Answer => {
                (0..failure.inputs.items).for_each(|number| {
                    let retried = self
                        .last_retry_kind
                        .filter(|_| number < failure.inputs.paid_before);
                    budget.answered(retried);
                });
            }
            _ => {}
        }
    }

    /// The pause before the retry with this number, or the reason that the call can't wait for the retry.
    pub(super) fn delay(
        &self,
        failure: &mut Failure<'_>,
        policy: &Policy,
        (kind, schedule): (Kind, &Schedule),
        retry: u32,
    ) -> Decision {
        let values = failure.inputs.values;
        let rule = hint_rule(policy, kind);
        let left = self.time_left(failure, policy).ok_or(Reason::Deadline);
        if let Some(reason) = hint_refusal(rule, failure.hint(), left.unwrap_or_default()) {
            return Err(reason);
        }
        let left = left?;
        let (step, previous) = (retry.saturating_add(self.backoff_offset), self.last_delay());
        let computed = failure.delays.as_mut().and_then(|delays| {
            let schedule = policy.computed_schedule(kind, values)?;
            Some(schedule.range_around(delays(step), previous))
        });
        let mut range = computed.unwrap_or_else(|| schedule.range(step, previous));
        let hinted = failure
            .hint()
            .and_then(|hint| hinted_range(rule, range, hint, schedule.is_jittered()));
        if let Some((from, to)) = hinted {
            // Clip the jitter: the hint itself fits the deadline, so jitter must not push the call past it.
            range = (from, to.min(left).max(from));
        }
        let delay = random::duration_in(range);
        // An attempt that starts when `total_timeout` ends would be dropped at once.
        let has_no_time = failure.inputs.total_left.is_some_and(|left| delay >= left);
        if delay > left || has_no_time {
            return Err(Reason::Deadline);
        }
        Ok(delay)
    }

    /// The time left before the deadline or `total_delay` runs out; [`Duration::MAX`] if neither is set, `None` if the
    /// deadline has passed.
    pub(super) fn time_left(&self, failure: &Failure<'_>, policy: &Policy) -> Option<Duration> {
        let left = self.pauses_left(policy);
        Some(left.min(self.time_to_deadline(failure, policy).ok()?))
    }

    /// The time left for pauses under `total_delay`; [`Duration::MAX`] without a limit.
    #[doc(hidden)]
    pub fn pauses_left(&self, policy: &Policy) -> Duration {
        match policy.delay_limit() {
            Some(limit) => limit.saturating_sub(Duration::from_millis(self.paused_ms.into())),
            None => Duration::MAX,
        }
    }
}

impl<'a> Failure<'a> {
    /// The budget, if it pays for a retry after this kind of failure.
    pub(super) fn payer(&self, kind: Kind) -> Option<&'a dyn RetryBudget> {
        self.budget.filter(|_| self.is_paid(kind))
    }

    pub(super) fn is_paid(&self, kind: Kind) -> bool {
        is_paid(kind, self.inputs.is_limited)
    }

    /// The longest wait that a server asked for, in this attempt or in concurrent ones.
    pub(super) fn hint(&self) -> Option<Duration> {
        self.verdict.hint().max(self.inputs.other_hint)
    }
}

/// Returns true if the budget pays for retries after this kind of failure. A limiter handles throttled retries instead.
pub(crate) fn is_paid(kind: Kind, is_limited: bool) -> bool {
    !(is_limited && kind == Kind::Throttled)
}

/// The reason that this failure is not retried, regardless of earlier failures. `left` is the time left.
pub fn refusal(
    policy: &Policy,
    verdict: Verdict,
    idempotent: bool,
    left: Duration,
) -> Option<Reason> {
    match retryable(verdict, idempotent) {
        Ok(kind) => hint_refusal(hint_rule(policy, kind), verdict.hint(), left),
        Err(reason) => Some(reason),
    }
}

/// The failure's kind if it may be retried, regardless of earlier failures.
fn retryable(verdict: Verdict, idempotent: bool) -> Result<Kind, Reason> {
    let kind = verdict.kind().ok_or(Reason::NotRetryable)?;
    if verdict.is_ambiguous() && !idempotent {
        return Err(Reason::Ambiguous);
    }
    Ok(kind)
}

/// The rule for hints, and the longest accepted hint. After a rejection, the hint is always honored, because the
/// breaker admits no attempt earlier.
fn hint_rule(policy: &Policy, kind: Kind) -> (Hint, Option<Duration>) {
    match kind {
        Kind::Rejected => (Hint::Honor, None),
        _ => (policy.hint_rule(), policy.longest_hint()),
    }
}

/// The random part of a wait after a hint is drawn from a range of at least this length.
const MIN_SPREAD: Duration = Duration::from_millis(100);
/// With [`Hint::Clamp`] and without `max_hint`, a hint may exceed the policy's shortest delay by this amount.
const CLAMP_SPAN: Duration = Duration::from_secs(5);

/// The range from which the wait is drawn, both ends included, after the server asked for `hint`. `shortest` and
/// `own_longest` are the policy's range without a hint. `None` if the hint has no effect.
fn hinted_range(
    (rule, longest): (Hint, Option<Duration>),
    (shortest, own_longest): (Duration, Duration),
    hint: Duration,
    is_jittered: bool,
) -> Option<(Duration, Duration)> {
    let hint = match rule {
        Hint::Honor => hint,
        Hint::Clamp => hint.min(longest.unwrap_or(shortest.saturating_add(CLAMP_SPAN))),
        Hint::Exact => return Some((hint, hint)),
        Hint::Ignore => return None,
    };
    let from = hint.max(shortest);
    if !is_jittered {
        return Some((from, from));
    }
    let spread = (hint / 10).max(MIN_SPREAD);
    let spread = spread.max(own_longest.saturating_sub(shortest));
    Some((from, from.saturating_add(spread)))
}

/// The reason that this hint alone ends the call. `left` is the time left.
fn hint_refusal(
    (rule, longest): (Hint, Option<Duration>),
    hint: Option<Duration>,
    left: Duration,
) -> Option<Reason> {
    let hint = hint?;
    if matches!(rule, Hint::Clamp | Hint::Ignore) {
        None
    } else if longest.is_some_and(|longest| hint > longest) {
        Some(Reason::HintTooLong)
    } else if hint > left {
        Some(Reason::Deadline)
    } else {
        None
    }
}

impl Call {
    /// Checks after the pause that the attempt may start. Fails if the pause was [cancelled](Failure::cancelled) or
    /// overran the deadline, or if the policy has changed and no longer allows the retry. Pass the error from before
    /// the pause, and end the call with that error if this method returns an `Err`.
    ///
    /// Timers are imprecise, so a pause may overrun the deadline by a tenth of its length, but at least 10 ms and at
    /// most 1 s.
    pub fn resumed(&self, failure: Failure<'_>) -> Result<(), Reason> {
        match self.revoked(&failure) {
            Some(reason) => {
                self.gave_up(failure, reason);
                Err(reason)
            }
            None => Ok(()),
        }
    }

    /// The reason that the last retry must not start after all. If no elapsed time is reported, the pause is assumed to
    /// have ended on time.
    #[doc(hidden)]
    pub fn revoked(&self, failure: &Failure<'_>) -> Option<Reason> {
        if failure.inputs.cancelled {
            return Some(Reason::Cancelled);
        }
        let policy = &failure.site.policy_in_force();
        let is_too_many = failure.verdict.kind().is_some_and(|kind| {
            let (retry, max) = self.retry_count(policy, kind, failure.inputs.values);
            // If the previous policy had other sections, the retry may have been counted under another kind.
            max.is_some_and(|max| retry.max(1) > max)
        });
        if is_too_many {
            return Some(Reason::Exhausted);
        }
        let paused = Duration::from_millis(self.paused_ms.into());
        if policy.delay_limit().is_some_and(|limit| paused > limit) {
            return Some(Reason::Deadline);
        }
        let mut now = *self;
        now.set_spent(failure.inputs.elapsed);
        let left = now.time_to_deadline(failure, policy);
        let is_late = left.is_err_and(|late| late > grace(self.last_delay()));
        is_late.then_some(Reason::Deadline)
    }

    /// The time until the deadline ([`Duration::MAX`] without one), or as an `Err` the time since it passed.
    pub(super) fn time_to_deadline(
        &self,
        failure: &Failure<'_>,
        policy: &Policy,
    ) -> Result<Duration, Duration> {
        let (end, now) = match (failure.inputs.deadline, policy.time_limit()) {
            (Deadline::At { end, now }, _) => (end, now),
            (Deadline::FromPolicy, Some(limit)) => (
                Moment::from_origin(limit),
                Moment::from_origin(self.spent()),
            ),
            (Deadline::Never, _) | (Deadline::FromPolicy, None) => return Ok(Duration::MAX),
        };
        end.checked_since(now).ok_or_else(|| now.since(end))
    }
}
