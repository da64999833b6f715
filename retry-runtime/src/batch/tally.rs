//! What became of a round's items that ended without a failure of their own.

use alloc::collections::BTreeMap;

use super::part::{ItemEnd, Part, ShownItem};
use super::round::Round;
use crate::observe::event::AttemptEnd;
use crate::observe::reason::Reason;
use crate::observe::report::{Observe, reborrow};

/// What is reported about a round once it has ended.
#[derive(Default)]
pub(super) struct Tally {
    /// How many items the round was to send.
    pub(super) items: usize,
    /// Items that ended without a failure of their own, with the retries that they were allowed: the first of them, and
    /// how many.
    ended: BTreeMap<(ItemEnd, Option<u32>), (usize, usize)>,
}

impl Tally {
    /// Counts items with that end; `first` is the first of them.
    pub(super) fn ended(&mut self, end: ItemEnd, max: Option<u32>, first: usize, items: usize) {
        if items > 0 {
            self.ended.entry((end, max)).or_insert((first, 0)).1 += items;
        }
    }

    /// How a round ended in which no item failed by itself. `None` where calls were dropped.
    pub(super) fn end_of_round(&self) -> Option<AttemptEnd> {
        let ends = self.ended.keys().map(|(end, _)| end);
        match ends.min() {
            Some(ItemEnd::Miscounted(_)) => Some(AttemptEnd::Stop),
            Some(ItemEnd::Dropped) => None,
            Some(ItemEnd::NotSent | ItemEnd::Rejected(_)) | None => Some(AttemptEnd::Succeeded),
        }
    }

    /// `ended` is why the batch ended early, if it did. `shown` writes the error of the item with that index. Returns what
    /// was given up last.
    pub(super) fn report(
        &self,
        round: &Round<'_>,
        ended: Option<Reason>,
        shown: &ShownItem<'_>,
        mut observe: Option<Observe<'_>>,
    ) -> Option<Part> {
        let mut last = None;
        // What was not sent failed in the round before; before the first, no attempt was made.
        let before = Round {
            number: round.number - 1,
            ..*round
        };
        for ((end, max), (first, items)) in &self.ended {
            let is_first = round.number == 1;
            let (round, reason, end) = match (*end, ended) {
                (ItemEnd::Miscounted(_), _) => (round, Reason::Unanswered, Some(*end)),
                (ItemEnd::Rejected(by), _) => (&before, by.into(), is_first.then_some(*end)),
                (ItemEnd::Dropped, Some(reason)) => (round, reason, Some(*end)),
                (ItemEnd::NotSent, Some(reason)) => (&before, reason, is_first.then_some(*end)),
                (ItemEnd::Dropped | ItemEnd::NotSent, None) => continue,
            };
            let part = Part {
                first: *first,
                items: *items,
                end,
                max: *max,
                kind: None,
                hint: None,
                follows: Err(reason),
            };
            round.report(part, None, shown, reborrow(&mut observe));
            last = Some(part);
        }
        last
    }
}
