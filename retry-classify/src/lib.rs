#![cfg_attr(not(feature = "std"), no_std)]
#![warn(
    clippy::alloc_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core
)]
// On docs.rs, each item shows the feature it requires.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The README's example needs the derive.
#![cfg_attr(any(not(doctest), feature = "derive"), doc = include_str!("../README.md"))]

extern crate alloc;

/// Implements `describe` for an error type: writes the error's text, then each cause's text.
macro_rules! describe_with_causes {
    () => {
        fn describe(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            $crate::error_text::chain::write_error(self, f)
        }
    };
}

mod by_cause;
mod cancelled;
mod classify;
mod clients;
mod error_text;
#[cfg(feature = "std")]
mod io;
mod kind;
#[cfg(feature = "llm")]
pub mod llm;
#[doc(hidden)]
pub mod macro_support;
pub mod on;
mod own_errors;
#[cfg(feature = "std")]
mod registry;
mod rejected;
#[cfg(feature = "http")]
mod response;
pub mod show;
mod sources;
#[cfg(any(feature = "http", feature = "llm", feature = "tonic_0_14"))]
mod status;
mod text;
mod timed_out;
mod transport;
mod verdict;

pub use cancelled::Cancelled;
pub use classify::Classify;
pub use kind::Kind;
pub use rejected::{Rejected, RejectedBy};
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13"))]
pub use response::response_error::ErrorForRetry;
#[cfg(feature = "http")]
pub use response::response_error::ResponseError;
#[cfg(feature = "http")]
pub use response::retry_after::{retry_after, server_time};
#[cfg(feature = "derive")]
pub use retry_macros::ClassifyAlone as Classify;
pub use timed_out::TimedOut;
pub use verdict::Verdict;

// Compiles the examples in these pages, because only this crate depends on the clients they use.
#[cfg(all(doctest, checkout, feature = "derive", feature = "http"))]
#[doc = include_str!("../../docs/sdk_authors.md")]
mod sdk_authors {}

#[cfg(all(
    doctest,
    checkout,
    feature = "anyhow_1",
    feature = "hyper_util_0_1",
    feature = "redis_1",
    feature = "reqwest_0_13",
    feature = "sqlx_0_9",
    feature = "tonic_0_14",
    feature = "ureq_3"
))]
#[doc = include_str!("../../docs/built_in_clients.md")]
mod built_in_clients {}
