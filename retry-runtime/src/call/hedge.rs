//! Decisions while attempts are in flight.

use core::time::Duration;

use retry_classify::Kind;
use retry_classify::macro_support::shown;

use crate::budget::retry_budget::Paid;
use crate::call::failure::Failure;
use crate::call::state::Call;
use crate::hedge::pushback::Pushback;
use crate::observe::{Event, EventData, reborrow, report};
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::policy::values::Values;

/// The kind as which a hedged attempt is counted and paid for: it is a retry without a failure.
const KIND: Kind = Kind::Transient;

impl Call {
    /// Returns true if the call itself allows another attempt next to those in flight.
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

    /// Charges the budget for another attempt. If it pays, the attempt starts, `delay` after the last one. The cost is
    /// never refunded, whichever attempt wins, because the server has the load in any case.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn hedges(&mut self, mut slow: Failure<'_>, delay: Duration) -> bool {
        if slow.budget.is_some_and(|budget| !budget.withdraw(KIND)) {
            return false;
        }
        // Refunds the budget if user code panics while the attempt is being reported.
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

/// The hedging kind, if it has its own count of retries.
fn counted(policy: &Policy, values: Values) -> Option<Kind> {
    policy.has_own_count(KIND, values).then_some(KIND)
}
