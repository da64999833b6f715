use core::time::Duration;

use super::part::{Part, ShownItem, ShownPart};
#[cfg(feature = "nested")]
use crate::call::nested;
#[cfg(feature = "nested")]
use crate::call::site::Site;
use crate::call::with_hint::WithHint;
use crate::observe::{Event, EventData, Observe, reborrow, report};
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::policy::values::Values;
use crate::time::Moment;

/// The data shared by all parts of a round.
pub(super) struct Round<'a> {
    pub(super) policy: &'a Policy,
    pub(super) deadline: Option<Moment>,
    /// The end of the round.
    pub(super) now: Moment,
    /// The time until the deadline.
    pub(super) left: Duration,
    pub(super) cancelled: bool,
    pub(super) idempotent: bool,
    pub(super) name: &'a str,
    /// Counted from 1.
    pub(super) number: u32,
    /// The number of items that the round should send.
    pub(super) items: usize,
}

impl Round<'_> {
    /// Reports each of these parts. Returns the last one that was given up.
    pub(super) fn report(
        &self,
        parts: impl Iterator<Item = Part>,
        shown: &ShownItem<'_>,
        observe: &mut Option<Observe<'_>>,
    ) -> Option<Part> {
        let mut given_up = None;
        for part in parts {
            self.report_part(part, shown, reborrow(observe));
            if part.follows.is_err() {
                given_up = Some(part);
            }
        }
        given_up
    }

    fn report_part(&self, part: Part, shown: &ShownItem<'_>, observe: Option<Observe<'_>>) {
        let max = limit(self.policy.retries_allowed());
        let (kind, follows) = (part.kind, part.follows);
        let error = &WithHint::new(ShownPart { part, shown }, follows, part.hint);
        let data = match (kind, follows, part.retry) {
            (Some(kind), Ok(delay), Some(call)) => {
                #[cfg(feature = "nested")]
                nested::tell(
                    &Site::new(self.policy, self.name),
                    self.number,
                    Values::Taken,
                    None,
                );
                let (retry, retry_max) = call.retry_count(self.policy, kind, Values::Taken);
                EventData::Retrying {
                    retry,
                    retry_max,
                    max,
                    delay,
                    error,
                    kind,
                }
            }
            _ => EventData::ItemsFailed {
                max,
                error,
                kind,
                follows,
            },
        };
        report(&Event::new(self.name, part.round, data), observe);
    }
}
