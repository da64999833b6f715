//! A chain's call between its attempts, however it waits for them: all that async and blocking calls decide alike.

use alloc::sync::Arc;
use core::marker::PhantomData;
use core::mem;
use core::time::Duration;

use crate::call::attempt::Attempt;
use crate::call::attempts::{Attempts, Shared};
use crate::call::failure::{Ending, Failure, REJECTED_VALUE};
use crate::call::gave_up::GaveUp;
use crate::call::hook::{Caused, HookOutcome};
#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::call::next_attempt::NextAttempt;
use crate::call::protections::{Guards, Rejects};
use crate::chain::abort::Aborts;
use crate::chain::context::{Context, NameOf};
use crate::chain::hook::{HookKey, Hooks};
use crate::chain::keys::{Rejecting, SharedKeys, SingleKeys};
#[cfg(feature = "nested")]
use crate::chain::name::outer;
use crate::chain::on_error::{Classifies, Described};
use crate::chain::operation::Operated;
use crate::chain::policy_call::{CallOf, Keyed};
use crate::chain::until::UntilKey;
use crate::classify::rejected::RejectedBy;
use crate::classify::verdict::Verdict;
use crate::key::{Key, Room};
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::time::attempt_clock::Clock;
use crate::time::moment::Moment;

/// The call of a chain `Q` whose operation `D` names it by default. It keeps in `X` what it ends
/// with if no attempt follows a pause: a value `T`, or an error `E`.
pub(super) struct Run<Q: Keyed, D: Operated, X, T, E> {
    pub(super) context: Context<Q::Policy, Q::Keys, NameOf<D>>,
    pub(super) attempts: Attempts<<Q::Keys as SharedKeys>::Guards>,
    on: Q::On,
    until: <Q::Single as SingleKeys>::Until,
    before_pause: <Q::Single as SingleKeys>::BeforePause,
    before_retry: <Q::Single as SingleKeys>::BeforeRetry,
    pub(super) history: D::History,
    kept: X,
    pub(super) deadline: Option<Moment>,
    outcome: PhantomData<fn() -> (T, E)>,
}

/// What an attempt came to: an error may be in the history instead.
pub(super) type Outcome<T, E> = Result<T, Option<E>>;

/// What follows an attempt, or a pause.
pub(super) enum Step<T, E> {
    /// Another attempt, after the pause.
    Pause,
    /// The end of the call.
    Ends(Result<T, E>),
    /// The end of the call for that reason, unless there is a last resort; and whether the attempt that was counted last has
    /// begun, which a pause before it may have kept it from.
    GaveUp(E, Reason, bool),
}

/// Does what a step says, unless that is to go on.
macro_rules! follow {
    ($step:expr) => {
        match $step {
            None | Some(Step::Pause) => {}
            Some(Step::Ends(outcome)) => return outcome,
            Some(Step::GaveUp(error, reason, has_begun)) => break (error, reason, has_begun),
        }
    };
}
pub(super) use follow;

impl<Q, D, X, T, E> Run<Q, D, X, T, E>
where
    Q: Keyed<On: Classifies<E>, Cancel: Aborts<E>>,
    Q::Single: SingleKeys<Until: UntilKey<T>, BeforePause: Hooks<E>, BeforeRetry: Hooks<E>>,
    Rejecting<Q::Keys>: Rejects<E>,
    D: Operated<History: Room<Arc<Attempt<E>>>>,
    X: Room<Outcome<T, E>>,
{
    /// A call that has not begun, and what it waits and ends with.
    #[inline]
    pub(super) fn new(
        call: CallOf<Q>,
    ) -> (
        Self,
        Q::Cancel,
        Q::Timer,
        <Q::Single as SingleKeys>::Fallback,
    ) {
        let single = call.single.into_keys();
        let run = Self {
            context: Context::new(call.policy, call.keys, NameOf(PhantomData)),
            attempts: Attempts::new(),
            on: call.on,
            until: single.until,
            before_pause: single.before_pause,
            before_retry: single.before_retry,
            history: Default::default(),
            kept: X::default(),
            deadline: None,
            outcome: PhantomData,
        };
        (run, call.cancel, call.timer, single.fallback)
    }

    /// The call begins.
    #[inline]
    pub(super) fn start(&mut self, now: impl FnOnce() -> Moment, clock: impl Fn() -> Clock) {
        self.context.starts(&clock);
        if D::History::EXISTS {
            self.history
                .put(Arc::new(Attempt::before_first(clock(), ())));
        }
        let policy = self.context.policy();
        let is_timed = <Q::Single as SingleKeys>::Timeout::IS_NAMED;
        if !is_timed && policy.attempt_limit().is_some() {
            ignored_timeout::tell(self.context.name());
        }
        if let Some(limit) = self.context.policy().time_limit() {
            self.deadline = now().checked_add(limit);
        }
    }

    /// The call, to those within its attempts.
    #[cfg(feature = "nested")]
    pub(super) fn outer(&self) -> Outer {
        outer(
            &self.context.keys.name,
            self.context.policy(),
            D::default_name,
        )
    }

    /// Begins the attempt, which has its turn unless that wait has failed.
    #[inline]
    pub(super) fn begin(&mut self) -> Result<(), RejectedBy> {
        self.attempts.begin(&mut self.context)?;
        if let Some(history) = self.history.get_mut() {
            let call = self.attempts.call();
            let max = if call.is_retried() {
                call.limit()
            } else {
                self.context.policy().retries_allowed()
            };
            own(history).begin(max);
        }
        Ok(())
    }

    /// What follows an attempt. `is_dropped` says whether its time was up.
    #[inline]
    pub(super) fn ended(
        &mut self,
        outcome: Result<T, E>,
        is_dropped: bool,
        is_cancelled: impl FnOnce() -> bool,
        now: impl Fn() -> Moment,
    ) -> Step<T, E> {
        match outcome {
            Ok(value) => {
                self.attempts.answered(&mut self.context);
                if self.until.accepts(&value) {
                    self.attempts.succeeded(&mut self.context);
                    return Step::Ends(Ok(value));
                }
                self.rejected_value(value, is_cancelled(), now)
            }
            Err(error) => match is_cancelled() {
                true if Q::Cancel::ABORTS => Step::Ends(self.aborted(error, true)),
                is_cancelled => self.failed(error, is_dropped, is_cancelled, now),
            },
        }
    }

    #[cold]
    #[inline(never)]
    fn rejected_value(
        &mut self,
        value: T,
        is_cancelled: bool,
        now: impl Fn() -> Moment,
    ) -> Step<T, E> {
        self.count_anew(&now);
        let idempotent = self.context.keys.idempotent;
        let detail = detail(idempotent, self.deadline, is_cancelled, now);
        let verdict = Verdict::UNTIL;
        let decision = self
            .attempts
            .failed(&mut self.context, verdict, &REJECTED_VALUE, detail);
        if decision.is_err() {
            return Step::Ends(Ok(value));
        }
        if let Some(history) = self.history.get_mut() {
            own(history).interrupted();
        }
        self.kept.put(Ok(value));
        Step::Pause
    }

    /// Counts retries anew where the attempt made progress.
    fn count_anew(&mut self, now: impl Fn() -> Moment) {
        let history = self.history.get_mut().map(own);
        if let Some(lasted) = history.and_then(|history| history.take_progress(None, now)) {
            self.attempts.restarted(self.context.guards(), lasted);
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(
        &mut self,
        error: E,
        is_dropped: bool,
        is_cancelled: bool,
        now: impl Fn() -> Moment,
    ) -> Step<T, E> {
        self.count_anew(&now);
        let verdict = self.on.verdict(&error).of_attempt(is_dropped);
        if let Some(history) = self.history.get_mut() {
            history.judged(verdict);
        }
        let on = &self.on;
        let shown = Described { on, error: &error };
        let idempotent = self.context.keys.idempotent;
        let detail = detail(idempotent, self.deadline, is_cancelled, now);
        let (attempts, context) = (&mut self.attempts, &mut self.context);
        let decision = attempts.failed(context, verdict, &shown, |failure| {
            detail(failure).ends_with(ending::<Q>())
        });
        match decision {
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
                Step::Pause
            }
            Err(reason) => Step::GaveUp(error, reason, true),
        }
    }

    /// Why the call ends after that pause, if it does. Where no key keeps what it would end with, there is nothing to end
    /// with but another attempt.
    pub(super) fn resumed(
        &mut self,
        is_cancelled: bool,
        now: impl FnOnce() -> Moment,
        clock: impl FnOnce() -> Clock,
    ) -> Option<Step<T, E>> {
        let by = if is_cancelled {
            Some(RejectedBy::Cancelled)
        } else {
            let late = self.attempts.late(self.deadline, now);
            late.map(|_| RejectedBy::Deadline)
        };
        if let Some(ended) = by.and_then(|by| self.ended_by(by)) {
            return Some(ended);
        }
        if let Some(history) = self.history.get_mut() {
            own(history).set_clock(clock());
        }
        None
    }

    /// The end of a call whose pause would end after the deadline, because a hook took too long.
    pub(super) fn outlasts(&mut self, now: impl FnOnce() -> Moment) -> Option<Step<T, E>> {
        self.attempts.outlasts(self.deadline, now)?;
        self.ended_by(RejectedBy::Deadline)
    }

    /// What follows where the next attempt may not begin.
    #[cold]
    pub(super) fn rejected(
        &mut self,
        by: RejectedBy,
        is_cancelled: bool,
        now: impl Fn() -> Moment,
    ) -> Step<T, E> {
        let idempotent = self.context.keys.idempotent;
        let detail = detail(idempotent, self.deadline, is_cancelled, now);
        let pause = if Rejecting::<Q::Keys>::IS_NAMED {
            self.attempts.rejected(&mut self.context, by, detail)
        } else {
            // Nothing can reject this call: it was cancelled before its first attempt.
            Err(by)
        };
        match pause {
            Ok(_) => Step::Pause,
            Err(by) => match self.ended_by(by) {
                Some(ended) => ended,
                None => unreachable!("what rejects calls keeps what they end with"),
            },
        }
    }

    /// The end of a call whose next attempt may not begin: with the last outcome or, before the first one, with the
    /// rejection. `None` if no key rejects calls.
    fn ended_by(&mut self, by: RejectedBy) -> Option<Step<T, E>> {
        if Q::Cancel::ABORTS && by == RejectedBy::Cancelled {
            return Some(Step::Ends(self.aborted(Q::Cancel::aborted(), false)));
        }
        let rejected = || Rejecting::<Q::Keys>::rejected(by).map(Err);
        let outcome = self.take_kept().or_else(rejected)?;
        Some(self.gave_up(outcome, by.reason()))
    }

    /// Begins what runs before the pause.
    #[inline]
    pub(super) fn before_pause(
        &mut self,
    ) -> Option<<<Q::Single as SingleKeys>::BeforePause as HookKey>::Returned> {
        let (error, next) = told(&mut self.attempts, &mut self.kept, &mut self.history)?;
        self.before_pause.begin(error, next)
    }

    /// Begins what runs before the retry.
    #[inline]
    pub(super) fn before_retry(
        &mut self,
    ) -> Option<<<Q::Single as SingleKeys>::BeforeRetry as HookKey>::Returned> {
        let (error, next) = told(&mut self.attempts, &mut self.kept, &mut self.history)?;
        self.before_retry.begin(error, next)
    }

    /// The end of a call where what ran between two attempts failed.
    pub(super) fn hooked(&mut self, outcome: impl HookOutcome) -> Option<Step<T, E>> {
        let cause = outcome.cause()?;
        let error = self.take_kept()?.err()?;
        let on = &self.on;
        let shown = &Described { on, error: &error };
        let (reason, shown) = (Reason::HookFailed, Caused(shown, &cause));
        let context = &mut self.context;
        self.attempts.ended(context, &shown, ending::<Q>(), reason);
        Some(Step::GaveUp(error, reason, false))
    }

    /// The end of a call that is aborted with that error, in the middle of an attempt or not.
    pub(super) fn aborted(&mut self, error: E, is_under_way: bool) -> Result<T, E> {
        self.attempts.aborted(&mut self.context, is_under_way);
        Err(error)
    }

    /// Tells of the end.
    fn gave_up(&mut self, outcome: Result<T, E>, reason: Reason) -> Step<T, E> {
        let (attempts, context) = (&mut self.attempts, &mut self.context);
        match outcome {
            Ok(value) => {
                attempts.gave_up(context, &REJECTED_VALUE, reason);
                Step::Ends(Ok(value))
            }
            Err(error) => {
                let on = &self.on;
                let shown = Described { on, error: &error };
                attempts.ended(context, &shown, ending::<Q>(), reason);
                Step::GaveUp(error, reason, false)
            }
        }
    }

    /// What the call ends with after a pause.
    fn take_kept(&mut self) -> Option<Result<T, E>> {
        let last_error = |history: &mut D::History| own(history.get_mut()?).take_last_failure();
        match self.kept.take() {
            Some(Ok(value)) => Some(Ok(value)),
            Some(Err(Some(error))) => Some(Err(error)),
            Some(Err(None)) | None => last_error(&mut self.history).map(Err),
        }
    }

    /// What a last resort is told of a call that ended so.
    pub(super) fn take_gave_up(
        &mut self,
        error: E,
        reason: Reason,
        clock: impl FnOnce() -> Clock,
    ) -> GaveUp<E> {
        let Some(history) = self.history.get_mut() else {
            unreachable!("a chain with a last resort keeps errors for it");
        };
        let history = own(history);
        history.set_clock(clock());
        let without = history.without_errors();
        mem::replace(history, without).gave_up(error, reason)
    }

    /// Tells how the last resort ended.
    pub(super) fn fell_back(&mut self, outcome: &Result<T, E>) {
        let number = self.history.get_mut().map_or(0, |history| history.number());
        let on = &self.on;
        let (attempts, context) = (&mut self.attempts, &mut self.context);
        match outcome {
            Ok(_) => attempts.fell_back(context, number, Ok(())),
            Err(error) => attempts.fell_back(context, number, Err(&Described { on, error })),
        }
    }
}

/// What a hook is told: the error that the call may yet end with, in either place, and what
/// follows. Nothing after a rejection.
fn told<'a, T: 'a, E: 'a>(
    attempts: &mut Attempts<impl Guards>,
    kept: &'a mut impl Room<Outcome<T, E>>,
    history: &'a mut impl Room<Arc<Attempt<E>>>,
) -> Option<(&'a E, NextAttempt)> {
    if attempts.follows_rejection() {
        return None;
    }
    let error = match kept.get_mut()? {
        Ok(_) => return None,
        Err(Some(error)) => error,
        Err(None) => history.get_mut()?.last_error()?,
    };
    Some((error, attempts.call().next_attempt()))
}

/// What a failure's decision goes by, besides the attempt.
fn detail(
    idempotent: bool,
    deadline: Option<Moment>,
    is_cancelled: bool,
    now: impl Fn() -> Moment,
) -> impl for<'f> FnOnce(Failure<'f>) -> Failure<'f> {
    let now = deadline.map_or(Moment::from_origin(Duration::ZERO), |_| now());
    move |failure| {
        failure
            .idempotent(idempotent)
            .cancelled(is_cancelled)
            .deadline(deadline, || now)
    }
}

/// What follows where the call gives up with an error.
fn ending<Q: Keyed>() -> Ending {
    if <Q::Single as SingleKeys>::Fallback::IS_NAMED {
        Ending::Fallback
    } else {
        Ending::Error
    }
}

/// The history, which the attempt may have lent to somebody who still has it: they keep the errors so far, and the call
/// goes on without.
fn own<E>(attempt: &mut Arc<Attempt<E>>) -> &mut Attempt<E> {
    if Arc::get_mut(attempt).is_none() {
        *attempt = Arc::new(attempt.without_errors());
    }
    Arc::get_mut(attempt).expect("nobody else has it")
}
