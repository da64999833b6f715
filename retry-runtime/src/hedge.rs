//! Another attempt beside a slow one.

pub(crate) mod latency;
pub(crate) mod pushback;
pub(crate) mod running;
