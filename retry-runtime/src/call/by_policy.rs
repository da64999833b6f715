//! The attribute's loop as a function: `Policy::call`.

use std::any::{type_name, type_name_of_val};
use std::borrow::Borrow;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use crate::call::attempted;
use crate::call::decide;
use crate::call::failure::Failure;
#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::call::on_error::{ByClassify, OnError};
use crate::call::site::Site;
use crate::call::state::Call;
use crate::classify::Classify;
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::time::cancel::{
    Cancel, CancelledBy, MayCancel, Uncancelled, is_cancelled, pause_or_cancelled, sleep_blocking,
};
use crate::time::clock;
use crate::time::moment::Moment;
use crate::time::timer::Timer;
#[cfg(feature = "tokio")]
use crate::time::timer::TokioTimer;

impl Policy {
    /// Calls `operation` until it succeeds or this policy gives up: the same loop as the attribute's.
    ///
    /// The error type is classified by [`Classify`]; for another use [`Policy::on`]. The log shows the name of
    /// the error's type where the attribute would show the error, and the function that the operation is
    /// written in as the call's name. The returned future is `Send` if the operation's is.
    ///
    /// An async closure must not change what it captures, because the future that it returns would borrow from it:
    /// capture a `Cell`, or use the attribute, which has no such limit.
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
    #[cfg(feature = "tokio")]
    pub fn call<F, R, T, E>(&self, operation: F) -> impl Future<Output = Result<T, E>>
    where
        F: Operation<R>,
        R: Future<Output = Result<T, E>>,
        E: Classify,
    {
        run(self, ByClassify, Uncancelled, TokioTimer, operation)
    }

    /// Calls `operation` until it succeeds or this policy gives up, and sleeps on this thread in between.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let missing = Policy::none().call_blocking(|| std::fs::read_to_string("no such file"));
    /// assert_eq!(missing.unwrap_err().kind(), std::io::ErrorKind::NotFound);
    /// ```
    pub fn call_blocking<F, T, E>(&self, operation: F) -> Result<T, E>
    where
        F: FnMut() -> Result<T, E>,
        E: Classify,
    {
        run_blocking(self, ByClassify, &Uncancelled, operation)
    }

    /// Takes a function that says which errors are worth a retry, for error types that are not [`Classify`].
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let parsed = Policy::none()
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .call_blocking(|| Ok::<_, String>(42));
    /// assert_eq!(parsed, Ok(42));
    /// ```
    pub fn on<On>(&self, on: On) -> PolicyCall<On> {
        PolicyCall {
            policy: *self,
            on,
            cancel: Uncancelled,
        }
    }

    /// Says what cancels the call: see [`PolicyCall::cancel`].
    pub fn cancel<C>(&self, cancel: C) -> PolicyCall<ByClassify, CancelledBy<C>> {
        self.on(ByClassify).cancel(cancel)
    }
}

/// A policy with a function that says which errors are worth a retry, and with what cancels the call: made by
/// [`Policy::on`] and [`Policy::cancel`].
#[derive(Clone, Copy, Debug)]
pub struct PolicyCall<On, C = Uncancelled> {
    pub(crate) policy: Policy,
    pub(crate) on: On,
    pub(crate) cancel: C,
}

impl<On> PolicyCall<On> {
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
    pub fn cancel<C>(self, cancel: C) -> PolicyCall<On, CancelledBy<C>> {
        PolicyCall {
            policy: self.policy,
            on: self.on,
            cancel: CancelledBy(cancel),
        }
    }
}

impl<On, C> PolicyCall<On, C> {
    /// As [`Policy::call`].
    #[cfg(feature = "tokio")]
    pub fn call<F, R, T, E>(self, operation: F) -> impl Future<Output = Result<T, E>>
    where
        F: Operation<R>,
        R: Future<Output = Result<T, E>>,
        On: OnError<E>,
        C: MayCancel,
    {
        run(self.policy, self.on, self.cancel, TokioTimer, operation)
    }

    /// As [`Policy::call`], with another runtime's timer.
    pub fn call_with<F, R, T, E>(
        self,
        timer: impl Timer,
        operation: F,
    ) -> impl Future<Output = Result<T, E>>
    where
        F: Operation<R>,
        R: Future<Output = Result<T, E>>,
        On: OnError<E>,
        C: MayCancel,
    {
        run(self.policy, self.on, self.cancel, timer, operation)
    }

    /// As [`Policy::call_blocking`].
    pub fn call_blocking<F, T, E>(self, operation: F) -> Result<T, E>
    where
        F: FnMut() -> Result<T, E>,
        On: OnError<E>,
        C: Cancel,
    {
        run_blocking(&self.policy, self.on, &self.cancel, operation)
    }
}

/// An async closure, or another function that returns a future, which [`Policy::call`] calls for each attempt.
#[diagnostic::on_unimplemented(
    message = "a policy can't call this for each attempt",
    label = "not `FnMut() -> impl Future`, or it lends what it captures",
    note = "an async closure that changes what it captures lends it to its future: capture a `Cell` or a lock",
    note = "or put `#[retry]` on an async function, which may change what it is given by `&mut`"
)]
pub trait Operation<R>: FnMut() -> R {}

#[diagnostic::do_not_recommend]
impl<F: FnMut() -> R, R> Operation<R> for F {}

// One future around the operation's, not several nested ones, each of which would hold the policy and the closures
// again. A block instead of an `async fn`, which keeps its arguments twice.
#[expect(clippy::manual_async_fn, reason = "see above")]
fn run<P, On, C, W, F, R, T, E>(
    policy: P,
    mut on: On,
    cancel: C,
    timer: W,
    mut operation: F,
) -> impl Future<Output = Result<T, E>>
where
    P: Borrow<Policy>,
    On: OnError<E>,
    C: MayCancel,
    W: Timer,
    F: Operation<R>,
    R: Future<Output = Result<T, E>>,
{
    async move {
        timer.expect();
        let mut cancelled = pin!(cancel.into_cancelled());
        let started = start(policy.borrow(), || timer.now());
        let mut call = Call::new();
        loop {
            // The error's life ends before the pause, so that it need not be `Send`.
            let (pause, kept) = match attempted::awaited!(
                operation(),
                Outer::under(policy.borrow(), name_of(&operation), false)
            ) {
                Ok(value) => {
                    succeeded(&call, policy.borrow(), &operation);
                    return Ok(value);
                }
                Err(error) => {
                    let verdict = decide::verdict(policy.borrow(), || on.verdict(&error));
                    let elapsed = started.map(|started| timer.now().since(started));
                    let told = Told::new(policy.borrow(), verdict, &error, elapsed);
                    let is_cancelled = is_cancelled(cancelled.as_mut());
                    match told.failed(&mut call, name_of(&operation), is_cancelled) {
                        Ok(pause) => (pause, C::keep((verdict, error))),
                        Err(_) => return Err(error),
                    }
                }
            };
            let sleep = pin!(timer.sleep(pause));
            let is_cancelled = pause_or_cancelled(cancelled.as_mut(), sleep).await;
            if let Some((verdict, error)) = C::into_kept(kept) {
                let elapsed = started.map(|started| timer.now().since(started));
                let told = Told::new(policy.borrow(), verdict, &error, elapsed);
                if told
                    .resumed(&call, name_of(&operation), is_cancelled)
                    .is_err()
                {
                    return Err(error);
                }
            }
        }
    }
}

fn run_blocking<On, C, F, T, E>(
    policy: &Policy,
    mut on: On,
    cancel: &C,
    mut operation: F,
) -> Result<T, E>
where
    On: OnError<E>,
    C: Cancel,
    F: FnMut() -> Result<T, E>,
{
    let started = start(policy, clock::now_blocking);
    let elapsed = || started.map(|started| clock::now_blocking().since(started));
    let mut call = Call::new();
    loop {
        let error = match attempted::run!(
            operation(),
            Outer::under(policy, name_of(&operation), false)
        ) {
            Ok(value) => {
                succeeded(&call, policy, &operation);
                return Ok(value);
            }
            Err(error) => error,
        };
        let verdict = decide::verdict(policy, || on.verdict(&error));
        let told = Told::new(policy, verdict, &error, elapsed());
        let decision = told.failed(&mut call, name_of(&operation), cancel.is_cancelled());
        let Ok(pause) = decision else {
            return Err(error);
        };
        let is_cancelled = sleep_blocking(cancel, pause);
        let told = Told::new(policy, verdict, &error, elapsed());
        if told
            .resumed(&call, name_of(&operation), is_cancelled)
            .is_err()
        {
            return Err(error);
        }
    }
}

/// When the call began, where its policy has a deadline: else no clock is read.
fn start(policy: &Policy, now: impl FnOnce() -> Moment) -> Option<Moment> {
    policy.time_limit().map(|_| now())
}

/// What the core is told of a failure, of no type but the policy's.
struct Told<'a> {
    policy: &'a Policy,
    verdict: Verdict,
    /// Generic code can tell no more of an error than its type.
    shown: &'static str,
    elapsed: Option<Duration>,
}

impl<'a> Told<'a> {
    fn new<E>(policy: &'a Policy, verdict: Verdict, _: &E, elapsed: Option<Duration>) -> Self {
        Self {
            policy,
            verdict,
            shown: type_name::<E>(),
            elapsed,
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(&self, call: &mut Call, name: &str, is_cancelled: bool) -> Result<Duration, Reason> {
        self.with_failure(name, |failure| {
            call.failed_with(failure.cancelled(is_cancelled))
        })
    }

    /// Whether the next attempt may begin after the pause.
    #[cold]
    #[inline(never)]
    fn resumed(&self, call: &Call, name: &str, is_cancelled: bool) -> Result<(), Reason> {
        self.with_failure(name, |failure| {
            call.resumed(failure.cancelled(is_cancelled))
        })
    }

    fn with_failure<T>(&self, name: &str, tell: impl FnOnce(Failure<'_>) -> T) -> T {
        let site = Site::new(self.policy, name);
        let mut failure = Failure::new(&site, self.verdict, &self.shown);
        if let Some(elapsed) = self.elapsed {
            failure = failure.elapsed(elapsed);
        }
        tell(failure)
    }
}

fn succeeded<F>(call: &Call, policy: &Policy, operation: &F) {
    if call.is_retried() {
        call.succeeded(&Site::new(policy, name_of(operation)));
    }
}

/// The function that a closure is written in, as the call's name.
pub(crate) fn name_of<F>(operation: &F) -> &'static str {
    without_closures(type_name_of_val(operation))
}

/// The function that something of that name is in, also where it is in closures.
pub(crate) fn without_closures(name: &str) -> &str {
    name.trim_end_matches("::{{closure}}")
}
