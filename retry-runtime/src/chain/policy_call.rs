use alloc::sync::Arc;
use core::future::Future;

use crate::call::attempt::Attempt;
use crate::chain::alone::Alone;
use crate::chain::breaker::{MayAdmit, Rejects};
use crate::chain::budget::MayPay;
use crate::chain::fallback::{FallsBack, FallsBackBlocking, MayFallBack};
#[cfg(feature = "std")]
use crate::chain::history::NoHistory;
use crate::chain::key::Unnamed;
use crate::chain::keys::Keys;
use crate::chain::limiter::{MayWait, RejectsToo};
use crate::chain::name::{MayName, place_of};
use crate::chain::named::Chain;
use crate::chain::observer::MayObserve;
use crate::chain::on_error::{ByClassify, OnError};
use crate::chain::operation::{OfAttempt, Operation, Plain};
use crate::chain::run::run;
use crate::chain::run_blocking::run_blocking;
use crate::chain::span::MayOpenSpans;
use crate::chain::timeout::{MayTimeOut, TimesOut};
use crate::chain::until::MayReject;
#[cfg(feature = "std")]
use crate::classify::Classify;
use crate::policy::Policy;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::{Cancel, MayCancel, Uncancelled};
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
pub struct PolicyCall<On = ByClassify, C = Uncancelled, W = DefaultTimer, K = Keys, A = Alone> {
    pub(crate) policy: Policy,
    pub(crate) chain: Chain<On, C, W, K, A>,
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
        run(self, Chain::new(), Plain::<_, NoHistory>::new(operation))
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
    pub fn call_blocking<F, T, E>(&self, operation: F) -> Result<T, E>
    where
        F: FnMut() -> Result<T, E>,
        E: Classify,
    {
        run_blocking(self, Chain::new(), Plain::<_, NoHistory>::new(operation))
    }
}

impl<On, C, W, N, B, R, O, M, S, U, L, F>
    PolicyCall<On, C, W, Keys<N, B, R, O, M, S>, Alone<U, L, F>>
where
    N: MayName,
    B: MayPay,
    R: MayAdmit,
    M: MayWait,
    O: MayObserve,
    S: MayOpenSpans,
    L: MayTimeOut,
    F: MayFallBack,
{
    /// As [`Policy::call`].
    pub fn call<Op, Fut, Fallen, T, E>(self, operation: Op) -> impl Future<Output = Result<T, E>>
    where
        Op: Operation<Fut>,
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        C: MayCancel,
        W: Timer,
        R: Rejects<E>,
        M: RejectsToo<E>,
        U: MayReject<T>,
        L: TimesOut<E>,
        F: FallsBack<T, E, <F as MayFallBack>::History<E>, Fallen>,
        Fallen: Future<Output = Result<T, E>>,
    {
        let attempts = Plain::<_, <F as MayFallBack>::History<E>>::new(operation);
        self.chain.keys.span.around(
            self,
            |call| call.chain.keys.name.name(place_of::<Op>),
            |call| run(call.policy, call.chain, attempts),
        )
    }

    /// As [`call`](Self::call), for an operation that takes what is known of the attempt: the key `attempt`.
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
        C: MayCancel,
        W: Timer,
        R: Rejects<E>,
        M: RejectsToo<E>,
        U: MayReject<T>,
        L: TimesOut<E>,
        F: FallsBack<T, E, Arc<Attempt<E>>, Fallen>,
        Fallen: Future<Output = Result<T, E>>,
    {
        let attempts = OfAttempt::new(operation);
        self.chain.keys.span.around(
            self,
            |call| call.chain.keys.name.name(place_of::<Op>),
            |call| run(call.policy, call.chain, attempts),
        )
    }
}

/// Blocking calls can't have `timeout`.
impl<On, C, W, N, B, R, O, M, S, U, F>
    PolicyCall<On, C, W, Keys<N, B, R, O, M, S>, Alone<U, Unnamed, F>>
where
    N: MayName,
    B: MayPay,
    R: MayAdmit,
    M: MayWait,
    O: MayObserve,
    S: MayOpenSpans,
    F: MayFallBack,
{
    /// As [`Policy::call_blocking`].
    pub fn call_blocking<Op, T, E>(self, operation: Op) -> Result<T, E>
    where
        Op: FnMut() -> Result<T, E>,
        On: OnError<E>,
        C: Cancel,
        W: BlockingTimer,
        R: Rejects<E>,
        M: RejectsToo<E>,
        U: MayReject<T>,
        F: FallsBackBlocking<T, E, <F as MayFallBack>::History<E>>,
    {
        let attempts = Plain::<_, <F as MayFallBack>::History<E>>::new(operation);
        let keys = &self.chain.keys;
        let span = keys.span.of_call(|| keys.name.name(place_of::<Op>));
        let _entered = S::enter(&span);
        run_blocking(&self.policy, self.chain, attempts)
    }

    /// As [`call_attempt`](Self::call_attempt), for blocking code.
    pub fn call_attempt_blocking<Op, T, E>(self, operation: Op) -> Result<T, E>
    where
        Op: FnMut(Arc<Attempt<E>>) -> Result<T, E>,
        On: OnError<E>,
        C: Cancel,
        W: BlockingTimer,
        R: Rejects<E>,
        M: RejectsToo<E>,
        U: MayReject<T>,
        F: FallsBackBlocking<T, E, Arc<Attempt<E>>>,
    {
        let attempts = OfAttempt::new(operation);
        let keys = &self.chain.keys;
        let span = keys.span.of_call(|| keys.name.name(place_of::<Op>));
        let _entered = S::enter(&span);
        run_blocking(&self.policy, self.chain, attempts)
    }
}
