//! The keys of a chain that only a single call has, not batches or plans.

#![expect(
    clippy::type_complexity,
    reason = "a chain's type says which keys it has"
)]

use core::time::Duration;

use crate::call::gave_up::GaveUp;
use crate::call::next_attempt::NextAttempt;
use crate::chain::fallback::Fallback;
use crate::chain::hook::Hook;
use crate::chain::keys::{HasKey, With, named};
use crate::chain::policy_call::PolicyCall;
use crate::chain::timeout::Timed;

impl<On, P, K, A> PolicyCall<On, P, K, A> {
    /// Drops each attempt that takes longer than this. It fails with a [`TimedOut`](crate::TimedOut), so the error type
    /// must be `From<TimedOut>`. It replaces the policy's own `timeout`.
    pub fn timeout(
        self,
        timeout: Duration,
    ) -> PolicyCall<On, P, K, With<A, named::timeout, Option<Timed>>>
    where
        A: HasKey<named::timeout>,
    {
        self.with_single::<named::timeout, _>(Timed(Some(timeout)))
    }

    /// Says which values are taken. Others are retried like a transient failure; when the retries run out, the call
    /// returns the last value.
    pub fn until<V, U: FnMut(&V) -> bool>(
        self,
        until: U,
    ) -> PolicyCall<On, P, K, With<A, named::until, Option<U>>>
    where
        A: HasKey<named::until>,
    {
        self.with_single::<named::until, _>(until)
    }

    /// Drops each attempt that takes longer than the policy's own [`timeout`](crate::Policy::timeout), if it has one: as in the
    /// attribute the key `timeout` alone.
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
    pub fn policy_timeout(self) -> PolicyCall<On, P, K, With<A, named::timeout, Option<Timed>>>
    where
        A: HasKey<named::timeout>,
    {
        self.with_single::<named::timeout, _>(Timed(None))
    }

    /// Names the fallback after giving up, for whatever [`Reason`](crate::Reason): a function from a [`GaveUp`] to another
    /// outcome, async for async calls. The errors of earlier attempts are kept for it.
    pub fn fallback<E, Fallen, F: FnOnce(GaveUp<E>) -> Fallen>(
        self,
        fallback: F,
    ) -> PolicyCall<On, P, K, With<A, named::fallback, Option<Fallback<F, Fallen>>>>
    where
        A: HasKey<named::fallback>,
    {
        self.with_single::<named::fallback, _>(Fallback::new(fallback))
    }

    /// Names what runs after each error that a retry follows, before the pause: a function of the error and a
    /// [`NextAttempt`]. See [`before_retry`](Self::before_retry), which runs after the pause.
    ///
    /// So something sees each error with its type, and the pause:
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
    pub fn before_pause<E, Ret, H: FnMut(&E, NextAttempt) -> Ret>(
        self,
        hook: H,
    ) -> PolicyCall<On, P, K, With<A, named::before_pause, Option<Hook<H, Ret>>>>
    where
        A: HasKey<named::before_pause>,
    {
        self.with_single::<named::before_pause, _>(Hook::new(hook))
    }

    /// Names what runs before each retry that follows an error, after the pause: a function of the error and a
    /// [`NextAttempt`]. It refreshes a token, or shortens the request.
    ///
    /// It returns `()` or a `Result<(), _>`, for [`call`](Self::call) a future of either. An `Err` ends the call: with the
    /// attempt's error, and with [`Reason::HookFailed`](crate::Reason::HookFailed). Its time counts against the deadline, and
    /// no attempt is counted for it. The error is kept during the pause, so the call's future is `Send` only if the error is.
    ///
    /// The future can't borrow from the error: a closure takes what it needs of it, and returns an `async move` block.
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
    pub fn before_retry<E, Ret, H: FnMut(&E, NextAttempt) -> Ret>(
        self,
        hook: H,
    ) -> PolicyCall<On, P, K, With<A, named::before_retry, Option<Hook<H, Ret>>>>
    where
        A: HasKey<named::before_retry>,
    {
        self.with_single::<named::before_retry, _>(Hook::new(hook))
    }
}
