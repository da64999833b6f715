//! The keys of a chain.

#![expect(clippy::type_complexity, reason = "a chain's type lists its keys")]

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use crate::admission::AdmissionControl;
use crate::budget::retry_budget::RetryBudget;
use crate::call::failure::Ending;
use crate::call::next_attempt::NextAttempt;
use crate::chain::keys::{
    AttemptLimit, Function, HookSet, Hooks, Keeping, KeySet, Keys, NeedSet, Needs, ObserveFn,
    Rejecting, Timing,
};
use crate::chain::on_error::{ByClassify, ByVerdict, OnFunction, ShownBy};
use crate::chain::policy_call::PolicyCall;
use crate::history::gave_up::GaveUp;
use crate::policy::Policy;
use crate::time::{AbortedBy, CancelledBy, DefaultTimer, Uncancelled};
use retry_classify::macro_support::IntoVerdict;

/// A bound that no chain satisfies, because numbers are set on a `Policy`.
#[diagnostic::on_unimplemented(
    message = "numbers can't be set on a chain, only on its policy",
    label = "set on a chain",
    note = "set numbers before the chain's keys, as in `Policy::new().max(5).on(is_retryable)`"
)]
pub trait TakesNumbers {}

/// A chain that starts with a key in [`Keys`].
type Begun<K, N = Needs> = PolicyCall<'static, ByClassify, K, Hooks, N>;
/// A chain that starts with a key that only single calls have.
type BegunCall<H, N = Needs> = PolicyCall<'static, ByClassify, Keys, H, N>;
/// A chain that starts with a key that may reject calls.
type Rejects<'a> = PolicyCall<'a, ByClassify, Keys, Hooks, Rejecting<Needs>>;

type WithCancel<K, C> =
    Keys<<K as KeySet>::Observer, C, <K as KeySet>::Timer, <K as KeySet>::GiveUp>;
type WithGiveUp<K, G, X> =
    Keys<<K as KeySet>::Observer, <K as KeySet>::Cancel, <K as KeySet>::Timer, Function<G, X>>;
type WithBeforePause<H, F, R> =
    Hooks<<H as HookSet>::Until, Function<F, R>, <H as HookSet>::Retry, <H as HookSet>::Fallback>;
type WithBeforeRetry<H, F, R> =
    Hooks<<H as HookSet>::Until, <H as HookSet>::Pause, Function<F, R>, <H as HookSet>::Fallback>;
type WithFallback<H, F, R> =
    Hooks<<H as HookSet>::Until, <H as HookSet>::Pause, <H as HookSet>::Retry, Function<F, R>>;

// Written without the macro, so that rustc's errors about these bounds don't mention the macro.
impl Policy {
    /// Sets a function that decides which errors are retried, for error types that are not
    /// [`Classify`](crate::Classify).
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let parsed = Policy::none()
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .call_blocking(|| Ok::<_, String>(42));
    /// assert_eq!(parsed, Ok(42));
    /// ```
    ///
    /// [`PolicyCall`] lists the other keys that a chain may have.
    #[inline]
    pub fn on<E, V: IntoVerdict, On>(&self, on: On) -> PolicyCall<'static, On>
    where
        On: OnFunction<E, V>,
    {
        PolicyCall::of(self).on(on)
    }

    /// Sets the observer of every event: see [`PolicyCall::observe`].
    #[inline]
    pub fn observe<O: ObserveFn>(&self, observer: O) -> Begun<Keys<O>> {
        PolicyCall::of(self).observe(observer)
    }
}

/// Defines the methods of a policy that start a chain. Each calls the method of the same name on a chain without keys.
macro_rules! starts {
    ($($(#[$attribute:meta])* $key:ident [$($generics:tt)*] ($($value:ident: $type:ty)?) -> $chain:ty;)*) => {
        impl Policy {$(
            $(#[$attribute])*
            #[inline]
            pub fn $key<$($generics)*>(&self $(, $value: $type)?) -> $chain {
                PolicyCall::of(self).$key($($value)?)
            }
        )*}
    };
}

starts! {
    /// Sets the cancellation of the call: see [`PolicyCall::cancel`].
    cancel [C] (cancel: C) -> Begun<Keys<(), CancelledBy<C>>, Keeping<Needs>>;

    /// Sets the future that ends the call at any point: see [`PolicyCall::abort`].
    abort [C] (abort: C) -> Begun<Keys<(), AbortedBy<C>>>;

    /// Sets a function that is called before each pause: see [`PolicyCall::before_pause`].
    before_pause [E, R, F: FnMut(&E, NextAttempt) -> R] (hook: F)
        -> BegunCall<Hooks<(), Function<F, R>>, Keeping<Needs>>;

    /// Sets a function that is called before each retry: see [`PolicyCall::before_retry`].
    before_retry [E, R, F: FnMut(&E, NextAttempt) -> R] (hook: F)
        -> BegunCall<Hooks<(), (), Function<F, R>>, Keeping<Needs>>;

    /// Sets the call's name in the log: see [`PolicyCall::name`].
    name ['a] (name: &'a str) -> PolicyCall<'a>;

    /// Sets the timer: see [`PolicyCall::timer`].
    timer [T] (timer: T) -> Begun<Keys<(), Uncancelled, T>>;

    /// Drops attempts at the policy's own [`timeout`](Self::timeout): see [`PolicyCall::policy_timeout`].
    policy_timeout [] () -> BegunCall<Hooks, Timing<Needs>>;

    /// Sets which values are accepted: see [`PolicyCall::until`].
    until [V, U: FnMut(&V) -> bool] (until: U) -> BegunCall<Hooks<U>>;

    /// Sets whether a second request is harmless: see [`PolicyCall::idempotent`].
    idempotent [] (idempotent: bool) -> PolicyCall<'static, ByVerdict<ByClassify>>;

    /// Sets the budget for retries: see [`PolicyCall::budget`].
    budget ['a] (budget: &'a (dyn RetryBudget + Send + Sync)) -> PolicyCall<'a>;

    /// Sets the breaker: see [`PolicyCall::breaker`].
    breaker ['a] (breaker: &'a (dyn AdmissionControl + Send + Sync)) -> Rejects<'a>;

    /// Sets the limiter that attempts wait for: see [`PolicyCall::limiter`].
    limiter ['a] (limiter: &'a (dyn AdmissionControl + Send + Sync)) -> Rejects<'a>;

    /// Opens spans: see [`PolicyCall::span`].
    #[cfg(feature = "tracing")]
    span [] (is_on: bool) -> PolicyCall<'static>;

    /// Sets a function that converts the error after giving up: see [`PolicyCall::give_up`].
    give_up [E, X, G: FnOnce(GaveUp<E>) -> X] (give_up: G)
        -> Begun<Keys<(), Uncancelled, DefaultTimer, Function<G, X>>, Keeping<Needs>>;

    /// Sets the fallback after giving up: see [`PolicyCall::fallback`].
    fallback [E, R, F: FnOnce(GaveUp<E>) -> R] (fallback: F)
        -> BegunCall<Hooks<(), (), (), Function<F, R>>, Keeping<Needs>>;
}

impl<'a, On, K, H, N> PolicyCall<'a, On, K, H, N> {
    /// Replaces parts of the chain.
    #[inline]
    fn map_parts<V, L, I, M>(
        self,
        with: impl FnOnce(On, K, H) -> (V, L, I),
    ) -> PolicyCall<'a, V, L, I, M> {
        let (on, keys, hooks) = with(self.on, self.keys, self.hooks);
        PolicyCall {
            policy: self.policy,
            name: self.name,
            settings: self.settings,
            protections: self.protections,
            on,
            keys,
            hooks,
            needs: PhantomData,
        }
    }

    /// Can't be called. Without this method, the compiler's error would be about `Ord::max`.
    #[doc(hidden)]
    pub fn max(self, _: u32) -> Self
    where
        Self: TakesNumbers,
    {
        self
    }

    /// Sets how the log shows errors, for a chain that otherwise shows only the name of their type: see [How an error
    /// is shown](Self#how-an-error-is-shown).
    ///
    /// ```
    /// use std::fmt;
    /// use retry_runtime::{Policy, testing};
    ///
    /// let recording = testing::record();
    /// let failed = Policy::none()
    ///     .max(0)
    ///     .name("fetch")
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .show(fmt::Display::fmt)
    ///     .call_blocking(|| Err::<(), _>(String::from("503 overloaded")));
    /// assert!(failed.is_err());
    /// assert_eq!(
    ///     recording.lines(),
    ///     ["gave up fetch attempt=1 max=0 error=503 overloaded reason=exhausted"],
    /// );
    /// ```
    ///
    /// Takes a function such as `fmt::Display::fmt`, [`show::with_causes`](crate::show::with_causes) for an
    /// [`Error`](std::error::Error), or a closure `|error: &MyError, f: &mut fmt::Formatter<'_>| …`. The output is
    /// shown on one line of at most 1 KiB, with likely secrets redacted.
    pub fn show<E, S>(self, show: S) -> PolicyCall<'a, ShownBy<On, S>, K, H, N>
    where
        S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    {
        self.map_parts(|on, keys, hooks| (ShownBy::new(on, show), keys, hooks))
    }
}

impl<'a, K, H, N> PolicyCall<'a, ByClassify, K, H, N> {
    /// Like [`Policy::on`].
    #[inline]
    pub fn on<E, V: IntoVerdict, On>(self, on: On) -> PolicyCall<'a, On, K, H, N>
    where
        On: OnFunction<E, V>,
    {
        self.map_parts(|ByClassify, keys, hooks| (on, keys, hooks))
    }
}

impl<'a, K, H, N> PolicyCall<'a, ByVerdict<ByClassify>, K, H, N> {
    /// Like [`Policy::on`], for a function that returns a [`Verdict`](crate::Verdict).
    pub fn on<E, V: IntoVerdict, On>(self, on: On) -> PolicyCall<'a, ByVerdict<On>, K, H, N>
    where
        On: OnFunction<E, V>,
    {
        self.map_parts(|_, keys, hooks| (ByVerdict::new(on), keys, hooks))
    }
}

impl<'a, On, K, H, N> PolicyCall<'a, On, K, H, N> {
    /// Sets whether a second request is harmless. With `false`, a failure after which the request may have taken effect
    /// is not retried. Default true.
    ///
    /// With this key, the function of [`on`](Self::on) must return a [`Verdict`](crate::Verdict), because a `bool`
    /// can't mark a failure as ambiguous.
    ///
    /// ```compile_fail,E0277
    /// # use retry_runtime::Policy;
    /// let paid = Policy::none()
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .idempotent(false)
    ///     .call_blocking(|| Ok::<_, String>(42));
    /// ```
    pub fn idempotent(mut self, idempotent: bool) -> PolicyCall<'a, ByVerdict<On>, K, H, N> {
        self.settings.is_unrepeatable = !idempotent;
        self.map_parts(|on, keys, hooks| (ByVerdict::new(on), keys, hooks))
    }

    /// Sets the call's name in the log. Default: the function that contains the operation, or the plan's own name.
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    /// With `true`, opens a span of [`tracing`] for the call, and within it one for each attempt. Log records of the
    /// operation then show their call and attempt.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let answer = Policy::new()
    ///     .name("model.complete")
    ///     .span(true)
    ///     .call(async || {
    ///         // INFO call{call=model.complete}:attempt{attempt=1}: my_crate: asking
    ///         tracing::info!("asking");
    ///         std::io::Result::Ok("hello")
    ///     })
    ///     .await?;
    /// assert_eq!(answer, "hello");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The spans have the target `retry` and the level `INFO`. A batch has one `call` span, and within it an `attempt`
    /// span for each call of the operation, numbered by round. A plan has one `call` span. Within it, each subtask has
    /// its own `call` span, from its first execution in this run to its end, and an `attempt` span for each execution.
    /// Default false. Needs the feature `tracing`.
    #[cfg(feature = "tracing")]
    pub fn span(mut self, is_on: bool) -> Self {
        self.settings.is_spanned = is_on;
        self
    }

    /// Sets the budget that pays for retries: a `&`[`Budget`](crate::Budget), or another [`RetryBudget`]. When it is
    /// exhausted, the call gives up with [`Reason::Budget`](crate::Reason::Budget).
    pub fn budget(mut self, budget: &'a (dyn RetryBudget + Send + Sync)) -> Self {
        self.protections.budget = Some(budget);
        self
    }
}

impl<'a, On, K: KeySet, H, N: NeedSet> PolicyCall<'a, On, K, H, N> {
    fn with_keys<L, M>(
        self,
        with: impl FnOnce(Keys<K::Observer, K::Cancel, K::Timer, K::GiveUp>) -> L,
    ) -> PolicyCall<'a, On, L, H, M> {
        self.map_parts(|on, keys, hooks| (on, with(keys.get()), hooks))
    }

    /// Sets the cancellation of the call: a future of `()` such as `token.cancelled()`, or for blocking calls a
    /// [`Cancel`](crate::Cancel) such as an `&AtomicBool`.
    ///
    /// When the call is cancelled, the pause ends and the call gives up with its last error and
    /// [`Reason::Cancelled`](crate::Reason::Cancelled). A failure after that is not retried. An attempt in flight is
    /// not dropped. The error is kept during the pause, so the call's future is `Send` only if the error is.
    ///
    /// ```
    /// use std::io;
    /// use std::time::Duration;
    /// use retry_runtime::Policy;
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let shutdown = CancellationToken::new();
    /// let call = Policy::fixed(Duration::from_secs(3600))
    ///     .cancel(shutdown.cancelled())
    ///     .call(async || Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionRefused)));
    /// let (outcome, ()) = tokio::join!(call, async { shutdown.cancel() });
    /// assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    /// # }
    /// ```
    pub fn cancel<V>(
        mut self,
        cancel: V,
    ) -> PolicyCall<'a, On, WithCancel<K, CancelledBy<V>>, H, Keeping<N>> {
        self.settings.aborts = false;
        self.with_keys(|Keys(observer, _, timer, end)| {
            Keys(observer, CancelledBy(cancel), timer, end)
        })
    }

    /// Sets the future that ends an async call at any point: a future of `()` such as `token.cancelled()`. The attempt
    /// in flight is dropped, and nothing follows, not even a [`fallback`](PolicyCall::fallback).
    ///
    /// The call returns a [`Cancelled`](crate::Cancelled), so its error type must be `From<Cancelled>`. The call gives
    /// up with [`Reason::Cancelled`](crate::Reason::Cancelled). A chain has `cancel` or `abort`, not both.
    ///
    /// ```
    /// use std::future::pending;
    /// use std::io;
    /// use retry_runtime::{Cancelled, Policy};
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let esc = CancellationToken::new();
    /// let call = Policy::new()
    ///     .abort(esc.cancelled())
    ///     .call(async || pending::<io::Result<()>>().await);
    /// let (outcome, ()) = tokio::join!(call, async { esc.cancel() });
    /// assert!(outcome.unwrap_err().get_ref().unwrap().is::<Cancelled>());
    /// # }
    /// ```
    pub fn abort<V>(mut self, abort: V) -> PolicyCall<'a, On, WithCancel<K, AbortedBy<V>>, H, N> {
        self.settings.aborts = true;
        self.with_keys(|Keys(observer, _, timer, end)| Keys(observer, AbortedBy(abort), timer, end))
    }

    /// Sets the timer: another runtime's [`Timer`](crate::seam::Timer), or for blocking calls a
    /// [`BlockingTimer`](crate::seam::BlockingTimer).
    ///
    /// ```
    /// use retry_runtime::seam::TimerFn;
    /// use retry_runtime::Policy;
    ///
    /// # smol::block_on(async {
    /// let answer = Policy::new()
    ///     .timer(TimerFn::new(smol::Timer::after))
    ///     .call(async || std::io::Result::Ok(42));
    /// assert_eq!(answer.await.unwrap(), 42);
    /// # });
    /// ```
    pub fn timer<V>(
        self,
        timer: V,
    ) -> PolicyCall<'a, On, Keys<K::Observer, K::Cancel, V, K::GiveUp>, H, N> {
        self.with_keys(|Keys(observer, cancel, _, end)| Keys(observer, cancel, timer, end))
    }

    /// Sets a function that receives every [`Event`](crate::Event), in addition to the log. To use an
    /// [`Observer`](crate::Observer), pass `|event| observer.observe(event)`.
    pub fn observe<V: ObserveFn>(
        self,
        observer: V,
    ) -> PolicyCall<'a, On, Keys<V, K::Cancel, K::Timer, K::GiveUp>, H, N> {
        self.with_keys(|Keys(_, cancel, timer, end)| Keys(observer, cancel, timer, end))
    }

    /// Sets a function that converts the error of a call that gave up: from a [`GaveUp`] to any type, which becomes the
    /// call's error type. The errors of earlier attempts are kept for it.
    ///
    /// ```
    /// use retry_runtime::{GaveUp, Policy, Reason};
    ///
    /// let failed: Result<u32, GaveUp<String>> = Policy::none()
    ///     .max(2)
    ///     .on(|_: &String| true)
    ///     .give_up(|gave_up| gave_up)
    ///     .call_blocking(|| Err(String::from("503 overloaded")));
    /// let gave_up = failed.unwrap_err();
    /// assert_eq!((gave_up.attempts(), gave_up.reason()), (3, Reason::Exhausted));
    /// assert_eq!(gave_up.into_errors().len(), 3);
    /// ```
    ///
    /// After a [`fallback`](Self::fallback) that failed, the function receives only the fallback's error, because the
    /// fallback has taken the attempts' errors. After [`abort`](Self::abort), it receives the error that was converted
    /// from [`Cancelled`](crate::Cancelled).
    pub fn give_up<E, X, G: FnOnce(GaveUp<E>) -> X>(
        mut self,
        give_up: G,
    ) -> PolicyCall<'a, On, WithGiveUp<K, G, X>, H, Keeping<N>> {
        self.settings.ending = self.settings.ending.max(Ending::GiveUp);
        self.with_keys(|Keys(observer, cancel, timer, _)| {
            Keys(observer, cancel, timer, Function::new(give_up))
        })
    }

    /// Sets the breaker: a `&Breaker` of `retry-protections`, or another [`AdmissionControl`]. While it is open, a new
    /// call ends at once with [`Reason::Rejected`](crate::Reason::Rejected), and a retrying call ends after its pause.
    ///
    /// The error type of a call must be `From<Rejected>`. The error is kept during the pause, so the call's future is
    /// `Send` only if the error is.
    pub fn breaker(
        mut self,
        breaker: &'a (dyn AdmissionControl + Send + Sync),
    ) -> PolicyCall<'a, On, K, H, Rejecting<N>> {
        self.protections.breaker = Some(breaker);
        self.map_parts(|on, keys, hooks| (on, keys, hooks))
    }

    /// Sets the limiter that each attempt waits for: an [`AdmissionControl`]. It handles throttled retries, so a budget
    /// does not pay for them. The wait counts against the deadline, not against `timeout`, and cancelling the call ends
    /// it.
    ///
    /// In a batch, a call costs one unit per item; in a plan, each execution of a subtask waits for the limiter.
    ///
    /// The error type of a call must be `From<Rejected>`, for a call that can't be admitted in time. The error is kept
    /// during the pause, so the call's future is `Send` only if the error is.
    pub fn limiter(
        mut self,
        limiter: &'a (dyn AdmissionControl + Send + Sync),
    ) -> PolicyCall<'a, On, K, H, Rejecting<N>> {
        self.protections.limiter = Some(limiter);
        self.map_parts(|on, keys, hooks| (on, keys, hooks))
    }
}

impl<'a, On, K, H: HookSet, N: NeedSet> PolicyCall<'a, On, K, H, N> {
    /// Sets the time limit for each attempt. An attempt that takes longer is dropped and fails with a
    /// [`TimedOut`](crate::TimedOut), so the error type must be `From<TimedOut>`. It replaces the policy's own
    /// `timeout`.
    pub fn timeout(mut self, timeout: Duration) -> PolicyCall<'a, On, K, H, Timing<N>> {
        self.settings.limit = AttemptLimit::Own(timeout);
        self.map_parts(|on, keys, hooks| (on, keys, hooks))
    }

    /// Sets the time limit for the whole call, at which a running attempt is dropped and fails with a
    /// [`TimedOut`](crate::TimedOut), so the error type must be `From<TimedOut>`. It replaces the policy's own
    /// [`total_timeout`](crate::Policy::total_timeout). The call then ends with
    /// [`Reason::Deadline`](crate::Reason::Deadline).
    pub fn total_timeout(mut self, limit: Duration) -> PolicyCall<'a, On, K, H, Timing<N>> {
        self.policy = self.policy.total_timeout(limit);
        if self.settings.limit == AttemptLimit::None {
            self.settings.limit = AttemptLimit::Total;
        }
        self.map_parts(|on, keys, hooks| (on, keys, hooks))
    }

    /// Drops attempts at the policy's own [`timeout`](crate::Policy::timeout) and
    /// [`total_timeout`](crate::Policy::total_timeout), if it has them: like the attribute's key `timeout` without a
    /// value.
    ///
    /// ```
    /// use std::io;
    /// use retry_runtime::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let policy: Policy = "max=0, timeout=30s".parse().unwrap(); // or from a file
    /// let hangs = policy
    ///     .policy_timeout()
    ///     .call(async || std::future::pending::<io::Result<()>>().await);
    /// assert_eq!(hangs.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    /// # }
    /// ```
    pub fn policy_timeout(mut self) -> PolicyCall<'a, On, K, H, Timing<N>> {
        self.settings.limit = AttemptLimit::FromPolicy;
        self.map_parts(|on, keys, hooks| (on, keys, hooks))
    }

    /// Sets which values are accepted. Other values are retried like a transient failure; when the retries run out, the
    /// call returns the last value.
    pub fn until<V, U: FnMut(&V) -> bool>(
        self,
        until: U,
    ) -> PolicyCall<'a, On, K, Hooks<U, H::Pause, H::Retry, H::Fallback>, N> {
        self.map_parts(|on, keys, hooks| {
            let Hooks(_, pause, retry, fallback) = hooks.get();
            (on, keys, Hooks(until, pause, retry, fallback))
        })
    }

    /// Sets the fallback after giving up, for any [`Reason`](crate::Reason): a function from a [`GaveUp`] to another
    /// outcome, async for async calls. The errors of earlier attempts are kept for it.
    pub fn fallback<E, R, F: FnOnce(GaveUp<E>) -> R>(
        mut self,
        fallback: F,
    ) -> PolicyCall<'a, On, K, WithFallback<H, F, R>, Keeping<N>> {
        self.settings.ending = Ending::Fallback;
        self.map_parts(|on, keys, hooks| {
            let Hooks(until, pause, retry, _) = hooks.get();
            let fallback = Function::new(fallback);
            (on, keys, Hooks(until, pause, retry, fallback))
        })
    }

    /// Sets a function that is called before the pause, after each error that is followed by a retry: a function of the
    /// error and a [`NextAttempt`]. See [`before_retry`](Self::before_retry), which is called after the pause.
    ///
    /// Use it to inspect each error with its type, and the pause:
    ///
    /// ```
    /// use std::cell::RefCell;
    /// use std::io;
    /// use std::time::Duration;
    /// use retry_runtime::{Jitter, Policy};
    ///
    /// const POLICY: Policy = Policy::new()
    ///     .max(2)
    ///     .base(Duration::from_millis(1))
    ///     .jitter(Jitter::None);
    ///
    /// let shown = RefCell::new(Vec::new());
    /// let failed = POLICY
    ///     .before_pause(|error: &io::Error, next| {
    ///         shown.borrow_mut().push((error.kind(), next.pause()));
    ///     })
    ///     .call_blocking(|| Err::<(), _>(io::Error::from(io::ErrorKind::TimedOut)));
    /// assert!(failed.is_err());
    /// let late = io::ErrorKind::TimedOut;
    /// let millis = Duration::from_millis;
    /// assert_eq!(shown.into_inner(), [(late, millis(1)), (late, millis(2))]);
    /// ```
    pub fn before_pause<E, R, F: FnMut(&E, NextAttempt) -> R>(
        self,
        hook: F,
    ) -> PolicyCall<'a, On, K, WithBeforePause<H, F, R>, Keeping<N>> {
        self.map_parts(|on, keys, hooks| {
            let Hooks(until, _, retry, fallback) = hooks.get();
            (on, keys, Hooks(until, Function::new(hook), retry, fallback))
        })
    }

    /// Sets a function that is called after the pause, before each retry after an error: a function of the error and a
    /// [`NextAttempt`]. Use it to refresh a token or shorten the request, for example.
    ///
    /// It returns `()` or a `Result<(), _>`; for [`call`](Self::call), a future of either. An `Err` ends the call, with
    /// the attempt's error and [`Reason::HookFailed`](crate::Reason::HookFailed). The function's time counts against
    /// the deadline, but running it is not an attempt. The error is kept during the pause, so the call's future is
    /// `Send` only if the error is.
    ///
    /// The future can't borrow from the error: let the closure copy the data that it needs, and return an `async move`
    /// block.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use retry_runtime::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let token = Cell::new(0);
    /// let refresh = async || {
    ///     token.set(token.get() + 1);
    ///     if token.get() > 1 { Err("refused again") } else { Ok(()) }
    /// };
    /// let answer = Policy::new()
    ///     .on(|_: &String| true)
    ///     .before_retry(|error: &String, _next| {
    ///         let is_expired = error.starts_with("401");
    ///         let refreshed = is_expired.then(&refresh);
    ///         async move {
    ///             match refreshed {
    ///                 Some(refreshed) => refreshed.await,
    ///                 None => Ok(()),
    ///             }
    ///         }
    ///     })
    ///     .call(async || match token.get() {
    ///         0 => Err(String::from("401 expired")),
    ///         _ => Ok("hello"),
    ///     });
    /// assert_eq!(answer.await, Ok("hello"));
    /// # }
    /// ```
    pub fn before_retry<E, R, F: FnMut(&E, NextAttempt) -> R>(
        self,
        hook: F,
    ) -> PolicyCall<'a, On, K, WithBeforeRetry<H, F, R>, Keeping<N>> {
        self.map_parts(|on, keys, hooks| {
            let Hooks(until, pause, _, fallback) = hooks.get();
            (on, keys, Hooks(until, pause, Function::new(hook), fallback))
        })
    }
}
