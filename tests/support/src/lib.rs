//! Helpers for the tests of several packages.

// A panic fails the test.
#![allow(clippy::missing_panics_doc)]

pub mod chromium;
pub mod clock;
pub mod dropped;
pub mod failure;
pub mod forms;
pub mod held_permit;
pub mod limiters;
pub mod loopback;
pub mod model_errors;
pub mod openai_refusals;
pub mod postgres;
pub mod prelude;
pub mod redis;
mod rows;
pub mod runtime;
pub mod script;
pub mod scripted;
pub mod sink;
pub mod time;
pub mod turns;
pub mod verdicts;

/// Compiles only for a value that is `Send`, and returns it.
pub fn is_send<T: Send>(value: T) -> T {
    value
}
