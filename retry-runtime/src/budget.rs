//! Retry budgets.

#[cfg(feature = "std")]
pub(crate) mod bucket;
pub(crate) mod retry_budget;
