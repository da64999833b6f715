//! What became of a round's items that ended without a failure of their own.

use alloc::collections::BTreeMap;

use super::part::{ItemEnd, Part};
use crate::observe::event::AttemptEnd;
use crate::observe::reason::Reason;

/// What is reported about a round once it has ended.
#[derive(Default)]
pub(super) struct Tally {
    /// How many items the round was to send.
    pub(super) items: usize,
    /// Items that ended without a failure of their own: the first of them, how many, and why they are given up.
    ended: BTreeMap<ItemEnd, (usize, usize, Reason)>,
}

impl Tally {
    /// Counts the item with that index.
    pub(super) fn ended(&mut self, end: ItemEnd, reason: Reason, index: usize) {
        self.ended.entry(end).or_insert((index, 0, reason)).1 += 1;
    }

    /// How a round ended in which no item failed by itself. `None` where calls were dropped.
    pub(super) fn end_of_round(&self) -> Option<AttemptEnd> {
        match self.ended.keys().next() {
            Some(ItemEnd::Miscounted(_)) => Some(AttemptEnd::Stop),
            Some(ItemEnd::Dropped) => None,
            Some(ItemEnd::NotSent | ItemEnd::Rejected(_)) | None => Some(AttemptEnd::Succeeded),
        }
    }

    /// What there is to report, in a round of that number.
    pub(super) fn parts(&self, round: u32) -> impl Iterator<Item = Part> {
        let ended = self.ended.iter();
        ended.map(move |(&end, &(first, items, reason))| {
            let was_sent = matches!(end, ItemEnd::Miscounted(_) | ItemEnd::Dropped);
            Part {
                // What was not sent failed in the round before; before the first, no attempt was made.
                round: round - u32::from(!was_sent),
                first,
                items,
                of: self.items,
                end: (was_sent || round == 1).then_some(end),
                kind: None,
                hint: None,
                follows: Err(reason),
                retry: None,
            }
        })
    }
}
