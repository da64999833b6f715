//! What a hint alone makes of one failure among several, before anything is drawn: so that it is given up by itself.

use std::time::{Duration, Instant};

use crate::{Hint, Jitter, Policy, Verdict, clock};

/// Whether there can be a retry after a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Prospect {
    /// The hint is no obstacle, or there is none.
    InTime,
    /// Up to the jitter, which may end this hint after the deadline.
    Doubtful(Duration),
    /// It ends after the deadline.
    TooLate,
    /// It is longer than `max_hint`.
    TooLong,
}

/// Looks at hints at one moment.
pub(crate) struct Prospects<'a> {
    policy: &'a Policy,
    /// The time until the deadline.
    left: Duration,
}

impl<'a> Prospects<'a> {
    pub(crate) fn new(policy: &'a Policy, deadline: Option<Instant>) -> Self {
        let left = |end: Instant| end.saturating_duration_since(clock::now());
        Self {
            policy,
            left: deadline.map_or(Duration::MAX, left),
        }
    }

    pub(crate) fn of(&self, verdict: Verdict) -> Prospect {
        let (Some(kind), Some(hint)) = (verdict.kind(), verdict.hint()) else {
            return Prospect::InTime;
        };
        let policy = self.policy;
        let jitter = policy.section(kind, false).jitter;
        let jittered = jitter.unwrap_or(policy.schedule.jitter) != Jitter::None;
        if policy.hint != Hint::Honor {
            Prospect::InTime
        } else if hint > policy.max_hint {
            Prospect::TooLong
        } else if hint > self.left {
            Prospect::TooLate
        } else if Hint::longest_wait(hint, jittered) > self.left {
            Prospect::Doubtful(hint)
        } else {
            Prospect::InTime
        }
    }
}
