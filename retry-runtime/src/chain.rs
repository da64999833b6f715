//! The attribute as a chain: a policy and the keys beside it, for calls, batches and plans.

mod context;
pub(crate) mod fallback;
pub(crate) mod keys;
pub(crate) mod name;
pub(crate) mod observer;
pub(crate) mod on_error;
pub(crate) mod operation;
pub(crate) mod policy_call;
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
