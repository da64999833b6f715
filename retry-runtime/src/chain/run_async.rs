//! The loop of an async call.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::future::Future;
use core::pin::{Pin, pin};

use crate::call::attempt::Attempt;
use crate::call::attempted::attempt_within;
use crate::call::driver::Driver;
use crate::call::hook::HookOutcome;
use crate::chain::abort::{Aborts, Cancellable, unless_aborted};
use crate::chain::fallback::{FallbackOutcome, FallsBack};
use crate::chain::hook::Hooks;
use crate::chain::key::{Key, Room};
use crate::chain::keys::{Ends, SharedKeys, SingleKeys};
use crate::chain::on_error::OnError;
use crate::chain::operation::{MakesAttempts, Operated};
use crate::chain::policy_call::Keyed;
use crate::chain::rejects::Rejects;
use crate::chain::run::{CancelOf, End, Outcome, Rejecting, Run, TimerOf};
use crate::chain::span::Span;
use crate::chain::timeout::TimesOut;
use crate::chain::until::UntilKey;
use crate::observe::reason::Reason;
use crate::time::cancel::{MayAbort, is_cancelled};
use crate::time::pause::OwnWaker;
use crate::time::timer::Timer;

/// Calls until it succeeds or gives up.
///
/// One future around the operation's: each of several nested ones would hold the policy and the closures again. A block
/// instead of an `async fn`, which keeps its arguments twice; for the same reason what it needs is made before it. Waits
/// and hooks are on the heap, as only calls that don't succeed at once need room for them.
#[inline]
pub(super) fn run<Q, Op, Fut, T, E>(
    call: Q,
    mut operation: Op,
) -> impl Future<Output = Result<T, E>>
where
    Q: Keyed<On: OnError<E>, Keys: SharedKeys<Cancel: MayAbort + Aborts<E>, Timer: Timer>>,
    Q::Single: AsyncKeys<T, E>,
    Rejecting<Q>: Rejects<E>,
    Op: MakesAttempts<E, Fut>,
    Fut: Future<Output = Result<T, E>>,
{
    let (mut run, cancel, fallback) =
        Run::<Q, Op, KeptOf<Q, T, E>, T, E>::new(call.into_call(), Driver::new);
    async move {
        let mut cancelled = pin!(cancel.into_cancelled());
        run.start(TimerOf::<Q>::clock);
        run.driver.timer().expect(|| run.context.name());
        let (error, reason) = loop {
            // The error's life ends before the pause, so that it need not be `Send`.
            {
                if CancelOf::<Q>::ABORTS && is_cancelled(cancelled.as_mut(), &OwnWaker.await) {
                    return run.aborted(CancelOf::<Q>::aborted());
                }
                while run.driver.waits(&mut run.context) {
                    if Box::pin(run.wait(cancelled.as_mut())).await {
                        return run.aborted(CancelOf::<Q>::aborted());
                    }
                }
                let ended = match run.driver.stop() {
                    Some(stop) => Some(run.stopped(&stop)),
                    None => {
                        run.begin(TimerOf::<Q>::clock);
                        let span = Span::of_attempt(run.is_spanned, || run.driver.call().attempt());
                        let ((outcome, is_dropped), is_cancelled) = {
                            let cancelled = cancelled.as_mut();
                            let attempt = pin!(run.attempt(&mut operation, span, cancelled));
                            let name = || run.context.name().into();
                            attempt_within(attempt, run.context.policy(), name).await
                        };
                        run.ended(outcome, is_dropped, || is_cancelled)
                    }
                };
                match ended {
                    None => {}
                    Some(End::With(outcome)) => return outcome,
                    Some(End::GaveUp(error, reason)) => break (error, reason),
                }
            }
            if Box::pin(run.between(cancelled.as_mut())).await {
                return run.aborted(CancelOf::<Q>::aborted());
            }
        };
        // Its error's life ends here, too.
        let fallen = {
            let gave_up = |error| run.take_gave_up(error, reason, TimerOf::<Q>::clock);
            fallback.fall(error, gave_up)?
        };
        Box::pin(run.fallen(fallen, cancelled.as_mut())).await
    }
}

/// The keys of a single call that is async.
pub trait AsyncKeys<T, E>:
    Ends
    + SingleKeys<
        Until: UntilKey<T>,
        Timeout: TimesOut<E>,
        Fallback: FallsBack<E, Returned: Future<Output: FallbackOutcome<T, E>>>,
        BeforePause: Hooks<E, Returned: Future<Output: HookOutcome>>,
        BeforeRetry: Hooks<E, Returned: Future<Output: HookOutcome>>,
    >
{
}

impl<T, E, A> AsyncKeys<T, E> for A where
    A: Ends
        + SingleKeys<
            Until: UntilKey<T>,
            Timeout: TimesOut<E>,
            Fallback: FallsBack<E, Returned: Future<Output: FallbackOutcome<T, E>>>,
            BeforePause: Hooks<E, Returned: Future<Output: HookOutcome>>,
            BeforeRetry: Hooks<E, Returned: Future<Output: HookOutcome>>,
        >
{
}

impl<Q, Op, X, T, E> Run<Q, Op, X, T, E>
where
    Q: Keyed<On: OnError<E>, Keys: SharedKeys<Cancel: MayAbort + Aborts<E>, Timer: Timer>>,
    Q::Single: SingleKeys<
            Until: UntilKey<T>,
            BeforePause: Hooks<E, Returned: Future<Output: HookOutcome>>,
            BeforeRetry: Hooks<E, Returned: Future<Output: HookOutcome>>,
        >,
    Rejecting<Q>: Rejects<E>,
    Op: Operated<History: Room<Arc<Attempt<E>>>>,
    X: Room<Outcome<T, E>>,
{
    /// The attempt: its outcome, true if its time was up, and true if the call was cancelled by then.
    #[inline]
    fn attempt<Fut: Future<Output = Result<T, E>>>(
        &self,
        operation: &mut Op,
        span: Span,
        cancelled: Pin<&mut CancelFutureOf<Q>>,
    ) -> impl Future<Output = ((Result<T, E>, bool), bool)>
    where
        Op: MakesAttempts<E, Fut>,
        Q::Single: SingleKeys<Timeout: TimesOut<E>>,
    {
        let limit = self.timeout.limit(self.context.policy().attempt_limit());
        let attempt = span.within(|| operation.begin(&self.history));
        let attempt = TimeoutOf::<Q>::attempt(attempt, self.driver.timer(), limit);
        Cancellable::<_, CancelOf<Q>> { attempt, cancelled }
    }

    /// Waits for what stands before the attempt. Returns true if the call is aborted.
    async fn wait(&mut self, mut cancelled: Pin<&mut CancelFutureOf<Q>>) -> bool {
        if let Some(rejection) = self.driver.rejection() {
            // A `cancel` future that has completed, which ended a wait, must not be polled again.
            let is_cancelled = rejection.0.reason() == Reason::Rejected
                && is_cancelled(cancelled, &OwnWaker.await);
            self.rejected(rejection, is_cancelled);
            return false;
        }
        self.driver.wait(Box::pin(cancelled.as_mut())).await;
        CancelOf::<Q>::ABORTS && is_cancelled(cancelled, &OwnWaker.await)
    }

    /// Awaits the fallback.
    async fn fallen<R: Future<Output: FallbackOutcome<T, E>>>(
        &mut self,
        fallen: R,
        cancelled: Pin<&mut CancelFutureOf<Q>>,
    ) -> Result<T, E> {
        match unless_aborted::<E, CancelOf<Q>, _>(cancelled, fallen).await {
            Some(fallen) => {
                let outcome = fallen.into_result();
                self.fell_back(&outcome);
                outcome
            }
            None => self.aborted(CancelOf::<Q>::aborted()),
        }
    }

    /// Runs the hooks, and pauses between them. Returns true if the call is aborted.
    async fn between(&mut self, mut cancelled: Pin<&mut CancelFutureOf<Q>>) -> bool {
        if let Some(hook) = self.before_pause() {
            let hooked = unless_aborted::<E, CancelOf<Q>, _>(cancelled.as_mut(), hook);
            match hooked.await {
                Some(outcome) => self.driver.hooked(outcome),
                None => return true,
            }
        }
        while self.driver.pauses() {
            if self.wait(cancelled.as_mut()).await {
                return true;
            }
        }
        if let Some(hook) = self.before_retry() {
            let hooked = unless_aborted::<E, CancelOf<Q>, _>(cancelled, hook);
            match hooked.await {
                Some(outcome) => self.driver.hooked(outcome),
                None => return true,
            }
        }
        false
    }
}

/// Room for what the call ends with after a pause, if it may end then or shows it to a hook.
type KeptOf<Q, T, E> = <<Rejecting<Q> as Key>::Or<
    <<CancelOf<Q> as Ends>::Key as Key>::Or<<<Q as Keyed>::Single as Ends>::Key>,
> as Key>::Room<Outcome<T, E>>;
type TimeoutOf<Q> = <<Q as Keyed>::Single as SingleKeys>::Timeout;
type CancelFutureOf<Q> = <CancelOf<Q> as MayAbort>::Future;
