//! What an event adds to the figures of its call, for adapters that measure, and what these call them.

use core::time::Duration;

use crate::breaker::circuit::{Breaker, BreakerState};
use crate::budget::bucket::Budget;
use crate::classify::kind::Kind;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::event::Event;
use crate::observe::reason::Reason;

pub(super) const CALLS: &str =
    "Calls that ended, by outcome: succeeded, fell back, or the reason of giving up";
pub(super) const ATTEMPTS: &str =
    "Attempts and corrections that ended, by kind: succeeded, stop, or the kind of failure";
pub(super) const DELAY: &str = "Pauses before retries and corrections";
pub(super) const ATTEMPTS_PER_CALL: &str = "Attempts that each call made until it ended";
pub(super) const BUDGET: &str = "Tokens that a budget has left";
pub(super) const BREAKER: &str = "State of a breaker: 0 closed, 1 half open, 2 open";

/// What calls share, and the name that each is shown under.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shared<'a> {
    pub(super) budget: Option<(&'a str, &'a Budget)>,
    pub(super) breaker: Option<(&'a str, &'a Breaker)>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    /// An attempt or a correction ended so.
    pub(super) attempt: Option<AttemptEnd>,
    /// A pause of that length begins.
    pub(super) pause: Option<Duration>,
    /// The call ended.
    pub(super) end: Option<CallEnd>,
}

/// How an attempt or a correction with that end is counted.
pub(super) const fn kind_of(end: AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Succeeded => Outcome::Succeeded.name(),
        AttemptEnd::Stop => "stop",
        AttemptEnd::Failed(kind) => kind.name(),
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CallEnd {
    pub(super) attempts: u32,
    pub(super) outcome: Outcome,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded,
    FellBack,
    GaveUp(Reason),
}

impl Outcome {
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
        BreakerState::Closed => 0,
        BreakerState::HalfOpen => 1,
        BreakerState::Open => 2,
    }
}

impl Figures {
    pub(super) fn of(event: &Event<'_>) -> Self {
        let none = Self::default();
        match *event {
            Event::Retrying { kind, delay, .. } => Self {
                attempt: Some(AttemptEnd::Failed(kind)),
                pause: Some(delay),
                ..none
            },
            Event::Correcting { delay, .. } => Self {
                attempt: Some(AttemptEnd::Failed(Kind::Invalid)),
                pause: Some(delay),
                ..none
            },
            Event::AttemptFailed { kind, .. } => Self {
                attempt: Some(AttemptEnd::Failed(kind)),
                ..none
            },
            Event::FallingBack { ended, .. } => Self {
                attempt: ended,
                ..none
            },
            Event::GaveUp {
                attempts,
                ended: attempt,
                reason,
                ..
            } => Self {
                attempt,
                ..ended(attempts, Outcome::GaveUp(reason))
            },
            Event::FellBack { attempt, .. } => ended(attempt, Outcome::FellBack),
            Event::Succeeded { attempts, .. } => Self {
                attempt: Some(AttemptEnd::Succeeded),
                ..ended(attempts, Outcome::Succeeded)
            },
            _ => none,
        }
    }
}

fn ended(attempts: u32, outcome: Outcome) -> Figures {
    Figures {
        end: Some(CallEnd { attempts, outcome }),
        ..Figures::default()
    }
}
