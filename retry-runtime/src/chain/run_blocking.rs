//! The loop of a blocking call.

use crate::call::attempted;
use crate::call::guards::Rejects;
use crate::call::hook::HookOutcome;
use crate::chain::abort::Aborts;
use crate::chain::fallback::FallsBackBlocking;
use crate::chain::hook::Hooks;
use crate::chain::keys::{Rejecting, SingleKeys};
use crate::chain::on_error::OnError;
use crate::chain::operation::MakesAttempts;
use crate::chain::policy_call::Keyed;
use crate::chain::run::{Outcome, Run, Step};
use crate::chain::span::SpanKey;
use crate::chain::until::UntilKey;
use crate::key::Unnamed;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;

/// Calls until it succeeds or gives up.
pub(super) fn run_blocking<Q, Op, T, E>(call: Q, mut operation: Op) -> Result<T, E>
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
    Op: MakesAttempts<E, Result<T, E>>,
{
    let (mut run, cancel, timer, fallback) =
        Run::<Q, Op, Op::History, Option<Outcome<T, E>>>::new(call.into_call());
    run.start(|| timer.now(), || timer.clock());
    let (error, reason) = loop {
        let mut has_turn = run.enter();
        if let Ok(true) = has_turn {
            let waited = run.attempts.wait_blocking(&timer, run.deadline, &cancel);
            has_turn = run.attempts.waited(&mut run.context, waited).map(|()| true);
        }
        let step = match has_turn.and_then(|_| run.begin()) {
            Err(by) => run.rejected(by),
            Ok(()) => {
                let spans = run.context.keys.span;
                let outcome = attempted::run!(
                    spans.attempt(run.attempts.call().attempt(), || operation
                        .begin(&run.history)),
                    run.outer()
                );
                run.ended(outcome, false, || cancel.is_cancelled(), || timer.now())
            }
        };
        let step = match step {
            Step::Pause(pause) => {
                let hooked = run.before_pause(pause).and_then(|hook| run.hooked(hook));
                let resumed = || {
                    let is_cancelled = timer.sleep_or_cancelled(pause, &cancel);
                    run.resumed(is_cancelled, || timer.now(), || timer.clock())
                };
                hooked.or_else(resumed).or_else(|| {
                    let outcome = run.before_retry(pause)?;
                    let hooked = run.hooked(outcome);
                    hooked.or_else(|| run.resumed(false, || timer.now(), || timer.clock()))
                })
            }
            end => Some(end),
        };
        match step {
            None | Some(Step::Pause(_)) => {}
            Some(Step::Ends(outcome)) => return outcome,
            Some(Step::GaveUp(error, reason)) => break (error, reason),
        }
    };
    let mut fell_back = false;
    let outcome = fallback.fall(error, |error| {
        fell_back = true;
        run.take_gave_up(error, reason, || timer.clock())
    });
    if fell_back {
        run.fell_back(&outcome);
    }
    outcome
}
