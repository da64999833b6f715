use super::part::{Part, ShownItem, ShownPart};
#[cfg(feature = "nested")]
use crate::call::nested;
#[cfg(feature = "nested")]
use crate::call::site::Site;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::event::Event;
use crate::observe::reason::Reason;
use crate::observe::report::{Observe, report, report_unlogged_end};
use crate::policy::Policy;
#[cfg(feature = "nested")]
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
    /// A record of items that failed. `is_retry` says whether it stands for the next round, as the first of those that
    /// are sent again does.
    pub(super) fn report(
        &self,
        part: Part,
        is_retry: bool,
        shown: &ShownItem<'_>,
        observe: Option<Observe<'_>>,
    ) {
        let (call, attempt, of) = (self.name, self.number, self.items);
        let Part {
            max, kind, follows, ..
        } = part;
        let error = &ShownPart { part, of, shown };
        let event = match (kind, follows) {
            (Some(kind), Ok(delay)) if is_retry => {
                #[cfg(feature = "nested")]
                nested::tell(&Site::new(self.policy, call), attempt, Values::Taken, None);
                Event::Retrying {
                    call,
                    attempt,
                    max,
                    delay,
                    error,
                    kind,
                }
            }
            _ => Event::ItemsFailed {
                call,
                attempt,
                max,
                error,
                kind,
                follows,
            },
        };
        report(&event, observe);
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
        let (max, of) = (part.max, self.items);
        let event = Event::GaveUp {
            call: self.name,
            attempt: self.number,
            attempts: self.number,
            corrections: 0,
            max,
            error: &ShownPart { part, of, shown },
            ended,
            reason,
        };
        report_unlogged_end(&event, observe);
    }
}
