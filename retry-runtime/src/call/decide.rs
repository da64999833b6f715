//! What follows a failure: the one place that decides.

use std::time::Duration;

use crate::call::failure::{Deadline, Failure};
use crate::call::state::Call;
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::policy::hint::Hint;
use crate::time::random;

/// Before the next attempt, or why there is none.
pub(crate) type Decision = Result<Duration, Reason>;

impl Call {
    /// The limit in force, and what follows. The retry is counted; nobody is told.
    pub(crate) fn decide(&mut self, failure: &mut Failure<'_>) -> (u32, Decision) {
        let policy = failure.site.policy;
        let validates = failure.validates_values();
        let kind = failure.verdict.kind();
        let schedule = policy.schedule(kind, validates);
        let decision = kind.ok_or(Reason::NotRetryable).and_then(|kind| {
            if failure.verdict.is_ambiguous() && !failure.idempotent {
                return Err(Reason::Ambiguous);
            }
            if failure.repeated {
                return Err(Reason::Repeated);
            }
            let retry = self.count(policy, kind, validates).saturating_add(1);
            if failure.last || !schedule.allows(retry) {
                return Err(Reason::Exhausted);
            }
            let left = self.time_left(failure).ok_or(Reason::Deadline);
            if let Some(reason) = refusal(policy, failure.verdict, left.unwrap_or_default()) {
                return Err(reason);
            }
            let left = left?;
            let mut delay = random::between(schedule.range(retry, self.last_delay()));
            if let Some(hint) = failure.verdict.hint() {
                let (low, high) = policy
                    .hint_rule()
                    .range(delay, hint, schedule.is_jittered());
                // What is added to a hint must not end a call that the hint itself leaves time for.
                delay = random::between((low, high.min(left).max(low)));
            }
            if delay > left {
                return Err(Reason::Deadline);
            }
            if let Some(budget) = failure.budget
                && !budget.withdraw(kind)
            {
                return Err(Reason::Budget);
            }
            self.retry(policy, kind, validates, delay);
            Ok(delay)
        });
        (schedule.max, decision)
    }

    /// Until the deadline, [`Duration::MAX`] without one. `None` where it has passed.
    pub(super) fn time_left(&self, failure: &Failure<'_>) -> Option<Duration> {
        let of_policy = match failure.site.policy.time_limit() {
            Some(limit) => limit.checked_sub(self.spent())?,
            None => Duration::MAX,
        };
        let beside = match failure.deadline {
            Some(Deadline { end, now }) => end.checked_since(now)?,
            None => Duration::MAX,
        };
        Some(of_policy.min(beside))
    }
}

/// Why a hint by itself ends a call that has so much time left.
pub(crate) fn refusal(policy: &Policy, verdict: Verdict, left: Duration) -> Option<Reason> {
    let hint = verdict.hint()?;
    if policy.hint_rule() != Hint::Honor {
        None
    } else if hint > policy.longest_hint() {
        Some(Reason::HintTooLong)
    } else if hint > left {
        Some(Reason::Deadline)
    } else {
        None
    }
}
