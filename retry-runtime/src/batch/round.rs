use super::part::{Part, ShownItem, ShownPart};
#[cfg(feature = "nested")]
use crate::call::nested;
#[cfg(feature = "nested")]
use crate::call::site::Site;
use crate::call::state::Call;
use crate::call::with_hint::WithHint;
use crate::observe::event::AttemptEnd;
use crate::observe::event::{Event, EventData};
use crate::observe::reason::Reason;
use crate::observe::report::{Observe, report, report_unlogged_end};
use crate::policy::Policy;
use crate::policy::values::Values;
use crate::time::moment::Moment;

/// What a round has in common.
pub(super) struct Round<'a> {
    pub(super) policy: &'a Policy,
    pub(super) deadline: Option<Moment>,
    /// When the round ended.
    pub(super) now: Moment,
    pub(super) cancelled: bool,
    pub(super) idempotent: bool,
    pub(super) name: &'a str,
    /// Counted from 1.
    pub(super) number: u32,
    /// How many items the round was to send.
    pub(super) items: usize,
}

impl Round<'_> {
    /// A record of items that failed. `retry` is there where it stands for the next round, as the first of those that
    /// are sent again does: the call of these items.
    pub(super) fn report(
        &self,
        part: Part,
        retry: Option<&Call>,
        shown: &ShownItem<'_>,
        observe: Option<Observe<'_>>,
    ) {
        let (max, kind, follows) = (part.max, part.kind, part.follows);
        let of = self.items;
        let error = &WithHint::new(ShownPart { part, of, shown }, follows, part.hint);
        let data = match (kind, follows, retry) {
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
        report(&Event::new(self.name, self.number, data), observe);
    }

    /// Tells why the batch gave up, whose last round ended so. The log has it from what was reported of its parts.
    pub(super) fn gave_up(
        &self,
        part: Part,
        reason: Reason,
        ended: Option<AttemptEnd>,
        shown: &ShownItem<'_>,
        observe: Option<Observe<'_>>,
    ) {
        let data = EventData::GaveUp {
            attempts: self.number,
            corrections: 0,
            max: part.max,
            error: &ShownPart {
                part,
                of: self.items,
                shown,
            },
            ended,
            reason,
        };
        report_unlogged_end(&Event::new(self.name, self.number, data), observe);
    }
}
