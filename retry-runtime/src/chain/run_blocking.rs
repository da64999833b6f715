//! The loop of a blocking call.

use alloc::sync::Arc;
use core::borrow::Borrow;

use crate::call::attempt::Attempt;
use crate::call::attempted::run_within;
use crate::call::protections::Protects;
use crate::call::stop::HookOutcome;
use crate::chain::context::Observes;
use crate::chain::ends::Ends;
use crate::chain::hooks::{FallbackOutcome, FallsBack, Hook, Hooks, Until};
use crate::chain::kept::Keeps;
use crate::chain::on_error::OnError;
use crate::chain::run::{End, Run};
use crate::chain::span::Span;
use crate::policy::Policy;
use crate::time::{BlockingTimer, Cancel};

/// Calls the operation until it succeeds or the policy gives up.
pub(super) fn run_blocking<T, E>(
    mut run: Run<'_, impl Protects, impl BlockingTimer, impl Observes, impl Borrow<Policy>>,
    cancel: impl Cancel,
    mut on: impl OnError<E>,
    mut hooks: Hooks<
        impl Until<T>,
        impl Hook<E, Value: HookOutcome>,
        impl Hook<E, Value: HookOutcome>,
        impl FallsBack<E, Value: FallbackOutcome<T, E>>,
        impl Sized,
    >,
    (ends, lends): (Ends<E>, bool),
    mut operation: impl FnMut(Option<&Arc<Attempt<E>>>) -> Result<T, E>,
) -> Result<T, E> {
    let span = Span::of_call(run.context.settings.is_spanned, || run.context.name());
    let _entered = span.enter();
    let mut kept = run.start::<Keeps, T, E>(lends, BlockingTimer::clock);
    let end = loop {
        while run.driver.waits(run.context.reporter()) {
            match run.driver.rejection() {
                Some(_) => run.rejected(cancel.is_cancelled()),
                None => run.driver.wait_blocking(&cancel),
            }
        }
        if let Some(stop) = run.driver.stop() {
            break run.stopped(&stop, &on, Some(&mut kept), ends.rejected);
        }
        let outcome = {
            let history = run.begin(Some(&mut kept), BlockingTimer::clock);
            let (span, context) = (run.span_of_attempt(), &run.context);
            let name = || context.name().into();
            span.run(|| run_within(context.policy(), name, || operation(history)))
        };
        let kept_mut = Some(&mut kept);
        let end = match outcome {
            Ok(value) => run.answered(value, &mut hooks.until, kept_mut, || cancel.is_cancelled()),
            Err(error) => run.failed(error, &mut on, kept_mut, (false, cancel.is_cancelled())),
        };
        match end {
            None => {}
            Some(End::With(outcome)) => return outcome,
            Some(end) => break end,
        }
        if let Some(outcome) = run.hook(&mut hooks.before_pause, Some(&mut kept)) {
            run.driver.hooked(outcome);
        }
        while run.driver.pauses() {
            run.driver.wait_blocking(&cancel);
        }
        if let Some(outcome) = run.hook(&mut hooks.before_retry, Some(&mut kept)) {
            run.driver.hooked(outcome);
        }
    };
    let (kept, clock) = (Some(&mut kept), BlockingTimer::clock);
    match run.fall_back(end, &ends, kept, hooks.fallback, clock) {
        Ok((fallen, attempts)) => run.fell_back(fallen.into_result(), attempts, &on),
        Err(outcome) => outcome,
    }
}
