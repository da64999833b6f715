//! The keys of a chain. `call_setters` has those that batches and plans don't.

use core::fmt;

use crate::breaker::circuit_breaker::CircuitBreaker;
use crate::budget::retry_budget::RetryBudget;
use crate::call::gave_up::GaveUp;
use crate::call::next_attempt::NextAttempt;
use crate::call::protections::Protections;
use crate::chain::fallback::Fallback;
use crate::chain::hook::Hook;
use crate::chain::keys::{CallKeys, HasKey, Keys, SharedKeys, With, named};
use crate::chain::observer::ObserveFn;
use crate::chain::on_error::{ByClassify, ByVerdict, OnFunction};
use crate::chain::policy_call::PolicyCall;
use crate::chain::shown_by::ShownBy;
use crate::chain::timeout::Timed;
use crate::classify::into_verdict::IntoVerdict;
use crate::limiter::Limiter;
use crate::policy::Policy;
use crate::time::cancel::{AbortedBy, CancelledBy, Uncancelled};
use crate::time::default_timer::DefaultTimer;

/// What calls can hand to each of their attempts without making it anew.
#[diagnostic::on_unimplemented(
    message = "calls can't share a `{Self}` that is given by value",
    label = "by value",
    note = "keep it in a `static` or in a field, and give a reference or an `Arc`"
)]
pub trait Shareable: Clone {}

#[diagnostic::do_not_recommend]
impl<T: Clone> Shareable for T {}

/// What takes numbers: a policy alone.
#[diagnostic::on_unimplemented(
    message = "a chain takes its numbers from its policy",
    label = "set on a chain",
    note = "set numbers before the chain's keys, as in `Policy::new().max(5).on(is_retryable)`"
)]
pub trait TakesNumbers {}

/// A chain that begins with the key `N` of its [`Keys`], whose field is a `V`.
type Begun<N, V> = PolicyCall<ByClassify, Protections, With<Keys, N, V>>;
/// A chain that begins with the key `N` of its [`CallKeys`], which names a `V`.
type BegunCall<N, V> = PolicyCall<ByClassify, Protections, Keys, With<CallKeys, N, Option<V>>>;
/// A chain that begins with protections.
type Protected<P> = PolicyCall<ByClassify, P>;
/// A chain that borrows its policy.
type ByRef<'p> = Keys<(), (), Uncancelled, DefaultTimer, &'p Policy>;

impl Policy {
    #[inline]
    fn chain(&self) -> PolicyCall {
        PolicyCall::of(*self)
    }

    /// Begins a chain that borrows the policy instead of copying it, as for a policy in a `static`: the future of its call
    /// is more than 200 bytes smaller.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// static POLICY: Policy = Policy::new().max(5);
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let answer = POLICY
    ///     .by_ref()
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .call(async || Ok::<_, String>("hello"));
    /// assert_eq!(answer.await, Ok("hello"));
    /// # }
    /// ```
    pub const fn by_ref(&self) -> PolicyCall<ByClassify, Protections, ByRef<'_>> {
        PolicyCall::of(self)
    }

    /// Takes a function that says which errors are worth a retry, for error types that are not
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
    pub fn on<E, V: IntoVerdict, On: OnFunction<E, V>>(&self, on: On) -> PolicyCall<On> {
        self.chain().on(on)
    }

    /// Says what cancels the call: see [`PolicyCall::cancel`].
    pub fn cancel<C>(&self, cancel: C) -> Begun<named::cancel, CancelledBy<C>> {
        self.chain().cancel(cancel)
    }

    /// Says what ends the call wherever it is: see [`PolicyCall::abort`].
    pub fn abort<C>(&self, abort: C) -> Begun<named::cancel, AbortedBy<C>> {
        self.chain().abort(abort)
    }

    /// Names what runs before each pause: see [`PolicyCall::before_pause`].
    pub fn before_pause<E, R, F: FnMut(&E, NextAttempt) -> R>(
        &self,
        hook: F,
    ) -> BegunCall<named::before_pause, Hook<F, R>> {
        self.chain().before_pause(hook)
    }

    /// Names what runs before each retry: see [`PolicyCall::before_retry`].
    pub fn before_retry<E, R, F: FnMut(&E, NextAttempt) -> R>(
        &self,
        hook: F,
    ) -> BegunCall<named::before_retry, Hook<F, R>> {
        self.chain().before_retry(hook)
    }

    /// Names the call in the log: see [`PolicyCall::name`].
    pub fn name<V: AsRef<str>>(&self, name: V) -> Begun<named::name, Option<V>> {
        self.chain().name(name)
    }

    /// Says how to sleep: see [`PolicyCall::timer`].
    pub fn timer<T>(&self, timer: T) -> Begun<named::timer, T> {
        self.chain().timer(timer)
    }

    /// Ends attempts at the policy's own [`timeout`](Self::timeout): see [`PolicyCall::policy_timeout`].
    pub fn policy_timeout(&self) -> BegunCall<named::timeout, Timed> {
        self.chain().policy_timeout()
    }

    /// Says which values are taken: see [`PolicyCall::until`].
    pub fn until<V, U: FnMut(&V) -> bool>(&self, until: U) -> BegunCall<named::until, U> {
        self.chain().until(until)
    }

    /// Says whether a second request does no harm: see [`PolicyCall::idempotent`].
    pub fn idempotent(&self, idempotent: bool) -> PolicyCall<ByVerdict<ByClassify>> {
        self.chain().idempotent(idempotent)
    }

    /// Says what retries are paid from: see [`PolicyCall::budget`].
    pub fn budget<B: RetryBudget + Shareable>(
        &self,
        budget: B,
    ) -> Protected<Protections<Option<B>>> {
        self.chain().budget(budget)
    }

    /// Says what lets attempts through: see [`PolicyCall::breaker`].
    pub fn breaker<V>(&self, breaker: V) -> Protected<Protections<(), Option<V>>>
    where
        V: CircuitBreaker + Shareable,
    {
        self.chain().breaker(breaker)
    }

    /// Says what makes attempts wait for their turn: see [`PolicyCall::limiter`].
    pub fn limiter<V>(&self, limiter: V) -> Protected<Protections<(), (), Option<V>>>
    where
        V: Limiter + Shareable,
    {
        self.chain().limiter(limiter)
    }

    /// Says what sees every event: see [`PolicyCall::observe`].
    pub fn observe<O: ObserveFn>(&self, observer: O) -> Begun<named::observer, Option<O>> {
        self.chain().observe(observer)
    }

    /// Opens spans: see [`PolicyCall::span`].
    #[cfg(feature = "tracing")]
    pub fn span(&self, is_on: bool) -> PolicyCall {
        self.chain().span(is_on)
    }

    /// Names the fallback after giving up: see [`PolicyCall::fallback`].
    pub fn fallback<E, R, F: FnOnce(GaveUp<E>) -> R>(
        &self,
        fallback: F,
    ) -> BegunCall<named::fallback, Fallback<F, R>> {
        self.chain().fallback(fallback)
    }
}

impl<On, P, K, A> PolicyCall<On, P, K, A> {
    #[inline]
    fn with_shared<N, V>(self, value: V) -> PolicyCall<On, P, With<K, N, V>, A>
    where
        K: HasKey<N>,
    {
        let (on, protections, single) = (self.on, self.protections, self.single);
        let keys = self.keys.with(value);
        PolicyCall {
            on,
            protections,
            keys,
            single,
        }
    }

    #[inline]
    pub(super) fn with_single<N, V>(self, value: V) -> PolicyCall<On, P, K, With<A, N, Option<V>>>
    where
        A: HasKey<N>,
    {
        let (on, protections, keys) = (self.on, self.protections, self.keys);
        let single = self.single.with(Some(value));
        PolicyCall {
            on,
            protections,
            keys,
            single,
        }
    }

    #[inline]
    fn with_on<Other>(self, name: impl FnOnce(On) -> Other) -> PolicyCall<Other, P, K, A> {
        let (protections, keys, single) = (self.protections, self.keys, self.single);
        let on = name(self.on);
        PolicyCall {
            on,
            protections,
            keys,
            single,
        }
    }

    #[inline]
    fn with_protections<Other>(self, with: impl FnOnce(P) -> Other) -> PolicyCall<On, Other, K, A> {
        let (on, keys, single) = (self.on, self.keys, self.single);
        let protections = with(self.protections);
        PolicyCall {
            on,
            protections,
            keys,
            single,
        }
    }

    /// Nothing: without it, the compiler would speak of `Ord::max`.
    #[doc(hidden)]
    pub fn max(self, _: u32) -> Self
    where
        Self: TakesNumbers,
    {
        self
    }

    /// Says how the log shows errors, for a chain that knows nothing of their type: see
    /// [How an error is shown](Self#how-an-error-is-shown).
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
    /// [`Error`](std::error::Error), or a closure `|error: &MyError, f: &mut fmt::Formatter<'_>| …`. What it writes is shown
    /// on one line of at most 1 KiB, without what may be a secret.
    pub fn show<E, S>(self, show: S) -> PolicyCall<ShownBy<On, S>, P, K, A>
    where
        S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    {
        self.with_on(|on| ShownBy::new(on, show))
    }
}

impl<P, K, A> PolicyCall<ByClassify, P, K, A> {
    /// Like [`Policy::on`].
    #[inline]
    pub fn on<E, V: IntoVerdict, On: OnFunction<E, V>>(self, on: On) -> PolicyCall<On, P, K, A> {
        self.with_on(|ByClassify| on)
    }
}

impl<P, K, A> PolicyCall<ByVerdict<ByClassify>, P, K, A> {
    /// Like [`Policy::on`], for a function that returns a [`Verdict`](crate::Verdict).
    pub fn on<E, V: IntoVerdict, On>(self, on: On) -> PolicyCall<ByVerdict<On>, P, K, A>
    where
        On: OnFunction<E, V>,
    {
        self.with_on(|_| ByVerdict::new(on))
    }
}

impl<On, P, K, A> PolicyCall<On, P, K, A> {
    /// Says what cancels the call: a future of `()` such as `token.cancelled()`, or for blocking calls a
    /// [`Cancel`](crate::Cancel) such as an `&AtomicBool`.
    ///
    /// When it is cancelled, the pause ends and the call gives up with its last error and
    /// [`Reason::Cancelled`](crate::Reason::Cancelled). A failure after that is not retried. A running attempt is not
    /// dropped. The error is kept during the pause, so the call's future is `Send` only if the error is.
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
    pub fn cancel<C>(
        self,
        cancel: C,
    ) -> PolicyCall<On, P, With<K, named::cancel, CancelledBy<C>>, A>
    where
        K: HasKey<named::cancel>,
    {
        self.with_shared::<named::cancel, _>(CancelledBy(cancel))
    }

    /// Says what ends an async call wherever it is: a future of `()` such as `token.cancelled()`. The attempt that runs is
    /// dropped, and nothing follows, not even a [`fallback`](PolicyCall::fallback).
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
    pub fn abort<C>(self, abort: C) -> PolicyCall<On, P, With<K, named::cancel, AbortedBy<C>>, A>
    where
        K: HasKey<named::cancel>,
    {
        self.with_shared::<named::cancel, _>(AbortedBy(abort))
    }

    /// Says how to sleep: another runtime's [`Timer`](crate::Timer), or for blocking calls a
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
    pub fn timer<T>(self, timer: T) -> PolicyCall<On, P, With<K, named::timer, T>, A>
    where
        K: HasKey<named::timer>,
    {
        self.with_shared::<named::timer, _>(timer)
    }

    /// Says whether a second request does no harm. With `false`, a failure after which the request may have taken effect is
    /// not retried. Default true.
    ///
    /// Beside it, the function of [`on`](Self::on) must return a [`Verdict`](crate::Verdict), because a `bool` can't say
    /// which failures these are.
    ///
    /// ```compile_fail,E0277
    /// # use retry_runtime::Policy;
    /// let paid = Policy::none()
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .idempotent(false)
    ///     .call_blocking(|| Ok::<_, String>(42));
    /// ```
    pub fn idempotent(mut self, idempotent: bool) -> PolicyCall<ByVerdict<On>, P, K, A>
    where
        K: SharedKeys,
    {
        self.keys.keys_mut().idempotent = idempotent;
        self.with_on(ByVerdict::new)
    }

    /// Names the call in the log. Default: the function that the operation is written in; for a plan its own name.
    pub fn name<V: AsRef<str>>(
        self,
        name: V,
    ) -> PolicyCall<On, P, With<K, named::name, Option<V>>, A>
    where
        K: HasKey<named::name>,
    {
        self.with_shared::<named::name, _>(Some(name))
    }

    /// Says what sees every [`Event`](crate::Event), besides the log. An [`Observer`](crate::Observer) is handed over as
    /// `|event| observer.observe(event)`.
    pub fn observe<V>(
        self,
        observer: V,
    ) -> PolicyCall<On, P, With<K, named::observer, Option<V>>, A>
    where
        V: ObserveFn,
        K: HasKey<named::observer>,
    {
        self.with_shared::<named::observer, _>(Some(observer))
    }

    /// With `true`, opens a span of [`tracing`] for the call, and within it one for each attempt. So what the operation logs
    /// shows its call and its attempt.
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
    /// The spans have the target `retry` and the level `INFO`. A batch has one as a call, and one for each call of the
    /// operation, whose number is the round's. A plan has one as a call; within it each subtask has one from its first
    /// execution in this run to its end, and one for each execution. Default false. Needs the feature `tracing`.
    #[cfg(feature = "tracing")]
    pub fn span(mut self, is_on: bool) -> Self
    where
        K: SharedKeys,
    {
        self.keys.keys_mut().span = is_on;
        self
    }
}

impl<On, B, R, L, K, A> PolicyCall<On, Protections<B, R, L>, K, A> {
    /// Says what retries are paid from: a `&`[`Budget`](crate::Budget), or whatever else is a [`RetryBudget`]. When nothing
    /// is left, the call gives up with [`Reason::Budget`](crate::Reason::Budget).
    pub fn budget<V: RetryBudget + Shareable>(
        self,
        budget: V,
    ) -> PolicyCall<On, Protections<Option<V>, R, L>, K, A> {
        self.with_protections(|protections| protections.budget(Some(budget)))
    }

    /// Says what lets attempts through: a `&`[`Breaker`](crate::Breaker), or whatever else is a [`CircuitBreaker`].
    /// While it is open, a call that begins ends at once with [`Reason::Rejected`](crate::Reason::Rejected), and one
    /// that is retrying ends after its pause.
    ///
    /// The error type of a call must be `From<Rejected>`. It is kept during the pause, so the call's future is `Send` only if
    /// the error is.
    pub fn breaker<V: CircuitBreaker + Shareable>(
        self,
        breaker: V,
    ) -> PolicyCall<On, Protections<B, Option<V>, L>, K, A> {
        self.with_protections(|protections| protections.breaker(Some(breaker)))
    }

    /// Says what makes attempts wait for their turn: a [`Limiter`]. It takes care of throttled retries, so that a budget does
    /// not pay for them. The wait counts against the deadline, not against `timeout`, and what cancels the call ends it.
    ///
    /// In a batch a call costs as much as its items together; in a plan each execution of a subtask waits for its turn.
    ///
    /// The error type of a call must be `From<Rejected>`, for a call whose turn can't come in time. It is kept during the
    /// pause, so the call's future is `Send` only if the error is.
    pub fn limiter<V: Limiter + Shareable>(
        self,
        limiter: V,
    ) -> PolicyCall<On, Protections<B, R, Option<V>>, K, A> {
        self.with_protections(|protections| protections.limiter(Some(limiter)))
    }
}
