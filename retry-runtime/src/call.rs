//! One call's bookkeeping: what decides, after a failed attempt, whether and when the next one follows.

use std::fmt;
use std::time::{Duration, Instant};

use crate::emit::{Observe, emit};
use crate::{Event, Hint, Jitter, Kind, Policy, Reason, Verdict, clock};

/// Pays for a retry after a failure of that kind, or says that it can't.
pub(crate) type Withdraw<'a> = &'a mut dyn FnMut(Kind) -> bool;

/// A failed attempt, as classified. Built only after a failure.
pub struct Failure<'a> {
    policy: &'a Policy,
    verdict: Verdict,
    name: &'a str,
    error: &'a dyn fmt::Display,
    deadline: Option<Instant>,
    idempotent: bool,
    repeated: bool,
    budget: Option<Withdraw<'a>>,
    values: Values,
    observe: Option<Observe<'a>>,
}

/// What is done with the values of attempts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    /// They are the call's.
    Taken,
    /// They may be rejected.
    Validated,
    /// One was rejected, and is repaired.
    Corrected,
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
            budget: None,
            values: Values::Taken,
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

    /// What pays for the retry.
    pub fn budget(mut self, budget: Withdraw<'a>) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Values are validated in this call: invalid ones have a count of their own.
    pub fn validates(mut self) -> Self {
        self.values = Values::Validated;
        self
    }

    /// The same, and what follows is no attempt, but a correction of the value that this one returned.
    pub fn correctable(mut self) -> Self {
        self.values = Values::Corrected;
        self
    }

    /// Another observer beside those that features enable.
    pub fn observe(mut self, observe: Observe<'a>) -> Self {
        self.observe = Some(observe);
        self
    }
}

/// The count that every call keeps. Enough where delays depend on nothing else: no section with a `max` of
/// its own, no decorrelated jitter, no validation.
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
#[derive(Clone, Copy, Debug, Default)]
pub struct TrackedCall {
    /// Retries that count against the policy's `max`.
    shared: u32,
    /// Retries that count against a section's own `max`, by [`Kind`].
    own: [u32; 4],
    /// Those of them that were no attempts.
    corrections: u32,
    /// The last delay, which decorrelated jitter builds on.
    previous: Duration,
}

impl TrackedCall {
    /// A call before its first attempt.
    #[inline]
    pub const fn new() -> Self {
        Self {
            shared: 0,
            own: [0; 4],
            corrections: 0,
            previous: Duration::ZERO,
        }
    }

    /// The pause before the next attempt, or why there is none.
    #[cold]
    #[inline(never)]
    pub fn failed(&mut self, mut failure: Failure<'_>) -> Result<Duration, Reason> {
        let attempt = self.attempt();
        let (max, decision) = self.decide(&mut failure);
        let Failure { name, error, .. } = failure;
        let event = match decision {
            Ok((delay, _)) if failure.values == Values::Corrected => Event::Correcting {
                call: name,
                attempt,
                correction: self.corrections,
                max,
                delay,
                error,
            },
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
    fn decide(
        &mut self,
        failure: &mut Failure<'_>,
    ) -> (Option<u32>, Result<(Duration, Kind), Reason>) {
        let Failure {
            policy, verdict, ..
        } = *failure;
        let Some(kind) = verdict.kind() else {
            return (policy.schedule.limit(), Err(Reason::NotRetryable));
        };
        let section = policy.section(kind, failure.values != Values::Taken);
        let schedule = policy.schedule.with(&section);
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
        if let Some(withdraw) = &mut failure.budget
            && !withdraw(kind)
        {
            return (limit, Err(Reason::Budget));
        }
        *count = retry;
        if failure.values == Values::Corrected {
            self.corrections = self.corrections.saturating_add(1);
        }
        self.previous = delay;
        (limit, Ok((delay, kind)))
    }

    /// Whether an attempt failed before.
    #[inline]
    pub const fn is_retried(&self) -> bool {
        self.corrections != 0 || self.attempt() != 1
    }

    /// Whether no retry can follow, whatever kind of failure the attempt under way meets.
    pub fn is_last(&self, policy: &Policy, validates: bool) -> bool {
        [
            Kind::Transient,
            Kind::Throttled,
            Kind::Timeout,
            Kind::Invalid,
        ]
        .iter()
        .all(|kind| {
            let section = policy.section(*kind, validates);
            let count = match section.max {
                Some(_) => self.own[*kind as usize],
                None => self.shared,
            };
            !policy
                .schedule
                .with(&section)
                .allows(count.saturating_add(1))
        })
    }

    /// The number of the attempt under way, from 1.
    pub const fn attempt(&self) -> u32 {
        let [transient, throttled, timeout, invalid] = self.own;
        self.shared
            .saturating_add(transient)
            .saturating_add(throttled)
            .saturating_add(timeout)
            .saturating_add(invalid)
            .saturating_sub(self.corrections)
            .saturating_add(1)
    }
}
