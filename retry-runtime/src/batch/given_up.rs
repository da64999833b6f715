use core::fmt;

use super::item_error::Miscount;
use crate::classify::kind::Kind;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::observe::reason::Reason;

/// Why items of a batch were given up.
#[derive(Clone, Copy)]
pub(super) struct GivenUp {
    /// The first of them.
    pub(super) first: usize,
    /// How they ended, if not with a failure of their own.
    pub(super) end: Option<ItemEnd>,
    pub(super) max: Option<u32>,
    pub(super) kind: Option<Kind>,
    pub(super) reason: Reason,
}

/// How items ended without a failure of their own, in the order in which it is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemEnd {
    /// Of calls with a wrong number of answers.
    Miscounted(Miscount),
    /// Of calls that were dropped at the deadline.
    Dropped,
    /// They were not sent, since the batch had ended.
    NotSent,
    /// They were not sent, because the breaker or the limiter let none of their attempts begin.
    Rejected(RejectedBy),
}

impl GivenUp {
    /// What is told of the first of them.
    pub(super) fn error<'a>(self, shown: &'a ShownItem<'a>) -> impl fmt::Display + 'a {
        ToldItem {
            given_up: self,
            shown,
        }
    }
}

struct ToldItem<'a> {
    given_up: GivenUp,
    shown: &'a ShownItem<'a>,
}

impl fmt::Display for ToldItem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.given_up.end {
            Some(ItemEnd::Miscounted(miscount)) => miscount.fmt(f),
            Some(ItemEnd::Dropped) => f.write_str("dropped before an answer"),
            Some(ItemEnd::NotSent) => f.write_str("not sent"),
            Some(ItemEnd::Rejected(by)) => Rejected::new(by).fmt(f),
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
