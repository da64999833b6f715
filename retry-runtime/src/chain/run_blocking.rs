//! The loop of a blocking call.

use crate::call::attempted::run_within;
use crate::call::driver::Driver;
use crate::call::hook::HookOutcome;
use crate::chain::abort::Aborts;
use crate::chain::fallback::{FallbackOutcome, FallsBack};
use crate::chain::hook::Hooks;
use crate::chain::keys::{SharedKeys, SingleKeys};
use crate::chain::on_error::OnError;
use crate::chain::operation::{BlockingOutcome, MakesAttempts};
use crate::chain::policy_call::Keyed;
use crate::chain::rejects::Rejects;
use crate::chain::run::{End, Outcome, Rejecting, Run, TimerOf};
use crate::chain::span::Span;
use crate::chain::until::UntilKey;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;

/// Calls until it succeeds or gives up.
pub(super) fn run_blocking<Q, Op, R, T, E>(call: Q, mut operation: Op) -> Result<T, E>
where
    Q: Keyed<On: OnError<E>, Keys: SharedKeys<Cancel: Cancel + Aborts<E>, Timer: BlockingTimer>>,
    Q::Single: BlockingKeys<T, E>,
    Rejecting<Q>: Rejects<E>,
    Op: MakesAttempts<E, R>,
    R: BlockingOutcome<T, E>,
{
    let (mut run, cancel, fallback) =
        Run::<Q, Op, Option<Outcome<T, E>>, T, E>::new(call.into_call(), Driver::blocking);
    let span = Span::of_call(run.is_spanned, || run.context.name());
    let _entered = span.enter();
    run.start(TimerOf::<Q>::clock);
    let (error, reason) = loop {
        while run.driver.waits(&mut run.context) {
            match run.driver.rejection() {
                Some(rejection) => run.rejected(rejection, cancel.is_cancelled()),
                None => run.driver.wait_blocking(&cancel),
            }
        }
        let ended = match run.driver.stop() {
            Some(stop) => Some(run.stopped(&stop)),
            None => {
                run.begin(TimerOf::<Q>::clock);
                let span = Span::of_attempt(run.is_spanned, || run.driver.call().attempt());
                let attempt = || operation.begin(&run.history).into_result();
                let context = &run.context;
                let outcome =
                    span.run(|| run_within(context.policy(), || context.name().into(), attempt));
                run.ended(outcome, false, || cancel.is_cancelled())
            }
        };
        match ended {
            None => {}
            Some(End::With(outcome)) => return outcome,
            Some(End::GaveUp(error, reason)) => break (error, reason),
        }
        if let Some(outcome) = run.before_pause() {
            run.driver.hooked(outcome);
        }
        while run.driver.pauses() {
            run.driver.wait_blocking(&cancel);
        }
        if let Some(outcome) = run.before_retry() {
            run.driver.hooked(outcome);
        }
    };
    let gave_up = |error| run.take_gave_up(error, reason, TimerOf::<Q>::clock);
    let outcome = fallback.fall(error, gave_up)?.into_result();
    run.fell_back(&outcome);
    outcome
}

/// The keys of a single call that blocks.
pub trait BlockingKeys<T, E>:
    SingleKeys<
        Until: UntilKey<T>,
        Timeout = (),
        Fallback: FallsBack<E, Returned: FallbackOutcome<T, E>>,
        BeforePause: Hooks<E, Returned: HookOutcome>,
        BeforeRetry: Hooks<E, Returned: HookOutcome>,
    >
{
}

impl<T, E, A> BlockingKeys<T, E> for A where
    A: SingleKeys<
            Until: UntilKey<T>,
            Timeout = (),
            Fallback: FallsBack<E, Returned: FallbackOutcome<T, E>>,
            BeforePause: Hooks<E, Returned: HookOutcome>,
            BeforeRetry: Hooks<E, Returned: HookOutcome>,
        >
{
}
