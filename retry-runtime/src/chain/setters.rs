//! The keys of a chain, each named once.

use core::fmt;
use core::time::Duration;

use crate::breaker::circuit_breaker::CircuitBreaker;
use crate::budget::retry_budget::RetryBudget;
use crate::call::gave_up::GaveUp;
use crate::chain::alone::Alone;
use crate::chain::key::{Named, Shareable, Unnamed};
use crate::chain::keys::Keys;
use crate::chain::named::Chain;
use crate::chain::on_error::{ByClassify, ByVerdict};
use crate::chain::policy_call::PolicyCall;
use crate::chain::shown_by::ShownBy;
use crate::chain::timeout::Timed;
use crate::limiter::Limiter;
use crate::observe::event::Event;
use crate::policy::Policy;
use crate::time::cancel::{CancelledBy, Uncancelled};
use crate::time::default_timer::DefaultTimer;

type Begun<
    On = ByClassify,
    C = Uncancelled,
    W = DefaultTimer,
    N = Unnamed,
    B = Unnamed,
    R = Unnamed,
    O = Unnamed,
    A = Alone,
    M = Unnamed,
    S = Unnamed,
> = PolicyCall<On, C, W, Keys<N, B, R, O, M, S>, A>;

type BegunShared<N = Unnamed, B = Unnamed, R = Unnamed, O = Unnamed, M = Unnamed, S = Unnamed> =
    Begun<ByClassify, Uncancelled, DefaultTimer, N, B, R, O, Alone, M, S>;

type BegunAlone<U = Unnamed, T = Unnamed, F = Unnamed> = Begun<
    ByClassify,
    Uncancelled,
    DefaultTimer,
    Unnamed,
    Unnamed,
    Unnamed,
    Unnamed,
    Alone<U, T, F>,
>;

impl Policy {
    pub(super) fn chain(&self) -> PolicyCall {
        PolicyCall {
            policy: *self,
            chain: Chain::new(),
        }
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
    pub fn on<On>(&self, on: On) -> PolicyCall<On> {
        self.chain().on(on)
    }

    /// Says what cancels the call: see [`PolicyCall::cancel`].
    pub fn cancel<C>(&self, cancel: C) -> Begun<ByClassify, CancelledBy<C>> {
        self.chain().cancel(cancel)
    }

    /// Names the call in the log: see [`PolicyCall::name`].
    pub fn name<V: AsRef<str>>(&self, name: V) -> BegunShared<Named<V>> {
        self.chain().name(name)
    }

    /// Says how to sleep: see [`PolicyCall::timer`].
    pub fn timer<T>(&self, timer: T) -> Begun<ByClassify, Uncancelled, T> {
        self.chain().timer(timer)
    }

    /// Ends attempts at the policy's own [`timeout`](Self::timeout): see [`PolicyCall::policy_timeout`].
    pub fn policy_timeout(&self) -> BegunAlone<Unnamed, Timed> {
        self.chain().policy_timeout()
    }

    /// Says which values are taken: see [`PolicyCall::until`].
    pub fn until<V, U: FnMut(&V) -> bool>(&self, until: U) -> BegunAlone<Named<U>> {
        self.chain().until(until)
    }

    /// Says whether a second request does no harm: see [`PolicyCall::idempotent`].
    pub fn idempotent(&self, idempotent: bool) -> PolicyCall<ByVerdict<ByClassify>> {
        self.chain().idempotent(idempotent)
    }

    /// Says what retries are paid from: see [`PolicyCall::budget`].
    pub fn budget<B: RetryBudget + Shareable>(&self, budget: B) -> BegunShared<Unnamed, Named<B>> {
        self.chain().budget(budget)
    }

    /// Says what lets attempts through: see [`PolicyCall::breaker`].
    pub fn breaker<B: CircuitBreaker + Shareable>(
        &self,
        breaker: B,
    ) -> BegunShared<Unnamed, Unnamed, Named<B>> {
        self.chain().breaker(breaker)
    }

    /// Says what makes attempts wait for their turn: see [`PolicyCall::limiter`].
    pub fn limiter<L: Limiter + Shareable>(
        &self,
        limiter: L,
    ) -> BegunShared<Unnamed, Unnamed, Unnamed, Unnamed, Named<L>> {
        self.chain().limiter(limiter)
    }

    /// Says what sees every event: see [`PolicyCall::observe`].
    pub fn observe<O: FnMut(&Event<'_>)>(
        &self,
        observer: O,
    ) -> BegunShared<Unnamed, Unnamed, Unnamed, Named<O>> {
        self.chain().observe(observer)
    }

    /// Opens spans: see [`PolicyCall::span`].
    #[cfg(feature = "tracing")]
    pub fn span(
        &self,
        is_on: bool,
    ) -> BegunShared<Unnamed, Unnamed, Unnamed, Unnamed, Unnamed, Named<bool>> {
        self.chain().span(is_on)
    }

    /// Names the last resort after giving up: see [`PolicyCall::fallback`].
    pub fn fallback<E, R, F: FnOnce(GaveUp<E>) -> R>(
        &self,
        fallback: F,
    ) -> BegunAlone<Unnamed, Unnamed, Named<F>> {
        self.chain().fallback(fallback)
    }
}

impl<On, C, W, K, A> PolicyCall<On, C, W, K, A> {
    /// Naming a key changes its type, which `..` can't.
    fn with<On2, C2, W2, K2, A2>(
        self,
        named: impl FnOnce(On, C, W, K, A) -> (On2, C2, W2, K2, A2),
    ) -> PolicyCall<On2, C2, W2, K2, A2> {
        let Chain {
            on,
            cancel,
            timer,
            keys,
            alone,
        } = self.chain;
        let (on, cancel, timer, keys, alone) = named(on, cancel, timer, keys, alone);
        PolicyCall {
            policy: self.policy,
            chain: Chain {
                on,
                cancel,
                timer,
                keys,
                alone,
            },
        }
    }

    pub(crate) fn with_keys<J>(self, name: impl FnOnce(K) -> J) -> PolicyCall<On, C, W, J, A> {
        self.with(|on, cancel, timer, keys, alone| (on, cancel, timer, name(keys), alone))
    }

    fn with_alone<J>(self, name: impl FnOnce(A) -> J) -> PolicyCall<On, C, W, K, J> {
        self.with(|on, cancel, timer, keys, alone| (on, cancel, timer, keys, name(alone)))
    }

    fn with_on<Other>(self, name: impl FnOnce(On) -> Other) -> PolicyCall<Other, C, W, K, A> {
        self.with(|on, cancel, timer, keys, alone| (name(on), cancel, timer, keys, alone))
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
    /// on one line of at most 1 KiB, without what may be a secret in URLs.
    pub fn show<E, S>(self, show: S) -> PolicyCall<ShownBy<On, S>, C, W, K, A>
    where
        S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    {
        self.with_on(|on| ShownBy::new(on, show))
    }
}

impl<C, W, K, A> PolicyCall<ByClassify, C, W, K, A> {
    /// As [`Policy::on`].
    pub fn on<On>(self, on: On) -> PolicyCall<On, C, W, K, A> {
        self.with_on(|ByClassify| on)
    }
}

impl<C, W, K, A> PolicyCall<ByVerdict<ByClassify>, C, W, K, A> {
    /// As [`Policy::on`], for a function that returns a [`Verdict`](crate::Verdict).
    pub fn on<On>(self, on: On) -> PolicyCall<ByVerdict<On>, C, W, K, A> {
        self.with_on(|_| ByVerdict::new(on))
    }
}

impl<On, W, K, A> PolicyCall<On, Uncancelled, W, K, A> {
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
    pub fn cancel<C>(self, cancel: C) -> PolicyCall<On, CancelledBy<C>, W, K, A> {
        self.with(|on, Uncancelled, timer, keys, alone| {
            (on, CancelledBy(cancel), timer, keys, alone)
        })
    }
}

impl<On, C, K, A> PolicyCall<On, C, DefaultTimer, K, A> {
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
    pub fn timer<T>(self, timer: T) -> PolicyCall<On, C, T, K, A> {
        self.with(|on, cancel, DefaultTimer, keys, alone| (on, cancel, timer, keys, alone))
    }
}

impl<On, C, W, N, B, R, O, A, M, S> Begun<On, C, W, N, B, R, O, A, M, S> {
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
    pub fn idempotent(
        mut self,
        idempotent: bool,
    ) -> Begun<ByVerdict<On>, C, W, N, B, R, O, A, M, S> {
        self.chain.keys.idempotent = idempotent;
        self.with_on(ByVerdict::new)
    }
}

impl<On, C, W, B, R, O, A, M, S> Begun<On, C, W, Unnamed, B, R, O, A, M, S> {
    /// Names the call in the log. Default: the function that the operation is written in; for a plan its own name.
    pub fn name<V: AsRef<str>>(self, name: V) -> Begun<On, C, W, Named<V>, B, R, O, A, M, S> {
        self.with_keys(|keys| keys.named(name))
    }
}

impl<On, C, W, N, R, O, A, M, S> Begun<On, C, W, N, Unnamed, R, O, A, M, S> {
    /// Says what retries are paid from: a `&`[`Budget`](crate::Budget), or whatever else is a [`RetryBudget`]. When nothing
    /// is left, the call gives up with [`Reason::Budget`](crate::Reason::Budget).
    pub fn budget<V: RetryBudget + Shareable>(
        self,
        budget: V,
    ) -> Begun<On, C, W, N, Named<V>, R, O, A, M, S> {
        self.with_keys(|keys| keys.paid_from(budget))
    }
}

impl<On, C, W, N, B, O, A, M, S> Begun<On, C, W, N, B, Unnamed, O, A, M, S> {
    /// Says what lets attempts through: a `&`[`Breaker`](crate::Breaker), or whatever else is a [`CircuitBreaker`].
    /// While it is open, a call that begins ends at once with [`Reason::Rejected`](crate::Reason::Rejected), and one
    /// that is retrying ends after its pause.
    ///
    /// The error type of a call must be `From<Rejected>`. It is kept during the pause, so the call's future is `Send` only if
    /// the error is.
    pub fn breaker<V: CircuitBreaker + Shareable>(
        self,
        breaker: V,
    ) -> Begun<On, C, W, N, B, Named<V>, O, A, M, S> {
        self.with_keys(|keys| keys.admitted_by(breaker))
    }
}

impl<On, C, W, N, B, R, O, A, S> Begun<On, C, W, N, B, R, O, A, Unnamed, S> {
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
    ) -> Begun<On, C, W, N, B, R, O, A, Named<V>, S> {
        self.with_keys(|keys| keys.limited_by(limiter))
    }
}

impl<On, C, W, N, B, R, A, M, S> Begun<On, C, W, N, B, R, Unnamed, A, M, S> {
    /// Says what sees every [`Event`], besides the log. An [`Observer`](crate::Observer) is one as
    /// `|event| observer.observe(event)`.
    pub fn observe<V>(self, observer: V) -> Begun<On, C, W, N, B, R, Named<V>, A, M, S>
    where
        V: FnMut(&Event<'_>),
    {
        self.with_keys(|keys| keys.observed_by(observer))
    }
}

#[cfg(feature = "tracing")]
impl<On, C, W, N, B, R, O, A, M> Begun<On, C, W, N, B, R, O, A, M> {
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
    pub fn span(self, is_on: bool) -> Begun<On, C, W, N, B, R, O, A, M, Named<bool>> {
        self.with_keys(|keys| keys.in_spans(is_on))
    }
}

impl<On, C, W, K, T, F> PolicyCall<On, C, W, K, Alone<Unnamed, T, F>> {
    /// Says which values are taken. Others are retried like a transient failure; when the retries run out, the call returns
    /// the last value.
    pub fn until<V, U: FnMut(&V) -> bool>(
        self,
        until: U,
    ) -> PolicyCall<On, C, W, K, Alone<Named<U>, T, F>> {
        self.with_alone(|alone| Alone {
            until: Named(until),
            timeout: alone.timeout,
            fallback: alone.fallback,
        })
    }
}

impl<On, C, W, K, U, F> PolicyCall<On, C, W, K, Alone<U, Unnamed, F>> {
    /// Drops each attempt that takes longer than this. It fails with a [`TimedOut`](crate::TimedOut), so the error type
    /// must be `From<TimedOut>`. It replaces the policy's own `timeout`.
    pub fn timeout(mut self, timeout: Duration) -> PolicyCall<On, C, W, K, Alone<U, Timed, F>> {
        self.policy = self.policy.timeout(timeout);
        self.policy_timeout()
    }

    /// The same with the policy's own [`timeout`](Policy::timeout), if it has one: as in the attribute the key `timeout`
    /// alone.
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
    pub fn policy_timeout(self) -> PolicyCall<On, C, W, K, Alone<U, Timed, F>> {
        self.with_alone(|alone| Alone {
            until: alone.until,
            timeout: Timed,
            fallback: alone.fallback,
        })
    }
}

impl<On, C, W, K, U, T> PolicyCall<On, C, W, K, Alone<U, T, Unnamed>> {
    /// Names the last resort after giving up, for whatever [`Reason`](crate::Reason): a function from a [`GaveUp`] to another
    /// outcome, async for async calls. The errors of earlier attempts are kept for it.
    pub fn fallback<E, Fallen, F: FnOnce(GaveUp<E>) -> Fallen>(
        self,
        fallback: F,
    ) -> PolicyCall<On, C, W, K, Alone<U, T, Named<F>>> {
        self.with_alone(|alone| Alone {
            until: alone.until,
            timeout: alone.timeout,
            fallback: Named(fallback),
        })
    }
}
