//! The steps of concurrent attempts: the key `hedge`.

use core::mem;
use core::task::Waker;
use core::time::Duration;

use retry_classify::Kind;
use retry_classify::macro_support::shown;

use crate::admission::{Admission, AdmissionControl, AttemptOutcome, BreakerState};
use crate::budget::retry_budget::Paid;
use crate::call::Failure;
use crate::call::steps::Steps;
use crate::hedge::pushback::Pushback;
use crate::observe::EventData;
use crate::policy::schedule::limit;

/// The kind of failure under which a hedged attempt is counted and paid for: it is a retry without a failure.
const HEDGED: Kind = Kind::Transient;

impl Steps<'_, '_> {
    pub(crate) fn hedge(
        &mut self,
        slow: Failure<'_>,
        delay: Duration,
        pushback: Pushback,
    ) -> Option<u32> {
        let slow = slow.deadline(self.state.deadline, self.now);
        if pushback.is_requested() || !self.may_hedge(&slow) {
            return None;
        }
        // Stored before user code runs, so that the driver releases the permits if that code panics.
        let held = mem::take(&mut self.state.held);
        let past = self.state.past();
        let before = past.call.attempt();
        let number = before.saturating_add(1);
        let slow_number = match mem::replace(&mut past.current, number) {
            0 => before,
            current => current,
        };
        past.hedges.push((slow_number, held));
        if self.admit_hedge() && self.pay_hedge(&slow, delay) {
            self.state.held.limiter.begin();
            return Some(number);
        }
        self.state.held.leave(self.shared, AttemptOutcome::Dropped);
        let past = self.state.past();
        (past.current, self.state.held) = past.hedges.pop()?;
        None
    }

    /// Returns true if the call allows another attempt next to those in flight.
    fn may_hedge(&self, slow: &Failure<'_>) -> bool {
        let (call, inputs) = (self.state.call(), &slow.inputs);
        let (policy, values) = (&slow.site.policy_in_force(), inputs.values);
        let retry = call.retries(policy, HEDGED, values).saturating_add(1);
        !inputs.cancelled
            && inputs.idempotent
            && policy.schedule(Some(HEDGED), values).allows(retry)
            && call.time_left(slow, slow.site.policy).is_some()
    }

    /// Takes the permits of a hedged attempt without waiting. Returns false if they are not available. A half-open
    /// breaker grants none, because no attempt starts next to a trial call.
    fn admit_hedge(&mut self) -> bool {
        let (breaker, limiter) = (self.shared.breaker, self.shared.limiter);
        let mut controls = [breaker, limiter].into_iter().flatten();
        controls.all(is_closed) && self.pass_breaker().is_ok() && self.try_limiter()
    }

    fn try_limiter(&mut self) -> bool {
        let slot = &mut self.state.held.limiter;
        self.shared.limiter.is_none_or(|limiter| {
            slot.enter(limiter, self.state.cost);
            slot.poll(limiter, Waker::noop()) == Admission::Admitted
        })
    }

    /// Charges the budget for a hedged attempt, and reports its start, `delay` after the last one's. Returns false if
    /// the budget doesn't pay. The cost of a started attempt is not refunded, because the server has the load whichever
    /// attempt wins.
    fn pay_hedge(&mut self, slow: &Failure<'_>, delay: Duration) -> bool {
        let budget = self.shared.budget;
        if budget.is_some_and(|budget| !budget.withdraw(HEDGED)) {
            return false;
        }
        // Refunds the budget if user code panics while the attempt is being reported.
        let paid = budget.map(|budget| Paid::new(budget, Some(HEDGED)));
        let policy = &slow.site.policy_in_force();
        let call = &mut self.state.past().call;
        call.max = policy.retries_allowed();
        call.add_retry(policy, HEDGED, slow.inputs.values);
        let max = limit(call.max);
        for data in [EventData::Hedging { max, delay }, EventData::Started] {
            self.report(data);
        }
        paid.into_iter().for_each(Paid::spend);
        true
    }

    /// Moves the permits of the attempt with this number into `held`.
    fn hold_permits_of(&mut self, number: u32) {
        let state = &mut *self.state;
        let Some(past) = &mut state.past else { return };
        if let Some((other, hedge)) = past.hedges.iter_mut().find(|(other, _)| *other == number) {
            mem::swap(&mut state.held, hedge);
            mem::swap(&mut past.current, other);
        }
    }

    pub(crate) fn hedge_failed(
        &mut self,
        failure: Failure<'_>,
        number: u32,
        pushback: &mut Pushback,
    ) -> bool {
        pushback.note(failure.verdict);
        let Some(kind) = failure.verdict.kind() else {
            return false;
        };
        let error = &shown(failure.error);
        self.hold_permits_of(number);
        self.failed_with_others(failure);
        self.report(EventData::AttemptFailed { error, kind });
        true
    }

    #[cold]
    pub(crate) fn hedges_ended(&mut self, number: u32, is_value: bool) {
        self.hold_permits_of(number);
        let past = self.state.past();
        past.current = 0;
        past.winner = is_value.then_some(number);
        self.leave_hedges();
    }

    pub(super) fn leave_hedges(&mut self) {
        let past = self.state.past.iter_mut();
        for (_, mut held) in past.flat_map(|past| past.hedges.drain(..)) {
            held.leave(self.shared, AttemptOutcome::Dropped);
        }
    }
}

/// Returns true unless `control` is a breaker that is open or half open.
fn is_closed(control: &dyn AdmissionControl) -> bool {
    matches!(
        control.state().circuit,
        None | Some(BreakerState::Closed | BreakerState::ForcedClosed)
    )
}
