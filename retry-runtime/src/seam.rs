//! The traits behind the keys `breaker`, `limiter`, `budget`, `hedge`, `cancel` and `timer`, for implementations of
//! your own.
//!
//! [`AdmissionControl`] is a breaker or a limiter, [`RetryBudget`] a budget, [`HedgeDelay`] a measured delay of a
//! hedge, and [`Timer`] and [`BlockingTimer`] are clocks to wait on. The crate `retry-protections` implements the first
//! and the third.

pub use crate::admission::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, BreakerState, Change, Changes,
    Permit, Transition, WithCost,
};
pub use crate::budget::retry_budget::{Paid, RetryBudget};
pub use crate::hedge::delay::HedgeDelay;
pub use crate::observe::Stopwatch;
pub use crate::time::{BlockingTimer, CancelFn, DefaultTimer, Moment, Timer, TimerFn};
