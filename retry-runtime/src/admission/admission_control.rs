use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::task::Waker;
use core::time::Duration;

use crate::admission::Admission;
use crate::admission::change::{Changes, UNCHANGED};
use crate::admission::outcome::AttemptOutcome;
use crate::admission::permit::Permit;
use crate::admission::state::AdmissionState;
use crate::forward::forward;

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
