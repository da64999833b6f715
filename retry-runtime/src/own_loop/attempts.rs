use alloc::boxed::Box;
use core::fmt;
use core::future::pending;
use core::pin::Pin;
use core::time::Duration;

use retry_classify::{Classify, Rejected, Verdict};

use crate::admission::AdmissionControl;
use crate::budget::retry_budget::RetryBudget;
use crate::call::{
    BorrowedProtections, Call, Decision, Driver, Ending, Failure, NextAttempt, Reporter, Stop,
};
use crate::observe::Event;
use crate::site::Site;
use crate::time::cancel::Remembered;
use crate::time::{BlockingTimer, Cancel, DefaultTimer, Moment, Timer, Uncancelled};

/// The attempts of one call, for your own loop.
///
/// [`first`](Self::first) waits until the first attempt may start. After an attempt, [`ok`](Self::ok) reports success,
/// and [`again`](Self::again) the error: `again` returns the error, or pauses and waits until the next attempt may
/// start. So the loop has the attribute's pauses, hints, deadline and log records, and the keys that you set:
///
/// ```
/// use std::io;
/// use std::time::Duration;
/// use retry_protections::{Breaker, RateLimiter};
/// use retry_runtime::own_loop::{Attempts, Site};
/// use retry_runtime::{Budget, Jitter, Policy};
/// use tokio::time::Instant;
///
/// static BREAKER: Breaker = Breaker::new();
/// static LIMITER: RateLimiter = RateLimiter::adaptive();
/// static BUDGET: Budget = Budget::standard();
/// const POLICY: Policy = Policy::fixed(Duration::from_secs(2)).jitter(Jitter::None);
/// const SITE: Site<'_> = Site::new(&POLICY, "model.complete");
///
/// # async fn post(attempt: u32) -> io::Result<&'static str> {
/// #     if attempt < 3 { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok("hello") }
/// # }
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let began = Instant::now();
/// let mut attempts = Attempts::new(&SITE)
///     .breaker(&BREAKER)
///     .limiter(&LIMITER)
///     .budget(&BUDGET);
/// attempts.first().await?;
/// let answer = loop {
///     match post(attempts.attempt().number()).await {
///         Ok(answer) => break attempts.ok(answer),
///         Err(error) => attempts.again(error).await?,
///     }
/// };
/// assert_eq!((answer, attempts.attempt().number()), ("hello", 3));
/// assert_eq!(began.elapsed(), Duration::from_secs(2 + 2));
/// # Ok(())
/// # }
/// ```
///
/// A blocking loop calls [`first_blocking`](Self::first_blocking) and [`again_blocking`](Self::again_blocking). Create
/// a new value for each call. When the value is dropped, it releases everything that the call holds: a breaker permit,
/// a limiter slot, and the payment for an attempt that has not started.
///
/// The loop itself must enforce the policy's [`timeout`], which [`Policy::attempt_limit`] returns. Hooks and fallbacks
/// are up to the loop, too.
///
/// [`timeout`]: crate::Policy::timeout
/// [`Policy::attempt_limit`]: crate::Policy::attempt_limit
#[must_use = "no attempt begins before `first`"]
pub struct Attempts<'a, W = DefaultTimer> {
    driver: Driver<BorrowedProtections<'a>, W>,
    keys: Keys<'a>,
}

type Observer<'a> = Box<dyn FnMut(&Event<'_>) + Send + 'a>;

struct Keys<'a> {
    site: &'a Site<'a>,
    is_idempotent: bool,
    cancelled: Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
    cancel: &'a (dyn Cancel + Sync),
    observer: Option<Observer<'a>>,
}

impl Keys<'_> {
    fn reporter(&mut self) -> Reporter<'_> {
        let observe = self.observer.as_mut().map(|observe| observe as _);
        Reporter::at(self.site).observed_by(observe)
    }
}

/// A placeholder for the clock, which is not read before the first attempt.
fn no_clock<W>(_: &W) -> Moment {
    Moment::from_origin(Duration::ZERO)
}

impl<'a> Attempts<'a> {
    /// Creates a call with this site's policy and name.
    pub fn new(site: &'a Site<'a>) -> Self {
        let mut driver = Driver::with_clock(BorrowedProtections::default(), DefaultTimer, no_clock);
        driver.retry_rejections();
        let keys = Keys {
            site,
            is_idempotent: true,
            cancelled: Box::pin(pending()),
            cancel: &Uncancelled,
            observer: None,
        };
        Self { driver, keys }
    }

    /// Restores a call that was saved during its pause. [`first`](Self::first) starts its next attempt.
    ///
    /// The next attempt is already paid for: the [`budget`](Self::budget) gets a refund if the attempt doesn't start.
    /// The policy's deadline includes the time that the call had spent, but not the time between saving and loading. To
    /// check first that the policy still allows the attempt, call [`Call::resumed`].
    pub fn from_saved(site: &'a Site<'a>, call: Call) -> Self {
        let mut attempts = Self::new(site);
        attempts.driver.resume(call.with_max_of(site.policy()));
        attempts
    }
}

/// The keys, each of which is optional.
impl<'a, W> Attempts<'a, W> {
    /// Pays for retries from this budget.
    pub fn budget(mut self, budget: &'a (dyn RetryBudget + Send + Sync)) -> Self {
        self.driver.protections().budget = Some(budget);
        self
    }

    /// Passes each attempt through this breaker, which may reject it.
    pub fn breaker(mut self, breaker: &'a (dyn AdmissionControl + Send + Sync)) -> Self {
        self.driver.protections().breaker = Some(breaker);
        self
    }

    /// Waits for this limiter before each attempt.
    pub fn limiter(mut self, limiter: &'a (dyn AdmissionControl + Send + Sync)) -> Self {
        self.driver.protections().limiter = Some(limiter);
        self
    }

    /// Sleeps with this timer: a [`Timer`], or in a blocking loop a [`BlockingTimer`].
    pub fn timer<V>(self, timer: V) -> Attempts<'a, V> {
        Attempts {
            driver: self.driver.with_timer(timer, no_clock),
            keys: self.keys,
        }
    }

    /// Calls `observe` with each event, in addition to the log.
    pub fn observe(mut self, observe: impl FnMut(&Event<'_>) + Send + 'a) -> Self {
        self.keys.observer = Some(Box::new(observe));
        self
    }

    /// Ends the call, during a pause or a wait, once this future (such as `token.cancelled()`) is ready.
    pub fn cancel(mut self, cancelled: impl Future<Output = ()> + Send + 'a) -> Self {
        self.keys.cancelled = Box::pin(Remembered::new(cancelled));
        self
    }

    /// Ends a blocking loop's call, during a pause or a wait, once `cancel` is cancelled.
    pub fn cancel_blocking(mut self, cancel: &'a (dyn Cancel + Sync)) -> Self {
        self.keys.cancel = cancel;
        self
    }

    /// Allows or forbids retries of ambiguous failures. Default true.
    pub fn idempotent(mut self, is_idempotent: bool) -> Self {
        self.keys.is_idempotent = is_idempotent;
        self
    }

    /// Sets each attempt's cost, in the limiter's units. Default 1.
    pub fn cost(mut self, cost: u32) -> Self {
        self.driver.state.cost = cost;
        self
    }

    /// The number of the current attempt, from 1, and the pause before it.
    pub fn attempt(&mut self) -> NextAttempt {
        self.driver.next_attempt()
    }

    /// Reports that the attempt, and so the call, succeeded. Returns `value`.
    pub fn ok<T>(&mut self, value: T) -> T {
        self.driver.ok(self.keys.reporter());
        value
    }

    /// Reports a failed attempt. Returns the pause before the next one, or the error if no attempt follows.
    ///
    /// Use this method in a loop that saves the call during its pause: see [`into_saved`](Self::into_saved). Other
    /// loops call [`again`](Self::again).
    pub fn failed<E: Classify>(&mut self, error: E) -> Result<Duration, E> {
        let verdict = error.classify();
        let failed = self.failed_if(Described(error), verdict);
        failed.map_err(|Described(error)| error)
    }

    /// Reports a failed attempt, with the verdict on its error: a `bool` or a [`Verdict`]. Otherwise like
    /// [`failed`](Self::failed).
    pub fn failed_if<E: fmt::Display>(
        &mut self,
        error: E,
        verdict: impl Into<Verdict>,
    ) -> Result<Duration, E> {
        let decision = self.decide(&error, verdict.into(), false);
        decision.map_err(|_reason| error)
    }

    /// Returns the call, to be saved during its pause and continued by [`from_saved`](Self::from_saved). The payment
    /// for its next attempt is not refunded.
    ///
    /// ```
    /// use retry_runtime::own_loop::{Attempts, Site};
    /// use retry_runtime::{Budget, Policy, Verdict};
    ///
    /// static BUDGET: Budget = Budget::standard();
    /// const POLICY: Policy = Policy::none().max(5);
    /// const SITE: Site<'_> = Site::new(&POLICY, "orders.charge");
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut attempts = Attempts::new(&SITE).budget(&BUDGET);
    /// attempts.first_blocking()?;
    /// let _pause = attempts.failed_if("overloaded", Verdict::TRANSIENT)?;
    /// let saved = attempts.into_saved();
    /// // Later, in this process or in another:
    /// let mut attempts = Attempts::from_saved(&SITE, saved).budget(&BUDGET);
    /// attempts.first_blocking()?;
    /// assert_eq!(attempts.attempt().number(), 2);
    /// assert_eq!(attempts.ok("paid"), "paid");
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_saved(self) -> Call {
        self.driver.into_saved()
    }

    /// Starts the call, and its deadline, on this clock.
    fn start(&mut self, now: fn(&W) -> Moment) {
        self.driver.now = now;
        self.driver.begin_deadline();
        let spent = self.driver.call().spent();
        let limit = self.keys.site.policy().time_limit();
        self.driver
            .set_deadline(limit.map(|limit| limit.saturating_sub(spent)));
    }

    fn decide(
        &mut self,
        error: &dyn fmt::Display,
        verdict: Verdict,
        is_cancelled: bool,
    ) -> Decision {
        let failure = Failure::new(self.keys.site, verdict, error)
            .idempotent(self.keys.is_idempotent)
            .cancelled(is_cancelled);
        self.driver.failed(failure, self.keys.reporter())
    }

    fn decide_rejection(&mut self, is_cancelled: bool) {
        let (site, reporter) = (self.keys.site, self.keys.reporter());
        self.driver.rejected(site, is_cancelled, None, reporter);
    }

    /// Returns an error if no attempt starts.
    fn begun<E: fmt::Display>(&mut self, error: impl FnOnce(&Stop) -> E) -> Result<(), E> {
        let Some(stop) = self.driver.stop() else {
            return Ok(());
        };
        let error = error(&stop);
        self.driver
            .stopped(&stop, &error, Ending::Error, self.keys.reporter());
        Err(error)
    }
}

/// Async loops.
impl<W: Timer> Attempts<'_, W> {
    /// Waits until the first attempt may start.
    ///
    /// # Errors
    ///
    /// Fails if the breaker or the limiter rejects the attempt, or if the call is cancelled.
    pub async fn first(&mut self) -> Result<(), Rejected> {
        self.start(W::now);
        self.wait().await;
        self.begun(Stop::rejected)
    }

    /// Reports a failed attempt, pauses, and waits until the next one may start.
    ///
    /// # Errors
    ///
    /// Returns the error if no attempt follows.
    pub async fn again<E: Classify>(&mut self, error: E) -> Result<(), E> {
        let verdict = error.classify();
        let again = self.again_if(Described(error), verdict).await;
        again.map_err(|Described(error)| error)
    }

    /// Reports a failed attempt, with the verdict on its error: a `bool` or a [`Verdict`]. Otherwise like
    /// [`again`](Self::again).
    ///
    /// # Errors
    ///
    /// Returns the error if no attempt follows.
    pub async fn again_if<E: fmt::Display>(
        &mut self,
        error: E,
        verdict: impl Into<Verdict>,
    ) -> Result<(), E> {
        let verdict = verdict.into();
        let is_cancelled = self.is_cancelled().await;
        if self.decide(&error, verdict, is_cancelled).is_err() {
            return Err(error);
        }
        self.wait().await;
        self.begun(|_| error)
    }

    async fn is_cancelled(&mut self) -> bool {
        let cancelled = Box::pin(self.keys.cancelled.as_mut());
        self.driver.is_cancelled(cancelled).await
    }

    async fn wait(&mut self) {
        while self.driver.waits(self.keys.reporter()) {
            if self.driver.rejection().is_some() {
                let is_cancelled = self.is_cancelled().await;
                self.decide_rejection(is_cancelled);
            }
            let cancelled = self.keys.cancelled.as_mut();
            self.driver.wait(Box::pin(cancelled)).await;
        }
    }
}

/// Blocking loops.
impl<W: BlockingTimer> Attempts<'_, W> {
    /// Blocks this thread until the first attempt may start.
    ///
    /// # Errors
    ///
    /// Fails if the breaker or the limiter rejects the attempt, or if the call is cancelled.
    pub fn first_blocking(&mut self) -> Result<(), Rejected> {
        self.start(W::now);
        self.wait_blocking();
        self.begun(Stop::rejected)
    }

    /// Reports a failed attempt, pauses, and blocks this thread until the next one may start.
    ///
    /// # Errors
    ///
    /// Returns the error if no attempt follows.
    pub fn again_blocking<E: Classify>(&mut self, error: E) -> Result<(), E> {
        let verdict = error.classify();
        let again = self.again_if_blocking(Described(error), verdict);
        again.map_err(|Described(error)| error)
    }

    /// Reports a failed attempt, with the verdict on its error: a `bool` or a [`Verdict`]. Otherwise like
    /// [`again_blocking`](Self::again_blocking).
    ///
    /// # Errors
    ///
    /// Returns the error if no attempt follows.
    pub fn again_if_blocking<E: fmt::Display>(
        &mut self,
        error: E,
        verdict: impl Into<Verdict>,
    ) -> Result<(), E> {
        let is_cancelled = self.keys.cancel.is_cancelled();
        if self.decide(&error, verdict.into(), is_cancelled).is_err() {
            return Err(error);
        }
        self.wait_blocking();
        self.begun(|_| error)
    }

    fn wait_blocking(&mut self) {
        let cancel = self.keys.cancel;
        while self.driver.waits(self.keys.reporter()) {
            if self.driver.rejection().is_some() {
                self.decide_rejection(cancel.is_cancelled());
            }
            self.driver.wait_blocking(cancel);
        }
    }
}

impl<W> fmt::Debug for Attempts<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempts")
            .field("site", self.keys.site)
            .finish_non_exhaustive()
    }
}

/// An error, displayed with [`Classify::describe`].
struct Described<E>(E);

impl<E: Classify> fmt::Display for Described<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}
