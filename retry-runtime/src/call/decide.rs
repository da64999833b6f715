//! Decides what follows a failure. All retry decisions are made here.

use core::time::Duration;

use retry_classify::{Kind, Verdict};

use crate::call::failure::Failure;
#[cfg(feature = "std")]
use crate::call::sites;
use crate::call::state::Call;
use crate::observe::Reason;
use crate::observe::warnings::warn_about_verdict;
use crate::policy::Policy;
use crate::policy::hint::Hint;
use crate::policy::schedule::Schedule;
use crate::policy::values::Values;
use crate::time::random;

/// The pause before the next attempt, or why the call gives up.
pub(crate) type Decision = Result<Duration, Reason>;

impl Call {
    /// Decides whether to retry. Counts the retry, and reports nothing except warnings about the verdict.
    pub(crate) fn decide(&mut self, failure: &mut Failure<'_>, policy: &Policy) -> Decision {
        let decision = self.decision(failure, policy);
        #[cfg(feature = "std")]
        sites::met(failure.site.name(), policy, decision.is_ok());
        decision
    }

    fn decision(&mut self, failure: &mut Failure<'_>, policy: &Policy) -> Decision {
        let values = failure.inputs.values;
        let kind = failure.verdict.kind();
        let schedule = policy.schedule(kind, values);
        self.max = policy.retries_allowed();
        let counted = kind.filter(|kind| policy.has_own_count(*kind, values));
        self.tell_budget(failure, policy);
        if failure.inputs.cancelled && kind.is_some() {
            return Err(Reason::Cancelled);
        }
        if failure.verdict.warns() {
            warn_about_verdict(failure.site.name(), failure.verdict, failure.error);
        }
        let kind = retryable(failure.verdict, failure.inputs.idempotent)?;
        if failure.inputs.repeated {
            return Err(Reason::Repeated);
        }
        let retry = self.count(counted).saturating_add(1);
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
        self.retry(counted, delay);
        self.last_retry_kind = failure.is_paid(seen).then_some(seen);
        Ok(delay)
    }

    /// The pause before that retry, unless there is no time left for it.
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
        let computed = failure.delays.as_mut().and_then(|(delays, range)| {
            range(policy, (kind, values), &mut || delays(step), previous)
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

    /// Time left before the deadline or `total_delay` runs out; [`Duration::MAX`] if neither is set, `None` if the
    /// deadline has passed.
    pub(super) fn time_left(&self, failure: &Failure<'_>, policy: &Policy) -> Option<Duration> {
        let left = self.pauses_left(policy);
        Some(left.min(self.until_deadline(failure, policy).ok()?))
    }

    /// The time left for pauses under `total_delay`; [`Duration::MAX`] without a limit.
    pub(crate) fn pauses_left(&self, policy: &Policy) -> Duration {
        match policy.delay_limit() {
            Some(limit) => limit.saturating_sub(Duration::from_millis(self.paused_ms.into())),
            None => Duration::MAX,
        }
    }
}

/// The reason that this failure is not retried, regardless of earlier ones, with this much time left.
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) fn refused(
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

/// The range of the delay that a function computes, if the kind uses computed delays.
pub(super) fn computed_range(
    policy: &Policy,
    (kind, values): (Kind, Values),
    delay: &mut dyn FnMut() -> Duration,
    previous: Duration,
) -> Option<(Duration, Duration)> {
    let schedule = policy.computed(kind, values)?;
    Some(schedule.range_about(delay(), previous))
}

/// The rule for hints, and the longest accepted hint. A breaker's hint is always honored: no attempt is admitted before
/// it ends.
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
