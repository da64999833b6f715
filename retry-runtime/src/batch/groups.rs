//! The failures of a round: items that failed alike share one decision and one record in the log.

use alloc::collections::BTreeMap;
use core::fmt;
use core::mem;
use core::time::Duration;

use super::tally::{End, Of, ShownItem};
use crate::budget::retry_budget::RetryBudget;
use crate::call::decide::{Decision, refusal};
use crate::call::failure::Failure;
#[cfg(feature = "nested")]
use crate::call::nested;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::observer::MayObserve;
use crate::classify::kind::Kind;
use crate::classify::verdict::Verdict;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::event::Event;
use crate::observe::reason::Reason;
use crate::observe::record::Record;
use crate::observe::report::{Observe, report, report_unlogged_end};
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::time::moment::Moment;

/// What a round has in common.
pub(super) struct Round<'a> {
    pub(super) policy: &'a Policy,
    pub(super) deadline: Option<Moment>,
    /// When it ended.
    pub(super) now: Moment,
    pub(super) cancelled: bool,
    pub(super) idempotent: bool,
    pub(super) name: &'a str,
    /// From 1.
    pub(super) number: u32,
    /// How many items it was to send.
    pub(super) items: usize,
}

/// What items must have in common to share a decision: their retries so far, the kind of failure, and why the hint alone
/// gives them up, if it does, so that it does not give up others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    call: Call,
    kind: Option<usize>,
    refused: Option<usize>,
}

struct Group {
    /// The first of its items.
    first: usize,
    items: usize,
    /// How many of them lead, for how many of those a retry is paid, and how many have asked.
    leaders: usize,
    paid: usize,
    asked: usize,
    /// How many of its items are sent again.
    again: usize,
    /// The first that is not paid for.
    unpaid: Option<usize>,
    /// The verdict with the longest hint.
    verdict: Verdict,
    call: Call,
    decision: Decision,
}

/// Why items of a batch were given up.
#[derive(Clone, Copy)]
pub(super) struct GivenUp {
    /// The first of them.
    pub(super) first: usize,
    /// How they ended, if not with a failure of their own.
    pub(super) end: Option<End>,
    pub(super) max: Option<u32>,
    pub(super) kind: Option<Kind>,
    pub(super) reason: Reason,
}

/// Failed items by what they have in common.
pub(super) struct Groups<'a> {
    alike: BTreeMap<Alike, Group>,
    policy: &'a Policy,
    /// The time until the deadline.
    left: Duration,
}

impl<'a> Groups<'a> {
    /// Groups failures, in the order of the items, and decides about each group. A leader is paid for by itself.
    pub(super) fn new(
        round: &Round<'a>,
        failures: impl Iterator<Item = (usize, Call, Verdict, bool)>,
        budget: Option<&dyn RetryBudget>,
        is_limited: bool,
    ) -> Self {
        let mut all = Self {
            alike: BTreeMap::new(),
            policy: round.policy,
            left: round
                .deadline
                .map_or(Duration::MAX, |end| end.since(round.now)),
        };
        for (index, call, verdict, leads) in failures {
            let group = all.alike.entry(all.what_is_alike(call, verdict));
            let group = group.or_insert(Group {
                first: index,
                items: 0,
                leaders: 0,
                paid: 0,
                asked: 0,
                again: 0,
                unpaid: None,
                verdict,
                call,
                decision: Err(Reason::NotRetryable),
            });
            group.items += 1;
            group.leaders += usize::from(leads);
            if verdict.hint() > group.verdict.hint() {
                group.verdict = verdict;
            }
        }
        let site = Site::new(round.policy, round.name);
        for group in all.alike.values_mut() {
            let failure = Failure::new(&site, group.verdict, &"");
            let mut failure = failure
                .deadline(round.deadline, || round.now)
                .cancelled(round.cancelled)
                .idempotent(round.idempotent)
                .limited(is_limited)
                .times(group.leaders);
            if let Some(budget) = budget {
                failure = failure.budget(budget);
            }
            group.decision = group.call.decide(&mut failure);
            group.paid = failure.paid;
        }
        all
    }

    fn what_is_alike(&self, call: Call, verdict: Verdict) -> Alike {
        Alike {
            call,
            kind: verdict.kind().map(|kind| kind as usize),
            refused: refusal(self.policy, verdict.hint(), self.left).map(|reason| reason as usize),
        }
    }

    /// The bookkeeping of an item from now on, or why it is given up. Asked once for each, in their order: what does not
    /// lead is sent again with its leader, or not at all.
    pub(super) fn decision(
        &mut self,
        index: usize,
        call: Call,
        verdict: Verdict,
        leads: bool,
    ) -> Result<Call, Reason> {
        let alike = self.what_is_alike(call, verdict);
        let Some(group) = self.alike.get_mut(&alike) else {
            return Err(Reason::NotRetryable);
        };
        group.decision?;
        group.asked += usize::from(leads);
        if group.asked > group.paid {
            group.unpaid.get_or_insert(index);
            return Err(Reason::Budget);
        }
        group.again += 1;
        Ok(group.call)
    }

    /// The pause before the next round: the longest of all that are to wait.
    pub(super) fn pause(&self) -> Option<Duration> {
        let delays = self.alike.values().filter_map(|group| group.decision.ok());
        delays.max()
    }

    /// A record for each group, and one for its items that the budget did not pay for. It shows the error of the first.
    /// Returns what was given up last.
    pub(super) fn report(
        &self,
        round: &Round<'_>,
        shown: &ShownItem<'_>,
        observer: &mut impl MayObserve,
    ) -> Option<GivenUp> {
        let pause = self.pause().unwrap_or_default();
        let (mut is_retried, mut last) = (false, None);
        for group in self.alike.values() {
            let max = limit(group.call.in_force());
            let error = |items, first| round.part(items, Of(shown, first));
            let given_up = |first, kind, reason| GivenUp {
                first,
                end: None,
                max,
                kind,
                reason,
            };
            match (group.decision, group.verdict.kind()) {
                (Ok(_), Some(kind)) => {
                    let again = error(group.again, group.first);
                    let is_first = !mem::replace(&mut is_retried, true);
                    round.retrying(is_first, &again, max, pause, kind, observer.observe());
                    if let Some(first) = group.unpaid {
                        let unpaid = error(group.items - group.again, first);
                        let given_up = given_up(first, Some(kind), Reason::Budget);
                        round.gave_up(&unpaid, given_up, observer.observe());
                        last = Some(given_up);
                    }
                }
                (Ok(_), None) => {}
                (Err(reason), kind) => {
                    let given_up = given_up(group.first, kind, reason);
                    let error = error(group.items, group.first);
                    round.gave_up(&error, given_up, observer.observe());
                    last = Some(given_up);
                }
            }
        }
        last
    }
}

impl Round<'_> {
    pub(super) fn part<D: fmt::Display>(&self, items: usize, error: D) -> impl fmt::Display {
        Part {
            items,
            of: self.items,
            error,
        }
    }

    /// A record of items that are sent again: the first in a round, or of others that failed otherwise.
    fn retrying(
        &self,
        is_first: bool,
        error: &dyn fmt::Display,
        max: Option<u32>,
        delay: Duration,
        kind: Kind,
        observe: Option<Observe<'_>>,
    ) {
        let (call, attempt) = (self.name, self.number);
        #[cfg(feature = "nested")]
        if is_first {
            nested::tell(&Site::new(self.policy, call), attempt, false, None);
        }
        let event = || {
            if is_first {
                Event::Retrying {
                    call,
                    attempt,
                    max,
                    delay,
                    error,
                    kind,
                }
            } else {
                Event::ItemsFailed {
                    call,
                    attempt,
                    max,
                    error,
                    kind: Some(kind),
                    follows: Ok(delay),
                }
            }
        };
        report(Record::Retrying, event, observe);
    }

    /// A record of items that are not sent again.
    pub(super) fn gave_up(
        &self,
        error: &dyn fmt::Display,
        given_up: GivenUp,
        observe: Option<Observe<'_>>,
    ) {
        let (call, attempt) = (self.name, self.number);
        let GivenUp {
            max, kind, reason, ..
        } = given_up;
        report(
            Record::GaveUp,
            || Event::ItemsFailed {
                call,
                attempt,
                max,
                error,
                kind,
                follows: Err(reason),
            },
            observe,
        );
    }

    /// Tells how the batch ended, of which so many items were given up, and how its last round did.
    pub(super) fn gave_up_batch(
        &self,
        items: usize,
        given_up: GivenUp,
        ended: Option<AttemptEnd>,
        shown: &ShownItem<'_>,
        observe: Option<Observe<'_>>,
    ) {
        let GivenUp { max, reason, .. } = given_up;
        let event = Event::GaveUp {
            call: self.name,
            attempt: self.number,
            attempts: self.number,
            corrections: 0,
            max,
            error: &self.part(items, given_up.error(shown)),
            ended,
            reason,
        };
        report_unlogged_end(&event, observe);
    }
}

/// Some of a round's items, and what went wrong with them.
struct Part<D> {
    items: usize,
    of: usize,
    error: D,
}

impl<D: fmt::Display> fmt::Display for Part<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { items, of, error } = self;
        write!(f, "{items} of {of} items: {error}")
    }
}
