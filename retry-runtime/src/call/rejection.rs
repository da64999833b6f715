//! What follows where the breaker or the limiter let an attempt not begin. Nothing was seen of a server, so neither they
//! nor the budget hear of it.

use core::time::Duration;

use crate::call::decide::Decision;
use crate::call::failure::Failure;
use crate::call::state::Call;
use crate::classify::kind::Kind;
use crate::classify::rejected::RejectedBy;
use crate::observe::reason::Reason;

impl Call {
    /// The pause before the attempt is tried again, or what rejects the call.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn rejected(
        &mut self,
        by: RejectedBy,
        mut failure: Failure<'_>,
    ) -> Result<Duration, RejectedBy> {
        if by.reason() != Reason::Rejected {
            return Err(by);
        }
        let policy = failure.site.policy_in_force();
        let site = failure.site.with_policy(&policy);
        let mut failure = failure.at(&site);
        self.spend(failure.elapsed);
        let decision = self.decide_on_rejection(&mut failure);
        if decision.is_ok() {
            self.known(&site)
                .report_decision(decision, self.attempt(), failure);
        }
        decision.map_err(|reason| by.because(reason))
    }

    fn decide_on_rejection(&mut self, failure: &mut Failure<'_>) -> Decision {
        const KIND: Kind = Kind::Rejected;
        if failure.cancelled {
            return Err(Reason::Cancelled);
        }
        let schedule = failure.site.policy.schedule(Some(KIND), failure.values);
        let retry = schedule.next_retry(self.count(Some(KIND)));
        let retry = retry.ok_or(Reason::Exhausted)?;
        let delay = self.delay(failure, (KIND, &schedule), retry)?;
        self.retry(Some(KIND), delay);
        Ok(delay)
    }
}
