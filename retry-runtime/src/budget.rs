//! What calls share to hold back their retries.

pub(crate) mod bucket;
pub(crate) mod keyed;
pub(crate) mod retry_budget;
