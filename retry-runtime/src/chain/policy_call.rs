use alloc::sync::Arc;
use core::borrow::Borrow;
use core::future::Future;
use core::marker::PhantomData;

use crate::call::attempt::Attempt;
use crate::call::hook::HookOutcome;
use crate::call::protections::Rejects;
use crate::chain::abort::Aborts;
use crate::chain::fallback::{FallsBack, FallsBackBlocking};
use crate::chain::hook::Hooks;
use crate::chain::keys::{CallKeys, Keys, Rejecting, SharedKeys, SingleKeys};
use crate::chain::name::{name, place_of};
use crate::chain::on_error::{ByClassify, OnError};
use crate::chain::operation::{BlockingOutcome, OfAttempt, Operation, Plain};
use crate::chain::run_async::run;
use crate::chain::run_blocking::run_blocking;
use crate::chain::span::SpanKey;
use crate::chain::timeout::TimesOut;
use crate::chain::until::UntilKey;
#[cfg(feature = "std")]
use crate::classify::Classify;
use crate::key::{Key, Unnamed};
use crate::policy::Policy;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::{Cancel, MayAbort, Uncancelled};
use crate::time::default_timer::DefaultTimer;
use crate::time::timer::Timer;

/// A policy with keys beside it: the attribute as a chain, for closures that are handed around.
///
/// ```
/// use std::io;
/// use std::time::Duration;
/// use retry_runtime::{Breaker, Budget, Policy};
///
/// static BUDGET: Budget = Budget::ratio(0.1);
/// static BREAKER: Breaker = Breaker::new();
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> io::Result<()> {
/// let page = Policy::new()
///     .max(5)
///     .timeout(Duration::from_secs(30))
///     .name("pages.read")
///     .policy_timeout()
///     .budget(&BUDGET)
///     .breaker(&BREAKER)
///     .until(|page: &String| !page.is_empty())
///     .observe(|event| eprintln!("{event}"))
///     .fallback(async |gave_up| match gave_up.reason() {
///         retry_runtime::Reason::NotRetryable => Err(gave_up.into_error()),
///         _ => Ok(String::from("the cached page")),
///     })
///     .call(async || io::Result::Ok(String::from("hello")))
///     .await?;
/// assert_eq!(page, "hello");
/// # Ok(())
/// # }
/// ```
///
/// Keys mean what they mean in the attribute; each can be named once, in any order. What is not named costs nothing: each
/// type parameter stands for some of the keys. [`Policy::on`] and the others begin a chain, [`call`](Self::call) and its
/// relatives end it. Batches and plans take chains, too, of the keys that they can have.
///
/// # How an error is shown
///
/// The log shows an error as [`Classify::describe`] says: with its causes for all types of this crate and of its clients, and
/// for types that derive [`Classify`] and are an `Error` or `Display`. A chain with [`on`](Self::on) knows nothing of the
/// error's type and shows its name; [`show`](Self::show) says more.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing happens until it is called"]
pub struct PolicyCall<
    On = ByClassify,
    C = Uncancelled,
    W = DefaultTimer,
    K = Keys,
    A = CallKeys,
    P = Policy,
> {
    pub(crate) policy: P,
    pub(crate) on: On,
    pub(crate) cancel: C,
    pub(crate) timer: W,
    pub(crate) keys: K,
    pub(crate) single: A,
}

impl<P> PolicyCall<ByClassify, Uncancelled, DefaultTimer, Keys, CallKeys, P> {
    /// A policy without other keys.
    #[inline]
    pub(crate) const fn of(policy: P) -> Self {
        Self {
            policy,
            on: ByClassify,
            cancel: Uncancelled,
            timer: DefaultTimer,
            keys: Keys::new(),
            single: CallKeys::new(),
        }
    }
}

/// Any [`PolicyCall`], for loops that are generic over all its keys at once.
pub(super) trait Keyed {
    type Policy: Borrow<Policy>;
    type On;
    type Cancel;
    type Timer;
    type Keys: SharedKeys;
    type Single: SingleKeys;

    fn into_call(self) -> CallOf<Self>;
}

pub(super) type CallOf<Q> = PolicyCall<
    <Q as Keyed>::On,
    <Q as Keyed>::Cancel,
    <Q as Keyed>::Timer,
    <Q as Keyed>::Keys,
    <Q as Keyed>::Single,
    <Q as Keyed>::Policy,
>;

impl<On, C, W, K, A, P> Keyed for PolicyCall<On, C, W, K, A, P>
where
    K: SharedKeys,
    A: SingleKeys,
    P: Borrow<Policy>,
{
    type Policy = P;
    type On = On;
    type Cancel = C;
    type Timer = W;
    type Keys = K;
    type Single = A;

    #[inline]
    fn into_call(self) -> Self {
        self
    }
}

impl Policy {
    /// Calls `operation` until it succeeds or this policy gives up: the same loop as the attribute's.
    ///
    /// The error type is classified by [`Classify`]; for another use [`Policy::on`]. The call's name in the log is the
    /// function that the operation is written in, unless [`Policy::name`] names it. The returned future is `Send` if the
    /// operation's is. [`PolicyCall`] lists the keys that a chain may have before the call.
    ///
    /// An async closure must not change what it captures, because the future that it returns would borrow from it:
    /// capture a `Cell`, or use `retrying!`, which has no such limit.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::io;
    /// use retry_runtime::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> io::Result<()> {
    /// let attempts = Cell::new(0);
    /// let answer = Policy::none()
    ///     .max(2)
    ///     .call(async || {
    ///         attempts.set(attempts.get() + 1);
    ///         match attempts.get() {
    ///             1 | 2 => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
    ///             _ => Ok(42),
    ///         }
    ///     })
    ///     .await?;
    /// assert_eq!((answer, attempts.get()), (42, 3));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(any(
        feature = "tokio",
        all(feature = "browser", target_family = "wasm", target_os = "unknown")
    ))]
    pub fn call<F, R, T, E>(&self, operation: F) -> impl Future<Output = Result<T, E>>
    where
        F: Operation<R>,
        R: Future<Output = Result<T, E>>,
        E: Classify,
    {
        run(PolicyCall::of(self), Plain::<_, ()>(operation, PhantomData))
    }

    /// Calls `operation` until it succeeds or this policy gives up, and sleeps on this thread in between.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let missing =
    ///     Policy::none().call_blocking(|| std::fs::read_to_string("no such file"));
    /// assert_eq!(missing.unwrap_err().kind(), std::io::ErrorKind::NotFound);
    /// ```
    #[cfg(feature = "std")]
    pub fn call_blocking<F, R, T, E>(&self, operation: F) -> R
    where
        F: FnMut() -> R,
        R: BlockingOutcome<T, E>,
        E: Classify,
    {
        R::from_result(run_blocking(
            PolicyCall::of(self),
            Plain::<_, ()>(operation, PhantomData),
        ))
    }
}

/// Room for the history that a last resort needs.
type HistoryOf<A, E> = <<A as SingleKeys>::Fallback as Key>::Room<Arc<Attempt<E>>>;

impl<On, C, W, K: SharedKeys, A: SingleKeys, P: Borrow<Policy>> PolicyCall<On, C, W, K, A, P> {
    /// Calls an operation like [`Policy::call`].
    #[inline]
    pub fn call<Op, Fut, Fallen, T, E>(self, operation: Op) -> impl Future<Output = Result<T, E>>
    where
        Op: Operation<Fut>,
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        C: MayAbort + Aborts<E>,
        W: Timer,
        Rejecting<K>: Rejects<E>,
        A: SingleKeys<
                Until: UntilKey<T>,
                Timeout: TimesOut<E>,
                Fallback: FallsBack<T, E, Fallen>,
                BeforePause: Hooks<E, Returned: Future<Output: HookOutcome>>,
                BeforeRetry: Hooks<E, Returned: Future<Output: HookOutcome>>,
            >,
        Fallen: Future<Output = Result<T, E>>,
    {
        let attempts = Plain::<_, HistoryOf<A, E>>(operation, PhantomData);
        self.keys.keys().span.around(
            self,
            |call| name(&call.keys.keys().name, || place_of::<Op>()),
            |call| run(call, attempts),
        )
    }

    /// Like [`call`](Self::call), for an operation that takes what is known of the attempt: the key `attempt`.
    ///
    /// ```
    /// use std::io;
    /// use retry_runtime::Policy;
    ///
    /// # async fn post(key: String) -> io::Result<String> { Ok(key) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> io::Result<()> {
    /// let posted = Policy::new()
    ///     .name("posts.add")
    ///     .call_attempt(async |attempt| {
    ///         if let Some(error) = attempt.last_error() {
    ///             eprintln!("attempt {} follows {error}", attempt.number());
    ///         }
    ///         post(attempt.call_id().to_string()).await
    ///     })
    ///     .await?;
    /// # let _ = posted;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The errors of earlier attempts are kept until the call ends, so the future is `Send` only if the error type is `Send`
    /// and `Sync`. Don't keep the [`Attempt`] beyond the attempt, as in a task that outlives it: the errors so far would
    /// stay there, and the call would go on without them.
    pub fn call_attempt<Op, Fut, Fallen, T, E>(
        self,
        operation: Op,
    ) -> impl Future<Output = Result<T, E>>
    where
        Op: FnMut(Arc<Attempt<E>>) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        C: MayAbort + Aborts<E>,
        W: Timer,
        Rejecting<K>: Rejects<E>,
        A: SingleKeys<
                Until: UntilKey<T>,
                Timeout: TimesOut<E>,
                Fallback: FallsBack<T, E, Fallen>,
                BeforePause: Hooks<E, Returned: Future<Output: HookOutcome>>,
                BeforeRetry: Hooks<E, Returned: Future<Output: HookOutcome>>,
            >,
        Fallen: Future<Output = Result<T, E>>,
    {
        self.keys.keys().span.around(
            self,
            |call| name(&call.keys.keys().name, || place_of::<Op>()),
            |call| run(call, OfAttempt(operation, PhantomData)),
        )
    }

    /// Like [`Policy::call_blocking`]. Blocking calls can't have `timeout`.
    pub fn call_blocking<Op, R, T, E>(self, operation: Op) -> R
    where
        Op: FnMut() -> R,
        R: BlockingOutcome<T, E>,
        On: OnError<E>,
        C: Cancel + Aborts<E>,
        W: BlockingTimer,
        Rejecting<K>: Rejects<E>,
        A: SingleKeys<
                Until: UntilKey<T>,
                Timeout = Unnamed,
                Fallback: FallsBackBlocking<T, E>,
                BeforePause: Hooks<E, Returned: HookOutcome>,
                BeforeRetry: Hooks<E, Returned: HookOutcome>,
            >,
    {
        R::from_result(run_blocking(
            self,
            Plain::<_, HistoryOf<A, E>>(operation, PhantomData),
        ))
    }

    /// Like [`call_attempt`](Self::call_attempt), for blocking code.
    pub fn call_attempt_blocking<Op, R, T, E>(self, operation: Op) -> R
    where
        Op: FnMut(Arc<Attempt<E>>) -> R,
        R: BlockingOutcome<T, E>,
        On: OnError<E>,
        C: Cancel + Aborts<E>,
        W: BlockingTimer,
        Rejecting<K>: Rejects<E>,
        A: SingleKeys<
                Until: UntilKey<T>,
                Timeout = Unnamed,
                Fallback: FallsBackBlocking<T, E>,
                BeforePause: Hooks<E, Returned: HookOutcome>,
                BeforeRetry: Hooks<E, Returned: HookOutcome>,
            >,
    {
        R::from_result(run_blocking(self, OfAttempt(operation, PhantomData)))
    }
}
