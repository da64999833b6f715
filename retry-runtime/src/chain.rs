//! What names the type of a chain: a policy and the keys beside it, for calls, batches and plans.
//!
//! A chain is written without any of these, as in `POLICY.on(is_transient).breaker(&BREAKER).call(…)`. They serve to keep
//! one in a field, and to write functions that take any:
//!
//! ```
//! use std::io;
//! use retry_runtime::{Policy, PolicyCall};
//!
//! struct Store<On> {
//!     chain: PolicyCall<On>,
//! }
//!
//! fn store<On: FnMut(&io::Error) -> bool>(policy: Policy, on: On) -> Store<On> {
//!     Store { chain: policy.on(on) }
//! }
//!
//! let store = store(Policy::new().max(2), |_| true);
//! assert_eq!(store.chain.call_blocking(|| io::Result::Ok(7)).unwrap(), 7);
//! ```

pub(crate) mod abort;
mod call_setters;
pub(crate) mod context;
pub(crate) mod fallback;
mod hook;
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) mod into_chain;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod name;
pub(crate) mod observer;
pub(crate) mod on_error;
pub(crate) mod operation;
pub(crate) mod policy_call;
mod rejects;
mod run;
mod run_async;
mod run_blocking;
mod setters;
pub(crate) mod shown_by;
pub(crate) mod span;
pub(crate) mod timeout;
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) mod under_way;
pub(crate) mod until;

pub use crate::time::cancel::{AbortedBy, CancelledBy, MayAbort, MayCancel, Uncancelled};
pub use abort::Aborts;
#[cfg(any(feature = "batch", feature = "plan"))]
pub use into_chain::IntoChain;
pub use keys::{CallKeys, Ends, HasKey, Keys, SharedKeys, SingleKeys, With, named};
pub use on_error::{ByClassify, ByVerdict, Classifies, OnError, OnFunction};
pub use operation::{BlockingOutcome, Operation};
pub use shown_by::ShownBy;
