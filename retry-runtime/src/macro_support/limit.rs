//! Time limits: the keys `timeout` and `deadline`.

use core::time::Duration;

use crate::classify::timed_out::TimedOut;
use crate::policy::Policy;
#[cfg(not(feature = "std"))]
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

/// The outcome of an attempt that a timeout may have ended.
#[inline]
pub fn in_time<T, E>(
    finished: Option<Result<T, E>>,
    limit: Option<Duration>,
    timed_out: impl FnOnce(TimedOut) -> E,
) -> Result<T, E> {
    match finished {
        Some(outcome) => outcome,
        None => Err(timed_out(TimedOut::new(limit.unwrap_or_default()))),
    }
}

/// The policy's time for the whole call.
#[inline]
pub fn policy_limit(policy: &Policy) -> Option<Duration> {
    policy.time_limit()
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
