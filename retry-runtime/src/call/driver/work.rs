//! Steps of batches and plans, whose attempts are decided together.

use alloc::boxed::Box;
use core::future::{Future, pending};
use core::pin::pin;

use crate::admission::AttemptOutcome;
use crate::call::decide;
use crate::call::driver::Driver;
use crate::call::failure::Failure;
use crate::call::protections::Protects;
use crate::call::reporter::Reporter;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::call::steps::Next;
use crate::call::stop::Stop;
use crate::call::waiting::wait;
use crate::time::moment::Moment;
use crate::time::pause::pause_or_cancelled;
use crate::time::timer::{Timer, sleep_until};
use crate::{
    admission::HALF_OPENED,
    time::{blocking_timer::BlockingTimer, cancel::Cancel},
};
use retry_classify::Kind;
use retry_classify::RejectedBy;

/// The wait of an attempt.
impl<P: Protects, T: Timer> Driver<P, T> {
    /// Waits until the limiter admits the attempt, or until the end of a pause that starts now. The loop itself handles
    /// cancellation, which may apply to several attempts.
    pub fn turn(mut self) -> impl Future<Output = Self> {
        let pause_end = self.pauses().then(|| self.pause_end());
        async move {
            let never = pin!(pending::<()>());
            let deadline = self.state.deadline;
            if let Some(end) = pause_end {
                pause_or_cancelled(never, pin!(sleep_until(&self.timer, end))).await;
                self.state.next = if decide::is_over(deadline, || self.now()) {
                    Next::Over(Box::new(Stop::by(RejectedBy::Deadline)))
                } else {
                    Next::Enter
                };
            } else {
                let (mut queue, timer) = self.queue();
                let waited = wait(&mut queue, timer, never).await;
                self.steps(|steps| steps.waited(waited));
            }
            self
        }
    }
}

/// Steps of batches and plans.
impl<P: Protects, T> Driver<P, T> {
    /// Continues with this call's state, before its next attempt.
    pub fn set_call(&mut self, call: Call) {
        self.state.past().call = call;
        self.state.next = Next::Enter;
    }

    /// Moves the attempt as far as possible without waiting. Returns true if it has to wait, or the reason that it
    /// can't start.
    pub fn proceed(
        &mut self,
        site: &Site<'_>,
        is_cancelled: &mut dyn FnMut() -> bool,
        reporter: &mut Reporter<'_>,
    ) -> Result<bool, RejectedBy> {
        while self.steps(|steps| steps.waits(reporter)) {
            if self.rejection().is_none() {
                return Ok(true);
            }
            self.steps(|steps| steps.rejected(site, is_cancelled(), None, reporter));
        }
        self.stop()
            .map_or(Ok(false), |stop| Err(stop.rejected().by()))
    }

    /// Sets the kind of failure before the last retry. `None` if the budget doesn't pay for it.
    pub fn set_followed(&mut self, kind: Option<Kind>) {
        self.state.past().call.last_retry_kind = kind;
    }

    /// The end of a pause that starts now. `None` if the clock can't represent it.
    pub fn pause_end(&mut self) -> Option<Moment> {
        let pause = self.call().last_delay();
        self.now().checked_add(pause)
    }

    /// Reports a failure to the breaker and the limiter. The decision is made for several failures together.
    pub fn record_failure(&mut self, failure: &Failure<'_>, mut reporter: Reporter<'_>) {
        self.steps(|steps| steps.record_failure(failure, None, &mut reporter));
    }

    /// Continues with this call's state after a decision made together with others. `is_paid` is true if its next
    /// attempt is paid for.
    pub fn decided(&mut self, call: Call, is_paid: bool) {
        self.set_call(call);
        self.state.is_paid = is_paid && self.protections.refs().budget.is_some();
    }

    /// Credits the budget for a success, without reporting it.
    pub fn credit_success(&mut self) {
        self.steps(|steps| {
            steps.credit_success();
        });
    }

    /// Releases everything that the attempt holds, because another attempt counts in its place or it does not start.
    pub fn release(&mut self) {
        self.steps(|steps| {
            let (held, breaker) = (&mut steps.state.held, steps.shared.breaker);
            held.breaker.leave(breaker, AttemptOutcome::Ignored);
            steps.give_back();
        });
    }
}

/// Steps of a subtask.
impl<P: Protects, T> Driver<P, T> {
    /// Reports a failure to the breaker, the limiter and the budget. The decision is made for several failures
    /// together.
    pub fn failed_with_others(&mut self, failure: Failure<'_>, mut reporter: Reporter<'_>) {
        self.steps(|steps| {
            steps.record_failure(&failure, None, &mut reporter);
            let mut failure = steps.limited(failure);
            let failure = failure.lend().paid_by(steps.shared.budget);
            let policy = failure.site.policy_in_force();
            steps.state.past().call.tell_budget(&failure, &policy);
        });
    }
}

/// Steps of a batch: a call, which waits for the limiter, and its items.
impl<P: Protects, T> Driver<P, T> {
    /// Sets the number of items in the call. Each item asks the breaker separately.
    pub fn set_items(&mut self, items: usize) {
        self.state.cost = u32::try_from(items).unwrap_or(u32::MAX);
        self.state.is_batch = true;
    }

    /// Starts the call: its permit is then no longer returned as if no request had been sent. Only the first call of a
    /// round is reported.
    pub fn begin_batch(&mut self, is_first: bool, mut reporter: Reporter<'_>) {
        self.steps(|steps| {
            if steps.state.held.limiter.begin() {
                steps.changed(HALF_OPENED, &mut reporter);
            }
            if is_first {
                steps.report_started(&mut reporter);
            }
        });
    }

    /// Starts the item, unless the breaker rejects it.
    pub fn begin_item(&mut self, mut reporter: Reporter<'_>) -> Result<(), RejectedBy> {
        self.steps(|steps| steps.pass(&mut reporter))
    }

    /// Rejects the call before it starts, because its items were rejected.
    pub fn reject(&mut self, by: RejectedBy) {
        self.steps(|steps| steps.reject(by));
    }

    /// Raises the number of rejections to at least the other's, because the call and its items are rejected together.
    pub fn share_rejections(&mut self, other: &Self) {
        let rejections = other.state.past.as_ref().map_or(0, |past| past.rejections);
        if rejections > 0 {
            let own = &mut self.state.past().rejections;
            *own = rejections.max(*own);
        }
    }

    /// Pauses this thread until `end`, unless `cancel` ends the pause.
    pub fn pause_until(&mut self, end: Option<Moment>, cancel: &dyn Cancel)
    where
        T: BlockingTimer,
    {
        let left = end.map_or(core::time::Duration::MAX, |end| end.since(self.now()));
        let is_cancelled = self.timer.sleep_or_cancelled(left, cancel);
        let pause = self.call().last_delay();
        self.steps(|steps| steps.paused(pause, is_cancelled));
    }

    /// Reports the end of the call to the limiter.
    pub fn leave(&mut self, outcome: AttemptOutcome, mut reporter: Reporter<'_>) {
        self.steps(|steps| {
            let limiter = steps.shared.limiter;
            let changes = steps.state.held.limiter.leave(limiter, outcome);
            steps.changed(changes, &mut reporter);
        });
    }
}
