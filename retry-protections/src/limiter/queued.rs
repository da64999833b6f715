//! [`AdmissionControl`] for limiters, which delegate to their queue.

use std::task::Waker;
use std::time::Duration;

use retry_runtime::forward;
use retry_runtime::seam::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, Changes, Permit,
};

use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
use crate::limiter::gate::Gate;
use crate::limiter::rate_limiter::RateLimiter;

macro_rules! queued {
    ($([$($generics:tt)*] $limiter:ty;)+) => {$(
        forward!(@held AdmissionControl {
            fn enter(&self, cost: u32) -> Permit;
            fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission;
            fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes;
            fn longest_wait(&self) -> Option<Duration>;
            fn state(&self) -> AdmissionState;
        } [] [$($generics)*] $limiter, |limiter| limiter.0);
    )+};
}

queued! {
    [] ConcurrencyLimiter;
    [By: Gate] RateLimiter<By>;
}
