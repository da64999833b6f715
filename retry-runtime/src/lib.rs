// Where the front page links to the guide, its documentation does, too: the first definition counts.
#![doc = "[blocks]: crate::guide::blocks"]
#![doc = "[wrapping]: crate::guide::wrapping"]
#![doc = "[keys]: crate::guide::keys"]
#![doc = "[your client]: crate::guide::clients"]
#![doc = "[clients]: crate::guide::clients#clients-that-already-retry"]
#![doc = ""]
#![doc = include_str!("../README.md")]

// Expansions name this crate by its name, also in its own tests and documentation.
extern crate self as retry_runtime;

mod attempt;
mod backoff;
mod call;
mod call_id;
mod classify;
mod clock;
mod emit;
mod event;
mod gave_up;
mod hint;
mod jitter;
mod kind;
#[cfg(feature = "tracing")]
mod log;
mod observer;
mod policy;
mod random;
mod reason;
mod timed_out;
mod timer;
mod verdict;

#[cfg(doc)]
pub mod guide;
#[doc(hidden)]
pub mod macro_support;
#[cfg(feature = "stream")]
#[doc(hidden)]
pub mod stream;
pub mod testing;

pub use attempt::Attempt;
pub use backoff::Backoff;
pub use call_id::CallId;
pub use classify::Classify;
#[cfg(feature = "http")]
pub use classify::retry_after::retry_after;
pub use event::Event;
pub use gave_up::GaveUp;
pub use hint::Hint;
pub use jitter::Jitter;
pub use kind::Kind;
pub use observer::Observer;
pub use policy::Policy;
pub use policy::call::PolicyCall;
pub use policy::delays::Delays;
pub use policy::error::PolicyError;
pub use policy::overrides::Overrides;
pub use policy::section::Section;
pub use reason::Reason;
#[cfg(feature = "macros")]
pub use retry_macros::{Classify, retry};
#[cfg(feature = "stream")]
pub use stream::resume::Items;
pub use timed_out::TimedOut;
#[cfg(feature = "tokio")]
pub use timer::TokioTimer;
pub use timer::{Timer, TimerFn};
pub use verdict::Verdict;
