use core::fmt;
use core::time::Duration;

use super::item_error::Miscount;
use crate::call::decide::Decision;
use crate::classify::kind::Kind;
use crate::classify::rejected::{Rejected, RejectedBy};

/// Items of a round that ended alike, and what follows for them.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The first of them.
    pub(super) first: usize,
    pub(super) items: usize,
    /// How the items ended, if not with a failure of their own.
    pub(super) end: Option<ItemEnd>,
    pub(super) max: Option<u32>,
    pub(super) kind: Option<Kind>,
    /// The longest wait that a server asked for.
    pub(super) hint: Option<Duration>,
    pub(super) follows: Decision,
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

/// A part of so many items, with what went wrong with the first of its own.
pub(super) struct ShownPart<'a> {
    pub(super) part: Part,
    pub(super) of: usize,
    pub(super) shown: &'a ShownItem<'a>,
}

impl fmt::Display for ShownPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, of, shown } = self;
        write!(f, "{} of {of} items: ", part.items)?;
        match part.end {
            Some(ItemEnd::Miscounted(miscount)) => miscount.fmt(f),
            Some(ItemEnd::Dropped) => f.write_str("dropped before an answer"),
            Some(ItemEnd::NotSent) => f.write_str("not sent"),
            Some(ItemEnd::Rejected(by)) => Rejected::new(by).fmt(f),
            None => shown(part.first, f),
        }
    }
}
