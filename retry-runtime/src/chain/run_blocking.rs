//! The loop of a blocking call.

use crate::call::attempted;
use crate::call::hook::HookOutcome;
use crate::call::protections::Rejects;
use crate::chain::abort::Aborts;
use crate::chain::fallback::{Falls, FallsBackBlocking};
use crate::chain::hook::Hooks;
use crate::chain::keys::{Rejecting, SharedKeys, SingleKeys};
use crate::chain::on_error::OnError;
use crate::chain::operation::{BlockingOutcome, MakesAttempts};
use crate::chain::policy_call::Keyed;
use crate::chain::run::{Outcome, Run, Step, follow};
use crate::chain::span::SpanKey;
use crate::chain::until::UntilKey;
use crate::key::Unnamed;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;

/// Calls until it succeeds or gives up.
pub(super) fn run_blocking<Q, Op, R, T, E>(call: Q, mut operation: Op) -> Result<T, E>
where
    Q: Keyed<On: OnError<E>, Cancel: Cancel + Aborts<E>, Timer: BlockingTimer>,
    Q::Single: SingleKeys<
            Until: UntilKey<T>,
            Timeout = Unnamed,
            Fallback: FallsBackBlocking<T, E>,
            BeforePause: Hooks<E, Returned: HookOutcome>,
            BeforeRetry: Hooks<E, Returned: HookOutcome>,
        >,
    Rejecting<Q::Keys>: Rejects<E>,
    Op: MakesAttempts<E, R>,
    R: BlockingOutcome<T, E>,
{
    let (mut run, cancel, timer, fallback) =
        Run::<Q, Op, Option<Outcome<T, E>>, T, E>::new(call.into_call());
    let spans = run.context.keys.span;
    let span = spans.of_call(|| run.context.name());
    let _entered = <Q::Keys as SharedKeys>::Span::enter(&span);
    run.start(|| timer.now(), || timer.clock());
    let (error, reason, _) = loop {
        let mut has_turn = run.attempts.enter(&mut run.context, 1);
        if let Ok(true) = has_turn {
            let waited = run.attempts.wait_blocking(&timer, run.deadline, &cancel);
            has_turn = run.attempts.waited(&mut run.context, waited).map(|()| true);
        }
        let step = match has_turn.and_then(|_| run.begin()) {
            Err(by) => run.rejected(by, cancel.is_cancelled(), || timer.now()),
            Ok(()) => {
                let outcome = attempted::run!(
                    spans.attempt(run.attempts.call().attempt(), || operation
                        .begin(&run.history)
                        .into_result()),
                    run.outer()
                );
                run.ended(outcome, false, || cancel.is_cancelled(), || timer.now())
            }
        };
        follow!(Some(step));
        if let Some(outcome) = run.before_pause() {
            follow!(run.hooked(outcome));
            follow!(run.outlasts(|| timer.now()));
        }
        let pause = run.attempts.call().last_delay();
        let is_cancelled = timer.sleep_or_cancelled(pause, &cancel);
        follow!(run.resumed(is_cancelled, || timer.now(), || timer.clock()));
        if let Some(outcome) = run.before_retry() {
            follow!(run.hooked(outcome));
            follow!(run.resumed(false, || timer.now(), || timer.clock()));
        }
    };
    let gave_up = |error| run.take_gave_up(error, reason, || timer.clock());
    let outcome = fallback.fall(error, gave_up)?;
    run.fell_back(&outcome);
    outcome
}
