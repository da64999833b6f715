//! What batches and plans have in common.

pub(crate) mod in_flight;
pub(crate) mod job;
