//! The trait of breakers and limiters, which admit the attempts of all calls that share them.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::task::Waker;
use core::time::Duration;

use crate::forward::forward;
use crate::listed::listed;
use crate::observe::Cause;
use retry_classify::Kind;
use retry_classify::Verdict;
use retry_classify::macro_support::Basis;

/// Admits attempts, delays them, or rejects them. Calls share it, by the key `breaker` or the key `limiter`.
///
/// Each attempt enters, is polled until it is admitted or rejected, and leaves when it has ended. The keys differ in
/// what an attempt does that is not admitted at once:
///
/// | key | an attempt that has to wait | when it is asked |
/// |---|---|---|
/// | `limiter` | waits, up to [`longest_wait`](Self::longest_wait) and the deadline | first |
/// | `breaker` | is rejected | immediately before the attempt, and by [`is_open`](Self::is_open) before any wait |
///
/// A switch that an operator uses during maintenance:
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
/// use std::task::Waker;
/// use std::time::Duration;
/// use retry_runtime::{Admission, AdmissionControl, Permit, retry};
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
/// The keys take any expression whose type implements this trait. References, `Arc`, `Rc`, `Box` and `Option` implement
/// it if the type inside does. `None` admits every attempt.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a circuit breaker or a limiter",
    label = "does not implement `AdmissionControl`",
    note = "implement `retry_runtime::AdmissionControl` for `{Self}`, or pass a reference to a value that implements it",
    note = "the crate `retry-protections` has `Breaker`, `RateLimiter` and `ConcurrencyLimiter`"
)]
pub trait AdmissionControl {
    /// Joins the end of the queue, for an attempt with that cost. By default every permit has the number 0.
    fn enter(&self, cost: u32) -> Permit {
        Permit::new(0, cost)
    }

    /// Returns if the attempt may begin. Keeps the waker, instead of the last one, and wakes it when it is worth
    /// asking again. Not called again after [`Admission::Admitted`].
    ///
    /// An attempt behind others is also polled when nothing wakes it: every second near the front, every 30 seconds far
    /// behind. So attempts that are no longer polled can be passed.
    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission;

    /// Takes the permit back. Called exactly once for each permit, even if the attempt was not admitted, or the call
    /// panics or is dropped. Returns what this changed for all calls, for the log and observers. By default nothing is
    /// recorded.
    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        _ = (permit, outcome);
        UNCHANGED
    }

    /// Returns true if no attempt would be admitted now. A breaker is asked before a wait: by a call that also has a
    /// `limiter`, and by each call of a whole client of `retry-clients`. False by default, so the call waits.
    fn is_open(&self) -> bool {
        false
    }

    /// The time until an open breaker admits a trial call, if known. A rejected call with the key `rejected` doesn't
    /// ask again earlier. `None` by default: then such a call pauses only as its own policy says.
    fn half_open_in(&self) -> Option<Duration> {
        None
    }

    /// The longest that an attempt waits to be admitted. `None`, the default, means no limit.
    fn longest_wait(&self) -> Option<Duration> {
        None
    }

    /// The state now, for metrics. By default nothing is known.
    fn state(&self) -> AdmissionState {
        AdmissionState::default()
    }

    /// Returns true if throttled retries wait here, so that a budget need not pay for them.
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

/// The permit of one attempt: created by [`AdmissionControl::enter`], and given back to [`AdmissionControl::leave`].
///
/// [`AdmissionControl::enter`]: crate::AdmissionControl::enter
/// [`AdmissionControl::leave`]: crate::AdmissionControl::leave
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    number: u64,
    cost: u32,
    half_opens: bool,
}

impl Permit {
    /// A permit with a number of the breaker's or limiter's own, such as the position in its queue or the number of its
    /// state, and with the attempt's cost.
    #[inline]
    pub const fn new(number: u64, cost: u32) -> Self {
        Self {
            number,
            cost,
            half_opens: false,
        }
    }

    /// The permit of the first trial call, which makes a breaker half open: the log and observers report it.
    pub const fn half_opening(number: u64, cost: u32) -> Self {
        Self {
            half_opens: true,
            ..Self::new(number, cost)
        }
    }

    /// The number.
    #[inline]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The cost.
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

/// The answer to an attempt that asks to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The attempt may begin.
    Admitted,
    /// Not yet.
    Wait {
        /// The number of attempts that wait before this one.
        ahead: usize,
        /// The time after which the attempt asks again, unless it is woken earlier. `None`: only when woken.
        at_least: Option<Duration>,
    },
    /// Never: the call ends.
    Rejected,
    /// Never, because too many attempts wait already: the call ends.
    QueueFull,
}

impl Admission {
    /// The time after which it is worthwhile to ask again, if a success may admit an attempt at any time: no call is
    /// rejected for a wait that is no longer.
    pub const SOON: Duration = Duration::from_millis(20);

    /// An attempt that asks that much too late may be passed by those behind it. It keeps its position.
    pub const ABSENT: Duration = Duration::from_secs(1);
}

/// The outcome of an attempt, as breakers and limiters see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The server answered: with a value, even one that `until` or `validate` rejected, or with an error that is not
    /// worth a retry.
    Success,
    /// The attempt failed.
    Failure {
        /// The kind: `Transient`, `Throttled` or `Timeout`.
        kind: Kind,
        /// The wait that the server asked for.
        hint: Option<Duration>,
    },
    /// Unknown: the error was not classified.
    Ignored,
    /// The attempt never began, or a breaker or a limiter inside the operation rejected it. Its charge is refunded.
    NotBegun,
    /// The attempt was dropped or panicked.
    Dropped,
}

/// A change for all calls, caused by one attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// A breaker changed its state.
    Breaker(Transition),
    /// The server refused and asked for a wait: no attempt begins for that long. Reported again if a later hint makes
    /// the rest of the wait more than twice as long.
    Paused {
        /// The length of the wait.
        pause: Duration,
    },
    /// The server answers again after a wait.
    Resumed,
    /// The number of attempts that may now run at a time.
    Limit(u32),
    /// The cost that may now begin per second.
    Rate(f64),
}

/// The changes caused by the end of one attempt: at most two, such as a wait and a limit.
pub type Changes = [Option<Change>; 2];

/// No change.
pub(crate) const UNCHANGED: Changes = [None; 2];

/// The first trial call of a breaker begins.
pub(crate) const HALF_OPENED: Changes = [Some(Change::Breaker(Transition::HalfOpened)), None];

/// A change of a breaker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transition {
    /// The breaker rejects every attempt from now on.
    Opened {
        /// The reason.
        cause: Cause,
        /// The time after which it admits trial calls.
        open_for: Duration,
    },
    /// The breaker admits trial calls, because it was open for long enough.
    HalfOpened,
    /// The breaker admits every attempt again, because the trial calls succeeded.
    Closed,
}

/// The state of a breaker or a limiter, returned by [`AdmissionControl::state`]. `None` is unknown.
///
/// [`AdmissionControl::state`]: crate::AdmissionControl::state
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AdmissionState {
    /// The state of a breaker's circuit.
    pub circuit: Option<BreakerState>,
    /// The sum of the costs of the attempts that run.
    pub running: Option<u64>,
    /// The number of attempts that wait to be admitted.
    pub waiting: Option<usize>,
    /// The number of attempts that may run at a time.
    pub limit: Option<u32>,
    /// The cost that may begin per second; infinite without a limit.
    pub rate: Option<f64>,
}

/// The state of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerState {
    /// Every attempt is admitted.
    Closed,
    /// Every attempt is rejected.
    Open,
    /// Trial calls are admitted.
    HalfOpen,
    /// Every attempt is rejected until the breaker is reset: `Breaker::force_open`.
    ForcedOpen,
    /// Every attempt is admitted and none is counted until the breaker is reset: `Breaker::force_closed`.
    ForcedClosed,
}

listed!(BreakerState:
    Closed = "closed", Open = "open", HalfOpen = "half open", ForcedOpen = "forced open",
    ForcedClosed = "forced closed"
);

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

/// A limiter for attempts with a cost other than 1, such as the tokens that a request to a model takes.
///
/// The limiters of `retry-protections` have a method for it. Wrap others by name:
///
/// ```
/// use std::time::Duration;
/// use retry_protections::{Quota, RateLimiter};
/// use retry_runtime::{AdmissionControl, WithCost, retry};
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
    /// This limiter, at that many times the cost. With 0, an attempt waits its turn like the others, but is charged
    /// nothing.
    #[inline]
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
