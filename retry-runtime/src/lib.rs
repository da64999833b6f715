// Where the front page links to the guide, its documentation does, too: the first definition counts.
#![doc = "[blocks]: crate::guide::blocks"]
#![doc = "[wrapping]: crate::guide::wrapping"]
#![doc = "[validation]: crate::guide::validation"]
#![doc = "[teams]: crate::guide::teams"]
#![doc = "[keys]: crate::guide::keys"]
#![doc = "[batches]: crate::guide::batches"]
#![doc = "[plans]: crate::guide::plans"]
#![doc = "[clients-built-in]: crate::guide::clients#all-clients"]
#![doc = "[your client]: crate::guide::clients"]
#![doc = "[clients]: crate::guide::clients#clients-that-already-retry"]
#![doc = ""]
#![doc = include_str!("../README.md")]

// Expansions name this crate by its name, also in its own tests and documentation.
extern crate self as retry_runtime;

mod attempt;
mod backoff;
#[cfg(feature = "batch")]
mod batch;
mod budget;
mod call;
mod call_id;
mod classify;
mod clock;
mod emit;
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13"))]
mod error_for_retry;
mod event;
mod failure;
mod gave_up;
mod hint;
mod jitter;
mod kind;
#[cfg(feature = "tracing")]
mod log;
mod observer;
mod policy;
#[cfg(any(feature = "batch", feature = "plan"))]
mod prospect;
mod random;
mod reason;
#[cfg(feature = "http")]
mod response_error;
mod site;
mod timed_out;
mod timer;
mod verdict;

#[cfg(doc)]
pub mod guide;
#[cfg(feature = "llm")]
pub mod llm;
#[doc(hidden)]
pub mod macro_support;
pub mod on;
#[cfg(feature = "plan")]
pub mod plan;
#[cfg(feature = "stream")]
#[doc(hidden)]
pub mod stream;
pub mod testing;

pub use attempt::{Attempt, Draft};
pub use backoff::Backoff;
#[cfg(feature = "batch")]
pub use batch::{
    Batches, ByClassify, IntoBatches, ItemError, OnError, retry_each, retry_each_blocking,
};
pub use budget::RetryBudget;
pub use call_id::CallId;
pub use classify::Classify;
#[cfg(feature = "http")]
pub use classify::retry_after::retry_after;
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13"))]
pub use error_for_retry::ErrorForRetry;
pub use event::Event;
pub use gave_up::GaveUp;
pub use hint::Hint;
pub use jitter::Jitter;
pub use kind::Kind;
pub use observer::Observer;
#[cfg(feature = "plan")]
pub use plan::Plan;
pub use policy::Policy;
pub use policy::call::PolicyCall;
pub use policy::delays::Delays;
pub use policy::error::PolicyError;
pub use policy::overrides::Overrides;
pub use policy::section::Section;
pub use reason::Reason;
#[cfg(feature = "http")]
pub use response_error::ResponseError;
#[cfg(feature = "macros")]
pub use retry_macros::{Classify, retry};
#[cfg(feature = "stream")]
pub use stream::resume::Items;
pub use timed_out::TimedOut;
#[cfg(feature = "tokio")]
pub use timer::TokioTimer;
pub use timer::{Timer, TimerFn};
pub use verdict::Verdict;
