//! Limits of time: the keys `timeout` and `deadline`.

use std::time::Duration;

use crate::policy::Policy;
use crate::time::clock;
use crate::time::moment::Moment;

/// What the keys `timeout` and `deadline` take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a limit of time",
    label = "neither a `Duration` nor an `Option<Duration>`",
    note = "give a duration as in `\"60s\"`, a `Duration`, or an `Option<Duration>` where `None` is no limit"
)]
pub trait Limit {
    fn limit(self) -> Option<Duration>;
}

impl Limit for Duration {
    fn limit(self) -> Option<Duration> {
        Some(self)
    }
}

impl Limit for Option<Duration> {
    fn limit(self) -> Option<Duration> {
        self
    }
}

pub fn timeout(limit: impl Limit) -> Option<Duration> {
    limit.limit()
}

pub fn deadline(span: impl Limit) -> Option<Moment> {
    span.limit().and_then(|span| clock::now().checked_add(span))
}

pub fn policy_deadline(policy: &Policy) -> Option<Moment> {
    deadline(policy.time_limit())
}
