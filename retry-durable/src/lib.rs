//! `retry-runtime` calls that survive a restart.
//!
// Link targets for the included page. The first definition of a label is used.
//! [`Durable`]: crate::Durable
//! [`DurableError::Unreadable`]: crate::DurableError::Unreadable
//! [`Engine`]: crate::Engine
//! [`Journal`]: crate::Journal
//! [contents]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/
//! [fleets]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/fleets/
//! [own_loop]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/own_loop/
//! [plans]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/plans/
//! [restate]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/restate/
//!
#![cfg_attr(all(doc, checkout), doc = include_str!("../../docs/durable.md"))]
#![cfg_attr(all(doc, not(checkout)), doc = include_str!("../docs/durable.md"))]

mod durable;
mod engine;
mod journal;
#[cfg(feature = "restate")]
pub mod restate;
mod unreadable;

pub use durable::{Durable, DurableError, DurablePolicy};
pub use engine::Engine;
pub use journal::{Journal, JournalError};
pub use unreadable::UnreadableError;
