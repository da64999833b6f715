//! The trait that breakers and limiters implement.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::task::Waker;
use core::time::Duration;

use crate::enum_with_names::enum_with_names;
use crate::forward::forward;
use crate::observe::Cause;
use retry_classify::macro_support::Basis;
use retry_classify::{Kind, Verdict};

/// Admits, delays or rejects the attempts of all calls that share it: the keys `breaker` and `limiter`.
///
/// Each attempt enters the queue, is polled until it is admitted or rejected, and leaves when it has ended. The two
/// keys handle an attempt that is not admitted at once differently:
///
/// | key | an attempt that has to wait | time of entry |
/// |---|---|---|
/// | `limiter` | waits until it is admitted, limited by [`longest_wait`](Self::longest_wait) and the deadline | first, before the breaker |
/// | `breaker` | is rejected | immediately before the attempt starts; [`is_open`](Self::is_open) is checked before any wait |
///
/// A switch that an operator can flip during maintenance:
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
/// use std::task::Waker;
/// use std::time::Duration;
/// use retry_runtime::seam::{Admission, AdmissionControl, Permit};
/// use retry_runtime::retry;
///
/// struct Maintenance(AtomicBool);
///
/// impl AdmissionControl for Maintenance {
///     fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
///         if self.0.load(Relaxed) {
///             let at_least = Some(Duration::from_secs(1));
///             return Admission::Wait { ahead: 0, at_least };
///         }
///         Admission::Admitted
///     }
/// }
///
/// static UPSTREAM: Maintenance = Maintenance(AtomicBool::new(false));
///
/// #[retry(limiter = &UPSTREAM, deadline = "500ms")]
/// fn patient() -> std::io::Result<u32> {
///     Ok(42)
/// }
///
/// #[retry(breaker = &UPSTREAM)]
/// fn impatient() -> std::io::Result<u32> {
///     Ok(42)
/// }
///
/// assert_eq!(patient().unwrap(), 42);
/// UPSTREAM.0.store(true, Relaxed);
/// let rejected = patient().unwrap_err();
/// assert_eq!(rejected.to_string(), "rejected: its turn comes after its deadline");
/// let rejected = impatient().unwrap_err();
/// assert_eq!(rejected.to_string(), "rejected by an open circuit breaker");
/// ```
///
/// The keys accept any expression whose type implements this trait. References, `Arc`, `Rc`, `Box` and `Option`
/// implement the trait if the inner type does. `None` admits every attempt.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a circuit breaker or a limiter",
    label = "does not implement `AdmissionControl`",
    note = "implement `retry_runtime::seam::AdmissionControl` for `{Self}`, or pass a reference to a value that implements it",
    note = "the crate `retry-protections` has `Breaker`, `RateLimiter` and `ConcurrencyLimiter`"
)]
pub trait AdmissionControl {
    /// Adds an attempt with this cost to the end of the queue, and returns its permit. By default, every permit has the
    /// number 0.
    fn enter(&self, cost: u32) -> Permit {
        Permit::new(0, cost)
    }

    /// Returns [`Admission::Admitted`] if the attempt may start. Otherwise, stores the waker, replacing the previous
    /// one, and wakes it when the attempt should poll again. An admitted attempt is not polled again.
    ///
    /// An attempt that waits without an `at_least` behind n others is polled every n seconds (at most 30) even if
    /// nothing wakes it, so that it can overtake attempts that are no longer polled.
    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission;

    /// Takes back the permit. Called exactly once for each permit, even if the attempt was not admitted, or if the call
    /// panics or is dropped. Returns the changes to report to the log and observers. By default, records nothing.
    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        _ = (permit, outcome);
        UNCHANGED
    }

    /// Returns true if no attempt would be admitted now. A call that also has a `limiter`, and every call of a client
    /// that `retry-clients` wraps as a whole, checks it before waiting. False by default.
    fn is_open(&self) -> bool {
        false
    }

    /// The time until an open breaker admits a trial call, if known. A call with the section `rejected` pauses for at
    /// least this time after a rejection. Default `None`: its policy alone determines the pause.
    fn half_open_in(&self) -> Option<Duration> {
        None
    }

    /// The longest time that an attempt may wait for admission. Default `None`: no limit.
    fn longest_wait(&self) -> Option<Duration> {
        None
    }

    /// The current state, for metrics. By default, every field is `None`.
    fn state(&self) -> AdmissionState {
        AdmissionState::default()
    }

    /// Returns true if this limiter delays throttled retries, so that a budget need not pay for them.
    #[doc(hidden)]
    fn handles_throttling(&self) -> bool {
        true
    }
}

forward! {
    AdmissionControl {
        fn enter(&self, cost: u32) -> Permit => Permit::new(0, cost);
        fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission => Admission::Admitted;
        fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes => UNCHANGED;
        fn is_open(&self) -> bool => false;
        fn half_open_in(&self) -> Option<Duration> => None;
        fn longest_wait(&self) -> Option<Duration> => None;
        fn state(&self) -> AdmissionState => AdmissionState::default();
        fn handles_throttling(&self) -> bool => false;
    }
    for &T, Arc<T>, Rc<T>, Box<T>;
    Option<T>: "A switch: `None` admits every attempt."
}

/// The permit of one attempt, created by [`AdmissionControl::enter`] and returned to [`AdmissionControl::leave`].
///
/// [`AdmissionControl::enter`]: crate::seam::AdmissionControl::enter
/// [`AdmissionControl::leave`]: crate::seam::AdmissionControl::leave
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    number: u64,
    cost: u32,
    half_opens: bool,
}

impl Permit {
    /// Creates a permit with the attempt's cost. The breaker or limiter chooses the number: a position in its queue,
    /// for example, or a count of its state changes.
    #[inline]
    pub const fn new(number: u64, cost: u32) -> Self {
        Self {
            number,
            cost,
            half_opens: false,
        }
    }

    /// Creates the permit of a breaker's first trial call, which makes the breaker half open. This change is reported
    /// to the log and observers.
    pub const fn half_opening(number: u64, cost: u32) -> Self {
        let mut permit = Self::new(number, cost);
        permit.half_opens = true;
        permit
    }

    /// The number passed to [`new`](Self::new) or [`half_opening`](Self::half_opening).
    #[inline]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The attempt's cost.
    #[inline]
    pub const fn cost(&self) -> u32 {
        self.cost
    }

    /// True if this permit made a breaker half open.
    #[inline]
    pub const fn half_opens(&self) -> bool {
        self.half_opens
    }
}

/// The result of [`AdmissionControl::poll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The attempt may start.
    Admitted,
    /// The attempt has to wait.
    Wait {
        /// The number of attempts ahead in the queue.
        ahead: usize,
        /// The time after which the attempt polls again if it is not woken earlier. `None`: it waits to be woken.
        at_least: Option<Duration>,
    },
    /// The attempt can't start. The call ends, unless its policy retries rejections.
    Rejected,
    /// Too many attempts are waiting already. The call ends, unless its policy retries rejections.
    QueueFull,
}

impl Admission {
    /// The `at_least` to return if any success could make room for the attempt. A wait this short is allowed if any
    /// time is left before the deadline and the [`longest_wait`](AdmissionControl::longest_wait).
    pub const SOON: Duration = Duration::from_millis(20);

    /// An attempt that polls this much too late may be overtaken by those behind it, but keeps its position.
    pub const ABSENT: Duration = Duration::from_secs(1);
}

/// The outcome of an attempt, as reported to breakers and limiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The server answered: with a value, even one that `until` or `validate` rejected, or with an error that is not
    /// worth a retry.
    Success,
    /// The attempt failed.
    Failure {
        /// The kind: `Transient`, `Throttled` or `Timeout`.
        kind: Kind,
        /// The wait that the server asked for, if any.
        hint: Option<Duration>,
    },
    /// No evidence about the server, because the error was not classified.
    Ignored,
    /// The attempt never started, or a breaker or a limiter inside the operation rejected it. Its cost is refunded.
    NotBegun,
    /// The attempt was dropped or panicked.
    Dropped,
}

/// A change of shared state, caused by one attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// A breaker changed its state.
    Breaker(Transition),
    /// An attempt failed, and the server asked for a wait: no attempt starts during this pause. Reported again if a
    /// later hint more than doubles the remaining time.
    Paused {
        /// The length of the pause.
        pause: Duration,
    },
    /// The server answers again after a pause.
    Resumed,
    /// The new limit on concurrent attempts.
    Limit(u32),
    /// The new rate: the total cost of the attempts that may start per second.
    Rate(f64),
}

/// The changes caused by the end of one attempt: at most two, such as a pause and a new limit.
pub type Changes = [Option<Change>; 2];

/// No change.
pub(crate) const UNCHANGED: Changes = [None; 2];

/// The change when a breaker's first trial call starts.
pub(crate) const HALF_OPENED: Changes = [Some(Change::Breaker(Transition::HalfOpened)), None];

/// A change of a breaker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transition {
    /// The breaker opened, and rejects every attempt.
    Opened {
        /// The reason.
        cause: Cause,
        /// The time until the breaker admits trial calls.
        open_for: Duration,
    },
    /// The breaker admits trial calls, because it was open for long enough.
    HalfOpened,
    /// The breaker admits every attempt again, because the trial calls succeeded.
    Closed,
}

/// The state of a breaker or a limiter, returned by [`AdmissionControl::state`]. Fields are `None` if unknown.
///
/// [`AdmissionControl::state`]: crate::seam::AdmissionControl::state
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AdmissionState {
    /// The state of a breaker's circuit.
    pub circuit: Option<BreakerState>,
    /// The total cost of the attempts in flight.
    pub running: Option<u64>,
    /// The number of attempts that wait to be admitted.
    pub waiting: Option<usize>,
    /// The limit on concurrent attempts.
    pub limit: Option<u32>,
    /// The total cost of the attempts that may start per second; infinite without a limit.
    pub rate: Option<f64>,
}

enum_with_names! {
    /// The state of a breaker.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    BreakerState:
    /// Every attempt is admitted.
    Closed = "closed",
    /// Every attempt is rejected.
    Open = "open",
    /// Trial calls are admitted.
    HalfOpen = "half open",
    /// Every attempt is rejected until the breaker is reset: `Breaker::force_open`.
    ForcedOpen = "forced open",
    /// Every attempt is admitted and none is counted until the breaker is reset: `Breaker::force_closed`.
    ForcedClosed = "forced closed",
}

impl AttemptOutcome {
    /// The outcome of an attempt that failed with this verdict.
    #[doc(hidden)]
    pub fn of_failure(verdict: Verdict) -> Self {
        match verdict.kind_seen() {
            None if verdict.basis() != Basis::Answer => Self::Ignored,
            Some(Kind::Rejected) => Self::NotBegun,
            Some(Kind::Invalid) | None => Self::Success,
            Some(kind) => Self::Failure {
                kind,
                hint: verdict.hint(),
            },
        }
    }
}

/// A limiter for attempts whose cost is not 1, such as model requests that cost many tokens.
///
/// The limiters of `retry-protections` have a method `cost` that creates one. Wrap other limiters with `WithCost::new`:
///
/// ```
/// use std::time::Duration;
/// use retry_protections::{Quota, RateLimiter};
/// use retry_runtime::seam::{AdmissionControl, WithCost};
/// use retry_runtime::retry;
///
/// static SEARCH: RateLimiter<Quota> =
///     RateLimiter::fixed(60, Duration::from_secs(1)).burst(60);
///
/// #[retry(limiter = SEARCH.cost(10))]
/// fn search_all() -> std::io::Result<u32> {
///     Ok(42)
/// }
///
/// #[retry(limiter = WithCost::new(limiter, 10))]
/// fn search(limiter: &dyn AdmissionControl) -> std::io::Result<u32> {
///     Ok(42)
/// }
///
/// search_all().unwrap();
/// search(&SEARCH).unwrap();
/// assert!((40.0..41.0).contains(&SEARCH.available()));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WithCost<L> {
    limiter: L,
    cost: u32,
}

impl<L> WithCost<L> {
    /// Multiplies the cost of each attempt in `limiter` by `cost`. With 0, an attempt waits its turn like any other,
    /// but costs nothing.
    pub const fn new(limiter: L, cost: u32) -> Self {
        Self { limiter, cost }
    }
}

forward! {
    @held AdmissionControl {
        fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission;
        fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes;
        fn longest_wait(&self) -> Option<Duration>;
        fn state(&self) -> AdmissionState;
        fn handles_throttling(&self) -> bool;
    }
    [] [L: AdmissionControl] WithCost<L>, |with_cost| with_cost.limiter, {
        #[inline]
        fn enter(&self, cost: u32) -> Permit {
            self.limiter.enter(self.cost.saturating_mul(cost))
        }
    }
}
