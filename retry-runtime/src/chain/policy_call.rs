use alloc::sync::Arc;
use core::future::Future;
use core::marker::PhantomData;

use crate::call::attempt::Attempt;
use crate::call::protections::{Protections, Protects};
use crate::chain::abort::Aborts;
use crate::chain::key::Key;
use crate::chain::keys::{CallKeys, Ends, Keys, SharedKeys, SingleKeys};
use crate::chain::on_error::{ByClassify, OnError};
use crate::chain::operation::{BlockingOutcome, MakesAttempts, OfAttempt, Operation, Plain};
use crate::chain::rejects::Rejects;
use crate::chain::run_async::{AsyncKeys, run};
use crate::chain::run_blocking::{BlockingKeys, run_blocking};
use crate::chain::span::around;
#[cfg(feature = "std")]
use crate::classify::Classify;
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
/// Keys mean what they mean in the attribute. They can be named in any order; if one is named twice, the last counts. What
/// is not named costs nothing: each type parameter stands for some of the keys. [`Policy::on`] and the others begin a chain,
/// [`call`](Self::call) and its relatives end it. Batches and plans take chains, too, of the keys that they can have.
///
/// # How an error is shown
///
/// The log shows an error as [`Classify::describe`] says: with its causes for all types of this crate and of its clients, and
/// for types that derive [`Classify`] and are an `Error` or `Display`. A chain with [`on`](Self::on) knows nothing of the
/// error's type and shows its name; [`show`](Self::show) says more.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing happens until it is called"]
pub struct PolicyCall<On = ByClassify, P = Protections, K = Keys, A = CallKeys> {
    pub(crate) on: On,
    pub(crate) protections: P,
    pub(crate) keys: K,
    pub(crate) single: A,
}

impl<Q> PolicyCall<ByClassify, Protections, Keys<(), (), Uncancelled, DefaultTimer, Q>> {
    /// A policy without other keys.
    #[inline]
    pub(crate) const fn of(policy: Q) -> Self {
        Self {
            on: ByClassify,
            protections: Protections::new(),
            keys: Keys::of(policy),
            single: CallKeys::new(),
        }
    }
}

/// Any [`PolicyCall`], for loops that are generic over all its keys at once.
pub(super) trait Keyed {
    type On;
    type Protections: Protects + Ends;
    type Keys: SharedKeys;
    type Single: SingleKeys + Ends;

    fn into_call(self) -> CallOf<Self>;
}

pub(super) type CallOf<Q> = PolicyCall<
    <Q as Keyed>::On,
    <Q as Keyed>::Protections,
    <Q as Keyed>::Keys,
    <Q as Keyed>::Single,
>;

impl<On, P, K, A> Keyed for PolicyCall<On, P, K, A>
where
    P: Protects + Ends,
    K: SharedKeys,
    A: SingleKeys + Ends,
{
    type On = On;
    type Protections = P;
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

impl<On, P, K, A> PolicyCall<On, P, K, A>
where
    P: Protects + Ends,
    K: SharedKeys,
    A: SingleKeys + Ends,
{
    /// Calls an operation like [`Policy::call`].
    #[inline]
    pub fn call<Op, Fut, T, E>(self, operation: Op) -> impl Future<Output = Result<T, E>>
    where
        Op: Operation<Fut>,
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        K: SharedKeys<Cancel: MayAbort + Aborts<E>, Timer: Timer>,
        P::Key: Rejects<E>,
        A: AsyncKeys<T, E>,
    {
        self.run(Plain::<_, HistoryOf<A, E>>(operation, PhantomData))
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
    pub fn call_attempt<Op, Fut, T, E>(self, operation: Op) -> impl Future<Output = Result<T, E>>
    where
        Op: FnMut(Arc<Attempt<E>>) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        K: SharedKeys<Cancel: MayAbort + Aborts<E>, Timer: Timer>,
        P::Key: Rejects<E>,
        A: AsyncKeys<T, E>,
    {
        self.run(OfAttempt(operation, PhantomData))
    }

    #[inline]
    fn run<Op, Fut, T, E>(self, operation: Op) -> impl Future<Output = Result<T, E>>
    where
        Op: MakesAttempts<E, Fut>,
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        K: SharedKeys<Cancel: MayAbort + Aborts<E>, Timer: Timer>,
        P::Key: Rejects<E>,
        A: AsyncKeys<T, E>,
    {
        let name = self.keys.span_name(Op::default_name);
        around(name, run(self, operation))
    }

    /// Like [`Policy::call_blocking`]. Blocking calls can't have `timeout`.
    pub fn call_blocking<Op, R, T, E>(self, operation: Op) -> R
    where
        Op: FnMut() -> R,
        R: BlockingOutcome<T, E>,
        On: OnError<E>,
        K: SharedKeys<Cancel: Cancel + Aborts<E>, Timer: BlockingTimer>,
        P::Key: Rejects<E>,
        A: BlockingKeys<T, E>,
    {
        let operation = Plain::<_, HistoryOf<A, E>>(operation, PhantomData);
        R::from_result(run_blocking(self, operation))
    }

    /// Like [`call_attempt`](Self::call_attempt), for blocking code.
    pub fn call_attempt_blocking<Op, R, T, E>(self, operation: Op) -> R
    where
        Op: FnMut(Arc<Attempt<E>>) -> R,
        R: BlockingOutcome<T, E>,
        On: OnError<E>,
        K: SharedKeys<Cancel: Cancel + Aborts<E>, Timer: BlockingTimer>,
        P::Key: Rejects<E>,
        A: BlockingKeys<T, E>,
    {
        R::from_result(run_blocking(self, OfAttempt(operation, PhantomData)))
    }
}

/// Room for the history that a fallback needs.
type HistoryOf<A, E> = <<A as SingleKeys>::Fallback as Key>::Room<Arc<Attempt<E>>>;
