//! The key `of` on traits of published crates, for the table in `docs/wrapping.md`.

#[cfg(feature = "embedded")]
mod embedded;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "mail")]
mod mail;
#[cfg(feature = "pools")]
mod pools;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "object_store")]
mod store;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Attempts: the first two fail. Clones count together.
#[derive(Clone, Debug, Default)]
struct Attempts(Arc<AtomicU32>);

impl Attempts {
    /// Makes one.
    fn make<T, E>(&self, answer: T, error: E) -> Result<T, E> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Err(error),
            _ => Ok(answer),
        }
    }

    /// Returns the number of attempts since the last call of this method.
    fn made(&self) -> u32 {
        self.0.swap(0, Ordering::Relaxed)
    }
}
