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

// Generated code refers to this crate by its name, also in the crate's own tests and documentation.
extern crate self as retry_runtime;

extern crate alloc;

mod admission;
mod budget;
mod call;
pub mod chain;
mod classify;
mod configure;
mod enum_with_names;
mod forward;
#[cfg(doc)]
pub mod guide;
mod hedge;
#[cfg(feature = "tracing")]
pub mod log;
#[doc(hidden)]
pub mod macro_support;
mod name;
mod observe;
mod policy;
#[cfg(feature = "stream")]
#[doc(hidden)]
pub mod stream;
#[cfg(feature = "std")]
mod sync;
#[cfg(feature = "std")]
pub mod testing;
mod time;

pub use admission::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, BreakerState, Change, Changes,
    Permit, Transition, WithCost,
};
pub use budget::retry_budget::{Paid, RetryBudget};
pub use call::attempt::{Attempt, Draft};
pub use call::call_id::CallId;
pub use call::failure::Failure;
pub use call::gave_up::FailedAttempt;
pub use call::gave_up::GaveUp;
pub use call::next_attempt::NextAttempt;
pub use call::own_loop::Attempts;
pub use call::protections::{ProtectionRefs, Protections, Protects};
pub use call::site::Site;
pub use call::state::Call;
pub use chain::policy_call::PolicyCall;
#[cfg(feature = "clap")]
pub use configure::clap::{PolicyArgs, PolicyFlags};
pub use configure::policies::{OwnPolicy, Policies};
pub use hedge::delay::HedgeDelay;
pub use observe::{AttemptEnd, Cause, Event, EventData, Observer, Reason, Stopwatch};
pub use policy::{
    Backoff, BreakerSettings, Hint, Jitter, LimiterSettings, Overrides, Pauses, Policy,
    PolicyError, Section,
};
// The whole crate. Its derive, which refers to that crate by name, is replaced by the one below.
pub use retry_classify::*;
#[cfg(feature = "macros")]
pub use retry_macros::{Classify, retry, retrying};
#[cfg(feature = "stream")]
pub use stream::resume::Items;
pub use time::{BlockingTimer, Cancel, CancelFn, DefaultTimer, Moment, Timer, TimerFn};

// These are shared by calls, so they need the standard library's locks and clock.
#[cfg(feature = "std")]
pub use {
    budget::bucket::Budget,
    call::sites::{SiteCounts, sites},
    configure::shared_policy::SharedPolicy,
};
