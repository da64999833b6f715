//! Time limits: the keys `timeout` and `deadline`.

use core::time::Duration;

use crate::policy::Policy;
use crate::time::moment::Moment;

/// What the keys `timeout` and `deadline` take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a limit of time",
    label = "neither a `Duration` nor an `Option<Duration>`",
    note = "give a duration as in `\"60s\"`, a `Duration`, or an `Option<Duration>` where `None` is no limit"
)]
pub trait TimeLimit {
    fn limit(self) -> Option<Duration>;
}

impl TimeLimit for Duration {
    #[inline]
    fn limit(self) -> Option<Duration> {
        Some(self)
    }
}

impl TimeLimit for Option<Duration> {
    #[inline]
    fn limit(self) -> Option<Duration> {
        self
    }
}

/// The policy's time for each attempt.
#[inline]
pub fn policy_timeout(policy: &Policy) -> Option<Duration> {
    policy.attempt_limit()
}

/// When the call must end. The clock is read only if there is a limit.
#[inline]
pub fn deadline(limit: impl TimeLimit, now: impl FnOnce() -> Moment) -> Option<Moment> {
    limit.limit().and_then(|limit| now().checked_add(limit))
}

/// When the call must end by the policy's own limit.
#[inline]
pub fn policy_deadline(policy: &Policy, now: impl FnOnce() -> Moment) -> Option<Moment> {
    deadline(policy.time_limit(), now)
}

/// What that clock says now.
#[inline]
pub fn moment(now: impl FnOnce() -> Moment) -> Moment {
    now()
}

#[cfg(feature = "std")]
pub use crate::time::clock::{now, now_blocking};

/// Never called: without the feature, functions that name no timer don't compile.
#[cfg(not(feature = "std"))]
pub fn now() -> Moment {
    unreachable!("there is no clock without the feature `std`")
}

#[cfg(not(feature = "std"))]
pub use now as now_blocking;
