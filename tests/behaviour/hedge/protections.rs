//! A breaker and a limiter that record their calls.

use retry_runtime::seam::AdmissionState;
use support::prelude::*;

/// The outcomes recorded by a breaker, by the number of the permit.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) passes: Cell<u64>,
    pub(super) hedges: Cell<u64>,
    pub(super) outcomes: RefCell<Vec<(u64, AttemptOutcome)>>,
}

impl AdmissionControl for Notes {
    fn enter(&self, cost: u32) -> Permit {
        self.passes.set(self.passes.get() + 1);
        Permit::new(self.passes.get(), cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        Admission::Admitted
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        self.outcomes.borrow_mut().push((permit.number(), outcome));
        [None; 2]
    }

    /// Called before each hedged attempt.
    fn state(&self) -> AdmissionState {
        self.hedges.set(self.hedges.get() + 1);
        AdmissionState::default()
    }
}

/// Lets that many attempts run at a time, and keeps how each ended.
pub(super) struct Slots {
    pub(super) free: Cell<usize>,
    pub(super) turns: RefCell<Vec<u64>>,
    pub(super) entered: Cell<u64>,
    pub(super) ends: RefCell<Vec<(u64, AttemptOutcome)>>,
}

impl Slots {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            free: Cell::new(slots),
            turns: RefCell::default(),
            entered: Cell::new(0),
            ends: RefCell::default(),
        }
    }
}

impl AdmissionControl for Slots {
    fn enter(&self, cost: u32) -> Permit {
        self.entered.set(self.entered.get() + 1);
        Permit::new(self.entered.get(), cost)
    }

    fn poll(&self, ticket: &mut Permit, _: &Waker) -> Admission {
        let Some(left) = self.free.get().checked_sub(1) else {
            return Admission::Wait {
                ahead: 0,
                at_least: None,
            };
        };
        self.free.set(left);
        self.turns.borrow_mut().push(ticket.number());
        Admission::Admitted
    }

    fn leave(&self, ticket: Permit, end: AttemptOutcome) -> Changes {
        if self.turns.borrow().contains(&ticket.number()) {
            self.free.set(self.free.get() + 1);
        }
        self.ends.borrow_mut().push((ticket.number(), end));
        [None; 2]
    }
}
