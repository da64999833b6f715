//! Deadlines around a pause.

use core::time::Duration;

use crate::time::Moment;

/// The tolerance for a pause that should have ended by the deadline, because timers have a granularity, and threads
/// have to be scheduled. A pause that ends later missed the deadline.
pub(crate) fn grace(pause: Duration) -> Duration {
    (pause / 10).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

/// Returns true if no attempt may follow that pause, because it ended too late.
pub(crate) fn is_late(end: Option<Moment>, pause: Duration, now: impl FnOnce() -> Moment) -> bool {
    end.is_some_and(|end| now().since(end) > grace(pause))
}

/// Returns true if a pause that was decided earlier may not start, because it would end after the deadline.
pub(crate) fn outlasts(end: Option<Moment>, pause: Duration, now: impl FnOnce() -> Moment) -> bool {
    end.is_some_and(|end| end.checked_since(now()).is_none_or(|left| pause > left))
}

/// Returns true if a deadline that drops running attempts has passed, so that anything started now would be dropped at
/// once.
pub(crate) fn is_over(deadline: Option<Moment>, now: impl FnOnce() -> Moment) -> bool {
    deadline.is_some_and(|end| now() > end)
}
