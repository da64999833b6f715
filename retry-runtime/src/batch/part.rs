use core::fmt;
use core::time::Duration;

use super::item_error::Miscount;
use crate::call::state::Call;
use crate::classify::kind::Kind;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::observe::reason::Reason;

/// Items of a round that ended alike, and what follows for them.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The round in which they were sent last, counted from 1.
    pub(super) round: u32,
    /// The first of them.
    pub(super) first: usize,
    pub(super) items: usize,
    /// How many items there were in all.
    pub(super) of: usize,
    /// How the items ended, if not with a failure of their own.
    pub(super) end: Option<ItemEnd>,
    pub(super) kind: Option<Kind>,
    /// The longest wait that a server asked for.
    pub(super) hint: Option<Duration>,
    pub(super) follows: Result<Duration, Reason>,
    /// The call of these items, where they stand for the next round: the first of those that are sent again.
    pub(super) retry: Option<Call>,
}

/// How items ended without a failure of their own, in the order in which it is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemEnd {
    /// A call gave a wrong number of answers.
    Miscounted(Miscount),
    /// The call was dropped at the deadline.
    Dropped,
    /// The items were not sent, since the batch had ended.
    NotSent,
    /// The items were not sent, because the breaker or the limiter let none of their attempts begin.
    Rejected(RejectedBy),
}

/// Writes the error of the item with that index.
pub(super) type ShownItem<'a> = dyn Fn(usize, &mut fmt::Formatter<'_>) -> fmt::Result + 'a;

/// A part, with what went wrong with the first of its items.
pub(super) struct ShownPart<'a> {
    pub(super) part: Part,
    pub(super) shown: &'a ShownItem<'a>,
}

impl fmt::Display for ShownPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, shown } = self;
        write!(f, "{} of {} items: ", part.items, part.of)?;
        match part.end {
            Some(ItemEnd::Miscounted(miscount)) => miscount.fmt(f),
            Some(ItemEnd::Dropped) => f.write_str("dropped before an answer"),
            Some(ItemEnd::NotSent) => f.write_str("not sent"),
            Some(ItemEnd::Rejected(by)) => Rejected::new(by).fmt(f),
            None => shown(part.first, f),
        }
    }
}
