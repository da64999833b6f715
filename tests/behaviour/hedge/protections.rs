//! A breaker and a limiter that keep what they are told.

use std::cell::{Cell, RefCell};
use std::task::Waker;

use retry_runtime::{
    CircuitBreaker, End, Limiter, LimiterChanges, Pass, Seen, Ticket, Transition, Turn,
};

/// What a breaker was told, by the number of the pass.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) passes: Cell<u64>,
    pub(super) beside: Cell<u64>,
    pub(super) told: RefCell<Vec<(u64, Seen)>>,
}

impl CircuitBreaker for Notes {
    fn admit(&self) -> Option<Pass> {
        self.passes.set(self.passes.get() + 1);
        Some(Pass::new(self.passes.get()))
    }

    fn admit_hedge(&self) -> Option<Pass> {
        self.beside.set(self.beside.get() + 1);
        self.admit()
    }

    fn record(&self, pass: Pass, seen: Seen) -> Option<Transition> {
        self.told.borrow_mut().push((pass.stamp(), seen));
        None
    }
}

/// Lets that many attempts run at a time, and keeps how each ended.
pub(super) struct Slots {
    pub(super) free: Cell<usize>,
    pub(super) turns: RefCell<Vec<u64>>,
    pub(super) entered: Cell<u64>,
    pub(super) ends: RefCell<Vec<(u64, End)>>,
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

impl Limiter for Slots {
    fn enter(&self, cost: u32) -> Ticket {
        self.entered.set(self.entered.get() + 1);
        Ticket::new(self.entered.get(), cost)
    }

    fn poll(&self, ticket: &mut Ticket, _: &Waker) -> Turn {
        let Some(left) = self.free.get().checked_sub(1) else {
            return Turn::Wait {
                ahead: 0,
                at_least: None,
            };
        };
        self.free.set(left);
        self.turns.borrow_mut().push(ticket.number());
        Turn::Begin
    }

    fn leave(&self, ticket: Ticket, end: End) -> Option<LimiterChanges> {
        if self.turns.borrow().contains(&ticket.number()) {
            self.free.set(self.free.get() + 1);
        }
        self.ends.borrow_mut().push((ticket.number(), end));
        None
    }
}
