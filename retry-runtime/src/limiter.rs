//! What calls share so that attempts come no faster, or no more at a time, than a server can take.

#[cfg(feature = "std")]
pub(crate) mod adaptive;
#[cfg(feature = "std")]
mod aimd;
#[cfg(feature = "std")]
pub(crate) mod concurrency_limiter;
#[cfg(feature = "std")]
mod debt;
#[cfg(feature = "std")]
pub(crate) mod gate;
#[cfg(feature = "governor_0_10")]
mod governor;
#[cfg(feature = "std")]
pub(crate) mod leased;
#[cfg(feature = "std")]
mod paced;
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
#[cfg(all(test, feature = "std"))]
mod tests;
pub(crate) mod with_cost;
#[cfg(feature = "std")]
pub(crate) mod work;

/// Implements [`AdmissionControl`] for limiters by the queue that they contain.
#[cfg(feature = "std")]
mod queued {
    use core::task::Waker;
    use core::time::Duration;

    use crate::admission::change::Changes;
    use crate::admission::outcome::AttemptOutcome;
    use crate::admission::permit::Permit;
    use crate::admission::state::AdmissionState;
    use crate::admission::{Admission, AdmissionControl};
    use crate::forward::forward;
    use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
    use crate::limiter::gate::Gate;
    use crate::limiter::rate_limiter::RateLimiter;

    macro_rules! queued {
        ($([$($generics:tt)*] $limiter:ty;)+) => {$(
            forward! {
                @held AdmissionControl {
                    fn enter(&self, cost: u32) -> Permit;
                    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission;
                    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes;
                    fn longest_wait(&self) -> Option<Duration>;
                    fn state(&self) -> AdmissionState;
                }
                [] [$($generics)*] $limiter, |limiter| limiter.0
            }
        )+};
    }

    queued! {
        [] ConcurrencyLimiter;
        [By: Gate] RateLimiter<By>;
    }
}
