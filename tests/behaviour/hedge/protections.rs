//! A breaker or limiter that records its calls.

use retry_runtime::seam::AdmissionState;
use support::prelude::*;

/// More than any test takes.
pub(super) const MANY: usize = 99;

/// Lets a number of attempts run at a time, and keeps how each ended, by the number of its permit.
#[derive(Debug)]
pub(super) struct Slots {
    pub(super) free: Cell<usize>,
    pub(super) entered: Cell<u64>,
    pub(super) hedges: Cell<u64>,
    turns: RefCell<Vec<u64>>,
    ended: RefCell<Vec<(u64, AttemptOutcome)>>,
}

impl Slots {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            free: Cell::new(slots),
            entered: Cell::default(),
            hedges: Cell::default(),
            turns: RefCell::default(),
            ended: RefCell::default(),
        }
    }

    /// The outcomes of all permits, none of which is lost.
    pub(super) fn ends(&self) -> Vec<(u64, AttemptOutcome)> {
        let mut ends = self.ended.take();
        ends.sort_by_key(|(number, _)| *number);
        assert_eq!(ends.len() as u64, self.entered.get());
        ends
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
        self.ended.borrow_mut().push((ticket.number(), end));
        [None; 2]
    }

    /// Called before each hedged attempt.
    fn state(&self) -> AdmissionState {
        self.hedges.set(self.hedges.get() + 1);
        AdmissionState::default()
    }
}
