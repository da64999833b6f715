//! Steps of batches and plans, whose attempts are decided together.

use alloc::boxed::Box;
use core::future::{Future, pending};
use core::pin::pin;

use retry_classify::{Kind, Rejected, RejectedBy};

use crate::admission::outcome::AttemptOutcome;
use crate::call::driver::Driver;
use crate::call::failure::Failure;
use crate::call::late;
use crate::call::protections::Protects;
use crate::call::reporter::Reporter;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::call::steps::Next;
use crate::call::stop::Stop;
use crate::call::waiting::wait;
use crate::time::timer::{Timer, sleep_for};
use crate::time::{Moment, pause_or_cancelled};
#[cfg(feature = "batch")]
use crate::{
    admission::change::HALF_OPENED,
    call::rejection::Rejections,
    time::{blocking_timer::BlockingTimer, cancel::Cancel},
};

/// The wait of an attempt.
impl<P: Protects, T: Timer> Driver<P, T> {
    /// Waits until the limiter admits the attempt, or until the end of a pause that starts now. Cancelling is up to the
    /// loop, because it may cover several attempts.
    pub(crate) fn turn(mut self) -> impl Future<Output = Self> {
        let pause_end = self.pauses().then(|| self.pause_end());
        async move {
            let never = pin!(pending::<()>());
            let deadline = self.state.deadline;
            if let Some(end) = pause_end {
                let left = end.map(|end| end.since(self.now()));
                pause_or_cancelled(never, pin!(sleep_for(&self.timer, left))).await;
                self.state.next = if late::is_over(deadline, || self.now()) {
                    Next::Over(Box::new(Stop::by(RejectedBy::Deadline)))
                } else {
                    Next::Enter
                };
            } else {
                let (mut queue, timer) = self.queue();
                let waited = wait(&mut queue, timer, deadline, never).await;
                self.steps(|steps| steps.waited(waited));
            }
            self
        }
    }
}

/// Steps of batches and plans.
impl<P: Protects, T> Driver<P, T> {
    /// Continues with this call's state, before its next attempt.
    pub(crate) fn set_call(&mut self, call: Call) {
        self.state.past().call = call;
        self.state.next = Next::Enter;
    }

    /// Moves the attempt as far as possible without waiting. Returns true if it has to wait, or the reason that it
    /// can't start.
    pub(crate) fn proceed(
        &mut self,
        site: &Site<'_>,
        is_cancelled: &mut dyn FnMut() -> bool,
        reporter: &mut dyn Reporter,
    ) -> Result<bool, RejectedBy> {
        while self.steps(|steps| steps.waits(reporter)) {
            let Some((by, half_open_in)) = self.rejection() else {
                return Ok(true);
            };
            let rejected = Rejected::new(by);
            let failure = Failure::of_rejection(site, &rejected, half_open_in);
            let failure = failure.cancelled(is_cancelled());
            self.steps(|steps| steps.rejected(failure, reporter));
        }
        self.stop()
            .map_or(Ok(false), |stop| Err(stop.rejected().by()))
    }

    /// Sets the kind of failure before the last retry, if the budget pays for it.
    pub(crate) fn set_followed(&mut self, kind: Option<Kind>) {
        self.state.past().call.last_retry_kind = kind;
    }

    /// The end of a pause that starts now. `None` if the clock can't represent it.
    pub(crate) fn pause_end(&mut self) -> Option<Moment> {
        let pause = self.call().last_delay();
        self.now().checked_add(pause)
    }

    /// Reports a failure to the breaker and the limiter. The decision is made for several failures together.
    #[cfg(feature = "batch")]
    pub(crate) fn record_failure<R: Reporter>(&mut self, failure: &Failure<'_>, mut reporter: R) {
        self.steps(|steps| steps.record_failure(failure, None, &mut reporter));
    }

    /// Continues with this call's state after a decision made together with others. `is_paid`: its next attempt is paid
    /// for.
    pub(crate) fn decided(&mut self, call: Call, is_paid: bool) {
        self.set_call(call);
        self.state.is_paid = is_paid && self.protections.budget().is_some();
    }

    /// Credits the budget for a success, without reporting it.
    pub(crate) fn credit_success(&mut self) {
        self.steps(|steps| {
            steps.credit_success();
        });
    }

    /// Releases everything that the attempt holds, because another attempt counts in its place or it does not start.
    pub(crate) fn release(&mut self) {
        self.steps(|steps| {
            let (held, breaker) = (&mut steps.state.held, steps.shared.breaker());
            held.breaker.leave(breaker, AttemptOutcome::Ignored);
            steps.give_back();
        });
    }
}

/// Steps of a subtask.
#[cfg(feature = "plan")]
impl<P: Protects, T> Driver<P, T> {
    /// Reports a failure to the breaker, the limiter and the budget. The decision is made for several failures
    /// together.
    pub(crate) fn failed_with_others<R: Reporter>(
        &mut self,
        mut failure: Failure<'_>,
        mut reporter: R,
    ) {
        self.steps(|steps| {
            steps.record_failure(&failure, None, &mut reporter);
            let failure = failure.lend().limited(steps.handles_throttling());
            let failure = failure.paid_by(steps.shared.budget());
            let policy = failure.site.policy_in_force();
            steps.state.past().call.tell_budget(&failure, &policy);
        });
    }
}

/// Steps of a batch: a call, which waits for the limiter, and its items.
#[cfg(feature = "batch")]
impl<P: Protects, T> Driver<P, T> {
    /// Sets the number of items in the call. Each item asks the breaker by itself.
    pub(crate) fn set_items(&mut self, items: usize) {
        self.state.cost = u32::try_from(items).unwrap_or(u32::MAX);
        self.state.is_batch = true;
    }

    /// Starts the call. From now on, its permit is no longer returned as if no request had been sent. The first call of
    /// a round is reported.
    pub(crate) fn begin_batch<R: Reporter>(&mut self, is_first: bool, mut reporter: R) {
        self.steps(|steps| {
            if steps.state.held.limiter.begin() {
                steps.changed(HALF_OPENED, &mut reporter);
            }
            if is_first && reporter.is_observed() {
                steps.report_started(&mut reporter);
            }
        });
    }

    /// Starts the item, unless the breaker rejects it.
    pub(crate) fn begin_item<R: Reporter>(&mut self, mut reporter: R) -> Result<(), RejectedBy> {
        self.steps(|steps| steps.pass(&mut reporter))
    }

    /// Rejects the call before it starts, because its items were rejected.
    pub(crate) fn reject(&mut self, by: RejectedBy) {
        self.steps(|steps| steps.reject(by));
    }

    /// Raises the number of rejections to at least the other's: the call and its items are rejected together.
    pub(crate) fn share_rejections(&mut self, other: &Self) {
        let Some(other) = &other.state.past else {
            return;
        };
        if other.rejections != Rejections::new() {
            let own = &mut self.state.past().rejections;
            *own = other.rejections.max(*own);
        }
    }

    /// Pauses this thread until `end`, unless `cancel` ends the pause.
    pub(crate) fn pause_until(&mut self, end: Option<Moment>, cancel: &dyn Cancel)
    where
        T: BlockingTimer,
    {
        let left = end.map_or(core::time::Duration::MAX, |end| end.since(self.now()));
        let is_cancelled = self.timer.sleep_or_cancelled(left, cancel);
        let pause = self.call().last_delay();
        self.steps(|steps| steps.paused(pause, is_cancelled));
    }

    /// Reports the end of the call to the limiter.
    pub(crate) fn leave<R: Reporter>(&mut self, outcome: AttemptOutcome, mut reporter: R) {
        self.steps(|steps| {
            let limiter = steps.shared.limiter();
            let changes = steps.state.held.limiter.leave(limiter, outcome);
            steps.changed(changes, &mut reporter);
        });
    }
}
