//! What calls share to hold back their retries.

#[cfg(feature = "std")]
pub(crate) mod bucket;
#[cfg(feature = "std")]
pub(crate) mod keyed;
pub(crate) mod retry_budget;
