//! Hedged attempts: another attempt while the first one is slow.

pub(crate) mod delay;
pub(crate) mod pushback;
pub(crate) mod running;
