use std::fmt;
use std::time::Duration;

use retry_runtime::{Kind, Reason, Rejected, RejectedBy, own_loop::Call};

use super::item_error::Miscount;

/// Items of a round that ended in the same way, and the decision for them.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The last round in which the items were sent, starting at 1.
    pub(super) round: u32,
    /// The index of the first item.
    pub(super) first: usize,
    pub(super) items: usize,
    /// The total number of items.
    pub(super) total: usize,
    /// The items' end, if they did not fail themselves.
    pub(super) end: Option<ItemEnd>,
    pub(super) kind: Option<Kind>,
    /// The longest wait that a server asked for.
    pub(super) hint: Option<Duration>,
    pub(super) decision: Result<Duration, Reason>,
    /// The call for this part's report of the next round. `None` if another part reports it or no round follows.
    pub(super) retry: Option<Call>,
}

/// The end of items that did not fail themselves, in the order of reports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemEnd {
    /// A call returned a wrong number of answers.
    Miscounted(Miscount),
    /// The call was dropped at the deadline.
    Dropped,
    /// The items were not sent, because the batch had ended.
    NotSent,
    /// The items were not sent, because the breaker or the limiter rejected all of their attempts.
    Rejected(RejectedBy),
}

/// Writes the error of the item at this index.
pub(super) type ShownItem<'a> = dyn Fn(usize, &mut fmt::Formatter<'_>) -> fmt::Result + 'a;

/// A part, with the failure of its first item.
pub(super) struct ShownPart<'a> {
    pub(super) part: Part,
    pub(super) shown: &'a ShownItem<'a>,
}

impl fmt::Display for ShownPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, shown } = self;
        write!(f, "{} of {} items: ", part.items, part.total)?;
        match part.end {
            Some(ItemEnd::Miscounted(miscount)) => miscount.fmt(f),
            Some(ItemEnd::Dropped) => f.write_str("dropped before an answer"),
            Some(ItemEnd::NotSent) => f.write_str("not sent"),
            Some(ItemEnd::Rejected(by)) => Rejected::new(by).fmt(f),
            None => shown(part.first, f),
        }
    }
}
