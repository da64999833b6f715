//! What the attribute and the runtime both know: keys, words, durations, what values may be, and how a wrong one is
//! complained about.
//!
//! An internal part of [`retry-runtime`](https://docs.rs/retry-runtime), apart because a proc-macro crate can export
//! nothing else. It changes without notice.
//!
//! ```
//! use std::time::Duration;
//! use retry_vocabulary::key::Among;
//! use retry_vocabulary::{complaint, duration};
//!
//! assert_eq!(duration::parse("1h30m").ok(), Some(Duration::from_secs(90 * 60)));
//! assert_eq!(
//!     complaint::unknown_key("bsae", Among::Policy),
//!     "unknown key `bsae`: did you mean `base`?",
//! );
//! ```

pub mod complaint;
pub mod default;
pub mod duration;
pub mod key;
mod nearest;
pub mod range;
pub mod word;

pub use nearest::nearest;
