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
        let mut controls = [shared.breaker(), shared.limiter()].into_iter().flatten();
        if !controls.all(is_closed) {
            return false;
        }
        match shared.breaker().map(|breaker| self.pass(breaker)) {
            Some(None) => return false,
            Some(Some(true)) => half_opened(),
            Some(Some(false)) | None => {}
        }
        shared.limiter().is_none_or(|limiter| {
            self.limiter.enter(limiter, cost);
            self.limiter.poll(limiter, Waker::noop()) == Admission::Admitted
        })
    }

    /// Returns both permits. For an attempt that does not start, pass `Dropped`.
    pub(super) fn leave(&mut self, shared: &dyn Protects, outcome: AttemptOutcome) -> [Changes; 2] {
        [
            self.breaker.leave(shared.breaker(), outcome),
            self.limiter.leave(shared.limiter(), outcome),
        ]
    }
}

/// Returns true unless a breaker is open or half open.
fn is_closed(control: &dyn AdmissionControl) -> bool {
    matches!(
        control.state().circuit,
        None | Some(BreakerState::Closed | BreakerState::ForcedClosed)
    )
}
