//! What calls share so that attempts come no faster, or no more at a time, than a server can take.

#[cfg(feature = "std")]
pub(crate) mod adaptive;
#[cfg(feature = "std")]
mod aimd;
#[cfg(feature = "std")]
pub(crate) mod concurrency_limiter;
#[cfg(feature = "std")]
#[cfg(feature = "std")]
mod debt;
#[cfg(feature = "std")]
pub(crate) mod gate;
#[cfg(feature = "governor_0_10")]
mod governor;
#[cfg(feature = "std")]
pub(crate) mod leased;
pub(crate) mod numbers;
#[cfg(feature = "std")]
mod paced;
pub(crate) mod place;
#[cfg(feature = "std")]
pub(crate) mod queue;
#[cfg(feature = "std")]
pub(crate) mod quota;
#[cfg(feature = "std")]
pub(crate) mod rate_limiter;
#[cfg(feature = "std")]
mod remaining;
#[cfg(feature = "std")]
mod slow_start;
pub(crate) mod state;
#[cfg(all(test, feature = "std"))]
mod tests;
pub(crate) mod waiting;
pub(crate) mod with_cost;
#[cfg(feature = "std")]
pub(crate) mod work;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::iter::{Chain, Once, once};
use core::option;
use core::task::Waker;
use core::time::Duration;

use crate::classify::kind::Kind;
use crate::classify::verdict::{Basis, Verdict};
use crate::forward::forward;
#[cfg(feature = "std")]
use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
#[cfg(feature = "std")]
use crate::limiter::gate::Gate;
#[cfg(feature = "std")]
use crate::limiter::rate_limiter::RateLimiter;
use crate::limiter::state::LimiterState;

/// Makes attempts wait their turn, shared by calls: the key `limiter`.
///
/// Each attempt enters the queue, is polled until its turn comes, and leaves when it has ended. An attempt behind
/// others is also polled when nothing wakes it: every second near the front, every 30 seconds far behind. So a limiter
/// can let it pass attempts that are no longer polled.
///
/// A limiter that an operator closes for maintenance:
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
/// use std::task::Waker;
/// use std::time::Duration;
/// use retry_runtime::{End, Limiter, LimiterChanges, Ticket, Turn, retry};
///
/// struct Maintenance(AtomicBool);
///
/// impl Limiter for Maintenance {
///     fn enter(&self, cost: u32) -> Ticket {
///         Ticket::new(0, cost)
///     }
///     fn poll(&self, _: &mut Ticket, _: &Waker) -> Turn {
///         if self.0.load(Relaxed) {
///             let at_least = Some(Duration::from_secs(1));
///             return Turn::Wait { ahead: 0, at_least };
///         }
///         Turn::Begin
///     }
///     fn leave(&self, _: Ticket, _: End) -> Option<LimiterChanges> {
///         None
///     }
/// }
///
/// static UPSTREAM: Maintenance = Maintenance(AtomicBool::new(false));
///
/// #[retry(limiter = &UPSTREAM, deadline = "500ms")]
/// fn read() -> std::io::Result<u32> {
///     Ok(42)
/// }
///
/// assert_eq!(read().unwrap(), 42);
/// UPSTREAM.0.store(true, Relaxed);
/// let rejected = read().unwrap_err();
/// assert_eq!(rejected.to_string(), "rejected: its turn comes after its deadline");
/// ```
///
/// The key takes any expression whose type implements this. References, `Arc`, `Rc`, `Box` and `Option` do if what they
/// hold does; a `None` makes nobody wait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no limiter",
    label = "no `Limiter`",
    note = "implement `retry_runtime::Limiter` for `{Self}`, or give a reference to what implements it"
)]
pub trait Limiter {
    /// Takes a place at the end of the queue, for an attempt with that cost.
    fn enter(&self, cost: u32) -> Ticket;

    /// Says whether the attempt may begin. Keeps the waker, in place of the last one, and wakes it when it is worth
    /// asking again. Not called again once it has returned [`Turn::Begin`].
    fn poll(&self, ticket: &mut Ticket, waker: &Waker) -> Turn;

    /// Gives the place back. Called exactly once for each ticket, even if the call panics or is dropped, waiting or
    /// not. Returns what this changed for all calls, for the log and observers.
    fn leave(&self, ticket: Ticket, end: End) -> Option<LimiterChanges>;

    /// The longest that an attempt waits for its turn. `None`, the default, means no limit.
    fn longest_wait(&self) -> Option<Duration> {
        None
    }

    /// How full the limiter is now, for metrics. By default nothing is known.
    fn state(&self) -> LimiterState {
        LimiterState::default()
    }

    /// Whether it takes care of throttled retries, so that a budget need not pay for them.
    #[doc(hidden)]
    fn handles_throttling(&self) -> bool {
        true
    }
}

/// After how long it is worthwhile to ask again, where a success may give an attempt its turn at any time. So no call is
/// rejected for a wait that is no longer.
pub(crate) const SOON: Duration = Duration::from_millis(20);

/// Whoever is that late in asking is passed by those behind, and keeps its place.
pub(crate) const ABSENT: Duration = Duration::from_secs(1);

/// A place in a limiter's queue: made by [`Limiter::enter`], and given back to [`Limiter::leave`].
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket {
    number: u64,
    cost: u32,
}

impl Ticket {
    /// A ticket for an attempt with that cost. The number is the limiter's own, such as the place in its queue.
    #[inline]
    pub const fn new(number: u64, cost: u32) -> Self {
        Self { number, cost }
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
}

/// Whether an attempt may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Turn {
    /// Now.
    Begin,
    /// The turn has not come yet.
    Wait {
        /// How many attempts wait before it.
        ahead: usize,
        /// The attempt asks again after that time, or when woken. `None`: only when woken.
        at_least: Option<Duration>,
    },
    /// Never: the call ends.
    Rejected,
    /// Never, because too many wait already: the call ends.
    Full,
}

/// How an attempt that had its turn has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The server answered: with a value, even one that `until` or `validate` rejected, or with an error that is not
    /// worth a retry.
    Success,
    /// The attempt failed.
    Failure {
        /// How: `Transient`, `Throttled` or `Timeout`.
        kind: Kind,
        /// The wait that the server asked for.
        hint: Option<Duration>,
    },
    /// Unknown: nobody classified the error, or the attempt was dropped or panicked.
    Ignored,
    /// The attempt never began, or a breaker or a limiter further in rejected it. It gets back what it was charged.
    NotBegun,
}

impl End {
    /// How an attempt ended that failed with that verdict.
    pub(crate) fn of_failure(verdict: Verdict) -> Self {
        match verdict.kind_seen() {
            Some(kind @ (Kind::Transient | Kind::Throttled | Kind::Timeout)) => Self::Failure {
                kind,
                hint: verdict.hint(),
            },
            None if verdict.basis() != Basis::Answer => Self::Ignored,
            Some(Kind::Rejected) => Self::NotBegun,
            Some(Kind::Invalid) | None => Self::Success,
        }
    }
}

/// A change for all attempts that wait.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LimiterChange {
    /// The server refused and said for how long: nothing begins for that long. Told again where a later hint makes that
    /// more than twice as long as what is left.
    Paused {
        /// For how long.
        pause: Duration,
    },
    /// The server answers again after a pause.
    Resumed,
    /// How many attempts may now run at a time.
    Limit(u32),
    /// How much cost may now begin per second.
    Rate(f64),
}

/// All that the end of one attempt changed: a pause, a limit, or both.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{LimiterChange, LimiterChanges};
///
/// let paused = LimiterChange::Paused { pause: Duration::from_secs(7) };
/// let changes = LimiterChanges::new(Some(paused), Some(LimiterChange::Rate(0.9)));
/// assert_eq!(changes.unwrap().into_iter().count(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimiterChanges {
    first: LimiterChange,
    second: Option<LimiterChange>,
}

impl LimiterChanges {
    /// Up to two changes, in this order. `None` if there are none.
    #[inline]
    pub fn new(first: Option<LimiterChange>, second: Option<LimiterChange>) -> Option<Self> {
        match (first, second) {
            (Some(first), second) => Some(Self { first, second }),
            (None, second) => second.map(Self::from),
        }
    }
}

impl From<LimiterChange> for LimiterChanges {
    #[inline]
    fn from(change: LimiterChange) -> Self {
        Self {
            first: change,
            second: None,
        }
    }
}

impl IntoIterator for LimiterChanges {
    type Item = LimiterChange;
    type IntoIter = Chain<Once<LimiterChange>, option::IntoIter<LimiterChange>>;

    fn into_iter(self) -> Self::IntoIter {
        once(self.first).chain(self.second)
    }
}

forward! {
    Limiter {
        fn enter(&self, cost: u32) -> Ticket => Ticket::new(0, cost);
        fn poll(&self, ticket: &mut Ticket, waker: &Waker) -> Turn => Turn::Begin;
        fn leave(&self, ticket: Ticket, end: End) -> Option<LimiterChanges> => None;
        fn longest_wait(&self) -> Option<Duration> => None;
        fn state(&self) -> LimiterState => LimiterState::default();
        fn handles_throttling(&self) -> bool => false;
    }
    for &T, Arc<T>, Rc<T>, Box<T>;
    Option<T>: "A switch: `None` makes nobody wait.";
    #[cfg(feature = "std")] [] ConcurrencyLimiter, |limiter| limiter.0;
    #[cfg(feature = "std")] [By: Gate] RateLimiter<By>, |limiter| limiter.0
}
