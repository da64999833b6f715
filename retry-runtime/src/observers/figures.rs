//! What an event adds to the figures of its call, for adapters that measure, and what these call them.

use core::fmt;

use crate::breaker::circuit_breaker::{BreakerState, CircuitBreaker};
use crate::budget::bucket::Budget;
use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::call_end::CallOutcome;

pub(super) const CALLS: &str =
    "Calls that ended, by outcome: succeeded, fell back, or the reason of giving up";
pub(super) const ATTEMPTS: &str =
    "Attempts and corrections that ended, by kind: succeeded, stop, or the kind of failure";
pub(super) const DELAY: &str = "Pauses before retries and corrections";
pub(super) const ATTEMPTS_PER_CALL: &str = "Attempts that each call made until it ended";
pub(super) const ATTEMPT_DURATION: &str =
    "How long attempts took, by kind: succeeded, stop, or the kind of failure";
pub(super) const CALL_DURATION: &str =
    "How long calls took, with their pauses and waits, by outcome";
pub(super) const WAIT: &str = "Waits of attempts for their turn with a limiter";
pub(super) const OPENINGS: &str =
    "Times that a breaker opened, by the call whose attempt opened it";
pub(super) const RUNNING: &str = "Attempts that run behind a limiter";
pub(super) const WAITING: &str = "Attempts that wait for their turn with a limiter";
pub(super) const LIMIT: &str = "Attempts that a limiter lets run at a time";
pub(super) const BUDGET: &str = "Tokens that a budget has left";
pub(super) const BREAKER: &str = "State of a breaker: 0 closed, 1 half open, 2 open";

/// What calls share, each with the name that it is shown under.
#[derive(Clone, Copy, Default)]
pub(super) struct Gauged<'a> {
    pub(super) budget: Option<(&'a str, &'a Budget)>,
    pub(super) breaker: Option<(&'a str, &'a (dyn CircuitBreaker + Sync))>,
    pub(super) limiter: Option<(&'a str, &'a ConcurrencyLimiter)>,
}

/// A breaker may not be [`Debug`](fmt::Debug).
impl fmt::Debug for Gauged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gauged")
            .field("budget", &self.budget)
            .field("breaker", &self.breaker.map(|(name, _)| name))
            .field("limiter", &self.limiter)
            .finish()
    }
}

impl AttemptEnd {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Stop => "stop",
            Self::Failed(kind) => kind.name(),
        }
    }
}

impl CallOutcome {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::FellBack => "fell back",
            Self::GaveUp(reason) => reason.name(),
        }
    }
}

/// The number that stands for that state, the worse the higher.
pub(super) const fn number_of(state: BreakerState) -> u8 {
    match state {
        BreakerState::Closed | BreakerState::ForcedClosed => 0,
        BreakerState::HalfOpen => 1,
        BreakerState::Open | BreakerState::ForcedOpen => 2,
    }
}
