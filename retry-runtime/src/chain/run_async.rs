//! The loop of an async call.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::future::Future;
use core::pin::{Pin, pin};

use retry_classify::TimedOut;

use crate::call::attempt::Attempt;
use crate::call::attempted::attempt_within;
use crate::call::protections::Protects;
use crate::call::stop::HookOutcome;
use crate::chain::attempt::{Attempted, Attempting};
use crate::chain::context::Observes;
use crate::chain::ends::Ends;
use crate::chain::hooks::{FallbackOutcome, FallsBack, Hook, Hooks, Until};
use crate::chain::kept::{Keep, Kept};
use crate::chain::on_error::OnError;
use crate::chain::run::{End, Run};
use crate::chain::span::Within;
use crate::observe::Reason;
use crate::policy::Policy;
use crate::time::{Timer, abortable, is_cancelled, sleep_out};

/// Calls the operation until it succeeds or the policy gives up.
///
/// Written as one future, because each nested future would store the policy and the closures again. An `async` block
/// and not an `async fn`, which stores its arguments twice. Waits and hooks are boxed, because only calls that don't
/// succeed at once need space for them. `lends` is true if the operation receives the history.
#[expect(clippy::manual_async_fn, reason = "see above")]
#[inline]
pub(super) fn run<M: Keep, Fut: Future<Output = Result<T, E>>, T, E>(
    mut run: Run<'_, impl Protects, impl Timer, impl Observes, impl Borrow<Policy>>,
    cancelled: impl Future<Output = ()>,
    mut on: impl OnError<E>,
    mut hooks: Hooks<
        impl Until<T>,
        impl Hook<E, Value: Future<Output: HookOutcome>>,
        impl Hook<E, Value: Future<Output: HookOutcome>>,
        impl FallsBack<E, Value: Future<Output: FallbackOutcome<T, E>>>,
        impl Sized,
    >,
    (ends, lends): (impl Fn() -> Ends<E>, bool),
    mut operation: impl FnMut(Option<&Arc<Attempt<E>>>) -> Fut,
) -> impl Future<Output = Result<T, E>> {
    async move {
        let mut cancelled = pin!(cancelled);
        let mut room = run.start::<M, T, E>(lends, Timer::clock);
        run.driver.timer().expect(|| run.context.name());
        let aborts = ends().aborted.is_some();
        let end = 'call: loop {
            if aborts && is_cancelled(cancelled.as_mut()).await {
                break End::Aborted;
            }
            while run.driver.waits(run.context.reporter()) {
                if Box::pin(run.wait(cancelled.as_mut(), aborts)).await {
                    break 'call End::Aborted;
                }
            }
            if let Some(stop) = run.driver.stop() {
                break run.stopped(&stop, &on, M::kept(&mut room), ends().rejected);
            }
            let ended = {
                let attempt = run.begin_attempt(M::kept(&mut room), &mut operation);
                let attempt = pin!(run.attempt(attempt, cancelled.as_mut(), aborts));
                attempt_within(attempt, run.context.policy(), || run.context.name().into()).await
            };
            // The error is dropped before the pause, so that it need not be `Send`.
            let (until, kept) = (&mut hooks.until, M::kept(&mut room));
            match run.ended(ended, &mut on, until, kept, &ends()) {
                None => {}
                Some(End::With(outcome)) => return outcome,
                Some(end) => break end,
            }
            let between = run.between::<M, T, E>(cancelled.as_mut(), aborts, &mut hooks, &mut room);
            if Box::pin(between).await {
                break End::Aborted;
            }
        };
        // This error is dropped here, too.
        let (kept, fallback) = (M::kept(&mut room), hooks.fallback);
        let (fallen, attempts) = match run.fall_back(end, &ends(), kept, fallback, Timer::clock) {
            Ok(fallen) => fallen,
            Err(outcome) => return outcome,
        };
        match Box::pin(unless_aborted(cancelled.as_mut(), aborts, fallen)).await {
            Some(fallen) => run.fell_back(fallen.into_result(), attempts, &on),
            None => run.end_aborted(&ends()),
        }
    }
}

impl<P: Protects, W: Timer, O: Observes, Q: Borrow<Policy>> Run<'_, P, W, O, Q> {
    /// Starts the attempt, in its span.
    // Separate from the loop, whose future would otherwise contain the history, and be `Send` only if the error is.
    #[inline]
    fn begin_attempt<T, E, F>(
        &mut self,
        kept: Option<&mut Kept<T, E>>,
        operation: impl FnOnce(Option<&Arc<Attempt<E>>>) -> F,
    ) -> Within<F> {
        let history = self.begin(kept, Timer::clock);
        self.span_of_attempt().within(|| operation(history))
    }

    /// The attempt, with its time limit and abort.
    #[inline]
    fn attempt<'c, F, C>(
        &self,
        attempt: F,
        cancelled: Pin<&'c mut C>,
        aborts: bool,
    ) -> Attempting<'c, F, impl Future, C> {
        let limit = self.limit();
        Attempting {
            attempt,
            end: limit.map(|limit| Box::pin(sleep_out(self.driver.timer(), Some(limit)))),
            cancelled,
            aborts,
        }
    }

    /// The end of the call after an attempt, unless another follows.
    #[inline]
    fn ended<T, E>(
        &mut self,
        ended: Attempted<Result<T, E>>,
        on: &mut impl OnError<E>,
        until: &mut impl Until<T>,
        kept: Option<&mut Kept<T, E>>,
        ends: &Ends<E>,
    ) -> Option<End<T, E>> {
        let (error, is_dropped, is_cancelled) = match ended {
            Attempted::Ended(Some(Ok(value)), is_cancelled) => {
                return self.answered(value, until, kept, || is_cancelled);
            }
            Attempted::Ended(Some(Err(error)), is_cancelled) => (error, false, is_cancelled),
            Attempted::Ended(None, is_cancelled) => {
                let timed_out = ends
                    .timed_out
                    .expect("only the key `timeout` drops an attempt");
                let error = timed_out(TimedOut::new(self.limit().unwrap_or_default()));
                (error, true, is_cancelled)
            }
            Attempted::Aborted => return Some(End::Aborted),
        };
        self.failed(error, on, kept, (is_dropped, is_cancelled))
    }

    /// Waits for everything that comes before the attempt. Returns true if the call is aborted.
    async fn wait<C: Future<Output = ()>>(
        &mut self,
        mut cancelled: Pin<&mut C>,
        aborts: bool,
    ) -> bool {
        if let Some(by) = self.driver.rejection() {
            // A `cancel` future that ended a wait has completed, and must not be polled again.
            let is_cancelled =
                Reason::from(by) == Reason::Rejected && is_cancelled(cancelled).await;
            self.rejected(is_cancelled);
            return false;
        }
        self.driver.wait(Box::pin(cancelled.as_mut())).await;
        aborts && is_cancelled(cancelled).await
    }

    /// Runs the hooks, and pauses between them. Returns true if the call is aborted.
    async fn between<M: Keep, T, E>(
        &mut self,
        mut cancelled: Pin<&mut impl Future<Output = ()>>,
        aborts: bool,
        hooks: &mut Hooks<
            impl Sized,
            impl Hook<E, Value: Future<Output: HookOutcome>>,
            impl Hook<E, Value: Future<Output: HookOutcome>>,
            impl Sized,
            impl Sized,
        >,
        room: &mut M::Room<Kept<T, E>>,
    ) -> bool {
        if let Some(hook) = self.hook(&mut hooks.before_pause, M::kept(room)) {
            match unless_aborted(cancelled.as_mut(), aborts, hook).await {
                Some(outcome) => self.driver.hooked(outcome),
                None => return true,
            }
        }
        while self.driver.pauses() {
            if self.wait(cancelled.as_mut(), aborts).await {
                return true;
            }
        }
        if let Some(hook) = self.hook(&mut hooks.before_retry, M::kept(room)) {
            match unless_aborted(cancelled, aborts, hook).await {
                Some(outcome) => self.driver.hooked(outcome),
                None => return true,
            }
        }
        false
    }
}

/// Awaits something other than an attempt. Returns `None` once the call is aborted.
async fn unless_aborted<F: Future>(
    cancelled: Pin<&mut impl Future<Output = ()>>,
    aborts: bool,
    future: F,
) -> Option<F::Output> {
    if aborts {
        abortable(Box::pin(future).as_mut(), cancelled).await
    } else {
        Some(future.await)
    }
}
