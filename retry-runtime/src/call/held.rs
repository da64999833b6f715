use core::task::Waker;

use crate::admission::change::{Changes, UNCHANGED};
use crate::admission::outcome::AttemptOutcome;
use crate::admission::permit::Permit;
use crate::admission::state::BreakerState;
use crate::admission::{Admission, AdmissionControl};
use crate::call::protections::Protects;

/// The permits that one attempt holds.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(super) breaker: Slot,
    pub(super) limiter: Slot,
}

/// A permit of a breaker or a limiter, if the attempt has one.
#[derive(Debug, Default)]
pub(super) struct Slot {
    permit: Option<Permit>,
    stage: Stage,
}

/// The attempt's progress with its permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waits,
    Admitted,
    Begun,
}

impl Slot {
    #[inline]
    pub(super) const fn is_held(&self) -> bool {
        self.permit.is_some()
    }

    pub(super) const fn is_admitted(&self) -> bool {
        self.is_held() && !matches!(self.stage, Stage::Waits)
    }

    /// Joins the queue.
    pub(super) fn enter(&mut self, control: &dyn AdmissionControl, cost: u32) {
        self.stage = Stage::Waits;
        self.permit = Some(control.enter(cost));
    }

    /// Asks to be admitted. `waker` is notified of changes.
    pub(super) fn poll(&mut self, control: &dyn AdmissionControl, waker: &Waker) -> Admission {
        let Some(permit) = &mut self.permit else {
            return Admission::Admitted;
        };
        let admission = control.poll(permit, waker);
        if admission == Admission::Admitted {
            self.stage = Stage::Admitted;
        }
        admission
    }

    /// Starts the attempt: from now on, its permit is no longer returned as if no request had been sent. Returns true if
    /// the attempt is a breaker's first trial call.
    #[inline]
    pub(super) fn begin(&mut self) -> bool {
        self.stage = Stage::Begun;
        self.permit.as_ref().is_some_and(Permit::half_opens)
    }

    /// Returns the permit, once. If the attempt has not started, its charge is refunded.
    pub(super) fn leave(
        &mut self,
        control: Option<&dyn AdmissionControl>,
        outcome: AttemptOutcome,
    ) -> Changes {
        let outcome = match self.stage {
            Stage::Waits | Stage::Admitted => AttemptOutcome::NotBegun,
            Stage::Begun => outcome,
        };
        match (self.permit.take(), control) {
            (Some(permit), Some(control)) => control.leave(permit, outcome),
            _ => UNCHANGED,
        }
    }
}

impl Held {
    #[inline]
    pub(super) const fn is_any(&self) -> bool {
        self.breaker.is_held() || self.limiter.is_held()
    }

    /// Asks the breaker immediately before the attempt, without waiting. Returns true if the attempt is its first trial
    /// call. `None` if it rejects the attempt.
    pub(super) fn pass(&mut self, breaker: &dyn AdmissionControl) -> Option<bool> {
        let slot = &mut self.breaker;
        slot.enter(breaker, 1);
        if slot.poll(breaker, Waker::noop()) != Admission::Admitted {
            slot.leave(Some(breaker), AttemptOutcome::NotBegun);
            return None;
        }
        Some(slot.begin())
    }

    /// Takes the permits of an attempt that starts while another is slow, without waiting. Returns false if they are
    /// not available. No attempt starts next to a trial call, so a half-open breaker admits none.
    pub(super) fn begin_hedge(
        &mut self,
        shared: &dyn Protects,
        cost: u32,
        half_opened: impl FnOnce(),
    ) -> bool {
        if let Some(breaker) = shared.breaker() {
            let is_closed = matches!(
                breaker.state().circuit,
                None | Some(BreakerState::Closed | BreakerState::ForcedClosed)
            );
            match is_closed.then(|| self.pass(breaker)).flatten() {
                Some(true) => half_opened(),
                Some(false) => {}
                None => return false,
            }
        }
        let Some(limiter) = shared.limiter() else {
            return true;
        };
        self.limiter.enter(limiter, cost);
        self.limiter.poll(limiter, Waker::noop()) == Admission::Admitted
    }

    /// Returns the permits, because the attempt was dropped or does not start.
    pub(super) fn give_back(&mut self, shared: &dyn Protects) {
        self.breaker
            .leave(shared.breaker(), AttemptOutcome::Dropped);
        self.limiter
            .leave(shared.limiter(), AttemptOutcome::Dropped);
    }
}
