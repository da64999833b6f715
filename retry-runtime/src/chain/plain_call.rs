//! Calls of a policy without further keys. They only borrow the policy.

use retry_classify::Classify;

use crate::call::driver::Driver;
use crate::chain::context::{Context, path_of};
use crate::chain::keys::{EndsBy, Hooks, Needs, Settings};
use crate::chain::on_error::ByClassify;
use crate::chain::operation::BlockingOutcome;
use crate::chain::run::{Run, run_blocking};
use crate::policy::Policy;
use crate::site::Name;
use crate::time::{DefaultTimer, Uncancelled};

impl Policy {
    /// Calls `operation` until it succeeds or this policy gives up, with the same loop as the attribute.
    ///
    /// Errors are classified by [`Classify`]; for other error types use [`Policy::on`]. The call's name in the log is
    /// the function that contains the operation, unless [`Policy::name`] sets it. The returned future is `Send` if the
    /// operation's is. [`PolicyCall`](crate::chain::PolicyCall) lists the keys that a chain may have before the call.
    ///
    /// An async closure can't change its captured variables, because its future would borrow them: capture a `Cell`, or
    /// use `retrying!`, which has no such limit.
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
    pub fn call<F, R, T, E>(&self, mut operation: F) -> impl Future<Output = Result<T, E>>
    where
        F: super::operation::Operation<R>,
        R: Future<Output = Result<T, E>>,
        E: Classify,
    {
        super::run_async::run(
            Run {
                driver: Driver::new((), DefaultTimer),
                context: Context::new(self, Settings::default(), Name::Computed(path_of::<F>), ()),
            },
            core::future::pending(),
            ByClassify,
            <Hooks>::default(),
            (<E as EndsBy<Uncancelled, Needs>>::ends, ()),
            ((), false),
            move |_| operation(),
        )
    }
    /// Calls `operation` until it succeeds or this policy gives up, and sleeps on this thread between attempts.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let missing =
    ///     Policy::none().call_blocking(|| std::fs::read_to_string("no such file"));
    /// assert_eq!(missing.unwrap_err().kind(), std::io::ErrorKind::NotFound);
    /// ```
    #[cfg(feature = "std")]
    pub fn call_blocking<F, R, T, E>(&self, mut operation: F) -> Result<T, E>
    where
        F: FnMut() -> R,
        R: BlockingOutcome<T, E>,
        E: Classify,
    {
        run_blocking(
            Run {
                driver: Driver::blocking((), DefaultTimer),
                context: Context::new(self, Settings::default(), Name::Computed(path_of::<F>), ()),
            },
            Uncancelled,
            ByClassify,
            <Hooks>::default(),
            (<E as EndsBy<Uncancelled, Needs>>::ends(), ()),
            false,
            |_| operation().into_result(),
        )
    }
}
