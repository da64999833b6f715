//! What a call decides while attempts run.

use core::time::Duration;

use crate::budget::retry_budget::Paid;
use crate::call::failure::Failure;
use crate::call::state::Call;
use crate::classify::kind::Kind;
use crate::error_text::shown::shown;
use crate::hedge::pushback::Pushback;
use crate::observe::event::{Event, EventData};
use crate::observe::report::{reborrow, report};
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::policy::values::Values;

/// How an attempt beside a slow one is counted and paid for: as a retry that follows no failure.
const KIND: Kind = Kind::Transient;

impl Call {
    /// Whether another attempt may begin beside those that run, as far as the call itself is concerned.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn may_hedge(&self, slow: &Failure<'_>, pushback: Pushback) -> bool {
        let (policy, values) = (slow.site.policy_in_force(), slow.inputs.values);
        let retry = self.count(counted(&policy, values)).saturating_add(1);
        !pushback.came()
            && !slow.inputs.cancelled
            && slow.inputs.idempotent
            && policy.schedule(Some(KIND), values).allows(retry)
            && self.time_left(slow, slow.site.policy).is_some()
    }

    /// Whether another attempt is paid for; then it begins, so long after the last.
    /// Nothing gives back its cost, whichever wins: the server has the load in any case.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn hedges(&mut self, mut slow: Failure<'_>, delay: Duration) -> bool {
        if slow.budget.is_some_and(|budget| !budget.withdraw(KIND)) {
            return false;
        }
        // Given back if the user's code panics before all are told of the attempt.
        let paid = slow.budget.map(|budget| Paid::new(budget, Some(KIND)));
        let policy = &slow.site.policy_in_force();
        self.max = policy.retries_allowed();
        self.counts(counted(policy, slow.inputs.values));
        let (call, max) = (slow.site.name(), limit(self.max));
        let hedging = EventData::Hedging { max, delay };
        self.report(call, hedging, reborrow(&mut slow.observe));
        if let Some(observe) = reborrow(&mut slow.observe) {
            self.started(call, observe);
        }
        paid.into_iter().for_each(Paid::spend);
        true
    }

    /// Records that the attempt with that number failed beside others, and says whether these go on: not if the failure
    /// ends the call.
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

    /// The call as that attempt sees it, for what is reported about it.
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

/// The count of a kind that is not counted with all retries.
fn counted(policy: &Policy, values: Values) -> Option<Kind> {
    policy.has_own_count(KIND, values).then_some(KIND)
}
