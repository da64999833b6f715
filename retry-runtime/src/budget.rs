//! What calls share to hold back their retries.

#[cfg(feature = "std")]
pub(crate) mod bucket;
pub(crate) mod retry_budget;
