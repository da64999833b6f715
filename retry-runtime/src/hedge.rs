//! Another attempt beside a slow one.

pub(crate) mod delay;
pub(crate) mod pushback;
pub(crate) mod running;
