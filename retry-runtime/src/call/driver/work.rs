//! Steps of batches and plans, which make one decision for several failures.

use core::future::pending;
use core::pin::pin;

use retry_classify::{Kind, RejectedBy};

use crate::admission::AttemptOutcome;
use crate::call::steps::Next;
use crate::call::waiting::wait;
use crate::call::{Call, Driver, Protects, Reporter, steps};
use crate::site::Site;
use crate::time::timer::sleep_until;
use crate::time::{BlockingTimer, Cancel, Moment, Timer, pause_or_cancelled};

/// The wait before an attempt.
impl<P: Protects, T: Timer> Driver<P, T> {
    /// Waits for the end of a pause that starts now, or for the limiter's admission. The loop itself handles
    /// cancellation, which may apply to several attempts.
    pub fn wait_for_turn(mut self) -> impl Future<Output = Self> {
        let pause_end = self.pauses().then(|| self.pause_end());
        async move {
            let never = pin!(pending::<()>());
            let deadline = self.state.deadline;
            if let Some(end) = pause_end {
                pause_or_cancelled(never, pin!(sleep_until(&self.timer, end))).await;
                self.state.next = if steps::is_over(deadline, || self.now()) {
                    Next::stopped_by(RejectedBy::Deadline)
                } else {
                    Next::Enter
                };
            } else {
                let (mut queue, timer) = self.queue();
                let waited = wait(&mut queue, timer, never).await;
                self.run_step(|steps| steps.end_wait(waited));
            }
            self
        }
    }
}

impl<P: Protects, T> Driver<P, T> {
    /// Continues with this call's state, before its next attempt.
    pub fn set_call(&mut self, call: Call) {
        self.state.past().call = call;
        self.state.next = Next::Enter;
    }

    /// Advances the attempt as far as possible without waiting. Returns true if it has to wait, or the reason that it
    /// can't start.
    pub fn proceed(
        &mut self,
        site: &Site<'_>,
        is_cancelled: &mut dyn FnMut() -> bool,
        reporter: Reporter<'_>,
    ) -> Result<bool, RejectedBy> {
        let waits = self.run_reported(reporter, |steps| {
            while steps.waits() {
                if !matches!(steps.state.next, Next::Rejected(_)) {
                    return true;
                }
                steps.rejected(site, is_cancelled(), None);
            }
            false
        });
        self.stop()
            .map_or(Ok(waits), |stop| Err(stop.rejected().by()))
    }

    /// Sets the kind of failure before the last retry. `None` if the budget doesn't pay for it.
    pub fn set_last_retry_kind(&mut self, kind: Option<Kind>) {
        self.state.past().call.last_retry_kind = kind;
    }

    /// The end of a pause that starts now. `None` if the clock can't represent it.
    pub fn pause_end(&mut self) -> Option<Moment> {
        let pause = self.call().last_delay();
        self.now().checked_add(pause)
    }

    /// Continues with this call's state after a decision for several failures. `is_paid` is true if its next attempt is
    /// paid for.
    pub fn set_decision(&mut self, call: Call, is_paid: bool) {
        self.set_call(call);
        self.state.is_paid = is_paid && self.protections.refs().budget.is_some();
    }

    /// Credits the budget for a success, without reporting it.
    pub fn credit_success(&mut self) {
        self.run_step(|steps| {
            steps.credit_success();
        });
    }

    /// Releases everything that the attempt holds, because the attempt does not start or another one counts instead.
    pub fn release(&mut self) {
        self.run_step(|steps| {
            let (held, breaker) = (&mut steps.state.held, steps.shared.breaker);
            held.breaker.leave(breaker, AttemptOutcome::Ignored);
            steps.release_all();
        });
    }
}

/// Steps of a batch: a call, which waits for the limiter, and its items.
impl<P: Protects, T> Driver<P, T> {
    /// Sets the number of items in the call. Each item enters the breaker separately.
    pub fn set_items(&mut self, items: usize) {
        self.state.cost = u32::try_from(items).unwrap_or(u32::MAX);
        self.state.is_batch = true;
    }

    /// Rejects the call before it starts, because its items were rejected.
    pub fn reject(&mut self, by: RejectedBy) {
        self.run_step(|steps| steps.reject(by));
    }

    /// Raises the number of rejections to the other driver's, because a call and its items are rejected together.
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
        self.run_step(|steps| steps.end_pause(is_cancelled));
    }
}
