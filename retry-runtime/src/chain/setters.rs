//! The keys of a chain.

#![expect(
    clippy::type_complexity,
    reason = "a chain's type says which keys it has"
)]

use core::fmt;
use core::time::Duration;

use crate::admission::AdmissionControl;
use crate::budget::retry_budget::RetryBudget;
use crate::call::gave_up::GaveUp;
use crate::call::next_attempt::NextAttempt;
use crate::chain::context::ObserveFn;
use crate::chain::hooks::{Function, Hooks, Timed};
use crate::chain::kept::{Forgets, Keep, Keeps, Rejects};
use crate::chain::keys::{AttemptLimit, Keys};
use crate::chain::on_error::{ByClassify, ByVerdict, OnFunction, ShownBy};
use crate::chain::policy_call::PolicyCall;
use crate::classify::IntoVerdict;
use crate::policy::Policy;
use crate::time::{AbortedBy, CancelledBy, DefaultTimer, Uncancelled};

/// A type with a policy's setters: only `Policy` has them.
#[diagnostic::on_unimplemented(
    message = "numbers can't be set on a chain, only on its policy",
    label = "set on a chain",
    note = "set numbers before the chain's keys, as in `Policy::new().max(5).on(is_retryable)`"
)]
pub trait TakesNumbers {}

/// A chain that starts with a key in [`Keys`].
type Begun<O, C, W, M = Forgets> = PolicyCall<'static, ByClassify, Keys<O, C, W, M>>;
/// A chain that starts with a key that only single calls have.
type BegunCall<H, M = Forgets> =
    PolicyCall<'static, ByClassify, Keys<(), Uncancelled, DefaultTimer, M>, H>;
/// A chain that starts with a key that may reject calls.
type Rejecting<'a> = PolicyCall<'a, ByClassify, Keys<(), Uncancelled, DefaultTimer, Rejects>>;

impl Policy {
    #[inline]
    fn chain<'a>(&self) -> PolicyCall<'a> {
        PolicyCall::of(self)
    }

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
        self.chain().on(on)
    }

    /// Sets the cancellation of the call: see [`PolicyCall::cancel`].
    pub fn cancel<C>(&self, cancel: C) -> Begun<(), CancelledBy<C>, DefaultTimer, Keeps> {
        self.chain().cancel(cancel)
    }

    /// Sets the future that ends the call at any point: see [`PolicyCall::abort`].
    pub fn abort<C>(&self, abort: C) -> Begun<(), AbortedBy<C>, DefaultTimer> {
        self.chain().abort(abort)
    }

    /// Sets a function that is called before each pause: see [`PolicyCall::before_pause`].
    pub fn before_pause<E, R, F: FnMut(&E, NextAttempt) -> R>(
        &self,
        hook: F,
    ) -> BegunCall<Hooks<(), Function<F, R>>, Keeps> {
        self.chain().before_pause(hook)
    }

    /// Sets a function that is called before each retry: see [`PolicyCall::before_retry`].
    pub fn before_retry<E, R, F: FnMut(&E, NextAttempt) -> R>(
        &self,
        hook: F,
    ) -> BegunCall<Hooks<(), (), Function<F, R>>, Keeps> {
        self.chain().before_retry(hook)
    }

    /// Sets the call's name in the log: see [`PolicyCall::name`].
    pub fn name<'a>(&self, name: &'a str) -> PolicyCall<'a> {
        self.chain().name(name)
    }

    /// Sets the timer: see [`PolicyCall::timer`].
    pub fn timer<T>(&self, timer: T) -> Begun<(), Uncancelled, T> {
        self.chain().timer(timer)
    }

    /// Ends attempts at the policy's own [`timeout`](Self::timeout): see [`PolicyCall::policy_timeout`].
    pub fn policy_timeout(&self) -> BegunCall<Hooks<(), (), (), (), Timed>> {
        self.chain().policy_timeout()
    }

    /// Sets which values are accepted: see [`PolicyCall::until`].
    pub fn until<V, U: FnMut(&V) -> bool>(&self, until: U) -> BegunCall<Hooks<U>> {
        self.chain().until(until)
    }

    /// Sets whether a second request is harmless: see [`PolicyCall::idempotent`].
    pub fn idempotent(&self, idempotent: bool) -> PolicyCall<'static, ByVerdict<ByClassify>> {
        self.chain().idempotent(idempotent)
    }

    /// Sets the budget for retries: see [`PolicyCall::budget`].
    pub fn budget<'a>(&self, budget: &'a (dyn RetryBudget + Send + Sync)) -> PolicyCall<'a> {
        self.chain().budget(budget)
    }

    /// Sets the breaker: see [`PolicyCall::breaker`].
    pub fn breaker<'a>(&self, breaker: &'a (dyn AdmissionControl + Send + Sync)) -> Rejecting<'a> {
        self.chain().breaker(breaker)
    }

    /// Sets the limiter that attempts wait for: see [`PolicyCall::limiter`].
    pub fn limiter<'a>(&self, limiter: &'a (dyn AdmissionControl + Send + Sync)) -> Rejecting<'a> {
        self.chain().limiter(limiter)
    }

    /// Sets the observer of every event: see [`PolicyCall::observe`].
    pub fn observe<O: ObserveFn>(&self, observer: O) -> Begun<O, Uncancelled, DefaultTimer> {
        self.chain().observe(observer)
    }

    /// Opens spans: see [`PolicyCall::span`].
    #[cfg(feature = "tracing")]
    pub fn span(&self, is_on: bool) -> PolicyCall<'static> {
        self.chain().span(is_on)
    }

    /// Sets the fallback after giving up: see [`PolicyCall::fallback`].
    pub fn fallback<E, R, F: FnOnce(GaveUp<E>) -> R>(
        &self,
        fallback: F,
    ) -> BegunCall<Hooks<(), (), (), Function<F, R>>, Keeps> {
        self.chain().fallback(fallback)
    }
}

impl<'a, On, K, H> PolicyCall<'a, On, K, H> {
    #[inline]
    fn with_on<V>(self, with: impl FnOnce(On) -> V) -> PolicyCall<'a, V, K, H> {
        PolicyCall {
            policy: self.policy,
            name: self.name,
            settings: self.settings,
            protections: self.protections,
            on: with(self.on),
            keys: self.keys,
            hooks: self.hooks,
        }
    }

    #[inline]
    fn with_keys<V>(self, with: impl FnOnce(K) -> V) -> PolicyCall<'a, On, V, H> {
        PolicyCall {
            policy: self.policy,
            name: self.name,
            settings: self.settings,
            protections: self.protections,
            on: self.on,
            keys: with(self.keys),
            hooks: self.hooks,
        }
    }

    #[inline]
    fn with_hooks<V>(self, with: impl FnOnce(H) -> V) -> PolicyCall<'a, On, K, V> {
        PolicyCall {
            policy: self.policy,
            name: self.name,
            settings: self.settings,
            protections: self.protections,
            on: self.on,
            keys: self.keys,
            hooks: with(self.hooks),
        }
    }

    /// Never callable. Without it, the compiler's error would be about `Ord::max`.
    #[doc(hidden)]
    pub fn max(self, _: u32) -> Self
    where
        Self: TakesNumbers,
    {
        self
    }

    /// Sets how the log shows errors, for a chain that has no information about their type: see [How an error is
    /// shown](Self#how-an-error-is-shown).
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
    /// It takes a function, such as `fmt::Display::fmt`, [`show::with_causes`](crate::show::with_causes) for an
    /// [`Error`](std::error::Error), or a closure `|error: &MyError, f: &mut fmt::Formatter<'_>| …`. Its output is
    /// shown on one line of at most 1 KiB, without possible secrets.
    pub fn show<E, S>(self, show: S) -> PolicyCall<'a, ShownBy<On, S>, K, H>
    where
        S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    {
        self.with_on(|on| ShownBy::new(on, show))
    }
}

impl<'a, K, H> PolicyCall<'a, ByClassify, K, H> {
    /// Like [`Policy::on`].
    #[inline]
    pub fn on<E, V: IntoVerdict, On>(self, on: On) -> PolicyCall<'a, On, K, H>
    where
        On: OnFunction<E, V>,
    {
        self.with_on(|ByClassify| on)
    }
}

impl<'a, K, H> PolicyCall<'a, ByVerdict<ByClassify>, K, H> {
    /// Like [`Policy::on`], for a function that returns a [`Verdict`](crate::Verdict).
    pub fn on<E, V: IntoVerdict, On>(self, on: On) -> PolicyCall<'a, ByVerdict<On>, K, H>
    where
        On: OnFunction<E, V>,
    {
        self.with_on(|_| ByVerdict::new(on))
    }
}

impl<'a, On, K, H> PolicyCall<'a, On, K, H> {
    /// Sets whether a second request is harmless. With `false`, a failure after which the request may have taken effect
    /// is not retried. Default true.
    ///
    /// With this key, the function of [`on`](Self::on) must return a [`Verdict`](crate::Verdict), because a `bool`
    /// can't express which failures these are.
    ///
    /// ```compile_fail,E0277
    /// # use retry_runtime::Policy;
    /// let paid = Policy::none()
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .idempotent(false)
    ///     .call_blocking(|| Ok::<_, String>(42));
    /// ```
    pub fn idempotent(mut self, idempotent: bool) -> PolicyCall<'a, ByVerdict<On>, K, H> {
        self.settings.idempotent = idempotent;
        self.with_on(ByVerdict::new)
    }

    /// Sets the call's name in the log. Default: the function that contains the operation; for a plan, its own name.
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
    /// The spans have the target `retry` and the level `INFO`. A batch has one span as a call, and one for each call of
    /// the operation, numbered by round. A plan has one span as a call; within it, each subtask has one from its first
    /// execution in this run to its end, and one for each execution. Default false. Needs the feature `tracing`.
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

impl<'a, On, O, C, W, M: Keep, H> PolicyCall<'a, On, Keys<O, C, W, M>, H> {
    /// Marks the chain as one that keeps errors during pauses.
    #[inline]
    pub(super) fn keeping(self) -> PolicyCall<'a, On, Keys<O, C, W, M::Keeping>, H> {
        self.with_keys(Keys::keep)
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
        self,
        cancel: V,
    ) -> PolicyCall<'a, On, Keys<O, CancelledBy<V>, W, M::Keeping>, H> {
        self.keeping()
            .with_keys(|keys| keys.cancel(CancelledBy(cancel)))
    }

    /// Sets the future that ends an async call at any point: a future of `()` such as `token.cancelled()`. The attempt
    /// in flight is dropped, and nothing follows, not even a [`fallback`](PolicyCall::fallback).
    ///
    /// The call returns a [`Cancelled`](crate::Cancelled), so its error type must be `From<Cancelled>`. It gives up with
    /// [`Reason::Cancelled`](crate::Reason::Cancelled). A chain has `cancel` or `abort`, not both.
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
    pub fn abort<V>(self, abort: V) -> PolicyCall<'a, On, Keys<O, AbortedBy<V>, W, M>, H> {
        self.with_keys(|keys| keys.cancel(AbortedBy(abort)))
    }

    /// Sets the timer: another runtime's [`Timer`](crate::Timer), or for blocking calls a
    /// [`BlockingTimer`](crate::BlockingTimer).
    ///
    /// ```
    /// use retry_runtime::{Policy, TimerFn};
    ///
    /// # smol::block_on(async {
    /// let answer = Policy::new()
    ///     .timer(TimerFn::new(smol::Timer::after))
    ///     .call(async || std::io::Result::Ok(42));
    /// assert_eq!(answer.await.unwrap(), 42);
    /// # });
    /// ```
    pub fn timer<V>(self, timer: V) -> PolicyCall<'a, On, Keys<O, C, V, M>, H> {
        self.with_keys(|keys| keys.timer(timer))
    }

    /// Sets a function that receives every [`Event`](crate::Event), in addition to the log. To use an
    /// [`Observer`](crate::Observer), pass `|event| observer.observe(event)`.
    pub fn observe<V: ObserveFn>(self, observer: V) -> PolicyCall<'a, On, Keys<V, C, W, M>, H> {
        self.with_keys(|keys| keys.observe(observer))
    }

    /// Sets the breaker: a `&Breaker` of `retry-protections`, or another [`AdmissionControl`]. While it is open, a new
    /// call ends at once with [`Reason::Rejected`](crate::Reason::Rejected), and a retrying call ends after its pause.
    ///
    /// The error type of a call must be `From<Rejected>`. It is kept during the pause, so the call's future is `Send` only if
    /// the error is.
    pub fn breaker(
        mut self,
        breaker: &'a (dyn AdmissionControl + Send + Sync),
    ) -> PolicyCall<'a, On, Keys<O, C, W, Rejects>, H> {
        self.protections.breaker = Some(breaker);
        self.with_keys(Keys::keep)
    }

    /// Sets the limiter that each attempt waits for: an [`AdmissionControl`]. It handles throttled retries, so a budget
    /// does not pay for them. The wait counts against the deadline, not against `timeout`, and cancelling the call ends
    /// it.
    ///
    /// In a batch, a call costs as much as all its items; in a plan, each execution of a subtask waits for the limiter.
    ///
    /// The error type of a call must be `From<Rejected>`, for a call that can't be admitted in time. It is kept during
    /// the pause, so the call's future is `Send` only if the error is.
    pub fn limiter(
        mut self,
        limiter: &'a (dyn AdmissionControl + Send + Sync),
    ) -> PolicyCall<'a, On, Keys<O, C, W, Rejects>, H> {
        self.protections.limiter = Some(limiter);
        self.with_keys(Keys::keep)
    }
}

impl<'a, On, O, C, W, M: Keep, U, B, R, F, X>
    PolicyCall<'a, On, Keys<O, C, W, M>, Hooks<U, B, R, F, X>>
{
    /// Sets the time limit for each attempt. An attempt that takes longer is dropped and fails with a
    /// [`TimedOut`](crate::TimedOut), so the error type must be `From<TimedOut>`. It replaces the policy's own
    /// `timeout`.
    pub fn timeout(
        mut self,
        timeout: Duration,
    ) -> PolicyCall<'a, On, Keys<O, C, W, M>, Hooks<U, B, R, F, Timed>> {
        self.settings.limit = AttemptLimit::Own(timeout);
        self.timed()
    }

    /// Drops each attempt that takes longer than the policy's own [`timeout`](crate::Policy::timeout), if it has one:
    /// like the attribute's key `timeout` without a value.
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
    pub fn policy_timeout(
        mut self,
    ) -> PolicyCall<'a, On, Keys<O, C, W, M>, Hooks<U, B, R, F, Timed>> {
        self.settings.limit = AttemptLimit::OfPolicy;
        self.timed()
    }

    fn timed(self) -> PolicyCall<'a, On, Keys<O, C, W, M>, Hooks<U, B, R, F, Timed>> {
        self.with_hooks(|hooks| Hooks {
            until: hooks.until,
            before_pause: hooks.before_pause,
            before_retry: hooks.before_retry,
            fallback: hooks.fallback,
            timeout: Timed,
        })
    }

    /// Sets which values are accepted. Others are retried like a transient failure; when the retries run out, the call
    /// returns the last value.
    pub fn until<V, N: FnMut(&V) -> bool>(
        self,
        until: N,
    ) -> PolicyCall<'a, On, Keys<O, C, W, M>, Hooks<N, B, R, F, X>> {
        self.with_hooks(|hooks| Hooks {
            until,
            before_pause: hooks.before_pause,
            before_retry: hooks.before_retry,
            fallback: hooks.fallback,
            timeout: hooks.timeout,
        })
    }

    /// Sets the fallback after giving up, for any [`Reason`](crate::Reason): a function from a [`GaveUp`] to another
    /// outcome, async for async calls. The errors of earlier attempts are kept for it.
    pub fn fallback<E, Ret, N: FnOnce(GaveUp<E>) -> Ret>(
        mut self,
        fallback: N,
    ) -> PolicyCall<'a, On, Keys<O, C, W, M::Keeping>, Hooks<U, B, R, Function<N, Ret>, X>> {
        self.settings.falls_back = true;
        self.keeping().with_hooks(|hooks| Hooks {
            until: hooks.until,
            before_pause: hooks.before_pause,
            before_retry: hooks.before_retry,
            fallback: Function::new(fallback),
            timeout: hooks.timeout,
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
    pub fn before_pause<E, Ret, N: FnMut(&E, NextAttempt) -> Ret>(
        self,
        before_pause: N,
    ) -> PolicyCall<'a, On, Keys<O, C, W, M::Keeping>, Hooks<U, Function<N, Ret>, R, F, X>> {
        self.keeping().with_hooks(|hooks| Hooks {
            until: hooks.until,
            before_pause: Function::new(before_pause),
            before_retry: hooks.before_retry,
            fallback: hooks.fallback,
            timeout: hooks.timeout,
        })
    }

    /// Sets a function that is called after the pause, before each retry after an error: a function of the error and a
    /// [`NextAttempt`]. Use it to refresh a token or shorten the request, for example.
    ///
    /// It returns `()` or a `Result<(), _>`; for [`call`](Self::call), a future of either. An `Err` ends the call, with
    /// the attempt's error and [`Reason::HookFailed`](crate::Reason::HookFailed). Its time counts against the deadline,
    /// but it is not an attempt. The error is kept during the pause, so the call's future is `Send` only if the error
    /// is.
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
    pub fn before_retry<E, Ret, N: FnMut(&E, NextAttempt) -> Ret>(
        self,
        before_retry: N,
    ) -> PolicyCall<'a, On, Keys<O, C, W, M::Keeping>, Hooks<U, B, Function<N, Ret>, F, X>> {
        self.keeping().with_hooks(|hooks| Hooks {
            until: hooks.until,
            before_pause: hooks.before_pause,
            before_retry: Function::new(before_retry),
            fallback: hooks.fallback,
            timeout: hooks.timeout,
        })
    }
}
