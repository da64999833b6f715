use core::time::Duration;

use crate::call::failure::Failure;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::keys::SharedKeys;
use crate::classify::verdict::Verdict;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::reason::Reason;
use crate::plan::round_budget::RoundBudget;
use crate::plan::run_keys::RunKeys;
use crate::policy::Policy;
use crate::time::moment::Moment;

/// The plan as a call, whose attempts its rounds are.
pub(crate) struct PlanCall {
    call: Call,
    pub(crate) deadline: Option<Moment>,
}

impl PlanCall {
    pub(crate) fn new(policy: &Policy, now: impl FnOnce() -> Moment) -> Self {
        let limit = policy.time_limit();
        Self {
            call: Call::new(),
            deadline: limit.and_then(|limit| now().checked_add(limit)),
        }
    }

    /// A round begins, in which the plan has so many subtasks.
    pub(crate) fn begin<On, K: SharedKeys>(&self, keys: &mut RunKeys<On, K>, subtasks: usize) {
        let (_, name, observe) = keys.told();
        if let Some(observe) = observe {
            self.call.started(name, observe);
        }
        keys.begin_round(self.call.attempt(), subtasks);
    }

    /// The time until the deadline.
    pub(crate) fn left(&self, now: impl FnOnce() -> Moment) -> Duration {
        self.deadline.map_or(Duration::MAX, |end| end.since(now()))
    }

    /// The pause before the next round, which retries those subtasks, and which of them are not paid for. Or why there
    /// is none.
    pub(crate) fn failed<On, K: SharedKeys>(
        &mut self,
        keys: &mut RunKeys<On, K>,
        verdict: Verdict,
        retried: &[(usize, Verdict)],
        error: &str,
        is_cancelled: bool,
        now: impl FnOnce() -> Moment,
    ) -> Result<(Duration, Vec<usize>), Reason> {
        let (budget, policy, name, observe) = keys.round(retried);
        let site = Site::new(policy, name);
        let mut failure = Failure::new(&site, verdict, &error).deadline(self.deadline, now);
        if let Some(budget) = &budget {
            failure = failure.budget(budget);
        }
        if let Some(observe) = observe {
            failure = failure.observe(observe);
        }
        let pause = self.call.failed_with(failure.cancelled(is_cancelled))?;
        let unpaid = match budget.map(RoundBudget::into_paid) {
            Some(paid) => keys.pay(retried, &paid),
            None => Vec::new(),
        };
        Ok((pause, unpaid))
    }

    /// Why no round may begin after the pause. One that began even a moment after the deadline would be dropped at
    /// once.
    pub(crate) fn late(&self, is_cancelled: bool, now: impl FnOnce() -> Moment) -> Option<Reason> {
        if is_cancelled {
            return Some(Reason::Cancelled);
        }
        let is_late = self.deadline.is_some_and(|end| now() > end);
        is_late.then_some(Reason::Deadline)
    }

    /// The plan ends after the pause.
    pub(crate) fn gave_up<On, K: SharedKeys>(
        &self,
        keys: &mut RunKeys<On, K>,
        verdict: Verdict,
        error: &str,
        reason: Reason,
    ) {
        let (policy, name, observe) = keys.told();
        let site = Site::new(policy, name);
        let mut failure = Failure::new(&site, verdict, &error);
        if let Some(observe) = observe {
            failure = failure.observe(observe);
        }
        self.call.gave_up(failure, reason);
    }

    /// Ends the plan without another round: after one with that end, or in the middle of one (`None`).
    pub(crate) fn cut<On, K: SharedKeys>(
        &self,
        keys: &mut RunKeys<On, K>,
        message: &str,
        ended: Option<AttemptEnd>,
        reason: Reason,
    ) {
        let (policy, name, observe) = keys.told();
        let site = Site::new(policy, name);
        self.call.cut(&site, &message, ended, reason, observe);
    }

    /// The results are valid.
    pub(crate) fn succeeded<On, K: SharedKeys>(&self, keys: &mut RunKeys<On, K>) {
        let (policy, name, observe) = keys.told();
        let site = Site::new(policy, name);
        match observe {
            Some(observe) => self.call.succeeded_observed(&site, observe),
            None => self.call.succeeded(&site),
        }
    }
}
