#![doc = include_str!("../README.md")]

// Expansions name this crate by its name, also in its own tests and documentation.
extern crate self as retry_runtime;

mod attempt;
mod backoff;
mod call;
mod call_id;
mod classify;
mod clock;
mod delays;
mod emit;
mod event;
mod gave_up;
mod hint;
mod jitter;
mod kind;
#[cfg(feature = "tracing")]
mod log;
mod observer;
mod overrides;
mod policy;
mod policy_call;
mod policy_error;
#[cfg(feature = "serde")]
mod policy_serde;
mod policy_text;
mod policy_value;
mod random;
mod reason;
#[cfg(feature = "http")]
mod retry_after;
mod schedule;
mod section;
mod show;
mod timed_out;
mod timer;
mod verdict;

#[doc(hidden)]
pub mod macro_support;
pub mod testing;

pub use attempt::Attempt;
pub use backoff::Backoff;
pub use call_id::CallId;
pub use classify::Classify;
pub use delays::Delays;
pub use event::Event;
pub use gave_up::GaveUp;
pub use hint::Hint;
pub use jitter::Jitter;
pub use kind::Kind;
pub use observer::Observer;
pub use overrides::Overrides;
pub use policy::Policy;
pub use policy_call::PolicyCall;
pub use policy_error::PolicyError;
pub use reason::Reason;
#[cfg(feature = "http")]
pub use retry_after::retry_after;
#[cfg(feature = "macros")]
pub use retry_macros::{Classify, retry};
pub use section::Section;
pub use timed_out::TimedOut;
#[cfg(feature = "tokio")]
pub use timer::TokioTimer;
pub use timer::{Timer, TimerFn};
pub use verdict::Verdict;
