use core::task::Waker;

use crate::breaker::circuit_breaker::{Pass, Seen, Transition};
use crate::call::protections::Protects;
use crate::limiter::{End, Limiter, LimiterChanges, Ticket, Turn};

/// What one attempt holds of what calls share: a permit of the breaker, and a slot of the limiter.
#[derive(Debug)]
pub(crate) struct Held {
    permit: Option<Pass>,
    slot: Ticket,
    stage: Stage,
}

/// How far an attempt has come in the limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Outside,
    Waits,
    HasTurn,
    Begun,
}

impl Default for Held {
    #[inline]
    fn default() -> Self {
        Self {
            permit: None,
            slot: Ticket::new(0, 0),
            stage: Stage::Outside,
        }
    }
}

impl Held {
    #[inline]
    pub(super) const fn is_any(&self) -> bool {
        self.permit.is_some() || !matches!(self.stage, Stage::Outside)
    }

    pub(super) const fn has_turn(&self) -> bool {
        matches!(self.stage, Stage::HasTurn | Stage::Begun)
    }

    /// Joins the limiter's queue.
    pub(super) fn enter(&mut self, limiter: &dyn Limiter, cost: u32) {
        self.slot = limiter.enter(cost);
        self.stage = Stage::Waits;
    }

    /// Asks for the turn, of which `waker` is notified.
    pub(super) fn poll(&mut self, limiter: &dyn Limiter, waker: &Waker) -> Turn {
        let turn = limiter.poll(&mut self.slot, waker);
        if turn == Turn::Begin {
            self.stage = Stage::HasTurn;
        }
        turn
    }

    /// Takes the breaker's permit. Returns true if it makes the breaker half open, `None` if there is no permit.
    pub(super) fn admit(&mut self, permit: Option<Pass>) -> Option<bool> {
        self.permit = permit;
        self.permit.as_ref().map(Pass::half_opens)
    }

    /// Takes both for an attempt that begins while another is slow, without waiting. Returns false if it can't have one.
    pub(super) fn begin_hedge(
        &mut self,
        shared: &dyn Protects,
        cost: u32,
        half_opened: impl FnOnce(),
    ) -> bool {
        if let Some(breaker) = shared.breaker() {
            match self.admit(breaker.admit_hedge()) {
                None => return false,
                Some(true) => half_opened(),
                Some(false) => {}
            }
        }
        match shared.limiter() {
            Some(limiter) => {
                self.enter(limiter, cost);
                self.poll(limiter, Waker::noop()) == Turn::Begin
            }
            None => true,
        }
    }

    /// The attempt begins: from now on, its slot no longer goes back as if no request had been sent.
    #[inline]
    pub(super) fn begin(&mut self) {
        if self.stage != Stage::Outside {
            self.stage = Stage::Begun;
        }
    }

    /// Reports the attempt's end to the breaker, once.
    pub(super) fn record(&mut self, shared: &dyn Protects, seen: Seen) -> Option<Transition> {
        let permit = self.permit.take()?;
        shared.breaker()?.record(permit, seen)
    }

    /// Reports the attempt's end to the limiter, once. The slot of an attempt that has not begun goes back with its charge.
    pub(super) fn leave(&mut self, shared: &dyn Protects, end: End) -> Option<LimiterChanges> {
        let end = match self.stage {
            Stage::Outside => return None,
            Stage::Waits | Stage::HasTurn => End::NotBegun,
            Stage::Begun => end,
        };
        self.stage = Stage::Outside;
        let slot = Ticket::new(self.slot.number(), self.slot.cost());
        shared.limiter()?.leave(slot, end)
    }

    /// Gives both back, because the attempt was dropped or does not begin.
    pub(super) fn give_back(&mut self, shared: &dyn Protects) {
        self.record(shared, Seen::Dropped);
        self.leave(shared, End::Ignored);
    }
}
