//! The effect of every key of the attribute.

// The code under test takes errors by reference, and policies and `GaveUp` by value.
#![allow(
    clippy::cast_possible_truncation,
    clippy::erasing_op,
    clippy::large_types_passed_by_value,
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_self
)]

mod abort;
mod attempt;
mod backoff;
mod blocking_timer;
mod breaker;
mod breakers;
mod budget;
mod budgets;
mod by_macros;
mod cancel;
mod clone;
mod converted;
mod counts;
mod deadline;
mod enabled;
mod endings;
mod failures;
mod hint;
mod hooks;
mod idempotent;
mod jitter;
mod limiter;
mod name;
mod observe;
mod on;
mod policies;
mod policy;
mod progress;
mod rejected;
mod repeats;
mod shared;
mod show;
mod switched;
mod timeout;
mod timer;
mod total_timeout;
mod turns;
