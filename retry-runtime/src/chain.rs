//! The attribute as a chain: a policy and the keys beside it, for calls, batches and plans.

pub(crate) mod alone;
pub(crate) mod breaker;
pub(crate) mod budget;
pub(crate) mod fallback;
pub(crate) mod history;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod limiter;
pub(crate) mod name;
pub(crate) mod named;
pub(crate) mod observer;
pub(crate) mod on_error;
pub(crate) mod operation;
pub(crate) mod policy_call;
mod run;
mod run_blocking;
mod setters;
pub(crate) mod shown_by;
pub(crate) mod span;
pub(crate) mod timeout;
mod told;
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) mod under_way;
pub(crate) mod until;
