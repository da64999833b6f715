//! The queue of all limiters. What it takes and hands out is as in `retry-runtime/src/limiter.rs`.

use std::task::Waker;
use std::time::Duration;

use super::classify::kind::Kind;

#[path = "../../../retry-runtime/src/limiter/gate.rs"]
pub(crate) mod gate;
#[path = "../../../retry-runtime/src/limiter/queue.rs"]
pub(crate) mod queue;
#[path = "../../../retry-runtime/src/limiter/slow_start.rs"]
mod slow_start;

#[derive(Debug)]
pub(crate) struct Ticket {
    number: u64,
    cost: u32,
}

impl Ticket {
    pub(crate) fn new(number: u64, cost: u32) -> Self {
        Self { number, cost }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn cost(&self) -> u32 {
        self.cost
    }
}

#[derive(Debug, PartialEq)]
pub(crate) enum Turn {
    Begin,
    Wait {
        ahead: usize,
        at_least: Option<Duration>,
    },
    Rejected,
}

#[derive(Clone, Copy)]
pub(crate) enum End {
    Success,
    Failure { kind: Kind, hint: Option<Duration> },
    NotBegun,
}

pub(crate) enum LimiterChange {
    Paused { pause: Duration },
    Resumed,
}

pub(crate) struct LimiterChanges;

impl LimiterChanges {
    pub(crate) fn new(_: Option<LimiterChange>, _: Option<LimiterChange>) -> Option<Self> {
        None
    }
}

pub(crate) trait Limiter {
    fn enter(&self, cost: u32) -> Ticket;
    fn poll(&self, ticket: &mut Ticket, waker: &Waker) -> Turn;
    fn leave(&self, ticket: Ticket, end: End) -> Option<LimiterChanges>;
    fn max_wait(&self) -> Option<Duration>;
}
