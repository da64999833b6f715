//! The loop of an async call.

use alloc::boxed::Box;
use core::future::Future;
use core::pin::pin;

use crate::call::attempted;
use crate::call::attempts::Shared;
use crate::call::hook::HookOutcome;
use crate::call::protections::Rejects;
use crate::chain::abort::{Aborts, Cancellable};
use crate::chain::fallback::{Falls, FallsBack};
use crate::chain::hook::Hooks;
use crate::chain::keys::{Ending, HooksOf, Rejecting, SharedKeys, SingleKeys};
use crate::chain::on_error::OnError;
use crate::chain::operation::MakesAttempts;
use crate::chain::policy_call::Keyed;
use crate::chain::run::{Outcome, Run, Step, follow};
use crate::chain::span::SpanKey;
use crate::chain::timeout::TimesOut;
use crate::chain::until::UntilKey;
use crate::classify::rejected::RejectedBy;
use crate::key::Key;
use crate::observe::reason::Reason;
use crate::time::cancel::{MayAbort, abortable, is_cancelled};
use crate::time::pause::{OwnWaker, pause_or_cancelled};
use crate::time::timer::Timer;

/// Awaits something beside the attempts, or returns once the call is aborted.
macro_rules! unless_aborted {
    ($future:ident, $call:ty, $run:ident, $cancelled:ident, $has_begun:expr) => {
        if <$call as Keyed>::Cancel::ABORTS {
            match abortable(pin!($future), $cancelled.as_mut()).await {
                Some(output) => output,
                None => return $run.aborted(<$call as Keyed>::Cancel::aborted(), $has_begun),
            }
        } else {
            $future.await
        }
    };
}

/// Calls until it succeeds or gives up.
///
/// One future around the operation's: each of several nested ones would hold the policy and the closures again. A block
/// instead of an `async fn`, which keeps its arguments twice; for the same reason what it needs is made before it. Waits
/// and pauses are on the heap, as only calls that don't succeed at once need room for them.
#[inline]
pub(super) fn run<Q, Op, Fut, Fallen, T, E>(
    call: Q,
    mut operation: Op,
) -> impl Future<Output = Result<T, E>>
where
    Q: Keyed<On: OnError<E>, Cancel: MayAbort + Aborts<E>, Timer: Timer>,
    Q::Single: SingleKeys<
            Until: UntilKey<T>,
            Timeout: TimesOut<E>,
            Fallback: FallsBack<T, E, Fallen>,
            BeforePause: Hooks<E, Returned: Future<Output: HookOutcome>>,
            BeforeRetry: Hooks<E, Returned: Future<Output: HookOutcome>>,
        >,
    Rejecting<Q::Keys>: Rejects<E>,
    Op: MakesAttempts<E, Fut>,
    Fut: Future<Output = Result<T, E>>,
    Fallen: Future<Output = Result<T, E>>,
{
    let (mut run, cancel, timer, fallback) =
        Run::<Q, Op, KeptOf<Q, T, E>, T, E>::new(call.into_call());
    async move {
        let mut cancelled = pin!(cancel.into_cancelled());
        run.start(|| timer.now(), || timer.clock());
        timer.expect(|| run.context.name());
        let (error, reason, has_begun) = loop {
            // The error's life ends before the pause, so that it need not be `Send`.
            {
                let is_aborted =
                    Q::Cancel::ABORTS && is_cancelled(cancelled.as_mut(), &OwnWaker.await);
                let mut has_turn = if is_aborted {
                    Err(RejectedBy::Cancelled)
                } else {
                    run.attempts.enter(&mut run.context, 1)
                };
                if let Ok(true) = has_turn {
                    let deadline = run.deadline;
                    let wait = run.attempts.wait(&timer, deadline, cancelled.as_mut());
                    let waited = Box::pin(wait).await;
                    has_turn = run.attempts.waited(&mut run.context, waited).map(|()| true);
                }
                let step = match has_turn.and_then(|_| run.begin()) {
                    Err(by) => {
                        // A `cancel` future that has completed, which ended a wait, must not be polled again.
                        let is_cancelled = Rejecting::<Q::Keys>::IS_NAMED
                            && by.reason() == Reason::Rejected
                            && is_cancelled(cancelled.as_mut(), &OwnWaker.await);
                        run.rejected(by, is_cancelled, || timer.now())
                    }
                    Ok(()) => {
                        let limit = run.context.policy().attempt_limit();
                        let number = run.attempts.call().attempt();
                        let span = run.context.keys.span.of_attempt(number);
                        let attempt = SpanOf::<Q>::within(span, || operation.begin(&run.history));
                        let limit = TimeoutOf::<Q>::limit(limit);
                        let attempt = TimeoutOf::<Q>::attempt(attempt, &timer, limit);
                        let cancelled = cancelled.as_mut();
                        let ((outcome, is_dropped), is_cancelled) = attempted::awaited!(
                            Cancellable::<_, Q::Cancel> { attempt, cancelled },
                            run.outer()
                        );
                        run.ended(outcome, is_dropped, || is_cancelled, || timer.now())
                    }
                };
                follow!(Some(step));
            }
            if let Some(hook) = run.before_pause() {
                let outcome = unless_aborted!(hook, Q, run, cancelled, false);
                follow!(run.hooked(outcome));
                follow!(run.outlasts(|| timer.now()));
            }
            let is_cancelled = {
                // Not in a local, which each future would keep over the pause.
                let mut sleep = Box::pin(timer.sleep(run.attempts.call().last_delay()));
                pause_or_cancelled(cancelled.as_mut(), sleep.as_mut()).await
            };
            follow!(run.resumed(is_cancelled, || timer.now(), || timer.clock()));
            if let Some(hook) = run.before_retry() {
                let outcome = unless_aborted!(hook, Q, run, cancelled, false);
                follow!(run.hooked(outcome));
                follow!(run.resumed(false, || timer.now(), || timer.clock()));
            }
        };
        // Its error's life ends here, too.
        let fallen = {
            let gave_up = |error| run.take_gave_up(error, reason, || timer.clock());
            fallback.fall(error, gave_up)?
        };
        let outcome = unless_aborted!(fallen, Q, run, cancelled, has_begun);
        run.fell_back(&outcome);
        outcome
    }
}

type KeptOf<Q, T, E> = <<Ending<<Q as Keyed>::Cancel, <Q as Keyed>::Keys> as Key>::Or<
    HooksOf<<Q as Keyed>::Single>,
> as Key>::Room<Outcome<T, E>>;
type SpanOf<Q> = <<Q as Keyed>::Keys as SharedKeys>::Span;
type TimeoutOf<Q> = <<Q as Keyed>::Single as SingleKeys>::Timeout;
