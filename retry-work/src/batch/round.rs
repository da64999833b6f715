use std::time::Duration;

use retry_runtime::macro_support::{Job, WithHint, limit};
use retry_runtime::{EventData, Policy, chain::IntoChain, seam::Moment};

use super::part::{Part, ShownItem, ShownPart};

/// The data shared by all parts of a round.
pub(super) struct Round<'a> {
    pub(super) policy: &'a Policy,
    pub(super) deadline: Option<Moment>,
    /// The time at which the round ended.
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
    /// Reports each part. Returns the last part that was given up.
    pub(super) fn report(
        &self,
        parts: impl Iterator<Item = Part>,
        shown: &ShownItem<'_>,
        job: &mut Job<'_, impl IntoChain>,
    ) -> Option<Part> {
        let mut given_up = None;
        for part in parts {
            self.report_part(part, shown, job);
            if part.decision.is_err() {
                given_up = Some(part);
            }
        }
        given_up
    }

    fn report_part(&self, part: Part, shown: &ShownItem<'_>, job: &mut Job<'_, impl IntoChain>) {
        let (round, kind, follows) = (part.round, part.kind, part.decision);
        let error = &WithHint::new(ShownPart { part, shown }, follows, part.hint);
        if let (Some(kind), Ok(delay), Some(call)) = (kind, follows, part.retry) {
            return job.report_retrying(self.policy, round, call, kind, delay, error);
        }
        let data = EventData::ItemsFailed {
            max: limit(self.policy.retries_allowed()),
            error,
            kind,
            follows,
        };
        job.report(round, data);
    }
}
