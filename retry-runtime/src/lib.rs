#![cfg_attr(not(feature = "std"), no_std)]
#![warn(
    clippy::alloc_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core
)]
// On docs.rs, each item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The guide's link definitions also serve the front page. If a name is defined twice, the first definition counts.
#![doc = include_str!("guide/links.md")]
#![doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", env!("CARGO_PKG_README")))]

// Generated code refers to this crate by name, even in the crate's own tests and documentation.
extern crate self as retry_runtime;

extern crate alloc;

mod admission;
mod budget;
mod call;
pub mod chain;
pub mod configuration;
mod configure;
mod enum_with_names;
mod forward;
#[cfg(doc)]
pub mod guide;
mod hedge;
mod history;
#[cfg(feature = "tracing")]
pub mod log;
#[doc(hidden)]
pub mod macro_support;
mod name;
mod observe;
mod opaque_debug;
pub mod own_loop;
mod policy;
pub mod seam;
mod site;
#[cfg(feature = "stream")]
#[doc(hidden)]
pub mod stream;
#[cfg(feature = "std")]
mod sync;
#[cfg(feature = "std")]
pub mod testing;
mod time;

pub use configure::policies::Policies;
pub use history::{Attempt, CallId, Draft, FailedAttempt, GaveUp};
pub use observe::{AttemptEnd, Cause, Event, EventData, Observer, Reason};
pub use policy::{Backoff, Hint, Jitter, Policy, PolicyError, Section};
// Everything but the derive, whose code would refer to `retry_classify` by name. The derive below replaces it.
pub use retry_classify::*;
#[cfg(feature = "macros")]
pub use retry_macros::{Classify, retry, retrying};
#[cfg(feature = "stream")]
pub use stream::resume::Items;
pub use time::Cancel;

// These items are shared by calls, so they need the standard library's locks and clock.
#[cfg(feature = "std")]
pub use {
    budget::bucket::Budget,
    configure::shared_policy::SharedPolicy,
    site::counts::{SiteCounts, sites},
};
