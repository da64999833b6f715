use std::error::Error;
use std::fmt::{self, Write as _};
use std::future::ready;
use std::time::Duration;

use retry_runtime::chain::{ByClassify, ByVerdict, OnError, ShownBy};
use retry_runtime::macro_support::{Driver, Reporter, ignores_timeout};
use retry_runtime::own_loop::{Call, Failure, Protections, Site};
use retry_runtime::seam::{Moment, RetryBudget, Timer};
use retry_runtime::{Classify, Event, Observer, Policy, Reason, Verdict};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::unreadable::{self, UnreadableError};

/// Adds calls that survive a restart to [`Policy`].
pub trait DurablePolicy: Copy + Into<Policy> {
    /// Calls `operation` until it succeeds or this policy gives up, across restarts of the program.
    /// Short for [`Durable::call`] without other keys.
    fn durable<G, R, T, E>(
        &self,
        engine: &G,
        name: &str,
        operation: impl FnMut() -> R + Send,
    ) -> impl Future<Output = Result<T, DurableError<E, G::Error>>>
    where
        G: Engine,
        R: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned + Send,
        E: Classify + Serialize + DeserializeOwned + Send + Sync,
    {
        Durable::new((*self).into()).call(engine, name, operation)
    }
}

impl DurablePolicy for Policy {}

/// A call that survives a restart of the program: a policy and other keys.
///
/// ```
/// use retry_durable::{Durable, Journal};
/// use retry_runtime::{Budget, Policy, Verdict};
///
/// static BUDGET: Budget = Budget::standard();
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let journal = Journal::open(directory.path().join("order 43"))?;
/// let stored = Durable::new(Policy::new().max(20))
///     .on(|error: &String| match error.as_str() {
///         "429" => Verdict::THROTTLED,
///         _ => Verdict::STOP,
///     })
///     .budget(&BUDGET)
///     .idempotent(false)
///     .call(&journal, "store", async || Ok::<_, String>(7))
///     .await;
/// assert_eq!(stored.unwrap(), 7);
/// # Ok(())
/// # }
/// ```
///
/// Keys have the same meaning as in the attribute. The policy's deadline counts from the first start, and includes the
/// time during which the program doesn't run. The policy's timeout is ignored, and a `WARN` is logged: set a timeout
/// inside the operation.
#[derive(Clone, Copy)]
#[must_use = "nothing happens until it is called"]
pub struct Durable<'b, On = ByClassify> {
    policy: Policy,
    on: On,
    idempotent: bool,
    budget: Option<Budget<'b>>,
    observer: Option<ObserverRef<'b>>,
}

type Budget<'b> = &'b (dyn RetryBudget + Sync);
type ObserverRef<'b> = &'b (dyn Observer + Sync);

impl Durable<'_> {
    /// Creates a call with this policy. Its error type must implement [`Classify`], unless you set `on`.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            on: ByClassify,
            idempotent: true,
            budget: None,
            observer: None,
        }
    }
}

impl<'b> Durable<'b> {
    /// Sets the function that decides which errors to retry. It returns a `bool` or a
    /// [`Verdict`](retry_runtime::Verdict). Call this before [`show`](Self::show).
    pub fn on<F>(self, on: F) -> Durable<'b, F> {
        self.with_on(|ByClassify| on)
    }
}

impl<'b> Durable<'b, ByVerdict<ByClassify>> {
    /// Sets the function that decides which errors to retry. It returns a [`Verdict`](retry_runtime::Verdict). After
    /// [`idempotent`](Self::idempotent), a `bool` is not enough.
    pub fn on<F>(self, on: F) -> Durable<'b, ByVerdict<F>> {
        self.with_on(|_| ByVerdict::new(on))
    }
}

impl<'b, On> Durable<'b, On> {
    /// Shows errors in the log with `show`: a function such as `fmt::Display::fmt`, or a closure
    /// `|error: &MyError, f: &mut fmt::Formatter<'_>| …`. By default, the log contains the text from the error's
    /// [`Classify`] impl, or after [`on`](Self::on) only the name of the error's type.
    ///
    /// ```
    /// # use std::fmt;
    /// # use retry_durable::Durable;
    /// # use retry_runtime::Policy;
    /// let call = Durable::new(Policy::new())
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .show(<String as fmt::Display>::fmt);
    /// # let _ = call;
    /// ```
    pub fn show<E, S>(self, show: S) -> Durable<'b, ShownBy<On, S>>
    where
        S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    {
        self.with_on(|on| ShownBy::new(on, show))
    }

    fn with_on<Other>(self, other: impl FnOnce(On) -> Other) -> Durable<'b, Other> {
        Durable {
            policy: self.policy,
            on: other(self.on),
            idempotent: self.idempotent,
            budget: self.budget,
            observer: self.observer,
        }
    }

    /// Pays for retries from `budget`. A retry that the engine has stored is paid for once, even if the program starts
    /// several times. A retry that never starts, because the deadline would have passed or the run is cancelled, is
    /// refunded.
    pub fn budget(mut self, budget: &'b (dyn RetryBudget + Sync)) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Passes every event to `observer`, such as `Metrics`, except events of attempts that the engine has already
    /// stored. An observer must not panic: the attempt would not be stored, and so would be made again.
    pub fn observe(mut self, observer: &'b (dyn Observer + Sync)) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sets whether a request may be repeated after an ambiguous failure. The default is `true`.
    ///
    /// With `false`, a failure after which the request may have taken effect is not retried. But an attempt that was
    /// running when the program ended is made again: send an idempotency key made of the run's and the call's names, so
    /// that the server recognizes the repeated request. The function of [`on`](Self::on) must return a
    /// [`Verdict`](retry_runtime::Verdict), because a `bool` can't express which failures are ambiguous.
    pub fn idempotent(mut self, idempotent: bool) -> Durable<'b, ByVerdict<On>> {
        self.idempotent = idempotent;
        self.with_on(ByVerdict::new)
    }

    /// Calls `operation` until it succeeds or the policy gives up. `name` is the call's name in the log, and the start
    /// of its steps' names: each call of a run needs a different name.
    ///
    /// For a stored attempt, `operation` does not run again. So a variable that `operation` changes, such as a count of
    /// requests, starts at its initial value each time the program starts.
    pub fn call<G, R, T, E>(
        self,
        engine: &G,
        name: &str,
        mut operation: impl FnMut() -> R + Send,
    ) -> impl Future<Output = Result<T, DurableError<E, G::Error>>>
    where
        G: Engine,
        On: OnError<E> + Send,
        R: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned + Send,
        E: Serialize + DeserializeOwned + Send + Sync,
    {
        self.call_attempt(engine, name, move |_| operation())
    }

    /// Makes a call like [`call`](Self::call), but passes the attempt's number, starting at 1, to `operation`, for the
    /// names of steps and calls inside the attempt. An attempt that is made again, because it was running when the
    /// program ended, has the same number, so it finds its stored steps.
    ///
    /// ```
    /// use retry_durable::{Durable, DurableError, Journal};
    /// use retry_runtime::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// let journal = Journal::open(directory.path().join("order 46"))?;
    /// let call = Durable::new(Policy::new()).on(|_: &String| true);
    /// let journal = &journal;
    /// let placed = call.call_attempt(journal, "place", async |number| {
    ///     let name = format!("place {number}: charge");
    ///     let charged = call.call(journal, &name, async || Ok("receipt".to_owned()));
    ///     charged.await.map_err(|error: DurableError<String, _>| error.to_string())
    /// });
    /// assert_eq!(placed.await.unwrap(), "receipt");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_attempt<G, R, T, E>(
        mut self,
        engine: &G,
        name: &str,
        mut operation: impl FnMut(u32) -> R + Send,
    ) -> Result<T, DurableError<E, G::Error>>
    where
        G: Engine,
        On: OnError<E> + Send,
        R: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned + Send,
        E: Serialize + DeserializeOwned + Send + Sync,
    {
        let policy = self.policy;
        let site = Site::new(&policy, name);
        let begun = async { engine.now().since_origin() };
        let at = engine.step(&format!("{name}: begun"), begun).await;
        let at = at.map_err(|error| DurableError::Engine { error, last: None })?;
        let (mut number, mut pause, mut last) = (1, None, None);
        loop {
            // The retry that was paid for, until this attempt is stored.
            let mut retry = last.as_ref().map(|failed| self.next_retry(failed, true));
            let operation = async { operation(number).await };
            let attempt = self.attempt(engine, name, at, last.as_ref(), operation, &mut retry);
            // Boxed, because each future that passes the attempt on would reserve space for it twice. An engine takes
            // longer than an allocation.
            let attempt = Box::pin(attempt);
            let (ended, outcome) = match engine.attempt(name, number, pause, attempt).await {
                Ok(ended) => ended,
                Err(error) => {
                    if G::is_cancelled(&error) {
                        report_cancelled(engine, &site, self.budget, self.observer, retry).await;
                    } else if let Some(retry) = retry.filter(|retry| !retry.is_kept) {
                        // An engine that drops the program instead of failing may have stored the retry, so the retry
                        // isn't refunded in that case.
                        refund(self.budget, &retry.call);
                    }
                    let last = last.and_then(|failed| failed.error.ok());
                    return Err(DurableError::Engine { error, last });
                }
            };
            pause = match outcome {
                StoredOutcome::Succeeded(value) => return Ok(value),
                StoredOutcome::GaveUp(error) => return Err(DurableError::of(error)),
                StoredOutcome::Revoked => match last.take() {
                    Some(Failed { error, .. }) => return Err(DurableError::of(error)),
                    // Never stored by this program, because only a retry can be revoked.
                    None => None,
                },
                StoredOutcome::Pauses(pause, failed) => {
                    let end = Moment::from_origin(failed.at.saturating_add(pause));
                    let failure = Failure::new(&site, verdict(&failed.call), &"");
                    // Don't wait for an attempt that will not be made. The attempt's step makes that decision, so that
                    // each run reads the same decision.
                    let pause = match failed.call.revoked(&failure) {
                        Some(_) => Duration::ZERO,
                        // At most the whole pause: the clock may have been set back.
                        None => end.since(engine.now()).min(pause),
                    };
                    last = Some(failed);
                    Some(pause)
                }
            };
            number = ended + 1;
        }
    }

    /// Makes one attempt, and decides what follows.
    async fn attempt<G: Engine, T, E>(
        &mut self,
        engine: &G,
        name: &str,
        begun: Duration,
        last: Option<&Failed<E>>,
        operation: impl Future<Output = Result<T, E>> + Send,
        retry: &mut Option<Retry>,
    ) -> StoredOutcome<T, E>
    where
        On: OnError<E> + Send,
        E: Send + Sync,
    {
        *retry = None;
        let site = Site::new(&self.policy, name);
        let observer = self.observer;
        let mut observe = |event: &Event<'_>| observer.observe(event);
        let (saved, at) = last.map_or((Call::new(), begun), |last| (last.call, last.at));
        let clock = EngineClock(engine);
        let elapsed = || clock.now().since(Moment::from_origin(at));
        let mut driver = Driver::new(Protections::new().budget(self.budget), &clock);
        driver.set_max(self.policy.retries_allowed());
        let left = |limit: Duration| limit.saturating_sub(saved.spent()).saturating_add(at);
        driver.set_end(self.policy.time_limit().map(left).map(Moment::from_origin));
        if let Some(failed) = last {
            driver.resume(saved);
            // Counts the whole pause, even if it was skipped because it would end after the deadline.
            if self.is_revoked(failed, &site, elapsed().max(saved.last_delay())) {
                return StoredOutcome::Revoked;
            }
        }
        if self.policy.attempt_limit().is_some() {
            ignores_timeout(name);
        }
        let waits = driver.waits(Reporter::named(name).observe(&mut observe));
        debug_assert!(!waits, "nothing rejects a durable call");
        let error = match operation.await {
            Ok(value) => {
                driver.ok(Reporter::named(name).observe(&mut observe));
                return StoredOutcome::Succeeded(value);
            }
            Err(error) => error,
        };
        let verdict = self.on.verdict(&error);
        let shown = Shown(&self.on, Some(&error));
        let failure = Failure::new(&site, verdict, &shown)
            .elapsed(elapsed())
            .idempotent(self.idempotent);
        let reporter = Reporter::named(name).observe(&mut observe);
        let Ok(pause) = driver.failed(failure, reporter) else {
            return StoredOutcome::GaveUp(Ok(error));
        };
        let failed = Failed {
            call: driver.into_saved(),
            // Not before the previous failure. Otherwise, if the clock was set back and is corrected before the next
            // attempt, the difference would count as elapsed time.
            at: engine.now().since_origin().max(at),
            error: Ok(error),
        };
        *retry = Some(self.next_retry(&failed, false));
        StoredOutcome::Pauses(pause, failed)
    }

    /// Returns true and reports the end of the call if the policy no longer allows the retry of this failure.
    fn is_revoked<E>(&self, failed: &Failed<E>, site: &Site<'_>, elapsed: Duration) -> bool
    where
        On: OnError<E>,
    {
        let shown = Shown(&self.on, failed.error.as_ref().ok());
        let failure = Failure::new(site, verdict(&failed.call), &shown).elapsed(elapsed);
        let mut observe = |event: &Event<'_>| self.observer.observe(event);
        let resumed = failed.call.resumed(failure.observe(&mut observe));
        resumed.is_err()
    }

    /// Returns the retry that follows a failure.
    fn next_retry<E>(&self, failed: &Failed<E>, is_kept: bool) -> Retry
    where
        On: OnError<E>,
    {
        let mut error = String::new();
        // Keeps the text that a user's `Display` impl writes before it fails.
        let _ = write!(error, "{}", Shown(&self.on, failed.error.as_ref().ok()));
        Retry {
            call: failed.call,
            error,
            is_kept,
        }
    }
}

/// An engine's clock. Its `sleep` returns at once, because the engine itself waits.
struct EngineClock<'a, G>(&'a G);

impl<G: Engine> Timer for EngineClock<'_, G> {
    fn sleep(&self, _: Duration) -> impl Future<Output = ()> {
        ready(())
    }

    fn now(&self) -> Moment {
        self.0.now()
    }
}

/// Reports that the call ends before this retry. The engine stores the report, so that later runs don't repeat it.
async fn report_cancelled<G: Engine>(
    engine: &G,
    site: &Site<'_>,
    budget: Option<Budget<'_>>,
    observer: Option<ObserverRef<'_>>,
    retry: Option<Retry>,
) {
    let recorded = async {
        if let Some(retry) = retry {
            refund(budget, &retry.call);
            let mut forward = |event: &Event<'_>| observer.observe(event);
            let verdict = verdict(&retry.call);
            let failure = Failure::new(site, verdict, &retry.error).observe(&mut forward);
            retry.call.gave_up(failure, Reason::Cancelled);
        }
    };
    let name = format!("{}: cancelled", site.name());
    // If the step can't be stored, the call ends anyway, with the error that it already has.
    drop(engine.step(&name, recorded).await);
}

/// Returns the verdict on the failure before the call's last retry, without another call of `on`.
fn verdict(call: &Call) -> Verdict {
    call.retry_kind().map_or(Verdict::TRANSIENT, Verdict::from)
}

/// Refunds a retry that never starts.
fn refund(budget: Option<Budget<'_>>, call: &Call) {
    if let Some(budget) = budget {
        drop(call.paid(budget));
    }
}

/// A failure that is retried: the starting point of the next attempt, which needs the error only as a text for the log.
#[derive(Serialize, Deserialize)]
#[serde(bound(
    serialize = "E: Serialize + DeserializeOwned",
    deserialize = "E: DeserializeOwned"
))]
struct Failed<E> {
    call: Call,
    /// The time of the decision, by the engine's clock.
    at: Duration,
    /// Not an `Option`, because JSON doesn't distinguish an error that is `null` from `None`.
    #[serde(with = "unreadable")]
    error: Result<E, UnreadableError>,
}

/// The outcome of an attempt, with everything that a program needs when it is run again.
#[derive(Serialize, Deserialize)]
#[serde(bound(
    serialize = "T: Serialize, E: Serialize + DeserializeOwned",
    deserialize = "T: DeserializeOwned, E: DeserializeOwned"
))]
enum StoredOutcome<T, E> {
    Succeeded(T),
    Pauses(Duration, Failed<E>),
    GaveUp(#[serde(with = "unreadable")] Result<E, UnreadableError>),
    /// The attempt was not made, because it was too late or the policy no longer allowed it: the call gives up with the
    /// previous attempt's error.
    #[serde(rename = "TooLate")]
    Revoked,
}

/// A retry that was paid for, and the failure before it.
struct Retry {
    call: Call,
    error: String,
    /// True if the engine has stored the decision to retry.
    is_kept: bool,
}

/// Displays an error in the log, if the program can read it.
struct Shown<'a, On, E>(&'a On, Option<&'a E>);

impl<On: OnError<E>, E> fmt::Display for Shown<'_, On, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(error) => self.0.describe(error, f),
            None => f.write_str("an error that this program can't read"),
        }
    }
}

/// The reason why a call ended without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurableError<E, G> {
    /// The policy gave up, and this is the last error. A program that runs again gets the same error.
    GaveUp(E),
    /// The policy gave up, and this program can't read the last error. A program that can read it
    /// gets [`GaveUp`](Self::GaveUp).
    Unreadable(UnreadableError),
    /// The engine could not store or read a step, or has ended the run. When the program runs again, the call continues
    /// from the stored steps.
    Engine {
        /// The engine's error.
        error: G,
        /// The last failure that the call was going to retry, if it is stored and can be read.
        last: Option<E>,
    },
}

impl<E, G> DurableError<E, G> {
    fn of(last: Result<E, UnreadableError>) -> Self {
        last.map_or_else(Self::Unreadable, Self::GaveUp)
    }
}

impl<E: fmt::Display, G: fmt::Display> fmt::Display for DurableError<E, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GaveUp(error) => error.fmt(f),
            Self::Unreadable(error) => error.fmt(f),
            Self::Engine { error, .. } => error.fmt(f),
        }
    }
}

impl<E: Error + 'static, G: Error + 'static> Error for DurableError<E, G> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::GaveUp(error) => error.source(),
            Self::Unreadable(error) => error.source(),
            Self::Engine { error, .. } => error.source(),
        }
    }
}
