use std::task::Waker;
use std::time::Duration;

use retry_runtime::{Admission, AdmissionControl, AdmissionState, AttemptOutcome, Changes, Permit};

use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
use crate::limiter::gate::Gate;
use crate::limiter::rate_limiter::RateLimiter;

/// Implements [`AdmissionControl`] for limiters by means of the queue that they contain.
macro_rules! queued {
    ($([$($generics:tt)*] $limiter:ty;)+) => {$(
        impl<$($generics)*> AdmissionControl for $limiter {
            #[inline]
            fn enter(&self, cost: u32) -> Permit {
                self.0.enter(cost)
            }

            #[inline]
            fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
                self.0.poll(permit, waker)
            }

            #[inline]
            fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
                self.0.leave(permit, outcome)
            }

            fn longest_wait(&self) -> Option<Duration> {
                self.0.max_wait
            }

            fn state(&self) -> AdmissionState {
                self.0.state()
            }
        }
    )+};
}

queued! {
    [] ConcurrencyLimiter;
    [By: Gate] RateLimiter<By>;
}
