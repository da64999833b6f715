use core::task::Waker;
use core::time::Duration;

use crate::admission::Admission;
use crate::admission::AdmissionControl;
use crate::admission::change::Changes;
use crate::admission::outcome::AttemptOutcome;
use crate::admission::permit::Permit;
use crate::admission::state::AdmissionState;
use crate::forward::forward;

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
