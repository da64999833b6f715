//! One call's bookkeeping: what decides, after a failed attempt, whether and when the next one follows.

use std::fmt;
use std::time::{Duration, Instant};

use crate::emit::{Observe, emit};
use crate::{Event, Hint, Jitter, Kind, Policy, Reason, Verdict, clock};

/// A failed attempt, as classified. Built only after a failure.
pub struct Failure<'a> {
    policy: &'a Policy,
    verdict: Verdict,
    name: &'a str,
    error: &'a dyn fmt::Display,
    deadline: Option<Instant>,
    idempotent: bool,
    repeated: bool,
    observe: Option<Observe<'a>>,
}

impl<'a> Failure<'a> {
    /// A failure of a call of that name.
    pub fn new(
        policy: &'a Policy,
        verdict: Verdict,
        name: &'a str,
        error: &'a dyn fmt::Display,
    ) -> Self {
        Self {
            policy,
            verdict,
            name,
            error,
            deadline: None,
            idempotent: true,
            repeated: false,
            observe: None,
        }
    }

    /// The call's deadline, reckoned at its start.
    pub fn deadline(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// Whether an ambiguous failure may be retried.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }

    /// Whether the same error came too many times in a row.
    pub fn repeated(mut self, repeated: bool) -> Self {
        self.repeated = repeated;
        self
    }

    /// Another observer beside those that features enable.
    pub fn observe(mut self, observe: Observe<'a>) -> Self {
        self.observe = Some(observe);
        self
    }
}

/// The count that every call keeps. Enough where delays depend on nothing else: no section with a `max` of
/// its own, no decorrelated jitter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call {
    retries: u32,
}

impl Call {
    /// A call before its first attempt.
    #[inline]
    pub const fn new() -> Self {
        Self { retries: 0 }
    }

    /// The pause before the next attempt, or why there is none.
    #[cold]
    #[inline(never)]
    pub fn failed(&mut self, failure: Failure<'_>) -> Result<Duration, Reason> {
        let mut tracked = TrackedCall {
            shared: self.retries,
            ..TrackedCall::new()
        };
        let pause = tracked.failed(failure);
        self.retries = tracked.shared;
        pause
    }

    /// Whether an attempt failed before.
    #[inline]
    pub const fn is_retried(&self) -> bool {
        self.retries != 0
    }

    /// The number of the attempt under way, from 1.
    pub const fn attempt(&self) -> u32 {
        self.retries.saturating_add(1)
    }
}

/// A call that keeps all that any policy can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrackedCall {
    /// Retries that count against the policy's `max`.
    shared: u32,
    /// Retries that count against a section's own `max`, by [`Kind`].
    own: [u32; 3],
    /// The last delay, which decorrelated jitter builds on.
    previous: Duration,
}

impl TrackedCall {
    /// A call before its first attempt.
    #[inline]
    pub const fn new() -> Self {
        Self {
            shared: 0,
            own: [0; 3],
            previous: Duration::ZERO,
        }
    }

    /// The pause before the next attempt, or why there is none.
    #[cold]
    #[inline(never)]
    pub fn failed(&mut self, failure: Failure<'_>) -> Result<Duration, Reason> {
        let attempt = self.attempt();
        let (max, decision) = self.decide(&failure);
        let Failure { name, error, .. } = failure;
        let event = match decision {
            Ok((delay, kind)) => Event::Retrying {
                call: name,
                attempt,
                max,
                delay,
                error,
                kind,
            },
            Err(reason) => Event::GaveUp {
                call: name,
                attempt,
                max,
                error,
                reason,
            },
        };
        emit(&event, failure.observe);
        decision.map(|(delay, _)| delay)
    }

    /// The limit in force, and the pause or the reason why there is none.
    pub(crate) fn decide(
        &mut self,
        failure: &Failure<'_>,
    ) -> (Option<u32>, Result<(Duration, Kind), Reason>) {
        let Failure {
            policy, verdict, ..
        } = *failure;
        let Some(kind) = verdict.kind() else {
            return (policy.schedule.limit(), Err(Reason::NotRetryable));
        };
        let section = policy.section(kind);
        let schedule = policy.schedule.with(section);
        let limit = schedule.limit();
        if verdict.is_ambiguous() && !failure.idempotent {
            return (limit, Err(Reason::Ambiguous));
        }
        if failure.repeated {
            return (limit, Err(Reason::Repeated));
        }
        let count = match section.max {
            Some(_) => &mut self.own[kind as usize],
            None => &mut self.shared,
        };
        let retry = count.saturating_add(1);
        if !schedule.allows(retry) {
            return (limit, Err(Reason::Exhausted));
        }
        let mut delay = schedule.delay(retry, self.previous);
        if let Some(hint) = verdict.hint() {
            if policy.hint == Hint::Honor && hint > policy.max_hint {
                return (limit, Err(Reason::HintTooLong));
            }
            delay = policy
                .hint
                .wait(delay, hint, schedule.jitter != Jitter::None);
        }
        let too_late = |deadline| {
            clock::now()
                .checked_add(delay)
                .is_none_or(|end| end > deadline)
        };
        if failure.deadline.is_some_and(too_late) {
            return (limit, Err(Reason::Deadline));
        }
        *count = retry;
        self.previous = delay;
        (limit, Ok((delay, kind)))
    }

    /// Whether an attempt failed before.
    #[inline]
    pub const fn is_retried(&self) -> bool {
        self.attempt() != 1
    }

    /// Whether no retry can follow, whatever kind of failure the attempt under way meets.
    pub fn is_last(&self, policy: &Policy) -> bool {
        [Kind::Transient, Kind::Throttled, Kind::Timeout]
            .iter()
            .all(|kind| {
                let section = policy.section(*kind);
                let count = match section.max {
                    Some(_) => self.own[*kind as usize],
                    None => self.shared,
                };
                !policy
                    .schedule
                    .with(section)
                    .allows(count.saturating_add(1))
            })
    }

    /// The number of the attempt under way, from 1.
    pub const fn attempt(&self) -> u32 {
        let [first, second, third] = self.own;
        self.shared
            .saturating_add(first)
            .saturating_add(second)
            .saturating_add(third)
            .saturating_add(1)
    }
}
