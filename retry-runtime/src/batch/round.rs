use core::fmt;
use core::time::Duration;

use super::given_up::{GivenUp, ShownItem};
#[cfg(feature = "nested")]
use crate::call::nested;
#[cfg(feature = "nested")]
use crate::call::site::Site;
use crate::call::state::Call;
use crate::classify::kind::Kind;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::event::{Event, EventData};
use crate::observe::report::{Observe, report, report_unlogged_end};
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::policy::values::Values;
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

impl Round<'_> {
    pub(super) fn part<D: fmt::Display>(&self, items: usize, error: D) -> impl fmt::Display {
        Part {
            items,
            of: self.items,
            error,
        }
    }

    /// A record of items that are sent again: the first in a round, or of others that failed otherwise.
    pub(super) fn retrying(
        &self,
        is_first: bool,
        error: &dyn fmt::Display,
        call: &Call,
        delay: Duration,
        kind: Kind,
        observe: Option<Observe<'_>>,
    ) {
        let max = limit(call.in_force());
        #[cfg(feature = "nested")]
        if is_first {
            let site = Site::new(self.policy, self.name);
            nested::tell(&site, self.number, Values::Taken, None);
        }
        let data = if is_first {
            let (retry, retry_max) = call.retry_count(self.policy, kind, Values::Taken);
            EventData::Retrying {
                retry,
                retry_max,
                max,
                delay,
                error,
                kind,
            }
        } else {
            EventData::ItemsFailed {
                max,
                error,
                kind: Some(kind),
                follows: Ok(delay),
            }
        };
        report(&self.event(data), observe);
    }

    fn event<'a>(&'a self, data: EventData<'a>) -> Event<'a> {
        Event::new(self.name, self.number, data)
    }

    /// A record of items that are not sent again.
    pub(super) fn gave_up(
        &self,
        error: &dyn fmt::Display,
        given_up: GivenUp,
        observe: Option<Observe<'_>>,
    ) {
        let data = EventData::ItemsFailed {
            max: given_up.max,
            error,
            kind: given_up.kind,
            follows: Err(given_up.reason),
        };
        report(&self.event(data), observe);
    }

    /// Tells how the batch ended, in which that many items were given up, and how its last round did.
    pub(super) fn gave_up_batch(
        &self,
        items: usize,
        given_up: GivenUp,
        ended: Option<AttemptEnd>,
        shown: &ShownItem<'_>,
        observe: Option<Observe<'_>>,
    ) {
        let error = &self.part(items, given_up.error(shown));
        let data = EventData::GaveUp {
            attempts: self.number,
            corrections: 0,
            max: given_up.max,
            error,
            ended,
            reason: given_up.reason,
        };
        report_unlogged_end(&self.event(data), observe);
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
