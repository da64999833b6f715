//! The queue of all limiters, and rates behind it. What it takes and hands out is as in `retry-runtime/src/limiter.rs`.

use std::task::Waker;
use std::time::Duration;

use super::classify::kind::Kind;

#[path = "../../../retry-runtime/src/limiter/adaptive.rs"]
mod adaptive;
#[path = "../../../retry-runtime/src/limiter/debt.rs"]
mod debt;
#[path = "../../../retry-runtime/src/limiter/gate.rs"]
pub(crate) mod gate;
#[path = "../../../retry-runtime/src/limiter/paced.rs"]
mod paced;
#[path = "../../../retry-runtime/src/limiter/queue.rs"]
pub(crate) mod queue;
#[path = "../../../retry-runtime/src/limiter/quota.rs"]
pub(crate) mod quota;
#[path = "../../../retry-runtime/src/limiter/rate_limiter.rs"]
pub(crate) mod rate_limiter;
#[path = "../../../retry-runtime/src/limiter/remaining.rs"]
mod remaining;
#[path = "../../../retry-runtime/src/limiter/slow_start.rs"]
mod slow_start;
#[path = "../../../retry-runtime/src/limiter/state.rs"]
pub(crate) mod state;
#[path = "../../../retry-runtime/src/limiter/with_cost.rs"]
mod with_cost;

pub(crate) const ABSENT: Duration = Duration::from_secs(1);
pub(crate) const SOON: Duration = Duration::from_millis(20);

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
    Full,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    Success,
    Failure { kind: Kind, hint: Option<Duration> },
    Ignored,
    NotBegun,
}

pub(crate) enum LimiterChange {
    Paused { pause: Duration },
    Resumed,
    Rate(f64),
}

pub(crate) struct LimiterChanges;

impl From<LimiterChange> for LimiterChanges {
    fn from(_: LimiterChange) -> Self {
        Self
    }
}

impl LimiterChanges {
    pub(crate) fn new(_: Option<LimiterChange>, _: Option<LimiterChange>) -> Option<Self> {
        None
    }
}

pub(crate) trait Limiter {
    fn enter(&self, cost: u32) -> Ticket;
    fn poll(&self, ticket: &mut Ticket, waker: &Waker) -> Turn;
    fn leave(&self, ticket: Ticket, end: End) -> Option<LimiterChanges>;
    fn longest_wait(&self) -> Option<Duration>;
    fn state(&self) -> state::LimiterState {
        state::LimiterState::default()
    }
    fn handles_throttling(&self) -> bool {
        true
    }
}
