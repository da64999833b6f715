//! What became of a round's items that ended without a failure of their own.

use alloc::collections::BTreeMap;
use core::fmt;

use super::groups::{GivenUp, Round};
use super::item_error::Miscount;
use crate::call::rejected::{Rejected, RejectedBy};
use crate::chain::observer::MayObserve;
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

    /// `ended` is why the batch ended early, if it did. `shown` writes the error of the item with that index. Returns what was
    /// given up last.
    pub(super) fn report(
        &self,
        round: &Round<'_>,
        ended: Option<Reason>,
        shown: &ShownItem<'_>,
        observer: &mut impl MayObserve,
    ) -> Option<GivenUp> {
        let mut last = None;
        for ((end, max), (first, items)) in &self.ended {
            let mut gave_up = |round: &Round<'_>, error: &dyn fmt::Display, reason| {
                let given_up = GivenUp {
                    first: *first,
                    max: *max,
                    kind: None,
                    reason,
                };
                let part = round.part(*items, error);
                round.gave_up(&part, given_up, observer.observe());
                last = Some(given_up);
            };
            // In the round before, they were sent, and failed.
            let before = Round {
                number: round.number - 1,
                ..*round
            };
            match (end, ended) {
                (End::Miscounted(miscount), _) => gave_up(round, miscount, Reason::Unanswered),
                (End::Rejected(by), _) if round.number > 1 => {
                    gave_up(&before, &Of(shown, *first), by.reason());
                }
                (End::Rejected(by), _) => {
                    gave_up(&before, &Rejected::new(*by), by.reason());
                }
                (End::Dropped, Some(reason)) => {
                    gave_up(round, &"dropped before an answer", reason);
                }
                (End::NotSent, Some(reason)) if round.number == 1 => {
                    gave_up(round, &"not sent", reason);
                }
                (End::NotSent, Some(reason)) => {
                    gave_up(&before, &Of(shown, *first), reason);
                }
                (End::Dropped | End::NotSent, None) => {}
            }
        }
        last
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
