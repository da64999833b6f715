//! What became of a round's items that ended without a failure of their own.

use alloc::collections::BTreeMap;
use core::fmt;

use super::groups::{GivenUp, Round};
use super::item_error::Miscount;
use crate::chain::observer::MayObserve;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::reason::Reason;

/// What is reported about a round once it has ended.
#[derive(Default)]
pub(super) struct Tally {
    /// How many items it was to send.
    pub(super) items: usize,
    /// Items that ended without a failure of their own, with the retries that they were allowed: the first of them, and
    /// how many.
    ended: BTreeMap<(End, Option<u32>), (usize, usize)>,
}

/// How items ended without a failure of their own, in the order in which it is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// Of calls with a wrong number of answers.
    Miscounted(Miscount),
    /// Of calls that were dropped at the deadline.
    Dropped,
    /// They were not sent, since the batch had ended.
    NotSent,
    /// They were not sent, since breaker or limiter let no attempt of theirs begin.
    Rejected(RejectedBy),
}

impl Tally {
    /// The items, of which `first` is the first, end so.
    pub(super) fn ended(&mut self, end: End, max: Option<u32>, first: usize, items: usize) {
        if items > 0 {
            self.ended.entry((end, max)).or_insert((first, 0)).1 += items;
        }
    }

    /// How a round ended in which no item failed by itself. `None` where calls were dropped.
    pub(super) fn end_of_round(&self) -> Option<AttemptEnd> {
        let ends = self.ended.keys().map(|(end, _)| end);
        match ends.min() {
            Some(End::Miscounted(_)) => Some(AttemptEnd::Stop),
            Some(End::Dropped) => None,
            Some(End::NotSent | End::Rejected(_)) | None => Some(AttemptEnd::Succeeded),
        }
    }

    /// `has_begun`: a call of the round was begun. `ended` is why the batch ended early, if it did. `shown` writes the error of the item with that index. Returns what was
    /// given up last.
    pub(super) fn report(
        &self,
        round: &Round<'_>,
        has_begun: bool,
        ended: Option<Reason>,
        shown: &ShownItem<'_>,
        observer: &mut impl MayObserve,
    ) -> Option<GivenUp> {
        let mut last = None;
        // In the round before, they were sent, and failed; before the first, nothing was.
        let before = Round {
            number: round.number - 1,
            ..*round
        };
        for ((end, max), (first, items)) in &self.ended {
            let is_first = round.number == 1;
            let (round, reason, end) = match (*end, ended) {
                (End::Miscounted(_), _) => (round, Reason::Unanswered, Some(*end)),
                (End::Rejected(by), _) => (&before, by.reason(), is_first.then_some(*end)),
                (End::Dropped, Some(reason)) => (round, reason, Some(*end)),
                (End::NotSent, Some(reason)) if is_first && has_begun => {
                    (round, reason, Some(*end))
                }
                (End::NotSent, Some(reason)) => (&before, reason, is_first.then_some(*end)),
                (End::Dropped | End::NotSent, None) => continue,
            };
            let given_up = GivenUp {
                first: *first,
                end,
                max: *max,
                kind: None,
                reason,
            };
            let part = round.part(*items, given_up.error(shown));
            round.gave_up(&part, given_up, observer.observe());
            last = Some(given_up);
        }
        last
    }
}

impl GivenUp {
    /// What is told of the first of them.
    pub(super) fn error<'a>(self, shown: &'a ShownItem<'a>) -> impl fmt::Display + 'a {
        Told {
            given_up: self,
            shown,
        }
    }
}

struct Told<'a> {
    given_up: GivenUp,
    shown: &'a ShownItem<'a>,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.given_up.end {
            Some(End::Miscounted(miscount)) => miscount.fmt(f),
            Some(End::Dropped) => f.write_str("dropped before an answer"),
            Some(End::NotSent) => f.write_str("not sent"),
            Some(End::Rejected(by)) => Rejected::new(by).fmt(f),
            None => (self.shown)(self.given_up.first, f),
        }
    }
}

/// Writes the error of the item with that index.
pub(super) type ShownItem<'a> = dyn Fn(usize, &mut fmt::Formatter<'_>) -> fmt::Result + 'a;

/// The error of that item.
pub(super) struct Of<'a>(pub(super) &'a ShownItem<'a>, pub(super) usize);

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0(self.1, f)
    }
}
