//! The one driver of every loop that retries: the attribute's, a chain's, a batch's, a plan's, a layer's, your own.
//!
//! A loop asks [`waits`](Driver::waits) until nothing stands before its attempt, makes the attempt, and reports how it
//! ended: [`ok`](Driver::ok) or [`failed`](Driver::failed). Dropped anywhere, a driver gives back what its call holds.
//! The rules are in [`Steps`].

use alloc::boxed::Box;
use core::fmt;
#[cfg(any(feature = "batch", feature = "plan"))]
use core::future::pending;
use core::future::{Future, ready};
use core::mem;
use core::pin::{Pin, pin};
use core::time::Duration;

#[cfg(any(feature = "batch", feature = "plan"))]
use crate::admission::outcome::AttemptOutcome;
use crate::call::decide::Decision;
use crate::call::failure::{Ending, Failure};
use crate::call::hook::HookOutcome;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::call::late;
use crate::call::next_attempt::NextAttempt;
use crate::call::protections::Protects;
#[cfg(feature = "batch")]
use crate::call::rejection::Rejections;
use crate::call::reporter::Reporter;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::call::site::Site;
use crate::call::state::Call;
use crate::call::steps::{Next, State, Steps};
use crate::call::stop::Stop;
use crate::call::waiting::{Queue, wait, wait_blocking};
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::classify::kind::Kind;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::classify::rejected::Rejected;
use crate::classify::rejected::RejectedBy;
use crate::hedge::pushback::Pushback;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::policy::values::Values;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::{self, Cancel};
use crate::time::moment::Moment;
use crate::time::pause::{OwnWaker, pause_or_cancelled};
use crate::time::timer::Timer;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::time::timer::sleep_until;

/// One call under way.
///
/// Generic only as storage, so that a future with it is `Send` wherever `P` and `T` are. Its rules are in `Steps`.
///
/// All methods take `&mut self`: called on a `&mut Driver`, they are found before those of a user's trait.
pub struct Driver<P: Protects, T> {
    protections: P,
    timer: T,
    now: fn(&T) -> Moment,
    state: State,
}

impl<P: Protects, T: Timer> Driver<P, T> {
    /// An async call.
    #[inline]
    pub fn new(protections: P, timer: T) -> Self {
        Self::with_clock(protections, timer, T::now)
    }

    /// Waits as [`waits`](Self::waits) demands. `cancelled` ends the wait.
    // On the heap, so that the loop's future needs no room for it.
    #[cold]
    pub fn wait<C: Future>(
        &mut self,
        cancelled: Pin<Box<C>>,
    ) -> Pin<Box<impl Future<Output = ()> + use<'_, C, P, T>>> {
        Box::pin(self.wait_here(cancelled))
    }

    async fn wait_here<C: Future>(&mut self, mut cancelled: Pin<Box<C>>) {
        match self.state.next {
            Next::Pause => {
                let pause = self.state.call().last_delay();
                // A pause of no time needs no timer: there may be none to sleep with.
                let is_cancelled = if pause.is_zero() {
                    pause_or_cancelled(cancelled.as_mut(), pin!(ready(()))).await
                } else {
                    let sleep = pin!(self.timer.sleep(pause));
                    pause_or_cancelled(cancelled.as_mut(), sleep).await
                };
                self.steps(|steps| steps.paused(pause, is_cancelled));
            }
            Next::Turn => {
                let deadline = self.state.deadline;
                let (mut queue, timer) = self.queue();
                let waited = wait(&mut queue, timer, deadline, cancelled.as_mut()).await;
                self.steps(|steps| steps.waited(waited));
            }
            _ => {}
        }
    }

    /// Returns true if the call is cancelled. `cancelled` is asked once, with the task's waker: embassy's timers refuse any
    /// other.
    pub async fn is_cancelled<C: Future>(&mut self, mut cancelled: Pin<Box<C>>) -> bool {
        let is_cancelled = &mut self.state.is_cancelled;
        *is_cancelled = *is_cancelled || cancel::is_cancelled(cancelled.as_mut(), &OwnWaker.await);
        *is_cancelled
    }

    /// Waits for the turn in the limiter's queue, or for the end of a pause that begins now: what cancels several attempts
    /// is the loop's.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn turn(mut self) -> impl Future<Output = Self> {
        let pause_end = self.pauses().then(|| self.pause_end());
        async move {
            let never = pin!(pending::<()>());
            let deadline = self.state.deadline;
            if let Some(end) = pause_end {
                pause_or_cancelled(never, pin!(sleep_until(&self.timer, end))).await;
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

impl<P: Protects, T: BlockingTimer> Driver<P, T> {
    /// A blocking call.
    #[inline]
    pub fn blocking(protections: P, timer: T) -> Self {
        Self::with_clock(protections, timer, T::now)
    }

    /// Waits on this thread as [`waits`](Self::waits) demands, unless that cancels it.
    #[cold]
    pub fn wait_blocking(&mut self, cancel: &dyn Cancel) {
        match self.state.next {
            Next::Pause => {
                let pause = self.state.call().last_delay();
                let is_cancelled = self.timer.sleep_or_cancelled(pause, cancel);
                self.steps(|steps| steps.paused(pause, is_cancelled));
            }
            Next::Turn => {
                let deadline = self.state.deadline;
                let (mut queue, timer) = self.queue();
                let waited = wait_blocking(&mut queue, timer, deadline, cancel);
                self.steps(|steps| steps.waited(waited));
            }
            _ => {}
        }
    }
}

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

    /// Returns true if an attempt that begins or succeeds has nothing to do with anyone else: known at compile time, so that
    /// such a call costs next to nothing.
    #[inline]
    fn is_bare<R: Reporter>(&self, reporter: &R) -> bool {
        self.protections.are_none() && !reporter.is_observed() && !self.state.needs_ready
    }

    /// Runs a step, which is not generic.
    #[inline]
    pub(crate) fn steps<V>(&mut self, step: impl FnOnce(&mut Steps<'_>) -> V) -> V {
        let Self {
            protections,
            timer,
            now,
            state,
        } = self;
        step(&mut Steps {
            state,
            shared: protections,
            now: &|| now(timer),
        })
    }

    #[inline]
    fn queue(&mut self) -> (Queue<'_, P>, &T) {
        let queue = Queue {
            protections: &mut self.protections,
            held: &mut self.state.held,
        };
        (queue, &self.timer)
    }

    /// The timer.
    #[inline]
    pub(crate) fn timer(&self) -> &T {
        &self.timer
    }

    /// The time by the timer's clock.
    pub(crate) fn now(&self) -> Moment {
        (self.now)(&self.timer)
    }

    /// Sets the policy's `max`, for what is reported before any failure.
    #[inline]
    pub fn set_max(&mut self, max: u32) {
        self.state.max = max;
        if let Some(past) = &mut self.state.past {
            past.call = past.call.with_max(max);
        }
    }

    /// Sets what an attempt costs in the limiter. Default 1.
    pub fn set_cost(&mut self, cost: u32) {
        self.state.cost = cost;
    }

    /// Reads the time with that function.
    pub(crate) fn set_clock(&mut self, now: fn(&T) -> Moment) {
        self.now = now;
    }

    /// The same call, with these protections, timer and clock.
    pub(crate) fn with<Q: Protects, U>(
        mut self,
        protections: Q,
        timer: U,
        now: fn(&U) -> Moment,
    ) -> Driver<Q, U> {
        Driver {
            protections,
            timer,
            now,
            state: mem::take(&mut self.state),
        }
    }

    /// The protections.
    pub fn protections(&mut self) -> &P {
        &self.protections
    }

    /// Goes on with a call that was saved during its pause. The budget paid for its next attempt.
    pub fn resume(&mut self, call: Call) {
        self.state.past().call = call;
        self.state.is_paid = true;
    }

    /// The call, to be saved during its pause. The payment for its next attempt does not go back.
    pub fn into_saved(mut self) -> Call {
        self.state.is_paid = false;
        self.call()
    }

    /// Sets the end of the call.
    pub fn set_end(&mut self, end: Option<Moment>) {
        self.state.deadline = end;
    }

    /// The time since [`begin_deadline`](Self::begin_deadline).
    pub(crate) fn elapsed(&self) -> Option<Duration> {
        let began = self.state.past.as_ref()?.began?;
        Some((self.now)(&self.timer).since(began))
    }

    /// Sets the end of the call, that long from now.
    #[inline]
    pub fn set_deadline(&mut self, limit: Option<Duration>) {
        self.state.deadline = limit.and_then(|limit| (self.now)(&self.timer).checked_add(limit));
    }

    /// Begins to measure the time until an end that is [set later](Self::end_after).
    #[inline]
    pub fn begin_deadline(&mut self) {
        self.state.past().began = Some((self.now)(&self.timer));
    }

    /// Sets the end of the call, that long after [`begin_deadline`](Self::begin_deadline).
    pub fn end_after(&mut self, limit: Option<Duration>) {
        let began = self.state.past().began.zip(limit);
        self.state.deadline = began.and_then(|(began, limit)| began.checked_add(limit));
    }

    /// The policy may retry a rejection: [`rejection`](Self::rejection) asks what follows one.
    #[inline]
    pub fn retry_rejections(&mut self) {
        self.state.retries_rejections = true;
    }

    /// Returns true if neither a failure nor a setter has brought the policy's `max`.
    pub fn lacks_max(&mut self) -> bool {
        self.state.lacks_max()
    }

    /// The policy's `max` when it was read last.
    #[inline]
    pub fn max(&mut self) -> u32 {
        self.state.call().max_retries()
    }

    /// The loop waits for something of its own between the limiter's turn and the breaker: see
    /// [`gets_ready`](Self::gets_ready).
    pub fn need_ready(&mut self) {
        self.state.needs_ready = true;
    }

    /// Returns true if the loop has to wait for its own now, and report how that ended to [`ready`](Self::ready).
    pub fn gets_ready(&self) -> bool {
        matches!(self.state.next, Next::Ready)
    }

    /// The loop's own wait is over, or may not go on.
    pub fn ready(&mut self, waited: Result<(), RejectedBy>) {
        match waited {
            Ok(()) => self.state.next = Next::Admit,
            Err(by) => self.steps(|steps| steps.reject(by)),
        }
    }

    /// What the call has been through.
    #[inline]
    pub fn call(&mut self) -> Call {
        self.state.call()
    }

    /// The attempt that follows: what hooks see.
    pub fn next_attempt(&mut self) -> NextAttempt {
        self.state.call().next_attempt()
    }

    /// Returns true if the call has to [wait](Self::wait) before its attempt, or a [rejection](Self::rejection) has to be
    /// decided on. If false, the attempt has begun, or never does: see [`stop`](Self::stop).
    #[inline]
    pub fn waits<R: Reporter>(&mut self, mut reporter: R) -> bool {
        if self.is_bare(&reporter) && matches!(self.state.next, Next::Enter) {
            self.state.next = Next::Begun;
            return false;
        }
        self.steps(|steps| steps.waits(&mut reporter))
    }

    /// Returns true if the pause before the next attempt is yet to come.
    #[inline]
    pub fn pauses(&mut self) -> bool {
        matches!(self.state.next, Next::Pause)
    }

    /// The rejection that has to be [decided on](Self::rejected), with the time until the breaker is half open.
    #[cold]
    pub fn rejection(&mut self) -> Option<(RejectedBy, Option<Duration>)> {
        self.steps(|steps| steps.rejection())
    }

    /// Decides what follows a rejection.
    #[cold]
    pub fn rejected<R: Reporter>(&mut self, failure: Failure<'_>, mut reporter: R) {
        self.steps(|steps| steps.rejected(failure, &mut reporter));
    }

    /// The reason that no attempt begins, once.
    #[inline]
    pub fn stop(&mut self) -> Option<Stop> {
        match self.state.next {
            Next::Over(_) => self.state.take_stop(),
            _ => None,
        }
    }

    /// That error, unless an earlier step has ended the call.
    #[inline]
    pub fn unless_stopped<E>(&mut self, error: Option<E>) -> Option<E> {
        error.filter(|_| !matches!(self.state.next, Next::Over(_)))
    }

    /// The outcome of a hook, which ends the call if it is an error.
    pub fn hooked(&mut self, outcome: impl HookOutcome) {
        let cause = outcome.cause();
        self.steps(|steps| steps.hooked(cause));
    }

    /// The server answered with a value, which may yet be rejected.
    #[inline]
    pub fn answered<R: Reporter>(&mut self, mut reporter: R) {
        if !self.protections.are_none() {
            self.steps(|steps| steps.answered(&mut reporter));
        }
    }

    /// The value is taken.
    #[inline]
    pub fn succeeded<R: Reporter>(&mut self, mut reporter: R) {
        if !self.is_bare(&reporter) || self.state.past.is_some() {
            self.steps(|steps| steps.succeeded(&mut reporter));
        }
    }

    /// The server answered with a value that is taken.
    #[inline]
    pub fn ok<R: Reporter>(&mut self, mut reporter: R) {
        if !self.is_bare(&reporter) || self.state.past.is_some() {
            self.steps(|steps| steps.ok(&mut reporter));
        }
    }

    /// The attempt failed. Returns the pause before the next one, which [`waits`](Self::waits) asks for, or the reason
    /// that there is none.
    #[cold]
    pub fn failed<R: Reporter>(&mut self, failure: Failure<'_>, mut reporter: R) -> Decision {
        self.steps(|steps| steps.failed(failure, &mut reporter))
    }

    /// The call ends before an attempt, with that error.
    #[cold]
    pub fn stopped<R: Reporter>(
        &mut self,
        stop: &Stop,
        error: &dyn fmt::Display,
        ending: Ending,
        mut reporter: R,
    ) {
        self.steps(|steps| steps.stopped(stop, error, Values::Taken, ending, &mut reporter));
    }

    /// The pause before a correction is over. Returns the reason that the correction does not begin, if it does not.
    #[cold]
    pub fn begin_correction(&mut self) -> Option<Reason> {
        if let Some(stop) = self.stop() {
            return Some(stop.reason());
        }
        self.state.is_paid = false;
        self.state.next = Next::Begun;
        None
    }

    /// The call ends before a correction, or because it failed, with that error.
    #[cold]
    pub fn correction_stopped<R: Reporter>(
        &mut self,
        reason: Reason,
        error: &dyn fmt::Display,
        ending: Ending,
        mut reporter: R,
    ) {
        let (stop, values) = (Stop::because(reason), Values::Corrected);
        self.steps(|steps| steps.stopped(&stop, error, values, ending, &mut reporter));
    }

    /// Another attempt may begin while one is slow. Returns its number if it does.
    #[cold]
    pub fn hedge<R: Reporter>(
        &mut self,
        slow: Failure<'_>,
        delay: Duration,
        pushback: Pushback,
        mut reporter: R,
    ) -> Option<u32> {
        self.steps(|steps| steps.hedge(slow, delay, pushback, &mut reporter))
    }

    /// The attempt with that number failed while others run. Returns true if these go on.
    #[cold]
    pub fn hedge_failed<R: Reporter>(
        &mut self,
        failure: Failure<'_>,
        number: u32,
        pushback: &mut Pushback,
        mut reporter: R,
    ) -> bool {
        self.steps(|steps| steps.hedge_failed(failure, number, pushback, &mut reporter))
    }

    /// Of the attempts that ran at the same time, the one with that number ended last, or with a value. All others were
    /// dropped.
    #[inline]
    pub fn hedges_ended(&mut self, number: u32, is_value: bool) {
        if self.state.past.as_ref().is_some_and(|past| past.first != 0) {
            self.steps(|steps| steps.hedges_ended(number, is_value));
        }
    }

    /// The value is taken, and the budget was credited before.
    #[inline]
    pub fn report_success<R: Reporter>(&mut self, mut reporter: R) {
        self.steps(|steps| steps.report_success_if_any(&mut reporter));
    }

    /// The call is aborted.
    #[cold]
    pub fn aborted<R: Reporter>(&mut self, mut reporter: R) {
        self.steps(|steps| steps.aborted(&mut reporter));
    }

    /// The fallback ended. `show` passes on the text of its error.
    #[cold]
    pub fn fell_back<V, E, R: Reporter>(
        &mut self,
        attempts: u32,
        outcome: &Result<V, E>,
        show: impl FnOnce(&E, &mut dyn FnMut(&dyn fmt::Display)),
        mut reporter: R,
    ) {
        self.steps(|steps| match outcome {
            Ok(_) => steps.fell_back(attempts, Ok(()), &mut reporter),
            Err(error) => show(error, &mut |shown| {
                steps.fell_back(attempts, Err(shown), &mut reporter);
            }),
        });
    }

    /// Retries are counted from 0 again, because the attempt made progress for that long.
    pub fn restart(&mut self, lasted: Duration) {
        self.steps(|steps| steps.restart(lasted));
    }

    /// Credits the budget for a success after which the call goes on.
    pub fn credit(&mut self) {
        self.steps(|steps| {
            steps.credit();
        });
    }
}

/// Steps of batches and plans.
#[cfg(any(feature = "batch", feature = "plan"))]
impl<P: Protects, T> Driver<P, T> {
    /// Goes on as that call, before its next attempt.
    pub(crate) fn set_call(&mut self, call: Call) {
        self.state.past().call = call;
        self.state.next = Next::Enter;
    }

    /// Takes the attempt as far as it gets without a wait. Returns true if it has to wait, or what keeps it from beginning.
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

    /// The last retry followed a failure of that kind, if the budget pays for it.
    pub(crate) fn set_followed(&mut self, kind: Option<Kind>) {
        self.state.past().call.last_retry_kind = kind;
    }

    /// The end of a pause that begins now. `None` if that is further than a clock reaches.
    pub(crate) fn pause_end(&mut self) -> Option<Moment> {
        let pause = self.call().last_delay();
        self.now().checked_add(pause)
    }

    /// Reports a failure to breaker and limiter. What follows is decided with others.
    #[cfg(feature = "batch")]
    pub(crate) fn record_failure<R: Reporter>(&mut self, failure: &Failure<'_>, mut reporter: R) {
        self.steps(|steps| steps.record_failure(failure, None, &mut reporter));
    }

    /// Another attempt was decided on with others, as that call. It is paid for if `is_paid`.
    pub(crate) fn decided(&mut self, call: Call, is_paid: bool) {
        self.set_call(call);
        self.state.is_paid = is_paid && self.protections.budget().is_some();
    }

    /// Credits the budget for a success, which is not reported.
    pub(crate) fn credit_success(&mut self) {
        self.steps(|steps| {
            steps.credit_success();
        });
    }

    /// Gives back all that the attempt holds, because another one counts for it or it does not begin.
    pub(crate) fn release(&mut self) {
        self.steps(|steps| {
            let breaker = steps.shared.breaker();
            steps
                .state
                .held
                .breaker
                .leave(breaker, AttemptOutcome::Ignored);
            steps.give_back();
        });
    }
}

/// Steps of a subtask.
#[cfg(feature = "plan")]
impl<P: Protects, T> Driver<P, T> {
    /// Reports a failure to breaker, limiter and budget. What follows is decided with others.
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

/// Steps of a batch: a call, which waits for its turn, and its items.
#[cfg(feature = "batch")]
impl<P: Protects, T> Driver<P, T> {
    /// The call has that many items, which pass the breaker by themselves.
    pub(crate) fn set_items(&mut self, items: usize) {
        self.state.cost = u32::try_from(items).unwrap_or(u32::MAX);
        self.state.is_batch = true;
    }

    /// The call begins with its turn, which no longer goes back as if no request had been sent. The first of its round is
    /// reported.
    pub(crate) fn begin_batch<R: Reporter>(&mut self, is_first: bool, mut reporter: R) {
        self.state.held.limiter.begin();
        if is_first && reporter.is_observed() {
            self.steps(|steps| steps.report_started(&mut reporter));
        }
    }

    /// The item begins, unless the breaker rejects it.
    pub(crate) fn begin_item<R: Reporter>(&mut self, mut reporter: R) -> Result<(), RejectedBy> {
        self.steps(|steps| steps.pass(&mut reporter))
    }

    /// The call does not begin, because its items were rejected.
    pub(crate) fn reject(&mut self, by: RejectedBy) {
        self.steps(|steps| steps.reject(by));
    }

    /// Counts at least as many rejections as the other: the call and its items are rejected together.
    pub(crate) fn share_rejections(&mut self, other: &Self) {
        let Some(other) = &other.state.past else {
            return;
        };
        if other.rejections != Rejections::new() {
            let own = &mut self.state.past().rejections;
            *own = other.rejections.max(*own);
        }
    }

    /// Pauses on this thread until that moment, unless that cancels it.
    pub(crate) fn pause_until(&mut self, end: Option<Moment>, cancel: &dyn Cancel)
    where
        T: BlockingTimer,
    {
        let left = end.map_or(Duration::MAX, |end| end.since(self.now()));
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

/// Steps of what the attribute expands to.
impl<P: Protects, T> Driver<P, T> {
    /// Begins under that policy: its `max` is reported before any failure.
    pub fn begin_under(&mut self, policy: &Policy) {
        self.set_max(policy.retries_allowed());
    }

    /// What a hook sees: that error and the attempt that follows, unless an earlier step has ended the call.
    pub fn hook_on<E>(&mut self, error: Option<E>) -> Option<(E, NextAttempt)> {
        Some((self.unless_stopped(error)?, self.next_attempt()))
    }
}

impl<P: Protects, T> Drop for Driver<P, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.protections.are_none() && self.state.holds() {
            self.steps(|steps| {
                steps.give_back();
            });
        }
    }
}
