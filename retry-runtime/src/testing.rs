//! Helpers for fast and deterministic tests: record calls, skip their sleeps, seed their jitter, and script their
//! failures.
//!
//! Async tests often need none of this: with `tokio::time::pause` (or `#[tokio::test(start_paused = true)]`), pauses
//! take no time and elapsed times are exact. For everything else:
//!
//! ```
//! use std::time::Duration;
//! use retry_runtime::{retry, testing};
//!
//! #[retry(max = 2, base = "1s", jitter = "none", name = "disk.read", on = |_| true)]
//! fn read() -> Result<(), String> {
//!     Err(String::from("busy"))
//! }
//!
//! let skipped = testing::skip_sleeps();
//! let recording = testing::record();
//! assert!(read().is_err());
//! assert_eq!(skipped.total(), Duration::from_secs(3));
//! assert_eq!(
//!     recording.lines(),
//!     [
//!         "retrying disk.read attempt=1 max=2 delay=1s error=busy reason=transient",
//!         "retrying disk.read attempt=2 max=2 delay=2s error=busy reason=transient",
//!         "gave up disk.read attempt=3 max=2 error=busy reason=exhausted",
//!     ],
//! );
//! ```
//!
//! [`skip_sleeps`], [`record`] and [`seed`] apply to the calling thread until the value that they return is dropped.
//! Drop these values in the reverse order of their creation. Tasks on other threads are not affected: for such tasks,
//! or to record each task separately, use a [`Scope`].

pub(crate) mod scope;
mod script;
mod thread;

pub use crate::observe::recording::Recorder;
pub use scope::Scope;
pub use script::{Script, fail_times, sequence};
pub use thread::{Recording, Seeded, SkippedSleeps, record, seed, skip_sleeps};
