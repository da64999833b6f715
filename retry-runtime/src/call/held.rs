use core::mem;
use core::task::Waker;

use crate::admission::change::{Change, Changes, Transition, UNCHANGED};
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
#[derive(Debug)]
pub(super) struct Slot {
    permit: Permit,
    stage: Stage,
}

/// The attempt's progress with a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Outside,
    Waits,
    Admitted,
    Begun,
}

impl Default for Slot {
    #[inline]
    fn default() -> Self {
        Self {
            permit: Permit::new(0, 0),
            stage: Stage::Outside,
        }
    }
}

impl Slot {
    #[inline]
    const fn is_held(&self) -> bool {
        !matches!(self.stage, Stage::Outside)
    }

    pub(super) const fn is_admitted(&self) -> bool {
        matches!(self.stage, Stage::Admitted | Stage::Begun)
    }

    /// Joins the queue.
    pub(super) fn enter(&mut self, control: &dyn AdmissionControl, cost: u32) {
        self.permit = control.enter(cost);
        self.stage = Stage::Waits;
    }

    /// Asks to be admitted, of which `waker` is notified.
    pub(super) fn poll(&mut self, control: &dyn AdmissionControl, waker: &Waker) -> Admission {
        let admission = control.poll(&mut self.permit, waker);
        if admission == Admission::Admitted {
            self.stage = Stage::Admitted;
        }
        admission
    }

    /// The attempt begins: from now on, its permit no longer goes back as if no request had been sent. Returns the
    /// change if it is a breaker's first trial call.
    #[inline]
    pub(super) fn begin(&mut self) -> Changes {
        if !self.is_held() {
            return UNCHANGED;
        }
        self.stage = Stage::Begun;
        let half_opened = Change::Breaker(Transition::HalfOpened);
        [self.permit.half_opens().then_some(half_opened), None]
    }

    /// Gives the permit back, once. That of an attempt that has not begun goes back with its charge.
    pub(super) fn leave(
        &mut self,
        control: Option<&dyn AdmissionControl>,
        outcome: AttemptOutcome,
    ) -> Changes {
        let outcome = match mem::replace(&mut self.stage, Stage::Outside) {
            Stage::Outside => return UNCHANGED,
            Stage::Waits | Stage::Admitted => AttemptOutcome::NotBegun,
            Stage::Begun => outcome,
        };
        let permit = mem::replace(&mut self.permit, Permit::new(0, 0));
        control.map_or(UNCHANGED, |control| control.leave(permit, outcome))
    }
}

impl Held {
    #[inline]
    pub(super) const fn is_any(&self) -> bool {
        self.breaker.is_held() || self.limiter.is_held()
    }

    /// Asks the breaker immediately before the attempt, without waiting. `None` if it rejects the attempt.
    pub(super) fn pass(&mut self, breaker: &dyn AdmissionControl) -> Option<Changes> {
        let slot = &mut self.breaker;
        slot.enter(breaker, 1);
        if slot.poll(breaker, Waker::noop()) != Admission::Admitted {
            slot.leave(Some(breaker), AttemptOutcome::NotBegun);
            return None;
        }
        Some(slot.begin())
    }

    /// Takes the permits of an attempt that begins while another is slow, without waiting. Returns false if it can't
    /// have them. No attempt begins next to a trial call, so a half-open breaker admits none.
    pub(super) fn begin_hedge(
        &mut self,
        shared: &dyn Protects,
        cost: u32,
        changed: impl FnOnce(Changes),
    ) -> bool {
        if let Some(breaker) = shared.breaker() {
            let state = breaker.state().circuit;
            let is_closed = matches!(
                state,
                None | Some(BreakerState::Closed | BreakerState::ForcedClosed)
            );
            match is_closed.then(|| self.pass(breaker)).flatten() {
                Some(changes) => changed(changes),
                None => return false,
            }
        }
        let Some(limiter) = shared.limiter() else {
            return true;
        };
        self.limiter.enter(limiter, cost);
        self.limiter.poll(limiter, Waker::noop()) == Admission::Admitted
    }

    /// Gives the permits back, because the attempt was dropped or does not begin.
    pub(super) fn give_back(&mut self, shared: &dyn Protects) {
        self.breaker
            .leave(shared.breaker(), AttemptOutcome::Dropped);
        self.limiter
            .leave(shared.limiter(), AttemptOutcome::Dropped);
    }
}
