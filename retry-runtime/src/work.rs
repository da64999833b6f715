//! Code shared by batches and plans.

pub(crate) mod in_flight;
pub(crate) mod job;
