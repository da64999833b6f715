use core::task::Waker;

use crate::admission::{Admission, AdmissionControl, AttemptOutcome, Changes, Permit, UNCHANGED};
use crate::call::ProtectionRefs;

/// The permits that one attempt holds.
#[derive(Debug, Default)]
pub(crate) struct HeldPermits {
    pub(crate) breaker: Slot,
    pub(crate) limiter: Slot,
}

/// A permit of a breaker or a limiter, if the attempt has one.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    permit: Option<Permit>,
    stage: Stage,
}

/// The stage that the attempt has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waits,
    Admitted,
    Begun,
}

impl Slot {
    #[inline]
    pub(crate) const fn is_held(&self) -> bool {
        self.permit.is_some()
    }

    /// Joins the queue.
    pub(crate) fn enter(&mut self, control: &dyn AdmissionControl, cost: u32) {
        self.stage = Stage::Waits;
        self.permit = Some(control.enter(cost));
    }

    /// Polls for admission, unless an earlier poll has already admitted the attempt. `waker` is woken when the attempt
    /// should poll again.
    pub(crate) fn poll(&mut self, control: &dyn AdmissionControl, waker: &Waker) -> Admission {
        let admission = match (&mut self.permit, self.stage) {
            (Some(permit), Stage::Waits) => control.poll(permit, waker),
            _ => return Admission::Admitted,
        };
        if admission == Admission::Admitted {
            self.stage = Stage::Admitted;
        }
        admission
    }

    /// Marks the attempt as started, so that its permit is no longer returned as
    /// [`NotBegun`](AttemptOutcome::NotBegun). Returns true if the attempt is a breaker's first trial call.
    #[inline]
    pub(crate) fn begin(&mut self) -> bool {
        self.stage = Stage::Begun;
        self.permit.as_ref().is_some_and(Permit::half_opens)
    }

    /// Returns the permit, if it was not returned before. If the attempt has not started, its cost is refunded.
    pub(crate) fn leave(
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

impl HeldPermits {
    #[inline]
    pub(crate) const fn holds_any(&self) -> bool {
        self.breaker.is_held() || self.limiter.is_held()
    }

    /// Returns both permits. For an attempt that does not start, pass `Dropped`.
    pub(crate) fn leave(
        &mut self,
        shared: ProtectionRefs<'_>,
        outcome: AttemptOutcome,
    ) -> [Changes; 2] {
        [
            self.breaker.leave(shared.breaker, outcome),
            self.limiter.leave(shared.limiter, outcome),
        ]
    }
}
