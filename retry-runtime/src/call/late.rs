//! Deadline checks after a pause. A pause that would end after the deadline is never started; see `Call::delay` in
//! `decide.rs`.

use core::time::Duration;

use crate::call::failure::{Deadline, Failure};
use crate::call::state::Call;
use crate::observe::Reason;
use crate::policy::Policy;
use crate::time::Moment;

/// The tolerance for a pause that should have ended by the deadline: timers have a granularity, and threads have to be
/// scheduled. Anything later counts as missing the deadline.
pub(crate) fn grace(pause: Duration) -> Duration {
    (pause / 10).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

impl Call {
    /// Checks after the pause whether the attempt may start: not if the pause was [cancelled](Failure::cancelled), if
    /// it overran the deadline, or if the policy has changed and no longer allows the retry. Pass the error from before
    /// the pause. If this returns an `Err`, end the call with that error.
    ///
    /// Timers are imprecise, so a pause that was planned to end by the deadline may end after it: by a tenth of the
    /// pause, but at least 10 ms and at most 1 s.
    pub fn resumed(&self, failure: Failure<'_>) -> Result<(), Reason> {
        match self.revoked(&failure) {
            Some(reason) => {
                self.gave_up(failure, reason);
                Err(reason)
            }
            None => Ok(()),
        }
    }

    /// The reason that the last retry may not start after all. If no elapsed time is reported, the pause counts as just
    /// over.
    #[doc(hidden)]
    pub fn revoked(&self, failure: &Failure<'_>) -> Option<Reason> {
        if failure.inputs.cancelled {
            return Some(Reason::Cancelled);
        }
        let policy = &failure.site.policy_in_force();
        let is_too_many = failure.verdict.kind().is_some_and(|kind| {
            let (retry, max) = self.retry_count(policy, kind, failure.inputs.values);
            // Another policy, with other sections, may have counted it elsewhere.
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

    /// The time until the deadline ([`Duration::MAX`] without one), or the time since it passed.
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

/// The reason that no attempt may follow that pause, because it ended too late. `None` if it did not.
pub(crate) fn late(
    deadline: Option<Moment>,
    pause: Duration,
    now: impl FnOnce() -> Moment,
) -> Option<Reason> {
    let is_late = deadline.is_some_and(|end| now().since(end) > grace(pause));
    is_late.then_some(Reason::Deadline)
}

/// The reason that a pause that was decided earlier may not start, because it would end after the deadline. `None` if
/// it may.
pub(crate) fn outlasts(
    deadline: Option<Moment>,
    pause: Duration,
    now: impl FnOnce() -> Moment,
) -> Option<Reason> {
    let left = deadline?.checked_since(now());
    let is_in_time = left.is_some_and(|left| pause <= left);
    (!is_in_time).then_some(Reason::Deadline)
}

/// Returns true if a deadline that drops running attempts has passed, so that anything started now would be dropped at
/// once.
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) fn is_over(deadline: Option<Moment>, now: impl FnOnce() -> Moment) -> bool {
    deadline.is_some_and(|end| now() > end)
}
