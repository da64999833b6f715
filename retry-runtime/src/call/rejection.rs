//! The decision after the breaker or the limiter rejects an attempt. It carries no evidence about a server, so neither
//! they nor the budget record it.

use core::time::Duration;

use retry_classify::macro_support::shown;
use retry_classify::{Kind, RejectedBy};

use crate::call::decide::Decision;
use crate::call::failure::Failure;
use crate::call::state::Call;
use crate::observe::{Event, EventData, Reason, report};
use crate::policy::Policy;
use crate::policy::schedule::{Schedule, limit};

/// The retries after a call's rejections. Not in [`Call`], because most calls have nothing that rejects them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rejections {
    retries: u32,
    /// True if the last pause follows a rejection.
    pub(super) is_last: bool,
}

impl Rejections {
    /// No rejections yet.
    #[inline]
    pub(crate) const fn new() -> Self {
        Self {
            retries: 0,
            is_last: false,
        }
    }

    /// The pause before the rejected attempt is tried again, or the rejection that ends the call.
    #[cold]
    #[inline(never)]
    pub(crate) fn retry(
        &mut self,
        call: &mut Call,
        by: RejectedBy,
        mut failure: Failure<'_>,
    ) -> Result<Duration, RejectedBy> {
        if Reason::from(by) != Reason::Rejected {
            return Err(by);
        }
        let policy = &failure.site.policy_in_force();
        let schedule = policy.schedule(Some(Kind::Rejected), failure.inputs.values);
        call.spend(failure.inputs.elapsed);
        let decision = self.decide(call, &mut failure, policy, &schedule);
        let delay = decision.map_err(|reason| because(by, reason))?;
        let data = EventData::Retrying {
            retry: self.retries,
            retry_max: limit(schedule.max),
            max: limit(call.known(policy).max),
            delay,
            error: &shown(failure.error),
            kind: Kind::Rejected,
        };
        let name = failure.site.name();
        report(&Event::new(name, call.attempt(), data), failure.observe);
        Ok(delay)
    }

    fn decide(
        &mut self,
        call: &mut Call,
        failure: &mut Failure<'_>,
        policy: &Policy,
        schedule: &Schedule,
    ) -> Decision {
        let retry = schedule.next_retry(self.retries);
        let retry = retry.ok_or(Reason::Exhausted)?;
        if failure.inputs.cancelled {
            return Err(Reason::Cancelled);
        }
        let delay = call.delay(failure, policy, (Kind::Rejected, schedule), retry)?;
        call.pauses(delay);
        (self.retries, self.is_last) = (retry, true);
        Ok(delay)
    }
}

/// The rejection that ends the call, if it is not tried again for this reason.
fn because(by: RejectedBy, reason: Reason) -> RejectedBy {
    match reason {
        Reason::Deadline => RejectedBy::Deadline,
        Reason::Cancelled => RejectedBy::Cancelled,
        _ => by,
    }
}
