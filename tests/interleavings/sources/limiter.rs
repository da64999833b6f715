//! The queue of all limiters, and rates behind it.

#[path = "../../../retry-runtime/src/limiter/adaptive.rs"]
mod adaptive;
#[path = "../../../retry-runtime/src/limiter/debt.rs"]
mod debt;
#[path = "../../../retry-runtime/src/limiter/gate.rs"]
pub(crate) mod gate;
#[path = "../../../retry-runtime/src/limiter/paced.rs"]
mod paced;
#[path = "../../../retry-runtime/src/limiter/queue.rs"]
pub(crate) mod queue;
#[path = "../../../retry-runtime/src/limiter/quota.rs"]
pub(crate) mod quota;
#[path = "../../../retry-runtime/src/limiter/rate_limiter.rs"]
pub(crate) mod rate_limiter;
#[path = "../../../retry-runtime/src/limiter/remaining.rs"]
mod remaining;
#[path = "../../../retry-runtime/src/limiter/slow_start.rs"]
mod slow_start;
#[path = "../../../retry-runtime/src/limiter/with_cost.rs"]
mod with_cost;

use std::task::Waker;
use std::time::Duration;

use self::gate::Gate;
use self::rate_limiter::RateLimiter;
use super::admission::change::Changes;
use super::admission::outcome::AttemptOutcome;
use super::admission::permit::Permit;
use super::admission::state::AdmissionState;
use super::admission::{Admission, AdmissionControl};
use super::forward::forward;

forward! {
    @held AdmissionControl {
        fn enter(&self, cost: u32) -> Permit;
        fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission;
        fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes;
        fn longest_wait(&self) -> Option<Duration>;
        fn state(&self) -> AdmissionState;
    }
    [] [By: Gate] RateLimiter<By>, |limiter| limiter.0
}
