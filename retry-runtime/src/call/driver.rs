//! The driver of every retry loop: of the attribute, chains, batches, plans and layers, and of your own loops.
//!
//! A loop calls [`waits`](Driver::waits) until its attempt may start, makes the attempt, and reports its outcome:
//! [`ok`](Driver::ok) or [`failed`](Driver::failed). Dropping a driver at any point releases everything that its call
//! holds. The rules are in [`Steps`].

mod work;

use alloc::boxed::Box;
use core::pin::{Pin, pin};
use core::time::Duration;
use core::{fmt, mem};

use retry_classify::RejectedBy;

use crate::admission::AttemptOutcome;
use crate::call::steps::{Next, State, Steps};
use crate::call::waiting::{Queue, wait, wait_blocking};
use crate::call::{
    Call, Decision, Ending, Failure, HookOutcome, NextAttempt, Protects, Reporter, Stop,
};
use crate::hedge::pushback::Pushback;
use crate::history::gave_up::Taken;
use crate::observe::Reason;
use crate::site::Site;
use crate::time::{BlockingTimer, Cancel, Moment, Timer, cancel, pause_or_cancelled};

/// One call in flight.
///
/// Generic only in the types that it stores, so that a future that contains it is `Send` if `P` and `T` are.
///
/// Most methods take `&mut self`, because method lookup on a `&mut Driver` then prefers them to a user's trait.
pub struct Driver<P: Protects, T> {
    protections: P,
    timer: T,
    pub(crate) now: fn(&T) -> Moment,
    pub(crate) state: State,
}

impl<P: Protects, T: Timer> Driver<P, T> {
    /// Creates the driver of an async call.
    #[inline]
    pub fn new(protections: P, timer: T) -> Self {
        Self::with_clock(protections, timer, T::now)
    }

    /// Waits until [`waits`](Self::waits) may be called again, or until `cancelled` completes.
    // Boxed, so that it doesn't enlarge the loop's future.
    #[cold]
    pub fn wait<C: Future>(
        &mut self,
        mut cancelled: Pin<Box<C>>,
    ) -> Pin<Box<impl Future<Output = ()> + use<'_, C, P, T>>> {
        Box::pin(async move {
            match self.state.next {
                Next::Pause => {
                    let pause = self.state.call().last_delay();
                    // A zero pause needs no timer, and the call may have none.
                    let sleep = async {
                        if !pause.is_zero() {
                            self.timer.sleep(pause).await;
                        }
                    };
                    let is_cancelled = pause_or_cancelled(cancelled.as_mut(), pin!(sleep)).await;
                    self.run_step(|steps| steps.end_pause(is_cancelled));
                }
                Next::Turn => {
                    let (mut queue, timer) = self.queue();
                    let waited = wait(&mut queue, timer, cancelled.as_mut()).await;
                    self.run_step(|steps| steps.end_wait(waited));
                }
                _ => {}
            }
        })
    }

    /// Returns true if the call is cancelled. `cancelled` is polled once, with the task's waker, because embassy's
    /// timers reject any other waker.
    pub async fn is_cancelled<C: Future>(&mut self, mut cancelled: Pin<Box<C>>) -> bool {
        let is_cancelled = &mut self.state.is_cancelled;
        *is_cancelled = *is_cancelled || cancel::is_cancelled(cancelled.as_mut()).await;
        *is_cancelled
    }
}

impl<P: Protects, T: BlockingTimer> Driver<P, T> {
    /// Creates the driver of a blocking call.
    #[inline]
    pub fn blocking(protections: P, timer: T) -> Self {
        Self::with_clock(protections, timer, T::now)
    }

    /// Blocks this thread until [`waits`](Self::waits) may be called again, or until `cancel` ends the wait.
    #[cold]
    pub fn wait_blocking(&mut self, cancel: &dyn Cancel) {
        match self.state.next {
            Next::Pause => {
                let pause = self.state.call().last_delay();
                let is_cancelled = self.timer.sleep_or_cancelled(pause, cancel);
                self.run_step(|steps| steps.end_pause(is_cancelled));
            }
            Next::Turn => {
                let (mut queue, timer) = self.queue();
                let waited = wait_blocking(&mut queue, timer, cancel);
                self.run_step(|steps| steps.end_wait(waited));
            }
            _ => {}
        }
    }
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method's path would have one lifetime instead of any"
)]
impl<P: Protects, T> Driver<P, T> {
    #[inline]
    pub(crate) fn with_clock(protections: P, timer: T, now: fn(&T) -> Moment) -> Self {
        let state = State {
            cost: 1,
            ..State::default()
        };
        Self {
            protections,
            timer,
            now,
            state,
        }
    }

    /// Returns true if the call has no protections, no observer and no wait in the loop itself. Usually known at
    /// compile time, so that such a call costs next to nothing.
    #[inline]
    fn is_trivial(&self, reporter: &Reporter<'_>) -> bool {
        self.protections.are_none() && !reporter.is_observed() && !self.state.needs_ready
    }

    /// Runs a step that reports nothing.
    #[inline]
    fn run_step<V>(&mut self, step: impl FnOnce(&mut Steps<'_, '_>) -> V) -> V {
        self.run_reported(Reporter::named(""), step)
    }

    /// Runs a step with this reporter.
    #[inline]
    fn run_reported<V>(
        &mut self,
        mut reporter: Reporter<'_>,
        step: impl FnOnce(&mut Steps<'_, '_>) -> V,
    ) -> V {
        let (timer, now) = (&self.timer, self.now);
        step(&mut Steps {
            state: &mut self.state,
            shared: self.protections.refs(),
            now: &|| now(timer),
            reporter: &mut reporter,
        })
    }

    #[inline]
    fn queue(&mut self) -> (Queue<'_, P>, &T) {
        let (now, deadline) = (self.now(), self.state.deadline);
        let slot = &mut self.state.held.limiter;
        (
            Queue::new(&mut self.protections, slot, deadline, now),
            &self.timer,
        )
    }

    #[inline]
    pub(crate) fn timer(&self) -> &T {
        &self.timer
    }

    /// The current time on the timer's clock.
    pub fn now(&self) -> Moment {
        (self.now)(&self.timer)
    }

    /// Sets the policy's `max`, so that it can be reported before any failure.
    #[inline]
    pub fn set_max(&mut self, max: u32) {
        self.state.max = max;
        if let Some(past) = &mut self.state.past {
            past.call = past.call.with_max(max);
        }
    }

    /// Replaces the timer and the clock of this call.
    pub(crate) fn with_timer<U>(mut self, timer: U, now: fn(&U) -> Moment) -> Driver<P, U>
    where
        P: Copy,
    {
        Driver {
            protections: self.protections,
            timer,
            now,
            state: mem::take(&mut self.state),
        }
    }

    /// The protections.
    pub fn protections(&mut self) -> &mut P {
        &mut self.protections
    }

    /// Continues a call that was saved during its pause. The budget has already paid for its next attempt.
    pub fn resume(&mut self, call: Call) {
        self.state.past().call = call;
        self.state.is_paid = true;
    }

    /// Returns the call, to be saved during its pause. The payment for its next attempt is not refunded.
    pub fn into_saved(mut self) -> Call {
        self.state.is_paid = false;
        self.call().into_saved()
    }

    /// Sets the deadline as a point in time.
    pub fn set_end(&mut self, end: Option<Moment>) {
        self.state.deadline = end;
    }

    /// Sets the deadline to `limit` after the call of [`begin_deadline`](Self::begin_deadline), or else to `limit` from
    /// now.
    #[inline]
    pub fn set_deadline(&mut self, limit: Option<Duration>) {
        let began = self.state.past.as_ref().and_then(|past| past.began);
        let end = |limit| began.unwrap_or_else(|| self.now()).checked_add(limit);
        self.state.deadline = earliest(limit.and_then(end), self.state.total_end());
    }

    /// Ends the call `limit` from now, even while an attempt is running: see [`time_left`].
    #[inline]
    pub fn set_total(&mut self, limit: Option<Duration>) -> Option<Moment> {
        let end = limit.and_then(|limit| self.now().checked_add(limit))?;
        self.state.past().total_end = Some(end);
        self.state.deadline = earliest(self.state.deadline, Some(end));
        Some(end)
    }

    /// Starts to measure time for a deadline that is set later.
    #[inline]
    pub fn begin_deadline(&mut self) {
        self.state.past().began = Some(self.now());
    }

    /// Allows the policy to retry rejections: the loop then calls [`rejection`](Self::rejection).
    #[inline]
    pub fn retry_rejections(&mut self) {
        self.state.retries_rejections = true;
    }

    /// Returns true if the policy's `max` is unknown, because neither a failure nor a setter has provided it.
    pub fn lacks_max(&mut self) -> bool {
        self.state.lacks_max()
    }

    /// The policy's `max` as last read.
    #[inline]
    pub fn max(&mut self) -> u32 {
        self.state.call().max_retries()
    }

    /// Adds a wait in the loop itself between the limiter's admission and the breaker's: see
    /// [`gets_ready`](Self::gets_ready).
    pub fn need_ready(&mut self) {
        self.state.needs_ready = true;
    }

    /// Returns true if the loop has to do its own wait now, and report the result to [`ready`](Self::ready).
    pub fn gets_ready(&self) -> bool {
        matches!(self.state.next, Next::Ready)
    }

    /// Reports the end of the loop's own wait. An `Err` rejects the attempt.
    pub fn ready(&mut self, waited: Result<(), RejectedBy>) {
        match waited {
            Ok(()) => self.state.next = Next::Admit,
            Err(by) => self.run_step(|steps| steps.reject(by)),
        }
    }

    /// The call's state.
    #[inline]
    pub fn call(&mut self) -> Call {
        self.state.call()
    }

    /// The next attempt, as passed to hooks.
    pub fn next_attempt(&mut self) -> NextAttempt {
        self.state.call().next_attempt()
    }

    /// Returns true if the call has to [wait](Self::wait) before its attempt, or decide on a
    /// [rejection](Self::rejection). If false, the attempt has started, or the call ends: see [`stop`](Self::stop).
    #[inline]
    pub fn waits(&mut self, reporter: Reporter<'_>) -> bool {
        if self.is_trivial(&reporter) && matches!(self.state.next, Next::Enter) {
            self.state.next = Next::Begun;
            return false;
        }
        self.run_reported(reporter, |steps| steps.waits())
    }

    /// Returns true if the next step is the pause before the next attempt.
    #[inline]
    pub fn pauses(&mut self) -> bool {
        matches!(self.state.next, Next::Pause)
    }

    /// The rejection to [decide on](Self::rejected), if there is one.
    #[cold]
    pub fn rejection(&mut self) -> Option<RejectedBy> {
        match self.state.next {
            Next::Rejected(by) => Some(by),
            _ => None,
        }
    }

    /// Takes the reason that no attempt follows, if there is one.
    #[inline]
    pub fn stop(&mut self) -> Option<Stop> {
        match self.state.next {
            Next::Stopped(_) => self.state.take_stop(),
            _ => None,
        }
    }

    /// Returns the error, unless an earlier step has ended the call.
    #[inline]
    pub fn unless_stopped<E>(&mut self, error: Option<E>) -> Option<E> {
        error.filter(|_| !matches!(self.state.next, Next::Stopped(_)))
    }

    /// Reports the result of a hook. An error ends the call.
    pub fn hooked(&mut self, outcome: impl HookOutcome) {
        let cause = outcome.cause();
        self.run_step(|steps| steps.end_hook(cause));
    }

    /// Records that the server responded with a value, which may still be rejected.
    #[inline]
    pub fn answered(&mut self, reporter: Reporter<'_>) {
        if !self.protections.are_none() {
            self.run_reported(reporter, |steps| steps.answered());
        }
    }

    /// Records that the value was accepted.
    #[inline]
    pub fn succeeded(&mut self, reporter: Reporter<'_>) {
        if !self.is_trivial(&reporter) || self.state.past.is_some() {
            self.run_reported(reporter, |steps| steps.succeeded());
        }
    }

    /// Records that the server responded with an accepted value.
    #[inline]
    pub fn ok(&mut self, reporter: Reporter<'_>) {
        if !self.is_trivial(&reporter) || self.state.past.is_some() {
            self.run_reported(reporter, |steps| steps.ok());
        }
    }

    /// Ends the pause before a correction. Returns the reason if the correction must not start.
    #[cold]
    pub fn begin_correction(&mut self) -> Option<Reason> {
        if let Some(stop) = self.stop() {
            return Some(stop.reason());
        }
        self.state.is_paid = false;
        self.state.next = Next::Begun;
        None
    }

    /// Reports that the attempt with this number returned a value, or was the last of several concurrent attempts to
    /// fail. All others were dropped.
    #[inline]
    pub fn hedges_ended(&mut self, number: u32, is_value: bool) {
        if self
            .state
            .past
            .as_ref()
            .is_some_and(|past| past.current != 0)
        {
            self.run_step(|steps| steps.hedges_ended(number, is_value));
        }
    }

    /// Reports the end of the fallback. `show` passes the error's text to its second argument. Returns the reason for
    /// giving up if the fallback failed.
    #[cold]
    pub fn fell_back<V, E>(
        &mut self,
        taken: &Taken,
        outcome: &Result<V, E>,
        show: impl FnOnce(&E, &mut dyn FnMut(&dyn fmt::Display)),
        reporter: Reporter<'_>,
    ) -> Reason {
        let mut reason = Reason::FallbackFailed;
        self.run_reported(reporter, |steps| match outcome {
            Ok(_) => _ = steps.fell_back(taken, None),
            Err(error) => show(error, &mut |shown| {
                reason = steps.fell_back(taken, Some(shown));
            }),
        });
        reason
    }

    /// Counts retries from 0 again, because the attempt made progress. `lasted` is its duration.
    pub fn restart(&mut self, lasted: Duration) {
        self.run_step(|steps| steps.restart(lasted));
    }

    /// Records that an attempt's stream broke. Takes the start of the stream, and true if it yielded an item. Returns
    /// both for [`Attempt::take_progress`](crate::Attempt::take_progress), with false if the items don't count as
    /// progress.
    pub fn count_break(&mut self, (began, yielded): (Moment, bool)) -> Option<(Moment, bool)> {
        let is_progress = yielded && self.run_step(|steps| steps.count_break(began));
        Some((began, is_progress))
    }

    /// Credits the budget for a success after which the call goes on.
    pub fn credit(&mut self) {
        self.run_step(|steps| steps.credit());
    }

    /// The arguments of a hook: the error and the next attempt. `None` if an earlier step has ended the call.
    pub fn hook_on<E>(&mut self, error: Option<E>) -> Option<(E, NextAttempt)> {
        Some((self.unless_stopped(error)?, self.next_attempt()))
    }
}

/// Defines methods that only run the step of the same name with the call's reporter.
macro_rules! reported_steps {
    ($($(#[$meta:meta])* fn $step:ident($($arg:ident: $type:ty),*) $(-> $value:ty)?;)*) => {
        impl<P: Protects, T> Driver<P, T> {
            $($(#[$meta])*
            pub fn $step(&mut self, $($arg: $type,)* reporter: Reporter<'_>) $(-> $value)? {
                self.run_reported(reporter, |steps| steps.$step($($arg),*))
            })*
        }
    };
}

reported_steps! {
    /// Decides what follows a rejection. `delays` computes the delays, in place of the policy's backoff.
    #[cold]
    fn rejected(site: &Site<'_>, is_cancelled: bool, delays: Option<&mut dyn FnMut(u32) -> Duration>);
    /// Reports a failed attempt. Returns the pause before the next one, which [`waits`](Self::waits) then requests, or
    /// the reason that there is none.
    #[cold]
    fn failed(failure: Failure<'_>) -> Decision;
    /// Reports that the call ends with this error before an attempt.
    #[cold]
    fn stopped(stop: &Stop, error: &dyn fmt::Display, ending: Ending);
    /// Starts another attempt next to a slow one, if allowed. Returns the new attempt's number if it starts.
    #[cold]
    fn hedge(slow: Failure<'_>, delay: Duration, pushback: Pushback) -> Option<u32>;
    /// Reports that the attempt with this number failed while others are in flight. Returns true if the others go on.
    #[cold]
    fn hedge_failed(failure: Failure<'_>, number: u32, pushback: &mut Pushback) -> bool;
    /// Reports an accepted value, after the budget was credited.
    fn report_success();
    /// Reports that the call was aborted.
    #[cold]
    fn aborted();
    /// In a batch or a plan, reports a failure to the breaker and the limiter.
    fn record_failure(failure: &Failure<'_>);
    /// In a plan, reports a failure to the breaker, the limiter and the budget.
    fn failed_with_others(failure: Failure<'_>);
    /// In a batch, starts a call. Only the first call of a round is reported.
    fn begin(is_first: bool);
    /// In a batch, starts an item, unless the breaker rejects it.
    fn pass_breaker() -> Result<(), RejectedBy>;
    /// In a batch, reports the end of the call to the limiter.
    fn leave(outcome: AttemptOutcome);
}

#[inline]
fn earliest(one: Option<Moment>, other: Option<Moment>) -> Option<Moment> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}

/// The time limit of an attempt that starts now, in a call that ends at `end`.
#[inline]
pub fn time_left(
    limit: Option<Duration>,
    end: Option<Moment>,
    now: impl FnOnce() -> Moment,
) -> Option<Duration> {
    let Some(end) = end else { return limit };
    let left = end.since(now());
    Some(limit.map_or(left, |limit| limit.min(left)))
}

impl<P: Protects, T> Drop for Driver<P, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.protections.are_none() && self.state.is_holding() {
            self.run_step(|steps| {
                steps.release_all();
            });
        }
    }
}
