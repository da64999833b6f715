//! The items of a round that ended without failing themselves.

use std::collections::BTreeMap;

use retry_runtime::{AttemptEnd, Reason};

use super::part::{ItemEnd, Part};

/// Data to report when the round has ended.
#[derive(Default)]
pub(super) struct Tally {
    /// The number of items that the round should send.
    pub(super) items: usize,
    /// Items that did not fail themselves: the first index, the number of items, and the reason.
    ended: BTreeMap<ItemEnd, (usize, usize, Reason)>,
}

impl Tally {
    /// Counts the item at this index.
    pub(super) fn count(&mut self, end: ItemEnd, reason: Reason, index: usize) {
        self.ended.entry(end).or_insert((index, 0, reason)).1 += 1;
    }

    /// The end of a round in which no item failed itself. `None` if calls were dropped.
    pub(super) fn end_of_round(&self) -> Option<AttemptEnd> {
        match self.ended.keys().next() {
            Some(ItemEnd::Miscounted(_)) => Some(AttemptEnd::Stop),
            Some(ItemEnd::Dropped) => None,
            Some(ItemEnd::NotSent | ItemEnd::Rejected(_)) | None => Some(AttemptEnd::Succeeded),
        }
    }

    /// The parts to report for round number `round`.
    pub(super) fn parts(&self, round: u32) -> impl Iterator<Item = Part> {
        let ended = self.ended.iter();
        ended.map(move |(&end, &(first, items, reason))| {
            let was_sent = matches!(end, ItemEnd::Miscounted(_) | ItemEnd::Dropped);
            Part {
                // Items that were not sent failed in the previous round. In the first round, they had no attempt.
                round: round - u32::from(!was_sent),
                first,
                items,
                total: self.items,
                end: (was_sent || round == 1).then_some(end),
                kind: None,
                hint: None,
                decision: Err(reason),
                retry: None,
            }
        })
    }
}
