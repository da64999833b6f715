//! The steps between a chain's attempts that async and blocking calls share, and the loop of a blocking call.

use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::time::Duration;

use retry_classify::{Cancelled, TimedOut, Verdict};

use crate::call::decide::Decision;
use crate::call::driver::{Driver, time_left};
use crate::call::failure::{Ending, Failure, REJECTED_VALUE};
use crate::call::protections::Protects;
use crate::call::stop::Stop;
use crate::chain::context::Context;
use crate::chain::keys::{
    AttemptLimit, BlockingHooks, Ends, FallbackOutcome, FallsBack, GivesUp, Hook, Hooks, Observes,
    Until,
};
use crate::chain::on_error::{Described, OnError};
use crate::chain::span::Span;
use crate::history::attempt::Attempt;
use crate::history::gave_up::Taken;
use crate::observe::reason::Reason;
use crate::observe::warnings::ignores_timeout;
use crate::policy::Policy;
use crate::site::attempted::run_within;
use crate::time::{BlockingTimer, Cancel, Clock};

/// A chain's call in flight, without the parts that depend on the types of outcomes.
pub(super) struct Run<'a, P: Protects, W, O, Q> {
    pub(super) driver: Driver<P, W>,
    pub(super) context: Context<'a, O, Q>,
}

/// The outcomes of earlier attempts.
pub(super) struct Outcomes<T, E> {
    /// The outcome of the call if no attempt follows. If there is a history, the history contains the error instead.
    last: Option<Result<T, Option<E>>>,
    /// All errors, for the attempts, `fallback` and `give_up`.
    pub(super) history: Option<Arc<Attempt<E>>>,
}

impl<T, E> Default for Outcomes<T, E> {
    fn default() -> Self {
        Self {
            last: None,
            history: None,
        }
    }
}

impl<T, E> Outcomes<T, E> {
    /// The history. If an attempt still holds a reference to it, that attempt keeps the errors so far, and the call
    /// goes on without them.
    pub(super) fn history(&mut self) -> Option<&mut Attempt<E>> {
        let attempt = self.history.as_mut()?;
        if Arc::get_mut(attempt).is_none() {
            *attempt = Arc::new(attempt.without_errors());
        }
        Arc::get_mut(attempt)
    }

    /// Keeps a value that was not accepted.
    pub(super) fn keep_value(&mut self, value: T) {
        if let Some(history) = self.history() {
            history.interrupted();
        }
        self.last = Some(Ok(value));
    }

    /// Keeps the error of an attempt, and the pause before the next one.
    pub(super) fn keep_error(&mut self, error: E, pause: Duration) {
        self.last = Some(Err(match self.history() {
            Some(history) => {
                history.failed(error);
                history.paused(pause);
                None
            }
            None => Some(error),
        }));
    }

    /// The error of the last attempt, if it failed.
    pub(super) fn error(&mut self) -> Option<&E> {
        match &self.last {
            Some(Err(Some(error))) => Some(error),
            Some(Err(None)) => self.history.as_ref()?.last_error(),
            Some(Ok(_)) | None => None,
        }
    }

    /// The outcome of the last attempt.
    pub(super) fn take(&mut self) -> Option<Result<T, E>> {
        match self.last.take()? {
            Ok(value) => Some(Ok(value)),
            Err(Some(error)) => Some(Err(error)),
            Err(None) => self.history()?.take_last_failure().map(Err),
        }
    }
}

/// The end of an attempt: its outcome, or the time limit that was reached, and true if the call is cancelled. `None` if
/// the call was aborted.
pub(super) type AttemptResult<V, C> = Option<(Result<V, Duration>, C)>;

/// The error of a call that gave up, and the reason.
type Failed<E> = (E, Reason);

/// The end of a call.
pub(super) enum End<T, E> {
    Value(T),
    /// The call was aborted: the key `abort`.
    Aborted,
    /// The call gave up for this reason, unless there is a fallback.
    GaveUp(E, Reason),
}

impl<P: Protects, W, O: Observes, Q: Borrow<Policy>> Run<'_, P, W, O, Q> {
    /// Starts the call. Stores a history in `kept` if the attempts or the end of the call need one.
    #[inline]
    pub(super) fn start<T, E>(
        &mut self,
        kept: Option<&mut Outcomes<T, E>>,
        lends: bool,
        clock: impl FnOnce(&W) -> Clock,
    ) {
        let has_history = lends || self.context.settings.ending != Ending::Error;
        if let Some(kept) = kept.filter(|_| has_history) {
            let first = Attempt::before_first(clock(self.driver.timer()), ());
            kept.history = Some(Arc::new(first));
        }
        let is_observed = self.context.is_observed();
        let (policy, limit) = (self.context.policy(), self.context.settings.limit);
        let drops = limit != AttemptLimit::None;
        let is_own = drops && limit != AttemptLimit::Total;
        let (attempt, total) = (policy.attempt_limit(), policy.total_limit());
        if attempt.is_some() && !is_own || total.is_some() && !drops {
            ignores_timeout(self.context.name());
        }
        self.driver.set_deadline(policy.time_limit());
        self.driver.set_total(total.filter(|_| drops));
        // Other calls need `max` only after a failure, which provides it.
        if has_history || is_observed || !self.driver.protections().are_none() {
            self.driver.set_max(policy.retries_allowed());
        }
        let protections = self.driver.protections().refs();
        if protections.breaker.is_some() || protections.limiter.is_some() {
            self.driver.retry_rejections();
        }
    }

    /// Decides what follows a rejection.
    #[cold]
    pub(super) fn decide_rejection(&mut self, is_cancelled: bool) {
        let (site, reporter) = self.context.parts();
        self.driver.rejected(&site, is_cancelled, None, reporter);
    }

    /// Starts the attempt. Returns the history for it, if there is one.
    #[inline]
    pub(super) fn begin<'k, T, E>(
        &mut self,
        kept: Option<&'k mut Outcomes<T, E>>,
        clock: impl FnOnce(&W) -> Clock,
    ) -> Option<&'k Arc<Attempt<E>>> {
        let kept = kept?;
        let history = kept.history()?;
        history.set_clock(clock(self.driver.timer()));
        history.begin(self.driver.call().max_retries());
        kept.history.as_ref()
    }

    /// The span of the attempt that starts.
    #[inline]
    pub(super) fn span_of_attempt(&mut self) -> Span {
        let is_spanned = self.context.settings.is_spanned;
        Span::of_attempt(is_spanned, || self.driver.call().attempt())
    }

    /// True if the call ends at once when it is cancelled.
    #[inline]
    pub(super) fn aborts(&self) -> bool {
        self.context.settings.aborts
    }

    /// The time limit of an attempt.
    #[inline]
    pub(super) fn limit(&self) -> Option<Duration> {
        let limit = match self.context.settings.limit {
            AttemptLimit::None => return None,
            AttemptLimit::Total => None,
            AttemptLimit::FromPolicy => self.context.policy().attempt_limit(),
            AttemptLimit::Own(limit) => Some(limit),
        };
        time_left(limit, self.driver.state.total_end(), || self.driver.now())
    }

    /// Handles the end of an attempt. Returns the end of the call, unless another attempt follows.
    #[inline]
    pub(super) fn end_attempt<T, E>(
        &mut self,
        ended: AttemptResult<Result<T, E>, impl FnOnce() -> bool>,
        (on, until): (&mut impl OnError<E>, &mut impl Until<T>),
        kept: Option<&mut Outcomes<T, E>>,
        ends: &Ends<E>,
    ) -> Option<End<T, E>> {
        let Some((outcome, is_cancelled)) = ended else {
            return Some(End::Aborted);
        };
        let is_dropped = outcome.is_err();
        let timed_out = |limit| {
            let timed_out = ends.timed_out.expect("only a timeout drops attempts");
            Err(timed_out(TimedOut::new(limit)))
        };
        match outcome.unwrap_or_else(timed_out) {
            Err(error) => self.decide_failure(error, on, kept, (is_dropped, is_cancelled())),
            Ok(value) => {
                self.driver.answered(self.context.reporter());
                if until.accepts(&value) {
                    self.driver.succeeded(self.context.reporter());
                    return Some(End::Value(value));
                }
                self.reject_value(value, kept, is_cancelled())
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn reject_value<T, E>(
        &mut self,
        value: T,
        mut kept: Option<&mut Outcomes<T, E>>,
        is_cancelled: bool,
    ) -> Option<End<T, E>> {
        self.count_progress(kept.as_deref_mut());
        let failed = (Verdict::UNTIL, &REJECTED_VALUE as _, Ending::Error);
        if self.decide(failed, is_cancelled, kept.is_some()).is_err() {
            return Some(End::Value(value));
        }
        if let Some(kept) = kept {
            kept.keep_value(value);
        }
        None
    }

    /// Counts retries from 0 again if the attempt made progress.
    fn count_progress<T, E>(&mut self, kept: Option<&mut Outcomes<T, E>>) {
        let history = kept.and_then(Outcomes::history);
        let lasted = history.and_then(|history| history.take_progress(None, || self.driver.now()));
        if let Some(lasted) = lasted {
            self.driver.credit();
            self.driver.restart(lasted);
        }
    }

    #[cold]
    #[inline(never)]
    fn decide_failure<T, E>(
        &mut self,
        error: E,
        on: &mut impl OnError<E>,
        mut kept: Option<&mut Outcomes<T, E>>,
        (is_dropped, is_cancelled): (bool, bool),
    ) -> Option<End<T, E>> {
        self.count_progress(kept.as_deref_mut());
        let verdict = on.verdict(&error).of_attempt(is_dropped);
        if let Some(history) = kept.as_deref_mut().and_then(Outcomes::history) {
            history.judged(verdict);
        }
        let shown = Described { on, error: &error };
        let failed = (verdict, &shown as _, self.context.settings.ending);
        match self.decide(failed, is_cancelled, kept.is_some()) {
            Err(reason) => return Some(End::GaveUp(error, reason)),
            Ok(pause) => kept?.keep_error(error, pause),
        }
        None
    }

    fn decide(
        &mut self,
        (verdict, error, ending): (Verdict, &dyn fmt::Display, Ending),
        is_cancelled: bool,
        is_kept: bool,
    ) -> Decision {
        let is_idempotent = !self.context.settings.is_unrepeatable;
        let (site, reporter) = self.context.parts();
        let failure = Failure::new(&site, verdict, error).ends_with(ending);
        let mut failure = failure.idempotent(is_idempotent).cancelled(is_cancelled);
        if !is_kept {
            failure = failure.forgotten();
        }
        self.driver.failed(failure, reporter)
    }

    /// Starts a hook, with the error that the call may still end with.
    pub(super) fn hook<T, E, B: Hook<E>>(
        &mut self,
        hook: &mut B,
        kept: Option<&mut Outcomes<T, E>>,
    ) -> Option<B::Value> {
        let error = self.driver.unless_stopped(kept?.error())?;
        hook.begin(error, self.driver.next_attempt())
    }

    /// Ends an aborted call.
    #[cold]
    pub(super) fn end_aborted<E>(&mut self, ends: &Ends<E>) -> Failed<E> {
        if self.driver.lacks_max() {
            let max = self.context.policy().retries_allowed();
            self.driver.set_max(max);
        }
        self.driver.aborted(self.context.reporter());
        let aborted = ends.aborted.expect("only the key `abort` aborts");
        (aborted(Cancelled::new()), Reason::Cancelled)
    }

    /// Ends a call before an attempt: with the last outcome or, before the first attempt, with the rejection.
    #[cold]
    pub(super) fn end_stopped<T, E>(
        &mut self,
        stop: &Stop,
        on: &impl OnError<E>,
        kept: Option<&mut Outcomes<T, E>>,
        ends: &Ends<E>,
    ) -> End<T, E> {
        let rejected = || Some(Err(ends.rejected?(stop.rejected())));
        let outcome = kept.and_then(Outcomes::take).or_else(rejected);
        let ending = self.context.settings.ending;
        let mut report = |error: &dyn fmt::Display, ending| {
            let reporter = self.context.reporter();
            self.driver.stopped(stop, error, ending, reporter);
        };
        match outcome.expect("a call that may be stopped keeps what it ends with") {
            Ok(value) => {
                report(&REJECTED_VALUE, Ending::Error);
                End::Value(value)
            }
            Err(error) => {
                report(&Described { on, error: &error }, ending);
                End::GaveUp(error, stop.reason())
            }
        }
    }

    /// Starts the fallback, if the call gave up and has one. Otherwise returns the outcome of the call.
    #[cold]
    pub(super) fn fall_back<T, E, F: FallsBack<E>>(
        &mut self,
        end: End<T, E>,
        ends: &Ends<E>,
        kept: Option<&mut Outcomes<T, E>>,
        fallback: F,
        clock: impl FnOnce(&W) -> Clock,
    ) -> Result<(F::Value, Taken), Result<T, Failed<E>>> {
        let (error, reason) = match end {
            End::GaveUp(error, reason) => (error, reason),
            End::Value(value) => return Err(Ok(value)),
            End::Aborted => return Err(Err(self.end_aborted(ends))),
        };
        let Some(history) = kept.and_then(Outcomes::history) else {
            return Err(Err((error, reason)));
        };
        history.set_clock(clock(self.driver.timer()));
        let taken = Taken::new(history.begun());
        let replacement = fallback.begin(error, |error| history.gave_up(error, reason, &taken));
        let replacement = replacement.map_err(|error| Err((error, reason)))?;
        Ok((replacement, taken))
    }

    /// Reports the end of the fallback.
    #[cold]
    pub(super) fn report_fallback<T, E>(
        &mut self,
        outcome: Result<T, E>,
        taken: &Taken,
        on: &impl OnError<E>,
    ) -> Result<T, Failed<E>> {
        let show =
            |error: &E, with: &mut dyn FnMut(&dyn fmt::Display)| with(&Described { on, error });
        let reporter = self.context.reporter();
        let reason = self.driver.fell_back(taken, &outcome, show, reporter);
        outcome.map_err(|error| (error, reason))
    }

    /// The error that the call returns.
    #[cold]
    pub(super) fn give_up<T, E, G: GivesUp<E>>(
        &mut self,
        (error, reason): Failed<E>,
        kept: Option<&mut Outcomes<T, E>>,
        give_up: G,
        clock: impl FnOnce(&W) -> Clock,
    ) -> G::Error {
        give_up.convert(error, |error| {
            let history = kept.and_then(Outcomes::history);
            let history = history.expect("a chain with the key has a history");
            history.set_clock(clock(self.driver.timer()));
            history.gave_up(error, reason, &Taken::new(history.begun()))
        })
    }
}

/// Calls the operation until it succeeds or the policy gives up, and sleeps on this thread.
pub(super) fn run_blocking<T, E, X>(
    mut run: Run<'_, impl Protects, impl BlockingTimer, impl Observes, impl Borrow<Policy>>,
    cancel: impl Cancel,
    mut on: impl OnError<E>,
    hooks: impl BlockingHooks<T, E>,
    (ends, give_up): (Ends<E>, impl GivesUp<E, Error = X>),
    lends: bool,
    mut operation: impl FnMut(Option<&Arc<Attempt<E>>>) -> Result<T, E>,
) -> Result<T, X> {
    let Hooks(mut until, mut before_pause, mut before_retry, fallback) = hooks.get();
    let span = Span::of_call(run.context.settings.is_spanned, || run.context.name());
    let _entered = span.enter();
    let mut kept = Outcomes::default();
    run.start(Some(&mut kept), lends, BlockingTimer::clock);
    let end = loop {
        while run.driver.waits(run.context.reporter()) {
            match run.driver.rejection() {
                Some(_) => run.decide_rejection(cancel.is_cancelled()),
                None => run.driver.wait_blocking(&cancel),
            }
        }
        if let Some(stop) = run.driver.stop() {
            break run.end_stopped(&stop, &on, Some(&mut kept), &ends);
        }
        let outcome = {
            let history = run.begin(Some(&mut kept), BlockingTimer::clock);
            let (span, context) = (run.span_of_attempt(), &run.context);
            let name = || context.name().into();
            span.run(|| run_within(context.policy(), name, || operation(history)))
        };
        let (handlers, kept_now) = ((&mut on, &mut until), Some(&mut kept));
        let ended = Some((Ok(outcome), || cancel.is_cancelled()));
        match run.end_attempt(ended, handlers, kept_now, &ends) {
            None => {}
            Some(End::Value(value)) => return Ok(value),
            Some(end) => break end,
        }
        if let Some(outcome) = run.hook(&mut before_pause, Some(&mut kept)) {
            run.driver.hooked(outcome);
        }
        while run.driver.pauses() {
            run.driver.wait_blocking(&cancel);
        }
        if let Some(outcome) = run.hook(&mut before_retry, Some(&mut kept)) {
            run.driver.hooked(outcome);
        }
    };
    let (ended, clock) = (Some(&mut kept), BlockingTimer::clock);
    let outcome = match run.fall_back(end, &ends, ended, fallback, clock) {
        Ok((replacement, taken)) => run.report_fallback(replacement.into_result(), &taken, &on),
        Err(outcome) => outcome,
    };
    outcome.map_err(|failed| run.give_up(failed, Some(&mut kept), give_up, clock))
}
