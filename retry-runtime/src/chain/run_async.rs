//! The loop of an async call.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::Poll;
use core::time::Duration;

use crate::call::protections::Protects;
use crate::call::stop::HookOutcome;
use crate::chain::keys::{
    AsyncHook, AsyncHooks, Ends, FallbackOutcome, GivesUp, Hooks, Observes, Room,
};
use crate::chain::on_error::OnError;
use crate::chain::run::{AttemptResult, End, Outcomes, Run};
use crate::chain::span::InSpan;
use crate::history::attempt::Attempt;
use crate::observe::Reason;
use crate::policy::Policy;
use crate::site::attempted::attempt_within;
use crate::time::{Timer, abortable, is_cancelled, sleep_out};

/// Calls the operation until it succeeds or the policy gives up.
///
/// Written as one future, because each nested future would store the policy and the closures again. It is an `async`
/// block, because an `async fn` stores its arguments twice. Waits and hooks are boxed, because most calls never need
/// space for them. `lends` is true if the operation receives the history.
#[inline]
pub(super) fn run<Fut: Future<Output = Result<T, E>>, T, E, X>(
    mut run: Run<'_, impl Protects, impl Timer, impl Observes, impl Borrow<Policy>>,
    cancelled: impl Future<Output = ()>,
    mut on: impl OnError<E>,
    hooks: impl AsyncHooks<T, E>,
    (ends, give_up): (impl Fn() -> Ends<E>, impl GivesUp<E, Error = X>),
    (mut room, lends): (impl Room<Outcomes<T, E>>, bool),
    mut operation: impl FnMut(Option<&Arc<Attempt<E>>>) -> Fut,
) -> impl Future<Output = Result<T, X>> {
    let Hooks(mut until, mut before_pause, mut before_retry, fallback) = hooks.get();
    async move {
        let mut cancelled = pin!(cancelled);
        run.start(room.get_mut(), lends, Timer::clock);
        run.driver.timer().expect(|| run.context.name());
        let end = 'call: loop {
            if run.aborts() && is_cancelled(cancelled.as_mut()).await {
                break End::Aborted;
            }
            while run.driver.waits(run.context.reporter()) {
                if Box::pin(run.wait(cancelled.as_mut())).await {
                    break 'call End::Aborted;
                }
            }
            if let Some(stop) = run.driver.stop() {
                break run.end_stopped(&stop, &on, room.get_mut(), &ends());
            }
            let ended = {
                let attempt = pin!(run.begin_attempt(room.get_mut(), &mut operation));
                let attempt = pin!(run.attempt(attempt, cancelled.as_mut()));
                attempt_within(attempt, run.context.policy(), || run.context.name().into()).await
            };
            // The error is dropped before the pause, so that it need not be `Send`.
            let (handlers, kept) = ((&mut on, &mut until), room.get_mut());
            let ended = ended.map(|(outcome, is_cancelled)| (outcome, move || is_cancelled));
            match run.end_attempt(ended, handlers, kept, &ends()) {
                None => {}
                Some(End::Value(value)) => return Ok(value),
                Some(end) => break end,
            }
            let hooks = (&mut before_pause, &mut before_retry);
            let between = run.run_hooks_and_pause(cancelled.as_mut(), hooks, &mut room);
            if Box::pin(between).await {
                break End::Aborted;
            }
        };
        // The error is dropped before the fallback's await, too.
        let kept = room.get_mut();
        let (replacement, taken) = match run.fall_back(end, &ends(), kept, fallback, Timer::clock) {
            Ok(begun) => begun,
            Err(outcome) => {
                let failed = |failed| run.give_up(failed, room.get_mut(), give_up, Timer::clock);
                return outcome.map_err(failed);
            }
        };
        let outcome = match Box::pin(run.await_or_abort(cancelled.as_mut(), replacement)).await {
            Some(replaced) => run.report_fallback(replaced.into_result(), &taken, &on),
            None => Err(run.end_aborted(&ends())),
        };
        outcome.map_err(|failed| run.give_up(failed, room.get_mut(), give_up, Timer::clock))
    }
}

impl<P: Protects, W: Timer, O: Observes, Q: Borrow<Policy>> Run<'_, P, W, O, Q> {
    /// Starts the attempt, in its span.
    // Separate from the loop, whose future would otherwise contain the history, and be `Send` only if the error is.
    #[inline]
    fn begin_attempt<T, E, F>(
        &mut self,
        kept: Option<&mut Outcomes<T, E>>,
        operation: impl FnOnce(Option<&Arc<Attempt<E>>>) -> F,
    ) -> InSpan<F> {
        let history = self.begin(kept, Timer::clock);
        self.span_of_attempt().within(|| operation(history))
    }

    /// Polls an attempt until it ends, reaches its time limit or is cancelled.
    ///
    /// The cancellation is polled here, because an error that is held across another await must be `Send`.
    #[inline]
    fn attempt<F: Future>(
        &self,
        mut attempt: Pin<&mut F>,
        mut cancelled: Pin<&mut impl Future>,
    ) -> impl Future<Output = AttemptResult<F::Output, bool>> {
        let aborts = self.aborts();
        let limit = self.limit();
        // If no time is left, the attempt is not polled, so nothing is sent. Only this `bool` is kept in the future.
        let has_time = limit != Some(Duration::ZERO);
        let mut end = limit.map(|limit| {
            let timer = self.driver.timer();
            Box::pin(async move {
                sleep_out(timer, Some(limit)).await;
                limit
            })
        });
        poll_fn(move |context| {
            // Polled before the attempt, because the attempt may use up the task's tokio budget for this poll.
            let is_aborted = aborts && cancelled.as_mut().poll(context).is_ready();
            let polled = has_time.then(|| attempt.as_mut().poll(context));
            let outcome = match polled {
                Some(Poll::Ready(outcome)) => Ok(outcome),
                _ => match end.as_mut().map(|end| end.as_mut().poll(context)) {
                    Some(Poll::Ready(limit)) => Err(limit),
                    _ if is_aborted => return Poll::Ready(None),
                    _ => return Poll::Pending,
                },
            };
            let is_cancelled = !aborts && cancelled.as_mut().poll(context).is_ready();
            Poll::Ready(Some((outcome, is_cancelled)))
        })
    }

    /// Waits for everything that comes before the attempt. Returns true if the call is aborted.
    async fn wait(&mut self, mut cancelled: Pin<&mut impl Future<Output = ()>>) -> bool {
        if let Some(by) = self.driver.rejection() {
            // A `cancel` future that ended a wait has completed, and must not be polled again.
            let is_cancelled =
                Reason::from(by) == Reason::Rejected && is_cancelled(cancelled).await;
            self.decide_rejection(is_cancelled);
            return false;
        }
        self.driver.wait(Box::pin(cancelled.as_mut())).await;
        self.aborts() && is_cancelled(cancelled).await
    }

    /// Runs the hooks, and pauses between them. Returns true if the call is aborted.
    async fn run_hooks_and_pause<T, E>(
        &mut self,
        mut cancelled: Pin<&mut impl Future<Output = ()>>,
        (before_pause, before_retry): (&mut impl AsyncHook<E>, &mut impl AsyncHook<E>),
        room: &mut impl Room<Outcomes<T, E>>,
    ) -> bool {
        let hook = self.hook(before_pause, room.get_mut());
        if self.run_hook(hook, cancelled.as_mut()).await {
            return true;
        }
        while self.driver.pauses() {
            if self.wait(cancelled.as_mut()).await {
                return true;
            }
        }
        let hook = self.hook(before_retry, room.get_mut());
        self.run_hook(hook, cancelled).await
    }

    /// Runs the hook, if there is one. Returns true if the call is aborted.
    async fn run_hook(
        &mut self,
        hook: Option<impl Future<Output: HookOutcome>>,
        cancelled: Pin<&mut impl Future<Output = ()>>,
    ) -> bool {
        let Some(hook) = hook else {
            return false;
        };
        let outcome = self.await_or_abort(cancelled, hook).await;
        outcome.map(|outcome| self.driver.hooked(outcome)).is_none()
    }

    /// Awaits a future that is not an attempt. Returns `None` if the call is aborted.
    async fn await_or_abort<F: Future>(
        &self,
        cancelled: Pin<&mut impl Future<Output = ()>>,
        future: F,
    ) -> Option<F::Output> {
        if self.aborts() {
            abortable(Box::pin(future).as_mut(), cancelled).await
        } else {
            Some(future.await)
        }
    }
}
