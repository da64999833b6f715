//! The types of chains. A chain is a policy with further keys, for calls, batches and plans.
//!
//! A chain such as `POLICY.on(is_transient).breaker(&BREAKER).call(…)` names none of these types. Use them to store a
//! chain in a field, or to write functions that accept any chain:
//!
//! ```
//! use std::io;
//! use retry_runtime::chain::PolicyCall;
//! use retry_runtime::Policy;
//!
//! struct Store<On> {
//!     chain: PolicyCall<'static, On>,
//! }
//!
//! fn store<On: FnMut(&io::Error) -> bool>(policy: Policy, on: On) -> Store<On> {
//!     Store { chain: policy.on(on) }
//! }
//!
//! let store = store(Policy::new().max(2), |_| true);
//! assert_eq!(store.chain.call_blocking(|| io::Result::Ok(7)).unwrap(), 7);
//! ```

pub(crate) mod context;
pub(crate) mod into_chain;
pub(crate) mod job;
pub(crate) mod keys;
pub(crate) mod on_error;
pub(crate) mod operation;
#[cfg(feature = "std")]
mod plain_call;
pub(crate) mod policy_call;
mod run;
mod run_async;
mod setters;
pub(crate) mod span;

pub use crate::time::cancel::{AbortedBy, CancelledBy, MayAbort, MayCancel, Uncancelled};
pub use into_chain::IntoChain;
pub use keys::{
    Forgets, Function, GivesUp, HookSet, Hooks, Keep, Keeps, KeySet, Keys, NeedSet, Needs, Rejects,
    Timed,
};
pub use on_error::{ByClassify, ByVerdict, Classifies, OnError, OnFunction, ShownBy};
pub use operation::{BlockingOutcome, Operation};
pub use policy_call::PolicyCall;
