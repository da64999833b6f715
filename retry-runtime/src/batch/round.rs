use core::time::Duration;

use super::part::{Part, ShownItem, ShownPart};
#[cfg(feature = "nested")]
use crate::call::nested;
#[cfg(feature = "nested")]
use crate::call::site::Site;
use crate::call::with_hint::WithHint;
use crate::observe::event::{Event, EventData};
use crate::observe::report::{Observe, reborrow, report};
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::policy::values::Values;
use crate::time::moment::Moment;

/// What a round has in common.
pub(super) struct Round<'a> {
    pub(super) policy: &'a Policy,
    pub(super) deadline: Option<Moment>,
    /// When the round ended.
    pub(super) now: Moment,
    /// The time until the deadline.
    pub(super) left: Duration,
    pub(super) cancelled: bool,
    pub(super) idempotent: bool,
    pub(super) name: &'a str,
    /// Counted from 1.
    pub(super) number: u32,
    /// How many items the round was to send.
    pub(super) items: usize,
}

impl Round<'_> {
    /// A record for each of these parts. Returns what was given up last.
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
