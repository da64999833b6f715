//! What lets attempts through, or not.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::time::Duration;

use crate::classify::kind::Kind;
use crate::forward::forward;
use crate::limiter::End;
use crate::listed::listed;
use crate::observe::cause::Cause;

/// What lets attempts through or not, shared by calls: the key `breaker`.
///
/// Every attempt asks before it begins. If the breaker says no, a call ends with
/// [`Reason::Rejected`](crate::Reason::Rejected).
///
/// A switch that an operator throws:
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
/// use retry_runtime::{CircuitBreaker, Pass, Seen, Transition, retry};
///
/// struct Switch(AtomicBool);
///
/// impl CircuitBreaker for Switch {
///     fn admit(&self) -> Option<Pass> {
///         self.0.load(Relaxed).then(|| Pass::new(0))
///     }
///     fn record(&self, _: Pass, _: Seen) -> Option<Transition> {
///         None
///     }
/// }
///
/// static UPSTREAM: Switch = Switch(AtomicBool::new(true));
///
/// #[retry(breaker = &UPSTREAM)]
/// fn read() -> std::io::Result<u32> {
///     Ok(42)
/// }
///
/// assert_eq!(read().unwrap(), 42);
/// UPSTREAM.0.store(false, Relaxed);
/// assert_eq!(read().unwrap_err().to_string(), "rejected by an open circuit breaker");
/// ```
///
/// The key takes any expression whose type implements this. References, `Arc`, `Rc`, `Box` and `Option` do if what they
/// hold does; a `None` lets everything through.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no circuit breaker",
    label = "no `CircuitBreaker`",
    note = "implement `retry_runtime::CircuitBreaker` for `{Self}`, or give a reference to what implements it"
)]
pub trait CircuitBreaker {
    /// Lets an attempt through, or not.
    fn admit(&self) -> Option<Pass>;

    /// Whether the breaker would let nothing through now. Asked before a wait: by a call that also has a `limiter`,
    /// before that for its turn, and by each call of a whole client of `retry-clients`. False by default, so the call
    /// waits.
    fn is_open(&self) -> bool {
        false
    }

    /// How long the breaker will let nothing through yet, if it knows. A rejected call with the key `rejected` doesn't
    /// ask again before. `None` by default: then such a call pauses only as long as its own numbers say.
    fn half_open_in(&self) -> Option<Duration> {
        None
    }

    /// The state now, for those who measure it. By default open or closed, as [`is_open`](Self::is_open) says.
    fn state(&self) -> BreakerState {
        if self.is_open() {
            BreakerState::Open
        } else {
            BreakerState::Closed
        }
    }

    /// Lets an attempt begin beside a slow one, or not: the key `hedge`. By default as any other attempt. A breaker
    /// that makes trial calls should let none begin beside them.
    fn admit_hedge(&self) -> Option<Pass> {
        self.admit()
    }

    /// Tells how that attempt ended. Called exactly once for each pass, also when the attempt is dropped or panics.
    /// Returns the change of state that this caused, for the log and observers.
    fn record(&self, pass: Pass, seen: Seen) -> Option<Transition>;
}

/// Lets one attempt through: made by [`CircuitBreaker::admit`], and given back to [`CircuitBreaker::record`].
#[derive(Debug, PartialEq, Eq)]
pub struct Pass {
    stamp: u64,
    half_opens: bool,
    /// When it was given, for a breaker that asks: in milliseconds from the clock's origin, without what is above 32
    /// bits. More would make every future with a breaker larger.
    given: u32,
}

impl Pass {
    /// A pass with a stamp of the breaker's own, such as the number of its state: by it, an answer that comes too late
    /// is known.
    pub const fn new(stamp: u64) -> Self {
        Self {
            stamp,
            half_opens: false,
            given: 0,
        }
    }

    /// The pass of the first trial call, which makes the breaker half open: the log and observers report it.
    pub const fn half_opening(stamp: u64) -> Self {
        Self {
            half_opens: true,
            ..Self::new(stamp)
        }
    }

    #[cfg(feature = "std")]
    pub(crate) const fn given_at(self, given: u32) -> Self {
        Self { given, ..self }
    }

    #[cfg(feature = "std")]
    pub(crate) const fn given(&self) -> u32 {
        self.given
    }

    /// The stamp.
    pub const fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Whether this pass made the breaker half open.
    pub const fn half_opens(&self) -> bool {
        self.half_opens
    }
}

/// What an attempt says about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// The server answered: with a value, be it rejected by `until` or `validate`, or with an error that is not worth a
    /// retry.
    Success,
    /// The attempt failed: the verdict was `Transient` or `Timeout`, or the key `timeout` dropped it.
    Failure {
        /// How.
        kind: Kind,
        /// The wait that the server asked for.
        hint: Option<Duration>,
    },
    /// Nothing: it throttled, or nobody classified or knows the error.
    Ignored,
    /// Nothing was sent: within the attempt, another call was rejected.
    NotBegun,
    /// Nobody knows: the attempt was dropped or panicked before it ended.
    Dropped,
}

impl Seen {
    pub(crate) fn of_end(end: End) -> Self {
        match end {
            End::Success => Self::Success,
            End::Failure {
                kind: kind @ (Kind::Transient | Kind::Timeout),
                hint,
            } => Self::Failure { kind, hint },
            End::Failure { .. } | End::Ignored => Self::Ignored,
            End::NotBegun => Self::NotBegun,
        }
    }
}

/// The state of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerState {
    /// Everything is let through.
    Closed,
    /// Nothing is let through.
    Open,
    /// Trial calls are let through.
    HalfOpen,
    /// Nothing is let through until somebody resets it: [`Breaker::force_open`](crate::Breaker::force_open).
    ForcedOpen,
    /// Everything is let through and nothing is counted until somebody resets it:
    /// [`Breaker::force_closed`](crate::Breaker::force_closed).
    ForcedClosed,
}

listed!(BreakerState:
    Closed = "closed", Open = "open", HalfOpen = "half open", ForcedOpen = "forced open",
    ForcedClosed = "forced closed"
);

/// A change of a breaker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transition {
    /// The breaker lets nothing through from now on.
    Opened {
        /// Why.
        cause: Cause,
        /// For how long. Then it lets trial calls through.
        open_for: Duration,
    },
    /// The breaker lets trial calls through, as it was open for long enough.
    HalfOpened,
    /// The breaker lets everything through again, as the trial calls succeeded.
    Closed,
}

forward! {
    CircuitBreaker {
        fn admit(&self) -> Option<Pass> => Some(Pass::new(0));
        fn is_open(&self) -> bool => false;
        fn half_open_in(&self) -> Option<Duration> => None;
        fn state(&self) -> BreakerState => BreakerState::Closed;
        fn admit_hedge(&self) -> Option<Pass> => Some(Pass::new(0));
        fn record(&self, pass: Pass, seen: Seen) -> Option<Transition> => None;
    }
    for &T, Arc<T>, Rc<T>, Box<T>;
    Option<T>: "A switch: `None` lets everything through."
}
