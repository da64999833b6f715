use core::time::Duration;

use crate::observe::reason::Reason;
use crate::time::moment::Moment;

/// How late a pause may end after the deadline that it was meant to meet: timers have a granularity, and threads wait
/// for their turn. Anything later has overslept.
pub(crate) fn grace(pause: Duration) -> Duration {
    (pause / 10).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

/// Why no attempt may follow that pause: it ended too late for one. `None` if it did not.
pub fn late(
    deadline: Option<Moment>,
    pause: Duration,
    now: impl FnOnce() -> Moment,
) -> Option<Reason> {
    let is_late = deadline.is_some_and(|end| now().since(end) > grace(pause));
    is_late.then_some(Reason::Deadline)
}

/// Why a pause that was decided earlier may not begin: it would end after the deadline. `None` if it may.
pub fn outlasts(
    deadline: Option<Moment>,
    pause: Duration,
    now: impl FnOnce() -> Moment,
) -> Option<Reason> {
    let left = deadline?.checked_since(now());
    let is_in_time = left.is_some_and(|left| pause <= left);
    (!is_in_time).then_some(Reason::Deadline)
}

/// Whether a deadline that drops what runs has passed: what began now would be dropped at once.
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) fn is_over(deadline: Option<Moment>, now: impl FnOnce() -> Moment) -> bool {
    deadline.is_some_and(|end| now() > end)
}
