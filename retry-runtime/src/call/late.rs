//! Which pauses end too late: what is asked after a pause. One that would end after the deadline is not begun, as
//! `Call::delay` in `decide.rs` says.

use core::time::Duration;

use crate::call::failure::{Deadline, Failure};
use crate::call::state::Call;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::time::moment::Moment;

/// How late a pause may end after the deadline that it was meant to meet: timers have a granularity, and threads wait
/// for their turn. Anything later has overslept.
pub(crate) fn grace(pause: Duration) -> Duration {
    (pause / 10).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

impl Call {
    /// Checks after the pause whether the attempt may begin: not where the pause was
    /// [cancelled](Failure::cancelled), nor where a timer overslept the deadline, nor where the
    /// policy no longer allows the retry, because it has changed since. Pass the error from before
    /// the pause; if this fails, the call ends with it.
    ///
    /// Timers are imprecise, so a pause that was meant to end by the deadline may end a little
    /// after it: by a tenth of the pause, but at least 10 ms and at most 1 s.
    pub fn resumed(&self, failure: Failure<'_>) -> Result<(), Reason> {
        match self.revoked(&failure) {
            Some(reason) => {
                self.gave_up(failure, reason);
                Err(reason)
            }
            None => Ok(()),
        }
    }

    /// Why the retry that was decided last may not begin after all. If no time is told, its pause counts as just over.
    #[doc(hidden)]
    pub fn revoked(&self, failure: &Failure<'_>) -> Option<Reason> {
        if failure.inputs.cancelled {
            return Some(Reason::Cancelled);
        }
        let policy = &failure.site.policy_in_force();
        let is_too_many = failure.verdict.kind().is_some_and(|kind| {
            let (retry, max) = self.retry_count(policy, kind, failure.inputs.values);
            // It may have been counted elsewhere, by a policy with other sections.
            max.is_some_and(|max| retry.max(1) > max)
        });
        if is_too_many {
            return Some(Reason::Exhausted);
        }
        let paused = Duration::from_millis(self.paused_ms.into());
        if policy.delay_limit().is_some_and(|limit| paused > limit) {
            return Some(Reason::Deadline);
        }
        let mut now = *self;
        now.spend(failure.inputs.elapsed);
        let left = now.until_deadline(failure, policy);
        let is_late = left.is_err_and(|late| late > grace(self.last_delay()));
        is_late.then_some(Reason::Deadline)
    }

    /// How long it is until the deadline ([`Duration::MAX`] without one), or how long ago that was.
    pub(super) fn until_deadline(
        &self,
        failure: &Failure<'_>,
        policy: &Policy,
    ) -> Result<Duration, Duration> {
        let (end, now) = match (failure.inputs.deadline, policy.time_limit()) {
            (Deadline::At { end, now }, _) => (end, now),
            (Deadline::OfPolicy, Some(limit)) => (
                Moment::from_origin(limit),
                Moment::from_origin(self.spent()),
            ),
            (Deadline::Never, _) | (Deadline::OfPolicy, None) => return Ok(Duration::MAX),
        };
        end.checked_since(now).ok_or_else(|| now.since(end))
    }
}

/// Why no attempt may follow that pause: it ended too late for one. `None` if it did not.
pub(crate) fn late(
    deadline: Option<Moment>,
    pause: Duration,
    now: impl FnOnce() -> Moment,
) -> Option<Reason> {
    let is_late = deadline.is_some_and(|end| now().since(end) > grace(pause));
    is_late.then_some(Reason::Deadline)
}

/// Why a pause that was decided earlier may not begin: it would end after the deadline. `None` if it may.
pub(crate) fn outlasts(
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
