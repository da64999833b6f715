//! A chain's call between its attempts, however it waits for them: what async and blocking calls have in common.

use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::time::Duration;

use crate::call::attempt::Attempt;
use crate::call::decide::Decision;
use crate::call::driver::Driver;
use crate::call::failure::{Ending, Failure, REJECTED_VALUE};
use crate::call::gave_up::GaveUp;
use crate::call::next_attempt::NextAttempt;
use crate::call::protections::Protects;
use crate::call::stop::Stop;
use crate::chain::abort::Aborts;
use crate::chain::context::{Context, NameOf};
use crate::chain::hook::{HookKey, Hooks};
use crate::chain::key::{Key, Room};
use crate::chain::keys::{Ends, SharedKeys, SingleKeys};
use crate::chain::on_error::{Classifies, Described};
use crate::chain::operation::Operated;
use crate::chain::policy_call::{CallOf, Keyed};
use crate::chain::rejects::Rejects;
use crate::chain::until::UntilKey;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::classify::verdict::Verdict;
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::time::attempt_clock::Clock;

/// The call of a chain `Q` whose operation `D` names it by default. It keeps in `X` what it ends with if no attempt follows
/// a pause: a value `T`, or an error `E`.
pub(super) struct Run<Q: Keyed, D: Operated, X, T, E> {
    pub(super) context: Context<Q::Keys, NameOf<D>>,
    pub(super) driver: Driver<Q::Protections, TimerOf<Q>>,
    pub(super) timeout: <Q::Single as SingleKeys>::Timeout,
    on: Q::On,
    until: <Q::Single as SingleKeys>::Until,
    before_pause: <Q::Single as SingleKeys>::BeforePause,
    before_retry: <Q::Single as SingleKeys>::BeforeRetry,
    pub(super) history: D::History,
    kept: X,
    pub(super) is_spanned: bool,
    outcome: PhantomData<fn() -> (T, E)>,
}

pub(super) type TimerOf<Q> = <<Q as Keyed>::Keys as SharedKeys>::Timer;
pub(super) type CancelOf<Q> = <<Q as Keyed>::Keys as SharedKeys>::Cancel;
/// The key that rejects calls, if a chain has any.
pub(super) type Rejecting<Q> = <<Q as Keyed>::Protections as Ends>::Key;

/// The outcome of an attempt. An error may be in the history instead.
pub(super) type Outcome<T, E> = Result<T, Option<E>>;

/// The end of the call.
pub(super) enum End<T, E> {
    With(Result<T, E>),
    /// The end for that reason, unless there is a fallback.
    GaveUp(E, Reason),
}

impl<Q, D, X, T, E> Run<Q, D, X, T, E>
where
    Q: Keyed<On: Classifies<E>>,
    Q::Single: SingleKeys<Until: UntilKey<T>, BeforePause: Hooks<E>, BeforeRetry: Hooks<E>>,
    CancelOf<Q>: Aborts<E>,
    Rejecting<Q>: Rejects<E>,
    D: Operated<History: Room<Arc<Attempt<E>>>>,
    X: Room<Outcome<T, E>>,
{
    /// A call that has not begun, with what cancels it and its fallback.
    #[inline]
    pub(super) fn new(
        call: CallOf<Q>,
        driver: impl FnOnce(Q::Protections, TimerOf<Q>) -> Driver<Q::Protections, TimerOf<Q>>,
    ) -> (Self, CancelOf<Q>, <Q::Single as SingleKeys>::Fallback) {
        let single = call.single.into_keys();
        let is_spanned = call.keys.is_spanned();
        let (context, cancel, timer) = Context::new(call.keys, NameOf(PhantomData));
        let run = Self {
            context,
            driver: driver(call.protections, timer),
            timeout: single.timeout,
            on: call.on,
            until: single.until,
            before_pause: single.before_pause,
            before_retry: single.before_retry,
            history: Default::default(),
            kept: X::default(),
            is_spanned,
            outcome: PhantomData,
        };
        (run, cancel, single.fallback)
    }

    /// The call begins.
    #[inline]
    pub(super) fn start(&mut self, clock: impl Fn(&TimerOf<Q>) -> Clock) {
        if D::History::EXISTS {
            let first = Attempt::before_first(clock(self.driver.timer()), ());
            self.history.put(Arc::new(first));
        }
        let policy = self.context.policy();
        let is_timed = <Q::Single as SingleKeys>::Timeout::IS_NAMED;
        if !is_timed && policy.attempt_limit().is_some() {
            ignored_timeout::tell(self.context.name());
        }
        self.driver.set_max(policy.retries_allowed());
        self.driver.set_deadline(policy.time_limit());
        if Rejecting::<Q>::IS_NAMED {
            self.driver.retry_rejections();
        }
    }

    /// Decides what follows a rejection.
    #[cold]
    pub(super) fn rejected(
        &mut self,
        (by, half_open_in): (RejectedBy, Option<Duration>),
        is_cancelled: bool,
    ) {
        let (site, reporter) = self.context.parts();
        let rejected = Rejected::new(by);
        let failure = Failure::of_rejection(&site, &rejected, half_open_in);
        self.driver
            .rejected(failure.cancelled(is_cancelled), reporter);
    }

    /// The attempt begins.
    #[inline]
    pub(super) fn begin(&mut self, clock: impl Fn(&TimerOf<Q>) -> Clock) {
        if let Some(history) = self.history.get_mut() {
            let history = own(history);
            history.set_clock(clock(self.driver.timer()));
            history.begin(self.driver.call().max_retries());
        }
    }

    /// The end of the call after an attempt, unless another follows. `is_dropped` is true if its time was up.
    #[inline]
    pub(super) fn ended(
        &mut self,
        outcome: Result<T, E>,
        is_dropped: bool,
        is_cancelled: impl FnOnce() -> bool,
    ) -> Option<End<T, E>> {
        match outcome {
            Ok(value) => {
                self.driver.answered(&mut self.context);
                if self.until.accepts(&value) {
                    self.driver.succeeded(&mut self.context);
                    return Some(End::With(Ok(value)));
                }
                self.rejected_value(value, is_cancelled())
            }
            Err(error) => match is_cancelled() {
                true if CancelOf::<Q>::ABORTS => Some(End::With(self.aborted(error))),
                is_cancelled => self.failed(error, is_dropped, is_cancelled),
            },
        }
    }

    #[cold]
    #[inline(never)]
    fn rejected_value(&mut self, value: T, is_cancelled: bool) -> Option<End<T, E>> {
        self.count_progress();
        let idempotent = self.context.idempotent;
        let (site, reporter) = self.context.parts();
        let failure = Failure::new(&site, Verdict::UNTIL, &REJECTED_VALUE);
        let mut failure = failure.idempotent(idempotent).cancelled(is_cancelled);
        if !X::EXISTS {
            failure = failure.forgotten();
        }
        if self.driver.failed(failure, reporter).is_err() {
            return Some(End::With(Ok(value)));
        }
        if let Some(history) = self.history.get_mut() {
            own(history).interrupted();
        }
        self.kept.put(Ok(value));
        None
    }

    /// Counts retries from 0 again if the attempt made progress.
    fn count_progress(&mut self) {
        let Self {
            history, driver, ..
        } = self;
        let history = history.get_mut().map(own);
        let lasted = history.and_then(|history| history.take_progress(None, || driver.now()));
        if let Some(lasted) = lasted {
            driver.credit();
            driver.restart(lasted);
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(&mut self, error: E, is_dropped: bool, is_cancelled: bool) -> Option<End<T, E>> {
        self.count_progress();
        match self.decide(&error, is_dropped, is_cancelled) {
            Err(reason) => Some(End::GaveUp(error, reason)),
            Ok(pause) => {
                let kept = match self.history.get_mut() {
                    Some(history) => {
                        let history = own(history);
                        history.failed(error);
                        history.paused(pause);
                        None
                    }
                    None => Some(error),
                };
                self.kept.put(Err(kept));
                None
            }
        }
    }

    fn decide(&mut self, error: &E, is_dropped: bool, is_cancelled: bool) -> Decision {
        let verdict = self.on.verdict(error).of_attempt(is_dropped);
        if let Some(history) = self.history.get_mut() {
            history.judged(verdict);
        }
        let on = &self.on;
        let shown = Described { on, error };
        let idempotent = self.context.idempotent;
        let (site, reporter) = self.context.parts();
        let failure = Failure::new(&site, verdict, &shown).ends_with(ending::<Q>());
        let mut failure = failure.idempotent(idempotent).cancelled(is_cancelled);
        if !(X::EXISTS || D::History::EXISTS) {
            failure = failure.forgotten();
        }
        self.driver.failed(failure, reporter)
    }

    /// Begins the hook before the pause.
    #[inline]
    pub(super) fn before_pause(
        &mut self,
    ) -> Option<<<Q::Single as SingleKeys>::BeforePause as HookKey>::Returned> {
        if !<Q::Single as SingleKeys>::BeforePause::IS_NAMED {
            return None;
        }
        let (error, next) = failure(&mut self.driver, &mut self.kept, &mut self.history)?;
        self.before_pause.begin(error, next)
    }

    /// Begins the hook before the retry.
    #[inline]
    pub(super) fn before_retry(
        &mut self,
    ) -> Option<<<Q::Single as SingleKeys>::BeforeRetry as HookKey>::Returned> {
        if !<Q::Single as SingleKeys>::BeforeRetry::IS_NAMED {
            return None;
        }
        let (error, next) = failure(&mut self.driver, &mut self.kept, &mut self.history)?;
        self.before_retry.begin(error, next)
    }

    /// The end of a call that is aborted, with that error.
    #[cold]
    pub(super) fn aborted(&mut self, error: E) -> Result<T, E> {
        self.driver.aborted(&mut self.context);
        Err(error)
    }

    /// The end of a call before an attempt: with the last outcome or, before the first one, with the rejection.
    #[cold]
    pub(super) fn stopped(&mut self, stop: &Stop) -> End<T, E> {
        let rejected = || Rejecting::<Q>::rejected(stop).map(Err);
        let outcome = self.take_kept().or_else(rejected);
        match outcome.expect("a call that may be stopped keeps what it ends with") {
            Ok(value) => {
                let context = &mut self.context;
                self.driver
                    .stopped(stop, &REJECTED_VALUE, Ending::Error, context);
                End::With(Ok(value))
            }
            Err(error) => {
                let on = &self.on;
                let shown = Described { on, error: &error };
                self.driver
                    .stopped(stop, &shown, ending::<Q>(), &mut self.context);
                End::GaveUp(error, stop.reason())
            }
        }
    }

    /// What the call ends with after a pause.
    fn take_kept(&mut self) -> Option<Result<T, E>> {
        match self.kept.take() {
            Some(Ok(value)) => Some(Ok(value)),
            Some(Err(Some(error))) => Some(Err(error)),
            Some(Err(None)) | None => {
                let history = own(self.history.get_mut()?);
                history.take_last_failure().map(Err)
            }
        }
    }

    /// The argument of the fallback.
    pub(super) fn take_gave_up(
        &mut self,
        error: E,
        reason: Reason,
        clock: impl Fn(&TimerOf<Q>) -> Clock,
    ) -> GaveUp<E> {
        let Some(history) = self.history.get_mut() else {
            unreachable!("a chain with a fallback keeps errors for it");
        };
        let history = own(history);
        history.set_clock(clock(self.driver.timer()));
        let without = history.without_errors();
        mem::replace(history, without).gave_up(error, reason)
    }

    /// Reports how the fallback ended.
    pub(super) fn fell_back(&mut self, outcome: &Result<T, E>) {
        let number = self.history.get_mut().map_or(0, |history| history.number());
        let on = &self.on;
        let show =
            |error: &E, with: &mut dyn FnMut(&dyn fmt::Display)| with(&Described { on, error });
        let reporter = &mut self.context;
        self.driver.fell_back(number, outcome, show, reporter);
    }
}

/// The argument of a hook: the error that the call may yet end with, in either place, and what follows.
fn failure<'a, T: 'a, E: 'a>(
    driver: &mut Driver<impl Protects, impl Sized>,
    kept: &'a mut impl Room<Outcome<T, E>>,
    history: &'a mut impl Room<Arc<Attempt<E>>>,
) -> Option<(&'a E, NextAttempt)> {
    let error = match kept.get_mut()? {
        Ok(_) => return None,
        Err(Some(error)) => error,
        Err(None) => history.get_mut()?.last_error()?,
    };
    Some((driver.unless_stopped(Some(error))?, driver.next_attempt()))
}

/// What follows if the call gives up with an error.
fn ending<Q: Keyed>() -> Ending {
    if <Q::Single as SingleKeys>::Fallback::IS_NAMED {
        Ending::Fallback
    } else {
        Ending::Error
    }
}

/// The history. If the attempt has lent it to someone who still has it, they keep the errors so far, and the call goes on
/// without.
fn own<E>(attempt: &mut Arc<Attempt<E>>) -> &mut Attempt<E> {
    if Arc::get_mut(attempt).is_none() {
        *attempt = Arc::new(attempt.without_errors());
    }
    Arc::get_mut(attempt).expect("nobody else has it")
}
