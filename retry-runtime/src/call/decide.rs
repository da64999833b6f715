//! All retry decisions: after a failure, retry or give up; after the pause, start the attempt or not.

use core::fmt;
use core::mem;
use core::time::Duration;

use crate::budget::retry_budget::Paid;
use crate::call::failure::{Deadline, Failure};
#[cfg(feature = "nested")]
use crate::call::nested;
use crate::call::site::Site;
#[cfg(feature = "std")]
use crate::call::sites;
use crate::call::state::Call;
use crate::hedge::pushback::Pushback;
use crate::observe::event::{Event, EventData};
use crate::observe::reason::Reason;
use crate::observe::report::{reborrow, report};
use crate::observe::warnings::warn_about_verdict;
use crate::policy::Policy;
use crate::policy::hint::Hint;
use crate::policy::schedule::{Schedule, limit};
use crate::policy::values::Values;
use crate::time::moment::Moment;
use crate::time::random;
use retry_classify::Kind;
use retry_classify::RejectedBy;
use retry_classify::Verdict;
use retry_classify::macro_support::Basis;
use retry_classify::macro_support::shown;

/// The pause before the next attempt, or the reason that the call gives up.
pub(crate) type Decision = Result<Duration, Reason>;

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
        self.spend(failure.inputs.elapsed);
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
            nested::tell(&site, attempt, values, observe);
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
        sites::met(failure.site.name(), policy, decision.is_ok());
        decision
    }

    fn decision(&mut self, failure: &mut Failure<'_>, policy: &Policy) -> Decision {
        let values = failure.inputs.values;
        self.max = policy.retries_allowed();
        self.tell_budget(failure, policy);
        if failure.inputs.cancelled && failure.verdict.kind().is_some() {
            return Err(Reason::Cancelled);
        }
        if failure.verdict.warns() {
            warn_about_verdict(failure.site.name(), failure.verdict, failure.error);
        }
        let kind = retryable(failure.verdict, failure.inputs.idempotent)?;
        if failure.inputs.repeated {
            return Err(Reason::Repeated);
        }
        let schedule = policy.schedule(Some(kind), values);
        let retry = self.count(policy, kind, values).saturating_add(1);
        if failure.inputs.last || !schedule.allows(retry) {
            return Err(Reason::Exhausted);
        }
        if failure.inputs.unrepeatable {
            return Err(Reason::Unrepeatable);
        }
        let delay = self.delay(failure, policy, (kind, &schedule), retry)?;
        let times = 0..failure.inputs.times;
        let seen = failure.verdict.kind_seen().unwrap_or(kind);
        failure.paid = match failure.payer(seen) {
            Some(budget) => times.filter(|_| budget.withdraw(seen)).count(),
            None => times.len(),
        };
        if failure.paid == 0 {
            return Err(Reason::Budget);
        }
        self.add_retry(policy, kind, values);
        self.pauses(delay);
        self.last_retry_kind = failure.is_paid(seen).then_some(seen);
        Ok(delay)
    }

    /// Records a failed attempt on the budget. For a call's first attempt, also records the call.
    pub(crate) fn tell_budget(&mut self, failure: &Failure<'_>, policy: &Policy) {
        let is_known = mem::replace(&mut self.has_outcome, true);
        let Some(budget) = failure.budget else {
            return;
        };
        if !is_known {
            (0..failure.inputs.times).for_each(|_| budget.called());
        }
        let verdict = failure.verdict;
        match verdict.kind().and(verdict.kind_seen()) {
            // If retries are turned off, there is nothing to pay for.
            Some(kind) if policy.is_enabled() => {
                if let Some(budget) = failure.payer(kind) {
                    (0..failure.inputs.times).for_each(|_| budget.failed(kind));
                }
            }
            None if verdict.basis() == Basis::Answer => {
                (0..failure.inputs.times).for_each(|number| {
                    let followed = self
                        .last_retry_kind
                        .filter(|_| number < failure.inputs.followed);
                    budget.answered(followed);
                });
            }
            _ => {}
        }
    }

    /// The pause before that retry, or the reason that the call can't wait for it.
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
        if let Some(reason) = refusal(rule, failure.hint(), left.unwrap_or_default()) {
            return Err(reason);
        }
        let left = left?;
        let (step, previous) = (retry.saturating_add(self.backoff_offset), self.last_delay());
        let computed = failure.delays.as_mut().and_then(|delays| {
            let schedule = policy.computed(kind, values)?;
            Some(schedule.range_about(delays(step), previous))
        });
        let mut range = computed.unwrap_or_else(|| schedule.range(step, previous));
        let hinted = failure.hint().and_then(|hint| {
            let (rule, longest) = rule;
            rule.range(range, hint, longest, schedule.is_jittered())
        });
        if let Some((from, to)) = hinted {
            // Clip the jitter: the hint itself fits the deadline, so jitter must not push the call past it.
            range = (from, to.min(left).max(from));
        }
        let delay = random::between(range);
        if delay > left {
            return Err(Reason::Deadline);
        }
        Ok(delay)
    }

    /// Decides what follows a rejection by the breaker or the limiter. Returns the pause before the attempt is tried
    /// again, or the rejection that ends the call. A rejection is not evidence about a server, so the breaker, the
    /// limiter and the budget don't record it.
    ///
    /// `rejections` counts these pauses. It is not a field of the call, because most calls have neither a breaker nor a
    /// limiter.
    #[cold]
    #[inline(never)]
    pub(super) fn rejected(
        &mut self,
        rejections: &mut u32,
        by: RejectedBy,
        mut failure: Failure<'_>,
    ) -> Result<Duration, RejectedBy> {
        let policy = &failure.site.policy_in_force();
        let schedule = policy.schedule(Some(Kind::Rejected), failure.inputs.values);
        let retry = schedule.next_retry(*rejections);
        let may_follow = Reason::from(by) == Reason::Rejected;
        let retry = retry.filter(|_| may_follow).ok_or(by)?;
        if failure.inputs.cancelled {
            return Err(RejectedBy::Cancelled);
        }
        self.spend(failure.inputs.elapsed);
        let delay = self.delay(&mut failure, policy, (Kind::Rejected, &schedule), retry);
        let delay = delay.map_err(|reason| match reason {
            Reason::Deadline => RejectedBy::Deadline,
            _ => by,
        })?;
        self.pauses(delay);
        *rejections = retry;
        let data = EventData::Retrying {
            retry,
            retry_max: limit(schedule.max),
            max: limit(self.known(policy).max),
            delay,
            error: &shown(failure.error),
            kind: Kind::Rejected,
        };
        let event = Event::new(failure.site.name(), self.attempt(), data);
        report(&event, failure.observe);
        Ok(delay)
    }

    /// The time left before the deadline or `total_delay` runs out; [`Duration::MAX`] if neither is set, `None` if the
    /// deadline has passed.
    pub(super) fn time_left(&self, failure: &Failure<'_>, policy: &Policy) -> Option<Duration> {
        let left = self.pauses_left(policy);
        Some(left.min(self.until_deadline(failure, policy).ok()?))
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

/// The kind of failure as which a hedged attempt is counted and paid for, because it is a retry without a failure.
const HEDGED: Kind = Kind::Transient;

/// Decisions while attempts are in flight.
impl Call {
    /// Returns true if the call allows another attempt next to those in flight. The breaker, limiter and budget may
    /// still reject it.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn may_hedge(&self, slow: &Failure<'_>, pushback: Pushback) -> bool {
        let (policy, values) = (slow.site.policy_in_force(), slow.inputs.values);
        let retry = self.count(&policy, HEDGED, values).saturating_add(1);
        !pushback.came()
            && !slow.inputs.cancelled
            && slow.inputs.idempotent
            && policy.schedule(Some(HEDGED), values).allows(retry)
            && self.time_left(slow, slow.site.policy).is_some()
    }

    /// Charges the budget for another attempt, `delay` after the last one. Returns true if the budget pays, and the
    /// attempt starts. The cost is not refunded, whichever attempt wins, because the server has the load in any case.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn hedges(&mut self, mut slow: Failure<'_>, delay: Duration) -> bool {
        if slow.budget.is_some_and(|budget| !budget.withdraw(HEDGED)) {
            return false;
        }
        // Refunds the budget if user code panics while the attempt is being reported.
        let paid = slow.budget.map(|budget| Paid::new(budget, Some(HEDGED)));
        let policy = &slow.site.policy_in_force();
        self.max = policy.retries_allowed();
        self.add_retry(policy, HEDGED, slow.inputs.values);
        let (name, max) = (slow.site.name(), limit(self.max));
        for data in [EventData::Hedging { max, delay }, EventData::Started] {
            let event = Event::new(name, self.attempt(), data);
            report(&event, reborrow(&mut slow.observe));
        }
        paid.into_iter().for_each(Paid::spend);
        true
    }

    /// Records that the attempt with this number failed while others are in flight. Returns false if the failure ends
    /// the call, and with it the others.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn failed_beside(
        &mut self,
        failure: Failure<'_>,
        attempt: u32,
        pushback: &mut Pushback,
    ) -> bool {
        pushback.note(failure.verdict);
        let Some(kind) = failure.verdict.kind() else {
            return false;
        };
        let policy = &failure.site.policy_in_force();
        self.tell_budget(&failure, policy);
        let error = &shown(failure.error);
        let data = EventData::AttemptFailed { error, kind };
        let event = Event::new(failure.site.name(), attempt, data);
        report(&event, failure.observe);
        true
    }

    /// The call as seen by the attempt with this number, for reports about it.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn at(self, attempt: u32) -> Self {
        Self {
            retries: attempt.saturating_sub(1).saturating_add(self.corrections),
            retries_by_kind: [0; Kind::OF_FAILURES.len()],
            other_attempts: self.attempts().saturating_sub(attempt),
            ..self
        }
    }
}

/// The reason that this failure is not retried if `left` is the time left, regardless of earlier failures.
pub fn refused(
    policy: &Policy,
    verdict: Verdict,
    idempotent: bool,
    left: Duration,
) -> Option<Reason> {
    match retryable(verdict, idempotent) {
        Ok(kind) => refusal(hint_rule(policy, kind), verdict.hint(), left),
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

/// The rule for hints, and the longest accepted hint. For a rejection, the hint is always honored, because the breaker
/// admits no attempt earlier.
fn hint_rule(policy: &Policy, kind: Kind) -> (Hint, Option<Duration>) {
    match kind {
        Kind::Rejected => (Hint::Honor, None),
        _ => (policy.hint_rule(), policy.longest_hint()),
    }
}

/// The reason that a hint alone ends a call that has this much time left.
fn refusal(
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

/// The tolerance for a pause that should have ended by the deadline, because timers have a granularity, and threads
/// have to be scheduled. A pause that ends later missed the deadline.
pub(crate) fn grace(pause: Duration) -> Duration {
    (pause / 10).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

impl Call {
    /// Checks after the pause that the attempt may start. Fails if the pause was [cancelled](Failure::cancelled) or
    /// overran the deadline, or if the policy has changed and no longer allows the retry. Pass the error from before
    /// the pause. If this returns an `Err`, end the call with that error.
    ///
    /// Timers are imprecise, so a pause may end after the deadline by up to a tenth of its length, but at least 10 ms
    /// and at most 1 s.
    pub fn resumed(&self, failure: Failure<'_>) -> Result<(), Reason> {
        match self.revoked(&failure) {
            Some(reason) => {
                self.gave_up(failure, reason);
                Err(reason)
            }
            None => Ok(()),
        }
    }

    /// The reason that the last retry may not start after all. If no elapsed time is reported, the pause counts as just
    /// over.
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
        now.spend(failure.inputs.elapsed);
        let left = now.until_deadline(failure, policy);
        let is_late = left.is_err_and(|late| late > grace(self.last_delay()));
        is_late.then_some(Reason::Deadline)
    }

    /// The time until the deadline ([`Duration::MAX`] without one), or as an `Err` the time since it passed.
    pub(super) fn until_deadline(
        &self,
        failure: &Failure<'_>,
        policy: &Policy,
    ) -> Result<Duration, Duration> {
        let (end, now) = match (failure.inputs.deadline, policy.time_limit()) {
            (Deadline::At { end, now }, _) => (end, now),
            (Deadline::OfPolicy, Some(limit)) => (
                Moment::from_origin(limit),
                Moment::from_origin(self.spent()),
            ),
            (Deadline::Never, _) | (Deadline::OfPolicy, None) => return Ok(Duration::MAX),
        };
        end.checked_since(now).ok_or_else(|| now.since(end))
    }
}

/// The reason that no attempt may follow that pause, because it ended too late. `None` if it did not.
pub(crate) fn late(
    deadline: Option<Moment>,
    pause: Duration,
    now: impl FnOnce() -> Moment,
) -> Option<Reason> {
    let is_late = deadline.is_some_and(|end| now().since(end) > grace(pause));
    is_late.then_some(Reason::Deadline)
}

/// The reason that a pause that was decided earlier may not start, because it would end after the deadline. `None` if
/// it may.
pub(crate) fn outlasts(
    deadline: Option<Moment>,
    pause: Duration,
    now: impl FnOnce() -> Moment,
) -> Option<Reason> {
    let left = deadline?.checked_since(now());
    let is_in_time = left.is_some_and(|left| pause <= left);
    (!is_in_time).then_some(Reason::Deadline)
}

/// Returns true if a deadline that drops running attempts has passed, so that anything started now would be dropped at
/// once.
pub(crate) fn is_over(deadline: Option<Moment>, now: impl FnOnce() -> Moment) -> bool {
    deadline.is_some_and(|end| now() > end)
}
