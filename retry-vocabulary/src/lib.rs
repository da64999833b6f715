//! The vocabulary that the attribute and the runtime share: keys, words, durations, the ranges of values, and error
//! messages.
//!
//! An internal part of [`retry-runtime`](https://docs.rs/retry-runtime). It is a separate crate because a proc-macro
//! crate can export nothing but macros. It changes without notice.
//!
//! ```
//! use std::time::Duration;
//! use retry_vocabulary::key::KeyScope;
//! use retry_vocabulary::{messages, duration};
//!
//! assert_eq!(duration::parse("1h30m").ok(), Some(Duration::from_secs(90 * 60)));
//! assert_eq!(
//!     messages::unknown_key("bsae", "5s", KeyScope::Policy),
//!     "unknown key `bsae`: did you mean `base`?",
//! );
//! ```

#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod default;
pub mod delay;
pub mod duration;
pub mod key;
pub mod messages;
mod nearest;
pub mod range;
pub mod word;

pub use nearest::nearest;
