//! The traits behind the keys `breaker`, `limiter`, `budget`, `hedge`, `cancel` and `timer`, for your own
//! implementations.
//!
//! [`AdmissionControl`] is a breaker or a limiter, [`RetryBudget`] a budget, [`HedgeDelay`] the measured delay before a
//! hedged attempt. [`Timer`] and [`BlockingTimer`] sleep and read a clock. The crate `retry-protections` implements
//! [`AdmissionControl`] and [`HedgeDelay`].

pub use crate::admission::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, BreakerState, Change, Changes,
    Permit, Transition, WithCost,
};
pub use crate::budget::retry_budget::{Paid, RetryBudget};
pub use crate::hedge::delay::HedgeDelay;
pub use crate::observe::Stopwatch;
pub use crate::time::{BlockingTimer, CancelFn, DefaultTimer, Moment, Timer, TimerFn};
