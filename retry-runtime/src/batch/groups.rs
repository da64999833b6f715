//! The failures of a round: items that failed alike share one decision and one record in the log.

use std::any::type_name;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::call::{Failure, TrackedCall};
use crate::emit::emit;
use crate::failure::Decision;
use crate::{Event, Hint, Jitter, Policy, Reason, Verdict, clock};

/// What a round has in common.
pub(super) struct Round<'a> {
    pub(super) policy: &'a Policy,
    pub(super) deadline: Option<Instant>,
    pub(super) name: &'a str,
    /// From 1.
    pub(super) number: u32,
    /// How many items it was to send.
    pub(super) items: usize,
}

/// What items have in common to share a decision: their retries so far, the kind of failure, and what the hint
/// alone makes of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    call: TrackedCall,
    kind: Option<usize>,
    hint: Prospect,
}

/// Whether an item can be sent again after its hint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Prospect {
    InTime,
    /// Up to the jitter, which no longer hint may draw for this one.
    Doubtful(Duration),
    TooLate,
    TooLong,
}

struct Group {
    items: usize,
    /// That of the longest hint.
    verdict: Verdict,
    call: TrackedCall,
    max: Option<u32>,
    decision: Decision,
}

/// Failed items by what they have in common.
pub(super) struct Groups {
    groups: BTreeMap<Alike, Group>,
    hints: Hints,
}

/// Which hints an item can be sent again with.
struct Hints {
    honored: bool,
    jittered: bool,
    longest: Duration,
    /// The time until the deadline.
    left: Duration,
}

impl Hints {
    fn new(round: &Round<'_>) -> Self {
        let left = |end: Instant| end.saturating_duration_since(clock::now());
        Self {
            honored: round.policy.hint == Hint::Honor,
            jittered: round.policy.schedule.jitter != Jitter::None,
            longest: round.policy.max_hint,
            left: round.deadline.map_or(Duration::MAX, left),
        }
    }

    fn prospect(&self, hint: Duration) -> Prospect {
        if !self.honored {
            Prospect::InTime
        } else if hint > self.longest {
            Prospect::TooLong
        } else if hint > self.left {
            Prospect::TooLate
        } else if Hint::longest_wait(hint, self.jittered) > self.left {
            Prospect::Doubtful(hint)
        } else {
            Prospect::InTime
        }
    }
}

impl Groups {
    /// Groups failures and decides about each group.
    pub(super) fn new(
        round: &Round<'_>,
        failures: impl Iterator<Item = (TrackedCall, Verdict)>,
    ) -> Self {
        let mut all = Self {
            groups: BTreeMap::new(),
            hints: Hints::new(round),
        };
        for (call, verdict) in failures {
            let group = all.groups.entry(all.alike(call, verdict));
            let group = group.or_insert(Group {
                items: 0,
                verdict,
                call,
                max: None,
                decision: Err(Reason::NotRetryable),
            });
            group.items += 1;
            if verdict.hint() > group.verdict.hint() {
                group.verdict = verdict;
            }
        }
        for group in all.groups.values_mut() {
            let failure = Failure::new(round.policy, group.verdict, round.name, &"");
            let failure = failure.deadline(round.deadline);
            (group.max, group.decision) = group.call.decide(failure);
        }
        all
    }

    fn alike(&self, call: TrackedCall, verdict: Verdict) -> Alike {
        let prospect = |hint| self.hints.prospect(hint);
        Alike {
            call,
            kind: verdict.kind().map(|kind| kind as usize),
            hint: verdict.hint().map_or(Prospect::InTime, prospect),
        }
    }

    /// The bookkeeping of an item from now on, or why it is given up.
    pub(super) fn decision(
        &self,
        call: TrackedCall,
        verdict: Verdict,
    ) -> Result<TrackedCall, Reason> {
        let group = &self.groups[&self.alike(call, verdict)];
        group.decision.map(|_| group.call)
    }

    /// The pause before the next round: the longest of all that are to wait.
    pub(super) fn pause(&self) -> Option<Duration> {
        let delays = self.groups.values().filter_map(|group| group.decision.ok());
        delays.map(|(delay, _)| delay).max()
    }

    /// A record for each group. Its error is shown by its type, as generic code can't tell more.
    pub(super) fn report<E>(&self, round: &Round<'_>) {
        let pause = self.pause().unwrap_or_default();
        for group in self.groups.values() {
            let error = round.part(group.items, type_name::<E>());
            match group.decision {
                Ok((_, kind)) => emit(
                    &Event::Retrying {
                        call: round.name,
                        attempt: round.number,
                        max: group.max,
                        delay: pause,
                        error: &error,
                        kind,
                    },
                    None,
                ),
                Err(reason) => round.gave_up(&error, group.max, reason),
            }
        }
    }
}

impl Round<'_> {
    pub(super) fn part<D: fmt::Display>(&self, items: usize, error: D) -> impl fmt::Display {
        let of = self.items;
        fmt::from_fn(move |f| write!(f, "{items} of {of} items: {error}"))
    }

    /// A record of items that are not sent again.
    pub(super) fn gave_up(&self, error: &dyn fmt::Display, max: Option<u32>, reason: Reason) {
        let (call, attempt) = (self.name, self.number);
        emit(
            &Event::GaveUp {
                call,
                attempt,
                max,
                error,
                reason,
            },
            None,
        );
    }
}
