//! What decides, after a failed attempt, whether and when the next one follows.

use std::fmt;
use std::time::{Duration, Instant};

use crate::emit::{Observe, Record, emit};
use crate::site::Site;
use crate::{Event, Hint, Jitter, Kind, Reason, Section, Verdict, clock};

/// Pays for a retry after a failure of that kind, or says that it can't.
pub(crate) type Withdraw<'a> = &'a mut dyn FnMut(Kind) -> bool;

/// The pause before the next attempt and what kind of failure it follows, or why there is none.
pub(crate) type Decision = Result<(Duration, Kind), Reason>;

/// A failed attempt, as classified. Built only after a failure.
pub struct Failure<'a> {
    site: &'a Site<'a>,
    verdict: Verdict,
    error: &'a dyn fmt::Display,
    deadline: Option<Instant>,
    idempotent: bool,
    repeated: bool,
    last: bool,
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
    /// A failure of a call of that function.
    pub fn new(site: &'a Site<'a>, verdict: Verdict, error: &'a dyn fmt::Display) -> Self {
        Self {
            site,
            verdict,
            error,
            deadline: None,
            idempotent: true,
            repeated: false,
            last: false,
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

    /// Whether the attempt was begun as the last one that could happen, and so took what another would need.
    pub fn last(mut self, last: bool) -> Self {
        self.last = last;
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

    /// Whether what follows is a correction.
    pub(crate) fn is_corrected(&self) -> bool {
        self.values == Values::Corrected
    }

    /// The kind, where its failures don't count with the others.
    pub(crate) fn kind_with_own_count(&self) -> Option<Kind> {
        let kind = self.verdict.kind()?;
        self.section(kind).max.map(|_| kind)
    }

    fn section(&self, kind: Kind) -> Section {
        self.site.policy.section(kind, self.values != Values::Taken)
    }

    /// The pause before the next attempt, or why there is none, as whoever observes is told.
    ///
    /// `attempt` is the number of the one that failed, `correction` that of the one that may follow. The retry
    /// is counted in `count`, and builds on the delay before, `previous`.
    pub(crate) fn settle(
        mut self,
        attempt: u32,
        count: &mut u32,
        previous: &mut Duration,
        correction: u32,
    ) -> Result<Duration, Reason> {
        let (max, decision) = self.decide(count, previous);
        let is_corrected = self.is_corrected();
        let (call, error) = (self.site.name, self.error);
        match decision {
            Ok((delay, _)) if is_corrected => emit(
                Record::Correcting,
                move || Event::Correcting {
                    call,
                    attempt,
                    correction,
                    max,
                    delay,
                    error,
                },
                self.observe,
            ),
            Ok((delay, kind)) => emit(
                Record::Retrying,
                move || Event::Retrying {
                    call,
                    attempt,
                    max,
                    delay,
                    error,
                    kind,
                },
                self.observe,
            ),
            Err(reason) => emit(
                Record::GaveUp,
                move || Event::GaveUp {
                    call,
                    attempt,
                    max,
                    error,
                    reason,
                },
                self.observe,
            ),
        }
        decision.map(|(delay, _)| delay)
    }

    /// The limit in force, and the pause or the reason why there is none.
    pub(crate) fn decide(
        &mut self,
        count: &mut u32,
        previous: &mut Duration,
    ) -> (Option<u32>, Decision) {
        let Failure { site, verdict, .. } = *self;
        let policy = site.policy;
        let Some(kind) = verdict.kind() else {
            return (policy.schedule.limit(), Err(Reason::NotRetryable));
        };
        let of_section;
        let schedule = if policy.differs_for(kind) {
            of_section = policy.schedule.with(&self.section(kind));
            &of_section
        } else {
            &policy.schedule
        };
        let limit = schedule.limit();
        if verdict.is_ambiguous() && !self.idempotent {
            return (limit, Err(Reason::Ambiguous));
        }
        if self.repeated {
            return (limit, Err(Reason::Repeated));
        }
        let retry = count.saturating_add(1);
        if self.last || !schedule.allows(retry) {
            return (limit, Err(Reason::Exhausted));
        }
        let mut delay = schedule.delay(retry, *previous);
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
        if self.deadline.is_some_and(too_late) {
            return (limit, Err(Reason::Deadline));
        }
        if let Some(withdraw) = &mut self.budget
            && !withdraw(kind)
        {
            return (limit, Err(Reason::Budget));
        }
        *count = retry;
        *previous = delay;
        (limit, Ok((delay, kind)))
    }
}
